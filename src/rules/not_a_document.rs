//! `not-a-document`: YAML document that is not a Deckhand document.

use super::FileFacts;
use super::foreign::ForeignForm;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

super::rule!("not-a-document", Error [Refused, Cause, UnreadDocument], "YAML document that is not a Deckhand document", was "P007");

pub(super) fn report(facts: &FileFacts<'_>, at: Span, found: &str) -> Diagnostic {
    let form = ForeignForm::of_document(facts, at);
    let message = match form {
        Some(form) => format!(
            "not a Deckhand document: the file contains {}",
            form.subject()
        ),
        None => format!("not a Deckhand document, but {found}"),
    };
    RULE.finding(message, at, format!("this is {found}"))
        .about(form.map_or("", ForeignForm::subject))
        .note("Deckhand refuses the whole site; Pegleg fails with a traceback for all sites that read the file")
        .help(if is_cloud_config(facts) {
            "the first line marks it as a cloud-init part: declare it in a set under \
             `cloud-config` in `layercake.yaml`; Pegleg still reads it if its name ends in `.yaml`"
        } else {
            "add `schema`, `metadata` and `data`, or move the file out of the layer folders"
        })
}

/// Whether the file's first line is cloud-init's marker.
fn is_cloud_config(facts: &FileFacts<'_>) -> bool {
    const MARKER: &str = "#cloud-config";
    let text = facts.sources.get(facts.file).text().trim_start();
    text.get(..MARKER.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(MARKER))
}
