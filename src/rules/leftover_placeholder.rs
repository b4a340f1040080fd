//! `leftover-placeholder`: a rendered text holds what a pattern replaces elsewhere.

use std::collections::HashMap;

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::{Destination, DocId, Op, Part};
use crate::render::WriteKind;
use crate::source::{Span, offset};
use crate::yaml::path::{Location, first_inside};
use crate::yaml::{Node, Origin, Value};

super::rule!(
    "leftover-placeholder",
    Note,
    "a rendered text holds what a pattern replaces elsewhere"
);

/// Shorter words are not taken for placeholders.
const SHORTEST: usize = 5;

pub(super) fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let placeholders = Placeholders::of(facts);
    if placeholders.replaced.is_empty() {
        return;
    }
    let owners = Owners::of(facts);
    for (doc, recipe) in facts.graph.outputs() {
        let Some(data) = facts.rendered.data(doc) else { continue };
        // Most documents hold none: places are kept only where one does.
        if !placeholders.stand_in(&recipe.key.schema, data) {
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
                if let Some(pattern) = placeholders.replaced.get(&(&*recipe.key.schema, word))
                    && !is_to_be_replaced(facts, doc, data, place, word)
                {
                    let left = Left { doc, node, place, word, pattern: *pattern };
                    found.push(self::word(facts, &owners, &left));
                }
            }
            false
        });
    }
}

/// The words that patterns of a schema's documents replace, and where one does.
struct Placeholders<'a> {
    replaced: HashMap<(&'a str, &'a str), Span, foldhash::fast::RandomState>,
}

impl<'a> Placeholders<'a> {
    fn of(facts: &'a SiteFacts<'_>) -> Self {
        let mut replaced = HashMap::default();
        for (_, recipe) in facts.graph.iter() {
            for step in &recipe.steps {
                let Op::Substitute(substitution) = &step.op else { continue };
                for part in substitution.to.iter().filter_map(|to| to.part.as_ref()) {
                    if let Some(word) = placeholder(part.pattern.value.text()) {
                        replaced.entry((&*recipe.key.schema, word)).or_insert(part.pattern.span);
                    }
                }
            }
        }
        Self { replaced }
    }

    /// Whether one of those of `schema` stands in a text of `node`.
    fn stand_in(&self, schema: &str, node: &Node) -> bool {
        match &node.value {
            Value::String(_) => words(node).any(|word| self.replaced.contains_key(&(schema, word))),
            Value::Mapping(mapping) => mapping.values().any(|node| self.stand_in(schema, node)),
            Value::Sequence(items) => items.iter().any(|node| self.stand_in(schema, node)),
            Value::Pairs(pairs) => {
                let mut both = pairs.iter().flat_map(|(left, right)| [left, right]);
                both.any(|node| self.stand_in(schema, node))
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
}

/// Which document a text stands in.
struct Owners {
    /// The texts of the documents, in order.
    spans: Vec<(Span, DocId)>,
}

impl Owners {
    fn of(facts: &SiteFacts<'_>) -> Self {
        let mut spans: Vec<(Span, DocId)> =
            facts.site.iter().map(|(doc, document)| (document.span, doc)).collect();
        spans.sort_unstable_by_key(|(span, _)| (span.file, span.start));
        Self { spans }
    }

    fn of_text(&self, at: Span) -> Option<DocId> {
        let behind =
            self.spans.partition_point(|(span, _)| (span.file, span.start) <= (at.file, at.start));
        let (span, doc) = self.spans.get(behind.checked_sub(1)?)?;
        span.contains(at).then_some(*doc)
    }
}

/// The word that a pattern stands for, if it is one that nobody writes by
/// chance: in capitals.
fn placeholder(pattern: &str) -> Option<&str> {
    let inner = pattern.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let word = inner.unwrap_or(pattern);
    let is_capital =
        |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    let is_placeholder = word.len() >= SHORTEST && word.chars().all(is_capital);
    is_placeholder.then_some(word)
}

/// Whether the document itself has a pattern for the word at this place: that
/// it is still there has another reason, which has been told.
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
            Op::Substitute(substitution) => substitution.to.iter().any(replaces),
            Op::Merge { .. } | Op::Lay(_) => false,
        })
    })
}

/// The words in capitals of a text, if it may be shown.
fn words(node: &Node) -> impl Iterator<Item = &str> {
    let text = node.as_str().filter(|_| !node.secret).unwrap_or_default();
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.filter(|word| placeholder(word).is_some())
}

/// A placeholder that is left.
struct Left<'a> {
    doc: DocId,
    node: &'a Node,
    place: &'a Location,
    word: &'a str,
    /// A pattern that replaces it elsewhere.
    pattern: Span,
}

fn word(facts: &SiteFacts<'_>, owners: &Owners, left: &Left<'_>) -> Diagnostic {
    let Left { doc, word, pattern, .. } = *left;
    let text = at(facts, left.node, word);
    let (primary, label) = match brought(facts, doc, left.place) {
        Some(at) => (at, "the text is put in here, and nothing replaces it"),
        None => (text, "nothing replaces it"),
    };
    let place = left.place.to_string();
    // The document to mend: others may have inherited the text from it.
    let name = facts.name(owners.of_text(primary).unwrap_or(doc));
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

/// Where the word stands in the text that was written; where a step changed
/// that text, its first line.
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
