//! Property groups: constraints between properties of a mapping, as proposed for resource
//! properties in heat-specs (`heat-property-groups.md` 3 and 4; comments refer to its decisions D1
//! to D11).
//!
//! [`Groups::of_schema`] reads the keyword `property_groups` anywhere in a JSON Schema,
//! [`Groups::beside_schema`] a block defined elsewhere for the top of the same data. Neither fails:
//! an unusable group is a `GroupProblem` with a location, and is disabled with the groups that
//! depend on it. [`Groups::findings`] returns the violations by data, as data; selecting the data
//! and formatting violations is done elsewhere.

mod definition;
mod evaluate;
mod names;
mod shape;
mod version;

use std::sync::Arc;

pub(crate) use self::definition::{GroupFault, GroupProblem, InvalidGroup};
pub(crate) use self::evaluate::{Breach, GroupViolation, ShownOperand};
pub use self::version::{ComponentVersion, Versions};

use self::definition::{Block, read_block};
use self::shape::{ShapeId, Shapes};
use crate::source::{SourceMap, Span};
use crate::yaml::Node;
use crate::yaml::path::{Location, inside};

/// Keyword of a block in a schema.
pub(crate) const KEYWORD: &str = "property_groups";

/// The compiled blocks of a schema, or a compiled block outside a schema.
#[derive(Debug)]
pub struct Groups {
    /// Source nodes, kept alive so that their addresses stay unique.
    kept: Vec<Node>,
    shapes: Shapes,
    blocks: Vec<Block>,
    /// Indexes of the blocks of each shape.
    placed: Vec<Vec<usize>>,
    /// Whether each shape, or one inside it, has a block.
    leads: Vec<bool>,
    top: ShapeId,
    /// Problems of the blocks, in block order.
    pub problems: Vec<GroupProblem>,
}

/// A block that has not been read yet.
struct FoundBlock<'a> {
    shape: ShapeId,
    node: &'a Node,
    span: Span,
    location: Location,
}

impl Groups {
    /// Maximum number of groups in a block.
    pub const MAX_GROUPS: usize = 1000;
    /// Maximum number of operands in a block, including those of nested groups.
    pub const MAX_OPERANDS: usize = 10_000;
    /// Maximum nesting depth of groups, with references followed.
    pub const MAX_DEPTH: usize = 200;
    /// Maximum number of steps per evaluation.
    pub const MAX_WORK: u64 = 3_000_000;

    /// Reads the groups in a schema, whose text is in `sources`. The schema must be within the
    /// limits of [`Schema`](crate::schema::Schema).
    pub fn of_schema(schema: &Node, sources: &SourceMap) -> Self {
        if !has_keyword(schema) {
            let (shapes, top) = Shapes::open();
            let placed = vec![Vec::new(); shapes.len()];
            return Self::ready(
                vec![schema.clone()],
                shapes,
                Vec::new(),
                placed,
                top,
                Vec::new(),
            );
        }
        let shape::ReadShapes {
            shapes,
            top,
            found,
            mut problems,
        } = shape::read(schema);
        let mut placed = vec![Vec::new(); shapes.len()];
        let mut blocks = Vec::with_capacity(found.len());
        for found in found {
            let (block, mut faults) = read_block(&found, &shapes, sources);
            problems.append(&mut faults);
            placed[found.shape].push(blocks.len());
            blocks.push(block);
        }
        Self::ready(vec![schema.clone()], shapes, blocks, placed, top, problems)
    }

    /// Reads the groups of `block`, which apply to the top of the data that `schema` describes;
    /// without a schema, any property is allowed.
    pub fn beside_schema(block: &Node, schema: Option<&Node>, sources: &SourceMap) -> Self {
        let (shapes, top) = match schema {
            Some(schema) => {
                let read = shape::read(schema);
                (read.shapes, read.top)
            }
            None => Shapes::open(),
        };
        let location = Location::root();
        let found = FoundBlock {
            shape: top,
            node: block,
            span: block.span,
            location,
        };
        let (block, problems) = read_block(&found, &shapes, sources);
        let mut placed = vec![Vec::new(); shapes.len()];
        placed[top].push(0);
        let kept = std::iter::once(found.node).chain(schema).cloned().collect();
        Self::ready(kept, shapes, vec![block], placed, top, problems)
    }

    fn ready(
        kept: Vec<Node>,
        shapes: Shapes,
        blocks: Vec<Block>,
        placed: Vec<Vec<usize>>,
        top: ShapeId,
        problems: Vec<GroupProblem>,
    ) -> Self {
        let leads = shapes.leading_to(|shape| !placed[shape].is_empty());
        Self {
            kept,
            shapes,
            blocks,
            placed,
            leads,
            top,
            problems,
        }
    }

    /// Whether there is nothing to evaluate.
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Whether their source is secret.
    pub(crate) fn is_secret(&self) -> bool {
        self.kept.iter().any(|node| node.secret)
    }

    /// Violations of these groups by `data`, given the versions of its reader: in the order of a
    /// joint walk of schema and data, outer blocks first, groups in order of declaration, and
    /// version violations of a group first.
    pub fn findings(&self, data: &Node, versions: &Versions) -> Vec<GroupViolation> {
        if self.is_empty() {
            Vec::new()
        } else {
            evaluate::findings(self, data, versions)
        }
    }
}

/// Whether [`KEYWORD`] occurs in a schema. Most schemas lack it, so their shapes need not be
/// computed.
fn has_keyword(schema: &Node) -> bool {
    schema.get(KEYWORD).is_some() || inside(schema).any(has_keyword)
}

/// An operator (D2, D4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupOperator {
    /// All operands.
    And,
    /// At least one operand.
    Or,
    /// Exactly one operand, regardless of their number.
    Xor,
    /// At most one operand, regardless of their number.
    AtMostOne,
    /// The first operand requires all others.
    DependsOn,
}

impl GroupOperator {
    /// Operators as written in definitions.
    pub(crate) const WORDS: [&str; 5] = ["and", "or", "xor", "at_most_one", "depends_on"];

    /// Name of the operator, in lower case.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            GroupOperator::And => "and",
            GroupOperator::Or => "or",
            GroupOperator::Xor => "xor",
            GroupOperator::AtMostOne => "at_most_one",
            GroupOperator::DependsOn => "depends_on",
        }
    }

    /// Parses an operator, ignoring case.
    fn parse(word: &str) -> Option<Self> {
        let all = [
            GroupOperator::And,
            GroupOperator::Or,
            GroupOperator::Xor,
            GroupOperator::AtMostOne,
            GroupOperator::DependsOn,
        ];
        all.into_iter()
            .find(|operator| operator.as_str().eq_ignore_ascii_case(word))
    }
}

/// Name of a group, or `#N` for the N-th entry.
type GroupName = Arc<str>;
