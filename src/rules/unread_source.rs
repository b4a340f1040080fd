//! `unread-source`: passphrase or key that no substitution reads.

use std::collections::BTreeSet;

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;

super::rule!(
    "unread-source",
    Note [Strict, Everywhere],
    "passphrase or key that no substitution reads",
    was "P003";
    Site(check)
);

/// Schemas of documents that exist to be substituted from. Certificates and their keys are not
/// included: Promenade looks them up by name.
const SOURCES: [&str; 3] = [
    "deckhand/Passphrase/v1",
    "deckhand/PrivateKey/v1",
    "deckhand/PublicKey/v1",
];

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let read: BTreeSet<DocId> = facts
        .graph
        .recipes
        .iter()
        .flat_map(|recipe| recipe.steps.sources())
        .collect();
    let outputs = facts.graph.outputs();
    let sources = outputs.filter(|(_, recipe)| SOURCES.contains(&&*recipe.key.schema));
    found.extend(
        sources
            .filter(|(doc, _)| !read.contains(doc))
            .map(|(doc, _)| report(facts, doc)),
    );
}

fn report(facts: &SiteFacts<'_>, doc: DocId) -> Diagnostic {
    let document = facts.document(doc);
    let kind = document.key.schema.split('/').nth(1).unwrap_or_default();
    let message = format!("no substitution reads the {kind} `{}`", facts.name(doc));
    RULE.finding(message, document.name_span, "never substituted")
        .note("documents of this kind have no effect unless they are substituted")
        .help("remove it, or substitute it where it is needed")
        .document(&document.key)
}
