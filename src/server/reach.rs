//! Reach of a line or a document: the answer of `impact FILE:LINE`.

use std::collections::BTreeSet;

use gen_lsp_types::{CodeLens, CodeLensParams, Command, Location, Position, Range, Uri};
use serde::{Deserialize, Serialize};

use super::asked::Asked;
use super::rendered::CommandPlace;
use super::uri::uri_of;
use crate::ask;
use crate::commands::impact;
use crate::error::Error;
use crate::report::answer::impact::Impact;
use crate::source::{RepoPath, Span};
use crate::system::deckhand::document::Document;
use crate::yaml::json::canonical;

/// Command of a lens: the outputs that its document reaches.
pub(super) const OUTPUTS: &str = "layercake.outputs";

/// The impact of the line that contains a byte; `None` if no site reads a document there.
pub(super) fn of_line(asked: &mut Asked<'_>, at: Span) -> Result<Option<Impact>, Error> {
    let (given, line) = line_of(asked, at);
    let place = format!("{}:{}", asked.file, asked.range(at).start.line + 1);
    let folder = &mut *asked.folder;
    let impact = impact::asked(
        &folder.project,
        &mut folder.workspace,
        &given,
        (&place, Some(line)),
    )?;
    Ok(Some(impact).filter(|impact| impact.sites_reading > 0 && !impact.texts.is_empty()))
}

/// The documents of the outputs that the line at a place reaches.
pub(super) fn outputs(asked: &mut Asked<'_>, place: &CommandPlace) -> Result<Vec<Location>, Error> {
    let Some(at) = asked.at(place.position) else {
        return Ok(Vec::new());
    };
    let (given, line) = line_of(asked, at);
    let found = asked.ask(|site| {
        let impact = ask::impact::answer(site, &given, Some(line));
        impact.map(|impact| impact.names_of_outputs(site))
    })?;
    let names: BTreeSet<Span> = found.into_iter().flat_map(|(_, names)| names).collect();
    Ok(asked.locations(names))
}

/// The file, and the 0-based line of a byte.
pub(super) fn line_of(asked: &Asked<'_>, at: Span) -> ([RepoPath; 1], usize) {
    let lines = asked.folder.workspace.sources().get(at.file).lines();
    ([asked.file.clone()], lines.line_of(at.start))
}

/// Place of a lens.
#[derive(Deserialize, Serialize)]
struct LensData {
    uri: Uri,
    position: Position,
}

/// A lens over each document, without its text.
pub(super) fn lenses(asked: &Asked<'_>, _: CodeLensParams) -> Vec<CodeLens> {
    let lens = |document: &Document| {
        let start = asked
            .range(Span::point(document.span.file, document.span.start))
            .start;
        let data = LensData {
            uri: uri_of(&asked.folder.root.join(asked.file.as_str())),
            position: start,
        };
        CodeLens {
            range: Range::new(start, start),
            command: None,
            data: serde_json::to_value(data).ok(),
        }
    };
    asked.documents().iter().map(lens).collect()
}

/// A lens with its text.
pub(super) fn resolved(asked: &mut Asked<'_>, lens: CodeLens) -> Result<CodeLens, Error> {
    let start = lens.range.start;
    let Some(at) = asked.at(start) else {
        return Ok(lens);
    };
    let settings = asked.client.settings.code_lens.clone();
    let mut texts = Vec::new();
    if let Some(impact) = of_line(asked, at)? {
        let summary = impact.summary();
        let reach = [
            (settings.reach, summary.reach),
            (settings.deployed, summary.deployed),
        ];
        let reach: String = reach
            .into_iter()
            .filter(|(is_shown, _)| *is_shown)
            .map(|(_, text)| text)
            .collect();
        texts.push(reach.trim_start_matches(", ").to_owned());
        texts.extend(settings.shields.then_some(summary.shielded));
    }
    if settings.changes {
        texts.extend(since_base(asked, at));
    }
    texts.retain(|text| !text.is_empty());
    let argument = serde_json::json!({
        "textDocument": {"uri": uri_of(&asked.folder.root.join(asked.file.as_str()))},
        "position": start,
    });
    Ok(CodeLens {
        command: Some(Command {
            title: texts.join(" · "),
            tooltip: None,
            command: OUTPUTS.to_owned(),
            arguments: Some(vec![argument]),
        }),
        ..lens
    })
}

/// Whether a document differs from that in the base; `None` without a base.
fn since_base(asked: &mut Asked<'_>, at: Span) -> Option<String> {
    let base = asked.documents_in_base().ok()?;
    let documents = asked.documents();
    let document = documents
        .iter()
        .find(|document| document.span.contains(at))?;
    let key = &document.key;
    let before = base.iter().find(|root| {
        let name = root
            .get("metadata")
            .and_then(|metadata| metadata.get("name"));
        let texts = [root.get("schema"), name].map(|node| node.and_then(|node| node.as_str()));
        texts == [Some(&*key.schema), Some(&*key.name)]
    });
    let since = &asked.client.settings.base;
    match before {
        None => Some(format!("new since {since}")),
        Some(before) if canonical(before) != canonical(&document.root()) => {
            Some(format!("changed since {since}"))
        }
        Some(_) => None,
    }
}
