//! `lost-data`: data of a document that none of its actions merges.

use super::{DocumentFinding, SiteFacts};
use crate::diagnostic::Diagnostic;
use crate::graph::{DocId, Op};
use crate::merge::deckhand::{Method, extended_list};
use crate::render::{ActionProblem, MissingActionPath, ProblemKind};
use crate::source::Span;
use crate::yaml::Node;
use crate::yaml::path::{Location, Piece, children};

super::rule!(
    "lost-data", Warning, "data of a document that none of its actions merges";
    Documents(check)
);

/// Maximum number of further places shown.
const MAX_FURTHER_PLACES: usize = 8;

fn check(facts: &SiteFacts<'_>, docs: &[DocId], found: &mut Vec<DocumentFinding>) {
    for doc in docs
        .iter()
        .copied()
        .filter(|doc| !has_failed_action(facts, *doc))
    {
        let Some(taken) = taken_over(facts, doc) else {
            continue;
        };
        let mut lost = Vec::new();
        add_lost(
            &facts.graph.recipe(doc).data,
            &mut Location::root(),
            &taken,
            &mut lost,
        );
        if !lost.is_empty() {
            found.push((doc, report(facts, doc, &lost)));
        }
    }
}

/// Whether an action has a path that cannot be resolved. What it would merge is unknown, and its
/// own finding says what to do.
pub(super) fn has_failed_action(facts: &SiteFacts<'_>, doc: DocId) -> bool {
    let mut problems = facts.rendered.problems_of(doc).iter();
    problems.any(|problem| {
        matches!(
            problem.kind,
            ProblemKind::Action(
                ActionProblem::MissingPath(MissingActionPath {
                    in_parent: false,
                    ..
                }) | ActionProblem::Path { .. }
            )
        )
    })
}

/// Places of a document's own data that its actions merge; `None` if the document has no parent or
/// if an action is ambiguous.
fn taken_over(facts: &SiteFacts<'_>, doc: DocId) -> Option<Vec<Location>> {
    let recipe = facts.graph.recipe(doc);
    let semantics = facts.graph.semantics;
    if !recipe.starts_as_base()
        || facts.document(doc).actions().len() != facts.document(doc).actions_written
    {
        return None;
    }
    let mut taken = Vec::new();
    for step in recipe.steps.iter() {
        let Op::Merge { method, path } = step.op else {
            continue;
        };
        let path = path.value.effective(method, semantics)?;
        let list = match method {
            Method::Delete => continue,
            Method::Merge => extended_list(path, semantics),
            Method::Replace => None,
        };
        let path = list.as_ref().unwrap_or(path);
        taken.extend(path.first(&recipe.data).ok()?.map(|found| found.location));
    }
    Some(taken)
}

/// Adds the topmost places that no action merges.
fn add_lost(node: &Node, here: &mut Location, taken: &[Location], lost: &mut Vec<Location>) {
    if taken.iter().any(|place| here.starts_with(place)) || is_empty(node) {
        return;
    }
    if !taken.iter().any(|place| place.starts_with(here)) {
        lost.push(here.clone());
        return;
    }
    for (piece, child) in children(node) {
        here.0.push(piece);
        add_lost(child, here, taken, lost);
        here.0.pop();
    }
}

/// Whether losing the value loses nothing: null, or an empty mapping or list.
fn is_empty(node: &Node) -> bool {
    node.is_null() || node.is_collection() && children(node).next().is_none()
}

fn report(facts: &SiteFacts<'_>, doc: DocId, lost: &[Location]) -> Diagnostic {
    let document = facts.document(doc);
    let data = &facts.graph.recipe(doc).data;
    let name = facts.name(doc);
    let shown = facts.shown_place(data, &lost[0]);
    let what = match &shown {
        Some(place) if *place != "." => format!("`{place}` of `{name}` is lost: "),
        Some(_) | None => format!("data of `{name}` is lost: "),
    };
    let mut diagnostic = RULE
        .finding(
            format!("{what}no action merges it"),
            at(facts, data, &lost[0]),
            "merged by no action",
        )
        .about(shown.unwrap_or_default());
    for place in lost[1..].iter().take(MAX_FURTHER_PLACES) {
        diagnostic = diagnostic.related(at(facts, data, place), "also lost");
    }
    diagnostic
        .note("a document with a parent is its parent's data, changed only by its actions")
        .help("add an action for it, e.g. `{method: merge, path: .}`, or remove it")
        .document(&document.key)
}

/// The key at `place`, or the first line of the value.
fn at(facts: &SiteFacts<'_>, data: &Node, place: &Location) -> Span {
    match place.0.last() {
        Some(Piece::Key(key)) => key.span,
        Some(Piece::Index(_)) | None => {
            facts.first_line(place.get(data).expect("the walk visited this place").span)
        }
    }
}
