//! Findings as JSON, with names that stay.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::lines::{Texts, one};
use crate::diagnostic::{Diagnostic, Fix, Label, Safety, Severity, Suppression};
use crate::edit::EditId;
use crate::report::View;
use crate::report::view::Decoded;
use crate::source::{DocKey, RepoPath, Span};
use crate::triage::{self, Findings, fingerprint};

/// All findings of a run without a comparison.
pub(super) fn of_one_side<'a>(
    findings: &'a Findings,
    texts: &Texts,
    view: &View<'a>,
) -> Vec<Finding> {
    let all = findings.diagnostics.iter().chain(&findings.suppressed);
    let mut told: Vec<Told<'a>> = all.map(|it| Told::new(it, None)).collect();
    if !findings.suppressed.is_empty() {
        told.sort_by_key(|told| told.order(view));
    }
    told.into_iter().map(|told| Finding::new(told, texts, view)).collect()
}

/// All findings of two sides: those of the head by place, whether new or not,
/// then those that are fixed.
pub(super) fn of_two_sides<'a>(
    compared: &'a triage::Compared,
    texts: &Texts,
    view: &View<'a>,
) -> Vec<Finding> {
    let followed: BTreeSet<Span> =
        compared.new.diagnostics.iter().filter_map(|it| it.because_of).collect();
    let roots = compared.new.diagnostics.iter().filter(|it| followed.contains(&it.primary.span));
    let roots: BTreeMap<Span, String> = roots
        .map(|it| (it.primary.span, fingerprint(it, view.place(it.primary.span).path)))
        .collect();
    let new = compared.new.diagnostics.iter().enumerate().map(|(at, it)| Told {
        causes: compared.causes.get(at).map_or(&[], Vec::as_slice),
        because_of: it.because_of.and_then(|place| roots.get(&place).cloned()),
        ..Told::new(it, Some(State::New))
    });
    let told = |findings: &'a Findings, state| {
        findings.diagnostics.iter().map(move |it| Told::new(it, Some(state)))
    };
    let suppressed = compared.suppressed.iter().map(|it| Told::new(it, None));
    let unchanged = told(&compared.unchanged, State::Unchanged);
    let mut head: Vec<Told<'a>> = new.chain(unchanged).chain(suppressed).collect();
    head.sort_by_key(|told| told.order(view));
    let all = head.into_iter().chain(told(&compared.fixed, State::Fixed));
    all.map(|told| Finding::new(told, texts, view)).collect()
}

/// The name of an edit in a report.
pub(super) fn edit_name(edit: EditId) -> String {
    format!("e{}", edit.index() + 1)
}

/// A finding, and what a comparison says of it.
struct Told<'a> {
    diagnostic: &'a Diagnostic,
    state: Option<State>,
    causes: &'a [EditId],
    /// Fingerprint of the finding that it follows from.
    because_of: Option<String>,
}

/// On which sides a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::report) enum State {
    New,
    Unchanged,
    Fixed,
}

impl<'a> Told<'a> {
    fn new(diagnostic: &'a Diagnostic, state: Option<State>) -> Self {
        Self { diagnostic, state, causes: &[], because_of: None }
    }

    /// The order of [`Findings`].
    fn order(&self, view: &View<'a>) -> (&'a RepoPath, [u32; 2], &'static str, &'a str, Span) {
        let (it, place) = (self.diagnostic, self.diagnostic.primary.span);
        let written = view.written(place);
        let path = view.source(written.file).path();
        (path, [written.start, place.start], it.rule.name, &it.message, place)
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::report) enum Level {
    Note,
    Warning,
    Error,
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

impl From<Level> for Severity {
    fn from(level: Level) -> Self {
        match level {
            Level::Note => Severity::Note,
            Level::Warning => Severity::Warning,
            Level::Error => Severity::Error,
        }
    }
}

impl Level {
    /// The word reports use.
    pub(in crate::report) fn as_str(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// One finding.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct Finding {
    pub(in crate::report) rule: String,
    pub(in crate::report) severity: Level,
    pub(in crate::report) state: Option<State>,
    pub(in crate::report) fingerprint: String,
    pub(in crate::report) message: String,
    pub(in crate::report) help: Option<String>,
    pub(in crate::report) notes: Vec<String>,
    pub(in crate::report) primary: LabelForm,
    pub(in crate::report) related: Vec<LabelForm>,
    pub(in crate::report) documents: Vec<DocumentName>,
    pub(in crate::report) sites: Vec<String>,
    pub(in crate::report) caused_by: Vec<String>,
    pub(in crate::report) suppressed: Option<SuppressionForm>,
    pub(in crate::report) fix: Option<FixForm>,
    /// Fingerprint of the finding that it follows from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::report) because_of: Option<String>,
    /// Number of findings: more than one if it represents those that are not listed, none if it
    /// follows from another one.
    #[serde(default = "one", skip_serializing_if = "is_one_or_none")]
    pub(in crate::report) count: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_one_or_none(count: &usize) -> bool {
    *count <= 1
}

impl Finding {
    /// Number of findings, including those that some of them represent.
    pub(in crate::report) fn total<'a>(findings: impl IntoIterator<Item = &'a Self>) -> usize {
        findings.into_iter().map(|finding| finding.count).sum()
    }
}

/// What says that a finding is not reported.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct SuppressionForm {
    pub(in crate::report) kind: String,
    pub(in crate::report) file: String,
    pub(in crate::report) line: usize,
    pub(in crate::report) reason: String,
}

/// Whether a fix can do harm.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::report) enum SafetyForm {
    #[default]
    Safe,
    Unsafe,
}

impl From<Safety> for SafetyForm {
    fn from(safety: Safety) -> Self {
        match safety {
            Safety::Safe => SafetyForm::Safe,
            Safety::Unsafe => SafetyForm::Unsafe,
        }
    }
}

impl From<SafetyForm> for Safety {
    fn from(safety: SafetyForm) -> Self {
        match safety {
            SafetyForm::Safe => Safety::Safe,
            SafetyForm::Unsafe => Safety::Unsafe,
        }
    }
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct FixForm {
    /// Safe where a report of an earlier version does not say it.
    #[serde(default)]
    pub(in crate::report) safety: SafetyForm,
    pub(in crate::report) message: String,
    pub(in crate::report) edits: Vec<EditForm>,
}

/// A stretch of a file, and what is to stand there.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct EditForm {
    pub(in crate::report) file: String,
    pub(in crate::report) line: usize,
    pub(in crate::report) column: usize,
    pub(in crate::report) end_line: usize,
    pub(in crate::report) end_column: usize,
    pub(in crate::report) text: String,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct LabelForm {
    pub(in crate::report) file: String,
    pub(in crate::report) line: usize,
    pub(in crate::report) column: usize,
    pub(in crate::report) end_line: usize,
    pub(in crate::report) end_column: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::report) decoded: Option<DecodedForm>,
    /// Whether it goes on over a secret that begins where it is said to end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::report) covers_hidden: bool,
    pub(in crate::report) label: String,
    /// The text that it stands in, among the `lines` of the report.
    #[serde(default)]
    pub(in crate::report) text: Option<String>,
}

/// A place in a text that stands encoded in the file.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct DecodedForm {
    pub(in crate::report) name: String,
    pub(in crate::report) line: usize,
    pub(in crate::report) column: usize,
    pub(in crate::report) end_line: usize,
    pub(in crate::report) end_column: usize,
}

/// A document by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub(in crate::report) struct DocumentName<T = String> {
    pub(in crate::report) schema: T,
    pub(in crate::report) layer: T,
    pub(in crate::report) name: T,
}

/// Fingerprints that are in one file once: findings that are alike in all that
/// a fingerprint is made of are numbered.
#[derive(Default)]
pub(in crate::report) struct Fingerprints<'a> {
    met: BTreeMap<&'a str, usize>,
}

impl<'a> Fingerprints<'a> {
    /// The fingerprint of the next finding.
    pub(in crate::report) fn next(&mut self, finding: &'a Finding) -> String {
        let met = self.met.entry(&finding.fingerprint).or_default();
        *met += 1;
        match *met {
            1 => finding.fingerprint.clone(),
            number => format!("{}-{number}", finding.fingerprint),
        }
    }
}

impl Finding {
    fn new(told: Told<'_>, texts: &Texts, view: &View<'_>) -> Self {
        let diagnostic = told.diagnostic;
        let label = |label| LabelForm::new(label, texts, view);
        Self {
            rule: diagnostic.rule.name.to_owned(),
            severity: diagnostic.severity.into(),
            state: told.state,
            fingerprint: fingerprint(diagnostic, view.place(diagnostic.primary.span).path),
            message: diagnostic.message.clone(),
            help: diagnostic.help.clone(),
            notes: diagnostic.notes.clone(),
            primary: label(&diagnostic.primary),
            related: diagnostic.related.iter().map(label).collect(),
            documents: diagnostic.documents.iter().map(DocumentName::new).collect(),
            sites: diagnostic.sites.iter().map(ToString::to_string).collect(),
            caused_by: told.causes.iter().map(|edit| edit_name(*edit)).collect(),
            suppressed: diagnostic.suppressed.as_ref().map(|it| SuppressionForm::new(it, view)),
            fix: diagnostic.fix.as_ref().and_then(|it| FixForm::new(it, view)),
            because_of: told.because_of,
            count: diagnostic.count,
        }
    }
}

impl LabelForm {
    fn new(label: &Label, texts: &Texts, view: &View<'_>) -> Self {
        let place = view.place(label.span);
        Self {
            file: place.path.as_str().to_owned(),
            line: place.line,
            column: place.column,
            end_line: place.end_line,
            end_column: place.end_column,
            decoded: place.decoded.map(DecodedForm::from),
            covers_hidden: place.covers_secret,
            label: label.message.clone(),
            text: texts.name_of(label.span.file),
        }
    }
}

impl From<Decoded<'_>> for DecodedForm {
    fn from(decoded: Decoded<'_>) -> Self {
        let Decoded { name, line, column, end_line, end_column } = decoded;
        Self { name: name.as_str().to_owned(), line, column, end_line, end_column }
    }
}

impl SuppressionForm {
    fn new(suppression: &Suppression, view: &View<'_>) -> Self {
        let place = view.place(suppression.at());
        Self {
            kind: suppression.as_str().to_owned(),
            file: place.path.as_str().to_owned(),
            line: place.line,
            reason: suppression.reason().to_owned(),
        }
    }
}

impl SuppressionForm {
    /// Whether the baseline says so, and no comment.
    pub(in crate::report) fn is_baseline(&self) -> bool {
        self.kind == "baseline"
    }
}

impl FixForm {
    /// None where it touches a secret, or stands behind one on its line: its place
    /// would tell of what is hidden, and another place is none to write to. Nor is
    /// there one of a text that no file has as it is.
    fn new(fix: &Fix, view: &View<'_>) -> Option<Self> {
        let edits = fix.edits.iter().map(|edit| {
            let place = view.place(edit.span);
            let may_be_told = place.decoded.is_none() && !view.shifts(edit.span);
            may_be_told.then(|| EditForm {
                file: place.path.as_str().to_owned(),
                line: place.line,
                column: place.column,
                end_line: place.end_line,
                end_column: place.end_column,
                text: edit.text.clone(),
            })
        });
        let edits = edits.collect::<Option<_>>()?;
        Some(Self { safety: fix.safety.into(), message: fix.message.clone(), edits })
    }
}

impl<'a, T: From<&'a str>> DocumentName<T> {
    pub(in crate::report) fn new(key: &'a DocKey) -> Self {
        Self { schema: T::from(&key.schema), layer: T::from(&key.layer), name: T::from(&key.name) }
    }
}
