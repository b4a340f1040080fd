//! From where the places of a patched document came, and to where those before
//! it went: read off what each operation did.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::apply::{Before, Effect, Source};
use super::{Member, is_shared};
use crate::merge::{Origin, Side};
use crate::yaml::Node;
use crate::yaml::path::{Location, Piece};

/// From where `place` of the document after `effects` has its value.
pub(super) fn came(effects: &[Effect], patch: &Node, place: &Location) -> Origin {
    let mut place = place.clone();
    for (index, effect) in effects.iter().enumerate().rev() {
        place = match before(effect, place) {
            Backward::Place(place) => place,
            Backward::Patch(below) => {
                let value = value_of(index, patch);
                let from = value.joined(&below);
                let is_there = from.get(patch).is_some();
                return if is_there {
                    Origin::From(Side::Over, from)
                } else {
                    Origin::Deleted(value)
                };
            }
            Backward::Removed => return Origin::Deleted(operation(index)),
        };
    }
    Origin::From(Side::Base, place)
}

/// A place followed back through one operation.
enum Backward {
    /// To where it was before.
    Place(Location),
    /// To the value of the operation, and this place in it.
    Patch(Location),
    /// To nothing: the operation took it away.
    Removed,
}

fn before(effect: &Effect, place: Location) -> Backward {
    let mut place = place;
    if let Some(put) = &effect.put {
        if let Some(below) = place.below(&put.at) {
            return match &put.from {
                Source::Patch => Backward::Patch(below),
                Source::Document(from) => Backward::Place(from.joined(&below)),
            };
        }
        if put.before == Before::Moved {
            // What stands at the index itself was put there.
            place = shifted(place, &put.at, |index| index - 1);
        }
    }
    match &effect.removed {
        Some(at) if is_in_list(at) => Backward::Place(shifted(place, at, |index| index + 1)),
        Some(at) if place.starts_with(at) => Backward::Removed,
        Some(_) | None => Backward::Place(place),
    }
}

/// Maximum number of places to which one is followed: copies of copies can be millions. Callers
/// that follow values give up earlier.
const MAX_PLACES: usize = 25_000;

/// The places of the document after `effects` that have what one of the two
/// sides has at `place`.
pub(super) fn went(
    effects: &[Effect],
    patch: &Node,
    side: Side,
    place: &Location,
) -> Vec<Location> {
    let mut places = match side {
        Side::Base => vec![place.clone()],
        Side::Over => Vec::new(),
    };
    for (index, effect) in effects.iter().enumerate() {
        let added = match &effect.put {
            Some(put) => match (&put.from, side) {
                (Source::Document(from), _) => carried(&places, from, &put.at),
                (Source::Patch, Side::Over) => {
                    carried(std::slice::from_ref(place), &value_of(index, patch), &put.at)
                }
                (Source::Patch, Side::Base) => Vec::new(),
            },
            None => Vec::new(),
        };
        places = places.into_iter().filter_map(|place| after(effect, place)).collect();
        places.extend(added);
        places.truncate(MAX_PLACES);
    }
    let mut known = HashSet::new();
    places.retain(|place| known.insert(place.clone()));
    places
}

/// To where a place is moved by an operation, if it is not overwritten.
fn after(effect: &Effect, place: Location) -> Option<Location> {
    let mut place = place;
    if let Some(at) = &effect.removed {
        if place.starts_with(at) {
            return None;
        }
        if is_in_list(at) {
            place = shifted(place, at, |index| index - 1);
        }
    }
    match &effect.put {
        Some(put) if put.before == Before::Moved => {
            Some(shifted(place, &put.at, |index| index + 1))
        }
        Some(put) if place.starts_with(&put.at) => None,
        Some(_) | None => Some(place),
    }
}

/// Where in `to` what is at `places` stands, all of it or some, if `from` was
/// put there.
fn carried(places: &[Location], from: &Location, to: &Location) -> Vec<Location> {
    let carried = |place: &Location| match place.below(from) {
        Some(below) => Some(to.joined(&below)),
        None => from.starts_with(place).then(|| to.clone()),
    };
    places.iter().filter_map(carried).collect()
}

fn is_in_list(at: &Location) -> bool {
    matches!(at.0.last(), Some(Piece::Index(_)))
}

/// `place`, with its index into the list of `at` changed if it is at `at` or
/// behind it.
fn shifted(place: Location, at: &Location, change: impl Fn(usize) -> usize) -> Location {
    let Some((Piece::Index(first), list)) = at.0.split_last() else { return place };
    let mut place = place;
    if place.0.starts_with(list)
        && let Some(Piece::Index(index)) = place.0.get_mut(list.len())
        && *index >= *first
    {
        *index = change(*index);
    }
    place
}

/// The place of an operation in the patch.
fn operation(index: usize) -> Location {
    Location(vec![Piece::Index(index)])
}

/// The place of an operation's value in the patch, with its key as it is there.
fn value_of(index: usize, patch: &Node) -> Location {
    let operation = operation(index);
    let mapping = operation.get(patch).and_then(Node::as_mapping);
    let entry = mapping.and_then(|mapping| mapping.get_entry(Member::Value.as_str()));
    let (key, _) = entry.expect("what was put in was found there");
    operation.join(Piece::Key(key.clone()))
}

/// What a patch did to the document that it was followed through last: whoever
/// asks for one place asks for many.
#[derive(Debug, Default)]
pub(super) struct Last(Mutex<Option<Followed>>);

#[derive(Debug)]
struct Followed {
    /// Both are kept, so that no other value comes to stand where they do.
    base: Node,
    over: Node,
    effects: Arc<[Effect]>,
}

impl Last {
    /// What `over` did to `base`, found by `follow` where it is not known.
    pub(super) fn effects(
        &self,
        base: &Node,
        over: &Node,
        follow: impl FnOnce() -> Vec<Effect>,
    ) -> Arc<[Effect]> {
        let last = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*last()
            && is_shared(&known.base, base)
            && is_shared(&known.over, over)
        {
            return known.effects.clone();
        }
        let effects: Arc<[Effect]> = follow().into();
        *last() =
            Some(Followed { base: base.clone(), over: over.clone(), effects: effects.clone() });
        effects
    }
}

/// It is no part of what a patch says.
impl Clone for Last {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// As with [`Clone`].
impl PartialEq for Last {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
