//! Laws at places: what the client is shown is what the command line prints, in every document of a
//! file.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use layercake_yaml::{FileId, LineIndex, Node, Value};
use serde_json::json;

use super::client::{Client, uri};
use super::findings::{examples, linted, wait_for};
use crate::cli::Sandbox;
use crate::conformance::screens;
use crate::support::sample::is_thorough;

/// A value of a document as written.
struct Place {
    file: String,
    schema: String,
    name: String,
    /// JSON Pointer in the data.
    path: String,
    line: usize,
    character: usize,
}

impl Place {
    /// Text of the window.
    fn hovered(&self, client: &mut Client, sandbox: &Sandbox) -> Option<String> {
        let at = json!({
            "textDocument": {"uri": uri(&sandbox.path(&self.file))},
            "position": {"line": self.line - 1, "character": self.character},
        });
        let answer = client.request("textDocument/hover", at).unwrap();
        answer["contents"]["value"].as_str().map(str::to_owned)
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The values in the documents of a repository, in the order of its files.
fn places(sandbox: &Sandbox) -> Vec<Place> {
    let mut places = Vec::new();
    for file in files(&sandbox.root) {
        let text = fs::read_to_string(sandbox.path(&file)).unwrap();
        let lines = LineIndex::new(&text);
        for document in layercake_yaml::parse(FileId::default(), &text).documents {
            let at = |keys: &[&str]| {
                let found = keys
                    .iter()
                    .try_fold(&document.root, |node, key| node.as_mapping()?.get(*key));
                found.cloned()
            };
            let word = |keys: &[&str]| at(keys).and_then(|it| it.as_str().map(str::to_owned));
            let (Some(schema), Some(name), Some(data)) = (
                word(&["schema"]),
                word(&["metadata", "name"]),
                at(&["data"]),
            ) else {
                continue;
            };
            let mut leaves = Vec::new();
            collect(&data, &mut String::new(), &mut leaves);
            places.extend(leaves.into_iter().map(|(path, at)| Place {
                file: file.clone(),
                schema: schema.clone(),
                name: name.clone(),
                path,
                line: lines.line_of(at) + 1,
                character: (at - lines.line_start(at)) as usize,
            }));
        }
    }
    places
}

/// Paths and beginnings of the scalars in a node.
fn collect(node: &Node, path: &mut String, leaves: &mut Vec<(String, u32)>) {
    let length = path.len();
    match &node.value {
        Value::Mapping(mapping) => {
            for (key, child) in mapping.iter() {
                let Some(key) = key.as_str() else { continue };
                *path += "/";
                *path += &key.replace('~', "~0").replace('/', "~1");
                collect(child, path, leaves);
                path.truncate(length);
            }
        }
        Value::Sequence(items) => {
            for (index, child) in items.iter().enumerate() {
                *path += &format!("/{index}");
                collect(child, path, leaves);
                path.truncate(length);
            }
        }
        _ if path.is_empty() => {}
        _ => leaves.push((path.clone(), node.span.start)),
    }
}

fn files(root: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for layer in ["global", "type", "site"] {
        for entry in walkdir::WalkDir::new(root.join(layer)).sort_by_file_name() {
            let path = entry.unwrap().into_path();
            if path.extension().is_some_and(|it| it == "yaml") {
                let path = path.strip_prefix(root).unwrap();
                files.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    files
}

/// Lines about sites in the answer of `explain-value`, by site: the value and where it is set.
fn values(printed: &str) -> BTreeMap<&str, [&str; 2]> {
    let mut value = "";
    let mut found = BTreeMap::new();
    for line in printed.lines() {
        match line
            .strip_prefix("  ")
            .and_then(|line| line.split_once(' '))
        {
            Some((site, place)) => drop(found.insert(site, [value, place.trim()])),
            None => value = line,
        }
    }
    found
}

fn printed(sandbox: &Sandbox, arguments: &[&str]) -> Option<String> {
    let output = sandbox.command(arguments).env("COLUMNS", "100").output();
    let output = output.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    output.status.success().then_some(text)
}

/// Compares about `count` places, evenly distributed. Returns how many of them had a value.
fn compare(sandbox: &Sandbox, count: usize) -> usize {
    let (mut client, _) = Client::start(&[&sandbox.root], json!(["utf-8"]));
    wait_for(&mut client, &sandbox.root, &linted(sandbox));
    let places = places(sandbox);
    let mut compared = 0;
    for place in places.iter().step_by(1.max(places.len() / count)) {
        let found = place.hovered(&mut client, sandbox);
        let impact = printed(sandbox, &["impact", &place.to_string()]);
        assert_eq!(found.is_some(), impact.is_some(), "{place}");
        let (Some(found), Some(impact)) = (found, impact) else {
            continue;
        };
        assert!(found.contains(&impact), "{place}: {found}\n{impact}");
        let Place {
            schema, name, path, ..
        } = place;
        let explained = ["explain-value", "--all-sites", schema, name, path];
        let explained = printed(sandbox, &explained).unwrap_or_default();
        let [hovered, explained] = [&found, &explained]
            .map(|text| values(text.split(&format!("\n{place}\n")).next().unwrap()));
        // Only sites that read the file are shown.
        for (site, way) in hovered
            .iter()
            .filter(|_| !found.starts_with(&place.to_string()))
        {
            assert_eq!(explained.get(site), Some(way), "{place} {site}: {found}");
            compared += 1;
        }
    }
    compared
}

/// The examples, with all documents of a folder in one file.
fn examples_in_few_files() -> Sandbox {
    let sandbox = examples();
    let mut folders: BTreeMap<String, String> = BTreeMap::new();
    for file in files(&sandbox.root) {
        if file.ends_with("site-definition.yaml") {
            continue;
        }
        let (folder, _) = file.rsplit_once('/').unwrap();
        let text = fs::read_to_string(sandbox.path(&file)).unwrap();
        fs::remove_file(sandbox.path(&file)).unwrap();
        *folders.entry(folder.to_owned()).or_default() += &text;
    }
    for (folder, text) in folders {
        sandbox.write(&format!("{folder}/all.yaml"), text);
    }
    sandbox
}

#[test]
fn windows_at_values_are_those_of_the_command_line() {
    let sandbox = examples_in_few_files();
    let documents = fs::read_to_string(sandbox.path("global/charts/all.yaml")).unwrap();
    assert!(documents.matches("---\n").count() > 2, "{documents}");
    let compared = compare(&sandbox, if is_thorough() { 500 } else { 60 });
    assert!(compared > 60, "{compared}");
}

#[test]
#[ignore = "needs the recorded corpus"]
fn windows_in_treasuremap_are_those_of_the_command_line() {
    let sandbox = screens::clone();
    let compared = compare(&sandbox, if is_thorough() { 500 } else { 50 });
    assert!(compared > 100, "{compared}");
}

/// Each lens of a document has the figures of `impact`.
#[test]
fn lenses_are_those_of_the_command_line() {
    let sandbox = examples_in_few_files();
    let (mut client, _) = Client::start(&[&sandbox.root], json!(["utf-8"]));
    let mut compared = 0;
    for file in files(&sandbox.root) {
        let document = json!({"textDocument": {"uri": uri(&sandbox.path(&file))}});
        let lenses = client.request("textDocument/codeLens", document).unwrap();
        for lens in lenses.as_array().unwrap() {
            let resolved = client.request("codeLens/resolve", lens.clone()).unwrap();
            let title = resolved["command"]["title"].as_str().unwrap();
            let line = 1 + lens["range"]["start"]["line"].as_u64().unwrap();
            let place = format!("{file}:{line}");
            let impact = sandbox.run(&["impact", &place, "--format", "json"]).json();
            let counted = |key: &str, noun: &str| {
                let count = impact[key].as_u64().unwrap_or_default();
                format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
            };
            let outputs = counted("outputs_reached", "output");
            let sites = counted("sites_reached", "site");
            let expected = format!("reaches {outputs} in {sites}");
            assert!(title.starts_with(&expected), "{place}: {title}, {impact:#}");
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
}
