//! Text that cannot drive a terminal: text from a repository is printed with its control characters
//! as escapes, so that it can neither move the cursor nor reorder, hide or forge the text beside
//! it.

use std::borrow::Cow;
use std::fmt::Write as _;

/// `text` on one line, with everything escaped that [`is_harmful`].
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

/// Whether a character could change how others are shown: controls (line
/// breaks and tabs among them), characters that set the direction of text,
/// invisible ones, and line separators.
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
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{fffe}'..='\u{ffff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// A character as people write it in strings.
pub(super) fn escape(character: char) -> String {
    let mut escaped = String::new();
    let code = u32::from(character);
    let written = match character {
        '\n' => escaped.write_str("\\n"),
        '\r' => escaped.write_str("\\r"),
        '\t' => escaped.write_str("\\t"),
        _ if code < 0x100 => write!(escaped, "\\x{code:02x}"),
        _ => write!(escaped, "\\u{{{code:x}}}"),
    };
    written.expect("strings take text");
    escaped
}

/// `text` without what the log of a CI job takes for a command: GitHub one of
/// lines that begin with `::`, and of `##[` anywhere in them; Azure of `##vso[`;
/// `TeamCity` of `##teamcity[`. One character of each becomes an escape.
///
/// The author of a text chooses its line breaks, so that a name in the middle of a line can come to
/// be at the beginning of one.
pub(super) fn without_commands(text: &str) -> Cow<'_, str> {
    const ANYWHERE: [&str; 3] = ["##[", "##vso[", "##teamcity["];
    let is_command = |line: &str| line.trim_start().starts_with("::");
    if !text.contains("##") && !text.lines().any(is_command) {
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
