//! Bytes as a YAML file: every span is in the text and parses as its value, emitted YAML reads
//! back, input that libyaml rejects is rejected, and plain YAML reads as by the parsers.

#![no_main]

use layercake::source::Span;
use layercake::yaml::emit::{EmitOptions, to_yaml};
use layercake::yaml::{Node, Parsed, parse};
use layercake_fuzz::laws::reading::{
    assert_reads_back, leaves, libyaml_reads, reads_as_plain, reads_without_problem, spans,
    text_reads_as, within,
};
use layercake_fuzz::{LARGEST, size, text_of};
use libfuzzer_sys::fuzz_target;

/// Maximum number of scalars that are compared with their text, since each comparison parses a
/// dozen texts.
const MAX_COMPARED: usize = 16;

fuzz_target!(|bytes: &[u8]| {
    let Some((sources, file)) = text_of(bytes) else {
        return;
    };
    let text = sources.get(file).text();
    let parsed = parse(file, text);
    check_spans(text, &parsed);
    reads_as_plain(text);
    let small = parsed
        .documents
        .iter()
        .filter(|document| size(&document.root) < LARGEST);
    for document in small {
        within(&document.root);
        check_values(text, &document.root);
        check_scalars(text, &document.root);
        assert_reads_back(&document.root);
        let secret = document.root.clone().into_secret();
        assert_eq!(to_yaml(&secret, &EmitOptions::default()), "(hidden)\n");
    }
    assert!(
        !reads_without_problem(&parsed) || libyaml_reads(text),
        "libyaml rejects it"
    );
});

fn check_span(text: &str, span: Span) {
    assert!(text.get(span.range()).is_some(), "{span:?}");
}

fn check_spans(text: &str, parsed: &Parsed) {
    for document in &parsed.documents {
        check_span(text, document.span);
        assert!(document.span.contains(document.root.span));
        for shared in &document.shared {
            check_span(text, shared.collection);
            check_span(text, shared.alias);
        }
    }
    for comment in &parsed.comments {
        assert!(text[comment.span.range()].starts_with('#'));
    }
    for problem in &parsed.problems {
        check_span(text, problem.span);
    }
    assert!(parsed.problems.is_sorted_by_key(|problem| problem.span));
    assert!(parsed.comments.is_sorted_by_key(|comment| comment.span));
}

fn check_values(text: &str, root: &Node) {
    let mut all = Vec::new();
    spans(root, &mut all);
    all.into_iter().for_each(|span| check_span(text, span));
}

fn check_scalars(text: &str, root: &Node) {
    let mut visited = 0;
    leaves(root, &mut |span, value| {
        visited += 1;
        if visited <= MAX_COMPARED {
            assert!(
                text_reads_as(text, span, value),
                "{value:?} {:?}",
                &text[span.range()]
            );
        }
    });
}
