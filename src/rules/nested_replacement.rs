//! `nested-replacement`: a replacement is replaced itself.

use super::{SiteFacts, of_layer};
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;

super::rule!("nested-replacement", Error [Refused], "a replacement is replaced itself", was "P005");

pub(super) fn word(facts: &SiteFacts<'_>, middle: DocId, last: DocId) -> Diagnostic {
    let (replaced, document) = (facts.document(middle), facts.document(last));
    let title = facts.name(last);
    let label =
        Label::new(document.replacement.unwrap_or(document.name_span), "replaces a replacement");
    let message = format!("`{title}` replaces a document that is a replacement itself");
    let note = if replaced.is_abstract {
        "Deckhand accepts this where the one in the middle is abstract, \
         and the order of documents decides which of the two others substitute from"
    } else {
        "Deckhand refuses the whole site; here the last replacement stands"
    };
    Diagnostic::new(&RULE, message, label)
        .related(
            replaced.replacement.unwrap_or(replaced.name_span),
            format!("`{title}` {} is a replacement already", of_layer(&replaced.key)),
        )
        .note(note)
        .help("put both into one replacement, or give the one in the middle a name of its own")
        .document(document.key.clone())
        .document(replaced.key.clone())
}
