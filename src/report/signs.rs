//! Signs that a terminal may lack, and their replacements.

use super::TerminalStyle;

/// The signs of a style.
pub(super) struct Signs {
    /// Between parts of a line.
    pub(super) between: &'static str,
    /// Between one place and the next.
    pub(super) arrow: &'static str,
    /// Where text was cut.
    pub(super) dots: &'static str,
}

impl Signs {
    pub(super) fn of(style: &TerminalStyle) -> Self {
        if style.unicode {
            Self { between: " · ", arrow: "→", dots: "…" }
        } else {
            Self { between: " | ", arrow: "->", dots: "..." }
        }
    }
}
