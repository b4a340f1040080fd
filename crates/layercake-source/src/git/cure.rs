//! Remedies for git errors: the exact command for the clone at hand.

use std::collections::HashSet;

use super::Repository;
use crate::error::{Error, shell_word};
use crate::near::{MAX_CANDIDATES, list, nearest_in_any_case};

/// Error for an unresolvable `revision`, with a remedy. `cause` is not shown, because it describes
/// internals of the library.
pub(super) fn unresolved(repository: &gix::Repository, revision: &str, cause: gix::Error) -> Error {
    if let Err(error) = require_readable_references(repository) {
        return error;
    }
    if let Some(candidates) = candidates(&cause) {
        return ambiguous(revision, &candidates);
    }
    if let Some(branch) = unborn_branch(repository, revision) {
        let message = format!("`{revision}` is not a commit: branch `{branch}` has no commits yet");
        return Error::git(message).with_help("create the first commit");
    }
    if let Some(error) = broken_history(repository, revision) {
        return error;
    }
    if revision.contains("..") {
        let message = format!("`{revision}` is a range, not one commit");
        return Error::usage(message)
            .with_help("name one of its endpoints")
            .about("revision", revision);
    }
    let help = unknown_help(repository, revision)
        .unwrap_or_else(|| "name a commit, branch or tag of this repository".to_owned());
    Error::git(format!("unknown revision `{revision}`"))
        .with_help(help)
        .about("revision", revision)
}

/// Refuses revisions that name several commits without `..` (gitrevisions(7)): gix resolves
/// `HEAD^!`, the commit without its ancestors, to the commit.
pub(super) fn refuse_several(revision: &str) -> Result<(), Error> {
    let is_search = revision.starts_with(":/");
    let is_several = revision.starts_with('^')
        || ["^!", "^@"].iter().any(|end| revision.ends_with(end))
        || revision
            .rsplit_once("^-")
            .is_some_and(|(_, number)| number.bytes().all(|digit| digit.is_ascii_digit()));
    if is_several && !is_search {
        let message = format!("`{revision}` names several commits, expected one");
        let help = "name both sides: `layercake diff HEAD~1 HEAD`";
        return Err(Error::usage(message).with_help(help));
    }
    Ok(())
}

/// Refuses a repository whose references gix cannot read: it supports references in files, but not
/// the reftable of git 2.45 (`extensions.refStorage`).
pub(super) fn require_readable_references(repository: &gix::Repository) -> Result<(), Error> {
    let storage = repository.config_snapshot().string("extensions.refStorage");
    let Some(storage) = storage.filter(|storage| !storage.starts_with(b"files")) else {
        return Ok(());
    };
    let message = format!("unsupported reference storage `{storage}` in this repository");
    Err(Error::git(message).with_help(FILES_HELP))
}

const FILES_HELP: &str = "run `git refs migrate --ref-format=files`, \
    or clone with `git clone --ref-format=files`";

/// Error for an ambiguous short id, with its candidates.
fn candidates(cause: &gix::Error) -> Option<Vec<String>> {
    use gix::revision::spec::parse::Error::AmbiguousPrefix;
    let Some(AmbiguousPrefix { candidates, .. }) = cause.downcast_any_ref() else {
        return None;
    };
    Some(candidates.iter().map(|(id, _)| id.to_string()).collect())
}

pub(super) fn ambiguous(revision: &str, candidates: &[String]) -> Error {
    let message = format!("the short id `{revision}` is ambiguous");
    let candidates: Vec<String> = candidates.iter().map(|id| format!("`{id}`")).collect();
    let help = format!(
        "use more digits: {}",
        list(candidates.iter().map(String::as_str))
    );
    Error::git(message).with_help(help)
}

/// Name of the checked-out branch, if it has no commits and `revision` starts from it.
fn unborn_branch(repository: &gix::Repository, revision: &str) -> Option<String> {
    let head = repository.head().ok().filter(gix::Head::is_unborn)?;
    let branch = head.referent_name()?.shorten().to_string();
    ["HEAD", "@", &branch]
        .contains(&base_name(revision))
        .then_some(branch)
}

/// Base of a revision: `main` of `main~2^{tree}`.
pub(super) fn base_name(revision: &str) -> &str {
    let end = revision
        .find(['~', '^', ':'])
        .or_else(|| revision.find("@{"));
    &revision[..end.unwrap_or(revision.len())]
}

fn unknown_help(repository: &gix::Repository, revision: &str) -> Option<String> {
    let name = base_name(revision);
    let remotes: Vec<String> = repository
        .remote_names()
        .iter()
        .map(ToString::to_string)
        .collect();
    let mut tracked = remotes
        .iter()
        .map(|remote| format!("{remote}/{name}"))
        .filter(|tracked| resolves(repository, tracked));
    if let Some(tracked) = tracked.next().filter(|_| !resolves(repository, name)) {
        return Some(format!(
            "did you mean `{tracked}{}`?",
            &revision[name.len()..]
        ));
    }
    if !resolves(repository, name)
        && let Some(names) = near_names(repository, name)
    {
        return Some(format!("did you mean {names}?"));
    }
    let shallow = is_shallow(repository);
    let depth = if shallow { " --unshallow" } else { "" };
    let of_remote = remotes.iter().find(|remote| {
        name.strip_prefix(remote.as_str())
            .is_some_and(|branch| branch.starts_with('/'))
    });
    let fetch = match of_remote.filter(|_| !resolves(repository, name)) {
        // a clone with `--single-branch` fetches no other branch without a refspec
        Some(remote) => {
            let refspec = shell_word(&format!("+refs/heads/*:refs/remotes/{remote}/*"));
            format!("`git fetch{depth} {} {refspec}`", shell_word(remote))
        }
        None if shallow => "`git fetch --unshallow`".to_owned(),
        None => return None,
    };
    Some(if shallow {
        complete_shallow_help(&fetch)
    } else {
        format!(
            "run {fetch} to fetch the branches of `{}`",
            of_remote.map_or("", String::as_str)
        )
    })
}

/// Maximum number of similar names to list.
const MAX_NAMES: usize = 5;

/// A branch, tag or remote branch.
struct NamedRef {
    /// Name without the remote.
    name: String,
    /// Name as written in a revision.
    full: String,
}

/// Branches, tags and remote branches with names similar to `name`, which may begin with a remote;
/// `None` if there are none.
fn near_names(repository: &gix::Repository, name: &str) -> Option<String> {
    let remotes: Vec<String> = repository
        .remote_names()
        .iter()
        .map(ToString::to_string)
        .collect();
    let without_remote = |full: &str| {
        let mut rests = remotes
            .iter()
            .filter_map(|it| full.strip_prefix(it)?.strip_prefix('/'));
        rests.next().unwrap_or(full).to_owned()
    };
    let name = without_remote(name);
    let mut others = named(repository, &without_remote);
    let mut near: Vec<String> = Vec::new();
    while near.len() < MAX_NAMES
        && let Some(found) = nearest_in_any_case(&name, others.iter().map(|other| &*other.name))
    {
        let found = found.to_owned();
        let alike = others.extract_if(.., |other| other.name == found);
        near.extend(alike.map(|other| other.full));
    }
    near.extend(
        others
            .iter()
            .filter(|other| !name.is_empty() && other.name.starts_with(&name))
            .map(|other| other.full.clone()),
    );
    near.truncate(MAX_NAMES);
    let near: Vec<String> = near.iter().map(|full| format!("`{full}`")).collect();
    let (last, others) = near.split_last()?;
    Some(if others.is_empty() {
        last.clone()
    } else {
        format!("{} or {last}", others.join(", "))
    })
}

/// All branches, tags and remote branches, in this order; unreadable ones are skipped.
fn named(repository: &gix::Repository, without_remote: &dyn Fn(&str) -> String) -> Vec<NamedRef> {
    let Ok(references) = repository.references() else {
        return Vec::new();
    };
    let short = |reference: gix::Reference<'_>| reference.name().shorten().to_string();
    let local = [references.local_branches(), references.tags()]
        .into_iter()
        .flatten()
        .flatten()
        .flatten()
        .map(short)
        .map(|full| NamedRef {
            name: full.clone(),
            full,
        });
    let remote = references
        .remote_branches()
        .into_iter()
        .flatten()
        .flatten()
        .map(short)
        .filter(|full| !full.ends_with("/HEAD"))
        .map(|full| NamedRef {
            name: without_remote(&full),
            full,
        });
    local.chain(remote).take(MAX_CANDIDATES).collect()
}

fn resolves(repository: &gix::Repository, name: &str) -> bool {
    repository
        .rev_parse_single(name)
        .is_ok_and(|id| repository.has_object(id))
}

pub(super) const PARTIAL_HELP: &str =
    "run `git fetch --refetch --no-filter` to fetch what a partial clone left out";

pub(super) fn missing_objects_help(repository: &gix::Repository) -> &'static str {
    if is_partial(repository) {
        PARTIAL_HELP
    } else {
        FSCK_HELP
    }
}

const FSCK_HELP: &str = "run `git fsck` to list the missing objects";

/// Error for an existing commit that cannot be read.
pub(super) fn damaged(id: gix::ObjectId, cause: gix::Error) -> Error {
    let message = format!("git object {id} is damaged");
    Error::git(message).caused_by(cause).with_help(FSCK_HELP)
}

/// Error for a tag nested beyond the limit.
pub(super) fn endless_tag(name: &str) -> Error {
    let most = Repository::MAX_TAGS;
    let message = format!("the tag `{name}` is nested more than {most} levels deep");
    Error::git(message).with_help(FSCK_HELP)
}

/// Error for a missing commit that a branch, a tag or another commit refers to.
pub(super) fn missing_commit_error(
    repository: &gix::Repository,
    revision: &str,
    id: gix::ObjectId,
) -> Error {
    let message = format!("the commit {id} of `{revision}` is not in this clone");
    let error = Error::git(message);
    if is_shallow(repository) {
        error.with_help(fetch_commit_help(repository, id))
    } else {
        error.with_help(missing_objects_help(repository))
    }
}

/// Whether layercake runs in a hook that can still refuse a push: git quarantines the objects until
/// then, and gix does not read the quarantine.
pub(super) fn is_quarantined() -> bool {
    gix::path::env::var("GIT_QUARANTINE_PATH").is_some()
}

pub(super) const QUARANTINE_HELP: &str = "git quarantines pushed objects during `pre-receive` and \
    `update` hooks, where layercake cannot read them: use `post-receive` or CI";

/// Error for the first unreadable commit between the base of `revision` and the root; gix treats it
/// as the end of the history.
fn broken_history(repository: &gix::Repository, revision: &str) -> Option<Error> {
    let mut id = start_of(repository, base_name(revision))?;
    let mut seen = HashSet::new();
    loop {
        if !seen.insert(id) {
            let message = format!("git object {id} is damaged: it is its own ancestor");
            return Some(Error::git(message).with_help(FSCK_HELP));
        }
        let commit = match repository.try_find_object(id) {
            Ok(Some(object)) => object.peel_to_commit(),
            // a shallow clone has its own remedy
            Ok(None) => {
                return (!is_shallow(repository))
                    .then(|| missing_commit_error(repository, revision, id));
            }
            Err(cause) => Err(cause),
        };
        let parent = commit.and_then(|commit| {
            let decoded = commit.decode()?;
            Ok(decoded.parents().next())
        });
        id = match parent {
            Ok(parent) => parent?,
            Err(cause) => return Some(damaged(id, cause)),
        };
    }
}

/// Object that a name refers to, readable or not.
fn start_of(repository: &gix::Repository, name: &str) -> Option<gix::ObjectId> {
    if let Ok(id) = repository.rev_parse_single(name) {
        return Some(id.detach());
    }
    let name = if name == "@" { "HEAD" } else { name };
    let mut reference = repository.try_find_reference(name).ok()??;
    reference.follow_to_object().ok().map(gix::Id::detach)
}

/// Command that fetches `revision` into the clone at `folder`; `None` without a remote. Names come
/// from site definitions, so only ids and full reference names are inserted into the command.
pub(super) fn fetch_command(
    repository: &gix::Repository,
    folder: &str,
    revision: &str,
) -> Option<String> {
    let remote = remote(repository)?;
    let git = format!("git -C {} fetch", shell_word(folder));
    let remote_word = shell_word(&remote);
    if is_partial(repository) && resolves(repository, revision) {
        return Some(format!("{git} --refetch --no-filter {remote_word}"));
    }
    if gix::ObjectId::from_hex(revision.as_bytes()).is_ok() {
        return Some(format!("{git} {remote_word} {revision}"));
    }
    if revision.starts_with("refs/") && gix::refs::FullName::try_from(revision).is_ok() {
        let refspec = shell_word(&format!("{revision}:{revision}"));
        return Some(format!("{git} {remote_word} {refspec}"));
    }
    // Only the remote knows whether a name is a branch or a tag.
    let branches = shell_word(&format!("+refs/heads/*:refs/remotes/{remote}/*"));
    let is_older =
        revision.bytes().all(|byte| byte.is_ascii_hexdigit()) || base_name(revision) != revision;
    let depth = if is_shallow(repository) && is_older {
        " --unshallow"
    } else {
        ""
    };
    Some(format!("{git}{depth} --tags {remote_word} {branches}"))
}

/// Command that fetches one commit, without its history if the clone is shallow. `--depth` makes
/// any clone shallow, so it is not used for a full clone.
pub(super) fn fetch_commit_help(repository: &gix::Repository, id: gix::ObjectId) -> String {
    let Some(remote) = remote(repository) else {
        return "name a commit, branch or tag of this repository".to_owned();
    };
    let depth = if is_shallow(repository) {
        " --depth=1"
    } else {
        ""
    };
    format!(
        "run `git fetch --no-tags{depth} {} {id}` to fetch it",
        shell_word(&remote)
    )
}

/// Command that fetches a commit and its history.
pub(super) fn fetch_history_help(repository: &gix::Repository, id: gix::ObjectId) -> String {
    if is_shallow(repository) {
        unshallow_help(repository)
    } else {
        fetch_commit_help(repository, id)
    }
}

/// Command that completes a shallow clone.
pub(super) fn unshallow_help(repository: &gix::Repository) -> String {
    let remote = remote(repository)
        .map(|remote| format!(" {}", shell_word(&remote)))
        .unwrap_or_default();
    complete_shallow_help(&format!("`git fetch --unshallow{remote}`"))
}

fn complete_shallow_help(fetch: &str) -> String {
    format!(
        "this clone is shallow; run {fetch} to complete it (with `actions/checkout`: `fetch-depth: 0`)"
    )
}

/// Remote to fetch from: the only one, or `origin`.
pub(super) fn remote(repository: &gix::Repository) -> Option<String> {
    let name = repository.remote_default_name(gix::remote::Direction::Fetch)?;
    Some(name.to_string())
}

pub(super) fn is_shallow(repository: &gix::Repository) -> bool {
    repository.is_shallow().unwrap_or(false)
}

/// Whether objects may be missing because the clone is partial.
pub(super) fn is_partial(repository: &gix::Repository) -> bool {
    let config = repository.config_snapshot();
    let mut remotes = repository.remote_names().into_iter();
    remotes.any(|remote| config.boolean(&format!("remote.{remote}.promisor")) == Some(true))
        || config.string("extensions.partialClone").is_some()
}
