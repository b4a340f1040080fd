//! `layercake lint --watch`: what each change of files does to the findings.

mod changes;

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::changes::{Changed, Changes};
use super::compare::{ComparisonRequest, SitesToRead};
use super::configuration::rule_pages;
use super::reports::{Judge, report_of_linted};
use super::sides::SideSelection;
use super::{Project, Selection, lint};
use crate::check::{RunControl, Workspace};
use crate::error::Error;
use crate::report::model::{Finding, Fingerprints, Report, ReportInput};
use crate::report::{FindingFilter, View};
use crate::source::RepoPath;
use crate::triage::Counts;

/// Findings that follow the files.
pub struct Watch {
    /// Root of the repository on disk.
    root: PathBuf,
    selection: Selection,
    request: ComparisonRequest,
    changes: Changes,
    opened: Option<(Project, Workspace)>,
    /// Changes that the workspace does not have yet.
    changed: Vec<Changed>,
    /// Last report with each finding.
    last: Option<Report>,
}

/// Effect of a change.
#[derive(Debug)]
pub struct WatchStep {
    /// Report with the new findings only.
    pub new: Report,
    /// Report with the fixed findings only.
    pub fixed: Report,
    /// Numbers of all findings now.
    pub counts: Counts,
}

impl WatchStep {
    /// Number of new findings.
    pub fn new_count(&self) -> usize {
        Finding::total(&self.new.findings)
    }

    /// Number of fixed findings.
    pub fn fixed_count(&self) -> usize {
        Finding::total(&self.fixed.findings)
    }
}

impl Watch {
    /// Checks what the selection names, compares it if requested, and returns the report.
    ///
    /// # Errors
    /// If a step fails, or the files cannot be watched.
    pub fn start(
        selection: Selection,
        request: ComparisonRequest,
    ) -> Result<(Self, Report), Error> {
        // First, so that no change is missed.
        let root = Project::root_around(&selection)?;
        let changes = Changes::below(&root)?;
        let mut watch = Self {
            root,
            selection,
            request,
            changes,
            opened: None,
            changed: Vec::new(),
            last: None,
        };
        let [shown, each] = watch.reports()?;
        watch.last = Some(each);
        Ok((watch, shown))
    }

    /// Waits for changes. `None` if the findings are the same after them.
    ///
    /// # Errors
    /// If a step fails; the changes are judged with the next ones.
    pub fn next_step(&mut self) -> Result<Option<WatchStep>, Error> {
        self.changed.push(self.changes.next());
        let [_, each] = self.reports()?;
        self.changed.clear();
        let step = self.last.as_ref().map(|before| WatchStep {
            new: beyond(&each, before),
            fixed: beyond(before, &each),
            counts: each.totals.findings,
        });
        self.last = Some(each);
        Ok(step.filter(|step| !(step.new.findings.is_empty() && step.fixed.findings.is_empty())))
    }

    /// Reports of the present state: as `lint` shows it, and with each finding.
    fn reports(&mut self) -> Result<[Report; 2], Error> {
        if self.request.wanted == SideSelection::default() {
            return self.reports_of_one_side();
        }
        let control = RunControl::default();
        let (selection, request) = (&self.selection, &self.request);
        let linted = lint::run(selection, request, SitesToRead::Reached, &control)?;
        let verdict = Judge::USUAL.of_linted(&linted, request);
        Ok([false, true].map(|all| {
            let listing = FindingFilter {
                all,
                ignored: false,
            };
            report_of_linted(&linted, verdict, listing, selection, Duration::ZERO)
        }))
    }

    fn reports_of_one_side(&mut self) -> Result<[Report; 2], Error> {
        let project = Project::open(&self.selection)?;
        let control = RunControl::default();
        let (project, workspace) = match &mut self.opened {
            Some((before, workspace)) => {
                let project = project.with_options_of(before);
                let files = files(&self.changed, &self.root, workspace);
                workspace.change(project.plan(&control), &files)?;
                *before = project;
                (&*before, workspace)
            }
            None => {
                let workspace = Workspace::judging(project.plan(&control))?;
                let (project, workspace) = self.opened.insert((project, workspace));
                (&*project, workspace)
            }
        };
        let findings = workspace.findings()?;
        let (sources, secrets, opaque) = workspace.texts();
        let view = View::new(sources, &secrets, &opaque);
        Ok([false, true].map(|all| {
            let listed = findings.reported(all, sources);
            Report::new(ReportInput::of_findings(&listed), &view)
                .with_rule_pages(rule_pages(&project.configured))
        }))
    }
}

/// Changed files in the repository. A folder that came, went or was replaced means its known files.
fn files(changed: &[Changed], root: &Path, workspace: &Workspace) -> BTreeSet<RepoPath> {
    let known = || workspace.sources().iter().map(|(_, source)| source.path());
    let mut files = BTreeSet::new();
    for changed in changed {
        match changed {
            Changed::Anything => files.extend(known().cloned()),
            Changed::Paths(paths) => {
                let paths = paths.iter();
                let paths = paths.filter_map(|path| RepoPath::of_place(root, path));
                for path in paths {
                    files.extend(known().filter(|it| it.below(&path).is_some()).cloned());
                    files.insert(path);
                }
            }
        }
    }
    files
}

/// The report with only the open findings that another one does not have.
fn beyond(report: &Report, other: &Report) -> Report {
    let mut known = Fingerprints::default();
    let known: HashSet<String> = open(other).map(|finding| known.next(finding)).collect();
    let mut ids = Fingerprints::default();
    let findings = open(report).filter(|finding| !known.contains(&ids.next(finding)));
    Report {
        findings: findings.cloned().collect(),
        comparison: None,
        ..report.clone()
    }
}

fn open(report: &Report) -> impl Iterator<Item = &Finding> {
    report.findings.iter().filter(|finding| finding.is_new())
}
