//! Inputs that fuzzing found something with (`docs/fuzzing.md`), each headed by
//! what went wrong. What they break is a law, and stands in `laws`.

use layercake::config::{Vocabulary, read};
use layercake::merge::deckhand::Semantics;
use layercake::merge::pattern::{Effort, Pattern, PatternFailure, Replacement};
use layercake::report::Form;
use layercake::source::{MemoryTree, RepoPath};
use layercake::yaml::parse;

use crate::formats::made;
use crate::laws::reading::{leaves, some_file, text_reads_as};
use crate::support::{check_files, options};

/// What a scalar's span holds reads as the scalar, whatever stands around it.
fn scalars_read_as_themselves(text: &str) {
    for document in parse(some_file(), text).documents {
        leaves(&document.root, &mut |span, value| {
            assert!(text_reads_as(text, span, value), "{value:?} {:?}", &text[span.range()]);
        });
    }
}

/// The header of a block scalar was looked for in the broken document before it.
#[test]
fn a_block_scalar_after_a_broken_document() {
    for text in [
        "\0\n|\n\0 - !\0\n a\n...\n|\n",
        "[\n>\n...\n|\n",
        "\"\n> x\n...\n|\n  a\n",
        "- 1\n\0\n> ?\n...\n|\n",
    ] {
        scalars_read_as_themselves(text);
    }
}

/// SARIF lists rules by the names that are shown, and looked them up by those
/// that were saved: a name with a control character was not among them.
#[test]
fn a_saved_rule_whose_name_is_not_shown_as_it_is() {
    let findings = ["odd\u{1}rule", "missing-parent", "odd-rule"]
        .map(|rule| made::finding(rule, "error", "it is odd", "a.yaml", 1));
    let log = made::written(Form::Sarif, &made::report(&findings, &[]), made::USUAL);
    let log: serde_json::Value = serde_json::from_str(&log).unwrap();
    let rules = &log["runs"][0]["tool"]["driver"]["rules"];
    for (index, rule) in ["odd\\x01rule", "missing-parent", "odd-rule"].iter().enumerate() {
        let result = &log["runs"][0]["results"][index];
        let at = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!((&rules[at]["id"], &result["ruleId"]), (&(*rule).into(), &(*rule).into()));
    }
}

/// Each fault of a configuration has a line of its own, whatever it quotes.
#[test]
fn a_glob_with_a_line_break() {
    let text = "cloud-config:\n  - {name: a, parts: [\"type/{x/\n\n  y\"]}\n";
    let vocabulary = Vocabulary { rules: &[], formats: &[], version: "1.0.0", links: |_| Ok(()) };
    let refused = read(RepoPath::new("layercake.yaml"), text.into(), &vocabulary).unwrap_err();
    let lines: Vec<String> = refused.to_string().lines().map(str::to_owned).collect();
    assert!(lines.iter().all(|line| line.starts_with("layercake.yaml:")), "{lines:?}");
}

/// A headline is one line, whatever it quotes.
#[test]
fn a_schema_with_a_line_break() {
    let tree = MemoryTree::new().with("documents.yaml", "---\nschema: \"a\\nb\"\n");
    let checked = check_files(&tree, options(Semantics::Documented), |_| ());
    let messages: Vec<&str> =
        checked.findings.diagnostics.iter().map(|finding| &*finding.message).collect();
    assert!(messages.iter().any(|message| message.contains("a\\nb")), "{messages:?}");
    assert!(!messages.iter().any(|message| message.contains('\n')), "{messages:?}");
}

/// A search just within the limit of steps took them at every match, and at
/// every text that a substitution looks at.
#[test]
fn searches_that_are_hard_many_times() {
    let pattern = Pattern::parse(r"x|(a|aa)+\1b").expect("it is a pattern");
    let hard = format!("x{}", "a".repeat(21));
    assert!(pattern.search(&hard[1..]).is_ok(), "one of them is within the limit");
    let replaced = pattern.replace_all(&hard.repeat(2_000), Replacement::Literal(""));
    assert_eq!(replaced, Err(PatternFailure::TooManySteps));
    let mut effort = Effort::default();
    let searched = (0..2_000).find_map(|_| pattern.search_within(&hard[1..], &mut effort).err());
    assert_eq!(searched, Some(PatternFailure::TooManySteps));
    // What is easy is so however often.
    let pattern = Pattern::parse(r"(?<=a)b(?!c)").expect("it is a pattern");
    let replaced = pattern.replace_all(&"ab, ".repeat(20_000), Replacement::Literal(""));
    assert_eq!(replaced.map(|(_, count)| count), Ok(20_000));
}
