//! `missing-document-start`: a file does not begin with `---` on a line of its own.

use super::FileFacts;
use crate::diagnostic::{Diagnostic, Fix, Label, Safety, Severity, TextEdit};
use crate::source::{FileId, Span, offset};

super::rule!(
    "missing-document-start", Warning [Fixable], "a file does not begin with `---`", was "P006";
    File(check)
);

const MARKER: &str = "---";
const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// Beginning of the content of a file. Places are bytes of its text.
enum FileStart {
    /// Without a marker.
    Unmarked,
    /// With a marker that has something before it: comments or blank lines.
    Late { marker: usize },
    /// With a marker that has something behind it on its line.
    Shared,
    /// With a directive, which requires a marker behind it.
    Directive,
}

fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    let source = facts.sources.get(facts.file);
    let text = source.text();
    // Of what cannot be read the first bytes say nothing.
    let is_broken = facts.problems.iter().any(|problem| problem.kind.is_fatal());
    if source.fault().is_some() || is_broken {
        return;
    }
    let first = text.len() - text.trim_start_matches(BYTE_ORDER_MARK).len();
    let Some(start) = start(text, first) else { return };
    let finding = word(facts.file, first, &start);
    let fix = fix(facts.file, text, first, &start);
    found.push(Diagnostic { fix, ..finding });
}

/// The kind of fault at the beginning of the text, from byte `first` on.
fn start(text: &str, first: usize) -> Option<FileStart> {
    let mut at = first;
    for line in text[first..].split_inclusive('\n') {
        let bare = line.trim();
        let rest = line.strip_prefix(MARKER).filter(|rest| !rest.starts_with(is_content));
        match rest {
            Some(rest) if at == first => return (!is_line_end(rest)).then_some(FileStart::Shared),
            Some(_) => return Some(FileStart::Late { marker: at }),
            None if line.starts_with('%') => return Some(FileStart::Directive),
            None if bare.is_empty() || bare.starts_with('#') => at += line.len(),
            None => return Some(FileStart::Unmarked),
        }
    }
    // Without a document nothing lacks a beginning.
    None
}

fn is_content(letter: char) -> bool {
    !letter.is_ascii_whitespace()
}

/// Whether a line ends here; to YAML and to Pegleg it may end in a carriage
/// return alone.
fn is_line_end(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(['\r', '\n'])
}

fn word(file: FileId, first: usize, start: &FileStart) -> Diagnostic {
    let label = |text| Label::new(Span::point(file, offset(first)), text);
    let note = |message: &str, at: Label| Diagnostic {
        severity: Severity::Note,
        ..Diagnostic::new(&RULE, message, at)
            .note("Pegleg looks at the first line alone, and refuses the file; Deckhand reads it")
    };
    match start {
        FileStart::Unmarked => {
            Diagnostic::new(&RULE, "the file does not begin with `---`", label("no `---` here"))
                .note("Pegleg refuses the file; Deckhand reads it")
                .help("put `---` on a line of its own before everything else")
        }
        FileStart::Late { marker } => note(
            "the file has its `---` behind comments or blank lines",
            label("`---` is not the first line"),
        )
        .related(Span::new(file, offset(*marker), offset(marker + MARKER.len())), "it stands here")
        .help("move `---` to the first line"),
        FileStart::Shared => note(
            "the file has more than `---` on its first line",
            label("`---` is not alone on its line"),
        )
        .help("put `---` on a line of its own"),
        FileStart::Directive => note(
            "the file begins with a directive, not with `---`",
            label("a directive stands before `---`"),
        )
        .help("remove the directive: Deckhand's reader needs none"),
    }
}

/// The fix: the documents keep their values.
fn fix(file: FileId, text: &str, first: usize, start: &FileStart) -> Option<Fix> {
    let line_end = line_end(text);
    let edit = |range: std::ops::Range<usize>, text: &str| TextEdit {
        span: Span::new(file, offset(range.start), offset(range.end)),
        text: text.to_owned(),
    };
    let put_first = || edit(first..first, &format!("{MARKER}{line_end}"));
    let (message, edits) = match start {
        // Behind `...` the document would be an empty one.
        FileStart::Unmarked if text[first..].trim_start().starts_with("...") => return None,
        FileStart::Unmarked => ("put `---` first", vec![put_first()]),
        FileStart::Late { marker } => {
            let behind = blanks_behind(text, *marker);
            let end = behind + text[behind..].find('\n').map_or(0, |at| at + 1);
            let is_alone = text[behind..end].trim().is_empty();
            let end = if is_alone { end } else { behind };
            ("move `---` to the first line", vec![put_first(), edit(*marker..end, "")])
        }
        FileStart::Shared => {
            let (from, behind) = (first + MARKER.len(), blanks_behind(text, first));
            let is_alone = is_line_end(&text[behind..]);
            let instead = if is_alone { "" } else { line_end };
            ("leave `---` alone on its line", vec![edit(from..behind, instead)])
        }
        FileStart::Directive => return None,
    };
    Some(Fix { safety: Safety::Safe, message: message.to_owned(), edits })
}

/// The end of the blanks behind a marker.
fn blanks_behind(text: &str, marker: usize) -> usize {
    let behind = marker + MARKER.len();
    behind + text[behind..].find(|letter| !matches!(letter, ' ' | '\t')).unwrap_or(0)
}

/// The line end that the file uses.
fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        None if text.contains('\r') => "\r",
        Some(_) | None => "\n",
    }
}
