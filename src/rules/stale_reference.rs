//! `stale-reference`: an unreferenced document refers to a document that no site renders.
//!
//! `missing_reference` visits these documents last, and reports both kinds.

super::rule!(
    "stale-reference",
    Note[Everywhere],
    "unreferenced document that refers to a document no site renders"
);

pub(super) const NOTE: &str =
    "no deployed document refers to this document, so it has no effect yet";
