//! Restrictions of PyYAML's own scanner, written in Python.
//!
//! `yaml.safe_load` does not use libyaml, and its scanner (`scanner.py`) accepts less white space
//! and ends plain scalars earlier. It also accepts some text that libyaml rejects: see [`passes`].

use std::borrow::Cow;
use std::ops::Range;

use layercake_source::{FileId, Span, offset};

use super::read::{self, WrittenKind, WrittenToken};
use super::respelling::{FILLER, MARK, SurrogateEscape, surrogate_escapes};
use super::{BYTE_ORDER_MARK, InvalidYaml, Parsed, PythonRefusal, YamlProblem, YamlProblemKind};

/// Whether this scanner accepts text that libyaml rejects with the message `reason`: colons before
/// an indicator, unknown directives and versions, a tab at the beginning of a block scalar, and a
/// question mark without a key in a list.
pub(super) fn passes(refusal: &str) -> bool {
    [
        "found unexpected ':'",
        "found unknown directive name",
        "found incompatible YAML document",
        "found a tab character where an indentation space is expected",
        "did not find expected ',' or ']'",
    ]
    .iter()
    .any(|words| refusal.starts_with(words))
}

/// A text for other parsers, with the same offsets.
pub(super) struct RespelledText<'text> {
    pub(crate) text: Cow<'text, str>,
    /// Escapes of single surrogates, and of the first ones of pairs.
    pub(crate) surrogates: Vec<Range<usize>>,
}

/// Replaces what this scanner reads as a character, but other parsers do not: byte order marks and
/// escapes of surrogates. [`original`](super::respelling::original) restores the value.
pub(super) fn respelled(text: &str) -> RespelledText<'_> {
    let escapes = quoted_surrogates(text);
    let mut respelled = Cow::Borrowed(text);
    let mut surrogates = Vec::new();
    let mut rest = &escapes[..];
    while let [first, after @ ..] = rest {
        rest = match after {
            [second, behind @ ..] if let Some(character) = first.combine(second) => {
                let range = first.range.start..second.range.end;
                let character = format!("{character}{FILLER}{FILLER}");
                respelled.to_mut().replace_range(range, &character);
                behind
            }
            _ => {
                respelled
                    .to_mut()
                    .replace_range(first.range.clone(), first.replacement());
                after
            }
        };
        surrogates.push(first.range.clone());
    }
    if respelled.contains(BYTE_ORDER_MARK) {
        respelled = respelled
            .replace(BYTE_ORDER_MARK, MARK.encode_utf8(&mut [0; 4]))
            .into();
    }
    RespelledText {
        text: respelled,
        surrogates,
    }
}

/// Adds a problem for each of these escapes.
pub(super) fn add_surrogates(
    file: FileId,
    base: u32,
    surrogates: &[Range<usize>],
    problems: &mut Vec<YamlProblem>,
) {
    for range in surrogates {
        let span = Span::new(file, base + offset(range.start), base + offset(range.end));
        problems.push(YamlProblem {
            span,
            kind: YamlProblemKind::Surrogate,
        });
    }
    problems.sort_by_key(|problem| problem.span);
}

/// Escapes of surrogates in double-quoted scalars.
fn quoted_surrogates(text: &str) -> Vec<SurrogateEscape> {
    let escapes = surrogate_escapes(text);
    if escapes.is_empty() {
        return escapes;
    }
    // Other parsers stop at single surrogates.
    let mut readable = text.to_owned();
    for escape in &escapes {
        readable.replace_range(escape.range.clone(), escape.replacement());
    }
    let written = read::written(&readable).into_iter();
    let quoted = written.filter(|token| token.kind == WrittenKind::DoubleQuoted);
    quoted
        .flat_map(|WrittenToken { range: token, .. }| {
            let escapes = surrogate_escapes(&text[token.clone()]).into_iter();
            escapes.map(move |SurrogateEscape { range, code }| SurrogateEscape {
                range: token.start + range.start..token.start + range.end,
                code,
            })
        })
        .collect()
}

/// Removes all documents from `read` and adds a problem if the scanner rejects `text`, which begins
/// at byte `base` of the file.
pub(super) fn review(file: FileId, base: u32, text: &str, parsed: &mut Parsed) {
    let problems = &mut parsed.problems;
    let is_refused = problems.iter().any(|problem| problem.kind.is_fatal());
    if is_refused || !text.contains(['\t', '?']) {
        return;
    }
    let Some((at, refusal)) = refusal(text) else {
        return;
    };
    let at = base + offset(at);
    let span = Span::new(file, at, at + 1);
    problems.push(YamlProblem {
        span,
        kind: YamlProblemKind::Invalid(InvalidYaml::RefusedByPython(refusal)),
    });
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
            WrittenKind::Enclosed | WrittenKind::DoubleQuoted => None,
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
/// begins with it. A single one is a key, as in `[?]`.
fn end_in_flow(text: &str, range: Range<usize>) -> Option<(usize, PythonRefusal)> {
    if &text[range.clone()] == "?" {
        return None;
    }
    let at = range.start + text[range.clone()].find('?').unwrap_or(range.len());
    let question_mark = (at < range.end).then_some((at, PythonRefusal::QuestionMark));
    tab(text, range.start..at).or(question_mark)
}
