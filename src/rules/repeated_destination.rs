//! `repeated-destination`: two substitutions write to the same place.

use std::collections::{HashMap, HashSet};

use super::{DocumentFinding, SiteFacts};
use crate::diagnostic::Diagnostic;
use crate::graph::{DocId, Substitution};
use crate::render::{Write, WriteKind};
use crate::source::Span;
use crate::yaml::Value;
use crate::yaml::path::{Piece, hashes};

super::rule!(
    "repeated-destination", Warning, "two substitutions write to the same place";
    Documents(check)
);

fn check(facts: &SiteFacts<'_>, docs: &[DocId], found: &mut Vec<DocumentFinding>) {
    for doc in docs.iter().copied() {
        let whole = || {
            facts
                .rendered
                .writes(doc)
                .iter()
                .filter(|it| it.kind == WriteKind::Whole)
        };
        if may_lose(whole()) {
            check_document(facts, doc, whole(), found);
        }
    }
}

/// Whether a written place may contain an earlier one. Hashes show quickly that almost none does.
fn may_lose<'a>(mut writes: impl Iterator<Item = &'a Write>) -> bool {
    let mut written: HashSet<u64, foldhash::fast::RandomState> = HashSet::default();
    let mut way: Vec<u64> = Vec::new();
    writes.any(|write| {
        way.clear();
        way.extend(hashes(&write.location.0));
        let is_known = way.last().is_some_and(|own| written.contains(own));
        written.extend(&way);
        is_known
    })
}

fn check_document<'a>(
    facts: &SiteFacts<'_>,
    doc: DocId,
    whole: impl Iterator<Item = &'a Write>,
    found: &mut Vec<DocumentFinding>,
) {
    let mut places = WrittenPlaces::default();
    for write in whole {
        if merges_at_root(facts, doc, write) {
            continue;
        }
        if let Some(earlier) = places.lost_by(write)
            && !is_repetition(facts, doc, earlier, write)
        {
            found.push((doc, report(facts, doc, earlier, write)));
        }
        places.add(write);
    }
}

/// Places written so far.
#[derive(Default)]
struct WrittenPlaces<'a> {
    /// Last write at each place.
    at: WritesByPlace<'a>,
    /// First write inside each place.
    inside: WritesByPlace<'a>,
    /// Number of places that each destination wrote.
    count: HashMap<(usize, Span), usize, foldhash::fast::RandomState>,
}

type WritesByPlace<'a> = HashMap<&'a [Piece], &'a Write, foldhash::fast::RandomState>;

impl<'a> WrittenPlaces<'a> {
    /// Earlier write that `write` overwrites completely. A destination that wrote several places
    /// sets defaults, and overriding one of these is intended.
    fn lost_by(&self, write: &Write) -> Option<&'a Write> {
        let pieces = &write.location.0[..];
        let earlier = *self.at.get(pieces).or_else(|| self.inside.get(pieces))?;
        let is_other = destination(earlier) != destination(write);
        (is_other && self.count[&destination(earlier)] == 1).then_some(earlier)
    }

    fn add(&mut self, write: &'a Write) {
        let pieces = &write.location.0[..];
        *self.count.entry(destination(write)).or_default() += 1;
        self.at.insert(pieces, write);
        for end in 0..pieces.len() {
            self.inside.entry(&pieces[..end]).or_insert(write);
        }
    }
}

/// Destination of a write. The span of its path alone is ambiguous, because substitutions can have
/// aliases.
fn destination(write: &Write) -> (usize, Span) {
    (write.step, write.at)
}

/// Whether both write the same value to the same path, which `repeated-substitution` reports.
fn is_repetition(facts: &SiteFacts<'_>, doc: DocId, earlier: &Write, write: &Write) -> bool {
    let (Some(one), Some(other)) = (
        facts.substitution(doc, earlier),
        facts.substitution(doc, write),
    ) else {
        return false;
    };
    let part = |substitution: &Substitution<'_>| {
        substitution
            .writing
            .extract
            .as_ref()
            .map(|part| (part.pattern.value.text().to_owned(), part.group.value))
    };
    one.source == other.source
        && one.writing.from.value.text() == other.writing.from.value.text()
        && part(&one) == part(&other)
        && facts.destination_path(doc, earlier.at) == facts.destination_path(doc, write.at)
}

/// Whether the write merged a mapping into the root, which keeps existing keys.
fn merges_at_root(facts: &SiteFacts<'_>, doc: DocId, write: &Write) -> bool {
    if !write.location.is_root() {
        return false;
    }
    let substitution = facts.substitution(doc, write);
    let value = substitution.and_then(|substitution| facts.source_value(&substitution));
    value.is_some_and(|value| matches!(value.value, Value::Mapping(_)))
}

fn report(facts: &SiteFacts<'_>, doc: DocId, earlier: &Write, write: &Write) -> Diagnostic {
    let name = facts.name(doc);
    let path = facts.destination_path(doc, write.at);
    let message = if earlier.location == write.location {
        format!("two substitutions of `{name}` write to `{path}`")
    } else {
        let inside = facts.destination_path(doc, earlier.at);
        format!("a substitution of `{name}` into `{path}` overwrites the one into `{inside}`")
    };
    RULE.finding(message, write.at, "overwrites the earlier value")
        .related(earlier.at, "the earlier value, which is lost")
        .note("substitutions are applied in order")
        .help("remove one of the two, or correct its path")
        .document(&facts.document(doc).key)
        .about(path)
}
