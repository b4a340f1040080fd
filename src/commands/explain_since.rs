//! `layercake explain-value SITE SCHEMA NAME PATH --since REV`: traces of a value before and now,
//! and the edits that made the difference.

use std::sync::OnceLock;

use super::Selection;
use super::compare::{self, Opened, SitesToRead};
use super::sides::{ChosenSide, Environment, MergeBase, SideSelection};
use crate::ask::since::{self, TracedValue};
use crate::ask::{self, SET, ValueQuestion};
use crate::check::{BothSides, Checked, RenderedSite, RunControl, Settings, Work, compare_with};
use crate::error::Error;
use crate::report::answer::provenance::ExplainedValue;
use crate::report::answer::since::{ProvenanceDiff, ProvenanceSide, SideName};
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
    let of_site = Selection {
        sites: if site == SET {
            Vec::new()
        } else {
            vec![globset::escape(site)]
        },
        ..selection.clone()
    };
    let environment = Environment::default();
    let opened = compare::open(&of_site, wanted, &environment, SitesToRead::Reached)?;
    let Some(Opened {
        chosen, project, ..
    }) = opened
    else {
        return Err(no_base());
    };
    let settings = Settings {
        work: Work::Render,
        ..Settings::default()
    };
    let answers = OnceLock::new();
    let take = |both: &BothSides<'_>| {
        let is_it = |side: &RenderedSite<'_>| ask::is_called(side, site);
        if both.base.iter().chain(&both.head).any(is_it) {
            answers.get_or_init(|| {
                [&both.base, &both.head]
                    .map(|side| side.as_ref().map(|side| TracedValue::of(side, question)))
            });
        }
    };
    let compared = compare_with(&project.plan(control), &settings, &take)?;
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
        since::edits(&compared, question, site, [base.as_ref(), head.as_ref()])
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

pub(super) fn no_base() -> Error {
    Error::usage("no base revision given; pass --since REV")
}

/// Name of the base side: the requested revision and its commit.
pub(super) fn name(wanted: &SideSelection, side: &ChosenSide) -> SideName {
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
