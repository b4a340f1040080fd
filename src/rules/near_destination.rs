//! `near-destination`: a substitution creates a key that is nearly one that is there.

use std::collections::HashSet;

use super::{Found, SiteFacts};
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;
use crate::near::is_one_slip_apart;
use crate::render::Write;
use crate::yaml::path::{Location, Piece};
use crate::yaml::{Key, Mapping, Node};

super::rule!(
    "near-destination",
    Note,
    "a substitution creates a key that is nearly one that is there"
);

/// Shorter keys are too often alike by chance.
const SHORTEST: usize = 5;
/// So many keys are names given by a machine; to compare all that is created
/// with all of them would never end.
const MOST_BESIDE: usize = 1000;

pub(super) fn check(facts: &SiteFacts<'_>, docs: &[DocId], found: &mut Vec<Found>) {
    for doc in docs.iter().copied() {
        let writes = facts.rendered.writes(doc);
        let creating = writes.iter().filter_map(|write| Some((write, write.created.as_ref()?)));
        let Some(data) = facts.rendered.data(doc) else { continue };
        let mut said = HashSet::new();
        for (write, created) in creating {
            if let Some((new, near)) = near_key(facts, data, created)
                && said.insert(write.at)
            {
                found.push((doc, word(facts, doc, write, new, near)));
            }
        }
    }
}

/// The key created, and one beside it that a person wrote nearly the same.
fn near_key<'a>(
    facts: &SiteFacts<'_>,
    data: &'a Node,
    created: &'a Location,
) -> Option<(&'a str, &'a Key)> {
    let Some(Piece::Key(new)) = created.0.last() else { return None };
    let new = new.as_str().filter(|new| new.len() >= SHORTEST)?;
    let around = created.parent()?;
    let beside = around.get(data).filter(|node| !node.secret)?.as_mapping()?;
    if beside.len() > MOST_BESIDE {
        return None;
    }
    let near = near_in(facts, beside, new)?;
    facts.shown_place(data, &around)?;
    Some((new, near))
}

fn near_in<'a>(facts: &SiteFacts<'_>, beside: &'a Mapping, new: &str) -> Option<&'a Key> {
    beside
        .keys()
        .find(|key| key.as_str().is_some_and(|text| is_slip(new, text)) && is_written(facts, key))
}

/// Whether one name looks like the other mistyped: a letter left out, added,
/// changed or swapped, but neither a number nor a plural.
fn is_slip(new: &str, old: &str) -> bool {
    let digits_apart = |name: &str| name.replace(|character: char| character.is_ascii_digit(), "");
    old.len() >= SHORTEST
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

fn word(facts: &SiteFacts<'_>, doc: DocId, write: &Write, new: &str, near: &Key) -> Diagnostic {
    let document = facts.document(doc);
    let near_text = near.as_str().expect("only texts are compared");
    let message =
        format!("a substitution of `{}` creates `{new}` beside `{near_text}`", document.key.name);
    Diagnostic::new(
        &RULE,
        message,
        Label::new(write.at, format!("`{new}` is not there: it is created")),
    )
    .related(near.span, "this key is nearly the same")
    .note("Deckhand creates in silence what a destination path lacks")
    .help(format!("did you mean `{near_text}`?"))
    .document(document.key.clone())
}
