//! Writing a value to the matches of a path (10.5).

use std::collections::HashSet;
use std::sync::Arc;

use layercake_source::{FileId, Span};
use smol_str::SmolStr;

use super::find::{self, Datum, DatumStep, Walker};
use super::parse::{PathExpression, PathOperator};
use super::{ListWrite, Location, MAX_DESCENT, Piece, Segment, WalkError, pair_as_list};
use crate::{Key, Mapping, Node, Size, Value};

/// Writes to the only location of a plain path, if it exists.
pub(super) fn update_plain(
    segments: &[Segment],
    data: &mut Node,
    value: &Node,
    lists: ListWrite,
) -> Result<Vec<Location>, WalkError> {
    let Some((last, parents)) = segments.split_last() else {
        *data = value.clone();
        return Ok(vec![Location::root()]);
    };
    let Some(parent) = find::find_plain(parents, data)? else {
        return Ok(Vec::new());
    };
    let step = match last {
        Segment::Name(name) => DatumStep::Key(Key::string(name.clone(), value.span)),
        Segment::Index(index) => DatumStep::Index(*index),
    };
    let Some(piece) = target(&parent.node, &step)? else {
        return Ok(Vec::new());
    };
    let place = parent.location;
    let mut incoming = IncomingValue::new(value, lists);
    let taken = incoming.take_for(&step)?;
    let parent = place
        .get_mut(data)
        .expect("the parent exists and is writable");
    store(parent, piece.clone(), taken);
    let Location(mut pieces) = place;
    pieces.push(piece);
    Ok(vec![Location(pieces)])
}

/// Location of segments that are all names.
pub(super) fn named(segments: &[Segment]) -> Location {
    let nowhere = Span::point(FileId::default(), 0);
    let names = segments.iter().filter_map(Segment::name);
    Location(
        names
            .map(|name| Piece::Key(Key::string(name.clone(), nowhere)))
            .collect(),
    )
}

/// Nodes created by [`put_by_names`].
pub(super) struct CreatedEntry {
    /// Number of names up to the topmost created entry.
    pub(super) created: Option<usize>,
}

/// Writes to segments that are all names, and creates missing mappings; `None` if a node on the
/// path is not a mapping. A fast path for most substitutions, equivalent to the multiple walks of
/// [`Path::write`](super::Path::write).
pub(super) fn put_by_names(
    segments: &[Segment],
    data: &mut Node,
    value: &Node,
    made_at: Span,
) -> Option<CreatedEntry> {
    let names = segments.iter().filter_map(Segment::name);
    if !lead_through_mappings(names.clone(), data) {
        return None;
    }
    let mut created = None;
    let mut node = data;
    for (at, name) in names.enumerate() {
        let Value::Mapping(mapping) = &mut node.value else {
            unreachable!("all parents are mappings")
        };
        let make = || {
            // The value created for the last name is overwritten below.
            let is_last = at + 1 == segments.len();
            let new = if is_last {
                Value::Null
            } else {
                Value::Mapping(Arc::default())
            };
            (Key::string(name.clone(), made_at), Node::made(new, made_at))
        };
        let (_, next, was_there) = Mapping::to_change(mapping).get_or_insert_with(name, make);
        if !was_there && created.is_none() {
            created = Some(at + 1);
        }
        node = next;
    }
    *node = value.clone();
    Some(CreatedEntry { created })
}

/// Whether all existing parents of the last name are mappings.
fn lead_through_mappings<'n>(mut names: impl Iterator<Item = &'n SmolStr>, data: &Node) -> bool {
    let mut here = Some(data);
    names.all(|name| {
        let Some(node) = here else { return true };
        here = node.as_mapping().and_then(|mapping| mapping.get(&**name));
        node.as_mapping().is_some()
    })
}

/// Writes to all matches of `expressions`.
pub(super) fn update_tree(
    expressions: &[PathExpression],
    data: &mut Node,
    value: &Node,
    lists: ListWrite,
) -> Result<Vec<Location>, WalkError> {
    let whole = expressions.len() - 1;
    if matches!(expressions[whole], PathExpression::This) {
        *data = value.clone();
        return Ok(vec![Location::root()]);
    }
    // Written values are visited too.
    let values = Size::of(data)
        .nodes()
        .saturating_add(Size::of(value).nodes());
    let mut writer = PathWriter {
        walker: Walker::new(expressions, values),
        incoming: IncomingValue::new(value, lists),
        here: Vec::new(),
        written: Vec::new(),
        descent: 0,
    };
    // The copy shares everything with the data until it is written to, and is dropped on failure.
    let mut result = data.clone();
    writer.update(whole, &mut result)?;
    *data = result;
    Ok(writer.written)
}

/// Value to write: the elements of a list are popped one by one (10.5).
struct IncomingValue<'v> {
    value: &'v Node,
    lists: ListWrite,
    popped: usize,
}

impl<'v> IncomingValue<'v> {
    fn new(value: &'v Node, lists: ListWrite) -> Self {
        Self {
            value,
            lists,
            popped: 0,
        }
    }

    /// Value to store at `step`.
    fn take_for(&mut self, step: &DatumStep) -> Result<Node, WalkError> {
        match (step, self.lists) {
            (DatumStep::Index(_), ListWrite::Popped) => self.pop(),
            (DatumStep::Index(_), ListWrite::Whole) | (DatumStep::Start | DatumStep::Key(_), _) => {
                Ok(self.rest())
            }
        }
    }

    fn pop(&mut self) -> Result<Node, WalkError> {
        let next = match &self.value.value {
            Value::Sequence(items) => items.get(self.popped).cloned(),
            Value::Pairs(pairs) => pairs
                .get(self.popped)
                .map(|(left, right)| pair_as_list(self.value, left, right)),
            _ => return Ok(self.value.clone()),
        };
        self.popped += 1;
        next.ok_or(WalkError::OutOfElements)
    }

    /// Value without the popped elements.
    fn rest(&self) -> Node {
        let mut node = self.value.clone();
        if self.popped == 0 {
            return node;
        }
        match &mut node.value {
            Value::Sequence(items) => *items = Arc::new(items[self.popped..].to_vec().into()),
            Value::Pairs(pairs) => *pairs = pairs[self.popped..].into(),
            _ => {}
        }
        node
    }
}

/// Target in `node` for a write at `step`; `None` if jsonpath_ng silently ignores the write.
fn target(node: &Node, step: &DatumStep) -> Result<Option<Piece>, WalkError> {
    match step {
        DatumStep::Start => Ok(None),
        DatumStep::Key(key) => target_of_key(node, key),
        DatumStep::Index(index) => target_of_index(node, *index),
    }
}

/// Equivalent of Python's `key in node`, and then `node[key] = ...`.
fn target_of_key(node: &Node, key: &Key) -> Result<Option<Piece>, WalkError> {
    let refused = || WalkError::WriteInto {
        kind: node.value.kind(),
    };
    let contains = match &node.value {
        Value::Mapping(mapping) => {
            return Ok(mapping
                .get_entry(key)
                .map(|(key, _)| Piece::Key(key.clone())));
        }
        Value::Null | Value::Bool(_) | Value::Pairs(_) => false,
        Value::Sequence(items) => items
            .iter()
            .any(|item| item.value.equals_in_python(&key.value)),
        Value::Set(keys) => keys.contains(key),
        Value::String(text) => text.contains(key.as_str().ok_or_else(refused)?),
        Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_) => true,
    };
    if contains { Err(refused()) } else { Ok(None) }
}

/// Equivalent of Python's `len(node) > index`, and then `node[index] = ...`: in a mapping, this is
/// an entry with an integer key.
fn target_of_index(node: &Node, index: i64) -> Result<Option<Piece>, WalkError> {
    let refused = WalkError::WriteInto {
        kind: node.value.kind(),
    };
    let Some(length) = find::length(&node.value) else {
        return Err(refused);
    };
    if !find::is_within(index, length) {
        return Ok(None);
    }
    match &node.value {
        Value::Sequence(_) => Ok(Some(Piece::Index(find::resolve(index, length)?))),
        Value::Mapping(mapping) => {
            let key = Key {
                value: Value::Int(index),
                span: node.span,
            };
            let key = mapping.get_entry(&key).map_or(&key, |(key, _)| key).clone();
            Ok(Some(Piece::Key(key)))
        }
        _ => Err(refused),
    }
}

/// Stores `value` at `piece` of `node`. An existing key keeps its position and span.
fn store(node: &mut Node, piece: Piece, value: Node) {
    match (&mut node.value, piece) {
        (Value::Mapping(mapping), Piece::Key(key)) => {
            let mapping = Mapping::to_change(mapping);
            match key.as_str().and_then(|text| mapping.get_mut(text)) {
                Some(node) => *node = value,
                None => drop(mapping.insert(key, value)),
            }
        }
        (Value::Sequence(items), Piece::Index(index)) => Arc::make_mut(items)[index] = value,
        _ => unreachable!("`target` returns only keys of mappings and indexes of lists"),
    }
}

/// Writer for a path that is not plain.
struct PathWriter<'p, 'v> {
    walker: Walker<'p>,
    incoming: IncomingValue<'v>,
    /// Location of the current node.
    here: Vec<Piece>,
    written: Vec<Location>,
    descent: usize,
}

/// A match of the left side of `a.b`, in which `b` is updated.
struct UpdateTarget {
    location: Location,
    /// Copy of the matching node, if it may have been overwritten or is not part of the data.
    original: Option<Node>,
    is_place: bool,
}

impl PathWriter<'_, '_> {
    /// Updates the expression at `at` in `node`, and returns whether it changed.
    fn update(&mut self, at: usize, node: &mut Node) -> Result<bool, WalkError> {
        match &self.walker.expressions[at] {
            // Inside a path, these are silently ignored.
            PathExpression::Root | PathExpression::This => Ok(false),
            PathExpression::Parent => Err(WalkError::UnsupportedOperator("parent")),
            PathExpression::Step(Segment::Name(name)) => {
                self.names(std::slice::from_ref(name), node)
            }
            PathExpression::Step(Segment::Index(index)) => {
                self.indexes(std::slice::from_ref(index), node)
            }
            PathExpression::Names(names) => self.names(names, node),
            PathExpression::AnyName => self.any_name(node),
            PathExpression::Indexes(indexes) => self.indexes(indexes, node),
            PathExpression::Slice(_) => self.last_steps(at, node),
            PathExpression::Operation(operator, left) => match operator {
                PathOperator::Child => self.children(*left, at - 1, node),
                PathOperator::Descendants => self.descendants(*left, at - 1, node),
                PathOperator::Where | PathOperator::WhereNot => self.last_steps(at, node),
                PathOperator::Union => Err(WalkError::UnsupportedOperator("|")),
                PathOperator::Intersection => Err(WalkError::UnsupportedOperator("&")),
            },
        }
    }

    fn names(&mut self, names: &[SmolStr], node: &mut Node) -> Result<bool, WalkError> {
        let mut changed = false;
        for name in names {
            let key = Key::string(name.clone(), self.incoming.value.span);
            changed |= self.put(&DatumStep::Key(key), node)?;
        }
        Ok(changed)
    }

    fn any_name(&mut self, node: &mut Node) -> Result<bool, WalkError> {
        let Value::Mapping(mapping) = &node.value else {
            return Ok(false);
        };
        let keys: Vec<Key> = mapping.keys().cloned().collect();
        let mut changed = false;
        for key in keys {
            changed |= self.put(&DatumStep::Key(key), node)?;
        }
        Ok(changed)
    }

    fn indexes(&mut self, indexes: &[i64], node: &mut Node) -> Result<bool, WalkError> {
        let mut changed = false;
        for index in indexes {
            changed |= self.put(&DatumStep::Index(*index), node)?;
        }
        Ok(changed)
    }

    /// Slices and `where` write at the last step of each match, directly in the start node,
    /// regardless of the steps before it.
    fn last_steps(&mut self, at: usize, node: &mut Node) -> Result<bool, WalkError> {
        let found = self.walker.find(at, node)?;
        let steps: Vec<DatumStep> = found
            .iter()
            .map(|datum| Ok(datum.valued()?.step.clone()))
            .collect::<Result<_, WalkError>>()?;
        drop(found);
        let mut changed = false;
        for step in steps {
            changed |= match &step {
                // A key `*` is treated as the wildcard.
                DatumStep::Key(key) if key.as_str() == Some("*") => self.any_name(node)?,
                DatumStep::Start | DatumStep::Key(_) | DatumStep::Index(_) => {
                    self.put(&step, node)?
                }
            };
        }
        Ok(changed)
    }

    fn put(&mut self, step: &DatumStep, node: &mut Node) -> Result<bool, WalkError> {
        self.walker.visit()?;
        let Some(piece) = target(node, step)? else {
            return Ok(false);
        };
        let value = self.incoming.take_for(step)?;
        self.written
            .push(Location(self.here.clone()).join(piece.clone()));
        store(node, piece, value);
        Ok(true)
    }

    /// `a.b`: updates `b` in every match of `a`.
    fn children(&mut self, left: usize, right: usize, node: &mut Node) -> Result<bool, WalkError> {
        self.in_targets(left, node, |writer, node| writer.update(right, node))
    }

    /// `a..b`: updates `b` in every match of `a` and in all its descendants, including values just
    /// written.
    fn descendants(
        &mut self,
        left: usize,
        right: usize,
        node: &mut Node,
    ) -> Result<bool, WalkError> {
        self.in_targets(left, node, |writer, node| writer.descend(right, node))
    }

    /// Runs `change` on every match of the expression at `left`; matches are determined before the
    /// first change.
    fn in_targets(
        &mut self,
        left: usize,
        node: &mut Node,
        change: impl Fn(&mut Self, &mut Node) -> Result<bool, WalkError>,
    ) -> Result<bool, WalkError> {
        let mut noted = self.written.len();
        let mut overwritten = HashSet::new();
        let mut changed = false;
        for target in self.targets(left, node)? {
            let mut location = self.here.clone();
            location.extend_from_slice(&target.location.0);
            let gone = (0..=location.len()).any(|end| overwritten.contains(&location[..end]));
            if gone || !target.is_place {
                // The change does not affect the data, but may fail.
                let before = self.written.len();
                let mut aside = target.original.expect("overwritten matches are copied");
                change(self, &mut aside)?;
                self.written.truncate(before);
                continue;
            }
            drop(target.original);
            changed |= self.at(&target.location, node, &change)?;
            overwritten.extend(self.written[noted..].iter().map(|place| place.0.clone()));
            noted = self.written.len();
        }
        Ok(changed)
    }

    fn targets(&self, left: usize, node: &Node) -> Result<Vec<UpdateTarget>, WalkError> {
        let found = self.walker.find(left, node)?;
        let several = found.len() > 1;
        let to_target = |datum: &Datum<'_>| UpdateTarget {
            location: datum.location(),
            original: (several || !datum.is_place()).then(|| datum.node.as_ref().clone()),
            is_place: datum.is_place(),
        };
        found
            .iter()
            .map(|datum| Ok(to_target(datum.valued()?)))
            .collect()
    }

    fn descend(&mut self, right: usize, node: &mut Node) -> Result<bool, WalkError> {
        self.walker.visit()?;
        if !matches!(
            node.value,
            Value::Sequence(_) | Value::Mapping(_) | Value::Pairs(_)
        ) {
            return Ok(false);
        }
        if self.descent == MAX_DESCENT {
            return Err(WalkError::EndlessDescent);
        }
        self.descent += 1;
        let mut changed = self.update(right, node)?;
        let mut at = 0;
        while let Some(piece) = nth_piece(node, at) {
            let below = Location(vec![piece]);
            changed |= self.at(&below, node, |writer, node| writer.descend(right, node))?;
            at += 1;
        }
        self.descent -= 1;
        Ok(changed)
    }

    /// Runs `change` on a clone of the node at `place`, which replaces the node only if it changed,
    /// to avoid needless copies.
    fn at(
        &mut self,
        place: &Location,
        node: &mut Node,
        change: impl FnOnce(&mut Self, &mut Node) -> Result<bool, WalkError>,
    ) -> Result<bool, WalkError> {
        let Some(found) = place.get(node) else {
            return Ok(false);
        };
        let mut copy = found.clone();
        let depth = self.here.len();
        self.here.extend_from_slice(&place.0);
        let changed = change(self, &mut copy)?;
        self.here.truncate(depth);
        if changed {
            *place.get_mut(node).expect("the location exists") = copy;
        }
        Ok(changed)
    }
}

/// Piece for the child at position `at` of a mapping or list.
fn nth_piece(node: &Node, at: usize) -> Option<Piece> {
    match &node.value {
        Value::Mapping(mapping) => mapping.keys().nth(at).cloned().map(Piece::Key),
        Value::Sequence(items) => (at < items.len()).then_some(Piece::Index(at)),
        _ => None,
    }
}
