//! Property groups: which properties of a mapping go together, as
//! heat-specs wanted it for the properties of resources
//! (`heat-property-groups.md` 3 and 4, whose decisions D1 to D11 comments
//! name).
//!
//! [`Groups::of_schema`] reads the keyword `property_groups` wherever it is in a JSON Schema,
//! [`Groups::beside_schema`] a block that is elsewhere and is about the top of the same data. Both
//! never fail: an unusable group is a `GroupProblem` at its place, and is switched off together with
//! those that rest on it. [`Groups::findings`] returns the violations of data, as data; which data
//! that is, and how violations are described, is not known here.

mod definition;
mod evaluate;
mod names;
mod shape;
mod version;

use std::sync::Arc;

pub(crate) use self::definition::{GroupFault, GroupProblem};
pub(crate) use self::evaluate::{Breach, GroupViolation, ShownOperand};
pub use self::version::{ComponentVersion, Versions};

use self::definition::{Block, read_block};
use self::shape::{ShapeId, Shapes};
use crate::source::{SourceMap, Span};
use crate::yaml::Node;
use crate::yaml::path::{Location, inside};

/// The word that begins a block in a schema.
pub(crate) const KEYWORD: &str = "property_groups";

/// The blocks of a schema, or one beside it, ready to be used.
#[derive(Debug)]
pub struct Groups {
    /// The nodes that they were read from: while these are kept, no other node has their addresses.
    kept: Vec<Node>,
    shapes: Shapes,
    blocks: Vec<Block>,
    /// The blocks that each shape has.
    placed: Vec<Vec<usize>>,
    /// Whether a shape, or one inside it, has a block.
    leads: Vec<bool>,
    top: ShapeId,
    /// Their problems, block by block.
    pub problems: Vec<GroupProblem>,
}

/// A block where it was found, before it is read.
struct FoundBlock<'a> {
    shape: ShapeId,
    node: &'a Node,
    span: Span,
    location: Location,
}

impl Groups {
    /// A block may have this many groups.
    pub const MAX_GROUPS: usize = 1000;
    /// It may have this many operands, those of nested groups too.
    pub const MAX_OPERANDS: usize = 10_000;
    /// Groups may lie this deep in each other, references followed.
    pub const MAX_DEPTH: usize = 200;
    /// Looks at values that one evaluation may take.
    pub const MAX_WORK: u64 = 3_000_000;

    /// The groups in a schema, whose text is in `sources`. The schema is to be
    /// within the limits of [`Schema`](crate::schema::Schema).
    pub fn of_schema(schema: &Node, sources: &SourceMap) -> Self {
        if !has_keyword(schema) {
            let (shapes, top) = Shapes::open();
            let placed = vec![Vec::new(); shapes.len()];
            return Self::ready(vec![schema.clone()], shapes, Vec::new(), placed, top, Vec::new());
        }
        let shape::ReadShapes { shapes, top, found, mut problems } = shape::read(schema);
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

    /// The groups of `block`, about the top of what `schema` describes; where
    /// there is no schema, any property may be there.
    pub fn beside_schema(block: &Node, schema: Option<&Node>, sources: &SourceMap) -> Self {
        let (shapes, top) = match schema {
            Some(schema) => {
                let read = shape::read(schema);
                (read.shapes, read.top)
            }
            None => Shapes::open(),
        };
        let location = Location::root();
        let found = FoundBlock { shape: top, node: block, span: block.span, location };
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
        Self { kept, shapes, blocks, placed, leads, top, problems }
    }

    /// Whether there is nothing to evaluate.
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Whether nothing of what they were read from may be shown.
    pub(crate) fn is_secret(&self) -> bool {
        self.kept.iter().any(|node| node.secret)
    }

    /// Violations of these groups in `data`, where these are the versions of its reader: in the
    /// order in which schema and data are walked together, a block before those inside it, its
    /// groups as they are declared, and of each group the violations of its versions first.
    pub fn findings(&self, data: &Node, versions: &Versions) -> Vec<GroupViolation> {
        if self.is_empty() { Vec::new() } else { evaluate::findings(self, data, versions) }
    }
}

/// Whether [`KEYWORD`] is anywhere in a schema. In most it is not, and their shapes need not be
/// known.
fn has_keyword(schema: &Node) -> bool {
    schema.get(KEYWORD).is_some() || inside(schema).any(has_keyword)
}

/// An operator (D2, D4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupOperator {
    /// All operands.
    And,
    /// At least one.
    Or,
    /// Exactly one, however many there are.
    Xor,
    /// None or one, however many there are.
    AtMostOne,
    /// The first only with all others.
    DependsOn,
}

impl GroupOperator {
    /// The words, as they are written in definitions.
    pub(crate) const WORDS: [&str; 5] = ["and", "or", "xor", "at_most_one", "depends_on"];

    /// The word, in lower case.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            GroupOperator::And => "and",
            GroupOperator::Or => "or",
            GroupOperator::Xor => "xor",
            GroupOperator::AtMostOne => "at_most_one",
            GroupOperator::DependsOn => "depends_on",
        }
    }

    /// The operator of a word in any case.
    fn parse(word: &str) -> Option<Self> {
        let all = [
            GroupOperator::And,
            GroupOperator::Or,
            GroupOperator::Xor,
            GroupOperator::AtMostOne,
            GroupOperator::DependsOn,
        ];
        all.into_iter().find(|operator| operator.as_str().eq_ignore_ascii_case(word))
    }
}

/// A group as others call it: its name, or `#N` for the N-th entry.
type GroupName = Arc<str>;
