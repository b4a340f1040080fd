//! Findings that follow from a slip: a repository with two slips, of which one is corrected, has
//! none of the findings that follow from a finding that is gone.

use std::collections::{BTreeMap, BTreeSet};

use layercake::commands::configuration::ConfigurationSource;
use layercake::commands::policy::Selectors;
use layercake::merge::deckhand::Semantics;
use layercake::rules::Gates;
use layercake::source::MemoryTree;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::Value as Json;

use super::repository::{Repository, layered, repository};
use crate::support::{check_files, compare_files, options, saved};

/// Number of repositories with slips.
const CASES: usize = 200;

/// A slip; if its text does not occur, it has no effect.
#[derive(Clone, Debug)]
enum Slip {
    /// Replaces one occurrence of a text.
    Text(&'static str, &'static str, Index),
    /// Removes a document.
    NoDocument(Index),
    /// Renames a folder.
    Folder(&'static str, &'static str),
}

impl Slip {
    /// Applies the slip, and returns the file and the document that it changes, if it is one.
    fn apply(&self, repository: &mut Repository) -> Option<(usize, usize)> {
        match self {
            Slip::Text(from, to, at) => {
                let all = repository
                    .files
                    .iter()
                    .enumerate()
                    .flat_map(|(file, (_, text))| {
                        text.match_indices(from).map(move |(at, _)| (file, at))
                    });
                let all: Vec<(usize, usize)> = all.collect();
                let &(file, at) = all.get(at.index(all.len().max(1)))?;
                let text = &mut repository.files[file].1;
                let document = text[..at].matches("---\n").count();
                text.replace_range(at..at + from.len(), to);
                Some((file, document))
            }
            Slip::NoDocument(at) => {
                let all = repository
                    .files
                    .iter()
                    .enumerate()
                    .flat_map(|(file, (_, text))| {
                        (1..text.split("---\n").count()).map(move |document| (file, document))
                    });
                let all: Vec<(usize, usize)> = all.collect();
                let &(file, document) = all.get(at.index(all.len().max(1)))?;
                let text = &mut repository.files[file].1;
                let mut documents: Vec<&str> = text.split("---\n").collect();
                documents.remove(document);
                *text = documents.join("---\n");
                Some((file, document))
            }
            Slip::Folder(from, to) => {
                for (path, _) in &mut repository.files {
                    *path = path.replace(from, to);
                }
                None
            }
        }
    }
}

fn slip() -> impl Strategy<Value = Slip> {
    let texts = vec![
        ("\nmetadata:", "\nmetdata:"),
        ("  layeringDefinition", "  layeringDefinitions"),
        ("layer: global", "layer: globl"),
        ("layer: site", "layer: sit"),
        ("-global\n", "-globl\n"),
        ("-site\n", "-siet\n"),
        ("name: parent", "name: parnet"),
        ("labels: {k: ", "labels: {kk: "),
        ("labels: {k: a", "labels: {k: aaaa"),
        ("parentSelector: {k: ", "parentSelector: {kk: "),
        (
            "parentSelector: {is: parent}",
            "parentSelector: {is: parnet}",
        ),
        (
            "schema: example/Kind/v1\nmetadata",
            "schema: example/Knid/v1\nmetadata",
        ),
        ("LayeringPolicy/v1", "LayeringPolcy/v1"),
        ("layerOrder", "layerOrdr"),
        ("[global, type, site]", "[globl, type, site]"),
        ("site_type: big", "site_type: bgi"),
        ("site_type", "site_typ"),
        ("data: {", "data: {]"),
        ("\ndata:", "\ndta:"),
        ("x:", "xx:"),
        ("y:", "yy:"),
    ];
    let text =
        (select(texts), any::<Index>()).prop_map(|((from, to), at)| Slip::Text(from, to, at));
    let folder = select(vec![("type/big", "type/bigg"), ("type/small", "type/smal")]);
    prop_oneof![
        8 => text,
        2 => any::<Index>().prop_map(Slip::NoDocument),
        1 => folder.prop_map(|(from, to)| Slip::Folder(from, to)),
    ]
}

/// A finding in any line: rule, file and message.
type Found = (String, String, String);

/// Findings, each with the fingerprint of the finding that it follows from.
struct Findings(Vec<(Found, String, Option<String>)>);

impl Findings {
    fn of_report(json: &str) -> Self {
        let report: Json = serde_json::from_str(json).expect("a report is JSON");
        let findings = report["findings"].as_array().expect("findings").iter();
        let findings = findings.filter(|it| it["state"] == "new" || it["state"].is_null());
        let text = |value: &Json| value.as_str().map(str::to_owned);
        let of_finding = |it: &Json| {
            let [rule, message, fingerprint] =
                ["rule", "message", "fingerprint"].map(|key| text(&it[key]).expect("a text"));
            let file = text(&it["primary"]["file"]).expect("a file");
            ((rule, file, message), fingerprint, text(&it["because_of"]))
        };
        Self(findings.map(of_finding).collect())
    }

    fn all(&self) -> BTreeSet<&Found> {
        self.0.iter().map(|(found, ..)| found).collect()
    }

    /// Roots with the findings that follow from them.
    fn roots(&self) -> BTreeMap<&Found, Vec<&Found>> {
        let mut roots: BTreeMap<&Found, Vec<&Found>> = BTreeMap::new();
        for (found, _, because_of) in &self.0 {
            let Some(because_of) = because_of else {
                continue;
            };
            let mut named = self
                .0
                .iter()
                .filter(|(_, print, of)| print == because_of && of.is_none());
            let root = named.next().expect("the root of a finding is listed");
            // Findings with the same fingerprint are indistinguishable.
            if named.next().is_none() {
                roots.entry(&root.0).or_default().push(found);
            }
        }
        roots
    }
}

fn linted(tree: &MemoryTree) -> Findings {
    let checked = check_files(tree, options(Semantics::Documented), |_| ());
    Findings::of_report(&saved::json(&saved::of_checked(&checked)))
}

fn compared(base: &MemoryTree, head: &MemoryTree) -> Findings {
    let (selectors, gates) = (Selectors::default(), Gates::default());
    let source = ConfigurationSource::Nowhere;
    let options = options(Semantics::Documented);
    let compared = compare_files(base, head, options, &selectors, &source, &gates);
    Findings::of_report(&saved::json(&saved::of_compared(&compared)))
}

/// Number of findings that follow from others, after checking that those whose root is gone in one
/// of `corrected` are gone, too, unless the repository has them without any slip.
fn check_roots(
    with_slips: &Findings,
    corrected: &[Findings],
    usual: &Findings,
    case: &dyn Fn() -> String,
) -> usize {
    let (roots, usual) = (with_slips.roots(), usual.all());
    for corrected in corrected {
        let left: BTreeSet<&Found> = corrected.all().difference(&usual).copied().collect();
        for (root, followers) in roots.iter().filter(|(root, _)| !left.contains(*root)) {
            for follower in followers {
                assert!(
                    !left.contains(follower),
                    "{follower:?} is left without {root:?}: {}",
                    case()
                );
            }
        }
    }
    roots.values().map(Vec::len).sum()
}

#[test]
fn corrected_slip_leaves_none_of_its_consequences() {
    let strategy = (
        prop_oneof![1 => repository(), 2 => layered()],
        [slip(), slip()],
    );
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[62; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let (mut alone, mut in_comparisons) = (0, 0);
    for _ in 0..CASES {
        let tree = strategy
            .new_tree(&mut runner)
            .expect("a repository can be generated");
        let (base, slips) = tree.current();
        let with = |slips: &[&Slip]| {
            let mut repository = base.clone();
            let changed: Vec<_> = slips
                .iter()
                .map(|slip| slip.apply(&mut repository))
                .collect();
            (repository.tree(), changed)
        };
        let [first, second] = &slips;
        let (both, changed) = with(&[first, second]);
        // Two slips in one document are one edit.
        if changed[0].is_some() && changed[0] == changed[1] {
            continue;
        }
        let single = [with(&[first]).0, with(&[second]).0];
        let case = || format!("{slips:?} in {:#?}", base.files);
        let usual = linted(&base.tree());
        let alone_corrected = [linted(&single[0]), linted(&single[1])];
        alone += check_roots(&linted(&both), &alone_corrected, &usual, &case);
        let before = base.tree();
        let corrected = single.map(|head| compared(&before, &head));
        in_comparisons += check_roots(
            &compared(&before, &both),
            &corrected,
            &Findings(Vec::new()),
            &case,
        );
    }
    assert!(
        alone > 100 && in_comparisons > 100,
        "{alone} and {in_comparisons} findings follow"
    );
}
