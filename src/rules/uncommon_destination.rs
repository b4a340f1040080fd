//! `uncommon-destination`: a substitution creates a key that is nearly what other documents have there.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use indexmap::IndexMap;

use super::near_destination::{created_keys, is_slip, near_key};
use super::{Judged, SiteFacts};
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::{DocId, Recipe};
use crate::near::Slips;
use crate::render::Write;
use crate::yaml::path::{self, Location, Piece, child, children};
use crate::yaml::{Key, Mapping, Node, Value};

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
    let creations = Creations::of(facts, &unchanged_schemas(facts));
    let mut told: Option<&Write> = None;
    for creation in &creations.all {
        // Of what one write creates, the outermost is told.
        if told.is_some_and(|told| std::ptr::eq(told, creation.write)) {
            continue;
        }
        if let Some(found_here) = uncommon(facts, &creations.keys[creation.place], creation) {
            found.push(word(facts, creation.doc, creation.write, &found_here));
            told = Some(creation.write);
        }
    }
}

/// The schemas whose documents have the same keys, created the same way, as where
/// nothing was found before: nothing is found in them now.
fn unchanged_schemas<'a>(facts: &SiteFacts<'a>) -> Schemas<'a> {
    let earlier = facts.earlier.filter(|earlier| earlier.is_free_of(&RULE));
    let Some(earlier) = earlier else { return Schemas::default() };
    let mut schemas: Schemas<'_> =
        facts.graph.recipes.iter().map(|recipe| &*recipe.key.schema).collect();
    let mut had = vec![false; earlier.graph.recipes.len()];
    for (doc, recipe) in facts.graph.iter() {
        let twin = earlier.twins[doc.index()];
        if let Some(twin) = twin {
            had[twin.index()] = true;
        }
        let is_same = facts.rendered.untouched(doc).is_some()
            || twin.is_some_and(|twin| is_created_alike(facts, doc, &earlier, twin));
        if !is_same {
            schemas.remove(&*recipe.key.schema);
        }
    }
    // Documents that are there no more had keys, too.
    for (_, recipe) in earlier.graph.iter().filter(|(doc, _)| !had[doc.index()]) {
        schemas.remove(&*recipe.key.schema);
    }
    schemas
}

type Schemas<'a> = HashSet<&'a str, foldhash::fast::RandomState>;

/// Whether a document has the keys that it had, and created them the same way.
fn is_created_alike(facts: &SiteFacts<'_>, doc: DocId, earlier: &Judged<'_>, twin: DocId) -> bool {
    let (writes, before) = (facts.rendered.writes(doc), earlier.rendered.writes(twin));
    let is_same = |(now, before): (&Write, &Write)| {
        now.location == before.location && now.created == before.created && now.at == before.at
    };
    facts.graph.recipe(doc).emit == earlier.graph.recipe(twin).emit
        && writes.len() == before.len()
        && writes.iter().zip(before).all(is_same)
        && match (facts.rendered.data(doc), earlier.rendered.data(twin)) {
            (Some(now), Some(before)) => has_same_keys(facts, now, before),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
}

/// Whether two values have the same keys in the same places, written alike.
fn has_same_keys(facts: &SiteFacts<'_>, now: &Node, before: &Node) -> bool {
    let has_keys = now.is_collection() || before.is_collection();
    let is_same_key = |now: &Key, before: &Key| {
        now == before
            && (now.span == before.span
                || facts.sources.slice(now.span) == facts.sources.slice(before.span))
    };
    now.secret == before.secret
        && match (&now.value, &before.value) {
            (Value::Mapping(now), Value::Mapping(before)) => {
                Arc::ptr_eq(now, before)
                    || now.len() == before.len()
                        && now.iter().zip(before.iter()).all(|(now, before)| {
                            is_same_key(now.0, before.0) && has_same_keys(facts, now.1, before.1)
                        })
            }
            (Value::Sequence(now), Value::Sequence(before)) => {
                Arc::ptr_eq(now, before)
                    || now.len() == before.len()
                        && now
                            .iter()
                            .zip(before.iter())
                            .all(|(now, before)| has_same_keys(facts, now, before))
            }
            _ => !has_keys,
        }
}

/// A key that a substitution creates. There are as many as substitutions: what
/// the write says is not said again.
struct Creation<'a> {
    doc: DocId,
    write: &'a Write,
    /// How many pieces of the write's place lead to what holds the key.
    around: usize,
    /// Where, in all documents of its schema: of [`Creations::keys`].
    place: usize,
}

impl<'a> Creation<'a> {
    fn around(&self) -> &'a [Piece] {
        &self.write.location.0[..self.around]
    }

    fn key(&self) -> &'a str {
        let key = self.write.location.0[self.around].as_text();
        key.expect("only keys that are texts are said to be created")
    }
}

/// All keys that substitutions create, and what documents have in their places.
struct Creations<'a> {
    all: Vec<Creation<'a>>,
    keys: Vec<Keys<'a>>,
}

impl<'a> Creations<'a> {
    /// Those in documents of all schemas but the `unchanged` ones.
    fn of(facts: &'a SiteFacts<'_>, unchanged: &Schemas<'_>) -> Self {
        let mut places: HashMap<&str, Place, foldhash::fast::RandomState> = HashMap::default();
        let (mut all, mut keys) = (Vec::new(), Vec::new());
        let is_looked_at = |recipe: &Recipe| !unchanged.contains(&*recipe.key.schema);
        for (doc, recipe) in facts.graph.iter().filter(|(_, recipe)| is_looked_at(recipe)) {
            for write in facts.rendered.writes(doc) {
                let mut created = created_keys(write).map(|(around, _)| around).peekable();
                if created.peek().is_none() {
                    continue;
                }
                let mut place = places.entry(&recipe.key.schema).or_default();
                let mut reached = 0;
                for around in created {
                    place = place.at(&write.location.0[reached..around]);
                    reached = around;
                    let place = *place.keys.get_or_insert_with(|| {
                        keys.push(Keys::default());
                        keys.len() - 1
                    });
                    all.push(Creation { doc, write, around, place });
                }
            }
        }
        for (doc, recipe) in facts.graph.outputs() {
            if let (Some(place), Some(data)) =
                (places.get(&*recipe.key.schema), facts.rendered.data(doc))
            {
                place.add(doc, data, &mut keys);
            }
        }
        Self { all, keys }
    }
}

/// A place in the documents of a schema, and those inside it.
#[derive(Default)]
struct Place {
    /// Which of [`Creations::keys`] are here, if somebody asks.
    keys: Option<usize>,
    inside: IndexMap<Piece, Place, foldhash::fast::RandomState>,
}

impl Place {
    /// The place `below` this one, which is made where it is missing.
    fn at(&mut self, below: &[Piece]) -> &mut Self {
        below.iter().fold(self, |place, piece| match place.inside.get_index_of(piece) {
            Some(index) => &mut place.inside[index],
            None => place.inside.entry(piece.clone()).or_default(),
        })
    }

    /// Adds to `keys` what a document has here and inside. Of all its places only
    /// those are visited that somebody asks for and that it has.
    fn add<'a>(&self, doc: DocId, node: &'a Node, keys: &mut [Keys<'a>]) {
        if let Some(here) = self.keys
            && let Some(mapping) = counted(node)
        {
            mapping.keys().filter_map(Key::as_str).for_each(|key| keys[here].add(key, doc));
        }
        let entries = node.as_mapping().map(Mapping::len);
        let entries = entries.or_else(|| node.as_sequence().map(<[Node]>::len));
        if self.inside.len() <= entries.unwrap_or_default() {
            for (piece, place) in &self.inside {
                if let Some(child) = child(node, piece) {
                    place.add(doc, child, keys);
                }
            }
        } else {
            for (piece, child) in children(node) {
                if let Some(place) = self.inside.get(&piece) {
                    place.add(doc, child, keys);
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

/// What others have where a document creates a key, if that is spelled nearly
/// the same and far more common.
fn uncommon(facts: &SiteFacts<'_>, keys: &Keys<'_>, creation: &Creation<'_>) -> Option<Uncommon> {
    let (doc, around, new) = (creation.doc, creation.around(), creation.key());
    let count = |key: &str| keys.having.get(key).map_or(0, |having| having.count);
    // So many have what is far more common, whatever this document itself has.
    let fewest = |elsewhere: usize| FEWEST.max(2 * elsewhere + 1);
    if keys.most < fewest(count(new).saturating_sub(1)) {
        return None;
    }
    let data = facts.rendered.data(doc)?;
    let own = path::at(around, data).and_then(counted);
    let own = own.filter(|_| facts.graph.recipe(doc).emit);
    let elsewhere =
        |key: &str| count(key) - usize::from(own.is_some_and(|own| own.get(key).is_some()));
    let fewest = fewest(elsewhere(new));
    if keys.most < fewest {
        return None;
    }
    let near = keys.near(new).into_iter().find(|key| elsewhere(key) >= fewest)?;
    let having = &keys.having[near];
    let other = if having.first == doc { having.second? } else { having.first };
    // What the document itself knows better is told by `near-destination`.
    if near_key(facts, doc, data, around, new).is_some() {
        return None;
    }
    let around = Location(around.to_vec());
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
