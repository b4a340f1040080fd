//! Comparison of two sides: files are read, and then sites are rendered, judged and compared in
//! parallel.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::compare::{Compared, ComparedSite, ComparedWith, PerPair, Settings, SiteRun, at_places};
use super::configuration::MetSources;
use super::edited::{Documents, Sides};
use super::load::LoadedSide;
use super::repositories::used_repositories;
use super::taking::taking_edit;
use super::workspace::{Workspace, map_in_parallel};
use super::{Checked, CheckedSite, Plan, ProgressUnit};
use crate::compare::reach::{Comparison, SiteReach, gather};
use crate::compare::{Limits, Texts};
use crate::deployment::Consequences;
use crate::diagnostic::{Diagnostic, Trait};
use crate::edit::{Edit, EditId, EditKind, RenamedKeys};
use crate::error::Error;
use crate::rules;
use crate::source::{RepoPath, SourceMap, Span, UsedRepository};
use crate::stopwatch::{Stage, add_count, time};
use crate::system::deckhand::layout::Place;
use crate::system::edits::{Edits, edits};
use crate::triage::{self, EditsOfFindings, FindingCauses, Findings};

/// Changes between the two sides of a workspace.
#[derive(Debug)]
pub struct Changes {
    /// Sites of the head.
    pub sites: Vec<CheckedSite<()>>,
    /// Further repositories of both sides, as the edits number them.
    pub repositories: Vec<UsedRepository>,
    /// Changes and their causes.
    pub comparison: Comparison,
    /// Findings of both sides: new, gone and unchanged.
    pub findings: triage::ComparedFindings,
    /// Paths of the files that differ between the sides.
    pub edited_files: BTreeSet<RepoPath>,
    /// Whether a part of layercake failed.
    pub internal_error: bool,
    /// Whether it depends on sites that were not read whether a finding is new or gone.
    pub depends_on_others: bool,
    /// What the changes ask of the operator of each site.
    pub consequences: Consequences,
}

/// Compares the head of `plan` with its base.
///
/// # Errors
/// As [`check`](super::check).
pub fn compare(plan: &Plan, settings: &Settings) -> Result<Compared, Error> {
    compare_with(plan, settings, &|_| ())
}

/// As [`compare`]; `per_site` takes data from both sides of each site.
///
/// # Errors
/// As [`check`](super::check).
pub fn compare_with(
    plan: &Plan,
    settings: &Settings,
    per_site: &PerPair<'_>,
) -> Result<Compared, Error> {
    let mut workspace = Workspace::once(plan.clone(), settings.work)?;
    let Changes {
        sites,
        repositories,
        comparison,
        findings,
        edited_files,
        internal_error,
        depends_on_others,
        consequences,
    } = workspace.changes_with(settings, per_site)?;
    let damaged_baseline = workspace.loaded.damaged_baseline.take();
    Ok(Compared {
        checked: Checked {
            internal_error,
            ..workspace.closed(sites, repositories)
        },
        comparison,
        findings,
        gated: Findings::default(),
        edited_files,
        damaged_baseline,
        depends_on_others,
        consequences,
    })
}

impl Workspace {
    /// Compares the two sides, in their current state.
    ///
    /// # Errors
    /// If the run is cancelled.
    pub fn changes(&self, settings: &Settings) -> Result<Changes, Error> {
        self.changes_with(settings, &|_| ())
    }

    fn changes_with(&self, settings: &Settings, per_site: &PerPair<'_>) -> Result<Changes, Error> {
        let Self { plan, loaded, .. } = self;
        let sides = Sides::of(plan, loaded);
        let documents = time(Stage::Pair, || Documents::of(&sides));
        let edited = &documents.edited;
        let unedited = &documents.unedited[..];
        let edits = time(Stage::Pair, || {
            let keys = &settings.keys;
            match settings.before {
                ComparedWith::Base => {
                    let files = sides.file_edits(edited);
                    edits(documents.base, documents.head, unedited, files, keys)
                }
                ComparedWith::Nothing => edits(Vec::new(), Vec::new(), &[], Vec::new(), keys),
            }
        });
        let repositories = used_repositories(plan, loaded);
        let edits = numbered_as_reported(edits, &sides, &repositories);
        add_count(Stage::Pair, || edits.edits.len());
        plan.control
            .progress
            .begin(ProgressUnit::Sites, Some(sides.pairs.len()));
        // Limits are the same as if all sites were compared.
        let limits = Limits::of_each(sides.pairs.len() + sides.head.left_out.len());
        let compared = map_in_parallel(plan, &sides.pairs, |pair| {
            let run = SiteRun {
                sides: &sides,
                settings,
                pair,
                edits: &edits,
                unedited,
                of_run: &self.known,
                limits,
            };
            let compared = run.guarded(per_site);
            plan.control.progress.add(ProgressUnit::Sites, 1);
            compared
        })?;
        let (mut findings, has_failed) = time(Stage::Judge, || {
            compared_findings(&sides, settings, &compared, &edits.edits)
        });
        add_count(Stage::Judge, || {
            let found = compared.iter();
            found
                .map(|site| site.base_findings.len() + site.head_findings.len())
                .sum()
        });
        let mut found = Vec::new();
        let mut sites = Vec::new();
        let mut concerned = BTreeSet::new();
        let mut consequences = Consequences {
            table: plan.options.configuration.consequences.clone(),
            ..Consequences::default()
        };
        for site in compared {
            sites.extend(site.checked);
            let name = site.found.reach.site.clone();
            consequences.of_sites.push((name, site.consequences));
            found.push(site.found);
            concerned.extend(site.concerned);
        }
        let is_edited = |site: Option<&Arc<str>>, file| {
            let file = loaded.sources.written(Span::point(file, 0)).file;
            let mut edited = edited.range((file, None)..=(file, Some(usize::MAX)));
            edited.any(|(_, number)| sides.revisions.are_of_site(*number, site))
        };
        let mut comparison = time(Stage::Route, || gather(edits.edits, found, &is_edited));
        let unread = sides.head.left_out_of(plan).cloned();
        comparison
            .sites
            .extend(unread.map(|(site, site_type)| SiteReach {
                site,
                site_type,
                is_read: false,
                ..SiteReach::default()
            }));
        if let Some(numbers) = limit(&sides, &mut comparison, &mut findings, &concerned) {
            consequences.keep(&|_| true, &numbers, &comparison);
        }
        let depends_on_others = leave_undecided_out(&sides, &mut findings);
        let files = edited.iter().map(|(file, _)| loaded.sources.get(*file));
        let real = files.filter(|file| file.decoded_from().is_none());
        Ok(Changes {
            sites,
            repositories,
            comparison,
            findings,
            edited_files: real.map(|file| file.path().clone()).collect(),
            internal_error: loaded.has_failed() || has_failed,
            depends_on_others,
            consequences,
        })
    }
}

/// Removes unchanged findings that depend on sites that were not read. Returns whether a new or gone
/// finding depends on them.
fn leave_undecided_out(sides: &Sides<'_>, findings: &mut triage::ComparedFindings) -> bool {
    if sides.head.left_out.is_empty() {
        return false;
    }
    let place_of = |path| sides.plan.layout().and_then(|layout| layout.place_of(path));
    let depends = |finding: &Diagnostic| {
        let path = sides.loaded.sources.path_of(finding.primary.span);
        let is_of_site = matches!(place_of(path), Some(Place::Site(_)));
        finding.rule.is(Trait::Everywhere) && !is_of_site
    };
    findings
        .unchanged
        .diagnostics
        .retain(|finding| !depends(finding));
    let changed = findings.new.diagnostics.iter();
    changed.chain(&findings.fixed.diagnostics).any(depends)
}

/// Numbers the further repositories of edits as reports do.
fn numbered_as_reported<'e>(
    mut edits: Edits<'e>,
    sides: &Sides<'_>,
    repositories: &[UsedRepository],
) -> Edits<'e> {
    let reported = sides.revisions.reported(sides.plan.further(), repositories);
    for edit in &mut edits.edits {
        edit.repository = edit.repository.map(|number| reported[number]);
    }
    edits
}

/// Removes what the plan does not request. Keeps the edits of the given files in the requested
/// sites, and the causes of reported findings. Returns the new ids of the edits, if any was removed.
fn limit(
    sides: &Sides<'_>,
    comparison: &mut Comparison,
    findings: &mut triage::ComparedFindings,
    concerned: &BTreeSet<EditId>,
) -> Option<Vec<Option<EditId>>> {
    if sides.plan.options.only.is_empty() && sides.plan.options.sites.is_none() {
        return None;
    }
    let reported: BTreeSet<EditId> = findings.causes.iter().flatten().copied().collect();
    let is_given = |edit: &Edit| {
        let texts = edit.base.iter().chain(&edit.head);
        let mut places = texts.flat_map(|text| std::iter::once(&text.at).chain(&text.covers));
        places.any(|place| sides.plan.concerns(sides.loaded.sources.path_of(*place)))
    };
    let in_site = |id: EditId| sides.plan.options.sites.is_none() || concerned.contains(&id);
    let numbers =
        comparison.keep(&|id, edit| reported.contains(&id) || (in_site(id) && is_given(edit)));
    findings.renumber(&numbers);
    Some(numbers)
}

/// Findings that are new, gone or unchanged, and whether one of them is an internal error. Internal
/// errors count as new on both sides, because they hide other findings.
fn compared_findings(
    sides: &Sides<'_>,
    settings: &Settings,
    sites: &[ComparedSite],
    edits: &[Edit],
) -> (triage::ComparedFindings, bool) {
    let loaded = sides.loaded;
    let of_files = |side: &LoadedSide| {
        let found = time(Stage::Rules, || loaded.file_findings(side));
        add_count(Stage::Rules, || found.len());
        found
    };
    let (mut head, mut base) = (of_files(sides.head), of_files(sides.base));
    base.extend(sides.base.layout_findings(&loaded.sources));
    head.extend(sides.head.layout_findings(&loaded.sources));
    let mut untried: BTreeSet<EditId> = BTreeSet::new();
    let mut caused: BTreeMap<FindingKey<'_>, &FindingCauses> = BTreeMap::new();
    let mut met_in_base = MetSources::new();
    let mut met_in_head = MetSources::new();
    for site in sites {
        met_in_base.extend(&site.met[0]);
        met_in_head.extend(&site.met[1]);
        untried.extend(&site.untried);
        base.extend(site.base_findings.iter().cloned());
        head.extend(site.head_findings.iter().cloned());
        for (index, causes) in &site.causes {
            caused.insert(finding_key(&site.head_findings[*index]), causes);
        }
    }
    base.extend(loaded.configuration_findings(sides.plan, sides.base, &met_in_base));
    if settings.before == ComparedWith::Nothing {
        // An empty base has no findings, not even for the empty folder.
        base.clear();
    }
    head.extend(loaded.configuration_findings(sides.plan, sides.head, &met_in_head));
    head.extend(loaded.configured.change());
    if settings.before == ComparedWith::Base {
        head.extend(loaded.exposed_findings());
    }
    let (internal, base): (Vec<_>, Vec<_>) = base.into_iter().partition(rules::is_internal);
    head.extend(internal);
    let has_failed = head.iter().any(rules::is_internal);
    let mut base = loaded.judge(sides.plan, sides.base, base);
    let mut head = loaded.judge(sides.plan, sides.head, head);
    sides.plan.keep_requested(&mut base);
    sides.plan.keep_requested(&mut head);
    let sources = &loaded.sources;
    let renamed = LazyCell::new(|| RenamedKeys::of(edits));
    let in_files = LazyCell::new(|| EditsInFiles::of(edits, &renamed, sources));
    let causes = |finding: &Diagnostic| match caused.get(&finding_key(finding)) {
        Some(causes) => (*causes).clone(),
        None => in_files.causes(finding),
    };
    let only = &sides.plan.options.only;
    let of_side = |findings, side: &LoadedSide| triage::SideFindings {
        findings,
        sites: side.site_names(),
    };
    let (base, head) = (of_side(base, sides.base), of_side(head, sides.head));
    let mut compared = triage::ComparedFindings::new(base, head, sources, only, &causes);
    let unread = |id: EditId| {
        let edit = &edits[id.index()];
        edit.head
            .as_ref()
            .filter(|_| edit.kind == EditKind::File)
            .map(|text| text.at.file)
    };
    let taking = |id: EditId| taking_edit(id, edits, &renamed, sources);
    let edits = EditsOfFindings {
        unread: &unread,
        taking: &taking,
        untried: &untried,
    };
    compared.mark_consequences(&edits, sources);
    let added_ignores = match settings.before {
        ComparedWith::Base => loaded.added_ignores(),
        ComparedWith::Nothing => 0,
    };
    (
        triage::ComparedFindings {
            added_ignores,
            ..compared
        },
        has_failed,
    )
}

/// Key that identifies a finding of one site.
type FindingKey<'d> = (Span, &'static str, &'d str, &'d [Arc<str>]);

fn finding_key(finding: &Diagnostic) -> FindingKey<'_> {
    (
        finding.primary.span,
        finding.rule.name,
        &*finding.message,
        &*finding.sites,
    )
}

/// Edits by file, to find the causes of findings of file rules.
struct EditsInFiles<'e> {
    renamed: &'e RenamedKeys,
    sources: &'e SourceMap,
    texts: Texts,
    by_path: BTreeMap<&'e RepoPath, Vec<EditId>>,
}

impl<'e> EditsInFiles<'e> {
    fn of(edits: &'e [Edit], renamed: &'e RenamedKeys, sources: &'e SourceMap) -> Self {
        let ids: Vec<EditId> = (0..edits.len()).map(EditId::at).collect();
        let texts = Texts::of(edits, &ids, |edit| edit.head.as_ref());
        let mut by_path: BTreeMap<&RepoPath, Vec<EditId>> = BTreeMap::new();
        for id in ids {
            let edit = &edits[id.index()];
            let texts = edit.base.iter().chain(&edit.head);
            let places = texts.flat_map(|text| std::iter::once(&text.at).chain(&text.covers));
            let paths = places.map(|place| sources.path_of(*place));
            for path in paths.collect::<BTreeSet<_>>() {
                by_path.entry(path).or_default().push(id);
            }
        }
        Self {
            renamed,
            sources,
            texts,
            by_path,
        }
    }

    /// Edits at the places of a finding, with those that removed what they add under another name;
    /// or else all edits of its file, unless they are too many.
    fn causes(&self, finding: &Diagnostic) -> FindingCauses {
        /// Maximum number of edits of the file that are causes of a finding.
        const MAX_EDITS: usize = 100;
        let there = at_places(finding, &self.texts);
        if there.is_empty() {
            let in_file = self.by_path.get(self.sources.path_of(finding.primary.span));
            let in_file = in_file.map_or(&[][..], Vec::as_slice);
            if in_file.len() > MAX_EDITS {
                return FindingCauses {
                    is_limited: true,
                    ..FindingCauses::default()
                };
            }
            return FindingCauses::known(in_file.to_vec());
        }
        let removed = there.iter().filter_map(|added| self.renamed.old_of(*added));
        let all: BTreeSet<EditId> = there.iter().copied().chain(removed).collect();
        FindingCauses::known(all.into_iter().collect())
    }
}
