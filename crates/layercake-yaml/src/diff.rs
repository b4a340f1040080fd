//! Differences between two values, by location.
//!
//! A single walk over both values finds each [`Difference`], and the [`Variants`], which are values
//! with only some of the differences. Order of keys and spans are ignored.
//!
//! Items of lists are matched by identity if possible: a `name`, an `id`, or another configured key
//! ([`ListKeys`]); other items are matched by equality, then by similarity. An inserted item is one
//! difference, and so is a different order of items with an identity ([`DifferenceKind::Order`]). A secret is compared
//! as a whole, so that not even its keys are revealed, and is never an identity.
//!
//! Values are shared, and a small text can expand to millions of them. Listed differences are
//! therefore bounded ([`MAX_DIFFERENCES`]), and shared values are compared and counted once
//! (`Pairs`).

mod subsequence;
mod variants;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;
use std::marker::PhantomData;
use std::mem::discriminant;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use globset::GlobMatcher;
use layercake_source::Span;

pub use self::variants::Variants;

use self::variants::Part;
use super::PlaceQuery;
use super::path::{Item, Location, Piece, child};
use super::{Key, Mapping, Node, Sequence, Size, Value, emit};

/// A difference between two values at one location; at least one side has a value there.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Kind of the difference.
    pub kind: DifferenceKind,
    /// Value on the base side.
    pub base: Option<DiffPlace>,
    /// Value on the head side.
    pub head: Option<DiffPlace>,
    /// Keyed list items on the path to the location.
    pub items: Vec<Item>,
    /// Number of differing locations inside that are not listed separately; zero if all are.
    pub unlisted: u64,
    /// Number of values in the mappings and lists that are removed at these locations.
    unlisted_removals: u64,
}

/// Kind of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DifferenceKind {
    /// The value, which may exist on only one side.
    Value,
    /// The order of the items that both lists contain. The nodes of both sides contain the values
    /// of `key` of these items, in order; other differences in the list are separate.
    Order {
        /// Key that identifies the items.
        key: Arc<str>,
        /// Indexes of these items in the base list and in the head list.
        indexes: [Vec<usize>; 2],
    },
}

/// Maximum number of listed differences between two values. Above it, the limit is divided equally
/// among the differing parts of each mapping or list, and a part that exceeds its share is a single
/// difference.
pub const MAX_DIFFERENCES: u64 = 10_000;

/// A node with its location on one side.
#[derive(Clone, Debug)]
pub struct DiffPlace {
    /// Location, with the indexes of this side.
    pub location: Location,
    /// Span of its key, if it exists only on one side.
    pub key: Option<Span>,
    /// Node at the location.
    pub node: Node,
}

impl Difference {
    /// Creates the difference of values, all of whose parts it includes.
    pub fn value(base: Option<DiffPlace>, head: Option<DiffPlace>) -> Self {
        let kind = DifferenceKind::Value;
        Self {
            kind,
            base,
            head,
            items: Vec::new(),
            unlisted: 0,
            unlisted_removals: 0,
        }
    }

    /// Number of scalars and empty collections that are removed without a replacement, with those
    /// at locations that are not listed. A secret counts as one value.
    pub fn removed(&self) -> u64 {
        match (&self.base, &self.head) {
            (Some(base), None) => Leaves::default().of(&base.node),
            (_, _) => self.unlisted_removals,
        }
    }

    /// Location on the head side or, if the value was removed, on the base side.
    pub fn location(&self) -> &Location {
        let place = self.head.as_ref().or(self.base.as_ref());
        &place.expect("a difference has a side").location
    }

    /// Whether one of the sides is secret, so that neither may be displayed.
    pub fn is_secret(&self) -> bool {
        self.base
            .iter()
            .chain(&self.head)
            .any(|place| place.node.secret)
    }
}

/// Keys that identify items of lists.
#[derive(Clone, Debug)]
pub struct ListKeys {
    keys: Vec<String>,
    /// Keys for some lists of some documents.
    special: Vec<SpecialKey>,
    /// Special keys of the current document, which have precedence.
    here: Vec<SpecialKey>,
    /// Whether the compared values are whole documents with `data` inside.
    has_envelope: bool,
    /// Place of the compared values in the document data.
    within: Location,
}

/// Key that identifies the items of some lists.
#[derive(Clone, Debug)]
pub struct SpecialKey {
    /// Schemas of the documents.
    pub schema: GlobMatcher,
    /// Lists in the document data.
    pub path: PlaceQuery,
    /// Name of the identifying key.
    pub key: String,
}

impl Default for ListKeys {
    fn default() -> Self {
        Self::with([])
    }
}

impl ListKeys {
    /// Creates keys from `further`, followed by `name` and `id`.
    pub fn with<'a>(further: impl IntoIterator<Item = &'a str>) -> Self {
        let keys = further
            .into_iter()
            .chain(["name", "id"])
            .map(str::to_owned)
            .collect();
        let within = Location::root();
        Self {
            keys,
            special: Vec::new(),
            here: Vec::new(),
            has_envelope: false,
            within,
        }
    }

    /// Adds special keys, which have precedence in some lists.
    #[must_use]
    pub fn with_special(mut self, special: Vec<SpecialKey>) -> Self {
        self.special = special;
        self
    }

    /// Keys for the data of documents of `schema`.
    #[must_use]
    pub fn of_schema(&self, schema: &str) -> Cow<'_, Self> {
        let here: Vec<SpecialKey> = self
            .special
            .iter()
            .filter(|key| key.schema.is_match(schema))
            .cloned()
            .collect();
        if here.is_empty() {
            return Cow::Borrowed(self);
        }
        let keys = self.keys.clone();
        let within = Location::root();
        Cow::Owned(Self {
            keys,
            special: Vec::new(),
            here,
            has_envelope: false,
            within,
        })
    }

    /// Keys for the values at `place` in the data of documents of `schema`.
    #[must_use]
    pub fn of_value(&self, schema: &str, place: Location) -> Self {
        Self {
            within: place,
            ..self.of_schema(schema).into_owned()
        }
    }

    /// Keys for whole documents of `schema`.
    #[must_use]
    pub fn of_document(&self, schema: &str) -> Cow<'_, Self> {
        match self.of_schema(schema) {
            Cow::Owned(keys) => Cow::Owned(Self {
                has_envelope: true,
                ..keys
            }),
            all @ Cow::Borrowed(_) => all,
        }
    }

    /// Keys for the list at `place`, by precedence.
    fn at<'k, 'p>(&'k self, place: &'p Location) -> impl Iterator<Item = &'k str> + use<'k, 'p> {
        let envelope = usize::from(self.has_envelope);
        let is_data = place
            .0
            .first()
            .is_some_and(|piece| piece.as_text() == Some("data"));
        let here = self.here.iter().filter(move |key| match envelope {
            0 => key.path.leads_to(&self.within.joined(place)),
            _ => is_data && key.path.leads_to(&Location(place.0[envelope..].to_vec())),
        });
        here.map(|key| &*key.key)
            .chain(self.keys.iter().map(String::as_str))
    }
}

/// Side to take for a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffSide {
    /// Value of the base.
    Base,
    /// Value of the head.
    Head,
}

/// All differences between `base` and `head`, in the order of the head; removed values come before
/// the one that followed them.
pub fn differences(base: &Node, head: &Node, keys: &ListKeys) -> Vec<Difference> {
    DiffMemo::default().differences(base, head, keys, MAX_DIFFERENCES)
}

/// Like [`differences`], with the values that have only some of them.
pub fn variants(base: &Node, head: &Node, keys: &ListKeys) -> (Vec<Difference>, Variants) {
    let mut pairs = Pairs::default();
    let (found, root) = DiffWalk::new(keys, &mut pairs).all(base, head, MAX_DIFFERENCES);
    (found, Variants(root))
}

/// Comparisons of values that share parts: each pair of shared parts is compared once.
#[derive(Default)]
pub struct DiffMemo<'n>(Pairs, PhantomData<&'n Node>);

impl<'n> DiffMemo<'n> {
    /// Like [`differences`], with a maximum number of listed ones.
    pub fn differences(
        &mut self,
        base: &'n Node,
        head: &'n Node,
        keys: &ListKeys,
        most: u64,
    ) -> Vec<Difference> {
        DiffWalk::new(keys, &mut self.0).all(base, head, most).0
    }

    /// Number of differing locations.
    pub fn count(&mut self, base: &'n Node, head: &'n Node, keys: &ListKeys) -> u64 {
        if self.0.same(base, head) {
            return 0;
        }
        DiffWalk::new(keys, &mut self.0).places(base, head).count
    }
}

/// Mapping from head locations to the base locations that [`differences`] compares them with.
pub struct Counterparts<'a> {
    base: &'a Node,
    head: &'a Node,
    keys: &'a ListKeys,
    pairs: Pairs,
    /// For two lists, by their addresses: the base index for each head index.
    indexes: NodePairMap<Option<Arc<[Option<usize>]>>>,
    /// Steps to the last queried location; the next query is often nearby.
    steps: Vec<CounterpartStep<'a>>,
}

/// A step inside of two values.
struct CounterpartStep<'a> {
    of_head: Piece,
    of_base: Piece,
    head: &'a Node,
    base: &'a Node,
}

impl<'a> Counterparts<'a> {
    /// Creates the mapping for two values.
    pub fn new(base: &'a Node, head: &'a Node, keys: &'a ListKeys) -> Self {
        let pairs = Pairs::default();
        let indexes = NodePairMap::default();
        let steps = Vec::new();
        Self {
            base,
            head,
            keys,
            pairs,
            indexes,
            steps,
        }
    }

    /// Base location and value that correspond to a head location. `None` if there is no
    /// counterpart, or if enclosing values are compared as a whole.
    pub fn of(&mut self, place: &Location) -> Option<(Location, &'a Node)> {
        let known = self
            .steps
            .iter()
            .zip(&place.0)
            .take_while(|(step, piece)| step.of_head == **piece)
            .count();
        self.steps.truncate(known);
        for piece in &place.0[known..] {
            let step = self.step(piece)?;
            self.steps.push(step);
        }
        let base = self.steps.last().map_or(self.base, |step| step.base);
        Some((self.base_place(), base))
    }

    fn base_place(&self) -> Location {
        Location(self.steps.iter().map(|step| step.of_base.clone()).collect())
    }

    /// Descends by one step.
    fn step(&mut self, piece: &Piece) -> Option<CounterpartStep<'a>> {
        let last = self.steps.last();
        let (base, head) = last.map_or((self.base, self.head), |step| (step.base, step.head));
        if base.secret || head.secret {
            return None;
        }
        let (of_base, base) = match (&base.value, &head.value, piece) {
            (Value::Mapping(entries), _, Piece::Key(key)) => {
                let (key, node) = entries.get_entry(key)?;
                (Piece::Key(key.clone()), node)
            }
            (Value::Sequence(below), Value::Sequence(above), Piece::Index(at)) => {
                let place = self.base_place();
                let index = self.index(below, above, *at, &place)?;
                (Piece::Index(index), below.get(index)?)
            }
            _ => return None,
        };
        let head = child(head, piece)?;
        Some(CounterpartStep {
            of_head: piece.clone(),
            of_base,
            head,
            base,
        })
    }

    /// Base index for the head item at `index`; the base list is at `place`.
    fn index(
        &mut self,
        base: &Arc<Sequence>,
        head: &Arc<Sequence>,
        at: usize,
        place: &Location,
    ) -> Option<usize> {
        if Arc::ptr_eq(base, head) {
            return Some(at);
        }
        let keys = self.keys;
        let pairs = &mut self.pairs;
        let indexes = self
            .indexes
            .entry(addresses(base, head))
            .or_insert_with(|| {
                let alignment = Alignment::of(base, head, keys.at(place), pairs)?;
                let mut indexes = vec![None; head.len()];
                for pair in alignment.pairs {
                    if let Some(at) = pair.head {
                        indexes[at] = pair.base;
                    }
                }
                Some(indexes.into())
            });
        match indexes {
            Some(indexes) => indexes.get(at).copied().flatten(),
            None => self.pairs.same_items(base, head).then_some(at),
        }
    }
}

/// Whether two nodes have the same value. Unlike `==`, NaN equals itself.
pub fn same(left: &Node, right: &Node) -> bool {
    Pairs::default().same(left, right)
}

/// Whether two nodes are clones of one, or scalars with the same value and text. Contents of
/// mappings and lists are not compared.
pub fn identical(one: &Node, other: &Node) -> bool {
    let is_same_value = match (one.value.address(), other.value.address()) {
        (Some(one), Some(other)) => one == other,
        (None, None) => same(one, other),
        (Some(_), None) | (None, Some(_)) => false,
    };
    is_same_value && one.span == other.span && one.secret == other.secret
}

/// Hash of a value with its secrets, which no report may have: otherwise as [`shown_hash`].
pub fn whole_hash(node: &Node) -> u64 {
    Hashes::default().of(node)
}

/// Hash of a value without secrets: equal for the [same] values, almost certainly different for
/// others. It differs between runs.
pub fn shown_hash(node: &Node) -> u64 {
    Hashes {
        hides_secrets: true,
        ..Hashes::default()
    }
    .of(node)
}

/// Hashes of the values in a node that are not secret, with their locations, in order: the [same]
/// values at the same keys have equal hashes. All items of a list have one location. At most `most`
/// values are visited.
pub fn shown_values(node: &Node, most: usize) -> Vec<u64> {
    let hasher = &*HASHER;
    let mut hashes = Hashes::default();
    let mut found = Vec::new();
    let mut open = vec![(0, node)];
    while let Some((place, node)) = open.pop().filter(|_| found.len() < most) {
        match &node.value {
            _ if node.secret => {}
            Value::Mapping(entries) if !entries.is_empty() => {
                let of = |(key, node)| (hasher.hash_one((place, key)), node);
                open.extend(entries.iter().map(of));
            }
            Value::Sequence(items) if !items.is_empty() => {
                open.extend(items.iter().map(|item| (hasher.hash_one(place), item)));
            }
            _ => found.push(hasher.hash_one((place, hashes.of(node)))),
        }
    }
    found.sort_unstable();
    found
}

/// Whether two mappings are the [same], regardless of order.
pub fn same_entries(left: &Arc<Mapping>, right: &Arc<Mapping>) -> bool {
    Pairs::default().same_entries(left, right)
}

/// Cached results for pairs of mappings or lists, by address: shared values are compared once. The
/// values must outlive the cache.
#[derive(Default)]
struct Pairs {
    /// Number of compared pairs of collections.
    compared: usize,
    same: NodePairMap<bool>,
    different: NodePairMap<Rc<DifferentEntries>>,
}

/// Entries in which two mappings differ.
struct DifferentEntries {
    /// Indexes of the entries of the base that the head lacks, or has with another value.
    of_base: Vec<usize>,
    /// Indexes of the entries of the head whose key the base lacks.
    added: Vec<usize>,
}

/// Differing locations in a pair of values.
#[derive(Clone, Copy, Default)]
struct Places {
    count: u64,
    /// Number of values in the mappings and lists that are removed there.
    removed: u64,
}

impl Places {
    const ONE: Self = Self {
        count: 1,
        removed: 0,
    };

    fn with(self, other: Self) -> Self {
        Self {
            count: self.count.saturating_add(other.count),
            removed: self.removed.saturating_add(other.removed),
        }
    }
}

/// Numbers of scalars and empty collections in shared collections.
#[derive(Default)]
struct Leaves(HashMap<usize, u64, foldhash::fast::RandomState>);

impl Leaves {
    /// Returns the number in a value. A secret counts as one, so that its size is not revealed.
    fn of(&mut self, node: &Node) -> u64 {
        match &node.value {
            _ if node.secret => 1,
            Value::Mapping(mapping) => self.once(
                Arc::as_ptr(mapping).addr(),
                mapping.iter().map(|(_, node)| node),
            ),
            Value::Sequence(items) => self.once(Arc::as_ptr(items).addr(), items.iter()),
            _ => 1,
        }
    }

    /// Returns the number in the parts of the collection at an address.
    fn once<'n>(&mut self, address: usize, parts: impl Iterator<Item = &'n Node>) -> u64 {
        if let Some(known) = self.0.get(&address) {
            return *known;
        }
        let leaves = parts
            .fold(0, |sum: u64, part| sum.saturating_add(self.of(part)))
            .max(1);
        self.0.insert(address, leaves);
        leaves
    }
}

type NodePairMap<V> = HashMap<(usize, usize), V, foldhash::fast::RandomState>;

impl Pairs {
    /// Number of comparisons before the results of small collections are cached: most are compared
    /// only once.
    const MAX_FORGOTTEN: usize = 1_000;
    /// Number of items of a small collection.
    const SMALL: usize = 16;

    fn same(&mut self, left: &Node, right: &Node) -> bool {
        match (&left.value, &right.value) {
            (Value::Mapping(left), Value::Mapping(right)) => self.same_entries(left, right),
            (Value::Sequence(left), Value::Sequence(right)) => self.same_items(left, right),
            (Value::Float(left), Value::Float(right)) => left.to_bits() == right.to_bits(),
            (Value::Set(_), Value::Set(_)) => left.value.equals_in_python(&right.value),
            (left, right) => left == right,
        }
    }

    fn same_items(&mut self, left: &Arc<Sequence>, right: &Arc<Sequence>) -> bool {
        Arc::ptr_eq(left, right)
            || left.len() == right.len()
                && self.once(left, right, left.len(), |pairs| {
                    let mut items = left.iter().zip(right.iter());
                    items.all(|(left, right)| pairs.same(left, right))
                })
    }

    fn same_entries(&mut self, left: &Arc<Mapping>, right: &Arc<Mapping>) -> bool {
        Arc::ptr_eq(left, right)
            || left.len() == right.len()
                && self.once(left, right, left.len(), |pairs| {
                    left.iter().all(|(key, node)| {
                        right.get(key).is_some_and(|other| pairs.same(node, other))
                    })
                })
    }

    /// Returns the entries in which two mappings differ.
    fn different(&mut self, base: &Arc<Mapping>, head: &Arc<Mapping>) -> Rc<DifferentEntries> {
        let pair = addresses(base, head);
        if let Some(known) = self.different.get(&pair) {
            return known.clone();
        }
        let mut differs = |(key, node): (&Key, &Node)| {
            let other = head.get(key);
            other.is_none_or(|other| !self.same(node, other))
        };
        let indexes = |entries: &mut dyn Iterator<Item = bool>| {
            let entries = entries.enumerate().filter(|(_, differs)| *differs);
            entries.map(|(at, _)| at).collect()
        };
        let different = Rc::new(DifferentEntries {
            of_base: indexes(&mut base.iter().map(&mut differs)),
            added: indexes(&mut head.keys().map(|key| base.get(key).is_none())),
        });
        self.different.insert(pair, different.clone());
        different
    }

    /// Returns the cached result of `compare` for a pair of collections with `len` items.
    fn once<T>(
        &mut self,
        left: &Arc<T>,
        right: &Arc<T>,
        len: usize,
        compare: impl FnOnce(&mut Self) -> bool,
    ) -> bool {
        self.compared += 1;
        if len <= Self::SMALL && self.compared <= Self::MAX_FORGOTTEN {
            return compare(self);
        }
        let pair = addresses(left, right);
        if let Some(known) = self.same.get(&pair) {
            return *known;
        }
        let is_same = compare(self);
        self.same.insert(pair, is_same);
        is_same
    }
}

fn addresses<T>(left: &Arc<T>, right: &Arc<T>) -> (usize, usize) {
    (Arc::as_ptr(left).addr(), Arc::as_ptr(right).addr())
}

/// Maximum number of differences that a walk may list.
#[derive(Clone, Copy)]
enum PlaceLimit {
    /// No limit, because the values are small enough.
    Any,
    /// At most this number.
    Places(u64),
}

struct DiffWalk<'a, 'p> {
    keys: &'a ListKeys,
    found: Vec<Difference>,
    base: Location,
    head: Location,
    /// Enclosing keyed items: index of the piece, key, and its value.
    items: Vec<(usize, &'a str, &'a Node)>,
    pairs: &'p mut Pairs,
    /// Differing locations.
    places: NodePairMap<Places>,
    leaves: Leaves,
}

impl<'a, 'p> DiffWalk<'a, 'p> {
    fn new(keys: &'a ListKeys, pairs: &'p mut Pairs) -> Self {
        Self {
            keys,
            found: Vec::new(),
            base: Location::root(),
            head: Location::root(),
            items: Vec::new(),
            pairs,
            places: NodePairMap::default(),
            leaves: Leaves::default(),
        }
    }

    fn all(mut self, base: &'a Node, head: &'a Node, most: u64) -> (Vec<Difference>, Part) {
        let nodes = Size::of(base).nodes() + Size::of(head).nodes();
        let limit = if nodes <= most {
            PlaceLimit::Any
        } else {
            PlaceLimit::Places(most)
        };
        let root = self.nodes(base, head, limit);
        (self.found, root)
    }

    fn nodes(&mut self, base: &'a Node, head: &'a Node, limit: PlaceLimit) -> Part {
        if self.pairs.same(base, head) {
            return Part::Same(base.clone());
        }
        if base.secret || head.secret {
            return self.whole(base, head, Places::default());
        }
        let limit = match limit {
            PlaceLimit::Any => PlaceLimit::Any,
            PlaceLimit::Places(limit) => match self.places(base, head) {
                places if places.count <= limit => PlaceLimit::Any,
                places => match limit / self.places_beside(base, head).max(1) {
                    0 => return self.whole(base, head, places),
                    each => PlaceLimit::Places(each),
                },
            },
        };
        match (&base.value, &head.value) {
            (Value::Mapping(below), Value::Mapping(above)) => Part::Mapping {
                base: base.clone(),
                entries: self.mappings(below, above, limit),
            },
            (Value::Sequence(below), Value::Sequence(above)) => {
                match Alignment::of(below, above, self.keys.at(&self.base), self.pairs) {
                    Some(alignment) => {
                        if let Some(reordering) = &alignment.reordering {
                            self.order(base, head, reordering);
                        }
                        let items = self.lists(below, above, &alignment, limit);
                        let in_base = alignment.reordering.map(|reordering| reordering.in_base);
                        Part::List {
                            base: base.clone(),
                            in_base,
                            items,
                        }
                    }
                    None => self.whole(base, head, Places::default()),
                }
            }
            _ => self.whole(base, head, Places::default()),
        }
    }

    /// Differing locations in two values that are not the same.
    fn places(&mut self, base: &Node, head: &Node) -> Places {
        let Some(pair) = addresses_of(base, head).filter(|_| !base.secret && !head.secret) else {
            return Places::ONE;
        };
        if let Some(known) = self.places.get(&pair) {
            return *known;
        }
        let mut places = Places::default();
        self.each_different(base, head, |walk, sides| {
            places = places.with(match sides {
                (Some(base), Some(head)) => walk.places(base, head),
                (Some(base), None) => match walk.leaves.of(base) {
                    1 => Places::ONE,
                    removed => Places { count: 1, removed },
                },
                (None, _) => Places::ONE,
            });
        });
        self.places.insert(pair, places);
        places
    }

    /// Number of direct children of two values that differ.
    fn places_beside(&mut self, base: &Node, head: &Node) -> u64 {
        let mut count = 0;
        self.each_different(base, head, |_, _| count += 1);
        count
    }

    /// Calls `look` for each direct difference between two values, with the node on each side, or
    /// without nodes for an order and for values that are not compared by their parts.
    fn each_different(
        &mut self,
        base: &Node,
        head: &Node,
        mut look: impl FnMut(&mut Self, (Option<&Node>, Option<&Node>)),
    ) {
        match (&base.value, &head.value) {
            (Value::Mapping(below), Value::Mapping(above)) => {
                let different = self.pairs.different(below, above);
                for (key, node) in entries_at(below, &different.of_base) {
                    look(self, (Some(node), above.get(key)));
                }
                for (_, node) in entries_at(above, &different.added) {
                    look(self, (None, Some(node)));
                }
            }
            (Value::Sequence(below), Value::Sequence(above)) => {
                let keys = self.keys.at(&self.base);
                let Some(alignment) = Alignment::of(below, above, keys, self.pairs) else {
                    return look(self, (None, None));
                };
                if alignment.reordering.is_some() {
                    look(self, (None, None));
                }
                for pair in &alignment.pairs {
                    match (
                        pair.base.map(|at| &below[at]),
                        pair.head.map(|at| &above[at]),
                    ) {
                        (Some(node), Some(other)) if self.pairs.same(node, other) => {}
                        sides => look(self, sides),
                    }
                }
            }
            _ => look(self, (None, None)),
        }
    }

    fn whole(&mut self, base: &Node, head: &Node, unlisted: Places) -> Part {
        let at_base = self.base_place(base, None);
        let at_head = self.head_place(head, None);
        self.add(
            DifferenceKind::Value,
            Some(at_base),
            Some(at_head),
            unlisted,
        );
        Part::Different {
            base: Some(base.clone()),
            head: Some(head.clone()),
        }
    }

    fn only_base(&mut self, node: &Node, key: Option<Span>) -> Part {
        let place = self.base_place(node, key);
        self.add(DifferenceKind::Value, Some(place), None, Places::default());
        Part::Different {
            base: Some(node.clone()),
            head: None,
        }
    }

    fn only_head(&mut self, node: &Node, key: Option<Span>) -> Part {
        let place = self.head_place(node, key);
        self.add(DifferenceKind::Value, None, Some(place), Places::default());
        Part::Different {
            base: None,
            head: Some(node.clone()),
        }
    }

    /// Adds the difference of the order of two lists.
    fn order(&mut self, base: &Node, head: &Node, reordering: &Reordering<'_>) {
        let Reordering { key, indexes, .. } = reordering;
        let [base, head] = [(base, &indexes[0]), (head, &indexes[1])].map(|(list, indexes)| {
            let items = list.as_sequence().unwrap_or_default();
            let names = indexes.iter().filter_map(|at| items[*at].get(key)).cloned();
            Node::new(Value::from(names.collect::<Vec<_>>()), list.span)
        });
        let base = self.base_place(&base, None);
        let head = self.head_place(&head, None);
        let kind = DifferenceKind::Order {
            key: (*key).into(),
            indexes: indexes.clone(),
        };
        self.add(kind, Some(base), Some(head), Places::default());
    }

    /// Adds a difference at the current location.
    fn add(
        &mut self,
        kind: DifferenceKind,
        base: Option<DiffPlace>,
        head: Option<DiffPlace>,
        unlisted: Places,
    ) {
        /// Maximum length in bytes of an item's name; longer names would bloat reports.
        const MAX_NAME_BYTES: usize = 100;
        let items = self
            .items
            .iter()
            .filter_map(|(at, key, name)| {
                let is_short = name
                    .as_str()
                    .is_none_or(|text| text.len() <= MAX_NAME_BYTES);
                is_short.then(|| Item {
                    at: *at,
                    key: (*key).into(),
                    name: (*name).clone(),
                })
            })
            .collect();
        let Places {
            count: unlisted,
            removed: unlisted_removals,
        } = unlisted;
        self.found.push(Difference {
            kind,
            base,
            head,
            items,
            unlisted,
            unlisted_removals,
        });
    }

    fn base_place(&self, node: &Node, key: Option<Span>) -> DiffPlace {
        DiffPlace {
            location: self.base.clone(),
            key,
            node: node.clone(),
        }
    }

    fn head_place(&self, node: &Node, key: Option<Span>) -> DiffPlace {
        DiffPlace {
            location: self.head.clone(),
            key,
            node: node.clone(),
        }
    }

    fn mappings(
        &mut self,
        base: &'a Arc<Mapping>,
        head: &'a Arc<Mapping>,
        limit: PlaceLimit,
    ) -> Vec<(Key, Part)> {
        let different = self.pairs.different(base, head);
        let mut entries = Vec::with_capacity(different.of_base.len() + different.added.len());
        for (key, node) in entries_at(base, &different.of_base) {
            let part = self.inside(Some(&Piece::Key(key.clone())), None, |walk| {
                match head.get_entry(key) {
                    None => walk.only_base(node, Some(key.span)),
                    Some((same_key, other)) => {
                        // In Python, `1` and `true` are the same key.
                        walk.head.0.push(Piece::Key(same_key.clone()));
                        let part = walk.nodes(node, other, limit);
                        walk.head.0.pop();
                        part
                    }
                }
            });
            entries.push((key.clone(), part));
        }
        for (key, node) in entries_at(head, &different.added) {
            let part = self.inside(None, Some(&Piece::Key(key.clone())), |walk| {
                walk.only_head(node, Some(key.span))
            });
            entries.push((key.clone(), part));
        }
        entries
    }

    /// Part for each pair of an alignment.
    fn lists(
        &mut self,
        base: &'a [Node],
        head: &'a [Node],
        alignment: &Alignment<'a>,
        limit: PlaceLimit,
    ) -> Vec<Part> {
        let mut parts = Vec::with_capacity(alignment.pairs.len());
        for pair in &alignment.pairs {
            let at_base = pair.base.map(Piece::Index);
            let at_head = pair.head.map(Piece::Index);
            let known = alignment.key.and_then(|key| {
                let item = pair
                    .head
                    .map(|at| &head[at])
                    .or(pair.base.map(|at| &base[at]));
                Some((self.base.0.len(), key, item?.get(key)?))
            });
            self.items.extend(known);
            let part = self.inside(at_base.as_ref(), at_head.as_ref(), |walk| {
                match (pair.base, pair.head) {
                    (Some(below), Some(above)) => {
                        Some(walk.nodes(&base[below], &head[above], limit))
                    }
                    (Some(below), None) => Some(walk.only_base(&base[below], None)),
                    (None, Some(above)) => Some(walk.only_head(&head[above], None)),
                    (None, None) => None,
                }
            });
            parts.extend(part);
            self.items
                .truncate(self.items.len() - usize::from(known.is_some()));
        }
        parts
    }

    /// Calls `look` with the locations extended by the given steps.
    fn inside<T>(
        &mut self,
        base: Option<&Piece>,
        head: Option<&Piece>,
        look: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.base.0.extend(base.cloned());
        self.head.0.extend(head.cloned());
        let seen = look(self);
        self.base
            .0
            .truncate(self.base.0.len() - usize::from(base.is_some()));
        self.head
            .0
            .truncate(self.head.0.len() - usize::from(head.is_some()));
        seen
    }
}

/// Entries of a mapping at some indexes.
fn entries_at<'m>(
    mapping: &'m Mapping,
    indexes: &[usize],
) -> impl Iterator<Item = (&'m Key, &'m Node)> {
    indexes.iter().filter_map(|at| mapping.entry_at(*at))
}

/// Addresses of two mappings or of two lists.
fn addresses_of(base: &Node, head: &Node) -> Option<(usize, usize)> {
    match (&base.value, &head.value) {
        (Value::Mapping(base), Value::Mapping(head)) => Some(addresses(base, head)),
        (Value::Sequence(base), Value::Sequence(head)) => Some(addresses(base, head)),
        _ => None,
    }
}

/// Alignment of the items of two lists.
struct Alignment<'k> {
    /// Pairs in reporting order, which is the order of the head.
    pairs: Vec<ItemPair>,
    /// Key that identifies the items, if any.
    key: Option<&'k str>,
    /// Changed order of the common items, if it changed.
    reordering: Option<Reordering<'k>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ItemPair {
    base: Option<usize>,
    head: Option<usize>,
}

/// A changed order of keyed items.
struct Reordering<'k> {
    key: &'k str,
    /// Indexes of the common items, in the base and in the head.
    indexes: [Vec<usize>; 2],
    /// Position of each pair in the order of the base.
    in_base: Vec<usize>,
}

impl<'k> Alignment<'k> {
    /// Aligns two lists; `None` if an item is secret, because the lists are then compared as a
    /// whole.
    fn of(
        base: &[Node],
        head: &[Node],
        mut keys: impl Iterator<Item = &'k str>,
        known: &mut Pairs,
    ) -> Option<Self> {
        let hidden = |items: &[Node]| items.iter().any(|item| item.secret);
        if hidden(base) || hidden(head) {
            // The differences would reveal which items changed.
            return None;
        }
        let known_by = keys.find_map(|key| Some((key, by_identity(base, head, key)?)));
        let Some((key, anchors)) = known_by else {
            let anchors = by_equality(base, head, known);
            let similar = by_similarity(&anchors, base, head, known);
            let pairs = between(&similar, base, head, Gap::Pairwise);
            return Some(Self {
                pairs,
                key: None,
                reordering: None,
            });
        };
        if anchors.windows(2).all(|pair| pair[0].1 < pair[1].1) {
            let pairs = between(&anchors, base, head, Gap::Unrelated);
            return Some(Self {
                pairs,
                key: Some(key),
                reordering: None,
            });
        }
        let (pairs, reordering) = reordered(anchors, base.len(), head.len(), key);
        Some(Self {
            pairs,
            key: Some(key),
            reordering: Some(reordering),
        })
    }
}

/// Pairs for anchors with the same order in both lists; the items between anchors are handled
/// according to `gap`.
fn between(anchors: &[(usize, usize)], base: &[Node], head: &[Node], gap: Gap) -> Vec<ItemPair> {
    let mut pairs = Vec::with_capacity(base.len().max(head.len()));
    let mut at_base = 0;
    let mut at_head = 0;
    let end = (base.len(), head.len());
    for &(below, above) in anchors.iter().chain([&end]) {
        while at_base < below && at_head < above && gap.pairs(&base[at_base], &head[at_head]) {
            pairs.push(ItemPair {
                base: Some(at_base),
                head: Some(at_head),
            });
            at_base += 1;
            at_head += 1;
        }
        pairs.extend((at_base..below).map(|at| ItemPair {
            base: Some(at),
            head: None,
        }));
        pairs.extend((at_head..above).map(|at| ItemPair {
            base: None,
            head: Some(at),
        }));
        if (below, above) != end {
            pairs.push(ItemPair {
                base: Some(below),
                head: Some(above),
            });
        }
        (at_base, at_head) = (below + 1, above + 1);
    }
    pairs
}

/// Pairs in the order of the head, for lists of these lengths whose anchors have different orders.
/// The anchors are sorted by the base.
fn reordered(
    anchors: Vec<(usize, usize)>,
    base: usize,
    head: usize,
    key: &str,
) -> (Vec<ItemPair>, Reordering<'_>) {
    let swapped: Vec<(usize, usize)> = anchors.iter().map(|(base, head)| (*head, *base)).collect();
    let pairs: Vec<ItemPair> = merge_indexes(&anchors, base, head)
        .map(|(base, head)| ItemPair { base, head })
        .collect();
    let in_base = merge_indexes(&swapped, head, base).map(|(head, base)| ItemPair { base, head });
    let places: HashMap<ItemPair, usize, foldhash::fast::RandomState> = in_base
        .enumerate()
        .map(|(place, pair)| (pair, place))
        .collect();
    let in_base = pairs.iter().map(|pair| places[pair]).collect();
    let (of_base, mut of_head): (Vec<usize>, Vec<usize>) = anchors.into_iter().unzip();
    of_head.sort_unstable();
    (
        pairs,
        Reordering {
            key,
            indexes: [of_base, of_head],
            in_base,
        },
    )
}

/// Merges the indexes of two lists in the order of the second. An item only in the first follows
/// the same common item as in the first.
fn merge_indexes(
    anchors: &[(usize, usize)],
    first: usize,
    second: usize,
) -> impl Iterator<Item = (Option<usize>, Option<usize>)> {
    let mut to_second = vec![None; first];
    let mut to_first = vec![None; second];
    for (of_first, of_second) in anchors {
        to_second[*of_first] = Some(*of_second);
        to_first[*of_second] = Some(*of_first);
    }
    let mut behind: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
    let mut last = None;
    for (at, counterpart) in to_second.into_iter().enumerate() {
        match counterpart {
            Some(_) => last = counterpart,
            None => behind.entry(last).or_default().push(at),
        }
    }
    let places = std::iter::once(None).chain((0..second).map(Some));
    places.flat_map(move |place| {
        let own = place.map(|at| (to_first[at], place));
        let followers = behind.remove(&place).unwrap_or_default();
        own.into_iter()
            .chain(followers.into_iter().map(|at| (Some(at), None)))
    })
}

/// Treatment of unmatched items between anchors.
#[derive(Clone, Copy)]
enum Gap {
    /// Unrelated, because their identities differ: removed and added.
    Unrelated,
    /// Paired in order, if they have the same type.
    Pairwise,
}

impl Gap {
    fn pairs(self, base: &Node, head: &Node) -> bool {
        match self {
            Gap::Unrelated => false,
            Gap::Pairwise => discriminant(&base.value) == discriminant(&head.value),
        }
    }
}

/// Pairs of items with the same value of `key`, if all items of both lists are mappings with
/// unique, non-secret values of it.
fn by_identity(base: &[Node], head: &[Node], key: &str) -> Option<Vec<(usize, usize)>> {
    let places = identities(head, key)?;
    let known = identities(base, key)?;
    let mut anchors: Vec<(usize, usize)> = known
        .iter()
        .filter_map(|(name, below)| Some((*below, *places.get(name)?)))
        .collect();
    anchors.sort_unstable();
    Some(anchors)
}

/// Value of an identifying key.
#[derive(PartialEq, Eq, Hash)]
enum ItemIdentity<'a> {
    Text(&'a str),
    Number(i64),
}

impl<'a> ItemIdentity<'a> {
    fn of(name: &'a Node) -> Option<Self> {
        match &name.value {
            _ if name.secret => None,
            Value::String(text) => Some(Self::Text(text)),
            Value::Int(number) => Some(Self::Number(*number)),
            _ => None,
        }
    }
}

fn identities<'a>(items: &'a [Node], key: &str) -> Option<HashMap<ItemIdentity<'a>, usize>> {
    let mut places = HashMap::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        if places
            .insert(ItemIdentity::of(item.get(key)?)?, at)
            .is_some()
        {
            return None;
        }
    }
    Some(places)
}

/// Adds pairs of similar items to `anchors`, where more items are unmatched in one list than in the
/// other: so that the removed or added items are those without a similar one. Items of different
/// types, or too many, are not compared.
fn by_similarity(
    anchors: &[(usize, usize)],
    base: &[Node],
    head: &[Node],
    known: &mut Pairs,
) -> Vec<(usize, usize)> {
    const MAX_COMPARISONS: usize = 4_096;
    let mut all = Vec::with_capacity(anchors.len());
    let mut at_base = 0;
    let mut at_head = 0;
    for &(below, above) in anchors.iter().chain([&(base.len(), head.len())]) {
        let removed = &base[at_base..below];
        let added = &head[at_head..above];
        let mut kinds = removed
            .iter()
            .chain(added)
            .map(|item| discriminant(&item.value));
        let has_one_kind = kinds
            .next()
            .is_some_and(|first| kinds.all(|kind| kind == first));
        let pairs = if has_one_kind && removed.len() * added.len() <= MAX_COMPARISONS {
            let similarity = |left: &Node, right: &Node| similarity(left, right, known);
            match removed.len().cmp(&added.len()) {
                Ordering::Less => most_similar(removed, added, similarity),
                Ordering::Equal => Vec::new(),
                Ordering::Greater => {
                    let pairs = most_similar(added, removed, similarity);
                    pairs.into_iter().map(|(head, base)| (base, head)).collect()
                }
            }
        } else {
            Vec::new()
        };
        all.extend(
            pairs
                .into_iter()
                .map(|(base, head)| (at_base + base, at_head + head)),
        );
        if below < base.len() || above < head.len() {
            all.push((below, above));
        }
        (at_base, at_head) = (below + 1, above + 1);
    }
    all
}

/// Pairs each item of the shorter list with one of the longer list, in order, so that the sum of
/// the similarities is largest, and the items paired first are the first ones.
fn most_similar(
    short: &[Node],
    long: &[Node],
    mut similarity: impl FnMut(&Node, &Node) -> usize,
) -> Vec<(usize, usize)> {
    let surplus = long.len() - short.len();
    // Largest sums for all items from an item of the short list, of which `skipped` items of the
    // long list are not paired.
    let mut sums = vec![vec![0; surplus + 1]; short.len() + 1];
    let mut pairs_here = vec![vec![true; surplus + 1]; short.len()];
    for (at, item) in short.iter().enumerate().rev() {
        for skipped in (0..=surplus).rev() {
            let paired = similarity(item, &long[at + skipped]) + sums[at + 1][skipped];
            let later = sums[at].get(skipped + 1).copied();
            pairs_here[at][skipped] = later.is_none_or(|later| later <= paired);
            sums[at][skipped] = later.unwrap_or(0).max(paired);
        }
    }
    let mut skipped = 0;
    (0..short.len())
        .map(|at| {
            while !pairs_here[at][skipped] {
                skipped += 1;
            }
            (at, at + skipped)
        })
        .collect()
}

/// Number of equal bytes at the start and end of two texts, or of equal entries in two mappings.
fn similarity(left: &Node, right: &Node, known: &mut Pairs) -> usize {
    match (&left.value, &right.value) {
        (Value::String(left), Value::String(right)) => {
            let bytes = left.bytes().zip(right.bytes());
            let front = bytes.take_while(|(left, right)| left == right).count();
            let ends = left.as_bytes()[front..]
                .iter()
                .rev()
                .zip(right.as_bytes()[front..].iter().rev());
            front + ends.take_while(|(left, right)| left == right).count()
        }
        (Value::Mapping(left), Value::Mapping(right)) => left
            .iter()
            .filter(|(key, node)| right.get(*key).is_some_and(|other| known.same(node, other)))
            .count(),
        _ => 0,
    }
}

/// Longest common subsequence of two lists. In long lists, the equal items at both ends are matched,
/// then those that are once in each list, then those between these: all in linear work, but for a
/// sorting.
fn by_equality(base: &[Node], head: &[Node], known: &mut Pairs) -> Vec<(usize, usize)> {
    let pairs = base.iter().zip(head);
    let front = pairs
        .take_while(|(left, right)| known.same(left, right))
        .count();
    let below = &base[front..];
    let above = &head[front..];
    let ends = below.iter().rev().zip(above.iter().rev());
    let back = ends
        .take_while(|(left, right)| known.same(left, right))
        .count();
    let below = &below[..below.len() - back];
    let above = &above[..above.len() - back];
    let common = longest_common_either_way(below, above, known);
    let base_end = base.len() - back;
    let head_end = head.len() - back;
    (0..front)
        .map(|at| (at, at))
        .chain(
            common
                .into_iter()
                .map(|(left, right)| (front + left, front + right)),
        )
        .chain((0..back).map(|at| (base_end + at, head_end + at)))
        .collect()
}

/// Longest common subsequence, chosen so that swapping the sides gives the same result.
fn longest_common_either_way(
    base: &[Node],
    head: &[Node],
    known: &mut Pairs,
) -> Vec<(usize, usize)> {
    /// Maximum number of values to serialize for a canonical order of the sides; above it, most
    /// values are shared copies, and swapping may change the result.
    const MAX_NODES: u64 = 20_000;
    let [of_base, of_head] = numbered(base, head, known);
    let numbers: HashSet<usize> = of_base.iter().copied().collect();
    if !of_head.iter().any(|number| numbers.contains(number)) {
        return Vec::new();
    }
    let text = |items: &[Node]| -> Vec<String> {
        let options = emit::EmitOptions {
            show_secrets: true,
            origin: None,
        };
        items
            .iter()
            .map(|item| emit::to_yaml(item, &options))
            .collect()
    };
    let nodes: u64 = base
        .iter()
        .chain(head)
        .map(|item| Size::of(item).nodes())
        .sum();
    let swapped = match base.len().cmp(&head.len()) {
        Ordering::Less => false,
        Ordering::Equal => nodes <= MAX_NODES && text(base) > text(head),
        Ordering::Greater => true,
    };
    if swapped {
        subsequence::common(&of_head, &of_base)
            .into_iter()
            .map(|(above, below)| (below, above))
            .collect()
    } else {
        subsequence::common(&of_base, &of_head)
    }
}

/// Numbers the items of two lists so that equal items have the same number.
fn numbered(base: &[Node], head: &[Node], known: &mut Pairs) -> [Vec<usize>; 2] {
    let mut firsts: HashMap<u64, Vec<(usize, &Node)>, foldhash::fast::RandomState> =
        HashMap::default();
    let mut count = 0;
    let mut hashes = Hashes::default();
    [base, head].map(|items| {
        let number = |item| {
            let alike = firsts.entry(hashes.of(item)).or_default();
            if let Some((number, _)) = alike.iter().find(|(_, first)| known.same(first, item)) {
                return *number;
            }
            alike.push((count, item));
            count += 1;
            count - 1
        };
        items.iter().map(number).collect()
    })
}

/// Hashes of values: equal for the [same] values.
#[derive(Default)]
struct Hashes {
    /// Hashes by address of mappings and lists; shared ones are hashed once.
    known: HashMap<usize, u64, foldhash::fast::RandomState>,
    /// Whether all secrets have the same hash.
    hides_secrets: bool,
}

/// Randomly seeded, so that collisions cannot be crafted.
static HASHER: LazyLock<foldhash::fast::RandomState> = LazyLock::new(Default::default);

impl Hashes {
    fn of(&mut self, node: &Node) -> u64 {
        if node.secret && self.hides_secrets {
            return 0;
        }
        let Some(address) = node.value.address() else {
            return self.fresh(&node.value);
        };
        if let Some(known) = self.known.get(&address) {
            return *known;
        }
        let hash = self.fresh(&node.value);
        self.known.insert(address, hash);
        hash
    }

    fn fresh(&mut self, value: &Value) -> u64 {
        let hasher = &*HASHER;
        match value {
            Value::Mapping(mapping) => {
                // Independent of the order of entries.
                let entries = mapping
                    .iter()
                    .map(|(key, node)| hasher.hash_one((key, self.of(node))));
                hasher.hash_one((1, entries.fold(0, u64::wrapping_add)))
            }
            Value::Sequence(items) => {
                let items: Vec<u64> = items.iter().map(|item| self.of(item)).collect();
                hasher.hash_one((2, items))
            }
            Value::String(text) => hasher.hash_one((3, &**text)),
            Value::Int(int) => hasher.hash_one((4, int)),
            Value::Float(float) => hasher.hash_one((5, float.to_bits())),
            Value::Bool(bool) => hasher.hash_one((6, bool)),
            Value::BigInt(digits) => hasher.hash_one((7, digits)),
            Value::Binary(bytes) => hasher.hash_one((8, bytes)),
            Value::Date(date) => hasher.hash_one((9, date)),
            Value::Timestamp(time) => hasher.hash_one((10, time)),
            Value::Set(keys) => hasher.hash_one((11, keys.len())),
            Value::Pairs(pairs) => hasher.hash_one((12, pairs.len())),
            Value::Null => 0,
        }
    }
}
