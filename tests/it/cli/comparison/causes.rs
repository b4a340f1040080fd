//! Edits that a text of the head does not show: removed keys, documents and labels, and edits that
//! have an effect only together.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value as Json;

use super::{Sandbox, child, document, parent, repository};

/// Paths of the edits in a set of a report.
fn paths<'r>(report: &'r Json, set: &Json) -> Vec<&'r str> {
    let sets = report["edit_sets"].as_array().unwrap();
    let set = sets.iter().find(|it| it["id"] == *set).unwrap();
    let edits = report["edits"].as_array().unwrap();
    let path = |id: &Json| edits.iter().find(|it| it["id"] == *id).unwrap()["path"].as_str();
    set["edits"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(path)
        .collect()
}

/// Each changed value of an output with the edits behind it, and whether they act together.
fn causes(report: &Json, name: &str) -> BTreeSet<String> {
    let outputs = report["outputs"].as_array().unwrap().iter();
    let mut lines = BTreeSet::new();
    for output in outputs.filter(|it| it["document"]["name"] == name) {
        let groups = report["groups"].as_array().unwrap();
        let group = groups
            .iter()
            .find(|it| it["id"] == output["group"])
            .unwrap();
        for (at, change) in group["changes"].as_array().unwrap().iter().enumerate() {
            let own = &output["changed_by"][at];
            let set = if own.is_null() { &output["edits"] } else { own };
            let sets = report["edit_sets"].as_array().unwrap();
            let is_joint = sets
                .iter()
                .any(|it| it["id"] == *set && it["joint"] == true);
            let together = if is_joint { " together" } else { "" };
            let path = change["path"].as_str().unwrap();
            lines.insert(format!(
                "{path}: {}{together}",
                paths(report, set).join(", ")
            ));
        }
    }
    lines
}

/// Paths of the edits that have no effect, or keep an output.
fn without_change(report: &Json) -> Vec<String> {
    let edits = report["edits"].as_array().unwrap().iter();
    let edits = edits.filter(|it| it["reach"]["outputs"] == 0);
    let row = |edit: &Json| {
        let kept = edit["reach"]["kept"]["outputs"].as_u64();
        let kept = kept
            .map(|count| format!(" keeps {count}"))
            .unwrap_or_default();
        format!("{}{kept}", edit["path"].as_str().unwrap())
    };
    edits.map(row).collect()
}

/// The report of a comparison whose statements were all checked by rendering.
fn checked(sandbox: &Sandbox) -> Json {
    let ran = sandbox.run(&["diff", "HEAD", "-o", "json", "--verify-attribution"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.json()
}

fn lines(texts: &[&str]) -> BTreeSet<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn document_that_becomes_abstract_is_removed_by_that_edit_alone() {
    let sandbox = repository();
    let hidden = parent(2).replace("abstract: false", "abstract: true");
    sandbox.write("global/parent.yaml", hidden);
    std::fs::remove_file(sandbox.path("site/lab/child.yaml")).unwrap();
    sandbox.commit();
    sandbox.write("global/parent.yaml", parent(3));
    let report = checked(&sandbox);
    // The added output has the new value, so both edits made it.
    assert_eq!(
        causes(&report, "parent"),
        lines(&[".: .layeringDefinition.abstract, .values.replicas together"])
    );
    sandbox.commit();
    sandbox.write(
        "global/parent.yaml",
        parent(4).replace("abstract: false", "abstract: true"),
    );
    let report = checked(&sandbox);
    assert_eq!(
        causes(&report, "parent"),
        lines(&[".: .layeringDefinition.abstract"])
    );
    assert_eq!(without_change(&report), [".values.replicas"]);
}

#[test]
fn key_that_two_layers_remove_is_removed_by_both() {
    let sandbox = repository();
    let own = |data: &str| child().replace("{own: 1}", data);
    sandbox.write("site/lab/child.yaml", own("{values: {debug: false}}"));
    sandbox.commit();
    sandbox.write(
        "global/parent.yaml",
        parent(1).replace("    debug: true\n", ""),
    );
    sandbox.write("site/lab/child.yaml", own("{values: {}}"));
    let report = checked(&sandbox);
    let both = ".values.debug: .values.debug, .values.debug together";
    assert_eq!(causes(&report, "child"), lines(&[both]));
    assert_eq!(
        report["shields"],
        serde_json::json!([]),
        "no text of the head stops an edit"
    );
}

#[test]
fn edits_that_share_a_text_through_an_alias_are_told_apart() {
    let sandbox = repository();
    let of = |data: &str| document("aliased", "global", data);
    sandbox.write("global/aliased.yaml", of("{x: a, y: b}"));
    sandbox.commit();
    sandbox.write(
        "global/aliased.yaml",
        of("{x: &v {n: []}, y: *v, l: [*v, *v]}"),
    );
    let report = checked(&sandbox);
    let expected = [".l: .l", ".x: .x", ".y: .y"];
    assert_eq!(causes(&report, "aliased"), lines(&expected));
}

#[test]
fn items_removed_from_a_list_that_is_written_into_have_an_effect() {
    let sandbox = repository();
    let agent = |dest: &str, items: &str| {
        let text = document("agent", "global", &format!("{{arguments: [{items}]}}"));
        text.replace("  storagePolicy", &format!(
            "  substitutions:\n    - src: {{schema: example/Any/v1, name: parent, path: .values.replicas}}\n      \
             dest: {dest}\n  storagePolicy"
        ))
    };
    sandbox.write(
        "global/agent.yaml",
        agent(
            "{path: '.arguments[9]'}",
            "--cut, --keep, --freq, --dir=DIR",
        ),
    );
    sandbox.commit();
    sandbox.write(
        "global/agent.yaml",
        agent(
            "{path: .arguments, pattern: DIR, recurse: {depth: 1}}",
            "--keep, --dir=DIR",
        ),
    );
    let report = checked(&sandbox);
    assert_eq!(without_change(&report), Vec::<String>::new());
    assert!(
        causes(&report, "agent")
            .iter()
            .any(|line| line.contains(".arguments[2]")),
        "{report:#}"
    );
}

#[test]
fn edit_that_keeps_a_value_is_not_without_effect() {
    let sandbox = repository();
    sandbox.write(
        "site/lab/own.yaml",
        child()
            .replace("name: child", "name: own")
            .replace("{own: 1}", "{values: {replicas: 2}}"),
    );
    sandbox.commit();
    sandbox.write("global/parent.yaml", parent(2));
    sandbox.write(
        "site/lab/own.yaml",
        child()
            .replace("name: child", "name: own")
            .replace("{own: 1}", "{values: {}}"),
    );
    let report = checked(&sandbox);
    let edits = report["edits"].as_array().unwrap();
    assert_eq!(edits.len(), 2);
    assert_eq!(
        edits[0]["reach"]["kept"]["outputs"], 1,
        "the parent has the value now"
    );
    assert_eq!(
        without_change(&report),
        [".values.replicas"],
        "{:#}",
        edits[1]
    );
    let text = sandbox.run(&["diff", "HEAD", "-o", "concise"]).stdout;
    assert!(
        text.contains("without it, 1 other output would differ in lab"),
        "{text}"
    );
}

#[test]
fn layers_in_another_order_are_one_edit() {
    let sandbox = repository();
    let policy = std::fs::read_to_string(sandbox.path("global/policy.yaml")).unwrap();
    assert!(policy.contains("[global, type, site]"), "{policy}");
    sandbox.write(
        "global/policy.yaml",
        policy.replace("[global, type, site]", "[global, site, type]"),
    );
    let report = checked(&sandbox);
    let edits = report["edits"].as_array().unwrap();
    assert_eq!(edits.len(), 1, "{edits:#?}");
    assert_eq!(
        (&edits[0]["kind"], &edits[0]["path"]),
        (&"policy".into(), &".layerOrder".into())
    );
}

/// Every edit reaches every output that has its value, however long the lists of a report are.
#[test]
fn many_edits_of_many_outputs_are_counted_completely() {
    const EDITS: usize = 40;
    const OUTPUTS: usize = 120;
    let sandbox = Sandbox::with_sites();
    let versions = |value: &str| {
        let entries = (0..EDITS).fold(String::new(), |mut text, at| {
            write!(text, "i{at}: {value}{at}, ").expect("writing to a string succeeds");
            text
        });
        document("versions", "global", &format!("{{{entries}}}"))
    };
    let charts = (0..OUTPUTS).map(|at| {
        let text = document(&format!("c{at}"), "global", "{}");
        text.replace(
            "  storagePolicy",
            "  substitutions:\n    - src: {schema: example/Any/v1, name: versions, path: .}\n      \
             dest: {path: .images}\n  storagePolicy",
        )
    });
    sandbox.write("global/charts.yaml", charts.collect::<String>());
    sandbox.write("global/versions.yaml", versions("a"));
    sandbox.commit();
    sandbox.write("global/versions.yaml", versions("b"));
    let report = sandbox.run(&["diff", "HEAD", "-o", "json"]).json();
    let reaches: BTreeSet<String> = report["edits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["reach"]["outputs"].to_string())
        .collect();
    // In both sites.
    assert_eq!(reaches, lines(&[&(2 * (OUTPUTS + 1)).to_string()]));
    assert_eq!(report["totals"]["inert_edits"], 0);
    let gate = ["--since", "HEAD", "--max-outputs", "200"];
    let stopped = sandbox.findings(&gate);
    assert_eq!(
        stopped
            .iter()
            .filter(|it| it["rule"] == "reach-over-limit")
            .count(),
        EDITS
    );
}

/// An override behind more overrides than are followed still stops the edit.
#[test]
fn edit_behind_many_overrides_is_shielded() {
    const LAYERS: usize = 12;
    let sandbox = Sandbox::with_sites();
    let policy = std::fs::read_to_string(sandbox.path("global/policy.yaml")).unwrap();
    let layers: Vec<String> = (1..=LAYERS).map(|at| format!("l{at}")).collect();
    let order = format!("[global, {}, type, site]", layers.join(", "));
    sandbox.write(
        "global/policy.yaml",
        policy.replace("[global, type, site]", &order),
    );
    let chain = |first: usize| {
        let link = |at: usize| {
            let (layer, is_abstract) = if at == 0 {
                ("global".to_owned(), true)
            } else {
                (format!("l{at}"), at < LAYERS)
            };
            let value = if at == 0 { first } else { 100 + at };
            let parent = match at {
                0 => String::new(),
                at => format!(
                    "    parentSelector: {{is: c{}}}\n    actions: [{{method: merge, path: .}}]\n",
                    at - 1
                ),
            };
            format!(
                "---\nschema: example/Any/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: c{at}\n  \
                 labels: {{is: c{at}}}\n  storagePolicy: cleartext\n  layeringDefinition:\n    \
                 abstract: {is_abstract}\n    layer: {layer}\n{parent}data: {{x: {value}}}\n"
            )
        };
        (0..=LAYERS).map(link).collect::<String>()
    };
    sandbox.write("global/chain.yaml", chain(1));
    sandbox.commit();
    sandbox.write("global/chain.yaml", chain(2));
    let report = checked(&sandbox);
    assert_eq!(report["totals"]["inert_edits"], 0, "{report:#}");
    assert!(
        !report["edits"][0]["reach"]["shielded"].is_null(),
        "{report:#}"
    );
}

/// A list is replaced as a whole, and so is everything below the path of a `replace` action.
#[test]
fn shield_is_the_list_or_the_action_that_replaces_the_value() {
    let sandbox = repository();
    let parent_with =
        |item: &str| parent(1).replace("values:", &format!("list: [a, {item}]\n  values:"));
    sandbox.write("global/parent.yaml", parent_with("b"));
    let own_list = child().replace("{own: 1}", "{list: [a, c]}");
    sandbox.write("site/lab/child.yaml", own_list);
    sandbox.commit();
    sandbox.write("global/parent.yaml", parent_with("d"));
    let report = checked(&sandbox);
    let shield = &report["shields"][0];
    assert_eq!(
        (&shield["why"], &shield["path"]),
        (&"set-again".into(), &".list[1]".into())
    );
    let own = std::fs::read_to_string(sandbox.path("site/lab/child.yaml")).unwrap();
    let column = own.lines().last().unwrap().find("[a, c]").unwrap() + 1;
    assert_eq!(shield["by"]["column"], column, "{report:#}");

    let replaced = child()
        .replace("{own: 1}", "{values: {replicas: 7}}")
        .replace("method: merge, path: .", "method: replace, path: .values");
    sandbox.write("site/lab/child.yaml", &replaced);
    sandbox.write("global/parent.yaml", parent(1));
    sandbox.commit();
    sandbox.write("global/parent.yaml", parent(2));
    let report = checked(&sandbox);
    let reasons: Vec<&Json> = report["shields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["why"])
        .collect();
    assert_eq!(reasons, ["not-inherited"], "{report:#}");
}

#[test]
fn edit_that_gives_a_value_its_new_source_is_named_beside_a_change() {
    let sandbox = repository();
    let parent_with = |proxy: &str| {
        document("parent", "global", proxy)
            .replace("  storagePolicy", "  labels: {is: parent}\n  storagePolicy")
    };
    sandbox.write("global/parent.yaml", parent_with("{network: {proxy: 1}}"));
    sandbox.write(
        "global/addresses.yaml",
        document("addresses", "global", "{other: 1}"),
    );
    sandbox.write(
        "site/lab/child.yaml",
        child().replace("{own: 1}", "{network: {address: x}}"),
    );
    sandbox.commit();
    sandbox.write("global/parent.yaml", parent_with("{}"));
    sandbox.write(
        "global/addresses.yaml",
        document("addresses", "global", "{other: 1, vip: x}"),
    );
    let substituted = child().replace("{own: 1}", "{}").replace(
        "  storagePolicy",
        "  substitutions:\n    - src: {schema: example/Any/v1, name: addresses, path: .vip}\n      \
         dest: {path: .network.address}\n  storagePolicy",
    );
    sandbox.write("site/lab/child.yaml", substituted);
    let report = checked(&sandbox);
    let outputs = report["outputs"].as_array().unwrap();
    let output = outputs
        .iter()
        .find(|it| it["document"]["name"] == "child")
        .unwrap();
    assert!(
        paths(&report, &output["edits"]).contains(&".vip"),
        "{report:#}"
    );
}

#[test]
fn edit_without_effect_has_its_reason() {
    let sandbox = repository();
    let abstract_one = |text: String| text.replace("abstract: false", "abstract: true");
    let labelled = |text: String, label: &str| {
        text.replace(
            "  storagePolicy",
            &format!("  labels: {{is: {label}}}\n  storagePolicy"),
        )
    };
    let heir = |layer: &str, name: &str, data: &str, of: &str| {
        let text = document(name, layer, data);
        let selector = format!(
            "layer: {layer}, parentSelector: {{is: {of}}}, actions: [{{method: merge, path: .}}]"
        );
        text.replace(&format!("layer: {layer}"), &selector)
    };
    let between =
        |data: &str| abstract_one(labelled(heir("type", "between", data, "base"), "between"));
    let unused = |data: &str| abstract_one(document("unused", "global", data));
    let base = labelled(document("base", "global", "{a: 1}"), "base");
    sandbox.write("global/base.yaml", abstract_one(base));
    sandbox.write("global/unused.yaml", unused("{a: 1}"));
    sandbox.write("type/small/between.yaml", between("{b: 1}"));
    sandbox.write("type/other/stray.yaml", document("stray", "type", "{a: 1}"));
    sandbox.write(
        "site/lab/leaf.yaml",
        heir("site", "leaf", "{c: 1}", "between"),
    );
    sandbox.commit();
    sandbox.write("global/unused.yaml", unused("{a: 2}"));
    sandbox.write("type/small/between.yaml", between("{b: 1, a: 1}"));
    sandbox.write("type/other/stray.yaml", document("stray", "type", "{a: 2}"));
    sandbox.write(
        "site/lab/leaf.yaml",
        heir("site", "leaf", "{c: 1, b: 1}", "between"),
    );
    let report = checked(&sandbox);
    let reasons = report["edits"].as_array().unwrap().iter();
    let reasons: BTreeSet<(&str, Option<&str>)> = reasons
        .map(|edit| {
            (
                edit["document"]["name"].as_str().unwrap(),
                edit["idle"].as_str(),
            )
        })
        .collect();
    // A document that others inherit from may be used, even if its value changes nothing.
    let expected = [
        ("between", None),
        ("leaf", Some("same-value")),
        ("stray", Some("no-site")),
        ("unused", Some("not-used")),
    ];
    assert_eq!(reasons, expected.into(), "{report:#}");
}
