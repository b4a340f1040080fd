//! Discovery of a repository: the nearest one whose working tree a folder is in.
//!
//! It follows git, and is stricter where a pull request could have written what is
//! found. git commits no path with a part called `.git`, but it commits a folder with
//! `HEAD`, `config`, `objects` and `refs`, which is a bare repository: one below a
//! working tree is never used, as with `safe.bareRepository=explicit`.
//!
//! [`Repository::discover`] follows the environment variables of git. As a hook,
//! layercake is started with `GIT_DIR` and, for a commit of only some files, with a
//! `GIT_INDEX_FILE` of that commit. They are about the first repository only; further
//! ones are found without them, by [`Repository::discover_further`].

use std::path::{Path, PathBuf};

use gix::bstr::BStr;
use gix::config::file::Metadata;
use gix::discover::upwards::Options as Upwards;
use gix::sec::trust::Mapping;

use super::index::{IndexCheck, open_index};
use super::{Checkout, Repository, control, variables};
use crate::RepoPath;
use crate::error::{Error, ErrorKind, shell_word};
use crate::tree::is_there;

impl Repository {
    /// The repository that `from` lies in, or that the environment variables of git
    /// name; `None` if there is none.
    ///
    /// # Errors
    /// If there is one that cannot or must not be opened, or no folder `from`.
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
        let found = if named.is_some() { found.with_tree_at(from)? } else { found };
        let mut repository = found.shared.to_thread_local();
        // to git, only what is fetched or pushed is in a namespace
        repository.clear_namespace();
        Ok(Some(Self { shared: repository.into_sync() }))
    }

    /// The repository that `from` lies in, whatever the environment variables of git
    /// say, which are about the first repository only.
    ///
    /// # Errors
    /// If there is one that cannot or must not be opened, or no folder `from`.
    pub fn discover_further(from: &Path) -> Result<Option<Self>, Error> {
        Self::around(from, Variables::Ignored, &ignored)
    }

    /// The repository whose working tree this one lies in, as a submodule or a clone that
    /// the other one does not ignore, and the path of this one there.
    pub fn enclosing(&self) -> Option<(Self, RepoPath)> {
        let root = real(self.work_tree_root()?)?;
        let outer = Self::discover_further(root.parent()?).ok()??;
        let inside = outer.prefix(&root)?;
        let seen = Checkout::of(outer.clone()).on_disk(&inside).ok()?;
        seen.iter().any(|seen| seen.path == inside.as_str()).then_some((outer, inside))
    }

    /// The repository that is checked out at `path` of the working tree.
    pub(crate) fn nested(&self, path: &RepoPath) -> Option<Self> {
        let folder = real(self.work_tree_root()?)?.join(path.as_str());
        // no link may lead to a repository elsewhere
        if !is_there(&folder.join(".git")) || real(&folder)? != folder {
            return None;
        }
        let nested = Self::discover_further(&folder).ok()??;
        (nested.work_tree_root().and_then(real)? == folder).then_some(nested)
    }

    /// The repository that `GIT_DIR` names. git does not ask who owns it.
    fn named(
        git_dir: &Path,
        from: &Path,
        open: Mapping<gix::open::Options>,
    ) -> Result<Self, Error> {
        let shared = gix::ThreadSafeRepository::open_with_environment_overrides(from, open)
            .map_err(|cause| {
                let message =
                    format!("`GIT_DIR` names `{}`, which cannot be opened", git_dir.display());
                let help = "unset `GIT_DIR`, or let it name the git folder of a repository";
                Error::new(ErrorKind::Git, message).caused_by(cause).with_help(help)
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
            // below a working tree, whether or not a ceiling hides it
            None if find(from, Variables::Ignored, BareFolders::Skipped, &ignored)?.is_some() => {
                None
            }
            None => find(from, variables, BareFolders::Used, open)?,
        };
        let is_bare = found.as_ref().is_some_and(|found| found.work_dir().is_none());
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

    /// The repository that `GIT_DIR` names, with the working tree that git gives it:
    /// the one that is configured, or else `from`. In a folder of the repository's own
    /// working tree, layercake takes all of that tree, and git the folder alone.
    fn with_tree_at(self, from: &Path) -> Result<Self, Error> {
        let is_inside = |folder: &Path| {
            real(from).zip(real(folder)).is_some_and(|(from, folder)| from.starts_with(folder))
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
        let around = Self::discover_further(from)?;
        let around =
            around.filter(|around| real(around.shared.git_dir()) == real(self.shared.git_dir()));
        let folder = around.as_ref().and_then(Self::work_tree_root).unwrap_or(from);
        self.with_tree(folder).map_err(|cause| {
            let message = format!("the working tree `{}` cannot be used", folder.display());
            Error::new(ErrorKind::Git, message).caused_by(cause)
        })
    }

    /// Whether the index has this link in a folder of the working tree.
    fn tracks_link(&self, folder: &Path, link: &Path) -> bool {
        let name = link.file_name().and_then(|name| name.to_str());
        let Some((folder, name)) = self.prefix(folder).zip(name) else { return false };
        let index = open_index(&self.shared.to_thread_local(), IndexCheck::Form);
        index.is_ok_and(|index| {
            let entry = index.entry_by_path(folder.join(name).as_str().into());
            entry.is_some_and(|entry| entry.mode == gix::index::entry::Mode::SYMLINK)
        })
    }

    fn with_tree(&self, folder: &Path) -> gix::Result<Self> {
        let mut repository = self.shared.to_thread_local();
        repository.set_workdir(gix::path::realpath(folder)?)?;
        Ok(Self { shared: repository.into_sync() })
    }
}

/// Whether the environment variables of git are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variables {
    Followed,
    Ignored,
}

/// Whether a folder that is not called `.git` can be the repository.
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
        // to git it is not an error either if no ceiling is above the start
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
    // from inside of `.git`, gix mistakes where `.` is
    let anew = |error| match std::path::absolute(from) {
        Ok(from) if !says_no_repository(&error) => discover(&from),
        Ok(_) | Err(_) => Err(error),
    };
    match discover(from).or_else(anew) {
        Ok(shared) => Ok(Some(shared)),
        Err(error) if says_no_repository(&error) => Ok(None),
        Err(error) => {
            let message = format!("the git repository of `{}` cannot be opened", from.display());
            Err(Error::new(ErrorKind::Git, message).caused_by(error))
        }
    }
}

fn says_no_repository(error: &gix::Error) -> bool {
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

/// Whether the nearest repository is in a folder that `GIT_CEILING_DIRECTORIES` names: git
/// does not look into it from below, and gix does.
fn is_at_ceiling(from: &Path) -> bool {
    let Some(start) = real(from) else { return false };
    let holds = |folder: &&Path| gix::discover::is_git(&folder.join(".git")).is_ok();
    let Some(root) = start.ancestors().find(holds) else { return false };
    let ceilings = Upwards::default().apply_environment().ceiling_dirs;
    root != start && ceilings.iter().any(|ceiling| real(ceiling).as_deref() == Some(root))
}

/// Refuses a `.git` that gix passed over on its way upwards: a file that leads nowhere, or
/// a damaged folder. The repository above is not the one that the folder belongs to.
fn refuse_damaged_git(from: &Path) -> Result<(), Error> {
    let Some(start) = real(from) else { return Ok(()) };
    let found = start.ancestors().map(|folder| folder.join(".git"));
    let Some(git) = found.into_iter().find(|git| git.is_file() || is_there(&git.join("HEAD")))
    else {
        return Ok(());
    };
    let Err(cause) = gix::discover::is_git(&git) else { return Ok(()) };
    let git = git.display();
    let message = format!("`{git}` does not lead to a git repository");
    let help = format!(
        "repair it (`git worktree repair`, `git submodule update --init`), or remove `{git}`"
    );
    Err(Error::new(ErrorKind::Git, message).caused_by(cause).with_help(help))
}

/// Refuses to start behind a symbolic link that a repository tracks and that leads out of
/// it: a pull request could choose by it what is compared.
fn refuse_tracked_link_out(from: &Path) -> Result<(), Error> {
    let (Ok(absolute), Some(place)) = (std::path::absolute(from), real(from)) else {
        return Ok(());
    };
    for link in absolute.ancestors().filter(|folder| folder.is_symlink()) {
        let Some(folder) = link.parent() else { continue };
        let Ok(Some(outer)) = Repository::discover_further(folder) else { continue };
        let Some(root) = outer.work_tree_root().and_then(real) else { continue };
        if place.starts_with(&root) || !outer.tracks_link(folder, link) {
            continue;
        }
        let (link, root) = (link.display(), root.display());
        let message =
            format!("`{link}` is a symbolic link that leads out of the repository `{root}`");
        let help = format!("start in the folder that is meant: `-C {}`", place.display());
        return Err(Error::new(ErrorKind::Git, message).with_help(help));
    }
    Ok(())
}

/// Refuses a repository of another user, as git does: its configuration and its content
/// are what that user says. `safe.directory` permits it (git-config(1)).
fn refuse_foreign(repository: &gix::Repository) -> Result<(), Error> {
    let work_tree = repository.workdir();
    let git_file = work_tree.map(|root| root.join(".git"));
    let mut checked = [work_tree, git_file.as_deref(), Some(repository.git_dir())];
    let is_foreign =
        |path: &mut Option<&Path>| path.is_some_and(|path| is_there(path) && !is_ours(path));
    if !checked.iter_mut().any(is_foreign) {
        return Ok(());
    }
    let place = work_tree.unwrap_or(repository.git_dir());
    let place = real(place).unwrap_or_else(|| place.to_owned());
    if is_declared_safe(repository, &place) {
        return Ok(());
    }
    let message = format!("the repository `{}` belongs to another user", place.display());
    let help = format!(
        "if you trust it: `git config --global --add safe.directory {}`",
        shell_word(&place.display().to_string())
    );
    Err(Error::new(ErrorKind::Git, message).with_help(help))
}

/// Whether this user owns what is at this place, as git judges it: for root, also the
/// user that started `sudo`.
#[cfg(unix)]
fn is_ours(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(owner) = path.symlink_metadata().map(|metadata| metadata.uid()) else { return false };
    let user = rustix::process::geteuid();
    let of_sudo = || variables::value("SUDO_UID")?.to_str()?.parse::<u32>().ok();
    owner == user.as_raw() || (user.is_root() && of_sudo() == Some(owner))
}

#[cfg(not(unix))]
fn is_ours(path: &Path) -> bool {
    gix::sec::identity::is_path_owned_by_current_user(path).unwrap_or(false)
}

/// Whether `safe.directory` names this folder: in the order of the configuration, an
/// empty value takes back what came before it.
fn is_declared_safe(repository: &gix::Repository, place: &Path) -> bool {
    let config = repository.config_snapshot();
    let home = gix::path::env::home_dir();
    let context =
        gix::config::path::interpolate::Context { home_dir: home.as_deref(), ..Default::default() };
    let values = config.plumbing().strings_filter("safe.directory", is_protected);
    values.unwrap_or_default().iter().fold(false, |is_safe, value| match value.as_slice() {
        b"" => false,
        b"*" => true,
        value => {
            let path = gix::config::Path::from(BStr::new(value)).interpolate(context);
            let Ok(path) = path else { return is_safe };
            let named = match path.parent() {
                Some(above) if path.ends_with("*") => {
                    return is_safe || real(above).is_some_and(|above| place.starts_with(above));
                }
                Some(_) | None => real(&path),
            };
            is_safe || named.is_some_and(|named| named == place)
        }
    })
}

/// Whether git reads settings of its own safety from here: not from a repository.
fn is_protected(section: &Metadata) -> bool {
    use gix::config::source::Kind;
    match section.source.kind() {
        Kind::GitInstallation | Kind::System | Kind::Global | Kind::Override => true,
        Kind::Repository => false,
    }
}

fn refuse_implicit_bare(repository: &gix::Repository) -> Result<(), Error> {
    let config = repository.config_snapshot();
    let allowed = config.plumbing().string_filter("safe.bareRepository", is_protected);
    let is_called_git = repository.git_dir().components().any(|part| part.as_os_str() == ".git");
    if repository.workdir().is_some() || is_called_git || allowed.is_none_or(|it| it != "explicit")
    {
        return Ok(());
    }
    let place = repository.git_dir().display();
    let message =
        format!("the bare repository `{place}` is not used: `safe.bareRepository` is `explicit`");
    let help = format!("name it: `GIT_DIR={}`", shell_word(&place.to_string()));
    Err(Error::new(ErrorKind::Git, message).with_help(help))
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

/// Options with a limit of memory. All of the configuration counts, whoever owns it,
/// since `refuse_foreign` judges the repository as a whole; invalid values are errors.
fn limited() -> Mapping<gix::open::Options> {
    let limit = format!("gitoxide.objects.allocLimit={}", Repository::MAX_OBJECT_BYTES);
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
