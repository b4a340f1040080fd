//! What a line reaches, as text.

use gen_lsp_types::{Contents, Hover, MarkupContent, MarkupKind};

use crate::check::Workspace;
use crate::commands::{Project, impact};
use crate::error::Error;
use crate::report::answer::impact::write;
use crate::report::{TerminalStyle, View};
use crate::source::RepoPath;

/// Text for a window of an editor.
const STYLE: TerminalStyle = TerminalStyle {
    width: 100,
    color: false,
    unicode: true,
    links: false,
};

/// Describes the outputs that a change of a 0-based line could change: the answer of `impact FILE:LINE`.
/// `None` if no document of a site is there.
///
/// # Errors
/// If the workspace's run is cancelled.
pub(super) fn hover(
    project: &Project,
    workspace: &mut Workspace,
    file: RepoPath,
    line: usize,
) -> Result<Option<Hover>, Error> {
    let place = format!("{file}:{}", line + 1);
    let impact = impact::asked(project, workspace, &[file], (&place, Some(line)))?;
    if impact.sites_reading == 0 || impact.texts.is_empty() {
        return Ok(None);
    }
    let (sources, secrets, opaque) = workspace.texts();
    let view = View::new(sources, &secrets, &opaque);
    let mut text = Vec::new();
    write(&impact.located(&view), &STYLE, &mut text).expect("memory can be written");
    let value = String::from_utf8_lossy(&text).into_owned();
    Ok(Some(Hover {
        contents: Contents::MarkupContent(MarkupContent {
            kind: MarkupKind::PlainText,
            value,
        }),
        range: None,
    }))
}
