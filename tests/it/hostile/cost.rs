//! The cost of hostile repositories is at most proportional to their size.
//!
//! The cost is the processor time of the program. Instructions cannot be counted on all machines,
//! and counting allocations requires unsafe code, which is forbidden. So each figure is the minimum
//! of a few runs, and sizes are chosen for which a quadratic algorithm would cost sixteen times as
//! much instead of four times.

mod inputs;

use std::process::{Command, Stdio};
use std::time::Duration;

use wait4::Wait4 as _;

use self::inputs::{
    Files, KINDS, Kind, PRODUCTS, compared, copies, mesh, ordinary_documents, site,
};
use crate::git::{self, Site};
use crate::support::sample::is_thorough;

/// Maximum factor of the cost when the input is four times as large: between four and sixteen,
/// since figures of a busy machine vary by half.
const MAX_GROWTH: f64 = 8.0;

/// Maximum number of runs to take the minimum of, on a machine with other load.
const TRIES: usize = 8;

/// Maximum cost of hostile input, relative to ordinary input of the same size.
const MAX_FACTOR: f64 = 50.0;

const MAX_MEMORY: u64 = 1 << 30;

/// Cost of one run.
struct Cost {
    time: Duration,
    memory: u64,
}

#[test]
fn four_times_the_hostile_input_costs_at_most_eight_times_as_much() {
    let nothing = (0..3).map(|_| cost_of(&site(String::new())).time).min().unwrap();
    let failed: Vec<String> = KINDS
        .iter()
        .filter_map(|kind| {
            let sizes = [kind.size / 2, 2 * kind.size].map(kind.make);
            let growth = least_growth(&sizes, nothing);
            (growth > MAX_GROWTH).then(|| format!("{}: {growth}", kind.name))
        })
        .collect();
    assert_eq!(failed, Vec::<String>::new());
}

/// Factor between the minimum costs of two repositories, less the cost of an empty one. Runs stop
/// as soon as it is small enough.
fn least_growth(sizes: &[Files; 2], nothing: Duration) -> f64 {
    let mut least = [Duration::MAX; 2];
    let mut growth = f64::INFINITY;
    for _ in 0..TRIES {
        for (least, files) in least.iter_mut().zip(sizes) {
            *least = cost_of(files).time.saturating_sub(nothing).min(*least);
        }
        // Differences below the clock resolution are not significant.
        growth = least[1].as_secs_f64() / least[0].as_secs_f64().max(0.02);
        if growth <= MAX_GROWTH {
            break;
        }
    }
    growth
}

#[test]
fn hostile_input_costs_at_most_fifty_times_as_much_as_ordinary_input() {
    // Startup and the trials of causes have a fixed cost.
    assert_bounded(|kind| (kind.make)(2 * kind.size), 100_000.0);
}

#[test]
fn megabyte_of_hostile_input_costs_at_most_fifty_times_as_much_as_ordinary_input() {
    if !is_thorough() {
        return;
    }
    assert_bounded(
        |kind| {
            let of_size = count_bytes(&(kind.make)(kind.size));
            (kind.make)(kind.size * 1_000_000 / of_size)
        },
        0.0,
    );
}

/// Asserts that every kind of input costs at most this factor of the same command on ordinary input
/// of its size, or of `least` bytes.
fn assert_bounded(make: impl Fn(&Kind) -> Files, least: f64) {
    let per_byte = |ordinary: &Files| {
        let least = (0..TRIES).map(|_| cost_of(ordinary).time).min().unwrap();
        least.as_secs_f64() / bytes(ordinary)
    };
    let of_lint = per_byte(&site(ordinary_documents(600, "text")));
    let of_comparison =
        per_byte(&compared(ordinary_documents(600, "text"), ordinary_documents(600, "other")));
    let failed: Vec<String> = KINDS
        .iter()
        .chain(&PRODUCTS)
        .filter_map(|kind| {
            let files = make(kind);
            let per_byte = if files.head.is_some() { of_comparison } else { of_lint };
            let most = MAX_FACTOR * per_byte * bytes(&files).max(least);
            let mut cost = cost_of(&files);
            for _ in 1..TRIES {
                if cost.time.as_secs_f64() <= most {
                    break;
                }
                cost.time = cost.time.min(cost_of(&files).time);
            }
            let is_bounded = cost.time.as_secs_f64() <= most && cost.memory <= MAX_MEMORY;
            let Cost { time, memory } = cost;
            (!is_bounded).then(|| format!("{}: {time:?} of {most} s, {memory} B", kind.name))
        })
        .collect();
    assert_eq!(failed, Vec::<String>::new());
}

/// Values that are copied into each other have millions of locations; a bounded number is listed,
/// and the rest counted.
#[test]
fn copies_of_a_changed_value_are_compared_once() {
    for (name, files) in [("copies", copies(18)), ("substitutions", mesh(24))] {
        let cost = cost_of(&files);
        assert!(cost.time < Duration::from_secs(30), "{name}: {:?}", cost.time);
        assert!(cost.memory <= MAX_MEMORY, "{name}: {} bytes", cost.memory);
    }
}

#[test]
fn number_of_threads_is_limited() {
    let site = repository(&site(String::new()));
    let mut command = layercake(&site, &["lint"]);
    let output = command.env("RAYON_NUM_THREADS", "100000").stderr(Stdio::piped()).output();
    let output = output.unwrap();
    assert!(output.status.success());
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.contains("RAYON_NUM_THREADS is 100000, above the maximum; using 256 threads"),
        "{errors}"
    );
}

fn bytes(files: &Files) -> f64 {
    u32::try_from(count_bytes(files)).unwrap().into()
}

fn count_bytes(files: &Files) -> usize {
    let all = files.head.as_ref().unwrap_or(&files.base);
    all.iter().map(|(_, text)| text.len()).sum()
}

fn repository(files: &Files) -> Site {
    let site = Site::new(&[]);
    for (path, text) in &files.base {
        site.write(path, text);
    }
    site.commit();
    for (path, text) in files.head.iter().flatten() {
        site.write(path, text);
    }
    site
}

fn layercake(site: &Site, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_layercake"));
    git::scrub(&mut command);
    command.arg("-C").arg(site.path("")).args(arguments);
    command.env("RAYON_NUM_THREADS", "1").stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn cost_of(files: &Files) -> Cost {
    let site = repository(files);
    let arguments: &[&str] =
        if files.head.is_some() { &["lint", "--since", "HEAD", "-o", "json"] } else { &["lint"] };
    let ended = layercake(&site, arguments).spawn().unwrap().wait4().unwrap();
    assert!(matches!(ended.status.code(), Some(0 | 1)), "{:?}", ended.status);
    let usage = ended.rusage;
    Cost { time: usage.utime + usage.stime, memory: usage.maxrss }
}
