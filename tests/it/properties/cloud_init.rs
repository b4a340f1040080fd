//! Laws of sets over generated parts: from all sources, merged with all classes, including patches.

use std::sync::Arc;

use layercake::check::{
    Base, Checked, Configuration, Options, Plan, RenderedSite, Scope, Settings, check, compare,
};
use layercake::merge::cloud_init::Dialect;
use layercake::merge::deckhand::Semantics;
use layercake::report::canonical;
use layercake::source::{FileId, MemoryTree, Span, Tree};
use layercake::system::cloud_init::SourceKind;
use layercake::system::cloud_init::declared::DeclaredSet;
use layercake::yaml::Origin;
use proptest::prelude::*;
use proptest::sample::select;
use rayon::ThreadPoolBuilder;
use serde_json::{Value as Json, json};

use super::{Shuffled, config, leaves, outputs};
use crate::laws::reading::text_reads_as;
use crate::provenance::{untrue_flows, untrue_ways, ways_by_kind};
use crate::support::{finding_text, options};

pub const DIALECTS: [Dialect; 2] = [Dialect::Current, Dialect::Documented];

const SOURCES: [(SourceKind, &str); 5] = [
    (SourceKind::UserData, "user"),
    (SourceKind::VendorData2, "vendor2"),
    (SourceKind::VendorData, "vendor"),
    (SourceKind::ConfD, "conf.d"),
    (SourceKind::Base, "base"),
];

/// Configuration in which all files belong to one set.
fn configuration(dialect: Dialect) -> Configuration {
    let sources = SOURCES.map(|(kind, folder)| (kind, vec![Arc::from(format!("{folder}/*"))]));
    let set = DeclaredSet {
        name: "genesis".into(),
        at: Span::point(FileId::default(), 0),
        dialect,
        is_undecided: false,
        sources: sources.to_vec(),
        sites: None,
        secret: false,
    };
    Configuration {
        sets: vec![set],
        ..Configuration::default()
    }
}

fn plan(
    tree: &(impl Tree + Clone + Send + 'static),
    base: Option<&MemoryTree>,
    dialect: Dialect,
) -> Plan {
    let options = Options {
        configuration: configuration(dialect),
        ..Options::of(options(Semantics::Documented))
    };
    let base = base.map(|base| Base::of_repository(Arc::new(base.clone()), None));
    Plan {
        scope: Scope::Set(Vec::new()),
        ..options.plan(Arc::new(tree.clone()), None, base)
    }
}

pub fn checked<T: Send>(
    tree: &(impl Tree + Clone + Send + 'static),
    dialect: Dialect,
    per_site: impl Fn(&RenderedSite<'_>) -> T + Sync,
) -> Checked<T> {
    let plan = plan(tree, None, dialect);
    let checked = check(&plan, per_site).expect("files in memory can be checked");
    assert!(!checked.internal_error, "no internal error");
    checked
}

/// Result of a run: all rendered documents, and the findings.
fn result(
    tree: &(impl Tree + Clone + Send + 'static),
    dialect: Dialect,
) -> (Vec<(String, String)>, Vec<String>) {
    let checked = checked(tree, dialect, outputs);
    let findings = checked.findings.diagnostics.iter();
    let findings = findings
        .map(|finding| finding_text(finding, &checked.sources))
        .collect();
    let outputs = checked
        .sites
        .into_iter()
        .filter_map(|site| site.taken)
        .flatten();
    (
        outputs
            .map(|(name, data)| (name, canonical(&data)))
            .collect(),
        findings,
    )
}

/// Routes, flows and texts of a run that violate a law.
fn untrue(site: &RenderedSite<'_>) -> Vec<String> {
    [untrue_ways(site), untrue_flows(site), unread_leaves(site)].concat()
}

/// Written leaves whose text does not read as their value.
fn unread_leaves(site: &RenderedSite<'_>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, data) in outputs(site) {
        leaves(&data, &mut |node| {
            let text = site.sources.get(node.span.file).text();
            if node.origin == Origin::Written && !text_reads_as(text, node.span, &node.value) {
                let read = site.sources.slice(node.span);
                wrong.push(format!("{name}: {:?} at {read:?}", node.value));
            }
        });
    }
    wrong
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn result_is_independent_of_file_order_and_threads(tree in tree(), seed in any::<usize>()) {
        for dialect in DIALECTS {
            let first = result(&tree, dialect);
            prop_assert_eq!(&result(&Shuffled { tree: tree.clone(), seed }, dialect), &first);
            for threads in [1, 4] {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build();
                let pool = pool.expect("threads can be started");
                prop_assert_eq!(&pool.install(|| result(&tree, dialect)), &first);
            }
        }
    }

    #[test]
    fn equal_sides_have_no_changes(tree in tree()) {
        for dialect in DIALECTS {
            let plan = plan(&tree, Some(&tree), dialect);
            let compared = compare(&plan, &Settings::default()).expect("memory can be compared");
            prop_assert!(compared.comparison.outputs.is_empty());
            prop_assert!(compared.comparison.edits.is_empty());
        }
    }

    /// Every change has causes.
    #[test]
    fn every_change_has_causes(base in tree(), head in tree()) {
        for dialect in DIALECTS {
            let plan = plan(&head, Some(&base), dialect);
            let compared = compare(&plan, &Settings::default()).expect("memory can be compared");
            prop_assert!(!compared.checked.internal_error);
            for change in &compared.comparison.outputs {
                prop_assert_eq!(change.unexplained, 0, "{:?}", change.data);
            }
        }
    }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn every_value_has_a_route_to_its_text_and_back(tree in tree()) {
        for dialect in DIALECTS {
            for site in checked(&tree, dialect, untrue).sites {
                prop_assert_eq!(site.taken, Some(Vec::new()));
            }
        }
    }
}

/// Checks that the generators cover the laws.
#[test]
fn generated_sets_have_routes_of_all_kinds() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut kinds: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for _ in 0..60 {
        let tree = tree().new_tree(&mut runner).expect("a set").current();
        for site in checked(&tree, Dialect::Current, ways_by_kind).sites {
            for (kind, count) in site.taken.unwrap_or_default() {
                *kinds.entry(kind).or_default() += count;
            }
        }
    }
    for kind in ["Literal", "Merged", "lost"] {
        assert!(
            kinds.get(kind).is_some_and(|count| *count > 30),
            "{kind}: {kinds:?}"
        );
    }
}

pub fn tree() -> impl Strategy<Value = MemoryTree> {
    tree_with(|| part().boxed(), || patch().boxed())
}

/// Files of a set; some sources may have none.
pub fn tree_with(
    part: fn() -> BoxedStrategy<String>,
    patch: fn() -> BoxedStrategy<String>,
) -> impl Strategy<Value = MemoryTree> {
    let user_data = || prop::collection::vec(prop_oneof![6 => part(), 1 => patch()], 0..5);
    let files = || prop::collection::vec(part(), 0..4);
    let base = prop::collection::vec(part(), 0..2);
    (user_data(), user_data(), user_data(), files(), base).prop_map(
        |(user, vendor2, vendor, conf_d, base)| {
            let of_sources = [user, vendor2, vendor, conf_d, base];
            let mut tree = MemoryTree::new();
            for ((kind, folder), texts) in SOURCES.iter().zip(of_sources) {
                for (number, text) in texts.into_iter().enumerate() {
                    let end = if *kind == SourceKind::ConfD {
                        ".cfg"
                    } else {
                        ""
                    };
                    tree = tree.with(&format!("{folder}/{number}{end}"), text);
                }
            }
            tree
        },
    )
}

/// A part, as JSON or as block YAML.
fn part() -> impl Strategy<Value = String> {
    let how = prop_oneof![4 => Just(None), 5 => specification().prop_map(Some)];
    (
        mapping(),
        how,
        select(vec!["merge_how", "merge_type"]),
        any::<bool>(),
    )
        .prop_map(|(mut mapping, how, key, as_json)| {
            if let Some(how) = how {
                mapping[key] = json!(how);
            }
            let text = if as_json {
                mapping.to_string()
            } else {
                blocks(&mapping)
            };
            format!("#cloud-config\n{text}\n")
        })
}

fn blocks(json: &Json) -> String {
    let node = crate::conformance::node_of(json).expect("the JSON is data");
    layercake::yaml::emit::to_yaml(&node, &layercake::yaml::emit::EmitOptions::default())
}

fn specification() -> impl Strategy<Value = String> {
    let dict = select(vec![
        "dict()",
        "dict(replace)",
        "dict(recurse_list)",
        "dict(recurse_list,recurse_str)",
        "dict(recurse_list,recurse_str,allow_delete)",
        "dict(overwrite)",
    ]);
    let list = select(vec![
        "list()",
        "list(append)",
        "list(prepend)",
        "list(no_replace)",
        "list(recurse_dict,recurse_list,recurse_str)",
        "list(extend)",
        "",
    ]);
    let text = select(vec!["str()", "str(append)", "", "str(", "other()"]);
    let text = prop_oneof![9 => select(vec!["str()", "str(append)", ""]), 1 => text];
    (dict, list, text).prop_map(|(dict, list, text)| format!("{dict}+{list}+{text}"))
}

fn patch() -> impl Strategy<Value = String> {
    let path = || {
        select(vec![
            "/a",
            "/b",
            "/a/c",
            "/b/0",
            "/c/-",
            "/c",
            "/merge_type",
            "/a/b",
        ])
    };
    let operation = (
        select(vec!["add", "remove", "replace", "move", "copy", "test"]),
        path(),
        path(),
        value(),
    )
        .prop_map(
            |(op, path, from, value)| json!({"op": op, "path": path, "from": from, "value": value}),
        );
    prop::collection::vec(operation, 1..3)
        .prop_map(|operations| format!("#cloud-config-jsonp\n{}", json!(operations)))
}

fn mapping() -> impl Strategy<Value = Json> {
    let keys = select(vec!["a", "b", "c", "d e"]);
    prop::collection::btree_map(keys, value(), 0..4).prop_map(|entries| json!(entries))
}

fn value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (-3..300i64).prop_map(Json::from),
        select(vec!["", "x", "long text", "ü", "7", "a\nb\n"]).prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let keys = select(vec!["a", "b", "c"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
            prop::collection::btree_map(keys, inner, 0..3).prop_map(|entries| json!(entries)),
        ]
    })
}
