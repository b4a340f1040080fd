//! Generated git histories: the origin of each value is the commit found by a naive comparison of
//! all commits.

mod repository;
mod steps;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};

use proptest::prelude::ProptestConfig;
use proptest::test_runner::{TestCaseError, TestRunner};

use self::steps::{History, WHAT, steps};
use super::config;
use crate::git::Site;
use crate::naive_history::{Log, Oracle, differences, read_blame, report};

#[test]
fn values_come_from_the_commits_that_a_comparison_of_all_commits_finds() {
    let met = RefCell::new(BTreeMap::new());
    let mut runner = TestRunner::new(ProptestConfig {
        max_shrink_iters: 800,
        ..config(200)
    });
    let found = runner.run(&steps(), |steps| {
        let history = History::of(&steps);
        for what in history.commits.iter().filter_map(|commit| commit.what) {
            *met.borrow_mut().entry(what).or_insert(0) += 1;
        }
        compare(&history)
    });
    found.unwrap_or_else(|error| panic!("{error}"));
    assert!(
        WHAT.iter().all(|what| met.borrow().contains_key(what)),
        "{met:?}"
    );
}

/// Compares the results of blame and of the oracle for each site.
fn compare(history: &History) -> Result<(), TestCaseError> {
    let repository = made(history);
    let log = Log::of_working_tree(&repository.root);
    for site in log.sites() {
        let expected = Oracle::new(&log, &site).blame();
        let found = report(&repository.root, &[&site]).map(|report| read_blame(&report));
        match (expected, found) {
            (Some(expected), Some(found)) => {
                let differences = differences(&expected, &found);
                if !differences.is_empty() {
                    let differences = differences.join("\n");
                    let message = format!("{}\n{site}:\n{differences}", log.overview());
                    return Err(TestCaseError::fail(message));
                }
            }
            (None, None) => {}
            (expected, found) => {
                let [expected, found] = [expected, found].map(|it| it.is_some());
                let overview = log.overview();
                let message = format!("{overview}\n{site}: expected {expected}, found {found}");
                return Err(TestCaseError::fail(message));
            }
        }
    }
    Ok(())
}

/// The repository with its newest commit in the working tree, some of it uncommitted.
fn made(history: &History) -> Site {
    let repository = Site::new(&["--template="]);
    let (newest, earlier) = history.commits.split_last().expect("a history has commits");
    let is_committed = newest.parents.len() != 1 || earlier.len() % 2 == 0;
    let head = if is_committed {
        earlier.len()
    } else {
        newest.parents[0]
    };
    let stream = repository.beside().join("stream");
    fs::write(&stream, history.stream(head)).unwrap();
    let mut import = repository.command(&["fast-import", "--quiet"]);
    assert!(
        import
            .stdin(File::open(stream).unwrap())
            .status()
            .unwrap()
            .success()
    );
    repository.git(&["read-tree", "HEAD"]);
    for (path, file) in &newest.files {
        repository.write(path, &file.text());
    }
    repository
}
