//! Provenance against a brute-force oracle. The oracle changes one leaf of the inputs at a time,
//! renders, and compares values: the rendered leaves that change must be those that are traced to
//! the changed leaf.
//!
//! Each leaf is changed to a unique value, and patterns match text that a change keeps. Exceptions:
//!
//! - Nulls and booleans are not changed: no other value of their kind is unique, and a null decides
//!   whether a value is read.
//! - Merge instructions of cloud-config parts (`merge_how`, `merge_type`, and all of a patch but
//!   the values it writes) are not changed: they decide what is merged, and are not merged.
//! - A list item that was a mapping key does not change with the value at the key, to which it is
//!   traced because a key has no location.
//! - A part of a text that was built from several texts is traced to all of them and changes with
//!   one: the trace does not record which text the part is from.
//! - A pattern that does not match still copies the first text of its path to the other places.
//!   The copies are traced to the value that would have been put in, and do not change with it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use layercake::graph::{DocId, Graph, Op, Recipe, Substitution};
use layercake::merge::cloud_init::Dialect;
use layercake::merge::deckhand::Semantics;
use layercake::render::replay::{Hop, Replay, Via};
use layercake::render::{Rendered, render};
use layercake::source::MemoryTree;
use layercake::system::cloud_init::PART;
use layercake::yaml::path::{Location, Piece};
use layercake::yaml::{Date, Key, Node, Timestamp, Value};
use layercake_yaml_testing::texts::{data, path};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value as Json, json};

use super::cloud_init::{self, DIALECTS};
use super::repository::{self, Ingredients, Repository};
use super::{SEMANTICS, config};
use crate::laws::merging::places;

proptest! {
    #![proptest_config(config(120))]

    #[test]
    fn changes_of_documents_are_as_traced(repository in documents()) {
        for semantics in SEMANTICS {
            let compared = compared_documents(&repository, semantics);
            prop_assert_eq!(compared.wrong, Vec::<String>::new(), "{:?}", semantics);
        }
    }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn changes_of_layers_are_as_traced(repository in layers()) {
        for semantics in SEMANTICS {
            let compared = compared_documents(&repository, semantics);
            prop_assert_eq!(compared.wrong, Vec::<String>::new(), "{:?}", semantics);
        }
    }

    #[test]
    fn changes_of_parts_are_as_traced(tree in parts()) {
        for dialect in DIALECTS {
            let compared = compared_parts(&tree, dialect);
            prop_assert_eq!(compared.wrong, Vec::<String>::new(), "{:?}", dialect);
        }
    }
}

/// Changes reach rendered leaves, some of which are built from several values.
#[test]
fn generated_leaves_have_effects() {
    let mut runner = TestRunner::deterministic();
    let [mut of_documents, mut of_layers, mut of_parts] = [const { Vec::new() }; 3];
    for _ in 0..40 {
        let repository = documents()
            .new_tree(&mut runner)
            .expect("documents")
            .current();
        of_documents.push(compared_documents(&repository, Semantics::Documented));
        let repository = layers().new_tree(&mut runner).expect("documents").current();
        of_layers.push(compared_documents(&repository, Semantics::Documented));
        let tree = parts().new_tree(&mut runner).expect("parts").current();
        of_parts.push(compared_parts(&tree, Dialect::Current));
    }
    for all in [of_documents, of_layers, of_parts] {
        let Compared {
            changed,
            moved,
            built,
            unknown,
            ..
        } = Compared::sum(all);
        let counts = format!("{changed} changed, {moved} moved, {built} built, {unknown} unknown");
        eprintln!("{counts}");
        assert!(
            changed > 300 && moved > changed && built > 10 && unknown < moved / 20,
            "{counts}"
        );
    }
}

/// Documents with strings at the paths that substitutions read and write. Patterns of sources match
/// the mark of a string, those of destinations keep it.
const TEXTS: Ingredients = Ingredients {
    data: || prop_oneof![1 => data(), 3 => texts()].boxed(),
    path: || prop_oneof![1 => path(), 3 => places_of_texts()].boxed(),
    source_path: || prop_oneof![1 => Just(".".to_owned()), 3 => places_of_texts()].boxed(),
    extracts: &[
        "\\w{4}$",
        "(\\w{4})$",
        "(?P<n>\\w{4})$",
        "^(\\w{2})(\\w{2})",
        "never",
    ],
    parts: &[
        "INSERT_[A-Z]",
        "INSERT_A",
        "t",
        "(IN)SERT",
        "x*",
        "^",
        "(?P<n>t)",
        "c",
        "",
    ],
    part_probability: 0.7,
};

fn documents() -> impl Strategy<Value = Repository> {
    repository::repository_of(TEXTS)
}

/// Layers; the lowest one may replace the one below it.
fn layers() -> impl Strategy<Value = Repository> {
    (repository::layered_of(TEXTS), any::<bool>()).prop_map(|(mut repository, is_replacement)| {
        for (_, text) in repository.files.iter_mut().filter(|_| is_replacement) {
            // A document cannot read from the document it replaces.
            *text = text.replace("name: child, ", "name: source, ");
            *text = text.replace("name: grandchild\n", "name: child\n  replacement: true\n");
        }
        repository
    })
}

fn texts() -> impl Strategy<Value = String> {
    let text = select(vec![
        "INSERT_A t c x",
        "INSERT_A t c x",
        "'\\1 INSERT_A t c x'",
        "1",
        "1.5",
    ]);
    let form = select(vec![
        "T",
        "T",
        "T",
        "T",
        "{x: T, y: T}",
        "{x: T, q: {r: T}}",
        "[T, T]",
    ]);
    let value = (form, text).prop_map(|(form, text)| form.replace('T', text));
    let list = prop::collection::vec(value.clone(), 2..4);
    (value.clone(), value.clone(), value, list)
        .prop_map(|(x, y, z, list)| format!("{{x: {x}, y: {y}, z: {z}, l: [{}]}}", list.join(", ")))
}

fn places_of_texts() -> impl Strategy<Value = String> {
    select(vec![
        ".x", ".y", ".z", ".l", ".l[0]", ".l[1]", ".x.y", ".l[*]", ".*",
    ])
    .prop_map(str::to_owned)
}

/// Parts that merge strings and lists in all ways, and patches for them.
fn parts() -> impl Strategy<Value = MemoryTree> {
    cloud_init::tree_with(|| part().boxed(), || patch().boxed())
}

fn part() -> impl Strategy<Value = String> {
    let value = select(vec![
        json!("t"),
        json!("t"),
        json!("t"),
        json!("t"),
        json!(1),
        json!(["t", "t"]),
        json!([{"a": "t"}, "t"]),
        json!({"a": "t", "b": ["t", 1]}),
        json!({"a": {"b": "t"}}),
        json!([]),
        Json::Null,
    ]);
    let how = select(vec![
        "dict(recurse_list,recurse_str)+list(append)+str(append)",
        "dict(recurse_str)+str(append)",
        "dict(recurse_list,recurse_str,recurse_dict)+list(prepend)+str(append)",
        "dict(no_replace,recurse_list)+list(recurse_list,recurse_dict,recurse_str)+str(append)",
        "dict(recurse_list,allow_delete)+list(no_replace)+str()",
        "list(extend)+dict(overwrite)+str(append)",
    ]);
    let entries = prop::collection::btree_map(select(vec!["a", "b", "c"]), value, 2..4);
    (entries, prop::option::weighted(0.9, how)).prop_map(|(entries, how)| {
        let mut part = json!(entries);
        if let Some(how) = how {
            part["merge_how"] = json!(how);
        }
        format!("#cloud-config\n{part}\n")
    })
}

fn patch() -> impl Strategy<Value = String> {
    let operation = select(vec![
        json!({"op": "add", "path": "/b", "value": ["t", {"a": "t"}]}),
        json!({"op": "add", "path": "/b/0", "value": "t"}),
        json!({"op": "replace", "path": "/a", "value": "t"}),
        json!({"op": "remove", "path": "/b/0"}),
        json!({"op": "remove", "path": "/a"}),
        json!({"op": "copy", "from": "/a", "path": "/d"}),
        json!({"op": "copy", "from": "/b", "path": "/c"}),
        json!({"op": "move", "from": "/b", "path": "/a"}),
        json!({"op": "move", "from": "/b/1", "path": "/b/0"}),
        json!({"op": "test", "path": "/a", "value": null}),
    ]);
    prop::collection::vec(operation, 1..4)
        .prop_map(|operations| format!("#cloud-config-jsonp\n{}\n", json!(operations)))
}

fn compared_documents(repository: &Repository, semantics: Semantics) -> Compared {
    let checked = super::checked(&repository.tree(), "", semantics, |site| {
        let originals = match semantics {
            Semantics::Documented => Originals::Equal,
            // A delete removes the first of several equal values.
            Semantics::Deckhand => Originals::Unique,
        };
        Oracle::new(site.graph, Texts::Extended, originals).compared()
    });
    Compared::sum(checked.sites.into_iter().filter_map(|site| site.taken))
}

fn compared_parts(tree: &MemoryTree, dialect: Dialect) -> Compared {
    let checked = cloud_init::checked(tree, dialect, |site| {
        Oracle::new(site.graph, Texts::Replaced, Originals::Equal).compared()
    });
    Compared::sum(checked.sites.into_iter().filter_map(|site| site.taken))
}

/// Leaf of a document: of its own data, or of its rendered data.
type Leaf = (DocId, Location);

/// Whether leaves differ before one of them is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Originals {
    /// All leaves of a kind are equal, which exposes traces that follow equal values.
    Equal,
    Unique,
}

/// Form of the strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Texts {
    /// The generated string, in which patterns match, between two marks.
    Extended,
    /// Only a mark, so that all of its characters change: each may become a list item.
    Replaced,
}

/// Value of a leaf.
#[derive(Clone, Copy, Debug)]
struct Content {
    /// From [`Content::FIRST`].
    number: u16,
    version: Version,
    texts: Texts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    Original,
    Changed,
}

impl Content {
    const FIRST: u16 = 1000;
    const CHANGED: u16 = 4000;

    fn integer(self) -> u16 {
        match self.version {
            Version::Original => self.number,
            Version::Changed => self.number + Self::CHANGED,
        }
    }

    /// Four digits, or four letters that no destination pattern matches.
    fn mark(self) -> String {
        let letter = |digit: u8| char::from(b"bdefghjklm"[usize::from(digit - b'0')]);
        let digits = self.number.to_string();
        match self.version {
            Version::Original => digits,
            Version::Changed => digits.bytes().map(letter).collect(),
        }
    }

    fn text(self, generated: &str) -> String {
        let mark = self.mark();
        match self.texts {
            Texts::Extended => format!("{mark} {generated} {mark}"),
            Texts::Replaced => mark,
        }
    }

    /// A node of the same kind with this value.
    fn given_to(self, node: &Node) -> Node {
        let date = |date: Date| Date {
            year: self.integer(),
            ..date
        };
        let value = match &node.value {
            Value::Null | Value::Bool(_) => node.value.clone(),
            Value::Int(_) => Value::Int(self.integer().into()),
            Value::BigInt(_) => Value::BigInt(format!("9999999999999999{}", self.integer()).into()),
            Value::Float(_) => Value::Float(f64::from(self.integer()) + 0.5),
            Value::Date(day) => Value::Date(date(*day)),
            Value::Timestamp(time) => Value::Timestamp(Timestamp {
                date: date(time.date),
                ..*time
            }),
            Value::Binary(_) => Value::Binary(self.mark().into_bytes().into()),
            Value::String(text) => Value::String(self.text(text).into()),
            Value::Set(_) => Value::Set(Arc::new([Key::string(self.mark(), node.span)])),
            // A list of pairs is one leaf, including its content.
            Value::Pairs(pairs) => {
                let pairs = pairs.iter();
                let pairs = pairs.map(|(one, other)| (self.given_to(one), self.given_to(other)));
                Value::Pairs(pairs.collect())
            }
            Value::Sequence(items) => {
                let items = items.iter().map(|item| self.given_to(item));
                Value::from(items.collect::<Vec<_>>())
            }
            Value::Mapping(mapping) => {
                let entries = mapping.iter();
                let entries = entries.map(|(key, child)| (key.clone(), self.given_to(child)));
                Value::Mapping(Arc::new(entries.collect()))
            }
        };
        Node {
            value,
            ..node.clone()
        }
    }
}

/// Documents whose leaves can be changed one at a time.
struct Oracle {
    graph: Graph,
    texts: Texts,
    originals: Originals,
    /// Leaves of the documents' own data that are changed, with their generated values.
    leaves: Vec<(Leaf, Node)>,
}

impl Oracle {
    fn new(graph: &Graph, texts: Texts, originals: Originals) -> Self {
        let leaves = graph.iter().flat_map(|(doc, recipe)| {
            let places = changeable(recipe).into_iter();
            places.filter_map(move |place| {
                let node = place.get(&recipe.data)?.clone();
                Some(((doc, place), node))
            })
        });
        let leaves: Vec<(Leaf, Node)> = leaves.collect();
        assert!(
            leaves.len() < usize::from(Content::CHANGED),
            "more leaves than unique numbers"
        );
        let mut oracle = Self {
            graph: copy(graph),
            texts,
            originals,
            leaves,
        };
        for index in 0..oracle.leaves.len() {
            oracle.graph = oracle.with_leaf(index, Version::Original);
        }
        oracle
    }

    /// The documents with another value of a leaf.
    fn with_leaf(&self, index: usize, version: Version) -> Graph {
        let mut graph = copy(&self.graph);
        let ((doc, place), generated) = &self.leaves[index];
        let data = &mut Arc::make_mut(&mut graph.recipes[doc.index()]).data;
        let number = match (version, self.originals) {
            (Version::Original, Originals::Equal) => Content::FIRST,
            (Version::Original, Originals::Unique) | (Version::Changed, _) => {
                Content::FIRST + u16::try_from(index).expect("there are fewer leaves")
            }
        };
        let content = Content {
            number,
            version,
            texts: self.texts,
        };
        *place.get_mut(data).expect("the leaf is there") = content.given_to(generated);
        graph
    }

    fn compared(&self) -> Compared {
        let rendered = render(&self.graph);
        let traces = Traces::of(&self.graph, &rendered);
        let leaves = self.leaves.iter().enumerate();
        let compared =
            leaves.map(|(index, (leaf, _))| traces.compare(leaf, &self.moved(index, &rendered)));
        let Compared {
            changed,
            moved,
            wrong,
            ..
        } = Compared::sum(compared);
        Compared {
            changed,
            moved,
            wrong,
            built: traces.built,
            unknown: traces.unknown,
        }
    }

    /// Leaves of the rendered documents that change when a leaf of the inputs does.
    fn moved(&self, index: usize, before: &Rendered) -> HashSet<Leaf> {
        let after = render(&self.with_leaf(index, Version::Changed));
        let docs = self.graph.iter().map(|(doc, _)| doc);
        let both = docs.filter_map(|doc| Some((doc, before.data(doc)?, after.data(doc)?)));
        both.filter(|(_, before, after)| before != after)
            .flat_map(|(doc, before, after)| {
                differing(before, after)
                    .into_iter()
                    .map(move |place| (doc, place))
            })
            .collect()
    }
}

/// The graph with the same recipes.
fn copy(graph: &Graph) -> Graph {
    Graph {
        recipes: graph.recipes.clone(),
        ..*graph
    }
}

/// Leaves that differ between two values, or are in one of them only.
fn differing(before: &Node, after: &Node) -> HashSet<Location> {
    let value = |place: &Location, data| place.get(data).map(|node: &Node| node.value.clone());
    let leaves = [leaves(before), leaves(after)].concat().into_iter();
    leaves
        .filter(|place| value(place, before) != value(place, after))
        .collect()
}

/// Places of scalars, sets and pairs.
fn leaves(data: &Node) -> Vec<Location> {
    let mut leaves = places(data);
    leaves.retain(|place| place.get(data).is_some_and(|node| !node.is_collection()));
    leaves
}

/// Leaves of a document's own data that can be changed.
fn changeable(recipe: &Recipe) -> Vec<Location> {
    let mut changeable = leaves(&recipe.data);
    changeable.retain(|leaf| {
        let value = leaf.get(&recipe.data).map(|node| &node.value);
        !matches!(value, Some(Value::Null | Value::Bool(_))) && !is_instruction(recipe, leaf)
    });
    changeable
}

/// Whether a leaf of a cloud-config part is a merge instruction.
fn is_instruction(recipe: &Recipe, leaf: &Location) -> bool {
    if &*recipe.key.schema != PART {
        return false;
    }
    match &leaf.0[..] {
        [Piece::Index(index), Piece::Key(member), ..] => {
            let operation = recipe
                .data
                .as_sequence()
                .and_then(|it| it[*index].get("op"));
            let is_test = operation.and_then(Node::as_str) == Some("test");
            is_test || member.as_str() != Some("value")
        }
        [Piece::Key(key), ..] => matches!(key.as_str(), Some("merge_how" | "merge_type")),
        _ => false,
    }
}

/// Result of the comparison of traces with changes.
#[derive(Debug, Default)]
struct Compared {
    /// Number of leaves that were changed.
    changed: usize,
    /// Number of rendered leaves that changed with them.
    moved: usize,
    /// Number of rendered leaves that are traced to several leaves.
    built: usize,
    /// Number of traces that may end at a leaf without effect.
    unknown: usize,
    /// Differences.
    wrong: Vec<String>,
}

impl Compared {
    fn sum(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().fold(Self::default(), |sum, next| Self {
            changed: sum.changed + next.changed,
            moved: sum.moved + next.moved,
            built: sum.built + next.built,
            unknown: sum.unknown + next.unknown,
            wrong: [sum.wrong, next.wrong].concat(),
        })
    }
}

/// Traces of all leaves of the rendered documents.
struct Traces<'a> {
    replay: Replay<'a>,
    /// Rendered leaves by the leaf of the inputs to which they are traced, with how much of it they
    /// hold.
    reached: HashMap<Leaf, HashMap<Leaf, Extent>>,
    built: usize,
    unknown: usize,
}

/// Extent to which a rendered leaf holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    /// Part of a string built from several strings, possibly with nothing of this one.
    Unknown,
    /// Part of a string.
    Part,
    /// All of it.
    Whole,
}

impl<'a> Traces<'a> {
    fn of(graph: &'a Graph, rendered: &'a Rendered) -> Self {
        let replay = Replay::new(graph, rendered);
        let mut traces = Self {
            replay,
            reached: HashMap::new(),
            built: 0,
            unknown: 0,
        };
        for (doc, _) in graph.iter() {
            for location in rendered.data(doc).map(leaves).unwrap_or_default() {
                traces.add((doc, location));
            }
        }
        traces
    }

    fn add(&mut self, leaf: Leaf) {
        let mut origins = Vec::new();
        let hop = self.replay.trace(leaf.0, &leaf.1);
        self.follow(&hop, Extent::Whole, &mut origins);
        self.built += usize::from(origins.len() > 1);
        self.unknown += origins
            .iter()
            .filter(|(_, extent)| *extent == Extent::Unknown)
            .count();
        for (origin, extent) in origins {
            self.reached
                .entry(origin)
                .or_default()
                .insert(leaf.clone(), extent);
        }
    }

    /// Adds the leaves of the inputs at which a trace ends.
    fn follow(&self, hop: &Hop, extent: Extent, origins: &mut Vec<(Leaf, Extent)>) {
        let is_part = hop.value.as_ref().is_some_and(is_character);
        let extent = if is_part {
            extent.min(Extent::Part)
        } else {
            extent
        };
        match &hop.from[..] {
            [] if hop.via == Via::Literal => {
                let leaf = (hop.doc, hop.location.clone());
                match origins.iter_mut().find(|(known, _)| *known == leaf) {
                    Some((_, known)) => *known = extent.max(*known),
                    None => origins.push((leaf, extent)),
                }
            }
            [from] if !is_key(hop, from) => self.follow(from, self.read_by(hop, extent), origins),
            [text, put] => {
                let extent = if extent == Extent::Part {
                    Extent::Unknown
                } else {
                    extent
                };
                self.follow(text, extent, origins);
                let is_put = hop.value != text.value;
                let extent = if is_put {
                    self.read_by(hop, extent)
                } else {
                    Extent::Unknown
                };
                self.follow_all(put, extent, origins);
            }
            _ => {}
        }
    }

    /// Follows a value that was substituted into a string; for a mapping or list, all of its
    /// content.
    fn follow_all(&self, put: &Hop, extent: Extent, origins: &mut Vec<(Leaf, Extent)>) {
        let data = self.replay.rendered().data(put.doc);
        let value = data.and_then(|data| put.location.get(data));
        let Some(value) = value.filter(|value| value.is_collection()) else {
            return self.follow(put, extent, origins);
        };
        for below in leaves(value) {
            let hop = self.replay.trace(put.doc, &put.location.joined(&below));
            self.follow(&hop, extent, origins);
        }
    }

    /// Extent of the value read by a hop.
    fn read_by(&self, hop: &Hop, extent: Extent) -> Extent {
        let recipe = self.replay.graph().recipe(hop.doc);
        match hop.step.map(|step| recipe.step(step).op) {
            Some(Op::Substitute(it)) if self.reads_part(&it) => extent.min(Extent::Part),
            _ => extent,
        }
    }

    /// Whether a substitution reads part of a string: by a pattern, or a character by its index.
    fn reads_part(&self, substitution: &Substitution<'_>) -> bool {
        let Substitution { source, writing } = substitution;
        let data = self.replay.rendered().data(*source);
        let value = data.and_then(|data| writing.from.value.value(data).ok()?);
        writing.extract.is_some() || value.is_some_and(|value| is_character(&value))
    }

    /// Compares the rendered leaves traced to a leaf with those that moved when it was changed.
    fn compare(&self, leaf: &Leaf, moved: &HashSet<Leaf>) -> Compared {
        let none = HashMap::new();
        let reached = self.reached.get(leaf).unwrap_or(&none);
        let is_certain = |place: &Leaf| reached[place] != Extent::Unknown;
        let untraced = moved.iter().filter(|place| !reached.contains_key(place));
        let unmoved = reached
            .keys()
            .filter(|it| is_certain(it) && !moved.contains(it));
        let fault = |place, fault| format!("{}: {} {fault}", self.name(leaf), self.name(place));
        let untraced = untraced.map(|it| fault(it, "changes, and is not traced to it"));
        let unmoved = unmoved.map(|it| fault(it, "is traced to it, and does not change"));
        let mut wrong: Vec<String> = untraced.chain(unmoved).collect();
        wrong.sort();
        Compared {
            changed: 1,
            moved: moved.len(),
            wrong,
            ..Compared::default()
        }
    }

    fn name(&self, (doc, location): &Leaf) -> String {
        format!("{} {location}", self.replay.graph().recipe(*doc).key)
    }
}

/// Whether a value is a character of a string: the strings of leaves are longer.
fn is_character(node: &Node) -> bool {
    node.as_str().is_some_and(|text| text.chars().count() == 1)
}

/// Whether a value was the key of the value that it is traced to.
fn is_key(hop: &Hop, from: &Hop) -> bool {
    let Some(Piece::Key(key)) = from.location.0.last() else {
        return false;
    };
    hop.value
        .as_ref()
        .is_some_and(|node| node.value == key.value)
        && hop.value != from.value
}
