//! Names of documents.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// What a user calls a document: Deckhand's identity triple
/// (`deckhand.md` 2.1), with `""` for what the document does not say.
///
/// Cheap to clone: every site that has the document, and every finding about it,
/// names it by this.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
)]
pub struct DocKey(Arc<Triple>);

/// What a [`DocKey`] says.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize)]
pub struct Triple {
    /// `schema`, e.g. `armada/Chart/v1`.
    pub schema: Arc<str>,
    /// `metadata.layeringDefinition.layer`.
    pub layer: Arc<str>,
    /// `metadata.name`.
    pub name: Arc<str>,
}

impl DocKey {
    /// The key of a document that says this of itself.
    pub fn new(
        schema: impl Into<Arc<str>>,
        layer: impl Into<Arc<str>>,
        name: impl Into<Arc<str>>,
    ) -> Self {
        Self(Arc::new(Triple { schema: schema.into(), layer: layer.into(), name: name.into() }))
    }

    /// Whether both were read once, of the same text.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Its name with its layer, if it has one.
    pub fn name_and_layer(&self) -> String {
        let Triple { name, layer, .. } = &**self;
        if layer.is_empty() { name.to_string() } else { format!("{name} ({layer})") }
    }
}

impl Deref for DocKey {
    type Target = Triple;

    fn deref(&self) -> &Triple {
        &self.0
    }
}

impl fmt::Display for DocKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.schema, self.name)?;
        if self.layer.is_empty() { Ok(()) } else { write!(f, " ({})", self.layer) }
    }
}
