//! Limits, in a run of the real program: one edit that changes 5,000 outputs, and 2,000 new
//! findings.

use std::collections::BTreeMap;
use std::fs;

use layercake::report::Format;
use serde_json::Value as Json;

use super::markdown::reader::read;
use crate::cli::{POLICY, Sandbox, broken, definition, document};

const SITES: usize = 50;
const DOCUMENTS: usize = 100;
const FINDINGS: usize = 40;

#[test]
fn change_of_5000_outputs_with_2000_findings_is_within_every_limit() {
    let sandbox = wide();
    let written = written(&sandbox);
    let json: Json = serde_json::from_str(&written["json"]).unwrap();
    let findings = json["findings"].as_array().unwrap().iter();
    let findings: Vec<&Json> = findings.filter(|it| it["state"] == "new").collect();
    let reached = json["totals"]["changed_outputs"].as_u64().unwrap();
    assert!(findings.len() >= SITES * FINDINGS, "{}", findings.len());
    assert!(reached >= (SITES * DOCUMENTS) as u64, "{reached}");
    page(&written["markdown"], 900_000, findings.len());
    page(&written["comment"], 8_000, findings.len());
    github(&written["github"]);
    sarif(&serde_json::from_str(&written["sarif"]).unwrap());
    let tests = written["junit"].matches("<failure").count();
    assert_eq!(tests, findings.len(), "every finding is a failed test");
    let gitlab: Json = serde_json::from_str(&written["gitlab"]).unwrap();
    assert_eq!(gitlab.as_array().unwrap().len(), findings.len());
    assert!(
        written["html"].len() < 20_000_000,
        "{}",
        written["html"].len()
    );
}

/// GitHub shows ten annotations of each level and step.
fn github(commands: &str) {
    for level in ["error", "warning", "notice"] {
        let of_level = |line: &&str| line.starts_with(&format!("::{level}"));
        let count = commands.lines().filter(of_level).count();
        assert!(count <= 10, "{count} of {level}");
    }
    assert!(commands.lines().count() <= 30);
    let last = commands
        .lines()
        .rfind(|it| it.starts_with("::error"))
        .unwrap();
    assert!(
        last.contains("more"),
        "the last command counts the omitted findings: {last}"
    );
}

/// Asserts that a page is complete and names what it omits.
fn page(markdown: &str, longest: usize, findings: usize) {
    assert!(markdown.len() <= longest, "{}", markdown.len());
    let page = read(markdown);
    let heading = &page.headings[0];
    assert!(
        heading.starts_with(&format!("layercake: FAIL {findings} new errors")),
        "{heading}"
    );
    let figures = page
        .paragraphs
        .iter()
        .find(|it| it.contains("outputs changed in all 50 sites"));
    assert!(figures.is_some(), "{:#?}", page.paragraphs);
    let left = page.paragraphs.iter().any(|it| it.contains(" more errors"));
    assert!(left, "the page counts the omitted findings");
}

/// GitHub keeps 5,000 results of a run, and 1,000 locations of a result.
fn sarif(log: &Json) {
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert!(
        results.len() >= SITES * FINDINGS && results.len() <= 5_000,
        "{}",
        results.len()
    );
    for result in results {
        for locations in ["locations", "relatedLocations"] {
            let count = result[locations].as_array().map_or(0, Vec::len);
            assert!(count <= 1_000, "{count} {locations}");
        }
    }
}

/// Repository whose sites all render documents from one value, which an edit changes; each site
/// also gains documents that cannot be rendered.
fn wide() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("global/policy.yaml", POLICY);
    sandbox.write(
        "global/versions.yaml",
        document("versions", "global", "{version: 1}"),
    );
    let taken = "  substitutions:\n    - src: {schema: example/Any/v1, name: versions, path: .version}\n      \
                 dest: {path: .version}\n";
    let taker = |at: usize| {
        let text = document(&format!("chart-{at}"), "global", "{version: 0}");
        text.replace("\ndata:", &format!("\n{taken}data:"))
    };
    sandbox.write(
        "global/charts.yaml",
        (0..DOCUMENTS).map(taker).collect::<String>(),
    );
    for site in 0..SITES {
        let name = format!("site-{site:02}");
        sandbox.write(
            &format!("site/{name}/site-definition.yaml"),
            definition(&name, ""),
        );
    }
    sandbox.commit();
    sandbox.write(
        "global/versions.yaml",
        document("versions", "global", "{version: 2}"),
    );
    for site in 0..SITES {
        // Each lacks a different source, so that no two findings are merged.
        let fault = |at: usize| {
            let text = broken().replace("name: broken", &format!("name: broken-{at}"));
            text.replace("name: nowhere", &format!("name: nowhere-{site}-{at}"))
        };
        let faults = (0..FINDINGS).map(fault);
        sandbox.write(
            &format!("site/site-{site:02}/broken.yaml"),
            faults.collect::<String>(),
        );
    }
    sandbox
}

/// Output of one run in all formats.
fn written(sandbox: &Sandbox) -> BTreeMap<&'static str, String> {
    let files = Format::ALL.map(|format| format!("{}={0}.out", format.name()));
    let mut arguments = vec!["lint", "--since", "HEAD"];
    arguments.extend(files.iter().flat_map(|file| ["-o", file]));
    let ran = sandbox.run(&arguments);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    let text = |format: Format| {
        fs::read_to_string(sandbox.path(&format!("{}.out", format.name()))).unwrap()
    };
    Format::ALL
        .into_iter()
        .map(|format| (format.name(), text(format)))
        .collect()
}
