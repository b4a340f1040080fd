//! Comparison of base and head: changed outputs, the edits that caused them, the routes between,
//! and the overrides that shield other edits.
//!
//! Outputs are matched by schema and name, and by layer if these are not unique on a side. The
//! changes of an output are a list of [`Difference`]s. [`attribute`] traces each back to its edits,
//! [`shields`] finds what stopped an edit, and [`reach`] combines all sites. This module is
//! independent of git and of any system: the sides are graphs, and the caller renders a side with
//! some of the edits.

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
pub use texts::{Texts, edits_overlapping};

use matching::matched;

use crate::edit::{Edit, EditId};
use crate::graph::{DocId, Graph, Recipe};
use crate::render::flow::MAX_REACHED;
use crate::render::replay::Replay;
use crate::render::{Outcome, Rendered};

/// One side of one site.
pub struct Side<'a> {
    /// Recipes of the side.
    pub graph: &'a Graph,
    /// Rendered documents.
    rendered: &'a Rendered,
    /// Source of each document, by id.
    written: Vec<&'a Whole>,
    replay: Replay<'a>,
    /// Indexes of the documents by name, and of their texts by file, built on demand.
    by_key: OnceCell<Lookup<DocKey, DocId>>,
    texts: OnceCell<Lookup<FileId, Vec<Span>>>,
}

type Lookup<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

impl<'a> Side<'a> {
    /// Creates the side that `graph` renders to.
    pub fn new(graph: &'a Graph, rendered: &'a Rendered, written: Vec<&'a Whole>) -> Self {
        let replay = Replay::new(graph, rendered);
        let (by_key, texts) = (OnceCell::new(), OnceCell::new());
        Self { graph, rendered, written, replay, by_key, texts }
    }

    /// Returns the source of a document and its span.
    fn written(&self, doc: DocId) -> (&'a Whole, Span) {
        (self.written[doc.index()], self.graph.recipe(doc).span)
    }

    /// Returns the differences of a document's metadata from that of another document, possibly of
    /// the other side.
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

    /// Returns the first recipe with this name.
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

    /// Returns the texts of the documents that contain this span.
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

/// Maximum numbers of listed changes of one site.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Changed outputs.
    pub outputs: usize,
    /// Differences of all outputs.
    differences: usize,
    /// Causes of all outputs, each with its route.
    causes: usize,
    /// Shields.
    shields: usize,
    /// Places to which all edits are followed, to find their shields.
    places: usize,
}

impl Limits {
    /// Maximum number of changed outputs listed for all sites.
    pub const OUTPUTS: usize = 100_000;
    /// Maximum number of differences listed per site.
    pub const DIFFERENCES: usize = 30_000;
    /// Maximum number of causes listed per site.
    pub const CAUSES: usize = 10_000;
    /// Maximum number of shields listed per site.
    pub const SHIELDS: usize = 10_000;
    /// Maximum number of places to which the edits of one site are followed.
    const PLACES: usize = 200_000;
    /// Number of sites up to which each has the full limits, except for outputs.
    const SITES: usize = 10;

    /// Returns the limits for each of `sites` sites.
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

    /// Returns the maximum number of places to which each of `edits` edits is followed.
    fn places_of_each(self, edits: usize) -> usize {
        (self.places / edits.max(1)).clamp(20, MAX_REACHED)
    }

    /// Returns the maximum number of causes listed for each of `outputs` outputs.
    fn causes_of_each(self, outputs: usize) -> usize {
        (self.causes / outputs.max(1)).max(3)
    }
}

/// Returns the outputs that differ between two sides of a site, by schema, name and layer, without
/// their causes. A side is `None` if the site does not exist there. The output of a renamed
/// document is compared with that of its old name. List items are matched by `keys`. If there are
/// more differences than may be listed, all outputs have equal shares.
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

/// Returns the changes with at most `most` differences each, or `None` if they have more than `all`
/// together.
fn changes_within(outputs: &[Comparing<'_>], most: u64, all: usize) -> Option<Vec<Change>> {
    let mut listed = 0;
    let changes = outputs.iter().filter_map(|comparing| comparing.change(most));
    let listed_within = |change: Change| {
        listed += change.data.len();
        (listed <= all).then_some(change)
    };
    changes.map(listed_within).collect()
}

/// Returns the maximum number of differences listed per output.
fn equal_share(outputs: &[Comparing<'_>], limits: Limits) -> u64 {
    let changed = outputs.iter().filter(|comparing| comparing.has_other_data()).count();
    u64::try_from(limits.differences / changed.max(1)).unwrap_or(u64::MAX).max(1)
}

/// Output on one or both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Output {
    /// Its document on the base side.
    pub base: Option<DocId>,
    /// Its document on the head side.
    pub head: Option<DocId>,
}

impl Output {
    /// Returns the name on the base side, if the output exists on both sides under different names.
    fn renamed_from(self, base: Option<&Side<'_>>, head: Option<&Side<'_>>) -> Option<DocKey> {
        let key = |doc: Option<DocId>, side: Option<&Side<'_>>| {
            Some(side?.graph.recipe(doc?).key.clone())
        };
        let (before, after) = (key(self.base, base)?, key(self.head, head)?);
        (before.name != after.name).then_some(before)
    }
}

/// Comparison of one output.
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
            // Not an output if it is rendered on neither side.
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

/// Returns the changes of a site with unreadable files, whose edits are `edits`. All outputs are
/// not comparable, except those in `found` with other causes.
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

/// Returns the difference of a whole value that exists on one side only.
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

/// Change of one output of one site.
#[derive(Clone, Debug)]
pub struct Change {
    /// The site; `None` for a set without layout.
    pub site: Option<Arc<str>>,
    /// Name of the output, on the head side if it exists there.
    pub key: DocKey,
    /// Name on the base side, if different.
    pub renamed_from: Option<DocKey>,
    /// Kind of the change.
    pub status: Status,
    /// Text of the rendered document, on the head side if it exists there.
    pub at: Span,
    /// Whether the file of that text differs between the sides.
    pub touched: bool,
    /// Its documents in the graphs of the two sides.
    pub output: Output,
    /// Differences of the data; for an added or removed output, the whole data.
    pub data: Vec<Difference>,
    /// Differences of the metadata; empty for an added or removed output.
    pub metadata: Vec<Difference>,
    /// Edits that caused the change.
    pub causes: Vec<Cause>,
    /// Number of differences that no edit explains, which is a bug in layercake.
    pub unexplained: usize,
}

impl Change {
    /// Returns whether part of the change has no cause. That is a bug in layercake, which every
    /// report must show.
    pub fn is_unexplained(&self) -> bool {
        self.unexplained > 0 || self.causes.is_empty()
    }
}

/// Kind of the change of an output.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The data or the name differs.
    Changed,
    /// Only the head has the output.
    Added,
    /// Only the base has the output.
    Removed,
    /// The output can no longer be rendered.
    Broken,
    /// The output can be rendered again.
    Repaired,
    /// Only the metadata differs.
    Metadata,
    /// Unknown, because one of its files cannot be read and differs between the sides.
    NotComparable,
}

impl Status {
    /// All statuses, in the order of reports.
    pub const ALL: [Status; 7] = [
        Status::Changed,
        Status::Added,
        Status::Removed,
        Status::Broken,
        Status::Repaired,
        Status::Metadata,
        Status::NotComparable,
    ];

    /// Returns the name used in reports.
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

/// Edit that changed an output.
#[derive(Clone, Debug)]
pub struct Cause {
    /// The edit.
    pub edit: EditId,
    /// Edits without which this one would not have changed the same values; empty if it did so
    /// alone. Truncated if there are thousands.
    pub joint: Vec<EditId>,
    /// Route from the edit to the output, the edit first; at least one hop.
    pub route: Vec<Hop>,
}

impl Cause {
    /// Minimum limit on the joint edits listed for one edit.
    const MIN_JOINT: usize = 100;
    /// Maximum number of edits of unreadable files listed as causes of each output; their real
    /// effect is unknown.
    const MAX_UNREAD: usize = 20;
    /// Maximum number of joint edits listed for all edits of an output together: a thousand joint
    /// edits would otherwise make a million entries.
    pub const MAX_NAMES: usize = 100_000;

    /// Maximum number of joint edits listed for each of `edits` edits.
    fn max_joint(edits: usize) -> usize {
        Self::MIN_JOINT.max(Self::MAX_NAMES / edits.max(1))
    }
}

/// Hop of the route from an edit to an output.
#[derive(Clone, Debug, PartialEq)]
pub struct Hop {
    /// How the change got here.
    pub via: Via,
    /// Document of the hop.
    pub document: DocKey,
    /// Place in its data; `None` for the whole document.
    pub location: Option<Location>,
    /// Source texts that carried the change, the most relevant first.
    pub at: Vec<Span>,
}

/// How a change got to a document.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// Edited in this document.
    Edited,
    /// Inherited from the parent.
    Inherited,
    /// Substituted from another document.
    Substituted,
    /// Merged from another document.
    Merged,
    /// Taken from the document that this one replaces.
    Replaced,
    /// Its selector selects another parent.
    Retargeted,
    /// Its selector no longer selects a parent.
    Unparented,
    /// The document was added.
    Added,
    /// The document was removed.
    Removed,
    /// The layers, or the files of the site, changed.
    Policy,
}

impl Via {
    /// Returns the name used in reports.
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

/// Certainty of the causes.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Proof {
    /// Found by tracing the values.
    Followed,
    /// Verified by rendering: the value is there with the named edits, and not without any one of
    /// them.
    Rendered,
}
