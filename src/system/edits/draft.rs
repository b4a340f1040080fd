//! Drafts of the edits between the documents of a pair, before they are sorted and get their IDs.

use std::collections::HashMap;

use super::order::Moved;
use super::texts::{text_of, whole_text};
use super::{DocumentPair, Located};
use crate::edit::{Edit, EditId, EditKind, Part as Section, Text};
use crate::source::{RepoPath, Span};
use crate::yaml::Key;
use crate::yaml::diff::{self, Difference, DifferenceKind, ListKeys};
use crate::yaml::path::{Item, Location, Piece};

impl DocumentPair<'_> {
    /// Adds the edits between the two sides to `drafts`; the pair refers to them by draft index.
    /// `of_file` is the edit of its file that includes them.
    pub(super) fn draft_edits(
        mut self,
        moved: Moved,
        of_file: Option<EditId>,
        keys: &ListKeys,
        drafts: &mut Vec<EditDraft>,
    ) -> Self {
        let (base, head) = match (&self.base, &self.head) {
            (Some(base), Some(head)) => (base, head),
            (Some(only), None) | (None, Some(only)) => {
                let texts = [&self.base, &self.head]
                    .map(|located| Some(whole_text(located.as_ref()?.document)));
                self.whole = Some(match of_file {
                    Some(edit) => drafts[edit.index()].cover(edit, texts),
                    None => add(drafts, EditDraft::whole(EditKind::Document, only, texts)),
                });
                return self;
            }
            (None, None) => return self,
        };
        if moved == Moved::Elsewhere {
            let texts = [base, head].map(|located| Some(whole_text(located.document)));
            let draft = EditDraft::whole(EditKind::Moved, head, texts);
            self.whole = Some(add(drafts, draft));
        }
        let keys = keys.of_document(&head.document.key().schema);
        let (found, variants) = diff::variants(&base.document.root(), &head.document.root(), &keys);
        // Text that an anchor puts in several places is edited once.
        let mut met: HashMap<[Vec<Span>; 2], EditId> = HashMap::new();
        let mut found: Vec<EditDraft> = found
            .iter()
            .map(|difference| EditDraft::part(head, difference))
            .collect();
        join_layers(&mut found, base, head);
        for draft in found {
            let covers = [&draft.edit.base, &draft.edit.head].map(|text| {
                text.as_ref()
                    .map(|text| text.covers.clone())
                    .unwrap_or_default()
            });
            let edit = *met.entry(covers).or_insert_with(|| match of_file {
                Some(edit) => drafts[edit.index()].cover(edit, [draft.edit.base, draft.edit.head]),
                None => add(drafts, draft),
            });
            self.parts.push(edit);
        }
        self.variants = (!self.parts.is_empty()).then_some(variants);
        self
    }
}

/// Replaces several differences of the layers of a policy by one, of their order.
fn join_layers(found: &mut [EditDraft], base: &Located<'_>, head: &Located<'_>) {
    let of_layers = |draft: &&mut EditDraft| draft.edit.kind == EditKind::Policy;
    if found.iter_mut().filter(of_layers).count() < 2 {
        return;
    }
    if let Some(order) = layer_order(base, head) {
        let order = EditDraft::part(head, &order);
        found
            .iter_mut()
            .filter(of_layers)
            .for_each(|draft| *draft = order.clone());
    }
}

/// Returns the difference of the layers of a policy, if both sides are lists.
fn layer_order(base: &Located<'_>, head: &Located<'_>) -> Option<Difference> {
    let place = |located: &Located<'_>| {
        let node = located.document.data().get("layerOrder")?.clone();
        node.as_sequence()?;
        let keys = ["data", "layerOrder"].map(|key| Piece::Key(Key::string(key, node.span)));
        let location = Location(keys.to_vec());
        Some(diff::DiffPlace {
            location,
            key: None,
            node,
        })
    };
    Some(Difference::value(Some(place(base)?), Some(place(head)?)))
}

/// An edit without its final index, and its sort key.
#[derive(Clone)]
pub(super) struct EditDraft {
    pub(super) order: EditOrder,
    pub(super) edit: Edit,
}

/// Repository, file, document index, whether the edit has a text in the head, position, part and
/// location. Positions on different sides are not compared: positions after a secret depend on its
/// length.
pub(super) type EditOrder = (Option<usize>, RepoPath, usize, bool, u32, Section, String);

pub(super) fn add(drafts: &mut Vec<EditDraft>, draft: EditDraft) -> EditId {
    let id = EditId::at(drafts.len());
    drafts.push(draft);
    id
}

impl EditDraft {
    fn whole(kind: EditKind, located: &Located<'_>, [base, head]: [Option<Text>; 2]) -> Self {
        let edit = Edit {
            kind,
            repository: located.repository,
            document: located.document.key().clone(),
            part: Section::Whole,
            location: Location::root(),
            items: Vec::new(),
            base,
            head,
            unlisted: 0,
        };
        Self::new(located, edit)
    }

    fn part(head: &Located<'_>, difference: &Difference) -> Self {
        let (part, location) = part_of(difference.location());
        let outside = difference.location().0.len() - location.0.len();
        let [base, head_text] = [&difference.base, &difference.head]
            .map(|place| Some(text_of(place.as_ref()?, difference)));
        let edit = Edit {
            kind: kind_of(head, difference, part, &location),
            repository: head.repository,
            document: head.document.key().clone(),
            part,
            location,
            items: difference
                .items
                .iter()
                .map(|item| Item {
                    at: item.at - outside,
                    ..item.clone()
                })
                .collect(),
            base,
            head: head_text,
            unlisted: difference.unlisted,
        };
        Self::new(head, edit)
    }

    /// Adds texts of both sides to this edit, whose ID is `edit`.
    fn cover(&mut self, edit: EditId, texts: [Option<Text>; 2]) -> EditId {
        for (covering, text) in [&mut self.edit.base, &mut self.edit.head]
            .into_iter()
            .zip(texts)
        {
            match (covering, text) {
                (Some(covering), Some(text)) => covering.covers.extend(text.covers),
                (covering @ None, Some(text)) => *covering = Some(Text { node: None, ..text }),
                (Some(_) | None, None) => {}
            }
        }
        edit
    }

    fn new(located: &Located<'_>, edit: Edit) -> Self {
        let order = (
            located.repository,
            located.path.clone(),
            located.index,
            edit.head.is_some(),
            edit.at().start,
            edit.part,
            edit.location.to_string(),
        );
        Self { order, edit }
    }
}

/// Splits a location into the section of the document and the location within it.
fn part_of(location: &Location) -> (Section, Location) {
    let part = match location.first_key() {
        Some("data") => Section::Data,
        Some("metadata") => Section::Metadata,
        Some(_) | None => return (Section::Root, location.clone()),
    };
    (part, Location(location.0[1..].to_vec()))
}

fn kind_of(
    located: &Located<'_>,
    difference: &Difference,
    part: Section,
    location: &Location,
) -> EditKind {
    let first = location.first_key();
    let orders = located
        .document
        .deckhand()
        .is_some_and(|it| it.layer_order.is_some());
    let defines_site = located.path.as_str().ends_with("/site-definition.yaml");
    match (part, first) {
        (Section::Data, Some("layerOrder") | None) if orders => EditKind::Policy,
        // The content of another revision yields edits of its own.
        (Section::Data, Some("repositories")) if defines_site && pins_revision(location) => {
            EditKind::Value
        }
        (Section::Data, Some("site_type" | "repositories") | None)
            if defines_site && located.index == 0 =>
        {
            EditKind::Site
        }
        (Section::Metadata, Some("name"))
            if located.document.deckhand().is_some() && location.0.len() == 1 =>
        {
            EditKind::Renamed
        }
        _ if matches!(difference.kind, DifferenceKind::Order { .. }) => EditKind::Order,
        _ if difference.base.is_some() && difference.head.is_some() => EditKind::Value,
        _ => EditKind::Key,
    }
}

/// Returns whether an edit moved the pin of a further repository to another revision.
pub fn moves_pin(edit: &Edit) -> bool {
    &*edit.document.schema == "pegleg/SiteDefinition/v1"
        && edit.part == Section::Data
        && pins_revision(&edit.location)
}

/// Whether a location is `repositories.NAME.revision`.
fn pins_revision(location: &Location) -> bool {
    match &location.0[..] {
        [_, _, Piece::Key(key)] => key.as_str() == Some("revision"),
        _ => false,
    }
}
