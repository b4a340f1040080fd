//! Laws of fixes: a fix changes nothing else.

use layercake::diagnostic::{Diagnostic, Label, Safety, TextEdit};
use layercake::fix::{fixed, with_ignores};
use layercake::merge::deckhand::Semantics;
use layercake::rules;
use layercake::source::{MemoryTree, RepoPath, Source, SourceMap, Span, Tree};
use layercake::yaml::parse;
use proptest::prelude::*;
use proptest::sample::Index;

use super::repository::repository;
use super::{checked, config};

/// A file with this text, and its id.
fn one(text: &str) -> (SourceMap, layercake::source::FileId) {
    let mut sources = SourceMap::new();
    let bytes = Ok(text.as_bytes().to_vec());
    let file = sources.add(Source::new(RepoPath::new("a.yaml"), bytes));
    (sources, file)
}

/// Text with other line endings, a byte order mark, or no final line break.
fn styled(text: &str, (carriage, mark, open): (bool, bool, bool)) -> String {
    // Trailing spaces would be removed together with a comment on their line.
    let text: String = text
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect();
    let text = if open { text.trim_end() } else { &*text };
    let text = if carriage {
        text.replace('\n', "\r\n")
    } else {
        text.to_owned()
    };
    if mark {
        format!("\u{feff}{text}")
    } else {
        text
    }
}

proptest! {
    #![proptest_config(config(300))]

    /// Text outside of edits is unchanged; an edit is applied completely or not at all.
    #[test]
    fn fixes_change_only_the_text_of_their_edits(
        text in "[a-cä\r\n ]{1,40}",
        fixes in prop::collection::vec(
            prop::collection::vec((any::<Index>(), any::<Index>(), "[x-z]{0,3}"), 1..3),
            0..5,
        ),
    ) {
        let (sources, file) = one(&text);
        let borders: Vec<usize> =
            (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
        let edit = |(left, right, put): &(Index, Index, String)| {
            let (left, right) = (*left.get(&borders), *right.get(&borders));
            let (start, end) = (left.min(right) as u32, left.max(right) as u32);
            TextEdit { span: Span::new(file, start, end), text: put.clone() }
        };
        let rule = rules::find("unused-ignore").unwrap();
        let findings: Vec<Diagnostic> = fixes
            .iter()
            .enumerate()
            .map(|(number, edits)| {
                let mut edits: Vec<TextEdit> = edits.iter().map(edit).collect();
                edits.sort_by_key(|edit| edit.span);
                edits.dedup_by(|later, earlier| later.span.start <= earlier.span.end);
                let label = Label::new(Span::point(file, 0), "");
                Diagnostic::new(rule, "m", label).fix(number.to_string(), edits)
            })
            .collect();
        let made = fixed(&findings, &sources, Safety::Safe, &|_| true);
        let applied = made.findings.iter().flat_map(|at| &findings[*at].fix.as_ref().unwrap().edits);
        let mut applied: Vec<&TextEdit> = applied.collect();
        applied.sort_by_key(|edit| edit.span);
        let (mut expected, mut from) = (String::new(), 0);
        for edit in applied {
            prop_assert!(from as u32 <= edit.span.start, "applied fixes overlap");
            expected += &text[from..edit.span.start as usize];
            expected += &edit.text;
            from = edit.span.end as usize;
        }
        expected += &text[from..];
        prop_assert_eq!(made.texts.get(&file).unwrap_or(&text), &expected);
        prop_assert_eq!(made.findings.first(), findings.first().map(|_| &0), "the first fix is applied");
    }
}

proptest! {
    #![proptest_config(config(60))]

    /// Adding ignore comments to any files of a repository changes no value; as they suppress
    /// nothing, their fixes remove them again, byte for byte.
    #[test]
    fn added_ignore_comments_are_removed_by_their_fixes(
        repository in repository(),
        places in prop::collection::vec(any::<Index>(), 1..6),
        style in any::<(bool, bool, bool)>(),
    ) {
        let rule = rules::find("unread-file").unwrap();
        let mut tree = MemoryTree::new();
        let mut befores = Vec::new();
        for (path, text) in &repository.files {
            let before = styled(text, style);
            let (sources, file) = one(&before);
            let parsed = parse(file, &before);
            let lines = sources.get(file).lines();
            let has_text = |line: &usize| {
                let (start, end) = (lines.start_of(*line), lines.start_of(*line + 1));
                let end = end.map_or(before.len(), |end| end as usize);
                !before[start.unwrap() as usize..end].trim_matches(['\u{feff}', ' ', '\r', '\n']).is_empty()
            };
            let lines: Vec<usize> = (0..lines.count()).filter(has_text).collect();
            let is_sound = parsed.problems.is_empty() && !lines.is_empty();
            let findings: Vec<Diagnostic> = places
                .iter()
                .filter(|_| is_sound)
                .map(|place| {
                    let start = sources.get(file).lines().start_of(*place.get(&lines)).unwrap();
                    let mark = if start == 0 && before.starts_with('\u{feff}') { 3 } else { 0 };
                    Diagnostic::new(rule, "m", Label::new(Span::point(file, start + mark), ""))
                })
                .collect();
            let findings: Vec<&Diagnostic> = findings.iter().collect();
            let (after, missed) = with_ignores(sources.get(file), &findings, "why");
            prop_assert_eq!(missed, Vec::<usize>::new(), "{}", before);
            let roots = |text: &str| -> Vec<layercake::yaml::Node> {
                parse(file, text).documents.into_iter().map(|document| document.root).collect()
            };
            prop_assert_eq!(roots(&after), roots(&before));
            prop_assert_eq!(is_sound, after != before);
            let first = |text: &str| text.lines().next().map(str::to_owned);
            let begins = before.trim_start_matches('\u{feff}').lines().next() == Some("---");
            prop_assert!(!begins || first(&after) == first(&before), "{}", after);
            tree = tree.with(path, after);
            befores.push((RepoPath::new(path.as_str()), before));
        }
        // Comments on one line are removed one at a time.
        for round in 0.. {
            let checked = checked(&tree, "", Semantics::Documented, |_| ());
            let unused: Vec<Diagnostic> = checked
                .findings
                .diagnostics
                .into_iter()
                .filter(|finding| finding.rule.name == "unused-ignore")
                .collect();
            if unused.is_empty() {
                break;
            }
            prop_assert!(round < 10, "fixes end");
            let made = fixed(&unused, &checked.sources, Safety::Safe, &|_| true);
            prop_assert!(!made.findings.is_empty());
            for (file, text) in made.texts {
                tree = tree.with(checked.sources.get(file).path().as_str(), text);
            }
        }
        for (path, before) in befores {
            let after = tree.read(&path).unwrap();
            prop_assert_eq!(String::from_utf8(after).unwrap(), before);
        }
    }
}
