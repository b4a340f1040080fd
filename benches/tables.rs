//! Tables of `docs/performance.md`, and their insertion into the page. A test includes this file.

use std::io;

/// A table: its name in the markers of the page, and its header row.
pub struct Table {
    pub name: &'static str,
    pub head: &'static str,
}

/// All tables, in the order of the page.
pub const TABLES: [Table; 2] = [
    Table {
        name: "costs",
        head: "| repository | files | documents | sites | `lint` | `--since` | hook | memory: `lint` | \
               `--since` | hook | instructions: `lint` | `--since` |",
    },
    Table {
        name: "budgets",
        head: "| budget | maximum | measured |",
    },
];

/// Delimiter row of a header: names aligned left, figures aligned right.
pub fn rule_of(head: &str) -> String {
    let figures = head.matches('|').count() - 2;
    format!("|-|{}", "-:|".repeat(figures))
}

/// Replaces the rows of a table in the page.
///
/// # Errors
/// If the page lacks the markers of the table.
pub fn put(page: &str, name: &str, lines: &str) -> io::Result<String> {
    let (begin, end) = markers(name);
    let missing = || io::Error::other(format!("the page lacks `{begin}` followed by `{end}`"));
    let (before, rest) = page.split_once(&begin).ok_or_else(missing)?;
    let (_, after) = rest.split_once(&end).ok_or_else(missing)?;
    Ok(format!("{before}{begin}\n{lines}{end}{after}"))
}

/// Markers before and after a table.
pub fn markers(name: &str) -> (String, String) {
    (
        format!("<!-- table: {name} -->\n"),
        format!("\n<!-- end of {name} -->"),
    )
}
