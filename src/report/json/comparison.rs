//! What changed between two sides, as JSON: edits, groups, outputs, the
//! routes between them, and what stopped an edit.

use std::collections::BTreeMap;

use serde::Serialize;

use super::finding::{DocumentName, edit_name};
use super::value::ValueForm;
use crate::compare::reach::{Comparison, EditReach, Group, Shield};
use crate::compare::{Cause, Change, Hop, Proof};
use crate::edit::{Edit, EditId, EditKind, Part};
use crate::report::form::key_form;
use crate::report::{SideText, Sides, View};
use crate::source::Span;
use crate::yaml::Node;
use crate::yaml::diff::{Difference, Place};
use crate::yaml::path::{Location, Piece};

#[derive(Serialize)]
pub(super) struct ComparisonForm<'a> {
    from: SideForm<'a>,
    to: SideForm<'a>,
    chosen_by: &'a str,
    reason: &'a str,
    shallow: bool,
    edited_files: usize,
}

#[derive(Serialize)]
struct SideForm<'a> {
    kind: &'static str,
    sha: Option<&'a str>,
    tree: Option<&'a str>,
    name: &'a str,
}

/// All that is listed of a comparison.
#[derive(Default, Serialize)]
pub(super) struct Changes<'a> {
    edits: Vec<EditForm<'a>>,
    groups: Vec<GroupForm<'a>>,
    outputs: Vec<OutputForm<'a>>,
    routes: Vec<RouteForm<'a>>,
    shields: Vec<ShieldForm<'a>>,
    unexplained: Vec<UnexplainedForm<'a>>,
}

#[derive(Serialize)]
struct EditForm<'a> {
    id: String,
    kind: &'static str,
    document: DocumentName<'a>,
    part: &'static str,
    pointer: String,
    path: String,
    at: SidesAt<'a>,
    before: Option<ValueForm>,
    after: Option<ValueForm>,
    reach: ReachForm<'a>,
    verified: &'static str,
}

#[derive(Serialize)]
struct SidesAt<'a> {
    from: Option<PlaceForm<'a>>,
    to: Option<PlaceForm<'a>>,
}

#[derive(Serialize)]
struct PlaceForm<'a> {
    file: &'a str,
    line: usize,
    col: usize,
}

#[derive(Serialize)]
struct ReachForm<'a> {
    outputs: usize,
    indirect: usize,
    sites: Vec<&'a str>,
}

#[derive(Serialize)]
struct GroupForm<'a> {
    id: String,
    schema: &'a str,
    name: &'a str,
    changes: Vec<ChangeForm<'a>>,
    outputs: Vec<MemberForm<'a>>,
}

#[derive(Serialize)]
struct ChangeForm<'a> {
    part: &'static str,
    pointer: String,
    op: &'static str,
    at: SidesAt<'a>,
    before: Option<ValueForm>,
    after: Option<ValueForm>,
    sensitive: bool,
}

#[derive(Serialize)]
struct MemberForm<'a> {
    site: Option<&'a str>,
    status: &'static str,
    causes: Vec<CauseForm>,
}

#[derive(Serialize)]
struct OutputForm<'a> {
    site: Option<&'a str>,
    schema: &'a str,
    name: &'a str,
    layer: &'a str,
    status: &'static str,
    group: Option<String>,
    causes: Vec<CauseForm>,
}

#[derive(Clone, Serialize)]
struct CauseForm {
    edit: String,
    via: &'static str,
    hops: usize,
    route: String,
    joint: Vec<String>,
}

#[derive(Serialize)]
struct RouteForm<'a> {
    id: String,
    steps: Vec<StepForm<'a>>,
}

#[derive(Serialize)]
struct StepForm<'a> {
    via: &'static str,
    document: DocumentName<'a>,
    pointer: Option<String>,
    file: Option<&'a str>,
    line: Option<usize>,
    at: Vec<PlaceForm<'a>>,
}

#[derive(Serialize)]
struct ShieldForm<'a> {
    edit: String,
    site: Option<&'a str>,
    why: &'static str,
    by: ByForm<'a>,
}

#[derive(Serialize)]
struct ByForm<'a> {
    file: &'a str,
    line: usize,
    document: DocumentName<'a>,
    pointer: String,
}

#[derive(Serialize)]
struct UnexplainedForm<'a> {
    site: Option<&'a str>,
    schema: &'a str,
    name: &'a str,
    layer: &'a str,
    status: &'static str,
    group: Option<String>,
    differences: usize,
}

impl<'a> ComparisonForm<'a> {
    pub(super) fn new(sides: &'a Sides) -> Self {
        Self {
            from: SideForm::new(&sides.from),
            to: SideForm::new(&sides.to),
            chosen_by: &sides.chosen_by,
            reason: &sides.reason,
            shallow: sides.shallow,
            edited_files: sides.edited_files,
        }
    }
}

impl<'a> SideForm<'a> {
    fn new(side: &'a SideText) -> Self {
        Self {
            kind: side.kind.as_str(),
            sha: side.commit.as_deref(),
            tree: side.tree.as_deref(),
            name: &side.name,
        }
    }
}

impl<'a> Changes<'a> {
    pub(super) fn new(comparison: &'a Comparison, view: &View<'a>) -> Self {
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
        Self {
            groups: groups
                .map(|(at, group)| GroupForm::new(at, group, comparison, &outputs, view))
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
            edits: edits.map(|(at, reach)| EditForm::new(EditId::at(at), reach, view)).collect(),
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

impl<'a> EditForm<'a> {
    fn new(id: EditId, reach: &'a EditReach, view: &View<'a>) -> Self {
        let edit = &reach.edit;
        let location = view.shown_location(&edit.location);
        let value = |text: Option<&'a crate::edit::Text>| {
            value(text.and_then(|it| it.node.as_ref()), edit.is_secret())
        };
        let at = |text: Option<&crate::edit::Text>| text.map(|it| PlaceForm::new(it.at, view));
        Self {
            id: edit_name(id),
            kind: kind_word(edit),
            document: DocumentName::new(&edit.document),
            part: part_word(edit.part),
            pointer: pointer(&location),
            path: location.to_string(),
            at: SidesAt { from: at(edit.base.as_ref()), to: at(edit.head.as_ref()) },
            before: value(edit.base.as_ref()),
            after: value(edit.head.as_ref()),
            reach: ReachForm {
                outputs: reach.outputs.len(),
                indirect: reach.untouched,
                sites: reach.sites.iter().map(|site| &**site).collect(),
            },
            verified: match reach.proof {
                Some(Proof::Rendered) => "counterfactual",
                Some(Proof::Followed) => "static",
                None => "no",
            },
        }
    }
}

fn kind_word(edit: &Edit) -> &'static str {
    match edit.kind {
        EditKind::Value => "value",
        EditKind::Key => "key",
        EditKind::Document => "document",
        EditKind::Moved => "moved",
        EditKind::Policy => "policy",
        EditKind::Site => "site",
    }
}

fn part_word(part: Part) -> &'static str {
    match part {
        Part::Whole => "whole",
        Part::Data => "data",
        Part::Metadata => "metadata",
        Part::Root => "root",
    }
}

/// A value, if there is one; nothing of it where one of the sides is secret.
fn value(node: Option<&Node>, is_secret: bool) -> Option<ValueForm> {
    node.map(|node| if is_secret { ValueForm::SECRET } else { ValueForm::new(node) })
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

impl<'a> PlaceForm<'a> {
    fn new(span: Span, view: &View<'a>) -> Self {
        let place = view.place(span);
        Self { file: place.path.as_str(), line: place.line, col: place.column }
    }
}

impl<'a> GroupForm<'a> {
    fn new(
        at: usize,
        group: &Group,
        comparison: &'a Comparison,
        outputs: &[OutputForm<'a>],
        view: &View<'a>,
    ) -> Self {
        let first = group.outputs.first().expect("a group has an output");
        let first = &comparison.outputs[*first];
        let data = first.data.iter().map(|it| ChangeForm::new("data", it, view));
        let metadata = first.metadata.iter().map(|it| ChangeForm::new("metadata", it, view));
        let members = group.outputs.iter().map(|output| &outputs[*output]);
        Self {
            id: group_name(at),
            schema: &first.key.schema,
            name: &first.key.name,
            changes: data.chain(metadata).collect(),
            outputs: members
                .map(|output| MemberForm {
                    site: output.site,
                    status: output.status,
                    causes: output.causes.clone(),
                })
                .collect(),
        }
    }
}

impl<'a> ChangeForm<'a> {
    fn new(part: &'static str, difference: &'a Difference, view: &View<'a>) -> Self {
        let sensitive = difference.is_secret();
        let (base, head) = (difference.base.as_ref(), difference.head.as_ref());
        let at = |place: Option<&Place>| place.map(|it| PlaceForm::new(it.node.span, view));
        // Outputs that came or went are one group whatever they hold.
        let is_whole = difference.location().is_root() && (base.is_none() || head.is_none());
        let node = |place: Option<&'a Place>| place.filter(|_| !is_whole).map(|it| &it.node);
        Self {
            part,
            pointer: pointer(&view.shown_location(difference.location())),
            op: match (base, head) {
                (None, _) => "add",
                (Some(_), None) => "remove",
                (Some(_), Some(_)) => "replace",
            },
            at: SidesAt { from: at(base), to: at(head) },
            before: value(node(base), sensitive),
            after: value(node(head), sensitive),
            sensitive,
        }
    }
}

impl<'a> OutputForm<'a> {
    fn new(change: &'a Change, group: Option<usize>, causes: Vec<CauseForm>) -> Self {
        Self {
            site: change.site.as_deref(),
            schema: &change.key.schema,
            name: &change.key.name,
            layer: &change.key.layer,
            status: change.status.as_str(),
            group: group.map(group_name),
            causes,
        }
    }
}

impl CauseForm {
    fn new<'a>(cause: &'a Cause, routes: &mut Routes<'a>, view: &View<'a>) -> Self {
        let last = cause.route.last().expect("a route has a step");
        Self {
            edit: edit_name(cause.edit),
            via: last.via.as_str(),
            hops: cause.route.len() - 1,
            route: routes.name_of(&cause.route, view),
            joint: cause.joint.iter().map(|edit| edit_name(*edit)).collect(),
        }
    }
}

/// The routes met so far, each once.
#[derive(Default)]
struct Routes<'a> {
    forms: Vec<RouteForm<'a>>,
    /// Routes by what they look like in the report, so that two that cannot
    /// be told apart there are one.
    known: BTreeMap<String, usize>,
}

impl<'a> Routes<'a> {
    fn name_of(&mut self, route: &'a [Hop], view: &View<'a>) -> String {
        let steps: Vec<StepForm<'a>> = route.iter().map(|hop| StepForm::new(hop, view)).collect();
        let look = serde_json::to_string(&steps).expect("steps are text and numbers");
        let at = *self.known.entry(look).or_insert(self.forms.len());
        let id = format!("r{}", at + 1);
        if at == self.forms.len() {
            self.forms.push(RouteForm { id: id.clone(), steps });
        }
        id
    }
}

impl<'a> StepForm<'a> {
    fn new(hop: &'a Hop, view: &View<'a>) -> Self {
        let at: Vec<PlaceForm<'a>> =
            hop.at.iter().map(|span| PlaceForm::new(*span, view)).collect();
        let location = hop.location.as_ref();
        Self {
            via: hop.via.as_str(),
            document: DocumentName::new(&hop.document),
            pointer: location.map(|it| pointer(&view.shown_location(it))),
            file: at.first().map(|place| place.file),
            line: at.first().map(|place| place.line),
            at,
        }
    }
}

impl<'a> ShieldForm<'a> {
    fn new(edit: EditId, shield: &'a Shield, view: &View<'a>) -> Self {
        let place = view.place(shield.by);
        Self {
            edit: edit_name(edit),
            site: shield.site.as_deref(),
            why: shield.why.as_str(),
            by: ByForm {
                file: place.path.as_str(),
                line: place.line,
                document: DocumentName::new(&shield.document),
                pointer: pointer(&view.shown_location(&shield.location)),
            },
        }
    }
}

impl<'a> UnexplainedForm<'a> {
    fn new(change: &'a Change, group: Option<usize>) -> Self {
        Self {
            site: change.site.as_deref(),
            schema: &change.key.schema,
            name: &change.key.name,
            layer: &change.key.layer,
            status: change.status.as_str(),
            group: group.map(group_name),
            differences: change.unexplained,
        }
    }
}
