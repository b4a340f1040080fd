//! The reference pages are generated: `docs/commands.md` from the help of each verb, and
//! `docs/settings.md` from the JSON Schema of the configuration.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value as Json;

use super::commands::{help, verbs};
use crate::stored::{assert_stored, root};

#[test]
fn commands_page_matches_the_help() {
    assert_stored("docs/commands.md", &commands_page());
}

#[test]
fn settings_page_matches_the_schema() {
    assert_stored("docs/settings.md", &settings_page());
}

fn commands_page() -> String {
    let mut page = String::from(
        "# Commands\n\nGenerated from the output of `layercake VERB --help`. `layercake help` lists the verbs, and \
         `layercake man VERB`\nprints the same as a manual page.\n",
    );
    let all = [vec![Vec::new()], verbs()].concat();
    for verb in all {
        let name = [&["layercake".to_owned()], &verb[..]].concat().join(" ");
        write!(
            page,
            "\n## {name}\n\n```text\n{}\n```\n",
            help(&verb).trim_end()
        )
        .unwrap();
    }
    page
}

fn settings_page() -> String {
    let text = fs::read_to_string(root().join("docs/layercake.schema.json")).unwrap();
    let schema: Json = serde_json::from_str(&text).unwrap();
    let mut page = String::from(
        "# Settings\n\nEvery setting of `layercake.yaml`, generated from its \
         [JSON Schema](layercake.schema.json). [Configuration](configuration.md)\nexplains how the file \
         is found and used, and `layercake config show` prints the value of each setting.\n",
    );
    let settings = Settings {
        schema: &schema,
        page: &mut page,
    };
    settings.add_below("", &schema);
    page
}

/// Writer of the settings of a schema.
struct Settings<'s> {
    schema: &'s Json,
    page: &'s mut String,
}

impl Settings<'_> {
    fn add_below(mut self, around: &str, schema: &Json) {
        self.add_properties(around, schema);
    }

    fn add_properties(&mut self, around: &str, schema: &Json) {
        for (name, setting) in schema["properties"].as_object().into_iter().flatten() {
            let setting = resolved(self.schema, setting);
            let name = format!("{around}{name}");
            self.add(&name, setting);
            self.add_properties(&format!("{name}."), setting);
            let items = resolved(self.schema, &setting["items"]);
            self.add_properties(&format!("{name}[]."), items);
            let values = resolved(self.schema, &setting["additionalProperties"]);
            self.add_properties(&format!("{name}.*."), values);
        }
    }

    fn add(&mut self, name: &str, setting: &Json) {
        let description = setting["description"]
            .as_str()
            .expect("a setting has a description");
        let level = if name.contains('.') { "###" } else { "##" };
        write!(self.page, "\n{level} `{name}`\n\n{description}.\n").unwrap();
        let facts: Vec<String> = [
            kind(setting).map(|kind| format!("**Type**: {kind}")),
            setting
                .get("default")
                .map(|value| format!("**Default**: `{value}`")),
        ]
        .into_iter()
        .flatten()
        .collect();
        if !facts.is_empty() {
            write!(self.page, "\n{}\n", facts.join(" · ")).unwrap();
        }
    }
}

/// The schema to which a reference leads, with the reference's own description.
fn resolved<'s>(schema: &'s Json, part: &'s Json) -> &'s Json {
    let pointer = part["$ref"]
        .as_str()
        .and_then(|reference| reference.strip_prefix('#'));
    pointer.map_or(part, |pointer| {
        schema
            .pointer(pointer)
            .expect("a reference leads somewhere")
    })
}

fn kind(setting: &Json) -> Option<String> {
    if let Some(values) = setting["enum"].as_array() {
        let values = values
            .iter()
            .filter_map(Json::as_str)
            .map(|value| format!("`{value}`"));
        return Some(values.collect::<Vec<_>>().join(", "));
    }
    Some(match setting["type"].as_str()? {
        "array" => format!(
            "list of {}s",
            setting["items"]["type"].as_str().unwrap_or("value")
        ),
        "object" if setting.get("properties").is_some() => return None,
        "object" => "mapping".to_owned(),
        other => other.to_owned(),
    })
}
