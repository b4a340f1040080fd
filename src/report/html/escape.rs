//! HTML escaping for text nodes and quoted attributes.

use std::fmt::{self, Display, Formatter, Write as _};

use crate::report::printable::{escape, is_harmful};

/// Escapes a string for HTML, including characters that could hide, reorder or forge the text
/// around them; tabs are kept.
pub(super) fn text(text: &str) -> EscapedText<'_> {
    EscapedText(text)
}

/// See [`text`].
#[derive(Clone, Copy)]
pub(super) struct EscapedText<'a>(&'a str);

impl Display for EscapedText<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '"' => out.write_str("&quot;")?,
                '\'' => out.write_str("&#39;")?,
                '\t' => out.write_char('\t')?,
                _ if is_harmful(character) => out.write_str(&escape(character))?,
                _ => out.write_char(character)?,
            }
        }
        Ok(())
    }
}

/// Renders text with inline code in backticks.
pub(super) fn words(words: &str) -> String {
    let mut html = String::new();
    let mut rest = words;
    while let Some((before, after)) = rest.split_once('`')
        && let Some((code, after)) = after.split_once('`')
    {
        html.push_str(&text(before).to_string());
        html.push_str(&match code {
            "" => "``".to_owned(),
            code => format!("<code>{}</code>", text(code)),
        });
        rest = after;
    }
    html + &text(rest).to_string()
}
