//! A renamed document is one edit, and its output counts as changed.

use std::fs;

use serde_json::Value as Json;

use super::orders::edited;
use super::parts::compared;
use super::{Sandbox, document};

const DATA: &str = "{a: 1, b: 2, c: {d: [1, 2, 3]}, e: some text}";

fn with(files: &[(&str, &str, &str)]) -> Sandbox {
    let sandbox = Sandbox::with_sites();
    for (path, name, data) in files {
        sandbox.write(path, document(name, "global", data));
    }
    sandbox.commit();
    sandbox
}

/// `name status` of each output in site `lab`, followed by its earlier name.
fn outputs(report: &Json) -> Vec<String> {
    let outputs = report["outputs"].as_array().unwrap().iter();
    let row = |it: &Json| {
        let text = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
        format!(
            "{} {} {}",
            text("name"),
            text("status"),
            text("renamed_from")
        )
        .trim_end()
        .to_owned()
    };
    outputs.filter(|it| it["site"] == "lab").map(row).collect()
}

#[test]
fn renamed_document_is_one_edit_with_what_else_changed_in_it() {
    let sandbox = with(&[("global/app.yaml", "app-abc", DATA)]);
    sandbox.write(
        "global/app.yaml",
        document("app-def", "global", &DATA.replace("b: 2", "b: 3")),
    );
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        [
            r#"renamed .name: "app-abc" -> "app-def""#,
            "value .b: 2 -> 3"
        ]
    );
    assert_eq!(outputs(&report), ["app-def changed app-abc"]);
    let ran = sandbox.run(&["diff", "HEAD"]);
    assert!(
        ran.stdout.contains("document app-def (global) renamed"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("app-def (renamed from app-abc)"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .contains("2 of 12 outputs changed in all 2 sites\n"),
        "{}",
        ran.stdout
    );
}

#[test]
fn renamed_document_may_be_in_another_file() {
    let sandbox = with(&[
        ("global/app-abc.yaml", "app-abc", DATA),
        ("global/z.yaml", "z", "{z: 1}"),
    ]);
    fs::remove_file(sandbox.path("global/app-abc.yaml")).unwrap();
    sandbox.write(
        "global/zz/app-def.yaml",
        document("app-def", "global", DATA),
    );
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        [r#"renamed .name: "app-abc" -> "app-def""#]
    );
    assert_eq!(outputs(&report), ["app-def changed app-abc"]);
    // Only the name differs from the removed document.
    for glob in ["*:*:app-abc", "*:*:app-def"] {
        let ran = sandbox.run(&["diff", "HEAD", &format!("--expect-unchanged={glob}")]);
        assert_eq!(ran.code, 1, "{ran:?}");
    }
}

#[test]
fn documents_that_share_little_are_not_a_rename() {
    let sandbox = with(&[("global/app.yaml", "one", "{a: 1, b: 2, c: 3, d: 4, e: 5}")]);
    let other = document("two", "global", "{a: 1, b: 2, c: 30, d: 40, e: 50}");
    sandbox.write("global/app.yaml", other);
    assert_eq!(outputs(&compared(&sandbox)), ["one removed", "two added"]);

    // In another layer, or with another schema, it is a different document.
    let sandbox = with(&[("global/app.yaml", "one", DATA)]);
    fs::remove_file(sandbox.path("global/app.yaml")).unwrap();
    sandbox.write("site/lab/app.yaml", document("two", "site", DATA));
    assert_eq!(outputs(&compared(&sandbox)), ["one removed", "two added"]);
    fs::remove_file(sandbox.path("site/lab/app.yaml")).unwrap();
    let other = document("two", "global", DATA).replace("example/Any/v1", "example/Other/v1");
    sandbox.write("global/other.yaml", other);
    let mut found = outputs(&compared(&sandbox));
    found.sort();
    assert_eq!(found, ["one removed", "two added"]);
}

#[test]
fn rename_picks_the_most_similar_document() {
    let sandbox = with(&[
        ("global/one.yaml", "one", DATA),
        ("global/two.yaml", "two", "{x: 1, y: 2}"),
    ]);
    for file in ["one", "two"] {
        fs::remove_file(sandbox.path(&format!("global/{file}.yaml"))).unwrap();
    }
    let documents = [
        document("less", "global", &DATA.replace("1, b: 2", "10, b: 20")),
        document("most", "global", &DATA.replace("a: 1", "a: 10")),
        document("other", "global", "{x: 1, y: 3}"),
    ];
    sandbox.write("global/new.yaml", documents.concat());
    let mut found = outputs(&compared(&sandbox));
    found.sort();
    assert_eq!(
        found,
        ["less added", "most changed one", "other changed two"]
    );
}

#[test]
fn secret_document_is_matched_by_its_place_and_stays_hidden() {
    let secret =
        |name: &str, data: &str| document(name, "global", data).replace("cleartext", "encrypted");
    let sandbox = Sandbox::with_sites();
    let both = secret("one", "hidden-canary-1") + &secret("two", "hidden-canary-2");
    sandbox.write("global/secrets.yaml", both);
    sandbox.commit();
    let other = secret("one", "hidden-canary-1") + &secret("three", "hidden-canary-3");
    sandbox.write("global/secrets.yaml", other);
    let report = compared(&sandbox);
    assert_eq!(outputs(&report), ["three changed two"]);
    let text = report.to_string();
    assert!(!text.contains("canary"), "{text}");
    // Equal values in different files are not a rename either.
    fs::remove_file(sandbox.path("global/secrets.yaml")).unwrap();
    sandbox.write("global/other.yaml", secret("four", "hidden-canary-2"));
    let mut found = outputs(&compared(&sandbox));
    found.sort();
    assert_eq!(found, ["four added", "one removed", "two removed"]);
}

#[test]
fn children_of_a_renamed_document_stay_as_they_are() {
    let sandbox = super::repository();
    let renamed = super::parent(1).replace("name: parent", "name: progenitor");
    sandbox.write("global/parent.yaml", renamed);
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        [r#"renamed .name: "parent" -> "progenitor""#]
    );
    assert_eq!(outputs(&report), ["progenitor changed parent"]);
}
