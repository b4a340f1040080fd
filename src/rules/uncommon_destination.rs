//! `uncommon-destination`: a substitution creates a key that is nearly what other documents have there.

use std::cell::OnceCell;
use std::collections::HashMap;

use indexmap::IndexMap;

use super::SiteFacts;
use super::near_destination::{created_keys, is_slip, near_key};
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;
use crate::near::Slips;
use crate::render::Write;
use crate::yaml::path::{Location, Piece, child, children};
use crate::yaml::{Key, Mapping, Node};

super::rule!(
    "uncommon-destination",
    Note,
    "a substitution creates a key that is nearly what other documents have there"
);

/// One document alone may be the one that is wrong.
const FEWEST: usize = 2;
/// So few are compared one by one.
const FEW_KEYS: usize = 200;
/// A mapping of more keys holds names given by a machine.
const MOST_KEYS: usize = 1000;

pub(super) fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let places = places(facts);
    for (doc, _) in facts.site.iter() {
        let Some(data) = facts.rendered.data(doc) else { continue };
        for write in facts.rendered.writes(doc) {
            let mut created = created_keys(write);
            if let Some(found_here) =
                created.find_map(|(around, new)| uncommon(facts, &places, doc, data, around, new))
            {
                found.push(word(facts, doc, write, &found_here));
            }
        }
    }
}

/// By schema, the places in which substitutions create keys, and what its
/// documents have there.
type Places<'a> = HashMap<&'a str, Place<'a>, foldhash::fast::RandomState>;

fn places<'a>(facts: &'a SiteFacts<'_>) -> Places<'a> {
    let mut places = Places::default();
    for (doc, recipe) in facts.graph.iter() {
        for write in facts.rendered.writes(doc) {
            for (around, _) in created_keys(write) {
                places.entry(&recipe.key.schema).or_default().at(&around).is_asked = true;
            }
        }
    }
    for (doc, recipe) in facts.graph.outputs() {
        if let (Some(place), Some(data)) =
            (places.get_mut(&*recipe.key.schema), facts.rendered.data(doc))
        {
            place.add(doc, data);
        }
    }
    places
}

/// A place, and those inside it.
#[derive(Default)]
struct Place<'a> {
    is_asked: bool,
    keys: Keys<'a>,
    inside: IndexMap<Piece, Place<'a>, foldhash::fast::RandomState>,
}

impl<'a> Place<'a> {
    /// The place `below` this one, which is made where it is missing.
    fn at(&mut self, below: &Location) -> &mut Self {
        below.0.iter().fold(self, |place, piece| place.inside.entry(piece.clone()).or_default())
    }

    /// The keys that documents have at the place `below` this one.
    fn keys(&self, below: &Location) -> Option<&Keys<'a>> {
        let mut way = below.0.iter();
        way.try_fold(self, |place, piece| place.inside.get(piece)).map(|place| &place.keys)
    }

    /// Adds what a document has here and inside. Of all its places only those
    /// are visited that somebody asks for and that it has.
    fn add(&mut self, doc: DocId, node: &'a Node) {
        if self.is_asked
            && let Some(mapping) = counted(node)
        {
            mapping.keys().filter_map(Key::as_str).for_each(|key| self.keys.add(key, doc));
        }
        let entries = node.as_mapping().map(Mapping::len);
        let entries = entries.or_else(|| node.as_sequence().map(<[Node]>::len));
        if self.inside.len() <= entries.unwrap_or_default() {
            for (piece, place) in &mut self.inside {
                if let Some(child) = child(node, piece) {
                    place.add(doc, child);
                }
            }
        } else {
            for (piece, child) in children(node) {
                if let Some(place) = self.inside.get_mut(&piece) {
                    place.add(doc, child);
                }
            }
        }
    }
}

/// The mapping that a node is, if its keys count.
fn counted(node: &Node) -> Option<&Mapping> {
    node.as_mapping().filter(|mapping| !node.secret && mapping.len() <= MOST_KEYS)
}

/// Keys that documents have at a place.
#[derive(Default)]
struct Keys<'a> {
    /// How many documents have the key that most of them have.
    most: usize,
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
        self.most = self.most.max(having.count);
        if having.count == 2 {
            having.second = Some(doc);
        }
    }

    /// The keys that look like `new` mistyped and that several documents have, in
    /// their order.
    fn near(&self, new: &str) -> Vec<&'a str> {
        let common = self.having.iter().filter(|(_, having)| having.count >= FEWEST);
        let common = common.map(|(key, _)| *key);
        let mut near: Vec<&str> = if self.having.len() > FEW_KEYS {
            self.slips.get_or_init(|| common.collect()).of(new)
        } else {
            common.collect()
        };
        near.retain(|key| is_slip(new, key));
        near.sort_unstable();
        near
    }
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
fn uncommon(
    facts: &SiteFacts<'_>,
    places: &Places<'_>,
    doc: DocId,
    data: &Node,
    around: Location,
    new: &str,
) -> Option<Uncommon> {
    let recipe = facts.graph.recipe(doc);
    let keys = places.get(&*recipe.key.schema)?.keys(&around)?;
    let own = around.get(data).and_then(counted).filter(|_| recipe.emit);
    let elsewhere = |key: &str| {
        let count = keys.having.get(key).map_or(0, |having| having.count);
        count - usize::from(own.is_some_and(|own| own.get(key).is_some()))
    };
    let fewest = FEWEST.max(2 * elsewhere(new) + 1);
    if keys.most < fewest {
        return None;
    }
    let near = keys.near(new).into_iter().find(|key| elsewhere(key) >= fewest)?;
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
