//! Values as lines of YAML, enough of them to see what became what. Reports have
//! values as JSON, which is read here token by token: a number keeps its digits.

use indexmap::IndexMap;
use serde_json::value::RawValue;

use super::text::short;
use crate::report::json::ValueForm;
use crate::yaml::emit::HIDDEN;

/// So many lines of a value are shown.
const FEW: usize = 20;

/// Deeper values stand on one line, as JSON.
const DEEPEST: usize = 12;

/// Both sides of a change as a difference: lines that begin with `-` or `+`, and one
/// before them that says where they are from.
pub(super) fn difference(
    base: Option<&ValueForm>,
    head: Option<&ValueForm>,
    longest: usize,
) -> Vec<String> {
    let (note, base, head) = match (base.and_then(string), head.and_then(string)) {
        (Some(base), Some(head)) if base.contains('\n') || head.contains('\n') => {
            between(&base, &head)
        }
        (_, _) => (None, lines(base), lines(head)),
    };
    let focus = match (&base[..], &head[..]) {
        ([base], [head]) => {
            base.chars().zip(head.chars()).take_while(|(left, right)| left == right).count()
        }
        (_, _) => 0,
    };
    let side = |sign: char, lines: Vec<String>| {
        let shown = if lines.len() > FEW { FEW - 1 } else { lines.len() };
        let more = lines.len() - shown;
        let more = (more > 0).then(|| format!("{sign} (and {more} more lines)"));
        let lines = lines.into_iter().take(shown);
        let lines = lines.map(move |line| format!("{sign} {}", around(&line, focus, longest)));
        lines.chain(more).collect::<Vec<_>>()
    };
    let note = note.map(|note| format!("  ({note})"));
    note.into_iter().chain(side('-', base)).chain(side('+', head)).collect()
}

/// The text of a value that is a string.
fn string(value: &ValueForm) -> Option<String> {
    serde_json::from_str(value.value.as_ref()?.get()).ok()
}

/// What differs between two texts of several lines, and from which line on.
fn between(base: &str, head: &str) -> (Option<String>, Vec<String>, Vec<String>) {
    let (below, above): (Vec<&str>, Vec<&str>) = (base.lines().collect(), head.lines().collect());
    let front = below.iter().zip(&above).take_while(|(left, right)| left == right).count();
    let (below, above) = (&below[front..], &above[front..]);
    let ends = below.iter().rev().zip(above.iter().rev());
    let back = ends.take_while(|(left, right)| left == right).count();
    let (below, above) = (&below[..below.len() - back], &above[..above.len() - back]);
    let note = match (below, above) {
        ([], []) => "other line breaks at the end".to_owned(),
        _ => format!("from line {} of {}", front + 1, head.lines().count()),
    };
    let owned = |lines: &[&str]| lines.iter().map(|it| (*it).to_owned()).collect();
    (Some(note), owned(below), owned(above))
}

/// A value in lines.
fn lines(value: Option<&ValueForm>) -> Vec<String> {
    let Some(value) = value else { return Vec::new() };
    match (&value.value, &value.text) {
        (Some(json), text) => Writing::of(json, text.as_deref()),
        (None, _) if value.hidden == Some(true) => vec![HIDDEN.to_owned()],
        (None, _) if value.truncated == Some(true) => vec!["(too long to be shown)".to_owned()],
        (None, Some(text)) => vec![text.clone()],
        (None, None) => Vec::new(),
    }
}

/// A value on one line where it is longer than that: what is before the character
/// `focus` is cut, but for some of it.
fn around(line: &str, focus: usize, longest: usize) -> String {
    let start = focus.saturating_sub(longest / 3);
    let is_short = line.chars().nth(longest).is_none();
    if is_short || start == 0 {
        return short(line, longest).into_owned();
    }
    let rest: String = line.chars().skip(start).collect();
    format!("…{}", short(&rest, longest.saturating_sub(1)))
}

/// JSON as one of its kinds.
enum Token<'a> {
    Mapping(IndexMap<String, &'a RawValue>),
    Sequence(Vec<&'a RawValue>),
    Scalar(String),
}

impl<'a> Token<'a> {
    fn of(json: &'a RawValue) -> Self {
        let text = json.get();
        let read = match text.as_bytes().first() {
            Some(b'{') => serde_json::from_str(text).ok().map(Token::Mapping),
            Some(b'[') => serde_json::from_str(text).ok().map(Token::Sequence),
            Some(b'"') => {
                serde_json::from_str(text).ok().map(|it: String| Token::Scalar(plain(&it)))
            }
            Some(_) | None => None,
        };
        read.unwrap_or_else(|| Token::Scalar(text.to_owned()))
    }
}

/// Lines being written.
struct Writing {
    lines: Vec<String>,
}

impl Writing {
    /// A value in lines; `text` is what YAML writes where it is a scalar.
    fn of(json: &RawValue, text: Option<&str>) -> Vec<String> {
        let string: Option<String> = serde_json::from_str(json.get()).ok();
        match (text, string) {
            (Some(text), Some(string)) if text == string && text.contains('\n') => {
                return text.lines().map(str::to_owned).collect();
            }
            (Some(text), Some(string)) if text == string => return vec![plain(text)],
            (Some(text), _) => return vec![text.to_owned()],
            (None, _) => {}
        }
        let mut writing = Self { lines: Vec::new() };
        writing.write(json, 0, "", "");
        writing.lines
    }

    /// Writes a value behind `first`; its further lines are indented.
    fn write(&mut self, json: &RawValue, depth: usize, indent: &str, first: &str) {
        if depth == DEEPEST {
            return self.lines.push(format!("{first}{}", json.get()));
        }
        let (below, depth) = (format!("{indent}  "), depth + 1);
        match Token::of(json) {
            Token::Scalar(text) => self.lines.push(format!("{first}{text}")),
            Token::Mapping(entries) if entries.is_empty() => {
                self.lines.push(format!("{first}{{}}"));
            }
            Token::Sequence(items) if items.is_empty() => self.lines.push(format!("{first}[]")),
            Token::Mapping(entries) => {
                for (at, (key, value)) in entries.into_iter().enumerate() {
                    let before = if at == 0 { first } else { indent };
                    self.entry(&plain(&key), value, depth, &below, before);
                }
            }
            Token::Sequence(items) => {
                for (at, item) in items.into_iter().enumerate() {
                    let before = if at == 0 { first } else { indent };
                    self.write(item, depth, &below, &format!("{before}- "));
                }
            }
        }
    }

    /// Writes one entry of a mapping; what is in it stands below its key.
    fn entry(&mut self, key: &str, json: &RawValue, depth: usize, below: &str, before: &str) {
        let is_open = match Token::of(json) {
            Token::Mapping(entries) => !entries.is_empty(),
            Token::Sequence(items) => !items.is_empty(),
            Token::Scalar(_) => false,
        };
        if is_open && depth < DEEPEST {
            self.lines.push(format!("{before}{key}:"));
            self.write(json, depth, below, below);
        } else {
            self.write(json, depth, below, &format!("{before}{key}: "));
        }
    }
}

/// A string as it stands in YAML: in quotes where it would be read as something
/// else without them.
fn plain(text: &str) -> String {
    let is_word = |it: char| it.is_alphanumeric() || "_./-+@(),=%~ ".contains(it) || it == ':';
    let begins = text.starts_with(|it: char| it.is_alphabetic() || "/_.(".contains(it));
    let is_known = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        .contains(&&*text.to_ascii_lowercase());
    let is_number = text.parse::<f64>().is_ok()
        || text.starts_with('.')
            && text.len() > 1
            && text[1..].starts_with(|it: char| it.is_ascii_digit() || "iInN".contains(it));
    let is_plain = begins
        && text.chars().all(is_word)
        && !text.contains(": ")
        && !text.ends_with([':', ' '])
        && !is_known
        && !is_number;
    if is_plain { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("text can be written as JSON")
}

/// How much of a change is not shown, where values are left out.
pub(super) fn in_short(base: Option<&ValueForm>, head: Option<&ValueForm>) -> &'static str {
    match (base, head) {
        (None, Some(_)) => "added",
        (Some(_), None) => "removed",
        (Some(_), Some(_)) | (None, None) => "changed",
    }
}
