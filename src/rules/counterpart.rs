//! Deckhand's result for a site that is rendered as documented.
//!
//! Where the documentation and the code differ, the affected documents are also rendered as the
//! code does: a refusal there is an error under both semantics, and the user must choose between
//! two results.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{
    REFUSED, SiteFacts, guard_finding, guard_site_check, is_internal, is_refused_template,
    report_relation, report_rendering, schema_violation, undecided_semantics,
};
use crate::diagnostic::Diagnostic;
use crate::graph::{DocId, Graph, MissingSource};
use crate::merge::deckhand::Semantics;
use crate::near;
use crate::render::{
    ActionProblem, ProblemKind, Rendered, SubstitutionProblem, render, render_in_part,
};
use crate::source::Span;
use crate::system::cloud_init::Sets;
use crate::system::deckhand::document::DocumentFaultKind;
use crate::system::deckhand::{DeckhandOptions, Site, SiteProblem};

/// Span at which the two semantics differ, and its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MeaningSplit {
    pub(super) doc: DocId,
    pub(super) at: Span,
}

/// Adds the findings that only Deckhand's semantics show for a site rendered as documented.
pub(super) fn add(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    if facts.graph.semantics == Semantics::Deckhand {
        return;
    }
    let partings = partings(facts);
    if partings.is_empty() {
        return;
    }
    let known = std::mem::take(found);
    let rules = &[&undecided_semantics::RULE];
    guard_site_check(facts, rules, found, |found| {
        near::within(|| look(facts, &partings, &known, found));
    });
    found.splice(0..0, known);
}

fn look(
    facts: &SiteFacts<'_>,
    partings: &BTreeSet<MeaningSplit>,
    known: &[Diagnostic],
    found: &mut Vec<Diagnostic>,
) {
    if has_control_parent(facts) {
        let (site, graph, rendered) = related_anew(facts);
        let deckhand = SiteFacts {
            site: &site,
            sets: &Sets::default(),
            graph: &graph,
            rendered: &rendered,
            ..*facts
        };
        return compare(facts, &deckhand, partings, known, found);
    }
    let recipes = facts.graph.recipes.clone();
    let graph = Graph {
        recipes,
        semantics: Semantics::Deckhand,
        ..*facts.graph
    };
    let docs = partings.iter().map(|parting| parting.doc).collect();
    let rendered = render_in_part(&graph, facts.rendered, docs);
    compare(
        facts,
        &SiteFacts {
            graph: &graph,
            rendered: &rendered,
            ..*facts
        },
        partings,
        known,
        found,
    );
}

fn compare(
    facts: &SiteFacts<'_>,
    deckhand: &SiteFacts<'_>,
    partings: &BTreeSet<MeaningSplit>,
    known: &[Diagnostic],
    found: &mut Vec<Diagnostic>,
) {
    let refusals = refusals(facts, deckhand);
    let places: HashSet<(&str, Span)> = known
        .iter()
        .map(|it| (it.rule.name, it.primary.span))
        .collect();
    let refused: HashSet<Span> = known
        .iter()
        .chain(&refusals)
        .filter(|it| it.is_refused())
        .map(|it| it.primary.span)
        .collect();
    if facts.settings.is_undecided && facts.settings.want(&[&undecided_semantics::RULE]) {
        let rendered = partings
            .iter()
            .filter(|parting| !refused.contains(&parting.at));
        found.extend(undecided_semantics::report(
            facts,
            deckhand,
            rendered.copied(),
        ));
    }
    let unknown = refusals
        .into_iter()
        .filter(|it| !places.contains(&(it.rule.name, it.primary.span)));
    found.extend(unknown.map(|finding| as_documented(facts, finding)));
}

/// Findings for which Deckhand refuses the site, under its own semantics.
fn refusals(facts: &SiteFacts<'_>, deckhand: &SiteFacts<'_>) -> Vec<Diagnostic> {
    let problems = deckhand.rendered.problems.iter().filter(|problem| {
        deckhand.sets.member(problem.doc).is_none() && !is_refused_template(&problem.kind)
    });
    let mut found: Vec<Diagnostic> = problems
        .map(|problem| {
            guard_finding("rendering", problem.at, || {
                report_rendering(deckhand, problem)
            })
        })
        .collect();
    // Relations differ only if they were recomputed.
    if !std::ptr::eq(facts.site, deckhand.site) {
        let relations = deckhand
            .site
            .problems
            .iter()
            .filter(|problem| is_of_parents(problem));
        found.extend(relations.map(|problem| report_relation(deckhand, problem)));
    }
    if deckhand.settings.want(&[&schema_violation::RULE]) {
        schema_violation::check(deckhand, &mut found);
    }
    found.retain(|finding| finding.is_refused() || is_internal(finding));
    found
}

/// Turns a refusal into a finding for a site rendered as documented. Notes about the step that
/// failed hold only for Deckhand and are removed.
fn as_documented(facts: &SiteFacts<'_>, mut finding: Diagnostic) -> Diagnostic {
    if is_internal(&finding) {
        return finding;
    }
    finding.notes.retain(|note| !note.contains(REFUSED));
    finding.note(REFUSED).note(facts.rendered_meaning())
}

/// Spans at which the two semantics differ.
fn partings(facts: &SiteFacts<'_>) -> BTreeSet<MeaningSplit> {
    let rendered = facts
        .rendered
        .problems
        .iter()
        .filter(|problem| parts_meanings(&problem.kind, facts.graph))
        .map(|problem| MeaningSplit {
            doc: problem.doc,
            at: problem.at,
        });
    let read = facts.site.iter().flat_map(|(doc, document)| {
        let faults = document
            .faults
            .iter()
            .filter(|it| matches!(it.kind, DocumentFaultKind::DifferentPath { .. }));
        faults.map(move |fault| MeaningSplit { doc, at: fault.at })
    });
    let related = facts
        .site
        .problems
        .iter()
        .filter_map(|problem| match problem {
            SiteProblem::ControlParent { child, .. } => Some(MeaningSplit {
                doc: *child,
                at: facts.selector(*child).span,
            }),
            _ => None,
        });
    rendered.chain(read).chain(related).collect()
}

/// Whether Deckhand may render a different result, or refuse, where this problem occurs as
/// documented.
fn parts_meanings(kind: &ProblemKind, graph: &Graph) -> bool {
    use SubstitutionProblem as Kind;
    match kind {
        ProblemKind::Action(ActionProblem::Different { .. }) => true,
        ProblemKind::Substitution(problem) => match problem {
            Kind::DifferentListWrite
            | Kind::DifferentRecursion { .. }
            | Kind::DifferentPatternText { .. }
            | Kind::BackslashInPatternValue { .. }
            | Kind::MissingPatternTarget { .. } => true,
            Kind::MissingValue(_) => graph.missing_source == MissingSource::Warning,
            Kind::Invalid(_)
            | Kind::IgnoredSourcePath { .. }
            | Kind::UnmatchedSourcePattern { .. }
            | Kind::UnmatchedPattern { .. }
            | Kind::PatternFailure(_) => false,
        },
        ProblemKind::Action(ActionProblem::MissingPath(_) | ActionProblem::Path { .. })
        | ProblemKind::Cycle(_)
        | ProblemKind::Combine(_)
        | ProblemKind::OverLimit(_)
        | ProblemKind::TooManyCopies
        | ProblemKind::Failed => false,
    }
}

/// Whether a document has a different parent under each of the two semantics.
fn has_control_parent(facts: &SiteFacts<'_>) -> bool {
    facts
        .site
        .problems
        .iter()
        .any(|problem| matches!(problem, SiteProblem::ControlParent { .. }))
}

/// The site with relations computed as Deckhand does.
fn related_anew<'a>(facts: &SiteFacts<'a>) -> (Site<'a>, Graph, Rendered) {
    let options = DeckhandOptions {
        semantics: Semantics::Deckhand,
        missing_source: facts.graph.missing_source,
        encryption_sources: BTreeMap::new(),
    };
    let documents = facts.site.documents.clone();
    let mut site = Site::new(facts.site.name.clone(), documents, &options);
    let graph = Graph {
        sharers: facts.graph.sharers,
        ..site.to_graph(&options)
    };
    let rendered = render(&graph);
    (site, graph, rendered)
}

/// Whether a problem concerns the parent of a document.
fn is_of_parents(problem: &SiteProblem) -> bool {
    match problem {
        SiteProblem::AmbiguousParent { .. }
        | SiteProblem::RefusedMatch { .. }
        | SiteProblem::ReplacementWithoutParent { .. }
        | SiteProblem::ReplacementOfAnother { .. }
        | SiteProblem::UndeclaredReplacement { .. }
        | SiteProblem::NestedReplacement { .. }
        | SiteProblem::AbstractReplacement { .. } => true,
        SiteProblem::MissingPolicy
        | SiteProblem::ExtraPolicy { .. }
        | SiteProblem::RepeatedLayer { .. }
        | SiteProblem::UnknownLayer { .. }
        | SiteProblem::MissingParent { .. }
        | SiteProblem::ControlParent { .. }
        | SiteProblem::DuplicateDocument { .. }
        | SiteProblem::SharedName { .. }
        | SiteProblem::DuplicateOutput { .. }
        | SiteProblem::MissingSource { .. }
        | SiteProblem::GeneratedSources { .. }
        | SiteProblem::MixedKeys { .. }
        | SiteProblem::MissingEncryptionSource { .. } => false,
    }
}
