//! The findings that count, and their levels: the level that a rule has for a file and a site, and
//! whether a finding in one site holds in all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use globset::GlobSet;

use super::baseline::{Baseline, StaleEntry};
use super::comments::{UnusedIgnore, by_comments};
use super::{by_site, dedup_key};
use crate::diagnostic::{Diagnostic, Level, Rule, Trait};
use crate::ignore::Ignore;
use crate::source::{DocKey, FileId, RepoPath, SourceMap};

/// Decides which findings count, and how much.
#[derive(Clone, Debug, Default)]
pub struct TriagePolicy {
    /// The level of each rule, and where.
    pub(crate) levels: Levels,
}

/// The level of each rule: by itself, for files, and for sites. A level for a site has precedence
/// over one for a file, and that over the rest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    /// The level of a rule wherever nothing else is said; its default for
    /// those that are not here.
    pub(crate) general: BTreeMap<&'static str, Level>,
    /// For the files whose paths match; a later one has precedence over an earlier.
    pub(crate) per_path: Vec<(GlobSet, BTreeMap<&'static str, Level>)>,
    /// For the sites whose names match; a later one has precedence over an earlier.
    pub(crate) per_site: Vec<(GlobSet, BTreeMap<&'static str, Level>)>,
}

impl Levels {
    /// The level of `rule` for a finding in the file at `path`, in `site`.
    pub(crate) fn of(&self, rule: &Rule, path: &str, site: Option<&str>) -> Level {
        if rule.is(Trait::Always) {
            return rule.level();
        }
        let of_site = self.per_site.iter().rev().find_map(|(sites, levels)| {
            levels.get(rule.name).filter(|_| site.is_some_and(|site| sites.is_match(site)))
        });
        let of_path = || {
            let mut paths = self.per_path.iter().rev();
            paths.find_map(|(paths, levels)| levels.get(rule.name).filter(|_| paths.is_match(path)))
        };
        let level = of_site.or_else(of_path).or_else(|| self.general.get(rule.name));
        level.copied().unwrap_or(rule.level())
    }

    /// Whether findings of `rule` can count anywhere.
    pub(crate) fn can_count(&self, rule: &Rule) -> bool {
        let general = self.general.get(rule.name).copied().unwrap_or(rule.level());
        let mut special = self.per_path.iter().chain(&self.per_site);
        let raises = |levels: &BTreeMap<&'static str, Level>| {
            levels.get(rule.name).is_some_and(|level| *level != Level::Off)
        };
        rule.is(Trait::Always) || general != Level::Off || special.any(|(_, levels)| raises(levels))
    }

    /// Whether findings of `rule` can count in the file at `path`, in whatever
    /// site.
    pub(crate) fn can_count_at(&self, rule: &Rule, path: &str) -> bool {
        let raises = |(_, levels): &(GlobSet, BTreeMap<&'static str, Level>)| {
            levels.get(rule.name).is_some_and(|level| *level != Level::Off)
        };
        self.of(rule, path, None) != Level::Off || self.per_site.iter().any(raises)
    }
}

/// One side of a run, as far as its findings are judged by it.
pub(crate) struct Findable<'a> {
    /// All texts.
    pub(crate) sources: &'a SourceMap,
    /// The sites that its files count for.
    pub(crate) sites: &'a SitesOfFiles,
    /// The comments in its files that say what is not to be reported.
    pub(crate) ignores: Vec<&'a Ignore>,
    /// The accepted findings, if there is a baseline.
    pub(crate) baseline: Option<&'a Baseline>,
    /// Its files with the documents in each; a file by itself too.
    pub(crate) held: BTreeSet<(&'a RepoPath, Option<&'a DocKey>)>,
}

/// The sites that files count for.
#[derive(Debug, Default)]
pub(crate) struct SitesOfFiles {
    /// Sorted: most files count for a few sites, and the sites of most files are never asked for.
    pairs: Vec<(FileId, Arc<str>)>,
}

impl FromIterator<(FileId, Arc<str>)> for SitesOfFiles {
    fn from_iter<I: IntoIterator<Item = (FileId, Arc<str>)>>(pairs: I) -> Self {
        let mut pairs: Vec<(FileId, Arc<str>)> = pairs.into_iter().collect();
        pairs.sort_unstable();
        pairs.dedup();
        Self { pairs }
    }
}

impl SitesOfFiles {
    /// The sites that a file counts for, sorted.
    pub(crate) fn of(&self, file: FileId) -> impl Iterator<Item = &Arc<str>> {
        let from = self.pairs.partition_point(|(other, _)| *other < file);
        let pairs = self.pairs[from..].iter().take_while(move |(other, _)| *other == file);
        pairs.map(|(_, site)| site)
    }
}

/// The findings of one side, and what was said of them in vain.
#[derive(Debug, Default)]
pub(crate) struct TriagedFindings<'a> {
    /// The findings that count, those that are suppressed among them.
    pub(crate) findings: Vec<Diagnostic>,
    /// Comments that suppress nothing, or not all that they name.
    pub(crate) unused: Vec<UnusedIgnore<'a>>,
    /// The entries of the baseline that no finding matches any more.
    pub(crate) stale: Vec<StaleEntry<'a>>,
}

impl TriagePolicy {
    /// The findings of one side that count, each that of one site with its
    /// severity, and whether a comment or the baseline suppresses it.
    ///
    /// Where another side's baseline counts, `own` is that of this one. It accepts nothing then,
    /// but its stale entries alone are reported.
    pub(crate) fn judge<'a>(
        &self,
        found: Vec<Diagnostic>,
        side: &Findable<'a>,
        own: Option<&'a Baseline>,
    ) -> TriagedFindings<'a> {
        let mut findings = self.levelled_all(found_everywhere(found, side), side);
        let unused = by_comments(&mut findings, side);
        let stale_of_own = own.map(|own| own.suppress(&mut findings.clone(), side));
        let stale = side.baseline.map(|baseline| baseline.suppress(&mut findings, side));
        TriagedFindings { findings, unused, stale: stale_of_own.or(stale).unwrap_or_default() }
    }

    /// The findings that count, each that of one site with its severity.
    pub(crate) fn levelled_all(
        &self,
        found: Vec<Diagnostic>,
        side: &Findable<'_>,
    ) -> Vec<Diagnostic> {
        let levelled = |finding: Diagnostic| {
            let path = side.sources.path_of(finding.primary.span);
            let site = finding.sites.first().cloned();
            self.levelled(finding, path.as_str(), site.as_deref())
        };
        found.into_iter().flat_map(by_site).filter_map(levelled).collect()
    }

    /// A finding in the file at `path` with the severity that it has there, in
    /// `site`; none where it does not count.
    pub(crate) fn levelled(
        &self,
        finding: Diagnostic,
        path: &str,
        site: Option<&str>,
    ) -> Option<Diagnostic> {
        let level = self.levels.of(finding.rule, path, site);
        let severity = match level.severity()? {
            // At its rule's own severity a finding may say another for itself.
            own if own == finding.rule.severity => finding.severity,
            other => other,
        };
        Some(Diagnostic { severity, ..finding })
    }
}

/// Without what was found in some of the sites that could show it, of the
/// rules that speak of all of them.
fn found_everywhere(found: Vec<Diagnostic>, side: &Findable<'_>) -> Vec<Diagnostic> {
    let speaks_of_all = |finding: &Diagnostic| finding.rule.is(Trait::Everywhere);
    let mut shown: BTreeMap<_, BTreeSet<Arc<str>>> = BTreeMap::new();
    for finding in found.iter().filter(|finding| speaks_of_all(finding)) {
        let sites = shown.entry(dedup_key(finding, side.sources)).or_default();
        sites.extend(finding.sites.iter().cloned());
    }
    let holds = |finding: &Diagnostic| {
        let did = &shown[&dedup_key(finding, side.sources)];
        side.sites.of(finding.primary.span.file).all(|could| did.contains(could))
    };
    found.into_iter().filter(|finding| !speaks_of_all(finding) || holds(finding)).collect()
}
