//! A typed Deckhand document; every field has its span in the source.
//!
//! A document is read once per file, however many sites use it. Nothing is rejected here: each
//! problem is a [`DocumentFault`] with its location, and the rest of the document is used
//! (`deckhand.md` sections 2 and 4).

use std::sync::Arc;

use super::secrecy::{Folder, SecretKinds};
use crate::graph::{Act, Instruction, Instructions, Writing};
use crate::merge::deckhand::Method;
use crate::source::{DocKey, Span, Spanned};
use crate::yaml::path::PathError;
use crate::yaml::{Mapping, Node, SharedCollection, Value, Whole, WholeText};

/// A document of a file.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent properties of the document"
)]
pub struct Document {
    /// Identity of the document in messages.
    pub key: DocKey,
    /// Span of the whole document.
    pub span: Span,
    /// Value of [`Document::root`].
    pub(super) whole: Whole,
    /// Whether the document is in a Pegleg wrapper.
    pub is_wrapped: bool,
    /// Whether the Pegleg wrapper declares the data as encrypted.
    pub wrapped_encrypted: bool,
    /// Kinds of documents that were treated as secret when the document was read.
    pub(crate) secret_kinds: SecretKinds,
    /// Folder of its file.
    pub(crate) folder: Folder,
    /// Whether all of it may be secret, because it could not be read reliably.
    pub is_doubtful: bool,
    /// Start of the first key after `data`, if there is one.
    pub(crate) after_data: Option<u32>,
    /// Span of `metadata.name`, or of `schema`.
    pub(crate) name_span: Span,
    /// Span of `schema`.
    pub(crate) schema_span: Span,
    /// Span of `metadata`, or of the whole document if it is missing.
    pub metadata_span: Span,
    /// `metadata.layeringDefinition.layer`.
    pub(crate) layer: Option<Spanned<Arc<str>>>,
    /// Whether the document is a control document (`metadata.schema`).
    pub control: bool,
    /// Whether the document is abstract, so that it is not an output.
    pub(crate) is_abstract: bool,
    /// `metadata.labels`.
    pub(crate) labels: Arc<Mapping>,
    /// `metadata.layeringDefinition.parentSelector`, unless it is empty.
    pub(crate) parent_selector: Option<Selector>,
    /// Valid entries of `metadata.layeringDefinition.actions`, then those of
    /// `metadata.substitutions`.
    pub(crate) instructions: Instructions,
    /// Number of actions in the source, including invalid ones.
    pub(crate) actions_written: usize,
    /// Source document of each substitution.
    pub sources: Vec<SubstitutionSource>,
    /// Span of `metadata.replacement` if it is true.
    pub(crate) replacement: Option<Span>,
    /// Whether `metadata.storagePolicy` is `encrypted`.
    pub(crate) encrypted: bool,
    /// Layers of a LayeringPolicy.
    pub(crate) layer_order: Option<Vec<Spanned<Arc<str>>>>,
    /// Whether the document is public, and hidden in a comparison: at least some of its values are
    /// secret on the other side.
    pub(crate) is_secret_later: bool,
    /// Span of the key `data`, if it is present.
    pub(crate) data_key: Option<Span>,
    /// `data`, or null if it is missing. Marked as secret if it is.
    pub data: Node,
    /// Faults of the document itself.
    pub(crate) faults: Vec<DocumentFault>,
    /// Collections in it that have aliases.
    pub(crate) shared: Vec<SharedCollection>,
    /// A key of a mapping with keys of several types, and the first key of that mapping, in a
    /// document that selects a parent: Deckhand cannot sort them (`deckhand.md` 6.7).
    pub(crate) mixed_keys: Option<(Span, Span)>,
}

/// A parent selector.
#[derive(Debug)]
pub(crate) struct Selector {
    /// Labels that the parent must have.
    pub(crate) labels: Arc<Mapping>,
    /// Span of the labels.
    pub(crate) span: Span,
}

/// The source document of a substitution.
#[derive(Debug)]
pub struct SubstitutionSource {
    /// Schema of the document.
    pub schema: Spanned<Arc<str>>,
    /// Name of the document.
    pub name: Spanned<Arc<str>>,
    /// Span of the mapping that names the document.
    pub(crate) span: Span,
    /// Span of the `deepcopy` flag in that mapping, if present.
    pub(crate) deepcopy: Option<Span>,
}

/// A substitution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DocumentSubstitution<'d> {
    /// Span of the substitution.
    pub(crate) span: Span,
    /// Source document.
    pub(crate) source: &'d SubstitutionSource,
    /// Source and destination paths.
    pub(crate) writing: &'d Writing,
}

impl Document {
    /// The whole document as in the source, without a Pegleg wrapper; `data` is marked as secret if
    /// it is.
    pub fn root(&self) -> Node {
        self.whole.root()
    }

    /// `metadata` as in the source, which rendering never changes. Null if it is missing.
    pub fn metadata(&self) -> Node {
        let metadata = self.root().get("metadata").cloned();
        metadata.unwrap_or_else(|| Node::made(Value::Null, self.span))
    }

    /// Handle to the value of [`Document::root`] that can outlive the document.
    pub fn whole(&self) -> &Whole {
        &self.whole
    }

    /// Drops everything but what rendering needs; the rest, mostly metadata, is read from `text`
    /// again on demand. Wrapped documents, which `text` does not contain in this form, and
    /// documents that may be secret as a whole are kept.
    pub(crate) fn leave_to(&mut self, text: &Arc<WholeText>) {
        if !self.is_wrapped && !self.is_doubtful {
            let secret = self.data.secret.then_some("data");
            self.whole = Whole::InText {
                text: text.clone(),
                span: self.span,
                secret,
            };
        }
    }

    /// Actions of the document.
    pub(crate) fn actions(&self) -> &[Instruction] {
        &self.instructions[..self.instructions.len() - self.sources.len()]
    }

    /// Substitutions of the document.
    pub(crate) fn substitutions(&self) -> impl Iterator<Item = DocumentSubstitution<'_>> {
        (0..self.sources.len()).map(|index| self.substitution(index))
    }

    /// Substitution at a zero-based index.
    ///
    /// # Panics
    /// If the index is out of range.
    pub(crate) fn substitution(&self, index: usize) -> DocumentSubstitution<'_> {
        let instruction = &self.instructions[self.actions().len() + index];
        let Instruction {
            act: Act::Substitute(writing),
            at,
        } = instruction
        else {
            unreachable!("substitutions follow the actions");
        };
        DocumentSubstitution {
            span: *at,
            source: &self.sources[index],
            writing,
        }
    }
}

/// Behaviour of Deckhand's code for a pattern that cannot be used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatternUse {
    /// It fails.
    Always,
    /// It fails if a string below the destination contains the text of the pattern.
    WhereFound,
    /// It applies the pattern, which is not supported here.
    Unsupported,
}

/// A problem of a single document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentFault {
    /// Location of the fault.
    pub(crate) at: Span,
    /// Kind of the fault.
    pub(crate) kind: DocumentFaultKind,
}

/// Kinds of [`DocumentFault`]. Fields are given as `metadata.name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DocumentFaultKind {
    /// A mapping, list or scalar that is not a Deckhand document.
    NotADocument {
        /// Actual kind of the value.
        found: &'static str,
    },
    /// A document without content.
    Empty {
        /// Number of further empty documents in the file, which have no fault of their own.
        more: usize,
    },
    /// A required field is missing; the location is its parent.
    MissingField {
        /// The field.
        field: String,
    },
    /// A required top-level key is missing, and the location is that of the only unknown key.
    RenamedKey {
        /// The missing key.
        field: &'static str,
    },
    /// A field has the wrong type.
    WrongType {
        /// The field.
        field: String,
        /// Expected type, e.g. `a string`.
        expected: &'static str,
        /// Actual type.
        found: &'static str,
    },
    /// A field has a value that is not allowed there.
    WrongValue {
        /// The field.
        field: String,
        /// Allowed values, e.g. "`encrypted` or `cleartext`".
        expected: &'static str,
    },
    /// A field that is unknown to Deckhand.
    UnknownField {
        /// The field.
        field: String,
        /// A known field with a similar name.
        near: Option<&'static str>,
    },
    /// `parentSelector` without `actions`, or vice versa.
    Unpaired {
        /// The field that is present.
        has: &'static str,
        /// The field that is missing.
        lacks: &'static str,
    },
    /// A top-level key other than schema, metadata and data.
    UnknownKey {
        /// The key.
        key: String,
        /// A known key with a similar name.
        near: Option<&'static str>,
    },
    /// `data` is missing.
    MissingData,
    /// Unknown method of an action.
    UnknownMethod {
        /// Name of the method.
        method: String,
        /// A method with a similar name.
        near: Option<&'static str>,
    },
    /// A path that cannot be parsed.
    InvalidPath {
        /// The field.
        field: String,
        /// Parse error.
        error: PathError,
    },
    /// A pattern that is not a valid regular expression.
    InvalidPattern {
        /// The field.
        field: String,
        /// Error message.
        message: String,
        /// Behaviour of Deckhand's code for the pattern.
        failure: PatternUse,
    },
    /// The path of an action that is ambiguous (row D10).
    DifferentPath {
        /// Method of the action.
        method: Method,
        /// The path as in the source.
        path: String,
        /// The path as Deckhand's code interprets it; `None` if the action has no effect.
        deckhand: Option<String>,
    },
    /// `dest.recurse` without `depth` (row D14).
    MissingDepth,
    /// A DataSchema whose name cannot be the schema of any document (row D32).
    UnusableSchemaName {
        /// The name.
        name: String,
    },
}
