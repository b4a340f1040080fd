//! Differences that remain between a rendering and the head, by place.

use std::collections::HashMap;

use layercake_yaml::diff::{Difference, DifferenceKind, same, shown_hash};
use layercake_yaml::path::{Location, Piece};

type Lookup<K> = HashMap<K, Vec<usize>, foldhash::fast::RandomState>;

/// Places, by their indexes.
#[derive(Default)]
pub(super) struct Places {
    at: Lookup<Location>,
    /// Places below another one.
    below: Lookup<Location>,
}

impl Places {
    pub(super) fn new<'l>(places: impl IntoIterator<Item = &'l Location>) -> Self {
        let mut all = Self::default();
        for (index, place) in places.into_iter().enumerate() {
            all.at.entry(place.clone()).or_default().push(index);
            for around in place.ancestors() {
                all.below.entry(around).or_default().push(index);
            }
        }
        all
    }

    /// Returns the indexes of the places that are the given one, below it or around it.
    pub(super) fn around(&self, place: &Location) -> Vec<usize> {
        let [at, below] = [&self.at, &self.below].map(|known| known.get(place));
        let around = place.ancestors().filter_map(|around| self.at.get(&around));
        at.into_iter().chain(below).chain(around).flatten().copied().collect()
    }
}

/// Remaining differences of one output, which can be found by place.
pub(super) struct Remaining {
    pub(super) differences: Vec<Difference>,
    places: Places,
    /// Indexes of removed list items, by list and hash of the value.
    items: Lookup<(Location, u64)>,
}

impl Remaining {
    pub(super) fn new(differences: Vec<Difference>) -> Self {
        let places = Places::new(differences.iter().map(Difference::location));
        let mut items: Lookup<(Location, u64)> = Lookup::default();
        for (index, difference) in differences.iter().enumerate() {
            if let Some(item) = removed_item(difference) {
                items.entry(item).or_default().push(index);
            }
        }
        Self { differences, places, items }
    }

    /// Returns the indexes of the differences that overlap another one, sorted.
    pub(super) fn touching(&self, asked: &Difference) -> Vec<usize> {
        let items = removed_item(asked).and_then(|item| self.items.get(&item));
        let mut found = self.places.around(asked.location());
        found.extend(items.into_iter().flatten());
        found.retain(|index| touches(&self.differences[*index], asked));
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Returns the list of a removed item, and the hash of its value.
fn removed_item(difference: &Difference) -> Option<(Location, u64)> {
    let item = difference.base.as_ref().filter(|_| difference.head.is_none())?;
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
