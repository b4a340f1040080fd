//! Git repositories: their working trees listed, their commits and their index
//! read, their revisions compared.
//!
//! The only place that knows git, and it asks gix in-process; no `git` is run
//! and nothing is fetched. Nothing is written to a repository of the user's:
//! `create` makes a new one, for `demo`, and writes to that alone.
//!
//! [`Repository::discover`] keeps git's own environment variables. As a hook,
//! layercake is started with `GIT_DIR` and, for a commit of only some files,
//! with a `GIT_INDEX_FILE` of that commit: without them it would answer for
//! another repository, or for another set of tracked files, than the one git
//! asks about. Further repositories are not what these variables speak of and
//! are found without them, by [`Repository::discover_further`].

mod create;
mod cure;
mod history;
mod index;
mod listing;
mod stored;
mod walk;

use std::path::Path;

pub use create::FirstCommit;
pub use stored::StoredTree;
pub(super) use walk::{Checkout, OnDisk, OnDiskKind};

use super::{ContentId, RepoPath};
use crate::error::{Error, ErrorKind};

/// A git repository, with a working tree or without. Cheap to clone.
#[derive(Clone)]
pub struct Repository {
    shared: gix::ThreadSafeRepository,
}

impl Repository {
    /// An object of git, and the index, may take so many bytes of memory. What
    /// says of itself that it is larger is damaged, or of no use to anybody.
    pub const MAX_OBJECT_BYTES: usize = 512 << 20;

    /// The repository that `from` lies in, or that git's environment names;
    /// `None` where there is none.
    ///
    /// # Errors
    /// Where there is one that cannot be opened, or no folder `from`.
    pub fn discover(from: &Path) -> Result<Option<Self>, Error> {
        let discover = |from: &Path| {
            gix::ThreadSafeRepository::discover_with_environment_overrides_opts(
                from,
                upwards(),
                limited(),
            )
        };
        let found = Self::found(discover, from)?;
        found.map(|repository| repository.with_tree_at(from)).transpose()
    }

    /// Gives a repository that git's variables name without a working tree the one that
    /// has this git folder elsewhere, or the current folder, as git has it (git(1),
    /// `--work-tree`). gix takes none, or the folder around a git folder called `.git`.
    fn with_tree_at(self, from: &Path) -> Result<Self, Error> {
        let real = |path: &Path| gix::path::realpath(path).ok();
        let is_inside = |folder: &Path| {
            real(from).zip(real(folder)).is_some_and(|(from, folder)| from.starts_with(folder))
        };
        let git_dir = self.shared.git_dir();
        let is_bare = || {
            let repository = self.shared.to_thread_local();
            repository.config_snapshot().boolean("core.bare") != Some(false)
        };
        if self.work_tree_root().is_some_and(is_inside) || is_inside(git_dir) || is_bare() {
            return Ok(self);
        }
        let around = Self::discover_further(from)?;
        let around = around.filter(|around| real(around.shared.git_dir()) == real(git_dir));
        let folder = match around.as_ref().and_then(Self::work_tree_root) {
            Some(folder) => folder,
            None if self.work_tree_root().is_none() => from,
            None => return Ok(self),
        };
        self.with_tree(folder).map_err(|cause| {
            let message = format!("the working tree `{}` cannot be used", folder.display());
            Error::new(ErrorKind::Git, message).caused_by(cause)
        })
    }

    fn with_tree(&self, folder: &Path) -> gix::Result<Self> {
        let mut repository = self.shared.to_thread_local();
        repository.set_workdir(gix::path::realpath(folder)?)?;
        Ok(Self { shared: repository.into_sync() })
    }

    /// The repository that `from` lies in, whatever git's environment says,
    /// which speaks of the first repository only.
    ///
    /// # Errors
    /// Where there is one that cannot be opened, or no folder `from`.
    pub fn discover_further(from: &Path) -> Result<Option<Self>, Error> {
        let discover =
            |from: &Path| gix::ThreadSafeRepository::discover_opts(from, upwards(), deaf());
        Self::found(discover, from)
    }

    fn found(
        discover: impl Fn(&Path) -> gix::Result<gix::ThreadSafeRepository>,
        from: &Path,
    ) -> Result<Option<Self>, Error> {
        // from inside of `.git`, gix mistakes where `.` is
        let anew = |error| match std::path::absolute(from) {
            Ok(from) if !says_no_repository(&error) => discover(&from),
            Ok(_) | Err(_) => Err(error),
        };
        match discover(from).or_else(anew) {
            Ok(shared) => Ok(Some(Self { shared })),
            Err(error) if says_no_repository(&error) => Ok(None),
            Err(error) => Err(Error::new(
                ErrorKind::Git,
                format!("the git repository of `{}` cannot be opened", from.display()),
            )
            .caused_by(error)),
        }
    }

    /// The root of the working tree; a bare repository has none.
    pub fn work_tree_root(&self) -> Option<&Path> {
        self.shared.work_dir()
    }

    /// What people call the repository: the name of its folder.
    pub fn name(&self) -> String {
        let bare = || self.shared.git_dir();
        let folder = self.work_tree_root().unwrap_or_else(bare);
        let folder = gix::path::realpath(folder).unwrap_or_else(|_| folder.to_owned());
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        name.unwrap_or_default().trim_end_matches(".git").to_owned()
    }

    /// Where `from` lies inside the working tree, its symbolic links and `..`
    /// resolved; `None` where it is outside, or not UTF-8.
    pub fn prefix(&self, from: &Path) -> Option<RepoPath> {
        let root = gix::path::realpath(self.work_tree_root()?).ok()?;
        let inside = gix::path::realpath(from).ok()?;
        let parts = inside.strip_prefix(root).ok()?.components();
        let parts: Option<Vec<&str>> = parts.map(|part| part.as_os_str().to_str()).collect();
        Some(RepoPath::new(parts?.join("/")))
    }

    /// The id that git gives a file of these bytes; none where it refuses to
    /// hash them (a collision made on purpose).
    pub(super) fn content_of(&self, bytes: &[u8]) -> Option<ContentId> {
        let kind = self.shared.objects.object_hash();
        let id = gix::objs::compute_hash(kind, gix::objs::Kind::Blob, bytes).ok()?;
        Some(content_id(id))
    }
}

fn content_id(id: gix::ObjectId) -> ContentId {
    ContentId::new(id.as_bytes())
}

/// Ceilings that do not lie above the start are no error to git either.
fn upwards() -> gix::discover::upwards::Options<'static> {
    gix::discover::upwards::Options { match_ceiling_dir_or_error: false, ..Default::default() }
}

/// How repositories are opened: none makes gix take all memory.
fn limited() -> gix::sec::trust::Mapping<gix::open::Options> {
    let limit = format!("gitoxide.objects.allocLimit={}", Repository::MAX_OBJECT_BYTES);
    let mut trust = gix::sec::trust::Mapping::<gix::open::Options>::default();
    for options in [&mut trust.full, &mut trust.reduced] {
        options.modify(|options| options.config_overrides([limit.as_str()]));
    }
    trust
}

/// The same, whatever the variables of git say.
fn deaf() -> gix::sec::trust::Mapping<gix::open::Options> {
    let mut trust = limited();
    for options in [&mut trust.full, &mut trust.reduced] {
        options.modify(|options| options.permissions(deaf_to_git_variables()));
    }
    trust
}

fn deaf_to_git_variables() -> gix::open::Permissions {
    let mut permissions = gix::open::Permissions::all();
    permissions.env.git_prefix = gix::sec::Permission::Deny;
    permissions.config.env = false;
    permissions
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
