//! Where the time of a run goes: what its threads spend on each stage.
//!
//! A thread that works for a [`Stopwatch`] says what it is at ([`lap`], [`rule`]); time counts for
//! the innermost of these alone, so that the times of all stages add up to the
//! whole. Work that is spread over threads says so ([`split`]), and takes along
//! what it belongs to. Where nobody holds a stopwatch, no clock is read and
//! nothing is counted.
//!
//! What a thread is at is kept with the thread and not handed down: while a
//! thread waits for others it takes work from them, of another site in another
//! stage, and only it knows that it does. What stages do is not known here.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::{replace, take};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Declares the stages in the order of a run: each with the word that reports use, and what it is
/// done for where that is counted.
macro_rules! stages {
    ($(#[doc = $doc:literal] $stage:ident $word:literal $(for $unit:literal)?,)+) => {
        /// A part of a run.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Stage {
            $(#[doc = $doc] $stage,)+
        }

        impl Stage {
            /// All of them, in the order of a run.
            const ALL: [Stage; [$($word),+].len()] = [$(Stage::$stage),+];

            /// The word reports use.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Stage::$stage => $word,)+
                }
            }

            /// What it is done for, in the singular; none where that is not counted.
            pub fn unit(self) -> Option<&'static str> {
                let unit: &[&str] = match self {
                    $(Stage::$stage => &[$($unit)?],)+
                };
                unit.first().copied()
            }
        }
    };
}

stages! {
    /// Finding the repository and its configuration.
    Start "start",
    /// Listing files, and how they lie.
    List "list" for "file",
    /// Reading them, from disk or from git.
    Read "read" for "file",
    /// From texts to nodes.
    Parse "parse" for "file",
    /// From nodes to documents.
    Documents "documents" for "document",
    /// Which document lies on which.
    Relate "relate" for "site",
    /// Making documents.
    Render "render" for "output",
    /// Making schemas ready, and looking at documents with them.
    Validate "validate" for "site",
    /// Looking at files, documents and sites with the rules.
    Rules "rules" for "finding",
    /// What was edited between two sides.
    Pair "pair" for "edit",
    /// Which outputs differ.
    Differ "differ" for "change",
    /// Which edits caused that.
    Cause "cause" for "trial",
    /// By which ways, and what stopped the others.
    Route "route",
    /// Levels, comments, the baseline, order.
    Judge "judge" for "finding",
    /// Writing reports.
    Report "report",
    /// Giving memory back.
    Free "free",
    /// Whatever is none of these.
    Rest "rest",
}

/// Rules that are looked for together: the name of the first, and how many
/// more there are.
pub type RuleNames = (&'static str, usize);

/// Times one run.
#[derive(Debug)]
pub struct Stopwatch {
    run: Arc<TimedRun>,
}

impl Stopwatch {
    /// One that runs from now on.
    #[must_use]
    pub fn start() -> Self {
        Self { run: Arc::new(TimedRun { start: Instant::now(), sums: Mutex::default() }) }
    }

    /// Does `work`, and counts what it and the threads that work for it spend.
    pub fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        let _part = Part::begin(&self.run, Some(Doing::Stage(Stage::Rest)), false);
        work()
    }

    /// How the run splits so far.
    pub fn times(&self) -> Times {
        self.run.times()
    }
}

/// How a run splits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    /// From its beginning.
    pub total: Duration,
    /// Each stage that took time, in the order of a run.
    pub stages: Vec<StageTime>,
    /// The rules, the dearest first; also in the time of [`Stage::Rules`].
    pub rules: Vec<RuleTime>,
}

/// What a stage took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageTime {
    /// Which one.
    pub stage: Stage,
    /// Its part of the time that passed. Where threads were at several stages
    /// at once, that is shared among these by what each took.
    pub passed: Duration,
    /// What all threads spent on it together.
    pub threads: Duration,
    /// For how many it was done, in its [unit](Stage::unit).
    pub count: u64,
}

/// What some rules took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleTime {
    /// Which ones.
    pub rules: RuleNames,
    /// What all threads spent on them together.
    pub threads: Duration,
}

impl Times {
    /// What a stage took; nothing where it was not met.
    pub fn of(&self, stage: Stage) -> StageTime {
        let nothing =
            StageTime { stage, passed: Duration::ZERO, threads: Duration::ZERO, count: 0 };
        self.stages.iter().find(|it| it.stage == stage).copied().unwrap_or(nothing)
    }

    /// What all threads spent together.
    pub fn threads(&self) -> Duration {
        self.stages.iter().map(|it| it.threads).sum()
    }
}

/// Does `work` as a part of this stage.
pub fn lap<T>(stage: Stage, work: impl FnOnce() -> T) -> T {
    doing(Doing::Stage(stage), work)
}

/// Does `work` for these rules.
pub fn rule<T>(rules: RuleNames, work: impl FnOnce() -> T) -> T {
    doing(Doing::Rule(rules), work)
}

fn doing<T>(doing: Doing, work: impl FnOnce() -> T) -> T {
    let Some(before) = at(|at| at.turn(Some(doing))) else { return work() };
    let _back = Back(before);
    work()
}

/// Goes back to what the thread was at, when `work` panics too.
struct Back(Option<Doing>);

impl Drop for Back {
    fn drop(&mut self) {
        at(|at| at.turn(self.0));
    }
}

/// Counts that a stage was done for so many more; they are not counted where
/// nobody wants to know.
pub fn did(stage: Stage, count: impl FnOnce() -> usize) {
    if at(|_| ()).is_some() {
        let count = count() as u64;
        at(|at| at.sums.stages[stage as usize].count += count);
    }
}

/// How the run that this thread works for splits so far; none where it is not
/// timed.
pub fn times() -> Option<Times> {
    at(|at| {
        at.hand_over();
        at.run.times()
    })
}

/// Lets other threads do parts of the work, each from its [`Split::part`] on;
/// this thread is taken to wait until the split is dropped.
#[must_use]
pub fn split() -> Split {
    Split::new(None)
}

/// As [`split`], with parts that belong to another stage.
#[must_use]
pub fn split_for(stage: Stage) -> Split {
    Split::new(Some(Doing::Stage(stage)))
}

/// Work that is spread over threads; nothing where that is not timed.
#[derive(Debug)]
pub struct Split(Option<OfSplit>);

#[derive(Debug)]
struct OfSplit {
    run: Arc<TimedRun>,
    /// What the work is done for.
    before: Option<Doing>,
    /// What its parts belong to.
    doing: Option<Doing>,
    /// None for what is split once more.
    start: Option<Instant>,
}

impl Split {
    fn new(doing: Option<Doing>) -> Self {
        Self(at(|at| {
            let before = at.turn(None);
            let start = (!replace(&mut at.is_split, true)).then_some(at.since);
            OfSplit { run: at.run.clone(), before, doing: doing.or(before), start }
        }))
    }

    /// Lets this thread be at a part of the work, until that is dropped.
    #[must_use]
    pub fn part(&self) -> Part {
        match &self.0 {
            Some(of) => Part::begin(&of.run, of.doing, true),
            None => Part { before: None, is_timed: false },
        }
    }
}

impl Drop for Split {
    fn drop(&mut self) {
        let Some(OfSplit { run, before, start, .. }) = &self.0 else { return };
        at(|at| {
            at.turn(*before);
            if let Some(start) = start {
                at.hand_over();
                at.is_split = false;
                run.sums().share(start.elapsed());
            }
        });
    }
}

/// A part of work that is spread over threads, while one is at it.
#[derive(Debug)]
pub struct Part {
    /// What the thread was at before.
    before: Option<At>,
    is_timed: bool,
}

impl Part {
    fn begin(run: &Arc<TimedRun>, doing: Option<Doing>, is_split: bool) -> Self {
        at(|at| at.turn(at.doing));
        let (run, since, sums) = (run.clone(), Instant::now(), Sums::default());
        let before = AT.replace(Some(At { run, doing, since, is_split, sums }));
        Self { before, is_timed: true }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if self.is_timed {
            if let Some(mut ended) = AT.replace(self.before.take()) {
                ended.hand_over();
            }
            at(|at| at.since = Instant::now());
        }
    }
}

thread_local! {
    /// What this thread is at; none where it works for no run that is timed.
    static AT: RefCell<Option<At>> = const { RefCell::new(None) };
}

/// Looks at what this thread is at.
fn at<T>(look: impl FnOnce(&mut At) -> T) -> Option<T> {
    AT.with_borrow_mut(|at| at.as_mut().map(look))
}

/// What a thread is at.
#[derive(Debug)]
struct At {
    run: Arc<TimedRun>,
    /// None while it waits.
    doing: Option<Doing>,
    since: Instant,
    /// Whether other threads may be at other parts.
    is_split: bool,
    /// What is not handed over to the run: no thread waits for another to count.
    sums: Sums,
}

#[derive(Clone, Copy, Debug)]
enum Doing {
    Stage(Stage),
    Rule(RuleNames),
}

impl At {
    /// Counts the time since the last turn, and gives what it was for.
    fn turn(&mut self, next: Option<Doing>) -> Option<Doing> {
        let now = Instant::now();
        let spent = now - replace(&mut self.since, now);
        let before = replace(&mut self.doing, next);
        let stage = match before {
            None => return before,
            Some(Doing::Stage(stage)) => stage,
            Some(Doing::Rule(rules)) => {
                *self.sums.rules.entry(rules).or_default() += spent;
                Stage::Rules
            }
        };
        let sum = &mut self.sums.stages[stage as usize];
        sum.threads += spent;
        *(if self.is_split { &mut sum.split } else { &mut sum.passed }) += spent;
        before
    }

    fn hand_over(&mut self) {
        self.turn(self.doing);
        self.run.sums().add(take(&mut self.sums));
    }
}

/// A run that is timed.
#[derive(Debug)]
struct TimedRun {
    start: Instant,
    sums: Mutex<Sums>,
}

impl TimedRun {
    fn sums(&self) -> MutexGuard<'_, Sums> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn times(&self) -> Times {
        let sums = self.sums();
        let stages = Stage::ALL.into_iter().zip(sums.stages).map(|(stage, sum)| {
            let Sum { threads, count, .. } = sum;
            // What is still split counts as if its threads took turns.
            StageTime { stage, passed: sum.passed + sum.split, threads, count }
        });
        let rules =
            sums.rules.iter().map(|(rules, spent)| RuleTime { rules: *rules, threads: *spent });
        let mut rules: Vec<RuleTime> = rules.collect();
        rules.sort_by_key(|it| std::cmp::Reverse(it.threads));
        let stages = stages.filter(|it| !it.threads.is_zero() || it.count > 0).collect();
        Times { total: self.start.elapsed(), stages, rules }
    }
}

/// What was counted.
#[derive(Debug, Default)]
struct Sums {
    stages: [Sum; Stage::ALL.len()],
    rules: BTreeMap<RuleNames, Duration>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    passed: Duration,
    threads: Duration,
    /// Part of `threads` in work that is still split.
    split: Duration,
    count: u64,
}

impl Sums {
    fn add(&mut self, more: Sums) {
        for (sum, more) in self.stages.iter_mut().zip(more.stages) {
            sum.passed += more.passed;
            sum.threads += more.threads;
            sum.split += more.split;
            sum.count += more.count;
        }
        for (rules, spent) in more.rules {
            *self.rules.entry(rules).or_default() += spent;
        }
    }

    /// Shares the time that passed while work was split among its stages.
    fn share(&mut self, passed: Duration) {
        let all: Duration = self.stages.iter().map(|sum| sum.split).sum();
        for sum in self.stages.iter_mut().filter(|sum| !sum.split.is_zero()) {
            sum.passed += passed.mul_f64(take(&mut sum.split).div_duration_f64(all));
        }
    }
}
