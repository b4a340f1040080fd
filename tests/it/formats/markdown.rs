//! Markdown: its content, the escaping of foreign text, and that pages of any size are complete and
//! within their limit.

pub mod made;
pub mod reader;

use std::fs;
use std::time::Instant;

use layercake::commands::demo::FILES;
use layercake::report::ReportFormat;
use proptest::prelude::*;

use self::made::{Size, report, written};
use self::reader::read;
use crate::cli::Sandbox;
use crate::stored::assert_stored;

/// Maximum length of each form in bytes.
pub const MAX_BYTES: [(ReportFormat, usize); 2] = [
    (ReportFormat::Markdown, 900_000),
    (ReportFormat::Comment, 8_000),
];

/// Strings that Markdown, HTML or a git host could interpret.
const HOSTILE: &[&str] = &[
    "@everyone",
    "@org/team",
    "#1",
    "owner/repo#12",
    "GH-3",
    "fca290a",
    "https://e.example/?a=1&b",
    "http://",
    "www.e.example",
    "a@e.example",
    "mailto:a@e.example",
    "ftp://x",
    "xmpp:a@b",
    ":tada:",
    "::error::",
    "$x$",
    "$$",
    "$`a`$",
    "`",
    "``",
    "```",
    "~~~",
    "~",
    "*",
    "**",
    "_",
    "__a__",
    "<script>",
    "</details>",
    "<!--",
    "-->",
    "<b>",
    "&amp;",
    "&#64;",
    "&",
    "<",
    ">",
    "|",
    "\\|",
    "\\\\",
    "\\",
    "[a](b)",
    "![a](b)",
    "[^1]",
    "[ ]",
    "[x]",
    "]",
    "(",
    ")",
    "1.",
    "1)",
    "-",
    "+",
    "=",
    "---",
    "===",
    "# a",
    "> a",
    "    a",
    "a  ",
    " ",
    "  ",
    "%0A",
    "'",
    "\"",
    "é",
    "名",
    "\u{a0}",
    "\u{3000}",
    "a",
    "b c",
    ":-:",
    "==a==",
    "||a||",
    "++a++",
    "^a^",
    "{a}",
    "!",
    "{{ github.token }}",
    "a.b",
    "0123456789",
];

/// Characters that are shown as escapes.
const CONTROLS: &[&str] = &[
    "\n",
    "\r\n",
    "\t",
    "\0",
    "\u{1b}[31m",
    "\u{202e}",
    "\u{200b}",
    "\u{2028}",
    "\u{7}",
];

fn hostile() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(HOSTILE), 1..8).prop_map(|it| it.concat())
}

fn with_controls() -> impl Strategy<Value = String> {
    let all: Vec<&str> = HOSTILE.iter().chain(CONTROLS).copied().collect();
    prop::collection::vec(prop::sample::select(all), 0..8).prop_map(|it| it.concat())
}

/// Message as shown: names in backticks lose them.
fn shown(message: &str) -> String {
    let mut text = String::new();
    let mut rest = message;
    while let Some((before, behind)) = rest.split_once('`') {
        let Some((name, behind)) = behind.split_once('`') else {
            break;
        };
        text += before;
        text += if name.is_empty() { "``" } else { name };
        rest = behind;
    }
    text + rest
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn foreign_text_is_shown_verbatim(text in hostile()) {
        let report = report(Size::SMALL, &|_| text.clone());
        let page = read(&written(ReportFormat::Markdown, &report));
        let sites: Vec<&str> = page.tables[0].iter().map(|row| &*row[0]).collect();
        for site in [format!("{text}0"), format!("{text}1"), format!("shielded{text}0")] {
            let is_named = sites.iter().any(|row| row.contains(&*site));
            prop_assert!(is_named, "{site:?} is not among {sites:?}");
        }
        let place = format!("{text}:1");
        let message = format!("error {} ({text}) at {place}", shown(&text));
        let title = format!("edit 1 at {place}");
        let stop = format!("shielded in shielded{text}0: set again by {text} ({text}) at {text}:9");
        let route = format!("{place} → :2: substituted into {text} ({text})");
        for expected in [&message, &title, &stop, &route] {
            let is_there = page.paragraphs.iter().any(|it| it.contains(&**expected));
            prop_assert!(is_there, "{expected:?} is not among {:#?}", page.paragraphs);
        }
        let end = page.paragraphs.last().unwrap();
        // A name that is the beginning of the commit's id is not repeated.
        let name = if text == "fca290a" { String::new() } else { format!("({text}) ") };
        prop_assert!(end.contains(&format!("{name}(history is shallow)")), "{end}");
        prop_assert!(page.blocks[0].starts_with(&format!("@@ {text} @@ ")), "{}", page.blocks[0]);
    }

    #[test]
    fn page_with_any_text_is_complete(text in with_controls()) {
        let report = report(Size::SMALL, &|_| text.clone());
        for (form, _) in MAX_BYTES {
            let markdown = written(form, &report);
            let page = read(&markdown);
            prop_assert!(page.links.iter().all(|it| it.starts_with("https://git.example.org/sites/blob/")));
            let is_harmful = |it: char| it.is_control() && it != '\n';
            prop_assert!(!markdown.contains(is_harmful));
        }
    }
}

#[test]
fn page_is_complete_and_short_enough_at_every_level() {
    let mut lengths = Vec::new();
    for (at, times) in [1, 20, 60, 300, 1_000, 2_000].into_iter().enumerate() {
        let sites = [2, 5, 20, 30, 50, 3][at];
        let size = Size {
            sites,
            documents: times,
            inert: times,
            findings: times,
            shields: at,
        };
        let report = report(size, &|what| format!("some `{what}` | of\nsomebody"));
        for (form, longest) in MAX_BYTES {
            let markdown = written(form, &report);
            assert!(
                markdown.len() <= longest,
                "{form:?} {size:?}: {}",
                markdown.len()
            );
            let page = read(&markdown);
            assert!(page.headings[0].starts_with("layercake: "));
            lengths.push(page.paragraphs.len() + page.blocks.len());
        }
    }
    // Several levels occur, not only the first and the last.
    lengths.sort_unstable();
    lengths.dedup();
    assert!(lengths.len() > 4, "{lengths:?}");
}

#[test]
fn names_of_any_length_fit() {
    for name in [
        "x".repeat(10_000),
        "`".repeat(10_000),
        "&\u{3000}".repeat(5_000),
        "|\u{202e}".repeat(5_000),
    ] {
        let size = Size {
            sites: 4,
            documents: 12,
            inert: 12,
            findings: 24,
            shields: 4,
        };
        let report = report(size, &|_| name.clone());
        for (form, longest) in MAX_BYTES {
            let markdown = written(form, &report);
            assert!(markdown.len() <= longest, "{form:?}: {}", markdown.len());
            read(&markdown);
        }
    }
}

#[test]
fn twenty_thousand_edits_are_rendered_quickly() {
    let size = Size {
        sites: 1,
        documents: 3_000,
        inert: 17_000,
        findings: 2_000,
        shields: 0,
    };
    let report = report(size, &|what| what.to_owned());
    for (form, longest) in MAX_BYTES {
        let before = Instant::now();
        let markdown = written(form, &report);
        let took = before.elapsed();
        assert!(markdown.len() <= longest);
        assert!(took.as_secs() < 20, "{form:?} took {took:?}");
        read(&markdown);
        assert!(markdown.contains(" more changes"), "{markdown}");
    }
}

#[test]
fn pages_match_the_stored_ones() {
    let pages = [
        (
            "state",
            comment_on(|sandbox| sandbox.break_site("lab"), &["lint"]),
        ),
        (
            "change",
            comment_on(raise_version, &["lint", "--since", "HEAD"]),
        ),
        (
            "removal",
            comment_on(remove_parent, &["lint", "--since", "HEAD"]),
        ),
        (
            "refactor",
            comment_on(add_unused, &["diff", "--since", "HEAD"]),
        ),
    ];
    for (name, page) in pages {
        read(&page);
        assert_stored(&format!("tests/markdown/{name}.md"), &page);
    }
}

fn raise_version(sandbox: &Sandbox) {
    replace(
        sandbox,
        "global/config/software-versions.yaml",
        "keystone:2025.1",
        "keystone:2025.2",
    );
}

fn remove_parent(sandbox: &Sandbox) {
    fs::remove_file(sandbox.path("global/charts/keystone.yaml")).unwrap();
}

fn add_unused(sandbox: &Sandbox) {
    let unused = crate::cli::document("unused", "global", "{a: 1}");
    sandbox.write(
        "global/unused.yaml",
        unused.replace("abstract: false", "abstract: true"),
    );
}

fn replace(sandbox: &Sandbox, path: &str, before: &str, after: &str) {
    let text = fs::read_to_string(sandbox.path(path)).unwrap();
    assert!(text.contains(before), "{text}");
    sandbox.write(path, text.replace(before, after));
}

/// Comment on a change of the example, with a fixed commit id.
fn comment_on(change: impl Fn(&Sandbox), arguments: &[&str]) -> String {
    let sandbox = Sandbox::new();
    for (path, text) in FILES {
        sandbox.write(path, text);
    }
    sandbox.commit();
    change(&sandbox);
    let links = "https://git.example.org/blob/main/{path}#L{line}";
    let ran = sandbox.run(&[arguments, &["-o", "comment", "--links", links]].concat());
    assert!(ran.code < 2 && ran.stderr.is_empty(), "{ran:?}");
    let head = sandbox.git(&["rev-parse", "--short=10", "HEAD"]);
    ran.stdout.replace(head.trim(), "0123456789")
}
