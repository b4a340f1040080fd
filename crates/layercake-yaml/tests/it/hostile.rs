//! Hostile YAML is refused quickly, with a problem.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use layercake_yaml::{Parsed, YamlLimit, YamlProblemKind, parse};
use layercake_yaml_testing::reading::some_file;

/// Time limit per text, far above the actual time of a debug build on a busy machine.
const MAX_TIME: Duration = Duration::from_secs(20);

#[test]
fn deep_nesting() {
    for (opener, times) in [
        ("[", 100_000),
        ("[? ", 60_000),
        ("- ", 20_000),
        ("{a: ", 50_000),
        ("? ", 50_000),
    ] {
        is_over(&opener.repeat(times), YamlLimit::Depth);
    }
    let stairs: String = (0..2000)
        .map(|depth| format!("{}a:\n", " ".repeat(depth)))
        .collect();
    is_over(&stairs, YamlLimit::Depth);
}

#[test]
fn every_kind_of_collection_counts_toward_depth() {
    let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(timed(&deep(YamlLimit::DEPTH)).problems, []);
    is_over(&deep(YamlLimit::DEPTH + 1), YamlLimit::Depth);
    is_over(
        &format!("{}{}", "- ".repeat(200), deep(200)),
        YamlLimit::Depth,
    );
    is_over(
        &format!("- &a {}\n- [[[[[[*a]]]]]]\n", deep(250)),
        YamlLimit::Depth,
    );
    assert_eq!(
        timed(&format!("- &a {}\n- [[[*a]]]\n", deep(250))).problems,
        []
    );
    // A list of pairs and the pair in it.
    let pairs = |depth: usize| format!("- !!pairs [k: {}]\n", deep(depth));
    assert_eq!(timed(&pairs(YamlLimit::DEPTH - 3)).problems, []);
    is_over(&pairs(YamlLimit::DEPTH - 2), YamlLimit::Depth);
    is_over(
        &format!("- &a !!pairs [k: {}]\n- [[[[[*a]]]]]\n", deep(250)),
        YamlLimit::Depth,
    );
}

#[test]
fn alias_and_merge_bombs() {
    let mut lists = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    let mut merges = "a0: &a0 {k: v}\n".to_owned();
    for at in 1..60 {
        let before = at - 1;
        let aliases = vec![format!("*a{before}"); 10].join(", ");
        writeln!(lists, "a{at}: &a{at} [{aliases}]").expect("writing to a string succeeds");
        writeln!(merges, "a{at}: &a{at} {{<<: [{aliases}], k{at}: v}}")
            .expect("writing to a string succeeds");
    }
    is_over(&lists, YamlLimit::Nodes);
    is_over(&merges, YamlLimit::Nodes);
    let wide = format!(
        "a: &a [{}]\nb: [{}]\n",
        "x, ".repeat(5000),
        "*a, ".repeat(5000)
    );
    is_over(&wide, YamlLimit::Nodes);
}

#[test]
fn long_scalars() {
    let long = "abcdefgh ".repeat(200_000);
    for text in [
        format!("a: {long}"),
        format!("a: \"{long}\""),
        format!("a: |\n  {long}\n"),
        format!("a: |\n{}", "  x\n".repeat(200_000)),
        format!("a: {}1\n", "x\n  ".repeat(200_000)),
    ] {
        assert_eq!(timed(&text).documents.len(), 1);
    }
    assert!(!timed(&format!("{long}: 1")).problems.is_empty());
    is_over(&format!("a: {}", "1".repeat(1_000_000)), YamlLimit::Digits);
    is_over(
        &format!("a: 0x{}", "f".repeat(1_000_000)),
        YamlLimit::Digits,
    );
    is_over(&format!("a: 1{}", ":00".repeat(500_000)), YamlLimit::Digits);
}

#[test]
fn many_of_everything() {
    let keys: String = (0..100_000).map(|at| format!("key{at}: {at}\n")).collect();
    assert_eq!(timed(&keys).documents.len(), 1);
    let same_key = timed(&"a: 1\n".repeat(50_000));
    assert_eq!(same_key.problems.len(), 49_999);
    let first = same_key.documents[0]
        .root
        .as_mapping()
        .map(layercake_yaml::Mapping::len);
    assert_eq!(first, Some(1));
    assert!(same_key.problems.iter().all(|it| {
        matches!(&it.kind, YamlProblemKind::DuplicateKey { first } if first.start == 0)
    }));
    assert_eq!(
        timed(&format!("[{}]", "{}, ".repeat(50_000)))
            .documents
            .len(),
        1
    );
    assert_eq!(timed(&"---\n".repeat(30_000)).documents.len(), 30_000);
    assert_eq!(timed(&"---\n[\n".repeat(20_000)).problems.len(), 20_000);
    assert_eq!(timed(&"--- ]\n".repeat(100_000)).problems.len(), 100_000);
    assert_eq!(timed(&"# comment\n".repeat(50_000)).comments.len(), 50_000);
    assert_eq!(
        timed(&format!("a:\n{}", "# c\n".repeat(50_000)))
            .comments
            .len(),
        50_000
    );
    let anchors: String = (0..50_000)
        .map(|at| format!("- &a{at} x\n- *a{at}\n"))
        .collect();
    assert_eq!(timed(&anchors).problems, []);
    let documents = timed(&"--- {a: b,\n c: d}\n".repeat(20_000));
    assert_eq!(documents.documents.len(), 20_000);
}

#[test]
fn control_characters_are_refused() {
    for character in [
        '\0', '\u{1}', '\u{8}', '\u{b}', '\u{1b}', '\u{7f}', '\u{80}', '\u{fffe}', '\u{ffff}',
    ] {
        for text in [
            format!("a: x{character}"),
            format!("a: 'x{character}'"),
            format!("{character}"),
        ] {
            let parsed = timed(&text);
            assert_eq!(parsed.documents.len(), 0, "{text:?}");
            assert!(!parsed.problems.is_empty(), "{text:?}");
        }
    }
}

fn is_over(text: &str, limit: YamlLimit) {
    let parsed = timed(text);
    let kinds: Vec<_> = parsed
        .problems
        .iter()
        .map(|problem| &problem.kind)
        .collect();
    assert!(parsed.documents.is_empty());
    assert_eq!(kinds, [&YamlProblemKind::OverLimit(limit)]);
}

/// Parses text in bounded time.
fn timed(text: &str) -> Parsed {
    let start = Instant::now();
    let parsed = parse(some_file(), text);
    let elapsed = start.elapsed();
    assert!(elapsed < MAX_TIME, "{elapsed:?} for {} bytes", text.len());
    parsed
}
