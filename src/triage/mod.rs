//! From findings to a verdict: the same finding in several sites becomes one,
//! and all stand in an order that depends on nothing but the input.

mod policy;

pub use policy::{Findable, Levels, Policy};

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Severity};
use crate::edit::EditId;
use crate::source::{RepoPath, SourceMap, Span};

/// The findings of a run, folded and sorted.
#[derive(Debug, Default)]
pub struct Findings {
    /// By path, place, rule and message.
    pub diagnostics: Vec<Diagnostic>,
}

/// The findings of two sides, told apart.
#[derive(Debug, Default)]
pub struct Compared {
    /// On the head side only.
    pub new: Findings,
    /// The edits that caused each of the new ones, in their order; none where
    /// that is not known.
    pub causes: Vec<Vec<EditId>>,
    /// On both sides, as they are on the head side.
    pub unchanged: Findings,
    /// On the base side only; their places are there.
    pub fixed: Findings,
}

/// What a finding is, wherever its lines have moved: its rule, its document
/// or else its file, and what it says; in one site.
type Identity = (Option<Arc<str>>, &'static str, String, String);

/// What of a finding is told once, in whatever sites.
type Told = (RepoPath, u32, &'static str, String, Span);

impl Compared {
    /// Tells apart the findings of two sides, each that of one site; `causes`
    /// gives the edits that caused a new one.
    pub fn new(
        base: Vec<Diagnostic>,
        head: Vec<Diagnostic>,
        sources: &SourceMap,
        paths: &[RepoPath],
        causes: &dyn Fn(&Diagnostic) -> Vec<EditId>,
    ) -> Self {
        let mut before: BTreeMap<Identity, VecDeque<Diagnostic>> = BTreeMap::new();
        for diagnostic in base.into_iter().flat_map(by_site) {
            before.entry(identity(&diagnostic, sources)).or_default().push_back(diagnostic);
        }
        let (mut new, mut unchanged) = (Vec::new(), Vec::new());
        let mut caused: BTreeMap<Told, BTreeSet<EditId>> = BTreeMap::new();
        for diagnostic in head.into_iter().flat_map(by_site) {
            // Of several alike the first is the first: what is left is then
            // the same whichever side it is on.
            let alike = before.get_mut(&identity(&diagnostic, sources));
            let known = alike.and_then(VecDeque::pop_front);
            if known.is_some() {
                unchanged.push(diagnostic);
                continue;
            }
            caused.entry(told(&diagnostic, sources)).or_default().extend(causes(&diagnostic));
            new.push(diagnostic);
        }
        let fixed = before.into_values().flatten().collect();
        let of = |diagnostics| Findings::new(diagnostics, sources, paths);
        let new = of(new);
        let causes = new.diagnostics.iter().map(|diagnostic| {
            let caused = caused.get(&told(diagnostic, sources));
            caused.into_iter().flatten().copied().collect()
        });
        Self { causes: causes.collect(), new, unchanged: of(unchanged), fixed: of(fixed) }
    }

    /// Gives the causes other numbers, where only some of the edits are left:
    /// `numbers` has for each edit there was the one it has now.
    pub fn renumber(&mut self, numbers: &[Option<EditId>]) {
        for causes in &mut self.causes {
            *causes = causes.iter().filter_map(|edit| numbers[edit.index()]).collect();
        }
    }

    /// Adds a finding, and the edit that brought it with it.
    pub fn add(&mut self, finding: Diagnostic, edit: Option<EditId>, sources: &SourceMap) {
        let key = told(&finding, sources);
        let known = &mut self.new.diagnostics;
        let at = known.partition_point(|other| told(other, sources) <= key);
        known.insert(at, finding);
        self.causes.insert(at, edit.into_iter().collect());
    }
}

/// A finding for each of its sites.
fn by_site(diagnostic: Diagnostic) -> Vec<Diagnostic> {
    if diagnostic.sites.len() < 2 {
        return vec![diagnostic];
    }
    let sites = diagnostic.sites.iter();
    sites.map(|site| Diagnostic { sites: vec![site.clone()], ..diagnostic.clone() }).collect()
}

fn identity(diagnostic: &Diagnostic, sources: &SourceMap) -> Identity {
    let place = match diagnostic.documents.first() {
        Some(document) => document.to_string(),
        None => sources.get(diagnostic.primary.span.file).path().to_string(),
    };
    let site = diagnostic.sites.first().cloned();
    (site, diagnostic.rule.name, place, diagnostic.message.clone())
}

fn told(diagnostic: &Diagnostic, sources: &SourceMap) -> Told {
    let place = diagnostic.primary.span;
    let path = sources.get(place.file).path().clone();
    (path, place.start, diagnostic.rule.name, diagnostic.message.clone(), place)
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
            let key = told(&diagnostic, sources);
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
