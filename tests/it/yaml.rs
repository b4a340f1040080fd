//! Laws of the YAML reader and writer over the recorded texts. Its other tests are in
//! `crates/layercake-yaml/tests/it/`.

use layercake::yaml::parse;

use crate::conformance::{CaseOrigin, some_file};
use crate::laws::reading::{
    assert_reads_back, leaves, libyaml_reads, reads_as_plain, reads_without_problem, text_reads_as,
    within,
};
use crate::support::sample::Random;

#[test]
fn recorded_documents_read_back() {
    read_back_all(CaseOrigin::Repository);
}

#[test]
#[ignore = "needs the recorded corpus"]
fn documents_of_the_corpus_read_back() {
    read_back_all(CaseOrigin::Corpus);
}

fn read_back_all(origin: CaseOrigin) {
    for case in origin.cases("deckhand/yaml.json") {
        let text = case["yaml"].as_str().expect("each case has YAML");
        for document in parse(some_file(), text).documents {
            assert_reads_back(&document.root);
        }
    }
}

/// Law on which the locations of rendered leaves depend.
#[test]
fn every_scalar_reads_as_itself() {
    read_all(CaseOrigin::Repository);
}

#[test]
#[ignore = "needs the recorded corpus"]
fn every_scalar_of_the_corpus_reads_as_itself() {
    read_all(CaseOrigin::Corpus);
}

fn read_all(origin: CaseOrigin) {
    let mut count = 0;
    for case in origin.cases("deckhand/yaml.json") {
        let text = case["yaml"].as_str().expect("each case has YAML");
        for document in parse(some_file(), text).documents {
            assert!(document.span.contains(document.root.span), "{text}");
            leaves(&document.root, &mut |span, value| {
                count += 1;
                assert!(
                    text_reads_as(text, span, value),
                    "{:?} {value:?}\n{text}",
                    &text[span.range()]
                );
            });
            within(&document.root);
        }
    }
    origin.assert_at_least(398, count);
}

/// Parsed text without a problem is also accepted by libyaml, and the fast path reads it like the
/// parsers.
#[test]
fn text_refused_by_libyaml_is_refused() {
    mutate_all(CaseOrigin::Repository);
}

#[test]
#[ignore = "needs the recorded corpus"]
fn text_of_the_corpus_refused_by_libyaml_is_refused() {
    mutate_all(CaseOrigin::Corpus);
}

fn mutate_all(origin: CaseOrigin) {
    let cases = origin.cases("deckhand/yaml.json");
    let texts: Vec<&str> = cases
        .iter()
        .filter_map(|case| case["yaml"].as_str())
        .collect();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for round in 0..60_000 {
        let mut text = texts[round % texts.len()].to_owned();
        for _ in 0..round / texts.len() % 4 {
            mutate(&mut text, &texts, &mut random);
        }
        let parsed = parse(some_file(), &text);
        assert!(
            !reads_without_problem(&parsed) || libyaml_reads(&text),
            "{text:?}"
        );
        reads_as_plain(&text);
    }
}

/// Inserts a token, deletes a range, or inserts a line of another text.
fn mutate(text: &mut String, texts: &[&str], random: &mut Random) {
    const TOKENS: [&str; 58] = [
        "\t",
        " ",
        "\n",
        "-",
        " - ",
        "- ",
        ":",
        ": ",
        "?",
        "? ",
        "#",
        " #",
        "\"",
        "'",
        "[",
        "]",
        "{",
        "}",
        ",",
        "|",
        "|-\n",
        ">",
        "&a ",
        "*a",
        "!",
        "!!str ",
        "!a!b ",
        "!<x> ",
        "%",
        "% ",
        "---",
        "--- ",
        "...",
        "\n---\n",
        "\n...\n",
        "a",
        "0",
        "\u{85}",
        "\u{feff}",
        "é",
        "\u{7f}",
        "\r",
        "\\",
        "<<: ",
        "=",
        "~",
        "@",
        "`",
        "\u{1}",
        "&é ",
        "?a",
        "-a",
        ":a",
        "\"a\"",
        "'a'",
        "%YAML 1.2\n---\n",
        "|2\n",
        "\n  ",
    ];
    let places: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .collect();
    let at = *random.pick(&places);
    match random.below(5) {
        0 => {
            let other = *random.pick(&places);
            text.replace_range(at.min(other)..at.max(other), "");
        }
        1 => {
            let lines: Vec<&str> = random.pick(texts).split_inclusive('\n').collect();
            let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
            if !lines.is_empty() {
                text.insert_str(start, random.pick::<&str>(&lines));
            }
        }
        _ => text.insert_str(at, random.pick::<&str>(&TOKENS)),
    }
}
