//! Canary secrets: no output may contain one, a part of one, or anything that depends on its
//! length.

use layercake::diagnostic::Diagnostic;
use layercake::report::model::rendered;
use layercake::report::{DocumentOptions, RenderedDocument, SiteDocuments, TerminalStyle};
use layercake::source::{DocKey, RepoPath};
use layercake::yaml::{Key, Mapping, Node, Value};

use super::{Files, plain};

/// Secrets of different lengths and shapes; any word of them would be a leak.
const CANARIES: [&str; 5] = [
    "cnry",
    "cnry-cnry-cnry-cnry-cnry-cnry-cnry-cnry-cnry",
    "\"cnry\\tcnry\u{1b}[31mcnry\"",
    "cnry値値値cnry",
    "\t\tcnry",
];

/// All output for files with a secret in the place of `S`.
fn outputs(text: &str, secret: &str) -> Vec<String> {
    let files = Files::new(&[
        ("a.yaml", &text.replace('S', &format!("«!:{secret}»"))),
        ("b.yaml", "«z:other»: file\n"),
    ]);
    let mut finding = files.finding("a finding", "the label");
    for (name, span) in &files.places {
        if *name != 'a' {
            finding = finding.related(*span, format!("label {name}"));
        }
    }
    let mut turned = finding.clone();
    std::mem::swap(&mut turned.primary, &mut turned.related[0]);
    let all = |finding: Diagnostic| {
        [
            files.full(vec![finding.clone()], plain(80)),
            files.full(
                vec![finding.clone()],
                TerminalStyle {
                    color: true,
                    ..plain(40)
                },
            ),
            files.concise(vec![finding.clone()]),
            files.json(vec![finding]),
        ]
    };
    all(finding).into_iter().chain(all(turned)).collect()
}

#[test]
fn single_line_secret_is_never_shown() {
    let texts = [
        // The label covers the secret, is inside, before, after or around it.
        "data: «a:S»\n",
        "data: «a:S»",
        "«a:data»: S # comment\n",
        "{data: S, «a:key»: 1}\n",
        "«a:{data: S, key: 1}»\n",
        "{data: S«a:», key: «b:1»}\n",
        // Lines next to that of the label.
        "before: «a:1»\ndata: S\nafter: «b:1»\n",
        "data: S\n«a:after»: 1\n",
        "data: S\nx: 1\n«a:after»: 1\n«b:y»: «c:2»\n",
    ];
    for text in texts {
        let first = outputs(text, CANARIES[0]);
        for canary in CANARIES {
            let found = outputs(text, canary);
            for shown in &found {
                assert!(!shown.contains("cnry"), "{text:?}\n{shown}");
            }
            assert_eq!(
                found, first,
                "the output depends on the length of a secret: {text:?}"
            );
        }
        assert!(
            text.contains("x: 1") || first[0].contains("(hidden)"),
            "{}",
            first[0]
        );
    }
}

#[test]
fn label_inside_a_secret_points_to_its_start() {
    let files = Files::new(&[("a.yaml", "data: «!:cnry «a:cnry» cnry» # «b:more»\n")]);
    let finding = files.finding("inside", "here");
    assert_eq!(
        files.full(vec![finding.clone()], plain(80)),
        "error[missing-parent]: inside\n   ╭─[a.yaml:1:7]\n 1 │ data: (hidden) # more\n   \
         ·       ────┬───\n   ·           ╰── here\n   ╰────\n\n"
    );
    assert!(files.json(vec![finding]).contains("\"end_column\": 7"));
}

#[test]
fn multi_line_secret_is_never_shown() {
    let block = |lines: usize| format!("|\n{}", "  cnry cnry\n\n".repeat(lines));
    let texts = [
        "«a:data»: S",
        "data: «a:S»",
        "before: 1\n«a:data»: S",
        "«a:before»: 1\ndata: S",
        "data: S",
    ];
    for text in texts {
        for lines in [1, 2, 3, 20] {
            let inside = block(lines).replacen("cnry cnry", "cnry «b:cnry»", 1);
            let text = if text.contains('«') {
                text.to_owned()
            } else {
                format!("«a:»{text}")
            };
            let found = outputs(&text, &inside);
            let short = block(1).replacen("cnry cnry", "cnry «b:cnry»", 1);
            assert_eq!(
                found,
                outputs(&text, &short),
                "the output depends on the length of a secret: {text:?}"
            );
            for shown in found {
                assert!(!shown.contains("cnry"), "{text:?}\n{shown}");
            }
        }
    }
    // Lines around a label after the secret.
    for text in ["data: S«a:after»: 1\n", "data: S«a:»---\n«b:x»: 1\n"] {
        for shown in outputs(text, &block(3)) {
            assert!(!shown.contains("cnry"), "{text:?}\n{shown}");
        }
    }
}

#[test]
fn opaque_file_is_not_shown() {
    let mut files = Files::new(&[("a.yaml", "cnry: cnry\n«a:cnry»: [\ncnry: cnry\n")]);
    files.opaque = vec![files.at('a').file];
    for width in [30, 40, 80] {
        let finding = files.finding("not valid YAML", "here");
        assert!(!files.full(vec![finding], plain(width)).contains("cnry"));
    }
    assert_eq!(
        files.full(vec![files.finding("not valid YAML", "here")], plain(80)),
        "error[missing-parent]: not valid YAML\n   ╭─[a.yaml:2:1]\n 2 │ (not shown: may hold \
         secrets)\n   · ──────────────┬──────────────\n   ·               ╰── here\n   ╰────\n\n"
    );
}

#[test]
fn rendered_secrets_are_hidden_by_default() {
    let files = Files::new(&[("a.yaml", "«a:x»")]);
    let span = files.at('a');
    let text = |text: &str| Node::new(Value::String(text.into()), span);
    let mut inner = Mapping::new();
    inner.insert(Key::string("cnry-key", span), text("cnry"));
    let mut data = Mapping::new();
    data.insert(Key::string("public", span), text("seen"));
    data.insert(
        Key::string("secret", span),
        Node::new(Value::Mapping(inner.into()), span).into_secret(),
    );
    let document = RenderedDocument {
        key: DocKey::new("s/v1", "site", "n"),
        metadata: text("m"),
        data: Node::new(Value::Mapping(data.into()), span),
        file: RepoPath::new("a.yaml"),
        line: 1,
    };
    let sites = [SiteDocuments {
        site: Some("aiab".into()),
        documents: vec![document],
    }];
    let both = |look| {
        let (mut yaml, mut as_json) = (Vec::new(), Vec::new());
        layercake::report::documents::write(&sites, &files.view(), look, &mut yaml).unwrap();
        rendered(&sites, look, None, &mut as_json).unwrap();
        [yaml, as_json].map(|bytes| String::from_utf8(bytes).unwrap())
    };
    for text in both(DocumentOptions {
        with_origin: true,
        ..DocumentOptions::default()
    }) {
        assert!(!text.contains("cnry") && text.contains("(hidden)") && text.contains("seen"));
    }
    for text in both(DocumentOptions {
        show_secrets: true,
        ..DocumentOptions::default()
    }) {
        assert!(text.contains("cnry-key") && !text.contains("(hidden)"));
    }
}
