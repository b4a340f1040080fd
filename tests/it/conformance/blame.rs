//! The origin of each value of the largest public site repository, in a history of 745 commits
//! with merges, is the one that a naive comparison of all commits finds.

use rayon::prelude::*;
use serde_json::Value as Json;

use super::treasuremap::{HEAD, Treasuremap};
use crate::naive_history::{
    Blame, HistoryEntry, Log, Oracle, differences, read_blame, read_history, report,
};

/// One of them was renamed.
const SITES: [&str; 3] = ["seaworthy", "airskiff", "aiab"];

/// Number of values of each site whose history is compared.
const SAMPLED: usize = 10;

#[test]
#[ignore = "needs the recorded corpus"]
fn values_come_from_the_commits_that_a_comparison_of_all_commits_finds() {
    let repository = Treasuremap::clone();
    let log = Log::of_revision(&repository.path(), HEAD);
    let differences = SITES.par_iter().flat_map_iter(|site| {
        let oracle = Oracle::new(&log, site);
        let expected = oracle.blame().expect("the site can be rendered");
        let found = read_blame(&blame(&repository, &[site]));
        let of_values = differences(&expected, &found);
        let of_histories = history_differences(&repository, site, &oracle, &sample(&expected));
        let differences = of_values.into_iter().chain(of_histories);
        differences
            .map(|difference| format!("{site}: {difference}"))
            .collect::<Vec<_>>()
    });
    let differences: Vec<String> = differences.collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Some values that changed since the site was added, and their neighbors.
fn sample(blame: &Blame) -> Vec<([String; 3], String)> {
    let values = blame.iter().flat_map(|(key, output)| {
        output
            .values
            .iter()
            .map(move |(pointer, origin)| (key, pointer, origin))
    });
    let changed = values.filter(|(.., origin)| origin.end == "changed");
    let changed = changed.filter(|(_, pointer, _)| !pointer.is_empty());
    let changed: Vec<_> = changed
        .map(|(key, pointer, _)| (key.clone(), pointer.clone()))
        .collect();
    let step = changed.len() / SAMPLED;
    let chosen = changed.into_iter().step_by(step).take(SAMPLED).enumerate();
    let around = |(at, (key, mut pointer)): (usize, ([String; 3], String))| {
        if at % 3 == 2 {
            let end = pointer.rfind('/').filter(|end| *end > 0);
            pointer.truncate(end.unwrap_or(pointer.len()));
        }
        (key, pointer)
    };
    chosen.map(around).collect()
}

fn history_differences(
    repository: &Treasuremap,
    site: &str,
    oracle: &Oracle<'_>,
    values: &[([String; 3], String)],
) -> Vec<String> {
    let found: Vec<Vec<HistoryEntry>> = values
        .par_iter()
        .map(|([schema, name, _], pointer)| {
            read_history(&blame(repository, &[site, schema, name, pointer]))
        })
        .collect();
    let differing = values
        .iter()
        .zip(found)
        .filter_map(|((key, pointer), found)| {
            let expected = oracle.history(key, pointer);
            let what = || {
                format!(
                    "{} `{pointer}`:\n  expected {expected:?}\n  found    {found:?}",
                    key.join(" ")
                )
            };
            (expected != found).then(what)
        });
    differing.collect()
}

fn blame(repository: &Treasuremap, arguments: &[&str]) -> Json {
    let arguments = [arguments, &["--rev", HEAD]].concat();
    report(&repository.path(), &arguments).expect("blame can be reported")
}
