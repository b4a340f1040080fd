//! `ignored-revision`: a site definition's `revision`, beside folders of other revisions.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Label};
use crate::source::{RepoPath, Spanned};

super::rule!(
    "ignored-revision",
    Warning,
    "a `revision` in a site definition, which no longer selects folders"
);

/// Maximum number of folders that are named.
const MAX_FOLDERS: usize = 4;

pub(super) fn word(revision: &Spanned<Arc<str>>, others: &[RepoPath]) -> Diagnostic {
    let name = &revision.value;
    let mut folders: Vec<String> =
        others.iter().take(MAX_FOLDERS).map(|folder| format!("`{folder}/`")).collect();
    if others.len() > MAX_FOLDERS {
        folders.push(format!("{} more", others.len() - MAX_FOLDERS));
    }
    let label = Label::new(revision.span, "no folder is selected by this");
    Diagnostic::new(&RULE, format!("`revision: {name}` does not select folders"), label)
        .note(format!(
            "until 2018 Pegleg read of each layer only the folders `common` and `{name}`; since \
             then it reads all of them, as layercake does"
        ))
        .note(format!("the site is made of folders of other revisions too: {}", folders.join(", ")))
        .help(
            "keep the folders of one revision, and the others in commits or branches of their own; \
             then remove `revision`",
        )
}
