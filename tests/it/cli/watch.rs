//! `lint --watch`, in real git repositories.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use super::{Sandbox, broken, definition, document};

/// Time after which a test fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// Time in which nothing is printed, if nothing has to be.
const SILENCE: Duration = Duration::from_millis(1_500);

struct Watching {
    process: Child,
    lines: Receiver<String>,
}

impl Watching {
    /// Starts it, and waits until it has printed the first findings.
    fn start(sandbox: &Sandbox, flags: &[&str]) -> (Self, Vec<String>) {
        let mut process = sandbox
            .command(&[&["lint", "--watch"], flags].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in output.lines() {
                drop(sender.send(line.unwrap()));
            }
        });
        let watching = Self { process, lines };
        let first = watching.until(|line| line.ends_with("; waiting for changes"));
        (watching, first)
    }

    fn until(&self, is_last: impl Fn(&str) -> bool) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => lines.push(line),
                Err(error) => panic!("{error}: {lines:#?}"),
            }
            if is_last(lines.last().unwrap()) {
                return lines;
            }
        }
    }

    /// What it prints after a change.
    fn step(&self) -> Vec<String> {
        self.until(|line| line.contains(" new, ") && line.ends_with(" fixed"))
    }

    fn is_silent(&self) {
        if let Ok(line) = self.lines.recv_timeout(SILENCE) {
            panic!("unexpected: {line}");
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    sandbox
}

#[test]
fn new_and_fixed_findings_are_printed_after_each_change() {
    let sandbox = sandbox();
    let (watching, first) = Watching::start(&sandbox, &[]);
    assert_eq!(first, ["no findings; waiting for changes"]);
    // A new file, its undoing, an edit, and a half-typed file.
    sandbox.break_site("lab");
    let step = watching.step();
    assert_eq!(step.last().unwrap(), "1 error, 1 new, 0 fixed");
    assert!(
        step.iter()
            .any(|line| line.contains("error[missing-source]")),
        "{step:#?}"
    );
    assert!(!step.concat().contains('\u{1b}'), "{step:?}");
    fs::remove_file(sandbox.path("site/lab/broken.yaml")).unwrap();
    let step = watching.step();
    assert_eq!(step.len(), 2, "{step:#?}");
    assert!(
        step[0].starts_with("fixed: site/lab/broken.yaml:"),
        "{step:#?}"
    );
    assert_eq!(step[1], "no findings, 0 new, 1 fixed");
    let only = fs::read_to_string(sandbox.path("site/lab/only.yaml")).unwrap();
    let twice = document("only", "site", "{of: lab, of: twice}");
    sandbox.write("site/lab/only.yaml", twice);
    let step = watching.step();
    assert_eq!(step.last().unwrap(), "1 warning, 1 new, 0 fixed");
    sandbox.write("site/lab/only.yaml", "---\nschema: [half");
    let step = watching.step();
    assert!(
        step.iter().any(|line| line.contains("error[invalid-yaml]")),
        "{step:#?}"
    );
    sandbox.write("site/lab/only.yaml", only);
    let step = watching.step();
    assert_eq!(step.last().unwrap(), "no findings, 0 new, 1 fixed");
}

/// All files of a branch are one batch.
#[test]
fn branch_switch_is_one_change() {
    let sandbox = sandbox();
    for number in 0..300 {
        let text = document(&format!("many-{number}"), "global", "{a: 1}");
        sandbox.write(&format!("global/many/{number}.yaml"), text);
    }
    sandbox.commit();
    sandbox.git(&["switch", "--quiet", "--create", "topic"]);
    for number in 0..300 {
        let text = broken().replace("name: broken", &format!("name: many-{number}"));
        let text = text.replace("layer: site", "layer: global");
        sandbox.write(&format!("global/many/{number}.yaml"), text);
    }
    sandbox.commit();
    sandbox.git(&["switch", "--quiet", "main"]);
    let (watching, first) = Watching::start(&sandbox, &[]);
    assert_eq!(first, ["no findings; waiting for changes"]);
    sandbox.git(&["switch", "--quiet", "topic"]);
    let step = watching.step();
    assert_eq!(step.last().unwrap(), "300 errors, 300 new, 0 fixed");
    sandbox.git(&["switch", "--quiet", "main"]);
    let step = watching.step();
    assert_eq!(step.last().unwrap(), "no findings, 0 new, 300 fixed");
}

#[test]
fn configuration_counts_and_other_files_do_not() {
    let sandbox = sandbox();
    sandbox.break_site("lab");
    let (watching, first) = Watching::start(&sandbox, &[]);
    assert_eq!(first.last().unwrap(), "1 error; waiting for changes");
    sandbox.write(
        "layercake.yaml",
        "rules: {levels: {missing-source: \"off\"}}\n",
    );
    assert_eq!(
        watching.step().last().unwrap(),
        "no findings, 0 new, 1 fixed"
    );
    fs::remove_file(sandbox.path("layercake.yaml")).unwrap();
    assert_eq!(watching.step().last().unwrap(), "1 error, 1 new, 0 fixed");
    sandbox.write(
        "layercake.yaml",
        "discover: {exclude: [site/prod/ignored/**]}\n",
    );
    sandbox.write("site/prod/ignored/broken.yaml", broken());
    sandbox.write("notes/broken.yaml", broken());
    sandbox.write("README.md", "# Sites\n");
    sandbox.git(&["add", "--all"]);
    watching.is_silent();
}

/// A folder that is removed and comes back is watched again, with other files.
#[test]
fn folders_come_and_go() {
    let sandbox = sandbox();
    let (watching, _) = Watching::start(&sandbox, &[]);
    for _ in 0..2 {
        fs::remove_dir_all(sandbox.path("site/lab")).unwrap();
        fs::create_dir_all(sandbox.path("site/lab")).unwrap();
        sandbox.write("site/lab/site-definition.yaml", definition("lab", ""));
        sandbox.write("site/lab/only.yaml", document("only", "site", "{}"));
        sandbox.break_site("lab");
        assert_eq!(watching.step().last().unwrap(), "1 error, 1 new, 0 fixed");
        sandbox.write("site/lab/broken.yaml", document("broken", "site", "{}"));
        assert_eq!(
            watching.step().last().unwrap(),
            "no findings, 0 new, 1 fixed"
        );
    }
}

#[test]
fn invalid_configuration_is_reported_and_watching_goes_on() {
    let sandbox = sandbox();
    let (mut watching, _) = Watching::start(&sandbox, &[]);
    let errors = BufReader::new(watching.process.stderr.take().unwrap());
    sandbox.write("layercake.yaml", "no-such-key: 1\n");
    let line = errors.lines().next().unwrap().unwrap();
    assert!(line.contains("layercake.yaml"), "{line}");
    sandbox.break_site("lab");
    watching.is_silent();
    fs::remove_file(sandbox.path("layercake.yaml")).unwrap();
    assert_eq!(watching.step().last().unwrap(), "1 error, 1 new, 0 fixed");
}

/// With a comparison, findings of the base do not count.
#[test]
fn comparison_is_made_again_after_each_change() {
    let sandbox = sandbox();
    sandbox.break_site("lab");
    sandbox.commit();
    let (watching, first) = Watching::start(&sandbox, &["--since", "HEAD"]);
    assert_eq!(first, ["no findings; waiting for changes"]);
    sandbox.break_site("prod");
    let step = watching.step();
    assert_eq!(step.last().unwrap(), "1 error, 1 new, 0 fixed");
    assert!(
        step.iter()
            .any(|line| line.contains("site/prod/broken.yaml"))
    );
}

#[test]
fn flags_that_run_once_are_refused() {
    let sandbox = sandbox();
    for flags in [
        &["--staged"][..],
        &["--auto"],
        &["--from", "HEAD"],
        &["--fix"],
        &["--rev", "HEAD"],
        &["-o", "json"],
        &["--statistics"],
        &["--exit-zero"],
    ] {
        let ran = sandbox.run(&[&["lint", "--watch"], flags].concat());
        assert_eq!((ran.code, &*ran.stdout), (2, ""), "{flags:?}");
        assert!(
            ran.stderr.contains("cannot be used with"),
            "{flags:?}: {ran:?}"
        );
    }
    let outside = Sandbox::outside_git();
    assert_eq!(outside.run(&["lint", "--watch"]).code, 2);
}

/// A shell reports the signal as exit code 130.
#[test]
fn interrupt_ends_it() {
    use std::os::unix::process::ExitStatusExt as _;

    let sandbox = sandbox();
    let (mut watching, _) = Watching::start(&sandbox, &[]);
    let id = watching.process.id().to_string();
    let killed = Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(killed.success());
    let status = watching.process.wait().unwrap();
    assert_eq!(status.signal(), Some(2));
}

#[test]
fn closed_pipe_ends_it() {
    let sandbox = sandbox();
    let mut process = sandbox
        .command(&["lint", "--watch"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(process.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    drop(output);
    sandbox.break_site("lab");
    assert_eq!(process.wait().unwrap().code(), Some(0));
}
