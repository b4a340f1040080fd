//! Reports written to files, several in one run.

use std::fs;
#[cfg(target_os = "linux")]
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::time::Duration;

use serde_json::Value as Json;

#[cfg(target_os = "linux")]
use super::Ran;
use super::{Sandbox, without_timing};

#[test]
fn one_run_can_write_several_reports() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    let outside = sandbox.beside("report.json");
    let to_file = format!("json={}", outside.to_str().unwrap());
    let ran = sandbox.run(&[
        "lint",
        "-o",
        &to_file,
        "-o",
        "concise",
        "--output",
        "full=full.txt",
    ]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    assert_eq!(ran.stdout, sandbox.run(&["lint", "-o", "concise"]).stdout);
    let json = fs::read_to_string(&outside).unwrap();
    assert_eq!(
        without_timing(&json),
        sandbox.run(&["lint", "-o", "json"]).stdout
    );
    let full = fs::read_to_string(sandbox.path("full.txt")).unwrap();
    assert!(full.contains("error[missing-source]") && full.starts_with("FAIL  1 error: "));
    // All go to files: nothing is printed.
    let ran = sandbox.run(&["lint", "-o", "concise=a.txt", "--color", "always"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (1, "", "")
    );
    assert!(
        !fs::read_to_string(sandbox.path("a.txt"))
            .unwrap()
            .contains('\x1b')
    );
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
    let ran = sandbox.run_in(
        &above,
        &["lint", "-C", "repository", "-o", "json=here.json"],
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(sandbox.path("here.json").is_file() && !sandbox.beside("here.json").exists());
}

#[test]
fn conflicting_outputs_are_usage_errors() {
    let sandbox = Sandbox::with_sites();
    for (arguments, said) in [
        (
            &["-o", "full", "-o", "json"][..],
            "only one report can be written to standard output",
        ),
        (
            &["-o", "json=a", "-o", "full=a"],
            "cannot write two reports to `a`",
        ),
        (&["-o", "json="], "missing file name after `=`"),
        (&["-o", "nosuch=a"], "expected one of full, concise, json"),
        (&["-o", "nosuch"], "expected one of full, concise, json"),
    ] {
        let ran = sandbox.run(&[&["lint"], arguments].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        assert!(
            !sandbox.path("a").exists(),
            "nothing is written before the check"
        );
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
        (
            "global/policy.yaml/file",
            "cannot write `./global/policy.yaml/file`",
        ),
    ] {
        let ran = sandbox.run(&["lint", "-o", &format!("json={file}")]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{file}");
        assert!(
            ran.stderr.starts_with(&format!("error: {said}")),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "precious");
    assert!(sandbox.path("link").is_symlink() && !sandbox.path("nowhere").exists());
}

#[cfg(unix)]
#[test]
fn output_in_a_read_only_folder_fails_before_the_run() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::with_sites();
    let folder = sandbox.beside("read-only");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    // The permissions do not bind root.
    if fs::write(folder.join("probe"), "").is_err() {
        let ran = sandbox.run(&[
            "lint",
            "--since",
            "no-such-revision",
            "-o",
            "json=../read-only/a",
        ]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains("Permission denied"), "{ran:?}");
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn failed_run_leaves_the_output_file_as_it_was() {
    let sandbox = Sandbox::with_sites();
    sandbox.write("report.json", "before");
    let outputs = ["-o", "json=report.json", "-o", "html=new.html"];
    let ran = sandbox.run(&[&["lint", "--since", "no-such-revision"], &outputs[..]].concat());
    assert_eq!(ran.code, 2, "{ran:?}");
    assert_eq!(
        fs::read_to_string(sandbox.path("report.json")).unwrap(),
        "before"
    );
    assert!(!sandbox.path("new.html").exists());
}

/// A configured file that layercake did not write is found before another one is written.
#[test]
fn configured_outputs_are_checked_before_any_is_written() {
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "layercake.yaml",
        "output: {default: [json=first.json, json=precious.json]}\n",
    );
    sandbox.write("precious.json", "{}");
    let ran = sandbox.run(&["lint"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.stderr.contains("layercake did not create it"),
        "{ran:?}"
    );
    assert!(!sandbox.path("first.json").exists());
    assert_eq!(
        fs::read_to_string(sandbox.path("precious.json")).unwrap(),
        "{}"
    );
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
    assert_eq!(
        fs::metadata(&report).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert!(fs::read_to_string(&report).unwrap().contains("no findings"));
}

/// Folder with a program of this name that records its argument in `opened`.
#[cfg(target_os = "linux")]
fn with_opener(sandbox: &Sandbox) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = sandbox.beside("programs");
    fs::create_dir_all(&folder).unwrap();
    let opener = folder.join("xdg-open");
    let record = folder.join("opened");
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > '{}'\n",
        record.display()
    );
    fs::write(&opener, script).unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Runs with only these programs, and with an own folder for temporary files.
#[cfg(target_os = "linux")]
fn run_with(sandbox: &Sandbox, programs: &Path, arguments: &[&str]) -> Ran {
    let temporary = sandbox.beside("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let mut command = sandbox.command(arguments);
    Ran::of(
        &command
            .env("PATH", programs)
            .env("TMPDIR", temporary)
            .output()
            .unwrap(),
    )
}

/// Argument with which the program of [`with_opener`] was started. It may still be running when
/// layercake has ended.
#[cfg(target_os = "linux")]
fn opened(programs: &Path) -> PathBuf {
    let record = programs.join("opened");
    for _ in 0..1000 {
        if let Ok(text) = fs::read_to_string(&record)
            && let Some(path) = text.strip_suffix('\n')
        {
            fs::remove_file(&record).unwrap();
            return path.into();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("nothing was opened")
}

#[cfg(target_os = "linux")]
#[test]
fn html_report_is_opened_in_a_browser() {
    use std::os::unix::fs::PermissionsExt as _;

    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    sandbox.break_site("lab");
    let programs = with_opener(&sandbox);
    // A named file, and another report on standard output.
    let named = ["lint", "--open", "-o", "html=-page.html", "-o", "concise"];
    let ran = run_with(&sandbox, &programs, &named);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    assert_eq!(ran.stdout, sandbox.run(&["lint", "-o", "concise"]).stdout);
    assert_eq!(opened(&programs), sandbox.path("-page.html"));
    assert!(sandbox.path("-page.html").is_file());
    // A temporary file, which only this user can read.
    let json = sandbox.beside("report.json");
    fs::write(&json, sandbox.run(&["lint", "-o", "json"]).stdout).unwrap();
    for (arguments, code) in [
        (&["lint", "--open"][..], 1),
        (&["lint", "--open", "-q", "--since", "HEAD"], 1),
        (&["diff", "--open"], 0),
        (&["report", json.to_str().unwrap(), "--open"], 0),
    ] {
        let ran = run_with(&sandbox, &programs, arguments);
        assert_eq!(ran.code, code, "{ran:?}");
        let path = opened(&programs);
        assert_eq!(path.parent(), Some(&*sandbox.beside("tmp")));
        assert_eq!(
            ran.stderr,
            format!("opened the report `{}`\n", path.display())
        );
        assert!(
            fs::read_to_string(&path)
                .unwrap()
                .starts_with("<!DOCTYPE html>")
        );
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        let without: Vec<&str> = arguments
            .iter()
            .copied()
            .filter(|it| *it != "--open")
            .collect();
        let printed = sandbox.run(&without).stdout;
        assert_eq!(
            ran.stdout.lines().count(),
            printed.lines().count(),
            "{ran:?}"
        );
    }
    // A run with nothing to print is complete, too.
    fs::remove_file(sandbox.path("site/lab/broken.yaml")).unwrap();
    let ran = run_with(
        &sandbox,
        &programs,
        &["lint", "--open", "-q", "--since", "HEAD"],
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert!(opened(&programs).is_file());
    assert!(
        sandbox
            .git(&["status", "--short"])
            .lines()
            .eq(["?? -page.html"])
    );
}

#[cfg(target_os = "linux")]
#[test]
fn report_without_a_browser_is_a_warning() {
    let sandbox = Sandbox::with_sites();
    let programs = sandbox.beside("programs");
    fs::create_dir(&programs).unwrap();
    let ran = run_with(
        &sandbox,
        &programs,
        &["lint", "--open", "-o", "html=page.html"],
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    let path = sandbox.path("page.html");
    let expected = "warning: cannot open the report in a browser: found no program that opens \
                    files\n  help: open the file `./page.html`\n";
    assert_eq!(ran.stderr, expected);
    assert!(path.is_file());
}

#[test]
fn page_that_cannot_be_opened_is_a_usage_error() {
    let sandbox = Sandbox::with_sites();
    for (arguments, said) in [
        (
            &["lint", "-o", "html"][..],
            "cannot open an HTML report on standard output",
        ),
        (
            &["diff", "-o", "html"],
            "cannot open an HTML report on standard output",
        ),
        (
            &["report", "saved.json", "-o", "html"],
            "cannot open an HTML report on standard output",
        ),
        (
            &["lint", "-o", "html=a.txt"],
            "opens only files that end in `.html` or `.htm`: `a.txt`",
        ),
        (&["lint", "--diff"], "cannot be used with"),
    ] {
        let ran = sandbox.run(&[arguments, &["--open"]].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains(said), "{ran:?}");
    }
    sandbox.write(".layercake.yaml", "output: {default: [html]}\n");
    let ran = sandbox.run(&["lint", "--open"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.stderr
            .contains("cannot open an HTML report on standard output"),
        "{ran:?}"
    );
}
