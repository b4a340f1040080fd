//! `invalid-site-definition`: site definition without a site type.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::rule!("invalid-site-definition", Error [Cause], "site definition without a site type", was "P011");

pub(super) fn report(at: Span) -> Diagnostic {
    let label = Label::new(at, "`data.site_type` is missing or not a string");
    Diagnostic::new(
        &RULE,
        "site definition without a valid `data.site_type`",
        label,
    )
    .note("the files of this site cannot be determined, so it is not rendered")
    .help("set `data.site_type` to the name of a folder below `type/`")
}
