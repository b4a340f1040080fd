//! Names of documents and labels, and all texts of a document that are such a name.

use super::place::touches;
use super::uses::{NamedDocuments, UseKind};
use crate::source::{DocKey, Span};
use crate::system::deckhand::document::Document;
use crate::yaml::{Key, Mapping};

/// A name that can be changed.
pub(crate) enum Renamed {
    /// All documents of a schema with this name.
    Document { schema: String, name: String },
    /// A value of a label.
    Label { key: Key, value: String },
}

impl Renamed {
    /// The name at a byte of a document, and its text there.
    pub(crate) fn at(around: &Document, at: Span) -> Option<(Self, Span)> {
        if touches(around.name_span, at) {
            return Some((Self::document(&around.key), around.name_span));
        }
        let mut sources = around.sources.iter();
        if let Some(source) = sources.find(|source| touches(source.name.span, at)) {
            let renamed = Self::Document {
                schema: source.schema.value.to_string(),
                name: source.name.value.to_string(),
            };
            return Some((renamed, source.name.span));
        }
        let mut labels = labels_of(around).flat_map(Mapping::iter);
        let (key, value) = labels.find(|(_, value)| touches(value.span, at))?;
        let renamed = Self::Label {
            key: key.clone(),
            value: value.as_str()?.to_owned(),
        };
        Some((renamed, value.span))
    }

    pub(crate) fn document(key: &DocKey) -> Self {
        Self::Document {
            schema: key.schema.to_string(),
            name: key.name.to_string(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Document { name, .. } => name,
            Self::Label { value, .. } => value,
        }
    }

    /// Whether a document has this name.
    pub(crate) fn is_of(&self, document: &Document) -> bool {
        match self {
            Self::Document { schema, name } => is_called(&document.key, schema, name),
            Self::Label { .. } => false,
        }
    }

    /// The same with another name.
    pub(crate) fn with_name(&self, name: &str) -> Self {
        match self {
            Self::Document { schema, .. } => Self::Document {
                schema: schema.clone(),
                name: name.to_owned(),
            },
            Self::Label { key, .. } => Self::Label {
                key: key.clone(),
                value: name.to_owned(),
            },
        }
    }

    /// Texts of a document's fields that are the name. The name of a DataSchema is the schema of other
    /// documents (`deckhand.md` 3).
    pub(crate) fn texts(&self, document: &Document) -> Vec<Span> {
        match self {
            Self::Document { schema, name } => {
                let own = is_called(&document.key, schema, name).then_some(document.name_span);
                let is_data_schema = schema.starts_with("deckhand/DataSchema/");
                let is_schema = |named: &str| is_data_schema && *named == **name;
                let of_schema = is_schema(&document.key.schema).then_some(document.schema_span);
                let sources = document.sources.iter();
                let named = sources.clone().filter(|source| {
                    *source.schema.value == **schema && *source.name.value == **name
                });
                let schemas = sources.filter(|source| is_schema(&source.schema.value));
                own.into_iter()
                    .chain(named.map(|source| source.name.span))
                    .chain(schemas.map(|source| source.schema.span))
                    .chain(of_schema)
                    .collect()
            }
            Self::Label { key, value } => {
                let values = labels_of(document).filter_map(|labels| labels.get(key));
                let same = values.filter(|found| found.as_str() == Some(value));
                same.map(|found| found.span).collect()
            }
        }
    }

    /// Texts in the data of documents that are the name.
    pub(crate) fn texts_in_data(&self, names: &NamedDocuments) -> Vec<Span> {
        let Self::Document { schema, name } = self else {
            return Vec::new();
        };
        let uses = names.uses.iter();
        let uses = uses.filter(|named| named.kind == UseKind::Name);
        uses.filter(|named| is_called(&named.used.key, schema, name))
            .map(|named| named.at)
            .collect()
    }
}

fn is_called(key: &DocKey, schema: &str, name: &str) -> bool {
    *key.schema == *schema && *key.name == *name
}

/// The labels and the selector of a document.
fn labels_of(document: &Document) -> impl Iterator<Item = &Mapping> {
    let selector = document.parent_selector.iter();
    let selected = selector.map(|selector| &*selector.labels);
    std::iter::once(&*document.labels).chain(selected)
}
