//! Base against head: which rendered outputs changed, because of which edits,
//! by which way, and what stopped the edits elsewhere.
//!
//! Outputs are matched by schema and name, by layer too where that is not
//! unique on a side. What changed in one of them is a list of
//! [`Difference`]s; [`attribute`] leads each back to its edits, [`shields`]
//! finds what stopped an edit, and [`reach`] puts all sites together. No
//! system's words are known here, nor git: the two sides are graphs, and a side
//! with only some of the edits is asked for.

mod cause;
mod matching;
pub mod reach;
mod shield;
mod texts;

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub use cause::{Attribution, Question, Trial, Wanted, attribute};
pub use shield::shields;
pub use texts::{Texts, edits_meeting};

use matching::matched;

use crate::edit::{Edit, EditId};
use crate::graph::{DocId, Graph, Recipe};
use crate::render::replay::Replay;
use crate::render::{Outcome, Rendered};
use crate::source::{DocKey, FileId, Span};
use crate::yaml::diff::{self, Difference, ListKeys, differences};
use crate::yaml::path::Location;
use crate::yaml::{Node, Size, Value, Whole};

/// One side of one site.
pub struct Side<'a> {
    /// The recipes.
    pub graph: &'a Graph,
    /// What they render to.
    pub rendered: &'a Rendered,
    /// Each document as it is written, by its id.
    written: Vec<&'a Whole>,
    replay: Replay<'a>,
    /// The documents by name, and their texts by file, as soon as somebody asks.
    by_key: OnceCell<Lookup<DocKey, DocId>>,
    texts: OnceCell<Lookup<FileId, Vec<Span>>>,
}

type Lookup<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

impl<'a> Side<'a> {
    /// The side that `graph` renders to.
    pub fn new(graph: &'a Graph, rendered: &'a Rendered, written: Vec<&'a Whole>) -> Self {
        let replay = Replay::new(graph, rendered);
        let (by_key, texts) = (OnceCell::new(), OnceCell::new());
        Self { graph, rendered, written, replay, by_key, texts }
    }

    /// A document as it is written, and where it stands.
    fn written(&self, doc: DocId) -> (&'a Whole, Span) {
        (self.written[doc.index()], self.graph.recipe(doc).span)
    }

    /// How the metadata of a document differs from that of another, which may be of
    /// another side.
    fn metadata_against(
        &self,
        doc: DocId,
        other: (&Whole, Span),
        keys: &ListKeys,
    ) -> Vec<Difference> {
        let own = self.written(doc);
        if own.0.is(other.0) {
            return Vec::new();
        }
        let [other, own] = [other, own].map(|(written, at)| {
            let metadata = written.root().get("metadata").cloned();
            metadata.unwrap_or_else(|| Node::made(Value::Null, at))
        });
        differences(&other, &own, keys)
    }

    /// The recipe of this name; of several the first.
    fn recipe_of(&self, key: &DocKey) -> Option<&'a Recipe> {
        let by_key = self.by_key.get_or_init(|| {
            let mut by_key: Lookup<_, _> = Lookup::default();
            by_key.reserve(self.graph.recipes.len());
            for (doc, recipe) in self.graph.iter() {
                by_key.entry(recipe.key.clone()).or_insert(doc);
            }
            by_key
        });
        by_key.get(key).map(|doc| self.graph.recipe(*doc))
    }

    /// The texts of the documents in which this stands.
    fn texts_around(&self, at: Span) -> impl Iterator<Item = Span> {
        let texts = self.texts.get_or_init(|| {
            let mut texts: Lookup<FileId, Vec<Span>> = Lookup::default();
            for recipe in &self.graph.recipes {
                texts.entry(recipe.span.file).or_default().push(recipe.span);
            }
            texts
        });
        let in_file = texts.get(&at.file).into_iter().flatten().copied();
        in_file.filter(move |text| text.contains(at))
    }
}

/// The outputs that differ between two sides of a site, by schema, name and
/// layer, without their causes; a side is none where the site is not there.
/// Items of lists are matched by `keys`.
pub fn compare(base: Option<&Side<'_>>, head: Option<&Side<'_>>, keys: &ListKeys) -> Vec<Change> {
    let comparing = |output| Comparing { base, head, keys, output };
    let outputs: Vec<Comparing<'_>> = matched(base, head).into_iter().map(comparing).collect();
    let most = differences_of_each(&outputs);
    let mut changes: Vec<Change> =
        outputs.iter().filter_map(|comparing| comparing.change(most)).collect();
    changes.sort_by(|one, other| one.order().cmp(&other.order()));
    changes
}

/// Maximum number of places at which all outputs of a site differ that are listed. Where
/// there are more, each output that changed may have an equal share.
pub const MAX_DIFFERENCES: u64 = 30_000;

/// How many differences of each output may be listed.
fn differences_of_each(outputs: &[Comparing<'_>]) -> u64 {
    let counted = outputs.iter().map(|comparing| comparing.count().min(diff::MAX_DIFFERENCES));
    let (changed, all) = counted
        .filter(|count| *count > 0)
        .fold((0, 0_u64), |(changed, all), count| (changed + 1, all + count));
    if all <= MAX_DIFFERENCES { diff::MAX_DIFFERENCES } else { (MAX_DIFFERENCES / changed).max(1) }
}

/// An output on both sides, or on one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Output {
    /// The document on the base side.
    pub base: Option<DocId>,
    /// The document on the head side.
    pub head: Option<DocId>,
}

/// One output while it is compared.
struct Comparing<'a> {
    base: Option<&'a Side<'a>>,
    head: Option<&'a Side<'a>>,
    keys: &'a ListKeys,
    output: Output,
}

impl<'a> Comparing<'a> {
    fn schema(&self) -> &'a str {
        let of = |doc: Option<DocId>, side: Option<&'a Side<'a>>| {
            doc.zip(side).map(|(doc, side)| &*side.graph.recipe(doc).key.schema)
        };
        let head = of(self.output.head, self.head);
        head.or_else(|| of(self.output.base, self.base)).unwrap_or_default()
    }

    /// How many places of its data differ; zero where they are few in any case.
    fn count(&self) -> u64 {
        const MAX_FEW: u64 = 200;
        let nodes = |node: &Node| Size::of(node).nodes();
        let data = |doc: Option<DocId>, side: Option<&'a Side<'a>>| side?.rendered.data(doc?);
        let base = data(self.output.base, self.base);
        match (base, data(self.output.head, self.head)) {
            (Some(base), Some(head)) if nodes(base) + nodes(head) > MAX_FEW => {
                diff::count_differences(base, head, &self.keys.of_schema(self.schema()))
            }
            _ => 0,
        }
    }

    fn change(&self, most: u64) -> Option<Change> {
        let base = self.output.base.zip(self.base);
        let head = self.output.head.zip(self.head);
        let data = |side: Option<(DocId, &'a Side<'a>)>| {
            side.map(|(doc, side)| match side.rendered.outcome(doc) {
                Outcome::Ready(data) => Some(data),
                Outcome::Blocked(_) => None,
            })
        };
        let (status, data) = match (data(base), data(head)) {
            (Some(Some(base)), Some(Some(head))) => {
                let keys = self.keys.of_schema(self.schema());
                let differences = diff::differences_within(base, head, &keys, most);
                let unchanged = differences.is_empty();
                (if unchanged { Status::Metadata } else { Status::Changed }, differences)
            }
            (Some(Some(base)), None) => (Status::Removed, vec![only(Some(base), None)]),
            (None, Some(Some(head))) => (Status::Added, vec![only(None, Some(head))]),
            (Some(Some(_)), Some(None)) => (Status::Broken, Vec::new()),
            (Some(None), Some(Some(_))) => (Status::Repaired, Vec::new()),
            // What is rendered on neither side is no output of either.
            (None | Some(None), None | Some(None)) => return None,
        };
        let metadata = match (base, head) {
            (Some((base, before)), Some((head, after))) => {
                after.metadata_against(head, before.written(base), self.keys)
            }
            _ => Vec::new(),
        };
        if status == Status::Metadata && metadata.is_empty() {
            return None;
        }
        let (doc, side) = head.or(base)?;
        let recipe = side.graph.recipe(doc);
        Some(Change {
            site: None,
            key: recipe.key.clone(),
            status,
            at: recipe.span,
            output: self.output,
            data,
            metadata,
            causes: Vec::new(),
            unexplained: 0,
        })
    }
}

/// The outputs of a site of which it is unknown whether they changed, as it has files that
/// cannot be read: all but those that are `known` to have changed. `edits` are those of these
/// files.
pub fn not_comparable(
    base: Option<&Side<'_>>,
    head: Option<&Side<'_>>,
    known: &[Change],
    edits: &[(EditId, &Edit)],
) -> Vec<Change> {
    let known: HashSet<Output> = known.iter().map(|change| change.output).collect();
    let causes: Vec<Cause> = edits
        .iter()
        .map(|(id, edit)| Cause {
            edit: *id,
            joint: Vec::new(),
            route: vec![cause::first_hop(edit)],
        })
        .collect();
    let is_rendered = |doc: Option<DocId>, side: Option<&Side<'_>>| {
        doc.zip(side).is_some_and(|(doc, side)| side.rendered.data(doc).is_some())
    };
    let unknown = matched(base, head).into_iter().filter(|output| {
        !known.contains(output)
            && (is_rendered(output.base, base) || is_rendered(output.head, head))
    });
    unknown
        .filter_map(|output| {
            let (doc, side) = output.head.zip(head).or(output.base.zip(base))?;
            let recipe = side.graph.recipe(doc);
            Some(Change {
                site: None,
                key: recipe.key.clone(),
                status: Status::NotComparable,
                at: recipe.span,
                output,
                data: Vec::new(),
                metadata: Vec::new(),
                causes: causes.clone(),
                unexplained: 0,
            })
        })
        .collect()
}

/// A whole value that is on one side only.
fn only(base: Option<&Node>, head: Option<&Node>) -> Difference {
    let place =
        |node: &Node| diff::Place { location: Location::root(), key: None, node: node.clone() };
    Difference { base: base.map(place), head: head.map(place), unlisted: 0 }
}

impl Change {
    fn order(&self) -> (&str, &str, &str, Status) {
        (&self.key.schema, &self.key.name, &self.key.layer, self.status)
    }
}

/// What became of one output of one site.
#[derive(Clone, Debug)]
pub struct Change {
    /// The site; none for a set without layout.
    pub site: Option<Arc<str>>,
    /// What a user calls the output, on the head side if it is there.
    pub key: DocKey,
    /// What became of it.
    pub status: Status,
    /// The text of the document that is rendered, on the head side if it is
    /// there.
    pub at: Span,
    /// The document in the graphs of the two sides.
    pub output: Output,
    /// What changed in its data; for an output that came or went the whole.
    pub data: Vec<Difference>,
    /// What changed in its metadata; nothing for an output that came or went.
    pub metadata: Vec<Difference>,
    /// Why, by edit.
    pub causes: Vec<Cause>,
    /// How many of the differences no edit explains: a fault in layercake.
    pub unexplained: usize,
}

impl Change {
    /// Whether some of the change has no edit behind it: a fault in layercake,
    /// which no report may pass over.
    pub fn is_unexplained(&self) -> bool {
        self.unexplained > 0 || self.causes.is_empty()
    }
}

/// What became of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Its data is another.
    Changed,
    /// There is one that was not there.
    Added,
    /// There is none any more.
    Removed,
    /// It was rendered, and cannot be any more.
    Broken,
    /// It could not be rendered, and is now.
    Repaired,
    /// Its data is the same, its metadata is not.
    Metadata,
    /// One of its files cannot be read and differs between the sides: whether the output
    /// changed is unknown.
    NotComparable,
}

impl Status {
    /// All of them, in the order of reports.
    pub const ALL: [Status; 7] = [
        Status::Changed,
        Status::Added,
        Status::Removed,
        Status::Broken,
        Status::Repaired,
        Status::Metadata,
        Status::NotComparable,
    ];

    /// The word reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Changed => "changed",
            Status::Added => "added",
            Status::Removed => "removed",
            Status::Broken => "broken",
            Status::Repaired => "repaired",
            Status::Metadata => "metadata",
            Status::NotComparable => "not comparable",
        }
    }
}

/// An edit that changed an output.
#[derive(Clone, Debug)]
pub struct Cause {
    /// The edit.
    pub edit: EditId,
    /// The edits without which this one would not have changed the same
    /// values; none where it did so alone. Of thousands only the first are named.
    pub joint: Vec<EditId>,
    /// The way from the edit to the output, the edit first. There is always
    /// at least one step.
    pub route: Vec<Hop>,
}

impl Cause {
    /// Minimum number of edits that may be named beside one.
    pub const MIN_JOINT: usize = 100;
    /// Maximum number of names where edits need each other, for all of them together: a
    /// thousand would else be a million names.
    pub const MAX_NAMES: usize = 100_000;

    /// Maximum number of edits named beside each of `edits` edits.
    fn max_joint(edits: usize) -> usize {
        Self::MIN_JOINT.max(Self::MAX_NAMES / edits.max(1))
    }
}

/// One step of the way from an edit to an output.
#[derive(Clone, Debug, PartialEq)]
pub struct Hop {
    /// How the change came here.
    pub via: Via,
    /// The document that it came to.
    pub document: DocKey,
    /// Where in its data; none where the document as a whole is meant.
    pub location: Option<Location>,
    /// The texts that carried it, the most telling first.
    pub at: Vec<Span>,
}

/// How a change came to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Via {
    /// It was made here.
    Edited,
    /// From the parent.
    Inherited,
    /// From another document, by a substitution.
    Substituted,
    /// From another document, which is laid over others here.
    Merged,
    /// From the document that this one replaces.
    Replaced,
    /// Its selector finds another parent.
    Retargeted,
    /// Its selector finds no parent any more.
    Unparented,
    /// The document came.
    Added,
    /// The document went.
    Removed,
    /// The layers, or the files of the site, are others.
    Policy,
}

impl Via {
    /// All of them.
    pub const ALL: [Via; 10] = [
        Via::Edited,
        Via::Inherited,
        Via::Substituted,
        Via::Merged,
        Via::Replaced,
        Via::Retargeted,
        Via::Unparented,
        Via::Added,
        Via::Removed,
        Via::Policy,
    ];

    /// The word reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Via::Edited => "edited",
            Via::Inherited => "inherited",
            Via::Substituted => "substituted",
            Via::Merged => "merged",
            Via::Replaced => "replaced",
            Via::Retargeted => "retargeted",
            Via::Unparented => "unparented",
            Via::Added => "added",
            Via::Removed => "removed",
            Via::Policy => "policy",
        }
    }
}

/// How sure the causes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Proof {
    /// Found by following the values back.
    Followed,
    /// Rendered: with the named edits the value is there, without any one of
    /// them it is not.
    Rendered,
}
