//! Answers: the JSON that a verb prints, as facts and entries, in pages.
//!
//! Of a verb's JSON, only the fields that are named here as layercake's own are outside of `untrusted`.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap};
use std::hash::{Hash as _, Hasher as _};
use std::io::{self, Write};

use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::Error;
use crate::report::printable_lines;

/// Maximum size of a page in bytes: 2,000 tokens of 4 bytes.
pub(super) const MAX_PAGE_BYTES: usize = 8_000;

/// Maximum size of an entry in bytes; facts and cursor are smaller than the rest of a page.
const MAX_ENTRY_BYTES: usize = 5_500;

/// Size of a part of a larger entry in bytes, before its quotes are escaped.
const PART_BYTES: usize = 2_600;

/// A JSON object. Its values stay text, so that each number has all of its digits.
pub(super) type Object = IndexMap<String, Box<RawValue>>;

/// Reason why an answer is not everything that there is to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    /// Without a base, findings are not known to be new.
    NotCompared,
    /// Outputs could not be compared.
    NotComparable,
    /// Sites, files or lists are left out.
    Limited,
    /// The reach of an edit was not decided within the limits.
    NotDecided,
    /// Requested documents are not rendered.
    NotRendered,
    /// Files could not be read to their end.
    Unread,
    /// layercake failed at a part.
    Failed,
}

impl Gap {
    fn as_str(self) -> &'static str {
        match self {
            Gap::NotCompared => "not_compared",
            Gap::NotComparable => "not_comparable",
            Gap::Limited => "limited",
            Gap::NotDecided => "not_decided",
            Gap::NotRendered => "not_rendered",
            Gap::Unread => "unread",
            Gap::Failed => "failed",
        }
    }
}

/// A complete answer.
#[derive(Default)]
pub(super) struct Answer {
    facts: Object,
    gaps: BTreeSet<Gap>,
    entries: Vec<Entry>,
    /// Entries that others refer to, by id: each precedes the first that does.
    definitions: IndexMap<String, Entry>,
    /// Number of entries with an id.
    ids: HashMap<String, usize>,
}

struct Entry {
    id: String,
    kind: &'static str,
    text: String,
}

impl Answer {
    pub(super) fn gap(&mut self, gap: Gap, is_there: bool) {
        if is_there {
            self.gaps.insert(gap);
        }
    }

    /// Takes over these fields, which have nothing of the repository.
    pub(super) fn facts(&mut self, printed: &mut Object, names: &str) {
        self.facts.extend(taken(printed, names));
    }

    /// Adds an entry with these fields of what was printed.
    pub(super) fn about(&mut self, printed: &mut Object, names: &str) {
        let about = taken(printed, names);
        let (_, entry) = self.made("about", "", about);
        self.entries.push(entry);
    }

    /// Adds the entries of a list. `own` are the fields that have nothing of the repository.
    pub(super) fn list(&mut self, kind: &'static str, own: &str, items: Vec<Object>) {
        for item in items {
            let (own, entry) = self.made(kind, own, item);
            for value in own.values() {
                let value = serde_json::from_str(value.get()).expect("it is JSON");
                self.place_definitions(&value);
            }
            self.entries.push(entry);
        }
    }

    /// Adds entries that are listed only if another one refers to them by their `id`.
    pub(super) fn define(&mut self, kind: &'static str, own: &str, items: Vec<Object>) {
        for item in items {
            let (_, entry) = self.made(kind, own, item);
            self.definitions.insert(entry.id.clone(), entry);
        }
    }

    fn place_definitions(&mut self, value: &Value) {
        match value {
            Value::String(id) => self.entries.extend(self.definitions.shift_remove(id)),
            Value::Array(items) => items.iter().for_each(|item| self.place_definitions(item)),
            Value::Object(fields) => fields.values().for_each(|it| self.place_definitions(it)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Own fields of an item, and its entry.
    fn made(&mut self, kind: &'static str, own: &str, mut item: Object) -> (Object, Entry) {
        let given = ["id", "fingerprint"].map(|name| item.shift_remove(name));
        let given = given.into_iter().flatten().next();
        let id = self.unique(kind, given.as_deref());
        let own = taken(&mut item, own);
        let mut entry = Object::from([field("id", &*id), field("entry", kind)]);
        entry.extend(own.clone());
        if !item.is_empty() {
            entry.insert("untrusted".to_owned(), raw(text_of(&item)));
        }
        let text = text_of(&entry);
        (own, Entry { id, kind, text })
    }

    /// The given id, with a number if it is repeated; or else the kind with a number from 0.
    fn unique(&mut self, kind: &str, given: Option<&RawValue>) -> String {
        let given = given.map(|id| serde_json::from_str(id.get()).expect("an id is a string"));
        let id: String = given.clone().unwrap_or_else(|| kind.to_owned());
        let before = self.ids.entry(id.clone()).or_default();
        *before += 1;
        match (given, *before) {
            (Some(id), 1) => id,
            (Some(id), number) => format!("{id}-{number}"),
            (None, number) => format!("{kind}-{}", number - 1),
        }
    }

    /// The page that begins at a cursor, as JSON.
    ///
    /// # Errors
    /// If the cursor is not of this answer, as after a change of the files.
    pub(super) fn page(self, cursor: Option<&str>) -> Result<String, Error> {
        let units: Vec<String> = self.entries.iter().flat_map(Entry::units).collect();
        let facts = text_of(&self.facts);
        let digest = digest(&facts, &units);
        let start = match cursor {
            Some(cursor) => index_of(cursor, digest)
                .filter(|index| *index < units.len())
                .ok_or_else(stale)?,
            None => 0,
        };
        // Names and punctuation of the page.
        let mut size = facts.len() + 300;
        let fitting = units[start..].iter().take_while(|unit| {
            size += unit.len() + 1;
            size <= MAX_PAGE_BYTES
        });
        let end = start + fitting.count();
        let gaps: Vec<&str> = self.gaps.iter().map(|gap| gap.as_str()).collect();
        let is_incomplete = |gap: &Gap| *gap != Gap::NotCompared;
        let complete = end == units.len() && !self.gaps.iter().any(is_incomplete);
        let facts = self.facts.into_iter().chain([
            field("gaps", gaps),
            field("complete", complete),
            field("entries_of_all_pages", self.entries.len()),
            (
                "entries".to_owned(),
                raw(format!("[{}]", units[start..end].join(","))),
            ),
        ]);
        let cursor = (end < units.len()).then(|| field("cursor", format!("{end:x}-{digest:x}")));
        Ok(text_of(&facts.chain(cursor).collect()))
    }
}

impl Entry {
    /// The entry, or its parts if it is too large for a page.
    fn units(&self) -> Vec<String> {
        if self.text.len() <= MAX_ENTRY_BYTES {
            return vec![self.text.clone()];
        }
        let mut parts = Vec::new();
        let mut rest = &*self.text;
        while !rest.is_empty() {
            let is_end = |at: &usize| rest.is_char_boundary(*at);
            let end = (1..=PART_BYTES.min(rest.len())).rev().find(is_end);
            let (part, after) = rest.split_at(end.expect("the end of a text is a boundary"));
            parts.push(part);
            rest = after;
        }
        let count = parts.len();
        let part = |(at, part): (usize, &str)| {
            text_of(&Object::from([
                field("id", &*self.id),
                field("entry", self.kind),
                field("piece", at + 1),
                field("pieces", count),
                (
                    "untrusted".to_owned(),
                    raw(text_of(&Object::from([field("json", part)]))),
                ),
            ]))
        };
        parts.into_iter().enumerate().map(part).collect()
    }
}

/// Removes these fields from an object: names with spaces between them.
fn taken(object: &mut Object, names: &str) -> Object {
    let fields = names.split(' ').filter_map(|name| {
        let value = object.shift_remove(name)?;
        Some((name.to_owned(), value))
    });
    fields.collect()
}

/// A field with a value.
pub(super) fn field(name: &str, value: impl Into<Value>) -> (String, Box<RawValue>) {
    (name.to_owned(), raw(value.into().to_string()))
}

fn raw(json: String) -> Box<RawValue> {
    RawValue::from_string(json).expect("it is JSON")
}

fn text_of(object: &Object) -> String {
    serde_json::to_string(object).expect("an object is JSON")
}

/// Objects of a list, which is removed; none without it.
pub(super) fn items(object: &mut Object, name: &str) -> Vec<Object> {
    let list = object.shift_remove(name);
    list.map_or_else(Vec::new, |list| {
        serde_json::from_str(list.get()).expect("the list has objects")
    })
}

/// The object that a verb prints. Harmful characters in its strings become visible escapes.
pub(super) fn printed(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Object {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("memory can be written");
    let text = String::from_utf8(bytes).expect("JSON is UTF-8");
    serde_json::from_str(&cleaned(&text)).expect("a verb prints an object")
}

fn cleaned(json: &str) -> String {
    let mut cleaned = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(start) = rest.find('"') {
        let (layout, text) = rest.split_at(start);
        let (text, after) = text.split_at(length_of_string(text));
        let text: String = serde_json::from_str(text).expect("it is a string");
        cleaned.extend(layout.split_ascii_whitespace());
        cleaned.push_str(&Value::from(printable_lines(&text)).to_string());
        rest = after;
    }
    cleaned.extend(rest.split_ascii_whitespace());
    cleaned
}

/// Length of the JSON string at the start of a text, with its quotes.
fn length_of_string(json: &str) -> usize {
    let mut is_escaped = true;
    let end = json.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.expect("a string ends") + 1
}

/// Digest of an answer, equal in each run of the same program.
fn digest(facts: &str, units: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (facts, units).hash(&mut hasher);
    hasher.finish()
}

/// The index in a cursor of an answer with this digest.
fn index_of(cursor: &str, digest: u64) -> Option<usize> {
    let (index, of) = cursor.split_once('-')?;
    let is_of_answer = u64::from_str_radix(of, 16).ok()? == digest;
    usize::from_str_radix(index, 16)
        .ok()
        .filter(|_| is_of_answer)
}

fn stale() -> Error {
    Error::usage("the cursor is not of this answer")
        .with_help("the arguments differ or files changed since: call again without `cursor`")
}
