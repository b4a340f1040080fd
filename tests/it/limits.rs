//! The limits of docs/limits.md from both sides: what is at the limit is fine,
//! and one beyond it is told.
//!
//! Those of cloud-init's parts and of property groups are met in
//! `cloud_init/reading.rs` and `groups.rs`, the depth of a file in
//! `yaml/hostile.rs`, the limits of reports in `formats/limits.rs`.

use std::fs;

use layercake::merge::deckhand::Semantics;
use layercake::merge::pattern::{MAX_OUTPUT, Pattern, PatternFailure, Replacement};
use layercake::render::MAX_DEPTH;
use layercake::source::{
    FileId, MemoryTree, ReadError, RepoPath, Source, Span, Tree as _, WorkTree,
};
use layercake::yaml::path::{ListWrite, MAX_INDEX, MAX_MATCHES, MAX_NESTING, MAX_PIECES, Path};
use layercake::yaml::{Limit, Node, ProblemKind, Value, parse};

use crate::support::{check_files, options};

#[test]
fn bytes_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = fs::File::create(folder.path().join("large.yaml")).unwrap();
    let tree = WorkTree::in_folder(folder.path().to_owned()).unwrap();
    let read = || tree.read(&RepoPath::new("large.yaml")).map(|bytes| bytes.len() as u64);
    file.set_len(Source::MAX_BYTES).unwrap();
    assert_eq!(read(), Ok(Source::MAX_BYTES));
    file.set_len(Source::MAX_BYTES + 1).unwrap();
    assert_eq!(read(), Err(ReadError::TooLarge(Source::MAX_BYTES + 1)));
}

fn problems(text: &str) -> Vec<ProblemKind> {
    parse(FileId::default(), text).problems.into_iter().map(|problem| problem.kind).collect()
}

#[test]
fn digits_of_an_integer() {
    let digits = |count: usize| format!("a: {}", "7".repeat(count));
    assert_eq!(problems(&digits(Limit::DIGITS)), []);
    assert_eq!(problems(&digits(Limit::DIGITS + 1)), [ProblemKind::OverLimit(Limit::Digits)]);
}

#[test]
fn values_of_a_document() {
    // A list of 1,000 values, itself counted, many times over.
    let thousand = format!("a: &a [{}]\n", vec!["x"; 999].join(", "));
    let text = |times: u64, more: u64| {
        let aliases = vec!["*a"; usize::try_from(times).unwrap()].join(", ");
        let more = vec!["x"; usize::try_from(more).unwrap()].join(", ");
        format!("{thousand}b: [{aliases}]\nc: [{more}]\n")
    };
    let times = Limit::NODES / 1000 - 2;
    let is_over = |more: u64| !problems(&text(times, more)).is_empty();
    let most = (0..4000).collect::<Vec<u64>>().partition_point(|more| !is_over(*more));
    assert!((1..4000).contains(&most), "the limit is near {}: {most}", Limit::NODES);
    assert_eq!(
        problems(&text(times, most as u64)),
        [ProblemKind::OverLimit(Limit::Nodes)],
        "one more is told"
    );
    // What counts beside the aliased lists is the mapping, its keys or values.
    let counted = times * 1000 + 1000 + most as u64;
    assert!(counted.abs_diff(Limit::NODES) < 10, "{counted} of {}", Limit::NODES);
}

#[test]
fn pieces_and_nesting_of_a_path() {
    let pieces = |count: usize| Path::parse(&".a".repeat(count)).is_ok();
    assert!(pieces(MAX_PIECES) && !pieces(MAX_PIECES + 1));
    let nested = |count: usize| {
        Path::parse(&format!("$.{}a{}", "(a.".repeat(count), ")".repeat(count))).is_ok()
    };
    let most = (0..=2 * MAX_NESTING).collect::<Vec<_>>().partition_point(|count| nested(*count));
    assert!(most.abs_diff(MAX_NESTING) <= 1, "{most}");
}

#[test]
fn index_of_a_path() {
    let written = |index: usize| {
        let parsed = parse(FileId::default(), "{}");
        let mut data = parsed.documents[0].root.clone();
        let path = Path::parse(&format!(".b[{index}]")).unwrap();
        let value = parse(FileId::default(), "1").documents[0].root.clone();
        path.write(&mut data, &value, ListWrite::Whole, Span::point(FileId::default(), 0)).is_ok()
    };
    assert!(written(MAX_INDEX) && !written(MAX_INDEX + 1));
}

#[test]
fn matches_of_a_path() {
    let found = |count: usize| {
        let at = Span::point(FileId::default(), 0);
        let items = vec![Node::new(Value::Null, at); count];
        let path = Path::parse("$[*]").expect("it is a path");
        path.find(&Node::new(Value::from(items), at)).map(|found| found.len()).ok()
    };
    assert_eq!(found(MAX_MATCHES), Some(MAX_MATCHES));
    assert_eq!(found(MAX_MATCHES + 1), None);
}

#[test]
fn bytes_that_a_pattern_makes() {
    let pattern = Pattern::parse("x").expect("it is a pattern");
    let made = |bytes: usize| {
        let replaced = pattern.replace_all("x", Replacement::Literal(&"y".repeat(bytes)));
        replaced.map(|(text, _)| text.len())
    };
    assert_eq!(made(MAX_OUTPUT), Ok(MAX_OUTPUT));
    assert_eq!(made(MAX_OUTPUT + 1), Err(PatternFailure::OutputTooLarge));
}

/// Documents put into each other, each as deep as a path can create.
#[test]
fn depth_of_a_rendered_document() {
    let exceeds = |depth: usize| {
        let policy = "---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {schema: metadata/Control/v1, \
                      name: policy}\ndata: {layerOrder: [site]}\n";
        let metadata = |name: usize, more: &str| {
            format!(
                "---\nschema: example/Kind/v1\nmetadata: {{schema: metadata/Document/v1, name: \"{name}\", \
                 storagePolicy: cleartext, layeringDefinition: {{layer: site, abstract: false}}{more}}}\n"
            )
        };
        let mut text = format!("{policy}{}data: {{}}\n", metadata(0, ""));
        // The innermost mapping is one collection, each name of a path another.
        let mut left = depth - 1;
        for name in 1.. {
            let step = left.min(300);
            let path = ".a".repeat(step);
            let substitution = format!(
                ", substitutions: [{{src: {{schema: example/Kind/v1, name: \"{}\", path: .}}, \
                 dest: {{path: {path}}}}}]",
                name - 1
            );
            text += &format!("{}data: {{}}\n", metadata(name, &substitution));
            left -= step;
            if left == 0 {
                break;
            }
        }
        let tree = MemoryTree::new().with("documents.yaml", text);
        let checked = check_files(&tree, options(Semantics::Documented), |_| ());
        let rules: Vec<&str> =
            checked.findings.diagnostics.iter().map(|finding| finding.rule.name).collect();
        assert!(rules.iter().all(|rule| *rule == "over-limit"), "{rules:?}");
        !rules.is_empty()
    };
    let near: Vec<usize> = (MAX_DEPTH - 3..MAX_DEPTH + 4).collect();
    let most = near[near.partition_point(|depth| !exceeds(*depth)) - 1];
    assert!(most.abs_diff(MAX_DEPTH) <= 1, "{most}");
}
