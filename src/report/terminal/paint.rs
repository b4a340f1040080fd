//! Rendering of styled text on a terminal: colours, hyperlinks and wrapping.

use crate::report::model::Report;
use crate::report::printable::clean;
use crate::report::text::{StyledText, TextLink, TextPiece, TextRole};
use crate::report::{TerminalStyle, wrap};

/// Renders styled text for a terminal.
#[derive(Clone, Copy)]
pub(super) struct Painter<'a> {
    pub(super) report: &'a Report,
    pub(super) style: &'a TerminalStyle,
}

impl Painter<'_> {
    /// Renders text with colours and links on one line.
    pub(super) fn line(self, text: &StyledText) -> String {
        text.pieces.iter().map(|piece| self.piece(piece)).collect()
    }

    /// Renders text wrapped to the terminal's width, with the prefix `first` on the first line and
    /// `rest` on the others.
    pub(super) fn paragraph(self, text: &StyledText, first: &str, rest: &str) -> String {
        wrap(&self.line(text), self.style.columns(), first, rest)
    }

    /// Renders a string in a role.
    pub(super) fn words(self, role: TextRole, words: &str) -> String {
        self.line(&StyledText::of(role, words))
    }

    fn piece(self, piece: &TextPiece) -> String {
        let text = clean(&piece.text);
        let text = match piece.role {
            // Strings from the repository are not changed.
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

    /// Returns the URL of a link if the terminal supports hyperlinks. Rule names, which occur in
    /// nearly every line, are plain text without colours.
    pub(super) fn address(self, link: &TextLink) -> Option<String> {
        let is_shown = self.style.links
            && (self.style.color || !matches!(link, TextLink::Rule(_) | TextLink::Limits));
        if is_shown {
            self.report.address(link)
        } else {
            None
        }
    }
}

/// Replaces symbols that a terminal may lack in layercake's own text.
fn in_ascii(text: &str) -> String {
    const SIGNS: [(&str, &str); 5] = [
        ("×", "x"),
        ("…", "..."),
        ("–", "-"),
        ("·", "|"),
        ("→", "->"),
    ];
    SIGNS.iter().fold(text.to_owned(), |text, (sign, ascii)| {
        text.replace(sign, ascii)
    })
}

/// Paints each word separately, so that a line can be wrapped between words.
fn painted(text: &str, code: Option<&str>) -> String {
    let Some(code) = code else {
        return text.to_owned();
    };
    let words = text.split(' ').map(|word| match word {
        "" => String::new(),
        word => format!("\x1b[{code}m{word}\x1b[0m"),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the SGR parameters of a role.
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
        TextRole::Flag => Some("1"),
    }
}
