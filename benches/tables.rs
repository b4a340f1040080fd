//! The tables of `docs/performance.md`: which there are, and how they are put
//! into the page. A test reads this too.

use std::io;

/// A table: its name, by which the page has it between two markers, and its
/// first line.
pub struct Table {
    pub name: &'static str,
    pub head: &'static str,
}

/// Every table, in the order of the page.
pub const TABLES: [Table; 7] = [
    Table { name: "targets", head: "| what | promised | least | median |" },
    Table {
        name: "costs",
        head: "| repository | files | documents | MB | sites | `lint` | `--since` | `--since` / `lint` \
               | `--staged` | memory of `lint` | of `--since` |",
    },
    Table {
        name: "growth",
        head: "| repository | size | a unit, per size | `lint`, per size | `--since`, per size | \
               `--staged`, per size |",
    },
    Table {
        name: "threads",
        head: "| repository | cores | time / CPU of `lint` | on one thread | of `--since` | of `--staged` | CPU / CPU on one \
               thread | time / time on one thread |",
    },
    Table {
        name: "stages",
        head: "| repository | run | start | list | read | parse | documents | relate | render | \
               validate | rules | pair | differ | cause | route | judge | report | free | rest | \
               dearest rule |",
    },
    Table {
        name: "cold",
        head: "| repository | read from disk | time, cold / warm | CPU, cold / warm |",
    },
    Table {
        name: "instructions",
        head: "| repository | `debug parse`, millions | `lint`, millions | `--since`, millions | \
               `lint` / `debug parse` | `--since` / `lint` |",
    },
];

/// The line below a head: names on the left, figures on the right.
pub fn rule_of(head: &str) -> String {
    let figures = head.matches('|').count() - 2;
    format!("|-|{}", "-:|".repeat(figures))
}

/// The page with these lines in the place of a table.
///
/// # Errors
/// Where the page has no place for it.
pub fn put(page: &str, name: &str, lines: &str) -> io::Result<String> {
    let (begin, end) = markers(name);
    let missing = || io::Error::other(format!("the page has no `{begin}` with `{end}` below it"));
    let (before, rest) = page.split_once(&begin).ok_or_else(missing)?;
    let (_, after) = rest.split_once(&end).ok_or_else(missing)?;
    Ok(format!("{before}{begin}\n{lines}{end}{after}"))
}

/// What stands before and after a table.
pub fn markers(name: &str) -> (String, String) {
    (format!("<!-- table: {name} -->\n"), format!("\n<!-- end of {name} -->"))
}
