//! Violations of a schema, as data.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value as Json;

use super::reading::reference_target;
use super::tree::{self, entry, name_of, shown_name};
use crate::near::nearest;
use crate::source::Span;
use crate::yaml::path::{Location, Piece};
use crate::yaml::{Key, Mapping, Node, Value};

/// One thing that a schema refuses of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The place in the value, as Deckhand's validator has it: of a key that is
    /// missing or may not be there, the mapping.
    pub location: Location,
    /// The violation.
    pub wrong: Wrong,
    /// The value there, shortened; none for a mapping or list, nor where it is secret.
    pub found: Option<String>,
    /// The keyword of the schema that refuses it.
    pub keyword: Span,
}

/// A reason why a schema refuses a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Another type of value.
    Type {
        /// The types it may have, in JSON Schema's words.
        expected: Vec<&'static str>,
        /// Its type, e.g. `a string`.
        found: &'static str,
    },
    /// A key that must be there is not.
    MissingKey {
        /// The key.
        key: String,
        /// A key that is there instead, which the schema does not name, and
        /// that is spelled nearly the same.
        near: Option<String>,
    },
    /// A key that may not be there.
    UnknownKey {
        /// The key; none where it is secret.
        key: Option<String>,
        /// A key that may be there and is spelled nearly the same.
        near: Option<String>,
        /// The place of its value.
        place: Location,
    },
    /// A value that a `$ref` is for that leads to nothing, or to what is not fetched.
    DeadReference,
    /// A key that is not a string, where keys are matched by patterns.
    KeyNoText,
    /// None of the values that are allowed.
    NotOneOf {
        /// The first of these, shortened; `Violation::MAX_OPTIONS` at most.
        options: Vec<String>,
        /// Their number.
        count: usize,
        /// One of them that is spelled nearly the same.
        near: Option<String>,
    },
    /// A text that a pattern does not match.
    Unmatched {
        /// The pattern.
        pattern: String,
    },
    /// A text for which matching a pattern takes too long.
    TooManySteps {
        /// The pattern.
        pattern: String,
    },
    /// A number, or how many of something, is beyond a limit.
    Beyond {
        /// The property that is counted or compared.
        bound: Bound,
        /// The limit, as it is written.
        limit: String,
    },
    /// A number that is no multiple.
    NoMultiple {
        /// The divisor.
        of: String,
    },
    /// A list holds a value twice.
    RepeatedItem,
    /// A list is longer than the schema lists items for.
    MoreItems {
        /// Maximum number allowed.
        most: usize,
    },
    /// None of the alternatives of `anyOf` or `oneOf`.
    NoAlternative {
        /// Their number.
        alternatives: usize,
        /// The nearest alternatives, which are several where they are equally near.
        nearest: Vec<Alternative>,
    },
    /// Several of the alternatives of `oneOf`, where only one may hold.
    SeveralAlternatives {
        /// The numbers of those that hold, from 1.
        fitting: Vec<usize>,
        /// The keys of the value that some of these are about, and others are not.
        keys: Vec<String>,
    },
    /// A value that `not` excludes.
    Excluded,
    /// Nothing is known: validating the value takes too much work.
    Unfinished,
    /// Anything else, or by a schema that is secret.
    Other,
}

/// A bound of [`Wrong::Beyond`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The number is too small.
    Minimum,
    /// The number is too small: it must be above the limit.
    ExclusiveMinimum,
    /// The number is too large.
    Maximum,
    /// The number is too large: it must be below the limit.
    ExclusiveMaximum,
    /// The text is too short.
    MinLength,
    /// The text is too long.
    MaxLength,
    /// The list is too short.
    MinItems,
    /// The list is too long.
    MaxItems,
    /// The mapping has too few keys.
    MinProperties,
    /// The mapping has too many keys.
    MaxProperties,
}

/// One of the alternatives of `anyOf` or `oneOf`, which refuses a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Its number, from 1.
    pub number: usize,
    /// Its violations; [`Violation::MAX_NEAREST`] at most.
    pub violations: Vec<Violation>,
    /// Number of further violations.
    pub(crate) more: usize,
}

impl Violation {
    /// Maximum number of allowed values that a violation holds.
    pub(crate) const MAX_OPTIONS: usize = 8;
    /// Maximum number of violations by the nearest alternative that one holds.
    pub const MAX_NEAREST: usize = 20;

    /// The place of what is to be changed: of a key that may not be there, its
    /// own; otherwise as [`Violation::location`].
    pub(crate) fn place(&self) -> &Location {
        match &self.wrong {
            Wrong::UnknownKey { place, .. } => place,
            _ => &self.location,
        }
    }

    /// A violation that reports that a value could not be validated to the end.
    pub(super) fn given_up(schema: Span) -> Self {
        let location = Location::root();
        Self { location, wrong: Wrong::Unfinished, found: None, keyword: schema }
    }

    /// A violation of which only the existence is known.
    fn without_details(schema: Span) -> Self {
        let location = Location::root();
        Self { location, wrong: Wrong::Other, found: None, keyword: schema }
    }

    /// The violation of a schema that is secret: nothing of what it says.
    pub(super) fn without_schema(self) -> Self {
        Self { wrong: Wrong::Other, ..self }
    }

    /// Its place in `value`, which was validated: the value; of a key that is not allowed the key,
    /// and of a mapping that lacks one the key of the mapping.
    pub fn span(&self, value: &Node) -> Span {
        let place = self.place();
        let node = place.get(value).unwrap_or(value);
        let is_container = matches!(node.value, Value::Mapping(_) | Value::Sequence(_));
        let at_key = is_container || matches!(self.wrong, Wrong::UnknownKey { .. });
        match at_key.then(|| key_span(value, place)).flatten() {
            Some(key) => key,
            None => node.span,
        }
    }
}

/// Where the key that leads to a place is written.
fn key_span(root: &Node, place: &Location) -> Option<Span> {
    let Piece::Key(key) = place.0.last()? else { return None };
    let parent = place.parent()?;
    let (key, _) = parent.get(root)?.as_mapping()?.get_entry(key)?;
    Some(key.span)
}

/// The violations that errors of the validator are; `root` is the schema, `value` what was
/// validated. Those behind the first [`Schema::MAX_DETAILED`](super::Schema::MAX_DETAILED) have
/// no details: near misses and places of each of a million cost too much.
pub(super) fn all<'e>(
    errors: impl Iterator<Item = ValidationError<'e>>,
    root: &Node,
    value: &Node,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    for error in errors {
        if violations.len() < super::Schema::MAX_DETAILED {
            violations.extend(of(&error, root, value));
        } else {
            let more = std::iter::repeat_with(|| Violation::without_details(root.span));
            violations.extend(more.take(count(error.kind())));
        }
    }
    violations
}

/// Number of violations that an error is.
fn count(kind: &Kind) -> usize {
    match kind {
        Kind::AdditionalProperties { unexpected } => unexpected.len(),
        _ => 1,
    }
}

/// The violations that an error of the validator reports; `root` is the schema, `value` the
/// validated value. Several keys that are not allowed are several violations.
fn of(error: &ValidationError<'_>, root: &Node, value: &Node) -> Vec<Violation> {
    let location = tree::location(value, error.instance_path().as_str());
    let node = location.get(value).expect("the validator was there");
    let at = Keyword::of(error, root);
    let context = ValidatorError { root, value, node, location: &location, at: &at };
    let wrongs = context.wrongs(error.kind());
    let without_details = count(error.kind()) - wrongs.len();
    let found = shown(node);
    let violations = wrongs.into_iter().map(|wrong| Violation {
        location: location.clone(),
        keyword: at.span_for(&wrong),
        found: found.clone(),
        wrong,
    });
    let more = std::iter::repeat_with(|| Violation::without_details(root.span));
    violations.chain(more.take(without_details)).collect()
}

/// The keyword of the schema that an error is about.
struct Keyword<'a> {
    /// The schema around it.
    around: Option<&'a Mapping>,
    name: String,
    span: Span,
    value: Option<&'a Node>,
}

impl<'a> Keyword<'a> {
    fn of(error: &ValidationError<'_>, root: &'a Node) -> Self {
        let pointer = error.schema_path().as_str();
        let (around, last) = pointer.rsplit_once('/').unwrap_or(("", ""));
        let name = tree::written_keyword(last).to_owned();
        let place = tree::location(root, around);
        let around = place.get(root).unwrap_or(root);
        let mapping = around.as_mapping();
        let found = mapping.and_then(|mapping| entry(mapping, &name));
        let span = found.map_or(around.span, |(key, _)| key.span);
        Self { around: mapping, name, span, value: found.map(|(_, value)| value) }
    }

    /// Of a missing key, the name in the list; otherwise the keyword.
    fn span_for(&self, wrong: &Wrong) -> Span {
        let Wrong::MissingKey { key, .. } = wrong else { return self.span };
        let names = self.value.and_then(Node::as_sequence).unwrap_or_default();
        let name = names.iter().find(|name| name.as_str() == Some(key));
        name.map_or(self.span, |name| name.span)
    }

    /// The schemas of keys by their names.
    fn properties(&self) -> Option<&'a Mapping> {
        self.around?.get("properties")?.as_mapping()
    }
}

/// An error, and what it is about.
struct ValidatorError<'a> {
    root: &'a Node,
    value: &'a Node,
    node: &'a Node,
    location: &'a Location,
    at: &'a Keyword<'a>,
}

impl ValidatorError<'_> {
    fn wrongs(&self, kind: &Kind) -> Vec<Wrong> {
        let wrong = match kind {
            Kind::AdditionalProperties { unexpected } => {
                let detailed = unexpected.iter().take(super::Schema::MAX_DETAILED);
                return detailed.map(|name| self.unknown_key(name)).collect();
            }
            Kind::Type { kind } => {
                Wrong::Type { expected: types(kind), found: self.node.value.kind() }
            }
            Kind::Custom { .. } => return self.custom(),
            Kind::Required { property } => self.missing_key(property),
            Kind::Enum { options } => self.not_one_of(options),
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                self.no_alternative(context)
            }
            Kind::OneOfMultipleValid { context } => self.several_alternatives(context),
            Kind::Not { .. } => Wrong::Excluded,
            Kind::AdditionalItems { limit } => Wrong::MoreItems { most: *limit },
            Kind::UniqueItems => Wrong::RepeatedItem,
            Kind::MultipleOf { multiple_of } => Wrong::NoMultiple { of: multiple_of.to_string() },
            Kind::Minimum { limit } => beyond(Bound::Minimum, limit),
            Kind::Maximum { limit } => beyond(Bound::Maximum, limit),
            Kind::ExclusiveMinimum { limit } => beyond(Bound::ExclusiveMinimum, limit),
            Kind::ExclusiveMaximum { limit } => beyond(Bound::ExclusiveMaximum, limit),
            Kind::MinLength { limit } => beyond(Bound::MinLength, limit),
            Kind::MaxLength { limit } => beyond(Bound::MaxLength, limit),
            Kind::MinItems { limit } => beyond(Bound::MinItems, limit),
            Kind::MaxItems { limit } => beyond(Bound::MaxItems, limit),
            Kind::MinProperties { limit } => beyond(Bound::MinProperties, limit),
            Kind::MaxProperties { limit } => beyond(Bound::MaxProperties, limit),
            Kind::FalseSchema => match self.location.0.last() {
                Some(Piece::Index(index)) => Wrong::MoreItems { most: *index },
                _ => Wrong::Excluded,
            },
            Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
                Wrong::TooManySteps { pattern: self.pattern() }
            }
            // What Draft 4 does not have.
            _ => Wrong::Other,
        };
        vec![wrong]
    }

    /// Our own keywords.
    fn custom(&self) -> Vec<Wrong> {
        let wrong = match &*self.at.name {
            "type" => {
                Wrong::Type { expected: self.types_in_words(), found: self.node.value.kind() }
            }
            "patternProperties" => Wrong::KeyNoText,
            "$ref" => Wrong::DeadReference,
            "pattern" => {
                let pattern = self.pattern();
                let is_done = tree::can_be_searched(&pattern, self.node);
                if is_done { Wrong::Unmatched { pattern } } else { Wrong::TooManySteps { pattern } }
            }
            _ => Wrong::Other,
        };
        vec![wrong]
    }

    fn pattern(&self) -> String {
        self.at.value.and_then(Node::as_str).unwrap_or_default().to_owned()
    }

    fn types_in_words(&self) -> Vec<&'static str> {
        let names = self.at.value.and_then(Node::as_sequence).unwrap_or_default();
        let names = names.iter().filter_map(Node::as_str);
        names
            .filter_map(|name| TYPES.into_iter().find(|(_, word)| *word == name))
            .map(|(_, word)| word)
            .collect()
    }

    fn unknown_key(&self, name: &str) -> Wrong {
        let mapping = self.node.as_mapping();
        let found = mapping.and_then(|mapping| entry(mapping, name));
        let (key, _) = found.expect("the key that may not be there is there");
        let place = self.location.join(Piece::Key(key.clone()));
        if self.node.secret {
            return Wrong::UnknownKey { key: None, near: None, place };
        }
        let known = self.at.properties().into_iter().flat_map(Mapping::keys);
        let known = known.filter_map(|key| key.as_str());
        let free = known.filter(|known| self.node.get(known).is_none());
        let near = nearest(name, free).map(str::to_owned);
        Wrong::UnknownKey { key: Some(shown_name(name).to_owned()), near, place }
    }

    fn missing_key(&self, property: &Json) -> Wrong {
        let key = property.as_str().unwrap_or_default();
        let known = self.at.properties();
        let keys = self.node.as_mapping().into_iter().flat_map(Mapping::keys);
        let is_known = |name: &str| known.is_some_and(|known| known.get(name).is_some());
        let names = keys.filter_map(|it| it.as_str()).filter(|name| !is_known(name));
        let near = if self.node.secret { None } else { nearest(key, names) };
        let near = near.map(str::to_owned);
        Wrong::MissingKey { key: shown_name(key).to_owned(), near }
    }

    fn not_one_of(&self, options: &Json) -> Wrong {
        let options = options.as_array().map_or(&[][..], Vec::as_slice);
        let texts = options.iter().filter_map(Json::as_str);
        let near = self.node.as_str().filter(|_| !self.node.secret);
        let near = near.and_then(|text| nearest(text, texts)).map(str::to_owned);
        let nodes = self.at.value.and_then(Node::as_sequence).unwrap_or_default();
        let option_text = |node: &Node| shown(node).unwrap_or_else(|| node.value.kind().to_owned());
        let first = nodes.iter().take(Violation::MAX_OPTIONS);
        Wrong::NotOneOf { options: first.map(option_text).collect(), count: nodes.len(), near }
    }

    fn no_alternative(&self, context: &[Vec<ValidationError<'static>>]) -> Wrong {
        let best = context.iter().map(|errors| self.nearness(errors)).max();
        let alternatives = context.iter().enumerate();
        let nearest = alternatives.filter(|(_, errors)| Some(self.nearness(errors)) == best);
        let nearest = nearest.map(|(index, errors)| self.alternative(index + 1, errors));
        Wrong::NoAlternative { alternatives: context.len(), nearest: nearest.collect() }
    }

    fn alternative(&self, number: usize, errors: &[ValidationError<'static>]) -> Alternative {
        let all: usize = errors.iter().map(|error| count(error.kind())).sum();
        let errors = errors.iter().take(Violation::MAX_NEAREST);
        let violations = errors.flat_map(|error| of(error, self.root, self.value));
        let violations: Vec<Violation> = violations.take(Violation::MAX_NEAREST).collect();
        let more = all - violations.len();
        Alternative { number, violations, more }
    }

    fn several_alternatives(&self, context: &[Vec<ValidationError<'static>>]) -> Wrong {
        let alternatives = context.iter().enumerate();
        let fitting = alternatives.filter(|(_, errors)| errors.is_empty());
        let fitting: Vec<usize> = fitting.map(|(index, _)| index + 1).collect();
        let written = self.at.value.and_then(Node::as_sequence).unwrap_or_default();
        let named: Vec<Vec<&str>> = fitting
            .iter()
            .filter_map(|number| written.get(number - 1))
            .map(|alternative| self.keys_of(alternative))
            .collect();
        let given = self.node.as_mapping().into_iter().flat_map(Mapping::keys);
        let keys = given.filter_map(Key::as_str).filter(|key| {
            let naming = named.iter().filter(|names| names.contains(key)).count();
            naming > 0 && naming < named.len()
        });
        let keys = keys.take(Violation::MAX_OPTIONS).map(str::to_owned).collect();
        Wrong::SeveralAlternatives { fitting, keys }
    }

    /// The keys that a schema is about.
    fn keys_of<'s>(&'s self, schema: &'s Node) -> Vec<&'s str> {
        let reference = schema.get("$ref").and_then(Node::as_str);
        let target = reference.and_then(|it| reference_target(self.root, it));
        let schema = target.and_then(|target| target.get(self.root)).unwrap_or(schema);
        let required = schema.get("required").and_then(Node::as_sequence).unwrap_or_default();
        let properties = schema.get("properties").and_then(Node::as_mapping);
        let properties = properties.into_iter().flat_map(Mapping::keys).filter_map(Key::as_str);
        required.iter().filter_map(Node::as_str).chain(properties).collect()
    }

    /// Distance of an alternative: one that refuses the type of the value itself is the farthest;
    /// then those with fewer errors are nearer.
    fn nearness(&self, errors: &[ValidationError<'static>]) -> (bool, std::cmp::Reverse<usize>) {
        let is_here = |error: &ValidationError<'_>| {
            let place = tree::location(self.value, error.instance_path().as_str());
            place == *self.location && matches!(error.kind(), Kind::Type { .. } | Kind::Enum { .. })
        };
        (!errors.iter().any(is_here), std::cmp::Reverse(errors.len()))
    }
}

fn beyond(bound: Bound, limit: impl ToString) -> Wrong {
    Wrong::Beyond { bound, limit: limit.to_string() }
}

const TYPES: [(JsonType, &str); 7] = [
    (JsonType::Array, "array"),
    (JsonType::Boolean, "boolean"),
    (JsonType::Integer, "integer"),
    (JsonType::Null, "null"),
    (JsonType::Number, "number"),
    (JsonType::Object, "object"),
    (JsonType::String, "string"),
];

fn types(kind: &TypeKind) -> Vec<&'static str> {
    let is_expected = |one: JsonType| match kind {
        TypeKind::Single(expected) => *expected == one,
        TypeKind::Multiple(expected) => expected.contains(one),
    };
    TYPES.into_iter().filter(|(one, _)| is_expected(*one)).map(|(_, word)| word).collect()
}

/// A scalar as a message quotes it: on one line, shortened; nothing where it
/// is secret, or no scalar.
fn shown(node: &Node) -> Option<String> {
    const MAX_CHARACTERS: usize = 60;
    if node.secret || matches!(node.value, Value::Mapping(_) | Value::Sequence(_)) {
        return None;
    }
    let text = match &node.value {
        Value::String(text) => text.to_string(),
        Value::Pairs(_) | Value::Binary(_) | Value::Set(_) => return None,
        scalar => {
            let key = crate::yaml::Key { value: scalar.clone(), span: node.span };
            shown_name(&name_of(&key)).to_owned()
        }
    };
    let line = text.lines().next().unwrap_or_default();
    let cut = line.char_indices().nth(MAX_CHARACTERS).map_or(line.len(), |(end, _)| end);
    let is_whole = cut == text.len();
    Some(if is_whole { text } else { format!("{}…", &line[..cut]) })
}
