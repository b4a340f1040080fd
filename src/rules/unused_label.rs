//! `unused-label`: label that no parentSelector selects.

use std::collections::HashMap;

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;
use crate::yaml::{Key, Node};

super::rule!(
    "unused-label", Note [Strict, Everywhere], "label that no parentSelector selects";
    Site(check)
);

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let mut selected: HashMap<(&str, &Key), Vec<&Node>, foldhash::fast::RandomState> =
        HashMap::default();
    for (_, document) in facts.site.iter() {
        let selector = document.parent_selector.iter();
        for (key, value) in selector.flat_map(|selector| selector.labels.iter()) {
            selected
                .entry((&document.key.schema, key))
                .or_default()
                .push(value);
        }
    }
    for (doc, document) in facts.site.iter() {
        for (key, value) in document.labels.iter() {
            let values = selected.get(&(&*document.key.schema, key));
            if !values.is_some_and(|values| values.contains(&value)) {
                found.push(report(facts, doc, key));
            }
        }
    }
}

fn report(facts: &SiteFacts<'_>, doc: DocId, key: &Key) -> Diagnostic {
    let document = facts.document(doc);
    let name = facts.name(doc);
    let label = key.as_str().unwrap_or_default();
    let message = format!("no document selects the label `{label}` of `{name}`");
    RULE.finding(
        message,
        key.span,
        "no parentSelector has this key and value",
    )
    .note(format!(
        "only documents of schema `{}` could select it",
        document.key.schema
    ))
    .help("remove it, unless another program reads it")
    .about(label)
    .document(&document.key)
}
