//! Validation of documents: Deckhand's own schemas, and those of the site's DataSchema documents
//! (`deckhand.md` 15).
//!
//! Violations of Deckhand's schemas in the envelope and metadata are reported when a document is
//! read. Schemas are compiled once per content, however many sites, sides and documents use them.

use std::sync::{Arc, LazyLock, OnceLock};

use parking_lot::Mutex;

use super::document::Document;
use super::{FastMap, Site};
use crate::graph::{DocId, Graph};
use crate::merge::pattern::{Effort, Patterns};
use crate::schema::{Schema, SchemaFault, SchemaProblem, Violation};
use crate::source::{FileId, SourceMap};
use crate::system::deckhand::read::is_usable_schema_name;
use crate::system::heat::{GroupViolation, Groups, Versions};
use crate::yaml::{self, Node, Value};

/// A schema and its problems.
#[derive(Debug)]
pub(crate) struct Compiled {
    /// Source of the schema.
    root: Node,
    patterns: Arc<Patterns>,
    /// See [`Compiled::schema`].
    schema: OnceLock<Schema>,
    /// Problems of the schema.
    pub(crate) problems: Vec<SchemaProblem>,
}

impl Compiled {
    /// Checks the schema at `root`; the compiled schema is `kept` for validation, or compiled again
    /// on first use.
    fn of(root: &Node, patterns: &Arc<Patterns>, kept: bool) -> Arc<Self> {
        let (schema, problems) = Schema::compile_with(root, patterns);
        let schema = if kept { schema.into() } else { OnceLock::new() };
        Arc::new(Self {
            root: root.clone(),
            patterns: patterns.clone(),
            schema,
            problems,
        })
    }

    /// The compiled schema.
    fn schema(&self) -> &Schema {
        self.schema
            .get_or_init(|| Schema::compile_with(&self.root, &self.patterns).0)
    }
}

/// Compiled schemas, shared by all users.
#[derive(Debug, Default)]
pub struct Schemas {
    /// Schemas by the address of their mapping, which each schema keeps alive.
    known: Mutex<FastMap<usize, SchemaSlot>>,
    /// Patterns in the schemas.
    patterns: Arc<Patterns>,
    /// Results for unrendered data, by the addresses of schema and data. Both are kept alive, so
    /// that addresses stay unique.
    validated: Mutex<FastMap<(usize, usize), Validated>>,
    /// Property groups defined outside schemas.
    beside: Vec<GroupsBeside>,
    /// Compiled groups, by the mapping of the schema and by the one-based index of the block
    /// outside it; 0 for groups in the schema.
    groups: Mutex<FastMap<(usize, usize), GroupsSlot>>,
}

/// A block of property groups that is defined outside schemas.
#[derive(Clone, Debug)]
pub(crate) struct GroupsBeside {
    /// Schema of the documents that the block applies to.
    pub(crate) schema: Arc<str>,
    /// The block.
    pub(crate) block: Node,
}

/// A schema, data, and its violations if there are any.
type Validated = (Arc<Compiled>, Node, Option<Arc<Refusal>>);

/// Cell for groups, filled by the first user.
type GroupsSlot = Arc<OnceLock<Arc<Groups>>>;

/// Cell for a schema, filled by the first user.
type SchemaSlot = Arc<OnceLock<Arc<Compiled>>>;

impl Schemas {
    /// Maximum number of schemas kept compiled regardless of use. A schema takes tens of kilobytes,
    /// and if there are thousands, few of them are used.
    const MAX_KEPT: usize = 128;

    /// Adds property groups defined outside schemas.
    #[must_use]
    pub(crate) fn with_groups(self, beside: Vec<GroupsBeside>) -> Self {
        Self { beside, ..self }
    }

    /// The property groups in the schema at `root`.
    pub(crate) fn groups(&self, root: &Node, sources: &SourceMap) -> Arc<Groups> {
        self.get_or_make(Some(root), 0, || {
            let nothing = Node::made(Value::Null, root.span);
            let root = if self.is_too_large(root) {
                &nothing
            } else {
                root
            };
            Groups::of_schema(root, sources)
        })
    }

    /// The blocks of property groups outside schemas, each with its groups for the schema in
    /// `site`.
    pub(crate) fn groups_beside(
        &self,
        site: &Site<'_>,
        sources: &SourceMap,
    ) -> Vec<(&GroupsBeside, Arc<Groups>)> {
        self.beside
            .iter()
            .enumerate()
            .map(|(index, beside)| {
                let schema = site
                    .data_schemas()
                    .get(&*beside.schema)
                    .map(|by| &site.document(*by).data)
                    .filter(|schema| !self.is_too_large(schema));
                let groups = self.get_or_make(schema, index + 1, || {
                    Groups::beside_schema(&beside.block, schema, sources)
                });
                (beside, groups)
            })
            .collect()
    }

    /// Returns groups, created once per schema. Groups keep their source alive, so that its address
    /// stays unique.
    fn get_or_make(
        &self,
        schema: Option<&Node>,
        block: usize,
        make: impl FnOnce() -> Groups,
    ) -> Arc<Groups> {
        let mapping = schema.map(|schema| &schema.value);
        let identity = match mapping {
            Some(Value::Mapping(mapping)) => Arc::as_ptr(mapping).addr(),
            Some(_) | None => 0,
        };
        let place = {
            let mut groups = self.groups.lock();
            groups.entry((identity, block)).or_default().clone()
        };
        place.get_or_init(|| Arc::new(make())).clone()
    }

    fn is_too_large(&self, root: &Node) -> bool {
        let problems = &self.compiled(root).problems;
        problems
            .iter()
            .any(|problem| problem.fault == SchemaFault::TooLarge)
    }

    /// The schema at `root`, compiled.
    pub(crate) fn compiled(&self, root: &Node) -> Arc<Compiled> {
        let Value::Mapping(mapping) = &root.value else {
            return Compiled::of(root, &self.patterns, true);
        };
        let identity = Arc::as_ptr(mapping).addr();
        let (place, kept) = {
            let mut known = self.known.lock();
            let place = known.entry(identity).or_default().clone();
            (place, known.len() <= Self::MAX_KEPT)
        };
        // The schema keeps the mapping alive, so that its address stays unique.
        place
            .get_or_init(|| Compiled::of(root, &self.patterns, kept))
            .clone()
    }

    /// Violations of `compiled` by `data`, the rendered data of `document`. Sites share documents,
    /// so unchanged data is validated once.
    fn refusal(
        &self,
        compiled: &Arc<Compiled>,
        document: &Document,
        data: &Node,
        effort: Effort,
    ) -> Option<Arc<Refusal>> {
        let validate = || Refusal::of(compiled.schema().violations_within(data, effort));
        let (Value::Mapping(written), Value::Mapping(rendered)) =
            (&document.data.value, &data.value)
        else {
            return validate();
        };
        if !Arc::ptr_eq(written, rendered) {
            return validate();
        }
        let pair = (Arc::as_ptr(compiled).addr(), Arc::as_ptr(written).addr());
        if let Some((_, _, refusal)) = self.validated.lock().get(&pair) {
            return refusal.clone();
        }
        let refusal = validate();
        let data = document.data.clone();
        self.validated
            .lock()
            .insert(pair, (compiled.clone(), data, refusal.clone()));
        refusal
    }

    /// Frees what is known about the texts of all other files.
    pub(crate) fn keep_files(&mut self, is_kept: impl Fn(FileId) -> bool) {
        let known = self.known.get_mut();
        known.retain(|_, place| {
            place
                .get()
                .is_none_or(|schema| is_kept(schema.root.span.file))
        });
        self.validated
            .get_mut()
            .retain(|_, (_, data, _)| is_kept(data.span.file));
        // Groups are of known schemas, or of none.
        self.groups
            .get_mut()
            .retain(|(identity, _), _| *identity == 0 || known.contains_key(identity));
        self.patterns.forget_unused();
    }
}

/// Violations of a schema by a document.
#[derive(Debug)]
pub struct Refusal {
    /// First violations, with details.
    pub violations: Vec<Violation>,
    /// Total number of violations.
    pub(crate) count: usize,
}

impl Refusal {
    fn of(mut violations: Vec<Violation>) -> Option<Arc<Self>> {
        let count = violations.len();
        violations.truncate(Schema::MAX_DETAILED);
        violations.shrink_to_fit();
        (count > 0).then(|| Arc::new(Self { violations, count }))
    }
}

/// A document that violates a schema.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The document.
    pub doc: DocId,
    /// The DataSchema document; `None` for Deckhand's own schema.
    pub(crate) by: Option<DocId>,
    /// The violations, with locations in the document's data.
    pub refusal: Arc<Refusal>,
}

/// Returns the schema violations of a site's outputs, in their order; `data` returns their rendered
/// data. The pattern budget is divided among `sharers` sites.
pub fn refused<'d>(
    site: &Site<'_>,
    schemas: &Schemas,
    sharers: usize,
    data: impl Fn(DocId) -> Option<&'d Node>,
) -> Vec<Refused> {
    let outputs = site
        .iter()
        .map(|(doc, _)| doc)
        .filter(|doc| site.is_output(*doc));
    outputs
        .filter_map(|doc| refused_output(site, schemas, sharers, doc, data(doc)?))
        .collect()
}

/// Returns the schema violations of one output with this rendered data.
pub(crate) fn refused_output(
    site: &Site<'_>,
    schemas: &Schemas,
    sharers: usize,
    doc: DocId,
    data: &Node,
) -> Option<Refused> {
    let document = site.document(doc);
    let (by, compiled) = match own_schema(&document.key.schema) {
        Some(own) => (None, own.clone()),
        None => {
            let by = *site.data_schemas().get(&document.key.schema)?;
            (Some(by), schemas.compiled(&site.document(by).data))
        }
    };
    let effort = Effort::share_of(site.documents.len().saturating_mul(sharers) as u64);
    let refusal = schemas.refusal(&compiled, document, data, effort)?;
    Some(Refused { doc, by, refusal })
}

/// A violation of a property group by a document.
#[derive(Clone, Debug)]
pub(crate) struct Breached {
    /// The document.
    pub(crate) doc: DocId,
    /// The violation, with its location in the document's data.
    pub(crate) finding: GroupViolation,
    /// Whether the group must not be shown.
    pub(crate) is_secret: bool,
}

/// Returns the property group violations of the outputs of a site's graph, of any system, in their
/// order; `data` returns the rendered data, `versions` are those of the software that reads it.
pub(crate) fn breaches<'d>(
    site: &Site<'_>,
    graph: &Graph,
    schemas: &Schemas,
    sources: &SourceMap,
    versions: &Versions,
    data: impl Fn(DocId) -> Option<&'d Node>,
) -> Vec<Breached> {
    let groups = groups_of_site(site, schemas, sources);
    let mut found = Vec::new();
    if groups.is_empty() {
        return found;
    }
    for (doc, recipe) in graph.outputs() {
        let Some(of_schema) = groups.get(&*recipe.key.schema) else {
            continue;
        };
        let Some(data) = data(doc) else { continue };
        for groups in of_schema {
            let findings = groups.findings(data, versions).into_iter();
            let is_secret = groups.is_secret();
            found.extend(findings.map(|finding| Breached {
                doc,
                finding,
                is_secret,
            }));
        }
    }
    found
}

/// Groups of a site by the schema that they apply to, those in the schema first.
fn groups_of_site<'s>(
    site: &'s Site<'_>,
    schemas: &'s Schemas,
    sources: &SourceMap,
) -> FastMap<&'s str, Vec<Arc<Groups>>> {
    let mut found: FastMap<&str, Vec<Arc<Groups>>> = FastMap::default();
    let data_schemas = site.data_schemas().iter();
    for (schema, by) in data_schemas.filter(|(kind, _)| own_schema(kind).is_none()) {
        let groups = schemas.groups(&site.document(*by).data, sources);
        if !groups.is_empty() {
            found.entry(&**schema).or_default().push(groups);
        }
    }
    for (beside, groups) in schemas.groups_beside(site, sources) {
        found.entry(&beside.schema).or_default().push(groups);
    }
    found
}

/// Whether a document is a DataSchema.
pub(crate) fn is_data_schema(document: &Document) -> bool {
    document.key.schema.starts_with(DATA_SCHEMA)
}

const DATA_SCHEMA: &str = "deckhand/DataSchema/";

/// Whether a document is a DataSchema that can apply to documents.
pub(crate) fn is_in_use(document: &Document) -> bool {
    is_data_schema(document)
        && !document.data.value.is_falsy()
        && is_usable_schema_name(&document.key.name)
}

/// Deckhand's own schemas for the data of documents (`deckhand.md` 4.4).
static OWN: LazyLock<Vec<(&'static str, Arc<Compiled>)>> = LazyLock::new(|| {
    let texts = [("deckhand/LayeringPolicy/v1", LAYERING_POLICY)]
        .into_iter()
        .chain([("deckhand/ValidationPolicy/v1", VALIDATION_POLICY)])
        .chain(TEXT_KINDS.map(|kind| (kind, TEXT)));
    let patterns = Arc::default();
    texts
        .map(|(kind, text)| (kind, Compiled::of(&root_of(text), &patterns, true)))
        .collect()
});

/// Deckhand's own schema for a kind of documents, which no DataSchema can override.
fn own_schema(kind: &str) -> Option<&'static Arc<Compiled>> {
    let own = OWN.iter().find(|(of, _)| *of == kind);
    own.map(|(_, compiled)| compiled)
}

fn root_of(text: &str) -> Node {
    let mut documents = yaml::parse(FileId::default(), text).documents;
    documents
        .pop()
        .expect("the built-in schema is valid YAML")
        .root
}

/// Kinds of documents whose data is a string.
const TEXT_KINDS: [&str; 7] = [
    "deckhand/Certificate/v1",
    "deckhand/CertificateAuthority/v1",
    "deckhand/CertificateAuthorityKey/v1",
    "deckhand/CertificateKey/v1",
    "deckhand/Passphrase/v1",
    "deckhand/PrivateKey/v1",
    "deckhand/PublicKey/v1",
];

const TEXT: &str = "type: string";

const LAYERING_POLICY: &str = "
type: object
properties:
  layerOrder: {type: array, items: {type: string}}
additionalProperties: false
required: [layerOrder]
";

const VALIDATION_POLICY: &str = "
type: object
properties:
  validations:
    type: array
    items:
      type: object
      properties:
        name: {type: string, pattern: '^.*-(validation|verification)$'}
        expiresAfter: {type: string}
      additionalProperties: false
      required: [name]
additionalProperties: false
required: [validations]
";
