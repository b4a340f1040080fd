//! What a client applies to its texts: fixes, comments, overrides, renames and completions.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value as Json, json};

use super::client::{Client, uri};
use super::findings::{examples, linted, wait_for};
use super::navigate::place;
use crate::cli::Sandbox;

fn started(sandbox: &Sandbox) -> Client {
    let (mut client, _) = Client::start(&[&sandbox.root], json!(["utf-8"]));
    wait_for(&mut client, &sandbox.root, &linted(sandbox));
    client
}

/// Applies a `WorkspaceEdit` to the files. Returns their paths.
fn apply(sandbox: &Sandbox, edit: &Json) -> Vec<String> {
    let mut files = Vec::new();
    let changes: BTreeMap<String, Vec<Json>> =
        serde_json::from_value(edit["changes"].clone()).unwrap();
    for (address, mut edits) in changes {
        let prefix = format!("{}/", uri(&sandbox.root));
        let file = address.strip_prefix(&prefix).unwrap().to_owned();
        let mut text = fs::read_to_string(sandbox.path(&file)).unwrap();
        edits.sort_by_key(|edit| std::cmp::Reverse(byte(&text, &edit["range"]["start"])));
        for edit in edits {
            let range = byte(&text, &edit["range"]["start"])..byte(&text, &edit["range"]["end"]);
            text.replace_range(range, edit["newText"].as_str().unwrap());
        }
        sandbox.write(&file, text);
        files.push(file);
    }
    files
}

fn byte(text: &str, position: &Json) -> usize {
    let number = |key: &str| usize::try_from(position[key].as_u64().unwrap()).unwrap();
    let lines = text.split_inclusive('\n').take(number("line"));
    lines.map(str::len).sum::<usize>() + number("character")
}

/// Actions at a place, by title.
fn actions(
    client: &mut Client,
    sandbox: &Sandbox,
    file: &str,
    around: &str,
) -> BTreeMap<String, Json> {
    let mut params = place(sandbox, file, around);
    let at = params["position"].take();
    params["range"] = json!({"start": at, "end": at});
    params["context"] = json!({"diagnostics": []});
    let found = client.request("textDocument/codeAction", params).unwrap();
    let found = found.as_array().unwrap().iter();
    found
        .map(|action| (action["title"].as_str().unwrap().to_owned(), action.clone()))
        .collect()
}

#[test]
fn actions_wait_for_the_findings_of_their_text() {
    let sandbox = examples();
    let mut client = started(&sandbox);
    let file = "site/west/config/software-versions.yaml";
    let text = fs::read_to_string(sandbox.path(file)).unwrap();
    let slip = text.replace("method: merge", "method: mrege");
    client.open(&sandbox.path(file), &slip);
    let found = actions(&mut client, &sandbox, file, "method: me|rge");
    assert_eq!(found.len(), 2, "{found:?}");
    client.change(
        &sandbox.path(file),
        2,
        json!([{"text": format!("# first\n{slip}")}]),
    );
    sandbox.write(file, format!("# first\n{text}"));
    let found = actions(&mut client, &sandbox, file, "method: me|rge");
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn fix_is_preferred_only_if_it_is_safe() {
    let sandbox = examples();
    let file = "site/west/config/software-versions.yaml";
    let text = fs::read_to_string(sandbox.path(file)).unwrap();
    let slip = text.replace("method: merge", "method: mrege");
    sandbox.write(file, &slip);
    let mut client = started(&sandbox);
    let found = actions(&mut client, &sandbox, file, "method: mr|ege");
    let titles: Vec<&String> = found.keys().collect();
    assert_eq!(titles.len(), 2, "{titles:?}");
    let (title, guess) = found
        .iter()
        .find(|(title, _)| !title.starts_with("Ignore"))
        .unwrap();
    assert_eq!(guess["isPreferred"], false, "{title}");
    assert_eq!(guess["kind"], "quickfix");
    let (_, comment) = found
        .iter()
        .find(|(title, _)| title.starts_with("Ignore"))
        .unwrap();
    assert_eq!(comment.get("isPreferred"), None);

    assert_eq!(apply(&sandbox, &guess["edit"]), [file]);
    assert_eq!(fs::read_to_string(sandbox.path(file)).unwrap(), text);

    // A comment suppresses the finding.
    sandbox.write(file, &slip);
    let is_reported = || {
        let printed = sandbox.run(&["lint", "-o", "concise"]).stdout;
        printed.contains("[invalid-action]")
    };
    assert!(is_reported());
    apply(&sandbox, &comment["edit"]);
    let commented = fs::read_to_string(sandbox.path(file)).unwrap();
    assert!(
        commented.contains("layercake: ignore[invalid-action] TODO"),
        "{commented}"
    );
    assert!(!is_reported());
}

#[test]
fn value_can_be_overridden_for_fewer_sites() {
    let sandbox = examples();
    let mut client = started(&sandbox);
    let file = "type/cloud/charts/keystone.yaml";
    let params = json!({"settings": {"layercake": {"site": "north"}}});
    client.notify("workspace/didChangeConfiguration", params);
    sandbox.write(
        "site/north/charts/keystone.yaml",
        fs::read_to_string(sandbox.path("site/north/charts/keystone.yaml"))
            .unwrap()
            .replace(
                "    pod:\n      replicas:\n        api: 5\n",
                "    other: 1\n",
            ),
    );
    let changed = uri(&sandbox.path("site/north/charts/keystone.yaml"));
    let params = json!({"changes": [{"uri": changed, "type": 2}]});
    client.notify("workspace/didChangeWatchedFiles", params);
    let found = actions(&mut client, &sandbox, file, "api: |3");
    let title = "Override it for north only: set it in keystone (site)";
    let action = found
        .get(title)
        .unwrap_or_else(|| panic!("{:?}", found.keys()));
    assert_eq!(action["kind"], "refactor.rewrite");
    assert_eq!(
        apply(&sandbox, &action["edit"]),
        ["site/north/charts/keystone.yaml"]
    );
    let text = fs::read_to_string(sandbox.path("site/north/charts/keystone.yaml")).unwrap();
    assert!(
        text.ends_with("    other: 1\n    pod:\n      replicas:\n        api: 3\n"),
        "{text}"
    );
}

/// Renders everything, with one name replaced by another.
fn rendered(sandbox: &Sandbox, from: &str, to: &str) -> String {
    sandbox.run(&["render"]).stdout.replace(from, to)
}

#[test]
fn renamed_document_is_named_everywhere() {
    let sandbox = examples();
    let mut client = started(&sandbox);
    let cases = [
        // The document, its replacements, and the group that lists it.
        (
            "type/cloud/charts/keystone.yaml",
            "  name: key|stone\n",
            "identity",
        ),
        // From a source that reads it.
        (
            "global/charts/keystone.yaml",
            "name: software-|versions\n",
            "versions",
        ),
        // From the group.
        ("global/charts/chart-group.yaml", "- hor|izon", "dashboard"),
        // The schema of documents is the name of a DataSchema.
        (
            "global/schemas/software-versions.yaml",
            "name: pegleg/Software|Versions/v1",
            "pegleg/Software/v2",
        ),
        // A label, from its selector.
        (
            "site/north/charts/keystone.yaml",
            "name: keystone-|cloud",
            "keystone-of-clouds",
        ),
    ];
    for (file, around, new_name) in cases {
        let mut params = place(&sandbox, file, around);
        let prepared = client
            .request("textDocument/prepareRename", params.clone())
            .unwrap();
        let old = prepared["placeholder"].as_str().unwrap().to_owned();
        let before = linted(&sandbox);
        let outputs = sandbox.run(&["render"]).stdout.matches("\n---").count();
        params["newName"] = json!(new_name);
        let edit = client.request("textDocument/rename", params).unwrap();
        let files = apply(&sandbox, &edit);
        assert!(files.len() > 1, "{files:?}");
        let rules = |lines: &[String]| -> Vec<String> {
            lines
                .iter()
                .map(|line| line.rsplit(' ').next().unwrap().to_owned())
                .collect()
        };
        assert_eq!(
            rules(&linted(&sandbox)),
            rules(&before),
            "{old} to {new_name}"
        );
        let after = rendered(&sandbox, "", "");
        assert_eq!(
            after.matches("\n---").count(),
            outputs,
            "{old} to {new_name}"
        );
        let changes: Vec<Json> = files
            .iter()
            .map(|file| json!({"uri": uri(&sandbox.path(file)), "type": 2}))
            .collect();
        client.notify(
            "workspace/didChangeWatchedFiles",
            json!({"changes": changes}),
        );
    }
    // A name that is taken.
    let mut taken = place(&sandbox, "global/charts/chart-group.yaml", "- dash|board");
    taken["newName"] = json!("identity");
    assert_eq!(client.request("textDocument/rename", taken), Err(-32803));
}

/// Labels of the completions at a place of a text, which lies over a file.
fn completed(client: &mut Client, sandbox: &Sandbox, file: &str, text: &str) -> Vec<String> {
    let path = sandbox.path(file);
    let at = text.find('|').expect("a cursor");
    client.open(&path, &text.replacen('|', "", 1));
    let params = json!({
        "textDocument": {"uri": uri(&path)},
        "position": {
            "line": text[..at].matches('\n').count(),
            "character": at - text[..at].rfind('\n').map_or(0, |end| end + 1),
        },
    });
    let found = client.request("textDocument/completion", params).unwrap();
    client.close(&path);
    let found = found.as_array().unwrap().iter();
    found
        .map(|item| item["label"].as_str().unwrap().to_owned())
        .collect()
}

/// Beginning of a document that selects a parent and substitutes.
const HEAD: &str = "\
---
schema: armada/Chart/v1
metadata:
  schema: metadata/Document/v1
  name: keystone
";

#[test]
fn completions_fit_their_place() {
    let sandbox = examples();
    let mut client = started(&sandbox);
    let source = "  substitutions:\n    - src:\n        schema: pegleg/SoftwareVersions/v1\n";
    let layering = "  layeringDefinition:\n    abstract: false\n";
    let file = "site/west/charts/keystone.yaml";
    let cases: &[(&str, String, &[&str])] = &[
        (file, "---\nschema: armada/|\n".to_owned(), &["armada/Chart/v1", "armada/ChartGroup/v1", "armada/Manifest/v1"]),
        (file, format!("{HEAD}{layering}    layer: |"), &["global", "site", "type"]),
        (file, format!("{HEAD}{layering}    actions:\n      - method: |"), &["delete", "merge", "replace"]),
        (file, format!("{HEAD}{layering}    parentSelector:\n      |"), &["name"]),
        (
            file,
            format!("{HEAD}{layering}    parentSelector:\n      name: key|"),
            &["keystone-cloud", "keystone-global"],
        ),
        (file, format!("{HEAD}{source}        name: |"), &["software-versions"]),
        // Half-typed: it does not parse.
        (
            file,
            format!("{HEAD}{source}        name: software-versions\n        path: .im|\n   broken: [\n"),
            &[".images", ".images.horizon", ".images.keystone"],
        ),
        (
            "global/charts/chart-group.yaml",
            "---\nschema: armada/ChartGroup/v1\nmetadata:\n  name: openstack\ndata:\n  chart_group:\n    - |".to_owned(),
            &["horizon", "keystone"],
        ),
        ("site/west/site-definition.yaml", "---\ndata:\n  site_type: |\n".to_owned(), &["cloud", "single"]),
        (file, "# layercake: ignore[unused-lab|]\n".to_owned(), &["unused-label"]),
        ("layercake.yaml", "reach:\n  max-s|".to_owned(), &["max-sites: "]),
    ];
    for (file, text, expected) in cases {
        let all = completed(&mut client, &sandbox, file, text);
        let missing: Vec<&&str> = expected
            .iter()
            .filter(|it| !all.iter().any(|found| found == **it))
            .collect();
        assert!(missing.is_empty(), "{missing:?} at\n{text}: {all:?}");
    }
    // Where any text can be, nothing is offered.
    let text = format!("{HEAD}data:\n  values:\n    any: |");
    assert_eq!(
        completed(&mut client, &sandbox, file, &text),
        Vec::<String>::new()
    );
}
