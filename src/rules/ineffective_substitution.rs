//! `ineffective-substitution`: a substitution writes the value that is already there.

use super::{DocumentFinding, SiteFacts};
use crate::diagnostic::Diagnostic;
use crate::graph::{DocId, Op, Substitution};
use crate::render::effect::{Effect, effects};
use crate::yaml::Node;
use crate::yaml::path::Location;

super::rule!(
    "ineffective-substitution",
    Note [Strict, Everywhere],
    "a substitution writes the value that is already there";
    Documents(check)
);

fn check(facts: &SiteFacts<'_>, docs: &[DocId], found: &mut Vec<DocumentFinding>) {
    for doc in docs.iter().copied() {
        let mut steps = facts.graph.recipe(doc).steps.iter();
        if !steps.any(|step| matches!(step.op, Op::Substitute(_))) {
            continue;
        }
        let mut written: Vec<Location> = Vec::new();
        for effect in effects(facts.graph, facts.rendered, doc) {
            let step = facts.graph.recipe(doc).step(effect.step);
            let Op::Substitute(substitution) = step.op else {
                continue;
            };
            // `repeated-destination` reports two substitutions into one place.
            if let Some(there) = there_before(&effect)
                && !is_written_before(&effect, &written)
            {
                found.push((doc, report(facts, doc, &effect, &substitution, there)));
            }
            written.extend(effect.written);
        }
    }
}

/// Previous value at the first of the places written, if none of them changed. Returns `None` for
/// secrets.
fn there_before(effect: &Effect) -> Option<&Node> {
    let mut there = effect.written.iter().map(|place| {
        let before = place.get(&effect.before)?;
        let after = place.get(&effect.after)?;
        let is_same = !before.holds_secret() && !after.holds_secret() && before == after;
        is_same.then_some(before)
    });
    let first = there.next()??;
    there.all(|node| node.is_some()).then_some(first)
}

fn is_written_before(effect: &Effect, earlier: &[Location]) -> bool {
    earlier
        .iter()
        .any(|place| effect.written.iter().any(|here| here.starts_with(place)))
}

fn report(
    facts: &SiteFacts<'_>,
    doc: DocId,
    effect: &Effect,
    substitution: &Substitution<'_>,
    there: &Node,
) -> Diagnostic {
    let index = effect
        .destination
        .expect("a substitution writes to destinations");
    let path = &substitution.writing.to[index].path;
    let name = facts.name(doc);
    let text = path.value.text();
    let source = facts.name(substitution.source);
    let message = format!("`{name}` substitutes into `{text}` the value that is already there");
    RULE.finding(message, path.span, format!("`{source}` has the same value"))
        .related(facts.first_line(there.span), "the existing value")
        .note("a reader of the replaced value cannot see that it has no effect")
        .help("remove the replaced value or use a placeholder, or remove the substitution")
        .about(text)
        .document(&facts.document(doc).key)
}
