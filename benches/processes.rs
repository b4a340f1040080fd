//! What whole processes cost: runs of the program, in turn, to their end.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use wait4::Wait4;

use crate::repository::Repository;

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// The unit.
    Parse,
    Lint,
    Since,
    /// What the hook runs.
    Staged,
}

impl Run {
    pub fn arguments(self) -> Vec<&'static str> {
        match self {
            Run::Parse => vec!["debug", "parse"],
            Run::Lint => vec!["lint", "--exit-zero"],
            Run::Since => vec!["lint", "--since", "HEAD~1", "--exit-zero"],
            Run::Staged => hook().chain(["--exit-zero"]).collect(),
        }
    }
}

/// The flags of the hook, off the file that pre-commit reads.
fn hook() -> impl Iterator<Item = &'static str> {
    let hooks = include_str!("../.pre-commit-hooks.yaml");
    let entry = hooks.lines().find_map(|line| line.trim().strip_prefix("entry: layercake "));
    entry.expect("the first hook runs layercake").split(' ')
}

/// On how many threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// As many as there are processors.
    All,
    One,
}

/// What a process cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// User and system time.
    pub cpu: Duration,
    /// The time that passed.
    pub wall: Duration,
    /// The most memory it held, in bytes.
    pub peak: u64,
    /// What it had to wait for from disk, in bytes.
    pub from_disk: u64,
}

/// What runs of one kind cost.
#[derive(Clone, Debug)]
pub struct Costs {
    /// The least of each figure, but the most memory: what else a machine does
    /// only adds to what a run costs.
    pub least: Cost,
    /// Each round.
    rounds: Vec<Cost>,
}

/// What runs in turn cost, as many rounds as fit into `time` (seven at least,
/// twenty at most); one before them fills the page cache and counts for nothing.
///
/// Every second round goes the other way: what a run pays for memory depends on
/// how much the one before it has left behind, and nothing is always to follow
/// the smallest.
pub fn in_turn<const N: usize>(
    repository: &Repository,
    runs: [(Run, Threads); N],
    time: Duration,
) -> io::Result<[Costs; N]> {
    let run = |(of, threads): (Run, Threads)| run(&repository.root, of, threads);
    let first: Vec<Cost> = runs.into_iter().map(run).collect::<io::Result<_>>()?;
    let round: Duration = first.iter().map(|cost| cost.wall).sum();
    let rounds = (time.as_secs_f64() / round.as_secs_f64().max(1e-3)).clamp(7.0, 20.0) as usize;
    let mut costs = [const { Vec::new() }; N];
    let mut order: Vec<usize> = (0..runs.len()).collect();
    for _ in 0..rounds {
        for &index in &order {
            costs[index].push(run(runs[index])?);
        }
        order.reverse();
    }
    Ok(costs.map(Costs::of))
}

impl Costs {
    fn of(rounds: Vec<Cost>) -> Self {
        Self { least: ranked(&rounds, 0), rounds }
    }

    /// The middle one of each figure.
    pub fn median(&self) -> Cost {
        ranked(&self.rounds, self.rounds.len() / 2)
    }

    /// How many times the CPU time of `others` this is: the middle one of the rounds.
    /// In one round they ran one soon after the other, so that what slows a machine
    /// down for a minute slows both.
    pub fn times(&self, others: &Self) -> f64 {
        let rounds = self.rounds.iter().zip(&others.rounds);
        let ratio = |(one, other): (&Cost, &Cost)| one.cpu.as_secs_f64() / other.cpu.as_secs_f64();
        let mut ratios: Vec<f64> = rounds.map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        ratios[ratios.len() / 2]
    }
}

/// The cost of which each figure has this rank among those of `costs`, from the
/// least on; of memory the most.
fn ranked(costs: &[Cost], rank: usize) -> Cost {
    fn at<T: Ord + Copy + Default>(rank: usize, values: impl Iterator<Item = T>) -> T {
        let mut values: Vec<T> = values.collect();
        values.sort_unstable();
        values.get(rank).copied().unwrap_or_default()
    }
    Cost {
        cpu: at(rank, costs.iter().map(|cost| cost.cpu)),
        wall: at(rank, costs.iter().map(|cost| cost.wall)),
        peak: costs.iter().map(|cost| cost.peak).max().unwrap_or_default(),
        from_disk: at(rank, costs.iter().map(|cost| cost.from_disk)),
    }
}

/// Runs the program over a repository to its end.
pub fn run(root: &Path, of: Run, threads: Threads) -> io::Result<Cost> {
    let (disk, start) = (from_disk(), Instant::now());
    let mut process = command(root, &of.arguments(), threads).stdout(Stdio::null()).spawn()?;
    let ended = process.wait4()?;
    let wall = start.elapsed();
    if !ended.status.success() {
        return Err(failed(&of.arguments()));
    }
    let used = ended.rusage;
    let from_disk = from_disk() - disk;
    Ok(Cost { cpu: used.utime + used.stime, wall, peak: used.maxrss, from_disk })
}

fn command(root: &Path, arguments: &[&str], threads: Threads) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_layercake"));
    command.args(arguments).arg("-C").arg(root);
    match threads {
        Threads::All => {}
        Threads::One => drop(command.env("RAYON_NUM_THREADS", "1")),
    }
    command
}

fn failed(arguments: &[&str]) -> io::Error {
    io::Error::other(format!("`layercake {}` failed", arguments.join(" ")))
}

/// What the processes that have ended had read from disk.
fn from_disk() -> u64 {
    let counted = fs::read_to_string("/proc/self/io").unwrap_or_default();
    let bytes = counted.lines().find_map(|line| line.strip_prefix("read_bytes: "));
    bytes.and_then(|bytes| bytes.trim().parse().ok()).unwrap_or_default()
}

/// How a run on one thread splits, as `--timing` tells it.
pub fn stages(repository: &Repository, of: Run) -> io::Result<Json> {
    let arguments: Vec<&str> =
        of.arguments().into_iter().chain(["--timing", "-o", "json"]).collect();
    let mut process = command(&repository.root, &arguments, Threads::One);
    let mut process = process.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let end = end_of(&mut process.stdout.take().expect("it is piped"))?;
    if !process.wait()?.success() {
        return Err(failed(&arguments));
    }
    let timing = end.rsplit_once("\"timing_ms\":").ok_or_else(|| failed(&arguments))?.1;
    let mut values = serde_json::Deserializer::from_str(timing).into_iter::<Json>();
    Ok(values.next().transpose()?.unwrap_or_default())
}

/// The last part of a text. A process begins with the peak memory of the one
/// that starts it, so a report of many megabytes is not kept here.
fn end_of(text: &mut impl io::Read) -> io::Result<String> {
    const KEPT: usize = 1 << 18;
    let (mut end, mut chunk) = (Vec::new(), vec![0; KEPT]);
    loop {
        let read = text.read(&mut chunk)?;
        if read == 0 {
            return Ok(String::from_utf8_lossy(&end).into_owned());
        }
        end.extend_from_slice(&chunk[..read]);
        end.drain(..end.len().saturating_sub(KEPT));
    }
}

/// Drops what the page cache has of a repository's files, which needs no
/// rights, but may do nothing.
pub fn chill(repository: &Repository) -> io::Result<()> {
    use rustix::fs::{Advice, fadvise, fsync};
    for path in repository.files()? {
        let file = fs::File::open(path)?;
        // What is not on disk yet cannot be dropped.
        fsync(&file)?;
        fadvise(&file, 0, None, Advice::DontNeed)?;
    }
    Ok(())
}

/// The instructions of a run on one thread; none where valgrind is not here.
pub fn instructions(repository: &Repository, of: Run) -> io::Result<Option<u64>> {
    let layercake = env!("CARGO_BIN_EXE_layercake");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", layercake]);
    valgrind.args(of.arguments()).arg("-C").arg(&repository.root).env("RAYON_NUM_THREADS", "1");
    let output = match valgrind.output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        output => output?,
    };
    let said = String::from_utf8_lossy(&output.stderr);
    let counted = said.lines().find_map(|line| line.split_once("Collected : "));
    let counted = counted.and_then(|(_, count)| count.trim().parse().ok());
    counted.map(Some).ok_or_else(|| io::Error::other(format!("valgrind failed: {said}")))
}
