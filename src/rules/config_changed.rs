//! `config-changed`: the configuration of the head is another than the one of the base, which counts.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::{FileId, Span};

super::rule!(
    "config-changed",
    Note,
    "the head changes the configuration; the base's is the one that counts"
);

/// The finding for a configuration file of the head that is not the one of the
/// base.
pub(crate) fn word_changed_configuration(file: FileId) -> Diagnostic {
    let label = Label::new(Span::point(file, 0), "not what this run went by");
    Diagnostic::new(&RULE, "the configuration is not the one of the base", label)
        .note("with `--config-from-base` a change is judged by the configuration before it")
        .help("look at what it changes: from the next change on, it counts")
}
