//! Detects the two sides from the environment: hooks first, then CI jobs, then the default branch.
//! The first match is used.
//!
//! Only reliable information about the commits is used. If a job's commits are missing in its
//! clone, the error contains the command to fetch them.

use serde_json::Value as Json;

use super::{ChosenSide, ChosenSides, Environment, commit, common, staged};
use crate::error::{Error, shell_word};
use crate::source::Repository;

/// Variables that are read here.
pub(super) const VARIABLES: &[&str] = &[
    "BITBUCKET_PR_DESTINATION_BRANCH",
    "BITBUCKET_PR_DESTINATION_COMMIT",
    "CI",
    "CI_COMMIT_SHA",
    "CI_MERGE_REQUEST_DIFF_BASE_SHA",
    "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA",
    "GERRIT_PATCHSET_REVISION",
    "GERRIT_REFSPEC",
    "GITHUB_ACTIONS",
    "GITHUB_BASE_REF",
    "GITHUB_EVENT_NAME",
    "GITLAB_CI",
    "PRE_COMMIT",
    "PRE_COMMIT_FROM_REF",
    "PRE_COMMIT_LOCAL_BRANCH",
    "PRE_COMMIT_REMOTE_NAME",
    "PRE_COMMIT_TO_REF",
    "SYSTEM_PULLREQUEST_SOURCECOMMITID",
    "SYSTEM_PULLREQUEST_TARGETBRANCH",
    "TF_BUILD",
];

type Detection = fn(&Repository, &Environment) -> Result<Option<ChosenSides>, Error>;

const DETECTIONS: [Detection; 9] = [
    pre_commit_first_push,
    pre_commit_refs,
    pre_commit_staged,
    github,
    gitlab,
    azure,
    bitbucket,
    gerrit,
    default_branch,
];

/// Sides that the environment asks to compare, if any.
///
/// # Errors
/// If it asks for a comparison that is not possible.
pub(super) fn sides(
    repository: &Repository,
    environment: &Environment,
) -> Result<Option<ChosenSides>, Error> {
    for detect in DETECTIONS {
        if let Some(sides) = detect(repository, environment)? {
            return Ok(Some(sides));
        }
    }
    Ok(None)
}

/// First push of all commits to an empty remote: there is no commit to compare with. pre-commit
/// reports only the pushed branch; prek also reports its commit.
fn pre_commit_first_push(
    repository: &Repository,
    environment: &Environment,
) -> Result<Option<ChosenSides>, Error> {
    let is_push = environment.get("PRE_COMMIT_REMOTE_NAME").is_some();
    if !is_push || environment.get("PRE_COMMIT_FROM_REF").is_some() {
        return Ok(None);
    }
    let commit_id = environment.get("PRE_COMMIT_TO_REF");
    let branch = environment.get("PRE_COMMIT_LOCAL_BRANCH");
    let (Some(pushed), name) = (commit_id.or(branch), branch.or(commit_id)) else {
        return Ok(None);
    };
    let pushed = commit(repository, pushed, name.unwrap_or(pushed))?;
    Ok(Some(ChosenSides::new(
        "pre-commit-first-push",
        ChosenSide::Nothing,
        pushed,
    )))
}

/// pre-commit gives two commits when it checks a push, or with `--from-ref` and `--to-ref`. The
/// files on disk are then those of the checked out branch.
fn pre_commit_refs(
    repository: &Repository,
    environment: &Environment,
) -> Result<Option<ChosenSides>, Error> {
    let [from, to] = ["PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF"].map(|name| environment.get(name));
    match (from, to) {
        (Some(from), Some(to)) => {
            let (from, to) = (commit(repository, from, from)?, commit(repository, to, to)?);
            Ok(Some(ChosenSides::new("pre-commit-refs", from, to)))
        }
        (None, None) => Ok(None),
        (Some(_), None) | (None, Some(_)) => {
            let message = "only one of PRE_COMMIT_FROM_REF and PRE_COMMIT_TO_REF is set";
            Err(Error::usage(message))
        }
    }
}

/// pre-commit before a commit. In CI it runs over all files of a commit without staged changes,
/// where this comparison would be empty; then the variables of the job decide.
fn pre_commit_staged(
    repository: &Repository,
    environment: &Environment,
) -> Result<Option<ChosenSides>, Error> {
    if environment.get("PRE_COMMIT").is_none() {
        return Ok(None);
    }
    let sides = staged(repository, "pre-commit-staged")?;
    let nothing_is_staged = || match &sides.from {
        ChosenSide::Commit { id, .. } => Ok(repository
            .index()?
            .holds_the_same_as(&repository.commit(id)?)),
        ChosenSide::Nothing | ChosenSide::Index | ChosenSide::WorkTree => Ok(false),
    };
    if is_ci(environment) && nothing_is_staged()? {
        return Ok(None);
    }
    Ok(Some(sides))
}

/// GitHub Actions, from the event (docs.github.com, "Events that trigger workflows").
fn github(
    repository: &Repository,
    environment: &Environment,
) -> Result<Option<ChosenSides>, Error> {
    if environment.get("GITHUB_ACTIONS") != Some("true") {
        return Ok(None);
    }
    match environment.get("GITHUB_EVENT_NAME") {
        Some("pull_request" | "pull_request_target" | "pull_request_review") => {
            github_pull_request(repository, environment).map(Some)
        }
        Some("push") => github_push(repository, &Event::of(environment)?),
        Some("merge_group") => {
            let event = Event::of(environment)?;
            let [from, to] = [["merge_group", "base_sha"], ["merge_group", "head_sha"]]
                .map(|path| event.text(&path));
            let from = commit(repository, from?, "base of the merge group")?;
            let to = commit(repository, to?, "head of the merge group")?;
            Ok(Some(ChosenSides::new("github-merge-group", from, to)))
        }
        Some(_) | None => Ok(None),
    }
}

/// GitHub checks out a test merge of a pull request. Its diff to its first parent is exactly the
/// effect of merging, even if the base in the event is outdated.
fn github_pull_request(
    repository: &Repository,
    environment: &Environment,
) -> Result<ChosenSides, Error> {
    let event = Event::of(environment)?;
    let head = event.text(&["pull_request", "head", "sha"])?;
    if let Some(target) = merged_into(repository, "HEAD", head)? {
        let from = commit(
            repository,
            &target,
            "target branch as GitHub merged into it",
        );
        let from = from.map_err(|error| {
            let fetch = error.help().unwrap_or_default();
            let help = format!("{fetch} (with `actions/checkout`: `fetch-depth: 2`)");
            error.with_help(help)
        })?;
        let to = commit(repository, "HEAD", "GitHub's merge of the pull request")?;
        return Ok(ChosenSides::new("github-merge-first-parent", from, to));
    }
    let target = match environment.get("GITHUB_BASE_REF") {
        Some(target) => target,
        None => event.text(&["pull_request", "base", "ref"])?,
    };
    let sides = since_target(repository, "github-pull-request-merge-base", target)?;
    refuse_base_alone(&sides, head)?;
    Ok(sides)
}

/// Fails if the job has checked out the target branch: HEAD has no commits on top of its base and
/// is not the requested commit.
fn refuse_base_alone(sides: &ChosenSides, head: &str) -> Result<(), Error> {
    let (ChosenSide::Commit { id: from, .. }, ChosenSide::Commit { id: to, .. }) =
        (&sides.from, &sides.to)
    else {
        return Ok(());
    };
    if from != to || to == head {
        return Ok(());
    }
    let message = format!("the pull request is not checked out: HEAD has none of {head}");
    let help = "use `actions/checkout` without `ref` on the event `pull_request`";
    Err(Error::git(message).with_help(help))
}

/// The state before the push. A new branch has none. That of an overwritten branch may be lost;
/// then a full clone only has the first parent of the pushed commit.
fn github_push(repository: &Repository, event: &Event) -> Result<Option<ChosenSides>, Error> {
    let (before, after) = (event.text(&["before"])?, event.text(&["after"])?);
    if is_null(after) {
        return Ok(None);
    }
    let to = commit(repository, after, "pushed commit")?;
    if !is_null(before) && (repository.has_object(before) || repository.is_shallow()) {
        let from = commit(repository, before, "branch before the push")?;
        return Ok(Some(ChosenSides::new("github-push", from, to)));
    }
    match repository.parents(after)?.first() {
        Some(parent) => {
            let from = commit(repository, parent, "first parent")?;
            Ok(Some(ChosenSides::new("github-push-first-parent", from, to)))
        }
        None => Ok(None),
    }
}

/// GitLab: a merge request's pipeline runs on its branch, or on a test merge (docs.gitlab.com,
/// "Predefined CI/CD variables reference").
fn gitlab(
    repository: &Repository,
    environment: &Environment,
) -> Result<Option<ChosenSides>, Error> {
    let Some(base) = environment
        .get("CI_MERGE_REQUEST_DIFF_BASE_SHA")
        .filter(|_| environment.get("GITLAB_CI") == Some("true"))
    else {
        return Ok(None);
    };
    let head = environment.get("CI_COMMIT_SHA").unwrap_or("HEAD");
    // Only set for a test merge.
    if let Some(source) = environment.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA")
        && let Some(target) = merged_into(repository, head, source)?
    {
        let from = commit(
            repository,
            &target,
            "target branch as GitLab merged into it",
        )?;
        let to = commit(repository, head, "GitLab's merge of the merge request")?;
        return Ok(Some(ChosenSides::new(
            "gitlab-merge-first-parent",
            from,
            to,
        )));
    }
    let from = commit(repository, base, "base of the merge request")?;
    let to = commit(repository, head, "head of the merge request")?;
    Ok(Some(ChosenSides::new("gitlab-merge-request", from, to)))
}

/// Azure Pipelines: builds a test merge of a pull request, in Azure Repos and on GitHub
/// (learn.microsoft.com, "Use predefined variables").
fn azure(repository: &Repository, environment: &Environment) -> Result<Option<ChosenSides>, Error> {
    let Some(target) = environment
        .get("SYSTEM_PULLREQUEST_TARGETBRANCH")
        .filter(|_| environment.get("TF_BUILD").is_some())
    else {
        return Ok(None);
    };
    if let Some(source) = environment.get("SYSTEM_PULLREQUEST_SOURCECOMMITID")
        && let Some(target) = merged_into(repository, "HEAD", source)?
    {
        let from = commit(repository, &target, "target branch as Azure merged into it")?;
        let to = commit(repository, "HEAD", "Azure's merge of the pull request")?;
        return Ok(Some(ChosenSides::new("azure-merge-first-parent", from, to)));
    }
    // With the prefix in Azure Repos, without it for repositories on GitHub.
    let target = target.strip_prefix("refs/heads/").unwrap_or(target);
    since_target(repository, "azure-pull-request-merge-base", target).map(Some)
}

/// Bitbucket: merges the destination into the source branch before a pull request's pipeline runs,
/// so that the destination is the merge base (support.atlassian.com, "Variables and secrets").
fn bitbucket(
    repository: &Repository,
    environment: &Environment,
) -> Result<Option<ChosenSides>, Error> {
    const CODE: &str = "bitbucket-pull-request";
    if let Some(destination) = environment.get("BITBUCKET_PR_DESTINATION_COMMIT") {
        let from = common(repository, destination, "HEAD")?;
        let to = commit(repository, "HEAD", "HEAD")?;
        return Ok(Some(ChosenSides::new(CODE, from, to)));
    }
    let branch = environment.get("BITBUCKET_PR_DESTINATION_BRANCH");
    branch
        .map(|branch| since_target(repository, CODE, branch))
        .transpose()
}

/// Gerrit, with the variables of its trigger for Jenkins: a change is one commit.
fn gerrit(
    repository: &Repository,
    environment: &Environment,
) -> Result<Option<ChosenSides>, Error> {
    let Some(change) = environment.get("GERRIT_PATCHSET_REVISION") else {
        return Ok(None);
    };
    let to = commit(repository, change, "patch set").map_err(|error| {
        match environment.get("GERRIT_REFSPEC") {
            Some(refspec) => {
                let remote = repository.remote().unwrap_or_else(|| "origin".to_owned());
                let (remote, refspec) = (shell_word(&remote), shell_word(refspec));
                error.with_help(format!("run `git fetch {remote} {refspec}` to fetch it"))
            }
            None => error,
        }
    })?;
    match repository.parents(change)?.first() {
        Some(parent) => {
            let from = commit(repository, parent, "first parent")?;
            Ok(Some(ChosenSides::new("gerrit-first-parent", from, to)))
        }
        None => Ok(None),
    }
}

/// Changes since the default branch. A CI job on that branch itself has none, so nothing is
/// compared.
fn default_branch(
    repository: &Repository,
    environment: &Environment,
) -> Result<Option<ChosenSides>, Error> {
    let (code, branch) = match environment.base.clone() {
        Some(configured) => ("configured-base", Some(configured)),
        None => ("default-branch", repository.default_branch()?),
    };
    let Some(branch) = branch else {
        return Ok(None);
    };
    let from = common(repository, &branch, "HEAD")?;
    let head = repository.resolve("HEAD")?;
    if is_ci(environment) && matches!(&from, ChosenSide::Commit { id, .. } if *id == head) {
        return Ok(None);
    }
    Ok(Some(ChosenSides::new(code, from, ChosenSide::WorkTree)))
}

fn is_ci(environment: &Environment) -> bool {
    environment.get("CI").is_some_and(|value| value != "false")
}

/// From the merge base of HEAD and a branch of the remote to HEAD.
fn since_target(
    repository: &Repository,
    code: &'static str,
    branch: &str,
) -> Result<ChosenSides, Error> {
    let remote = repository.remote().unwrap_or_else(|| "origin".to_owned());
    let from = common(repository, &format!("{remote}/{branch}"), "HEAD")?;
    Ok(ChosenSides::new(
        code,
        from,
        commit(repository, "HEAD", "HEAD")?,
    ))
}

/// The parent that `head` was merged into, if `merge` is a merge of it.
fn merged_into(repository: &Repository, merge: &str, head: &str) -> Result<Option<String>, Error> {
    Ok(match <[String; 2]>::try_from(repository.parents(merge)?) {
        Ok([target, source]) if source == head => Some(target),
        // Some CI systems merge the target into the source.
        Ok([source, target]) if source == head => Some(target),
        Ok(_) | Err(_) => None,
    })
}

/// Whether an id means "no commit", as in the event of a new branch.
fn is_null(id: &str) -> bool {
    id.bytes().all(|digit| digit == b'0')
}

/// Event that started a GitHub job.
struct Event(Json);

impl Event {
    fn of(environment: &Environment) -> Result<Self, Error> {
        let Some(text) = &environment.event else {
            let message = "the event of this GitHub job is unknown: GITHUB_EVENT_PATH is not set";
            return Err(Error::usage(message).with_help(FLAGS_HELP));
        };
        let event = serde_json::from_str(text).map_err(|cause| {
            let message = "the event of this GitHub job, in GITHUB_EVENT_PATH, is not JSON";
            Error::usage(message).caused_by(cause)
        })?;
        Ok(Self(event))
    }

    fn text(&self, path: &[&str]) -> Result<&str, Error> {
        let found = path.iter().try_fold(&self.0, |value, key| value.get(key));
        found
            .and_then(Json::as_str)
            .filter(|text| !text.is_empty())
            .ok_or_else(|| {
                let message = format!("the event of this GitHub job has no `{}`", path.join("."));
                Error::usage(message).with_help(FLAGS_HELP)
            })
    }
}

const FLAGS_HELP: &str = "pass `--since REV`, or `--from REV --to REV`";
