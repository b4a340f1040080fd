//! Deckhand: documents in layers, with parents found by labels, replacement
//! and substitution (`deckhand.md`), lowered to a [`Graph`].

mod again;
pub(crate) mod catalog;
pub mod document;
pub mod known;
pub mod layout;
mod names;
mod parents;
pub mod read;
pub mod schema;
pub mod secrecy;

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use self::catalog::Catalog;
use self::document::Document;
use self::names::DocumentIndex;
use self::parents::Layers;
use crate::graph::{DocId, Graph, Link, MissingSource, Need, Recipe, Steps};
use crate::merge::deckhand::Semantics;
use crate::near::nearest;
use crate::source::{Span, Spanned};
use crate::yaml::{Node, Origin, SharedCollection};

/// Where nearly all of many names are wrong, no more than about so many are
/// compared to find near misses.
const MOST_COMPARISONS: usize = 500_000;

type FastMap<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Collections that have aliases, by where they are written, with the first alias of
/// each.
pub(crate) type Aliases = HashMap<Span, SharedCollection, foldhash::fast::RandomState>;

/// How a set of documents is understood.
#[derive(Clone, Debug)]
pub struct DeckhandOptions {
    /// Which of the two meanings (`semantics.md`).
    pub semantics: Semantics,
    /// What becomes of a substitution whose source is missing.
    pub missing_source: MissingSource,
    /// The secrets that references in encrypted documents stand for
    /// (`deckhand.md` 13.1); a secret store gives them, a repository has none.
    pub encryption_sources: BTreeMap<String, Node>,
}

/// The documents that are rendered together, and how they are related.
#[derive(Debug)]
pub struct Site<'a> {
    /// The site's name; none for a set of files without layout.
    pub name: Option<Arc<str>>,
    /// Its documents, in path order.
    pub documents: Vec<&'a Document>,
    /// The layering policy in force.
    pub policy: Option<DocId>,
    /// What its catalogs say is made at deploy time.
    pub catalog: Arc<Catalog>,
    /// What is wrong with how they are related.
    pub problems: Vec<SiteProblem>,
    relations: Arc<Relations<'a>>,
    /// The texts of the documents, in order; made when somebody asks.
    places: OnceLock<Vec<(Span, DocId)>>,
    /// See [`Site::aliases`]; likewise.
    aliases: OnceLock<Aliases>,
    /// See [`Site::data_schemas`]; likewise.
    data_schemas: OnceLock<FastMap<Arc<str>, DocId>>,
}

/// How the documents of a site are related; a site that is nearly the same may share
/// it.
#[derive(Debug)]
struct Relations<'a> {
    /// Which documents repeat another one's schema, layer and name.
    repeated: Vec<bool>,
    parents: Vec<Option<DocId>>,
    replaced_by: Vec<Option<DocId>>,
    names: DocumentIndex<'a>,
}

/// A layer of the policy that is spelled nearly as one that it does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearLayer {
    /// The layer.
    pub(crate) name: Arc<str>,
    /// Whether it is rather the policy that is misspelt: no document is in this
    /// layer, and several are in the other.
    pub(crate) is_slip: bool,
}

/// Something wrong with how documents are related.
#[derive(Clone, Debug)]
pub enum SiteProblem {
    /// There are documents with layers and no LayeringPolicy.
    MissingPolicy,
    /// A LayeringPolicy beside the one in force.
    ExtraPolicy {
        /// The one in force.
        used: DocId,
        /// The other.
        extra: DocId,
    },
    /// A layer that stands twice in `layerOrder`.
    RepeatedLayer {
        /// The layer.
        layer: Arc<str>,
        /// Where it stands first.
        first: Span,
        /// Where it stands again.
        again: Span,
    },
    /// A document in a layer that the policy does not have.
    UnknownLayer {
        /// The document.
        doc: DocId,
        /// A layer that is spelled nearly the same.
        near: Option<NearLayer>,
    },
    /// A selector that finds no parent.
    MissingParent {
        /// The document that selects.
        child: DocId,
    },
    /// A selector that finds several parents in the nearest layer.
    AmbiguousParent {
        /// The document that selects.
        child: DocId,
        /// What it finds; the first is used.
        candidates: Matches,
    },
    /// Matches for which Deckhand's code refuses the whole set.
    RefusedMatch {
        /// The document that selects.
        child: DocId,
        /// What its labels match.
        parents: Matches,
        /// Why that is refused.
        refusal: ParentRefusal,
    },
    /// A document with a mapping whose keys are of several types, which Deckhand sorts because a
    /// label of its selector is found.
    MixedKeys {
        /// The document; it says which keys.
        doc: DocId,
    },
    /// A control document that a selector finds (D23).
    ControlParent {
        /// The document that selects.
        child: DocId,
        /// The control document.
        parent: DocId,
    },
    /// Two documents with one schema, layer and name.
    DuplicateDocument {
        /// The first.
        first: DocId,
        /// Another.
        again: DocId,
    },
    /// A replacement without a parent to replace.
    ReplacementWithoutParent {
        /// The replacement.
        doc: DocId,
    },
    /// A replacement whose parent has another schema or name.
    ReplacementOfAnother {
        /// The replacement.
        doc: DocId,
        /// Its parent.
        parent: DocId,
    },
    /// A document with its parent's schema and name that does not say that it
    /// replaces it.
    UndeclaredReplacement {
        /// The document.
        doc: DocId,
        /// Its parent.
        parent: DocId,
    },
    /// A replacement that is replaced itself (D19).
    NestedReplacement {
        /// The replacement that is replaced.
        middle: DocId,
        /// What replaces it.
        last: DocId,
    },
    /// An abstract replacement: nothing is rendered for the name (D21).
    AbstractReplacement {
        /// The replacement.
        doc: DocId,
        /// What it replaces.
        replaced: DocId,
    },
    /// Two outputs with one schema and name (D20).
    DuplicateOutput {
        /// The first.
        first: DocId,
        /// Another.
        again: DocId,
    },
    /// Two documents with one schema and name in two layers, neither of which
    /// replaces the other, and not both of them outputs.
    SharedName {
        /// The first.
        first: DocId,
        /// Another.
        again: DocId,
    },
    /// A substitution whose source document is not there.
    MissingSource {
        /// The document that substitutes.
        doc: DocId,
        /// Which of its substitutions.
        substitution: usize,
        /// An abstract document of that name, which cannot be a source.
        of_abstract: Option<DocId>,
        /// The name of a document of that schema that is spelled nearly the
        /// same.
        near: Option<Arc<str>>,
    },
    /// Sources that the site's own catalogs say are made at deploy time.
    GeneratedSources {
        /// The substitutions, and the catalog entry that names the source.
        missing: Vec<GeneratedSource>,
    },
    /// An encrypted document's reference that cannot be looked up.
    MissingEncryptionSource {
        /// The document.
        doc: DocId,
    },
}

/// Documents that one selector matches.
///
/// Where many documents carry and select one label, all pairs of them would
/// not fit into memory: the first few stand for the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// The first of them, in input order.
    pub(crate) first: Vec<DocId>,
    /// How many there are beside those.
    pub(crate) more: usize,
}

impl Matches {
    /// So many are kept.
    const KEPT: usize = 5;

    fn add(&mut self, doc: DocId) {
        if self.first.len() < Self::KEPT { self.first.push(doc) } else { self.more += 1 }
    }

    fn of(docs: impl IntoIterator<Item = DocId>) -> Self {
        let mut matches = Self::default();
        docs.into_iter().for_each(|doc| matches.add(doc));
        matches
    }

    /// Those of `docs`, which are in order, but for one.
    fn without(docs: &[DocId], left_out: DocId) -> Self {
        let first = docs.iter().copied().filter(|doc| *doc != left_out);
        let first: Vec<DocId> = first.take(Self::KEPT).collect();
        let is_among = docs.binary_search(&left_out).is_ok();
        let more = docs.len() - usize::from(is_among) - first.len();
        Self { first, more }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.first.len() + self.more
    }
}

/// A source document that is made at deploy time.
#[derive(Clone, Debug)]
pub struct GeneratedSource {
    /// The document that substitutes from it.
    pub(crate) doc: DocId,
    /// Which of its substitutions.
    pub(crate) substitution: usize,
    /// Where the catalog declares it.
    pub(crate) declared: Span,
}

/// Why Deckhand's code refuses a set in which labels match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParentRefusal {
    /// D04: the schemas differ.
    OtherSchema,
    /// D05: the match is in the same layer or a lower one.
    NotAbove,
    /// D06: several matches in a farther layer, although a nearer one is
    /// unique.
    TwoFarther {
        /// The unique nearer one.
        nearer: DocId,
    },
}

impl<'a> Site<'a> {
    /// Relates the documents of one site, which are in path order.
    pub fn new(
        name: Option<Arc<str>>,
        documents: Vec<&'a Document>,
        options: &DeckhandOptions,
    ) -> Self {
        let mut problems = Vec::new();
        let policy = policy(&documents, &mut problems);
        let layers = layers(&documents, policy, &mut problems);
        let mut names = DocumentIndex::of(&documents);
        let repeated = names.repeated(&documents, &mut problems);
        let family = Family { documents: &documents, repeated: &repeated };
        let relating = parents::relating(family);
        let parents = parents::find(family, &relating, &layers, options.semantics, &mut problems);
        let replaced_by =
            parents::replacements(&documents, &relating, &layers, &parents, &mut problems);
        names.tell_shared(family, &parents, &replaced_by, &mut problems);
        names.settle(family, &replaced_by);
        let catalog = Arc::new(Catalog::of(&documents));
        let relations = Arc::new(Relations { repeated, parents, replaced_by, names });
        Self::of(name, documents, policy, catalog, problems, relations)
    }

    fn of(
        name: Option<Arc<str>>,
        documents: Vec<&'a Document>,
        policy: Option<DocId>,
        catalog: Arc<Catalog>,
        problems: Vec<SiteProblem>,
        relations: Arc<Relations<'a>>,
    ) -> Self {
        let (places, aliases, data_schemas) = <(OnceLock<_>, OnceLock<_>, OnceLock<_>)>::default();
        Self {
            name,
            documents,
            policy,
            catalog,
            problems,
            relations,
            places,
            aliases,
            data_schemas,
        }
    }

    /// A document of the site.
    pub fn document(&self, doc: DocId) -> &'a Document {
        self.documents[doc.index()]
    }

    /// Every document with its id.
    pub fn iter(&self) -> impl Iterator<Item = (DocId, &'a Document)> {
        self.documents.iter().enumerate().map(|(index, document)| (DocId::at(index), *document))
    }

    /// The document in whose text this stands.
    pub(crate) fn document_at(&self, at: Span) -> Option<DocId> {
        let places = self.places.get_or_init(|| {
            let mut places: Vec<(Span, DocId)> =
                self.iter().map(|(doc, document)| (document.span, doc)).collect();
            places.sort_unstable_by_key(|(span, doc)| (span.file, span.start, *doc));
            places
        });
        let behind =
            places.partition_point(|(span, _)| (span.file, span.start) <= (at.file, at.start));
        let (span, doc) = places.get(behind.checked_sub(1)?)?;
        span.contains(at).then_some(*doc)
    }

    /// The collections of its documents that have aliases.
    pub(crate) fn aliases(&self) -> &Aliases {
        self.aliases.get_or_init(|| {
            let shared = self.documents.iter().flat_map(|document| &document.shared);
            // Of those with one key the last stays.
            shared.rev().map(|shared| (shared.collection, *shared)).collect()
        })
    }

    /// The documents that are schemas, by the schema of the documents that they are
    /// for: the first of a name counts.
    pub(crate) fn data_schemas(&self) -> &FastMap<Arc<str>, DocId> {
        self.data_schemas.get_or_init(|| {
            let mut found = FastMap::default();
            for (doc, document) in self.iter().filter(|(_, it)| schema::is_in_use(it)) {
                found.entry(document.key.name.clone()).or_insert(doc);
            }
            found
        })
    }

    /// The parent of a document, as its selector finds it.
    pub fn parent(&self, doc: DocId) -> Option<DocId> {
        self.relations.parents[doc.index()]
    }

    /// What a document is replaced by in the end (D19: the last one stands).
    pub fn standing_for(&self, doc: DocId) -> DocId {
        let mut last = doc;
        // A replacement is in a lower layer than what it replaces, so that the
        // chain ends.
        while let Some(next) = self.relations.replaced_by[last.index()] {
            last = next;
        }
        last
    }

    /// The document that a substitution naming `schema` and `name` reads: a
    /// concrete one, or what replaces it (8.1).
    pub fn source(&self, schema: &str, name: &str) -> Option<DocId> {
        let named = self.relations.names.source(schema, name)?;
        (!self.document(named).is_abstract).then(|| self.standing_for(named))
    }

    /// The document of this schema and name that is part of the output; of
    /// several the last.
    pub fn output(&self, schema: &str, name: &str) -> Option<DocId> {
        self.relations.names.output(schema, name).filter(|doc| self.is_output(*doc))
    }

    /// Whether a document is part of the output.
    pub fn is_output(&self, doc: DocId) -> bool {
        !self.document(doc).is_abstract
            && self.relations.replaced_by[doc.index()].is_none()
            && !self.relations.repeated[doc.index()]
    }

    /// Lowers the site to recipes; substitutions without a source become
    /// problems.
    pub fn to_graph(&mut self, options: &DeckhandOptions) -> Graph {
        let mut missing = Vec::new();
        let recipes = self
            .iter()
            .map(|(doc, document)| Arc::new(self.recipe(doc, document, options, &mut missing)))
            .collect();
        self.problems.extend(gather_generated(missing));
        let DeckhandOptions { semantics, missing_source, .. } = *options;
        Graph { recipes, semantics, missing_source, sharers: 1 }
    }

    fn recipe(
        &self,
        doc: DocId,
        document: &Document,
        options: &DeckhandOptions,
        problems: &mut Vec<SiteProblem>,
    ) -> Recipe {
        let base = self.base(doc, document);
        let is_laid = base.is_some() && !document.control;
        let actions = if is_laid { document.actions().len() } else { 0 };
        let mut needs = Vec::with_capacity(usize::from(base.is_some()) + document.sources.len());
        needs.extend(base.map(|link| Need { doc: link.doc, at: link.selector }));
        // Actions read no other document.
        let mut sources = vec![None; actions];
        sources.reserve_exact(document.sources.len());
        for (index, named) in document.sources.iter().enumerate() {
            let source = self.source(&named.schema.value, &named.name.value);
            sources.push(source);
            match source {
                // In Deckhand's code a control document waits for its sources
                // although nothing is substituted into it (8.2), and refuses the
                // set where that is a circle: an error in both meanings.
                Some(source) => needs.push(Need { doc: source, at: named.name.span }),
                None if document.control => {}
                None => problems.push(self.missing_source(doc, index, problems.len())),
            }
        }
        let steps = if document.control {
            Steps::default()
        } else {
            Steps::new(document.instructions.clone(), sources.into())
        };
        Recipe {
            key: document.key.clone(),
            span: document.span,
            data: self.own_data(doc, document, options, problems),
            base,
            replaces: self
                .parent(doc)
                .filter(|parent| self.relations.replaced_by[parent.index()] == Some(doc)),
            needs,
            steps,
            emit: self.is_output(doc),
        }
    }

    /// The document that `doc` is laid on: its parent, or what stands for it.
    fn base(&self, doc: DocId, document: &Document) -> Option<Link> {
        let parent = self.parent(doc)?;
        let selector = document.parent_selector.as_ref().expect("a parent was found by a selector");
        let standing =
            self.relations.replaced_by[parent.index()].filter(|replacement| *replacement != doc);
        let base = standing.map_or(parent, |replacement| self.standing_for(replacement));
        let base = if base == doc { parent } else { base };
        let label = self.matching_label(parent, document);
        Some(Link { doc: base, selector: selector.span, label })
    }

    /// The first label of `parent` that the child selects.
    pub(crate) fn matching_label(&self, parent: DocId, child: &Document) -> Span {
        let parent = self.document(parent);
        let wanted = child.parent_selector.as_ref().and_then(|it| it.labels.keys().next());
        let found = wanted.and_then(|key| parent.labels.get_entry(key));
        found.map_or(parent.name_span, |(key, label)| key.span.to(label.span))
    }

    /// The document's data; where it is a reference to a secret, the secret
    /// (13.1).
    fn own_data(
        &self,
        doc: DocId,
        document: &Document,
        options: &DeckhandOptions,
        problems: &mut Vec<SiteProblem>,
    ) -> Node {
        let Some(reference) = secret_reference(document) else {
            return document.data.clone();
        };
        match options.encryption_sources.get(reference) {
            Some(secret) => {
                let secret = secret.clone().into_secret();
                Node { span: document.data.span, origin: Origin::Made, ..secret }
            }
            None => {
                problems.push(SiteProblem::MissingEncryptionSource { doc });
                document.data.clone()
            }
        }
    }

    /// `before` so many problems were met.
    fn missing_source(&self, doc: DocId, index: usize, before: usize) -> SiteProblem {
        let named = &self.document(doc).sources[index];
        let (schema, name) = (&named.schema.value, &named.name.value);
        if let Some(declared) = self.catalog.find(schema, name) {
            let generated = GeneratedSource { doc, substitution: index, declared: declared.at };
            return SiteProblem::GeneratedSources { missing: vec![generated] };
        }
        if before.saturating_mul(self.documents.len()) > MOST_COMPARISONS {
            return SiteProblem::MissingSource {
                doc,
                substitution: index,
                of_abstract: None,
                near: None,
            };
        }
        let same =
            |document: &Document| document.key.schema == *schema && document.key.name == *name;
        let of_abstract = self.iter().find(|(_, document)| same(document)).map(|(doc, _)| doc);
        let family = Family { documents: &self.documents, repeated: &self.relations.repeated };
        let beside = self
            .iter()
            .filter(|(doc, beside)| family.is_concrete(*doc) && beside.key.schema == *schema);
        let mut names: Vec<&str> = beside.map(|(_, beside)| &*beside.key.name).collect();
        names.sort_unstable();
        let near = nearest(name, names).map(Arc::from);
        SiteProblem::MissingSource { doc, substitution: index, of_abstract, near }
    }
}

/// All sources made at deploy time as one problem, beside the others.
fn gather_generated(problems: Vec<SiteProblem>) -> Vec<SiteProblem> {
    let mut gathered = Vec::new();
    let mut rest = Vec::new();
    for problem in problems {
        match problem {
            SiteProblem::GeneratedSources { missing } => gathered.extend(missing),
            other => rest.push(other),
        }
    }
    if !gathered.is_empty() {
        rest.push(SiteProblem::GeneratedSources { missing: gathered });
    }
    rest
}

/// The policy in force: the first, as Deckhand's code takes it (D26).
fn policy(documents: &[&Document], problems: &mut Vec<SiteProblem>) -> Option<DocId> {
    let mut policies = documents
        .iter()
        .enumerate()
        .filter(|(_, document)| document.layer_order.is_some())
        .map(|(index, _)| DocId::at(index));
    let used = policies.next();
    match used {
        Some(used) => {
            problems.extend(policies.map(|extra| SiteProblem::ExtraPolicy { used, extra }));
        }
        None if !documents.is_empty() => problems.push(SiteProblem::MissingPolicy),
        None => {}
    }
    used
}

fn layers(
    documents: &[&Document],
    policy: Option<DocId>,
    problems: &mut Vec<SiteProblem>,
) -> Layers {
    let Some(policy) = policy else { return Layers::default() };
    let order: &[Spanned<Arc<str>>] =
        documents[policy.index()].layer_order.as_deref().unwrap_or_default();
    let mut firsts: FastMap<&str, Span> = FastMap::default();
    for layer in order {
        if let Some(first) = firsts.get(&*layer.value).copied() {
            let again = layer.span;
            problems.push(SiteProblem::RepeatedLayer { layer: layer.value.clone(), first, again });
        } else {
            firsts.insert(&layer.value, layer.span);
        }
    }
    let layers = Layers::new(order.iter().map(|layer| &*layer.value), documents);
    let members = LazyCell::new(|| {
        let mut members: FastMap<&str, usize> = FastMap::default();
        for layer in documents.iter().filter_map(|document| document.layer.as_ref()) {
            *members.entry(&layer.value).or_default() += 1;
        }
        members
    });
    for doc in (0..documents.len()).map(DocId::at).filter(|doc| layers.rank(*doc).is_none()) {
        if let Some(layer) = &documents[doc.index()].layer {
            let names = order.iter().map(|layer| &*layer.value);
            let few = problems.len().saturating_mul(order.len()) <= MOST_COMPARISONS;
            let near = if few { nearest(&layer.value, names) } else { None };
            let near = near.map(|name| NearLayer {
                name: name.into(),
                is_slip: members[&*layer.value] > 1 && !members.contains_key(name),
            });
            problems.push(SiteProblem::UnknownLayer { doc, near });
        }
    }
    layers
}

/// A site's documents, and which of them repeat an identity: of several
/// documents with one schema, layer and name the first counts (6.4).
#[derive(Clone, Copy)]
struct Family<'a> {
    documents: &'a [&'a Document],
    repeated: &'a [bool],
}

impl<'a> Family<'a> {
    /// The documents that count, with their ids.
    fn iter(self) -> impl Iterator<Item = (DocId, &'a Document)> {
        let all = self.documents.iter().enumerate();
        all.filter(move |(index, _)| !self.repeated[*index])
            .map(|(index, document)| (DocId::at(index), *document))
    }

    /// Whether a document can be a source.
    fn is_concrete(self, doc: DocId) -> bool {
        !self.documents[doc.index()].is_abstract && !self.repeated[doc.index()]
    }
}

/// The reference to a secret that is the data of an encrypted document (13.1).
fn secret_reference(document: &Document) -> Option<&str> {
    let text = document.data.as_str().filter(|_| document.encrypted);
    text.filter(|text| is_secret_reference(text))
}

/// A Barbican reference: a URL with `secrets` in it that ends in a UUID
/// (`deckhand.md` 2.1).
fn is_secret_reference(text: &str) -> bool {
    let is_url = text.starts_with("http://") || text.starts_with("https://");
    let last = text.rsplit('/').next().unwrap_or_default();
    is_url && text.contains("secrets") && is_uuid(last)
}

fn is_uuid(text: &str) -> bool {
    let bare = text.strip_prefix("urn:").unwrap_or(text);
    let bare = bare.strip_prefix("uuid:").unwrap_or(bare);
    let digits = bare.trim_matches(['{', '}']).replace('-', "");
    digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}
