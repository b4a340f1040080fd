//! `uncommon-destination`: a substitution creates a key that resembles one in other documents.

use std::cell::OnceCell;

use indexmap::IndexMap;

use super::SiteFacts;
use super::near_destination::{MIN_KEY_BYTES, created_keys, is_slip, near_key, report};
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;
use crate::near::Slips;
use crate::yaml::path::{Location, Piece, child, children};
use crate::yaml::{Key, Mapping, Node};

super::rule!(
    "uncommon-destination",
    Note,
    "a substitution creates a key that resembles the key other documents have there";
    Schema(check)
);

/// Minimum number of other documents with the key; a single one may itself be wrong.
const MIN_DOCUMENTS: usize = 2;
/// Maximum number of keys that are compared one by one.
const MAX_COMPARED_KEYS: usize = 200;
/// Maximum number of keys in a mapping; more keys are probably generated names.
const MAX_KEYS: usize = 1000;

fn check(facts: &SiteFacts<'_>, docs: &[DocId], found: &mut Vec<Diagnostic>) {
    let mut root = DestinationNode::default();
    let mut creating = Vec::new();
    for doc in docs {
        let writes = facts.rendered.writes(*doc).iter();
        let mut creates = writes.filter(|write| write.created.is_some()).peekable();
        creating.extend(creates.peek().map(|_| *doc));
        creates
            .flat_map(created_keys)
            .for_each(|(around, _)| root.ask(around));
    }
    if creating.is_empty() {
        return;
    }
    for doc in docs.iter().filter(|doc| facts.graph.recipe(**doc).emit) {
        if let Some(data) = facts.rendered.data(*doc) {
            root.count_keys(*doc, data);
        }
    }
    for doc in creating {
        report_uncommon(facts, doc, &root, found);
    }
}

type OrderedMap<K, V> = IndexMap<K, V, foldhash::fast::RandomState>;

fn report_uncommon(
    facts: &SiteFacts<'_>,
    doc: DocId,
    root: &DestinationNode<'_>,
    found: &mut Vec<Diagnostic>,
) {
    let Some(data) = facts.rendered.data(doc) else {
        return;
    };
    for write in facts.rendered.writes(doc) {
        // Report only the outermost key that a write creates.
        let uncommon = created_keys(write).find_map(|(around, new)| {
            let (near, other) = root.at(around)?.common(doc, new)?;
            // `near-destination` reports keys that the document itself explains better.
            if near_key(facts, doc, data, around, new).is_some() {
                return None;
            }
            let place = Location(around.to_vec());
            facts.shown_place(data, &place)?;
            Some((new, near, other, place))
        });
        let Some((new, near, other, place)) = uncommon else {
            continue;
        };
        let document = facts.document(doc);
        let mut finding =
            report(&RULE, "where others have", document, write, new, near).about(new.to_owned());
        let beside = facts
            .rendered
            .data(other)
            .and_then(|data| place.get(data)?.as_mapping());
        if let Some((key, _)) = beside.and_then(|beside| beside.get_entry(near)) {
            finding = finding.related(key.span, "the key in another document");
        }
        found.push(finding);
    }
}

/// Place in the documents of a schema.
#[derive(Default)]
struct DestinationNode<'a> {
    inside: OrderedMap<&'a Piece, DestinationNode<'a>>,
    /// Whether a substitution creates a key here.
    is_asked: bool,
    /// Keys that documents have here, each with the ids of those documents.
    having: OrderedMap<&'a str, Vec<DocId>>,
    slips: OnceCell<Slips<'a>>,
}

impl<'a> DestinationNode<'a> {
    fn ask(&mut self, pieces: &'a [Piece]) {
        let mut place = self;
        for piece in pieces {
            place = place.inside.entry(piece).or_default();
        }
        place.is_asked = true;
    }

    fn at(&self, pieces: &[Piece]) -> Option<&Self> {
        pieces
            .iter()
            .try_fold(self, |place, piece| place.inside.get(piece))
    }

    /// Adds the keys of a document here and inside, at the requested places.
    fn count_keys(&mut self, doc: DocId, node: &'a Node) {
        let mapping = node.as_mapping();
        if self.is_asked
            && let Some(mapping) = mapping.filter(|it| !node.secret && it.len() <= MAX_KEYS)
        {
            let keys = mapping
                .keys()
                .filter_map(Key::as_str)
                .filter(|key| key.len() >= MIN_KEY_BYTES);
            keys.for_each(|key| self.having.entry(key).or_default().push(doc));
        }
        // Iterate over the smaller side: documents may be large, and so may the tree of places.
        let entries = mapping
            .map(Mapping::len)
            .or_else(|| node.as_sequence().map(<[Node]>::len));
        if self.inside.len() <= entries.unwrap_or_default() {
            for (piece, place) in &mut self.inside {
                if let Some(child) = child(node, piece) {
                    place.count_keys(doc, child);
                }
            }
        } else {
            for (piece, child) in children(node) {
                if let Some(place) = self.inside.get_mut(&piece) {
                    place.count_keys(doc, child);
                }
            }
        }
    }

    /// The first key that resembles `new` and is far more common in documents other than `doc`, and
    /// one of those documents.
    fn common(&self, doc: DocId, new: &str) -> Option<(&'a str, DocId)> {
        let elsewhere =
            |docs: &Vec<DocId>| docs.len() - usize::from(docs.binary_search(&doc).is_ok());
        let least = MIN_DOCUMENTS.max(2 * self.having.get(new).map_or(0, elsewhere) + 1);
        let is_near = |(key, docs): &(&'a str, &Vec<DocId>)| {
            docs.len() >= least && is_slip(new, key) && elsewhere(docs) >= least
        };
        let all = || self.having.iter().map(|(key, docs)| (*key, docs));
        let (near, docs) = if self.having.len() > MAX_COMPARED_KEYS {
            let slips = self.slips.get_or_init(|| {
                all()
                    .filter(|(_, docs)| docs.len() >= MIN_DOCUMENTS)
                    .map(|(key, _)| key)
                    .collect()
            });
            let near = slips
                .of(new)
                .into_iter()
                .map(|key| (key, &self.having[key]));
            near.filter(is_near).min()
        } else {
            all().filter(is_near).min()
        }?;
        Some((near, *docs.iter().find(|other| **other != doc)?))
    }
}
