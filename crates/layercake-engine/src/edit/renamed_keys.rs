//! Keys that were renamed: an edit removed a value, and another one added it under another key.

use std::collections::HashMap;

use layercake_source::DocKey;
use layercake_yaml::Node;
use layercake_yaml::diff::whole_hash;
use layercake_yaml::path::{Location, Piece};

use super::{Edit, EditId, EditKind, Part};

/// Pairs of edits that renamed a key: in the same mapping, or anywhere in the document if the value
/// is a collection.
#[derive(Debug, Default)]
pub struct RenamedKeys {
    /// The removing edit, by the adding edits.
    removed: HashMap<EditId, EditId>,
    /// The adding edit, by the removing one.
    added: HashMap<EditId, EditId>,
}

impl RenamedKeys {
    /// Finds the renamed keys among all edits of a comparison.
    pub fn of<'e>(edits: impl IntoIterator<Item = &'e Edit>) -> Self {
        let mut alike: HashMap<RenameKey<'e>, [Vec<(EditId, &Node)>; 2]> = HashMap::new();
        for (at, edit) in edits.into_iter().enumerate() {
            let sides = [edit.base.as_ref(), edit.head.as_ref()];
            let (EditKind::Key, [Some(only), None] | [None, Some(only)]) = (edit.kind, sides)
            else {
                continue;
            };
            let is_item = matches!(edit.location.0.last(), Some(Piece::Index(_)));
            let Some(node) = only.node.as_ref().filter(|_| !is_item) else {
                continue;
            };
            let [removed, added] = alike.entry(RenameKey::of(edit, node)).or_default();
            let list = if edit.head.is_none() { removed } else { added };
            list.push((EditId::at(at), node));
        }
        let mut renamed = Self::default();
        for [removed, mut added] in alike.into_values() {
            // Of several equal values, it is not known which was renamed.
            let [(removed, value)] = removed[..] else {
                continue;
            };
            added.retain(|(_, node)| *node == value);
            renamed
                .removed
                .extend(added.iter().map(|(added, _)| (*added, removed)));
            if let [(added, _)] = added[..] {
                renamed.added.insert(removed, added);
            }
        }
        renamed
    }

    /// Returns the edit that removed what this one added.
    pub fn old_of(&self, added: EditId) -> Option<EditId> {
        self.removed.get(&added).copied()
    }

    /// Returns each removing edit with the only edit that added its value.
    pub fn pairs(&self) -> impl Iterator<Item = (EditId, EditId)> {
        self.added.iter().map(|(removed, added)| (*removed, *added))
    }

    /// Returns the only edit that added what this one removed.
    pub fn new_of(&self, removed: EditId) -> Option<EditId> {
        self.added.get(&removed).copied()
    }
}

/// Properties that the removed and the added value of a renamed key share.
#[derive(PartialEq, Eq, Hash)]
struct RenameKey<'e> {
    repository: Option<usize>,
    document: &'e DocKey,
    value: u64,
    /// The mapping around a scalar.
    around: Option<(Part, Option<Location>)>,
}

impl<'e> RenameKey<'e> {
    fn of(edit: &'e Edit, value: &Node) -> Self {
        let around = || (edit.part, edit.location.parent());
        Self {
            repository: edit.repository,
            document: &edit.document,
            value: whole_hash(value),
            around: (!value.is_collection()).then(around),
        }
    }
}
