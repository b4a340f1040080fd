//! Changes of the largest public site repository, as reviewers see them: each changed value once
//! with its causes, few lines, and the most dangerous first.

use std::collections::{BTreeMap, BTreeSet};

use scraper::{ElementRef, Html, Selector};
use serde_json::Value as Json;

use super::pairs::pairs;
use super::screens::{clone, edit};
use crate::cli::{Ran, Sandbox};
use crate::stored::assert_stored;

/// A recorded pair as reports.
struct Reports {
    json: Json,
    html: String,
    patch: String,
}

impl Reports {
    fn of(sandbox: &Sandbox, pair: &Json) -> Self {
        let [base, head] = ["parent", "commit"].map(|side| pair[side].as_str().expect("a commit"));
        let compared = ["diff", "--from", base, "--to", head];
        let [json, html] = ["json", "html"].map(|form| {
            let path = sandbox.beside(form);
            (format!("-o{form}={}", path.display()), path)
        });
        let arguments = [&compared[..], &[&json.0, &html.0, "-ofull", "-p"]].concat();
        // Without wrapped lines, each value starts a line.
        let output = sandbox
            .command(&arguments)
            .env("COLUMNS", "100000")
            .output()
            .expect("a run");
        let read = |path| std::fs::read_to_string(path).expect("a written report");
        Self {
            json: serde_json::from_str(&read(json.1)).expect("JSON"),
            html: read(html.1),
            patch: Ran::of(&output).stdout,
        }
    }

    /// Changed paths of each group of outputs, with the number of edits behind each; none for
    /// groups whose changes are not values.
    fn expected(&self) -> Found {
        let edits: BTreeMap<&str, &Json> = list(&self.json, "edit_sets")
            .map(|set| (text(set, "id"), &set["edits"]))
            .collect();
        let mut expected = Found::new();
        for group in list(&self.json, "groups") {
            let of_group = |output: &&Json| output["group"] == group["id"];
            let outputs: Vec<&Json> = list(&self.json, "outputs").filter(of_group).collect();
            for (at, change) in list(group, "changes").enumerate() {
                let Some(path) = shown_path(change) else {
                    continue;
                };
                let sets = outputs.iter().map(|output| {
                    output["changed_by"]
                        .get(at)
                        .unwrap_or(&output["edits"])
                        .as_str()
                });
                let causes: BTreeSet<&str> = sets
                    .flat_map(|set| edits[set.expect("an id")].as_array().expect("a list"))
                    .filter_map(Json::as_str)
                    .collect();
                let is_renamed = outputs
                    .iter()
                    .any(|output| !output["renamed_from"].is_null());
                if !(is_renamed && path == "metadata.name") {
                    let key = (text(group, "id").to_owned(), path);
                    expected.entry(key).or_default().push(causes.len());
                }
            }
        }
        expected
    }

    /// Paths of each group of outputs in the page, and how often each path is listed.
    fn on_page(&self) -> (Found, BTreeMap<String, usize>) {
        let html = Html::parse_document(&self.html);
        let (mut found, mut listed) = (Found::new(), BTreeMap::new());
        for section in all(html.root_element(), "section.group") {
            let links = all(section, ":scope > :is(h3, h4) a, .outputs a.self");
            let groups = links
                .iter()
                .filter_map(|link| link.attr("href")?.strip_prefix("#g"));
            let groups: Vec<String> = groups.map(|number| format!("g{number}")).collect();
            for value in all(section, ":scope > .diff > p, :scope > .diff > details p") {
                let path = all(value, "code")
                    .first()
                    .map(|code| code.text().collect::<String>());
                let notes = all(value, "small").into_iter();
                let is_place = |note: &ElementRef<'_>| note.text().any(|text| text.contains(':'));
                let places = notes.filter(is_place).count();
                let path = path.unwrap_or_default();
                for group in &groups {
                    found
                        .entry((group.clone(), path.clone()))
                        .or_default()
                        .push(places);
                }
                *listed.entry(path).or_default() += 1;
            }
        }
        (found, listed)
    }

    /// How often each of these paths starts a line of the patch.
    fn in_patch(&self, paths: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
        let mut listed: BTreeMap<String, usize> = paths.map(|path| (path, 0)).collect();
        for line in self.patch.lines().map(str::trim_start) {
            // A signed line without a value is a line of a value.
            let value = line.strip_prefix("+ ").or(line.strip_prefix("- "));
            let (line, is_value) = (value.unwrap_or(line), value.is_some());
            let ends = line.match_indices(": ").map(|(at, _)| at);
            let others = line
                .match_indices("  ")
                .map(|(at, _)| at)
                .chain([line.len()]);
            let mut ends = ends.chain(others.filter(|_| !is_value));
            let path = ends.find(|end| listed.contains_key(&line[..*end]));
            if let Some(count) = path.and_then(|end| listed.get_mut(&line[..end])) {
                *count += 1;
            }
        }
        listed
    }
}

/// Numbers of edits behind the changes of a path in a group of outputs.
type Found = BTreeMap<(String, String), Vec<usize>>;

/// Path of a changed value as reports show it; `None` if its sides are equal as text.
fn shown_path(change: &Json) -> Option<String> {
    let path = text(change, "path");
    let path = match (text(change, "part"), path) {
        ("metadata", ".") => "metadata".to_owned(),
        ("metadata", path) => format!("metadata{path}"),
        (_, path) => path.to_owned(),
    };
    let suffix = if change["reordered"] == true {
        " (order changed)"
    } else {
        ""
    };
    (!change["before"].is_null() || !change["after"].is_null()).then(|| path + suffix)
}

fn all<'a>(within: ElementRef<'a>, selector: &str) -> Vec<ElementRef<'a>> {
    within
        .select(&Selector::parse(selector).expect("a selector"))
        .collect()
}

fn list<'a>(within: &'a Json, key: &str) -> impl Iterator<Item = &'a Json> {
    within[key].as_array().expect("a list").iter()
}

fn text<'a>(within: &'a Json, key: &str) -> &'a str {
    within[key].as_str().expect("a string")
}

#[test]
#[ignore = "needs the recorded corpus"]
fn each_changed_value_is_listed_once_with_its_causes() {
    let sandbox = clone();
    let mut wrong = Vec::new();
    for pair in &pairs() {
        let reports = Reports::of(&sandbox, pair);
        let (expected, (on_page, listed)) = (reports.expected(), reports.on_page());
        for (key, edits) in &expected {
            let places = on_page.get(key).cloned().unwrap_or_default();
            // The only edit of an entry is named once.
            let is_named = |(places, edits): (&usize, &usize)| {
                places == edits || (*places == 0 && *edits == 1)
            };
            if places.len() != edits.len() || !places.iter().zip(edits).all(is_named) {
                wrong.push(format!(
                    "{}: {key:?}: {edits:?}, {places:?}",
                    pair["commit"]
                ));
            }
        }
        let others = on_page.keys().filter(|key| !expected.contains_key(key));
        wrong.extend(others.map(|key| format!("{}: {key:?} is not a change", pair["commit"])));
        let in_patch = reports.in_patch(listed.keys().cloned());
        let differing = listed
            .iter()
            .filter(|(path, count)| in_patch[*path] != **count);
        wrong.extend(differing.map(|(path, count)| {
            format!(
                "{}: {path}: {} of {count} in -p",
                pair["commit"], in_patch[path]
            )
        }));
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
}

#[test]
#[ignore = "needs the recorded corpus"]
fn changes_of_many_outputs_take_few_lines() {
    // Some of these lines say what the changes ask for.
    const MAX_LINES: usize = 170;
    const MAX_MEDIAN: usize = 66;
    const MAX_COMMENT: usize = 8_000;
    let sandbox = clone();
    let mut heights = Vec::new();
    for pair in &pairs() {
        let [base, head] = ["parent", "commit"].map(|side| pair[side].as_str().expect("a commit"));
        let compared = ["lint", "--from", base, "--to", head];
        let comment = sandbox
            .run(&[&compared[..], &["-o", "comment"]].concat())
            .stdout;
        assert!(comment.len() <= MAX_COMMENT, "{head}: {}", comment.len());
        let output = sandbox
            .command(&compared)
            .env("COLUMNS", "80")
            .output()
            .expect("a run");
        let screen = Ran::of(&output).stdout;
        let height = screen.lines().count();
        assert!(height <= MAX_LINES, "{head}: {height}\n{screen}");
        let totals = sandbox
            .run(&[&compared[..], &["-o", "json"]].concat())
            .json();
        if totals["totals"]["changed_outputs"].as_u64() >= Some(20) {
            heights.push(height);
        }
    }
    heights.sort_unstable();
    assert!(heights[heights.len() / 2] <= MAX_MEDIAN, "{heights:?}");
}

/// Stores what a comparison prints at 80 columns, and asserts that it has these texts.
fn assert_screen(name: &str, sandbox: &Sandbox, arguments: &[&str], texts: &[&str]) {
    let output = sandbox
        .command(arguments)
        .env("COLUMNS", "80")
        .output()
        .expect("a run");
    let screen = Ran::of(&output).stdout;
    let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in texts {
        assert!(words.contains(text), "{text}\n{screen}");
    }
    assert_stored(&format!("tests/screens/treasuremap-{name}.txt"), &screen);
}

#[test]
#[ignore = "needs the recorded corpus"]
fn charts_that_lose_their_pins_come_with_their_edits() {
    assert_screen(
        "charts",
        &clone(),
        &[
            "lint",
            "--from",
            "012a883^",
            "--to",
            "012a883",
            "--ignore",
            "certificates",
        ],
        &[
            "PASS no new findings · removes 72 values in 6 outputs · 32 outputs leave a pinned revision \
             or image",
            "60 of 2176 outputs changed in all 6 sites, 33 of them deployed (18 removed)",
            "cinder, glance, heat, glance-aiab (aiab), heat-aiab (aiab) - .source.reference: 536eaed62d",
            ".source.type: git → tar versions.yaml:54 +2",
            ".source.location: https://opendev",
            "- .dependencies: - <name>-htk cinder.yaml:295 +2",
            "6 × nfs-provisioner in all 6 sites, 1 of them deployed - .source.reference: 97ce6d7d8e",
            "removed in all 6 sites, 13 of them deployed, by cinder.yaml:302 +2 cinder-htk, glance-htk, \
             heat-htk",
            ".source.type: local → tar",
            "4 × ucp-armada in all 4 sites of types foundry, sloop \
             .values.images.tags.image_repo_sync versions.yaml:778 + docker.io/docker:17.07.0",
        ],
    );
}

#[test]
#[ignore = "needs the recorded corpus"]
fn renewed_certificates_are_one_entry_beside_the_charts_that_use_them() {
    assert_screen(
        "certificates",
        &clone(),
        &[
            "lint",
            "--from",
            "9964b93^",
            "--to",
            "9964b93",
            "--now",
            "2026-11-30",
        ],
        &[
            "91 of 404 outputs changed in 1 of 6 sites, 7 of them deployed · 5 sites out of reach, not \
             read · 9",
            "82 secrets in seaworthy 35 × deckhand/Certificate/v1, 35 × deckhand/CertificateKey/v1, \
             5 × deckhand/CertificateAuthority/v1 (calico-etcd, calico-etcd-peer, kubernetes, \
             kubernetes-etcd, kubernetes-etcd-peer)",
            ".: replaced (hidden) 82 edits in site/seaworthy/secrets",
            "kubernetes-proxy in seaworthy .values.secrets.tls.ca: replaced (hidden) \
             kubernetes_ca.yaml:10",
        ],
    );
}

#[test]
#[ignore = "needs the recorded corpus"]
fn edits_that_interact_are_listed_at_the_values_of_each_output() {
    let sandbox = clone();
    let neutron = "global/software/charts/osh/openstack-compute-kit/neutron.yaml";
    edit(
        &sandbox,
        neutron,
        "path: .values.images.tags\n",
        "path: .values.images.tags2\n",
    );
    edit(&sandbox, neutron, "timeout: 500", "timeout: 42");
    edit(
        &sandbox,
        "global/software/config/versions.yaml",
        "        neutron_server: docker.io/openstackhelm/neutron:",
        "        neutron_server: docker.io/openstackhelm/neutron-zed:",
    );
    edit(
        &sandbox,
        "site/seaworthy/networks/common-addresses.yaml",
        "cluster_domain: cluster.local",
        "cluster_domain: changed.example.org",
    );
    let aiab = "site/aiab/software/charts/osh/openstack-compute-kit/neutron.yaml";
    edit(&sandbox, aiab, "method: merge", "method: replace");
    assert_screen(
        "interacting",
        &sandbox,
        &["lint", "--since", "HEAD", "--ignore", "certificates"],
        &[
            "FAIL 1 new error: `neutron` has no `chart_name`, `namespace`, `release`, `source`",
            "removes 428 values in 12 outputs",
            "neutron in aiab metadata.layeringDefinition.actions[0].method, removes 186 values",
            "coredns in seaworthy",
            "shielded in airskiff-suse: set again by software-versions (site) at \
             site/airskiff-suse/software/config/versions.yaml:78",
            "shielded: neutron (site) in aiab, not inherited (action `replace`) at \
             site/aiab/software/charts/osh/openstack-compute-kit/neutron.yaml:13",
        ],
    );
}

#[test]
#[ignore = "needs the recorded corpus"]
fn labels_of_many_documents_are_one_entry() {
    assert_screen(
        "labels",
        &clone(),
        &[
            "lint",
            "--from",
            "a0b464f^",
            "--to",
            "a0b464f",
            "--ignore",
            "certificates",
        ],
        &[
            "no rendered data changes; metadata of 45 of 380 outputs changed",
            "metadata of 45 outputs in airsloop",
            "+ metadata.labels: name: <name>-type 45 edits in type/sloop",
        ],
    );
}
