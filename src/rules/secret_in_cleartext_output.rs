//! `secret-in-cleartext-output`: a secret is substituted into a document that is rendered in cleartext.

use std::collections::HashSet;

use super::{DocumentFinding, SiteFacts};
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;
use crate::render::Write;
use crate::yaml::Node;

super::rule!(
    "secret-in-cleartext-output",
    Warning[OptIn],
    "a secret is substituted into a document that is rendered in cleartext";
    Documents(check)
);

fn check(facts: &SiteFacts<'_>, docs: &[DocId], found: &mut Vec<DocumentFinding>) {
    for doc in docs.iter().copied() {
        let Some(data) = facts.rendered.data(doc) else {
            continue;
        };
        if !facts.site.is_output(doc) || facts.document(doc).encrypted || data.secret {
            continue;
        }
        let mut reported = HashSet::new();
        // Inherited values were substituted into one of the ancestors.
        for author in std::iter::successors(Some(doc), |doc| base(facts, *doc)) {
            for write in facts.rendered.writes(author) {
                if is_secret(facts, author, write, data) && reported.insert(write.at) {
                    found.push((doc, report(facts, doc, author, write)));
                }
            }
        }
    }
}

fn base(facts: &SiteFacts<'_>, doc: DocId) -> Option<DocId> {
    facts.graph.recipe(doc).base.map(|link| link.doc)
}

/// Whether the place that a substitution wrote holds a secret in the rendered data.
fn is_secret(facts: &SiteFacts<'_>, author: DocId, write: &Write, data: &Node) -> bool {
    facts
        .substitution(author, write)
        .is_some_and(|substitution| {
            let source = facts.document(substitution.source);
            let is_secret = source.data.secret && !source.is_secret_later;
            is_secret && write.location.get(data).is_some_and(|node| node.secret)
        })
}

fn report(facts: &SiteFacts<'_>, doc: DocId, author: DocId, write: &Write) -> Diagnostic {
    let substitution = facts
        .substitution(author, write)
        .expect("only substitutions are reported");
    let source = facts.document(substitution.source);
    let secret = &source.key.name;
    let place = facts.destination_path(author, write.at);
    let name = facts.name(author);
    let message =
        format!("a substitution of `{name}` writes the secret `{secret}` into cleartext output");
    RULE.finding(message, write.at, "the secret is written here")
        .related(source.name_span, format!("`{secret}` is secret"))
        .note("the secret is exposed to all who can read the rendered document")
        .help("set `storagePolicy: encrypted` on the rendered document")
        .about(format!("{secret} {place}"))
        .document(&facts.document(doc).key)
}
