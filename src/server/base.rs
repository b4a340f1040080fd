//! The revision that the working tree is compared with.

use std::time::Duration;

use gen_lsp_types::{DocumentSymbolParams, Location, Position, Range};
use serde::Serialize;

use super::asked::Asked;
use super::client::Settings;
use super::text::number;
use super::uri::uri_of;
use crate::commands::compare::{self, ComparisonRequest, SitesToRead};
use crate::commands::reports::{Judge, report_of_changes};
use crate::commands::sides::{ChosenSide, MergeBase, SideSelection};
use crate::error::Error;
use crate::report::tree::{ChangeNode, ChangeTree};
use crate::source::{FileId, SharedTree, Source};
use crate::yaml::{self, Node};

impl Settings {
    /// The working tree against the base.
    fn sides(&self) -> SideSelection {
        let (revision, merge_base) = match self.base.strip_prefix("merge-base:") {
            Some(revision) => (revision, MergeBase::Use),
            None => (&*self.base, MergeBase::Skip),
        };
        SideSelection {
            since: Some(revision.to_owned()),
            merge_base,
            ..SideSelection::default()
        }
    }
}

/// Files of the base.
pub(super) struct BaseFiles {
    /// The revision as the user set it.
    pub(super) setting: String,
    /// Id of the commit; `None` before the first one.
    pub(super) commit: Option<String>,
    tree: SharedTree,
}

impl Asked<'_> {
    /// The files of the base, opened once until a commit or the setting changes.
    ///
    /// # Errors
    /// If it is not a commit of the repository.
    pub(super) fn base(&mut self) -> Result<&BaseFiles, Error> {
        let setting = &self.client.settings.base;
        let is_current = |base: &BaseFiles| base.setting == *setting;
        if !self.folder.base.as_ref().is_some_and(is_current) {
            let (tree, side) =
                compare::base_side(&self.selection(), &self.client.settings.sides())?;
            let commit = match side {
                ChosenSide::Commit { id, .. } => Some(id),
                ChosenSide::Nothing | ChosenSide::Index | ChosenSide::WorkTree => None,
            };
            let setting = setting.clone();
            self.folder.base = Some(BaseFiles {
                setting,
                commit,
                tree,
            });
        }
        Ok(self.folder.base.as_ref().expect("it was opened above"))
    }

    /// The documents of the file in the base; empty if it is not there.
    ///
    /// # Errors
    /// As [`Asked::base`].
    pub(super) fn documents_in_base(&mut self) -> Result<Vec<Node>, Error> {
        let file = self.file.clone();
        let bytes = self.base()?.tree.read(&file);
        let source = Source::new(file, bytes);
        let parsed = yaml::parse(FileId::default(), source.text());
        Ok(parsed
            .documents
            .into_iter()
            .map(|document| document.root)
            .collect())
    }
}

/// Changes of the current state, compared with the base.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Changes {
    base: String,
    summary: String,
    is_complete: bool,
    edits: Vec<Change>,
}

/// An edit, an output, or a shield.
#[derive(Serialize)]
struct Change {
    label: String,
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<Location>,
    children: Vec<Change>,
}

/// Method of this protocol's own: what the current state changes.
pub(super) const CHANGES: &str = "layercake/changes";

/// Answers [`CHANGES`], whose parameters name any document of the folder.
pub(super) fn changes(asked: &mut Asked<'_>, _: DocumentSymbolParams) -> Result<Changes, Error> {
    let selection = asked.selection();
    let request = ComparisonRequest {
        wanted: asked.client.settings.sides(),
        ..ComparisonRequest::default()
    };
    let outcome = compare::run(&selection, &request, SitesToRead::Reached, &asked.control())?;
    let outcome = outcome.ok_or_else(|| Error::git("missing revision to compare with"))?;
    let criteria = (Judge::GATES, &request);
    let (report, _) = report_of_changes(&outcome, criteria, &selection, Duration::ZERO);
    let tree = ChangeTree::of(&report);
    let commit = outcome.sides.base.commit.as_deref().unwrap_or_default();
    let short: String = commit.chars().take(7).collect();
    Ok(Changes {
        base: format!("{} ({short})", asked.client.settings.base),
        summary: tree.summary,
        is_complete: tree.is_complete && outcome.compared.checked.unread.is_empty(),
        edits: tree
            .edits
            .into_iter()
            .map(|node| change(asked, node))
            .collect(),
    })
}

fn change(asked: &Asked<'_>, node: ChangeNode) -> Change {
    let location = node.place.map(|place| {
        let at = Position::new(number(place.line - 1), 0);
        Location {
            uri: uri_of(&asked.folder.root.join(&place.file)),
            range: Range::new(at, at),
        }
    });
    let children = node.children.into_iter();
    Change {
        label: node.label,
        description: node.description,
        location,
        children: children.map(|child| change(asked, child)).collect(),
    }
}
