//! Order in which documents count, and documents that an edit moved within it.

use std::collections::{BTreeMap, BTreeSet};

use super::{DocumentPair, Located};
use crate::source::{RepoPath, Triple};
use crate::system::Written;

/// Sort key of a document among those of both sides. Head documents sort by their index; base
/// documents that are not at the same place in the head sort after the last preceding document that
/// is on both sides.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DocumentRank {
    pub(super) repository: Option<usize>,
    path: RepoPath,
    /// One-based head index of the document, or of the document that a base document follows.
    behind: usize,
    /// One-based base index of a base document, otherwise zero.
    below: usize,
}

impl DocumentRank {
    /// Rank of a pair until [`rank`] sets it.
    pub(super) fn unset() -> Self {
        Self {
            repository: None,
            path: RepoPath::new(""),
            behind: 0,
            below: 0,
        }
    }

    pub(super) fn of(located: &Located<'_>) -> Self {
        Self {
            repository: located.repository,
            path: located.path.clone(),
            behind: located.index + 1,
            below: 0,
        }
    }
}

/// Sets the ranks of the pairs.
pub(super) fn rank(pairs: &mut [DocumentPair<'_>], moved: &[Moved]) {
    // Head index of unmoved documents, by file and base index.
    let mut stayed: BTreeMap<(Option<usize>, RepoPath, usize), usize> = BTreeMap::new();
    for (pair, moved) in pairs.iter().zip(moved) {
        let (Some(base), Some(head)) = (&pair.base, &pair.head) else {
            continue;
        };
        let same_file = (base.repository, base.path) == (head.repository, head.path);
        if *moved == Moved::Stayed && same_file {
            stayed.insert((base.repository, base.path.clone(), base.index), head.index);
        }
    }
    for (pair, moved) in pairs.iter_mut().zip(moved) {
        let head = pair.head.as_ref().map(DocumentRank::of);
        let base = pair.base.as_ref().map(|base| {
            let file = |index: usize| (base.repository, base.path.clone(), index);
            let before = stayed.range(file(0)..file(base.index)).next_back();
            let behind = before.map_or(0, |(_, head)| head + 1);
            DocumentRank {
                behind,
                below: base.index + 1,
                ..DocumentRank::of(base)
            }
        });
        pair.ranks = match (base, head, moved) {
            (Some(_), Some(head), Moved::Stayed) => [head.clone(), head],
            (Some(base), Some(head), Moved::Elsewhere) => [base, head],
            (Some(only), None, _) | (None, Some(only), _) => [only.clone(), only],
            (None, None, _) => continue,
        };
    }
}

/// Whether a document that is on both sides moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moved {
    /// Its position in the order is unchanged.
    Stayed,
    /// It is at another place, or its order relative to a document changed where that order
    /// matters.
    Elsewhere,
}

/// Determines which of the pairs moved.
pub(super) fn moved(pairs: &[DocumentPair<'_>], unedited: &[Located<'_>]) -> Vec<Moved> {
    let mut moved: Vec<Moved> = pairs
        .iter()
        .map(|pair| match (&pair.base, &pair.head) {
            (Some(base), Some(head))
                if (base.repository, base.place) != (head.repository, head.place) =>
            {
                Moved::Elsewhere
            }
            // Parts count in the order of their paths.
            (Some(base), Some(head)) if base.is_part() && base.path != head.path => {
                Moved::Elsewhere
            }
            _ => Moved::Stayed,
        })
        .collect();
    for rivals in rivals(pairs, unedited) {
        for rival in reordered(rivals)
            .into_iter()
            .filter(|rival| rival.base != rival.head)
        {
            if let Some(pair) = rival.pair {
                moved[pair] = Moved::Elsewhere;
            }
        }
    }
    moved
}

/// One of several documents whose relative order matters.
struct OrderRival<'l> {
    /// Index of its pair; `None` for a document that is identical on both sides.
    pair: Option<usize>,
    base: (Option<usize>, &'l RepoPath, usize),
    head: (Option<usize>, &'l RepoPath, usize),
}

/// Returns the documents whose order relative to another one differs between the sides: in base
/// order, those with a later head position before them or an earlier one after them.
fn reordered(mut rivals: Vec<OrderRival<'_>>) -> Vec<OrderRival<'_>> {
    rivals.sort_by_key(|rival| rival.base);
    let mut latest = None;
    let mut passes: Vec<bool> = Vec::with_capacity(rivals.len());
    for rival in &rivals {
        passes.push(latest.is_some_and(|latest| latest > rival.head));
        latest = latest.max(Some(rival.head));
    }
    let mut earliest = rivals.last().map(|last| last.head);
    for (rival, passes) in rivals.iter().zip(&mut passes).rev() {
        *passes |= earliest < Some(rival.head);
        earliest = earliest.min(Some(rival.head));
    }
    let reordered = rivals.into_iter().zip(passes).filter(|(_, passes)| *passes);
    reordered.map(|(rival, _)| rival).collect()
}

/// Common property of documents whose relative order matters.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum OrderContest<'l> {
    /// The first of several policies counts.
    Policy,
    /// Of several documents with the same schema and name, one is read and one replaces
    /// (`deckhand.md` 7 and 8.1).
    Name(&'l str, &'l str),
    /// The first of several parents in a layer is taken (6.2): schema, layer and a label.
    Label(&'l str, &'l str, String),
}

impl<'l> OrderContest<'l> {
    /// Schema of the documents; `None` where it does not matter.
    fn schema(&self) -> Option<&'l str> {
        match self {
            OrderContest::Policy => None,
            OrderContest::Name(schema, _) | OrderContest::Label(schema, ..) => Some(schema),
        }
    }
}

fn contests(document: Written<'_>) -> Vec<OrderContest<'_>> {
    // Parts count in the order of their paths, regardless of their content.
    let Written::Deckhand(document) = document else {
        return Vec::new();
    };
    let Triple {
        schema,
        name,
        layer,
    } = &*document.key;
    let mut contests = vec![OrderContest::Name(schema, name)];
    if document.layer_order.is_some() {
        contests.push(OrderContest::Policy);
    }
    let labels = document.labels.iter();
    contests.extend(labels.map(|(key, value)| {
        OrderContest::Label(schema, layer, format!("{:?} {:?}", key.value, value.value))
    }));
    contests
}

/// Groups the documents on both sides whose relative order matters. Groups without an edited
/// document are omitted.
fn rivals<'l>(
    pairs: &'l [DocumentPair<'_>],
    unedited: &'l [Located<'_>],
) -> Vec<Vec<OrderRival<'l>>> {
    let mut groups: BTreeMap<OrderContest<'l>, Vec<OrderRival<'l>>> = BTreeMap::new();
    for (at, pair) in pairs.iter().enumerate() {
        let (Some(base), Some(head)) = (&pair.base, &pair.head) else {
            continue;
        };
        let of_head = contests(head.document);
        for contest in contests(base.document)
            .into_iter()
            .filter(|it| of_head.contains(it))
        {
            let rival = OrderRival {
                pair: Some(at),
                base: base.order(),
                head: head.order(),
            };
            groups.entry(contest).or_default().push(rival);
        }
    }
    let schemas: BTreeSet<&str> = groups.keys().filter_map(OrderContest::schema).collect();
    let contesting = unedited.iter().filter(|located| match located.document {
        Written::Deckhand(document) => {
            schemas.contains(&*document.key.schema) || document.layer_order.is_some()
        }
        Written::Part(_) => false,
    });
    for located in contesting {
        for contest in contests(located.document) {
            if let Some(group) = groups.get_mut(&contest) {
                let order = located.order();
                group.push(OrderRival {
                    pair: None,
                    base: order,
                    head: order,
                });
            }
        }
    }
    groups.into_values().collect()
}
