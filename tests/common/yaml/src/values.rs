//! Nodes and values that are not read from a text.

use std::sync::Arc;

use layercake_source::{FileId, Span};
use layercake_yaml::{Date, Key, Mapping, Node, Timestamp, Value};
use proptest::prelude::*;
use serde_json::Value as Json;

/// Span of nodes that no text wrote.
pub fn here() -> Span {
    Span::point(FileId::default(), 0)
}

/// A node at [`here`].
pub fn node(value: Value) -> Node {
    Node::new(value, here())
}

/// A node of plain JSON, at [`here`].
pub fn of(json: Json) -> Node {
    node(match json {
        Json::Null => Value::Null,
        Json::Bool(bool) => Value::Bool(bool),
        Json::Number(number) => match number.as_i64() {
            Some(int) => Value::Int(int),
            None => Value::Float(number.as_f64().expect("test numbers fit a float")),
        },
        Json::String(text) => Value::String(text.into()),
        Json::Array(items) => Value::Sequence(Arc::new(items.into_iter().map(of).collect())),
        Json::Object(fields) => {
            let entries = fields.into_iter();
            let entries = entries.map(|(key, value)| (Key::string(key, here()), of(value)));
            Value::Mapping(Arc::new(entries.collect()))
        }
    })
}

/// Any value, with keys that are scalars.
pub fn any_value() -> impl Strategy<Value = Value> {
    any_scalar().prop_recursive(5, 40, 5, |inner| {
        let entries = prop::collection::vec((any_scalar(), inner.clone()), 0..5);
        let mapping = entries.prop_map(|entries| {
            let entries = entries
                .into_iter()
                .map(|(key, value)| (key_of(key), node(value)));
            Value::Mapping(Arc::new(entries.collect()))
        });
        let set = prop::collection::vec(any_scalar(), 0..4).prop_map(|keys| {
            let keys: Mapping = keys
                .into_iter()
                .map(|key| (key_of(key), node(Value::Null)))
                .collect();
            Value::Set(keys.keys().cloned().collect())
        });
        let pairs = prop::collection::vec((inner.clone(), inner.clone()), 0..4).prop_map(|pairs| {
            Value::Pairs(
                pairs
                    .into_iter()
                    .map(|(key, value)| (node(key), node(value)))
                    .collect(),
            )
        });
        let list = prop::collection::vec(inner, 0..5)
            .prop_map(|items| Value::Sequence(Arc::new(items.into_iter().map(node).collect())));
        prop_oneof![4 => mapping, 3 => list, 1 => set, 1 => pairs]
    })
}

fn key_of(value: Value) -> Key {
    Key {
        value,
        span: here(),
    }
}

fn any_scalar() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-z]{1,8}",
        "[-?:,\\[\\]{}#&*!|>'\"%@`~=<. \ta1\n_\\\\]{0,8}",
        "[0-9+-.:_exbTZ ]{1,10}",
        "([ \t]{0,3}[a#:-]{0,3}[ \t]{0,2}\n{0,3}){1,4}",
        any::<String>(),
        "[a-z ]{1010,1100}",
        prop::sample::select(vec![
            "yes", "y", "null", "~", "", "<<", "=", "---", "...", "- a"
        ])
        .prop_map(str::to_owned),
    ];
    let date = (1..=9999_u16, 1..=12_u8, 1..=28_u8).prop_map(|(year, month, day)| Date {
        year,
        month,
        day,
    });
    let moment = (
        date.clone(),
        0..24_u8,
        0..60_u8,
        0..1_000_000_u32,
        any::<Option<i16>>(),
    )
        .prop_map(|(date, hour, minute, microsecond, offset)| Timestamp {
            date,
            hour,
            minute,
            second: minute,
            microsecond,
            offset: offset.map(|minutes| minutes % 1440),
        });
    prop_oneof![
        8 => text.prop_map(|text| Value::String(text.into())),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => any::<i64>().prop_map(Value::Int),
        1 => "-?[1-9][0-9]{20,40}".prop_map(|digits| Value::BigInt(digits.into())),
        2 => any::<f64>().prop_map(Value::Float),
        1 => (-1e7..1e7_f64).prop_map(Value::Float),
        1 => date.prop_map(Value::Date),
        1 => moment.prop_map(Value::Timestamp),
        1 => any::<Vec<u8>>().prop_map(|bytes| Value::Binary(bytes.into())),
    ]
}
