//! JSON Schema, Draft 4, over nodes that remember their text: whether a value
//! is as a schema says, and what is wrong with a schema itself.
//!
//! [`Schema::compile`] never fails: what cannot be used of a schema is a
//! [`SchemaProblem`] with its place, accepts anything, and the rest of the schema is
//! used. [`Schema::violations`] says what is wrong as data. Values are read in
//! place, as Deckhand's own validator sees what PyYAML makes of them
//! (`deckhand.md` 15.3): `1.0` and `true` are no integers, a date is no string.
//! Nothing is fetched, ever, and no pattern is tried without end. Which schema applies to what is not known here.

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

/// A schema, ready to be used.
pub struct Schema {
    /// The schema as it is written, for the places of its keywords.
    root: Node,
    validator: Validator<NodeJson>,
}

impl Schema {
    /// A schema may have this many values, aliases written out.
    pub const MAX_NODES: usize = 100_000;
    /// It may be nested this deep, with all that references lead to.
    pub const MAX_DEPTH: usize = 400;
    /// Maximum number of schemas that may look at one value, references followed.
    pub const MAX_LOOKS: u64 = 10_000;
    /// Looks at values that validating one value may take.
    pub const MAX_WORK: u64 = 3_000_000;
    /// Maximum number of violations of one value that have details.
    pub const MAX_DETAILED: usize = 200;
    /// Bytes of the stack that validating one value may take.
    const MAX_STACK: usize = 1 << 20;

    /// Makes a schema of what is written at `root`, and says what is wrong with
    /// it.
    pub fn compile(root: &Node) -> (Self, Vec<SchemaProblem>) {
        Self::compile_with(root, &Arc::default())
    }

    /// Compiles a schema as [`Schema::compile`] does, with patterns that other schemas may share.
    pub(crate) fn compile_with(
        root: &Node,
        patterns: &Arc<Patterns>,
    ) -> (Self, Vec<SchemaProblem>) {
        if limits::is_too_large(root) {
            let anything = Json::Object(serde_json::Map::new());
            let validator =
                build(&anything, patterns).unwrap_or_else(|_| unreachable!("it demands nothing"));
            let problem = SchemaProblem {
                span: root.span,
                location: Location::root(),
                fault: SchemaFault::TooLarge,
            };
            return (Self { root: root.clone(), validator }, vec![problem]);
        }
        let reading::SchemaReading { mut json, mut problems } = reading::read(root, patterns);
        let endless = limits::endless_references(root).into_iter();
        problems.extend(endless.map(|span| {
            let (location, fault) = (Location::root(), SchemaFault::EndlessReference);
            SchemaProblem { span, location, fault }
        }));
        let mut refused = HashSet::new();
        let validator = loop {
            match build(&json, patterns) {
                Ok(validator) => break validator,
                Err(error) => {
                    let place = error.place;
                    // A place that is refused again would be refused for ever.
                    if !refused.insert(place.clone()) || !reading::take_out(&mut json, &place) {
                        problems.push(SchemaProblem::unusable(root, &place, &error.reason));
                        json = Json::Object(serde_json::Map::new());
                        continue;
                    }
                    problems.push(SchemaProblem::unusable(root, &place, &error.reason));
                }
            }
        };
        (Self { root: root.clone(), validator }, problems)
    }

    /// Violations of the schema in `value`, in the order of the schema's keywords.
    pub fn violations(&self, value: &Node) -> Vec<Violation> {
        self.violations_within(value, Effort::default())
    }

    /// Violations as [`Schema::violations`] gives them, where patterns may take this effort.
    pub(crate) fn violations_within(&self, value: &Node, effort: Effort) -> Vec<Violation> {
        // Nearly everything is valid, which costs less to see than what is wrong.
        let violations = limits::within(effort, || {
            let is_valid = self.validator.is_valid(value);
            if is_valid { Vec::new() } else { self.wrong_in(value) }
        });
        violations.unwrap_or_else(|| vec![Violation::given_up(self.root.span)])
    }

    fn wrong_in(&self, value: &Node) -> Vec<Violation> {
        let violations = violation::all(self.validator.iter_errors(value), &self.root, value);
        if self.root.secret {
            return violations.into_iter().map(Violation::without_schema).collect();
        }
        violations
    }
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Schema").field("span", &self.root.span).finish_non_exhaustive()
    }
}

/// Reason why a schema could not be used as it is.
struct BuildError {
    /// A JSON pointer to what is at fault.
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
            Ok(tree::matching(pattern.expect("patterns were read before")))
        });
    options.build(schema).map_err(|error| {
        let (place, reason) = (error.instance_path(), error.to_string());
        let place = if place.as_str().is_empty() { error.schema_path() } else { place };
        BuildError { place: place.to_string(), reason }
    })
}
