//! `unrendered-template`: a part that is a Jinja template.

use super::UserDataFacts;
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::source::Span;
use crate::system::cloud_init::part::CloudPart;

super::super::rule!("unrendered-template", Note, "a part that is a template, and is not rendered");

/// A template that cloud-init renders.
pub(super) fn word(part: &CloudPart) -> Diagnostic {
    let label = Label::new(part.at, "rendered at boot, with what only the instance knows");
    Diagnostic::new(&RULE, "a Jinja template, which is not rendered here", label)
        .note("what it holds is missing from what layercake merges")
}

/// A template that cloud-init does not render either.
pub(super) fn word_never(facts: &UserDataFacts<'_>, at: Span) -> Diagnostic {
    let label = Label::new(facts.first_line(at), "says that it is a template");
    let message = "a Jinja template that cloud-init does not render";
    let finding = Diagnostic::new(&RULE, message, label)
        .note(
            "its content type says that it is `text/cloud-config`: it is merged as it stands, \
             with its `{{` and `{%`",
        )
        .help("give it the type `text/jinja2`, or `text/plain` to let the first line count");
    Diagnostic { severity: Severity::Warning, ..finding }
}
