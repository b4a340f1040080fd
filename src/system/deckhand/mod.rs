//! Deckhand: documents in layers, with parents found by labels, replacement and substitution
//! (`deckhand.md`), lowered to a [`Graph`].

mod again;
pub(crate) mod catalog;
pub mod document;
pub mod known;
pub mod layout;
mod names;
pub(crate) mod parents;
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

/// Maximum number of comparisons of names for near misses, for sites where almost all of many names
/// are wrong.
const MAX_COMPARISONS: usize = 500_000;

type FastMap<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Collections that have aliases, by their span in the source, with the first alias of each.
pub(crate) type Aliases = HashMap<Span, SharedCollection, foldhash::fast::RandomState>;

/// Options for the interpretation of a set of documents.
#[derive(Clone, Debug)]
pub struct DeckhandOptions {
    /// Semantics of merging (`semantics.md`).
    pub semantics: Semantics,
    /// Handling of a substitution whose source is missing.
    pub missing_source: MissingSource,
    /// Secrets by the references in encrypted documents (`deckhand.md` 13.1); they come from a
    /// secret store, a repository has none.
    pub encryption_sources: BTreeMap<String, Node>,
}

/// The documents that are rendered together, and their relations.
#[derive(Debug)]
pub struct Site<'a> {
    /// Name of the site; `None` for a set of files without layout.
    pub name: Option<Arc<str>>,
    /// Documents in path order.
    pub documents: Vec<&'a Document>,
    /// The layering policy in force.
    pub policy: Option<DocId>,
    /// Documents that the site's catalogs declare as generated at deploy time.
    pub catalog: Arc<Catalog>,
    /// Problems of the relations.
    pub problems: Vec<SiteProblem>,
    relations: Arc<Relations<'a>>,
    /// Spans of the documents, in order; computed on demand.
    places: OnceLock<Vec<(Span, DocId)>>,
    /// Cache of [`Site::aliases`].
    aliases: OnceLock<Aliases>,
    /// Cache of [`Site::data_schemas`].
    data_schemas: OnceLock<FastMap<Arc<str>, DocId>>,
}

/// Relations between the documents of a site, which nearly identical sites may share.
#[derive(Debug)]
struct Relations<'a> {
    /// Whether each document repeats the schema, layer and name of another one.
    repeated: Vec<bool>,
    parents: Vec<Option<DocId>>,
    replaced_by: Vec<Option<DocId>>,
    names: DocumentIndex<'a>,
}

/// A layer of the policy whose name is similar to an unknown one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearLayer {
    /// Name of the layer.
    pub(crate) name: Arc<str>,
    /// Whether the policy is likely misspelt rather than the document: no document is in this
    /// layer, and several are in the unknown one.
    pub(crate) is_slip: bool,
}

/// A problem of the relations between documents.
#[derive(Clone, Debug)]
pub enum SiteProblem {
    /// There are documents with layers but no LayeringPolicy.
    MissingPolicy,
    /// An additional LayeringPolicy.
    ExtraPolicy {
        /// The policy in force.
        used: DocId,
        /// The additional policy.
        extra: DocId,
    },
    /// A layer that occurs twice in `layerOrder`.
    RepeatedLayer {
        /// The layer.
        layer: Arc<str>,
        /// Location of the first occurrence.
        first: Span,
        /// Location of the repeated occurrence.
        again: Span,
    },
    /// A document in a layer that the policy does not have.
    UnknownLayer {
        /// The document.
        doc: DocId,
        /// A layer with a similar name.
        near: Option<NearLayer>,
    },
    /// A selector that matches no parent.
    MissingParent {
        /// The selecting document.
        child: DocId,
    },
    /// A selector that matches several parents in the nearest layer.
    AmbiguousParent {
        /// The selecting document.
        child: DocId,
        /// The matching documents, the first of which is used.
        candidates: Matches,
    },
    /// Matches for which Deckhand's code rejects the whole set.
    RefusedMatch {
        /// The selecting document.
        child: DocId,
        /// Documents that match its labels.
        parents: Matches,
        /// Reason for the rejection.
        refusal: ParentRefusal,
    },
    /// A document with a mapping whose keys have several types; Deckhand sorts it because a
    /// document matches a label of its selector.
    MixedKeys {
        /// The document, which records the keys.
        doc: DocId,
    },
    /// A control document that a selector matches (D23).
    ControlParent {
        /// The selecting document.
        child: DocId,
        /// The control document.
        parent: DocId,
    },
    /// Two documents with the same schema, layer and name.
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
    /// A document with its parent's schema and name that is not declared as its replacement.
    UndeclaredReplacement {
        /// The document.
        doc: DocId,
        /// Its parent.
        parent: DocId,
    },
    /// A replacement that is itself replaced (D19).
    NestedReplacement {
        /// The replacement that is replaced.
        middle: DocId,
        /// The document that replaces it.
        last: DocId,
    },
    /// An abstract replacement, so that nothing is rendered under the name (D21).
    AbstractReplacement {
        /// The replacement.
        doc: DocId,
        /// The replaced document.
        replaced: DocId,
    },
    /// Two outputs with the same schema and name (D20).
    DuplicateOutput {
        /// The first.
        first: DocId,
        /// Another.
        again: DocId,
    },
    /// Two documents with the same schema and name in different layers that do not replace each
    /// other and are not both outputs.
    SharedName {
        /// The first.
        first: DocId,
        /// Another.
        again: DocId,
    },
    /// A substitution whose source document does not exist.
    MissingSource {
        /// The substituting document.
        doc: DocId,
        /// Index of the substitution.
        substitution: usize,
        /// An abstract document of that name, which cannot be a source.
        of_abstract: Option<DocId>,
        /// The similar name of a document with that schema.
        near: Option<Arc<str>>,
    },
    /// Sources that the site's own catalogs declare as generated at deploy time.
    GeneratedSources {
        /// The substitutions, each with the catalog entry of its source.
        missing: Vec<GeneratedSource>,
    },
    /// An encrypted document's reference that cannot be resolved.
    MissingEncryptionSource {
        /// The document.
        doc: DocId,
    },
}

/// Documents that match one selector.
///
/// If many documents carry and select one label, all pairs would not fit into memory, so only the
/// first few are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// First matches, in input order.
    pub(crate) first: Vec<DocId>,
    /// Number of further matches.
    pub(crate) more: usize,
}

impl Matches {
    /// Maximum number of matches kept.
    const KEPT: usize = 5;

    fn add(&mut self, doc: DocId) {
        if self.first.len() < Self::KEPT {
            self.first.push(doc);
        } else {
            self.more += 1;
        }
    }

    fn of(docs: impl IntoIterator<Item = DocId>) -> Self {
        let mut matches = Self::default();
        docs.into_iter().for_each(|doc| matches.add(doc));
        matches
    }

    /// All of `docs`, which are in order, except one.
    fn without(docs: &[DocId], left_out: DocId) -> Self {
        let first: Vec<DocId> = docs
            .iter()
            .copied()
            .filter(|doc| *doc != left_out)
            .take(Self::KEPT)
            .collect();
        let is_among = docs.binary_search(&left_out).is_ok();
        let more = docs.len() - usize::from(is_among) - first.len();
        Self { first, more }
    }

    /// Total number of matches.
    pub(crate) fn count(&self) -> usize {
        self.first.len() + self.more
    }
}

/// A source document that is generated at deploy time.
#[derive(Clone, Debug)]
pub struct GeneratedSource {
    /// The substituting document.
    pub(crate) doc: DocId,
    /// Index of the substitution.
    pub(crate) substitution: usize,
    /// Location of the declaration in the catalog.
    pub(crate) declared: Span,
}

/// Reason why Deckhand's code rejects a set because of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParentRefusal {
    /// D04: the schemas differ.
    OtherSchema,
    /// D05: the match is in the same layer or a lower one.
    NotAbove,
    /// D06: several matches in a farther layer although the nearer one has a single match.
    TwoFarther {
        /// The single nearer match.
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
        let family = Family {
            documents: &documents,
            repeated: &repeated,
        };
        let children = parents::children(family);
        let parents = parents::find(family, &children, &layers, options.semantics, &mut problems);
        let replaced_by =
            parents::replacements(&documents, &children, &layers, &parents, &mut problems);
        names.report_shared(family, &parents, &replaced_by, &mut problems);
        names.resolve(family, &replaced_by);
        let catalog = Arc::new(Catalog::of(&documents));
        let relations = Arc::new(Relations {
            repeated,
            parents,
            replaced_by,
            names,
        });
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

    /// Returns a document of the site.
    pub fn document(&self, doc: DocId) -> &'a Document {
        self.documents[doc.index()]
    }

    /// Iterates over the documents with their IDs.
    pub fn iter(&self) -> impl Iterator<Item = (DocId, &'a Document)> {
        self.documents
            .iter()
            .enumerate()
            .map(|(index, document)| (DocId::at(index), *document))
    }

    /// The document that contains this span.
    pub(crate) fn document_at(&self, at: Span) -> Option<DocId> {
        let places = self.places.get_or_init(|| {
            let mut places: Vec<(Span, DocId)> = self
                .iter()
                .map(|(doc, document)| (document.span, doc))
                .collect();
            places.sort_unstable_by_key(|(span, doc)| (span.file, span.start, *doc));
            places
        });
        let behind =
            places.partition_point(|(span, _)| (span.file, span.start) <= (at.file, at.start));
        let (span, doc) = places.get(behind.checked_sub(1)?)?;
        span.contains(at).then_some(*doc)
    }

    /// Collections of the site's documents that have aliases.
    pub(crate) fn aliases(&self) -> &Aliases {
        self.aliases.get_or_init(|| {
            let shared = self.documents.iter().flat_map(|document| &document.shared);
            // The last entry of a key wins, so reversing keeps the first alias.
            shared
                .rev()
                .map(|shared| (shared.collection, *shared))
                .collect()
        })
    }

    /// DataSchema documents by the schema they validate; the first of a name takes precedence.
    pub(crate) fn data_schemas(&self) -> &FastMap<Arc<str>, DocId> {
        self.data_schemas.get_or_init(|| {
            let mut found = FastMap::default();
            for (doc, document) in self.iter().filter(|(_, it)| schema::is_in_use(it)) {
                found.entry(document.key.name.clone()).or_insert(doc);
            }
            found
        })
    }

    /// The parent that the selector of a document matches.
    pub fn parent(&self, doc: DocId) -> Option<DocId> {
        self.relations.parents[doc.index()]
    }

    /// The final replacement of a document, or the document itself (D19: the last replacement takes
    /// effect).
    pub fn standing_for(&self, doc: DocId) -> DocId {
        let mut last = doc;
        // The chain ends, as each replacement is in a lower layer than the replaced document.
        while let Some(next) = self.relations.replaced_by[last.index()] {
            last = next;
        }
        last
    }

    /// The document that a substitution from `schema` and `name` reads: a concrete one, or its
    /// replacement (8.1).
    pub fn source(&self, schema: &str, name: &str) -> Option<DocId> {
        let named = self.relations.names.source(schema, name)?;
        (!self.document(named).is_abstract).then(|| self.standing_for(named))
    }

    /// The output with this schema and name; the last one if there are several.
    pub fn output(&self, schema: &str, name: &str) -> Option<DocId> {
        self.relations
            .names
            .output(schema, name)
            .filter(|doc| self.is_output(*doc))
    }

    /// Whether a document is part of the output.
    pub fn is_output(&self, doc: DocId) -> bool {
        !self.document(doc).is_abstract
            && self.relations.replaced_by[doc.index()].is_none()
            && !self.relations.repeated[doc.index()]
    }

    /// Lowers the site to recipes, and records substitutions without a source as problems.
    pub fn to_graph(&mut self, options: &DeckhandOptions) -> Graph {
        let mut missing = Vec::new();
        let recipes = self
            .iter()
            .map(|(doc, document)| Arc::new(self.recipe(doc, document, options, &mut missing)))
            .collect();
        self.problems.extend(gather_generated(missing));
        let DeckhandOptions {
            semantics,
            missing_source,
            ..
        } = *options;
        Graph {
            recipes,
            semantics,
            missing_source,
            sharers: 1,
        }
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
        needs.extend(base.map(|link| Need {
            doc: link.doc,
            at: link.selector,
        }));
        // Actions read no other document.
        let mut sources = vec![None; actions];
        sources.reserve_exact(document.sources.len());
        for (index, named) in document.sources.iter().enumerate() {
            let source = self.source(&named.schema.value, &named.name.value);
            sources.push(source);
            match source {
                // Deckhand's code orders a control document after its sources although nothing is
                // substituted into it (8.2), and rejects the set on a cycle: an error in both
                // semantics.
                Some(source) => needs.push(Need {
                    doc: source,
                    at: named.name.span,
                }),
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
            data: self.recipe_data(doc, document, options, problems),
            base,
            replaces: self
                .parent(doc)
                .filter(|parent| self.relations.replaced_by[parent.index()] == Some(doc)),
            needs,
            steps,
            emit: self.is_output(doc),
        }
    }

    /// The document that `doc` is merged into: its parent or the parent's replacement.
    fn base(&self, doc: DocId, document: &Document) -> Option<Link> {
        let parent = self.parent(doc)?;
        let selector = document
            .parent_selector
            .as_ref()
            .expect("a parent was found by a selector");
        let standing =
            self.relations.replaced_by[parent.index()].filter(|replacement| *replacement != doc);
        let base = standing.map_or(parent, |replacement| self.standing_for(replacement));
        let base = if base == doc { parent } else { base };
        let label = self.matching_label(parent, document);
        Some(Link {
            doc: base,
            selector: selector.span,
            label,
        })
    }

    /// Span of the first label of `parent` that the child selects.
    pub(crate) fn matching_label(&self, parent: DocId, child: &Document) -> Span {
        let parent = self.document(parent);
        let wanted = child
            .parent_selector
            .as_ref()
            .and_then(|it| it.labels.keys().next());
        let found = wanted.and_then(|key| parent.labels.get_entry(key));
        found.map_or(parent.name_span, |(key, label)| key.span.to(label.span))
    }

    /// Data of the document, or the secret that it refers to (13.1).
    fn recipe_data(
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
                Node {
                    span: document.data.span,
                    origin: Origin::Made,
                    ..secret
                }
            }
            None => {
                problems.push(SiteProblem::MissingEncryptionSource { doc });
                document.data.clone()
            }
        }
    }

    /// Problem for a substitution without a source; `before` is the number of problems so far.
    fn missing_source(&self, doc: DocId, index: usize, before: usize) -> SiteProblem {
        let named = &self.document(doc).sources[index];
        let schema = &named.schema.value;
        let name = &named.name.value;
        if let Some(declared) = self.catalog.find(schema, name) {
            let generated = GeneratedSource {
                doc,
                substitution: index,
                declared: declared.at,
            };
            return SiteProblem::GeneratedSources {
                missing: vec![generated],
            };
        }
        if before.saturating_mul(self.documents.len()) > MAX_COMPARISONS {
            return SiteProblem::MissingSource {
                doc,
                substitution: index,
                of_abstract: None,
                near: None,
            };
        }
        let of_abstract = self
            .iter()
            .find(|(_, document)| document.key.schema == *schema && document.key.name == *name)
            .map(|(doc, _)| doc);
        let family = Family {
            documents: &self.documents,
            repeated: &self.relations.repeated,
        };
        let beside = self
            .iter()
            .filter(|(doc, beside)| family.is_concrete(*doc) && beside.key.schema == *schema);
        let mut names: Vec<&str> = beside.map(|(_, beside)| &*beside.key.name).collect();
        names.sort_unstable();
        let near = nearest(name, names).map(Arc::from);
        SiteProblem::MissingSource {
            doc,
            substitution: index,
            of_abstract,
            near,
        }
    }
}

/// Combines all sources generated at deploy time into one problem, after the others.
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

/// The policy in force: the first, as in Deckhand's code (D26).
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
    let Some(policy) = policy else {
        return Layers::default();
    };
    let order: &[Spanned<Arc<str>>] = documents[policy.index()]
        .layer_order
        .as_deref()
        .unwrap_or_default();
    let mut firsts: FastMap<&str, Span> = FastMap::default();
    for layer in order {
        if let Some(first) = firsts.get(&*layer.value).copied() {
            let again = layer.span;
            problems.push(SiteProblem::RepeatedLayer {
                layer: layer.value.clone(),
                first,
                again,
            });
        } else {
            firsts.insert(&layer.value, layer.span);
        }
    }
    let layers = Layers::new(order.iter().map(|layer| &*layer.value), documents);
    let members = LazyCell::new(|| {
        let mut members: FastMap<&str, usize> = FastMap::default();
        for layer in documents
            .iter()
            .filter_map(|document| document.layer.as_ref())
        {
            *members.entry(&layer.value).or_default() += 1;
        }
        members
    });
    for doc in (0..documents.len())
        .map(DocId::at)
        .filter(|doc| layers.rank(*doc).is_none())
    {
        if let Some(layer) = &documents[doc.index()].layer {
            let names = order.iter().map(|layer| &*layer.value);
            let few = problems.len().saturating_mul(order.len()) <= MAX_COMPARISONS;
            let near = if few {
                nearest(&layer.value, names)
            } else {
                None
            };
            let near = near.map(|name| NearLayer {
                name: name.into(),
                is_slip: members[&*layer.value] > 1 && !members.contains_key(name),
            });
            problems.push(SiteProblem::UnknownLayer { doc, near });
        }
    }
    layers
}

/// The documents of a site, and whether each repeats an identity: of several documents with the
/// same schema, layer and name the first takes precedence (6.4).
#[derive(Clone, Copy)]
struct Family<'a> {
    documents: &'a [&'a Document],
    repeated: &'a [bool],
}

impl<'a> Family<'a> {
    /// Iterates over the documents that do not repeat another, with their IDs.
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

/// The secret reference that is the data of an encrypted document (13.1).
fn secret_reference(document: &Document) -> Option<&str> {
    let text = document.data.as_str().filter(|_| document.encrypted);
    text.filter(|text| is_secret_reference(text))
}

/// Whether a string is a Barbican reference: a URL that contains `secrets` and ends in a UUID
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
