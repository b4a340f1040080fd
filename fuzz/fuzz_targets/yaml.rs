//! Bytes as a YAML file: every span is in its text and reads as its value, what
//! is written reads back, and nothing is read that libyaml refuses.

#![no_main]

use layercake::source::Span;
use layercake::yaml::emit::{EmitOptions, to_yaml};
use layercake::yaml::{Node, Parsed, parse};
use layercake_fuzz::laws::reading::{
    leaves, libyaml_reads, reads_back, reads_without_problem, spans, text_reads_as, within,
};
use layercake_fuzz::{LARGEST, size, text_of};
use libfuzzer_sys::fuzz_target;

/// Of so many scalars it is looked whether their texts read as them: that reads
/// a dozen texts each.
const READ_AGAIN: usize = 16;

fuzz_target!(|bytes: &[u8]| {
    let Some((sources, file)) = text_of(bytes) else { return };
    let text = sources.get(file).text();
    let parsed = parse(file, text);
    spans_are_in(text, &parsed);
    let small = parsed.documents.iter().filter(|document| size(&document.root) < LARGEST);
    for document in small {
        within(&document.root);
        values_are_in(text, &document.root);
        scalars_read_as_themselves(text, &document.root);
        reads_back(&document.root);
        let secret = document.root.clone().into_secret();
        assert_eq!(to_yaml(&secret, &EmitOptions::default()), "(hidden)\n");
    }
    assert!(!reads_without_problem(&parsed) || libyaml_reads(text), "libyaml refuses it");
});

fn is_in(text: &str, span: Span) {
    assert!(text.get(span.range()).is_some(), "{span:?}");
}

fn spans_are_in(text: &str, parsed: &Parsed) {
    for document in &parsed.documents {
        is_in(text, document.span);
        assert!(document.span.contains(document.root.span));
        for shared in &document.shared {
            is_in(text, shared.collection);
            is_in(text, shared.alias);
        }
    }
    for comment in &parsed.comments {
        assert!(text[comment.span.range()].starts_with('#'));
    }
    for problem in &parsed.problems {
        is_in(text, problem.span);
    }
    assert!(parsed.problems.is_sorted_by_key(|problem| problem.span));
    assert!(parsed.comments.is_sorted_by_key(|comment| comment.span));
}

fn values_are_in(text: &str, root: &Node) {
    let mut all = Vec::new();
    spans(root, &mut all);
    all.into_iter().for_each(|span| is_in(text, span));
}

fn scalars_read_as_themselves(text: &str, root: &Node) {
    let mut looked_at = 0;
    leaves(root, &mut |span, value| {
        looked_at += 1;
        if looked_at <= READ_AGAIN {
            assert!(text_reads_as(text, span, value), "{value:?} {:?}", &text[span.range()]);
        }
    });
}
