//! `leaking-alias`: in Deckhand, writing into an aliased value changes all its aliases.

use std::collections::HashSet;

use super::{DocumentFinding, SiteFacts};
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;
use crate::render::Write;
use crate::source::Span;
use crate::system::deckhand::Aliases;
use crate::yaml::path::{Location, child, first_inside};
use crate::yaml::{Node, SharedCollection};

super::rule!(
    "leaking-alias", Warning, "in Deckhand, writing into an aliased value changes all its aliases";
    Documents(check)
);

fn check(facts: &SiteFacts<'_>, docs: &[DocId], found: &mut Vec<DocumentFinding>) {
    let aliases = facts.site.aliases();
    if aliases.is_empty() {
        return;
    }
    for doc in docs.iter().copied() {
        let writes = facts.rendered.writes(doc);
        let Some(data) = facts.rendered.data(doc).filter(|_| !writes.is_empty()) else {
            continue;
        };
        let mut reported = HashSet::new();
        for write in writes {
            if let Some(leak) = leak(data, write, aliases)
                && reported.insert(write.at)
            {
                found.push((doc, report(facts, doc, data, write, &leak)));
            }
        }
    }
}

/// Write into a collection that also appears elsewhere in the document.
struct AliasLeak {
    shared: SharedCollection,
    /// The other place that Deckhand changes.
    other: Location,
}

fn leak(data: &Node, write: &Write, aliases: &Aliases) -> Option<AliasLeak> {
    let mut around = data;
    for (depth, piece) in write.location.0.iter().enumerate() {
        if around.is_collection()
            && let Some(shared) = aliases.get(&around.span)
        {
            let here = Location(write.location.0[..depth].to_vec());
            if let Some(other) = elsewhere(data, around.span, &here) {
                let below = Location(write.location.0[depth..].to_vec());
                return Some(AliasLeak {
                    shared: *shared,
                    other: other.joined(&below),
                });
            }
        }
        around = child(around, piece)?;
    }
    None
}

/// First place other than `here` that has the collection written at `span`. Searched only for
/// writes that may leak.
fn elsewhere(data: &Node, span: Span, here: &Location) -> Option<Location> {
    let is_it =
        |node: &Node, place: &Location| node.span == span && node.is_collection() && place != here;
    let root = Location::root();
    if is_it(data, &root) {
        Some(root)
    } else {
        first_inside(data, is_it)
    }
}

fn report(
    facts: &SiteFacts<'_>,
    doc: DocId,
    data: &Node,
    write: &Write,
    leak: &AliasLeak,
) -> Diagnostic {
    let document = facts.document(doc);
    let other = facts
        .shown_place(data, &leak.other)
        .map_or("another place".into(), |place| format!("`{place}`"));
    let message = format!(
        "in Deckhand, a write into `{}` changes {other} too",
        document.key.name
    );
    RULE.finding(message, write.at, "writes into a value that has an alias")
        .related(facts.first_line(leak.shared.collection), "the value")
        .related(leak.shared.alias, "its alias")
        .note(
            "Deckhand's loader makes a value and its aliases one object, so a write to one place \
             changes all of them; layercake renders copies",
        )
        .help("write the value out instead of the alias")
        .document(&document.key)
}
