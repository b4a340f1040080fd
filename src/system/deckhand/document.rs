//! One Deckhand document, typed: every field with the text it was written in.
//!
//! A document is read once per file, whatever number of sites use it. Nothing
//! is refused here: what is wrong is a [`DocumentFault`] with its place, and the rest
//! of the document is used (`deckhand.md` sections 2 and 4).

use std::sync::Arc;

use super::secrecy::{Folder, SecretKinds};
use crate::graph::{Act, Instruction, Instructions, Writing};
use crate::merge::deckhand::Method;
use crate::source::{DocKey, Span, Spanned};
use crate::yaml::path::PathError;
use crate::yaml::{Mapping, Node, SharedCollection, Value, Whole, WholeText};

/// One document of a file.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the document says each of them by itself")]
pub struct Document {
    /// What a user calls it.
    pub key: DocKey,
    /// Its whole text.
    pub span: Span,
    /// What [`Document::root`] gives.
    pub(super) whole: Whole,
    /// Whether it stands in Pegleg's wrapping.
    pub is_wrapped: bool,
    /// Whether Pegleg's wrapping says that the data is encrypted.
    pub wrapped_encrypted: bool,
    /// Which kinds of document were taken for secret when it was read.
    pub(crate) secret_kinds: SecretKinds,
    /// Where its file is.
    pub(crate) folder: Folder,
    /// Whether all of it may be secret, since it was not read as exactly what it
    /// should be.
    pub is_doubtful: bool,
    /// Where the first key behind its data begins, if there is one.
    pub(crate) after_data: Option<u32>,
    /// Where it names itself: `metadata.name`, or `schema`.
    pub(crate) name_span: Span,
    /// Where `schema` stands.
    pub(crate) schema_span: Span,
    /// Where `metadata` stands; the whole document where there is none.
    pub metadata_span: Span,
    /// `metadata.layeringDefinition.layer`.
    pub(crate) layer: Option<Spanned<Arc<str>>>,
    /// Whether it is a control document (`metadata.schema`).
    pub control: bool,
    /// Whether it only serves others.
    pub(crate) is_abstract: bool,
    /// `metadata.labels`.
    pub(crate) labels: Arc<Mapping>,
    /// `metadata.layeringDefinition.parentSelector`, if it selects anything.
    pub(crate) parent_selector: Option<Selector>,
    /// What is to be done to its data: `metadata.layeringDefinition.actions`, and
    /// then `metadata.substitutions`, those that can be followed.
    pub(crate) instructions: Instructions,
    /// How many actions are written, those that cannot be followed among them.
    pub(crate) actions_written: usize,
    /// The document that each of the substitutions names.
    pub sources: Vec<SubstitutionSource>,
    /// Where `metadata.replacement` says true.
    pub(crate) replacement: Option<Span>,
    /// Whether `metadata.storagePolicy` is `encrypted`.
    pub(crate) encrypted: bool,
    /// The layers, if this is a LayeringPolicy.
    pub(crate) layer_order: Option<Vec<Spanned<Arc<str>>>>,
    /// Whether it is of the base side, and public there but for what is secret in the head.
    pub(crate) is_secret_later: bool,
    /// Where the key `data` stands, if it is there.
    pub(crate) data_key: Option<Span>,
    /// `data`; null where there is none. Marked secret if it is.
    pub data: Node,
    /// What is wrong with the document by itself.
    pub(crate) faults: Vec<DocumentFault>,
    /// Aliases of collections in it.
    pub(crate) shared: Vec<SharedCollection>,
    /// A key in a mapping with keys of several types, and the first key of that mapping, in a
    /// document that selects a parent: Deckhand cannot sort them (`deckhand.md` 6.7).
    pub(crate) mixed_keys: Option<(Span, Span)>,
}

/// What a child looks for in its parent's labels.
#[derive(Debug)]
pub(crate) struct Selector {
    /// The labels wanted.
    pub(crate) labels: Arc<Mapping>,
    /// Where they stand.
    pub(crate) span: Span,
}

/// The document that a substitution names.
#[derive(Debug)]
pub struct SubstitutionSource {
    /// Its schema.
    pub schema: Spanned<Arc<str>>,
    /// Its name.
    pub name: Spanned<Arc<str>>,
    /// Where the mapping stands that names it.
    pub(crate) span: Span,
    /// Where that mapping says whether the value is copied all the way down, if it does.
    pub(crate) deepcopy: Option<Span>,
}

/// One substitution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DocumentSubstitution<'d> {
    /// Its whole text.
    pub(crate) span: Span,
    /// What it reads.
    pub(crate) source: &'d SubstitutionSource,
    /// Which value of it is written where.
    pub(crate) writing: &'d Writing,
}

impl Document {
    /// All of it as it is written, without Pegleg's wrapping; `data` is marked
    /// secret if it is.
    pub fn root(&self) -> Node {
        self.whole.root()
    }

    /// `metadata` as it is written; rendering never changes it. Null where there is
    /// none.
    pub fn metadata(&self) -> Node {
        let metadata = self.root().get("metadata").cloned();
        metadata.unwrap_or_else(|| Node::made(Value::Null, self.span))
    }

    /// What gives [`Document::root`] to those that outlive the document.
    pub fn whole(&self) -> &Whole {
        &self.whole
    }

    /// Lets go of all but what rendering needs: the rest, most of the metadata, is
    /// read of `text` again for those who ask. A wrapped document is not in the text
    /// as it is known here, and is kept; so is one that may be secret as a whole.
    pub(crate) fn leave_to(&mut self, text: &Arc<WholeText>) {
        if !self.is_wrapped && !self.is_doubtful {
            let secret = self.data.secret.then_some("data");
            self.whole = Whole::InText { text: text.clone(), span: self.span, secret };
        }
    }

    /// Its actions.
    pub(crate) fn actions(&self) -> &[Instruction] {
        &self.instructions[..self.instructions.len() - self.sources.len()]
    }

    /// Its substitutions.
    pub(crate) fn substitutions(&self) -> impl Iterator<Item = DocumentSubstitution<'_>> {
        (0..self.sources.len()).map(|index| self.substitution(index))
    }

    /// The substitution of this number, from 0.
    ///
    /// # Panics
    /// Where there are not so many.
    pub(crate) fn substitution(&self, index: usize) -> DocumentSubstitution<'_> {
        let behind = &self.instructions[self.actions().len() + index];
        let Instruction { act: Act::Substitute(writing), at } = behind else {
            unreachable!("what follows the actions are the substitutions");
        };
        DocumentSubstitution { span: *at, source: &self.sources[index], writing }
    }
}

/// What Deckhand's code does with a pattern that cannot be used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatternUse {
    /// It fails.
    Always,
    /// It fails if a string below the destination holds the text of the pattern.
    WhereFound,
    /// It applies the pattern, which is not supported here.
    Unsupported,
}

/// Something wrong with one document by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentFault {
    /// Where.
    pub(crate) at: Span,
    /// What.
    pub(crate) kind: DocumentFaultKind,
}

/// The kinds of [`DocumentFault`]. Fields are written as `metadata.name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DocumentFaultKind {
    /// A mapping, list or scalar that is no Deckhand document.
    NotADocument {
        /// What it is instead.
        found: &'static str,
    },
    /// A document without content.
    Empty {
        /// How many more of its file are, which have no fault of their own.
        more: usize,
    },
    /// A field that must be there is not; the place is what should hold it.
    MissingField {
        /// The field.
        field: String,
    },
    /// A field holds the wrong kind of value.
    WrongType {
        /// The field.
        field: String,
        /// What it must be, e.g. `a string`.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A field holds a value that means nothing there.
    WrongValue {
        /// The field.
        field: String,
        /// What it must be, e.g. "`encrypted` or `cleartext`".
        expected: &'static str,
    },
    /// A field that Deckhand does not know.
    UnknownField {
        /// The field.
        field: String,
        /// A field it knows that is spelled nearly the same.
        near: Option<&'static str>,
    },
    /// `parentSelector` without `actions`, or the other way round.
    Unpaired {
        /// The one that is there.
        has: &'static str,
        /// The one that is not.
        lacks: &'static str,
    },
    /// A top-level key beside schema, metadata and data.
    UnknownKey {
        /// The key.
        key: String,
        /// A key that is known and spelled nearly the same.
        near: Option<&'static str>,
    },
    /// There is no `data`.
    MissingData,
    /// An action's method is none of Deckhand's.
    UnknownMethod {
        /// What it says.
        method: String,
        /// The method that is spelled nearly the same.
        near: Option<&'static str>,
    },
    /// A path that does not parse.
    InvalidPath {
        /// The field.
        field: String,
        /// Why.
        error: PathError,
    },
    /// A pattern that is no regular expression.
    InvalidPattern {
        /// The field.
        field: String,
        /// Why.
        message: String,
        /// What Deckhand's code does with it.
        failure: PatternUse,
    },
    /// An action's path that means two things (row D10).
    DifferentPath {
        /// The action's method.
        method: Method,
        /// The path as it is written.
        path: String,
        /// What Deckhand's code makes of it; nothing where the action has no
        /// effect.
        deckhand: Option<String>,
    },
    /// `dest.recurse` without `depth` (row D14).
    MissingDepth,
    /// A DataSchema whose name no document's schema can be (row D32).
    UnusableSchemaName {
        /// The name.
        name: String,
    },
}
