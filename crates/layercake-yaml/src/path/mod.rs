//! The JSONPath that Deckhand accepts, for reading and for writing.
//!
//! Deckhand parses paths with jsonpath_ng's base grammar (`deckhand.md`
//! section 10), and creates what is missing by cutting the path's *text* at
//! its dots (10.6). [`Path`] does both as the reference does, oddities
//! included, over values instead of shared objects:
//!
//! - Writing copies only what lies on the way to a written place; everything
//!   beside it stays the same `Arc`, with the same spans.
//! - A call that fails leaves its data as it was.
//! - Nothing a path or its data can say exhausts the stack or the memory: what
//!   is beyond the limits below is a [`PathError`] or a [`WalkError`].
//!
//! Nearly all paths are names and indexes in a row. They are held as
//! [`Segment`]s and walked without the tree that the full grammar needs.

mod create;
mod error;
mod find;
mod location;
mod parse;
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

/// A path may have this many names, indexes and other pieces.
pub const MAX_PIECES: usize = 1_000;
/// Operators may be nested this deep (a chain of dots is not nested).
pub const MAX_NESTING: usize = 100;
/// A list is padded up to this index and no further.
pub const MAX_INDEX: usize = 100_000;
/// One walk may meet this many places.
pub const MAX_MATCHES: usize = 1_000_000;
/// How many places a walk may look at, matches or not: `..` looks at all.
pub const MAX_VISITS: usize = 10 * MAX_MATCHES;
/// How many of them for each value that is there: a path of `..` and `$` could
/// look at a few values as often as at millions.
pub const MAX_VISITS_PER_VALUE: usize = 100;
/// A walk may look at so many places, however few values are there.
pub const MIN_VISITS: usize = 100_000;
/// `..` goes down this deep into what it writes; data itself is shallower.
pub const MAX_DESCENT: usize = 400;

/// A path, parsed. Cheap to clone; shows as the text it was written as.
#[derive(Clone)]
pub struct Path {
    inner: Arc<PathInner>,
}

struct PathInner {
    text: Box<str>,
    shape: PathShape,
    /// Whether it is names alone, and its text, cut at its dots, gives the
    /// same: what is created is then what the path leads to.
    is_cut_alike: bool,
    /// Where it leads then, as soon as something is written there.
    place: OnceLock<Arc<Location>>,
}

/// What a path is made of.
enum PathShape {
    /// Names and indexes in a row; no list, which would stay in the far larger room
    /// of the expressions it is collected from.
    Plain(Box<[Segment]>),
    /// Anything else: the expressions in postfix order, the whole one last.
    Tree(Vec<PathExpression>),
}

/// One step of a plain path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// The value at a text key.
    Name(SmolStr),
    /// An element of a list; from its end where negative.
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

/// A place that a path leads to.
#[derive(Clone, Debug, PartialEq)]
pub struct Match<'a> {
    /// The value there. It is owned where the data holds no such node: a
    /// character of a string, say.
    pub node: Cow<'a, Node>,
    /// Where it is.
    pub location: Location,
}

/// How a list is written to an index or a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListWrite {
    /// As the reference does (10.5): each index takes the next element from
    /// the front of the list.
    Popped,
    /// As its documentation has it: stored whole.
    Whole,
}

/// What [`Path::write`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathWrite {
    /// The places the value was stored at, in order. Their keys do not know where
    /// they are written ([`Location::in_data`]): many documents share them.
    pub locations: Vec<Arc<Location>>,
    /// The topmost place that was not there before; everything below it is
    /// new. None where nothing was missing. Where a list was extended by
    /// several elements, those before this one are new too.
    pub created: Option<Location>,
}

impl Path {
    /// Parses `text`, normalised as Deckhand does (10.1): `.` is the root,
    /// and a leading `.` starts at it.
    ///
    /// # Errors
    /// Where it is no path that Deckhand parses.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let shape = parse::parse(text)?;
        let is_cut_alike = create::makes_what_is_found(text, &shape);
        let (text, place) = (text.into(), OnceLock::new());
        Ok(Self { inner: Arc::new(PathInner { text, shape, is_cut_alike, place }) })
    }

    /// The path as it was written.
    pub fn text(&self) -> &str {
        &self.inner.text
    }

    /// Whether the path is the root and nothing else.
    pub fn is_root(&self) -> bool {
        matches!(&self.inner.shape, PathShape::Plain(segments) if segments.is_empty())
    }

    /// The names and indexes of a plain path.
    pub fn segments(&self) -> Option<&[Segment]> {
        match &self.inner.shape {
            PathShape::Plain(segments) => Some(segments),
            PathShape::Tree(_) => None,
        }
    }

    /// Whether the path's last piece is an index or a slice, so that a list
    /// written there may be taken apart ([`ListWrite::Popped`]).
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

    /// Where a plain path leads to nothing because of one name: the path with
    /// that name as the data nearly has it. Nothing below a secret is told.
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

    /// The path with another name as its segment `at`.
    fn with_name(&self, at: usize, name: &str, span: Span) -> String {
        let pieces =
            self.segments().into_iter().flatten().enumerate().map(
                |(index, segment)| match segment {
                    _ if index == at => Piece::Key(Key::string(name, span)),
                    Segment::Name(name) => Piece::Key(Key::string(name.clone(), span)),
                    Segment::Index(index) => {
                        Piece::Index(usize::try_from(*index).unwrap_or_default())
                    }
                },
            );
        Location(pieces.collect()).to_string()
    }

    /// All matches, in document order (10.4).
    ///
    /// # Errors
    /// Where Deckhand's walk fails.
    pub fn find<'a>(&self, data: &'a Node) -> Result<Vec<Match<'a>>, WalkError> {
        match &self.inner.shape {
            PathShape::Plain(segments) => {
                Ok(find::find_plain(segments, data)?.into_iter().collect())
            }
            PathShape::Tree(expressions) => find::find_tree(expressions, data),
        }
    }

    /// The first match: the one Deckhand reads.
    ///
    /// # Errors
    /// Where Deckhand's walk fails.
    pub fn first<'a>(&self, data: &'a Node) -> Result<Option<Match<'a>>, WalkError> {
        match &self.inner.shape {
            PathShape::Plain(segments) => find::find_plain(segments, data),
            // A later match may still fail, and then the reference fails.
            PathShape::Tree(expressions) => {
                Ok(find::find_tree(expressions, data)?.into_iter().next())
            }
        }
    }

    /// The value of the first match: what Deckhand reads.
    ///
    /// # Errors
    /// Where Deckhand's walk fails.
    pub fn value<'a>(&self, data: &'a Node) -> Result<Option<Cow<'a, Node>>, WalkError> {
        // To tell the place, too, costs far more than to go there.
        match self.segments() {
            Some(segments) if segments.iter().all(|it| it.name().is_some()) => {
                Ok(find::named(segments, data).map(Cow::Borrowed))
            }
            Some(_) | None => Ok(self.first(data)?.map(|found| found.node)),
        }
    }

    /// Stores `value` at all matches, as jsonpath_ng's `update` does (10.5).
    /// Gives the places written, in order; a place inside a value that this
    /// same call stored may be among them.
    ///
    /// # Errors
    /// Where Deckhand's walk fails.
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

    /// Creates what the path lacks, as Deckhand does before it writes (10.6).
    /// Nodes made are [`Node::made`] at `made_at`. Where the path has a match,
    /// nothing is created. Gives what [`PathWrite::created`] is.
    ///
    /// # Errors
    /// Where Deckhand's walk fails.
    pub fn create(&self, data: &mut Node, made_at: Span) -> Result<Option<Location>, WalkError> {
        self.require_rooted()?;
        if self.value(data)?.is_some() {
            return Ok(None);
        }
        unchanged_on_failure(data, |data| Ok(self.grow(data, made_at)?.map(|new| new.top)))
    }

    /// Creates what is missing and stores `value` at all matches: what
    /// Deckhand's `jsonpath_replace` does where it has no pattern.
    ///
    /// # Errors
    /// Where Deckhand's walk fails.
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
            let place = self.inner.place.get_or_init(|| Arc::new(write::named(segments)));
            let created = new.created.map(|depth| Location(place.0[..depth].to_vec()));
            return Ok(PathWrite { locations: vec![place.clone()], created });
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

    /// Creates what the path lacks; fails where it leads nowhere even then.
    fn grow(&self, data: &mut Node, made_at: Span) -> Result<Option<New>, WalkError> {
        let new = create::grow(self, data, made_at)?;
        match self.value(data).and_then(|found| found.ok_or(WalkError::NotCreatable)) {
            Ok(_) => Ok(new),
            Err(error) => {
                new.inspect(|new| new.take_back(data));
                Err(error)
            }
        }
    }

    /// Deckhand writes to paths only whose text, normalised, is `$` or begins
    /// with `$.`: `$['a']` is refused.
    ///
    /// # Errors
    /// Where it is another path.
    pub fn require_rooted(&self) -> Result<(), WalkError> {
        let text = self.text();
        let rooted = text == "$" || text.starts_with('.') || text.starts_with("$.");
        if rooted { Ok(()) } else { Err(WalkError::NotRooted) }
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
    /// Equal where written alike; `.a` and `$.a` lead to one place and are two
    /// paths.
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Path {}

/// Does what takes back its own changes where it fails; where the data is
/// shared with others, and so is copied to be changed, it is shared again then.
fn unchanged_on_failure<T>(
    data: &mut Node,
    change: impl FnOnce(&mut Node) -> Result<T, WalkError>,
) -> Result<T, WalkError> {
    let is_shared = match &data.value {
        Value::Mapping(mapping) => Arc::strong_count(mapping) > 1,
        Value::Sequence(items) => Arc::strong_count(items) > 1,
        _ => true,
    };
    // To hold what nobody else holds would make a copy of every level.
    let before = is_shared.then(|| data.clone());
    let changed = change(data);
    if changed.is_err()
        && let Some(before) = before
    {
        *data = before;
    }
    changed
}

/// The elements of a value that is a list to Python: a tuple of `!!pairs` is
/// made a list of two.
fn pair_as_list(owner: &Node, (left, right): &(Node, Node)) -> Node {
    let items = vec![left.clone(), right.clone()];
    let value = Value::from(items);
    Node { value, span: left.span, secret: owner.secret, origin: Origin::Derived }
}
