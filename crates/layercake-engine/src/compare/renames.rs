//! Matching of the outputs of renamed documents.

use std::collections::BTreeMap;

use super::texts::{Texts, edits_overlapping};
use super::{Output, Side};
use crate::edit::{Edit, EditId, EditKind};
use crate::graph::DocId;

/// Edits that renamed documents, by the source texts of the names.
pub struct Renames {
    is_empty: bool,
    /// For the base and for the head.
    texts: [Texts; 2],
}

impl Renames {
    /// Selects the renames among the `concerned` edits.
    pub fn of(edits: &[Edit], concerned: &[EditId]) -> Self {
        let renames: Vec<EditId> = concerned
            .iter()
            .filter(|id| edits[id.index()].kind == EditKind::Renamed)
            .copied()
            .collect();
        let texts = [
            Texts::of(edits, &renames, |edit| edit.base.as_ref()),
            Texts::of(edits, &renames, |edit| edit.head.as_ref()),
        ];
        Self {
            is_empty: renames.is_empty(),
            texts,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Joins outputs that exist on one side each, if a single edit renamed the document of one to
    /// that of the other.
    pub(super) fn joined(
        &self,
        outputs: Vec<Output>,
        base: &Side<'_>,
        head: &Side<'_>,
    ) -> Vec<Output> {
        let mut gone = BTreeMap::new();
        let mut came = BTreeMap::new();
        let (mut joined, alone): (Vec<Output>, Vec<Output>) = outputs
            .into_iter()
            .partition(|output| output.base.is_some() && output.head.is_some());
        for output in alone {
            let (side, doc, known) = match (output.base, output.head) {
                (Some(doc), _) => (base, doc, &mut gone),
                (None, Some(doc)) => (head, doc, &mut came),
                (None, None) => continue,
            };
            match self.of_document(side, doc) {
                Some(rename) => known.entry(rename).or_insert_with(Vec::new).push(doc),
                None => joined.push(output),
            }
        }
        for (rename, docs) in gone {
            match (&docs[..], came.get(&rename).map(Vec::as_slice)) {
                ([before], Some([after])) => {
                    joined.push(Output {
                        base: Some(*before),
                        head: Some(*after),
                    });
                    came.remove(&rename);
                }
                _ => joined.extend(docs.into_iter().map(|doc| Output {
                    base: Some(doc),
                    head: None,
                })),
            }
        }
        let came = came.into_values().flatten();
        joined.extend(came.map(|doc| Output {
            base: None,
            head: Some(doc),
        }));
        joined
    }

    /// Returns the edit that renamed a document of either side.
    fn of_document(&self, side: &Side<'_>, doc: DocId) -> Option<EditId> {
        let span = side.graph.recipe(doc).span;
        edits_overlapping(self.texts.iter().map(|texts| (texts, span)))
            .first()
            .copied()
    }
}
