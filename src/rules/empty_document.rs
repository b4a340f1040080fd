//! `empty-document`: a YAML document without content.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::rule!("empty-document", Note, "a YAML document without content");

pub(super) fn word(at: Span, more: usize) -> Diagnostic {
    let label = Label::new(at, "nothing but comments comes after this");
    let finding = Diagnostic::new(&RULE, "a YAML document without content", label)
        .note("`pegleg site render` ends in a traceback on it, and Deckhand's API refuses it")
        .help("remove one of the `---` lines round it");
    match more {
        0 => finding,
        _ => finding.note(format!("its file has {more} more such documents")),
    }
}
