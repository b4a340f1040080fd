//! `repeated-substitution`: duplicate substitution in a document.

use std::collections::HashMap;

use super::FileFacts;
use crate::diagnostic::{Diagnostic, TextEdit};
use crate::graph::{Destination, Extract, Part};
use crate::source::Span;
use crate::system::deckhand::document::{Document, DocumentSubstitution, SubstitutionSource};
use crate::yaml::lines_of_item;

super::rule!(
    "repeated-substitution", Warning[Fixable], "duplicate substitution in a document";
    File(check)
);

fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    for document in facts.documents {
        let mut first: HashMap<SubstitutionKey<'_>, Span, foldhash::fast::RandomState> =
            HashMap::default();
        for (index, substitution) in document.substitutions().enumerate() {
            let mut again = Vec::new();
            for to in &substitution.writing.to {
                match first.get(&substitution_key(substitution, to)) {
                    Some(earlier) => again.push((to, *earlier)),
                    None => drop(first.insert(substitution_key(substitution, to), to.path.span)),
                }
            }
            if !again.is_empty() {
                found.push(report(facts, document, index, &again));
            }
        }
    }
}

/// Key that identifies a substitution into one destination.
type SubstitutionKey<'a> = (
    [&'a str; 4],
    Option<(&'a str, i64)>,
    Option<(&'a str, Option<i64>)>,
);

fn substitution_key<'a>(
    substitution: DocumentSubstitution<'a>,
    to: &'a Destination,
) -> SubstitutionKey<'a> {
    let extract = |it: &'a Extract| (it.pattern.value.text(), it.group.value);
    let part = |it: &'a Part| (it.pattern.value.text(), it.depth);
    let (SubstitutionSource { schema, name, .. }, writing) =
        (substitution.source, substitution.writing);
    let texts = [
        &*schema.value,
        &*name.value,
        writing.from.value.text(),
        to.path.value.text(),
    ];
    (
        texts,
        writing.extract.as_deref().map(extract),
        to.part.as_ref().map(part),
    )
}

fn report(
    facts: &FileFacts<'_>,
    document: &Document,
    index: usize,
    again: &[(&Destination, Span)],
) -> Diagnostic {
    let (to, earlier) = again[0];
    let name = super::title(&document.key);
    let path = to.path.value.text();
    let message = format!("`{name}` substitutes into `{path}` twice from the same source");
    let mut diagnostic = RULE
        .finding(message, to.path.span, "written again here")
        .related(earlier, "the same substitution")
        .help("remove one of the two, or correct its path")
        .about(path)
        .document(&document.key);
    for (to, earlier) in &again[1..] {
        diagnostic = diagnostic
            .related(to.path.span, "also written again here")
            .related(*earlier, "the same substitution");
    }
    match removal(facts, document, index, again.len()) {
        Some(span) => {
            let edit = TextEdit {
                span,
                text: String::new(),
            };
            diagnostic.fix("remove the second substitution", vec![edit])
        }
        None => diagnostic,
    }
}

/// Maximum number of earlier substitutions compared to offer a fix; no hand-written document has
/// more.
const MAX_EARLIER: usize = 300;

/// Lines of the substitution, if removing them changes nothing: an equal one comes earlier, and
/// none in between writes to the same place.
fn removal(
    facts: &FileFacts<'_>,
    document: &Document,
    index: usize,
    repeated: usize,
) -> Option<Span> {
    let substitution = document.substitution(index);
    let own = &substitution.writing.to;
    if own.len() != repeated || !own.iter().all(|to| to.part.is_none()) || index > MAX_EARLIER {
        return None;
    }
    let is_between = document.substitutions().take(index).any(|other| {
        let repeats = |to: &Destination| {
            own.iter()
                .any(|own| substitution_key(substitution, own) == substitution_key(other, to))
        };
        other
            .writing
            .to
            .iter()
            .any(|to| own.iter().any(|own| meet(own, to)) && !repeats(to))
    });
    if is_between {
        return None;
    }
    lines_of_item(facts.sources.get(facts.file).text(), substitution.span)
}

/// Whether one of two destinations may be inside the other: one path is a prefix of the other.
fn meet(one: &Destination, other: &Destination) -> bool {
    let one = bare(one);
    let other = bare(other);
    one.starts_with(other) || other.starts_with(one)
}

/// Path without the root symbol.
fn bare(to: &Destination) -> &str {
    to.path.value.text().trim_start_matches(['$', '.'])
}
