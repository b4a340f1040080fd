//! When a change of a line would take effect, for humans.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::deployment::{Action, Class};
use crate::report::{TerminalStyle, counted, wrap};

/// A consequence of a changed value, and the smallest action of Shipyard that brings it to a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LineEffect {
    pub(crate) class: Class,
    pub(crate) action: Action,
}

/// Writes effects with the numbers of outputs in all sites; nothing without an effect.
///
/// # Errors
/// Fails if writing to `out` fails.
pub(crate) fn write(
    effects: &BTreeMap<LineEffect, usize>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    if effects.is_empty() {
        return Ok(());
    }
    writeln!(out, "\ntakes effect")?;
    for (LineEffect { class, action }, outputs) in effects {
        let by = match action {
            Action::None => "by no action".to_owned(),
            action => format!("by {}", action.as_str()),
        };
        let line = format!(
            "{by}: {} ({})",
            class.meaning(),
            counted(*outputs, "output")
        );
        writeln!(out, "{}", wrap(&line, style.columns(), "  ", "    "))?;
    }
    Ok(())
}
