//! `incomplete-chart`: rendered document without keys that Armada, Promenade or Shipyard requires.

use super::{SiteFacts, lost_data};
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::graph::{Destination, DocId, Op, Step};
use crate::merge::deckhand::Method;
use crate::render::replay::{Replay, Via};
use crate::schema::{Violation, Wrong};
use crate::source::Span;
use crate::system::deckhand::document::DocumentFaultKind;
use crate::system::deckhand::schema::refused_output;
use crate::yaml::path::{Location, Piece, Segment};
use crate::yaml::{Key, Node};

super::rule!(
    "incomplete-chart", Error, "rendered document without keys that Armada, Promenade or Shipyard requires";
    Site(check)
);

/// Required keys: schema of the documents, program, paths.
///
/// These are the keys that every version of the program's own schema requires, with a type other
/// than null. Drydock's schemas require none, and `labels` of `promenade/Genesis/v1` may be null.
const REQUIRED: [[&str; 3]; 14] = [
    [
        "armada/Chart/v1",
        "Armada",
        "chart_name namespace release source.location source.subpath source.type",
    ],
    [
        "armada/Chart/v2",
        "Armada",
        "namespace release source.location source.type",
    ],
    ["armada/ChartGroup/v1", "Armada", "chart_group"],
    ["armada/ChartGroup/v2", "Armada", "chart_group"],
    [
        "armada/Manifest/v1",
        "Armada",
        "chart_groups release_prefix",
    ],
    [
        "armada/Manifest/v2",
        "Armada",
        "chart_groups release_prefix",
    ],
    ["promenade/Docker/v1", "Promenade", "config"],
    [
        "promenade/Genesis/v1",
        "Promenade",
        "hostname images.armada images.kubernetes.apiserver images.kubernetes.controller-manager \
         images.kubernetes.etcd images.kubernetes.scheduler ip",
    ],
    [
        "promenade/HostSystem/v1",
        "Promenade",
        "images.helm.helm packages",
    ],
    ["promenade/Kubelet/v1", "Promenade", "images.pause"],
    [
        "promenade/KubernetesNetwork/v1",
        "Promenade",
        "dns.cluster_domain dns.service_ip kubernetes.pod_cidr kubernetes.service_cidr \
         kubernetes.service_ip",
    ],
    ["promenade/KubernetesNode/v1", "Promenade", "ip"],
    [
        "shipyard/DeploymentConfiguration/v1",
        "Shipyard",
        "armada.manifest",
    ],
    ["shipyard/DeploymentStrategy/v1", "Shipyard", "groups"],
];

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let replay = Replay::new(facts.graph, facts.rendered);
    // The keys of an encrypted document are unknown.
    let documents = facts
        .site
        .iter()
        .filter(|(_, document)| !document.wrapped_encrypted);
    for (doc, document) in documents.filter(|(doc, _)| facts.site.is_output(*doc)) {
        let required = REQUIRED
            .iter()
            .find(|[schema, ..]| **schema == *document.key.schema);
        let (Some([_, program, paths]), Some(data)) = (required, facts.rendered.data(doc)) else {
            continue;
        };
        let mut missing: Vec<&str> = paths
            .split(' ')
            .filter_map(|path| missing_key(data, path))
            .collect();
        missing.dedup();
        missing.retain(|key| !has_other_cause(facts, doc, key));
        if missing.is_empty() {
            continue;
        }
        let refused = refused_output(facts.site, facts.schemas, facts.graph.sharers, doc, data);
        let violations = || {
            refused
                .iter()
                .flat_map(|refused| &refused.refusal.violations)
        };
        missing.retain(|key| !violations().any(|violation| is_about(violation, key)));
        if missing.is_empty() {
            continue;
        }
        let finding = report(facts, &replay, doc, program, &missing);
        let is_removed = |key: &&str| removing_step(facts, &replay, doc, key).is_some();
        let is_meant =
            paths.split(' ').any(|path| !is_missing(data, path)) || missing.iter().any(is_removed);
        // Without any of the keys, a document may be meant for other readers.
        let severity = if is_meant {
            finding.severity
        } else {
            Severity::Warning
        };
        found.push(Diagnostic {
            severity,
            ..finding
        });
    }
}

/// Shortest part of a path at which the data has nothing or null.
fn missing_key<'p>(data: &Node, path: &'p str) -> Option<&'p str> {
    let ends = path
        .match_indices('.')
        .map(|(end, _)| end)
        .chain([path.len()]);
    ends.map(|end| &path[..end])
        .find(|key| is_missing(data, key))
}

fn is_missing(data: &Node, key: &str) -> bool {
    let node = key.split('.').try_fold(data, |node, name| node.get(name));
    node.is_none_or(Node::is_null)
}

/// Whether a key is missing because of a defect that another rule reports: a missing parent, an
/// invalid action, or a substitution without a value.
fn has_other_cause(facts: &SiteFacts<'_>, doc: DocId, key: &str) -> bool {
    let lacks = |doc: &DocId| {
        facts
            .rendered
            .data(*doc)
            .is_none_or(|data| is_missing(data, key))
    };
    let base = |doc: &DocId| {
        let recipe = facts.graph.recipe(*doc);
        recipe
            .base
            .filter(|_| recipe.starts_as_base())
            .map(|base| base.doc)
            .filter(lacks)
    };
    std::iter::successors(Some(doc), base).any(|doc| {
        let document = facts.document(doc);
        let has_parent = document.parent_selector.is_none() || facts.site.parent(doc).is_some();
        let mut faults = document.faults.iter();
        !has_parent
            || faults.any(|fault| matches!(fault.kind, DocumentFaultKind::Unpaired { .. }))
            || document.actions().len() != document.actions_written
            || lost_data::has_failed_action(facts, doc)
            || document
                .substitutions()
                .flat_map(|substitution| &substitution.writing.to)
                .any(|to| should_write(to, key) && !has_written(facts, doc, to))
    })
}

/// Whether a destination is the key, inside of it, or around it. A pattern writes no missing keys.
fn should_write(to: &Destination, key: &str) -> bool {
    let is_name = |(segment, name): (&Segment, &str)| match segment {
        Segment::Name(segment) => segment == name,
        Segment::Index(_) => false,
    };
    let segments = to.path.value.segments().filter(|_| to.part.is_none());
    segments.is_some_and(|segments| segments.iter().zip(key.split('.')).all(is_name))
}

fn has_written(facts: &SiteFacts<'_>, doc: DocId, to: &Destination) -> bool {
    facts
        .rendered
        .writes(doc)
        .iter()
        .any(|write| write.at == to.path.span)
}

/// Whether a violation of the site's own schema reports that the key is missing.
fn is_about(violation: &Violation, key: &str) -> bool {
    let place = violation.place();
    let location = location(key, violation.keyword);
    match &violation.wrong {
        Wrong::MissingKey { key, .. } => {
            let key = Key::string(key.as_str(), violation.keyword);
            location.starts_with(&place.join(Piece::Key(key)))
        }
        _ => location.starts_with(place),
    }
}

fn location(key: &str, span: Span) -> Location {
    Location(
        key.split('.')
            .map(|name| Piece::Key(Key::string(name, span)))
            .collect(),
    )
}

fn report(
    facts: &SiteFacts<'_>,
    replay: &Replay<'_>,
    doc: DocId,
    program: &str,
    missing: &[&str],
) -> Diagnostic {
    let document = facts.document(doc);
    let keys = quoted(missing);
    let them = if missing.len() == 1 { "it" } else { "them" };
    let message = format!(
        "`{}` has no {keys}; {program} requires {them}",
        facts.name(doc)
    );
    let steps: Vec<_> = missing
        .iter()
        .map(|key| removing_step(facts, replay, doc, key))
        .collect();
    let (primary, help) = match steps.iter().flatten().next() {
        Some(step) => {
            let is_same = |other: &Step<'_>| other.at == step.at;
            let removed: Vec<&str> = missing
                .iter()
                .zip(&steps)
                .filter(|(_, it)| it.as_ref().is_some_and(is_same))
                .map(|(key, _)| *key)
                .collect();
            let label = if removed == missing {
                them
            } else {
                &quoted(&removed)
            };
            (
                Label::new(facts.first_line(step.at), format!("removes {label}")),
                help(step, them),
            )
        }
        None => (
            expected_at(facts, doc, missing[0]),
            format!("add {them} to the document, or inherit {them} from a parent"),
        ),
    };
    Diagnostic::new(&RULE, message, primary)
        .note(format!(
            "Deckhand renders the document, and {program} rejects it when the site is deployed"
        ))
        .help(help)
        .about(missing.join(" "))
        .document(&document.key)
}

fn quoted(keys: &[&str]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    keys.join(", ")
}

/// Step that removed a key which the document had or inherited.
fn removing_step<'a>(
    facts: &SiteFacts<'a>,
    replay: &Replay<'_>,
    doc: DocId,
    key: &str,
) -> Option<Step<'a>> {
    let hop = replay.trace(doc, &location(key, facts.document(doc).span));
    let mut hops = std::iter::successors(Some(&hop), |hop| hop.from.first());
    let removed = hops.find(|hop| hop.via == Via::Deleted)?;
    facts.graph.recipe(removed.doc).steps.get(removed.step?)
}

fn help(step: &Step<'_>, them: &str) -> String {
    match step.op {
        Op::Merge {
            method: Method::Delete,
            ..
        } => "remove the `delete` action, or narrow its path".to_owned(),
        Op::Merge { .. } => {
            format!("use `merge`, or add {them} to the data that replaces the parent's")
        }
        Op::Substitute(_) | Op::Combine(_) => format!("add {them} to the substituted value"),
    }
}

/// The null at the key, or the mapping that should have the key.
fn expected_at(facts: &SiteFacts<'_>, doc: DocId, key: &str) -> Label {
    let document = facts.document(doc);
    let data = facts
        .rendered
        .data(doc)
        .expect("only rendered documents are checked");
    let location = location(key, document.span);
    if let Some(null) = location.get(data) {
        return Label::new(facts.first_line(null.span), "this is null");
    }
    let around = location
        .parent()
        .filter(|around| !around.is_root())
        .and_then(|around| around.get(data))
        .map(|node| facts.first_line(node.span));
    let root = || document.data_key.unwrap_or(document.name_span);
    Label::new(around.unwrap_or_else(root), "missing here")
}
