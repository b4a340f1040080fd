//! What the changes ask of the operator of each site, in few lines.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::sites::{SiteIndices, SiteNames};
use crate::deployment::{ArmadaKind, Caution, Class};
use crate::report::model::{
    EditRef, FilePlace, Report, ReportedAction, ReportedConsequences, ReportedEffect,
};
use crate::report::text::{StyledText, TextLink, TextRole};
use crate::report::{counted, first_few, present};

/// Advice for sites with the same answer.
pub(crate) struct Advice {
    pub(crate) sites: SiteIndices,
    /// The sites, the actions that they need, and what these do.
    pub(crate) title: StyledText,
    /// Cautions, at most [`Advice::MAX_CAUTIONS`], and the number of others.
    pub(crate) cautions: Vec<StyledText>,
}

impl Advice {
    const MAX_CAUTIONS: usize = 3;

    /// Returns the advice for all sites: those with cautions first, then those with the largest action.
    /// Sites with the same words share an entry.
    pub(super) fn all(report: &Report, names: &SiteNames<'_>) -> Vec<Self> {
        let mut alike: IndexMap<Vec<String>, (SiteIndices, &ReportedConsequences)> =
            IndexMap::new();
        // Without Shipyard, most changes ask for no action that is known.
        let known = report.consequences.iter().filter(|found| {
            let mut effects = found.effects.iter();
            found.configured
                || !found.actions.is_empty()
                || effects.any(|effect| !effect.cautions.is_empty())
        });
        for found in known {
            // The lines that cause a caution may differ.
            let cautions = by_caution(found).into_iter();
            let cautions = cautions.map(|((caution, armada), effects)| {
                let word = with_armada(caution, armada);
                format!("{word} {}", names_of(&effects).words())
            });
            let words = cautions.chain([asked(found).words()]).collect();
            let deployable = names
                .in_set(found.sites)
                .into_iter()
                .filter(|site| !report.sites[*site].counts.refused);
            let (sites, _) = alike
                .entry(words)
                .or_insert_with(|| (SiteIndices::new(), found));
            sites.extend(deployable);
        }
        let mut alike: Vec<(SiteIndices, &ReportedConsequences)> = alike
            .into_values()
            .filter(|(sites, _)| !sites.is_empty())
            .collect();
        alike.sort_by_key(|(sites, found)| {
            let cautions = by_caution(found).into_keys();
            let has_own = cautions.into_iter().any(|(caution, _)| !is_common(caution));
            let largest = found.actions.last().map(|asked| asked.action);
            Reverse((has_own, largest, sites.len()))
        });
        alike
            .into_iter()
            .map(|(sites, found)| Self {
                title: names
                    .phrase(&sites)
                    .and(if sites.len() == 1 {
                        " asks for "
                    } else {
                        " ask for "
                    })
                    .join(asked(found)),
                cautions: cautions(found, report),
                sites,
            })
            .collect()
    }
}

/// The actions, what they do, and what takes effect later or never.
fn asked(found: &ReportedConsequences) -> StyledText {
    let is_known = found.deployment_not_known == 0 && found.unknown_schemas.is_empty();
    let actions = actions(&found.actions).and(if is_known { "" } else { " at least" });
    let releases = [
        releases(found, Class::Upgrade, "upgrades"),
        releases(found, Class::Install, "installs"),
    ];
    let releases = releases.into_iter().filter(|text| !text.is_empty());
    let releases = StyledText::list(releases, ", ").prefixed(": ");
    let common = StyledText::plain(common_cautions(found))
        .linked(&TextLink::Limits)
        .prefixed("with ");
    let facts = [actions.join(releases), common, later(found), rest(found)];
    StyledText::list(facts.into_iter().filter(|text| !text.is_empty()), " · ")
}

/// Names the actions in order: `update_site, then redeploy_server n1, n2`.
fn actions(actions: &[ReportedAction]) -> StyledText {
    if actions.is_empty() {
        return StyledText::strong("no action");
    }
    let names = actions.iter().map(|asked| {
        let action = StyledText::strong(asked.action.as_str());
        let (nodes, more) = first_few(&asked.nodes, String::clone);
        match (nodes.is_empty(), more) {
            (true, _) => action,
            (false, 0) => action.and(format!(" {nodes}")),
            (false, more) => action.and(format!(" {nodes} and {more} more")),
        }
    });
    StyledText::list(names, ", then ")
}

/// Counts the releases of a class, with the first names.
fn releases(found: &ReportedConsequences, class: Class, verb: &str) -> StyledText {
    let of_class = found.effects.iter().filter(|effect| effect.class == class);
    let outputs = of_class.flat_map(|effect| &effect.outputs);
    let names: BTreeSet<&str> = outputs.map(|output| &*output.name).collect();
    if names.is_empty() {
        return StyledText::default();
    }
    StyledText::plain(format!("{verb} {} (", counted(names.len(), "release")))
        .join(first_names(names))
        .and(")")
}

/// The first outputs of some effects.
fn names_of(effects: &[&ReportedEffect]) -> StyledText {
    let outputs = effects.iter().flat_map(|effect| &effect.outputs);
    first_names(outputs.map(|output| &*output.name).collect())
}

/// The first of some names, and the number of the others.
fn first_names(names: BTreeSet<&str>) -> StyledText {
    let names: Vec<&str> = names.into_iter().collect();
    let (first, more) = first_few(&names, |name| (*name).to_owned());
    match more {
        0 => StyledText::name(first),
        more => StyledText::name(first).and(format!(" and {more} more")),
    }
}

/// Counts the outputs whose change takes effect later.
fn later(found: &ReportedConsequences) -> StyledText {
    let count = |classes: &[Class]| {
        let is_of = |class: Option<Class>| class.is_some_and(|class| classes.contains(&class));
        let of_class = found
            .effects
            .iter()
            .filter(|effect| is_of(Some(effect.class)) || is_of(effect.also));
        let outputs: BTreeSet<_> = of_class.flat_map(|effect| &effect.outputs).collect();
        outputs.len()
    };
    let counts = [
        (count(&[Class::Setting, Class::Order]), "at the next apply"),
        (count(&[Class::NextAction]), "at the next action"),
        (count(&[Class::Join]), "when a node joins"),
        (count(&[Class::Genesis]), "when a site is built"),
    ];
    let texts = counts.map(|(count, when)| (count, StyledText::plain(format!("{count} {when}"))));
    StyledText::list(present(texts), ", ").prefixed("later: ")
}

/// Counts the outputs that nothing deploys or reads, and names unknown schemas.
fn rest(found: &ReportedConsequences) -> StyledText {
    let not_deployed = counted(found.rendered_only, "output");
    let not_known = counted(found.deployment_not_known, "output");
    let unknown = found.unknown_schemas.join(", ");
    let texts = [
        (
            // Beside actions, the table of sites says it.
            if found.actions.is_empty() {
                found.rendered_only
            } else {
                0
            },
            format!("{not_deployed} not deployed"),
        ),
        (
            found.deployment_not_known,
            format!("{not_known} perhaps not deployed"),
        ),
        (
            found.unknown_schemas.len(),
            format!("no known consequence of {unknown}"),
        ),
    ];
    StyledText::list(present(texts).into_iter().map(StyledText::plain), " · ")
}

/// Whether most upgrades have a caution, so that it needs no line of its own.
fn is_common(caution: Caution) -> bool {
    matches!(caution, Caution::DeletesPods | Caution::ReinstallsOnFailure)
}

/// Names the cautions that most upgrades have, whichever Armada applies them.
fn common_cautions(found: &ReportedConsequences) -> String {
    let names: Vec<&str> = by_caution(found)
        .keys()
        .filter(|(caution, armada)| is_common(*caution) && armada.is_none())
        .map(|(caution, _)| caution.as_str())
        .collect();
    names.join(", ")
}

fn with_armada(caution: Caution, armada: Option<ArmadaKind>) -> String {
    match armada {
        Some(armada) => format!("{} (armada: {})", caution.as_str(), armada.as_str()),
        None => caution.as_str().to_owned(),
    }
}

/// Effects by caution, and by the Armada for which it holds; `None` for both kinds.
fn by_caution(
    found: &ReportedConsequences,
) -> BTreeMap<(Caution, Option<ArmadaKind>), Vec<&ReportedEffect>> {
    let mut alike: BTreeMap<Caution, Vec<&ReportedEffect>> = BTreeMap::new();
    for effect in &found.effects {
        for caution in &effect.cautions {
            alike.entry(*caution).or_default().push(effect);
        }
    }
    let armada = |effects: &[&ReportedEffect]| {
        let kinds: BTreeSet<_> = effects.iter().map(|effect| effect.armada).collect();
        kinds
            .first()
            .copied()
            .flatten()
            .filter(|_| kinds.len() == 1)
    };
    alike
        .into_iter()
        .map(|(caution, effects)| ((caution, armada(&effects)), effects))
        .collect()
}

/// Describes the cautions that few changes have, with the outputs concerned and the first line that
/// causes each.
fn cautions(found: &ReportedConsequences, report: &Report) -> Vec<StyledText> {
    let mut texts: Vec<StyledText> = by_caution(found)
        .into_iter()
        .filter(|((caution, _), _)| !is_common(*caution))
        .map(|((caution, armada), effects)| {
            let edits = effects.iter().flat_map(|effect| &effect.edits);
            let edits: BTreeSet<EditRef> = edits.copied().collect();
            let places = report.edits_with(&edits).filter_map(|edit| edit.at.last());
            let word = format!("caution {}", with_armada(caution, armada));
            StyledText::of(TextRole::Warning, word)
                .linked(&TextLink::Limits)
                .and(": ")
                .join(names_of(&effects))
                .join(first_place(places.collect()).prefixed("  "))
        })
        .collect();
    let more = texts.len().saturating_sub(Advice::MAX_CAUTIONS);
    texts.truncate(Advice::MAX_CAUTIONS);
    if more > 0 {
        texts.push(StyledText::of(
            TextRole::Warning,
            counted(more, "more caution"),
        ));
    }
    texts
}

/// The first of some places by the name of its file, and the number of the others.
fn first_place(places: BTreeSet<&FilePlace>) -> StyledText {
    let Some(first) = places.first() else {
        return StyledText::default();
    };
    let file = first.file.rsplit('/').next().unwrap_or_default();
    let text = StyledText::place(first, true).renamed(format!("{file}:{}", first.line));
    match places.len() - 1 {
        0 => text,
        more => text.and(format!(" +{more}")),
    }
}
