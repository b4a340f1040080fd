//! `layercake debug side`: the compared sides, and the files of the later one.

use std::path::Path;

use super::sides::{self, ChosenSides, Environment, SideSelection};
use crate::error::Error;
use crate::source::{ContentId, EntryKind, RepoPath, Repository};

/// Sides of a comparison, and the files of the later one.
pub struct Listing {
    /// The two sides.
    pub sides: ChosenSides,
    /// Paths with the ids of their contents, if they are readable files.
    pub files: Vec<(RepoPath, Option<ContentId>)>,
}

/// Sides that would be compared in the repository around `directory`; `None` if no comparison is
/// requested.
///
/// # Errors
/// Without a repository, or if the sides cannot be determined or read.
pub fn run(
    directory: &Path,
    wanted: &SideSelection,
    environment: &Environment,
) -> Result<Option<Listing>, Error> {
    let Some(repository) = Repository::discover(directory)? else {
        let message = format!("`{}` is not inside a git repository", directory.display());
        return Err(Error::git(message));
    };
    let Some(sides) = sides::choose(&repository, wanted, environment)? else {
        return Ok(None);
    };
    sides::open(&repository, &sides.from)?;
    let tree = sides::open(&repository, &sides.to)?;
    let mut files = Vec::new();
    for entry in tree.entries(&RepoPath::new(""))? {
        let content = match (entry.kind, entry.content) {
            (EntryKind::Missing | EntryKind::FolderLink, _) => continue,
            (EntryKind::Submodule, _) => None,
            (EntryKind::File, Some(content)) => Some(content),
            (EntryKind::File, None) => match tree.read(&entry.path) {
                Ok(bytes) => tree.content_of(&bytes),
                Err(error) => match error.fatal(&entry.path) {
                    Some(error) => return Err(error),
                    None => None,
                },
            },
        };
        files.push((entry.path, content));
    }
    Ok(Some(Listing { sides, files }))
}
