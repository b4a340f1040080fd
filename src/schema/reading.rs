//! Parser for schemas, keyword by keyword: determines the usable part and the problems.
//!
//! Keywords of Draft 4 are used where they have an effect; invalid parts are removed, which accepts
//! anything there.

use std::collections::HashSet;

use indexmap::map::Entry as Slot;
use indexmap::{IndexMap, IndexSet};
use jsonschema::canonical::json::to_string as canonical;
use serde_json::{Map, Value as Json};

use super::tree::{self, name_of};
use crate::merge::pattern::Patterns;
use crate::near::nearest;
use crate::source::Span;
use crate::yaml::path::{Location, Piece, inside};
use crate::yaml::{Key, Mapping, Node, Value};

/// A problem of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaProblem {
    /// Span of the keyword or invalid value.
    pub span: Span,
    /// Location in the schema.
    pub(crate) location: Location,
    /// Kind of problem.
    pub fault: SchemaFault,
}

/// Kinds of [`SchemaProblem`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaFault {
    /// An unknown keyword.
    UnknownKeyword {
        /// Keyword as written.
        keyword: String,
        /// Keyword with similar spelling.
        near: Option<&'static str>,
    },
    /// An unknown keyword whose value is a schema: it belongs in `properties`.
    MisplacedProperty {
        /// Keyword as written.
        property: String,
    },
    /// A keyword of a draft other than 4, which is ignored.
    ForeignKeyword {
        /// Keyword as written.
        keyword: String,
        /// Draft that defines it.
        draft: &'static str,
    },
    /// A keyword beside `$ref`, which is ignored.
    BesideReference {
        /// Keyword as written.
        keyword: String,
    },
    /// A keyword for values of a type that the schema rejects.
    NeverApplies {
        /// Keyword as written.
        keyword: String,
        /// Type that the keyword applies to.
        about: &'static str,
        /// Types that the schema allows, as written.
        allowed: Vec<String>,
    },
    /// A reference within this schema without a target.
    UnresolvedReference {
        /// Reference as written.
        reference: String,
    },
    /// A reference that leads back to itself without descending into a value.
    EndlessReference,
    /// A reference to another document, which is not fetched.
    RemoteReference {
        /// Reference as written.
        reference: String,
        /// Whether the target is a meta-schema, which Deckhand's validator has.
        is_meta_schema: bool,
    },
    /// A pattern that is not a valid regular expression.
    InvalidPattern {
        /// Pattern as written.
        pattern: String,
        /// Error of the parser.
        reason: String,
    },
    /// A keyword with a value that Draft 4 does not allow.
    WrongValue {
        /// Keyword; empty for the schema itself.
        keyword: String,
        /// Expected form.
        expected: &'static str,
    },
    /// A keyword that requires another one beside it.
    Unpaired {
        /// Keyword as written.
        keyword: &'static str,
        /// Required keyword.
        needs: &'static str,
    },
    /// The schema exceeds one of [`Schema`](super::Schema)'s limits and is not used.
    TooLarge,
    /// Any other rejection by the validator.
    Unusable {
        /// Error message of the validator.
        reason: String,
    },
}

impl SchemaProblem {
    /// Problem of a schema that the validator rejected at a JSON pointer.
    pub(super) fn unusable(root: &Node, pointer: &str, reason: &str) -> Self {
        let location = tree::location(root, pointer);
        let span = location.get(root).map_or(root.span, |node| node.span);
        Self {
            span,
            location,
            fault: SchemaFault::Unusable {
                reason: reason.to_owned(),
            },
        }
    }
}

/// Form of a keyword's value.
#[derive(Clone, Copy)]
enum KeywordForm {
    /// Any value, without an effect.
    Note,
    /// String without an effect.
    Text,
    Schema,
    SchemaOrBool,
    SchemaOrList,
    List,
    Named,
    ByPattern,
    Dependencies,
    Definitions,
    Reference,
    Pattern,
    Number,
    Positive,
    Count,
    Flag {
        beside: &'static str,
    },
    AnyFlag,
    Required,
    Type,
    Enum,
}

/// Keywords of Draft 4, each with the type that it applies to.
const KEYWORDS: &[(&str, KeywordForm, Option<&str>)] = &[
    ("$ref", KeywordForm::Reference, None),
    ("$schema", KeywordForm::Text, None),
    ("additionalItems", KeywordForm::SchemaOrBool, Some("array")),
    (
        "additionalProperties",
        KeywordForm::SchemaOrBool,
        Some("object"),
    ),
    ("allOf", KeywordForm::List, None),
    ("anyOf", KeywordForm::List, None),
    ("default", KeywordForm::Note, None),
    ("definitions", KeywordForm::Definitions, None),
    ("dependencies", KeywordForm::Dependencies, Some("object")),
    ("description", KeywordForm::Text, None),
    ("enum", KeywordForm::Enum, None),
    (
        "exclusiveMaximum",
        KeywordForm::Flag { beside: "maximum" },
        Some("number"),
    ),
    (
        "exclusiveMinimum",
        KeywordForm::Flag { beside: "minimum" },
        Some("number"),
    ),
    ("format", KeywordForm::Text, None),
    ("id", KeywordForm::Text, None),
    ("items", KeywordForm::SchemaOrList, Some("array")),
    ("maxItems", KeywordForm::Count, Some("array")),
    ("maxLength", KeywordForm::Count, Some("string")),
    ("maxProperties", KeywordForm::Count, Some("object")),
    ("maximum", KeywordForm::Number, Some("number")),
    ("minItems", KeywordForm::Count, Some("array")),
    ("minLength", KeywordForm::Count, Some("string")),
    ("minProperties", KeywordForm::Count, Some("object")),
    ("minimum", KeywordForm::Number, Some("number")),
    ("multipleOf", KeywordForm::Positive, Some("number")),
    ("not", KeywordForm::Schema, None),
    ("oneOf", KeywordForm::List, None),
    ("pattern", KeywordForm::Pattern, Some("string")),
    ("patternProperties", KeywordForm::ByPattern, Some("object")),
    ("properties", KeywordForm::Named, Some("object")),
    // An extension to Draft 4: validators skip it, and `system::heat` reads it.
    ("property_groups", KeywordForm::Note, Some("object")),
    ("required", KeywordForm::Required, Some("object")),
    ("title", KeywordForm::Text, None),
    ("type", KeywordForm::Type, None),
    ("uniqueItems", KeywordForm::AnyFlag, Some("array")),
];

/// Keywords of other drafts that affect validation there, and their drafts.
const FOREIGN: &[(&str, &str)] = &[
    ("$anchor", "2019-09"),
    ("$defs", "2019-09"),
    ("$dynamicRef", "2020-12"),
    ("$id", "6"),
    ("const", "6"),
    ("contains", "6"),
    ("contentEncoding", "7"),
    ("contentMediaType", "7"),
    ("dependentRequired", "2019-09"),
    ("dependentSchemas", "2019-09"),
    ("disallow", "3"),
    ("divisibleBy", "3"),
    ("else", "7"),
    ("extends", "3"),
    ("if", "7"),
    ("maxContains", "2019-09"),
    ("minContains", "2019-09"),
    ("prefixItems", "2020-12"),
    ("propertyNames", "6"),
    ("then", "7"),
    ("unevaluatedItems", "2019-09"),
    ("unevaluatedProperties", "2019-09"),
];

/// Annotation keywords of later drafts.
const NOTES: &[&str] = &[
    "$comment",
    "deprecated",
    "examples",
    "readOnly",
    "writeOnly",
];

/// Keywords that have an effect beside `$ref`.
const ASIDES: &[&str] = &[
    "$ref",
    "$schema",
    "default",
    "definitions",
    "description",
    "id",
    "title",
];

const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

/// Usable part of a schema, and its problems.
pub(super) struct SchemaReading {
    pub(super) json: Json,
    pub(super) problems: Vec<SchemaProblem>,
}

/// Parses the schema at `root`.
pub(super) fn read(root: &Node, patterns: &Patterns) -> SchemaReading {
    let mut reader = SchemaReader {
        root,
        here: Location::root(),
        targets: reference_targets(root),
        read: HashSet::new(),
        patterns,
        problems: Vec::new(),
    };
    let mut json = reader.schema(root, root.span, "").unwrap_or_else(anything);
    // The target of a reference is a schema, wherever it is.
    let targets = reader.targets.clone();
    for (pointer, target) in targets {
        if reader.read.contains(&target) {
            continue;
        }
        let Some(node) = target.get(root) else {
            continue;
        };
        reader.here.clone_from(&target);
        let read = reader.schema(node, node.span, "").unwrap_or_else(anything);
        if let Some(place) = json.pointer_mut(&pointer) {
            *place = read;
        }
    }
    SchemaReading {
        json,
        problems: reader.problems,
    }
}

/// Removes the value at a JSON pointer from a schema; returns whether it was found.
pub(super) fn take_out(json: &mut Json, pointer: &str) -> bool {
    let Some((around, last)) = pointer.rsplit_once('/') else {
        return false;
    };
    let name = last.replace("~1", "/").replace("~0", "~");
    match json.pointer_mut(around) {
        Some(Json::Object(entries)) => entries.shift_remove(&name).is_some(),
        Some(Json::Array(items)) => {
            let item = name
                .parse()
                .ok()
                .and_then(|index: usize| items.get_mut(index));
            item.map(|item| *item = anything()).is_some()
        }
        _ => false,
    }
}

/// Creates a schema that accepts everything.
fn anything() -> Json {
    Json::Object(Map::new())
}

/// Locations in `root` that references point to, with their JSON pointers.
pub(super) fn reference_targets(root: &Node) -> Vec<(String, Location)> {
    let mut targets = Vec::new();
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if let Some(target) = node
            .get("$ref")
            .and_then(Node::as_str)
            .and_then(local_pointer)
            && let Some(place) = resolve(root, &target)
        {
            targets.push((target, place));
        }
        open.extend(inside(node));
    }
    targets.sort_by(|(one, _), (other, _)| one.cmp(other));
    targets.dedup_by(|(one, _), (other, _)| one == other);
    targets
}

/// Target of a reference in the schema at `root`; `None` if it is outside of the schema or cannot
/// be a schema.
pub(crate) fn reference_target(root: &Node, reference: &str) -> Option<Location> {
    resolve(root, &local_pointer(without_own_id(root, reference))?)
}

/// Strips the schema's own `id` from a reference.
fn without_own_id<'r>(root: &Node, reference: &'r str) -> &'r str {
    let own = root
        .get("id")
        .and_then(Node::as_str)
        .map(|id| id.trim_end_matches('#'))
        .filter(|own| !own.is_empty());
    own.and_then(|own| reference.strip_prefix(own))
        .unwrap_or(reference)
}

/// Whether a reference points to or into a meta-schema of JSON Schema.
fn is_meta_schema(reference: &str) -> bool {
    let (address, _) = reference.split_once('#').unwrap_or((reference, ""));
    let path = ["http://", "https://"]
        .iter()
        .find_map(|scheme| address.strip_prefix(scheme))
        .and_then(|path| path.strip_prefix("json-schema.org/"));
    path.is_some_and(|path| {
        let draft = path.strip_suffix("/schema").unwrap_or_default();
        [
            "draft-03",
            "draft-04",
            "draft-06",
            "draft-07",
            "draft/2019-09",
            "draft/2020-12",
        ]
        .contains(&draft)
    })
}

/// JSON pointer of a reference within the schema.
pub(super) fn local_pointer(reference: &str) -> Option<String> {
    let fragment = reference.strip_prefix('#')?;
    let pointer = percent_decoded(fragment)?;
    (pointer.is_empty() || pointer.starts_with('/')).then_some(pointer)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// Mapping at a JSON pointer.
pub(super) fn resolve(root: &Node, pointer: &str) -> Option<Location> {
    let place = tree::location(root, pointer);
    let whole = place.0.len() == pointer.split('/').count() - 1;
    (whole && place.get(root)?.as_mapping().is_some()).then_some(place)
}

struct SchemaReader<'a> {
    root: &'a Node,
    /// Root of the schema.
    here: Location,
    /// Targets of references.
    targets: Vec<(String, Location)>,
    /// Targets parsed so far.
    read: HashSet<Location>,
    patterns: &'a Patterns,
    problems: Vec<SchemaProblem>,
}

/// A keyword and its value.
#[derive(Clone, Copy)]
struct KeywordEntry<'a> {
    key: &'a Key,
    name: &'a str,
    value: &'a Node,
}

impl SchemaReader<'_> {
    /// Usable part of the schema at `node`. If it is not a mapping, reports it at `span` as the
    /// value of `keyword`.
    fn schema(&mut self, node: &Node, span: Span, keyword: &str) -> Option<Json> {
        let Some(mapping) = node.as_mapping() else {
            self.wrong(span, keyword, "a mapping that is a schema");
            return None;
        };
        if self.targets.iter().any(|(_, target)| *target == self.here) {
            self.read.insert(self.here.clone());
        }
        let mut json = Map::new();
        for (key, value) in mapping.iter() {
            let Some(name) = key.as_str() else {
                let keyword = tree::shown_name(&name_of(key)).to_owned();
                self.add_problem(
                    key.span,
                    SchemaFault::UnknownKeyword {
                        keyword,
                        near: None,
                    },
                );
                continue;
            };
            let entry = KeywordEntry { key, name, value };
            self.here.0.push(Piece::Key(key.clone()));
            match KEYWORDS.iter().find(|(known, ..)| *known == name) {
                Some((_, form, about)) => {
                    let before = self.problems.len();
                    self.keyword(entry, *form, mapping, &mut json);
                    // Invalid keywords are reported separately.
                    if self.problems[before..].iter().all(|it| it.span != key.span) {
                        self.review(entry, *about, mapping);
                    }
                }
                None => self.unknown(entry, mapping, &mut json),
            }
            self.here.0.pop();
        }
        Some(Json::Object(json))
    }

    /// Reports a keyword that has no effect. It is still parsed, because references may point into
    /// it.
    fn review(&mut self, entry: KeywordEntry<'_>, about: Option<&'static str>, around: &Mapping) {
        let keyword = entry.name.to_owned();
        if around.get("$ref").and_then(Node::as_str).is_some() {
            if !ASIDES.contains(&entry.name) {
                self.add_problem(entry.key.span, SchemaFault::BesideReference { keyword });
            }
        } else if let (Some(about), Some(kind)) = (about, around.get("type"))
            && !allows(kind, about)
        {
            let allowed = type_names(kind).map(str::to_owned).collect();
            self.add_problem(
                entry.key.span,
                SchemaFault::NeverApplies {
                    keyword,
                    about,
                    allowed,
                },
            );
        }
    }

    fn keyword(
        &mut self,
        entry: KeywordEntry<'_>,
        form: KeywordForm,
        around: &Mapping,
        json: &mut Map<String, Json>,
    ) {
        let read = match form {
            KeywordForm::Note => None,
            KeywordForm::Text => {
                self.text(entry);
                None
            }
            KeywordForm::Schema => self.schema(entry.value, entry.key.span, entry.name),
            KeywordForm::SchemaOrBool => match &entry.value.value {
                Value::Bool(bool) => Some(Json::Bool(*bool)),
                Value::Mapping(_) => self.schema(entry.value, entry.key.span, entry.name),
                _ => self.refuse(entry, "a schema, `true` or `false`"),
            },
            KeywordForm::SchemaOrList => match &entry.value.value {
                Value::Sequence(_) => self.list(entry),
                _ => self.schema(entry.value, entry.key.span, entry.name),
            },
            KeywordForm::List => self.list(entry),
            KeywordForm::Named | KeywordForm::Definitions => self.named(entry),
            KeywordForm::ByPattern => {
                json.insert(tree::ONLY_TEXT_KEYS.to_owned(), Json::Bool(true));
                self.by_pattern(entry)
            }
            KeywordForm::Dependencies => self.dependencies(entry),
            KeywordForm::Reference => self.reference(entry, json),
            KeywordForm::Pattern => {
                let pattern = self.pattern(entry);
                json.extend(pattern.map(|pattern| (tree::PATTERN.to_owned(), pattern)));
                None
            }
            KeywordForm::Number => self.number(entry, |_| true, "a number"),
            KeywordForm::Positive => self.number(entry, |number| number > 0.0, "a number above 0"),
            KeywordForm::Count => self.count(entry),
            KeywordForm::AnyFlag => self.flag(entry),
            KeywordForm::Flag { beside } => self.limit_flag(entry, beside, around),
            KeywordForm::Required => self.names(entry),
            KeywordForm::Type => {
                let plain = matches!(entry.value.value, Value::Sequence(_));
                let plain = plain && allows(entry.value, "integer");
                json.extend(plain.then(|| (tree::ONLY_JSON.to_owned(), Json::Bool(true))));
                self.types(entry)
            }
            KeywordForm::Enum => self.options(entry),
        };
        json.extend(read.map(|read| (entry.name.to_owned(), read)));
    }

    fn unknown(&mut self, entry: KeywordEntry<'_>, around: &Mapping, json: &mut Map<String, Json>) {
        let contains_target = self
            .targets
            .iter()
            .any(|(_, target)| target.starts_with(&self.here));
        if contains_target {
            // Targets of references in here are parsed later.
            json.insert(entry.name.to_owned(), tree::to_json(entry.value));
        }
        if NOTES.contains(&entry.name) || entry.name.starts_with("x-") {
            return;
        }
        let keyword = entry.name.to_owned();
        if let Some((_, draft)) = FOREIGN.iter().find(|(name, _)| *name == entry.name) {
            if !contains_target {
                self.add_problem(
                    entry.key.span,
                    SchemaFault::ForeignKeyword { keyword, draft },
                );
            }
            return;
        }
        let near = nearest(entry.name, KEYWORDS.iter().map(|(name, ..)| *name))
            .filter(|near| around.get(*near).is_none());
        let fault = if near.is_none() && looks_like_schema(entry.value) {
            SchemaFault::MisplacedProperty { property: keyword }
        } else if contains_target {
            return;
        } else {
            SchemaFault::UnknownKeyword { keyword, near }
        };
        self.add_problem(entry.key.span, fault);
    }

    fn text(&mut self, entry: KeywordEntry<'_>) {
        if entry.value.as_str().is_none() {
            self.refuse(entry, "a string");
        }
    }

    fn list(&mut self, entry: KeywordEntry<'_>) -> Option<Json> {
        let items = entry.value.as_sequence().filter(|items| !items.is_empty());
        let Some(items) = items else {
            return self.refuse(entry, "a list of schemas");
        };
        let mut read = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            self.here.0.push(Piece::Index(index));
            read.push(
                self.schema(item, item.span, entry.name)
                    .unwrap_or_else(anything),
            );
            self.here.0.pop();
        }
        Some(Json::Array(read))
    }

    fn named(&mut self, entry: KeywordEntry<'_>) -> Option<Json> {
        let Some(named) = entry.value.as_mapping() else {
            return self.refuse(entry, "a mapping of names to schemas");
        };
        let mut read = Map::new();
        for (key, value) in named.iter() {
            self.here.0.push(Piece::Key(key.clone()));
            let name = name_of(key);
            let title = format!("{}.{}", entry.name, tree::shown_name(&name));
            let schema = self
                .schema(value, key.span, &title)
                .unwrap_or_else(anything);
            read.insert(name.into_owned(), schema);
            self.here.0.pop();
        }
        Some(Json::Object(read))
    }

    fn by_pattern(&mut self, entry: KeywordEntry<'_>) -> Option<Json> {
        let Json::Object(mut read) = self.named(entry)? else {
            unreachable!("names and schemas are an object")
        };
        let keys = entry.value.as_mapping().into_iter().flat_map(Mapping::keys);
        for key in keys.filter(|key| !self.is_pattern(key.span, key.as_str())) {
            read.shift_remove(&*name_of(key));
        }
        Some(Json::Object(read))
    }

    fn dependencies(&mut self, entry: KeywordEntry<'_>) -> Option<Json> {
        let Some(named) = entry.value.as_mapping() else {
            return self.refuse(entry, "a mapping of names to schemas or lists of names");
        };
        let mut read = Map::new();
        for (key, value) in named.iter() {
            self.here.0.push(Piece::Key(key.clone()));
            let inner = KeywordEntry {
                key,
                name: entry.name,
                value,
            };
            let dependency = match &value.value {
                Value::Sequence(_) => self.names(inner),
                _ => self.schema(value, key.span, entry.name),
            };
            read.extend(dependency.map(|read| (name_of(key).into_owned(), read)));
            self.here.0.pop();
        }
        Some(Json::Object(read))
    }

    fn reference(&mut self, entry: KeywordEntry<'_>, json: &mut Map<String, Json>) -> Option<Json> {
        let Some(reference) = entry.value.as_str() else {
            return self.refuse(entry, "a string");
        };
        let local = without_own_id(self.root, reference);
        let text = reference.to_owned();
        if !local.starts_with('#') && !local.is_empty() {
            let is_meta_schema = is_meta_schema(local);
            let fault = SchemaFault::RemoteReference {
                reference: text,
                is_meta_schema,
            };
            self.add_problem(entry.value.span, fault);
            if !is_meta_schema {
                json.insert(tree::DEAD_REFERENCE.to_owned(), Json::Bool(true));
            }
            return None;
        }
        let pointer = local_pointer(local);
        if pointer.is_none_or(|pointer| resolve(self.root, &pointer).is_none()) {
            self.add_problem(
                entry.value.span,
                SchemaFault::UnresolvedReference { reference: text },
            );
            json.insert(tree::DEAD_REFERENCE.to_owned(), Json::Bool(true));
            return None;
        }
        Some(Json::String(local.to_owned()))
    }

    fn pattern(&mut self, entry: KeywordEntry<'_>) -> Option<Json> {
        let Some(text) = entry.value.as_str() else {
            return self.refuse(entry, "a string");
        };
        self.is_pattern(entry.value.span, Some(text))
            .then(|| Json::String(text.to_owned()))
    }

    fn is_pattern(&mut self, span: Span, text: Option<&str>) -> bool {
        let Some(text) = text else { return false };
        let Err(error) = self.patterns.parse(text) else {
            return true;
        };
        let fault = SchemaFault::InvalidPattern {
            pattern: text.to_owned(),
            reason: error.message,
        };
        self.add_problem(span, fault);
        false
    }

    fn number(
        &mut self,
        entry: KeywordEntry<'_>,
        holds: impl Fn(f64) -> bool,
        expected: &'static str,
    ) -> Option<Json> {
        let Json::Number(number) = tree::to_json(entry.value) else {
            return self.refuse(entry, expected);
        };
        if !number.as_f64().is_some_and(holds) {
            return self.refuse(entry, expected);
        }
        Some(Json::Number(number))
    }

    fn count(&mut self, entry: KeywordEntry<'_>) -> Option<Json> {
        match entry.value.value {
            Value::Int(count) if count >= 0 => Some(Json::from(count)),
            _ => self.refuse(entry, "a whole number, 0 or above"),
        }
    }

    fn flag(&mut self, entry: KeywordEntry<'_>) -> Option<Json> {
        match entry.value.value {
            Value::Bool(bool) => Some(Json::Bool(bool)),
            _ => self.refuse(entry, "`true` or `false`"),
        }
    }

    fn limit_flag(
        &mut self,
        entry: KeywordEntry<'_>,
        beside: &'static str,
        around: &Mapping,
    ) -> Option<Json> {
        if !matches!(entry.value.value, Value::Bool(_)) {
            let expected = "`true` or `false` in Draft 4, beside the limit itself";
            return self.refuse(entry, expected);
        }
        if around.get(beside).is_none() {
            let keyword = if beside == "minimum" {
                "exclusiveMinimum"
            } else {
                "exclusiveMaximum"
            };
            self.add_problem(
                entry.key.span,
                SchemaFault::Unpaired {
                    keyword,
                    needs: beside,
                },
            );
            return None;
        }
        self.flag(entry)
    }

    /// Checks a list of names, as for `required`.
    fn names(&mut self, entry: KeywordEntry<'_>) -> Option<Json> {
        const EXPECTED: &str = "a list of different strings, not empty";
        let items = entry.value.as_sequence().filter(|items| !items.is_empty());
        let Some(items) = items else {
            return self.refuse(entry, EXPECTED);
        };
        let mut names: IndexSet<&str> = IndexSet::with_capacity(items.len());
        for item in items {
            if !item.as_str().is_some_and(|name| names.insert(name)) {
                self.wrong(item.span, entry.name, EXPECTED);
            }
        }
        (!names.is_empty()).then(|| names.into_iter().collect())
    }

    fn types(&mut self, entry: KeywordEntry<'_>) -> Option<Json> {
        const EXPECTED: &str = "one or several of `array`, `boolean`, `integer`, `null`, \
                                `number`, `object`, `string`";
        let one = std::slice::from_ref(entry.value);
        let items = entry.value.as_sequence().unwrap_or(one);
        let mut types: Vec<&str> = Vec::with_capacity(items.len());
        for item in items {
            match item.as_str() {
                Some(name) if TYPES.contains(&name) && !types.contains(&name) => types.push(name),
                _ => self.wrong(item.span, entry.name, EXPECTED),
            }
        }
        if items.is_empty() {
            self.wrong(entry.key.span, entry.name, EXPECTED);
        }
        match types[..] {
            // With an invalid type, the intended types are unknown.
            _ if types.len() < items.len() => None,
            [] => None,
            [only] if entry.value.as_str().is_some() => Some(Json::from(only)),
            _ => Some(Json::from(types)),
        }
    }

    fn options(&mut self, entry: KeywordEntry<'_>) -> Option<Json> {
        const EXPECTED: &str = "a list of different values, not empty";
        let items = entry.value.as_sequence().filter(|items| !items.is_empty());
        let Some(items) = items else {
            return self.refuse(entry, EXPECTED);
        };
        let mut options = IndexMap::with_capacity(items.len());
        for item in items {
            let option = tree::to_json(item);
            // Deckhand's validator treats `1` and `1.0` as equal.
            let text = canonical(&option).unwrap_or_else(|_too_deep| option.to_string());
            match options.entry(text) {
                Slot::Occupied(_) => self.wrong(item.span, entry.name, EXPECTED),
                Slot::Vacant(slot) => _ = slot.insert(option),
            }
        }
        Some(options.into_values().collect())
    }

    fn refuse(&mut self, entry: KeywordEntry<'_>, expected: &'static str) -> Option<Json> {
        self.wrong(entry.key.span, entry.name, expected);
        None
    }

    fn wrong(&mut self, span: Span, keyword: &str, expected: &'static str) {
        self.add_problem(
            span,
            SchemaFault::WrongValue {
                keyword: keyword.to_owned(),
                expected,
            },
        );
    }

    fn add_problem(&mut self, span: Span, fault: SchemaFault) {
        self.problems.push(SchemaProblem {
            span,
            location: self.here.clone(),
            fault,
        });
    }
}

/// Whether a schema with this `type` accepts values of a type.
fn allows(kind: &Node, about: &str) -> bool {
    let is_it = |name: &str| name == about || (about == "number" && name == "integer");
    match (&kind.value, kind.as_sequence()) {
        (Value::String(name), _) => is_it(name) || !TYPES.contains(&&**name),
        (_, Some(items)) => items.iter().filter_map(Node::as_str).any(is_it),
        _ => true,
    }
}

/// Names in the value of `type`.
fn type_names(kind: &Node) -> impl Iterator<Item = &str> {
    let items = kind.as_sequence().unwrap_or(std::slice::from_ref(kind));
    items.iter().filter_map(Node::as_str)
}

/// Keywords that distinguish schemas from other mappings.
const SCHEMA_KEYWORDS: [&str; 8] = [
    "$ref",
    "allOf",
    "anyOf",
    "enum",
    "items",
    "oneOf",
    "properties",
    "type",
];

/// Whether the value is probably a schema.
fn looks_like_schema(node: &Node) -> bool {
    let mut keys = node.as_mapping().into_iter().flat_map(Mapping::keys);
    keys.any(|key| {
        key.as_str()
            .is_some_and(|name| SCHEMA_KEYWORDS.contains(&name))
    })
}
