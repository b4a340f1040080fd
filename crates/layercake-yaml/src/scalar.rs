//! Scalar values: the resolver and the scalar constructors of PyYAML 6.
//!
//! [`plain`] resolves unquoted scalars (`deckhand.md` 1.2, the patterns of `resolver.py`),
//! [`tagged`] constructs tagged ones (`deckhand.md` 1.3, `constructor.py`). Regular expressions are
//! avoided, because this is the hot path and the first byte identifies most strings.
//!
//! Error messages do not contain the scalar, which may be secret.

use std::borrow::Cow;
use std::sync::Arc;

use num_bigint::{BigInt, BigUint, Sign};

use super::{Date, Timestamp, Value, YamlLimit};

/// Resolved plain scalar.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Plain {
    Value(Value),
    /// `<<`: merges as a key, otherwise an error.
    Merge,
    /// `=`: text as a key, otherwise an error.
    Default,
}

/// Scalar tags of YAML 1.1 that the safe loader supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarTag {
    Null,
    Bool,
    Int,
    Float,
    Binary,
    Timestamp,
    String,
}

/// Reason why a scalar has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ScalarFault {
    /// PyYAML's constructor raises an exception; with the reason.
    Invalid(&'static str),
    /// An integer of more than [`YamlLimit::DIGITS`] digits.
    TooManyDigits,
}

/// Resolves an unquoted scalar like PyYAML's implicit resolvers.
pub(super) fn plain(text: &str) -> Result<Plain, ScalarFault> {
    let Some(first) = text.bytes().next() else {
        return Ok(Plain::Value(Value::Null));
    };
    let value = match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' => word(text),
        b'~' if text.len() == 1 => Some(Value::Null),
        b'<' if text == "<<" => return Ok(Plain::Merge),
        b'=' if text.len() == 1 => return Ok(Plain::Default),
        b'-' | b'+' | b'.' | b'0'..=b'9' => number_or_time(text)?,
        _ => None,
    };
    Ok(Plain::Value(
        value.unwrap_or_else(|| Value::String(text.into())),
    ))
}

/// Constructs a scalar with an explicit tag, quoted or not.
pub(super) fn tagged(tag: ScalarTag, text: &str) -> Result<Value, ScalarFault> {
    match tag {
        ScalarTag::Null => Ok(Value::Null),
        ScalarTag::Bool => boolean(text),
        ScalarTag::Int => integer(text),
        ScalarTag::Float => float(text),
        ScalarTag::Binary => base64(text).map(Value::Binary),
        ScalarTag::Timestamp => match DateAndTime::read(text) {
            Some(moment) => moment.value(),
            None => Err(ScalarFault::Invalid("not a valid timestamp")),
        },
        ScalarTag::String => Ok(Value::String(text.into())),
    }
}

fn word(text: &str) -> Option<Value> {
    match text {
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Some(Value::Bool(true))
        }
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Some(Value::Bool(false))
        }
        "null" | "Null" | "NULL" => Some(Value::Null),
        _ => None,
    }
}

fn number_or_time(text: &str) -> Result<Option<Value>, ScalarFault> {
    let bytes = text.as_bytes();
    if is_integer(bytes) {
        return integer(text).map(Some);
    }
    if is_float(bytes) {
        return float(text).map(Some);
    }
    match DateAndTime::read(text) {
        Some(moment) if moment.resolves_unquoted(text) => moment.value().map(Some),
        _ => Ok(None),
    }
}

/// Pattern of `tag:yaml.org,2002:int`:
///
/// ```text
/// [-+]?0b[0-1_]+ | [-+]?0[0-7_]+ | [-+]?(?:0|[1-9][0-9_]*)
/// | [-+]?0x[0-9a-fA-F_]+ | [-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+
/// ```
fn is_integer(bytes: &[u8]) -> bool {
    match unsigned(bytes) {
        [b'0', b'b', rest @ ..] => all(rest, |byte| matches!(byte, b'0' | b'1' | b'_')),
        [b'0', b'x', rest @ ..] => all(rest, |byte| byte.is_ascii_hexdigit() || byte == b'_'),
        [b'0'] => true,
        [b'0', rest @ ..] => all(rest, |byte| matches!(byte, b'0'..=b'7' | b'_')),
        digits @ [b'1'..=b'9', ..] => {
            let rest = after_digits(digits);
            rest.is_empty() || after_sixties(rest).is_some_and(<[u8]>::is_empty)
        }
        _ => false,
    }
}

/// Pattern of `tag:yaml.org,2002:float`:
///
/// ```text
/// [-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)? | \.[0-9][0-9_]*(?:[eE][-+][0-9]+)?
/// | [-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]* | [-+]?\.(?:inf|Inf|INF) | \.(?:nan|NaN|NAN)
/// ```
fn is_float(bytes: &[u8]) -> bool {
    match unsigned(bytes) {
        digits @ [b'0'..=b'9', ..] => match after_digits(digits) {
            [b'.', fraction @ ..] => is_exponent(after_digits(fraction)),
            sixties => match after_sixties(sixties) {
                Some([b'.', fraction @ ..]) => after_digits(fraction).is_empty(),
                _ => false,
            },
        },
        b".inf" | b".Inf" | b".INF" => true,
        _ => match bytes {
            b".nan" | b".NaN" | b".NAN" => true,
            [b'.', b'0'..=b'9', fraction @ ..] => is_exponent(after_digits(fraction)),
            _ => false,
        },
    }
}

fn unsigned(bytes: &[u8]) -> &[u8] {
    match bytes {
        [b'-' | b'+', rest @ ..] => rest,
        _ => bytes,
    }
}

fn all(bytes: &[u8], accepts: impl Fn(u8) -> bool) -> bool {
    !bytes.is_empty() && bytes.iter().all(|byte| accepts(*byte))
}

/// Text after `[0-9_]*`.
fn after_digits(bytes: &[u8]) -> &[u8] {
    let end = bytes
        .iter()
        .position(|byte| !byte.is_ascii_digit() && *byte != b'_');
    &bytes[end.unwrap_or(bytes.len())..]
}

/// Text after `(?::[0-5]?[0-9])+`, if it matches.
fn after_sixties(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = bytes;
    while let [b':', after @ ..] = rest {
        rest = match after {
            [b'0'..=b'5', b'0'..=b'9', rest @ ..] | [b'0'..=b'9', rest @ ..] => rest,
            _ => return None,
        };
    }
    (rest.len() < bytes.len()).then_some(rest)
}

/// Whether the text matches `(?:[eE][-+][0-9]+)?`.
fn is_exponent(bytes: &[u8]) -> bool {
    match bytes {
        [] => true,
        [b'e' | b'E', b'-' | b'+', digits @ ..] => all(digits, |byte| byte.is_ascii_digit()),
        _ => false,
    }
}

/// Equivalent of `construct_yaml_bool`, which ignores case.
fn boolean(text: &str) -> Result<Value, ScalarFault> {
    match text.to_lowercase().as_str() {
        "yes" | "true" | "on" => Ok(Value::Bool(true)),
        "no" | "false" | "off" => Ok(Value::Bool(false)),
        _ => Err(ScalarFault::Invalid("not a valid boolean")),
    }
}

/// Equivalent of `construct_yaml_int`.
fn integer(text: &str) -> Result<Value, ScalarFault> {
    let text = without_underscores(text);
    let (negative, digits) = signed(&text);
    let magnitude = match digits.as_bytes() {
        [b'0'] => Int::Small(0),
        [b'0', b'b', ..] => python_int(&digits[2..], 2)?,
        [b'0', b'x', ..] => python_int(&digits[2..], 16)?,
        [b'0', ..] => python_int(digits, 8)?,
        bytes if bytes.contains(&b':') => sexagesimal(digits)?,
        _ => python_int(digits, 10)?,
    };
    magnitude.value(negative)
}

/// Intermediate result of an integer.
enum Int {
    Small(i64),
    Big(BigInt),
}

impl Int {
    fn value(self, negative: bool) -> Result<Value, ScalarFault> {
        let big = match self {
            // Only the minimum has no 64-bit negation.
            Int::Small(int) => match if negative {
                int.checked_neg()
            } else {
                Some(int)
            } {
                Some(int) => return Ok(Value::Int(int)),
                None => -BigInt::from(int),
            },
            Int::Big(big) if negative => -big,
            Int::Big(big) => big,
        };
        if let Ok(int) = i64::try_from(&big) {
            return Ok(Value::Int(int));
        }
        let text = big.to_string();
        if text.len() - usize::from(big.sign() == Sign::Minus) > YamlLimit::DIGITS {
            return Err(ScalarFault::TooManyDigits);
        }
        Ok(Value::BigInt(text.into()))
    }
}

/// Equivalent of Python's `int(text, radix)`: allows surrounding white space, a sign and the prefix
/// of the radix.
fn python_int(text: &str, radix: u32) -> Result<Int, ScalarFault> {
    const INVALID: ScalarFault = ScalarFault::Invalid("not a valid integer");
    let (negative, digits) = signed(text.trim());
    let prefix = match radix {
        2 => ["0b", "0B"],
        8 => ["0o", "0O"],
        16 => ["0x", "0X"],
        _ => ["", ""],
    };
    let digits = prefix
        .iter()
        .find_map(|prefix| digits.strip_prefix(prefix))
        .unwrap_or(digits);
    if !all(digits.as_bytes(), |byte| char::from(byte).is_digit(radix)) {
        return Err(INVALID);
    }
    let int = match i64::from_str_radix(digits, radix) {
        Ok(int) => Int::Small(int),
        Err(_) => Int::Big(big(digits, radix)?),
    };
    Ok(match (negative, int) {
        (false, int) => int,
        // Never the minimum, because digits have no sign.
        (true, Int::Small(int)) => Int::Small(-int),
        (true, Int::Big(big)) => Int::Big(-big),
    })
}

/// Parses digits that do not fit into 64 bits. The limit is checked first, because parsing takes
/// quadratic time.
fn big(digits: &str, radix: u32) -> Result<BigInt, ScalarFault> {
    // A decimal digit is worth 3.32 bits, so at most four bits per digit of any radix stay below
    // five times the limit.
    if digits.len() > YamlLimit::DIGITS * 4 {
        return Err(ScalarFault::TooManyDigits);
    }
    BigUint::parse_bytes(digits.as_bytes(), radix)
        .map(BigInt::from)
        .ok_or(ScalarFault::Invalid("not a valid integer"))
}

/// Sexagesimal integer, such as `12:30:45`.
fn sexagesimal(text: &str) -> Result<Int, ScalarFault> {
    let mut small = Some(0_i64);
    let mut total = BigInt::ZERO;
    if text.len() > YamlLimit::DIGITS * 2 {
        return Err(ScalarFault::TooManyDigits);
    }
    for part in text.split(':') {
        let part = python_int(part, 10)?;
        match (small, &part) {
            (Some(sum), Int::Small(part)) => {
                small = sum.checked_mul(60).and_then(|sum| sum.checked_add(*part));
                if small.is_none() {
                    total = BigInt::from(sum) * 60 + part;
                }
            }
            (Some(sum), Int::Big(part)) => {
                small = None;
                total = BigInt::from(sum) * 60 + part;
            }
            (None, Int::Small(part)) => total = total * 60 + part,
            (None, Int::Big(part)) => total = total * 60 + part,
        }
    }
    Ok(small.map_or(Int::Big(total), Int::Small))
}

/// Equivalent of `construct_yaml_float`.
fn float(text: &str) -> Result<Value, ScalarFault> {
    let text = without_underscores(text).to_lowercase();
    let (negative, digits) = signed(&text);
    let magnitude = match digits {
        ".inf" => f64::INFINITY,
        ".nan" => return Ok(Value::Float(f64::NAN)),
        _ if digits.contains(':') => float_sexagesimal(digits)?,
        _ => python_float(digits)?,
    };
    Ok(Value::Float(if negative { -magnitude } else { magnitude }))
}

/// Sexagesimal float, such as `1:30.5`, summed from the right like PyYAML, so that it rounds
/// equally.
fn float_sexagesimal(text: &str) -> Result<f64, ScalarFault> {
    let mut base = 1.0_f64;
    let mut sum = 0.0_f64;
    for part in text.rsplit(':') {
        if base.is_infinite() {
            return Err(ScalarFault::Invalid("float out of range"));
        }
        sum += python_float(part)? * base;
        base *= 60.0;
    }
    Ok(sum)
}

fn python_float(text: &str) -> Result<f64, ScalarFault> {
    text.trim()
        .parse()
        .map_err(|_| ScalarFault::Invalid("not a valid float"))
}

fn without_underscores(text: &str) -> Cow<'_, str> {
    if text.contains('_') {
        text.replace('_', "").into()
    } else {
        text.into()
    }
}

fn signed(text: &str) -> (bool, &str) {
    match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    }
}

/// Equivalent of `base64.decodebytes`, which skips characters outside of the alphabet and stops at
/// the padding.
fn base64(text: &str) -> Result<Arc<[u8]>, ScalarFault> {
    if !text.is_ascii() {
        return Err(ScalarFault::Invalid("base64 with non-ASCII characters"));
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut pending = 0_u8;
    let mut place = 0;
    let mut pads = 0;
    for character in text.bytes() {
        let sextet = match character {
            b'A'..=b'Z' => character - b'A',
            b'a'..=b'z' => character - b'a' + 26,
            b'0'..=b'9' => character - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                pads += usize::from(place >= 2);
                if place >= 2 && place + pads >= 4 {
                    return Ok(bytes.into());
                }
                continue;
            }
            _ => continue,
        };
        pads = 0;
        match place {
            0 => pending = sextet << 2,
            1 => {
                bytes.push(pending | sextet >> 4);
                pending = sextet << 4;
            }
            2 => {
                bytes.push(pending | sextet >> 2);
                pending = sextet << 6;
            }
            _ => bytes.push(pending | sextet),
        }
        place = (place + 1) % 4;
    }
    if place == 0 {
        Ok(bytes.into())
    } else {
        Err(ScalarFault::Invalid("base64 with invalid padding"))
    }
}

/// Fields of a timestamp as written, not validated.
#[derive(Default)]
struct DateAndTime {
    year: u16,
    month: u8,
    day: u8,
    time: Option<Time>,
}

#[derive(Default)]
struct Time {
    hour: u8,
    minute: u8,
    second: u8,
    microsecond: u32,
    offset: Option<i16>,
}

impl DateAndTime {
    /// Equivalent of `SafeConstructor.timestamp_regexp`:
    ///
    /// ```text
    /// YYYY-M?M-D?D (?:(?:[Tt]|[ \t]+) h?h:mm:ss (?:\.[0-9]*)?
    ///              (?:[ \t]*(?:Z|[-+]h?h(?::mm)?))?)?
    /// ```
    fn read(text: &str) -> Option<Self> {
        let mut fields = Fields(text.as_bytes());
        let year = u16::from(fields.two()?) * 100 + u16::from(fields.two()?);
        let month = fields.after(b'-')?.one_or_two()?;
        let day = fields.after(b'-')?.one_or_two()?;
        if fields.0.is_empty() {
            return Some(Self {
                year,
                month,
                day,
                time: None,
            });
        }
        if !fields.skip_any(b"Tt") && fields.skip_blanks() == 0 {
            return None;
        }
        let time = fields.time()?;
        fields.0.is_empty().then_some(Self {
            year,
            month,
            day,
            time: Some(time),
        })
    }

    /// The implicit resolver requires all digits of a date without time.
    fn resolves_unquoted(&self, text: &str) -> bool {
        self.time.is_some() || text.len() == "2001-01-01".len()
    }

    fn value(self) -> Result<Value, ScalarFault> {
        let Self {
            year,
            month,
            day,
            time,
        } = self;
        if year == 0 || !(1..=days_in(year, month)).contains(&day) {
            return Err(ScalarFault::Invalid("not a valid date"));
        }
        let date = Date { year, month, day };
        let Some(Time {
            hour,
            minute,
            second,
            microsecond,
            offset,
        }) = time
        else {
            return Ok(Value::Date(date));
        };
        if hour > 23 || minute > 59 || second > 59 {
            return Err(ScalarFault::Invalid("not a valid time"));
        }
        if offset.is_some_and(|minutes| minutes.abs() >= 24 * 60) {
            return Err(ScalarFault::Invalid("UTC offset of a day or more"));
        }
        Ok(Value::Timestamp(Timestamp {
            date,
            hour,
            minute,
            second,
            microsecond,
            offset,
        }))
    }
}

/// Number of days in a month; `None` for an invalid month.
fn days_in(year: u16, month: u8) -> u8 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    }
}

/// Unparsed rest of a timestamp.
struct Fields<'text>(&'text [u8]);

impl Fields<'_> {
    fn time(&mut self) -> Option<Time> {
        let hour = self.one_or_two()?;
        let minute = self.after(b':')?.two()?;
        let second = self.after(b':')?.two()?;
        let microsecond = if self.skip_any(b".") {
            self.fraction()
        } else {
            0
        };
        let mut ahead = Fields(self.0);
        ahead.skip_blanks();
        let offset = match ahead.0.first() {
            Some(b'Z') => {
                ahead.0 = &ahead.0[1..];
                Some(0)
            }
            Some(sign @ (b'-' | b'+')) => {
                ahead.0 = &ahead.0[1..];
                let minutes = ahead.offset()?;
                Some(if *sign == b'-' { -minutes } else { minutes })
            }
            _ => None,
        };
        // Blanks are allowed only before an offset.
        if offset.is_some() {
            self.0 = ahead.0;
        }
        Some(Time {
            hour,
            minute,
            second,
            microsecond,
            offset,
        })
    }

    fn offset(&mut self) -> Option<i16> {
        let hours = self.one_or_two()?;
        let minutes = if self.skip_any(b":") { self.two()? } else { 0 };
        Some(i16::from(hours) * 60 + i16::from(minutes))
    }

    /// Six digits are significant: missing ones are zero, further ones are ignored.
    fn fraction(&mut self) -> u32 {
        let mut microsecond = 0;
        let mut weight = 100_000;
        while let Some(digit) = self.digit() {
            microsecond += u32::from(digit) * weight;
            weight /= 10;
        }
        microsecond
    }

    fn digit(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        let digit = first.is_ascii_digit().then(|| first - b'0')?;
        self.0 = rest;
        Some(digit)
    }

    fn two(&mut self) -> Option<u8> {
        Some(self.digit()? * 10 + self.digit()?)
    }

    fn one_or_two(&mut self) -> Option<u8> {
        let first = self.digit()?;
        Some(self.digit().map_or(first, |second| first * 10 + second))
    }

    fn after(&mut self, separator: u8) -> Option<&mut Self> {
        self.skip_any(&[separator]).then_some(self)
    }

    fn skip_any(&mut self, bytes: &[u8]) -> bool {
        match self.0.split_first() {
            Some((first, rest)) if bytes.contains(first) => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    fn skip_blanks(&mut self) -> usize {
        let before = self.0.len();
        while self.skip_any(b" \t") {}
        before - self.0.len()
    }
}
