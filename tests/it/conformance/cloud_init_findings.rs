//! `cloud-init/merge.json`: each part that cloud-init drops has an error, and no other part has.

use std::collections::BTreeSet;

use layercake::check::Checked;
use layercake::diagnostic::{Diagnostic, Severity};
use layercake::merge::deckhand::Semantics;
use layercake::source::MemoryTree;
use rayon::prelude::*;
use serde_json::{Value as Json, json};

use super::{CaseOrigin, node_of};
use crate::support::{check_files, options};

#[test]
fn every_dropped_part_is_reported() {
    compare_all(CaseOrigin::Repository);
}

#[test]
#[ignore = "needs the recorded corpus"]
fn every_dropped_part_of_the_corpus_is_reported() {
    compare_all(CaseOrigin::Corpus);
}

fn compare_all(origin: CaseOrigin) {
    let cases = origin.cases("cloud-init/merge.json");
    let single = cases.par_iter().filter(|case| case["mode"].is_null());
    let results: Vec<(usize, Option<String>)> = single.filter_map(compare).collect();
    let dropped_parts = results.iter().map(|(dropped, _)| dropped).sum();
    let wrong: Vec<&str> = results.iter().filter_map(|it| it.1.as_deref()).collect();
    eprintln!(
        "merge.json: {} cases, {dropped_parts} dropped parts",
        results.len()
    );
    origin.assert_at_least(300, dropped_parts);
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Number of dropped parts of a case, and its difference from the recorded ones; `None` if its parts
/// cannot be written as an archive.
fn compare(case: &Json) -> Option<(usize, Option<String>)> {
    let tree = MemoryTree::new()
        .with(
            "layercake.yaml",
            "cloud-config: [{name: all, parts: [user-data]}]\n",
        )
        .with("user-data", archive_of(case)?);
    let checked = check_files(&tree, options(Semantics::Documented), |_| ());
    let reported: BTreeSet<usize> = checked
        .findings
        .diagnostics
        .iter()
        .filter(|finding| is_of_dropping(finding))
        .map(|finding| part_of(finding, &checked))
        .collect();
    let dropped = dropped_of(case);
    let difference = (reported != dropped)
        .then(|| format!("{}: reported {reported:?}, dropped {dropped:?}", case["id"]));
    Some((dropped.len(), difference))
}

/// Number of lines above the first entry.
const ABOVE: usize = 2;

/// Parts of a case as an archive with one entry per line; `None` if a part cannot be written in one
/// line.
fn archive_of(case: &Json) -> Option<String> {
    let entries = case["parts"].as_array()?.iter().map(entry_of);
    let entries: Option<Vec<String>> = entries.collect();
    Some(format!(
        "#cloud-config-archive\n[\n{}\n]\n",
        entries?.join(",\n")
    ))
}

fn entry_of(part: &Json) -> Option<String> {
    let has_more = !part["headers"].is_null() || !part["ctype"].is_null();
    let content = match part["text"].as_str() {
        Some(text) => text.to_owned(),
        None => node_of(&part["value"]).map(|_| part["value"].to_string())?,
    };
    // YAML reads some characters in quotes differently from JSON.
    let is_plain = |text: &str| text.chars().all(|it| it.is_ascii() && it != '\u{7f}');
    if has_more || !is_plain(&content) || content.contains("$py") {
        return None;
    }
    let mut entry = json!({"type": "text/cloud-config", "content": content});
    for (key, header) in [
        ("merge_type", "Merge-Type"),
        ("x_merge_type", "X-Merge-Type"),
    ] {
        match part[key].as_str() {
            Some(text) if !is_plain(text) => return None,
            Some(text) => entry[header] = text.into(),
            None => {}
        }
    }
    Some(entry.to_string())
}

/// Whether a finding reports a dropped part, including empty parts, for which it is a warning.
fn is_of_dropping(finding: &Diagnostic) -> bool {
    const RULES: [&str; 5] = [
        "dropped-part",
        "invalid-scalar",
        "invalid-yaml",
        "unknown-tag",
        "unmerged-part",
    ];
    let is_bad = finding.severity == Severity::Error || finding.rule.name == "dropped-part";
    is_bad && RULES.contains(&finding.rule.name)
}

/// Index of the part with a finding: the number after the file name, or, in the archive itself, the
/// line.
fn part_of(finding: &Diagnostic, checked: &Checked<()>) -> usize {
    let span = finding.primary.span;
    let path = checked.sources.get(span.file).path().to_string();
    match path.rsplit_once('#') {
        Some((_, number)) => number.parse::<usize>().expect("a part has a number") - 1,
        None => checked.sources.start(span).line.get() as usize - 1 - ABOVE,
    }
}

fn dropped_of(case: &Json) -> BTreeSet<usize> {
    let dropped = case["expected"]["dropped"].as_array();
    let index = |it: &Json| usize::try_from(it[0].as_u64().expect("an index")).expect("small");
    dropped.into_iter().flatten().map(index).collect()
}
