//! Fixes work: after the edits of a rule, that rule has no findings, and nothing else has changed.

use layercake::check::Checked;
use layercake::commands::policy::Selectors;
use layercake::diagnostic::Diagnostic;
use layercake::merge::deckhand::Semantics;
use layercake::source::MemoryTree;

use crate::support::{check_with, options};

const POLICY: &str = "schema: deckhand/LayeringPolicy/v1\n\
     metadata: {schema: metadata/Control/v1, name: layering-policy}\n\
     data: {layerOrder: [site]}\n";

/// Text before a policy, and the text that the rule makes of it.
const STARTS: &[(&str, &str)] = &[
    ("", "---\n"),
    ("# one\n\n# two\n", "---\n# one\n\n# two\n"),
    ("# one\n---\n", "---\n# one\n"),
    ("\n# one\n--- # two\n", "---\n\n# one\n# two\n"),
    ("--- \n", "---\n"),
    ("---   # one\n", "---\n# one\n"),
    ("\u{FEFF}", "\u{FEFF}---\n"),
    ("\u{FEFF}# one\n---\t\n", "\u{FEFF}---\n# one\n"),
];

#[test]
fn fix_inserts_a_document_start() {
    for (before, expected) in STARTS {
        assert_eq!(
            fixed("missing-document-start", &format!("{before}{POLICY}")),
            format!("{expected}{POLICY}")
        );
        // With the file's own line endings.
        let with_returns = |text: &str| format!("{text}{POLICY}").replace('\n', "\r\n");
        let fixed = fixed("missing-document-start", &with_returns(before));
        assert_eq!(fixed, with_returns(expected), "{before:?}");
    }
}

#[test]
fn text_before_a_directive_has_no_fix() {
    let text = format!("%YAML 1.1\n---\n{POLICY}");
    let checked = checked("missing-document-start", &text);
    let [finding] = &checked.findings.diagnostics[..] else {
        panic!("one finding")
    };
    assert_eq!(finding.fix, None);
}

#[test]
fn fix_makes_a_secret_encrypted() {
    let secret = |policy: &str| {
        format!(
            "---\nschema: deckhand/Passphrase/v1\nmetadata:\n  schema: metadata/Document/v1\n  \
             name: password\n  storagePolicy: {policy} # as it was\n  layeringDefinition: \
             {{abstract: false, layer: site}}\ndata: correct-horse\n---\n{POLICY}"
        )
    };
    for policy in ["cleartext", "\"cleartext\"", "'cleartext'"] {
        assert_eq!(
            fixed("secret-not-encrypted", &secret(policy)),
            secret("encrypted")
        );
    }
}

/// Applies the fix of a rule to a text.
fn fixed(rule: &str, text: &str) -> String {
    let found = checked(rule, text);
    let [Diagnostic { fix: Some(fix), .. }] = &found.findings.diagnostics[..] else {
        panic!("{text:?}: not one finding with a fix")
    };
    let mut edits = fix.edits.clone();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span));
    let mut fixed = text.to_owned();
    for edit in edits {
        fixed.replace_range(edit.span.range(), &edit.text);
    }
    let left = checked(rule, &fixed).findings.diagnostics;
    assert!(left.is_empty(), "{fixed:?}: {left:?}");
    fixed
}

fn checked(rule: &str, text: &str) -> Checked<()> {
    let tree = MemoryTree::new().with("file.yaml", text);
    let selectors = Selectors {
        select: vec![rule.to_owned()],
        ..Selectors::default()
    };
    let mut checked = check_with(&tree, options(Semantics::Documented), &selectors, |_| ());
    checked
        .findings
        .diagnostics
        .retain(|finding| finding.rule.name == rule);
    checked
}
