//! Site repositories that paths given by the user are in, or contain.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::{Selection, Start, canonical, canonical_or_deleted};
use crate::error::{Error, shell_word};
use crate::near::{list, nearest_in_any_case};
use crate::source::{RepoPath, Tree};
use crate::system::deckhand::layout::Layout;

/// The selection in the site repository of its paths: the one that they are in, or the only one
/// that they contain, which then is selected as a whole.
///
/// # Errors
/// If a path is in no site repository and contains none or several, or if the paths are in
/// different ones.
pub fn entered(selection: Selection) -> Result<Selection, Error> {
    if selection.set || selection.files.is_empty() {
        return Ok(selection);
    }
    let home = repository_around(&selection, &selection.directory);
    let mut roots: BTreeSet<PathBuf> = BTreeSet::new();
    let mut is_whole = false;
    for file in &selection.files {
        let place = canonical_or_deleted(selection.directory.join(file))?;
        match home.iter().find(|home| place.starts_with(home)) {
            Some(home) => {
                is_whole |= place == *home;
                roots.insert(home.clone());
            }
            None => {
                let root = match repository_around(&selection, &place) {
                    None => only_repository_in(&selection, &place, file)?,
                    around => around,
                };
                is_whole |= root.as_ref().is_some_and(|root| root.starts_with(&place));
                roots.extend(root);
            }
        }
    }
    let mut roots = roots.into_iter();
    match (roots.next(), roots.next()) {
        (Some(root), None) => {
            let files = if is_whole {
                Vec::new()
            } else {
                selection.files.clone()
            };
            let within = Some(root).filter(|root| home.as_ref() != Some(root));
            Ok(Selection {
                within,
                files,
                ..selection
            })
        }
        (Some(one), Some(other)) => {
            let message = "the paths are in different site repositories";
            let [one, other] = [one, other]
                .map(|root| format!("`-C {}`", shell_word(&directory_of(&selection, &root))));
            let help = format!("check one at a time: {one}, then {other}");
            Err(Error::usage(message).with_help(help))
        }
        (None, _) if home.is_some() => Ok(selection),
        (None, _) => Err(outside(&selection)),
    }
}

/// Root of the site repository that `word` is in, if it is another than that of the current folder,
/// or of the only one that it contains, relative to the current folder.
pub(super) fn repository_of(selection: &Selection, word: &Path) -> Option<String> {
    let home = repository_around(selection, &selection.directory);
    let place = canonical_or_deleted(selection.directory.join(word)).ok()?;
    let root = repository_around(selection, &place)
        .or_else(|| only_repository_in(selection, &place, word).ok().flatten());
    let root = root.filter(|root| home.as_ref() != Some(root) || root.starts_with(&place))?;
    Some(directory_of(selection, &root))
}

/// Root of the site repository around a file or folder.
fn repository_around(selection: &Selection, place: &Path) -> Option<PathBuf> {
    let place = canonical(place)
        .or_else(|_| canonical_or_deleted(place.to_owned()))
        .ok()?;
    let on_disk = place.ancestors().find(|folder| has_definition(folder));
    on_disk.map(Path::to_owned).or_else(|| {
        let start = start_at(selection, &place)?;
        let layout = Layout::discover(&start.tree, &start.from).ok().flatten()?;
        Some(start.root?.join(layout.root.as_str()))
    })
}

/// Whether a folder has the definition of a site.
fn has_definition(folder: &Path) -> bool {
    let sites = folder
        .join("site")
        .read_dir()
        .into_iter()
        .flatten()
        .flatten();
    sites
        .map(|site| site.path().join(Layout::DEFINITION))
        .any(|definition| definition.is_file())
}

/// Root of the only site repository in a folder; `None` for a file, or without one.
///
/// # Errors
/// If there are several.
fn only_repository_in(
    selection: &Selection,
    place: &Path,
    file: &Path,
) -> Result<Option<PathBuf>, Error> {
    let start = if place.is_dir() {
        start_at(selection, place)
    } else {
        None
    };
    let Some(start) = start else { return Ok(None) };
    match &super::site_repositories_below(&start)[..] {
        [] => Ok(None),
        [only] => Ok(Some(place.join(only.as_str()))),
        several => {
            let message = format!(
                "`{}` contains {} site repositories",
                file.display(),
                several.len()
            );
            let first = file.join(several[0].as_str());
            let help = format!(
                "did you mean `-C {}`? They are: {}",
                shell_word(&first.to_string_lossy()),
                list(several.iter().map(RepoPath::as_str))
            );
            Err(Error::usage(message).with_help(help))
        }
    }
}

/// Starting point at the nearest existing folder.
fn start_at(selection: &Selection, place: &Path) -> Option<Start> {
    let folder = place.ancestors().find(|folder| folder.is_dir())?;
    let revision = selection.revision.clone();
    Start::find(&Selection {
        revision,
        ..Selection::of(folder.to_owned())
    })
    .ok()
}

/// A path relative to the folder of the selection.
pub(super) fn relative(selection: &Selection, path: &Path) -> PathBuf {
    let Ok(directory) = canonical(&selection.directory) else {
        return path.to_owned();
    };
    let around = directory.ancestors().enumerate();
    let mut shared = around.filter_map(|(up, folder)| Some((up, path.strip_prefix(folder).ok()?)));
    let (up, rest) = shared.next().unwrap_or((0, path));
    std::iter::repeat_n(Path::new(".."), up)
        .chain([rest])
        .collect()
}

/// Value of `-C` for the root of a site repository.
fn directory_of(selection: &Selection, root: &Path) -> String {
    let folder = selection.directory.join(relative(selection, root));
    let folders = folder.components().filter(|it| *it != Component::CurDir);
    let plain: PathBuf = folders.collect();
    if plain.as_os_str().is_empty() {
        ".".to_owned()
    } else {
        plain.display().to_string()
    }
}

/// Error for paths in no site repository.
fn outside(selection: &Selection) -> Error {
    let is_gone = |file: &&PathBuf| !selection.directory.join(file).exists();
    if let Some(file) = selection.files.iter().find(is_gone) {
        return not_found(selection, file);
    }
    let files: Vec<String> = selection
        .files
        .iter()
        .map(|file| shell_word(&file.to_string_lossy()))
        .collect();
    let message = format!(
        "{} not in a site repository",
        match &files[..] {
            [file] => format!("{file} is"),
            [first, ..] => format!("{first} and the other paths are"),
            [] => "this folder is".to_owned(),
        }
    );
    let help = format!(
        "a site repository has `site/NAME/site-definition.yaml`; \
         pass `--set` to read the files as one set without sites: `--set {}`",
        list(files.iter().map(String::as_str))
    );
    Error::usage(message).with_help(help)
}

/// Error for a path that does not exist, with a similar one, or one with the same file name.
pub(super) fn not_found(selection: &Selection, file: &Path) -> Error {
    let text = file.to_string_lossy();
    let start = start_at(selection, &selection.directory);
    let found = start.and_then(|start| near_path(&start, &text));
    let error = Error::usage(format!("`{text}` not found")).about("path", &*text);
    error.with_help(match found {
        Some(near) => format!("did you mean `{near}`?"),
        None => "paths are relative to the current folder, or to that of `-C`".to_owned(),
    })
}

/// Path similar to `text` among those below the current folder, and relative to it.
fn near_path(start: &Start, text: &str) -> Option<String> {
    let text = text.trim_end_matches('/').trim_start_matches("./");
    let entries = start.tree.entries(&start.from).ok()?;
    let mut paths: BTreeSet<&str> = BTreeSet::new();
    for entry in &entries {
        let below = entry.path.below(&start.from).unwrap_or(entry.path.as_str());
        let folders = below.match_indices('/').map(|(at, _)| &below[..at]);
        paths.extend(folders.chain([below]));
    }
    let name_of = |path: &str| path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let similar = nearest_in_any_case(text, paths.iter().copied());
    let same_name = || {
        paths
            .iter()
            .copied()
            .find(|path| name_of(path) == name_of(text))
    };
    similar.or_else(same_name).map(str::to_owned)
}
