//! Which outputs of a site are deployed. An action of Shipyard applies the manifest that the site's
//! `DeploymentConfiguration` names, and Armada reads the groups and charts that the manifest leads to
//! (armada `handlers/manifest.py`). No action reads other charts.

mod consequence;
mod nodes;
mod table;

use std::collections::{BTreeMap, BTreeSet, HashMap};

pub use consequence::Consequences;
pub(crate) use consequence::{
    ByEdit, DeployedSide, Effect, EffectOfSite, SiteConsequences, consequences, effects_of_value,
};
pub(crate) use nodes::Nodes;
pub use table::{Action, Caution, ConsequenceTable};
pub(crate) use table::{ArmadaKind, Class, Row};

use crate::compare::{Appliers, Deployed};
use crate::graph::{DocId, Graph, Recipe};
use crate::render::Rendered;
use crate::source::DocKey;
use crate::yaml::Node;

/// An action of Shipyard that applies a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ManifestAction {
    UpdateSite,
    UpdateSoftware,
}

impl ManifestAction {
    pub(crate) const ALL: [Self; 2] = [Self::UpdateSite, Self::UpdateSoftware];

    /// Key of the action's manifest in `armada` of the configuration.
    pub(crate) fn manifest_key(self) -> &'static str {
        match self {
            Self::UpdateSite => "manifest",
            Self::UpdateSoftware => "update_manifest",
        }
    }

    /// Number of the action as an applier.
    fn number(self) -> usize {
        self as usize
    }

    /// Whether it is one of the appliers.
    pub(crate) fn is_in(self, appliers: Appliers) -> bool {
        appliers.has(self.number())
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::UpdateSite => "update_site",
            Self::UpdateSoftware => "update_software",
        }
    }
}

/// The outputs of one side of a site that are deployed.
#[derive(Debug, Default)]
pub(crate) struct Deployment {
    /// The site's `DeploymentConfiguration`.
    pub(crate) configuration: Option<DocId>,
    /// What each action applies; none without a configuration.
    pub(crate) applied: Vec<AppliedManifest>,
    deployed: BTreeMap<DocId, Appliers>,
}

/// Manifest that an action applies.
#[derive(Debug)]
pub(crate) struct AppliedManifest {
    pub(crate) action: ManifestAction,
    /// Its name.
    pub(crate) name: String,
    /// Whether the configuration names it; otherwise its name is Shipyard's default.
    pub(crate) is_named: bool,
    /// The rendered manifest.
    pub(crate) manifest: Option<DocId>,
    /// Its groups, in order.
    pub(crate) groups: Vec<DocId>,
    /// Charts in the groups: each is a release.
    releases: BTreeSet<DocId>,
    /// These, and the charts that they depend on.
    pub(crate) charts: BTreeSet<DocId>,
}

/// Schema and name of the configuration (`document_info` in shipyard `conf/config.py`, which an
/// installation can change).
const CONFIGURATION: [&str; 2] = [
    "shipyard/DeploymentConfiguration/v1",
    "deployment-configuration",
];

/// Manifest of both actions if the configuration names none (shipyard
/// `plugins/deployment_configuration_operator.py`).
pub(crate) const DEFAULT_MANIFEST: &str = "full-site";

impl Deployment {
    /// Documents whose rendered data decides what is deployed, of a site in which more may be rendered
    /// step by step: the configuration, manifests and groups, and the charts in these.
    pub(crate) fn needed(graph: &Graph) -> Vec<DocId> {
        let is_read = |schema: &str| schema == CONFIGURATION[0] || is_of_armada(schema);
        let outputs = graph.outputs();
        outputs
            .filter(|(_, recipe)| is_read(&recipe.key.schema))
            .map(|(doc, _)| doc)
            .collect()
    }

    /// Finds what is deployed of a rendered site.
    pub(crate) fn of(graph: &Graph, rendered: &Rendered) -> Self {
        let Some(configuration) = configuration(graph) else {
            return Self::default();
        };
        let Some(data) = rendered.data(configuration) else {
            return Self::default();
        };
        let armada = Armada::of(graph, rendered);
        let applied: Vec<AppliedManifest> = ManifestAction::ALL
            .map(|action| armada.applied(data, action))
            .into();
        let mut deployed: BTreeMap<DocId, Appliers> = BTreeMap::new();
        for applied in &applied {
            for doc in applied.documents() {
                let appliers = deployed.entry(doc).or_default();
                appliers.add(applied.action.number());
            }
        }
        Self {
            configuration: Some(configuration),
            applied,
            deployed,
        }
    }

    /// Charts that an action deploys as releases.
    fn releases(&self) -> impl Iterator<Item = DocId> {
        let applied = self.applied.iter();
        applied.flat_map(|applied| applied.releases.iter().copied())
    }

    /// Whether `update_software` applies releases that `update_site` does not.
    fn has_more_software(&self) -> bool {
        match &self.applied[..] {
            [site, software] => !software.releases.is_subset(&site.releases),
            _ => false,
        }
    }

    /// Whether an output with this schema is deployed.
    pub(crate) fn of_output(&self, doc: DocId, schema: &str) -> Deployed {
        if !is_of_armada(schema) {
            return Deployed::Other;
        }
        match self.deployed.get(&doc) {
            Some(appliers) => Deployed::By(*appliers),
            None if self.is_known() => Deployed::RenderedOnly,
            None => Deployed::NotKnown,
        }
    }

    /// Number of deployed outputs, if it is known what is deployed.
    pub(crate) fn count(&self) -> Option<usize> {
        self.is_known().then_some(self.deployed.len())
    }

    /// Whether it is known what is not deployed: a configuration is rendered, and each manifest that
    /// it names.
    fn is_known(&self) -> bool {
        let is_found = |applied: &AppliedManifest| applied.manifest.is_some() || !applied.is_named;
        self.applied
            .iter()
            .any(|applied| applied.manifest.is_some())
            && self.applied.iter().all(is_found)
    }
}

impl AppliedManifest {
    /// The manifest, its groups and charts.
    fn documents(&self) -> impl Iterator<Item = DocId> {
        let groups = self.manifest.iter().chain(&self.groups);
        groups.chain(&self.charts).copied()
    }
}

/// The document that Shipyard reads its configuration from.
pub(crate) fn configuration(graph: &Graph) -> Option<DocId> {
    let is_configuration =
        |recipe: &Recipe| [&*recipe.key.schema, &*recipe.key.name] == CONFIGURATION;
    let mut outputs = graph.outputs();
    outputs
        .find(|(_, recipe)| is_configuration(recipe))
        .map(|(doc, _)| doc)
}

/// Whether a schema is that of documents which only Armada reads.
pub(crate) fn is_of_armada(schema: &str) -> bool {
    Kind::ALL.iter().any(|kind| kind.is_of(schema))
}

/// Whether a schema is that of the configuration, in any version.
fn is_configuration(schema: &str) -> bool {
    schema.starts_with("shipyard/DeploymentConfiguration/")
}

/// Whether a schema is that of charts.
pub(crate) fn is_chart(schema: &str) -> bool {
    Kind::Chart.is_of(schema)
}

/// Names of the rendered manifests.
pub(crate) fn manifests(graph: &Graph) -> impl Iterator<Item = &str> {
    let outputs = graph.outputs();
    let manifests = outputs.filter(|(_, recipe)| Kind::Manifest.is_of(&recipe.key.schema));
    manifests.map(|(_, recipe)| &*recipe.key.name)
}

/// Kinds of documents that Armada reads, in any version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    Manifest,
    ChartGroup,
    Chart,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Manifest, Self::ChartGroup, Self::Chart];

    fn prefix(self) -> &'static str {
        match self {
            Self::Manifest => "armada/Manifest/",
            Self::ChartGroup => "armada/ChartGroup/",
            Self::Chart => "armada/Chart/",
        }
    }

    fn is_of(self, schema: &str) -> bool {
        schema.starts_with(self.prefix())
    }
}

/// For each chart, the charts of the releases that it is a part of.
fn dependents<'r>(side: &DeployedSide<'r>) -> BTreeMap<&'r DocKey, BTreeSet<&'r DocKey>> {
    let armada = Armada::of(side.graph, side.rendered);
    let key = |doc: DocId| &side.graph.recipe(doc).key;
    let mut found: BTreeMap<&DocKey, BTreeSet<&DocKey>> = BTreeMap::new();
    for release in side.deployment.releases() {
        for chart in armada.with_dependencies(vec![release]) {
            found.entry(key(chart)).or_default().insert(key(release));
        }
    }
    found
}

/// Rendered documents that Armada reads. It finds them by kind and name: the first one of several
/// versions.
struct Armada<'r> {
    rendered: &'r Rendered,
    by_name: HashMap<(Kind, &'r str), DocId, foldhash::fast::RandomState>,
}

impl<'r> Armada<'r> {
    fn of(graph: &'r Graph, rendered: &'r Rendered) -> Self {
        let mut by_name = HashMap::default();
        for (doc, recipe) in graph.outputs() {
            let kind = Kind::ALL
                .into_iter()
                .find(|kind| kind.is_of(&recipe.key.schema));
            if let Some(kind) = kind {
                by_name.entry((kind, &*recipe.key.name)).or_insert(doc);
            }
        }
        Self { rendered, by_name }
    }

    /// The manifest that an action applies by a configuration. Shipyard uses its default for any value
    /// that counts as false.
    fn applied(&self, configuration: &Node, action: ManifestAction) -> AppliedManifest {
        let named = configuration
            .get("armada")
            .and_then(|armada| armada.get(action.manifest_key()))
            .filter(|name| !name.value.is_falsy());
        let name = named.map_or(Some(DEFAULT_MANIFEST), Node::as_str);
        let manifest = name.and_then(|name| self.named(Kind::Manifest, name));
        let groups = self.listed(manifest, "chart_groups", Kind::ChartGroup);
        let releases: BTreeSet<DocId> = groups
            .iter()
            .flat_map(|group| self.listed(Some(*group), "chart_group", Kind::Chart))
            .collect();
        let charts = self.with_dependencies(releases.iter().copied().collect());
        AppliedManifest {
            action,
            name: name.unwrap_or_default().to_owned(),
            is_named: named.is_some(),
            manifest,
            groups,
            releases,
            charts,
        }
    }

    /// Some charts, and those that they depend on.
    fn with_dependencies(&self, charts: Vec<DocId>) -> BTreeSet<DocId> {
        let mut found = BTreeSet::new();
        let mut next = charts;
        while let Some(chart) = next.pop() {
            if found.insert(chart) {
                next.extend(self.listed(Some(chart), "dependencies", Kind::Chart));
            }
        }
        found
    }

    fn named(&self, kind: Kind, name: &str) -> Option<DocId> {
        self.by_name.get(&(kind, name)).copied()
    }

    /// The documents that a list of a document names. `missing-reference` reports the others.
    fn listed(&self, doc: Option<DocId>, key: &str, kind: Kind) -> Vec<DocId> {
        let list = doc
            .and_then(|doc| self.rendered.data(doc)?.get(key)?.as_sequence())
            .unwrap_or_default();
        let names = list.iter().filter_map(Node::as_str);
        names.filter_map(|name| self.named(kind, name)).collect()
    }
}
