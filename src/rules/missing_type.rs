//! `missing-type`: a site's type has no folder.

use std::sync::Arc;

use super::did_you_mean::word_edit;
use crate::diagnostic::{Diagnostic, NeededBy};
use crate::source::{SourceMap, Spanned};

super::rule!(
    "missing-type",
    Error [Absence, Cause, UnsafelyFixable],
    "a site's type has no folder", was "P003"
);

pub(super) fn report(
    sources: &SourceMap,
    site_type: &Spanned<Arc<str>>,
    near: Option<&str>,
) -> Diagnostic {
    let name = &site_type.value;
    let message = format!("site type `{name}` has no folder below `type/`");
    let diagnostic = RULE
        .finding(
            message.clone(),
            site_type.span,
            format!("no files below `type/{name}/`"),
        )
        .absent("type", message, NeededBy::Site)
        .note("Pegleg silently renders the site without the documents of a type");
    match near {
        Some(near) => diagnostic.did_you_mean(near, word_edit(sources, site_type.span, name, near)),
        None => diagnostic.help(format!("add `type/{name}/`, or use an existing type")),
    }
}
