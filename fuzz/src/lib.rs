//! What several fuzz targets need: inputs taken apart, and the laws that the
//! tests hold too, from where the tests have them.
//!
//! An input is text where that can be had, so that a seed can be written by
//! hand, a finding read, and a dictionary used.

#[path = "../../tests/it/laws/mod.rs"]
pub mod laws;
#[path = "../../tests/it/support/mod.rs"]
pub mod support;
#[path = "../../tests/it/provenance/laws.rs"]
pub mod ways;

pub mod files;
pub mod forms;
pub mod git;
pub mod running;

use layercake::source::{FileId, RepoPath, Source, SourceMap};
use layercake::yaml::Node;
use layercake::yaml::path::children;

/// Values larger than this, aliases written out, are not looked at node by
/// node: a text of a few bytes may stand for millions.
pub const LARGEST: usize = 20_000;

/// Bytes as layercake reads a file, whatever encoding they are in; none where
/// it takes them for no text.
pub fn text_of(bytes: &[u8]) -> Option<(SourceMap, FileId)> {
    let mut sources = SourceMap::new();
    let file = sources.add(Source::new(RepoPath::new("a.yaml"), Ok(bytes.to_vec())));
    sources.get(file).fault().is_none().then_some((sources, file))
}

/// The first lines of a text, and what is below them.
pub fn lines_and_rest<const LINES: usize>(text: &str) -> Option<([&str; LINES], &str)> {
    let mut rest = text;
    let mut lines = [""; LINES];
    for line in &mut lines {
        (*line, rest) = rest.split_once('\n')?;
    }
    Some((lines, rest))
}

/// The roots of the documents of a text; none where there is too much of them,
/// or nothing at all.
pub fn roots(file: FileId, text: &str) -> Option<Vec<Node>> {
    let parsed = layercake::yaml::parse(file, text);
    let roots: Vec<Node> = parsed.documents.into_iter().map(|document| document.root).collect();
    let is_small = roots.iter().map(size).sum::<usize>() < LARGEST;
    (is_small && !roots.is_empty()).then_some(roots)
}

/// How many nodes there are, counted up to [`LARGEST`].
pub fn size(node: &Node) -> usize {
    fn walk(node: &Node, found: &mut usize) {
        *found += 1;
        for (_, child) in children(node) {
            if *found < LARGEST {
                walk(child, found);
            }
        }
    }
    let mut found = 0;
    walk(node, &mut found);
    found
}
