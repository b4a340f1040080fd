//! Strokes of the rendering of a document, and the origin of the values that they wrote.
//!
//! A stroke is the smallest recorded change of a document's data: one action, or one destination of
//! a substitution. [`ValueOrigin`] is derived from the rules that made the change, never inferred
//! from equal values, because two steps may write the same value.

use std::cell::OnceCell;
use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use layercake_source::{NumberedInput, Span};
use layercake_yaml::path::{Location, Piece};
use layercake_yaml::{Mapping, Node};

use super::delta::Delta;
use super::numbering::Numbering;
use super::{Making, Rendered};
use crate::graph::{Combine, Destination, DocId, Graph, Op, Recipe, Step, Substitution};
use crate::merge::numbers::{From, Numbers};

/// Change of a document's data.
#[derive(Clone, Debug)]
pub(super) struct Stroke {
    /// Source of the change.
    pub(super) author: Author,
    /// Effect on the data.
    pub(super) delta: Delta,
    /// Places that were written or removed, in order.
    pub(super) written: Vec<Location>,
}

/// Source of a stroke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Author {
    /// A layering action, or the merge of another document.
    Action {
        /// Index of the step in the recipe.
        step: usize,
    },
    /// One destination of a substitution.
    Destination {
        /// Index of the step in the recipe.
        step: usize,
        /// Index of the destination.
        index: usize,
    },
    /// A limit that the document exceeds, which discards everything but its own data.
    Limit,
}

impl Stroke {
    /// Returns the step that made it; `None` for a limit.
    pub(super) fn step<'r>(&self, recipe: &'r Recipe) -> Option<Step<'r>> {
        match self.author {
            Author::Action { step } | Author::Destination { step, .. } => recipe.steps.get(step),
            Author::Limit => None,
        }
    }

    /// Undoes the stroke in `data` if it is a substitution that wrote elsewhere and neither created
    /// nor removed the value at `place`. Returns whether it did. Equivalent to
    /// [`Change::value_origin`] in this case, without a copy of the data.
    pub(super) fn undo_elsewhere(&self, place: &Location, data: &mut Node) -> bool {
        if !self.is_substituted() || self.writes_around(place) {
            return false;
        }
        let is_there = place.get(data).is_some();
        self.delta.undo(data);
        let is_kept = place.get(data).is_some() == is_there;
        if !is_kept {
            self.delta.redo(data);
        }
        is_kept
    }

    /// Redoes the stroke in `data` if it is a substitution that keeps the values at all of
    /// `places`. Returns whether it did. Equivalent to [`Change::kept_at`] in this case, without a
    /// copy of the data.
    pub(super) fn redo_elsewhere<'l>(
        &self,
        mut places: impl Iterator<Item = &'l Location> + Clone,
        data: &mut Node,
    ) -> bool {
        if !self.is_substituted() || places.clone().any(|place| self.writes_around(place)) {
            return false;
        }
        self.delta.redo(data);
        let are_kept = places.all(|place| place.get(data).is_some());
        if !are_kept {
            self.delta.undo(data);
        }
        are_kept
    }

    /// Returns whether it is a substitution that wrote elsewhere, and `after`, the data after it,
    /// still has a value at `place`.
    fn keeps(&self, place: &Location, after: &Node) -> bool {
        self.is_substituted() && !self.writes_around(place) && place.get(after).is_some()
    }

    fn is_substituted(&self) -> bool {
        match self.author {
            Author::Destination { .. } => true,
            Author::Action { .. } | Author::Limit => false,
        }
    }

    /// Returns whether it wrote `place` or one of its ancestors.
    fn writes_around(&self, place: &Location) -> bool {
        self.written
            .iter()
            .any(|written| place.starts_with(written))
    }
}

/// States of one document's data: before the first stroke and after the last, with the change that
/// each stroke made.
#[derive(Debug)]
pub(super) struct States {
    pub(super) start: Node,
    pub(super) end: Node,
    pub(super) strokes: Vec<Stroke>,
    /// Whether earlier strokes were dropped because of their number, so that the origin of the
    /// values of `start` is not known.
    pub(super) is_cut: bool,
}

/// Strokes of a document that is being rendered. Only the last ones are kept: a step that changes
/// most of a mapping or list has its own copy of it, so that thousands of steps would take
/// quadratic memory.
#[derive(Debug)]
pub(super) struct Strokes {
    start: Node,
    /// Data after the last stroke.
    end: Node,
    kept: VecDeque<(Stroke, usize)>,
    /// Number of steps before the first kept stroke.
    after: usize,
    /// Number of entries of mappings and lists that the kept strokes do not share.
    entries: usize,
    is_cut: bool,
}

impl Strokes {
    /// Maximum number of steps with kept strokes that merge a whole document.
    const STEPS: usize = 1_000;
    /// Maximum number of entries that the kept strokes do not share, about 100 MB. The last stroke
    /// is always kept.
    const ENTRIES: usize = 1_000_000;

    /// Creates the strokes of a document that starts as `start` and becomes `end`.
    pub(super) fn of(recipe: &Recipe, start: &Node, end: &Node) -> Self {
        let combined = recipe
            .steps
            .iter()
            .filter(|step| matches!(step.op, Op::Combine(_)))
            .count();
        // Avoid copying strokes that will be dropped.
        let most = Self::STEPS.min(Self::ENTRIES / width(end).max(1)).max(1);
        let after = combined.saturating_sub(most);
        let (start, end, kept) = (start.clone(), start.clone(), VecDeque::new());
        Self {
            start,
            end,
            kept,
            after,
            entries: 0,
            is_cut: after > 0,
        }
    }

    /// Sets the data before a step.
    pub(super) fn before(&mut self, step: usize, data: &Node) {
        if step == self.after {
            (self.start, self.end) = (data.clone(), data.clone());
        }
    }

    /// Returns whether the strokes of a step are kept. An unused copy of the data would force the
    /// next step to copy everything that it changes.
    pub(super) fn are_kept(&self, step: usize) -> bool {
        step >= self.after
    }

    /// Keeps a stroke that resulted in `data`.
    pub(super) fn keep(&mut self, author: Author, written: Vec<Location>, data: &Node) {
        let delta = Delta::of(&self.end, data);
        self.end = data.clone();
        let entries = delta.entries();
        self.entries += entries;
        self.kept.push_back((
            Stroke {
                author,
                delta,
                written,
            },
            entries,
        ));
        while self.entries > Self::ENTRIES && self.kept.len() > 1 {
            let Some((first, entries)) = self.kept.pop_front() else {
                break;
            };
            first.delta.redo(&mut self.start);
            self.is_cut = true;
            self.entries -= entries;
        }
    }

    fn states(self) -> States {
        let strokes = self.kept.into_iter().map(|(stroke, _)| stroke).collect();
        States {
            start: self.start,
            end: self.end,
            strokes,
            is_cut: self.is_cut,
        }
    }
}

/// Returns the number of entries that a step may copy if it changes one of the upper places: those
/// of the root, and of its longest child.
fn width(data: &Node) -> usize {
    let length = |node: &Node| {
        node.as_mapping()
            .map_or(node.as_sequence().map_or(0, <[Node]>::len), Mapping::len)
    };
    let inside = data
        .as_mapping()
        .into_iter()
        .flat_map(Mapping::values)
        .map(length);
    length(data) + inside.max().unwrap_or(0)
}

/// Origin of the value at a place after a stroke, or of its absence.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ValueOrigin {
    /// Unchanged, from this place before the stroke.
    Kept(Location),
    /// From this place of the document's own data.
    Own(Location),
    /// From this place of the source document.
    Source(Location),
    /// A string that was partly replaced.
    Put {
        /// Place of the string before the stroke.
        text: Location,
        /// Place of the inserted value in the source document.
        value: Location,
    },
    /// Created by the stroke.
    Made,
    /// Removed by the stroke.
    Deleted {
        /// Place of the value before the stroke.
        place: Location,
        /// Origin of the value that the stroke wrote at an ancestor, if any; it lacks the removed
        /// value.
        writing: Option<Box<ValueOrigin>>,
    },
}

impl States {
    /// Renders a document again; returns `None` if it was not rendered.
    pub(super) fn of(graph: &Graph, rendered: &Rendered, doc: DocId) -> Option<Self> {
        let end = rendered.data(doc)?;
        let ready = |needed: DocId| {
            rendered
                .data(needed)
                .expect("a rendered document has only rendered dependencies")
        };
        let mut making = Making::new(graph, doc, &ready, rendered.allowance);
        making.strokes = Some(Strokes::of(graph.recipe(doc), &making.data, end));
        let strokes = making.run(&ready).strokes.expect("strokes are kept");
        Some(strokes.states())
    }
}

/// Stroke with its inputs.
pub(super) struct Change<'a> {
    pub(super) numbering: &'a Numbering<'a>,
    pub(super) doc: DocId,
    pub(super) recipe: &'a Recipe,
    pub(super) stroke: &'a Stroke,
    /// Number of strokes before it.
    pub(super) index: usize,
    /// Data before it.
    pub(super) before: Node,
    /// Data after it.
    pub(super) after: Node,
    /// Data of the source document, if any.
    pub(super) source: Option<&'a Node>,
    /// Computed on first use.
    pub(super) numbers: OnceCell<Rc<Numbers>>,
    /// See [`Change::moved`]; computed on first use.
    pub(super) moved: OnceCell<Option<Moved>>,
}

/// Value of the source document that a stroke wrote unchanged.
pub(super) struct Moved {
    /// Its place in the source document.
    from: Location,
    /// Its place after the stroke.
    to: Location,
}

impl<'a> Change<'a> {
    /// Returns the step that made the stroke; `None` for a limit.
    pub(super) fn step(&self) -> Option<Step<'a>> {
        self.stroke.step(self.recipe)
    }

    /// Returns the substitution and the destination that made the stroke.
    pub(super) fn destination(&self) -> Option<(Substitution<'a>, &'a Destination)> {
        let Author::Destination { index, .. } = self.stroke.author else {
            return None;
        };
        match self.step()?.op {
            Op::Substitute(substitution) => Some((substitution, &substitution.writing.to[index])),
            Op::Merge { .. } | Op::Combine(_) => None,
        }
    }

    /// Returns the merge that made the stroke, with the merged document; `None` if the merge
    /// failed.
    fn combined(&self) -> Option<(Combine<'a>, &'a Node)> {
        match (self.step()?.op, self.source) {
            (Op::Combine(combine), Some(source)) if !self.stroke.written.is_empty() => {
                Some((combine, source))
            }
            (Op::Combine(_) | Op::Merge { .. } | Op::Substitute(_), _) => None,
        }
    }

    /// Returns the source texts of the stroke.
    pub(super) fn texts(&self) -> Vec<Span> {
        let Some(step) = self.step() else {
            return vec![self.recipe.span];
        };
        let mut texts = vec![step.at];
        match (&step.op, self.destination()) {
            (Op::Merge { path, .. }, _) => texts.push(path.span),
            (Op::Combine(_), _) => {}
            (Op::Substitute(substitution), destination) => {
                let writing = substitution.writing;
                texts.push(writing.from.span);
                texts.extend(writing.extract.iter().map(|extract| extract.pattern.span));
                texts.extend(destination.map(|(_, destination)| destination.path.span));
                let part = destination.and_then(|(_, destination)| destination.part.as_ref());
                texts.extend(part.map(|part| part.pattern.span));
            }
        }
        texts
    }

    /// Returns the origin of the value at `location` after the stroke, or the reason for its
    /// absence.
    pub(super) fn value_origin(&self, location: &Location) -> ValueOrigin {
        match self.numbers().from(location) {
            Some(from) => value_origin(from),
            None => self.origin_of_absence(location),
        }
    }

    /// Returns why `location` has no value: the value that the stroke wrote at an ancestor
    /// lacks it, the stroke removed it, or it was absent before.
    fn origin_of_absence(&self, location: &Location) -> ValueOrigin {
        let numbers = self.numbers();
        let around = settled(location, &self.after);
        let rest = location
            .below(&around)
            .expect("it is an ancestor of the place");
        let from = numbers.from(&around).expect("there is a node at the place");
        let was_there = |place: &Location| place.get(&self.before).is_some();
        match value_origin(from) {
            ValueOrigin::Kept(place) => {
                let place = self.place_before(&place, &around, rest);
                if was_there(&place) {
                    self.deleted(place)
                } else {
                    ValueOrigin::Kept(place)
                }
            }
            ValueOrigin::Own(place) if numbers.is_moved_whole(&around) => {
                self.left_out(ValueOrigin::Own(place.joined(&rest)), location)
            }
            ValueOrigin::Source(place) if numbers.is_moved_whole(&around) => {
                self.left_out(ValueOrigin::Source(place.joined(&rest)), location)
            }
            _ if was_there(location) => self.deleted(location.clone()),
            _ => ValueOrigin::Kept(location.clone()),
        }
    }

    /// Returns the place before the stroke of the value `rest` below a place after it. If the
    /// stroke removed items of a list, an index past its end keeps its distance from the end.
    fn place_before(&self, before: &Location, after: &Location, rest: Location) -> Location {
        let length = |place: &Location, data| {
            place
                .get(data)
                .and_then(Node::as_sequence)
                .map_or(0, <[Node]>::len)
        };
        let taken = length(before, &self.before).saturating_sub(length(after, &self.after));
        let mut rest = rest;
        if let Some(Piece::Index(index)) = rest.0.first_mut() {
            *index += taken;
        }
        before.joined(&rest)
    }

    /// Returns the origin of a place that a value written by the stroke lacks.
    fn left_out(&self, writing: ValueOrigin, location: &Location) -> ValueOrigin {
        match location.get(&self.before) {
            Some(_) => ValueOrigin::Deleted {
                place: location.clone(),
                writing: Some(Box::new(writing)),
            },
            None => writing,
        }
    }

    /// Returns the origin of a place that the stroke removed. A merged document removes it by its
    /// value at the place or at the nearest ancestor.
    fn deleted(&self, place: Location) -> ValueOrigin {
        let combined = self.combined();
        let writing = combined.map(|(combine, over)| {
            let numbers = self.numbers();
            let before = numbers.before().node();
            let taken = place.get(before).map(|node| node.span);
            let by = taken.and_then(|taken| combine.strategy.taken_by(before, over, taken));
            Box::new(ValueOrigin::Source(
                by.unwrap_or_else(|| settled(&place, over)),
            ))
        });
        ValueOrigin::Deleted { place, writing }
    }

    /// Returns the places that have the value of `place` after the stroke, including strings that
    /// it partly replaced.
    pub(super) fn kept_at(&self, place: &Location) -> Vec<Location> {
        if self.stroke.keeps(place, &self.after) {
            return vec![place.clone()];
        }
        self.places_where(NumberedInput::Before, place, |origin| match origin {
            ValueOrigin::Kept(kept) => kept == place,
            ValueOrigin::Put { text, .. } => text == place,
            ValueOrigin::Own(_)
            | ValueOrigin::Source(_)
            | ValueOrigin::Made
            | ValueOrigin::Deleted { .. } => false,
        })
    }

    /// Returns the places to which the stroke copied the value of `place` in the document's own
    /// data.
    pub(super) fn own_at(&self, place: &Location) -> Vec<Location> {
        self.places_where(NumberedInput::Own, place, |origin| {
            *origin == ValueOrigin::Own(place.clone())
        })
    }

    /// Returns the places to which the stroke copied the value of `place` in the source document,
    /// including strings into which it was inserted.
    pub(super) fn source_at(&self, place: &Location) -> Vec<Location> {
        if let Some(Moved { from, to }) = self.moved() {
            let moved = place.below(from).map(|rest| to.joined(&rest));
            return moved
                .into_iter()
                .filter(|place| place.get(&self.after).is_some())
                .collect();
        }
        self.places_where(NumberedInput::Source, place, |origin| match origin {
            ValueOrigin::Source(source) => source == place,
            ValueOrigin::Put { value, .. } => place.starts_with(value),
            ValueOrigin::Kept(_)
            | ValueOrigin::Own(_)
            | ValueOrigin::Made
            | ValueOrigin::Deleted { .. } => false,
        })
    }

    /// Returns the value that the stroke wrote, if it is an unchanged value of the source document
    /// and all that the stroke wrote.
    fn moved(&self) -> Option<&Moved> {
        let find = || {
            let [to] = &self.stroke.written[..] else {
                return None;
            };
            self.destination()?;
            match self.value_origin(to) {
                ValueOrigin::Source(from) if self.numbers().is_moved_whole(to) => Some(Moved {
                    from,
                    to: to.clone(),
                }),
                _ => None,
            }
        };
        self.moved.get_or_init(find).as_ref()
    }

    fn places_where(
        &self,
        input: NumberedInput,
        place: &Location,
        holds: impl Fn(&ValueOrigin) -> bool,
    ) -> Vec<Location> {
        let numbers = self.numbers();
        let mut places = if numbers.are_exact() {
            numbers.destinations(input, place)
        } else {
            self.candidates(place)
        };
        places.retain(|place| holds(&self.value_origin(place)));
        places
    }

    /// Returns the places where the value of `place` can be after the stroke: the same place, or
    /// one at or below a place that the stroke wrote.
    fn candidates(&self, place: &Location) -> Vec<Location> {
        let rests: Vec<Location> = (0..=place.0.len())
            .map(|length| Location(place.0[length..].to_vec()))
            .collect();
        let written = self.stroke.written.iter();
        let moved = written.flat_map(|written| rests.iter().map(|rest| written.joined(rest)));
        let mut seen: HashSet<Location, foldhash::fast::RandomState> = HashSet::default();
        let candidates = std::iter::once(place.clone()).chain(moved);
        candidates
            .filter(|place| place.get(&self.after).is_some() && seen.insert(place.clone()))
            .collect()
    }

    fn numbers(&self) -> &Numbers {
        self.numbers.get_or_init(|| {
            self.numbering.stroke(
                self.doc,
                self.index,
                self.stroke.author,
                [&self.before, &self.after],
            )
        })
    }
}

fn value_origin(from: From) -> ValueOrigin {
    match from {
        From::Moved(NumberedInput::Before, place) => ValueOrigin::Kept(place),
        From::Moved(NumberedInput::Own, place) => ValueOrigin::Own(place),
        From::Moved(NumberedInput::Source, place) => ValueOrigin::Source(place),
        From::Built {
            text,
            part: Some(value),
        } => ValueOrigin::Put { text, value },
        From::Built { part: None, .. } | From::Made => ValueOrigin::Made,
    }
}

/// Returns the place itself, or its nearest ancestor with a node in `data`, because a path may lead
/// into a string or a pair.
pub(super) fn settled(location: &Location, data: &Node) -> Location {
    let mut place = location.clone();
    while place.get(data).is_none() {
        place.0.pop();
    }
    place
}
