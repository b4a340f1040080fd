//! Shapes: a JSON Schema reduced to the mappings and lists it describes, and the blocks in it (D7,
//! D8).
//!
//! References are resolved, so a schema that refers to itself becomes a shape that contains itself.
//! Each schema is a single shape, regardless of the number of references to it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::definition::{GroupProblem, InvalidGroup};
use super::{FoundBlock, KEYWORD};
use crate::merge::pattern::{Pattern, Patterns};
use crate::schema::reference_target;
use crate::yaml::path::{Location, Piece};
use crate::yaml::{Key, Node, Value};

/// Index of a shape.
pub(super) type ShapeId = usize;

/// All shapes of a schema.
#[derive(Debug)]
pub(super) struct Shapes(Vec<SchemaShape>);

/// Description of the data at one location by a schema.
#[derive(Debug, Default)]
struct SchemaShape {
    kind: ShapeKind,
    /// Declared properties; `None` without the keyword.
    properties: Option<Vec<(Arc<str>, ShapeId)>>,
    by_pattern: Option<Vec<(Option<Pattern>, ShapeId)>>,
    additional: Additional,
    items: Items,
    /// Shapes that always apply to the same data (`allOf`).
    always: Vec<ShapeId>,
    /// Shapes that apply to the same data conditionally.
    sometimes: Vec<ShapeId>,
}

/// Kind of the data, as far as paths need it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ShapeKind {
    /// Neither a mapping nor a list.
    Scalar,
    List,
    /// A mapping or any value.
    #[default]
    Open,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Additional {
    #[default]
    Unsaid,
    Refused,
    Allowed,
    Schema(ShapeId),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Items {
    #[default]
    Any,
    Each(ShapeId),
    /// A separate schema for each item.
    Tuple,
}

/// Result of following a word from a mapping.
pub(super) enum PropertyStep {
    /// A declared property.
    Declared(ShapeId),
    /// An undeclared property, with the shape of additional properties if there is one.
    Undeclared(Option<ShapeId>),
    /// No such property exists.
    Unknown,
    /// The value is a scalar.
    Scalar,
}

/// A shape with enclosing lists removed.
pub(super) struct UnwrappedList {
    pub(super) lists: usize,
    /// Shape of the items of the innermost list; `None` if it is unspecified.
    pub(super) inner: Option<ShapeId>,
    /// Whether one of the lists has a schema for each item.
    pub(super) through_tuple: bool,
}

impl Shapes {
    /// The shape of any value, and its index.
    pub(super) fn open() -> (Self, ShapeId) {
        (Self(vec![SchemaShape::default()]), 0)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Names of the properties that `shape` declares.
    pub(super) fn declared(&self, shape: ShapeId) -> Vec<&str> {
        self.beside(shape)
            .into_iter()
            .flat_map(|shape| self.0[shape].properties.iter().flatten())
            .map(|(name, _)| &**name)
            .collect()
    }

    /// Follows `word` from a mapping of this shape (D7).
    pub(super) fn step(&self, shape: ShapeId, word: &str) -> PropertyStep {
        let beside = self.beside(shape);
        let own = &self.0[shape];
        if own.kind == ShapeKind::Scalar {
            return PropertyStep::Scalar;
        }
        let mut declared = beside
            .iter()
            .flat_map(|id| self.0[*id].properties.iter().flatten());
        if let Some((_, found)) = declared.find(|(name, _)| &**name == word) {
            return PropertyStep::Declared(*found);
        }
        let by_pattern = beside
            .iter()
            .flat_map(|id| self.0[*id].by_pattern.iter().flatten());
        let mut matching = by_pattern.filter(|(pattern, _)| is_match(pattern.as_ref(), word));
        if let Some((_, found)) = matching.next() {
            return PropertyStep::Undeclared(Some(*found));
        }
        match own.additional {
            Additional::Schema(schema) => return PropertyStep::Undeclared(Some(schema)),
            Additional::Allowed => return PropertyStep::Undeclared(None),
            Additional::Unsaid | Additional::Refused => {}
        }
        let always = self.always(shape);
        let declares = always.iter().any(|id| self.0[*id].properties.is_some());
        let has_patterns = always.iter().any(|id| self.0[*id].by_pattern.is_some());
        if declares && !has_patterns {
            PropertyStep::Unknown
        } else {
            PropertyStep::Undeclared(None)
        }
    }

    /// Removes all lists around the items of a shape.
    pub(super) fn unwrapped(&self, shape: ShapeId) -> UnwrappedList {
        let mut lists = 0;
        let mut inner = Some(shape);
        let mut seen = HashSet::new();
        while let Some(id) = inner {
            let of = &self.0[id];
            if of.kind != ShapeKind::List {
                break;
            }
            // A list that contains itself has no innermost list.
            if !seen.insert(id) {
                inner = None;
                break;
            }
            lists += 1;
            inner = match of.items {
                Items::Each(items) => Some(items),
                Items::Any => None,
                Items::Tuple => {
                    return UnwrappedList {
                        lists,
                        inner: None,
                        through_tuple: true,
                    };
                }
            };
        }
        UnwrappedList {
            lists,
            inner,
            through_tuple: false,
        }
    }

    /// The shape and all shapes for the same data, always or conditionally.
    fn beside(&self, shape: ShapeId) -> Vec<ShapeId> {
        self.closed(vec![shape], |shape| {
            shape.always.iter().chain(&shape.sometimes)
        })
    }

    fn always(&self, shape: ShapeId) -> Vec<ShapeId> {
        self.all_of(vec![shape])
    }

    /// These shapes and all shapes that always apply to the same data, without duplicates.
    pub(super) fn all_of(&self, shapes: Vec<ShapeId>) -> Vec<ShapeId> {
        self.closed(shapes, |shape| shape.always.iter().chain(&[]))
    }

    fn closed<'s, I>(
        &'s self,
        from: Vec<ShapeId>,
        next: impl Fn(&'s SchemaShape) -> I,
    ) -> Vec<ShapeId>
    where
        I: Iterator<Item = &'s ShapeId>,
    {
        let mut seen: HashSet<ShapeId> = HashSet::new();
        let mut found: Vec<ShapeId> = from.into_iter().filter(|id| seen.insert(*id)).collect();
        let mut at = 0;
        while let Some(id) = found.get(at).copied() {
            found.extend(next(&self.0[id]).copied().filter(|id| seen.insert(*id)));
            at += 1;
        }
        found
    }

    /// Values inside `data` with their shapes: properties in schema order, then items, then other
    /// keys.
    pub(super) fn inside<'d>(&self, shape: ShapeId, data: &'d Node) -> Vec<Inside<'d>> {
        let of = &self.0[shape];
        if let Some(items) = data.as_sequence() {
            let Items::Each(inner) = of.items else {
                return Vec::new();
            };
            let inside = items.iter().enumerate();
            return inside
                .map(|(index, node)| Inside {
                    piece: Piece::Index(index),
                    node,
                    shape: inner,
                })
                .collect();
        }
        let Some(mapping) = data.as_mapping() else {
            return Vec::new();
        };
        let declared = of.properties.iter().flatten();
        let mut inside: Vec<Inside<'d>> = declared
            .filter_map(|(name, shape)| {
                let (key, node) = mapping.get_entry(&**name)?;
                Some(Inside {
                    piece: Piece::Key(key.clone()),
                    node,
                    shape: *shape,
                })
            })
            .collect();
        if of.by_pattern.is_some() || matches!(of.additional, Additional::Schema(_)) {
            for (key, node) in mapping.iter() {
                let shapes = of.undeclared(key);
                let piece = || Piece::Key(key.clone());
                inside.extend(shapes.map(|shape| Inside {
                    piece: piece(),
                    node,
                    shape,
                }));
            }
        }
        inside
    }

    /// For each shape, whether `holds` for it or for a shape reachable from it.
    pub(super) fn leading_to(&self, holds: impl Fn(ShapeId) -> bool) -> Vec<bool> {
        let mut before: Vec<Vec<ShapeId>> = vec![Vec::new(); self.len()];
        for (id, shape) in self.0.iter().enumerate() {
            shape.next().for_each(|next| before[next].push(id));
        }
        let mut leads = vec![false; self.len()];
        let mut open: Vec<ShapeId> = (0..self.len()).filter(|id| holds(*id)).collect();
        while let Some(id) = open.pop() {
            if !std::mem::replace(&mut leads[id], true) {
                open.extend(&before[id]);
            }
        }
        leads
    }
}

/// A value inside data, and a shape that describes it.
pub(super) struct Inside<'d> {
    pub(super) piece: Piece,
    pub(super) node: &'d Node,
    pub(super) shape: ShapeId,
}

impl SchemaShape {
    /// Shapes for the value at a key that may be undeclared.
    fn undeclared(&self, key: &Key) -> impl Iterator<Item = ShapeId> {
        let name = key.as_str();
        let is_declared = name.is_some_and(|name| {
            self.properties
                .iter()
                .flatten()
                .any(|(declared, _)| &**declared == name)
        });
        let patterns = self.by_pattern.iter().flatten();
        let matching: Vec<ShapeId> = patterns
            .filter(|(pattern, _)| name.is_some_and(|name| is_match(pattern.as_ref(), name)))
            .map(|(_, shape)| *shape)
            .collect();
        let additional = match self.additional {
            Additional::Schema(shape) if !is_declared && matching.is_empty() => Some(shape),
            Additional::Schema(_)
            | Additional::Unsaid
            | Additional::Refused
            | Additional::Allowed => None,
        };
        matching.into_iter().chain(additional)
    }

    /// Shapes reachable in one step.
    fn next(&self) -> impl Iterator<Item = ShapeId> {
        let named = self.properties.iter().flatten().map(|(_, shape)| *shape);
        let by_pattern = self.by_pattern.iter().flatten().map(|(_, shape)| *shape);
        let additional = match self.additional {
            Additional::Schema(shape) => Some(shape),
            Additional::Unsaid | Additional::Refused | Additional::Allowed => None,
        };
        let items = match self.items {
            Items::Each(shape) => Some(shape),
            Items::Any | Items::Tuple => None,
        };
        named
            .chain(by_pattern)
            .chain(additional)
            .chain(items)
            .chain(self.always.iter().copied())
    }
}

/// Whether a name matches; unreadable and failing patterns match nothing.
fn is_match(pattern: Option<&Pattern>, name: &str) -> bool {
    pattern.is_some_and(|pattern| matches!(pattern.search(name), Ok(Some(_))))
}

/// Shapes and blocks of a schema.
pub(super) struct ReadShapes<'a> {
    pub(super) shapes: Shapes,
    pub(super) top: ShapeId,
    /// Blocks in the order of the schema walk.
    pub(super) found: Vec<FoundBlock<'a>>,
    /// Problems of blocks that never apply.
    pub(super) problems: Vec<GroupProblem>,
}

/// Reads the schema at `root`.
pub(super) fn read(root: &Node) -> ReadShapes<'_> {
    let mut reader = ShapeReader {
        root,
        here: Location::root(),
        shapes: Vec::new(),
        known: HashMap::new(),
        found: Vec::new(),
        patterns: Patterns::default(),
        problems: Vec::new(),
        later: Vec::new(),
        is_reached: true,
    };
    let top = reader.schema(root);
    reader.sometimes();
    // Definitions not read so far are unused, but their problems are reported.
    reader.is_reached = true;
    reader.named(root, "definitions");
    reader.sometimes();
    let ShapeReader {
        shapes,
        found,
        problems,
        ..
    } = reader;
    ReadShapes {
        shapes: Shapes(shapes),
        top,
        found,
        problems,
    }
}

struct ShapeReader<'a> {
    root: &'a Node,
    /// Location of the current schema.
    here: Location,
    shapes: Vec<SchemaShape>,
    /// Shapes by the addresses of their schemas.
    known: HashMap<usize, ShapeId>,
    found: Vec<FoundBlock<'a>>,
    patterns: Patterns,
    problems: Vec<GroupProblem>,
    /// Schemas whose conditional parts are still to be read, after all unconditional ones.
    later: Vec<(ShapeId, &'a Node, Location)>,
    /// Whether the current schema applies unconditionally.
    is_reached: bool,
}

impl<'a> ShapeReader<'a> {
    fn schema(&mut self, node: &'a Node) -> ShapeId {
        let Some((node, place)) = self.referred(node) else {
            self.shapes.push(SchemaShape::default());
            return self.shapes.len() - 1;
        };
        let identity = std::ptr::from_ref(node).addr();
        if let Some(known) = self.known.get(&identity) {
            return *known;
        }
        let id = self.shapes.len();
        self.known.insert(identity, id);
        self.shapes.push(SchemaShape::default());
        let before = place.map(|place| std::mem::replace(&mut self.here, place));
        self.block(id, node);
        self.shapes[id] = SchemaShape {
            kind: kind_of(node),
            properties: self.named(node, "properties"),
            items: self.items(node),
            additional: self.additional(node),
            by_pattern: self.by_pattern(node),
            always: self.listed(node, "allOf"),
            sometimes: Vec::new(),
        };
        self.later.push((id, node, self.here.clone()));
        if let Some(before) = before {
            self.here = before;
        }
        id
    }

    /// Follows references, and returns the schema with its location if it is elsewhere; `None` for
    /// broken or cyclic references.
    fn referred(&self, node: &'a Node) -> Option<(&'a Node, Option<Location>)> {
        let mut node = node;
        let mut place = None;
        for _ in 0..MAX_REFERENCES {
            let Some(reference) = node.get("$ref").and_then(Node::as_str) else {
                return Some((node, place));
            };
            let target = reference_target(self.root, reference)?;
            node = target.get(self.root)?;
            place = Some(target);
        }
        None
    }

    fn block(&mut self, shape: ShapeId, node: &'a Node) {
        let Some((key, block)) = node.as_mapping().and_then(|it| it.get_entry(KEYWORD)) else {
            return;
        };
        let location = self.here.join(Piece::Key(key.clone()));
        if self.is_reached {
            self.found.push(FoundBlock {
                shape,
                node: block,
                span: key.span,
                location,
            });
        } else {
            self.problems.push(GroupProblem {
                span: key.span,
                block: location,
                group: None,
                fault: InvalidGroup::Unreached.into(),
            });
        }
    }

    /// Reads the schema at a keyword.
    fn below(&mut self, node: &'a Node, pieces: [Piece; 2]) -> ShapeId {
        let depth = self.here.0.len();
        self.here.0.extend(pieces);
        let id = self.schema(node);
        self.here.0.truncate(depth);
        id
    }

    fn at(&mut self, key: &Key, node: &'a Node) -> ShapeId {
        self.here.0.push(Piece::Key(key.clone()));
        let id = self.schema(node);
        self.here.0.pop();
        id
    }

    fn named(&mut self, node: &'a Node, keyword: &str) -> Option<Vec<(Arc<str>, ShapeId)>> {
        let (around, named) = node.as_mapping()?.get_entry(keyword)?;
        let mut found = Vec::new();
        for (key, schema) in named.as_mapping()?.iter() {
            let Some(name) = key.as_str() else { continue };
            let pieces = [Piece::Key(around.clone()), Piece::Key(key.clone())];
            found.push((Arc::from(name), self.below(schema, pieces)));
        }
        Some(found)
    }

    fn by_pattern(&mut self, node: &'a Node) -> Option<Vec<(Option<Pattern>, ShapeId)>> {
        let named = self.named(node, "patternProperties")?;
        let parsed = named
            .into_iter()
            .map(|(text, id)| (self.patterns.parse(&text).ok(), id));
        Some(parsed.collect())
    }

    fn additional(&mut self, node: &'a Node) -> Additional {
        let entry = node
            .as_mapping()
            .and_then(|it| it.get_entry("additionalProperties"));
        match entry.map(|(key, schema)| (key, schema, &schema.value)) {
            Some((_, _, Value::Bool(true))) => Additional::Allowed,
            Some((_, _, Value::Bool(false))) => Additional::Refused,
            Some((key, schema, Value::Mapping(_))) => Additional::Schema(self.at(key, schema)),
            _ => Additional::Unsaid,
        }
    }

    fn items(&mut self, node: &'a Node) -> Items {
        let Some((key, items)) = node.as_mapping().and_then(|it| it.get_entry("items")) else {
            return Items::Any;
        };
        if items.as_mapping().is_some() {
            return Items::Each(self.at(key, items));
        }
        if items.as_sequence().is_some() {
            Items::Tuple
        } else {
            Items::Any
        }
    }

    /// Reads conditional schemas: their properties are known, but their blocks do not apply (D8
    /// does not cover conditions).
    fn sometimes(&mut self) {
        self.is_reached = false;
        while let Some((id, node, place)) = self.later.pop() {
            self.here = place;
            if let Some((key, schema)) = node.as_mapping().and_then(|it| it.get_entry("not")) {
                self.at(key, schema);
            }
            self.named(node, "dependencies");
            if self.shapes[id].items == Items::Tuple {
                self.listed(node, "items");
            }
            let mut found = self.listed(node, "anyOf");
            found.extend(self.listed(node, "oneOf"));
            self.shapes[id].sometimes = found;
        }
        self.here = Location::root();
    }

    fn listed(&mut self, node: &'a Node, keyword: &str) -> Vec<ShapeId> {
        let entry = node.as_mapping().and_then(|it| it.get_entry(keyword));
        let Some((key, list)) = entry else {
            return Vec::new();
        };
        let items = list.as_sequence().unwrap_or_default().iter().enumerate();
        items
            .map(|(index, item)| self.below(item, [Piece::Key(key.clone()), Piece::Index(index)]))
            .collect()
    }
}

/// Maximum length of a chain of direct references.
const MAX_REFERENCES: usize = 400;

fn kind_of(node: &Node) -> ShapeKind {
    let Some(kind) = node.get("type") else {
        return if node.get("items").is_some() {
            ShapeKind::List
        } else {
            ShapeKind::Open
        };
    };
    let items = kind.as_sequence().unwrap_or(std::slice::from_ref(kind));
    let has = |name: &str| items.iter().any(|item| item.as_str() == Some(name));
    let is_scalar = |item: &Node| item.as_str().is_some_and(|name| SCALARS.contains(&name));
    match (has("object"), has("array")) {
        (false, true) => ShapeKind::List,
        (true, _) => ShapeKind::Open,
        // An unknown type leaves the kind open.
        (false, false) if items.is_empty() || !items.iter().all(is_scalar) => ShapeKind::Open,
        (false, false) => ShapeKind::Scalar,
    }
}

/// Types of scalars.
const SCALARS: [&str; 5] = ["boolean", "integer", "null", "number", "string"];
