//! `empty-document`: a YAML document without content.

use super::REFUSED;
use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::rule!("empty-document", Error[Refused], "a YAML document without content");

pub(super) fn word(at: Span, more: usize) -> Diagnostic {
    let label = Label::new(at, "nothing but comments comes after this");
    let finding = Diagnostic::new(&RULE, "a YAML document without content", label)
        .note(format!("{REFUSED}, and `pegleg site render` ends in a traceback"))
        .help("remove one of the `---` lines round it");
    match more {
        0 => finding,
        _ => finding.note(format!("its file has {more} more such documents")),
    }
}
