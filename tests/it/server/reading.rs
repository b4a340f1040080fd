//! What a client shows of a file: outline, hierarchies, final values, and findings that it asks for.

use std::fs;

use serde_json::{Value as Json, json};

use super::client::{Client, uri};
use super::findings::{examples, linted};
use super::navigate::{place, shown};
use crate::cli::Sandbox;

fn started(sandbox: &Sandbox) -> Client {
    Client::start(&[&sandbox.root], json!(["utf-8"])).0
}

fn of_file(sandbox: &Sandbox, file: &str) -> Json {
    json!({"textDocument": {"uri": uri(&sandbox.path(file))}})
}

/// Names of symbols, indented.
fn names(symbols: &Json, depth: usize) -> Vec<String> {
    let mut found = Vec::new();
    for symbol in symbols.as_array().into_iter().flatten() {
        let name = symbol["name"].as_str().unwrap();
        found.push(format!("{}{name}", "  ".repeat(depth)));
        found.extend(names(&symbol["children"], depth + 1));
    }
    found
}

#[test]
fn outline_has_the_parts_of_each_document_but_none_of_a_secret() {
    let sandbox = examples();
    let mut client = started(&sandbox);
    let file = of_file(&sandbox, "site/north/charts/keystone.yaml");
    let symbols = client
        .request("textDocument/documentSymbol", file.clone())
        .unwrap();
    let found = names(&symbols, 0);
    assert_eq!(
        found[..4],
        ["keystone (site)", "  schema", "  metadata", "    schema"]
    );
    let rest = [
        "  data",
        "    values",
        "      pod",
        "        replicas",
        "          api",
    ];
    assert_eq!(found[found.len() - 5..], rest);

    let folds = client
        .request("textDocument/foldingRange", file.clone())
        .unwrap();
    let folds = folds.as_array().unwrap().iter();
    let folds: Vec<(u64, u64)> = folds
        .map(|fold| ["startLine", "endLine"].map(|key| 1 + fold[key].as_u64().unwrap()))
        .map(|[start, end]| (start, end))
        .collect();
    assert!(folds.contains(&(18, 22)), "{folds:?}");

    let at = place(&sandbox, "site/north/charts/keystone.yaml", "api: |5");
    let params = json!({"textDocument": file["textDocument"], "positions": [at["position"]]});
    let selections = client
        .request("textDocument/selectionRange", params)
        .unwrap();
    let mut texts = Vec::new();
    let mut selection = &selections[0];
    while !selection.is_null() {
        texts.push(shown(
            &sandbox,
            &file["textDocument"]["uri"],
            &selection["range"],
        ));
        selection = &selection["parent"];
    }
    assert_eq!(
        texts[..3],
        [
            "site/north/charts/keystone.yaml:22:5",
            "site/north/charts/keystone.yaml:22:api: 5",
            "site/north/charts/keystone.yaml:21:replicas:",
        ]
    );

    let secret = of_file(&sandbox, "site/north/secrets/passphrases.yaml");
    let symbols = client
        .request("textDocument/documentSymbol", secret)
        .unwrap();
    let found = names(&symbols, 0);
    assert!(found.iter().any(|name| name == "  data"), "{found:?}");
}

/// Names of the related documents of the document at a place.
fn related(client: &mut Client, sandbox: &Sandbox, method: &str, end: &str) -> Vec<String> {
    let at = place(
        sandbox,
        "type/cloud/charts/keystone.yaml",
        "name: |keystone\n",
    );
    let items = client
        .request("textDocument/prepareCallHierarchy", at)
        .unwrap();
    let [item] = &items.as_array().unwrap()[..] else {
        panic!("{items}");
    };
    let found = client.request(method, json!({"item": item})).unwrap();
    let found = found.as_array().unwrap().iter();
    let items = found.map(|call| if end.is_empty() { call } else { &call[end] });
    let mut names: Vec<String> = items
        .map(|item| {
            let address = item["uri"].as_str().unwrap();
            let file = address.rsplit("/repository/").next().unwrap();
            format!("{} in {file}", item["name"].as_str().unwrap())
        })
        .collect();
    names.sort();
    names
}

#[test]
fn hierarchies_lead_to_parents_and_users() {
    let sandbox = examples();
    let mut client = started(&sandbox);
    let parents = ["keystone-global (global) in global/charts/keystone.yaml"];
    let children = ["keystone (site) in site/north/charts/keystone.yaml"];
    let cases: [(&str, &str, &[&str]); 4] = [
        ("typeHierarchy/supertypes", "", &parents),
        ("typeHierarchy/subtypes", "", &children),
        (
            "callHierarchy/incomingCalls",
            "from",
            &[
                "keystone (site) in site/north/charts/keystone.yaml",
                "openstack (global) in global/charts/chart-group.yaml",
            ],
        ),
        (
            "callHierarchy/outgoingCalls",
            "to",
            &[
                "keystone-global (global) in global/charts/keystone.yaml",
                "layering-policy in global/layering-policy.yaml",
            ],
        ),
    ];
    for (method, end, expected) in cases {
        assert_eq!(
            related(&mut client, &sandbox, method, end),
            expected,
            "{method}"
        );
    }
}

#[test]
fn final_values_are_shown_for_the_chosen_site() {
    let sandbox = examples();
    let mut client = started(&sandbox);
    let file = "type/cloud/charts/keystone.yaml";
    let hints = |client: &mut Client, settings: Json| -> Vec<String> {
        let params = json!({"settings": {"layercake": settings}});
        client.notify("workspace/didChangeConfiguration", params);
        let mut params = of_file(&sandbox, file);
        params["range"] = json!({
            "start": {"line": 0, "character": 0},
            "end": {"line": 99, "character": 0},
        });
        let hints = client.request("textDocument/inlayHint", params).unwrap();
        let hints = hints.as_array().unwrap().iter();
        let texts = hints.map(|hint| {
            let line = 1 + hint["position"]["line"].as_u64().unwrap();
            format!("{line}: {}", hint["label"].as_str().unwrap())
        });
        texts.collect()
    };
    let none: [String; 0] = [];
    assert_eq!(hints(&mut client, json!({"site": "north"})), none);
    let enabled = |site: &str| json!({"site": site, "inlayHints": {"enable": true}});
    assert_eq!(hints(&mut client, enabled("north")), ["21: → 5"]);
    assert_eq!(hints(&mut client, enabled("south")), none);
}

/// A client that asks for the findings of open documents gets only the others pushed.
#[test]
fn findings_of_open_documents_are_asked_for() {
    let sandbox = examples();
    let file = "site/west/config/software-versions.yaml";
    let text = fs::read_to_string(sandbox.path(file)).unwrap();
    let slip = text.replace("software-versions-global", "software-versions-globl");
    let capabilities = json!({
        "general": {"positionEncodings": ["utf-8"]},
        "textDocument": {"diagnostic": {}},
        "workspace": {"diagnostics": {"refreshSupport": true}},
    });
    let (mut client, result) = Client::with_capabilities(&[&sandbox.root], capabilities);
    let provider = &result["capabilities"]["diagnosticProvider"];
    assert_eq!(provider["interFileDependencies"], true);
    let before = linted(&sandbox);
    super::findings::wait_for(&mut client, &sandbox.root, &before);

    client.open(&sandbox.path(file), &slip);
    let report = client
        .request("textDocument/diagnostic", of_file(&sandbox, file))
        .unwrap();
    assert_eq!(report["kind"], "full");
    let mut codes: Vec<&str> = report["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| found["code"].as_str().unwrap())
        .collect();
    sandbox.write(file, &slip);
    let after = linted(&sandbox);
    let mut expected: Vec<&str> = after
        .iter()
        .filter(|line| line.starts_with(file))
        .map(|line| line.rsplit(' ').next().unwrap())
        .collect();
    expected.sort_unstable();
    codes.sort_unstable();
    assert_eq!(codes, expected);
    assert!(!codes.is_empty());
    assert!(!client.published.contains_key(&uri(&sandbox.path(file))));

    let mut again = of_file(&sandbox, file);
    again["previousResultId"] = report["resultId"].clone();
    let unchanged = client.request("textDocument/diagnostic", again).unwrap();
    assert_eq!(unchanged["kind"], "unchanged");

    // Once it is closed, they are pushed.
    client.close(&sandbox.path(file));
    super::findings::wait_for(&mut client, &sandbox.root, &after);
}

/// A client that cannot be asked to ask again, such as Neovim 0.11, would show old findings of an open
/// document after an edit elsewhere.
#[test]
fn findings_are_pushed_to_a_client_that_does_not_ask_again() {
    let sandbox = examples();
    let capabilities = json!({
        "general": {"positionEncodings": ["utf-8"]},
        "textDocument": {"diagnostic": {}},
    });
    let (mut client, result) = Client::with_capabilities(&[&sandbox.root], capabilities);
    assert_eq!(result["capabilities"].get("diagnosticProvider"), None);
    let child = sandbox.path("site/north/charts/keystone.yaml");
    client.open(&child, &fs::read_to_string(&child).unwrap());
    let file = "type/cloud/charts/keystone.yaml";
    let text = fs::read_to_string(sandbox.path(file)).unwrap();
    let renamed = text.replace("name: keystone-cloud", "name: keystone-clouds");
    client.open(&sandbox.path(file), &renamed);
    sandbox.write(file, renamed);
    let expected = linted(&sandbox);
    assert!(
        expected
            .iter()
            .any(|line| line.starts_with("site/north/charts/keystone.yaml"))
    );
    super::findings::wait_for(&mut client, &sandbox.root, &expected);

    // The client drops those of a document that it closes.
    client.published.clear();
    client.close(&child);
    let of_child = expected
        .into_iter()
        .filter(|line| line.starts_with("site/north/charts/keystone.yaml"));
    super::findings::wait_for(&mut client, &sandbox.root, &of_child.collect::<Vec<_>>());
}

#[test]
fn window_has_the_values_the_parents_and_the_page_of_a_rule() {
    let sandbox = examples();
    let mut client = started(&sandbox);
    let hover = |client: &mut Client, file: &str, around: &str| -> String {
        let at = place(&sandbox, file, around);
        let answer = client.request("textDocument/hover", at).unwrap();
        answer["contents"]["value"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let file = "type/cloud/charts/keystone.yaml";
    let value = hover(&mut client, file, "api: |3");
    let printed = |arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        let output = command.env("COLUMNS", "100").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let path = ".values.pod.replicas.api";
    for site in ["north", "south", "west"] {
        let json = printed(&[
            "explain-value",
            site,
            "armada/Chart/v1",
            "keystone",
            path,
            "--format",
            "json",
        ]);
        let explained: Json = serde_json::from_str(&json).unwrap();
        let at = &explained["sites"][0]["way"]["set_at"];
        let place = format!("{}:{}", at["file"].as_str().unwrap(), at["line"]);
        let is_shown = value
            .lines()
            .any(|line| line.contains(site) && line.contains(&place));
        assert!(is_shown, "{site} {place}: {value}");
    }
    let impact = printed(&["impact", &format!("{file}:21")]);
    assert!(value.contains(&impact), "{value}\n{impact}");
    assert!(
        value.contains("takes effect\n  by update_software"),
        "{value}"
    );

    let selector = hover(
        &mut client,
        "site/north/charts/keystone.yaml",
        "name: keystone-|cloud",
    );
    let parent = "the parent is keystone (type) at type/cloud/charts/keystone.yaml:5 in north\n";
    assert!(selector.starts_with(parent), "{selector}");

    let path = sandbox.path(file);
    let text = fs::read_to_string(&path).unwrap();
    client.open(
        &path,
        &format!("# layercake: ignore-file[unused-label] no\n{text}"),
    );
    let at = json!({
        "textDocument": {"uri": uri(&path)},
        "position": {"line": 0, "character": 30},
    });
    let answer = client.request("textDocument/hover", at).unwrap();
    let page = answer["contents"]["value"].as_str().unwrap();
    assert!(page.starts_with("# unused-label\n"), "{page}");
}
