//! Deduplication and sorting of findings: findings that occur in several sites are merged, and the
//! order depends only on the input.

pub mod baseline;
pub(crate) mod cap;
mod comments;
mod consequences;
mod fingerprint;
mod joined;
mod policy;

pub use baseline::Baseline;
pub(crate) use baseline::Damage;
pub(crate) use consequences::{EditsOfFindings, TakingEdit};
pub(crate) use fingerprint::{fingerprint, fingerprint_of};
pub(crate) use policy::{Findable, SitesOfFiles, TriagedFindings};
pub(crate) use policy::{Levels, TriagePolicy};

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Severity, Trait};
use crate::edit::EditId;
use crate::source::{RepoPath, SourceMap, Span};

/// Findings of a run, folded and sorted.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Findings by path, location, rule and message.
    pub diagnostics: Vec<Diagnostic>,
    /// Findings suppressed by a comment or the baseline, in the same order.
    pub suppressed: Vec<Diagnostic>,
}

/// Findings of a comparison, by the sides that have them.
#[derive(Clone, Debug, Default)]
pub struct ComparedFindings {
    /// Findings on the head side only.
    pub new: Findings,
    /// For each new finding, the edits that caused it; empty if unknown.
    pub causes: Vec<Vec<EditId>>,
    /// Findings on both sides, with their head locations.
    pub unchanged: Findings,
    /// Findings on the base side only, with their base locations.
    pub fixed: Findings,
    /// Suppressed findings on the head side, by path and location.
    pub suppressed: Vec<Diagnostic>,
    /// Number of ignore comments that the head adds.
    pub added_ignores: usize,
    /// For each new finding, the edits that it needs: without any one of them, it does not occur in
    /// its sites. Empty once consequences are marked.
    pub without: Vec<Vec<EditId>>,
}

/// Identity of a finding independent of its lines: its rule, its document or else its file, its
/// message, and its site.
type FindingIdentity = (Option<Arc<str>>, &'static str, String, String);

/// Deduplication key across sites: file, position in the file and in a decoded text, rule, message
/// and span.
type DedupKey = (RepoPath, [u32; 2], &'static str, String, Span);

/// Note on a finding with causes that were not all tried.
const LIMITED_CAUSES: &str =
    "not all edits that may have caused it were tried: too many are possible";

/// Edits that matter for a new finding of one site.
#[derive(Clone, Default)]
pub(crate) struct FindingCauses {
    /// Edits that caused it, sorted; empty if unknown.
    pub(crate) caused: Vec<EditId>,
    /// Whether there may be further causes, since too many edits were possible.
    pub(crate) is_limited: bool,
    /// Edits that it needs, sorted, as far as known: without any one of them, it does not occur.
    pub(crate) without: Vec<EditId>,
}

impl FindingCauses {
    /// All edits that caused a finding.
    pub(crate) fn known(caused: Vec<EditId>) -> Self {
        Self {
            caused,
            ..Self::default()
        }
    }

    /// Adds the causes of the same finding in another site.
    fn add_site(&mut self, other: Self) {
        self.caused.extend(other.caused);
        self.caused.sort_unstable();
        self.caused.dedup();
        self.is_limited |= other.is_limited;
        self.without
            .retain(|edit| other.without.binary_search(edit).is_ok());
    }
}

/// One side of a comparison.
#[derive(Debug, Default)]
pub(crate) struct SideFindings {
    /// Findings, one for each site.
    pub(crate) findings: Vec<Diagnostic>,
    /// All existing sites, with or without findings.
    pub(crate) sites: BTreeSet<Arc<str>>,
}

impl ComparedFindings {
    /// Compares the findings of two sides; `causes` returns the edits that caused a new finding.
    pub(crate) fn new(
        base: SideFindings,
        head: SideFindings,
        sources: &SourceMap,
        paths: &[RepoPath],
        causes: &dyn Fn(&Diagnostic) -> FindingCauses,
    ) -> Self {
        let UnfoldedComparison {
            new,
            unchanged,
            fixed,
            suppressed,
        } = UnfoldedComparison::new(base, head, sources);
        let mut by_key: BTreeMap<DedupKey, FindingCauses> = BTreeMap::new();
        for diagnostic in &new {
            let of_site = causes(diagnostic);
            match by_key.entry(dedup_key(diagnostic, sources)) {
                Entry::Vacant(free) => _ = free.insert(of_site),
                Entry::Occupied(mut known) => known.get_mut().add_site(of_site),
            }
        }
        let of = |diagnostics| Findings::new(diagnostics, sources, paths);
        let mut new = of(new);
        let mut causes = Vec::new();
        let mut without = Vec::new();
        for finding in &mut new.diagnostics {
            let of_all = by_key
                .remove(&dedup_key(finding, sources))
                .unwrap_or_default();
            if of_all.is_limited {
                finding.notes.push(LIMITED_CAUSES.to_owned());
            }
            causes.push(of_all.caused);
            without.push(of_all.without);
        }
        Self {
            causes,
            without,
            new,
            unchanged: of(unchanged),
            fixed: of(fixed),
            suppressed: of(suppressed).suppressed,
            added_ignores: 0,
        }
    }

    /// Keeps only some of the new and unchanged findings.
    #[must_use]
    pub(crate) fn retained(&self, is_wanted: impl Fn(&Diagnostic) -> bool) -> Self {
        let new = self.new.diagnostics.iter().zip(&self.causes);
        let (new, causes) = new
            .filter(|(diagnostic, _)| is_wanted(diagnostic))
            .map(|(diagnostic, causes)| (diagnostic.clone(), causes.clone()))
            .unzip();
        let unchanged = self.unchanged.diagnostics.iter().filter(|it| is_wanted(it));
        Self {
            new: Findings {
                diagnostics: new,
                ..Findings::default()
            },
            causes,
            unchanged: Findings {
                diagnostics: unchanged.cloned().collect(),
                ..Findings::default()
            },
            ..Self::default()
        }
    }

    /// Renumbers the causes after edits were removed: `numbers` maps each old index to a new one,
    /// if the edit remains.
    pub(crate) fn renumber(&mut self, numbers: &[Option<EditId>]) {
        for causes in &mut self.causes {
            *causes = causes
                .iter()
                .filter_map(|edit| numbers[edit.index()])
                .collect();
        }
    }

    /// Adds a new finding and the edit that caused it.
    pub(crate) fn add(&mut self, finding: Diagnostic, edit: Option<EditId>, sources: &SourceMap) {
        let key = dedup_key(&finding, sources);
        let known = &mut self.new.diagnostics;
        let at = known.partition_point(|other| dedup_key(other, sources) <= key);
        known.insert(at, finding);
        self.causes.insert(at, edit.into_iter().collect());
    }
}

/// Findings of both sides during a comparison, one for each site.
#[derive(Default)]
struct UnfoldedComparison {
    new: Vec<Diagnostic>,
    unchanged: Vec<Diagnostic>,
    fixed: Vec<Diagnostic>,
    suppressed: Vec<Diagnostic>,
}

impl UnfoldedComparison {
    /// Splits the findings into states. The suppression of a head finding does not depend on the
    /// base: a finding that is no longer suppressed is new, and a finding that becomes suppressed
    /// is not fixed.
    fn new(base: SideFindings, head: SideFindings, sources: &SourceMap) -> Self {
        let sites = OneSided::new(&base, &head, sources);
        let mut before: BTreeMap<FindingIdentity, [VecDeque<Diagnostic>; 2]> = BTreeMap::new();
        for diagnostic in base.findings.into_iter().flat_map(by_site) {
            let alike = before.entry(identity(&diagnostic, sources)).or_default();
            alike[usize::from(diagnostic.suppressed.is_some())].push_back(diagnostic);
        }
        // Identical findings are paired in order, within the same suppression state. The result is
        // then symmetric.
        let mut apart = Self::default();
        let mut left = Vec::new();
        for diagnostic in head.findings.into_iter().flat_map(by_site) {
            let alike = before.get_mut(&identity(&diagnostic, sources));
            let side = usize::from(diagnostic.suppressed.is_some());
            match (
                alike.and_then(|alike| alike[side].pop_front()),
                &diagnostic.suppressed,
            ) {
                (Some(_), None) => apart.unchanged.push(diagnostic),
                (None, None) => apart.new.push(diagnostic),
                (Some(_), Some(_)) => apart.suppressed.push(diagnostic),
                (None, Some(_)) => left.push(diagnostic),
            }
        }
        for diagnostic in left {
            if let Some([open, _]) = before.get_mut(&identity(&diagnostic, sources)) {
                open.pop_front();
            }
            apart.suppressed.push(diagnostic);
        }
        apart.fixed = before.into_values().flat_map(|[open, _]| open).collect();
        sites.correct(apart, sources)
    }
}

/// Sites on one side only. A finding in an added site is not new if it concerns a file that other
/// sites had before, and a finding of a removed site is not fixed if other sites still have the
/// file. An added site may be a renamed one.
struct OneSided {
    came: BTreeSet<Arc<str>>,
    went: BTreeSet<Arc<str>>,
    /// Findings in the sites of either side.
    base: BTreeSet<FindingInFile>,
    head: BTreeSet<FindingInFile>,
}

/// Identity of a finding in any site: file, rule, document or else file, and message.
type FindingInFile = (RepoPath, &'static str, String, String);

impl OneSided {
    fn new(base: &SideFindings, head: &SideFindings, sources: &SourceMap) -> Self {
        let only = |one: &SideFindings, other: &SideFindings| {
            one.sites.difference(&other.sites).cloned().collect()
        };
        let (came, went): (BTreeSet<_>, BTreeSet<_>) = (only(head, base), only(base, head));
        // Fast path: sites are rarely added or removed.
        let in_files = |side: &SideFindings, is_asked: bool| {
            let open = side
                .findings
                .iter()
                .filter(|it| is_asked && it.suppressed.is_none());
            open.map(|diagnostic| in_file(diagnostic, sources))
                .collect()
        };
        let in_base = in_files(base, !came.is_empty());
        let in_head = in_files(head, !went.is_empty());
        Self {
            came,
            went,
            base: in_base,
            head: in_head,
        }
    }

    fn correct(&self, apart: UnfoldedComparison, sources: &SourceMap) -> UnfoldedComparison {
        let is_of = |sites: &BTreeSet<Arc<str>>, diagnostic: &Diagnostic| {
            diagnostic
                .sites
                .first()
                .is_some_and(|site| sites.contains(site))
        };
        let UnfoldedComparison {
            new,
            unchanged,
            fixed,
            suppressed,
        } = apart;
        let mut corrected = UnfoldedComparison {
            unchanged,
            suppressed,
            ..UnfoldedComparison::default()
        };
        let mut gone: BTreeMap<FindingIdentity, VecDeque<Diagnostic>> = BTreeMap::new();
        for diagnostic in fixed {
            if !is_of(&self.went, &diagnostic) {
                corrected.fixed.push(diagnostic);
            } else if !self.head.contains(&in_file(&diagnostic, sources)) {
                gone.entry(wherever(&diagnostic, sources))
                    .or_default()
                    .push_back(diagnostic);
            }
        }
        for diagnostic in new {
            let mut is_renamed = || {
                let alike = gone.get_mut(&wherever(&diagnostic, sources));
                alike.and_then(VecDeque::pop_front).is_some()
            };
            let is_known = is_of(&self.came, &diagnostic)
                && (self.base.contains(&in_file(&diagnostic, sources)) || is_renamed());
            let list = if is_known {
                &mut corrected.unchanged
            } else {
                &mut corrected.new
            };
            list.push(diagnostic);
        }
        corrected.fixed.extend(gone.into_values().flatten());
        corrected
    }
}

fn in_file(diagnostic: &Diagnostic, sources: &SourceMap) -> FindingInFile {
    let (_, rule, place, message) = identity(diagnostic, sources);
    (
        sources.path_of(diagnostic.primary.span).clone(),
        rule,
        place,
        message,
    )
}

/// Identity of a finding in any site.
fn wherever(diagnostic: &Diagnostic, sources: &SourceMap) -> FindingIdentity {
    let (_, rule, place, message) = identity(diagnostic, sources);
    (None, rule, place, message)
}

/// Splits a finding into one for each site.
fn by_site(mut diagnostic: Diagnostic) -> Vec<Diagnostic> {
    if diagnostic.sites.len() < 2 {
        return vec![diagnostic];
    }
    // Taken first, so that no clone has all of them.
    let sites = mem::take(&mut diagnostic.sites).into_iter();
    sites
        .map(|site| Diagnostic {
            sites: vec![site],
            ..diagnostic.clone()
        })
        .collect()
}

fn identity(diagnostic: &Diagnostic, sources: &SourceMap) -> FindingIdentity {
    let place = match diagnostic.documents.first() {
        Some(document) => document.to_string(),
        None => sources.path_of(diagnostic.primary.span).to_string(),
    };
    let site = diagnostic.sites.first().cloned();
    (
        site,
        diagnostic.rule.name,
        place,
        diagnostic.message.clone(),
    )
}

fn dedup_key(diagnostic: &Diagnostic, sources: &SourceMap) -> DedupKey {
    let place = diagnostic.primary.span;
    let at = [sources.written(place).start, place.start];
    let path = sources.path_of(place).clone();
    (
        path,
        at,
        diagnostic.rule.name,
        diagnostic.message.clone(),
        place,
    )
}

/// Number of findings by severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub struct Counts {
    /// Number of errors.
    pub errors: usize,
    /// Number of warnings.
    pub warnings: usize,
    /// Number of notes.
    pub notes: usize,
}

impl Counts {
    /// Counts `findings`.
    pub(crate) fn add(&mut self, severity: Severity, count: usize) {
        match severity {
            Severity::Error => self.errors += count,
            Severity::Warning => self.warnings += count,
            Severity::Note => self.notes += count,
        }
    }

    /// Whether there are findings of this severity or above; none are above `None`.
    pub fn reach(&self, severity: Option<Severity>) -> bool {
        severity.is_some_and(|severity| {
            0 < match severity {
                Severity::Error => self.errors,
                Severity::Warning => self.errors + self.warnings,
                Severity::Note => self.all(),
            }
        })
    }

    /// Total of all severities.
    pub fn all(&self) -> usize {
        self.errors + self.warnings + self.notes
    }
}

impl Findings {
    /// Folds and sorts `diagnostics`. If `paths` is not empty, findings that do not touch any of
    /// them are removed.
    pub fn new(diagnostics: Vec<Diagnostic>, sources: &SourceMap, paths: &[RepoPath]) -> Self {
        let touching = diagnostics
            .into_iter()
            .filter(|it| touches(it, sources, paths));
        let (suppressed, open): (Vec<_>, Vec<_>) = touching.partition(|it| it.suppressed.is_some());
        Self {
            diagnostics: folded(open, sources),
            suppressed: folded(suppressed, sources),
        }
    }

    /// Number of findings of each severity.
    pub fn counts(&self) -> Counts {
        let of = |severity| {
            Diagnostic::total(self.diagnostics.iter().filter(|it| it.severity == severity))
        };
        Counts {
            errors: of(Severity::Error),
            warnings: of(Severity::Warning),
            notes: of(Severity::Note),
        }
    }
}

/// Merges the findings that occur in several sites, and sorts them.
fn folded(diagnostics: Vec<Diagnostic>, sources: &SourceMap) -> Vec<Diagnostic> {
    let mut folded: BTreeMap<_, Diagnostic> = BTreeMap::new();
    for diagnostic in diagnostics {
        let key = dedup_key(&diagnostic, sources);
        match folded.get_mut(&key) {
            Some(first) => fold(first, diagnostic),
            None => drop(folded.insert(key, diagnostic)),
        }
    }
    folded.into_values().collect()
}

fn touches(diagnostic: &Diagnostic, sources: &SourceMap, paths: &[RepoPath]) -> bool {
    let mut labels = std::iter::once(&diagnostic.primary).chain(&diagnostic.related);
    diagnostic.rule.is(Trait::Always)
        || labels.any(|label| concerns(paths, sources.path_of(label.span)))
}

/// Whether `path` is in one of `paths`; true if there are none.
pub(crate) fn concerns(paths: &[RepoPath], path: &RepoPath) -> bool {
    paths.is_empty()
        || paths
            .iter()
            .any(|given| path == given || path.below(given).is_some())
}

/// Merges a finding of another site: adds its sites, documents and locations.
fn fold(first: &mut Diagnostic, again: Diagnostic) {
    first.severity = first.severity.max(again.severity);
    if first.follows.is_empty() || again.follows.is_empty() {
        first.follows.clear();
    } else {
        first.follows.extend(again.follows);
        first.follows.sort_unstable();
        first.follows.dedup();
    }
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
            // Group labels with the same message.
            let alike = first
                .related
                .iter()
                .rposition(|other| other.message == label.message);
            let at = alike.map_or(first.related.len(), |last| last + 1);
            first.related.insert(at, label);
        }
    }
    for note in again.notes {
        if !first.notes.contains(&note) {
            first.notes.push(note);
        }
    }
}
