//! Independence of sites: a run over several sites, each at its own pin, reports of each site the
//! same as a run with `--site`.

use std::collections::{BTreeMap, BTreeSet};

use layercake::diagnostic::{Rule, Trait};
use layercake::rules::RULES;
use serde_json::{Map, Value as Json, json};

use super::Pinned;
use crate::cli::Ran;

/// Compares a run over all sites with a run over each site, in the output of `render --format json`
/// or `-o json`. The second arguments of `run` limit the run to a site.
///
/// In a report, the row of the site is compared, and its outputs, shields, findings, and edits that
/// change an output in it. The header, `totals`, `statistics`, `truncated` and `verdict` are totals
/// of the run, and so are these parts of rows:
/// - counts and sets of sites: `reach` of an edit, `outputs` of a group, `count` of a finding, and
/// - routes and places in a group that several sites share: they are those of one of the sites;
/// - long values, more of which are omitted in a report of many values; the commit of a location,
///   since a file shared by several revisions is attributed to one of them;
/// - ids such as `e1`: each is replaced by its row, and the id of a text by the lines of its label;
/// - findings without a site, and those of rules with [`Trait::Everywhere`].
///
/// A finding of several sites has the `related` locations and `documents` of all of them: the union
/// of those of each site.
#[track_caller]
pub fn assert_sites_are_as_alone(run: &impl Fn(&[&str], &[&str]) -> Ran, verb: &[&str]) {
    let together = printed(run(verb, &[]));
    let sites = together["sites"].as_array().unwrap().iter();
    let name = |site: &Json| {
        site["site"]
            .as_str()
            .or(site["name"].as_str())
            .unwrap()
            .to_owned()
    };
    let sites: Vec<String> = sites.map(name).collect();
    assert!(sites.len() > 1, "{verb:?}");
    let (mut united, mut expected) = (Lists::new(), Lists::new());
    for site in &sites {
        let alone = printed(run(verb, &["--site", site]));
        let (together, of_all) = of_site(&together, site);
        let (mut alone, of_one) = of_site(&alone, site);
        share(&together, &mut alone);
        if together != alone {
            let [together, alone] = [together, alone].map(|it| format!("{it:#}"));
            let differing = together
                .lines()
                .zip(alone.lines())
                .find(|(one, other)| one != other);
            panic!("{verb:?} {site}: {differing:#?}\ntogether: {together}\nalone: {alone}");
        }
        expected.extend(of_all);
        for (finding, rows) in of_one {
            united.entry(finding).or_default().extend(rows);
        }
    }
    assert_eq!(united, expected, "{verb:?}");
}

fn printed(ran: Ran) -> Json {
    assert!(ran.code < 2, "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// `related` and `documents` of each finding.
type Lists = BTreeMap<String, BTreeSet<String>>;

/// Part of the output that is about one site, and the lists of its findings.
fn of_site(printed: &Json, site: &str) -> (Json, Lists) {
    let is_it = |row: &&Json| row["site"] == site || row["name"] == site;
    let row = printed["sites"]
        .as_array()
        .unwrap()
        .iter()
        .find(is_it)
        .unwrap()
        .clone();
    if printed["site_sets"].is_null() {
        return (row, Lists::new());
    }
    let report = Report::read(printed, site);
    let rows = |list: &str| -> Json { report.rows(list).map(|row| report.follow(row)).collect() };
    let shields = report
        .rows("shields")
        .map(|row| report.shield(row))
        .collect::<Json>();
    let mut part = json!({
        "site": row,
        "edits": rows("edits"),
        "outputs": rows("outputs"),
        "shields": shields,
        "findings": rows("findings"),
    });
    let mut lists = Lists::new();
    for finding in part["findings"].as_array_mut().unwrap() {
        let [related, documents] = ["related", "documents"].map(|list| finding[list].take());
        let rows = [related, documents].map(|rows| rows.as_array().unwrap().clone());
        let rows = rows.iter().flatten().map(Json::to_string);
        lists.entry(finding.to_string()).or_default().extend(rows);
    }
    (part, lists)
}

/// Replaces a part that shows only one of several sites.
const SHARED: &str = "(of one of several sites)";

/// Replaces in one report the parts that are replaced in the other.
fn share(together: &Json, alone: &mut Json) {
    match (together, alone) {
        (Json::String(text), alone) if text == SHARED => *alone = SHARED.into(),
        (Json::Array(together), Json::Array(alone)) => {
            together
                .iter()
                .zip(alone)
                .for_each(|(together, alone)| share(together, alone));
        }
        (Json::Object(together), Json::Object(alone)) => {
            for (key, alone) in alone {
                share(together.get(key).unwrap_or(&Json::Null), alone);
            }
        }
        _ => {}
    }
}

/// A report restricted to one site.
struct Report<'a> {
    json: &'a Json,
    /// Rows of all lists, by id.
    rows: BTreeMap<&'a str, &'a Json>,
    /// Position of the site in each set that it is in.
    positions: BTreeMap<&'a str, usize>,
    /// Sets that contain only this site.
    own: BTreeSet<&'a str>,
}

impl<'a> Report<'a> {
    fn read(json: &'a Json, site: &str) -> Self {
        let lists = ["edits", "edit_sets", "groups", "routes", "lines"];
        let rows = lists.iter().flat_map(|list| json[list].as_array().unwrap());
        let rows = rows.map(|row| (row["id"].as_str().unwrap(), row)).collect();
        let index = json["sites"]
            .as_array()
            .unwrap()
            .iter()
            .position(|row| row["name"] == site);
        let (mut positions, mut own) = (BTreeMap::new(), BTreeSet::new());
        for set in json["site_sets"].as_array().unwrap() {
            let (id, sites) = (
                set["id"].as_str().unwrap(),
                set["sites"].as_array().unwrap(),
            );
            let mut sites = sites.iter().map(|it| it.as_u64().unwrap().try_into().ok());
            let count = sites.len();
            if let Some(position) = sites.position(|it| it == index) {
                positions.insert(id, position);
                own.extend((count == 1).then_some(id));
            }
        }
        Self {
            json,
            rows,
            positions,
            own,
        }
    }

    /// Rows of a list that concern the site.
    fn rows(&self, list: &str) -> impl Iterator<Item = &'a Json> {
        self.json[list].as_array().unwrap().iter().filter(|row| {
            let set = row["sites"].as_str().or(row["reach"]["sites"].as_str());
            set.is_some_and(|set| self.positions.contains_key(set)) && !asks_all_sites(row)
        })
    }

    /// A value with ids replaced by their rows, without totals.
    fn follow(&self, value: &Json) -> Json {
        match value {
            Json::Array(items) => items.iter().map(|item| self.follow(item)).collect(),
            Json::Object(row) => {
                let entries = row.iter().filter(|(key, _)| !is_total(row, key));
                let entries = entries.map(|(key, value)| {
                    let value = match &**key {
                        "route" if !self.is_own_route(value) => SHARED.into(),
                        "edit" | "group" | "route" | "renames" => self.row(value),
                        "edits" if value.is_string() => self.row(value),
                        "edits" if row.contains_key("id") => value
                            .as_array()
                            .unwrap()
                            .iter()
                            .map(|it| self.row(it))
                            .collect(),
                        "joint" if value.is_boolean() => value.clone(),
                        "joint" | "caused_by" | "changed_by" => value
                            .as_array()
                            .unwrap()
                            .iter()
                            .map(|it| self.row(it))
                            .collect(),
                        "changes" if !self.own.contains(row["sites"].as_str().unwrap()) => {
                            without_places(value)
                        }
                        "text" if row.contains_key("label") => self.marked(row),
                        // Values of users, which may hold any key.
                        "before" | "after" => without_long(value),
                        "repository" => self.revisions(value),
                        _ => self.follow(value),
                    };
                    (key.clone(), value)
                });
                Json::Object(entries.collect())
            }
            other => other.clone(),
        }
    }

    /// Whether only outputs of this site have this route.
    fn is_own_route(&self, route: &Json) -> bool {
        let mut outputs = self.json["outputs"].as_array().unwrap().iter();
        outputs.all(|output| {
            let mut causes = output["causes"].as_array().unwrap().iter();
            self.own.contains(output["sites"].as_str().unwrap())
                || !causes.any(|cause| cause["route"] == *route)
        })
    }

    /// Name and revisions of a further repository.
    fn revisions(&self, index: &Json) -> Json {
        let row = index
            .as_u64()
            .and_then(|index| self.json["repositories"].get(index as usize));
        let row = row.expect("the repository is in the report");
        json!([row["name"], row["base"], row["head"]])
    }

    fn row(&self, id: &Json) -> Json {
        id.as_str()
            .map_or(Json::Null, |id| self.follow(self.rows[id]))
    }

    /// Lines of a label.
    fn marked(&self, label: &Map<String, Json>) -> Json {
        let Some(text) = label["text"].as_str() else {
            return Json::Null;
        };
        let [first, last] = ["line", "end_line"].map(|key| label[key].as_u64());
        let lines = self.rows[text]["lines"].as_array().unwrap().iter();
        lines
            .filter(|it| (first..=last).contains(&it["line"].as_u64()))
            .cloned()
            .collect()
    }

    fn shield(&self, row: &Json) -> Json {
        let by = row["by"].as_array().unwrap();
        let position = self.positions[row["sites"].as_str().unwrap()];
        let by = by[if by.len() == 1 { 0 } else { position }].clone();
        let mut row = self.follow(row);
        row["by"] = by;
        row
    }
}

/// A value, unless it is long enough for a larger report to omit it.
fn without_long(shown: &Json) -> Json {
    const MAX_BYTES: usize = 900;
    let is_long = shown["truncated"] == true || shown["value"].to_string().len() > MAX_BYTES;
    if is_long {
        SHARED.into()
    } else {
        shown.clone()
    }
}

fn without_places(changes: &Json) -> Json {
    let mut changes = changes.clone();
    for change in changes.as_array_mut().unwrap() {
        for place in ["at", "path"] {
            change[place] = SHARED.into();
        }
        for value in ["before", "after"] {
            change[value] = without_long(&change[value]);
        }
    }
    changes
}

fn asks_all_sites(finding: &Json) -> bool {
    let is_it = |rule: &&&Rule| finding["rule"] == rule.name;
    RULES
        .iter()
        .find(is_it)
        .is_some_and(|rule| rule.is(Trait::Everywhere))
}

/// Whether a key of a row is its id, or a total of the run.
fn is_total(row: &Map<String, Json>, key: &str) -> bool {
    match key {
        "id" | "sites" | "reach" | "count" | "proof" => true,
        "outputs" => row.contains_key("changes"),
        // A file shared by several revisions is attributed to the first one that was read.
        "commit" => row.contains_key("file"),
        _ => false,
    }
}

#[test]
fn two_sites_at_two_pins_are_reported_as_each_alone() {
    let pinned = Pinned::new();
    for (site, revision) in [("lab", "v2"), ("prod", "v3")] {
        pinned.pin(site, revision);
    }
    pinned.sites.commit();
    let run = |verb: &[&str], more: &[&str]| pinned.run(&[verb, more].concat());
    for revision in ["HEAD", "HEAD~1"] {
        let rev = ["--rev", revision, "--fail-on", "never"];
        for verb in [&["render", "--format", "json"][..], &["lint", "-o", "json"]] {
            assert_sites_are_as_alone(&run, &[verb, &rev].concat());
        }
    }
    let sides = [
        "--from",
        "HEAD~1",
        "--to",
        "HEAD",
        "-o",
        "json",
        "--exit-zero",
    ];
    for verb in [&["diff"][..], &["lint", "--all-findings"]] {
        assert_sites_are_as_alone(&run, &[verb, &sides].concat());
    }
}

#[test]
fn each_site_is_rendered_at_its_own_pin() {
    let pinned = Pinned::new();
    assert_eq!(pinned.versions(&pinned.given()), "lab=1 prod=2");
    let ran = pinned
        .run(&["lint", "-o", "json", "--fail-on", "never"])
        .json();
    let of_rule = |rule: &str| -> Vec<String> {
        let findings = ran["findings"].as_array().unwrap().iter();
        let findings = findings.filter(|finding| finding["rule"] == rule);
        let places = findings.map(|finding| {
            let sites = finding["sites"].as_array().unwrap().iter();
            let sites: Vec<&str> = sites.map(|site| site.as_str().unwrap()).collect();
            format!(
                "{} {}",
                finding["primary"]["file"].as_str().unwrap(),
                sites.join("+")
            )
        });
        places.collect()
    };
    assert_eq!(
        of_rule("missing-source"),
        ["global:global/broken.yaml prod"]
    );
    assert_eq!(
        of_rule("duplicate-key"),
        [
            "global:global/new-1.yaml lab+prod",
            "global:global/new-2.yaml prod",
            "global:global/same.yaml lab+prod",
            "site/lab/only.yaml lab",
            "site/prod/only.yaml prod",
        ]
    );
}
