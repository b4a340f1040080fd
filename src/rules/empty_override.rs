//! `empty-override`: a key without a value takes the place of what is inherited.

use super::{Found, SiteFacts};
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::{DocId, Op};
use crate::merge::deckhand::Method;
use crate::render::effect::effects;
use crate::source::Span;
use crate::yaml::path::{Location, Piece};
use crate::yaml::{Node, Value};

super::rule!(
    "empty-override",
    Warning,
    "a key without a value takes the place of what is inherited"
);

pub(super) fn check(facts: &SiteFacts<'_>, docs: &[DocId], found: &mut Vec<Found>) {
    for doc in docs.iter().copied() {
        let recipe = facts.graph.recipe(doc);
        if !recipe.starts_as_base() {
            continue;
        }
        let mut empty = Vec::new();
        add_empty(&recipe.data, &mut Location::root(), &mut empty);
        // Next to no document has any; what the others' actions did is not asked.
        if !empty.is_empty() {
            let lost = lost(facts, doc, empty);
            found.extend(lost.iter().map(|it| (doc, word(facts, doc, it))));
        }
    }
}

/// A key behind which nothing stands.
struct Empty {
    place: Location,
    key: Span,
    /// Where the value would be.
    at: Span,
}

/// Adds the keys without a value, in mappings alone: a list takes the place of
/// the inherited one as a whole, whatever is in it.
fn add_empty(node: &Node, here: &mut Location, found: &mut Vec<Empty>) {
    let Some(mapping) = node.as_mapping().filter(|_| !node.secret) else { return };
    for (key, value) in mapping.iter() {
        here.0.push(Piece::Key(key.clone()));
        // `null` and `~` are written by somebody who means it.
        if value.is_null() && value.span.start == value.span.end {
            found.push(Empty { place: here.clone(), key: key.span, at: value.span });
        } else {
            add_empty(value, here, found);
        }
        here.0.pop();
    }
}

/// Such a key, and the first line of what it takes the place of.
struct Lost {
    empty: Empty,
    inherited: Span,
}

/// Those that a merge lays over a mapping or list with something in it, and that
/// nothing fills later.
fn lost(facts: &SiteFacts<'_>, doc: DocId, empty: Vec<Empty>) -> Vec<Lost> {
    let Some(outcome) = facts.rendered.data(doc) else { return Vec::new() };
    let is_own = |data: &Node, empty: &Empty| {
        let node = empty.place.get(data);
        node.is_some_and(|node| node.is_null() && node.span == empty.at)
    };
    let mut left: Vec<Empty> = empty.into_iter().filter(|it| is_own(outcome, it)).collect();
    let mut lost = Vec::new();
    for effect in effects(facts.graph, facts.rendered, doc) {
        if left.is_empty() {
            break;
        }
        let op = facts.graph.recipe(doc).step(effect.step).op;
        if !matches!(op, Op::Merge { method: Method::Merge, .. }) {
            continue;
        }
        let (laid, others) = left.into_iter().partition(|it| is_own(&effect.after, it));
        left = others;
        let laid: Vec<Empty> = laid;
        lost.extend(laid.into_iter().filter_map(|empty| {
            let before = empty.place.get(&effect.before).filter(|it| is_full(it))?;
            Some(Lost { inherited: facts.first_line(before.span), empty })
        }));
    }
    lost
}

/// Whether it is a mapping or list with something in it. Of a secret that is not
/// told.
fn is_full(node: &Node) -> bool {
    !node.secret
        && match &node.value {
            Value::Mapping(mapping) => !mapping.is_empty(),
            Value::Sequence(items) => !items.is_empty(),
            _ => false,
        }
}

fn word(facts: &SiteFacts<'_>, doc: DocId, lost: &Lost) -> Diagnostic {
    let (name, place) = (facts.name(doc), lost.empty.place.to_string());
    let message = format!("`{place}` of `{name}` has no value, so what it inherits there is gone");
    let label = Label::new(lost.empty.key, "a key without a value is null");
    Diagnostic::new(&RULE, message, label)
        .related(lost.inherited, "inherited from here, and lost")
        .note("null takes the place of all that was there, as every value that is no mapping does")
        .help("write the value or remove the key; `null` says that nothing is meant")
        .about(place)
        .document(facts.document(doc).key.clone())
}
