//! Recorded results of paths in the reference implementation.

use std::sync::Arc;

use layercake::merge::pattern::{Pattern, Replacement, python_text};
use layercake::yaml::path::{ListWrite, Path};
use layercake::yaml::{Date, Key, Mapping, Node, Timestamp, Value};
use serde_json::Value as Json;

use super::CaseOrigin;
use crate::path::{here, node};

#[test]
fn paths_are_evaluated_as_recorded() {
    check_all(CaseOrigin::Repository);
}

#[test]
#[ignore = "needs the recorded corpus"]
fn paths_of_the_corpus_are_evaluated_as_recorded() {
    check_all(CaseOrigin::Corpus);
}

fn check_all(origin: CaseOrigin) {
    let cases = origin.cases("deckhand/jsonpath.json");
    origin.assert_at_least(80, cases.len());
    let failures: Vec<String> = cases.iter().filter_map(|case| check(case).err()).collect();
    let (failed, total) = (failures.len(), cases.len());
    assert!(
        failures.is_empty(),
        "{failed} of {total} cases:\n{}",
        failures.join("\n")
    );
}

/// Whether a case ends as recorded.
fn check(case: &Json) -> Result<(), String> {
    if case.to_string().contains(r#"{"$py":"opaque"}"#) {
        return Ok(());
    }
    let actual = match case["kind"].as_str() {
        Some("jsonpath_parse") => parse(case),
        Some("jsonpath_replace") => replace(case),
        _ => return Err(format!("unknown kind: {case}")),
    };
    let expected = &case["outcome"];
    let right = match (&actual, expected.get("result")) {
        (Ok(actual), Some(expected)) => same(actual, &read(expected).expect("a value")),
        (Err(_), None) => true,
        _ => false,
    };
    if right {
        return Ok(());
    }
    let actual = actual.map(|node| python_text(&Value::from(vec![node])));
    Err(format!(
        "{} {}\n  expected {expected}\n  actual {actual:?}",
        case["id"],
        {
            let mut case = case.clone();
            case.as_object_mut()
                .expect("a case")
                .retain(|key, _| key != "outcome" && key != "id");
            case
        }
    ))
}

/// Equality including types: `1`, `1.0` and `true` are different.
fn same(left: &Node, right: &Node) -> bool {
    let text = |node: &Node| python_text(&Value::from(vec![node.clone()]));
    left == right || text(left) == text(right)
}

type Outcome = Result<Node, String>;

fn path_of(case: &Json) -> Result<Path, String> {
    Path::parse(case["jsonpath"].as_str().expect("a path")).map_err(|error| error.to_string())
}

fn parse(case: &Json) -> Outcome {
    let data = read(&case["data"]).expect("data");
    let path = path_of(case)?;
    if case["options"]["match_all"] == Json::Bool(true) {
        let found = path.find(&data).map_err(|error| error.to_string())?;
        if found.is_empty() {
            return Ok(node(Value::Null));
        }
        let values: Vec<Node> = found
            .into_iter()
            .map(|found| found.node.into_owned())
            .collect();
        return Ok(node(Value::from(values)));
    }
    let first = path.first(&data).map_err(|error| error.to_string())?;
    Ok(first.map_or_else(|| node(Value::Null), |first| first.node.into_owned()))
}

fn replace(case: &Json) -> Outcome {
    let options = &case["options"];
    let mut data = read(&case["data"]).expect("data");
    let value = source_value(read(&case["value"]).expect("a value"), options)?;
    let path = path_of(case)?;
    let Some(pattern) = options["pattern"]
        .as_str()
        .filter(|pattern| !pattern.is_empty())
    else {
        path.write(&mut data, &value, ListWrite::Popped, here())
            .map_err(|error| error.to_string())?;
        return Ok(data);
    };
    path.create(&mut data, here())
        .map_err(|error| error.to_string())?;
    let target = path
        .first(&data)
        .map_err(|error| error.to_string())?
        .expect("was created");
    let (target, place) = (target.node.into_owned(), target.location);
    let substitution = Substitution {
        pattern,
        value: python_text(&value.value),
    };
    let depth = &options["recurse"]["depth"];
    let recurse = options["recurse"]
        .as_object()
        .is_some_and(|recurse| !recurse.is_empty());
    if recurse && matches!(target.value, Value::Sequence(_) | Value::Mapping(_)) {
        let changed = substitution.recurse(&target, 0, depth.as_i64().unwrap_or(-1))?;
        *place.get_mut(&mut data).expect("the match is in the data") = changed;
        return Ok(data);
    }
    let text = target.as_str().ok_or("the target is not a string")?;
    let text = node(Value::String(substitution.apply(text)?.into()));
    path.update(&mut data, &text, ListWrite::Popped)
        .map_err(|error| error.to_string())?;
    Ok(data)
}

fn source_value(value: Node, options: &Json) -> Outcome {
    let Some(pattern) = options["src_pattern"]
        .as_str()
        .filter(|pattern| !pattern.is_empty())
    else {
        return Ok(value);
    };
    let text = value.as_str().ok_or("not a string")?;
    let pattern = Pattern::parse(pattern).map_err(|error| error.to_string())?;
    let Some(found) = pattern.search(text).map_err(|error| error.to_string())? else {
        return Ok(value);
    };
    let group = options["src_match_group"].as_i64().unwrap_or(0);
    let group = usize::try_from(group)
        .ok()
        .and_then(|group| found.group(group));
    let text = group.ok_or("no such group")?;
    Ok(node(
        text.map_or(Value::Null, |text| Value::String(text.into())),
    ))
}

struct Substitution<'a> {
    pattern: &'a str,
    value: String,
}

impl Substitution<'_> {
    fn apply(&self, text: &str) -> Result<String, String> {
        let pattern = Pattern::parse(self.pattern).map_err(|error| error.to_string())?;
        let replaced = pattern.replace_all(text, Replacement::Template(&self.value));
        Ok(replaced.map_err(|error| error.to_string())?.0)
    }

    /// Like the reference, only strings that contain the pattern literally.
    fn recurse(&self, target: &Node, depth: i64, most: i64) -> Outcome {
        if depth == most {
            return Ok(target.clone());
        }
        let change = |child: &Node| match child.as_str() {
            Some(text) if text.contains(self.pattern) => {
                Ok(node(Value::String(self.apply(text)?.into())))
            }
            _ => self.recurse(child, depth + 1, most),
        };
        let mut changed = target.clone();
        match &mut changed.value {
            Value::Mapping(mapping) => {
                for (_, child) in Arc::make_mut(mapping).iter_mut() {
                    *child = change(child)?;
                }
            }
            Value::Sequence(items) => {
                for child in Arc::make_mut(items).iter_mut() {
                    *child = change(child)?;
                }
            }
            _ => {}
        }
        Ok(changed)
    }
}

/// A recorded value; `None` if it is recorded as opaque.
fn read(json: &Json) -> Option<Node> {
    let value = match json {
        Json::Null => Value::Null,
        Json::Bool(bool) => Value::Bool(*bool),
        Json::Number(number) => match number.as_i64() {
            Some(int) => Value::Int(int),
            None => Value::Float(number.as_f64().expect("a float")),
        },
        Json::String(text) => Value::String(text.as_str().into()),
        Json::Array(items) => {
            Value::Sequence(Arc::new(items.iter().map(read).collect::<Option<_>>()?))
        }
        Json::Object(fields) => match fields.get("$py").and_then(Json::as_str) {
            Some(kind) => read_python(kind, json)?,
            None => {
                let entries = fields
                    .iter()
                    .map(|(key, value)| Some((Key::string(key.as_str(), here()), read(value)?)));
                Value::Mapping(Arc::new(entries.collect::<Option<Mapping>>()?))
            }
        },
    };
    Some(node(value))
}

fn read_python(kind: &str, json: &Json) -> Option<Value> {
    let items = || json["items"].as_array().expect("items").iter();
    let text = || json["value"].as_str().expect("a text");
    let key = |json| {
        Some(Key {
            value: read(json)?.value,
            span: here(),
        })
    };
    Some(match kind {
        "map" => {
            let entries = items().map(|entry| Some((key(&entry[0])?, read(&entry[1])?)));
            Value::Mapping(Arc::new(entries.collect::<Option<Mapping>>()?))
        }
        "set" => {
            // Python's sets have no order to record.
            let mut keys = items().map(key).collect::<Option<Vec<_>>>()?;
            keys.sort_by_cached_key(|key| python_text(&key.value));
            Value::Set(keys.into())
        }
        "float" => Value::Float(text().parse().expect("a float")),
        "int" => Value::BigInt(text().into()),
        "date" => Value::Date(read_date(text())),
        "timestamp" => Value::Timestamp(read_timestamp(text())),
        "binary" => Value::Binary(text().as_bytes().into()),
        _ => return None,
    })
}

fn read_date(text: &str) -> Date {
    let mut parts = text
        .split('-')
        .map(|part| part.parse::<u16>().expect("a number"));
    let mut next = || parts.next().expect("three parts");
    let (year, month, day) = (next(), next(), next());
    Date {
        year,
        month: month as u8,
        day: day as u8,
    }
}

fn read_timestamp(text: &str) -> Timestamp {
    let number = |from: usize, to: usize| text[from..to].parse::<u8>().expect("a number");
    Timestamp {
        date: read_date(&text[..10]),
        hour: number(11, 13),
        minute: number(14, 16),
        second: number(17, 19),
        microsecond: 0,
        offset: None,
    }
}
