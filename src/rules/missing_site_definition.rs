//! `missing-site-definition`: a folder of sites without a site definition.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::{FileId, Span};

super::rule!("missing-site-definition", Error, "a folder of sites without a site definition", was "P010");

pub(super) fn word(file: FileId) -> Diagnostic {
    let label = Label::new(Span::point(file, 0), "there is no such file");
    Diagnostic::new(&RULE, "a folder below `site/` has no `site-definition.yaml`", label)
        .note(
            "its files are in no site; Pegleg refuses the whole repository, \
             `repo lint` and `site list` included",
        )
        .help("add the file, with `data.site_type`, or move the folder out of `site/`")
}
