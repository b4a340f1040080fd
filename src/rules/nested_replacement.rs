//! `nested-replacement`: a replacement is itself replaced.

use super::{SiteFacts, of_layer};
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;

super::rule!("nested-replacement", Error [Refused], "a replacement is itself replaced", was "P005");

pub(super) fn report(facts: &SiteFacts<'_>, middle: DocId, last: DocId) -> Diagnostic {
    let replaced = facts.document(middle);
    let document = facts.document(last);
    let title = facts.name(last);
    let label = Label::new(
        document.replacement.unwrap_or(document.name_span),
        "replaces a replacement",
    );
    let message = format!("`{title}` replaces a document that is itself a replacement");
    let note = if replaced.is_abstract {
        "Deckhand accepts this if the one in the middle is abstract, and the document order \
         decides which of the other two substitutions read"
    } else {
        "Deckhand refuses the whole site; layercake uses the last replacement"
    };
    Diagnostic::new(&RULE, message, label)
        .related(
            replaced.replacement.unwrap_or(replaced.name_span),
            format!(
                "`{title}` {} is already a replacement",
                of_layer(&replaced.key)
            ),
        )
        .note(note)
        .help("combine both into one replacement, or rename the one in the middle")
        .document(&document.key)
        .document(&replaced.key)
}
