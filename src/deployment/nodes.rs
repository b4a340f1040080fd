//! Nodes of a rendered site as Drydock derives them: values of a node come from its host profiles
//! (drydock `objects/hostprofile.py`), a boot action has a filter of nodes
//! (`orchestrator/orchestrator.py`), and a deployment strategy selects nodes in groups (shipyard
//! `common/deployment_group/`).

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::{DocId, Graph};
use crate::render::Rendered;
use crate::yaml::emit::scalar_text;
use crate::yaml::{Mapping, Node};

/// Nodes of a site.
pub(crate) struct Nodes<'r> {
    rendered: &'r Rendered,
    /// Rendered documents of Drydock and Shipyard by kind and name.
    documents: BTreeMap<(&'r str, &'r str), DocId>,
    all: Vec<EffectiveNode<'r>>,
}

/// A node with what it has from its host profiles.
struct EffectiveNode<'r> {
    name: &'r str,
    /// Its document, then its host profiles, the nearest first.
    chain: Vec<DocId>,
    tags: BTreeSet<&'r str>,
    labels: BTreeMap<&'r str, &'r Node>,
    rack: Option<&'r str>,
    hardware_profile: Option<&'r str>,
    networks: BTreeSet<&'r str>,
    links: BTreeSet<&'r str>,
}

/// Maximum length of a chain of host profiles.
const MAX_CHAIN: usize = 64;

const NODE: &str = "drydock/BaremetalNode";
const HOST_PROFILE: &str = "drydock/HostProfile";
const STRATEGY: &str = "shipyard/DeploymentStrategy";

impl<'r> Nodes<'r> {
    pub(crate) fn of(graph: &'r Graph, rendered: &'r Rendered) -> Self {
        let mut documents = BTreeMap::new();
        for (doc, recipe) in graph.outputs() {
            let key = &recipe.key;
            if let Some((kind, _)) = key.schema.rsplit_once('/')
                && (kind.starts_with("drydock/") || kind == STRATEGY)
            {
                documents.entry((kind, &*key.name)).or_insert(doc);
            }
        }
        let mut found = Self {
            rendered,
            documents,
            all: Vec::new(),
        };
        found.all = found
            .documents
            .iter()
            .filter(|((kind, _), _)| *kind == NODE)
            .map(|((_, name), doc)| found.effective(name, *doc))
            .collect();
        found
    }

    /// Whether the site has a node of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.documents.contains_key(&(NODE, name))
    }

    /// Names of the nodes that a changed document of Drydock concerns; `None` if its kind concerns no
    /// single nodes.
    pub(crate) fn concerned(&self, doc: DocId, schema: &str, name: &str) -> Option<Vec<&'r str>> {
        let of = |is_of: &dyn Fn(&EffectiveNode<'r>) -> bool| {
            let nodes = self.all.iter().filter(|node| is_of(node));
            Some(nodes.map(|node| node.name).collect())
        };
        match schema.rsplit_once('/')?.0 {
            NODE | HOST_PROFILE => of(&|node| node.chain.contains(&doc)),
            "drydock/HardwareProfile" => of(&|node| node.hardware_profile == Some(name)),
            "drydock/Network" => of(&|node| node.networks.contains(name)),
            "drydock/NetworkLink" => of(&|node| node.links.contains(name)),
            "drydock/BootAction" => {
                let filter = self.rendered.data(doc)?.get("node_filter");
                of(&|node| filter.is_none_or(|filter| is_in_filter(node, filter)))
            }
            _ => None,
        }
    }

    /// Documents of the nodes that no group of the deployment strategy with this name selects, so that
    /// `update_site` does not deploy them. None if the strategy is not rendered.
    pub(crate) fn in_no_group(&self, strategy: &str) -> Vec<DocId> {
        let strategy = self.documents.get(&(STRATEGY, strategy));
        let data = strategy.and_then(|doc| self.rendered.data(*doc));
        let Some(groups) = data.and_then(|data| data.get("groups")?.as_sequence()) else {
            return Vec::new();
        };
        let is_selected =
            |node: &&EffectiveNode<'r>| groups.iter().any(|group| is_in_group(node, group));
        let left = self.all.iter().filter(|node| !is_selected(node));
        left.filter_map(|node| node.chain.first().copied())
            .collect()
    }

    fn effective(&self, name: &'r str, doc: DocId) -> EffectiveNode<'r> {
        let mut chain = vec![doc];
        let mut next = Some(doc);
        while let Some(doc) = next.filter(|_| chain.len() < MAX_CHAIN) {
            let profile = self
                .data(doc)
                .and_then(|data| data.get("host_profile")?.as_str());
            next = profile
                .and_then(|name| self.documents.get(&(HOST_PROFILE, name)).copied())
                .filter(|profile| !chain.contains(profile));
            chain.extend(next);
        }
        let data: Vec<&Node> = chain.iter().filter_map(|doc| self.data(*doc)).collect();
        let metadata = || data.iter().filter_map(|data| data.get("metadata"));
        EffectiveNode {
            name,
            tags: metadata().flat_map(|it| texts(it.get("tags"))).collect(),
            labels: labels(metadata()),
            rack: metadata().find_map(|it| it.get("rack")?.as_str()),
            hardware_profile: data
                .iter()
                .find_map(|data| data.get("hardware_profile")?.as_str()),
            networks: networks(&data),
            links: interfaces(&data)
                .filter_map(|it| it.get("device_link")?.as_str())
                .collect(),
            chain,
        }
    }

    fn data(&self, doc: DocId) -> Option<&'r Node> {
        self.rendered.data(doc)
    }
}

/// Entries of `owner_data`; the nearest document decides.
fn labels<'r>(metadata: impl Iterator<Item = &'r Node>) -> BTreeMap<&'r str, &'r Node> {
    let mut labels = BTreeMap::new();
    for owner_data in metadata.filter_map(|it| it.get("owner_data")?.as_mapping()) {
        for (key, value) in owner_data.iter() {
            if let Some(key) = key.as_str() {
                labels.entry(key).or_insert(value);
            }
        }
    }
    labels
}

/// Networks of the interfaces and addresses, and the primary one.
fn networks<'r>(data: &[&'r Node]) -> BTreeSet<&'r str> {
    let of_interfaces = interfaces(data).flat_map(|it| texts(it.get("networks")));
    let addresses = data
        .iter()
        .filter_map(|it| it.get("addressing")?.as_sequence());
    let of_addresses = addresses
        .flatten()
        .filter_map(|address| address.get("network")?.as_str());
    let named = data.iter().flat_map(|it| {
        let primary = it.get("primary_network");
        let out_of_band = it.get("oob").and_then(|oob| oob.get("network"));
        primary
            .into_iter()
            .chain(out_of_band)
            .filter_map(Node::as_str)
    });
    of_interfaces.chain(of_addresses).chain(named).collect()
}

fn interfaces<'r>(data: &[&'r Node]) -> impl Iterator<Item = &'r Node> {
    let all = data
        .iter()
        .filter_map(|it| it.get("interfaces")?.as_mapping());
    all.flat_map(Mapping::values)
}

fn texts(list: Option<&Node>) -> impl Iterator<Item = &str> {
    let items = list.and_then(Node::as_sequence).unwrap_or_default();
    items.iter().filter_map(Node::as_str)
}

/// Whether a `node_filter` has a node. Filters are joined by `filter_set_type`, and one without criteria
/// is left out, unless it is a union, which has no node.
fn is_in_filter(node: &EffectiveNode<'_>, filter: &Node) -> bool {
    let is_union =
        |filter: &Node, key: &str| filter.get(key).and_then(Node::as_str) == Some("union");
    let filters = filter.get("filter_set").and_then(Node::as_sequence);
    let results = filters.unwrap_or_default().iter().filter_map(|filter| {
        let is_union = is_union(filter, "filter_type");
        joined(criteria(node, filter), is_union).or(is_union.then_some(false))
    });
    joined(results, is_union(filter, "filter_set_type")) == Some(true)
}

/// Whether a group of a deployment strategy selects a node: one of its selectors does, with all of its
/// criteria. A group without criteria selects all nodes.
fn is_in_group(node: &EffectiveNode<'_>, group: &Node) -> bool {
    let selectors = group.get("selectors").and_then(Node::as_sequence);
    let results = selectors
        .unwrap_or_default()
        .iter()
        .filter_map(|selector| joined(criteria(node, selector), false));
    joined(results, true).unwrap_or(true)
}

/// Result of each criterion of a filter or a selector that is there and not empty: any of its names
/// matches.
fn criteria<'n>(
    node: &'n EffectiveNode<'_>,
    filter: &'n Node,
) -> impl Iterator<Item = bool> + use<'n> {
    let any = |key: &str, has: &dyn Fn(&str) -> bool| {
        let mut names = texts(filter.get(key)).peekable();
        names.peek()?;
        Some(names.any(has))
    };
    let labels = labels_of(filter);
    let has_label = |(key, value): &(&str, String)| {
        let own = node.labels.get(key);
        own.is_some_and(|own| scalar_text(&own.value) == *value)
    };
    let results = [
        any("node_names", &|name| name == node.name),
        any("node_tags", &|tag| node.tags.contains(tag)),
        (!labels.is_empty()).then(|| labels.iter().any(has_label)),
        any("rack_names", &|rack| node.rack == Some(rack)),
    ];
    results.into_iter().flatten()
}

/// `node_labels` of a filter, a mapping, or of a selector, a list of `key:value`.
fn labels_of(filter: &Node) -> Vec<(&str, String)> {
    let labels = filter.get("node_labels");
    let mapping = labels.and_then(Node::as_mapping).into_iter();
    let of_mapping = mapping
        .flat_map(Mapping::iter)
        .filter_map(|(key, value)| Some((key.as_str()?, scalar_text(&value.value))));
    let of_list = texts(labels)
        .filter_map(|label| label.split_once(':'))
        .map(|(key, value)| (key.trim(), value.trim().to_owned()));
    of_mapping.chain(of_list).collect()
}

/// Any or all of the results; `None` if there are none.
fn joined(results: impl IntoIterator<Item = bool>, is_union: bool) -> Option<bool> {
    results
        .into_iter()
        .reduce(|one, other| if is_union { one || other } else { one && other })
}
