//! Discovery of a repository: the nearest one whose working tree a folder is in.
//!
//! Follows git, but is stricter where a pull request could have written the found files. git does
//! not commit paths with a `.git` component, but it does commit a folder with `HEAD`, `config`,
//! `objects` and `refs`, which is a bare repository. A bare repository below a working tree is
//! never used, as with `safe.bareRepository=explicit`.
//!
//! [`Repository::discover`] honours git's environment variables. As a hook, layercake is started
//! with `GIT_DIR` and, for a partial commit, with a temporary `GIT_INDEX_FILE`. They only apply to
//! the main repository; [`Repository::discover_further`] ignores them for external repositories.

use std::path::{Path, PathBuf};

use gix::bstr::BStr;
use gix::config::file::Metadata;
use gix::discover::upwards::Options as Upwards;
use gix::sec::trust::Mapping;

use super::index::{IndexCheck, open_index};
use super::{Checkout, Repository, control, variables};
use crate::RepoPath;
use crate::error::{Error, shell_word};
use crate::tree::is_there;

impl Repository {
    /// Finds the repository that contains `from`, or that git's environment variables name; `None`
    /// if there is none.
    ///
    /// # Errors
    /// If a repository cannot or must not be opened, or `from` does not exist.
    pub fn discover(from: &Path) -> Result<Option<Self>, Error> {
        variables::refuse_unsupported()?;
        let given = variables::given_settings()?;
        let open = || followed(&given);
        let named = variables::value("GIT_DIR").map(PathBuf::from);
        let found = match &named {
            Some(git_dir) => Some(Self::named(git_dir, from, open())?),
            None => {
                refuse_tracked_link_out(from)?;
                Self::around(from, Variables::Followed, &open)?
            }
        };
        let Some(found) = found else { return Ok(None) };
        let found = if named.is_some() {
            found.with_tree_at(from)?
        } else {
            found
        };
        let mut repository = found.shared.to_thread_local();
        // to git, only fetched and pushed references have a namespace
        repository.clear_namespace();
        Ok(Some(Self {
            shared: repository.into_sync(),
        }))
    }

    /// Finds the repository that contains `from`, ignoring git's environment variables, which apply
    /// only to the main repository.
    ///
    /// # Errors
    /// If a repository cannot or must not be opened, or `from` does not exist.
    pub fn discover_further(from: &Path) -> Result<Option<Self>, Error> {
        Self::around(from, Variables::Ignored, &ignored)
    }

    /// Outer repository that contains this one as a submodule or as a clone that it does not
    /// ignore, and the path of this one there.
    pub fn enclosing(&self) -> Option<(Self, RepoPath)> {
        let root = real(self.work_tree_root()?)?;
        let outer = Self::discover_further(root.parent()?).ok()??;
        let inside = outer.prefix(&root)?;
        let seen = Checkout::of(outer.clone()).on_disk(&inside, None).ok()?;
        seen.iter()
            .any(|seen| seen.path == *inside.bytes())
            .then_some((outer, inside))
    }

    /// Repository checked out at `path` of the working tree.
    pub(crate) fn nested(&self, path: &RepoPath) -> Option<Self> {
        let folder = real(self.work_tree_root()?)?.join(path.on_disk(Path::new("")));
        // a link must not lead to a repository elsewhere
        if !is_there(&folder.join(".git")) || real(&folder)? != folder {
            return None;
        }
        let nested = Self::discover_further(&folder).ok()??;
        (nested.work_tree_root().and_then(real)? == folder).then_some(nested)
    }

    /// Opens the repository that `GIT_DIR` names. git does not check its ownership.
    fn named(
        git_dir: &Path,
        from: &Path,
        open: Mapping<gix::open::Options>,
    ) -> Result<Self, Error> {
        let shared = gix::ThreadSafeRepository::open_with_environment_overrides(from, open)
            .map_err(|cause| {
                let message = format!(
                    "`GIT_DIR` names `{}`, which cannot be opened",
                    git_dir.display()
                );
                let help = "unset `GIT_DIR`, or set it to the git folder of a repository";
                Error::git(message).caused_by(cause).with_help(help)
            })?;
        control::refuse_unusable(&shared.to_thread_local())?;
        Ok(Self { shared })
    }

    fn around(
        from: &Path,
        variables: Variables,
        open: &dyn Fn() -> Mapping<gix::open::Options>,
    ) -> Result<Option<Self>, Error> {
        let found = match find(from, variables, BareFolders::Skipped, open)? {
            Some(_) if variables == Variables::Followed && is_at_ceiling(from) => None,
            Some(found) => Some(found),
            // refused below a working tree, even if a ceiling hides it
            None if find(from, Variables::Ignored, BareFolders::Skipped, &ignored)?.is_some() => {
                None
            }
            None => find(from, variables, BareFolders::Used, open)?,
        };
        let is_bare = found
            .as_ref()
            .is_some_and(|found| found.work_dir().is_none());
        if !is_bare {
            refuse_damaged_git(from)?;
        }
        let Some(shared) = found else { return Ok(None) };
        let repository = shared.to_thread_local();
        refuse_foreign(&repository)?;
        refuse_implicit_bare(&repository)?;
        control::refuse_unusable(&repository)?;
        Ok(Some(Self { shared }))
    }

    /// Working tree of the repository that `GIT_DIR` names, by git's rules: the configured one, or
    /// else `from`. In a folder of the repository's own working tree, layercake uses the whole
    /// tree, whereas git uses only the folder.
    fn with_tree_at(self, from: &Path) -> Result<Self, Error> {
        let is_inside = |folder: &Path| {
            real(from)
                .zip(real(folder))
                .is_some_and(|(from, folder)| from.starts_with(folder))
        };
        let repository = self.shared.to_thread_local();
        let config = repository.config_snapshot();
        let is_configured =
            variables::value("GIT_WORK_TREE").is_some() || config.string("core.worktree").is_some();
        let is_bare = config.boolean("core.bare") != Some(false);
        let is_around = self.work_tree_root().is_some_and(is_inside);
        if is_configured || is_around || is_inside(self.shared.git_dir()) || is_bare {
            return Ok(self);
        }
        let around = Self::discover_further(from)?
            .filter(|around| real(around.shared.git_dir()) == real(self.shared.git_dir()));
        let folder = around
            .as_ref()
            .and_then(Self::work_tree_root)
            .unwrap_or(from);
        self.with_tree(folder).map_err(|cause| {
            let message = format!("cannot use the working tree `{}`", folder.display());
            Error::git(message).caused_by(cause)
        })
    }

    /// Whether the index has this link in a folder of the working tree.
    fn tracks_link(&self, folder: &Path, link: &Path) -> bool {
        let name = link.file_name().and_then(|name| name.to_str());
        let Some((folder, name)) = self.prefix(folder).zip(name) else {
            return false;
        };
        let index = open_index(&self.shared.to_thread_local(), IndexCheck::Form);
        index.is_ok_and(|index| {
            let entry = index.entry_by_path(BStr::new(&folder.join(name).bytes()));
            entry.is_some_and(|entry| entry.mode == gix::index::entry::Mode::SYMLINK)
        })
    }

    fn with_tree(&self, folder: &Path) -> gix::Result<Self> {
        let mut repository = self.shared.to_thread_local();
        repository.set_workdir(gix::path::realpath(folder)?)?;
        Ok(Self {
            shared: repository.into_sync(),
        })
    }
}

/// Whether git's environment variables are honoured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variables {
    Followed,
    Ignored,
}

/// Whether a folder not named `.git` can be the repository.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BareFolders {
    Skipped,
    Used,
}

fn find(
    from: &Path,
    variables: Variables,
    bare: BareFolders,
    open: &dyn Fn() -> Mapping<gix::open::Options>,
) -> Result<Option<gix::ThreadSafeRepository>, Error> {
    let upwards = || Upwards {
        // to git, a missing ceiling above the start is not an error either
        match_ceiling_dir_or_error: false,
        dot_git_only: bare == BareFolders::Skipped,
        ..Upwards::default()
    };
    let discover = |from: &Path| match variables {
        Variables::Followed => gix::ThreadSafeRepository::discover_with_environment_overrides_opts(
            from,
            upwards(),
            open(),
        ),
        Variables::Ignored => gix::ThreadSafeRepository::discover_opts(from, upwards(), open()),
    };
    // inside of `.git`, gix resolves `.` incorrectly
    let found = discover(from).or_else(|error| match std::path::absolute(from) {
        Ok(from) if !is_not_found(&error) => discover(&from),
        Ok(_) | Err(_) => Err(error),
    });
    match found {
        Ok(shared) => Ok(Some(shared)),
        Err(error) if is_not_found(&error) => Ok(None),
        Err(error) => {
            let message = format!("cannot open the git repository of `{}`", from.display());
            Err(Error::git(message).caused_by(error))
        }
    }
}

fn is_not_found(error: &gix::Error) -> bool {
    use gix::discover::upwards::Error::{
        NoGitRepository, NoGitRepositoryWithinCeiling, NoGitRepositoryWithinFs,
    };
    error.downcast_any_ref().is_some_and(|error| {
        matches!(
            error,
            NoGitRepository { .. }
                | NoGitRepositoryWithinCeiling { .. }
                | NoGitRepositoryWithinFs { .. }
        )
    })
}

/// Whether the nearest repository is in a folder listed in `GIT_CEILING_DIRECTORIES`: git does not
/// enter it from below, but gix does.
fn is_at_ceiling(from: &Path) -> bool {
    let Some(start) = real(from) else {
        return false;
    };
    let Some(root) = start
        .ancestors()
        .find(|folder| gix::discover::is_git(&folder.join(".git")).is_ok())
    else {
        return false;
    };
    let ceilings = Upwards::default().apply_environment().ceiling_dirs;
    root != start
        && ceilings
            .iter()
            .any(|ceiling| real(ceiling).as_deref() == Some(root))
}

/// Refuses an invalid `.git` that gix skipped: a dangling file or a damaged folder. The next
/// repository above is not the one that the folder belongs to.
fn refuse_damaged_git(from: &Path) -> Result<(), Error> {
    let Some(start) = real(from) else {
        return Ok(());
    };
    let found = start.ancestors().map(|folder| folder.join(".git"));
    let Some(git) = found
        .into_iter()
        .find(|git| git.is_file() || is_there(&git.join("HEAD")))
    else {
        return Ok(());
    };
    let Err(cause) = gix::discover::is_git(&git) else {
        return Ok(());
    };
    let git = git.display();
    let message = format!("`{git}` does not refer to a valid git repository");
    let help = format!(
        "repair it (`git worktree repair`, `git submodule update --init`), or remove `{git}`"
    );
    Err(Error::git(message).caused_by(cause).with_help(help))
}

/// Refuses to start in a tracked symbolic link that leads out of its repository: otherwise a pull
/// request could choose what is compared.
fn refuse_tracked_link_out(from: &Path) -> Result<(), Error> {
    let (Ok(absolute), Some(place)) = (std::path::absolute(from), real(from)) else {
        return Ok(());
    };
    for link in absolute.ancestors().filter(|folder| folder.is_symlink()) {
        let Some(folder) = link.parent() else {
            continue;
        };
        let Ok(Some(outer)) = Repository::discover_further(folder) else {
            continue;
        };
        let Some(root) = outer.work_tree_root().and_then(real) else {
            continue;
        };
        if place.starts_with(&root) || !outer.tracks_link(folder, link) {
            continue;
        }
        let link = link.display();
        let root = root.display();
        let message =
            format!("`{link}` is a symbolic link that leads out of the repository `{root}`");
        let help = format!("start in the target folder: `-C {}`", place.display());
        return Err(Error::git(message).with_help(help));
    }
    Ok(())
}

/// Refuses a repository of another user, as git does, because that user controls its configuration
/// and contents. `safe.directory` permits it (git-config(1)).
fn refuse_foreign(repository: &gix::Repository) -> Result<(), Error> {
    let work_tree = repository.workdir();
    let git_file = work_tree.map(|root| root.join(".git"));
    let mut checked = [work_tree, git_file.as_deref(), Some(repository.git_dir())];
    if !checked
        .iter_mut()
        .any(|path| path.is_some_and(|path| is_there(path) && !is_owned_by_user(path)))
    {
        return Ok(());
    }
    let place = work_tree.unwrap_or(repository.git_dir());
    let place = real(place).unwrap_or_else(|| place.to_owned());
    if is_declared_safe(repository, &place) {
        return Ok(());
    }
    let message = format!(
        "the repository `{}` belongs to another user",
        place.display()
    );
    let help = format!(
        "if you trust it, run `git config --global --add safe.directory {}`",
        shell_word(&place.display().to_string())
    );
    Err(Error::git(message).with_help(help))
}

/// Whether the current user owns this path, by git's rules: for root, also the user that started
/// `sudo`.
#[cfg(unix)]
fn is_owned_by_user(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(owner) = path.symlink_metadata().map(|metadata| metadata.uid()) else {
        return false;
    };
    let user = rustix::process::geteuid();
    let sudo_user = || variables::value("SUDO_UID")?.to_str()?.parse::<u32>().ok();
    owner == user.as_raw() || (user.is_root() && sudo_user() == Some(owner))
}

#[cfg(not(unix))]
fn is_owned_by_user(path: &Path) -> bool {
    gix::sec::identity::is_path_owned_by_current_user(path).unwrap_or(false)
}

/// Whether `safe.directory` lists this folder; an empty value resets the list, in configuration
/// order.
fn is_declared_safe(repository: &gix::Repository, place: &Path) -> bool {
    let config = repository.config_snapshot();
    let home = gix::path::env::home_dir();
    let context = gix::config::path::interpolate::Context {
        home_dir: home.as_deref(),
        ..Default::default()
    };
    let values = config
        .plumbing()
        .strings_filter("safe.directory", is_protected);
    values
        .unwrap_or_default()
        .iter()
        .fold(false, |is_safe, value| match value.as_slice() {
            b"" => false,
            b"*" => true,
            value => {
                let path = gix::config::Path::from(BStr::new(value)).interpolate(context);
                let Ok(path) = path else { return is_safe };
                let named = match path.parent() {
                    Some(above) if path.ends_with("*") => {
                        return is_safe
                            || real(above).is_some_and(|above| place.starts_with(above));
                    }
                    Some(_) | None => real(&path),
                };
                is_safe || named.is_some_and(|named| named == place)
            }
        })
}

/// Whether git reads its safety settings from this scope: not from a repository.
fn is_protected(section: &Metadata) -> bool {
    use gix::config::source::Kind;
    match section.source.kind() {
        Kind::GitInstallation | Kind::System | Kind::Global | Kind::Override => true,
        Kind::Repository => false,
    }
}

fn refuse_implicit_bare(repository: &gix::Repository) -> Result<(), Error> {
    let config = repository.config_snapshot();
    let allowed = config
        .plumbing()
        .string_filter("safe.bareRepository", is_protected);
    let is_called_git = repository
        .git_dir()
        .components()
        .any(|part| part.as_os_str() == ".git");
    if repository.workdir().is_some() || is_called_git || allowed.is_none_or(|it| it != "explicit")
    {
        return Ok(());
    }
    let place = repository.git_dir().display();
    let message =
        format!("the bare repository `{place}` is not used: `safe.bareRepository` is `explicit`");
    let help = format!("set `GIT_DIR={}`", shell_word(&place.to_string()));
    Err(Error::git(message).with_help(help))
}

fn real(path: &Path) -> Option<PathBuf> {
    gix::path::realpath(path).ok()
}

fn followed(given: &[String]) -> Mapping<gix::open::Options> {
    let mut open = limited();
    for options in [&mut open.full, &mut open.reduced] {
        options.modify(|options| options.cli_overrides(given.iter().map(String::as_str)));
    }
    open
}

fn ignored() -> Mapping<gix::open::Options> {
    let mut open = limited();
    for options in [&mut open.full, &mut open.reduced] {
        options.modify(|options| options.permissions(without_git_variables()));
    }
    open
}

fn without_git_variables() -> gix::open::Permissions {
    let mut permissions = gix::open::Permissions::all();
    permissions.env.git_prefix = gix::sec::Permission::Deny;
    permissions.env.objects = gix::sec::Permission::Deny;
    permissions.config.env = false;
    permissions
}

/// Options with a memory limit. The whole configuration is used, regardless of owner, because
/// `refuse_foreign` checks the repository as a whole; invalid values are errors.
fn limited() -> Mapping<gix::open::Options> {
    let limit = format!(
        "gitoxide.objects.allocLimit={}",
        Repository::MAX_OBJECT_BYTES
    );
    let mut open = Mapping::<gix::open::Options>::default();
    for options in [&mut open.full, &mut open.reduced] {
        options.modify(|options| {
            options
                .config_overrides([limit.as_str()])
                .filter_config_section(|_| true)
                .strict_config(true)
        });
    }
    open
}
