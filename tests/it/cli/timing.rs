//! `--timing`: the time of each stage of a run, on standard error, without a change of other
//! output.

use serde_json::Value as Json;

use super::{Sandbox, document};

/// Verbs that read documents, with arguments that make them do it.
const VERBS: [&[&str]; 8] = [
    &["lint"],
    &["lint", "-o", "json"],
    &["lint", "--since", "HEAD~1"],
    &["diff", "HEAD~1"],
    &["diff", "HEAD~1", "-o", "json"],
    &["render"],
    &["impact", "global/chart.yaml"],
    &["sites"],
];

/// Two sites, a fault, and an edit in the last commit that reaches both sites.
fn edited() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    sandbox.commit();
    sandbox.write(
        "global/chart.yaml",
        document("chart", "global", "{values: {replicas: 2}}"),
    );
    sandbox.commit();
    sandbox
}

#[test]
fn timing_goes_to_standard_error_and_changes_nothing_else() {
    let sandbox = edited();
    for verb in VERBS {
        let plain = sandbox.run(verb);
        let timed = [verb, &["--timing"]].concat();
        assert_eq!(
            without_times(&printed(&sandbox, &timed)),
            without_times(&printed(&sandbox, verb)),
            "{verb:?}"
        );
        let timed = sandbox.run(&timed);
        assert_eq!(timed.code, plain.code, "{verb:?}");
        let table = timed.stderr.strip_prefix(&plain.stderr);
        let table =
            table.unwrap_or_else(|| panic!("{verb:?}: the other output is unchanged: {timed:?}"));
        let rows = rows(table);
        assert!(
            table.starts_with("timing: ") && !plain.stderr.contains("timing: "),
            "{table}"
        );
        assert!(
            table.lines().all(|line| line.chars().count() <= 80),
            "{verb:?}: {table}"
        );
        for stage in ["start", "read", "parse", "relate", "render", "report"] {
            assert!(
                rows.iter().any(|row| row.0 == stage),
                "{verb:?} has {stage}: {table}"
            );
        }
        let compares = rows.iter().any(|row| row.0 == "differ");
        assert_eq!(
            compares,
            verb.join(" ").contains("HEAD~1"),
            "{verb:?}: {table}"
        );
    }
}

/// Output of a run, unchanged.
fn printed(sandbox: &Sandbox, arguments: &[&str]) -> String {
    String::from_utf8(sandbox.command(arguments).output().unwrap().stdout).unwrap()
}

/// Removes what differs from run to run.
fn without_times(text: &str) -> String {
    let until_timing = text.split("\"timing_ms\": {").next().unwrap();
    let is_time = |word: &str| {
        word.strip_suffix('s')
            .is_some_and(|it| it.parse::<f64>().is_ok())
    };
    let words = until_timing.split_inclusive(char::is_whitespace);
    words.filter(|word| !is_time(word.trim())).collect()
}

/// Rows of a table, each with the elapsed time and the time of all threads, in milliseconds.
fn rows(table: &str) -> Vec<(String, Vec<f64>)> {
    let stages = table
        .lines()
        .skip(2)
        .filter(|line| !line.starts_with("    "));
    let stages = stages.filter_map(|line| line.strip_prefix("  "));
    stages
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let times = words.windows(2).filter_map(|pair| match pair {
                [figure, "ms"] => Some(figure.parse().unwrap()),
                [figure, "s"] => Some(figure.parse::<f64>().unwrap() * 1e3),
                _ => None,
            });
            (words[0].to_owned(), times.collect())
        })
        .collect()
}

/// The stages add up to the elapsed time, and their counts match the repository.
#[test]
fn stages_add_up_to_the_whole_run() {
    let sandbox = edited();
    let ran = sandbox.run(&["lint", "--since", "HEAD~1", "--timing"]);
    let rows = rows(&ran.stderr);
    let (all, stages) = rows.split_last().unwrap();
    assert_eq!(all.0, "all");
    let passed: f64 = stages.iter().map(|(_, times)| times[0]).sum();
    let rounded = stages.iter().map(|_| 0.06).sum::<f64>() + all.1[0] * 0.02;
    assert!(
        (passed - all.1[0]).abs() <= rounded,
        "{passed} of {all:?}: {}",
        ran.stderr
    );
    let line = |stage: &str| {
        let stage = format!("  {stage} ");
        ran.stderr
            .lines()
            .find(|line| line.starts_with(&stage))
            .unwrap()
            .to_owned()
    };
    // 8 files, and the earlier version of the chart.
    assert!(line("read").ends_with("  9 files"), "{}", ran.stderr);
    assert!(line("parse").ends_with("  9 files"), "{}", ran.stderr);
    assert!(
        line("documents").ends_with("  9 documents"),
        "{}",
        ran.stderr
    );
    // Both sites, on both sides.
    assert!(line("relate").ends_with("  4 sites"), "{}", ran.stderr);
    assert!(line("pair").ends_with("  1 edit"), "{}", ran.stderr);
    assert!(line("differ").ends_with("  2 changes"), "{}", ran.stderr);
    let rules: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|it| it.starts_with("    "))
        .collect();
    assert!(
        rules.len() == 6 && rules[5].contains(" others "),
        "{}",
        ran.stderr
    );
}

/// Documents that a question does not concern cost nothing.
#[test]
fn verbs_render_only_documents_that_their_question_concerns() {
    let sandbox = edited();
    for number in 0..50 {
        let name = format!("other-{number}");
        sandbox.write(
            &format!("global/{name}.yaml"),
            document(&name, "global", "{a: 1}"),
        );
    }
    let value = ["example/Any/v1", "chart", ".values.replicas"];
    let explain = |more: &[&'static str]| [&["explain-value"], more, &value[..]].concat();
    let line = "global/chart.yaml:8";
    for (verb, allowed) in [
        (vec!["lint"], 50..=200),
        (vec!["graph"], 50..=200),
        (vec!["sites"], 0..=0),
        (vec!["impact", "global/chart.yaml"], 0..=0),
        (vec!["impact", line], 1..=2),
        (explain(&["prod"]), 1..=2),
        (explain(&["--all-sites"]), 1..=2),
        (explain(&["--why-not", line, "prod"]), 1..=1),
    ] {
        let ran = sandbox.run(&[&verb[..], &["--timing"]].concat());
        let row = ran.stderr.lines().find(|row| row.starts_with("  render "));
        let mut words = row
            .unwrap_or_else(|| panic!("{verb:?}: {ran:?}"))
            .split(' ')
            .rev();
        let is_counted = words.next().is_some_and(|unit| unit.starts_with("output"));
        let rendered = if is_counted {
            words.next().unwrap().parse().unwrap()
        } else {
            0
        };
        assert!(
            allowed.contains(&rendered),
            "{verb:?} renders {rendered}: {ran:?}"
        );
    }
}

#[test]
fn report_has_the_stages_on_request() {
    let sandbox = edited();
    for verb in [
        &["lint", "-o", "json"][..],
        &["diff", "HEAD~1", "-o", "json"],
    ] {
        let run = |arguments: &[&str]| -> Json {
            serde_json::from_str(&printed(&sandbox, arguments)).unwrap()
        };
        let plain = run(verb);
        let keys: Vec<&str> = plain["timing_ms"]
            .as_object()
            .unwrap()
            .keys()
            .map(|it| &**it)
            .collect();
        assert_eq!(keys, ["total"]);
        let report = run(&[verb, &["--timing"]].concat());
        let timing = &report["timing_ms"];
        let stages = timing["stages"].as_array().unwrap();
        let parse = stages.iter().find(|it| it["stage"] == "parse").unwrap();
        assert!(parse["threads"].as_f64().unwrap() > 0.0, "{parse}");
        assert_eq!(parse["unit"], "file", "{parse}");
        assert!(
            !timing["rules"].as_array().unwrap().is_empty(),
            "{timing:#}"
        );
        // The report can be read and printed again.
        let saved = sandbox.beside("timed.json");
        std::fs::write(&saved, report.to_string()).unwrap();
        assert!(sandbox.run(&["report", saved.to_str().unwrap()]).code < 2);
    }
}

#[test]
fn failing_run_is_timed_too() {
    let ran = Sandbox::with_sites().run(&["render", "--name", "nosuch", "--timing"]);
    let (error, table) = ran.stderr.split_once("timing: ").unwrap();
    assert!(
        error.starts_with("error: no rendered document has the name"),
        "{ran:?}"
    );
    assert!(ran.code == 2 && table.contains("\n  parse "), "{ran:?}");
}
