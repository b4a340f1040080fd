//! Checks the claims of `docs/rules.md` about the largest public site repository: the number of
//! findings of each rule at the head, and the commits that contain the listed mistakes.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use layercake::check::{Checked, RunControl, check};
use layercake::commands::policy::Selectors;
use layercake::commands::{BaselineChoice, Project, Selection};
use layercake::diagnostic::Diagnostic;
use rayon::prelude::*;

use super::treasuremap::{HEAD, Treasuremap};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/rules.md");

/// Entry of the page for a mistake that was never fixed.
const NEVER: &str = "not yet";

#[test]
#[ignore = "needs the recorded corpus"]
fn findings_at_the_head_are_those_documented() {
    let repository = Treasuremap::clone();
    let section = section("On a real repository");
    let head = section
        .split('`')
        .nth(1)
        .expect("the section begins with the commit");
    assert_eq!(
        repository.git(&["rev-parse", HEAD]),
        repository.git(&["rev-parse", head])
    );
    let mut tables = tables(&section).into_iter();
    for select in ["default", "all"] {
        let documented = counts(
            &tables
                .next()
                .expect("one table for the default rules and one for the others"),
        );
        let checked = checked(&repository, head, select);
        let mut found: BTreeMap<(String, String), usize> = BTreeMap::new();
        for finding in &checked.findings.diagnostics {
            if finding.rule.is_default() == (select == "default") {
                let level = finding.severity.as_str().to_owned();
                *found
                    .entry((finding.rule.name.to_owned(), level))
                    .or_default() += 1;
            }
        }
        assert_eq!(found, documented, "{select}");
    }
    assert!(tables.next().is_none());
}

#[test]
#[ignore = "needs the recorded corpus"]
fn documented_mistakes_of_the_history_are_found() {
    let repository = Treasuremap::clone();
    let section = section("Defects in its history");
    let [rows] = &tables(&section)[..] else {
        panic!("one table of mistakes")
    };
    assert!(rows.len() >= 20, "there are {} rows", rows.len());
    let rows: Vec<Row> = rows
        .iter()
        .map(|cells| Row::read(&repository, cells))
        .collect();
    let commits: BTreeSet<&String> = rows.iter().flat_map(Row::commits).collect();
    let findings: BTreeMap<&String, CommitFindings> = commits
        .into_par_iter()
        .map(|commit| (commit, CommitFindings::of(&repository, commit)))
        .collect();
    for row in &rows {
        let what = format!("{} {}", row.rule, row.place);
        let at = (row.rule.clone(), row.place.clone());
        let mistake = findings[&row.first]
            .at
            .get(&at)
            .unwrap_or_else(|| panic!("{what}: not made"));
        let is_in = |commit| findings[commit].mistakes.contains(mistake);
        assert!(!is_in(&row.before), "{what}: made before");
        assert!(is_in(&row.last), "{what}: fixed earlier");
        assert!(!row.fixed.as_ref().is_some_and(is_in), "{what}: not fixed");
    }
}

/// Mistake in the history, as documented in the page, with the commits around it.
struct Row {
    rule: String,
    before: String,
    first: String,
    last: String,
    /// The commit that fixed it, if any.
    fixed: Option<String>,
    /// File and line in the first commit.
    place: String,
}

impl Row {
    fn read(repository: &Treasuremap, cells: &[String]) -> Self {
        let [rule, made, fixed, place, _] = cells else {
            panic!("five cells: {cells:?}")
        };
        let made = commit(repository, made);
        let fixed = (fixed != NEVER).then(|| commit(repository, fixed));
        let last = fixed
            .as_ref()
            .map_or(HEAD.to_owned(), |fixed| format!("{fixed}^"));
        let whole = |commit: &str| repository.git(&["rev-parse", commit]);
        Self {
            rule: linked(rule),
            before: whole(&format!("{made}^")),
            first: whole(&made),
            last: whole(&last),
            fixed: fixed.map(|fixed| whole(&fixed)),
            place: code(place),
        }
    }

    fn commits(&self) -> impl Iterator<Item = &String> {
        [&self.before, &self.first, &self.last]
            .into_iter()
            .chain(&self.fixed)
    }
}

/// Commit in a cell, which must have the date in the cell.
fn commit(repository: &Treasuremap, cell: &str) -> String {
    let (commit, date) = cell.split_once(' ').expect("a commit and its date");
    let commit = code(commit);
    assert_eq!(
        repository.git(&["show", "--no-patch", "--format=%cs", &commit]),
        date,
        "{commit}"
    );
    commit
}

/// Finding independent of its line and file: rule, document and message.
type Mistake = (String, String, String);

/// Findings in one commit.
#[derive(Clone, Default)]
struct CommitFindings {
    /// By rule and location.
    at: BTreeMap<(String, String), Mistake>,
    mistakes: BTreeSet<Mistake>,
}

impl CommitFindings {
    fn of(repository: &Treasuremap, commit: &str) -> Self {
        if repository.git(&["ls-tree", commit, "site/"]).is_empty() {
            return Self::default();
        }
        let checked = checked(repository, commit, "default");
        let mut found = Self::default();
        for finding in &checked.findings.diagnostics {
            let at = (finding.rule.name.to_owned(), place(&checked, finding));
            let document = finding
                .documents
                .first()
                .map(|key| format!("{} {}", key.schema, key.name));
            let mistake = (
                at.0.clone(),
                document.unwrap_or_default(),
                finding.message.clone(),
            );
            found.mistakes.insert(mistake.clone());
            found.at.insert(at, mistake);
        }
        found
    }
}

fn place(checked: &Checked<()>, finding: &Diagnostic) -> String {
    let path = checked.sources.get(finding.primary.span.file).path();
    format!(
        "{path}:{}",
        checked.sources.start(finding.primary.span).line
    )
}

/// Checks a commit like the program without a configuration.
fn checked(repository: &Treasuremap, commit: &str, select: &str) -> Checked<()> {
    let selection = Selection {
        revision: Some(commit.to_owned()),
        selectors: Selectors {
            select: vec![select.to_owned()],
            ..Selectors::default()
        },
        baseline: BaselineChoice::Nothing,
        ..Selection::of(repository.path())
    };
    let project = Project::open(&selection).unwrap_or_else(|error| panic!("{commit}: {error}"));
    let control = RunControl::default();
    check(&project.plan(&control), |_| ()).expect("the commit can be checked")
}

impl Treasuremap {
    pub(super) fn git(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
            git.env_remove(name);
        }
        let output = git
            .arg("-C")
            .arg(self.path())
            .args(arguments)
            .output()
            .expect("git runs");
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout)
            .expect("git prints UTF-8")
            .trim()
            .to_owned()
    }
}

/// Section of the page with this heading.
fn section(heading: &str) -> String {
    let page = std::fs::read_to_string(PAGE).expect("the page is there");
    let (_, rest) = page
        .split_once(&format!("\n## {heading}\n"))
        .expect("the page has the section");
    rest.split("\n## ")
        .next()
        .expect("a split has a first part")
        .to_owned()
}

/// Rows of each table, without the headings.
fn tables(section: &str) -> Vec<Vec<Vec<String>>> {
    let blocks = section
        .split("\n\n")
        .filter(|block| block.trim_start().starts_with('|'));
    let cells = |row: &str| {
        let cells = row
            .trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().to_owned());
        cells.collect::<Vec<_>>()
    };
    blocks
        .map(|block| block.trim().lines().skip(2).map(cells).collect())
        .collect()
}

/// Numbers of findings in a table, by rule and level.
fn counts(rows: &[Vec<String>]) -> BTreeMap<(String, String), usize> {
    let count = |cells: &Vec<String>| {
        let [rule, level, count, _] = &cells[..] else {
            panic!("four cells: {cells:?}")
        };
        (
            (linked(rule), level.clone()),
            count.parse().expect("a count"),
        )
    };
    rows.iter().map(count).collect()
}

/// The rule that a cell links to.
fn linked(cell: &str) -> String {
    let name = cell.split('`').nth(1).expect("a rule in backticks");
    assert_eq!(cell, format!("[`{name}`](../src/rules/{name}.md)"));
    name.to_owned()
}

/// Text in backticks, which must be the whole cell.
fn code(cell: &str) -> String {
    cell.trim_matches('`').to_owned()
}
