//! What `docs/rules.md` says of the largest public site repository is what is
//! found there: how many findings of each rule the head has, and in which
//! commits the mistakes of its history are.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use layercake::check::{Checked, Progress, check};
use layercake::commands::policy::Selectors;
use layercake::commands::{BaselineChoice, Selection, Workspace};
use layercake::diagnostic::Diagnostic;
use rayon::prelude::*;

use super::treasuremap::{HEAD, Treasuremap};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/rules.md");

/// How the page says that nobody mended a mistake.
const NEVER: &str = "not yet";

#[test]
#[ignore = "needs the recorded corpus"]
fn the_head_has_the_findings_that_the_page_counts() {
    let repository = Treasuremap::clone();
    let section = section("On a real repository");
    let head = section.split('`').nth(1).expect("the section begins with the commit");
    assert_eq!(repository.git(&["rev-parse", HEAD]), repository.git(&["rev-parse", head]));
    let mut tables = tables(&section).into_iter();
    for select in ["default", "all"] {
        let told = counts(&tables.next().expect("a table for the default, and one for the rest"));
        let checked = checked(&repository, head, select);
        let mut found: BTreeMap<(String, String), usize> = BTreeMap::new();
        for finding in &checked.findings.diagnostics {
            if finding.rule.is_default() == (select == "default") {
                let level = finding.severity.as_str().to_owned();
                *found.entry((finding.rule.name.to_owned(), level)).or_default() += 1;
            }
        }
        assert_eq!(found, told, "{select}");
    }
    assert!(tables.next().is_none());
}

#[test]
#[ignore = "needs the recorded corpus"]
fn the_mistakes_of_the_history_are_found_where_the_page_says() {
    let repository = Treasuremap::clone();
    let section = section("Mistakes it would have found");
    let [rows] = &tables(&section)[..] else { panic!("one table of mistakes") };
    assert!(rows.len() >= 20, "there are {} rows", rows.len());
    let rows: Vec<Row> = rows.iter().map(|cells| Row::read(&repository, cells)).collect();
    let commits: BTreeSet<&String> = rows.iter().flat_map(Row::commits).collect();
    let told: BTreeMap<&String, Told> =
        commits.into_par_iter().map(|commit| (commit, Told::of(&repository, commit))).collect();
    for row in &rows {
        let what = format!("{} {}", row.rule, row.place);
        let at = (row.rule.clone(), row.place.clone());
        let mistake = told[&row.first].at.get(&at).unwrap_or_else(|| panic!("{what}: not made"));
        let stands_in = |commit| told[commit].mistakes.contains(mistake);
        assert!(!stands_in(&row.before), "{what}: made before");
        assert!(stands_in(&row.last), "{what}: mended before");
        assert!(!row.mended.as_ref().is_some_and(stands_in), "{what}: not mended");
    }
}

/// A mistake of the history, as the page tells it, with the commits around it.
struct Row {
    rule: String,
    before: String,
    first: String,
    last: String,
    /// The commit that mended it, if one did.
    mended: Option<String>,
    /// The file and line at which it is in the first.
    place: String,
}

impl Row {
    fn read(repository: &Treasuremap, cells: &[String]) -> Self {
        let [rule, made, mended, place, _] = cells else { panic!("five cells: {cells:?}") };
        let made = commit(repository, made);
        let mended = (mended != NEVER).then(|| commit(repository, mended));
        let last = mended.as_ref().map_or(HEAD.to_owned(), |mended| format!("{mended}^"));
        let whole = |commit: &str| repository.git(&["rev-parse", commit]);
        Self {
            rule: linked(rule),
            before: whole(&format!("{made}^")),
            first: whole(&made),
            last: whole(&last),
            mended: mended.map(|mended| whole(&mended)),
            place: code(place),
        }
    }

    fn commits(&self) -> impl Iterator<Item = &String> {
        [&self.before, &self.first, &self.last].into_iter().chain(&self.mended)
    }
}

/// The commit in a cell, whose date has to be the one beside it.
fn commit(repository: &Treasuremap, cell: &str) -> String {
    let (commit, date) = cell.split_once(' ').expect("a commit and its date");
    let commit = code(commit);
    assert_eq!(repository.git(&["show", "--no-patch", "--format=%cs", &commit]), date, "{commit}");
    commit
}

/// A finding, wherever its lines and files moved: its rule, its document, and
/// what it says.
type Mistake = (String, String, String);

/// What is found in one commit.
#[derive(Clone, Default)]
struct Told {
    /// By rule and place.
    at: BTreeMap<(String, String), Mistake>,
    mistakes: BTreeSet<Mistake>,
}

impl Told {
    fn of(repository: &Treasuremap, commit: &str) -> Self {
        if repository.git(&["ls-tree", commit, "site/"]).is_empty() {
            return Self::default();
        }
        let checked = checked(repository, commit, "default");
        let mut told = Self::default();
        for finding in &checked.findings.diagnostics {
            let at = (finding.rule.name.to_owned(), place(&checked, finding));
            let document =
                finding.documents.first().map(|key| format!("{} {}", key.schema, key.name));
            let mistake = (at.0.clone(), document.unwrap_or_default(), finding.message.clone());
            told.mistakes.insert(mistake.clone());
            told.at.insert(at, mistake);
        }
        told
    }
}

fn place(checked: &Checked<()>, finding: &Diagnostic) -> String {
    let path = checked.sources.get(finding.primary.span.file).path();
    format!("{path}:{}", checked.sources.start(finding.primary.span).line)
}

/// A commit, checked as the program does where nothing is configured.
fn checked(repository: &Treasuremap, commit: &str, select: &str) -> Checked<()> {
    let selection = Selection {
        revision: Some(commit.to_owned()),
        selectors: Selectors { select: vec![select.to_owned()], ..Selectors::default() },
        baseline: BaselineChoice::Nothing,
        ..Selection::of(repository.path())
    };
    let workspace = Workspace::open(&selection).unwrap_or_else(|error| panic!("{commit}: {error}"));
    let progress = Progress::default();
    check(&workspace.plan(&progress), |_| ()).expect("the commit can be checked")
}

impl Treasuremap {
    pub(super) fn git(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
            git.env_remove(name);
        }
        let output = git.arg("-C").arg(self.path()).args(arguments).output().expect("git runs");
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).expect("git speaks UTF-8").trim().to_owned()
    }
}

/// The part of the page below this heading.
fn section(heading: &str) -> String {
    let page = std::fs::read_to_string(PAGE).expect("the page is there");
    let (_, rest) = page.split_once(&format!("\n## {heading}\n")).expect("the section is there");
    rest.split("\n## ").next().expect("a text has a first part").to_owned()
}

/// The rows of each table, without the heads.
fn tables(section: &str) -> Vec<Vec<Vec<String>>> {
    let blocks = section.split("\n\n").filter(|block| block.trim_start().starts_with('|'));
    let cells = |row: &str| {
        let cells = row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
        cells.collect::<Vec<_>>()
    };
    blocks.map(|block| block.trim().lines().skip(2).map(cells).collect()).collect()
}

/// How many findings a table counts, by rule and level.
fn counts(rows: &[Vec<String>]) -> BTreeMap<(String, String), usize> {
    let count = |cells: &Vec<String>| {
        let [rule, level, count, _] = &cells[..] else { panic!("four cells: {cells:?}") };
        ((linked(rule), level.clone()), count.parse().expect("a count"))
    };
    rows.iter().map(count).collect()
}

/// The rule that a cell links to.
fn linked(cell: &str) -> String {
    let name = cell.split('`').nth(1).expect("a rule in backticks");
    assert_eq!(cell, format!("[`{name}`](../src/rules/{name}.md)"));
    name.to_owned()
}

/// What a cell has in backticks, and nothing else.
fn code(cell: &str) -> String {
    cell.trim_matches('`').to_owned()
}
