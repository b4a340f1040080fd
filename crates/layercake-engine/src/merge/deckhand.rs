//! Deckhand's layering actions, and what is special to its substitutions
//! (`deckhand.md` sections 11 and 12), in both meanings of `semantics.md`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use layercake_source::Span;
use layercake_yaml::path::{
    ListWrite, Location, Path, PathError, Piece, Segment, WalkError, first_inside, inside,
};
use layercake_yaml::{Mapping, Node, Value};

/// Which of two meanings is rendered where Deckhand's documentation and its
/// code differ (`semantics.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// What the documentation promises.
    Documented,
    /// What the code does, crashes and shared objects apart.
    Deckhand,
}

impl Semantics {
    /// How a list is written at an index (`deckhand.md` 10.5): the code takes
    /// elements from its front.
    pub(crate) fn list_write(self) -> ListWrite {
        match self {
            Semantics::Documented => ListWrite::Whole,
            Semantics::Deckhand => ListWrite::Popped,
        }
    }
}

/// The `method` of a layering action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The child's mapping laid over the parent's, recursively.
    Merge,
    /// The child's value instead of the parent's.
    Replace,
    /// The parent's value taken away.
    Delete,
}

impl Method {
    /// The method of this name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "merge" => Some(Method::Merge),
            "replace" => Some(Method::Replace),
            "delete" => Some(Method::Delete),
            _ => None,
        }
    }

    /// The name, as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Merge => "merge",
            Method::Replace => "replace",
            Method::Delete => "delete",
        }
    }
}

/// The `path` of a layering action, in both meanings (row D10).
#[derive(Clone, Debug)]
pub struct ActionPath {
    documented: Path,
    deckhand: DeckhandPath,
}

#[derive(Clone, Debug)]
enum DeckhandPath {
    Same,
    /// `$` became `.$`: the root to read, and no place to write to.
    UnwrittenRoot,
    Other(Path),
}

impl ActionPath {
    /// Reads a path as actions take it: a leading `data` segment is cut, and a
    /// missing dot in front is added (`deckhand.md` 11.1).
    ///
    /// # Errors
    /// Where the path does not parse; the offset is into `text`.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let cut = cut_data_text(text);
        if matches!(cut, "$" | ".$" | "$.$") {
            let documented = Path::parse(".").expect("the root is a path");
            return Ok(Self { documented, deckhand: DeckhandPath::UnwrittenRoot });
        }
        let documented =
            Path::parse(&rooted(cut_data_segment(text))).map_err(|error| error_in(text, error))?;
        if cut == cut_data_segment(text) {
            return Ok(Self { documented, deckhand: DeckhandPath::Same });
        }
        let deckhand = Path::parse(&rooted(cut)).map_err(|error| error_in(text, error))?;
        Ok(Self { documented, deckhand: DeckhandPath::Other(deckhand) })
    }

    /// Whether the two meanings read this path differently.
    pub fn differs(&self, method: Method) -> bool {
        match self.deckhand {
            DeckhandPath::Same => false,
            DeckhandPath::UnwrittenRoot => method != Method::Merge,
            DeckhandPath::Other(_) => true,
        }
    }

    /// Whether Deckhand's code reads the root at this path and writes nothing there. It merges
    /// two mappings in place all the same.
    pub(crate) fn is_unwritten_root(&self) -> bool {
        matches!(self.deckhand, DeckhandPath::UnwrittenRoot)
    }

    /// Whether the path has an index in it.
    pub(crate) fn has_index(&self) -> bool {
        self.documented.text().contains('[')
    }

    /// The path Deckhand's code ends up with, where it is another one.
    pub fn deckhand_text(&self) -> Option<&str> {
        match &self.deckhand {
            DeckhandPath::Other(path) => Some(path.text()),
            DeckhandPath::Same | DeckhandPath::UnwrittenRoot => None,
        }
    }

    /// The path that the action uses; none where the action has no effect.
    pub fn effective(&self, method: Method, semantics: Semantics) -> Option<&Path> {
        match (semantics, &self.deckhand) {
            (Semantics::Documented, _) | (Semantics::Deckhand, DeckhandPath::Same) => {
                Some(&self.documented)
            }
            (Semantics::Deckhand, DeckhandPath::UnwrittenRoot) => {
                (method == Method::Merge).then_some(&self.documented)
            }
            (Semantics::Deckhand, DeckhandPath::Other(path)) => Some(path),
        }
    }
}

/// `.data` is cut where it is the whole first segment.
fn cut_data_segment(text: &str) -> &str {
    for prefix in [".data", "$.data"] {
        if let Some(rest) = text.strip_prefix(prefix)
            && (rest.is_empty() || rest.starts_with(['.', '[']))
        {
            return rest;
        }
    }
    text
}

/// `.data` is cut as text, wherever the path begins with it.
fn cut_data_text(text: &str) -> &str {
    [".data", "$.data"].iter().find_map(|prefix| text.strip_prefix(prefix)).unwrap_or(text)
}

/// The path with a dot in front, unless it has a root already.
fn rooted(path: &str) -> String {
    if path == "$" || path == "." {
        return ".".into();
    }
    if path.starts_with('.') || path.starts_with("$.") { path.into() } else { format!(".{path}") }
}

/// An error of the rewritten path, placed in the path as it was written: what
/// was cut or added stands at the front, so offsets count from the end.
fn error_in(text: &str, error: PathError) -> PathError {
    let rewritten = rooted(cut_data_segment(text));
    let from_end = rewritten.len().saturating_sub(error.at);
    PathError { at: text.len().saturating_sub(from_end), ..error }
}

/// What an action did.
#[derive(Debug, Default)]
pub struct Applied {
    /// The places written or removed, as in [`path::PathWrite::locations`](layercake_yaml::path::PathWrite::locations).
    pub(crate) locations: Vec<Arc<Location>>,
    /// Where the two meanings of `semantics.md` part for this action.
    pub(crate) difference: Option<Difference>,
}

/// A row of `semantics.md` in which an action gives two results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// D01: a merge at an index.
    IndexMerge,
    /// D10: a merge at `$` of anything but two mappings, which the code does not write.
    RootMerge,
    /// D03: Deckhand removes the first equal value, which is here.
    Delete {
        /// What stands at the path.
        at_path: Location,
        /// What the code removes.
        first_equal: Location,
    },
    /// D03: the path matches several places; the code removes one.
    DeleteOne {
        /// How many places match.
        matches: usize,
    },
    /// 10.5: a list written at an index.
    ListWrite,
}

/// Why an action was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The path is missing in the child, or null there.
    MissingInChild,
    /// The path is missing in the parent, or null there (delete).
    MissingInParent,
    /// The walk went wrong.
    Walk(WalkError),
}

impl From<WalkError> for Failure {
    fn from(error: WalkError) -> Self {
        Failure::Walk(error)
    }
}

/// Applies one action to `base`, the data as it stands, with `over`, the
/// child's own data. `at` is the place of the action, for nodes it makes.
///
/// # Errors
/// Where the action cannot be applied; `base` is then as it was.
pub fn apply(
    method: Method,
    path: &Path,
    base: &mut Node,
    over: &Node,
    semantics: Semantics,
    at: Span,
) -> Result<Applied, Failure> {
    match method {
        Method::Merge => merge(path, base, over, semantics, at),
        Method::Replace => {
            let value = present(path, over)?;
            write(path, base, &value, semantics, at)
        }
        Method::Delete => delete(path, base, semantics, at),
    }
}

/// How many entries of mappings and lists of `base` an action has to copy: those on the way to
/// its place, and those that it merges with `over`. A path of patterns counts for nothing.
pub(crate) fn count_copied(method: Method, path: &Path, base: &Node, over: &Node) -> u64 {
    let (mut count, mut here) = (0, Some(base));
    for segment in path.segments().into_iter().flatten() {
        let Some(node) = here else { return count };
        count += inside(node).count() as u64;
        here = match segment {
            Segment::Name(name) => node.get(name),
            Segment::Index(index) => {
                let index = usize::try_from(*index).ok();
                index.and_then(|index| node.as_sequence()?.get(index))
            }
        };
    }
    match (method, here, path.first(over)) {
        (Method::Merge, Some(below), Ok(Some(above))) => count + count_merged(below, &above.node),
        _ => count,
    }
}

/// How many entries of `base` [`laid_over`] copies.
fn count_merged(base: &Node, over: &Node) -> u64 {
    let (Some(below), Some(above)) = (base.as_mapping(), over.as_mapping()) else { return 0 };
    let inside = above.iter().filter_map(|(key, node)| Some(count_merged(below.get(key)?, node)));
    if above.is_empty() { 0 } else { below.len() as u64 + inside.sum::<u64>() }
}

fn present<'a>(path: &Path, data: &'a Node) -> Result<Cow<'a, Node>, Failure> {
    match path.first(data)? {
        Some(found) if !found.node.is_null() => Ok(found.node),
        _ => Err(Failure::MissingInChild),
    }
}

fn merge(
    path: &Path,
    base: &mut Node,
    over: &Node,
    semantics: Semantics,
    at: Span,
) -> Result<Applied, Failure> {
    if let Some(list) = extended_list(path, semantics) {
        return extend(&list, base, over, at);
    }
    let child = present(path, over)?;
    let parent = path.first(base)?.map(|found| found.node);
    let merged = match parent {
        Some(parent) => laid_over(&parent, &child),
        None => child.into_owned(),
    };
    let applied = write(path, base, &merged, semantics, at)?;
    let index_merge = list_of_index(path).map(|_| Difference::IndexMerge);
    let difference = index_merge.or(applied.difference);
    Ok(Applied { difference, ..applied })
}

/// The path of the list that a merge at `path` extends; none where it merges
/// what stands at the path itself (D01).
pub fn extended_list(path: &Path, semantics: Semantics) -> Option<Path> {
    match semantics {
        Semantics::Documented => list_of_index(path),
        Semantics::Deckhand => None,
    }
}

/// Whether a merge at `path`, as documented, extends a list by entries that
/// `over` has (D01): at an index that it has not, Deckhand's code fails.
pub(crate) fn extends_list(path: &Path, over: &Node) -> bool {
    list_of_index(path).is_some_and(|list| present(&list, over).is_ok())
}

/// D01 as documented: the parent's list, extended by the child's entries.
fn extend(list: &Path, base: &mut Node, over: &Node, at: Span) -> Result<Applied, Failure> {
    let child = present(list, over)?;
    let merged = match (list.first(base)?.as_ref().map(|found| &found.node.value), &child.value) {
        (Some(Value::Sequence(parent)), Value::Sequence(entries)) => {
            let items: Vec<Node> = parent.iter().chain(entries.iter()).cloned().collect();
            Node { value: Value::from(items), ..child.into_owned() }
        }
        _ => child.into_owned(),
    };
    let applied = write(list, base, &merged, Semantics::Documented, at)?;
    Ok(Applied { difference: Some(Difference::IndexMerge), ..applied })
}

/// The path of the list, where the path ends in an index.
fn list_of_index(path: &Path) -> Option<Path> {
    let (last, _) = path.segments()?.split_last()?;
    if !matches!(last, Segment::Index(_)) {
        return None;
    }
    let bracket = path.text().rfind('[')?;
    let list = &path.text()[..bracket];
    Path::parse(if list.is_empty() { "." } else { list }).ok()
}

/// `over` laid over `base`: mappings merge recursively and keep the base's
/// order, anything else in `over` takes the base's place, null included
/// (`deckhand.md` 11.3). A mapping made of both carries the span of `over`.
pub fn laid_over(base: &Node, over: &Node) -> Node {
    let (Value::Mapping(below), Value::Mapping(above)) = (&base.value, &over.value) else {
        return over.clone();
    };
    if above.is_empty() {
        return Node { secret: base.secret || over.secret, ..base.clone() };
    }
    let mut merged: Mapping = (**below).clone();
    for (key, node) in above.iter() {
        let laid = match below.get(key) {
            Some(lower) if lower.as_mapping().is_some() && node.as_mapping().is_some() => {
                let slot = merged.get_mut(key).expect("the key was cloned with the mapping");
                *slot = laid_over(lower, node);
                continue;
            }
            _ => node.clone(),
        };
        merged.replace(key.clone(), laid);
    }
    Node {
        value: Value::Mapping(Arc::new(merged)),
        secret: base.secret || over.secret,
        ..over.clone()
    }
}

/// `over`'s entries put into `base`, both mappings, one level deep
/// (`deckhand.md` 12.4: a mapping substituted at the root).
pub fn laid_flat(base: &Node, over: &Node) -> Node {
    let (Value::Mapping(below), Value::Mapping(above)) = (&base.value, &over.value) else {
        return over.clone();
    };
    let mut merged: Mapping = (**below).clone();
    for (key, node) in above.iter() {
        merged.replace(key.clone(), node.clone());
    }
    let value = Value::Mapping(Arc::new(merged));
    Node { value, secret: base.secret || over.secret, ..base.clone() }
}

/// Writes `value` at every match, creating what is missing.
fn write(
    path: &Path,
    base: &mut Node,
    value: &Node,
    semantics: Semantics,
    at: Span,
) -> Result<Applied, Failure> {
    let locations = path.write(base, value, semantics.list_write(), at)?.locations;
    let difference = pops(path, value).then_some(Difference::ListWrite);
    Ok(Applied { locations, difference })
}

/// Whether the code would take elements from the front of `value` instead of
/// storing it (10.5): a list written at an index or at every element.
pub(crate) fn pops(path: &Path, value: &Node) -> bool {
    value.as_sequence().is_some() && path.ends_in_elements()
}

fn delete(
    path: &Path,
    base: &mut Node,
    semantics: Semantics,
    at: Span,
) -> Result<Applied, Failure> {
    if path.is_root() {
        let empty = Value::Mapping(Arc::new(Mapping::new()));
        *base = Node { secret: base.secret, ..Node::made(empty, at) };
        return Ok(Applied { locations: vec![Arc::default()], difference: None });
    }
    let matches = path.find(base)?;
    let Some(first) = matches.first().filter(|found| !found.node.is_null()) else {
        return Err(Failure::MissingInParent);
    };
    let value = first.node.value.clone();
    let at_path = distinct(matches.iter().map(|found| &found.location));
    let first_equal = first_equal(base, &value).unwrap_or_else(|| at_path[0].clone());
    let difference = delete_difference(&at_path, &first_equal);
    let doomed = match semantics {
        Semantics::Documented => removable(at_path),
        Semantics::Deckhand => vec![first_equal],
    };
    for location in doomed.iter().rev() {
        location.remove(base);
    }
    let locations = doomed.into_iter().map(Arc::new).collect();
    Ok(Applied { locations, difference })
}

/// Each place once; a path may lead to one several times.
fn distinct<'a>(places: impl Iterator<Item = &'a Location>) -> Vec<Location> {
    let mut seen: HashSet<&Location, foldhash::fast::RandomState> = HashSet::default();
    places.filter(|place| seen.insert(place)).cloned().collect()
}

/// The places in an order in which taking out the last leaves the others where they
/// are: places around others come first, and elements of a list by their index.
fn removable(mut places: Vec<Location>) -> Vec<Location> {
    places.sort_by_key(|place| {
        let index = match place.0.last() {
            Some(Piece::Index(index)) => *index,
            Some(Piece::Key(_)) | None => 0,
        };
        (place.0.len(), index)
    });
    places
}

fn delete_difference(at_path: &[Location], first_equal: &Location) -> Option<Difference> {
    if at_path[0] != *first_equal {
        let (at_path, first_equal) = (at_path[0].clone(), first_equal.clone());
        return Some(Difference::Delete { at_path, first_equal });
    }
    (at_path.len() > 1).then(|| Difference::DeleteOne { matches: at_path.len() })
}

/// The first place below the root whose value equals `value` as Python
/// compares: depth first, a parent before what is in it, in order (11.5).
fn first_equal(data: &Node, value: &Value) -> Option<Location> {
    first_inside(data, |node, _| node.value.equals_in_python(value))
}
