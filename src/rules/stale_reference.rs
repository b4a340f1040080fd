//! `stale-reference`: a document that nothing uses names one that is in no site.
//!
//! `missing_reference` comes to these documents after all others, and reports both.

super::rule!(
    "stale-reference",
    Note[Everywhere],
    "a document that nothing names itself names another that no site renders"
);

pub(super) const NOTE: &str =
    "nothing that is deployed leads here, so that nobody stumbles over it yet";
