//! Documents that are parsed again on demand, because few are needed completely.

use std::sync::{Arc, OnceLock};

use layercake_source::{FileId, Span};

use super::{Mapping, Node, Value, YamlDocument, parse};

/// Text of a file whose documents can be parsed again.
#[derive(Debug)]
pub struct WholeText {
    file: FileId,
    content: Arc<str>,
    /// Result of [`parse`], computed on first use.
    documents: OnceLock<Vec<YamlDocument>>,
}

impl WholeText {
    /// Wraps the text that [`parse`] has parsed for `file`.
    pub fn new(file: FileId, content: Arc<str>) -> Self {
        Self {
            file,
            content,
            documents: OnceLock::new(),
        }
    }

    fn document(&self, span: Span) -> &YamlDocument {
        let documents = self
            .documents
            .get_or_init(|| parse(self.file, &self.content).documents);
        let behind = documents.partition_point(|document| document.span.start < span.start);
        let mut documents = documents[behind..].iter();
        let found = documents.find(|document| document.span == span);
        found.expect("parsing is deterministic")
    }
}

/// Root of a document, in memory or in a text. Cheap to clone.
#[derive(Clone, Debug)]
pub enum Whole {
    /// Root node in memory.
    Held(Node),
    /// Document to parse again from its text.
    InText {
        /// Text of the file.
        text: Arc<WholeText>,
        /// Span of the document in the text.
        span: Span,
        /// Root entry with a secret value, if any.
        secret: Option<&'static str>,
    },
}

impl Whole {
    /// Whether both are the same document of the same text, or share their contents.
    pub fn is(&self, other: &Whole) -> bool {
        match (self, other) {
            (Whole::Held(one), Whole::Held(other)) => match (&one.value, &other.value) {
                (Value::Mapping(one), Value::Mapping(other)) => Arc::ptr_eq(one, other),
                (Value::Null, Value::Null) => true,
                _ => false,
            },
            (
                Whole::InText {
                    text: one,
                    span: at,
                    ..
                },
                Whole::InText {
                    text: other,
                    span: there,
                    ..
                },
            ) => Arc::ptr_eq(one, other) && at == there,
            (Whole::Held(_), Whole::InText { .. }) | (Whole::InText { .. }, Whole::Held(_)) => {
                false
            }
        }
    }

    /// Root node, parsed again if necessary.
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

/// Marks the value at `entry` of a mapping as secret.
fn with_secret(mut root: Node, entry: &str) -> Node {
    if let Value::Mapping(mapping) = &mut root.value
        && let Some(value) = Mapping::to_change(mapping).get_mut(entry)
    {
        *value = value.clone().into_secret();
    }
    root
}
