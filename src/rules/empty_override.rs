//! `empty-override`: a key without a value takes the place of what is inherited.

use super::{DocumentFinding, SiteFacts};
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::{DocId, Op};
use crate::merge::deckhand::Method;
use crate::render::effect::effects;
use crate::source::Span;
use crate::yaml::path::{Location, Piece, children};
use crate::yaml::{Mapping, Node};

super::rule!(
    "empty-override", Warning, "a key without a value takes the place of what is inherited";
    Documents(check)
);

fn check(facts: &SiteFacts<'_>, docs: &[DocId], found: &mut Vec<DocumentFinding>) {
    for doc in docs.iter().copied() {
        let recipe = facts.graph.recipe(doc);
        // Next to no document has such a key; what the others' actions did is not asked.
        if recipe.starts_as_base() && has_empty(&recipe.data) {
            let lost = lost(facts, doc);
            found.extend(lost.iter().map(|it| (doc, word(facts, doc, it))));
        }
    }
}

/// Whether a mapping, or one in it, has a key without a value. Lists are not looked
/// into: each takes the place of the inherited one as a whole.
fn has_empty(node: &Node) -> bool {
    let mut values = node.as_mapping().into_iter().flat_map(Mapping::values);
    values.any(|value| is_absent(value) || has_empty(value))
}

/// Whether nothing is written there: the author of `null` or `~` means it.
fn is_absent(value: &Node) -> bool {
    value.is_null() && value.span.start == value.span.end
}

/// A key without a value, and what it takes the place of.
struct EmptyOverride {
    place: Location,
    key: Span,
    /// Where the value would be.
    at: Span,
    inherited: Span,
}

/// The keys without a value that a merge lays over a mapping or list with something
/// in it, and that nothing fills later.
fn lost(facts: &SiteFacts<'_>, doc: DocId) -> Vec<EmptyOverride> {
    let recipe = facts.graph.recipe(doc);
    let mut lost = Vec::new();
    for effect in effects(facts.graph, facts.rendered, doc) {
        let Op::Merge { method: Method::Merge, path } = recipe.step(effect.step).op else {
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
    lost.retain(|it| {
        let left = outcome.and_then(|outcome| it.place.get(outcome));
        left.is_some_and(|node| node.is_null() && node.span == it.at)
    });
    lost
}

fn add_lost(own: &Node, inherited: &Node, here: &mut Location, found: &mut Vec<EmptyOverride>) {
    let (Some(above), Some(below)) = (own.as_mapping(), inherited.as_mapping()) else { return };
    if own.secret || inherited.secret {
        return;
    }
    for (key, value) in above.iter() {
        let Some(lower) = below.get(key) else { continue };
        here.0.push(Piece::Key(key.clone()));
        if is_absent(value) && is_full(lower) {
            let (place, key, at) = (here.clone(), key.span, value.span);
            found.push(EmptyOverride { place, key, at, inherited: lower.span });
        } else {
            add_lost(value, lower, here, found);
        }
        here.0.pop();
    }
}

/// Whether it is a mapping or list with entries. Of a secret that is not reported.
fn is_full(node: &Node) -> bool {
    !node.secret && children(node).next().is_some()
}

fn word(facts: &SiteFacts<'_>, doc: DocId, lost: &EmptyOverride) -> Diagnostic {
    let (name, place) = (facts.name(doc), lost.place.to_string());
    let message = format!("`{place}` of `{name}` has no value, so what it inherits there is gone");
    let label = Label::new(lost.key, "a key without a value is null");
    Diagnostic::new(&RULE, message, label)
        .related(facts.first_line(lost.inherited), "inherited from here, and lost")
        .note("null takes the place of all that was there, as every value that is no mapping does")
        .help("write the value or remove the key; `null` says that nothing is meant")
        .about(place)
        .document(facts.document(doc).key.clone())
}
