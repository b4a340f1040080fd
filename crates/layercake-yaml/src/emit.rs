//! Writes nodes as readable YAML.
//!
//! The output parses to the same value, here and in PyYAML: keys keep their order, lists are
//! indented like their key, multi-line strings become block scalars, and quotes are used only if a
//! parser of YAML 1.1 or 1.2 needs them. serde-saphyr decides about quotes; the layout is
//! implemented here, because its serializer cannot write dates, sets, binary data or comments next
//! to a block.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use layercake_source::{FileId, Span};

use super::{Date, Key, Node, Timestamp, Value};

/// Options for writing a node.
#[derive(Clone, Copy, Default)]
pub struct EmitOptions<'a> {
    /// Whether secret nodes are written; otherwise each is replaced by `(hidden)`.
    pub show_secrets: bool,
    /// Comment after each leaf, based on the span of its source.
    pub origin: Option<&'a dyn Fn(Span) -> String>,
}

/// Replacement for a secret.
pub const HIDDEN: &str = "(hidden)";

/// Formats a node as YAML text, ending with a line break.
///
/// Shared nodes are expanded, so the text may be as long as
/// [`YamlLimit::NODES`](super::YamlLimit::NODES) allows.
pub fn to_yaml(node: &Node, options: &EmitOptions<'_>) -> String {
    let mut writer = Emitter {
        text: String::new(),
        options,
    };
    writer.node(node, EmitPosition::Root, 0);
    writer.text
}

/// Formats a scalar as plain text: `true`, `1.5`, `null`, dates in ISO form, binary data in base64,
/// and strings without quotes. A collection is formatted by [`to_yaml`].
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

/// Formats a node on one line, as a flow collection, truncated with an ellipsis to about
/// `max_chars` characters. Secrets are hidden.
pub fn to_flow(node: &Node, max_chars: usize) -> String {
    let mut text = String::new();
    write_flow(node, max_chars, &mut text);
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Appends `node` to `text`, and stops soon after `max_chars` is exceeded.
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
            write_flow_parts(
                ["{", "}"],
                entries.iter(),
                max_chars,
                text,
                |(key, value), text| {
                    text.push_str(&flow_token(&key.value));
                    text.push_str(": ");
                    write_flow(value, max_chars, text);
                },
            );
        }
        Value::Set(keys) => {
            write_flow_parts(
                ["!!set {", "}"],
                keys.iter(),
                max_chars,
                text,
                |key, text| {
                    text.push_str(&flow_token(&key.value));
                },
            );
        }
        Value::Pairs(pairs) => {
            write_flow_parts(
                ["!!pairs [", "]"],
                pairs.iter(),
                max_chars,
                text,
                |pair, text| {
                    write_flow(&pair.0, max_chars, text);
                    text.push_str(": ");
                    write_flow(&pair.1, max_chars, text);
                },
            );
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
    // A character has at most four bytes: any further text would be truncated.
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

/// Formats a scalar, quoted if necessary in a flow collection.
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

/// Position of the next node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EmitPosition {
    /// Start of the text.
    Root,
    /// After the colon of a key.
    Key,
    /// After `-`, `?`, or the `:` that follows a `?`.
    Indicator,
}

/// Indentation in spaces.
const STEP: usize = 2;

/// Maximum length of a key without `?`: parsers look for the colon in at most 1024 characters.
const LONGEST_SIMPLE_KEY: usize = 1000;

impl Emitter<'_> {
    /// Writes a node; `indent` is the indentation of the preceding key or indicator.
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
                let indent = if place == EmitPosition::Indicator {
                    indent + STEP
                } else {
                    indent
                };
                self.indent(indent);
                self.lines(pairs.iter(), indent, Self::pair);
            }
            Value::Set(keys) => {
                self.tag("!!set", place);
                let indent = if place == EmitPosition::Root {
                    indent
                } else {
                    indent + STEP
                };
                self.indent(indent);
                self.lines(keys.iter(), indent, Self::member);
            }
            Value::String(text) if is_block(text, place) => {
                self.block(text, place, indent, node.span);
            }
            scalar => self.leaf(&token(scalar), place, node.span),
        }
    }

    /// Writes the content of each line; the cursor is at the position of the first.
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

    /// Writes an element of `!!pairs`: a mapping with one entry, whose key may be anything.
    fn pair(&mut self, (key, node): &(Node, Node), indent: usize) {
        self.text.push_str("- ");
        let indent = indent + STEP;
        let hidden = key.secret && !self.options.show_secrets;
        if !hidden && key.value.is_scalar() {
            return self.entry(
                (
                    &Key {
                        value: key.value.clone(),
                        span: key.span,
                    },
                    node,
                ),
                indent,
            );
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

    /// Writes a list, indented like its key or directly after an indicator.
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

    /// Writes a multi-line string, line by line below `|`.
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
        self.text
            .push_str(text[body.len()..].strip_prefix('\n').unwrap_or(""));
    }

    fn end_line(&mut self, span: Span) {
        if let Some(origin) = self.options.origin {
            self.text.push_str("  # ");
            self.text.extend(
                origin(span)
                    .chars()
                    .map(|it| if is_printable(it) { it } else { ' ' }),
            );
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

/// Formats a scalar on one line, quoted if necessary.
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
        .expect("writing to a string cannot fail");
    token.truncate(token.trim_end_matches('\n').len());
    token
}

/// Whether a string is written as a block: several lines, and no character that needs an escape.
fn is_block(text: &str, place: EmitPosition) -> bool {
    let body = text.trim_end_matches('\n');
    let fits = place != EmitPosition::Root || !needs_indent_indicator(body);
    fits && text.contains('\n')
        && !body.is_empty()
        && text
            .chars()
            .all(|it| it == '\n' || it == '\t' || is_printable(it))
}

/// Parsers derive the indentation from the first non-empty line, so it must not begin with white
/// space.
fn needs_indent_indicator(body: &str) -> bool {
    body.trim_start_matches('\n').starts_with([' ', '\t'])
}

/// Whether a character may be written unescaped, also for YAML 1.1.
fn is_printable(character: char) -> bool {
    !character.is_control()
        && !matches!(
            character,
            '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}'
        )
}

/// Formats a float like PyYAML's `represent_float`: the shortest digits that parse back, with a dot
/// and a signed exponent, because YAML 1.1 otherwise parses a string.
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

/// Formats a finite float like Python's `repr`: the fewest digits that parse back, with an exponent
/// below 1e-4 and from 1e16.
pub fn finite_float_text(float: f64) -> String {
    let scientific = format!("{float:e}");
    let (digits, exponent) = scientific
        .split_once('e')
        .expect("`{:e}` writes an exponent");
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
    let Timestamp {
        date,
        hour,
        minute,
        second,
        microsecond,
        offset,
    } = *timestamp;
    let mut text = format!("{}T{hour:02}:{minute:02}:{second:02}", date_text(date));
    if microsecond > 0 {
        let fraction = format!("{microsecond:06}");
        write!(text, ".{}", fraction.trim_end_matches('0'))
            .expect("writing to a string cannot fail");
    }
    match offset {
        None => {}
        Some(0) => text.push('Z'),
        Some(minutes) => {
            let sign = if minutes < 0 { '-' } else { '+' };
            let minutes = minutes.unsigned_abs();
            write!(text, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
                .expect("writing to a string cannot fail");
        }
    }
    text
}
