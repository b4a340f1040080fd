//! Names of documents.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// User-visible identity of a document: Deckhand's identity triple (`deckhand.md` 2.1), with `""`
/// for missing parts.
///
/// Cheap to clone, because every site with the document and every finding about it holds one.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
)]
pub struct DocKey(Arc<Triple>);

/// Parts of a [`DocKey`].
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
    /// Creates a key from its parts.
    pub fn new(
        schema: impl Into<Arc<str>>,
        layer: impl Into<Arc<str>>,
        name: impl Into<Arc<str>>,
    ) -> Self {
        Self(Arc::new(Triple {
            schema: schema.into(),
            layer: layer.into(),
            name: name.into(),
        }))
    }

    /// Whether both are clones of one key.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Name, with the layer if there is one.
    pub fn name_and_layer(&self) -> String {
        let Triple { name, layer, .. } = &**self;
        if layer.is_empty() {
            name.to_string()
        } else {
            format!("{name} ({layer})")
        }
    }
}

impl From<&DocKey> for DocKey {
    fn from(key: &DocKey) -> Self {
        key.clone()
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
        if self.layer.is_empty() {
            Ok(())
        } else {
            write!(f, " ({})", self.layer)
        }
    }
}
