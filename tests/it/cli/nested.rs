//! Repositories inside the one that is read: submodules, and clones that git does not track. Their
//! content is not read, and never counts as unchanged.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};

use super::{Sandbox, document};
use crate::git::add_submodule;

/// A repository with two commits, the later one checked out, for use as a submodule.
struct Inner(Sandbox);

impl Inner {
    fn with(files: &[(&str, &str)]) -> Self {
        let sandbox = Sandbox::new();
        sandbox.git(&["config", "user.name", "Tester"]);
        for (path, text) in files {
            sandbox.write(path, text);
        }
        sandbox.commit();
        for (path, text) in files {
            sandbox.write(path, format!("{text}# later\n"));
        }
        sandbox.commit();
        Self(sandbox)
    }

    /// A repository that holds a document.
    fn with_documents() -> Self {
        Self::with(&[("more.yaml", &document("more", "site", "{}"))])
    }

    fn url(&self) -> String {
        self.0.root.display().to_string()
    }

    fn add_to(&self, sandbox: &Sandbox, path: &str) {
        sandbox.git(&add_submodule(&self.url(), path));
    }
}

/// Moves what is checked out in a nested repository to its first commit.
fn check_out_earlier(sandbox: &Sandbox, path: &str) {
    sandbox.git(&["-C", path, "checkout", "--quiet", "HEAD~1"]);
}

/// Repositories that `lint` reports as not read, each with its message.
fn unread(sandbox: &Sandbox, arguments: &[&str]) -> BTreeMap<String, String> {
    let findings = sandbox.findings(arguments);
    let unread = findings
        .iter()
        .filter(|finding| finding["rule"] == "unread-file");
    let text = |it: &Json| it.as_str().unwrap_or_default().to_owned();
    unread
        .map(|it| (text(&it["primary"]["file"]), text(&it["message"])))
        .collect()
}

fn compared(sandbox: &Sandbox, sides: &[&str]) -> Json {
    let ran = sandbox.run(&[&["diff", "-o", "json"], sides].concat());
    assert!(ran.code < 2, "{ran:?}");
    ran.json()
}

/// Files of the edits with unknown content.
fn unknown(report: &Json) -> BTreeSet<String> {
    let edits = report["edits"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|edit| edit["kind"] == "file");
    edits
        .map(|edit| edit["document"]["name"].as_str().unwrap().to_owned())
        .collect()
}

/// Sites with outputs, each with the status of these.
fn statuses(report: &Json) -> BTreeSet<(String, String)> {
    let outputs = report["outputs"].as_array().unwrap().iter();
    let text = |it: &Json| it.as_str().unwrap_or_default().to_owned();
    outputs
        .map(|it| (text(&it["site"]), text(&it["status"])))
        .collect()
}

/// Asserts that the only edit is one of unknown content at `path`, that all outputs of `sites` are
/// not comparable and no others changed, and that a proof fails.
#[track_caller]
fn assert_unknown(sandbox: &Sandbox, sides: &[&str], path: &str, sites: &[&str]) {
    let report = compared(sandbox, sides);
    assert_eq!(
        unknown(&report),
        BTreeSet::from([path.to_owned()]),
        "{sides:?} {report}"
    );
    assert_eq!(
        report["edits"].as_array().unwrap().len(),
        1,
        "{sides:?} {report}"
    );
    let expected: BTreeSet<(String, String)> = sites
        .iter()
        .map(|site| ((*site).to_owned(), "not-comparable".to_owned()))
        .collect();
    assert_eq!(statuses(&report), expected, "{sides:?} {report}");
    for verb in ["diff", "lint"] {
        let gate = [&[verb, "--expect-unchanged"], sides].concat();
        let ran = sandbox.run(&gate);
        assert_eq!(ran.code, 1, "{gate:?}: {ran:?}");
        assert!(
            format!("{}{}", ran.stdout, ran.stderr).contains("unexpected-change"),
            "{ran:?}"
        );
    }
    let proven = sandbox.run(&[&["diff", "--verify-attribution"], sides].concat());
    assert_eq!(proven.code, 0, "{proven:?}");
}

#[track_caller]
fn assert_unchanged(sandbox: &Sandbox, sides: &[&str]) {
    let report = compared(sandbox, sides);
    assert_eq!(
        (&report["edits"], &report["outputs"]),
        (&json!([]), &json!([])),
        "{sides:?}"
    );
    let ran = sandbox.run(&[&["diff", "--expect-unchanged"], sides].concat());
    assert_eq!(ran.code, 0, "{sides:?}: {ran:?}");
}

fn remove(path: &Path) {
    fs::remove_dir_all(path).unwrap();
}

/// Covers every place below the layers, and both sides.
#[test]
fn nested_repository_with_documents_is_reported() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    let inner = Inner::with_documents();
    for path in [
        "global/more",
        "type/vendored",
        "site/vendored",
        "site/lab/deep/module",
    ] {
        inner.add_to(&sandbox, path);
    }
    sandbox.git(&["commit", "--quiet", "--message=submodules"]);
    let expected: BTreeMap<String, String> = [
        "global/more",
        "type/vendored",
        "site/vendored",
        "site/lab/deep/module",
    ]
    .map(|path| {
        (
            path.to_owned(),
            "a git submodule below a layer folder is not read".into(),
        )
    })
    .into();
    assert_eq!(unread(&sandbox, &[]), expected);
    assert_eq!(unread(&sandbox, &["--rev", "HEAD"]), expected);
    let ran = sandbox.run(&["lint"]);
    let commit = sandbox.git(&["-C", "global/more", "rev-parse", "HEAD"]);
    assert!(ran.stdout.contains(&commit[..10]), "{ran:?}");

    sandbox.git(&["clone", "--quiet", &inner.url(), "site/prod/copy"]);
    assert_eq!(
        unread(&sandbox, &[])["site/prod/copy"],
        "a nested git repository below a layer folder is not read"
    );
    assert_eq!(
        unread(&sandbox, &["--rev", "HEAD"]).len(),
        4,
        "git does not track it"
    );
    for format in super::formats() {
        let ran = sandbox.run(&["lint", "-o", format]);
        assert!(ran.stdout.contains("site/prod/copy"), "{format}: {ran:?}");
    }
}

/// A submodule that is checked out shows that it holds no documents.
#[test]
fn submodule_without_documents_is_not_reported() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    let inner = Inner::with(&[("README.md", "text\n"), ("tools/a.yaml", "a: 1\n")]);
    inner.add_to(&sandbox, "site/lab/module");
    inner.add_to(&sandbox, "docs/module");
    assert_eq!(unread(&sandbox, &[]), BTreeMap::new());
    assert_unchanged(&sandbox, &["--staged"]);
    sandbox.commit();
    assert_eq!(unread(&sandbox, &["--rev", "HEAD"]), BTreeMap::new());
    check_out_earlier(&sandbox, "site/lab/module");
    assert_unchanged(&sandbox, &["--since", "HEAD"]);
    sandbox.git(&["add", "site/lab/module"]);
    assert_unchanged(&sandbox, &["--staged"]);

    sandbox.git(&[
        "submodule",
        "deinit",
        "--quiet",
        "--force",
        "site/lab/module",
    ]);
    assert_eq!(unread(&sandbox, &[]).len(), 1, "its content is unknown");
    sandbox.git(&["clone", "--quiet", &inner.url(), "site/prod/copy"]);
    assert_eq!(
        unread(&sandbox, &[]).len(),
        2,
        "a clone that git does not track"
    );
}

#[test]
fn changed_submodule_is_an_edit_of_unknown_content() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    let inner = Inner::with_documents();
    inner.add_to(&sandbox, "site/lab/module");
    assert_unknown(&sandbox, &["--staged"], "site/lab/module", &["lab"]);
    assert_unknown(&sandbox, &["--since", "HEAD"], "site/lab/module", &["lab"]);
    sandbox.commit();
    assert_unknown(
        &sandbox,
        &["--from", "HEAD~1", "--to", "HEAD"],
        "site/lab/module",
        &["lab"],
    );
    assert_unknown(
        &sandbox,
        &["--from", "HEAD", "--to", "HEAD~1"],
        "site/lab/module",
        &["lab"],
    );
    assert_unchanged(&sandbox, &["--since", "HEAD"]);
    assert_unchanged(&sandbox, &["--staged"]);

    check_out_earlier(&sandbox, "site/lab/module");
    assert_unknown(&sandbox, &["--since", "HEAD"], "site/lab/module", &["lab"]);
    assert_unchanged(&sandbox, &["--staged"]);
    sandbox.git(&["add", "site/lab/module"]);
    assert_unknown(&sandbox, &["--staged"], "site/lab/module", &["lab"]);
    sandbox.commit();
    assert_unknown(
        &sandbox,
        &["--from", "HEAD~1", "--to", "HEAD"],
        "site/lab/module",
        &["lab"],
    );

    sandbox.git(&[
        "submodule",
        "deinit",
        "--quiet",
        "--force",
        "site/lab/module",
    ]);
    assert_unchanged(&sandbox, &["--since", "HEAD"]);
    assert_unknown(
        &sandbox,
        &["--from", "HEAD~1", "--to", "HEAD"],
        "site/lab/module",
        &["lab"],
    );
    fs::remove_dir(sandbox.path("site/lab/module")).unwrap();
    assert_unknown(&sandbox, &["--since", "HEAD"], "site/lab/module", &["lab"]);
}

/// git reports it as `modified content`.
#[test]
fn files_edited_in_a_submodule_are_an_edit_of_it() {
    let sandbox = Sandbox::with_sites();
    Inner::with_documents().add_to(&sandbox, "global/module");
    sandbox.commit();
    assert_unchanged(&sandbox, &["--since", "HEAD"]);
    sandbox.write("global/module/more.yaml", "a: 1\n");
    assert_unknown(
        &sandbox,
        &["--since", "HEAD"],
        "global/module",
        &["lab", "prod"],
    );
    assert_unchanged(&sandbox, &["--staged"]);
    fs::remove_file(sandbox.path("global/module/more.yaml")).unwrap();
    assert_unknown(
        &sandbox,
        &["--since", "HEAD"],
        "global/module",
        &["lab", "prod"],
    );
    sandbox.git(&["-C", "global/module", "checkout", "--quiet", "."]);
    sandbox.write("global/module/untracked.yaml", "a: 1\n");
    assert_unchanged(&sandbox, &["--since", "HEAD"]);

    check_out_earlier(&sandbox, "global/module");
    sandbox.git(&["update-index", "--assume-unchanged", "global/module"]);
    assert_unchanged(&sandbox, &["--since", "HEAD"]);
    sandbox.git(&["update-index", "--no-assume-unchanged", "global/module"]);
    let ignore = [
        "config",
        "-f",
        ".gitmodules",
        "submodule.global/module.ignore",
        "all",
    ];
    sandbox.git(&ignore);
    assert_unknown(
        &sandbox,
        &["--since", "HEAD"],
        "global/module",
        &["lab", "prod"],
    );
}

/// Files that the configuration passes to cloud-init may be in a submodule, too.
#[test]
fn submodule_in_place_of_parts_is_an_edit_of_unknown_content() {
    let part = "#cloud-config\npackages: [a]\n";
    let sandbox = Sandbox::with_sites();
    let configuration = "cloud-config:\n  - name: genesis\n    parts: [cloud/parts/*]\n";
    sandbox.write("layercake.yaml", configuration);
    sandbox.write("cloud/parts/base", part);
    sandbox.commit();
    sandbox.git(&["rm", "--quiet", "-r", "cloud"]);
    let inner = Inner::with(&[("parts/base", part)]);
    inner.add_to(&sandbox, "cloud");
    Inner::with(&[("base", part)]).add_to(&sandbox, "other");
    assert_unknown(&sandbox, &["--staged"], "cloud", &["lab", "prod"]);
    sandbox.commit();
    for [from, to] in [["HEAD~1", "HEAD"], ["HEAD", "HEAD~1"]] {
        assert_unknown(
            &sandbox,
            &["--from", from, "--to", to],
            "cloud",
            &["lab", "prod"],
        );
    }
    check_out_earlier(&sandbox, "cloud");
    check_out_earlier(&sandbox, "other");
    assert_unknown(&sandbox, &["--since", "HEAD"], "cloud", &["lab", "prod"]);
    let message = "a git submodule among the cloud-init files is not read".to_owned();
    assert_eq!(
        unread(&sandbox, &[]),
        BTreeMap::from([("cloud".to_owned(), message)])
    );
    sandbox.git(&["submodule", "deinit", "--quiet", "--force", "--all"]);
    assert_eq!(
        unread(&sandbox, &[]).len(),
        1,
        "a glob cannot match below `other`"
    );
}

/// The target of such a link is in no commit, so the link changes with the submodule.
#[cfg(unix)]
#[test]
fn link_into_a_submodule_changes_with_it() {
    let sandbox = Sandbox::with_sites();
    Inner::with_documents().add_to(&sandbox, "modules/inner");
    let link = sandbox.path("site/lab/link.yaml");
    std::os::unix::fs::symlink("../../modules/inner/more.yaml", link).unwrap();
    sandbox.commit();
    assert_unchanged(&sandbox, &["--staged"]);
    check_out_earlier(&sandbox, "modules/inner");
    sandbox.commit();
    assert_unknown(
        &sandbox,
        &["--from", "HEAD~1", "--to", "HEAD"],
        "site/lab/link.yaml",
        &["lab"],
    );
    sandbox.git(&["submodule", "deinit", "--quiet", "--force", "modules/inner"]);
    assert_unchanged(&sandbox, &["--since", "HEAD"]);
}

/// The folder of a site, of a type or of all sites: files on one side, a repository on the other.
#[test]
fn layer_folder_that_becomes_a_submodule_is_not_comparable() {
    for (path, sites) in [
        ("site/lab", &["lab"][..]),
        ("type/small", &["lab", "prod"]),
        ("site", &["lab", "prod"]),
        ("global", &["lab", "prod"]),
    ] {
        let sandbox = Sandbox::with_sites();
        sandbox.commit();
        sandbox.git(&["rm", "--quiet", "-r", path]);
        let more = document("more", "site", "{}");
        Inner::with(&[("more.yaml", &more), ("lab/more.yaml", &more)]).add_to(&sandbox, path);
        assert_unknown(&sandbox, &["--staged"], path, sites);
        assert_unknown(&sandbox, &["--since", "HEAD"], path, sites);
        sandbox.commit();
        assert_unknown(&sandbox, &["--from", "HEAD~1", "--to", "HEAD"], path, sites);
        assert_unknown(&sandbox, &["--from", "HEAD", "--to", "HEAD~1"], path, sites);
    }
}

/// The whole site repository is in a folder that becomes a submodule.
#[test]
fn site_repository_that_becomes_a_submodule_is_not_comparable() {
    let sandbox = Sandbox::with_sites();
    fs::create_dir(sandbox.path("deploy")).unwrap();
    for folder in ["site", "type", "global"] {
        fs::rename(sandbox.path(folder), sandbox.path("deploy").join(folder)).unwrap();
    }
    sandbox.commit();
    let whole = Sandbox::with_sites();
    whole.commit();
    sandbox.git(&["rm", "--quiet", "-r", "deploy"]);
    Inner(whole).add_to(&sandbox, "deploy");
    sandbox.commit();
    let report = compared(&sandbox, &["-C", "deploy", "--since", "HEAD"]);
    assert_eq!(
        report["repository"]["nested_at"], "deploy",
        "the submodule's own history"
    );
    remove(&sandbox.path("deploy"));
    fs::create_dir(sandbox.path("deploy")).unwrap();
    for [from, to] in [["HEAD~1", "HEAD"], ["HEAD", "HEAD~1"]] {
        let sides = ["-C", "deploy", "--from", from, "--to", to];
        assert_unknown(&sandbox, &sides, "deploy", &["lab", "prod"]);
    }
}

#[test]
fn renamed_submodule_is_two_edits_of_unknown_content() {
    let sandbox = Sandbox::with_sites();
    Inner::with_documents().add_to(&sandbox, "site/lab/module");
    sandbox.commit();
    sandbox.git(&["mv", "site/lab/module", "site/prod/module"]);
    for sides in [&["--staged"][..], &["--since", "HEAD"]] {
        let report = compared(&sandbox, sides);
        let both = ["site/lab/module", "site/prod/module"].map(str::to_owned);
        assert_eq!(unknown(&report), BTreeSet::from(both));
        let both = ["lab", "prod"].map(|site| (site.to_owned(), "not-comparable".to_owned()));
        assert_eq!(statuses(&report), BTreeSet::from(both), "{report}");
        let ran = sandbox.run(&[&["lint", "--expect-unchanged"], sides].concat());
        assert_eq!(ran.code, 1, "{ran:?}");
    }
}

/// A clone that git does not track is only in the working tree.
#[test]
fn untracked_clone_is_an_edit_of_unknown_content() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    let inner = Inner::with_documents();
    sandbox.git(&["clone", "--quiet", &inner.url(), "site/lab/copy"]);
    assert_unknown(&sandbox, &["--since", "HEAD"], "site/lab/copy", &["lab"]);
    assert_unchanged(&sandbox, &["--staged"]);
    let ran = sandbox.run(&["diff", "HEAD", "--expect-unchanged", "-C", "site/lab"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    remove(&sandbox.path("site/lab/copy/.git"));
    let report = compared(&sandbox, &["--since", "HEAD"]);
    assert_eq!(
        unknown(&report),
        BTreeSet::new(),
        "its files are compared like others"
    );
    assert_eq!(report["edits"].as_array().unwrap().len(), 1, "{report}");
}

/// git keeps comparing files that it tracks, even if they are inside another repository.
#[test]
fn files_tracked_by_the_outer_repository_are_compared_in_a_nested_one() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    sandbox.git(&["init", "--quiet", "site/lab"]);
    assert_unchanged(&sandbox, &["--since", "HEAD"]);
    sandbox.git(&["-C", "site/lab", "add", "--all"]);
    sandbox.git(&["-C", "site/lab", "commit", "--quiet", "--message=inner"]);
    assert_unchanged(&sandbox, &["--since", "HEAD"]);
    sandbox.write(
        "site/lab/only.yaml",
        document("only", "site", "{of: other}"),
    );
    let report = compared(&sandbox, &["--since", "HEAD"]);
    assert_eq!(
        statuses(&report),
        BTreeSet::from([("lab".to_owned(), "changed".to_owned())])
    );
}
