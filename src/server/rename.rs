//! Renames documents and labels, with all texts that name them in all sites.

use std::collections::BTreeSet;

use gen_lsp_types::{Range, RenameParams, TextDocumentPositionParams, WorkspaceEdit};
use serde::Serialize;

use super::actions::workspace_edit;
use super::asked::Asked;
use crate::ask::place::touches;
use crate::ask::renaming::Renamed;
use crate::ask::uses::UseKind;
use crate::error::Error;
use crate::source::{FileId, Span};
use crate::yaml::{Node, Value, emit};

/// The text that would be replaced.
#[derive(Serialize)]
pub(super) struct Prepared {
    range: Range,
    placeholder: String,
}

/// The name at a place; nothing elsewhere.
pub(super) fn prepare(
    asked: &mut Asked<'_>,
    at: TextDocumentPositionParams,
) -> Result<Option<Prepared>, Error> {
    let found = renamed_at(asked, at)?;
    Ok(found.map(|(renamed, text)| Prepared {
        range: asked.range(text),
        placeholder: renamed.name().to_owned(),
    }))
}

/// The replacements of a new name.
pub(super) fn answer(
    asked: &mut Asked<'_>,
    params: RenameParams,
) -> Result<Option<WorkspaceEdit>, Error> {
    let found = renamed_at(asked, params.text_document_position_params)?;
    let Some((renamed, _)) = found else {
        return Ok(None);
    };
    let names = asked.names()?;
    let documents = asked.folder.workspace.documents();
    let mut texts: BTreeSet<Span> = documents.flat_map(|it| renamed.texts(it)).collect();
    texts.extend(renamed.texts_in_data(&names));
    let refusal = refusal(asked, &renamed.with_name(&params.new_name), &texts);
    if let Some(message) = refusal {
        return Err(Error::usage(message));
    }
    let sources = asked.folder.workspace.sources();
    let edits = texts.into_iter().map(|text| {
        let written = scalar(&params.new_name, sources.slice(text));
        (text, written)
    });
    Ok(Some(workspace_edit(asked, edits)))
}

/// Why a name cannot be given: it is taken, or not all texts are in this repository.
fn refusal(asked: &Asked<'_>, new: &Renamed, texts: &BTreeSet<Span>) -> Option<String> {
    if new.name().is_empty() {
        return Some("a name cannot be empty".to_owned());
    }
    let workspace = &asked.folder.workspace;
    if workspace.documents().any(|document| new.is_of(document)) {
        return Some(format!(
            "there is already a document named `{}`",
            new.name()
        ));
    }
    let outside = texts.iter().find(|text| !asked.is_current(**text))?;
    let path = workspace.sources().path_of(*outside);
    Some(format!(
        "`{path}` cannot be changed: it does not parse, or is in a further repository"
    ))
}

/// The name at a place, and its text there.
fn renamed_at(
    asked: &mut Asked<'_>,
    at: TextDocumentPositionParams,
) -> Result<Option<(Renamed, Span)>, Error> {
    let Some(at) = asked.at(at.position) else {
        return Ok(None);
    };
    let names = asked.names()?;
    let in_data = names.uses_at(at).find(|named| named.kind == UseKind::Name);
    if let Some(named) = in_data {
        return Ok(Some((Renamed::document(&named.used.key), named.at)));
    }
    let mut documents = asked.documents().iter();
    let around = documents.find(|document| touches(document.span, at));
    Ok(around.and_then(|document| Renamed::at(document, at)))
}

/// A name as YAML, quoted like the text that it replaces.
fn scalar(name: &str, before: &str) -> String {
    match before.chars().next() {
        Some('\'') => format!("'{}'", name.replace('\'', "''")),
        Some('"') if !name.contains(['"', '\\']) => format!("\"{name}\""),
        Some(_) | None => {
            let node = Node::new(
                Value::String(name.into()),
                Span::point(FileId::default(), 0),
            );
            let written = emit::to_yaml(&node, &emit::EmitOptions::default());
            written.trim_end().to_owned()
        }
    }
}
