//! Reports built by hand in the format of `-o json`.

use layercake::report::model::{Report, ReportInput, read};
use layercake::report::{FindingFilter, FormatOptions, ReportFormat, View};
use layercake::rules::RULES;
use layercake::source::SourceMap;
use layercake::triage::Findings;
use serde_json::{Value as Json, json};

use crate::support::saved;

/// Findings that are listed by default.
pub const USUAL: FindingFilter = FindingFilter {
    all: false,
    ignored: false,
};

/// Report with only these findings and edits.
pub fn report(findings: &[Json], edits: &[Json]) -> Report {
    read(&json_report(findings, edits).to_string()).unwrap()
}

/// Report as JSON: of two sites, `lab` (`s1`) and `prod` (`s2`), and both of them (`s3`).
pub fn json_report(findings: &[Json], edits: &[Json]) -> Json {
    let sources = SourceMap::new();
    let view = View::new(&sources, &[], &[]);
    let empty = Report::new(ReportInput::of_findings(&Findings::default()), &view);
    let mut report: Json = serde_json::from_str(&saved::json(&empty)).unwrap();
    let site = |name: &str| json!({"name": name, "type": null, "base": null, "head": 3});
    report["sites"] = json!([site("lab"), site("prod")]);
    report["site_sets"] = json!([
        {"id": "s1", "sites": [0]},
        {"id": "s2", "sites": [1]},
        {"id": "s3", "sites": [0, 1]},
    ]);
    report["findings"] = findings.into();
    report["edits"] = edits.into();
    report["lines"] = json!([{"id": "t1", "file": "site/lab/a.yaml", "lines": []}]);
    report
}

/// Finding at a line of a file.
pub fn finding(rule: &str, severity: &str, message: &str, file: &str, line: usize) -> Json {
    json!({
        "rule": rule, "severity": severity, "state": null, "fingerprint": "0f",
        "message": message, "help": null, "notes": [], "primary": label(file, line, ""),
        "related": [], "documents": [], "sites": null, "caused_by": [], "suppressed": null,
        "fix": null, "count": 1,
    })
}

pub fn label(file: &str, line: usize, text: &str) -> Json {
    json!({"file": file, "line": line, "column": 3, "end_line": line, "end_column": 7, "label": text,
        "text": "t1"})
}

/// Edit of a value at a line of the head, with the number of changed outputs.
pub fn edit(id: &str, file: &str, line: usize, outputs: usize) -> Json {
    let at = json!({"file": file, "line": line, "column": 5});
    json!({
        "id": id, "kind": "value", "part": "data", "pointer": "/a", "path": ".a",
        "document": {"schema": "example/Any/v1", "layer": "global", "name": "versions"},
        "at": {"base": at, "head": at}, "before": {"text": "1", "value": 1},
        "after": {"text": "2", "value": 2},
        "reach": {"outputs": outputs, "untouched": 0, "sites": "s1"}, "proof": "followed",
    })
}

/// Report in a form.
pub fn written(form: ReportFormat, report: &Report, listing: FindingFilter) -> String {
    let mut out = Vec::new();
    form.write(
        report,
        &FormatOptions {
            listing,
            rules: RULES,
        },
        &mut out,
    )
    .unwrap();
    String::from_utf8(out).unwrap()
}

/// Adds outputs that an edit changed in these sites, each with its own group and document, by the
/// route `r1`.
pub fn add_outputs(report: &mut Json, edit: &str, sites: &str, count: usize) {
    let document = |name: &str| json!({"schema": "s", "layer": "site", "name": name});
    let at = json!({"file": "a.yaml", "line": 1, "column": 1});
    let step = json!({"via": "edited", "document": document("n"), "path": null, "at": [at]});
    report["routes"] = json!([{"id": "r1", "steps": [step]}]);
    let cause = json!({"edit": edit, "via": "edited", "hops": 0, "route": "r1", "joint": []});
    let edits = format!("c{}", report["edit_sets"].as_array().unwrap().len() + 1);
    report["edit_sets"]
        .as_array_mut()
        .unwrap()
        .push(json!({"id": edits, "edits": [edit]}));
    for _ in 0..count {
        let number = report["groups"].as_array().unwrap().len() + 1;
        let (group, name) = (format!("g{number}"), format!("n{number}"));
        let output = json!({"document": document(&name), "status": "changed", "group": group,
                            "sites": sites, "edits": edits, "causes": [cause]});
        report["outputs"].as_array_mut().unwrap().push(output);
        let group = json!({"id": group, "schema": "s", "name": name, "status": "changed",
                           "outputs": 1, "sites": sites, "changes": []});
        report["groups"].as_array_mut().unwrap().push(group);
    }
}
