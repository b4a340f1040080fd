//! Commands in the README and on the pages in `docs/` print what the pages show for `examples/`.
//! The quick start and the task pages are [followed](super::docs::FOLLOWED) instead.
//!
//! A block ` ```console ` holds commands, each on a line that begins with `$ `, and their output.
//! A line `...` matches any lines, and the time on the closing line of `lint` matches any time.
//! `LAYERCAKE_BLESS=1` rewrites outputs, and keeps what is omitted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::docs::FOLLOWED;
use super::stored::{is_blessed, root};

const COMMANDS: [&str; 2] = ["cargo run -- ", "layercake "];

#[test]
fn pages_show_the_current_output() {
    let mut wrong = Vec::new();
    for path in pages() {
        wrong.extend(
            mismatches_in(&path)
                .into_iter()
                .map(|it| format!("{}:\n{it}", path.display())),
        );
    }
    assert!(
        wrong.is_empty(),
        "the page does not show this output:\n{}",
        wrong.join("\n")
    );
}

/// The README and the pages below `docs/` that are not followed.
fn pages() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|it| it == "md"))
        .collect();
    pages.retain(|path| !FOLLOWED.iter().any(|followed| path.ends_with(followed)));
    pages.sort();
    pages.push(root().join("README.md"));
    pages
}

/// Commands whose output differs from the page, with their output.
fn mismatches_in(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let (mut updated, mut wrong) = (text.clone(), Vec::new());
    for block in blocks(&text) {
        for (command, shown) in commands(block) {
            // some commands are shown without output on purpose
            if shown.iter().all(|line| line.is_empty()) && !path.ends_with("README.md") {
                continue;
            }
            let Some(printed) = printed(command) else {
                continue;
            };
            if is_shown(&printed, &shown) {
                continue;
            }
            let old = format!("$ {command}\n{}", joined(&shown));
            match abridged(&printed, &shown).filter(|_| is_blessed()) {
                Some(new) => updated = updated.replace(&old, &format!("$ {command}\n{new}")),
                None => wrong.push(format!("$ {command}\n{printed}")),
            }
        }
    }
    if updated != text {
        fs::write(path, updated).unwrap();
    }
    wrong
}

#[test]
fn readme_shows_both_commands() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    let first_screen: Vec<&str> = text.lines().take(40).collect();
    assert!(
        first_screen.contains(&"$ cargo run -- demo"),
        "the README begins with the demo"
    );
    assert!(text.contains("\ncargo test\n"));
    assert!(text.lines().count() <= 160, "details belong to the pages");
    assert!(text.contains("\n$ layercake lint -C examples/sites\n"));
}

/// The README of the examples lists exactly the files that have a fault.
#[test]
fn examples_have_exactly_the_documented_faults() {
    let text = fs::read_to_string(root().join("examples/sites/README.md")).unwrap();
    let mut said: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    let found = run(&["lint", "-C", "examples/sites", "-o", "concise"]);
    let mut found: Vec<&str> = found
        .lines()
        .map(|line| {
            line.strip_prefix("examples/sites/")
                .unwrap()
                .split(':')
                .next()
                .unwrap()
        })
        .collect();
    said.sort_unstable();
    found.sort_unstable();
    assert_eq!(said, found);
}

/// The contents of the console blocks.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let after = text.split("```console\n").skip(1);
    after.map(|rest| rest.split("```").next().unwrap())
}

/// Commands, each with the lines shown below it. `demo` itself prints commands, so the rest of its
/// block is its output.
pub fn commands(block: &str) -> Vec<(&str, Vec<&str>)> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in block.lines() {
        let is_output = found
            .last()
            .is_some_and(|(command, _)| command.contains(" demo"));
        match (
            line.strip_prefix("$ ").filter(|_| !is_output),
            found.last_mut(),
        ) {
            (Some(command), _) => found.push((command, Vec::new())),
            (None, Some((_, shown))) => shown.push(line),
            (None, None) => panic!("a console block begins with a command: {line}"),
        }
    }
    found
}

/// Output of a command; `None` if it is not layercake's.
fn printed(command: &str) -> Option<String> {
    let arguments = COMMANDS
        .iter()
        .find_map(|prefix| command.strip_prefix(prefix))?;
    Some(run(&arguments.split(' ').collect::<Vec<_>>()))
}

/// Output of a run, with the folder for temporary files named as on most machines.
fn run(arguments: &[&str]) -> String {
    let temporary = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_layercake"));
    command
        .current_dir(root())
        .args(arguments)
        .env_remove("COLUMNS")
        .env("NO_COLOR", "1");
    command.env("TMPDIR", temporary.path());
    let printed = String::from_utf8(command.output().unwrap().stdout).unwrap();
    printed.replace(temporary.path().to_str().unwrap(), "/tmp")
}

pub fn joined(lines: &[&str]) -> String {
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

/// `printed` with the omissions of `shown`; `None` if it lacks the line after one.
pub fn abridged(printed: &str, shown: &[&str]) -> Option<String> {
    let lines: Vec<&str> = printed.lines().collect();
    let parts: Vec<&[&str]> = shown.split(|line| *line == "...").collect();
    let last = parts.len() - 1;
    if last == 0 {
        return Some(joined(&lines));
    }
    let (mut kept, mut rest) = (Vec::new(), &lines[..]);
    for (index, part) in parts.iter().enumerate() {
        let begin = match index {
            0 => 0,
            _ if index == last => rest.len().checked_sub(part.len())?,
            _ => rest.iter().position(|line| part.first() == Some(line))?,
        };
        kept.push(rest.get(begin..begin + part.len())?);
        rest = &rest[begin + part.len()..];
    }
    Some(joined(&kept.join(&["..."][..])))
}

/// Whether `printed` matches `shown`, apart from omitted lines and times.
pub fn is_shown(printed: &str, shown: &[&str]) -> bool {
    let printed: Vec<&str> = printed.lines().map(without_time).collect();
    let mut rest = &printed[..];
    let parts: Vec<&[&str]> = shown.split(|line| *line == "...").collect();
    for (index, part) in parts.iter().enumerate() {
        let part: Vec<&str> = part.iter().map(|line| without_time(line)).collect();
        let found = match (index == 0, index + 1 == parts.len()) {
            (true, _) => rest.starts_with(&part).then_some(0),
            (_, true) => rest.ends_with(&part).then(|| rest.len() - part.len()),
            _ => rest
                .windows(part.len().max(1))
                .position(|lines| lines == part),
        };
        let Some(found) = found else { return false };
        rest = &rest[found + part.len()..];
    }
    // An omitted end is written as `...`, not left out.
    (parts.len() > 1 && parts.last().is_some_and(|last| last.is_empty())) || rest.is_empty()
}

fn without_time(line: &str) -> &str {
    match line.rsplit_once(" · ") {
        Some((before, time)) if time.ends_with('s') && time.contains('.') => before,
        _ => line,
    }
}
