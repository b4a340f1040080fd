//! What is written at a byte of a file.

use crate::check::RenderedSite;
use crate::graph::DocId;
use crate::source::Span;
use crate::yaml::path::{Location, Piece};
use crate::yaml::{Mapping, Node};

/// What is at a byte of a document's data.
#[derive(Clone, Debug)]
pub(crate) struct PlaceInData {
    pub(crate) doc: DocId,
    /// The innermost value whose key or text contains the byte.
    pub(crate) location: Location,
    /// Text of its key, or of the value of a list.
    pub(crate) key: Span,
    pub(crate) value: Span,
}

/// The value of a document's own data at a byte; `None` outside of data.
pub(crate) fn in_data(site: &RenderedSite<'_>, at: Span) -> Option<PlaceInData> {
    let doc = site.site.document_at(at)?;
    let mut found = PlaceInData {
        doc,
        location: Location::root(),
        key: site.site.document(doc).data_key?,
        value: site.site.document(doc).data.span,
    };
    if !touches(found.value, at) && !touches(found.key, at) {
        return None;
    }
    let mut node = &site.graph.recipe(doc).data;
    while let Some((piece, key, child)) = entry_at(node, at) {
        found.location.0.push(piece);
        found.key = key;
        found.value = child.span;
        node = child;
    }
    Some(found)
}

/// The entry of a mapping, or the item of a list, that contains a byte.
fn entry_at(node: &Node, at: Span) -> Option<(Piece, Span, &Node)> {
    let entries = node.as_mapping().into_iter().flat_map(Mapping::iter);
    let entries = entries.map(|(key, child)| (Piece::Key(key.clone()), key.span, child));
    let items = node.as_sequence().unwrap_or_default().iter().enumerate();
    let items = items.map(|(index, child)| (Piece::Index(index), child.span, child));
    let mut all = entries.chain(items);
    all.find(|(_, key, child)| {
        // The value of an alias is written elsewhere.
        let is_here = key.file == child.span.file && key.end <= child.span.start;
        touches(*key, at)
            || touches(
                if is_here {
                    key.to(child.span)
                } else {
                    child.span
                },
                at,
            )
    })
}

/// Whether a byte is in a text or directly behind it.
pub(crate) fn touches(text: Span, at: Span) -> bool {
    text.file == at.file && text.start <= at.start && at.start <= text.end
}
