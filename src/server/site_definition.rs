//! The type that a site's definition names.

use gen_lsp_types::{DocumentLink, DocumentLinkParams, Location, Position, Range};

use super::asked::Asked;
use super::uri::uri_of;
use crate::source::{FileId, RepoPath, Span, offset};
use crate::system::deckhand::layout::Layout;
use crate::yaml;

/// The folder of the type of the site, as a link.
pub(super) fn links(asked: &Asked<'_>, _: DocumentLinkParams) -> Vec<DocumentLink> {
    let Some((text, folder)) = type_folder(asked) else {
        return Vec::new();
    };
    vec![DocumentLink {
        range: asked.lines().range(text.range()),
        target: Some(uri_of(&asked.folder.root.join(folder.as_str()))),
        tooltip: Some("the folder of this type".to_owned()),
        data: None,
    }]
}

/// The files of the type that is named at a place.
pub(super) fn named_at(asked: &Asked<'_>, at: Position) -> Vec<Location> {
    let byte = offset(asked.lines().byte(at));
    let Some((text, folder)) = type_folder(asked) else {
        return Vec::new();
    };
    if byte < text.start || text.end < byte {
        return Vec::new();
    }
    let files = asked.folder.workspace.files_below(&folder);
    let at_start = |file: &RepoPath| Location {
        uri: uri_of(&asked.folder.root.join(file.as_str())),
        range: Range::default(),
    };
    files.map(at_start).collect()
}

/// The text that names a type, and the folder of the type; `None` in other files.
fn type_folder(asked: &Asked<'_>) -> Option<(Span, RepoPath)> {
    let root = Layout::root_of_definition(&asked.file)?;
    let parsed = yaml::parse(FileId::default(), &asked.text);
    let mut definitions = parsed.documents.iter().map(|document| &document.root);
    let named = definitions.find_map(Layout::type_node)?;
    Some((named.span, root.join("type").join(named.as_str()?)))
}
