//! JUnit reports: failures, skipped cases and stable names.

use layercake::report::{FindingFilter, ReportFormat};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::made::{USUAL, finding, label, report, written};
use super::readers::{TestCase, test_cases, visible};

fn cases(findings: &[Json], listing: FindingFilter) -> Vec<TestCase> {
    test_cases(&written(
        ReportFormat::Junit,
        &report(findings, &[]),
        listing,
    ))
}

#[test]
fn errors_fail_and_other_findings_are_skipped() {
    let mut error = finding("missing-parent", "error", "no parent", "a.yaml", 4);
    error["primary"]["label"] = "selects nothing".into();
    error["related"] = vec![label("b.yaml", 9, "")].into();
    error["help"] = "do it".into();
    let warning = finding("unused-label", "warning", "w", "b.yaml", 7);
    let note = finding("stale-reference", "note", "n", "c.yaml", 1);
    let mut ignored = finding("missing-parent", "error", "known", "a.yaml", 8);
    ignored["suppressed"] =
        json!({"kind": "baseline", "file": ".baseline", "line": 3, "reason": ""});
    let listing = FindingFilter {
        ignored: true,
        ..USUAL
    };
    let cases = cases(&[error, warning, note, ignored], listing);
    let outcomes: Vec<(&str, &str, Vec<&str>)> = cases
        .iter()
        .map(|it| {
            let outcome = it.outcome.iter().flatten().map(String::as_str);
            (&*it.class, &*it.name, outcome.collect())
        })
        .collect();
    assert_eq!(
        outcomes,
        [
            ("layercake", "ran", vec![]),
            (
                "layercake.missing-parent",
                "a.yaml: no parent",
                vec![
                    "failure",
                    "error",
                    "no parent",
                    "a.yaml:4:3: selects nothing\nb.yaml:9:3\nhelp: do it"
                ]
            ),
            (
                "layercake.missing-parent",
                "a.yaml: known",
                vec![
                    "skipped",
                    "ignored error",
                    "known",
                    "a.yaml:8:3\nignored by the baseline, .baseline:3"
                ]
            ),
            (
                "layercake.stale-reference",
                "c.yaml: n",
                vec!["skipped", "note", "n", "c.yaml:1:3"]
            ),
            (
                "layercake.unused-label",
                "b.yaml: w",
                vec!["skipped", "warning", "w", "b.yaml:7:3"]
            ),
        ]
    );
}

#[test]
fn names_are_stable_and_unique() {
    let at = |line| finding("missing-parent", "error", "m", "a.yaml", line);
    let names = |lines: [usize; 3]| -> Vec<String> {
        cases(&lines.map(at), USUAL)
            .into_iter()
            .map(|case| case.name)
            .collect()
    };
    assert_eq!(
        names([1, 2, 3]),
        ["ran", "a.yaml: m", "a.yaml: m (2)", "a.yaml: m (3)"]
    );
    assert_eq!(names([1, 2, 3]), names([10, 20, 30]));
    // Names that would collide are made unique.
    let chance = finding("missing-parent", "error", "m (2)", "a.yaml", 1);
    assert_eq!(cases(&[chance, at(2), at(3)], USUAL).len(), 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// XML cannot represent every character, and some would end an element or attribute.
    #[test]
    fn any_text_reads_back_unchanged(
        texts in vec((text(), text(), text()), 1..5),
    ) {
        let findings: Vec<Json> = texts
            .iter()
            .map(|(message, file, note)| {
                let mut it = finding("missing-parent", "error", message, file, 4);
                it["notes"] = json!([note]);
                it
            })
            .collect();
        let cases = cases(&findings, USUAL);
        prop_assert_eq!(cases.len(), texts.len() + 1);
        for (case, (message, file, note)) in cases[1..].iter().zip(&texts) {
            let [_, _, shown, text] = case.outcome.as_ref().unwrap();
            prop_assert_eq!(shown, &visible(message));
            let name = format!("{}: {}", visible(file), visible(message));
            prop_assert!(case.name.starts_with(&name), "{:?}", case.name);
            prop_assert_eq!(text, &format!("{}:4:3\nnote: {}", visible(file), visible(note)));
        }
    }
}

fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        prop::sample::select(vec![
            "&",
            "<",
            ">",
            "]]>",
            "\"",
            "'",
            "<!--",
            "-->",
            "</failure>",
            "<![CDATA[",
            "&#0;",
            "\0",
            "\u{b}",
            "\u{fffe}",
            "\u{ffff}",
            "\r\n",
            "\t",
            "\u{85}",
            " ",
            "  ",
            "😀",
            "é",
        ])
        .prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ];
    vec(part, 1..8).prop_map(|parts| parts.concat())
}
