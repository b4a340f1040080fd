//! Findings of file rules, and the selection of the findings that count.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use rayon::prelude::*;

use super::configuration::MetSources;
use super::files::PartFile;
use super::load::{Loaded, LoadedSide};
use super::{Plan, Work};
use crate::diagnostic::Diagnostic;
use crate::ignore::{self, Ignore};
use crate::rules::{self, FileContents, FileFacts, UserDataFacts};
use crate::source::{DocKey, FileId, RepoPath, Span};
use crate::stopwatch::split;
use crate::system::cloud_init;
use crate::triage::{Findable, TriagedFindings};

impl Loaded {
    /// Findings of file rules on a side, with the sites that the files apply to.
    pub(super) fn file_findings(&self, side: &LoadedSide) -> Vec<Diagnostic> {
        let documents = if self.work == Work::Merge {
            &[]
        } else {
            &side.files[..]
        }
        .iter();
        let documents =
            documents.map(|file| (file.id, FileContents::Documents, file.place.as_ref()));
        let parts = side
            .files_of_parts()
            .into_iter()
            .map(|file| (file, FileContents::Parts, None));
        let (mut found, mut unjudged) = (Vec::new(), Vec::new());
        // A file that is the same in two revisions of a repository is judged once.
        let mut met = HashSet::new();
        for (id, holds, place) in documents.chain(parts) {
            if !met.insert((id, holds)) {
                continue;
            }
            let file = self.file(id);
            match &file.found {
                Some((judged_at, known)) if judged_at.as_ref() == place => {
                    found.extend(known.iter().cloned());
                }
                Some(_) | None => {
                    let file_facts = file.facts(&self.sources, id, &self.schemas, &self.settings);
                    unjudged.push(FileFacts {
                        holds,
                        place,
                        ..file_facts
                    });
                }
            }
        }
        let split = split();
        let judged: Vec<Vec<Diagnostic>> = unjudged
            .par_iter()
            .map(|facts| {
                let _part = split.part();
                rules::report_file(facts)
            })
            .collect();
        drop(split);
        found.extend(judged.into_iter().flatten());
        let sites = side.sites_of_files();
        for diagnostic in &mut found {
            diagnostic.sites = sites.of(diagnostic.primary.span.file).cloned().collect();
        }
        let mut found = rules::folded(found);
        found.extend(
            side.parts
                .iter()
                .flat_map(|file| self.part_findings(side, file)),
        );
        found
    }

    /// Findings in a file given to cloud-init, with the sites that use it.
    fn part_findings(&self, side: &LoadedSide, file: &PartFile) -> Vec<Diagnostic> {
        let files: BTreeSet<FileId> = file.files().collect();
        let secrets = files.into_iter().flat_map(|file| &self.file(file).secrets);
        let facts = UserDataFacts {
            sources: &self.sources,
            read: &file.read,
            secrets: secrets.copied().collect(),
        };
        let mut found = rules::report_user_data(&facts);
        let using = side
            .sets
            .iter()
            .filter(|set| set.part_paths.contains(&file.path));
        let sites: Vec<Arc<str>> = using.filter_map(|set| set.name.clone()).collect();
        for finding in &mut found {
            finding.sites.clone_from(&sites);
        }
        found
    }

    /// Findings for settings that match nothing on a side.
    pub(super) fn configuration_findings(
        &self,
        plan: &Plan,
        side: &LoadedSide,
        met: &MetSources,
    ) -> Vec<Diagnostic> {
        if self.work != Work::Judge {
            return Vec::new();
        }
        let files = side.all_files().into_iter();
        let paths = files.map(|file| self.sources.path_of(Span::point(file, 0)).as_str());
        let sites = side.sets.iter().filter_map(|set| set.name.as_deref());
        let documents = side
            .files
            .iter()
            .flat_map(|file| &self.file(file.id).documents);
        let documents = documents.map(|document| &*document.key.schema);
        let sets = (!side.parts.is_empty()).then_some(cloud_init::OUTPUT);
        let schemas = documents.chain(sets);
        self.configured
            .findings(&plan.options.configuration, met, paths, sites, schemas)
    }

    /// The findings of a side that count, including suppressed ones.
    pub(super) fn judge(
        &self,
        plan: &Plan,
        side: &LoadedSide,
        found: Vec<Diagnostic>,
    ) -> Vec<Diagnostic> {
        let sites = side.sites_of_files();
        let findable = Findable {
            sources: &self.sources,
            sites,
            ignores: self.ignores(side).collect(),
            baseline: side.baseline.as_ref(),
            held: if side.has_baseline() {
                self.held(side)
            } else {
                BTreeSet::new()
            },
        };
        let judged = plan
            .options
            .policy
            .judge(found, &findable, side.own_baseline.as_ref());
        // A limited run, or one without rules, does not see all findings, so it cannot report
        // unused suppressions.
        let is_whole = !plan.is_limited() && self.work == Work::Judge;
        let unused_suppressions = if is_whole {
            self.unused_suppressions(plan, &judged)
        } else {
            Vec::new()
        };
        let unused_suppressions = unused_suppressions.into_iter().map(|finding| {
            let sites = sites.of(finding.primary.span.file).cloned().collect();
            Diagnostic { sites, ..finding }
        });
        let mut findings = plan
            .options
            .policy
            .levelled_all(unused_suppressions.collect(), &findable);
        findings.extend(judged.findings);
        findings
    }

    /// Ignore comments of a side.
    fn ignores<'a>(&'a self, side: &'a LoadedSide) -> impl Iterator<Item = &'a Ignore> {
        side.all_files()
            .into_iter()
            .flat_map(|file| &self.file(file).ignores.ignores)
    }

    /// Files of a side, and the documents in each.
    fn held<'a>(&'a self, side: &'a LoadedSide) -> BTreeSet<(&'a RepoPath, Option<&'a DocKey>)> {
        let files = side.files.iter().flat_map(|file| {
            let path = self.sources.get(file.id).path();
            let documents = self.file(file.id).documents.iter();
            let keys = documents.map(|document| Some(&document.key));
            keys.chain([None]).map(move |key| (path, key))
        });
        let parts = side.files_of_parts().into_iter();
        files
            .chain(parts.map(|file| (self.sources.get(file).path(), None)))
            .collect()
    }

    /// Findings for ignore comments and baseline entries that match no finding. Skips rules that
    /// are not selected and files that were not read completely.
    fn unused_suppressions(&self, plan: &Plan, judged: &TriagedFindings<'_>) -> Vec<Diagnostic> {
        let levels = &plan.options.policy.levels;
        let path_of = |ignore: &Ignore| self.sources.path_of(ignore.span).as_str();
        let unused = judged.unused.iter().filter_map(|unused| {
            let file = self.file(unused.ignore.span.file);
            let is_whole = !file.problems.iter().any(|problem| problem.kind.is_fatal());
            let is_on = |name: &&ignore::RuleName| {
                name.rules
                    .iter()
                    .any(|it| levels.can_count_at(it, path_of(unused.ignore)))
            };
            let names: Vec<&ignore::RuleName> =
                unused.names.iter().copied().filter(is_on).collect();
            (is_whole && !names.is_empty())
                .then(|| rules::report_unused_ignore(&self.sources, unused.ignore, &names))
        });
        let stale = judged.stale.iter().filter_map(|stale| {
            let (at, entry) = (stale.entry.span?, stale.entry);
            let is_on =
                |rule: &crate::diagnostic::Rule| levels.can_count_at(rule, entry.file.as_str());
            rules::find(&entry.rule).is_none_or(is_on).then(|| {
                rules::report_stale_baseline(at, &entry.rule, entry.file.as_str(), stale.gone)
            })
        });
        unused.chain(stale).collect()
    }

    /// Number of ignore comments that the head has in addition to those of the base.
    pub(super) fn added_ignores(&self) -> usize {
        let Some(base) = &self.base else { return 0 };
        let counted = |side| {
            let mut counted: BTreeMap<(&RepoPath, &str), usize> = BTreeMap::new();
            for ignore in self.ignores(side) {
                let path = self.sources.path_of(ignore.span);
                *counted.entry((path, &*ignore.words)).or_default() += 1;
            }
            counted
        };
        let known = counted(base);
        let more = counted(&self.head)
            .into_iter()
            .map(|(key, count)| count.saturating_sub(known.get(&key).copied().unwrap_or_default()));
        more.sum()
    }
}
