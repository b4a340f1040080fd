//! `ignored-revision`: `revision` in a site definition, beside folders of other revisions.

use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::source::{RepoPath, Spanned};

super::rule!(
    "ignored-revision",
    Warning,
    "`revision` in a site definition, which no longer selects folders"
);

/// Maximum number of folders listed.
const MAX_FOLDERS: usize = 4;

pub(super) fn report(revision: &Spanned<Arc<str>>, others: &[RepoPath]) -> Diagnostic {
    let name = &revision.value;
    let mut folders: Vec<String> = others
        .iter()
        .take(MAX_FOLDERS)
        .map(|folder| format!("`{folder}/`"))
        .collect();
    if others.len() > MAX_FOLDERS {
        folders.push(format!("{} more", others.len() - MAX_FOLDERS));
    }
    RULE.finding(
        format!("`revision: {name}` does not select folders"),
        revision.span,
        "selects no folder",
    )
    .note(format!(
        "until 2018 Pegleg read only the folders `common` and `{name}` of each layer; now it \
             reads all of them, as layercake does"
    ))
    .note(format!(
        "the site also includes folders of other revisions: {}",
        folders.join(", ")
    ))
    .help(
        "keep the folders of one revision, and move the others to commits or branches of their \
             own; then remove `revision`",
    )
}
