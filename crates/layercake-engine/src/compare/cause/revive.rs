//! Effects of many removed values, found in a single rendering in which all of them are put back.
//!
//! Each value is followed forward there. A value that another removed one hides, or that becomes
//! part of a string, is left to a rendering of its own.

use std::collections::{BTreeMap, BTreeSet};

use layercake_source::DocKey;
use layercake_yaml::diff::{DiffMemo, Difference};
use layercake_yaml::path::{Location, Piece, PlaceIndex};

use super::Target;
use super::trial::{Deviations, Trials, counterparts, side_of};
use crate::compare::shield::passage;
use crate::compare::{Side, Status};
use crate::edit::{Edit, EditId, EditKind, Part};
use crate::graph::DocId;

/// Returns whether an edit removed a key of the data of a document.
pub(super) fn removes_key(edit: &Edit) -> bool {
    let is_key = matches!(edit.location.0.last(), Some(Piece::Key(_)));
    edit.kind == EditKind::Key && edit.part == Part::Data && edit.head.is_none() && is_key
}

/// Differences of an output with all removed values from that of the head.
struct RevivedOutput {
    /// Its change, if it changed.
    index: Option<usize>,
    key: DocKey,
    /// Places of the differences in the rendering.
    places: PlaceIndex,
    /// Units that each difference overlaps.
    units: Vec<Vec<Target>>,
    is_explained: Vec<bool>,
}

impl Trials<'_> {
    /// Returns the deviations of the head without each of the edits that `removed` values, and the
    /// edits for which they are not known. `None` if none are known.
    pub(super) fn without_each_removed(
        &self,
        removed: &[EditId],
    ) -> Option<(BTreeMap<EditId, Deviations>, Vec<EditId>)> {
        let question = self.question();
        let trial = self.rendered(&self.all_but(removed))?;
        let side = side_of(&trial);
        let mut outputs = self.revived_outputs(&side)?;
        let mut each: BTreeMap<EditId, Deviations> = BTreeMap::new();
        let mut open = Vec::new();
        for edit in removed {
            let passage = passage(question, *edit, &side);
            if !passage.is_certain {
                open.push(*edit);
            }
            let found = each.entry(*edit).or_default();
            for (doc, places) in &passage.reached {
                let Some(output) = outputs.get_mut(doc) else {
                    continue;
                };
                output.add_reached(places, found);
            }
            found.shields = passage.shields;
        }
        let is_explained = outputs
            .values()
            .all(|it| it.is_explained.iter().all(|known| *known));
        each.retain(|edit, _| !open.contains(edit));
        is_explained.then_some((each, open))
    }

    /// Returns the outputs that deviate from the head, by document of the rendering. `None` if some
    /// deviate as a whole.
    fn revived_outputs(&self, side: &Side<'_>) -> Option<BTreeMap<DocId, RevivedOutput>> {
        let question = self.question();
        let by_head = counterparts(question.head, side, question);
        let head = question.head?;
        if by_head.len() != side.graph.outputs().count() {
            return None;
        }
        let mut memo = DiffMemo::default();
        let mut outputs = BTreeMap::new();
        for (doc, recipe) in head.graph.outputs() {
            let tried = *by_head.get(&doc)?;
            let differences = self.data_differences(doc, tried, side, &mut memo)?;
            if differences.is_empty() {
                continue;
            }
            let places: Vec<Location> = differences
                .iter()
                .map(|difference| {
                    let place = difference.base.as_ref().or(difference.head.as_ref());
                    place.map_or_else(Location::root, |place| place.location.clone())
                })
                .collect();
            let index = self.change_of(doc);
            let output = RevivedOutput {
                index,
                key: recipe.key.clone(),
                places: PlaceIndex::new(&places),
                units: self.units_of(index, &differences)?,
                is_explained: vec![false; places.len()],
            };
            outputs.insert(tried, output);
        }
        Some(outputs)
    }

    /// Returns the units of a change that each of these differences overlaps. `None` if the change
    /// is about a whole output.
    fn units_of(
        &self,
        index: Option<usize>,
        differences: &[Difference],
    ) -> Option<Vec<Vec<Target>>> {
        let Some(index) = index else {
            return Some(vec![Vec::new(); differences.len()]);
        };
        let change = &self.changes()[index];
        if !matches!(change.status, Status::Changed | Status::Metadata) {
            return None;
        }
        let asked = self.output_of(index).data();
        Some(
            differences
                .iter()
                .map(|left| asked.touched_by(left))
                .collect(),
        )
    }
}

impl RevivedOutput {
    /// Adds the deviations at places that a value reaches.
    fn add_reached(&mut self, places: &[Location], found: &mut Deviations) {
        let met = places.iter().flat_map(|place| self.places.around(place));
        for at in met.collect::<BTreeSet<usize>>() {
            self.is_explained[at] = true;
            match self.index {
                None => drop(found.kept.insert(self.key.clone())),
                Some(index) if self.units[at].is_empty() => drop(found.beside.insert(index)),
                Some(_) => found.units.extend(&self.units[at]),
            }
        }
    }
}
