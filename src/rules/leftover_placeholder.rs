//! `leftover-placeholder`: a rendered string contains a placeholder that is replaced elsewhere.

use std::collections::HashMap;

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::graph::{DocId, Graph, Op};
use crate::render::WriteKind;
use crate::source::{Span, offset};
use crate::yaml::path::{Location, first_inside};
use crate::yaml::{Node, Origin, Value, is_in_capitals, words_in_capitals};

super::rule!(
    "leftover-placeholder", Note, "a rendered string contains a placeholder that is replaced elsewhere";
    Schema(check)
);

fn check(facts: &SiteFacts<'_>, docs: &[DocId], found: &mut Vec<Diagnostic>) {
    let replaced = replaced_words(facts.graph, docs);
    if replaced.is_empty() {
        return;
    }
    for doc in docs
        .iter()
        .copied()
        .filter(|doc| facts.graph.recipe(*doc).emit)
    {
        let Some(data) = facts.rendered.data(doc) else {
            continue;
        };
        // Most documents contain none: places are tracked only if one does.
        if !is_in(&replaced, data) {
            continue;
        }
        // Visits every node: the predicate never returns true.
        first_inside(data, |node, place| {
            let mut met = Vec::new();
            for word in words(node) {
                if met.contains(&word) {
                    continue;
                }
                met.push(word);
                if let Some(pattern) = replaced.get(word)
                    && !is_to_be_replaced(facts, doc, data, place, word)
                {
                    let left = LeftoverPlaceholder {
                        doc,
                        node,
                        place,
                        word,
                        pattern: *pattern,
                    };
                    found.push(self::report(facts, &left));
                }
            }
            false
        });
    }
}

/// Words that document patterns replace, with the location of one such pattern.
type ReplacedWords<'a> = HashMap<&'a str, Span, foldhash::fast::RandomState>;

fn replaced_words<'a>(graph: &'a Graph, docs: &[DocId]) -> ReplacedWords<'a> {
    let mut replaced = ReplacedWords::default();
    let recipes = docs.iter().map(|doc| graph.recipe(*doc));
    for recipe in recipes.filter(|recipe| recipe.steps.instructions().have_patterns()) {
        for step in recipe.steps.iter() {
            let Op::Substitute(substitution) = step.op else {
                continue;
            };
            for part in substitution
                .writing
                .to
                .iter()
                .filter_map(|to| to.part.as_ref())
            {
                if let Some(word) = placeholder(part.pattern.value.text()) {
                    replaced.entry(word).or_insert(part.pattern.span);
                }
            }
        }
    }
    replaced
}

/// Whether a string in `node` contains one of the words that are `replaced` elsewhere. Almost no
/// string has a word in capitals.
fn is_in(replaced: &ReplacedWords<'_>, node: &Node) -> bool {
    match &node.value {
        Value::String(_) => words(node).any(|word| replaced.contains_key(word)),
        Value::Mapping(mapping) => {
            mapping.size().has_capitals() && mapping.values().any(|node| is_in(replaced, node))
        }
        Value::Sequence(items) => {
            items.size().has_capitals() && items.iter().any(|node| is_in(replaced, node))
        }
        Value::Pairs(pairs) => {
            let mut both = pairs.iter().flat_map(|(left, right)| [left, right]);
            both.any(|node| is_in(replaced, node))
        }
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_)
        | Value::Set(_) => false,
    }
}

/// Placeholder that a pattern replaces, if it is in capitals and so unlikely to be a coincidence.
fn placeholder(pattern: &str) -> Option<&str> {
    let inner = pattern
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    let word = inner.unwrap_or(pattern);
    is_in_capitals(word).then_some(word)
}

/// Whether the document has a pattern for the word at this place. That the word is still there has
/// another cause, which is already reported.
fn is_to_be_replaced(
    facts: &SiteFacts<'_>,
    doc: DocId,
    data: &Node,
    place: &Location,
    word: &str,
) -> bool {
    let mut recipes = std::iter::successors(Some(facts.graph.recipe(doc)), |recipe| {
        recipe
            .base
            .filter(|_| recipe.starts_as_base())
            .map(|base| facts.graph.recipe(base.doc))
    });
    recipes.any(|recipe| {
        recipe.steps.iter().any(|step| match &step.op {
            Op::Substitute(substitution) => substitution.writing.to.iter().any(|to| {
                let found = || to.path.value.first(data).ok().flatten();
                to.part
                    .as_ref()
                    .is_some_and(|part| placeholder(part.pattern.value.text()) == Some(word))
                    && found().is_some_and(|found| place.starts_with(&found.location))
            }),
            Op::Merge { .. } | Op::Combine(_) => false,
        })
    })
}

/// Words in capitals of a string that may be shown.
fn words(node: &Node) -> impl Iterator<Item = &str> {
    words_in_capitals(node.as_str().filter(|_| !node.secret).unwrap_or_default())
}

/// Remaining placeholder.
struct LeftoverPlaceholder<'a> {
    doc: DocId,
    node: &'a Node,
    place: &'a Location,
    word: &'a str,
    /// A pattern that replaces it elsewhere.
    pattern: Span,
}

fn report(facts: &SiteFacts<'_>, left: &LeftoverPlaceholder<'_>) -> Diagnostic {
    let LeftoverPlaceholder {
        doc, word, pattern, ..
    } = *left;
    let text = at(facts, left.node, word);
    let (primary, label) = match brought(facts, doc, left.place) {
        Some(at) => (
            at,
            "the string is substituted here, and nothing replaces the placeholder",
        ),
        None => (text, "nothing replaces it"),
    };
    let place = left.place.to_string();
    // Name the document to fix: others may have inherited the string from it.
    let name = facts.name(facts.site.document_at(primary).unwrap_or(doc));
    let message = format!("the placeholder `{word}` is left in `{place}` of `{name}`");
    let mut diagnostic = RULE.finding(message, primary, label);
    if text != primary {
        diagnostic = diagnostic.related(text, "the placeholder");
    }
    diagnostic
        .related(pattern, "this pattern replaces it elsewhere")
        .help("substitute it here too, or write the value itself")
        .about(format!("{place} {word}"))
        .document(&facts.document(doc).key)
}

/// Destination that brought the string into the document or into one of its ancestors.
pub(super) fn brought(facts: &SiteFacts<'_>, doc: DocId, place: &Location) -> Option<Span> {
    let mut next = Some(doc);
    while let Some(doc) = next {
        let writes = facts.rendered.writes(doc).iter().rev();
        let mut around = writes.filter(|write| place.starts_with(&write.location));
        match around.next().map(|write| (write.kind, write.at)) {
            Some((WriteKind::Whole | WriteKind::Part, at)) => return Some(at),
            // The string may be the document's own, or come from its base.
            Some((WriteKind::Layered | WriteKind::Merged, _)) | None => {}
        }
        let recipe = facts.graph.recipe(doc);
        next = recipe
            .base
            .filter(|_| recipe.starts_as_base())
            .map(|base| base.doc);
    }
    None
}

/// Location of the word in the written string, or the string's first line if a step changed it.
fn at(facts: &SiteFacts<'_>, node: &Node, word: &str) -> Span {
    let found = match node.origin {
        Origin::Written => facts.sources.slice(node.span).find(word),
        Origin::Derived | Origin::Made => None,
    };
    match found {
        Some(at) => {
            let start = node.span.start + offset(at);
            Span::new(node.span.file, start, start + offset(word.len()))
        }
        None => facts.first_line(node.span),
    }
}
