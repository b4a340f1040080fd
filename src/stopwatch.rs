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

use std::array;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Finding the repository and its configuration.
    Start,
    /// Listing files, and how they lie.
    List,
    /// Reading them, from disk or from git.
    Read,
    /// From texts to nodes.
    Parse,
    /// From nodes to documents.
    Documents,
    /// Which document lies on which.
    Relate,
    /// Making documents.
    Render,
    /// Making schemas ready, and looking at documents with them.
    Validate,
    /// Looking at files, documents and sites with the rules.
    Rules,
    /// What was edited between two sides.
    Pair,
    /// Which outputs differ.
    Differ,
    /// Which edits caused that.
    Cause,
    /// By which ways, and what stopped the others.
    Route,
    /// Levels, comments, the baseline, order.
    Judge,
    /// Writing reports.
    Report,
    /// Giving memory back.
    Free,
    /// Whatever is none of these.
    Rest,
}

impl Stage {
    /// All of them, in the order of a run.
    pub const ALL: [Stage; 17] = [
        Stage::Start,
        Stage::List,
        Stage::Read,
        Stage::Parse,
        Stage::Documents,
        Stage::Relate,
        Stage::Render,
        Stage::Validate,
        Stage::Rules,
        Stage::Pair,
        Stage::Differ,
        Stage::Cause,
        Stage::Route,
        Stage::Judge,
        Stage::Report,
        Stage::Free,
        Stage::Rest,
    ];

    /// The word reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Start => "start",
            Stage::List => "list",
            Stage::Read => "read",
            Stage::Parse => "parse",
            Stage::Documents => "documents",
            Stage::Relate => "relate",
            Stage::Render => "render",
            Stage::Validate => "validate",
            Stage::Rules => "rules",
            Stage::Pair => "pair",
            Stage::Differ => "differ",
            Stage::Cause => "cause",
            Stage::Route => "route",
            Stage::Judge => "judge",
            Stage::Report => "report",
            Stage::Free => "free",
            Stage::Rest => "rest",
        }
    }

    /// What it is done for, in the singular; none where that is not counted.
    pub fn unit(self) -> Option<&'static str> {
        match self {
            Stage::List | Stage::Read | Stage::Parse => Some("file"),
            Stage::Documents => Some("document"),
            Stage::Relate | Stage::Validate => Some("site"),
            Stage::Render => Some("output"),
            Stage::Rules | Stage::Judge => Some("finding"),
            Stage::Pair => Some("edit"),
            Stage::Differ => Some("change"),
            Stage::Cause => Some("trial"),
            Stage::Start | Stage::Route | Stage::Report | Stage::Free | Stage::Rest => None,
        }
    }
}

/// Rules that are looked for together: the name of the first, and how many
/// more there are.
pub type RuleNames = (&'static str, usize);

/// Times one run.
#[derive(Debug)]
pub struct Stopwatch {
    laps: Arc<Laps>,
}

impl Stopwatch {
    /// One that runs from now on.
    #[must_use]
    pub fn start() -> Self {
        Self { laps: Arc::new(Laps::new()) }
    }

    /// Does `work`, and counts what it and the threads that work for it spend.
    pub fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        let at = At::new(self.laps.clone(), Some(Doing::Stage(Stage::Rest)), Within::Run);
        let _back = Part { then: Then::Back(AT.replace(Some(at))) };
        work()
    }

    /// How the run splits so far.
    pub fn times(&self) -> Times {
        self.laps.times()
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

/// Counts that a stage was done for so many more; they are not counted where
/// nobody wants to know.
pub fn did(stage: Stage, count: impl FnOnce() -> usize) {
    if let Some(laps) = AT.with_borrow(|at| Some(at.as_ref()?.laps.clone())) {
        laps.counts[stage as usize].fetch_add(count() as u64, Relaxed);
    }
}

/// How the run that this thread works for splits so far; none where it is not
/// timed.
pub fn times() -> Option<Times> {
    AT.with_borrow_mut(|at| {
        let at = at.as_mut()?;
        at.turn(at.doing);
        Some(at.laps.times())
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

/// Work that is spread over threads.
#[derive(Debug)]
pub struct Split {
    of: Option<OfSplit>,
}

#[derive(Debug)]
struct OfSplit {
    laps: Arc<Laps>,
    /// What the work is done for.
    before: Option<Doing>,
    /// What its parts belong to.
    doing: Option<Doing>,
    /// None for what is split once more.
    stretch: Option<Stretch>,
}

impl Split {
    fn new(doing: Option<Doing>) -> Self {
        let of = AT.with_borrow_mut(|at| {
            let at = at.as_mut()?;
            let before = at.turn(None);
            let stretch = match at.within {
                Within::Run => Some(Stretch::begin(at.laps.clone())),
                Within::Split => None,
            };
            Some(OfSplit { laps: at.laps.clone(), before, doing: doing.or(before), stretch })
        });
        Self { of }
    }

    /// Lets this thread be at a part of the work, until that is dropped.
    #[must_use]
    pub fn part(&self) -> Part {
        let Some(of) = &self.of else { return Part { then: Then::Nothing } };
        let mut before = AT.replace(Some(At::new(of.laps.clone(), of.doing, Within::Split)));
        if let Some(before) = &mut before {
            before.turn(before.doing);
        }
        Part { then: Then::Back(before) }
    }
}

impl Drop for Split {
    fn drop(&mut self) {
        let Some(of) = &self.of else { return };
        if let Some(stretch) = &of.stretch {
            stretch.end();
        }
        AT.with_borrow_mut(|at| at.as_mut().map(|at| at.turn(of.before)));
    }
}

/// A part of work that is spread over threads, while one is at it.
#[derive(Debug)]
pub struct Part {
    then: Then,
}

/// What a thread does after a part.
#[derive(Debug)]
enum Then {
    /// Nothing is timed.
    Nothing,
    /// It goes on with what it was at before.
    Back(Option<At>),
}

impl Drop for Part {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.then, Then::Nothing) {
            Then::Nothing => {}
            Then::Back(before) => go_back(before),
        }
    }
}

thread_local! {
    /// What this thread is at; none where it works for no run that is timed.
    static AT: RefCell<Option<At>> = const { RefCell::new(None) };
}

/// What a thread is at.
#[derive(Debug)]
struct At {
    laps: Arc<Laps>,
    /// None while it waits.
    doing: Option<Doing>,
    since: Instant,
    within: Within,
}

#[derive(Clone, Copy, Debug)]
enum Doing {
    Stage(Stage),
    Rule(RuleNames),
}

/// Whether what a thread does is alone in the run.
#[derive(Clone, Copy, Debug)]
enum Within {
    /// It is, until it is split.
    Run,
    /// Others may be at other parts.
    Split,
}

impl At {
    fn new(laps: Arc<Laps>, doing: Option<Doing>, within: Within) -> Self {
        Self { laps, doing, since: Instant::now(), within }
    }

    /// Counts the time since the last turn, and gives what it was for.
    fn turn(&mut self, next: Option<Doing>) -> Option<Doing> {
        let (now, before) = (Instant::now(), self.doing);
        self.laps.add(before, now - self.since);
        (self.since, self.doing) = (now, next);
        before
    }
}

fn doing<T>(doing: Doing, work: impl FnOnce() -> T) -> T {
    let turned = AT.with_borrow_mut(|at| at.as_mut().map(|at| at.turn(Some(doing))));
    let Some(before) = turned else { return work() };
    let _back = Back(before);
    work()
}

/// Goes back to what the thread was at, when `work` panics too.
struct Back(Option<Doing>);

impl Drop for Back {
    fn drop(&mut self) {
        AT.with_borrow_mut(|at| at.as_mut().map(|at| at.turn(self.0)));
    }
}

/// Ends what the thread is at, and goes on with what it was at before.
fn go_back(mut before: Option<At>) {
    if let Some(before) = &mut before {
        before.since = Instant::now();
    }
    if let Some(mut now) = AT.replace(before) {
        now.turn(None);
    }
}

type PerStage = [AtomicU64; Stage::ALL.len()];

/// What was counted, in nanoseconds.
#[derive(Debug)]
struct Laps {
    start: Instant,
    threads: PerStage,
    counts: PerStage,
    /// Of these, what was spent while work was split, and the time that passed
    /// meanwhile.
    split: PerStage,
    passed: PerStage,
    rules: Mutex<BTreeMap<RuleNames, u64>>,
}

impl Laps {
    fn new() -> Self {
        let zeros = || array::from_fn(|_| AtomicU64::new(0));
        Self {
            start: Instant::now(),
            threads: zeros(),
            counts: zeros(),
            split: zeros(),
            passed: zeros(),
            rules: Mutex::default(),
        }
    }

    fn add(&self, doing: Option<Doing>, spent: Duration) {
        let spent = nanoseconds(spent);
        let stage = match doing {
            None => return,
            Some(Doing::Stage(stage)) => stage,
            Some(Doing::Rule(rules)) => {
                let mut times = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
                *times.entry(rules).or_default() += spent;
                Stage::Rules
            }
        };
        self.threads[stage as usize].fetch_add(spent, Relaxed);
    }

    fn times(&self) -> Times {
        let stages = Stage::ALL.iter().map(|stage| self.of(*stage));
        let stages = stages.filter(|it| !it.threads.is_zero() || it.count > 0).collect();
        let rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let rules = rules.iter();
        let mut rules: Vec<RuleTime> = rules
            .map(|(rules, spent)| RuleTime { rules: *rules, threads: Duration::from_nanos(*spent) })
            .collect();
        rules.sort_by_key(|it| std::cmp::Reverse(it.threads));
        Times { total: self.start.elapsed(), stages, rules }
    }

    fn of(&self, stage: Stage) -> StageTime {
        let at = |counts: &PerStage| counts[stage as usize].load(Relaxed);
        let threads = at(&self.threads);
        let passed = threads.saturating_sub(at(&self.split)) + at(&self.passed);
        let (passed, threads) = (Duration::from_nanos(passed), Duration::from_nanos(threads));
        StageTime { stage, passed, threads, count: at(&self.counts) }
    }
}

/// A stretch of a run in which its work is split.
#[derive(Debug)]
struct Stretch {
    laps: Arc<Laps>,
    start: Instant,
    threads: [u64; Stage::ALL.len()],
}

impl Stretch {
    fn begin(laps: Arc<Laps>) -> Self {
        let threads = array::from_fn(|stage| laps.threads[stage].load(Relaxed));
        Self { laps, start: Instant::now(), threads }
    }

    /// Shares the time that passed among the stages.
    fn end(&self) {
        let Self { laps, start, threads } = self;
        let passed = u128::from(nanoseconds(start.elapsed()));
        let spent: [u64; Stage::ALL.len()] =
            array::from_fn(|stage| laps.threads[stage].load(Relaxed) - threads[stage]);
        let all: u128 = spent.iter().copied().map(u128::from).sum();
        for (stage, spent) in spent.into_iter().enumerate().filter(|(_, spent)| *spent > 0) {
            laps.split[stage].fetch_add(spent, Relaxed);
            let share = u64::try_from(passed * u128::from(spent) / all).unwrap_or(u64::MAX);
            laps.passed[stage].fetch_add(share, Relaxed);
        }
    }
}

/// Enough for five hundred years.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
