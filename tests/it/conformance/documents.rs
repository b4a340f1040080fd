//! Recorded documents as text of files, so that they go through the whole pipeline, including the
//! parser.

use layercake::source::MemoryTree;
use serde_json::Value as Json;

/// One file per document, in order; `None` if a value is opaque.
pub fn tree_of(documents: &[Json]) -> Option<MemoryTree> {
    let mut tree = MemoryTree::new();
    for (index, document) in documents.iter().enumerate() {
        let mut text = String::from("---\n");
        write(document, &mut text)?;
        text.push('\n');
        tree = tree.with(&file_name(index), text);
    }
    Some(tree)
}

/// File of the document with this index.
pub fn file_name(index: usize) -> String {
    format!("{index:05}.yaml")
}

/// A recorded value as YAML in flow style, which is close to JSON.
fn write(json: &Json, text: &mut String) -> Option<()> {
    match json {
        Json::Array(items) => separated(items, ['[', ']'], text, write),
        Json::Object(object) => match object.get("$py").and_then(Json::as_str) {
            Some(kind) => python(kind, object, text),
            None => {
                let entries: Vec<_> = object.iter().collect();
                separated(&entries, ['{', '}'], text, |(key, value), text| {
                    string(key, text);
                    text.push_str(": ");
                    write(value, text)
                })
            }
        },
        Json::String(value) => {
            string(value, text);
            Some(())
        }
        Json::Number(number) if number.is_f64() => {
            text.push_str(&float(&number.to_string()));
            Some(())
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {
            text.push_str(&json.to_string());
            Some(())
        }
    }
}

fn python(kind: &str, object: &serde_json::Map<String, Json>, text: &mut String) -> Option<()> {
    let items = || object["items"].as_array().expect("a list of items");
    let value = || object["value"].as_str().expect("a value as a string");
    match kind {
        "map" => separated(items(), ['{', '}'], text, |item, text| {
            text.push_str("? ");
            write(&item[0], text)?;
            text.push_str(" : ");
            write(&item[1], text)
        }),
        "set" => {
            text.push_str("!!set ");
            separated(items(), ['{', '}'], text, |item, text| {
                text.push_str("? ");
                write(item, text)
            })
        }
        "date" => {
            text.push_str(value());
            Some(())
        }
        "timestamp" => {
            text.push_str("!!timestamp \"");
            text.push_str(value());
            text.push('"');
            Some(())
        }
        "binary" => {
            text.push_str("!!binary \"");
            text.push_str(value());
            text.push('"');
            Some(())
        }
        "float" => {
            text.push_str(match value() {
                "nan" => ".nan",
                "inf" => ".inf",
                "-inf" => "-.inf",
                other => panic!("unknown float `{other}`"),
            });
            Some(())
        }
        "int" => {
            text.push_str(value());
            Some(())
        }
        "opaque" => None,
        other => panic!("unknown kind of value: {other}"),
    }
}

fn separated<T>(
    items: &[T],
    [open, close]: [char; 2],
    text: &mut String,
    mut each: impl FnMut(&T, &mut String) -> Option<()>,
) -> Option<()> {
    text.push(open);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        each(item, text)?;
    }
    text.push(close);
    Some(())
}

/// A double-quoted string; JSON escapes are valid in YAML.
fn string(value: &str, text: &mut String) {
    text.push_str(&Json::from(value).to_string().replace('\u{7f}', "\\u007f"));
}

/// YAML 1.1 requires a dot and a signed exponent.
fn float(json: &str) -> String {
    let (mantissa, exponent) = json.split_once(['e', 'E']).unwrap_or((json, ""));
    let dot = if mantissa.contains('.') { "" } else { ".0" };
    match exponent {
        "" => format!("{mantissa}{dot}"),
        negative if negative.starts_with(['-', '+']) => format!("{mantissa}{dot}e{negative}"),
        positive => format!("{mantissa}{dot}e+{positive}"),
    }
}
