//! Deckhand's JSONPath dialect, for reading and writing.
//!
//! Deckhand parses paths with jsonpath_ng's base grammar (`deckhand.md` section 10), and creates
//! missing nodes by splitting the path's *text* at its dots (10.6). [`Path`] does both like the
//! reference, including its oddities, but on values instead of shared objects:
//!
//! - Writing copies only the nodes on the path to a written location; everything else remains the
//!   same `Arc`, with the same spans.
//! - A failing call leaves its data unchanged.
//! - No path and no data can exhaust the stack or the memory: the limits below cause a
//!   [`PathError`] or a [`WalkError`].
//!
//! Most paths are sequences of names and indexes. They are stored as [`Segment`]s and evaluated
//! without the expression tree of the full grammar.

mod create;
mod error;
mod find;
mod location;
mod parse;
mod places;
mod write;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use layercake_source::Span;
use layercake_source::near::nearest;
use smol_str::SmolStr;

use super::{Key, Node, Origin, Value};

use create::New;
pub use error::{PathError, PathErrorKind, WalkError};
pub use location::{Item, Location, Piece, at, child, children, first_inside, hashes, inside};
use parse::PathExpression;
pub use places::PlaceIndex;

/// Maximum number of names, indexes and other pieces in a path.
pub const MAX_PIECES: usize = 1_000;
/// Maximum nesting depth of operators (a chain of dots is not nested).
pub const MAX_NESTING: usize = 100;
/// Maximum index up to which a list is padded.
pub const MAX_INDEX: usize = 100_000;
/// Maximum number of matches in one walk.
pub const MAX_MATCHES: usize = 1_000_000;
/// Maximum number of locations that a walk may visit, matching or not: `..` visits all.
pub const MAX_VISITS: usize = 10 * MAX_MATCHES;
/// Maximum number of visits for each value in the data: a path of `..` and `$` could visit a few
/// values millions of times.
pub const MAX_VISITS_PER_VALUE: usize = 100;
/// Number of visits that is always allowed, even for little data.
pub const MIN_VISITS: usize = 100_000;
/// Maximum depth for `..` when writing; data itself has a lower maximum depth.
pub const MAX_DESCENT: usize = 400;

/// A parsed path. Cheap to clone; displayed as written.
#[derive(Clone)]
pub struct Path {
    inner: Arc<PathInner>,
}

struct PathInner {
    text: Box<str>,
    shape: PathShape,
    /// Whether it contains only names, and splitting its text at the dots gives the same names:
    /// then the path matches the nodes created for it.
    is_cut_alike: bool,
    /// Location in this case, computed on the first write.
    place: OnceLock<Arc<Location>>,
}

/// Representation of a path.
enum PathShape {
    /// Names and indexes only. A boxed slice, because a `Vec` would keep the capacity of the much
    /// larger expressions that it is collected from.
    Plain(Box<[Segment]>),
    /// Any other path: the expressions in postfix order, ending with the complete one.
    Tree(Vec<PathExpression>),
}

/// A step of a plain path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// Value at a string key.
    Name(SmolStr),
    /// Element of a list; counted from the end if negative.
    Index(i64),
}

impl Segment {
    fn name(&self) -> Option<&SmolStr> {
        match self {
            Segment::Name(name) => Some(name),
            Segment::Index(_) => None,
        }
    }
}

/// A match of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Match<'a> {
    /// Matching value; owned if it is not a node of the data, such as a character of a string.
    pub node: Cow<'a, Node>,
    /// Location of the match.
    pub location: Location,
}

/// Behavior for writing a list to an index or a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListWrite {
    /// Like the reference (10.5): each index takes the next element from the front of the list.
    Popped,
    /// As documented: stored whole.
    Whole,
}

/// Result of [`Path::write`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathWrite {
    /// Written locations, in order. Their keys have no source spans ([`Location::in_data`]),
    /// because many documents share them.
    pub locations: Vec<Arc<Location>>,
    /// Topmost created location, with everything below it; `None` if nothing was missing. If a list
    /// was extended by several elements, the preceding ones are new too.
    pub created: Option<Location>,
}

impl Path {
    /// Parses `text`, normalized like in Deckhand (10.1): `.` is the root, and a leading `.` starts
    /// at it.
    ///
    /// # Errors
    /// If Deckhand cannot parse the path.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let shape = parse::parse(text)?;
        let is_cut_alike = create::makes_what_is_found(text, &shape);
        let text = text.into();
        let place = OnceLock::new();
        Ok(Self {
            inner: Arc::new(PathInner {
                text,
                shape,
                is_cut_alike,
                place,
            }),
        })
    }

    /// The path as written.
    pub fn text(&self) -> &str {
        &self.inner.text
    }

    /// Whether the path is just the root.
    pub fn is_root(&self) -> bool {
        matches!(&self.inner.shape, PathShape::Plain(segments) if segments.is_empty())
    }

    /// Names and indexes of a plain path.
    pub fn segments(&self) -> Option<&[Segment]> {
        match &self.inner.shape {
            PathShape::Plain(segments) => Some(segments),
            PathShape::Tree(_) => None,
        }
    }

    /// Whether the path ends with an index or a slice, so that a list written to it may be split
    /// ([`ListWrite::Popped`]).
    pub fn ends_in_elements(&self) -> bool {
        match &self.inner.shape {
            PathShape::Plain(segments) => matches!(segments.last(), Some(Segment::Index(_))),
            PathShape::Tree(expressions) => {
                let right = match expressions.as_slice() {
                    [.., right, PathExpression::Operation(..)] => Some(right),
                    expressions => expressions.last(),
                };
                matches!(
                    right,
                    Some(
                        PathExpression::Step(Segment::Index(_))
                            | PathExpression::Indexes(_)
                            | PathExpression::Slice(_)
                    )
                )
            }
        }
    }

    /// For a plain path without a match because of one name: the path with this name replaced by a
    /// similar key of the data. Keys below a secret are not revealed.
    pub fn near_miss(&self, data: &Node) -> Option<String> {
        let mut node = data;
        for (at, segment) in self.segments()?.iter().enumerate() {
            match segment {
                _ if node.secret => return None,
                Segment::Name(name) => match node.get(name) {
                    Some(next) => node = next,
                    None => {
                        let keys = node.as_mapping()?.keys().filter_map(Key::as_str);
                        let near = nearest(name, keys)?;
                        return Some(self.with_name(at, near, data.span));
                    }
                },
                Segment::Index(index) => {
                    node = node.as_sequence()?.get(usize::try_from(*index).ok()?)?;
                }
            }
        }
        None
    }

    /// Replaces the name of the segment `at`.
    fn with_name(&self, at: usize, name: &str, span: Span) -> String {
        let pieces = self
            .segments()
            .into_iter()
            .flatten()
            .enumerate()
            .map(|(index, segment)| match segment {
                _ if index == at => Piece::Key(Key::string(name, span)),
                Segment::Name(name) => Piece::Key(Key::string(name.clone(), span)),
                Segment::Index(index) => Piece::Index(usize::try_from(*index).unwrap_or_default()),
            });
        Location(pieces.collect()).to_string()
    }

    /// All matches, in document order (10.4).
    ///
    /// # Errors
    /// If Deckhand's walk fails.
    pub fn find<'a>(&self, data: &'a Node) -> Result<Vec<Match<'a>>, WalkError> {
        match &self.inner.shape {
            PathShape::Plain(segments) => {
                Ok(find::find_plain(segments, data)?.into_iter().collect())
            }
            PathShape::Tree(expressions) => find::find_tree(expressions, data),
        }
    }

    /// First match, which Deckhand uses for reading.
    ///
    /// # Errors
    /// If Deckhand's walk fails.
    pub fn first<'a>(&self, data: &'a Node) -> Result<Option<Match<'a>>, WalkError> {
        match &self.inner.shape {
            PathShape::Plain(segments) => find::find_plain(segments, data),
            // A later match may still fail, which fails in the reference, too.
            PathShape::Tree(expressions) => {
                Ok(find::find_tree(expressions, data)?.into_iter().next())
            }
        }
    }

    /// Value of the first match, which Deckhand uses for reading.
    ///
    /// # Errors
    /// If Deckhand's walk fails.
    pub fn value<'a>(&self, data: &'a Node) -> Result<Option<Cow<'a, Node>>, WalkError> {
        // Computing the location is much more expensive than finding the value.
        match self.segments() {
            Some(segments) if segments.iter().all(|it| it.name().is_some()) => {
                Ok(find::named(segments, data).map(Cow::Borrowed))
            }
            Some(_) | None => Ok(self.first(data)?.map(|found| found.node)),
        }
    }

    /// Stores `value` at all matches, like jsonpath_ng's `update` (10.5). Returns the written
    /// locations in order, possibly including locations inside of a value stored by the same call.
    ///
    /// # Errors
    /// If Deckhand's walk fails.
    pub fn update(
        &self,
        data: &mut Node,
        value: &Node,
        lists: ListWrite,
    ) -> Result<Vec<Location>, WalkError> {
        match &self.inner.shape {
            PathShape::Plain(segments) => write::update_plain(segments, data, value, lists),
            PathShape::Tree(expressions) => write::update_tree(expressions, data, value, lists),
        }
    }

    /// Creates missing nodes like Deckhand before it writes (10.6), as [`Node::made`] at `made_at`.
    /// If the path has a match, nothing is created. Returns the value of [`PathWrite::created`].
    ///
    /// # Errors
    /// If Deckhand's walk fails.
    pub fn create(&self, data: &mut Node, made_at: Span) -> Result<Option<Location>, WalkError> {
        self.require_rooted()?;
        if self.value(data)?.is_some() {
            return Ok(None);
        }
        unchanged_on_failure(data, |data| {
            Ok(self.grow(data, made_at)?.map(|new| new.top))
        })
    }

    /// Creates missing nodes and stores `value` at all matches, like Deckhand's `jsonpath_replace`
    /// without a pattern.
    ///
    /// # Errors
    /// If Deckhand's walk fails.
    pub fn write(
        &self,
        data: &mut Node,
        value: &Node,
        lists: ListWrite,
        made_at: Span,
    ) -> Result<PathWrite, WalkError> {
        self.require_rooted()?;
        if self.inner.is_cut_alike
            && let Some(segments) = self.segments()
            && let Some(new) = write::put_by_names(segments, data, value, made_at)
        {
            let place = self
                .inner
                .place
                .get_or_init(|| Arc::new(write::named(segments)));
            let created = new.created.map(|depth| Location(place.0[..depth].to_vec()));
            return Ok(PathWrite {
                locations: vec![place.clone()],
                created,
            });
        }
        let written = |locations: Vec<Location>, created| {
            let locations = locations.into_iter().map(Arc::new).collect();
            PathWrite { locations, created }
        };
        if self.value(data)?.is_some() {
            return Ok(written(self.update(data, value, lists)?, None));
        }
        unchanged_on_failure(data, |data| {
            let new = self.grow(data, made_at)?;
            match self.update(data, value, lists) {
                Ok(locations) => Ok(written(locations, new.map(|new| new.top))),
                Err(error) => {
                    new.inspect(|new| new.take_back(data));
                    Err(error)
                }
            }
        })
    }

    /// Creates missing nodes; fails if the path still has no match.
    fn grow(&self, data: &mut Node, made_at: Span) -> Result<Option<New>, WalkError> {
        let new = create::grow(self, data, made_at)?;
        match self
            .value(data)
            .and_then(|found| found.ok_or(WalkError::NotCreatable))
        {
            Ok(_) => Ok(new),
            Err(error) => {
                new.inspect(|new| new.take_back(data));
                Err(error)
            }
        }
    }

    /// Checks that Deckhand can write to the path: its normalized text must be `$` or begin with
    /// `$.`; `$['a']` is rejected.
    ///
    /// # Errors
    /// If the path has another form.
    pub fn require_rooted(&self) -> Result<(), WalkError> {
        let text = self.text();
        let rooted = text == "$" || text.starts_with('.') || text.starts_with("$.");
        if rooted {
            Ok(())
        } else {
            Err(WalkError::NotRooted)
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.text())
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Path({:?})", self.text())
    }
}

impl PartialEq for Path {
    /// Compares the text; `.a` and `$.a` match the same location, but are different paths.
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Path {}

/// Runs a `change` that reverts itself on failure. Shared data is copied by the change, so it is
/// restored to the shared value.
fn unchanged_on_failure<T>(
    data: &mut Node,
    change: impl FnOnce(&mut Node) -> Result<T, WalkError>,
) -> Result<T, WalkError> {
    let is_shared = match &data.value {
        Value::Mapping(mapping) => Arc::strong_count(mapping) > 1,
        Value::Sequence(items) => Arc::strong_count(items) > 1,
        _ => true,
    };
    // Another reference to unshared data would cause a copy of every level.
    let before = is_shared.then(|| data.clone());
    let changed = change(data);
    if changed.is_err()
        && let Some(before) = before
    {
        *data = before;
    }
    changed
}

/// Element of a list of `!!pairs` as in Python: a tuple becomes a list of two items.
fn pair_as_list(owner: &Node, left: &Node, right: &Node) -> Node {
    let items = vec![left.clone(), right.clone()];
    let value = Value::from(items);
    Node {
        value,
        span: left.span,
        secret: owner.secret,
        origin: Origin::Derived,
    }
}
