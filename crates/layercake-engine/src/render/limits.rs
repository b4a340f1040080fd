//! What rendering may cost: values that multiply or nest when they are put
//! into each other end in a problem, not in the machine's memory.

use std::collections::HashSet;

use layercake_yaml::path::inside;
use layercake_yaml::{Node, Size, YamlLimit};

use crate::graph::{Graph, Recipe};
use crate::merge::pattern::{Effort, PatternFailure};

/// What one document may still cost. The shares do not depend on what other
/// documents cost, so that they do not depend on any order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    most: Cost,
    /// What its steps have cost so far.
    pub(super) spent: Cost,
    /// How often its searches may go back.
    pub(super) effort: Effort,
    /// Entries of mappings and lists that it may have of its own.
    copies: u64,
}

/// What the steps of a document cost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    /// Bytes of the texts that its patterns search and put in.
    work: u64,
    /// Bytes of what its steps make.
    memory: u64,
}

/// Bytes of texts that the steps of one document may search, and as many that they
/// may make. It is less where very many documents have such steps.
pub const MAX_WORK: u64 = 64 << 20;

/// Entries that layering may copy for all documents of a site together, each of which has an
/// equal share.
pub const MAX_COPIES: u64 = 1_500_000;

impl Allowance {
    /// Entries that layering may copy for each document in any case.
    const MIN_COPIES: u64 = 500;
    /// For all documents together, unless each has little.
    const ALL: u64 = 2 << 30;
    pub(super) fn of_each(graph: &Graph) -> Self {
        let documents = graph.recipes.iter().filter(|recipe| makes(recipe)).count() as u64;
        let share = Self::ALL / documents.max(1);
        let (work, memory) = (share.clamp(4 << 20, MAX_WORK), share.clamp(1 << 20, MAX_WORK));
        let most = Cost { work, memory };
        let sharers = documents.saturating_mul(graph.sharers as u64);
        let children = graph.recipes.iter().filter(|recipe| recipe.starts_as_base()).count() as u64;
        let copies = (MAX_COPIES / children.max(1)).max(Self::MIN_COPIES);
        Self { most, spent: Cost::default(), effort: Effort::share_of(sharers), copies }
    }

    /// The limit that the data of a document exceeds, if any; `shared` is all that it was
    /// made of.
    pub(super) fn exceeded<'n>(
        &self,
        data: &Node,
        shared: impl IntoIterator<Item = &'n Node>,
    ) -> Option<YamlLimit> {
        let copies_too_much =
            || self.may_copy_too_much(data) && !self.may_copy(copied(data, shared));
        exceeded(data).or_else(|| copies_too_much().then_some(YamlLimit::Merged))
    }

    /// Whether data is so large that more of it may be copied than is allowed.
    pub(super) fn may_copy_too_much(&self, data: &Node) -> bool {
        Size::of(data).nodes() > self.copies
    }

    /// Whether so many entries may be copied.
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

    /// Whether a document that cost so much within another allowance, without a problem, has none
    /// within this one; `nodes` gives the most that its data had.
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

/// Whether steps make texts or lists that are written nowhere: patterns and
/// indexes do.
fn makes(recipe: &Recipe) -> bool {
    let instructions = recipe.steps.instructions();
    instructions.have_patterns() || instructions.have_indexes()
}

/// Collections inside each other in rendered data: what a file may be, several
/// times substituted into itself.
pub const MAX_DEPTH: usize = 4 * YamlLimit::DEPTH;

/// How many entries of mappings and lists a value does not share with any of those that it
/// was made of.
fn copied<'n>(data: &Node, shared: impl IntoIterator<Item = &'n Node>) -> u64 {
    let mut known = HashSet::new();
    for node in shared {
        count_unknown(node, &mut known);
    }
    count_unknown(data, &mut known)
}

/// How many entries are in the mappings and lists of a value that are not yet `known`, by
/// their addresses.
fn count_unknown(node: &Node, known: &mut HashSet<usize>) -> u64 {
    let (mut count, mut open) = (0, vec![node]);
    while let Some(node) = open.pop() {
        let Some(address) = node.value.address() else { continue };
        if known.insert(address) {
            count += inside(node).count() as u64;
            open.extend(inside(node));
        }
    }
    count
}

/// The limit that a value exceeds, if any.
fn exceeded(data: &Node) -> Option<YamlLimit> {
    let size = Size::of(data);
    match () {
        () if size.height() > MAX_DEPTH => Some(YamlLimit::Depth),
        () if size.nodes() > YamlLimit::NODES => Some(YamlLimit::Nodes),
        () if size.bytes() > YamlLimit::BYTES => Some(YamlLimit::Bytes),
        () => None,
    }
}

/// What it costs to look for a pattern in a value, or to put it in place of
/// one: bytes.
pub(super) fn cost(value: &Node) -> u64 {
    let size = Size::of(value);
    // Each value stands on a line of its own, indented as deep as it is.
    let line = 16 + 2 * size.height() as u64;
    size.bytes() + size.nodes() * line
}
