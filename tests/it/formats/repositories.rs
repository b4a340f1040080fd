//! Locations in further repositories: every format shows them as `NAME:path:line`, and none treats
//! them as locations of the checked repository.

use std::collections::BTreeMap;

use layercake::report::model::read;
use layercake::report::{FindingFilter, ReportFormat};
use serde_json::{Value as Json, json};

use super::made::{USUAL, add_outputs, edit, finding, json_report, label, written};
use super::readers::{annotations, issues};

const COMMIT: &str = "3f2a91c07b5d4e8f9a6c1b2d3e4f5a6b7c8d9e0f";
const OTHER_COMMIT: &str = "1d5f2a90b4c8e7d6a3f1029384756abcdef01234";
const FILE: &str = "global:global/ä one.yaml";
const LINKS: &str = "https://git.example.org/global/{sha}/{path}#L{line}";

fn revision(name: &str, commit: &str) -> Json {
    json!({"chosen_by": "pin", "revision": name, "commit": commit})
}

/// `global` with a different pin in each of two sites, and two repositories with similar names.
fn repositories() -> Json {
    let pin = |site: &str| json!({"file": format!("site/{site}/site-definition.yaml"), "line": 12, "column": 17});
    let used = |name: &str, sites: &str, head: Json| json!({"name": name, "sites": sites, "base": null, "head": head, "pin": null, "links": null});
    let mut first = used("global", "s1", revision("v1.8", COMMIT));
    first["pin"] = pin("lab");
    first["links"] = LINKS.into();
    let mut second = used("global", "s2", revision("v1.7", OTHER_COMMIT));
    second["pin"] = pin("prod");
    second["links"] = LINKS.into();
    let folder = json!({"chosen_by": "folder", "revision": null, "commit": null});
    let odd = [
        used("odd name", "s3", folder.clone()),
        used("odd-name", "s3", folder),
    ];
    [vec![first, second], odd.to_vec()].concat().into()
}

/// Report with these findings and edits, each of which changed an output.
fn report(findings: &[Json], edits: &[Json]) -> Json {
    let mut report = json_report(findings, edits);
    for edit in edits {
        add_outputs(&mut report, edit["id"].as_str().unwrap(), "s1", 1);
    }
    report["repositories"] = repositories();
    report["links"] = "https://git.example.org/sites/{path}#L{line}".into();
    report
}

/// New error at a line of the further repository, read from its first pin.
fn error() -> Json {
    let mut error = finding("missing-parent", "error", "no parent", FILE, 4);
    error["primary"]["commit"] = COMMIT.into();
    error["related"] = json!([label("odd-name:a.yaml", 2, "here, too")]);
    error
}

fn edited() -> Json {
    let mut edit = edit("e1", FILE, 9, 1);
    edit["at"]["base"]["commit"] = OTHER_COMMIT.into();
    edit["at"]["head"]["commit"] = COMMIT.into();
    edit
}

fn made(form: ReportFormat, report: &Json) -> String {
    written(form, &read(&report.to_string()).unwrap(), USUAL)
}

#[test]
fn sarif_has_a_root_for_each_repository() {
    let mut report = report(
        &[
            error(),
            finding("missing-parent", "error", "m", "a.yaml", 1),
        ],
        &[],
    );
    report["findings"][0]["suppressed"] = Json::Null;
    report["findings"][0]["fix"] = json!({"safety": "safe", "message": "fix it", "edits": [{
        "file": FILE, "line": 4, "column": 1, "end_line": 4, "end_column": 2, "text": "x"}]});
    let log: Json = serde_json::from_str(&made(ReportFormat::Sarif, &report)).unwrap();
    super::sarif::assert_sound(&log);
    let run = &log["runs"][0];
    let words = |id: &str| {
        run["originalUriBaseIds"][id]["description"]["text"]
            .as_str()
            .unwrap()
    };
    assert_eq!(words("%SRCROOT%"), "the root of the repository");
    assert_eq!(
        words("REPOSITORY_GLOBAL"),
        "the root of a further repository: global v1.8 (pinned, 3f2a91c) in lab; global v1.7 \
         (pinned, 1d5f2a9) in prod"
    );
    // Two names that are equal except for unsafe characters.
    assert!(words("REPOSITORY_ODD_NAME").contains(": odd name "));
    assert!(words("REPOSITORY_ODD_NAME_2").contains(": odd-name "));
    let artifact = |result: usize, pointer: &str| {
        let place = run["results"][result].pointer(pointer).unwrap();
        (
            place["uri"].as_str().unwrap().to_owned(),
            place["uriBaseId"].as_str().unwrap().to_owned(),
        )
    };
    let own = (
        "global/%C3%A4%20one.yaml".to_owned(),
        "REPOSITORY_GLOBAL".to_owned(),
    );
    let physical = "/physicalLocation/artifactLocation";
    assert_eq!(artifact(0, &format!("/relatedLocations/0{physical}")), own);
    assert_eq!(
        artifact(0, "/fixes/0/artifactChanges/0/artifactLocation"),
        own
    );
    let related = artifact(0, &format!("/relatedLocations/1{physical}"));
    assert_eq!(
        related,
        ("a.yaml".to_owned(), "REPOSITORY_ODD_NAME_2".to_owned())
    );
    let first = artifact(1, &format!("/locations/0{physical}"));
    assert_eq!(first, ("a.yaml".to_owned(), "%SRCROOT%".to_owned()));
    // Code scanning only supports the first root, so the result is at the pin.
    let pin = (
        "site/lab/site-definition.yaml".to_owned(),
        "%SRCROOT%".to_owned(),
    );
    assert_eq!(artifact(0, &format!("/locations/0{physical}")), pin);
    assert_eq!(
        run["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"],
        12
    );
    let message = run["results"][0]["message"]["text"].as_str().unwrap();
    assert!(
        message.starts_with(&format!("no parent\nat {FILE}:4:3")),
        "{message}"
    );
    // Every root used by a location is declared.
    for (uri, base) in [own, related, first] {
        assert!(
            run["originalUriBaseIds"].get(&base).is_some(),
            "{uri}: {base}"
        );
    }
}

#[test]
fn sarif_result_without_a_pin_is_at_its_own_location() {
    let mut report = report(&[error()], &[]);
    report["repositories"][0]["pin"] = Json::Null;
    let log: Json = serde_json::from_str(&made(ReportFormat::Sarif, &report)).unwrap();
    super::sarif::assert_sound(&log);
    let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    let own = json!({"uri": "global/%C3%A4%20one.yaml", "uriBaseId": "REPOSITORY_GLOBAL"});
    assert_eq!(place["artifactLocation"], own);
}

#[test]
fn suppressions_and_routes_of_sarif_are_in_their_repositories() {
    let mut ignored = error();
    ignored["suppressed"] = json!({"kind": "comment", "file": FILE, "line": 3, "reason": ""});
    let mut caused = finding("missing-parent", "error", "no parent", "site/lab/a.yaml", 4);
    caused["caused_by"] = json!(["e1"]);
    let name = json!({"schema": "schema-of-it", "layer": "site", "name": "n"});
    caused["documents"] = json!([name]);
    let mut report = report(&[ignored, caused], &[edited()]);
    report["outputs"][0]["document"] = name;
    report["routes"][0]["steps"][0]["at"] = json!([edited()["at"]["head"]]);
    let listing = FindingFilter {
        all: true,
        ignored: true,
    };
    let log = written(
        ReportFormat::Sarif,
        &read(&report.to_string()).unwrap(),
        listing,
    );
    let log: Json = serde_json::from_str(&log).unwrap();
    super::sarif::assert_sound(&log);
    let result = |at: usize, pointer: &str| {
        log["runs"][0]["results"][at]
            .pointer(pointer)
            .unwrap_or(&Json::Null)
            .clone()
    };
    let place = "physicalLocation/artifactLocation/uriBaseId";
    let suppression = result(0, &format!("/suppressions/0/location/{place}"));
    assert_eq!(suppression, "REPOSITORY_GLOBAL");
    let steps = "/codeFlows/0/threadFlows/0/locations";
    assert_eq!(
        result(1, &format!("{steps}/0/location/{place}")),
        "REPOSITORY_GLOBAL"
    );
    assert_eq!(
        result(1, &format!("{steps}/1/location/{place}")),
        "%SRCROOT%"
    );
}

#[test]
fn annotations_are_at_the_line_of_the_pin() {
    let place = |name: &str, properties: &BTreeMap<String, String>| {
        let of = |key: &str| properties.get(key).map_or("-", String::as_str).to_owned();
        format!("{name} {}:{}", of("file"), of("line"))
    };
    let annotated = |report: &Json| -> Vec<(String, String)> {
        let commands = annotations(&made(ReportFormat::Github, report));
        commands
            .iter()
            .map(|it| (place(&it.name, &it.properties), it.data.clone()))
            .collect()
    };
    let found = annotated(&report(&[error()], &[edited()]));
    assert_eq!(found[0].0, "error site/lab/site-definition.yaml:12");
    assert!(
        found[0].1.starts_with(&format!("{FILE}:4:3: no parent\n")),
        "{found:?}"
    );
    assert_eq!(found[1].0, "notice site/lab/site-definition.yaml:12");
    assert!(
        found[1]
            .1
            .starts_with(&format!("{FILE}:9 versions (global)  .a\n")),
        "{found:?}"
    );

    // The revision of the other site is pinned in another file.
    let mut other = error();
    other["primary"]["commit"] = OTHER_COMMIT.into();
    let found = annotated(&report(&[other], &[]));
    assert_eq!(found[0].0, "error site/prod/site-definition.yaml:12");

    // Without a pin, no line of this repository applies.
    let mut unpinned = report(&[error()], &[edited()]);
    for used in unpinned["repositories"].as_array_mut().unwrap() {
        used["pin"] = Json::Null;
    }
    let found = annotated(&unpinned);
    assert_eq!(
        found.iter().map(|it| &*it.0).collect::<Vec<_>>(),
        ["error -:-", "notice -:-"]
    );
    assert!(
        found[0].1.starts_with(&format!("{FILE}:4:3: no parent\n")),
        "{found:?}"
    );

    // An effect of an edit of this repository is annotated at that edit.
    let mut caused = error();
    caused["caused_by"] = json!(["e1"]);
    let found = annotated(&report(&[caused], &[edit("e1", "site/lab/a.yaml", 3, 1)]));
    assert_eq!(found[0].0, "error site/lab/a.yaml:3");
}

#[test]
fn other_formats_name_the_repository_before_the_path() {
    let report = report(&[error()], &[edited()]);
    let issue = &issues(&made(ReportFormat::Gitlab, &report))[0];
    assert_eq!(issue["location"]["path"], FILE);
    let tests = made(ReportFormat::Junit, &report);
    assert!(
        tests.contains(&format!("name=\"{FILE}: no parent\"")),
        "{tests}"
    );
    for form in [
        ReportFormat::Markdown,
        ReportFormat::Comment,
        ReportFormat::Html,
    ] {
        let page = made(form, &report);
        assert!(page.contains(&format!("{FILE}:4")), "{page}");
        let header = "v1.8";
        assert!(page.contains(header), "{page}");
    }
}

/// A link uses the template of the repository and the commit that was read; otherwise there is no
/// link.
#[test]
fn links_use_the_template_of_the_repository() {
    let address = |commit: &str, line: usize| {
        format!("https://git.example.org/global/{commit}/global/%C3%A4%20one.yaml#L{line}")
    };
    let linked = report(&[error()], &[edited()]);
    for form in [
        ReportFormat::Markdown,
        ReportFormat::Comment,
        ReportFormat::Html,
    ] {
        let page = made(form, &linked);
        assert!(page.contains(&address(COMMIT, 4)), "{page}");
        assert!(!page.contains("org/sites/global"), "{page}");
        // No commit is known for this location.
        let mut unknown = linked.clone();
        unknown["findings"][0]["primary"]
            .as_object_mut()
            .unwrap()
            .remove("commit");
        let page = made(form, &unknown);
        assert!(!page.contains("one.yaml#L4"), "{page}");
        // The repository has no template.
        let mut unset = linked.clone();
        for used in unset["repositories"].as_array_mut().unwrap() {
            used["links"] = Json::Null;
        }
        assert!(!made(form, &unset).contains("one.yaml#L"));
    }
}

#[test]
fn unknown_site_id_is_refused() {
    let mut report = report(&[], &[]);
    report["repositories"][0]["sites"] = "s9".into();
    let fault = read(&report.to_string()).unwrap_err().to_string();
    assert!(fault.contains("unknown id `s9`"), "{fault}");
}

/// A page has space for its header with any number of pins.
#[test]
fn first_of_many_revisions_are_named() {
    let mut report = report(&[], &[]);
    let one = report["repositories"][0].clone();
    let other = |at: usize| {
        let mut used = one.clone();
        used["name"] = format!("global-{at:03}").into();
        used["base"] = if at == 299 {
            Json::Null
        } else {
            used["head"].clone()
        };
        used
    };
    report["repositories"] = (0..300).map(other).collect();
    report["comparison"] = comparison();
    let comment = made(ReportFormat::Comment, &report);
    assert!(comment.len() < 8_000, "{comment}");
    assert_eq!(comment.matches("with **global-").count(), 5, "{comment}");
    assert!(
        comment.contains("with **global-299**"),
        "differing revisions come first: {comment}"
    );
    assert!(
        comment.contains("with 295 more: see the JSON report"),
        "{comment}"
    );
}

fn comparison() -> Json {
    let side = json!({"kind": "index", "commit": null, "tree": null, "date": null, "name": ""});
    json!({
        "base": side, "head": side, "chosen_by": "since", "reason": "", "shallow": false,
        "edited_files": 0, "limited": false, "linted": true, "added_ignores": 0,
    })
}
