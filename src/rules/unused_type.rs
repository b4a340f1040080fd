//! `unused-type`: a folder below `type/` that no site uses.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::{FileId, Span};

super::rule!("unused-type", Warning, "a folder below `type/` that no site uses", was "P003");

pub(super) fn word(file: FileId, site_type: &str) -> Diagnostic {
    let message = format!("no site is of the type `{site_type}`");
    let label = Label::new(Span::point(file, 0), "the first file of the type");
    Diagnostic::new(&RULE, message, label)
        .note(format!("the documents below `type/{site_type}/` are in no site"))
        .help(format!("remove `type/{site_type}/`, or name it in a site definition"))
        .about(site_type)
}
