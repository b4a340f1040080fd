//! A walk through versions of a repository: one random edit after the other,
//! each judged in every way there is to judge it.
//!
//! The same seed gives the same walk. What an edit draws depends on the seed and
//! its number alone, and on the files it meets. Where the files come from, and
//! what becomes of what was found, is not known here.

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

/// A text that is shared.
pub type Text = Arc<str>;

/// The files of a repository, by path.
pub type Files = BTreeMap<Text, Text>;

/// How a walk goes.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// What makes it this walk and no other.
    pub seed: u64,
    /// Which rules look.
    pub rules: Rules,
    /// Every so many edits the causes are proven, and the run is done again on
    /// one thread, on several, and with the files in another order.
    pub again_every: usize,
    /// Every so many edits the real program compares real commits.
    pub program_every: usize,
}

/// Where a walk is.
pub struct Walk {
    course: Course,
    program: Program,
    /// On which threads it is done again. Made once: what a thread leaves behind
    /// when it ends is swept up at some time or other.
    pools: Vec<ThreadPool>,
    original: Files,
    files: Files,
    seen: ByMeaning<Seen>,
    /// How many outputs were rendered at first.
    at_first: usize,
    /// The versions before the last edits, of the files that these changed.
    before: Vec<BTreeMap<Text, Option<Text>>>,
    /// Whether the last edit is to be taken back.
    is_to_be_undone: bool,
    edits: usize,
}

/// One for each meaning.
#[derive(Clone, Debug, Default)]
pub struct ByMeaning<T> {
    pub documented: T,
    pub deckhand: T,
}

/// What came of one step of a walk.
pub struct Stepped {
    /// Its number, from one.
    pub number: usize,
    /// What was done.
    pub did: Did,
    pub base: Files,
    pub head: Files,
    /// What is wrong, in words.
    pub wrong: Vec<String>,
    /// What became of the outputs, by status, under the documented meaning.
    pub changed: BTreeMap<&'static str, usize>,
    /// How many outputs differ between the meanings, by rule.
    pub apart: BTreeMap<&'static str, usize>,
    /// The rules of rows that found something.
    pub found: Vec<&'static str>,
    /// How many findings there are.
    pub findings: usize,
    pub became: Became,
}

/// What a step did.
#[derive(Clone, Debug)]
pub enum Did {
    /// Edits of these kinds.
    Edited(Vec<Kind>),
    /// It took the last step back.
    TookBack,
    /// It gave some files the texts they had at first.
    Restored,
}

/// Whether the next step goes on from the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Became {
    Kept,
    /// Too little would be left to look at.
    GivenUp,
}

/// No more than one in so many of the outputs at first may be missing, or
/// blocked, at any time.
const MISSING: usize = 8;
/// So many steps can be taken back, one by one.
const REMEMBERED: usize = 20;

impl Walk {
    /// A walk that begins with `files`.
    ///
    /// # Errors
    /// Where layercake cannot do its work.
    pub fn new(files: Files, course: Course, program: Program) -> Result<Self, Error> {
        let seen = seen(&files, course.rules)?;
        Ok(Self {
            course,
            program,
            pools: [1, 3].map(pool).into(),
            original: files.clone(),
            at_first: rendered(&seen.documented),
            seen,
            files,
            before: Vec::new(),
            is_to_be_undone: false,
            edits: 0,
        })
    }

    /// How many files are not as they were at first.
    pub fn distance(&self) -> usize {
        self.changed_since_the_first().len()
    }

    /// How many outputs there are.
    pub fn outputs(&self) -> usize {
        outputs(&self.seen.documented)
    }

    /// One edit further.
    ///
    /// # Errors
    /// Where the real program cannot be run on real commits.
    pub fn step(&mut self) -> io::Result<Stepped> {
        self.edits += 1;
        let mut random = Random::of_edit(self.course.seed, self.edits);
        let (did, edit) = self.next(&mut random);
        let judged = self.judged(&edit)?;
        let stepped = self.told(did, &edit, &judged);
        match stepped.became {
            Became::Kept => self.keep(edit, judged.head),
            Became::GivenUp => self.is_to_be_undone = false,
        }
        Ok(stepped)
    }

    fn next(&mut self, random: &mut Random) -> (Did, Edit) {
        let none = |head| Edit { kinds: Vec::new(), head };
        let is_undone = std::mem::take(&mut self.is_to_be_undone) || random.in_hundred(8);
        if let Some(before) = self.before.pop_if(|_| is_undone) {
            return (Did::TookBack, none(with(&self.files, before)));
        }
        // The further away, the more often a part of the way is gone back.
        let changed = self.changed_since_the_first();
        if random.in_hundred((changed.len() / 8).min(40)) {
            let some = 1 + random.below(changed.len().min(12));
            let restored: Vec<&Text> = (0..some).filter_map(|_| random.of(&changed)).collect();
            let texts = restored.into_iter().map(|it| (it.clone(), self.original.get(it).cloned()));
            return (Did::Restored, none(with(&self.files, texts.collect())));
        }
        let edit = edits::edit(&self.files, random);
        (Did::Edited(edit.kinds.clone()), edit)
    }

    fn changed_since_the_first(&self) -> Vec<Text> {
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
        // What panics outside of what the engine guards is told, with the edit.
        let judged = catch_unwind(AssertUnwindSafe(|| step.judged()));
        let failed = |wrong: String| Judged {
            head: self.seen.clone(),
            wrong: vec![wrong],
            ..Judged::default()
        };
        match judged {
            Ok(Ok(judged)) => Ok(judged),
            Ok(Err(Failure::Io(error))) => Err(error),
            Ok(Err(Failure::Layercake(error))) => Ok(failed(format!("it ended: {error}"))),
            Err(_) => Ok(failed("it panicked".to_owned())),
        }
    }

    fn told(&self, did: Did, edit: &Edit, judged: &Judged) -> Stepped {
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
            became: self.fate(judged),
        }
    }

    /// An edit with which something is wrong is told once, and not again with
    /// all that come after it.
    fn fate(&self, judged: &Judged) -> Became {
        let missing = self.at_first.saturating_sub(rendered(&judged.head.documented));
        let is_poor = missing * MISSING > self.at_first || !judged.wrong.is_empty();
        if is_poor { Became::GivenUp } else { Became::Kept }
    }

    fn keep(&mut self, edit: Edit, seen: ByMeaning<Seen>) {
        let changed = differing(&self.files, &edit.head);
        let before = changed.into_iter().map(|path| {
            let text = self.files.get(&path).cloned();
            (path, text)
        });
        if !edit.kinds.is_empty() {
            self.before.push(before.collect());
        }
        if self.before.len() > REMEMBERED {
            self.before.remove(0);
        }
        self.is_to_be_undone = edit.breaks();
        self.files = edit.head;
        self.seen = seen;
    }
}

fn outputs(seen: &Seen) -> usize {
    seen.outputs.values().map(Vec::len).sum()
}

fn rendered(seen: &Seen) -> usize {
    seen.outputs.values().flatten().filter(|output| output.data.is_some()).count()
}

/// `files` with other texts.
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

/// The paths of the files that are not the same in both.
pub fn differing(one: &Files, other: &Files) -> Vec<Text> {
    let mut paths: Vec<Text> = one.keys().chain(other.keys()).cloned().collect();
    paths.retain(|path| one.get(path) != other.get(path));
    paths.sort();
    paths.dedup();
    paths
}

fn manner(semantics: Semantics, rules: Rules) -> Manner {
    Manner { semantics, rules, listing: Listing::Sorted }
}

fn seen(files: &Files, rules: Rules) -> Result<ByMeaning<Seen>, Error> {
    Ok(ByMeaning {
        documented: see(files, manner(Semantics::Documented, rules))?,
        deckhand: see(files, manner(Semantics::Deckhand, rules))?,
    })
}

/// What came of judging an edit.
#[derive(Default)]
struct Judged {
    head: ByMeaning<Seen>,
    wrong: Vec<String>,
    changed: BTreeMap<&'static str, usize>,
    apart: BTreeMap<&'static str, usize>,
}

/// Why an edit cannot be judged.
enum Failure {
    /// The world around is not as it should be.
    Io(io::Error),
    /// layercake cannot do its work, which it can of files in memory.
    Layercake(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Layercake(error)
    }
}

/// An edit while it is judged.
struct Step<'a> {
    course: Course,
    program: &'a Program,
    pools: &'a [ThreadPool],
    number: usize,
    base: &'a Files,
    seen: &'a ByMeaning<Seen>,
    edit: &'a Edit,
}

const FOLLOWED: Attribution = Attribution::Followed { renderings: Settings::RENDERINGS };

impl Step<'_> {
    fn judged(&self) -> Result<Judged, Failure> {
        let is_again = self.number.is_multiple_of(self.course.again_every);
        let head = seen(&self.edit.head, self.course.rules)?;
        let apart = rows::apart(&head.documented, &head.deckhand);
        let mut judged = Judged { wrong: apart.unexplained, ..Judged::default() };
        judged.apart = apart.explained;
        for semantics in [Semantics::Documented, Semantics::Deckhand] {
            let both = self.compared(semantics, FOLLOWED)?;
            judged.wrong.extend(self.wrong(&head, semantics, &both));
            if semantics == Semantics::Documented {
                for change in &both.compared.comparison.outputs {
                    *judged.changed.entry(change.status.as_str()).or_default() += 1;
                }
            }
            if is_again {
                judged.wrong.extend(self.wrong_again(&head, semantics, &both)?);
            }
            if self.number.is_multiple_of(self.course.program_every) {
                judged.wrong.extend(self.of_program(semantics, &both)?);
            }
        }
        judged.head = head;
        Ok(judged)
    }

    fn compared(&self, semantics: Semantics, by: Attribution) -> Result<BothSeen, Error> {
        see_both(self.base, &self.edit.head, manner(semantics, self.course.rules), by)
    }

    fn wrong(&self, head: &ByMeaning<Seen>, semantics: Semantics, both: &BothSeen) -> Vec<String> {
        let (base, head) = (self.seen.of(semantics), head.of(semantics));
        let mut wrong = laws::broken(base, head, both);
        if self.edit.changes_nothing() && !self.edit.kinds.is_empty() {
            wrong.extend(laws::more_than_text(self.edit, both));
        }
        wrong.iter().map(|it| format!("{semantics:?}: {it}")).collect()
    }

    /// What the real program says otherwise, in one meaning of the head's commit
    /// and in the other of the working tree.
    fn of_program(&self, semantics: Semantics, both: &BothSeen) -> Result<Vec<String>, Failure> {
        let head = match semantics {
            Semantics::Documented => HeadAt::WorkingTree,
            Semantics::Deckhand => HeadAt::Commit,
        };
        let sides = [self.base, &self.edit.head];
        let manner = manner(semantics, self.course.rules);
        self.program.differing(sides, both, manner, head).map_err(Failure::Io)
    }

    /// The same with every cause proven, on one thread and on several, and with
    /// the files in another order.
    fn wrong_again(
        &self,
        head: &ByMeaning<Seen>,
        semantics: Semantics,
        both: &BothSeen,
    ) -> Result<Vec<String>, Error> {
        let mut wrong = Vec::new();
        let verified = self.compared(semantics, Attribution::Verified)?;
        let told = self.wrong(head, semantics, &verified);
        wrong.extend(told.into_iter().map(|it| format!("verified: {it}")));
        let report = both.report();
        for pool in self.pools {
            let again = pool.install(|| self.compared(semantics, FOLLOWED))?;
            if again.report() != report {
                let threads = pool.current_num_threads();
                wrong.push(format!("{semantics:?}: another report on {threads} threads"));
            }
        }
        let shuffled = Manner {
            listing: Listing::Shuffled(self.course.seed ^ self.number as u64),
            ..manner(semantics, self.course.rules)
        };
        let again = see_both(self.base, &self.edit.head, shuffled, FOLLOWED)?;
        if again.report() != report {
            wrong.push(format!("{semantics:?}: another report with the files in another order"));
        }
        if see(&self.edit.head, shuffled)? != *head.of(semantics) {
            wrong.push(format!("{semantics:?}: another head with the files in another order"));
        }
        Ok(wrong)
    }
}

impl<T> ByMeaning<T> {
    fn of(&self, semantics: Semantics) -> &T {
        match semantics {
            Semantics::Documented => &self.documented,
            Semantics::Deckhand => &self.deckhand,
        }
    }
}

/// So many threads.
fn pool(threads: usize) -> ThreadPool {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads can be had")
}
