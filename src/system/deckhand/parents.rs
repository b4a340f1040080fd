//! Inheritance: resolves labels to parents, and replacements to the replaced documents
//! (`deckhand.md` sections 5 to 7).

use std::collections::HashMap;
use std::rc::Rc;

use super::document::{Document, Selector};
use super::{Family, FastMap, Matches, ParentRefusal, SiteProblem};
use crate::graph::DocId;
use crate::merge::deckhand::Semantics;
use crate::yaml::{Key, Node};

/// The layers of a site's documents.
#[derive(Debug, Default)]
pub(super) struct Layers {
    /// Layer ranks by document; empty without a policy.
    ranks: Vec<Option<usize>>,
}

impl Layers {
    /// Ranks the layers of these documents by `order`, which lists the layers from the highest to
    /// the lowest.
    pub(super) fn new<'a>(
        order: impl IntoIterator<Item = &'a str>,
        documents: &[&Document],
    ) -> Self {
        let mut known: FastMap<&str, usize> = FastMap::default();
        for (rank, layer) in order.into_iter().enumerate() {
            known.entry(layer).or_insert(rank);
        }
        let rank = |document: &&Document| known.get(&*document.layer.as_ref()?.value).copied();
        Self {
            ranks: documents.iter().map(rank).collect(),
        }
    }

    /// Rank of a document's layer, from the highest; `None` without a layer, or in a layer unknown
    /// to the policy.
    pub(super) fn rank(&self, doc: DocId) -> Option<usize> {
        self.ranks.get(doc.index()).copied().flatten()
    }
}

/// Documents that select a parent or replace one, in input order; usually few.
pub(super) fn children(family: Family<'_>) -> Vec<DocId> {
    family
        .iter()
        .filter(|(_, document)| {
            document.parent_selector.is_some() || document.replacement.is_some()
        })
        .map(|(doc, _)| doc)
        .collect()
}

/// Documents by label, limited to the labels that selectors use.
struct LabelIndex {
    carriers: FastMap<(Key, Key), Vec<DocId>>,
}

impl LabelIndex {
    fn new<'a>(family: Family<'_>, selectors: impl Iterator<Item = &'a Selector>) -> Self {
        // Almost every document has labels, and most labels are not used by any selector.
        let wanted = selectors
            .flat_map(|selector| selector.labels.iter())
            .filter_map(pair);
        let mut carriers: FastMap<_, Vec<DocId>> = wanted.map(|pair| (pair, Vec::new())).collect();
        if carriers.is_empty() {
            return Self { carriers };
        }
        for (doc, document) in family.iter() {
            for pair in document.labels.iter().filter_map(pair) {
                if let Some(of_pair) = carriers.get_mut(&pair) {
                    of_pair.push(doc);
                }
            }
        }
        Self { carriers }
    }

    /// Whether a document in a layer has one of the labels of `selector`.
    fn finds_any(&self, selector: &Selector, layers: &Layers) -> bool {
        let mut carriers = selector
            .labels
            .iter()
            .filter_map(pair)
            .filter_map(|pair| self.carriers.get(&pair))
            .flatten();
        carriers.any(|doc| layers.rank(*doc).is_some())
    }

    /// Documents that have all labels of `selector`, in input order.
    fn carriers<'a>(
        &'a self,
        selector: &'a Selector,
        documents: &'a [&Document],
    ) -> impl Iterator<Item = DocId> + 'a {
        let rarest = selector
            .labels
            .iter()
            .map(|label| {
                pair(label)
                    .and_then(|pair| self.carriers.get(&pair))
                    .map_or(&[][..], Vec::as_slice)
            })
            .min_by_key(|carriers| carriers.len())
            .unwrap_or_default();
        // A single label has just been looked up.
        let single = selector.labels.len() == 1;
        rarest
            .iter()
            .copied()
            .filter(move |doc| single || has_all_labels(documents[doc.index()], selector))
    }
}

/// A label as a lookup key.
pub(crate) type LabelPair = (Key, Key);

/// Lookup key of a label; labels that are lists or mappings match nothing.
pub(crate) fn pair((key, label): (&Key, &Node)) -> Option<LabelPair> {
    let value = label.value.is_scalar().then(|| label.value.clone())?;
    let span = label.span;
    Some((key.clone(), Key { value, span }))
}

/// Whether a document has all labels of a selector.
pub(super) fn has_all_labels(document: &Document, selector: &Selector) -> bool {
    selector.labels.iter().all(|(key, wanted)| {
        document
            .labels
            .get(key)
            .is_some_and(|label| label.value.equals_in_python(&wanted.value))
    })
}

/// Finds the parents of the documents in `children`, and adds failures to `problems`.
pub(super) fn find(
    family: Family<'_>,
    children: &[DocId],
    layers: &Layers,
    semantics: Semantics,
    problems: &mut Vec<SiteProblem>,
) -> Vec<Option<DocId>> {
    let documents = family.documents;
    let selector = |doc: DocId| Some((doc, documents[doc.index()].parent_selector.as_ref()?));
    let selecting = || children.iter().copied().filter_map(selector);
    let index = LabelIndex::new(family, selecting().map(|(_, selector)| selector));
    let known = HashMap::default();
    let mut search = ParentSearch {
        documents,
        layers,
        semantics,
        index,
        known,
    };
    let mut parents = vec![None; documents.len()];
    for (child, selector) in selecting() {
        if documents[child.index()].mixed_keys.is_some() && search.index.finds_any(selector, layers)
        {
            problems.push(SiteProblem::MixedKeys { doc: child });
        }
        parents[child.index()] = search.parent_of(child, selector, problems);
    }
    parents
}

struct ParentSearch<'a> {
    documents: &'a [&'a Document],
    layers: &'a Layers,
    semantics: Semantics,
    index: LabelIndex,
    /// Cached matches: thousands of selectors may match the same thousands of documents.
    known: HashMap<SelectorKey<'a>, Rc<SelectorMatches>, foldhash::fast::RandomState>,
}

/// Cache key of matches: the labels of a selector, and the schema and layer of the selecting
/// document.
#[derive(PartialEq, Eq, Hash)]
struct SelectorKey<'a> {
    labels: Vec<(&'a Key, Key)>,
    schema: &'a str,
    rank: usize,
}

/// Matches of a selector.
#[derive(Default)]
struct SelectorMatches {
    of_other_schema: Matches,
    /// In input order; the selecting document can be one of them.
    not_above: Vec<DocId>,
    controls: Matches,
    candidates: Vec<(usize, DocId)>,
}

impl<'a> ParentSearch<'a> {
    fn matched(
        &mut self,
        child: DocId,
        rank: usize,
        selector: &'a Selector,
    ) -> Rc<SelectorMatches> {
        let document = self.documents[child.index()];
        let labels: Option<Vec<(&Key, Key)>> = selector
            .labels
            .iter()
            .map(|(key, value)| pair((key, value)).map(|(_, value)| (key, value)))
            .collect();
        // A label that is a list matches nothing.
        let Some(labels) = labels else {
            return Rc::default();
        };
        let cache_key = SelectorKey {
            labels,
            schema: &document.key.schema,
            rank,
        };
        if let Some(known) = self.known.get(&cache_key) {
            return known.clone();
        }
        let matched = Rc::new(self.match_all(&document.key.schema, rank, selector));
        self.known.insert(cache_key, matched.clone());
        matched
    }

    fn match_all(&self, schema: &str, child_rank: usize, selector: &Selector) -> SelectorMatches {
        let mut matched = SelectorMatches::default();
        for parent in self.index.carriers(selector, self.documents) {
            // Deckhand ignores documents without a layer (6.1, 6.2).
            let Some(rank) = self.layers.rank(parent) else {
                continue;
            };
            let document = self.documents[parent.index()];
            // Both cases are errors in Deckhand's code (D04, D05).
            if *document.key.schema != *schema {
                matched.of_other_schema.add(parent);
                continue;
            }
            if rank >= child_rank {
                matched.not_above.push(parent);
                continue;
            }
            if document.control {
                matched.controls.add(parent);
            }
            // D23.
            if !document.control || self.semantics == Semantics::Deckhand {
                matched.candidates.push((rank, parent));
            }
        }
        // The sort is stable, so input order is kept within a layer.
        matched
            .candidates
            .sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
        matched
    }

    fn parent_of(
        &mut self,
        child: DocId,
        selector: &'a Selector,
        problems: &mut Vec<SiteProblem>,
    ) -> Option<DocId> {
        let child_rank = self.layers.rank(child)?;
        let before = problems.len();
        let matched = self.matched(child, child_rank, selector);
        let of_other_schema = matched.of_other_schema.clone();
        // Deckhand never matches a document with itself.
        let not_above = Matches::without(&matched.not_above, child);
        let refused = [
            (of_other_schema, ParentRefusal::OtherSchema),
            (not_above, ParentRefusal::NotAbove),
        ];
        for (parents, refusal) in refused
            .into_iter()
            .filter(|(parents, _)| parents.count() > 0)
        {
            problems.push(SiteProblem::RefusedMatch {
                child,
                parents,
                refusal,
            });
        }
        let controls = matched.controls.first.iter().copied();
        problems.extend(controls.map(|parent| SiteProblem::ControlParent { child, parent }));
        let candidates = &matched.candidates;
        let Some((_, parent)) = candidates.first().copied() else {
            // Matches that cannot be parents have already been reported.
            if problems.len() == before {
                problems.push(SiteProblem::MissingParent { child });
            }
            return None;
        };
        report_ambiguity(child, candidates, problems);
        Some(parent)
    }
}

/// Reports several parents in the nearest layer, or, as in Deckhand's code, in a farther one (D06),
/// for which the nearest such layer is reported.
fn report_ambiguity(child: DocId, candidates: &[(usize, DocId)], problems: &mut Vec<SiteProblem>) {
    let mut layers = candidates.chunk_by(|(one, _), (other, _)| one == other);
    let near = layers.next().expect("candidates are not empty");
    if near.len() > 1 {
        let candidates = Matches::of(near.iter().map(|(_, doc)| *doc));
        problems.push(SiteProblem::AmbiguousParent { child, candidates });
        return;
    }
    let (_, nearer) = near[0];
    if let Some(farther) = layers.find(|layer| layer.len() > 1) {
        let parents = Matches::of(farther.iter().map(|(_, doc)| *doc));
        let refusal = ParentRefusal::TwoFarther { nearer };
        problems.push(SiteProblem::RefusedMatch {
            child,
            parents,
            refusal,
        });
    }
}

/// Finds the replacement of each document among those in `children`, and adds failures to
/// `problems`.
pub(super) fn replacements(
    documents: &[&Document],
    children: &[DocId],
    layers: &Layers,
    parents: &[Option<DocId>],
    problems: &mut Vec<SiteProblem>,
) -> Vec<Option<DocId>> {
    let mut replaced_by: Vec<Option<DocId>> = vec![None; documents.len()];
    for doc in children.iter().copied() {
        let document = documents[doc.index()];
        let parent = parents[doc.index()];
        let same_name = parent.is_some_and(|parent| {
            let parent = documents[parent.index()];
            parent.key.schema == document.key.schema && parent.key.name == document.key.name
        });
        match (document.replacement, parent) {
            // Without a known layer no parent could be found, which has already been reported.
            (Some(_), None) if document.layer.is_some() && layers.rank(doc).is_none() => {}
            (Some(_), None) => problems.push(SiteProblem::ReplacementWithoutParent { doc }),
            (Some(_), Some(parent)) if !same_name => {
                problems.push(SiteProblem::ReplacementOfAnother { doc, parent });
            }
            (Some(_), Some(parent)) => replaced_by[parent.index()] = Some(doc),
            (None, Some(parent)) if same_name => {
                problems.push(SiteProblem::UndeclaredReplacement { doc, parent });
            }
            (None, _) => {}
        }
    }
    for (index, replacement) in replaced_by.iter().enumerate() {
        let Some(replacement) = *replacement else {
            continue;
        };
        let replaced = documents[index];
        let by = documents[replacement.index()];
        if replaced.replacement.is_some() {
            problems.push(SiteProblem::NestedReplacement {
                middle: DocId::at(index),
                last: replacement,
            });
        }
        if by.is_abstract && !replaced.is_abstract {
            problems.push(SiteProblem::AbstractReplacement {
                doc: replacement,
                replaced: DocId::at(index),
            });
        }
    }
    replaced_by
}
