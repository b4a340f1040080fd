//! The meaning in which the documents of a report were rendered.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One of the two meanings, and what chose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct ChosenSemantics {
    /// The meaning.
    pub meaning: ReportedSemantics,
    /// The reason for the choice.
    pub chosen_by: ChosenBy,
}

/// A meaning of Deckhand's documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[serde(expecting = "enum Meaning")]
pub enum ReportedSemantics {
    /// The meaning of Deckhand's documentation.
    Documented,
    /// The meaning of Deckhand's code.
    Deckhand,
}

/// A reason to choose one of the two meanings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChosenBy {
    /// `--semantics`.
    Flag,
    /// `semantics` in `layercake.yaml`.
    Configuration,
    /// Neither of them.
    Default,
}

impl ReportedSemantics {
    /// The word of flags, configurations and reports.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            ReportedSemantics::Documented => "documented",
            ReportedSemantics::Deckhand => "deckhand",
        }
    }
}

impl ChosenBy {
    /// The word of reports.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            ChosenBy::Flag => "flag",
            ChosenBy::Configuration => "configuration",
            ChosenBy::Default => "default",
        }
    }
}

impl fmt::Display for ChosenSemantics {
    /// Both in the form in which headers of reports name them.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "semantics: {} ({})", self.meaning.as_str(), self.chosen_by.as_str())
    }
}
