//! `unused-type`: type that no site uses.

use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};

super::rule!("unused-type", Note, "type that no site uses", was "P003");

pub(super) fn report(file: FileId, name: &str) -> Diagnostic {
    let message = format!("no site uses the type `{name}`");
    RULE.finding(
        message,
        Span::new(file, 0, 0),
        format!("the first file of `type/{name}/`"),
    )
    .note("documents of an unused type are never rendered and only checked file by file")
    .help("remove the folder, or use the type in a site definition")
    .about(name)
}
