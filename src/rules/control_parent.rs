//! `control-parent`: a parentSelector matches a control document.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;

super::rule!(
    "control-parent",
    Warning,
    "a parentSelector matches a control document"
);

pub(super) fn report(facts: &SiteFacts<'_>, child: DocId, parent: DocId) -> Diagnostic {
    let title = facts.name(child);
    let control = facts.name(parent);
    let label = Label::new(
        facts.selector(child).span,
        format!("matches `{control}`, a control document"),
    );
    let message =
        format!("the parentSelector of `{title}` matches the control document `{control}`");
    let diagnostic = Diagnostic::new(&RULE, message, label)
        .related(
            facts.label(parent, child),
            format!("the label of `{control}`"),
        )
        .note(
            "Deckhand's documentation excludes control documents from layering, but its code uses \
             them as parents",
        )
        .help(format!(
            "remove the label from `{control}`; if it is meant to be a parent, its \
             `metadata.schema` must be `metadata/Document/v1`"
        ))
        .document(&facts.document(child).key)
        .document(&facts.document(parent).key);
    match facts.site.parent(child) {
        Some(_) => diagnostic,
        None => diagnostic
            .note("nothing else matches, so it has no parent, and its actions are skipped"),
    }
}
