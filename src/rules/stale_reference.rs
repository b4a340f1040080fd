//! `stale-reference`: a document that nothing uses names one that is in no site.

use super::{SiteFacts, missing_reference};
use crate::diagnostic::Diagnostic;

super::rule!(
    "stale-reference",
    Note[Everywhere],
    "a document that nothing names itself names another that no site renders"
);

pub(super) fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let mut stale = Vec::new();
    missing_reference::check_unreached(&RULE, facts, &mut stale);
    found.extend(stale.into_iter().map(|finding| finding.note(NOTE)));
}

const NOTE: &str = "nothing that is deployed leads here, so that nobody stumbles over it yet";
