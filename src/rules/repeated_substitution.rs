//! `repeated-substitution`: a document lists one substitution twice.

use std::collections::HashMap;

use super::FileFacts;
use crate::diagnostic::{Diagnostic, Label, TextEdit};
use crate::graph::{Destination, Extract, Part};
use crate::source::Span;
use crate::system::deckhand::document::{Document, DocumentSubstitution, SubstitutionSource};
use crate::yaml::lines_of_item;

super::rule!(
    "repeated-substitution", Warning[Fixable], "a document lists one substitution twice";
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
                found.push(word(facts, document, index, &again));
            }
        }
    }
}

/// Key that distinguishes one substitution into a place from another.
type SubstitutionKey<'a> = ([&'a str; 4], Option<(&'a str, i64)>, Option<(&'a str, Option<i64>)>);

fn substitution_key<'a>(
    substitution: DocumentSubstitution<'a>,
    to: &'a Destination,
) -> SubstitutionKey<'a> {
    let extract = |it: &'a Extract| (it.pattern.value.text(), it.group.value);
    let part = |it: &'a Part| (it.pattern.value.text(), it.depth);
    let (SubstitutionSource { schema, name, .. }, writing) =
        (substitution.source, substitution.writing);
    let texts = [&*schema.value, &*name.value, writing.from.value.text(), to.path.value.text()];
    (texts, writing.extract.as_deref().map(extract), to.part.as_ref().map(part))
}

fn word(
    facts: &FileFacts<'_>,
    document: &Document,
    index: usize,
    again: &[(&Destination, Span)],
) -> Diagnostic {
    let (to, earlier) = again[0];
    let (name, path) = (super::title(&document.key), to.path.value.text());
    let message = format!("`{name}` substitutes into `{path}` twice from the same source");
    let mut diagnostic = Diagnostic::new(&RULE, message, Label::new(to.path.span, "written again"))
        .related(earlier, "the same substitution")
        .help("remove one of the two, or mend the path that was forgotten")
        .about(path)
        .document(document.key.clone());
    for (to, earlier) in &again[1..] {
        diagnostic = diagnostic
            .related(to.path.span, "written again too")
            .related(*earlier, "the same substitution");
    }
    match removal(facts, document, index, again.len()) {
        Some(span) => {
            let edit = TextEdit { span, text: String::new() };
            diagnostic.fix("remove the second substitution", vec![edit])
        }
        None => diagnostic,
    }
}

/// Maximum number of earlier substitutions for which a fix is looked for: no person writes more.
const MAX_EARLIER: usize = 300;

/// The lines of the substitution, if nothing changes without it: an equal one is above, and nothing
/// between writes where it writes.
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
    let same = |to: &Destination| own.iter().any(|own| meet(own, to));
    let is_between = document.substitutions().take(index).any(|other| {
        let repeats = |to: &Destination| {
            own.iter().any(|own| substitution_key(substitution, own) == substitution_key(other, to))
        };
        other.writing.to.iter().any(|to| same(to) && !repeats(to))
    });
    if is_between {
        return None;
    }
    lines_of_item(facts.sources.get(facts.file).text(), substitution.span)
}

/// Whether one of two destinations may lie in the other: their paths begin
/// alike.
fn meet(one: &Destination, other: &Destination) -> bool {
    let (one, other) = (bare(one), bare(other));
    one.starts_with(other) || other.starts_with(one)
}

/// The path without the sign for the root.
fn bare(to: &Destination) -> &str {
    to.path.value.text().trim_start_matches(['$', '.'])
}
