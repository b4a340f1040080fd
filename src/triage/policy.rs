//! Levels of rules by file and site, and aggregation of findings across sites.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use globset::GlobSet;

use super::baseline::{Baseline, StaleEntry};
use super::comments::{UnusedIgnore, by_comments};
use super::{by_site, dedup_key};
use crate::diagnostic::{Diagnostic, Level, Rule, Trait};
use crate::ignore::Ignore;
use crate::source::{DocKey, FileId, RepoPath, SourceMap};

/// Policy that decides which findings are reported, and at which severity.
#[derive(Clone, Debug, Default)]
pub struct TriagePolicy {
    /// Levels of the rules.
    pub(crate) levels: Levels,
}

/// Levels of the rules: general, by file and by site. A level for a site has precedence over one
/// for a file, which has precedence over the general level.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    /// General levels; missing rules have their default level.
    pub(crate) general: BTreeMap<&'static str, Level>,
    /// Levels for files with matching paths; later entries have precedence.
    pub(crate) per_path: Vec<(GlobSet, BTreeMap<&'static str, Level>)>,
    /// Levels for sites with matching names; later entries have precedence.
    pub(crate) per_site: Vec<(GlobSet, BTreeMap<&'static str, Level>)>,
}

impl Levels {
    /// Level of `rule` for a finding in the file at `path` in `site`.
    pub(crate) fn of(&self, rule: &Rule, path: &str, site: Option<&str>) -> Level {
        if rule.is(Trait::Always) {
            return rule.level();
        }
        let of_site = self.per_site.iter().rev().find_map(|(sites, levels)| {
            levels
                .get(rule.name)
                .filter(|_| site.is_some_and(|site| sites.is_match(site)))
        });
        let level = of_site
            .or_else(|| {
                let mut paths = self.per_path.iter().rev();
                paths.find_map(|(paths, levels)| {
                    levels.get(rule.name).filter(|_| paths.is_match(path))
                })
            })
            .or_else(|| self.general.get(rule.name));
        level.copied().unwrap_or(rule.level())
    }

    /// Whether findings of `rule` can be reported anywhere.
    pub(crate) fn can_count(&self, rule: &Rule) -> bool {
        let general = self.general.get(rule.name).copied().unwrap_or(rule.level());
        let mut special = self.per_path.iter().chain(&self.per_site);
        let enables = |levels: &BTreeMap<&'static str, Level>| {
            levels
                .get(rule.name)
                .is_some_and(|level| *level != Level::Off)
        };
        rule.is(Trait::Always)
            || general != Level::Off
            || special.any(|(_, levels)| enables(levels))
    }

    /// Whether findings of `rule` can be reported in the file at `path`, in any site.
    pub(crate) fn can_count_at(&self, rule: &Rule, path: &str) -> bool {
        self.of(rule, path, None) != Level::Off
            || self.per_site.iter().any(|(_, levels)| {
                levels
                    .get(rule.name)
                    .is_some_and(|level| *level != Level::Off)
            })
    }
}

/// One side of a run, for judging its findings.
pub(crate) struct Findable<'a> {
    /// All source texts.
    pub(crate) sources: &'a SourceMap,
    /// Sites of each file.
    pub(crate) sites: &'a SitesOfFiles,
    /// Ignore comments in the files.
    pub(crate) ignores: Vec<&'a Ignore>,
    /// Accepted findings, if there is a baseline.
    pub(crate) baseline: Option<&'a Baseline>,
    /// Files with their documents, and files alone.
    pub(crate) held: BTreeSet<(&'a RepoPath, Option<&'a DocKey>)>,
}

/// Map from files to sites.
#[derive(Debug, Default)]
pub(crate) struct SitesOfFiles {
    /// Sorted lazily: most files belong to a few sites, and most are never queried.
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
    /// Replaces contents of files.
    pub(crate) fn replace_files(&mut self, new: &dyn Fn(FileId) -> FileId) {
        for (file, _) in &mut self.pairs {
            *file = new(*file);
        }
        // A stable sort is fast if almost all is sorted.
        self.pairs.sort();
    }

    /// Sites of a file, sorted.
    pub(crate) fn of(&self, file: FileId) -> impl Iterator<Item = &Arc<str>> {
        let from = self.pairs.partition_point(|(other, _)| *other < file);
        let pairs = self.pairs[from..]
            .iter()
            .take_while(move |(other, _)| *other == file);
        pairs.map(|(_, site)| site)
    }
}

/// Findings of one side, and its unused suppressions.
#[derive(Debug, Default)]
pub(crate) struct TriagedFindings<'a> {
    /// Reported findings, including suppressed ones.
    pub(crate) findings: Vec<Diagnostic>,
    /// Comments with unused names.
    pub(crate) unused: Vec<UnusedIgnore<'a>>,
    /// Baseline entries without matching findings.
    pub(crate) stale: Vec<StaleEntry<'a>>,
}

impl TriagePolicy {
    /// Findings to report for one side, one for each site, with their severities and suppressions.
    ///
    /// If the baseline of another side applies, `own` is the baseline of this side. It then
    /// suppresses nothing, but its stale entries are the reported ones.
    pub(crate) fn judge<'a>(
        &self,
        found: Vec<Diagnostic>,
        side: &Findable<'a>,
        own: Option<&'a Baseline>,
    ) -> TriagedFindings<'a> {
        let mut findings = self.levelled_all(found_everywhere(found, side), side);
        let unused = by_comments(&mut findings, side);
        let own_stale = own.map(|own| own.suppress(&mut findings.clone(), side));
        let stale = side
            .baseline
            .map(|baseline| baseline.suppress(&mut findings, side));
        TriagedFindings {
            findings,
            unused,
            stale: own_stale.or(stale).unwrap_or_default(),
        }
    }

    /// Findings to report, one for each site, with their severities.
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
        found
            .into_iter()
            .flat_map(by_site)
            .filter_map(levelled)
            .collect()
    }

    /// Finding in the file at `path` with its severity in `site`; `None` if it is off.
    pub(crate) fn levelled(
        &self,
        finding: Diagnostic,
        path: &str,
        site: Option<&str>,
    ) -> Option<Diagnostic> {
        let level = self.levels.of(finding.rule, path, site);
        let severity = match level.severity()? {
            // A finding may override its severity if its rule has its default level.
            own if own == finding.rule.severity => finding.severity,
            other => other,
        };
        Some(Diagnostic {
            severity,
            ..finding
        })
    }
}

/// Removes findings of rules that must apply everywhere, if a site of the file does not have them.
fn found_everywhere(found: Vec<Diagnostic>, side: &Findable<'_>) -> Vec<Diagnostic> {
    let is_everywhere = |finding: &Diagnostic| finding.rule.is(Trait::Everywhere);
    let key = |finding: &Diagnostic| dedup_key(finding, side.sources);
    let mut shown: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    for finding in found.iter().filter(|finding| is_everywhere(finding)) {
        let sites = finding.sites.iter().map(|site| &**site);
        shown.entry(key(finding)).or_default().extend(sites);
    }
    // Only those that a site of the file does not have are left.
    shown.retain(|(.., place), did| {
        let mut sites = side.sites.of(place.file);
        sites.any(|could| !did.contains(&**could))
    });
    let lost: BTreeSet<_> = shown.into_keys().collect();
    found
        .into_iter()
        .filter(|finding| !is_everywhere(finding) || !lost.contains(&key(finding)))
        .collect()
}
