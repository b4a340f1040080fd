//! Symbols with ASCII replacements.

use super::TerminalStyle;

/// Symbols of a terminal style.
pub(super) struct Signs {
    /// Separator of the parts of a line.
    pub(super) between: &'static str,
    /// Arrow from one place to the next.
    pub(super) arrow: &'static str,
    /// Ellipsis for truncated text.
    pub(super) dots: &'static str,
}

impl Signs {
    pub(super) const UNICODE: Self = Self {
        between: " · ",
        arrow: "→",
        dots: "…",
    };

    pub(super) fn of(style: &TerminalStyle) -> Self {
        if style.unicode {
            Self::UNICODE
        } else {
            Self {
                between: " | ",
                arrow: "->",
                dots: "...",
            }
        }
    }
}
