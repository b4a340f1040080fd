//! What rendering may cost: values that multiply or nest when they are put
//! into each other end in a problem, not in the machine's memory.

use std::collections::HashMap;
use std::sync::Arc;

use crate::graph::{Graph, Op, Recipe};
use crate::merge::pattern::{Effort, PatternFailure};
use crate::yaml::{Limit, Node, Value};

/// What one document may still cost. The shares do not depend on what other
/// documents cost, so that they do not depend on any order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    /// Bytes of the texts that its patterns search and put in.
    work: u64,
    /// Bytes of what its steps make.
    memory: u64,
    /// How often its searches may go back.
    pub(super) effort: Effort,
}

impl Allowance {
    /// For all documents together, unless each has little.
    const ALL: u64 = 2 << 30;
    /// For each, even if it is the only one.
    const MOST: u64 = 64 << 20;

    pub(super) fn of_each(graph: &Graph) -> Self {
        let documents = graph.recipes.iter().filter(|recipe| makes(recipe)).count() as u64;
        let share = Self::ALL / documents.max(1);
        let (work, memory) = (share.clamp(4 << 20, Self::MOST), share.clamp(1 << 20, Self::MOST));
        Self { work, memory, effort: Effort::default() }
    }

    pub(super) fn search(&mut self, bytes: u64) -> Result<(), PatternFailure> {
        let left = self.work.checked_sub(bytes);
        self.work = left.unwrap_or(0);
        left.map(drop).ok_or(PatternFailure::TooManySteps)
    }

    pub(super) fn make(&mut self, bytes: u64) -> Result<(), PatternFailure> {
        let left = self.memory.checked_sub(bytes);
        self.memory = left.unwrap_or(self.memory);
        left.map(drop).ok_or(PatternFailure::OutputTooLarge)
    }
}

/// Whether steps make texts or lists that are written nowhere: patterns and
/// indexes do.
fn makes(recipe: &Recipe) -> bool {
    recipe.steps.iter().any(|step| match &step.op {
        Op::Substitute(substitution) => {
            substitution.to.iter().any(|to| to.part.is_some() || to.path.value.text().contains('['))
        }
        Op::Merge { path, .. } => path.value.has_index(),
        Op::Lay(_) => false,
    })
}

/// The limit that a value exceeds, if any.
pub(super) fn exceeded(data: &Node) -> Option<Limit> {
    match Sizes::default().of(data) {
        None => Some(Limit::Depth),
        Some(size) if size.nodes > Limit::NODES => Some(Limit::Nodes),
        Some(size) if size.bytes > Limit::BYTES => Some(Limit::Bytes),
        Some(_) => None,
    }
}

/// What it costs to look for a pattern in a value, or to put it in place of
/// one.
pub(super) fn cost(value: &Node) -> u64 {
    let size = Sizes::default().of(value);
    // Each value stands on a line of its own, indented as deep as it is.
    let line = |size: &Size| 16 + 2 * size.height as u64;
    size.map_or(u64::MAX, |size| size.bytes.saturating_add(size.nodes.saturating_mul(line(&size))))
}

/// How large a value is, with shared values written out.
#[derive(Clone, Copy, Debug)]
struct Size {
    nodes: u64,
    /// Of all texts.
    bytes: u64,
    /// How deep the collections below are nested.
    height: usize,
}

/// Measures values. Written out, those that are shared may be without end: once
/// many have been measured, each shared value is measured once.
#[derive(Default)]
struct Sizes {
    measured: usize,
    known: HashMap<usize, Size, foldhash::fast::RandomState>,
}

impl Sizes {
    /// Rendered data may be nested this deep: what a file may be, several
    /// times substituted into itself.
    const DEPTH: usize = 4 * Limit::DEPTH;
    /// Hardly any document has so many mappings and lists: to look each up costs
    /// more than to measure it again.
    const FEW: usize = 20_000;

    /// The size; none where the nesting is beyond [`Sizes::DEPTH`].
    fn of(&mut self, node: &Node) -> Option<Size> {
        self.measured(node, 0)
    }

    fn measured(&mut self, node: &Node, depth: usize) -> Option<Size> {
        if depth > Self::DEPTH {
            return None;
        }
        match &node.value {
            Value::Mapping(mapping) => {
                let keys = mapping.keys().filter_map(|key| key.as_str());
                let keys = keys.map(|key| key.len() as u64).sum();
                self.container(Arc::as_ptr(mapping) as usize, depth, keys, mapping.values())
            }
            Value::Sequence(items) => {
                self.container(Arc::as_ptr(items) as usize, depth, 0, items.iter())
            }
            Value::String(text) => Some(Size { nodes: 1, bytes: text.len() as u64, height: 0 }),
            _ => Some(Size { nodes: 1, bytes: 0, height: 0 }),
        }
    }

    fn container<'a>(
        &mut self,
        address: usize,
        depth: usize,
        bytes: u64,
        children: impl Iterator<Item = &'a Node>,
    ) -> Option<Size> {
        self.measured += 1;
        let is_kept = self.measured > Self::FEW;
        if is_kept && let Some(known) = self.known.get(&address) {
            return (depth + known.height <= Self::DEPTH).then_some(*known);
        }
        let mut total = Size { nodes: 1, bytes, height: 0 };
        for child in children {
            let size = self.measured(child, depth + 1)?;
            total.nodes = total.nodes.saturating_add(size.nodes);
            total.bytes = total.bytes.saturating_add(size.bytes);
            total.height = total.height.max(size.height + 1);
        }
        if is_kept {
            self.known.insert(address, total);
        }
        Some(total)
    }
}
