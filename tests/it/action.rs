//! The tables in `docs/github-action.md` match `action.yml`. Its scripts are tested by
//! `.ci/action`.

use std::fmt::Write as _;
use std::fs;

use serde_yaml::Value;

use super::stored::{assert_stored, root};

#[test]
fn tables_match_the_action() {
    let path = "docs/github-action.md";
    let page = fs::read_to_string(root().join(path)).unwrap();
    let action = fs::read_to_string(root().join("action.yml")).unwrap();
    let action: Value = serde_yaml::from_str(&action).unwrap();
    let inputs = table(&action["inputs"], |name, input| {
        let default = match input["default"].as_str().expect("a default is a string") {
            "" => String::new(),
            default => format!("`{default}`"),
        };
        format!("| `{name}` | {default} | {} |", description(input))
    });
    let outputs = table(&action["outputs"], |name, output| {
        format!("| `{name}` | {} |", description(output))
    });
    let expected = with_table(&page, "| input | default | |\n|---|---|---|\n", &inputs);
    let expected = with_table(&expected, "| output | |\n|---|---|\n", &outputs);
    assert_stored(path, &expected);
}

fn table(entries: &Value, row: impl Fn(&str, &Value) -> String) -> String {
    let mut rows = String::new();
    for (name, entry) in entries.as_mapping().expect("the action has them") {
        writeln!(rows, "{}", row(name.as_str().unwrap(), entry)).unwrap();
    }
    assert!(!rows.is_empty());
    rows
}

/// Description of an input or output. It can be a table cell, and has no full stop, as on GitHub's
/// own pages.
fn description(entry: &Value) -> &str {
    let text = entry["description"]
        .as_str()
        .expect("everything is described");
    assert!(!text.contains('|') && !text.ends_with('.'), "{text}");
    text
}

/// Replaces the rows below a table's head on the page.
fn with_table(page: &str, head: &str, rows: &str) -> String {
    let (before, rest) = page.split_once(head).expect("the page has the table");
    let after = rest.trim_start_matches(|it| it != '\n' && it != '|');
    let old: usize = after
        .split_inclusive('\n')
        .take_while(|it| it.starts_with('|'))
        .map(str::len)
        .sum();
    format!("{before}{head}{rows}{}", &after[old..])
}
