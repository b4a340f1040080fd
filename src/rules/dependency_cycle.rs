//! `dependency-cycle`: documents need each other in a circle.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::{DocId, Edge};

super::rule!("dependency-cycle", Error [Refused], "documents need each other in a circle", was "P005");

/// Maximum number of further documents named in a headline.
const MAX_NAMED: usize = 3;
/// Maximum number of steps shown of a cycle.
const MAX_STEPS: usize = 10;

pub(super) fn word(facts: &SiteFacts<'_>, cycle: &[Edge]) -> Diagnostic {
    let (first, others) = cycle.split_first().expect("a cycle has a member");
    let first_name = named(facts, cycle, first.doc);
    let message = match others.len() {
        0 => format!("{first_name} needs itself"),
        1..=MAX_NAMED => {
            let names: Vec<String> =
                others.iter().map(|edge| named(facts, cycle, edge.doc)).collect();
            format!("{first_name} needs itself through {}", names.join(", "))
        }
        more => format!("{first_name} needs itself through {more} other documents"),
    };
    let label = Label::new(first.need.at, step(facts, cycle, first));
    let diagnostic = Diagnostic::new(&RULE, message, label)
        .note(
            "nothing can be made first: Deckhand refuses the whole site; these, and those that \
             need them, are not rendered here",
        )
        .help(
            "take one of these needs away, e.g. substitute from where the value is first written",
        );
    let diagnostic = others.iter().take(MAX_STEPS).fold(diagnostic, |diagnostic, edge| {
        diagnostic.related(edge.need.at, step(facts, cycle, edge))
    });
    let diagnostic = match others.len().saturating_sub(MAX_STEPS) {
        0 => diagnostic,
        more => diagnostic.note(format!("{more} more steps lead back to {first_name}")),
    };
    cycle.iter().fold(diagnostic, |diagnostic, edge| {
        diagnostic.document(facts.document(edge.doc).key.clone())
    })
}

/// One need of the cycle in words.
fn step(facts: &SiteFacts<'_>, cycle: &[Edge], edge: &Edge) -> String {
    let base = facts.graph.recipe(edge.doc).base;
    let inherits = base.is_some_and(|base| base.selector == edge.need.at);
    let verb = if inherits { "inherits from" } else { "substitutes from" };
    let (needing, needed) = (named(facts, cycle, edge.doc), named(facts, cycle, edge.need.doc));
    format!("{needing} {verb} {needed}")
}

/// A document's name, with its layer where the cycle has another of the name.
fn named(facts: &SiteFacts<'_>, cycle: &[Edge], doc: DocId) -> String {
    let key = &facts.document(doc).key;
    let same = |edge: &&Edge| facts.name(edge.doc) == &*key.name;
    if cycle.iter().filter(same).count() > 1 {
        format!("`{}` ({})", key.name, key.layer)
    } else {
        format!("`{}`", key.name)
    }
}
