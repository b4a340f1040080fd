//! Files of a small site repository, and edits of them.

use std::collections::BTreeMap;

use proptest::sample::Index;
use serde_json::{Value as Json, json};

/// Files by path.
pub type Files = BTreeMap<String, File>;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    pub documents: Vec<Json>,
    /// Text after the documents that is not YAML.
    pub junk: String,
}

impl File {
    fn of<const N: usize>(documents: [Json; N]) -> Self {
        Self {
            documents: documents.into(),
            junk: String::new(),
        }
    }

    pub fn text(&self) -> String {
        let documents = self
            .documents
            .iter()
            .map(|document| format!("---\n{document}\n"));
        documents.chain([self.junk.clone()]).collect()
    }
}

/// Two sites of one type, with documents in all layers, lists of all kinds, and secrets.
pub fn initial() -> Files {
    let [policy, base, plain, secrets] = global_files();
    let chart = with(
        document(
            "chart",
            "type",
            json!({"y": "chart", "values": {"t": "type"}}),
        ),
        json!({
            "labels": {"is": "chart"},
            "layeringDefinition": {"parentSelector": {"is": "base"}, "actions": [{"method": "merge", "path": "."}]},
            "substitutions": [
                substitution(["images", ".a"], ".image"),
                substitution(["secret", "."], ".values.password"),
                substitution(["keys", ".pair"], ".values.keys"),
            ],
        }),
    );
    let more = document(
        "more",
        "type",
        json!({"more": [{"id": 1, "v": "x"}, {"id": 2}], "k": 7}),
    );
    let mut files = Files::from([
        ("README.md".to_owned(), File::default()),
        ("global/policy.yaml".to_owned(), policy),
        ("global/base.yaml".to_owned(), base),
        ("global/plain.yaml".to_owned(), plain),
        ("global/secrets.yaml".to_owned(), secrets),
        ("type/t/chart.yaml".to_owned(), File::of([chart])),
        ("type/t/more.yaml".to_owned(), File::of([more])),
    ]);
    for site in ["one", "two"] {
        let [definition, local, own] = site_files(site);
        files.insert(format!("site/{site}/{DEFINITION}"), definition);
        files.insert(format!("site/{site}/local.yaml"), local);
        files.insert(format!("site/{site}/more/own.yaml"), own);
    }
    files
}

pub const DEFINITION: &str = "site-definition.yaml";

fn global_files() -> [File; 4] {
    let policy = json!({
        "schema": "deckhand/LayeringPolicy/v1",
        "metadata": {"schema": "metadata/Control/v1", "name": "layering-policy"},
        "data": {"layerOrder": ["global", "type", "site"]},
    });
    let images = json!({"a": "image:1", "b": {"c": "image:2"}, "of": "images"});
    let base = with(
        document(
            "base",
            "global",
            json!({
                "x": 1,
                "values": {"t": "global", "l": ["t", "u", "t"]},
                "list": [{"name": "p", "v": 1}, {"name": "q", "v": 2, "l": [1, 2]}],
            }),
        ),
        json!({"labels": {"is": "base"}, "layeringDefinition": {"abstract": true}}),
    );
    let plain = json!({
        "of": "plain",
        "m": {"k": "v", "e": {}, "f": []},
        "l": ["a", "b", "a", "c"],
        "ids": [{"id": 1, "v": 1}, {"id": "x", "v": {"w": 2}}],
        "mixed": [1, "t", {"k": 1}, ["n"], null, 1.5, true, {"k": 2}],
    });
    let secret = with(
        document("secret", "global", json!("hush")),
        json!({"storagePolicy": "encrypted"}),
    );
    let keys = with(
        document(
            "keys",
            "global",
            json!({"pair": {"public": "p", "private": "q"}, "n": ["k"]}),
        ),
        json!({"storagePolicy": "encrypted"}),
    );
    [
        File::of([policy]),
        File::of([base, document("images", "global", images)]),
        File::of([
            document("plain", "global", plain),
            document("text", "global", json!("text")),
        ]),
        File::of([secret, keys]),
    ]
}

fn site_files(site: &str) -> [File; 3] {
    let local = with(
        document(
            "local",
            "site",
            json!({"here": site, "list": [{"name": "r"}]}),
        ),
        json!({
            "layeringDefinition": {
                "parentSelector": {"is": "chart"},
                "actions": [{"method": "merge", "path": "."}],
            },
            "substitutions": [substitution(["more", ".k"], ".k")],
        }),
    );
    let own = document(
        "own",
        "site",
        json!({"of": [site, "own"], "m": {"s": site}}),
    );
    [definition(site), File::of([local]), File::of([own])]
}

/// Definition of a site.
pub fn definition(name: &str) -> File {
    let mut definition = document(name, "site", json!({"site_type": "t"}));
    definition["schema"] = "pegleg/SiteDefinition/v1".into();
    File::of([definition])
}

pub fn document(name: &str, layer: &str, data: Json) -> Json {
    json!({
        "schema": "example/Any/v1",
        "metadata": {
            "schema": "metadata/Document/v1",
            "name": name,
            "storagePolicy": "cleartext",
            "layeringDefinition": {"abstract": false, "layer": layer},
        },
        "data": data,
    })
}

/// Document with more metadata.
fn with(mut document: Json, metadata: Json) -> Json {
    merge(&mut document["metadata"], metadata);
    document
}

fn merge(into: &mut Json, more: Json) {
    match (into, more) {
        (Json::Object(into), Json::Object(more)) => {
            for (key, value) in more {
                merge(into.entry(key).or_insert(Json::Null), value);
            }
        }
        (into, more) => *into = more,
    }
}

pub fn substitution([name, path]: [&str; 2], dest: &str) -> Json {
    let source = json!({"schema": "example/Any/v1", "name": name, "path": path});
    json!({"src": source, "dest": {"path": dest}})
}

/// Documents with arbitrary data, by path and index.
pub fn documents(files: &Files) -> Vec<(String, usize)> {
    let all = files.iter().flat_map(|(path, file)| {
        file.documents
            .iter()
            .enumerate()
            .map(move |(at, document)| (path, at, document))
    });
    let free = all.filter(|(.., document)| document["schema"] == "example/Any/v1");
    free.map(|(path, at, _)| (path.clone(), at)).collect()
}

/// Path of one of the values in data for which `applies` holds.
pub fn place_in(data: &Json, which: Index, applies: impl Fn(&Json) -> bool) -> Option<String> {
    let mut places = Vec::new();
    add_places(data, String::new(), &mut places);
    places.retain(|place| data.pointer(place).is_some_and(&applies));
    (!places.is_empty()).then(|| which.get(&places).clone())
}

fn add_places(value: &Json, at: String, places: &mut Vec<String>) {
    match value {
        Json::Object(entries) => {
            entries
                .iter()
                .for_each(|(key, it)| add_places(it, format!("{at}/{key}"), places));
        }
        Json::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(n, it)| add_places(it, format!("{at}/{n}"), places));
        }
        _ => {}
    }
    places.push(at);
}

/// Paths of the YAML files that are not site definitions.
pub fn layer_files(files: &Files) -> Vec<String> {
    let is_layer = |path: &&String| path.ends_with(".yaml") && !path.ends_with(DEFINITION);
    files.keys().filter(is_layer).cloned().collect()
}

/// Names of the site folders.
pub fn sites(files: &Files) -> Vec<String> {
    let sites = files
        .keys()
        .filter_map(|path| path.strip_prefix("site/")?.split('/').next());
    let mut sites: Vec<String> = sites.map(ToOwned::to_owned).collect();
    sites.dedup();
    sites
}
