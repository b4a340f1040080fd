//! Two compared values as equal and different parts, from which values with only some of the
//! differences are made.

use std::sync::Arc;

use super::DiffSide;
use crate::{Key, Mapping, Node, Value};

/// All values that have some of the differences between two values, and not the others.
#[derive(Clone, Debug)]
pub struct Variants(pub(super) Part);

#[derive(Clone, Debug)]
pub(super) enum Part {
    /// Equal on both sides; the value of the base.
    Same(Node),
    /// One difference.
    Different {
        base: Option<Node>,
        head: Option<Node>,
    },
    /// Mappings that are compared by their entries: those that differ, in the order of the base,
    /// then the added ones.
    Mapping {
        base: Node,
        entries: Vec<(Key, Part)>,
    },
    /// Lists that are compared by their items, in the order of the head. If the order is a
    /// difference, it comes before those of the items; has the position of each in the base.
    List {
        base: Node,
        in_base: Option<Vec<usize>>,
        items: Vec<Part>,
    },
}

impl Variants {
    /// Returns the base with the sides chosen by `take`, which is called once for each difference,
    /// in their order. Equal parts are taken from the base.
    pub fn with(&self, mut take: impl FnMut() -> DiffSide) -> Node {
        self.0.with(&mut take).expect("both compared values exist")
    }
}

impl Part {
    fn with(&self, take: &mut dyn FnMut() -> DiffSide) -> Option<Node> {
        let (base, value) = match self {
            Part::Same(node) => return Some(node.clone()),
            Part::Different { base, head } => {
                return match take() {
                    DiffSide::Base => base.clone(),
                    DiffSide::Head => head.clone(),
                };
            }
            Part::Mapping { base, entries } => {
                let mut combined = Mapping::new();
                let mut different = entries.iter().peekable();
                for (key, node) in base.as_mapping().into_iter().flat_map(Mapping::iter) {
                    let node = match different.next_if(|(other, _)| other == key) {
                        Some((_, part)) => part.with(take),
                        None => Some(node.clone()),
                    };
                    if let Some(node) = node {
                        combined.insert(key.clone(), node);
                    }
                }
                for (key, part) in different {
                    if let Some(node) = part.with(take) {
                        combined.insert(key.clone(), node);
                    }
                }
                (base, Value::Mapping(Arc::new(combined)))
            }
            Part::List {
                base,
                in_base,
                items,
            } => {
                let in_base = in_base.as_ref().filter(|_| take() == DiffSide::Base);
                let taken = items.iter().map(|item| item.with(take));
                (base, Value::from(arranged(taken.collect(), in_base)))
            }
        };
        Some(Node {
            value,
            ..base.clone()
        })
    }
}

/// Arranges items by their positions, if these are given, and leaves out missing ones.
fn arranged(items: Vec<Option<Node>>, positions: Option<&Vec<usize>>) -> Vec<Node> {
    let Some(positions) = positions else {
        return items.into_iter().flatten().collect();
    };
    let mut placed: Vec<_> = positions.iter().zip(items).collect();
    placed.sort_unstable_by_key(|(position, _)| **position);
    placed.into_iter().filter_map(|(_, item)| item).collect()
}
