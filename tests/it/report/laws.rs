//! Properties of any findings in any text.

use layercake::diagnostic::{Diagnostic, Label};
use layercake::report::TerminalStyle;
use layercake::rules::RULES;
use layercake::source::Span;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value as Json;

use super::Files;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_finding_is_in_every_format(
        texts in vec(any_text(), 1..4),
        findings in vec((any::<prop::sample::Index>(), vec(any_place(), 1..5)), 0..6),
        secrets in vec(any_place(), 0..3),
        width in 0usize..120,
        unicode: bool,
        color: bool,
    ) {
        let mut files = Files::default();
        for (at, text) in texts.iter().enumerate() {
            files.add(&format!("file{at}.yaml"), &text.replace(['«', '»'], ""));
        }
        files.secrets = secrets.iter().map(|place| span(&files, place)).collect();
        let findings: Vec<Diagnostic> = findings
            .iter()
            .map(|(rule, places)| {
                let mut labels = places.iter().map(|place| Label::new(span(&files, place), "label"));
                let primary = labels.next().unwrap();
                let mut finding = Diagnostic::new(RULES[rule.index(RULES.len())], "the message", primary);
                finding.related = labels.collect();
                finding
            })
            .collect();
        let style = TerminalStyle { width, color, unicode, links: false };
        let full = files.full(findings.clone(), style);
        let concise = files.concise(findings.clone());
        let json: Json = serde_json::from_str(&files.json(findings.clone())).unwrap();
        prop_assert!(color || !full.contains(|it: char| it.is_control() && it != '\n'));
        prop_assert_eq!(concise.lines().count(), findings.len());
        prop_assert_eq!(json["findings"].as_array().unwrap().len(), findings.len());
        for (at, finding) in findings.iter().enumerate() {
            let path = files.sources.get(finding.primary.span.file).path().as_str();
            let is_of = |line: &str| line.starts_with(path) && line.contains(finding.rule.name);
            prop_assert!(concise.lines().any(is_of));
            prop_assert_eq!(&json["findings"][at]["rule"], finding.rule.name);
            prop_assert_eq!(&json["findings"][at]["primary"]["file"], path);
            let (rule, place) = (format!("[{}]", finding.rule.name), format!("{path}:"));
            prop_assert!(full.contains(&rule) && full.contains(&place));
        }
    }
}

/// Text that makes columns hard: tabs, wide and combining characters, line breaks of all kinds,
/// long lines.
fn any_text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("\t".to_owned()),
        Just("値e\u{301}\u{1b}[2J\u{feff}".to_owned()),
        Just("long ".repeat(60)),
        "[ -~]{0,12}",
        any::<char>().prop_map(String::from),
    ];
    vec(part, 0..12).prop_map(|parts| parts.concat())
}

type Place = (
    prop::sample::Index,
    prop::sample::Index,
    prop::sample::Index,
);

fn any_place() -> impl Strategy<Value = Place> {
    any::<Place>()
}

/// Span in some file, on character boundaries.
fn span(files: &Files, (file, left, right): &Place) -> Span {
    let all: Vec<_> = files.sources.iter().collect();
    let (file, source) = all[file.index(all.len())];
    let text = source.text();
    let bounds: Vec<usize> = (0..=text.len())
        .filter(|at| text.is_char_boundary(*at))
        .collect();
    let pick =
        |index: &prop::sample::Index| u32::try_from(bounds[index.index(bounds.len())]).unwrap();
    let (left, right) = (pick(left), pick(right));
    Span::new(file, left.min(right), left.max(right))
}
