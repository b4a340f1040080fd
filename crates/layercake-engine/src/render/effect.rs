//! What each step of a document did to its data, and what the document would
//! be without some of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use layercake_yaml::path::Location;
use layercake_yaml::{Node, Origin, Value};

use super::stroke::{Author, States};
use super::{Making, Rendered};
use crate::graph::{DocId, Graph};

/// What one action, or one destination of a substitution, did.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Which step of the recipe.
    pub step: usize,
    /// Which destination of a substitution; none for an action.
    pub destination: Option<usize>,
    /// The document's data before.
    pub before: Node,
    /// Its data afterwards.
    pub after: Node,
    /// The places that were written or taken away; none where the step failed.
    pub written: Vec<Location>,
}

/// What the steps of a document did, in order; nothing where it was not made,
/// or grew beyond a limit, so that nothing of what they did is left.
pub fn effects(
    graph: &Graph,
    rendered: &Rendered,
    doc: DocId,
) -> impl Iterator<Item = Effect> + use<> {
    let states = States::of(graph, rendered, doc);
    let is_limited =
        |states: &States| states.strokes.iter().any(|stroke| stroke.author == Author::Limit);
    let states = states.filter(|states| !is_limited(states));
    states.into_iter().flat_map(|states| {
        let mut data = states.start;
        states.strokes.into_iter().filter_map(move |stroke| {
            let (step, destination) = match stroke.author {
                Author::Action { step } => (step, None),
                Author::Destination { step, index } => (step, Some(index)),
                Author::Limit => return None,
            };
            let after = stroke.delta.redone(&data);
            let before = std::mem::replace(&mut data, after.clone());
            let written = stroke.written;
            Some(Effect { step, destination, before, after, written })
        })
    })
}

/// The data that a document would have without some of its steps; none where
/// it was not made.
pub fn data_without(
    graph: &Graph,
    rendered: &Rendered,
    doc: DocId,
    steps: &BTreeSet<usize>,
) -> Option<Node> {
    rendered.data(doc)?;
    let ready =
        |needed: DocId| rendered.data(needed).expect("what was made needs only what was made");
    let mut making = Making::new(graph, doc, &ready, rendered.allowance);
    making.left_out.clone_from(steps);
    Some(making.run(&ready).data)
}

/// Whether two values are made of the same texts: each scalar and each empty
/// collection was written by the same hand. What the texts say is not asked,
/// so that the answer tells nothing of a secret.
pub fn is_of_same_texts(one: &Node, other: &Node) -> bool {
    match (&one.value, &other.value) {
        (Value::Mapping(these), Value::Mapping(those)) if !these.is_empty() => {
            Arc::ptr_eq(these, those)
                || these.len() == those.len()
                    && these.iter().all(|(key, node)| {
                        those.get(key).is_some_and(|twin| is_of_same_texts(node, twin))
                    })
        }
        (Value::Sequence(these), Value::Sequence(those)) if !these.is_empty() => {
            Arc::ptr_eq(these, those)
                || these.len() == those.len()
                    && these
                        .iter()
                        .zip(those.iter())
                        .all(|(one, other)| is_of_same_texts(one, other))
        }
        _ => is_same_text(one, other),
    }
}

/// What a step computed is not told by its place; it is the same where it is
/// equal, which must not be said of a secret.
fn is_same_text(one: &Node, other: &Node) -> bool {
    let is_written = |node: &Node| match node.origin {
        Origin::Written => true,
        Origin::Derived | Origin::Made => false,
    };
    let may_compare = is_written(one) && is_written(other) || !one.secret && !other.secret;
    let has_changed = !is_written(one) || !is_written(other);
    may_compare && one.span == other.span && (!has_changed || one == other)
}
