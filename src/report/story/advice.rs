//! What the changes ask of the operator of each site, in at most [`Advice::MAX_LINES`] lines.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::entries::places;
use super::sites::{SiteIndices, SiteNames};
use crate::deployment::{ArmadaKind, Caution, Class};
use crate::report::model::{EditRef, Report, ReportedAction, ReportedConsequences, ReportedEffect};
use crate::report::text::{StyledText, TextRole};
use crate::report::{counted, first_few, present};

/// Advice for sites with the same answer.
pub(crate) struct Advice {
    /// The sites, with the actions that they need.
    pub(crate) title: StyledText,
    /// What the actions do, what takes effect later, and cautions.
    pub(crate) lines: Vec<StyledText>,
}

impl Advice {
    /// Maximum number of lines, with the title.
    const MAX_LINES: usize = 6;

    /// Returns the advice for all sites, in the order of the report. Sites with the same lines share an
    /// entry.
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
            let lines = lines(found, report);
            let mut words: Vec<String> = lines.iter().map(StyledText::words).collect();
            words.push(actions(&found.actions).words());
            let (sites, _) = alike
                .entry(words)
                .or_insert_with(|| (SiteIndices::new(), found));
            sites.extend(names.in_set(found.sites));
        }
        alike
            .into_values()
            .map(|(sites, found)| Self {
                title: title(found, names.phrase(&sites), sites.len()),
                lines: lines(found, report),
            })
            .collect()
    }
}

fn title(found: &ReportedConsequences, phrase: StyledText, sites: usize) -> StyledText {
    let verb = if sites == 1 { "asks" } else { "ask" };
    let asked = if phrase.is_empty() {
        StyledText::plain("this asks for ")
    } else {
        phrase.and(format!(" {verb} for "))
    };
    let text = asked.join(actions(&found.actions));
    if found.deployment_not_known == 0 && found.unknown_schemas.is_empty() {
        text
    } else {
        text.and(" at least")
    }
}

fn lines(found: &ReportedConsequences, report: &Report) -> Vec<StyledText> {
    let mut lines: Vec<StyledText> = [
        releases(found, Class::Upgrade, "upgrades"),
        releases(found, Class::Install, "installs"),
        later(found),
        rest(found),
    ]
    .into_iter()
    .filter(|line| !line.is_empty())
    .collect();
    let cautions = cautions(found, report);
    let room = Advice::MAX_LINES - 1 - lines.len();
    let is_over = cautions.len() > room;
    let shown = if is_over { room - 1 } else { cautions.len() };
    let more = cautions.len() - shown;
    lines.extend(cautions.into_iter().take(shown));
    if is_over {
        let text = counted(more, "more caution");
        lines.push(StyledText::of(TextRole::Warning, text).and(" (-o json)"));
    }
    lines
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
    let names: BTreeSet<&str> = of_class
        .flat_map(|effect| &effect.outputs)
        .map(|output| &*output.name)
        .collect();
    let names: Vec<&str> = names.into_iter().collect();
    if names.is_empty() {
        return StyledText::default();
    }
    let (first, more) = first_few(&names, |name| (*name).to_owned());
    let first = StyledText::name(first);
    let text =
        StyledText::plain(format!("{verb} {}: ", counted(names.len(), "release"))).join(first);
    match more {
        0 => text,
        more => text.and(format!(" and {more} more")),
    }
}

/// Counts the outputs whose change takes effect later, or never.
fn later(found: &ReportedConsequences) -> StyledText {
    let count = |classes: &[Class]| {
        let of_class = found.effects.iter().filter(|effect| {
            classes.contains(&effect.class)
                || effect.also.is_some_and(|also| classes.contains(&also))
        });
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
    StyledText::list(present(texts), ", ").prefixed("outputs that take effect later: ")
}

/// Counts the outputs that nothing deploys or reads, and names unknown schemas.
fn rest(found: &ReportedConsequences) -> StyledText {
    let unknown = found.unknown_schemas.join(", ");
    let texts = [
        (
            found.rendered_only,
            StyledText::plain(format!(
                "{} not deployed",
                counted(found.rendered_only, "output")
            )),
        ),
        (
            found.deployment_not_known,
            StyledText::plain(format!(
                "not known whether {} deployed",
                match found.deployment_not_known {
                    1 => "1 output is".to_owned(),
                    some => format!("{some} outputs are"),
                }
            )),
        ),
        (
            found.unknown_schemas.len(),
            StyledText::plain(format!("no known consequence of {unknown}")),
        ),
    ];
    StyledText::list(present(texts), " · ")
}

/// Describes each caution, with the outputs concerned and the first lines that cause it.
fn cautions(found: &ReportedConsequences, report: &Report) -> Vec<StyledText> {
    let mut alike: BTreeMap<(Caution, Option<ArmadaKind>), Vec<&ReportedEffect>> = BTreeMap::new();
    for effect in &found.effects {
        for caution in &effect.cautions {
            alike
                .entry((*caution, effect.armada))
                .or_default()
                .push(effect);
        }
    }
    // A caution that holds for both kinds of Armada is listed once.
    let of_both: BTreeSet<Caution> = Caution::ALL
        .iter()
        .copied()
        .filter(|caution| {
            let mut kinds = ArmadaKind::ALL.iter();
            kinds.all(|armada| alike.contains_key(&(*caution, Some(*armada))))
        })
        .collect();
    alike
        .iter()
        .filter(|((caution, armada), _)| {
            *armada != Some(ArmadaKind::Operator) || !of_both.contains(caution)
        })
        .map(|((caution, armada), effects)| {
            let armada = armada.filter(|_| !of_both.contains(caution));
            describe(*caution, armada, effects, report)
        })
        .collect()
}

fn describe(
    caution: Caution,
    armada: Option<ArmadaKind>,
    effects: &[&ReportedEffect],
    report: &Report,
) -> StyledText {
    const MAX_PLACES: usize = 2;
    let outputs = effects.iter().flat_map(|effect| &effect.outputs);
    let names: BTreeSet<&str> = outputs.map(|output| &*output.name).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let (names, more) = first_few(&names, |name| (*name).to_owned());
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let of_armada = armada.map(|armada| format!(" (with armada: {})", armada.as_str()));
    let edits: BTreeSet<EditRef> = effects
        .iter()
        .flat_map(|effect| &effect.edits)
        .copied()
        .collect();
    let at = report.edits_with(&edits).filter_map(|edit| edit.at.last());
    StyledText::of(TextRole::Warning, format!("caution {}", caution.as_str()))
        .and(": ")
        .then(TextRole::Name, names)
        .and(format!(
            "{more}: {}{}",
            caution.meaning(),
            of_armada.unwrap_or_default()
        ))
        .join(places(at.take(MAX_PLACES), ", ").prefixed("  "))
}
