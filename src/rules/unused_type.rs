//! `unused-type`: a type that no site has.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::{FileId, Span};

super::rule!("unused-type", Note, "a type that no site has", was "P003");

pub(super) fn word(file: FileId, name: &str) -> Diagnostic {
    let message = format!("no site has the type `{name}`");
    let label = Label::new(Span::new(file, 0, 0), format!("the first file of `type/{name}/`"));
    Diagnostic::new(&RULE, message, label)
        .note(
            "documents of a type that no site has are never rendered, and never checked as a whole",
        )
        .help("remove the folder, or name the type in a site definition")
        .about(name)
}
