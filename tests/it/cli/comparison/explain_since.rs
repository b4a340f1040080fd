//! `explain-value ... --since REV`: the old way beside the new one.

use super::{Sandbox, child, document, parent, repository};

const REPLICAS: [&str; 5] = ["explain-value", "lab", "example/Any/v1", "child", ".values.replicas"];

fn since(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let ran = sandbox.run(&[arguments, &["--since", "main"]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let id = &sandbox.id("main")[..10];
    ran.stdout.replace(id, "1234abcd12")
}

#[test]
fn an_edited_value_is_told_with_its_edit() {
    let sandbox = repository();
    sandbox.write("global/parent.yaml", parent(2));
    assert_eq!(
        since(&sandbox, &REPLICAS),
        "at main (merge base 1234abcd12)

1
set at global/parent.yaml:11

 #  layer   document  step, and where
 1  global  parent    literal
            global/parent.yaml:11
 2  site    child     parent parent, action merge .
            site/lab/child.yaml:10, :11
            own data has no such key

now

2
set at global/parent.yaml:11

 #  layer   document  step, and where
 1  global  parent    literal
            global/parent.yaml:11
 2  site    child     parent parent, action merge .
            site/lab/child.yaml:10, :11
            own data has no such key

made different by global/parent.yaml:11  parent (global)  .values.replicas
"
    );
}

#[test]
fn what_is_the_same_is_said_to_be() {
    let sandbox = repository();
    sandbox.write("type/small/dns.yaml", document("dns", "type", "{server: 10.0.0.9}"));
    let told = since(&sandbox, &REPLICAS);
    assert!(told.ends_with("\nthe same on both sides\n"), "{told}");
    // The same value, which the child now sets by itself.
    let own = child().replace("{own: 1}", "{own: 1, values: {replicas: 1}}");
    sandbox.write("site/lab/child.yaml", own);
    let told = since(&sandbox, &REPLICAS);
    assert!(told.ends_with("\nthe same value on both sides, by another way\n"), "{told}");
}

#[test]
fn a_value_may_be_on_one_side_only() {
    let sandbox = repository();
    sandbox.write("global/parent.yaml", parent(1).replace("    replicas: 1\n", ""));
    let told = since(&sandbox, &REPLICAS);
    assert!(told.contains("\nnow\n\nthere is nothing at `.values.replicas` of"), "{told}");
    assert!(told.contains("made different by global/parent.yaml:"), "{told}");
    sandbox.write("global/parent.yaml", parent(1));
    sandbox.write("site/new/site-definition.yaml", super::super::definition("new", ""));
    let new = ["explain-value", "new", "example/Any/v1", "parent", ".values.replicas"];
    let told = since(&sandbox, &new);
    assert!(told.contains("(merge base 1234abcd12)\n\nthere is no site `new`\n"), "{told}");
    assert!(told.contains("made different by site/new/site-definition.yaml:"), "{told}");
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
    assert!(ran.stderr.contains("there is nothing at `.nowhere`"), "{}", ran.stderr);
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
fn another_parent_is_what_made_the_difference() {
    let sandbox = repository();
    let other = parent(5).replace("name: parent", "name: other").replace("is: parent", "is: other");
    sandbox.write("global/other.yaml", other);
    sandbox.write("site/lab/child.yaml", child().replace("{is: parent}", "{is: other}"));
    let told = since(&sandbox, &REPLICAS);
    assert!(told.contains("made different by"), "{told}");
    assert!(told.contains("site/lab/child.yaml:10  child (site)  metadata"), "{told}");
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
    assert!(names.contains(&"child") && names.contains(&"other"), "{report}");
}

#[test]
fn since_means_the_merge_base_unless_it_is_told_not_to() {
    let sandbox = repository();
    sandbox.git(&["checkout", "--quiet", "-b", "topic"]);
    sandbox.write("type/small/dns.yaml", document("dns", "type", "{server: 10.0.0.9}"));
    sandbox.commit();
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.write("global/parent.yaml", parent(2));
    sandbox.commit();
    sandbox.git(&["checkout", "--quiet", "topic"]);
    let told = since(&sandbox, &REPLICAS);
    assert!(told.ends_with("\nthe same on both sides\n"), "{told}");
    let told = since(&sandbox, &[&REPLICAS[..], &["--no-merge-base"]].concat());
    assert!(told.starts_with("at main (1234abcd12)\n\n2\n"), "{told}");
}
