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

/// Start of a file's content. Offsets are in bytes.
enum FileStart {
    /// Without a marker.
    Unmarked,
    /// With a marker after comments or blank lines.
    Late { marker: usize },
    /// With a marker that shares its line with other content.
    Shared,
    /// With a directive, which requires a marker after it.
    Directive,
}

fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    let source = facts.sources.get(facts.file);
    let text = source.text();
    // The first bytes of a broken file are not meaningful.
    let is_broken = facts.problems.iter().any(|problem| problem.kind.is_fatal());
    if source.fault().is_some() || is_broken {
        return;
    }
    let first = text.len() - text.trim_start_matches(BYTE_ORDER_MARK).len();
    let Some(start) = start(text, first) else {
        return;
    };
    let finding = report(facts.file, first, &start);
    let fix = fix(facts.file, text, first, &start);
    found.push(Diagnostic { fix, ..finding });
}

/// Fault at the start of the text, from byte `first` on.
fn start(text: &str, first: usize) -> Option<FileStart> {
    let mut at = first;
    for line in text[first..].split_inclusive('\n') {
        let bare = line.trim();
        let rest = line
            .strip_prefix(MARKER)
            .filter(|rest| !rest.starts_with(is_content));
        match rest {
            Some(rest) if at == first => return (!is_line_end(rest)).then_some(FileStart::Shared),
            Some(_) => return Some(FileStart::Late { marker: at }),
            None if line.starts_with('%') => return Some(FileStart::Directive),
            None if bare.is_empty() || bare.starts_with('#') => at += line.len(),
            None => return Some(FileStart::Unmarked),
        }
    }
    // A file without a document needs no marker.
    None
}

fn is_content(letter: char) -> bool {
    !letter.is_ascii_whitespace()
}

/// Whether the line ends here. YAML and Pegleg also accept a lone carriage return.
fn is_line_end(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(['\r', '\n'])
}

fn report(file: FileId, first: usize, start: &FileStart) -> Diagnostic {
    let label = |text| Label::new(Span::point(file, offset(first)), text);
    let note = |message: &str, at: Label| Diagnostic {
        severity: Severity::Note,
        ..Diagnostic::new(&RULE, message, at)
            .note("Pegleg checks only the first line, and rejects the file; Deckhand accepts it")
    };
    match start {
        FileStart::Unmarked => Diagnostic::new(
            &RULE,
            "the file does not begin with `---`",
            label("no `---` here"),
        )
        .note("Pegleg rejects the file; Deckhand accepts it")
        .help("start the file with `---` on a line of its own"),
        FileStart::Late { marker } => note(
            "`---` comes after comments or blank lines",
            label("`---` is not the first line"),
        )
        .related(
            Span::new(file, offset(*marker), offset(marker + MARKER.len())),
            "the marker is here",
        )
        .help("move `---` to the first line"),
        FileStart::Shared => note(
            "the first line has more than `---`",
            label("`---` is not alone on its line"),
        )
        .help("put `---` on a line of its own"),
        FileStart::Directive => note(
            "the file begins with a directive instead of `---`",
            label("a directive before `---`"),
        )
        .help("remove the directive: Deckhand's parser does not need it"),
    }
}

/// Fix that keeps the values of the documents.
fn fix(file: FileId, text: &str, first: usize, start: &FileStart) -> Option<Fix> {
    let line_end = line_end(text);
    let edit = |range: std::ops::Range<usize>, text: &str| TextEdit {
        span: Span::new(file, offset(range.start), offset(range.end)),
        text: text.to_owned(),
    };
    let put_first = || edit(first..first, &format!("{MARKER}{line_end}"));
    let (message, edits) = match start {
        // After `...` the document would be empty.
        FileStart::Unmarked if text[first..].trim_start().starts_with("...") => return None,
        FileStart::Unmarked => ("insert `---` at the start", vec![put_first()]),
        FileStart::Late { marker } => {
            let behind = blanks_behind(text, *marker);
            let end = behind + text[behind..].find('\n').map_or(0, |at| at + 1);
            let is_alone = text[behind..end].trim().is_empty();
            let end = if is_alone { end } else { behind };
            (
                "move `---` to the first line",
                vec![put_first(), edit(*marker..end, "")],
            )
        }
        FileStart::Shared => {
            let from = first + MARKER.len();
            let behind = blanks_behind(text, first);
            let is_alone = is_line_end(&text[behind..]);
            let instead = if is_alone { "" } else { line_end };
            (
                "put `---` on its own line",
                vec![edit(from..behind, instead)],
            )
        }
        FileStart::Directive => return None,
    };
    Some(Fix {
        safety: Safety::Safe,
        message: message.to_owned(),
        edits,
    })
}

/// End of the blanks after a marker.
fn blanks_behind(text: &str, marker: usize) -> usize {
    let behind = marker + MARKER.len();
    behind
        + text[behind..]
            .find(|letter| !matches!(letter, ' ' | '\t'))
            .unwrap_or(0)
}

/// Line ending that the file uses.
fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        None if text.contains('\r') => "\r",
        Some(_) | None => "\n",
    }
}
