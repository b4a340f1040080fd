//! JSON Schema, Draft 4, for nodes with source spans: validates values, and checks schemas for
//! problems.
//!
//! [`Schema::compile`] never fails: an unusable part of a schema becomes a [`SchemaProblem`] with a
//! location and accepts anything; the rest is used. [`Schema::violations`] returns violations as
//! data. Values are validated as Deckhand's own validator sees the output of PyYAML (`deckhand.md`
//! 15.3): `1.0` and `true` are not integers, a date is not a string. References are never fetched,
//! and the work for patterns is limited. This module does not know which schema applies to which
//! document.

mod json;
mod limits;
mod reading;
mod tree;
mod violation;

pub use self::json::{JsonFault, json_fault};
pub(crate) use self::reading::reference_target;
pub use self::reading::{SchemaFault, SchemaProblem};
pub(crate) use self::violation::{Alternative, Bound};
pub use self::violation::{Violation, Wrong};

use std::collections::HashSet;
use std::sync::Arc;

use jsonschema::{Draft, Validator};
use serde_json::Value as Json;

use self::tree::NodeJson;
use crate::merge::pattern::{Effort, Patterns};
use crate::yaml::Node;
use crate::yaml::path::Location;

/// A compiled schema.
pub struct Schema {
    /// Source of the schema, for the locations of its keywords.
    root: Node,
    validator: Validator<NodeJson>,
}

impl Schema {
    /// Maximum number of values in a schema, with aliases expanded.
    pub const MAX_NODES: usize = 100_000;
    /// Maximum nesting depth, including the targets of references.
    pub const MAX_DEPTH: usize = 400;
    /// Maximum number of schemas that may visit one value, with references followed.
    pub const MAX_LOOKS: u64 = 10_000;
    /// Maximum number of visits while validating one value.
    pub const MAX_WORK: u64 = 3_000_000;
    /// Maximum number of violations of one value that have details.
    pub const MAX_DETAILED: usize = 200;
    /// Maximum stack size while validating one value, in bytes.
    const MAX_STACK: usize = 1 << 20;

    /// Compiles the schema at `root`, and returns its problems.
    pub fn compile(root: &Node) -> (Self, Vec<SchemaProblem>) {
        Self::compile_with(root, &Arc::default())
    }

    /// Compiles a schema as [`Schema::compile`] does, with a pattern cache that other schemas may
    /// share.
    pub(crate) fn compile_with(
        root: &Node,
        patterns: &Arc<Patterns>,
    ) -> (Self, Vec<SchemaProblem>) {
        if limits::is_too_large(root) {
            let anything = Json::Object(serde_json::Map::new());
            let validator = build(&anything, patterns)
                .unwrap_or_else(|_| unreachable!("an empty schema is valid"));
            let problem = SchemaProblem {
                span: root.span,
                location: Location::root(),
                fault: SchemaFault::TooLarge,
            };
            return (
                Self {
                    root: root.clone(),
                    validator,
                },
                vec![problem],
            );
        }
        let reading::SchemaReading {
            mut json,
            mut problems,
        } = reading::read(root, patterns);
        let endless = limits::endless_references(root).into_iter();
        problems.extend(endless.map(|span| {
            let location = Location::root();
            let fault = SchemaFault::EndlessReference;
            SchemaProblem {
                span,
                location,
                fault,
            }
        }));
        let mut refused = HashSet::new();
        let validator = loop {
            match build(&json, patterns) {
                Ok(validator) => break validator,
                Err(error) => {
                    let place = error.place;
                    // Guard against an endless loop: a location cannot be rejected twice.
                    if !refused.insert(place.clone()) || !reading::take_out(&mut json, &place) {
                        problems.push(SchemaProblem::unusable(root, &place, &error.reason));
                        json = Json::Object(serde_json::Map::new());
                        continue;
                    }
                    problems.push(SchemaProblem::unusable(root, &place, &error.reason));
                }
            }
        };
        (
            Self {
                root: root.clone(),
                validator,
            },
            problems,
        )
    }

    /// Violations of the schema in `value`, in the order of the schema's keywords.
    pub fn violations(&self, value: &Node) -> Vec<Violation> {
        self.violations_within(value, Effort::default())
    }

    /// Violations as [`Schema::violations`] returns them, with a limit for patterns.
    pub(crate) fn violations_within(&self, value: &Node, effort: Effort) -> Vec<Violation> {
        // Fast path: most values are valid, and checking is cheaper than collecting violations.
        let violations = limits::within(effort, || {
            let is_valid = self.validator.is_valid(value);
            if is_valid {
                Vec::new()
            } else {
                self.wrong_in(value)
            }
        });
        violations.unwrap_or_else(|| vec![Violation::given_up(self.root.span)])
    }

    fn wrong_in(&self, value: &Node) -> Vec<Violation> {
        let violations = violation::all(self.validator.iter_errors(value), &self.root, value);
        if self.root.secret {
            return violations
                .into_iter()
                .map(Violation::without_schema)
                .collect();
        }
        violations
    }
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Schema")
            .field("span", &self.root.span)
            .finish_non_exhaustive()
    }
}

/// Reason why the validator rejected a schema.
struct BuildError {
    /// JSON pointer to the invalid value.
    place: String,
    reason: String,
}

fn build(schema: &Json, patterns: &Arc<Patterns>) -> Result<Validator<NodeJson>, BuildError> {
    let patterns = Arc::clone(patterns);
    let options = jsonschema::options_for::<NodeJson>()
        .with_draft(Draft::Draft4)
        .offline()
        .with_keyword(tree::ONLY_JSON, |_, _, _| Ok(tree::only_json()))
        .with_keyword(tree::ONLY_TEXT_KEYS, |_, _, _| Ok(tree::only_text_keys()))
        .with_keyword(tree::DEAD_REFERENCE, |_, _, _| Ok(tree::dead_reference()))
        .with_keyword(tree::PATTERN, move |_, pattern, _| {
            let pattern = pattern.as_str().and_then(|text| patterns.parse(text).ok());
            Ok(tree::matching(
                pattern.expect("patterns were compiled before"),
            ))
        });
    options.build(schema).map_err(|error| {
        let place = error.instance_path();
        let reason = error.to_string();
        let place = if place.as_str().is_empty() {
            error.schema_path()
        } else {
            place
        };
        BuildError {
            place: place.to_string(),
            reason,
        }
    })
}
