//! `not-a-document`: a YAML document that is no Deckhand document.

use super::FileFacts;
use super::foreign::ForeignForm;
use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::rule!("not-a-document", Error [Refused], "a YAML document that is no Deckhand document", was "P007");

pub(super) fn word(facts: &FileFacts<'_>, at: Span, found: &str) -> Diagnostic {
    let label = Label::new(at, format!("this is {found}"));
    let form = ForeignForm::of_document(facts, at);
    let message = match form {
        Some(form) => format!("no Deckhand document, but one of the {}", form.subject()),
        None => format!("a YAML document that is no Deckhand document, but {found}"),
    };
    Diagnostic::new(&RULE, message, label)
        .about(form.map_or("", ForeignForm::subject))
        .note("Deckhand refuses the whole site; Pegleg ends in a traceback for all sites that read the file")
        .help(if is_cloud_config(facts) {
            "its first line says that it is for cloud-init: declare it as a part of a set, under \
             `cloud-config` in `layercake.yaml`; Pegleg reads it still where its name ends in `.yaml`"
        } else {
            "give it `schema`, `metadata` and `data`, or move the file out of the layer folders"
        })
}

/// Whether the file's first line says that it is one of cloud-init's.
fn is_cloud_config(facts: &FileFacts<'_>) -> bool {
    const MARKER: &str = "#cloud-config";
    let text = facts.sources.get(facts.file).text().trim_start();
    text.get(..MARKER.len()).is_some_and(|start| start.eq_ignore_ascii_case(MARKER))
}
