//! `duplicate-schema`: two DataSchema documents with the same name.

use std::collections::HashMap;

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;
use crate::system::deckhand::SiteProblem;
use crate::system::deckhand::schema::is_data_schema;

super::rule!(
    "duplicate-schema",
    Error [Refused],
    "two DataSchema documents with the same name",
    was "P004", "P005";
    Site(check)
);

/// Duplicates in one layer are found when documents are related; this finds the others.
fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let mut firsts: HashMap<&str, DocId> = HashMap::new();
    for (again, document) in facts.site.iter().filter(|(_, it)| is_data_schema(it)) {
        let first = *firsts.entry(&document.key.name).or_insert(again);
        if first != again && !is_reported(facts, first, again) {
            found.push(report(facts, first, again));
        }
    }
}

/// Whether another rule reports the two, or one replaces the other.
fn is_reported(facts: &SiteFacts<'_>, first: DocId, again: DocId) -> bool {
    let is_related =
        facts.site.parent(again) == Some(first) || facts.site.parent(first) == Some(again);
    is_related
        || facts.site.problems.iter().any(|problem| {
            let reported = match problem {
                SiteProblem::DuplicateDocument { again, .. }
                | SiteProblem::DuplicateOutput { again, .. }
                | SiteProblem::SharedName { again, .. } => Some(*again),
                _ => None,
            };
            reported == Some(again)
        })
}

pub(super) fn report(facts: &SiteFacts<'_>, first: DocId, again: DocId) -> Diagnostic {
    let earlier = facts.document(first);
    let document = facts.document(again);
    let title = facts.name(again);
    let finding = RULE
        .finding(
            format!("duplicate DataSchema `{title}`"),
            document.name_span,
            "another DataSchema has this name",
        )
        .related(earlier.name_span, "first defined here");
    let finding = if earlier.key == document.key {
        finding.note("Deckhand refuses the whole site")
    } else {
        finding.note("the first one is used; the other one validates nothing")
    };
    finding.help("remove one of them").document(&document.key)
}
