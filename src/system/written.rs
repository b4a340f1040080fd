//! A document as it is written, of whichever system.

use super::cloud_init::part::CloudPart;
use super::deckhand::document::Document;
use crate::source::{DocKey, Span};
use crate::yaml::Node;

/// A document of one of the systems.
#[derive(Clone, Copy, Debug)]
pub enum Written<'a> {
    /// One of Deckhand's.
    Deckhand(&'a Document),
    /// A part of cloud-init's.
    Part(&'a CloudPart),
}

impl<'a> Written<'a> {
    /// What a user calls it.
    pub(crate) fn key(self) -> &'a DocKey {
        match self {
            Written::Deckhand(document) => &document.key,
            Written::Part(part) => &part.key,
        }
    }

    /// Its whole text.
    pub(crate) fn span(self) -> Span {
        match self {
            Written::Deckhand(document) => document.span,
            Written::Part(part) => part.span,
        }
    }

    /// Where to point at for the whole of it.
    pub(crate) fn heading(self) -> Span {
        match self {
            Written::Deckhand(document) => document.name_span,
            Written::Part(part) => part.at,
        }
    }

    /// All that it says, as a mapping with `data` and `metadata`.
    pub(crate) fn root(self) -> Node {
        match self {
            Written::Deckhand(document) => document.root(),
            Written::Part(part) => part.root(),
        }
    }

    /// What it holds.
    pub(crate) fn data(self) -> &'a Node {
        match self {
            Written::Deckhand(document) => &document.data,
            Written::Part(part) => &part.data,
        }
    }

    /// The document, if it is one of Deckhand's.
    pub fn deckhand(self) -> Option<&'a Document> {
        match self {
            Written::Deckhand(document) => Some(document),
            Written::Part(_) => None,
        }
    }
}
