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
    COMPARED, Files, KINDS, Kind, MULTIPLIED, PRODUCTS, compared, copies, ordinary_documents, site,
};
use crate::git::{self, Site};
use crate::support::sample::is_thorough;

/// Maximum factor of the cost when the input is four times as large: between four and sixteen,
/// since figures of a busy machine vary by half.
const MAX_GROWTH: f64 = 8.0;

/// Maximum number of runs to take the minimum of, on a machine with other load.
const TRIES: usize = 8;

/// Maximum cost of hostile input, relative to ordinary input of the same size, which is plain YAML that
/// a fast path reads.
const MAX_FACTOR: f64 = 80.0;

const MAX_MEMORY: u64 = 1 << 30;

/// Cost of one run.
struct Cost {
    time: Duration,
    memory: u64,
}

#[test]
fn four_times_the_hostile_input_costs_at_most_eight_times_as_much() {
    let nothing = (0..3)
        .map(|_| cost_of(&site(String::new())).time)
        .min()
        .unwrap();
    let failed: Vec<String> = KINDS
        .iter()
        .filter_map(|kind| {
            let sizes = [kind.size / 2, 2 * kind.size].map(kind.make);
            let sites = sizes.each_ref().map(repository);
            let verb = verb_of(&sizes[0]);
            let growth = least_growth(&sites.each_ref().map(|site| (site, verb)), nothing);
            (growth > MAX_GROWTH).then(|| format!("{}: {growth}", kind.name))
        })
        .collect();
    assert_eq!(failed, Vec::<String>::new());
}

/// Arguments with which the document `x` of a site is compared and blamed.
const VERBS: [&[&str]; 4] = [
    &["lint"],
    &["lint", "--since", "HEAD", "-o", "json"],
    &["diff", "HEAD", "-o", "json"],
    &["blame", "lab", "x", "-o", "json"],
];

#[test]
fn four_times_the_compared_input_costs_at_most_eight_times_as_much() {
    let nothing = (0..3)
        .map(|_| cost_of(&site(String::new())).time)
        .min()
        .unwrap();
    let mut failed = Vec::new();
    for kind in COMPARED {
        let sizes = [kind.size / 2, 2 * kind.size]
            .map(kind.make)
            .map(|files| repository(&files));
        for verb in VERBS {
            let growth = least_growth(&sizes.each_ref().map(|site| (site, verb)), nothing);
            if growth > MAX_GROWTH {
                failed.push(format!("{}, {verb:?}: {growth}", kind.name));
            }
        }
    }
    assert_eq!(failed, Vec::<String>::new());
}

/// The limits are of the build of the tests, which is optimized little.
#[test]
fn hundred_kilobytes_cost_at_most_five_seconds_and_half_a_gigabyte() {
    let sized = COMPARED
        .iter()
        .map(|kind| (kind.name, of_bytes(kind, 100_000)));
    let fixed = MULTIPLIED
        .iter()
        .map(|kind| (kind.name, (kind.make)(kind.size)));
    let others = KINDS.iter().chain(&PRODUCTS).filter(|_| is_thorough());
    let others = others.map(|kind| (kind.name, of_bytes(kind, 100_000)));
    assert_costs(
        sized.chain(fixed).chain(others),
        Duration::from_secs(5),
        500 << 20,
    );
}

#[test]
fn megabyte_costs_at_most_twenty_seconds_and_a_gigabyte() {
    if !is_thorough() {
        return;
    }
    let kinds = COMPARED.iter().chain(&KINDS).chain(&PRODUCTS);
    let sized = kinds.map(|kind| (kind.name, of_bytes(kind, 1_000_000)));
    assert_costs(sized, Duration::from_secs(20), MAX_MEMORY);
}

/// Files of a kind that have about this number of bytes.
fn of_bytes(kind: &Kind, count: usize) -> Files {
    let of_size = count_bytes(&(kind.make)(kind.size));
    (kind.make)(kind.size * count / of_size)
}

/// Asserts that each verb costs at most this time and number of bytes.
fn assert_costs(inputs: impl Iterator<Item = (&'static str, Files)>, time: Duration, memory: u64) {
    let mut failed = Vec::new();
    for (name, files) in inputs {
        let site = repository(&files);
        let mut texts = files.head.iter().flatten().map(|(_, text)| text);
        let verbs = match &files.head {
            Some(_) if texts.any(|text| text.contains("\n  name: x\n")) => &VERBS[..],
            Some(_) => &VERBS[..3],
            None => &VERBS[..1],
        };
        for verb in verbs {
            let mut cost = cost_in(&site, verb);
            for _ in 1..TRIES {
                if cost.time <= time {
                    break;
                }
                cost.time = cost.time.min(cost_in(&site, verb).time);
            }
            if cost.time > time || cost.memory > memory {
                failed.push(format!(
                    "{name}, {verb:?}: {:?}, {} B",
                    cost.time, cost.memory
                ));
            }
        }
    }
    assert_eq!(failed, Vec::<String>::new());
}

/// Factor between the minimum costs of two runs, less the cost of an empty one. Runs stop as soon as
/// it is small enough.
fn least_growth(runs: &[(&Site, &[&str]); 2], nothing: Duration) -> f64 {
    let mut least = [Duration::MAX; 2];
    let mut growth = f64::INFINITY;
    for _ in 0..TRIES {
        for (least, (site, arguments)) in least.iter_mut().zip(runs) {
            *least = cost_in(site, arguments)
                .time
                .saturating_sub(nothing)
                .min(*least);
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
fn hostile_input_costs_at_most_eighty_times_as_much_as_ordinary_input() {
    // Startup and the trials of causes have a fixed cost.
    assert_bounded(|kind| (kind.make)(2 * kind.size), 100_000.0);
}

#[test]
fn megabyte_of_hostile_input_costs_at_most_eighty_times_as_much_as_ordinary_input() {
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
    let of_comparison = per_byte(&compared(
        ordinary_documents(600, "text"),
        ordinary_documents(600, "other"),
    ));
    let failed: Vec<String> = KINDS
        .iter()
        .chain(&PRODUCTS)
        .filter_map(|kind| {
            let files = make(kind);
            let per_byte = if files.head.is_some() {
                of_comparison
            } else {
                of_lint
            };
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
    let cost = cost_of(&copies(18));
    assert!(cost.time < Duration::from_secs(30), "{:?}", cost.time);
    assert!(cost.memory <= MAX_MEMORY, "{} bytes", cost.memory);
}

#[test]
fn number_of_threads_is_limited() {
    let site = repository(&site(String::new()));
    let mut command = layercake(&site, &["lint"]);
    let output = command
        .env("RAYON_NUM_THREADS", "100000")
        .stderr(Stdio::piped())
        .output();
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
    command
        .env("RAYON_NUM_THREADS", "1")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn verb_of(files: &Files) -> &'static [&'static str] {
    VERBS[usize::from(files.head.is_some())]
}

fn cost_of(files: &Files) -> Cost {
    cost_in(&repository(files), verb_of(files))
}

fn cost_in(site: &Site, arguments: &[&str]) -> Cost {
    let ended = layercake(site, arguments).spawn().unwrap().wait4().unwrap();
    assert!(
        matches!(ended.status.code(), Some(0 | 1)),
        "{arguments:?}: {:?}",
        ended.status
    );
    let usage = ended.rusage;
    Cost {
        time: usage.utime + usage.stime,
        memory: usage.maxrss,
    }
}
