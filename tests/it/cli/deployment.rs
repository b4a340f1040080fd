//! What changes ask of the operator of a site: the rows of the table of consequences, and the charts
//! and nodes concerned.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Map, Value as Json, json};

use super::{Sandbox, definition};
use crate::stored::root;

/// A change of a document, as `tests/consequences/rows.md` writes it.
#[derive(Debug)]
struct Case {
    /// Number of the row that applies.
    row: usize,
    schema: String,
    /// Name of the document.
    name: String,
    /// JSON Pointer of the value; the whole data if it is empty.
    pointer: String,
    change: String,
    chart: Option<String>,
    /// JSON Pointer of another value, which is true.
    beside: Option<String>,
    class: String,
    /// Armada for which it holds.
    armada: Option<String>,
}

/// Reads the positive and the negative case of each row.
fn cases() -> Vec<Case> {
    let page = fs::read_to_string(root().join("tests/consequences/rows.md")).unwrap();
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| ") && line.as_bytes()[2].is_ascii_digit())
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let classes: Vec<&str> = rows.iter().map(|row| row[2]).collect();
    let armada = |of_row: &str| {
        let words: Vec<&str> = of_row.split(' ').collect();
        let armada = ["helm", "operator"]
            .into_iter()
            .find(|it| words.contains(it));
        armada.map(str::to_owned)
    };
    let mut cases = Vec::new();
    for row in &rows {
        let number: usize = row[0].parse().unwrap();
        let other: usize = row[5].split(':').next().unwrap().parse().unwrap();
        for (at, text, applies) in [("yes", row[3], number), ("no", row[4], other)] {
            let case = case(text, applies, classes[applies - 1]);
            cases.push(Case {
                name: match &*case.name {
                    "" => format!("r{number}-{at}"),
                    name => name.to_owned(),
                },
                armada: armada(row[1]).or_else(|| armada(rows[applies - 1][1])),
                ..case
            });
        }
    }
    cases
}

/// Reads `SCHEMA POINTER CHANGE`, with `(chart_name NAME)`, `(name NAME)` or `(with POINTER)` at the end.
fn case(text: &str, row: usize, class: &str) -> Case {
    let (text, condition) = text.split_once(" (").unwrap_or((text, ""));
    let with = |word: &str| {
        let value = condition.strip_prefix(word)?.trim_end_matches(')');
        Some(value.to_owned())
    };
    let (schema, rest) = text.split_once(' ').unwrap();
    let (place, change) = rest.rsplit_once(' ').unwrap_or(("", rest));
    Case {
        row,
        schema: schema.to_owned(),
        name: with("name ").unwrap_or_default(),
        pointer: place.trim_matches('`').replace("whole data", ""),
        change: change.to_owned(),
        chart: with("chart_name "),
        beside: with("with "),
        class: class.to_owned(),
        armada: None,
    }
}

impl Case {
    /// Whether it is a change of one document. What joins and leaves a manifest, and control documents,
    /// have cases of their own.
    fn is_of_document(&self) -> bool {
        let kind = self.schema.rsplit_once('/').unwrap().0;
        let is_control = [
            "deckhand/LayeringPolicy",
            "pegleg/PeglegManagedDocument",
            "pegleg/SiteDefinition",
        ]
        .contains(&kind);
        let is_membership = kind == "armada/ChartGroup"
            && (self.pointer.starts_with("/chart_group") || self.change.starts_with("document-"));
        !is_control && !is_membership && kind != "armada/Manifest"
    }

    /// Data before and after; `None` where the document is not there.
    fn data(&self) -> [Option<Json>; 2] {
        // Documents with the same data would count as one that was renamed.
        let mut rest = json!({"beside": &self.name});
        if self.schema.starts_with("armada/Chart/") {
            rest["chart_name"] = json!(self.chart.as_deref().unwrap_or("web"));
        }
        if self.schema.starts_with("armada/ChartGroup/") {
            rest["chart_group"] = json!([]);
        }
        if self.pointer.is_empty() && self.change == "changed" {
            return ["one", "two"].map(|text| Some(json!(format!("{} {text}", self.name))));
        }
        if let Some(pointer) = &self.beside {
            set(&mut rest, pointer, Some(json!(true)));
        }
        let with = |value: Option<Json>| {
            let mut data = rest.clone();
            set(&mut data, &self.pointer, value);
            Some(data)
        };
        let [one, two] = [1, 2].map(|number| Some(json!(number)));
        match &*self.change {
            "document-added" => [None, Some(rest)],
            "document-removed" => [Some(rest), None],
            "added" => [with(None), with(one)],
            "removed" => [with(one), with(None)],
            "changed" => [with(one), with(two)],
            "cleared" => [true, false].map(|value| with(Some(json!(value)))),
            other => panic!("unknown change {other}"),
        }
    }
}

/// Sets a value at a JSON Pointer, with the collections around it; `None` for only these.
fn set(data: &mut Json, pointer: &str, value: Option<Json>) {
    let keys: Vec<&str> = pointer.split('/').skip(1).collect();
    let mut at = data;
    for (depth, key) in keys.iter().enumerate() {
        let is_last = depth + 1 == keys.len();
        match key.parse::<usize>() {
            Ok(index) => {
                if !at.is_array() {
                    *at = json!([]);
                }
                let list = at.as_array_mut().unwrap();
                let length = if is_last && value.is_none() {
                    index
                } else {
                    index + 1
                };
                while list.len() < length {
                    list.push(json!(format!("item {}", list.len())));
                }
                if is_last {
                    if let Some(value) = value {
                        list[index] = value;
                    }
                    return;
                }
                at = &mut list[index];
            }
            Err(_) => {
                if !at.is_object() {
                    *at = Json::Object(Map::new());
                }
                let mapping = at.as_object_mut().unwrap();
                if is_last {
                    if let Some(value) = value {
                        mapping.insert((*key).to_owned(), value);
                    }
                    return;
                }
                at = mapping.entry((*key).to_owned()).or_insert(Json::Null);
            }
        }
    }
}

fn document(schema: &str, name: &str, data: &Json) -> String {
    format!(
        "---\nschema: {schema}\nmetadata:\n  schema: metadata/Document/v1\n  name: {name}\n  \
         storagePolicy: cleartext\n  layeringDefinition: {{abstract: false, layer: site}}\ndata: \
         {data}\n"
    )
}

/// A site with these documents, whose charts and groups are deployed.
fn write(sandbox: &Sandbox, documents: &[(&Case, &Json)]) {
    let names = |kind: &str| -> Vec<&str> {
        let of_kind = documents
            .iter()
            .filter(|(case, _)| case.schema.starts_with(kind));
        of_kind.map(|(case, _)| &*case.name).collect()
    };
    let mut groups = names("armada/ChartGroup/");
    groups.push("all");
    let configuration = json!({"armada": {"manifest": "full-site"}});
    let mut text = [
        document(
            "shipyard/DeploymentConfiguration/v1",
            "deployment-configuration",
            &configuration,
        ),
        document(
            "armada/Manifest/v1",
            "full-site",
            &json!({"chart_groups": groups}),
        ),
        document(
            "armada/ChartGroup/v1",
            "all",
            &json!({"chart_group": names("armada/Chart/")}),
        ),
    ]
    .concat();
    for (case, data) in documents {
        text += &document(&case.schema, &case.name, data);
    }
    sandbox.write("site/lab/documents.yaml", text);
}

/// Classes of the consequences for each output.
fn classes(report: &Json) -> BTreeMap<[&str; 2], BTreeSet<&str>> {
    let mut classes: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    for effect in effects(report) {
        for output in effect["outputs"].as_array().unwrap() {
            let key = ["schema", "name"].map(|key| output[key].as_str().unwrap());
            let class = effect["class"].as_str().unwrap();
            classes.entry(key).or_default().insert(class);
        }
    }
    classes
}

fn effects(report: &Json) -> impl Iterator<Item = &Json> {
    let of_sites = report["consequences"].as_array().into_iter().flatten();
    of_sites.flat_map(|found| found["effects"].as_array().unwrap())
}

#[test]
fn each_row_of_the_table_applies_to_its_changes_and_not_to_others() {
    let cases: Vec<Case> = cases().into_iter().filter(Case::is_of_document).collect();
    let data: Vec<[Option<Json>; 2]> = cases.iter().map(Case::data).collect();
    let side = |side: usize| -> Vec<(&Case, &Json)> {
        let both = cases.iter().zip(&data);
        both.filter_map(|(case, data)| Some((case, data[side].as_ref()?)))
            .collect()
    };
    let mut rows = BTreeSet::new();
    for armada in ["helm", "operator"] {
        let sandbox = Sandbox::with_sites();
        sandbox.write("layercake.yaml", format!("armada: {armada}\n"));
        write(&sandbox, &side(0));
        sandbox.commit();
        write(&sandbox, &side(1));
        let report = sandbox.run(&["diff", "HEAD", "-o", "json"]).json();
        let found = classes(&report);
        let wrong: Vec<String> = cases
            .iter()
            .filter(|case| case.armada.as_deref().is_none_or(|it| it == armada))
            .filter_map(|case| {
                rows.insert(case.row);
                let classes = found.get(&[&*case.schema, &*case.name]);
                let expected = BTreeSet::from([&*case.class]);
                (classes != Some(&expected)).then(|| format!("{armada}: {case:?}: {classes:?}"))
            })
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
    assert!(rows.len() > 190, "{} rows have cases", rows.len());
}

/// The table names the lines that show what each row says.
#[test]
fn each_row_of_the_table_has_a_source() {
    let sandbox = Sandbox::outside_git();
    let classes = sandbox.run(&["explain", "consequence"]).stdout;
    let mut rows = 0;
    for class in classes.lines().filter_map(|line| line.split(' ').next()) {
        let ran = sandbox.run(&["explain", "consequence", class]);
        assert_eq!(ran.code, 0, "{class}: {ran:?}");
        for row in ran.stdout.split("\n\n").skip(1) {
            rows += 1;
            assert!(row.contains("\n  source: airshipit/"), "{class}: {row}");
        }
    }
    assert!(rows >= 221, "{rows} rows");
    let ran = sandbox.run(&["explain", "consequence", "upgrades"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("did you mean `upgrade`?"),
        "{}",
        ran.stderr
    );
}

/// A site repository with one site: its definition and these documents.
fn site(sandbox: &Sandbox, documents: &[(&str, &str, Json)]) {
    sandbox.write("site/lab/site-definition.yaml", definition("lab", ""));
    let texts = documents
        .iter()
        .map(|(schema, name, data)| document(schema, name, data));
    sandbox.write("site/lab/documents.yaml", texts.collect::<String>());
}

type Documents = Vec<(&'static str, &'static str, Json)>;

/// Report of a comparison of two states of a site.
fn compared(base: &Documents, head: &Documents) -> Json {
    let sandbox = Sandbox::with_sites();
    site(&sandbox, base);
    sandbox.commit();
    site(&sandbox, head);
    sandbox.run(&["diff", "HEAD", "-o", "json"]).json()
}

fn chart(name: &'static str, data: Json) -> (&'static str, &'static str, Json) {
    ("armada/Chart/v1", name, data)
}

fn deployed(charts: &[&str]) -> Documents {
    vec![
        (
            "shipyard/DeploymentConfiguration/v1",
            "deployment-configuration",
            json!({"armada": {"manifest": "full-site"}}),
        ),
        (
            "armada/Manifest/v1",
            "full-site",
            json!({"chart_groups": ["all"], "release_prefix": "one"}),
        ),
        (
            "armada/ChartGroup/v1",
            "all",
            json!({"chart_group": charts}),
        ),
    ]
}

/// Actions, and the class and the cautions of each effect with the names of its outputs.
fn asked(report: &Json) -> (Vec<String>, Vec<String>) {
    let found = &report["consequences"][0];
    let texts = |list: &Json| -> Vec<String> {
        let items = list.as_array().into_iter().flatten();
        items.map(|it| it.as_str().unwrap().to_owned()).collect()
    };
    let actions = found["actions"].as_array().unwrap().iter().map(|asked| {
        let nodes = texts(&asked["nodes"]);
        let action = asked["action"].as_str().unwrap();
        [vec![action.to_owned()], nodes].concat().join(" ")
    });
    let effects = effects(report).map(|effect| {
        let outputs = effect["outputs"].as_array().unwrap().iter();
        let names: Vec<&str> = outputs.map(|it| it["name"].as_str().unwrap()).collect();
        let cautions = texts(&effect["cautions"]);
        let words = [
            vec![effect["class"].as_str().unwrap().to_owned()],
            cautions,
            effect["armada"]
                .as_str()
                .map(str::to_owned)
                .into_iter()
                .collect(),
        ];
        format!("{}: {}", words.concat().join(" "), names.join(", "))
    });
    (actions.collect(), effects.collect())
}

#[test]
fn charts_that_join_and_leave_a_manifest_are_installed_and_left() {
    let charts = [
        chart("api", json!({"values": {"a": 1}})),
        chart("web", json!({})),
    ];
    let state = |names: &[&str]| [deployed(names), charts.to_vec()].concat();
    let (actions, effects) = asked(&compared(&state(&["api"]), &state(&["web"])));
    assert_eq!(actions, ["update_software"]);
    assert_eq!(
        effects,
        ["install: web", "release-unmanaged release-unmanaged: api"]
    );
}

/// Armada finds a release by its name and namespace, whatever document describes it.
#[test]
fn chart_that_takes_over_a_release_upgrades_it() {
    let state = |name: &'static str, value: u8| {
        let data = json!({"release": "api", "namespace": "one", "values": {"a": value}});
        [deployed(&[name]), vec![chart(name, data)]].concat()
    };
    let other = [
        deployed(&["web"]),
        vec![chart("web", json!({"release": "api", "namespace": "two"}))],
    ]
    .concat();
    let none: [&str; 0] = [];
    let cases = [
        (state("web", 1), &none[..], &none[..]),
        (
            state("web", 2),
            &["update_software"],
            &[
                "upgrade helm: web",
                "upgrade reinstalls-on-failure operator: web",
            ],
        ),
        (
            other,
            &["update_software"],
            &["install: web", "release-unmanaged release-unmanaged: api"],
        ),
    ];
    for (head, actions, effects) in cases {
        let report = compared(&state("api", 1), &head);
        assert_eq!(asked(&report).0, actions, "{report}");
        assert_eq!(asked(&report).1, effects, "{report}");
    }
}

/// A release that another chart describes too was there before.
#[test]
fn chart_of_a_running_release_does_not_install_it() {
    let state = |chart_of_all: &'static str, value: u8| {
        let mut state = deployed(&[chart_of_all]);
        state[0].2 = json!({"armada": {"manifest": "small"}});
        let data = |value: u8| json!({"release": "api", "values": value});
        let others = [
            (
                "armada/Manifest/v1",
                "small",
                json!({"chart_groups": ["few"]}),
            ),
            (
                "armada/ChartGroup/v1",
                "few",
                json!({"chart_group": ["api"]}),
            ),
            chart("api", data(1)),
            chart("api-lab", data(value)),
        ];
        [state, others.to_vec()].concat()
    };
    let report = compared(&state("api", 1), &state("api-lab", 2));
    let (actions, effects) = asked(&report);
    assert_eq!(actions, ["update_software"]);
    assert_eq!(
        effects,
        [
            "upgrade helm: api-lab",
            "upgrade reinstalls-on-failure operator: api-lab"
        ]
    );
}

/// Groups are only names of charts.
#[test]
fn renamed_group_changes_no_release() {
    let state = |group: &'static str| {
        let mut state = deployed(&["api"]);
        state[1].2["chart_groups"] = json!([group]);
        state[2].1 = group;
        [state, vec![chart("api", json!({}))]].concat()
    };
    let (actions, effects) = asked(&compared(&state("all"), &state("every")));
    assert_eq!(actions, Vec::<String>::new());
    assert_eq!(effects, Vec::<String>::new());
}

#[test]
fn chart_that_others_depend_on_is_no_release() {
    let state = |value: u8| {
        let charts = vec![
            chart("api", json!({"dependencies": ["toolkit"]})),
            chart("toolkit", json!({"values": value})),
        ];
        [deployed(&["api"]), charts].concat()
    };
    let (actions, effects) = asked(&compared(&state(1), &state(2)));
    assert_eq!(actions, Vec::<String>::new());
    assert_eq!(
        effects,
        ["setting helm: toolkit", "inert operator: toolkit"]
    );
}

#[test]
fn order_of_a_group_is_only_an_order() {
    let charts = [chart("api", json!({})), chart("web", json!({"a": 1}))];
    let state = |names: &[&str]| [deployed(names), charts.to_vec()].concat();
    let (actions, effects) = asked(&compared(&state(&["api", "web"]), &state(&["web", "api"])));
    assert_eq!(effects, ["order: all"]);
    assert_eq!(actions, Vec::<String>::new());
}

#[test]
fn renamed_node_is_a_new_one_and_the_old_one_stays() {
    let state =
        |name| -> Documents { vec![("drydock/BaremetalNode/v1", name, json!({"oob": {}}))] };
    let (actions, effects) = asked(&compared(&state("n1"), &state("n2")));
    assert_eq!(actions, ["update_site"]);
    assert_eq!(
        effects,
        ["node-deployed: n2", "node-removed node-stays: n1"]
    );
}

#[test]
fn only_update_site_deploys_a_chart_of_its_own_manifest() {
    let state = |value: u8| {
        let configuration =
            json!({"armada": {"manifest": "full-site", "update_manifest": "other"}});
        let other = ("armada/Manifest/v1", "other", json!({"chart_groups": []}));
        let mut state = deployed(&["api"]);
        state[0].2 = configuration;
        [state, vec![other, chart("api", json!({"values": value}))]].concat()
    };
    let (actions, _) = asked(&compared(&state(1), &state(2)));
    assert_eq!(actions, ["update_site"]);
}

/// Two manifests are two actions: neither brings what only the other has.
#[test]
fn each_action_has_the_releases_of_its_manifest() {
    let state = |value: u8| {
        let mut state = deployed(&["api", "web"]);
        state[0].2 = json!({"armada": {"manifest": "small"}});
        let charts = ["api", "db", "web"].map(|name| chart(name, json!({"values": value})));
        let small = [
            (
                "armada/Manifest/v1",
                "small",
                json!({"chart_groups": ["few"]}),
            ),
            (
                "armada/ChartGroup/v1",
                "few",
                json!({"chart_group": ["api", "db"]}),
            ),
        ];
        [state, small.to_vec(), charts.to_vec()].concat()
    };
    let sandbox = changed("armada: helm\n", &state(1), &state(2));
    let report = sandbox.run(&["diff", "HEAD", "-o", "json"]).json();
    let (actions, effects) = asked(&report);
    assert_eq!(actions, ["update_software", "update_site"]);
    assert_eq!(effects, ["upgrade: api, db", "upgrade: web"]);
    let shown = sandbox.run(&["diff", "HEAD", "-o", "full"]).stdout;
    let expected = "lab asks for update_software: upgrades 1 release (web), then update_site (stops \
                    without nodes): upgrades 2 releases (api, db)";
    let joined = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains(expected), "{shown}");
}

/// A setting of a release, or of a chart that it needs, takes effect with its upgrade.
#[test]
fn settings_of_an_upgraded_release_are_not_for_later() {
    let state = |values: u8, timeout: u8, toolkit: u8| {
        let charts = [
            chart(
                "api",
                json!({"values": values, "wait": {"timeout": timeout}, "dependencies": ["toolkit"]}),
            ),
            chart("toolkit", json!({"values": toolkit})),
        ];
        [deployed(&["api"]), charts.to_vec()].concat()
    };
    let later = "2 at the next apply or upgrade";
    let cases = [(state(2, 2, 2), false), (state(1, 2, 2), true)];
    for (head, is_later) in cases {
        let sandbox = changed("armada: helm\n", &state(1, 1, 1), &head);
        let shown = sandbox.run(&["diff", "HEAD", "-o", "full"]).stdout;
        let joined = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(joined.contains(later), is_later, "{shown}");
        assert_eq!(joined.contains("later:"), is_later, "{shown}");
    }
}

/// Only nodes that stay are deployed again.
#[test]
fn new_node_is_not_deployed_again() {
    let state = |kernel: &str, nodes: &[&'static str]| -> Documents {
        let profile = [(
            "drydock/HostProfile/v1",
            "worker",
            json!({"platform": {"kernel": kernel}}),
        )];
        let nodes = nodes.iter().map(|name| {
            (
                "drydock/BaremetalNode/v1",
                *name,
                json!({"host_profile": "worker", "for": name}),
            )
        });
        profile.into_iter().chain(nodes).collect()
    };
    let report = compared(&state("ga", &["n1", "n2"]), &state("hwe", &["n2", "n3"]));
    assert_eq!(asked(&report).0, ["update_site", "redeploy_server n2"]);
}

/// Both kinds of Armada are named where nobody chose one.
#[test]
fn answer_says_where_the_two_kinds_of_armada_differ() {
    let state = |reference: &str| {
        let data = json!({
            "release": "api",
            "source": {"reference": reference},
            "upgrade": {"pre": {"delete": [{"type": "job"}]}},
        });
        [deployed(&["api"]), vec![chart("api", data)]].concat()
    };
    let cases = [
        (
            "",
            "upgrades 1 release (one-api; none with armada-operator) · with deletes-pods (helm)",
        ),
        (
            "armada: helm\n",
            "upgrades 1 release (one-api) · with deletes-pods",
        ),
        ("armada: operator\n", "lab asks for no action"),
    ];
    for (config, expected) in cases {
        let sandbox = changed(config, &state("a"), &state("b"));
        let shown = sandbox.run(&["diff", "HEAD", "-o", "full"]).stdout;
        let joined = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(expected), "{config} {shown}");
    }
}

#[test]
fn cautions_name_what_an_upgrade_deletes_and_what_stays() {
    let state = |release: &str, value: u8| {
        let data = json!({
            "release": release,
            "values": {"a": value},
            "upgrade": {"pre": {"delete": [{"type": "job"}]}},
        });
        [deployed(&["api"]), vec![chart("api", data)]].concat()
    };
    let (actions, effects) = asked(&compared(&state("a", 1), &state("b", 2)));
    assert_eq!(actions, ["update_software"]);
    assert_eq!(
        effects,
        [
            "upgrade deletes-pods helm: api",
            "upgrade deletes-pods reinstalls-on-failure operator: api",
            "release-replaced old-release-stays: api",
        ]
    );
}

#[test]
fn nodes_of_a_host_profile_are_named() {
    let state = |kernel: &str, label: &str| -> Documents {
        let profile = |name, data| ("drydock/HostProfile/v1", name, data);
        let node = |name, data| ("drydock/BaremetalNode/v1", name, data);
        vec![
            profile("base", json!({"platform": {"kernel": kernel}})),
            profile("worker", json!({"host_profile": "base"})),
            node("n1", json!({"host_profile": "worker"})),
            node("n2", json!({"host_profile": "base"})),
            node("n3", json!({"metadata": {"owner_data": {"role": label}}})),
        ]
    };
    let (actions, _) = asked(&compared(&state("hwe", "a"), &state("ga", "a")));
    assert_eq!(actions, ["redeploy_server n1 n2"]);
    let (actions, _) = asked(&compared(&state("hwe", "a"), &state("hwe", "b")));
    assert_eq!(actions, ["relabel_nodes n3"]);
}

#[test]
fn new_site_has_no_cautions() {
    let sandbox = Sandbox::with_sites();
    fs::remove_dir_all(sandbox.path("site/lab")).unwrap();
    sandbox.commit();
    let documents = [deployed(&["api"]), vec![chart("api", json!({}))]].concat();
    site(&sandbox, &documents);
    let report = sandbox.run(&["diff", "HEAD", "-o", "json"]).json();
    let (actions, _) = asked(&report);
    assert_eq!(actions, ["deploy_site"]);
    let mut effects = effects(&report).peekable();
    assert!(effects.peek().is_some());
    assert!(
        effects.all(|effect| effect["cautions"].is_null()),
        "{report}"
    );
}

#[test]
fn unknown_schemas_are_named() {
    let state = |value: u8| -> Documents { vec![("own/Thing/v1", "thing", json!({"a": value}))] };
    let report = compared(&state(1), &state(2));
    let found = &report["consequences"][0];
    assert_eq!(found["unknown_schemas"], json!(["own/Thing/v1"]));
    assert_eq!(asked(&report), (Vec::new(), Vec::new()));
}

/// A count stays that of the listed outputs.
#[test]
fn numbers_are_those_of_the_chosen_outputs() {
    let sandbox = Sandbox::with_sites();
    let state = |value: u8| {
        let charts = ["api", "left", "web"].map(|name| chart(name, json!({"values": value})));
        let other = vec![("own/Thing/v1", "thing", json!({"a": value}))];
        [deployed(&["api", "web"]), charts.to_vec(), other].concat()
    };
    sandbox.write("layercake.yaml", "armada: helm\n");
    site(&sandbox, &state(1));
    sandbox.commit();
    site(&sandbox, &state(2));
    let cases = [
        (vec![], 2, 1, true),
        (vec!["--name", "api"], 1, 0, false),
        (vec!["--name", "left"], 0, 1, false),
        (vec!["--name", "thing"], 0, 0, true),
        (vec!["--schema", "armada/*"], 2, 1, false),
        (vec!["--deployed"], 2, 0, true),
    ];
    for (flags, outputs, rendered_only, is_unknown) in cases {
        let report = sandbox.run(&[&["diff", "HEAD", "-o", "json"], &flags[..]].concat());
        let report = report.json();
        let found = &report["consequences"][0];
        let of_effects = effects(&report).map(|effect| effect["outputs"].as_array().unwrap().len());
        assert_eq!(of_effects.sum::<usize>(), outputs, "{flags:?} {report}");
        let count = found["rendered_only"].as_u64().unwrap_or_default();
        assert_eq!(count, rendered_only, "{flags:?}");
        assert_eq!(!found["unknown_schemas"].is_null(), is_unknown, "{flags:?}");
    }
}

/// Rules of the findings of a comparison, with their severities, and its exit code.
fn gated(sandbox: &Sandbox, flags: &[&str]) -> (Vec<String>, i32) {
    let ran = sandbox.run(&[&["lint", "--since", "HEAD", "-o", "json"], flags].concat());
    let report = ran.json();
    let findings = report["findings"].as_array().unwrap().iter();
    let found = findings.map(|it| {
        let [severity, rule] = ["severity", "rule"].map(|key| it[key].as_str().unwrap());
        format!("{severity} {rule}")
    });
    (found.collect(), ran.code)
}

/// A site before and after a change.
fn changed(config: &str, base: &Documents, head: &Documents) -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.write("layercake.yaml", config);
    site(&sandbox, base);
    sandbox.commit();
    site(&sandbox, head);
    sandbox
}

fn with_kernel(kernel: &str) -> Documents {
    vec![
        (
            "drydock/HostProfile/v1",
            "worker",
            json!({"platform": {"kernel": kernel}}),
        ),
        (
            "drydock/BaremetalNode/v1",
            "n1",
            json!({"host_profile": "worker"}),
        ),
    ]
}

fn with_value(value: u8) -> Documents {
    let data = json!({
        "release": "api",
        "values": value,
        "upgrade": {"pre": {"delete": [{"type": "job"}]}},
    });
    [deployed(&["api"]), vec![chart("api", data)]].concat()
}

#[test]
fn largest_action_is_a_gate() {
    let over = "error action-over-limit";
    let profile = changed("", &with_kernel("ga"), &with_kernel("hwe"));
    let values = changed("", &with_value(1), &with_value(2));
    let own = |size: u8| -> Documents { vec![("own/Thing/v1", "thing", json!({"size": size}))] };
    let unknown = changed("", &own(1), &own(2));
    let undeployed = changed(
        "",
        &with_value(1)[3..].to_vec(),
        &with_value(2)[3..].to_vec(),
    );
    let cases = [
        (&profile, "update_site", vec![over]),
        (&profile, "redeploy_server", vec![]),
        (&values, "none", vec![over]),
        (&values, "update_software", vec![]),
        (&unknown, "update_software", vec![over]),
        (&unknown, "redeploy_server", vec![]),
        (&undeployed, "update_site", vec![over]),
    ];
    for (sandbox, action, expected) in cases {
        let (found, code) = gated(sandbox, &["--max-action", action]);
        assert_eq!(found, expected, "{action}");
        assert_eq!(code, i32::from(!expected.is_empty()), "{action}");
    }
    let config = "reach: {max-action: update_software}\n";
    let configured = changed(config, &with_kernel("ga"), &with_kernel("hwe"));
    assert_eq!(gated(&configured, &[]).0, [over]);
    let shown = configured
        .run(&["lint", "--since", "HEAD", "-o", "full"])
        .stdout;
    let limit = "the limit is `reach.max-action` in layercake.yaml:1";
    assert!(shown.contains(limit), "{shown}");
    assert_eq!(
        gated(&configured, &["--max-action", "redeploy_server"]).1,
        0
    );
}

#[test]
fn cautions_have_levels() {
    let name = "deletes-pods";
    let flag = ["--fail-on", "caution:deletes-pods"];
    let cases = [
        ("", &[][..], None, 0, true),
        ("", &flag[..], Some("error"), 1, true),
        ("note", &[], Some("note"), 0, true),
        ("warning", &[], Some("warning"), 0, true),
        (
            "warning",
            &["--fail-on", "warning"],
            Some("warning"),
            1,
            true,
        ),
        ("error", &[], Some("error"), 1, true),
        ("off", &[], None, 0, false),
        ("off", &flag, Some("error"), 1, true),
    ];
    for (level, flags, severity, code, is_shown) in cases {
        let config = match level {
            "" => String::new(),
            level => format!("reach:\n  cautions:\n    {name}: {level}\n"),
        };
        let sandbox = changed(&config, &with_value(1), &with_value(2));
        let expected: Vec<String> = severity
            .into_iter()
            .map(|it| format!("{it} unwanted-caution"))
            .collect();
        assert_eq!(
            gated(&sandbox, flags),
            (expected, code),
            "{level} {flags:?}"
        );
        let report = sandbox.run(&[&["lint", "--since", "HEAD", "-o", "json"], flags].concat());
        let report = report.json();
        let mut shown =
            effects(&report).flat_map(|it| it["cautions"].as_array().into_iter().flatten());
        assert_eq!(shown.any(|it| it == name), is_shown, "{level} {flags:?}");
    }
}

/// What is not known is not said to be absent.
#[test]
fn caution_that_is_not_known_fails_the_gate() {
    let [base, head] = [1, 2].map(|value| with_value(value)[3..].to_vec());
    let sandbox = changed("", &base, &head);
    let run = |caution: &str| gated(&sandbox, &["--fail-on", &format!("caution:{caution}")]).1;
    assert_eq!(["deletes-pods", "node-stays"].map(run), [1, 0]);
}

#[test]
fn repository_adds_rows_for_its_own_schemas() {
    let row = |schema: &str| {
        format!(
            "consequences:\n  - schema: {schema}\n    at: /rules\n    class: setting\n    \
             consumer: firewall operator\n    action: update_software\n    \
             text: the operator applies the rules\n"
        )
    };
    let own = |rules: u8, other: u8| -> Documents {
        vec![(
            "own/Firewall/v1",
            "edge",
            json!({"rules": rules, "other": other}),
        )]
    };
    let sandbox = changed(&row("own/Firewall/*"), &own(1, 1), &own(2, 1));
    let report = sandbox.run(&["diff", "HEAD", "-o", "json"]).json();
    assert_eq!(
        asked(&report),
        (
            vec!["update_software".to_owned()],
            vec!["setting: edge".to_owned()]
        )
    );
    let effect = effects(&report).next().unwrap();
    assert_eq!(effect["consumer"], "firewall operator");

    let other = changed(&row("own/Firewall/v1"), &own(1, 1), &own(1, 2));
    let report = other.run(&["diff", "HEAD", "-o", "json"]).json();
    assert_eq!(
        report["consequences"][0]["unknown_schemas"],
        json!(["own/Firewall/v1"])
    );

    for (schema, fault) in [
        ("armada/Chart/v1", "layercake has rows for `armada/Chart`"),
        ("Chart", "`Chart` is not a schema"),
    ] {
        sandbox.write("layercake.yaml", row(schema));
        let ran = sandbox.run(&["lint"]);
        assert_eq!(ran.code, 2);
        let place = format!("layercake.yaml:2:5: {fault}");
        assert!(ran.stderr.contains(&place), "{}", ran.stderr);
    }
    sandbox.write(
        "layercake.yaml",
        row("own/Firewall/*").replace("setting", "settings"),
    );
    let ran = sandbox.run(&["lint"]);
    assert_eq!(
        ran.stderr.matches("layercake.yaml:").count(),
        1,
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("did you mean `setting`?"),
        "{}",
        ran.stderr
    );
}

#[test]
fn sarif_result_has_the_reach_of_its_edit() {
    let sandbox = changed("", &with_value(1), &with_value(2));
    let flags = [
        "lint",
        "--since",
        "HEAD",
        "--max-outputs",
        "0",
        "-o",
        "sarif",
    ];
    let log = sandbox.run(&flags).json();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let mut of_rule = results
        .iter()
        .filter(|it| it["ruleId"] == "reach-over-limit");
    assert_eq!(
        of_rule.next().unwrap()["properties"]["reach"],
        json!({"outputs": 1, "sites": 1, "deployed": 1})
    );
}

#[test]
fn explained_value_says_whether_it_is_deployed() {
    let sandbox = changed("", &with_value(1), &with_value(1));
    let charts = [chart("left", json!({"values": 1}))];
    let run = |name: &str| {
        let flags = ["explain-value", "lab", "armada/Chart/v1", name, ".values"];
        let ran = sandbox.run(&flags);
        let json = sandbox.run(&[&flags[..], &["--format", "json"]].concat());
        (
            ran.stdout.lines().nth(2).unwrap_or_default().to_owned(),
            json.json()["sites"][0]["way"]["deployed_by"].clone(),
        )
    };
    let expected = "deployed by update_site and update_software";
    assert_eq!(run("api"), (expected.to_owned(), json!("both")));
    site(&sandbox, &[with_value(1), charts.to_vec()].concat());
    assert_eq!(run("left"), ("not deployed".to_owned(), json!("none")));
    site(&sandbox, &charts);
    let expected = "not known whether it is deployed";
    assert_eq!(run("left"), (expected.to_owned(), json!("not_known")));
}

#[test]
fn images_of_charts_that_are_not_deployed_are_apart() {
    let images = json!({"values": {"images": {"tags": {"api": "quay.io/osh/api:1"}}}});
    let charts = [chart("left", images.clone()), chart("api", images)];
    let sandbox = changed("", &with_value(1), &with_value(1));
    site(&sandbox, &[&deployed(&["api"])[..], &charts].concat());
    let ran = sandbox.run(&["query", "images"]);
    let expected = "\
quay.io/osh/api:1
  used by api
    site/lab/documents.yaml:40
      in lab
  used by left
    site/lab/documents.yaml:32
      in lab, not deployed

2 values in 2 sites
";
    assert_eq!(ran.stdout, expected);
}

/// Each caution links the page about what documents cannot tell.
#[test]
fn cautions_link_what_a_report_cannot_see() {
    let page = fs::read_to_string(root().join("docs/deployment.md")).unwrap();
    assert!(page.contains("\n## What a report cannot see\n"));
    let config = "armada: helm\noutput: {docs-url: 'https://docs.example.org'}\n";
    let state = |charts| [deployed(charts), vec![chart("api", json!({}))]].concat();
    let sandbox = changed(config, &state(&["api"]), &state(&[]));
    let target = "https://docs.example.org/deployment.html#what-a-report-cannot-see";
    for format in ["html", "markdown", "comment"] {
        let ran = sandbox.run(&["lint", "--since", "HEAD", "-o", format]);
        // HTML has the words after the address, Markdown before it.
        let (before, after) = ran.stdout.split_once(target).expect(format);
        let words = ["release-unmanaged", "caution release-unmanaged</"];
        let is_linked = before
            .trim_end_matches(['(', ']', '*', '`'])
            .ends_with(words[0])
            || after.contains(words[1]);
        assert!(is_linked, "{format}: {}", ran.stdout);
    }
}
