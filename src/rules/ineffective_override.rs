//! `ineffective-override`: a document overrides a value with the value it inherits.

use super::{DocumentFinding, SiteFacts};
use crate::diagnostic::Diagnostic;
use crate::graph::{DocId, Op};
use crate::merge::deckhand::{Method, extended_list};
use crate::render::effect::{Effect, effects, is_of_same_texts};
use crate::yaml::path::{Location, Piece};
use crate::yaml::{Mapping, Node};

super::rule!(
    "ineffective-override",
    Note [Strict, Everywhere],
    "a document overrides a value with the value it inherits";
    Documents(check)
);

fn check(facts: &SiteFacts<'_>, docs: &[DocId], found: &mut Vec<DocumentFinding>) {
    for doc in docs.iter().copied() {
        if !facts.graph.recipe(doc).starts_as_base() {
            continue;
        }
        let mut repeated = Vec::new();
        for effect in effects(facts.graph, facts.rendered, doc) {
            add_repeated(facts, doc, &effect, &mut repeated);
        }
        found.extend(repeated.iter().map(|it| (doc, report(facts, doc, it))));
    }
}

/// A place in a document's own data, and the equal inherited value.
struct RepeatedValue {
    place: Location,
    own: Node,
    inherited: Node,
}

/// Adds the topmost places at which an action writes a value that is already there.
fn add_repeated(
    facts: &SiteFacts<'_>,
    doc: DocId,
    effect: &Effect,
    found: &mut Vec<RepeatedValue>,
) {
    let recipe = facts.graph.recipe(doc);
    let Op::Merge { method, path } = recipe.step(effect.step).op else {
        return;
    };
    let Some(path) = path.value.effective(method, facts.graph.semantics) else {
        return;
    };
    let is_whole = match method {
        Method::Merge => false,
        Method::Replace => true,
        Method::Delete => return,
    };
    // Items appended to a list are not overrides.
    if effect.written.is_empty()
        || extended_list(path, facts.graph.semantics).is_some() && !is_whole
    {
        return;
    }
    let (Ok(Some(own)), Ok(Some(below))) = (path.first(&recipe.data), path.first(&effect.before))
    else {
        return;
    };
    let mut comparison = OverrideComparison {
        is_whole,
        here: own.location,
        found,
    };
    if comparison.is_repeated(&own.node, &below.node) {
        // An empty mapping is the data of a document that only substitutes.
        let is_form = own.node.as_mapping().is_some_and(Mapping::is_empty);
        if !is_form {
            comparison.add(&own.node, &below.node);
        }
    }
}

/// Walk over an own value and the inherited value below it.
struct OverrideComparison<'a> {
    /// Whether the own value replaces the inherited one as a whole.
    is_whole: bool,
    here: Location,
    found: &'a mut Vec<RepeatedValue>,
}

impl OverrideComparison<'_> {
    fn add(&mut self, own: &Node, inherited: &Node) {
        let place = self.here.clone();
        let own = own.clone();
        let inherited = inherited.clone();
        self.found.push(RepeatedValue {
            place,
            own,
            inherited,
        });
    }

    /// Whether all of `own` repeats the inherited value. If only parts do, adds those.
    fn is_repeated(&mut self, own: &Node, inherited: &Node) -> bool {
        // Values written by an earlier action of the same document are not inherited.
        if own.secret || inherited.secret || is_of_same_texts(own, inherited) {
            return false;
        }
        let (Some(above), Some(below)) = (own.as_mapping(), inherited.as_mapping()) else {
            return own == inherited && !own.holds_secret() && !inherited.holds_secret();
        };
        if self.is_whole {
            return own == inherited && !own.holds_secret() && !inherited.holds_secret();
        }
        let mut parts = Vec::new();
        for (key, node) in above.iter() {
            let Some(lower) = below.get(key) else {
                continue;
            };
            self.here.0.push(Piece::Key(key.clone()));
            if self.is_repeated(node, lower) {
                parts.push((self.here.clone(), node.clone(), lower.clone()));
            }
            self.here.0.pop();
        }
        if parts.len() == above.len() {
            return true;
        }
        let parts = parts.into_iter();
        self.found
            .extend(parts.map(|(place, own, inherited)| RepeatedValue {
                place,
                own,
                inherited,
            }));
        false
    }
}

fn report(facts: &SiteFacts<'_>, doc: DocId, repeated: &RepeatedValue) -> Diagnostic {
    let name = facts.name(doc);
    let place = repeated.place.to_string();
    let message = if repeated.place.is_root() {
        format!("all values that `{name}` overrides equal the inherited ones")
    } else {
        format!("`{name}` overrides `{place}` with the value it inherits")
    };
    let from = facts.first_line(repeated.inherited.span);
    RULE.finding(
        message,
        facts.first_line(repeated.own.span),
        "equal to the inherited value",
    )
    .related(from, "inherited from here")
    .note("if the parent changes, this document keeps the old value")
    .help("remove the override, unless the value must not follow the parent")
    .about(place)
    .document(&facts.document(doc).key)
}
