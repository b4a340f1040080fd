//! Documents by schema and name: which repeat others, and which are sources.

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

/// Who has a schema and name; nearly always one document.
#[derive(Clone, Copy, Debug)]
enum NamedDocuments {
    One(DocId),
    /// Several: an index of [`DocumentIndex::shared`].
    Several(usize),
}

/// The documents of one schema and name.
#[derive(Debug)]
struct RepeatedDocuments {
    /// In input order.
    documents: Vec<DocId>,
    /// The last one that can be a source (8.1).
    source: Option<DocId>,
    /// The last one that is part of the output.
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
                        shared.push(RepeatedDocuments { documents, source: None, output: None });
                    }
                    NamedDocuments::Several(of) => shared[of].documents.push(again),
                },
            }
        }
        Self { all, shared }
    }

    /// Which documents have the layer of an earlier one, too: of several with
    /// one schema, layer and name the first counts (6.4).
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

    /// Tells of documents of one schema and name in several layers.
    pub(super) fn tell_shared(
        &self,
        family: Family<'_>,
        parents: &[Option<DocId>],
        replaced_by: &[Option<DocId>],
        problems: &mut Vec<SiteProblem>,
    ) {
        let documents = family.documents;
        let is_output = |doc: DocId| {
            let document = documents[doc.index()];
            // A replacement that replaces nothing has been told as such.
            let failed = document.replacement.is_some()
                && parents[doc.index()]
                    .is_none_or(|parent| documents[parent.index()].key.name != document.key.name);
            !document.is_abstract && replaced_by[doc.index()].is_none() && !failed
        };
        // A document with its parent's name that does not replace it has been told
        // as such.
        let related = |one: DocId, other: DocId| {
            parents[one.index()] == Some(other) || parents[other.index()] == Some(one)
        };
        let plain = |doc: &DocId| documents[doc.index()].replacement.is_none();
        let is_told = |doc: &DocId| {
            let document = documents[doc.index()];
            !document.control && !is_nameless(document) && !family.repeated[doc.index()]
        };
        for shared in &self.shared {
            let same: Vec<DocId> = shared.documents.iter().copied().filter(is_told).collect();
            for (before, again) in same.iter().copied().enumerate() {
                let others = same[..before].iter().copied();
                let mut others = others.filter(|first| !related(*first, again));
                if let Some(first) =
                    others.clone().find(|first| is_output(*first) && is_output(again))
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

    /// Of documents that share a name a later one takes an earlier one's place: as a
    /// source, if it is concrete, and in the output, if nothing replaces it.
    pub(super) fn settle(&mut self, family: Family<'_>, replaced_by: &[Option<DocId>]) {
        for shared in &mut self.shared {
            let last_first = shared.documents.iter().rev().copied();
            let mut concrete = last_first.filter(|doc| family.is_concrete(*doc));
            shared.source = concrete.clone().next();
            shared.output = concrete.find(|doc| replaced_by[doc.index()].is_none());
        }
    }

    /// The document that can be part of the output by that name, if it is; once that
    /// is settled.
    pub(super) fn output(&self, schema: &str, name: &str) -> Option<DocId> {
        match *self.all.get(&(schema, name))? {
            NamedDocuments::One(doc) => Some(doc),
            NamedDocuments::Several(of) => self.shared[of].output,
        }
    }

    /// The document that can be a source by that name, if it is concrete; once
    /// that is settled.
    pub(super) fn source(&self, schema: &str, name: &str) -> Option<DocId> {
        match *self.all.get(&(schema, name))? {
            NamedDocuments::One(doc) => Some(doc),
            NamedDocuments::Several(of) => self.shared[of].source,
        }
    }
}

/// Whether a document lacks the name by which others could be compared with
/// it, which has been told.
fn is_nameless(document: &Document) -> bool {
    document.key.name.is_empty() && (document.is_doubtful || !document.faults.is_empty())
}
