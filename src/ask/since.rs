//! Which edits changed a value.

use super::question::{self, SET, ValueQuestion};
use super::value::trace;
use crate::check::{Compared, RenderedSite};
use crate::edit::{Edit, Text};
use crate::error::Error;
use crate::render::replay::Replay;
use crate::report::answer::provenance::ExplainedValue;
use crate::source::Span;

/// Trace of a value on one side, and all texts that it and nested values depend on.
pub(crate) struct TracedValue {
    pub(crate) way: ExplainedValue,
    texts: Vec<Span>,
}

impl TracedValue {
    /// # Errors
    /// If the document or the value does not exist.
    pub(crate) fn of(site: &RenderedSite<'_>, question: &ValueQuestion) -> Result<Self, Error> {
        Ok(Self {
            way: trace(site, question)?,
            texts: texts(site, question)?,
        })
    }
}

fn texts(site: &RenderedSite<'_>, question: &ValueQuestion) -> Result<Vec<Span>, Error> {
    /// Maximum number of nested values that represent a mapping or list.
    const MAX_VALUES: usize = 5_000;
    let doc = question::document(site, question)?;
    let data = site.data(doc);
    let place = question::place(data, &question.path)?;
    let replay = Replay::new(site.graph, site.rendered);
    let mut texts = replay.trace(doc, &place).texts();
    let inside = place
        .get(data)
        .map(|node| Replay::leaves(node, MAX_VALUES).locations);
    for leaf in inside.unwrap_or_default() {
        texts.extend(replay.trace(doc, &place.joined(&leaf)).texts());
    }
    Ok(texts)
}

fn texts_of(answer: Option<&Result<TracedValue, Error>>) -> &[Span] {
    match answer {
        Some(Ok(answer)) => &answer.texts,
        Some(Err(_)) | None => &[],
    }
}

/// Edits that changed a value: those that changed the output and overlap a text that the value
/// depends on. If the document is not an output, all edits that overlap such a text.
pub(crate) fn edits(
    compared: &Compared,
    question: &ValueQuestion,
    site: &str,
    sides: [Option<&Result<TracedValue, Error>>; 2],
) -> Vec<Edit> {
    let [base, head] = sides.map(texts_of);
    let comparison = &compared.comparison;
    let change = comparison.outputs.iter().find(|change| {
        change.site.as_deref().unwrap_or(SET) == site
            && question.has_schema(&change.key.schema)
            && *change.key.name == *question.name
    });
    let all: Vec<&Edit> = match change {
        Some(change) => {
            let causes = change.edits.iter().map(|edit| edit.index());
            causes.map(|edit| &comparison.edits[edit].edit).collect()
        }
        None => comparison.edits.iter().map(|reach| &reach.edit).collect(),
    };
    let meets = |text: &Option<Text>, spans: &[Span]| {
        text.as_ref()
            .is_some_and(|text| spans.iter().any(|span| text.meets(*span)))
    };
    let near: Vec<Edit> = all
        .iter()
        .filter(|edit| meets(&edit.base, base) || meets(&edit.head, head))
        .map(|edit| (*edit).clone())
        .collect();
    if near.is_empty() && change.is_some() {
        all.into_iter().cloned().collect()
    } else {
        near
    }
}
