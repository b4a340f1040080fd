//! Panic isolation: a bug in layercake costs only the unit of work that panicked.
//!
//! Each unit of work is named by its [`Place`] and run by [`guarded`]. The caller decides how to go
//! on without the result and how to report the failure. `cli/` prints the location of the panic.
//!
//! Tests can inject a panic with [`plant`].

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// Unit of work.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// A file that is parsed.
    File(&'a str),
    /// A file whose documents are read.
    Documents(&'a str),
    /// A document of this file that is read.
    Reading(&'a str),
    /// A cloud-init file whose parts are read.
    Parts(&'a str),
    /// A document of this name that is rendered.
    Document(&'a str),
    /// A rule of this name that is checked.
    Rule(&'a str),
    /// A finding of this kind that is formatted.
    Words(&'a str),
    /// A site whose documents are resolved, other than in the places with names of their own.
    Site(&'a str),
    /// A site from which the requested output is extracted.
    Taking(&'a str),
    /// Two sides of a site that are compared.
    Comparison(&'a str),
    /// A call of this tool by a client.
    Tool(&'a str),
    /// A whole run, which then has no result.
    Run,
}

/// Formats the place as [`plant`] expects it: `document:NAME`.
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
            Place::Tool(name) => ("tool", name),
            Place::Run => ("run", &""),
        };
        write!(f, "{kind}:{name}")
    }
}

/// Returns the result of `work`, or `None` if it panicked. The caller must then discard everything
/// that `work` may have changed.
pub fn guarded<T>(place: Place<'_>, work: impl FnOnce() -> T) -> Option<T> {
    let done = catch_unwind(AssertUnwindSafe(|| {
        fail_if_planted(place);
        work()
    }));
    done.ok()
}

static PLANTED: OnceLock<Vec<String>> = OnceLock::new();

/// Makes all work at these places panic from now on, in this process, to test the isolation. Only
/// the first call has an effect.
pub fn plant(places: Vec<String>) {
    drop(PLANTED.set(places));
}

/// Panics at a planted place. Costs one lookup if no place is planted.
fn fail_if_planted(place: Place<'_>) {
    let Some(planted) = PLANTED.get() else { return };
    let place = place.to_string();
    assert!(!planted.contains(&place), "a fault is planted at {place}");
}
