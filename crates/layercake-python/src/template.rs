//! Replacement templates of Python's `re.sub`.

use std::borrow::Cow;
use std::fmt;

/// Python's limit on the number of groups.
const MAX_GROUP: usize = 1 << 30;

/// Template, split at its group references.
pub(super) struct Template<'t> {
    pieces: Vec<Piece<'t>>,
}

/// Part of a template.
pub(super) enum Piece<'t> {
    Text(Cow<'t, str>),
    Group(usize),
}

/// Reason why a string is not a valid template. The kinds contain parts of the string, so they are
/// secret if it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// Byte offset of the error in the template.
    pub at: usize,
    /// Kind of the error.
    pub kind: TemplateErrorKind,
}

/// Kind of a `TemplateError`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateErrorKind {
    /// A trailing backslash.
    TrailingBackslash,
    /// An unknown escape of a letter.
    BadEscape(char),
    /// An octal escape above `\377`.
    OctalTooLarge,
    /// `\g` without a complete `<name>` after it.
    UnclosedGroup,
    /// `\g<...>` with neither a name nor a number.
    BadGroupName(String),
    /// A name that is not a group of the pattern.
    UnknownGroup(String),
    /// A number that is not a group of the pattern.
    NoSuchGroup(usize),
}

impl<'t> Template<'t> {
    /// Creates a template that inserts `text` unchanged.
    pub(super) fn literal(text: &'t str) -> Self {
        Self {
            pieces: vec![Piece::Text(Cow::Borrowed(text))],
        }
    }

    /// Parses `text` for a pattern with `groups` groups.
    pub(super) fn parse(
        text: &'t str,
        groups: usize,
        named: impl Fn(&str) -> Option<usize>,
    ) -> Result<Self, TemplateError> {
        if !text.contains('\\') {
            return Ok(Self::literal(text));
        }
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            literal.push_str(&rest[..at]);
            let offset = text.len() - rest.len() + at;
            let fault = |kind| TemplateError { at: offset, kind };
            let (escape, length) = read_escape(&rest[at + 1..]).map_err(fault)?;
            rest = &rest[at + 1 + length..];
            let group = match escape {
                Escape::Text(character) => {
                    literal.push(character);
                    continue;
                }
                Escape::Literally(character) => {
                    literal.push('\\');
                    literal.push(character);
                    continue;
                }
                Escape::Group(group) => group,
                Escape::Named(name) => named(name)
                    .ok_or_else(|| fault(TemplateErrorKind::UnknownGroup(name.to_owned())))?,
            };
            if group > groups {
                return Err(fault(TemplateErrorKind::NoSuchGroup(group)));
            }
            pieces.push(Piece::Text(std::mem::take(&mut literal).into()));
            pieces.push(Piece::Group(group));
        }
        literal.push_str(rest);
        pieces.push(Piece::Text(literal.into()));
        Ok(Self { pieces })
    }

    pub(super) fn pieces(&self) -> &[Piece<'t>] {
        &self.pieces
    }
}

/// Escape sequence.
enum Escape<'t> {
    Text(char),
    /// The backslash is kept, as before `.`.
    Literally(char),
    Group(usize),
    Named(&'t str),
}

/// Parses the escape at the start of `rest`, the text after a backslash. Returns it with its
/// length.
fn read_escape(rest: &str) -> Result<(Escape<'_>, usize), TemplateErrorKind> {
    let Some(first) = rest.chars().next() else {
        return Err(TemplateErrorKind::TrailingBackslash);
    };
    let text = match first {
        'g' => return read_group(&rest[1..]).map(|(escape, length)| (escape, length + 1)),
        '0' => {
            let digits = leading(rest, 3, is_octal);
            return Ok((Escape::Text(octal(digits)?), digits.len()));
        }
        '1'..='9' => return read_number(rest),
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '\\' => '\\',
        _ if first.is_ascii_alphabetic() => return Err(TemplateErrorKind::BadEscape(first)),
        _ => return Ok((Escape::Literally(first), first.len_utf8())),
    };
    Ok((Escape::Text(text), 1))
}

/// Parses three octal digits as a character, otherwise one or two digits as a group.
fn read_number(rest: &str) -> Result<(Escape<'_>, usize), TemplateErrorKind> {
    let digits = leading(rest, 3, is_octal);
    if digits.len() == 3 {
        return Ok((Escape::Text(octal(digits)?), 3));
    }
    let digits = leading(rest, 2, |byte| byte.is_ascii_digit());
    let group = digits.parse().expect("one or two digits are a number");
    Ok((Escape::Group(group), digits.len()))
}

/// Parses `<name>` or `<number>`.
fn read_group(rest: &str) -> Result<(Escape<'_>, usize), TemplateErrorKind> {
    let inside = rest
        .strip_prefix('<')
        .ok_or(TemplateErrorKind::UnclosedGroup)?;
    let end = inside.find('>').ok_or(TemplateErrorKind::UnclosedGroup)?;
    let name = &inside[..end];
    if name.is_empty() {
        return Err(TemplateErrorKind::UnclosedGroup);
    }
    let length = end + 2;
    if super::translate::is_identifier(name) {
        return Ok((Escape::Named(name), length));
    }
    let group = super::translate::python_index(name);
    match group.ok_or_else(|| TemplateErrorKind::BadGroupName(name.to_owned()))? {
        group if group < MAX_GROUP => Ok((Escape::Group(group), length)),
        group => Err(TemplateErrorKind::NoSuchGroup(group)),
    }
}

fn leading(text: &str, most: usize, is: impl Fn(u8) -> bool) -> &str {
    &text[..text.bytes().take(most).take_while(|byte| is(*byte)).count()]
}

fn is_octal(byte: u8) -> bool {
    matches!(byte, b'0'..=b'7')
}

fn octal(digits: &str) -> Result<char, TemplateErrorKind> {
    let code = u8::from_str_radix(digits, 8).map_err(|_| TemplateErrorKind::OctalTooLarge)?;
    Ok(char::from(code))
}

impl fmt::Display for TemplateError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            TemplateErrorKind::TrailingBackslash => formatter.write_str("trailing backslash"),
            TemplateErrorKind::BadEscape(letter) => {
                write!(formatter, "unknown escape `\\{letter}`")
            }
            TemplateErrorKind::OctalTooLarge => {
                formatter.write_str("octal escape larger than `\\377`")
            }
            TemplateErrorKind::UnclosedGroup => {
                formatter.write_str("expected `<name>` after `\\g`")
            }
            TemplateErrorKind::BadGroupName(name) => {
                write!(
                    formatter,
                    "`{}` is not a valid group name",
                    name.escape_debug()
                )
            }
            TemplateErrorKind::UnknownGroup(name) => {
                write!(
                    formatter,
                    "the pattern has no group named `{}`",
                    name.escape_debug()
                )
            }
            TemplateErrorKind::NoSuchGroup(group) => {
                write!(formatter, "the pattern has no group {group}")
            }
        }
    }
}

impl std::error::Error for TemplateError {}
