//! `empty-override`: a key without a value overrides an inherited value.

use super::{DocumentFinding, SiteFacts};
use crate::diagnostic::Diagnostic;
use crate::graph::{DocId, Op};
use crate::merge::deckhand::Method;
use crate::render::effect::effects;
use crate::source::Span;
use crate::yaml::path::{Location, Piece, children};
use crate::yaml::{Mapping, Node};

super::rule!(
    "empty-override", Warning, "a key without a value overrides an inherited value";
    Documents(check)
);

fn check(facts: &SiteFacts<'_>, docs: &[DocId], found: &mut Vec<DocumentFinding>) {
    for doc in docs.iter().copied() {
        let recipe = facts.graph.recipe(doc);
        // Almost no document has such a key: check the document's own data first.
        if recipe.starts_as_base() && has_empty(&recipe.data) {
            let lost = lost(facts, doc);
            found.extend(lost.iter().map(|it| (doc, report(facts, doc, it))));
        }
    }
}

/// Whether a mapping, or a mapping inside it, has a key without a value. Lists are skipped: a list
/// replaces the inherited one as a whole.
fn has_empty(node: &Node) -> bool {
    let mut values = node.as_mapping().into_iter().flat_map(Mapping::values);
    values.any(|value| is_absent(value) || has_empty(value))
}

/// Whether no value is written; an explicit `null` or `~` is intended.
fn is_absent(value: &Node) -> bool {
    value.is_null() && value.span.start == value.span.end
}

/// A key without a value, and the inherited value that it overrides.
struct EmptyOverride {
    place: Location,
    key: Span,
    /// Position where the value would be.
    at: Span,
    inherited: Span,
}

/// Keys without a value that a merge lays over a non-empty mapping or list, and that no later step
/// fills.
fn lost(facts: &SiteFacts<'_>, doc: DocId) -> Vec<EmptyOverride> {
    let recipe = facts.graph.recipe(doc);
    let mut lost = Vec::new();
    for effect in effects(facts.graph, facts.rendered, doc) {
        let Op::Merge {
            method: Method::Merge,
            path,
        } = recipe.step(effect.step).op
        else {
            continue;
        };
        let path = path.value.effective(Method::Merge, facts.graph.semantics);
        let own = path.and_then(|path| path.first(&recipe.data).ok().flatten());
        let Some(mut own) = own else { continue };
        if let Some(inherited) = own.location.get(&effect.before) {
            add_lost(&own.node, inherited, &mut own.location, &mut lost);
        }
    }
    let outcome = facts.rendered.data(doc);
    lost.retain(|empty| {
        let left = outcome.and_then(|outcome| empty.place.get(outcome));
        left.is_some_and(|node| node.is_null() && node.span == empty.at)
    });
    lost
}

fn add_lost(own: &Node, inherited: &Node, here: &mut Location, found: &mut Vec<EmptyOverride>) {
    let (Some(above), Some(below)) = (own.as_mapping(), inherited.as_mapping()) else {
        return;
    };
    if own.secret || inherited.secret {
        return;
    }
    for (key, value) in above.iter() {
        let Some(lower) = below.get(key) else {
            continue;
        };
        here.0.push(Piece::Key(key.clone()));
        if is_absent(value) && is_full(lower) {
            let place = here.clone();
            let key = key.span;
            let at = value.span;
            found.push(EmptyOverride {
                place,
                key,
                at,
                inherited: lower.span,
            });
        } else {
            add_lost(value, lower, here, found);
        }
        here.0.pop();
    }
}

/// Whether the value is a non-empty mapping or list; never for a secret.
fn is_full(node: &Node) -> bool {
    !node.secret && children(node).next().is_some()
}

fn report(facts: &SiteFacts<'_>, doc: DocId, lost: &EmptyOverride) -> Diagnostic {
    let name = facts.name(doc);
    let place = lost.place.to_string();
    let message = format!("`{place}` of `{name}` has no value, which discards the inherited value");
    RULE.finding(message, lost.key, "a key without a value is null")
        .related(
            facts.first_line(lost.inherited),
            "the inherited value, which is lost",
        )
        .note("null replaces the inherited value, as every value that is not a mapping does")
        .help("write the value or remove the key; write `null` if this is intended")
        .about(place)
        .document(&facts.document(doc).key)
}
