//! `clashing-path`: two paths that are one on some systems.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::{FileId, RepoPath, Span};

super::rule!("clashing-path", Warning, "two paths that are one on some systems");

pub(super) fn word(
    (file, path): (FileId, &RepoPath),
    (other, other_path): (FileId, &RepoPath),
) -> Diagnostic {
    let is_case = path.as_str().to_lowercase() == other_path.as_str().to_lowercase();
    let differ = if is_case { "in case" } else { "in how letters are encoded" };
    let message = format!("`{path}` and `{other_path}` differ only {differ}");
    let label = |path: &RepoPath| format!("of `{path}`");
    Diagnostic::new(&RULE, message, Label::new(Span::point(file, 0), label(path)))
        .related(Span::point(other, 0), label(other_path))
        .note("macOS and Windows take them for one: a clone there has only one of them")
        .help("rename one of them")
        .about(path.as_str())
}
