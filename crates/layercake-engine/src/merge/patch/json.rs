//! JSON parser with exact spans, compatible with Python's `json.loads` as used by `jsonpatch`.
//!
//! `NaN` and the infinities are numbers, integers have any size, and a duplicate key has the list
//! of its values. Otherwise follows RFC 8259. A lone surrogate, which Python accepts but cannot
//! write, is rejected.

use std::sync::Arc;

use indexmap::IndexMap;
use layercake_source::{Span, offset};
use layercake_yaml::{Key, Node, Value, YamlLimit};

use super::{Failure, Reason};

/// Marker line of a patch. cloud-init removes it (its `JSONP_PREFIX`), only in this spelling.
const MARKER: &str = "#cloud-config-jsonp";

/// Parses the JSON in `text`, which has this span.
///
/// # Errors
/// If it is not valid JSON, or exceeds a limit.
pub(super) fn read(text: &str, span: Span) -> Result<Node, Failure> {
    let body = text.trim_start_matches(is_space_in_python);
    let body = body.strip_prefix(MARKER).unwrap_or(body);
    let mut reader = Reader {
        text,
        at: text.len() - body.len(),
        span,
        depth: 0,
        nodes: 0,
    };
    reader.skip_blanks();
    let node = reader.value()?;
    reader.skip_blanks();
    match reader.peek() {
        None => Ok(node),
        Some(_) => Err(reader.fault("unexpected text after the value")),
    }
}

/// Returns whether `str.lstrip` removes the character: Unicode white space, and four control
/// characters.
fn is_space_in_python(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '\u{1c}'..='\u{1f}')
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    span: Span,
    depth: usize,
    nodes: u64,
}

impl Reader<'_> {
    fn value(&mut self) -> Result<Node, Failure> {
        self.nodes += 1;
        if self.nodes > YamlLimit::NODES {
            return Err(self.failure(Reason::OverLimit(YamlLimit::Nodes)));
        }
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::array)?,
            Some(b'"') => Value::String(self.string()?.into()),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(_) => self.word()?,
            None => return Err(self.fault("expected a value")),
        };
        Ok(Node::new(value, self.since(start)))
    }

    fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Value, Failure>,
    ) -> Result<Value, Failure> {
        if self.depth == YamlLimit::DEPTH {
            return Err(self.failure(Reason::OverLimit(YamlLimit::Depth)));
        }
        self.depth += 1;
        self.at += 1;
        self.skip_blanks();
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn array(&mut self) -> Result<Value, Failure> {
        let mut items = Vec::new();
        if !self.skip(b']') {
            loop {
                items.push(self.value()?);
                if !self.is_continued(b']', "expected `,` or `]`")? {
                    break;
                }
            }
        }
        Ok(Value::from(items))
    }

    fn object(&mut self) -> Result<Value, Failure> {
        let mut entries = Entries::default();
        if !self.skip(b'}') {
            loop {
                let (key, value) = self.entry()?;
                entries.entry(key).or_default().push(value);
                if !self.is_continued(b'}', "expected `,` or `}`")? {
                    break;
                }
            }
        }
        let entries = entries
            .into_iter()
            .map(|(key, values)| (key, one_or_list(values)));
        Ok(Value::Mapping(Arc::new(entries.collect())))
    }

    fn entry(&mut self) -> Result<(Key, Node), Failure> {
        if self.peek() != Some(b'"') {
            return Err(self.fault("expected a key in double quotes"));
        }
        let start = self.at;
        let text = self.string()?;
        let key = Key::string(text, self.since(start));
        self.skip_blanks();
        if !self.skip(b':') {
            return Err(self.fault("expected `:`"));
        }
        self.skip_blanks();
        Ok((key, self.value()?))
    }

    /// Returns whether a comma follows, instead of the end.
    fn is_continued(&mut self, end: u8, message: &'static str) -> Result<bool, Failure> {
        self.skip_blanks();
        if self.skip(end) {
            return Ok(false);
        }
        if !self.skip(b',') {
            return Err(self.fault(message));
        }
        self.skip_blanks();
        Ok(true)
    }

    fn string(&mut self) -> Result<Arc<str>, Failure> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.find(|letter: char| matches!(letter, '"' | '\\' | '\0'..='\x1f'));
            let Some(plain) = plain else {
                self.at = self.text.len();
                return Err(self.fault("unterminated string"));
            };
            text.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text.into());
                }
                Some(b'\\') => text.push(self.escaped()?),
                _ => return Err(self.fault("control character in a string")),
            }
        }
    }

    fn escaped(&mut self) -> Result<char, Failure> {
        let letter = match self.text.as_bytes().get(self.at + 1) {
            Some(b'u') => return self.unicode(),
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            _ => return Err(self.fault("invalid escape in a string")),
        };
        self.at += 2;
        Ok(letter)
    }

    /// Parses `\uXXXX`, or a surrogate pair of two.
    fn unicode(&mut self) -> Result<char, Failure> {
        const ESCAPE: usize = r"\uXXXX".len();
        let Some(first) = self.code_unit(self.at) else {
            return Err(self.fault("`\\u` needs four hexadecimal digits"));
        };
        let pair = [first, self.code_unit(self.at + ESCAPE).unwrap_or_default()];
        match char::decode_utf16(pair).next() {
            Some(Ok(letter)) => {
                self.at += ESCAPE * letter.len_utf16();
                Ok(letter)
            }
            _ => Err(self.fault("lone surrogate in a string")),
        }
    }

    fn code_unit(&self, at: usize) -> Option<u16> {
        let digits = self.text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hex
            .then(|| u16::from_str_radix(digits, 16).ok())
            .flatten()
    }

    fn number(&mut self) -> Result<Value, Failure> {
        let start = self.at;
        let is_negative = self.skip(b'-');
        if is_negative && self.text[self.at..].starts_with(INFINITY) {
            self.at += INFINITY.len();
            return Ok(Value::Float(f64::NEG_INFINITY));
        }
        if !self.skip(b'0') && self.digits() == 0 {
            return Err(self.fault("expected a digit"));
        }
        let digits = self.at - start - usize::from(is_negative);
        let has_fraction = self.fraction();
        let has_exponent = self.exponent();
        let text = &self.text[start..self.at];
        if has_fraction || has_exponent {
            return Ok(Value::Float(
                text.parse().expect("JSON's floats are Rust's"),
            ));
        }
        if digits > YamlLimit::DIGITS {
            return Err(self.failure(Reason::OverLimit(YamlLimit::Digits)));
        }
        Ok(text
            .parse()
            .map_or_else(|_| Value::BigInt(text.into()), Value::Int))
    }

    /// Parses a decimal point with digits. A point without digits is not part of the number.
    fn fraction(&mut self) -> bool {
        let start = self.at;
        let is_there = self.skip(b'.') && self.digits() > 0;
        if !is_there {
            self.at = start;
        }
        is_there
    }

    fn exponent(&mut self) -> bool {
        let start = self.at;
        let is_marked = self.skip(b'e') || self.skip(b'E');
        if is_marked && !self.skip(b'+') {
            self.skip(b'-');
        }
        let is_there = is_marked && self.digits() > 0;
        if !is_there {
            self.at = start;
        }
        is_there
    }

    fn digits(&mut self) -> usize {
        let bytes = self.text[self.at..].bytes();
        let count = bytes.take_while(u8::is_ascii_digit).count();
        self.at += count;
        count
    }

    fn word(&mut self) -> Result<Value, Failure> {
        let words = [
            ("null", Value::Null),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            ("NaN", Value::Float(f64::NAN)),
            (INFINITY, Value::Float(f64::INFINITY)),
        ];
        let rest = &self.text[self.at..];
        match words.into_iter().find(|(word, _)| rest.starts_with(word)) {
            Some((word, value)) => {
                self.at += word.len();
                Ok(value)
            }
            None => Err(self.fault("invalid value")),
        }
    }

    fn skip_blanks(&mut self) {
        let bytes = self.text[self.at..].bytes();
        self.at += bytes
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
            .count();
    }

    fn skip(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn since(&self, start: usize) -> Span {
        let place = |at: usize| self.span.start + offset(at);
        Span::new(self.span.file, place(start), place(self.at))
    }

    fn fault(&self, what: &'static str) -> Failure {
        self.failure(Reason::NotJson(what))
    }

    fn failure(&self, reason: Reason) -> Failure {
        Failure {
            operation: None,
            at: self.since(self.at),
            reason,
        }
    }
}

const INFINITY: &str = "Infinity";

/// Entries of an object, with all values of each key.
type Entries = IndexMap<Key, Vec<Node>, foldhash::fast::RandomState>;

/// Returns the single value, or a list of all values from the first to the last.
fn one_or_list(mut values: Vec<Node>) -> Node {
    let last = values.pop().expect("a key has a value");
    let Some(first) = values.first() else {
        return last;
    };
    let span = first.span.to(last.span);
    values.push(last);
    Node::new(Value::from(values), span)
}
