//! Changed outputs: outputs with the same changes form one block, which has each changed value once,
//! with the edits behind it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::danger::Danger;
use super::delta::{DiffLine, ValueDelta};
use super::deployed::not_deployed;
use super::entries::{Arranger, RouteEntry, StepEntry, describe_step, places};
use super::sites::SiteIndices;
use crate::compare::{DeployedCounts, Status};
use crate::edit::EditKind;
use crate::report::counted;
use crate::report::model::{
    EditRef, EditSet, GroupRef, OutputGroup, ReportedCause, ReportedEdit, ReportedOutput,
};
use crate::report::text::{StyledText, TextLink, TextRole};
use crate::source::DocKey;

/// Outputs with the same changes.
pub(crate) struct OutputBlock<'r> {
    /// Groups of the outputs; several for outputs of several documents or with different values.
    pub(crate) groups: Vec<&'r OutputGroup>,
    /// Outputs and their sites.
    pub(crate) title: StyledText,
    /// Documents, if there are several.
    pub(crate) documents: Vec<StyledText>,
    /// Changed values that are listed here.
    pub(crate) values: Vec<ChangedValue<'r>>,
    /// Number of further changed values that are edits of the output's own text, and are listed
    /// where they reach other outputs.
    pub(crate) listed_elsewhere: usize,
    pub(crate) sites: SiteIndices,
    pub(crate) status: Status,
    /// Number of outputs, counted per site.
    pub(crate) outputs: usize,
    pub(crate) danger: Danger,
    /// Edits behind the changes.
    pub(crate) edits: BTreeSet<EditRef>,
    /// Descriptions of the edits that made all changes, if the values do not show them.
    pub(crate) caused: Vec<StyledText>,
    /// Longest route, if any has a hop.
    pub(crate) route: Option<RouteEntry>,
}

/// A changed value of outputs.
#[derive(Clone)]
pub(crate) struct ChangedValue<'r> {
    pub(crate) delta: ValueDelta,
    /// Edits that made the change, in order.
    pub(crate) edits: Vec<&'r ReportedEdit>,
    /// Whether they made it only together.
    pub(crate) are_joint: bool,
    /// Edits with the same values before and after.
    pub(super) equal: BTreeSet<EditRef>,
    /// Whether it is an edit of the output's own text.
    pub(super) is_own: bool,
    /// Danger of the change, with the names of documents in its values.
    pub(crate) danger: Danger,
    /// Changed lines in a form that those of another document can equal.
    comparable: Vec<DiffLine>,
}

/// Some changes of an output, by index in its group.
pub(super) struct OutputPiece<'r> {
    pub(super) output: &'r ReportedOutput,
    pub(super) changes: Vec<usize>,
}

/// Outputs of one document that differ at the same paths.
struct AlikeOutputs<'r> {
    outputs: Vec<&'r ReportedOutput>,
    /// Changes in the first of them, with the edits behind those of all.
    values: Vec<ChangedValue<'r>>,
}

/// Number of edits up to which they are described.
const MAX_CAUSES: usize = 2;

/// Number of documents above which only their schemas are listed.
const MAX_DOCUMENTS: usize = 8;

impl<'r> Arranger<'_, 'r> {
    /// Groups pieces of outputs into blocks: outputs with equal changes, regardless of the document.
    pub(super) fn blocks(&self, pieces: Vec<OutputPiece<'r>>) -> Vec<OutputBlock<'r>> {
        let alike = self.alike(pieces);
        let mut equal: IndexMap<_, Vec<&AlikeOutputs<'r>>> = IndexMap::new();
        for alike in &alike {
            let status = alike.outputs[0].status;
            let is_harmless = alike
                .values
                .iter()
                .all(|value| value.danger == Danger::None);
            let is_folded = status == Status::Metadata && is_harmless && !self.each_value;
            let values = alike.values.iter().filter(|_| !is_folded).map(|value| {
                let edits: Vec<EditRef> = value.ids().filter(|_| self.each_value).collect();
                (value.key(), edits)
            });
            equal
                .entry((status, values.collect::<Vec<_>>()))
                .or_default()
                .push(alike);
        }
        equal.values().map(|alike| self.block(alike)).collect()
    }

    /// Groups outputs of one schema and name that differ at the same paths.
    fn alike(&self, pieces: Vec<OutputPiece<'r>>) -> Vec<AlikeOutputs<'r>> {
        let mut alike: IndexMap<_, Vec<OutputPiece<'r>>> = IndexMap::new();
        for piece in pieces {
            let output = piece.output;
            let group = self.report.group_of(output);
            let paths: Vec<_> = piece
                .changes
                .iter()
                .map(|at| {
                    let change = &group.changes[*at];
                    (
                        change.part,
                        &*change.path,
                        self.report.causes_of(output, *at).joint,
                    )
                })
                .collect();
            let of_group = self.each_value.then_some(output.group);
            let key = (&*group.schema, &*group.name, output.status, paths, of_group);
            alike.entry(key).or_default().push(piece);
        }
        alike
            .into_values()
            .map(|pieces| AlikeOutputs {
                outputs: pieces.iter().map(|piece| piece.output).collect(),
                values: (0..pieces[0].changes.len())
                    .filter_map(|index| self.value(&pieces, index))
                    .collect(),
            })
            .collect()
    }

    /// Returns the change at this index of the first piece, with the edits behind those of all.
    fn value(&self, pieces: &[OutputPiece<'r>], index: usize) -> Option<ChangedValue<'r>> {
        let first = pieces[0].output;
        let at = pieces[0].changes[index];
        let delta = &self.deltas[first.group.index()][at];
        let is_name = first.renamed_from.is_some() && delta.path == "metadata.name";
        if delta.lines.is_empty() || is_name {
            return None;
        }
        let sets: Vec<&EditSet> = pieces
            .iter()
            .map(|piece| self.report.causes_of(piece.output, piece.changes[index]))
            .collect();
        let edits: BTreeSet<EditRef> = sets.iter().flat_map(|set| &set.edits).copied().collect();
        let equal: BTreeSet<EditRef> = edits
            .iter()
            .filter(|edit| {
                self.edited
                    .get(*edit)
                    .is_some_and(|it| it.lines == delta.lines)
            })
            .copied()
            .collect();
        let path = &self.report.group_of(first).changes[at].path;
        let is_own = self
            .report
            .edits_with(&equal)
            .any(|edit| is_of_output(edit, first) && edit.path == *path);
        let name = if self.each_value {
            ""
        } else {
            &*first.document.name
        };
        Some(ChangedValue {
            danger: delta.danger(),
            is_own,
            comparable: unnamed(&delta.lines, name),
            delta: delta.clone(),
            edits: self.report.edits_with(&edits).collect(),
            are_joint: sets.iter().any(|set| set.joint),
            equal,
        })
    }

    /// Creates the block of outputs with the same changes, of one or several documents.
    fn block(&self, alike: &[&AlikeOutputs<'r>]) -> OutputBlock<'r> {
        let outputs: Vec<&'r ReportedOutput> =
            alike.iter().flat_map(|it| &it.outputs).copied().collect();
        let groups: BTreeMap<GroupRef, &OutputGroup> = outputs
            .iter()
            .map(|output| (output.group, self.report.group_of(output)))
            .collect();
        let sites = self.sites_of(&outputs);
        let count = self.count(&outputs);
        let status = outputs[0].status;
        let values = self.values(alike);
        let (title, documents) = match alike {
            [only] => (self.title_of_one(only, count, groups.len()), Vec::new()),
            _ if status == Status::NotComparable => {
                (title_of_many(status, count, &values), Vec::new())
            }
            several if self.are_many(several, status) => (
                title_of_many(status, count, &values),
                self.by_schema(several),
            ),
            several => (title_of_several(several), self.documents(several, &sites)),
        };
        let edits = outputs
            .iter()
            .flat_map(|output| self.report.edits_of(output));
        let causes = outputs
            .iter()
            .flat_map(|output| output.causes.iter().map(|cause| (*output, cause)));
        OutputBlock {
            caused: self.caused(&values, &outputs),
            route: self.longest_route(causes),
            title: self
                .in_sites(with_status(title, status), &sites)
                .and(not_deployed(self.deployed(&outputs), count))
                .join(self.via(&outputs)),
            documents,
            danger: Danger::of_output(status, values.iter().map(|value| value.danger)),
            values,
            listed_elsewhere: 0,
            sites,
            status,
            outputs: count,
            edits: edits.copied().collect(),
            groups: groups.into_values().collect(),
        }
    }

    /// Returns the distinct changes of outputs.
    fn values(&self, alike: &[&AlikeOutputs<'r>]) -> Vec<ChangedValue<'r>> {
        let mut distinct: IndexMap<_, ChangedValue<'r>> = IndexMap::new();
        for value in alike.iter().flat_map(|it| &it.values) {
            let known = distinct.entry(value.key()).or_insert_with(|| value.clone());
            if known.delta.lines != value.delta.lines {
                known.delta.lines.clone_from(&value.comparable);
            }
            known.join(value);
        }
        let mut values: Vec<ChangedValue<'r>> = distinct.into_values().collect();
        if !self.each_value {
            values = joined_secrets(&values);
            values.sort_by_key(|value| value.danger);
        }
        values
    }

    fn title_of_one(&self, alike: &AlikeOutputs<'r>, count: usize, groups: usize) -> StyledText {
        let name = times(count)
            .join(self.name(alike))
            .join(renamed(alike.outputs[0]));
        if groups > 1 {
            name.and(", with different values,")
        } else {
            name
        }
    }

    /// Returns whether only the schemas of documents are listed.
    fn are_many(&self, alike: &[&AlikeOutputs<'r>], status: Status) -> bool {
        let is_whole = matches!(status, Status::Added | Status::Removed);
        let has_many = alike.len() > MAX_DOCUMENTS && (is_whole || by_schema(alike).len() > 1);
        has_many && !self.each_value
    }

    /// Returns the names of documents; those that are not in all `sites` follow with their own.
    fn documents(&self, alike: &[&AlikeOutputs<'r>], sites: &SiteIndices) -> Vec<StyledText> {
        let named = alike
            .iter()
            .map(|it| (self.name(it), self.sites_of(&it.outputs)));
        let (everywhere, partial): (Vec<_>, Vec<_>) =
            named.partition(|(_, own)| own == sites || own.is_empty());
        let partial = partial
            .into_iter()
            .map(|(name, own)| name.and(" (").join(self.sites.phrase(&own)).and(")"));
        everywhere
            .into_iter()
            .map(|(name, _)| name)
            .chain(partial)
            .collect()
    }

    /// Returns the schemas of documents with the number of their outputs, and few names.
    fn by_schema(&self, alike: &[&AlikeOutputs<'r>]) -> Vec<StyledText> {
        const MAX_NAMES: usize = 5;
        let mut listed: Vec<(Reverse<usize>, StyledText)> = by_schema(alike)
            .into_iter()
            .map(|(schema, of_schema)| {
                let count = self.count(of_schema.iter().flat_map(|it| &it.outputs));
                let text = times(count).then(TextRole::Name, schema);
                let names = of_schema
                    .iter()
                    .map(|it| StyledText::name(&*it.outputs[0].document.name));
                let text = match of_schema.len() {
                    1..=MAX_NAMES => text.and(" (").join(StyledText::list(names, ", ")).and(")"),
                    _ => text,
                };
                (Reverse(count), text)
            })
            .collect();
        listed.sort_by_key(|(count, _)| *count);
        listed.into_iter().map(|(_, text)| text).collect()
    }

    fn name(&self, alike: &AlikeOutputs<'r>) -> StyledText {
        let group = self.report.group_of(alike.outputs[0]);
        self.names
            .output(&group.schema, &group.name)
            .linked(&TextLink::Anchor(group.id.to_string()))
    }

    pub(super) fn sites_of(&self, outputs: &[&ReportedOutput]) -> SiteIndices {
        self.sites
            .in_sets(outputs.iter().map(|output| output.sites))
    }

    /// Returns the number of outputs, counted per site.
    pub(super) fn count<'o>(
        &self,
        outputs: impl IntoIterator<Item = &'o &'o ReportedOutput>,
    ) -> usize {
        outputs
            .into_iter()
            .map(|output| self.report.sites_in(output.sites).len())
            .sum()
    }

    /// Returns the numbers of outputs by whether they are deployed.
    pub(super) fn deployed(&self, outputs: &[&ReportedOutput]) -> DeployedCounts {
        let mut counts = DeployedCounts::default();
        for output in outputs {
            if let Some(deployed_by) = output.deployed_by {
                deployed_by.count(self.count([output]), &mut counts);
            }
        }
        counts
    }

    /// Returns the first of the longest routes, if any has a hop.
    pub(super) fn longest_route(
        &self,
        causes: impl Iterator<Item = (&'r ReportedOutput, &'r ReportedCause)>,
    ) -> Option<RouteEntry> {
        let longest = causes.filter(|(_, cause)| cause.hops > 0);
        let (output, cause) = longest.min_by_key(|(_, cause)| Reverse(cause.hops))?;
        let name = self
            .names
            .output(&output.document.schema, &output.document.name);
        let site = self
            .sites
            .in_set(output.sites)
            .into_iter()
            .take(1)
            .collect();
        let title = self.in_sites(StyledText::plain("route to ").join(name), &site);
        let steps = cause
            .route
            .of(&self.report.routes)
            .steps
            .iter()
            .map(|step| StepEntry {
                place: step
                    .at
                    .first()
                    .map(|place| StyledText::place(place, true))
                    .unwrap_or_default(),
                places: places(&step.at, " → "),
                words: describe_step(step.via, self.names.document(&step.document)),
            });
        Some(RouteEntry {
            title: title.and(format!(", {}", counted(cause.hops, "hop"))),
            steps: steps.collect(),
        })
    }

    /// Names the documents between the edits and the outputs, if all routes are listed and pass the
    /// same ones.
    fn via(&self, outputs: &[&'r ReportedOutput]) -> StyledText {
        let are_complete = outputs.iter().all(|output| {
            let mut edits = self.report.edits_of(output).iter();
            edits.all(|edit| output.causes.iter().any(|cause| cause.edit == *edit))
        });
        if !are_complete {
            return StyledText::default();
        }
        let causes = outputs.iter().flat_map(|output| &output.causes);
        let between: BTreeSet<Vec<&DocKey>> = causes
            .map(|cause| {
                let steps = &cause.route.of(&self.report.routes).steps;
                let between = steps
                    .get(1..steps.len().saturating_sub(1))
                    .unwrap_or_default();
                let mut documents: Vec<&DocKey> =
                    between.iter().map(|step| &step.document).collect();
                documents.dedup();
                documents
            })
            .collect();
        let common = between.first().filter(|_| between.len() == 1);
        let documents = common
            .into_iter()
            .flatten()
            .map(|key| self.names.document(key));
        StyledText::list(documents, " → ").prefixed(" via ")
    }

    /// Describes the few edits that made all of these changes, if no change shows what they are.
    fn caused(&self, values: &[ChangedValue<'r>], outputs: &[&ReportedOutput]) -> Vec<StyledText> {
        let is_shown = |edit: &ReportedEdit| {
            values.iter().any(|value| value.equal.contains(&edit.id))
                || edit.kind == EditKind::Document
                    && outputs.iter().any(|output| is_of_output(edit, output))
        };
        let common = common_causes(values).filter(|it| it.edits.len() <= MAX_CAUSES);
        let hidden = common
            .into_iter()
            .flat_map(|it| &it.edits)
            .filter(|edit| !is_shown(edit));
        hidden.map(|edit| self.names.described(edit)).collect()
    }

    pub(super) fn in_sites(&self, text: StyledText, sites: &SiteIndices) -> StyledText {
        text.join(self.sites.phrase(sites).prefixed(" in "))
    }
}

/// Returns whether an edit is one of the document of an output.
fn is_of_output(edit: &ReportedEdit, output: &ReportedOutput) -> bool {
    edit.is_of(&output.document.schema, &output.document.name)
}

/// Returns changed lines with the name of their document replaced; for an empty name the lines
/// themselves.
fn unnamed(lines: &[DiffLine], name: &str) -> Vec<DiffLine> {
    const NAME: &str = "<name>";
    let parts = [
        Some(name),
        name.split_once('-').map(|it| it.1),
        name.rsplit_once('-').map(|it| it.0),
    ];
    // Shorter words may be in a text for another reason.
    let mut parts = parts.into_iter().flatten().filter(|part| part.len() >= 4);
    let Some(part) = parts.find(|part| lines.iter().any(|line| line.text.contains(*part))) else {
        return lines.to_vec();
    };
    let unnamed = lines
        .iter()
        .map(|line| (line.sign, line.text.replace(part, NAME)));
    unnamed
        .map(|(sign, text)| DiffLine { sign, text })
        .collect()
}

impl ChangedValue<'_> {
    /// Returns what the same change of another document has as well.
    fn key(&self) -> (&str, &[DiffLine], bool) {
        (&self.delta.path, &self.comparable, self.are_joint)
    }

    /// Returns the path of the mapping that contains a secret, and its key.
    fn parent_of_secret(&self) -> Option<(&str, &str)> {
        let parts = self
            .delta
            .path
            .rsplit_once('.')
            .filter(|(parent, _)| !parent.is_empty());
        parts.filter(|_| self.delta.is_hidden())
    }

    fn ids(&self) -> impl Iterator<Item = EditRef> {
        self.edits.iter().map(|edit| edit.id)
    }

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
    pub(crate) fn common_causes(&self) -> Option<&ChangedValue<'r>> {
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
        let before = self.values.len();
        self.values
            .retain(|value| !(value.is_own && value.equal.is_subset(listed)));
        self.listed_elsewhere = before - self.values.len();
        self.danger = Danger::of_output(self.status, self.values.iter().map(|value| value.danger));
    }
}

/// Returns the first value if the same edits made all values.
fn common_causes<'v, 'r>(values: &'v [ChangedValue<'r>]) -> Option<&'v ChangedValue<'r>> {
    let first = values.first()?;
    values
        .iter()
        .all(|value| value.are_joint == first.are_joint && value.ids().eq(first.ids()))
        .then_some(first)
}

fn by_schema<'a, 'r>(
    alike: &[&'a AlikeOutputs<'r>],
) -> BTreeMap<&'r str, Vec<&'a AlikeOutputs<'r>>> {
    let mut by_schema: BTreeMap<&str, Vec<&AlikeOutputs<'_>>> = BTreeMap::new();
    for alike in alike {
        by_schema
            .entry(&*alike.outputs[0].document.schema)
            .or_default()
            .push(alike);
    }
    by_schema
}

fn title_of_several(alike: &[&AlikeOutputs<'_>]) -> StyledText {
    let by_schema = by_schema(alike);
    match by_schema.first_key_value() {
        Some((only, _)) if by_schema.len() == 1 => times(alike.len()).then(TextRole::Name, only),
        _ => StyledText::strong(counted(alike.len(), "document")),
    }
}

/// Names many outputs: secrets if nothing else changed.
fn title_of_many(status: Status, outputs: usize, values: &[ChangedValue<'_>]) -> StyledText {
    let mut data = values
        .iter()
        .filter(|value| !value.delta.is_in_metadata())
        .peekable();
    let are_secrets = data.peek().is_some() && data.all(|value| value.delta.is_hidden());
    let what = if status == Status::Changed && are_secrets {
        "secret"
    } else {
        "output"
    };
    StyledText::strong(counted(outputs, what))
}

/// Joins the changes of secrets that differ only in the last key of their paths and have the same
/// edits at different lines.
fn joined_secrets<'r>(values: &[ChangedValue<'r>]) -> Vec<ChangedValue<'r>> {
    values
        .chunk_by(|one, other| {
            let parents = one.parent_of_secret().zip(other.parent_of_secret());
            let is_same = parents.is_some_and(|((one, _), (other, _))| one == other);
            is_same && one.are_joint == other.are_joint
        })
        .map(|alike| {
            let mut joined = alike[0].clone();
            for value in alike {
                joined.join(value);
            }
            let keys = alike.iter().filter_map(ChangedValue::parent_of_secret);
            let (parents, keys): (Vec<&str>, Vec<&str>) = keys.unzip();
            if let [parent, _, ..] = parents[..] {
                joined.delta.path = format!("{parent}.{{{}}}", keys.join(", "));
            }
            joined
        })
        .collect()
}

/// Formats a repetition count as a prefix.
fn times(count: usize) -> StyledText {
    if count == 1 {
        StyledText::default()
    } else {
        StyledText::strong(format!("{count} × "))
    }
}

/// Formats the previous name of an output as a suffix.
fn renamed(output: &ReportedOutput) -> StyledText {
    match &output.renamed_from {
        Some(name) => StyledText::plain(" (renamed from ")
            .then(TextRole::Name, name)
            .and(")"),
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
