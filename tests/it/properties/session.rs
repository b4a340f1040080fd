//! A session after edits has the result of a new run, and reads and checks only what it must.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use layercake::check::{
    Base, Options, Plan, ProgressStep, ProgressUnit, RunControl, Scope, Session, Settings,
    compare_with,
};
use layercake::commands::{Selection, Workspace};
use layercake::error::{Error, ErrorKind};
use layercake::merge::deckhand::Semantics;
use layercake::rules::RuleOptions;
use layercake::source::{Entry, MemoryTree, OverlaidTexts, ReadError, RepoPath, Tree};
use layercake::system::deckhand::layout::Layout;
use proptest::prelude::*;

use super::edits::edited;
use super::repository::Repository;
use super::{SEMANTICS, config, run_result};
use crate::cli::Sandbox;
use crate::support::{finding_text, options};

/// Tree without content hashes, like a folder on disk.
struct OnDisk {
    files: MemoryTree,
    /// A file that cannot be read for a reason that may affect others, such as a lost connection.
    lost: Option<RepoPath>,
}

impl Tree for OnDisk {
    fn inner(&self) -> Option<&dyn Tree> {
        Some(&self.files)
    }

    fn entries(&self, folder: &RepoPath) -> Result<Vec<Entry>, Error> {
        let mut entries = self.files.entries(folder)?;
        for entry in &mut entries {
            entry.content = None;
        }
        Ok(entries)
    }

    fn read(&self, path: &RepoPath) -> Result<Vec<u8>, ReadError> {
        if self.lost.as_ref() == Some(path) {
            let (reason, help) = ("the disk is gone".to_owned(), "mount it");
            return Err(ReadError::Damaged { reason, help });
        }
        self.files.read(path)
    }
}

/// Plan to check files with these options.
fn plan(files: &MemoryTree, options: &Arc<Options>) -> Plan {
    plan_of(files, None, options)
}

fn plan_of(files: &MemoryTree, lost: Option<&str>, options: &Arc<Options>) -> Plan {
    let tree = OnDisk {
        files: files.clone(),
        lost: lost.map(RepoPath::new),
    };
    let layout = Layout::discover(&tree, &RepoPath::new("")).expect("memory can be listed");
    let layout = layout.expect("the files are a site repository");
    Plan {
        tree: Arc::new(tree),
        scope: Scope::of_repository(layout),
        base: None,
        options: options.clone(),
        control: RunControl::default(),
    }
}

fn findings(session: &mut Session) -> Vec<String> {
    let found = session.findings().expect("it is not cancelled").diagnostics;
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
            let options = Arc::new(Options::of(options(semantics)));
            let plans = [&edited.base, &edited.head].map(|it| plan(&it.tree(), &options));
            let mut session = Session::judging(plans[0].clone()).expect("memory can be read");
            prop_assert_eq!(&findings(&mut session), &new[0]);
            for at in 1..4 {
                session.change(plans[at % 2].clone(), &changed).expect("memory can be read");
                prop_assert_eq!(&findings(&mut session), &new[at % 2], "edit {}", at);
            }
        }
    }
}

/// A repository with three sites, one of which has this text.
fn sites_with(text: &str) -> MemoryTree {
    let definition = "schema: pegleg/SiteDefinition/v1\nmetadata:\n  schema: metadata/Document/v1\n  \
                      name: x\n  layeringDefinition: {abstract: false, layer: site}\ndata: \
                      {site_type: t}\n";
    let files = MemoryTree::new()
        .with("global/a.yaml", "a: 1\n")
        .with("type/t/a.yaml", "a: 1\n")
        .with("site/two/a.yaml", text);
    ["one", "two", "three"]
        .into_iter()
        .fold(files, |files, site| {
            files.with(&format!("site/{site}/site-definition.yaml"), definition)
        })
}

fn edited_file() -> BTreeSet<RepoPath> {
    BTreeSet::from([RepoPath::new("site/two/a.yaml")])
}

#[test]
fn edit_in_a_site_reads_one_file_and_checks_one_site() {
    let options = usual();
    let [before, after] = ["a: 1\n", "a: [\n"].map(|text| plan(&sites_with(text), &options));
    let mut session = Session::judging(before.clone()).expect("memory can be read");
    assert_eq!(
        before.control.progress.step(),
        all_done(ProgressUnit::Files, 6)
    );
    let found = findings(&mut session);
    assert_eq!(
        before.control.progress.step(),
        all_done(ProgressUnit::Sites, 3)
    );
    session
        .change(after.clone(), &edited_file())
        .expect("memory can be read");
    assert_eq!(
        after.control.progress.step(),
        all_done(ProgressUnit::Files, 1)
    );
    let new = findings(&mut session);
    assert_eq!(
        after.control.progress.step(),
        all_done(ProgressUnit::Sites, 1)
    );
    let is_unread = |finding: &String| finding.contains("[invalid-yaml]");
    assert!(
        !found.iter().any(is_unread) && new.iter().any(is_unread),
        "{new:?}"
    );
}

#[test]
fn failed_change_keeps_the_state() {
    let options = usual();
    let (before, after) = (sites_with("a: 1\n"), sites_with("a: [\n"));
    let mut session = Session::judging(plan(&before, &options)).expect("memory can be read");
    let found = findings(&mut session);
    for lost in ["site/two/a.yaml", "global/a.yaml"] {
        // The file that is not known any more is read first.
        let changed = BTreeSet::from([RepoPath::new("site/two/a.yaml"), RepoPath::new(lost)]);
        let failed = session.change(plan_of(&after, Some(lost), &options), &changed);
        let error = failed.expect_err("the file cannot be read").to_string();
        assert!(error.contains("the disk is gone"), "{error}");
        assert_eq!(findings(&mut session), found, "after {lost}");
    }
    session
        .change(plan(&after, &options), &edited_file())
        .expect("memory can be read");
    let new = Session::judging(plan(&after, &options)).expect("memory can be read");
    assert_eq!(findings(&mut session), findings(&mut { new }));
}

/// A cancelled run ends with an error and changes nothing: the next one has the whole result.
#[test]
fn cancelled_change_keeps_the_state() {
    let options = usual();
    let (before, after) = (sites_with("a: 1\n"), sites_with("a: [\n"));
    let mut session = Session::judging(plan(&before, &options)).expect("memory can be read");
    let found = findings(&mut session);
    let next = plan(&after, &options);
    next.control.cancel.cancel();
    let failed = session
        .change(next, &edited_file())
        .expect_err("it is cancelled");
    assert_eq!(failed.kind(), ErrorKind::Cancelled);
    assert_eq!(findings(&mut session), found);

    let next = plan(&after, &options);
    let cancel = next.control.cancel.clone();
    session
        .change(next, &edited_file())
        .expect("memory can be read");
    cancel.cancel();
    let failed = session.findings().expect_err("it is cancelled");
    assert_eq!(failed.kind(), ErrorKind::Cancelled);
    session
        .change(plan(&after, &options), &BTreeSet::new())
        .expect("memory can be read");
    let mut new = Session::judging(plan(&after, &options)).expect("memory can be read");
    assert_eq!(findings(&mut session), findings(&mut new));
}

#[test]
fn cancelled_comparison_is_an_error() {
    let [base, head] = ["a: 1\n", "a: 2\n"].map(sites_with);
    let layout = |files| Layout::discover(files, &RepoPath::new("")).expect("memory can be listed");
    let earlier = Base::of_repository(Arc::new(base.clone()), layout(&base));
    let options = Options::of(options(Semantics::Documented));
    let plan = options.plan(Arc::new(head.clone()), layout(&head), Some(earlier));
    let cancel = plan.control.cancel.clone();
    let compared = compare_with(&plan, &Settings::default(), &|_| cancel.cancel());
    let error = compared.expect_err("a site was reached");
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}

/// A change of the options is a new run.
#[test]
fn changed_options_apply_to_everything() {
    let usual = usual();
    let files = sites_with("schema: a/B/v1\nmetadata: {schema: metadata/Document/v1}\ndata: {}\n");
    let settings = RuleOptions {
        wanted: HashSet::default(),
        ..usual.rules.clone()
    };
    let none = Arc::new(Options {
        rules: settings,
        ..Options::clone(&usual)
    });
    let mut session = Session::judging(plan(&files, &usual)).expect("memory can be read");
    let with_rules = findings(&mut session);
    let mut new = Session::judging(plan(&files, &none)).expect("memory can be read");
    let without = findings(&mut new);
    assert_ne!(with_rules, without);
    for (options, expected) in [(&none, &without), (&usual, &with_rules)] {
        session
            .change(plan(&files, options), &BTreeSet::new())
            .expect("memory can be read");
        assert_eq!(&findings(&mut session), expected);
    }
}

/// Replaced texts are freed.
#[test]
fn thousand_edits_hold_as_many_texts_as_ten() {
    let options = usual();
    let mut session =
        Session::judging(plan(&sites_with("a: 0\n"), &options)).expect("memory can be read");
    let mut held = Vec::new();
    for at in 1..=1_000 {
        let text = format!(
            "a: {at:0100}\nb: [{}\n",
            if at % 3 == 0 { " " } else { "]" }
        );
        session
            .change(plan(&sites_with(&text), &options), &edited_file())
            .expect("memory can be read");
        findings(&mut session);
        let texts = session.sources().iter();
        let texts: Vec<usize> = texts.map(|(_, source)| source.text().len()).collect();
        held.push((texts.len(), texts.iter().sum::<usize>()));
    }
    let other = held.iter().position(|it| *it != held[9]);
    assert_eq!(other, None, "{:?}", held[9]);
}

/// An entry of the configuration that only another site needs is used, whichever site is judged
/// again; and an overlay may add and remove files.
#[test]
fn configuration_is_used_by_sites_that_did_not_change() {
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "layercake.yaml",
        "render: {known-missing-sources: ['*/nowhere']}\n",
    );
    sandbox.break_site("lab");
    let opened = |texts: OverlaidTexts| {
        let selection = Selection {
            texts,
            ..Selection::of(sandbox.path(""))
        };
        Workspace::open(&selection)
            .expect("the folder can be read")
            .plan(&RunControl::default())
    };
    let first = opened(OverlaidTexts::new());
    let mut session = Session::judging(first.clone()).expect("the folder can be read");
    assert_eq!(findings(&mut session), NOTHING);
    let text = |path: &str, text: Option<&str>| (RepoPath::new(path), text.map(Arc::from));
    let invalid = text("site/prod/added.yaml", Some("a: [\n"));
    let removed = text("site/lab/broken.yaml", None);
    for (texts, rules) in [
        (vec![invalid], vec!["invalid-yaml"]),
        (vec![], vec![]),
        (vec![removed], vec!["unused-configuration"]),
        (vec![], vec![]),
    ] {
        let plan = Plan {
            options: first.options.clone(),
            ..opened(texts.into_iter().collect())
        };
        let changed = ["site/prod/added.yaml", "site/lab/broken.yaml"].map(RepoPath::new);
        session
            .change(plan, &changed.into())
            .expect("the folder can be read");
        let found = session.findings().expect("it is not cancelled").diagnostics;
        let found: Vec<&str> = found.iter().map(|finding| finding.rule.name).collect();
        assert_eq!(found, rules);
    }
}

const NOTHING: Vec<String> = Vec::new();

/// The usual options.
fn usual() -> Arc<Options> {
    Arc::new(Options::of(options(Semantics::Documented)))
}

fn all_done(unit: ProgressUnit, count: usize) -> ProgressStep {
    ProgressStep {
        unit,
        done: count,
        all: Some(count),
    }
}
