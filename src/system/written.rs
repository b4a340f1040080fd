//! A source document of any system.

use super::cloud_init::part::CloudPart;
use super::deckhand::document::Document;
use crate::source::{DocKey, Span};
use crate::yaml::Node;

/// The source of a document, by system.
#[derive(Clone, Copy, Debug)]
pub enum Written<'a> {
    /// A Deckhand document.
    Deckhand(&'a Document),
    /// A cloud-init part.
    Part(&'a CloudPart),
}

impl<'a> Written<'a> {
    /// Identity of the document in messages.
    pub(crate) fn key(self) -> &'a DocKey {
        match self {
            Written::Deckhand(document) => &document.key,
            Written::Part(part) => &part.key,
        }
    }

    /// Span of the whole document.
    pub(crate) fn span(self) -> Span {
        match self {
            Written::Deckhand(document) => document.span,
            Written::Part(part) => part.span,
        }
    }

    /// Span to point at for the document as a whole.
    pub(crate) fn heading(self) -> Span {
        match self {
            Written::Deckhand(document) => document.name_span,
            Written::Part(part) => part.at,
        }
    }

    /// The whole document as a mapping with `data` and `metadata`.
    pub(crate) fn root(self) -> Node {
        match self {
            Written::Deckhand(document) => document.root(),
            Written::Part(part) => part.root(),
        }
    }

    /// The `data` of the document.
    pub(crate) fn data(self) -> &'a Node {
        match self {
            Written::Deckhand(document) => &document.data,
            Written::Part(part) => &part.data,
        }
    }

    /// The document, if it is a Deckhand document.
    pub fn deckhand(self) -> Option<&'a Document> {
        match self {
            Written::Deckhand(document) => Some(document),
            Written::Part(_) => None,
        }
    }

    /// The part, if it is one of cloud-init.
    pub(crate) fn part(self) -> Option<&'a CloudPart> {
        match self {
            Written::Deckhand(_) => None,
            Written::Part(part) => Some(part),
        }
    }
}
