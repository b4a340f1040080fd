//! The third opinion: that of PyYAML's own scanner, written in Python.
//!
//! `yaml.safe_load` does not ask libyaml, and its scanner (`scanner.py`) takes less
//! white space and ends texts earlier. It takes a little more too: see [`passes`].

use std::ops::Range;

use layercake_source::{FileId, Span, offset};

use super::read::{self, ReadDocuments, WrittenKind, WrittenToken};
use super::{PythonRefusal, YamlProblem, YamlProblemKind};

/// Whether a refusal of libyaml's, in its words, is none of this scanner: colons
/// before an indicator, directives and versions it does not know, and a tab that
/// begins a block scalar are read.
pub(super) fn passes(refusal: &str) -> bool {
    [
        "found unexpected ':'",
        "found unknown directive name",
        "found incompatible YAML document",
        "found a tab character where an indentation space is expected",
    ]
    .iter()
    .any(|words| refusal.starts_with(words))
}

/// Takes all documents out of `read` where the scanner refuses `text`, which
/// begins at byte `base` of the file, with a problem.
pub(super) fn review(file: FileId, base: u32, text: &str, read: &mut ReadDocuments) {
    let problems = &mut read.parsed.problems;
    let is_refused = problems.iter().any(|problem| problem.kind.is_fatal());
    if is_refused || !text.contains(['\t', '?']) {
        return;
    }
    let Some((at, refusal)) = refusal(text) else { return };
    let at = base + offset(at);
    let span = Span::new(file, at, at + 1);
    problems.push(YamlProblem { span, kind: YamlProblemKind::RefusedByPython(refusal) });
    problems.sort_by_key(|problem| problem.span);
    read.parsed.documents.clear();
}

/// Where and why the scanner refuses a text that libyaml takes, if it does.
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

/// A tab ends a text without quotes (`scan_plain`) and is passed over nowhere
/// (`scan_to_next_token`).
fn tab(text: &str, range: Range<usize>) -> Option<(usize, PythonRefusal)> {
    let at = text[range.clone()].find('\t')?;
    Some((range.start + at, PythonRefusal::Tab))
}

/// In a flow collection a question mark ends a text without quotes too, and
/// nothing that may follow one begins with it.
fn end_in_flow(text: &str, range: Range<usize>) -> Option<(usize, PythonRefusal)> {
    // One before a key is an indicator, as it is to libyaml.
    let written = &text[range.clone()];
    let marked = usize::from(written.starts_with('?'));
    let at = range.start + written[marked..].find('?').map_or(range.len(), |at| marked + at);
    let question_mark = (at < range.end).then_some((at, PythonRefusal::QuestionMark));
    tab(text, range.start..at).or(question_mark)
}
