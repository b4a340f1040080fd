//! `declared-secret-missing`: secrets that a catalog declares are missing from the site.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;
use crate::source::Span;
use crate::system::deckhand::SiteProblem;
use crate::system::deckhand::catalog::Declared;

super::rule!(
    "declared-secret-missing", Note, "secrets that a catalog declares are missing from the site";
    Site(check)
);

/// Maximum number of secrets named in the note.
const MAX_NAMED: usize = 8;

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let catalog = &facts.site.catalog;
    if catalog.declared.is_empty() {
        return;
    }
    let there: HashSet<(&str, &str), foldhash::fast::RandomState> = facts
        .site
        .iter()
        .filter(|(_, document)| catalog.covers(&document.key.schema))
        .map(|(_, document)| (&*document.key.schema, &*document.key.name))
        .collect();
    let reported_sources = reported_sources(facts);
    let mut catalogs: BTreeMap<DocId, CatalogSecrets<'_>> = BTreeMap::new();
    for declared in &catalog.declared {
        let share = catalogs.entry(declared.catalog).or_default();
        if there.contains(&(declared.schema, &*declared.name)) {
            share.has_some = true;
        } else if reported_sources.contains(&(declared.at, declared.schema)) {
            share.has_reported = true;
        } else {
            share.missing.push(declared);
        }
    }
    for (catalog, share) in catalogs {
        // A catalog with none of its secrets in the repository, some of them read by documents, is
        // generated at deploy time: `generated-source-missing` reports that.
        let is_news = share.has_some || !share.has_reported;
        if !share.missing.is_empty() && is_news {
            found.push(report(facts, catalog, &share.missing));
        }
    }
}

/// Present and missing secrets of one catalog.
#[derive(Default)]
struct CatalogSecrets<'a> {
    has_some: bool,
    has_reported: bool,
    missing: Vec<&'a Declared>,
}

/// Sources that `generated-source-missing` reports.
fn reported_sources<'a>(facts: &'a SiteFacts<'_>) -> BTreeSet<(Span, &'a str)> {
    let generated = facts
        .site
        .problems
        .iter()
        .flat_map(|problem| match problem {
            SiteProblem::GeneratedSources { missing } => &missing[..],
            _ => &[],
        });
    let schema =
        |doc: DocId, substitution: usize| &*facts.document(doc).sources[substitution].schema.value;
    generated
        .map(|it| (it.declared, schema(it.doc, it.substitution)))
        .collect()
}

fn report(facts: &SiteFacts<'_>, catalog: DocId, missing: &[&Declared]) -> Diagnostic {
    let document = facts.document(catalog);
    let (first, others) = missing
        .split_first()
        .expect("a catalog is here for what is missing");
    let title = facts.name(catalog);
    let message = match missing.len() {
        1 => format!(
            "`{title}` declares `{}`, which the site does not have",
            first.name
        ),
        count => format!("`{title}` declares {count} secrets that the site does not have"),
    };
    let diagnostic = RULE
        .finding(
            message,
            first.at,
            format!("{} is declared here", named(first)),
        )
        .note(
            "Pegleg or Promenade generates them when the site is deployed; no document reads them",
        )
        .help("generate them, or remove unneeded entries from the catalog")
        .document(&document.key);
    if others.is_empty() {
        return diagnostic;
    }
    let mut names: Vec<String> = others.iter().take(MAX_NAMED).map(|it| named(it)).collect();
    if others.len() > MAX_NAMED {
        names.push(format!("{} more", others.len() - MAX_NAMED));
    }
    diagnostic.note(format!("the others: {}", names.join(", ")))
}

/// Name and kind of a secret; a certificate and its key share a name.
fn named(declared: &Declared) -> String {
    let kind = declared.schema.split('/').nth(1).unwrap_or(declared.schema);
    format!("`{}` ({kind})", declared.name)
}
