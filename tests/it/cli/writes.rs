//! Only files that a flag names are written, each of them completely or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::{Ran, Sandbox, document};

type Snapshot = BTreeMap<PathBuf, (u32, i64, Vec<u8>)>;

/// Everything below a folder: kind and mode, modification time, and content. A folder changes when
/// its entries do.
fn snapshot(folder: &Path) -> Snapshot {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        let changed = metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec();
        let (changed, content) = if metadata.is_dir() {
            found.extend(snapshot(&path));
            (0, Vec::new())
        } else if metadata.is_symlink() {
            (
                changed,
                path.read_link()
                    .unwrap()
                    .to_string_lossy()
                    .as_bytes()
                    .to_vec(),
            )
        } else {
            (changed, fs::read(&path).unwrap())
        };
        found.insert(path, (metadata.mode(), changed, content));
    }
    found
}

/// Two sites, with something to fix, a link to it, and a baseline.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    let action = "  layeringDefinition:\n    abstract: false\n    layer: site\n    \
                  parentSelector: {of: parent}\n    actions:\n      - {method: merge, path: .}\n      \
                  - {method: replace, path: .}\n";
    let child = document("child", "site", "{a: 1}");
    let flow = "  layeringDefinition: {abstract: false, layer: site}\n";
    sandbox.write("site/lab/child.yaml", child.replace(flow, action));
    let parent = document("child", "global", "{a: 2}");
    sandbox.write(
        "global/parent.yaml",
        parent.replace("name: child\n", "name: child\n  labels: {of: parent}\n"),
    );
    fs::set_permissions(
        sandbox.path("site/lab/child.yaml"),
        fs::Permissions::from_mode(0o640),
    )
    .unwrap();
    symlink("chart.yaml", sandbox.path("global/link.yaml")).unwrap();
    sandbox.commit();
    sandbox
}

/// Paths that a run changed, relative to the folder around the repository.
fn changed_by(sandbox: &Sandbox, arguments: &[&str]) -> (Ran, BTreeSet<String>) {
    let around = sandbox.root.parent().unwrap();
    let before = snapshot(around);
    let ran = sandbox.run(arguments);
    let after = snapshot(around);
    (ran, different(around, &before, &after))
}

fn different(around: &Path, before: &Snapshot, after: &Snapshot) -> BTreeSet<String> {
    let paths: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
    let changed = paths
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path));
    changed
        .map(|path| path.strip_prefix(around).unwrap().display().to_string())
        .collect()
}

#[test]
fn read_only_verbs_write_nothing() {
    let sandbox = sandbox();
    assert!(sandbox.run(&["lint", "-o", "json=report.json"]).code < 2);
    assert_eq!(sandbox.run(&["baseline", "write"]).code, 0);
    for arguments in [
        "lint",
        "lint --diff",
        "lint --since HEAD",
        "lint --staged",
        "lint -o json",
        "lint --statistics",
        "diff HEAD",
        "render",
        "render --show-secrets",
        "sites",
        "explain-value lab example/Any/v1 only .of",
        "impact site/lab/only.yaml:8",
        "graph",
        "rules",
        "explain missing-parent",
        "config show",
        "config path",
        "config check",
        "config schema",
        "baseline show",
        "completions bash",
        "man",
        "report report.json -o html",
        "cloud-config --help",
        "debug parse",
        "debug side --since HEAD",
        "debug fail --at document:only -- lint",
        "nosuch",
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let (ran, changed) = changed_by(&sandbox, &arguments);
        assert_eq!(changed, BTreeSet::new(), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn writing_verbs_change_only_named_files() {
    for (arguments, expected) in [
        ("lint -o json=../report.json", &["report.json"][..]),
        (
            "lint -o html=new.html -o sarif=other.sarif",
            &["repository/new.html", "repository/other.sarif"],
        ),
        ("lint --fix", &["repository/site/lab/child.yaml"]),
        (
            "lint --add-ignore=later --no-baseline",
            &["repository/site/lab/child.yaml"],
        ),
        (
            "baseline write --baseline other.json",
            &["repository/other.json"],
        ),
        (
            "init",
            &[
                "repository/.pre-commit-config.yaml",
                "repository/layercake.yaml",
            ],
        ),
    ] {
        let sandbox = sandbox();
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let (ran, changed) = changed_by(&sandbox, &arguments);
        assert!(ran.code < 2, "{arguments:?}: {ran:?}");
        let expected: BTreeSet<String> = expected.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(changed, expected, "{arguments:?}: {ran:?}");
        let mode = sandbox
            .path("site/lab/child.yaml")
            .metadata()
            .unwrap()
            .mode();
        assert_eq!(mode & 0o777, 0o640, "{arguments:?}");
        assert!(sandbox.path("global/link.yaml").is_symlink());
    }
}

/// A reader of a file that is rewritten again and again always sees one complete version.
#[test]
fn file_is_replaced_completely_or_not_at_all() {
    let sandbox = sandbox();
    let file = sandbox.path("report.txt");
    let runs = [
        ["lint", "-o", "concise=report.txt", "--no-baseline"],
        ["lint", "-o", "github=report.txt", "--no-baseline"],
    ];
    let texts: Vec<Vec<u8>> = runs
        .iter()
        .map(|arguments| {
            assert!(sandbox.run(arguments).code < 2);
            fs::read(&file).unwrap()
        })
        .collect();
    assert!(texts[0] != texts[1] && texts.iter().all(|text| !text.is_empty()));
    let done = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = BTreeSet::new();
            while !done.load(Relaxed) {
                seen.insert(fs::read(&file).unwrap());
            }
            seen
        });
        for _ in 0..5 {
            for arguments in &runs {
                assert!(sandbox.run(arguments).code < 2);
            }
        }
        done.store(true, Relaxed);
        reader.join().unwrap()
    });
    assert_eq!(seen, texts.into_iter().collect());
}

/// If a file cannot grow as large as needed, as on a full disk, the old content stays and nothing
/// else is left behind.
#[test]
fn full_disk_leaves_no_partial_file() {
    let sandbox = sandbox();
    // None of the texts fits.
    let child = fs::read_to_string(sandbox.path("site/lab/child.yaml")).unwrap();
    sandbox.write(
        "site/lab/child.yaml",
        format!("{child}# {}\n", "x".repeat(2000)),
    );
    for number in 0..20 {
        sandbox.write(
            &format!("site/lab/broken-{number}.yaml"),
            super::broken().replace("name: broken", &format!("name: broken-{number}")),
        );
    }
    sandbox.write("report.json", "{}\n");
    for arguments in [
        "lint -o json=report.json",
        "lint -o html=new.html",
        "lint --fix --select ineffective-action",
        "lint --add-ignore=later --no-baseline",
        "baseline write",
    ] {
        let around = sandbox.root.parent().unwrap();
        let before = snapshot(around);
        let program = sandbox.command(&[]);
        let program = program.get_program().to_string_lossy();
        let script = format!("trap '' XFSZ; ulimit -f 1; exec {program} {arguments}");
        let output = Command::new("sh")
            .args(["-c", &script])
            .current_dir(&sandbox.root)
            .output();
        let ran = Ran::of(&output.unwrap());
        assert_eq!(ran.code, 2, "{arguments}: {ran:?}");
        assert!(ran.stderr.contains("cannot write"), "{arguments}: {ran:?}");
        let changed = different(around, &before, &snapshot(around));
        assert_eq!(changed, BTreeSet::new(), "{arguments}: {ran:?}");
    }
}

/// A report that cannot be written ends the run before it fixes or writes anything.
#[test]
fn unwritable_output_fails_before_the_run() {
    let sandbox = sandbox();
    let fix = "lint --fix --select ineffective-action -o sarif=first.sarif -o json=";
    for (file, said) in [
        (
            "no/such/report.json",
            "help: create the folder `./no/such`, or name another file",
        ),
        (
            "global/parent.yaml/report.json",
            "caused by: Not a directory",
        ),
        ("site", "`./site` is a folder"),
    ] {
        for command in [
            fix,
            "diff HEAD -o html=first.html -o json=",
            "report none.json -o json=",
        ] {
            let command = format!("{command}{file}");
            let arguments: Vec<&str> = command.split(' ').collect();
            let (ran, changed) = changed_by(&sandbox, &arguments);
            assert_eq!(
                (ran.code, ran.stdout.as_str()),
                (2, ""),
                "{command}: {ran:?}"
            );
            assert!(ran.stderr.contains(said), "{command}: {ran:?}");
            assert_eq!(changed, BTreeSet::new(), "{command}");
        }
    }
    let command = format!("{fix}report.json");
    let (ran, changed) = changed_by(&sandbox, &command.split(' ').collect::<Vec<_>>());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(changed.len(), 3, "{changed:?}");
}
