//! `unused-ignore`: comment that suppresses no finding.

use std::collections::HashSet;

use crate::diagnostic::{Diagnostic, TextEdit};
use crate::ignore::{Ignore, RuleName};
use crate::source::{SourceMap, Span, offset};

super::rule!(
    "unused-ignore",
    Warning[Fixable, Everywhere],
    "comment that suppresses no finding"
);

pub(super) fn report(sources: &SourceMap, ignore: &Ignore, names: &[&RuleName]) -> Diagnostic {
    let texts: Vec<&str> = names.iter().map(|name| &*name.text).collect();
    let listed = texts.join("`, `");
    let at = if names.len() == ignore.names.len() {
        ignore.span
    } else {
        names[0].span
    };
    let message = format!("unused ignore of `{listed}`");
    let diagnostic = RULE
        .finding(message, at, "suppresses nothing")
        .note("it would hide a new finding of this kind")
        .about(format!("{} {}", ignore.words, texts.join(",")));
    if names.len() == ignore.names.len() {
        let edit = TextEdit {
            span: whole(sources, ignore.span),
            text: String::new(),
        };
        return diagnostic
            .help("remove the comment")
            .fix("remove the comment", vec![edit]);
    }
    let unused: HashSet<Span> = names.iter().map(|unused| unused.span).collect();
    let left: Vec<&str> = ignore
        .names
        .iter()
        .filter(|name| !unused.contains(&name.span))
        .map(|name| &*name.text)
        .collect();
    let list = ignore.names[0]
        .span
        .to(ignore.names[ignore.names.len() - 1].span);
    diagnostic
        .help(format!("remove `{listed}` from the comment"))
        .fix(
            format!("remove `{listed}` from the comment"),
            vec![TextEdit {
                span: list,
                text: left.join(", "),
            }],
        )
}

/// Span of the comment with the blanks before it, and of its whole line if nothing else is on it.
fn whole(sources: &SourceMap, comment: Span) -> Span {
    let text = &**sources.get(comment.file).text();
    let before = &text[..comment.start as usize];
    let after = &text[comment.end as usize..];
    let is_blank = |letter: char| letter == ' ' || letter == '\t';
    let start = before.trim_end_matches(is_blank).len();
    let rest = after.trim_start_matches(is_blank);
    let begins_line =
        matches!(&before[..start], "" | "\u{feff}") || before[..start].ends_with('\n');
    let ends_line = rest.is_empty() || rest.starts_with(['\n', '\r']);
    let span = |start: usize, end: usize| Span::new(comment.file, offset(start), offset(end));
    let end = text.len() - rest.len();
    match (begins_line, ends_line) {
        (false, true) => span(start, end),
        // Another comment follows and moves to this position.
        (_, false) => span(comment.start as usize, end),
        (true, true) if rest.is_empty() => {
            let line_break = ["\r\n", "\n"]
                .into_iter()
                .find(|it| before[..start].ends_with(it));
            span(start - line_break.map_or(0, str::len), end)
        }
        (true, true) => {
            let line_break = if rest.starts_with("\r\n") { 2 } else { 1 };
            span(start, end + line_break)
        }
    }
}
