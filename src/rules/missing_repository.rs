//! `missing-repository`: a site names a repository that was not given.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Label};
use crate::source::Spanned;

super::rule!(
    "missing-repository",
    Error[UnknownDocuments],
    "a site names a repository that was not given"
);

pub(super) fn word(name: &Spanned<Arc<str>>) -> Diagnostic {
    let label = Label::new(name.span, "the site is made of this repository's documents too");
    let message = format!("repository `{}` of the site definition is not given", name.value);
    Diagnostic::new(&RULE, message, label)
        .note("its documents are not known")
        .help(format!("check it out and give `--repository {}=PATH`", name.value))
}
