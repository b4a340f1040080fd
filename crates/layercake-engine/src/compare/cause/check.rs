//! Check of the causes by rendering: the laws that every comparison must satisfy.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use layercake_source::DocKey;
use layercake_yaml::Value;
use layercake_yaml::diff::same;
use layercake_yaml::path::{Piece, first_inside};

use super::trial::Trials;
use super::{Attributed, Question};
use crate::compare::Change;
use crate::compare::reach::Shield;
use crate::edit::EditId;
use crate::graph::Graph;
use crate::render::render;

/// Statement of a comparison that rendering contradicts, which is a bug in layercake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// With the named edits alone, the output is not as on the head.
    Incomplete {
        /// The output.
        output: DocKey,
    },
    /// Without the edit, the output is not as on the head, and the edit is not named.
    Unnamed {
        /// The edit.
        edit: EditId,
        /// The output.
        output: DocKey,
    },
    /// Without the texts that stop the edit in a document, it still has no effect.
    Shield {
        /// The edit.
        edit: EditId,
        /// Document of the last of these texts.
        output: DocKey,
    },
    /// Without all edits that have no effect on an output, the output is not as on the head.
    Effective {
        /// The output.
        output: DocKey,
    },
}

/// Result of the check of a site.
#[derive(Default)]
pub(super) struct Checked {
    /// Statements that do not hold.
    pub(super) faults: Vec<Fault>,
    /// Edits of statements that were not checked, because no more renderings were allowed.
    pub(super) unchecked: BTreeSet<EditId>,
}

/// Checks the statements about a site. Every concerned edit is reverted alone, and all edits without
/// effect together; every output is rendered with its named edits alone.
pub(super) fn checked(
    question: &Question<'_>,
    changes: &[Change],
    attributed: &Attributed,
) -> Checked {
    let trials = Trials::new(question, changes);
    let mut checked = Checked::default();
    let Checked { faults, unchecked } = &mut checked;
    for (index, change) in changes.iter().enumerate() {
        let Some(found) = trials.with(&change.edits) else {
            unchecked.extend(change.edits.iter().copied());
            continue;
        };
        let is_other = found.beside.contains(&index)
            || found.units.iter().any(|target| target.change == index);
        if is_other {
            faults.push(Fault::Incomplete {
                output: change.key.clone(),
            });
        }
    }
    for edit in question.concerned {
        let Some(found) = trials.without(&[*edit]) else {
            unchecked.insert(*edit);
            continue;
        };
        let outputs: BTreeSet<usize> = found
            .units
            .iter()
            .map(|target| target.change)
            .chain(found.beside.iter().copied())
            .collect();
        let unnamed = outputs
            .into_iter()
            .map(|index| &changes[index])
            .filter(|change| change.edits.binary_search(edit).is_err())
            .map(|change| &change.key);
        let known = attributed.kept.get(edit);
        let kept = found
            .kept
            .iter()
            .filter(|output| !known.is_some_and(|it| it.contains(*output)));
        faults.extend(unnamed.chain(kept).map(|output| Fault::Unnamed {
            edit: *edit,
            output: output.clone(),
        }));
    }
    let inert: Vec<EditId> = question
        .concerned
        .iter()
        .filter(|edit| !attributed.proofs.contains_key(edit))
        .copied()
        .collect();
    match trials.without(&inert) {
        Some(found) => {
            let changed = found.units.iter().map(|target| &changes[target.change].key);
            let outputs: BTreeSet<&DocKey> = changed.chain(&found.kept).collect();
            faults.extend(outputs.into_iter().map(|output| Fault::Effective {
                output: output.clone(),
            }));
        }
        None => unchecked.extend(inert),
    }
    let mut shields: BTreeMap<EditId, Vec<&Shield>> = BTreeMap::new();
    for (edit, shield) in &attributed.shields {
        shields.entry(*edit).or_default().push(shield);
    }
    for (edit, shields) in shields {
        // Both renderings of `passes_without`.
        if trials.count().and_then(|()| trials.count()).is_none() {
            unchecked.insert(edit);
        } else if passes_without(question, edit, &shields) == Some(false) {
            let output = shields[shields.len() - 1].document.clone();
            faults.push(Fault::Shield { edit, output });
        }
    }
    checked
}

/// Returns whether an edit of a value changes an output of the head if the texts that stop it are
/// removed; `None` if they are not all values of documents.
fn passes_without(question: &Question<'_>, edit: EditId, shields: &[&Shield]) -> Option<bool> {
    let side = question.head?;
    let edit = &question.edits[edit.index()];
    let doc = side
        .graph
        .iter()
        .find(|(_, recipe)| recipe.key == edit.document)?
        .0;
    let mut with = copy(side.graph);
    for shield in shields {
        let recipe = with
            .recipes
            .iter_mut()
            .find(|recipe| recipe.span.contains(shield.by))?;
        let location = first_inside(&recipe.data, |node, _| node.span == shield.by)?;
        location.remove(&mut Arc::make_mut(recipe).data)?;
    }
    let mut without = copy(&with);
    let data = &mut Arc::make_mut(&mut without.recipes[doc.index()]).data;
    let base = edit.base.as_ref().and_then(|text| text.node.clone());
    match (base, &edit.head) {
        (Some(base), Some(_)) => *edit.location.get_mut(data)? = base,
        (None, Some(_)) => drop(edit.location.remove(data)?),
        (Some(base), None) => {
            let (Some(Piece::Key(key)), Some(parent)) =
                (edit.location.0.last(), edit.location.parent())
            else {
                return None;
            };
            let Value::Mapping(entries) = &mut parent.get_mut(data)?.value else {
                return None;
            };
            Arc::make_mut(entries).insert(key.clone(), base);
        }
        (None, None) => return None,
    }
    let [with, without] = [&with, &without].map(render);
    let mut outputs = side
        .graph
        .outputs()
        .map(|(doc, _)| (with.data(doc), without.data(doc)))
        .filter_map(|(with, without)| Some((with?, without?)));
    Some(outputs.any(|(with, without)| !same(with, without)))
}

fn copy(graph: &Graph) -> Graph {
    Graph {
        recipes: graph.recipes.clone(),
        ..*graph
    }
}
