//! Edits and their effects: edits with the same effect form one entry, with the changed outputs,
//! the longest route, and the shields.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use indexmap::IndexMap;

use super::delta::{DiffLine, ValueDelta};
use super::fold::{Fold, folds};
use super::names::{self, DocumentNames};
use super::sites::SiteNames;
use crate::compare::reach::Why;
use crate::compare::{Status, Via};
use crate::edit::EditKind;
use crate::report::counted;
use crate::report::model::{
    EditRef, FilePlace, GroupRef, OutputGroup, Report, ReportedEdit, ReportedOutput,
    ReportedShield, Route, RouteStep,
};
use crate::report::text::{StyledText, TextRole};
use crate::source::DocKey;

/// Edits with the same effect, and that effect.
pub(in crate::report) struct EditEntry<'r> {
    /// Edits in order.
    pub(in crate::report) edits: Vec<&'r ReportedEdit>,
    /// Distinct changes of the edited values.
    pub(in crate::report) changes: Vec<EditedValue<'r>>,
    /// Summary of the changed outputs.
    pub(in crate::report) reach: StyledText,
    /// Summary of the sites in which the edits are shielded; empty if there are none.
    pub(in crate::report) shielded: StyledText,
    /// Outputs listed with this entry, grouped by equal changes.
    pub(in crate::report) groups: Vec<GroupEntry<'r>>,
    /// Number of outputs already listed with earlier entries, and these entries; empty if there are
    /// none.
    pub(in crate::report) elsewhere: StyledText,
    /// Longest route, if any has a hop.
    pub(in crate::report) route: Option<RouteEntry>,
    /// Places at which the edits are shielded.
    pub(in crate::report) stops: Vec<StyledText>,
}

/// A change of a value, and the edits that made it.
pub(in crate::report) struct EditedValue<'r> {
    pub(in crate::report) edits: Vec<&'r ReportedEdit>,
    pub(in crate::report) delta: ValueDelta,
}

/// Outputs with the same change.
pub(in crate::report) struct GroupEntry<'r> {
    /// Groups; several for added or removed outputs, or for outputs with different values.
    pub(in crate::report) groups: Vec<&'r OutputGroup>,
    /// Outputs, changed paths and the kind of route.
    pub(in crate::report) title: StyledText,
    /// Documents, if there are several.
    pub(in crate::report) documents: Vec<StyledText>,
    /// Changes, unless they equal those of the edits.
    pub(in crate::report) deltas: Vec<ValueDelta>,
    pub(in crate::report) sites: BTreeSet<usize>,
    pub(in crate::report) status: Status,
}

/// A route.
pub(in crate::report) struct RouteEntry {
    /// Heading with the name of the output.
    pub(in crate::report) title: StyledText,
    /// Steps, starting with the edit.
    pub(in crate::report) steps: Vec<StepEntry>,
}

/// A step of a route.
pub(in crate::report) struct StepEntry {
    /// Most relevant place.
    pub(in crate::report) place: StyledText,
    /// All places of the step.
    pub(in crate::report) places: StyledText,
    /// Description of the step.
    pub(in crate::report) words: StyledText,
}

/// Maximum number of groups of added or removed outputs listed separately.
const MAX_WHOLE_GROUPS: usize = 3;

/// Returns the entries of a report: those that cause errors first, then by number of outputs.
pub(super) fn entries<'r>(
    report: &'r Report,
    names: &DocumentNames<'r>,
    sites: &SiteNames<'r>,
    each_value: bool,
) -> Vec<EditEntry<'r>> {
    let folds = folds(report, sites);
    let listed = folds.iter().flat_map(|fold| &fold.edits);
    let edited = listed.map(|edit| (edit.id, edited(edit))).collect();
    let first_edits: Vec<&ReportedEdit> = folds.iter().map(|fold| fold.edits[0]).collect();
    let entry = |fold| {
        EntryBuilder { report, names, sites, fold, edited: &edited, each_value }.entry(&first_edits)
    };
    folds.iter().map(entry).collect()
}

/// Formats the ids of edits as ranges.
pub(in crate::report) fn edit_numbers(edits: &[&ReportedEdit]) -> String {
    const MAX_RUNS: usize = 4;
    let mut runs = runs(edits.iter().map(|edit| edit.id.index() + 1));
    runs.truncate(MAX_RUNS);
    let named: usize = runs.iter().map(|(start, end)| end - start + 1).sum();
    let more = edits.len() - named;
    let words = runs.iter().map(|(start, end)| match end - start {
        0 => start.to_string(),
        _ => format!("{start}–{end}"),
    });
    let words = words.collect::<Vec<_>>().join(", ");
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{} {words}{more}", if edits.len() == 1 { "edit" } else { "edits" })
}

/// Groups ascending numbers into runs, and returns the first and last number of each.
pub(in crate::report) fn runs(numbers: impl Iterator<Item = usize>) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, end)) if *end + 1 == number => *end = number,
            Some(_) | None => runs.push((number, number)),
        }
    }
    runs
}

/// An entry under construction.
struct EntryBuilder<'b, 'r> {
    report: &'r Report,
    names: &'b DocumentNames<'r>,
    sites: &'b SiteNames<'r>,
    fold: &'b Fold<'r>,
    /// Change by edit, for all edits of the report.
    edited: &'b HashMap<EditRef, ValueDelta>,
    /// Whether outputs of one document with different values are listed separately.
    each_value: bool,
}

/// Outputs that differ at the same paths.
struct AlikeOutputs<'r> {
    outputs: Vec<&'r ReportedOutput>,
    /// Changes in the first of them.
    deltas: Vec<ValueDelta>,
    /// Whether the edits already show all changes.
    shown_by_edits: bool,
}

impl<'r> EntryBuilder<'_, 'r> {
    fn entry(&self, first_edits: &[&ReportedEdit]) -> EditEntry<'r> {
        let changes = self.changes();
        let groups = self.groups();
        EditEntry {
            edits: self.fold.edits.clone(),
            changes,
            reach: self.reach(),
            shielded: self.shielded(),
            groups,
            elsewhere: self.elsewhere(first_edits),
            route: self.route(),
            stops: self.stops(),
        }
    }

    fn changes(&self) -> Vec<EditedValue<'r>> {
        let mut changes: IndexMap<&[DiffLine], EditedValue<'r>> = IndexMap::new();
        for edit in &self.fold.edits {
            let delta = &self.edited[&edit.id];
            let value = || EditedValue { edits: Vec::new(), delta: delta.clone() };
            changes.entry(&delta.lines).or_insert_with(value).edits.push(edit);
        }
        changes.into_values().collect()
    }

    fn reach(&self) -> StyledText {
        let (mut count, mut untouched, mut reached) = (0, 0, BTreeSet::new());
        let mut is_comparable = true;
        for output in self.fold.outputs() {
            let outputs = self.count(output);
            count += outputs;
            untouched += if output.touched { 0 } else { outputs };
            is_comparable &= output.status != Status::NotComparable;
            reached.extend(self.sites.in_set(output.sites));
        }
        let kept = self.kept();
        if count == 0 && !kept.is_empty() {
            return kept;
        }
        if count == 0 {
            return self.undecided(StyledText::plain("reaches no output"));
        }
        let outputs = StyledText::of(TextRole::Strong, counted(count, "output"));
        let text =
            if is_comparable { StyledText::plain("reaches ").join(outputs) } else { outputs };
        let text = self.in_sites(text, &reached);
        if !is_comparable {
            return text.and(" cannot be compared");
        }
        let text = text.and(match untouched {
            0 => String::new(),
            all if all == count => ", in files you did not touch".to_owned(),
            some => format!(", {some} of them in files you did not touch"),
        });
        let text = StyledText::list([text, self.together()], ", ");
        self.undecided(StyledText::list([text, kept], "; "))
    }

    /// Names the edits without which these would not have made some of their changes.
    fn together(&self) -> StyledText {
        let own: BTreeSet<EditRef> = self.fold.edits.iter().map(|edit| edit.id).collect();
        let mut others: BTreeSet<EditRef> = BTreeSet::new();
        let (mut is_joint, mut is_alone) = (false, false);
        for output in self.fold.outputs() {
            let whole = output.changed_by.is_empty().then_some(&output.edits);
            for set in output.changed_by.iter().chain(whole) {
                let Some(set) = set.of(&self.report.edit_sets) else { continue };
                if set.edits.iter().all(|edit| !own.contains(edit)) {
                    continue;
                }
                is_joint |= set.joint;
                is_alone |= !set.joint;
                others.extend(set.edits.iter().filter(|edit| set.joint && !own.contains(edit)));
            }
        }
        if !is_joint {
            return StyledText::default();
        }
        let words = if is_alone { "partly together" } else { "only together" };
        if others.is_empty() {
            return StyledText::plain(words);
        }
        let others: Vec<&ReportedEdit> =
            others.iter().map(|edit| self.report.edit(*edit)).collect();
        StyledText::plain(format!("{words} with {}", edit_numbers(&others)))
    }

    /// Describes the outputs that would have changed without the edits.
    fn kept(&self) -> StyledText {
        let Some(kept) = self.fold.edits[0].reach.kept else { return StyledText::default() };
        let text = format!("without it, {} would differ", counted(kept.outputs, "other output"));
        self.in_sites(StyledText::plain(text), &self.sites.in_set(kept.sites))
    }

    /// Marks a reach that was not decided within the limits.
    fn undecided(&self, reach: StyledText) -> StyledText {
        if self.fold.edits.iter().any(|edit| edit.is_undecided()) {
            reach.and(", ").then(TextRole::Warning, "not decided: it may reach more")
        } else {
            reach
        }
    }

    fn count(&self, output: &ReportedOutput) -> usize {
        output.sites.of(&self.report.site_sets).map_or(0, |set| set.sites.len())
    }

    fn shielded(&self) -> StyledText {
        let shields = &self.fold.shields;
        if shields.is_empty() {
            return StyledText::default();
        }
        let sites = shields.iter().flat_map(|shield| self.sites.in_set(shield.sites)).collect();
        self.in_sites(StyledText::plain("shielded"), &sites)
    }

    /// Groups the outputs: added and removed ones first, then by distance from the edit.
    fn groups(&self) -> Vec<GroupEntry<'r>> {
        // Outputs that cannot be compared have no details beyond the reach.
        let own = self.fold.own.iter().copied();
        let own = own.filter(|output| output.status != Status::NotComparable);
        let (whole, parts): (Vec<&ReportedOutput>, Vec<&ReportedOutput>) =
            own.partition(|output| matches!(output.status, Status::Added | Status::Removed));
        let mut groups = Vec::new();
        for status in [Status::Removed, Status::Added] {
            let outputs = whole.iter().copied().filter(|output| output.status == status);
            let outputs: Vec<&ReportedOutput> = outputs.collect();
            if self.distinct_groups(&outputs).len() > MAX_WHOLE_GROUPS {
                groups.push(self.added_or_removed(&outputs));
            } else {
                groups.extend(self.alike(&outputs).iter().map(|alike| self.group(&[alike])));
            }
        }
        let mut alike = self.alike(&parts);
        alike.sort_by_key(|alike| self.hops(&alike.outputs));
        let mut joined: IndexMap<_, Vec<&AlikeOutputs<'r>>> = IndexMap::new();
        for alike in &alike {
            let status = alike.outputs[0].status;
            let key = (!alike.shown_by_edits, status, self.sites_of(&alike.outputs), &alike.deltas);
            joined.entry(key).or_default().push(alike);
        }
        // Groups already shown by the edits take one line and come first.
        let (shown_by_edits, others): (Vec<_>, Vec<_>) =
            joined.values().partition(|alike| alike[0].shown_by_edits);
        groups.extend(shown_by_edits.into_iter().chain(others).map(|alike| self.group(alike)));
        groups
    }

    /// Groups outputs of one schema and name that differ at the same paths.
    fn alike(&self, outputs: &[&'r ReportedOutput]) -> Vec<AlikeOutputs<'r>> {
        type Key<'r> = (&'r str, &'r str, Status, Vec<&'r str>, Option<GroupRef>);
        let mut alike: IndexMap<Key<'r>, Vec<&'r ReportedOutput>> = IndexMap::new();
        for output in outputs {
            let group = &self.report.groups[output.group.index()];
            let paths = group.changes.iter().map(|change| &*change.path).collect();
            let of_group = self.each_value.then_some(output.group);
            let key = (&*group.schema, &*group.name, output.status, paths, of_group);
            alike.entry(key).or_default().push(output);
        }
        alike.into_values().map(|outputs| self.alike_of(outputs)).collect()
    }

    fn alike_of(&self, outputs: Vec<&'r ReportedOutput>) -> AlikeOutputs<'r> {
        let first = outputs[0];
        let group = &self.report.groups[first.group.index()];
        let deltas = group.changes.iter().map(ValueDelta::of_change);
        let is_name =
            |delta: &ValueDelta| first.renamed_from.is_some() && delta.path == "metadata.name";
        let deltas: Vec<ValueDelta> =
            deltas.filter(|it| !it.lines.is_empty() && !is_name(it)).collect();
        let edits = self.report.edits_of(first).iter();
        let edit_lines: HashSet<&[DiffLine]> =
            edits.filter_map(|edit| self.lines_of(*edit)).collect();
        let is_edit = |delta: &ValueDelta| edit_lines.contains(&delta.lines[..]);
        let is_one_group = outputs.iter().all(|output| output.group == first.group);
        let shown_by_edits = is_one_group && !deltas.is_empty() && deltas.iter().all(is_edit);
        let own = self.fold.edits.iter().filter_map(|edit| self.lines_of(edit.id));
        let own: HashSet<&[DiffLine]> = own.collect();
        let is_shown = |delta: &ValueDelta| !shown_by_edits || own.contains(&delta.lines[..]);
        let deltas = deltas.into_iter().filter(is_shown).collect();
        AlikeOutputs { outputs, deltas, shown_by_edits }
    }

    fn lines_of(&self, edit: EditRef) -> Option<&[DiffLine]> {
        self.edited.get(&edit).map(|delta| &delta.lines[..])
    }

    /// Returns the length of the shortest route to one of the outputs.
    fn hops(&self, outputs: &[&'r ReportedOutput]) -> usize {
        let causes = outputs.iter().filter_map(|output| self.fold.cause_of(output));
        causes.map(|cause| cause.hops).min().unwrap_or(0)
    }

    /// Creates the group of outputs with the same change, of one or several documents.
    fn group(&self, alike: &[&AlikeOutputs<'r>]) -> GroupEntry<'r> {
        let first = alike[0];
        let outputs: Vec<&'r ReportedOutput> =
            alike.iter().flat_map(|it| it.outputs.clone()).collect();
        let (groups, sites) = (self.distinct_groups(&outputs), self.sites_of(&outputs));
        let document = |alike: &&AlikeOutputs<'r>| {
            let group = &self.report.groups[alike.outputs[0].group.index()];
            self.names.output(&group.schema, &group.name).linked(&group.id.to_string())
        };
        let documents: Vec<StyledText> = alike.iter().map(document).collect();
        let count: usize = outputs.iter().map(|output| self.count(output)).sum();
        let title = match &documents[..] {
            [only] => times(count).join(only.clone()).join(renamed(first.outputs[0])),
            several => StyledText::of(TextRole::Strong, format!("{} documents", several.len())),
        };
        let title = with_status(title, first.outputs[0].status);
        let title = match &first.deltas[..] {
            [delta, more @ ..] if first.shown_by_edits => {
                title.and("  ").then(TextRole::Name, &delta.path).and(more_of(more.len()))
            }
            _ => title,
        };
        let title = self.in_sites(title, &sites);
        let title = StyledText::list([title, self.usual_route(&outputs)], " ");
        let removed: usize = first.deltas.iter().map(|delta| delta.removed).sum();
        let removed = match removed {
            0 | 1 => StyledText::default(),
            count => StyledText::of(TextRole::Warning, format!("removes {count} values")),
        };
        let title = StyledText::list([title, removed], ", ");
        let has_own_values = documents.len() == 1 && groups.len() > 1;
        let title = if has_own_values { title.and(", with different values") } else { title };
        let deltas = if first.shown_by_edits { Vec::new() } else { first.deltas.clone() };
        GroupEntry {
            groups,
            title,
            documents: if documents.len() == 1 { Vec::new() } else { documents },
            deltas,
            sites,
            status: first.outputs[0].status,
        }
    }

    /// Creates the group of added or removed outputs, by schema.
    fn added_or_removed(&self, outputs: &[&'r ReportedOutput]) -> GroupEntry<'r> {
        const MAX_SCHEMAS: usize = 3;
        let sites = self.sites_of(outputs);
        let mut schemas: BTreeMap<&str, usize> = BTreeMap::new();
        for output in outputs {
            *schemas.entry(&output.document.schema).or_default() += self.count(output);
        }
        let mut schemas: Vec<_> = schemas.into_iter().collect();
        schemas.sort_by_key(|(name, count)| (Reverse(*count), *name));
        let count: usize = schemas.iter().map(|(_, count)| count).sum();
        let status = outputs[0].status;
        let title = StyledText::of(TextRole::Strong, counted(count, "output"));
        let title = title.and(format!(" {}", status.as_str()));
        let listed = schemas.iter().take(MAX_SCHEMAS);
        let listed = listed.map(|(name, count)| times(*count).then(TextRole::Name, name));
        let more = schemas.len().saturating_sub(MAX_SCHEMAS);
        let more = if more == 0 { String::new() } else { format!(" and {more} more schemas") };
        let title = self.in_sites(title, &sites);
        GroupEntry {
            groups: self.distinct_groups(outputs),
            title: title.and(": ").join(StyledText::list(listed, ", ")).and(more),
            documents: Vec::new(),
            deltas: Vec::new(),
            sites,
            status,
        }
    }

    fn distinct_groups(&self, outputs: &[&'r ReportedOutput]) -> Vec<&'r OutputGroup> {
        let groups: BTreeSet<_> = outputs.iter().map(|output| output.group).collect();
        groups.into_iter().map(|group| &self.report.groups[group.index()]).collect()
    }

    fn sites_of(&self, outputs: &[&ReportedOutput]) -> BTreeSet<usize> {
        outputs.iter().flat_map(|output| self.sites.in_set(output.sites)).collect()
    }

    fn in_sites(&self, text: StyledText, sites: &BTreeSet<usize>) -> StyledText {
        let place = self.sites.phrase(sites);
        if place.is_empty() { text } else { text.and(" in ").join(place) }
    }

    /// Describes the most common kind of route to the outputs.
    fn usual_route(&self, outputs: &[&'r ReportedOutput]) -> StyledText {
        let mut ways: BTreeMap<String, usize> = BTreeMap::new();
        for output in outputs {
            if let Some(cause) = self.fold.cause_of(output) {
                let way = self.describe_route(cause.route.of(&self.report.routes));
                *ways.entry(way).or_default() += self.count(output);
            }
        }
        let most = ways.iter().min_by_key(|(_, count)| Reverse(**count));
        // Added and removed outputs are already described as such.
        let most = most.filter(|(way, _)| **way != outputs[0].status.as_str());
        most.map(|(way, _)| StyledText::of(TextRole::Dim, format!("({way})"))).unwrap_or_default()
    }

    fn describe_route(&self, route: Option<&Route>) -> String {
        let steps = route.map_or(&[][..], |route| &route.steps);
        let words = steps.iter().map(|step| step.via.as_str());
        match steps {
            [_first, _second, ..] => words.skip(1).collect::<Vec<_>>().join(" → "),
            _ => words.collect(),
        }
    }

    fn elsewhere(&self, first_edits: &[&ReportedEdit]) -> StyledText {
        let elsewhere = self.fold.elsewhere.iter().map(|(at, outputs)| {
            let count = outputs.iter().map(|output| self.count(output)).sum();
            let edit = first_edits[*at];
            StyledText::plain(format!("{} with ", counted(count, "output")))
                .join(StyledText::plain(edit_numbers(&[edit])).linked(&edit.id.to_string()))
        });
        let listed = StyledText::list(elsewhere, ", ");
        if listed.is_empty() { listed } else { StyledText::plain("also listed: ").join(listed) }
    }

    fn route(&self) -> Option<RouteEntry> {
        let outputs = self.fold.own.iter().copied();
        let causes = outputs.filter_map(|output| Some((output, self.fold.cause_of(output)?)));
        let longest = causes.filter(|(_, cause)| cause.hops > 0);
        // The first of the longest routes.
        let (output, cause) = longest.min_by_key(|(_, cause)| Reverse(cause.hops))?;
        let route = cause.route.of(&self.report.routes)?;
        let mut title = self.names.output(&output.document.schema, &output.document.name);
        let site = self.sites.in_set(output.sites).into_iter().take(1).collect();
        title = self.in_sites(StyledText::plain("route to ").join(title), &site);
        title = title.and(format!(", {}", counted(cause.hops, "hop")));
        let steps = route.steps.iter().map(|step| StepEntry {
            place: step.at.first().map(|place| StyledText::place(place, true)).unwrap_or_default(),
            places: places(&step.at, " → "),
            words: self.describe_step(step),
        });
        Some(RouteEntry { title, steps: steps.collect() })
    }

    fn describe_step(&self, step: &RouteStep) -> StyledText {
        describe_step(step.via, self.names.document(&step.document))
    }

    /// Describes the shields: sites in which nothing was reached first, then documents of other
    /// sites.
    fn stops(&self) -> Vec<StyledText> {
        let reached = self.fold.outputs().flat_map(|it| self.sites.in_set(it.sites));
        let reached: BTreeSet<usize> = reached.collect();
        let mut whole: ShieldGroups<'r> = IndexMap::new();
        let mut partial: ShieldGroups<'r> = IndexMap::new();
        for shield in &self.fold.shields {
            let sites = self.sites.in_set(shield.sites);
            let (inside, outside): (BTreeSet<usize>, BTreeSet<usize>) =
                sites.iter().partition(|site| reached.contains(site));
            if !outside.is_empty() {
                let key = (shield.why, &shield.document, outside);
                whole.entry(key).or_default().push(shield);
            }
            if !inside.is_empty() || sites.is_empty() {
                let key = (shield.why, &shield.document, inside);
                partial.entry(key).or_default().push(shield);
            }
        }
        let whole = whole.into_iter().map(|((why, document, sites), shields)| {
            let head = StyledText::of(TextRole::Strong, "shielded").and(" in ");
            let head = head.join(self.sites.phrase(&sites)).and(format!(": {} by ", why.as_str()));
            head.join(self.names.document(document)).join(self.stop_places(&shields, &sites))
        });
        let partial = partial.into_iter().map(|((why, document, sites), shields)| {
            let head = StyledText::of(TextRole::Strong, "shielded").and(": ");
            let head = self.in_sites(head.join(self.names.document(document)), &sites);
            let head = head.and(format!(", {}", why.as_str()));
            head.join(self.stop_places(&shields, &sites))
        });
        whole.chain(partial).collect()
    }

    /// Describes the first places at which edits are shielded in these sites.
    fn stop_places(&self, shields: &[&'r ReportedShield], sites: &BTreeSet<usize>) -> StyledText {
        const MAX_PLACES: usize = 2;
        let mut all: BTreeSet<&FilePlace> = BTreeSet::new();
        for shield in shields {
            let of_shield = shield.sites.of(&self.report.site_sets);
            let of_shield = of_shield.into_iter().flat_map(|set| &set.sites).enumerate();
            let here = of_shield.filter(|(_, site)| sites.is_empty() || sites.contains(site));
            all.extend(here.filter_map(|(at, _)| shield.place_at(at)));
        }
        let shown: Vec<FilePlace> = all.iter().take(MAX_PLACES).map(|it| (*it).clone()).collect();
        let more = all.len().saturating_sub(MAX_PLACES);
        let text = if shown.is_empty() { StyledText::default() } else { StyledText::plain(" at ") };
        let text = text.join(places(&shown, ", "));
        if more == 0 { text } else { text.and(format!(" and {}", counted(more, "more place"))) }
    }
}

/// Shields of edits, by kind, document and sites.
type ShieldGroups<'r> = IndexMap<(Why, &'r DocKey, BTreeSet<usize>), Vec<&'r ReportedShield>>;

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
        Status::Metadata => title.and(" in its metadata"),
        Status::Broken => title.then(TextRole::Error, " can no longer be rendered"),
        Status::Repaired => title.then(TextRole::Good, " can be rendered again"),
        Status::Added => title.then(TextRole::Good, " added"),
        Status::Removed => title.then(TextRole::Warning, " removed"),
        Status::NotComparable => title.and(" not comparable"),
    }
}

fn more_of(count: usize) -> String {
    if count == 0 { String::new() } else { format!(" and {count} more") }
}

/// Returns the change that an edit made to a value; for a moved document, its old and new place.
fn edited(edit: &ReportedEdit) -> ValueDelta {
    let (path, [base, head]) = (names::path(edit), [edit.before.as_ref(), edit.after.as_ref()]);
    let place = |place: &Option<FilePlace>| {
        place.iter().map(|it| format!("{}:{}", it.file, it.line)).collect::<Vec<_>>()
    };
    match edit.kind {
        EditKind::Moved => ValueDelta::of_lines(path, &place(&edit.at.base), &place(&edit.at.head)),
        EditKind::Order => ValueDelta::of_order(path, [base, head]),
        _ => ValueDelta::new(path, base, head, edit.unlisted),
    }
}

/// Formats places without repeating a file: `a.yaml:26 → :28`.
fn places(places: &[FilePlace], between: &str) -> StyledText {
    let mut text = StyledText::default();
    let mut before: Option<&FilePlace> = None;
    for place in places {
        let between = if before.is_some() { between } else { "" };
        match before {
            Some(known) if (&known.file, known.line) == (&place.file, place.line) => continue,
            Some(known) if known.file == place.file => {
                let mut short = StyledText::place(place, true);
                short.pieces[0].text = format!(":{}", place.line);
                text = text.and(between).join(short);
            }
            Some(_) | None => text = text.and(between).join(StyledText::place(place, true)),
        }
        before = Some(place);
    }
    text
}

/// Describes a step of a route to or by this document.
pub(in crate::report) fn describe_step(via: Via, document: StyledText) -> StyledText {
    match via {
        Via::Edited => StyledText::plain("edited"),
        Via::Inherited => StyledText::plain("inherited by ").join(document),
        Via::Substituted => StyledText::plain("substituted into ").join(document),
        Via::Merged => StyledText::plain("merged into ").join(document),
        Via::Replaced => StyledText::plain("replaced by ").join(document),
        Via::Retargeted => document.and(" has a different parent"),
        Via::Unparented => document.and(" has no parent"),
        Via::Added => document.and(" added"),
        Via::Removed => document.and(" removed"),
        Via::Policy => StyledText::plain("layers or files of ").join(document).and(" changed"),
    }
}
