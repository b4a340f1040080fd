//! `unused-configuration`: configuration entry that matches no file, site, source or schema.

use crate::diagnostic::Diagnostic;
use crate::source::Span;

super::rule!(
    "unused-configuration",
    Warning[Everywhere],
    "configuration entry that matches no file, site, missing source or schema"
);

/// Glob or name in the configuration that matches nothing.
pub(crate) struct UnusedEntry<'a> {
    /// Its location.
    pub(crate) at: Span,
    /// The glob or name.
    pub(crate) glob: &'a str,
    /// Kind of thing that it should match.
    pub(crate) kind: UnusedKind,
}

/// Kind of thing that a configured glob should match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnusedKind {
    /// A file.
    Path,
    /// A site.
    Site,
    /// A missing substitution source.
    MissingSource,
    /// A document of this schema.
    Schema,
}

/// Finding for a glob that matches nothing.
pub(crate) fn report_unused(entry: &UnusedEntry<'_>) -> Diagnostic {
    let (what, label) = match entry.kind {
        UnusedKind::Path => ("no file", "no file that is read has a matching path"),
        UnusedKind::Site => ("no site", "no site has a matching name"),
        UnusedKind::MissingSource => (
            "no missing source",
            "no missing source has a matching schema and name",
        ),
        UnusedKind::Schema => ("no document", "no document has this schema"),
    };
    let message = format!("`{}` in the configuration matches {what}", entry.glob);
    RULE.finding(message, entry.at, label)
        .note("the entry has no effect")
        .help(match entry.kind {
            UnusedKind::Path | UnusedKind::Site | UnusedKind::MissingSource => {
                "correct the glob, or remove the entry"
            }
            UnusedKind::Schema => "correct the schema, or remove the entry",
        })
        .about(entry.glob)
}
