//! `--site` and FILE limit the reported part of a comparison.

use super::{Sandbox, document, edits, outputs, parent, repository};

/// Edits of the parent, of a type, and of a document in each site.
fn edited() -> Sandbox {
    let sandbox = repository();
    sandbox.write("global/parent.yaml", parent(2));
    sandbox.write("type/unused/any.yaml", document("any", "type", "{a: 1}"));
    for site in ["lab", "prod"] {
        let path = format!("site/{site}/only.yaml");
        sandbox.write(
            &path,
            document("only", "site", &format!("{{of: {site}-2}}")),
        );
    }
    sandbox
}

#[test]
fn sites_limit_edits_and_outputs() {
    let sandbox = edited();
    let report = sandbox.report_of(&["lint", "--since", "HEAD"]);
    assert_eq!(report["edits"].as_array().unwrap().len(), 4);
    for verb in ["lint", "diff"] {
        let report = sandbox.report_of(&[verb, "--since", "HEAD", "--site", "prod"]);
        let expected = [
            "global/parent.yaml .values.replicas",
            "site/prod/only.yaml .of",
        ];
        assert_eq!(edits(&report), expected, "{verb}");
        assert_eq!(
            outputs(&report),
            ["prod only changed", "prod parent changed"]
        );
        let text = sandbox
            .run(&[verb, "--since", "HEAD", "--site", "prod"])
            .stdout;
        assert!(!text.contains("site/lab/"), "{text}");
        assert!(
            text.contains("edit 1  ") && text.contains("edit 2  "),
            "{text}"
        );
        assert!(!text.contains("edit 3  "), "{text}");
    }
    // The edit of the unused type affects no site.
    let report = sandbox.report_of(&["lint", "--since", "HEAD", "--site", "*"]);
    assert_eq!(report["edits"].as_array().unwrap().len(), 3);
}

#[test]
fn files_limit_edits_and_outputs() {
    let sandbox = edited();
    let since = ["lint", "--since", "HEAD"];
    let with = |files: &[&str]| sandbox.report_of(&[&since[..], files].concat());
    let report = with(&["site/lab"]);
    assert_eq!(edits(&report), ["site/lab/only.yaml .of"]);
    assert_eq!(outputs(&report), ["lab only changed"]);
    let report = with(&["global/parent.yaml", "type"]);
    assert_eq!(edits(&report)[..1], ["global/parent.yaml .values.replicas"]);
    assert_eq!(edits(&report).len(), 2);
    let reached = [
        "lab child changed",
        "lab parent changed",
        "prod parent changed",
    ];
    assert_eq!(outputs(&report), reached);
    let causes = &report["outputs"][0]["causes"];
    assert_eq!(
        causes[0]["edit"], report["edits"][0]["id"],
        "causes use the new ids"
    );
    let report = with(&["global/parent.yaml", "--site", "prod"]);
    assert_eq!(outputs(&report), ["prod parent changed"]);
    let report = with(&["global/chart.yaml"]);
    assert_eq!((edits(&report), outputs(&report)), (vec![], vec![]));
    let text = sandbox
        .run(&[&since[..], &["global/chart.yaml"]].concat())
        .stdout;
    assert!(text.contains("no edits, no output changed"), "{text}");
}

#[test]
fn edit_that_broke_a_selected_file_is_reported_with_it() {
    let sandbox = repository();
    std::fs::remove_file(sandbox.path("global/parent.yaml")).unwrap();
    sandbox.write(
        "type/small/dns.yaml",
        document("dns", "type", "{server: 10.0.0.9}"),
    );
    let report = sandbox.report_of(&["lint", "--since", "HEAD", "site/lab/child.yaml"]);
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings[0]["rule"], "missing-parent", "{findings:?}");
    assert_eq!(
        edits(&report),
        ["global/parent.yaml ."],
        "not the edit of the type"
    );
}
