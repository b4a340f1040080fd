//! `missing-site-definition`: site folder without a site definition.

use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};

super::rule!("missing-site-definition", Error [Cause], "site folder without a site definition", was "P010");

pub(super) fn report(file: FileId) -> Diagnostic {
    RULE.finding(
        "folder below `site/` without a `site-definition.yaml`",
        Span::point(file, 0),
        "this file does not exist",
    )
    .note(
        "its files belong to no site; Pegleg rejects the whole repository, including in `repo \
             lint` and `site list`",
    )
    .help("add the file, with `data.site_type`, or move the folder out of `site/`")
}
