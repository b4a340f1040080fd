//! Sections of `docs/reference/` that comments name exist: "`deckhand.md` 10.6".

use std::collections::BTreeSet;
use std::fs;

use super::root;

/// Pages with numbered sections; the rows of `semantics.md` have the numbers of `deckhand.md` 18.
const PAGES: [&str; 4] = [
    "deckhand.md",
    "pegleg.md",
    "cloud-init.md",
    "heat-property-groups.md",
];

/// Folders with comments.
const FOLDERS: [&str; 4] = ["src", "crates", "tests/it", "benches"];

#[test]
fn sections_named_in_comments_exist() {
    let text = all_comments();
    let (mut count, mut missing) = (0, Vec::new());
    for page in PAGES {
        let path = root().join("docs/reference").join(page);
        let sections = sections(&fs::read_to_string(path).unwrap());
        for named in named_sections(&text, page) {
            count += 1;
            if !sections.contains(&named) {
                missing.push(format!("{page} {named}"));
            }
        }
    }
    assert!(count > 60, "{count} sections are named");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// Comments of all sources, each file as one line.
fn all_comments() -> String {
    let mut text = String::new();
    let entries = FOLDERS
        .iter()
        .flat_map(|folder| walkdir::WalkDir::new(root().join(folder)));
    for entry in entries.map(Result::unwrap) {
        if entry.path().extension().is_some_and(|it| it == "rs") {
            let source = fs::read_to_string(entry.path()).unwrap();
            for line in source.lines() {
                if let Some((_, comment)) = line.split_once("//") {
                    text += comment.trim_start_matches(['/', '!']).trim();
                    text.push(' ');
                }
            }
            text.push('\n');
        }
    }
    text
}

/// Numbers that follow the name of a page: "4.6, 15.2", "sections 5 to 7", "2 to 4, and 11".
fn named_sections(text: &str, page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for rest in text.split(page).skip(1) {
        let rest = rest.trim_start_matches('`');
        for word in rest.split(' ').skip(1) {
            let number = word.trim_end_matches([',', '.', ':', ';', ')', ']']);
            let is_number = number.starts_with(|it: char| it.is_ascii_digit())
                && number.chars().all(|it| it.is_ascii_digit() || it == '.');
            if is_number {
                found.push(number.to_owned());
            } else if !["section", "sections", "and", "to"].contains(&word) {
                break;
            }
            if is_number && word.ends_with(['.', ':', ';', ')', ']']) {
                break;
            }
        }
    }
    found
}

/// Numbers of sections: "## 4. Grammar", "### 1.2 Directories" and "**10.6** Write".
fn sections(page: &str) -> BTreeSet<String> {
    let numbers = page.lines().filter_map(|line| {
        let start = line.trim_start_matches(['#', '*', ' ']);
        let is_section = line.starts_with('#') || line.starts_with("**");
        let end = start.find(|it: char| !it.is_ascii_digit() && it != '.')?;
        let number = start[..end].trim_end_matches('.');
        (is_section && !number.is_empty()).then(|| number.to_owned())
    });
    numbers.collect()
}

#[test]
fn numbers_are_found() {
    let text = "(`a.md` 4.6, 15.2). Then `a.md` sections 5 to 7: 8. `a.md` has 9";
    assert_eq!(
        named_sections(text, "a.md"),
        ["4.6", "15.2", "5", "7"].map(str::to_owned)
    );
    let page = "# 1 of\n## 4. Grammar\n### 1.2 Directories\n**10.6** Write\n10.7 no\n";
    assert_eq!(
        sections(page),
        ["1", "1.2", "10.6", "4"].map(str::to_owned).into()
    );
}
