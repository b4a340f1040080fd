//! A workspace after edits has the result of a new run, and reads and checks only what it must.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use layercake::check::{
    Answer, Base, Options, Plan, ProgressStep, ProgressUnit, RunControl, Scope, Settings,
    Workspace, compare, compare_with,
};
use layercake::commands::{Project, Selection};
use layercake::compare::reach::Comparison;
use layercake::error::{Error, ErrorKind};
use layercake::merge::deckhand::Semantics;
use layercake::report::canonical;
use layercake::rules::RuleOptions;
use layercake::source::{Entry, MemoryTree, OverlaidTexts, ReadError, RepoPath, SourceMap, Tree};
use layercake::stopwatch::{Stage, Stopwatch};
use layercake::system::deckhand::layout::Layout;
use layercake::triage::ComparedFindings;
use proptest::prelude::*;

use super::edits::edited;
use super::repository::Repository;
use super::{SEMANTICS, config, run_result};
use crate::cli::Sandbox;
use crate::laws::comparing::describe_changes;
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

fn findings(workspace: &mut Workspace) -> Vec<String> {
    let found = workspace
        .findings()
        .expect("it is not cancelled")
        .diagnostics;
    found
        .iter()
        .map(|finding| finding_text(finding, workspace.sources()))
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
            let mut workspace = Workspace::judging(plans[0].clone()).expect("memory can be read");
            prop_assert_eq!(&findings(&mut workspace), &new[0]);
            for at in 1..4 {
                workspace.change(plans[at % 2].clone(), &changed).expect("memory can be read");
                prop_assert_eq!(&findings(&mut workspace), &new[at % 2], "edit {}", at);
            }
        }
    }

    #[test]
    fn changes_after_edits_equal_those_of_a_new_comparison(edited in edited()) {
        let changed = changed(&edited.base, &edited.head);
        let [base, head] = [&edited.base, &edited.head].map(Repository::tree);
        let layout = |tree: &MemoryTree| Layout::discover(tree, &RepoPath::new("")).expect("memory can be listed");
        let earlier = Base::of_repository(Arc::new(base.clone()), layout(&base));
        for semantics in SEMANTICS {
            let options = Arc::new(Options::of(options(semantics)));
            let plans = [&base, &head].map(|tree| Plan {
                base: Some(earlier.clone()),
                ..plan(tree, &options)
            });
            let new = plans.each_ref().map(|plan| {
                let compared = compare(plan, &Settings::default()).expect("memory can be compared");
                seen(&compared.comparison, &compared.findings, &compared.checked.sources)
            });
            let mut workspace = Workspace::judging(plans[0].clone()).expect("memory can be read");
            for at in 0..4 {
                if at > 0 {
                    workspace.change(plans[at % 2].clone(), &changed).expect("memory can be read");
                }
                let changes = workspace.changes(&Settings::default()).expect("it is not cancelled");
                let seen = seen(&changes.comparison, &changes.findings, workspace.sources());
                prop_assert_eq!(&seen, &new[at % 2], "edit {}", at);
            }
        }
    }
}

/// Changed outputs, edits with the numbers of outputs that they changed, and new findings.
fn seen(comparison: &Comparison, findings: &ComparedFindings, sources: &SourceMap) -> Vec<String> {
    let edits = comparison.edits.iter().map(|reach| {
        let at = sources.start(reach.edit.at()).line;
        format!(
            "{at} {:?} {} {:?} {:?}",
            reach.edit.kind, reach.outputs, reach.sites, reach.shielded
        )
    });
    let new = &findings.new.diagnostics;
    let found = new.iter().map(|finding| finding_text(finding, sources));
    describe_changes(comparison, false)
        .into_iter()
        .chain(edits)
        .chain(found)
        .collect()
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
    let [before, after] =
        ["a: 1\n", "a: 1\n---\na: 2\n"].map(|text| plan(&sites_with(text), &options));
    let mut workspace = Workspace::judging(before.clone()).expect("memory can be read");
    assert_eq!(
        before.control.progress.step(),
        all_done(ProgressUnit::Files, 6)
    );
    let found = findings(&mut workspace);
    assert_eq!(
        before.control.progress.step(),
        all_done(ProgressUnit::Sites, 3)
    );
    workspace
        .change(after.clone(), &edited_file())
        .expect("memory can be read");
    assert_eq!(
        after.control.progress.step(),
        all_done(ProgressUnit::Files, 1)
    );
    let new = findings(&mut workspace);
    assert_eq!(
        after.control.progress.step(),
        all_done(ProgressUnit::Sites, 1)
    );
    assert_eq!(new.len(), found.len() + 1, "{new:?}");
}

#[test]
fn failed_change_keeps_the_state() {
    let options = usual();
    let (before, after) = (sites_with("a: 1\n"), sites_with("a: [\n"));
    let mut workspace = Workspace::judging(plan(&before, &options)).expect("memory can be read");
    let found = findings(&mut workspace);
    for lost in ["site/two/a.yaml", "global/a.yaml"] {
        // The file that is not known any more is read first.
        let changed = BTreeSet::from([RepoPath::new("site/two/a.yaml"), RepoPath::new(lost)]);
        let failed = workspace.change(plan_of(&after, Some(lost), &options), &changed);
        let error = failed.expect_err("the file cannot be read").to_string();
        assert!(error.contains("the disk is gone"), "{error}");
        assert_eq!(findings(&mut workspace), found, "after {lost}");
    }
    workspace
        .change(plan(&after, &options), &edited_file())
        .expect("memory can be read");
    let new = Workspace::judging(plan(&after, &options)).expect("memory can be read");
    assert_eq!(findings(&mut workspace), findings(&mut { new }));
}

/// A cancelled run ends with an error and changes nothing: the next one has the whole result.
#[test]
fn cancelled_change_keeps_the_state() {
    let options = usual();
    let (before, after) = (sites_with("a: 1\n"), sites_with("a: [\n"));
    let mut workspace = Workspace::judging(plan(&before, &options)).expect("memory can be read");
    let found = findings(&mut workspace);
    let next = plan(&after, &options);
    next.control.cancel.cancel();
    let failed = workspace
        .change(next, &edited_file())
        .expect_err("it is cancelled");
    assert_eq!(failed.kind(), ErrorKind::Cancelled);
    assert_eq!(findings(&mut workspace), found);

    let next = plan(&after, &options);
    let cancel = next.control.cancel.clone();
    workspace
        .change(next, &edited_file())
        .expect("memory can be read");
    cancel.cancel();
    let failed = workspace.findings().expect_err("it is cancelled");
    assert_eq!(failed.kind(), ErrorKind::Cancelled);
    workspace
        .change(plan(&after, &options), &BTreeSet::new())
        .expect("memory can be read");
    let mut new = Workspace::judging(plan(&after, &options)).expect("memory can be read");
    assert_eq!(findings(&mut workspace), findings(&mut new));
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
    let mut workspace = Workspace::judging(plan(&files, &usual)).expect("memory can be read");
    let with_rules = findings(&mut workspace);
    let mut new = Workspace::judging(plan(&files, &none)).expect("memory can be read");
    let without = findings(&mut new);
    assert_ne!(with_rules, without);
    for (options, expected) in [(&none, &without), (&usual, &with_rules)] {
        workspace
            .change(plan(&files, options), &BTreeSet::new())
            .expect("memory can be read");
        assert_eq!(&findings(&mut workspace), expected);
    }
}

/// A question renders what it needs, also if the workspace judges.
#[test]
fn question_to_a_judging_workspace_costs_no_rules() {
    let mut workspace = Workspace::judging(plan(
        &sites_with(&format!("{POLICY}{PARENT}{CHILD}")),
        &usual(),
    ))
    .expect("memory can be read");
    let only = BTreeSet::from([Arc::from("two")]);
    let stopwatch = Stopwatch::start();
    let answers = stopwatch.time(|| {
        workspace.ask(Some(&only), |site| {
            let child = site
                .graph
                .iter()
                .find(|(_, recipe)| &*recipe.key.name == "child");
            let (child, _) = child.expect("the file has it");
            if site.rendered.is_wanted(child) {
                Answer::Is(site.rendered.data(child).map(canonical))
            } else {
                Answer::Needs(vec![child])
            }
        })
    });
    let answers = answers.expect("it is not cancelled");
    let rendered = Some(r#"{"of_child":2,"of_parent":1}"#.to_owned());
    assert_eq!(
        answers,
        BTreeMap::from([(Some(Arc::from("two")), rendered)])
    );
    let times = stopwatch.times();
    assert_eq!(
        (times.of(Stage::Rules).count, times.of(Stage::Render).count),
        (0, 2)
    );
}

/// A file that cannot be parsed any more keeps its last documents for findings elsewhere and for
/// questions; its findings are its own.
#[test]
fn half_typed_file_keeps_its_last_documents() {
    let (options, path) = (usual(), "site/two/parent.yaml");
    let files = |parent: &str| sites_with(&format!("{POLICY}{CHILD}")).with(path, parent);
    let typed = PARENT.replace("of_parent: 1", "of_parent: [1");
    let mut workspace =
        Workspace::judging(plan(&files(PARENT), &options)).expect("memory can be read");
    let before = elsewhere(findings(&mut workspace), path);
    let changed = BTreeSet::from([RepoPath::new(path)]);
    for text in [typed.as_str(), PARENT, typed.as_str(), ""] {
        workspace
            .change(plan(&files(text), &options), &changed)
            .expect("memory can be read");
        let found = findings(&mut workspace);
        let mut new = Workspace::judging(plan(&files(text), &options)).expect("memory can be read");
        let of_new = findings(&mut new);
        if text == typed {
            assert_eq!(found.iter().filter(|it| it.starts_with(path)).count(), 1);
            assert_eq!(elsewhere(found, path), before);
            assert_ne!(
                elsewhere(of_new, path),
                before,
                "a new run has no earlier content"
            );
        } else {
            assert_eq!(found, of_new);
        }
        let with_parent = workspace.ask(None, |site| {
            let mut recipes = site.graph.iter();
            Answer::Is(recipes.any(|(_, recipe)| recipe.base.is_some()))
        });
        let with_parent = with_parent.expect("it is not cancelled");
        assert_eq!(
            with_parent[&Some(Arc::from("two"))],
            !text.is_empty(),
            "{text}"
        );
    }
}

/// A site definition that is being typed does not remove its site.
#[test]
fn half_typed_definition_keeps_its_site() {
    let (options, path) = (usual(), "site/two/site-definition.yaml");
    let files = sites_with(&format!("{POLICY}{PARENT}{CHILD}"));
    let typed = files
        .clone()
        .with(path, "schema: pegleg/SiteDefinition/v1\nmetadata: {\n");
    let mut workspace = Workspace::judging(plan(&files, &options)).expect("memory can be read");
    let before = elsewhere(findings(&mut workspace), path);
    let changed = BTreeSet::from([RepoPath::new(path)]);
    workspace
        .change(plan(&typed, &options), &changed)
        .expect("memory can be read");
    assert_eq!(elsewhere(findings(&mut workspace), path), before);
    let sites = workspace
        .ask(None, |_| Answer::Is(()))
        .expect("it is not cancelled");
    assert_eq!(sites.len(), 3);
}

/// Findings in other files.
fn elsewhere(mut findings: Vec<String>, path: &str) -> Vec<String> {
    findings.retain(|it| !it.starts_with(path));
    findings
}

/// Replaced texts are freed.
#[test]
fn thousand_edits_hold_as_many_texts_as_ten() {
    let options = usual();
    let mut workspace =
        Workspace::judging(plan(&sites_with("a: 0\n"), &options)).expect("memory can be read");
    let mut held = Vec::new();
    for at in 1..=1_000 {
        let text = format!(
            "a: {at:0100}\nb: [{}\n",
            if at % 3 == 0 { " " } else { "]" }
        );
        workspace
            .change(plan(&sites_with(&text), &options), &edited_file())
            .expect("memory can be read");
        findings(&mut workspace);
        let texts = workspace.sources().iter();
        let texts: Vec<usize> = texts.map(|(_, source)| source.text().len()).collect();
        held.push((texts.len(), texts.iter().sum::<usize>()));
    }
    // While a file cannot be parsed, its last content that could be is kept, too.
    let other = (9..held.len()).find(|at| held[*at] != held[9 + at % 3]);
    assert_eq!(other, None, "{:?}", &held[9..12]);
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
        Project::open(&selection)
            .expect("the folder can be read")
            .plan(&RunControl::default())
    };
    let first = opened(OverlaidTexts::new());
    let mut workspace = Workspace::judging(first.clone()).expect("the folder can be read");
    assert_eq!(findings(&mut workspace), NOTHING);
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
        workspace
            .change(plan, &changed.into())
            .expect("the folder can be read");
        let found = workspace
            .findings()
            .expect("it is not cancelled")
            .diagnostics;
        let found: Vec<&str> = found.iter().map(|finding| finding.rule.name).collect();
        assert_eq!(found, rules);
    }
}

const NOTHING: Vec<String> = Vec::new();

const POLICY: &str = "---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {schema: \
                      metadata/Control/v1, name: policy, storagePolicy: cleartext}\ndata: {layerOrder: \
                      [global, type, site]}\n";

const PARENT: &str = "---\nschema: a/B/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: parent\n  \
                      storagePolicy: cleartext\n  labels: {its: parent}\n  layeringDefinition: \
                      {abstract: false, layer: global}\ndata: {of_parent: 1}\n";

const CHILD: &str = "---\nschema: a/B/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: child\n  \
                     storagePolicy: cleartext\n  layeringDefinition:\n    abstract: false\n    layer: \
                     site\n    parentSelector: {its: parent}\n    actions: [{method: merge, path: \
                     .}]\ndata: {of_child: 2}\n";

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
