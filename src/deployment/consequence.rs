//! What the changes of a site ask of its operator: the rows of the [table](super::table) that apply to
//! them, and for which charts and nodes.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::iter;
use std::sync::Arc;

use super::nodes::Nodes;
use super::table::{
    Action, ArmadaKind, Caution, ChangeKind, Changed, Class, ConsequenceTable, Row,
};
use super::{Deployment, ManifestAction, dependents, is_chart, is_configuration, is_of_armada};
use crate::compare::reach::Comparison;
use crate::compare::{Appliers, Change, Deployed, Output, Status};
use crate::edit::EditId;
use crate::graph::{DocId, Graph};
use crate::render::Rendered;
use crate::source::DocKey;
use crate::yaml::diff::{Difference, ListKeys, differences};
use crate::yaml::path::{Location, Piece, children};
use crate::yaml::{Key, Node};

/// Consequences of the changes of all sites.
#[derive(Debug, Default)]
pub struct Consequences {
    /// The table that they follow from.
    pub(crate) table: ConsequenceTable,
    /// By site; its name is `None` for files without a site layout.
    pub(crate) of_sites: Vec<(Option<Arc<str>>, SiteConsequences)>,
}

impl Consequences {
    /// Leaves out these cautions.
    pub(crate) fn without(&mut self, cautions: &BTreeSet<Caution>) {
        let effects = self
            .of_sites
            .iter_mut()
            .flat_map(|(_, found)| &mut found.effects);
        for effect in effects {
            effect
                .cautions
                .retain(|caution| !cautions.contains(caution));
        }
    }

    /// The effects of each edit.
    pub(crate) fn by_edit(&self) -> ByEdit<'_> {
        let mut effects: HashMap<EditId, Vec<EffectOfSite<'_>>> = HashMap::new();
        for (site, found) in &self.of_sites {
            for effect in &found.effects {
                for edit in &effect.edits {
                    let of_edit = effects.entry(*edit).or_default();
                    of_edit.push(EffectOfSite {
                        site: site.as_ref(),
                        effect,
                        row: self.table.get(effect.row),
                    });
                }
            }
        }
        let unknown = self.of_sites.iter().flat_map(|(site, found)| {
            let schemas = found.unknown.iter();
            schemas.map(move |schema| (site.as_deref(), &**schema))
        });
        ByEdit {
            effects,
            unknown: unknown.collect(),
        }
    }

    /// Keeps the effects of wanted outputs, with the new ids of their edits, and the unknown schemas of
    /// the changed outputs that `left` still has.
    pub(crate) fn keep(
        &mut self,
        is_wanted: &dyn Fn(&DocKey) -> bool,
        numbers: &[Option<EditId>],
        left: &Comparison,
    ) {
        let mut schemas: HashMap<Option<&str>, HashSet<&str>> = HashMap::new();
        for change in &left.outputs {
            let of_site = schemas.entry(change.site.as_deref()).or_default();
            of_site.insert(&change.key.schema);
        }
        for (site, found) in &mut self.of_sites {
            let of_site = schemas.get(&site.as_deref());
            found
                .unknown
                .retain(|schema| of_site.is_some_and(|schemas| schemas.contains(&**schema)));
            found.keep_effects(is_wanted, numbers);
        }
    }
}

/// Consequences of the changes of all sites, by edit.
#[derive(Debug)]
pub(crate) struct ByEdit<'c> {
    effects: HashMap<EditId, Vec<EffectOfSite<'c>>>,
    /// Sites, and schemas of their changed outputs that the table does not have.
    unknown: HashSet<(Option<&'c str>, &'c str)>,
}

impl<'c> ByEdit<'c> {
    /// The effects of an edit in all sites.
    pub(crate) fn of(&self, edit: EditId) -> &[EffectOfSite<'c>] {
        self.effects
            .get(&edit)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// Whether the table has no row for a changed output.
    pub(crate) fn is_unknown(&self, change: &Change) -> bool {
        let place = (change.site.as_deref(), &*change.key.schema);
        self.unknown.contains(&place)
    }
}

/// An effect in one site.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EffectOfSite<'c> {
    pub(crate) site: Option<&'c Arc<str>>,
    pub(crate) effect: &'c Effect,
    /// Its row.
    pub(crate) row: &'c Row,
}

/// Consequences of the changes of one site.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SiteConsequences {
    /// By class, row and output.
    pub(crate) effects: Vec<Effect>,
    /// Whether Shipyard has a configuration for the site.
    pub(crate) is_configured: bool,
    /// Whether the site has nodes, without which `update_site` stops (shipyard
    /// `plugins/drydock_verify_nodes.py`).
    pub(crate) has_nodes: bool,
    /// Schemas of changed outputs that the table does not have.
    pub(crate) unknown: BTreeSet<Arc<str>>,
}

impl SiteConsequences {
    /// Keeps the effects of wanted outputs, with the new ids of their edits; those without an edit are
    /// left out.
    fn keep_effects(&mut self, is_wanted: &dyn Fn(&DocKey) -> bool, numbers: &[Option<EditId>]) {
        self.effects.retain_mut(|effect| {
            effect.edits = effect
                .edits
                .iter()
                .filter_map(|edit| numbers[edit.index()])
                .collect();
            is_wanted(&effect.output) && !effect.edits.is_empty()
        });
    }

    /// Whether the table says nothing about the changes.
    pub(crate) fn is_empty(&self) -> bool {
        self.effects.is_empty() && self.unknown.is_empty()
    }
}

/// A row of the table for one output.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Effect {
    pub(crate) class: Class,
    /// Number of the row.
    pub(crate) row: usize,
    /// Armada for which it holds, if it differs between them and none is chosen.
    pub(crate) armada: Option<ArmadaKind>,
    pub(crate) output: DocKey,
    /// The changed places; the root for a whole document.
    pub(crate) places: BTreeSet<Place>,
    /// Edits behind them.
    pub(crate) edits: BTreeSet<EditId>,
    /// Smallest action that brings the change to the site.
    pub(crate) action: Action,
    pub(crate) then: Option<Action>,
    pub(crate) cautions: BTreeSet<Caution>,
    /// Nodes concerned.
    pub(crate) nodes: Vec<Arc<str>>,
    /// Actions that apply the output.
    pub(crate) appliers: Appliers,
    /// Namespace and name of the release that the output describes.
    pub(crate) release: Option<ReleaseName>,
}

/// Namespace and name of a release, with the prefix of its manifest.
pub(crate) type ReleaseName = [Arc<str>; 2];

impl Effect {
    /// Nothing runs yet at a new site: one action deploys all of it.
    fn at_a_new_site(&mut self) {
        self.cautions.clear();
        self.then = None;
        if self.action != Action::None {
            self.action = Action::DeploySite;
        }
    }

    /// The actions that it needs. One that has to name nodes is needed only for some.
    pub(crate) fn actions(&self) -> impl Iterator<Item = Action> {
        let actions = iter::once(self.action).chain(self.then);
        actions.filter(|action| !action.names_nodes() || !self.nodes.is_empty())
    }
}

/// A place, ordered by its path.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    path: String,
    pub(crate) location: Location,
}

impl Place {
    fn of(location: &Location) -> Self {
        Self {
            path: location.to_string(),
            location: location.clone(),
        }
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for Place {}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        self.path.cmp(&other.path)
    }
}

/// One side of a site.
pub(crate) struct DeployedSide<'s> {
    pub(crate) graph: &'s Graph,
    pub(crate) rendered: &'s Rendered,
    pub(crate) deployment: &'s Deployment,
}

impl DeployedSide<'_> {
    /// Actions that apply an output.
    fn appliers(&self, doc: DocId) -> Appliers {
        let schema = &self.graph.recipe(doc).key.schema;
        match self.deployment.of_output(doc, schema) {
            Deployed::By(appliers) => appliers,
            Deployed::RenderedOnly | Deployed::NotKnown | Deployed::Other => Appliers::default(),
        }
    }

    /// Namespace and name of the release that a chart describes (armada `utils/release.py`).
    fn release_name(&self, chart: DocId) -> Option<ReleaseName> {
        let text = |doc: DocId, key: &str| self.rendered.data(doc)?.get(key)?.as_str();
        let mut applied = self.deployment.applied.iter();
        let applied = applied.find(|applied| applied.releases.contains(&chart))?;
        let name = text(chart, "release")?;
        let name = match text(applied.manifest?, "release_prefix") {
            Some(prefix) => format!("{prefix}-{name}").into(),
            None => name.into(),
        };
        Some([text(chart, "namespace").unwrap_or_default().into(), name])
    }
}

/// Finds the consequences of the changes between two sides of a site by a table, for the `chosen` Armada
/// or both.
pub(crate) fn consequences(
    sides: [Option<&DeployedSide<'_>>; 2],
    changes: &[Change],
    table: &ConsequenceTable,
    chosen: Option<ArmadaKind>,
) -> SiteConsequences {
    let has_nodes = changes
        .iter()
        .any(|change| change.key.schema.starts_with("drydock/"));
    let nodes = sides.map(|side| {
        side.filter(|_| has_nodes)
            .map(|side| Nodes::of(side.graph, side.rendered))
    });
    let releases = sides.map(|side| side.map(releases).unwrap_or_default());
    let of = |armada| {
        let mut found = Finding {
            table,
            sides,
            releases: &releases,
            nodes: &nodes,
            armada,
            effects: BTreeMap::new(),
            unknown: BTreeSet::new(),
        };
        found.add_memberships(changes);
        for change in changes {
            found.add(change);
        }
        found.add_deleted_pods();
        found.add_actions_of_upgrades();
        if sides[0].is_none() {
            found.effects.values_mut().for_each(Effect::at_a_new_site);
        }
        found
    };
    let (mut effects, unknown) = match chosen {
        Some(armada) => {
            let found = of(armada);
            (
                found.effects.into_values().collect::<Vec<_>>(),
                found.unknown,
            )
        }
        None => {
            let [helm, operator] = [ArmadaKind::Helm, ArmadaKind::Operator].map(of);
            (told_apart(&helm.effects, &operator.effects), helm.unknown)
        }
    };
    effects.sort_unstable();
    SiteConsequences {
        effects,
        unknown,
        is_configured: sides
            .into_iter()
            .flatten()
            .any(|side| side.deployment.configuration.is_some()),
        has_nodes: sides[1].is_some_and(|side| {
            let mut outputs = side.graph.outputs();
            outputs.any(|(_, recipe)| recipe.key.schema.starts_with("drydock/BaremetalNode/"))
        }),
    }
}

type Effects = BTreeMap<(usize, DocKey), Effect>;

/// Effects for both kinds of Armada; those that differ say for which they hold.
fn told_apart(helm: &Effects, operator: &Effects) -> Vec<Effect> {
    let without_row = |effect: &Effect| Effect {
        row: 0,
        ..effect.clone()
    };
    let [of_helm, of_operator]: [BTreeSet<Effect>; 2] =
        [helm, operator].map(|effects| effects.values().map(without_row).collect());
    let only = |effects: &Effects, others: &BTreeSet<Effect>, armada| -> Vec<Effect> {
        let only = effects
            .values()
            .filter(|effect| !others.contains(&without_row(effect)));
        only.map(|effect| Effect {
            armada: Some(armada),
            ..effect.clone()
        })
        .collect()
    };
    let is_common = |effect: &&Effect| of_operator.contains(&without_row(effect));
    let mut all: Vec<Effect> = helm.values().filter(is_common).cloned().collect();
    all.extend(only(helm, &of_operator, ArmadaKind::Helm));
    all.extend(only(operator, &of_helm, ArmadaKind::Operator));
    all
}

struct Finding<'s> {
    table: &'s ConsequenceTable,
    sides: [Option<&'s DeployedSide<'s>>; 2],
    releases: &'s [Releases<'s>; 2],
    nodes: &'s [Option<Nodes<'s>>; 2],
    armada: ArmadaKind,
    effects: Effects,
    unknown: BTreeSet<Arc<str>>,
}

impl Finding<'_> {
    /// Adds the rows for a change of an output that is there on both sides of what is deployed.
    fn add(&mut self, change: &Change) {
        let schema = &*change.key.schema;
        if is_of_armada(schema) && !self.is_deployed_twice(change.output, schema) {
            return;
        }
        // Its release is what counts: see `add_memberships`.
        if is_chart(schema) && change.renamed_from.is_some() {
            return;
        }
        // A chart that others depend on is a part of their releases, and none of its own.
        let is_changed = change.status == Status::Changed;
        if is_changed && is_chart(schema) && !self.is_release(&change.key) {
            let key = Key::string("dependencies", change.at);
            let place = Location(vec![Piece::Key(key)]);
            return self.add_at(change, ChangeKind::Changed, &place);
        }
        let root = Location::root();
        match (change.status, &change.renamed_from) {
            (Status::Added, _) => self.add_at(change, ChangeKind::DocumentAdded, &root),
            (Status::Removed, _) => self.add_at(change, ChangeKind::DocumentRemoved, &root),
            (_, Some(before)) if !is_of_armada(schema) => {
                let edits = || change.edits.iter().copied();
                let removed = Output {
                    head: None,
                    ..change.output
                };
                self.add_row(
                    removed,
                    before,
                    (ChangeKind::DocumentRemoved, &root),
                    edits(),
                );
                self.add_at(change, ChangeKind::DocumentAdded, &root);
            }
            (Status::Changed, _) => {
                let is_whole = |place: &Location, kind| self.table.is_whole(schema, &place.0, kind);
                let mut lists = BTreeSet::new();
                for difference in &change.data {
                    let list = member_list(schema, difference.location());
                    if let Some(list) = list {
                        lists.insert(list);
                        continue;
                    }
                    for (place, kind) in places(difference, is_whole) {
                        self.add_at(change, kind, &place);
                    }
                }
                for list in lists {
                    if self.has_same_members(change, list) {
                        let list = difference_at(change, list);
                        self.add_at(change, ChangeKind::Changed, &list);
                    }
                }
            }
            (Status::Broken | Status::Repaired | Status::Metadata | Status::NotComparable, _) => {}
        }
    }

    fn is_release(&self, key: &DocKey) -> bool {
        self.releases
            .iter()
            .any(|releases| releases.contains_key(key))
    }

    fn is_deployed_twice(&self, output: Output, schema: &str) -> bool {
        let is_deployed = |doc: Option<DocId>, side: Option<&DeployedSide<'_>>| {
            doc.zip(side)
                .is_some_and(|(doc, side)| side.deployment.of_output(doc, schema).is_applied())
        };
        is_deployed(output.base, self.sides[0]) && is_deployed(output.head, self.sides[1])
    }

    fn add_at(&mut self, change: &Change, kind: ChangeKind, place: &Location) {
        let edits = change.edits.iter().copied();
        self.add_row(change.output, &change.key, (kind, place), edits);
    }

    /// Whether a list has the same names on both sides, in another order. What joins or leaves is
    /// deployed or not: see `add_memberships`.
    fn has_same_members(&self, change: &Change, list: &str) -> bool {
        let names = |doc: Option<DocId>, side: Option<&DeployedSide<'_>>| -> BTreeSet<String> {
            let data = doc
                .zip(side)
                .and_then(|(doc, side)| side.rendered.data(doc));
            let names = data.and_then(|data| data.get(list)?.as_sequence());
            let names = names.unwrap_or_default().iter().filter_map(Node::as_str);
            names.map(str::to_owned).collect()
        };
        names(change.output.base, self.sides[0]) == names(change.output.head, self.sides[1])
    }

    fn add_row(
        &mut self,
        output: Output,
        key: &DocKey,
        (kind, place): (ChangeKind, &Location),
        edits: impl IntoIterator<Item = EditId>,
    ) {
        let at_hand = output
            .head
            .zip(self.sides[1])
            .or(output.base.zip(self.sides[0]));
        let Some((doc, side)) = at_hand else {
            return;
        };
        let changed = Changed {
            schema: &key.schema,
            name: &key.name,
            data: side.rendered.data(doc),
            place: &place.0,
            kind,
            armada: self.armada,
        };
        let Some((number, row)) = self.table.row(&changed) else {
            self.unknown.insert(key.schema.clone());
            return;
        };
        let appliers = side.appliers(doc);
        let effect = self
            .effects
            .entry((number, key.clone()))
            .or_insert_with(|| Effect {
                class: row.class,
                row: number,
                armada: None,
                output: key.clone(),
                places: BTreeSet::new(),
                edits: BTreeSet::new(),
                action: action(row, appliers, side.deployment),
                then: row.then,
                cautions: row.cautions.iter().copied().collect(),
                nodes: concerned(self.nodes, output, key, row),
                appliers,
                release: side.release_name(doc),
            });
        effect.places.insert(Place::of(place));
        effect.edits.extend(edits);
    }

    /// Adds the charts that are deployed on one side only, with the edits of all changed documents that
    /// decide it.
    fn add_memberships(&mut self, changes: &[Change]) {
        let [base, head] = self.releases;
        let deciding = changes.iter().filter(|change| {
            let schema = &*change.key.schema;
            is_of_armada(schema) || is_configuration(schema)
        });
        let edits_for = |key: &DocKey| -> BTreeSet<EditId> {
            let own = deciding.clone().filter(|change| {
                let is_there_once = matches!(change.status, Status::Added | Status::Removed);
                is_there_once && change.key == *key || is_renamed(change, key)
            });
            let own: BTreeSet<EditId> = own
                .flat_map(|change| change.edits.iter().copied())
                .collect();
            if !own.is_empty() {
                return own;
            }
            let others = deciding
                .clone()
                .filter(|change| !is_chart(&change.key.schema));
            others
                .flat_map(|change| change.edits.iter().copied())
                .collect()
        };
        let root = Location::root();
        for (key, doc) in head.iter().filter(|(key, _)| !base.contains_key(*key)) {
            let release = self.release(1, *doc);
            let before = base
                .iter()
                .find(|(_, before)| release.is_some() && self.release(0, **before) == release);
            let output = Output {
                base: before.map(|(_, before)| *before),
                head: Some(*doc),
            };
            match before {
                Some((before, _)) => {
                    let edits = &edits_for(key) | &edits_for(before);
                    self.add_differences(output, key, &edits);
                }
                None => {
                    self.add_row(
                        output,
                        key,
                        (ChangeKind::DocumentAdded, &root),
                        edits_for(key),
                    );
                }
            }
        }
        for (key, doc) in base.iter().filter(|(key, _)| !head.contains_key(*key)) {
            let release = self.release(0, *doc);
            let mut after = head.values();
            if after.any(|after| release.is_some() && self.release(1, *after) == release) {
                continue;
            }
            let output = Output {
                base: Some(*doc),
                head: None,
            };
            let at = (ChangeKind::DocumentRemoved, &root);
            self.add_row(output, key, at, edits_for(key));
        }
    }

    /// Name and namespace of the release of a chart on a side: Armada finds a release by these (armada
    /// `handlers/chart_deploy.py`).
    fn release(&self, side: usize, chart: DocId) -> Option<[Option<&str>; 2]> {
        let data = self.sides[side]?.rendered.data(chart)?;
        let text = |key: &str| data.get(key).and_then(Node::as_str);
        Some([Some(text("release")?), text("namespace")])
    }

    /// Adds what differs between two charts with the same release.
    fn add_differences(&mut self, output: Output, key: &DocKey, edits: &BTreeSet<EditId>) {
        let [base, head] = [(output.base, 0), (output.head, 1)]
            .map(|(doc, side)| self.sides[side].and_then(|side| side.rendered.data(doc?)));
        let (Some(base), Some(head)) = (base, head) else {
            return;
        };
        let is_whole = |place: &Location, kind| self.table.is_whole(&key.schema, &place.0, kind);
        let differences = differences(base, head, &ListKeys::default());
        let places = differences.iter().flat_map(|it| places(it, is_whole));
        for (place, kind) in places.collect::<Vec<_>>() {
            self.add_row(output, key, (kind, &place), edits.iter().copied());
        }
    }

    /// An upgrade of a chart with `upgrade.pre.delete` deletes jobs and pods.
    fn add_deleted_pods(&mut self) {
        let Some(head) = self.sides[1] else { return };
        let deleting: BTreeSet<&DocKey> = head
            .graph
            .outputs()
            .filter(|(doc, recipe)| {
                is_chart(&recipe.key.schema) && deletes_pods(head.rendered.data(*doc))
            })
            .map(|(_, recipe)| &recipe.key)
            .collect();
        for effect in self.effects.values_mut() {
            if effect.class == Class::Upgrade && deleting.contains(&effect.output) {
                effect.cautions.insert(Caution::DeletesPods);
            }
        }
    }
}

impl Finding<'_> {
    /// A setting of a chart, or of one that others depend on, takes effect with the upgrade of the
    /// release.
    fn add_actions_of_upgrades(&mut self) {
        let Some(head) = self.sides[1] else { return };
        let is_upgraded = |effect: &&Effect| {
            effect.action != Action::None
                && matches!(
                    effect.class,
                    Class::Upgrade | Class::Install | Class::ReleaseReplaced
                )
        };
        let upgraded: HashMap<DocKey, Action> = self
            .effects
            .values()
            .filter(is_upgraded)
            .map(|effect| (effect.output.clone(), effect.action))
            .collect();
        let is_setting = |effect: &&mut Effect| {
            effect.class == Class::Setting
                && effect.action == Action::None
                && is_chart(&effect.output.schema)
        };
        let mut settings = self.effects.values_mut().filter(is_setting).peekable();
        if upgraded.is_empty() || settings.peek().is_none() {
            return;
        }
        let releases = dependents(head);
        for effect in settings {
            let of_releases = releases.get(&effect.output).into_iter().flatten();
            let actions = of_releases.filter_map(|release| upgraded.get(*release));
            effect.action = actions.max().copied().unwrap_or(Action::None);
        }
    }
}

/// Whether a document got or gave up this name.
fn is_renamed(change: &Change, key: &DocKey) -> bool {
    change
        .renamed_from
        .as_ref()
        .is_some_and(|before| before == key || change.key == *key)
}

/// Names of the nodes that an output concerns on either side. An action that has to name nodes is for
/// those that stay.
fn concerned(
    nodes: &[Option<Nodes<'_>>; 2],
    output: Output,
    key: &DocKey,
    row: &Row,
) -> Vec<Arc<str>> {
    let sides = [output.base, output.head].into_iter().zip(nodes);
    let names: BTreeSet<&str> = sides
        .filter_map(|(doc, nodes)| nodes.as_ref()?.concerned(doc?, &key.schema, &key.name))
        .flatten()
        .collect();
    let mut actions = iter::once(row.action).chain(row.then);
    let is_named = actions.any(Action::names_nodes);
    let stays = |name: &&str| {
        let mut sides = nodes.iter().flatten();
        !is_named || sides.all(|nodes| nodes.has(name))
    };
    names.into_iter().filter(stays).map(Arc::from).collect()
}

type Releases<'s> = BTreeMap<&'s DocKey, DocId>;

/// The charts that an action deploys as releases, by name.
fn releases<'s>(side: &DeployedSide<'s>) -> Releases<'s> {
    let charts = side.deployment.releases();
    charts
        .map(|doc| (&side.graph.recipe(doc).key, doc))
        .collect()
}

/// Whether the data of a chart have `upgrade.pre.delete`.
fn deletes_pods(data: Option<&Node>) -> bool {
    data.and_then(|data| data.get("upgrade")?.get("pre")?.get("delete"))
        .is_some_and(|delete| !delete.value.is_falsy())
}

/// Consequences of a change of one value of an output, for each kind of Armada if none is chosen; none
/// if the table does not have its schema.
pub(crate) fn effects_of_value(
    table: &ConsequenceTable,
    chosen: Option<ArmadaKind>,
    side: &DeployedSide<'_>,
    doc: DocId,
    place: &Location,
) -> BTreeSet<(Class, Action)> {
    let key = &side.graph.recipe(doc).key;
    let kinds = ArmadaKind::ALL.iter();
    let kinds = kinds.filter(|kind| chosen.is_none_or(|chosen| chosen == **kind));
    let rows = kinds.filter_map(|armada| {
        let changed = Changed {
            schema: &key.schema,
            name: &key.name,
            data: side.rendered.data(doc),
            place: &place.0,
            kind: ChangeKind::Changed,
            armada: *armada,
        };
        table.row(&changed)
    });
    let appliers = side.appliers(doc);
    rows.map(|(_, row)| (row.class, action(row, appliers, side.deployment)))
        .collect()
}

/// The smallest action that brings a change to the site: `update_software`, unless only `update_site`
/// applies the output, or `update_software` would also apply other releases.
fn action(row: &Row, appliers: Appliers, deployment: &Deployment) -> Action {
    let [by_site, by_software] = ManifestAction::ALL.map(|action| action.is_in(appliers));
    match (row.action, by_site, by_software) {
        (Action::UpdateSoftware, true, false) => Action::UpdateSite,
        (Action::UpdateSoftware, true, true) if deployment.has_more_software() => {
            Action::UpdateSite
        }
        (action, ..) => action,
    }
}

/// The list of groups or charts that a place is in.
fn member_list<'l>(schema: &str, place: &'l Location) -> Option<&'l str> {
    let key = place
        .0
        .first()
        .filter(|_| is_of_armada(schema))?
        .as_text()?;
    ["chart_group", "chart_groups"]
        .contains(&key)
        .then_some(key)
}

/// Place of a list in the data of a change that has a difference in it.
fn difference_at(change: &Change, list: &str) -> Location {
    let places = change.data.iter().map(Difference::location);
    let mut pieces = places.filter_map(|place| place.0.first());
    let piece = pieces.find(|piece| piece.as_text() == Some(list));
    Location(piece.cloned().into_iter().collect())
}

/// Changed places of a difference: the values inside of an added or removed collection, or the
/// collections that rows take as a whole.
fn places(
    difference: &Difference,
    is_whole: impl Fn(&Location, ChangeKind) -> bool,
) -> Vec<(Location, ChangeKind)> {
    let location = difference.location();
    let (node, kind) = match (&difference.base, &difference.head) {
        (Some(_), Some(_)) | (None, None) => return vec![(location.clone(), ChangeKind::Changed)],
        (None, Some(head)) => (&head.node, ChangeKind::Added),
        (Some(base), None) => (&base.node, ChangeKind::Removed),
    };
    let mut found = Vec::new();
    let mut next = vec![(location.clone(), node)];
    while let Some((place, node)) = next.pop() {
        let before = next.len();
        if !is_whole(&place, kind) {
            next.extend(children(node).map(|(piece, child)| (place.join(piece), child)));
        }
        if next.len() == before {
            found.push((place, kind));
        }
    }
    found
}
