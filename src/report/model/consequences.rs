//! What the changes of sites ask of their operator. Sites with the same answer share an entry.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::id::{EditRef, SetRef};
use super::is_default;
use super::sites::SiteSets;
use crate::compare::reach::Comparison;
use crate::compare::{Deployed, Status};
use crate::deployment::{
    Action, ArmadaKind, Caution, Class, ConsequenceTable, Consequences, Effect, ManifestAction,
    Row, SiteConsequences,
};
use crate::report::View;
use crate::source::DocKey;

/// What the changes of some sites ask for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "consequences")]
pub struct ReportedConsequences {
    pub(crate) sites: SetRef,
    /// Whether Shipyard has a configuration for them.
    pub(crate) configured: bool,
    /// Whether they have no node, so that `update_site` stops without `continue-on-fail`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) no_nodes: bool,
    /// Actions of Shipyard that bring the changes to a running site, in order; none if none is needed.
    pub(crate) actions: Vec<ReportedAction>,
    /// The consequences, by class.
    pub(crate) effects: Vec<ReportedEffect>,
    /// Schemas of changed outputs without a known consequence.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) unknown_schemas: Vec<String>,
    /// Number of changed outputs in each site that no action deploys.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) rendered_only: usize,
    /// Number of changed outputs in each site for which that is not known.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) deployment_not_known: usize,
    /// Number of outputs in each site that were not rendered on both sides, so that it is not known what
    /// their change asks for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) not_compared: usize,
}

/// An action of Shipyard.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an action")]
pub(crate) struct ReportedAction {
    pub(crate) action: Action,
    /// Nodes that it has to name.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) nodes: Vec<String>,
}

/// A consequence for some outputs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "a consequence")]
pub(crate) struct ReportedEffect {
    pub(crate) class: Class,
    /// Another class of the same changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) also: Option<Class>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) cautions: BTreeSet<Caution>,
    /// Program that reads the outputs.
    pub(crate) consumer: String,
    /// Armada for which it holds, if both kinds differ and the configuration names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) armada: Option<ArmadaKind>,
    /// What happens, as one sentence.
    pub(crate) text: String,
    pub(crate) action: Action,
    /// Action that has to follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) then: Option<Action>,
    /// Outputs, by schema and name.
    pub(crate) outputs: Vec<DocKey>,
    /// Releases that they describe, as `NAMESPACE/NAME`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) releases: BTreeSet<String>,
    /// The first changed places in them.
    pub(crate) paths: Vec<String>,
    /// Number of other changed places.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) more_paths: usize,
    /// Edits behind the changes.
    pub(crate) edits: Vec<EditRef>,
    /// Nodes concerned.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) nodes: Vec<String>,
}

/// Maximum number of paths of a consequence.
const MAX_PATHS: usize = 5;

/// Consequences of all sites; those of equal ones are listed once.
pub(super) fn reported(
    consequences: &Consequences,
    comparison: &Comparison,
    sets: &mut SiteSets,
    view: &View<'_>,
) -> Vec<ReportedConsequences> {
    let counts = counts(comparison);
    let mut alike: BTreeMap<(&SiteConsequences, Counts), Vec<Option<&Arc<str>>>> = BTreeMap::new();
    for (site, found) in &consequences.of_sites {
        let counts = counts.get(&site.as_deref()).copied();
        if counts.is_some() || !found.is_empty() {
            let key = (found, counts.unwrap_or_default());
            alike.entry(key).or_default().push(site.as_ref());
        }
    }
    let mut alike: Vec<_> = alike.into_iter().collect();
    alike.sort_by_key(|(_, sites)| sites[0]);
    alike
        .into_iter()
        .map(|((found, counts), sites)| ReportedConsequences {
            sites: sets.set_of(sites),
            configured: found.is_configured,
            no_nodes: !found.has_nodes,
            actions: actions(&found.effects),
            effects: effects(&found.effects, &consequences.table, view),
            unknown_schemas: found.unknown.iter().map(ToString::to_string).collect(),
            rendered_only: counts.rendered_only,
            deployment_not_known: counts.deployment_not_known,
            not_compared: counts.not_compared,
        })
        .collect()
}

/// Numbers of changed outputs of a site without a consequence.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Counts {
    rendered_only: usize,
    deployment_not_known: usize,
    not_compared: usize,
}

/// The numbers of each site with changed outputs. No consumer sees metadata.
fn counts(comparison: &Comparison) -> BTreeMap<Option<&str>, Counts> {
    let mut counts: BTreeMap<_, Counts> = BTreeMap::new();
    let outputs = comparison.outputs.iter();
    for change in outputs.filter(|change| change.status != Status::Metadata) {
        let of_site = counts.entry(change.site.as_deref()).or_default();
        match (change.status, change.deployed) {
            (_, Deployed::RenderedOnly) => of_site.rendered_only += 1,
            (Status::Broken | Status::Repaired | Status::NotComparable, _) => {
                of_site.not_compared += 1;
            }
            (_, Deployed::NotKnown) => of_site.deployment_not_known += 1,
            (_, Deployed::By(_) | Deployed::Other) => {}
        }
    }
    counts
}

/// The actions for these effects, and the nodes that they have to name.
fn actions(effects: &[Effect]) -> Vec<ReportedAction> {
    let mut nodes: BTreeMap<Action, BTreeSet<&str>> = BTreeMap::new();
    for effect in effects {
        for action in effect.actions() {
            let names = nodes.entry(joint(action, effect, effects)).or_default();
            if action.names_nodes() {
                names.extend(effect.nodes.iter().map(|name| &**name));
            }
        }
    }
    nodes.remove(&Action::None);
    nodes
        .into_iter()
        .map(|(action, nodes)| ReportedAction {
            action,
            nodes: nodes.into_iter().map(str::to_owned).collect(),
        })
        .collect()
}

/// An action of an effect beside those of the others: where `update_site` is needed anyway, it also
/// brings what both apply.
fn joint(action: Action, effect: &Effect, effects: &[Effect]) -> Action {
    let needs_site = || {
        let mut actions = effects.iter().flat_map(Effect::actions);
        actions.any(|action| action == Action::UpdateSite)
    };
    let is_for_both = ManifestAction::UpdateSite.is_in(effect.appliers);
    if action == Action::UpdateSoftware && is_for_both && needs_site() {
        Action::UpdateSite
    } else {
        action
    }
}

/// Joins the effects of a row for several outputs.
fn effects(effects: &[Effect], table: &ConsequenceTable, view: &View<'_>) -> Vec<ReportedEffect> {
    let mut alike: IndexMap<_, Vec<&Effect>> = IndexMap::new();
    for effect in effects {
        let key = (
            effect.row,
            effect.armada,
            &effect.cautions,
            joint(effect.action, effect, effects),
            &effect.nodes,
        );
        alike.entry(key).or_default().push(effect);
    }
    alike
        .into_iter()
        .map(|((row, _, _, action, _), effects)| ReportedEffect {
            action,
            ..ReportedEffect::of(&effects, table.get(row), view)
        })
        .collect()
}

impl ReportedEffect {
    fn of(effects: &[&Effect], row: &Row, view: &View<'_>) -> Self {
        let first = effects[0];
        let places = effects.iter().flat_map(|effect| &effect.places);
        let paths: BTreeSet<String> = places
            .map(|place| view.shown_location(&place.location).to_string())
            .collect();
        let edits: BTreeSet<EditRef> = effects
            .iter()
            .flat_map(|effect| &effect.edits)
            .map(|edit| EditRef::at(edit.index()))
            .collect();
        Self {
            class: first.class,
            also: row.also,
            cautions: first.cautions.clone(),
            consumer: row.consumer.clone(),
            armada: first.armada,
            text: row.text.clone(),
            action: first.action,
            then: first.then,
            outputs: effects.iter().map(|effect| effect.output.clone()).collect(),
            releases: effects
                .iter()
                .filter_map(|effect| effect.release.as_ref())
                .map(|release| release.join("/"))
                .collect(),
            more_paths: paths.len().saturating_sub(MAX_PATHS),
            paths: paths.into_iter().take(MAX_PATHS).collect(),
            edits: edits.into_iter().collect(),
            nodes: first.nodes.iter().map(ToString::to_string).collect(),
        }
    }
}
