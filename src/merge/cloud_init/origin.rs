//! From where each value of a result came, and where each value went, by the
//! verdicts that made the result.
//!
//! Two values only ever meet at the same place of both sides, so one place
//! serves for both until the way ends.

use std::ops::Range;

use super::elements::{item, length, place_of};
use super::specification::Taken;
use super::verdict::{Mergers, Verdict};
use crate::merge::{Origin, Side};
use crate::yaml::path::{Location, Piece};
use crate::yaml::{Node, Value};

/// From where `place` of the result has its value; see
/// [`Strategy::came`](crate::merge::Strategy::came).
///
/// A mapping or list that is made of both came from the one whose span it
/// carries. Characters of a text came from the text, keys that became items
/// from their entry, what is in a pair of a list of pairs from that list.
pub(super) fn came(
    mergers: &Mergers,
    taken: Taken,
    base: &Node,
    over: &Node,
    place: &Location,
) -> Origin {
    let verdict = mergers.meet(base, over);
    Way { mergers, place }.came(Meeting { old: base, new: over, verdict, taken }, 0)
}

/// The places of the result at which stands what `side` has at `place`; see
/// [`Strategy::went`](crate::merge::Strategy::went). Those of a list of pairs
/// are the list's and its items'.
pub(super) fn went(
    mergers: &Mergers,
    taken: Taken,
    base: &Node,
    over: &Node,
    side: Side,
    place: &Location,
) -> Vec<Location> {
    let verdict = mergers.meet(base, over);
    Way { mergers, place }.went(side, Meeting { old: base, new: over, verdict, taken }, 0)
}

/// The way to a place. How many of its pieces have been gone, its functions
/// are told.
struct Way<'a> {
    mergers: &'a Mergers,
    place: &'a Location,
}

/// Two values that meet on the way, and what becomes of them.
#[derive(Clone, Copy)]
struct Meeting<'a> {
    old: &'a Node,
    new: &'a Node,
    verdict: Verdict,
    taken: Taken,
}

/// The next step of a way.
enum Step<'a> {
    Meeting(Meeting<'a>),
    /// To two items of which one at least is a pair, so that neither is a node of
    /// the data.
    Pair {
        lower: Node,
        upper: Node,
        verdict: Verdict,
    },
    /// To what one side alone gives to the result.
    Only(Side),
    /// To what the result does not have.
    Nothing,
}

impl Way<'_> {
    fn came(&self, meeting: Meeting<'_>, gone: usize) -> Origin {
        let from = |side| Origin::From(side, self.place.clone());
        match meeting.verdict {
            Verdict::Old(_) | Verdict::NotText | Verdict::NoIndex => from(Side::Base),
            Verdict::New => from(Side::Over),
            Verdict::Gone => Origin::Deleted(self.here(gone)),
            Verdict::Joined => Origin::Joined { base: self.here(gone), over: self.here(gone) },
            Verdict::Entries | Verdict::Items => match self.step(meeting, gone) {
                None => from(meeting.signature()),
                Some(Step::Meeting(next)) => self.came(next, gone + 1),
                Some(Step::Pair { lower, upper, verdict }) => {
                    match self.came(meeting_of(&lower, &upper, verdict), gone + 1) {
                        Origin::From(side, place) => {
                            Origin::From(side, self.nearest(meeting, side, place, gone))
                        }
                        Origin::Joined { base, over } => Origin::Joined {
                            base: self.nearest(meeting, Side::Base, base, gone),
                            over: self.nearest(meeting, Side::Over, over, gone),
                        },
                        made @ (Origin::Made | Origin::Deleted(_)) => made,
                    }
                }
                Some(Step::Only(side)) => {
                    Origin::From(side, self.nearest(meeting, side, self.place.clone(), gone))
                }
                Some(Step::Nothing) => from(Side::Base),
            },
            Verdict::After | Verdict::Before | Verdict::Item => self.came_to_list(meeting, gone),
        }
    }

    /// A place on a side of two lists, or the list itself where it is one of pairs:
    /// what is in it has no place of its own.
    fn nearest(&self, lists: Meeting<'_>, side: Side, place: Location, gone: usize) -> Location {
        let is_of_pairs = matches!(lists.of(side).value, Value::Pairs(_));
        if is_of_pairs { self.here(gone) } else { place }
    }

    /// From where a list came that was put together, or what is in it.
    fn came_to_list(&self, meeting: Meeting<'_>, gone: usize) -> Origin {
        let Some((Piece::Index(index), below)) = self.place.0[gone..].split_first() else {
            return Origin::From(meeting.signature(), self.place.clone());
        };
        let new_ones = meeting.stretch(Side::Over);
        let (side, index) = if new_ones.contains(index) {
            (Side::Over, index - new_ones.start)
        } else {
            (Side::Base, index.saturating_sub(meeting.stretch(Side::Base).start))
        };
        let place = match (side, meeting.verdict) {
            (Side::Over, Verdict::Item) => self.here(gone).joined(&Location(below.to_vec())),
            _ => self.of_element(meeting.of(side), index, gone, below),
        };
        Origin::From(side, place)
    }

    /// The place in `node`, which stands where the way is, of the element at
    /// `index` and what is below it; of what has no place of its own, the
    /// nearest.
    fn of_element(&self, node: &Node, index: usize, gone: usize, below: &[Piece]) -> Location {
        let here = self.here(gone);
        match (place_of(node, index), &node.value) {
            (Some(at), Value::Sequence(_)) => here.joined(&at).joined(&Location(below.to_vec())),
            (Some(at), _) => here.joined(&at),
            (None, _) => self.place.clone(),
        }
    }

    fn went(&self, side: Side, meeting: Meeting<'_>, gone: usize) -> Vec<Location> {
        let whole = || vec![self.place.clone()];
        match (meeting.verdict, side) {
            (Verdict::Old(_) | Verdict::NotText | Verdict::NoIndex, Side::Base) => whole(),
            (Verdict::Old(_) | Verdict::NotText | Verdict::NoIndex, Side::Over) => Vec::new(),
            (Verdict::New, Side::Over) => whole(),
            (Verdict::New, Side::Base) | (Verdict::Gone, _) => Vec::new(),
            (Verdict::Joined, _) => vec![self.here(gone)],
            (Verdict::Entries | Verdict::Items, _) => match self.step(meeting, gone) {
                None => self.with_items(0..meeting.pairs_of(side), gone),
                Some(Step::Meeting(next)) => self.went(side, next, gone + 1),
                Some(Step::Pair { lower, upper, verdict }) => {
                    self.went(side, meeting_of(&lower, &upper, verdict), gone + 1)
                }
                Some(Step::Only(only)) if only == side => whole(),
                Some(Step::Only(_) | Step::Nothing) => Vec::new(),
            },
            (Verdict::After | Verdict::Before | Verdict::Item, _) => {
                self.went_to_list(side, meeting, gone)
            }
        }
    }

    /// Where a value went that became part of a list.
    fn went_to_list(&self, side: Side, meeting: Meeting<'_>, gone: usize) -> Vec<Location> {
        let stretch = meeting.stretch(side);
        let at = |index, below: &[Piece]| {
            let item = self.here(gone).join(Piece::Index(stretch.start + index));
            vec![item.joined(&Location(below.to_vec()))]
        };
        let rest = &self.place.0[gone..];
        if side == Side::Over && meeting.verdict == Verdict::Item {
            return at(0, rest);
        }
        match (&meeting.of(side).value, rest.split_first()) {
            (Value::Sequence(_), Some((Piece::Index(index), below))) => at(*index, below),
            (Value::Sequence(_), None) => vec![self.here(gone)],
            // A key became an item, the value at it is lost.
            (Value::Mapping(mapping), Some((Piece::Key(key), []))) => {
                let index = mapping.keys().position(|known| known == key);
                index.map(|index| at(index, &[])).unwrap_or_default()
            }
            (_, None) => self.with_items(stretch, gone),
            (_, Some(_)) => Vec::new(),
        }
    }

    /// The collection where the way is, and those of its items that came from
    /// no place of their own.
    fn with_items(&self, items: Range<usize>, gone: usize) -> Vec<Location> {
        let here = self.here(gone);
        let items = items.map(|index| here.join(Piece::Index(index)));
        std::iter::once(here.clone()).chain(items).collect()
    }

    /// The next step between two values that are merged by entries or items;
    /// none at the end of the way.
    fn step<'n>(&self, meeting: Meeting<'n>, gone: usize) -> Option<Step<'n>> {
        let Meeting { old, new, taken, .. } = meeting;
        let step = match (&old.value, &new.value, self.place.0.get(gone)?) {
            (Value::Mapping(below), Value::Mapping(above), Piece::Key(key)) => {
                match (below.get(key), taken.get(above, key)) {
                    (Some(lower), Some(upper)) => {
                        meet(lower, upper, self.mergers.clash(lower, upper))
                    }
                    (Some(_), None) => Step::Only(Side::Base),
                    (None, Some(_)) => Step::Only(Side::Over),
                    (None, None) => Step::Nothing,
                }
            }
            (Value::Sequence(below), Value::Sequence(above), Piece::Index(index)) => {
                match (below.get(*index), above.get(*index)) {
                    (Some(lower), Some(upper)) => {
                        meet(lower, upper, self.mergers.item(lower, upper))
                    }
                    (Some(_), None) => Step::Only(Side::Base),
                    // The result is as long as the old list.
                    (None, Some(_) | None) => Step::Nothing,
                }
            }
            (_, _, Piece::Index(index)) => self.step_of_pairs(old, new, *index),
            (_, _, Piece::Key(_)) => Step::Nothing,
        };
        Some(step)
    }

    /// Where one of two lists is a list of pairs, whose items are no nodes.
    fn step_of_pairs(&self, old: &Node, new: &Node, index: usize) -> Step<'static> {
        match (item(old, index), item(new, index)) {
            (Some(lower), Some(upper)) => {
                let verdict = self.mergers.item(&lower, &upper);
                Step::Pair { lower, upper, verdict }
            }
            (Some(_), None) => Step::Only(Side::Base),
            (None, Some(_) | None) => Step::Nothing,
        }
    }

    /// The place up to where the way has been gone.
    fn here(&self, gone: usize) -> Location {
        Location(self.place.0[..gone].to_vec())
    }
}

fn meet<'a>(old: &'a Node, new: &'a Node, verdict: Verdict) -> Step<'a> {
    Step::Meeting(meeting_of(old, new, verdict))
}

fn meeting_of<'a>(old: &'a Node, new: &'a Node, verdict: Verdict) -> Meeting<'a> {
    Meeting { old, new, verdict, taken: Taken::default() }
}

impl<'a> Meeting<'a> {
    fn of(self, side: Side) -> &'a Node {
        match side {
            Side::Base => self.old,
            Side::Over => self.new,
        }
    }

    /// The side whose span a collection made of both carries: the new one,
    /// unless there is nothing in it, or it is no such collection.
    fn signature(self) -> Side {
        let signs = match (self.verdict, &self.new.value) {
            (Verdict::Item, _) => false,
            (_, Value::Mapping(above)) => {
                self.old.as_mapping().is_some() && self.taken.rest(above).next().is_some()
            }
            (_, Value::Sequence(_) | Value::Pairs(_)) => length(self.new) > 0,
            _ => false,
        };
        if signs { Side::Over } else { Side::Base }
    }

    /// The indexes that the elements of a side have in a list put together.
    fn stretch(self, side: Side) -> Range<usize> {
        let old_ones = length(self.old);
        let new_ones = if self.verdict == Verdict::Item { 1 } else { length(self.new) };
        match (side, self.verdict == Verdict::Before) {
            (Side::Base, true) => new_ones..new_ones + old_ones,
            (Side::Base, false) => 0..old_ones,
            (Side::Over, true) => 0..new_ones,
            (Side::Over, false) => old_ones..old_ones + new_ones,
        }
    }

    /// How many items of the result may be from pairs of this side, where two
    /// lists are merged by index.
    fn pairs_of(self, side: Side) -> usize {
        match self.of(side).value {
            Value::Pairs(_) => length(self.of(side)).min(length(self.old)),
            _ => 0,
        }
    }
}
