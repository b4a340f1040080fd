//! `internal-error`: layercake itself failed.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::{FileId, Span};

super::rule!("internal-error", Error, "layercake itself failed");

pub(super) fn word(file: FileId) -> Diagnostic {
    let label = Label::new(Span::point(file, 0), "the documents that failed begin with this file");
    finding("layercake itself failed, and this site is not checked", label)
}

pub(super) fn word_file(at: Span) -> Diagnostic {
    let label = Label::new(at, "not all of this file is read");
    finding("layercake itself failed while it read a file", label)
}

fn finding(message: &str, label: Label) -> Diagnostic {
    Diagnostic::new(&RULE, message, label)
        .note("this is a fault of layercake; nothing here says that the documents are wrong")
        .help("please report it, with the message on standard error and the smallest files you can")
}
