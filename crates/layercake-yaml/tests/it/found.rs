//! Texts for which fuzzing found a bug (`docs/fuzzing.md`), each headed by the bug.

use layercake_yaml::{InvalidYaml, YamlProblem, YamlProblemKind, parse};
use layercake_yaml_testing::reading::{
    leaves, libyaml_reads, reads_without_problem, some_file, text_reads_as,
};

/// Asserts that the text at a scalar's span reads as that scalar, in any surroundings.
fn scalars_read_as_themselves(text: &str) {
    for document in parse(some_file(), text).documents {
        leaves(&document.root, &mut |span, value| {
            assert!(
                text_reads_as(text, span, value),
                "{value:?} {:?}",
                &text[span.range()]
            );
        });
    }
}

/// The header of a block scalar was searched in the broken document before it.
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

/// A key over several lines that ends in colons ends before the last of them, which the law did
/// not accept.
#[test]
fn a_long_key_that_ends_in_colons() {
    scalars_read_as_themselves("[? a\n  b\t:::\n]\n");
}

/// libyaml ends lines at U+2028 and U+2029.
#[test]
fn line_separators_outside_quotes() {
    for text in [
        "?\u{2029} 3%",
        "-\u{2028}|",
        "\u{2028}\"text\"",
        "# a comment\u{2028}a: 1",
        "a: |\n  b\u{2028}  c\n",
    ] {
        assert!(reads_without_problem(&parse(some_file(), text)), "{text:?}");
    }
    let quoted = parse(
        some_file(),
        "a: [\"b\u{2028}c\", '\u{2029}d', \"\\u2028 e\"]",
    );
    assert_eq!(quoted.problems, []);
    scalars_read_as_themselves("a: [\"b\u{2028}c\", '\u{2029}d', \"\\u2028 e\"]");
}

/// The place of a missing value was inside a line break of two bytes.
#[test]
fn nothing_before_a_next_line_character() {
    let text = "l.~ :\u{85}\n( :\u{85}\n\n";
    let document = &parse(some_file(), text).documents[0];
    leaves(&document.root, &mut |span, _| {
        assert!(text.get(span.range()).is_some(), "{span:?}");
    });
}

/// The translation of libyaml counts bytes where libyaml counts characters, so a key of 500
/// letters was too long, and places were after the fault.
#[test]
fn libyaml_counts_characters() {
    let long = "\u{2d2d}".repeat(500);
    for text in [
        format!("{long}: {{b:\tc}}\n"),
        format!("{long}: 1\nb: {{c:\td}}\n"),
    ] {
        assert!(libyaml_reads(&text));
        assert_eq!(parse(some_file(), &text).problems, [], "{text:?}");
    }
    for before in [
        "",
        "# \u{e4}\u{2d2d}\u{1f600}\n",
        "\u{e4}: \u{2d2d}\r\n",
        "\u{e4}: '\u{1f600}'\n",
    ] {
        let text = format!("{before}a: 1\n: b\n");
        let problems = parse(some_file(), &text).problems;
        let [
            YamlProblem {
                span,
                kind: YamlProblemKind::Invalid(InvalidYaml::RefusedByLibyaml(_)),
            },
        ] = &problems[..]
        else {
            panic!("{text:?}: {problems:?}");
        };
        assert_eq!(text.get(span.start as usize..), Some(": b\n"), "{text:?}");
    }
}

/// An anchor's name ends before a bracket in YAML 1.2, but not for libyaml.
#[test]
fn names_that_end_at_a_bracket() {
    for (text, after) in [("a: &one{b: 1}\n", "{b"), ("a: &one[b]\n", "[b")] {
        let problems = parse(some_file(), text).problems;
        let [
            YamlProblem {
                span,
                kind: YamlProblemKind::Invalid(InvalidYaml::RefusedByLibyaml(_)),
            },
        ] = &problems[..]
        else {
            panic!("{text:?}: {problems:?}");
        };
        assert!(text[span.start as usize..].starts_with(after), "{text:?}");
        assert!(!libyaml_reads(text));
    }
    let sound = "{a: &one [b], c: [*one], d: *one}\n";
    assert_eq!(parse(some_file(), sound).problems, []);
    assert!(libyaml_reads(sound));
}
