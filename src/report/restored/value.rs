//! Values as the report has them, back as nodes: the inverse of how values are
//! said in JSON.
//!
//! What JSON lacks is text that names its kind, `"!!date:2019-01-31"`; a scalar
//! that stands alone has its plain text beside it, which tells such a text from
//! a date. `(hidden)` inside a value stands for a secret, and is one again.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::value::RawValue;

use crate::report::json::{Entries, ValueForm};
use crate::source::Span;
use crate::yaml::emit::HIDDEN;
use crate::yaml::{Date, Key, Node, Timestamp, Value};

/// Values inside of each other; a report holds few that nest as deep.
const DEEPEST: usize = 128;

/// The value of a report, said to be written at `span`. One that the report
/// does not hold is a text that says so.
pub(super) fn node(form: &ValueForm, span: Span) -> Node {
    if form.hidden.is_some() {
        return Node::new(Value::Null, span).into_secret();
    }
    let Some(json) = &form.value else {
        return Node::new(Value::String("(too long for the report)".into()), span);
    };
    let reading = Reading { span, depth: 0 };
    let is_text =
        |text: &String| serde_json::from_str(json.get()).is_ok_and(|it: String| it == *text);
    match form.text.as_ref().filter(|text| is_text(text)) {
        Some(text) => Node::new(Value::String(text.as_str().into()), span),
        None => reading.node(json.get()).unwrap_or_else(|| {
            Node::new(Value::String("(nested too deeply for the report)".into()), span)
        }),
    }
}

/// Where in a value the reading is.
#[derive(Clone, Copy)]
struct Reading {
    span: Span,
    depth: usize,
}

impl Reading {
    /// The value that JSON says; none where it nests too deeply.
    fn node(self, json: &str) -> Option<Node> {
        let inside = Self { depth: self.depth + 1, ..self };
        let value = match json.trim_start().as_bytes().first()? {
            _ if self.depth == DEEPEST => return None,
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
                let items = items.iter().map(|item| inside.node(item.get()));
                Value::Sequence(Arc::new(items.collect::<Option<_>>()?))
            }
            b'{' => {
                let Entries(entries) = serde_json::from_str(json).ok()?;
                match set(&entries, self.span) {
                    Some(set) => set,
                    None => inside.mapping(&entries)?,
                }
            }
            b'"' => {
                let text: String = serde_json::from_str(json).ok()?;
                if text == HIDDEN {
                    return Some(Node::new(Value::Null, self.span).into_secret());
                }
                inside_text(text)
            }
            _ => bare(json.trim())?,
        };
        Some(Node::new(value, self.span))
    }

    fn mapping(self, entries: &[(String, &RawValue)]) -> Option<Value> {
        let entries = entries.iter().map(|(key, value)| {
            Some((Key { value: key_value(key), span: self.span }, self.node(value.get())?))
        });
        Some(Value::Mapping(Arc::new(entries.collect::<Option<_>>()?)))
    }
}

/// `{"!!set": [...]}`.
fn set(entries: &[(String, &RawValue)], span: Span) -> Option<Value> {
    let [(name, members)] = entries else { return None };
    let members: Vec<&RawValue> = serde_json::from_str(members.get()).ok()?;
    if name != "!!set" {
        return None;
    }
    let reading = Reading { span, depth: DEEPEST - 1 };
    let keys = members.iter().map(|member| {
        let value = reading.node(member.get())?.value;
        Some(Key { value, span })
    });
    Some(Value::Set(keys.collect::<Option<_>>()?))
}

/// Null, a boolean or a number, as JSON has it.
fn bare(json: &str) -> Option<Value> {
    Some(match json {
        "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        number => number_of(number)?,
    })
}

fn number_of(text: &str) -> Option<Value> {
    if let Ok(int) = text.parse() {
        return Some(Value::Int(int));
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit()) {
        return Some(Value::BigInt(text.into()));
    }
    text.parse().ok().map(Value::Float)
}

/// A text inside of a value, which may stand for what JSON has no form of.
fn inside_text(text: String) -> Value {
    let tagged = text.strip_prefix("!!").and_then(|it| it.split_once(':'));
    let special = tagged.and_then(|(kind, content)| match kind {
        "float" => float(content).filter(|it| !it.is_finite()).map(Value::Float),
        "date" => date(content).map(Value::Date),
        "datetime" => timestamp(content).map(Value::Timestamp),
        "binary" => STANDARD.decode(content).ok().map(|it| Value::Binary(it.into())),
        _ => None,
    });
    special.unwrap_or_else(|| Value::String(text.into()))
}

/// A key, of which JSON has only the text.
pub(super) fn key_value(text: &str) -> Value {
    let tagged = text.strip_prefix("!!");
    let special = tagged.and_then(|tagged| match tagged.split_once(':') {
        None if tagged == "null" => Some(Value::Null),
        Some(("bool", "true")) => Some(Value::Bool(true)),
        Some(("bool", "false")) => Some(Value::Bool(false)),
        Some(("int", digits)) => {
            number_of(digits).filter(|it| matches!(it, Value::Int(_) | Value::BigInt(_)))
        }
        Some(("float", content)) => float(content).map(Value::Float),
        Some(_) | None => None,
    });
    special.unwrap_or_else(|| inside_text(text.to_owned()))
}

fn float(text: &str) -> Option<f64> {
    match text {
        ".inf" => Some(f64::INFINITY),
        "-.inf" => Some(f64::NEG_INFINITY),
        ".nan" => Some(f64::NAN),
        number if number.starts_with(|it: char| it == '-' || it.is_ascii_digit()) => {
            number.parse().ok()
        }
        _ => None,
    }
}

/// `2019-01-31`.
fn date(text: &str) -> Option<Date> {
    let mut parts = text.splitn(3, '-');
    let mut next = |length: usize| number(parts.next()?, length);
    let (year, month, day) = (next(4)?, next(2)?, next(2)?);
    let is_day = (1..=12).contains(&month) && (1..=31).contains(&day) && year > 0;
    let year = u16::try_from(year).ok()?;
    is_day.then_some(Date { year, month: small(month)?, day: small(day)? })
}

/// `2019-01-31T12:00:00.500000+01:00`, as Python's `isoformat` writes it.
fn timestamp(text: &str) -> Option<Timestamp> {
    let (day, time) = text.split_once('T')?;
    let zone = time.find(['+', '-']);
    let (time, zone) = time.split_at(zone.unwrap_or(time.len()));
    let (time, fraction) = time.split_once('.').unwrap_or((time, "000000"));
    let mut parts = time.splitn(3, ':');
    let mut next = || number(parts.next()?, 2);
    let (hour, minute, second) = (next()?, next()?, next()?);
    Some(Timestamp {
        date: date(day)?,
        hour: small(hour).filter(|it| *it < 24)?,
        minute: small(minute).filter(|it| *it < 60)?,
        second: small(second).filter(|it| *it < 60)?,
        microsecond: number(fraction, 6)?,
        offset: if zone.is_empty() { None } else { Some(minutes_east(zone)?) },
    })
}

/// `+01:00` in minutes.
fn minutes_east(zone: &str) -> Option<i16> {
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let minutes = i16::try_from(number(hours, 2)? * 60 + number(minutes, 2)?).ok()?;
    Some(if zone.starts_with('-') { -minutes } else { minutes })
}

/// A number of exactly so many digits.
fn number(digits: &str, length: usize) -> Option<u32> {
    let is_number = digits.len() == length && digits.bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

fn small(number: u32) -> Option<u8> {
    u8::try_from(number).ok()
}
