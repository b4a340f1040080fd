//! The final values of a site, beside the texts that others override or substitute.

use gen_lsp_types::{InlayHint, InlayHintParams, Label};

use super::asked::Asked;
use crate::ask::{SET, overrides};
use crate::check::Answer;
use crate::error::Error;
use crate::yaml::Node;
use crate::yaml::emit::{HIDDEN, scalar_text};
use crate::yaml::path::children;

/// Maximum number of characters of a value.
const MAX_CHARACTERS: usize = 60;

/// The final values in a range that differ from the text there, for the site that the user set.
pub(super) fn answer(
    asked: &mut Asked<'_>,
    params: InlayHintParams,
) -> Result<Vec<InlayHint>, Error> {
    let settings = asked.client.settings.clone();
    let (Some(start), Some(end)) = (asked.at(params.range.start), asked.at(params.range.end))
    else {
        return Ok(Vec::new());
    };
    let (Some(wanted), true) = (settings.site, settings.inlay_hints.enable) else {
        return Ok(Vec::new());
    };
    let range = start.to(end);
    let found = asked.ask(|site| {
        if site.site.name.as_deref().unwrap_or(SET) == wanted {
            overrides::in_range(site, range)
        } else {
            Answer::Is(Vec::new())
        }
    })?;
    let hints = found.into_iter().flat_map(|(_, hints)| hints);
    let hints = hints.map(|(text, value)| InlayHint {
        position: asked.range(text).end,
        label: Label::String(match value {
            None => "→ removed".to_owned(),
            Some(value) => format!("→ {}", short(&value)),
        }),
        kind: None,
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: None,
        data: None,
    });
    Ok(hints.collect())
}

/// A value in a few words.
fn short(node: &Node) -> String {
    if node.secret {
        return HIDDEN.to_owned();
    }
    let text = match children(node).count() {
        0 => scalar_text(&node.value),
        count => format!("{count} entries"),
    };
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
