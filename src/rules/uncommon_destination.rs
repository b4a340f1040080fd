//! `uncommon-destination`: a substitution creates a key that is nearly what other documents have there.

use std::collections::{BTreeMap, HashMap};

use super::SiteFacts;
use super::near_destination::{created_keys, is_slip, near_key};
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;
use crate::render::Write;
use crate::yaml::path::Location;
use crate::yaml::{Key, Mapping, Node};

super::rule!(
    "uncommon-destination",
    Note,
    "a substitution creates a key that is nearly what other documents have there"
);

/// One document alone may be the one that is wrong.
const FEWEST: usize = 2;
/// So many places of documents are looked at: what a machine wrote has no
/// slips of the hand.
const MOST_PLACES: usize = 100_000;
/// A mapping of more keys holds names given by a machine.
const MOST_KEYS: usize = 1000;

pub(super) fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let mut others =
        Others { facts, by_schema: by_schema(facts), keys: HashMap::default(), left: MOST_PLACES };
    for (doc, _) in facts.site.iter() {
        let Some(data) = facts.rendered.data(doc) else { continue };
        for write in facts.rendered.writes(doc) {
            let mut created = created_keys(write);
            if let Some(found_here) =
                created.find_map(|(around, new)| uncommon(&mut others, doc, data, around, new))
            {
                found.push(word(facts, doc, write, &found_here));
            }
        }
    }
}

fn by_schema<'a>(facts: &'a SiteFacts<'_>) -> BTreeMap<&'a str, Vec<DocId>> {
    let mut by_schema: BTreeMap<&str, Vec<DocId>> = BTreeMap::new();
    for (doc, recipe) in facts.graph.outputs() {
        by_schema.entry(&recipe.key.schema).or_default().push(doc);
    }
    by_schema
}

/// Keys, and the documents that have them.
type Keys<'a> = BTreeMap<&'a str, Vec<DocId>>;

/// What the other documents of a schema have at a place.
struct Others<'a, 'f> {
    facts: &'a SiteFacts<'f>,
    by_schema: BTreeMap<&'a str, Vec<DocId>>,
    keys: HashMap<(&'a str, Location), Keys<'a>, foldhash::fast::RandomState>,
    left: usize,
}

impl<'a> Others<'a, '_> {
    /// The keys that documents of the schema have at `around`, and which.
    fn keys(&mut self, schema: &'a str, around: &Location) -> &Keys<'a> {
        let docs = self.by_schema.get(schema).map_or(&[][..], Vec::as_slice);
        let (facts, left) = (self.facts, &mut self.left);
        self.keys.entry((schema, around.clone())).or_insert_with(|| {
            let mut keys = Keys::new();
            if docs.len() > *left {
                return keys;
            }
            *left -= docs.len();
            for doc in docs {
                for key in keys_at(facts, *doc, around) {
                    keys.entry(key).or_default().push(*doc);
                }
            }
            keys
        })
    }
}

fn keys_at<'a>(
    facts: &'a SiteFacts<'_>,
    doc: DocId,
    around: &Location,
) -> impl Iterator<Item = &'a str> {
    let data = facts.rendered.data(doc);
    let node = data.and_then(|data| around.get(data)).filter(|node| !node.secret);
    let mapping = node.and_then(Node::as_mapping).filter(|mapping| mapping.len() <= MOST_KEYS);
    let keys = mapping.into_iter().flat_map(Mapping::keys);
    keys.filter_map(Key::as_str)
}

/// A key that only this document has, and what others have instead.
struct Uncommon {
    new: String,
    near: String,
    others: Vec<DocId>,
    around: Location,
}

/// What others have where this document creates `new`, if that is spelled
/// nearly the same and far more common.
fn uncommon<'a>(
    others: &mut Others<'a, '_>,
    doc: DocId,
    data: &Node,
    around: Location,
    new: &str,
) -> Option<Uncommon> {
    let facts = others.facts;
    let schema: &'a str = &facts.graph.recipe(doc).key.schema;
    let keys = others.keys(schema, &around);
    let elsewhere = |docs: &[DocId]| docs.iter().filter(|other| **other != doc).count();
    let fellows = keys.get(new).map_or(0, |docs| elsewhere(docs));
    let (near, docs) = keys.iter().find(|(key, docs)| {
        let others = elsewhere(docs);
        others >= FEWEST && others > 2 * fellows && is_slip(new, key)
    })?;
    let (near, others) = ((*near).to_owned(), docs.clone());
    // What the document itself knows better is told by `near-destination`.
    if near_key(facts, doc, data, &around, new).is_some() {
        return None;
    }
    facts.shown_place(data, &around)?;
    let new = new.to_owned();
    Some(Uncommon { new, near, others, around })
}

fn word(facts: &SiteFacts<'_>, doc: DocId, write: &Write, uncommon: &Uncommon) -> Diagnostic {
    let document = facts.document(doc);
    let Uncommon { new, near, others, around } = uncommon;
    let name = &document.key.name;
    let message = format!("a substitution of `{name}` creates `{new}` where others have `{near}`");
    let mut diagnostic = Diagnostic::new(
        &RULE,
        message,
        Label::new(write.at, format!("`{new}` is not there: it is created")),
    );
    let key = others
        .iter()
        .find(|other| **other != doc)
        .and_then(|other| key_at(facts, *other, around, near));
    if let Some(key) = key {
        diagnostic = diagnostic.related(key.span, "as others have it");
    }
    diagnostic
        .note("Deckhand creates in silence what a destination path lacks")
        .help(format!("did you mean `{near}`?"))
        .about(new.clone())
        .document(document.key.clone())
}

fn key_at(facts: &SiteFacts<'_>, doc: DocId, around: &Location, key: &str) -> Option<Key> {
    let mapping = around.get(facts.rendered.data(doc)?)?.as_mapping()?;
    mapping.get_entry(key).map(|(key, _)| key.clone())
}
