//! A session after edits has the result of a new run, and reads and checks only what it must.

use std::collections::BTreeSet;

use layercake::check::{Options, Plan, Progress, ProgressStep, ProgressUnit, Scope, Session};
use layercake::error::Error;
use layercake::merge::deckhand::Semantics;
use layercake::source::{Entry, MemoryTree, RepoPath, Tree};
use layercake::system::deckhand::layout::Layout;
use proptest::prelude::*;

use super::edits::edited;
use super::repository::Repository;
use super::{SEMANTICS, config, run_result};
use crate::support::{finding_text, options};

/// Tree without content hashes, like a folder on disk.
struct OnDisk(MemoryTree);

impl Tree for OnDisk {
    fn inner(&self) -> Option<&dyn Tree> {
        Some(&self.0)
    }

    fn entries(&self, folder: &RepoPath) -> Result<Vec<Entry>, Error> {
        let mut entries = self.0.entries(folder)?;
        for entry in &mut entries {
            entry.content = None;
        }
        Ok(entries)
    }
}

/// State of the repository, as read by a plan.
struct State {
    tree: OnDisk,
    layout: Layout,
    progress: Progress,
}

impl State {
    fn of(tree: MemoryTree) -> Self {
        let layout = Layout::discover(&tree, &RepoPath::new("")).expect("memory can be listed");
        let layout = layout.expect("the files are a site repository");
        Self {
            tree: OnDisk(tree),
            layout,
            progress: Progress::default(),
        }
    }

    fn plan(&self, semantics: Semantics) -> Plan<'_> {
        Plan {
            tree: &self.tree,
            scope: Scope::of_repository(&self.layout),
            base: None,
            options: Options::of(options(semantics)),
            progress: &self.progress,
        }
    }
}

fn findings(session: &mut Session<'_>) -> Vec<String> {
    let found = session.findings().diagnostics;
    found
        .iter()
        .map(|finding| finding_text(finding, session.sources()))
        .collect()
}

/// Files that differ between two repositories.
fn changed(one: &Repository, other: &Repository) -> BTreeSet<RepoPath> {
    let [one, other] = [one, other].map(|repository| {
        repository
            .files
            .iter()
            .cloned()
            .collect::<BTreeSet<(String, String)>>()
    });
    one.symmetric_difference(&other)
        .map(|(path, _)| RepoPath::new(path.as_str()))
        .collect()
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn findings_after_edits_equal_those_of_a_new_run(edited in edited()) {
        let changed = changed(&edited.base, &edited.head);
        for semantics in SEMANTICS {
            let new = [&edited.base, &edited.head].map(|it| run_result(&it.tree(), "", semantics).findings);
            let states = [&edited.base, &edited.head, &edited.base, &edited.head];
            let states = states.map(|repository| State::of(repository.tree()));
            let plans: Vec<Plan<'_>> = states.iter().map(|state| state.plan(semantics)).collect();
            let mut session = Session::judging(&plans[0]).expect("memory can be read");
            prop_assert_eq!(&findings(&mut session), &new[0]);
            for (at, plan) in plans.iter().enumerate().skip(1) {
                session = session.changed(plan, &changed).expect("memory can be read");
                prop_assert_eq!(&findings(&mut session), &new[at % 2], "edit {}", at);
            }
        }
    }
}

#[test]
fn edit_in_a_site_reads_one_file_and_checks_one_site() {
    let definition = |site_type: &str| {
        format!(
            "schema: pegleg/SiteDefinition/v1\nmetadata:\n  schema: metadata/Document/v1\n  \
             name: x\n  layeringDefinition: {{abstract: false, layer: site}}\ndata: {{site_type: \
             {site_type}}}\n"
        )
    };
    let of = |text: &str| {
        let files = MemoryTree::new().with("global/a.yaml", "a: 1\n");
        let files = files.with("type/t/a.yaml", "a: 1\n");
        let sites = ["one", "two", "three"]
            .into_iter()
            .fold(files, |files, site| {
                files.with(
                    &format!("site/{site}/site-definition.yaml"),
                    definition("t"),
                )
            });
        State::of(sites.with("site/two/a.yaml", text))
    };
    let (before, after) = (of("a: 1\n"), of("a: [\n"));
    let plans = [&before, &after].map(|state| state.plan(Semantics::Documented));
    let mut session = Session::judging(&plans[0]).expect("memory can be read");
    assert_eq!(before.progress.step(), all_done(ProgressUnit::Files, 6));
    let found = findings(&mut session);
    assert_eq!(before.progress.step(), all_done(ProgressUnit::Sites, 3));
    let edited = BTreeSet::from([RepoPath::new("site/two/a.yaml")]);
    let mut session = session
        .changed(&plans[1], &edited)
        .expect("memory can be read");
    assert_eq!(after.progress.step(), all_done(ProgressUnit::Files, 1));
    let new = findings(&mut session);
    assert_eq!(after.progress.step(), all_done(ProgressUnit::Sites, 1));
    let is_unread = |finding: &String| finding.contains("[invalid-yaml]");
    assert!(
        !found.iter().any(is_unread) && new.iter().any(is_unread),
        "{new:?}"
    );
}

fn all_done(unit: ProgressUnit, count: usize) -> ProgressStep {
    ProgressStep {
        unit,
        done: count,
        all: Some(count),
    }
}
