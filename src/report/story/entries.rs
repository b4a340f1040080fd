//! Changes of a report, each listed once: by an edit with the outputs that it reaches, or by outputs
//! with the edits behind each of their values, whichever is shorter.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::blocks::{ChangedValue, OutputBlock, OutputPiece};
use super::danger::{Danger, Faulty};
use super::delta::{DiffLine, ValueDelta};
use super::deployed::deployed_suffix;
use super::fold::{Fold, Folds};
use super::names::DocumentNames;
use super::sites::{SiteIndices, SiteNames};
use crate::compare::{Status, Via};
use crate::edit::EditKind;
use crate::report::model::{
    EditRef, EditSet, FilePlace, Report, ReportedEdit, ReportedOutput, ReportedShield,
};
use crate::report::text::{StyledText, TextRole};
use crate::report::{and_more_of, counted};

/// Part of the changes.
pub(crate) enum ChangeEntry<'r> {
    /// Edits with their effects.
    Edits(EditEntry<'r>),
    /// Outputs with the edits behind them.
    Outputs(OutputBlock<'r>),
}

/// Edits with the same effect, and that effect.
pub(crate) struct EditEntry<'r> {
    /// Edits in order.
    pub(crate) edits: Vec<&'r ReportedEdit>,
    /// Distinct changes of the edited values; empty if outputs that they reach show them.
    pub(crate) changes: Vec<EditedValue<'r>>,
    /// Lines of the values whose keys were renamed, as removed and as added.
    renamed: Vec<Vec<DiffLine>>,
    /// Summary of the changed outputs.
    pub(crate) reach: StyledText,
    /// Summary of the sites in which the edits are shielded; empty if there are none.
    pub(crate) shielded: StyledText,
    /// Outputs with the values that these edits changed, and no earlier entry.
    pub(crate) blocks: Vec<OutputBlock<'r>>,
    /// Longest route, if any has a hop.
    pub(crate) route: Option<RouteEntry>,
    /// Places at which the edits are shielded.
    pub(crate) stops: Vec<StyledText>,
    pub(crate) danger: Danger,
}

/// A change of a value, and the edits that made it.
pub(crate) struct EditedValue<'r> {
    pub(crate) edits: Vec<&'r ReportedEdit>,
    pub(crate) delta: ValueDelta,
}

/// A route.
pub(crate) struct RouteEntry {
    /// Heading with the name of the output.
    pub(crate) title: StyledText,
    /// Steps, starting with the edit.
    pub(crate) steps: Vec<StepEntry>,
}

/// A step of a route.
pub(crate) struct StepEntry {
    /// Most relevant place.
    pub(crate) place: StyledText,
    /// All places of the step.
    pub(crate) places: StyledText,
    /// Description of the step.
    pub(crate) words: StyledText,
}

/// Arrangement of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrangement {
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
    let faulty = Faulty::of(report);
    let folds = Folds::new(report, sites, &faulty);
    let listed = folds.all.iter().flat_map(|fold| &fold.edits);
    let edited = listed
        .map(|edit| (edit.id, ValueDelta::of_edit(edit)))
        .collect();
    let each_value = arrangement == Arrangement::Whole;
    let arranger = Arranger {
        report,
        names,
        sites,
        deltas,
        edited,
        each_value,
        folds,
        faulty,
    };
    let mut entries = match arrangement {
        Arrangement::ByEdit => arranger.by_edit().map(ChangeEntry::Edits).collect(),
        Arrangement::Short | Arrangement::Whole => arranger.shorter(),
    };
    entries.sort_by_key(|entry| (entry.danger(), Reverse(entry.outputs())));
    entries
}

/// Formats the ids of edits as ranges; only the number of edits if there are many.
pub(crate) fn edit_numbers(edits: &[&ReportedEdit]) -> String {
    const MAX_RUNS: usize = 3;
    let runs = runs(edits.iter().map(|edit| edit.id.index() + 1));
    if runs.len() > MAX_RUNS {
        return counted(edits.len(), "edit");
    }
    let words = runs
        .iter()
        .map(|(start, end)| match end - start {
            0 => start.to_string(),
            _ => format!("{start}–{end}"),
        })
        .collect::<Vec<_>>()
        .join(", ");
    format!(
        "{} {words}",
        if edits.len() == 1 { "edit" } else { "edits" }
    )
}

/// Groups ascending numbers into runs, and returns the first and last number of each.
pub(crate) fn runs(numbers: impl Iterator<Item = usize>) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, end)) if *end + 1 == number => *end = number,
            Some(_) | None => runs.push((number, number)),
        }
    }
    runs
}

/// Related changes by edit and by output.
type Related<'r> = (Vec<EditEntry<'r>>, Vec<OutputBlock<'r>>);

/// Creates entries and blocks.
pub(super) struct Arranger<'b, 'r> {
    pub(super) report: &'r Report,
    pub(super) names: &'b DocumentNames<'r>,
    pub(super) sites: &'b SiteNames<'r>,
    /// Changes of each group.
    pub(super) deltas: &'b [Vec<ValueDelta>],
    /// Lines that each edit changed.
    pub(super) edited: BTreeMap<EditRef, ValueDelta>,
    /// Whether outputs with different values or causes are listed separately.
    pub(super) each_value: bool,
    folds: Folds<'r>,
    faulty: Faulty,
}

impl<'r> Arranger<'_, 'r> {
    /// Lists related changes by edit or by output, whichever takes fewer lines.
    fn shorter(&self) -> Vec<ChangeEntry<'r>> {
        let pieces = self
            .report
            .outputs
            .iter()
            .filter(|output| !self.folds.of(self.report.edits_of(output)).is_empty())
            .map(|output| OutputPiece {
                output,
                changes: (0..self.report.group_of(output).changes.len()).collect(),
            });
        let mut blocks = self.blocks(pieces.collect());
        self.leave_out_edits(&mut blocks);
        self.related(blocks)
            .into_iter()
            .flat_map(|(by_edit, blocks)| {
                let is_broken = by_edit.iter().any(|entry| self.is_broken(entry));
                if is_broken && !self.each_value {
                    self.without_consequences(by_edit)
                } else if self.is_shorter_by_output(&by_edit, &blocks) {
                    self.by_output(by_edit, blocks)
                } else {
                    by_edit.into_iter().map(ChangeEntry::Edits).collect()
                }
            })
            .collect()
    }

    /// Whether an edit caused an error from which others follow, as its effects do.
    fn is_broken(&self, entry: &EditEntry<'r>) -> bool {
        entry
            .edits
            .iter()
            .any(|edit| self.faulty.has_consequences(edit))
    }

    /// Lists edits without the effects that follow from their errors.
    fn without_consequences(&self, by_edit: Vec<EditEntry<'r>>) -> Vec<ChangeEntry<'r>> {
        by_edit
            .into_iter()
            .map(|entry| {
                ChangeEntry::Edits(if self.is_broken(&entry) {
                    entry.without_effects()
                } else {
                    entry
                })
            })
            .collect()
    }

    /// Leaves out the edits of documents that are outputs themselves, where others show them.
    fn leave_out_edits(&self, blocks: &mut [OutputBlock<'r>]) {
        if self.each_value {
            return;
        }
        let values = blocks
            .iter()
            .flat_map(|block| &block.values)
            .filter(|value| !value.is_own);
        let listed: BTreeSet<EditRef> = values.flat_map(|value| &value.equal).copied().collect();
        for block in blocks {
            block.leave_out_edits(&listed);
        }
    }

    /// Groups entries of edits that changed a common output, or equal outputs, with the blocks of
    /// these.
    fn related(&self, blocks: Vec<OutputBlock<'r>>) -> Vec<Related<'r>> {
        let mut group_of: Vec<usize> = (0..self.folds.all.len()).collect();
        for block in &blocks {
            let folds = self.folds.of(&block.edits);
            let joined: BTreeSet<usize> = folds.iter().map(|fold| group_of[*fold]).collect();
            let Some(first) = joined.first().filter(|_| joined.len() > 1) else {
                continue;
            };
            let joined = group_of.iter_mut().filter(|group| joined.contains(group));
            joined.for_each(|group| *group = *first);
        }
        let mut related: BTreeMap<usize, Related<'r>> = BTreeMap::new();
        for (entry, group) in self.by_edit().zip(&group_of) {
            related.entry(*group).or_default().0.push(entry);
        }
        for block in blocks {
            if let Some(fold) = self.folds.of(&block.edits).first() {
                related.entry(group_of[*fold]).or_default().1.push(block);
            }
        }
        related.into_values().collect()
    }

    /// Returns an entry for each fold; every changed value is listed with the first of its folds.
    fn by_edit(&self) -> impl Iterator<Item = EditEntry<'r>> {
        let pieces = self.folds.all.iter().zip(self.pieces_by_fold());
        pieces.map(|(fold, pieces)| self.entry(fold, self.blocks(pieces)))
    }

    fn pieces_by_fold(&self) -> Vec<Vec<OutputPiece<'r>>> {
        let mut pieces: Vec<_> = self.folds.all.iter().map(|_| Vec::new()).collect();
        for output in &self.report.outputs {
            let edits = self.report.edits_of(output);
            let Some(first) = self.folds.of(edits).pop_first() else {
                continue;
            };
            let mut by_fold: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for at in 0..self.report.group_of(output).changes.len() {
                let edits = &self.report.causes_of(output, at).edits;
                let fold = self.folds.of(edits).pop_first().unwrap_or(first);
                by_fold.entry(fold).or_default().push(at);
            }
            if by_fold.is_empty() {
                by_fold.insert(first, Vec::new());
            }
            for (fold, changes) in by_fold {
                pieces[fold].push(OutputPiece { output, changes });
            }
        }
        pieces
    }

    fn is_shorter_by_output(&self, by_edit: &[EditEntry<'r>], blocks: &[OutputBlock<'r>]) -> bool {
        // Effects of edits that belong together are clearest below them, unless they are the same.
        let is_one_story = by_edit.len() < 2 && !are_edited_documents(blocks, self.report);
        if is_one_story
            || blocks.is_empty()
            || blocks
                .iter()
                .any(|block| block.status == Status::NotComparable)
        {
            return false;
        }
        let of_blocks: usize = blocks.iter().map(|block| block.lines() + 1).sum();
        let others = by_edit.iter().filter(|entry| entry.has_more());
        let of_others: usize = others.map(|entry| MIN_LINES + entry.stops.len()).sum();
        of_blocks + of_others < by_edit.iter().map(EditEntry::lines).sum()
    }

    /// Returns the blocks, and the entries with more than the blocks show.
    fn by_output(
        &self,
        by_edit: Vec<EditEntry<'r>>,
        blocks: Vec<OutputBlock<'r>>,
    ) -> Vec<ChangeEntry<'r>> {
        let blocks = blocks.into_iter().map(|block| {
            let of_edits = self.faulty.danger_of(self.report.edits_with(&block.edits));
            let danger = block.danger.min(of_edits);
            ChangeEntry::Outputs(OutputBlock { danger, ..block })
        });
        let others = by_edit
            .into_iter()
            .filter(EditEntry::has_more)
            .map(|entry| {
                let changes = Vec::new();
                let blocks = Vec::new();
                let route = None;
                let danger = Danger::None;
                ChangeEntry::Edits(EditEntry {
                    changes,
                    blocks,
                    route,
                    danger,
                    ..entry
                })
            });
        blocks.chain(others).collect()
    }
}

/// Number of lines of an entry of edits without changes and outputs.
const MIN_LINES: usize = 3;

impl<'r> EditEntry<'r> {
    /// Splits the values of a block into those that the edits show already, and the others.
    pub(crate) fn split<'b>(
        &self,
        block: &'b OutputBlock<'r>,
    ) -> (Vec<&'b ChangedValue<'r>>, Vec<&'b ChangedValue<'r>>) {
        let shown: BTreeSet<&[DiffLine]> = self
            .changes
            .iter()
            .map(|it| &it.delta.lines)
            .chain(&self.renamed)
            .map(|it| &it[..])
            .collect();
        block
            .values
            .iter()
            .partition(|value| shown.contains(&value.delta.lines[..]))
    }

    /// Returns the edits behind a value, unless they are the only edit of this entry.
    pub(crate) fn behind(&self, value: &ChangedValue<'r>) -> Vec<&'r ReportedEdit> {
        match (&self.edits[..], &value.edits[..]) {
            ([_], [_]) => Vec::new(),
            (_, edits) => edits.to_vec(),
        }
    }

    /// Returns whether the outputs do not show all effects.
    fn has_more(&self) -> bool {
        let mut edits = self.edits.iter();
        !self.stops.is_empty() || edits.any(|edit| edit.reach.kept.is_some() || edit.is_undecided())
    }

    /// Returns the estimated number of lines at 80 columns.
    fn lines(&self) -> usize {
        let changes: usize = self
            .changes
            .iter()
            .map(|it| it.edits.len().min(3) + it.delta.height())
            .sum();
        let lines = |block: &OutputBlock<'r>| {
            let (shown, _) = self.split(block);
            block.lines()
                - shown
                    .iter()
                    .map(|value| value.delta.height())
                    .sum::<usize>()
        };
        MIN_LINES + changes + self.blocks.iter().map(lines).sum::<usize>() + self.stops.len()
    }

    /// Returns the edits behind a value that are not in this entry.
    pub(crate) fn others_behind(&self, value: &ChangedValue<'r>) -> Vec<&'r ReportedEdit> {
        value
            .edits
            .iter()
            .filter(|edit| !self.edits.iter().any(|own| own.id == edit.id))
            .copied()
            .collect()
    }
}

impl EditEntry<'_> {
    /// Leaves out the effects of edits, which follow from an error.
    fn without_effects(self) -> Self {
        let reach = self.reach.and("; these changes follow from its error");
        Self {
            reach,
            blocks: Vec::new(),
            route: None,
            stops: Vec::new(),
            ..self
        }
    }
}

impl<'r> ChangeEntry<'r> {
    pub(crate) fn danger(&self) -> Danger {
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
}

/// Returns whether the outputs are just the documents that edits added or removed.
fn are_edited_documents(blocks: &[OutputBlock<'_>], report: &Report) -> bool {
    let is_named = |block: &OutputBlock<'_>, edit: &ReportedEdit| {
        block
            .groups
            .iter()
            .any(|group| edit.is_of(&group.schema, &group.name))
    };
    blocks.iter().all(|block| {
        let mut edits = report.edits_with(&block.edits);
        matches!(block.status, Status::Added | Status::Removed)
            && edits.all(|edit| edit.kind == EditKind::Document && is_named(block, edit))
    })
}

impl<'r> Arranger<'_, 'r> {
    fn entry(&self, fold: &Fold<'r>, blocks: Vec<OutputBlock<'r>>) -> EditEntry<'r> {
        let of_blocks = blocks
            .iter()
            .map(|block| block.danger)
            .min()
            .unwrap_or(Danger::None);
        EditEntry {
            edits: fold.edits.clone(),
            changes: self.changes(fold),
            renamed: self.renamed(fold),
            reach: self.reach(fold),
            shielded: self.shielded(fold),
            blocks,
            route: self.route(fold),
            stops: self.stops(fold),
            danger: of_blocks.min(self.faulty.danger_of(fold.edits.iter().copied())),
        }
    }

    fn renamed(&self, fold: &Fold<'r>) -> Vec<Vec<DiffLine>> {
        let added = fold.edits.iter().copied();
        let pairs = added.filter_map(|added| Some([self.report.renamed_by(added)?, added]));
        pairs
            .flatten()
            .map(|edit| self.edited[&edit.id].lines.clone())
            .collect()
    }

    fn changes(&self, fold: &Fold<'r>) -> Vec<EditedValue<'r>> {
        let mut changes: IndexMap<&[DiffLine], EditedValue<'r>> = IndexMap::new();
        for edit in &fold.edits {
            if self.report.renamed_by(edit).is_some() {
                continue;
            }
            let delta = &self.edited[&edit.id];
            // A renamed key has the same value.
            let is_renamed = self.names.is_renamed(edit);
            let lines = if is_renamed { &[][..] } else { &delta.lines };
            changes
                .entry(lines)
                .or_insert_with(|| EditedValue {
                    edits: Vec::new(),
                    delta: if is_renamed {
                        delta.clone().without_lines()
                    } else {
                        delta.clone()
                    },
                })
                .edits
                .push(edit);
        }
        changes.into_values().collect()
    }

    fn reach(&self, fold: &Fold<'r>) -> StyledText {
        let (unknown, compared): (Vec<&ReportedOutput>, Vec<&ReportedOutput>) = fold
            .outputs
            .iter()
            .partition(|output| output.status == Status::NotComparable);
        let unknown = match self.counted(&unknown) {
            text if text.is_empty() => text,
            text => text.and(" cannot be compared"),
        };
        let others = StyledText::list([unknown, self.kept(fold)], "; ");
        let reach = match self.counted(&compared) {
            reached if reached.is_empty() && !others.is_empty() => return others,
            reached if reached.is_empty() => StyledText::plain("reaches no output"),
            reached => {
                let reached = reached
                    .prefixed("reaches ")
                    .and(deployed_suffix(
                        self.deployed(&compared),
                        self.count(&compared),
                    ))
                    .and(self.untouched(&compared));
                let reached = StyledText::list([reached, self.together(fold)], ", ");
                StyledText::list([reached, others], "; ")
            }
        };
        if fold.edits.iter().any(|edit| edit.is_undecided()) {
            reach
                .and(", ")
                .then(TextRole::Warning, "not decided: it may reach more")
        } else {
            reach
        }
    }

    /// Returns the number of outputs, with their sites; empty if there are none.
    fn counted(&self, outputs: &[&'r ReportedOutput]) -> StyledText {
        let text = match self.count(outputs) {
            0 => return StyledText::default(),
            count => StyledText::strong(counted(count, "output")),
        };
        self.in_sites(text, &self.sites_of(outputs))
    }

    /// Returns how many of the outputs are from unedited files, as a suffix.
    fn untouched(&self, outputs: &[&'r ReportedOutput]) -> String {
        match self.count(outputs.iter().filter(|output| !output.touched)) {
            0 => String::new(),
            count if count == self.count(outputs) => ", from unedited files".to_owned(),
            count => format!(", {count} of them from unedited files"),
        }
    }

    /// Names the edits without which these would not have made some of their changes.
    fn together(&self, fold: &Fold<'r>) -> StyledText {
        let own: BTreeSet<EditRef> = fold.edits.iter().map(|edit| edit.id).collect();
        let sets = fold
            .outputs
            .iter()
            .flat_map(|output| self.report.edit_sets_of(output))
            .filter(|set| set.edits.iter().any(|edit| own.contains(edit)));
        let (joint, alone): (Vec<&EditSet>, Vec<&EditSet>) = sets.partition(|set| set.joint);
        let words = match (&joint[..], &alone[..]) {
            ([], _) => return StyledText::default(),
            (_, []) => "only together",
            (_, _) => "partly together",
        };
        let others: BTreeSet<EditRef> = joint.iter().flat_map(|set| &set.edits).copied().collect();
        let others: Vec<&ReportedEdit> = self.report.edits_with(others.difference(&own)).collect();
        StyledText::plain(match &others[..] {
            [] => words.to_owned(),
            others => format!("{words} with {}", edit_numbers(others)),
        })
    }

    /// Describes the outputs that would have changed without the edits.
    fn kept(&self, fold: &Fold<'r>) -> StyledText {
        let Some(kept) = fold.edits[0].reach.kept else {
            return StyledText::default();
        };
        let others = counted(kept.outputs, "other output");
        let them = if fold.edits.len() == 1 {
            "it"
        } else {
            "each of them"
        };
        let text = StyledText::plain(format!("without {them}, {others} would differ"));
        self.in_sites(text, &self.sites.in_set(kept.sites))
    }

    fn shielded(&self, fold: &Fold<'r>) -> StyledText {
        if fold.shields.is_empty() {
            return StyledText::default();
        }
        let sites = self
            .sites
            .in_sets(fold.shields.iter().map(|shield| shield.sites));
        self.in_sites(StyledText::plain("shielded"), &sites)
    }

    /// Returns the longest of the routes from the first edit that changed each output.
    fn route(&self, fold: &Fold<'r>) -> Option<RouteEntry> {
        let causes = fold.outputs.iter().filter_map(|output| {
            Some((
                *output,
                output
                    .causes
                    .iter()
                    .find(|cause| fold.edits.iter().any(|edit| edit.id == cause.edit))?,
            ))
        });
        self.longest_route(causes)
    }

    /// Describes the shields: sites in which nothing was reached first, then documents of other
    /// sites.
    fn stops(&self, fold: &Fold<'r>) -> Vec<StyledText> {
        let reached = self.sites_of(&fold.outputs);
        let mut alike: IndexMap<_, Vec<&ReportedShield>> = IndexMap::new();
        for shield in &fold.shields {
            let sites = self.sites.in_set(shield.sites);
            let (inside, outside): (SiteIndices, SiteIndices) =
                sites.iter().partition(|site| reached.contains(site));
            for (is_partial, part) in [(false, outside), (true, inside)] {
                if !part.is_empty() || (is_partial && sites.is_empty()) {
                    let key = (is_partial, shield.why, &shield.document, part);
                    alike.entry(key).or_default().push(shield);
                }
            }
        }
        let mut alike: Vec<_> = alike.into_iter().collect();
        alike.sort_by_key(|((is_partial, ..), _)| *is_partial);
        alike
            .iter()
            .map(|((is_partial, why, document, sites), shields)| {
                let text = StyledText::strong("shielded");
                let why = why.as_str();
                let document = self.names.document(document);
                let text = if *is_partial {
                    self.in_sites(text.and(": ").join(document), sites)
                        .and(format!(", {why}"))
                } else {
                    self.in_sites(text, sites)
                        .and(format!(": {why} by "))
                        .join(document)
                };
                text.join(self.stop_places(shields, sites))
            })
            .collect()
    }

    /// Describes the first places at which edits are shielded in these sites.
    fn stop_places(&self, shields: &[&'r ReportedShield], sites: &SiteIndices) -> StyledText {
        const MAX_PLACES: usize = 2;
        let all: BTreeSet<&FilePlace> = shields
            .iter()
            .flat_map(|shield| {
                let of_shield = shield
                    .sites
                    .of(&self.report.site_sets)
                    .sites
                    .iter()
                    .enumerate();
                let here = of_shield.filter(|(_, site)| sites.is_empty() || sites.contains(site));
                here.filter_map(|(at, _)| shield.place_at(at))
            })
            .collect();
        let text = places(all.iter().copied().take(MAX_PLACES), ", ").prefixed(" at ");
        text.and(and_more_of(all.len().saturating_sub(MAX_PLACES), "place"))
    }
}

/// Formats places without repeating a file: `a.yaml:26 → :28`.
pub(super) fn places<'p>(
    places: impl IntoIterator<Item = &'p FilePlace>,
    between: &str,
) -> StyledText {
    let mut places: Vec<&FilePlace> = places.into_iter().collect();
    places.dedup_by_key(|place| (&place.file, place.line));
    let before = [None]
        .into_iter()
        .chain(places.iter().map(|place| Some(&place.file)));
    let texts = places
        .iter()
        .zip(before)
        .map(|(place, before)| match before {
            Some(file) if *file == place.file => {
                StyledText::place(place, true).renamed(format!(":{}", place.line))
            }
            Some(_) | None => StyledText::place(place, true),
        });
    StyledText::list(texts, between)
}

/// Describes a step of a route to or by this document.
pub(crate) fn describe_step(via: Via, document: StyledText) -> StyledText {
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
        Via::Policy => StyledText::plain("layers or files of ")
            .join(document)
            .and(" changed"),
    }
}
