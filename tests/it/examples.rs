//! What the README and the pages in `docs/` show is what layercake prints about
//! `examples/`.
//!
//! A block ` ```console ` holds commands, each on a line that begins with
//! `$ `, and what they print. A line `...` stands for any lines, and the time
//! on the closing line of `lint` for any time. `LAYERCAKE_BLESS=1` rewrites
//! outputs without `...`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cli::teaching::flags;
use super::docs::verbs;

const COMMANDS: [&str; 2] = ["cargo run -- ", "layercake "];

#[test]
fn pages_show_what_is_printed() {
    let mut wrong = Vec::new();
    for path in pages() {
        wrong.extend(wrong_in(&path).into_iter().map(|it| format!("{}:\n{it}", path.display())));
    }
    assert!(wrong.is_empty(), "other output is shown than this:\n{}", wrong.join("\n"));
}

/// The README and what lies in `docs/`.
fn pages() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|it| it == "md")).collect();
    pages.sort();
    pages.push(root().join("README.md"));
    pages
}

/// Commands that print something else than the page shows, with that.
fn wrong_in(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let bless = std::env::var_os("LAYERCAKE_BLESS").is_some();
    let (mut told, mut wrong) = (text.clone(), Vec::new());
    for block in blocks(&text) {
        for (command, shown) in commands(block) {
            // below some commands nothing is shown on purpose
            if shown.iter().all(|line| line.is_empty()) && !path.ends_with("README.md") {
                continue;
            }
            let Some(printed) = printed(command) else { continue };
            if is_shown(&printed, &shown) {
                continue;
            }
            let old = format!("$ {command}\n{}", joined(&shown));
            if bless && !shown.contains(&"...") {
                told = told.replace(&old, &format!("$ {command}\n{printed}"));
            } else {
                wrong.push(format!("$ {command}\n{printed}"));
            }
        }
    }
    if told != text {
        fs::write(path, told).unwrap();
    }
    wrong
}

#[test]
fn the_readme_names_both_commands() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    let first_screen: Vec<&str> = text.lines().take(40).collect();
    assert!(
        first_screen.contains(&"$ cargo run -- demo"),
        "the first command tells the whole story"
    );
    assert!(text.contains("\ncargo test\n"));
    assert!(text.contains("\n$ layercake lint -C examples/sites\n"));
}

#[test]
fn the_readme_knows_every_verb_and_flag() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    for verb in verbs() {
        let verb = verb.join(" ");
        let name = verb.split(' ').next_back().unwrap();
        assert!(
            text.contains(&format!("`layercake {verb}")) || text.contains(&format!("{name}`")),
            "`layercake {verb}` is in the README"
        );
        let help = run(&[verb.split(' ').collect(), vec!["--help"]].concat());
        for flag in flags(&help) {
            let is_told = text.contains(&format!("`{flag}")) || text.contains(&format!(", {flag}"));
            let is_everywhere = ["-h", "--help", "--no-progress"].contains(&flag.as_str());
            assert!(is_told || is_everywhere, "`{flag}` of `{verb}` is in the README");
        }
    }
}

/// The examples' own README tells which files have a fault; these and no
/// others have one.
#[test]
fn the_examples_have_the_faults_they_are_said_to_have() {
    let text = fs::read_to_string(root().join("examples/sites/README.md")).unwrap();
    let mut said: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let found = run(&["lint", "-C", "examples/sites", "-o", "concise"]);
    let mut found: Vec<&str> = found
        .lines()
        .map(|line| line.strip_prefix("examples/sites/").unwrap().split(':').next().unwrap())
        .collect();
    said.sort_unstable();
    found.sort_unstable();
    assert_eq!(said, found);
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The contents of the console blocks.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let after = text.split("```console\n").skip(1);
    after.map(|rest| rest.split("```").next().unwrap())
}

/// Commands, each with the lines shown below it. `demo` itself prints commands:
/// all that follows it in its block is its output.
fn commands(block: &str) -> Vec<(&str, Vec<&str>)> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in block.lines() {
        let is_told = found.last().is_some_and(|(command, _)| command.contains(" demo"));
        match (line.strip_prefix("$ ").filter(|_| !is_told), found.last_mut()) {
            (Some(command), _) => found.push((command, Vec::new())),
            (None, Some((_, shown))) => shown.push(line),
            (None, None) => panic!("a console block begins with a command: {line}"),
        }
    }
    found
}

/// What a command prints; none where it is not layercake's.
fn printed(command: &str) -> Option<String> {
    let arguments = COMMANDS.iter().find_map(|prefix| command.strip_prefix(prefix))?;
    Some(run(&arguments.split(' ').collect::<Vec<_>>()))
}

/// What is printed; the folder for temporary files as it is called on most
/// machines.
fn run(arguments: &[&str]) -> String {
    let temporary = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_layercake"));
    command.current_dir(root()).args(arguments).env_remove("COLUMNS").env("NO_COLOR", "1");
    command.env("TMPDIR", temporary.path());
    let printed = String::from_utf8(command.output().unwrap().stdout).unwrap();
    printed.replace(temporary.path().to_str().unwrap(), "/tmp")
}

fn joined(lines: &[&str]) -> String {
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

/// Whether `printed` is what is shown, parts left out and times apart.
fn is_shown(printed: &str, shown: &[&str]) -> bool {
    let printed: Vec<&str> = printed.lines().map(without_time).collect();
    let mut rest = &printed[..];
    let parts: Vec<&[&str]> = shown.split(|line| *line == "...").collect();
    for (index, part) in parts.iter().enumerate() {
        let part: Vec<&str> = part.iter().map(|line| without_time(line)).collect();
        let found = match (index == 0, index + 1 == parts.len()) {
            (true, _) => rest.starts_with(&part).then_some(0),
            (_, true) => rest.ends_with(&part).then(|| rest.len() - part.len()),
            _ => rest.windows(part.len().max(1)).position(|lines| lines == part),
        };
        let Some(found) = found else { return false };
        rest = &rest[found + part.len()..];
    }
    // What is left out at the end ends with `...`; nothing shown is not that.
    (parts.len() > 1 && parts.last().is_some_and(|last| last.is_empty())) || rest.is_empty()
}

fn without_time(line: &str) -> &str {
    match line.rsplit_once(" · ") {
        Some((before, time)) if time.ends_with('s') && time.contains('.') => before,
        _ => line,
    }
}
