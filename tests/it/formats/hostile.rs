//! A repository in which every string imitates markup or a command: each format shows the strings
//! as plain text.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value as Json;

use super::readers::{annotations, issues, test_cases, visible};
use super::written;
use crate::cli::{POLICY, Sandbox, definition, document};

const TEXTS: [&str; 26] = [
    "%0A%25%0D",
    "a\nb",
    "a\rb",
    "a\u{2028}b",
    "|pipe|",
    "`tick` ``` ~~~",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "]]>",
    "@everyone",
    "::error::x",
    " ::stop-commands::t ",
    "##[error]x",
    "##vso[task.setvariable variable=x]y",
    "<!--",
    "-->",
    "](http://x)",
    "{{x}} ${{ github.token }}",
    "\u{1b}[31m",
    "\u{202e}",
    "\"q\"",
    "'q'",
    "\\back\\",
    "&amp;&#0;",
    "</failure></details>",
    "# heading, *stars*, _lines_, ~~no~~, $x$, :tada:, #1",
];

/// Formats that are printed where the CI runner may interpret lines as commands.
const PRINTED: [&str; 6] = ["full", "concise", "json", "sarif", "junit", "gitlab"];

/// Name of a file or folder.
fn component(text: &str) -> String {
    text.replace('/', "\u{2215}")
}

/// Text in quotation marks, as in JSON and YAML.
fn quoted(text: &str) -> String {
    serde_json::to_string(text)
        .unwrap()
        .replace('\u{2028}', "\\u2028")
}

/// Two documents that use one string everywhere and substitute from a missing source; a comment
/// suppresses the finding of the second.
fn documents(text: &str, value: &str) -> String {
    let (absent, text, value) = (
        quoted(&format!("absent {text}")),
        quoted(text),
        quoted(value),
    );
    let of = |name: &str, comment: &str| {
        let from = format!(
            "  name: {name}\n  labels: {{{text}: {text}}}\n  substitutions:\n    - src: {{schema: \
             example/Any/v1, name: {absent}, path: .}}{comment}\n      dest: {{path: .a}}\n"
        );
        let data = format!("{{{text}: {value}, words: x {}}}", "y ".repeat(40));
        document("NAME", "site", &data).replace("  name: NAME\n", &from)
    };
    let reason = text.trim_matches('"');
    let known = of(
        "known",
        &format!("  # layercake: ignore[missing-source] {reason}"),
    );
    of(&text, "") + &known
}

/// Repository with values that changed since the last commit.
fn repository(texts: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("global/policy.yaml", POLICY);
    sandbox.write("type/small/any.yaml", document("any", "type", "{}"));
    let write = |value_of: &dyn Fn(&str) -> String| {
        for text in texts {
            let site = component(text);
            let definition = definition("NAME", "").replace("NAME", &quoted(&site));
            sandbox.write(&format!("site/{site}/site-definition.yaml"), definition);
            sandbox.write(
                &format!("site/{site}/{text}.yaml"),
                documents(text, &value_of(text)),
            );
        }
    };
    write(&|_| "before".to_owned());
    sandbox.commit();
    write(&|text| format!("{text} {text}"));
    sandbox
}

const ARGUMENTS: [&str; 5] = [
    "lint",
    "--since",
    "HEAD",
    "--all-findings",
    "--show-ignored",
];

fn listed(report: &Json) -> Vec<&Json> {
    report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["state"] != "fixed")
        .collect()
}

#[test]
fn every_string_is_reported_verbatim() {
    let sandbox = repository(&TEXTS);
    let (ran, formats) = written(&sandbox, &ARGUMENTS);
    assert_eq!(ran.stdout, "");
    let report: Json = serde_json::from_str(&formats["json"]).unwrap();
    let listed = listed(&report);
    let text = |finding: &Json, key: &str| finding[key].as_str().unwrap().to_owned();
    let file = |finding: &Json| text(&finding["primary"], "file");
    for hostile in TEXTS {
        let path = format!("/{hostile}.yaml").replace("//", "/");
        let is_of = |it: &&&Json| file(it).ends_with(&path);
        let of: Vec<&Json> = listed.iter().filter(is_of).copied().collect();
        // A headline is one line: line breaks are escaped.
        let is_reported = |it: &&Json| {
            let message = text(it, "message");
            message.contains(hostile) || message.contains(&visible(hostile))
        };
        assert!(of.iter().any(is_reported), "{hostile:?}: {of:?}");
        let is_known = |it: &&Json| !it["suppressed"].is_null();
        assert!(
            of.iter().copied().any(|it| is_known(&it)),
            "{hostile:?}: {of:?}"
        );
    }
    let all: BTreeSet<(String, String)> = listed
        .iter()
        .map(|it| (file(it), text(it, "message")))
        .collect();
    let issues = issues(&formats["gitlab"]);
    assert_eq!(issues.len(), listed.len());
    let reported = issues
        .iter()
        .map(|it| (text(&it["location"], "path"), text(it, "description")));
    assert_eq!(reported.collect::<BTreeSet<_>>(), all);
    let cases = test_cases(&formats["junit"]);
    assert_eq!(cases.len(), listed.len() + 1);
    for (file, message) in &all {
        let name = format!("{}: {}", visible(file), visible(message));
        assert!(cases.iter().any(|case| case.name == name), "{name:?}");
    }
    let sarif: Json = serde_json::from_str(&formats["sarif"]).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), listed.len());
    // In SARIF, brackets in a message are escaped with a backslash so that they are not links.
    let bare = |text: &str| text.replace('\\', "");
    for (_, message) in &all {
        let says =
            |it: &Json, message: &str| bare(&text(&it["message"], "text")).contains(&bare(message));
        let is_reported = results
            .iter()
            .any(|it| says(it, message) || says(it, &visible(message)));
        assert!(is_reported, "{message:?}");
    }
    assert_annotated(&sandbox, &report);
}

/// GitHub accepts few annotations per step, so the report is split.
fn assert_annotated(sandbox: &Sandbox, report: &Json) {
    for some in listed(report).chunks(7) {
        let mut part = report.clone();
        part["findings"] = some.iter().map(|it| (*it).clone()).collect();
        fs::write(sandbox.beside("part.json"), part.to_string()).unwrap();
        let arguments = [
            "report",
            "../part.json",
            "--all-findings",
            "--show-ignored",
            "-o",
            "github",
        ];
        let commands = annotations(&sandbox.run(&arguments).stdout);
        for finding in some {
            let message = visible(finding["message"].as_str().unwrap());
            let file = finding["primary"]["file"].as_str().unwrap();
            let annotation = commands.iter().find(|it| {
                let is_there = it.properties.get("file").is_none_or(|it| it == file);
                it.properties["title"] == finding["rule"].as_str().unwrap()
                    && it.data.contains(&message)
                    && is_there
                    && (it.properties.contains_key("file") || it.data.contains(&visible(file)))
            });
            let is_dropped = commands
                .iter()
                .any(|it| it.properties["title"] == "omitted");
            assert!(
                annotation.is_some() || is_dropped,
                "{message:?}: {commands:?}"
            );
        }
    }
}

#[test]
fn no_log_line_is_a_command() {
    let sandbox = repository(&TEXTS);
    for arguments in [&ARGUMENTS[..], &["lint"], &["diff", "HEAD"]] {
        let (_, formats) = written(&sandbox, arguments);
        for format in PRINTED {
            let text = &formats[format];
            let is_command = |line: &&str| {
                line.trim_start().starts_with("::")
                    || line.contains("##[")
                    || line.contains("##vso[")
            };
            let commands: Vec<&str> = text.lines().filter(is_command).collect();
            assert!(
                commands.is_empty(),
                "{arguments:?} -o {format}: {commands:#?}"
            );
        }
        for (format, text) in &formats {
            let control = |it: char| it.is_control() && it != '\n';
            let line = text
                .lines()
                .find(|line| line.contains(control) || line.contains('\u{202e}'));
            assert!(line.is_none(), "{arguments:?} -o {format}: {line:?}");
        }
        annotations(&formats["github"]);
    }
    let ran = sandbox.run(&["diff", "HEAD", "--expect-unchanged", "-o", "concise"]);
    assert!(
        ran.code == 1 && ran.stdout.contains("\\x5berror]"),
        "{}",
        ran.stdout
    );
    assert!(
        !ran.stdout
            .lines()
            .any(|it| it.trim_start().starts_with("::") || it.contains("##["))
    );
}

#[test]
fn markup_is_escaped() {
    let (_, hostile) = written(&repository(&TEXTS), &ARGUMENTS);
    let (_, harmless) = written(&repository(&["harmless"]), &ARGUMENTS);
    for word in [
        "<script",
        "</script",
        "<!--",
        "<img",
        "onerror=alert(1)>",
        "</failure",
    ] {
        let times = |text: &str| text.matches(word).count();
        assert_eq!(times(&hostile["html"]), times(&harmless["html"]), "{word}");
    }
    for format in ["markdown", "comment"] {
        let text = outside_of_code(&hostile[format]);
        for word in [
            "<script",
            "<img",
            "@everyone",
            "](http://x)",
            "</failure",
            "${{",
            ":tada:",
        ] {
            let line = text.lines().find(|line| line.contains(word));
            assert!(line.is_none(), "-o {format}: {word}: {line:?}");
        }
        let comments = |text: &str| text.matches("<!--").count();
        assert_eq!(
            comments(&text),
            comments(&outside_of_code(&harmless[format])),
            "{format}"
        );
    }
}

/// Markdown outside of fences and code spans, as delimited in `CommonMark`.
fn outside_of_code(text: &str) -> String {
    let (mut outside, mut fence) = (String::new(), None::<usize>);
    for line in text.lines() {
        let ticks = line
            .trim_start()
            .chars()
            .take_while(|it| *it == '`')
            .count();
        match fence {
            Some(length) if ticks >= length && line.trim().chars().all(|it| it == '`') => {
                fence = None;
            }
            Some(_) => {}
            // A line with more backticks is a code span.
            None if ticks >= 3 && !line.trim_start()[ticks..].contains('`') => fence = Some(ticks),
            None => outside += &(outside_of_spans(line) + "\n"),
        }
    }
    assert!(fence.is_none(), "unclosed fence");
    outside
}

fn outside_of_spans(line: &str) -> String {
    let (mut outside, mut rest) = (String::new(), line);
    while let Some(at) = rest.find('`') {
        let ticks = rest[at..].chars().take_while(|it| *it == '`').count();
        let (before, after) = (&rest[..at], &rest[at + ticks..]);
        outside += before;
        rest = after;
        let mut from = 0;
        while let Some(end) = after[from..].find('`').map(|it| it + from) {
            let run = after[end..].chars().take_while(|it| *it == '`').count();
            if run == ticks {
                rest = &after[end + run..];
                break;
            }
            from = end + run;
        }
    }
    outside + rest
}
