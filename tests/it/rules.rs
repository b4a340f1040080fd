//! Every rule's page is correct: its `## Bad` files have the findings of its report block and of
//! its markers, its `## Good` files have none.
//!
//! A page is Markdown. In `## Bad` and `## Good`, a block ` ```yaml PATH ` is a file, and so are `
//! ```json PATH ` and ` ```text PATH `. After the path, `escaped` means that `\xNN` is a byte, and
//! `unreadable` that the file cannot be read. If a file is below `site/NAME/` the files are a site
//! repository, otherwise a set. A block ` ```report ` lists the findings of every rule in the Bad
//! files before it, and `# <- rule-name` marks a line on which a finding begins, independently of
//! the report. `LAYERCAKE_BLESS=1` rewrites report blocks; the markers stay hand-written, so that
//! a wrong line cannot be blessed.
//!
//! A heading `## Bad: with OPTION` takes `deckhand` (the other semantics) or
//! `missing-source-warning`.
//!
//! A comparison has ` ```yaml base:PATH ` and ` ```yaml head:PATH `; a file without either word is
//! on both sides. The report lists new findings of the head, where markers count. A heading may
//! then name the gates: `max-sites N`, `max-outputs N`, `expect-unchanged` or `expect-unchanged
//! GLOB`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobSet};
use layercake::check::Checked;
use layercake::commands::configuration::ConfigurationSource;
use layercake::commands::policy::Selectors;
use layercake::deployment::{Action, Caution};
use layercake::diagnostic::{Diagnostic, Severity, Trait};
use layercake::graph::MissingSource;
use layercake::merge::deckhand::Semantics;
use layercake::rules::{ExpectedUnchanged, Gates, REFUSED, RULES};
use layercake::source::{MemoryTree, SourceMap};
use layercake::system::deckhand::DeckhandOptions;
use layercake::yaml::Node;

use crate::stored::is_blessed;
use crate::support::{check_with, compare_files, finding_text, options, saved};

#[test]
fn pages_match_the_findings() {
    let bless = is_blessed();
    let mut wrong = Vec::new();
    for path in pages() {
        let text = fs::read_to_string(&path).expect("a page can be read");
        let name = path
            .file_stem()
            .expect("a page has a name")
            .to_string_lossy()
            .into_owned();
        let mut page = Page {
            name,
            path: path.clone(),
            text: text.clone(),
            wrong: Vec::new(),
        };
        page.check(bless);
        if bless && page.text != text {
            fs::write(&path, &page.text).expect("a page can be rewritten");
        }
        wrong.append(&mut page.wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A gate ignores findings below its level, so these must not mention a refusal.
#[test]
fn refusals_by_deckhand_are_errors_with_the_same_wording() {
    let mut wrong = BTreeSet::new();
    for page in all_pages() {
        for example in page
            .examples()
            .into_iter()
            .filter(|it| it.bad && !it.is_compared())
        {
            let files = page.files(&example);
            let (checked, _) = check_texts(&page, &example, &files);
            for finding in &checked.findings.diagnostics {
                let text = finding_text(finding, &checked.sources);
                let is_told = finding.severity == Severity::Error && text.contains(REFUSED);
                if mentions_a_refusal(&text) && !is_told {
                    wrong.insert(format!("{}:\n{text}", page.path.display()));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{}",
        wrong.into_iter().collect::<Vec<_>>().join("\n")
    );
    let refused = RULES.iter().filter(|rule| rule.is(Trait::Refused));
    for rule in refused {
        assert_eq!(rule.severity, Severity::Error, "{}", rule.name);
    }
}

/// Whether a text says in the present tense that Deckhand stops.
fn mentions_a_refusal(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let verbs = ["refuses", "fails", "crashes", "drops", "stops", "ends"];
    words.iter().enumerate().any(|(index, word)| {
        word.starts_with("Deckhand")
            && words[index + 1..]
                .iter()
                .take(3)
                .any(|word| verbs.contains(word))
    })
}

#[test]
fn every_rule_file_is_listed_and_has_a_page() {
    let listed: BTreeSet<String> = RULES.iter().map(|rule| rule.name.to_owned()).collect();
    let names = |extension: &str| -> BTreeSet<String> {
        let files = rule_folders().into_iter().flat_map(|folder| {
            let entries = fs::read_dir(folder).expect("a folder of rules can be read");
            entries.map(|entry| entry.expect("an entry can be read").path())
        });
        files
            .filter(|path| path.extension().is_some_and(|it| it == extension))
            .map(|path| {
                path.file_stem()
                    .expect("it has a name")
                    .to_string_lossy()
                    .replace('_', "-")
            })
            // Files that are not rules: the list, and code that several rules share.
            .filter(|name| {
                let shared = [
                    "mod",
                    "certificates",
                    "correction",
                    "counterpart",
                    "did-you-mean",
                    "foreign",
                    "merged-document",
                    "plain-scalars",
                    "reach",
                ];
                !shared.contains(&name.as_str())
            })
            .collect()
    };
    assert_eq!(listed, names("rs"), "src/rules/*.rs and RULES");
    assert_eq!(listed, names("md"), "src/rules/*.md and RULES");
    assert!(
        RULES.is_sorted_by_key(|rule| rule.name),
        "RULES is sorted by name"
    );
}

#[test]
fn every_page_has_bad_and_good_examples() {
    for rule in RULES.iter().filter(|rule| rule.name != "internal-error") {
        assert!(
            rule.page.starts_with(&format!("# {}\n", rule.name)),
            "{}",
            rule.name
        );
        let marked = format!("# <- {}", rule.name);
        assert!(
            rule.page.contains("## Bad"),
            "{} has a Bad example",
            rule.name
        );
        assert!(
            rule.page.contains("## Good"),
            "{} has a Good example",
            rule.name
        );
        assert!(
            rule.page.contains(&marked) || rule.page.contains("<!-- no marker:"),
            "{} marks its line, or says why it cannot",
            rule.name
        );
    }
}

/// Both semantics have the same findings; a place where the results differ is reported with both
/// (`semantics.md`).
#[test]
fn rules_find_the_same_with_both_semantics() {
    let mut wrong = Vec::new();
    for page in all_pages() {
        for example in page.examples().into_iter().filter(|example| example.bad) {
            let other = match example.options.semantics {
                Semantics::Documented => Semantics::Deckhand,
                Semantics::Deckhand => Semantics::Documented,
            };
            let only_one = ONE_SEMANTICS.contains(&page.name.as_str());
            if example.is_compared() || only_one {
                continue;
            }
            let own = |places: BTreeSet<Found>| -> BTreeSet<Found> {
                places
                    .into_iter()
                    .filter(|(_, _, rule)| *rule == page.name)
                    .collect()
            };
            let (_, stated) = page.run(&example);
            let turned = Example {
                options: options(other),
                ..example
            };
            let (_, found) = page.run(&turned);
            let (stated, found) = (own(stated), own(found));
            if stated != found {
                let line = format!(
                    "{}: {stated:?}, with the other semantics {found:?}",
                    page.path.display()
                );
                wrong.push(line);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Info strings of blocks that are files begin with these words.
const FILES: [&str; 3] = ["yaml ", "json ", "text "];

/// Rules with examples for one semantics only, as their pages say.
const ONE_SEMANTICS: &[&str] = &[];

/// `--fix` on a Bad example removes the finding, and changes no rendered value.
#[test]
fn fixes_remove_their_findings() {
    let mut fixed_rules = BTreeSet::new();
    for page in all_pages() {
        for example in page
            .examples()
            .into_iter()
            .filter(|it| it.bad && !it.is_compared())
        {
            let files = page.files(&example);
            let (before, values) = check_texts(&page, &example, &files);
            let fixable = |findings: &[Diagnostic]| {
                let own = findings
                    .iter()
                    .filter(|it| it.rule.name == page.name && it.fix.is_some());
                own.count()
            };
            if fixable(&before.findings.diagnostics) == 0 {
                continue;
            }
            let fixed = with_fixes(&page, &before, files);
            let (after, values_after) = check_texts(&page, &example, &fixed);
            assert_eq!(
                fixable(&after.findings.diagnostics),
                0,
                "{} is fixed",
                page.name
            );
            if !CHANGES_VALUES.contains(&page.name.as_str()) {
                assert_eq!(values, values_after, "{} changes no value", page.name);
            }
            fixed_rules.insert(page.name.clone());
        }
    }
    for rule in [
        "ineffective-action",
        "leaking-substitution",
        "repeated-substitution",
    ] {
        assert!(fixed_rules.contains(rule), "an example of {rule} is fixed");
    }
}

/// Rules whose fixes change rendered values on purpose.
const CHANGES_VALUES: &[&str] = &[
    "invalid-action",
    "invalid-document",
    "invalid-property-group",
    "missing-type",
    "misspelled-schema",
    "schema-violation",
    "unknown-document-key",
    "unknown-layer",
    "unknown-merge-option",
    "unknown-schema-keyword",
];

/// Rules that check only their own pages: charts in other examples have few of their keys, to be
/// short.
const OWN_PAGE_ONLY: &[&str] = &["incomplete-chart"];

/// Path and text of each file.
type Texts = Vec<(String, String)>;

/// Rendered values of a file's documents: site, document and value.
type Values = Vec<(String, String, Option<Node>)>;

fn check_texts(page: &Page, example: &Example, files: &Texts) -> (Checked<()>, Values) {
    let tree = files.iter().fold(MemoryTree::new(), |tree, (path, text)| {
        tree.with(path, text.as_str())
    });
    let selectors = page.selectors(example);
    let checked = check_with(
        &tree,
        example.options.clone(),
        &selectors,
        |site| -> Values {
            let name = site.site.name.as_deref().unwrap_or_default();
            let outputs = site.graph.outputs();
            let value = |doc| site.rendered.data(doc).cloned();
            outputs
                .map(|(doc, recipe)| (name.to_owned(), recipe.key.to_string(), value(doc)))
                .collect()
        },
    );
    let (checked, taken) = checked.without_taken();
    (checked, taken.into_iter().flatten().collect())
}

/// Files after the fixes of a page's own rule.
fn with_fixes(page: &Page, checked: &Checked<()>, mut files: Texts) -> Texts {
    let own = checked
        .findings
        .diagnostics
        .iter()
        .filter(|it| it.rule.name == page.name);
    let mut edits: Vec<_> = own
        .filter_map(|it| it.fix.as_ref())
        .flat_map(|it| &it.edits)
        .collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
    // Two findings can have one fix.
    edits.dedup();
    for edit in edits {
        let path = checked.sources.get(edit.span.file).path().as_str();
        let file = files
            .iter_mut()
            .find(|(name, _)| name == path)
            .expect("the file is there");
        file.1.replace_range(edit.span.range(), &edit.text);
    }
    files
}

/// Folders of rules: the main one, and one in it for each further system.
fn rule_folders() -> Vec<PathBuf> {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules");
    let entries = fs::read_dir(&rules).expect("the rules' folder can be read");
    let inside = entries.map(|entry| entry.expect("an entry can be read").path());
    let mut folders: Vec<PathBuf> = inside.filter(|path| path.is_dir()).collect();
    folders.push(rules);
    folders
}

fn all_pages() -> Vec<Page> {
    let page = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a page can be read");
        let name = path
            .file_stem()
            .expect("a page has a name")
            .to_string_lossy()
            .into_owned();
        Page {
            name,
            path,
            text,
            wrong: Vec::new(),
        }
    };
    pages().into_iter().map(page).collect()
}

fn pages() -> Vec<PathBuf> {
    let mut folders = rule_folders();
    folders.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules"));
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
    options: DeckhandOptions,
    place: ConfigurationSource,
    gates: Gates,
    files: Vec<Block>,
    report: Option<Block>,
    /// Markers for places where a file cannot hold one: the text after `<!-- no marker: ` in `<!--
    /// no marker: PATH:LINE rule -->`.
    unmarked: Vec<String>,
}

/// Path, line and rule.
type Found = (String, usize, String);

impl Example {
    fn is_compared(&self) -> bool {
        self.files.iter().any(|file| file_of(file).0.is_some())
    }
}

impl Page {
    /// Path and text of each file of an example on one side.
    fn files(&self, example: &Example) -> Texts {
        let plain = |file: &&Block| file.info.split_whitespace().nth(2).is_none();
        let files = example.files.iter().filter(plain);
        let text = |file: &Block| self.text[file.start..file.end].to_owned();
        files
            .map(|file| (file_of(file).1.to_owned(), text(file)))
            .collect()
    }

    fn check(&mut self, bless: bool) {
        // Backwards, so that rewriting a report does not move an earlier block.
        for example in self.examples().into_iter().rev() {
            let (report, places) = self.run(&example);
            if !example.bad {
                if !report.is_empty() {
                    self.wrong.push(format!(
                        "{}: a Good example has findings:\n{report}",
                        self.name
                    ));
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
            self.wrong.push(format!(
                "{}: a Bad example without a report block",
                self.name
            ));
            return;
        };
        let stated = &self.text[block.start..block.end];
        if stated == report {
            return;
        }
        if bless {
            self.text.replace_range(block.start..block.end, report);
        } else {
            self.wrong
                .push(format!("{}: stated\n{stated}\nbut is\n{report}", self.name));
        }
    }

    /// Findings as text, and the places where they begin, with their rules.
    fn run(&self, example: &Example) -> (String, BTreeSet<(String, usize, String)>) {
        let options = example.options.clone();
        if !example.is_compared() {
            let selectors = self.selectors(example);
            let checked = check_with(&self.tree(example, "head:"), options, &selectors, |_| ());
            saved::check_checked(&checked);
            return describe(&checked.findings.diagnostics, &checked.sources);
        }
        let (base, head) = (self.tree(example, "base:"), self.tree(example, "head:"));
        let compared = compare_files(
            &base,
            &head,
            options,
            &self.selectors(example),
            &example.place,
            &example.gates,
        );
        saved::check_compared(&compared);
        describe(
            &compared.findings.new.diagnostics,
            &compared.checked.sources,
        )
    }

    /// Good examples must have no findings of any rule; Bad ones list those of the page's own rule
    /// and of default rules.
    fn selectors(&self, example: &Example) -> Selectors {
        let others = OWN_PAGE_ONLY.iter().filter(|name| **name != self.name);
        let ignore = others.map(|name| (*name).to_owned()).collect();
        if !example.bad {
            return Selectors {
                select: vec!["all".to_owned()],
                ignore,
                ..Selectors::default()
            };
        }
        let own = RULES.iter().filter(|rule| rule.name == self.name);
        let extend_select = own.map(|rule| rule.name.to_owned()).collect();
        Selectors {
            extend_select,
            ignore,
            ..Selectors::default()
        }
    }

    /// The files of one side.
    fn tree(&self, example: &Example, side: &str) -> MemoryTree {
        let mut tree = MemoryTree::new();
        for file in &example.files {
            let (only, path) = file_of(file);
            if only.is_some_and(|only| only != side) {
                continue;
            }
            let content = &self.text[file.start..file.end];
            tree = match file.info.split_whitespace().nth(2) {
                None => tree.with(path, content),
                Some("escaped") => tree.with(path, unescaped(content)),
                Some("unreadable") => tree.with_unreadable(path),
                Some(other) => panic!("{}: unknown word `{other}`", self.name),
            };
        }
        tree
    }

    fn markers(&self, example: &Example) -> BTreeSet<(String, usize, String)> {
        let mut markers = BTreeSet::new();
        for file in &example.files {
            let (side, path) = file_of(file);
            assert!(side != Some("base:") || !self.text[file.start..file.end].contains("# <- "));
            let content = &self.text[file.start..file.end];
            for (index, line) in content.lines().enumerate() {
                let Some((_, names)) = line.split_once("# <- ") else {
                    continue;
                };
                for name in names.split(',') {
                    markers.insert((path.to_owned(), index + 1, name.trim().to_owned()));
                }
            }
        }
        for rest in &example.unmarked {
            let (place, name) = rest
                .trim_end_matches(" -->")
                .split_once(' ')
                .expect("PATH:LINE rule");
            let (path, number) = place.rsplit_once(':').expect("PATH:LINE");
            let number = number.parse().expect("a line number");
            markers.insert((path.to_owned(), number, name.to_owned()));
        }
        markers
    }

    fn examples(&self) -> Vec<Example> {
        let mut examples: Vec<Example> = Vec::new();
        let mut heading: Option<Heading> = None;
        let (mut files, mut unmarked) = (Vec::new(), Vec::new());
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
                let block = Block {
                    info,
                    start: content,
                    end: start,
                };
                let Some(heading) = &heading else { continue };
                if block.info == "report" {
                    let mut example = heading.example(std::mem::take(&mut files), Some(block));
                    example.unmarked.append(&mut unmarked);
                    examples.push(example);
                } else if FILES.iter().any(|it| block.info.starts_with(it)) {
                    files.push(block);
                }
            } else if let Some(rest) = trimmed.strip_prefix("<!-- no marker: ") {
                // Belongs to the enclosing example, or to the one before.
                match (files.is_empty(), examples.last_mut()) {
                    (true, Some(last)) => last.unmarked.push(rest.to_owned()),
                    (true, None) | (false, _) => unmarked.push(rest.to_owned()),
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

    fn heading(&self, line: &str) -> Option<Heading> {
        let (title, with) = line.split_once(": with ").unwrap_or((line, ""));
        let bad = match title {
            "## Bad" => true,
            "## Good" => false,
            _ => return None,
        };
        let (mut options, mut gates) = (options(Semantics::Documented), Gates::default());
        let mut place = ConfigurationSource::Root;
        let mut words = with.split_whitespace();
        while let Some(word) = words.next() {
            let mut number = || -> usize {
                words
                    .next()
                    .and_then(|it| it.parse().ok())
                    .expect("a number")
            };
            match word {
                "deckhand" => options.semantics = Semantics::Deckhand,
                "missing-source-warning" => options.missing_source = MissingSource::Warning,
                "config-from-base" => place = ConfigurationSource::Base,
                "max-sites" => gates.max_sites = Some(number().into()),
                "max-outputs" => gates.max_outputs = Some(number().into()),
                "max-action" => {
                    let word = words.next().map(|it| it.trim_matches('`'));
                    let action = word.and_then(Action::of).expect("an action");
                    gates.max_action = Some(action.into());
                }
                "caution" => {
                    let caution = words.next().and_then(Caution::of).expect("a caution");
                    gates.cautions.push(caution.into());
                }
                "expect-unchanged" => {
                    gates.unchanged = Some(unchanged(words.next().unwrap_or("*")));
                }
                other => panic!("{}: unknown option `{other}`", self.name),
            }
        }
        Some(Heading {
            bad,
            options,
            place,
            gates,
        })
    }
}

/// Options that a heading sets for the examples below it.
#[derive(Clone)]
struct Heading {
    bad: bool,
    options: DeckhandOptions,
    place: ConfigurationSource,
    gates: Gates,
}

impl Heading {
    fn example(&self, files: Vec<Block>, report: Option<Block>) -> Example {
        let Heading {
            bad,
            options,
            place,
            gates,
        } = self.clone();
        Example {
            bad,
            options,
            place,
            gates,
            files,
            report,
            unmarked: Vec::new(),
        }
    }
}

fn unchanged(glob: &str) -> ExpectedUnchanged {
    let glob = Glob::new(glob).expect("a glob");
    ExpectedUnchanged(
        GlobSet::builder()
            .add(glob)
            .build()
            .expect("one glob is a set"),
    )
}

/// The only side of a file, if it is not on both, and its path.
fn file_of(block: &Block) -> (Option<&str>, &str) {
    let path = block
        .info
        .split_whitespace()
        .nth(1)
        .expect("a file has a path");
    let side = ["base:", "head:"]
        .into_iter()
        .find(|side| path.starts_with(side));
    (
        side,
        path.strip_prefix(side.unwrap_or_default())
            .expect("it begins with its side"),
    )
}

/// Findings as text, and the places where they begin, with their rules.
fn describe(
    findings: &[Diagnostic],
    sources: &SourceMap,
) -> (String, BTreeSet<(String, usize, String)>) {
    let (mut report, mut places) = (String::new(), BTreeSet::new());
    for diagnostic in findings {
        report += &finding_text(diagnostic, sources);
        let span = diagnostic.primary.span;
        let path = sources.get(span.file).path().to_string();
        let line = sources.start(span).line.get() as usize;
        places.insert((path, line, diagnostic.rule.name.to_owned()));
    }
    (report, places)
}

/// Files that no report follows: a Good example, or a Bad one without its report.
fn push_rest(examples: &mut Vec<Example>, heading: Option<&Heading>, files: &mut Vec<Block>) {
    if let Some(heading) = heading
        && !files.is_empty()
    {
        examples.push(heading.example(std::mem::take(files), None));
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
