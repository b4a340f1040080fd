//! `unexpected-change`: an edit that changes outputs that were expected to stay unchanged.

use super::{ExpectedUnchanged, Gates, ReachedEdit};
use crate::compare::Change;
use crate::diagnostic::Diagnostic;
use crate::edit::EditKind;

super::rule!(
    "unexpected-change",
    Error,
    "edit that changes outputs that were expected to stay unchanged"
);

pub(super) fn check(reached: &ReachedEdit<'_>, gates: &Gates) -> Option<Diagnostic> {
    let expected = gates.unchanged.as_ref()?;
    let changed: Vec<_> = reached
        .outputs()
        .filter(|change| change.is_visible() && is_expected(change, expected))
        .collect();
    // An edit of unknown content that reaches no output may have removed outputs.
    let is_unread = reached.reach.edit.kind.is_unknown();
    let is_unknown = is_unread && reached.reach.outputs == 0 || reached.reach.is_undecided();
    let count = match changed.len() {
        0 if is_unknown => "an unknown number of outputs".to_owned(),
        0 => return None,
        1 => "1 output that was".to_owned(),
        count => format!("{count} outputs that were"),
    };
    let name = &reached.reach.edit.document.name;
    let verb = match reached.reach.edit.kind {
        EditKind::File | EditKind::Repository => "cannot be read and may change",
        _ if is_unknown && changed.is_empty() => "was not followed completely and may change",
        _ => "changes",
    };
    let message = format!("this edit of `{name}` {verb} {count} expected to stay unchanged");
    let mut finding = RULE
        .finding(message, reached.reach.edit.at(), reached.label())
        .help("revert the edit, or narrow the expectation: `--expect-unchanged=GLOB`");
    finding.documents = reached.documents();
    finding.sites = changed
        .iter()
        .filter_map(|change| change.site.clone())
        .collect();
    finding.sites.sort();
    finding.sites.dedup();
    Some(finding)
}

/// Whether an output, under its new or old name, was expected to stay unchanged.
fn is_expected(change: &Change, expected: &ExpectedUnchanged) -> bool {
    let mut keys = std::iter::once(&change.key).chain(&change.renamed_from);
    keys.any(|key| expected.has(change.site.as_deref(), key))
}

/// Finding for an unexplained change of an output that was expected to stay unchanged.
pub(super) fn check_unexplained(change: &Change, gates: &Gates) -> Option<Diagnostic> {
    let expected = gates.unchanged.as_ref()?;
    if !change.is_visible() || !is_expected(change, expected) {
        return None;
    }
    let message = format!("`{}` was expected to stay unchanged", change.key.name);
    let mut finding = RULE
        .finding(
            message,
            change.at,
            "its rendered data changed, and no edit explains it",
        )
        .note("an unexplained change is a bug in layercake: please report it");
    finding.documents.push(change.key.clone());
    finding.sites.extend(change.site.clone());
    Some(finding)
}
