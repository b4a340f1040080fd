//! Machine-readable blame: JSON and porcelain lines.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde::Serialize;

use super::{
    Blame, BlameAnswer, BlamedChange, BlamedCommit, BlamedFinding, BlamedOutput, BlamedValue,
    ReachStep, TextHistory, ValueHistory, ValueStep,
};
use crate::report::View;
use crate::report::answer::log::LogEnd;
use crate::report::answer::since::LocatedEdit;
use crate::report::answer::{AnswerPlace, as_json, write_answer};
use crate::report::model::{RouteStep, pointer};
use crate::report::printable::clean;
use crate::source::DocKey;
use crate::yaml::Node;
use crate::yaml::emit::{HIDDEN, to_flow};
use crate::yaml::json::NodeAsJson;
use crate::yaml::path::Location;

#[derive(Serialize)]
struct BlameForm<'a> {
    site: Option<&'a str>,
    partial: bool,
    commits: Vec<CommitForm<'a>>,
    #[serde(flatten)]
    answer: AnswerForm<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum AnswerForm<'a> {
    Outputs(Vec<OutputForm<'a>>),
    Value(ValueForm<'a>),
    Findings(Vec<BlamedFinding<AnswerPlace<'a>, LocatedCause<'a>>>),
    Texts(Vec<TextHistory<AnswerPlace<'a>, LocatedCause<'a>>>),
}

#[derive(Serialize)]
struct CommitForm<'a> {
    id: Option<&'a str>,
    author: Option<&'a str>,
    date: Option<&'a str>,
    subject: Option<&'a str>,
    site: Option<&'a str>,
    /// Whether the site cannot be rendered at this commit.
    unusable: bool,
    /// Place of the error that prevents rendering.
    at: Option<AnswerPlace<'a>>,
}

#[derive(Serialize)]
struct OutputForm<'a> {
    document: &'a DocKey,
    at: AnswerPlace<'a>,
    last: Option<usize>,
    truncated: bool,
    values: Vec<BlamedValueForm>,
    changes: Vec<BlamedChange<LocatedCause<'a>>>,
}

#[derive(Serialize)]
struct BlamedValueForm {
    pointer: String,
    path: String,
    change: Option<usize>,
}

#[derive(Serialize)]
struct ValueForm<'a> {
    document: &'a DocKey,
    pointer: String,
    path: String,
    value: Option<NodeAsJson<'a>>,
    history: Vec<StepForm<'a>>,
}

#[derive(Serialize)]
struct StepForm<'a> {
    #[serde(flatten)]
    change: BlamedChange<LocatedCause<'a>>,
    /// Whether the value is secret before or after the commit.
    hidden: bool,
    before: Option<NodeAsJson<'a>>,
    after: Option<NodeAsJson<'a>>,
}

#[derive(Serialize)]
struct LocatedCause<'v> {
    #[serde(flatten)]
    edit: LocatedEdit<'v>,
    route: Vec<RouteStep>,
}

/// Writes a blame result as JSON.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_blame_json(blame: &Blame, view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let commits = blame.commits.iter().enumerate();
    let commits = commits.map(|(index, commit)| CommitForm::new(blame, index, commit, view));
    let form = BlameForm {
        site: blame.site.as_deref(),
        partial: blame.end != LogEnd::Whole,
        commits: commits.collect(),
        answer: match &blame.answer {
            BlameAnswer::Outputs(outputs) => {
                AnswerForm::Outputs(outputs.iter().map(|it| OutputForm::new(it, view)).collect())
            }
            BlameAnswer::Value(history) => AnswerForm::Value(ValueForm::new(history, view)),
            BlameAnswer::Findings(findings) => {
                AnswerForm::Findings(findings.iter().map(|it| it.located(view)).collect())
            }
            BlameAnswer::Texts(texts) => {
                AnswerForm::Texts(texts.iter().map(|it| it.located(view)).collect())
            }
        },
    };
    write_answer(&form, out)
}

impl<'a> CommitForm<'a> {
    fn new(blame: &'a Blame, index: usize, commit: &'a BlamedCommit, view: &View<'a>) -> Self {
        let unusable = blame.unusable.iter().find(|(commit, _)| *commit == index);
        let BlamedCommit { commit, site } = commit;
        let commit = commit.as_ref();
        Self {
            id: commit.map(|it| &*it.id),
            author: commit.map(|it| &*it.author),
            date: commit.map(|it| &*it.date),
            subject: commit.map(|it| &*it.subject),
            site: site.as_deref(),
            unusable: unusable.is_some(),
            at: unusable
                .and_then(|(_, at)| *at)
                .map(|at| AnswerPlace::new(at, view)),
        }
    }
}

impl<'a> OutputForm<'a> {
    fn new(output: &'a BlamedOutput, view: &View<'a>) -> Self {
        let value = |value: &BlamedValue| {
            let (pointer, path) = named(&value.place, view);
            BlamedValueForm {
                pointer,
                path,
                change: value.change,
            }
        };
        Self {
            document: &output.document,
            at: AnswerPlace::new(output.at, view),
            last: output.last,
            truncated: output.is_cut,
            values: output.values.iter().map(value).collect(),
            changes: output
                .changes
                .iter()
                .map(|change| change.located(view))
                .collect(),
        }
    }
}

impl<'a> ValueForm<'a> {
    fn new(history: &'a ValueHistory, view: &View<'a>) -> Self {
        let (pointer, path) = named(&history.place, view);
        Self {
            document: &history.document,
            pointer,
            path,
            value: history.value.as_ref().map(as_json),
            history: history
                .steps
                .iter()
                .map(|step| StepForm::new(step, view))
                .collect(),
        }
    }
}

impl<'a> StepForm<'a> {
    fn new(step: &'a ValueStep, view: &View<'a>) -> Self {
        let hidden = step.is_secret();
        let shown = |node: &'a Option<Node>| node.as_ref().filter(|_| !hidden).map(as_json);
        Self {
            change: step.change.located(view),
            hidden,
            before: shown(&step.before),
            after: shown(&step.after),
        }
    }
}

impl BlamedFinding {
    fn located<'v>(&self, view: &View<'v>) -> BlamedFinding<AnswerPlace<'v>, LocatedCause<'v>> {
        BlamedFinding {
            rule: self.rule,
            message: self.message.clone(),
            at: AnswerPlace::new(self.at, view),
            change: self.change.as_ref().map(|change| change.located(view)),
        }
    }
}

impl TextHistory {
    fn located<'v>(&self, view: &View<'v>) -> TextHistory<AnswerPlace<'v>, LocatedCause<'v>> {
        let steps = self.steps.iter().map(|step| ReachStep {
            change: step.change.located(view),
            before: step.before,
            after: step.after,
        });
        TextHistory {
            document: self.document.clone(),
            place: self.place.clone(),
            at: AnswerPlace::new(self.at, view),
            reach: self.reach,
            steps: steps.collect(),
        }
    }
}

impl BlamedChange {
    fn located<'v>(&self, view: &View<'v>) -> BlamedChange<LocatedCause<'v>> {
        let causes = self.causes.iter().map(|cause| LocatedCause {
            edit: LocatedEdit::new(&cause.edit, view),
            route: cause
                .route
                .iter()
                .map(|hop| RouteStep::new(hop, view))
                .collect(),
        });
        BlamedChange {
            commit: self.commit,
            end: self.end,
            touched: self.touched,
            passed_over: self.passed_over.clone(),
            renamed_from: self.renamed_from.clone(),
            causes: causes.collect(),
            further: self.further.clone(),
        }
    }
}

/// Returns a location as a JSON Pointer and as a path, without secret parts.
fn named(place: &Location, view: &View<'_>) -> (String, String) {
    let place = view.shown_location(place);
    (pointer(&place), place.to_string())
}

/// Writes a blame result in lines, like `git blame --porcelain`: for each value a line with the
/// commit id and a JSON Pointer, the commit's metadata at its first occurrence, and the value after
/// a tab.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_porcelain(blame: &Blame, view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = PorcelainLines {
        blame,
        view,
        known: BTreeSet::new(),
        out,
    };
    match &blame.answer {
        BlameAnswer::Outputs(outputs) => {
            for output in outputs {
                let key = &output.document;
                for value in &output.values {
                    let Some(change) = value.change else { continue };
                    let node = value.place.get(&output.data);
                    lines.value(key, &value.place, &output.changes[change], node, false)?;
                }
            }
        }
        BlameAnswer::Value(history) => {
            for step in &history.steps {
                let node = step.after.as_ref();
                let key = &history.document;
                lines.value(key, &history.place, &step.change, node, step.is_secret())?;
            }
        }
        BlameAnswer::Findings(findings) => {
            for finding in findings {
                let Some(change) = &finding.change else {
                    continue;
                };
                lines.commit(change.commit, finding.rule)?;
                lines.change(change, Some(&finding.message))?;
            }
        }
        BlameAnswer::Texts(texts) => {
            for (text, step) in texts
                .iter()
                .flat_map(|text| text.steps.iter().map(move |it| (text, it)))
            {
                lines.commit(step.change.commit, &text.place)?;
                lines.change(&step.change, Some(&step.after.to_string()))?;
            }
        }
    }
    if blame.end == LogEnd::Whole {
        Ok(())
    } else {
        writeln!(lines.out, "partial")
    }
}

struct PorcelainLines<'p> {
    blame: &'p Blame,
    view: &'p View<'p>,
    /// Commits whose metadata has been written.
    known: BTreeSet<usize>,
    out: &'p mut dyn Write,
}

impl PorcelainLines<'_> {
    fn value(
        &mut self,
        key: &DocKey,
        place: &Location,
        change: &BlamedChange,
        node: Option<&Node>,
        is_secret: bool,
    ) -> io::Result<()> {
        self.commit(change.commit, &named(place, self.view).0)?;
        writeln!(
            self.out,
            "document {} {}",
            clean(&key.schema),
            clean(&key.name)
        )?;
        writeln!(
            self.out,
            "own-file {}",
            if change.touched { "yes" } else { "no" }
        )?;
        let value = match node {
            _ if is_secret => Some(HIDDEN.to_owned()),
            node => node.map(|node| to_flow(node, usize::MAX / 8)),
        };
        self.change(change, value.as_deref())
    }

    /// Writes the commit and the JSON Pointer of what it changed.
    fn commit(&mut self, commit: usize, what: &str) -> io::Result<()> {
        let described = self.blame.commits[commit].commit.as_ref();
        let id = described.map_or_else(|| "0".repeat(40), |commit| commit.id.clone());
        writeln!(self.out, "{id} {}", clean(what))?;
        if !self.known.insert(commit) {
            return Ok(());
        }
        let Some(commit) = described else {
            return writeln!(self.out, "summary not committed yet");
        };
        writeln!(self.out, "author {}", clean(&commit.author))?;
        writeln!(self.out, "author-date {}", commit.date)?;
        writeln!(self.out, "summary {}", clean(&commit.subject))
    }

    /// Writes the edits of a change and the new value.
    fn change(&mut self, change: &BlamedChange, value: Option<&str>) -> io::Result<()> {
        writeln!(self.out, "end {}", change.end)?;
        for cause in &change.causes {
            let at = AnswerPlace::new(cause.edit.at(), self.view);
            writeln!(self.out, "edit {at}")?;
        }
        match value {
            Some(value) => writeln!(self.out, "\t{}", clean(value)),
            None => Ok(()),
        }
    }
}
