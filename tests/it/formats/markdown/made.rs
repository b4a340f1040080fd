//! Reports made by hand, of any size and of any text.

use layercake::report::comparison::Unchanged;
use layercake::report::json::{self, Report};
use layercake::report::{Form, Ignored, Listing, Manner};
use layercake::rules::RULES;
use serde_json::{Value as Json, json};

/// How much there is of what.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub sites: usize,
    /// Each is a document and an edit of it, with an output in each site.
    pub documents: usize,
    /// Further edits, which change nothing.
    pub inert: usize,
    pub findings: usize,
    /// Shields of each document, one a site.
    pub shields: usize,
}

impl Size {
    pub const SMALL: Self = Self { sites: 2, documents: 2, inert: 1, findings: 2, shields: 1 };
}

/// A report of a comparison, in which every text is made by `text` of a word for
/// what it is.
pub fn report(size: Size, text: &dyn Fn(&str) -> String) -> Report {
    json::read(&report_json(size, text).to_string()).unwrap()
}

pub fn report_json(size: Size, text: &dyn Fn(&str) -> String) -> Json {
    let outputs: Vec<Json> = (0..size.documents)
        .flat_map(|document| (0..size.sites).map(move |site| (document, site)))
        .map(|(document, site)| output(document, site, text))
        .collect();
    let edits = size.documents + size.inert;
    let shields = (0..size.documents).flat_map(|it| (0..size.shields).map(move |site| (it, site)));
    json!({
        "schema": "urn:layercake:report:1", "version": 1,
        "tool": {"name": "layercake", "version": "0.1.0"},
        "comparison": {
            "from": {"kind": "commit", "sha": "fca290a1b2c3d4e5f60718293a4b5c6d7e8f9012", "tree": null, "name": text("main")},
            "to": {"kind": "commit", "sha": "a1b2c3d4e5f60718293a4b5c6d7e8f9012fca290", "tree": null, "name": ""},
            "chosen_by": "since", "reason": text("reason"), "shallow": true, "edited_files": 1, "linted": true,
        },
        "links": "https://git.example.org/sites/blob/{sha}/{path}#L{line}",
        "totals": {
            "sites": size.sites, "outputs": outputs.len(), "changed": outputs.len(), "added": 0,
            "removed": 0, "broken": 0, "repaired": 0, "metadata": 0, "unexplained": 1,
            "groups": size.documents, "edits": edits, "inert_edits": size.inert, "ignored": 1,
            "accepted": 1, "added_ignores": 1,
        },
        "edits": (0..edits).map(|it| edit(it, text)).collect::<Vec<_>>(),
        "groups": (0..size.documents).map(|it| group(it, text)).collect::<Vec<_>>(),
        "outputs": outputs,
        "routes": (0..size.documents).map(|it| route(it, text)).collect::<Vec<_>>(),
        "shields": shields.map(|(edit, site)| json!({
            "edit": format!("e{}", edit + 1), "site": format!("shielded{}{site}", text("site")),
            "why": "set again",
            "by": {"file": text("shield.yaml"), "line": 9, "document": key("shield", text), "pointer": "/a"},
        })).collect::<Vec<_>>(),
        "unexplained": [{
            "site": text("site"), "schema": text("schema"), "name": text("unexplained"),
            "layer": text("layer"), "status": "changed", "group": null, "differences": 1,
        }],
        "findings": (0..size.findings).map(|it| finding(it, text)).collect::<Vec<_>>(),
        "statistics": [], "lines": [], "truncated": {"outputs": 0, "values": 0},
        "timing_ms": {"total": 1, "read": null, "parse": null, "render": null, "diff": null, "attribute": null},
    })
}

fn key(name: &str, text: &dyn Fn(&str) -> String) -> Json {
    json!({"schema": text("schema"), "layer": text("layer"), "name": text(name)})
}

fn value(value: &str) -> Json {
    json!({"text": value, "value": value})
}

fn edit(at: usize, text: &dyn Fn(&str) -> String) -> Json {
    let place = json!({"file": text("edited.yaml"), "line": at + 1, "col": 1});
    json!({
        "id": format!("e{}", at + 1), "kind": "value", "document": key("edited", text),
        "part": "data", "pointer": "/a", "path": text(".path"),
        "at": {"from": place, "to": place},
        "before": value(&text("before")), "after": {"value": {text("key"): [text("after"), 1.50, [], {}]}},
        "reach": {"outputs": 1, "indirect": 0, "sites": []}, "verified": "static",
    })
}

fn group(at: usize, text: &dyn Fn(&str) -> String) -> Json {
    let change = |pointer: String| {
        json!({
            "part": "data", "pointer": pointer, "op": "replace", "at": {"from": null, "to": null},
            "before": value("1"), "after": value("2"), "sensitive": false,
        })
    };
    json!({
        "id": format!("g{}", at + 1), "schema": text("schema"), "name": text("output"),
        "changes": [change(format!("/{}/0", text("pointer")))], "outputs": [],
    })
}

fn output(document: usize, site: usize, text: &dyn Fn(&str) -> String) -> Json {
    let number = document + 1;
    json!({
        "site": format!("{}{site}", text("site")), "schema": text("schema"),
        "name": format!("{}{document}", text("output")), "layer": text("layer"), "status": "changed",
        "group": format!("g{number}"),
        "causes": [{"edit": format!("e{number}"), "via": "substituted", "hops": 1, "route": format!("r{number}"), "joint": []}],
    })
}

fn route(at: usize, text: &dyn Fn(&str) -> String) -> Json {
    let place = |line: usize| json!({"file": text("route.yaml"), "line": line, "col": 1});
    let step = |via: &str, name: &str| {
        json!({
            "via": via, "document": key(name, text), "pointer": "/a", "file": text("route.yaml"),
            "line": at + 1, "at": [place(at + 1), place(at + 2)],
        })
    };
    let steps = [step("edited", "edited"), step("substituted", "output")];
    json!({"id": format!("r{}", at + 1), "steps": steps})
}

fn finding(at: usize, text: &dyn Fn(&str) -> String) -> Json {
    let severity = ["error", "warning", "note"][at % 3];
    json!({
        "rule": text("rule"), "severity": severity, "state": "new", "fingerprint": "0f",
        "message": text("message"), "help": text("help"), "notes": [text("note")],
        "primary": {
            "file": text("finding.yaml"), "line": at + 1, "column": 1, "end_line": at + 1,
            "end_column": 2, "label": text("label"),
        },
        "related": [], "documents": [], "sites": [text("site")], "caused_by": ["e1"],
        "suppressed": null, "fix": null,
    })
}

/// The report as Markdown.
pub fn written(form: Form, report: &Report) -> String {
    let listing = Listing { unchanged: Unchanged::Counted, ignored: Ignored::Counted };
    let mut out = Vec::new();
    form.write(report, &Manner { listing, rules: RULES }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}
