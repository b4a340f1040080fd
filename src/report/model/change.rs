//! Changes between two sides: edits, outputs, groups of outputs with the same change, the routes
//! between edits and outputs, and shields.
//!
//! An output is listed once for all sites in which it changed in the same way and for the same
//! reasons. The places of a route are those of the first of these sites.

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use serde::{Deserialize, Serialize};

use super::id::{EditRef, EditSetRef, GroupRef, RouteRef, SetRef};
use super::is_default;
use super::place::{FilePlace, pointer};
use super::sites::SiteSets;
use super::value::{ShownValue, max_bytes};
use crate::compare::reach::{Comparison, EditReach, Group as Alike, Shield as Stop, Why};
use crate::compare::{
    Cause as CauseOf, Change, Deployed, DeployedCounts, Hop, Idle, Proof, Status, Via,
};
use crate::deployment::ManifestAction;
use crate::edit::{EditId, EditKind, Part, RenamedKeys, Text};
use crate::report::View;
use crate::source::{DocKey, FileId, Span};
use crate::yaml::diff::{self, Difference};
use crate::yaml::path::Location;

/// Listed changes of a comparison.
#[derive(Clone, Debug, Default)]
pub(super) struct ReportedChanges {
    pub(super) edits: Vec<ReportedEdit>,
    pub(super) edit_sets: Vec<EditSet>,
    pub(super) groups: Vec<OutputGroup>,
    pub(super) outputs: Vec<ReportedOutput>,
    pub(super) routes: Vec<Route>,
    pub(super) shields: Vec<ReportedShield>,
}

/// A change of a source document, or of the set of documents.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(expecting = "an edit")]
pub struct ReportedEdit {
    /// Id in this report.
    pub(crate) id: EditRef,
    pub(crate) kind: EditKind,
    /// Further repository in which the edit was made, as an index into
    /// [`Report::repositories`](super::Report::repositories).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) repository: Option<usize>,
    /// The document.
    pub(crate) document: DocKey,
    /// Edited part of the document.
    pub(crate) part: Part,
    /// Location in the part, as a JSON Pointer.
    pub(crate) pointer: String,
    /// Location in the part, as a path.
    pub(crate) path: String,
    /// Source location on each side.
    pub(crate) at: OnSides<FilePlace>,
    pub(crate) before: Option<ShownValue>,
    pub(crate) after: Option<ShownValue>,
    /// Edit that removed, under another key, the value which this one added; `None` for a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) renames: Option<EditRef>,
    pub(crate) reach: Reach,
    /// Method used to determine its effects; `None` for an edit without effect.
    pub(crate) proof: Option<Proof>,
    /// Reason why it has no effect, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) idle: Option<Idle>,
    /// Number of differences below this location that are not listed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) unlisted: u64,
}

/// A value for the base side, the head side, or both.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct OnSides<T> {
    pub(crate) base: Option<T>,
    pub(crate) head: Option<T>,
}

impl<T> OnSides<T> {
    /// Returns the value of the head side, or else of the base side.
    pub(crate) fn last(&self) -> Option<&T> {
        self.head.as_ref().or(self.base.as_ref())
    }
}

/// Number of outputs and sites that an edit changed.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Reach {
    /// Number of changed outputs, counted per site.
    pub(crate) outputs: usize,
    /// Number of changed outputs whose own files are unchanged.
    pub(crate) untouched: usize,
    /// Numbers of changed outputs by whether they are deployed.
    #[serde(flatten)]
    pub(crate) deployed: DeployedCounts,
    /// Sites of the changed outputs.
    pub(crate) sites: SetRef,
    /// Outputs that would have changed without the edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kept: Option<Kept>,
    /// Sites in which an override stops the edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shielded: Option<SetRef>,
}

/// Unchanged outputs that would have changed without an edit.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Kept {
    /// Number of outputs, counted per site.
    pub(crate) outputs: usize,
    /// Their sites.
    pub(crate) sites: SetRef,
}

/// A set of edits.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct EditSet {
    /// Id in this report.
    pub(crate) id: EditSetRef,
    /// The edits, ascending.
    pub(crate) edits: Vec<EditRef>,
    /// Whether they caused a change only together.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) joint: bool,
}

/// Sets of edits found so far, and whether they caused a change only together.
#[derive(Default)]
struct EditSets(IndexSet<(Arc<[EditId]>, bool)>);

impl EditSets {
    fn set_of(&mut self, edits: &Arc<[EditId]>, joint: bool) -> EditSetRef {
        EditSetRef::at(self.0.insert_full((edits.clone(), joint)).0)
    }

    fn into_sets(self) -> Vec<EditSet> {
        self.0
            .into_iter()
            .enumerate()
            .map(|(at, (edits, joint))| EditSet {
                id: EditSetRef::at(at),
                edits: edits.iter().map(|edit| EditRef::at(edit.index())).collect(),
                joint,
            })
            .collect()
    }

    /// Returns the causes of each change of a group; none if they are those of the whole output.
    fn of_places(&mut self, change: &Change) -> Vec<EditSetRef> {
        let places = match change.status {
            // The first entry is about the whole output, which is not a change of the group.
            Status::Broken | Status::Repaired => change.places.get(1..).unwrap_or_default(),
            _ => &change.places,
        };
        if places
            .iter()
            .all(|place| !place.are_joint && place.edits == change.edits)
        {
            return Vec::new();
        }
        places
            .iter()
            .map(|place| self.set_of(&place.edits, place.are_joint))
            .collect()
    }
}

/// Outputs of one schema and name with the same change.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(expecting = "a group of outputs")]
pub struct OutputGroup {
    /// Id in this report.
    pub(crate) id: GroupRef,
    pub(crate) schema: String,
    pub(crate) name: String,
    pub(crate) status: Status,
    /// Number of outputs.
    pub outputs: usize,
    pub(crate) sites: SetRef,
    /// Differences in the outputs.
    pub(crate) changes: Vec<OutputChange>,
}

/// A difference in the outputs of a group.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct OutputChange {
    pub(crate) part: OutputPart,
    /// Location in the part, as a JSON Pointer.
    pub(crate) pointer: String,
    /// Location in the part, as a path.
    pub(crate) path: String,
    /// Source location of the value on each side.
    pub(crate) at: OnSides<FilePlace>,
    /// Whether only the order of list items changed; the values are then the keys that identify the
    /// items.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) reordered: bool,
    /// Value before; `None` also for an added or removed output.
    pub(crate) before: Option<ShownValue>,
    /// Value after; `None` also for an added or removed output.
    pub(crate) after: Option<ShownValue>,
    /// Number of differences below this location that are not listed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) unlisted: u64,
    /// Number of scalars and empty collections that are removed without a replacement; 0 for a
    /// removed output.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) removed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OutputPart {
    Data,
    Metadata,
}

/// An output, in all sites in which it changed in the same way and for the same reasons.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(expecting = "an output")]
pub struct ReportedOutput {
    /// Rendered document.
    pub(crate) document: DocKey,
    /// Name on the base side, if it was renamed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) renamed_from: Option<String>,
    pub(crate) status: Status,
    /// Whether Deckhand treats the output differently, with the same data.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) other_treatment: bool,
    /// Group that contains the output.
    pub(crate) group: GroupRef,
    pub(crate) sites: SetRef,
    /// Whether it is deployed; `None` for documents that Armada does not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deployed_by: Option<DeployedBy>,
    /// Whether its file differs between the sides.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) touched: bool,
    /// All edits that changed the output.
    pub(crate) edits: EditSetRef,
    /// Edits that made each change of the group, in the same order; empty if all edits of the
    /// output made each of them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) changed_by: Vec<EditSetRef>,
    /// Routes from these edits; omitted ones are counted in [`Truncated`](super::Truncated).
    pub(crate) causes: Vec<ReportedCause>,
    /// Whether part of the change is not explained by an edit: a bug in layercake.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) unexplained: bool,
}

/// Actions of Shipyard that apply an output which Armada reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeployedBy {
    UpdateSite,
    UpdateSoftware,
    /// Both actions.
    Both,
    /// None: the output is only rendered.
    None,
    /// The site has no configuration, or its manifest is not rendered.
    NotKnown,
}

impl DeployedBy {
    /// `None` for an output that Armada does not read.
    pub(crate) fn of(deployed: Deployed) -> Option<Self> {
        let Deployed::By(appliers) = deployed else {
            return match deployed {
                Deployed::RenderedOnly => Some(Self::None),
                Deployed::NotKnown => Some(Self::NotKnown),
                Deployed::By(_) | Deployed::Other => None,
            };
        };
        let by = ManifestAction::ALL.map(|action| action.is_in(appliers));
        Some(match by {
            [true, true] => Self::Both,
            [true, false] => Self::UpdateSite,
            [false, _] => Self::UpdateSoftware,
        })
    }

    /// Adds a number of outputs.
    pub(crate) fn count(self, outputs: usize, counts: &mut DeployedCounts) {
        match self {
            Self::UpdateSite | Self::UpdateSoftware | Self::Both => counts.deployed += outputs,
            Self::None => counts.rendered_only += outputs,
            Self::NotKnown => counts.deployment_not_known += outputs,
        }
    }
}

impl Display for DeployedBy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UpdateSite => "deployed by update_site, not by update_software",
            Self::UpdateSoftware => "deployed by update_software, not by update_site",
            Self::Both => "deployed by update_site and update_software",
            Self::None => "not deployed",
            Self::NotKnown => "not known whether it is deployed",
        })
    }
}

/// An edit that changed an output.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(expecting = "a cause")]
pub(crate) struct ReportedCause {
    pub(crate) edit: EditRef,
    /// Kind of the last step of the route.
    pub(crate) via: Via,
    /// Number of hops from the edit to the output.
    pub(crate) hops: usize,
    pub(crate) route: RouteRef,
    /// Other edits that are required for this one to change the same values.
    pub(crate) joint: Vec<EditRef>,
}

/// A route from an edit to an output.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Route {
    /// Id in this report.
    pub(crate) id: RouteRef,
    /// Steps, starting with the edit.
    pub(crate) steps: Vec<RouteStep>,
}

/// A step of a route.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(expecting = "a step of a route")]
pub(crate) struct RouteStep {
    /// Kind of the hop that leads to this step.
    pub(crate) via: Via,
    /// Document reached by the step.
    pub(crate) document: DocKey,
    /// Path in the document's data; `None` for the whole document.
    pub(crate) path: Option<String>,
    /// Source locations of the step, the most relevant first.
    pub(crate) at: Vec<FilePlace>,
}

/// A shield: a place of a document at which an edit is overridden.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(expecting = "a shield")]
pub struct ReportedShield {
    pub(crate) edit: EditRef,
    /// Kind of the shield.
    pub(crate) why: Why,
    /// Document at which the edit is overridden.
    pub(crate) document: DocKey,
    /// Path in the document's data.
    pub(crate) path: String,
    /// Sites concerned.
    pub(crate) sites: SetRef,
    /// Overriding locations: one for all sites, or one per site in order, at most
    /// [`ReportedShield::MAX_PLACES`].
    pub(crate) by: Vec<FilePlace>,
}

impl ReportedShield {
    /// Returns the overriding location in the site at this index of the shield's sites; `None` if
    /// it is not listed.
    pub(crate) fn place_at(&self, index: usize) -> Option<&FilePlace> {
        if self.by.len() == 1 {
            self.by.first()
        } else {
            self.by.get(index)
        }
    }

    /// Maximum number of locations listed for one shield.
    pub(crate) const MAX_PLACES: usize = 50;
}

impl ReportedChanges {
    pub(super) fn new(comparison: &Comparison, sets: &mut SiteSets, view: &View<'_>) -> Self {
        let max_bytes = max_bytes(count_values(comparison));
        let mut edits: Vec<ReportedEdit> = comparison
            .edits
            .iter()
            .enumerate()
            .map(|(at, it)| ReportedEdit::new(EditRef::at(at), it, max_bytes, sets, view))
            .collect();
        let renamed = RenamedKeys::of(comparison.edits.iter().map(|it| &it.edit));
        for (removed, added) in renamed.pairs() {
            if !comparison.edits[added.index()].edit.is_secret() {
                edits[added.index()].renames = Some(EditRef::at(removed.index()));
            }
        }
        let mut routes = RouteTable::new(view);
        let mut edit_sets = EditSets::default();
        let mut outputs = Vec::new();
        let groups = comparison
            .groups
            .iter()
            .enumerate()
            .map(|(at, group)| {
                let id = GroupRef::at(at);
                outputs.extend(outputs_of(
                    id,
                    group,
                    comparison,
                    &mut routes,
                    &mut edit_sets,
                    sets,
                ));
                OutputGroup::new(id, group, comparison, max_bytes, sets, view)
            })
            .collect();
        Self {
            edits,
            groups,
            edit_sets: edit_sets.into_sets(),
            outputs,
            routes: routes.into_routes(),
            shields: shields(comparison, sets, view),
        }
    }

    /// Returns the number of values that are too long for a report.
    pub(super) fn truncated_values(&self) -> usize {
        let edited = self
            .edits
            .iter()
            .flat_map(|edit| [&edit.before, &edit.after]);
        let changed = self
            .groups
            .iter()
            .flat_map(|group| &group.changes)
            .flat_map(|change| [&change.before, &change.after]);
        edited
            .chain(changed)
            .flatten()
            .filter(|value| value.truncated)
            .count()
    }
}

/// Returns the maximum number of values in a report of this comparison.
fn count_values(comparison: &Comparison) -> usize {
    let changes = comparison
        .groups
        .iter()
        .map(|group| first_of(group, comparison));
    let places: usize = changes
        .map(|change| change.data.len() + change.metadata.len())
        .sum();
    2 * (places + comparison.edits.len())
}

fn first_of<'c>(group: &Alike, comparison: &'c Comparison) -> &'c Change {
    &comparison.outputs[*group.outputs.first().expect("a group has an output")]
}

impl ReportedEdit {
    /// Returns whether the edit changes an output, is needed to keep one, or may do so.
    pub(crate) fn has_effect(&self) -> bool {
        self.reach.outputs > 0 || self.reach.kept.is_some() || self.is_undecided()
    }

    /// Returns whether the edit is listed with its effects or shields.
    pub(crate) fn is_listed(&self) -> bool {
        self.has_effect() || self.reach.shielded.is_some()
    }

    /// Returns whether the document has this schema and name.
    pub(crate) fn is_of(&self, schema: &str, name: &str) -> bool {
        (&*self.document.schema, &*self.document.name) == (schema, name)
    }

    /// Returns whether the reach was not decided within the limits.
    pub(crate) fn is_undecided(&self) -> bool {
        self.proof == Some(Proof::NotDecided)
    }

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
            at: OnSides {
                base: at(edit.base.as_ref()),
                head: at(edit.head.as_ref()),
            },
            before: value(edit.base.as_ref()),
            after: value(edit.head.as_ref()),
            renames: None,
            reach: Reach {
                outputs: reach.outputs,
                untouched: reach.untouched,
                deployed: reach.deployed,
                sites: sets.set_of(reach.sites.iter().map(Some)),
                kept: (!reach.kept.is_empty()).then(|| Kept {
                    outputs: reach.kept.len(),
                    sites: sets.set_of(reach.kept.iter().map(|(site, _)| site.as_ref())),
                }),
                shielded: (!reach.shielded.is_empty())
                    .then(|| sets.set_of(reach.shielded.iter().map(Option::as_ref))),
            },
            proof: reach.proof,
            idle: reach.idle,
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
        let sites = group
            .outputs
            .iter()
            .map(|output| comparison.outputs[*output].site.as_ref());
        Self {
            id,
            schema: first.key.schema.to_string(),
            name: first.key.name.to_string(),
            status: first.status,
            outputs: group.outputs.len(),
            sites: sets.set_of(sites),
            changes: OutputChange::all_of(first, max_bytes, view).collect(),
        }
    }
}

impl OutputChange {
    /// Creates the differences of a changed output, with values of at most `max_bytes`.
    pub(in crate::report) fn all_of<'c>(
        change: &'c Change,
        max_bytes: usize,
        view: &'c View<'_>,
    ) -> impl Iterator<Item = Self> {
        let of = move |part| move |it| Self::new(part, it, max_bytes, view);
        let data = change.data.iter().map(of(OutputPart::Data));
        data.chain(change.metadata.iter().map(of(OutputPart::Metadata)))
    }

    fn new(part: OutputPart, difference: &Difference, max_bytes: usize, view: &View<'_>) -> Self {
        let base = difference.base.as_ref();
        let head = difference.head.as_ref();
        let at =
            |place: Option<&diff::DiffPlace>| place.map(|it| FilePlace::new(it.node.span, view));
        // Added or removed outputs form one group regardless of their content.
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
            at: OnSides {
                base: at(base),
                head: at(head),
            },
            reordered: matches!(difference.kind, diff::DifferenceKind::Order { .. }),
            before: value(base),
            after: value(head),
            unlisted: difference.unlisted,
            removed: if is_whole { 0 } else { difference.removed() },
        }
    }
}

/// Returns the outputs of a group; outputs with equal causes and status are merged.
fn outputs_of<'c>(
    group: GroupRef,
    alike: &Alike,
    comparison: &'c Comparison,
    routes: &mut RouteTable<'c, '_>,
    edit_sets: &mut EditSets,
    sets: &mut SiteSets,
) -> Vec<ReportedOutput> {
    type Edits = (EditSetRef, Vec<EditSetRef>, Vec<ReportedCause>);
    type Story<'c> = (Edits, Option<&'c DocKey>, bool, bool, Deployed);
    type Sites<'c> = Vec<Option<&'c Arc<str>>>;
    let mut outputs: IndexMap<(&DocKey, Story<'c>), (&Change, Sites<'c>)> = IndexMap::new();
    for change in alike.outputs.iter().map(|at| &comparison.outputs[*at]) {
        let causes = change
            .causes
            .iter()
            .map(|cause| ReportedCause::new(cause, change.site.as_ref(), routes));
        let renamed_from = change.renamed_from.as_ref();
        let changed_by = edit_sets.of_places(change);
        let edits = (
            edit_sets.set_of(&change.edits, false),
            changed_by,
            causes.collect(),
        );
        let story: Story<'c> = (
            edits,
            renamed_from,
            change.touched,
            change.is_unexplained(),
            change.deployed,
        );
        let (_, sites) = outputs
            .entry((&change.key, story))
            .or_insert((change, Vec::new()));
        sites.push(change.site.as_ref());
    }
    outputs
        .into_iter()
        .map(|((document, story), (change, sites))| {
            let ((edits, changed_by, causes), renamed_from, touched, unexplained, deployed) = story;
            ReportedOutput {
                document: document.clone(),
                renamed_from: renamed_from.map(|it| it.name.to_string()),
                status: change.status,
                other_treatment: change.has_other_treatment(),
                group,
                sites: sets.set_of(sites),
                deployed_by: DeployedBy::of(deployed),
                touched,
                edits,
                changed_by,
                causes,
                unexplained,
            }
        })
        .collect()
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
            joint: cause
                .joint
                .iter()
                .map(|edit| EditRef::at(edit.index()))
                .collect(),
        }
    }
}

/// The routes found so far. Routes of one edit through the same documents in corresponding files
/// are merged.
struct RouteTable<'c, 'v> {
    view: &'c View<'v>,
    known: IndexMap<(EditRef, Vec<HopShape<'c>>), &'c [Hop]>,
    files: FileShapes,
}

type HopShape<'c> = (Via, &'c DocKey, Option<&'c Location>, Option<usize>);

impl<'c, 'v> RouteTable<'c, 'v> {
    fn new(view: &'c View<'v>) -> Self {
        Self {
            view,
            known: IndexMap::new(),
            files: FileShapes::default(),
        }
    }

    fn name_of(&mut self, edit: EditRef, route: &'c [Hop], site: Option<&Arc<str>>) -> RouteRef {
        let shapes: Vec<HopShape<'c>> = route
            .iter()
            .map(|hop| {
                let file = hop
                    .at
                    .first()
                    .map(|at| self.files.of(at.file, site, self.view));
                (hop.via, &hop.document, hop.location.as_ref(), file)
            })
            .collect();
        let entry = self.known.entry((edit, shapes));
        let id = RouteRef::at(entry.index());
        entry.or_insert(route);
        id
    }

    fn into_routes(self) -> Vec<Route> {
        self.known
            .values()
            .enumerate()
            .map(|(at, route)| Route {
                id: RouteRef::at(at),
                steps: route
                    .iter()
                    .map(|hop| RouteStep::new(hop, self.view))
                    .collect(),
            })
            .collect()
    }
}

/// Ids of files; files of several sites have the same id if their paths differ only in the site's
/// name.
#[derive(Default)]
struct FileShapes {
    of_file: HashMap<FileId, usize>,
    known: IndexSet<String>,
}

impl FileShapes {
    fn of(&mut self, file: FileId, site: Option<&Arc<str>>, view: &View<'_>) -> usize {
        *self.of_file.entry(file).or_insert_with(|| {
            let path = view.source(file).path().as_str();
            let parts = path.split('/').map(|part| {
                if site.is_some_and(|it| **it == *part) {
                    ""
                } else {
                    part
                }
            });
            self.known
                .insert_full(parts.collect::<Vec<_>>().join("/"))
                .0
        })
    }
}

impl RouteStep {
    pub(crate) fn new(hop: &Hop, view: &View<'_>) -> Self {
        Self {
            via: hop.via,
            document: hop.document.clone(),
            path: hop
                .location
                .as_ref()
                .map(|it| view.shown_location(it).to_string()),
            at: hop
                .at
                .iter()
                .map(|span| FilePlace::new(*span, view))
                .collect(),
        }
    }
}

/// Returns the shields of a comparison; shields at one place of a document in several sites are
/// merged.
fn shields(comparison: &Comparison, sets: &mut SiteSets, view: &View<'_>) -> Vec<ReportedShield> {
    let mut shields = Vec::new();
    let mut files = FileShapes::default();
    for (at, reach) in comparison.edits.iter().enumerate() {
        for stops in alike_stops(reach, &mut files, view) {
            let first = stops[0];
            let spans = stops.iter().map(|stop| stop.by);
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

/// Groups the shields of an edit that are equal in several sites and in corresponding files; each
/// group is sorted by site.
fn alike_stops<'c>(
    reach: &'c EditReach,
    files: &mut FileShapes,
    view: &View<'_>,
) -> Vec<Vec<&'c Stop>> {
    type Kind<'c> = (&'c DocKey, &'c Location, Why, usize);
    let mut alike: IndexMap<(Kind<'c>, usize), Vec<&Stop>> = IndexMap::new();
    let mut seen: HashMap<(Kind<'c>, Option<&Arc<str>>), usize> = HashMap::new();
    for stop in &reach.shields {
        let file = files.of(stop.by.file, stop.site.as_ref(), view);
        let kind = (&stop.document, &stop.location, stop.why, file);
        let number = seen.entry((kind, stop.site.as_ref())).or_default();
        alike.entry((kind, *number)).or_default().push(stop);
        *number += 1;
    }
    let mut parts: Vec<Vec<&Stop>> = alike.into_values().collect();
    for stops in &mut parts {
        stops.sort_by_key(|stop| stop.site.as_ref());
    }
    parts
}
