//! A saved report as the reports for people take it, so that they say of it what
//! they said when it was made.
//!
//! Texts are made of the lines that the report keeps, each at its number; in
//! between there is nothing that is ever shown. So excerpts, positions and
//! columns come out as they were. What a report does not keep cannot come back:
//! the name of the folder that was looked at, how long it took to less than a
//! millisecond, values of more than 64 KiB or that nest very deeply (they are
//! said to be missing), and lines in more columns than the report keeps of a
//! long one. A text inside of a value that looks like a date or like bytes as
//! reports write them comes back as one, and pairs as lists of two.
//!
//! Nothing here trusts a report: what it asks for that no file can have is
//! refused, and so is what would take too much memory or time.

mod changes;
mod texts;
mod value;

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use self::texts::{Position, Texts};
use super::comparison::{self, FindingsTold, Look, Unchanged};
use super::json::{self, Report, State, Unreadable};
use super::terminal::{self, Told, Totals};
use super::{Compared, Ignored, Sides, Style, Timing};
use crate::compare::reach::Comparison;
use crate::diagnostic::{Label, Severity, Suppression};
use crate::edit::EditId;
use crate::triage::{Counts, Suppressed};

/// What the reports for people need of a saved one.
#[derive(Debug)]
pub struct Restored {
    texts: Texts,
    findings: Vec<Finding>,
    totals: Totals,
    /// None for a run without a comparison.
    compared: Option<Changes>,
}

/// A comparison that was saved.
#[derive(Debug)]
struct Changes {
    comparison: Comparison,
    sides: Sides,
    /// Whether findings were looked for.
    linted: bool,
    /// How long it took, where that was measured.
    elapsed: Option<Duration>,
    added_ignores: usize,
}

/// A finding that was saved; its rule need not be one of this version.
#[derive(Debug)]
struct Finding {
    rule: String,
    severity: Severity,
    message: String,
    primary: Label,
    related: Vec<Label>,
    notes: Vec<String>,
    help: Option<String>,
    suppressed: Option<Suppression>,
    sites: Vec<Arc<str>>,
    state: Option<State>,
    causes: Vec<EditId>,
    follows: bool,
    count: usize,
}

impl Restored {
    /// What can be told to people of `report`.
    ///
    /// # Errors
    /// Where it asks for places that no file has, or for too many of them.
    pub fn of(report: &Report) -> Result<Self, Unreadable> {
        let texts = Texts::of(report)?;
        let findings: Vec<Finding> =
            report.findings.iter().map(|it| Finding::of(it, report, &texts)).collect();
        let compared = match &report.comparison {
            Some(form) => Some(Changes {
                comparison: changes::comparison(report, &texts)?,
                sides: changes::sides(form)?,
                linted: form.linted,
                elapsed: elapsed(report),
                added_ignores: report.totals.added_ignores,
            }),
            None => None,
        };
        Ok(Self { totals: totals(report, &findings), texts, findings, compared })
    }

    /// Writes what `--output full` wrote of the run; without the name of the
    /// folder where that is said.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(
        &self,
        look: Look,
        ignored: Ignored,
        style: &Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let view = self.texts.view();
        let no_cause = |_| None;
        let Some(changes) = &self.compared else {
            terminal::write_caused(&self.of_one_side(ignored), &no_cause, &view, style, out)?;
            return terminal::write_totals(&self.totals, style, out);
        };
        let findings = changes.linted.then(|| self.of_two_sides(changes, look.unchanged));
        let compared = self.compared(changes);
        comparison::write_told(&compared, findings.as_ref(), look, &view, style, out)?;
        terminal::write_caused(&self.suppressed(ignored), &no_cause, &view, style, out)
    }

    /// Writes what `--output concise` wrote of the run.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_concise(
        &self,
        look: Look,
        ignored: Ignored,
        style: &Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let view = self.texts.view();
        let Some(changes) = &self.compared else {
            return terminal::write_lines(&self.of_one_side(ignored), &view, style, out);
        };
        if !changes.linted {
            return comparison::write_brief(&self.compared(changes), look, &view, style, out);
        }
        let FindingsTold { new, unchanged, .. } = self.of_two_sides(changes, look.unchanged);
        terminal::write_lines(&new, &view, style, out)?;
        match look.unchanged {
            Unchanged::Counted => {}
            Unchanged::Shown => terminal::write_lines(&unchanged, &view, style, out)?,
        }
        terminal::write_lines(&self.suppressed(ignored), &view, style, out)
    }

    fn compared<'a>(&'a self, changes: &'a Changes) -> Compared<'a> {
        Compared {
            comparison: &changes.comparison,
            sides: &changes.sides,
            findings: None,
            outputs: self.totals.outputs,
            semantics: self.totals.semantics,
            timing: Timing { total: changes.elapsed, ..Timing::default() },
        }
    }

    fn of_one_side(&self, ignored: Ignored) -> Vec<Told<'_>> {
        let is_told = |it: &&Finding| it.suppressed.is_none() || ignored == Ignored::Shown;
        self.findings.iter().filter(is_told).map(Finding::told).collect()
    }

    fn of_two_sides(&self, changes: &Changes, unchanged: Unchanged) -> FindingsTold<'_> {
        let is_listed = move |it: &&Finding| !it.follows || unchanged == Unchanged::Shown;
        let of = |state| self.findings.iter().filter(move |it| it.is_open(state)).filter(is_listed);
        FindingsTold {
            new: of(State::New).map(Finding::told).collect(),
            causes: of(State::New).map(|it| &*it.causes).collect(),
            unchanged: of(State::Unchanged).map(Finding::told).collect(),
            fixed: of(State::Fixed).map(|it| it.count).sum(),
            suppressed: self.totals.suppressed,
            added_ignores: changes.added_ignores,
        }
    }

    fn suppressed(&self, ignored: Ignored) -> Vec<Told<'_>> {
        let is_told = |it: &&Finding| it.suppressed.is_some() && ignored == Ignored::Shown;
        self.findings.iter().filter(is_told).map(Finding::told).collect()
    }
}

fn totals(report: &Report, findings: &[Finding]) -> Totals {
    let open = findings.iter().filter(|it| it.suppressed.is_none());
    let of = |severity| open.clone().filter(|it| it.severity == severity).map(|it| it.count).sum();
    Totals {
        sites: report.totals.sites,
        documents: report.totals.documents.unwrap_or_default(),
        outputs: report.totals.outputs,
        counts: Counts {
            errors: of(Severity::Error),
            warnings: of(Severity::Warning),
            notes: of(Severity::Note),
        },
        suppressed: Suppressed { ignored: report.totals.ignored, accepted: report.totals.accepted },
        semantics: report.semantics,
        elapsed: elapsed(report).unwrap_or_default(),
    }
}

/// How long the run took, where that was measured.
fn elapsed(report: &Report) -> Option<Duration> {
    let milliseconds = report.timing_ms.total?;
    Some(Duration::from_millis(u64::try_from(milliseconds).unwrap_or(u64::MAX)))
}

impl Finding {
    fn of(finding: &json::Finding, report: &Report, texts: &Texts) -> Self {
        let label = |it: &json::LabelForm| {
            Label::new(texts.span(&Position::of_label(it, report)), it.label.clone())
        };
        let caused = finding.caused_by.iter();
        Self {
            rule: finding.rule.clone(),
            severity: finding.severity.into(),
            message: finding.message.clone(),
            primary: label(&finding.primary),
            related: finding.related.iter().map(label).collect(),
            notes: finding.notes.clone(),
            help: finding.help.clone(),
            suppressed: finding.suppressed.as_ref().map(|it| suppression(it, texts)),
            sites: finding.sites.iter().map(|site| Arc::from(&**site)).collect(),
            state: finding.state,
            follows: finding.because_of.is_some(),
            count: finding.count,
            causes: caused.filter_map(|name| report.edit_number(name)).map(EditId::at).collect(),
        }
    }

    /// Whether it is reported, and on these sides.
    fn is_open(&self, state: State) -> bool {
        self.suppressed.is_none() && self.state == Some(state)
    }

    fn told(&self) -> Told<'_> {
        Told {
            rule: &self.rule,
            severity: self.severity,
            message: &self.message,
            primary: &self.primary,
            related: &self.related,
            notes: &self.notes,
            help: self.help.as_deref(),
            suppressed: self.suppressed.as_ref(),
            sites: &self.sites,
            count: self.count,
        }
    }
}

fn suppression(form: &json::SuppressionForm, texts: &Texts) -> Suppression {
    let at = texts.span(&Position::of_suppression(form));
    if form.is_baseline() {
        Suppression::Baseline { at }
    } else {
        Suppression::Comment { at, reason: form.reason.clone() }
    }
}
