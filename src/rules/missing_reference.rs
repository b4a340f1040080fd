//! `missing-reference`: a rendered document names another that is not rendered.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::{SiteFacts, stale_reference, title};
use crate::diagnostic::{Diagnostic, Label, NeededBy, Rule};
use crate::graph::DocId;
use crate::near::nearest;
use crate::source::Span;
use crate::system::deckhand::Site;
use crate::yaml::Query;

super::rule!(
    "missing-reference", Error[Absence], "a rendered document names another that is not rendered";
    Site(check, &[&RULE, &super::stale_reference::RULE])
);

/// Where documents of one schema name documents of another.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The schema of the documents that name others.
    pub(crate) schema: Arc<str>,
    /// Path of the names in their data; a value that is not a string names nothing.
    pub(crate) path: Query,
    /// The schema of the documents that are named, by `metadata.name`.
    pub(crate) target: Arc<str>,
}

impl Reference {
    /// References of Armada and Drydock, which find documents by their names: `schema`, `path`,
    /// `target`.
    const BUILT_IN: [[&str; 3]; 11] = [
        ["armada/Manifest/v1", "$.chart_groups[*]", "armada/ChartGroup/v1"],
        ["armada/ChartGroup/v1", "$.chart_group[*]", "armada/Chart/v1"],
        ["armada/Chart/v1", "$.dependencies[*]", "armada/Chart/v1"],
        ["drydock/BaremetalNode/v1", "$.host_profile", "drydock/HostProfile/v1"],
        ["drydock/BaremetalNode/v1", "$.addressing[*].network", "drydock/Network/v1"],
        ["drydock/BaremetalNode/v1", "$.interfaces.*.device_link", "drydock/NetworkLink/v1"],
        ["drydock/BaremetalNode/v1", "$.interfaces.*.networks[*]", "drydock/Network/v1"],
        ["drydock/HostProfile/v1", "$.hardware_profile", "drydock/HardwareProfile/v1"],
        ["drydock/HostProfile/v1", "$.interfaces.*.device_link", "drydock/NetworkLink/v1"],
        ["drydock/HostProfile/v1", "$.interfaces.*.networks[*]", "drydock/Network/v1"],
        ["drydock/NetworkLink/v1", "$.allowed_networks[*]", "drydock/Network/v1"],
    ];

    /// The references that need no configuration.
    pub(crate) fn built_in() -> Vec<Self> {
        let built_in = Self::BUILT_IN.into_iter().map(|[schema, path, target]| Self {
            schema: schema.into(),
            path: Query::parse(path).expect("the built-in paths are paths"),
            target: target.into(),
        });
        built_in.collect()
    }
}

impl<'a> SiteFacts<'a> {
    /// Where a document names others.
    fn references_of(&self, doc: DocId) -> impl Iterator<Item = &'a Reference> {
        let schema = &self.site.document(doc).key.schema;
        self.settings.references.iter().filter(move |reference| reference.schema == *schema)
    }
}

/// One text that names a document: its place, the schema, and the name.
type NameUse<'a> = (Span, &'a str, Arc<str>);

/// The findings of this rule, and of `stale-reference` for what is named by the
/// documents to which no name leads.
fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let outputs = ReferencedOutputs::of(facts);
    let mut walk = DocumentQueue::from_roots(facts, &outputs);
    let reached = missing(facts, &outputs, &mut walk);
    found.extend(words(&RULE, facts, &outputs, &reached));
    walk.go_on(facts, &outputs);
    let others = missing(facts, &outputs, &mut walk);
    let stale = words(&stale_reference::RULE, facts, &outputs, &others);
    found.extend(stale.into_iter().map(|finding| finding.note(stale_reference::NOTE)));
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
    let found = missing.iter().map(|(naming, docs)| word(rule, facts, &surroundings, naming, docs));
    found.collect()
}

/// The documents that are looked at, and those that are still to be.
struct DocumentQueue {
    waiting: Vec<DocId>,
    /// By id, those that waited once.
    seen: Vec<bool>,
}

impl DocumentQueue {
    /// Only documents that count are looked at: those that nothing could name,
    /// such as a Manifest, and what is named from there on. What a site has and
    /// does not use, such as a `ChartGroup` of other sites, may name what it
    /// wants.
    fn from_roots(facts: &SiteFacts<'_>, outputs: &ReferencedOutputs<'_>) -> Self {
        let mut walk = Self { waiting: Vec::new(), seen: vec![false; facts.site.documents.len()] };
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

    /// Follows all others that name something.
    fn go_on(&mut self, facts: &SiteFacts<'_>, outputs: &ReferencedOutputs<'_>) {
        for schema in ReferencedOutputs::naming(&facts.settings.references) {
            outputs.of_schema(schema).iter().for_each(|doc| self.visit(*doc));
        }
    }
}

/// The texts that name what is not rendered, with the documents they are in.
fn missing<'a>(
    facts: &SiteFacts<'a>,
    outputs: &ReferencedOutputs<'a>,
    walk: &mut DocumentQueue,
) -> BTreeMap<NameUse<'a>, Vec<DocId>> {
    let mut missing: BTreeMap<NameUse<'a>, Vec<DocId>> = BTreeMap::new();
    while let Some(doc) = walk.waiting.pop() {
        let Some(data) = facts.rendered.data(doc) else { continue };
        for reference in facts.references_of(doc) {
            for node in reference.path.find(data) {
                let Some(name) = node.as_str().filter(|_| !node.secret) else { continue };
                match outputs.named(&reference.target, name) {
                    Some(next) => walk.visit(next),
                    // Of a set of files that has no such document the others
                    // are not there to be named.
                    None if facts.site.name.is_none() && !outputs.has(&reference.target) => {}
                    None => {
                        let naming = (node.span, &*reference.target, Arc::from(name));
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

/// The documents that are rendered, of all schemas that references are about.
struct ReferencedOutputs<'a> {
    site: &'a Site<'a>,
    of_schemas: BTreeMap<&'a str, Vec<DocId>>,
}

impl<'a> ReferencedOutputs<'a> {
    fn of(facts: &SiteFacts<'a>) -> Self {
        let references = facts.settings.references.iter();
        let asked = references.flat_map(|it| [&*it.schema, &*it.target]);
        let mut asked: TextMap<'_, Vec<DocId>> = asked.map(|schema| (schema, Vec::new())).collect();
        for (doc, document) in facts.site.iter().filter(|(doc, _)| facts.site.is_output(*doc)) {
            if let Some(docs) = asked.get_mut(&*document.key.schema) {
                docs.push(doc);
            }
        }
        let of_schemas = asked.into_iter().filter(|(_, docs)| !docs.is_empty()).collect();
        Self { site: facts.site, of_schemas }
    }

    fn has(&self, schema: &str) -> bool {
        self.of_schemas.contains_key(schema)
    }

    fn named(&self, schema: &str, name: &str) -> Option<DocId> {
        self.site.output(schema, name)
    }

    /// The schemas of documents that name others.
    fn naming(references: &[Reference]) -> BTreeSet<&str> {
        references.iter().map(|reference| &*reference.schema).collect()
    }

    /// The documents of a schema.
    fn of_schema(&self, schema: &str) -> &[DocId] {
        self.of_schemas.get(schema).map_or(&[], Vec::as_slice)
    }

    /// The documents that name others and are of a schema that no other names.
    fn roots(&self, references: &[Reference]) -> impl Iterator<Item = DocId> {
        let is_named = |schema: &str| {
            let mut others = references.iter().filter(|reference| *reference.schema != *schema);
            others.any(|reference| *reference.target == *schema && self.has(&reference.schema))
        };
        let roots = Self::naming(references).into_iter().filter(move |schema| !is_named(schema));
        roots.flat_map(|schema| self.of_schema(schema)).copied()
    }
}

/// A map by texts, without order.
type TextMap<'a, T> = HashMap<&'a str, T, foldhash::fast::RandomState>;

/// Documents that may be meant by the names of missing ones.
struct NameCandidates<'a> {
    /// The documents of any schema that have the name of a missing one.
    by_name: TextMap<'a, Vec<DocId>>,
    /// Of each schema the names that may be meant; none where there are too
    /// many to compare.
    near: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> NameCandidates<'a> {
    /// Where nearly all of many names are missing, they are not compared.
    const MAX_COMPARISONS: usize = 500_000;

    fn of(
        facts: &SiteFacts<'a>,
        outputs: &ReferencedOutputs<'a>,
        missing: &'a BTreeMap<NameUse<'_>, Vec<DocId>>,
    ) -> Self {
        let mut by_name: TextMap<'a, Vec<DocId>> =
            missing.keys().map(|(_, _, name)| (&**name, Vec::new())).collect();
        for (doc, document) in facts.site.iter() {
            if let Some(docs) = by_name.get_mut(&*document.key.name) {
                docs.push(doc);
            }
        }
        let few =
            |docs: &[DocId]| docs.len().saturating_mul(missing.len()) <= Self::MAX_COMPARISONS;
        let names = |docs: &[DocId]| {
            let mut names: Vec<&'a str> =
                docs.iter().map(|doc| &*facts.site.document(*doc).key.name).collect();
            names.sort_unstable();
            names
        };
        let near = outputs.of_schemas.iter().filter(|(_, docs)| few(docs));
        let near = near.map(|(schema, docs)| (*schema, names(docs))).collect();
        Self { by_name, near }
    }

    fn named(&self, name: &str) -> &[DocId] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    fn near(&self, schema: &str, name: &str) -> Option<&'a str> {
        nearest(name, self.near.get(schema)?.iter().copied())
    }
}

/// Maximum number of documents that a finding names where a name is rendered.
const MAX_NAMED: usize = 5;

fn word(
    rule: &'static Rule,
    facts: &SiteFacts<'_>,
    surroundings: &NameCandidates<'_>,
    (at, target, name): &NameUse<'_>,
    docs: &[DocId],
) -> Diagnostic {
    let first = &facts.document(docs[0]).key;
    let writer = facts.site.document_at(*at).map_or(first, |doc| &facts.document(doc).key);
    let message =
        format!("`{}` names `{name}`, and no `{target}` of that name is rendered", title(writer));
    let diagnostic = Diagnostic::new(rule, message, Label::new(*at, "names no rendered document"))
        .about(&**name)
        .absent(target, format!("no `{target}` named `{name}` is rendered"), NeededBy::Reference)
        .document(writer.clone());
    let users = docs.iter().map(|doc| &facts.document(*doc).key).filter(|key| *key != writer);
    let named: Vec<String> =
        users.clone().take(MAX_NAMED).map(|key| format!("`{}`", title(key))).collect();
    let more = users.clone().count() - named.len();
    let diagnostic = users.fold(diagnostic, |diagnostic, key| diagnostic.document(key.clone()));
    let diagnostic = match (&named[..], more) {
        ([], _) => diagnostic,
        (_, 0) => diagnostic.note(format!("it is rendered in {}", named.join(", "))),
        _ => diagnostic.note(format!("it is rendered in {} and {more} more", named.join(", "))),
    };
    explained(facts, surroundings, diagnostic, target, name)
}

/// Adds a candidate: the document, unrendered; one of that name and another schema; or one with
/// nearly that name.
fn explained(
    facts: &SiteFacts<'_>,
    surroundings: &NameCandidates<'_>,
    diagnostic: Diagnostic,
    target: &str,
    name: &str,
) -> Diagnostic {
    let mut named = surroundings.named(name).iter().map(|doc| (*doc, facts.document(*doc)));
    let mut same = named.clone().filter(|(_, document)| *document.key.schema == *target);
    if let Some((doc, document)) = same.next() {
        let (why, help) = if document.is_abstract {
            ("is abstract, so that it is not rendered", "name a document that is rendered")
        } else if facts.site.standing_for(doc) == doc {
            ("is not rendered", "name a document that is rendered")
        } else {
            ("is replaced by a document that is abstract", "make the replacement concrete")
        };
        return diagnostic.related(document.name_span, format!("`{name}` {why}")).help(help);
    }
    let near = surroundings.near(target, name);
    let diagnostic = match near {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help("add the document, or remove the name"),
    };
    match named.next() {
        Some((_, other)) if near.is_none() => {
            let label = format!("`{name}` is of the schema `{}`", other.key.schema);
            diagnostic.related(other.name_span, label)
        }
        Some(_) | None => diagnostic,
    }
}
