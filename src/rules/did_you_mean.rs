//! Suggestions of similar words, and the unsafe fixes that write them.

use crate::diagnostic::{Diagnostic, TextEdit};
use crate::source::{SourceMap, Span};
use crate::yaml;

impl Diagnostic {
    /// Suggests `near`. `edit` writes it, if it is known to be a word of a fixed vocabulary and what
    /// is at the location is exactly the wrong word; see [`word_edit`]. The fix is unsafe, since the
    /// word is a guess.
    #[must_use]
    pub(in crate::rules) fn did_you_mean(self, near: &str, edit: Option<TextEdit>) -> Self {
        let finding = self.help(format!("did you mean `{near}`?"));
        match edit {
            Some(edit) => finding.unsafe_fix(format!("write `{near}`"), vec![edit]),
            None => finding,
        }
    }
}

/// Edit that writes `near` for the scalar `written` at `at`, with its quotes. `None` if the text
/// there is not exactly this word, if an alias may share it, or if `near` would need other quotes.
pub(in crate::rules) fn word_edit(
    sources: &SourceMap,
    at: Span,
    written: &str,
    near: &str,
) -> Option<TextEdit> {
    let before = sources.get(at.file).text().get(..at.start as usize)?;
    let text = sources.slice(at);
    let quoted = ['"', '\''].iter().find_map(|quote| {
        let inner = text.strip_prefix(*quote)?.strip_suffix(*quote)?;
        (inner == written).then_some(1)
    });
    let quote = quoted.or((text == written).then_some(0))?;
    let span = Span {
        start: at.start + quote,
        end: at.end - quote,
        ..at
    };
    let is_certain = is_plain_word(at, near) && !is_anchored(before);
    is_certain.then(|| TextEdit {
        span,
        text: near.to_owned(),
    })
}

/// Edit that writes `near` for the word `written` at `at` in a comment.
pub(in crate::rules) fn comment_edit(
    sources: &SourceMap,
    at: Span,
    written: &str,
    near: &str,
) -> Option<TextEdit> {
    (sources.slice(at) == written).then(|| TextEdit {
        span: at,
        text: near.to_owned(),
    })
}

/// Whether a word is the same string in quotes of both kinds and without quotes.
fn is_plain_word(at: Span, word: &str) -> bool {
    let parsed = || yaml::parse(at.file, word);
    word.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_-./$".contains(&byte))
        && parsed().documents.first().and_then(|it| it.root.as_str()) == Some(word)
}

/// Maximum number of bytes searched for anchors before a word.
const MAX_SEARCHED: usize = 32 << 10;

/// Whether an alias may refer to what follows `before`: whether its YAML document has an anchor
/// there, or is too long to be searched. Strings that look like an anchor count, too.
fn is_anchored(before: &str) -> bool {
    let before = before.as_bytes();
    let searched = &before[before.len().saturating_sub(MAX_SEARCHED)..];
    let start = (0..searched.len())
        .rev()
        .filter(|at| searched[*at] == b'\n')
        .find(|at| {
            let line = &searched[*at..];
            line.starts_with(b"\n---") && line.get(4).is_none_or(u8::is_ascii_whitespace)
        });
    let document = &searched[start.unwrap_or(0)..];
    let is_too_long = start.is_none() && before.len() > MAX_SEARCHED;
    is_too_long
        || document.starts_with(b"&")
        || document.windows(3).any(|pair| {
            let [before, name] = [pair[0], pair[2]];
            let is_start = before.is_ascii_whitespace() || b"[{,".contains(&before);
            pair[1] == b'&' && is_start && !name.is_ascii_whitespace() && name != b'&'
        })
}
