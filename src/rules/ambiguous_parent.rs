//! `ambiguous-parent`: several documents of the nearest layer match a
//! parentSelector.

use super::{SiteFacts, of_layer};
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;
use crate::system::deckhand::Matches;

super::rule!(
    "ambiguous-parent",
    Error [Refused],
    "several documents in the nearest layer match a parentSelector",
    was "P005"
);

pub(super) fn report(facts: &SiteFacts<'_>, child: DocId, candidates: &Matches) -> Diagnostic {
    let document = facts.document(child);
    let title = facts.name(child);
    let message = format!("several documents match the parentSelector of `{title}`");
    let mut diagnostic = RULE
        .finding(
            message,
            facts.selector(child).span,
            "more than one document has these labels",
        )
        .note("Deckhand refuses the whole site; layercake uses the first one as the parent")
        .help("give the parent a label that is unique in its layer, and select that label")
        .document(&document.key);
    for candidate in &candidates.first {
        let key = &facts.document(*candidate).key;
        let found = format!("matches `{}` {}", facts.name(*candidate), of_layer(key));
        diagnostic = diagnostic
            .related(facts.label(*candidate, child), found)
            .document(key);
    }
    match candidates.more {
        0 => diagnostic,
        more => diagnostic.note(format!("it matches {more} more documents in that layer")),
    }
}
