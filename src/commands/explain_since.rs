//! `layercake explain-value SITE SCHEMA NAME PATH --since REV`: traces of a value before and now,
//! and the edits that made the difference.

use std::sync::OnceLock;

use super::Selection;
use super::compare::{self, Opened, SitesToRead};
use super::provenance::{self, ValueQuestion};
use super::sides::{ChosenSide, Environment, MergeBase, SideSelection};
use crate::check::{
    BothSides, Checked, Compared, RenderedSite, RunControl, Settings, Work, compare_with,
};
use crate::edit::{Edit, Text};
use crate::error::{Error, ErrorKind};
use crate::render::replay::Replay;
use crate::report::answer::provenance::ExplainedValue;
use crate::report::answer::since::{ProvenanceDiff, ProvenanceSide, SideName};
use crate::source::Span;
use crate::yaml::diff;

/// Traces of a value on both sides of a comparison that `wanted` names.
///
/// # Errors
/// If a step fails, or neither side has the site, document or value.
pub fn run(
    selection: &Selection,
    wanted: &SideSelection,
    site: &str,
    question: &ValueQuestion,
    control: &RunControl,
) -> Result<(Checked<()>, ProvenanceDiff), Error> {
    let opened = compare::open(selection, wanted, &Environment::default(), SitesToRead::All)?;
    let Some(Opened {
        chosen, project, ..
    }) = opened
    else {
        return Err(Error::new(
            ErrorKind::Usage,
            "no base revision given; pass --since REV",
        ));
    };
    let settings = Settings {
        work: Work::Render,
        ..Settings::default()
    };
    let answers = OnceLock::new();
    let ask = |both: &BothSides<'_>| {
        let is_it = |side: &RenderedSite<'_>| super::explain_value::is_called(side, site);
        if both.base.iter().chain(&both.head).any(is_it) {
            answers.get_or_init(|| {
                [&both.base, &both.head]
                    .map(|side| side.as_ref().map(|side| TracedValue::of(side, question)))
            });
        }
    };
    let compared = compare_with(&project.plan(control), &settings, &ask)?;
    let Some([base, head]) = answers.into_inner() else {
        let sites = compared.checked.sites.iter();
        let sites: Vec<_> = sites
            .map(|it| (it.name.clone(), it.site_type.clone()))
            .collect();
        return Err(super::explain_value::no_site(&sites, site));
    };
    let (base, head) = match (base, head) {
        (Some(Err(error)), None) | (None | Some(Err(_)), Some(Err(error))) => return Err(error),
        (base, head) => (base, head),
    };
    let same = |same: fn(&ExplainedValue, &ExplainedValue) -> bool| match (&base, &head) {
        (Some(Ok(base)), Some(Ok(head))) => same(&base.way, &head.way),
        _ => false,
    };
    let has_same_value = same(|base, head| match (&base.value, &head.value) {
        (Some(before), Some(after)) => diff::same(before, after),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    });
    let has_same_steps = same(ExplainedValue::has_same_steps);
    let edits = if has_same_value {
        Vec::new()
    } else {
        edits(
            &compared,
            question,
            site,
            [base.as_ref(), head.as_ref()].map(texts_of),
        )
    };
    let side = |name, answer: Option<Result<TracedValue, Error>>| {
        let (way, missing) = match answer {
            Some(Ok(answer)) => (Some(answer.way), None),
            Some(Err(error)) => (None, Some(error.to_string())),
            None => (None, Some(format!("site `{site}` not found"))),
        };
        ProvenanceSide { name, way, missing }
    };
    let since = ProvenanceDiff {
        base: side(name(wanted, &chosen.from), base),
        head: side(SideName::Now, head),
        same: has_same_value,
        has_same_steps,
        edits,
    };
    Ok((compared.checked, since))
}

/// Name of the base side: the requested revision and its commit.
fn name(wanted: &SideSelection, side: &ChosenSide) -> SideName {
    const SHORT: usize = 10;
    let ChosenSide::Commit { id, name } = side else {
        return SideName::State(side.to_string());
    };
    let id = id.get(..SHORT).unwrap_or(id).to_owned();
    match (&wanted.since, wanted.merge_base) {
        (Some(revision), MergeBase::Use) => SideName::MergeBase(revision.clone(), id),
        (Some(revision), MergeBase::Skip) => SideName::Commit(revision.clone(), id),
        (None, MergeBase::Use | MergeBase::Skip) => SideName::Commit(name.clone(), id),
    }
}

/// Trace of a value on one side, and all texts that it and nested values depend on.
struct TracedValue {
    way: ExplainedValue,
    texts: Vec<Span>,
}

impl TracedValue {
    fn of(site: &RenderedSite<'_>, question: &ValueQuestion) -> Result<Self, Error> {
        Ok(Self {
            way: provenance::way(site, question)?,
            texts: texts(site, question)?,
        })
    }
}

fn texts(site: &RenderedSite<'_>, question: &ValueQuestion) -> Result<Vec<Span>, Error> {
    /// Maximum number of nested values that represent a mapping or list.
    const MAX_VALUES: usize = 5_000;
    let doc = provenance::document(site, question)?;
    let data = site
        .rendered
        .data(doc)
        .unwrap_or(&site.graph.recipe(doc).data);
    let place = provenance::place(data, &question.path)?;
    let replay = Replay::new(site.graph, site.rendered);
    let mut texts = replay.trace(doc, &place).texts();
    let inside = place
        .get(data)
        .map(|node| Replay::leaves(node, MAX_VALUES).locations);
    for leaf in inside.unwrap_or_default() {
        texts.extend(replay.trace(doc, &place.joined(&leaf)).texts());
    }
    Ok(texts)
}

fn texts_of(answer: Option<&Result<TracedValue, Error>>) -> &[Span] {
    match answer {
        Some(Ok(answer)) => &answer.texts,
        Some(Err(_)) | None => &[],
    }
}

/// Edits that changed a value: those that changed the output and overlap a text that the value
/// depends on. If the document is not an output, all edits that overlap such a text.
fn edits(
    compared: &Compared,
    question: &ValueQuestion,
    site: &str,
    [base, head]: [&[Span]; 2],
) -> Vec<Edit> {
    let comparison = &compared.comparison;
    let change = comparison.outputs.iter().find(|change| {
        change.site.as_deref().unwrap_or(super::explain_value::SET) == site
            && question.has_schema(&change.key.schema)
            && *change.key.name == *question.name
    });
    let all: Vec<&Edit> = match change {
        Some(change) => {
            let causes = change.edits.iter().map(|edit| edit.index());
            causes.map(|edit| &comparison.edits[edit].edit).collect()
        }
        None => comparison.edits.iter().map(|reach| &reach.edit).collect(),
    };
    let meets = |text: &Option<Text>, spans: &[Span]| {
        text.as_ref()
            .is_some_and(|text| spans.iter().any(|span| text.meets(*span)))
    };
    let near: Vec<Edit> = all
        .iter()
        .filter(|edit| meets(&edit.base, base) || meets(&edit.head, head))
        .map(|edit| (*edit).clone())
        .collect();
    if near.is_empty() && change.is_some() {
        all.into_iter().cloned().collect()
    } else {
        near
    }
}
