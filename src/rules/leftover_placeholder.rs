//! `leftover-placeholder`: a rendered text holds what a pattern replaces elsewhere.

use std::collections::HashMap;

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::{Destination, DocId, Graph, Op, Part};
use crate::render::WriteKind;
use crate::source::{Span, offset};
use crate::yaml::path::{Location, first_inside};
use crate::yaml::{Node, Origin, Value, is_in_capitals, words_in_capitals};

super::rule!(
    "leftover-placeholder", Note, "a rendered text holds what a pattern replaces elsewhere";
    Schema(check)
);

fn check(facts: &SiteFacts<'_>, docs: &[DocId], found: &mut Vec<Diagnostic>) {
    let replaced = replaced_words(facts.graph, docs);
    if replaced.is_empty() {
        return;
    }
    for doc in docs.iter().copied().filter(|doc| facts.graph.recipe(*doc).emit) {
        let Some(data) = facts.rendered.data(doc) else { continue };
        // Most documents hold none: places are kept only where one does.
        if !is_in(&replaced, data) {
            continue;
        }
        // Every text is looked at: the search ends nowhere.
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
                    let left = LeftoverPlaceholder { doc, node, place, word, pattern: *pattern };
                    found.push(self::word(facts, &left));
                }
            }
            false
        });
    }
}

/// The words that patterns of documents replace, and where one does.
type ReplacedWords<'a> = HashMap<&'a str, Span, foldhash::fast::RandomState>;

fn replaced_words<'a>(graph: &'a Graph, docs: &[DocId]) -> ReplacedWords<'a> {
    let mut replaced = ReplacedWords::default();
    let recipes = docs.iter().map(|doc| graph.recipe(*doc));
    for recipe in recipes.filter(|recipe| recipe.steps.instructions().have_patterns()) {
        for step in recipe.steps.iter() {
            let Op::Substitute(substitution) = step.op else { continue };
            for part in substitution.writing.to.iter().filter_map(|to| to.part.as_ref()) {
                if let Some(word) = placeholder(part.pattern.value.text()) {
                    replaced.entry(word).or_insert(part.pattern.span);
                }
            }
        }
    }
    replaced
}

/// Whether a text of `node` has one of the words that are `replaced` elsewhere. Hardly any text has
/// a word in capitals.
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

/// The placeholder that a pattern replaces, if it is one that is not written by chance: in
/// capitals.
fn placeholder(pattern: &str) -> Option<&str> {
    let inner = pattern.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let word = inner.unwrap_or(pattern);
    is_in_capitals(word).then_some(word)
}

/// Whether the document itself has a pattern for the word at this place: that it is still there has
/// another reason, which is reported already.
fn is_to_be_replaced(
    facts: &SiteFacts<'_>,
    doc: DocId,
    data: &Node,
    place: &Location,
    word: &str,
) -> bool {
    let mut recipes = std::iter::successors(Some(facts.graph.recipe(doc)), |recipe| {
        recipe.base.filter(|_| recipe.starts_as_base()).map(|base| facts.graph.recipe(base.doc))
    });
    let replaces = |to: &Destination| {
        let is_word = |part: &Part| placeholder(part.pattern.value.text()) == Some(word);
        let found = || to.path.value.first(data).ok().flatten();
        to.part.as_ref().is_some_and(is_word)
            && found().is_some_and(|found| place.starts_with(&found.location))
    };
    recipes.any(|recipe| {
        recipe.steps.iter().any(|step| match &step.op {
            Op::Substitute(substitution) => substitution.writing.to.iter().any(replaces),
            Op::Merge { .. } | Op::Lay(_) => false,
        })
    })
}

/// The words in capitals of a text, if it may be shown.
fn words(node: &Node) -> impl Iterator<Item = &str> {
    words_in_capitals(node.as_str().filter(|_| !node.secret).unwrap_or_default())
}

/// A placeholder that is left.
struct LeftoverPlaceholder<'a> {
    doc: DocId,
    node: &'a Node,
    place: &'a Location,
    word: &'a str,
    /// A pattern that replaces it elsewhere.
    pattern: Span,
}

fn word(facts: &SiteFacts<'_>, left: &LeftoverPlaceholder<'_>) -> Diagnostic {
    let LeftoverPlaceholder { doc, word, pattern, .. } = *left;
    let text = at(facts, left.node, word);
    let (primary, label) = match brought(facts, doc, left.place) {
        Some(at) => (at, "the text is put in here, and nothing replaces it"),
        None => (text, "nothing replaces it"),
    };
    let place = left.place.to_string();
    // The document to fix: others may have inherited the text from it.
    let name = facts.name(facts.site.document_at(primary).unwrap_or(doc));
    let message = format!("the placeholder `{word}` is left in `{place}` of `{name}`");
    let mut diagnostic = Diagnostic::new(&RULE, message, Label::new(primary, label));
    if text != primary {
        diagnostic = diagnostic.related(text, "the placeholder");
    }
    diagnostic
        .related(pattern, "this pattern replaces it elsewhere")
        .help("substitute it here too, or write what it stands for")
        .about(format!("{place} {word}"))
        .document(facts.document(doc).key.clone())
}

/// The destination by which the text came into the document, or into the one
/// that it is laid on.
fn brought(facts: &SiteFacts<'_>, doc: DocId, place: &Location) -> Option<Span> {
    let mut next = Some(doc);
    while let Some(doc) = next {
        let writes = facts.rendered.writes(doc).iter().rev();
        let mut around = writes.filter(|write| place.starts_with(&write.location));
        match around.next().map(|write| (write.kind, write.at)) {
            Some((WriteKind::Whole | WriteKind::Part, at)) => return Some(at),
            // The text may be the document's own, or what it was laid over.
            Some((WriteKind::Layered | WriteKind::Laid, _)) | None => {}
        }
        let recipe = facts.graph.recipe(doc);
        next = recipe.base.filter(|_| recipe.starts_as_base()).map(|base| base.doc);
    }
    None
}

/// The place of the word in the text that was written; where a step changed that text, its first
/// line.
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
