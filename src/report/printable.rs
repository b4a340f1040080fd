//! Escaping for terminals: control characters in text from a repository are printed as escapes, so
//! that it cannot move the cursor or reorder, hide or forge the text around it.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::source::RepoPath;

/// Returns `text` on one line, with every character escaped that [`is_harmful`].
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_harmful(character) {
            clean.push_str(&escape(character));
        } else {
            clean.push(character);
        }
    }
    Cow::Owned(clean)
}

/// Whether a character could affect how other text is displayed: control characters (including line
/// breaks and tabs), bidirectional controls, invisible characters, line separators, and those that
/// represent a byte of a path ([`RepoPath::ESCAPES`]).
pub(super) fn is_harmful(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{f780}'..='\u{f7ff}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{fffe}'..='\u{ffff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Returns the escape sequence of a character.
pub(super) fn escape(character: char) -> String {
    let mut escaped = String::new();
    let code = u32::from(character);
    let written = match character {
        '\n' => escaped.write_str("\\n"),
        '\r' => escaped.write_str("\\r"),
        '\t' => escaped.write_str("\\t"),
        _ if RepoPath::ESCAPES.contains(&character) => write!(escaped, "\\x{:02x}", code & 0xff),
        _ if code < 0x100 => write!(escaped, "\\x{code:02x}"),
        _ => write!(escaped, "\\u{{{code:x}}}"),
    };
    written.expect("writing to a string cannot fail");
    escaped
}

/// Escapes workflow commands in `text`: lines that begin with `::` and `##[` anywhere (GitHub),
/// `##vso[` (Azure) and `##teamcity[` (`TeamCity`). One character of each becomes an escape.
///
/// An untrusted string can contain line breaks, so a name in the middle of a line can end up at the
/// start of one.
pub(super) fn without_commands(text: &str) -> Cow<'_, str> {
    const ANYWHERE: [&str; 3] = ["##[", "##vso[", "##teamcity["];
    if !text.contains("##") && !text.lines().any(|line| line.trim_start().starts_with("::")) {
        return Cow::Borrowed(text);
    }
    let mut without = String::with_capacity(text.len() + 8);
    for line in text.split_inclusive('\n') {
        let rest = line.trim_start();
        match rest.strip_prefix("::") {
            Some(after) => {
                without.push_str(&line[..line.len() - rest.len()]);
                without.push_str("\\x3a:");
                without.push_str(after);
            }
            None => without.push_str(line),
        }
    }
    for word in ANYWHERE {
        without = without.replace(word, &word.replace('[', "\\x5b"));
    }
    Cow::Owned(without)
}
