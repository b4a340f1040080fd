//! What a document reaches, its rendered texts, and what the open documents change.

use std::fs;

use lsp_server::ErrorCode;
use serde_json::{Value as Json, json};

use super::client::{Client, uri};
use super::findings::examples;
use super::navigate::{place, shown};
use crate::cli::Sandbox;

fn started(sandbox: &Sandbox) -> Client {
    Client::start(&[&sandbox.root], json!(["utf-8"])).0
}

/// Lenses of a file with their texts, as `LINE: TEXT`.
fn lenses(client: &mut Client, sandbox: &Sandbox, file: &str) -> Vec<String> {
    let document = json!({"textDocument": {"uri": uri(&sandbox.path(file))}});
    let lenses = client.request("textDocument/codeLens", document).unwrap();
    let mut texts = Vec::new();
    for lens in lenses.as_array().unwrap() {
        assert_eq!(lens.get("command"), None, "{lens}");
        let resolved = client.request("codeLens/resolve", lens.clone()).unwrap();
        assert_eq!(resolved["range"], lens["range"]);
        let line = 1 + resolved["range"]["start"]["line"].as_u64().unwrap();
        let title = resolved["command"]["title"].as_str().unwrap();
        texts.push(format!("{line}: {title}"));
    }
    texts
}

#[test]
fn lens_over_a_document_has_its_impact_and_whether_it_changed() {
    let sandbox = examples();
    sandbox.commit();
    let mut client = started(&sandbox);
    let file = "global/charts/keystone.yaml";
    let expected = ["1: reaches 3 outputs in 3 sites, all deployed · shielded in lab"];
    assert_eq!(lenses(&mut client, &sandbox, file), expected);

    // The same figures as on the command line.
    for file in [
        "global/config/software-versions.yaml",
        "type/cloud/charts/keystone.yaml",
        "site/west/secrets/passphrases.yaml",
    ] {
        for lens in lenses(&mut client, &sandbox, file) {
            let (line, title) = lens.split_once(": ").unwrap();
            let place = format!("{file}:{line}");
            let impact = sandbox.run(&["impact", &place, "--format", "json"]).json();
            let figure = |key: &str| impact[key].as_u64().unwrap_or_default();
            let outputs = figure("outputs_reached");
            let sites = figure("sites_reached");
            let plural = |count| if count == 1 { "" } else { "s" };
            let reach = format!(
                "reaches {outputs} output{} in {sites} site{}",
                plural(outputs),
                plural(sites)
            );
            assert!(title.starts_with(&reach), "{place}: {title}, {impact:#}");
        }
    }

    // An edit that is not saved.
    let path = sandbox.path("global/charts/horizon.yaml");
    let text = fs::read_to_string(&path).unwrap();
    client.open(&path, &format!("{text}  added: 1\n"));
    let [lens] = &lenses(&mut client, &sandbox, "global/charts/horizon.yaml")[..] else {
        panic!("one document");
    };
    assert!(lens.ends_with(" · changed since HEAD"), "{lens}");
}

#[test]
fn settings_select_the_parts_of_a_lens() {
    let sandbox = examples();
    sandbox.commit();
    let mut client = started(&sandbox);
    let settings = json!({"codeLens": {"reach": false, "shields": false, "changes": false}});
    let params = json!({"settings": {"layercake": settings}});
    client.notify("workspace/didChangeConfiguration", params);
    let found = lenses(&mut client, &sandbox, "global/charts/horizon.yaml");
    assert_eq!(found.len(), 1);
    assert!(!found[0].contains("reaches"), "{found:?}");
}

#[test]
fn command_lists_the_outputs_that_a_document_reaches() {
    let sandbox = examples();
    let mut client = started(&sandbox);
    let at = place(
        &sandbox,
        "type/cloud/charts/keystone.yaml",
        "|schema: armada",
    );
    let params = json!({"command": "layercake.outputs", "arguments": [at]});
    let found = client.request("workspace/executeCommand", params).unwrap();
    let found = found.as_array().unwrap().iter();
    let found: Vec<String> = found
        .map(|it| shown(&sandbox, &it["uri"], &it["range"]))
        .collect();
    assert_eq!(
        found,
        [
            "site/north/charts/keystone.yaml:7:keystone",
            "type/cloud/charts/keystone.yaml:5:keystone",
        ]
    );
}

/// The text of an address.
fn text(client: &mut Client, address: &Json) -> String {
    let params = json!({"uri": address});
    let content = client.request("workspace/textDocumentContent", params);
    content.unwrap()["text"].as_str().unwrap().to_owned()
}

#[test]
fn rendered_document_is_the_text_of_render() {
    let sandbox = examples();
    sandbox.commit();
    let mut client = started(&sandbox);
    let file = "type/cloud/charts/keystone.yaml";
    let mut argument = place(&sandbox, file, "|schema: armada");
    let params = json!({"command": "layercake.rendered", "arguments": [argument]});
    let all = client.request("workspace/executeCommand", params).unwrap();
    let sites = all.as_array().unwrap().iter();
    let sites: Vec<&str> = sites.map(|it| it["site"].as_str().unwrap()).collect();
    assert_eq!(sites, ["north", "south", "west"]);

    argument["site"] = json!("north");
    let params = json!({"command": "layercake.rendered", "arguments": [argument]});
    let one = client.request("workspace/executeCommand", params).unwrap();
    assert_eq!(one, json!([all[0]]));
    let [head, base] = ["uri", "base"].map(|side| text(&mut client, &one[0][side]));
    let render = ["render", "--site", "north", "--schema", "armada/Chart/v1"];
    let printed = sandbox.run(&[&render[..], &["--name", "keystone", "--with-origin"]].concat());
    assert_eq!(head, printed.stdout);
    assert_eq!(base, head);

    // The base is that of the commit, whatever is open.
    let path = sandbox.path("site/north/charts/keystone.yaml");
    let edited = fs::read_to_string(&path)
        .unwrap()
        .replace("api: 5", "api: 7");
    client.open(&path, &edited);
    let [head, base] = ["uri", "base"].map(|side| text(&mut client, &one[0][side]));
    assert!(
        head.contains("api: 7") && !head.contains("api: 5"),
        "{head}"
    );
    assert_eq!(base, printed.stdout);

    let unknown = json!({"uri": "layercake:/keystone.yaml?%7B%22folder%22%3A%22%2Fother%22%7D"});
    let refused = client.request("workspace/textDocumentContent", unknown);
    assert_eq!(refused, Err(-32602));
}

/// Labels of a tree, indented, with descriptions.
fn lines(nodes: &Json, depth: usize) -> Vec<String> {
    let mut found = Vec::new();
    for node in nodes.as_array().unwrap() {
        let texts = [&node["label"], &node["description"]].map(|text| text.as_str().unwrap());
        found.push(format!("{}{} | {}", "  ".repeat(depth), texts[0], texts[1]));
        found.extend(lines(&node["children"], depth + 1));
    }
    found
}

#[test]
fn tree_has_the_effects_of_an_edit_that_is_not_saved() {
    let sandbox = examples();
    sandbox.commit();
    let mut client = started(&sandbox);
    let file = "global/config/software-versions.yaml";
    let path = sandbox.path(file);
    let document = json!({"textDocument": {"uri": uri(&path)}});
    let none = client
        .request("layercake/changes", document.clone())
        .unwrap();
    assert_eq!(none["edits"], json!([]));
    let without_document = client.request("layercake/changes", json!({}));
    assert_eq!(without_document, Err(ErrorCode::InvalidParams as i32));
    assert_eq!(none["isComplete"], true);

    let text = fs::read_to_string(&path).unwrap();
    client.open(&path, &text.replace("keystone:2025.1", "keystone:2025.2"));
    let changes = client.request("layercake/changes", document).unwrap();
    assert_eq!(
        lines(&changes["edits"], 0),
        [
            concat!(
                "software-versions (global)  .images.keystone: ",
                "registry.example.org/keystone:20… → registry.example.org/keystone:20… | ",
                "reaches 5 outputs in lab, north, south, 2 of them deployed, ",
                "2 of them from unedited files; shielded in west",
            ),
            "  2 × keystone in north, south | 2 outputs",
            "  3 × software-versions in lab, north, south | 3 outputs",
            concat!(
                "  shielded in west: set again by software-versions (site) ",
                "at site/west/config/software-versions.yaml:19 | shields others",
            ),
        ],
        "{changes:#}"
    );
    assert_eq!(changes["edits"][0]["location"]["uri"], json!(uri(&path)));
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        text,
        "nothing is written"
    );
}
