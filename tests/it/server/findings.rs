//! Diagnostics are the findings of `lint`, with the texts of open documents.

use std::fs;
use std::path::Path;

use layercake::server::Ended;
use layercake_yaml_testing::config;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value as Json, json};

use super::client::{Client, uri};
use crate::cli::{Sandbox, document};
use crate::stored::root;

/// Findings of `lint`, as [`Client::listed`] writes them.
pub fn linted(sandbox: &Sandbox) -> Vec<String> {
    let report = sandbox
        .run(&["lint", "-o", "json", "--all-findings"])
        .json();
    let severity = |word: &str| match word {
        "error" => 1,
        "warning" => 2,
        _ => 3,
    };
    let findings = report["findings"].as_array().unwrap().iter();
    let mut lines: Vec<String> = findings
        .map(|found| {
            let at = &found["primary"];
            let [file, rule, word] = [&at["file"], &found["rule"], &found["severity"]]
                .map(|text| text.as_str().unwrap());
            let severity = severity(word);
            format!("{file}:{}:{} {severity} {rule}", at["line"], at["column"])
        })
        .collect();
    lines.sort();
    lines
}

pub fn examples() -> Sandbox {
    let sandbox = Sandbox::new();
    let from = root().join("examples/sites");
    for entry in walkdir::WalkDir::new(&from) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let path = entry.path().strip_prefix(&from).unwrap();
            let text = fs::read_to_string(entry.path()).unwrap();
            sandbox.write(path.to_str().unwrap(), text);
        }
    }
    sandbox
}

pub fn wait_for(client: &mut Client, root: &Path, expected: &[String]) {
    client.wait(&format!("{expected:#?}"), |client| {
        client.listed(root) == expected
    });
}

#[test]
fn findings_are_those_of_lint() {
    let sandbox = examples();
    let expected = linted(&sandbox);
    assert!(expected.len() > 4, "{expected:?}");
    let (mut client, result) = Client::start(&[&sandbox.root], json!(["utf-8"]));
    assert_eq!(result["capabilities"]["positionEncoding"], "utf-8");
    wait_for(&mut client, &sandbox.root, &expected);
    let list = &client.published[&uri(&sandbox.path("site/lab/charts/keystone.yaml"))];
    let message = list[0]["message"].as_str().unwrap();
    assert!(
        message.contains("help: did you mean `keystone-global`?"),
        "{message}"
    );
    assert_eq!(list[0]["source"], "layercake");
    assert_eq!(client.end(), Ended::Orderly);
}

#[test]
fn text_of_an_open_document_lies_over_its_file() {
    let sandbox = Sandbox::with_sites();
    let (mut client, _) = Client::start(&[&sandbox.root], json!(["utf-32"]));
    let before = linted(&sandbox);
    wait_for(&mut client, &sandbox.root, &before);
    let path = sandbox.path("site/lab/broken.yaml");
    sandbox.break_site("lab");
    let broken = fs::read_to_string(&path).unwrap();
    let after = linted(&sandbox);
    assert_ne!(before, after);
    fs::remove_file(&path).unwrap();
    // A document without a file yet, and its end.
    client.open(&path, &broken);
    wait_for(&mut client, &sandbox.root, &after);
    client.close(&path);
    wait_for(&mut client, &sandbox.root, &before);
    // The file on disk.
    fs::write(&path, &broken).unwrap();
    let changes = json!({"changes": [{"uri": uri(&path), "type": 1}]});
    client.notify("workspace/didChangeWatchedFiles", changes);
    wait_for(&mut client, &sandbox.root, &after);
    // An open document that differs from it.
    client.open(&path, "# nothing\n");
    client.wait("the error is gone", |client| {
        let list = &client.published[&uri(&path)];
        !list
            .as_array()
            .unwrap()
            .iter()
            .any(|it| it["code"] == "missing-source")
    });
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        broken,
        "no file is written"
    );
}

/// Lines count characters in the units that client and server agreed on.
#[test]
fn places_are_counted_in_the_encoding_of_the_client() {
    let sandbox = Sandbox::with_sites();
    let text = document("twice", "site", "{\"😀é\": 1, key: 2, key: 3}");
    sandbox.write("site/lab/twice.yaml", &text);
    let path = sandbox.path("site/lab/twice.yaml");
    let line = text.lines().find(|line| line.contains("key")).unwrap();
    let before = &line[..line.rfind("key").unwrap()];
    let cases = [
        (json!(["utf-8", "utf-16"]), "utf-8", before.len()),
        (json!(["utf-32", "utf-8"]), "utf-32", before.chars().count()),
        (json!(["utf-7"]), "utf-16", before.encode_utf16().count()),
        (Json::Null, "utf-16", before.encode_utf16().count()),
    ];
    for (encodings, chosen, character) in cases {
        let (mut client, result) = Client::start(&[&sandbox.root], encodings);
        assert_eq!(result["capabilities"]["positionEncoding"], chosen);
        let address = uri(&path);
        client.wait("the duplicate key", |client| {
            client.published.contains_key(&address)
        });
        let list = client.published[&address].as_array().unwrap().clone();
        let found = list
            .iter()
            .find(|it| it["code"] == "duplicate-key")
            .unwrap();
        assert_eq!(found["range"]["start"]["character"], character, "{chosen}");
        // An edit at that place: the second key gets another name.
        let start = &found["range"]["start"];
        let end = json!({"line": start["line"], "character": character + 3});
        client.open(&path, &text);
        let edit = json!([{"range": {"start": start, "end": end}, "text": "other"}]);
        client.change(&path, 2, edit);
        client.wait("no duplicate key", |client| {
            let list = client.published[&address].as_array().unwrap();
            !list.iter().any(|it| it["code"] == "duplicate-key")
        });
    }
}

#[test]
fn folders_come_and_go_while_it_runs() {
    let [one, two] = [(); 2].map(|()| examples());
    let expected = linted(&one);
    let (mut client, _) = Client::start(&[], json!(["utf-8"]));
    let folder = |sandbox: &Sandbox| json!([{"uri": uri(&sandbox.root), "name": "one"}]);
    let change =
        |added: Json, removed: Json| json!({"event": {"added": added, "removed": removed}});
    client.notify(
        "workspace/didChangeWorkspaceFolders",
        change(folder(&one), json!([])),
    );
    wait_for(&mut client, &one.root, &expected);
    client.notify(
        "workspace/didChangeWorkspaceFolders",
        change(folder(&two), folder(&one)),
    );
    client.wait("the second folder", |client| {
        client.listed(&two.root) == expected && client.listed(&one.root).len() == expected.len()
    });
}

/// Code of LSP.
const METHOD_NOT_FOUND: i32 = -32601;

#[test]
fn what_is_not_its_own_is_answered_at_once_and_empty() {
    let outside = Sandbox::outside_git();
    outside.write("notes.yaml", "a: 1\n");
    let (mut client, _) = Client::start(&[&outside.root], Json::Null);
    client.open(&outside.path("notes.yaml"), "a: [\n");
    let untitled = json!({"uri": "untitled:1", "languageId": "yaml", "version": 1, "text": "a: ["});
    client.notify("textDocument/didOpen", json!({"textDocument": untitled}));
    client.notify("textDocument/didOpen", json!({"textDocument": 1}));
    client.notify("textDocument/didChange", json!([]));
    client.notify("no/such", json!({}));
    assert_eq!(client.request("no/such", json!({})), Err(METHOD_NOT_FOUND));
    client.wait("why", |client| !client.messages.is_empty());
    assert!(
        client.messages[0].contains("not inside a site repository"),
        "{:?}",
        client.messages
    );
    assert_eq!(client.listed(&outside.root), Vec::<String>::new());
}

#[test]
fn broken_configuration_is_shown() {
    let sandbox = Sandbox::with_sites();
    let (mut client, _) = Client::start(&[&sandbox.root], Json::Null);
    let path = sandbox.path("layercake.yaml");
    client.open(&path, "rules: {levles: {}}\n");
    client.wait("the error", |client| !client.messages.is_empty());
    assert!(
        client.messages[0].contains("layercake.yaml:1:9: unknown key"),
        "{:?}",
        client.messages
    );
    // It holds again, with another level.
    sandbox.break_site("lab");
    client.change(
        &path,
        2,
        json!([{"text": "rules: {levels: {missing-source: warning}}\n"}]),
    );
    let broken = uri(&sandbox.path("site/lab/broken.yaml"));
    client.wait("the warning", |client| {
        let list = client.published.get(&broken).and_then(Json::as_array);
        list.is_some_and(|list| list.iter().any(|it| it["severity"] == 2))
    });
}

/// The beginning of a part of a text, its length in characters, and what replaces it.
fn edits() -> impl Strategy<Value = Vec<(Index, usize, &'static str)>> {
    let text = prop_oneof![
        Just(""),
        Just("é"),
        Just("😀\r\n"),
        Just("\n"),
        Just("key: 1\n"),
        Just("  - {a: b}\n"),
        Just("\r"),
        Just("---\n"),
    ];
    prop::collection::vec((any::<Index>(), 0..30_usize, text), 1..12)
}

/// Place of a byte in UTF-16, as an independent client counts it.
fn place(text: &str, byte: usize) -> Json {
    let before = &text[..byte];
    let ends = before.replace("\r\n", "\n").replace('\r', "\n");
    // Between the two characters of a line break is the end of its line.
    let is_inside = before.ends_with('\r') && text[byte..].starts_with('\n');
    let ends = if is_inside {
        &ends[..ends.len() - 1]
    } else {
        &ends
    };
    let line = ends.matches('\n').count();
    let last = ends.rsplit('\n').next().unwrap();
    json!({"line": line, "character": last.encode_utf16().count()})
}

proptest! {
    #![proptest_config(config(12))]

    /// Edits of parts result in the same diagnostics as the whole text.
    #[test]
    fn partial_edits_are_those_of_the_whole_text(edits in edits()) {
        let sandbox = Sandbox::with_sites();
        let path = sandbox.path("site/lab/only.yaml");
        let first = fs::read_to_string(&path).unwrap();
        let (mut client, _) = Client::start(&[&sandbox.root], Json::Null);
        client.open(&path, &first);
        let mut text = first;
        for (version, (begin, length, insert)) in edits.into_iter().enumerate() {
            let bounds: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let begin = begin.index(bounds.len());
            let end = (begin + length).min(bounds.len() - 1);
            let [mut start, mut end] = [bounds[begin], bounds[end]];
            // Clients place nothing between the two characters of a line break.
            while text[..start].ends_with('\r') && text[start..].starts_with('\n') { start -= 1; }
            while text[..end].ends_with('\r') && text[end..].starts_with('\n') { end += 1; }
            let range = json!({"start": place(&text, start), "end": place(&text, end)});
            client.change(&path, version + 2, json!([{"range": range, "text": insert}]));
            text.replace_range(start..end, insert);
        }
        // A new session, with the text as it is on disk.
        fs::write(&path, &text).unwrap();
        let findings = linted(&sandbox).len();
        let (mut new, _) = Client::start(&[&sandbox.root], Json::Null);
        new.open(&path, &text);
        new.wait(&format!("{findings} findings"), |new| new.listed(&sandbox.root).len() == findings);
        let expected = new.listed(&sandbox.root);
        client.wait(&format!("{expected:#?} in {text:?}"), |client| {
            client.listed(&sandbox.root) == expected
        });
    }
}
