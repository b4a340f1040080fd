//! Effects of the steps of a document, and its data without some of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use layercake_yaml::path::Location;
use layercake_yaml::{Node, Origin, Value};

use super::stroke::{Author, States};
use super::{Making, Rendered};
use crate::graph::{DocId, Graph};

/// Effect of one action, or of one destination of a substitution.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Index of the step in the recipe.
    pub step: usize,
    /// Index of the destination of a substitution; `None` for an action.
    pub destination: Option<usize>,
    /// Data before.
    pub before: Node,
    /// Data after.
    pub after: Node,
    /// Places that were written or removed; empty if the step failed.
    pub written: Vec<Location>,
}

/// Returns the effects of a document's steps, in order. Empty if the document was not rendered, or
/// if it exceeded a limit, which discards all effects.
pub fn effects(
    graph: &Graph,
    rendered: &Rendered,
    doc: DocId,
) -> impl Iterator<Item = Effect> + use<> {
    let states = States::of(graph, rendered, doc).filter(|states| {
        states
            .strokes
            .iter()
            .all(|stroke| stroke.author != Author::Limit)
    });
    states.into_iter().flat_map(|states| {
        let mut data = states.start;
        states.strokes.into_iter().filter_map(move |stroke| {
            let (step, destination) = match stroke.author {
                Author::Action { step } => (step, None),
                Author::Destination { step, index } => (step, Some(index)),
                Author::Limit => return None,
            };
            let after = stroke.delta.state_after(&data);
            let before = std::mem::replace(&mut data, after.clone());
            let written = stroke.written;
            Some(Effect {
                step,
                destination,
                before,
                after,
                written,
            })
        })
    })
}

/// Returns the data of a document without some of its steps, or `None` if it was not rendered.
pub fn data_without(
    graph: &Graph,
    rendered: &Rendered,
    doc: DocId,
    steps: &BTreeSet<usize>,
) -> Option<Node> {
    rendered.data(doc)?;
    let ready = |needed: DocId| {
        rendered
            .data(needed)
            .expect("a rendered document has only rendered dependencies")
    };
    let mut making = Making::new(graph, doc, &ready, rendered.allowance);
    making.left_out.clone_from(steps);
    Some(making.run(&ready).data)
}

/// Returns whether two values have the same source texts: each scalar and each empty collection has
/// the same origin. The content is not compared, so that the result reveals nothing about a secret.
pub fn is_of_same_texts(one: &Node, other: &Node) -> bool {
    match (&one.value, &other.value) {
        (Value::Mapping(these), Value::Mapping(those)) if !these.is_empty() => {
            Arc::ptr_eq(these, those)
                || these.len() == those.len()
                    && these.iter().all(|(key, node)| {
                        those
                            .get(key)
                            .is_some_and(|counterpart| is_of_same_texts(node, counterpart))
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

/// Compares two scalars or empty collections by their span. A value that a step computed shares the
/// span of its source, so it is compared by value, unless it is secret.
fn is_same_text(one: &Node, other: &Node) -> bool {
    let is_written = |node: &Node| match node.origin {
        Origin::Written => true,
        Origin::Derived | Origin::Made => false,
    };
    let may_compare = is_written(one) && is_written(other) || !one.secret && !other.secret;
    let has_changed = !is_written(one) || !is_written(other);
    may_compare && one.span == other.span && (!has_changed || one == other)
}
