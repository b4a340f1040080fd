//! `missing-parent`: a parentSelector that matches no document.

use std::sync::Arc;

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, NeededBy};
use crate::graph::DocId;
use crate::near::nearest;
use crate::source::Span;
use crate::system::deckhand::document::{Document, Selector};
use crate::yaml::emit::to_flow;
use crate::yaml::{Key, Mapping, Node, Value};

super::rule!(
    "missing-parent",
    Error[Absence],
    "no document matches a parentSelector"
);

pub(super) fn report(facts: &SiteFacts<'_>, child: DocId) -> Diagnostic {
    let document = facts.document(child);
    let selector = facts.selector(child);
    let title = facts.name(child);
    let message = format!("no document matches the parentSelector of `{title}`");
    let diagnostic = RULE
        .finding(
            message,
            selector.span,
            format!(
                "no `{}` in a higher layer has these labels",
                document.key.schema
            ),
        )
        .note(match document.replacement {
            Some(_) => "its actions are skipped, and it is rendered from its own data only",
            None => "Deckhand silently skips its actions and renders its own data only",
        })
        .document(&document.key);
    let diagnostic = with_absent(diagnostic, &document.key.schema, selector);
    if facts.are_shown && can_be_searched(facts, selector) {
        return with_reason(facts, child, selector, diagnostic);
    }
    without_reason(title, diagnostic)
}

/// Adds the missing parent's schema and labels to the finding, unless the labels are too long.
fn with_absent(diagnostic: Diagnostic, schema: &str, selector: &Selector) -> Diagnostic {
    let Some(labels) = describe_labels(&selector.labels, selector.span) else {
        return diagnostic;
    };
    let message = format!("no `{schema}` in a higher layer has the labels `{labels}`");
    let texts = selector.labels.values().filter_map(Node::as_str);
    diagnostic
        .absent(schema, message, NeededBy::Child)
        .written_as(texts)
}

/// Formats labels; `None` if they are too long.
fn describe_labels(labels: &Arc<Mapping>, span: Span) -> Option<String> {
    /// Maximum number of characters of labels that identify a parent.
    const MAX_CHARS: usize = 200;
    let labels = to_flow(
        &Node::new(Value::Mapping(labels.clone()), span),
        MAX_CHARS + 1,
    );
    (labels.chars().count() <= MAX_CHARS).then_some(labels)
}

/// Whether comparing all documents with all selectors without a match is affordable.
fn can_be_searched(facts: &SiteFacts<'_>, selector: &Selector) -> bool {
    /// Maximum number of label comparisons, for all such selectors together.
    const MAX_LABELS: usize = 2_000_000;
    let documents = facts.site.documents.len();
    let labels = documents.saturating_mul(selector.labels.len());
    labels.saturating_mul(facts.site.problems.len()) <= MAX_LABELS
}

fn without_reason(title: &str, diagnostic: Diagnostic) -> Diagnostic {
    diagnostic.help(format!(
        "add these labels to the parent, or remove `parentSelector` and `actions` from `{title}`"
    ))
}

/// Adds a document that was probably intended.
fn with_reason(
    facts: &SiteFacts<'_>,
    child: DocId,
    selector: &Selector,
    diagnostic: Diagnostic,
) -> Diagnostic {
    let document = facts.document(child);
    if let Some((doc, replaced)) = replaced(facts, document) {
        let name = facts.name(doc);
        let labels = describe_labels(&replaced.labels, replaced.name_span);
        return diagnostic
            .related(
                replaced.name_span,
                format!("`{name}` in a higher layer has other labels"),
            )
            .help(match labels {
                Some(labels) => format!("select `{labels}`, or give `{name}` the selected labels"),
                None => format!("select the labels of `{name}`, or give it the selected labels"),
            });
    }
    if let Some((_, label, span)) = near_miss(facts, document, selector) {
        return diagnostic
            .related(span, "this label is nearly the same")
            .did_you_mean(&label, None);
    }
    if let Some((doc, has, lacks)) = part_match(facts, child, selector) {
        let found = facts.name(doc);
        return diagnostic
            .related(
                has,
                format!("`{found}` has this label, but not this `{lacks}`"),
            )
            .help(format!(
                "add the label `{lacks}` to `{found}`, or remove it from the selector"
            ));
    }
    without_reason(facts.name(child), diagnostic)
}

/// Labels that the selector of a child was probably meant to have: those of the document that it
/// replaces, a label that is spelled almost like its own, or its labels that one document has.
pub(super) fn meant_labels(facts: &SiteFacts<'_>, child: DocId) -> Option<Arc<Mapping>> {
    let document = facts.document(child);
    let selector = facts.selector(child);
    if !can_be_searched(facts, selector) {
        return None;
    }
    if let Some((_, replaced)) = replaced(facts, document) {
        return Some(replaced.labels.clone());
    }
    let mut labels = selector.labels.clone();
    if let Some((key, label, span)) = near_miss(facts, document, selector) {
        let label = Node::new(Value::String(label.into()), span);
        *Mapping::to_change(&mut labels).get_mut(key)? = label;
        return Some(labels);
    }
    let (parent, ..) = part_match(facts, child, selector)?;
    let parent = &facts.document(parent).labels;
    Mapping::to_change(&mut labels).retain(|key| {
        let pair = parent.get(key).zip(selector.labels.get(key));
        pair.is_some_and(|(label, wanted)| label.value.equals_in_python(&wanted.value))
    });
    Some(labels)
}

/// The only document that a replacement can replace, if it has labels.
fn replaced<'a>(facts: &'a SiteFacts<'_>, child: &Document) -> Option<(DocId, &'a Document)> {
    child.replacement?;
    let mut named = others(facts, child).filter(|(_, other)| {
        other.key.name == child.key.name && other.key.layer != child.key.layer
    });
    let found = named.next().filter(|(_, other)| !other.labels.is_empty());
    found.filter(|_| named.next().is_none())
}

/// Documents of the child's schema with any labels and layers.
fn others<'a>(
    facts: &'a SiteFacts<'_>,
    child: &Document,
) -> impl Iterator<Item = (DocId, &'a Document)> {
    facts
        .site
        .iter()
        .filter(|(_, other)| other.key.schema == child.key.schema)
}

/// Label on a document of the same schema that is spelled almost like the selector's.
fn near_miss<'a>(
    facts: &SiteFacts<'_>,
    child: &Document,
    selector: &'a Selector,
) -> Option<(&'a Key, String, Span)> {
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
            .map(|(label, at)| (key, (*label).into(), *at))
    })
}

/// Document of the same schema that has one of several selected labels: the label, and the key of
/// one that it lacks.
fn part_match<'a>(
    facts: &SiteFacts<'_>,
    child: DocId,
    selector: &'a Selector,
) -> Option<(DocId, Span, &'a str)> {
    let document = facts.document(child);
    others(facts, document)
        .filter(|(_, other)| other.key.layer != document.key.layer)
        .find_map(|(doc, other)| {
            let has = |key: &Key, wanted: &Node| {
                let label = other.labels.get(key)?;
                label
                    .value
                    .equals_in_python(&wanted.value)
                    .then_some(label.span)
            };
            let found = selector
                .labels
                .iter()
                .find_map(|(key, wanted)| has(key, wanted))?;
            let lacking = selector
                .labels
                .iter()
                .find(|(key, wanted)| has(key, wanted).is_none());
            Some((doc, found, lacking?.0.as_str()?))
        })
}
