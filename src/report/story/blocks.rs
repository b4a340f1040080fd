//! Changed outputs: outputs with the same changes form one block, which has each changed value once,
//! with the edits behind it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::danger::Danger;
use super::delta::{DiffLine, ValueDelta};
use super::entries::{RouteEntry, StepEntry, describe_step, edited, places};
use super::names::DocumentNames;
use super::sites::SiteNames;
use crate::compare::Status;
use crate::edit::EditKind;
use crate::report::counted;
use crate::report::model::{
    EditRef, EditSet, GroupRef, OutputChange, OutputGroup, OutputPart, Report, ReportedCause,
    ReportedEdit, ReportedOutput,
};
use crate::report::text::{StyledText, TextRole};
use crate::source::DocKey;

/// Outputs with the same changes.
pub(in crate::report) struct OutputBlock<'r> {
    /// Groups of the outputs; several for outputs of several documents or with different values.
    pub(in crate::report) groups: Vec<&'r OutputGroup>,
    /// Outputs and their sites.
    pub(in crate::report) title: StyledText,
    /// Documents, if there are several.
    pub(in crate::report) documents: Vec<StyledText>,
    /// Changed values that are listed here.
    pub(in crate::report) values: Vec<ChangedValue<'r>>,
    /// Number of further changed values that are edits of the output's own text, and are listed
    /// where they reach other outputs.
    pub(in crate::report) listed_elsewhere: usize,
    pub(in crate::report) sites: BTreeSet<usize>,
    pub(in crate::report) status: Status,
    /// Number of outputs, counted per site.
    pub(in crate::report) outputs: usize,
    pub(in crate::report) danger: Danger,
    /// Edits behind the changes.
    pub(in crate::report) edits: BTreeSet<EditRef>,
    /// Descriptions of the edits that made all changes, if the values do not show them.
    pub(in crate::report) caused: Vec<StyledText>,
    /// Longest route, if any has a hop.
    pub(in crate::report) route: Option<RouteEntry>,
}

/// A changed value of outputs.
#[derive(Clone)]
pub(in crate::report) struct ChangedValue<'r> {
    pub(in crate::report) delta: ValueDelta,
    /// Edits that made the change, in order.
    pub(in crate::report) edits: Vec<&'r ReportedEdit>,
    /// Whether they made it only together.
    pub(in crate::report) are_joint: bool,
    /// Edits with the same values before and after.
    pub(super) equal: BTreeSet<EditRef>,
    /// Whether it is an edit of the output's own text.
    pub(super) is_own: bool,
    /// Danger of the change, with the names of documents in its values.
    pub(in crate::report) danger: Danger,
}

/// Some changes of an output, by index in its group.
pub(super) struct OutputPiece<'r> {
    pub(super) output: &'r ReportedOutput,
    pub(super) changes: Vec<usize>,
}

/// Context for creating blocks.
#[derive(Clone, Copy)]
pub(super) struct BlockBuilder<'b, 'r> {
    pub(super) report: &'r Report,
    pub(super) names: &'b DocumentNames<'r>,
    pub(super) sites: &'b SiteNames<'r>,
    /// Changes of each group.
    pub(super) deltas: &'b [Vec<ValueDelta>],
    /// Lines that each edit changed.
    pub(super) edited: &'b BTreeMap<EditRef, ValueDelta>,
    /// Whether outputs with different values or causes are listed separately.
    pub(super) each_value: bool,
}

/// Outputs of one document that differ at the same paths.
struct AlikeOutputs<'r> {
    outputs: Vec<&'r ReportedOutput>,
    /// Changes in the first of them, with the edits behind those of all.
    values: Vec<ChangedValue<'r>>,
    /// The same changes in a form that those of other documents can equal.
    comparable: Vec<ValueDelta>,
}

/// Number of edits up to which they are described.
const MAX_CAUSES: usize = 2;

/// Number of documents above which only their schemas are listed.
const MAX_DOCUMENTS: usize = 8;

impl<'r> BlockBuilder<'_, 'r> {
    /// Groups pieces of outputs into blocks: outputs with equal changes, regardless of the document.
    pub(super) fn blocks(&self, pieces: Vec<OutputPiece<'r>>) -> Vec<OutputBlock<'r>> {
        type Changes = Vec<(String, Vec<DiffLine>, bool, Vec<EditRef>)>;
        let alike = self.alike(pieces);
        let mut equal: IndexMap<(Status, Changes), Vec<&AlikeOutputs<'r>>> = IndexMap::new();
        for alike in &alike {
            let changes = alike.values.iter().zip(&alike.comparable).map(|(value, comparable)| {
                let edits = value.edits.iter().filter(|_| self.each_value).map(|edit| edit.id);
                let lines = comparable.lines.clone();
                (value.delta.path.clone(), lines, value.are_joint, edits.collect())
            });
            let status = alike.outputs[0].status;
            let is_harmless = alike.values.iter().all(|value| value.danger == Danger::None);
            let is_folded = status == Status::Metadata && is_harmless && !self.each_value;
            let changes = if is_folded { Vec::new() } else { changes.collect() };
            equal.entry((status, changes)).or_default().push(alike);
        }
        equal.values().map(|alike| self.block(alike)).collect()
    }

    /// Groups outputs of one schema and name that differ at the same paths.
    fn alike(&self, pieces: Vec<OutputPiece<'r>>) -> Vec<AlikeOutputs<'r>> {
        type Change<'r> = (OutputPart, &'r str, bool);
        type Key<'r> = (&'r str, &'r str, Status, Vec<Change<'r>>, Option<GroupRef>);
        let mut alike: IndexMap<Key<'r>, Vec<OutputPiece<'r>>> = IndexMap::new();
        for piece in pieces {
            let group = self.group_of(piece.output);
            let paths = piece.changes.iter().map(|at| {
                let change = &group.changes[*at];
                let causes = self.report.causes_of(piece.output, *at);
                let is_joint = causes.is_some_and(|causes| causes.joint);
                (change.part, &*change.path, is_joint)
            });
            let paths = paths.collect();
            let of_group = self.each_value.then_some(piece.output.group);
            let key = (&*group.schema, &*group.name, piece.output.status, paths, of_group);
            alike.entry(key).or_default().push(piece);
        }
        alike.into_values().map(|pieces| self.alike_of(&pieces)).collect()
    }

    fn alike_of(&self, pieces: &[OutputPiece<'r>]) -> AlikeOutputs<'r> {
        let first = pieces[0].output;
        let group = self.group_of(first);
        let values = pieces[0].changes.iter().enumerate().filter_map(|(index, at)| {
            let change = &group.changes[*at];
            let delta = self.deltas[group.id.index()][*at].clone();
            let is_name = first.renamed_from.is_some() && delta.path == "metadata.name";
            if delta.lines.is_empty() || is_name {
                return None;
            }
            let sets = pieces.iter();
            let sets =
                sets.filter_map(|piece| self.report.causes_of(piece.output, piece.changes[index]));
            let sets: Vec<&EditSet> = sets.collect();
            let edits: BTreeSet<EditRef> =
                sets.iter().flat_map(|set| &set.edits).copied().collect();
            let is_equal =
                |edit: &&EditRef| self.edited.get(*edit).is_some_and(|it| it.lines == delta.lines);
            let equal: BTreeSet<EditRef> = edits.iter().filter(is_equal).copied().collect();
            Some(ChangedValue {
                danger: delta.danger(),
                is_own: equal.iter().any(|edit| is_own(self.report.edit(*edit), first, change)),
                delta,
                edits: edits.iter().map(|edit| self.report.edit(*edit)).collect(),
                are_joint: sets.iter().any(|set| set.joint),
                equal,
            })
        });
        let values: Vec<ChangedValue<'r>> = values.collect();
        let name = if self.each_value { "" } else { &*first.document.name };
        let comparable = values.iter().map(|value| unnamed(&value.delta, name)).collect();
        let outputs = pieces.iter().map(|piece| piece.output).collect();
        AlikeOutputs { outputs, values, comparable }
    }

    /// Creates the block of outputs with the same changes, of one or several documents.
    fn block(&self, alike: &[&AlikeOutputs<'r>]) -> OutputBlock<'r> {
        let outputs: Vec<&'r ReportedOutput> =
            alike.iter().flat_map(|it| it.outputs.iter().copied()).collect();
        let groups: BTreeSet<GroupRef> = outputs.iter().map(|output| output.group).collect();
        let groups: Vec<&OutputGroup> =
            groups.into_iter().map(|group| &self.report.groups[group.index()]).collect();
        let sites = self.sites_of(&outputs);
        let count = outputs.iter().map(|output| self.count(output)).sum();
        let status = outputs[0].status;
        let mut values = self.values(alike);
        if !self.each_value {
            values.sort_by_key(|value| value.danger);
        }
        let (title, documents) = match alike {
            [only] => (self.title_of_one(only, count, groups.len()), Vec::new()),
            _ if status == Status::NotComparable => {
                (title_of_many(status, count, &values), Vec::new())
            }
            several if self.are_many(several, status) => {
                (title_of_many(status, count, &values), self.by_schema(several))
            }
            several => (title_of_several(several), self.documents(several, &sites)),
        };
        let title = with_status(title, status);
        let edits = outputs.iter().flat_map(|output| self.report.edits_of(output));
        let causes =
            outputs.iter().flat_map(|output| output.causes.iter().map(|cause| (*output, cause)));
        let via = self.via(&outputs);
        let via = if via.is_empty() { via } else { StyledText::plain(" via ").join(via) };
        OutputBlock {
            caused: self.caused(&values, &outputs),
            route: self.longest_route(causes),
            title: self.in_sites(title, &sites).join(via),
            documents,
            danger: Danger::of_outputs(status, &values),
            values,
            listed_elsewhere: 0,
            sites,
            status,
            outputs: count,
            edits: edits.copied().collect(),
            groups,
        }
    }

    /// Returns the distinct changes of outputs.
    fn values(&self, alike: &[&AlikeOutputs<'r>]) -> Vec<ChangedValue<'r>> {
        type Key = (String, Vec<DiffLine>, bool);
        let mut values: IndexMap<Key, ChangedValue<'r>> = IndexMap::new();
        for (value, comparable) in alike.iter().flat_map(|it| it.values.iter().zip(&it.comparable))
        {
            let key = (value.delta.path.clone(), comparable.lines.clone(), value.are_joint);
            let Some(known) = values.get_mut(&key) else {
                values.insert(key, value.clone());
                continue;
            };
            if known.delta.lines != value.delta.lines {
                known.delta = comparable.clone();
            }
            known.join(value);
        }
        let values = values.into_values().collect();
        if self.each_value { values } else { joined_secrets(values) }
    }

    fn title_of_one(&self, alike: &AlikeOutputs<'r>, count: usize, groups: usize) -> StyledText {
        let output = alike.outputs[0];
        let name = times(count).join(self.name(alike)).join(renamed(output));
        if groups > 1 { name.and(", with different values,") } else { name }
    }

    /// Returns whether only the schemas of documents are listed.
    fn are_many(&self, alike: &[&AlikeOutputs<'r>], status: Status) -> bool {
        let is_whole = matches!(status, Status::Added | Status::Removed);
        let has_many = alike.len() > MAX_DOCUMENTS && (is_whole || schemas(alike).len() > 1);
        has_many && !self.each_value
    }

    /// Returns the names of documents; those that are not in all `sites` have their own.
    fn documents(&self, alike: &[&AlikeOutputs<'r>], sites: &BTreeSet<usize>) -> Vec<StyledText> {
        let named = alike.iter().map(|alike| {
            let own = self.sites_of(&alike.outputs);
            let name = self.name(alike);
            let is_everywhere = own == *sites || own.is_empty();
            let place = if is_everywhere { StyledText::default() } else { self.sites.phrase(&own) };
            let text = if is_everywhere { name } else { name.and(" (").join(place).and(")") };
            (!is_everywhere, text)
        });
        let mut named: Vec<(bool, StyledText)> = named.collect();
        named.sort_by_key(|(is_partial, _)| *is_partial);
        named.into_iter().map(|(_, text)| text).collect()
    }

    /// Returns the schemas of documents with the number of their outputs, and few names.
    fn by_schema(&self, alike: &[&AlikeOutputs<'r>]) -> Vec<StyledText> {
        const MAX_NAMES: usize = 5;
        let listed = schemas(alike).into_iter().map(|schema| {
            let of_schema: Vec<&&AlikeOutputs<'r>> =
                alike.iter().filter(|it| *it.outputs[0].document.schema == *schema).collect();
            let outputs = of_schema.iter().flat_map(|it| &it.outputs);
            let count: usize = outputs.map(|output| self.count(output)).sum();
            let text = times(count).then(TextRole::Name, schema);
            let names = of_schema
                .iter()
                .map(|it| StyledText::of(TextRole::Name, &*it.outputs[0].document.name));
            let text = match of_schema.len() {
                1..=MAX_NAMES => text.and(" (").join(StyledText::list(names, ", ")).and(")"),
                _ => text,
            };
            (Reverse(count), text)
        });
        let mut listed: Vec<(Reverse<usize>, StyledText)> = listed.collect();
        listed.sort_by_key(|(count, _)| *count);
        listed.into_iter().map(|(_, text)| text).collect()
    }

    fn name(&self, alike: &AlikeOutputs<'r>) -> StyledText {
        let group = self.group_of(alike.outputs[0]);
        self.names.output(&group.schema, &group.name).linked(&group.id.to_string())
    }

    fn group_of(&self, output: &ReportedOutput) -> &'r OutputGroup {
        &self.report.groups[output.group.index()]
    }

    fn sites_of(&self, outputs: &[&ReportedOutput]) -> BTreeSet<usize> {
        outputs.iter().flat_map(|output| self.sites.in_set(output.sites)).collect()
    }

    /// Returns the number of sites of an output, or 1 without sites.
    pub(super) fn count(&self, output: &ReportedOutput) -> usize {
        output.sites.of(&self.report.site_sets).map_or(0, |set| set.sites.len())
    }

    /// Returns the first of the longest routes, if any has a hop.
    pub(super) fn longest_route(
        &self,
        causes: impl Iterator<Item = (&'r ReportedOutput, &'r ReportedCause)>,
    ) -> Option<RouteEntry> {
        let longest = causes.filter(|(_, cause)| cause.hops > 0);
        let (output, cause) = longest.min_by_key(|(_, cause)| Reverse(cause.hops))?;
        let route = cause.route.of(&self.report.routes)?;
        let mut title = self.names.output(&output.document.schema, &output.document.name);
        let site = self.sites.in_set(output.sites).into_iter().take(1).collect();
        title = self.in_sites(StyledText::plain("route to ").join(title), &site);
        title = title.and(format!(", {}", counted(cause.hops, "hop")));
        let steps = route.steps.iter().map(|step| StepEntry {
            place: step.at.first().map(|place| StyledText::place(place, true)).unwrap_or_default(),
            places: places(&step.at, " → "),
            words: describe_step(step.via, self.names.document(&step.document)),
        });
        Some(RouteEntry { title, steps: steps.collect() })
    }

    /// Names the documents between the edits and the outputs, if all routes are listed and pass the
    /// same ones.
    fn via(&self, outputs: &[&'r ReportedOutput]) -> StyledText {
        let is_complete = |output: &&ReportedOutput| {
            let mut edits = self.report.edits_of(output).iter();
            edits.all(|edit| output.causes.iter().any(|cause| cause.edit == *edit))
        };
        if !outputs.iter().all(is_complete) {
            return StyledText::default();
        }
        let causes = outputs.iter().flat_map(|output| &output.causes);
        let between = causes.map(|cause| {
            let route = cause.route.of(&self.report.routes);
            let steps = route.map_or(&[][..], |route| &route.steps);
            let between = steps.get(1..steps.len().saturating_sub(1)).unwrap_or_default();
            let mut documents: Vec<&DocKey> = between.iter().map(|step| &step.document).collect();
            documents.dedup();
            documents
        });
        let between: BTreeSet<Vec<&DocKey>> = between.collect();
        match between.into_iter().collect::<Vec<_>>().as_slice() {
            [only] => StyledText::list(only.iter().map(|key| self.names.document(key)), " → "),
            _ => StyledText::default(),
        }
    }

    /// Describes the few edits that made all of these changes, if no change shows what they are.
    fn caused(&self, values: &[ChangedValue<'r>], outputs: &[&ReportedOutput]) -> Vec<StyledText> {
        let Some(common) = common_causes(values).filter(|it| it.edits.len() <= MAX_CAUSES) else {
            return Vec::new();
        };
        let is_shown = |edit: &&&ReportedEdit| {
            let is_of = |output: &&ReportedOutput| {
                edit.is_of(&output.document.schema, &output.document.name)
            };
            values.iter().any(|value| value.equal.contains(&edit.id))
                || edit.kind == EditKind::Document && outputs.iter().any(is_of)
        };
        let hidden = common.edits.iter().filter(|edit| !is_shown(edit));
        hidden.map(|edit| self.names.described(edit, &edited(edit))).collect()
    }

    pub(super) fn in_sites(&self, text: StyledText, sites: &BTreeSet<usize>) -> StyledText {
        let place = self.sites.phrase(sites);
        if place.is_empty() { text } else { text.and(" in ").join(place) }
    }
}

/// Returns a change with the name of its document replaced, so that it may equal the change of
/// another document; the change itself for an empty name.
fn unnamed(delta: &ValueDelta, name: &str) -> ValueDelta {
    const NAME: &str = "<name>";
    let parts =
        [Some(name), name.split_once('-').map(|it| it.1), name.rsplit_once('-').map(|it| it.0)];
    // Shorter words may be in a text for another reason.
    let mut parts = parts.into_iter().flatten().filter(|part| part.len() >= 4);
    let has = |part: &&str| delta.lines.iter().any(|line| line.text.contains(*part));
    match parts.find(has) {
        Some(part) => delta.with_texts(|text| text.replace(part, NAME)),
        None => delta.clone(),
    }
}

impl ChangedValue<'_> {
    /// Adds the edits of an equal change.
    fn join(&mut self, other: &Self) {
        self.edits.extend(&other.edits);
        self.edits.sort_by_key(|edit| edit.id);
        self.edits.dedup_by_key(|edit| edit.id);
        self.equal.extend(&other.equal);
        self.is_own &= other.is_own;
        self.danger = self.danger.min(other.danger);
    }
}

impl<'r> OutputBlock<'r> {
    /// Returns the first value if the same edits made all values.
    pub(in crate::report) fn common_causes(&self) -> Option<&ChangedValue<'r>> {
        common_causes(&self.values).filter(|_| self.values.len() > 1)
    }

    /// Returns the estimated number of lines of the block at 80 columns.
    pub(super) fn lines(&self) -> usize {
        const COLUMNS: usize = 70;
        let names: usize = self.documents.iter().map(|it| it.words().len() + 2).sum();
        let values: usize = self.values.iter().map(|value| value.delta.height()).sum();
        1 + names.min(3 * COLUMNS).div_ceil(COLUMNS) + self.caused.len() + values
    }

    /// Leaves out the changes of the output's own text that are listed with other outputs.
    pub(super) fn leave_out_edits(&mut self, listed: &BTreeSet<EditRef>) {
        let is_listed = |value: &ChangedValue<'_>| value.is_own && value.equal.is_subset(listed);
        let before = self.values.len();
        self.values.retain(|value| !is_listed(value));
        self.listed_elsewhere = before - self.values.len();
        self.danger = Danger::of_outputs(self.status, &self.values);
    }
}

/// Returns the first value if the same edits made all values.
fn common_causes<'v, 'r>(values: &'v [ChangedValue<'r>]) -> Option<&'v ChangedValue<'r>> {
    let edits = |value: &ChangedValue<'r>| -> Vec<EditRef> {
        value.edits.iter().map(|edit| edit.id).collect()
    };
    let (first, others) = values.split_first()?;
    let is_same = |value: &ChangedValue<'r>| {
        value.are_joint == first.are_joint && edits(value) == edits(first)
    };
    others.iter().all(is_same).then_some(first)
}

/// Returns whether a change of an output is an edit of the text of the output itself.
fn is_own(edit: &ReportedEdit, output: &ReportedOutput, change: &OutputChange) -> bool {
    edit.is_of(&output.document.schema, &output.document.name) && edit.path == change.path
}

/// Returns the schemas of documents.
fn schemas<'r>(alike: &[&AlikeOutputs<'r>]) -> BTreeSet<&'r str> {
    alike.iter().map(|it| &*it.outputs[0].document.schema).collect()
}

fn title_of_several(alike: &[&AlikeOutputs<'_>]) -> StyledText {
    let (schemas, count) = (schemas(alike), alike.len());
    match schemas.first().filter(|_| schemas.len() == 1) {
        Some(schema) => {
            StyledText::of(TextRole::Strong, format!("{count} × ")).then(TextRole::Name, schema)
        }
        None => StyledText::of(TextRole::Strong, format!("{count} documents")),
    }
}

/// Names many outputs: secrets if nothing else changed.
fn title_of_many(status: Status, outputs: usize, values: &[ChangedValue<'_>]) -> StyledText {
    let mut data = values.iter().filter(|value| !value.delta.is_in_metadata()).peekable();
    let are_secrets = data.peek().is_some() && data.all(|value| value.delta.is_hidden());
    let what = if status == Status::Changed && are_secrets { "secret" } else { "output" };
    StyledText::of(TextRole::Strong, counted(outputs, what))
}

/// Joins the changes of secrets that differ only in the last key of their paths and have the same
/// edits at different lines.
fn joined_secrets<'r>(values: Vec<ChangedValue<'r>>) -> Vec<ChangedValue<'r>> {
    let mut joined: Vec<(Vec<String>, ChangedValue<'r>)> = Vec::new();
    for value in values {
        let (parent, key) = value.delta.path.rsplit_once('.').unwrap_or_default();
        let known = joined.last_mut().filter(|(keys, known)| {
            !keys.is_empty()
                && value.delta.is_hidden()
                && known.are_joint == value.are_joint
                && known.delta.path == parent
        });
        match known {
            Some((keys, known)) => {
                keys.push(key.to_owned());
                known.join(&value);
            }
            None if value.delta.is_hidden() && !parent.is_empty() => {
                let keys = vec![key.to_owned()];
                let delta = ValueDelta { path: parent.to_owned(), ..value.delta.clone() };
                joined.push((keys, ChangedValue { delta, ..value }));
            }
            None => joined.push((Vec::new(), value)),
        }
    }
    let with_keys = joined.into_iter().map(|(keys, mut value)| {
        match &keys[..] {
            [] => {}
            [only] => value.delta.path += &format!(".{only}"),
            several => value.delta.path += &format!(".{{{}}}", several.join(", ")),
        }
        value
    });
    with_keys.collect()
}

/// Formats a repetition count as a prefix.
fn times(count: usize) -> StyledText {
    if count == 1 {
        StyledText::default()
    } else {
        StyledText::of(TextRole::Strong, format!("{count} × "))
    }
}

/// Formats the previous name of an output as a suffix.
fn renamed(output: &ReportedOutput) -> StyledText {
    match &output.renamed_from {
        Some(name) => StyledText::plain(" (renamed from ").then(TextRole::Name, name).and(")"),
        None => StyledText::default(),
    }
}

/// Formats the status of outputs as a suffix.
fn with_status(title: StyledText, status: Status) -> StyledText {
    match status {
        Status::Changed => title,
        Status::Metadata => StyledText::plain("metadata of ").join(title),
        Status::Broken => title.then(TextRole::Error, " can no longer be rendered"),
        Status::Repaired => title.then(TextRole::Good, " can be rendered again"),
        Status::Added => title.then(TextRole::Good, " added"),
        Status::Removed => title.then(TextRole::Warning, " removed"),
        Status::NotComparable => title.and(" not comparable"),
    }
}
