//! `missing-type`: a site's type has no folder.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Label};
use crate::source::Spanned;

super::rule!("missing-type", Error [Absence], "a site's type has no folder", was "P003");

pub(super) fn report(site_type: &Spanned<Arc<str>>, near: Option<&str>) -> Diagnostic {
    let name = &site_type.value;
    let label = Label::new(site_type.span, format!("no files below `type/{name}/`"));
    let message = format!("site type `{name}` has no folder below `type/`");
    Diagnostic::new(&RULE, message, label)
        .note("Pegleg silently renders the site without the documents of a type")
        .help(match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("add `type/{name}/`, or use an existing type"),
        })
}
