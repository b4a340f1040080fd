//! Findings as JSON, with names that stay.

use serde::Serialize;

use crate::diagnostic::{Diagnostic, Fix, Label, Suppression};
use crate::edit::EditId;
use crate::report::View;
use crate::report::view::Decoded;
use crate::source::{DocKey, RepoPath, Span};
use crate::triage::{self, Findings, fingerprint};

/// All findings of a run without a comparison.
pub(super) fn of_one_side<'a>(findings: &'a Findings, view: &View<'a>) -> Vec<Finding<'a>> {
    let all = findings.diagnostics.iter().chain(&findings.suppressed);
    let mut told: Vec<Told<'a>> = all.map(|it| Told::new(it, None)).collect();
    if !findings.suppressed.is_empty() {
        told.sort_by_key(|told| told.order(view));
    }
    told.into_iter().map(|told| Finding::new(told, view)).collect()
}

/// All findings of two sides: those of the head by place, whether new or not,
/// then those that are fixed.
pub(super) fn of_two_sides<'a>(
    compared: &'a triage::Compared,
    view: &View<'a>,
) -> Vec<Finding<'a>> {
    let new = compared.new.diagnostics.iter().enumerate().map(|(at, it)| Told {
        causes: compared.causes.get(at).map_or(&[], Vec::as_slice),
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
    all.map(|told| Finding::new(told, view)).collect()
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
}

/// On which sides a finding is.
#[derive(Clone, Copy)]
enum State {
    New,
    Unchanged,
    Fixed,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            State::New => "new",
            State::Unchanged => "unchanged",
            State::Fixed => "fixed",
        }
    }
}

impl<'a> Told<'a> {
    fn new(diagnostic: &'a Diagnostic, state: Option<State>) -> Self {
        Self { diagnostic, state, causes: &[] }
    }

    /// The order of [`Findings`].
    fn order(&self, view: &View<'a>) -> (&'a RepoPath, [u32; 2], &'static str, &'a str, Span) {
        let (it, place) = (self.diagnostic, self.diagnostic.primary.span);
        let written = view.written(place);
        let path = view.source(written.file).path();
        (path, [written.start, place.start], it.rule.name, &it.message, place)
    }
}

#[derive(Serialize)]
pub(super) struct Finding<'a> {
    rule: &'static str,
    severity: &'static str,
    state: Option<&'static str>,
    fingerprint: String,
    message: &'a str,
    help: Option<&'a str>,
    notes: &'a [String],
    primary: LabelForm<'a>,
    related: Vec<LabelForm<'a>>,
    documents: Vec<DocumentName<'a>>,
    sites: Vec<&'a str>,
    caused_by: Vec<String>,
    suppressed: Option<SuppressionForm<'a>>,
    fix: Option<FixForm<'a>>,
}

/// What says that a finding is not reported.
#[derive(Serialize)]
struct SuppressionForm<'a> {
    kind: &'static str,
    file: &'a str,
    line: usize,
    reason: &'a str,
}

#[derive(Serialize)]
struct FixForm<'a> {
    message: &'a str,
    edits: Vec<EditForm<'a>>,
}

/// A stretch of a file, and what is to stand there.
#[derive(Serialize)]
struct EditForm<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    text: &'a str,
}

#[derive(Serialize)]
struct LabelForm<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    decoded: Option<DecodedForm<'a>>,
    label: &'a str,
}

/// A place in a text that stands encoded in the file.
#[derive(Serialize)]
struct DecodedForm<'a> {
    name: &'a str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

/// A document by its name.
#[derive(Serialize)]
pub(in crate::report) struct DocumentName<'a> {
    schema: &'a str,
    layer: &'a str,
    name: &'a str,
}

impl<'a> Finding<'a> {
    fn new(told: Told<'a>, view: &View<'a>) -> Self {
        let diagnostic = told.diagnostic;
        let primary = LabelForm::new(&diagnostic.primary, view);
        Self {
            rule: diagnostic.rule.name,
            severity: diagnostic.severity.as_str(),
            state: told.state.map(State::as_str),
            fingerprint: fingerprint(diagnostic, view.place(diagnostic.primary.span).path),
            message: &diagnostic.message,
            help: diagnostic.help.as_deref(),
            notes: &diagnostic.notes,
            primary,
            related: diagnostic.related.iter().map(|it| LabelForm::new(it, view)).collect(),
            documents: diagnostic.documents.iter().map(DocumentName::new).collect(),
            sites: diagnostic.sites.iter().map(|site| &**site).collect(),
            caused_by: told.causes.iter().map(|edit| edit_name(*edit)).collect(),
            suppressed: diagnostic.suppressed.as_ref().map(|it| SuppressionForm::new(it, view)),
            fix: diagnostic.fix.as_ref().and_then(|it| FixForm::new(it, view)),
        }
    }
}

impl<'a> LabelForm<'a> {
    fn new(label: &'a Label, view: &View<'a>) -> Self {
        let place = view.place(label.span);
        Self {
            file: place.path.as_str(),
            line: place.line,
            column: place.column,
            end_line: place.end_line,
            end_column: place.end_column,
            decoded: place.decoded.map(DecodedForm::from),
            label: &label.message,
        }
    }
}

impl<'a> From<Decoded<'a>> for DecodedForm<'a> {
    fn from(decoded: Decoded<'a>) -> Self {
        let Decoded { name, line, column, end_line, end_column } = decoded;
        Self { name: name.as_str(), line, column, end_line, end_column }
    }
}

impl<'a> SuppressionForm<'a> {
    fn new(suppression: &'a Suppression, view: &View<'a>) -> Self {
        let place = view.place(suppression.at());
        Self {
            kind: suppression.as_str(),
            file: place.path.as_str(),
            line: place.line,
            reason: suppression.reason(),
        }
    }
}

impl<'a> FixForm<'a> {
    /// None where it touches a secret: its place would tell of what is hidden.
    /// Nor is there one of a text that no file has as it is.
    fn new(fix: &'a Fix, view: &View<'a>) -> Option<Self> {
        let edits = fix.edits.iter().map(|edit| {
            let place = view.place(edit.span);
            let may_be_told = place.decoded.is_none() && !view.touches_secret(edit.span);
            may_be_told.then(|| EditForm {
                file: place.path.as_str(),
                line: place.line,
                column: place.column,
                end_line: place.end_line,
                end_column: place.end_column,
                text: &edit.text,
            })
        });
        Some(Self { message: &fix.message, edits: edits.collect::<Option<_>>()? })
    }
}

impl<'a> DocumentName<'a> {
    pub(in crate::report) fn new(key: &'a DocKey) -> Self {
        Self { schema: &key.schema, layer: &key.layer, name: &key.name }
    }
}
