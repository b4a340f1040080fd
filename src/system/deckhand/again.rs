//! A site that was related before and of which a few documents are others now, as on
//! the other side of a comparison: where they are related alike, nothing is looked up
//! again.

use std::sync::Arc;

use super::catalog::Catalog;
use super::document::{Document, SubstitutionSource};
use super::{DeckhandOptions, Site, secret_reference};
use crate::graph::{DocId, Graph, Recipe};
use crate::yaml::diff::same_entries;

impl<'a> Site<'a> {
    /// This site with other documents, and its graph, if each of them is related as
    /// the one in its place is here, so that [`Site::new`] and [`Site::to_graph`] would
    /// find the same. `graph` is this site's, which was made with the same `options`.
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
        let pairs = || self.documents.iter().copied().zip(documents.iter().copied());
        let others: Vec<bool> = pairs().map(|(then, now)| !std::ptr::eq(then, now)).collect();
        let mut changed = pairs().zip(&others).filter(|(_, is_other)| **is_other);
        if !changed.all(|((then, now), _)| is_related_alike(then, now)) {
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
        let is_other = |doc: DocId| others[doc.index()];
        let recipes = site.iter().map(|(doc, document)| {
            // What a recipe says of its parent stands in the parent's text.
            if is_other(doc) || site.parent(doc).is_some_and(is_other) {
                // What is wrong with it is known from before.
                Arc::new(site.recipe(doc, document, options, &mut Vec::new()))
            } else {
                graph.recipes[doc.index()].clone()
            }
        });
        let recipes: Vec<Arc<Recipe>> = recipes.collect();
        let Graph { semantics, missing_source, sharers, .. } = *graph;
        Some((site, Graph { recipes, semantics, missing_source, sharers }))
    }
}

fn layer(document: &Document) -> Option<&str> {
    document.layer.as_ref().map(|layer| &*layer.value)
}

/// Whether all that relating documents looks at is the same in two of them.
fn is_related_alike(then: &Document, now: &Document) -> bool {
    let is_policy = |document: &Document| document.layer_order.is_some();
    let selects_alike = match (&then.parent_selector, &now.parent_selector) {
        (Some(then), Some(now)) => same_entries(&then.labels, &now.labels),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    let is_named_alike = |(then, now): (&SubstitutionSource, &SubstitutionSource)| {
        then.schema.value == now.schema.value && then.name.value == now.name.value
    };
    then.key == now.key
        && then.control == now.control
        && then.is_abstract == now.is_abstract
        && then.replacement.is_some() == now.replacement.is_some()
        && then.faults.is_empty() == now.faults.is_empty()
        && layer(then) == layer(now)
        && then.mixed_keys.is_some() == now.mixed_keys.is_some()
        && selects_alike
        && same_entries(&then.labels, &now.labels)
        && then.sources.len() == now.sources.len()
        && then.sources.iter().zip(&now.sources).all(is_named_alike)
        && secret_reference(then) == secret_reference(now)
        // These two relate others.
        && ![then, now].into_iter().any(|it| is_policy(it) || Catalog::reads(it))
}
