//! The window at a line has the answer of `impact FILE:LINE`.

use std::fs;

use serde_json::{Value as Json, json};

use super::client::{Client, uri};
use super::findings::{examples, linted, wait_for};
use crate::cli::Sandbox;

/// Text at a 1-based line; `None` without an answer.
fn hovered(client: &mut Client, sandbox: &Sandbox, file: &str, line: usize) -> Option<String> {
    let at = json!({
        "textDocument": {"uri": uri(&sandbox.path(file))},
        "position": {"line": line - 1, "character": 0},
    });
    let answer = client.request("textDocument/hover", at).unwrap();
    let text = answer["contents"]["value"].as_str();
    text.map(str::to_owned)
}

/// What the command line says, at the same width.
fn printed(sandbox: &Sandbox, file: &str, line: usize) -> Option<String> {
    let place = format!("{file}:{line}");
    let mut command = sandbox.command(&["impact", &place]);
    let output = command.env("COLUMNS", "100").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    output.status.success().then_some(text)
}

#[test]
fn window_at_each_line_has_the_answer_of_impact() {
    let sandbox = examples();
    let (mut client, result) = Client::start(&[&sandbox.root], json!(["utf-8"]));
    assert_eq!(result["capabilities"]["hoverProvider"], true);
    let mut answers = 0;
    for file in [
        "global/config/software-versions.yaml",
        "global/charts/keystone.yaml",
        "site/west/config/software-versions.yaml",
        "site/north/secrets/passphrases.yaml",
        "README.md",
    ] {
        let lines = fs::read_to_string(sandbox.path(file))
            .unwrap()
            .lines()
            .count();
        for line in (1..=lines + 1).step_by(3) {
            let found = hovered(&mut client, &sandbox, file, line);
            let printed = printed(&sandbox, file, line);
            assert_eq!(found.is_some(), printed.is_some(), "{file}:{line}");
            if let (Some(found), Some(printed)) = (found, printed) {
                assert!(
                    found.contains(&printed),
                    "{file}:{line}: {found}, {printed}"
                );
                answers += 1;
            }
        }
    }
    assert!(answers > 20, "{answers}");
}

/// An answer knows all changes before it.
#[test]
fn window_knows_the_text_of_the_client() {
    let sandbox = examples();
    let file = "global/config/software-versions.yaml";
    let path = sandbox.path(file);
    let text = fs::read_to_string(&path).unwrap();
    let line = 1 + text
        .lines()
        .position(|line| line.contains("keystone:2025.1"))
        .unwrap();
    let (mut client, _) = Client::start(&[&sandbox.root], json!(["utf-8"]));
    let expected = linted(&sandbox);
    wait_for(&mut client, &sandbox.root, &expected);
    let before = hovered(&mut client, &sandbox, file, line).unwrap();
    assert!(
        before.contains("reaches 5 outputs in lab, north, south"),
        "{before}"
    );
    client.open(&path, &format!("# a line before\n{text}"));
    let after = hovered(&mut client, &sandbox, file, line + 1).unwrap();
    let [one, other] = [line, line + 1].map(|line| format!("{file}:{line}\n"));
    assert_eq!(after, before.replace(&one, &other));
    let invalid = client.request("textDocument/hover", Json::Null);
    assert_eq!(invalid, Err(-32602));
}

/// A change elsewhere cancels runs, and no later question.
#[test]
fn window_is_there_after_a_change_elsewhere() {
    let [one, two] = [(); 2].map(|()| examples());
    let outside = Sandbox::outside_git();
    let file = "global/config/software-versions.yaml";
    let (mut client, _) = Client::start(&[&one.root, &two.root], json!(["utf-8"]));
    let before = hovered(&mut client, &one, file, 22);
    assert!(before.is_some());
    client.open(&outside.path("notes.yaml"), "a: 1\n");
    assert_eq!(hovered(&mut client, &one, file, 22), before);
    let path = two.path(file);
    client.open(&path, &fs::read_to_string(&path).unwrap());
    assert_eq!(hovered(&mut client, &two, file, 22), before);
    assert_eq!(hovered(&mut client, &one, file, 22), before);
}
