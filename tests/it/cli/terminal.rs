//! Runs on a pseudo-terminal: the progress line, the width, and colors.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::{Ran, Sandbox, document, without_time};

/// Control characters that replace the progress line.
const ERASE: &str = "\r\x1b[2K";

/// Width of the terminal in columns.
const COLUMNS: u16 = 72;

/// Arguments of each verb that shows progress, some with several ways through the program.
const VERBS: [&[&str]; 25] = [
    &["lint"],
    &["lint", "--since", "HEAD~3"],
    &["lint", "--staged", "--quiet"],
    &["lint", "--set", "global/chart.yaml", "global/policy.yaml"],
    &["lint", "--diff"],
    &["baseline", "write"],
    &["baseline", "prune"],
    &["diff", "HEAD~3"],
    &["render"],
    &["render", "--fail-on", "error"],
    &["cloud-config", "part.yaml", "more.yaml"],
    &["sites"],
    &["explain-value", "lab", "chart", ".values.replicas"],
    &["explain-value", "--all-sites", "chart", ".values.replicas"],
    &[
        "explain-value",
        "lab",
        "chart",
        ".values.replicas",
        "--since",
        "HEAD~3",
    ],
    &[
        "explain-value",
        "lab",
        "chart",
        ".values.replicas",
        "--history",
    ],
    &[
        "explain-value",
        "lab",
        "chart",
        ".values.replicas",
        "--why-not",
        "global/chart.yaml:9",
    ],
    &["blame", "lab"],
    &["blame", "lab", "chart"],
    &["blame", "lab", "chart", ".values.replicas"],
    &["log"],
    &["log", "-o", "json"],
    &["impact", "global/chart.yaml"],
    &["graph"],
    &["demo"],
];

#[test]
fn progress_line_is_gone_before_the_answer() {
    let sandbox = with_history();
    for verb in VERBS {
        let columns = COLUMNS.to_string();
        let piped = Ran::of(
            &sandbox
                .command(verb)
                .env("COLUMNS", &columns)
                .output()
                .unwrap(),
        );
        let seen = run_on_terminal(sandbox.command(&[verb, &["--progress-after", "0"]].concat()));
        assert!(
            seen.contains(ERASE) && !seen.contains("\\x1b"),
            "{verb:?}: {seen:?}"
        );
        check_counts(verb, &progress(&seen));
        let screen = screen(&seen);
        if verb != ["demo"] {
            assert_eq!(
                sorted(&screen),
                sorted(&(piped.stdout + &piped.stderr)),
                "{verb:?}"
            );
        }
        assert!(!screen.contains("processed "), "{verb:?}: {screen}");
        let silent = run_on_terminal(sandbox.command(&[verb, &["--no-progress"]].concat()));
        assert!(!silent.contains(ERASE), "{verb:?}: {silent:?}");
    }
    // Possible only once.
    let seen = run_on_terminal(sandbox.command(&["init", "--progress-after", "0"]));
    check_counts(&["init"], &progress(&seen));
    assert!(screen(&seen).starts_with("wrote "), "{seen:?}");
}

#[test]
fn manual_page_on_a_terminal_is_text() {
    let sandbox = Sandbox::outside_git();
    let page = screen(&run_on_terminal(sandbox.command(&["man", "lint"])));
    assert!(
        page.contains("\nUsage: layercake lint") && page.contains("NO_COLOR"),
        "{page}"
    );
    assert!(!page.contains(".SH") && !page.contains("\\f"), "{page}");
    assert!(sandbox.run(&["man", "lint"]).stdout.starts_with(".TH "));
}

#[test]
fn error_replaces_the_progress_line() {
    let sandbox = with_history();
    let verb = ["explain-value", "lab", "chart", ".nowhere"];
    let seen = run_on_terminal(sandbox.command(&[&verb[..], &["--progress-after", "0"]].concat()));
    assert!(seen.contains(ERASE), "{seen:?}");
    assert_eq!(sorted(&screen(&seen)), sorted(&sandbox.run(&verb).stderr));
}

#[test]
fn piped_output_is_as_wide_as_the_terminal() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    let (terminal, program) = open_terminal();
    let mut command = sandbox.command(&["lint"]);
    let output = command
        .stdout(Stdio::piped())
        .stderr(program)
        .output()
        .unwrap();
    drop((terminal, command));
    let ran = Ran::of(&output);
    let of_width = sandbox
        .command(&["lint"])
        .env("COLUMNS", COLUMNS.to_string())
        .output()
        .unwrap();
    assert_eq!(
        without_time(&ran.stdout),
        without_time(&Ran::of(&of_width).stdout)
    );
    assert_ne!(
        without_time(&ran.stdout),
        without_time(&sandbox.run(&["lint"]).stdout)
    );
}

#[test]
fn empty_no_color_is_unset() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    let is_colored = |variables: &[(&str, &str)]| {
        let mut command = sandbox.command(&["lint", "--no-progress"]);
        command.envs(variables.iter().copied());
        run_on_terminal(command).contains("\x1b[")
    };
    assert!(is_colored(&[]));
    assert!(is_colored(&[("NO_COLOR", "")]));
    assert!(!is_colored(&[("NO_COLOR", "1")]));
    assert!(!is_colored(&[("NO_COLOR", "0")]));
    assert!(!is_colored(&[("TERM", "dumb")]));
}

/// Two sites with many documents, and commits that each change one value.
fn with_history() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    for part in ["part.yaml", "more.yaml"] {
        sandbox.write(part, "#cloud-config\nruncmd: [ls]\n");
    }
    for number in 0..40 {
        let name = format!("many-{number}");
        sandbox.write(
            &format!("global/{name}.yaml"),
            document(&name, "global", "{a: [1, 2]}"),
        );
    }
    for number in 0..40 {
        let data = format!("{{values: {{replicas: {number}}}}}");
        sandbox.write("global/chart.yaml", document("chart", "global", &data));
        sandbox.commit();
    }
    sandbox
}

/// Everything that a terminal receives from the program.
fn run_on_terminal(mut command: Command) -> String {
    let (terminal, program) = open_terminal();
    if command.get_envs().all(|(name, _)| name != "TERM") {
        command.env("TERM", "xterm");
    }
    command.env("LC_ALL", "C.UTF-8");
    let mut child = command
        .stdout(program.try_clone().unwrap())
        .stderr(program)
        .spawn()
        .unwrap();
    // Otherwise the terminal stays open after the end of the program.
    drop(command);
    let (mut bytes, mut terminal) = (Vec::new(), File::from(terminal));
    // Linux reports an error at the end of the output.
    drop(terminal.read_to_end(&mut bytes));
    child.wait().unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The two ends of a new terminal.
pub(super) fn open_terminal() -> (OwnedFd, OwnedFd) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let path = ptsname(&terminal, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let program = rustix::fs::open(path, flags, Mode::empty()).unwrap();
    let size = Winsize {
        ws_row: 24,
        ws_col: COLUMNS,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&program, size).unwrap();
    (terminal, program)
}

/// Progress lines in the order in which they were shown.
fn progress(seen: &str) -> Vec<&str> {
    let lines = seen
        .split(ERASE)
        .skip(1)
        .map(|rest| rest.split(['\r', '\n']).next().unwrap());
    lines
        .filter(|line| line.starts_with("read ") || line.starts_with("processed "))
        .collect()
}

/// Checks that each count is at most its total, and never falls within a step.
fn check_counts(verb: &[&str], lines: &[&str]) {
    assert!(!lines.is_empty(), "{verb:?}");
    let mut before: Option<(&str, usize)> = None;
    for line in lines {
        let (count, rest) = line.split_once(' ').unwrap().1.split_once(' ').unwrap();
        let count: usize = count.parse().unwrap();
        if let Some((all, items)) = rest
            .strip_prefix("of ")
            .and_then(|rest| rest.split_once(' '))
        {
            assert!(count <= all.parse().unwrap(), "{verb:?}: {line}");
            assert!(!items.is_empty());
        }
        let fell = before.is_some_and(|(step, earlier)| step == rest && earlier > count);
        assert!(!fell, "{verb:?}: {lines:?}");
        before = Some((rest, count));
    }
}

/// Text on the screen at the end, without colors.
fn screen(seen: &str) -> String {
    let mut lines = vec![String::new()];
    let mut rest = seen;
    while let Some(character) = rest.chars().next() {
        let line = lines.last_mut().unwrap();
        if let Some(after) = rest.strip_prefix(ERASE) {
            line.clear();
            rest = after;
        } else if let Some(after) = rest.strip_prefix("\r\n") {
            lines.push(String::new());
            rest = after;
        } else if let Some(sequence) = rest.strip_prefix("\x1b[") {
            rest = sequence.split_once('m').unwrap().1;
        } else {
            line.push(character);
            rest = &rest[character.len_utf8()..];
        }
    }
    lines.join("\n")
}

/// Words in a fixed order: standard output and standard error are one stream on a terminal, which
/// may also be narrower.
fn sorted(text: &str) -> Vec<String> {
    let text = without_time(text);
    let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    words.sort();
    words
}
