//! An interrupted run ends by the signal, and leaves no partial files.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{Sandbox, document};

/// Formats whose reports do not contain the duration of the run.
const FORMATS: [&str; 6] = ["github", "gitlab", "html", "junit", "markdown", "sarif"];
const BEFORE: &str = "what was there before\n";

#[test]
fn interrupted_run_keeps_existing_files() {
    let sandbox = with_many_documents();
    let (whole, reports) = complete_run(&sandbox);
    let signals = [("INT", 2), ("TERM", 15), ("HUP", 1)];
    let mut ended = 0;
    for (step, (name, number)) in (2..=32).zip(signals.iter().cycle()) {
        for format in FORMATS {
            sandbox.write(&format!("out/{format}"), BEFORE);
        }
        let mut child = start(sandbox.command(&[]));
        // At points all over the run, and some after its end.
        sleep(whole * step / 30);
        send(name, &child);
        let status = child.wait().unwrap();
        let is_ended = status.signal() == Some(*number);
        assert!(is_ended || status.success(), "{status}");
        ended += u32::from(is_ended);
        for (format, report) in FORMATS.iter().zip(&reports) {
            let text = fs::read_to_string(sandbox.path(&format!("out/{format}"))).unwrap();
            assert!(
                text == *report || is_ended && text == BEFORE,
                "{format}: {text}"
            );
        }
        assert_eq!(names(&sandbox), FORMATS, "{name} at {step} of 30, {status}");
    }
    assert!(ended > 0, "no run was long enough to be interrupted");
}

/// As set by `nohup` and a shell's `&`.
#[test]
#[cfg(target_os = "linux")]
fn ignored_signal_does_not_end_a_run() {
    let sandbox = with_many_documents();
    let (whole, reports) = complete_run(&sandbox);
    for (step, name) in (1..=8).zip(["INT", "HUP"].iter().cycle()) {
        let mut child = start(ignoring_signals(&sandbox));
        sleep(whole * step / 8);
        send(name, &child);
        assert!(child.wait().unwrap().success(), "{name} at {step} of 8");
        for (format, report) in FORMATS.iter().zip(&reports) {
            let text = fs::read_to_string(sandbox.path(&format!("out/{format}"))).unwrap();
            assert_eq!(text, *report, "{format}: {name} at {step} of 8");
        }
    }
}

/// Sites that take a while to render, and a folder for their reports.
fn with_many_documents() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    for number in 0..300 {
        let name = format!("many-{number}");
        sandbox.write(
            &format!("global/{name}.yaml"),
            document(&name, "global", "{a: [1, 2]}"),
        );
    }
    fs::create_dir(sandbox.path("out")).unwrap();
    sandbox
}

fn ignoring_signals(sandbox: &Sandbox) -> Command {
    let program = sandbox.command(&[]);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "trap '' INT HUP; exec \"$0\" \"$@\""])
        .arg(program.get_program());
    shell.env_clear().envs(
        program
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    shell.current_dir(sandbox.path("."));
    shell
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill")
        .args(["-s", signal, &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
}

/// Starts a run that writes every format; its arguments are appended to `command`.
fn start(mut command: Command) -> Child {
    command.args(["lint", "--fix"]);
    command.args(
        FORMATS
            .iter()
            .flat_map(|format| ["-o".into(), format!("{format}=out/{format}")]),
    );
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Duration of a complete run, and its reports.
fn complete_run(sandbox: &Sandbox) -> (Duration, Vec<String>) {
    let began = Instant::now();
    assert!(start(sandbox.command(&[])).wait().unwrap().success());
    let whole = began.elapsed();
    let read = |format| fs::read_to_string(sandbox.path(&format!("out/{format}"))).unwrap();
    (whole, FORMATS.map(read).to_vec())
}

/// Names in the folder of the reports.
fn names(sandbox: &Sandbox) -> Vec<String> {
    let entries = fs::read_dir(sandbox.path("out")).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
