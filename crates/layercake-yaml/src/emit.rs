//! Nodes as YAML that a person would write.
//!
//! What is written reads back as the same value, here and under PyYAML: keys
//! in their order, lists at their key's indent, text of several lines as a
//! block, quotes only where a reader of YAML 1.1 or 1.2 needs them. When a
//! text needs quotes is serde-saphyr's knowledge; the layout is ours, because
//! its serializer has no way to write a date, a set, binary data or a comment
//! beside a block.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use layercake_source::{FileId, Span};

use super::{Date, Key, Node, Timestamp, Value};

/// How to write a node.
#[derive(Clone, Copy, Default)]
pub struct EmitOptions<'a> {
    /// Whether secret nodes are written; otherwise `(hidden)` stands in the
    /// place of the whole node.
    pub show_secrets: bool,
    /// What to say behind each leaf, as a comment, of the text it came from.
    pub origin: Option<&'a dyn Fn(Span) -> String>,
}

/// What is written in the place of a secret.
pub const HIDDEN: &str = "(hidden)";

/// The YAML text of one node, ending in a line break.
///
/// A shared node is written as often as it occurs, so the text may be as long
/// as [`YamlLimit::NODES`](super::YamlLimit::NODES) allows.
pub fn to_yaml(node: &Node, options: &EmitOptions<'_>) -> String {
    let mut writer = Emitter { text: String::new(), options };
    writer.node(node, EmitPosition::Root, 0);
    writer.text
}

/// YAML's plain text of a scalar: `true`, `1.5`, `null`, dates in ISO form,
/// binary data in base64, and text as it is. A collection is written as
/// [`to_yaml`] writes it.
pub fn scalar_text(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(bool) => bool.to_string(),
        Value::Int(int) => int.to_string(),
        Value::BigInt(digits) => digits.to_string(),
        Value::Float(float) => float_text(*float),
        Value::Date(date) => date_text(*date),
        Value::Timestamp(timestamp) => timestamp_text(timestamp),
        Value::Binary(bytes) => STANDARD.encode(bytes),
        Value::String(text) => text.to_string(),
        Value::Set(_) | Value::Pairs(_) | Value::Sequence(_) | Value::Mapping(_) => {
            let node = Node::new(value.clone(), Span::point(FileId::default(), 0));
            let mut text = to_yaml(&node, &EmitOptions::default());
            text.pop();
            text
        }
    }
}

/// A node on one line, as a flow collection, of about `max_chars` characters at most: an
/// ellipsis ends one that is longer. Secrets are hidden.
pub fn to_flow(node: &Node, max_chars: usize) -> String {
    let mut text = String::new();
    write_flow(node, max_chars, &mut text);
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Appends `node` to `text`, and stops soon after that is longer than `max_chars`.
fn write_flow(node: &Node, max_chars: usize, text: &mut String) {
    if node.secret {
        text.push_str(HIDDEN);
        return;
    }
    match &node.value {
        Value::Sequence(items) => {
            write_flow_parts(["[", "]"], items.iter(), max_chars, text, |item, text| {
                write_flow(item, max_chars, text);
            });
        }
        Value::Mapping(entries) => {
            write_flow_parts(["{", "}"], entries.iter(), max_chars, text, |(key, value), text| {
                text.push_str(&flow_token(&key.value));
                text.push_str(": ");
                write_flow(value, max_chars, text);
            });
        }
        Value::Set(keys) => {
            write_flow_parts(["!!set {", "}"], keys.iter(), max_chars, text, |key, text| {
                text.push_str(&flow_token(&key.value));
            });
        }
        Value::Pairs(pairs) => {
            write_flow_parts(["!!pairs [", "]"], pairs.iter(), max_chars, text, |pair, text| {
                write_flow(&pair.0, max_chars, text);
                text.push_str(": ");
                write_flow(&pair.1, max_chars, text);
            });
        }
        scalar => text.push_str(&flow_token(scalar)),
    }
}

fn write_flow_parts<T>(
    [open, close]: [&str; 2],
    parts: impl Iterator<Item = T>,
    max_chars: usize,
    text: &mut String,
    write: impl Fn(T, &mut String),
) {
    // A character has four bytes at most: what is longer is cut off in any case.
    let max_bytes = max_chars.saturating_mul(4);
    text.push_str(open);
    for (index, part) in parts.enumerate() {
        if text.len() > max_bytes {
            return;
        }
        text.push_str(if index > 0 { ", " } else { "" });
        write(part, text);
    }
    text.push_str(close);
}

/// A scalar, quoted where a flow collection needs it.
fn flow_token(value: &Value) -> String {
    match value {
        Value::String(text) if text.contains([',', '[', ']', '{', '}']) => format!("{text:?}"),
        scalar => token(scalar),
    }
}

struct Emitter<'a> {
    text: String,
    options: &'a EmitOptions<'a>,
}

/// Where the next node goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EmitPosition {
    /// At the start of the text.
    Root,
    /// Behind the colon of a key.
    Key,
    /// Behind `-`, `?`, or the `:` that follows a `?`.
    Indicator,
}

/// Spaces by which a node stands inside its parent.
const STEP: usize = 2;

/// A key longer than this stands behind `?`: readers look for the colon of
/// another one no further than 1024 characters.
const LONGEST_SIMPLE_KEY: usize = 1000;

impl Emitter<'_> {
    /// Writes a node; `indent` is that of the key or indicator before it.
    fn node(&mut self, node: &Node, place: EmitPosition, indent: usize) {
        if node.secret && !self.options.show_secrets {
            return self.leaf(HIDDEN, place, node.span);
        }
        match &node.value {
            Value::Sequence(items) if items.is_empty() => self.leaf("[]", place, node.span),
            Value::Mapping(entries) if entries.is_empty() => self.leaf("{}", place, node.span),
            Value::Pairs(pairs) if pairs.is_empty() => self.leaf("!!pairs []", place, node.span),
            Value::Set(keys) if keys.is_empty() => self.leaf("!!set {}", place, node.span),
            Value::Sequence(items) => {
                let indent = self.open_list(place, indent);
                self.lines(items.iter(), indent, Self::item);
            }
            Value::Mapping(entries) => {
                let indent = self.open_mapping(place, indent);
                self.lines(entries.iter(), indent, Self::entry);
            }
            Value::Pairs(pairs) => {
                self.tag("!!pairs", place);
                let indent = if place == EmitPosition::Indicator { indent + STEP } else { indent };
                self.indent(indent);
                self.lines(pairs.iter(), indent, Self::pair);
            }
            Value::Set(keys) => {
                self.tag("!!set", place);
                let indent = if place == EmitPosition::Root { indent } else { indent + STEP };
                self.indent(indent);
                self.lines(keys.iter(), indent, Self::member);
            }
            Value::String(text) if is_block(text, place) => {
                self.block(text, place, indent, node.span);
            }
            scalar => self.leaf(&token(scalar), place, node.span),
        }
    }

    /// Writes each line's content; the cursor stands where the first begins.
    fn lines<T>(
        &mut self,
        parts: impl Iterator<Item = T>,
        indent: usize,
        write: impl Fn(&mut Self, T, usize),
    ) {
        for (at, part) in parts.enumerate() {
            if at > 0 {
                self.indent(indent);
            }
            write(self, part, indent);
        }
    }

    fn item(&mut self, item: &Node, indent: usize) {
        self.text.push('-');
        self.node(item, EmitPosition::Indicator, indent);
    }

    fn entry(&mut self, (key, node): (&Key, &Node), indent: usize) {
        let key = token(&key.value);
        if key.len() > LONGEST_SIMPLE_KEY {
            self.text.push_str("? ");
            self.text.push_str(&key);
            self.text.push('\n');
            self.indent(indent);
            self.text.push(':');
            return self.node(node, EmitPosition::Indicator, indent);
        }
        self.text.push_str(&key);
        self.text.push(':');
        self.node(node, EmitPosition::Key, indent);
    }

    /// One of `!!pairs`, a mapping of one entry whose key may be anything.
    fn pair(&mut self, (key, node): &(Node, Node), indent: usize) {
        self.text.push_str("- ");
        let indent = indent + STEP;
        let hidden = key.secret && !self.options.show_secrets;
        if !hidden && key.value.is_scalar() {
            return self.entry((&Key { value: key.value.clone(), span: key.span }, node), indent);
        }
        self.text.push('?');
        self.node(key, EmitPosition::Indicator, indent);
        self.indent(indent);
        self.text.push(':');
        self.node(node, EmitPosition::Indicator, indent);
    }

    fn member(&mut self, key: &Key, _indent: usize) {
        self.text.push('?');
        self.leaf(&token(&key.value), EmitPosition::Indicator, key.span);
    }

    /// A list stands at its key's indent, or right behind an indicator.
    fn open_list(&mut self, place: EmitPosition, indent: usize) -> usize {
        match place {
            EmitPosition::Root => indent,
            EmitPosition::Key => {
                self.text.push('\n');
                self.indent(indent);
                indent
            }
            EmitPosition::Indicator => {
                self.text.push(' ');
                indent + STEP
            }
        }
    }

    fn open_mapping(&mut self, place: EmitPosition, indent: usize) -> usize {
        match place {
            EmitPosition::Root => indent,
            EmitPosition::Key => {
                self.text.push('\n');
                self.indent(indent + STEP);
                indent + STEP
            }
            EmitPosition::Indicator => {
                self.text.push(' ');
                indent + STEP
            }
        }
    }

    fn tag(&mut self, tag: &str, place: EmitPosition) {
        self.space(place);
        self.text.push_str(tag);
        self.text.push('\n');
    }

    fn leaf(&mut self, token: &str, place: EmitPosition, span: Span) {
        self.space(place);
        self.text.push_str(token);
        self.end_line(span);
    }

    /// Text of several lines, line by line below `|`.
    fn block(&mut self, text: &str, place: EmitPosition, indent: usize, span: Span) {
        let body = text.trim_end_matches('\n');
        self.space(place);
        self.text.push('|');
        if needs_indent_indicator(body) {
            self.text.push('2');
        }
        match text.len() - body.len() {
            0 => self.text.push('-'),
            1 => {}
            _ => self.text.push('+'),
        }
        self.end_line(span);
        for line in body.split('\n') {
            if !line.is_empty() {
                self.indent(indent + STEP);
                self.text.push_str(line);
            }
            self.text.push('\n');
        }
        self.text.push_str(text[body.len()..].strip_prefix('\n').unwrap_or(""));
    }

    fn end_line(&mut self, span: Span) {
        if let Some(origin) = self.options.origin {
            self.text.push_str("  # ");
            self.text
                .extend(origin(span).chars().map(|it| if is_printable(it) { it } else { ' ' }));
        }
        self.text.push('\n');
    }

    fn space(&mut self, place: EmitPosition) {
        if place != EmitPosition::Root {
            self.text.push(' ');
        }
    }

    fn indent(&mut self, indent: usize) {
        self.text.extend(std::iter::repeat_n(' ', indent));
    }
}

/// A scalar on one line, quoted where it must be.
fn token(value: &Value) -> String {
    match value {
        Value::String(text) => text_token(text),
        Value::Binary(_) => format!("!!binary \"{}\"", scalar_text(value)),
        _ => scalar_text(value),
    }
}

fn text_token(text: &str) -> String {
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    let mut token = serde_saphyr::to_string_with_options(&text, options)
        .expect("because writing text into a string cannot fail");
    token.truncate(token.trim_end_matches('\n').len());
    token
}

/// Whether a text is written as a block: several lines, and nothing in it
/// that only an escape can say.
fn is_block(text: &str, place: EmitPosition) -> bool {
    let body = text.trim_end_matches('\n');
    let fits = place != EmitPosition::Root || !needs_indent_indicator(body);
    fits && text.contains('\n')
        && !body.is_empty()
        && text.chars().all(|it| it == '\n' || it == '\t' || is_printable(it))
}

/// Readers take the indent from the first line that is not empty, so that
/// line must not begin with white space.
fn needs_indent_indicator(body: &str) -> bool {
    body.trim_start_matches('\n').starts_with([' ', '\t'])
}

/// Whether a character may stand on a line as itself, to readers of 1.1 too.
fn is_printable(character: char) -> bool {
    !character.is_control()
        && !matches!(character, '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}')
}

/// As PyYAML's `represent_float`: the shortest digits that read back, with a
/// dot and a signed exponent, without which YAML 1.1 sees text.
fn float_text(float: f64) -> String {
    if float.is_nan() {
        return ".nan".to_owned();
    }
    if float.is_infinite() {
        return if float > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let text = finite_float_text(float);
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        Some(_) | None => text,
    }
}

/// Python's `repr` of a float that is a number: the fewest digits that read
/// back as it, with an exponent below 1e-4 and from 1e16 on.
pub fn finite_float_text(float: f64) -> String {
    let scientific = format!("{float:e}");
    let (digits, exponent) = scientific.split_once('e').expect("`{:e}` writes an exponent");
    let exponent: i32 = exponent.parse().expect("`{:e}` writes a decimal exponent");
    if (-4..16).contains(&exponent) {
        return format!("{float:?}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

fn date_text(date: Date) -> String {
    let Date { year, month, day } = date;
    format!("{year:04}-{month:02}-{day:02}")
}

fn timestamp_text(timestamp: &Timestamp) -> String {
    let Timestamp { date, hour, minute, second, microsecond, offset } = *timestamp;
    let mut text = format!("{}T{hour:02}:{minute:02}:{second:02}", date_text(date));
    if microsecond > 0 {
        let fraction = format!("{microsecond:06}");
        write!(text, ".{}", fraction.trim_end_matches('0')).expect("because text can grow");
    }
    match offset {
        None => {}
        Some(0) => text.push('Z'),
        Some(minutes) => {
            let sign = if minutes < 0 { '-' } else { '+' };
            let minutes = minutes.unsigned_abs();
            write!(text, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
                .expect("because text can grow");
        }
    }
    text
}
