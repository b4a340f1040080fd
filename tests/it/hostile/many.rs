//! Large numbers of cheap elements: the cost of each is independent of their number. A quadratic
//! algorithm would take minutes.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use layercake::commands::configuration::ConfigurationSource;
use layercake::commands::policy::Selectors;
use layercake::diagnostic::{Diagnostic, Label};
use layercake::fix::with_ignores;
use layercake::merge::deckhand::Semantics;
use layercake::render::flow::flow;
use layercake::render::replay::Replay;
use layercake::report::View;
use layercake::report::model::{Report, ReportInput, write};
use layercake::rules::{self, Gates};
use layercake::source::{DocKey, FileId, MemoryTree, RepoPath, Source, SourceMap, Span};
use layercake::triage::Findings;
use layercake::triage::baseline::{Baseline, BaselineEntry, Damage};
use layercake::yaml::path::Location;

use super::{MAX_DURATION, collecting, document, numbers, three_layers};
use crate::support::{check_files, check_with, compare_files, options};

/// Runs `run` in bounded time.
fn soon<T>(run: impl FnOnce() -> T) -> T {
    let (start, before) = (Instant::now(), at_work());
    let given = run();
    let at_work = at_work()
        .zip(before)
        .map(|(now, before)| now.saturating_sub(before));
    let spent = at_work.unwrap_or(start.elapsed());
    assert!(spent < MAX_DURATION, "{spent:?}");
    given
}

/// Processor time of this thread, if the system reports it; on a busy machine it is far less than
/// the elapsed time.
fn at_work() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    stat.split(' ')
        .next()?
        .parse()
        .ok()
        .map(Duration::from_nanos)
}

fn selecting(rules: &[&str]) -> Selectors {
    let select = rules.iter().map(|rule| (*rule).to_owned()).collect();
    Selectors {
        select,
        ..Selectors::default()
    }
}

/// Document with `count` keys, each on its own line.
fn keys(count: usize, line: impl Fn(usize) -> String) -> String {
    let mut data = String::from("\n");
    for at in 0..count {
        writeln!(data, "  k{at}: {}", line(at)).expect("writing to a string succeeds");
    }
    three_layers() + &document("d", "layer: site", "", &data)
}

#[test]
fn many_comments_that_each_ignore_one_finding() {
    let text = keys(20_000, |_| {
        "yes # layercake: ignore[boolean-word] it is on".to_owned()
    });
    let tree = MemoryTree::new().with("documents.yaml", text);
    let selectors = selecting(&["boolean-word", "unused-ignore"]);
    let checked = soon(|| check_with(&tree, options(Semantics::Documented), &selectors, |_| ()));
    assert_eq!(checked.findings.diagnostics.len(), 0);
    assert_eq!(checked.findings.suppressed.len(), 20_000);
}

/// One in ten is inside a block scalar, where no comment is possible.
#[test]
fn many_findings_that_each_get_a_comment() {
    let text = keys(3000, |at| {
        if at % 10 == 9 { "|\n    text" } else { "yes" }.to_owned()
    });
    let mut sources = SourceMap::new();
    let file = sources.add(Source::new(
        RepoPath::new("documents.yaml"),
        Ok(text.clone().into()),
    ));
    let rule = rules::find("boolean-word").expect("the rule exists");
    let places = text
        .match_indices("yes")
        .chain(text.match_indices(" text\n"));
    let findings: Vec<Diagnostic> = places
        .map(|(at, _)| Span::point(file, at as u32))
        .map(|at| Diagnostic::new(rule, "it is on", Label::new(at, "")))
        .collect();
    let findings: Vec<&Diagnostic> = findings.iter().collect();
    let (after, missed) = soon(|| with_ignores(sources.get(file), &findings, "why"));
    assert_eq!((findings.len(), missed), (3000, Vec::new()));
    let comment = "# layercake: ignore[boolean-word] why\n";
    assert_eq!(
        after,
        text.replace("yes\n", &format!("yes  {comment}")).replacen(
            "schema: example/",
            "# layercake: ignore-document[boolean-word] why\nschema: example/",
            1,
        )
    );
}

#[test]
fn many_entries_of_a_baseline() {
    let entry = |at: usize| BaselineEntry {
        file: RepoPath::new("documents.yaml"),
        rule: "boolean-word".to_owned(),
        document: Some(DocKey::new("s", "site", "d")),
        subject: format!(".k{at}"),
        count: 1,
        fingerprint: format!("{at:032x}"),
        span: None,
    };
    let baseline = Baseline {
        entries: (0..60_000).map(entry).collect(),
    };
    let text = baseline.to_text();
    let read = soon(|| Baseline::read(FileId::default(), &text));
    let last = read
        .expect("the written baseline can be read")
        .entries
        .pop()
        .expect("it has entries");
    assert_eq!(BaselineEntry { span: None, ..last }, entry(59_999));
    let damaged = text.replace(&format!("{:032x}", 59_999), "x");
    let Damage { line, .. } = Baseline::read(FileId::default(), &damaged).expect_err("no name");
    assert_eq!(line, 3 + 60_000);
}

#[test]
fn many_findings_on_one_long_line() {
    const COUNT: usize = 20_000;
    let item = format!("\u{e9}{}, ", "x".repeat(1000));
    let mut sources = SourceMap::new();
    let text = format!("a: b\n{}", item.repeat(COUNT));
    let file = sources.add(Source::new(RepoPath::new("a.yaml"), Ok(text.into())));
    let rule = rules::find("boolean-word").expect("the rule exists");
    let diagnostics = (0..COUNT).map(|at| {
        let start = (5 + at * item.len()) as u32;
        Diagnostic::new(
            rule,
            "it is on",
            Label::new(Span::new(file, start, start + 3), ""),
        )
    });
    let findings = Findings {
        diagnostics: diagnostics.collect(),
        ..Findings::default()
    };
    let view = View::new(&sources, &[], &[]);
    let mut json = Vec::new();
    let written = soon(|| {
        write(
            &Report::new(ReportInput::of_findings(&findings), &view),
            &mut json,
        )
    });
    written.expect("memory can be written to");
    let json = String::from_utf8(json).expect("JSON is UTF-8");
    let columns = item.chars().count();
    for at in [0, 1, 2, COUNT - 1] {
        let (column, end) = (at * columns + 1, at * columns + 3);
        assert!(json.contains(&format!("\"column\": {column},")), "{column}");
        assert!(json.contains(&format!("\"end_column\": {end},")), "{end}");
    }
}

/// The first of several parents with a label is used: each could have moved past the others.
#[test]
fn many_documents_whose_order_matters() {
    let labels: Vec<String> = (0..150).map(|at| format!("l{at}: x")).collect();
    let labels = format!("  labels: {{{}}}\n", labels.join(", "));
    let text = |last: &str| {
        let parents =
            (0..2000).map(|at| document(&format!("p{at}"), "layer: global", &labels, "1"));
        three_layers() + &parents.collect::<String>() + &document(last, "layer: site", "", "1")
    };
    let tree = |last: &str| MemoryTree::new().with("documents.yaml", text(last));
    let (base, head) = (tree("before"), tree("after"));
    let compared = soon(|| {
        let (selectors, options) = (
            selecting(&["missing-parent"]),
            options(Semantics::Documented),
        );
        compare_files(
            &base,
            &head,
            options,
            &selectors,
            &ConfigurationSource::Root,
            &Gates::default(),
        )
    });
    assert_eq!(compared.comparison.edits.len(), 1);
}

/// A thousand values with a common destination are each traced to it.
#[test]
fn one_output_with_many_values() {
    let text = three_layers() + &numbers(1) + &collecting("d", &["z"]);
    let tree = MemoryTree::new().with("documents.yaml", text);
    let checked = check_files(&tree, options(Semantics::Documented), |site| {
        let replay = Replay::new(site.graph, site.rendered);
        let sources = site
            .graph
            .outputs()
            .filter(|(_, it)| it.key.name.starts_with('s'));
        soon(|| {
            let flows = sources.map(|(doc, _)| flow(&replay, doc, &Location::root()));
            flows
                .map(|flow| flow.reached[1].location.to_string())
                .collect::<Vec<_>>()
        })
    });
    let (_, mut taken) = checked.without_taken();
    let reached = taken.pop().expect("there is one set of files");
    let expected: Vec<String> = (0..1_000).map(|at| format!(".z.k{at}")).collect();
    assert_eq!(reached, expected);
}

/// The result of each action is compared with its isolated result.
#[test]
fn many_actions_on_keys_without_a_value() {
    const COUNT: usize = 20_000;
    let lines = |value: &str| {
        (0..COUNT)
            .map(|at| format!("    k{at}: {value}\n"))
            .collect()
    };
    let data = |b: usize, lines: String| format!("\n  a: {{b: {b}}}\n  x:\n{}", lines.trim_end());
    let labels = "  labels: {l: x}\n";
    let parent = document("parent", "layer: global", labels, &data(1, lines("{c: 1}")));
    let actions = "{method: merge, path: .a}, ".repeat(COUNT);
    let layering = format!(
        "layer: site, parentSelector: {{l: x}}, actions: [{actions}{{method: merge, path: .x}}]"
    );
    let child = document("child", &layering, "", &data(2, lines("")));
    let tree = MemoryTree::new().with("documents.yaml", three_layers() + &parent + &child);
    let checked = soon(|| check_files(&tree, options(Semantics::Documented), |_| ()));
    let found = checked.findings.diagnostics.iter();
    assert_eq!(
        found.filter(|it| it.rule.name == "empty-override").count(),
        COUNT
    );
}
