//! `unusual-yaml`: YAML that only libyaml and PyYAML accept.

use super::FileFacts;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

super::rule!(
    "unusual-yaml",
    Warning,
    "YAML that only libyaml and PyYAML accept"
);

pub(super) fn report(facts: &FileFacts<'_>, at: Span, description: &str) -> Diagnostic {
    let message = format!("unusual YAML: {description}");
    let finding = RULE
        .finding(message, at, "not allowed in YAML 1.2")
        .note("libyaml and PyYAML accept it; other parsers refuse it or read another value")
        .help("write a space before a comment, quote `-`, and end lines with a line feed");
    match facts
        .documents
        .iter()
        .find(|document| document.span.contains(at))
    {
        Some(document) => finding.document(&document.key),
        None => finding,
    }
}
