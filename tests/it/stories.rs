//! Reports about edits, as stories: each page in `tests/stories/` is a walk through the example
//! repository with every printed line.
//!
//! A page is Markdown, read from the top. It begins with the files of `examples/sites` in one
//! commit, or with those of `examples/NAME` if a block ` ```example NAME ` says so. A block `
//! ```edit PATH ` changes lines of a file: the lines after `- ` must occur once, one after the
//! other, and are replaced by those after `+ `. ` ```write PATH ` is a file; ` ```remove PATH `
//! and ` ```move PATH TO ` remove and move one; ` ```commit ` commits. A block ` ```console `
//! holds commands and their output, in 80 columns or in the number after the word.
//!
//! ` ```outputs ` lists by hand the outputs that differ between the last commit and the files, one
//! per line: site, schema, name, status, and the edits that caused the change. `LAYERCAKE_BLESS=1`
//! rewrites only the output of commands.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use layercake::commands::demo::FILES;
use serde_json::Value as Json;

use crate::cli::{Ran, Sandbox};
use crate::stored::is_blessed;

#[test]
fn stories_match_the_printed_output() {
    let bless = is_blessed();
    let mut wrong = Vec::new();
    for path in pages() {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        let story = Story::begin(&name).play(&text);
        if story.text != text && bless {
            fs::write(&path, &story.text).unwrap();
        } else if story.text != text {
            wrong.push(format!("{name} is now:\n{}", story.text));
        }
        wrong.extend(story.wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_kind_of_change_has_a_story() {
    let texts: Vec<String> = pages()
        .iter()
        .map(|page| fs::read_to_string(page).unwrap())
        .collect();
    let all = texts.concat();
    for word in [
        "changed", "added", "removed", "broken", "repaired", "metadata",
    ] {
        let is_listed = |line: &str| line.split(' ').nth(3) == Some(word);
        assert!(all.lines().any(is_listed), "an output that is `{word}`");
    }
    for step in [
        "edited",
        "inherited by",
        "substituted into",
        "replaced by",
        "has a different parent",
        "has no parent",
        "added",
        "removed",
    ] {
        assert!(
            all.contains(&format!(" {step}")),
            "a step of a route: {step}"
        );
    }
}

/// Calls `look` before each command of every story, with the repository at that point.
pub fn scenes(mut look: impl FnMut(&str, &Sandbox)) {
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        let mut story = Story::begin(&name);
        for block in page.split("```").skip(1).step_by(2) {
            let (info, body) = block.split_once('\n').expect("a block has lines");
            match info.split(' ').next() {
                Some("console") => look(&name, &story.sandbox),
                Some("outputs") => {}
                Some(_) | None => drop(story.block(info, body)),
            }
        }
    }
}

fn pages() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stories");
    let mut pages: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    pages.sort();
    pages
}

/// A repository with the files of an example, in one commit.
pub fn of_example(name: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples")
        .join(name);
    let mut open = vec![folder.clone()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            if entry.is_dir() {
                open.push(entry);
                continue;
            }
            let path = entry.strip_prefix(&folder).unwrap().to_str().unwrap();
            sandbox.write(path, fs::read(&entry).unwrap());
        }
    }
    sandbox.commit();
    sandbox
}

/// Flags with which a run does not print a report.
const NOT_SAVED: [&str; 6] = [
    "json",
    "--statistics",
    "--fix",
    "--diff",
    "--add-ignore",
    "--exit-zero",
];

/// A page being walked through.
struct Story {
    name: String,
    sandbox: Sandbox,
    text: String,
    wrong: Vec<String>,
}

impl Story {
    fn begin(name: &str) -> Self {
        let sandbox = Sandbox::new();
        for (path, text) in FILES {
            sandbox.write(path, text);
        }
        sandbox.commit();
        Self {
            name: name.to_owned(),
            sandbox,
            text: String::new(),
            wrong: Vec::new(),
        }
    }

    /// The page with the output of this run.
    fn play(mut self, page: &str) -> Self {
        let mut rest = page;
        while let Some((prose, block)) = rest.split_once("```") {
            let (info, block) = block.split_once('\n').expect("a block has lines");
            let end = block.find("```\n").expect("a block has an end");
            let body = self.block(info, &block[..end]);
            write!(self.text, "{prose}```{info}\n{body}```\n").unwrap();
            rest = &block[end + "```\n".len()..];
        }
        self.text += rest;
        self
    }

    /// Executes a block, and returns its content with the output of this run.
    fn block(&mut self, info: &str, body: &str) -> String {
        let words: Vec<&str> = info.split(' ').collect();
        match words[..] {
            ["example", name] => self.sandbox = of_example(name),
            ["edit", path] => self.edit(path, body),
            ["write", path] => self.sandbox.write(path, body),
            ["remove", path] => fs::remove_file(self.sandbox.path(path)).unwrap(),
            ["move", path, to] => {
                let to = self.sandbox.path(to);
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::rename(self.sandbox.path(path), to).unwrap();
            }
            ["commit"] => self.sandbox.commit(),
            ["outputs"] => self.compare_outputs(body),
            ["console"] => return self.console(body, 80),
            ["console", width] => return self.console(body, width.parse().unwrap()),
            _ => panic!("{}: no block `{info}`", self.name),
        }
        body.to_owned()
    }

    fn edit(&self, path: &str, body: &str) {
        let lines = |sign: &str| -> String {
            body.lines()
                .filter_map(|line| line.strip_prefix(sign))
                .flat_map(|it| [it, "\n"])
                .collect()
        };
        let (before, after) = (lines("- "), lines("+ "));
        let text = fs::read_to_string(self.sandbox.path(path)).unwrap();
        let times = format!("\n{text}").matches(&format!("\n{before}")).count();
        assert_eq!(
            times, 1,
            "{}: in {path} these lines occur once:\n{before}",
            self.name
        );
        let edited = format!("\n{text}").replacen(&format!("\n{before}"), &format!("\n{after}"), 1);
        self.sandbox.write(path, &edited[1..]);
    }

    fn compare_outputs(&mut self, body: &str) {
        let report = self
            .sandbox
            .run(&["diff", "--since", "HEAD", "-o", "json"])
            .json();
        let outputs = report["outputs"].as_array().unwrap();
        let found: String = outputs.iter().map(output_line).collect();
        if found != body {
            self.wrong
                .push(format!("{}: the outputs are\n{found}", self.name));
        }
    }

    fn console(&mut self, body: &str, width: usize) -> String {
        let commands = body
            .lines()
            .filter_map(|line| line.strip_prefix("$ layercake "));
        let mut text = String::new();
        for (at, command) in commands.enumerate() {
            if at > 0 {
                text.push('\n');
            }
            let ran = self.run(command, width);
            self.check_saved(command, &ran, width);
            let printed = self.normalized(&ran.stdout);
            // The concise format has one line per finding, also for programs.
            let is_wide =
                |line: &&str| line.chars().count() > width && !command.contains("concise");
            for line in printed
                .lines()
                .filter(is_wide)
                .filter(|line| !is_unbreakable(line))
            {
                self.wrong
                    .push(format!("{}: wider than {width}: {line}", self.name));
            }
            let errors = if ran.stderr.is_empty() {
                String::new()
            } else {
                format!("{}\n", ran.stderr.trim_end())
            };
            write!(
                text,
                "$ layercake {command}\n{printed}{errors}[exit code {}]\n",
                ran.code
            )
            .unwrap();
        }
        text
    }

    fn run(&self, command: &str, width: usize) -> Ran {
        let arguments: Vec<&str> = command.split(' ').collect();
        let mut command = self.sandbox.command(&arguments);
        Ran::of(&command.env("COLUMNS", width.to_string()).output().unwrap())
    }

    /// Checks that a run prints the same as `report` does for the report that the run saves, apart
    /// from the name of the folder and the time.
    fn check_saved(&mut self, command: &str, ran: &Ran, width: usize) {
        let words: Vec<&str> = command.split(' ').collect();
        let is_reported = matches!(words[0], "lint" | "diff") && ran.code < 2;
        if !is_reported || words.iter().any(|it| NOT_SAVED.contains(it)) {
            return;
        }
        let kept = |word: &&&str| !["-o", "concise"].contains(word);
        let saving: Vec<&str> = words.iter().filter(kept).copied().collect();
        self.run(
            &format!("{} -o json=../saved.json", saving.join(" ")),
            width,
        );
        let is_concise = words.contains(&"concise");
        let mut report = format!(
            "report ../saved.json -o {}",
            if is_concise { "concise" } else { "full" }
        );
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--all-findings" | "--show-ignored" => report += &format!(" {word}"),
                "--limit" => report += &format!(" --limit {}", words.next().unwrap()),
                _ => {}
            }
        }
        let shown = self.run(&report, width);
        let live = self.normalized(&ran.stdout);
        let saved = self.normalized(&shown.stdout);
        if (shown.code, &*saved) != (0, &*live) {
            let name = &self.name;
            let wrong = format!(
                "{name}: `{command}` printed:\n{live}and saved:\n{saved}{}",
                shown.stderr
            );
            self.wrong.push(wrong);
        }
    }

    /// Output as if commits always had the same ids, and runs took no time.
    fn normalized(&self, printed: &str) -> String {
        let head = self.sandbox.git(&["rev-parse", "--short=10", "HEAD"]);
        printed
            .replace(head.trim(), "0123456789")
            .lines()
            .map(without_time)
            .collect()
    }
}

/// Whether a line is only a place.
fn is_unbreakable(line: &str) -> bool {
    line.split_whitespace().count() < 3
}

fn without_time(line: &str) -> String {
    match line.rsplit_once(" · ") {
        Some((before, time)) if time.ends_with('s') && time.contains('.') => {
            format!("{before} · 0.00s\n")
        }
        _ => format!("{line}\n"),
    }
}

/// `SITE SCHEMA NAME STATUS EDITS`.
fn output_line(output: &Json) -> String {
    let text = |key: &str| output[key].as_str().unwrap_or("-").to_owned();
    let causes = output["causes"].as_array().unwrap().iter();
    let mut edits: Vec<&str> = causes
        .map(|cause| cause["edit"].as_str().unwrap())
        .collect();
    edits.dedup();
    let words = [
        text("site"),
        text("schema"),
        text("name"),
        text("status"),
        edits.join(","),
    ];
    format!("{}\n", words.join(" "))
}
