//! Costs of whole processes: the program is run to its end, in interleaved rounds.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4;

use crate::repository::Repository;

/// Command to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// The unit of costs.
    Parse,
    Lint,
    Since,
    /// Command of the hook.
    Staged,
}

impl Run {
    fn arguments(self) -> Vec<&'static str> {
        match self {
            Run::Parse => vec!["debug", "parse"],
            Run::Lint => vec!["lint", "--exit-zero"],
            Run::Since => vec!["lint", "--since", "HEAD~1", "--exit-zero"],
            Run::Staged => hook().chain(["--exit-zero"]).collect(),
        }
    }
}

/// Flags of the hook, from the configuration file that pre-commit reads.
fn hook() -> impl Iterator<Item = &'static str> {
    let hooks = include_str!("../.pre-commit-hooks.yaml");
    let entry = hooks
        .lines()
        .find_map(|line| line.trim().strip_prefix("entry: layercake "));
    entry.expect("the first hook runs layercake").split(' ')
}

/// Cost of a process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// User and system time.
    pub cpu: Duration,
    /// Elapsed time.
    pub wall: Duration,
    /// Peak memory in bytes.
    pub peak: u64,
}

/// Costs of several runs of one kind.
#[derive(Clone, Debug)]
pub struct Costs {
    /// Cost of each round.
    rounds: Vec<Cost>,
}

/// Measures runs in interleaved rounds, as many as fit into `time` (7 to 20), after an uncounted
/// round that fills the page cache.
///
/// Every second round is reversed: the memory cost of a run depends on what the previous run left
/// behind, so no run should always follow the smallest.
pub fn in_turn<const N: usize>(
    repository: &Repository,
    runs: [Run; N],
    time: Duration,
) -> io::Result<[Costs; N]> {
    let run = |of| run(&repository.root, of);
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
    Ok(costs.map(|rounds| Costs { rounds }))
}

impl Costs {
    /// Median of the times, and maximum of the memory.
    pub fn median(&self) -> Cost {
        Cost {
            cpu: median(self.rounds.iter().map(|cost| cost.cpu)),
            wall: median(self.rounds.iter().map(|cost| cost.wall)),
            peak: self
                .rounds
                .iter()
                .map(|cost| cost.peak)
                .max()
                .unwrap_or_default(),
        }
    }

    /// Median ratio of the CPU time to that of `others`, round by round. Runs of one round are
    /// close in time, so a temporary slowdown affects both.
    pub fn times(&self, others: &Self) -> f64 {
        let rounds = self.rounds.iter().zip(&others.rounds);
        let ratio = |(one, other): (&Cost, &Cost)| one.cpu.as_secs_f64() / other.cpu.as_secs_f64();
        let mut ratios: Vec<f64> = rounds.map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        ratios[ratios.len() / 2]
    }
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// Runs the program over a repository to its end.
fn run(root: &Path, of: Run) -> io::Result<Cost> {
    let start = Instant::now();
    let mut layercake = Command::new(env!("CARGO_BIN_EXE_layercake"));
    layercake
        .args(of.arguments())
        .arg("-C")
        .arg(root)
        .stdout(Stdio::null());
    let ended = layercake.spawn()?.wait4()?;
    let wall = start.elapsed();
    if !ended.status.success() {
        return Err(io::Error::other(format!(
            "`layercake {}` failed",
            of.arguments().join(" ")
        )));
    }
    let used = ended.rusage;
    Ok(Cost {
        cpu: used.utime + used.stime,
        wall,
        peak: used.maxrss,
    })
}

/// Instruction count of a run on one thread; `None` if valgrind is not installed.
pub fn instructions(repository: &Repository, of: Run) -> io::Result<Option<u64>> {
    let layercake = env!("CARGO_BIN_EXE_layercake");
    let mut valgrind = Command::new("valgrind");
    valgrind.args([
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        layercake,
    ]);
    valgrind
        .args(of.arguments())
        .arg("-C")
        .arg(&repository.root)
        .env("RAYON_NUM_THREADS", "1");
    let output = match valgrind.output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        output => output?,
    };
    let stderr = String::from_utf8_lossy(&output.stderr);
    let counted = stderr
        .lines()
        .find_map(|line| line.split_once("Collected : "));
    let counted = counted.and_then(|(_, count)| count.trim().parse().ok());
    counted
        .map(Some)
        .ok_or_else(|| io::Error::other(format!("valgrind failed: {stderr}")))
}
