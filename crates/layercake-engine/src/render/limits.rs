//! Cost limits of rendering. Values that multiply or nest when substituted into each other lead to
//! a problem instead of exhausting memory.

use std::collections::HashSet;

use layercake_yaml::path::inside;
use layercake_yaml::{Node, Size, YamlLimit};

use super::ProblemKind;
use crate::graph::{Graph, Recipe};
use crate::merge::pattern::{Effort, PatternFailure};

/// Remaining cost limits of one document. They do not depend on the cost of other documents, so
/// results do not depend on the order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    most: Cost,
    /// Cost of its steps so far.
    pub(super) spent: Cost,
    /// Remaining backtracking of its pattern searches.
    pub(super) effort: Effort,
    /// Maximum number of entries of mappings and lists that it may copy.
    copies: u64,
}

/// Cost of a document's steps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    /// Bytes of the strings that its patterns search and insert.
    work: u64,
    /// Bytes that its steps create.
    memory: u64,
}

/// Maximum number of bytes of strings that the steps of one document may search, and separately
/// that they may create. Lower if very many documents have such steps.
pub const MAX_WORK: u64 = 64 << 20;

/// Maximum number of entries that layering may copy for all documents of a site, divided equally
/// between them.
pub const MAX_COPIES: u64 = 1_500_000;

impl Allowance {
    /// Minimum number of entries that layering may copy for each document.
    const MIN_COPIES: u64 = 500;
    /// Bytes for all documents together, except where the minimum per document applies.
    const ALL: u64 = 2 << 30;
    pub(super) fn of_each(graph: &Graph) -> Self {
        let documents = graph.recipes.iter().filter(|recipe| makes(recipe)).count() as u64;
        let share = Self::ALL / documents.max(1);
        let most = Cost {
            work: share.clamp(4 << 20, MAX_WORK),
            memory: share.clamp(1 << 20, MAX_WORK),
        };
        let sharers = documents.saturating_mul(graph.sharers as u64);
        let children = graph
            .recipes
            .iter()
            .filter(|recipe| recipe.starts_as_base())
            .count() as u64;
        let copies = (MAX_COPIES / children.max(1)).max(Self::MIN_COPIES);
        Self {
            most,
            spent: Cost::default(),
            effort: Effort::share_of(sharers),
            copies,
        }
    }

    /// Returns the problem of a document whose data exceeds a limit. `shared` are the values that
    /// it was built from.
    pub(super) fn exceeded<'n>(
        &self,
        data: &Node,
        shared: impl IntoIterator<Item = &'n Node>,
    ) -> Option<ProblemKind> {
        if let Some(limit) = SizeLimit::exceeded(data) {
            return Some(ProblemKind::OverLimit(limit));
        }
        let exceeds_copies = self.may_copy_too_much(data) && !self.may_copy(copied(data, shared));
        exceeds_copies.then_some(ProblemKind::TooManyCopies)
    }

    /// Returns whether data has more entries than may be copied.
    pub(super) fn may_copy_too_much(&self, data: &Node) -> bool {
        Size::of(data).nodes() > self.copies
    }

    /// Returns whether this number of entries may be copied.
    pub(super) fn may_copy(&self, entries: u64) -> bool {
        entries <= self.copies
    }

    pub(super) fn search(&mut self, bytes: u64) -> Result<(), PatternFailure> {
        self.spent.work = self.spent.work.saturating_add(bytes);
        let is_within = self.spent.work <= self.most.work;
        is_within.then_some(()).ok_or(PatternFailure::TooManySteps)
    }

    pub(super) fn make(&mut self, bytes: u64) -> Result<(), PatternFailure> {
        let memory = self.spent.memory.saturating_add(bytes);
        if memory > self.most.memory {
            return Err(PatternFailure::OutputTooLarge);
        }
        self.spent.memory = memory;
        Ok(())
    }

    /// Returns whether a document with this cost, rendered without a problem under the `other`
    /// limits, would have none under these. `nodes` returns the maximum number of nodes of its
    /// data.
    pub(super) fn covers(
        &self,
        other: &Self,
        cost: &Cost,
        recipe: &Recipe,
        nodes: impl FnOnce() -> u64,
    ) -> bool {
        cost.work <= self.most.work
            && cost.memory <= self.most.memory
            && (self.effort.covers(&other.effort) || recipe.steps.is_empty())
            && (self.copies >= other.copies || nodes() <= self.copies)
    }
}

/// Returns whether a step creates strings or lists that are not part of any input, as patterns and
/// indexes do.
fn makes(recipe: &Recipe) -> bool {
    let instructions = recipe.steps.instructions();
    instructions.have_patterns() || instructions.have_indexes()
}

/// Maximum nesting depth of rendered data: a multiple of the limit for files, to allow for
/// substitutions.
pub const MAX_DEPTH: usize = 4 * YamlLimit::DEPTH;

/// Limits on the size of rendered data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeLimit {
    /// Nesting depth of collections; see [`MAX_DEPTH`].
    Depth,
    /// Number of nodes, with shared ones expanded; see [`YamlLimit::NODES`].
    Nodes,
    /// Size of the strings in bytes; see [`SizeLimit::BYTES`].
    Bytes,
}

impl SizeLimit {
    /// Maximum size in bytes of all strings of a rendered document, with shared ones expanded.
    pub const BYTES: u64 = 256 << 20;

    /// Returns the limit that a value exceeds, if any.
    fn exceeded(data: &Node) -> Option<Self> {
        let size = Size::of(data);
        match () {
            () if size.height() > MAX_DEPTH => Some(Self::Depth),
            () if size.nodes() > YamlLimit::NODES => Some(Self::Nodes),
            () if size.bytes() > Self::BYTES => Some(Self::Bytes),
            () => None,
        }
    }
}

/// Returns the number of entries of mappings and lists that a value does not share with the values
/// that it was built from.
fn copied<'n>(data: &Node, shared: impl IntoIterator<Item = &'n Node>) -> u64 {
    let mut known = HashSet::new();
    for node in shared {
        count_unknown(node, &mut known);
    }
    count_unknown(data, &mut known)
}

/// Counts the entries of the mappings and lists of a value whose addresses are not yet `known`.
fn count_unknown(node: &Node, known: &mut HashSet<usize>) -> u64 {
    let mut count = 0;
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        let Some(address) = node.value.address() else {
            continue;
        };
        if known.insert(address) {
            count += inside(node).count() as u64;
            open.extend(inside(node));
        }
    }
    count
}

/// Returns the cost of searching a value for a pattern or inserting it, in bytes.
pub(super) fn cost(value: &Node) -> u64 {
    let size = Size::of(value);
    // Each value is written on a line of its own, indented by its depth.
    let line = 16 + 2 * size.height() as u64;
    size.bytes() + size.nodes() * line
}
