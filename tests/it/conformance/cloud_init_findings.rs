//! `cloud-init/merge.json`: each part that cloud-init drops has an error, and no other part has.

use std::collections::BTreeSet;

use layercake::check::Checked;
use layercake::diagnostic::{Diagnostic, Severity};
use layercake::merge::deckhand::Semantics;
use layercake::source::MemoryTree;
use serde_json::{Value as Json, json};

use super::{node_of, recorded};
use crate::support::{check_files, options};

#[test]
#[ignore = "needs the recorded corpus"]
fn every_dropped_part_is_reported() {
    let cases = recorded("cloud-init/merge.json");
    let (mut compared, mut dropped_parts) = (0, 0);
    let mut wrong = Vec::new();
    for case in cases.iter().filter(|case| case["mode"].is_null()) {
        let Some(archive) = archive_of(case) else {
            continue;
        };
        let tree = MemoryTree::new()
            .with(
                "layercake.yaml",
                "cloud-config: [{name: all, parts: [user-data]}]\n",
            )
            .with("user-data", archive);
        let checked = check_files(&tree, options(Semantics::Documented), |_| ());
        let reported: BTreeSet<usize> = checked
            .findings
            .diagnostics
            .iter()
            .filter(|finding| is_of_dropping(finding))
            .map(|finding| part_of(finding, &checked))
            .collect();
        let dropped = dropped_of(case);
        compared += 1;
        dropped_parts += dropped.len();
        if reported != dropped {
            wrong.push(format!(
                "{}: reported {reported:?}, dropped {dropped:?}",
                case["id"]
            ));
        }
    }
    eprintln!("merge.json: {compared} cases, {dropped_parts} dropped parts");
    assert!(dropped_parts > 0, "no part is dropped");
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
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
