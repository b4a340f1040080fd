//! Laws of the engine over generated site repositories, most of them valid, some broken on
//! purpose.

mod cloud_init;
mod comparison;
pub(crate) mod edits;
mod fixes;
mod history;
mod matching;
mod oracle;
mod parts;
mod repository;
mod slips;
mod unread;
mod workspace;

use std::collections::BTreeMap;
use std::sync::Arc;

use layercake::check::{Checked, Options, RenderedSite, check};
use layercake::merge::deckhand::Semantics;
use layercake::report::canonical;
use layercake::source::{Entry, MemoryTree, RepoPath, Tree};
use layercake::system::deckhand::layout::Layout;
use layercake::yaml::{Key, Node, Origin, Value};
use layercake_yaml_testing::config;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use rayon::ThreadPoolBuilder;

use self::repository::{CANARY, Repository, repository};
use crate::laws::reading::text_reads_as;
use crate::provenance::{untrue_flows, untrue_ways, ways_by_kind};
use crate::support::{finding_text, options, saved};

/// Result of a run: outputs by site and identity, and findings.
#[derive(Debug, PartialEq)]
struct RunResult {
    outputs: Vec<(String, String)>,
    findings: Vec<String>,
}

/// Rendered values of every site, by name.
type Outputs = Vec<(String, Node)>;

fn checked<T: Send>(
    tree: &(impl Tree + Clone + Send + 'static),
    from: &str,
    semantics: Semantics,
    per_site: impl Fn(&RenderedSite<'_>) -> T + Sync,
) -> Checked<T> {
    let layout = Layout::discover(tree, &RepoPath::new(from)).expect("memory can be listed");
    assert!(layout.is_some(), "the files are a site repository");
    let plan = Options::of(options(semantics)).plan(Arc::new(tree.clone()), layout, None);
    let checked = check(&plan, per_site).expect("files in memory can be checked");
    assert!(!checked.internal_error, "layercake itself does not fail");
    checked
}

fn outputs(site: &RenderedSite<'_>) -> Outputs {
    let name = site.site.name.as_deref().unwrap_or_default();
    let all = site.graph.iter();
    all.map(|(doc, recipe)| {
        let data = site.rendered.data(doc).cloned();
        let blocked = || Node::made(Value::String("blocked".into()), recipe.span);
        (
            format!("{name}: {} {}", recipe.key, recipe.emit),
            data.unwrap_or_else(blocked),
        )
    })
    .collect()
}

fn run_result(
    tree: &(impl Tree + Clone + Send + 'static),
    from: &str,
    semantics: Semantics,
) -> RunResult {
    let checked = checked(tree, from, semantics, outputs);
    let findings = checked.findings.diagnostics.iter();
    RunResult {
        findings: findings
            .map(|finding| finding_text(finding, &checked.sources))
            .collect(),
        outputs: checked
            .sites
            .into_iter()
            .flat_map(|site| site.taken.expect("layercake itself does not fail"))
            .map(|(name, data)| (name, canonical(&data)))
            .collect(),
    }
}

/// A tree that lists its files in another order.
#[derive(Clone)]
struct Shuffled {
    tree: MemoryTree,
    seed: usize,
}

impl Tree for Shuffled {
    fn inner(&self) -> Option<&dyn Tree> {
        Some(&self.tree)
    }

    fn entries(&self, folder: &RepoPath) -> Result<Vec<Entry>, layercake::error::Error> {
        let mut entries = self.tree.entries(folder)?;
        let weight = |entry: &Entry| {
            let bytes = entry.path.as_str().bytes();
            bytes.fold(self.seed, |sum, byte| {
                sum.wrapping_mul(31).rotate_left(7) ^ usize::from(byte)
            })
        };
        entries.sort_by_key(weight);
        Ok(entries)
    }
}

const SEMANTICS: [Semantics; 2] = [Semantics::Documented, Semantics::Deckhand];

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn the_order_of_files_threads_and_folders_do_not_matter(
        repository in repository(),
        seed in any::<usize>(),
        from in any::<prop::sample::Index>(),
    ) {
        let tree = repository.tree();
        for semantics in SEMANTICS {
            let first = run_result(&tree, "", semantics);
            let shuffled = Shuffled { tree: tree.clone(), seed };
            prop_assert_eq!(&run_result(&shuffled, "", semantics), &first);
            let folders = repository.folders();
            let from = &folders[from.index(folders.len())];
            prop_assert_eq!(&run_result(&tree, from, semantics), &first, "from {}", from);
            for threads in [1, 4] {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build();
                let pool = pool.expect("threads can be started");
                prop_assert_eq!(&pool.install(|| run_result(&tree, "", semantics)), &first);
            }
        }
    }
}

proptest! {
    #![proptest_config(config(120))]

    #[test]
    fn findings_point_into_their_texts(repository in repository()) {
        for semantics in SEMANTICS {
            let checked = checked(&repository.tree(), "", semantics, |_| ());
            for finding in &checked.findings.diagnostics {
                let labels = std::iter::once(&finding.primary).chain(&finding.related);
                for label in labels {
                    let text = checked.sources.get(label.span.file).text();
                    prop_assert!(text.get(label.span.range()).is_some(), "{:?} {:?}", finding, label);
                }
                prop_assert!(!finding.message.is_empty() && !finding.message.contains('\n'));
            }
        }
    }

    #[test]
    fn every_written_leaf_reads_back_from_its_span(repository in repository()) {
        for semantics in SEMANTICS {
            let checked = checked(&repository.tree(), "", semantics, |site| {
                let mut wrong = Vec::new();
                for (name, data) in outputs(site) {
                    leaves(&data, &mut |node| {
                        let text = site.sources.get(node.span.file).text();
                        if node.origin == Origin::Written && !text_reads_as(text, node.span, &node.value) {
                            wrong.push(format!("{name}: {:?} at {:?}", node.value, site.sources.slice(node.span)));
                        }
                    });
                }
                wrong
            });
            for site in checked.sites {
                prop_assert_eq!(site.taken, Some(Vec::new()));
            }
        }
    }

    #[test]
    fn every_value_traces_to_its_text(repository in repository()) {
        for semantics in SEMANTICS {
            let checked = checked(&repository.tree(), "", semantics, untrue_ways);
            for site in checked.sites {
                prop_assert_eq!(site.taken, Some(Vec::new()));
            }
        }
    }

    #[test]
    fn flows_agree_with_traces(repository in repository()) {
        for semantics in SEMANTICS {
            let checked = checked(&repository.tree(), "", semantics, untrue_flows);
            for site in checked.sites {
                prop_assert_eq!(site.taken, Some(Vec::new()));
            }
        }
    }

    #[test]
    fn traces_and_flows_agree_in_layered_repositories(repository in repository::layered()) {
        for semantics in SEMANTICS {
            let checked = checked(&repository.tree(), "", semantics, |site| {
                [untrue_ways(site), untrue_flows(site)].concat()
            });
            for site in checked.sites {
                prop_assert_eq!(site.taken, Some(Vec::new()));
            }
        }
    }

    /// Substituting a value does not change it.
    #[test]
    fn consumer_does_not_change_its_source(repository in repository(), consumer in repository::consumer()) {
        let with_consumer = repository.tree().with("site/one/zz-consumer.yaml", consumer.clone());
        let rendered = |tree: &MemoryTree, semantics| -> BTreeMap<String, String> {
            run_result(tree, "", semantics).outputs.into_iter().collect()
        };
        for semantics in SEMANTICS {
            let before = rendered(&repository.tree(), semantics);
            let mut after = rendered(&with_consumer, semantics);
            after.retain(|name, _| !name.contains("the-consumer"));
            prop_assert_eq!(after, before, "{}", consumer);
        }
    }

    #[test]
    fn secrets_are_never_shown(repository in repository()) {
        for semantics in SEMANTICS {
            let checked = checked(&repository.tree(), "", semantics, |site| {
                outputs(site).into_iter().filter(|(_, data)| leaks(data)).map(|it| it.0).collect::<Vec<_>>()
            });
            for finding in &checked.findings.diagnostics {
                let text = finding_text(finding, &checked.sources);
                prop_assert!(!text.contains(CANARY), "{}", text);
            }
            for report in reports(&checked) {
                prop_assert!(!report.contains(CANARY), "{}", report);
            }
            for site in &checked.sites {
                prop_assert_eq!(site.taken.as_deref(), Some(&[][..]));
            }
        }
    }
}

/// All text that is written about findings.
fn reports<T>(checked: &Checked<T>) -> [String; 2] {
    saved::full_and_json(&saved::of_checked(checked))
}

/// Whether public parts of a value hold the canary.
fn leaks(node: &Node) -> bool {
    if node.secret {
        return false;
    }
    let key_leaks = |key: &Key| key.as_str().is_some_and(|text| text.contains(CANARY));
    match &node.value {
        Value::String(text) => text.contains(CANARY),
        Value::Mapping(mapping) => mapping
            .iter()
            .any(|(key, node)| key_leaks(key) || leaks(node)),
        Value::Sequence(items) => items.iter().any(leaks),
        Value::Pairs(pairs) => pairs
            .iter()
            .any(|(left, right)| leaks(left) || leaks(right)),
        Value::Set(keys) => keys.iter().any(key_leaks),
        _ => false,
    }
}

fn leaves(node: &Node, visit: &mut dyn FnMut(&Node)) {
    match &node.value {
        Value::Sequence(items) => items.iter().for_each(|item| leaves(item, visit)),
        Value::Mapping(mapping) => mapping.values().for_each(|node| leaves(node, visit)),
        Value::Pairs(_) | Value::Set(_) => {}
        _ => visit(node),
    }
}

#[test]
fn layered_repositories_have_hops_of_all_kinds() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut vias = BTreeMap::<String, usize>::new();
    for _ in 0..150 {
        let repository: Repository = repository::layered()
            .new_tree(&mut runner)
            .expect("a repository can be made")
            .current();
        let checked = checked(&repository.tree(), "", Semantics::Documented, ways_by_kind);
        for (via, count) in checked
            .sites
            .into_iter()
            .filter_map(|site| site.taken)
            .flatten()
        {
            *vias.entry(via).or_default() += count;
        }
    }
    for via in [
        "Literal",
        "Made",
        "Inherited",
        "Layered",
        "Substituted",
        "Pattern",
        "lost",
    ] {
        assert!(
            vias.get(via).is_some_and(|count| *count > 10),
            "{via}: {vias:?}"
        );
    }
}

#[test]
fn generated_repositories_are_useful() {
    // Most of many sites render, and all kinds of findings occur.
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut rendered, mut rules) = (0, BTreeMap::<&str, usize>::new());
    for _ in 0..100 {
        let repository: Repository = repository()
            .new_tree(&mut runner)
            .expect("a repository can be made")
            .current();
        let checked = checked(&repository.tree(), "", Semantics::Documented, |site| {
            let writes = site
                .graph
                .iter()
                .map(|(doc, _)| site.rendered.writes(doc).len());
            writes.sum::<usize>()
        });
        rendered += checked
            .sites
            .iter()
            .filter_map(|site| site.taken)
            .sum::<usize>();
        for finding in &checked.findings.diagnostics {
            *rules.entry(finding.rule.name).or_default() += 1;
        }
    }
    eprintln!("{rendered} writes, {rules:?}");
    assert!(rendered > 300, "{rendered} writes");
    assert!(rules.len() > 25, "{rules:?}");
}
