//! Tests of the built binary, with an environment of its own, on repositories made with the real
//! `git`.

mod absent;
mod agreement;
mod alone;
#[cfg(unix)]
mod baselines;
mod blame;
mod certificates;
mod cloud_config;
mod comparison;
mod consequences;
mod dangers;
mod decoded;
mod deployment;
mod errors;
mod exposed;
mod faults;
#[cfg(unix)]
mod files;
mod flags;
mod git;
mod hygiene;
#[cfg(unix)]
mod interrupts;
mod invocations;
mod log;
mod nested;
mod origin;
mod outputs;
pub mod piped;
mod provenance;
mod query;
mod repositories;
pub mod screens;
mod secret_changes;
mod secret_mistakes;
mod secret_parts;
pub mod secrets;
mod semantics;
pub mod shell_integration;
#[cfg(target_os = "linux")]
mod shells;
#[cfg(unix)]
mod terminal;
mod timing;
mod unread;
mod untrusted;
mod verbs;
#[cfg(target_os = "linux")]
mod watch;
mod wording;
#[cfg(unix)]
mod writes;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use layercake::report::Format;
use serde_json::Value as Json;
use tempfile::TempDir;

/// A layering policy with the three usual layers.
pub const POLICY: &str = "---
schema: deckhand/LayeringPolicy/v1
metadata: {schema: metadata/Control/v1, name: layering-policy}
data: {layerOrder: [global, type, site]}
";

/// A temporary folder for one test, with a repository in it.
pub struct Sandbox {
    folder: TempDir,
    /// Folder `repository`, in which commands run.
    pub root: PathBuf,
}

/// Date of all commits, which reports contain.
const DATE: &str = "2026-01-31T12:00:00Z";

/// Exit code and output of a run.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Sandbox {
    /// An empty folder, outside any repository.
    pub fn outside_git() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("repository");
        fs::create_dir(&root).unwrap();
        Self { folder, root }
    }

    /// An empty git repository.
    pub fn new() -> Self {
        let sandbox = Self::outside_git();
        sandbox.git(&["init", "--quiet", "--initial-branch=main"]);
        sandbox
    }

    /// A git repository with two valid sites, `lab` and `prod`; nothing is committed.
    pub fn with_sites() -> Self {
        let sandbox = Self::new();
        sandbox.write_sites();
        sandbox
    }

    pub fn write_sites(&self) {
        self.write("global/policy.yaml", POLICY);
        self.write(
            "global/chart.yaml",
            document("chart", "global", "{values: {replicas: 1}}"),
        );
        self.write(
            "type/small/dns.yaml",
            document("dns", "type", "{server: 10.0.0.1}"),
        );
        for site in ["lab", "prod"] {
            self.write(
                &format!("site/{site}/site-definition.yaml"),
                definition(site, ""),
            );
            let data = format!("{{of: {site}}}");
            self.write(
                &format!("site/{site}/only.yaml"),
                document("only", "site", &data),
            );
        }
    }

    /// Adds a fault to a site: a substitution without its source.
    pub fn break_site(&self, site: &str) {
        self.write(&format!("site/{site}/broken.yaml"), broken());
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// A folder beside the repository.
    pub fn beside(&self, path: &str) -> PathBuf {
        self.root.parent().unwrap().join(path)
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message=state"]);
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        self.scrub(&mut command).current_dir(&self.root);
        command.args([
            "-c",
            "user.name=Tester",
            "-c",
            "user.email=tester@example.org",
        ]);
        command
            .env("GIT_AUTHOR_DATE", DATE)
            .env("GIT_COMMITTER_DATE", DATE);
        let output = command.args(arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The program, to be run in the repository, with only the variables that it needs to start.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_layercake"));
        self.scrub(&mut command)
            .current_dir(&self.root)
            .args(arguments)
            .stdin(Stdio::null());
        command
    }

    fn scrub<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
            .env("HOME", self.folder.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(&self.command(arguments).output().unwrap())
    }

    /// Runs in a folder below the repository, like a user who changed to it.
    pub fn run_in(&self, folder: &Path, arguments: &[&str]) -> Ran {
        Ran::of(
            &self
                .command(arguments)
                .current_dir(folder)
                .output()
                .unwrap(),
        )
    }

    /// Number of files that a run reads, counting repeated reads.
    pub fn files_read(&self, arguments: &[&str]) -> usize {
        let ran = self.run(&[arguments, &["--timing"]].concat());
        let row = ran
            .stderr
            .lines()
            .find(|line| line.trim_start().starts_with("read "));
        let row = row.and_then(|row| row.strip_suffix(" files"));
        row.and_then(|row| row.rsplit(' ').next()?.parse().ok())
            .unwrap_or_default()
    }

    /// Findings of a run, as in `lint -o json`.
    pub fn findings(&self, arguments: &[&str]) -> Vec<Json> {
        let ran = self.run(&[&["lint", "-o", "json"], arguments].concat());
        assert!(ran.code < 2, "{ran:?}");
        ran.json()["findings"].as_array().unwrap().clone()
    }

    /// Rules of the findings of a run, one entry per finding.
    pub fn rules(&self, arguments: &[&str]) -> Vec<String> {
        let findings = self.findings(arguments);
        findings
            .iter()
            .map(|finding| finding["rule"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// Asserts that a report conforms to its schema.
#[track_caller]
fn assert_valid(report: &Json) {
    let schema = serde_json::from_str(include_str!("../../docs/report-2.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(report)
        .map(|it| format!("{}: {it}", it.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

impl Ran {
    pub fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().expect("no signal ends it"),
            stdout: without_timing(&String::from_utf8(output.stdout.clone()).unwrap()),
            stderr: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    /// Standard output as JSON, a report [`resolved`].
    pub fn json(&self) -> Json {
        let json = serde_json::from_str(&self.stdout);
        let json: Json = json.unwrap_or_else(|error| panic!("{error}: {self:?}"));
        if !json["site_sets"].is_null() {
            assert_valid(&json);
        }
        resolved(json)
    }
}

/// A report with names of sites instead of sets, and with one output or shield for each site.
/// Other JSON stays unchanged.
pub fn resolved(mut report: Json) -> Json {
    if report["site_sets"].is_null() {
        return report;
    }
    let name = |index: &Json| {
        let index = usize::try_from(index.as_u64().unwrap()).unwrap();
        report["sites"][index]["name"].clone()
    };
    let sets: BTreeMap<String, Vec<Json>> = report["site_sets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|set| {
            let sites = set["sites"].as_array().unwrap().iter().map(name).collect();
            (set["id"].as_str().unwrap().to_owned(), sites)
        })
        .collect();
    let named = |set: &Json| set.as_str().map_or_else(Vec::new, |set| sets[set].clone());
    for finding in report["findings"].as_array_mut().unwrap() {
        finding["sites"] = named(&finding["sites"]).into();
    }
    for edit in report["edits"].as_array_mut().unwrap() {
        let sites = named(&edit["reach"]["sites"])
            .into_iter()
            .filter(|site| !site.is_null());
        edit["reach"]["sites"] = sites.collect();
    }
    let outputs = report["outputs"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|output| {
            let of_site = |site| {
                let mut output = output.clone();
                output["site"] = site;
                for key in ["schema", "layer", "name"] {
                    output[key] = output["document"][key].clone();
                }
                output
            };
            named(&output["sites"])
                .into_iter()
                .map(of_site)
                .collect::<Vec<_>>()
        });
    let outputs: Json = outputs.collect();
    let shields = report["shields"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|shield| {
            let of_site = |(at, site): (usize, Json)| {
                let by = shield["by"].as_array().unwrap();
                let mut of_site = shield.clone();
                of_site["site"] = site;
                of_site["by"] = by.get(if by.len() == 1 { 0 } else { at }).unwrap().clone();
                of_site
            };
            named(&shield["sites"])
                .into_iter()
                .enumerate()
                .map(of_site)
                .collect::<Vec<_>>()
        });
    report["shields"] = shields.collect();
    report["outputs"] = outputs;
    report
}

/// Names of the report formats.
pub fn formats() -> impl Iterator<Item = &'static str> {
    Format::ALL.iter().map(|format| format.name())
}

/// A JSON report without its timing, so that two of them can be compared; other text is unchanged.
pub fn without_timing(report: &str) -> String {
    const TIMING: &str = "\"timing_ms\": {";
    let Some((before, rest)) = report.split_once(TIMING) else {
        return report.to_owned();
    };
    let (timing, after) = rest.split_once('}').unwrap();
    let still: String = timing.chars().filter(|it| !it.is_ascii_digit()).collect();
    let still = still.replace(": ,", ": 0,").replace(": \n", ": 0\n");
    format!("{before}{TIMING}{still}}}{after}")
}

/// Text without durations such as `0.01s`, which may be at the end of a line or at its start.
pub fn without_time(text: &str) -> String {
    let is_time = |word: &&str| {
        let number = word.trim_end().strip_suffix('s');
        number.is_some_and(|it| it.contains('.') && it.parse::<f64>().is_ok())
    };
    let words = text.split_inclusive(char::is_whitespace);
    words.filter(|word| !is_time(word)).collect()
}

/// A concrete document; `metadata` and `data` in flow style.
pub fn document(name: &str, layer: &str, data: &str) -> String {
    format!(
        "---\nschema: example/Any/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: {name}\n  \
         storagePolicy: cleartext\n  layeringDefinition: {{abstract: false, layer: {layer}}}\n\
         data: {data}\n"
    )
}

/// A document with one substitution, which has no source.
pub fn broken() -> String {
    let substitution = "  substitutions:\n    - src: {schema: example/Any/v1, name: nowhere, \
                        path: .}\n      dest: {path: .value}\n";
    document("broken", "site", "{}").replace("\ndata:", &format!("\n{substitution}data:"))
}

/// A site definition of the type `small`; `more` goes below `data`.
pub fn definition(site: &str, more: &str) -> String {
    let text = document(site, "site", "{}").replace("example/Any/v1", "pegleg/SiteDefinition/v1");
    text.replace("data: {}", &format!("data:\n  site_type: small\n{more}"))
}
