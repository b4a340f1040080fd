//! `unexpected-change`: an edit that changes outputs which were to stay as
//! they are.

use super::{Gates, Reached};
use crate::compare::{Change, Status};
use crate::diagnostic::{Diagnostic, Label};

super::rule!("unexpected-change", Error, "an edit that changes outputs which were to stay");

pub(super) fn check(reached: &Reached<'_>, gates: &Gates) -> Option<Diagnostic> {
    let expected = gates.unchanged.as_ref()?;
    let changed: Vec<_> = reached
        .outputs()
        .filter(|change| change.status != Status::Metadata)
        .filter(|change| expected.has(change.site.as_deref(), &change.key))
        .collect();
    let count = match changed.len() {
        0 => return None,
        1 => "1 output that was".to_owned(),
        count => format!("{count} outputs that were"),
    };
    let name = &reached.reach.edit.document.name;
    let message = format!("this edit of `{name}` changes {count} expected to stay unchanged");
    let label = Label::new(reached.reach.edit.at(), reached.label());
    let mut finding = Diagnostic::new(&RULE, message, label)
        .help("take the edit back, or expect less: `--expect-unchanged=GLOB`");
    finding.documents = reached.documents();
    finding.sites = changed.iter().filter_map(|change| change.site.clone()).collect();
    finding.sites.sort();
    finding.sites.dedup();
    Some(finding)
}

/// A change that no edit explains is as little expected as any other.
pub(super) fn check_unexplained(change: &Change, gates: &Gates) -> Option<Diagnostic> {
    let expected = gates.unchanged.as_ref()?;
    if change.status == Status::Metadata || !expected.has(change.site.as_deref(), &change.key) {
        return None;
    }
    let message = format!("`{}` was expected to stay unchanged", change.key.name);
    let label = Label::new(change.at, "it is rendered to something else, and no edit explains it");
    let mut finding = Diagnostic::new(&RULE, message, label)
        .note("that no edit explains it is a fault of layercake: please report it");
    finding.documents.push(change.key.clone());
    finding.sites.extend(change.site.clone());
    Some(finding)
}
