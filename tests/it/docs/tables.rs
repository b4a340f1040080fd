//! Tables of pages that say what the code says.

use std::collections::BTreeSet;
use std::fs;

use layercake::commands::sides::Environment;
use layercake::rules::RULES;

use super::commands::{help, leaves};
use super::root;

/// The page of exit codes and the help of each verb agree, word for word.
#[test]
fn exit_codes_are_those_of_the_help() {
    let mut told = rows("docs/exit-codes.md", "| verb | 0 | 1 | 2 |");
    told.sort();
    let mut expected: Vec<Vec<String>> = leaves().iter().map(|verb| exit_codes(verb)).collect();
    expected.sort();
    assert_eq!(told, expected);
}

/// A row of the table, as the help of a verb has it.
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

/// Behind each of Pegleg's codes are the rules that it selects.
#[test]
fn pegleg_codes_are_those_of_the_rules() {
    let mut told = BTreeSet::new();
    for row in rows("docs/pegleg.md", "| code | Pegleg looks for | rules here |") {
        let code = row[0].trim_matches('`').to_owned();
        let names = row[2].split("[`").skip(1).map(|rest| rest.split('`').next().unwrap());
        told.extend(names.map(|name| (code.clone(), name.to_owned())));
    }
    let aliases = |rule: &'static layercake::diagnostic::Rule| {
        rule.aliases.iter().map(|alias| ((*alias).to_owned(), rule.name.to_owned()))
    };
    let expected: BTreeSet<_> = RULES.iter().flat_map(|rule| aliases(rule)).collect();
    assert_eq!(told, expected);
}

/// What `--auto` reads of the environment is told, each variable with what it
/// does.
#[test]
fn variables_are_told() {
    let told: BTreeSet<String> = rows("docs/ci.md", "| variable | what it does |")
        .iter()
        .flat_map(|row| row[0].split(", ").map(|name| name.trim_matches('`').to_owned()))
        .collect();
    let also = [
        "GITHUB_EVENT_PATH",
        "LAYERCAKE_REPOSITORIES",
        "LAYERCAKE_CONFIG",
        "COLUMNS",
        "NO_COLOR",
        "CLICOLOR_FORCE",
    ];
    let read = Environment::VARIABLES.iter().chain(&also).map(|name| (*name).to_owned());
    assert_eq!(told, read.collect());
}

/// The cells of the table that begins with `heading`.
fn rows(page: &str, heading: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let (_, table) = text.split_once(&format!("\n{heading}\n")).expect("the page has the table");
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    let cells = |row: &str| {
        let row = row.trim_matches('|').replace("\\|", "\u{1}");
        row.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect()
    };
    rows.map(cells).collect()
}

/// The tables that `cargo bench -- table` writes.
#[path = "../../../benches/tables.rs"]
mod measured;

/// The page of costs has every table that the bench makes, as it makes it, and
/// figures in each.
#[test]
fn the_page_of_costs_has_every_table() {
    let page = fs::read_to_string(root().join("docs/performance.md")).unwrap();
    let mut written = page.clone();
    for table in &measured::TABLES {
        let (begin, end) = measured::markers(table.name);
        let (_, rest) =
            page.split_once(&begin).unwrap_or_else(|| panic!("{} is there", table.name));
        let text = rest.split_once(&end).unwrap_or_else(|| panic!("{} ends", table.name)).0;
        let mut lines = text.trim_start().lines();
        assert_eq!(lines.next(), Some(table.head), "write it: `cargo bench -- table`");
        assert_eq!(lines.next(), Some(&*measured::rule_of(table.head)));
        let columns = table.head.matches('|').count();
        let mut rows = 0;
        for row in lines {
            assert_eq!(row.matches('|').count(), columns, "{}: {row}", table.name);
            rows += 1;
        }
        assert!(rows > 0, "`{}` has figures: `cargo bench -- table`", table.name);
        written = measured::put(&written, table.name, text.trim_start_matches('\n')).unwrap();
    }
    assert_eq!(written, page, "writing the same tables changes nothing");
    assert!(measured::put("no table", "costs", "").is_err());
}
