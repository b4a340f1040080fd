//! Limits that keep validation finite: the size of a schema, the depth and number of its nested
//! references, and the work for one value.
//!
//! The validator expands references at each use, without a limit. Limits that depend only on the
//! schema are checked before use. The rest is counted during validation, which is aborted by
//! unwinding, because the validator has no other way to stop.

use std::any::Any;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::Schema;
use super::reading::{local_pointer, reference_targets, resolve};
use crate::merge::pattern::{Effort, Pattern, PatternFailure};
use crate::source::Span;
use crate::yaml::path::{Location, inside};
use crate::yaml::{Mapping, Node};

/// Whether a schema exceeds the limits.
pub(super) fn is_too_large(root: &Node) -> bool {
    let Some(count) = count_values(root) else {
        return true;
    };
    let targets = reference_targets(root);
    // Without references, only the enclosing schemas visit a value.
    let can_multiply = count as u64 > Schema::MAX_LOOKS || !targets.is_empty();
    is_too_deep(root, &targets) || can_multiply && multiplies(root)
}

/// Number of values; `None` if it exceeds the limit.
fn count_values(root: &Node) -> Option<usize> {
    let mut count = 0;
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        count += 1;
        if count > Schema::MAX_NODES {
            return None;
        }
        open.extend(inside(node));
    }
    Some(count)
}

/// Whether a path from the root through references can be too long.
fn is_too_deep(root: &Node, targets: &[(String, Location)]) -> bool {
    let mut known = HashMap::new();
    let depth = depth_of(root, root, 0, &mut known).unwrap_or_else(|| {
        // A path visits each target at most once.
        let targets = targets.iter().filter_map(|(_, target)| target.get(root));
        targets
            .map(nesting)
            .fold(nesting(root), usize::saturating_add)
    });
    depth > Schema::MAX_DEPTH
}

/// Depth of the value at `node`, including the targets of its references; `None` if these form a
/// cycle. `known` caches depths, with no value for those in progress; `level` is the number of
/// references on the path to `node`.
fn depth_of(
    root: &Node,
    node: &Node,
    level: usize,
    known: &mut HashMap<usize, Option<usize>>,
) -> Option<usize> {
    if level > Schema::MAX_DEPTH {
        return Some(level);
    }
    let identity = std::ptr::from_ref(node).addr();
    if let Some(depth) = known.get(&identity) {
        return *depth;
    }
    known.insert(identity, None);
    let mut below = 0;
    let mut open = vec![node];
    while let Some(inner) = open.pop() {
        if let Some(target) = target_of(root, inner) {
            below = below.max(depth_of(root, target, level + 1, known)?);
        }
        open.extend(inside(inner));
    }
    let depth = nesting(node) + below;
    known.insert(identity, Some(depth));
    Some(depth)
}

/// Target of a schema's reference, if it can be resolved.
fn target_of<'a>(root: &'a Node, node: &Node) -> Option<&'a Node> {
    let pointer = node
        .get("$ref")
        .and_then(Node::as_str)
        .and_then(local_pointer)?;
    resolve(root, &pointer)?.get(root)
}

/// The YAML parser limits the depth of this recursion.
fn nesting(node: &Node) -> usize {
    1 + inside(node).map(nesting).max().unwrap_or(0)
}

/// Whether one value would be visited too often.
fn multiplies(root: &Node) -> bool {
    let mut known = HashMap::new();
    let mut exceeds_limit = |node: &Node| count_visits(root, node, &mut known) > Schema::MAX_LOOKS;
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if exceeds_limit(node) {
            return true;
        }
        open.extend(inside(node));
    }
    false
}

/// Number of schemas that visit a value for the one at `node`. `known` caches results, with zero
/// for those in progress, because the validator does not follow cycles.
fn count_visits(root: &Node, node: &Node, known: &mut HashMap<usize, u64>) -> u64 {
    let identity = std::ptr::from_ref(node).addr();
    if let Some(count) = known.get(&identity) {
        return *count;
    }
    known.insert(identity, 0);
    let mut count: u64 = 1;
    for inner in beside(root, node) {
        count = count.saturating_add(count_visits(root, inner, known));
    }
    known.insert(identity, count);
    count
}

/// References that lead back to themselves without descending into a value; Deckhand's validator
/// follows them forever.
pub(super) fn endless_references(root: &Node) -> Vec<Span> {
    let mut search = ReferenceCycleSearch {
        root,
        states: HashMap::new(),
        found: Vec::new(),
    };
    let mut seen = HashSet::new();
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if seen.insert(std::ptr::from_ref(node).addr()) {
            search.follow(node);
            open.extend(beside(root, node));
            open.extend(below(node));
        }
    }
    search.found
}

struct ReferenceCycleSearch<'a> {
    root: &'a Node,
    /// Completion state of each visited schema.
    states: HashMap<usize, bool>,
    found: Vec<Span>,
}

impl ReferenceCycleSearch<'_> {
    fn follow(&mut self, node: &Node) {
        let identity = std::ptr::from_ref(node).addr();
        if self
            .states
            .insert(identity, false)
            .is_some_and(|is_done| is_done)
        {
            self.states.insert(identity, true);
            return;
        }
        let reference = node.get("$ref").map(|reference| reference.span);
        for inner in beside(self.root, node) {
            match (
                self.states.get(&std::ptr::from_ref(inner).addr()),
                reference,
            ) {
                (Some(true), _) => {}
                (Some(false), Some(span)) => self.found.push(span),
                // Only a reference can lead from inside a schema back to it.
                (Some(false), None) | (None, _) => self.follow(inner),
            }
        }
        self.states.insert(identity, true);
    }
}

/// Subschemas of the schema at `node` that apply to inner values.
fn below(node: &Node) -> Vec<&Node> {
    if node.get("$ref").is_some() {
        return Vec::new();
    }
    let named = ["properties", "patternProperties"]
        .into_iter()
        .filter_map(|keyword| node.get(keyword)?.as_mapping());
    let single = ["additionalProperties", "additionalItems", "items"]
        .into_iter()
        .filter_map(|keyword| node.get(keyword))
        .filter(|it| it.as_mapping().is_some());
    let items = node
        .get("items")
        .and_then(Node::as_sequence)
        .unwrap_or_default();
    named
        .flat_map(Mapping::values)
        .chain(single)
        .chain(items)
        .collect()
}

/// Subschemas of the schema at `node` that apply to the same value.
fn beside<'a>(root: &'a Node, node: &'a Node) -> Vec<&'a Node> {
    if let Some(target) = target_of(root, node) {
        return vec![target];
    }
    let lists = ["allOf", "anyOf", "oneOf"].into_iter();
    let listed = lists
        .filter_map(|keyword| node.get(keyword)?.as_sequence())
        .flatten();
    let dependencies = node.get("dependencies").and_then(Node::as_mapping);
    listed
        .chain(node.get("not"))
        .chain(dependencies.into_iter().flat_map(Mapping::values))
        .collect()
}

thread_local! {
    /// Work left for the current validation on this thread.
    static LEFT: Cell<Option<WorkLeft>> = const { Cell::new(None) };
}

#[derive(Clone, Copy)]
struct WorkLeft {
    visits: u64,
    /// Number of backtracking steps for patterns.
    effort: Effort,
    /// Stack address at the start of the validation.
    stack: usize,
}

/// Panic payload of an aborted validation.
struct GivenUp;

/// Runs `validate` with the given limit for patterns; `None` if it exceeds a limit.
pub(super) fn within<T>(effort: Effort, validate: impl FnOnce() -> T) -> Option<T> {
    let mark = 0_u8;
    let left = WorkLeft {
        visits: Schema::MAX_WORK,
        effort,
        stack: std::ptr::from_ref(&mark).addr(),
    };
    let before = LEFT.replace(Some(left));
    let outcome = catch_unwind(AssertUnwindSafe(validate));
    LEFT.set(before);
    match outcome {
        Ok(done) => Some(done),
        Err(payload) if is_given_up(&*payload) => None,
        Err(other) => resume_unwind(other),
    }
}

fn is_given_up(payload: &(dyn Any + Send)) -> bool {
    payload.is::<GivenUp>()
}

/// Counts one visit of a value.
pub(super) fn count() {
    count_all(1);
}

/// Counts visits of values.
pub(super) fn count_all(visits: u64) {
    let Some(left) = LEFT.get() else { return };
    let mark = 0_u8;
    let used = left.stack.abs_diff(std::ptr::from_ref(&mark).addr());
    match left.visits.checked_sub(visits) {
        Some(rest) if used <= Schema::MAX_STACK => {
            LEFT.set(Some(WorkLeft {
                visits: rest,
                ..left
            }));
        }
        Some(_) | None => resume_unwind(Box::new(GivenUp)),
    }
}

/// Whether a pattern matches a text, within the limits of the current validation.
pub(super) fn search(pattern: &Pattern, text: &str) -> Result<bool, PatternFailure> {
    let Some(mut left) = LEFT.get() else {
        return Ok(pattern.search(text)?.is_some());
    };
    let found = pattern.search_within(text, &mut left.effort);
    LEFT.set(Some(left));
    if found.is_err() && left.effort.is_spent() {
        resume_unwind(Box::new(GivenUp));
    }
    Ok(found?.is_some())
}
