//! The strokes in which a document is made, and where what each of them left
//! behind came from.
//!
//! A stroke is the smallest change that is kept: one action, or one destination of
//! a substitution. [`Came`] is read off the same rules that
//! made the change, never guessed from equal values: two steps may write the
//! same value.

use std::collections::{HashSet, VecDeque};

use super::delta::Delta;
use super::{Making, Rendered};
use crate::graph::{Destination, DocId, Graph, Lay, Op, Part, Recipe, Step, Substitution};
use crate::merge::deckhand::{Method, Semantics, extended_list, list_is_popped, side_laid_over};
use crate::merge::{self, Side};
use crate::source::Span;
use crate::yaml::path::{Location, Path, Piece, child};
use crate::yaml::{Mapping, Node, Value};

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
    pub(super) recipe: &'a Recipe,
    pub(super) semantics: Semantics,
    pub(super) stroke: &'a Stroke,
    /// The data before it.
    pub(super) before: Node,
    /// The data afterwards.
    pub(super) after: Node,
    /// The data of the document that is read from, where one is.
    pub(super) source: Option<&'a Node>,
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
        let came = match (self.stroke.author, self.step().map(|step| step.op)) {
            (Author::Limit, _) | (_, None) => Came::Own(location.clone()),
            (_, Some(Op::Merge { method, path })) => {
                match path.value.effective(method, self.semantics) {
                    Some(path) => self.came_by_action(method, path, location),
                    None => Came::Kept(location.clone()),
                }
            }
            (_, Some(Op::Substitute(_))) => self.came_by_substitution(location),
            (_, Some(Op::Lay(_))) => self.came_by_laying(location),
        };
        self.settled(came, location)
    }

    /// Takes into account what is there: before the stroke, after it, and where
    /// it was read from.
    fn settled(&self, came: Came, location: &Location) -> Came {
        let was_there = |place: &Location| place.get(&self.before).is_some();
        let is_there = location.get(&self.after).is_some();
        match came {
            Came::Kept(place) => match (was_there(&place), is_there) {
                (false, true) => Came::Made,
                (true, false) => Came::Deleted { place, writing: None },
                (true, true) | (false, false) => Came::Kept(place),
            },
            Came::Own(_) | Came::Source(_) | Came::Put { .. }
                if !is_there && was_there(location) =>
            {
                Came::Deleted { place: location.clone(), writing: Some(Box::new(came)) }
            }
            Came::Own(place) if is_there => Came::Own(settled(&place, &self.recipe.data)),
            Came::Source(place) if is_there => Came::Source(self.settled_in_source(&place)),
            Came::Put { text, value } => Came::Put {
                text: settled(&text, &self.before),
                value: self.settled_in_source(&value),
            },
            Came::Own(_) | Came::Source(_) | Came::Made | Came::Deleted { .. } => came,
        }
    }

    fn settled_in_source(&self, place: &Location) -> Location {
        self.source.map_or_else(|| place.clone(), |source| settled(place, source))
    }

    /// The places at which, after the stroke, stands what stood at `place`
    /// before it, texts included of which the stroke replaced a part.
    pub(super) fn kept_at(&self, place: &Location) -> Vec<Location> {
        let mut candidates = vec![place.clone()];
        match self.step().map(|step| step.op) {
            Some(Op::Merge { method: Method::Delete, .. }) => {
                candidates = self.moved_by_delete(place).into_iter().collect();
            }
            Some(Op::Merge { path, method }) => {
                let path = path.value.effective(method, self.semantics);
                let read = path.and_then(|path| first(path, &self.before));
                candidates.extend(self.copies(read, place));
            }
            Some(Op::Substitute(_)) => candidates.extend_from_slice(&self.stroke.written),
            Some(Op::Lay(_)) => candidates.extend(self.went(Side::Base, place)),
            None => {}
        }
        self.those(candidates, |came| match came {
            Came::Kept(kept) => kept == place,
            Came::Put { text, .. } => text == place,
            Came::Own(_) | Came::Source(_) | Came::Made | Came::Deleted { .. } => false,
        })
    }

    /// The places at which, after the stroke, stands what the document's own
    /// data has at `place`, because of this stroke.
    pub(super) fn own_at(&self, place: &Location) -> Vec<Location> {
        let candidates = match self.step().map(|step| step.op) {
            Some(Op::Merge { path, method }) => {
                let path = path.value.effective(method, self.semantics);
                let list = path.and_then(|path| extended_list(path, self.semantics));
                let read = list.as_ref().or(path).and_then(|path| first(path, &self.recipe.data));
                let below = list.and_then(|list| first(&list, &self.before));
                let length = below.and_then(|(_, base)| base.as_sequence().map(<[Node]>::len));
                let copies = self.copies(read, place);
                let shifted = copies.iter().filter_map(|copy| self.shifted(copy, length?));
                [shifted.collect(), copies.clone()].concat()
            }
            Some(Op::Substitute(_) | Op::Lay(_)) => Vec::new(),
            None => vec![place.clone()],
        };
        self.those(candidates, |came| *came == Came::Own(place.clone()))
    }

    /// The places at which, after the stroke, stands what the source document
    /// has at `place`, because of this stroke; or a text into which it was put.
    pub(super) fn source_at(&self, place: &Location) -> Vec<Location> {
        let Some((substitution, destination)) = self.destination() else {
            return self.laid_at(place);
        };
        let read = self.source.and_then(|source| source_value(&substitution, source));
        let mut candidates = self.stroke.written.clone();
        if let Some((from, _)) = read.as_ref().filter(|_| destination.path.value.is_root()) {
            candidates.extend(place.below(from));
        }
        candidates.extend(self.copies(read, place));
        self.those(candidates, |came| match came {
            Came::Source(source) => source == place,
            Came::Put { value, .. } => place.starts_with(value),
            Came::Kept(_) | Came::Own(_) | Came::Made | Came::Deleted { .. } => false,
        })
    }

    /// The places at which, after the stroke, stands what the document that was
    /// laid has at `place`.
    fn laid_at(&self, place: &Location) -> Vec<Location> {
        self.those(self.went(Side::Over, place), |came| match came {
            Came::Source(source) => source == place,
            Came::Put { value, .. } => value == place,
            Came::Kept(_) | Came::Own(_) | Came::Made | Came::Deleted { .. } => false,
        })
    }

    fn went(&self, side: Side, place: &Location) -> Vec<Location> {
        let laid = self.laid();
        laid.map(|(lay, over)| lay.strategy.went(&self.before, over, side, place))
            .unwrap_or_default()
    }

    fn came_by_laying(&self, location: &Location) -> Came {
        let Some((lay, over)) = self.laid() else { return kept(location) };
        match lay.strategy.came(&self.before, over, location) {
            merge::Origin::From(Side::Base, place) => Came::Kept(place),
            merge::Origin::From(Side::Over, place) => Came::Source(place),
            merge::Origin::Joined { base, over } => Came::Put { text: base, value: over },
            merge::Origin::Made => Came::Made,
            merge::Origin::Deleted(by) => {
                Came::Deleted { place: location.clone(), writing: Some(Box::new(Came::Source(by))) }
            }
        }
    }

    fn those(&self, mut candidates: Vec<Location>, holds: impl Fn(&Came) -> bool) -> Vec<Location> {
        let mut seen: HashSet<Location, foldhash::fast::RandomState> = HashSet::default();
        candidates.retain(|candidate| {
            let is_new = seen.insert(candidate.clone());
            is_new && candidate.get(&self.after).is_some() && holds(&self.came(candidate))
        });
        candidates
    }

    /// Where `place` went if what was read at its beginning was written: whole,
    /// or element by element. A piece of a text or of a pair may have been read.
    fn copies(&self, read: Option<(Location, Node)>, place: &Location) -> Vec<Location> {
        let Some((from, _)) = read else { return Vec::new() };
        let rest = match place.below(&from) {
            Some(rest) => rest,
            None if from.starts_with(place) => Location::root(),
            None => return Vec::new(),
        };
        let element = rest.0.split_first().map(|(_, inside)| Location(inside.to_vec()));
        let rests: Vec<Location> = std::iter::once(rest).chain(element).collect();
        let written = self.stroke.written.iter();
        written.flat_map(|place| rests.iter().map(|rest| place.joined(rest))).collect()
    }

    /// The place of an item of a written list with so many before it.
    fn shifted(&self, item: &Location, before: usize) -> Option<Location> {
        let (number, rest) = self.written(item)?;
        let (Piece::Index(index), inside) = rest.0.split_first()? else { return None };
        let item = self.stroke.written[number].join(Piece::Index(before + index));
        Some(item.joined(&Location(inside.to_vec())))
    }

    fn moved_by_delete(&self, place: &Location) -> Option<Location> {
        let mut after = place.clone();
        for removed in self.stroke.written.iter().rev() {
            if after.starts_with(removed) {
                return None;
            }
            let Some((Piece::Index(gone), list)) = removed.0.split_last() else { continue };
            if after.0.starts_with(list)
                && let Some(Piece::Index(index)) = after.0.get_mut(list.len())
                && *index > *gone
            {
                *index -= 1;
            }
        }
        Some(after)
    }

    /// The written place that holds `location`, with its number among them, and
    /// the way from there. Of several the last counts: what it wrote covered
    /// the others.
    fn written(&self, location: &Location) -> Option<(usize, Location)> {
        let written = self.stroke.written.iter().enumerate().rev();
        let mut holding = written.filter(|(_, place)| location.starts_with(place));
        let (number, place) = holding.next()?;
        Some((number, location.below(place)?))
    }

    fn came_by_action(&self, method: Method, path: &Path, location: &Location) -> Came {
        match method {
            Method::Delete => self.came_by_delete(path, location),
            Method::Merge => self.came_by_merge(path, location),
            Method::Replace => match self.written(location) {
                Some((number, rest)) => self.came_by_replace(path, number, &rest),
                None => Came::Kept(location.clone()),
            },
        }
    }

    /// What was taken out of a list moved those behind it to the front.
    fn came_by_delete(&self, path: &Path, location: &Location) -> Came {
        if path.is_root() {
            let made = location.is_root() && !self.stroke.written.is_empty();
            return if made { Came::Made } else { Came::Kept(location.clone()) };
        }
        let mut before = location.clone();
        // They were removed from the last to the first.
        for removed in &self.stroke.written {
            let Some((Piece::Index(gone), list)) = removed.0.split_last() else { continue };
            if before.0.starts_with(list)
                && let Some(Piece::Index(index)) = before.0.get_mut(list.len())
                && *index >= *gone
            {
                *index += 1;
            }
        }
        Came::Kept(before)
    }

    fn came_by_replace(&self, path: &Path, number: usize, rest: &Location) -> Came {
        match first(path, &self.recipe.data) {
            Some((place, value)) => {
                Came::Own(place.joined(&self.popped(path, &value, number, rest)))
            }
            None => Came::Made,
        }
    }

    fn came_by_merge(&self, path: &Path, location: &Location) -> Came {
        let Some((number, rest)) = self.written(location) else {
            return Came::Kept(location.clone());
        };
        if let Some(list) = extended_list(path, self.semantics) {
            return self.came_by_extension(&list, &rest);
        }
        let Some((own, over)) = first(path, &self.recipe.data) else { return Came::Made };
        let below = first(path, &self.before);
        match below {
            Some((place, base)) if side_laid_over(&base, &over, &rest) == Side::Base => {
                Came::Kept(place.joined(&rest))
            }
            Some(_) | None => Came::Own(own.joined(&self.popped(path, &over, number, &rest))),
        }
    }

    /// The parent's items stand before the child's (D01).
    fn came_by_extension(&self, list: &Path, rest: &Location) -> Came {
        let Some((own, over)) = first(list, &self.recipe.data) else { return Came::Made };
        let below = first(list, &self.before);
        let lists = below.filter(|(_, base)| base.as_sequence().is_some());
        let lists = lists.filter(|_| over.as_sequence().is_some());
        let (Some((place, base)), Some((Piece::Index(index), inside))) =
            (lists, rest.0.split_first())
        else {
            return Came::Own(own.joined(rest));
        };
        match index.checked_sub(base.as_sequence().unwrap_or_default().len()) {
            None => Came::Kept(place.joined(rest)),
            Some(added) => {
                let item = own.join(Piece::Index(added));
                Came::Own(item.joined(&Location(inside.to_vec())))
            }
        }
    }

    fn came_by_substitution(&self, location: &Location) -> Came {
        let (Some((substitution, destination)), Some(source)) = (self.destination(), self.source)
        else {
            return Came::Kept(location.clone());
        };
        let Some((number, rest)) = self.written(location) else {
            return Came::Kept(location.clone());
        };
        let Some((from, value)) = source_value(&substitution, source) else { return Came::Made };
        let path = &destination.path.value;
        if let Some(part) = &destination.part {
            return self.came_by_pattern(path, part, location, &rest, from);
        }
        let is_mapping = value.as_mapping().is_some() && substitution.writing.extract.is_none();
        if path.is_root() && is_mapping && self.before.as_mapping().is_some() {
            // `laid_flat`: key by key into the mapping that is there.
            let is_put = rest.0.first().is_some_and(|key| child(&value, key).is_some());
            return if is_put { Came::Source(from.joined(location)) } else { kept(location) };
        }
        if substitution.writing.extract.is_some() && !rest.is_root() {
            return kept(location);
        }
        Came::Source(from.joined(&self.popped(path, &value, number, &rest)))
    }

    fn came_by_pattern(
        &self,
        path: &Path,
        part: &Part,
        location: &Location,
        rest: &Location,
        value: Location,
    ) -> Came {
        if !rest.is_root() {
            return kept(location);
        }
        match first(path, &self.before) {
            Some((_, target)) if is_searched_below(&target, part) => {
                Came::Put { text: location.clone(), value }
            }
            Some((text, _)) => Came::Put { text, value },
            None => Came::Made,
        }
    }

    /// Where in the value `rest` of a written place stands: a list that is
    /// taken apart gives each place one element (10.5).
    fn popped(&self, path: &Path, value: &Node, number: usize, rest: &Location) -> Location {
        if !list_is_popped(path, value, self.semantics) {
            return rest.clone();
        }
        Location(vec![Piece::Index(number)]).joined(rest)
    }
}

fn kept(location: &Location) -> Came {
    Came::Kept(location.clone())
}

/// The first match of a path that was followed when the stroke was made.
fn first(path: &Path, data: &Node) -> Option<(Location, Node)> {
    let found = path.first(data).ok()??;
    Some((found.location, found.node.into_owned()))
}

fn is_searched_below(target: &Node, part: &Part) -> bool {
    part.depth.is_some() && matches!(target.value, Value::Mapping(_) | Value::Sequence(_))
}

/// The value that a substitution reads, and where; none where it reads none,
/// or null.
pub(super) fn source_value(
    substitution: &Substitution<'_>,
    source: &Node,
) -> Option<(Location, Node)> {
    let found = match source.as_mapping() {
        Some(_) => first(&substitution.writing.from.value, source),
        None => Some((Location::root(), source.clone())),
    };
    found.filter(|(_, value)| !value.is_null())
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
