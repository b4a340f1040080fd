//! Index of documents by schema and name, to find repeated documents and sources.

use std::collections::hash_map::Entry;

use super::document::Document;
use super::{Family, FastMap, SiteProblem};
use crate::graph::DocId;

/// The documents of a site by schema and name.
#[derive(Debug)]
pub(super) struct DocumentIndex<'a> {
    all: FastMap<(&'a str, &'a str), NamedDocuments>,
    shared: Vec<RepeatedDocuments>,
}

/// The documents with a schema and name; almost always a single one.
#[derive(Clone, Copy, Debug)]
enum NamedDocuments {
    One(DocId),
    /// Several documents, as an index into [`DocumentIndex::shared`].
    Several(usize),
}

/// Several documents with the same schema and name.
#[derive(Debug)]
struct RepeatedDocuments {
    /// Documents in input order.
    documents: Vec<DocId>,
    /// The last one that can be a source (8.1).
    source: Option<DocId>,
    /// The last one that is an output.
    output: Option<DocId>,
}

impl<'a> DocumentIndex<'a> {
    pub(super) fn of(documents: &[&'a Document]) -> Self {
        let mut all: FastMap<_, NamedDocuments> = FastMap::default();
        all.reserve(documents.len());
        let mut shared: Vec<RepeatedDocuments> = Vec::new();
        for (index, document) in documents.iter().enumerate() {
            let again = DocId::at(index);
            match all.entry((&*document.key.schema, &*document.key.name)) {
                Entry::Vacant(entry) => {
                    entry.insert(NamedDocuments::One(again));
                }
                Entry::Occupied(mut entry) => match *entry.get() {
                    NamedDocuments::One(first) => {
                        entry.insert(NamedDocuments::Several(shared.len()));
                        let documents = vec![first, again];
                        shared.push(RepeatedDocuments {
                            documents,
                            source: None,
                            output: None,
                        });
                    }
                    NamedDocuments::Several(of) => shared[of].documents.push(again),
                },
            }
        }
        Self { all, shared }
    }

    /// Returns whether each document repeats an earlier one: the first of several with the same
    /// schema, layer and name takes precedence (6.4).
    pub(super) fn repeated(
        &self,
        documents: &[&Document],
        problems: &mut Vec<SiteProblem>,
    ) -> Vec<bool> {
        let mut repeated = vec![false; documents.len()];
        for shared in &self.shared {
            let mut layers: FastMap<&str, DocId> = FastMap::default();
            for again in shared.documents.iter().copied() {
                let document = documents[again.index()];
                if is_nameless(document) {
                    continue;
                }
                let first = *layers.entry(&document.key.layer).or_insert(again);
                if first != again {
                    problems.push(SiteProblem::DuplicateDocument { first, again });
                    repeated[again.index()] = true;
                }
            }
        }
        repeated
    }

    /// Reports documents with the same schema and name in several layers.
    pub(super) fn report_shared(
        &self,
        family: Family<'_>,
        parents: &[Option<DocId>],
        replaced_by: &[Option<DocId>],
        problems: &mut Vec<SiteProblem>,
    ) {
        let documents = family.documents;
        let is_output = |doc: DocId| {
            let document = documents[doc.index()];
            // A replacement that replaces nothing has already been reported.
            let failed = document.replacement.is_some()
                && parents[doc.index()]
                    .is_none_or(|parent| documents[parent.index()].key.name != document.key.name);
            !document.is_abstract && replaced_by[doc.index()].is_none() && !failed
        };
        // A document that shares its parent's name without replacing it has already been reported.
        let related = |one: DocId, other: DocId| {
            parents[one.index()] == Some(other) || parents[other.index()] == Some(one)
        };
        let plain = |doc: &DocId| documents[doc.index()].replacement.is_none();
        for shared in &self.shared {
            let same: Vec<DocId> = shared
                .documents
                .iter()
                .copied()
                .filter(|doc| {
                    let document = documents[doc.index()];
                    !document.control && !is_nameless(document) && !family.repeated[doc.index()]
                })
                .collect();
            for (before, again) in same.iter().copied().enumerate() {
                let mut others = same[..before]
                    .iter()
                    .copied()
                    .filter(|first| !related(*first, again));
                if let Some(first) = others
                    .clone()
                    .find(|first| is_output(*first) && is_output(again))
                {
                    problems.push(SiteProblem::DuplicateOutput { first, again });
                } else if let Some(first) = others.find(plain)
                    && plain(&again)
                {
                    problems.push(SiteProblem::SharedName { first, again });
                }
            }
        }
    }

    /// Selects the last of the documents that share a name: as a source among the concrete ones,
    /// and as an output among those that are not replaced.
    pub(super) fn resolve(&mut self, family: Family<'_>, replaced_by: &[Option<DocId>]) {
        for shared in &mut self.shared {
            let reversed = shared.documents.iter().rev().copied();
            let mut concrete = reversed.filter(|doc| family.is_concrete(*doc));
            shared.source = concrete.clone().next();
            shared.output = concrete.find(|doc| replaced_by[doc.index()].is_none());
        }
    }

    /// The candidate output with this name; requires [`DocumentIndex::resolve`].
    pub(super) fn output(&self, schema: &str, name: &str) -> Option<DocId> {
        match *self.all.get(&(schema, name))? {
            NamedDocuments::One(doc) => Some(doc),
            NamedDocuments::Several(of) => self.shared[of].output,
        }
    }

    /// The candidate source with this name, if it is concrete; requires [`DocumentIndex::resolve`].
    pub(super) fn source(&self, schema: &str, name: &str) -> Option<DocId> {
        match *self.all.get(&(schema, name))? {
            NamedDocuments::One(doc) => Some(doc),
            NamedDocuments::Several(of) => self.shared[of].source,
        }
    }
}

/// Whether a document lacks the name needed to compare it with others, which has already been
/// reported.
fn is_nameless(document: &Document) -> bool {
    document.key.name.is_empty() && (document.is_doubtful || !document.faults.is_empty())
}
