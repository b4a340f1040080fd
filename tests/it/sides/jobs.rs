//! Sides that `--auto` chooses in CI jobs and pre-commit hooks.

use std::fs;

use super::{Ran, Site, id, in_commit, side, side_in, site};

const NULL: &str = "0000000000000000000000000000000000000000";

fn auto(site: &Site, variables: &[(&'static str, &str)]) -> Ran {
    side_in(&site.root, &["--auto"], variables.iter().copied())
}

/// Runs `--auto` in a GitHub job with this event.
fn github(site: &Site, name: &str, event: &str) -> Ran {
    let path = site.beside().join("event.json");
    fs::write(&path, event).unwrap();
    let path = path.display().to_string();
    auto(
        site,
        &[
            ("CI", "true"),
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_EVENT_NAME", name),
            ("GITHUB_EVENT_PATH", &path),
        ],
    )
}

/// Repository whose branches `main` and `topic` diverge after the second commit; `merge` is a test
/// merge of `topic` into `main`, as created by the hosts.
fn forked() -> Site {
    let site = site();
    site.git(&["checkout", "--quiet", "-b", "topic"]);
    site.write("site/b.yaml", "topic\n");
    site.commit();
    site.git(&["checkout", "--quiet", "main"]);
    site.write("site/a.yaml", "three\n");
    site.commit();
    site.git(&["checkout", "--quiet", "-b", "merge"]);
    site.git(&["merge", "--quiet", "--no-edit", "--no-ff", "topic"]);
    site
}

fn pull_request(site: &Site) -> String {
    let head = id(site, "topic");
    // `base.sha` is the target branch when the request was opened, or older
    let base = id(site, "main~2");
    format!(
        r#"{{"pull_request": {{"head": {{"sha": "{head}"}},
            "base": {{"ref": "main", "sha": "{base}"}}}}}}"#
    )
}

#[test]
fn github_pull_request_with_test_merge() {
    let site = forked();
    let event = pull_request(&site);
    let ran = github(&site, "pull_request", &event);
    assert_eq!(ran.code(), "github-merge-first-parent");
    assert_eq!(ran.sides(), [id(&site, "main"), id(&site, "merge")]);
    assert_eq!(ran.files(), in_commit(&site, "merge"));

    let two = site.clone_to("two", &["--depth=2", "--branch=merge", "--single-branch"]);
    assert_eq!(github(&two, "pull_request", &event).chosen(), ran.chosen());
    let one = site.clone_to("one", &["--depth=1", "--branch=merge", "--single-branch"]);
    let main = id(&site, "main");
    assert_eq!(
        github(&one, "pull_request", &event).refusal(),
        format!(
            "error: unknown revision `{main}`: this clone has no such commit  help: \
             run `git fetch --no-tags --depth=1 origin {main}` to fetch it \
             (with `actions/checkout`: `fetch-depth: 2`)"
        )
    );
    one.git(&[
        "fetch",
        "--quiet",
        "--no-tags",
        "--depth=1",
        "origin",
        &main,
    ]);
    assert_eq!(github(&one, "pull_request", &event).chosen(), ran.chosen());
}

#[test]
fn github_pull_request_with_its_head_checked_out() {
    let site = forked();
    let event = pull_request(&site);
    let clone = site.clone_to("clone", &["--branch=topic"]);
    let ran = github(&clone, "pull_request", &event);
    assert_eq!(ran.code(), "github-pull-request-merge-base");
    assert_eq!(ran.sides(), [id(&site, "topic~1"), id(&site, "topic")]);
    let one = site.clone_to("one", &["--depth=1", "--branch=topic"]);
    let refusal = github(&one, "pull_request", &event).refusal();
    assert!(
        refusal.contains("unknown revision `origin/main`"),
        "{refusal}"
    );
    assert!(
        refusal.contains("`git fetch --unshallow origin "),
        "{refusal}"
    );

    // `pull_request_target` checks out the target without the changes of the request
    let target = site.clone_to("target", &["--branch=main"]);
    let refusal = github(&target, "pull_request_target", &event).refusal();
    assert!(
        refusal.contains("the pull request is not checked out"),
        "{refusal}"
    );
}

#[test]
fn github_push() {
    let site = forked();
    site.git(&["checkout", "--quiet", "main"]);
    let push = |before: &str, after: &str| {
        format!(r#"{{"before": "{before}", "after": "{after}", "ref": "refs/heads/main"}}"#)
    };
    let (first, last) = (id(&site, "main~2"), id(&site, "main"));
    let ran = github(&site, "push", &push(&first, &last));
    assert_eq!(
        (ran.code(), ran.sides()),
        ("github-push", [&*first, &*last])
    );
    // a new branch, and a branch whose old commits were deleted
    let gone = "1234567890123456789012345678901234567890";
    for before in [NULL, gone] {
        let ran = github(&site, "push", &push(before, &last));
        assert_eq!(ran.code(), "github-push-first-parent");
        assert_eq!(ran.sides(), [&*id(&site, "main~1"), &*last]);
    }
    assert_eq!(
        github(&site, "push", &push(NULL, &first)).stdout,
        "no comparison\n"
    );
    assert_eq!(
        github(&site, "push", &push(&first, NULL)).stdout,
        "no comparison\n"
    );

    let one = site.clone_to("one", &["--depth=1", "--branch=main"]);
    for (before, absent) in [
        (first.as_str(), first.as_str()),
        (NULL, &id(&site, "main~1")),
    ] {
        let refusal = github(&one, "push", &push(before, &last)).refusal();
        let fetch = format!("`git fetch --no-tags --depth=1 origin {absent}` to fetch it");
        assert!(refusal.ends_with(&fetch), "{refusal}");
    }
}

#[test]
fn github_merge_group_and_other_events() {
    let site = forked();
    let (base, head) = (id(&site, "main"), id(&site, "merge"));
    let event = format!(r#"{{"merge_group": {{"base_sha": "{base}", "head_sha": "{head}"}}}}"#);
    let ran = github(&site, "merge_group", &event);
    assert_eq!(
        (ran.code(), ran.sides()),
        ("github-merge-group", [&*base, &*head])
    );
    site.git(&["checkout", "--quiet", "main"]);
    assert_eq!(github(&site, "schedule", "{}").stdout, "no comparison\n");
    for (name, event) in [
        ("merge_group", "{}"),
        ("push", r#"{"before": 1}"#),
        ("push", "{"),
    ] {
        let refusal = github(&site, name, event).refusal();
        assert!(
            refusal.starts_with("error: the event of this GitHub job"),
            "{refusal}"
        );
    }
    let variables = [("GITHUB_ACTIONS", "true"), ("GITHUB_EVENT_NAME", "push")];
    assert!(
        auto(&site, &variables)
            .refusal()
            .contains("GITHUB_EVENT_PATH is not set")
    );
    let unreadable = [("GITHUB_EVENT_PATH", "/no/such/event.json")];
    let refusal = auto(&site, &[&variables[..], &unreadable].concat()).refusal();
    assert!(
        refusal.contains("cannot read the file `/no/such/event.json`"),
        "{refusal}"
    );
}

#[test]
fn gitlab() {
    let site = forked();
    let (base, topic) = (id(&site, "topic~1"), id(&site, "topic"));
    let mut variables = vec![
        ("CI", "true"),
        ("GITLAB_CI", "true"),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", &*base),
        ("CI_COMMIT_SHA", &*topic),
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", ""),
    ];
    let ran = auto(&site, &variables);
    assert_eq!(
        (ran.code(), ran.sides()),
        ("gitlab-merge-request", [&*base, &*topic])
    );
    let (main, merge) = (id(&site, "main"), id(&site, "merge"));
    variables[3].1 = &merge;
    variables[4].1 = &topic;
    let ran = auto(&site, &variables);
    assert_eq!(
        (ran.code(), ran.sides()),
        ("gitlab-merge-first-parent", [&*main, &*merge])
    );

    let clone = site.clone_to("clone", &["--depth=1", "--branch=topic"]);
    variables[3].1 = &topic;
    let refusal = auto(&clone, &variables).refusal();
    let fetch = format!("`git fetch --no-tags --depth=1 origin {base}` to fetch it");
    assert!(refusal.ends_with(&fetch), "{refusal}");
}

#[test]
fn azure() {
    let site = forked();
    let topic = id(&site, "topic");
    let variables = [
        ("TF_BUILD", "True"),
        ("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main"),
        ("SYSTEM_PULLREQUEST_SOURCECOMMITID", &*topic),
    ];
    let ran = auto(&site, &variables);
    assert_eq!(ran.code(), "azure-merge-first-parent");
    assert_eq!(ran.sides(), [id(&site, "main"), id(&site, "merge")]);
    let clone = site.clone_to("clone", &["--branch=topic"]);
    for target in ["refs/heads/main", "main"] {
        let mut variables = variables;
        variables[1].1 = target;
        let ran = auto(&clone, &variables);
        assert_eq!(ran.code(), "azure-pull-request-merge-base");
        assert_eq!(ran.sides(), [&id(&site, "topic~1"), &topic]);
    }
}

#[test]
fn bitbucket() {
    let site = forked();
    let (main, fork) = (id(&site, "main"), id(&site, "topic~1"));
    // the destination is merged into the source unless it is an ancestor of it
    site.git(&["checkout", "--quiet", "-b", "source", "topic"]);
    site.git(&["merge", "--quiet", "--no-edit", "main"]);
    let ran = auto(&site, &[("BITBUCKET_PR_DESTINATION_COMMIT", &main[..12])]);
    assert_eq!(ran.code(), "bitbucket-pull-request");
    assert_eq!(ran.sides(), [&main, &id(&site, "source")]);
    let clone = site.clone_to("clone", &["--branch=topic"]);
    let ran = auto(&clone, &[("BITBUCKET_PR_DESTINATION_BRANCH", "main")]);
    assert_eq!(ran.sides(), [&fork, &id(&site, "topic")]);
}

#[test]
fn gerrit() {
    let site = forked();
    let topic = id(&site, "topic");
    let ran = auto(&site, &[("GERRIT_PATCHSET_REVISION", &topic)]);
    assert_eq!(
        (ran.code(), ran.sides()),
        ("gerrit-first-parent", [&*id(&site, "topic~1"), &topic])
    );
    let clone = site.clone_to("clone", &["--single-branch", "--branch=main"]);
    let variables = [
        ("GERRIT_PATCHSET_REVISION", &*topic),
        ("GERRIT_REFSPEC", "refs/changes/1/1/1"),
    ];
    let refusal = auto(&clone, &variables).refusal();
    assert!(
        refusal.ends_with("run `git fetch origin refs/changes/1/1/1` to fetch it"),
        "{refusal}"
    );
}

#[test]
fn pre_commit_with_and_without_revisions() {
    let site = forked();
    let (from, to) = (id(&site, "main"), id(&site, "topic"));
    let ran = auto(
        &site,
        &[
            ("PRE_COMMIT_FROM_REF", "main"),
            ("PRE_COMMIT_TO_REF", "topic"),
        ],
    );
    assert_eq!(
        (ran.code(), ran.sides()),
        ("pre-commit-refs", [&*from, &*to])
    );
    assert_eq!(
        ran.chosen()[0],
        "chosen: pre-commit-refs: main against topic"
    );
    let refusal = auto(&site, &[("PRE_COMMIT_FROM_REF", "main")]).refusal();
    assert!(refusal.contains("only one of"), "{refusal}");

    // a job that checks all files of a commit has nothing staged
    let ran = auto(&site, &[("PRE_COMMIT", "1")]);
    assert_eq!(
        (ran.code(), ran.sides()[1]),
        ("pre-commit-staged", "the index")
    );
    let job = [("PRE_COMMIT", "1"), ("CI", "true")];
    let ran = auto(&site, &job);
    assert_eq!((ran.code(), ran.sides()[0]), ("default-branch", &*from));
    site.write("site/a.yaml", "staged\n");
    assert_eq!(auto(&site, &job).code(), "default-branch");
    site.git(&["add", "--all"]);
    assert_eq!(auto(&site, &job).code(), "pre-commit-staged");
}

#[test]
fn default_branch_is_the_base_outside_of_ci() {
    let site = forked();
    site.git(&["checkout", "--quiet", "topic"]);
    let fork = id(&site, "topic~1");
    let ran = auto(&site, &[]);
    assert_eq!(
        ran.chosen()[0],
        "chosen: default-branch: merge-base of main and HEAD against the working tree"
    );
    assert_eq!(ran.sides(), [&fork, "the working tree"]);

    // a clone of a repository whose default branch has another name
    site.git(&["branch", "trunk", "main"]);
    site.git(&["checkout", "--quiet", "trunk"]);
    let clone = site.clone_to("clone", &[]);
    clone.git(&["checkout", "--quiet", "topic"]);
    let ran = auto(&clone, &[]);
    assert!(
        ran.chosen()[0].contains("merge-base of origin/trunk and HEAD"),
        "{ran:?}"
    );
    assert_eq!(ran.sides()[0], fork);
    clone.git(&["remote", "set-head", "origin", "--delete"]);
    let ran = auto(&clone, &[]);
    assert!(
        ran.chosen()[0].contains("merge-base of origin/main and HEAD"),
        "{ran:?}"
    );

    // on the base branch itself, there is nothing to compare
    site.git(&["checkout", "--quiet", "main"]);
    assert_eq!(auto(&site, &[("CI", "true")]).stdout, "no comparison\n");
    assert_eq!(
        auto(&site, &[("CI", "false")]).sides()[0],
        id(&site, "main")
    );
    let other = Site::new(&[]);
    other.write("a.yaml", "a\n");
    other.commit();
    other.git(&["branch", "--move", "other"]);
    assert_eq!(auto(&other, &[]).stdout, "no comparison\n");
}

#[test]
fn flags_override_the_environment() {
    let site = forked();
    let variables = [
        ("PRE_COMMIT_FROM_REF", "main"),
        ("PRE_COMMIT_TO_REF", "topic"),
    ];
    let ran = side_in(&site.root, &["--staged"], variables);
    assert_eq!(ran, side(&site, &["--staged"]));
    assert_eq!(ran.code(), "staged");
}
