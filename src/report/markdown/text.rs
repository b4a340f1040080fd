//! Texts of others in Markdown, as GitHub and GitLab read it: what comes out of
//! a reader is the text that went in, and nothing else.
//!
//! A host makes more of a text than `CommonMark` does: `@name` notifies a user, `#12`, a commit and
//! an address become links, `:tada:` a picture, `$x$` a formula. Most of that happens after the
//! Markdown was read, so that neither a backslash nor an entity prevents it. Text in code is spared
//! all of it, and so a word with a possible special meaning is shown as code. Foreign text is never
//! put into HTML.

use std::borrow::Cow;

use crate::report::printable;

/// A line of Markdown as a cell of a table, which a pipe would end. It is the same in
/// text, in code and in links: a reader divides rows before it looks at what is inside.
pub(in crate::report) fn in_cell(markdown: &str) -> String {
    markdown.replace('|', "\\|")
}

/// `text` on one line, in at most `longest` characters.
pub(super) fn short(text: &str, longest: usize) -> Cow<'_, str> {
    // What is cut off is not looked at: a name may be a book.
    let end = text.char_indices().nth(longest + 1).map_or(text.len(), |(at, _)| at);
    let clean = printable::clean(&text[..end]);
    if end == text.len() && clean.chars().nth(longest).is_none() {
        return clean;
    }
    let kept: String = clean.chars().take(longest.saturating_sub(1)).collect();
    Cow::Owned(kept + "…")
}

/// Text as code. The text is on one line.
pub(super) fn code(text: &str) -> String {
    // Readers do not agree what a backslash before a pipe is in a table.
    const UNSURE: &str = "\\|";
    if text.is_empty() {
        return "\"\"".to_owned();
    }
    let spans: Vec<String> = text.split(UNSURE).map(span).collect();
    spans.join("&#92;&#124;")
}

/// Text as one code span; nothing where there is none.
fn span(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(text) + 1);
    let touches = text.starts_with('`') || text.ends_with('`');
    let is_stripped =
        text.starts_with(' ') && text.ends_with(' ') && text.chars().any(|it| it != ' ');
    let space = if touches || is_stripped { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// The line before and behind a block of code with these lines.
pub(super) fn fence(lines: &[String]) -> String {
    const MIN_LENGTH: usize = 3;
    let longest = lines.iter().map(|line| longest_run(line)).max().unwrap_or(0);
    "`".repeat(MIN_LENGTH.max(longest + 1))
}

/// Length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|it| it != '`').map(str::len).max().unwrap_or(0)
}

/// Text as text: plain words as they are, others as code. The text is on one line.
pub(in crate::report) fn prose(text: &str) -> String {
    written(vec![MarkdownPiece::Prose(text)])
}

/// A sentence of a rule, in which names are between backticks.
pub(super) fn message(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let mut pieces = Vec::new();
    let mut at = 0;
    for (number, part) in parts.iter().enumerate() {
        let is_closed = number + 1 < parts.len();
        match number % 2 {
            // There is no code without a character.
            1 if is_closed && part.is_empty() => pieces.push(MarkdownPiece::Prose("``")),
            1 if is_closed => pieces.push(MarkdownPiece::Code(part)),
            // The last backtick has no counterpart: it is an ordinary character.
            1 => pieces.push(MarkdownPiece::Prose(&text[at - 1..])),
            _ => pieces.push(MarkdownPiece::Prose(part)),
        }
        at += part.len() + 1;
    }
    written(pieces)
}

/// A stretch of a text.
enum MarkdownPiece<'a> {
    Prose(&'a str),
    Code(&'a str),
}

/// Markdown for a word, or for the text between words.
enum MarkdownToken<'a> {
    Plain(String),
    Code(String),
    Space(&'a str),
}

fn written(pieces: Vec<MarkdownPiece<'_>>) -> String {
    let mut all: Vec<MarkdownToken<'_>> = Vec::new();
    for piece in pieces {
        match piece {
            MarkdownPiece::Code(text) => push_code(text, &mut all),
            MarkdownPiece::Prose(text) => push_prose(text, &mut all),
        }
    }
    let last = all.len().saturating_sub(1);
    let text = all.into_iter().enumerate().map(|(at, it)| match it {
        MarkdownToken::Plain(text) => text,
        MarkdownToken::Code(text) => code(&text),
        MarkdownToken::Space(" ") if at > 0 && at < last => " ".to_owned(),
        // A reader drops spaces at the ends of a line, and keeps entities.
        MarkdownToken::Space(run) => {
            run.chars().map(|it| format!("&#{};", u32::from(it))).collect()
        }
    });
    text.collect()
}

/// Two code spans that touch each other would be read as something else.
fn push_code(text: &str, all: &mut Vec<MarkdownToken<'_>>) {
    match all.last_mut() {
        Some(MarkdownToken::Code(known)) => known.push_str(text),
        Some(MarkdownToken::Plain(_) | MarkdownToken::Space(_)) | None => {
            all.push(MarkdownToken::Code(text.to_owned()));
        }
    }
}

fn push_prose<'a>(text: &'a str, all: &mut Vec<MarkdownToken<'a>>) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_space = first.is_whitespace();
        let end = rest.find(|it: char| it.is_whitespace() != is_space).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        match is_space {
            true => all.push(MarkdownToken::Space(run)),
            false if is_plain(run) => all.push(MarkdownToken::Plain(plain(run))),
            false => push_code(run, all),
        }
        rest = behind;
    }
}

/// Whether neither Markdown nor a host makes anything of a word.
fn is_plain(word: &str) -> bool {
    let is_quiet =
        |it: char| !it.is_ascii() || it.is_ascii_alphanumeric() || ",.;:!?'\"()/%-+=".contains(it);
    let colon = word.find(':');
    let ends_in_colon = colon.is_none_or(|at| at + 1 == word.len());
    let begins_address = word.to_ascii_lowercase().contains("www.");
    word.chars().all(is_quiet)
        && ends_in_colon
        && !begins_address
        && !is_issue(word)
        && !has_commit(word)
}

/// `GH-12`, which GitHub takes for an issue.
fn is_issue(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    lower
        .match_indices("gh-")
        .any(|(at, it)| lower[at + it.len()..].starts_with(|it: char| it.is_ascii_digit()))
}

/// Whether a part of a word could be the short name of a commit.
fn has_commit(word: &str) -> bool {
    const MIN_LENGTH: usize = 7;
    let mut parts = word.split(|it: char| !it.is_ascii_alphanumeric());
    parts.any(|part| part.len() >= MIN_LENGTH && part.bytes().all(|it| it.is_ascii_hexdigit()))
}

/// A plain word, which may be all that its line has, or the first of it: `-`, `+`
/// and `1.` would begin a list there, `---` draw a line, and `===` make a heading of
/// the line before.
fn plain(word: &str) -> String {
    let digits = word.len() - word.trim_start_matches(|it: char| it.is_ascii_digit()).len();
    let is_all = |sign: char| word.chars().all(|it| it == sign);
    match &word[digits..] {
        "." | ")" if digits > 0 => format!("{}\\{}", &word[..digits], &word[digits..]),
        _ if is_all('-') || is_all('=') || is_all('+') => format!("\\{word}"),
        _ => word.to_owned(),
    }
}

/// `inside`, which is Markdown, as a link.
pub(super) fn link(inside: &str, address: &str) -> String {
    format!("[{inside}]({})", destination(address))
}

/// An address as Markdown has it in parentheses. What neither RFC 3986 has in
/// addresses nor Markdown leaves alone is percent-encoded.
fn destination(address: &str) -> String {
    let mut written = String::new();
    for byte in address.bytes() {
        match byte {
            // Otherwise `&copy=1` would be a sign.
            b'&' => written.push_str("&amp;"),
            _ if byte.is_ascii_alphanumeric() || b"-._~:/?#@!+,;=%".contains(&byte) => {
                written.push(char::from(byte));
            }
            _ => written.push_str(&format!("%{byte:02X}")),
        }
    }
    written
}
