//! Signs that a terminal may lack, and what stands for them there.

use super::TerminalStyle;

/// The signs of a style.
pub(super) struct Signs {
    /// Between parts of a line.
    pub(super) between: &'static str,
    /// From one place to the next.
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
