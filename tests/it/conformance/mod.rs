//! Recorded results of the reference implementations: our result is equal, or both refuse.
//!
//! Recorded cases are in `tests/recorded`. Those with texts of others are not part of this
//! repository, but in the folder that `LAYERCAKE_CORPUS` names, so tests that need them carry
//! `#[ignore = "needs the recorded corpus"]`. `cargo test -- --include-ignored` runs them, and
//! they fail where the corpus is missing.

mod blame;
mod certificates;
mod changes;
mod cloud_init;
mod cloud_init_findings;
mod cloud_init_losses;
mod cloud_init_pipeline;
mod cloud_init_schema;
mod documents;
mod exceptions;
mod heat;
mod history;
mod jsonpath;
mod layering;
mod log;
pub mod pairs;
mod queries;
mod repositories;
pub mod screens;
mod slips;
mod stories;
pub mod treasuremap;
mod validation;
mod yaml;

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use flate2::read::GzDecoder;
use layercake::source::Span;
use layercake::yaml::{Date, Key, Mapping, Node, Timestamp, Value};
use serde_json::Value as Json;

pub use crate::laws::reading::{same, some_file};
use crate::stored::root;

/// Origin of recorded cases.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CaseOrigin {
    /// `tests/recorded`.
    Repository,
    /// The recorded corpus, without the cases of the repository.
    Corpus,
}

impl CaseOrigin {
    /// Cases of a file, such as `deckhand/yaml.json`.
    pub fn cases(self, file: &str) -> Vec<Json> {
        let stored = stored_cases(file);
        if self == Self::Repository {
            return stored.unwrap_or_else(|| panic!("no `{file}` in tests/recorded"));
        }
        let stored = stored.unwrap_or_default();
        let known: HashSet<String> = stored.iter().map(Json::to_string).collect();
        let mut cases = corpus_cases(file);
        cases.retain(|case| known.is_empty() || !known.contains(&case.to_string()));
        cases
    }

    /// Asserts that a test compared as many cases as the repository has at least.
    pub fn assert_at_least(self, least: usize, count: usize) {
        assert!(self == Self::Corpus || count >= least, "only {count} cases");
    }
}

/// Cases of a file in `tests/recorded`; `None` if only the corpus has it.
fn stored_cases(file: &str) -> Option<Vec<Json>> {
    let path = root().join("tests/recorded").join(format!("{file}.gz"));
    let compressed = fs::read(&path).ok()?;
    let text = std::io::read_to_string(GzDecoder::new(&*compressed))
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}")))
}

/// Folder of the recorded outcomes.
pub fn corpus() -> PathBuf {
    let folder = std::env::var_os("LAYERCAKE_CORPUS");
    folder
        .expect("LAYERCAKE_CORPUS must name the folder of the recorded outcomes")
        .into()
}

fn corpus_cases(file: &str) -> Vec<Json> {
    let path = corpus().join(file);
    let text = fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Node of a recorded value, without spans; `None` if it is opaque or contains an opaque value.
pub fn node_of(json: &Json) -> Option<Node> {
    let value = match json {
        Json::Null => Value::Null,
        Json::Bool(bool) => Value::Bool(*bool),
        Json::Number(number) => match number.as_i64() {
            Some(int) => Value::Int(int),
            None if number.is_f64() => Value::Float(number.as_f64()?),
            None => Value::BigInt(number.to_string().into()),
        },
        Json::String(text) => Value::String(text.as_str().into()),
        Json::Array(items) => Value::from(nodes_of(items)?),
        Json::Object(object) => match object.get("$py").and_then(Json::as_str) {
            Some(kind) => python_value(kind, object)?,
            None => {
                let entry = |(key, value): (&String, _)| Some((key_of(text(key)), node_of(value)?));
                let entries: Option<Mapping> = object.iter().map(entry).collect();
                Value::Mapping(Arc::new(entries?))
            }
        },
    };
    Some(Node::new(value, nowhere()))
}

fn nodes_of(items: &[Json]) -> Option<Vec<Node>> {
    items.iter().map(node_of).collect()
}

fn python_value(kind: &str, object: &serde_json::Map<String, Json>) -> Option<Value> {
    let items = || object["items"].as_array().expect("a list of items");
    let written = || object["value"].as_str().expect("a value as a string");
    match kind {
        "map" => {
            let entry = |item: &Json| Some((key_of(node_of(&item[0])?.value), node_of(&item[1])?));
            let entries: Option<Mapping> = items().iter().map(entry).collect();
            Some(Value::Mapping(Arc::new(entries?)))
        }
        "set" => {
            let keys: Option<Arc<[Key]>> = items()
                .iter()
                .map(|item| Some(key_of(node_of(item)?.value)))
                .collect();
            Some(Value::Set(keys?))
        }
        "date" => Some(Value::Date(date_of(written()))),
        "timestamp" => Some(Value::Timestamp(timestamp_of(written()))),
        "binary" => Some(Value::Binary(bytes_of(written()).into())),
        "float" => Some(Value::Float(match written() {
            "nan" => f64::NAN,
            "inf" => f64::INFINITY,
            "-inf" => f64::NEG_INFINITY,
            other => panic!("unknown float `{other}`"),
        })),
        "int" => Some(match written().parse() {
            Ok(int) => Value::Int(int),
            Err(_) => Value::BigInt(written().into()),
        }),
        "opaque" => None,
        other => panic!("unknown kind of value: {other}"),
    }
}

fn text(text: &str) -> Value {
    Value::String(text.into())
}

fn key_of(value: Value) -> Key {
    Key {
        value,
        span: nowhere(),
    }
}

fn nowhere() -> Span {
    Span::point(some_file(), 0)
}

/// `2001-12-14`.
fn date_of(iso: &str) -> Date {
    let number = |range| iso.get(range).and_then(|digits: &str| digits.parse().ok());
    let part = |range| number(range).expect("a date in ISO form");
    Date {
        year: part(0..4),
        month: part(5..7) as u8,
        day: part(8..10) as u8,
    }
}

/// `2001-12-14T21:59:43.100000-05:00`, the last two parts optional.
fn timestamp_of(iso: &str) -> Timestamp {
    let number = |digits: &str| digits.parse::<u32>().expect("digits");
    let field = |range: std::ops::Range<usize>| number(&iso[range]) as u8;
    let rest = &iso[19..];
    let (fraction, zone) = rest.split_at(rest.find(['+', '-']).unwrap_or(rest.len()));
    let offset = (!zone.is_empty()).then(|| {
        let minutes = number(&zone[1..3]) as i16 * 60 + number(&zone[4..6]) as i16;
        if zone.starts_with('-') {
            -minutes
        } else {
            minutes
        }
    });
    Timestamp {
        date: date_of(iso),
        hour: field(11..13),
        minute: field(14..16),
        second: field(17..19),
        microsecond: fraction.strip_prefix('.').map_or(0, number),
        offset,
    }
}

fn bytes_of(base64: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let sextets = base64
        .bytes()
        .filter_map(|byte| ALPHABET.iter().position(|a| *a == byte));
    let bits: Vec<bool> = sextets
        .flat_map(|sextet| (0..6).rev().map(move |bit| sextet >> bit & 1 == 1))
        .collect();
    let byte = |bits: &[bool]| bits.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
    bits.chunks_exact(8).map(byte).collect()
}
