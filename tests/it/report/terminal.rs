use std::time::{Duration, Instant};

use layercake::diagnostic::{Diagnostic, Label};
use layercake::report::{RulePages, SiteRow, TerminalOptions, TerminalStyle, terminal};
use layercake::rules::RULES;
use layercake::source::Span;

use super::{Files, LOOK, plain, rule, sites};

fn check(found: &str, expected: &str) {
    // Lines of excerpts end in a space where the text is empty.
    let found: Vec<&str> = found.lines().map(str::trim_end).collect();
    let expected: Vec<&str> = expected.trim_matches('\n').lines().collect();
    assert_eq!(
        found.join("\n").trim_end(),
        expected.join("\n"),
        "\n{}",
        found.join("\n")
    );
}

#[test]
fn finding_with_labels_in_three_files() {
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
  in: all 4 sites
",
    );
    check(
        &files.full(
            finding(),
            TerminalStyle {
                unicode: false,
                ..plain(40)
            },
        ),
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
  in: all 4 sites
",
    );
    check(
        &files.concise(finding()),
        "site/seaworthy/charts/etcd.yaml:13:16: error[missing-parent] rendered image tag \
         `etcdctl` is not pinned (in all 4 sites)",
    );
}

#[test]
fn colours_are_used_only_on_request() {
    let files = three_files();
    let plain_text = files.full(vec![three_file_finding(&files)], plain(80));
    assert!(!plain_text.contains('\x1b'));
    let colored = files.full(
        vec![three_file_finding(&files)],
        TerminalStyle {
            color: true,
            ..plain(80)
        },
    );
    assert!(colored.starts_with("\x1b[1;31merror[missing-parent]:\x1b[0m rendered"));
    assert_eq!(without_colours(&colored), plain_text);
}

#[test]
fn rule_names_link_to_their_pages_on_a_terminal_with_colours() {
    let files = three_files();
    let findings = || vec![three_file_finding(&files)];
    let pages = RulePages::new("https://docs.example.org/layercake/", RULES).ok();
    let report = files.report(findings()).with_rule_pages(pages);
    let style = TerminalStyle {
        color: true,
        links: true,
        ..plain(40)
    };
    let screen = |style: TerminalStyle| {
        let mut out = Vec::new();
        terminal::write_findings(&report, LOOK, &style, &mut out).unwrap();
        terminal::write_concise(&report, LOOK, &style, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let linked = screen(style);
    let begin = "\x1b]8;;https://docs.example.org/layercake/rules/missing-parent.html\x1b\\";
    let end = "\x1b]8;;\x1b\\";
    let name =
        |begin, end| format!("\x1b[1;31merror[\x1b[0m{begin}\x1b[1;31mmissing-parent\x1b[0m{end}");
    assert!(linked.starts_with(&name(begin, end)), "{linked:?}");
    assert_eq!(linked.matches(&name(begin, end)).count(), 2, "{linked:?}");
    let unlinked = linked.replace(begin, "").replace(end, "");
    let expected = screen(TerminalStyle {
        links: false,
        ..style
    });
    assert_eq!(
        without_colours(&unlinked),
        without_colours(&expected),
        "the same line breaks"
    );
    for style in [
        TerminalStyle {
            color: false,
            ..style
        },
        TerminalStyle {
            links: false,
            ..style
        },
    ] {
        assert!(!screen(style).contains("\x1b]8"));
    }
}

#[test]
fn only_near_labels_share_an_excerpt() {
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
fn unusual_locations_are_shown() {
    let one = |text: &str, label: &str| {
        let files = Files::new(&[("a.yaml", text)]);
        files.full(vec![files.finding("odd", label)], plain(40))
    };
    let cases = [
        // A byte order mark has no column, and a tab is as wide as displayed.
        (
            "\u{feff}«a:a»: 1\r\nb: 2\r\n",
            "   ╭─[a.yaml:1:1]\n 1 │ a: 1\n   · ┬\n   · ╰── x\n 2 │ b: 2\n   ╰────",
        ),
        (
            "k:\t«a:v»\n",
            "   ╭─[a.yaml:1:4]\n 1 │ k:  v\n   ·     ┬\n   ·     ╰── x\n   ╰────",
        ),
        (
            "漢字: «a:値»\n",
            "   ╭─[a.yaml:1:5]\n 1 │ 漢字: 値\n   ·       ─┬\n   ·        ╰── x\n   ╰────",
        ),
        // Only the first of several lines.
        (
            "k: «a:|\n  one\n  two»\n",
            "   ╭─[a.yaml:1:4]\n 1 │ k: |\n   ·    ┬\n   ·    ╰── x\n 2 │   one\n   ╰────",
        ),
        // The end of a file, with and without a final line break.
        (
            "k: v\n«a:»",
            "   ╭─[a.yaml:2:1]\n 1 │ k: v\n 2 │\n   · ▲\n   · ╰── x\n   ╰────",
        ),
        (
            "k: v«a:»",
            "   ╭─[a.yaml:1:5]\n 1 │ k: v\n   ·     ▲\n   ·     ╰── x\n   ╰────",
        ),
        (
            "k: v«a:\n»",
            "   ╭─[a.yaml:1:5]\n 1 │ k: v\n   ·     ▲\n   ·     ╰── x\n   ╰────",
        ),
        (
            "«a:»",
            "   ╭─[a.yaml:1:1]\n 1 │ (empty)\n   · ▲\n   · ╰── x\n   ╰────",
        ),
    ];
    for (text, expected) in cases {
        check(
            &one(text, "x"),
            &format!("error[missing-parent]: odd\n{expected}"),
        );
    }
    check(
        &one("«a:k»: v\n", ""),
        "error[missing-parent]: odd\n   ╭─[a.yaml:1:1]\n 1 │ k: v\n   · ─\n   ╰────",
    );
}

#[test]
fn labels_at_one_location_are_shown_together() {
    let files = Files::new(&[("a.yaml", "«a:k»: v\n")]);
    let finding = files
        .finding("twice", "first")
        .related(files.at('a'), "second");
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
fn long_lines_are_truncated_around_their_labels() {
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
                let style = TerminalStyle {
                    unicode,
                    ..plain(width)
                };
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
fn repository_cannot_control_the_terminal() {
    let evil = "\x1b[31mred\x1b]0;title\x07\u{9b}2J\u{202e}\u{200b}\r";
    let files = Files::new(&[(
        &format!("{evil}.yaml"),
        &format!("{evil}: «a:{evil}»\n{evil}\n"),
    )]);
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
        assert!(
            !shown.lines().any(|line| line.starts_with("::error")),
            "{shown}"
        );
    }
    assert!(in_full.contains("\\x1b[31mred"), "{in_full}");
    assert_eq!(concise.lines().count(), 1);
}

#[test]
fn first_findings_are_shown_and_the_others_counted() {
    let text: String = (0..10_000)
        .map(|line| format!("key{line}: value\n"))
        .collect();
    let mut files = Files::new(&[("a.yaml", &text)]);
    let file = files.add("b.yaml", "");
    let other = files.sources.iter().next().unwrap().0;
    assert_ne!(file, other);
    let findings: Vec<Diagnostic> = (0..10_000)
        .map(|line| {
            let start = files.sources.get(other).lines().start_of(line).unwrap();
            let label = Label::new(Span::new(other, start, start + 3), "here");
            Diagnostic::new(
                rule("duplicate-key"),
                format!("number {line} is wrong"),
                label,
            )
            .related(Span::point(file, 0), "there")
        })
        .collect();
    let report = files.report(findings);
    let mut out = Vec::new();
    let look = TerminalOptions {
        limit: TerminalOptions::DEFAULT_LIMIT,
        ..LOOK
    };
    let start = Instant::now();
    layercake::report::terminal::write_findings(&report, look, &plain(80), &mut out).unwrap();
    let elapsed = start.elapsed();
    assert!(elapsed < Duration::from_secs(3), "{elapsed:?}");
    let shown = String::from_utf8(out).unwrap();
    let shown_in_full =
        shown.matches(" is wrong\n    ╭").count() + shown.matches(" is wrong\n   ╭").count();
    assert_eq!(shown_in_full, 16, "{shown}");
    assert_eq!(shown.matches(" is wrong\n").count(), 16 + 40, "{shown}");
    assert!(shown.contains("… 9944 more findings (-v)\n"), "{shown}");
}

#[test]
fn many_labels_are_listed_instead_of_drawn() {
    let text: String = (0..100).map(|_| "key: value\n\n\n\n\n").collect();
    let files = Files::new(&[("a.yaml", &format!("«a:k»: v\n{text}"))]);
    let file = files.at('a').file;
    let mut finding = files.finding("everywhere", "first");
    for line in 0..99 {
        let start = files
            .sources
            .get(file)
            .lines()
            .start_of(1 + 5 * line)
            .unwrap();
        finding = finding.related(Span::new(file, start, start + 3), format!("number {line}"));
    }
    let shown = files.full(vec![finding], plain(80));
    assert!(shown.contains("╰── number 10\n"), "{shown}");
    assert!(
        shown.contains("  also: a.yaml:57:1: number 11\n"),
        "{shown}"
    );
    assert!(shown.contains("  also: at 76 more places\n"), "{shown}");
}

#[test]
fn sites_are_a_table() {
    let row = |site: &str, files| SiteRow {
        site: Some(site.into()),
        site_type: (site != "x").then(|| "sloop".into()),
        files,
        documents: 1000,
        outputs: 373,
        deployed: None,
    };
    let mut out = Vec::new();
    let rows = [row("seaworthy-virt", 284), row("x", 7), row("漢\x1b", 1)];
    layercake::report::sites::write(&rows, &plain(80), &mut out).unwrap();
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

#[test]
fn many_sites_with_the_same_figures_have_one_line() {
    let row = |site: String, site_type: &str| SiteRow {
        site: Some(site.into()),
        site_type: Some(site_type.into()),
        files: 7,
        documents: 1000,
        outputs: 373,
        deployed: None,
    };
    let metro = (0..1_000).map(|at| row(format!("metro-{at:04}"), "sloop"));
    let labs = ["lab", "attic"].map(|site| row(site.to_owned(), "foundry"));
    let mut out = Vec::new();
    let rows: Vec<SiteRow> = metro.chain(labs).collect();
    layercake::report::sites::write(&rows, &plain(80), &mut out).unwrap();
    check(
        &String::from_utf8(out).unwrap(),
        "
site                    type     files  documents  rendered
lab, attic              foundry      7       1000       373
all 1000 of type sloop  sloop        7       1000       373
1002 sites (use `--format json` to list all)
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
        .finding(
            "rendered image tag `etcdctl` is not pinned",
            "this value wins after layering",
        )
        .related(files.at('b'), "parent selected here")
        .related(
            files.at('c'),
            "parent pins `etcd` here, but has no `etcdctl`",
        )
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
    parts.fold(first, |text, part| {
        text + part.split_once('m').map_or(part, |(_, rest)| rest)
    })
}
