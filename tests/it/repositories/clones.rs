//! States of the clone of a further repository.

use std::fs;
use std::process::{Command, Output};

use super::{Pinned, marked, places};
use crate::cli::Sandbox;
use crate::git::add_submodule;

impl Pinned {
    /// Path of a clone of `global` beside the sites.
    fn clone(&self, name: &str, options: &[&str]) -> String {
        let path = self.sites.beside(name).display().to_string();
        let url = format!("file://{}", self.global.root.display());
        self.sites
            .git(&[&["clone", "--quiet"], options, &[&url, &path]].concat());
        path
    }
}

#[test]
fn pins_are_read_from_a_clone_of_every_kind() {
    let pinned = Pinned::new();
    let path = pinned.global.root.display().to_string();
    let linked = pinned.sites.beside("linked").display().to_string();
    pinned
        .global
        .git(&["worktree", "add", "--quiet", "-b", "linked", &linked, "v2"]);
    let shared = pinned.sites.beside("shared").display().to_string();
    pinned
        .global
        .git(&["clone", "--quiet", "--shared", ".", &shared]);
    pinned.sites.git(&add_submodule(&path, "vendor/global"));
    let empty = pinned.clone("empty", &["--no-checkout"]);
    for (kind, path) in [
        ("a bare clone", pinned.clone("bare.git", &["--bare"])),
        ("a mirror", pinned.clone("mirror.git", &["--mirror"])),
        ("a clone without files", empty),
        ("objects of another repository", shared),
        ("a linked worktree", linked),
        ("a submodule", "vendor/global".to_owned()),
        ("objects in packs", pinned.clone("packed", &[])),
        ("SHA-256", with_sha256(&pinned.global)),
        ("a relative path", "../bare.git".to_owned()),
    ] {
        assert_eq!(
            pinned.versions(&format!("global={path}")),
            "lab=1 prod=2",
            "{kind}"
        );
    }
}

/// Path of a repository with the same history, whose ids are SHA-256.
fn with_sha256(of: &Sandbox) -> String {
    let path = of.beside("sha256").display().to_string();
    of.git(&["init", "--quiet", "--object-format=sha256", &path]);
    let stream = of.beside("stream").display().to_string();
    let of_all = format!(
        "git fast-export --all >'{stream}' && git -C '{path}' fast-import --quiet <'{stream}'"
    );
    let mut shell = Command::new("sh");
    crate::git::scrub(&mut shell);
    assert!(
        shell
            .args(["-c", &of_all])
            .current_dir(&of.root)
            .status()
            .unwrap()
            .success()
    );
    path
}

#[test]
fn folder_of_a_repository_is_read_at_pins() {
    let pinned = Pinned::new();
    let around = Sandbox::new();
    for version in [1, 2] {
        pinned
            .global
            .git(&["checkout", "--quiet", &format!("v{version}")]);
        let _ = fs::remove_dir_all(around.path("deep/er"));
        copy_yaml(&pinned.global, &around);
        around.commit();
        around.git(&["tag", &format!("v{version}")]);
    }
    let given = format!("global={}", around.path("deep/er").display());
    assert_eq!(pinned.versions(&given), "lab=1 prod=2");
}

fn copy_yaml(from: &Sandbox, to: &Sandbox) {
    for entry in fs::read_dir(from.path("global"))
        .unwrap()
        .map(Result::unwrap)
    {
        let name = entry.file_name().into_string().unwrap();
        to.write(
            &format!("deep/er/global/{name}"),
            fs::read(entry.path()).unwrap(),
        );
    }
}

#[test]
fn dirty_working_tree_is_read_on_request() {
    let pinned = Pinned::new();
    let clone = pinned.clone("clone", &[]);
    let linked = pinned.sites.beside("linked").display().to_string();
    pinned.sites.git(&[
        "-C", &clone, "worktree", "add", "--quiet", "-b", "linked", &linked, "v1",
    ]);
    for (path, clean) in [(&clone, 3), (&linked, 1)] {
        let given = format!("global={path}");
        let worktree = format!("{given}@worktree");
        assert_eq!(
            pinned.versions(&worktree),
            format!("lab={clean} prod={clean}")
        );
        let release = format!("{path}/global/release.yaml");
        let text = fs::read_to_string(&release).unwrap();
        fs::write(
            &release,
            text.replace(&format!("version: {clean}"), "version: 9"),
        )
        .unwrap();
        fs::write(format!("{path}/global/untracked.yaml"), "---\na: [\n").unwrap();
        assert_eq!(pinned.versions(&worktree), "lab=9 prod=9");
        assert_eq!(pinned.versions(&given), "lab=1 prod=2");
        let untracked = |given: &str| {
            places(&pinned.errors(given))
                .iter()
                .any(|it| it.contains("global/untracked.yaml"))
        };
        assert!(untracked(&worktree) && !untracked(&given));
    }
}

#[test]
fn missing_clone_is_an_error() {
    let pinned = Pinned::new();
    for revision in ["", "@v1", "@worktree"] {
        let ran = pinned.run_with(&format!("global=../nowhere{revision}"), &["lint"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(ran.stderr.contains("nowhere"), "{ran:?}");
    }
}

/// Clones that lack a commit, with pins of all kinds: the command in the help makes them readable.
#[test]
fn command_in_help_fetches_the_missing_revision() {
    let pinned = Pinned::new();
    let origin = &pinned.global;
    origin.git(&["branch", "old", "v1"]);
    let outdated = pinned.clone("outdated", &[]);
    let bare = pinned.clone("outdated.git", &["--bare"]);
    let single = pinned.clone("single", &["--single-branch"]);
    pinned.write_version(4);
    origin.commit();
    origin.git(&["tag", "v4"]);
    origin.git(&["tag", "--annotate", "--message=fourth", "annotated"]);
    origin.git(&["branch", "new"]);
    pinned.write_version(5);
    origin.commit();
    let shallow = pinned.clone("shallow", &["--depth=1"]);
    let id = |revision: &str| origin.git(&["rev-parse", revision]).trim().to_owned();
    let (first, fourth) = (id("v1"), id("v4"));
    origin.git(&["update-ref", "refs/changes/04/4/1", "v4"]);
    // Each pin has a clone of its own, since a command may fetch more than one revision.
    let mut number = 0;
    for (state, clone, pins, version) in [
        (
            "outdated",
            &outdated,
            &["v4", "annotated", "new", "refs/changes/04/4/1", &fourth][..],
            4,
        ),
        ("outdated, bare", &bare, &["v4", "new", &fourth], 4),
        ("of one branch", &single, &["old", "new"], 0),
        ("shallow", &shallow, &["v1", "old", &first], 1),
    ] {
        for &pin in pins {
            number += 1;
            let path = pinned
                .sites
                .beside(&format!("state-{number}"))
                .display()
                .to_string();
            let copied = Command::new("cp")
                .args(["-R", clone, &path])
                .status()
                .unwrap();
            assert!(copied.success());
            let what = format!("{state}: {pin}");
            for site in ["lab", "prod"] {
                pinned.pin(site, pin);
            }
            let given = format!("global={path}");
            let findings = pinned.errors(&given);
            let expected = ["lab", "prod"]
                .map(|site| format!("missing-revision site/{site}/site-definition.yaml:13"));
            assert_eq!(places(&findings), expected, "{what}");
            for finding in &findings {
                assert_eq!(marked(&pinned.sites.root, finding), pin, "{what}");
                let help = finding["help"].as_str().unwrap();
                assert!(help.contains(&path), "{what}: {help}");
                for command in commands(help) {
                    let ran = shell(&pinned, command);
                    assert!(ran.status.success(), "{what}: `{command}`: {ran:?}");
                }
            }
            let version = match (version, pin) {
                (0, "old") => 1,
                (0, _) => 4,
                (version, _) => version,
            };
            let cured = format!("lab={version} prod={version}");
            assert_eq!(
                pinned.versions(&given),
                cured,
                "{what}: {:?}",
                findings[0]["help"]
            );
        }
    }
}

/// Commands in a help.
fn commands(help: &str) -> Vec<&str> {
    help.split('`')
        .filter(|command| command.starts_with("git "))
        .collect()
}

fn shell(pinned: &Pinned, command: &str) -> Output {
    let mut shell = Command::new("sh");
    crate::git::scrub(&mut shell);
    shell
        .args(["-c", command])
        .current_dir(&pinned.sites.root)
        .output()
        .unwrap()
}

#[test]
fn pin_is_never_run_as_a_command() {
    let pinned = Pinned::new();
    let given = format!("global={}", pinned.clone("clone", &[]));
    let marker = pinned.sites.path("was-run");
    pinned.pin("prod", "v1");
    for pin in [
        "--upload-pack=touch was-run;",
        "v1; touch was-run",
        "v1 && touch was-run",
        "$(touch was-run)",
        "`touch was-run`",
        "v1' ; touch was-run ; '",
    ] {
        pinned.pin("lab", &format!("'{}'", pin.replace('\'', "''")));
        let errors = pinned.errors(&given);
        assert_eq!(
            places(&errors),
            ["missing-revision site/lab/site-definition.yaml:13"],
            "{pin}"
        );
        let help = errors[0]["help"].as_str().unwrap();
        let whole = help
            .find("git ")
            .map(|at| help[at..].trim_end_matches(['`', '.']));
        for command in commands(help).into_iter().chain(whole) {
            shell(&pinned, command);
            assert!(!marker.exists(), "{pin}: {command}");
        }
    }
}

/// A partial clone has the commit of a pin, and lacks its files.
#[test]
fn clone_without_the_files_of_a_pin_is_an_error() {
    let pinned = Pinned::new();
    pinned
        .global
        .git(&["config", "uploadpack.allowFilter", "true"]);
    let partial = pinned.clone("partial", &["--filter=blob:none"]);
    let count = || {
        pinned
            .sites
            .git(&["-C", &partial, "count-objects", "--verbose"])
    };
    let before = count();
    let ran = pinned.run_with(&format!("global={partial}"), &["lint"]);
    assert!(ran.code > 0 && !ran.stderr.contains("panicked"), "{ran:?}");
    assert_eq!(count(), before, "nothing was fetched");
    let worktree = format!("global={partial}@worktree");
    assert_eq!(pinned.versions(&worktree), "lab=3 prod=3");
}

/// For git, the empty folder is part of the repository around it.
#[test]
fn submodule_without_its_clone_is_not_its_parent_repository() {
    let pinned = Pinned::new();
    pinned.sites.git(&add_submodule(
        &pinned.global.root.display().to_string(),
        "vendor/global",
    ));
    pinned.sites.commit();
    for tag in ["v1", "v2"] {
        pinned.sites.git(&["tag", tag]);
    }
    pinned
        .sites
        .git(&["submodule", "--quiet", "deinit", "--all"]);
    let ran = pinned.run_with("global=vendor/global", &["lint", "-o", "json"]);
    if ran.code != 2 {
        let places = places(&pinned.errors("global=vendor/global"));
        assert!(
            places.iter().any(|it| it.starts_with("missing-revision ")),
            "{ran:?}"
        );
        assert!(
            places.iter().all(|it| it.starts_with("missing-revision ")),
            "{ran:?}"
        );
    }
}
