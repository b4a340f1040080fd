//! Words that are idiom rather than plain English (`docs/contributing.md`, "Style") are rare.

use std::fs;
use std::path::Path;

use super::stored::root;

/// Words and phrases that have a plainer alternative in most sentences.
const SUSPECT: &[&str] = &[
    "told",
    "tell",
    "tells",
    "mend",
    "mends",
    "mended",
    "heed",
    "heeds",
    "heeded",
    "stand",
    "stands",
    "in silence",
    "nobody",
    "somebody",
    "whom",
    "whatever",
    "likewise",
    "thereby",
    "therein",
    "so many",
    "is no",
    "as it is",
    "of which",
    "by which",
    "for it",
];

/// Maximum number of lines with one of them in sources and pages.
const MAX_LINES: usize = 30;

/// Uses in users' text that are plain English.
const JUSTIFIED: &[&str] = &[
    "because of which *edit*",
    "by which route",
    "at which `path` of which `document`",
    "of which sites",
    "a finding for it",
    "add an action for it",
];

/// Folders of sources and pages.
const PLACES: &[&str] = &[
    "src",
    "crates",
    "docs",
    "README.md",
    "action.yml",
    ".pre-commit-hooks.yaml",
];

#[test]
fn texts_for_users_have_only_justified_uses() {
    let mut others = Vec::new();
    for (path, number, line) in suspect_lines() {
        let is_comment = path.ends_with(".rs") && line.trim_start().starts_with("//");
        if !is_comment && !JUSTIFIED.iter().any(|justified| line.contains(justified)) {
            others.push(format!("{path}:{number}: {line}"));
        }
    }
    assert!(
        others.is_empty(),
        "rewrite, or list as justified:\n{}",
        others.join("\n")
    );
}

#[test]
fn sources_and_pages_have_few_suspect_words() {
    let lines = suspect_lines();
    assert!(
        lines.len() <= MAX_LINES,
        "{} lines with suspect words",
        lines.len()
    );
}

#[test]
fn every_justified_use_exists() {
    let lines = suspect_lines();
    for justified in JUSTIFIED {
        assert!(
            lines.iter().any(|(_, _, line)| line.contains(justified)),
            "{justified}"
        );
    }
}

/// Path, number and text of each line with a suspect word.
fn suspect_lines() -> Vec<(String, usize, String)> {
    let mut found = Vec::new();
    for place in PLACES {
        for entry in walkdir::WalkDir::new(root().join(place)).sort_by_file_name() {
            let entry = entry.unwrap();
            if !entry.file_type().is_file() {
                continue;
            }
            let Ok(text) = fs::read_to_string(entry.path()) else {
                continue;
            };
            let path = shown(entry.path());
            for (at, line) in text
                .lines()
                .enumerate()
                .filter(|(_, line)| is_suspect(line))
            {
                found.push((path.clone(), at + 1, line.to_owned()));
            }
        }
    }
    found
}

fn is_suspect(line: &str) -> bool {
    let line = line.to_lowercase();
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    SUSPECT.iter().any(|phrase| {
        line.match_indices(phrase).any(|(at, _)| {
            !line[..at].ends_with(is_part) && !line[at + phrase.len()..].starts_with(is_part)
        })
    })
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}
