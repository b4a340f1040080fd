//! Syntax of blocks of groups: their grammar (`heat-property-groups.md` 4) and problems.
//!
//! Problems are reported in this order: syntax errors per group, unresolved names, cycles.

use std::collections::HashMap;
use std::sync::Arc;

use super::names::resolve;
use super::shape::Shapes;
use super::version::{ComponentVersion, Gate, Supported, lossy, version_of};
use super::{FoundBlock, GroupName, GroupOperator, Groups, KEYWORD};
use crate::near::nearest;
use crate::source::{SourceMap, Span};
use crate::yaml::emit::scalar_text;
use crate::yaml::path::Location;
use crate::yaml::{Key, Mapping, Node, Value};

/// A problem of a block of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupProblem {
    /// Location of the problem.
    pub(crate) span: Span,
    /// Location of the block in its schema; the root for a block outside a schema.
    pub block: Location,
    /// Name of the group; `None` for the block itself.
    pub group: Option<Arc<str>>,
    /// Kind of the problem.
    pub fault: GroupFault,
}

/// Kinds of [`GroupProblem`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupFault {
    /// The group, or its block, is not checked.
    Invalid(InvalidGroup),
    /// A word that is both a property and a group; it is resolved to the property.
    AmbiguousName {
        /// The word.
        name: String,
    },
    /// An operand that is repeated in its list.
    DuplicateOperand {
        /// Text of the operand.
        operand: String,
        /// Location of the first occurrence.
        first: Span,
    },
    /// An unquoted version that is read as a different number.
    LossyVersion {
        /// Text of the version.
        text: String,
        /// The number that is read.
        read: String,
    },
}

/// Reason why a group is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidGroup {
    /// The block is neither a list nor a mapping.
    NotAList,
    /// An entry or part of it does not have the expected form.
    BadEntry {
        /// The expected form.
        expected: &'static str,
    },
    /// A name that is reserved, or contains a dot.
    ReservedName,
    /// The name of an earlier group, which takes precedence.
    DuplicateName {
        /// Location of the earlier group.
        first: Span,
    },
    /// An unknown key of a group.
    UnknownKey {
        /// The key.
        key: String,
        /// A known key with a similar name.
        near: Option<&'static str>,
    },
    /// A missing or unknown operator.
    BadOperator {
        /// The unknown operator; `None` if it is missing.
        found: Option<String>,
        /// An operator with a similar name.
        near: Option<&'static str>,
    },
    /// The operands are not a list.
    BadProperties,
    /// There are no operands.
    EmptyGroup,
    /// An invalid operand.
    BadOperand {
        /// The reason.
        reason: &'static str,
    },
    /// `depends_on` with one operand.
    Arity,
    /// An invalid version or list of versions.
    BadVersion {
        /// The expected form.
        expected: &'static str,
    },
    /// A word that is neither a property nor a group.
    UnknownName {
        /// The word.
        name: String,
        /// A property or group with a similar name.
        near: Option<String>,
    },
    /// A path to a property that the schema does not declare.
    UnknownProperty {
        /// The path.
        path: String,
        /// The undeclared part.
        part: String,
        /// A property with a similar name.
        near: Option<String>,
    },
    /// An unknown group.
    UnknownGroup {
        /// Its name.
        name: String,
        /// A group with a similar name.
        near: Option<String>,
    },
    /// A path continues after a scalar.
    PathThroughScalar {
        /// The path.
        path: String,
        /// The part after the scalar.
        part: String,
    },
    /// A path goes through a list with a schema for each item.
    PathThroughTuple {
        /// The path.
        path: String,
    },
    /// Groups that refer to each other in a cycle.
    Cycle {
        /// Their names, with the first repeated at the end.
        names: Vec<Arc<str>>,
    },
    /// A block that applies to data only conditionally, and is not evaluated.
    Unreached,
    /// A limit of [`Groups`] is exceeded.
    TooLarge,
}

impl GroupFault {
    /// Name in `heat-property-groups.md` 4; `lossy-version`, `unreached-block` and `too-large` are
    /// only defined here.
    pub fn code(&self) -> &'static str {
        match self {
            GroupFault::Invalid(invalid) => invalid.code(),
            GroupFault::AmbiguousName { .. } => "ambiguous-name",
            GroupFault::DuplicateOperand { .. } => "duplicate-operand",
            GroupFault::LossyVersion { .. } => "lossy-version",
        }
    }

    /// Whether the group is used despite the problem.
    pub fn is_warning(&self) -> bool {
        !matches!(self, GroupFault::Invalid(_))
    }
}

impl InvalidGroup {
    fn code(&self) -> &'static str {
        match self {
            InvalidGroup::NotAList => "not-a-list",
            InvalidGroup::BadEntry { .. } => "bad-entry",
            InvalidGroup::ReservedName => "reserved-name",
            InvalidGroup::DuplicateName { .. } => "duplicate-name",
            InvalidGroup::UnknownKey { .. } => "unknown-key",
            InvalidGroup::BadOperator { .. } => "bad-operator",
            InvalidGroup::BadProperties => "bad-properties",
            InvalidGroup::EmptyGroup => "empty-group",
            InvalidGroup::BadOperand { .. } => "bad-operand",
            InvalidGroup::Arity => "arity",
            InvalidGroup::BadVersion { .. } => "bad-version",
            InvalidGroup::UnknownName { .. } => "unknown-name",
            InvalidGroup::UnknownProperty { .. } => "unknown-property",
            InvalidGroup::UnknownGroup { .. } => "unknown-group",
            InvalidGroup::PathThroughScalar { .. } => "path-through-scalar",
            InvalidGroup::PathThroughTuple { .. } => "path-through-tuple",
            InvalidGroup::Cycle { .. } => "cycle",
            InvalidGroup::Unreached => "unreached-block",
            InvalidGroup::TooLarge => "too-large",
        }
    }
}

impl From<InvalidGroup> for GroupFault {
    fn from(invalid: InvalidGroup) -> Self {
        Self::Invalid(invalid)
    }
}

/// A parsed block.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) location: Location,
    pub(super) groups: Vec<PropertyGroup>,
    /// Bodies of groups, including nested ones.
    pub(super) bodies: Vec<Body>,
    /// Distinct paths of the operands.
    pub(super) paths: Vec<PropertyPath>,
}

#[derive(Debug)]
pub(super) struct PropertyGroup {
    pub(super) name: GroupName,
    pub(super) span: Span,
    pub(super) body: usize,
    /// The value of `assert`.
    pub(super) assert: Option<bool>,
    /// Whether it has a problem.
    pub(super) is_broken: bool,
    /// Whether another group refers to it.
    pub(super) is_referred: bool,
    /// Whether neither the group nor those it refers to have a problem.
    pub(super) is_usable: bool,
    /// Maximum nesting depth.
    pub(super) depth: usize,
}

/// Operands and their constraint.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// `None` if only versions are specified.
    pub(super) operator: Option<GroupOperator>,
    pub(super) gate: Option<Gate>,
    pub(super) operands: Vec<GroupOperand>,
    /// Distinct paths of all operands, with references followed.
    pub(super) leaves: Vec<usize>,
    /// Number of leading parts of the first leaf that end at the lists whose items the body applies
    /// to (D9).
    pub(super) lift: usize,
}

#[derive(Debug)]
pub(super) struct GroupOperand {
    pub(super) span: Span,
    pub(super) written: OperandSyntax,
    /// Resolved property or group; `None` if it is unresolved.
    pub(super) target: Option<OperandTarget>,
}

/// Syntax of an operand.
#[derive(Debug)]
pub(super) enum OperandSyntax {
    /// A single word: a property or a group.
    Word(String),
    /// `property_groups.NAME`.
    Reference(String),
    Path(Vec<Arc<str>>),
    /// A path and its accepted values.
    Condition(Vec<Arc<str>>, Vec<Value>),
    Nested(usize),
    Broken,
}

/// Target of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperandTarget {
    Path(usize),
    Group(usize),
    Nested(usize),
}

/// A path from the mapping that the block applies to.
#[derive(Debug)]
pub(super) struct PropertyPath {
    pub(super) parts: Vec<Arc<str>>,
    /// Number of lists after each part.
    pub(super) lists: Vec<usize>,
    /// Values that count as given; if empty, any value except null does.
    pub(super) values: Vec<Value>,
}

impl PropertyPath {
    /// Text in messages.
    pub(super) fn shown(&self) -> String {
        let path = self.parts.join(".");
        if self.values.is_empty() {
            return path;
        }
        let values: Vec<String> = self.values.iter().map(scalar_text).collect();
        format!("{path} = {}", values.join(" or "))
    }

    /// Whether a value counts as given (D3).
    pub(super) fn is_given_by(&self, value: &Value) -> bool {
        *value != Value::Null
            && (self.values.is_empty() || self.values.iter().any(|it| equals_in_schema(it, value)))
    }
}

/// Equality of scalars as in JSON Schema: numbers compare by value, and a boolean is not a number.
fn equals_in_schema(wanted: &Value, value: &Value) -> bool {
    match (wanted, value) {
        (Value::Bool(_), _) | (_, Value::Bool(_)) => wanted == value,
        _ => wanted.equals_in_python(value),
    }
}

/// Reads a block, and returns its problems.
pub(super) fn read_block(
    found: &FoundBlock<'_>,
    shapes: &Shapes,
    sources: &SourceMap,
) -> (Block, Vec<GroupProblem>) {
    let block = Block {
        location: found.location.clone(),
        groups: Vec::new(),
        bodies: Vec::new(),
        paths: Vec::new(),
    };
    let mut reader = BlockReader {
        sources,
        block,
        problems: Vec::new(),
        group: None,
        left: Groups::MAX_OPERANDS,
    };
    reader.block(found);
    let BlockReader {
        mut block,
        mut problems,
        ..
    } = reader;
    resolve(&mut block, found.shape, shapes, &mut problems);
    (block, problems)
}

/// Keys of a group.
const KEYS: [&str; 8] = [
    "properties",
    "operator",
    "client_plugin_supported",
    "client_plugin_supported_since",
    "client_plugin",
    "description",
    "assert",
    "name",
];

/// Form of an entry around a body, which determines its allowed keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GroupEntryForm {
    /// `NAME: body`.
    Named,
    /// A body with a `name`.
    Long,
    /// An operand.
    Nested,
}

impl GroupEntryForm {
    fn keys(self) -> &'static [&'static str] {
        match self {
            GroupEntryForm::Long => &KEYS,
            GroupEntryForm::Named => &KEYS[..7],
            GroupEntryForm::Nested => &KEYS[..6],
        }
    }
}

struct BlockReader<'a> {
    sources: &'a SourceMap,
    block: Block,
    problems: Vec<GroupProblem>,
    /// Name of the group being read.
    group: Option<GroupName>,
    /// Number of operands that may still be read.
    left: usize,
}

impl BlockReader<'_> {
    fn block(&mut self, found: &FoundBlock<'_>) {
        match &found.node.value {
            Value::Sequence(entries) => {
                for (index, entry) in entries.iter().enumerate() {
                    if index == Groups::MAX_GROUPS {
                        return self.add_block_problem(entry.span, InvalidGroup::TooLarge);
                    }
                    self.entry(format!("#{}", index + 1).into(), entry);
                }
            }
            Value::Mapping(named) => {
                for (index, (key, body)) in named.iter().enumerate() {
                    if index == Groups::MAX_GROUPS {
                        return self.add_block_problem(key.span, InvalidGroup::TooLarge);
                    }
                    self.named(format!("#{}", index + 1).into(), key, body);
                }
            }
            _ => self.add_block_problem(found.span, InvalidGroup::NotAList),
        }
        self.group = None;
    }

    fn add_block_problem(&mut self, span: Span, fault: impl Into<GroupFault>) {
        self.group = None;
        self.add_problem(span, fault);
    }

    fn add_problem(&mut self, span: Span, fault: impl Into<GroupFault>) {
        self.problems.push(GroupProblem {
            span,
            block: self.block.location.clone(),
            group: self.group.clone(),
            fault: fault.into(),
        });
    }

    /// Number of errors so far.
    fn errors(&self) -> usize {
        self.problems
            .iter()
            .filter(|problem| !problem.fault.is_warning())
            .count()
    }

    /// Reads an entry of the list.
    fn entry(&mut self, number: GroupName, entry: &Node) {
        self.group = Some(number.clone());
        let Some(mapping) = entry.as_mapping().filter(|mapping| !mapping.is_empty()) else {
            let expected = "a mapping of a name to a group, or of an operator to its operands";
            return self.add_problem(entry.span, InvalidGroup::BadEntry { expected });
        };
        let mut entries = mapping.iter();
        match (entries.next(), entries.next()) {
            (Some((key, value)), None) => match key.as_str().and_then(GroupOperator::parse) {
                Some(operator) if value.as_mapping().is_none() => {
                    self.expression(&number, key, operator, value);
                }
                _ => self.named(number, key, value),
            },
            _ if mapping.get("properties").is_some() => self.long(number, entry.span, mapping),
            _ => {
                let expected = "a single group, but it has several keys and no `properties`";
                self.add_problem(entry.span, InvalidGroup::BadEntry { expected });
            }
        }
    }

    fn expression(
        &mut self,
        number: &GroupName,
        key: &Key,
        operator: GroupOperator,
        operands: &Node,
    ) {
        let before = self.errors();
        let body = self.body_of(Body {
            operator: Some(operator),
            ..Body::default()
        });
        self.operands(body, key.span, operands);
        self.arity(body, key.span);
        self.add(number.clone(), key.span, body, None, before);
    }

    fn named(&mut self, number: GroupName, key: &Key, body: &Node) {
        self.group = Some(number);
        let before = self.errors();
        let Some(name) = key.as_str().filter(|name| !name.is_empty()) else {
            return self.add_problem(
                key.span,
                InvalidGroup::BadEntry {
                    expected: "a name that is a string",
                },
            );
        };
        let name = self.name(name, key.span);
        let Some(mapping) = body.as_mapping() else {
            let expected = "a mapping with `properties` and `operator`";
            self.add_problem(key.span, InvalidGroup::BadEntry { expected });
            let body = self.body_of(Body::default());
            return self.add(name, key.span, body, None, before);
        };
        let assert = self.assert(mapping);
        let body = self.body(key.span, mapping, GroupEntryForm::Named);
        self.add(name, key.span, body, assert, before);
    }

    fn long(&mut self, number: GroupName, span: Span, mapping: &Mapping) {
        let before = self.errors();
        let mut name = (number, span);
        if let Some((key, node)) = mapping.get_entry("name") {
            match node.as_str().filter(|text| !text.is_empty()) {
                Some(text) => name = (self.name(text, node.span), node.span),
                None => {
                    let expected = "a name that is a string";
                    self.add_problem(key.span, InvalidGroup::BadEntry { expected });
                }
            }
        }
        let assert = self.assert(mapping);
        let body = self.body(span, mapping, GroupEntryForm::Long);
        self.add(name.0, name.1, body, assert, before);
    }

    /// Sets the name of the group being read.
    fn name(&mut self, name: &str, span: Span) -> GroupName {
        let name: GroupName = name.into();
        self.group = Some(name.clone());
        if GroupOperator::parse(&name).is_some() || &*name == KEYWORD || name.contains('.') {
            self.add_problem(span, InvalidGroup::ReservedName);
        }
        name
    }

    fn add(
        &mut self,
        name: GroupName,
        span: Span,
        body: usize,
        assert: Option<bool>,
        before: usize,
    ) {
        if let Some(first) = self.block.groups.iter().find(|group| group.name == name) {
            let first = first.span;
            return self.add_problem(span, InvalidGroup::DuplicateName { first });
        }
        let is_broken = self.errors() > before;
        self.block.groups.push(PropertyGroup {
            name,
            span,
            body,
            assert,
            is_broken,
            is_referred: false,
            is_usable: false,
            depth: 0,
        });
    }

    fn assert(&mut self, mapping: &Mapping) -> Option<bool> {
        let (key, node) = mapping.get_entry("assert")?;
        if let Value::Bool(assert) = node.value {
            return Some(assert);
        }
        self.add_problem(
            key.span,
            InvalidGroup::BadEntry {
                expected: "`true` or `false`",
            },
        );
        None
    }

    fn body_of(&mut self, body: Body) -> usize {
        self.block.bodies.push(body);
        self.block.bodies.len() - 1
    }

    fn body(&mut self, at: Span, mapping: &Mapping, form: GroupEntryForm) -> usize {
        for key in mapping.keys() {
            let name = key.as_str();
            if name.is_none_or(|name| !form.keys().contains(&name)) {
                let near = name
                    .and_then(|name| nearest(name, form.keys().iter().copied()))
                    .filter(|near| mapping.get(*near).is_none());
                let key_text = crate::yaml::emit::scalar_text(&key.value);
                self.add_problem(
                    key.span,
                    InvalidGroup::UnknownKey {
                        key: key_text,
                        near,
                    },
                );
            }
        }
        let is_gated = VERSION_KEYS.iter().any(|key| mapping.get(*key).is_some());
        let operator = self.operator(at, mapping, is_gated);
        let body = self.body_of(Body {
            operator,
            ..Body::default()
        });
        match mapping.get_entry("properties") {
            Some((key, operands)) => self.operands(body, key.span, operands),
            None => self.add_problem(at, InvalidGroup::BadProperties),
        }
        self.arity(body, at);
        self.block.bodies[body].gate = self.gate(mapping);
        body
    }

    fn operator(&mut self, at: Span, mapping: &Mapping, is_gated: bool) -> Option<GroupOperator> {
        let Some((key, node)) = mapping.get_entry("operator") else {
            if !is_gated {
                self.add_problem(
                    at,
                    InvalidGroup::BadOperator {
                        found: None,
                        near: None,
                    },
                );
            }
            return None;
        };
        let found = node.as_str();
        let operator = found.and_then(GroupOperator::parse);
        if operator.is_none() {
            self.bad_operator(if found.is_some() { node.span } else { key.span }, found);
        }
        operator
    }

    fn bad_operator(&mut self, span: Span, found: Option<&str>) {
        let near = found.and_then(|word| nearest(&word.to_lowercase(), GroupOperator::WORDS));
        self.add_problem(
            span,
            InvalidGroup::BadOperator {
                found: found.map(str::to_owned),
                near,
            },
        );
    }

    fn operands(&mut self, body: usize, at: Span, operands: &Node) {
        let Some(items) = operands.as_sequence() else {
            return self.add_problem(at, InvalidGroup::BadProperties);
        };
        if items.is_empty() {
            return self.add_problem(at, InvalidGroup::EmptyGroup);
        }
        let mut read = Vec::with_capacity(items.len().min(Groups::MAX_OPERANDS));
        for item in items {
            let Some(left) = self.left.checked_sub(1) else {
                self.add_problem(item.span, InvalidGroup::TooLarge);
                break;
            };
            self.left = left;
            let written = self.operand(item);
            read.push(GroupOperand {
                span: item.span,
                written,
                target: None,
            });
        }
        self.block.bodies[body].operands = read;
    }

    fn arity(&mut self, body: usize, at: Span) {
        let Body {
            operator, operands, ..
        } = &self.block.bodies[body];
        if *operator == Some(GroupOperator::DependsOn) && operands.len() == 1 {
            self.add_problem(at, InvalidGroup::Arity);
        }
    }

    fn operand(&mut self, item: &Node) -> OperandSyntax {
        let read = match &item.value {
            Value::String(text) => report(text),
            Value::Sequence(parts) => listed(parts),
            Value::Mapping(mapping) => return self.nested(item.span, mapping),
            _ => Err("an operand must be a path, the name of a group, or a group"),
        };
        read.unwrap_or_else(|reason| {
            self.add_problem(item.span, InvalidGroup::BadOperand { reason });
            OperandSyntax::Broken
        })
    }

    fn nested(&mut self, at: Span, mapping: &Mapping) -> OperandSyntax {
        if mapping.get("properties").is_some() {
            return OperandSyntax::Nested(self.body(at, mapping, GroupEntryForm::Nested));
        }
        if mapping.get("property").is_some() {
            return condition(mapping).unwrap_or_else(|reason| {
                self.add_problem(at, InvalidGroup::BadOperand { reason });
                OperandSyntax::Broken
            });
        }
        let mut entries = mapping.iter();
        let (Some((key, operands)), None) = (entries.next(), entries.next()) else {
            let reason = "a nested group needs `properties`, or an operator with its operands";
            self.add_problem(at, InvalidGroup::BadOperand { reason });
            return OperandSyntax::Broken;
        };
        let operator = key.as_str().and_then(GroupOperator::parse);
        if operator.is_none() {
            if operands.as_sequence().is_some() {
                self.bad_operator(key.span, key.as_str());
            } else {
                let reason = "a nested group needs `properties`, or an operator with its operands";
                self.add_problem(at, InvalidGroup::BadOperand { reason });
                return OperandSyntax::Broken;
            }
        }
        let body = self.body_of(Body {
            operator,
            ..Body::default()
        });
        self.operands(body, key.span, operands);
        self.arity(body, key.span);
        OperandSyntax::Nested(body)
    }

    fn gate(&mut self, mapping: &Mapping) -> Option<Gate> {
        let plugin = match mapping.get_entry("client_plugin") {
            Some((key, node)) => match node.as_str().filter(|name| !name.is_empty()) {
                Some(name) => Some(name.into()),
                None => {
                    let expected = "the name of a plugin";
                    self.add_problem(key.span, InvalidGroup::BadVersion { expected });
                    None
                }
            },
            None => None,
        };
        let [list, since] = VERSION_KEYS.map(|key| mapping.get_entry(key));
        let supported = match (list, since) {
            (Some(_), Some((key, _))) => {
                let expected = "used without `client_plugin_supported`";
                self.add_problem(key.span, InvalidGroup::BadVersion { expected });
                None
            }
            (Some((key, node)), None) => self.versions(key, node).map(Supported::Exactly),
            (None, Some((key, node))) => self.since(key, node).map(Supported::Since),
            (None, None) => {
                // The plugin has no effect here.
                if let Some((key, _)) = mapping.get_entry("client_plugin") {
                    let expected = "combined with `client_plugin_supported` or \
                                    `client_plugin_supported_since`";
                    self.add_problem(key.span, InvalidGroup::BadVersion { expected });
                }
                None
            }
        };
        supported.map(|supported| Gate { plugin, supported })
    }

    fn versions(&mut self, key: &Key, node: &Node) -> Option<Vec<ComponentVersion>> {
        let versions = node
            .as_sequence()
            .filter(|items| !items.is_empty())
            .and_then(|items| {
                items
                    .iter()
                    .map(|item| self.version(item))
                    .collect::<Option<Vec<ComponentVersion>>>()
            });
        if versions.is_none() {
            let expected = "a non-empty list of versions";
            self.add_problem(key.span, InvalidGroup::BadVersion { expected });
        }
        versions
    }

    fn since(&mut self, key: &Key, node: &Node) -> Option<ComponentVersion> {
        let version = self.version(node).filter(ComponentVersion::is_numeric);
        if version.is_none() {
            let expected = "a dotted numeric version, such as \"1.2\"";
            self.add_problem(key.span, InvalidGroup::BadVersion { expected });
        }
        version
    }

    fn version(&mut self, node: &Node) -> Option<ComponentVersion> {
        if let Some((text, read)) = lossy(node, self.sources) {
            self.add_problem(node.span, GroupFault::LossyVersion { text, read });
        }
        version_of(node, self.sources)
    }
}

/// Keys that restrict a group to some versions.
const VERSION_KEYS: [&str; 2] = ["client_plugin_supported", "client_plugin_supported_since"];

/// Parses an operand that is a string.
fn report(text: &str) -> Result<OperandSyntax, &'static str> {
    if let Some(name) = text
        .strip_prefix(KEYWORD)
        .and_then(|rest| rest.strip_prefix('.'))
    {
        return match name {
            "" => Err("missing group name after `property_groups.`"),
            name if name.contains('.') => Err("the name of a group cannot contain a dot"),
            name => Ok(OperandSyntax::Reference(name.to_owned())),
        };
    }
    let parts: Vec<Arc<str>> = text.split('.').map(Arc::from).collect();
    if parts.iter().any(|part| part.is_empty()) {
        return Err("a part of the path is empty");
    }
    Ok(if parts.len() == 1 {
        OperandSyntax::Word(text.to_owned())
    } else {
        OperandSyntax::Path(parts)
    })
}

/// Parses an operand that is a list: a path, part by part.
fn listed(parts: &[Node]) -> Result<OperandSyntax, &'static str> {
    if parts.is_empty() {
        return Err("a path needs at least one part");
    }
    let texts: Option<Vec<Arc<str>>> = parts
        .iter()
        .map(|part| part.as_str().map(Arc::from))
        .collect();
    match texts {
        None => Err("the parts of a path must be strings"),
        Some(parts) if parts.iter().any(|part| part.is_empty()) => {
            Err("a part of the path is empty")
        }
        Some(parts) => Ok(OperandSyntax::Path(parts)),
    }
}

/// Parses an operand that is a mapping of `property` and `is`.
fn condition(mapping: &Mapping) -> Result<OperandSyntax, &'static str> {
    const FORM: &str =
        "a condition must be `{property: PATH, is: VALUE}`; `is` can be a list of values";
    let (Some(property), Some(is), 2) = (mapping.get("property"), mapping.get("is"), mapping.len())
    else {
        return Err(FORM);
    };
    let parts = match &property.value {
        Value::String(text) => match report(text)? {
            OperandSyntax::Word(word) => vec![Arc::from(word)],
            OperandSyntax::Path(parts) => parts,
            _ => return Err("the property of a condition must be a path, not a group"),
        },
        Value::Sequence(parts) => match listed(parts)? {
            OperandSyntax::Path(parts) => parts,
            _ => return Err(FORM),
        },
        _ => return Err(FORM),
    };
    let values = is.as_sequence().unwrap_or(std::slice::from_ref(is));
    if values.is_empty() || values.iter().any(|it| it.is_collection() || it.is_null()) {
        return Err("the value of a condition must be a string, a number or a boolean");
    }
    Ok(OperandSyntax::Condition(
        parts,
        values.iter().map(|it| it.value.clone()).collect(),
    ))
}

/// Indexes the groups of a block by name.
pub(super) fn by_name(groups: &[PropertyGroup]) -> HashMap<GroupName, usize> {
    groups
        .iter()
        .enumerate()
        .map(|(index, group)| (group.name.clone(), index))
        .collect()
}
