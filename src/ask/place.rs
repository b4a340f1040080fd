//! Values at a byte of a file.

use super::question::ValueQuestion;
use crate::check::RenderedSite;
use crate::graph::DocId;
use crate::source::Span;
use crate::yaml::path::{Location, Piece};
use crate::yaml::{Mapping, Node};

/// A value of a document's data.
#[derive(Clone, Debug)]
pub(crate) struct PlaceInData {
    pub(crate) doc: DocId,
    pub(crate) location: Location,
}

impl PlaceInData {
    /// The value as a question to each site.
    pub(crate) fn question(&self, site: &RenderedSite<'_>) -> ValueQuestion {
        let key = &site.graph.recipe(self.doc).key;
        ValueQuestion {
            schema: key.schema.to_string(),
            name: key.name.to_string(),
            path: self.location.to_string(),
        }
    }
}

/// The innermost value of a document's own data whose key or text contains a byte; `None` outside of
/// data.
pub(crate) fn in_data(site: &RenderedSite<'_>, at: Span) -> Option<PlaceInData> {
    let doc = site.site.document_at(at)?;
    let document = site.site.document(doc);
    if !touches(document.data.span, at) && !touches(document.data_key?, at) {
        return None;
    }
    let mut location = Location::root();
    let mut node = &site.graph.recipe(doc).data;
    while let Some((piece, child)) = entry_at(node, at) {
        location.0.push(piece);
        node = child;
    }
    Some(PlaceInData { doc, location })
}

/// The entry of a mapping, or the item of a list, that contains a byte.
fn entry_at(node: &Node, at: Span) -> Option<(Piece, &Node)> {
    let mut entries = node.as_mapping().into_iter().flat_map(Mapping::iter);
    let entry = entries.find(|(key, child)| {
        // The value of an alias is written elsewhere.
        let is_here = key.span.file == child.span.file && key.span.end <= child.span.start;
        let behind = if is_here {
            key.span.to(child.span)
        } else {
            child.span
        };
        touches(key.span, at) || touches(behind, at)
    });
    let entry = entry.map(|(key, child)| (Piece::Key(key.clone()), child));
    entry.or_else(|| {
        let mut items = node.as_sequence()?.iter().enumerate();
        let item = items.find(|(_, child)| touches(child.span, at));
        item.map(|(index, child)| (Piece::Index(index), child))
    })
}

/// Whether a byte is in a text or directly behind it.
pub(crate) fn touches(text: Span, at: Span) -> bool {
    text.file == at.file && text.start <= at.start && at.start <= text.end
}
