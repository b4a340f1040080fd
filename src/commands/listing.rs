//! `layercake debug side`: what is compared, and what the later side holds.

use std::path::Path;

use super::sides::{self, ChosenSides, Environment, SideSelection};
use crate::error::{Error, ErrorKind};
use crate::source::{ContentId, EntryKind, RepoPath, Repository};

/// The sides of a comparison, and the files of the later one.
pub struct Listing {
    /// What is compared.
    pub sides: ChosenSides,
    /// Each path with the id of its content, if it is a file that can be read.
    pub files: Vec<(RepoPath, Option<ContentId>)>,
}

/// What would be compared in the repository around `directory`; none where
/// nothing asks for a comparison.
///
/// # Errors
/// Where there is no repository, or the sides cannot be chosen or read.
pub fn run(
    directory: &Path,
    wanted: &SideSelection,
    environment: &Environment,
) -> Result<Option<Listing>, Error> {
    let Some(repository) = Repository::discover(directory)? else {
        let message = format!("`{}` is not inside a git repository", directory.display());
        return Err(Error::new(ErrorKind::Git, message));
    };
    let Some(sides) = sides::choose(&repository, wanted, environment)? else {
        return Ok(None);
    };
    sides::open(&repository, &sides.from)?;
    let tree = sides::open(&repository, &sides.to)?;
    let mut files = Vec::new();
    for entry in tree.entries(&RepoPath::new(""))? {
        let content = match (entry.kind, entry.content) {
            (EntryKind::Missing, _) => continue,
            (EntryKind::Submodule | EntryKind::NotUtf8, _) => None,
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
