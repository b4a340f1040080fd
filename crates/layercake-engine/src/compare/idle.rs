//! Reasons why edits without effect have none.

use std::collections::BTreeMap;

use super::{Attributed, Question};
use crate::edit::{Edit, EditId, Part};

/// Reason why an edit changes no output, although nothing overrides it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Idle {
    /// The output has the same value without it.
    SameValue,
    /// The document is not an output, and no other document needs it.
    NotUsed,
    /// No compared site has the document.
    NoSite,
}

impl Idle {
    /// Returns the reason as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Idle::SameValue => "the output has this value without it",
            Idle::NotUsed => "no output uses it",
            Idle::NoSite => "no compared site has it",
        }
    }
}

/// Returns the edits of a site that had no effect there and met no shield, with the reason if it is
/// known.
pub fn idle(question: &Question<'_>, attributed: &Attributed) -> BTreeMap<EditId, Option<Idle>> {
    let idle = question
        .concerned
        .iter()
        .filter(|edit| {
            !attributed.proofs.contains_key(edit)
                && !attributed.kept.contains_key(edit)
                && !attributed.shielded.contains(edit)
        })
        .copied();
    idle.map(|edit| (edit, reason(question, &question.edits[edit.index()])))
        .collect()
}

fn reason(question: &Question<'_>, edit: &Edit) -> Option<Idle> {
    let text = edit.head.as_ref().or(edit.base.as_ref())?;
    if edit.part != Part::Data || text.node.is_none() {
        return None;
    }
    let side = question
        .head
        .filter(|_| edit.head.is_some())
        .or(question.base)?;
    let doc = side.doc_of(&edit.document)?;
    if !side.graph.recipe(doc).emit {
        // Of a document that others need, the value may be used without a change.
        let mut recipes = side.graph.recipes.iter();
        return (!recipes.any(|recipe| recipe.needs.iter().any(|need| need.doc == doc)))
            .then_some(Idle::NotUsed);
    }
    let value = edit.location.get(side.rendered.data(doc)?)?;
    (text.node.as_ref() == Some(value)).then_some(Idle::SameValue)
}
