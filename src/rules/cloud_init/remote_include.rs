//! `remote-include`: a part that is fetched from a remote URL.

use super::UserDataFacts;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

super::super::rule!(
    "remote-include",
    Note,
    "part that is fetched from a remote URL"
);

pub(super) fn report(facts: &UserDataFacts<'_>, at: Span) -> Diagnostic {
    RULE.finding(
        "included file that is fetched at boot and unknown to layercake",
        facts.first_line(at),
        "not in the repository",
    )
    .note(
        "layercake merges without its content; if it cannot be fetched, cloud-init drops all \
             user-data",
    )
    .help("keep the file in the repository to see the merged result")
}
