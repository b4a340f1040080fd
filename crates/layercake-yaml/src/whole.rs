//! Documents that are not held as they were read: who asks for all of one, as few
//! do, has it read of its text again.

use std::sync::{Arc, OnceLock};

use layercake_source::{FileId, Span};

use super::{Mapping, Node, Value, YamlDocument, parse};

/// The text of a file, of which its documents can be read again.
#[derive(Debug)]
pub struct WholeText {
    file: FileId,
    content: Arc<str>,
    /// All that [`parse`] makes of it, as soon as somebody asks for one of them.
    documents: OnceLock<Vec<YamlDocument>>,
}

impl WholeText {
    /// The text that [`parse`] has read for `file`.
    pub fn new(file: FileId, content: Arc<str>) -> Self {
        Self { file, content, documents: OnceLock::new() }
    }

    fn document(&self, span: Span) -> &YamlDocument {
        let documents = self.documents.get_or_init(|| parse(self.file, &self.content).documents);
        let behind = documents.partition_point(|document| document.span.start < span.start);
        let mut documents = documents[behind..].iter();
        let found = documents.find(|document| document.span == span);
        found.expect("a text reads as it did")
    }
}

/// The root of a document: held, or left to its text. Cheap to clone.
#[derive(Clone, Debug)]
pub enum Whole {
    /// In memory.
    Held(Node),
    /// In a text.
    InText {
        /// The text.
        text: Arc<WholeText>,
        /// The span that the document has in it.
        span: Span,
        /// The entry of the root whose value is secret, if one is.
        secret: Option<&'static str>,
    },
}

impl Whole {
    /// Whether both are the same document of the same text, or share what they hold.
    pub fn is(&self, other: &Whole) -> bool {
        match (self, other) {
            (Whole::Held(one), Whole::Held(other)) => match (&one.value, &other.value) {
                (Value::Mapping(one), Value::Mapping(other)) => Arc::ptr_eq(one, other),
                (Value::Null, Value::Null) => true,
                _ => false,
            },
            (
                Whole::InText { text: one, span: at, .. },
                Whole::InText { text: other, span: there, .. },
            ) => Arc::ptr_eq(one, other) && at == there,
            (Whole::Held(_), Whole::InText { .. }) | (Whole::InText { .. }, Whole::Held(_)) => {
                false
            }
        }
    }

    /// The root, read again if need be.
    pub fn root(&self) -> Node {
        match self {
            Whole::Held(root) => root.clone(),
            Whole::InText { text, span, secret } => {
                let root = text.document(*span).root.clone();
                match secret {
                    Some(entry) => with_secret(root, entry),
                    None => root,
                }
            }
        }
    }
}

/// A mapping whose value at `entry` is marked secret.
fn with_secret(mut root: Node, entry: &str) -> Node {
    if let Value::Mapping(mapping) = &mut root.value
        && let Some(value) = Mapping::to_change(mapping).get_mut(entry)
    {
        *value = value.clone().into_secret();
    }
    root
}
