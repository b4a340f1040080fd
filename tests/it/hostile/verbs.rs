//! Randomly modified files of the examples, through every verb of the program: no panic, no internal
//! error, and an answer within bounded time.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};

use super::mutated::PIECES;
use crate::cli::{Ran, Sandbox};
use crate::support::sample::is_thorough;

/// Longest run that is accepted.
const MAX_DURATION: Duration = Duration::from_secs(10);

/// An example with the arguments of each verb that is run in it; `FILE` is the modified file.
type Example = (&'static str, &'static [&'static [&'static str]]);

const EXAMPLES: [Example; 2] = [
    (
        "sites",
        &[
            &["lint"],
            &["lint", "-o", "json"],
            &["lint", "--since", "HEAD"],
            &["lint", "--since", "HEAD", "-o", "comment"],
            &[
                "lint",
                "--since",
                "HEAD",
                "-o",
                "sarif",
                "--expect-unchanged",
            ],
            &["lint", "--fix", "--unsafe-fixes", "--diff"],
            &["diff", "--patch"],
            &["diff", "-o", "html"],
            &["sites"],
            &["render", "south"],
            &["render", "lab", "armada/Chart/v1", "horizon"],
            &["explain-value", "south", "horizon", ".values"],
            &[
                "explain-value",
                "south",
                "keystone",
                ".values",
                "--since",
                "HEAD",
            ],
            &["blame", "south", "horizon"],
            &["log", "-n", "3"],
            &["impact", "FILE"],
            &["impact", "FILE:9"],
            &["graph", "south", "horizon"],
            &["init", "--print"],
            &["config", "show"],
        ],
    ),
    (
        "cloud-init",
        &[
            &["lint"],
            &["lint", "--since", "HEAD", "-o", "json"],
            &["diff"],
            &["render", "lyon"],
            &["cloud-config", "FILE"],
            &["cloud-config", "--user-data", "FILE"],
            &[
                "cloud-config",
                "global/cloud/10-base.yaml",
                "FILE",
                "-o",
                "json",
            ],
            &["config", "show"],
            &["blame", "lyon", "gateway"],
            &["impact", "FILE"],
        ],
    ),
];

#[derive(Clone, Debug)]
struct Change {
    at: Index,
    length: usize,
    with: Vec<u8>,
}

fn change() -> impl Strategy<Value = Change> {
    let with = prop_oneof![
        select(&PIECES[..]).prop_map(|piece| piece.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..3),
        Just(Vec::new()),
    ];
    (any::<Index>(), 0..30_usize, with).prop_map(|(at, length, with)| Change { at, length, with })
}

/// 20,000 runs if thorough, otherwise a few of each verb.
#[test]
fn changed_examples_are_answered_by_every_verb() {
    let cases = if is_thorough() { 10_000 } else { 60 };
    for (example, verbs) in EXAMPLES {
        check(example, verbs, cases);
    }
}

fn check(example: &str, verbs: &[&[&str]], cases: u32) {
    let sandbox = Sandbox::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples")
        .join(example);
    let files = copied(&sandbox, &from, "");
    sandbox.commit();
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let cases = (
        any::<Index>(),
        any::<Index>(),
        prop::collection::vec(change(), 1..4),
    );
    let result = TestRunner::new(config).run(&cases, |(file, verb, changes)| {
        let path = file.get(&files);
        let original = fs::read(sandbox.path(path)).expect("the file is there");
        sandbox.write(path, changed(original.clone(), &changes));
        let line = path.clone() + ":9";
        let arguments: Vec<&str> = verb
            .get(verbs)
            .iter()
            .map(|word| match *word {
                "FILE" => path,
                "FILE:9" => &line,
                word => word,
            })
            .collect();
        let start = Instant::now();
        let ran = sandbox.run(&arguments);
        let elapsed = start.elapsed();
        sandbox.write(path, original);
        prop_assert!(is_answer(&ran), "{arguments:?}: {ran:?}");
        prop_assert!(elapsed < MAX_DURATION, "{arguments:?}: {elapsed:?}");
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

/// Whether a run ended as documented, without an error of the program itself.
fn is_answer(ran: &Ran) -> bool {
    let is_bug = |text: &str| text.contains("bug in layercake") || text.contains("panicked");
    (0..=2).contains(&ran.code) && !is_bug(&ran.stdout) && !is_bug(&ran.stderr)
}

fn changed(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        let at = change.at.index(bytes.len() + 1);
        let end = (at + change.length).min(bytes.len());
        bytes.splice(at..end, change.with.iter().copied());
    }
    bytes
}

/// Copies a folder, and returns the paths of its files.
fn copied(sandbox: &Sandbox, from: &Path, to: &str) -> Vec<String> {
    let entries = fs::read_dir(from).expect("it is a folder");
    let mut paths: Vec<String> = entries
        .flat_map(|entry| {
            let entry = entry.expect("it is readable");
            let name = entry.file_name().into_string().expect("it is UTF-8");
            let path = if to.is_empty() {
                name
            } else {
                format!("{to}/{name}")
            };
            if entry.path().is_dir() {
                return copied(sandbox, &entry.path(), &path);
            }
            sandbox.write(&path, fs::read(entry.path()).expect("it is readable"));
            vec![path]
        })
        .collect();
    paths.sort();
    paths
}
