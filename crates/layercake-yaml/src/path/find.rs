//! Evaluation of paths for reading (10.4).

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use layercake_source::Span;
use smol_str::SmolStr;

use super::parse::{PathExpression, PathOperator, Slice};
use super::{
    Location, MAX_MATCHES, MAX_VISITS, MAX_VISITS_PER_VALUE, MIN_VISITS, Match, Piece, Segment,
    WalkError, pair_as_list,
};
use crate::{Key, Mapping, Node, Origin, Size, Value};

/// The only location that a plain path can match.
pub(super) fn find_plain<'a>(
    segments: &[Segment],
    data: &'a Node,
) -> Result<Option<Match<'a>>, WalkError> {
    let mut node = Cow::Borrowed(data);
    let mut pieces = Vec::with_capacity(segments.len());
    for segment in segments {
        let (piece, next) = match segment {
            Segment::Name(name) => {
                let Some((key, next)) = entry(&node, name) else {
                    return Ok(None);
                };
                (Piece::Key(key.clone()), next)
            }
            Segment::Index(index) => match element(&node, *index)? {
                Some((piece, next)) => (piece, next),
                None => return Ok(None),
            },
        };
        pieces.push(piece);
        node = next;
    }
    Ok(Some(Match {
        node,
        location: Location(pieces),
    }))
}

/// Value at a sequence of names, if it exists; `None` for indexes.
pub(super) fn named<'a>(segments: &[Segment], data: &'a Node) -> Option<&'a Node> {
    segments
        .iter()
        .try_fold(data, |node, segment| match segment {
            Segment::Name(name) => node.as_mapping()?.get(&**name),
            Segment::Index(_) => None,
        })
}

/// All matches of `expressions`, in postfix order.
pub(super) fn find_tree<'a>(
    expressions: &[PathExpression],
    data: &'a Node,
) -> Result<Vec<Match<'a>>, WalkError> {
    let data =
        Walker::new(expressions, Size::of(data).nodes()).find(expressions.len() - 1, data)?;
    data.iter()
        .map(|datum| Ok(datum.valued()?.to_match()))
        .collect()
}

/// Value at a string key, with the key as written in the data.
fn entry<'a, 'n>(node: &'n Cow<'a, Node>, name: &str) -> Option<(&'n Key, Cow<'a, Node>)> {
    match node {
        Cow::Borrowed(node) => {
            let (key, next) = node.as_mapping()?.get_entry(name)?;
            Some((key, Cow::Borrowed(next)))
        }
        Cow::Owned(node) => {
            let (key, next) = node.as_mapping()?.get_entry(name)?;
            Some((key, Cow::Owned(next.clone())))
        }
    }
}

/// Equivalent of Python's `value[index]` after jsonpath_ng's check of the length, with the piece of
/// its location: in a mapping, this is a key.
fn element<'a>(
    node: &Cow<'a, Node>,
    index: i64,
) -> Result<Option<(Piece, Cow<'a, Node>)>, WalkError> {
    if node.value.is_falsy() {
        return Ok(None);
    }
    let Some(length) = length(&node.value) else {
        return Err(WalkError::IndexInto {
            kind: node.value.kind(),
        });
    };
    if !is_within(index, length) {
        return Ok(None);
    }
    if let Value::Mapping(mapping) = &node.value {
        let key = Key {
            value: Value::Int(index),
            span: node.span,
        };
        let Some((key, _)) = mapping.get_entry(&key) else {
            return Err(WalkError::IndexIntoMapping { index });
        };
        let key = key.clone();
        let child = select(node, |node| node.as_mapping()?.get(&key));
        return Ok(child.map(|child| (Piece::Key(key), child)));
    }
    if let Value::Set(_) = &node.value {
        return Err(WalkError::IndexInto {
            kind: node.value.kind(),
        });
    }
    let at = resolve(index, length)?;
    Ok(item(node, at).map(|item| (Piece::Index(at), item)))
}

/// Whether jsonpath_ng accesses the element: its check accepts every negative index.
pub(super) fn is_within(index: i64, length: usize) -> bool {
    usize::try_from(index).map_or(true, |index| index < length)
}

/// Position from the front for `index`.
pub(super) fn resolve(index: i64, length: usize) -> Result<usize, WalkError> {
    let before_start = WalkError::BeforeStart { index, length };
    match usize::try_from(index) {
        Ok(index) => Ok(index),
        Err(_) => {
            let from_end = usize::try_from(index.unsigned_abs()).ok();
            from_end
                .and_then(|from_end| length.checked_sub(from_end))
                .ok_or(before_start)
        }
    }
}

/// Equivalent of Python's `len`, if the value has a length.
pub(super) fn length(value: &Value) -> Option<usize> {
    match value {
        Value::Sequence(items) => Some(items.len()),
        Value::Pairs(pairs) => Some(pairs.len()),
        Value::Mapping(mapping) => Some(mapping.len()),
        Value::Set(keys) => Some(keys.len()),
        Value::String(text) => Some(text.chars().count()),
        Value::Binary(bytes) => Some(bytes.len()),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_) => None,
    }
}

/// Element at position `at` of a list, pairs, a string (characters) or binary data (bytes).
fn item<'a>(node: &Cow<'a, Node>, at: usize) -> Option<Cow<'a, Node>> {
    let made = |value| Node {
        value,
        span: node.span,
        secret: node.secret,
        origin: Origin::Derived,
    };
    match &node.value {
        Value::Sequence(_) => select(node, |node| node.as_sequence()?.get(at)),
        Value::Pairs(pairs) => {
            let (left, right) = pairs.get(at)?;
            Some(Cow::Owned(pair_as_list(node, left, right)))
        }
        Value::String(text) => {
            let character = text.chars().nth(at)?;
            Some(Cow::Owned(made(Value::String(
                character.to_string().into(),
            ))))
        }
        Value::Binary(bytes) => Some(Cow::Owned(made(Value::Int(i64::from(*bytes.get(at)?))))),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Set(_)
        | Value::Mapping(_) => None,
    }
}

/// Selects a node inside `node`: borrowed if `node` is.
fn select<'a>(
    node: &Cow<'a, Node>,
    pick: impl for<'n> Fn(&'n Node) -> Option<&'n Node>,
) -> Option<Cow<'a, Node>> {
    match node {
        Cow::Borrowed(node) => pick(node).map(Cow::Borrowed),
        Cow::Owned(node) => pick(node).cloned().map(Cow::Owned),
    }
}

/// A value found by a walk, with its path: jsonpath_ng's `DatumInContext`.
#[derive(Debug)]
pub(super) struct Datum<'a> {
    /// Value; owned if it is not a node of the data.
    pub(super) node: Cow<'a, Node>,
    pub(super) step: DatumStep,
    context: Option<Rc<Datum<'a>>>,
    role: DatumRole,
    /// Whether the step is not part of the location, because its parent is a list created by a
    /// slice.
    idle_step: bool,
}

/// Last step to a value.
#[derive(Clone, Debug)]
pub(super) enum DatumStep {
    /// Start of the walk.
    Start,
    Key(Key),
    Index(i64),
}

/// Role of a datum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DatumRole {
    /// A normal value.
    Value,
    /// A value that a slice treats as a list of itself.
    Wrapped,
    /// Parent of the root: jsonpath_ng's `None`, which fails only when its value is accessed.
    AboveRoot,
}

impl<'a> Datum<'a> {
    fn start(node: Cow<'a, Node>) -> Rc<Self> {
        let step = DatumStep::Start;
        let role = DatumRole::Value;
        Rc::new(Self {
            node,
            step,
            context: None,
            role,
            idle_step: false,
        })
    }

    fn above_root(span: Span) -> Rc<Self> {
        let node = Cow::Owned(Node::made(Value::Null, span));
        let step = DatumStep::Start;
        let role = DatumRole::AboveRoot;
        Rc::new(Self {
            node,
            step,
            context: None,
            role,
            idle_step: false,
        })
    }

    /// The datum itself; an error for the parent of the root.
    pub(super) fn valued(&self) -> Result<&Self, WalkError> {
        match self.role {
            DatumRole::Value | DatumRole::Wrapped => Ok(self),
            DatumRole::AboveRoot => Err(WalkError::NoParent),
        }
    }

    /// Whether the node is part of the data, so that it can be written to.
    pub(super) fn is_place(&self) -> bool {
        matches!(self.node, Cow::Borrowed(_))
    }

    fn to_match(&self) -> Match<'a> {
        Match {
            node: self.node.clone(),
            location: self.location(),
        }
    }

    /// Location relative to the start of the walk.
    pub(super) fn location(&self) -> Location {
        let mut pieces = Vec::new();
        let mut datum = self;
        while let Some(context) = &datum.context {
            match &datum.step {
                _ if datum.idle_step => {}
                DatumStep::Start => {}
                DatumStep::Key(key) => pieces.push(Piece::Key(key.clone())),
                DatumStep::Index(index) => {
                    let length = length(&context.node.value).unwrap_or(0);
                    pieces.push(Piece::Index(resolve(*index, length).unwrap_or(0)));
                }
            }
            datum = context;
        }
        pieces.reverse();
        Location(pieces)
    }
}

/// Matches of an expression, in order.
pub(super) type FoundData<'a> = Vec<Rc<Datum<'a>>>;

/// Evaluator for the expressions of one path.
pub(super) struct Walker<'p> {
    pub(super) expressions: &'p [PathExpression],
    matches: Cell<usize>,
    visits: Cell<usize>,
    max_visits: usize,
}

impl<'p> Walker<'p> {
    /// Creates an evaluator for data with this number of values.
    pub(super) fn new(expressions: &'p [PathExpression], values: u64) -> Self {
        let values = usize::try_from(values).unwrap_or(usize::MAX);
        let max_visits = values
            .saturating_mul(MAX_VISITS_PER_VALUE)
            .clamp(MIN_VISITS, MAX_VISITS);
        Self {
            expressions,
            matches: Cell::new(0),
            visits: Cell::new(0),
            max_visits,
        }
    }

    /// Matches of the expression at `at` in `data`.
    pub(super) fn find<'a>(&self, at: usize, data: &'a Node) -> Result<FoundData<'a>, WalkError> {
        self.walk(at, &Datum::start(Cow::Borrowed(data)))
    }

    /// Counts a visit.
    pub(super) fn visit(&self) -> Result<(), WalkError> {
        let visits = self.visits.get() + 1;
        let limit = self.max_visits;
        self.visits.set(visits);
        if visits > limit {
            Err(WalkError::TooManyVisits { limit })
        } else {
            Ok(())
        }
    }

    fn walk<'a>(&self, at: usize, datum: &Rc<Datum<'a>>) -> Result<FoundData<'a>, WalkError> {
        self.visit()?;
        match &self.expressions[at] {
            PathExpression::Root => Ok(vec![root_of(datum)]),
            PathExpression::This if datum.role == DatumRole::AboveRoot => {
                Ok(vec![Datum::start(datum.node.clone())])
            }
            PathExpression::This => Ok(vec![Rc::clone(datum)]),
            PathExpression::Parent => Ok(vec![match &datum.context {
                Some(context) => Rc::clone(context),
                None => Datum::above_root(datum.node.span),
            }]),
            PathExpression::Step(Segment::Name(name)) => {
                self.names(std::slice::from_ref(name), datum)
            }
            PathExpression::Step(Segment::Index(index)) => {
                self.indexes(std::slice::from_ref(index), datum)
            }
            PathExpression::Names(names) => self.names(names, datum),
            PathExpression::AnyName => self.any_name(datum),
            PathExpression::Indexes(indexes) => self.indexes(indexes, datum),
            PathExpression::Slice(slice) => self.slice(*slice, datum),
            PathExpression::Operation(operator, left) => {
                self.operation(*operator, *left, at, datum)
            }
        }
    }

    fn operation<'a>(
        &self,
        operator: PathOperator,
        left: usize,
        at: usize,
        datum: &Rc<Datum<'a>>,
    ) -> Result<FoundData<'a>, WalkError> {
        let right = at - 1;
        match operator {
            PathOperator::Child => self.children(at, datum),
            PathOperator::Descendants => {
                let mut found = Vec::new();
                for top in self.walk(left, datum)? {
                    self.descend(right, top, &mut found)?;
                }
                Ok(found)
            }
            PathOperator::Union => {
                let mut found = self.walk(left, datum)?;
                found.extend(self.walk(right, datum)?);
                Ok(found)
            }
            PathOperator::Intersection => Err(WalkError::UnsupportedOperator("&")),
            PathOperator::Where | PathOperator::WhereNot => {
                let wanted = operator == PathOperator::Where;
                let mut found = Vec::new();
                for candidate in self.walk(left, datum)? {
                    let has = !self.walk(right, &candidate)?.is_empty();
                    if has == wanted {
                        found.push(candidate);
                    }
                }
                Ok(found)
            }
        }
    }

    /// Evaluates `a.b.c` with a loop over the right sides, because there may be many left sides.
    fn children<'a>(&self, at: usize, datum: &Rc<Datum<'a>>) -> Result<FoundData<'a>, WalkError> {
        let mut rights = Vec::new();
        let mut first = at;
        while let PathExpression::Operation(PathOperator::Child, left) = &self.expressions[first] {
            rights.push(first - 1);
            first = *left;
        }
        let mut found = self.walk(first, datum)?;
        for right in rights.into_iter().rev() {
            let mut next = Vec::new();
            for datum in &found {
                next.extend(self.walk(right, datum)?);
            }
            found = next;
        }
        Ok(found)
    }

    /// Evaluates the expression at `right` for `top` and then for all descendants, depth first.
    /// `..` descends only into lists and mappings.
    fn descend<'a>(
        &self,
        right: usize,
        top: Rc<Datum<'a>>,
        found: &mut FoundData<'a>,
    ) -> Result<(), WalkError> {
        let mut waiting = vec![top];
        while let Some(datum) = waiting.pop() {
            found.extend(self.walk(right, &datum)?);
            let below = waiting.len();
            match &datum.valued()?.node.value {
                Value::Mapping(mapping) => waiting.extend(entries(&datum, mapping)),
                Value::Sequence(items) => {
                    waiting.extend((0..items.len()).filter_map(|at| inside(&datum, at)));
                }
                Value::Pairs(pairs) => {
                    // Tuples are visited, but not descended into.
                    for pair in (0..pairs.len()).filter_map(|at| inside(&datum, at)) {
                        found.extend(self.walk(right, &pair)?);
                    }
                }
                Value::Null
                | Value::Bool(_)
                | Value::Int(_)
                | Value::BigInt(_)
                | Value::Float(_)
                | Value::Date(_)
                | Value::Timestamp(_)
                | Value::Binary(_)
                | Value::Set(_)
                | Value::String(_) => {}
            }
            waiting[below..].reverse();
        }
        Ok(())
    }

    fn names<'a>(
        &self,
        names: &[SmolStr],
        datum: &Rc<Datum<'a>>,
    ) -> Result<FoundData<'a>, WalkError> {
        let mut found = Vec::new();
        for name in names {
            let Some((key, node)) = entry(&datum.node, name) else {
                continue;
            };
            count(&self.matches)?;
            found.push(below(datum, DatumStep::Key(key.clone()), node));
        }
        Ok(found)
    }

    fn any_name<'a>(&self, datum: &Rc<Datum<'a>>) -> Result<FoundData<'a>, WalkError> {
        let Value::Mapping(mapping) = &datum.node.value else {
            return Ok(Vec::new());
        };
        count_many(&self.matches, mapping.len())?;
        Ok(entries(datum, mapping).collect())
    }

    fn indexes<'a>(
        &self,
        indexes: &[i64],
        datum: &Rc<Datum<'a>>,
    ) -> Result<FoundData<'a>, WalkError> {
        let mut found = Vec::new();
        for index in indexes {
            let Some((piece, node)) = element(&datum.node, *index)? else {
                continue;
            };
            count(&self.matches)?;
            found.push(match piece {
                Piece::Key(key) => below(datum, DatumStep::Key(key), node),
                Piece::Index(_) => below(datum, DatumStep::Index(*index), node),
            });
        }
        Ok(found)
    }

    fn slice<'a>(&self, slice: Slice, datum: &Rc<Datum<'a>>) -> Result<FoundData<'a>, WalkError> {
        let node = &datum.node;
        let refused = WalkError::SliceOf {
            kind: node.value.kind(),
        };
        let length = match &node.value {
            Value::Null => return Ok(Vec::new()),
            Value::Mapping(_)
            | Value::Bool(_)
            | Value::Int(_)
            | Value::BigInt(_)
            | Value::Float(_)
            | Value::String(_) => return self.slice_of_one(slice, datum),
            Value::Sequence(_) | Value::Pairs(_) | Value::Binary(_) | Value::Set(_) => {
                length(&node.value)
            }
            Value::Date(_) | Value::Timestamp(_) => None,
        };
        let positions = slice.positions(length.ok_or_else(|| refused.clone())?)?;
        if matches!(node.value, Value::Set(_)) && !positions.is_empty() {
            return Err(refused);
        }
        count_many(&self.matches, positions.len())?;
        Ok(positions
            .into_iter()
            .filter_map(|at| inside(datum, at))
            .collect())
    }

    /// A mapping or scalar is treated as a list of itself.
    fn slice_of_one<'a>(
        &self,
        slice: Slice,
        datum: &Rc<Datum<'a>>,
    ) -> Result<FoundData<'a>, WalkError> {
        if slice.positions(1)?.is_empty() {
            return Ok(Vec::new());
        }
        count(&self.matches)?;
        let node = &datum.node;
        let list = Value::from(vec![node.as_ref().clone()]);
        let list = Node {
            value: list,
            span: node.span,
            secret: node.secret,
            origin: Origin::Derived,
        };
        let wrapped = Rc::new(Datum {
            node: Cow::Owned(list),
            step: datum.step.clone(),
            context: datum.context.clone(),
            role: DatumRole::Wrapped,
            idle_step: datum.idle_step,
        });
        Ok(vec![below(&wrapped, DatumStep::Index(0), node.clone())])
    }
}

impl Slice {
    /// Positions in Python's `range(length)[start:end:step]`.
    fn positions(self, length: usize) -> Result<Vec<usize>, WalkError> {
        let step = self.step.unwrap_or(1);
        if step == 0 {
            return Err(WalkError::ZeroStep);
        }
        let length = i64::try_from(length).expect("lists are much smaller");
        let (lowest, highest) = if step > 0 {
            (0, length)
        } else {
            (-1, length - 1)
        };
        let bound = |given: Option<i64>, otherwise: i64| match given {
            None => otherwise,
            Some(given) if given < 0 => given.saturating_add(length).max(lowest),
            Some(given) => given.min(highest),
        };
        let (first, end) = if step > 0 {
            (bound(self.start, lowest), bound(self.end, highest))
        } else {
            (bound(self.start, highest), bound(self.end, lowest))
        };
        let positions = std::iter::successors(Some(first), |at| at.checked_add(step))
            .take_while(|at| if step > 0 { *at < end } else { *at > end });
        Ok(positions
            .map(|at| usize::try_from(at).expect("the bounds are not negative"))
            .collect())
    }
}

/// Creates a datum for `node` at `step` below `context`.
fn below<'a>(context: &Rc<Datum<'a>>, step: DatumStep, node: Cow<'a, Node>) -> Rc<Datum<'a>> {
    let idle_step = context.role == DatumRole::Wrapped;
    Rc::new(Datum {
        node,
        step,
        context: Some(Rc::clone(context)),
        role: DatumRole::Value,
        idle_step,
    })
}

/// Creates a datum for the element at position `at`.
fn inside<'a>(context: &Rc<Datum<'a>>, at: usize) -> Option<Rc<Datum<'a>>> {
    let step = DatumStep::Index(i64::try_from(at).expect("lists are much smaller"));
    Some(below(context, step, item(&context.node, at)?))
}

/// All values of `mapping`, the value of `datum`.
fn entries<'a, 'n>(
    datum: &'n Rc<Datum<'a>>,
    mapping: &'n Mapping,
) -> Box<dyn Iterator<Item = Rc<Datum<'a>>> + 'n> {
    match &datum.node {
        Cow::Borrowed(Node {
            value: Value::Mapping(mapping),
            ..
        }) => {
            let entries = mapping.iter();
            Box::new(
                entries.map(|(key, node)| {
                    below(datum, DatumStep::Key(key.clone()), Cow::Borrowed(node))
                }),
            )
        }
        Cow::Borrowed(_) | Cow::Owned(_) => {
            let entries = mapping.iter();
            Box::new(entries.map(|(key, node)| {
                below(datum, DatumStep::Key(key.clone()), Cow::Owned(node.clone()))
            }))
        }
    }
}

/// Start of the walk to `datum`. jsonpath_ng stops at the list that a slice creates from a root
/// that is not a list.
fn root_of<'a>(datum: &Rc<Datum<'a>>) -> Rc<Datum<'a>> {
    let mut top = datum;
    while let Some(context) = &top.context {
        top = context;
    }
    Datum::start(top.node.clone())
}

fn count(matches: &Cell<usize>) -> Result<(), WalkError> {
    count_many(matches, 1)
}

fn count_many(matches: &Cell<usize>, more: usize) -> Result<(), WalkError> {
    let counted = matches.get().saturating_add(more);
    matches.set(counted);
    if counted > MAX_MATCHES {
        Err(WalkError::TooManyMatches)
    } else {
        Ok(())
    }
}
