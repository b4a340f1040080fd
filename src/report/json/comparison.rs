//! What changed between two sides, as JSON: edits, groups, outputs, the
//! routes between them, and what stopped an edit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::finding::{DocumentName, edit_name};
use super::value::{ValueForm, longest_of};
use super::words;
use crate::compare::reach::{Comparison, EditReach, Group, Shield, SiteReach};
use crate::compare::{Cause, Change, Hop, Status};
use crate::edit::{EditId, EditKind};
use crate::report::form::key_form;
use crate::report::view::Decoded;
use crate::report::{Compared, Extent, SideText, View};
use crate::source::Span;
use crate::yaml::Node;
use crate::yaml::diff::{Difference, Kind, Place};
use crate::yaml::path::{Location, Piece};

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct ComparisonForm {
    pub(in crate::report) from: SideForm,
    pub(in crate::report) to: SideForm,
    pub(in crate::report) chosen_by: String,
    pub(in crate::report) reason: String,
    pub(in crate::report) shallow: bool,
    /// Path in the repository that the compared one is inside of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::report) nested_at: Option<String>,
    pub(in crate::report) edited_files: usize,
    /// Whether all that differs is told, or what was asked for.
    #[serde(default)]
    pub(in crate::report) extent: ExtentForm,
    /// Whether findings were looked for.
    #[serde(default = "yes")]
    pub(in crate::report) linted: bool,
}

/// Whether serde leaves a count out of a report.
pub(super) fn is_zero<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}

fn yes() -> bool {
    true
}

/// How much of what differs is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::report) enum ExtentForm {
    #[default]
    Whole,
    Asked,
}

/// A site, and how many outputs it has on each side on which it is.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct SiteForm {
    pub(in crate::report) site: Option<String>,
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub(in crate::report) site_type: Option<String>,
    pub(in crate::report) from: Option<usize>,
    pub(in crate::report) to: Option<usize>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct SideForm {
    pub(in crate::report) kind: String,
    pub(in crate::report) sha: Option<String>,
    pub(in crate::report) tree: Option<String>,
    pub(in crate::report) name: String,
}

/// What became of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::report) enum StatusForm {
    Changed,
    Added,
    Removed,
    Broken,
    Repaired,
    Metadata,
    #[serde(rename = "not comparable")]
    NotComparable,
}

/// All that is listed of a comparison.
#[derive(Default)]
pub(in crate::report) struct Changes {
    pub(in crate::report) edits: Vec<EditForm>,
    pub(in crate::report) groups: Vec<GroupForm>,
    pub(in crate::report) outputs: Vec<OutputForm>,
    pub(in crate::report) routes: Vec<RouteForm>,
    pub(in crate::report) shields: Vec<ShieldForm>,
    pub(in crate::report) unexplained: Vec<UnexplainedForm>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct EditForm {
    pub(in crate::report) id: String,
    pub(in crate::report) kind: String,
    pub(in crate::report) document: DocumentName,
    pub(in crate::report) part: String,
    pub(in crate::report) pointer: String,
    pub(in crate::report) path: String,
    pub(in crate::report) at: SidesAt,
    pub(in crate::report) before: Option<ValueForm>,
    pub(in crate::report) after: Option<ValueForm>,
    pub(in crate::report) reach: ReachForm,
    pub(in crate::report) verified: String,
    /// How many places differ in there that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(in crate::report) unlisted: u64,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct SidesAt {
    pub(in crate::report) from: Option<PlaceForm>,
    pub(in crate::report) to: Option<PlaceForm>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct PlaceForm {
    pub(in crate::report) file: String,
    pub(in crate::report) line: usize,
    pub(in crate::report) col: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::report) decoded: Option<DecodedPlace>,
}

/// A place in a text that stands encoded in the file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(in crate::report) struct DecodedPlace {
    pub(in crate::report) name: String,
    pub(in crate::report) line: usize,
    pub(in crate::report) col: usize,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct ReachForm {
    pub(in crate::report) outputs: usize,
    pub(in crate::report) indirect: usize,
    pub(in crate::report) sites: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct GroupForm {
    pub(in crate::report) id: String,
    pub(in crate::report) schema: String,
    pub(in crate::report) name: String,
    pub(in crate::report) changes: Vec<ChangeForm>,
    pub(in crate::report) outputs: Vec<MemberForm>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct ChangeForm {
    pub(in crate::report) part: String,
    pub(in crate::report) pointer: String,
    #[serde(default)]
    pub(in crate::report) path: Option<String>,
    pub(in crate::report) op: String,
    pub(in crate::report) at: SidesAt,
    pub(in crate::report) before: Option<ValueForm>,
    pub(in crate::report) after: Option<ValueForm>,
    pub(in crate::report) sensitive: bool,
    /// How many places differ in there that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(in crate::report) unlisted: u64,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct MemberForm {
    pub(in crate::report) site: Option<String>,
    pub(in crate::report) status: StatusForm,
    pub(in crate::report) causes: Vec<CauseForm>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct OutputForm {
    pub(in crate::report) site: Option<String>,
    pub(in crate::report) schema: String,
    pub(in crate::report) name: String,
    pub(in crate::report) layer: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::report) renamed_from: Option<String>,
    pub(in crate::report) status: StatusForm,
    pub(in crate::report) group: Option<String>,
    pub(in crate::report) causes: Vec<CauseForm>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct CauseForm {
    pub(in crate::report) edit: String,
    pub(in crate::report) via: String,
    pub(in crate::report) hops: usize,
    pub(in crate::report) route: String,
    pub(in crate::report) joint: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct RouteForm {
    pub(in crate::report) id: String,
    pub(in crate::report) steps: Vec<StepForm>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct StepForm {
    pub(in crate::report) via: String,
    pub(in crate::report) document: DocumentName,
    pub(in crate::report) pointer: Option<String>,
    #[serde(default)]
    pub(in crate::report) path: Option<String>,
    pub(in crate::report) file: Option<String>,
    pub(in crate::report) line: Option<usize>,
    pub(in crate::report) at: Vec<PlaceForm>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct ShieldForm {
    pub(in crate::report) edit: String,
    pub(in crate::report) site: Option<String>,
    pub(in crate::report) why: String,
    pub(in crate::report) by: ByForm,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct ByForm {
    pub(in crate::report) file: String,
    pub(in crate::report) line: usize,
    #[serde(default = "first")]
    pub(in crate::report) col: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::report) decoded: Option<DecodedPlace>,
    pub(in crate::report) document: DocumentName,
    pub(in crate::report) pointer: String,
}

fn first() -> usize {
    1
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::report) struct UnexplainedForm {
    pub(in crate::report) site: Option<String>,
    pub(in crate::report) schema: String,
    pub(in crate::report) name: String,
    pub(in crate::report) layer: String,
    pub(in crate::report) status: StatusForm,
    pub(in crate::report) group: Option<String>,
    pub(in crate::report) differences: usize,
}

impl EditForm {
    /// Whether it is known to change no output.
    pub(in crate::report) fn is_inert(&self) -> bool {
        self.reach.outputs == 0 && self.kind != words::of_edit_kind(EditKind::File)
    }
}

impl ComparisonForm {
    pub(super) fn new(compared: &Compared<'_>) -> Self {
        let sides = compared.sides;
        Self {
            from: SideForm::new(&sides.from),
            to: SideForm::new(&sides.to),
            chosen_by: sides.chosen_by.clone(),
            reason: sides.reason.clone(),
            shallow: sides.shallow,
            nested_at: sides.nested_at.clone(),
            edited_files: sides.edited_files,
            extent: match sides.extent {
                Extent::Whole => ExtentForm::Whole,
                Extent::Asked => ExtentForm::Asked,
            },
            linted: compared.findings.is_some(),
        }
    }
}

impl SiteForm {
    pub(super) fn new(reach: &SiteReach) -> Self {
        let SiteReach { site, site_type, base, head } = reach;
        let [site, site_type] = [site, site_type].map(|name| name.as_deref().map(str::to_owned));
        Self { site, site_type, from: *base, to: *head }
    }
}

impl SideForm {
    fn new(side: &SideText) -> Self {
        Self {
            kind: side.kind.as_str().to_owned(),
            sha: side.commit.clone(),
            tree: side.tree.clone(),
            name: side.name.clone(),
        }
    }
}

impl Changes {
    pub(super) fn new(comparison: &Comparison, view: &View<'_>) -> Self {
        let mut routes = Routes::default();
        let groups_of = groups_of(comparison);
        let mut outputs = Vec::with_capacity(comparison.outputs.len());
        for (change, group) in comparison.outputs.iter().zip(&groups_of) {
            let causes: Vec<CauseForm> = change
                .causes
                .iter()
                .map(|cause| CauseForm::new(cause, &mut routes, view))
                .collect();
            outputs.push(OutputForm::new(change, *group, causes));
        }
        let groups = comparison.groups.iter().enumerate();
        let unexplained = comparison.outputs.iter().zip(&groups_of);
        let edits = comparison.edits.iter().enumerate();
        let longest = longest_of(count_values(comparison));
        Self {
            groups: groups
                .map(|(at, group)| GroupForm::new(at, group, comparison, &outputs, longest, view))
                .collect(),
            outputs,
            routes: routes.forms,
            shields: comparison
                .edits
                .iter()
                .enumerate()
                .flat_map(|(at, reach)| reach.shields.iter().map(move |it| (at, it)))
                .map(|(at, shield)| ShieldForm::new(EditId::at(at), shield, view))
                .collect(),
            unexplained: unexplained
                .filter(|(change, _)| change.is_unexplained())
                .map(|(change, group)| UnexplainedForm::new(change, *group))
                .collect(),
            edits: edits
                .map(|(at, reach)| EditForm::new(EditId::at(at), reach, longest, view))
                .collect(),
        }
    }

    /// How many values were too long to be written.
    pub(super) fn truncated_values(&self) -> usize {
        let edited = self.edits.iter().flat_map(|edit| edit.before.iter().chain(&edit.after));
        let changes = self.groups.iter().flat_map(|group| &group.changes);
        let changed = changes.flat_map(|change| change.before.iter().chain(&change.after));
        edited.chain(changed).filter(|value| value.is_truncated()).count()
    }
}

/// How many values a report of this has at most.
fn count_values(comparison: &Comparison) -> usize {
    let first = comparison.groups.iter().filter_map(|group| group.outputs.first());
    let changes = first.map(|first| &comparison.outputs[*first]);
    let places: usize = changes.map(|change| change.data.len() + change.metadata.len()).sum();
    2 * (places + comparison.edits.len())
}

/// By output, the group it is in.
fn groups_of(comparison: &Comparison) -> Vec<Option<usize>> {
    let mut of = vec![None; comparison.outputs.len()];
    for (at, group) in comparison.groups.iter().enumerate() {
        for output in &group.outputs {
            of[*output] = Some(at);
        }
    }
    of
}

fn group_name(group: usize) -> String {
    format!("g{}", group + 1)
}

impl EditForm {
    fn new(id: EditId, reach: &EditReach, longest: usize, view: &View<'_>) -> Self {
        let edit = &reach.edit;
        let location = view.shown_location(&edit.location);
        let value = |text: Option<&crate::edit::Text>| {
            value(text.and_then(|it| it.node.as_ref()), edit.is_secret(), longest)
        };
        let at = |text: Option<&crate::edit::Text>| text.map(|it| PlaceForm::new(it.at, view));
        Self {
            id: edit_name(id),
            kind: words::of_edit_kind(edit.kind).to_owned(),
            document: DocumentName::new(&edit.document),
            part: words::of_part(edit.part).to_owned(),
            pointer: pointer(&location),
            path: view.shown_path(&edit.location, &edit.items),
            at: SidesAt { from: at(edit.base.as_ref()), to: at(edit.head.as_ref()) },
            before: value(edit.base.as_ref()),
            after: value(edit.head.as_ref()),
            reach: ReachForm {
                outputs: reach.outputs.len(),
                indirect: reach.untouched,
                sites: reach.sites.iter().map(ToString::to_string).collect(),
            },
            verified: words::of_proof(reach.proof).to_owned(),
            unlisted: edit.unlisted,
        }
    }
}

/// A value, if there is one; nothing of it where one of the sides is secret.
fn value(node: Option<&Node>, is_secret: bool, longest: usize) -> Option<ValueForm> {
    node.map(|node| if is_secret { ValueForm::SECRET } else { ValueForm::new(node, longest) })
}

/// A place as a JSON Pointer (RFC 6901).
fn pointer(location: &Location) -> String {
    let mut pointer = String::new();
    for piece in &location.0 {
        pointer.push('/');
        match piece {
            Piece::Key(key) => {
                pointer.push_str(&key_form(key).replace('~', "~0").replace('/', "~1"));
            }
            Piece::Index(index) => pointer.push_str(&index.to_string()),
        }
    }
    pointer
}

impl PlaceForm {
    fn new(span: Span, view: &View<'_>) -> Self {
        let place = view.place(span);
        Self {
            file: place.path.as_str().to_owned(),
            line: place.line,
            col: place.column,
            decoded: place.decoded.as_ref().map(DecodedPlace::from),
        }
    }
}

impl From<&Decoded<'_>> for DecodedPlace {
    fn from(decoded: &Decoded<'_>) -> Self {
        let Decoded { name, line, column, .. } = decoded;
        Self { name: name.as_str().to_owned(), line: *line, col: *column }
    }
}

impl GroupForm {
    fn new(
        at: usize,
        group: &Group,
        comparison: &Comparison,
        outputs: &[OutputForm],
        longest: usize,
        view: &View<'_>,
    ) -> Self {
        let first = group.outputs.first().expect("a group has an output");
        let first = &comparison.outputs[*first];
        let data = first.data.iter().map(|it| ChangeForm::new("data", it, longest, view));
        let metadata =
            first.metadata.iter().map(|it| ChangeForm::new("metadata", it, longest, view));
        let members = group.outputs.iter().map(|output| &outputs[*output]);
        Self {
            id: group_name(at),
            schema: first.key.schema.to_string(),
            name: first.key.name.to_string(),
            changes: data.chain(metadata).collect(),
            outputs: members
                .map(|output| MemberForm {
                    site: output.site.clone(),
                    status: output.status,
                    causes: output.causes.clone(),
                })
                .collect(),
        }
    }
}

impl ChangeForm {
    fn new(part: &'static str, difference: &Difference, longest: usize, view: &View<'_>) -> Self {
        let sensitive = difference.is_secret();
        let (base, head) = (difference.base.as_ref(), difference.head.as_ref());
        let at = |place: Option<&Place>| place.map(|it| PlaceForm::new(it.node.span, view));
        // Outputs that came or went are one group whatever they hold.
        let is_whole = difference.location().is_root() && (base.is_none() || head.is_none());
        let location = view.shown_location(difference.location());
        Self {
            part: part.to_owned(),
            pointer: pointer(&location),
            path: Some(view.shown_path(difference.location(), &difference.items)),
            op: operation_word(difference).to_owned(),
            at: SidesAt { from: at(base), to: at(head) },
            before: value(base.filter(|_| !is_whole).map(|it| &it.node), sensitive, longest),
            after: value(head.filter(|_| !is_whole).map(|it| &it.node), sensitive, longest),
            sensitive,
            unlisted: difference.unlisted,
        }
    }
}

/// What is done to a place.
fn operation_word(difference: &Difference) -> &'static str {
    match (&difference.kind, &difference.base, &difference.head) {
        (Kind::Order { .. }, ..) => "reorder",
        (Kind::Value, None, _) => "add",
        (Kind::Value, Some(_), None) => "remove",
        (Kind::Value, Some(_), Some(_)) => "replace",
    }
}

impl StatusForm {
    /// The word reports use.
    pub(in crate::report) fn as_str(self) -> &'static str {
        match self {
            StatusForm::Changed => "changed",
            StatusForm::Added => "added",
            StatusForm::Removed => "removed",
            StatusForm::Broken => "broken",
            StatusForm::Repaired => "repaired",
            StatusForm::Metadata => "metadata",
            StatusForm::NotComparable => "not comparable",
        }
    }
}

impl From<Status> for StatusForm {
    fn from(status: Status) -> Self {
        match status {
            Status::Changed => StatusForm::Changed,
            Status::Added => StatusForm::Added,
            Status::Removed => StatusForm::Removed,
            Status::Broken => StatusForm::Broken,
            Status::Repaired => StatusForm::Repaired,
            Status::Metadata => StatusForm::Metadata,
            Status::NotComparable => StatusForm::NotComparable,
        }
    }
}

impl From<StatusForm> for Status {
    fn from(status: StatusForm) -> Self {
        match status {
            StatusForm::Changed => Status::Changed,
            StatusForm::Added => Status::Added,
            StatusForm::Removed => Status::Removed,
            StatusForm::Broken => Status::Broken,
            StatusForm::Repaired => Status::Repaired,
            StatusForm::Metadata => Status::Metadata,
            StatusForm::NotComparable => Status::NotComparable,
        }
    }
}

impl OutputForm {
    fn new(change: &Change, group: Option<usize>, causes: Vec<CauseForm>) -> Self {
        Self {
            site: change.site.as_deref().map(str::to_owned),
            schema: change.key.schema.to_string(),
            name: change.key.name.to_string(),
            layer: change.key.layer.to_string(),
            renamed_from: change.renamed_from.as_ref().map(|key| key.name.to_string()),
            status: change.status.into(),
            group: group.map(group_name),
            causes,
        }
    }
}

impl CauseForm {
    fn new(cause: &Cause, routes: &mut Routes, view: &View<'_>) -> Self {
        let last = cause.route.last().expect("a route has a step");
        Self {
            edit: edit_name(cause.edit),
            via: last.via.as_str().to_owned(),
            hops: cause.route.len() - 1,
            route: routes.name_of(&cause.route, view),
            joint: cause.joint.iter().map(|edit| edit_name(*edit)).collect(),
        }
    }
}

/// The routes met so far, each once.
#[derive(Default)]
struct Routes {
    forms: Vec<RouteForm>,
    /// Routes by what they look like in the report, so that two that cannot
    /// be told apart there are one.
    known: BTreeMap<String, usize>,
}

impl Routes {
    fn name_of(&mut self, route: &[Hop], view: &View<'_>) -> String {
        let steps: Vec<StepForm> = route.iter().map(|hop| StepForm::new(hop, view)).collect();
        let look = serde_json::to_string(&steps).expect("steps are text and numbers");
        let at = *self.known.entry(look).or_insert(self.forms.len());
        let id = format!("r{}", at + 1);
        if at == self.forms.len() {
            self.forms.push(RouteForm { id: id.clone(), steps });
        }
        id
    }
}

impl StepForm {
    fn new(hop: &Hop, view: &View<'_>) -> Self {
        let at: Vec<PlaceForm> = hop.at.iter().map(|span| PlaceForm::new(*span, view)).collect();
        let location = hop.location.as_ref().map(|it| view.shown_location(it));
        Self {
            via: hop.via.as_str().to_owned(),
            document: DocumentName::new(&hop.document),
            pointer: location.as_ref().map(pointer),
            path: location.as_ref().map(Location::to_string),
            file: at.first().map(|place| place.file.clone()),
            line: at.first().map(|place| place.line),
            at,
        }
    }
}

impl ShieldForm {
    fn new(edit: EditId, shield: &Shield, view: &View<'_>) -> Self {
        let PlaceForm { file, line, col, decoded } = PlaceForm::new(shield.by, view);
        Self {
            edit: edit_name(edit),
            site: shield.site.as_deref().map(str::to_owned),
            why: shield.why.as_str().to_owned(),
            by: ByForm {
                file,
                line,
                col,
                decoded,
                document: DocumentName::new(&shield.document),
                pointer: pointer(&view.shown_location(&shield.location)),
            },
        }
    }
}

impl UnexplainedForm {
    fn new(change: &Change, group: Option<usize>) -> Self {
        Self {
            site: change.site.as_deref().map(str::to_owned),
            schema: change.key.schema.to_string(),
            name: change.key.name.to_string(),
            layer: change.key.layer.to_string(),
            status: change.status.into(),
            group: group.map(group_name),
            differences: change.unexplained,
        }
    }
}
