//! Findings as plain data: message, location and remedy. Does not know the rules or the reports.

use std::sync::Arc;

use crate::source::{DocKey, Span};

/// Level to which a rule is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Not reported.
    Off,
    /// Informational.
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
    /// Informational.
    Note,
    /// Probably wrong.
    Warning,
    /// Wrong: fails the run.
    Error,
}

impl Level {
    /// Name in reports and configurations.
    pub fn as_str(self) -> &'static str {
        match self.severity() {
            Some(severity) => severity.as_str(),
            None => "off",
        }
    }

    /// Severity of a finding at this level; `None` if the rule is off.
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
    /// Name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// Phrase in every finding for which Deckhand cannot render a site, whether its code raises an
/// error or crashes.
pub const REFUSED: &str = "Deckhand refuses the whole site";

/// A rule: a kind of defect with a name and a page.
#[derive(Debug)]
pub struct Rule {
    /// Name, e.g. `missing-parent`.
    pub name: &'static str,
    /// One-line summary of the defect.
    pub summary: &'static str,
    /// Rule page in Markdown; its examples are tests.
    pub page: &'static str,
    /// Default severity of its findings.
    pub severity: Severity,
    /// Special properties.
    pub traits: &'static [Trait],
    /// Alternative names, such as Pegleg's codes.
    pub aliases: &'static [&'static str],
}

/// A special property of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trait {
    /// Off by default; selected by name or by `strict`.
    Strict,
    /// Off by default; selected by name or by `all`.
    OptIn,
    /// `--fix` can fix some or all of its findings.
    Fixable,
    /// Some or all of its fixes are [unsafe](Safety::Unsafe).
    UnsafelyFixable,
    /// A finding in one site is reported only if it occurs in every site that contains the file: a
    /// document of `global/` is not unused because one site does not use it. So a run that does not
    /// read all sites cannot decide it, except in files of one site.
    Everywhere,
    /// Deckhand itself rejects all or some of its findings: see `Diagnostic::is_refused`.
    Refused,
    /// Its findings mean that something was not read, so that a comparison does not cover it.
    Unreadable,
    /// Its findings mean that one YAML document of a file was not read.
    UnreadDocument,
    /// Its findings mean that not all documents of a site are known: apparently absent documents
    /// may exist.
    UnknownDocuments,
    /// Its findings report an absence.
    Absence,
    /// Its findings report that a document, a relation or a file is not what it was meant to be, so
    /// others cannot find it.
    Cause,
    /// Its findings are always reported, regardless of configuration, selection and baseline.
    Always,
}

impl Rule {
    /// Whether the rule has this trait.
    pub fn is(&self, which: Trait) -> bool {
        self.traits.contains(&which)
    }

    /// Whether the rule is on by default.
    pub fn is_default(&self) -> bool {
        !self.is(Trait::Strict) && !self.is(Trait::OptIn)
    }

    /// Default level.
    pub(crate) fn level(&self) -> Level {
        if self.is_default() {
            self.severity.into()
        } else {
            Level::Off
        }
    }
}

/// A location with an explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Labelled location.
    pub span: Span,
    /// Text of the label: short, lower case, no full stop.
    pub message: String,
}

impl Label {
    /// Creates a label at `span`.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
        }
    }
}

/// An absent thing that can cause several findings of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Absent {
    /// Kind of the thing: a schema. Things of different kinds can have the same name.
    pub(crate) kind: String,
    /// Texts that a document with the thing contains: its name, its labels or a key.
    pub(crate) texts: Vec<String>,
    /// Problem as a headline: "`pod-scale-profile` is not there".
    pub(crate) message: String,
    /// Kind of dependent that needs it.
    pub(crate) needed_by: NeededBy,
}

/// Kind of dependent that needs an [`Absent`] thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NeededBy {
    /// A substitution needs its source.
    Substitution,
    /// A document needs its parent.
    Child,
    /// A value needs the document that it names.
    Reference,
    /// A site needs the folder of its type.
    Site,
}

impl Absent {
    /// Headline for `count` findings in `documents` documents; `count` is at least two.
    pub(crate) fn describe(&self, count: usize, documents: usize) -> String {
        let documents = match documents {
            1 => "1 document".to_owned(),
            _ => format!("{documents} documents"),
        };
        let need = match self.needed_by {
            NeededBy::Substitution => format!("{count} substitutions of {documents} need it"),
            NeededBy::Child => format!("{documents} select them"),
            NeededBy::Reference => format!("{count} values of {documents} name it"),
            NeededBy::Site => format!("{count} sites need it"),
        };
        format!("{}; {need}", self.message)
    }
}

/// A change of the sources that removes a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    pub(crate) safety: Safety,
    /// Effect in the imperative, e.g. "remove the second substitution".
    pub(crate) message: String,
    /// Spans to replace; they do not overlap.
    pub edits: Vec<TextEdit>,
}

/// Safety of a fix; a run applies fixes up to a given level.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Safety {
    /// Changes nothing but the defect.
    Safe,
    /// A guess, or depends on something that layercake cannot see, such as the version of Deckhand.
    Unsafe,
}

impl Safety {
    /// Flags of `lint` that apply a fix of this safety.
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
    /// Replaced span; empty for an insertion.
    pub span: Span,
    /// Replacement text.
    pub text: String,
}

/// Reason why a finding is not reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Suppression {
    /// An ignore comment.
    Comment {
        /// Span of the comment.
        at: Span,
        /// Reason given in the comment; may be empty.
        reason: String,
    },
    /// Accepted in the baseline.
    Baseline {
        /// Line of the baseline.
        at: Span,
    },
}

impl Suppression {
    /// Location of the comment or of the baseline entry.
    pub(crate) fn at(&self) -> Span {
        match self {
            Suppression::Comment { at, .. } | Suppression::Baseline { at } => *at,
        }
    }

    /// Given reason; may be empty.
    pub(crate) fn reason(&self) -> &str {
        match self {
            Suppression::Comment { reason, .. } => reason,
            Suppression::Baseline { .. } => "",
        }
    }

    /// Name in reports.
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Suppression::Comment { .. } => "comment",
            Suppression::Baseline { .. } => "baseline",
        }
    }
}

/// Primary location and rule of a finding that causes others.
pub(crate) type CauseKey = (Span, &'static str);

/// One finding.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Rule that reports the finding.
    pub rule: &'static Rule,
    /// Severity at this location.
    pub severity: Severity,
    /// Description of the defect in one self-contained line: lower case, no full stop, backticks
    /// around names.
    pub message: String,
    /// Source line that caused the defect.
    pub primary: Label,
    /// Related locations.
    pub related: Vec<Label>,
    /// Additional explanations.
    pub notes: Vec<String>,
    /// Remedy.
    pub help: Option<String>,
    /// Identity within the document or file: a path or a name, never a value. It distinguishes
    /// findings of one rule in one document when their lines move. Empty if no distinction is
    /// needed.
    pub(crate) subject: String,
    /// Absent thing that causes the finding, if known.
    pub(crate) absent: Option<Absent>,
    /// Change that removes the defect, if there is one; certainly unless it is unsafe.
    pub fix: Option<Fix>,
    /// Reason for not reporting the finding, if it is suppressed.
    pub(crate) suppressed: Option<Suppression>,
    /// Affected documents, the defective one first.
    pub documents: Vec<DocKey>,
    /// Sites with the finding, sorted; empty for defects of files outside all sites, and for sets
    /// of files without a layout.
    pub sites: Vec<Arc<str>>,
    /// For each of its sites, primary locations of findings about slips: without any one of these
    /// slips, this finding does not exist there. Empty if there is a site without such a slip.
    pub(crate) follows: Vec<Vec<Span>>,
    /// The finding that causes this one. It is listed wherever this one is.
    pub(crate) because_of: Option<CauseKey>,
    /// Number of findings: more than one if it represents findings that a report does not list,
    /// zero if it follows from another one.
    pub(crate) count: usize,
}

impl Rule {
    /// Creates a finding at `span` with the default severity. Line breaks in the message are escaped.
    pub(crate) fn finding(
        &'static self,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new(self, message, Label::new(span, label))
    }
}

impl Diagnostic {
    /// Whether Deckhand refuses the site because of this finding: whether a note says so, without a
    /// condition.
    pub(crate) fn is_refused(&self) -> bool {
        let mut phrases = self
            .notes
            .iter()
            .filter_map(|note| note.split_once(REFUSED));
        self.severity == Severity::Error && phrases.any(|(_, rest)| !rest.starts_with(" if "))
    }

    /// Key of the finding as the cause of others.
    pub(crate) fn cause(&self) -> CauseKey {
        (self.primary.span, self.rule.name)
    }

    /// Total number of findings, including represented ones.
    pub(crate) fn total<'a>(findings: impl IntoIterator<Item = &'a Self>) -> usize {
        findings.into_iter().map(|finding| finding.count).sum()
    }

    /// Creates a finding of `rule` with its default severity. Line breaks in the message are
    /// escaped.
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
            follows: Vec::new(),
            because_of: None,
            count: 1,
        }
    }

    /// Adds a related location.
    #[must_use]
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push(Label::new(span, message));
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Sets the remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the subject; see `Diagnostic::subject`.
    #[must_use]
    pub fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = subject.into();
        self
    }

    /// Sets the absent thing that causes the finding; see [`Absent`].
    #[must_use]
    pub(crate) fn absent(mut self, kind: &str, message: String, needed_by: NeededBy) -> Self {
        let kind = kind.to_owned();
        let message = one_line(message);
        self.absent = Some(Absent {
            kind,
            texts: Vec::new(),
            message,
            needed_by,
        });
        self
    }

    /// Sets the texts that a document with the absent thing contains.
    #[must_use]
    pub(crate) fn written_as(mut self, texts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        if let Some(absent) = &mut self.absent {
            absent.texts = texts.into_iter().map(Into::into).collect();
        }
        self
    }

    /// Sets a safe fix.
    #[must_use]
    pub fn fix(mut self, message: impl Into<String>, edits: Vec<TextEdit>) -> Self {
        self.fix = Some(Fix {
            safety: Safety::Safe,
            message: message.into(),
            edits,
        });
        self
    }

    /// Sets an [unsafe](Safety::Unsafe) fix.
    #[must_use]
    pub(crate) fn unsafe_fix(mut self, message: impl Into<String>, edits: Vec<TextEdit>) -> Self {
        self.fix = Some(Fix {
            safety: Safety::Unsafe,
            message: message.into(),
            edits,
        });
        self
    }

    /// Adds an affected document.
    #[must_use]
    pub fn document(mut self, key: impl Into<DocKey>) -> Self {
        self.documents.push(key.into());
        self
    }
}

fn one_line(text: String) -> String {
    if text.contains(['\n', '\r']) {
        return text.replace('\r', "\\r").replace('\n', "\\n");
    }
    text
}
