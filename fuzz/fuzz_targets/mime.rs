//! User-data as cloud-init takes it apart: MIME, archives, includes, gzip and
//! base64. What stands behind lines `=== NAME` are texts that it may include.
//!
//! Every place is in its text, and leads to the file that somebody wrote; what a
//! part holds is what stands there; and the set of all the texts can be linted.

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

/// Of so many values of a part it is looked whether their texts read as them.
const READ_AGAIN: usize = 12;

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
        let found = files.iter().find(|(name, _)| name == path.trim_start_matches('/'));
        found.map_or(Included::Missing, |(_, file)| Included::File(*file))
    });
    places_are_there(&read, &sources);
    read.parts.iter().for_each(|part| holds_what_it_says(part, &sources));
    let configuration = read_configuration(files[0].1, &sources);
    holds_what_it_says(&configuration, &sources);
    set_is_linted(&texts);
});

fn places_are_there(read: &UserData, sources: &SourceMap) {
    let faults = read.parts.iter().flat_map(|part| &part.faults);
    for fault in faults.chain(&read.faults).chain(&read.aborted) {
        is_there(fault.at, sources);
    }
    for comment in &read.comments {
        is_there(comment.span, sources);
    }
    let problems = read.parts.iter().flat_map(|part| &part.problems);
    for problem in problems.chain(&read.problems) {
        is_there(problem.span, sources);
    }
    for part in &read.parts {
        is_there(part.span, sources);
        is_there(part.at, sources);
        for header in &part.headers {
            is_there(header.name.span, sources);
            is_there(header.value.span, sources);
        }
        if let Some(header) = &part.header {
            is_there(header.span, sources);
        }
    }
}

fn is_there(span: Span, sources: &SourceMap) {
    sources.slice(span);
    let (start, end) = (sources.start(span), sources.end(span));
    assert!(start <= end);
    let written = sources.written(span);
    assert!(sources.get(written.file).decoded_from().is_none(), "somebody wrote it");
    sources.slice(written);
}

fn holds_what_it_says(part: &CloudPart, sources: &SourceMap) {
    if size(&part.data) >= LARGEST {
        return;
    }
    let mut all = Vec::new();
    spans(&part.data, &mut all);
    all.into_iter().for_each(|span| is_there(span, sources));
    let mut looked_at = 0;
    let is_yaml = matches!(part.kind, PartKind::CloudConfig);
    leaves(&part.data, &mut |node| {
        looked_at += 1;
        if is_yaml && looked_at <= READ_AGAIN && node.origin == Origin::Written {
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

fn set_is_linted(texts: &[(String, Vec<u8>)]) {
    let declared = "cloud-config: [{name: genesis, parts: ['parts/*']}]\n";
    let tree = MemoryTree::new().with("layercake.yaml", declared);
    let numbered = texts.iter().enumerate();
    let tree = numbered.fold(tree, |tree, (number, (_, text))| {
        tree.with(&format!("parts/{number:02}"), text.clone())
    });
    let checked = running::checked(&tree, Semantics::Documented, |_| ());
    for finding in checked.iter().flat_map(|checked| &checked.findings.diagnostics) {
        assert!(!finding.message.contains('\n'), "{}", finding.message);
    }
}
