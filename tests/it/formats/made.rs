//! Reports made by hand, as `-o json` would have them.

use layercake::report::comparison::Unchanged;
use layercake::report::json::{self, Report};
use layercake::report::terminal::Totals;
use layercake::report::{Form, Ignored, Listing, Manner, View};
use layercake::rules::RULES;
use layercake::source::SourceMap;
use layercake::triage::Findings;
use serde_json::{Value as Json, json};

/// What is listed where nothing more is asked for.
pub const USUAL: Listing = Listing { unchanged: Unchanged::Counted, ignored: Ignored::Counted };

/// A report with these findings, edits, and no more.
pub fn report(findings: &[Json], edits: &[Json]) -> Report {
    json::read(&json_report(findings, edits).to_string()).unwrap()
}

pub fn json_report(findings: &[Json], edits: &[Json]) -> Json {
    let sources = SourceMap::new();
    let view = View::new(&sources, &[], &[]);
    let empty = Report::of_findings(&Findings::default(), &Totals::default(), &view);
    let mut text = Vec::new();
    json::write(&empty, &mut text).unwrap();
    let mut report: Json = serde_json::from_slice(&text).unwrap();
    report["findings"] = findings.into();
    report["edits"] = edits.into();
    report["lines"] = json!([{"id": "t1", "file": "site/lab/a.yaml", "lines": []}]);
    report
}

/// A finding at a line of a file.
pub fn finding(rule: &str, severity: &str, message: &str, file: &str, line: usize) -> Json {
    json!({
        "rule": rule, "severity": severity, "state": null, "fingerprint": "0f",
        "message": message, "help": null, "notes": [], "primary": label(file, line, ""),
        "related": [], "documents": [], "sites": [], "caused_by": [], "suppressed": null,
        "fix": null,
    })
}

pub fn label(file: &str, line: usize, text: &str) -> Json {
    json!({"file": file, "line": line, "column": 3, "end_line": line, "end_column": 7, "label": text,
        "text": "t1"})
}

/// An edit of a value at a line of the head, and how many outputs it changed.
pub fn edit(id: &str, file: &str, line: usize, outputs: usize) -> Json {
    let at = json!({"file": file, "line": line, "col": 5});
    json!({
        "id": id, "kind": "value", "part": "data", "pointer": "/a", "path": ".a",
        "document": {"schema": "example/Any/v1", "layer": "global", "name": "versions"},
        "at": {"from": at, "to": at}, "before": {"text": "1", "value": 1},
        "after": {"text": "2", "value": 2},
        "reach": {"outputs": outputs, "indirect": 0, "sites": ["lab"]}, "verified": "static",
    })
}

/// The report in a form.
pub fn written(form: Form, report: &Report, listing: Listing) -> String {
    let mut out = Vec::new();
    form.write(report, &Manner { listing, rules: RULES }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}
