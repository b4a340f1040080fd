//! `undeclared-secret`: secret that no catalog of the site declares.

use super::{SiteFacts, title};
use crate::diagnostic::Diagnostic;

super::rule!(
    "undeclared-secret", Note [Strict, Everywhere], "secret that no catalog of the site declares";
    Site(check)
);

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let catalog = &facts.site.catalog;
    let undeclared = facts
        .site
        .iter()
        .map(|(_, document)| document)
        .filter(|document| {
            let schema = &document.key.schema;
            let name = &document.key.name;
            catalog.covers(schema) && catalog.find(schema, name).is_none()
        });
    found.extend(undeclared.map(|document| {
        let title = title(&document.key);
        let message = format!("no catalog declares the secret `{title}`");
        RULE.finding(message, document.name_span, "not in a catalog")
            .note("Pegleg and Promenade do not regenerate it with the site's other secrets")
            .help("declare it in the site's catalog, or remove it")
            .document(&document.key)
    }));
}
