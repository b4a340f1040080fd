//! `generated-source-missing`: substitution sources that are generated at deploy time.

use std::collections::BTreeMap;

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::system::deckhand::GeneratedSource;
use crate::system::deckhand::document::SubstitutionSource;

super::rule!(
    "generated-source-missing",
    Note[Absence],
    "substitution sources that a catalog says are generated at deploy time"
);

/// Maximum number of sources named in the note.
const MAX_NAMED: usize = 8;

pub(super) fn report(facts: &SiteFacts<'_>, missing: &[GeneratedSource]) -> Diagnostic {
    // Ordered by declaration: the catalog's order, the same in every run.
    let sources: BTreeMap<_, &GeneratedSource> = missing
        .iter()
        .rev()
        .map(|missing| {
            let schema = &source(facts, missing).schema;
            ((missing.declared, &schema.value), missing)
        })
        .collect();
    let first = sources
        .values()
        .next()
        .expect("at least one source is missing");
    let name = &source(facts, first).name;
    let message = match sources.len() {
        1 => format!(
            "the substitution source `{}` is generated at deploy time",
            name.value
        ),
        count => format!("{count} substitution sources are generated at deploy time"),
    };
    let diagnostic = RULE
        .finding(
            message,
            first.declared,
            format!("{} is declared here", named(facts, first)),
        )
        .related(
            name.span,
            format!("`{}` substitutes from it", facts.name(first.doc)),
        )
        .note("the rendered documents lack the values of these substitutions");
    let diagnostic = match listed(facts, sources.values().skip(1)) {
        Some(others) => diagnostic.note(format!("the others: {others}")),
        None => diagnostic,
    };
    let mut users: Vec<_> = missing.iter().map(|missing| missing.doc).collect();
    users.sort_unstable();
    users.dedup();
    users.into_iter().fold(diagnostic, |diagnostic, user| {
        diagnostic.document(&facts.document(user).key)
    })
}

fn source<'a>(facts: &'a SiteFacts<'_>, missing: &GeneratedSource) -> &'a SubstitutionSource {
    &facts.document(missing.doc).sources[missing.substitution]
}

/// Name and kind of a source; a certificate and its key share a name.
fn named(facts: &SiteFacts<'_>, missing: &GeneratedSource) -> String {
    let SubstitutionSource { schema, name, .. } = source(facts, missing);
    let kind = schema.value.split('/').nth(1).unwrap_or(&schema.value);
    format!("`{}` ({kind})", name.value)
}

/// Formats the sources in one line.
fn listed<'a>(
    facts: &SiteFacts<'_>,
    sources: impl Iterator<Item = &'a &'a GeneratedSource>,
) -> Option<String> {
    let mut names: Vec<String> = sources.map(|source| named(facts, source)).collect();
    let more = names.len().saturating_sub(MAX_NAMED);
    names.truncate(MAX_NAMED);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    (!names.is_empty()).then(|| names.join(", "))
}
