//! Where a value could be changed, and what each change would reach.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::question::{self, ValueQuestion};
use super::value::rows;
use crate::check::{Answer, RenderedSite};
use crate::error::Error;
use crate::graph::{DocId, Op};
use crate::merge::deckhand::Method;
use crate::render::flow::{flow, may_enter};
use crate::render::replay::{Hop, Replay, Via};
use crate::report::answer::impact::SiteName;
use crate::report::answer::provenance::{ChangeOption, ChangeScope, ExplainedValue, TextReach};
use crate::source::Span;
use crate::yaml::Node;
use crate::yaml::path::{Location, Path, children};

/// A document on the route of a value that could set it.
pub(crate) struct Candidate {
    /// 1-based number of its row.
    row: usize,
    pub(crate) document: Span,
    /// Text that sets it there now.
    literal: Option<Span>,
}

impl Candidate {
    /// Whether it is that of a row, and its document does not set the value now.
    pub(crate) fn sets_in(&self, row: usize) -> bool {
        self.row == row && self.literal.is_none()
    }
}

/// Documents on the route that could set the value: those whose text wrote it, and those that
/// inherit it and merge their own data over the place, before or after a substitution.
pub(crate) fn candidates(
    site: &RenderedSite<'_>,
    question: &ValueQuestion,
) -> Result<Vec<Candidate>, Error> {
    let doc = question::document(site, question)?;
    let replay = Replay::new(site.graph, site.rendered);
    let data = site.data(doc);
    let hop = replay.trace_with_losers(doc, &question::place(data, &question.path)?);
    let rows = rows(site, &hop);
    let row_of = |doc: DocId, literal: Option<Span>| {
        let key = &site.graph.recipe(doc).key;
        let at = |row: usize| literal.is_none_or(|span| rows[row].at.contains(&span));
        (0..rows.len())
            .rev()
            .find(|row| rows[*row].document == *key && at(*row))
    };
    let mut candidates = Vec::new();
    let mut add = |doc: DocId, literal: Option<Span>| {
        let document = site.graph.recipe(doc).span;
        let row = row_of(doc, literal);
        candidates.extend(row.map(|row| Candidate {
            row: row + 1,
            document,
            literal,
        }));
    };
    let mut here = &hop;
    loop {
        // Writing to inherited data is another kind of hop.
        let is_inherited = matches!(here.via, Via::Inherited | Via::Replaced);
        if is_inherited && is_covered(site, here) {
            add(here.doc, None);
        }
        match here.from.last() {
            Some(from) => here = from,
            None => break,
        }
    }
    if here.via == Via::Literal {
        add(here.doc, here.value.as_ref().map(|node| node.span));
    }
    Ok(candidates)
}

/// Whether the document's own data at the place would be merged over inherited data.
fn is_covered(site: &RenderedSite<'_>, hop: &Hop) -> bool {
    let recipe = site.graph.recipe(hop.doc);
    recipe.steps.iter().any(|step| match &step.op {
        Op::Merge {
            method: Method::Merge | Method::Replace,
            path,
        } => {
            let path = path.value.effective(Method::Merge, site.graph.semantics);
            path.is_some_and(|path| leads_around(path, &hop.location))
        }
        Op::Merge {
            method: Method::Delete,
            ..
        }
        | Op::Substitute(_)
        | Op::Combine(_) => false,
    })
}

fn leads_around(path: &Path, place: &Location) -> bool {
    let Some(segments) = path.segments() else {
        return false;
    };
    let around = Location(place.0.iter().take(segments.len()).cloned().collect());
    segments.is_empty()
        || Path::parse(&around.to_string()).is_ok_and(|it| it.segments() == path.segments())
}

/// Reach of a candidate in one site.
#[derive(Clone, Copy, Default)]
pub(crate) struct CandidateInSite {
    /// Whether the site reads its document.
    is_read: bool,
    /// Number of outputs that its text reaches.
    outputs: usize,
}

/// Reach of each candidate in one site, after the documents that it depends on were rendered.
pub(crate) fn answer(
    site: &RenderedSite<'_>,
    candidates: &[Candidate],
) -> Answer<Vec<CandidateInSite>> {
    let replay = Replay::new(site.graph, site.rendered);
    let (mut reaches, mut needed) = (Vec::new(), Vec::new());
    for candidate in candidates {
        let mut documents = site.graph.iter();
        // All sites share a file that they read, and with it its spans.
        let found = documents.find(|(_, it)| candidate.document == it.span);
        let literal = found.zip(candidate.literal);
        let Some(((doc, recipe), literal)) = literal else {
            reaches.push(CandidateInSite {
                is_read: found.is_some(),
                outputs: 0,
            });
            continue;
        };
        // An anchored text is at several places.
        let mut places = Vec::new();
        add_places_of(literal, &recipe.data, &mut Location::root(), &mut places);
        let unrequested = site.unrequested(may_enter(&replay, doc, &places));
        if unrequested.is_empty() {
            let flows = places.iter().map(|place| flow(&replay, doc, place));
            let reached = flows
                .flat_map(|flow| flow.reached)
                .map(|reached| reached.doc);
            let outputs: BTreeSet<DocId> =
                reached.filter(|doc| site.graph.recipe(*doc).emit).collect();
            reaches.push(CandidateInSite {
                is_read: true,
                outputs: outputs.len(),
            });
        }
        needed.extend(unrequested);
    }
    Answer::after(needed, || reaches)
}

/// Adds the places in `node`, which is at `here`, of the values that are written at `text`.
fn add_places_of(text: Span, node: &Node, here: &mut Location, places: &mut Vec<Location>) {
    if text == node.span {
        places.push(here.clone());
    }
    for (piece, child) in children(node) {
        here.0.push(piece);
        add_places_of(text, child, here, places);
        here.0.pop();
    }
}

/// Places to change the value, from the fewest affected sites to the most; for documents read by
/// the same sites, the one closest to the value first.
pub(crate) fn sorted(
    way: &ExplainedValue,
    candidates: &[Candidate],
    sites: &[SiteName],
    reaches: &BTreeMap<Option<Arc<str>>, Vec<CandidateInSite>>,
) -> Vec<ChangeOption> {
    let mut changes: Vec<ChangeOption> = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        let of = |site: usize| {
            let reaches = reaches.get(&sites[site].name);
            reaches.map(|of_each| of_each[index]).unwrap_or_default()
        };
        let reading: Vec<usize> = (0..sites.len()).filter(|site| of(*site).is_read).collect();
        let name = |site: &usize| sites[*site].name.clone();
        let reach = candidate.literal.map(|_| TextReach {
            outputs: reading.iter().map(|site| of(*site).outputs).sum(),
            sites: reading
                .iter()
                .filter(|site| of(**site).outputs > 0)
                .filter_map(name)
                .collect(),
            shielded: reading
                .iter()
                .filter(|site| of(**site).outputs == 0)
                .filter_map(name)
                .collect(),
        });
        let change = ChangeOption {
            scope: scope(way, sites, &reading),
            row: candidate.row,
            sites: reading.iter().filter_map(name).collect(),
            reach,
        };
        changes.push(change);
    }
    changes.sort_by_key(|change| (change.sites.len(), Reverse(change.row)));
    changes
}

fn scope(way: &ExplainedValue, sites: &[SiteName], reading: &[usize]) -> ChangeScope {
    let Some(asked) = &way.site else {
        return ChangeScope::Set;
    };
    let of_type = |wanted: &Option<Arc<str>>| -> Vec<usize> {
        (0..sites.len())
            .filter(|site| sites[*site].site_type == *wanted)
            .collect()
    };
    let own = sites.iter().find(|site| site.name.as_ref() == Some(asked));
    match (reading.len(), own.and_then(|own| own.site_type.clone())) {
        (0 | 1, _) => ChangeScope::Site(asked.clone()),
        (count, _) if count == sites.len() => ChangeScope::All,
        (_, Some(site_type)) if of_type(&Some(site_type.clone())) == reading => {
            ChangeScope::Type(site_type)
        }
        (count, _) => ChangeScope::Some(count),
    }
}
