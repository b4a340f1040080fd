//! `uncommon-destination`: a substitution creates a key that is nearly what other documents have there.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

use super::SiteFacts;
use super::near_destination::{created_keys, is_slip, near_key};
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;
use crate::near::Slips;
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
/// So few are compared one by one.
const FEW_KEYS: usize = 200;
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

/// Keys that documents have at a place.
#[derive(Default)]
struct Keys<'a> {
    having: HashMap<&'a str, Having, foldhash::fast::RandomState>,
    slips: OnceCell<Slips<'a>>,
}

/// The documents that have a key.
struct Having {
    first: DocId,
    second: Option<DocId>,
    count: usize,
}

impl<'a> Keys<'a> {
    fn add(&mut self, key: &'a str, doc: DocId) {
        let having =
            self.having.entry(key).or_insert(Having { first: doc, second: None, count: 0 });
        having.count += 1;
        if having.count == 2 {
            having.second = Some(doc);
        }
    }

    /// The keys that look like `new` mistyped, in their order.
    fn near(&self, new: &str) -> Vec<&'a str> {
        let all = self.having.keys().copied();
        let mut near: Vec<&str> = if all.len() > FEW_KEYS {
            self.slips.get_or_init(|| all.collect()).of(new)
        } else {
            all.collect()
        };
        near.retain(|key| is_slip(new, key));
        near.sort_unstable();
        near
    }
}

/// What the other documents of a schema have at a place.
struct Others<'a, 'f> {
    facts: &'a SiteFacts<'f>,
    by_schema: BTreeMap<&'a str, Vec<DocId>>,
    keys: HashMap<(&'a str, Location), Keys<'a>, foldhash::fast::RandomState>,
    left: usize,
}

impl<'a> Others<'a, '_> {
    /// The keys that documents of the schema have at `around`.
    fn keys(&mut self, schema: &'a str, around: &Location) -> &Keys<'a> {
        let docs = self.by_schema.get(schema).map_or(&[][..], Vec::as_slice);
        let (facts, left) = (self.facts, &mut self.left);
        self.keys.entry((schema, around.clone())).or_insert_with(|| {
            let mut keys = Keys::default();
            if docs.len() > *left {
                return keys;
            }
            *left -= docs.len();
            for doc in docs {
                let mapping = mapping_at(facts, *doc, around);
                let names = mapping.into_iter().flat_map(Mapping::keys).filter_map(Key::as_str);
                names.for_each(|key| keys.add(key, *doc));
            }
            keys
        })
    }
}

/// The mapping that a document has at a place, if its keys count.
fn mapping_at<'a>(facts: &'a SiteFacts<'_>, doc: DocId, around: &Location) -> Option<&'a Mapping> {
    let node = around.get(facts.rendered.data(doc)?).filter(|node| !node.secret)?;
    node.as_mapping().filter(|mapping| mapping.len() <= MOST_KEYS)
}

/// A key that only this document has, and what others have instead.
struct Uncommon {
    new: String,
    near: String,
    /// One of the others.
    other: DocId,
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
    let recipe = facts.graph.recipe(doc);
    let keys = others.keys(&recipe.key.schema, &around);
    let near = keys.near(new);
    if near.is_empty() {
        return None;
    }
    let own = mapping_at(facts, doc, &around).filter(|_| recipe.emit);
    let elsewhere = |key: &str| {
        let count = keys.having.get(key).map_or(0, |having| having.count);
        count - usize::from(own.is_some_and(|own| own.get(key).is_some()))
    };
    let fellows = elsewhere(new);
    let is_common = |key: &&str| {
        let others = elsewhere(key);
        others >= FEWEST && others > 2 * fellows
    };
    let near = near.into_iter().find(is_common)?;
    let having = &keys.having[near];
    let other = if having.first == doc { having.second? } else { having.first };
    // What the document itself knows better is told by `near-destination`.
    if near_key(facts, doc, data, &around, new).is_some() {
        return None;
    }
    facts.shown_place(data, &around)?;
    Some(Uncommon { new: new.to_owned(), near: near.to_owned(), other, around })
}

fn word(facts: &SiteFacts<'_>, doc: DocId, write: &Write, uncommon: &Uncommon) -> Diagnostic {
    let document = facts.document(doc);
    let Uncommon { new, near, other, around } = uncommon;
    let name = &document.key.name;
    let message = format!("a substitution of `{name}` creates `{new}` where others have `{near}`");
    let mut diagnostic = Diagnostic::new(
        &RULE,
        message,
        Label::new(write.at, format!("`{new}` is not there: it is created")),
    );
    if let Some(key) = key_at(facts, *other, around, near) {
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
