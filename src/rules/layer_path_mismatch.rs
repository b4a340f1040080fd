//! `layer-path-mismatch`: a document's layer is not the folder that its file is in.

use super::{FileFacts, title};
use crate::diagnostic::{Diagnostic, Label};
use crate::system::deckhand::document::Document;
use crate::system::deckhand::layout::Place;

super::rule!(
    "layer-path-mismatch",
    Warning,
    "a document's layer is not the folder that its file is in",
    was "P008";
    File(check)
);

/// The folders that are named like layers. A layer with another name, such as
/// `region`, has no folder of its own.
const FOLDERS: [&str; 3] = ["global", "type", "site"];

fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    let Some(place) = facts.place else { return };
    let folder = match place {
        Place::Global => FOLDERS[0],
        Place::Type(_) => FOLDERS[1],
        Place::Site(_) => FOLDERS[2],
    };
    // Pegleg lints no site definitions (`pegleg.md` 1.3).
    let linted =
        facts.documents.iter().filter(|document| !document.key.schema.contains("SiteDefinition"));
    found.extend(linted.filter_map(|document| word(document, folder)));
}

fn word(document: &Document, folder: &str) -> Option<Diagnostic> {
    let layer = document.layer.as_ref()?;
    if *layer.value == *folder || !FOLDERS.contains(&&*layer.value) {
        return None;
    }
    let (title, layer_name) = (title(&document.key), &layer.value);
    let message =
        format!("`{title}` is of layer `{layer_name}`, and its file is below `{folder}/`");
    let label = Label::new(layer.span, format!("the file is below `{folder}/`"));
    Some(
        Diagnostic::new(&RULE, message, label)
            .note("Deckhand goes by the layer alone; Pegleg takes sites' files by their folders")
            .help(format!("name the layer `{folder}`, or move the document below `{layer_name}/`"))
            .document(document.key.clone()),
    )
}
