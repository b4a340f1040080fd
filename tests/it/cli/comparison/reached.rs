//! A quiet run over the index reads only the sites that the edits can reach, and reports the same
//! as a run over all sites.

use std::fs;

use super::{Sandbox, broken, definition, document};

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

/// Edits, each with the number of files that a quiet run reads; `None` if it reads all.
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
        None,
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
        None,
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
        None,
    ),
];

#[test]
fn quiet_run_over_the_index_equals_a_run_over_all_sites() {
    for (edit, step, files_read) in EDITS {
        for baseline in [false, true] {
            let sandbox = repository();
            if baseline {
                sandbox.run(&["baseline", "write"]);
                sandbox.commit();
            }
            step(&sandbox);
            sandbox.git(&["add", "--all"]);
            check_quiet(&sandbox, edit);
            let read = sandbox.files_read(&["lint", "--staged", "--quiet"]);
            let all = sandbox.files_read(&["lint", "--staged"]);
            let expected = files_read.filter(|_| !baseline);
            match expected {
                Some(files) => assert_eq!(read, files, "{edit}"),
                None => assert!(read >= all, "{edit}: {read} of {all} files are read"),
            }
        }
    }
}

/// Compares the quiet run with one that prints and reads everything.
fn check_quiet(sandbox: &Sandbox, edit: &str) {
    let whole = sandbox.run(&["lint", "--staged"]);
    let report = sandbox.run(&["lint", "--staged", "-o", "json"]).json();
    let found = &report["totals"]["findings"];
    let is_silent = report["verdict"]["outcome"] == "passed"
        && (found["errors"].as_u64(), found["warnings"].as_u64()) == (Some(0), Some(0));
    let quiet = sandbox.run(&["lint", "--staged", "--quiet"]);
    assert_eq!(
        (quiet.code, &quiet.stderr),
        (whole.code, &whole.stderr),
        "{edit}"
    );
    assert_eq!(
        quiet.stdout,
        if is_silent { "" } else { &whole.stdout },
        "{edit}"
    );
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
