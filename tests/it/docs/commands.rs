//! Commands in pages and help texts: every verb is documented, and every documented command is
//! valid.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use serde_json::Value as Json;

use super::{pages, root};

static VERBS: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| below(&[]));

/// All documented verbs, each as words, such as `lint`, `config` and `config show`.
pub fn verbs() -> Vec<Vec<String>> {
    VERBS.clone()
}

/// Verbs without subcommands.
pub fn leaves() -> Vec<Vec<String>> {
    let all = verbs();
    let is_leaf = |verb: &&Vec<String>| {
        !all.iter()
            .any(|it| it.len() > verb.len() && it.starts_with(verb.as_slice()))
    };
    all.iter().filter(is_leaf).cloned().collect()
}

/// Help of a verb at unlimited width.
pub fn help(verb: &[String]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_layercake"));
    command
        .current_dir(root())
        .args(verb)
        .arg("--help")
        .env("COLUMNS", "100");
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

fn below(verb: &[String]) -> Vec<Vec<String>> {
    let help = help(verb);
    let Some((_, list)) = help.split_once("\nCommands:\n") else {
        return Vec::new();
    };
    let rows = list.lines().take_while(|line| !line.is_empty());
    // continuation lines have a larger indent
    let names = rows.filter_map(|row| row.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| !name.is_empty() && *name != "help");
    let named = names.map(|name| [verb, &[name.to_owned()]].concat());
    named
        .flat_map(|verb| [vec![verb.clone()], below(&verb)].concat())
        .collect()
}

#[test]
fn verbs_are_found() {
    let named: Vec<String> = verbs().iter().map(|verb| verb.join(" ")).collect();
    assert!(named.contains(&"lint".to_owned()) && named.contains(&"config show".to_owned()));
    assert!(
        !named
            .iter()
            .any(|verb| verb.starts_with("debug") || verb.starts_with("help"))
    );
    let leaves: Vec<String> = leaves().iter().map(|verb| verb.join(" ")).collect();
    assert!(leaves.contains(&"config show".to_owned()) && !leaves.contains(&"config".to_owned()));
}

/// Each verb is mentioned in a page besides the README and the list of exit codes.
#[test]
fn every_verb_is_in_a_page() {
    let text: String = pages()
        .into_iter()
        .filter(|(path, _)| path.starts_with(root().join("docs")))
        .filter(|(path, _)| !path.ends_with("exit-codes.md") && !path.ends_with("changelog.md"))
        .map(|(_, text)| text)
        .collect();
    for verb in leaves() {
        let verb = verb.join(" ");
        let is_documented = ["layercake ", "`"]
            .iter()
            .any(|it| text.contains(&format!("{it}{verb}")));
        assert!(
            is_documented,
            "no page in docs/ besides exit-codes.md and changelog.md mentions `layercake {verb}`"
        );
    }
}

#[test]
fn commands_in_pages_are_valid() {
    let mut seen = BTreeSet::new();
    for (path, text) in pages() {
        let typed = |language: &str| ["console", "sh", "yaml", "groovy"].contains(&language);
        for (_, block) in fenced(&text)
            .into_iter()
            .filter(|(language, _)| typed(language))
        {
            for command in commands_in(&block) {
                println!("{}: {command:?}", path.display());
                if seen.insert(command.clone()) {
                    assert_valid_command(&command);
                }
            }
        }
    }
    assert!(seen.len() > 20, "pages have commands: {seen:?}");
}

/// A block marked as YAML or JSON is valid.
#[test]
fn marked_blocks_are_valid() {
    let pages = pages()
        .into_iter()
        .filter(|(path, _)| path.starts_with(root().join("docs")));
    for (path, text) in pages {
        for (language, block) in fenced(&text) {
            let fault = match language.as_str() {
                "yaml" => granit_parser::Parser::new_from_str(&block)
                    .find_map(|event| event.err().map(|error| error.to_string())),
                "json" => serde_json::from_str::<Json>(&block)
                    .err()
                    .map(|it| it.to_string()),
                _ => None,
            };
            assert_eq!(fault, None, "{}: {block}", path.display());
        }
    }
}

/// Runs a command in an empty folder. It may fail because of missing files, but not because the
/// command is invalid.
pub fn assert_valid_command(words: &[String]) {
    let nowhere = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_layercake"));
    command
        .args(words)
        .current_dir(nowhere.path())
        .stdin(Stdio::null())
        .env_clear();
    let output = command.env("TMPDIR", nowhere.path()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        !errors.contains("try '--help'"),
        "layercake {words:?}: {errors}"
    );
}

/// Arguments of each layercake command in a text with one command a line: after a prompt, a YAML
/// key, a pipe, or in brackets.
pub fn commands_in(text: &str) -> Vec<Vec<String>> {
    let mut parts = text.split("\\\n");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.truncate(text.trim_end().len());
        text += &format!(" {}", part.trim_start());
    }
    let lines = text.lines().map(|line| match line.split_once(" #") {
        // a comment, or the name of a job
        _ if line.trim_start().starts_with('#') || line.contains("name: ") => "",
        Some((before, _)) => before,
        None => line,
    });
    lines.flat_map(commands_of_line).collect()
}

fn commands_of_line(line: &str) -> Vec<Vec<String>> {
    let starts = line.match_indices("layercake ").filter(|(at, _)| {
        let before = line[..*at].trim_end();
        let is_apart = line[..*at]
            .chars()
            .last()
            .is_none_or(|it| " (\"'".contains(it));
        let is_begun = before.is_empty()
            || before.ends_with(['$', ':', '-', '|', '(', '&', ';', '"', '\'', '[', '!', ',']);
        is_apart && is_begun
    });
    starts
        .map(|(at, name)| words(&line[at + name.len()..]))
        .collect()
}

/// Words of a command up to its end: a pipe, a bracket, a redirection, or two spaces, which precede
/// the comment in examples.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => word.push(letter),
            (None, '\'' | '"') => quote = Some(letter),
            (None, '|' | ')' | '>' | ';' | '&') => break,
            (None, ' ') if letters.peek() == Some(&' ') => break,
            (None, ' ') => words.push(std::mem::take(&mut word)),
            (None, _) => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn commands_are_split_into_words() {
    let text = "$ layercake lint --since main  # why\n  script: layercake lint -o full\n# layercake no\n\
                diff <(layercake render --rev 'a b') <(layercake render)\nlayercake man | man -l -\n\
                in /tmp/layercake it lies\n  layercake demo here      the folder\n\
                - layercake lint \\\n    --auto\n";
    let found: Vec<String> = commands_in(text)
        .iter()
        .map(|words| words.join("+"))
        .collect();
    let expected = [
        "lint+--since+main",
        "lint+-o+full",
        "render+--rev+a b",
        "render",
        "man",
    ];
    assert_eq!(
        found,
        [&expected[..], &["demo+here", "lint+--auto"]].concat()
    );
}

/// Fenced blocks of a page, with their info strings.
pub fn fenced(text: &str) -> Vec<(String, String)> {
    let (mut found, mut open) = (Vec::new(), None::<(String, String)>);
    for line in text.lines() {
        match (line.trim_start().strip_prefix("```"), open.as_mut()) {
            (Some(language), None) => open = Some((language.to_owned(), String::new())),
            (Some(_), Some(_)) => found.extend(open.take()),
            (None, Some((_, block))) => *block += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    found
}
