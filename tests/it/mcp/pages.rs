//! Limits of definitions and answers, and the pages of large answers.

use serde_json::json;

use super::client::{MAX_PAGE, answered, page, request, whole};
use crate::cli::{Sandbox, definition, document};

/// Bytes of a token: an estimate for JSON in English.
const TOKEN: usize = 4;

#[test]
fn definitions_have_at_most_500_tokens() {
    let sandbox = Sandbox::with_sites();
    let listed = answered(&sandbox, &[request(1, "tools/list", json!({}))]);
    let text = listed[0]["result"]["tools"].to_string();
    assert!(text.len() <= 500 * TOKEN, "{} bytes: {text}", text.len());
}

/// A repository with many sites and findings, a large document, and one edit that changes everything.
fn large() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    for number in 0..24 {
        let site = format!("far-away-site-{number:03}");
        sandbox.write(
            &format!("site/{site}/site-definition.yaml"),
            definition(&site, ""),
        );
        let broken =
            crate::cli::broken().replace("name: broken", &format!("name: broken-{number}"));
        sandbox.write(&format!("site/{site}/broken.yaml"), broken);
    }
    let values: String = (0..250)
        .map(|number| format!("  \"key {number} \\\"é\\\"\": 'a value with \"quotes\" {number}'\n"))
        .collect();
    sandbox.write(
        "type/small/large.yaml",
        document("large", "type", &format!("\n{values}")),
    );
    sandbox.commit();
    sandbox.write(
        "global/chart.yaml",
        document("chart", "global", "{values: {replicas: 2}}"),
    );
    sandbox.write(
        "type/small/large.yaml",
        document(
            "large",
            "type",
            &format!("\n{}", values.replace("a value", "one value")),
        ),
    );
    sandbox
}

#[test]
fn pages_have_everything_that_the_command_line_prints() {
    assert_eq!(MAX_PAGE, 2_000 * TOKEN);
    let sandbox = large();
    let answer = whole(&sandbox, "changes", &json!({"since": "HEAD"}));
    assert!(answer.pages > 5, "{}", answer.pages);
    let printed = sandbox
        .run(&["lint", "--since", "HEAD", "-o", "json"])
        .json();
    assert_eq!(answer.facts["totals"], printed["totals"]);
    for (kind, name) in [("group", "groups"), ("edit", "edits"), ("site", "sites")] {
        let expected = printed[name].as_array().unwrap();
        assert_eq!(answer.of(kind).len(), expected.len(), "{kind}");
    }
    let answer = whole(&sandbox, "findings", &json!({}));
    let printed = sandbox.run(&["lint", "-o", "json"]).json();
    let count = printed["findings"].as_array().unwrap().len();
    assert_eq!(answer.of("finding").len(), count);
    assert!(answer.pages > 1, "{}", answer.pages);
    // One document is larger than a page.
    let answer = whole(&sandbox, "render", &json!({"site": "lab", "name": "large"}));
    let printed = sandbox
        .run(&["render", "--site", "lab", "--name", "large", "-o", "json"])
        .json();
    assert_eq!(
        answer.of("document")[0]["data"],
        printed["sites"][0]["documents"][0]["data"]
    );
    assert!(answer.pages > 1, "{}", answer.pages);
}

#[test]
fn cursor_is_of_one_answer() {
    let sandbox = large();
    let first = page(&sandbox, "findings", &json!({})).unwrap();
    let cursor = first["cursor"].as_str().unwrap().to_owned();
    assert!(page(&sandbox, "findings", &json!({"cursor": cursor})).is_ok());
    let refused = |tool: &str, arguments| {
        let error = page(&sandbox, tool, &arguments).unwrap_err();
        assert_eq!(
            error["untrusted"]["message"],
            "the cursor is not of this answer"
        );
    };
    refused("findings", json!({"cursor": cursor, "site": "lab"}));
    refused("render", json!({"cursor": cursor, "site": "lab"}));
    for wrong in ["", "1", "-", "zz-zz", "ffffffffffffffffff-1"] {
        refused("findings", json!({"cursor": wrong}));
    }
    let beyond = cursor.split_once('-').unwrap().1;
    refused("findings", json!({"cursor": format!("ffff-{beyond}")}));
    sandbox.write("site/lab/broken.yaml", crate::cli::broken());
    refused("findings", json!({"cursor": cursor}));
}
