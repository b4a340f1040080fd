//! From findings to a verdict: the same finding in several sites becomes one,
//! and all stand in an order that depends on nothing but the input.

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{RepoPath, SourceMap};

/// The findings of a run, folded and sorted.
#[derive(Debug, Default)]
pub struct Findings {
    /// By path, place, rule and message.
    pub diagnostics: Vec<Diagnostic>,
}

/// How many findings there are of each severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Notes.
    pub notes: usize,
}

impl Findings {
    /// Folds and sorts `diagnostics`; those that do not touch one of `paths`
    /// are left out, unless no paths are given.
    pub fn new(diagnostics: Vec<Diagnostic>, sources: &SourceMap, paths: &[RepoPath]) -> Self {
        let mut folded: BTreeMap<_, Diagnostic> = BTreeMap::new();
        for diagnostic in diagnostics {
            if !touches(&diagnostic, sources, paths) {
                continue;
            }
            let place = diagnostic.primary.span;
            let path = sources.get(place.file).path().clone();
            let message = diagnostic.message.clone();
            let key = (path, place.start, diagnostic.rule.name, message, place);
            match folded.get_mut(&key) {
                Some(first) => fold(first, diagnostic),
                None => drop(folded.insert(key, diagnostic)),
            }
        }
        Self { diagnostics: folded.into_values().collect() }
    }

    /// How many there are.
    pub fn counts(&self) -> Counts {
        let of = |severity| {
            self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count()
        };
        Counts {
            errors: of(Severity::Error),
            warnings: of(Severity::Warning),
            notes: of(Severity::Note),
        }
    }
}

fn touches(diagnostic: &Diagnostic, sources: &SourceMap, paths: &[RepoPath]) -> bool {
    let mut labels = std::iter::once(&diagnostic.primary).chain(&diagnostic.related);
    labels.any(|label| concerns(paths, sources.get(label.span.file).path()))
}

/// Whether `path` is one of `paths` or below one; where there are none, every
/// path is meant.
pub fn concerns(paths: &[RepoPath], path: &RepoPath) -> bool {
    paths.is_empty() || paths.iter().any(|given| path == given || path.below(given).is_some())
}

/// The finding met again in another site: its sites, documents and places are
/// added to the first.
fn fold(first: &mut Diagnostic, again: Diagnostic) {
    first.severity = first.severity.max(again.severity);
    for site in again.sites {
        if let Err(at) = first.sites.binary_search(&site) {
            first.sites.insert(at, site);
        }
    }
    for document in again.documents {
        if !first.documents.contains(&document) {
            first.documents.push(document);
        }
    }
    for label in again.related {
        if !first.related.contains(&label) {
            first.related.push(label);
        }
    }
    for note in again.notes {
        if !first.notes.contains(&note) {
            first.notes.push(note);
        }
    }
}
