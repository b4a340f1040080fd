//! A saved report has the same output as the run itself in every format, byte for byte.

use std::collections::BTreeMap;
use std::fs;

use super::{timeless, written};
use crate::cli::{Sandbox, formats};
use crate::stories;

/// Compares the output of a run with that of its saved report.
fn assert_same(name: &str, sandbox: &Sandbox, arguments: &[&str]) {
    let (_, live) = written(sandbox, arguments);
    let file = sandbox.beside("written/json");
    let flags = ["--all-findings", "--show-ignored"];
    let flags: Vec<&str> = flags.into_iter().filter(|it| arguments.contains(it)).collect();
    let folder = sandbox.beside("saved");
    fs::create_dir_all(&folder).unwrap();
    let saved: BTreeMap<&str, String> = formats()
        .map(|format| (format, format!("{format}={}", folder.join(format).display())))
        .collect();
    let outputs = saved.values().flat_map(|output| ["-o", output.as_str()]);
    let command = ["report", file.to_str().unwrap()].into_iter().chain(flags).chain(outputs);
    let ran = sandbox.run(&command.collect::<Vec<_>>());
    assert_eq!((ran.code, &*ran.stdout, &*ran.stderr), (0, "", ""), "{name}: {arguments:?}");
    for format in formats() {
        let again = fs::read_to_string(folder.join(format)).unwrap();
        let live = nameless(format, &live[format]);
        assert_eq!(nameless(format, &again), live, "{name}: {arguments:?} -o {format}");
    }
}

/// A saved report has no data about the machine; the name of the folder, which the first line
/// shows, is replaced.
fn nameless(format: &str, text: &str) -> String {
    let text = timeless(format, text);
    let begins = |name: &str| text.strip_prefix("repository").and_then(|it| it.strip_prefix(name));
    match (format, begins(" · ").or(begins(": "))) {
        ("full" | "concise", Some(rest)) => rest.to_owned(),
        (_, _) => text,
    }
}

#[test]
fn stories_are_the_same_from_saved_reports() {
    let mut scenes = 0;
    stories::scenes(|name, sandbox| {
        assert_same(name, sandbox, &["lint", "--since", "HEAD", "--all-findings"]);
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
        assert_same(example, &sandbox, &["lint", "--select", "all", "--show-ignored"]);
        let links = "https://git.example.org/{sha}/{path}#L{line}";
        assert_same(example, &sandbox, &["lint", "--since", "HEAD", "--links", links]);
    }
}
