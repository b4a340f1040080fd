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

/// A violation of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Location in the value, as reported by Deckhand's validator: for a missing or unknown key,
    /// the mapping.
    pub location: Location,
    /// Kind of violation.
    pub wrong: Wrong,
    /// Shortened value; `None` for mappings, lists and secrets.
    pub found: Option<String>,
    /// Keyword of the schema that rejects the value.
    pub keyword: Span,
}

/// Kind of violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Wrong type.
    Type {
        /// Allowed types, as named in JSON Schema.
        expected: Vec<&'static str>,
        /// Actual type, e.g. `a string`.
        found: &'static str,
    },
    /// Missing key.
    MissingKey {
        /// Missing key.
        key: String,
        /// Similar key in the value that the schema does not define.
        near: Option<String>,
    },
    /// Key that is not allowed.
    UnknownKey {
        /// Key; `None` if it is secret.
        key: Option<String>,
        /// Similar allowed key.
        near: Option<String>,
        /// Location of its value.
        place: Location,
    },
    /// Value of a `$ref` that cannot be resolved or is not fetched.
    DeadReference,
    /// Non-string key where patterns match keys.
    KeyNoText,
    /// Value that is not one of the options.
    NotOneOf {
        /// First options, shortened; at most `Violation::MAX_OPTIONS`.
        options: Vec<String>,
        /// Number of options.
        count: usize,
        /// Option with similar spelling.
        near: Option<String>,
    },
    /// String that does not match a pattern.
    Unmatched {
        /// Pattern as written.
        pattern: String,
    },
    /// String whose match of a pattern takes too many steps.
    TooManySteps {
        /// Pattern as written.
        pattern: String,
    },
    /// Number or count that exceeds a bound.
    Beyond {
        /// Kind of bound.
        bound: Bound,
        /// Limit, as written.
        limit: String,
    },
    /// Number that is not a multiple.
    NoMultiple {
        /// Divisor as written.
        of: String,
    },
    /// List with a repeated value.
    RepeatedItem,
    /// List with more items than the schema defines.
    MoreItems {
        /// Maximum number of items.
        most: usize,
    },
    /// Value that matches no alternative of `anyOf` or `oneOf`.
    NoAlternative {
        /// Number of alternatives.
        alternatives: usize,
        /// Numbers of the nearest alternatives, from 1; several if they are equally near.
        tied: Vec<usize>,
        /// The first of them, at most eight; none inside of another alternative.
        nearest: Vec<Alternative>,
    },
    /// Value that matches several alternatives of `oneOf`.
    SeveralAlternatives {
        /// Numbers of the matching alternatives, from 1.
        fitting: Vec<usize>,
        /// Keys of the value that only some of these alternatives mention.
        keys: Vec<String>,
    },
    /// Value that `not` excludes.
    Excluded,
    /// Unknown result: the validation takes too much work.
    Unfinished,
    /// Any other violation, or one of a secret schema.
    Other,
}

/// Kind of bound in [`Wrong::Beyond`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Number below the inclusive minimum.
    Minimum,
    /// Number not above the exclusive minimum.
    ExclusiveMinimum,
    /// Number above the inclusive maximum.
    Maximum,
    /// Number not below the exclusive maximum.
    ExclusiveMaximum,
    /// String that is too short.
    MinLength,
    /// String that is too long.
    MaxLength,
    /// List with too few items.
    MinItems,
    /// List with too many items.
    MaxItems,
    /// Mapping with too few keys.
    MinProperties,
    /// Mapping with too many keys.
    MaxProperties,
}

/// An alternative of `anyOf` or `oneOf` that rejects a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Index, from 1.
    pub number: usize,
    /// First violations; at most [`Violation::MAX_NEAREST`].
    pub violations: Vec<Violation>,
    /// Number of further violations.
    pub(crate) more: usize,
}

impl Violation {
    /// Maximum number of options in a violation.
    pub(crate) const MAX_OPTIONS: usize = 8;
    /// Maximum number of violations listed for the nearest alternative.
    pub const MAX_NEAREST: usize = 20;
    /// Maximum number of equally near alternatives whose violations are listed.
    pub(crate) const MAX_TIED: usize = 8;

    /// Location to change: for a key that is not allowed, the key; otherwise
    /// [`Violation::location`].
    pub(crate) fn place(&self) -> &Location {
        match &self.wrong {
            Wrong::UnknownKey { place, .. } => place,
            _ => &self.location,
        }
    }

    /// Violation that reports an incomplete validation.
    pub(super) fn given_up(schema: Span) -> Self {
        let location = Location::root();
        Self {
            location,
            wrong: Wrong::Unfinished,
            found: None,
            keyword: schema,
        }
    }

    /// Violation without details.
    fn without_details(schema: Span) -> Self {
        let location = Location::root();
        Self {
            location,
            wrong: Wrong::Other,
            found: None,
            keyword: schema,
        }
    }

    /// Violation of a secret schema, without its contents.
    pub(super) fn without_schema(self) -> Self {
        Self {
            wrong: Wrong::Other,
            ..self
        }
    }

    /// Span in `value`, which was validated: the value; for a key that is not allowed, the key; for
    /// a missing key, the key of the mapping.
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

/// Span of the key at a location.
fn key_span(root: &Node, place: &Location) -> Option<Span> {
    let Piece::Key(key) = place.0.last()? else {
        return None;
    };
    let parent = place.parent()?;
    let (key, _) = parent.get(root)?.as_mapping()?.get_entry(key)?;
    Some(key.span)
}

/// Converts errors of the validator to violations; `root` is the schema, `value` the validated
/// value. Only the first [`Schema::MAX_DETAILED`](super::Schema::MAX_DETAILED) violations have
/// details, because similar keys and spans are expensive for a million of them.
pub(super) fn all<'e>(
    errors: impl Iterator<Item = ValidationError<'e>>,
    root: &Node,
    value: &Node,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    for error in errors {
        if violations.len() < super::Schema::MAX_DETAILED {
            violations.extend(of(&error, root, value, ErrorDepth::Outer));
        } else {
            let more = std::iter::repeat_with(|| Violation::without_details(root.span));
            violations.extend(more.take(count(error.kind())));
        }
    }
    violations
}

/// Number of violations in an error.
fn count(kind: &Kind) -> usize {
    match kind {
        Kind::AdditionalProperties { unexpected } => unexpected.len(),
        _ => 1,
    }
}

/// Whether an error is one of an alternative, whose own alternatives are not listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ErrorDepth {
    Outer,
    OfAlternative,
}

/// Converts an error of the validator to violations; `root` is the schema, `value` the validated
/// value. An error with several unknown keys becomes several violations.
fn of(error: &ValidationError<'_>, root: &Node, value: &Node, depth: ErrorDepth) -> Vec<Violation> {
    let pointer = error.instance_path().as_str();
    let location = tree::location(value, pointer);
    let node = location
        .get(value)
        .expect("the validator visited the location");
    let at = Keyword::of(error, root);
    let context = ValidatorError {
        root,
        value,
        node,
        pointer,
        location: &location,
        at: &at,
        depth,
    };
    let wrongs = context.wrongs(error.kind());
    let without_details = count(error.kind()) - wrongs.len();
    let found = shown(node);
    let violations = wrongs.into_iter().map(|wrong| Violation {
        location: location.clone(),
        keyword: at.span_of(&wrong),
        found: found.clone(),
        wrong,
    });
    let more = std::iter::repeat_with(|| Violation::without_details(root.span));
    violations.chain(more.take(without_details)).collect()
}

/// Keyword of the schema that an error refers to.
struct Keyword<'a> {
    /// Enclosing schema.
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
        Self {
            around: mapping,
            name,
            span,
            value: found.map(|(_, value)| value),
        }
    }

    /// For a missing key, its name in the list; otherwise the keyword.
    fn span_of(&self, wrong: &Wrong) -> Span {
        let Wrong::MissingKey { key, .. } = wrong else {
            return self.span;
        };
        let names = self.value.and_then(Node::as_sequence).unwrap_or_default();
        let name = names.iter().find(|name| name.as_str() == Some(key));
        name.map_or(self.span, |name| name.span)
    }

    /// Schemas of keys, by name.
    fn properties(&self) -> Option<&'a Mapping> {
        self.around?.get("properties")?.as_mapping()
    }
}

/// An error with its context.
struct ValidatorError<'a> {
    root: &'a Node,
    value: &'a Node,
    node: &'a Node,
    /// Location as a JSON pointer.
    pointer: &'a str,
    location: &'a Location,
    at: &'a Keyword<'a>,
    depth: ErrorDepth,
}

impl ValidatorError<'_> {
    fn wrongs(&self, kind: &Kind) -> Vec<Wrong> {
        let wrong = match kind {
            Kind::AdditionalProperties { unexpected } => {
                let detailed = unexpected.iter().take(super::Schema::MAX_DETAILED);
                return detailed.map(|name| self.unknown_key(name)).collect();
            }
            Kind::Type { kind } => Wrong::Type {
                expected: types(kind),
                found: self.node.value.kind(),
            },
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
            Kind::MultipleOf { multiple_of } => Wrong::NoMultiple {
                of: multiple_of.to_string(),
            },
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
                Wrong::TooManySteps {
                    pattern: self.pattern(),
                }
            }
            // Not in Draft 4.
            _ => Wrong::Other,
        };
        vec![wrong]
    }

    /// Converts errors of internal keywords.
    fn custom(&self) -> Vec<Wrong> {
        let wrong = match &*self.at.name {
            "type" => Wrong::Type {
                expected: self.types_in_words(),
                found: self.node.value.kind(),
            },
            "patternProperties" => Wrong::KeyNoText,
            "$ref" => Wrong::DeadReference,
            "pattern" => {
                let pattern = self.pattern();
                let is_done = tree::can_be_searched(&pattern, self.node);
                if is_done {
                    Wrong::Unmatched { pattern }
                } else {
                    Wrong::TooManySteps { pattern }
                }
            }
            _ => Wrong::Other,
        };
        vec![wrong]
    }

    fn pattern(&self) -> String {
        self.at
            .value
            .and_then(Node::as_str)
            .unwrap_or_default()
            .to_owned()
    }

    fn types_in_words(&self) -> Vec<&'static str> {
        let names = self
            .at
            .value
            .and_then(Node::as_sequence)
            .unwrap_or_default()
            .iter()
            .filter_map(Node::as_str);
        names
            .filter_map(|name| TYPES.into_iter().find(|(_, word)| *word == name))
            .map(|(_, word)| word)
            .collect()
    }

    fn unknown_key(&self, name: &str) -> Wrong {
        let mapping = self.node.as_mapping();
        let found = mapping.and_then(|mapping| entry(mapping, name));
        let (key, _) = found.expect("the unknown key exists");
        let place = self.location.join(Piece::Key(key.clone()));
        if self.node.secret {
            return Wrong::UnknownKey {
                key: None,
                near: None,
                place,
            };
        }
        let known = self
            .at
            .properties()
            .into_iter()
            .flat_map(Mapping::keys)
            .filter_map(|key| key.as_str());
        let free = known.filter(|known| self.node.get(known).is_none());
        let near = nearest(name, free).map(str::to_owned);
        Wrong::UnknownKey {
            key: Some(shown_name(name).to_owned()),
            near,
            place,
        }
    }

    fn missing_key(&self, property: &Json) -> Wrong {
        let key = property.as_str().unwrap_or_default();
        let known = self.at.properties();
        let keys = self.node.as_mapping().into_iter().flat_map(Mapping::keys);
        let is_known = |name: &str| known.is_some_and(|known| known.get(name).is_some());
        let names = keys
            .filter_map(|it| it.as_str())
            .filter(|name| !is_known(name));
        let near = if self.node.secret {
            None
        } else {
            nearest(key, names)
        };
        let near = near.map(str::to_owned);
        Wrong::MissingKey {
            key: shown_name(key).to_owned(),
            near,
        }
    }

    fn not_one_of(&self, options: &Json) -> Wrong {
        let options = options.as_array().map_or(&[][..], Vec::as_slice);
        let texts = options.iter().filter_map(Json::as_str);
        let near = self
            .node
            .as_str()
            .filter(|_| !self.node.secret)
            .and_then(|text| nearest(text, texts))
            .map(str::to_owned);
        let nodes = self
            .at
            .value
            .and_then(Node::as_sequence)
            .unwrap_or_default();
        let first = nodes.iter().take(Violation::MAX_OPTIONS);
        Wrong::NotOneOf {
            options: first
                .map(|node| shown(node).unwrap_or_else(|| node.value.kind().to_owned()))
                .collect(),
            count: nodes.len(),
            near,
        }
    }

    fn no_alternative(&self, context: &[Vec<ValidationError<'static>>]) -> Wrong {
        if self.depth == ErrorDepth::OfAlternative {
            let tied = Vec::new();
            let nearest = Vec::new();
            return Wrong::NoAlternative {
                alternatives: context.len(),
                tied,
                nearest,
            };
        }
        let nearness: Vec<_> = context.iter().map(|errors| self.nearness(errors)).collect();
        let best = nearness.iter().max();
        let tied: Vec<usize> = nearness
            .iter()
            .enumerate()
            .filter(|(_, nearness)| Some(*nearness) == best)
            .map(|(index, _)| index + 1)
            .collect();
        let first = tied.iter().take(Violation::MAX_TIED);
        let nearest = first
            .map(|number| self.alternative(*number, &context[number - 1]))
            .collect();
        Wrong::NoAlternative {
            alternatives: context.len(),
            tied,
            nearest,
        }
    }

    fn alternative(&self, number: usize, errors: &[ValidationError<'static>]) -> Alternative {
        let all: usize = errors.iter().map(|error| count(error.kind())).sum();
        let errors = errors.iter().take(Violation::MAX_NEAREST);
        let violations: Vec<Violation> = errors
            .flat_map(|error| of(error, self.root, self.value, ErrorDepth::OfAlternative))
            .take(Violation::MAX_NEAREST)
            .collect();
        let more = all - violations.len();
        Alternative {
            number,
            violations,
            more,
        }
    }

    fn several_alternatives(&self, context: &[Vec<ValidationError<'static>>]) -> Wrong {
        let alternatives = context.iter().enumerate();
        let fitting: Vec<usize> = alternatives
            .filter(|(_, errors)| errors.is_empty())
            .map(|(index, _)| index + 1)
            .collect();
        let written = self
            .at
            .value
            .and_then(Node::as_sequence)
            .unwrap_or_default();
        let named: Vec<Vec<&str>> = fitting
            .iter()
            .filter_map(|number| written.get(number - 1))
            .map(|alternative| self.keys_of(alternative))
            .collect();
        let given = self.node.as_mapping().into_iter().flat_map(Mapping::keys);
        let keys = given
            .filter_map(Key::as_str)
            .filter(|key| {
                let naming = named.iter().filter(|names| names.contains(key)).count();
                naming > 0 && naming < named.len()
            })
            .take(Violation::MAX_OPTIONS)
            .map(str::to_owned)
            .collect();
        Wrong::SeveralAlternatives { fitting, keys }
    }

    /// Keys that a schema mentions.
    fn keys_of<'s>(&'s self, schema: &'s Node) -> Vec<&'s str> {
        let reference = schema.get("$ref").and_then(Node::as_str);
        let target = reference.and_then(|it| reference_target(self.root, it));
        let schema = target
            .and_then(|target| target.get(self.root))
            .unwrap_or(schema);
        let required = schema
            .get("required")
            .and_then(Node::as_sequence)
            .unwrap_or_default();
        let properties = schema
            .get("properties")
            .and_then(Node::as_mapping)
            .into_iter()
            .flat_map(Mapping::keys)
            .filter_map(Key::as_str);
        required
            .iter()
            .filter_map(Node::as_str)
            .chain(properties)
            .collect()
    }

    /// Distance of an alternative: largest if it rejects the type of the value itself, otherwise by
    /// the number of errors.
    fn nearness(&self, errors: &[ValidationError<'static>]) -> (bool, std::cmp::Reverse<usize>) {
        (
            !errors.iter().any(|error| {
                matches!(error.kind(), Kind::Type { .. } | Kind::Enum { .. })
                    && error.instance_path().as_str() == self.pointer
            }),
            std::cmp::Reverse(errors.len()),
        )
    }
}

fn beyond(bound: Bound, limit: impl ToString) -> Wrong {
    Wrong::Beyond {
        bound,
        limit: limit.to_string(),
    }
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
    TYPES
        .into_iter()
        .filter(|(one, _)| is_expected(*one))
        .map(|(_, word)| word)
        .collect()
}

/// Formats a scalar for a message: on one line and shortened; `None` if it is secret or not a
/// scalar.
fn shown(node: &Node) -> Option<String> {
    const MAX_CHARACTERS: usize = 60;
    if node.secret || matches!(node.value, Value::Mapping(_) | Value::Sequence(_)) {
        return None;
    }
    let text = match &node.value {
        Value::String(text) => text.to_string(),
        Value::Pairs(_) | Value::Binary(_) | Value::Set(_) => return None,
        scalar => {
            let key = crate::yaml::Key {
                value: scalar.clone(),
                span: node.span,
            };
            shown_name(&name_of(&key)).to_owned()
        }
    };
    let line = text.lines().next().unwrap_or_default();
    let cut = line
        .char_indices()
        .nth(MAX_CHARACTERS)
        .map_or(line.len(), |(end, _)| end);
    let is_whole = cut == text.len();
    Some(if is_whole {
        text
    } else {
        format!("{}…", &line[..cut])
    })
}
