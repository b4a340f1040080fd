//! Splitting of user-data as in cloud-init: MIME, archives, includes, gzip and base64. Texts after
//! lines `=== NAME` can be included.
//!
//! Every span is within its text and leads to an input file; the values of a part match their text;
//! and the set of all texts can be linted.

#![no_main]

use layercake::merge::deckhand::Semantics;
use layercake::source::{FileId, MemoryTree, RepoPath, Source, SourceMap, Span};
use layercake::system::cloud_init::part::{CloudPart, PartKind};
use layercake::system::cloud_init::read::{Included, UserData, read, read_configuration};
use layercake::yaml::path::children;
use layercake::yaml::{Node, Origin, Value};
use layercake_fuzz::files::pieces;
use layercake_fuzz::laws::reading::{spans, text_reads_as};
use layercake_fuzz::{LARGEST, running, size};
use libfuzzer_sys::fuzz_target;

/// Maximum number of values per part that are compared with their text.
const MAX_COMPARED: usize = 12;

fuzz_target!(|bytes: &[u8]| {
    let texts = match bytes.starts_with(b"=== ") {
        true => pieces(bytes),
        false => vec![("user-data".to_owned(), bytes.to_vec())],
    };
    if texts.is_empty() {
        return;
    }
    let mut sources = SourceMap::new();
    let files: Vec<(String, FileId)> = texts
        .iter()
        .map(|(name, text)| {
            let source = Source::new(RepoPath::new(name.as_str()), Ok(text.clone()));
            (name.clone(), sources.add(source))
        })
        .collect();
    let read = read(files[0].1, &mut sources, &mut |_, _, path| {
        let found = files
            .iter()
            .find(|(name, _)| name == path.trim_start_matches('/'));
        found.map_or(Included::Missing, |(_, file)| Included::File(*file))
    });
    check_spans(&read, &sources);
    read.parts
        .iter()
        .for_each(|part| check_values(part, &sources));
    let configuration = read_configuration(files[0].1, &sources);
    check_values(&configuration, &sources);
    lint_set(&texts);
});

fn check_spans(read: &UserData, sources: &SourceMap) {
    let faults = read.parts.iter().flat_map(|part| &part.faults);
    for fault in faults.chain(&read.faults).chain(&read.aborted) {
        check_span(fault.at, sources);
    }
    for comment in &read.comments {
        check_span(comment.span, sources);
    }
    let problems = read.parts.iter().flat_map(|part| &part.problems);
    for problem in problems.chain(&read.problems) {
        check_span(problem.span, sources);
    }
    for part in &read.parts {
        check_span(part.span, sources);
        check_span(part.at, sources);
        for header in &part.headers {
            check_span(header.name.span, sources);
            check_span(header.value.span, sources);
        }
        if let Some(header) = &part.header {
            check_span(header.span, sources);
        }
    }
}

fn check_span(span: Span, sources: &SourceMap) {
    sources.slice(span);
    let (start, end) = (sources.start(span), sources.end(span));
    assert!(start <= end);
    let written = sources.written(span);
    assert!(
        sources.get(written.file).decoded_from().is_none(),
        "the file is an input"
    );
    sources.slice(written);
}

fn check_values(part: &CloudPart, sources: &SourceMap) {
    if size(&part.data) >= LARGEST {
        return;
    }
    let mut all = Vec::new();
    spans(&part.data, &mut all);
    all.into_iter().for_each(|span| check_span(span, sources));
    let mut visited = 0;
    let is_yaml = matches!(part.kind, PartKind::CloudConfig);
    leaves(&part.data, &mut |node| {
        visited += 1;
        if is_yaml && visited <= MAX_COMPARED && node.origin == Origin::Written {
            let text = sources.get(node.span.file).text();
            assert!(
                text_reads_as(text, node.span, &node.value),
                "{node:?} {}",
                sources.slice(node.span)
            );
        }
    });
}

fn leaves(node: &Node, visit: &mut dyn FnMut(&Node)) {
    children(node).for_each(|(_, child)| leaves(child, visit));
    if !matches!(
        node.value,
        Value::Mapping(_) | Value::Sequence(_) | Value::Set(_) | Value::Pairs(_)
    ) {
        visit(node);
    }
}

fn lint_set(texts: &[(String, Vec<u8>)]) {
    let declared = "cloud-config: [{name: genesis, parts: ['parts/*']}]\n";
    let tree = MemoryTree::new().with("layercake.yaml", declared);
    let numbered = texts.iter().enumerate();
    let tree = numbered.fold(tree, |tree, (number, (_, text))| {
        tree.with(&format!("parts/{number:02}"), text.clone())
    });
    let checked = running::checked(&tree, Semantics::Documented, |_| ());
    for finding in checked
        .iter()
        .flat_map(|checked| &checked.findings.diagnostics)
    {
        assert!(!finding.message.contains('\n'), "{}", finding.message);
    }
}
