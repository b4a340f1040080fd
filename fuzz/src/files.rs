//! Repositories as fuzz inputs.
//!
//! An input is text with a line `=== PATH` before each file, or `=== base:PATH` or `=== head:PATH`
//! for files on one side. Any other input is passed to `generated` as bytes.

mod generated;

use std::collections::BTreeMap;

use arbitrary::{Arbitrary, Unstructured};
use layercake::source::MemoryTree;

/// Prefix of the line before a file.
const MARK: &[u8] = b"=== ";

/// Files of both sides, by path; targets with one side use the head.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sides {
    /// Base side of a comparison.
    pub base: BTreeMap<String, Vec<u8>>,
    /// Head side of a comparison.
    pub head: BTreeMap<String, Vec<u8>>,
}

impl Sides {
    /// Reads an input; `None` if it has too few bytes to generate a repository.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(MARK) {
            return Some(parse(bytes));
        }
        let repository = generated::Edited::arbitrary(&mut Unstructured::new(bytes)).ok()?;
        let (base, head) = repository.files();
        Some(Self { base, head })
    }
}

/// Creates a tree of files.
pub fn tree(files: &BTreeMap<String, Vec<u8>>) -> MemoryTree {
    let files = files.iter();
    files.fold(MemoryTree::new(), |tree, (path, bytes)| {
        tree.with(path, bytes.clone())
    })
}

/// Splits an input into files, each with the text of its marker line.
pub fn pieces(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut pieces: Vec<(String, Vec<u8>)> = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match (line.strip_prefix(MARK), pieces.last_mut()) {
            (Some(name), _) => {
                let name = String::from_utf8_lossy(name).trim_end().to_owned();
                pieces.push((name, Vec::new()));
            }
            (None, Some((_, text))) => text.extend_from_slice(line),
            (None, None) => {}
        }
    }
    pieces
}

fn parse(bytes: &[u8]) -> Sides {
    let mut sides = Sides::default();
    for (name, text) in pieces(bytes) {
        let (base, head) = match (name.strip_prefix("base:"), name.strip_prefix("head:")) {
            (Some(path), _) => (Some(path), None),
            (None, Some(path)) => (None, Some(path)),
            (None, None) => (Some(&*name), Some(&*name)),
        };
        if let Some(path) = base.and_then(clean) {
            sides.base.insert(path, text.clone());
        }
        if let Some(path) = head.and_then(clean) {
            sides.head.insert(path, text);
        }
    }
    sides.base = files_only(sides.base);
    sides.head = files_only(sides.head);
    sides
}

/// Normalizes a path: removes empty parts, `.` and `..`.
fn clean(path: &str) -> Option<String> {
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !matches!(*part, "" | "." | ".."))
        .collect();
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// Removes files whose path is also a folder.
fn files_only(files: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    let is_folder = |path: &str| {
        let below = format!("{path}/");
        files.keys().any(|other| other.starts_with(&below))
    };
    let kept = files.iter().filter(|(path, _)| !is_folder(path));
    kept.map(|(path, text)| (path.clone(), text.clone()))
        .collect()
}
