//! `repeated-destination`: two substitutions write one place.

use std::collections::HashMap;

use super::{Found, SiteFacts};
use crate::diagnostic::{Diagnostic, Label, TextEdit};
use crate::graph::DocId;
use crate::render::{Write, WriteKind};
use crate::source::{Span, offset};
use crate::yaml::path::Piece;
use crate::yaml::{Node, Value};

super::rule!("repeated-destination", Warning[Fixable], "two substitutions write one place");

pub(super) fn check(facts: &SiteFacts<'_>, docs: &[DocId], found: &mut Vec<Found>) {
    for doc in docs.iter().copied() {
        let whole = facts.rendered.writes(doc).iter().filter(|it| it.kind == WriteKind::Whole);
        let mut places = Places::default();
        for write in whole {
            if merges_at_root(facts, doc, write) {
                continue;
            }
            if let Some(earlier) = places.lost_by(write) {
                found.push((doc, word(facts, doc, earlier, write)));
            }
            places.add(write);
        }
    }
}

/// What has been written so far.
#[derive(Default)]
struct Places<'a> {
    /// The last write at each place.
    at: Lookup<'a>,
    /// The first write inside each place.
    inside: Lookup<'a>,
    /// How many places each destination wrote.
    count: HashMap<(usize, Span), usize, foldhash::fast::RandomState>,
}

type Lookup<'a> = HashMap<&'a [Piece], &'a Write, foldhash::fast::RandomState>;

impl<'a> Places<'a> {
    /// The earlier write of which nothing is left after `write`. One that
    /// wrote several places is a default of which one is overridden.
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

/// Which destination wrote. The place of its path alone does not tell, because
/// substitutions too can have aliases.
fn destination(write: &Write) -> (usize, Span) {
    (write.step, write.at)
}

/// Whether the write put a mapping into the root, which keeps what is there.
fn merges_at_root(facts: &SiteFacts<'_>, doc: DocId, write: &Write) -> bool {
    if !write.location.is_root() {
        return false;
    }
    let substitution = facts.substitution(doc, write);
    let value = substitution.and_then(|substitution| facts.source_value(substitution));
    value.is_some_and(|value| matches!(value.value, Value::Mapping(_)))
}

fn word(facts: &SiteFacts<'_>, doc: DocId, earlier: &Write, write: &Write) -> Diagnostic {
    let name = facts.name(doc);
    let path = facts.destination_path(doc, write.at);
    let message = if earlier.location == write.location {
        format!("two substitutions of `{name}` write `{path}`")
    } else {
        let inside = facts.destination_path(doc, earlier.at);
        format!("a substitution of `{name}` into `{path}` overwrites the one into `{inside}`")
    };
    let diagnostic = Diagnostic::new(
        &RULE,
        message,
        Label::new(write.at, "overwrites what was written there before"),
    )
    .related(earlier.at, "written here first, and lost")
    .note("substitutions are applied in the order in which they stand")
    .help("remove one of the two, or mend its path")
    .document(facts.document(doc).key.clone())
    .about(path);
    match repetition(facts, doc, earlier, write) {
        None => diagnostic,
        Some(span) => {
            let edit = TextEdit { span, text: String::new() };
            diagnostic
                .help("remove one of the two: they are the same")
                .fix("remove the second of two substitutions that are the same", vec![edit])
        }
    }
}

/// The lines of the substitution that wrote last, if it is the one before it
/// once more: without it all stays as it is. A pattern that is applied twice
/// may do something the second time.
fn repetition(facts: &SiteFacts<'_>, doc: DocId, earlier: &Write, write: &Write) -> Option<Span> {
    let document = facts.document(doc);
    // They stand in the order of the text, but for those of aliases.
    let of = |at: Span| {
        let all = &document.substitutions;
        let number = all.partition_point(|it| it.span.end <= at.start);
        let has_it = all.get(number)?.to.iter().any(|to| to.path.span == at);
        has_it.then_some(number)
    };
    let (first, second) = (of(earlier.at)?, of(write.at)?);
    let has_pattern = document.substitutions[second].to.iter().any(|to| to.part.is_some());
    if second != first + 1 || has_pattern {
        return None;
    }
    let items = document.metadata.as_mapping()?.get("substitutions")?;
    let Value::Sequence(items) = &items.value else { return None };
    let at = |number: usize| {
        let span = document.substitutions[number].span;
        let place = items.partition_point(|item| item.span.end <= span.start);
        items.get(place).filter(|item| item.span == span).map(|_| place)
    };
    let (one, other) = (at(first)?, at(second)?);
    (other == one + 1 && items[one] == items[other]).then(|| lines_of(facts, &items[other]))?
}

/// The lines of an item of a list in block style, if nothing else stands on
/// them and nobody has said anything there.
fn lines_of(facts: &SiteFacts<'_>, item: &Node) -> Option<Span> {
    let text = &**facts.sources.get(item.span.file).text();
    let (before, after) = (&text[..item.span.start as usize], &text[item.span.end as usize..]);
    let start = before.rfind('\n')? + 1;
    let end = item.span.end as usize + after.find('\n')? + 1;
    let is_alone = before[start..].trim() == "-" && text[item.span.end as usize..end].trim() == "";
    let is_silent = !facts.sources.slice(item.span).contains('#');
    (is_alone && is_silent).then(|| Span::new(item.span.file, offset(start), offset(end)))
}
