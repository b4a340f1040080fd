//! `config-changed`: the head changes the configuration, but the base's configuration is used.

use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};

super::rule!(
    "config-changed",
    Note,
    "the head changes the configuration, but the base's configuration is used"
);

/// Finding for a configuration file that differs between base and head.
pub(crate) fn report_changed_configuration(file: FileId) -> Diagnostic {
    RULE.finding(
        "the configuration differs from the one in the base",
        Span::point(file, 0),
        "not used in this run",
    )
    .note("`--config-from-base` applies the configuration from before the change")
    .help("review the new configuration: it applies from the next change on")
}
