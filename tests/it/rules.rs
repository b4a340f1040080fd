//! Every rule's page tells the truth: its `## Bad` files give the findings of
//! its report block and of its markers, its `## Good` files give none.
//!
//! A page is Markdown. In `## Bad` and `## Good`, a block ` ```yaml PATH ` is
//! a file; `escaped` after the path means that `\xNN` stands for a byte,
//! `unreadable` that the file cannot be read. Where a file lies below
//! `site/NAME/` the files are a site repository, otherwise a set. A block
//! ` ```report ` is what every rule says about the Bad files before it, and
//! `# <- rule-name` marks a line on which a finding begins, independently of
//! the report. `LAYERCAKE_BLESS=1` rewrites report blocks; the markers stay
//! hand-written, so that a wrong line cannot be blessed.
//!
//! A heading `## Bad: with OPTION` takes `deckhand` (the other meaning) or
//! `missing-source-warning`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use layercake::graph::MissingSource;
use layercake::merge::deckhand::Semantics;
use layercake::rules::RULES;
use layercake::source::MemoryTree;
use layercake::system::deckhand::Options;

use crate::support::{check_files, finding_text, options};

#[test]
fn pages_tell_the_truth() {
    let bless = std::env::var_os("LAYERCAKE_BLESS").is_some();
    let mut wrong = Vec::new();
    for path in pages() {
        let text = fs::read_to_string(&path).expect("a page can be read");
        let name = path.file_stem().expect("a page has a name").to_string_lossy().into_owned();
        let mut page = Page { name, path: path.clone(), text: text.clone(), wrong: Vec::new() };
        page.check(bless);
        if bless && page.text != text {
            fs::write(&path, &page.text).expect("a page can be rewritten");
        }
        wrong.append(&mut page.wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_rule_file_is_listed_and_has_a_page() {
    let listed: BTreeSet<String> = RULES.iter().map(|rule| rule.name.to_owned()).collect();
    let names = |extension: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(rules_folder()).expect("the rules' folder can be read");
        let paths = entries.map(|entry| entry.expect("an entry can be read").path());
        paths
            .filter(|path| path.extension().is_some_and(|it| it == extension))
            .map(|path| {
                path.file_stem().expect("it has a name").to_string_lossy().replace('_', "-")
            })
            .filter(|name| name != "mod")
            .collect()
    };
    assert_eq!(listed, names("rs"), "src/rules/*.rs and RULES");
    assert_eq!(listed, names("md"), "src/rules/*.md and RULES");
    assert!(RULES.is_sorted_by_key(|rule| rule.name), "RULES is sorted by name");
}

#[test]
fn every_page_shows_what_is_bad_and_what_is_good() {
    for rule in RULES.iter().filter(|rule| rule.name != "internal-error") {
        assert!(rule.page.starts_with(&format!("# {}\n", rule.name)), "{}", rule.name);
        let marked = format!("# <- {}", rule.name);
        assert!(rule.page.contains("## Bad"), "{} has a Bad example", rule.name);
        assert!(rule.page.contains("## Good"), "{} has a Good example", rule.name);
        assert!(
            rule.page.contains(&marked) || rule.page.contains("<!-- no marker:"),
            "{} marks its line, or says why it cannot",
            rule.name
        );
    }
}

fn rules_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules")
}

fn pages() -> Vec<PathBuf> {
    let folders = [rules_folder(), Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules")];
    let mut pages: Vec<PathBuf> = folders
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten()
        .map(|entry| entry.expect("an entry can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    pages
}

struct Page {
    name: String,
    path: PathBuf,
    text: String,
    wrong: Vec<String>,
}

/// A fenced block: its info string, and its content as a range of the page.
struct Block {
    info: String,
    start: usize,
    end: usize,
}

/// One `## Bad` or `## Good` section, or the part of it up to a report.
struct Example {
    bad: bool,
    options: Options,
    files: Vec<Block>,
    report: Option<Block>,
}

impl Page {
    fn check(&mut self, bless: bool) {
        // From the back, so that rewriting a report moves no earlier block.
        for example in self.examples().into_iter().rev() {
            let (report, places) = self.run(&example);
            if !example.bad {
                if !report.is_empty() {
                    self.wrong.push(format!("{}: Good is not silent:\n{report}", self.name));
                }
                continue;
            }
            let markers = self.markers(&example);
            if markers != places {
                let unmarked: Vec<_> = places.difference(&markers).collect();
                let unmet: Vec<_> = markers.difference(&places).collect();
                self.wrong.push(format!(
                    "{} ({}): findings without marker {unmarked:?}, markers without finding \
                     {unmet:?}; all findings:\n{report}",
                    self.name,
                    self.path.display()
                ));
            }
            self.compare(&example, &report, bless);
        }
    }

    fn compare(&mut self, example: &Example, report: &str, bless: bool) {
        let Some(block) = &example.report else {
            self.wrong.push(format!("{}: a Bad example without a report block", self.name));
            return;
        };
        let stated = &self.text[block.start..block.end];
        if stated == report {
            return;
        }
        if bless {
            self.text.replace_range(block.start..block.end, report);
        } else {
            self.wrong.push(format!("{}: stated\n{stated}\nbut is\n{report}", self.name));
        }
    }

    /// The findings as text, and the places they begin at with their rules.
    fn run(&self, example: &Example) -> (String, BTreeSet<(String, usize, String)>) {
        let mut tree = MemoryTree::new();
        for file in &example.files {
            let words: Vec<&str> = file.info.split_whitespace().collect();
            let content = &self.text[file.start..file.end];
            tree = match words.get(2).copied() {
                None => tree.with(words[1], content),
                Some("escaped") => tree.with(words[1], unescaped(content)),
                Some("unreadable") => tree.with_unreadable(words[1]),
                Some(other) => panic!("{}: unknown word `{other}`", self.name),
            };
        }
        let checked = check_files(&tree, example.options.clone(), |_| ());
        let (mut report, mut places) = (String::new(), BTreeSet::new());
        for diagnostic in &checked.findings.diagnostics {
            report += &finding_text(diagnostic, &checked.sources);
            let span = diagnostic.primary.span;
            let path = checked.sources.get(span.file).path().to_string();
            let line = checked.sources.start(span).line.get() as usize;
            places.insert((path, line, diagnostic.rule.name.to_owned()));
        }
        (report, places)
    }

    fn markers(&self, example: &Example) -> BTreeSet<(String, usize, String)> {
        let mut markers = BTreeSet::new();
        for file in &example.files {
            let path = file.info.split_whitespace().nth(1).expect("a file has a path");
            let content = &self.text[file.start..file.end];
            for (index, line) in content.lines().enumerate() {
                let Some((_, names)) = line.split_once("# <- ") else { continue };
                for name in names.split(',') {
                    markers.insert((path.to_owned(), index + 1, name.trim().to_owned()));
                }
            }
        }
        for line in self.text.lines() {
            // Where a marker cannot stand in the file: `<!-- no marker: PATH:LINE rule -->`.
            let Some(rest) = line.strip_prefix("<!-- no marker: ") else { continue };
            let (place, name) =
                rest.trim_end_matches(" -->").split_once(' ').expect("PATH:LINE rule");
            let (path, number) = place.rsplit_once(':').expect("PATH:LINE");
            let number = number.parse().expect("a line number");
            markers.insert((path.to_owned(), number, name.to_owned()));
        }
        markers
    }

    fn examples(&self) -> Vec<Example> {
        let mut examples: Vec<Example> = Vec::new();
        let mut heading: Option<(bool, Options)> = None;
        let mut files = Vec::new();
        let mut at = 0;
        let mut open: Option<(String, usize)> = None;
        for line in self.text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let trimmed = line.trim_end();
            if let Some((info, content)) = open.take() {
                if trimmed != "```" {
                    open = Some((info, content));
                    continue;
                }
                let block = Block { info, start: content, end: start };
                let Some((bad, options)) = &heading else { continue };
                if block.info == "report" {
                    let files = std::mem::take(&mut files);
                    let report = Some(block);
                    examples.push(Example { bad: *bad, options: options.clone(), files, report });
                } else if block.info.starts_with("yaml ") {
                    files.push(block);
                }
            } else if let Some(info) = trimmed.strip_prefix("```") {
                open = Some((info.to_owned(), at));
            } else if trimmed.starts_with("## ") {
                push_rest(&mut examples, heading.as_ref(), &mut files);
                heading = self.heading(trimmed);
            }
        }
        push_rest(&mut examples, heading.as_ref(), &mut files);
        examples
    }

    fn heading(&self, line: &str) -> Option<(bool, Options)> {
        let (title, with) = line.split_once(": with ").unwrap_or((line, ""));
        let bad = match title {
            "## Bad" => true,
            "## Good" => false,
            _ => return None,
        };
        let mut chosen = options(Semantics::Documented);
        for word in with.split_whitespace() {
            match word {
                "deckhand" => chosen.semantics = Semantics::Deckhand,
                "missing-source-warning" => chosen.missing_source = MissingSource::Warning,
                other => panic!("{}: unknown option `{other}`", self.name),
            }
        }
        Some((bad, chosen))
    }
}

/// Files after which no report came: a Good example, or a Bad one that lacks
/// its report.
fn push_rest(
    examples: &mut Vec<Example>,
    heading: Option<&(bool, Options)>,
    files: &mut Vec<Block>,
) {
    if let Some((bad, options)) = heading
        && !files.is_empty()
    {
        let files = std::mem::take(files);
        examples.push(Example { bad: *bad, options: options.clone(), files, report: None });
    }
}

fn unescaped(content: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = content;
    while let Some((before, after)) = rest.split_once("\\x") {
        bytes.extend(before.bytes());
        bytes.push(u8::from_str_radix(&after[..2], 16).expect("two hexadecimal digits"));
        rest = &after[2..];
    }
    bytes.extend(rest.bytes());
    bytes
}
