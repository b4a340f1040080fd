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
mod renames;
mod shield;
mod texts;

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use layercake_source::{DocKey, FileId, Span};
use layercake_yaml::diff::{self, Difference, ListKeys, differences};
use layercake_yaml::path::Location;
use layercake_yaml::{Node, Value, Whole};

pub use cause::{Attributed, Attribution, Question, Trial, Wanted, attribute};
pub use renames::Renames;
pub use shield::shields;
pub use texts::{Texts, edits_meeting};

use matching::matched;

use crate::edit::{Edit, EditId};
use crate::graph::{DocId, Graph, Recipe};
use crate::render::flow::MAX_REACHED;
use crate::render::replay::Replay;
use crate::render::{Outcome, Rendered};

/// One side of one site.
pub struct Side<'a> {
    /// The recipes.
    pub graph: &'a Graph,
    /// What they render to.
    rendered: &'a Rendered,
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

/// Maximum numbers of what is listed of the changes of one site.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Outputs that changed.
    pub outputs: usize,
    /// Places at which all of them differ.
    differences: usize,
    /// Edits that changed an output, each with its route, for all outputs.
    causes: usize,
    /// Lines that stop edits.
    shields: usize,
    /// Places to which all edits are followed, to see what stops them.
    places: usize,
}

impl Limits {
    /// Maximum number of changed outputs that are listed of all sites.
    pub const OUTPUTS: usize = 100_000;
    /// Maximum number of differences that are listed of one site.
    pub const DIFFERENCES: usize = 30_000;
    /// Maximum number of causes that are listed of one site.
    pub const CAUSES: usize = 10_000;
    /// Maximum number of lines that stop edits and are listed of one site.
    pub const SHIELDS: usize = 10_000;
    /// Maximum number of places to which the edits of one site are followed.
    const PLACES: usize = 200_000;
    /// In how many sites each can have so much, but for outputs.
    const SITES: usize = 10;

    /// For each of so many sites.
    pub fn of_each(sites: usize) -> Self {
        let share = |one: usize| (one * Self::SITES / sites.max(1)).min(one);
        Self {
            outputs: (Self::OUTPUTS / sites.max(1)).max(50),
            differences: share(Self::DIFFERENCES).max(300),
            causes: share(Self::CAUSES).max(100),
            shields: share(Self::SHIELDS).max(100),
            places: share(Self::PLACES).max(4_000),
        }
    }

    /// To how many places each of so many edits may be followed.
    fn places_of_each(self, edits: usize) -> usize {
        (self.places / edits.max(1)).clamp(20, MAX_REACHED)
    }

    /// How many causes may be listed of each of so many outputs.
    fn causes_of_each(self, outputs: usize) -> usize {
        (self.causes / outputs.max(1)).max(3)
    }
}

/// The outputs that differ between two sides of a site, by schema, name and
/// layer, without their causes; a side is none where the site is not there.
/// An output of a document that was renamed is the one of its old name. Items of lists are
/// matched by `keys`. Where the outputs differ at more places than
/// may be listed, each has an equal share.
pub fn compare(
    base: Option<&Side<'_>>,
    head: Option<&Side<'_>>,
    renames: &Renames,
    keys: &ListKeys,
    limits: Limits,
) -> Vec<Change> {
    let comparing = |output| Comparing { base, head, keys, output };
    let outputs = matched(base, head, renames).into_iter();
    let outputs: Vec<Comparing<'_>> = outputs.map(comparing).collect();
    let mut changes = changes_within(&outputs, diff::MAX_DIFFERENCES, limits.differences)
        .or_else(|| changes_within(&outputs, equal_share(&outputs, limits), usize::MAX))
        .unwrap_or_default();
    changes.sort_by(|one, other| one.order().cmp(&other.order()));
    changes
}

/// The changes with at most `most` differences each; none if they have more than `all`.
fn changes_within(outputs: &[Comparing<'_>], most: u64, all: usize) -> Option<Vec<Change>> {
    let mut listed = 0;
    let changes = outputs.iter().filter_map(|comparing| comparing.change(most));
    let listed_within = |change: Change| {
        listed += change.data.len();
        (listed <= all).then_some(change)
    };
    changes.map(listed_within).collect()
}

/// How many differences of each output may be listed.
fn equal_share(outputs: &[Comparing<'_>], limits: Limits) -> u64 {
    let changed = outputs.iter().filter(|comparing| comparing.has_other_data()).count();
    u64::try_from(limits.differences / changed.max(1)).unwrap_or(u64::MAX).max(1)
}

/// An output on both sides, or on one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Output {
    /// The document on the base side.
    pub base: Option<DocId>,
    /// The document on the head side.
    pub head: Option<DocId>,
}

impl Output {
    /// What it was called before, if it is there on both sides by different names.
    fn renamed_from(self, base: Option<&Side<'_>>, head: Option<&Side<'_>>) -> Option<DocKey> {
        let key = |doc: Option<DocId>, side: Option<&Side<'_>>| {
            Some(side?.graph.recipe(doc?).key.clone())
        };
        let (before, after) = (key(self.base, base)?, key(self.head, head)?);
        (before.name != after.name).then_some(before)
    }
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

    fn has_other_data(&self) -> bool {
        let data = |doc: Option<DocId>, side: Option<&'a Side<'a>>| side?.rendered.data(doc?);
        let base = data(self.output.base, self.base);
        match (base, data(self.output.head, self.head)) {
            (Some(base), Some(head)) => !diff::same(base, head),
            _ => false,
        }
    }

    fn change(&self, most: u64) -> Option<Change> {
        let base = self.output.base.zip(self.base);
        let head = self.output.head.zip(self.head);
        let renamed_from = self.output.renamed_from(self.base, self.head);
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
                let unchanged = differences.is_empty() && renamed_from.is_none();
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
            renamed_from,
            status,
            at: recipe.span,
            touched: false,
            output: self.output,
            data,
            metadata,
            causes: Vec::new(),
            unexplained: 0,
        })
    }
}

/// The changes of a site that has files which cannot be read, the edits of which are `edits`:
/// all outputs are not comparable but those that `found` has with other causes.
pub fn not_comparable(
    base: Option<&Side<'_>>,
    head: Option<&Side<'_>>,
    renames: &Renames,
    mut found: Vec<Change>,
    edits: &[(EditId, &Edit)],
) -> Vec<Change> {
    let is_unread = |cause: &Cause| edits.binary_search_by_key(&cause.edit, |(id, _)| *id).is_ok();
    found.retain(|change| change.is_unexplained() || !change.causes.iter().all(is_unread));
    let known: HashSet<Output> = found.iter().map(|change| change.output).collect();
    let causes: Vec<Cause> = edits
        .iter()
        .take(Cause::MAX_UNREAD)
        .map(|(id, edit)| Cause {
            edit: *id,
            joint: Vec::new(),
            route: vec![cause::first_hop(edit)],
        })
        .collect();
    let is_rendered = |doc: Option<DocId>, side: Option<&Side<'_>>| {
        doc.zip(side).is_some_and(|(doc, side)| side.rendered.data(doc).is_some())
    };
    let unknown = matched(base, head, renames).into_iter().filter(|output| {
        !known.contains(output)
            && (is_rendered(output.base, base) || is_rendered(output.head, head))
    });
    let unknown: Vec<Change> = unknown
        .filter_map(|output| {
            let (doc, side) = output.head.zip(head).or(output.base.zip(base))?;
            let recipe = side.graph.recipe(doc);
            Some(Change {
                site: None,
                key: recipe.key.clone(),
                renamed_from: output.renamed_from(base, head),
                status: Status::NotComparable,
                at: recipe.span,
                touched: false,
                output,
                data: Vec::new(),
                metadata: Vec::new(),
                causes: causes.clone(),
                unexplained: 0,
            })
        })
        .collect();
    found.extend(unknown);
    found
}

/// A whole value that is on one side only.
fn only(base: Option<&Node>, head: Option<&Node>) -> Difference {
    let place =
        |node: &Node| diff::DiffPlace { location: Location::root(), key: None, node: node.clone() };
    let (base, head) = (base.map(place), head.map(place));
    Difference { kind: diff::DifferenceKind::Value, base, head, items: Vec::new(), unlisted: 0 }
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
    /// What it was called on the base side, where that is another name.
    pub renamed_from: Option<DocKey>,
    /// What became of it.
    pub status: Status,
    /// The text of the document that is rendered, on the head side if it is
    /// there.
    pub at: Span,
    /// Whether the file of that text differs between the sides.
    pub touched: bool,
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
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Its data is another, or its name.
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
    const MIN_JOINT: usize = 100;
    /// Maximum number of edits of files that cannot be read which are named as causes of each
    /// output; what others reach is not known.
    const MAX_UNREAD: usize = 20;
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
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
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
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Proof {
    /// Found by following the values back.
    Followed,
    /// Rendered: with the named edits the value is there, without any one of
    /// them it is not.
    Rendered,
}
