//! Where a value comes from, and what it overrides.

use std::collections::BTreeMap;

use super::question::{self, ValueQuestion};
use super::route::step_at;
use crate::check::{Answer, RenderedSite};
use crate::deployment::{Deployment, is_of_armada};
use crate::error::Error;
use crate::graph::{DocId, Op, Recipe, Step};
use crate::merge::Strategy;
use crate::render::replay::{Hop, Replay, Via};
use crate::report::answer::provenance::{
    ExplainedValue, LeafOrigin, ProvenanceStep, StepNote, ValuePrecedence,
};
use crate::report::answer::{Operation, ParentStep, StepAction, StepKind};
use crate::report::model::DeployedBy;
use crate::source::{DocKey, Span};
use crate::yaml::Node;
use crate::yaml::path::{Location, Path, Piece, children};

/// Trace of a value of one site, after the documents that the question may mean were rendered.
pub(crate) fn answer(
    site: &RenderedSite<'_>,
    question: &ValueQuestion,
) -> Answer<Result<ExplainedValue, Error>> {
    let mut needed = question::documents(site, question).unwrap_or_default();
    let is_of_armada = |doc: &DocId| is_of_armada(&site.graph.recipe(*doc).key.schema);
    if needed.iter().any(is_of_armada) {
        needed.extend(Deployment::needed(site.graph));
    }
    Answer::after(site.unrequested(needed), || trace(site, question))
}

/// Trace of a value of one site.
///
/// # Errors
/// If the document does not exist, or has no value at the place, now or before an action; the help
/// suggests a similar one.
pub fn trace(site: &RenderedSite<'_>, question: &ValueQuestion) -> Result<ExplainedValue, Error> {
    let doc = question::document(site, question)?;
    let replay = Replay::new(site.graph, site.rendered);
    let recipe = site.graph.recipe(doc);
    let data = site.data(doc);
    let place = question::place(data, &question.path)?;
    let hop = replay.trace_with_losers(doc, &place);
    if hop.origin().via == Via::Absent && hop.losers().is_empty() {
        return Err(question::no_value(recipe, data, &place));
    }
    let (leaves, more_leaves) = leaves(site, &replay, &hop);
    // A trace follows a collection itself, and not what is later written into it.
    let rendered = site.rendered.data(doc).and_then(|data| place.get(data));
    Ok(ExplainedValue {
        site: site.site.name.clone(),
        document: recipe.key.clone(),
        place: place.to_string(),
        there: hop.value.is_some(),
        value: rendered.or(hop.value.as_ref()).cloned(),
        secret_of: secret_of(site, &hop),
        deployed_by: deployed_by(site, doc),
        set_at: hop.origin().value.as_ref().map(|node| node.span),
        rows: rows(site, &hop),
        changes: Vec::new(),
        leaves,
        more_leaves,
    })
}

/// Actions that deploy a document.
fn deployed_by(site: &RenderedSite<'_>, doc: DocId) -> Option<DeployedBy> {
    let schema = &site.graph.recipe(doc).key.schema;
    let deployment = is_of_armada(schema).then(|| Deployment::of(site.graph, site.rendered))?;
    DeployedBy::of(deployment.of_output(doc, schema))
}

/// Document that a secret value comes from.
fn secret_of(site: &RenderedSite<'_>, hop: &Hop) -> Option<DocKey> {
    if hop.value.as_ref().is_none_or(|value| !value.secret) {
        return None;
    }
    let mut open = vec![hop];
    let mut last = hop;
    while let Some(hop) = open.pop() {
        if hop.value.as_ref().is_some_and(|value| value.secret) {
            last = hop;
            open.clear();
            open.extend(hop.from.iter().rev());
        }
    }
    Some(site.graph.recipe(last.doc).key.clone())
}

/// Maximum number of leaves listed of a mapping or list.
const MAX_LEAVES: usize = 40;

/// Writers of the leaves of a mapping or list, and whether there are more. Neither content nor size
/// of a secret is revealed.
fn leaves(site: &RenderedSite<'_>, replay: &Replay<'_>, hop: &Hop) -> (Vec<LeafOrigin>, bool) {
    let mut shown = Vec::new();
    let value = hop.value.as_ref().filter(|value| is_container(value));
    if let Some(value) = value {
        add_shown_leaves(value, &mut Location::root(), &mut shown);
    }
    let more = shown.len() > MAX_LEAVES;
    let writers = shown.iter().take(MAX_LEAVES).map(|leaf| {
        let place = hop.location.joined(leaf);
        let way = replay.trace(hop.doc, &place);
        let origin = way.origin();
        LeafOrigin {
            place: place.to_string(),
            document: site.graph.recipe(origin.doc).key.clone(),
            at: origin.value.as_ref().map(|node| node.span),
        }
    });
    (writers.collect(), more)
}

/// Whether a value contains values that may be shown.
fn is_container(node: &Node) -> bool {
    !node.secret && children(node).next().is_some()
}

/// Adds leaves, up to one more than the maximum.
fn add_shown_leaves(node: &Node, here: &mut Location, leaves: &mut Vec<Location>) {
    for (piece, child) in children(node) {
        if leaves.len() > MAX_LEAVES {
            return;
        }
        here.0.push(piece);
        if is_container(child) {
            add_shown_leaves(child, here, leaves);
        } else {
            leaves.push(here.clone());
        }
        here.0.pop();
    }
}

/// Trace of a value as numbered steps, from the text that wrote it to the requested document.
/// Overridden values precede the one that overrides them.
pub(super) fn rows(site: &RenderedSite<'_>, hop: &Hop) -> Vec<ProvenanceStep> {
    let mut table = RouteRows {
        site,
        rows: Vec::new(),
        numbers: BTreeMap::new(),
    };
    table.add(hop, None);
    table.rows
}

/// Builder of the steps of a trace.
struct RouteRows<'s, 'a> {
    site: &'s RenderedSite<'a>,
    rows: Vec<ProvenanceStep>,
    /// Last row of each document.
    numbers: BTreeMap<DocId, usize>,
}

impl RouteRows<'_, '_> {
    fn add(&mut self, hop: &Hop, standing: Option<ValuePrecedence>) {
        match hop.via {
            Via::Literal => self.push(hop, StepKind::Literal, hop.at.clone(), standing),
            Via::Absent => self.push(hop, StepKind::Absent, hop.at.clone(), standing),
            Via::Blocked => self.push(hop, StepKind::Blocked, hop.at.clone(), standing),
            Via::Unfollowed => self.push(hop, StepKind::Unfollowed, Vec::new(), standing),
            Via::Inherited | Via::Replaced => self.add_inherited(hop, standing),
            Via::Layered { .. } => self.add_layered(hop, standing),
            Via::Substituted | Via::Pattern | Via::Merged | Via::Made => {
                self.add_written(hop, standing);
            }
            Via::Deleted => self.add_deleted(hop),
        }
    }

    fn add_inherited(&mut self, hop: &Hop, standing: Option<ValuePrecedence>) {
        hop.from.iter().for_each(|from| self.add(from, standing));
        let step = StepKind::Layered {
            parent: self.parent(hop),
            action: self.action(hop),
            own: None,
        };
        let mut at = self.laid_at(hop);
        let own = hop.location.get(&self.recipe(hop).data);
        at.extend(own.map(|node| node.span));
        let note = match own {
            Some(_) => StepNote::Unapplied,
            None => StepNote::NoKey,
        };
        self.push(hop, step, at, None);
        if let Some(row) = self.rows.last_mut().filter(|_| hop.value.is_some()) {
            row.note = Some(note);
        }
    }

    fn add_layered(&mut self, hop: &Hop, standing: Option<ValuePrecedence>) {
        let mut parent = None;
        let mut at = Vec::new();
        if let Some(lost) = &hop.lost {
            if lost.doc == hop.doc && matches!(lost.via, Via::Inherited | Via::Replaced) {
                lost.from
                    .iter()
                    .for_each(|from| self.add(from, Some(ValuePrecedence::Lost)));
                parent = self.parent(lost);
                at = self.laid_at(lost);
            } else {
                self.add(lost, Some(ValuePrecedence::Lost));
            }
        }
        let step = StepKind::Layered {
            parent,
            action: self.action(hop),
            own: Some(hop.value.is_some()),
        };
        at.extend(hop.at.first());
        at.extend(hop.from.iter().flat_map(|own| own.at.iter().copied()));
        self.push(hop, step, at, contested(hop, standing));
    }

    fn add_written(&mut self, hop: &Hop, standing: Option<ValuePrecedence>) {
        if let Some(lost) = &hop.lost {
            self.add(lost, Some(ValuePrecedence::Lost));
        }
        hop.from.iter().for_each(|from| self.add(from, None));
        let step = match self.step(hop).map(|step| step.op) {
            Some(Op::Substitute(substitution)) => {
                let to = substitution.writing.to.iter();
                let to = to.filter(|to| hop.at.contains(&to.path.span));
                StepKind::Substituted {
                    via: hop.via,
                    from: substitution.writing.from.value.to_string(),
                    to: to.map(|to| to.path.value.text().to_owned()).collect(),
                }
            }
            Some(Op::Merge { .. }) => StepKind::Created(self.action(hop)),
            Some(Op::Combine(_)) => StepKind::Combined(self.action(hop)),
            None => StepKind::Placeholder,
        };
        // The entry begins on the line of its source or of its destination.
        let at = if hop.at.len() > 2 {
            hop.at[1..].to_vec()
        } else {
            hop.at.clone()
        };
        self.push(hop, step, at, contested(hop, standing));
    }

    fn add_deleted(&mut self, hop: &Hop) {
        if let Some(lost) = &hop.lost {
            self.add(lost, Some(ValuePrecedence::Lost));
        }
        let step = match hop.step {
            Some(_) => StepKind::Removed(self.action(hop)),
            None => StepKind::TooLarge,
        };
        self.push(hop, step, hop.at.clone(), Some(ValuePrecedence::Wins));
    }

    fn push(
        &mut self,
        hop: &Hop,
        step: StepKind,
        at: Vec<Span>,
        standing: Option<ValuePrecedence>,
    ) {
        let row = step_at(self.site, hop.doc, step, at);
        self.rows.push(ProvenanceStep { standing, ..row });
        self.numbers.insert(hop.doc, self.rows.len());
    }

    fn recipe(&self, hop: &Hop) -> &Recipe {
        self.site.graph.recipe(hop.doc)
    }

    fn step(&self, hop: &Hop) -> Option<Step<'_>> {
        hop.step.map(|step| self.recipe(hop).step(step))
    }

    /// Source of an inherited value.
    fn parent(&self, hop: &Hop) -> Option<ParentStep> {
        let base = self.recipe(hop).base?;
        let number = self.numbers.get(&base.doc).copied();
        Some(ParentStep {
            name: self.site.graph.recipe(base.doc).key.name.clone(),
            replaced: number.filter(|_| hop.via == Via::Replaced),
        })
    }

    fn laid_at(&self, hop: &Hop) -> Vec<Span> {
        let replacement = self.site.site.document(hop.doc).replacement;
        let replacement = replacement.filter(|_| hop.via == Via::Replaced);
        let selector = hop.at.first().copied();
        let action = self.step(hop).map(|step| step.at);
        replacement
            .into_iter()
            .chain(selector)
            .chain(action)
            .collect()
    }

    fn action(&self, hop: &Hop) -> Option<StepAction> {
        Some(match self.step(hop)?.op {
            Op::Merge { method, path } => {
                let path = path.value.effective(method, self.site.graph.semantics);
                StepAction::Layering(method, path.map_or("$", Path::text).to_owned())
            }
            Op::Substitute(substitution) => {
                StepAction::Substitution(substitution.writing.from.value.to_string())
            }
            Op::Combine(combine) => {
                let over = self.site.rendered.data(combine.source)?;
                match &combine.strategy {
                    Strategy::CloudInit(rules) => StepAction::Merged(rules.classes(over)),
                    Strategy::JsonPatch(_) => {
                        StepAction::Patched(operation(over, combine.source, hop))
                    }
                }
            }
        })
    }
}

/// The operation of a patch that wrote or removed the value, unless the operation is secret.
fn operation(patch: &Node, source: DocId, hop: &Hop) -> Option<Operation> {
    let place = &hop.from.iter().find(|from| from.doc == source)?.location;
    let Some(Piece::Index(index)) = place.0.first() else {
        return None;
    };
    let operation = patch.as_sequence()?.get(*index)?;
    let member = |name| {
        operation
            .get(name)
            .and_then(Node::as_str)
            .map(str::to_owned)
    };
    let is_secret = patch.secret || operation.holds_secret();
    let found = Operation {
        number: index + 1,
        name: member("op")?,
        path: member("path")?,
    };
    (!is_secret).then_some(found)
}

/// `Wins` for a value that overrides another, unless it is overridden itself.
fn contested(hop: &Hop, standing: Option<ValuePrecedence>) -> Option<ValuePrecedence> {
    standing.or(hop.lost.is_some().then_some(ValuePrecedence::Wins))
}
