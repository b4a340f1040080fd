//! Findings as JSON, with names that stay.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::diagnostic::{Diagnostic, Label};
use crate::edit::EditId;
use crate::report::View;
use crate::source::{DocKey, RepoPath, Span};
use crate::triage::{self, Findings};

/// All findings of a run without a comparison.
pub(super) fn of_one_side<'a>(findings: &'a Findings, view: &View<'a>) -> Vec<Finding<'a>> {
    let mut fingerprints = Fingerprints::default();
    let told = findings.diagnostics.iter().map(|it| Told::new(it, None));
    told.map(|told| Finding::new(told, view, &mut fingerprints)).collect()
}

/// All findings of two sides: those of the head by place, whether new or not,
/// so that their fingerprints are those of a run on the head alone; then
/// those that are fixed.
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
    let mut head: Vec<Told<'a>> = new.chain(told(&compared.unchanged, State::Unchanged)).collect();
    head.sort_by_key(|told| told.order(view));
    let all = head.into_iter().chain(told(&compared.fixed, State::Fixed));
    let mut fingerprints = Fingerprints::default();
    all.map(|told| Finding::new(told, view, &mut fingerprints)).collect()
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
    fn order(&self, view: &View<'a>) -> (&'a RepoPath, u32, &'static str, &'a str, Span) {
        let (it, place) = (self.diagnostic, self.diagnostic.primary.span);
        let path = view.source(place.file).path();
        (path, place.start, it.rule.name, &it.message, place)
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
    suppressed: Option<()>,
    fix: Option<()>,
}

#[derive(Serialize)]
struct LabelForm<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    label: &'a str,
}

/// A document by its name.
#[derive(Serialize)]
pub(in crate::report) struct DocumentName<'a> {
    schema: &'a str,
    layer: &'a str,
    name: &'a str,
}

impl<'a> Finding<'a> {
    fn new(told: Told<'a>, view: &View<'a>, fingerprints: &mut Fingerprints<'a>) -> Self {
        let diagnostic = told.diagnostic;
        let primary = LabelForm::new(&diagnostic.primary, view);
        Self {
            rule: diagnostic.rule.name,
            severity: diagnostic.severity.as_str(),
            state: told.state.map(State::as_str),
            fingerprint: fingerprints.of(diagnostic, primary.file),
            message: &diagnostic.message,
            help: diagnostic.help.as_deref(),
            notes: &diagnostic.notes,
            primary,
            related: diagnostic.related.iter().map(|it| LabelForm::new(it, view)).collect(),
            documents: diagnostic.documents.iter().map(DocumentName::new).collect(),
            sites: diagnostic.sites.iter().map(|site| &**site).collect(),
            caused_by: told.causes.iter().map(|edit| edit_name(*edit)).collect(),
            suppressed: None,
            fix: None,
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
            label: &label.message,
        }
    }
}

impl<'a> DocumentName<'a> {
    pub(in crate::report) fn new(key: &'a DocKey) -> Self {
        Self { schema: &key.schema, layer: &key.layer, name: &key.name }
    }
}

/// Names for findings that stay when lines move and values change.
///
/// A fingerprint is made of the rule, the file, the document, and the number
/// of the finding among those that are equal in all of these, in their order.
/// No line, no message and no value is in it: a message quotes values, some
/// of which may be guessed from their hash.
#[derive(Default)]
struct Fingerprints<'a> {
    met: BTreeMap<Identity<'a>, u64>,
}

/// Rule, file, and the faulty document.
type Identity<'a> = (&'static str, &'a str, Option<&'a DocKey>);

impl<'a> Fingerprints<'a> {
    fn of(&mut self, diagnostic: &'a Diagnostic, file: &'a str) -> String {
        let document = diagnostic.documents.first();
        let identity = (diagnostic.rule.name, file, document);
        let occurrence = self.met.entry(identity).or_default();
        *occurrence += 1;
        let mut hash = Fnv::new();
        hash.add(diagnostic.rule.name.as_bytes());
        hash.add(file.as_bytes());
        if let Some(key) = document {
            hash.add(key.schema.as_bytes());
            hash.add(key.layer.as_bytes());
            hash.add(key.name.as_bytes());
        }
        hash.add(&occurrence.to_le_bytes());
        format!("{:032x}", hash.0)
    }
}

/// FNV-1a with 128 bits: the same on every machine and in every version,
/// which the hashes of the standard library are not.
struct Fnv(u128);

impl Fnv {
    fn new() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    /// Adds a part and its length, so that parts cannot run into each other.
    fn add(&mut self, part: &[u8]) {
        const PRIME: u128 = 0x0100_0000_0000_0000_0000_013b;
        let length = (part.len() as u64).to_le_bytes();
        for byte in part.iter().chain(&length) {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(PRIME);
        }
    }
}
