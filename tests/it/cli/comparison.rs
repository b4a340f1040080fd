//! `lint` and `diff` over two sides, run by users and by hooks, in repositories made with the real
//! `git`.

mod causes;
mod deployed;
mod explain_since;
mod limits;
mod orders;
mod parts;
mod reached;
mod refusals;
mod renames;
mod sites;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value as Json;

use super::{Ran, Sandbox, broken, definition, document, resolved};
use crate::git::add_submodule;

/// A repository with one commit: a chart in the global layer, its child in site `lab`, and a
/// document of its own in each site.
fn repository() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.write("global/parent.yaml", parent(1));
    sandbox.write("site/lab/child.yaml", child());
    sandbox.commit();
    sandbox
}

fn parent(replicas: u32) -> String {
    let data = format!("\n  values:\n    replicas: {replicas}\n    debug: true\n");
    document("parent", "global", &data)
        .replace("  storagePolicy", "  labels: {is: parent}\n  storagePolicy")
}

fn child() -> String {
    document("child", "site", "{own: 1}").replace(
        "{abstract: false, layer: site}",
        "\n    abstract: false\n    layer: site\n    parentSelector: {is: parent}\n    \
         actions: [{method: merge, path: .}]",
    )
}

impl Sandbox {
    /// Installs `script` as a hook, in which `$layercake` is the program. Its output is recorded,
    /// and its exit code is the hook's.
    fn hook(&self, name: &str, script: &str) {
        let program = env!("CARGO_BIN_EXE_layercake");
        let record = self.beside("record").display().to_string();
        let text = format!("#!/bin/sh\nlayercake='{program}'\n({script}) > '{record}' 2>&1\n");
        let path = self.path(".git/hooks").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn recorded(&self) -> String {
        fs::read_to_string(self.beside("record")).unwrap()
    }

    /// Runs `git` in a folder, and allows it to fail.
    fn try_git(&self, folder: &Path, arguments: &[&str]) -> Output {
        let mut command = Command::new("git");
        self.scrub(&mut command).current_dir(folder);
        command.args([
            "-c",
            "user.name=Tester",
            "-c",
            "user.email=tester@example.org",
        ]);
        command.args(arguments).output().unwrap()
    }

    fn id(&self, revision: &str) -> String {
        self.git(&["rev-parse", revision]).trim().to_owned()
    }

    /// JSON report of a run.
    fn report_of(&self, arguments: &[&str]) -> Json {
        let ran = self.run(&[arguments, &["-o", "json"]].concat());
        assert!(ran.code < 2, "{ran:?}");
        ran.json()
    }
}

/// `site name status` of each output of a report.
fn outputs(report: &Json) -> Vec<String> {
    let outputs = report["outputs"].as_array().unwrap().iter();
    let text = |output: &Json, key: &str| output[key].as_str().unwrap_or("-").to_owned();
    outputs
        .map(|it| {
            format!(
                "{} {} {}",
                text(it, "site"),
                text(it, "name"),
                text(it, "status")
            )
        })
        .collect()
}

/// The path of each edit of a report.
fn edits(report: &Json) -> Vec<String> {
    let edits = report["edits"].as_array().unwrap().iter();
    let place = |edit: &Json| {
        let at = if edit["at"]["head"].is_null() {
            &edit["at"]["base"]
        } else {
            &edit["at"]["head"]
        };
        at["file"].as_str().unwrap().to_owned()
    };
    edits
        .map(|edit| format!("{} {}", place(edit), edit["path"].as_str().unwrap()))
        .collect()
}

#[test]
fn hook_checks_only_staged_content() {
    let sandbox = repository();
    sandbox.hook("pre-commit", "$layercake lint --staged");
    sandbox.write("global/parent.yaml", parent(2));
    sandbox.git(&["add", "--all"]);
    sandbox.write("global/parent.yaml", parent(3));
    sandbox.write("site/lab/broken.yaml", broken());
    sandbox.git(&["commit", "--quiet", "--message=partly staged"]);
    let printed = sandbox.recorded();
    assert!(printed.contains("- 1\n  + 2\n"), "{printed}");
    assert!(
        printed.contains("reaches 3 outputs in all 2 sites"),
        "{printed}"
    );
    assert!(
        !printed.contains("+ 3") && !printed.contains("missing-source"),
        "{printed}"
    );

    // The reverse: the working tree is sound, the index is not.
    sandbox.git(&["add", "site/lab/broken.yaml"]);
    fs::remove_file(sandbox.path("site/lab/broken.yaml")).unwrap();
    let head = sandbox.id("HEAD");
    let refused = sandbox.try_git(&sandbox.root, &["commit", "--quiet", "--message=refused"]);
    assert!(!refused.status.success());
    assert!(
        sandbox.recorded().contains("[missing-source]"),
        "{}",
        sandbox.recorded()
    );
    assert_eq!(sandbox.id("HEAD"), head, "nothing was committed");
}

#[test]
fn hook_checks_the_content_of_each_kind_of_commit() {
    let sandbox = repository();
    sandbox.hook("pre-commit", "$layercake lint --staged -o json");
    let mut state = 1;
    for (arguments, expected) in [
        (
            &["commit", "--quiet", "--all", "--message=all"][..],
            &["dns", "only"][..],
        ),
        (
            &["commit", "--quiet", "--message=path", "site/lab/only.yaml"],
            &["only"],
        ),
        (&["commit", "--quiet", "--message=staged"], &["dns"]),
    ] {
        state += 1;
        let server = format!("{{server: 10.0.0.{state}}}");
        sandbox.write("type/small/dns.yaml", document("dns", "type", &server));
        if !arguments.contains(&"--all") {
            sandbox.git(&["add", "type"]);
        }
        let of = format!("{{of: lab-{state}}}");
        sandbox.write("site/lab/only.yaml", document("only", "site", &of));
        sandbox.git(arguments);
        let report: Json = serde_json::from_str(&sandbox.recorded()).unwrap();
        let edited: Vec<&str> = report["edits"]
            .as_array()
            .unwrap()
            .iter()
            .map(|edit| edit["document"]["name"].as_str().unwrap())
            .collect();
        assert_eq!(
            edited
                .iter()
                .copied()
                .collect::<std::collections::BTreeSet<_>>(),
            expected.iter().copied().collect(),
            "{arguments:?}"
        );
        sandbox.git(&["reset", "--quiet", "--hard"]);
    }
}

#[test]
fn commit_that_only_deletes_a_parent_is_refused() {
    let sandbox = repository();
    for script in [
        "$layercake lint --staged",
        "cd site/lab && $layercake lint --staged",
    ] {
        sandbox.hook("pre-commit", script);
        sandbox.git(&["rm", "--quiet", "global/parent.yaml"]);
        let head = sandbox.id("HEAD");
        let refused = sandbox.try_git(&sandbox.path("site"), &["commit", "--message=less"]);
        assert!(!refused.status.success(), "{script}");
        let printed = sandbox.recorded();
        assert!(printed.contains("[missing-parent]"), "{printed}");
        assert!(printed.contains("site/lab/child.yaml:"), "{printed}");
        assert_eq!(sandbox.id("HEAD"), head);
        sandbox.git(&["reset", "--quiet", "--hard"]);
    }
}

#[test]
fn hooks_work_in_linked_worktrees() {
    let sandbox = repository();
    let linked = sandbox.beside("linked");
    sandbox.git(&[
        "worktree",
        "add",
        "--quiet",
        "-b",
        "topic",
        linked.to_str().unwrap(),
    ]);
    sandbox.hook("pre-commit", "$layercake lint --staged");
    fs::write(linked.join("global/parent.yaml"), parent(7)).unwrap();
    let done = sandbox.try_git(&linked, &["commit", "--quiet", "--all", "--message=linked"]);
    assert!(done.status.success(), "{}", sandbox.recorded());
    assert!(
        sandbox.recorded().contains("- 1\n  + 7\n"),
        "{}",
        sandbox.recorded()
    );
    fs::write(linked.join("site/lab/broken.yaml"), broken()).unwrap();
    sandbox.try_git(&linked, &["add", "--all"]);
    assert!(
        !sandbox
            .try_git(&linked, &["commit", "--message=refused"])
            .status
            .success()
    );
    assert!(
        sandbox.recorded().contains("[missing-source]"),
        "{}",
        sandbox.recorded()
    );
}

#[test]
fn pre_push_hook_checks_pushed_commits() {
    let sandbox = repository();
    let remote = sandbox.beside("remote.git");
    sandbox.git(&["clone", "--quiet", "--bare", ".", remote.to_str().unwrap()]);
    sandbox.git(&["remote", "add", "origin", remote.to_str().unwrap()]);
    sandbox.git(&["checkout", "--quiet", "-b", "topic"]);
    sandbox.git(&["push", "--quiet", "origin", "topic"]);
    sandbox.break_site("lab");
    sandbox.commit();
    sandbox.git(&["checkout", "--quiet", "main"]);
    // The working tree is sound, and on another branch.
    let script = "read -r _ to _ from; export PRE_COMMIT=1 PRE_COMMIT_FROM_REF=$from \
                  PRE_COMMIT_TO_REF=$to; $layercake lint --auto";
    sandbox.hook("pre-push", script);
    let refused = sandbox.try_git(&sandbox.root, &["push", "--quiet", "origin", "topic"]);
    assert!(!refused.status.success());
    let printed = sandbox.recorded();
    assert!(
        printed.contains("[missing-source]") && printed.contains("site/lab/broken.yaml"),
        "{printed}"
    );
    assert_eq!(sandbox.run(&["lint"]).code, 0);
}

#[test]
fn merges_are_compared_with_their_first_parent() {
    let sandbox = repository();
    sandbox.git(&["checkout", "--quiet", "-b", "topic"]);
    sandbox.write(
        "type/small/dns.yaml",
        document("dns", "type", "{server: 10.9.9.9}"),
    );
    sandbox.commit();
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.write("global/parent.yaml", parent(2));
    sandbox.commit();
    sandbox.git(&["merge", "--quiet", "--no-edit", "topic"]);
    let expected = ["lab dns changed", "prod dns changed"];
    assert_eq!(
        outputs(&sandbox.report_of(&["diff", "HEAD^", "HEAD"])),
        expected
    );
    let of_second = outputs(&sandbox.report_of(&["diff", "HEAD^2", "HEAD"]));
    assert_eq!(
        of_second,
        [
            "lab child changed",
            "lab parent changed",
            "prod parent changed"
        ]
    );

    // A clone of depth 2 has only the merge and both its parents.
    let clone = sandbox.beside("clone");
    let url = format!("file://{}", sandbox.root.display());
    sandbox.git(&[
        "clone",
        "--quiet",
        "--depth=2",
        &url,
        clone.to_str().unwrap(),
    ]);
    let ran = sandbox.run_in(&clone, &["diff", "HEAD^", "HEAD", "-o", "json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(outputs(&ran.json()), expected);
    let event = sandbox.beside("event.json");
    let text = format!(
        r#"{{"pull_request": {{"head": {{"sha": "{}"}}}}}}"#,
        sandbox.id("topic")
    );
    fs::write(&event, text).unwrap();
    let mut command = sandbox.command(&["lint", "--auto", "-o", "json"]);
    command
        .current_dir(&clone)
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_EVENT_PATH", &event);
    command
        .env("GITHUB_EVENT_NAME", "pull_request")
        .env("GITHUB_BASE_REF", "main");
    let ran = Ran::of(&command.output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(outputs(&ran.json()), expected);
}

#[test]
fn shallow_clone_error_says_how_to_fetch_the_rest() {
    let sandbox = repository();
    sandbox.write("global/parent.yaml", parent(2));
    sandbox.commit();
    let clone = sandbox.beside("clone");
    let url = format!("file://{}", sandbox.root.display());
    sandbox.git(&[
        "clone",
        "--quiet",
        "--depth=1",
        &url,
        clone.to_str().unwrap(),
    ]);
    let before = sandbox.id("HEAD~1");
    let ran = sandbox.run_in(&clone, &["lint", "--from", &before]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    let cure = format!("git fetch --no-tags --depth=1 origin {before}");
    assert!(ran.stderr.contains(&format!("`{cure}`")), "{}", ran.stderr);
    let words: Vec<&str> = cure.split(' ').skip(1).collect();
    assert!(sandbox.try_git(&clone, &words).status.success());
    let ran = sandbox.run_in(&clone, &["lint", "--from", &before]);
    assert_eq!(ran.code, 0, "the suggested command works: {ran:?}");
    assert!(ran.stdout.contains("- 1\n  + 2\n"), "{}", ran.stdout);
}

#[test]
fn file_moved_within_its_layer_is_not_an_edit() {
    let sandbox = repository();
    sandbox.git(&["mv", "global/parent.yaml", "global/z-renamed.yaml"]);
    sandbox.git(&["mv", "site/lab/only.yaml", "site/lab/a-renamed.yaml"]);
    let report = sandbox.report_of(&["lint", "--staged"]);
    assert_eq!((edits(&report), outputs(&report)), (vec![], vec![]));
    let ran = sandbox.run(&["lint", "--staged"]);
    assert_eq!(ran.code, 0);
    assert!(
        ran.stdout.contains("no edits, no output changed"),
        "{}",
        ran.stdout
    );
    // A move to another site is an edit.
    sandbox.git(&["mv", "site/lab/a-renamed.yaml", "site/prod/a-renamed.yaml"]);
    let report = sandbox.report_of(&["lint", "--staged"]);
    assert!(
        outputs(&report).contains(&"lab only removed".to_owned()),
        "{report}"
    );
}

/// A document rendered with only some of its edits has source text of both sides.
#[test]
fn label_edited_beside_other_edits_is_explained() {
    let sandbox = repository();
    sandbox.write(
        "global/parent.yaml",
        parent(2).replace("is: parent", "is: renamed"),
    );
    sandbox.write(
        "site/lab/child.yaml",
        child().replace("is: parent", "is: renamed"),
    );
    sandbox.write(
        "type/small/dns.yaml",
        document("dns", "type", "{server: 10.0.0.9}"),
    );
    for flag in ["--verify-attribution", "--all-findings"] {
        let ran = sandbox.run(&["lint", "--since", "HEAD", "-o", "json", flag]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
        assert!(
            outputs(&ran.json()).contains(&"lab child changed".to_owned()),
            "{ran:?}"
        );
        assert_eq!(ran.json()["totals"]["unexplained"], 0);
    }
}

/// The order of files decides which of two documents with one name is used.
#[test]
fn file_moved_past_its_duplicate_is_an_edit() {
    let sandbox = repository();
    sandbox.write("global/p.yaml", document("double", "global", "{from: p}"));
    sandbox.write("global/q.yaml", document("double", "global", "{from: q}"));
    sandbox.commit();
    sandbox.git(&["mv", "global/p.yaml", "global/r.yaml"]);
    let report = sandbox.report_of(&["diff", "HEAD", "--verify-attribution"]);
    assert_eq!(
        outputs(&report),
        ["lab double changed", "prod double changed"]
    );
    assert_eq!(report["totals"]["unexplained"], 0, "{report}");
    assert_eq!(report["edits"][0]["kind"], "moved", "{report}");
    // Without a file in between it is not an edit.
    sandbox.git(&["mv", "global/r.yaml", "global/pp.yaml"]);
    let report = sandbox.report_of(&["diff", "HEAD"]);
    assert_eq!((edits(&report), outputs(&report)), (vec![], vec![]));
}

#[test]
fn bare_repositories_are_compared_like_others() {
    let sandbox = repository();
    sandbox.write("global/parent.yaml", parent(2));
    sandbox.commit();
    let bare = sandbox.beside("repository.git");
    sandbox.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    for verb in [&["lint"][..], &["diff"]] {
        let arguments = [verb, &["--from", "HEAD~1", "--to", "HEAD", "-o", "json"]].concat();
        let ran = sandbox.run_in(&bare, &arguments);
        assert_eq!(ran.code, 0, "{ran:?}");
        let expected = sandbox.run(&arguments).json();
        assert_eq!(outputs(&ran.json()), outputs(&expected));
        assert_eq!(edits(&ran.json()), ["global/parent.yaml .values.replicas"]);
    }
    let ran = sandbox.run_in(&bare, &["lint", "--since", "HEAD~1"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(
        ran.stderr.contains("`--from REV --to REV`"),
        "{}",
        ran.stderr
    );
}

#[test]
fn diff_accepts_every_way_to_name_its_sides() {
    let sandbox = repository();
    sandbox.write("global/parent.yaml", parent(2));
    sandbox.commit();
    let reached = [
        "lab child changed",
        "lab parent changed",
        "prod parent changed",
    ];
    let between = sandbox.report_of(&["diff", "HEAD~1", "HEAD"]);
    assert_eq!(outputs(&between), reached);
    assert_eq!(outputs(&sandbox.report_of(&["diff", "HEAD~1"])), reached);
    assert_eq!(
        outputs(&sandbox.report_of(&["diff", "--since", "HEAD~1"])),
        reached
    );
    assert_eq!(
        outputs(&sandbox.report_of(&["diff", "--from", "HEAD~1", "--to", "index"])),
        reached
    );
    assert_eq!(
        outputs(&sandbox.report_of(&["diff", "HEAD"])),
        Vec::<String>::new()
    );
    assert_eq!(
        outputs(&sandbox.report_of(&["diff", "HEAD", "HEAD"])),
        Vec::<String>::new()
    );

    assert_eq!(sandbox.run(&["diff", "HEAD~1"]).code, 0);
    assert_eq!(sandbox.run(&["diff", "HEAD~1", "--exit-code"]).code, 1);
    assert_eq!(sandbox.run(&["diff", "HEAD", "--exit-code"]).code, 0);
    let brief = sandbox.run(&["diff", "HEAD~1", "-o", "concise"]).stdout;
    let first = brief.lines().next().unwrap();
    assert!(
        first.starts_with("global/parent.yaml:11: parent (global)  .values.replicas"),
        "{brief}"
    );
    assert!(first.contains("3 outputs"), "{brief}");

    let ran = sandbox.run(&["diff", "HEAD~1", "-o", "full", "-o", "json=report.json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("reaches 3 outputs"), "{}", ran.stdout);
    let report = fs::read_to_string(sandbox.path("report.json")).unwrap();
    let report = resolved(serde_json::from_str(&report).unwrap());
    assert_eq!(outputs(&report), outputs(&between));
}

#[test]
fn diff_without_arguments_compares_the_working_tree_with_head() {
    let sandbox = repository();
    assert_eq!(outputs(&sandbox.report_of(&["diff"])), Vec::<String>::new());
    sandbox.write("global/parent.yaml", parent(2));
    let reached = [
        "lab child changed",
        "lab parent changed",
        "prod parent changed",
    ];
    assert_eq!(outputs(&sandbox.report_of(&["diff"])), reached);
    sandbox.git(&["add", "--all"]);
    assert_eq!(
        outputs(&sandbox.report_of(&["diff"])),
        reached,
        "staged edits are in the working tree"
    );
    let refused = sandbox.run(&["diff", "--to", "index"]);
    assert_eq!(
        (refused.code, refused.stdout.as_str()),
        (2, ""),
        "{refused:?}"
    );
    let ran = Sandbox::with_sites().run(&["diff"]);
    assert!(ran.code == 2 && ran.stderr.contains("HEAD"), "{ran:?}");
}

/// Without an earlier commit there is nothing to edit: the present state is checked.
#[test]
fn first_commit_has_no_edits_and_no_changed_outputs() {
    let sandbox = Sandbox::with_sites();
    sandbox.write("layercake.yaml", "reach: {max-sites: 1, max-outputs: 1}\n");
    sandbox.write("site/lab/untracked.yaml", broken());
    sandbox.git(&["add", "--all", "--", ".", ":!site/lab/untracked.yaml"]);
    let report = sandbox.report_of(&["lint", "--staged"]);
    for key in ["edits", "outputs", "groups", "routes", "shields"] {
        assert_eq!(
            report[key].as_array().unwrap().len(),
            0,
            "{key}: {report:#}"
        );
    }
    let sites = report["sites"].as_array().unwrap().iter();
    let sites: Vec<(&Json, &Json)> = sites.map(|it| (&it["base"], &it["head"])).collect();
    assert_eq!(sites, vec![(&Json::Null, &Json::from(5)); 2]);
    let base = &report["comparison"]["base"];
    assert_eq!(
        (&base["kind"], &base["commit"]),
        (&Json::from("nothing"), &Json::Null)
    );
    assert_eq!(report["findings"].as_array().unwrap().len(), 0, "{report}");
    let ran = sandbox.run(&["lint", "--staged", "--max-sites", "1"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let verdict = "PASS  no base to compare with: the current state is checked";
    assert!(ran.stdout.starts_with(verdict), "{}", ran.stdout);
    let brief = sandbox.run(&["diff", "--staged", "-o", "concise"]);
    assert_eq!(brief.code, 0, "{brief:?}");
    assert_eq!(sandbox.run(&["diff", "--staged", "--exit-code"]).code, 0);

    sandbox.git(&["add", "--all"]);
    let ran = sandbox.run(&["lint", "--staged"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("[missing-source]"), "{}", ran.stdout);
    assert_eq!(
        sandbox
            .run(&["lint", "--staged", "--config-from-base"])
            .code,
        1
    );
}

/// Covers findings of files, sites, the configuration and the layout, accepted and ignored ones,
/// and unreadable files.
#[test]
fn findings_of_a_first_commit_count_as_without_a_comparison() {
    let sandbox = Sandbox::with_sites();
    let configuration = "sites: {labb: {missing-substitution-source: warning}}\n";
    sandbox.write("layercake.yaml", configuration);
    sandbox.write("site/lab/broken.yaml", broken());
    sandbox.write(
        "site/lab/accepted.yaml",
        broken().replace("name: broken", "name: accepted"),
    );
    assert_eq!(sandbox.run(&["baseline", "write"]).code, 0);
    sandbox.write("site/prod/broken.yaml", broken());
    sandbox.write(
        "global/twice.yaml",
        document("twice", "global", "{a: 1, a: 2}"),
    );
    sandbox.write("type/small/torn.yaml", document("torn", "type", "{a: 1"));
    sandbox.write("site/empty/only.yaml", document("only", "site", "{}"));
    sandbox.git(&["add", "--all"]);
    let found = |arguments: &[&str]| {
        let report = sandbox.report_of(arguments);
        let findings = report["findings"].as_array().unwrap().iter();
        let text = |it: &Json| {
            let primary = &it["primary"];
            let keys = [
                &it["rule"],
                &it["severity"],
                &it["message"],
                &it["sites"],
                &it["suppressed"],
            ];
            format!("{}:{} {keys:?}", primary["file"], primary["line"])
        };
        findings
            .map(text)
            .collect::<std::collections::BTreeSet<String>>()
    };
    let (alone, first) = (
        found(&["lint", "--show-ignored"]),
        found(&["lint", "--staged", "--show-ignored"]),
    );
    assert!(alone.len() > 4, "{alone:#?}");
    assert_eq!(first, alone);
    assert_eq!(
        sandbox.run(&["lint", "--staged"]).code,
        sandbox.run(&["lint"]).code
    );
    let ran = sandbox.run(&["lint", "--staged"]);
    assert!(!ran.stdout.contains("new ignore comment"), "{}", ran.stdout);
    let ran = sandbox.run(&["diff", "--staged"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("[invalid-yaml]"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("removed"), "{}", ran.stdout);
}

/// For hooks that only report: neither a change nor a gate fails the run, but an error that
/// prevents the report does.
#[test]
fn diff_exit_zero_ignores_changes_and_gates() {
    let sandbox = repository();
    sandbox.write("layercake.yaml", "reach: {max-sites: 1}\n");
    sandbox.commit();
    sandbox.write("global/parent.yaml", parent(2));
    let gated = sandbox.run(&["diff", "HEAD"]);
    assert_eq!(gated.code, 1, "{gated:?}");
    assert!(gated.stdout.contains("[reach-over-limit]"), "{gated:?}");
    let printed = sandbox.run(&["diff", "HEAD", "--exit-zero"]);
    assert_eq!(printed.code, 0, "{printed:?}");
    assert!(
        printed.stdout.contains("[reach-over-limit]"),
        "the gate is reported: {printed:?}"
    );
    assert_eq!(
        sandbox
            .run(&["diff", "HEAD", "--exit-zero", "--exit-code"])
            .code,
        2
    );
    assert_eq!(sandbox.run(&["diff", "nosuch", "--exit-zero"]).code, 2);
    sandbox.write("layercake.yaml", "reach: [\n");
    assert_eq!(sandbox.run(&["diff", "HEAD", "--exit-zero"]).code, 2);
}

/// `diff` does not look for findings, but it cannot compare files that it did not read.
#[test]
fn diff_reports_unreadable_files_of_the_head() {
    let sandbox = repository();
    sandbox.write(
        "global/parent.yaml",
        parent(1).replace("\ndata:", "\n<<<<<<< HEAD\ndata:"),
    );
    let printed = sandbox.run(&["diff", "HEAD", "-o", "concise"]);
    assert_eq!(printed.code, 0, "{printed:?}");
    let mut lines = printed.stdout.lines();
    let finding = lines.next().unwrap_or_default();
    assert!(finding.starts_with("global/parent.yaml:9:"), "{printed:?}");
    assert!(finding.contains("error[invalid-yaml]"), "{printed:?}");
    assert!(
        lines
            .next()
            .is_some_and(|line| line.contains("cannot be compared")),
        "{printed:?}"
    );
    sandbox.commit();
    let on_both = sandbox.run(&["diff", "HEAD"]);
    assert!(
        on_both.stdout.contains("error[invalid-yaml]"),
        "{on_both:?}"
    );
}

#[test]
fn pointers_and_submodules_are_reported_on_either_side() {
    let sandbox = repository();
    let pointer = "version https://git-lfs.github.com/spec/v1\n\
                   oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n\
                   size 12345\n";
    sandbox.write("site/lab/only.yaml", pointer);
    let report = sandbox.report_of(&["lint", "--since", "HEAD"]);
    let rules = |report: &Json| -> Vec<String> {
        let findings = report["findings"].as_array().unwrap().iter();
        findings
            .map(|it| it["rule"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(rules(&report), ["unread-file"]);
    let unknown = [
        "layering-policy",
        "chart",
        "child",
        "dns",
        "only",
        "parent",
        "lab",
    ]
    .map(|name| format!("lab {name} not-comparable"));
    assert_eq!(
        outputs(&report),
        unknown,
        "the content of a pointer is unknown"
    );
    let printed = sandbox.run(&["lint", "--since", "HEAD"]).stdout;
    assert!(printed.contains("`git lfs pull`"), "{printed}");
    sandbox.commit();
    // Now the base has the pointer, and the head the content.
    sandbox.write("site/lab/only.yaml", document("only", "site", "{of: lab}"));
    let ran = sandbox.run(&["lint", "--since", "HEAD"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("1 fixed"), "{}", ran.stdout);
    assert_eq!(
        outputs(&sandbox.report_of(&["lint", "--since", "HEAD"])),
        unknown
    );

    let sandbox = repository();
    let inner = Sandbox::with_sites();
    inner.commit();
    let url = inner.root.display().to_string();
    sandbox.git(&add_submodule(&url, "site/lab/module"));
    let report = sandbox.report_of(&["lint", "--staged"]);
    assert_eq!(rules(&report), ["unread-file"]);
    assert_eq!(outputs(&report), unknown);
}

/// An edit in the parent's file that spares the parent leaves the child's values equal, but not
/// its source text. Rules that compare source text must report their findings on both sides.
#[test]
fn finding_is_not_new_if_only_a_neighbour_of_its_parent_is_edited() {
    let sandbox = repository();
    let twice = "actions: [{method: merge, path: .own}, {method: merge, path: .}]";
    let child = child().replace("actions: [{method: merge, path: .}]", twice);
    sandbox.write("site/lab/child.yaml", child);
    sandbox.commit();
    let neighbour = document("neighbour", "global", "{a: 1}");
    sandbox.write("global/parent.yaml", [parent(1), neighbour].concat());
    let report = sandbox.report_of(&["lint", "--since", "HEAD", "--all-findings"]);
    let findings = report["findings"].as_array().unwrap().iter();
    let printed: Vec<(&str, &str)> = findings
        .map(|it| (it["rule"].as_str().unwrap(), it["state"].as_str().unwrap()))
        .collect();
    assert_eq!(printed, [("ineffective-action", "unchanged")]);
}

/// `--schema` and `--name` keep the outputs of these documents, and the edits that changed them or
/// stopped there; a filter that matches no document is an error.
#[test]
fn diff_of_some_documents() {
    let sandbox = repository();
    let shielding = child().replace("{own: 1}", "{own: 1, values: {replicas: 5}}");
    sandbox.write("site/lab/child.yaml", shielding.clone());
    sandbox.write("global/other.yaml", document("other", "global", "{a: 1}"));
    sandbox.commit();
    sandbox.write("global/parent.yaml", parent(2));
    sandbox.write("global/other.yaml", document("other", "global", "{a: 2}"));
    let reached = |report: &Json| {
        let edits = report["edits"].as_array().unwrap().iter();
        edits
            .map(|edit| edit["reach"]["outputs"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };

    let report = sandbox.report_of(&["diff", "--name", "par*"]);
    assert!(!outputs(&report).is_empty(), "{report:#}");
    assert!(
        outputs(&report)
            .iter()
            .all(|output| output.contains("parent")),
        "{report:#}"
    );
    assert_eq!(reached(&report), [2], "{report:#}");
    let report = sandbox.report_of(&["diff", "--name", "child"]);
    assert!(
        outputs(&report).is_empty(),
        "the child sets its own value: {report:#}"
    );
    assert_eq!(
        report["shields"][0]["document"]["name"], "child",
        "{report:#}"
    );
    assert_eq!(reached(&report), [0], "{report:#}");
    let report = sandbox.report_of(&["diff", "--schema", "example/*"]);
    assert_eq!(outputs(&report), outputs(&sandbox.report_of(&["diff"])));

    let text = sandbox.run(&["diff", "--name", "other"]).stdout;
    assert!(text.contains("only --name other"), "{text}");
    let ran = sandbox.run(&["diff", "--name", "othre"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("did you mean `other`"),
        "{}",
        ran.stderr
    );
    let passes = |name| {
        sandbox
            .run(&["diff", "--name", name, "--expect-unchanged"])
            .code
    };
    assert_eq!([passes("child"), passes("other")], [0, 1]);
}

/// A finding that no edit touches is caused by the edits of its file, and by none that is only the
/// first of many.
#[test]
fn limited_causes_of_a_finding_are_not_named() {
    let text = |values: usize, value: bool| {
        let values = (0..values).map(|at| format!("  k{at}: {value}\n"));
        let data = format!("\n  # layercake: ignore[boolean-word] known\n  word: {value}\n");
        let data = data.replace("word: true", "word: yes");
        document("one", "global", &(data + &values.collect::<String>()))
    };
    for (values, causes) in [(98, 99), (200, 0)] {
        let sandbox = Sandbox::with_sites();
        sandbox.write("global/one.yaml", text(values, true));
        sandbox.commit();
        sandbox.write("global/one.yaml", text(values, false));
        let report = sandbox.report_of(&[
            "lint",
            "--since",
            "HEAD",
            "--select",
            "boolean-word,unused-ignore",
        ]);
        let finding = &report["findings"][0];
        assert_eq!(finding["rule"], "unused-ignore", "{report:#}");
        assert_eq!(
            finding["caused_by"].as_array().map(Vec::len),
            Some(causes),
            "{finding:#}"
        );
        let is_said = finding
            .to_string()
            .contains("not all edits that may have caused it");
        assert_eq!(is_said, causes == 0, "{finding:#}");
    }
}

/// Findings that name the sites of a shared file are not new if one is added, removed or renamed.
#[test]
fn added_and_removed_sites_cause_no_new_findings_in_others() {
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "global/broken.yaml",
        broken().replace("layer: site", "layer: global"),
    );
    sandbox.break_site("lab");
    sandbox.commit();
    let states = |sandbox: &Sandbox| {
        let report = sandbox.report_of(&["lint", "--since", "HEAD", "--all-findings"]);
        let findings = report["findings"].as_array().unwrap().iter();
        let row = |it: &Json| {
            let path = it["primary"]["file"].as_str().unwrap_or_default();
            format!("{path} {}", it["state"].as_str().unwrap())
        };
        findings
            .map(row)
            .collect::<std::collections::BTreeSet<String>>()
    };
    let known = [
        "global/broken.yaml unchanged",
        "site/lab/broken.yaml unchanged",
    ];
    assert!(states(&sandbox).iter().eq(&known), "{:?}", states(&sandbox));

    sandbox.write("site/harbor/site-definition.yaml", definition("harbor", ""));
    sandbox.break_site("harbor");
    let printed = states(&sandbox);
    let expected = [known[0], "site/harbor/broken.yaml new", known[1]];
    assert!(printed.iter().eq(&expected), "{printed:?}");

    fs::remove_dir_all(sandbox.path("site/harbor")).unwrap();
    fs::remove_dir_all(sandbox.path("site/prod")).unwrap();
    let printed = states(&sandbox);
    assert!(printed.iter().eq(&known), "{printed:?}");

    sandbox.git(&["reset", "--hard", "--quiet"]);
    sandbox.git(&["mv", "site/lab", "site/dock"]);
    sandbox.write("site/dock/site-definition.yaml", definition("dock", ""));
    let printed = states(&sandbox);
    let expected = [
        "global/broken.yaml unchanged",
        "site/dock/broken.yaml unchanged",
    ];
    assert!(printed.iter().eq(&expected), "{printed:?}");
}

/// A chart that deletes its inherited versions; `more` holds its own substitutions.
fn deleting(more: &str) -> String {
    document("chart", "site", "{}")
        .replace(
            "{abstract: false, layer: site}",
            &format!(
                "\n    abstract: false\n    layer: site\n    parentSelector: {{is: parent}}\n    \
             actions: [{{method: merge, path: .}}, {{method: delete, path: .image}}, \
             {{method: delete, path: .other}}]{more}"
            ),
        )
        .replace("data: {}", "data: {own: 1}")
}

fn version_into(path: &str) -> String {
    format!(
        "\n    - src: {{schema: example/Any/v1, name: versions, path: .image}}\n      \
         dest: {{path: {path}}}"
    )
}

/// Two sites inherit a version and delete it; `lab` substitutes it again.
#[test]
fn deletion_shields_an_edit_only_without_another_route() {
    let sandbox = Sandbox::with_sites();
    let versions = |version: &str| document("versions", "global", &format!("{{image: {version}}}"));
    sandbox.write("global/versions.yaml", versions("v1"));
    let inherited = [version_into(".image"), version_into(".other")].concat();
    let parent = document("parent", "global", "{}")
        .replace("abstract: false", "abstract: true")
        .replace("\ndata:", &format!("\n  substitutions:{inherited}\ndata:"))
        .replace("  storagePolicy", "  labels: {is: parent}\n  storagePolicy");
    sandbox.write("global/parent.yaml", parent);
    let again = format!("\n  substitutions:{}", version_into(".image"));
    sandbox.write("site/lab/chart.yaml", deleting(&again));
    sandbox.write("site/prod/chart.yaml", deleting(""));
    sandbox.commit();
    sandbox.write("global/versions.yaml", versions("v2"));
    let report = sandbox.run(&["diff", "HEAD", "-o", "json"]).json();
    let texts = |list: &str, key: &str| -> Vec<(String, String)> {
        let entries = report[list].as_array().unwrap().iter();
        let text = |it: &Json| it.as_str().unwrap_or_default().to_owned();
        let mut found: Vec<_> = entries
            .map(|it| (text(&it["site"]), text(&it[key])))
            .collect();
        found.sort();
        found
    };
    let outputs = texts("outputs", "name");
    let chart = |site: &str| (site.to_owned(), "chart".to_owned());
    assert!(outputs.contains(&chart("lab")), "{outputs:?}");
    assert!(!outputs.contains(&chart("prod")), "{outputs:?}");
    let shields = report["shields"].as_array().unwrap();
    assert!(
        shields.iter().all(|it| it["why"] == "deleted"),
        "{shields:#?}"
    );
    let columns = |site: &str| -> Vec<u64> {
        let of_site = shields.iter().filter(|it| it["site"] == site);
        of_site
            .map(|it| it["by"]["column"].as_u64().unwrap())
            .collect()
    };
    let (lab, prod) = (columns("lab"), columns("prod"));
    assert_eq!(prod.len(), 2, "{shields:#?}");
    assert_eq!(
        lab,
        [*prod.iter().max().unwrap()],
        "only `.other` is stopped: {shields:#?}"
    );
    let shown = sandbox.run(&["diff", "HEAD"]).stdout;
    assert!(
        shown.contains("shielded: chart (site) in all 2 sites, deleted at "),
        "{shown}"
    );
}

/// A site's relations are taken from the other side if no edit affects them.
#[test]
fn keys_of_several_types_are_located_on_each_side() {
    let sandbox = Sandbox::with_sites();
    let parent = document("parent", "global", "{}").replace(
        "  layeringDefinition",
        "  labels: {name: parent}\n  layeringDefinition",
    );
    sandbox.write("global/parent.yaml", parent);
    let child = |more: &str, data: &str| {
        let layering = "layer: site, parentSelector: {name: parent}, actions: [{method: merge, \
                        path: .}]}";
        let text = document("child", "site", data).replace("layer: site}", layering);
        format!("{more}{text}")
    };
    let mixed = |at: usize, ran: &Json| {
        let mut findings = ran["findings"].as_array().unwrap().iter();
        findings.any(|it| it["rule"] == "mixed-keys" && it["primary"]["line"] == at)
    };
    sandbox.write("site/lab/child.yaml", child("", "\n  a: 1\n  2: b"));
    sandbox.commit();
    sandbox.write(
        "site/lab/child.yaml",
        child("# a line more\n", "\n  a: 2\n  2: b"),
    );
    let lint = || {
        sandbox
            .run(&["lint", "--since", "HEAD", "-o", "json", "--all-findings"])
            .json()
    };
    assert!(mixed(11, &lint()), "{:#}", lint());
    sandbox.write("site/lab/child.yaml", child("", "\n  a: 2\n  b: b"));
    let fixed = lint();
    let fixed = fixed["findings"].as_array().unwrap().iter();
    let states: Vec<&Json> = fixed
        .filter(|it| it["rule"] == "mixed-keys")
        .map(|it| &it["state"])
        .collect();
    assert_eq!(states, ["fixed"]);
}
