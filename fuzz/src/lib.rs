//! Shared code of the fuzz targets: parsing of inputs, and properties included from the tests.
//!
//! Inputs are text where possible, so that seeds can be handwritten, findings read, and
//! dictionaries used.

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

/// Maximum number of nodes, with aliases expanded, of values that are checked node by node: a few
/// bytes of text can expand to millions of nodes.
pub const LARGEST: usize = 20_000;

/// Decodes bytes like a file in any encoding; `None` if layercake cannot read them as text.
pub fn text_of(bytes: &[u8]) -> Option<(SourceMap, FileId)> {
    let mut sources = SourceMap::new();
    let file = sources.add(Source::new(RepoPath::new("a.yaml"), Ok(bytes.to_vec())));
    sources
        .get(file)
        .fault()
        .is_none()
        .then_some((sources, file))
}

/// Splits the first lines off a text.
pub fn lines_and_rest<const LINES: usize>(text: &str) -> Option<([&str; LINES], &str)> {
    let mut rest = text;
    let mut lines = [""; LINES];
    for line in &mut lines {
        (*line, rest) = rest.split_once('\n')?;
    }
    Some((lines, rest))
}

/// Roots of the documents of a text; `None` if they are too large, or if there are none.
pub fn roots(file: FileId, text: &str) -> Option<Vec<Node>> {
    let parsed = layercake::yaml::parse(file, text);
    let roots: Vec<Node> = parsed
        .documents
        .into_iter()
        .map(|document| document.root)
        .collect();
    let is_small = roots.iter().map(size).sum::<usize>() < LARGEST;
    (is_small && !roots.is_empty()).then_some(roots)
}

/// Number of nodes, counted up to [`LARGEST`].
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
