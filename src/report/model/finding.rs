//! Findings in a report.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::id::{EditRef, SetRef};
use super::is_default;
use super::lines::LineCollector;
use super::place::LabelledPlace;
use super::sites::SiteSets;
use crate::diagnostic::{CauseKey, Diagnostic, Fix, Label, Safety, Severity, Suppression, Trait};
use crate::edit::EditId;
use crate::report::View;
use crate::source::{DocKey, RepoPath, Span};
use crate::triage::{self, Findings, fingerprint};

/// A finding.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Finding {
    /// Name of the rule.
    pub(crate) rule: String,
    pub(crate) severity: Severity,
    /// Sides with this finding; `None` without a comparison.
    pub(crate) state: Option<State>,
    /// Whether Deckhand would reject the document.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) refused: bool,
    /// Whether others may be its consequences: an error of a [cause](Trait::Cause).
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) is_cause: bool,
    /// Identifier that stays the same when lines move and values change.
    pub(crate) fingerprint: String,
    pub(crate) message: String,
    /// Suggested fix, as text.
    pub(crate) help: Option<String>,
    pub(crate) notes: Vec<String>,
    /// Main location of the finding.
    pub(crate) primary: LabelledPlace,
    /// Other relevant locations.
    pub(crate) related: Vec<LabelledPlace>,
    /// Documents concerned, the faulty one first.
    pub(crate) documents: Vec<DocKey>,
    /// Sites with this finding; `None` for a file that belongs to no site.
    pub(crate) sites: Option<SetRef>,
    pub(crate) caused_by: Vec<EditRef>,
    /// Suppression of the finding, if any.
    pub(crate) suppressed: Option<SuppressedBy>,
    /// Change of the files that fixes the finding.
    pub fix: Option<TextFix>,
    /// Fingerprint of the finding that is the root cause of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) because_of: Option<String>,
    /// Number of findings represented by this entry; 0 if it follows from another finding.
    pub count: usize,
}

/// Sides that have a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// On the head side only.
    New,
    /// On both sides.
    Unchanged,
    /// On the base side only.
    Fixed,
}

/// The ignore comment or baseline entry that suppresses a finding.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct SuppressedBy {
    pub(crate) kind: SuppressionKind,
    pub(crate) file: String,
    pub(crate) line: usize,
    /// Stated reason; empty if there is none.
    pub(crate) reason: String,
}

/// Kind of a suppression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SuppressionKind {
    Comment,
    Baseline,
}

/// A change of files that fixes a finding.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct TextFix {
    pub(crate) safety: Safety,
    /// Description of the change.
    pub(crate) message: String,
    /// Replacements, which do not overlap.
    pub(crate) edits: Vec<TextReplacement>,
}

/// A range of a file and its replacement.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "struct Replacement")]
pub(crate) struct TextReplacement {
    pub(crate) file: String,
    /// First line.
    pub(crate) line: usize,
    /// Column of the start.
    pub(crate) column: usize,
    /// Last line.
    pub(crate) end_line: usize,
    /// Column after the end.
    pub(crate) end_column: usize,
    /// Replacement text.
    pub(crate) text: String,
}

impl Finding {
    /// Returns the number of findings, including those that entries represent.
    pub(crate) fn total<'a>(findings: impl IntoIterator<Item = &'a Self>) -> usize {
        findings.into_iter().map(|finding| finding.count).sum()
    }

    /// Whether the finding is on the head side and not suppressed.
    pub(crate) fn is_open(&self) -> bool {
        self.suppressed.is_none() && self.state != Some(State::Fixed)
    }

    /// Whether the finding is open and not on the base side.
    pub fn is_new(&self) -> bool {
        self.is_open() && self.state != Some(State::Unchanged)
    }

    /// Whether `--fix` removes the finding.
    pub(crate) fn has_safe_fix(&self) -> bool {
        self.fix
            .as_ref()
            .is_some_and(|fix| fix.safety == Safety::Safe)
    }
}

/// A finding of a run with its comparison result.
pub(super) struct ComparedFinding<'a> {
    pub(super) diagnostic: &'a Diagnostic,
    pub(super) state: Option<State>,
    causes: &'a [EditId],
}

impl<'a> ComparedFinding<'a> {
    fn new(diagnostic: &'a Diagnostic, state: Option<State>) -> Self {
        Self {
            diagnostic,
            state,
            causes: &[],
        }
    }

    /// Returns the findings of a run without a comparison, by place.
    pub(super) fn on_one_side(findings: &'a Findings, view: &View<'a>) -> Vec<Self> {
        let all = findings.diagnostics.iter().chain(&findings.suppressed);
        let mut found: Vec<Self> = all.map(|it| Self::new(it, None)).collect();
        if !findings.suppressed.is_empty() {
            found.sort_by_key(|it| it.order(view));
        }
        found
    }

    /// Returns the findings of two sides: those of the head by place, then the fixed ones.
    pub(super) fn on_two_sides(
        compared: &'a triage::ComparedFindings,
        view: &View<'a>,
    ) -> Vec<Self> {
        let triage::ComparedFindings {
            new,
            causes,
            unchanged,
            fixed,
            suppressed,
            ..
        } = compared;
        let new = new
            .diagnostics
            .iter()
            .enumerate()
            .map(|(at, finding)| Self {
                causes: causes.get(at).map_or(&[], Vec::as_slice),
                ..Self::new(finding, Some(State::New))
            });
        let unchanged = unchanged
            .diagnostics
            .iter()
            .map(|it| Self::new(it, Some(State::Unchanged)));
        let suppressed = suppressed.iter().map(|it| Self::new(it, None));
        let mut head: Vec<Self> = new.chain(unchanged).chain(suppressed).collect();
        head.sort_by_key(|it| it.order(view));
        let fixed = fixed
            .diagnostics
            .iter()
            .map(|it| Self::new(it, Some(State::Fixed)));
        head.into_iter().chain(fixed).collect()
    }

    /// Returns the sort key of [`Findings`].
    fn order(&self, view: &View<'a>) -> (&'a RepoPath, [u32; 2], &'static str, &'a str, Span) {
        let diagnostic = self.diagnostic;
        let place = diagnostic.primary.span;
        let written = view.written(place);
        let path = view.source(written.file).path();
        (
            path,
            [written.start, place.start],
            diagnostic.rule.name,
            &diagnostic.message,
            place,
        )
    }
}

/// Converts the findings of a run for a report.
pub(super) fn findings(
    found: &[ComparedFinding<'_>],
    texts: &LineCollector,
    sets: &mut SiteSets,
    view: &View<'_>,
) -> Vec<Finding> {
    let followed: BTreeSet<CauseKey> = found
        .iter()
        .filter_map(|it| it.diagnostic.because_of)
        .collect();
    let roots: BTreeMap<CauseKey, String> = found
        .iter()
        .map(|it| it.diagnostic)
        .filter(|it| it.because_of.is_none() && followed.contains(&it.cause()))
        .map(|root| {
            (
                root.cause(),
                fingerprint(root, view.place(root.primary.span).path),
            )
        })
        .collect();
    found
        .iter()
        .map(|found| Finding {
            because_of: found
                .diagnostic
                .because_of
                .and_then(|cause| roots.get(&cause).cloned()),
            ..Finding::new(found, texts, sets, view)
        })
        .collect()
}

impl Finding {
    fn new(
        found: &ComparedFinding<'_>,
        texts: &LineCollector,
        sets: &mut SiteSets,
        view: &View<'_>,
    ) -> Self {
        let diagnostic = found.diagnostic;
        let label = |label: &Label| {
            let text = texts.name_of(label.span.file);
            LabelledPlace::new(label.span, &label.message, text, view)
        };
        Self {
            rule: diagnostic.rule.name.to_owned(),
            severity: diagnostic.severity,
            state: found.state,
            refused: diagnostic.is_refused(),
            is_cause: diagnostic.severity == Severity::Error && diagnostic.rule.is(Trait::Cause),
            fingerprint: fingerprint(diagnostic, view.place(diagnostic.primary.span).path),
            message: diagnostic.message.clone(),
            help: diagnostic.help.clone(),
            notes: diagnostic.notes.clone(),
            primary: label(&diagnostic.primary),
            related: diagnostic.related.iter().map(label).collect(),
            documents: diagnostic.documents.clone(),
            sites: (!diagnostic.sites.is_empty())
                .then(|| sets.set_of(diagnostic.sites.iter().map(Some))),
            caused_by: found
                .causes
                .iter()
                .map(|edit| EditRef::at(edit.index()))
                .collect(),
            suppressed: diagnostic
                .suppressed
                .as_ref()
                .map(|suppression| SuppressedBy::new(suppression, view)),
            fix: diagnostic
                .fix
                .as_ref()
                .and_then(|fix| TextFix::new(fix, view)),
            because_of: None,
            count: diagnostic.count,
        }
    }
}

impl SuppressedBy {
    fn new(suppression: &Suppression, view: &View<'_>) -> Self {
        let place = view.place(suppression.at());
        Self {
            kind: match suppression {
                Suppression::Comment { .. } => SuppressionKind::Comment,
                Suppression::Baseline { .. } => SuppressionKind::Baseline,
            },
            file: place.path.as_str().to_owned(),
            line: place.line,
            reason: suppression.reason().to_owned(),
        }
    }
}

impl TextFix {
    /// Returns `None` for a fix that touches a secret or follows one on its line, since its columns
    /// would reveal the secret's length, and for a fix of encoded content.
    fn new(fix: &Fix, view: &View<'_>) -> Option<Self> {
        let edits = fix
            .edits
            .iter()
            .map(|edit| {
                let place = view.place(edit.span);
                let is_exact = place.decoded.is_none() && !view.shifts(edit.span);
                is_exact.then(|| TextReplacement {
                    file: place.path.as_str().to_owned(),
                    line: place.line,
                    column: place.column,
                    end_line: place.end_line,
                    end_column: place.end_column,
                    text: edit.text.clone(),
                })
            })
            .collect::<Option<_>>()?;
        Some(Self {
            safety: fix.safety,
            message: fix.message.clone(),
            edits,
        })
    }
}

/// Unique fingerprints of a file: equal ones get a numeric suffix.
#[derive(Default)]
pub(crate) struct Fingerprints<'a> {
    seen: HashMap<&'a str, usize>,
}

impl<'a> Fingerprints<'a> {
    /// Returns the unique fingerprint of the next finding.
    pub(crate) fn next(&mut self, finding: &'a Finding) -> String {
        let seen = self.seen.entry(&finding.fingerprint).or_default();
        *seen += 1;
        match *seen {
            1 => finding.fingerprint.clone(),
            number => format!("{}-{number}", finding.fingerprint),
        }
    }
}
