//! Texts of the base side that are secret in the head: data of a document that becomes secret,
//! literals that a substitution of a secret replaces, and literals that move into a secret
//! document.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::source::{DocKey, RepoPath, Span};
use crate::system::deckhand::document::{Document, DocumentSubstitution};
use crate::system::deckhand::parents::has_all_labels;
use crate::yaml::emit::{HIDDEN, scalar_text};
use crate::yaml::path::{Location, Path, children, inside};
use crate::yaml::{Mapping, Node, Value, Whole};

/// A document and the path of its file.
#[derive(Clone, Copy)]
pub(crate) struct PlacedDocument<'a> {
    /// Path of the file.
    pub(crate) path: &'a RepoPath,
    /// The document.
    pub(crate) document: &'a Document,
}

/// Part of a public base document that is secret in the head.
#[derive(Debug)]
pub(crate) enum Later {
    /// All of its data.
    Data,
    /// The scalars with these spans.
    Scalars(HashSet<Span>),
}

/// Maximum number of examined documents per name or label, and of labels per document.
const MAX_RELATIVES: usize = 1000;
const MAX_LABELS: usize = 20;

/// Minimum length in bytes of a literal that counts as moved, and maximum number of secrets
/// searched for inside longer literals.
const MIN_MOVED: usize = 4;
const MAX_PARTS: usize = 32;

/// Maximum length of a chain of substitutions that pass on a secret, and maximum number of secret
/// paths in a document that others substitute from; beyond either, all of the document counts as
/// secret.
const MAX_CHAIN: usize = 64;
const MAX_PATHS: usize = 1000;

/// Index of the head for deciding what is secret in the base.
pub(crate) struct LaterSecrets<'a> {
    head: &'a [PlacedDocument<'a>],
    by_name: HashMap<SchemaAndName<'a>, Vec<usize>, foldhash::fast::RandomState>,
    by_file: HashMap<(&'a RepoPath, &'a str), Vec<usize>, foldhash::fast::RandomState>,
    by_label: HashMap<SchemaLabel<'a>, Vec<usize>, foldhash::fast::RandomState>,
    by_selector: HashMap<SchemaLabel<'a>, Vec<usize>, foldhash::fast::RandomState>,
    /// Scalars of secret documents that only the head has.
    moved: HashSet<String>,
    /// Known paths of secrets by schema and name; empty while they are being computed.
    secret_paths: RefCell<HashMap<SchemaAndName<'a>, Rc<[&'a str]>>>,
}

/// A schema and a name.
type SchemaAndName<'a> = (&'a str, &'a str);

/// A schema and a label of its documents.
type SchemaLabel<'a> = (&'a str, String, String);

impl<'a> LaterSecrets<'a> {
    /// Indexes the documents of the `head`; `added` are those that only the head has, `removed`
    /// those that only the base has.
    pub(crate) fn of(
        head: &'a [PlacedDocument<'a>],
        added: &[PlacedDocument<'_>],
        removed: &[PlacedDocument<'_>],
    ) -> Self {
        let mut found = Self {
            head,
            by_name: HashMap::default(),
            by_file: HashMap::default(),
            by_label: HashMap::default(),
            by_selector: HashMap::default(),
            moved: secret_scalars(added),
            secret_paths: RefCell::default(),
        };
        let known = secret_scalars(removed);
        found.moved.retain(|it| !known.contains(it));
        for (index, PlacedDocument { path, document }) in head.iter().enumerate() {
            let schema = &*document.key.schema;
            let name = &*document.key.name;
            found.by_name.entry((schema, name)).or_default().push(index);
            found.by_file.entry((path, name)).or_default().push(index);
            for label in labels(schema, &document.labels) {
                found.by_label.entry(label).or_default().push(index);
            }
            let selected = document.parent_selector.as_ref().map(|it| &it.labels);
            if let Some(label) = selected.and_then(|it| labels(schema, it).next()) {
                found.by_selector.entry(label).or_default().push(index);
            }
        }
        found
    }

    /// Part of a public base document that is secret in the head; `None` for secret documents.
    pub(crate) fn in_document(&self, base: PlacedDocument<'_>) -> Option<Later> {
        let document = base.document;
        if document.data.secret {
            return None;
        }
        let counterparts = self.counterparts(base);
        if counterparts.iter().any(|it| it.data.secret) {
            return Some(Later::Data);
        }
        let is_kept = |place: &Location, scalar: &Node| {
            let kept = counterparts.iter().filter_map(|it| place.get(&it.data));
            kept.into_iter().any(|now| now.value == scalar.value)
        };
        let relatives = self.relatives(document);
        let mut hidden = HashSet::new();
        for destination in self.secret_destinations(&relatives, 0) {
            for found in destination.find(&document.data).unwrap_or_default() {
                each_scalar(&found.node, &found.location, &mut |place, scalar| {
                    if !is_kept(place, scalar) {
                        hidden.insert(scalar.span);
                    }
                });
            }
        }
        let secret_parents = self.secret_parents(document, &relatives);
        if !self.moved.is_empty() || !secret_parents.is_empty() {
            each_scalar(&document.data, &Location::root(), &mut |place, scalar| {
                let is_inherited = || {
                    secret_parents
                        .iter()
                        .any(|it| place.get(&it.data).is_some())
                };
                if (self.has_moved(scalar) || is_inherited()) && !is_kept(place, scalar) {
                    hidden.insert(scalar.span);
                }
            });
        }
        (!hidden.is_empty()).then_some(Later::Scalars(hidden))
    }

    /// Head documents that correspond to a base document: same file and name, preferably with the
    /// same schema; then nameless ones of the same file, which may be secret; then the same schema,
    /// layer and name in any file.
    pub(super) fn counterparts(&self, base: PlacedDocument<'_>) -> Vec<&'a Document> {
        let key = &base.document.key;
        let in_file = |name| self.documents(self.by_file.get(&(base.path, name)));
        let of_schema: Vec<&Document> = in_file(&*key.name)
            .filter(|it| it.key.schema == key.schema)
            .collect();
        let of_any = in_file(&*key.name).collect();
        let nameless = in_file("").collect();
        if let Some(found) = [of_schema, of_any, nameless]
            .into_iter()
            .find(|it| !it.is_empty())
        {
            return found;
        }
        let named = self.documents(self.by_name.get(&(&*key.schema, &*key.name)));
        named.filter(|it| it.key.layer == key.layer).collect()
    }

    fn documents<'s>(
        &'s self,
        indexes: Option<&'s Vec<usize>>,
    ) -> impl Iterator<Item = &'a Document> + use<'s, 'a> {
        indexes
            .into_iter()
            .flatten()
            .map(|index| self.head[*index].document)
    }

    /// Head documents that a document may inherit from, or that may inherit from it: those with its
    /// name, their parents and their children.
    fn relatives(&self, document: &Document) -> Vec<usize> {
        let schema = &*document.key.schema;
        let named: Vec<usize> = self
            .by_name
            .get(&(schema, &*document.key.name))
            .into_iter()
            .flatten()
            .copied()
            .take(MAX_RELATIVES)
            .collect();
        let mut found = named.clone();
        for one in named
            .iter()
            .map(|index| self.head[*index].document)
            .chain([document])
        {
            let selected = one
                .parent_selector
                .iter()
                .flat_map(|it| labels(schema, &it.labels).take(1));
            let parents = selected.flat_map(|label| candidates(&self.by_label, &label));
            found.extend(parents.filter(|index| selects(one, self.head[*index].document)));
            let labels = labels(schema, &one.labels).take(MAX_LABELS);
            let children = labels.flat_map(|label| candidates(&self.by_selector, &label));
            found.extend(children.filter(|index| selects(self.head[*index].document, one)));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Secret head documents that a document inherits from.
    fn secret_parents(&self, document: &Document, relatives: &[usize]) -> Vec<&'a Document> {
        let relatives = relatives.iter().map(|index| self.head[*index].document);
        let name = (&document.key.schema, &document.key.name);
        let named = relatives
            .clone()
            .filter(|it| (&it.key.schema, &it.key.name) == name);
        let secret = relatives.clone().filter(|it| it.data.secret);
        let is_parent = |parent: &Document| {
            selects(document, parent) || named.clone().any(|child| selects(child, parent))
        };
        secret.filter(|it| is_parent(it)).collect()
    }

    /// Paths to which these head documents substitute secrets.
    fn secret_destinations(&self, documents: &[usize], depth: usize) -> Vec<&'a Path> {
        let documents = documents.iter().map(|index| self.head[*index].document);
        let substitutions = documents.flat_map(Document::substitutions);
        let secret = substitutions.filter(|it| self.reads_secret(*it, depth));
        secret
            .flat_map(|it| it.writing.to.iter().map(|to| &to.path.value))
            .collect()
    }

    /// Whether a substitution of the head reads a secret, including one that another substitution
    /// wrote.
    fn reads_secret(&self, substitution: DocumentSubstitution<'a>, depth: usize) -> bool {
        let source = (
            &*substitution.source.schema.value,
            &*substitution.source.name.value,
        );
        let from = substitution.writing.from.value.text();
        self.secret_paths(source, depth + 1)
            .iter()
            .any(|path| overlap(from, path))
    }

    /// Paths of secrets in the documents of a schema and name.
    fn secret_paths(&self, name: SchemaAndName<'a>, depth: usize) -> Rc<[&'a str]> {
        if let Some(known) = self.secret_paths.borrow().get(&name) {
            return known.clone();
        }
        let everywhere: Rc<[&'a str]> = Rc::from([""]);
        if depth > MAX_CHAIN {
            return everywhere;
        }
        self.secret_paths.borrow_mut().insert(name, Rc::from([]));
        let sources = self.by_name.get(&name).map_or(&[][..], Vec::as_slice);
        let mut documents = sources.iter().map(|index| self.head[*index].document);
        let paths = match documents.clone().next() {
            // It may be generated at deployment, or be in a site that was not read.
            None => everywhere,
            Some(_) if documents.any(|it| it.data.secret) => everywhere,
            Some(first) => {
                let mut paths: Vec<&str> = self
                    .secret_destinations(&self.relatives(first), depth)
                    .into_iter()
                    .map(Path::text)
                    .collect();
                paths.sort_unstable();
                paths.dedup();
                if paths.len() <= MAX_PATHS {
                    paths.into()
                } else {
                    everywhere
                }
            }
        };
        self.secret_paths.borrow_mut().insert(name, paths.clone());
        paths
    }

    /// Whether a literal is now in a secret document.
    fn has_moved(&self, scalar: &Node) -> bool {
        let Some(text) = literal(scalar) else {
            return false;
        };
        self.moved.contains(&text)
            || self.moved.len() <= MAX_PARTS && self.moved.iter().any(|it| text.contains(&**it))
    }
}

impl Document {
    /// Marks the content that is secret in the head, in the data and in [`Document::root`].
    pub(crate) fn hide(&mut self, later: &Later) {
        let marked = |node: Node| match later {
            Later::Data => node.into_secret(),
            Later::Scalars(places) => with_marked(&node, places),
        };
        self.is_secret_later = true;
        self.data = marked(self.data.clone());
        let mut root = self.root();
        if let Value::Mapping(mapping) = &mut root.value
            && let Some(data) = Mapping::to_change(mapping).get_mut("data")
        {
            *data = self.data.clone();
        }
        self.whole = Whole::Held(root);
    }
}

impl Document {
    /// Hides the name of its layer, in messages and in [`Document::root`].
    pub(crate) fn hide_layer(&mut self) {
        let Some(layer) = self.layer.as_mut() else {
            return;
        };
        let hidden: Arc<str> = HIDDEN.into();
        layer.value.clone_from(&hidden);
        self.key = DocKey::new(self.key.schema.clone(), hidden, self.key.name.clone());
        let mut root = self.root();
        let mut place = Some(&mut root);
        for name in ["metadata", "layeringDefinition", "layer"] {
            place = place.and_then(|node| match &mut node.value {
                Value::Mapping(mapping) => Mapping::to_change(mapping).get_mut(name),
                _ => None,
            });
        }
        if let Some(layer) = place {
            layer.secret = true;
        }
        self.whole = Whole::Held(root);
    }
}

/// Marks the scalars at `places` of a node as secret.
fn with_marked(node: &Node, places: &HashSet<Span>) -> Node {
    let mut node = node.clone();
    let around: Vec<Location> = {
        let mut found = Vec::new();
        each_scalar(&node, &Location::root(), &mut |place, scalar| {
            if places.contains(&scalar.span) {
                found.push(place.clone());
            }
        });
        found
    };
    for place in around {
        if let Some(scalar) = place.get_mut(&mut node) {
            scalar.secret = true;
        }
    }
    node
}

fn each_scalar(node: &Node, at: &Location, take: &mut dyn FnMut(&Location, &Node)) {
    if !node.is_collection() {
        return take(at, node);
    }
    for (piece, child) in children(node) {
        each_scalar(child, &at.join(piece), take);
    }
}

/// Scalars of the secret documents, as strings.
fn secret_scalars(documents: &[PlacedDocument<'_>]) -> HashSet<String> {
    fn collect(node: &Node, found: &mut HashSet<String>) {
        found.extend(literal(node));
        inside(node).for_each(|child| collect(child, found));
    }
    let mut found = HashSet::new();
    for PlacedDocument { document, .. } in documents.iter().filter(|it| it.document.data.secret) {
        collect(&document.data, &mut found);
    }
    found
}

/// A scalar as a string, unless it is too short to be a secret.
fn literal(node: &Node) -> Option<String> {
    let text = match &node.value {
        Value::String(text) => text.to_string(),
        value @ (Value::Int(_) | Value::BigInt(_) | Value::Float(_)) => scalar_text(value),
        _ => return None,
    };
    (text.len() >= MIN_MOVED).then_some(text)
}

/// Labels as lookup keys for documents of `schema`.
fn labels<'a>(schema: &'a str, labels: &'a Mapping) -> impl Iterator<Item = SchemaLabel<'a>> {
    labels
        .iter()
        .map(move |(key, value)| (schema, scalar_text(&key.value), scalar_text(&value.value)))
}

/// Documents with a label.
fn candidates<'l, 'a>(
    known: &'l HashMap<SchemaLabel<'a>, Vec<usize>, foldhash::fast::RandomState>,
    label: &SchemaLabel<'a>,
) -> impl Iterator<Item = usize> + use<'l, 'a> {
    known
        .get(label)
        .into_iter()
        .flatten()
        .copied()
        .take(MAX_RELATIVES)
}

/// Whether the selector of `child` matches the labels of `parent`.
fn selects(child: &Document, parent: &Document) -> bool {
    child
        .parent_selector
        .as_ref()
        .is_some_and(|selector| has_all_labels(parent, selector))
}

/// Whether one of two paths is equal to or below the other.
fn overlap(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|path| path.trim_start_matches(['$', '.']));
    let (short, long) = if one.len() <= other.len() {
        (one, other)
    } else {
        (other, one)
    };
    long.strip_prefix(short)
        .is_some_and(|rest| short.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}
