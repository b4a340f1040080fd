//! An added or removed site is one edit, which covers the documents that no other site has.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value as Json;

use super::parts::{compared, edited};
use super::{Sandbox, broken, definition, document};

impl Sandbox {
    /// Adds a site of this type, with two documents of its own.
    fn add_site(&self, site: &str, site_type: &str) {
        let text =
            definition(site, "").replace("site_type: small", &format!("site_type: {site_type}"));
        self.write(&format!("site/{site}/site-definition.yaml"), text);
        let data = format!("{{of: {site}}}");
        self.write(
            &format!("site/{site}/only.yaml"),
            document("only", "site", &data),
        );
        self.write(
            &format!("site/{site}/more/own.yaml"),
            document("own", "site", &data),
        );
    }

    fn remove_folder(&self, path: &str) {
        fs::remove_dir_all(self.path(path)).unwrap();
    }
}

/// `site status: edits` of the outputs, without duplicates.
fn outputs(report: &Json) -> BTreeSet<String> {
    let outputs = report["outputs"].as_array().unwrap().iter();
    let row = |it: &Json| {
        let causes = it["causes"].as_array().unwrap().iter();
        let edits: Vec<&str> = causes
            .map(|cause| cause["edit"].as_str().unwrap())
            .collect();
        let [site, status] = ["site", "status"].map(|key| it[key].as_str().unwrap());
        format!("{site} {status}: {}", edits.join(","))
    };
    outputs.map(row).collect()
}

fn set(texts: &[&str]) -> BTreeSet<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn added_or_removed_site_is_one_edit() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    sandbox.add_site("harbor", "small");
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        ["site/harbor/site-definition.yaml:5 site-added whole ."]
    );
    assert_eq!(outputs(&report), set(&["harbor added: e1"]));
    let sites = report["sites"].as_array().unwrap();
    let harbor = sites.iter().find(|it| it["name"] == "harbor").unwrap();
    assert_eq!(
        (&harbor["type"], &harbor["base"]),
        (&Json::from("small"), &Json::Null)
    );
    assert_eq!(harbor["head"], 6);
    let ran = sandbox.run(&["diff", "HEAD"]);
    assert!(
        ran.stdout.contains("site harbor of type small added"),
        "{}",
        ran.stdout
    );
    for (most, code) in [("5", 1), ("6", 0)] {
        assert_eq!(
            sandbox.run(&["diff", "HEAD", "--max-outputs", most]).code,
            code,
            "{most}"
        );
    }

    sandbox.commit();
    sandbox.remove_folder("site/harbor");
    sandbox.remove_folder("site/lab");
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        [
            "site/harbor/site-definition.yaml:5 site-removed whole .",
            "site/lab/site-definition.yaml:5 site-removed whole ."
        ]
    );
    assert_eq!(
        outputs(&report),
        set(&["harbor removed: e1", "lab removed: e2"])
    );
    assert_eq!(sandbox.run(&["diff", "HEAD", "--max-outputs", "1"]).code, 1);
}

#[test]
fn files_shared_with_other_sites_are_separate_edits() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    sandbox.add_site("harbor", "small");
    sandbox.write(
        "global/chart.yaml",
        document("chart", "global", "{values: {replicas: 2}}"),
    );
    sandbox.write(
        "type/small/ntp.yaml",
        document("ntp", "type", "{server: 10.0.0.2}"),
    );
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        [
            "global/chart.yaml:8 value data .values.replicas",
            "site/harbor/site-definition.yaml:5 site-added whole .",
            "type/small/ntp.yaml:5 document whole .",
        ]
    );
    let found = outputs(&report);
    for site in ["lab", "prod"] {
        assert!(found.contains(&format!("{site} changed: e1")), "{found:?}");
        assert!(found.contains(&format!("{site} added: e3")), "{found:?}");
    }
    // Outputs of the new site are caused by its addition.
    let mut of_harbor = found.iter().filter(|it| it.starts_with("harbor"));
    assert!(of_harbor.all(|it| it.contains("e2")), "{found:?}");
}

#[test]
fn type_used_by_one_site_is_added_and_removed_with_it() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    sandbox.add_site("harbor", "large");
    sandbox.write(
        "type/large/dns.yaml",
        document("dns", "type", "{server: 10.0.0.3}"),
    );
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        ["site/harbor/site-definition.yaml:5 site-added whole ."]
    );

    sandbox.add_site("ocean", "large");
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        [
            "site/harbor/site-definition.yaml:5 site-added whole .",
            "site/ocean/site-definition.yaml:5 site-added whole .",
            "type/large/dns.yaml:5 document whole .",
        ]
    );
    let ran = sandbox.run(&["diff", "HEAD", "-o", "json", "--verify-attribution"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn renamed_site_is_one_removed_and_one_added() {
    let sandbox = Sandbox::with_sites();
    sandbox.add_site("harbor", "small");
    sandbox.commit();
    sandbox.git(&["mv", "site/harbor", "site/ocean"]);
    sandbox.write("site/ocean/site-definition.yaml", definition("ocean", ""));
    // One of its documents is now shared by all sites, which is an edit of its own.
    sandbox.git(&["mv", "site/ocean/more/own.yaml", "global/own.yaml"]);
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        [
            "global/own.yaml:5 document whole .",
            "site/harbor/site-definition.yaml:5 site-removed whole .",
            "site/ocean/site-definition.yaml:5 site-added whole .",
        ]
    );
    let found = outputs(&report);
    assert!(found.contains("harbor removed: e2"), "{found:?}");
    assert!(found.contains("ocean added: e3"), "{found:?}");
    assert!(found.contains("lab added: e1"), "{found:?}");
}

#[test]
fn parts_and_findings_of_an_added_site_are_caused_by_it() {
    let sandbox = Sandbox::with_sites();
    let parts = "cloud-config:\n  - name: genesis\n    parts: [\"global/cloud/*\", \"site/{site}/cloud/*\"]\n";
    sandbox.write("layercake.yaml", parts);
    sandbox.write("global/cloud/base.yaml", "#cloud-config\npackages: [a]\n");
    sandbox.commit();
    sandbox.add_site("harbor", "small");
    sandbox.write(
        "site/harbor/cloud/own.yaml",
        "#cloud-config\npackages: [b]\n",
    );
    sandbox.write("site/harbor/broken.yaml", broken());
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        ["site/harbor/site-definition.yaml:5 site-added whole ."]
    );
    assert_eq!(outputs(&report), set(&["harbor added: e1"]));
    let report = sandbox.report_of(&["lint", "--since", "HEAD"]);
    let findings = report["findings"].as_array().unwrap().iter();
    let mut sources = findings.filter(|it| it["rule"] == "missing-source");
    assert_eq!(
        sources.next().unwrap()["caused_by"],
        Json::from(vec!["e1"]),
        "{report:#}"
    );
}

#[test]
fn folder_that_becomes_a_site_covers_only_files_added_with_it() {
    let sandbox = Sandbox::with_sites();
    sandbox.add_site("harbor", "small");
    fs::remove_file(sandbox.path("site/harbor/site-definition.yaml")).unwrap();
    sandbox.commit();
    sandbox.add_site("harbor", "small");
    fs::remove_file(sandbox.path("site/harbor/more/own.yaml")).unwrap();
    sandbox.write(
        "site/harbor/only.yaml",
        document("only", "site", "{of: another}"),
    );
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        [
            "site/harbor/more/own.yaml:5 document whole .",
            "site/harbor/only.yaml:8 value data .of",
            "site/harbor/site-definition.yaml:5 site-added whole .",
        ]
    );
    assert!(
        outputs(&report)
            .iter()
            .all(|it| it.starts_with("harbor added: ")),
        "{report:#}"
    );
}
