//! Texts on a terminal: roles as colours, links where it takes them, lines of its width.

use crate::report::model::Report;
use crate::report::printable::clean;
use crate::report::text::{StyledText, TextLink, TextPiece, TextRole};
use crate::report::{TerminalStyle, wrap};

/// A terminal to write texts of a report for.
#[derive(Clone, Copy)]
pub(super) struct Painter<'a> {
    pub(super) report: &'a Report,
    pub(super) style: &'a TerminalStyle,
}

impl Painter<'_> {
    /// The text with its colours and links, on one line.
    pub(super) fn line(self, text: &StyledText) -> String {
        text.pieces.iter().map(|piece| self.piece(piece)).collect()
    }

    /// The text in lines of the terminal's width, `first` before the first and `rest` before the
    /// others.
    pub(super) fn paragraph(self, text: &StyledText, first: &str, rest: &str) -> String {
        wrap(&self.line(text), self.style.columns(), first, rest)
    }

    /// Words in a role.
    pub(super) fn words(self, role: TextRole, words: &str) -> String {
        self.line(&StyledText::of(role, words))
    }

    fn piece(self, piece: &TextPiece) -> String {
        let text = clean(&piece.text);
        let text = match piece.role {
            // What the repository says stays as it is.
            TextRole::Name | TextRole::Place => text,
            _ if self.style.unicode => text,
            _ => in_ascii(&text).into(),
        };
        let painted = painted(&text, code(piece.role).filter(|_| self.style.color));
        match piece.link.as_ref().and_then(|link| self.address(link)) {
            Some(address) => format!("\x1b]8;;{address}\x1b\\{painted}\x1b]8;;\x1b\\"),
            None => painted,
        }
    }

    fn address(self, link: &TextLink) -> Option<String> {
        if self.style.links { self.report.address(link) } else { None }
    }
}

/// Our own words without the signs that a terminal may lack.
fn in_ascii(text: &str) -> String {
    const SIGNS: [(&str, &str); 5] =
        [("×", "x"), ("…", "..."), ("–", "-"), ("·", "|"), ("→", "->")];
    SIGNS.iter().fold(text.to_owned(), |text, (sign, ascii)| text.replace(sign, ascii))
}

/// Paints word by word, so that a line can be broken between them.
fn painted(text: &str, code: Option<&str>) -> String {
    let Some(code) = code else { return text.to_owned() };
    let words = text.split(' ').map(|word| match word {
        "" => String::new(),
        word => format!("\x1b[{code}m{word}\x1b[0m"),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The colour of a role, as terminals know it by number.
pub(super) fn code(role: TextRole) -> Option<&'static str> {
    match role {
        TextRole::Plain => None,
        TextRole::Strong => Some("1"),
        TextRole::Name => Some("36"),
        TextRole::Place => Some("34"),
        TextRole::Good => Some("1;32"),
        TextRole::Error => Some("1;31"),
        TextRole::Warning => Some("1;33"),
        TextRole::Note => Some("1;36"),
        TextRole::Dim => Some("2"),
    }
}
