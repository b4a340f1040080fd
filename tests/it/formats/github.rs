//! Workflow commands: their locations, the limits of GitHub, and escaping for the runner.

use layercake::report::model::read;
use layercake::report::{FindingFilter, ReportFormat};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::made::{USUAL, add_outputs, edit, finding, json_report, label, report, written};
use super::readers::{Command, annotations, visible};
use crate::cli::{POLICY, Sandbox, definition, document};

fn annotated(findings: &[Json], edits: &[Json]) -> Vec<Command> {
    annotations(&written(
        ReportFormat::Github,
        &report(findings, edits),
        USUAL,
    ))
}

/// Location at which a command is shown.
fn place(command: &Command) -> String {
    let of = |key: &str| command.properties.get(key).map_or("-", String::as_str);
    format!(
        "{}:{}:{}-{}",
        of("file"),
        of("line"),
        of("col"),
        of("endColumn")
    )
}

#[test]
fn finding_is_annotated_at_its_line() {
    let mut all = finding("missing-parent", "error", "no parent", "a.yaml", 4);
    all["primary"]["label"] = "selects nothing".into();
    all["related"] = vec![label("b.yaml", 9, "it was here")].into();
    all["notes"] = json!(["because"]);
    all["help"] = "do it".into();
    all["sites"] = json!("s3");
    let commands = annotated(&[all], &[]);
    assert_eq!(commands.len(), 1);
    assert_eq!(
        (commands[0].name.as_str(), place(&commands[0])),
        ("error", "a.yaml:4:3-7".into())
    );
    assert_eq!(commands[0].properties["title"], "missing-parent");
    assert_eq!(
        commands[0].data,
        "no parent\nselects nothing\nb.yaml:9:3: it was here\nnote: because\nhelp: do it\n\
         in all 2 sites"
    );
}

#[test]
fn locations_that_github_cannot_show_are_in_the_text() {
    let of = |label: Json| {
        let mut it = finding("missing-parent", "warning", "no parent", "a.yaml", 4);
        it["primary"] = label;
        let commands = annotated(&[it], &[]);
        let text = commands[0].data.lines().next().unwrap().to_owned();
        (place(&commands[0]), text)
    };
    let place_of_many = json!({"file": "a.yaml", "line": 4, "column": 3, "end_line": 9,
                               "end_column": 1, "label": ""});
    // GitHub shows a multi-line annotation below its last line.
    assert_eq!(
        of(place_of_many),
        ("a.yaml:4:3--".into(), "no parent".into())
    );
    let decoded = json!({"file": "a", "line": 4, "column": 3, "end_line": 4, "end_column": 9,
                         "label": "", "decoded": {"name": "a#2", "line": 7, "column": 1,
                                                  "end_line": 7, "end_column": 2}});
    assert_eq!(
        of(decoded),
        (
            "a:4:3-9".into(),
            "a:4:3 (decoded, a#2:7:1): no parent".into()
        )
    );
    // An escaped path would name another file.
    let hidden = label("a\u{1b}[31m.yaml", 4, "");
    assert_eq!(
        of(hidden),
        ("-:-:---".into(), "a\\x1b[31m.yaml:4:3: no parent".into())
    );
    assert_eq!(of(label("", 1, "")).0, "-:-:---");
}

#[test]
fn annotations_are_limited_to_those_github_keeps() {
    for (level, word) in [
        ("error", "error"),
        ("warning", "warning"),
        ("note", "notice"),
    ] {
        for count in [1, 9, 10, 11, 500] {
            let findings: Vec<Json> = (1..=count)
                .map(|at| finding("missing-parent", level, "m", "a.yaml", at))
                .collect();
            let commands = annotated(&findings, &[]);
            assert!(commands.iter().all(|it| it.name == word));
            let last = &commands.last().unwrap().data;
            let left_out = last
                .split_once(" more finding")
                .map_or(0, |it| it.0.parse().unwrap());
            let shown = commands.len() - usize::from(left_out > 0);
            assert_eq!(
                (shown + left_out, commands.len()),
                (count, count.min(10)),
                "{last}"
            );
        }
    }
    // Levels have separate limits.
    let mixed: Vec<Json> = (0..60)
        .map(|at| {
            finding(
                "missing-parent",
                ["error", "warning", "note"][at % 3],
                "m",
                "a",
                at + 1,
            )
        })
        .collect();
    assert_eq!(annotated(&mixed, &[edit("e1", "b.yaml", 3, 0)]).len(), 30);
}

#[test]
fn most_important_annotations_are_kept() {
    let mut findings: Vec<Json> = (1..=12)
        .map(|at| finding("missing-parent", "error", "old", "a.yaml", at))
        .collect();
    for old in &mut findings {
        old["state"] = "unchanged".into();
    }
    let mut new = finding("missing-parent", "error", "new", "z.yaml", 1);
    new["state"] = "new".into();
    let mut ignored = finding("missing-parent", "error", "ignored", "a.yaml", 1);
    ignored["suppressed"] =
        json!({"kind": "comment", "file": "a.yaml", "line": 2, "reason": "we know"});
    findings.extend([new, ignored]);
    let listing = FindingFilter {
        all: true,
        ignored: true,
    };
    let commands = annotations(&written(
        ReportFormat::Github,
        &report(&findings, &[]),
        listing,
    ));
    assert_eq!(commands[0].data, "new");
    assert!(commands[1].data.ends_with("also present on the base side"));
    assert!(
        commands[9].data.starts_with("4 more findings omitted"),
        "{commands:?}"
    );
    // Findings that do not fail the run are not shown as errors.
    assert_eq!(commands[10].name, "notice");
    assert!(commands[10].data.ends_with("ignored by a.yaml:2: we know"));
    // Edits are ordered by the number of changed outputs.
    let mut edits: Vec<Json> = (1..=15)
        .map(|at| edit(&format!("e{at}"), "a.yaml", at, at))
        .collect();
    for (at, edit) in edits.iter_mut().enumerate() {
        edit["after"] = json!({"text": at.to_string(), "value": at});
    }
    let mut report = json_report(&[], &edits);
    (1..=15).for_each(|at| add_outputs(&mut report, &format!("e{at}"), "s1", at));
    let read = read(&report.to_string()).unwrap();
    let commands = annotations(&written(ReportFormat::Github, &read, USUAL));
    let lines: Vec<&str> = commands
        .iter()
        .take(9)
        .map(|it| &*it.properties["line"])
        .collect();
    assert_eq!(lines, ["15", "14", "13", "12", "11", "10", "9", "8", "7"]);
    assert!(
        commands[9].data.starts_with("6 more edits omitted"),
        "{}",
        commands[9].data
    );
}

#[test]
fn edits_of_equal_values_are_one_annotation_with_both_values() {
    let mut other = edit("e3", "b.yaml", 1, 1);
    other["after"] = json!({"text": "3", "value": 3});
    let edits = [
        edit("e1", "a.yaml", 3, 1),
        edit("e2", "a.yaml", 8, 1),
        other,
    ];
    let mut all = json_report(&[], &edits);
    for edit in ["e1", "e2", "e3"] {
        add_outputs(&mut all, edit, "s1", 1);
    }
    all["shields"] = json!([{
        "edit": "e3", "why": "set-again", "path": ".a", "sites": "s2",
        "document": {"schema": "s", "layer": "site", "name": "n"},
        "by": [{"file": "c.yaml", "line": 8, "column": 1}],
    }]);
    let read = read(&all.to_string()).unwrap();
    let commands = annotations(&written(ReportFormat::Github, &read, USUAL));
    let found: Vec<(String, &str)> = commands.iter().map(|it| (place(it), &*it.data)).collect();
    assert_eq!(
        found,
        [
            (
                "a.yaml:3:5--".to_owned(),
                "versions (global)  .a and 1 more place\n- 1\n+ 2\n\
                 reaches 2 outputs in lab, from unedited files\n\
                 2 × s in lab"
            ),
            (
                "b.yaml:1:5--".to_owned(),
                "versions (global)  .a\n- 1\n+ 3\n\
                 reaches 1 output in lab, from unedited files\nn3 in lab\n\
                 shielded in prod: set again by n (site) at c.yaml:8"
            ),
        ]
    );
}

/// Repository in which an edit of one file breaks a document of another.
fn broken_elsewhere() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("global/policy.yaml", POLICY);
    sandbox.write("type/small/any.yaml", document("any", "type", "{}"));
    let labels = "  labels: {name: parent}\n  storagePolicy";
    let parent = document("parent", "global", "{a: 1}").replace("  storagePolicy", labels);
    sandbox.write("global/parent.yaml", &parent);
    for site in ["lab", "prod"] {
        sandbox.write(
            &format!("site/{site}/site-definition.yaml"),
            definition(site, ""),
        );
        let child = document("child", "site", "{b: 2}").replace(
            "layer: site}",
            "layer: site, parentSelector: {name: parent}, actions: [{method: merge, path: .}]}",
        );
        sandbox.write(&format!("site/{site}/child.yaml"), child);
    }
    sandbox.commit();
    sandbox.write(
        "global/parent.yaml",
        parent.replace("{name: parent}", "{name: other}"),
    );
    sandbox
}

#[test]
fn finding_outside_of_the_diff_is_annotated_at_its_edit() {
    let sandbox = broken_elsewhere();
    let ran = sandbox.run(&["lint", "--since", "HEAD", "-o", "github"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let commands = annotations(&ran.stdout);
    let errors: Vec<&Command> = commands.iter().filter(|it| it.name == "error").collect();
    assert_eq!(errors.len(), 1, "{commands:?}");
    assert!(
        place(errors[0]).starts_with("global/parent.yaml:6:"),
        "{errors:?}"
    );
    assert!(
        errors[0]
            .data
            .starts_with("no `example/Any/v1` in a higher layer has the labels")
    );
    for site in ["lab", "prod"] {
        let own = format!("\nsite/{site}/child.yaml:7:");
        assert!(errors[0].data.contains(&own), "{errors:?}");
    }
    // The edit is named there and not annotated again.
    assert!(
        errors[0].data.contains("parent (global)"),
        "{}",
        errors[0].data
    );
    assert!(
        commands.iter().all(|it| it.name != "notice"),
        "{commands:?}"
    );
}

#[test]
fn removed_lines_are_not_annotated() {
    let sandbox = broken_elsewhere();
    std::fs::remove_file(sandbox.path("global/parent.yaml")).unwrap();
    let ran = sandbox.run(&[
        "lint",
        "--since",
        "HEAD",
        "-o",
        "github",
        "--max-sites",
        "1",
    ]);
    let commands = annotations(&ran.stdout);
    for command in &commands {
        let file = command.properties.get("file");
        assert!(
            file.is_none_or(|file| sandbox.path(file).is_file()),
            "{command:?}"
        );
    }
    let gate = commands
        .iter()
        .find(|it| it.properties["title"] == "reach-over-limit")
        .unwrap();
    assert!(gate.data.contains("\nglobal/parent.yaml:"), "{gate:?}");
    let edit = commands.iter().find(|it| it.name == "notice").unwrap();
    assert!(edit.data.starts_with("global/parent.yaml:"), "{edit:?}");
    assert!(
        edit.data
            .contains("document parent (global) removed\nreaches "),
        "{edit:?}"
    );
    // Findings of children in existing files are at their own lines.
    assert!(
        commands
            .iter()
            .any(|it| place(it).starts_with("site/lab/child.yaml:"))
    );
}

#[test]
fn unexplained_change_is_annotated() {
    let mut all = json_report(&[], &[]);
    all["totals"]["unexplained"] = json!(1);
    let read = read(&all.to_string()).unwrap();
    let commands = annotations(&written(ReportFormat::Github, &read, USUAL));
    assert_eq!((commands.len(), commands[0].name.as_str()), (1, "warning"));
    assert!(
        commands[0]
            .data
            .starts_with("1 output changed without an edit that explains it")
    );
}

#[test]
fn messages_are_limited_to_the_length_the_runner_keeps() {
    for letter in ["x", "ä", "😀", "%"] {
        let it = finding("missing-parent", "error", &letter.repeat(9000), "a.yaml", 1);
        let commands = annotated(&[it], &[]);
        let units = commands[0].data.encode_utf16().count();
        assert!(
            (4090..=4096).contains(&units) && commands[0].data.ends_with('…'),
            "{units}"
        );
    }
}

/// Characters that could end a property, a command or a line, and text around them.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        prop::sample::select(vec![
            "%",
            "%0A",
            "%25",
            "\r",
            "\n",
            "::",
            ":",
            ",",
            "=",
            "##[error]",
            "::error::",
            "\u{1b}[0m",
            "\u{202e}",
            "]",
            ";",
            " ",
            "\u{2028}",
            "\u{85}",
            "é",
            "😀",
            "title=x",
        ])
        .prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ];
    vec(part, 1..8).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn runner_decodes_the_original_text(
        texts in vec((text(), text(), text(), text()), 1..5),
        name in text(),
    ) {
        let findings: Vec<Json> = texts
            .iter()
            .map(|(message, file, said, note)| {
                let mut it = finding("missing-parent", "error", message, file, 4);
                it["primary"]["label"] = said.as_str().into();
                it["notes"] = json!([note]);
                it
            })
            .collect();
        let mut edit = edit("e1", &texts[0].1, 9, 0);
        edit["document"]["name"] = name.as_str().into();
        let commands = annotated(&findings, &[edit]);
        prop_assert_eq!(commands.len(), texts.len());
        for (message, file, said, note) in &texts {
            let (message, note) = (visible(message), visible(note));
            let is_shown = visible(file) == *file;
            let place = if is_shown { String::new() } else { format!("{}:4:3: ", visible(file)) };
            let lines = [message, place + &visible(said), format!("note: {note}")];
            let command = commands.iter().find(|it| it.data == lines.join("\n"));
            prop_assert!(command.is_some(), "{:?} {:?}", lines, commands);
            prop_assert_eq!(command.unwrap().properties.get("file"), is_shown.then_some(file));
        }
    }
}
