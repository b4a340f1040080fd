//! `layercake log` over the largest public site repository: the outputs and sites of each commit
//! are the recorded ones.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use rayon::prelude::*;
use serde_json::Value as Json;

use super::CaseOrigin;
use super::treasuremap::{HEAD, Treasuremap};

/// Schema and name of the outputs that changed, by site.
type Changed = BTreeMap<String, BTreeSet<[String; 2]>>;

#[test]
#[ignore = "needs the recorded corpus"]
fn each_recorded_commit_changed_the_recorded_outputs() {
    let repository = Treasuremap::clone();
    let pairs = CaseOrigin::Corpus.cases("treasuremap/pairs.json");
    let first_parents = repository.git(&["rev-list", "--first-parent", HEAD]);
    let first_parents: BTreeSet<&str> = first_parents.lines().collect();
    let all = logged(&repository, &["--rev", HEAD]);
    let wrong: Vec<String> = pairs
        .par_iter()
        .filter_map(|pair| {
            let [commit, parent] = ["commit", "parent"].map(|key| text(&pair[key]));
            let actual = if first_parents.contains(commit) {
                all[commit].clone()
            } else {
                let alone = logged(&repository, &["--rev", commit, "--since", parent]);
                assert_eq!(alone.len(), 1, "{commit}");
                alone[commit].clone()
            };
            let expected = expected(pair, &actual);
            (actual != expected).then(|| format!("{commit}: {actual:?}\n  recorded: {expected:?}"))
        })
        .collect();
    assert!(
        pairs.len() > 150 && wrong.is_empty(),
        "{}",
        wrong.join("\n")
    );
}

/// Changes of the commits in a log, by id; merges are compared with their first parents.
fn logged(repository: &Treasuremap, arguments: &[&str]) -> BTreeMap<String, Changed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_layercake"));
    command
        .arg("-C")
        .arg(repository.path())
        .args(["log", "--first-parent", "-o", "json"]);
    command.args([
        "--semantics",
        "deckhand",
        "--missing-substitution-source",
        "warning",
    ]);
    let output = command.args(arguments).output().expect("the program runs");
    let log: Json = serde_json::from_slice(&output.stdout).expect("a log is JSON");
    let commits = log["commits"].as_array().expect("commits").iter();
    commits
        .map(|commit| (text(&commit["id"]).to_owned(), changed(commit)))
        .collect()
}

fn changed(commit: &Json) -> Changed {
    let name = |key: &Json| ["schema", "name"].map(|part| text(&key[part]).to_owned());
    let sites = commit["sites"].as_array().expect("sites").iter();
    let of_site = |site: &Json| {
        let outputs = site["outputs"].as_array().expect("outputs").iter();
        // A renamed output was recorded as removed and added.
        let names = outputs.flat_map(|output| {
            let renamed = &output["renamed_from"];
            [&output["document"], renamed]
                .into_iter()
                .filter(|key| !key.is_null())
                .map(name)
        });
        (text(&site["site"]).to_owned(), names.collect())
    };
    let mut changed: Changed = sites.clone().map(of_site).collect();
    // A renamed site was recorded as removed and added.
    let renamed = sites.filter_map(|site| site["renamed_from"].as_str());
    changed.extend(renamed.map(|before| (before.to_owned(), BTreeSet::new())));
    changed
}

/// Recorded changes; for an added or removed site, only its status.
fn expected(pair: &Json, actual: &Changed) -> Changed {
    let mut expected = Changed::new();
    for (site, recorded) in pair["sites"].as_object().expect("sites") {
        if recorded.get("site").is_some() {
            let outputs = actual
                .get(site)
                .cloned()
                .unwrap_or_else(|| panic!("{site}: {pair}"));
            expected.insert(site.clone(), outputs);
            continue;
        }
        let kinds = ["added", "removed", "changed", "metadata_only_changed"];
        let rows = kinds
            .iter()
            .filter_map(|kind| recorded.get(kind)?.as_array())
            .flatten();
        let outputs: BTreeSet<[String; 2]> = rows
            .map(|row| [0, 1].map(|part| text(&row[part]).to_owned()))
            .collect();
        if !outputs.is_empty() {
            expected.insert(site.clone(), outputs);
        }
    }
    expected
}

fn text(json: &Json) -> &str {
    json.as_str().expect("a text")
}
