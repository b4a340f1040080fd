//! The strokes in which a document is made, and where what each of them left
//! behind came from.
//!
//! A stroke is the smallest change that is kept: one action, or one destination of
//! a substitution. [`Came`] is read off the same rules that
//! made the change, never guessed from equal values: two steps may write the
//! same value.

use std::cell::OnceCell;
use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use layercake_source::{NumberedInput, Span};
use layercake_yaml::path::{Location, Piece};
use layercake_yaml::{Mapping, Node};

use super::delta::Delta;
use super::numbering::Numbering;
use super::{Making, Rendered};
use crate::graph::{Destination, DocId, Graph, Lay, Op, Recipe, Step, Substitution};
use crate::merge::numbers::{From, Numbers};

/// One change of a document's data.
#[derive(Clone, Debug)]
pub(super) struct Stroke {
    /// What did it.
    pub(super) author: Author,
    /// What it did to the data.
    pub(super) delta: Delta,
    /// The places it wrote, or took away, in order.
    pub(super) written: Vec<Location>,
}

/// What makes a stroke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Author {
    /// A layering action, or a document laid over what there was.
    Action {
        /// Which step of the recipe.
        step: usize,
    },
    /// A substitution, for one of its destinations.
    Destination {
        /// Which step of the recipe.
        step: usize,
        /// Which of its destinations.
        index: usize,
    },
    /// The limit that the document exceeds, so that its own data is all there
    /// is.
    Limit,
}

impl Stroke {
    /// The step of its document that made it; none for a limit.
    pub(super) fn step<'r>(&self, recipe: &'r Recipe) -> Option<Step<'r>> {
        match self.author {
            Author::Action { step } | Author::Destination { step, .. } => recipe.steps.get(step),
            Author::Limit => None,
        }
    }

    /// Undoes in `data` a substitution that wrote elsewhere, and neither made nor
    /// took away what stands at `place`, so that it was there before; whether it
    /// is one. As [`Change::came`] has it, without a copy of the data.
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

    /// Does in `data` a substitution that leaves what stands at all of `places`
    /// there; whether it is one. As [`Change::kept_at`] has it, without a copy of the
    /// data.
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

    fn is_substituted(&self) -> bool {
        match self.author {
            Author::Destination { .. } => true,
            Author::Action { .. } | Author::Limit => false,
        }
    }

    /// Whether it wrote what `place` is, or is in.
    fn writes_around(&self, place: &Location) -> bool {
        self.written.iter().any(|written| place.starts_with(written))
    }
}

/// The states of one document's data: before any stroke, after all of them, and
/// what each did in between.
#[derive(Debug)]
pub(super) struct States {
    pub(super) start: Node,
    pub(super) end: Node,
    pub(super) strokes: Vec<Stroke>,
    /// Whether there were strokes before these, which were too many to be kept:
    /// where `start` has its values from is not known.
    pub(super) is_cut: bool,
}

/// The strokes of a document while it is made. Only the last are kept where
/// there are many: a step that changes nearly all of a mapping or list has its
/// own copy of it, so that thousands of parts of one set would take memory by
/// the square.
#[derive(Debug)]
pub(super) struct Strokes {
    start: Node,
    /// The data after the last stroke.
    end: Node,
    kept: VecDeque<(Stroke, usize)>,
    /// How many steps are done before strokes are kept.
    after: usize,
    /// How many entries of mappings and lists the kept strokes have of their own.
    entries: usize,
    is_cut: bool,
}

impl Strokes {
    /// Of steps that lay a whole document the last so many are kept.
    const STEPS: usize = 1_000;
    /// The kept strokes have so many entries of their own, some 100 MB; the last
    /// one is kept in any case.
    const ENTRIES: usize = 1_000_000;

    /// Of a document that starts as `start`, and is known to become `end`.
    pub(super) fn of(recipe: &Recipe, start: &Node, end: &Node) -> Self {
        let laid = recipe.steps.iter().filter(|step| matches!(step.op, Op::Lay(_))).count();
        // What is not going to be kept need not be copied.
        let most = Self::STEPS.min(Self::ENTRIES / width(end).max(1)).max(1);
        let after = laid.saturating_sub(most);
        let (start, end, kept) = (start.clone(), start.clone(), VecDeque::new());
        Self { start, end, kept, after, entries: 0, is_cut: after > 0 }
    }

    /// The data as it is before a step.
    pub(super) fn before(&mut self, step: usize, data: &Node) {
        if step == self.after {
            (self.start, self.end) = (data.clone(), data.clone());
        }
    }

    /// Whether the strokes of a step are kept: a copy of the data that nobody
    /// keeps would cost one of all that the next step changes.
    pub(super) fn are_kept(&self, step: usize) -> bool {
        step >= self.after
    }

    /// Keeps a stroke that left `data` behind.
    pub(super) fn keep(&mut self, author: Author, written: Vec<Location>, data: &Node) {
        let delta = Delta::of(&self.end, data);
        self.end = data.clone();
        let entries = delta.entries();
        self.entries += entries;
        self.kept.push_back((Stroke { author, delta, written }, entries));
        while self.entries > Self::ENTRIES && self.kept.len() > 1 {
            let Some((first, entries)) = self.kept.pop_front() else { break };
            first.delta.redo(&mut self.start);
            self.is_cut = true;
            self.entries -= entries;
        }
    }

    fn states(self) -> States {
        let strokes = self.kept.into_iter().map(|(stroke, _)| stroke).collect();
        States { start: self.start, end: self.end, strokes, is_cut: self.is_cut }
    }
}

/// How many entries a step may copy that changes one of the upper places: those
/// of the root, and of the longest of what is in it.
fn width(data: &Node) -> usize {
    let length = |node: &Node| {
        node.as_mapping().map_or(node.as_sequence().map_or(0, <[Node]>::len), Mapping::len)
    };
    let inside = data.as_mapping().into_iter().flat_map(Mapping::values).map(length);
    length(data) + inside.max().unwrap_or(0)
}

/// Where a place of a document's data, after one stroke, has its value from; or
/// has it from that nothing is there.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Came {
    /// From this place before the stroke.
    Kept(Location),
    /// From this place of the document's own data.
    Own(Location),
    /// From this place of the source document.
    Source(Location),
    /// Part of a text was replaced.
    Put {
        /// Where the text stood before the stroke.
        text: Location,
        /// Where the value that was put in stands in the source document.
        value: Location,
    },
    /// The stroke made it.
    Made,
    /// The stroke took away what stood there before.
    Deleted {
        /// Where that stood before the stroke.
        place: Location,
        /// What the stroke wrote around the place, where it did so: what it has
        /// nothing of.
        writing: Option<Box<Came>>,
    },
}

impl States {
    /// Makes a document once more; none where it was not made.
    pub(super) fn of(graph: &Graph, rendered: &Rendered, doc: DocId) -> Option<Self> {
        let end = rendered.data(doc)?;
        let ready =
            |needed: DocId| rendered.data(needed).expect("what was made needs only what was made");
        let mut making = Making::new(graph, doc, &ready, rendered.allowance);
        making.strokes = Some(Strokes::of(graph.recipe(doc), &making.data, end));
        let strokes = making.run(&ready).strokes.expect("strokes are kept");
        Some(strokes.states())
    }
}

/// One stroke with all that it depends on.
pub(super) struct Change<'a> {
    pub(super) numbering: &'a Numbering<'a>,
    pub(super) doc: DocId,
    pub(super) recipe: &'a Recipe,
    pub(super) stroke: &'a Stroke,
    /// How many strokes of the document come before it.
    pub(super) index: usize,
    /// The data before it.
    pub(super) before: Node,
    /// The data afterwards.
    pub(super) after: Node,
    /// The data of the document that is read from, where one is.
    pub(super) source: Option<&'a Node>,
    /// Found on first use.
    pub(super) numbers: OnceCell<Rc<Numbers>>,
}

impl<'a> Change<'a> {
    /// The step that made the stroke; none for a limit.
    pub(super) fn step(&self) -> Option<Step<'a>> {
        self.stroke.step(self.recipe)
    }

    /// The substitution and the destination that made the stroke.
    pub(super) fn destination(&self) -> Option<(Substitution<'a>, &'a Destination)> {
        let Author::Destination { index, .. } = self.stroke.author else { return None };
        match self.step()?.op {
            Op::Substitute(substitution) => Some((substitution, &substitution.writing.to[index])),
            Op::Merge { .. } | Op::Lay(_) => None,
        }
    }

    /// The laying that made the stroke, with the document that was laid; none
    /// where it could not be.
    fn laid(&self) -> Option<(Lay<'a>, &'a Node)> {
        match (self.step()?.op, self.source) {
            (Op::Lay(lay), Some(source)) if !self.stroke.written.is_empty() => Some((lay, source)),
            (Op::Lay(_) | Op::Merge { .. } | Op::Substitute(_), _) => None,
        }
    }

    /// The texts that say what the stroke did.
    pub(super) fn texts(&self) -> Vec<Span> {
        let Some(step) = self.step() else { return vec![self.recipe.span] };
        let mut texts = vec![step.at];
        match (&step.op, self.destination()) {
            (Op::Merge { path, .. }, _) => texts.push(path.span),
            (Op::Lay(_), _) => {}
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

    /// Where the value at `location` after the stroke came from; or what
    /// settles that nothing is there.
    pub(super) fn came(&self, location: &Location) -> Came {
        match self.numbers().from(location) {
            Some(from) => came(from),
            None => self.came_of_nothing(location),
        }
    }

    /// Why there is nothing at `location`: the value that the stroke wrote around the place lacks
    /// it, the stroke removed it, or it was absent before.
    fn came_of_nothing(&self, location: &Location) -> Came {
        let numbers = self.numbers();
        let around = settled(location, &self.after);
        let rest = location.below(&around).expect("it is around the place");
        let from = numbers.from(&around).expect("a node is there");
        let was_there = |place: &Location| place.get(&self.before).is_some();
        match came(from) {
            Came::Kept(place) => {
                let place = self.before_the_rest(&place, &around, rest);
                if was_there(&place) { self.deleted(place) } else { Came::Kept(place) }
            }
            Came::Own(place) if numbers.is_moved_whole(&around) => {
                self.left_out(Came::Own(place.joined(&rest)), location)
            }
            Came::Source(place) if numbers.is_moved_whole(&around) => {
                self.left_out(Came::Source(place.joined(&rest)), location)
            }
            _ if was_there(location) => self.deleted(location.clone()),
            _ => Came::Kept(location.clone()),
        }
    }

    /// Place before the stroke of what is `rest` below a place after it. If the stroke removed items
    /// of a list, an index past its end stays as far past the end.
    fn before_the_rest(&self, before: &Location, after: &Location, rest: Location) -> Location {
        let length = |place: &Location, data| {
            place.get(data).and_then(Node::as_sequence).map_or(0, <[Node]>::len)
        };
        let taken = length(before, &self.before).saturating_sub(length(after, &self.after));
        let mut rest = rest;
        if let Some(Piece::Index(index)) = rest.0.first_mut() {
            *index += taken;
        }
        before.joined(&rest)
    }

    /// A place that a value written by the stroke lacks.
    fn left_out(&self, writing: Came, location: &Location) -> Came {
        match location.get(&self.before) {
            Some(_) => Came::Deleted { place: location.clone(), writing: Some(Box::new(writing)) },
            None => writing,
        }
    }

    /// A place that the stroke removed. A laid document does so by its value at the place, or at the
    /// nearest place around it.
    fn deleted(&self, place: Location) -> Came {
        let laid = self.laid();
        let writing = laid.map(|(lay, over)| {
            let numbers = self.numbers();
            let before = numbers.before().node();
            let taken = place.get(before).map(|node| node.span);
            let by = taken.and_then(|taken| lay.strategy.taken_by(before, over, taken));
            Box::new(Came::Source(by.unwrap_or_else(|| settled(&place, over))))
        });
        Came::Deleted { place, writing }
    }

    /// The places at which, after the stroke, stands what stood at `place`
    /// before it, texts included of which the stroke replaced a part.
    pub(super) fn kept_at(&self, place: &Location) -> Vec<Location> {
        self.those(NumberedInput::Before, place, |came| match came {
            Came::Kept(kept) => kept == place,
            Came::Put { text, .. } => text == place,
            Came::Own(_) | Came::Source(_) | Came::Made | Came::Deleted { .. } => false,
        })
    }

    /// The places at which, after the stroke, stands what the document's own
    /// data has at `place`, because of this stroke.
    pub(super) fn own_at(&self, place: &Location) -> Vec<Location> {
        self.those(NumberedInput::Own, place, |came| *came == Came::Own(place.clone()))
    }

    /// The places at which, after the stroke, stands what the source document
    /// has at `place`, because of this stroke; or a text into which it was put.
    pub(super) fn source_at(&self, place: &Location) -> Vec<Location> {
        self.those(NumberedInput::Source, place, |came| match came {
            Came::Source(source) => source == place,
            Came::Put { value, .. } => place.starts_with(value),
            Came::Kept(_) | Came::Own(_) | Came::Made | Came::Deleted { .. } => false,
        })
    }

    fn those(
        &self,
        input: NumberedInput,
        place: &Location,
        holds: impl Fn(&Came) -> bool,
    ) -> Vec<Location> {
        let numbers = self.numbers();
        let mut places =
            if numbers.are_exact() { numbers.went(input, place) } else { self.candidates(place) };
        places.retain(|place| holds(&self.came(place)));
        places
    }

    /// Places where the value from `place` can be after the stroke: the same place, or below one that
    /// the stroke wrote.
    fn candidates(&self, place: &Location) -> Vec<Location> {
        let rests = (0..=place.0.len()).map(|length| Location(place.0[length..].to_vec()));
        let rests: Vec<Location> = rests.collect();
        let written = self.stroke.written.iter();
        let moved = written.flat_map(|written| rests.iter().map(|rest| written.joined(rest)));
        let mut seen: HashSet<Location, foldhash::fast::RandomState> = HashSet::default();
        let candidates = std::iter::once(place.clone()).chain(moved);
        let is_there = |place: &Location| place.get(&self.after).is_some();
        candidates.filter(|place| is_there(place) && seen.insert(place.clone())).collect()
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

fn came(from: From) -> Came {
    match from {
        From::Moved(NumberedInput::Before, place) => Came::Kept(place),
        From::Moved(NumberedInput::Own, place) => Came::Own(place),
        From::Moved(NumberedInput::Source, place) => Came::Source(place),
        From::Built { text, part: Some(value) } => Came::Put { text, value },
        From::Built { part: None, .. } | From::Made => Came::Made,
    }
}

/// The place itself, or the nearest around it at which `data` holds a node: a
/// path may lead into a text or a pair.
pub(super) fn settled(location: &Location, data: &Node) -> Location {
    let mut place = location.clone();
    while place.get(data).is_none() {
        place.0.pop();
    }
    place
}
