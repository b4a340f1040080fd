//! `missing-parent`: a selector that finds nothing.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label, NeededBy};
use crate::graph::DocId;
use crate::near::nearest;
use crate::source::Span;
use crate::system::deckhand::document::{Document, Selector};
use crate::yaml::emit::to_flow;
use crate::yaml::{Key, Node, Value};

super::rule!("missing-parent", Error[Absence], "no document matches a parentSelector");

pub(super) fn word(facts: &SiteFacts<'_>, child: DocId) -> Diagnostic {
    let document = facts.document(child);
    let selector = facts.selector(child);
    let title = facts.name(child);
    let label = Label::new(
        selector.span,
        format!("no `{}` in a higher layer has these labels", document.key.schema),
    );
    let message = format!("no document matches the parentSelector of `{title}`");
    let diagnostic = Diagnostic::new(&RULE, message, label)
        .note(match document.replacement {
            Some(_) => "its actions are skipped, and its own data is all it has",
            None => "Deckhand takes this in silence: its actions are skipped, its own data is all it has",
        })
        .document(document.key.clone());
    let diagnostic = with_absent(diagnostic, &document.key.schema, selector);
    if can_be_searched(facts, selector) {
        return with_reason(facts, (child, document), selector, diagnostic);
    }
    without_reason(title, diagnostic)
}

/// The finding with the parent that is not there, by schema and labels, unless these are too long
/// to name it.
fn with_absent(diagnostic: Diagnostic, schema: &str, selector: &Selector) -> Diagnostic {
    /// Maximum number of characters of labels that name a parent.
    const MAX_CHARS: usize = 200;
    let labels = Node::new(Value::Mapping(selector.labels.clone()), selector.span);
    let labels = to_flow(&labels, MAX_CHARS + 1);
    if labels.chars().count() > MAX_CHARS {
        return diagnostic;
    }
    let message = format!("no `{schema}` in a higher layer has the labels `{labels}`");
    diagnostic.absent(schema, message, NeededBy::Child)
}

/// Whether the labels of all documents can be looked at for each selector that matches nothing.
fn can_be_searched(facts: &SiteFacts<'_>, selector: &Selector) -> bool {
    /// Maximum number of labels that are looked at, for all of them together.
    const MAX_LABELS: usize = 2_000_000;
    let documents = facts.site.documents.len();
    let labels = documents.saturating_mul(selector.labels.len());
    labels.saturating_mul(facts.site.problems.len()) <= MAX_LABELS
}

fn without_reason(title: &str, diagnostic: Diagnostic) -> Diagnostic {
    diagnostic.help(format!(
        "give the parent these labels, or remove `parentSelector` and `actions` from `{title}`"
    ))
}

/// Adds a document that was probably meant.
fn with_reason(
    facts: &SiteFacts<'_>,
    (child, document): (DocId, &Document),
    selector: &Selector,
    diagnostic: Diagnostic,
) -> Diagnostic {
    if let Some((label, span)) = near_miss(facts, document, selector) {
        return diagnostic
            .related(span, "this label is nearly the same")
            .help(format!("did you mean `{label}`?"));
    }
    if let Some((doc, has, lacks)) = part_match(facts, child, selector) {
        let found = facts.name(doc);
        return diagnostic
            .related(has, format!("`{found}` has this label, but no such `{lacks}`"))
            .help(format!("give `{found}` the label `{lacks}` too, or do not select it"));
    }
    without_reason(facts.name(child), diagnostic)
}

/// Documents that could be parents but for their labels and layers.
fn others<'a>(
    facts: &'a SiteFacts<'_>,
    child: &Document,
) -> impl Iterator<Item = (DocId, &'a Document)> {
    facts.site.iter().filter(|(_, other)| other.key.schema == child.key.schema)
}

/// A label, on a document of the same schema, that is spelled nearly as the
/// selector's.
fn near_miss(
    facts: &SiteFacts<'_>,
    child: &Document,
    selector: &Selector,
) -> Option<(String, Span)> {
    selector.labels.iter().find_map(|(key, wanted)| {
        let candidates: Vec<(&str, Span)> = others(facts, child)
            .filter_map(|(_, other)| {
                let label = other.labels.get(key)?;
                Some((label.as_str()?, label.span))
            })
            .collect();
        let near = nearest(wanted.as_str()?, candidates.iter().map(|(label, _)| *label))?;
        candidates
            .iter()
            .find(|(label, _)| *label == near)
            .map(|(label, at)| ((*label).into(), *at))
    })
}

/// A document of the same schema that has one of several labels: that label,
/// and the name of one it lacks.
fn part_match<'a>(
    facts: &SiteFacts<'_>,
    child: DocId,
    selector: &'a Selector,
) -> Option<(DocId, Span, &'a str)> {
    let document = facts.document(child);
    let elsewhere = |other: &&Document| other.key.layer != document.key.layer;
    others(facts, document).filter(|(_, other)| elsewhere(other)).find_map(|(doc, other)| {
        let has = |key: &Key, wanted: &Node| {
            let label = other.labels.get(key)?;
            label.value.equals_in_python(&wanted.value).then_some(label.span)
        };
        let found = selector.labels.iter().find_map(|(key, wanted)| has(key, wanted))?;
        let lacking = selector.labels.iter().find(|(key, wanted)| has(key, wanted).is_none());
        Some((doc, found, lacking?.0.as_str()?))
    })
}
