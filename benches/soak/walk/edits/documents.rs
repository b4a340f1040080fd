//! Edits that add, remove or move documents and files.

use layercake::yaml::Node;

use super::super::Text;
use super::super::text::{parsed, stretches, with_document};
use super::values::{action_path, quoted, value};
use super::workshop::{Changed, Picked, Workshop};

/// Copies a document, usually under another name, since names must be unique.
pub fn copied(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let picked = workshop.document()?;
    let copy = match workshop.random.below(5) {
        0 => picked.own_text().to_owned(),
        _ => {
            let name = format!("copy-{}", workshop.random.below(1000));
            picked.own_text_with(&[(&["metadata", "name"], &name)])?
        }
    };
    let (path, text) = other_file(workshop, &picked)?;
    Some(vec![(path, Some(with_document(&text, &copy)))])
}

/// Adds a child of a labelled document to a site or type; sometimes it replaces the parent.
pub fn child(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let parent = workshop.pick(|root| {
        let labels = root
            .get("metadata")
            .and_then(|metadata| metadata.get("labels"));
        labels
            .and_then(Node::as_mapping)
            .is_some_and(|labels| !labels.is_empty())
    })?;
    let (path, text) = workshop.file()?;
    let layer = if path.starts_with("type/") {
        "type"
    } else {
        "site"
    };
    let (key, label) = parent
        .at(&["metadata", "labels"])?
        .as_mapping()?
        .iter()
        .next()?;
    let selector = format!("{{{}: {}}}", quoted(key.as_str()?), quoted(label.as_str()?));
    let name = match workshop.random.below(3) {
        0 => parent.word(&["metadata", "name"]).to_owned(),
        _ => format!("child-{}", workshop.random.below(1000)),
    };
    let replaces = name == parent.word(&["metadata", "name"]);
    let inside = action_path(parent.at(&["data"])?, workshop.random);
    let method = workshop.random.word(&["merge", "replace", "delete"]);
    let (schema, key) = (
        quoted(parent.word(&["schema"])),
        super::values::key(workshop.random),
    );
    let document = format!(
        "---\nschema: {schema}\nmetadata:\n  schema: metadata/Document/v1\n  name: {}\n  \
         replacement: {replaces}\n  storagePolicy: cleartext\n  labels: {{name: {}}}\n  \
         layeringDefinition:\n    abstract: false\n    layer: {layer}\n    parentSelector: \
         {selector}\n    actions:\n      - {{method: {method}, path: {}}}\n      \
         - {{method: merge, path: .}}\ndata:\n  {key}: {}\n",
        quoted(&name),
        quoted(&name),
        quoted(&inside),
        value(workshop.random),
    );
    Some(vec![(path, Some(with_document(&text, &document)))])
}

/// Actions, sources and destinations for [`related`], covering each row of the table of the two
/// semantics.
const ACTIONS: &[&str] = &[
    "merge, path: '.list[0]'",
    "merge, path: '.list[5]'",
    "delete, path: .second",
    "delete, path: '.list[1].port'",
    "replace, path: $",
    "delete, path: $",
    "merge, path: .database",
    "replace, path: .database",
    "replace, path: .data.base",
    "replace, path: '.list[0].tags'",
    "delete, path: .nowhere",
];
const SOURCES: &[&str] = &[
    ".text", ".truth", ".number", ".list", ".map", ".map.y", ".word", ".", ".word.x", ".nowhere",
];
const DESTINATIONS: &[&str] = &[
    "path: .url, pattern: DOMAIN",
    "path: .url, pattern: '[0-9]+'",
    "path: .url, pattern: nothing-like-it",
    "path: .deep, pattern: 'DOM.IN', recurse: {depth: -1}",
    "path: .deep, pattern: DOMAIN, recurse: {depth: 1}",
    "path: .deep, pattern: DOMAIN, recurse: {}",
    "path: .missing.below, pattern: DOMAIN, recurse: {depth: 2}",
    "path: .missing, pattern: DOMAIN",
    "path: '.list[0]'",
    "path: '.list[1].tags[0]'",
    "path: '.list[*]'",
    "path: .base",
    "path: .",
];

/// Adds a document, a child and a source of the child, with constructs that the semantics interpret
/// differently or that neither supports.
pub fn related(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let (path, text) = workshop.file()?;
    let number = workshop.random.below(1000);
    let kind = workshop
        .random
        .word(&["Document", "Document", "Document", "Control"]);
    let head = |name: &str, kind: &str, layer: &str| {
        format!(
            "---\nschema: made/Pair/v1\nmetadata:\n  schema: metadata/{kind}/v1\n  name: \
             pair-{name}-{number}\n  storagePolicy: cleartext\n  labels: {{pair: \
             '{name}-{number}'}}\n  layeringDefinition:\n    abstract: false\n    layer: {layer}\n"
        )
    };
    let source = "data: {text: 'C:\\new\\1', truth: true, number: 1.50, list: [a, [b]], word: plain,\n  \
                  map: {x: 1, y: ~}}\n";
    let parent = "data:\n  first: one\n  second: one\n  base: {x: 1}\n  database: {x: 2}\n  \
                  list:\n  - {name: a, port: 80, tags: [t]}\n  - name: b\n    port: 80\n  url: \
                  http://DOMAIN:80/path\n  deep: {a: x DOMAIN y, b: [DOMAIN, {c: DOMAIN}]}\n";
    let action = workshop.random.word(ACTIONS);
    let [one, other] = [workshop.random.word(SOURCES), workshop.random.word(SOURCES)];
    let [first, second] = [
        workshop.random.word(DESTINATIONS),
        workshop.random.word(DESTINATIONS),
    ];
    let from = format!("schema: made/Pair/v1, name: pair-source-{number}");
    let child = format!(
        "    parentSelector: {{pair: 'parent-{number}'}}\n    actions:\n    - {{method: merge, path: \
         .}}\n    - {{method: {action}}}\n  substitutions:\n  - {{src: {{{from}, path: {one}}}, dest: \
         {{{first}}}}}\n  - {{src: {{{from}, path: {other}}}, dest: [{{{second}}}]}}\ndata:\n  second: \
         two\n  base: {{y: 4}}\n  database: {{y: 3}}\n  list: [{{name: c, tags: [u, v]}}]\n"
    );
    let documents = [
        head("source", "Document", "global") + source,
        head("parent", kind, "global") + parent,
        head("child", "Document", "site") + &child,
    ];
    let text = documents
        .iter()
        .fold(text, |text, document| with_document(&text, document));
    Some(vec![(path, Some(text))])
}

pub fn removed(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let picked = workshop.document()?;
    Some(picked.become_text(picked.text_without()))
}

pub fn moved(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let picked = workshop.document()?;
    let (path, text) = other_file(workshop, &picked)?;
    if path == picked.path {
        return None;
    }
    let moved = with_document(&text, picked.own_text());
    Some(vec![
        (picked.path.clone(), Some(picked.text_without())),
        (path, Some(moved)),
    ])
}

/// Chooses a file for a document of `picked`, usually in the same folder.
fn other_file(workshop: &mut Workshop<'_>, picked: &Picked) -> Option<(Text, Text)> {
    if workshop.random.in_hundred(30) {
        return workshop.file();
    }
    let beside: Vec<_> = workshop
        .files
        .iter()
        .filter(|(path, _)| folder(path) == folder(&picked.path))
        .collect();
    workshop
        .random
        .of(&beside)
        .map(|(path, text)| ((*path).clone(), (*text).clone()))
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub fn reordered(workshop: &mut Workshop<'_>) -> Option<Changed> {
    const TRIES: usize = 40;
    (0..TRIES).find_map(|_| {
        let (path, text) = workshop.file()?;
        let stretches = stretches(&text, &parsed(&path, &text).documents);
        let mut order: Vec<usize> = (0..stretches.len()).collect();
        workshop.random.shuffle(&mut order);
        let before = &text[..stretches.first()?.start];
        let new = order.iter().fold(Text::from(before), |new, at| {
            with_document(&new, &text[stretches[*at].clone()])
        });
        (order.len() > 1).then(|| vec![(path, Some(new))])
    })
}

/// Chooses an unused path in the folder of a file.
fn free_path(workshop: &mut Workshop<'_>, path: &str) -> Option<Text> {
    let folder = match workshop.random.below(3) {
        0 => folder(&workshop.file()?.0).to_owned(),
        _ => folder(path).to_owned(),
    };
    let new: Text = format!("{folder}/moved-{}.yaml", workshop.random.below(10_000)).into();
    (!workshop.files.contains_key(&new)).then_some(new)
}

pub fn file_copied(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let (path, text) = file_of_documents(workshop)?;
    Some(vec![(free_path(workshop, &path)?, Some(text))])
}

pub fn file_moved(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let (path, text) = file_of_documents(workshop)?;
    Some(vec![
        (free_path(workshop, &path)?, Some(text)),
        (path, None),
    ])
}

pub fn file_removed(workshop: &mut Workshop<'_>) -> Option<Changed> {
    Some(vec![(file_of_documents(workshop)?.0, None)])
}

/// Chooses a file that defines neither a site nor the layers.
fn file_of_documents(workshop: &mut Workshop<'_>) -> Option<(Text, Text)> {
    let (path, text) = workshop.file()?;
    let is_definition =
        path.ends_with("site-definition.yaml") || text.contains("deckhand/LayeringPolicy");
    (!is_definition).then_some((path, text))
}
