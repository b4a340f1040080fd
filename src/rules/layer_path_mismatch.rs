//! `layer-path-mismatch`: a document's layer does not match the folder of its file.

use super::{FileFacts, title};
use crate::diagnostic::Diagnostic;
use crate::system::deckhand::document::Document;
use crate::system::deckhand::layout::Place;

super::rule!(
    "layer-path-mismatch",
    Warning,
    "a document's layer does not match the folder of its file",
    was "P008";
    File(check)
);

/// Folders named after layers. A layer with another name, such as `region`, has no folder.
const FOLDERS: [&str; 3] = ["global", "type", "site"];

fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    let Some(place) = facts.place else { return };
    let folder = match place {
        Place::Global => FOLDERS[0],
        Place::Type(_) => FOLDERS[1],
        Place::Site(_) => FOLDERS[2],
    };
    // Pegleg does not lint site definitions (`pegleg.md` 1.3).
    let linted = facts
        .documents
        .iter()
        .filter(|document| !document.key.schema.contains("SiteDefinition"));
    found.extend(linted.filter_map(|document| report(document, folder)));
}

fn report(document: &Document, folder: &str) -> Option<Diagnostic> {
    let layer = document.layer.as_ref()?;
    if *layer.value == *folder || !FOLDERS.contains(&&*layer.value) {
        return None;
    }
    let title = title(&document.key);
    let layer_name = &layer.value;
    let message = format!("`{title}` has layer `{layer_name}`, but its file is below `{folder}/`");
    Some(
        RULE.finding(
            message,
            layer.span,
            format!("the file is below `{folder}/`"),
        )
        .note("Deckhand uses only the layer; Pegleg selects a site's files by folder")
        .help(format!(
            "set the layer to `{folder}`, or move the document below `{layer_name}/`"
        ))
        .document(&document.key),
    )
}
