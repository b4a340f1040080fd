//! `unreadable-file`: file that cannot be read.

use super::{FileContents, FileFacts};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

super::rule!("unreadable-file", Error [Unreadable, Cause], "file that cannot be read", was "P007");

pub(super) fn report(facts: &FileFacts<'_>, reason: &str) -> Diagnostic {
    let message = format!("cannot read file: {reason}");
    RULE.finding(message, Span::point(facts.file, 0), reason)
        .note(match facts.holds {
            FileContents::Documents => "its documents are missing, which may cause other findings",
            FileContents::Parts => "its parts are missing, which may cause other findings",
        })
        .help(match facts.holds {
            FileContents::Documents => "make it readable, or move it out of the layer folders",
            FileContents::Parts => "make it readable, or remove it from the sets in `cloud-config`",
        })
}
