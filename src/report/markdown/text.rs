//! Escaping of untrusted strings in Markdown as rendered by GitHub and GitLab: the rendered text is
//! exactly the original string.
//!
//! Hosts extend `CommonMark`: `@name` notifies a user, `#12`, a commit id and a URL become links,
//! `:tada:` becomes an emoji, `$x$` a formula. Most of this happens after Markdown is parsed, so
//! neither a backslash nor an entity prevents it. Code spans are exempt, so a word with a possible
//! special meaning is shown as code. Untrusted strings are never put into HTML.

use std::borrow::Cow;

use crate::report::printable;

/// Escapes pipes for a table cell. This is the same in text, code and links, since rows are split
/// into cells before inline parsing.
pub(in crate::report) fn in_cell(markdown: &str) -> String {
    markdown.replace('|', "\\|")
}

/// Returns `text` on one line, truncated to `longest` characters.
pub(super) fn short(text: &str, longest: usize) -> Cow<'_, str> {
    // Do not scan the truncated part: a name may be very long.
    let end = text
        .char_indices()
        .nth(longest + 1)
        .map_or(text.len(), |(at, _)| at);
    let clean = printable::clean(&text[..end]);
    if end == text.len() && clean.chars().nth(longest).is_none() {
        return clean;
    }
    let kept: String = clean.chars().take(longest.saturating_sub(1)).collect();
    Cow::Owned(kept + "…")
}

/// Renders a one-line string as code.
pub(super) fn code(text: &str) -> String {
    // Renderers disagree on a backslash before a pipe in a table.
    const BACKSLASH_PIPE: &str = "\\|";
    if text.is_empty() {
        return "\"\"".to_owned();
    }
    let spans: Vec<String> = text.split(BACKSLASH_PIPE).map(span).collect();
    spans.join("&#92;&#124;")
}

/// Renders a string as one code span; empty for an empty string.
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

/// Returns a fence for a code block with these lines.
pub(super) fn fence(lines: &[String]) -> String {
    const MIN_LENGTH: usize = 3;
    let longest = lines
        .iter()
        .map(|line| longest_run(line))
        .max()
        .unwrap_or(0);
    "`".repeat(MIN_LENGTH.max(longest + 1))
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|it| it != '`').map(str::len).max().unwrap_or(0)
}

/// Renders a one-line string as text: plain words unchanged, others as code.
pub(in crate::report) fn prose(text: &str) -> String {
    written(vec![MarkdownPiece::Prose(text)])
}

/// Renders the message of a rule, which has names in backticks.
pub(super) fn message(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let mut pieces = Vec::new();
    let mut at = 0;
    for (number, part) in parts.iter().enumerate() {
        let is_closed = number + 1 < parts.len();
        match number % 2 {
            // An empty code span does not exist.
            1 if is_closed && part.is_empty() => pieces.push(MarkdownPiece::Prose("``")),
            1 if is_closed => pieces.push(MarkdownPiece::Code(part)),
            // An unpaired last backtick is an ordinary character.
            1 => pieces.push(MarkdownPiece::Prose(&text[at - 1..])),
            _ => pieces.push(MarkdownPiece::Prose(part)),
        }
        at += part.len() + 1;
    }
    written(pieces)
}

/// A part of a message.
enum MarkdownPiece<'a> {
    Prose(&'a str),
    Code(&'a str),
}

/// Markdown of a word, or of the space between words.
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
    all.into_iter()
        .enumerate()
        .map(|(at, token)| match token {
            MarkdownToken::Plain(text) => text,
            MarkdownToken::Code(text) => code(&text),
            MarkdownToken::Space(" ") if at > 0 && at < last => " ".to_owned(),
            // Renderers drop spaces at the ends of a line, but keep entities.
            MarkdownToken::Space(run) => run
                .chars()
                .map(|it| format!("&#{};", u32::from(it)))
                .collect(),
        })
        .collect()
}

/// Separates adjacent code spans, which would otherwise be merged.
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
        let end = rest
            .find(|it: char| it.is_whitespace() != is_space)
            .unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        match is_space {
            true => all.push(MarkdownToken::Space(run)),
            false if is_plain(run) => all.push(MarkdownToken::Plain(plain(run))),
            false => push_code(run, all),
        }
        rest = behind;
    }
}

/// Whether a word has no special meaning to Markdown or a host.
fn is_plain(word: &str) -> bool {
    let colon = word.find(':');
    let ends_in_colon = colon.is_none_or(|at| at + 1 == word.len());
    let begins_address = word.to_ascii_lowercase().contains("www.");
    word.chars()
        .all(|it| !it.is_ascii() || it.is_ascii_alphanumeric() || ",.;:!?'\"()/%-+=".contains(it))
        && ends_in_colon
        && !begins_address
        && !is_issue(word)
        && !has_commit(word)
}

/// Whether a word contains an issue reference such as `GH-12`.
fn is_issue(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    lower
        .match_indices("gh-")
        .any(|(at, it)| lower[at + it.len()..].starts_with(|it: char| it.is_ascii_digit()))
}

/// Whether a part of a word could be an abbreviated commit id.
fn has_commit(word: &str) -> bool {
    const MIN_LENGTH: usize = 7;
    let mut parts = word.split(|it: char| !it.is_ascii_alphanumeric());
    parts.any(|part| part.len() >= MIN_LENGTH && part.bytes().all(|it| it.is_ascii_hexdigit()))
}

/// Escapes a plain word at the start of a line: `-`, `+` and `1.` would start a list, `---` a
/// thematic break, and `===` would turn the previous line into a heading.
fn plain(word: &str) -> String {
    let digits = word.len()
        - word
            .trim_start_matches(|it: char| it.is_ascii_digit())
            .len();
    let is_all = |sign: char| word.chars().all(|it| it == sign);
    match &word[digits..] {
        "." | ")" if digits > 0 => format!("{}\\{}", &word[..digits], &word[digits..]),
        _ if is_all('-') || is_all('=') || is_all('+') => format!("\\{word}"),
        _ => word.to_owned(),
    }
}

/// Returns a link around `inside`, which is Markdown.
pub(super) fn link(inside: &str, address: &str) -> String {
    format!("[{inside}]({})", destination(address))
}

/// Escapes a link destination: characters that are not allowed by RFC 3986, or special in Markdown,
/// are percent-encoded.
fn destination(address: &str) -> String {
    let mut written = String::new();
    for byte in address.bytes() {
        match byte {
            // A bare `&copy=1` would be read as an entity.
            b'&' => written.push_str("&amp;"),
            _ if byte.is_ascii_alphanumeric() || b"-._~:/?#@!+,;=%".contains(&byte) => {
                written.push(char::from(byte));
            }
            _ => written.push_str(&format!("%{byte:02X}")),
        }
    }
    written
}
