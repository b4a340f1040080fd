//! `unused-document`: an abstract document on which no other one is laid.

use std::collections::BTreeSet;

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;
use crate::system::deckhand::SiteProblem;

super::rule!(
    "unused-document",
    Note [Everywhere],
    "an abstract document on which no other one is laid",
    was "P003";
    Site(check)
);

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    // Without layers there are no parents, which is reported already.
    if facts.site.policy.is_none() {
        return;
    }
    let in_doubt = schemas_in_doubt(facts);
    let parents: BTreeSet<DocId> =
        facts.site.iter().filter_map(|(doc, _)| facts.site.parent(doc)).collect();
    for (doc, document) in facts.site.iter() {
        let is_read = document.replacement.is_some();
        // One with a mistake may be abstract only because it could not be read.
        let is_idle =
            document.is_abstract && !document.is_doubtful && !document.control && !is_read;
        if is_idle && !parents.contains(&doc) && !in_doubt.contains(&*document.key.schema) {
            found.push(word(facts, doc));
        }
    }
}

/// The schemas of documents whose relations are in doubt: once that is fixed, others of these may
/// have children.
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
        // It was meant to be read.
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

fn word(facts: &SiteFacts<'_>, doc: DocId) -> Diagnostic {
    let document = facts.document(doc);
    let message = format!("the abstract document `{}` is nobody's parent", facts.name(doc));
    let label = Label::new(document.name_span, "no parentSelector finds it");
    let diagnostic = Diagnostic::new(&RULE, message, label)
        .note("an abstract document is not rendered itself, and nothing can be substituted from it")
        .document(document.key.clone());
    diagnostic.help(if document.labels.is_empty() {
        "give it labels by which a child finds it, or remove it"
    } else {
        "let a child select one of its labels, or remove it"
    })
}
