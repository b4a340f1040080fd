//! `near-destination`: a substitution creates a key that is nearly one that is there.

use std::collections::HashSet;

use super::{DocumentFinding, SiteFacts};
use crate::diagnostic::{Diagnostic, Label, Rule};
use crate::graph::DocId;
use crate::near::is_one_slip_apart;
use crate::render::Write;
use crate::system::deckhand::document::Document;
use crate::yaml::path::{self, Location, Piece};
use crate::yaml::{Key, Node};

super::rule!(
    "near-destination", Note, "a substitution creates a key that is nearly one that is there";
    Documents(check)
);

/// Shorter keys are too often alike by chance.
pub(super) const MIN_KEY_BYTES: usize = 5;
/// Number of keys beyond which they are taken for names given by a machine: comparing all created
/// keys with all of them would take too long.
const MAX_KEYS_BESIDE: usize = 1000;

fn check(facts: &SiteFacts<'_>, docs: &[DocId], found: &mut Vec<DocumentFinding>) {
    for doc in docs.iter().copied() {
        let Some(data) = facts.rendered.data(doc) else { continue };
        let mut reported = HashSet::new();
        for write in facts.rendered.writes(doc) {
            let near = created_keys(write)
                .find_map(|(around, new)| Some((new, near_key(facts, doc, data, around, new)?)));
            if let Some((new, near)) = near
                && reported.insert(write.at)
            {
                let text = near.as_str().expect("only texts are compared");
                let finding = word((&RULE, "beside"), facts.document(doc), write, (new, text));
                found.push((doc, finding.related(near.span, "this key is nearly the same")));
            }
        }
    }
}

/// The keys that a write created, from the outermost, each with the place that holds
/// it; those that are long enough to be compared.
pub(super) fn created_keys(write: &Write) -> impl Iterator<Item = (&[Piece], &str)> {
    let pieces = &write.location.0[..];
    let first = write.created.map_or(pieces.len(), |created| created.saturating_sub(1));
    (first..pieces.len()).filter_map(|around| {
        let new = pieces[around].as_text().filter(|new| new.len() >= MIN_KEY_BYTES)?;
        Some((&pieces[..around], new))
    })
}

/// A key beside the one created that is nearly the same: that a person wrote,
/// or to which more of the document's destinations lead.
pub(super) fn near_key<'a>(
    facts: &SiteFacts<'_>,
    doc: DocId,
    data: &'a Node,
    around: &[Piece],
    new: &str,
) -> Option<&'a Key> {
    let beside = path::at(around, data).filter(|node| !node.secret)?.as_mapping()?;
    if beside.len() > MAX_KEYS_BESIDE {
        return None;
    }
    let near = beside.keys().find(|key| {
        key.as_str().is_some_and(|text| is_slip(new, text))
            && (is_written(facts, key) || leads_more_often(facts, doc, around, key, new))
    })?;
    facts.shown_place(data, &Location(around.to_vec()))?;
    Some(near)
}

/// Whether more destinations of the document lead through `key` than through
/// `new`.
fn leads_more_often(
    facts: &SiteFacts<'_>,
    doc: DocId,
    around: &[Piece],
    key: &Key,
    new: &str,
) -> bool {
    let through = |key: &str| {
        let writes = facts.rendered.writes(doc).iter();
        let inside = writes.filter_map(|write| write.location.0.strip_prefix(around));
        inside
            .filter(|rest| matches!(rest, [Piece::Key(first), ..] if first.as_str() == Some(key)))
            .count()
    };
    key.as_str().is_some_and(|key| through(key) > through(new))
}

/// Whether one name looks like the other mistyped: a letter left out, added,
/// changed or swapped, but neither a number nor a plural.
pub(super) fn is_slip(new: &str, old: &str) -> bool {
    let digits_apart = |name: &str| name.replace(|character: char| character.is_ascii_digit(), "");
    old.len() >= MIN_KEY_BYTES
        && old.len().abs_diff(new.len()) <= 1
        && new != old
        && is_one_slip_apart(new, old)
        && digits_apart(new) != digits_apart(old)
        && new.strip_suffix('s') != Some(old)
        && old.strip_suffix('s') != Some(new)
}

/// Whether the key reads, in its text, as the key: one that a step made has
/// the text of a path instead.
fn is_written(facts: &SiteFacts<'_>, key: &Key) -> bool {
    Some(facts.sources.slice(key.span).trim_matches(['"', '\''])) == key.as_str()
}

/// The finding for a created key that one of the two rules is about; `beside` comes between it and
/// the key that was meant.
pub(super) fn word(
    (rule, beside): (&'static Rule, &str),
    document: &Document,
    write: &Write,
    (new, near): (&str, &str),
) -> Diagnostic {
    let name = &document.key.name;
    let message = format!("a substitution of `{name}` creates `{new}` {beside} `{near}`");
    let label = Label::new(write.at, format!("`{new}` is not there: it is created"));
    Diagnostic::new(rule, message, label)
        .note("Deckhand creates in silence what a destination path lacks")
        .help(format!("did you mean `{near}`?"))
        .document(document.key.clone())
}
