//! `unreadable-file`: a file that cannot be read.

use super::{FileContents, FileFacts};
use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::rule!("unreadable-file", Error [Unreadable], "a file that cannot be read", was "P007");

pub(super) fn word(facts: &FileFacts<'_>, reason: &str) -> Diagnostic {
    let message = format!("a file that cannot be read: {reason}");
    let label = Label::new(Span::point(facts.file, 0), reason);
    Diagnostic::new(&RULE, message, label)
        .note(match facts.holds {
            FileContents::Documents => {
                "its documents are missing, and other findings may come of that"
            }
            FileContents::Parts => "its parts are missing, and other findings may come of that",
        })
        .help(match facts.holds {
            FileContents::Documents => "make it readable, or move it out of the layer folders",
            FileContents::Parts => {
                "make it readable, or leave it out of the sets in `cloud-config`"
            }
        })
}
