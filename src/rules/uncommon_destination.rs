//! `uncommon-destination`: a substitution creates a key that is nearly what other documents have there.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use indexmap::IndexMap;

use super::near_destination::{created_keys, is_slip, near_key};
use super::{Judged, SiteFacts};
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;
use crate::near::Slips;
use crate::render::Write;
use crate::yaml::path::{self, Location, Piece, child, children};
use crate::yaml::{Key, Mapping, Node, Value};

super::rule!(
    "uncommon-destination",
    Note,
    "a substitution creates a key that is nearly what other documents have there";
    Site(check)
);

/// One document alone may be the one that is wrong.
const FEWEST: usize = 2;
/// So few are compared one by one.
const FEW_KEYS: usize = 200;
/// A mapping of more keys holds names given by a machine.
const MOST_KEYS: usize = 1000;

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    for mut schema in schemas(facts, &unchanged_schemas(facts)) {
        schema.ask();
        schema.count_keys();
        if schema.may_tell() {
            schema.tell(facts, found);
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
    // What is there now or was there before, and not both, tells without a look at
    // any data; mostly that leaves little to compare.
    let mut had = vec![false; earlier.graph.recipes.len()];
    for ((_, recipe), twin) in facts.graph.iter().zip(earlier.twins) {
        if let Some(twin) = twin {
            had[twin.index()] = true;
        } else {
            schemas.remove(&*recipe.key.schema);
        }
    }
    for (_, recipe) in earlier.graph.iter().filter(|(doc, _)| !had[doc.index()]) {
        schemas.remove(&*recipe.key.schema);
    }
    for ((doc, recipe), twin) in facts.graph.iter().zip(earlier.twins) {
        let schema = &*recipe.key.schema;
        let is_same = || {
            facts.rendered.untouched(doc).is_some()
                || twin.is_some_and(|twin| is_created_alike(facts, doc, &earlier, twin))
        };
        if schemas.contains(schema) && !is_same() {
            schemas.remove(schema);
        }
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

/// All schemas but the `unchanged` ones in whose documents substitutions create keys.
fn schemas<'a>(
    facts: &'a SiteFacts<'_>,
    unchanged: &Schemas<'_>,
) -> impl Iterator<Item = Schema<'a>> {
    let mut schemas: IndexMap<&str, Schema<'_>, foldhash::fast::RandomState> = IndexMap::default();
    for (doc, recipe) in facts.graph.iter() {
        let writes = facts.rendered.writes(doc).iter();
        let mut creating = writes.filter(|write| write.created.is_some()).peekable();
        if creating.peek().is_some() && !unchanged.contains(&*recipe.key.schema) {
            let output = facts.rendered.data(doc).filter(|_| recipe.emit);
            schemas.entry(&recipe.key.schema).or_default().add(doc, output, creating);
        }
    }
    for (doc, recipe) in facts.graph.outputs() {
        if let (Some(schema), Some(data)) =
            (schemas.get_mut(&*recipe.key.schema), facts.rendered.data(doc))
        {
            schema.outputs.push((doc, data));
        }
    }
    schemas.into_values()
}

/// The documents of a schema, and the places to which substitutions lead in them.
struct Schema<'a> {
    outputs: Vec<(DocId, &'a Node)>,
    /// Those in which substitutions create keys, outputs or not.
    creating: Vec<DocId>,
    /// The root, and all places to which something created leads; each behind
    /// the one that it is in.
    places: Vec<Place<'a>>,
    /// What the outputs have in the places where somebody asks.
    keys: Vec<Keys<'a>>,
}

/// A place in the documents of a schema.
#[derive(Default)]
struct Place<'a> {
    /// The place that it is in; for the root itself.
    around: usize,
    inside: IndexMap<Piece, usize, foldhash::fast::RandomState>,
    /// Its key, if a substitution creates it.
    created: Option<&'a str>,
    /// In how many outputs that create it it counts.
    counted: usize,
    /// Which of [`Schema::keys`] are here, if somebody asks.
    keys: Option<usize>,
}

impl Default for Schema<'_> {
    fn default() -> Self {
        let places = vec![Place::default()];
        Self { outputs: Vec::new(), creating: Vec::new(), places, keys: Vec::new() }
    }
}

impl<'a> Schema<'a> {
    /// Adds the keys that writes of a document create; `output` is its data, if it
    /// is part of the output.
    fn add(
        &mut self,
        doc: DocId,
        output: Option<&'a Node>,
        creating: impl Iterator<Item = &'a Write>,
    ) {
        self.creating.push(doc);
        // The way to the last write begins nearly always like the way to the next.
        let (mut way, mut last) = (vec![(0, output)], &[][..]);
        for write in creating {
            let pieces = &write.location.0[..];
            let shared = pieces.iter().zip(last).take_while(|(one, other)| one == other).count();
            way.truncate(shared + 1);
            for piece in &pieces[shared..] {
                let (place, node) = way[way.len() - 1];
                way.push((self.inside(place, piece), node.and_then(|node| child(node, piece))));
            }
            last = pieces;
            for (around, key) in created_keys(write) {
                let (holds, (place, has)) = (way[around].1, way[around + 1]);
                let counts = has.is_some() && holds.is_some_and(|it| counted(it).is_some());
                self.places[place].created = Some(key);
                self.places[place].counted += usize::from(counts);
            }
        }
    }

    /// The place inside another, which is made where it is missing.
    fn inside(&mut self, around: usize, piece: &Piece) -> usize {
        let next = self.places.len();
        let inside = &mut self.places[around].inside;
        if let Some(place) = inside.get(piece) {
            return *place;
        }
        inside.insert(piece.clone(), next);
        self.places.push(Place { around, ..Place::default() });
        next
    }

    /// Asks for what the outputs have beside the created keys, but for those that so
    /// many outputs create that no other can be far more common; and leaves out the
    /// places to which nobody who asks needs to go.
    fn ask(&mut self) {
        let Self { outputs, places, keys, .. } = self;
        for place in 0..places.len() {
            let Place { around, created, counted, .. } = places[place];
            let Some(key) = created else { continue };
            if fewest(counted.saturating_sub(1)) > outputs.len() {
                continue;
            }
            let here = *places[around].keys.get_or_insert_with(|| {
                keys.push(Keys::default());
                keys.len() - 1
            });
            keys[here].lengths |= lengths_near(key);
            keys[here].created.insert(key);
        }
        let mut asked = vec![false; places.len()];
        for (index, place) in places.iter_mut().enumerate().rev() {
            place.inside.retain(|_, inside| asked[*inside]);
            asked[index] = place.keys.is_some() || !place.inside.is_empty();
        }
    }

    fn count_keys(&mut self) {
        for (doc, data) in &self.outputs {
            self.places[0].count_keys(*doc, data, &self.places, &mut self.keys);
        }
    }

    /// Whether a created key may be uncommon; the others are forgotten.
    fn may_tell(&mut self) -> bool {
        for keys in &mut self.keys {
            let created = std::mem::take(&mut keys.created).into_iter();
            keys.created = created.filter(|key| keys.may_be_uncommon(key)).collect();
        }
        self.keys.iter().any(|keys| !keys.created.is_empty())
    }

    fn tell(&self, facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
        for doc in self.creating.iter().copied() {
            for write in facts.rendered.writes(doc) {
                let uncommon = |(around, key)| {
                    let keys = self.keys_at(around).filter(|keys| keys.created.contains(key))?;
                    uncommon(facts, keys, doc, around, key)
                };
                let around = |(around, key)| (&write.location.0[..around], key);
                // Of what one write creates, the outermost is told.
                if let Some(uncommon) = created_keys(write).map(around).find_map(uncommon) {
                    found.push(word(facts, doc, write, &uncommon));
                }
            }
        }
    }

    /// What the outputs have at a place, if somebody asks there.
    fn keys_at(&self, location: &[Piece]) -> Option<&Keys<'a>> {
        let root = &self.places[0];
        let place = location
            .iter()
            .try_fold(root, |place, piece| Some(&self.places[*place.inside.get(piece)?]))?;
        place.keys.map(|keys| &self.keys[keys])
    }
}

impl<'a> Place<'a> {
    /// Adds to `keys` what a document has here and inside. Of all its places only
    /// those are visited that somebody asks for and that it has.
    fn count_keys(&self, doc: DocId, node: &'a Node, places: &[Self], keys: &mut [Keys<'a>]) {
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
                    places[*place].count_keys(doc, child, places, keys);
                }
            }
        } else {
            for (piece, child) in children(node) {
                if let Some(place) = self.inside.get(&piece) {
                    places[*place].count_keys(doc, child, places, keys);
                }
            }
        }
    }
}

/// So many documents have what is far more common than what so many have.
fn fewest(others: usize) -> usize {
    FEWEST.max(2 * others + 1)
}

/// The mapping that a node is, if its keys count.
fn counted(node: &Node) -> Option<&Mapping> {
    node.as_mapping().filter(|mapping| !node.secret && mapping.len() <= MOST_KEYS)
}

/// Keys that documents have at a place, of those that may be like one created there.
#[derive(Default)]
struct Keys<'a> {
    /// The lengths that such keys have, as [`length`] tells them.
    lengths: u64,
    /// The keys that substitutions create there, as far as others may be more common.
    created: HashSet<&'a str, foldhash::fast::RandomState>,
    /// How many documents have the key that most of them have.
    most: usize,
    having: HashMap<&'a str, Having, foldhash::fast::RandomState>,
    slips: OnceCell<Slips<'a>>,
}

/// A bit for a length; the last is for all that are longer.
fn length(bytes: usize) -> u64 {
    1 << bytes.min(63)
}

/// The lengths of names that can be a slip for another, and its own.
fn lengths_near(name: &str) -> u64 {
    let bytes = name.len();
    length(bytes.saturating_sub(1)) | length(bytes) | length(bytes + 1)
}

/// The documents that have a key.
struct Having {
    first: DocId,
    second: Option<DocId>,
    count: usize,
}

impl<'a> Keys<'a> {
    fn add(&mut self, key: &'a str, doc: DocId) {
        if self.lengths & length(key.len()) == 0 {
            return;
        }
        let having =
            self.having.entry(key).or_insert(Having { first: doc, second: None, count: 0 });
        having.count += 1;
        self.most = self.most.max(having.count);
        if having.count == 2 {
            having.second = Some(doc);
        }
    }

    fn count(&self, key: &str) -> usize {
        self.having.get(key).map_or(0, |having| having.count)
    }

    /// Whether others may have something far more common instead of `new`, whichever
    /// document creates that: it may be among those that have it.
    fn may_be_uncommon(&self, new: &str) -> bool {
        let least = fewest(self.count(new).saturating_sub(1));
        self.most >= least && !self.near(new, least).is_empty()
    }

    /// The keys that look like `new` mistyped and that `least` documents have, two
    /// or more, in their order.
    fn near(&self, new: &str, least: usize) -> Vec<&'a str> {
        let those_of = |least: usize| {
            let common = self.having.iter().filter(move |(_, having)| having.count >= least);
            common.map(|(key, _)| *key)
        };
        let mut near: Vec<&str> = if self.having.len() > FEW_KEYS {
            self.slips.get_or_init(|| those_of(FEWEST).collect()).of(new)
        } else {
            those_of(least).collect()
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

/// What others have where a document creates the key `new` in the mapping at
/// `around`, if that is spelled nearly the same and far more common.
fn uncommon(
    facts: &SiteFacts<'_>,
    keys: &Keys<'_>,
    doc: DocId,
    around: &[Piece],
    new: &str,
) -> Option<Uncommon> {
    let data = facts.rendered.data(doc)?;
    let own = path::at(around, data).and_then(counted);
    let own = own.filter(|_| facts.graph.recipe(doc).emit);
    let elsewhere =
        |key: &str| keys.count(key) - usize::from(own.is_some_and(|own| own.get(key).is_some()));
    let least = fewest(elsewhere(new));
    let near = keys.near(new, least).into_iter().find(|key| elsewhere(key) >= least)?;
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
