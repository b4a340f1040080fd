//! What a walk met, counted.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::memory::{Sample, Samples, live};
use crate::walk::edits::Kind;
use crate::walk::{Became, Did, Stepped, rows};

/// So many bytes an edit may leave behind, the bench's own tables among them:
/// less than what is kept of the smallest document there is, so that nothing that
/// belongs to an edit can be.
pub const MOST_LEFT: usize = 256;
/// What comes once and late must fit into what so many edits may leave.
const FEW: usize = 100;

/// What a walk met.
pub struct Tally {
    since: Instant,
    kinds: BTreeMap<Kind, usize>,
    taken_back: usize,
    restored: usize,
    given_up: usize,
    several: usize,
    edits: usize,
    changing: usize,
    changed: BTreeMap<&'static str, usize>,
    differing: BTreeMap<&'static str, [usize; 2]>,
    met: BTreeMap<&'static str, usize>,
    failed: usize,
    farthest: usize,
    most_findings: usize,
    memory: Samples,
    /// What was allocated before the walk.
    live_before: usize,
    /// What was allocated after it.
    live_after: usize,
}

impl Tally {
    /// Nothing met yet; the walk has not begun.
    pub fn new() -> Self {
        Self {
            since: Instant::now(),
            kinds: BTreeMap::new(),
            taken_back: 0,
            restored: 0,
            given_up: 0,
            several: 0,
            edits: 0,
            changing: 0,
            changed: BTreeMap::new(),
            differing: BTreeMap::new(),
            met: BTreeMap::new(),
            failed: 0,
            farthest: 0,
            most_findings: 0,
            memory: Samples::default(),
            live_before: live(),
            live_after: 0,
        }
    }

    /// Counts a step, after which so many files are not as they were at first.
    pub fn count(&mut self, stepped: &Stepped, distance: usize) {
        self.edits += 1;
        self.memory.take(self.edits);
        match &stepped.did {
            Did::Edited(kinds) => {
                self.several += usize::from(kinds.len() > 1);
                for kind in kinds {
                    *self.kinds.entry(*kind).or_default() += 1;
                }
            }
            Did::TookBack => self.taken_back += 1,
            Did::Restored => self.restored += 1,
        }
        match stepped.became {
            Became::Kept => {}
            Became::GivenUp => self.given_up += 1,
        }
        self.changing += usize::from(!stepped.changed.is_empty());
        for (status, count) in &stepped.changed {
            *self.changed.entry(status).or_default() += count;
        }
        for (rule, count) in &stepped.apart {
            let [states, outputs] = self.differing.entry(rule).or_default();
            (*states, *outputs) = (*states + 1, *outputs + count);
        }
        for rule in &stepped.found {
            *self.met.entry(rule).or_default() += 1;
        }
        self.failed += usize::from(!stepped.wrong.is_empty());
        self.farthest = self.farthest.max(distance);
        self.most_findings = self.most_findings.max(stepped.findings);
    }

    /// How many edits were judged wrongly by layercake.
    pub fn failed(&self) -> usize {
        self.failed
    }

    /// Takes down what is left of the walk, which is over and given back.
    pub fn end(&mut self) {
        self.live_after = live();
    }

    /// Whether each edit left something behind.
    pub fn grows(&self) -> bool {
        self.left() > MOST_LEFT * self.edits.max(FEW)
    }

    fn left(&self) -> usize {
        self.live_after.saturating_sub(self.live_before)
    }

    /// Prints the tables.
    pub fn print(&self) {
        let seconds = self.since.elapsed().max(Duration::from_millis(1)).as_secs_f64();
        let each = seconds / self.edits.max(1) as f64;
        println!("{} edits in {seconds:.0} s, {each:.2} s each", self.edits);
        println!(
            "  {} took back the one before, {} restored files, {} were of several kinds, \
             {} were given up",
            self.taken_back, self.restored, self.several, self.given_up
        );
        println!(
            "  at most {} files were not as at first, and there were {} findings",
            self.farthest, self.most_findings
        );
        let kinds = Kind::ALL.iter().filter_map(|(kind, _)| self.kinds.get_key_value(kind));
        let kinds: Vec<String> =
            kinds.map(|(kind, count)| format!("{} {count}", kind.name())).collect();
        println!("  by kind: {}", kinds.join(", "));
        let statuses = self.changed.iter().map(|(status, count)| format!("{status} {count}"));
        let statuses: Vec<String> = statuses.collect();
        println!("  {} changed outputs: {}", self.changing, statuses.join(", "));
        println!("  rows in which the meanings differ (versions, outputs):");
        for (row, rule) in rows::DIFFERENT {
            let [states, outputs] = self.differing.get(rule).copied().unwrap_or_default();
            println!("    {row}, {rule}: {states}, {outputs}");
        }
        println!("  rows in which they agree (versions):");
        for (row, rule) in rows::SAME {
            println!("    {row}, {rule}: {}", self.met.get(rule).copied().unwrap_or_default());
        }
        self.print_memory();
    }

    fn print_memory(&self) {
        let megabytes =
            |bytes: Option<f64>| bytes.map_or("?".into(), |it| format!("{:.1}", it / 1e6));
        for at in [1, 100, 200, 300, 500, 700, 1000] {
            if let Some(Sample { live, resident, .. }) = self.memory.after(at) {
                let live = megabytes(Some(live as f64));
                let resident = megabytes(resident.map(|bytes| bytes as f64));
                println!("  memory after {at}: {live} MB allocated, {resident} MB held");
            }
        }
        println!(
            "  allocated before the walk: {} bytes; after it {} more, {} an edit; at most \
             {MOST_LEFT} may be",
            self.live_before,
            self.left(),
            self.left() / self.edits.max(1)
        );
    }
}
