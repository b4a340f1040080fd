//! `unused-document`: abstract document without children.

use std::collections::BTreeSet;

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;
use crate::system::deckhand::SiteProblem;

super::rule!(
    "unused-document",
    Note [Everywhere],
    "abstract document without children",
    was "P003";
    Site(check)
);

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    // Without layers there are no parents; that is reported elsewhere.
    if facts.site.policy.is_none() {
        return;
    }
    let in_doubt = schemas_in_doubt(facts);
    let parents: BTreeSet<DocId> = facts
        .site
        .iter()
        .filter_map(|(doc, _)| facts.site.parent(doc))
        .collect();
    for (doc, document) in facts.site.iter() {
        let is_read = document.replacement.is_some();
        // A document with faults may be abstract only because it could not be read.
        let is_idle =
            document.is_abstract && !document.is_doubtful && !document.control && !is_read;
        if is_idle && !parents.contains(&doc) && !in_doubt.contains(&*document.key.schema) {
            found.push(report(facts, doc));
        }
    }
}

/// Schemas of documents whose relations are uncertain: once those are fixed, other documents of the
/// schema may have children.
fn schemas_in_doubt<'a>(facts: &'a SiteFacts<'_>) -> BTreeSet<&'a str> {
    let docs = facts.site.problems.iter().filter_map(in_doubt);
    docs.map(|doc| &*facts.document(doc).key.schema).collect()
}

fn in_doubt(problem: &SiteProblem) -> Option<DocId> {
    match problem {
        SiteProblem::UnknownLayer { doc, .. }
        | SiteProblem::MissingParent { child: doc }
        | SiteProblem::AmbiguousParent { child: doc, .. }
        | SiteProblem::RefusedMatch { child: doc, .. }
        | SiteProblem::ControlParent { child: doc, .. }
        | SiteProblem::DuplicateDocument { again: doc, .. }
        | SiteProblem::ReplacementWithoutParent { doc }
        | SiteProblem::ReplacementOfAnother { doc, .. }
        | SiteProblem::UndeclaredReplacement { doc, .. }
        | SiteProblem::SharedName { again: doc, .. } => Some(*doc),
        // The document was meant to be substituted from.
        SiteProblem::MissingSource { of_abstract, .. } => *of_abstract,
        SiteProblem::MissingPolicy
        | SiteProblem::ExtraPolicy { .. }
        | SiteProblem::RepeatedLayer { .. }
        | SiteProblem::MixedKeys { .. }
        | SiteProblem::NestedReplacement { .. }
        | SiteProblem::AbstractReplacement { .. }
        | SiteProblem::DuplicateOutput { .. }
        | SiteProblem::GeneratedSources { .. }
        | SiteProblem::MissingEncryptionSource { .. } => None,
    }
}

fn report(facts: &SiteFacts<'_>, doc: DocId) -> Diagnostic {
    let document = facts.document(doc);
    let message = format!(
        "the abstract document `{}` has no children",
        facts.name(doc)
    );
    let diagnostic = RULE
        .finding(message, document.name_span, "no parentSelector matches it")
        .note("an abstract document is not rendered and cannot be substituted from")
        .document(&document.key);
    diagnostic.help(if document.labels.is_empty() {
        "add labels that a child can select, or remove it"
    } else {
        "select its labels in a child, or remove it"
    })
}
