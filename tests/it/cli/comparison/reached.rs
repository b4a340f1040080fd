//! A comparison reads only the sites that its edits can reach, and reports the same of them as one
//! that reads all sites.

use std::fs;

use layercake_yaml_testing::config;
use proptest::prelude::*;
use serde_json::Value as Json;

use super::{Sandbox, broken, definition, document};
use crate::conformance::pairs::pairs;
use crate::conformance::treasuremap::Treasuremap;
use crate::properties::edits::edited as edited_repository;
use crate::support::sample::is_thorough;

/// Sites of two types, each with a folder of its own.
fn repository() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "type/large/dns.yaml",
        document("dns", "type", "{server: 10.0.0.2}"),
    );
    let large = definition("big", "").replace("site_type: small", "site_type: large");
    sandbox.write("site/big/site-definition.yaml", large);
    for site in ["big", "lab", "prod"] {
        sandbox.write(
            &format!("site/{site}/own/one.yaml"),
            document("one", "site", "{a: 1}"),
        );
    }
    sandbox.write("site/prod/own/broken.yaml", broken());
    sandbox.commit();
    sandbox
}

fn edited() -> String {
    document("one", "site", "{a: 2}")
}

type Step = fn(&Sandbox);

/// Edits, each with the number of files that a comparison reads; `None` if it reads all.
const EDITS: &[(&str, Step, Option<usize>)] = &[
    ("nothing", |_| (), Some(5)),
    (
        "a value of a site",
        |it| it.write("site/lab/own/one.yaml", edited()),
        Some(9),
    ),
    (
        "a value of a type",
        |it| it.write("type/large/dns.yaml", document("dns", "type", "{}")),
        Some(8),
    ),
    (
        "a value of a type that no site has",
        |it| it.write("type/unused/dns.yaml", document("dns", "type", "{}")),
        None,
    ),
    (
        "a value of each site",
        |it| {
            for site in ["big", "lab", "prod"] {
                it.write(&format!("site/{site}/own/one.yaml"), edited());
            }
        },
        None,
    ),
    (
        "a value of all sites",
        |it| it.write("global/chart.yaml", edited()),
        None,
    ),
    (
        "a file outside the layers",
        |it| it.write("README", "text"),
        Some(5),
    ),
    (
        "a definition",
        |it| {
            it.write(
                "site/lab/site-definition.yaml",
                definition("lab", "  a: 1\n"),
            );
        },
        None,
    ),
    (
        "a configuration",
        |it| it.write("layercake.yaml", "rules: {ignore: [duplicate-key]}\n"),
        None,
    ),
    (
        "an error",
        |it| it.write("site/lab/own/broken.yaml", broken()),
        Some(9),
    ),
    (
        "a fix",
        |it| fs::remove_file(it.path("site/prod/own/broken.yaml")).unwrap(),
        Some(9),
    ),
    (
        "a site that goes",
        |it| fs::remove_dir_all(it.path("site/lab")).unwrap(),
        None,
    ),
    (
        "a site that comes",
        |it| it.write("site/new/site-definition.yaml", definition("new", "")),
        None,
    ),
    (
        "a folder that was a file",
        |it| {
            fs::remove_file(it.path("site/lab/own/one.yaml")).unwrap();
            it.write("site/lab/own/one.yaml/one.yaml", edited());
        },
        Some(9),
    ),
    (
        "a link",
        |it| {
            std::os::unix::fs::symlink("../../prod/own/one.yaml", it.path("site/lab/own/two.yaml"))
                .unwrap();
        },
        None,
    ),
    (
        "a clash of names",
        |it| it.write("site/lab/own/ONE.yaml", document("two", "site", "{}")),
        Some(9),
    ),
];

#[test]
fn comparison_reports_what_one_over_all_sites_reports() {
    for (edit, step, files_read) in EDITS {
        for baseline in [false, true] {
            let sandbox = repository();
            if baseline {
                sandbox.run(&["baseline", "write"]);
                sandbox.commit();
            }
            step(&sandbox);
            let on_disk = check(&sandbox, &["--since", "HEAD"], edit);
            sandbox.git(&["add", "--all"]);
            let staged = check(&sandbox, &["--staged"], edit);
            sandbox.git(&["commit", "--quiet", "--allow-empty", "-m", "edit"]);
            let committed = check(&sandbox, &["--since", "HEAD~1..HEAD"], edit);
            for (read, all) in [on_disk, staged, committed] {
                match files_read.filter(|_| !baseline) {
                    Some(files) => assert_eq!(read, files, "{edit}"),
                    None => assert!(read >= all, "{edit}: {read} of {all} files are read"),
                }
            }
        }
    }
}

/// Most pairs of commits edit `global/` or several sites, some a single one.
#[test]
#[ignore = "needs the recorded corpus"]
fn comparison_of_recorded_commits_reports_what_one_over_all_sites_reports() {
    let repository = Treasuremap::clone();
    let sandbox = Sandbox {
        root: repository.path(),
        folder: tempfile::tempdir().unwrap(),
    };
    let fewer = pairs().into_iter().filter(|pair| {
        let [base, head] = ["parent", "commit"].map(|side| pair[side].as_str().unwrap());
        let range = format!("{base}..{head}");
        let (read, all) = check(&sandbox, &["--since", &range], &range);
        assert!(read <= all, "{range}: {read} of {all} files are read");
        read < all
    });
    assert!(fewer.count() > 0);
}

/// Generated edits; more of them in the nightly tests.
fn cases() -> u32 {
    if is_thorough() { 500 } else { 40 }
}

proptest! {
    #![proptest_config(config(cases()))]

    #[test]
    fn comparison_of_generated_edits_reports_what_one_over_all_sites_reports(
        edited in edited_repository(),
        only in prop_oneof![Just(None), Just(Some("t*")), Just(Some("one"))],
    ) {
        let sandbox = Sandbox::new();
        for (path, text) in &edited.base.files {
            sandbox.write(path, text);
        }
        sandbox.commit();
        for (path, _) in &edited.base.files {
            fs::remove_file(sandbox.path(path)).unwrap();
        }
        for (path, text) in &edited.head.files {
            sandbox.write(path, text);
        }
        let limits = only.map_or(vec![], |site| vec!["--site", site]);
        let gates = ["--max-sites", "0", "--max-outputs", "1"];
        check(&sandbox, &[&["--since", "HEAD"], &gates[..], &limits].concat(), "on disk");
    }
}

/// Compares a run with one that reads all sites. Returns the numbers of files that both read.
fn check(sandbox: &Sandbox, arguments: &[&str], edit: &str) -> (usize, usize) {
    let arguments = [&["lint"], arguments].concat();
    // A table of all findings needs all sites; the report in JSON stays the same.
    let whole = [&arguments[..], &["--statistics"]].concat();
    let is_limited = arguments.contains(&"--site");
    let [reports, whole_reports] = [&arguments, &whole].map(|arguments| {
        let ran = sandbox.run(&[arguments, &["-o", "json"][..]].concat());
        (
            ran.code,
            ran.stderr.clone(),
            (ran.code < 2).then(|| of_reached(ran.json(), is_limited)),
        )
    });
    let whole_reports = (
        whole_reports.0,
        whole_reports.1,
        whole_reports
            .2
            .zip(reports.2.as_ref())
            .map(|(whole, it)| hidden_as_in(it, whole)),
    );
    assert_eq!(reports, whole_reports, "{edit} {arguments:?}");
    let quiet = sandbox.run(&[&arguments[..], &["--quiet"]].concat());
    let is_silent = reports.2.is_some_and(|report| {
        let found = &report["totals"]["findings"];
        report["verdict"]["outcome"] == "passed" && found["errors"] == 0 && found["warnings"] == 0
    });
    assert_eq!(
        quiet.stdout.is_empty(),
        is_silent || reports.0 == 2,
        "{edit} {arguments:?}"
    );
    (sandbox.files_read(&arguments), sandbox.files_read(&whole))
}

/// A report over all sites with the values hidden that the other report hides: it does not know the
/// documents of other sites, and a text may be a secret of one of them.
fn hidden_as_in(report: &Json, whole: Json) -> Json {
    match (report, whole) {
        (Json::String(text), _) if text == "(hidden)" => report.clone(),
        (Json::Object(fields), Json::Object(whole)) => whole
            .into_iter()
            .map(|(key, value)| match fields.get(&key) {
                Some(field) => (key, hidden_as_in(field, value)),
                None => (key, value),
            })
            .collect(),
        (Json::Array(items), Json::Array(whole)) if items.len() == whole.len() => {
            let both = items.iter().zip(whole);
            both.map(|(item, whole)| hidden_as_in(item, whole))
                .collect()
        }
        (_, whole) => whole,
    }
}

/// A report without what depends on sites that no edit can reach. If it is limited to some sites, edited
/// files of others are not counted.
fn of_reached(mut report: Json, is_limited: bool) -> Json {
    if is_limited {
        report["comparison"]["edited_files"] = Json::Null;
    }
    for key in ["site_sets", "statistics", "omitted_unchanged", "lines"] {
        report[key] = Json::Null;
    }
    for key in [
        "outputs",
        "unread_sites",
        "refused_sites",
        "unchanged",
        "ignored",
        "accepted",
    ] {
        report["totals"][key] = Json::Null;
    }
    for site in report["sites"].as_array_mut().unwrap() {
        for key in ["base", "head", "unread", "refused"] {
            site[key] = Json::Null;
        }
    }
    report
}

/// The nearest site repository is used, even inside a site of another one.
#[test]
fn quiet_run_inside_a_nested_repository_checks_that_repository() {
    let sandbox = repository();
    sandbox.write("site/prod/nowhere.yaml", document("nowhere", "site", "{}"));
    let inner = "site/prod/inner";
    sandbox.write(&format!("{inner}/global/policy.yaml"), crate::cli::POLICY);
    sandbox.write(
        &format!("{inner}/type/small/dns.yaml"),
        document("dns2", "type", "{}"),
    );
    for site in ["deep", "other"] {
        let definition = definition(site, "");
        sandbox.write(
            &format!("{inner}/site/{site}/site-definition.yaml"),
            definition,
        );
    }
    sandbox.commit();
    // The outer site has the source that is missing here.
    sandbox.write(&format!("{inner}/site/deep/broken.yaml"), broken());
    sandbox.git(&["add", "--all"]);
    let inner = sandbox.path(inner);
    let whole = sandbox.run_in(&inner, &["lint", "--staged"]);
    let quiet = sandbox.run_in(&inner, &["lint", "--staged", "--quiet"]);
    assert_eq!(whole.code, 1, "{}", whole.stdout);
    assert_eq!(quiet.code, 1, "{}", quiet.stdout);
}
