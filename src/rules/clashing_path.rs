//! `clashing-path`: two paths that are the same on some file systems.

use crate::diagnostic::Diagnostic;
use crate::source::{FileId, RepoPath, Span};

super::rule!(
    "clashing-path",
    Warning,
    "two paths that are the same on some file systems"
);

pub(super) fn report(
    file: FileId,
    path: &RepoPath,
    other: FileId,
    other_path: &RepoPath,
) -> Diagnostic {
    let is_case = path.as_str().to_lowercase() == other_path.as_str().to_lowercase();
    let differ = if is_case {
        "in case"
    } else {
        "in Unicode normalization"
    };
    let message = format!("`{path}` and `{other_path}` differ only {differ}");
    let label = |path: &RepoPath| format!("file `{path}`");
    RULE.finding(message, Span::point(file, 0), label(path))
        .related(Span::point(other, 0), label(other_path))
        .note("on macOS and Windows they are the same path, so a clone has only one of them")
        .help("rename one of them")
        .about(path.as_str())
}
