//! Special files in a repository, and special files that are named as targets.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Sandbox, broken, document};

/// Pipes, sockets, devices and link loops are reported and never waited for, inside git and
/// outside.
#[test]
fn special_files_are_reported() {
    for sandbox in [Sandbox::new(), Sandbox::outside_git()] {
        sandbox.write_sites();
        let path = |name: &str| sandbox.path(&format!("site/lab/{name}"));
        let made = Command::new("mkfifo")
            .arg(path("pipe.yaml"))
            .status()
            .unwrap();
        assert!(made.success());
        let _socket = UnixListener::bind(path("socket.yaml")).unwrap();
        symlink("/dev/zero", path("zero.yaml")).unwrap();
        symlink("loop.yaml", path("loop.yaml")).unwrap();
        symlink("nowhere.yaml", path("dangling.yaml")).unwrap();
        symlink("..", path("above")).unwrap();
        fs::create_dir(path("folder.yaml")).unwrap();
        let findings = sandbox.findings(&[]);
        let found: Vec<(&str, &str)> = findings
            .iter()
            .map(|finding| {
                let file = finding["primary"]["file"].as_str().unwrap();
                (
                    file.rsplit('/').next().unwrap(),
                    finding["message"].as_str().unwrap(),
                )
            })
            .collect();
        let cannot = "cannot read file: ";
        let expected = [
            ("dangling.yaml", "a broken symbolic link"),
            (
                "loop.yaml",
                "a symbolic link that cannot be followed: filesystem loop or \
                           indirection limit (e.g. symlink loop)",
            ),
            ("pipe.yaml", "not a file"),
            ("socket.yaml", "not a file"),
            (
                "zero.yaml",
                "a symbolic link that leads out of the repository",
            ),
        ];
        let expected = expected.map(|(name, reason)| (name, format!("{cannot}{reason}")));
        let expected: Vec<(&str, &str)> = expected.iter().map(|(it, why)| (*it, &**why)).collect();
        assert_eq!(found, expected);
    }
}

/// Names that differ only in case or in Unicode composition are one file on other systems; a
/// clashing folder is reported once.
#[test]
fn clashing_names_are_reported() {
    let sandbox = Sandbox::with_sites();
    for (number, path) in [
        "global/Chart.yaml",
        "global/caf\u{e9}.yaml",
        "global/cafe\u{301}.yaml",
        "type/small/sub/one.yaml",
        "type/small/Sub/two.yaml",
        "type/small/Sub/three.yaml",
    ]
    .into_iter()
    .enumerate()
    {
        let layer = path.split('/').next().unwrap();
        sandbox.write(path, document(&format!("clashing-{number}"), layer, "{}"));
    }
    let findings = sandbox.findings(&["--select", "clashing-path"]);
    let messages: Vec<&str> = findings
        .iter()
        .map(|it| it["message"].as_str().unwrap())
        .collect();
    assert_eq!(
        messages,
        [
            "`global/caf\u{e9}.yaml` and `global/cafe\u{301}.yaml` differ only in Unicode \
             normalization",
            "`global/chart.yaml` and `global/Chart.yaml` differ only in case",
            "`type/small/sub` and `type/small/Sub` differ only in case",
        ]
    );
}

/// A report never replaces a file that layercake reads, and is not written through links or into
/// pipes and devices.
#[test]
fn report_replaces_no_file_that_layercake_reads() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    assert_eq!(sandbox.run(&["baseline", "write"]).code, 0);
    sandbox.write("real.json", "old");
    symlink("real.json", sandbox.path("link.json")).unwrap();
    symlink(".git", sandbox.path("insides")).unwrap();
    let made = Command::new("mkfifo")
        .arg(sandbox.path("pipe"))
        .status()
        .unwrap();
    assert!(made.success());
    let before = sandbox.git(&["status", "--short"]);
    for (target, why) in [
        ("site/lab/only.yaml", "which layercake reads"),
        ("new.yml", "which layercake reads"),
        (".layercake-baseline.json", "which layercake reads"),
        ("SITE.YML", "which layercake reads"),
        ("site/../.layercake-baseline.json", "which layercake reads"),
        (".git/config", "is inside a git folder"),
        ("site/../.git/config", "is inside a git folder"),
        ("insides/config", "is inside a git folder"),
        ("link.json", "is a symbolic link"),
        ("/dev/stdout", "is a symbolic link"),
        ("/dev/null", "is not a regular file"),
        ("pipe", "is not a regular file"),
        ("site", "is a folder"),
        ("nowhere/report.json", "cannot write"),
        ("/proc/report.json", "cannot write"),
    ] {
        let ran = sandbox.run(&["lint", "-o", &format!("json={target}")]);
        assert_eq!(ran.code, 2, "{target}: {ran:?}");
        assert!(ran.stderr.contains(why), "{target}: {ran:?}");
    }
    assert_eq!(sandbox.git(&["status", "--short"]), before);
    assert_eq!(
        fs::read_to_string(sandbox.path("real.json")).unwrap(),
        "old"
    );
}

/// The configuration of an untrusted change can only choose reports and their paths.
#[test]
fn configured_report_replaces_no_file_that_layercake_reads() {
    for (target, baseline) in [
        ("site/lab/only.yaml", None),
        ("./.layercake-baseline.json", None),
        ("accepted.json", Some("accepted.json")),
        ("./accepted.json", Some("accepted.json")),
        ("layercake.yaml", None),
    ] {
        let sandbox = Sandbox::with_sites();
        sandbox.write("accepted.json", "{}");
        let named = baseline
            .map(|it| format!("baseline: {it}\n"))
            .unwrap_or_default();
        sandbox.write(
            "layercake.yaml",
            format!("{named}output: {{default: [json={target}]}}\n"),
        );
        sandbox.commit();
        let ran = sandbox.run(&["lint", "--no-baseline"]);
        assert_eq!(ran.code, 2, "{target}: {ran:?}");
        assert!(
            ran.stderr.contains("which layercake reads"),
            "{target}: {ran:?}"
        );
        assert_eq!(sandbox.git(&["status", "--short"]), "", "{target}");
    }
    let sandbox = Sandbox::with_sites();
    assert_eq!(
        sandbox
            .run(&["baseline", "write", "--baseline", "accepted.json"])
            .code,
        0
    );
    sandbox.write(
        "layercake.yaml",
        "output: {default: [json=./accepted.json]}\n",
    );
    sandbox.commit();
    let ran = sandbox.run(&["lint", "--baseline", "accepted.json"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("which layercake reads"), "{ran:?}");
    assert_eq!(sandbox.git(&["status", "--short"]), "");
}

/// A repository need not be called `.git`, and a working tree may be inside it.
#[test]
fn files_of_git_are_never_written() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    let (bare, inside) = (sandbox.beside("bare"), sandbox.beside("bare/inside"));
    let named = |path: &Path| path.display().to_string();
    sandbox.git(&["clone", "--quiet", "--bare", ".", &named(&bare)]);
    sandbox.git(&[
        "-C",
        &named(&bare),
        "worktree",
        "add",
        "--quiet",
        &named(&inside),
    ]);
    let before = fs::read(bare.join("config")).unwrap();
    for target in [
        bare.join("config"),
        bare.join("worktrees/inside/new"),
        inside.join(".git"),
    ] {
        let report = format!("json={}", named(&target));
        let ran = sandbox.run(&["lint", "-o", "sarif=first.sarif", "-o", &report]);
        assert_eq!(ran.code, 2, "{target:?}: {ran:?}");
        assert!(
            ran.stderr.contains("is inside a git folder"),
            "{target:?}: {ran:?}"
        );
        assert!(!sandbox.path("first.sarif").exists(), "{target:?}");
    }
    assert_eq!(fs::read(bare.join("config")).unwrap(), before);
    let ran = sandbox.run(&["baseline", "write", "--baseline", ".git/config"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let ran = sandbox.run(&[
        "lint",
        "-o",
        &format!("json={}", named(&inside.join("new.json"))),
    ]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

/// Folders that disappear and return while they are listed and read end in findings, or in an
/// error that says so.
#[test]
fn vanishing_folders_are_reported() {
    for sandbox in [Sandbox::new(), Sandbox::outside_git()] {
        sandbox.write_sites();
        let folders: Vec<PathBuf> = (0..30)
            .map(|number| sandbox.path(&format!("site/lab/part-{number}")))
            .collect();
        for (number, folder) in folders.iter().enumerate() {
            fs::create_dir(folder).unwrap();
            let text = document(&format!("part-{number}"), "site", "{}");
            fs::write(folder.join("a.yaml"), text).unwrap();
        }
        let (away, is_done) = (sandbox.beside("away"), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    for folder in &folders {
                        fs::rename(folder, &away).unwrap();
                        fs::rename(&away, folder).unwrap();
                    }
                }
            });
            for _ in 0..20 {
                let ran = sandbox.run(&["lint", "-o", "json"]);
                match ran.code {
                    0 => {}
                    1 => {
                        let json = ran.json();
                        let findings = json["findings"].as_array().unwrap();
                        assert!(
                            findings.iter().all(|it| it["rule"] == "unreadable-file"),
                            "{json}"
                        );
                    }
                    _ => assert!(ran.stderr.starts_with("error: "), "{ran:?}"),
                }
            }
            is_done.store(true, Ordering::Relaxed);
        });
        assert_eq!(sandbox.rules(&[]), [] as [&str; 0]);
    }
}

/// Names and paths of the maximum length on Linux.
#[test]
fn paths_of_maximum_length_are_reported_in_full() {
    let sandbox = Sandbox::new();
    sandbox.write_sites();
    let mut path = format!("global{}", format!("/{}", "d".repeat(255)).repeat(14));
    path += &format!("/{}.yaml", "f".repeat(250));
    sandbox.write(&path, broken().replace("layer: site", "layer: global"));
    let findings = sandbox.findings(&["--select", "missing-source"]);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0]["primary"]["file"], path);
    let ran = sandbox.run(&["lint", "-o", "concise"]);
    assert!(ran.stdout.contains(&path), "{ran:?}");
    sandbox.commit();
    let ran = sandbox.run(&["lint", "--since", "HEAD", "-o", "json"]);
    assert_eq!(ran.json()["edits"].as_array().unwrap().len(), 0);
}

/// A closed standard output has no reader to inform.
#[test]
fn closed_standard_output_is_not_an_error() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    for arguments in ["lint", "lint -o json", "render --fail-on error"] {
        let program = sandbox.command(&[]);
        let mut shell = Command::new("sh");
        let script = format!(
            "exec {} {arguments} >&-",
            program.get_program().to_string_lossy()
        );
        let output = shell
            .args(["-c", &script])
            .current_dir(&sandbox.root)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments}: {output:?}");
    }
}
