use std::time::{Duration, Instant};

use layercake::diagnostic::{Diagnostic, Label};
use layercake::report::terminal::{MOST_IN_FULL, Totals, write_totals};
use layercake::report::{SiteRow, Style};
use layercake::source::Span;
use layercake::triage::{Counts, Suppressed};

use super::{Files, plain, rule, sites};

fn check(found: &str, expected: &str) {
    // Lines of excerpts end in a space where the text is empty.
    let found: Vec<&str> = found.lines().map(str::trim_end).collect();
    let expected: Vec<&str> = expected.trim_matches('\n').lines().collect();
    assert_eq!(found.join("\n").trim_end(), expected.join("\n"), "\n{}", found.join("\n"));
}

#[test]
fn places_in_three_files_are_one_finding() {
    let files = three_files();
    let finding = || vec![three_file_finding(&files)];
    check(
        &files.full(finding(), plain(80)),
        "
error[missing-parent]: rendered image tag `etcdctl` is not pinned
    ╭─[site/seaworthy/charts/etcd.yaml:13:16]
 12 │     images:
 13 │       etcdctl: quay.io/coreos/etcd:latest
    ·                ─────────────┬────────────
    ·                             ╰── this value wins after layering
    ╰────
   ╭─[site/seaworthy/charts/etcd.yaml:6:7]
 5 │     parentSelector:
 6 │       name: etcd-global
   ·       ────────┬────────
   ·               ╰── parent selected here
 7 │     actions:
   ╰────
   ╭─[global/charts/etcd.yaml:4:13]
 3 │     images:
 4 │       etcd: quay.io/coreos/etcd:v3.5.9
   ·             ─────────────┬────────────
   ·                          ╰── parent pins `etcd` here, but has no `etcdctl`
 5 │ ...
   ╰────
   ╭─[policy.yaml:2:10]
 1 │ forbid:
 2 │   regex: ':latest$'
   ·          ─────┬────
   ·               ╰── this pattern matched
   ╰────
  note: an image that is not pinned is another one tomorrow
  help: pin the tag, e.g. `quay.io/coreos/etcd:v3.5.9`, or say why it must not
        be pinned
  in 4 sites: aiab, airskiff and 2 more
",
    );
    check(
        &files.full(finding(), Style { unicode: false, ..plain(40) }),
        "
error[missing-parent]: rendered image
  tag `etcdctl` is not pinned
    ,-[site/seaworthy/charts/etcd.yaml:13:16]
 12 |     images:
 13 | ...l: quay.io/coreos/etcd:latest
    :       ^^^^^^^^^^^^^|^^^^^^^^^^^^
    :                    `-| this value
    :                      | wins after
    :                      | layering
    `----
   ,-[site/seaworthy/charts/etcd.yaml:6:7]
 5 |     parentSelector:
 6 |       name: etcd-global
   :       ^^^^^^^^|^^^^^^^^
   :               `-| parent selected
   :                 | here
 7 |     actions:
   `----
   ,-[global/charts/etcd.yaml:4:13]
 3 |     images:
 4 | ...cd: quay.io/coreos/etcd:v3.5.9
   :        ^^^^^^^^^^^^^|^^^^^^^^^^^^
   :                     `-| parent pins
   :                       | `etcd`
   :                       | here, but
   :                       | has no
   :                       | `etcdctl`
 5 | ...
   `----
   ,-[policy.yaml:2:10]
 1 | forbid:
 2 |   regex: ':latest$'
   :          ^^^^^|^^^^
   :               `-| this pattern
   :                 | matched
   `----
  note: an image that is not pinned is
        another one tomorrow
  help: pin the tag, e.g.
        `quay.io/coreos/etcd:v3.5.9`, or
        say why it must not be pinned
  in 4 sites: aiab, airskiff and 2 more
",
    );
    check(
        &files.concise(finding()),
        "site/seaworthy/charts/etcd.yaml:13:16: error[missing-parent] rendered image tag \
         `etcdctl` is not pinned (in 4 sites: aiab, airskiff and 2 more)",
    );
}

#[test]
fn colours_are_only_where_they_are_asked_for() {
    let files = three_files();
    let plain_text = files.full(vec![three_file_finding(&files)], plain(80));
    assert!(!plain_text.contains('\x1b'));
    let colored = files.full(vec![three_file_finding(&files)], Style { color: true, ..plain(80) });
    assert!(colored.starts_with("\x1b[1;31merror[missing-parent]:\x1b[0m rendered"));
    assert_eq!(without_colours(&colored), plain_text);
}

#[test]
fn near_labels_share_an_excerpt_and_far_ones_do_not() {
    let files = Files::new(&[(
        "a.yaml",
        "«a:one»: «b:1»\ntwo: 2\nthree: 3\n«c:four»: 4\n5: 5\n6: 6\n7: 7\n«d:eight»: 8\n",
    )]);
    let finding = files
        .finding("four places", "here")
        .related(files.at('b'), "there")
        .related(files.at('c'), "near")
        .related(files.at('d'), "far");
    check(
        &files.full(vec![finding], plain(80)),
        "
error[missing-parent]: four places
   ╭─[a.yaml:1:1]
 1 │ one: 1
   · ─┬─  ┬
   ·  │   ╰── there
   ·  ╰── here
 2 │ two: 2
 3 │ three: 3
 4 │ four: 4
   · ──┬─
   ·   ╰── near
 5 │ 5: 5
   ╰────
   ╭─[a.yaml:8:1]
 7 │ 7: 7
 8 │ eight: 8
   · ──┬──
   ·   ╰── far
   ╰────
",
    );
}

#[test]
fn odd_places_are_shown() {
    let one = |text: &str, label: &str| {
        let files = Files::new(&[("a.yaml", text)]);
        files.full(vec![files.finding("odd", label)], plain(40))
    };
    let cases = [
        // A byte order mark is no column, and a tab is as wide as it looks.
        (
            "\u{feff}«a:a»: 1\r\nb: 2\r\n",
            "   ╭─[a.yaml:1:1]\n 1 │ a: 1\n   · ┬\n   · ╰── x\n 2 │ b: 2\n   ╰────",
        ),
        ("k:\t«a:v»\n", "   ╭─[a.yaml:1:4]\n 1 │ k:  v\n   ·     ┬\n   ·     ╰── x\n   ╰────"),
        (
            "漢字: «a:値»\n",
            "   ╭─[a.yaml:1:5]\n 1 │ 漢字: 値\n   ·       ─┬\n   ·        ╰── x\n   ╰────",
        ),
        // Only the first line of several.
        (
            "k: «a:|\n  one\n  two»\n",
            "   ╭─[a.yaml:1:4]\n 1 │ k: |\n   ·    ┬\n   ·    ╰── x\n 2 │   one\n   ╰────",
        ),
        // The end of a file, with a last line break and without.
        ("k: v\n«a:»", "   ╭─[a.yaml:2:1]\n 1 │ k: v\n 2 │\n   · ▲\n   · ╰── x\n   ╰────"),
        ("k: v«a:»", "   ╭─[a.yaml:1:5]\n 1 │ k: v\n   ·     ▲\n   ·     ╰── x\n   ╰────"),
        ("k: v«a:\n»", "   ╭─[a.yaml:1:5]\n 1 │ k: v\n   ·     ▲\n   ·     ╰── x\n   ╰────"),
        ("«a:»", "   ╭─[a.yaml:1:1]\n 1 │ (no text)\n   · ▲\n   · ╰── x\n   ╰────"),
    ];
    for (text, expected) in cases {
        check(&one(text, "x"), &format!("error[missing-parent]: odd\n{expected}"));
    }
    check(
        &one("«a:k»: v\n", ""),
        "error[missing-parent]: odd\n   ╭─[a.yaml:1:1]\n 1 │ k: v\n   · ─\n   ╰────",
    );
}

#[test]
fn labels_of_one_place_are_shown_together() {
    let files = Files::new(&[("a.yaml", "«a:k»: v\n")]);
    let finding = files.finding("twice", "first").related(files.at('a'), "second");
    check(
        &files.full(vec![finding], plain(80)),
        "
error[missing-parent]: twice
   ╭─[a.yaml:1:1]
 1 │ k: v
   · ┬
   · ╰─┤ first
   ·   │ second
   ╰────
",
    );
}

#[test]
fn long_lines_are_cut_round_their_labels() {
    let filler = "x".repeat(5000);
    let texts = [
        format!("{{\"{filler}\": [«a:label»], \"{filler}\": 1}}\n{filler}\n"),
        format!("key: «a:{filler}»\n"),
        format!("{filler}: «a:»\n"),
        format!("{}«a:値段»{}\n", "値".repeat(500), "値".repeat(500)),
        format!("{}«a:x»\n", "\t".repeat(300)),
        format!("«b:k»: {filler} «a:v»\n"),
    ];
    for width in [40, 80, 200] {
        for text in &texts {
            for unicode in [true, false] {
                let files = Files::new(&[("a.yaml", text)]);
                let mut finding = files.finding("long", "a label that has something to say");
                if text.contains("«b") {
                    finding = finding.related(files.at('b'), "another one");
                }
                let style = Style { unicode, ..plain(width) };
                let shown = files.full(vec![finding], style);
                for line in shown.lines() {
                    assert!(columns(line) <= width, "{width}: {line}\n{shown}");
                }
                assert!(shown.contains(if unicode { '…' } else { '.' }), "{shown}");
            }
        }
    }
    let files = Files::new(&[("a.yaml", &texts[0])]);
    check(
        &files.full(vec![files.finding("long", "here")], plain(40)),
        "
error[missing-parent]: long
   ╭─[a.yaml:1:5007]
 1 │ …xxx\": [label], \"xxxxxxxxxxxxxxxxx…
   ·         ──┬──
   ·           ╰── here
 2 │ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
   ╰────
",
    );
}

#[test]
fn a_repository_cannot_drive_the_terminal() {
    let evil = "\x1b[31mred\x1b]0;title\x07\u{9b}2J\u{202e}\u{200b}\r";
    let files = Files::new(&[(&format!("{evil}.yaml"), &format!("{evil}: «a:{evil}»\n{evil}\n"))]);
    let text = format!("{evil}\n::error::x");
    let mut finding = files.finding(&text, &text).note(&*text).help(&*text);
    finding.sites = sites(&[&text]);
    let in_full = files.full(vec![finding.clone()], plain(80));
    let concise = files.concise(vec![finding.clone()]);
    let json = files.json(vec![finding]);
    for shown in [&in_full, &concise, &json] {
        let harmful = |it: char| {
            (it.is_control() && it != '\n') || matches!(it, '\u{202e}' | '\u{200b}' | '\u{9b}')
        };
        assert!(!shown.contains(harmful), "{shown:?}");
        assert!(!shown.lines().any(|line| line.starts_with("::error")), "{shown}");
    }
    assert!(in_full.contains("\\x1b[31mred"), "{in_full}");
    assert_eq!(concise.lines().count(), 1);
}

#[test]
fn many_findings_are_cut_short_but_all_there() {
    let text: String = (0..10_000).map(|line| format!("key{line}: value\n")).collect();
    let mut files = Files::new(&[("a.yaml", &text)]);
    let file = files.add("b.yaml", "");
    let other = files.sources.iter().next().unwrap().0;
    assert_ne!(file, other);
    let findings: Vec<Diagnostic> = (0..10_000)
        .map(|line| {
            let start = files.sources.get(other).lines().start_of(line).unwrap();
            let label = Label::new(Span::new(other, start, start + 3), "here");
            Diagnostic::new(rule("duplicate-key"), format!("number {line} is wrong"), label)
                .related(Span::point(file, 0), "there")
        })
        .collect();
    let start = Instant::now();
    let shown = files.full(findings, plain(80));
    let elapsed = start.elapsed();
    assert!(elapsed < Duration::from_secs(3), "{elapsed:?}");
    assert!(shown.contains(&format!("and {} more, each on one line:", 10_000 - MOST_IN_FULL)));
    assert_eq!(shown.matches(" is wrong\n").count(), 10_000);
}

#[test]
fn many_labels_are_named_rather_than_drawn() {
    let text: String = (0..100).map(|_| "key: value\n\n\n\n\n").collect();
    let files = Files::new(&[("a.yaml", &format!("«a:k»: v\n{text}"))]);
    let file = files.at('a').file;
    let mut finding = files.finding("everywhere", "first");
    for line in 0..99 {
        let start = files.sources.get(file).lines().start_of(1 + 5 * line).unwrap();
        finding = finding.related(Span::new(file, start, start + 3), format!("number {line}"));
    }
    let shown = files.full(vec![finding], plain(80));
    assert!(shown.contains("╰── number 10\n"), "{shown}");
    assert!(shown.contains("  also: a.yaml:57:1: number 11\n"), "{shown}");
    assert!(shown.contains("  also: at 76 more places\n"), "{shown}");
}

#[test]
fn the_closing_line_says_what_was_found() {
    let totals = |sites, errors, warnings, notes| Totals {
        sites,
        documents: 2519,
        outputs: 1972,
        counts: Counts { errors, warnings, notes },
        suppressed: Suppressed::default(),
        semantics: None,
        elapsed: Duration::from_millis(213),
    };
    let cases = [
        (
            totals(6, 3, 2, 12),
            "6 sites · 2519 documents · 1972 rendered · 3 errors, 2 warnings, 12 notes · 0.21s\n",
        ),
        (totals(1, 1, 0, 0), "1 site · 2519 documents · 1972 rendered · 1 error · 0.21s\n"),
        (totals(0, 0, 0, 0), "2519 documents · 1972 rendered · nothing found · 0.21s\n"),
    ];
    for (totals, expected) in cases {
        let line = |unicode| {
            let mut out = Vec::new();
            write_totals(&totals, &Style { unicode, ..plain(100) }, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(line(true), expected);
        assert_eq!(line(false), expected.replace('·', "|"));
    }
}

#[test]
fn what_was_found_begins_a_line_where_one_is_too_short() {
    let shown = |width| {
        let totals = Totals {
            sites: 6,
            documents: 1172,
            outputs: 2158,
            counts: Counts { errors: 3, warnings: 24, notes: 12 },
            suppressed: Suppressed { ignored: 1, accepted: 10 },
            semantics: None,
            elapsed: Duration::from_millis(213),
        };
        let mut out = Vec::new();
        write_totals(&totals, &plain(width), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let looked_at = "6 sites · 1172 documents · 2158 rendered";
    let found = "3 errors, 24 warnings, 12 notes · 1 ignored · 10 in the baseline · 0.21s";
    let whole = looked_at.chars().count() + 3 + found.chars().count();
    assert_eq!(shown(whole), format!("{looked_at} · {found}\n"));
    assert_eq!(shown(whole - 1), format!("{looked_at}\n{found}\n"));
}

#[test]
fn sites_are_a_table() {
    let row = |site: &str, files| SiteRow {
        site: Some(site.into()),
        site_type: (site != "x").then(|| "sloop".into()),
        files,
        documents: 1000,
        outputs: 373,
    };
    let mut out = Vec::new();
    let rows = [row("seaworthy-virt", 284), row("x", 7), row("漢\x1b", 1)];
    layercake::report::sites::write(&rows, &mut out).unwrap();
    check(
        &String::from_utf8(out).unwrap(),
        "
site            type   files  documents  rendered
seaworthy-virt  sloop    284       1000       373
x               -          7       1000       373
漢\\x1b          sloop      1       1000       373
",
    );
}

fn three_files() -> Files {
    Files::new(&[
        (
            "site/seaworthy/charts/etcd.yaml",
            "schema: armada/Chart/v1\nmetadata:\n  name: etcd\n  layeringDefinition:\n    \
             parentSelector:\n      «b:name: etcd-global»\n    actions:\n      - method: merge\n        \
             path: .\ndata:\n  values:\n    images:\n      etcdctl: \
             «a:quay.io/coreos/etcd:latest»\n",
        ),
        (
            "global/charts/etcd.yaml",
            "data:\n  values:\n    images:\n      etcd: «c:quay.io/coreos/etcd:v3.5.9»\n...\n",
        ),
        ("policy.yaml", "forbid:\n  regex: «d:':latest$'»\n"),
    ])
}

fn three_file_finding(files: &Files) -> Diagnostic {
    let mut finding = files
        .finding("rendered image tag `etcdctl` is not pinned", "this value wins after layering")
        .related(files.at('b'), "parent selected here")
        .related(files.at('c'), "parent pins `etcd` here, but has no `etcdctl`")
        .related(files.at('d'), "this pattern matched")
        .note("an image that is not pinned is another one tomorrow")
        .help("pin the tag, e.g. `quay.io/coreos/etcd:v3.5.9`, or say why it must not be pinned");
    finding.sites = sites(&["aiab", "airskiff", "airsloop", "seaworthy"]);
    finding
}

fn columns(line: &str) -> usize {
    use unicode_width::UnicodeWidthStr;
    line.width()
}

fn without_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}
