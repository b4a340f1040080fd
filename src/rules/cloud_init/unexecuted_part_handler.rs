//! `unexecuted-part-handler`: a part that is Python code for other parts.

use super::UserDataFacts;
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::Span;
use crate::system::cloud_init::part::CloudPart;

super::super::rule!(
    "unexecuted-part-handler",
    Note,
    "part handler, which layercake does not execute"
);

/// Finding for a part handler that cloud-init executes.
pub(super) fn report(part: &CloudPart) -> Diagnostic {
    RULE.finding(
        "part handler that layercake does not execute",
        part.at,
        "executed at boot",
    )
    .note(
        "cloud-init passes the later parts of its types to it, even cloud-config; the merged \
         result may differ",
    )
}

/// Finding for a part handler at which cloud-init fails.
pub(super) fn report_not_utf8(facts: &UserDataFacts<'_>, at: Span) -> Diagnostic {
    let message = "a part handler is not UTF-8";
    let finding = RULE
        .finding(message, facts.first_line(at), "invalid byte")
        .note("cloud-init fails when it writes the handler to a file, and merges no part after it")
        .help("save it as UTF-8");
    Diagnostic {
        severity: Severity::Error,
        ..finding
    }
}

/// Finding for a part handler that cloud-init cannot register.
pub(super) fn report_without(facts: &UserDataFacts<'_>, at: Span, function: &str) -> Diagnostic {
    let message = format!("a part handler does not define `{function}`");
    let finding = RULE
        .finding(message, facts.first_line(at), "this handler")
        .note("cloud-init calls `list_types` for its types, and `handle_part` for each part")
        .help(format!("define the function `{function}`"));
    Diagnostic {
        severity: Severity::Error,
        ..finding
    }
}
