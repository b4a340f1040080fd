//! Documents with what they use and what uses them. As calls, a document is called by its children,
//! by documents that substitute from it, and by groups that list it; as types, a parent is the
//! supertype of its children.

use gen_lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, Range, SymbolKind,
    TextDocumentPositionParams, Uri,
};
use serde::Deserialize;

use super::asked::Asked;
use crate::ask::uses::{DocumentPlace, DocumentUse, UseKind};
use crate::error::Error;

/// A document of an earlier answer; items of both hierarchies have the same fields.
#[derive(Deserialize)]
pub(super) struct OfItem {
    item: CallHierarchyItem,
}

/// The document at a place.
pub(super) fn prepare(
    asked: &mut Asked<'_>,
    at: TextDocumentPositionParams,
) -> Result<Option<Vec<CallHierarchyItem>>, Error> {
    let Some(at) = asked.at(at.position) else {
        return Ok(None);
    };
    let names = asked.names()?;
    let document = names.document_at(at);
    Ok(document.map(|document| vec![item(asked, document)]))
}

/// The documents that use one.
pub(super) fn incoming(
    asked: &mut Asked<'_>,
    of: OfItem,
) -> Result<Vec<CallHierarchyIncomingCall>, Error> {
    let users = related(asked, &of, Direction::Users)?;
    let calls = users
        .into_iter()
        .map(|(user, from_ranges)| CallHierarchyIncomingCall {
            from: user,
            from_ranges,
        });
    Ok(calls.collect())
}

/// The documents that one uses.
pub(super) fn outgoing(
    asked: &mut Asked<'_>,
    of: OfItem,
) -> Result<Vec<CallHierarchyOutgoingCall>, Error> {
    let used = related(asked, &of, Direction::Used)?;
    let calls = used
        .into_iter()
        .map(|(used, from_ranges)| CallHierarchyOutgoingCall {
            to: used,
            from_ranges,
        });
    Ok(calls.collect())
}

/// The parents of a document.
pub(super) fn supertypes(
    asked: &mut Asked<'_>,
    of: OfItem,
) -> Result<Vec<CallHierarchyItem>, Error> {
    let parents = related(asked, &of, Direction::Parents)?;
    Ok(parents.into_iter().map(|(parent, _)| parent).collect())
}

/// The documents that inherit or replace one.
pub(super) fn subtypes(asked: &mut Asked<'_>, of: OfItem) -> Result<Vec<CallHierarchyItem>, Error> {
    let children = related(asked, &of, Direction::Children)?;
    Ok(children.into_iter().map(|(child, _)| child).collect())
}

/// Kind of the related documents.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Users,
    Used,
    Parents,
    Children,
}

impl Direction {
    /// The document itself and the related one of a use; `None` for a use of another kind.
    fn ends(self, named: &DocumentUse) -> Option<[&DocumentPlace; 2]> {
        let is_lineage = matches!(named.kind, UseKind::Parent | UseKind::Replaced);
        match self {
            Self::Users => Some([&named.used, &named.user]),
            Self::Used => Some([&named.user, &named.used]),
            Self::Parents => is_lineage.then_some([&named.user, &named.used]),
            Self::Children => is_lineage.then_some([&named.used, &named.user]),
        }
    }
}

/// The related documents of an item, with the texts that relate them.
fn related(
    asked: &mut Asked<'_>,
    of: &OfItem,
    direction: Direction,
) -> Result<Vec<(CallHierarchyItem, Vec<Range>)>, Error> {
    let names = asked.names()?;
    let at = asked.at(of.item.selection_range.start);
    let Some(document) = at.and_then(|at| names.document_at(at)) else {
        return Ok(Vec::new());
    };
    let mut found: Vec<(&DocumentPlace, Vec<Range>)> = Vec::new();
    for named in &names.uses {
        let Some([this, other]) = direction.ends(named) else {
            continue;
        };
        if this != document {
            continue;
        }
        let range = asked.range(named.at);
        match found.iter_mut().find(|(known, _)| *known == other) {
            Some((_, ranges)) => ranges.push(range),
            None => found.push((other, vec![range])),
        }
    }
    let found = found.into_iter();
    Ok(found
        .map(|(other, ranges)| (item(asked, other), ranges))
        .collect())
}

fn item(asked: &Asked<'_>, document: &DocumentPlace) -> CallHierarchyItem {
    let place = asked.location(document.span);
    CallHierarchyItem {
        name: document.key.name_and_layer(),
        kind: SymbolKind::Class,
        tags: None,
        detail: Some(document.key.schema.to_string()),
        uri: Uri(place.uri.0),
        range: place.range,
        selection_range: asked.range(document.name),
        data: None,
    }
}
