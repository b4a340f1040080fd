//! Timing of the stages of a run, over all threads.
//!
//! A thread that works for a [`Stopwatch`] marks its current stage with [`time`] or [`rule`]. Time
//! counts only for the innermost mark, so the times of all stages add up to the total. Work that is
//! spread over threads is marked with [`split`] and keeps its stage. Without a stopwatch, no clock
//! is read.
//!
//! The current stage is stored per thread and not passed down: while a thread waits for others, it
//! may steal work of another site in another stage, which only that thread knows.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::{replace, take};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Declares the stages in the order of a run: each with its name in reports and, if counted, its
/// unit.
macro_rules! stages {
    ($(#[doc = $doc:literal] $stage:ident $word:literal $(for $unit:literal)?,)+) => {
        /// Stage of a run.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Stage {
            $(#[doc = $doc] $stage,)+
        }

        impl Stage {
            /// All stages, in the order of a run.
            const ALL: [Stage; [$($word),+].len()] = [$(Stage::$stage),+];

            /// Returns the name used in reports.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Stage::$stage => $word,)+
                }
            }

            /// Returns the counted unit, in the singular, if any.
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
    /// Listing files and their layout.
    List "list" for "file",
    /// Reading files, from disk or from git.
    Read "read" for "file",
    /// Parsing files into nodes.
    Parse "parse" for "file",
    /// Reading documents from nodes.
    Documents "documents" for "document",
    /// Resolving which documents are merged into which.
    Relate "relate" for "site",
    /// Rendering documents.
    Render "render" for "output",
    /// Compiling schemas, and validating documents with them.
    Validate "validate" for "site",
    /// Running the rules on files, documents and sites.
    Rules "rules" for "finding",
    /// Computing the edits between two sides.
    Pair "pair" for "edit",
    /// Comparing outputs.
    Differ "differ" for "change",
    /// Attributing changes to edits.
    Cause "cause" for "trial",
    /// Building routes and shields.
    Route "route",
    /// Applying levels, ignore comments and the baseline, and sorting.
    Judge "judge" for "finding",
    /// Writing reports.
    Report "report",
    /// Freeing memory.
    Free "free",
    /// Everything else.
    Rest "rest",
}

/// Rules that are checked together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuleNames {
    /// Name of the first rule.
    pub first: &'static str,
    /// Number of the others.
    pub others: usize,
}

/// Timer of one run.
#[derive(Debug)]
pub struct Stopwatch {
    run: Arc<TimedRun>,
}

impl Stopwatch {
    /// Starts a stopwatch.
    #[must_use]
    pub fn start() -> Self {
        Self {
            run: Arc::new(TimedRun {
                start: Instant::now(),
                sums: Mutex::default(),
            }),
        }
    }

    /// Runs `work` and times it, including the threads that work for it.
    pub fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        let _part = Part::begin(&self.run, Some(Doing::Stage(Stage::Rest)), false);
        work()
    }

    /// Returns the times so far.
    pub fn times(&self) -> Times {
        self.run.times()
    }
}

/// Times of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    /// Time since the start.
    pub total: Duration,
    /// Stages that took time, in the order of a run.
    pub stages: Vec<StageTime>,
    /// Rules, slowest first; included in the time of [`Stage::Rules`].
    pub rules: Vec<RuleTime>,
}

/// Time of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageTime {
    /// The stage.
    pub stage: Stage,
    /// Wall-clock time. When threads were in several stages at once, the time is divided in
    /// proportion to the time that each stage took.
    pub passed: Duration,
    /// Sum over all threads.
    pub threads: Duration,
    /// Number of processed [units](Stage::unit).
    pub count: u64,
}

/// Time of some rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleTime {
    /// The rules.
    pub rules: RuleNames,
    /// Sum over all threads.
    pub threads: Duration,
}

impl Times {
    /// Returns the time of a stage; zero if it did not run.
    pub fn of(&self, stage: Stage) -> StageTime {
        let nothing = StageTime {
            stage,
            passed: Duration::ZERO,
            threads: Duration::ZERO,
            count: 0,
        };
        self.stages
            .iter()
            .find(|it| it.stage == stage)
            .copied()
            .unwrap_or(nothing)
    }

    /// Returns the sum over all threads and stages.
    pub fn threads(&self) -> Duration {
        self.stages.iter().map(|it| it.threads).sum()
    }
}

/// Runs `work` as part of this stage.
pub fn time<T>(stage: Stage, work: impl FnOnce() -> T) -> T {
    doing(Doing::Stage(stage), work)
}

/// Runs `work` as part of these rules.
pub fn rule<T>(rules: RuleNames, work: impl FnOnce() -> T) -> T {
    doing(Doing::Rule(rules), work)
}

fn doing<T>(doing: Doing, work: impl FnOnce() -> T) -> T {
    let Some(before) = at(|at| at.turn(Some(doing))) else {
        return work();
    };
    let _back = Back(before);
    work()
}

/// Restores the previous activity of the thread on drop, also after a panic.
struct Back(Option<Doing>);

impl Drop for Back {
    fn drop(&mut self) {
        at(|at| at.turn(self.0));
    }
}

/// Adds to the unit count of a stage. Does not call `count` if the run is not timed.
pub fn add_count(stage: Stage, count: impl FnOnce() -> usize) {
    if at(|_| ()).is_some() {
        let count = count() as u64;
        at(|at| at.sums.stages[stage as usize].count += count);
    }
}

/// Returns the times so far of the run that this thread works for, or `None` if it is not timed.
pub fn times() -> Option<Times> {
    at(|at| {
        at.hand_over();
        at.run.times()
    })
}

/// Marks work that other threads do in parts, each marked with [`Split::part`]. This thread counts
/// as waiting until the split is dropped.
#[must_use]
pub fn split() -> Split {
    Split::new(None)
}

/// As [`split`], for parts of another stage.
#[must_use]
pub fn split_for(stage: Stage) -> Split {
    Split::new(Some(Doing::Stage(stage)))
}

/// Work that is spread over threads; does nothing if the run is not timed.
#[derive(Debug)]
pub struct Split(Option<OfSplit>);

#[derive(Debug)]
struct OfSplit {
    run: Arc<TimedRun>,
    /// Activity of this thread before the split.
    before: Option<Doing>,
    /// Activity of the parts.
    doing: Option<Doing>,
    /// Start time; `None` for a nested split.
    start: Option<Instant>,
}

impl Split {
    fn new(doing: Option<Doing>) -> Self {
        Self(at(|at| {
            let before = at.turn(None);
            let start = (!replace(&mut at.is_split, true)).then_some(at.since);
            OfSplit {
                run: at.run.clone(),
                before,
                doing: doing.or(before),
                start,
            }
        }))
    }

    /// Marks this thread as working on a part, until the returned value is dropped.
    #[must_use]
    pub fn part(&self) -> Part {
        match &self.0 {
            Some(of) => Part::begin(&of.run, of.doing, true),
            None => Part {
                before: None,
                is_timed: false,
            },
        }
    }
}

impl Drop for Split {
    fn drop(&mut self) {
        let Some(OfSplit {
            run, before, start, ..
        }) = &self.0
        else {
            return;
        };
        at(|at| {
            at.turn(*before);
            if let Some(start) = start {
                at.hand_over();
                at.is_split = false;
                run.sums.lock().share(start.elapsed());
            }
        });
    }
}

/// Part of work that is spread over threads, while a thread works on it.
#[derive(Debug)]
pub struct Part {
    /// Previous activity of the thread.
    before: Option<At>,
    is_timed: bool,
}

impl Part {
    fn begin(run: &Arc<TimedRun>, doing: Option<Doing>, is_split: bool) -> Self {
        at(|at| at.turn(at.doing));
        let run = run.clone();
        let since = Instant::now();
        let sums = Sums::default();
        let before = AT.replace(Some(At {
            run,
            doing,
            since,
            is_split,
            sums,
        }));
        Self {
            before,
            is_timed: true,
        }
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
    /// Current activity of this thread; `None` if it does not work for a timed run.
    static AT: RefCell<Option<At>> = const { RefCell::new(None) };
}

/// Accesses the current activity of this thread.
fn at<T>(look: impl FnOnce(&mut At) -> T) -> Option<T> {
    AT.with_borrow_mut(|at| at.as_mut().map(look))
}

/// Current activity of a thread.
#[derive(Debug)]
struct At {
    run: Arc<TimedRun>,
    /// `None` while it waits.
    doing: Option<Doing>,
    since: Instant,
    /// Whether other threads may work on other parts.
    is_split: bool,
    /// Times not yet added to the run. Collected per thread to avoid locking.
    sums: Sums,
}

#[derive(Clone, Copy, Debug)]
enum Doing {
    Stage(Stage),
    Rule(RuleNames),
}

impl At {
    /// Counts the time since the last call, and returns the previous activity.
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
        *(if self.is_split {
            &mut sum.split
        } else {
            &mut sum.passed
        }) += spent;
        before
    }

    fn hand_over(&mut self) {
        self.turn(self.doing);
        self.run.sums.lock().add(take(&mut self.sums));
    }
}

/// Run that is timed.
#[derive(Debug)]
struct TimedRun {
    start: Instant,
    sums: Mutex<Sums>,
}

impl TimedRun {
    fn times(&self) -> Times {
        let sums = self.sums.lock();
        let stages = Stage::ALL.into_iter().zip(sums.stages).map(|(stage, sum)| {
            let Sum { threads, count, .. } = sum;
            // Until a split ends, its threads count as if they took turns.
            StageTime {
                stage,
                passed: sum.passed + sum.split,
                threads,
                count,
            }
        });
        let mut rules: Vec<RuleTime> = sums
            .rules
            .iter()
            .map(|(rules, spent)| RuleTime {
                rules: *rules,
                threads: *spent,
            })
            .collect();
        rules.sort_by_key(|it| std::cmp::Reverse(it.threads));
        let stages = stages
            .filter(|it| !it.threads.is_zero() || it.count > 0)
            .collect();
        Times {
            total: self.start.elapsed(),
            stages,
            rules,
        }
    }
}

/// Collected times.
#[derive(Debug, Default)]
struct Sums {
    stages: [Sum; Stage::ALL.len()],
    rules: BTreeMap<RuleNames, Duration>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    passed: Duration,
    threads: Duration,
    /// The part of `threads` in splits that have not ended.
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

    /// Divides the wall-clock time of a split among its stages.
    fn share(&mut self, passed: Duration) {
        let all: Duration = self.stages.iter().map(|sum| sum.split).sum();
        for sum in self.stages.iter_mut().filter(|sum| !sum.split.is_zero()) {
            sum.passed += passed.mul_f64(take(&mut sum.split).div_duration_f64(all));
        }
    }
}
