//! What differs between two values, place by place.
//!
//! One walk over both tells every [`Difference`] and is told, for each, which
//! side to take: so the same walk that finds what somebody edited can also
//! make the value with only some of the edits. Order of keys, spans and
//! whatever else is no value make no difference.
//!
//! Items of lists are matched by identity where they have one: a `name`, an
//! `id`, or another key that the caller knows ([`ListKeys`]); other items by
//! equality. An item put in front of others is one difference, not as many as
//! there are items. A secret is compared whole, so that not even the keys
//! inside it show.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use globset::GlobMatcher;

use super::Places;
use super::path::{Location, Piece};
use super::{Key, Mapping, Node, Value, emit};
use crate::source::Span;

/// A place at which two values differ; on at least one side there is one.
#[derive(Clone, Debug)]
pub struct Difference {
    /// What is there on the base side.
    pub base: Option<Place>,
    /// What is there on the head side.
    pub head: Option<Place>,
}

/// A node, and where it is on its side.
#[derive(Clone, Debug)]
pub struct Place {
    /// Where; indexes count on this side.
    pub location: Location,
    /// The key it stands at, where that is on one side only.
    pub key: Option<Span>,
    /// What is there.
    pub node: Node,
}

impl Difference {
    /// Where it is: on the head side, or on the base side where the head has
    /// nothing there.
    pub fn location(&self) -> &Location {
        let place = self.head.as_ref().or(self.base.as_ref());
        &place.expect("a difference has a side").location
    }

    /// Whether one of the sides is secret, so that neither may be shown.
    pub fn is_secret(&self) -> bool {
        self.base.iter().chain(&self.head).any(|place| place.node.secret)
    }
}

/// The keys by which items of lists are known.
#[derive(Clone, Debug)]
pub struct ListKeys {
    keys: Vec<String>,
    /// Those of some lists of some documents.
    special: Vec<SpecialKey>,
    /// Those of the document at hand, which stand above all others.
    here: Vec<SpecialKey>,
}

/// The key by which items of some lists are known.
#[derive(Clone, Debug)]
pub struct SpecialKey {
    /// The schemas of the documents.
    pub schema: GlobMatcher,
    /// The lists in their data.
    pub path: Places,
    /// The key.
    pub key: String,
}

impl Default for ListKeys {
    fn default() -> Self {
        Self::with([])
    }
}

impl ListKeys {
    /// `name`, `id`, and before them these.
    pub fn with<'a>(further: impl IntoIterator<Item = &'a str>) -> Self {
        let keys = further.into_iter().chain(["name", "id"]);
        Self { keys: keys.map(str::to_owned).collect(), special: Vec::new(), here: Vec::new() }
    }

    /// These, and in some lists others before them.
    #[must_use]
    pub fn with_special(mut self, special: Vec<SpecialKey>) -> Self {
        self.special = special;
        self
    }

    /// Those that hold for the data of documents of `schema`.
    #[must_use]
    pub fn of_schema(&self, schema: &str) -> Cow<'_, Self> {
        let here: Vec<SpecialKey> =
            self.special.iter().filter(|key| key.schema.is_match(schema)).cloned().collect();
        if here.is_empty() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self { keys: self.keys.clone(), special: Vec::new(), here })
    }

    /// The keys of the list at `place`, those first that are tried first.
    fn at<'k>(&'k self, place: &'k Location) -> impl Iterator<Item = &'k str> {
        let here = self.here.iter().filter(|key| key.path.leads_to(place));
        here.map(|key| &*key.key).chain(self.keys.iter().map(String::as_str))
    }
}

/// Which side of a difference is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// As it was.
    Base,
    /// As it is.
    Head,
}

/// All places at which `base` and `head` differ, in the order of the head,
/// what is only in the base before what follows it there.
pub fn differences(base: &Node, head: &Node, keys: &ListKeys) -> Vec<Difference> {
    let mut found = Vec::new();
    combine(base, head, keys, |difference| {
        found.push(difference);
        Side::Base
    });
    found
}

/// `base` with the sides that `take` chooses; it is asked for every
/// difference once, in the order of [`differences`]. What is equal on both
/// sides is taken from the base.
pub fn combine(
    base: &Node,
    head: &Node,
    keys: &ListKeys,
    mut take: impl FnMut(Difference) -> Side,
) -> Node {
    let mut walk = Walk { keys, take: &mut take, base: Location::root(), head: Location::root() };
    walk.nodes(base, head)
}

/// Whether two nodes are the same value. Unlike `==`, a float that is no
/// number is what it is.
pub fn same(left: &Node, right: &Node) -> bool {
    match (&left.value, &right.value) {
        (Value::Mapping(left), Value::Mapping(right)) => same_entries(left, right),
        (Value::Sequence(left), Value::Sequence(right)) => {
            Arc::ptr_eq(left, right)
                || left.len() == right.len()
                    && left.iter().zip(right.iter()).all(|(left, right)| same(left, right))
        }
        (Value::Float(left), Value::Float(right)) => left.to_bits() == right.to_bits(),
        (Value::Set(_), Value::Set(_)) => left.value.equals_in_python(&right.value),
        (left, right) => left == right,
    }
}

/// Whether two mappings are the [same], in whatever order their entries are.
pub fn same_entries(left: &Arc<Mapping>, right: &Arc<Mapping>) -> bool {
    let has_same =
        |(key, node): (&Key, &Node)| right.get(key).is_some_and(|other| same(node, other));
    Arc::ptr_eq(left, right) || left.len() == right.len() && left.iter().all(has_same)
}

struct Walk<'a> {
    keys: &'a ListKeys,
    take: &'a mut dyn FnMut(Difference) -> Side,
    base: Location,
    head: Location,
}

impl Walk<'_> {
    fn nodes(&mut self, base: &Node, head: &Node) -> Node {
        if same(base, head) {
            return base.clone();
        }
        let value = match (&base.value, &head.value) {
            _ if base.secret || head.secret => return self.whole(base, head),
            (Value::Mapping(below), Value::Mapping(above)) => {
                Value::Mapping(Arc::new(self.mappings(below, above)))
            }
            (Value::Sequence(below), Value::Sequence(above)) => {
                match Alignment::of(below, above, self.keys.at(&self.base)) {
                    Some(alignment) => {
                        let items = self.lists(below, above, &alignment);
                        Value::from(items)
                    }
                    None => return self.whole(base, head),
                }
            }
            _ => return self.whole(base, head),
        };
        Node { value, ..base.clone() }
    }

    fn whole(&mut self, base: &Node, head: &Node) -> Node {
        let (at_base, at_head) = (self.base_place(base, None), self.head_place(head, None));
        match (self.take)(Difference { base: Some(at_base), head: Some(at_head) }) {
            Side::Base => base.clone(),
            Side::Head => head.clone(),
        }
    }

    fn only_base(&mut self, node: &Node, key: Option<Span>) -> Option<Node> {
        let place = self.base_place(node, key);
        match (self.take)(Difference { base: Some(place), head: None }) {
            Side::Base => Some(node.clone()),
            Side::Head => None,
        }
    }

    fn only_head(&mut self, node: &Node, key: Option<Span>) -> Option<Node> {
        let place = self.head_place(node, key);
        match (self.take)(Difference { base: None, head: Some(place) }) {
            Side::Base => None,
            Side::Head => Some(node.clone()),
        }
    }

    fn base_place(&self, node: &Node, key: Option<Span>) -> Place {
        Place { location: self.base.clone(), key, node: node.clone() }
    }

    fn head_place(&self, node: &Node, key: Option<Span>) -> Place {
        Place { location: self.head.clone(), key, node: node.clone() }
    }

    fn mappings(&mut self, base: &Mapping, head: &Mapping) -> Mapping {
        let mut combined = Mapping::new();
        for (key, node) in base.iter() {
            let kept = self.inside(Some(&Piece::Key(key.clone())), None, |walk| {
                match head.get_entry(key) {
                    None => walk.only_base(node, Some(key.span)),
                    Some((same_key, other)) => {
                        // To Python `1` and `true` are one key.
                        walk.head.0.push(Piece::Key(same_key.clone()));
                        let node = walk.nodes(node, other);
                        walk.head.0.pop();
                        Some(node)
                    }
                }
            });
            combined.extend_with(key, kept);
        }
        for (key, node) in head.iter().filter(|(key, _)| base.get(*key).is_none()) {
            let put = self.inside(None, Some(&Piece::Key(key.clone())), |walk| {
                walk.only_head(node, Some(key.span))
            });
            combined.extend_with(key, put);
        }
        combined
    }

    fn lists(&mut self, base: &[Node], head: &[Node], alignment: &Alignment) -> Vec<Node> {
        let mut combined = Vec::with_capacity(head.len());
        for pair in &alignment.pairs {
            let (at_base, at_head) = (pair.base.map(Piece::Index), pair.head.map(Piece::Index));
            let item = self.inside(at_base.as_ref(), at_head.as_ref(), |walk| {
                match (pair.base, pair.head) {
                    (Some(below), Some(above)) => Some(walk.nodes(&base[below], &head[above])),
                    (Some(below), None) => walk.only_base(&base[below], None),
                    (None, Some(above)) => walk.only_head(&head[above], None),
                    (None, None) => None,
                }
            });
            combined.extend(item);
        }
        combined
    }

    /// `look`, one step further inside on the sides for which a step is given.
    fn inside<T>(
        &mut self,
        base: Option<&Piece>,
        head: Option<&Piece>,
        look: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.base.0.extend(base.cloned());
        self.head.0.extend(head.cloned());
        let seen = look(self);
        self.base.0.truncate(self.base.0.len() - usize::from(base.is_some()));
        self.head.0.truncate(self.head.0.len() - usize::from(head.is_some()));
        seen
    }
}

impl Mapping {
    fn extend_with(&mut self, key: &Key, node: Option<Node>) {
        if let Some(node) = node {
            self.insert(key.clone(), node);
        }
    }
}

/// Which items of two lists belong together, in the order to tell them in.
struct Alignment {
    pairs: Vec<Pair>,
}

#[derive(Clone, Copy)]
struct Pair {
    base: Option<usize>,
    head: Option<usize>,
}

impl Alignment {
    /// None where the items that both lists have stand in another order: then
    /// the lists differ as a whole.
    fn of<'k>(
        base: &[Node],
        head: &[Node],
        mut keys: impl Iterator<Item = &'k str>,
    ) -> Option<Self> {
        let hidden = |items: &[Node]| items.iter().any(|item| item.secret);
        if hidden(base) || hidden(head) {
            // Which of the items changed would be told otherwise.
            return None;
        }
        let anchors = match keys.find_map(|key| by_identity(base, head, key)) {
            Some(anchors) => {
                let in_order = anchors.windows(2).all(|pair| pair[0].1 < pair[1].1);
                return in_order.then(|| Self::between(&anchors, base, head, Gap::Apart));
            }
            None => by_equality(base, head),
        };
        Some(Self::between(&anchors, base, head, Gap::InTurn))
    }

    /// The items between anchors are told in turn.
    fn between(anchors: &[(usize, usize)], base: &[Node], head: &[Node], gap: Gap) -> Self {
        let mut pairs = Vec::with_capacity(base.len().max(head.len()));
        let (mut at_base, mut at_head) = (0, 0);
        let end = (base.len(), head.len());
        for &(below, above) in anchors.iter().chain([&end]) {
            while at_base < below && at_head < above && gap.pairs(&base[at_base], &head[at_head]) {
                pairs.push(Pair { base: Some(at_base), head: Some(at_head) });
                at_base += 1;
                at_head += 1;
            }
            pairs.extend((at_base..below).map(|at| Pair { base: Some(at), head: None }));
            pairs.extend((at_head..above).map(|at| Pair { base: None, head: Some(at) }));
            if (below, above) != end {
                pairs.push(Pair { base: Some(below), head: Some(above) });
            }
            (at_base, at_head) = (below + 1, above + 1);
        }
        Self { pairs }
    }
}

/// What becomes of items that nothing says belong together.
#[derive(Clone, Copy)]
enum Gap {
    /// Their identities differ: one went, another came.
    Apart,
    /// An item became the one that stands in its place, if they are alike.
    InTurn,
}

impl Gap {
    fn pairs(self, base: &Node, head: &Node) -> bool {
        match self {
            Gap::Apart => false,
            Gap::InTurn => {
                std::mem::discriminant(&base.value) == std::mem::discriminant(&head.value)
            }
        }
    }
}

/// The items of the same `key`, where all items of both lists are mappings
/// with one of their own.
fn by_identity(base: &[Node], head: &[Node], key: &str) -> Option<Vec<(usize, usize)>> {
    let places = identities(head, key)?;
    let known = identities(base, key)?;
    let mut anchors: Vec<(usize, usize)> =
        known.iter().filter_map(|(name, below)| Some((*below, *places.get(name)?))).collect();
    anchors.sort_unstable();
    Some(anchors)
}

fn identities<'a>(items: &'a [Node], key: &str) -> Option<HashMap<&'a str, usize>> {
    let mut places = HashMap::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        if places.insert(item.get(key)?.as_str()?, at).is_some() {
            return None;
        }
    }
    Some(places)
}

/// The longest row of equal items that stand in both lists in this order.
/// Lists too long to compare all items with all are taken as they stand, but
/// for what is equal at both ends.
fn by_equality(base: &[Node], head: &[Node]) -> Vec<(usize, usize)> {
    const MOST_COMPARISONS: usize = 250_000;
    let front = base.iter().zip(head).take_while(|(left, right)| same(left, right)).count();
    let (below, above) = (&base[front..], &head[front..]);
    let ends = below.iter().rev().zip(above.iter().rev());
    let back = ends.take_while(|(left, right)| same(left, right)).count();
    let (below, above) = (&below[..below.len() - back], &above[..above.len() - back]);
    let mut anchors: Vec<(usize, usize)> = (0..front).map(|at| (at, at)).collect();
    if below.len().saturating_mul(above.len()) <= MOST_COMPARISONS {
        let common = longest_common_either_way(below, above);
        anchors.extend(common.into_iter().map(|(left, right)| (front + left, front + right)));
    }
    let (base_end, head_end) = (base.len() - back, head.len() - back);
    anchors.extend((0..back).map(|at| (base_end + at, head_end + at)));
    anchors
}

/// Of several longest rows the same one is found when the sides are swapped.
fn longest_common_either_way(base: &[Node], head: &[Node]) -> Vec<(usize, usize)> {
    let text = |items: &[Node]| -> Vec<String> {
        let options = emit::Options { show_secrets: true, origin: None };
        items.iter().map(|item| emit::to_yaml(item, &options)).collect()
    };
    let swapped = match base.len().cmp(&head.len()) {
        Ordering::Less => false,
        Ordering::Equal => !base.is_empty() && text(base) > text(head),
        Ordering::Greater => true,
    };
    if swapped {
        longest_common(head, base).into_iter().map(|(above, below)| (below, above)).collect()
    } else {
        longest_common(base, head)
    }
}

fn longest_common(base: &[Node], head: &[Node]) -> Vec<(usize, usize)> {
    let width = head.len() + 1;
    // For each pair of rests of the lists, how many items they have in common.
    let mut common = vec![0_u32; (base.len() + 1) * width];
    for (below, left) in base.iter().enumerate().rev() {
        for (above, right) in head.iter().enumerate().rev() {
            let here = below * width + above;
            common[here] = if same(left, right) {
                common[here + width + 1] + 1
            } else {
                common[here + width].max(common[here + 1])
            };
        }
    }
    let mut row = Vec::new();
    let (mut below, mut above) = (0, 0);
    while below < base.len() && above < head.len() {
        let here = below * width + above;
        if same(&base[below], &head[above]) {
            row.push((below, above));
            (below, above) = (below + 1, above + 1);
        } else if common[here + width] >= common[here + 1] {
            below += 1;
        } else {
            above += 1;
        }
    }
    row
}
