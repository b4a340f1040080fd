//! Relations between documents, and their reuse if a few documents change: everything that an edit
//! may affect is looked up again.

use layercake::graph::{DocId, Graph};
use layercake::merge::deckhand::Semantics;
use layercake::source::{RepoPath, Source, SourceMap};
use layercake::system::deckhand::Site;
use layercake::system::deckhand::document::Document;
use layercake::system::deckhand::known::KnownTexts;
use layercake::system::deckhand::read::{Reading, Surroundings, read};
use layercake::system::deckhand::secrecy::{Folder, SecretKinds};
use layercake::yaml::parse;

use crate::support::options;

/// All known relations between the documents of a site.
pub fn describe_relations(site: &Site<'_>, graph: &Graph) -> String {
    let of_document = |(doc, document): (DocId, &Document)| {
        let named = document.sources.iter().map(|source| {
            let (schema, name) = (&source.schema.value, &source.name.value);
            (site.source(schema, name), site.output(schema, name))
        });
        let of_its_name = site.output(&document.key.schema, &document.key.name);
        let (parent, standing) = (site.parent(doc), site.standing_for(doc));
        let named: Vec<_> = named.collect();
        format!(
            "{parent:?} {standing:?} {} {of_its_name:?} {named:?}\n",
            site.is_output(doc)
        )
    };
    let documents: String = site.iter().map(of_document).collect();
    let Site {
        policy,
        problems,
        catalog,
        ..
    } = site;
    format!(
        "{documents}{policy:?} {problems:?} {:?}\n{graph:?}",
        catalog.declared
    )
}

const SITE: &str = "\
---
schema: deckhand/LayeringPolicy/v1
metadata: {schema: metadata/Control/v1, name: policy}
data: {layerOrder: [global, site]}
---
schema: example/Thing/v1
metadata:
  schema: metadata/Document/v1
  name: parent
  labels: {kind: thing, part: first}
  layeringDefinition: {abstract: true, layer: global}
data: {a: 1}
---
schema: example/Thing/v1
metadata:
  schema: metadata/Document/v1
  name: child
  labels: {rank: low}
  layeringDefinition:
    abstract: false
    layer: site
    parentSelector: {kind: thing}
    actions: [{method: merge, path: .}]
  substitutions:
    - src: {schema: example/Source/v1, name: source, path: .b}
      dest: {path: .b}
    - src: {schema: example/Source/v1, name: nowhere, path: .c}
      dest: {path: .c}
data: {own: 1}
---
schema: example/Source/v1
metadata:
  schema: metadata/Document/v1
  name: source
  layeringDefinition: {abstract: false, layer: site}
data: {b: 2}
---
schema: pegleg/PassphraseCatalog/v1
metadata:
  schema: metadata/Document/v1
  name: catalog
  layeringDefinition: {abstract: false, layer: site}
data: {passphrases: [{document_name: declared}]}
---
schema: example/Secret/v1
metadata:
  schema: metadata/Document/v1
  name: encrypted
  storagePolicy: encrypted
  layeringDefinition: {abstract: false, layer: site}
data: http://barbican.example/v1/secrets/e46b3e1c-1b2f-4c44-9c15-7fb5ad6bd4e5
";

/// Old text, new text, and whether all relations stay the same.
const EDITS: &[(&str, &str, bool)] = &[
    ("{own: 1}", "{own: 2}", true),
    ("{a: 1}", "{a: 2, b: 3}", true),
    (
        "{kind: thing, part: first}",
        "{part: first, kind: thing}",
        true,
    ),
    (
        "[{method: merge, path: .}]",
        "[{method: replace, path: .a}]",
        true,
    ),
    ("dest: {path: .b}", "dest: {path: .d}", true),
    ("name: source, path: .b", "name: source, path: .e", true),
    ("{kind: thing, part: first}", "{kind: thing}", false),
    (
        "{kind: thing, part: first}",
        "{kind: other, part: first}",
        false,
    ),
    (
        "{kind: thing, part: first}",
        "{kind: 1, part: first}",
        false,
    ),
    (
        "parentSelector: {kind: thing}",
        "parentSelector: {rank: low}",
        false,
    ),
    (
        "abstract: true, layer: global",
        "abstract: false, layer: global",
        false,
    ),
    (
        "abstract: true, layer: global",
        "abstract: true, layer: site",
        false,
    ),
    (
        "abstract: true, layer: global",
        "abstract: true, layer: nowhere",
        false,
    ),
    (
        "name: child\n",
        "name: parent\n  replacement: true\n",
        false,
    ),
    (
        "  labels: {rank: low}\n",
        "  replacement: true\n  labels: {rank: low}\n",
        false,
    ),
    ("name: source, path: .b", "name: parent, path: .b", false),
    ("name: nowhere", "name: source", false),
    ("name: source\n", "name: nowhere\n", false),
    (
        "layerOrder: [global, site]",
        "layerOrder: [site, global]",
        false,
    ),
    ("document_name: declared", "document_name: nowhere", false),
    ("7fb5ad6bd4e5", "7fb5ad6bd4e6", false),
    (
        "storagePolicy: encrypted",
        "storagePolicy: cleartext",
        false,
    ),
    (
        "schema: example/Source/v1\nmetadata",
        "schema: example/Thing/v1\nmetadata",
        false,
    ),
    ("name: encrypted", "name: \"\"", false),
    (
        "---\nschema: example/Secret/v1",
        "---\nschema: example/More/v1\n---\nschema: a/B/v1",
        false,
    ),
];

#[test]
fn relations_changed_by_an_edit_are_looked_up_again() {
    let (options, mut sources) = (options(Semantics::Documented), SourceMap::new());
    let before = documents(SITE, &mut sources);
    let all = before.iter().map(|read| &read.document).collect();
    let mut site = Site::new(None, all, &options);
    let graph = site.to_graph(&options);
    for (from, to, is_alike) in EDITS {
        assert_eq!(SITE.matches(from).count(), 1, "`{from}` occurs once");
        let after = documents(&SITE.replace(from, to), &mut sources);
        // An edited document has a new text; the others are reused.
        let after: Vec<&Document> = after
            .iter()
            .map(|now| {
                before
                    .iter()
                    .find(|then| then.text == now.text)
                    .unwrap_or(now)
            })
            .map(|read| &read.document)
            .collect();
        let mut anew = Site::new(None, after.clone(), &options);
        let of_anew = anew.to_graph(&options);
        let again = site.again(&graph, &after, &options);
        assert_eq!(again.is_some(), *is_alike, "`{to}`");
        if let Some((again, of_again)) = again {
            assert_eq!(
                describe_relations(&again, &of_again),
                describe_relations(&anew, &of_anew),
                "`{to}`"
            );
        }
    }
}

/// A document with its text.
struct Read {
    text: String,
    document: Document,
}

fn documents(text: &str, sources: &mut SourceMap) -> Vec<Read> {
    let source = Source::new(RepoPath::new("site.yaml"), Ok(text.as_bytes().to_vec()));
    let file = sources.add(source);
    let mut known = KnownTexts::default();
    let parsed = parse(file, text);
    let documents = parsed.documents.iter().map(|document| {
        let kinds = SecretKinds::default();
        let around = Surroundings {
            kinds: &kinds,
            folder: Folder::Other,
            problems: &[],
        };
        match read(document, text, &mut known, around) {
            Reading::Document(read) => {
                let span = document.span;
                let text = text[span.start as usize..span.end as usize].to_owned();
                Read {
                    text,
                    document: *read,
                }
            }
            Reading::Nothing(_) => panic!("all of them are documents"),
        }
    });
    documents.collect()
}
