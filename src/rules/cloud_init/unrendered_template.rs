//! `unrendered-template`: a part that is a Jinja template.

use super::UserDataFacts;
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::source::Span;
use crate::system::cloud_init::part::CloudPart;

super::super::rule!(
    "unrendered-template",
    Note,
    "part that is a template, which layercake does not render"
);

/// Finding for a template that cloud-init renders.
pub(super) fn report(part: &CloudPart) -> Diagnostic {
    let label = Label::new(part.at, "rendered at boot, with data of the instance");
    Diagnostic::new(
        &RULE,
        "Jinja template that layercake does not render",
        label,
    )
    .note("layercake merges without its content")
}

/// Finding for a template that cloud-init does not render either.
pub(super) fn report_never(facts: &UserDataFacts<'_>, at: Span) -> Diagnostic {
    let label = Label::new(facts.first_line(at), "declared as a template");
    let message = "Jinja template that cloud-init does not render";
    let finding = Diagnostic::new(&RULE, message, label)
        .note(
            "its content type is `text/cloud-config`: it is merged unchanged, with its `{{` and \
             `{%`",
        )
        .help("use the type `text/jinja2`, or `text/plain` to detect the type by the first line");
    Diagnostic {
        severity: Severity::Warning,
        ..finding
    }
}
