//! Changes of a report, each listed once: by an edit with the outputs that it reaches, or by outputs
//! with the edits behind each of their values, whichever is shorter.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::blocks::{BlockBuilder, ChangedValue, OutputBlock, OutputPiece};
use super::danger::{Danger, Faulty};
use super::delta::{DiffLine, ValueDelta};
use super::fold::{Fold, folds};
use super::names::{self, DocumentNames};
use super::sites::SiteNames;
use crate::compare::reach::Why;
use crate::compare::{Status, Via};
use crate::edit::EditKind;
use crate::report::counted;
use crate::report::model::{
    EditRef, FilePlace, Report, ReportedEdit, ReportedOutput, ReportedShield,
};
use crate::report::text::{StyledText, TextRole};
use crate::source::DocKey;

/// Part of the changes.
pub(in crate::report) enum ChangeEntry<'r> {
    /// Edits with their effects.
    Edits(EditEntry<'r>),
    /// Outputs with the edits behind them.
    Outputs(OutputBlock<'r>),
}

/// Edits with the same effect, and that effect.
pub(in crate::report) struct EditEntry<'r> {
    /// Edits in order.
    pub(in crate::report) edits: Vec<&'r ReportedEdit>,
    /// Distinct changes of the edited values; empty if outputs that they reach show them.
    pub(in crate::report) changes: Vec<EditedValue<'r>>,
    /// Summary of the changed outputs.
    pub(in crate::report) reach: StyledText,
    /// Summary of the sites in which the edits are shielded; empty if there are none.
    pub(in crate::report) shielded: StyledText,
    /// Outputs with the values that these edits changed, and no earlier entry.
    pub(in crate::report) blocks: Vec<OutputBlock<'r>>,
    /// Longest route, if any has a hop.
    pub(in crate::report) route: Option<RouteEntry>,
    /// Places at which the edits are shielded.
    pub(in crate::report) stops: Vec<StyledText>,
    pub(in crate::report) danger: Danger,
}

/// A change of a value, and the edits that made it.
pub(in crate::report) struct EditedValue<'r> {
    pub(in crate::report) edits: Vec<&'r ReportedEdit>,
    pub(in crate::report) delta: ValueDelta,
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

/// Arrangement of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Arrangement {
    /// By edit.
    ByEdit,
    /// In the shorter way; outputs of one document with different values are listed together.
    Short,
    /// In the shorter way, with all values.
    Whole,
}

/// Returns the entries of a report, the most dangerous first, then by number of outputs. `deltas` are
/// the changes of each group.
pub(super) fn entries<'r>(
    report: &'r Report,
    names: &DocumentNames<'r>,
    sites: &SiteNames<'r>,
    deltas: &[Vec<ValueDelta>],
    arrangement: Arrangement,
) -> Vec<ChangeEntry<'r>> {
    let folds = folds(report, sites);
    let listed = folds.iter().flat_map(|fold| &fold.edits);
    let edited: BTreeMap<EditRef, ValueDelta> =
        listed.map(|edit| (edit.id, edited(edit))).collect();
    let each_value = arrangement == Arrangement::Whole;
    let blocks = BlockBuilder { report, names, sites, deltas, edited: &edited, each_value };
    let arranger = Arranger::new(blocks, &folds);
    let mut entries = match arrangement {
        Arrangement::ByEdit => {
            arranger.by_edit(&(0..folds.len()).collect(), &mut arranger.pieces_by_fold())
        }
        Arrangement::Short | Arrangement::Whole => arranger.shorter(),
    };
    entries.sort_by_key(|entry| (entry.danger(), Reverse(entry.outputs())));
    entries
}

/// Formats the ids of edits as ranges; only the number of edits if there are many.
pub(in crate::report) fn edit_numbers(edits: &[&ReportedEdit]) -> String {
    const MAX_RUNS: usize = 3;
    let runs = runs(edits.iter().map(|edit| edit.id.index() + 1));
    if runs.len() > MAX_RUNS {
        return counted(edits.len(), "edit");
    }
    let words = runs.iter().map(|(start, end)| match end - start {
        0 => start.to_string(),
        _ => format!("{start}–{end}"),
    });
    let words = words.collect::<Vec<_>>().join(", ");
    format!("{} {words}", if edits.len() == 1 { "edit" } else { "edits" })
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

/// Changes of outputs by index of the fold with which they are listed.
type PiecesByFold<'r> = BTreeMap<usize, Vec<OutputPiece<'r>>>;

/// Creates entries from folds and outputs.
struct Arranger<'b, 'r> {
    blocks: BlockBuilder<'b, 'r>,
    folds: &'b [Fold<'r>],
    /// Index of the fold of each edit.
    fold_of: BTreeMap<EditRef, usize>,
    faulty: Faulty,
}

impl<'b, 'r> Arranger<'b, 'r> {
    fn new(blocks: BlockBuilder<'b, 'r>, folds: &'b [Fold<'r>]) -> Self {
        let numbered = folds.iter().enumerate();
        let fold_of =
            numbered.flat_map(|(at, fold)| fold.edits.iter().map(move |edit| (edit.id, at)));
        let fold_of = fold_of.collect();
        Self { folds, fold_of, faulty: Faulty::of(blocks.report), blocks }
    }

    /// Lists related changes by edit or by output, whichever takes fewer lines.
    fn shorter(&self) -> Vec<ChangeEntry<'r>> {
        let report = self.blocks.report;
        let is_known =
            |output: &&ReportedOutput| !self.folds_of(report.edits_of(output)).is_empty();
        let pieces = report.outputs.iter().filter(is_known).map(|output| OutputPiece {
            output,
            changes: (0..report.groups[output.group.index()].changes.len()).collect(),
        });
        let mut blocks = self.blocks.blocks(pieces.collect());
        self.leave_out_edits(&mut blocks);
        let mut pieces = self.pieces_by_fold();
        let mut entries = Vec::new();
        for (folds, blocks) in self.related(blocks) {
            let by_edit = self.by_edit(&folds, &mut pieces);
            let by_output = self.by_output(&folds, blocks);
            let height = |entries: &[ChangeEntry<'_>]| -> usize {
                entries.iter().map(ChangeEntry::height).sum()
            };
            let is_shorter = !by_output.is_empty() && height(&by_output) < height(&by_edit);
            entries.extend(if is_shorter { by_output } else { by_edit });
        }
        entries
    }

    /// Leaves out the edits of documents that are outputs themselves, where others show them.
    fn leave_out_edits(&self, blocks: &mut [OutputBlock<'r>]) {
        if self.blocks.each_value {
            return;
        }
        let values = blocks.iter().flat_map(|block| &block.values);
        let values = values.filter(|value| !value.is_own);
        let listed: BTreeSet<EditRef> = values.flat_map(|value| &value.equal).copied().collect();
        for block in blocks {
            block.leave_out_edits(&listed);
        }
    }

    /// Groups folds that changed a common output, or equal outputs, with the blocks of these.
    fn related(
        &self,
        blocks: Vec<OutputBlock<'r>>,
    ) -> Vec<(BTreeSet<usize>, Vec<OutputBlock<'r>>)> {
        let mut groups = Groups((0..self.folds.len()).collect());
        for block in &blocks {
            let mut folds = self.folds_of(&block.edits).into_iter();
            if let Some(first) = folds.next() {
                folds.for_each(|fold| groups.join(first, fold));
            }
        }
        let mut related: BTreeMap<usize, (BTreeSet<usize>, Vec<OutputBlock<'r>>)> = BTreeMap::new();
        for fold in 0..self.folds.len() {
            related.entry(groups.of(fold)).or_default().0.insert(fold);
        }
        for block in blocks {
            if let Some(first) = self.folds_of(&block.edits).first() {
                related.entry(groups.of(*first)).or_default().1.push(block);
            }
        }
        related.into_values().collect()
    }

    fn folds_of<'e>(&self, edits: impl IntoIterator<Item = &'e EditRef>) -> BTreeSet<usize> {
        edits.into_iter().filter_map(|edit| self.fold_of.get(edit).copied()).collect()
    }

    /// Assigns each changed value of the outputs to the first of its folds.
    fn pieces_by_fold(&self) -> PiecesByFold<'r> {
        let report = self.blocks.report;
        let mut pieces = PiecesByFold::new();
        for output in &report.outputs {
            let of_output = self.folds_of(report.edits_of(output));
            let Some(first) = of_output.first() else { continue };
            let mut by_fold: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for at in 0..report.groups[output.group.index()].changes.len() {
                let edits = report.causes_of(output, at).map_or(&[][..], |set| &set.edits);
                let fold = self.folds_of(edits).first().copied();
                by_fold.entry(fold.unwrap_or(*first)).or_default().push(at);
            }
            if by_fold.is_empty() {
                by_fold.insert(*first, Vec::new());
            }
            for (fold, changes) in by_fold {
                pieces.entry(fold).or_default().push(OutputPiece { output, changes });
            }
        }
        pieces
    }

    /// Returns an entry for each fold; every changed value is listed with the first of its folds.
    fn by_edit(
        &self,
        folds: &BTreeSet<usize>,
        pieces: &mut PiecesByFold<'r>,
    ) -> Vec<ChangeEntry<'r>> {
        let entry = |fold: &usize| {
            let blocks = self.blocks.blocks(pieces.remove(fold).unwrap_or_default());
            ChangeEntry::Edits(self.entry(&self.folds[*fold], blocks))
        };
        folds.iter().map(entry).collect()
    }

    /// Returns the blocks, and the folds with more than the blocks show.
    fn by_output(
        &self,
        folds: &BTreeSet<usize>,
        blocks: Vec<OutputBlock<'r>>,
    ) -> Vec<ChangeEntry<'r>> {
        let is_unknown = |block: &OutputBlock<'_>| block.status == Status::NotComparable;
        // Effects of edits that belong together are clearest below them, unless they are the same.
        let is_one_story = folds.len() < 2 && !are_edited_documents(&blocks, self.blocks.report);
        if is_one_story || blocks.is_empty() || blocks.iter().any(is_unknown) {
            return Vec::new();
        }
        let is_listed = |fold: &&Fold<'_>| {
            let mut edits = fold.edits.iter();
            fold.shields.is_empty()
                && !edits.any(|edit| edit.reach.kept.is_some() || edit.is_undecided())
        };
        let others = folds.iter().map(|at| &self.folds[*at]).filter(|fold| !is_listed(fold));
        let others = others.map(|fold| {
            let entry = self.entry(fold, Vec::new());
            let entry =
                EditEntry { changes: Vec::new(), route: None, danger: Danger::None, ..entry };
            ChangeEntry::Edits(entry)
        });
        let others: Vec<ChangeEntry<'r>> = others.collect();
        let blocks = blocks.into_iter().map(|block| {
            let edits = block.edits.iter().map(|edit| self.blocks.report.edit(*edit));
            let danger = block.danger.min(self.faulty.danger_of(edits));
            ChangeEntry::Outputs(OutputBlock { danger, ..block })
        });
        blocks.chain(others).collect()
    }

    fn entry(&self, fold: &Fold<'r>, blocks: Vec<OutputBlock<'r>>) -> EditEntry<'r> {
        EntryBuilder { blocks: &self.blocks, fold }.entry(blocks, &self.faulty)
    }
}

impl<'r> EditEntry<'r> {
    /// Splits the values of a block into those that the edits show already, and the others.
    pub(in crate::report) fn split<'b>(
        &self,
        block: &'b OutputBlock<'r>,
    ) -> (Vec<&'b ChangedValue<'r>>, Vec<&'b ChangedValue<'r>>) {
        let shown: BTreeSet<&[DiffLine]> =
            self.changes.iter().map(|change| &change.delta.lines[..]).collect();
        block.values.iter().partition(|value| shown.contains(&value.delta.lines[..]))
    }

    /// Returns the edits behind a value, unless they are the only edit of this entry.
    pub(in crate::report) fn behind(&self, value: &ChangedValue<'r>) -> Vec<&'r ReportedEdit> {
        let is_one = |edits: &[&ReportedEdit]| edits.len() == 1;
        if is_one(&self.edits) && is_one(&value.edits) { Vec::new() } else { value.edits.clone() }
    }

    /// Returns the edits behind a value that are not in this entry.
    pub(in crate::report) fn others_behind(
        &self,
        value: &ChangedValue<'r>,
    ) -> Vec<&'r ReportedEdit> {
        let is_own = |edit: &&&ReportedEdit| self.edits.iter().any(|own| own.id == edit.id);
        value.edits.iter().filter(|edit| !is_own(edit)).copied().collect()
    }
}

impl<'r> ChangeEntry<'r> {
    pub(in crate::report) fn danger(&self) -> Danger {
        match self {
            Self::Edits(entry) => entry.danger,
            Self::Outputs(block) => block.danger,
        }
    }

    /// Returns its outputs.
    pub(super) fn blocks(&self) -> &[OutputBlock<'r>] {
        match self {
            Self::Edits(entry) => &entry.blocks,
            Self::Outputs(block) => std::slice::from_ref(block),
        }
    }

    /// Returns the number of outputs that it lists.
    fn outputs(&self) -> usize {
        self.blocks().iter().map(|block| block.outputs).sum()
    }

    /// Returns the estimated number of lines.
    fn height(&self) -> usize {
        match self {
            Self::Edits(entry) => {
                let changes = entry.changes.iter();
                let changes: usize =
                    changes.map(|it| it.edits.len().min(3) + it.delta.height()).sum();
                let height = |block: &OutputBlock<'_>| {
                    let (shown, _) = entry.split(block);
                    let shown: usize = shown.iter().map(|value| value.delta.height()).sum();
                    block.lines() - shown
                };
                let blocks: usize = entry.blocks.iter().map(height).sum();
                3 + changes + blocks + entry.stops.len()
            }
            Self::Outputs(block) => block.lines() + 1,
        }
    }
}

/// Returns whether the outputs are just the documents that edits added or removed.
fn are_edited_documents(blocks: &[OutputBlock<'_>], report: &Report) -> bool {
    let is_named = |block: &OutputBlock<'_>, edit: &ReportedEdit| {
        block.groups.iter().any(|group| edit.is_of(&group.schema, &group.name))
    };
    blocks.iter().all(|block| {
        let mut edits = block.edits.iter().map(|edit| report.edit(*edit));
        matches!(block.status, Status::Added | Status::Removed)
            && edits.all(|edit| edit.kind == EditKind::Document && is_named(block, edit))
    })
}

/// Disjoint groups of indexes: each index has another one of its group, or itself.
struct Groups(Vec<usize>);

impl Groups {
    /// Returns the index that represents the group.
    fn of(&mut self, index: usize) -> usize {
        let mut at = index;
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, one: usize, other: usize) {
        let [one, other] = [self.of(one), self.of(other)];
        self.0[one.max(other)] = one.min(other);
    }
}

/// An entry under construction.
struct EntryBuilder<'b, 'r> {
    blocks: &'b BlockBuilder<'b, 'r>,
    fold: &'b Fold<'r>,
}

impl<'r> EntryBuilder<'_, 'r> {
    fn entry(&self, blocks: Vec<OutputBlock<'r>>, faulty: &Faulty) -> EditEntry<'r> {
        let of_edits = faulty.danger_of(self.fold.edits.iter().copied());
        let danger = blocks.iter().map(|block| block.danger).min();
        EditEntry {
            edits: self.fold.edits.clone(),
            changes: self.changes(),
            reach: self.reach(),
            shielded: self.shielded(),
            blocks,
            route: self.route(),
            stops: self.stops(),
            danger: danger.unwrap_or(Danger::None).min(of_edits),
        }
    }

    fn changes(&self) -> Vec<EditedValue<'r>> {
        let mut changes: IndexMap<&[DiffLine], EditedValue<'r>> = IndexMap::new();
        for edit in &self.fold.edits {
            let delta = &self.blocks.edited[&edit.id];
            let value = || EditedValue { edits: Vec::new(), delta: delta.clone() };
            changes.entry(&delta.lines).or_insert_with(value).edits.push(edit);
        }
        changes.into_values().collect()
    }

    fn reach(&self) -> StyledText {
        let outputs = self.fold.outputs.iter().copied();
        let (unknown, compared): (Vec<&ReportedOutput>, Vec<&ReportedOutput>) =
            outputs.partition(|output| output.status == Status::NotComparable);
        let (reached, unknown) = (self.counted(&compared), self.counted(&unknown));
        let unknown = match unknown {
            unknown if unknown.is_empty() => unknown,
            unknown => unknown.and(" cannot be compared"),
        };
        let kept = self.kept();
        if reached.is_empty() && (!unknown.is_empty() || !kept.is_empty()) {
            return StyledText::list([unknown, kept], "; ");
        }
        if reached.is_empty() {
            return self.undecided(StyledText::plain("reaches no output"));
        }
        let all: usize = compared.iter().map(|output| self.blocks.count(output)).sum();
        let untouched = compared.iter().filter(|output| !output.touched);
        let untouched = match untouched.map(|output| self.blocks.count(output)).sum() {
            0 => String::new(),
            count if count == all => ", from unedited files".to_owned(),
            count => format!(", {count} of them from unedited files"),
        };
        let text = StyledText::plain("reaches ").join(reached).and(untouched);
        let text = StyledText::list([text, self.together()], ", ");
        self.undecided(StyledText::list([text, unknown, kept], "; "))
    }

    /// Returns the number of outputs, with their sites; empty if there are none.
    fn counted(&self, outputs: &[&'r ReportedOutput]) -> StyledText {
        let count: usize = outputs.iter().map(|output| self.blocks.count(output)).sum();
        if count == 0 {
            return StyledText::default();
        }
        let sites = outputs.iter().flat_map(|output| self.blocks.sites.in_set(output.sites));
        let text = StyledText::of(TextRole::Strong, counted(count, "output"));
        self.blocks.in_sites(text, &sites.collect())
    }

    /// Names the edits without which these would not have made some of their changes.
    fn together(&self) -> StyledText {
        let own: BTreeSet<EditRef> = self.fold.edits.iter().map(|edit| edit.id).collect();
        let mut others: BTreeSet<EditRef> = BTreeSet::new();
        let (mut is_joint, mut is_alone) = (false, false);
        for output in self.fold.outputs.iter().copied() {
            let whole = output.changed_by.is_empty().then_some(&output.edits);
            for set in output.changed_by.iter().chain(whole) {
                let Some(set) = set.of(&self.blocks.report.edit_sets) else { continue };
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
            others.iter().map(|edit| self.blocks.report.edit(*edit)).collect();
        StyledText::plain(format!("{words} with {}", edit_numbers(&others)))
    }

    /// Describes the outputs that would have changed without the edits.
    fn kept(&self) -> StyledText {
        let Some(kept) = self.fold.edits[0].reach.kept else { return StyledText::default() };
        let others = counted(kept.outputs, "other output");
        let text = match self.fold.edits.len() {
            1 => format!("without it, {others} would differ"),
            _ => format!("without each of them, {others} would differ"),
        };
        self.blocks.in_sites(StyledText::plain(text), &self.blocks.sites.in_set(kept.sites))
    }

    /// Marks a reach that was not decided within the limits.
    fn undecided(&self, reach: StyledText) -> StyledText {
        if self.fold.edits.iter().any(|edit| edit.is_undecided()) {
            reach.and(", ").then(TextRole::Warning, "not decided: it may reach more")
        } else {
            reach
        }
    }

    fn shielded(&self) -> StyledText {
        let shields = &self.fold.shields;
        if shields.is_empty() {
            return StyledText::default();
        }
        let sites =
            shields.iter().flat_map(|shield| self.blocks.sites.in_set(shield.sites)).collect();
        self.blocks.in_sites(StyledText::plain("shielded"), &sites)
    }

    fn route(&self) -> Option<RouteEntry> {
        let causes = self.fold.outputs.iter().copied();
        let causes = causes.filter_map(|output| Some((output, self.fold.cause_of(output)?)));
        self.blocks.longest_route(causes)
    }

    /// Describes the shields: sites in which nothing was reached first, then documents of other
    /// sites.
    fn stops(&self) -> Vec<StyledText> {
        let reached =
            self.fold.outputs.iter().copied().flat_map(|it| self.blocks.sites.in_set(it.sites));
        let reached: BTreeSet<usize> = reached.collect();
        let mut whole: ShieldGroups<'r> = IndexMap::new();
        let mut partial: ShieldGroups<'r> = IndexMap::new();
        for shield in &self.fold.shields {
            let sites = self.blocks.sites.in_set(shield.sites);
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
            let head =
                head.join(self.blocks.sites.phrase(&sites)).and(format!(": {} by ", why.as_str()));
            head.join(self.blocks.names.document(document)).join(self.stop_places(&shields, &sites))
        });
        let partial = partial.into_iter().map(|((why, document, sites), shields)| {
            let head = StyledText::of(TextRole::Strong, "shielded").and(": ");
            let head =
                self.blocks.in_sites(head.join(self.blocks.names.document(document)), &sites);
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
            let of_shield = shield.sites.of(&self.blocks.report.site_sets);
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

/// Returns the change that an edit made to a value; for a moved document, its old and new place.
pub(super) fn edited(edit: &ReportedEdit) -> ValueDelta {
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
pub(super) fn places(places: &[FilePlace], between: &str) -> StyledText {
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
