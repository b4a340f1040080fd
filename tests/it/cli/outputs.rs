//! Reports written to files, several in one run.

use std::fs;

use serde_json::Value as Json;

use super::{Sandbox, without_timing};

#[test]
fn one_run_can_write_several_reports() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    let outside = sandbox.beside("report.json");
    let to_file = format!("json={}", outside.to_str().unwrap());
    let ran = sandbox.run(&["lint", "-o", &to_file, "-o", "concise", "--output", "full=full.txt"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    assert_eq!(ran.stdout, sandbox.run(&["lint", "-o", "concise"]).stdout);
    let json = fs::read_to_string(&outside).unwrap();
    assert_eq!(without_timing(&json), sandbox.run(&["lint", "-o", "json"]).stdout);
    let full = fs::read_to_string(sandbox.path("full.txt")).unwrap();
    assert!(full.contains("error[missing-source]") && full.starts_with("FAIL  1 error: "));
    // All go to files: nothing is printed.
    let ran = sandbox.run(&["lint", "-o", "concise=a.txt", "--color", "always"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (1, "", ""));
    assert!(!fs::read_to_string(sandbox.path("a.txt")).unwrap().contains('\x1b'));
}

#[test]
fn report_replaces_the_previous_one_without_leftovers() {
    let sandbox = Sandbox::with_sites();
    fs::create_dir(sandbox.beside("out")).unwrap();
    let report = sandbox.beside("out/report.json");
    let to_file = format!("json={}", report.to_str().unwrap());
    fs::write(&report, "x".repeat(1 << 20)).unwrap();
    for _ in 0..2 {
        assert_eq!(sandbox.run(&["lint", "-o", &to_file]).code, 0);
        let text = fs::read_to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Json>(&text).unwrap()["version"], 2);
        assert_eq!(fs::read_dir(sandbox.beside("out")).unwrap().count(), 1);
    }
}

#[test]
fn output_paths_are_relative_to_the_current_folder() {
    let sandbox = Sandbox::with_sites();
    let above = sandbox.beside(".");
    let ran = sandbox.run_in(&above, &["lint", "-C", "repository", "-o", "json=here.json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(sandbox.path("here.json").is_file() && !sandbox.beside("here.json").exists());
}

#[test]
fn conflicting_outputs_are_usage_errors() {
    let sandbox = Sandbox::with_sites();
    for (arguments, said) in [
        (&["-o", "full", "-o", "json"][..], "only one report can be written to standard output"),
        (&["-o", "json=a", "-o", "full=a"], "cannot write two reports to `a`"),
        (&["-o", "json="], "missing file name after `=`"),
        (&["-o", "nosuch=a"], "expected one of full, concise, json"),
        (&["-o", "nosuch"], "expected one of full, concise, json"),
    ] {
        let ran = sandbox.run(&[&["lint"], arguments].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        assert!(!sandbox.path("a").exists(), "nothing is written before the check");
    }
}

#[cfg(unix)]
#[test]
fn special_files_are_not_written() {
    let sandbox = Sandbox::with_sites();
    let elsewhere = sandbox.beside("elsewhere");
    fs::write(&elsewhere, "precious").unwrap();
    std::os::unix::fs::symlink(&elsewhere, sandbox.path("link")).unwrap();
    std::os::unix::fs::symlink("nowhere", sandbox.path("dangling")).unwrap();
    for (file, said) in [
        ("link", "`./link` is a symbolic link"),
        ("dangling", "`./dangling` is a symbolic link"),
        ("site", "`./site` is a folder"),
        ("/dev/null", "`/dev/null` is not a regular file"),
        ("no/such/folder", "cannot write `./no/such/folder`"),
        ("global/policy.yaml/file", "cannot write `./global/policy.yaml/file`"),
    ] {
        let ran = sandbox.run(&["lint", "-o", &format!("json={file}")]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{file}");
        assert!(ran.stderr.starts_with(&format!("error: {said}")), "{}", ran.stderr);
    }
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "precious");
    assert!(sandbox.path("link").is_symlink() && !sandbox.path("nowhere").exists());
}

#[cfg(unix)]
#[test]
fn replaced_file_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::with_sites();
    sandbox.write("report.txt", "before");
    let report = sandbox.path("report.txt");
    fs::set_permissions(&report, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(sandbox.run(&["lint", "-o", "full=report.txt"]).code, 0);
    assert_eq!(fs::metadata(&report).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fs::read_to_string(&report).unwrap().contains("no findings"));
}
