//! `unused-configuration`: what the configuration says of files, sites,
//! sources or schemas that are not there.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::rule!(
    "unused-configuration",
    Warning,
    "the configuration speaks of files, sites, missing sources or schemas that are not there"
);

/// A glob or name of the configuration that matches nothing.
pub(crate) struct UnusedEntry<'a> {
    /// Its place.
    pub(crate) at: Span,
    /// The glob or name.
    pub(crate) glob: &'a str,
    /// The kind of thing that it should match.
    pub(crate) kind: UnusedKind,
}

/// The kind of thing that a glob of the configuration should match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnusedKind {
    /// A file.
    Path,
    /// A site.
    Site,
    /// A substitution source that is missing.
    MissingSource,
    /// A document of this schema.
    Schema,
}

/// The finding for a glob that matches nothing.
pub(crate) fn word_unused(entry: &UnusedEntry<'_>) -> Diagnostic {
    let (what, label) = match entry.kind {
        UnusedKind::Path => ("no file", "no file that is read has such a path"),
        UnusedKind::Site => ("no site", "no site has such a name"),
        UnusedKind::MissingSource => {
            ("no missing source", "no substitution lacks a source of such a schema and name")
        }
        UnusedKind::Schema => ("no document", "no document has this schema"),
    };
    let message = format!("`{}` in the configuration matches {what}", entry.glob);
    Diagnostic::new(&RULE, message, Label::new(entry.at, label))
        .note("what is configured for it has no effect")
        .help(match entry.kind {
            UnusedKind::Path | UnusedKind::Site | UnusedKind::MissingSource => {
                "mend the glob, or remove the entry"
            }
            UnusedKind::Schema => "mend the schema, or remove the entry",
        })
        .about(entry.glob)
}
