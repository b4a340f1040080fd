//! The largest public site repository: every recorded commit renders to the recorded documents in
//! both meanings, and every leaf at the head has the location where it is written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use layercake::check::{Checked, Options, RenderedSite, check};
use layercake::graph::{MissingSource, Recipe};
use layercake::merge::deckhand::Semantics;
use layercake::render::flow::{Reached, flow};
use layercake::render::replay::Replay;
use layercake::report::canonical;
use layercake::source::{RepoPath, Repository, SourceMap};
use layercake::system::deckhand::DeckhandOptions;
use layercake::system::deckhand::layout::Layout;
use layercake::system::deckhand::schema::{Schemas, refused};
use layercake::yaml::path::Path as LayeringPath;
use layercake::yaml::{Key, Node, Origin, Value};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::validation::path;
use super::{CaseOrigin, corpus, node_of};
use crate::laws::reading::text_reads_as as reads_as;
use crate::provenance::untrue_ways;

/// Branch of the recorded head.
pub const HEAD: &str = "v1.9";

const SEMANTICS: [Semantics; 2] = [Semantics::Documented, Semantics::Deckhand];

/// Name, schema and layer, and the data in canonical form.
pub(super) type Outputs = Vec<([String; 3], String)>;

#[test]
#[ignore = "needs the recorded corpus"]
fn every_recorded_commit_renders_as_recorded() {
    let repository = Treasuremap::clone();
    let mut violations_met = 0;
    for path in repository.recorded_commits() {
        let text = std::fs::read_to_string(&path).expect("a record can be read");
        let record: Json = serde_json::from_str(&text).expect("a record is JSON");
        let commit = record["commit"].as_str().expect("a commit");
        for semantics in SEMANTICS {
            let checked =
                repository.check(commit, semantics, |site| (outputs(site), refusals(site)));
            let expected = record["sites"].as_object().expect("sites");
            let names: Vec<&str> = checked
                .sites
                .iter()
                .filter_map(|site| site.name.as_deref())
                .collect();
            assert_eq!(
                names,
                expected.keys().map(String::as_str).collect::<Vec<_>>(),
                "{commit}"
            );
            for site in &checked.sites {
                let name = site.name.as_deref().expect("a site has a name");
                let (actual, refused) = site.taken.as_ref().expect("no fault in layercake");
                let reported = documents_reported_to_differ(&checked, name, semantics);
                let what = format!("{commit} {semantics:?} {name}");
                assert_hashes(&what, actual, &expected[name]["documents"], &reported);
                let violations = &expected[name]["schema_violations"];
                assert_eq!(*refused, recorded_refusals(violations), "{what}");
                violations_met += refused.len();
                assert_eq!(
                    refused.is_empty(),
                    !is_found_to_violate(&checked, name),
                    "{what}"
                );
            }
        }
    }
    assert!(violations_met > 0, "no commit violates the schemas");
}

/// Schema, name and location of violations of the repository's own schemas.
type Refusals = BTreeSet<[String; 3]>;

fn refusals(site: &RenderedSite<'_>) -> Refusals {
    let refused = refused(site.site, &Schemas::default(), 1, |doc| {
        site.rendered.data(doc)
    });
    let rows = refused.iter().flat_map(|refused| {
        let key = &site.site.document(refused.doc).key;
        refused.refusal.violations.iter().map(|violation| {
            [
                key.schema.to_string(),
                key.name.to_string(),
                path(&violation.location),
            ]
        })
    });
    rows.collect()
}

fn recorded_refusals(violations: &Json) -> Refusals {
    let rows = violations.as_array().expect("violations").iter();
    let text = |row: &Json, field: &str| row[field].as_str().expect("a text").to_owned();
    rows.map(|row| ["schema", "name", "path"].map(|field| text(row, field)))
        .collect()
}

fn is_found_to_violate<T>(checked: &Checked<T>, site: &str) -> bool {
    checked.findings.diagnostics.iter().any(|finding| {
        finding.rule.name == "schema-violation" && finding.sites.iter().any(|name| **name == *site)
    })
}

/// Schema and name of the documents for which a rule reports a different rendering in Deckhand's
/// own meaning, which is the recorded one.
fn documents_reported_to_differ<T>(
    checked: &Checked<T>,
    site: &str,
    semantics: Semantics,
) -> BTreeSet<[String; 2]> {
    if semantics == Semantics::Deckhand {
        return BTreeSet::new();
    }
    let findings = checked.findings.diagnostics.iter().filter(|finding| {
        finding.rule.name.starts_with("different-")
            && finding.sites.iter().any(|name| **name == *site)
    });
    findings
        .flat_map(|finding| &finding.documents)
        .map(|key| [key.schema.to_string(), key.name.to_string()])
        .collect()
}

/// Asserts that our documents have the recorded hashes, except those reported to differ, which must
/// differ.
pub(super) fn assert_hashes(
    what: &str,
    actual: &Outputs,
    expected: &Json,
    reported: &BTreeSet<[String; 2]>,
) {
    let rows = expected.as_array().expect("documents");
    assert_eq!(actual.len(), rows.len(), "{what}");
    let expected: BTreeSet<([String; 3], String)> = rows
        .iter()
        .map(|row| {
            let text = |at: usize| row[at].as_str().unwrap_or_default().to_owned();
            ([text(0), text(1), text(2)], text(3))
        })
        .collect();
    let actual: BTreeSet<_> = actual
        .iter()
        .map(|(key, data)| (key.clone(), sha256(data)))
        .collect();
    let differing: Vec<_> = actual.difference(&expected).collect();
    let missing: Vec<_> = expected.difference(&actual).collect();
    let names = |rows: &[&([String; 3], String)]| -> BTreeSet<[String; 2]> {
        rows.iter()
            .map(|([schema, name, _], _)| [schema.clone(), name.clone()])
            .collect()
    };
    assert_eq!(
        &names(&differing),
        reported,
        "{what}: unreported difference"
    );
    assert_eq!(&names(&missing), reported, "{what}: missing document");
}

#[test]
#[ignore = "needs the recorded corpus"]
fn every_value_of_the_head_has_a_route_to_its_text() {
    let repository = Treasuremap::clone();
    for semantics in SEMANTICS {
        let checked = repository.check(HEAD, semantics, untrue_ways);
        assert_eq!(checked.sites.len(), 6);
        for site in &checked.sites {
            assert_eq!(site.taken.as_deref(), Some(&[][..]));
        }
    }
}

/// A line at the head: 14 outputs of five sites contain its value, and the sixth site overrides it.
#[test]
#[ignore = "needs the recorded corpus"]
fn line_of_the_head_flows_to_five_sites() {
    const FILE: &str = "global/software/config/versions.yaml";
    let repository = Treasuremap::clone();
    let checked = repository.check(HEAD, Semantics::Documented, |site| {
        let is_it = |recipe: &Recipe| site.sources.get(recipe.span.file).path().as_str() == FILE;
        let (doc, recipe) = site
            .graph
            .iter()
            .find(|(_, recipe)| is_it(recipe))
            .expect("versions");
        let path = LayeringPath::parse(".images.osh.neutron.neutron_server").expect("a path");
        let found = path.first(&recipe.data).expect("a walk").expect("an image");
        assert_eq!(site.sources.start(found.node.span).line.get(), 644);
        let replay = Replay::new(site.graph, site.rendered);
        let flow = flow(&replay, doc, &found.location);
        let is_output = |reached: &&Reached| site.graph.recipe(reached.doc).emit;
        let stops = flow.stops.iter().map(|stop| {
            let path = site.sources.get(stop.by.file).path();
            format!("{:?} {path}:{}", stop.why, site.sources.start(stop.by).line)
        });
        (
            flow.reached.iter().filter(is_output).count(),
            stops.collect::<Vec<_>>(),
        )
    });
    let mut reached = 0;
    for site in &checked.sites {
        let (outputs, stops) = site.taken.as_ref().expect("no fault in layercake");
        reached += outputs;
        if site.name.as_deref() == Some("airskiff-suse") {
            let stop = "SetAgain site/airskiff-suse/software/config/versions.yaml:78";
            assert_eq!((*outputs, stops), (0, &vec![stop.to_owned()]));
        } else {
            assert!(*outputs > 0, "{:?}", site.name);
        }
    }
    assert_eq!(reached, 14);
}

#[test]
#[ignore = "needs the recorded corpus"]
fn every_leaf_of_the_head_renders_as_recorded() {
    let repository = Treasuremap::clone();
    for semantics in SEMANTICS {
        let checked = repository.check(HEAD, semantics, outputs);
        assert_eq!(checked.sites.len(), 6);
        for site in &checked.sites {
            let name = site.name.as_deref().expect("a site has a name");
            let documents = CaseOrigin::Corpus.cases(&format!("treasuremap/head/{name}.json"));
            let mut expected: Outputs = documents
                .iter()
                .map(|document| {
                    let text =
                        |field: &str| document[field].as_str().unwrap_or_default().to_owned();
                    let data = node_of(&document["data"]).expect("plain data");
                    (
                        [text("schema"), text("name"), text("layer")],
                        canonical(&data),
                    )
                })
                .collect();
            expected.sort();
            let actual = site.taken.as_ref().expect("no fault in layercake");
            assert_eq!(actual.len(), expected.len(), "{name}");
            let reported = documents_reported_to_differ(&checked, name, semantics);
            for (actual, expected) in actual.iter().zip(&expected) {
                let [schema, document, _] = &actual.0;
                let differs = reported.contains(&[schema.clone(), document.clone()]);
                assert_eq!(actual.0, expected.0, "{name} {semantics:?}");
                assert_eq!(
                    actual.1 != expected.1,
                    differs,
                    "{name} {semantics:?} {document}"
                );
            }
        }
    }
}

/// Law of provenance: a written leaf reads, in the text of its span, as that leaf.
#[test]
#[ignore = "needs the recorded corpus"]
fn every_rendered_leaf_reads_back_from_its_span() {
    let repository = Treasuremap::clone();
    let checked = repository.check(HEAD, Semantics::Documented, |site| {
        let mut count = Leaves::default();
        for (doc, _) in site.graph.iter() {
            if let Some(data) = site.rendered.data(doc) {
                count.walk(data, site.sources);
            }
        }
        count
    });
    let mut total = Leaves::default();
    for site in checked.sites {
        let count = site.taken.expect("no fault in layercake");
        assert!(count.wrong.is_empty(), "{}", count.wrong.join("\n"));
        total.written += count.written;
        total.derived += count.derived;
        total.made += count.made;
    }
    eprintln!(
        "leaves: {} written, {} derived, {} made",
        total.written, total.derived, total.made
    );
    assert!(
        total.written > 50_000 && total.derived > 100,
        "too few leaves"
    );
}

#[derive(Default)]
struct Leaves {
    written: usize,
    derived: usize,
    made: usize,
    wrong: Vec<String>,
}

impl Leaves {
    fn walk(&mut self, node: &Node, sources: &SourceMap) {
        match &node.value {
            Value::Mapping(mapping) if !mapping.is_empty() => {
                for (key, child) in mapping.iter() {
                    self.key(key, sources);
                    self.walk(child, sources);
                }
            }
            Value::Sequence(items) if !items.is_empty() => {
                items.iter().for_each(|item| self.walk(item, sources));
            }
            leaf => match node.origin {
                Origin::Written => {
                    self.written += 1;
                    self.reads_as(leaf, node.span, sources);
                }
                Origin::Derived => self.derived += 1,
                Origin::Made => self.made += 1,
            },
        }
    }

    /// A key also reads as itself, or is a part of the path that created it.
    fn key(&mut self, key: &Key, sources: &SourceMap) {
        let Some(name) = key.as_str() else {
            return self.reads_as(&key.value, key.span, sources);
        };
        let text = sources.slice(key.span);
        let made = text.split(['.', '[', '\'', '"']).any(|piece| piece == name);
        if !made {
            self.reads_as(&key.value, key.span, sources);
        }
    }

    fn reads_as(&mut self, value: &Value, span: layercake::source::Span, sources: &SourceMap) {
        let source = sources.get(span.file);
        if let Value::Sequence(_) | Value::Mapping(_) = value {
            let empty = if matches!(value, Value::Sequence(_)) {
                "[]"
            } else {
                "{}"
            };
            let text: String = sources.slice(span).split_whitespace().collect();
            if text != empty {
                self.wrong
                    .push(format!("{}: `{text}` is not empty", source.path()));
            }
            return;
        }
        if !reads_as(source.text(), span, value) {
            let text = sources.slice(span);
            self.wrong.push(format!(
                "{}: `{text}` does not read as {value:?}",
                source.path()
            ));
        }
    }
}

pub(super) fn outputs(site: &RenderedSite<'_>) -> Outputs {
    let emitted = site.graph.iter().filter(|(_, recipe)| recipe.emit);
    let mut outputs: Outputs = emitted
        .filter_map(|(doc, recipe)| {
            let key = &recipe.key;
            let names = [
                key.schema.to_string(),
                key.name.to_string(),
                key.layer.to_string(),
            ];
            Some((names, canonical(site.rendered.data(doc)?)))
        })
        .collect();
    outputs.sort();
    outputs
}

fn sha256(text: &str) -> String {
    Sha256::digest(text)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Bare clone of the recorded repository.
pub struct Treasuremap {
    folder: TempDir,
    corpus: PathBuf,
}

impl Treasuremap {
    /// Clones the recorded bundle into a temporary folder.
    pub fn clone() -> Self {
        let corpus = corpus().join("treasuremap");
        let folder = TempDir::new().expect("a temporary folder can be made");
        let mut git = Command::new("git");
        for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
            git.env_remove(name);
        }
        let cloned = git
            .args(["clone", "--quiet", "--bare"])
            .arg(corpus.join("treasuremap.bundle"))
            .arg(folder.path().join("treasuremap.git"))
            .status();
        assert!(
            cloned.expect("git runs").success(),
            "the bundle can be cloned"
        );
        Self { folder, corpus }
    }

    /// Path of the bare repository.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("treasuremap.git")
    }

    pub fn recorded_commits(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.corpus.join("rendered")).expect("records are there");
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.expect("an entry can be read").path())
            .collect();
        paths.sort();
        assert!(!paths.is_empty());
        paths
    }

    /// Renders a commit like `pegleg site render`: missing substitution sources are skipped.
    fn check<T: Send>(
        &self,
        revision: &str,
        semantics: Semantics,
        per_site: impl Fn(&RenderedSite<'_>) -> T + Sync,
    ) -> Checked<T> {
        let repository =
            Repository::discover_further(&self.path()).expect("a repository can be looked for");
        let repository = repository.expect("the clone is a repository");
        let tree = repository.commit(revision).expect("the commit is there");
        let options = DeckhandOptions {
            semantics,
            missing_source: MissingSource::Warning,
            encryption_sources: BTreeMap::new(),
        };
        let layout = Layout::discover(&tree, &RepoPath::new("")).expect("a commit can be listed");
        assert!(layout.is_some(), "the commit is a site repository");
        let plan = Options::of(options).plan(Arc::new(tree), layout, None);
        check(&plan, per_site).expect("the commit can be checked")
    }
}
