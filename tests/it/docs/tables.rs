//! Tables in pages that must agree with the code.

use std::collections::BTreeSet;
use std::fs;

use layercake::commands::sides::Environment;
use layercake::rules::RULES;

use super::commands::{help, leaves};
use super::root;

/// The page of exit codes and the help of each verb have the same text.
#[test]
fn exit_codes_agree_with_the_help() {
    let mut documented = rows("docs/exit-codes.md", "| verb | 0 | 1 | 2 |");
    documented.sort();
    let mut expected: Vec<Vec<String>> = leaves().iter().map(|verb| exit_codes(verb)).collect();
    expected.sort();
    assert_eq!(
        documented, expected,
        "docs/exit-codes.md, the help of verbs"
    );
}

/// Row of the table from the help of a verb.
fn exit_codes(verb: &[String]) -> Vec<String> {
    let help = help(verb);
    let (_, codes) = help.split_once("\n\nExit codes: ").unwrap();
    let codes = codes.split_once("\n\n").unwrap().0.replace('\n', " ");
    let (first, second) = codes.trim_end_matches('.').split_once(", 2 ").unwrap();
    let (none, some) = first.split_once(", 1 ").unwrap_or((first, ""));
    let none = none.strip_prefix("0 ").unwrap();
    let verb = format!("`{}`", verb.join(" "));
    [&verb, none, some, second].map(str::to_owned).to_vec()
}

/// The rules of each Pegleg code are listed after it.
#[test]
fn pegleg_codes_agree_with_the_rules() {
    let mut documented = BTreeSet::new();
    for row in rows("docs/pegleg.md", "| code | Pegleg looks for | rules here |") {
        let code = row[0].trim_matches('`').to_owned();
        let names = row[2]
            .split("[`")
            .skip(1)
            .map(|rest| rest.split('`').next().unwrap());
        documented.extend(names.map(|name| (code.clone(), name.to_owned())));
    }
    let aliases = |rule: &'static layercake::diagnostic::Rule| {
        rule.aliases
            .iter()
            .map(|alias| ((*alias).to_owned(), rule.name.to_owned()))
    };
    let expected: BTreeSet<_> = RULES.iter().flat_map(|rule| aliases(rule)).collect();
    assert_eq!(documented, expected);
}

/// Every environment variable that `--auto` reads is documented.
#[test]
fn environment_variables_are_documented() {
    let documented: BTreeSet<String> = rows("docs/ci.md", "| variable | what it does |")
        .iter()
        .flat_map(|row| {
            row[0]
                .split(", ")
                .map(|name| name.trim_matches('`').to_owned())
        })
        .collect();
    let also = [
        "GITHUB_EVENT_PATH",
        "LAYERCAKE_REPOSITORIES",
        "LAYERCAKE_CONFIG",
        "COLUMNS",
        "NO_COLOR",
        "CLICOLOR_FORCE",
        "FORCE_COLOR",
    ];
    let read = Environment::VARIABLES
        .iter()
        .chain(&also)
        .map(|name| (*name).to_owned());
    assert_eq!(documented, read.collect());
}

/// Cells of the table that begins with `heading`.
fn rows(page: &str, heading: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let (_, table) = text
        .split_once(&format!("\n{heading}\n"))
        .expect("the page has the table");
    let rows = table
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with('|'));
    let cells = |row: &str| {
        let row = row.trim_matches('|').replace("\\|", "\u{1}");
        row.split('|')
            .map(|cell| cell.trim().replace('\u{1}', "|"))
            .collect()
    };
    rows.map(cells).collect()
}

/// Tables written by `cargo bench -- table`.
#[path = "../../../benches/tables.rs"]
mod measured;

/// The page has exactly the tables of the bench, each with its header and with rows.
#[test]
fn performance_page_has_all_tables() {
    let page = fs::read_to_string(root().join("docs/performance.md")).unwrap();
    assert_eq!(page.matches("<!-- table: ").count(), measured::TABLES.len());
    let mut written = page.clone();
    for table in &measured::TABLES {
        let (begin, end) = measured::markers(table.name);
        let (_, rest) = page
            .split_once(&begin)
            .unwrap_or_else(|| panic!("no table `{}`", table.name));
        let text = rest
            .split_once(&end)
            .unwrap_or_else(|| panic!("no end of `{}`", table.name))
            .0;
        let mut lines = text.trim_start().lines();
        assert_eq!(lines.next(), Some(table.head), "run `cargo bench -- table`");
        assert_eq!(lines.next(), Some(&*measured::rule_of(table.head)));
        let columns = table.head.matches('|').count();
        let mut rows = 0;
        for row in lines {
            assert_eq!(row.matches('|').count(), columns, "{}: {row}", table.name);
            rows += 1;
        }
        assert!(
            rows > 0,
            "`{}` has no rows; run `cargo bench -- table`",
            table.name
        );
        written = measured::put(&written, table.name, text.trim_start_matches('\n')).unwrap();
    }
    assert_eq!(written, page, "writing the same tables changes the page");
    assert!(measured::put("no table", "costs", "").is_err());
}
