//! Restrictions of PyYAML's own scanner, written in Python.
//!
//! `yaml.safe_load` does not use libyaml, and its scanner (`scanner.py`) accepts less white space
//! and ends plain scalars earlier. It also accepts some text that libyaml rejects: see [`passes`].

use std::ops::Range;

use layercake_source::{FileId, Span, offset};

use super::read::{self, WrittenKind, WrittenToken};
use super::{Parsed, PythonRefusal, YamlProblem, YamlProblemKind};

/// Whether this scanner accepts text that libyaml rejects with the message `reason`: colons before
/// an indicator, unknown directives and versions, and a tab at the beginning of a block scalar.
pub(super) fn passes(refusal: &str) -> bool {
    [
        "found unexpected ':'",
        "found unknown directive name",
        "found incompatible YAML document",
        "found a tab character where an indentation space is expected",
        // Surrogates, which are reported separately.
        "found invalid Unicode character escape code",
    ]
    .iter()
    .any(|words| refusal.starts_with(words))
}

/// Removes all documents from `read` and adds a problem if the scanner rejects `text`, which begins
/// at byte `base` of the file.
pub(super) fn review(file: FileId, base: u32, text: &str, parsed: &mut Parsed) {
    let problems = &mut parsed.problems;
    let is_refused = problems.iter().any(|problem| problem.kind.is_fatal());
    if is_refused || !text.contains(['\t', '?']) {
        return;
    }
    let Some((at, refusal)) = refusal(text) else { return };
    let at = base + offset(at);
    let span = Span::new(file, at, at + 1);
    problems.push(YamlProblem { span, kind: YamlProblemKind::RefusedByPython(refusal) });
    problems.sort_by_key(|problem| problem.span);
    parsed.documents.clear();
}

/// Position and reason if the scanner rejects a text that libyaml accepts.
fn refusal(text: &str) -> Option<(usize, PythonRefusal)> {
    let mut written = read::written(text);
    written.sort_by_key(|it| it.range.start);
    let mut reached = 0;
    for WrittenToken { range, kind } in written {
        let between = reached.min(range.start)..range.start;
        let refusal = tab(text, between).or_else(|| match kind {
            WrittenKind::Enclosed => None,
            WrittenKind::Plain => tab(text, range.clone()),
            WrittenKind::PlainInFlow => end_in_flow(text, range.clone()),
        });
        if refusal.is_some() {
            return refusal;
        }
        reached = reached.max(range.end);
    }
    tab(text, reached..text.len())
}

/// A tab ends a plain scalar (`scan_plain`) and is not skipped between tokens
/// (`scan_to_next_token`).
fn tab(text: &str, range: Range<usize>) -> Option<(usize, PythonRefusal)> {
    let at = text[range.clone()].find('\t')?;
    Some((range.start + at, PythonRefusal::Tab))
}

/// In a flow collection, a question mark also ends a plain scalar, and no token that may follow one
/// begins with it.
fn end_in_flow(text: &str, range: Range<usize>) -> Option<(usize, PythonRefusal)> {
    let at = range.start + text[range.clone()].find('?').unwrap_or(range.len());
    let question_mark = (at < range.end).then_some((at, PythonRefusal::QuestionMark));
    tab(text, range.start..at).or(question_mark)
}
