//! `ineffective-action`: layering action that has no effect.

use std::collections::BTreeSet;

use super::{DocumentFinding, SiteFacts};
use crate::diagnostic::{Diagnostic, TextEdit};
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
        if !actions
            .iter()
            .any(|action| making_idle(facts, doc, action, &BTreeSet::new()).is_some())
        {
            continue;
        }
        let ineffective = ineffective(facts, doc, &actions);
        found.extend(
            actions
                .iter()
                .filter(|action| ineffective.contains(&action.step))
                .map(|action| (doc, report(facts, doc, action, &ineffective))),
        );
    }
}

/// Step of a document that merges its own data.
struct Action<'a> {
    /// Index of the step.
    step: usize,
    method: Method,
    path: &'a Spanned<ActionPath>,
}

impl<'a> Action<'a> {
    fn path(&self, facts: &SiteFacts<'_>) -> Option<&'a Path> {
        self.path
            .value
            .effective(self.method, facts.graph.semantics)
    }
}

fn actions<'a>(facts: &SiteFacts<'a>, doc: DocId) -> Vec<Action<'a>> {
    let steps = facts.graph.recipe(doc).steps.iter();
    steps
        .filter_map(|step| match step.op {
            Op::Merge { method, path } => Some(Action {
                step: step.index,
                method,
                path,
            }),
            Op::Substitute(_) | Op::Combine(_) => None,
        })
        .collect()
}

/// Steps of the actions that can all be removed together; of two equivalent actions, the later one.
fn ineffective(facts: &SiteFacts<'_>, doc: DocId, actions: &[Action<'_>]) -> BTreeSet<usize> {
    let mut left_out = BTreeSet::new();
    let Some(data) = facts.rendered.data(doc) else {
        return left_out;
    };
    let effects = effects(facts.graph, facts.rendered, doc);
    let wrote: BTreeSet<usize> = effects
        .filter(|effect| !effect.written.is_empty())
        .map(|effect| effect.step)
        .collect();
    for action in actions
        .iter()
        .rev()
        .filter(|action| wrote.contains(&action.step))
    {
        if left_out.len() + 1 == actions.len() {
            break;
        }
        if making_idle(facts, doc, action, &left_out).is_none() {
            continue;
        }
        left_out.insert(action.step);
        let without = data_without(facts.graph, facts.rendered, doc, &left_out);
        if !without.is_some_and(|without| is_of_same_texts(&without, data)) {
            left_out.remove(&action.step);
        }
    }
    left_out
}

/// The other step that makes `action` redundant for any inherited value. An equal result alone may
/// be a coincidence that ends with the parent's next edit.
fn making_idle(
    facts: &SiteFacts<'_>,
    doc: DocId,
    action: &Action<'_>,
    left_out: &BTreeSet<usize>,
) -> Option<usize> {
    let steps = facts.graph.recipe(doc).steps.iter();
    let mut others = steps.filter(|other| !left_out.contains(&other.index));
    let idle = others.find(|other| {
        other.index != action.step
            && match other.op {
                Op::Merge { method, path } => {
                    let other = Action {
                        step: other.index,
                        method,
                        path,
                    };
                    does_the_same(facts, doc, action, &other)
                }
                Op::Substitute(substitution) => {
                    other.index > action.step
                        && substitution
                            .writing
                            .to
                            .iter()
                            .any(|to| covers(facts, action, to))
                }
                Op::Combine(_) => false,
            }
    });
    idle.map(|other| other.index)
}

/// Whether an action overwrites the effect of `action` or repeats it.
fn does_the_same(
    facts: &SiteFacts<'_>,
    doc: DocId,
    action: &Action<'_>,
    other: &Action<'_>,
) -> bool {
    let own = action.path(facts).and_then(Path::segments);
    let around = other.path(facts).and_then(Path::segments);
    let (Some(own), Some(around)) = (own, around) else {
        return false;
    };
    if !own.starts_with(around) {
        return false;
    }
    match (action.method, other.method) {
        (_, Method::Delete) => other.step > action.step && action.method != Method::Delete,
        (Method::Delete, Method::Replace) => other.step > action.step,
        (Method::Delete, Method::Merge) => false,
        (Method::Merge | Method::Replace, Method::Replace) | (Method::Merge, Method::Merge) => true,
        // A merge keeps the other keys of the mapping below.
        (Method::Replace, Method::Merge) => !lays_mapping(facts, doc, action),
    }
}

fn lays_mapping(facts: &SiteFacts<'_>, doc: DocId, action: &Action<'_>) -> bool {
    let data = &facts.graph.recipe(doc).data;
    let own = action.path(facts).and_then(|path| path.first(data).ok()?);
    own.is_some_and(|found| found.node.as_mapping().is_some())
}

/// Whether a whole value is substituted at the action's path or around it.
fn covers(facts: &SiteFacts<'_>, action: &Action<'_>, to: &Destination) -> bool {
    let own = action.path(facts).and_then(Path::segments);
    let (Some(own), Some(around)) = (own, to.path.value.segments()) else {
        return false;
    };
    to.part.is_none() && !around.is_empty() && own.starts_with(around)
}

fn report(
    facts: &SiteFacts<'_>,
    doc: DocId,
    action: &Action<'_>,
    left_out: &BTreeSet<usize>,
) -> Diagnostic {
    let name = facts.name(doc);
    let recipe = facts.graph.recipe(doc);
    let at = recipe.step(action.step).at;
    let path = facts
        .sources
        .slice(action.path.span)
        .trim_matches(['"', '\'']);
    let did = format!("{} `{path}`", action.method.as_str());
    let message = format!("the action of `{name}` to {did} has no effect");
    let mut diagnostic = RULE
        .finding(
            message,
            facts.first_line(at),
            "the document is the same without it",
        )
        .about(did);
    if let Some(other) = making_idle(facts, doc, action, left_out) {
        let what = if other > action.step {
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
        .document(&facts.document(doc).key)
}
