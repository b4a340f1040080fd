//! Python's `str` and `repr` of values.

use std::fmt::Write;

use layercake_yaml::emit::finite_float_text;
use layercake_yaml::{Date, Key, Node, Timestamp, Value};

/// Formats a value like Python's `str(value)`, which a pattern substitution inserts (`deckhand.md`
/// 12.4). Members of a set keep the document order; Python defines none.
pub fn python_text(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::String(string) => text.push_str(string),
        Value::Date(date) => write_date(*date, &mut text),
        Value::Timestamp(timestamp) => write_timestamp(timestamp, &mut text),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Binary(_)
        | Value::Set(_)
        | Value::Pairs(_)
        | Value::Sequence(_)
        | Value::Mapping(_) => write_repr(value, &mut text),
    }
    text
}

/// Formats a float like Python's `repr`: the shortest digits that round-trip, with an exponent
/// below 1e-4 and from 1e16.
pub fn float_repr(float: f64) -> String {
    if float.is_nan() {
        return "nan".into();
    }
    if float.is_infinite() {
        return if float < 0.0 {
            "-inf".into()
        } else {
            "inf".into()
        };
    }
    finite_float_text(float)
}

fn write_repr(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push_str("None"),
        Value::Bool(bool) => text.push_str(if *bool { "True" } else { "False" }),
        Value::Int(int) => text.push_str(&int.to_string()),
        Value::BigInt(digits) => text.push_str(digits),
        Value::Float(float) => text.push_str(&float_repr(*float)),
        Value::Date(date) => text.push_str(&date_repr(*date)),
        Value::Timestamp(timestamp) => text.push_str(&timestamp_repr(timestamp)),
        Value::Binary(bytes) => write_bytes(bytes, text),
        Value::Set(keys) => write_set(keys, text),
        Value::Pairs(pairs) => write_joined("[", pairs.iter(), "]", text, |pair, text| {
            text.push('(');
            write_repr(&pair.0.value, text);
            text.push_str(", ");
            write_repr(&pair.1.value, text);
            text.push(')');
        }),
        Value::String(string) => write_string(string, text),
        Value::Sequence(items) => {
            write_joined("[", items.iter(), "]", text, |item: &Node, text| {
                write_repr(&item.value, text);
            });
        }
        Value::Mapping(mapping) => {
            write_joined("{", mapping.iter(), "}", text, |(key, node), text| {
                write_repr(&key.value, text);
                text.push_str(": ");
                write_repr(&node.value, text);
            });
        }
    }
}

fn write_joined<T>(
    open: &str,
    items: impl Iterator<Item = T>,
    close: &str,
    text: &mut String,
    write: impl Fn(T, &mut String),
) {
    text.push_str(open);
    for (at, item) in items.enumerate() {
        if at > 0 {
            text.push_str(", ");
        }
        write(item, text);
    }
    text.push_str(close);
}

fn write_set(keys: &[Key], text: &mut String) {
    if keys.is_empty() {
        return text.push_str("set()");
    }
    write_joined("{", keys.iter(), "}", text, |key, text| {
        write_repr(&key.value, text);
    });
}

/// Chooses single quotes, unless the string contains some and no double quotes.
fn quote_for(has_single: bool, has_double: bool) -> char {
    if has_single && !has_double { '"' } else { '\'' }
}

fn write_string(string: &str, text: &mut String) {
    let quote = quote_for(string.contains('\''), string.contains('"'));
    text.push(quote);
    for character in string.chars() {
        match character {
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\\' => text.push_str("\\\\"),
            _ if character == quote => text.extend(['\\', character]),
            _ if is_printable(character) => text.push(character),
            _ => write_escape(u32::from(character), text),
        }
    }
    text.push(quote);
}

/// Implements Python's `str.isprintable` by the escapes of the standard library, which use the same
/// definition. The library also escapes combining characters, but only at the start of a string.
fn is_printable(character: char) -> bool {
    if character.is_ascii() {
        return !character.is_ascii_control();
    }
    let after_a_letter: String = ['a', character].iter().collect();
    after_a_letter.escape_debug().nth(1) == Some(character)
}

fn write_escape(code: u32, text: &mut String) {
    let written = match code {
        0..=0xFF => write!(text, "\\x{code:02x}"),
        0x100..=0xFFFF => write!(text, "\\u{code:04x}"),
        _ => write!(text, "\\U{code:08x}"),
    };
    written.expect("writing to a String does not fail");
}

fn write_bytes(bytes: &[u8], text: &mut String) {
    let quote = quote_for(bytes.contains(&b'\''), bytes.contains(&b'"'));
    text.extend(['b', quote]);
    for byte in bytes {
        match byte {
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            b'\\' => text.push_str("\\\\"),
            b' '..=b'~' if char::from(*byte) == quote => text.extend(['\\', quote]),
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => write_escape(u32::from(*byte), text),
        }
    }
    text.push(quote);
}

fn write_date(date: Date, text: &mut String) {
    write!(text, "{:04}-{:02}-{:02}", date.year, date.month, date.day)
        .expect("writing to a String does not fail");
}

/// Formats a datetime like Python's `str`.
fn write_timestamp(time: &Timestamp, text: &mut String) {
    write_date(time.date, text);
    let mut tail = format!(" {:02}:{:02}:{:02}", time.hour, time.minute, time.second);
    if time.microsecond != 0 {
        tail.push_str(&format!(".{:06}", time.microsecond));
    }
    if let Some(offset) = time.offset {
        let sign = if offset < 0 { '-' } else { '+' };
        let minutes = offset.unsigned_abs();
        tail.push_str(&format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60));
    }
    text.push_str(&tail);
}

fn date_repr(date: Date) -> String {
    format!("datetime.date({}, {}, {})", date.year, date.month, date.day)
}

fn timestamp_repr(time: &Timestamp) -> String {
    let Date { year, month, day } = time.date;
    let mut fields = format!("{year}, {month}, {day}, {}, {}", time.hour, time.minute);
    // Trailing zeros are omitted, from the seconds on.
    if time.second != 0 || time.microsecond != 0 {
        fields.push_str(&format!(", {}", time.second));
    }
    if time.microsecond != 0 {
        fields.push_str(&format!(", {}", time.microsecond));
    }
    if let Some(offset) = time.offset {
        fields.push_str(&format!(", tzinfo={}", zone_repr(offset)));
    }
    format!("datetime.datetime({fields})")
}

/// Formats a time zone east of UTC by `minutes`. Python normalizes to negative days and positive
/// seconds.
fn zone_repr(minutes: i16) -> String {
    if minutes == 0 {
        return "datetime.timezone.utc".into();
    }
    let days = minutes.div_euclid(24 * 60);
    let seconds = i32::from(minutes.rem_euclid(24 * 60)) * 60;
    let delta = match (days, seconds) {
        (0, seconds) => format!("seconds={seconds}"),
        (days, 0) => format!("days={days}"),
        (days, seconds) => format!("days={days}, seconds={seconds}"),
    };
    format!("datetime.timezone(datetime.timedelta({delta}))")
}
