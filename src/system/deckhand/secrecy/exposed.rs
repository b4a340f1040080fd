//! Secret documents of the base that the head exposes.

use super::later::{LaterSecrets, PlacedDocument};
use super::{Folder, SecretKinds};
use crate::source::Span;
use crate::system::deckhand::document::Document;
use crate::yaml::Node;

/// A document that is secret in the base and can be read by more in the head.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exposed<'a> {
    /// The document in the head.
    pub(crate) head: &'a Document,
    /// Change that exposes it.
    pub(crate) how: Exposure,
    /// Place in the head that exposes it.
    pub(crate) at: Span,
}

/// Change that exposes a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exposure {
    /// Pegleg's encryption of its data was removed.
    Decrypted,
    /// Its storage policy was `encrypted`.
    Policy,
    /// Its schema was that of a secret.
    Schema,
    /// It left its folder `secrets`.
    Folder,
}

impl<'a> LaterSecrets<'a> {
    /// Head documents that correspond to the secret document `base` and are exposed.
    pub(crate) fn exposed(&self, base: PlacedDocument<'_>) -> Vec<Exposed<'a>> {
        if !is_declared_secret(base.document) {
            return Vec::new();
        }
        let named = self
            .counterparts(base)
            .into_iter()
            .filter(|head| head.key.name == base.document.key.name);
        named
            .filter_map(|head| exposure(base.document, head))
            .collect()
    }
}

/// Whether a document declares that it is secret; otherwise, it is at most treated as secret.
fn is_declared_secret(document: &Document) -> bool {
    document.encrypted || document.wrapped_encrypted || has_secret_schema(document)
}

fn has_secret_schema(document: &Document) -> bool {
    let kinds: &SecretKinds = &document.secret_kinds;
    kinds.has(&document.key.schema)
}

fn exposure<'a>(base: &Document, head: &'a Document) -> Option<Exposed<'a>> {
    let metadata = head.metadata();
    let policy = metadata.get("storagePolicy");
    let is_cleartext = match policy.and_then(Node::as_str) {
        Some(policy) => policy == "cleartext",
        None => head.control,
    };
    let (how, at) = if base.wrapped_encrypted && !head.wrapped_encrypted {
        (Exposure::Decrypted, head.data_key.unwrap_or(head.name_span))
    } else if base.encrypted && is_cleartext {
        (
            Exposure::Policy,
            policy.map_or(head.metadata_span, |policy| policy.span),
        )
    } else if has_secret_schema(base) && !has_secret_schema(head) && is_cleartext {
        (Exposure::Schema, head.schema_span)
    } else if (base.folder, head.folder) == (Folder::Secrets, Folder::Other) {
        (Exposure::Folder, head.name_span)
    } else {
        return None;
    };
    Some(Exposed { head, how, at })
}
