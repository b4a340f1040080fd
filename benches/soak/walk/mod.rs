//! Walk through versions of a repository: a sequence of random edits, each checked in every
//! available way.
//!
//! The same seed gives the same walk. An edit depends only on the seed, its number and the current
//! files. Loading files and processing results is done elsewhere.

pub mod edits;
pub mod engine;
pub mod laws;
mod plain;
pub mod program;
pub mod random;
pub mod rows;
mod text;

use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use layercake::check::Settings;
use layercake::compare::Attribution;
use layercake::error::Error;
use layercake::merge::deckhand::Semantics;
use rayon::{ThreadPool, ThreadPoolBuilder};

use self::edits::{Edit, Kind};
use self::engine::{BothSeen, Listing, Manner, Rules, Seen, see, see_both};
use self::program::{HeadAt, Program};
use self::random::Random;

/// A shared string.
pub type Text = Arc<str>;

/// Files of a repository, by path.
pub type Files = BTreeMap<Text, Text>;

/// Parameters of a walk.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// Seed of the walk.
    pub seed: u64,
    /// Set of enabled rules.
    pub rules: Rules,
    /// Interval of edits after which causes are verified, and the run is repeated on one thread, on
    /// several threads, and with another file order.
    pub again_every: usize,
    /// Interval of edits after which the real program compares real commits.
    pub program_every: usize,
}

/// State of a walk.
pub struct Walk {
    course: Course,
    program: Program,
    /// Thread pools for repeated runs. Created once, because memory of a terminated thread is freed
    /// at an arbitrary time.
    pools: Vec<ThreadPool>,
    original: Files,
    files: Files,
    seen: BySemantics<Seen>,
    /// Number of outputs rendered initially.
    initial_outputs: usize,
    /// Previous versions of the files changed by each of the last edits.
    before: Vec<BTreeMap<Text, Option<Text>>>,
    /// Whether the next step reverts the last edit.
    reverts_next: bool,
    edits: usize,
}

/// One value per semantics.
#[derive(Clone, Debug, Default)]
pub struct BySemantics<T> {
    pub documented: T,
    pub deckhand: T,
}

/// Result of a step of a walk.
pub struct Stepped {
    /// One-based number of the step.
    pub number: usize,
    /// Action of the step.
    pub did: Did,
    pub base: Files,
    pub head: Files,
    /// Descriptions of the failures.
    pub wrong: Vec<String>,
    /// Number of changed outputs by status, in the documented semantics.
    pub changed: BTreeMap<&'static str, usize>,
    /// Number of outputs that differ between the semantics, by rule.
    pub apart: BTreeMap<&'static str, usize>,
    /// Rules of the table rows that have findings.
    pub found: Vec<&'static str>,
    /// Number of findings.
    pub findings: usize,
    pub became: Became,
}

/// Action of a step.
#[derive(Clone, Debug)]
pub enum Did {
    /// Edits of these kinds.
    Edited(Vec<Kind>),
    /// Reverts the last step.
    Reverted,
    /// Restores the original texts of some files.
    Restored,
}

/// Whether the next step continues from the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Became {
    Kept,
    /// Too few outputs would remain.
    Discarded,
}

/// Limit of missing or blocked outputs, as a divisor of the initial number of outputs.
const MAX_MISSING_DIVISOR: usize = 8;
/// Maximum number of steps that can be reverted one by one.
const MAX_REVERTS: usize = 20;

impl Walk {
    /// Starts a walk with `files`.
    ///
    /// # Errors
    /// If layercake fails.
    pub fn new(files: Files, course: Course, program: Program) -> Result<Self, Error> {
        let seen = seen(&files, course.rules)?;
        Ok(Self {
            course,
            program,
            pools: [1, 3].map(pool).into(),
            original: files.clone(),
            initial_outputs: rendered(&seen.documented),
            seen,
            files,
            before: Vec::new(),
            reverts_next: false,
            edits: 0,
        })
    }

    /// Number of files that differ from the original.
    pub fn distance(&self) -> usize {
        self.changed_from_original().len()
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        outputs(&self.seen.documented)
    }

    /// Performs the next edit.
    ///
    /// # Errors
    /// If the real program cannot be run on real commits.
    pub fn step(&mut self) -> io::Result<Stepped> {
        self.edits += 1;
        let mut random = Random::of_edit(self.course.seed, self.edits);
        let (did, edit) = self.next(&mut random);
        let judged = self.judged(&edit)?;
        let stepped = self.stepped(did, &edit, &judged);
        match stepped.became {
            Became::Kept => self.keep(edit, judged.head),
            Became::Discarded => self.reverts_next = false,
        }
        Ok(stepped)
    }

    fn next(&mut self, random: &mut Random) -> (Did, Edit) {
        let none = |head| Edit {
            kinds: Vec::new(),
            head,
        };
        let is_reverted = std::mem::take(&mut self.reverts_next) || random.in_hundred(8);
        if let Some(before) = self.before.pop_if(|_| is_reverted) {
            return (Did::Reverted, none(with(&self.files, before)));
        }
        // The more files differ from the original, the more often some are restored.
        let changed = self.changed_from_original();
        if random.in_hundred((changed.len() / 8).min(40)) {
            let some = 1 + random.below(changed.len().min(12));
            let restored: Vec<&Text> = (0..some).filter_map(|_| random.of(&changed)).collect();
            let texts = restored
                .into_iter()
                .map(|it| (it.clone(), self.original.get(it).cloned()));
            return (Did::Restored, none(with(&self.files, texts.collect())));
        }
        let edit = edits::edit(&self.files, random);
        (Did::Edited(edit.kinds.clone()), edit)
    }

    fn changed_from_original(&self) -> Vec<Text> {
        differing(&self.original, &self.files)
    }

    fn judged(&self, edit: &Edit) -> io::Result<Judged> {
        let step = Step {
            course: self.course,
            program: &self.program,
            pools: &self.pools,
            number: self.edits,
            base: &self.files,
            seen: &self.seen,
            edit,
        };
        // Panics outside the code guarded by the engine are reported with the edit.
        let judged = catch_unwind(AssertUnwindSafe(|| step.judged()));
        let failed = |wrong: String| Judged {
            head: self.seen.clone(),
            wrong: vec![wrong],
            ..Judged::default()
        };
        match judged {
            Ok(Ok(judged)) => Ok(judged),
            Ok(Err(Failure::Io(error))) => Err(error),
            Ok(Err(Failure::Layercake(error))) => Ok(failed(format!("it failed: {error}"))),
            Err(_) => Ok(failed("it panicked".to_owned())),
        }
    }

    fn stepped(&self, did: Did, edit: &Edit, judged: &Judged) -> Stepped {
        let head = &judged.head.documented;
        let rules = head.findings.iter().map(|finding| finding.rule);
        let found: std::collections::BTreeSet<&'static str> = rules.collect();
        Stepped {
            number: self.edits,
            did,
            base: self.files.clone(),
            head: edit.head.clone(),
            wrong: judged.wrong.clone(),
            changed: judged.changed.clone(),
            apart: judged.apart.clone(),
            found: found.into_iter().collect(),
            findings: head.findings.len(),
            became: self.outcome(judged),
        }
    }

    /// Discards failing edits, so that their failures are not repeated by later edits.
    fn outcome(&self, judged: &Judged) -> Became {
        let missing = self
            .initial_outputs
            .saturating_sub(rendered(&judged.head.documented));
        let is_unusable =
            missing * MAX_MISSING_DIVISOR > self.initial_outputs || !judged.wrong.is_empty();
        if is_unusable {
            Became::Discarded
        } else {
            Became::Kept
        }
    }

    fn keep(&mut self, edit: Edit, seen: BySemantics<Seen>) {
        let changed = differing(&self.files, &edit.head);
        let before = changed.into_iter().map(|path| {
            let text = self.files.get(&path).cloned();
            (path, text)
        });
        if !edit.kinds.is_empty() {
            self.before.push(before.collect());
        }
        if self.before.len() > MAX_REVERTS {
            self.before.remove(0);
        }
        self.reverts_next = edit.breaks();
        self.files = edit.head;
        self.seen = seen;
    }
}

fn outputs(seen: &Seen) -> usize {
    seen.outputs.values().map(Vec::len).sum()
}

fn rendered(seen: &Seen) -> usize {
    seen.outputs
        .values()
        .flatten()
        .filter(|output| output.data.is_some())
        .count()
}

/// Replaces texts in `files`.
fn with(files: &Files, texts: BTreeMap<Text, Option<Text>>) -> Files {
    let mut files = files.clone();
    for (path, text) in texts {
        match text {
            Some(text) => drop(files.insert(path, text)),
            None => drop(files.remove(&path)),
        }
    }
    files
}

/// Paths of the files that differ.
pub fn differing(one: &Files, other: &Files) -> Vec<Text> {
    let mut paths: Vec<Text> = one.keys().chain(other.keys()).cloned().collect();
    paths.retain(|path| one.get(path) != other.get(path));
    paths.sort();
    paths.dedup();
    paths
}

fn manner(semantics: Semantics, rules: Rules) -> Manner {
    Manner {
        semantics,
        rules,
        listing: Listing::Sorted,
    }
}

fn seen(files: &Files, rules: Rules) -> Result<BySemantics<Seen>, Error> {
    Ok(BySemantics {
        documented: see(files, manner(Semantics::Documented, rules))?,
        deckhand: see(files, manner(Semantics::Deckhand, rules))?,
    })
}

/// Results of checking an edit.
#[derive(Default)]
struct Judged {
    head: BySemantics<Seen>,
    wrong: Vec<String>,
    changed: BTreeMap<&'static str, usize>,
    apart: BTreeMap<&'static str, usize>,
}

/// Reason why an edit cannot be checked.
enum Failure {
    /// The environment failed.
    Io(io::Error),
    /// layercake failed, although the files are in memory.
    Layercake(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Layercake(error)
    }
}

/// An edit that is being checked.
struct Step<'a> {
    course: Course,
    program: &'a Program,
    pools: &'a [ThreadPool],
    number: usize,
    base: &'a Files,
    seen: &'a BySemantics<Seen>,
    edit: &'a Edit,
}

const FOLLOWED: Attribution = Attribution::Followed {
    renderings: Settings::MAX_RENDERINGS,
};

impl Step<'_> {
    fn judged(&self) -> Result<Judged, Failure> {
        let checks_variants = self.number.is_multiple_of(self.course.again_every);
        let head = seen(&self.edit.head, self.course.rules)?;
        let apart = rows::apart(&head.documented, &head.deckhand);
        let mut judged = Judged {
            wrong: apart.unexplained,
            ..Judged::default()
        };
        judged.apart = apart.explained;
        for semantics in [Semantics::Documented, Semantics::Deckhand] {
            let both = self.compared(semantics, FOLLOWED)?;
            judged.wrong.extend(self.wrong(&head, semantics, &both));
            if semantics == Semantics::Documented {
                for change in &both.compared.comparison.outputs {
                    *judged.changed.entry(change.status.as_str()).or_default() += 1;
                }
            }
            if checks_variants {
                judged
                    .wrong
                    .extend(self.failures_of_variants(&head, semantics, &both)?);
            }
            if self.number.is_multiple_of(self.course.program_every) {
                judged
                    .wrong
                    .extend(self.program_differences(semantics, &both)?);
            }
        }
        judged.head = head;
        Ok(judged)
    }

    fn compared(&self, semantics: Semantics, by: Attribution) -> Result<BothSeen, Error> {
        see_both(
            self.base,
            &self.edit.head,
            manner(semantics, self.course.rules),
            by,
        )
    }

    fn wrong(
        &self,
        head: &BySemantics<Seen>,
        semantics: Semantics,
        both: &BothSeen,
    ) -> Vec<String> {
        let (base, head) = (self.seen.of(semantics), head.of(semantics));
        let mut wrong = laws::broken(base, head, both);
        if self.edit.changes_nothing() && !self.edit.kinds.is_empty() {
            wrong.extend(laws::text_only_violations(self.edit, both));
        }
        wrong
            .iter()
            .map(|it| format!("{semantics:?}: {it}"))
            .collect()
    }

    /// Differences to the output of the real program: with the head as a commit in one semantics,
    /// and as the working tree in the other.
    fn program_differences(
        &self,
        semantics: Semantics,
        both: &BothSeen,
    ) -> Result<Vec<String>, Failure> {
        let head = match semantics {
            Semantics::Documented => HeadAt::WorkingTree,
            Semantics::Deckhand => HeadAt::Commit,
        };
        let sides = [self.base, &self.edit.head];
        let manner = manner(semantics, self.course.rules);
        self.program
            .differing(sides, both, manner, head)
            .map_err(Failure::Io)
    }

    /// Failures of repeated runs: with every cause verified, on one and several threads, and with
    /// another file order.
    fn failures_of_variants(
        &self,
        head: &BySemantics<Seen>,
        semantics: Semantics,
        both: &BothSeen,
    ) -> Result<Vec<String>, Error> {
        let mut wrong = Vec::new();
        let verified = self.compared(semantics, Settings::verified())?;
        let failures = self.wrong(head, semantics, &verified);
        wrong.extend(failures.into_iter().map(|it| format!("verified: {it}")));
        let report = both.report();
        for pool in self.pools {
            let again = pool.install(|| self.compared(semantics, FOLLOWED))?;
            if again.report() != report {
                let threads = pool.current_num_threads();
                wrong.push(format!(
                    "{semantics:?}: different report on {threads} threads"
                ));
            }
        }
        let shuffled = Manner {
            listing: Listing::Shuffled(self.course.seed ^ self.number as u64),
            ..manner(semantics, self.course.rules)
        };
        let again = see_both(self.base, &self.edit.head, shuffled, FOLLOWED)?;
        if again.report() != report {
            wrong.push(format!(
                "{semantics:?}: different report with another file order"
            ));
        }
        if see(&self.edit.head, shuffled)? != *head.of(semantics) {
            wrong.push(format!(
                "{semantics:?}: different head with another file order"
            ));
        }
        Ok(wrong)
    }
}

impl<T> BySemantics<T> {
    fn of(&self, semantics: Semantics) -> &T {
        match semantics {
            Semantics::Documented => &self.documented,
            Semantics::Deckhand => &self.deckhand,
        }
    }
}

/// Creates a pool with this number of threads.
fn pool(threads: usize) -> ThreadPool {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads can be created")
}
