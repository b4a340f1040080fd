//! `missing-reference`: a rendered document refers to a document that is not rendered.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::{SiteFacts, stale_reference, title};
use crate::diagnostic::{Diagnostic, NeededBy, Rule};
use crate::graph::DocId;
use crate::near::nearest;
use crate::source::Span;
use crate::system::deckhand::Site;
use crate::yaml::{Node, Query};

super::rule!(
    "missing-reference", Error[Absence], "a rendered document refers to a document that is not rendered";
    Site(check, &[&RULE, &super::stale_reference::RULE])
);

/// References from documents of one schema to documents of another.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Schema of the referring documents.
    pub(crate) schema: Arc<str>,
    /// Path of the names in their data; values that are not strings are ignored.
    pub(crate) path: Query,
    /// Schema of the documents referred to by `metadata.name`.
    pub(crate) target: Arc<str>,
}

impl Reference {
    /// Built-in references of Armada and Drydock, which look up documents by name: `schema`,
    /// `path`, `target`.
    const BUILT_IN: [[&str; 3]; 11] = [
        [
            "armada/Manifest/v1",
            "$.chart_groups[*]",
            "armada/ChartGroup/v1",
        ],
        [
            "armada/ChartGroup/v1",
            "$.chart_group[*]",
            "armada/Chart/v1",
        ],
        ["armada/Chart/v1", "$.dependencies[*]", "armada/Chart/v1"],
        [
            "drydock/BaremetalNode/v1",
            "$.host_profile",
            "drydock/HostProfile/v1",
        ],
        [
            "drydock/BaremetalNode/v1",
            "$.addressing[*].network",
            "drydock/Network/v1",
        ],
        [
            "drydock/BaremetalNode/v1",
            "$.interfaces.*.device_link",
            "drydock/NetworkLink/v1",
        ],
        [
            "drydock/BaremetalNode/v1",
            "$.interfaces.*.networks[*]",
            "drydock/Network/v1",
        ],
        [
            "drydock/HostProfile/v1",
            "$.hardware_profile",
            "drydock/HardwareProfile/v1",
        ],
        [
            "drydock/HostProfile/v1",
            "$.interfaces.*.device_link",
            "drydock/NetworkLink/v1",
        ],
        [
            "drydock/HostProfile/v1",
            "$.interfaces.*.networks[*]",
            "drydock/Network/v1",
        ],
        [
            "drydock/NetworkLink/v1",
            "$.allowed_networks[*]",
            "drydock/Network/v1",
        ],
    ];

    /// References that need no configuration.
    pub(crate) fn built_in() -> Vec<Self> {
        Self::BUILT_IN
            .into_iter()
            .map(|[schema, path, target]| Self {
                schema: schema.into(),
                path: Query::parse(path).expect("the built-in paths are paths"),
                target: target.into(),
            })
            .collect()
    }

    /// Names in the data of a document at the path of the reference, except secrets.
    pub(crate) fn names<'a>(
        &self,
        data: &'a Node,
    ) -> impl Iterator<Item = (&'a Node, &'a str)> + use<'a> {
        let nodes = self.path.find(data).into_iter().map(|found| found.node);
        let public = nodes.filter(|node| !node.secret);
        public.filter_map(|node| Some((node, node.as_str()?)))
    }
}

impl<'a> SiteFacts<'a> {
    /// References that a document's schema has.
    fn references_of(&self, doc: DocId) -> impl Iterator<Item = &'a Reference> {
        let schema = &self.site.document(doc).key.schema;
        self.settings
            .references
            .iter()
            .filter(move |reference| reference.schema == *schema)
    }
}

/// Text that refers to a document.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct NameUse<'a> {
    at: Span,
    /// Schema of the document.
    target: &'a str,
    name: Arc<str>,
}

/// Findings of this rule, and of `stale-reference` for documents that no reference reaches.
fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let outputs = ReferencedOutputs::of(facts);
    let mut walk = DocumentQueue::from_roots(facts, &outputs);
    let reached = missing(facts, &outputs, &mut walk);
    found.extend(words(&RULE, facts, &outputs, &reached));
    walk.go_on(facts, &outputs);
    let others = missing(facts, &outputs, &mut walk);
    let stale = words(&stale_reference::RULE, facts, &outputs, &others);
    found.extend(
        stale
            .into_iter()
            .map(|finding| finding.note(stale_reference::NOTE)),
    );
}

fn words(
    rule: &'static Rule,
    facts: &SiteFacts<'_>,
    outputs: &ReferencedOutputs<'_>,
    missing: &BTreeMap<NameUse<'_>, Vec<DocId>>,
) -> Vec<Diagnostic> {
    if missing.is_empty() {
        return Vec::new();
    }
    let surroundings = NameCandidates::of(facts, outputs, missing);
    missing
        .iter()
        .map(|(naming, docs)| report(rule, facts, &surroundings, naming, docs))
        .collect()
}

/// Documents to visit, and those already visited.
struct DocumentQueue {
    waiting: Vec<DocId>,
    /// By document id: whether the document was queued before.
    seen: Vec<bool>,
}

impl DocumentQueue {
    /// Starts from documents that nothing can refer to, such as a Manifest. A document that the
    /// site does not use, such as a `ChartGroup` of other sites, may have unresolved references.
    fn from_roots(facts: &SiteFacts<'_>, outputs: &ReferencedOutputs<'_>) -> Self {
        let mut walk = Self {
            waiting: Vec::new(),
            seen: vec![false; facts.site.documents.len()],
        };
        for root in outputs.roots(&facts.settings.references) {
            walk.visit(root);
        }
        walk
    }

    fn visit(&mut self, doc: DocId) {
        if !std::mem::replace(&mut self.seen[doc.index()], true) {
            self.waiting.push(doc);
        }
    }

    /// Queues all other documents that refer to something.
    fn go_on(&mut self, facts: &SiteFacts<'_>, outputs: &ReferencedOutputs<'_>) {
        for schema in ReferencedOutputs::naming(&facts.settings.references) {
            outputs
                .of_schema(schema)
                .iter()
                .for_each(|doc| self.visit(*doc));
        }
    }
}

/// References to documents that are not rendered, with the documents that contain them.
fn missing<'a>(
    facts: &SiteFacts<'a>,
    outputs: &ReferencedOutputs<'a>,
    walk: &mut DocumentQueue,
) -> BTreeMap<NameUse<'a>, Vec<DocId>> {
    let mut missing: BTreeMap<NameUse<'a>, Vec<DocId>> = BTreeMap::new();
    while let Some(doc) = walk.waiting.pop() {
        let Some(data) = facts.rendered.data(doc) else {
            continue;
        };
        for reference in facts.references_of(doc) {
            for (node, name) in reference.names(data) {
                match outputs.named(&reference.target, name) {
                    Some(next) => walk.visit(next),
                    // A file set without any document of the schema is probably incomplete.
                    None if facts.site.name.is_none() && !outputs.has(&reference.target) => {}
                    None => {
                        let naming = NameUse {
                            at: node.span,
                            target: &reference.target,
                            name: Arc::from(name),
                        };
                        missing.entry(naming).or_default().push(doc);
                    }
                }
            }
        }
    }
    for docs in missing.values_mut() {
        docs.sort_unstable();
    }
    missing
}

/// Documents that references do not find only because their schema is not quite that of the target,
/// with the latter.
pub(super) fn nearly_named<'f>(facts: &'f SiteFacts<'_>) -> impl Iterator<Item = (DocId, &'f str)> {
    let near = schemas_near_targets(facts);
    facts.settings.references.iter().flat_map(move |reference| {
        let near = near.get(&*reference.target);
        let is_near = |schema: &str| near.is_some_and(|near| near.contains(&schema));
        let candidates = facts.site.iter().filter(|(_, it)| is_near(&it.key.schema));
        let by_name: BTreeMap<&str, DocId> = candidates
            .map(|(doc, document)| (&*document.key.name, doc))
            .collect();
        named_by(facts, reference, &by_name)
            .into_iter()
            .map(|doc| (doc, &*reference.target))
    })
}

/// Schemas that are nearly the target of a reference, by target. A misspelled one is that of documents
/// of one name, and no reference mentions it.
fn schemas_near_targets<'f>(facts: &'f SiteFacts<'_>) -> BTreeMap<&'f str, Vec<&'f str>> {
    let references = &facts.settings.references;
    let mut names: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for (_, document) in facts.site.iter() {
        let name = Some(&*document.key.name);
        let known = names.entry(&document.key.schema).or_insert(name);
        *known = known.filter(|known| Some(*known) == name);
    }
    for reference in references {
        names.remove(&*reference.schema);
        names.remove(&*reference.target);
    }
    let unusual: Vec<&str> = names
        .into_iter()
        .filter_map(|(schema, name)| name.map(|_| schema))
        .collect();
    let targets: BTreeSet<&str> = references.iter().map(|it| &*it.target).collect();
    let near_to = |target: &str| -> Vec<&str> {
        let near = |schema: &&str| nearest(schema, [target]).is_some();
        unusual.iter().copied().filter(near).collect()
    };
    targets
        .into_iter()
        .map(|target| (target, near_to(target)))
        .collect()
}

/// Documents among these that a reference names, and that are not of its target's schema.
fn named_by(
    facts: &SiteFacts<'_>,
    reference: &Reference,
    by_name: &BTreeMap<&str, DocId>,
) -> BTreeSet<DocId> {
    if by_name.is_empty() {
        return BTreeSet::new();
    }
    let referring = facts
        .site
        .iter()
        .filter(|(doc, it)| it.key.schema == reference.schema && facts.site.is_output(*doc));
    let data = referring.filter_map(|(doc, _)| facts.rendered.data(doc));
    data.flat_map(|data| reference.names(data))
        .map(|(_, name)| name)
        .filter(|name| facts.site.output(&reference.target, name).is_none())
        .filter_map(|name| by_name.get(name).copied())
        .collect()
}

/// Rendered documents of all schemas that references mention.
struct ReferencedOutputs<'a> {
    site: &'a Site<'a>,
    of_schemas: BTreeMap<&'a str, Vec<DocId>>,
}

impl<'a> ReferencedOutputs<'a> {
    fn of(facts: &SiteFacts<'a>) -> Self {
        let references = facts.settings.references.iter();
        let mut asked: TextMap<'_, Vec<DocId>> = references
            .flat_map(|it| [&*it.schema, &*it.target])
            .map(|schema| (schema, Vec::new()))
            .collect();
        for (doc, document) in facts
            .site
            .iter()
            .filter(|(doc, _)| facts.site.is_output(*doc))
        {
            if let Some(docs) = asked.get_mut(&*document.key.schema) {
                docs.push(doc);
            }
        }
        let of_schemas = asked
            .into_iter()
            .filter(|(_, docs)| !docs.is_empty())
            .collect();
        Self {
            site: facts.site,
            of_schemas,
        }
    }

    fn has(&self, schema: &str) -> bool {
        self.of_schemas.contains_key(schema)
    }

    fn named(&self, schema: &str, name: &str) -> Option<DocId> {
        self.site.output(schema, name)
    }

    /// Schemas of documents that refer to others.
    fn naming(references: &[Reference]) -> BTreeSet<&str> {
        references
            .iter()
            .map(|reference| &*reference.schema)
            .collect()
    }

    /// Rendered documents of a schema.
    fn of_schema(&self, schema: &str) -> &[DocId] {
        self.of_schemas.get(schema).map_or(&[], Vec::as_slice)
    }

    /// Referring documents whose schema is not the target of a reference from another schema.
    fn roots(&self, references: &[Reference]) -> impl Iterator<Item = DocId> {
        let is_named = |schema: &str| {
            let mut others = references
                .iter()
                .filter(|reference| *reference.schema != *schema);
            others.any(|reference| *reference.target == *schema && self.has(&reference.schema))
        };
        let roots = Self::naming(references)
            .into_iter()
            .filter(move |schema| !is_named(schema));
        roots.flat_map(|schema| self.of_schema(schema)).copied()
    }
}

/// Unordered map with string keys.
type TextMap<'a, T> = HashMap<&'a str, T, foldhash::fast::RandomState>;

/// Candidates for the intended targets of unresolved names.
struct NameCandidates<'a> {
    /// Documents of any schema that have the name of a missing one.
    by_name: TextMap<'a, Vec<DocId>>,
    /// Candidate names by schema; no entry if there are too many to compare.
    near: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> NameCandidates<'a> {
    /// Maximum number of name comparisons per schema.
    const MAX_COMPARISONS: usize = 500_000;

    fn of(
        facts: &SiteFacts<'a>,
        outputs: &ReferencedOutputs<'a>,
        missing: &'a BTreeMap<NameUse<'_>, Vec<DocId>>,
    ) -> Self {
        let mut by_name: TextMap<'a, Vec<DocId>> = missing
            .keys()
            .map(|naming| (&*naming.name, Vec::new()))
            .collect();
        for (doc, document) in facts.site.iter() {
            if let Some(docs) = by_name.get_mut(&*document.key.name) {
                docs.push(doc);
            }
        }
        let names = |docs: &[DocId]| {
            let mut names: Vec<&'a str> = docs
                .iter()
                .map(|doc| &*facts.site.document(*doc).key.name)
                .collect();
            names.sort_unstable();
            names
        };
        let near = outputs
            .of_schemas
            .iter()
            .filter(|(_, docs)| docs.len().saturating_mul(missing.len()) <= Self::MAX_COMPARISONS)
            .map(|(schema, docs)| (*schema, names(docs)))
            .collect();
        Self { by_name, near }
    }

    fn named(&self, name: &str) -> &[DocId] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    fn near(&self, schema: &str, name: &str) -> Option<&'a str> {
        nearest(name, self.near.get(schema)?.iter().copied())
    }
}

/// Returns the kind of a schema, such as `ChartGroup`.
fn kind(schema: &str) -> &str {
    schema.split('/').nth(1).unwrap_or(schema)
}

/// Maximum number of documents listed that inherit the name.
const MAX_NAMED: usize = 5;

fn report(
    rule: &'static Rule,
    facts: &SiteFacts<'_>,
    surroundings: &NameCandidates<'_>,
    naming: &NameUse<'_>,
    docs: &[DocId],
) -> Diagnostic {
    let NameUse { at, target, name } = naming;
    let first = &facts.document(docs[0]).key;
    let writer = facts
        .site
        .document_at(*at)
        .map_or(first, |doc| &facts.document(doc).key);
    let message = format!(
        "{} `{}` names the {} `{name}`, which is not rendered",
        kind(&writer.schema),
        title(writer),
        kind(target)
    );
    let diagnostic = rule
        .finding(message, *at, "not the name of a rendered document")
        .about(&**name)
        .absent(
            target,
            format!("no `{target}` named `{name}` is rendered"),
            NeededBy::Reference,
        )
        .written_as([&**name])
        .document(writer);
    let users = docs
        .iter()
        .map(|doc| &facts.document(*doc).key)
        .filter(|key| *key != writer);
    let named: Vec<String> = users
        .clone()
        .take(MAX_NAMED)
        .map(|key| format!("`{}`", title(key)))
        .collect();
    let more = users.clone().count() - named.len();
    let diagnostic = users.fold(diagnostic, Diagnostic::document);
    let diagnostic = match (&named[..], more) {
        ([], _) => diagnostic,
        (_, 0) => diagnostic.note(format!("it is rendered in {}", named.join(", "))),
        _ => diagnostic.note(format!(
            "it is rendered in {} and {more} more",
            named.join(", ")
        )),
    };
    explained(facts, surroundings, diagnostic, target, name)
}

/// Adds a candidate: the document itself, not rendered; a document of the same name but another
/// schema; or one with a similar name.
fn explained(
    facts: &SiteFacts<'_>,
    surroundings: &NameCandidates<'_>,
    diagnostic: Diagnostic,
    target: &str,
    name: &str,
) -> Diagnostic {
    let mut named = surroundings
        .named(name)
        .iter()
        .map(|doc| (*doc, facts.document(*doc)));
    let mut same = named
        .clone()
        .filter(|(_, document)| *document.key.schema == *target);
    if let Some((doc, document)) = same.next() {
        let (why, help) = if document.is_abstract {
            (
                "is abstract, so it is not rendered",
                "refer to a document that is rendered",
            )
        } else if facts.site.standing_for(doc) == doc {
            ("is not rendered", "refer to a document that is rendered")
        } else {
            (
                "is replaced by a document that is abstract",
                "make the replacement concrete",
            )
        };
        return diagnostic
            .related(document.name_span, format!("`{name}` {why}"))
            .help(help);
    }
    let near = surroundings.near(target, name);
    let diagnostic = match near {
        Some(near) => diagnostic.did_you_mean(near, None),
        None => diagnostic.help("add the document, or remove the reference"),
    };
    match named.next() {
        Some((_, other)) if near.is_none() => {
            let label = format!("`{name}` has the schema `{}`", other.key.schema);
            diagnostic.related(other.name_span, label)
        }
        Some(_) | None => diagnostic,
    }
}
