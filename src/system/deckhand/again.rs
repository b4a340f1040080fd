//! Reuse of a related site for one with a few other documents, as on the other side of a
//! comparison: if those are related in the same way, nothing is looked up again.

use std::sync::Arc;

use super::catalog::Catalog;
use super::document::Document;
use super::{DeckhandOptions, Site, secret_reference};
use crate::graph::{DocId, Graph, Recipe};
use crate::yaml::diff::same_entries;

impl<'a> Site<'a> {
    /// This site with other documents, and its graph, if each document has the same relations as
    /// its counterpart here, so that [`Site::new`] and [`Site::to_graph`] would give the same
    /// result. `graph` is this site's graph, made with the same `options`.
    pub fn again<'b>(
        &self,
        graph: &Graph,
        documents: &[&'b Document],
        options: &DeckhandOptions,
    ) -> Option<(Site<'b>, Graph)>
    where
        'a: 'b,
    {
        if documents.len() != self.documents.len() {
            return None;
        }
        let pairs = || {
            self.documents
                .iter()
                .copied()
                .zip(documents.iter().copied())
        };
        let changed_flags: Vec<bool> = pairs()
            .map(|(then, now)| !std::ptr::eq(then, now))
            .collect();
        let mut changed = pairs()
            .zip(&changed_flags)
            .filter(|(_, is_changed)| **is_changed);
        if !changed.all(|((then, now), _)| has_same_relations(then, now)) {
            return None;
        }
        let site = Site::of(
            self.name.clone(),
            documents.to_vec(),
            self.policy,
            self.catalog.clone(),
            self.problems.clone(),
            self.relations.clone(),
        );
        let is_changed = |doc: DocId| changed_flags[doc.index()];
        let recipes: Vec<Arc<Recipe>> = site
            .iter()
            .map(|(doc, document)| {
                // A recipe refers to spans in the parent's text.
                if is_changed(doc) || site.parent(doc).is_some_and(is_changed) {
                    // Its problems are already known.
                    Arc::new(site.recipe(doc, document, options, &mut Vec::new()))
                } else {
                    graph.recipes[doc.index()].clone()
                }
            })
            .collect();
        let Graph {
            semantics,
            missing_source,
            sharers,
            ..
        } = *graph;
        Some((
            site,
            Graph {
                recipes,
                semantics,
                missing_source,
                sharers,
            },
        ))
    }
}

fn layer(document: &Document) -> Option<&str> {
    document.layer.as_ref().map(|layer| &*layer.value)
}

/// Whether two documents agree in everything that relations depend on.
fn has_same_relations(then: &Document, now: &Document) -> bool {
    let has_same_selector = match (&then.parent_selector, &now.parent_selector) {
        (Some(then), Some(now)) => same_entries(&then.labels, &now.labels),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    then.key == now.key
        && then.control == now.control
        && then.is_abstract == now.is_abstract
        && then.replacement.is_some() == now.replacement.is_some()
        && then.faults.is_empty() == now.faults.is_empty()
        && layer(then) == layer(now)
        && then.mixed_keys.is_some() == now.mixed_keys.is_some()
        && has_same_selector
        && same_entries(&then.labels, &now.labels)
        && then.sources.len() == now.sources.len()
        && then.sources.iter().zip(&now.sources).all(|(then, now)| {
        then.schema.value == now.schema.value && then.name.value == now.name.value
    })
        && secret_reference(then) == secret_reference(now)
        // Policies and catalogs affect other documents.
        && ![then, now].into_iter().any(|it| it.layer_order.is_some() || Catalog::is_catalog(it))
}
