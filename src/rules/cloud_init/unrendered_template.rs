//! `unrendered-template`: a part that is a Jinja template.

use super::UserDataFacts;
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::Span;
use crate::system::cloud_init::part::CloudPart;

super::super::rule!(
    "unrendered-template",
    Note,
    "part that is a template, which layercake does not render"
);

/// Finding for a template that cloud-init renders.
pub(super) fn report(part: &CloudPart) -> Diagnostic {
    RULE.finding(
        "Jinja template that layercake does not render",
        part.at,
        "rendered at boot, with data of the instance",
    )
    .note("layercake merges without its content")
}

/// Finding for a template that cloud-init does not render either.
pub(super) fn report_never(facts: &UserDataFacts<'_>, at: Span) -> Diagnostic {
    let message = "Jinja template that cloud-init does not render";
    let finding = RULE
        .finding(message, facts.first_line(at), "declared as a template")
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
