//! Comparison of base and head: changed outputs, the edits that caused them, the routes between,
//! and the overrides that shield other edits.
//!
//! Outputs are matched by schema and name, and by layer if these are not unique on a side. The
//! changes of an output are a list of [`Difference`]s. [`attribute`] finds the edits behind each, and
//! what stopped an edit; [`reach`] combines all sites. This module is
//! independent of git and of any system: the sides are graphs, and the caller renders a side with
//! some of the edits.

mod cause;
mod deployed;
mod idle;
mod matching;
pub mod reach;
mod renames;
mod shield;
mod texts;

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use layercake_source::{DocKey, FileId, Span};
use layercake_yaml::diff::{self, DiffMemo, Difference, ListKeys, differences};
use layercake_yaml::path::Location;
use layercake_yaml::{Node, Value, Whole};

pub use cause::{Attributed, Attribution, Fault, Question, Trial, Wanted, attribute};
pub use deployed::{Appliers, Deployed, DeployedCounts};
pub use idle::{Idle, idle};
pub use renames::Renames;
pub use texts::{Texts, edits_overlapping};

use matching::matched;
use parking_lot::Mutex;

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
        let by_key = OnceCell::new();
        let texts = OnceCell::new();
        Self {
            graph,
            rendered,
            written,
            replay,
            by_key,
            texts,
        }
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
        other_side: &Side<'_>,
        other_doc: DocId,
        keys: &ListKeys,
    ) -> Vec<Difference> {
        let own = self.written(doc);
        let other = other_side.written(other_doc);
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
        self.doc_of(key).map(|doc| self.graph.recipe(doc))
    }

    /// Returns the first document with this name.
    fn doc_of(&self, key: &DocKey) -> Option<DocId> {
        let by_key = self.by_key.get_or_init(|| {
            let mut by_key: Lookup<_, _> = Lookup::default();
            by_key.reserve(self.graph.recipes.len());
            for (doc, recipe) in self.graph.iter() {
                by_key.entry(recipe.key.clone()).or_insert(doc);
            }
            by_key
        });
        by_key.get(key).copied()
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
    /// Differences of all outputs.
    differences: usize,
    /// Causes of all outputs, each with its route.
    causes: usize,
    /// Size of all these routes, as of [`route_size`].
    routes: usize,
    /// Shields.
    shields: usize,
    /// Places to which all edits are followed, to find their shields.
    places: usize,
}

impl Limits {
    /// Maximum number of differences per site whose causes are found separately.
    pub const FOLLOWED: usize = 100_000;
    /// Maximum number of hops traced per site, and of pieces of their places.
    pub const TRACED: usize = 3_000_000;
    /// Maximum number of differences listed per site.
    pub const DIFFERENCES: usize = 30_000;
    /// Maximum number of causes listed per site.
    pub const CAUSES: usize = 100_000;
    /// Maximum number of steps of all listed routes of a site, and of pieces of their locations.
    pub const ROUTES: usize = 500_000;
    /// Maximum number of shields listed per site.
    pub const SHIELDS: usize = 10_000;
    /// Maximum number of places to which the edits of one site are followed.
    const PLACES: usize = 200_000;
    /// Number of sites up to which each has the full limits.
    const SITES: usize = 10;
    /// Number of sites whose routes may have the full size.
    const SITES_WITH_ROUTES: usize = 2;

    /// Returns the limits for each of `sites` sites.
    pub fn of_each(sites: usize) -> Self {
        let share = |one: usize| (one * Self::SITES / sites.max(1)).min(one);
        Self {
            differences: share(Self::DIFFERENCES).max(300),
            causes: share(Self::CAUSES),
            routes: (Self::ROUTES * Self::SITES_WITH_ROUTES / sites.max(1))
                .clamp(10_000, Self::ROUTES),
            shields: share(Self::SHIELDS).max(100),
            places: share(Self::PLACES).max(4_000),
        }
    }

    /// Returns the maximum number of places to which each of `edits` edits is followed.
    fn places_of_each(self, edits: usize) -> usize {
        (self.places / edits.max(1)).clamp(20, MAX_REACHED)
    }

    /// Returns the maximum number of causes listed for each output; `counts` are their numbers.
    fn causes_of_each(self, counts: Vec<usize>) -> usize {
        level(counts, self.causes).max(3)
    }

    /// Returns the maximum number of shields listed for each edit; `counts` are their numbers.
    fn shields_of_each(self, counts: Vec<usize>) -> usize {
        level(counts, self.shields).max(1)
    }
}

/// Returns the largest number for which all `counts`, limited to it, are at most `all` together:
/// the others can use what one leaves over.
fn level(mut counts: Vec<usize>, all: usize) -> usize {
    counts.sort_unstable();
    let mut left = all;
    for (at, count) in counts.iter().enumerate() {
        let each = left / (counts.len() - at);
        if *count > each {
            return each;
        }
        left -= count;
    }
    usize::MAX
}

/// Returns the outputs that differ between two sides of a site, by schema, name and layer, without
/// their causes. A side is `None` if the site does not exist there. The output of a renamed
/// document is compared with that of its old name. List items are matched by `keys`. All
/// differences are listed, up to [`Limits::FOLLOWED`] and [`diff::MAX_DIFFERENCES`].
pub fn compare(
    base: Option<&Side<'_>>,
    head: Option<&Side<'_>>,
    renames: &Renames,
    keys: &ListKeys,
) -> Vec<Change> {
    let outputs: Vec<Comparing<'_>> = matched(base, head, renames)
        .into_iter()
        .map(|output| Comparing {
            base,
            head,
            keys,
            output,
        })
        .collect();
    let mut memo = DiffMemo::default();
    let all = changes_within(&outputs, Limits::FOLLOWED, &mut memo);
    let mut changes = all.unwrap_or_else(|| {
        let most = followed_of_each(&outputs, &mut memo);
        outputs
            .iter()
            .filter_map(|output| output.change(most, &mut memo))
            .collect()
    });
    changes.sort_by(|one, other| one.order().cmp(&other.order()));
    changes
}

/// Returns the changes, or `None` if they have more than `all` differences together.
fn changes_within<'a>(
    outputs: &[Comparing<'a>],
    all: usize,
    memo: &mut DiffMemo<'a>,
) -> Option<Vec<Change>> {
    let mut listed = 0;
    let changes = outputs
        .iter()
        .filter_map(|comparing| comparing.change(diff::MAX_DIFFERENCES, memo));
    changes
        .map(|change| {
            listed += change.data.len();
            (listed <= all).then_some(change)
        })
        .collect()
}

/// Returns the maximum number of differences per output whose causes are found separately.
fn followed_of_each<'a>(outputs: &[Comparing<'a>], memo: &mut DiffMemo<'a>) -> u64 {
    let counts = outputs.iter().map(|comparing| comparing.count(memo));
    as_limit(level(counts.collect(), Limits::FOLLOWED))
}

fn as_limit(differences: usize) -> u64 {
    u64::try_from(differences).unwrap_or(u64::MAX).max(1)
}

/// Lists at most as many differences of a site as the limits allow, by joining differences of the
/// outputs with the most. The causes of joined differences are joined, too.
pub fn shorten(question: &Question<'_>, changes: &mut [Change]) {
    let most = level(
        changes.iter().map(|change| change.data.len()).collect(),
        question.limits.differences,
    );
    let Question {
        base, head, keys, ..
    } = *question;
    let mut memo = DiffMemo::default();
    for change in changes.iter_mut().filter(|change| change.data.len() > most) {
        let comparing = Comparing {
            base,
            head,
            keys,
            output: change.output,
        };
        let Some(joined) = comparing.change(as_limit(most), &mut memo) else {
            continue;
        };
        let mut places: Vec<PlaceCauses> = joined
            .data
            .iter()
            .map(|difference| change.causes_within(difference))
            .collect();
        places.extend(change.places.drain(change.data.len()..));
        (change.data, change.places) = (joined.data, places);
    }
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
        let before = key(self.base, base)?;
        let after = key(self.head, head)?;
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
            doc.zip(side)
                .map(|(doc, side)| &*side.graph.recipe(doc).key.schema)
        };
        let head = of(self.output.head, self.head);
        head.or_else(|| of(self.output.base, self.base))
            .unwrap_or_default()
    }

    /// Returns the result on the base side and on the head side.
    fn outcomes(&self) -> (Option<Outcome<'a>>, Option<Outcome<'a>>) {
        let of = |doc: Option<DocId>, side: Option<&'a Side<'a>>| {
            doc.zip(side).map(|(doc, side)| side.rendered.outcome(doc))
        };
        (
            of(self.output.base, self.base),
            of(self.output.head, self.head),
        )
    }

    /// Returns the number of differing places.
    fn count(&self, memo: &mut DiffMemo<'a>) -> usize {
        let (Some(Outcome::Ready(base)), Some(Outcome::Ready(head))) = self.outcomes() else {
            return 1;
        };
        let keys = self.keys.of_schema(self.schema());
        usize::try_from(memo.count(base, head, &keys)).unwrap_or(usize::MAX)
    }

    /// Returns the change with at most `most` differences; `None` if there is none.
    fn change(&self, most: u64, memo: &mut DiffMemo<'a>) -> Option<Change> {
        let base = self.output.base.zip(self.base);
        let head = self.output.head.zip(self.head);
        let renamed_from = self.output.renamed_from(self.base, self.head);
        let (status, data) = match self.outcomes() {
            (Some(Outcome::Ready(base)), Some(Outcome::Ready(head))) => {
                let keys = self.keys.of_schema(self.schema());
                let differences = memo.differences(base, head, &keys, most);
                let unchanged = differences.is_empty() && renamed_from.is_none();
                (
                    if unchanged {
                        Status::Metadata
                    } else {
                        Status::Changed
                    },
                    differences,
                )
            }
            (Some(Outcome::Ready(base)), None) => (Status::Removed, vec![only(Some(base), None)]),
            (None, Some(Outcome::Ready(head))) => (Status::Added, vec![only(None, Some(head))]),
            (Some(Outcome::Ready(_)), Some(Outcome::Blocked(_))) => (Status::Broken, Vec::new()),
            (Some(Outcome::Blocked(_)), Some(Outcome::Ready(_))) => (Status::Repaired, Vec::new()),
            // Not an output if it is rendered on neither side.
            (None | Some(Outcome::Blocked(_)), None | Some(Outcome::Blocked(_))) => return None,
        };
        let metadata = match (base, head) {
            (Some((base, before)), Some((head, after))) => {
                after.metadata_against(head, before, base, self.keys)
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
            deployed: Deployed::default(),
            output: self.output,
            data,
            metadata,
            edits: Arc::default(),
            places: Vec::new(),
            causes: Vec::new(),
            unexplained: 0,
        })
    }
}

/// Edits of unreadable files.
#[derive(Clone, Copy)]
pub struct UnreadEdits<'e> {
    /// The edits, in order.
    pub edits: &'e [(EditId, &'e Edit)],
    /// Whether an edit may change an output.
    pub may_change: &'e dyn Fn(EditId, &DocKey) -> bool,
}

/// Returns the changes of a site with unreadable files. The outputs that one of their edits may
/// change are not comparable, except those in `found` with other causes.
pub fn not_comparable(
    (base, head): (Option<&Side<'_>>, Option<&Side<'_>>),
    renames: &Renames,
    mut found: Vec<Change>,
    UnreadEdits { edits, may_change }: UnreadEdits<'_>,
) -> Vec<Change> {
    found.retain(|change| {
        change.is_unexplained()
            || !change
                .edits
                .iter()
                .all(|edit| edits.binary_search_by_key(edit, |(id, _)| *id).is_ok())
    });
    let known: HashSet<Output> = found.iter().map(|change| change.output).collect();
    let cause = |(id, edit): &(EditId, &Edit)| Cause {
        edit: *id,
        joint: Vec::new(),
        route: Arc::new([cause::first_hop(edit)]),
    };
    let is_rendered = |doc: Option<DocId>, side: Option<&Side<'_>>| {
        doc.zip(side)
            .is_some_and(|(doc, side)| side.rendered.data(doc).is_some())
    };
    let unknown: Vec<Change> = matched(base, head, renames)
        .into_iter()
        .filter(|output| {
            !known.contains(output)
                && (is_rendered(output.base, base) || is_rendered(output.head, head))
        })
        .filter_map(|output| {
            let (doc, side) = output.head.zip(head).or(output.base.zip(base))?;
            let recipe = side.graph.recipe(doc);
            let edits = edits.iter().filter(|(id, _)| may_change(*id, &recipe.key));
            edits.clone().next()?;
            Some(Change {
                site: None,
                key: recipe.key.clone(),
                renamed_from: output.renamed_from(base, head),
                status: Status::NotComparable,
                at: recipe.span,
                touched: false,
                deployed: Deployed::default(),
                output,
                data: Vec::new(),
                metadata: Vec::new(),
                edits: edits.clone().map(|(id, _)| *id).collect(),
                places: Vec::new(),
                causes: edits.take(Cause::MAX_UNREAD).map(cause).collect(),
                unexplained: 0,
            })
        })
        .collect();
    found.extend(unknown);
    found
}

/// Returns the difference of a whole value that exists on one side only.
fn only(base: Option<&Node>, head: Option<&Node>) -> Difference {
    let place = |node: &Node| diff::DiffPlace {
        location: Location::root(),
        key: None,
        node: node.clone(),
    };
    Difference::value(base.map(place), head.map(place))
}

impl Change {
    /// Returns the causes of all differences inside of a joined one.
    fn causes_within(&self, joined: &Difference) -> PlaceCauses {
        let is_inside = |difference: &Difference| {
            let inside = |of: fn(&Difference) -> Option<&diff::DiffPlace>| {
                let [whole, part] = [of(joined), of(difference)];
                whole
                    .zip(part)
                    .is_some_and(|(it, part)| part.location.starts_with(&it.location))
            };
            inside(|it| it.head.as_ref()) || inside(|it| it.base.as_ref())
        };
        let parts: Vec<&PlaceCauses> = self
            .data
            .iter()
            .zip(&self.places)
            .filter(|(part, _)| is_inside(part))
            .map(|(_, causes)| causes)
            .collect();
        match &parts[..] {
            [only] => (*only).clone(),
            several => {
                let edits: BTreeSet<EditId> = several
                    .iter()
                    .flat_map(|it| it.edits.iter().copied())
                    .collect();
                PlaceCauses {
                    edits: edits.into_iter().collect(),
                    are_joint: false,
                }
            }
        }
    }

    fn order(&self) -> (&str, &str, &str, Status) {
        (
            &self.key.schema,
            &self.key.name,
            &self.key.layer,
            self.status,
        )
    }
}

/// Returns whether a difference of metadata changes how Deckhand treats the rendered document:
/// whether it is stored encrypted, whether it is a control document, and its layer, which is part of
/// its identity (`deckhand.md` 2, 13, 16). All other metadata acts only through rendering.
fn is_of_treatment(difference: &Difference) -> bool {
    let pieces = difference.location().0.iter().take(2);
    let keys: Vec<&str> = pieces
        .map(|piece| piece.as_text().unwrap_or_default())
        .collect();
    match keys[..] {
        []
        | ["schema" | "storagePolicy" | "layeringDefinition"]
        | ["layeringDefinition", "layer"] => true,
        [..] => false,
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
    /// Whether the output is deployed, on the head side if it exists there; the caller sets it.
    pub deployed: Deployed,
    /// Its documents in the graphs of the two sides.
    pub output: Output,
    /// Differences of the data; for an added or removed output, the whole data.
    pub data: Vec<Difference>,
    /// Differences of the metadata; empty for an added or removed output.
    pub metadata: Vec<Difference>,
    /// All edits that caused the change, or without which the output would differ in another place;
    /// sorted.
    pub edits: Arc<[EditId]>,
    /// Causes of each place: of the whole output if it is on one side only or could not be rendered
    /// on one, otherwise of each difference of the data; then of each difference of the metadata.
    pub places: Vec<PlaceCauses>,
    /// Listed causes, with their routes.
    pub causes: Vec<Cause>,
    /// Number of differences that no edit explains, which is a bug in layercake.
    pub unexplained: usize,
}

impl Change {
    /// Returns whether part of the change has no cause. That is a bug in layercake, which every
    /// report must show.
    pub fn is_unexplained(&self) -> bool {
        self.unexplained > 0 || self.edits.is_empty()
    }

    /// Returns whether a consumer of the output can see the change: any but one of metadata that acts
    /// only through rendering, whose result is the same.
    pub fn is_visible(&self) -> bool {
        self.status != Status::Metadata || self.has_other_treatment()
    }

    /// Returns whether the data is the same, and Deckhand treats the document differently.
    pub fn has_other_treatment(&self) -> bool {
        self.status == Status::Metadata && self.metadata.iter().any(is_of_treatment)
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

/// Edits that caused one difference.
#[derive(Clone, Debug)]
pub struct PlaceCauses {
    /// The edits, sorted.
    pub edits: Arc<[EditId]>,
    /// Whether they caused it only together.
    pub are_joint: bool,
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
    pub route: Arc<[Hop]>,
}

/// Number of the steps of a route, and of the pieces of their locations.
fn route_size(route: &[Hop]) -> usize {
    let pieces = route.iter().filter_map(|hop| hop.location.as_ref());
    route.len() + pieces.map(|location| location.0.len()).sum::<usize>()
}

/// Routes of a run: equal ones of several sites are stored once.
#[derive(Default)]
pub struct KnownRoutes {
    known: Mutex<HashSet<Arc<[Hop]>, foldhash::fast::RandomState>>,
}

impl KnownRoutes {
    /// Replaces the routes of these changes by known ones.
    pub fn share(&self, changes: &mut [Change]) {
        let mut known = self.known.lock();
        for cause in changes.iter_mut().flat_map(|change| &mut change.causes) {
            match known.get(&cause.route) {
                Some(route) => cause.route = route.clone(),
                None => drop(known.insert(cause.route.clone())),
            }
        }
    }
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
    /// Not decided within the limits: the edit is treated as having an effect, and the outputs that
    /// it is known to reach may not be all.
    NotDecided,
    /// Found by tracing the values.
    Followed,
    /// Verified by rendering: the value is there with the named edits, and not without any one of
    /// them.
    Rendered,
}
