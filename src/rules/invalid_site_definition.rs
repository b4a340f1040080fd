//! `invalid-site-definition`: a site definition without a site type.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::rule!("invalid-site-definition", Error, "a site definition without a site type", was "P011");

pub(super) fn word(at: Span) -> Diagnostic {
    let label = Label::new(at, "`data.site_type` is missing, or no string");
    Diagnostic::new(&RULE, "a site definition without a usable `data.site_type`", label)
        .note("nobody can tell which files make this site, so it is not rendered")
        .help("set `data.site_type` to the name of a folder below `type/`")
}
