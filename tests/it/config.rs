//! `layercake.yaml`: the effect of each key, errors for invalid values, and precedence.

mod cloud_config;
mod faults;
mod keys;
mod sources;
mod verbs;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use layercake::config::SCHEMA;
use serde_json::Value as Json;

use crate::cli::Sandbox;

/// A repository with two valid sites and this configuration.
fn configured(text: &str) -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.write("layercake.yaml", text);
    sandbox
}

/// Rules with findings in a run, without duplicates.
fn rules(sandbox: &Sandbox, arguments: &[&str]) -> BTreeSet<String> {
    sandbox.rules(arguments).into_iter().collect()
}

/// Whether exactly these rules were found.
fn are(found: &BTreeSet<String>, rules: &[&str]) -> bool {
    found.iter().map(String::as_str).eq(rules.iter().copied())
}

/// The keys of the schema, with dots between the levels.
fn schema_keys() -> Vec<String> {
    fn collect(part: &Json, key: &str, keys: &mut Vec<String>) {
        let Some(properties) = part["properties"].as_object() else {
            keys.push(key.to_owned());
            return;
        };
        for (name, below) in properties {
            let dot = if key.is_empty() { "" } else { "." };
            collect(below, &format!("{key}{dot}{name}"), keys);
        }
    }
    let mut keys = Vec::new();
    collect(&serde_json::from_str(SCHEMA).unwrap(), "", &mut keys);
    keys
}

fn page() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/configuration.md");
    fs::read_to_string(page).unwrap()
}

#[test]
fn example_on_the_page_is_valid() {
    let page = page();
    let example = page
        .split("```yaml\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let ran = configured(example).run(&["config", "check"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "layercake.yaml is valid\n"),
        "{ran:?}"
    );
}

#[test]
fn every_key_of_the_schema_is_described_and_has_a_default() {
    fn described(part: &Json, key: &str) {
        assert!(part["description"].is_string(), "{key}");
        for (name, below) in part["properties"].as_object().into_iter().flatten() {
            if below["$ref"].is_null() {
                described(below, &format!("{key}.{name}"));
            }
        }
    }
    let schema: Json = serde_json::from_str(SCHEMA).unwrap();
    described(&schema, "");
    for definition in schema["definitions"].as_object().unwrap().values() {
        described(definition, "definitions");
    }
    let sandbox = Sandbox::with_sites();
    let settings = sandbox.run(&["config", "show", "--format", "json"]).json();
    for setting in settings["settings"].as_array().unwrap() {
        let pointer = setting["key"]
            .as_str()
            .unwrap()
            .replace('.', "/properties/");
        let part = &schema["properties"]
            .pointer(&format!("/{pointer}"))
            .unwrap();
        let part = match part["$ref"].as_str() {
            Some(reference) => schema.pointer(&reference[1..]).unwrap(),
            None => part,
        };
        assert!(part.get("default").is_some(), "{setting}");
    }
}

#[test]
fn schema_is_valid_and_accepts_valid_files() {
    let schema: Json = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::draft4::new(&schema).expect("a valid schema");
    assert!(jsonschema::draft4::meta::is_valid(&schema));
    assert!(validator.is_valid(&serde_json::json!({"rules": {"levels": {"P005": "off"}}})));
    assert!(!validator.is_valid(&serde_json::json!({"rules": {"levles": {}}})));
}
