//! Deckhand's public documentation, passage by passage: every example and every normative sentence
//! of its pages on layering and on substitution, with the semantics that they promise (`semantics:
//! documented`); and the examples of the specification of property groups (`heat`).
//!
//! The documents of a test are in one file; `# <- rule-name` marks each line on which a finding
//! begins, and there are no other findings. Examples that Deckhand's own schemas refuse for a
//! missing field are there twice: as printed, and with the field.
//!
//! cloud-init's page on merging of 2013 is treated in the same way.

mod cloud_init;
mod heat;
mod layering;
mod substitution;

use std::collections::{BTreeMap, BTreeSet};

use layercake::check::Checked;
use layercake::commands::policy::Selectors;
use layercake::diagnostic::Severity;
use layercake::merge::deckhand::Semantics;
use layercake::report::canonical;
use layercake::source::MemoryTree;
use layercake::yaml::{Node, parse};

use crate::conformance::some_file;
use crate::support::{check_with, options};

/// The layers of the documentation's examples.
const POLICY: &str = "\
---
schema: deckhand/LayeringPolicy/v1
metadata:
  schema: metadata/Control/v1
  name: layering-policy
data:
  layerOrder:
    - global
    - region
    - site
";

/// Rules about style, which short examples need not follow and which do not concern rendered
/// values.
const STYLE_RULES: &[&str] = &[
    "ineffective-action",
    "leftover-placeholder",
    "lost-data",
    "unused-document",
];

/// Result of checking the documents of a text.
struct Run {
    checked: Checked<BTreeMap<String, Node>>,
}

/// Renders the documents of `text`, after the layering policy, and asserts that the findings are
/// the marked ones.
fn run(text: &str) -> Run {
    run_alone(&format!("{POLICY}{text}"))
}

/// The same without a policy.
fn run_alone(text: &str) -> Run {
    let tree = MemoryTree::new().with("documents.yaml", text);
    // The charts of the examples have few of their keys.
    let selectors = Selectors {
        ignore: vec!["incomplete-chart".into()],
        ..Selectors::default()
    };
    let checked = check_with(&tree, options(Semantics::Documented), &selectors, |site| {
        let outputs = site.graph.iter().filter(|(_, recipe)| recipe.emit);
        let data = |doc| site.rendered.data(doc).cloned();
        outputs
            .filter_map(|(doc, it)| Some((it.key.name.to_string(), data(doc)?)))
            .collect()
    });
    let found: BTreeSet<(usize, String)> = checked
        .findings
        .diagnostics
        .iter()
        .filter(|finding| !STYLE_RULES.contains(&finding.rule.name))
        .map(|finding| {
            let line = checked.sources.start(finding.primary.span).line.get() as usize;
            (line, finding.rule.name.to_owned())
        })
        .collect();
    let lines = text.lines().enumerate();
    let marked: BTreeSet<(usize, String)> = lines
        .filter_map(|(index, line)| Some((index + 1, line.split_once("# <- ")?.1)))
        .flat_map(|(line, rules)| rules.split(", ").map(move |rule| (line, rule.to_owned())))
        .collect();
    assert_eq!(found, marked, "found, marked:\n{text}");
    Run { checked }
}

impl Run {
    fn outputs(&self) -> &BTreeMap<String, Node> {
        self.checked.sites[0]
            .taken
            .as_ref()
            .expect("layercake itself does not fail")
    }

    /// The rendered data of a document.
    fn data(&self, name: &str) -> &Node {
        let data = self.outputs().get(name);
        data.unwrap_or_else(|| panic!("`{name}` is rendered: {:?}", self.outputs().keys()))
    }

    /// Asserts that a document renders to this data, given as YAML.
    fn renders(&self, name: &str, expected: &str) -> &Self {
        assert_eq!(
            canonical(self.data(name)),
            canonical(&read(expected)),
            "{name}"
        );
        self
    }

    /// Asserts that a document is not in the output.
    fn leaves_out(&self, name: &str) -> &Self {
        assert!(!self.outputs().contains_key(name), "{name}");
        self
    }

    /// Asserts that one of the findings is an error with these words.
    fn raises(&self, words: &str) -> &Self {
        let mut errors = self
            .checked
            .findings
            .diagnostics
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
            .map(|finding| &finding.message);
        assert!(
            errors.clone().any(|it| it.contains(words)),
            "{:?}",
            errors.next()
        );
        self
    }

    /// Asserts that no finding is an error.
    fn raises_nothing(&self) -> &Self {
        let counts = self.checked.findings.counts();
        assert_eq!(counts.errors, 0);
        self
    }
}

fn read(yaml: &str) -> Node {
    let mut parsed = parse(some_file(), yaml);
    assert_eq!(parsed.problems, [], "{yaml}");
    parsed.documents.remove(0).root
}

/// A document of `example/Kind/v1`, with further lines of its metadata.
fn document(name: &str, metadata: &str, data: &str) -> String {
    document_of("example/Kind/v1", name, metadata, data)
}

fn document_of(schema: &str, name: &str, metadata: &str, data: &str) -> String {
    let metadata: String = metadata
        .lines()
        .map(|line| format!("  {}\n", line.trim_end()))
        .collect();
    format!(
        "---\nschema: {schema}\nmetadata:\n  schema: metadata/Document/v1\n  name: {name}\n  \
         storagePolicy: cleartext\n{metadata}data: {data}\n"
    )
}
