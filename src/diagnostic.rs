//! Findings as plain data: what is wrong, where, and what to do. Who found
//! them and how they are printed is not known here.

use std::sync::Arc;

use crate::source::{DocKey, Span};

/// What a rule is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Not reported.
    Off,
    /// Worth knowing.
    Note,
    /// Probably wrong.
    Warning,
    /// Wrong: fails the run.
    Error,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Probably wrong.
    Warning,
    /// Wrong: fails the run.
    Error,
}

impl Severity {
    /// The word reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// One rule: a kind of fault with a name and a page.
#[derive(Debug)]
pub struct Rule {
    /// The name, e.g. `missing-parent`.
    pub name: &'static str,
    /// What it finds, in one line.
    pub summary: &'static str,
    /// The page for users, in Markdown; its examples are tests.
    pub page: &'static str,
    /// The level where nothing else is configured.
    pub level: Level,
    /// Other names it answers to, such as Pegleg's codes.
    pub aliases: &'static [&'static str],
}

impl Rule {
    /// The severity of the rule's findings at its default level. A rule that
    /// is off has no findings.
    pub fn severity(&self) -> Severity {
        match self.level {
            Level::Error => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Note | Level::Off => Severity::Note,
        }
    }
}

/// A place that matters, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is to be seen there; short, lower case, no full stop.
    pub message: String,
}

impl Label {
    /// A label at `span`.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }
}

/// One finding.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The rule that found it.
    pub rule: &'static Rule,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one line that stands alone: lower case, no full
    /// stop, backticks round names.
    pub message: String,
    /// The line that wrote the fault.
    pub primary: Label,
    /// Where else to look.
    pub related: Vec<Label>,
    /// Why it matters.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Option<String>,
    /// The documents concerned, the faulty one first.
    pub documents: Vec<DocKey>,
    /// The sites in which it was found, sorted; empty for faults of a file
    /// that are not of any site, and for sets of files without layout.
    pub sites: Vec<Arc<str>>,
}

impl Diagnostic {
    /// A finding of `rule` at its default severity.
    pub fn new(rule: &'static Rule, message: impl Into<String>, primary: Label) -> Self {
        Self {
            rule,
            severity: rule.severity(),
            message: message.into(),
            primary,
            related: Vec::new(),
            notes: Vec::new(),
            help: None,
            documents: Vec::new(),
            sites: Vec::new(),
        }
    }

    /// The finding with one more place to look at.
    #[must_use]
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push(Label::new(span, message));
        self
    }

    /// The finding with one more reason.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The finding with what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The finding with one more document concerned.
    #[must_use]
    pub fn document(mut self, key: DocKey) -> Self {
        self.documents.push(key);
        self
    }
}
