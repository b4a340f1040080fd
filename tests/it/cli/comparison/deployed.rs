//! Whether a changed output is deployed equals a walk over the rendered documents: from the
//! configuration of a site to its manifests, their groups, charts, and the charts that these need.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use layercake_yaml_testing::config;
use proptest::prelude::*;
use proptest::sample::{Index, subsequence};
use serde_json::Value as Json;

use super::{Sandbox, definition};
use crate::conformance::corpus;
use crate::conformance::treasuremap::{HEAD, Treasuremap};
use crate::stored::root;
use crate::support::sample::is_thorough;

const CHARTS: [&str; 5] = ["api", "db", "db-init", "proxy", "web"];
const GROUPS: [&str; 3] = ["core", "edge", "store"];
const MANIFESTS: [&str; 3] = ["full-site", "small", "unknown"];
const SITES: [&str; 2] = ["one", "two"];

/// Names in a chart, a group or a manifest, and a value, in the global document and added to it in the
/// first site.
#[derive(Clone, Debug)]
struct Listed {
    names: Vec<&'static str>,
    value: u8,
    in_site: Option<Vec<&'static str>>,
}

#[derive(Clone, Debug)]
struct World {
    charts: Vec<Listed>,
    groups: Vec<Listed>,
    /// The first two manifests; nothing renders the third.
    manifests: Vec<Listed>,
    /// `manifest` and `update_manifest` of each site that has a configuration.
    configurations: Vec<Option<[Option<&'static str>; 2]>>,
}

fn listed(names: &'static [&'static str]) -> impl Strategy<Value = Listed> {
    let some = move || subsequence(names, 0..=names.len().min(3));
    let in_site = prop_oneof![3 => Just(None), 1 => some().prop_map(Some)];
    (some(), 0..2_u8, in_site).prop_map(|(names, value, in_site)| Listed {
        names,
        value,
        in_site,
    })
}

fn world() -> impl Strategy<Value = World> {
    let manifest = || prop_oneof![1 => Just(None), 4 => any::<Index>().prop_map(|at| Some(*at.get(&MANIFESTS)))];
    let configuration = prop_oneof![
        1 => Just(None),
        5 => [manifest(), manifest()].prop_map(Some)
    ];
    (
        prop::collection::vec(listed(&CHARTS), CHARTS.len()),
        prop::collection::vec(listed(&CHARTS), GROUPS.len()),
        prop::collection::vec(listed(&GROUPS), 2),
        prop::collection::vec(configuration, SITES.len()),
    )
        .prop_map(|(charts, groups, manifests, configurations)| World {
            charts,
            groups,
            manifests,
            configurations,
        })
}

/// The state before and after edits of a few parts.
fn edited() -> impl Strategy<Value = [World; 2]> {
    (world(), world(), prop::collection::vec(any::<bool>(), 12)).prop_map(|(base, other, taken)| {
        let mut taken = taken.into_iter().cycle();
        let mut mixed = |base: &[Listed], other: &[Listed]| -> Vec<Listed> {
            let both = base.iter().zip(other);
            both.map(|(base, other)| {
                let [names, value] = [(); 2].map(|()| taken.next() == Some(true));
                Listed {
                    names: if names { &other.names } else { &base.names }.clone(),
                    value: if value { other.value } else { base.value },
                    in_site: base.in_site.clone(),
                }
            })
            .collect()
        };
        let head = World {
            charts: mixed(&base.charts, &other.charts),
            groups: mixed(&base.groups, &other.groups),
            manifests: mixed(&base.manifests, &other.manifests),
            configurations: other.configurations,
        };
        [base, head]
    })
}

impl World {
    fn write(&self, sandbox: &Sandbox) {
        let kinds = [
            ("Chart", "dependencies", &CHARTS[..], &self.charts),
            ("ChartGroup", "chart_group", &GROUPS[..], &self.groups),
            ("Manifest", "chart_groups", &MANIFESTS[..], &self.manifests),
        ];
        let (mut global, mut of_site) = (String::new(), String::new());
        for (kind, key, names, all) in kinds {
            for (
                name,
                Listed {
                    names,
                    value,
                    in_site,
                },
            ) in names.iter().zip(all)
            {
                let names = names.join(", ");
                write!(
                    global,
                    "---\nschema: armada/{kind}/v1\nmetadata:\n  schema: metadata/Document/v1\n  \
                     name: {name}\n  labels: {{is: {kind}-{name}}}\n  storagePolicy: cleartext\n  \
                     layeringDefinition: {{abstract: {}, layer: global}}\ndata: {{{key}: \
                     [{names}], value: {value}}}\n",
                    in_site.is_some(),
                )
                .unwrap();
                if let Some(names) = in_site {
                    write!(
                        of_site,
                        "---\nschema: armada/{kind}/v1\nmetadata:\n  schema: \
                         metadata/Document/v1\n  name: {name}\n  storagePolicy: cleartext\n  \
                         layeringDefinition: {{abstract: false, layer: site, parentSelector: \
                         {{is: {kind}-{name}}}, actions: [{{method: merge, path: .}}]}}\ndata: \
                         {{{key}: [{}]}}\n",
                        names.join(", "),
                    )
                    .unwrap();
                }
            }
        }
        sandbox.write("global/policy.yaml", crate::cli::POLICY);
        sandbox.write("global/armada.yaml", global);
        sandbox.write("type/small/nothing.yaml", "# nothing\n");
        for (site, configuration) in SITES.iter().zip(&self.configurations) {
            sandbox.write(
                &format!("site/{site}/site-definition.yaml"),
                definition(site, ""),
            );
            let mut text = if *site == SITES[0] {
                of_site.clone()
            } else {
                String::new()
            };
            if let Some([manifest, update]) = configuration {
                text += "---\nschema: shipyard/DeploymentConfiguration/v1\nmetadata:\n  schema: \
                         metadata/Document/v1\n  name: deployment-configuration\n  storagePolicy: \
                         cleartext\n  layeringDefinition: {abstract: false, layer: site}\ndata:\n  \
                         armada:\n    other: 1\n";
                for (key, name) in [("manifest", manifest), ("update_manifest", update)] {
                    if let Some(name) = name {
                        writeln!(text, "    {key}: {name}").unwrap();
                    }
                }
            }
            sandbox.write(&format!("site/{site}/deployment.yaml"), text + "# end\n");
        }
    }
}

/// Rendered documents of a site by kind and name.
type Documents<'j> = BTreeMap<(&'j str, &'j str), &'j Json>;

fn documents(site: &Json) -> Documents<'_> {
    let documents = site["documents"].as_array().expect("documents").iter();
    let named = documents.map(|document| {
        let text = |key: &str| document[key].as_str().expect("a text");
        let kind = text("schema").rsplit_once('/').expect("a version").0;
        ((kind, text("name")), &document["data"])
    });
    named.collect()
}

/// What each action deploys, and whether that is all.
struct Walk<'j> {
    by: [BTreeSet<(&'j str, &'j str)>; 2],
    is_known: bool,
}

fn walk<'j>(documents: &Documents<'j>) -> Walk<'j> {
    let configuration = documents.get(&(
        "shipyard/DeploymentConfiguration",
        "deployment-configuration",
    ));
    let mut walk = Walk {
        by: Default::default(),
        is_known: configuration.is_some(),
    };
    let Some(configuration) = configuration else {
        return walk;
    };
    let mut found = false;
    for (action, key) in ["manifest", "update_manifest"].into_iter().enumerate() {
        let named = configuration["armada"][key].as_str();
        let mut next = vec![("armada/Manifest", named.unwrap_or("full-site"))];
        let is_there = documents.keys().any(|key| *key == next[0]);
        found |= is_there;
        walk.is_known &= is_there || named.is_none();
        while let Some(document) = next.pop() {
            let Some((document, data)) = documents.get_key_value(&document) else {
                continue;
            };
            if !walk.by[action].insert(*document) {
                continue;
            }
            let (kind, key) = match document.0 {
                "armada/Manifest" => ("armada/ChartGroup", "chart_groups"),
                "armada/ChartGroup" => ("armada/Chart", "chart_group"),
                _ => ("armada/Chart", "dependencies"),
            };
            let names = data[key].as_array().into_iter().flatten();
            next.extend(names.map(|name| (kind, name.as_str().expect("a name"))));
        }
    }
    walk.is_known &= found;
    walk
}

fn deployed_by(walk: &Walk<'_>, document: (&str, &str)) -> Option<&'static str> {
    if !document.0.starts_with("armada/") {
        return None;
    }
    let by = [0, 1].map(|action| walk.by[action].contains(&document));
    Some(match by {
        [true, true] => "both",
        [true, false] => "update_site",
        [false, true] => "update_software",
        [false, false] if walk.is_known => "none",
        [false, false] => "not_known",
    })
}

fn rendered(sandbox: &Sandbox, side: &[&str]) -> BTreeMap<String, Json> {
    let ran = sandbox.run(&[&["render", "-o", "json"], side].concat());
    let sites = ran.json()["sites"].as_array().expect("sites").clone();
    sites
        .into_iter()
        .map(|site| (site["site"].as_str().expect("a name").to_owned(), site))
        .collect()
}

fn cases() -> u32 {
    if is_thorough() { 500 } else { 40 }
}

proptest! {
    #![proptest_config(config(cases()))]

    #[test]
    fn changed_outputs_are_deployed_if_a_walk_over_the_rendered_sites_finds_them(
        [base, head] in edited(),
    ) {
        let sandbox = Sandbox::new();
        base.write(&sandbox);
        sandbox.commit();
        head.write(&sandbox);
        let sides = [rendered(&sandbox, &["--rev", "HEAD"]), rendered(&sandbox, &[])];
        let report = sandbox.run(&["diff", "HEAD", "-o", "json"]).json();
        let mut reach: BTreeMap<String, [u64; 3]> = BTreeMap::new();
        for output in report["outputs"].as_array().expect("outputs") {
            let text = |value: &Json| value.as_str().expect("a text").to_owned();
            let (schema, name) = (text(&output["document"]["schema"]), text(&output["document"]["name"]));
            let document = (schema.rsplit_once('/').expect("a version").0, &*name);
            let number = |id: &Json| -> usize { text(id)[1..].parse::<usize>().expect("a number") - 1 };
            let site = text(&output["site"]);
            let side = &sides[usize::from(output["status"] != "removed")][&site];
            let documents = documents(side);
            let expected = deployed_by(&walk(&documents), document);
            prop_assert_eq!(output["deployed_by"].as_str(), expected, "{}: {:?}", site, document);
            let edits = &report["edit_sets"][number(&output["edits"])]["edits"];
            for edit in edits.as_array().expect("edits") {
                let counts = reach.entry(text(edit)).or_default();
                match expected {
                    Some("none") => counts[1] += 1,
                    Some("not_known") => counts[2] += 1,
                    Some(_) => counts[0] += 1,
                    None => {}
                }
            }
        }
        for edit in report["edits"].as_array().expect("edits") {
            let counts = ["deployed", "rendered_only", "deployment_not_known"]
                .map(|key| edit["reach"][key].as_u64().unwrap_or_default());
            let expected = reach.get(edit["id"].as_str().expect("an id")).copied();
            prop_assert_eq!(counts, expected.unwrap_or_default(), "{}", edit["id"]);
        }
    }
}

/// Deployed documents of each site of the largest public site repository, of all rendered charts.
#[test]
#[ignore = "needs the recorded corpus"]
fn treasuremap_deploys_what_a_walk_over_its_rendered_sites_finds() {
    let repository = Treasuremap::clone();
    let sandbox = Sandbox {
        root: repository.path(),
        folder: tempfile::tempdir().unwrap(),
    };
    let sites = sandbox.run(&["sites", "--rev", HEAD, "-o", "json"]).json();
    let counted: BTreeMap<String, u64> = sites["sites"]
        .as_array()
        .expect("sites")
        .iter()
        .map(|site| {
            let name = site["site"].as_str().expect("a name").to_owned();
            (name, site["deployed"].as_u64().expect("it is known"))
        })
        .collect();
    let mut charts: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    let sites = rendered(&sandbox, &["--rev", HEAD]);
    for (name, site) in &sites {
        let documents = documents(site);
        let walk = walk(&documents);
        let all = &walk.by[0] | &walk.by[1];
        assert!(walk.is_known, "{name}");
        assert_eq!(counted[name], all.len() as u64, "{name}");
        let is_chart = |document: &&(&str, &str)| document.0 == "armada/Chart";
        let counts = [
            documents.keys().filter(is_chart).count(),
            walk.by[0].iter().filter(is_chart).count(),
            all.iter().filter(is_chart).count(),
        ];
        charts.insert(name, counts);
    }
    let expected = BTreeMap::from([
        ("aiab", [98, 45, 78]),
        ("airskiff", [83, 16, 16]),
        ("airskiff-suse", [87, 16, 16]),
        ("airsloop", [96, 75, 75]),
        ("seaworthy", [98, 75, 75]),
        ("seaworthy-virt", [92, 32, 32]),
    ]);
    assert_eq!(charts, expected);
}

/// Kinds of documents that are only in recorded cases, and that no program of Airship reads.
const UNKNOWN: [&str; 20] = [
    "a/B",
    "aic/Versions",
    "armada/Generic",
    "deckhand/Dest",
    "deckhand/Source",
    "example/Dest",
    "example/Doc",
    "example/Kind",
    "example/Middle",
    "example/Source",
    "foo/Bar",
    "ns/Kind",
    "o/S",
    "promenade/ResourceType",
    "twigleg/CommonAddresses",
    "unusual/DictWithSecret",
    "unusual/Integer",
    "unusual/List",
    "unusual/String",
    // A misspelled one.
    "deckhand/LayeringPolicyFoo",
];

/// Kinds of documents in a text, which may be quoted JSON: `NAMESPACE/KIND` of `schema: NAMESPACE/KIND/v1`.
fn kinds(text: &str) -> BTreeSet<String> {
    let quotes = [':', ' ', '"', '\\'];
    let schemas = text.split("schema").skip(1);
    let kinds = schemas.filter_map(|rest| {
        let name = rest.trim_start_matches(quotes);
        let is_part = |it: char| it.is_ascii_alphanumeric() || "/_.".contains(it);
        let end = name.find(|it| !is_part(it)).unwrap_or(name.len());
        let (kind, version) = name[..end].rsplit_once('/')?;
        let is_schema = rest.len() > name.len()
            && kind.split('/').count() == 2
            && kind.split('/').all(|part| !part.is_empty())
            && version.starts_with('v');
        (is_schema && !kind.starts_with("metadata/")).then(|| kind.to_owned())
    });
    kinds.collect()
}

/// Each kind of documents in treasuremap and in the recorded cases has rows, or is known to be unknown.
#[test]
#[ignore = "needs the recorded corpus"]
fn kinds_of_documents_have_rows_or_are_listed_as_unknown() {
    let table = fs::read_to_string(root().join("src/deployment/consequences.yaml")).unwrap();
    let rows = kinds(&table.replace("/*\n", "/v1\n"));
    let repository = Treasuremap::clone();
    let sandbox = Sandbox {
        root: repository.path(),
        folder: tempfile::tempdir().unwrap(),
    };
    let sites = rendered(&sandbox, &["--rev", HEAD]);
    let documents = sites.values().flat_map(|site| documents(site).into_keys());
    let of_sites: BTreeSet<String> = documents.map(|(kind, _)| kind.to_owned()).collect();
    assert!(of_sites.len() > 30, "{of_sites:?}");
    let without_row: Vec<&String> = of_sites.difference(&rows).collect();
    assert_eq!(without_row, Vec::<&String>::new());

    let recorded = ["jsonpath", "layering", "substitution", "validation", "yaml"]
        .map(|name| fs::read_to_string(corpus().join(format!("deckhand/{name}.json"))).unwrap());
    let of_cases: BTreeSet<String> = recorded.iter().flat_map(|text| kinds(text)).collect();
    let unknown: BTreeSet<&str> = of_cases.difference(&rows).map(String::as_str).collect();
    assert_eq!(unknown, BTreeSet::from(UNKNOWN));
}
