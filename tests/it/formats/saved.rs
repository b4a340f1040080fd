//! A saved report has the same output as the run itself in every format, byte for byte.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value as Json;

use super::{timeless, written};
use crate::cli::{Sandbox, broken, document, formats};
use crate::stories;

/// Compares the output of a run with that of its saved report.
fn assert_same(name: &str, sandbox: &Sandbox, arguments: &[&str]) {
    let (_, live) = written(sandbox, arguments);
    let file = sandbox.beside("written/json");
    let flags = ["--all-findings", "--show-ignored"];
    let flags: Vec<&str> = flags
        .into_iter()
        .filter(|it| arguments.contains(it))
        .collect();
    let folder = sandbox.beside("saved");
    fs::create_dir_all(&folder).unwrap();
    let saved: BTreeMap<&str, String> = formats()
        .map(|format| {
            (
                format,
                format!("{format}={}", folder.join(format).display()),
            )
        })
        .collect();
    let outputs = saved.values().flat_map(|output| ["-o", output.as_str()]);
    let command = ["report", file.to_str().unwrap()]
        .into_iter()
        .chain(flags)
        .chain(outputs);
    let ran = sandbox.run(&command.collect::<Vec<_>>());
    let report: Json = serde_json::from_str(&live["json"]).unwrap();
    let is_complete = report["omitted_unchanged"].is_null();
    assert_eq!((ran.code, &*ran.stdout), (0, ""), "{name}: {arguments:?}");
    assert_eq!(
        ran.stderr.is_empty(),
        is_complete,
        "{name}: {arguments:?}: {}",
        ran.stderr
    );
    for format in formats().filter(|format| is_complete || *format != "sarif") {
        let again = fs::read_to_string(folder.join(format)).unwrap();
        let live = nameless(format, &live[format]);
        assert_eq!(
            nameless(format, &again),
            live,
            "{name}: {arguments:?} -o {format}"
        );
    }
}

/// A saved report has no data about the machine; the name of the folder, which the first line
/// shows, is replaced.
fn nameless(format: &str, text: &str) -> String {
    let text = timeless(format, text);
    let begins = |name: &str| {
        text.strip_prefix("repository")
            .and_then(|it| it.strip_prefix(name))
    };
    match (format, begins(" · ").or(begins(": "))) {
        ("full" | "concise", Some(rest)) => rest.to_owned(),
        (_, _) => text,
    }
}

#[test]
fn stories_are_the_same_from_saved_reports() {
    let mut scenes = 0;
    stories::scenes(|name, sandbox| {
        assert_same(
            name,
            sandbox,
            &["lint", "--since", "HEAD", "--all-findings"],
        );
        assert_same(name, sandbox, &["lint", "--since", "HEAD"]);
        assert_same(name, sandbox, &["diff", "HEAD"]);
        scenes += 1;
    });
    assert!(scenes >= 15, "{scenes}");
}

#[test]
fn examples_are_the_same_from_saved_reports() {
    for example in ["sites", "cloud-init"] {
        let sandbox = stories::of_example(example);
        assert_same(example, &sandbox, &["lint"]);
        assert_same(
            example,
            &sandbox,
            &["lint", "--select", "all", "--show-ignored"],
        );
        let links = "https://git.example.org/{sha}/{path}#L{line}";
        assert_same(
            example,
            &sandbox,
            &["lint", "--since", "HEAD", "--links", links],
        );
    }
}

#[test]
fn unchanged_findings_are_saved_on_request() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    sandbox.write(
        "site/lab/next.yaml",
        broken().replace("broken", "next").replace("nowhere", "no"),
    );
    sandbox.commit();
    sandbox.break_site("prod");
    // Unchanged findings are counted only in sites that an edit can reach.
    sandbox.write("site/lab/only.yaml", document("only", "site", "{of: all}"));
    let lint = ["lint", "--since", "HEAD", "-o", "json=saved.json"];
    let all = [&lint[..], &["--all-findings"]].concat();
    let saved = |arguments: &[&str]| -> Json {
        assert_eq!(sandbox.run(arguments).code, 1, "{arguments:?}");
        serde_json::from_str(&fs::read_to_string(sandbox.path("saved.json")).unwrap()).unwrap()
    };
    let report = |arguments: &[&str]| sandbox.run(&[&["report", "saved.json"], arguments].concat());
    let files = |report: &Json, list: &str, file: &str| -> Vec<String> {
        let list = report[list].as_array().unwrap().iter();
        list.map(|it| it.pointer(file).unwrap().as_str().unwrap().to_owned())
            .collect()
    };

    let complete = saved(&all);
    let known = [
        "site/lab/broken.yaml",
        "site/lab/next.yaml",
        "site/prod/broken.yaml",
    ];
    assert_eq!(files(&complete, "findings", "/primary/file"), known);
    assert_eq!(files(&complete, "lines", "/file").len(), 3);
    assert_eq!(complete["omitted_unchanged"], Json::Null);
    let listed = report(&["--all-findings", "-o", "concise"]);
    assert_eq!((listed.code, listed.stderr.as_str()), (0, ""), "{listed:?}");
    assert!(listed.stdout.contains("site/lab/broken.yaml"), "{listed:?}");

    let without = saved(&lint);
    assert_eq!(files(&without, "findings", "/primary/file"), known[2..]);
    assert_eq!(files(&without, "lines", "/file"), known[2..]);
    assert_eq!(without["lines"][0]["lines"], complete["lines"][2]["lines"]);
    assert_eq!(without["omitted_unchanged"], 2);
    for figures in ["totals", "statistics"] {
        assert_eq!(without[figures], complete[figures], "{figures}");
    }
    let listed = report(&["-o", "full"]);
    assert_eq!((listed.code, listed.stderr.as_str()), (0, ""), "{listed:?}");
    assert!(
        listed
            .stdout
            .contains("2 unchanged findings (--all-findings)"),
        "{listed:?}"
    );
    let why = "the report `saved.json` was saved without its 2 unchanged findings";
    let help = "  help: save it with `layercake lint --all-findings --output json=FILE`\n";
    for format in ["full", "html=new.html", "json"] {
        let refused = report(&["--all-findings", "-o", format]);
        let error = format!("error: {why}\n{help}");
        assert_eq!(
            (refused.code, refused.stdout.as_str(), refused.stderr),
            (2, "", error)
        );
    }
    let sarif = report(&["-o", "sarif"]);
    assert_eq!(sarif.code, 0);
    assert_eq!(
        sarif.stderr,
        format!("warning: {why}, which `sarif` lists\n{help}")
    );
    let notice = "2 unchanged findings omitted from this file: the report was saved without them";
    let log = sarif.json();
    let notification = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"][0];
    assert_eq!(notification["message"]["text"], notice);
}
