//! `dependency-cycle`: circular dependency between documents.

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::graph::{DocId, Edge};

super::rule!("dependency-cycle", Error [Refused], "circular dependency between documents", was "P005");

/// Maximum number of further documents named in a headline.
const MAX_NAMED: usize = 3;
/// Maximum number of steps shown of a cycle.
const MAX_STEPS: usize = 10;

pub(super) fn report(facts: &SiteFacts<'_>, cycle: &[Edge]) -> Diagnostic {
    let (first, others) = cycle.split_first().expect("a cycle has a member");
    let first_name = named(facts, cycle, first.doc);
    let message = match others.len() {
        0 => format!("{first_name} depends on itself"),
        1..=MAX_NAMED => {
            let names: Vec<String> = others
                .iter()
                .map(|edge| named(facts, cycle, edge.doc))
                .collect();
            format!(
                "{first_name} depends on itself through {}",
                names.join(", ")
            )
        }
        more => format!("{first_name} depends on itself through {more} other documents"),
    };
    let diagnostic = RULE
        .finding(message, first.need.at, step(facts, cycle, first))
        .note(
            "Deckhand refuses the whole site; layercake does not render these documents or any \
             that depend on them",
        )
        .help(
            "remove one of these dependencies, e.g. substitute from where the value is first \
            written",
        );
    let diagnostic = others
        .iter()
        .take(MAX_STEPS)
        .fold(diagnostic, |diagnostic, edge| {
            diagnostic.related(edge.need.at, step(facts, cycle, edge))
        });
    let diagnostic = match others.len().saturating_sub(MAX_STEPS) {
        0 => diagnostic,
        more => diagnostic.note(format!("{more} more steps lead back to {first_name}")),
    };
    cycle.iter().fold(diagnostic, |diagnostic, edge| {
        diagnostic.document(&facts.document(edge.doc).key)
    })
}

/// Describes one dependency of the cycle.
fn step(facts: &SiteFacts<'_>, cycle: &[Edge], edge: &Edge) -> String {
    let base = facts.graph.recipe(edge.doc).base;
    let inherits = base.is_some_and(|base| base.selector == edge.need.at);
    let verb = if inherits {
        "inherits from"
    } else {
        "substitutes from"
    };
    let needing = named(facts, cycle, edge.doc);
    let needed = named(facts, cycle, edge.need.doc);
    format!("{needing} {verb} {needed}")
}

/// Name of a document, with its layer if another document in the cycle has the same name.
fn named(facts: &SiteFacts<'_>, cycle: &[Edge], doc: DocId) -> String {
    let key = &facts.document(doc).key;
    let alike = cycle
        .iter()
        .filter(|edge| facts.name(edge.doc) == &*key.name);
    if alike.count() > 1 {
        format!("`{}` ({})", key.name, key.layer)
    } else {
        format!("`{}`", key.name)
    }
}
