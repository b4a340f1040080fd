//! Pairs of documents of the two sides.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::files::Sites;
use super::order::DocumentRank;
use super::{DocumentPair, Located};
use crate::source::{RepoPath, Triple};
use crate::system::Written;
use crate::system::deckhand::layout::Place;
use crate::yaml::diff::{self, same};
use crate::yaml::{Node, Value};

/// Pairs the documents of the two sides, in this order: same file and identity; same place and
/// identity; same identity, once on each side, at different places; identical parts in files with
/// other names; similar documents of one file; and renamed documents of one place.
pub(super) fn pair<'a>(
    base: Vec<Located<'a>>,
    head: Vec<Located<'a>>,
    sites: &Sites<'a>,
) -> Vec<DocumentPair<'a>> {
    let mut open = UnpairedDocuments {
        base: base.into_iter().map(Some).collect(),
        head: head.into_iter().map(Some).collect(),
        pairs: Vec::new(),
    };
    open.pair_by(
        |it| Some((it.repository, it.path.clone(), it.document.key().clone())),
        PairingRule::InTurn,
    );
    open.pair_by(
        |located| {
            Some((
                located.repository,
                place_name(located.place),
                located.document.key().clone(),
            ))
        },
        PairingRule::InTurn,
    );
    // Documents added or removed with a site did not move.
    open.pair_by(
        |located| {
            sites
                .only_site_with(located)
                .is_none()
                .then(|| located.document.key().clone())
        },
        PairingRule::Alone,
    );
    open.pair_parts_of_other_files();
    open.pair_alike();
    open.pair_renamed();
    let UnpairedDocuments {
        base,
        head,
        mut pairs,
    } = open;
    pairs.extend(
        base.into_iter()
            .flatten()
            .map(|only| DocumentPair::of(Some(only), None)),
    );
    pairs.extend(
        head.into_iter()
            .flatten()
            .map(|only| DocumentPair::of(None, Some(only))),
    );
    pairs
}

fn place_name(place: Option<&Place>) -> (u8, Arc<str>) {
    match place {
        None => (0, "".into()),
        Some(Place::Global) => (1, "".into()),
        Some(Place::Type(name)) => (2, name.clone()),
        Some(Place::Site(name)) => (3, name.clone()),
    }
}

impl<'a> DocumentPair<'a> {
    fn of(base: Option<Located<'a>>, head: Option<Located<'a>>) -> Self {
        let ranks = [DocumentRank::unset(), DocumentRank::unset()];
        Self {
            base,
            head,
            ranks,
            whole: None,
            parts: Vec::new(),
            variants: None,
        }
    }
}

/// Documents that are not paired yet.
struct UnpairedDocuments<'a> {
    base: Vec<Option<Located<'a>>>,
    head: Vec<Option<Located<'a>>>,
    pairs: Vec<DocumentPair<'a>>,
}

/// Rule for pairing several documents with the same identity.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PairingRule {
    /// The first with the first, the second with the second.
    InTurn,
    /// Only if there is exactly one on each side.
    Alone,
}

impl<'a> UnpairedDocuments<'a> {
    fn pair_by<K: Ord>(&mut self, identity: impl Fn(&Located<'a>) -> Option<K>, meet: PairingRule) {
        let [base, head] = [&self.base, &self.head].map(|side| {
            let mut known: BTreeMap<K, Vec<usize>> = BTreeMap::new();
            for (at, located) in side.iter().enumerate() {
                if let Some(key) = located.as_ref().and_then(&identity) {
                    known.entry(key).or_default().push(at);
                }
            }
            known
        });
        for (key, below) in base {
            let above = head.get(&key).map_or(&[][..], Vec::as_slice);
            let is_one = below.len() == 1 && above.len() == 1;
            if meet == PairingRule::Alone && !(is_one && self.may_move(below[0], above[0])) {
                continue;
            }
            for (below, above) in below.iter().zip(above) {
                self.pairs.push(DocumentPair::of(
                    self.base[*below].take(),
                    self.head[*above].take(),
                ));
            }
        }
    }

    /// Whether a document may have moved: between the main repository and a further one, but not
    /// between further repositories, whose other revisions belong to other sites.
    fn may_move(&self, below: usize, above: usize) -> bool {
        let repository = |located: &Option<Located<'_>>| located.and_then(|it| it.repository);
        match (repository(&self.base[below]), repository(&self.head[above])) {
            (Some(base), Some(head)) => base == head,
            (None, _) | (_, None) => true,
        }
    }

    /// Pairs equal parts of files that were renamed.
    fn pair_parts_of_other_files(&mut self) {
        /// Maximum number of parts with the same outline that one part is compared with.
        const MAX_COMPARED: usize = 100;
        let mut known: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (at, located) in self.head.iter().enumerate() {
            known
                .entry(located.as_ref().and_then(outline).unwrap_or_default())
                .or_default()
                .push(at);
        }
        for below in &mut self.base {
            let Some(base) = *below else { continue };
            let Some(alike) = outline(&base).and_then(|outline| known.get(&outline)) else {
                continue;
            };
            let found = alike.iter().take(MAX_COMPARED).find(|at| {
                let head = self.head[**at].as_ref().filter(|head| head.is_part());
                head.is_some_and(|head| same(&base.document.root(), &head.document.root()))
            });
            if let Some(at) = found {
                self.pairs
                    .push(DocumentPair::of(below.take(), self.head[*at].take()));
            }
        }
    }

    /// Pairs documents that were given another name, layer or schema.
    fn pair_alike(&mut self) {
        /// Maximum number of documents that one document is compared with.
        const MAX_COMPARED: usize = 100;
        let mut known: BTreeMap<Likeness<'a>, BTreeSet<usize>> = BTreeMap::new();
        for (at, located) in self.head.iter().enumerate() {
            for likeness in located.iter().flat_map(likenesses) {
                known.entry(likeness).or_default().insert(at);
            }
        }
        for below in &mut self.base {
            let Some(base) = *below else { continue };
            let alike: BTreeSet<usize> = likenesses(&base)
                .iter()
                .filter_map(|likeness| known.get(likeness))
                .flat_map(|alike| alike.iter().take(MAX_COMPARED).copied())
                .collect();
            let mut candidates = alike
                .into_iter()
                .filter_map(|at| Some((at, self.head[at]?)));
            let found = candidates.find(|(_, head)| are_alike(base.document, head.document));
            if let Some((at, head)) = found {
                for likeness in likenesses(&head) {
                    known.entry(likeness).or_default().remove(&at);
                }
                self.pairs
                    .push(DocumentPair::of(below.take(), self.head[at].take()));
            }
        }
    }
}

impl UnpairedDocuments<'_> {
    /// Pairs renamed documents: those that share most of their values or, without comparable
    /// values, those at the same index of the same file.
    fn pair_renamed(&mut self) {
        self.pair_by(
            |located| {
                let values = values_of(located).filter(|values| !values.is_empty())?;
                Some((naming_place(located), values))
            },
            PairingRule::InTurn,
        );
        let base = Nameless::by_place(&self.base);
        let head = Nameless::by_place(&self.head);
        let mut renamings: Vec<Renaming> = base
            .iter()
            .filter_map(|(place, below)| Some((below, head.get(place)?)))
            .flat_map(|(below, above)| Renaming::between(below, above))
            .collect();
        renamings.sort_unstable();
        for renaming in renamings {
            let below = &mut self.base[renaming.base];
            let above = &mut self.head[renaming.head];
            if below.is_some() && above.is_some() {
                self.pairs
                    .push(DocumentPair::of(below.take(), above.take()));
            }
        }
    }
}

/// Repository, place, schema and layer, which a renamed document keeps.
type NamingPlace = (Option<usize>, (u8, Arc<str>), Arc<str>, Arc<str>);

fn naming_place(located: &Located<'_>) -> NamingPlace {
    let Triple { schema, layer, .. } = &**located.document.key();
    (
        located.repository,
        place_name(located.place),
        schema.clone(),
        layer.clone(),
    )
}

/// Hashes of the values that identify a renamed document.
fn values_of(located: &Located<'_>) -> Option<Vec<u64>> {
    /// Maximum number of values per document that are compared.
    const MAX_VALUES: usize = 1_000;
    located.document.deckhand()?;
    let data = located.document.data();
    let is_empty = match &data.value {
        Value::Null => true,
        Value::Mapping(entries) => entries.is_empty(),
        Value::Sequence(items) => items.is_empty(),
        _ => false,
    };
    Some(if is_empty {
        Vec::new()
    } else {
        diff::shown_values(data, MAX_VALUES)
    })
}

/// A document without its name.
struct Nameless<'a> {
    /// Index among the documents of its side.
    at: usize,
    /// File, and index in the file.
    position: (&'a RepoPath, usize),
    values: Vec<u64>,
}

impl<'a> Nameless<'a> {
    fn by_place(side: &[Option<Located<'a>>]) -> BTreeMap<NamingPlace, Vec<Self>> {
        let mut by_place: BTreeMap<NamingPlace, Vec<Self>> = BTreeMap::new();
        for (at, located) in side.iter().enumerate() {
            let Some(located) = located else { continue };
            let Some(values) = values_of(located) else {
                continue;
            };
            let position = (located.path, located.index);
            by_place
                .entry(naming_place(located))
                .or_default()
                .push(Self {
                    at,
                    position,
                    values,
                });
        }
        by_place
    }

    /// Share of common values in thousandths, if at least half of them are common.
    fn likeness(&self, other: &Self) -> Option<usize> {
        let is_in_place = self.position == other.position;
        let most = self.values.len().max(other.values.len());
        if most == 0 {
            return is_in_place.then_some(1000);
        }
        if self.values.len().min(other.values.len()) * 2 < most {
            return None;
        }
        let shared = count_shared(&self.values, &other.values);
        (shared * 2 >= most).then_some(shared * 1000 / most)
    }
}

/// Number of elements two sorted lists have in common.
fn count_shared(one: &[u64], other: &[u64]) -> usize {
    let mut rest = other;
    let mut shared = 0;
    for number in one {
        while rest.first().is_some_and(|first| first < number) {
            rest = &rest[1..];
        }
        if rest.first() == Some(number) {
            rest = &rest[1..];
            shared += 1;
        }
    }
    shared
}

/// A candidate pair of a renamed document; the most similar sort first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Renaming {
    /// Share of differing values in thousandths, and whether the positions in files differ.
    difference: (usize, bool),
    base: usize,
    head: usize,
}

impl Renaming {
    fn between(base: &[Nameless<'_>], head: &[Nameless<'_>]) -> Vec<Self> {
        /// Maximum distance between the compared documents, by index within their place.
        const MAX_DISTANCE: usize = 25;
        let mut found = Vec::new();
        for (at, below) in base.iter().enumerate() {
            let near = at.saturating_sub(MAX_DISTANCE)..head.len().min(at + MAX_DISTANCE + 1);
            for above in head.get(near).unwrap_or_default() {
                let Some(likeness) = below.likeness(above) else {
                    continue;
                };
                let difference = (1000 - likeness, below.position != above.position);
                found.push(Self {
                    difference,
                    base: below.at,
                    head: above.at,
                });
            }
        }
        found
    }
}

/// Common properties of similar documents: the file, and the schema or the name.
type Likeness<'a> = (Option<usize>, &'a RepoPath, bool, &'a str);

fn likenesses<'a>(located: &Located<'a>) -> [Likeness<'a>; 2] {
    let Triple { schema, name, .. } = &**located.document.key();
    let likeness = |is_name, text| (located.repository, located.path, is_name, text);
    [likeness(false, &**schema), likeness(true, &**name)]
}

/// Cheap fingerprint that equal parts share: index in the file and number of entries. `None` for
/// documents other than parts.
fn outline(located: &Located<'_>) -> Option<(usize, usize)> {
    let data = located.document.data();
    let entries = data.as_mapping().map_or_else(
        || data.as_sequence().map_or(0, <[Node]>::len),
        |mapping| mapping.iter().count(),
    );
    located.is_part().then_some((located.index, entries))
}

fn are_alike(base: Written<'_>, head: Written<'_>) -> bool {
    let Triple {
        schema,
        layer,
        name,
    } = &**base.key();
    let other = head.key();
    let renamed =
        *schema == other.schema && !base.data().is_null() && same(base.data(), head.data());
    renamed || (*name == other.name && (*schema == other.schema || *layer == other.layer))
}
