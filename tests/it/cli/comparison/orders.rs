//! Lists whose items have a key: a new order is one edit and one change, and a changed item is
//! named by its key.

use serde_json::Value as Json;

use super::parts::compared;
use super::{Sandbox, child, document, repository};

const BASE: &str = "\n  env:\n    - {name: A, value: 1}\n    - {name: B, value: 2}\n    \
                    - {name: C, value: 3}\n";

fn with_list(items: &[&str]) -> String {
    let items: String = items
        .iter()
        .map(|item| format!("\n    - {{name: {item}}}"))
        .collect();
    document("app", "global", &format!("\n  env:{items}\n"))
}

/// A repository with a list in the global layer.
fn with_app() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.write("global/app.yaml", document("app", "global", BASE));
    sandbox.commit();
    sandbox
}

/// `kind path: before -> after` of each edit.
pub(super) fn edited(report: &Json) -> Vec<String> {
    let edits = report["edits"].as_array().unwrap().iter();
    let value = |value: &Json| value["value"].to_string();
    edits
        .map(|it| {
            let [kind, path] = ["kind", "path"].map(|key| it[key].as_str().unwrap());
            format!(
                "{kind} {path}: {} -> {}",
                value(&it["before"]),
                value(&it["after"])
            )
        })
        .collect()
}

/// Status and path of each change of each group.
fn changed(report: &Json) -> Vec<String> {
    let groups = report["groups"].as_array().unwrap().iter();
    let changes = groups.flat_map(|group| group["changes"].as_array().unwrap());
    let what = |change: &Json| match ["before", "after"].map(|side| change[side].is_null()) {
        _ if change["reordered"] == true => "reorder",
        [true, _] => "add",
        [false, true] => "remove",
        [false, false] => "replace",
    };
    changes
        .map(|it| format!("{} {}", what(it), it["path"].as_str().unwrap()))
        .collect()
}

#[test]
fn reordered_list_is_one_edit_and_one_change() {
    let sandbox = with_app();
    sandbox.write(
        "global/app.yaml",
        with_list(&["C, value: 3", "A, value: 1", "B, value: 2"]),
    );
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        [r#"order .env: ["A","B","C"] -> ["C","A","B"]"#]
    );
    assert_eq!(changed(&report), ["reorder .env"]);
    assert_eq!(report["outputs"].as_array().unwrap().len(), 2);
    let ran = sandbox.run(&["diff", "HEAD"]);
    assert!(
        ran.stdout.contains(".env (order changed)"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("items]"), "{}", ran.stdout);
}

#[test]
fn changed_item_of_reordered_list_is_called_by_its_key() {
    let sandbox = with_app();
    let items = ["C, value: 3", "D, value: 4", "B, value: 5"];
    sandbox.write("global/app.yaml", with_list(&items));
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        [
            "key .env[name=A]: {\"name\":\"A\",\"value\":1} -> null",
            r#"order .env: ["B","C"] -> ["C","B"]"#,
            "key .env[name=D]: null -> {\"name\":\"D\",\"value\":4}",
            "value .env[name=B].value: 2 -> 5",
        ]
    );
    let mut changes = changed(&report);
    changes.sort();
    assert_eq!(
        changes,
        [
            "add .env[name=D]",
            "remove .env[name=A]",
            "reorder .env",
            "replace .env[name=B].value"
        ]
    );
}

#[test]
fn order_change_reaches_children_and_is_shielded_by_replaced_lists() {
    let sandbox = repository();
    let parent = |items: &[&str]| {
        let text = with_list(items).replace("name: app", "name: parent");
        text.replace("  storagePolicy", "  labels: {is: parent}\n  storagePolicy")
    };
    sandbox.write(
        "global/parent.yaml",
        parent(&["A, value: 1", "B, value: 2"]),
    );
    let stopping = child()
        .replace("name: child", "name: stopping")
        .replace("method: merge", "method: replace");
    sandbox.write(
        "site/prod/stopping.yaml",
        stopping
            .replace("path: .}", "path: .env}")
            .replace("{own: 1}", "{env: []}"),
    );
    sandbox.commit();
    sandbox.write(
        "global/parent.yaml",
        parent(&["B, value: 7", "A, value: 1"]),
    );
    let report = compared(&sandbox);
    let causes = |name: &str| -> Vec<String> {
        let mut outputs = report["outputs"].as_array().unwrap().iter();
        let output = outputs.find(|it| it["name"] == name).unwrap();
        let causes = output["causes"].as_array().unwrap().iter();
        causes
            .map(|it| format!("{} {}", it["edit"].as_str().unwrap(), it["via"]))
            .collect()
    };
    assert_eq!(edited(&report).len(), 2);
    assert_eq!(causes("child"), ["e1 \"inherited\"", "e2 \"inherited\""]);
    let shields = report["shields"].as_array().unwrap();
    assert_eq!(shields.len(), 2, "{shields:#?}");
    let joint = report["outputs"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|output| {
            let causes = output["causes"].as_array().unwrap().clone();
            causes
                .into_iter()
                .flat_map(|it| it["joint"].as_array().unwrap().clone())
        });
    assert_eq!(
        joint.count(),
        0,
        "the order and the value have their own causes"
    );
}

#[test]
fn configured_keys_name_items_in_sources_and_outputs() {
    let sandbox = with_app();
    sandbox.write(
        "layercake.yaml",
        "diff: {list-keys: {example/Any/v1: {$.env: host}}}\n",
    );
    let hosts = |hosts: &[&str]| {
        let items: Vec<String> = hosts.iter().map(|host| format!("host: {host}")).collect();
        let items: Vec<&str> = items.iter().map(String::as_str).collect();
        with_list(&items).replace("name: host", "host")
    };
    sandbox.write("global/app.yaml", hosts(&["one, port: 1", "two, port: 2"]));
    sandbox.commit();
    sandbox.write("global/app.yaml", hosts(&["two, port: 3", "one, port: 1"]));
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        [
            r#"order .env: ["one","two"] -> ["two","one"]"#,
            "value .env[host=two].port: 2 -> 3"
        ]
    );
    assert_eq!(
        changed(&report),
        ["reorder .env", "replace .env[host=two].port"]
    );
}

#[test]
fn items_may_be_identified_by_numbers() {
    let sandbox = with_app();
    let ids = |items: &[&str]| with_list(items).replace("name: i", "i");
    sandbox.write("global/app.yaml", ids(&["id: 7, v: 1", "id: 8, v: 1"]));
    sandbox.commit();
    sandbox.write("global/app.yaml", ids(&["id: 8, v: 2", "id: 7, v: 1"]));
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        ["order .env: [7,8] -> [8,7]", "value .env[id=8].v: 1 -> 2"]
    );
    assert_eq!(changed(&report), ["reorder .env", "replace .env[id=8].v"]);
    let saved = sandbox.beside("report.json").display().to_string();
    sandbox.run(&["diff", "HEAD", "-o", &format!("json={saved}")]);
    let again = sandbox.run(&["report", &saved, "-o", "full"]);
    assert!(again.stdout.contains(".env[id=8].v"), "{}", again.stdout);
}

#[test]
fn item_keys_that_are_not_words_are_quoted() {
    let sandbox = with_app();
    let item = |value: u32| with_list(&[&format!("'a b]=''c', value: {value}")]);
    sandbox.write("global/app.yaml", item(1));
    sandbox.commit();
    sandbox.write("global/app.yaml", item(2));
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        [r"value .env[name='a b]=\'c'].value: 1 -> 2"]
    );
    // A saved report prints the same as the run.
    let saved = sandbox.beside("report.json");
    let path = saved.display().to_string();
    let ran = sandbox.run(&["diff", "HEAD", "-o", "full", "-o", &format!("json={path}")]);
    let again = sandbox.run(&["report", &path, "-o", "full"]);
    assert!(
        again.stdout.contains(r".env[name='a b]=\'c'].value"),
        "{}",
        again.stdout
    );
    assert!(
        ran.stdout.contains(r".env[name='a b]=\'c'].value"),
        "{}",
        ran.stdout
    );
}
