//! Changes between two sides: edits, outputs, groups of those that changed alike, the routes
//! between them, and the places that stopped an edit.
//!
//! An output is listed with all sites in which the same became of it for the same reasons. The
//! places of a route are those of the first of these sites.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::id::{EditRef, GroupRef, RouteRef, SetRef};
use super::is_default;
use super::place::{FilePlace, pointer};
use super::sites::SiteSets;
use super::value::{ShownValue, max_bytes};
use crate::compare::reach::{Comparison, EditReach, Group as Alike, Shield as Stop, Why};
use crate::compare::{Cause as CauseOf, Change, Hop, Proof, Status, Via};
use crate::edit::{EditKind, Part, Text};
use crate::report::View;
use crate::source::{DocKey, FileId, Span};
use crate::yaml::diff::{self, Difference};
use crate::yaml::path::Location;

/// All that is listed of a comparison.
#[derive(Clone, Debug, Default)]
pub(super) struct ReportedChanges {
    pub(super) edits: Vec<ReportedEdit>,
    pub(super) groups: Vec<OutputGroup>,
    pub(super) outputs: Vec<ReportedOutput>,
    pub(super) routes: Vec<Route>,
    pub(super) shields: Vec<ReportedShield>,
}

/// One change of a source document, or of which documents there are.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(expecting = "struct Edit")]
pub struct ReportedEdit {
    /// Its name in this report.
    pub(crate) id: EditRef,
    /// Kind of the change.
    pub(crate) kind: EditKind,
    /// The further repository between whose revisions it is, as an index into
    /// [`Report::repositories`](super::Report::repositories).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) repository: Option<usize>,
    /// The document.
    pub(crate) document: DocKey,
    /// The part of it that was edited.
    pub(crate) part: Part,
    /// Where in that part, as a JSON Pointer.
    pub(crate) pointer: String,
    /// The same as a path.
    pub(crate) path: String,
    /// The place on each side on which it is.
    pub(crate) at: OnSides<FilePlace>,
    /// The value that was there.
    pub(crate) before: Option<ShownValue>,
    /// The value that is there now.
    pub(crate) after: Option<ShownValue>,
    /// Its effects.
    pub(crate) reach: Reach,
    /// Method by which its effects were found; none for one that changed nothing.
    pub(crate) proof: Option<Proof>,
    /// Number of places that differ in there and are not edits of their own.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) unlisted: u64,
}

/// Something that is on the base side, on the head side, or on both.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct OnSides<T> {
    /// The base side.
    pub(crate) base: Option<T>,
    /// The head side.
    pub(crate) head: Option<T>,
}

impl<T> OnSides<T> {
    /// The head side, or else the base side.
    pub(crate) fn last(&self) -> Option<&T> {
        self.head.as_ref().or(self.base.as_ref())
    }
}

/// Number of outputs and sites that an edit changed.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Reach {
    /// Number of outputs, those of each site counted.
    pub(crate) outputs: usize,
    /// Number of these that are written in files which differ on no side.
    pub(crate) untouched: usize,
    /// The sites of the outputs.
    pub(crate) sites: SetRef,
}

/// Outputs of one schema and name that changed alike.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(expecting = "struct Group")]
pub struct OutputGroup {
    /// Its name in this report.
    pub(crate) id: GroupRef,
    /// The schema of the outputs.
    pub(crate) schema: String,
    /// Their name.
    pub(crate) name: String,
    /// Status of the outputs.
    pub(crate) status: Status,
    /// Number of outputs.
    pub outputs: usize,
    /// Their sites.
    pub(crate) sites: SetRef,
    /// Differences in the outputs.
    pub(crate) changes: Vec<OutputChange>,
}

/// A place at which outputs differ.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct OutputChange {
    /// The part of the output.
    pub(crate) part: OutputPart,
    /// Where in that part, as a JSON Pointer.
    pub(crate) pointer: String,
    /// The same as a path.
    pub(crate) path: String,
    /// The text that wrote it on each side on which it is.
    pub(crate) at: OnSides<FilePlace>,
    /// Whether only the order of the items of a list is another: the values are then what these
    /// are known by.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) reordered: bool,
    /// The value that was there; none also for an output that came or went.
    pub(crate) before: Option<ShownValue>,
    /// The value that is there now; none also for an output that came or went.
    pub(crate) after: Option<ShownValue>,
    /// Number of places that differ in there and are not listed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) unlisted: u64,
}

/// A part of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OutputPart {
    /// Its data.
    Data,
    /// Its metadata.
    Metadata,
}

/// An output, in all sites in which the same became of it for the same reasons.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(expecting = "struct Output")]
pub struct ReportedOutput {
    /// The document that is rendered.
    pub(crate) document: DocKey,
    /// Its name on the base side, where that is another.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) renamed_from: Option<String>,
    /// Its status.
    pub(crate) status: Status,
    /// The group that it is in.
    pub(crate) group: GroupRef,
    /// Its sites.
    pub(crate) sites: SetRef,
    /// Whether its file differs between the sides.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) touched: bool,
    /// The edits that changed it.
    pub(crate) causes: Vec<ReportedCause>,
    /// Whether some of the change has no edit behind it: a fault of layercake.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) unexplained: bool,
}

/// An edit that changed an output.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(expecting = "struct Cause")]
pub(crate) struct ReportedCause {
    /// The edit.
    pub(crate) edit: EditRef,
    /// The last step of its route.
    pub(crate) via: Via,
    /// Number of steps behind the edit.
    pub(crate) hops: usize,
    /// The route.
    pub(crate) route: RouteRef,
    /// The edits without which this one would not have changed the same values.
    pub(crate) joint: Vec<EditRef>,
}

/// A route from an edit to an output.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Route {
    /// Its name in this report.
    pub(crate) id: RouteRef,
    /// The steps, the edit first.
    pub(crate) steps: Vec<RouteStep>,
}

/// A step of a route.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(expecting = "struct Step")]
pub(crate) struct RouteStep {
    /// Kind of the hop that led here.
    pub(crate) via: Via,
    /// The document that it came to.
    pub(crate) document: DocKey,
    /// Where in its data, as a path; none where the document as a whole is meant.
    pub(crate) path: Option<String>,
    /// The texts that carried it, the most telling first.
    pub(crate) at: Vec<FilePlace>,
}

/// A stop of an edit at one place of a document.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(expecting = "struct Shield")]
pub struct ReportedShield {
    /// The edit.
    pub(crate) edit: EditRef,
    /// Kind of the stop.
    pub(crate) why: Why,
    /// The document at which it stopped.
    pub(crate) document: DocKey,
    /// Where in its data, as a path.
    pub(crate) path: String,
    /// The sites in which it did.
    pub(crate) sites: SetRef,
    /// The text that stopped it: one for all sites, or one for each in their order, of which the
    /// first [`ReportedShield::MAX_PLACES`] are listed.
    pub(crate) by: Vec<FilePlace>,
}

impl ReportedShield {
    /// The place that stopped it in the site at this index of its sites; none where that is not
    /// listed.
    pub(crate) fn place_at(&self, index: usize) -> Option<&FilePlace> {
        if self.by.len() == 1 { self.by.first() } else { self.by.get(index) }
    }

    /// Maximum number of places that are listed of one.
    pub(crate) const MAX_PLACES: usize = 50;
}

impl ReportedEdit {
    /// Whether it is known to change no output.
    pub(crate) fn is_inert(&self) -> bool {
        self.reach.outputs == 0 && !self.kind.is_unknown()
    }
}

impl ReportedChanges {
    pub(super) fn new(comparison: &Comparison, sets: &mut SiteSets, view: &View<'_>) -> Self {
        let max_bytes = max_bytes(count_values(comparison));
        let edits = comparison.edits.iter().enumerate();
        let edits =
            edits.map(|(at, it)| ReportedEdit::new(EditRef::at(at), it, max_bytes, sets, view));
        let edits = edits.collect();
        let mut routes = RouteTable::new(view);
        let mut outputs = Vec::new();
        let groups = comparison.groups.iter().enumerate().map(|(at, group)| {
            let id = GroupRef::at(at);
            outputs.extend(outputs_of(id, group, comparison, &mut routes, sets));
            OutputGroup::new(id, group, comparison, max_bytes, sets, view)
        });
        let groups = groups.collect();
        Self {
            edits,
            groups,
            outputs,
            routes: routes.all,
            shields: shields(comparison, sets, view),
        }
    }

    /// Number of values that are too long for a report.
    pub(super) fn truncated_values(&self) -> usize {
        let edited = self.edits.iter().flat_map(|edit| [&edit.before, &edit.after]);
        let changed = self.groups.iter().flat_map(|group| &group.changes);
        let changed = changed.flat_map(|change| [&change.before, &change.after]);
        edited.chain(changed).flatten().filter(|value| value.truncated).count()
    }
}

/// Maximum number of values that a report of this has.
fn count_values(comparison: &Comparison) -> usize {
    let changes = comparison.groups.iter().map(|group| first_of(group, comparison));
    let places: usize = changes.map(|change| change.data.len() + change.metadata.len()).sum();
    2 * (places + comparison.edits.len())
}

fn first_of<'c>(group: &Alike, comparison: &'c Comparison) -> &'c Change {
    &comparison.outputs[*group.outputs.first().expect("a group has an output")]
}

impl ReportedEdit {
    fn new(
        id: EditRef,
        reach: &EditReach,
        max_bytes: usize,
        sets: &mut SiteSets,
        view: &View<'_>,
    ) -> Self {
        let edit = &reach.edit;
        let location = view.shown_location(&edit.location);
        let value = |text: Option<&Text>| {
            let node = text?.node.as_ref()?;
            Some(ShownValue::new(node, edit.is_secret(), max_bytes))
        };
        let at = |text: Option<&Text>| text.map(|it| FilePlace::new(it.at, view));
        Self {
            id,
            kind: edit.kind,
            repository: edit.repository,
            document: edit.document.clone(),
            part: edit.part,
            pointer: pointer(&location),
            path: view.shown_path(&edit.location, &edit.items),
            at: OnSides { base: at(edit.base.as_ref()), head: at(edit.head.as_ref()) },
            before: value(edit.base.as_ref()),
            after: value(edit.head.as_ref()),
            reach: Reach {
                outputs: reach.outputs.len(),
                untouched: reach.untouched,
                sites: sets.set_of(reach.sites.iter().map(Some)),
            },
            proof: reach.proof,
            unlisted: edit.unlisted,
        }
    }
}

impl OutputGroup {
    fn new(
        id: GroupRef,
        group: &Alike,
        comparison: &Comparison,
        max_bytes: usize,
        sets: &mut SiteSets,
        view: &View<'_>,
    ) -> Self {
        let first = first_of(group, comparison);
        let change = |part| move |it| OutputChange::new(part, it, max_bytes, view);
        let data = first.data.iter().map(change(OutputPart::Data));
        let metadata = first.metadata.iter().map(change(OutputPart::Metadata));
        let sites = group.outputs.iter().map(|output| comparison.outputs[*output].site.as_ref());
        Self {
            id,
            schema: first.key.schema.to_string(),
            name: first.key.name.to_string(),
            status: first.status,
            outputs: group.outputs.len(),
            sites: sets.set_of(sites),
            changes: data.chain(metadata).collect(),
        }
    }
}

impl OutputChange {
    fn new(part: OutputPart, difference: &Difference, max_bytes: usize, view: &View<'_>) -> Self {
        let (base, head) = (difference.base.as_ref(), difference.head.as_ref());
        let at =
            |place: Option<&diff::DiffPlace>| place.map(|it| FilePlace::new(it.node.span, view));
        // Outputs that came or went are one group whatever they hold.
        let is_whole = difference.location().is_root() && (base.is_none() || head.is_none());
        let value = |place: Option<&diff::DiffPlace>| {
            let node = &place.filter(|_| !is_whole)?.node;
            Some(ShownValue::new(node, difference.is_secret(), max_bytes))
        };
        let location = view.shown_location(difference.location());
        Self {
            part,
            pointer: pointer(&location),
            path: view.shown_path(difference.location(), &difference.items),
            at: OnSides { base: at(base), head: at(head) },
            reordered: matches!(difference.kind, diff::DifferenceKind::Order { .. }),
            before: value(base),
            after: value(head),
            unlisted: difference.unlisted,
        }
    }
}

/// The outputs of a group, those with the same story as one.
fn outputs_of<'c>(
    group: GroupRef,
    alike: &Alike,
    comparison: &'c Comparison,
    routes: &mut RouteTable<'c, '_>,
    sets: &mut SiteSets,
) -> Vec<ReportedOutput> {
    type Story<'c> = (Vec<ReportedCause>, Option<&'c DocKey>, bool, bool);
    type Sites<'c> = Vec<Option<&'c Arc<str>>>;
    let mut outputs: Vec<(&Change, Story<'c>, Sites<'c>)> = Vec::new();
    let mut known: HashMap<(&DocKey, Story<'c>), usize> = HashMap::new();
    for change in alike.outputs.iter().map(|at| &comparison.outputs[*at]) {
        let causes = change.causes.iter();
        let causes = causes.map(|cause| ReportedCause::new(cause, change.site.as_ref(), routes));
        let renamed_from = change.renamed_from.as_ref();
        let story: Story<'c> =
            (causes.collect(), renamed_from, change.touched, change.is_unexplained());
        let next = outputs.len();
        let at = *known.entry((&change.key, story.clone())).or_insert(next);
        match outputs.get_mut(at) {
            Some((_, _, sites)) => sites.push(change.site.as_ref()),
            None => outputs.push((change, story, vec![change.site.as_ref()])),
        }
    }
    let outputs =
        outputs.into_iter().map(|(change, (causes, renamed_from, touched, unexplained), sites)| {
            ReportedOutput {
                document: change.key.clone(),
                renamed_from: renamed_from.map(|it| it.name.to_string()),
                status: change.status,
                group,
                sites: sets.set_of(sites),
                touched,
                causes,
                unexplained,
            }
        });
    outputs.collect()
}

impl ReportedCause {
    fn new<'c>(
        cause: &'c CauseOf,
        site: Option<&Arc<str>>,
        routes: &mut RouteTable<'c, '_>,
    ) -> Self {
        let last = cause.route.last().expect("a route has a step");
        let edit = EditRef::at(cause.edit.index());
        Self {
            edit,
            via: last.via,
            hops: cause.route.len() - 1,
            route: routes.name_of(edit, &cause.route, site),
            joint: cause.joint.iter().map(|edit| EditRef::at(edit.index())).collect(),
        }
    }
}

/// The routes met so far. Those of one edit through the same documents of alike files are one.
struct RouteTable<'c, 'v> {
    view: &'c View<'v>,
    all: Vec<Route>,
    known: HashMap<(EditRef, Vec<HopShape<'c>>), RouteRef>,
    files: FileShapes,
}

type HopShape<'c> = (Via, &'c DocKey, Option<&'c Location>, Option<usize>);

impl<'c, 'v> RouteTable<'c, 'v> {
    fn new(view: &'c View<'v>) -> Self {
        Self { view, all: Vec::new(), known: HashMap::new(), files: FileShapes::default() }
    }

    fn name_of(&mut self, edit: EditRef, route: &'c [Hop], site: Option<&Arc<str>>) -> RouteRef {
        let shapes = route.iter().map(|hop| {
            let file = hop.at.first().map(|at| self.files.of(at.file, site, self.view));
            (hop.via, &hop.document, hop.location.as_ref(), file)
        });
        let shapes: Vec<HopShape<'c>> = shapes.collect();
        let next = RouteRef::at(self.all.len());
        let id = *self.known.entry((edit, shapes)).or_insert(next);
        if id == next {
            let steps = route.iter().map(|hop| RouteStep::new(hop, self.view)).collect();
            self.all.push(Route { id, steps });
        }
        id
    }
}

/// Numbers of files, the same for files of several sites whose paths differ in nothing but the
/// site's name.
#[derive(Default)]
struct FileShapes {
    of_file: HashMap<FileId, usize>,
    known: HashMap<String, usize>,
}

impl FileShapes {
    fn of(&mut self, file: FileId, site: Option<&Arc<str>>, view: &View<'_>) -> usize {
        *self.of_file.entry(file).or_insert_with(|| {
            let path = view.source(file).path().as_str();
            let parts = path.split('/');
            let parts =
                parts.map(|part| if site.is_some_and(|it| **it == *part) { "" } else { part });
            let next = self.known.len();
            *self.known.entry(parts.collect::<Vec<_>>().join("/")).or_insert(next)
        })
    }
}

impl RouteStep {
    pub(crate) fn new(hop: &Hop, view: &View<'_>) -> Self {
        Self {
            via: hop.via,
            document: hop.document.clone(),
            path: hop.location.as_ref().map(|it| view.shown_location(it).to_string()),
            at: hop.at.iter().map(|span| FilePlace::new(*span, view)).collect(),
        }
    }
}

/// The stops of edits, at one place of a document in all its sites together.
fn shields(comparison: &Comparison, sets: &mut SiteSets, view: &View<'_>) -> Vec<ReportedShield> {
    let (mut shields, mut files) = (Vec::new(), FileShapes::default());
    for (at, reach) in comparison.edits.iter().enumerate() {
        for stops in alike_stops(reach, &mut files, view) {
            let (first, spans) = (stops[0], stops.iter().map(|stop| stop.by));
            let mut by: Vec<Span> = spans.collect();
            if by.iter().all(|span| *span == by[0]) {
                by.truncate(1);
            }
            shields.push(ReportedShield {
                edit: EditRef::at(at),
                why: first.why,
                document: first.document.clone(),
                path: view.shown_location(&first.location).to_string(),
                sites: sets.set_of(stops.iter().map(|stop| stop.site.as_ref())),
                by: by
                    .iter()
                    .take(ReportedShield::MAX_PLACES)
                    .map(|it| FilePlace::new(*it, view))
                    .collect(),
            });
        }
    }
    shields
}

/// The stops of an edit, those of several sites together where they are the same in alike files; in
/// each part one of each site, by site.
fn alike_stops<'c>(
    reach: &'c EditReach,
    files: &mut FileShapes,
    view: &View<'_>,
) -> Vec<Vec<&'c Stop>> {
    type Kind<'c> = (&'c DocKey, &'c Location, Why, usize);
    let mut alike: IndexMap<(Kind<'c>, usize), Vec<&Stop>> = IndexMap::new();
    let mut met: HashMap<(Kind<'c>, Option<&Arc<str>>), usize> = HashMap::new();
    for stop in &reach.shields {
        let file = files.of(stop.by.file, stop.site.as_ref(), view);
        let kind = (&stop.document, &stop.location, stop.why, file);
        let number = met.entry((kind, stop.site.as_ref())).or_default();
        alike.entry((kind, *number)).or_default().push(stop);
        *number += 1;
    }
    let mut parts: Vec<Vec<&Stop>> = alike.into_values().collect();
    for stops in &mut parts {
        stops.sort_by_key(|stop| stop.site.as_ref());
    }
    parts
}
