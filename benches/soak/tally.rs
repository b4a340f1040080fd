//! Statistics of a walk.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::memory::{Sample, Samples, live};
use crate::walk::edits::Kind;
use crate::walk::{Became, Did, Stepped, rows};

/// Maximum number of bytes an edit may leave allocated, including tables of the benchmark: less
/// than the smallest document takes, so that no data of an edit can remain.
pub const MAX_LEFT_BYTES: usize = 256;
/// Minimum number of edits in the limit, so that late one-time allocations fit into it.
const MIN_EDITS: usize = 100;

/// Statistics of a walk.
pub struct Tally {
    since: Instant,
    kinds: BTreeMap<Kind, usize>,
    reverted: usize,
    restored: usize,
    discarded: usize,
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
    /// Bytes allocated before the walk.
    live_before: usize,
    /// Bytes allocated after the walk.
    live_after: usize,
}

impl Tally {
    /// Creates empty statistics before a walk.
    pub fn new() -> Self {
        Self {
            since: Instant::now(),
            kinds: BTreeMap::new(),
            reverted: 0,
            restored: 0,
            discarded: 0,
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

    /// Counts a step, after which `distance` files differ from the original.
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
            Did::Reverted => self.reverted += 1,
            Did::Restored => self.restored += 1,
        }
        match stepped.became {
            Became::Kept => {}
            Became::Discarded => self.discarded += 1,
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

    /// Number of edits with failures.
    pub fn failed(&self) -> usize {
        self.failed
    }

    /// Records the memory left after the walk has been dropped.
    pub fn end(&mut self) {
        self.live_after = live();
    }

    /// Whether edits left memory allocated.
    pub fn grows(&self) -> bool {
        self.left() > MAX_LEFT_BYTES * self.edits.max(MIN_EDITS)
    }

    fn left(&self) -> usize {
        self.live_after.saturating_sub(self.live_before)
    }

    /// Prints the tables.
    pub fn print(&self) {
        let seconds = self
            .since
            .elapsed()
            .max(Duration::from_millis(1))
            .as_secs_f64();
        let each = seconds / self.edits.max(1) as f64;
        println!("{} edits in {seconds:.0} s, {each:.2} s each", self.edits);
        println!(
            "  {} reverted the previous edit, {} restored files, {} were of several kinds, \
             {} were discarded",
            self.reverted, self.restored, self.several, self.discarded
        );
        println!(
            "  at most {} files differed from the original, and there were {} findings",
            self.farthest, self.most_findings
        );
        let kinds = Kind::ALL
            .iter()
            .filter_map(|(kind, _)| self.kinds.get_key_value(kind));
        let kinds: Vec<String> = kinds
            .map(|(kind, count)| format!("{} {count}", kind.name()))
            .collect();
        println!("  by kind: {}", kinds.join(", "));
        let statuses = self
            .changed
            .iter()
            .map(|(status, count)| format!("{status} {count}"));
        let statuses: Vec<String> = statuses.collect();
        println!(
            "  {} changed outputs: {}",
            self.changing,
            statuses.join(", ")
        );
        println!("  rows in which the semantics differ (versions, outputs):");
        for (row, rule) in rows::DIFFERENT {
            let [states, outputs] = self.differing.get(rule).copied().unwrap_or_default();
            println!("    {row}, {rule}: {states}, {outputs}");
        }
        println!("  rows in which the semantics agree (versions):");
        for (row, rule) in rows::SAME {
            println!(
                "    {row}, {rule}: {}",
                self.met.get(rule).copied().unwrap_or_default()
            );
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
                println!("  memory after {at}: {live} MB allocated, {resident} MB resident");
            }
        }
        println!(
            "  allocated before the walk: {} bytes; after it {} more, {} per edit; limit \
             {MAX_LEFT_BYTES} per edit",
            self.live_before,
            self.left(),
            self.left() / self.edits.max(1)
        );
    }
}
