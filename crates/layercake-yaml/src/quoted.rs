//! Quoted scalars with the line folding of YAML 1.1.
//!
//! libyaml and PyYAML treat U+2028 and U+2029 as line breaks, YAML 1.2 as text: adjacent white
//! space is not part of the value.

use granit_parser::{Event, Parser};

const SEPARATORS: [char; 2] = ['\u{2028}', '\u{2029}'];

/// Value of `written`, a scalar with its quotes.
pub(super) fn value(written: &str) -> Option<String> {
    let quote = written.chars().next()?;
    let inner = written.strip_prefix(quote)?.strip_suffix(quote)?;
    if quote == '\'' {
        return Some(folded(inner, false).replace("''", "'"));
    }
    let folded = format!("\"{}\"", folded(inner, true));
    Parser::new_from_str(&folded).find_map(|event| match event {
        Ok((Event::Scalar(text, ..), _)) => Some(text.into_owned()),
        _ => None,
    })
}

/// Folds the lines of the text between quotes. Escapes are kept, and with `has_escapes` the
/// inserted line breaks are escaped too.
fn folded(text: &str, has_escapes: bool) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let mut length = character.len_utf8();
        if is_white(character) {
            length = white_length(rest);
            push_run(&rest[..length], false, has_escapes, &mut folded);
        } else if character == '\\' && has_escapes {
            let escaped = rest[1..].chars().next();
            length += escaped.map_or(0, char::len_utf8);
            if escaped.is_some_and(is_break) {
                length = 1 + white_length(&rest[1..]);
                push_run(&rest[1..length], true, has_escapes, &mut folded);
            } else {
                folded.push_str(&rest[..length]);
            }
        } else {
            folded.push(character);
        }
        rest = &rest[length..];
    }
    folded
}

/// Appends a folded run of white space: unchanged without a line break. An escaped first break is
/// removed; a line feed becomes a space unless others follow; a separator is kept.
fn push_run(run: &str, is_escaped: bool, has_escapes: bool, folded: &mut String) {
    let run = run.replace("\r\n", "\n").replace('\r', "\n");
    let mut breaks = run.chars().filter(|character| is_break(*character)).peekable();
    let mut push = |character: char| match character {
        '\n' if has_escapes => folded.push_str("\\n"),
        '\u{2028}' if has_escapes => folded.push_str("\\L"),
        '\u{2029}' if has_escapes => folded.push_str("\\P"),
        other => folded.push(other),
    };
    match breaks.next() {
        None => return folded.push_str(&run),
        Some(_) if is_escaped => {}
        Some('\n') if breaks.peek().is_none() => push(' '),
        Some('\n') => {}
        Some(separator) => push(separator),
    }
    breaks.for_each(push);
}

fn white_length(text: &str) -> usize {
    text.find(|character| !is_white(character)).unwrap_or(text.len())
}

fn is_white(character: char) -> bool {
    matches!(character, ' ' | '\t') || is_break(character)
}

fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r') || SEPARATORS.contains(&character)
}
