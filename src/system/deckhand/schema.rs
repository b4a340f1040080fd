//! Which schema is for which document, and what it says of it: Deckhand's own
//! schemas, and those of the site's DataSchema documents (`deckhand.md` 15).
//!
//! What Deckhand's schemas say of the envelope and of metadata is told where a
//! document is read. Schemas are made ready once for each content, whatever
//! number of sites, sides and documents use them.

use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use super::document::Document;
use super::{Lookup, Site};
use crate::graph::DocId;
use crate::schema::{Problem, Schema, Violation};
use crate::source::FileId;
use crate::system::deckhand::read::is_usable_schema_name;
use crate::yaml::{self, Mapping, Node, Value};

/// A schema, and what is wrong with it.
#[derive(Debug)]
pub struct Compiled {
    /// The schema.
    pub schema: Schema,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

impl Compiled {
    fn of(root: &Node) -> Arc<Self> {
        let (schema, problems) = Schema::compile(root);
        Arc::new(Self { schema, problems })
    }
}

/// Schemas that were made ready, to be shared by all that need them.
#[derive(Debug, Default)]
pub struct Schemas {
    /// By the mapping they were read from, which they keep.
    known: Mutex<Lookup<usize, Place>>,
    /// By the addresses of schema and data: what documents say themselves that
    /// is known to be valid. Both are kept, so that no address is used again.
    valid: Mutex<Lookup<(usize, usize), Valid>>,
}

/// A schema, and data that it accepts.
type Valid = (Arc<Compiled>, Arc<Mapping>);

/// Where a schema is kept as soon as somebody has made it ready.
type Place = Arc<OnceLock<Arc<Compiled>>>;

impl Schemas {
    /// The schema that is written at `root`.
    pub fn compiled(&self, root: &Node) -> Arc<Compiled> {
        let Value::Mapping(mapping) = &root.value else { return Compiled::of(root) };
        let identity = Arc::as_ptr(mapping).addr();
        let place = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.entry(identity).or_default().clone()
        };
        // The schema keeps the mapping, so that its address stays its own.
        place.get_or_init(|| Compiled::of(root)).clone()
    }

    /// What `compiled` refuses of `data`, which a document renders to. Sites
    /// share documents: what is as it was written is looked at once.
    fn violations(
        &self,
        compiled: &Arc<Compiled>,
        document: &Document,
        data: &Node,
    ) -> Vec<Violation> {
        let (Value::Mapping(written), Value::Mapping(rendered)) =
            (&document.data.value, &data.value)
        else {
            return compiled.schema.violations(data);
        };
        if !Arc::ptr_eq(written, rendered) {
            return compiled.schema.violations(data);
        }
        let pair = (Arc::as_ptr(compiled).addr(), Arc::as_ptr(written).addr());
        let valid = || self.valid.lock().unwrap_or_else(PoisonError::into_inner);
        if valid().contains_key(&pair) {
            return Vec::new();
        }
        let found = compiled.schema.violations(data);
        if found.is_empty() {
            valid().insert(pair, (compiled.clone(), written.clone()));
        }
        found
    }
}

/// Something that a schema refuses of a document.
#[derive(Clone, Debug)]
pub struct Violated {
    /// The document.
    pub doc: DocId,
    /// The DataSchema document; none where the schema is Deckhand's own.
    pub by: Option<DocId>,
    /// What, and where in the document's data.
    pub violation: Violation,
}

/// What the schemas refuse of a site's outputs, whose rendered data `data`
/// gives, in their order.
pub fn violations<'d>(
    site: &Site<'_>,
    schemas: &Schemas,
    data: impl Fn(DocId) -> Option<&'d Node>,
) -> Vec<Violated> {
    let data_schemas = data_schemas(site);
    let mut found = Vec::new();
    for (doc, document) in site.iter().filter(|(doc, _)| site.is_output(*doc)) {
        let (by, compiled) = match own_schema(&document.key.schema) {
            Some(own) => (None, own),
            None => match data_schemas.get(&*document.key.schema) {
                Some(by) => (Some(*by), schemas.compiled(&site.document(*by).data)),
                None => continue,
            },
        };
        let Some(data) = data(doc) else { continue };
        let violations = schemas.violations(&compiled, document, data).into_iter();
        found.extend(violations.map(|violation| Violated { doc, by, violation }));
    }
    found
}

/// Whether a document is a schema for others.
pub fn is_data_schema(document: &Document) -> bool {
    document.key.schema.starts_with(DATA_SCHEMA)
}

const DATA_SCHEMA: &str = "deckhand/DataSchema/";

/// The documents that are schemas, by the schema of the documents that they are
/// for: the first of a name counts.
fn data_schemas<'a>(site: &Site<'a>) -> Lookup<&'a str, DocId> {
    let mut found = Lookup::default();
    for (doc, document) in site.iter().filter(|(_, document)| is_data_schema(document)) {
        let name = &*document.key.name;
        if !document.data.value.is_falsy() && is_usable_schema_name(name) {
            found.entry(name).or_insert(doc);
        }
    }
    found
}

/// What Deckhand itself says of the data of documents (`deckhand.md` 4.4).
static OWN: LazyLock<Vec<(&'static str, Arc<Compiled>)>> = LazyLock::new(|| {
    let texts = [("deckhand/LayeringPolicy/v1", LAYERING_POLICY)]
        .into_iter()
        .chain([("deckhand/ValidationPolicy/v1", VALIDATION_POLICY)])
        .chain(TEXT_KINDS.map(|kind| (kind, TEXT)));
    texts.map(|(kind, text)| (kind, Compiled::of(&root_of(text)))).collect()
});

/// Deckhand's own schema for documents of a kind, which no DataSchema can take
/// the place of.
fn own_schema(kind: &str) -> Option<Arc<Compiled>> {
    let own = OWN.iter().find(|(of, _)| *of == kind);
    own.map(|(_, compiled)| compiled.clone())
}

fn root_of(text: &str) -> Node {
    let mut documents = yaml::parse(FileId(0), text).documents;
    documents.pop().expect("our own text is YAML").root
}

/// The kinds of document whose data is a text.
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
