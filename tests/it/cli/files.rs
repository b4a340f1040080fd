//! What lies in a repository beside plain files, and files that are named as
//! targets and are none.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::Command;

use super::{Sandbox, document};

/// Pipes, sockets, devices and loops are told and never waited for, inside git
/// and outside.
#[test]
fn what_is_no_plain_file_is_told() {
    for sandbox in [Sandbox::new(), Sandbox::outside_git()] {
        sandbox.write_sites();
        let path = |name: &str| sandbox.path(&format!("site/lab/{name}"));
        let made = Command::new("mkfifo").arg(path("pipe.yaml")).status().unwrap();
        assert!(made.success());
        let _socket = UnixListener::bind(path("socket.yaml")).unwrap();
        symlink("/dev/zero", path("zero.yaml")).unwrap();
        symlink("loop.yaml", path("loop.yaml")).unwrap();
        symlink("nowhere.yaml", path("dangling.yaml")).unwrap();
        symlink("..", path("above")).unwrap();
        fs::create_dir(path("folder.yaml")).unwrap();
        let findings = sandbox.findings(&[]);
        let told: Vec<(&str, &str)> = findings
            .iter()
            .map(|finding| {
                let file = finding["primary"]["file"].as_str().unwrap();
                (file.rsplit('/').next().unwrap(), finding["message"].as_str().unwrap())
            })
            .collect();
        let cannot = "a file that cannot be read: ";
        let expected = [
            ("dangling.yaml", "a symbolic link to nothing"),
            (
                "loop.yaml",
                "a symbolic link that cannot be followed: filesystem loop or \
                           indirection limit (e.g. symlink loop)",
            ),
            ("pipe.yaml", "not a file"),
            ("socket.yaml", "not a file"),
            ("zero.yaml", "a symbolic link that leads out of the repository"),
        ];
        let expected = expected.map(|(name, reason)| (name, format!("{cannot}{reason}")));
        let expected: Vec<(&str, &str)> = expected.iter().map(|(it, why)| (*it, &**why)).collect();
        assert_eq!(told, expected);
    }
}

/// Names that differ in case, or in how a letter is composed, are one file on
/// other systems; a folder that clashes is told once.
#[test]
fn names_that_clash_are_told() {
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
    let told: Vec<&str> = findings.iter().map(|it| it["message"].as_str().unwrap()).collect();
    assert_eq!(
        told,
        [
            "`global/caf\u{e9}.yaml` and `global/cafe\u{301}.yaml` differ only in how letters are \
             encoded",
            "`global/chart.yaml` and `global/Chart.yaml` differ only in case",
            "`type/small/sub` and `type/small/Sub` differ only in case",
        ]
    );
}

/// A report never takes the place of what layercake reads, and is not written
/// through links, into pipes or devices.
#[test]
fn a_report_goes_to_a_file_of_its_own() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    assert_eq!(sandbox.run(&["baseline", "write"]).code, 0);
    sandbox.write("real.json", "old");
    symlink("real.json", sandbox.path("link.json")).unwrap();
    let made = Command::new("mkfifo").arg(sandbox.path("pipe")).status().unwrap();
    assert!(made.success());
    let before = sandbox.git(&["status", "--short"]);
    for (target, why) in [
        ("site/lab/only.yaml", "which layercake reads"),
        ("new.yml", "which layercake reads"),
        (".layercake-baseline.json", "which layercake reads"),
        (".git/config", "which layercake reads"),
        ("link.json", "is a symbolic link"),
        ("/dev/stdout", "is a symbolic link"),
        ("/dev/null", "is no plain file"),
        ("pipe", "is no plain file"),
        ("site", "is a folder"),
        ("nowhere/report.json", "cannot be written"),
        ("/proc/report.json", "cannot be written"),
    ] {
        let ran = sandbox.run(&["lint", "-o", &format!("json={target}")]);
        assert_eq!(ran.code, 2, "{target}: {ran:?}");
        assert!(ran.stderr.contains(why), "{target}: {ran:?}");
    }
    assert_eq!(sandbox.git(&["status", "--short"]), before);
    assert_eq!(fs::read_to_string(sandbox.path("real.json")).unwrap(), "old");
}

/// Standard output that is closed is one that nobody reads.
#[test]
fn a_closed_standard_output_is_no_fault() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    for arguments in ["lint", "lint -o json", "render"] {
        let program = sandbox.command(&[]);
        let mut shell = Command::new("sh");
        let script = format!("exec {} {arguments} >&-", program.get_program().to_string_lossy());
        let output = shell.args(["-c", &script]).current_dir(&sandbox.root).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments}: {output:?}");
    }
}
