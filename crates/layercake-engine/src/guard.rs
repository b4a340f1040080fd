//! What a fault of layercake itself costs: the one thing that was being made,
//! and nothing else.
//!
//! Work that may fail so is named by its [`Place`] and done in [`guarded`]. What
//! becomes of what was not made, and in which words it is told, is for the
//! caller to know. Where such a fault happened, `cli/` prints.
//!
//! A fault can be planted ([`plant`]), to see what it costs.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// What is being made, or looked at.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// A file, while it is parsed.
    File(&'a str),
    /// A file, while its documents are read.
    Documents(&'a str),
    /// A document of this file, while it is read.
    Reading(&'a str),
    /// A file of what cloud-init is given, while its parts are read.
    Parts(&'a str),
    /// A document of this name, while it is rendered.
    Document(&'a str),
    /// A rule of this name, while it looks for what it finds.
    Rule(&'a str),
    /// A finding of what this text says of a document, while it is put into
    /// words.
    Words(&'a str),
    /// A site, while its documents are related to each other, or between two
    /// places that have names of their own.
    Site(&'a str),
    /// A site, while what was asked for is taken from it.
    Taking(&'a str),
    /// Two sides of a site, while they are compared.
    Comparison(&'a str),
    /// A whole run, of which nothing is left then.
    Run,
}

/// As [`plant`] is given it: `document:NAME`.
impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, name) = match self {
            Place::File(name) => ("file", name),
            Place::Documents(name) => ("documents", name),
            Place::Reading(name) => ("reading", name),
            Place::Parts(name) => ("parts", name),
            Place::Document(name) => ("document", name),
            Place::Rule(name) => ("rule", name),
            Place::Words(name) => ("words", name),
            Place::Site(name) => ("site", name),
            Place::Taking(name) => ("taking", name),
            Place::Comparison(name) => ("comparison", name),
            Place::Run => ("run", &""),
        };
        write!(f, "{kind}:{name}")
    }
}

/// What `work` gives; none where it met a fault of layercake. The caller must
/// not use anything that `work` was changing then.
pub fn guarded<T>(place: Place<'_>, work: impl FnOnce() -> T) -> Option<T> {
    let done = catch_unwind(AssertUnwindSafe(|| {
        fail_if_planted(place);
        work()
    }));
    done.ok()
}

static PLANTED: OnceLock<Vec<String>> = OnceLock::new();

/// Makes every work at one of these places fail from now on, in this process:
/// what a fault costs can so be seen without one. The first call counts.
pub fn plant(places: Vec<String>) {
    drop(PLANTED.set(places));
}

/// Where nothing is planted, this costs one look.
fn fail_if_planted(place: Place<'_>) {
    let Some(planted) = PLANTED.get() else { return };
    let place = place.to_string();
    assert!(!planted.contains(&place), "a fault is planted at {place}");
}
