//! From a text to what it names, overrides or is used by.

use std::collections::BTreeSet;

use gen_lsp_types::{Location, ReferenceParams, TextDocumentPositionParams};

use super::asked::Asked;
use super::site_definition;
use crate::ask::overrides::{self, OverridingTexts};
use crate::ask::place;
use crate::ask::uses::{self, DocumentUse, UseKind};
use crate::check::Answer;
use crate::error::Error;
use crate::source::Span;

/// The documents that a text names, and the source value of a substitution; for a value, the text that
/// wrote the final one.
pub(super) fn definition(
    asked: &mut Asked<'_>,
    at: TextDocumentPositionParams,
) -> Result<Vec<Location>, Error> {
    let named = site_definition::named_at(asked, at.position);
    let Some(at) = asked.at(at.position).filter(|_| named.is_empty()) else {
        return Ok(named);
    };
    let names = asked.names()?;
    let uses: Vec<&DocumentUse> = names.uses_at(at).collect();
    let mut found = BTreeSet::new();
    for source in uses.iter().filter(|named| named.kind == UseKind::Source) {
        let values = asked.ask(|site| uses::source_value(site, source.at))?;
        found.extend(values.into_iter().filter_map(|(_, value)| value));
    }
    found.extend(uses.iter().map(|named| named.used.name));
    if found.is_empty() {
        let texts = overriding(asked, at)?.into_iter();
        found.extend(texts.filter_map(|texts| texts.wins));
    }
    Ok(asked.locations(found))
}

/// The texts that a value overrides; for other texts, as [`definition`].
pub(super) fn declaration(
    asked: &mut Asked<'_>,
    at: TextDocumentPositionParams,
) -> Result<Vec<Location>, Error> {
    let texts = match asked.at(at.position) {
        Some(at) => overriding(asked, at)?,
        None => Vec::new(),
    };
    let overridden: BTreeSet<Span> = texts.into_iter().flat_map(|it| it.overridden).collect();
    if overridden.is_empty() {
        return definition(asked, at);
    }
    Ok(asked.locations(overridden))
}

/// The texts that override a value in other documents; outside of data, the documents that inherit or
/// replace the document.
pub(super) fn implementation(
    asked: &mut Asked<'_>,
    at: TextDocumentPositionParams,
) -> Result<Vec<Location>, Error> {
    let Some(at) = asked.at(at.position) else {
        return Ok(Vec::new());
    };
    let texts = overriding(asked, at)?;
    if !texts.is_empty() {
        let shields = texts.into_iter().flat_map(|texts| texts.shields);
        return Ok(asked.locations(shields.collect()));
    }
    let names = asked.names()?;
    let Some(document) = names.document_at(at) else {
        return Ok(Vec::new());
    };
    let children = names.uses.iter().filter(|named| {
        named.used == *document && matches!(named.kind, UseKind::Parent | UseKind::Replaced)
    });
    Ok(asked.locations(children.map(|child| child.user.name).collect()))
}

/// The texts that name the document at a place, or what the text there names: at a label, selectors
/// that match it; at a value, substitutions that read it.
pub(super) fn references(
    asked: &mut Asked<'_>,
    params: ReferenceParams,
) -> Result<Vec<Location>, Error> {
    let Some(at) = asked.at(params.text_document_position_params.position) else {
        return Ok(Vec::new());
    };
    let names = asked.names()?;
    let users = users_at(asked, at)?;
    let mut found: BTreeSet<Span> = users.iter().map(|named| named.at).collect();
    if params.context.include_declaration {
        let named = users.iter().map(|named| named.matched);
        found.extend(named);
        found.extend(
            names
                .document_at(at)
                .filter(|_| users.is_empty())
                .map(|it| it.name),
        );
    }
    Ok(asked.locations(found))
}

/// Uses of what is at a byte.
pub(super) fn users_at(asked: &mut Asked<'_>, at: Span) -> Result<Vec<DocumentUse>, Error> {
    let names = asked.names()?;
    let of = |is_meant: &dyn Fn(&DocumentUse) -> bool| -> Vec<DocumentUse> {
        let uses = names.uses.iter();
        uses.filter(|named| is_meant(named)).cloned().collect()
    };
    let named: Vec<&DocumentUse> = names.uses_at(at).collect();
    if !named.is_empty() {
        return Ok(of(&|other| named.iter().any(|it| it.used == other.used)));
    }
    let matching = of(&|other| place::touches(other.matched, at));
    if !matching.is_empty() {
        return Ok(matching);
    }
    let reading = asked.ask(|site| uses::reading(site, at))?;
    let reading: Vec<Vec<Span>> = reading.into_iter().filter_map(|(_, texts)| texts).collect();
    if !reading.is_empty() {
        return Ok(of(&|other| {
            reading.iter().flatten().any(|text| *text == other.at)
        }));
    }
    let document = names.document_at(at);
    Ok(of(&|other| document == Some(&other.used)))
}

/// The texts that decide the value at a byte, in each site; empty outside of data.
fn overriding(asked: &mut Asked<'_>, at: Span) -> Result<Vec<OverridingTexts>, Error> {
    let answers = asked.ask(|site| match place::in_data(site, at) {
        Some(place) => overrides::answer(site, &place).map(Some),
        None => Answer::Is(None),
    })?;
    Ok(answers.into_iter().filter_map(|(_, texts)| texts).collect())
}
