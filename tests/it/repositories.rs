//! Sites of several repositories: each site is read at the pin of its definition, from the objects
//! of a local clone that is named once.

pub mod alone;
mod bump;
#[cfg(unix)]
mod clones;
mod cost;
mod naming;
mod pins;

use std::path::Path;

use serde_json::Value as Json;

use crate::cli::{POLICY, Ran, Sandbox, broken, definition, document};

/// A site repository, and the repository `global` that its sites pin.
///
/// `global` has a tag for each version from `v1` to `v3`; the last one is checked out. Its document
/// `release` has the number of the version.
struct Pinned {
    sites: Sandbox,
    global: Sandbox,
}

impl Pinned {
    /// Creates two sites, `lab` at `v1` and `prod` at `v2`, all committed.
    fn new() -> Self {
        let pinned = Self {
            sites: Sandbox::new(),
            global: Sandbox::new(),
        };
        for version in 1..=3 {
            pinned.write_version(version);
            pinned.global.commit();
            pinned.global.git(&["tag", &format!("v{version}")]);
        }
        let sites = &pinned.sites;
        sites.write(
            "type/small/dns.yaml",
            document("dns", "type", "{server: 10.0.0.1}"),
        );
        for (site, revision) in [("lab", "v1"), ("prod", "v2")] {
            pinned.pin(site, revision);
            let doubled = format!("{{of: {site}, of: {site}}}");
            sites.write(
                &format!("site/{site}/only.yaml"),
                document("only", "site", &doubled),
            );
        }
        sites.write("site/lab/chart.yaml", child("{replicas: 7}"));
        sites.write("site/prod/chart.yaml", child("{own: true}"));
        sites.commit();
        pinned
    }

    /// Writes a version of `global` without committing it.
    fn write_version(&self, version: u32) {
        let global = &self.global;
        let release = format!("{{version: {version}}}");
        global.write("global/policy.yaml", POLICY);
        global.write(
            "global/release.yaml",
            document("release", "global", &release),
        );
        global.write(
            "global/same.yaml",
            document("same", "global", "{a: 1, a: 1}"),
        );
        let chart = format!("{{replicas: {version}, image: 'chart:{version}'}}");
        let chart = document("parent", "global", &chart)
            .replace("  storagePolicy", "  labels: {is: parent}\n  storagePolicy");
        // Its lines move with the version.
        let lines = format!("---\n{}", "# a line more\n".repeat(version as usize));
        let chart = chart.replacen("---\n", &lines, 1);
        global.write("global/chart.yaml", chart);
        let new = format!("new-{version}");
        global.write(
            &format!("global/{new}.yaml"),
            document(&new, "global", "{b: 1, b: 1}"),
        );
        if version == 2 {
            global.write(
                "global/broken.yaml",
                broken().replace("layer: site", "layer: global"),
            );
        }
    }

    /// Writes the definition of a site that pins `global`.
    fn pin(&self, site: &str, revision: &str) {
        self.define(site, &format!("      revision: {revision}\n"));
    }

    /// Writes the definition of a site that uses `global`; `more` goes below its `url`.
    fn define(&self, site: &str, more: &str) {
        let more = format!("  repositories:\n    global:\n      url: {URL}\n{more}");
        self.sites.write(
            &format!("site/{site}/site-definition.yaml"),
            definition(site, &more),
        );
    }

    /// Value of `--repository` that names the clone.
    fn given(&self) -> String {
        format!("global={}", self.global.root.display())
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(&self.given(), arguments)
    }

    fn run_with(&self, given: &str, arguments: &[&str]) -> Ran {
        let (verb, more) = arguments.split_first().expect("a verb");
        self.sites
            .run(&[&[verb, "--repository", given], more].concat())
    }

    /// Version of `global` that each site is rendered with, such as `lab=1 prod=2`.
    fn versions(&self, given: &str) -> String {
        versions(&self.run_with(given, &RELEASE))
    }

    /// Errors that are not consequences of others.
    fn errors(&self, given: &str) -> Vec<Json> {
        let ran = self.run_with(given, &["lint", "-o", "json"]);
        assert!(ran.code < 2, "{ran:?}");
        let findings = ran.json()["findings"].as_array().unwrap().clone();
        findings.into_iter().filter(is_root_error).collect()
    }
}

/// URL of `global` in site definitions.
const URL: &str = "https://example.org/global";

/// Renders the document that has the version of `global`.
const RELEASE: [&str; 7] = [
    "render",
    "--name",
    "release",
    "--format",
    "json",
    "--fail-on",
    "never",
];

/// Version that each site is rendered with, read from the output of [`RELEASE`].
#[track_caller]
fn versions(ran: &Ran) -> String {
    assert_eq!(ran.code, 0, "{ran:?}");
    let rendered: Json =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|it| panic!("{it}: {ran:?}"));
    let sites = rendered["sites"].as_array().unwrap().iter().map(|site| {
        let versions = site["documents"].as_array().unwrap().iter();
        let versions: Vec<String> = versions
            .map(|it| it["data"]["version"].to_string())
            .collect();
        format!("{}={}", site["site"].as_str().unwrap(), versions.join("+"))
    });
    sites.collect::<Vec<_>>().join(" ")
}

/// A chart of a site, with the one of `global` as its parent.
fn child(data: &str) -> String {
    document("chart", "site", data).replace(
        "{abstract: false, layer: site}",
        "\n    abstract: false\n    layer: site\n    parentSelector: {is: parent}\n    actions: \
         [{method: merge, path: .}]",
    )
}

fn is_root_error(finding: &Json) -> bool {
    finding["severity"] == "error" && finding["because_of"].is_null()
}

/// Rule and place of each finding, such as `rule FILE:LINE`.
fn places(findings: &[Json]) -> Vec<String> {
    let places = findings.iter().map(|finding| {
        let (rule, at) = (finding["rule"].as_str().unwrap(), &finding["primary"]);
        format!("{rule} {}:{}", at["file"].as_str().unwrap(), at["line"])
    });
    places.collect()
}

/// Text that a finding marks, on its first line.
fn marked(root: &Path, finding: &Json) -> String {
    let at = &finding["primary"];
    let file = std::fs::read_to_string(root.join(at["file"].as_str().unwrap())).unwrap();
    let number = |key: &str| usize::try_from(at[key].as_u64().unwrap()).unwrap() - 1;
    let line = file.lines().nth(number("line")).unwrap();
    let end = if at["line"] == at["end_line"] {
        number("end_column")
    } else {
        line.len()
    };
    line[number("column")..end].to_owned()
}
