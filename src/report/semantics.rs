//! Semantics used to render the documents of a report.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Selected semantics, and the origin of the selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct ChosenSemantics {
    /// The semantics.
    pub meaning: ReportedSemantics,
    /// Origin of the selection.
    pub chosen_by: ChosenBy,
}

/// Semantics of Deckhand documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[serde(expecting = "enum Meaning")]
pub enum ReportedSemantics {
    /// As specified by Deckhand's documentation.
    Documented,
    /// As implemented by Deckhand's code.
    Deckhand,
}

/// Origin of the selected semantics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChosenBy {
    /// `--semantics`.
    Flag,
    /// `semantics` in `layercake.yaml`.
    Configuration,
    /// The default.
    Default,
}

impl ReportedSemantics {
    /// Name in flags, configurations and reports.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            ReportedSemantics::Documented => "documented",
            ReportedSemantics::Deckhand => "deckhand",
        }
    }
}

impl ChosenBy {
    /// Name in reports.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            ChosenBy::Flag => "flag",
            ChosenBy::Configuration => "configuration",
            ChosenBy::Default => "default",
        }
    }
}

impl fmt::Display for ChosenSemantics {
    /// Formats both like headers of reports.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "semantics: {} ({})",
            self.meaning.as_str(),
            self.chosen_by.as_str()
        )
    }
}
