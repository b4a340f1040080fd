//! Generated site repositories: three sites of two types, documents that select each other by few
//! names and labels, and data of all kinds. Some are invalid.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use layercake::source::MemoryTree;
use layercake_yaml_testing::texts::{data, path};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Occurs only in values and keys of secret documents.
pub const CANARY: &str = "cnry";

const SITES: [(&str, &str); 3] = [("one", "big"), ("two", "small"), ("three", "big")];
const NAMES: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];
const SCHEMAS: [&str; 4] = [
    "example/Kind/v1",
    "example/Kind/v1",
    "example/Other/v1",
    "deckhand/Passphrase/v1",
];

#[derive(Clone, Debug)]
pub struct Repository {
    pub files: Vec<(String, String)>,
}

impl Repository {
    pub fn tree(&self) -> MemoryTree {
        let files = self.files.iter();
        files.fold(MemoryTree::new(), |tree, (path, text)| {
            tree.with(path, text.clone())
        })
    }

    /// All folders, including the root.
    pub fn folders(&self) -> Vec<String> {
        let mut folders = BTreeSet::from([String::new()]);
        for (path, _) in &self.files {
            let ends = path.match_indices('/').map(|(at, _)| path[..at].to_owned());
            folders.extend(ends);
        }
        folders.into_iter().collect()
    }
}

/// Strategies for the parts of documents.
#[derive(Clone, Copy)]
pub struct Ingredients {
    pub data: fn() -> BoxedStrategy<String>,
    /// Paths to which actions and substitutions write.
    pub path: fn() -> BoxedStrategy<String>,
    /// Paths from which substitutions read.
    pub source_path: fn() -> BoxedStrategy<String>,
    /// Patterns that extract part of a source string.
    pub extracts: &'static [&'static str],
    /// Patterns that match part of a destination string.
    pub parts: &'static [&'static str],
    /// Probability that a destination has a pattern.
    pub part_probability: f64,
}

impl Ingredients {
    pub const USUAL: Self = Self {
        data: || data().boxed(),
        path: || path().boxed(),
        source_path: || prop_oneof![3 => Just(".".to_owned()), 2 => path()].boxed(),
        extracts: PATTERNS,
        parts: PATTERNS,
        part_probability: 0.4,
    };
}

/// A repository.
pub fn repository() -> impl Strategy<Value = Repository> {
    repository_of(Ingredients::USUAL)
}

/// Like [`repository`], with other ingredients.
pub fn repository_of(ingredients: Ingredients) -> impl Strategy<Value = Repository> {
    let policy = select(vec![
        "[global, type, site]",
        "[global, type, site]",
        "[global, type, site]",
        "[global, site]",
        "[site, type, global]",
        "[global, type, site, type]",
    ]);
    let documents = prop::collection::vec((file(), document(ingredients)), 4..16);
    (policy, documents, secret(), select(vec!["big", "big", "bog", "7"]), 0..12_usize).prop_map(
        |(policy, documents, secret, site_type, broken)| {
            let mut files: Vec<(String, String)> = Vec::new();
            let mut add = |path: &str, text: &str| {
                match files.iter_mut().find(|(known, _)| known == path) {
                    Some((_, before)) => before.push_str(text),
                    None => files.push((path.to_owned(), text.to_owned())),
                }
            };
            if broken != 0 {
                add("global/policy.yaml", &format!(
                    "---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {{schema: metadata/Control/v1, \
                     name: layering-policy}}\ndata: {{layerOrder: {policy}}}\n"
                ));
            }
            for (site, kind) in SITES {
                let kind = if site == "three" { site_type } else { kind };
                add(&format!("site/{site}/site-definition.yaml"), &format!(
                    "---\nschema: pegleg/SiteDefinition/v1\nmetadata: {{schema: metadata/Document/v1, \
                     name: {site}, storagePolicy: cleartext, layeringDefinition: {{abstract: false, \
                     layer: site}}}}\ndata: {{site_type: {kind}}}\n"
                ));
            }
            add("type/big/nothing.yaml", "# nothing\n");
            add("type/small/nothing.yaml", "");
            add("global/secret.yaml", &secret);
            for (path, document) in read_from(documents) {
                add(path, &document);
            }
            let last = files.last_mut().expect("there are files");
            match broken {
                1 => last.1.push_str("---\na: [1\n"),
                2 => last.1.push_str("---\n- no document\n---\n"),
                3 => last.1 = last.1.replace('\n', "\r\n"),
                4 => last.1.insert(0, '\u{feff}'),
                5 => last.1.push_str("---\nschema: example/Kind/v1\ndata: !odd 1\n"),
                _ => {}
            }
            Repository { files }
        },
    )
}

/// Text of the documents, most of which have a unique name and read from existing documents.
fn read_from(documents: Vec<(&'static str, Document)>) -> Vec<(&'static str, String)> {
    let mut known = BTreeSet::new();
    let mut kept: Vec<(&str, Document)> = documents;
    kept.retain(|(_, it)| it.repeats || known.insert((it.schema, it.name.clone())));
    let mut sources = vec!["schema: example/Kind/v1, name: s".to_owned()];
    sources.push("schema: deckhand/Passphrase/v1, name: s".into());
    let texts = kept.into_iter().map(|(path, document)| {
        // Later documents are rarely sources, so that few dependencies are cyclic.
        if document.reads_itself {
            sources.push(document.as_source());
        }
        let mut text = document.text.clone();
        for source in &document.sources {
            text = text.replacen(SOURCE, &sources[source.index(sources.len())], 1);
        }
        if !document.is_abstract {
            sources.push(document.as_source());
        }
        (path, text)
    });
    texts.collect()
}

/// Placeholder for the schema and name of a source.
const SOURCE: &str = "SOURCE";

/// A document whose sources are not chosen yet.
#[derive(Clone, Debug)]
struct Document {
    schema: &'static str,
    name: String,
    is_abstract: bool,
    /// Whether it may have the name of another document.
    repeats: bool,
    reads_itself: bool,
    text: String,
    sources: Vec<Index>,
}

impl Document {
    fn as_source(&self) -> String {
        format!("schema: {}, name: {}", self.schema, self.name)
    }
}

/// File of a document.
fn file() -> impl Strategy<Value = &'static str> {
    select(vec![
        "global/a.yaml",
        "global/a.yaml",
        "global/deep/er/b.yaml",
        "global/deep/er/b.yaml",
        "type/big/a.yaml",
        "type/small/a.yaml",
        "site/one/a.yaml",
        "site/one/z/b.yaml",
        "site/two/a.yaml",
        "site/three/a.yaml",
    ])
}

/// Secret document of the global layer.
fn secret() -> impl Strategy<Value = String> {
    let data = select(vec![
        "cnry",
        "{x: cnry, y: {x: 'INSERT_A cnry'}, l: [cnry, {x: \"cnry\\n\"}], cnry-key: 1}",
        "[cnry, {x: cnry}]",
        "|\n  cnry INSERT_A\n  cnry\n",
        "{x: {y: 1cnry, cnryx: 2}, q: 'a\\1cnry', z: !!binary Y25yeQ==}",
        "{x: cnry, x: cnry2}",
        "cnry\nDATA: cnry3",
        "cnry\ndata: cnry4",
        "cnry\ndatas: {x: cnry5}",
        "{x: &c cnry, y: *c, l: [*c]}",
        "[cnry",
    ]);
    (select(vec!["s", "s", "a"]), data, any::<bool>(), 0..6_usize).prop_map(
        |(name, data, kind, broken)| {
            let (schema, policy) = if kind {
                ("deckhand/Passphrase/v1", "cleartext")
            } else {
                ("example/Kind/v1", "encrypted")
            };
            let layer = if broken == 0 { "glabol" } else { "global" };
            let odd = if broken == 1 { "  odd: 1\n" } else { "" };
            format!(
                "---\nschema: {schema}\nmetadata:\n  schema: metadata/Document/v1\n  name: {name}\n  \
                 storagePolicy: {policy}\n{odd}  labels: {{k: s}}\n  layeringDefinition: {{layer: \
                 {layer}}}\ndata: {data}\n"
            )
        },
    )
}

/// Document of any layer; most are later moved to the layer that their file suggests.
fn document(ingredients: Ingredients) -> impl Strategy<Value = Document> {
    let head = (
        select(&NAMES[..]),
        select(&SCHEMAS[..]),
        layer(),
        prop::bool::weighted(0.3),
        0..50_usize,
    );
    let layering = prop::option::of((
        select(vec!["a", "b", "c", "a", "b", "c", "s", "d"]),
        prop::collection::vec(
            (
                select(vec!["merge", "merge", "replace", "delete"]),
                (ingredients.path)(),
            ),
            1..4,
        ),
    ));
    let labels = prop::option::weighted(0.7, select(vec!["a", "b", "c"]));
    let substitutions = prop::collection::vec(substitution(ingredients), 0..4);
    (head, labels, layering, substitutions, (ingredients.data)()).prop_map(
        |((name, schema, layer, is_abstract, broken), labels, layering, substitutions, data)| {
            let mut text = format!(
                "---\n# A document.\nschema: {schema}\nmetadata:\n  schema: metadata/Document/v1\n  \
                 name: {name}-{layer}\n"
            );
            let mut line = |line: String| writeln!(text, "{line}").expect("writing to a string succeeds");
            if broken != 0 {
                line("  storagePolicy: cleartext".into());
            }
            match broken {
                1 => line("  labels: 7".into()),
                2 => line("  replacement: true".into()),
                3 => line("  replacement: 'true'".into()),
                4 => line("  odd: 1".into()),
                _ => {}
            }
            // Documents of a lower layer rarely have the labels of a parent.
            let is_parent = layer == "global" || broken % 10 == 0;
            if let Some(label) = labels.filter(|_| broken != 1 && is_parent) {
                line(format!("  labels: {{k: {label}, n: {name}}}"));
            }
            line("  layeringDefinition:".into());
            line(format!("    abstract: {is_abstract}"));
            line(format!("    layer: {layer}"));
            if let Some((selector, actions)) = layering.filter(|_| layer != "global") {
                line(format!("    parentSelector: {{k: {selector}}}"));
                line("    actions:".into());
                for (method, path) in actions {
                    line(format!("      - {{method: {method}, path: '{path}'}}"));
                }
            }
            if !substitutions.is_empty() {
                line("  substitutions:".into());
                for (_, text) in &substitutions {
                    line(text.clone());
                }
            }
            match broken {
                5 => {}
                6 => text.push_str("DATA: 1\n"),
                _ => writeln!(text, "data: {data}").expect("writing to a string succeeds"),
            }
            let sources = substitutions.into_iter().map(|(source, _)| source).collect();
            let (name, repeats, reads_itself) =
                (format!("{name}-{layer}"), broken == 7, broken == 8);
            Document { schema, name, is_abstract, repeats, reads_itself, text, sources }
        },
    )
}

fn layer() -> impl Strategy<Value = &'static str> {
    select(vec!["global", "global", "type", "site", "site", "site"])
}

const PATTERNS: &[&str] = &[
    "INSERT_[A-Z]",
    "INSERT_A",
    "t",
    "(\\w+) (\\w+)",
    "x*",
    "^",
    "(?P<n>t).*",
    "c",
    ".+",
    ".",
    "",
];

fn pattern(sound: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop_oneof![12 => select(sound), 1 => select(vec!["(", "[", "a**"])]
}

fn substitution(ingredients: Ingredients) -> impl Strategy<Value = (Index, String)> {
    let source = prop_oneof![
        12 => Just(SOURCE),
        1 => Just("schema: example/Kind/v1, name: nobody"),
    ];
    let src = (
        any::<Index>(),
        source,
        (ingredients.source_path)(),
        prop::option::weighted(
            0.2,
            (pattern(ingredients.extracts), prop::option::of(0..3_i8)),
        ),
        any::<bool>(),
    );
    let dest = prop::collection::vec(
        (
            (ingredients.path)(),
            prop::option::weighted(
                ingredients.part_probability,
                (pattern(ingredients.parts), prop::option::of(-2..4_i8)),
            ),
        ),
        1..3,
    );
    (src, dest).prop_map(|((index, source, path, extract, deepcopy), dest)| {
        let mut text = format!("    - src: {{{source}, path: '{path}'");
        if let Some((pattern, group)) = extract {
            write!(text, ", pattern: '{pattern}'").expect("writing to a string succeeds");
            if let Some(group) = group {
                write!(text, ", match_group: {group}").expect("writing to a string succeeds");
            }
        }
        if deepcopy {
            text.push_str(", deepcopy: true");
        }
        text.push_str("}\n      dest:");
        for (path, part) in dest {
            write!(text, "\n      - path: '{path}'").expect("writing to a string succeeds");
            if let Some((pattern, depth)) = part {
                write!(text, "\n        pattern: '{pattern}'")
                    .expect("writing to a string succeeds");
                if let Some(depth) = depth {
                    write!(text, "\n        recurse: {{depth: {depth}}}")
                        .expect("writing to a string succeeds");
                }
            }
        }
        (index, text)
    })
}

/// Document of the first site that no other document reads, and that reads from others and writes
/// into its own values.
pub fn consumer() -> impl Strategy<Value = String> {
    let source = (select(&SCHEMAS[..]), select(&NAMES[..]), layer())
        .prop_map(|(schema, name, layer)| format!("schema: {schema}, name: {name}-{layer}"));
    let substitution = (substitution(Ingredients::USUAL), source);
    prop::collection::vec(substitution, 1..5).prop_map(|substitutions| {
        let texts = substitutions
            .iter()
            .map(|((_, text), source)| text.replace(SOURCE, source));
        let texts: Vec<String> = texts.collect();
        format!(
            "---\nschema: example/Kind/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: \
             the-consumer\n  storagePolicy: cleartext\n  layeringDefinition: {{layer: site}}\n  \
             substitutions:\n{}\ndata: {{x: {{y: 1}}, l: [t]}}\n",
            texts.join("\n")
        )
    })
}

/// Site whose documents are all layered and used as sources: a parent, its child, its grandchild,
/// and one more source.
pub fn layered() -> impl Strategy<Value = Repository> {
    layered_of(Ingredients::USUAL)
}

/// Like [`layered`], with other ingredients.
pub fn layered_of(ingredients: Ingredients) -> impl Strategy<Value = Repository> {
    let Ingredients { data, path, .. } = ingredients;
    let one = move || {
        let method = select(vec!["merge", "merge", "replace", "delete"]);
        let actions = prop::collection::vec((method, path()), 1..5);
        (
            data(),
            actions,
            prop::collection::vec((substitution(ingredients), 0..4_usize), 0..4),
        )
    };
    ([data(), data()], one(), one()).prop_map(|([source, parent], child, grandchild)| {
        let policy = "schema: deckhand/LayeringPolicy/v1\nmetadata: {schema: metadata/Control/v1, \
                      name: layering-policy}\ndata: {layerOrder: [global, type, site]}\n";
        let text = [
            policy.to_owned(),
            layered_document("source", "global", None, &(source, Vec::new(), Vec::new())),
            layered_document("parent", "global", None, &(parent, Vec::new(), Vec::new())),
            layered_document("child", "type", Some("parent"), &child),
            layered_document("grandchild", "site", Some("child"), &grandchild),
        ];
        let definition = "---\nschema: pegleg/SiteDefinition/v1\nmetadata: {schema: \
                          metadata/Document/v1, name: one, storagePolicy: cleartext, \
                          layeringDefinition: {abstract: false, layer: site}}\ndata: {site_type: \
                          big}\n";
        Repository {
            files: vec![
                ("site/one/site-definition.yaml".into(), definition.into()),
                ("type/big/nothing.yaml".into(), "# nothing\n".into()),
                ("global/a.yaml".into(), text.join("---\n")),
            ],
        }
    })
}

/// Data, actions, and substitutions with the indexes of their sources.
type Layered = (
    String,
    Vec<(&'static str, String)>,
    Vec<((Index, String), usize)>,
);

fn layered_document(name: &str, layer: &str, parent: Option<&str>, of: &Layered) -> String {
    let (data, actions, substitutions) = of;
    let mut text = format!(
        "schema: example/Kind/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: {name}\n  \
         storagePolicy: cleartext\n  labels: {{is: {name}}}\n  layeringDefinition:\n    abstract: \
         false\n    layer: {layer}\n"
    );
    let mut line = |line: String| writeln!(text, "{line}").expect("writing to a string succeeds");
    if let Some(parent) = parent {
        line(format!(
            "    parentSelector: {{is: {parent}}}\n    actions:"
        ));
        for (method, path) in actions {
            line(format!("      - {{method: {method}, path: '{path}'}}"));
        }
    }
    if !substitutions.is_empty() {
        line("  substitutions:".into());
    }
    // A document reads from earlier documents, or from its grandparent.
    let sources = ["source", "source", "parent", parent.unwrap_or("source")];
    for ((_, text), source) in substitutions {
        let source = format!("schema: example/Kind/v1, name: {}", sources[*source]);
        line(text.replace(SOURCE, &source));
    }
    line(format!("data: {data}"));
    text
}
