//! Deckhand's layering actions and the special rules of its substitutions (`deckhand.md` sections
//! 11 and 12), in both semantics of `semantics.md`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use layercake_source::Span;
use layercake_yaml::path::{
    ListWrite, Location, Path, PathError, Piece, Segment, WalkError, first_inside, inside,
};
use layercake_yaml::{Mapping, Node, Value};

/// Semantics used where Deckhand's documentation and its code differ (`semantics.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// The documented behaviour.
    Documented,
    /// The behaviour of the code, except for crashes and shared objects.
    Deckhand,
}

impl Semantics {
    /// Returns how a list is written at an index (`deckhand.md` 10.5): the code takes elements from
    /// its front.
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
    /// Merges the child's mapping into the parent's, recursively.
    Merge,
    /// Replaces the parent's value with the child's.
    Replace,
    /// Deletes the parent's value.
    Delete,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 3] = [Method::Merge, Method::Replace, Method::Delete];

    /// Returns the method with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == name)
    }

    /// Returns the name.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Merge => "merge",
            Method::Replace => "replace",
            Method::Delete => "delete",
        }
    }
}

/// The `path` of a layering action, in both semantics (row D10).
#[derive(Clone, Debug)]
pub struct ActionPath {
    documented: Path,
    deckhand: DeckhandPath,
}

#[derive(Clone, Debug)]
enum DeckhandPath {
    Same,
    /// `$` became `.$`: the root when reading, and not a place when writing.
    UnwrittenRoot,
    Other(Path),
}

impl ActionPath {
    /// Parses a path as actions do: a leading `data` segment is removed, and a missing leading dot
    /// is added (`deckhand.md` 11.1).
    ///
    /// # Errors
    /// If the path does not parse. The offset refers to `text`.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let cut = cut_data_text(text);
        if matches!(cut, "$" | ".$" | "$.$") {
            let documented = Path::parse(".").expect("the root is a path");
            return Ok(Self {
                documented,
                deckhand: DeckhandPath::UnwrittenRoot,
            });
        }
        let documented =
            Path::parse(&rooted(cut_data_segment(text))).map_err(|error| error_in(text, error))?;
        if cut == cut_data_segment(text) {
            return Ok(Self {
                documented,
                deckhand: DeckhandPath::Same,
            });
        }
        let deckhand = Path::parse(&rooted(cut)).map_err(|error| error_in(text, error))?;
        Ok(Self {
            documented,
            deckhand: DeckhandPath::Other(deckhand),
        })
    }

    /// Returns whether the path differs between the two semantics.
    pub fn differs(&self, method: Method) -> bool {
        match self.deckhand {
            DeckhandPath::Same => false,
            DeckhandPath::UnwrittenRoot => method != Method::Merge,
            DeckhandPath::Other(_) => true,
        }
    }

    /// Returns whether Deckhand's code reads the root at this path but writes nothing there. It
    /// still merges two mappings, because it does so in place.
    pub(crate) fn is_unwritten_root(&self) -> bool {
        matches!(self.deckhand, DeckhandPath::UnwrittenRoot)
    }

    /// Returns whether the path contains an index.
    pub(crate) fn has_index(&self) -> bool {
        self.documented.text().contains('[')
    }

    /// Returns the path that Deckhand's code uses, if it is another one.
    pub fn deckhand_text(&self) -> Option<&str> {
        match &self.deckhand {
            DeckhandPath::Other(path) => Some(path.text()),
            DeckhandPath::Same | DeckhandPath::UnwrittenRoot => None,
        }
    }

    /// Returns the path that the action uses, or `None` if the action has no effect.
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

/// Removes `.data` if it is the whole first segment.
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

/// Removes `.data` from the text, even if it is only a part of the first segment.
fn cut_data_text(text: &str) -> &str {
    [".data", "$.data"]
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix))
        .unwrap_or(text)
}

/// Returns the path with a leading dot, unless it already starts at the root.
fn rooted(path: &str) -> String {
    if path == "$" || path == "." {
        return ".".into();
    }
    if path.starts_with('.') || path.starts_with("$.") {
        path.into()
    } else {
        format!(".{path}")
    }
}

/// Maps an error of the rewritten path to the original path. Only the front of the path was
/// changed, so the offset is counted from the end.
fn error_in(text: &str, error: PathError) -> PathError {
    let rewritten = rooted(cut_data_segment(text));
    let from_end = rewritten.len().saturating_sub(error.at);
    PathError {
        at: text.len().saturating_sub(from_end),
        ..error
    }
}

/// Result of an action.
#[derive(Debug, Default)]
pub struct Applied {
    /// Written or removed places, as in
    /// [`path::PathWrite::locations`](layercake_yaml::path::PathWrite::locations).
    pub(crate) locations: Vec<Arc<Location>>,
    /// Difference between the two semantics of `semantics.md` for this action.
    pub(crate) difference: Option<Difference>,
}

/// Row of `semantics.md` for which an action has two results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// D01: a merge at an index.
    IndexMerge,
    /// D10: a merge at `$` of anything but two mappings, which the code does not write.
    RootMerge,
    /// D03: what a delete removes.
    Delete(DeleteDifference),
    /// 10.5: a list written at an index.
    ListWrite,
}

/// Ways in which the code deletes something else than the documentation says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeleteDifference {
    /// It removes the first equal value, which is at another place.
    FirstEqual {
        /// Place of the path.
        at_path: Location,
        /// Place that the code removes.
        first_equal: Location,
    },
    /// The path matches several places; it removes one.
    One {
        /// Number of matching places.
        matches: usize,
    },
}

/// Reason why an action was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The child has no value at the path, or null.
    MissingInChild,
    /// The parent has no value at the path, or null (delete).
    MissingInParent,
    /// The path cannot be followed.
    Walk(WalkError),
}

impl From<WalkError> for Failure {
    fn from(error: WalkError) -> Self {
        Failure::Walk(error)
    }
}

/// Applies one action to `base`, the data so far. `over` is the child's own data, and `at` the span
/// for nodes that the action creates.
///
/// # Errors
/// If the action cannot be applied; `base` is then unchanged.
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

/// Returns the number of entries of mappings and lists of `base` that an action copies: those on
/// the way to its place, and those that it merges with `over`. Ignores paths with patterns.
pub(crate) fn count_copied(method: Method, path: &Path, base: &Node, over: &Node) -> u64 {
    let mut count = 0;
    let mut here = Some(base);
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

/// Returns the number of entries of `base` that [`merged_over`] copies.
fn count_merged(base: &Node, over: &Node) -> u64 {
    let (Some(below), Some(above)) = (base.as_mapping(), over.as_mapping()) else {
        return 0;
    };
    let inside = above
        .iter()
        .filter_map(|(key, node)| Some(count_merged(below.get(key)?, node)));
    if above.is_empty() {
        0
    } else {
        below.len() as u64 + inside.sum::<u64>()
    }
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
        Some(parent) => merged_over(&parent, &child),
        None => child.into_owned(),
    };
    let applied = write(path, base, &merged, semantics, at)?;
    let index_merge = list_of_index(path).map(|_| Difference::IndexMerge);
    let difference = index_merge.or(applied.difference);
    Ok(Applied {
        difference,
        ..applied
    })
}

/// Returns the path of the list that a merge at `path` extends, or `None` if it merges the value at
/// the path itself (D01).
pub fn extended_list(path: &Path, semantics: Semantics) -> Option<Path> {
    match semantics {
        Semantics::Documented => list_of_index(path),
        Semantics::Deckhand => None,
    }
}

/// Returns whether a documented merge at `path` extends a list by entries of `over` (D01). At a
/// missing index, Deckhand's code fails.
pub(crate) fn extends_list(path: &Path, over: &Node) -> bool {
    list_of_index(path).is_some_and(|list| present(&list, over).is_ok())
}

/// Extends the parent's list by the child's entries, as documented (D01). The list is secret if either
/// is.
fn extend(list: &Path, base: &mut Node, over: &Node, at: Span) -> Result<Applied, Failure> {
    let child = present(list, over)?;
    let found = list.first(base)?;
    let parent: Option<&Node> = found.as_ref().map(|found| &*found.node);
    let merged = match (parent.map(|node| &node.value), &child.value) {
        (Some(Value::Sequence(below)), Value::Sequence(above)) => {
            let items: Vec<Node> = below.iter().chain(above.iter()).cloned().collect();
            Node {
                value: Value::from(items),
                secret: parent.is_some_and(|node| node.secret) || child.secret,
                ..child.into_owned()
            }
        }
        _ => child.into_owned(),
    };
    let applied = write(list, base, &merged, Semantics::Documented, at)?;
    Ok(Applied {
        difference: Some(Difference::IndexMerge),
        ..applied
    })
}

/// Returns the path of the list if the path ends in an index.
fn list_of_index(path: &Path) -> Option<Path> {
    let (last, _) = path.segments()?.split_last()?;
    if !matches!(last, Segment::Index(_)) {
        return None;
    }
    let bracket = path.text().rfind('[')?;
    let list = &path.text()[..bracket];
    Path::parse(if list.is_empty() { "." } else { list }).ok()
}

/// Merges `over` into `base`. Mappings merge recursively and keep the order of the base; any other
/// value of `over` replaces that of the base, including null (`deckhand.md` 11.3). A merged mapping
/// has the span of `over`.
pub fn merged_over(base: &Node, over: &Node) -> Node {
    let (Value::Mapping(below), Value::Mapping(above)) = (&base.value, &over.value) else {
        return over.clone();
    };
    if above.is_empty() {
        return Node {
            secret: base.secret || over.secret,
            ..base.clone()
        };
    }
    let mut merged: Mapping = (**below).clone();
    for (key, node) in above.iter() {
        let value = match below.get(key) {
            Some(lower) if lower.as_mapping().is_some() && node.as_mapping().is_some() => {
                let slot = merged
                    .get_mut(key)
                    .expect("the key was cloned with the mapping");
                *slot = merged_over(lower, node);
                continue;
            }
            _ => node.clone(),
        };
        merged.replace(key.clone(), value);
    }
    Node {
        value: Value::Mapping(Arc::new(merged)),
        secret: base.secret || over.secret,
        ..over.clone()
    }
}

/// Merges the entries of `over` into `base`, one level deep (`deckhand.md` 12.4: a mapping
/// substituted at the root).
pub fn merged_shallow(base: &Node, over: &Node) -> Node {
    let (Value::Mapping(below), Value::Mapping(above)) = (&base.value, &over.value) else {
        return over.clone();
    };
    let mut merged: Mapping = (**below).clone();
    for (key, node) in above.iter() {
        merged.replace(key.clone(), node.clone());
    }
    let value = Value::Mapping(Arc::new(merged));
    Node {
        value,
        secret: base.secret || over.secret,
        ..base.clone()
    }
}

/// Writes `value` at every match, creating missing ancestors.
fn write(
    path: &Path,
    base: &mut Node,
    value: &Node,
    semantics: Semantics,
    at: Span,
) -> Result<Applied, Failure> {
    let locations = path
        .write(base, value, semantics.list_write(), at)?
        .locations;
    let difference = pops(path, value).then_some(Difference::ListWrite);
    Ok(Applied {
        locations,
        difference,
    })
}

/// Returns whether the code would take elements from the front of `value` instead of storing it
/// (10.5): a list written at an index or to every element.
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
        *base = Node {
            secret: base.secret,
            ..Node::made(empty, at)
        };
        return Ok(Applied {
            locations: vec![Arc::default()],
            difference: None,
        });
    }
    let matches = path.find(base)?;
    let Some(first) = matches.first().filter(|found| !found.node.is_null()) else {
        return Err(Failure::MissingInParent);
    };
    let value = first.node.value.clone();
    let at_path = distinct(matches.iter().map(|found| &found.location));
    let first_equal = first_equal(base, &value).unwrap_or_else(|| at_path[0].clone());
    let difference = delete_difference(&at_path, &first_equal).map(Difference::Delete);
    let removed = match semantics {
        Semantics::Documented => removable(at_path),
        Semantics::Deckhand => vec![first_equal],
    };
    for location in removed.iter().rev() {
        location.remove(base);
    }
    let locations = removed.into_iter().map(Arc::new).collect();
    Ok(Applied {
        locations,
        difference,
    })
}

/// Removes duplicates; a path may lead to a place several times.
fn distinct<'a>(places: impl Iterator<Item = &'a Location>) -> Vec<Location> {
    let mut seen: HashSet<&Location, foldhash::fast::RandomState> = HashSet::default();
    places.filter(|place| seen.insert(place)).cloned().collect()
}

/// Sorts the places so that removing them from last to first does not move the others: ancestors
/// come first, and list elements are sorted by index.
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

fn delete_difference(at_path: &[Location], first_equal: &Location) -> Option<DeleteDifference> {
    match at_path {
        [first, ..] if first != first_equal => Some(DeleteDifference::FirstEqual {
            at_path: first.clone(),
            first_equal: first_equal.clone(),
        }),
        [] | [_] => None,
        several => Some(DeleteDifference::One {
            matches: several.len(),
        }),
    }
}

/// Returns the first place below the root whose value equals `value` in Python: depth first, a
/// parent before its children, in order (11.5).
fn first_equal(data: &Node, value: &Value) -> Option<Location> {
    first_inside(data, |node, _| node.value.equals_in_python(value))
}
