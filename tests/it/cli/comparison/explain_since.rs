//! `explain-value ... --since REV` shows the old provenance beside the new one.

use super::{Sandbox, child, document, parent, repository};

const REPLICAS: [&str; 5] = [
    "explain-value",
    "lab",
    "example/Any/v1",
    "child",
    ".values.replicas",
];

fn since(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let ran = sandbox.run(&[arguments, &["--since", "main"]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let id = &sandbox.id("main")[..10];
    ran.stdout.replace(id, "1234abcd12")
}

#[test]
fn edited_value_is_shown_with_its_edit() {
    let sandbox = repository();
    sandbox.write("global/parent.yaml", parent(2));
    assert_eq!(
        since(&sandbox, &REPLICAS),
        "at main (merge base 1234abcd12)

1
set at global/parent.yaml:11

 #  layer   document  step and location
 1  global  parent    literal
            global/parent.yaml:11
 2  site    child     parent parent, action merge .
            site/lab/child.yaml:10, :11
            own data has no such key

now

2
set at global/parent.yaml:11

 #  layer   document  step and location
 1  global  parent    literal
            global/parent.yaml:11
 2  site    child     parent parent, action merge .
            site/lab/child.yaml:10, :11
            own data has no such key

changed by global/parent.yaml:11  parent (global)  .values.replicas
"
    );
}

#[test]
fn equal_value_is_reported_as_the_same() {
    let sandbox = repository();
    sandbox.write(
        "type/small/dns.yaml",
        document("dns", "type", "{server: 10.0.0.9}"),
    );
    let printed = since(&sandbox, &REPLICAS);
    assert!(printed.ends_with("\nthe same on both sides\n"), "{printed}");
    // The same value, now set by the child itself.
    let own = child().replace("{own: 1}", "{own: 1, values: {replicas: 1}}");
    sandbox.write("site/lab/child.yaml", own);
    let printed = since(&sandbox, &REPLICAS);
    assert!(
        printed.ends_with("\nthe same value on both sides, with different provenance\n"),
        "{printed}"
    );
}

#[test]
fn value_may_be_on_one_side_only() {
    let sandbox = repository();
    sandbox.write(
        "global/parent.yaml",
        parent(1).replace("    replicas: 1\n", ""),
    );
    let printed = since(&sandbox, &REPLICAS);
    assert!(
        printed.contains("\nnow\n\nno value at `.values.replicas` of"),
        "{printed}"
    );
    assert!(
        printed.contains("changed by global/parent.yaml:"),
        "{printed}"
    );
    sandbox.write("global/parent.yaml", parent(1));
    sandbox.write(
        "site/new/site-definition.yaml",
        super::super::definition("new", ""),
    );
    let new = [
        "explain-value",
        "new",
        "example/Any/v1",
        "parent",
        ".values.replicas",
    ];
    let printed = since(&sandbox, &new);
    assert!(
        printed.contains("(merge base 1234abcd12)\n\nsite `new` not found\n"),
        "{printed}"
    );
    assert!(
        printed.contains("changed by site/new/site-definition.yaml:"),
        "{printed}"
    );
    let ran = sandbox.run(&[
        "explain-value",
        "lab",
        "example/Any/v1",
        "child",
        ".nowhere",
        "--since",
        "main",
    ]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(
        ran.stderr.contains("no value at `.nowhere`"),
        "{}",
        ran.stderr
    );
    let ran = sandbox.run(&[
        "explain-value",
        "laab",
        "example/Any/v1",
        "child",
        ".own",
        "--since",
        "main",
    ]);
    assert!(ran.stderr.contains("did you mean `lab`?"), "{}", ran.stderr);
}

#[test]
fn changed_parent_is_named_as_the_cause() {
    let sandbox = repository();
    let other = parent(5)
        .replace("name: parent", "name: other")
        .replace("is: parent", "is: other");
    sandbox.write("global/other.yaml", other);
    sandbox.write(
        "site/lab/child.yaml",
        child().replace("{is: parent}", "{is: other}"),
    );
    let printed = since(&sandbox, &REPLICAS);
    assert!(printed.contains("changed by"), "{printed}");
    assert!(
        printed.contains("site/lab/child.yaml:10  child (site)  metadata"),
        "{printed}"
    );
    let ran = sandbox.run(&[&REPLICAS[..], &["--since", "main", "-o", "json"]].concat());
    let report = ran.json();
    assert_eq!(report["same"], false);
    assert_eq!(report["base"]["way"]["value"], 1);
    assert_eq!(report["head"]["way"]["value"], 5);
    let names: Vec<&str> = report["edits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edit| edit["document"]["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"child") && names.contains(&"other"),
        "{report}"
    );
}

#[test]
fn since_uses_the_merge_base_by_default() {
    let sandbox = repository();
    sandbox.git(&["checkout", "--quiet", "-b", "topic"]);
    sandbox.write(
        "type/small/dns.yaml",
        document("dns", "type", "{server: 10.0.0.9}"),
    );
    sandbox.commit();
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.write("global/parent.yaml", parent(2));
    sandbox.commit();
    sandbox.git(&["checkout", "--quiet", "topic"]);
    let printed = since(&sandbox, &REPLICAS);
    assert!(printed.ends_with("\nthe same on both sides\n"), "{printed}");
    let printed = since(&sandbox, &[&REPLICAS[..], &["--no-merge-base"]].concat());
    assert!(
        printed.starts_with("at main (1234abcd12)\n\n2\n"),
        "{printed}"
    );
}
