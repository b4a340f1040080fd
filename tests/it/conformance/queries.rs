//! `query` finds what another implementation of RFC 9535 finds in `render --format json`, and names the
//! lines that `explain-value` names.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value as Json;
use serde_json_path::{JsonPath, PathElement};

use super::treasuremap::{HEAD, Treasuremap};
use crate::support::sample::Random;

/// Site, schema, name, pieces of the path, and JSON of a value.
type Row = (String, String, String, Vec<String>, String);

const QUERIES: usize = 200;
const ORIGINS: usize = 300;

#[test]
#[ignore = "needs the recorded corpus"]
fn queries_find_what_another_implementation_finds_in_rendered_json() {
    let repository = Treasuremap::clone();
    let rendered = run(&repository, &["render", "--format", "json"]);
    let documents = documents(&rendered);
    let mut random = Random(9535);
    let mut queries: BTreeSet<String> = BTreeSet::new();
    while queries.len() < QUERIES {
        let (.., data) = &documents[random.below(documents.len())];
        queries.insert(expression(data, &mut random));
    }
    let mut found = 0;
    for query in &queries {
        let expected = expected(query, &documents);
        let answer = run(&repository, &["query", query, "--format", "json"]);
        assert_eq!(rows(&answer), expected, "{query}");
        found += usize::from(!expected.is_empty());
    }
    assert!(
        found > QUERIES / 2,
        "{found} of {QUERIES} queries find something"
    );
}

#[test]
#[ignore = "needs the recorded corpus"]
fn origins_are_those_of_explain_value() {
    let repository = Treasuremap::clone();
    let answer = run(&repository, &["query", "$..*", "--format", "json"]);
    let rows = answer["rows"].as_array().unwrap();
    let mut random = Random(68);
    for at in 0..ORIGINS {
        let row = &rows[random.below(rows.len())];
        let site = row["sites"][0].as_str().unwrap();
        let [schema, name] = ["schema", "name"].map(|key| row["document"][key].as_str().unwrap());
        let place = row[["path", "pointer"][at % 2]].as_str().unwrap();
        let arguments = [
            "explain-value",
            site,
            schema,
            name,
            place,
            "--format",
            "json",
        ];
        let explained = run(&repository, &arguments);
        let way = &explained["sites"][0]["way"];
        assert_eq!(row["at"], way["set_at"], "{arguments:?}");
        assert_eq!(row["value"], way["value"], "{arguments:?}");
        assert_eq!(row["deployed_by"], way["deployed_by"], "{arguments:?}");
    }
}

fn run(repository: &Treasuremap, arguments: &[&str]) -> Json {
    let output = Command::new(env!("CARGO_BIN_EXE_layercake"))
        .current_dir(repository.path())
        .args(arguments)
        .args(["--rev", HEAD])
        .output()
        .expect("layercake runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {errors}"))
}

/// Site, schema, name and data of each rendered document.
fn documents(rendered: &Json) -> Vec<(&str, &str, &str, &Json)> {
    let mut documents = Vec::new();
    for site in rendered["sites"].as_array().unwrap() {
        let name = site["site"].as_str().unwrap();
        for document in site["documents"].as_array().unwrap() {
            let [schema, document_name] =
                ["schema", "name"].map(|key| document[key].as_str().unwrap());
            documents.push((name, schema, document_name, &document["data"]));
        }
    }
    documents
}

fn expected(query: &str, documents: &[(&str, &str, &str, &Json)]) -> BTreeSet<Row> {
    let path = JsonPath::parse(query).unwrap_or_else(|error| panic!("{query}: {error}"));
    let mut expected = BTreeSet::new();
    for (site, schema, name, data) in documents {
        for node in path.query_located(data).all() {
            let pieces = node.location().iter().map(|element| match element {
                PathElement::Name(name) => (*name).to_owned(),
                PathElement::Index(index) => index.to_string(),
            });
            expected.insert((
                (*site).to_owned(),
                (*schema).to_owned(),
                (*name).to_owned(),
                pieces.collect(),
                node.node().to_string(),
            ));
        }
    }
    expected
}

fn rows(answer: &Json) -> BTreeSet<Row> {
    let mut rows = BTreeSet::new();
    for row in answer["rows"].as_array().unwrap() {
        let [schema, name] =
            ["schema", "name"].map(|key| row["document"][key].as_str().unwrap().to_owned());
        let pointer = row["pointer"].as_str().unwrap();
        let pieces = pointer.split('/').skip(1);
        let pieces: Vec<String> = pieces
            .map(|it| it.replace("~1", "/").replace("~0", "~"))
            .collect();
        for site in row["sites"].as_array().unwrap() {
            let site = site.as_str().unwrap().to_owned();
            rows.insert((
                site,
                schema.clone(),
                name.clone(),
                pieces.clone(),
                row["value"].to_string(),
            ));
        }
    }
    rows
}

/// A query made from a path in the data: some of its steps are replaced by other selectors.
fn expression(data: &Json, random: &mut Random) -> String {
    let mut query = "$".to_owned();
    let mut node = data;
    let mut searches = 0;
    for _ in 0..random.below(7) {
        let (step, next) = match node {
            Json::Object(entries) if !entries.is_empty() => {
                let (key, next) = entries.iter().nth(random.below(entries.len())).unwrap();
                (format!("[{}]", quoted(key)), next)
            }
            Json::Array(items) if !items.is_empty() => {
                let index = random.below(items.len());
                (format!("[{index}]"), &items[index])
            }
            _ => break,
        };
        let selector = match random.below(12) {
            0 => "[*]".to_owned(),
            1 if searches == 0 => {
                searches += 1;
                format!("..{step}")
            }
            2 => "[-1:]".to_owned(),
            3 => "[::2, -1]".to_owned(),
            4 => format!("[?{}]", filter(next, random)),
            _ => step,
        };
        query += &selector;
        node = next;
    }
    query
}

/// A filter that holds for a value.
fn filter(value: &Json, random: &mut Random) -> String {
    match value {
        Json::Object(entries) if !entries.is_empty() => {
            let (key, child) = entries.iter().nth(random.below(entries.len())).unwrap();
            let place = format!("@[{}]", quoted(key));
            match (child, random.below(4)) {
                (Json::String(text), 0) => format!("{place} == {}", quoted(text)),
                (Json::String(_), 1) => format!("match({place}, '.*[a-m]')"),
                (Json::Number(number), 0 | 1) => format!("{place} >= {number}"),
                (Json::Bool(bool), 0 | 1) => format!("{place} == {bool}"),
                (_, 2) => format!("count(@.*) > {} && {place}", random.below(3)),
                (_, _) => format!("!{place} || length({place}) > 2"),
            }
        }
        Json::String(text) => format!("@ == {} || search(@, 'o')", quoted(text)),
        Json::Array(items) => format!("length(@) == {}", items.len()),
        _ => "@ != 'x'".to_owned(),
    }
}

/// A string literal of RFC 9535.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string is JSON")
}
