//! Generated reports of any size and with any text.

use layercake::report::model::{Report, read};
use layercake::report::{FindingFilter, FormatOptions, ReportFormat};
use layercake::rules::RULES;
use serde_json::{Value as Json, json};

/// Numbers of elements.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub sites: usize,
    /// Each is a document and an edit of it, with an output in each site.
    pub documents: usize,
    /// Further edits, which change nothing.
    pub inert: usize,
    pub findings: usize,
    /// Shields per document, each in its own site.
    pub shields: usize,
}

impl Size {
    pub const SMALL: Self = Self {
        sites: 2,
        documents: 2,
        inert: 1,
        findings: 2,
        shields: 1,
    };
}

/// Report of a comparison; `text` makes every string from a word for its role.
pub fn report(size: Size, text: &dyn Fn(&str) -> String) -> Report {
    read(&report_json(size, text).to_string()).unwrap()
}

pub fn report_json(size: Size, text: &dyn Fn(&str) -> String) -> Json {
    let edits = size.documents + size.inert;
    let shields = (0..size.documents).flat_map(|it| (0..size.shields).map(move |site| (it, site)));
    let changed = size.sites * size.documents;
    let site = |name: String, became: &str| json!({"name": name, "type": null, "base": 9, "head": 9, became: 1});
    let sites = (0..size.sites).map(|at| site(format!("{}{at}", text("site")), "changed"));
    let shielded = |at| site(format!("shielded{}{at}", text("site")), "shielded");
    let shielded = (0..size.shields).map(shielded);
    let one = |at: usize| json!({"id": format!("s{}", at + 2), "sites": [size.sites + at]});
    let all = json!({"id": "s1", "sites": (0..size.sites).collect::<Vec<_>>()});
    let none = json!({"errors": 0, "warnings": 0, "notes": 0});
    json!({
        "schema": "urn:layercake:report:2", "version": 2,
        "tool": {"name": "layercake", "version": "0.1.0"},
        "verdict": {"outcome": "failed", "fail_on": "error", "judges": "new-findings"},
        "repository": {"name": text("repository"), "branch": text("branch")},
        "comparison": {
            "base": {"kind": "commit", "commit": "fca290a1b2c3d4e5f60718293a4b5c6d7e8f9012", "tree": null, "date": null, "name": text("main")},
            "head": {"kind": "commit", "commit": "a1b2c3d4e5f60718293a4b5c6d7e8f9012fca290", "tree": null, "date": null, "name": ""},
            "chosen_by": "since", "reason": text("reason"), "shallow": true, "edited_files": 1,
            "limited": false, "linted": true, "added_ignores": 1,
        },
        "semantics": {"meaning": "deckhand", "chosen_by": "configuration"},
        "links": "https://git.example.org/sites/blob/{sha}/{path}#L{line}",
        "totals": {
            "sites": size.sites + size.shields, "refused_sites": 0, "documents": null,
            "outputs": changed, "edits": edits, "inert_edits": size.inert,
            "changed_sites": size.sites, "changed_outputs": changed, "untouched_outputs": changed,
            "by_status": {"changed": changed, "added": 0, "removed": 0, "broken": 0, "repaired": 0,
                          "metadata": 0, "not_comparable": 0},
            "unexplained": 1, "shielded_sites": size.shields, "findings": none, "fixable": 0,
            "unchanged": none, "fixed": 0, "ignored": 1, "accepted": 1,
        },
        "sites": sites.chain(shielded).collect::<Vec<_>>(),
        "site_sets": std::iter::once(all).chain((0..size.shields).map(one)).collect::<Vec<_>>(),
        "edits": (0..edits).map(|it| edit(it, text)).collect::<Vec<_>>(),
        "edit_sets": (0..size.documents).map(|it| json!({
            "id": format!("c{}", it + 1), "edits": [format!("e{}", it + 1)],
        })).collect::<Vec<_>>(),
        "groups": (0..size.documents).map(|it| group(it, size, text)).collect::<Vec<_>>(),
        "outputs": (0..size.documents).map(|it| output(it, text)).collect::<Vec<_>>(),
        "routes": (0..size.documents).map(|it| route(it, text)).collect::<Vec<_>>(),
        "shields": shields.map(|(edit, site)| json!({
            "edit": format!("e{}", edit + 1), "sites": format!("s{}", site + 2),
            "why": "set-again", "document": key("shield", text), "path": ".a",
            "by": [{"file": text("shield.yaml"), "line": 9, "column": 1}],
        })).collect::<Vec<_>>(),
        "findings": (0..size.findings).map(|it| finding(it, text)).collect::<Vec<_>>(),
        "statistics": [], "lines": [],
        "truncated": {"outputs": 0, "causes": 0, "shields": 0, "values": 0},
        "timing_ms": {"total": 1},
    })
}

fn key(name: &str, text: &dyn Fn(&str) -> String) -> Json {
    json!({"schema": text("schema"), "layer": text("layer"), "name": text(name)})
}

fn value(value: &str) -> Json {
    json!({"text": value, "value": value})
}

fn edit(at: usize, text: &dyn Fn(&str) -> String) -> Json {
    let place = json!({"file": text("edited.yaml"), "line": at + 1, "column": 1});
    json!({
        "id": format!("e{}", at + 1), "kind": "value", "document": key("edited", text),
        "part": "data", "pointer": "/a", "path": text(".path"),
        "at": {"base": place, "head": place},
        "before": value(&format!("{}{at}", text("before"))),
        "after": {"value": {text("key"): [text("after"), 1.50, [], {}]}},
        "reach": {"outputs": 1, "untouched": 0, "sites": "s1"}, "proof": "followed",
    })
}

fn group(at: usize, size: Size, text: &dyn Fn(&str) -> String) -> Json {
    let change = json!({
        "part": "data", "pointer": "/a/0", "path": text(".changed"),
        "at": {"base": null, "head": null}, "before": value("1"), "after": value("2"),
    });
    json!({
        "id": format!("g{}", at + 1), "schema": text("schema"),
        "name": format!("{}{at}", text("output")), "status": "changed", "outputs": size.sites,
        "sites": "s1", "changes": [change],
    })
}

/// The first output is not explained by a single edit.
fn output(document: usize, text: &dyn Fn(&str) -> String) -> Json {
    let number = document + 1;
    let name = format!("{}{document}", text("output"));
    json!({
        "document": {"schema": text("schema"), "layer": text("layer"), "name": name},
        "status": "changed", "group": format!("g{number}"), "sites": "s1",
        "edits": format!("c{number}"),
        "causes": [{"edit": format!("e{number}"), "via": "substituted", "hops": 1, "route": format!("r{number}"), "joint": []}],
        "unexplained": document == 0,
    })
}

fn route(at: usize, text: &dyn Fn(&str) -> String) -> Json {
    let place = |line: usize| json!({"file": text("route.yaml"), "line": line, "column": 1});
    let step = |via: &str, name: &str| {
        json!({
            "via": via, "document": key(name, text), "path": ".a",
            "at": [place(at + 1), place(at + 2)],
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
            "end_column": 2, "label": text("label"), "text": null,
        },
        "related": [], "documents": [], "sites": "s1", "caused_by": ["e1"],
        "suppressed": null, "fix": null, "count": 1,
    })
}

/// The report as Markdown.
pub fn written(form: ReportFormat, report: &Report) -> String {
    let mut out = Vec::new();
    form.write(
        report,
        &FormatOptions {
            listing: FindingFilter::default(),
            rules: RULES,
        },
        &mut out,
    )
    .unwrap();
    String::from_utf8(out).unwrap()
}
