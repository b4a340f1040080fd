//! `empty-document`: YAML document without content.

use super::REFUSED;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

super::rule!(
    "empty-document",
    Error[Refused],
    "YAML document without content"
);

pub(super) fn report(at: Span, more: usize) -> Diagnostic {
    let finding = RULE
        .finding("YAML document without content", at, "only comments follow")
        .note(format!(
            "{REFUSED}, and `pegleg site render` fails with a traceback"
        ))
        .help("remove one of the `---` lines around it");
    match more {
        0 => finding,
        _ => finding.note(format!(
            "the file has {more} more documents without content"
        )),
    }
}
