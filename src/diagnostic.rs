//! Findings as plain data: what is wrong, where, and what to do. Who found
//! them and how they are printed is not known here.

use std::sync::Arc;

use crate::source::{DocKey, Span};

/// Level to which a rule is set.
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

/// Severity of a finding.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Probably wrong.
    Warning,
    /// Wrong: fails the run.
    Error,
}

impl Level {
    /// The word reports and configurations use.
    pub fn as_str(self) -> &'static str {
        match self.severity() {
            Some(severity) => severity.as_str(),
            None => "off",
        }
    }

    /// Severity of a finding at this level; none where it is off.
    pub(crate) fn severity(self) -> Option<Severity> {
        match self {
            Level::Off => None,
            Level::Note => Some(Severity::Note),
            Level::Warning => Some(Severity::Warning),
            Level::Error => Some(Severity::Error),
        }
    }
}

impl From<Severity> for Level {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Note => Level::Note,
            Severity::Warning => Level::Warning,
            Severity::Error => Level::Error,
        }
    }
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
    /// Summary of its findings, in one line.
    pub summary: &'static str,
    /// The page for users, in Markdown; its examples are tests.
    pub page: &'static str,
    /// Severity of its findings where nothing else is configured.
    pub severity: Severity,
    /// Its traits.
    pub traits: &'static [Trait],
    /// Other names it answers to, such as Pegleg's codes.
    pub aliases: &'static [&'static str],
}

/// A special property of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trait {
    /// Off unless it is selected: by name, or as one of `strict`.
    Strict,
    /// Off unless it is selected by name, or with all rules.
    OptIn,
    /// `--fix` can fix its findings, or some of them.
    Fixable,
    /// The fixes of its findings, or of some of them, are [unsafe](Safety::Unsafe).
    UnsafelyFixable,
    /// A finding in one site counts only if it is found in every site that has the file: a document
    /// of `global/` is not unused because one site does not use it.
    Everywhere,
    /// Deckhand itself refuses what it finds.
    Refused,
    /// Its findings mean that something was not read, so that a comparison knows nothing of it.
    Unreadable,
    /// Documents of its sites are not known: what seems absent may be among them.
    UnknownDocuments,
    /// It finds that something is absent.
    Absence,
    /// Its findings are reported whatever is configured, selected, asked for or was accepted
    /// before.
    Always,
}

impl Rule {
    /// Whether the rule has this trait.
    pub fn is(&self, which: Trait) -> bool {
        self.traits.contains(&which)
    }

    /// Whether it is on where nothing is configured.
    pub fn is_default(&self) -> bool {
        !self.is(Trait::Strict) && !self.is(Trait::OptIn)
    }

    /// The level where nothing else is configured.
    pub(crate) fn level(&self) -> Level {
        if self.is_default() { self.severity.into() } else { Level::Off }
    }
}

/// A place that matters, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// Text of the label; short, lower case, no full stop.
    pub message: String,
}

impl Label {
    /// A label at `span`.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }
}

/// Something that is not there, from which several findings of a rule can follow.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Absent {
    /// Kind of the thing: a schema. Things of two kinds can have one name.
    pub(crate) kind: String,
    /// The fault, as a headline: "`pod-scale-profile` is not there".
    pub(crate) message: String,
    /// Text that says what needs it, in each finding.
    pub(crate) needed_by: NeededBy,
}

/// The part of a repository that needs an [`Absent`] thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NeededBy {
    /// A substitution, as its source.
    Substitution,
    /// A document, as its parent.
    Child,
    /// A value that names a document.
    Reference,
}

impl Absent {
    /// The headline of `count` findings in `documents` documents; at least two findings.
    pub(crate) fn describe(&self, count: usize, documents: usize) -> String {
        let documents = match documents {
            1 => "1 document".to_owned(),
            _ => format!("{documents} documents"),
        };
        let need = match self.needed_by {
            NeededBy::Substitution => format!("{count} substitutions of {documents} need it"),
            NeededBy::Child => format!("{documents} select them"),
            NeededBy::Reference => format!("{count} values of {documents} name it"),
        };
        format!("{}; {need}", self.message)
    }
}

/// A change of texts that removes a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Whether it can do harm.
    pub(crate) safety: Safety,
    /// Its effect, in the imperative, e.g. "remove the second substitution".
    pub(crate) message: String,
    /// The stretches to replace; they do not overlap.
    pub edits: Vec<TextEdit>,
}

/// Whether a fix can do harm; a run applies fixes up to one of these.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Safety {
    /// It changes nothing but the fault.
    Safe,
    /// It needs something that layercake cannot see, such as a version of Deckhand.
    Unsafe,
}

impl Safety {
    /// The flags of `lint` that apply such a fix.
    pub(crate) fn flags(self) -> &'static str {
        match self {
            Safety::Safe => "--fix",
            Safety::Unsafe => "--fix --unsafe-fixes",
        }
    }
}

/// A span of text and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// The stretch; a point where text is put in.
    pub span: Span,
    /// The replacement.
    pub text: String,
}

/// Reason why a finding is not reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Suppression {
    /// A comment says so.
    Comment {
        /// The comment.
        at: Span,
        /// The reason it gives; empty where it gives none.
        reason: String,
    },
    /// It was accepted before: the baseline has it.
    Baseline {
        /// Its line of the baseline.
        at: Span,
    },
}

impl Suppression {
    /// Place of the comment or of the line of the baseline.
    pub(crate) fn at(&self) -> Span {
        match self {
            Suppression::Comment { at, .. } | Suppression::Baseline { at } => *at,
        }
    }

    /// The reason that is given; empty where none is.
    pub(crate) fn reason(&self) -> &str {
        match self {
            Suppression::Comment { reason, .. } => reason,
            Suppression::Baseline { .. } => "",
        }
    }

    /// The word reports use.
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Suppression::Comment { .. } => "comment",
            Suppression::Baseline { .. } => "baseline",
        }
    }
}

/// One finding.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The rule that found it.
    pub rule: &'static Rule,
    /// Its severity.
    pub severity: Severity,
    /// The fault, in one line that can be read alone: lower case, no full stop, backticks round
    /// names.
    pub message: String,
    /// The line that wrote the fault.
    pub primary: Label,
    /// Where else to look.
    pub related: Vec<Label>,
    /// Notes on its importance.
    pub notes: Vec<String>,
    /// The remedy.
    pub help: Option<String>,
    /// Subject in the faulty document or file: a path, a name; never a value. It distinguishes
    /// findings of one rule in one document although their lines move. Empty where there is nothing
    /// to distinguish.
    pub(crate) subject: String,
    /// The absent thing that it follows from, if it is known.
    pub(crate) absent: Option<Absent>,
    /// Change that certainly removes the fault, if there is one.
    pub fix: Option<Fix>,
    /// Reason why it is not reported, if it is not.
    pub(crate) suppressed: Option<Suppression>,
    /// The documents concerned, the faulty one first.
    pub documents: Vec<DocKey>,
    /// The sites in which it was found, sorted; empty for faults of a file
    /// that are not of any site, and for sets of files without layout.
    pub sites: Vec<Arc<str>>,
    /// The primary place of the finding that this one follows from. It is listed where each
    /// finding is.
    pub(crate) because_of: Option<Span>,
    /// Number of findings: more than one if it represents those that a report does not list, none
    /// if it follows from another one.
    pub(crate) count: usize,
}

impl Diagnostic {
    /// Number of findings, including those that some of them represent.
    pub(crate) fn total<'a>(findings: impl IntoIterator<Item = &'a Self>) -> usize {
        findings.into_iter().map(|finding| finding.count).sum()
    }

    /// A finding of `rule` at its default severity. Line breaks of what the
    /// message quotes are escaped.
    pub fn new(rule: &'static Rule, message: impl Into<String>, primary: Label) -> Self {
        Self {
            rule,
            severity: rule.severity,
            message: one_line(message.into()),
            primary,
            related: Vec::new(),
            notes: Vec::new(),
            help: None,
            subject: String::new(),
            absent: None,
            fix: None,
            suppressed: None,
            documents: Vec::new(),
            sites: Vec::new(),
            because_of: None,
            count: 1,
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

    /// The finding with what it is about; see `Diagnostic::subject`.
    #[must_use]
    pub fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = subject.into();
        self
    }

    /// The finding with what it follows from; see [`Absent`].
    #[must_use]
    pub(crate) fn absent(mut self, kind: &str, message: String, needed_by: NeededBy) -> Self {
        let (kind, message) = (kind.to_owned(), one_line(message));
        self.absent = Some(Absent { kind, message, needed_by });
        self
    }

    /// The finding with a fix.
    #[must_use]
    pub fn fix(mut self, message: impl Into<String>, edits: Vec<TextEdit>) -> Self {
        self.fix = Some(Fix { safety: Safety::Safe, message: message.into(), edits });
        self
    }

    /// The finding with an [unsafe](Safety::Unsafe) fix.
    #[must_use]
    pub(crate) fn unsafe_fix(mut self, message: impl Into<String>, edits: Vec<TextEdit>) -> Self {
        self.fix = Some(Fix { safety: Safety::Unsafe, message: message.into(), edits });
        self
    }

    /// The finding with one more document concerned.
    #[must_use]
    pub fn document(mut self, key: DocKey) -> Self {
        self.documents.push(key);
        self
    }
}

fn one_line(text: String) -> String {
    if text.contains(['\n', '\r']) {
        return text.replace('\r', "\\r").replace('\n', "\\n");
    }
    text
}
