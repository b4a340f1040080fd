//! What the changes ask of the operator of each site, in few lines.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::sites::{SiteIndices, SiteNames};
use crate::deployment::{Action, ArmadaKind, Caution, Class};
use crate::report::model::{EditRef, FilePlace, Report, ReportedConsequences, ReportedEffect};
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
    let common = StyledText::plain(common_cautions(found))
        .linked(&TextLink::Limits)
        .prefixed("with ");
    let facts = [actions(found), common, later(found), rest(found)];
    StyledText::list(facts.into_iter().filter(|text| !text.is_empty()), " · ")
}

/// Names the actions in order, and what they do:
/// `update_site: upgrades 2 releases (a, b), then redeploy_server n1, n2`.
fn actions(found: &ReportedConsequences) -> StyledText {
    let not_decided = found.deployment_not_known + found.not_compared;
    let is_known = not_decided == 0 && found.unknown_schemas.is_empty();
    if found.actions.is_empty() {
        let words = if is_known {
            "no action"
        } else {
            "no known action"
        };
        return StyledText::strong(words);
    }
    let last = found.actions.len() - 1;
    let actions = found.actions.iter().enumerate().map(|(at, asked)| {
        let nodes = folded(asked.nodes.iter().map(String::as_str).collect());
        let releases = [
            releases(found, asked.action, Class::Upgrade, "upgrades"),
            releases(found, asked.action, Class::Install, "installs"),
        ];
        let stops = asked.action == Action::UpdateSite && found.no_nodes;
        StyledText::strong(asked.action.as_str())
            .join(nodes.prefixed(" "))
            .and(if stops { " (stops without nodes)" } else { "" })
            .and(if at == last && !is_known {
                " at least"
            } else {
                ""
            })
            .join(StyledText::list(releases, ", ").prefixed(": "))
    });
    StyledText::list(actions, ", then ")
}

/// Counts the releases of a class that an action applies, with the first names, and says where the two
/// kinds of Armada differ.
fn releases(found: &ReportedConsequences, action: Action, class: Class, verb: &str) -> StyledText {
    let of = |armada: ArmadaKind| -> BTreeSet<&str> {
        let effects = found.effects.iter().filter(|effect| {
            let is_of_armada = effect.armada.is_none_or(|it| it == armada);
            is_of_armada && effect.class == class && effect.action == action
        });
        effects.flat_map(ReportedEffect::names).collect()
    };
    let [helm, operator] = [ArmadaKind::Helm, ArmadaKind::Operator].map(of);
    let all: BTreeSet<&str> = helm.union(&operator).copied().collect();
    if all.is_empty() {
        return StyledText::default();
    }
    let difference = match (helm.len(), operator.len()) {
        _ if helm == operator => String::new(),
        (_, 0) => "; none with armada-operator".to_owned(),
        (0, _) => "; only with armada-operator".to_owned(),
        (_, some) => format!("; {some} with armada-operator"),
    };
    StyledText::plain(format!("{verb} {} (", counted(all.len(), "release")))
        .join(first_names(all))
        .and(format!("{difference})"))
}

impl ReportedEffect {
    /// Names of its releases, or of its outputs if they describe none.
    fn names(&self) -> impl Iterator<Item = &str> {
        let releases = self.releases.iter();
        let releases = releases.map(|it| it.split_once('/').map_or(&**it, |(_, name)| name));
        let outputs = self.outputs.iter().filter(|_| self.releases.is_empty());
        releases.chain(outputs.map(|output| &*output.name))
    }
}

/// The first outputs or releases of some effects.
fn names_of(effects: &[&ReportedEffect]) -> StyledText {
    first_names(effects.iter().flat_map(|effect| effect.names()).collect())
}

/// Maximum number of nodes that are named.
const MAX_NODES: usize = 10;

/// Names of nodes, which an action needs, and the number of those beyond the maximum.
fn folded(nodes: Vec<&str>) -> StyledText {
    let first = nodes[..nodes.len().min(MAX_NODES)].join(", ");
    match nodes.len().saturating_sub(MAX_NODES) {
        0 => StyledText::name(first),
        more => StyledText::name(first).and(format!(" and {more} more")),
    }
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
        // A setting with an action takes effect with an upgrade.
        let of_class = found.effects.iter().filter(|effect| {
            is_of(Some(effect.class)) && effect.action == Action::None || is_of(effect.also)
        });
        let outputs: BTreeSet<_> = of_class.flat_map(|effect| &effect.outputs).collect();
        outputs.len()
    };
    let counts = [
        (
            count(&[Class::Setting, Class::Order]),
            "at the next apply or upgrade",
        ),
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
            found.not_compared,
            format!("{} not compared", counted(found.not_compared, "output")),
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

/// Names the cautions that most upgrades have; of the operator only if it was chosen, since all of its
/// upgrades have one.
fn common_cautions(found: &ReportedConsequences) -> String {
    let names: Vec<String> = by_caution(found)
        .keys()
        .filter(|(caution, armada)| is_common(*caution) && *armada != Some(ArmadaKind::Operator))
        .map(|(caution, armada)| with_armada(*caution, *armada))
        .collect();
    names.join(", ")
}

fn with_armada(caution: Caution, armada: Option<ArmadaKind>) -> String {
    match armada {
        Some(armada) => format!("{} ({})", caution.as_str(), armada.as_str()),
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
