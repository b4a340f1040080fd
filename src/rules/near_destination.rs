//! `near-destination`: a substitution creates a key that resembles an existing one.

use std::collections::HashSet;

use super::{DocumentFinding, SiteFacts};
use crate::diagnostic::{Diagnostic, Rule};
use crate::graph::DocId;
use crate::near::is_one_slip_apart;
use crate::render::Write;
use crate::system::deckhand::document::Document;
use crate::yaml::path::{self, Location, Piece};
use crate::yaml::{Key, Node};

super::rule!(
    "near-destination", Note, "a substitution creates a key that resembles an existing one";
    Documents(check)
);

/// Minimum key length in bytes; shorter keys are often similar by coincidence.
pub(super) const MIN_KEY_BYTES: usize = 5;
/// Maximum number of sibling keys. More keys are probably generated names, and comparing them all
/// would be slow.
const MAX_KEYS_BESIDE: usize = 1000;

fn check(facts: &SiteFacts<'_>, docs: &[DocId], found: &mut Vec<DocumentFinding>) {
    for doc in docs.iter().copied() {
        let Some(data) = facts.rendered.data(doc) else {
            continue;
        };
        let mut reported = HashSet::new();
        for write in facts.rendered.writes(doc) {
            let near = created_keys(write)
                .find_map(|(around, new)| Some((new, near_key(facts, doc, data, around, new)?)));
            if let Some((new, near)) = near
                && reported.insert(write.at)
            {
                let text = near.as_str().expect("only strings are compared");
                let finding = report(&RULE, "beside", facts.document(doc), write, new, text);
                found.push((doc, finding.related(near.span, "the similar key")));
            }
        }
    }
}

/// Keys created by a write that are long enough to compare, from the outermost, each with the path
/// of the enclosing place.
pub(super) fn created_keys(write: &Write) -> impl Iterator<Item = (&[Piece], &str)> {
    let pieces = &write.location.0[..];
    let first = write
        .created
        .map_or(pieces.len(), |created| created.saturating_sub(1));
    (first..pieces.len()).filter_map(|around| {
        let new = pieces[around]
            .as_text()
            .filter(|new| new.len() >= MIN_KEY_BYTES)?;
        Some((&pieces[..around], new))
    })
}

/// Similar sibling key of a created key that is written in the source, or that more of the
/// document's destinations use.
pub(super) fn near_key<'a>(
    facts: &SiteFacts<'_>,
    doc: DocId,
    data: &'a Node,
    around: &[Piece],
    new: &str,
) -> Option<&'a Key> {
    let beside = path::at(around, data)
        .filter(|node| !node.secret)?
        .as_mapping()?;
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

/// Whether more destinations of the document lead through `key` than through `new`.
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

/// Whether `new` looks like a typo of `old`: one letter missing, added, changed or swapped, but
/// neither a different number nor a plural.
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

/// Whether the key's source text is the key itself; a key created by a step has the text of a path
/// instead.
fn is_written(facts: &SiteFacts<'_>, key: &Key) -> bool {
    Some(facts.sources.slice(key.span).trim_matches(['"', '\''])) == key.as_str()
}

/// Finding of either rule for a created key; `beside` joins it and the intended key in the message.
pub(super) fn report(
    rule: &'static Rule,
    beside: &str,
    document: &Document,
    write: &Write,
    new: &str,
    near: &str,
) -> Diagnostic {
    let name = &document.key.name;
    let message = format!("a substitution of `{name}` creates `{new}` {beside} `{near}`");
    rule.finding(
        message,
        write.at,
        format!("`{new}` does not exist and is created"),
    )
    .note("Deckhand silently creates the missing keys of a destination path")
    .did_you_mean(near, None)
    .document(&document.key)
}
