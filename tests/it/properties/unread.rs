//! What is taken in and not read is never "no change": generated sites, one file of which cannot be
//! read on one side.

use std::collections::BTreeSet;

use layercake::compare::Status;
use layercake::merge::deckhand::Semantics;
use layercake::rules::{ExpectedUnchanged, Gates, report_reach};
use layercake::source::{MemoryTree, RepoPath};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::comparison::{FOLLOWED, compared};
use super::repository::{Repository, repository};
use super::{checked, config};
use crate::support::saved;

/// Ways in which a file cannot be read.
#[derive(Clone, Copy, Debug)]
enum Way {
    Refused,
    Pointer,
    Encrypted,
    NotUtf8,
    Nested,
    Truncated,
}

const WAYS: [Way; 6] = [
    Way::Refused,
    Way::Pointer,
    Way::Encrypted,
    Way::NotUtf8,
    Way::Nested,
    Way::Truncated,
];

impl Way {
    /// The tree with this file made unreadable.
    fn applied(self, tree: MemoryTree, (path, text): &(String, String)) -> MemoryTree {
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:";
        let content = match self {
            Way::Refused => return tree.with_unreadable(path),
            Way::Pointer => format!("{pointer}{}\nsize 12\n", "a".repeat(64)).into_bytes(),
            Way::Encrypted => b"\0GITCRYPT\0\xfe\xff".to_vec(),
            Way::NotUtf8 => [b"\xff", text.as_bytes()].concat(),
            Way::Nested => {
                let nested = format!("{}{}", "[".repeat(300), "]".repeat(300));
                format!("{text}\n---\n{nested}\n").into_bytes()
            }
            Way::Truncated => format!("{text}\n---\na: [1\n").into_bytes(),
        };
        tree.with(path, content)
    }
}

/// Names of the sites that take a file in.
fn sites_with(repository: &Repository, path: &str) -> BTreeSet<String> {
    let definitions = repository.files.iter().filter_map(|(file, text)| {
        let site = file
            .strip_prefix("site/")?
            .strip_suffix("/site-definition.yaml")?;
        Some((site, text))
    });
    let mut parts = path.split('/');
    let (layer, name) = (parts.next().unwrap(), parts.next().unwrap());
    let takes = |site: &str, definition: &str| match layer {
        "site" => site == name,
        "type" => definition.contains(&format!("site_type: {name}}}")),
        _ => true,
    };
    definitions
        .filter(|(site, text)| takes(site, text))
        .map(|(site, _)| site.to_owned())
        .collect()
}

/// Rendered outputs, each with its site.
fn outputs(tree: &MemoryTree, semantics: Semantics) -> BTreeSet<(String, String)> {
    let checked = checked(tree, "", semantics, |site| {
        let rendered = site
            .graph
            .iter()
            .filter(|(doc, recipe)| recipe.emit && site.rendered.data(*doc).is_some());
        let name = site.site.name.as_deref().unwrap_or_default();
        rendered
            .map(|(_, recipe)| (name.to_owned(), recipe.key.to_string()))
            .collect::<Vec<_>>()
    });
    checked
        .sites
        .into_iter()
        .filter_map(|site| site.taken)
        .flatten()
        .collect()
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn unreadable_file_is_an_edit_of_unknown_content(
        repository in repository(),
        file in any::<Index>(),
        way in select(WAYS.to_vec()),
        is_base in any::<bool>(),
    ) {
        let file = &repository.files[file.index(repository.files.len())];
        let (readable, unread) = (repository.tree(), way.applied(repository.tree(), file));
        let (base, head) = if is_base { (&unread, &readable) } else { (&readable, &unread) };
        let semantics = Semantics::Documented;
        let compared = compared(base, head, semantics, FOLLOWED);
        let comparison = &compared.comparison;
        let path = RepoPath::new(file.0.as_str());
        let is_at = |span| *compared.checked.sources.path_of(span) == path;
        let mut unknown = comparison.edits.iter().filter(|it| it.edit.kind.is_unknown());
        prop_assert!(unknown.any(|it| is_at(it.edit.at())), "{way:?} {path}");

        let everything = globset::Glob::new("*").expect("a glob");
        let everything = globset::GlobSet::new([everything]).expect("a glob");
        let unchanged = Some(ExpectedUnchanged(everything));
        let gates = Gates { unchanged, ..Gates::default() };
        prop_assert!(!report_reach(comparison, &compared.consequences, &gates).is_empty(), "{way:?} {path}");

        let taking = sites_with(&repository, &file.0);
        let named = |site: &Option<std::sync::Arc<str>>| site.as_deref().unwrap_or_default().to_owned();
        for change in &comparison.outputs {
            prop_assert!(taking.contains(&named(&change.site)), "{way:?} {path}: {change:?}");
        }
        let found: BTreeSet<(String, String)> = comparison
            .outputs
            .iter()
            .map(|change| (named(&change.site), change.key.to_string()))
            .collect();
        let outputs = outputs(&readable, semantics);
        let expected = outputs.iter().filter(|(site, _)| taking.contains(site));
        for output in expected.clone() {
            prop_assert!(found.contains(output), "{way:?} {path}: {output:?}");
        }
        let unknown = comparison.outputs.iter().filter(|it| it.status == Status::NotComparable);
        let unknown = unknown.count();
        let json = saved::json(&saved::of_compared(&compared));
        let json: serde_json::Value = serde_json::from_str(&json).expect("a report is JSON");
        prop_assert_eq!(&json["totals"]["by_status"]["not_comparable"], unknown);
        prop_assert!(unknown > 0 || expected.count() == 0, "{way:?} {path}");
    }
}
