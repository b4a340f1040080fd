//! `ineffective-action`: layering action that has no effect.

use std::collections::BTreeSet;

use super::{DocumentFinding, SiteFacts};
use crate::diagnostic::{Diagnostic, Label, TextEdit};
use crate::graph::{Destination, DocId, Op};
use crate::merge::deckhand::{ActionPath, Method};
use crate::render::effect::{data_without, effects, is_of_same_texts};
use crate::source::Spanned;
use crate::yaml::lines_of_item;
use crate::yaml::path::Path;

super::rule!(
    "ineffective-action",
    Note [Fixable, Everywhere],
    "layering action that has no effect";
    Documents(check)
);

/// Maximum number of actions that are tried. Each is tried by rendering the document without it; no
/// document written by hand has more.
const MAX_TRIED_ACTIONS: usize = 100;

fn check(facts: &SiteFacts<'_>, docs: &[DocId], found: &mut Vec<DocumentFinding>) {
    for doc in docs.iter().copied() {
        let actions = actions(facts, doc);
        // A document's only action is what makes it inherit.
        if actions.len() < 2 || actions.len() > MAX_TRIED_ACTIONS {
            continue;
        }
        // Finding the effect of each action means rendering the document again.
        let can_be_idle = |step: &usize| making_idle(facts, doc, *step, &BTreeSet::new()).is_some();
        if !actions.iter().any(can_be_idle) {
            continue;
        }
        let ineffective = ineffective(facts, doc, &actions);
        found.extend(
            ineffective
                .iter()
                .map(|step| (doc, report(facts, doc, *step, &ineffective))),
        );
    }
}

/// Indexes of the steps that are actions.
fn actions(facts: &SiteFacts<'_>, doc: DocId) -> Vec<usize> {
    let steps = facts.graph.recipe(doc).steps.iter();
    let actions = steps.filter(|step| matches!(step.op, Op::Merge { .. }));
    actions.map(|step| step.index).collect()
}

/// Actions that can all be removed together; of two equivalent actions, the later one.
fn ineffective(facts: &SiteFacts<'_>, doc: DocId, actions: &[usize]) -> BTreeSet<usize> {
    let mut left_out = BTreeSet::new();
    let Some(data) = facts.rendered.data(doc) else {
        return left_out;
    };
    let effects = effects(facts.graph, facts.rendered, doc);
    let wrote = effects
        .filter(|effect| !effect.written.is_empty())
        .map(|effect| effect.step);
    let wrote: BTreeSet<usize> = wrote.collect();
    for step in actions
        .iter()
        .copied()
        .rev()
        .filter(|step| wrote.contains(step))
    {
        if left_out.len() + 1 == actions.len() {
            break;
        }
        if making_idle(facts, doc, step, &left_out).is_none() {
            continue;
        }
        left_out.insert(step);
        let without = data_without(facts.graph, facts.rendered, doc, &left_out);
        if !without.is_some_and(|without| is_of_same_texts(&without, data)) {
            left_out.remove(&step);
        }
    }
    left_out
}

/// The other step that makes `step` redundant for any inherited value. An equal result alone may be a
/// coincidence that ends with the parent's next edit.
fn making_idle(
    facts: &SiteFacts<'_>,
    doc: DocId,
    step: usize,
    left_out: &BTreeSet<usize>,
) -> Option<usize> {
    let steps = facts.graph.recipe(doc).steps.iter();
    let mut others = steps.filter(|other| !left_out.contains(&other.index));
    let idle = others.find(|other| {
        other.index != step
            && match other.op {
                Op::Merge { method, path } => {
                    does_the_same(facts, doc, step, (other.index, method, path))
                }
                Op::Substitute(substitution) => {
                    other.index > step
                        && substitution
                            .writing
                            .to
                            .iter()
                            .any(|to| covers(facts, doc, step, to))
                }
                Op::Combine(_) => false,
            }
    });
    idle.map(|other| other.index)
}

/// Whether an action overwrites the effect of `step` or repeats it.
fn does_the_same(
    facts: &SiteFacts<'_>,
    doc: DocId,
    step: usize,
    (other, method, path): (usize, Method, &Spanned<ActionPath>),
) -> bool {
    let semantics = facts.graph.semantics;
    let (own_method, own_path) = action(facts, doc, step);
    let own = own_path
        .value
        .effective(own_method, semantics)
        .and_then(Path::segments);
    let around = path
        .value
        .effective(method, semantics)
        .and_then(Path::segments);
    let (Some(own), Some(around)) = (own, around) else {
        return false;
    };
    if !own.starts_with(around) {
        return false;
    }
    match (own_method, method) {
        (_, Method::Delete) => other > step && own_method != Method::Delete,
        (Method::Delete, Method::Replace) => other > step,
        (Method::Delete, Method::Merge) => false,
        (Method::Merge | Method::Replace, Method::Replace) | (Method::Merge, Method::Merge) => true,
        // A merge keeps the other keys of the mapping below.
        (Method::Replace, Method::Merge) => !lays_mapping(facts, doc, own_path, own_method),
    }
}

fn lays_mapping(
    facts: &SiteFacts<'_>,
    doc: DocId,
    path: &Spanned<ActionPath>,
    method: Method,
) -> bool {
    let path = path.value.effective(method, facts.graph.semantics);
    let own = path.and_then(|path| path.first(&facts.graph.recipe(doc).data).ok().flatten());
    own.is_some_and(|found| found.node.as_mapping().is_some())
}

/// Whether a whole value is substituted at the action's path or around it.
fn covers(facts: &SiteFacts<'_>, doc: DocId, step: usize, to: &Destination) -> bool {
    let (method, path) = action(facts, doc, step);
    let own = path
        .value
        .effective(method, facts.graph.semantics)
        .and_then(Path::segments);
    let (Some(own), Some(around)) = (own, to.path.value.segments()) else {
        return false;
    };
    to.part.is_none() && !around.is_empty() && own.starts_with(around)
}

fn action<'a>(facts: &SiteFacts<'a>, doc: DocId, step: usize) -> (Method, &'a Spanned<ActionPath>) {
    match facts.graph.recipe(doc).step(step).op {
        Op::Merge { method, path } => (method, path),
        Op::Substitute(_) | Op::Combine(_) => unreachable!("only actions are tried"),
    }
}

fn report(
    facts: &SiteFacts<'_>,
    doc: DocId,
    step: usize,
    left_out: &BTreeSet<usize>,
) -> Diagnostic {
    let name = facts.name(doc);
    let recipe = facts.graph.recipe(doc);
    let at = recipe.step(step).at;
    let (method, path) = action(facts, doc, step);
    let path = facts.sources.slice(path.span).trim_matches(['"', '\'']);
    let did = format!("{} `{path}`", method.as_str());
    let message = format!("the action of `{name}` to {did} has no effect");
    let label = Label::new(facts.first_line(at), "the document is the same without it");
    let mut diagnostic = Diagnostic::new(&RULE, message, label).about(did);
    if let Some(other) = making_idle(facts, doc, step, left_out) {
        let what = if other > step {
            "overwrites its effect"
        } else {
            "already has this effect"
        };
        diagnostic = diagnostic.related(facts.first_line(recipe.step(other).at), what);
    }
    let lines = lines_of_item(facts.sources.get(at.file).text(), at);
    if let Some(span) = lines {
        let edit = TextEdit {
            span,
            text: String::new(),
        };
        diagnostic = diagnostic.fix("remove the action", vec![edit]);
    }
    diagnostic
        .note("actions are applied in order, each to the result of the previous one")
        .help("remove it, or correct its path or its position in the list")
        .document(facts.document(doc).key.clone())
}
