//! `invalid-site-definition`: site definition without a site type.

use crate::diagnostic::Diagnostic;
use crate::source::Span;

super::rule!("invalid-site-definition", Error [Cause], "site definition without a site type", was "P011");

pub(super) fn report(at: Span) -> Diagnostic {
    RULE.finding(
        "site definition without a valid `data.site_type`",
        at,
        "`data.site_type` is missing or not a string",
    )
    .note("the files of this site cannot be determined, so it is not rendered")
    .help("set `data.site_type` to the name of a folder below `type/`")
}
