//! Parts of changes that the remaining differences of a rendering overlap, found by place.

use std::collections::HashMap;

use layercake_yaml::diff::{Difference, DifferenceKind, same, shown_hash};
use layercake_yaml::path::{Location, Piece, PlaceIndex};

use super::Target;

/// Parts of the changes of one output, of its data or of its metadata.
pub(super) struct Asked<'c> {
    /// Parts that are the whole output.
    whole: Vec<Target>,
    parts: Vec<(Target, &'c Difference)>,
    places: PlaceIndex,
    /// Indexes of removed list items, by list and hash of the value.
    items: HashMap<(Location, u64), Vec<usize>, foldhash::fast::RandomState>,
}

impl<'c> Asked<'c> {
    pub(super) fn new(whole: Vec<Target>, parts: Vec<(Target, &'c Difference)>) -> Self {
        let places = PlaceIndex::new(parts.iter().map(|(_, difference)| difference.location()));
        let mut items: HashMap<_, Vec<usize>, _> = HashMap::default();
        for (index, (_, difference)) in parts.iter().enumerate() {
            if let Some(item) = removed_item(difference) {
                items.entry(item).or_default().push(index);
            }
        }
        Self {
            whole,
            parts,
            places,
            items,
        }
    }

    /// Returns the parts that a remaining difference overlaps, sorted.
    pub(super) fn touched_by(&self, left: &Difference) -> Vec<Target> {
        let items = removed_item(left).and_then(|item| self.items.get(&item));
        let near = self
            .places
            .around(left.location())
            .into_iter()
            .chain(items.into_iter().flatten().copied())
            .map(|at| self.parts[at]);
        let mut touched: Vec<Target> = near
            .filter(|(_, asked)| touches(left, asked))
            .map(|(target, _)| target)
            .chain(self.whole.iter().copied())
            .collect();
        touched.sort_unstable();
        touched.dedup();
        touched
    }
}

/// Returns the list of a removed item, and the hash of its value.
fn removed_item(difference: &Difference) -> Option<(Location, u64)> {
    let item = difference
        .base
        .as_ref()
        .filter(|_| difference.head.is_none())?;
    let is_item = matches!(item.location.0.last(), Some(Piece::Index(_)));
    is_item.then(|| Some((item.location.parent()?, shown_hash(&item.node))))?
}

/// Returns whether a remaining difference overlaps the difference in question.
fn touches(left: &Difference, asked: &Difference) -> bool {
    let around =
        |one: &Location, other: &Location| one.starts_with(other) || other.starts_with(one);
    // A difference in order is separate from differences in the values of the list.
    match (&left.kind, &asked.kind) {
        (DifferenceKind::Value, DifferenceKind::Value) => {}
        (DifferenceKind::Order { .. }, DifferenceKind::Order { .. }) => {
            return left.location() == asked.location();
        }
        (DifferenceKind::Order { .. }, DifferenceKind::Value) => {
            return left.location().starts_with(asked.location());
        }
        (DifferenceKind::Value, DifferenceKind::Order { .. }) => {
            return asked.location().starts_with(left.location());
        }
    }
    match (&asked.head, &asked.base) {
        (Some(asked), _) => around(left.location(), &asked.location),
        (None, Some(asked)) => match (&left.base, &left.head) {
            // Indexes may have moved, so a removed item is identified by its value.
            (Some(left), None) => {
                around(&left.location, &asked.location)
                    || (left.location.parent() == asked.location.parent()
                        && same(&left.node, &asked.node))
            }
            _ => around(left.location(), &asked.location),
        },
        (None, None) => false,
    }
}
