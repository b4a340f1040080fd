//! Shallow clones: layercake finds the correct merge base or fails; it never uses another one.

use super::{Site, id, side, site};
use crate::support::sample::Random;

/// Creates a history in which each commit has one or two of the earlier ones as parents; the last
/// two are the branches `one` and `other`.
fn history(numbers: &mut Random) -> Site {
    let site = Site::new(&[]);
    site.write("a.yaml", "a\n");
    site.commit();
    let tree = id(&site, "HEAD^{tree}");
    let mut commits = vec![id(&site, "HEAD")];
    for number in 0..14 {
        let message = number.to_string();
        let date = format!("{} +0000", 1_700_000_000 + number * 60);
        let first = numbers.below(commits.len().min(4)) + 1;
        let mut arguments = vec!["commit-tree", &tree, "-m", &message, "-p"];
        let parent = commits[commits.len() - first].clone();
        let second = commits[numbers.below(commits.len())].clone();
        arguments.push(&parent);
        if numbers.below(3) == 0 && second != parent {
            arguments.extend(["-p", &second]);
        }
        let mut command = site.command(&arguments);
        command
            .env("GIT_COMMITTER_DATE", &date)
            .env("GIT_AUTHOR_DATE", &date);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        commits.push(String::from_utf8(output.stdout).unwrap().trim().to_owned());
    }
    for (branch, commit) in ["one", "other"].into_iter().zip(commits.iter().rev()) {
        site.git(&["branch", branch, commit]);
    }
    site.git(&["checkout", "--quiet", "one"]);
    site
}

#[test]
fn merge_base_is_that_of_git_or_an_error() {
    let mut numbers = Random(0x9E37_79B9_7F4A_7C15);
    let (mut found, mut refused) = (0, 0);
    for _ in 0..25 {
        let site = history(&mut numbers);
        let bases = site.git(&["merge-base", "--all", "one", "other"]);
        let bases: Vec<&str> = bases.lines().collect();
        let base = site
            .repository()
            .merge_base("one", "other")
            .unwrap()
            .unwrap();
        assert!(bases.contains(&base.as_str()), "{base} of {bases:?}");
        for depth in 1..=5 {
            let depth = format!("--depth={depth}");
            let clone = site.clone_to("clone", &[&depth, "--no-single-branch"]);
            match clone.repository().merge_base("origin/one", "origin/other") {
                Ok(base) => {
                    found += 1;
                    let base = base.unwrap();
                    assert!(
                        bases.contains(&base.as_str()),
                        "{depth}: {base} of {bases:?}"
                    );
                }
                Err(error) => {
                    refused += 1;
                    assert!(
                        error
                            .help()
                            .unwrap()
                            .contains("`git fetch --unshallow origin`")
                    );
                }
            }
        }
    }
    assert!(found > 5 && refused > 5, "{found} found, {refused} refused");
}

#[test]
fn unrelated_histories_differ_from_truncated_ones() {
    let site = site();
    let clone = site.clone_to("clone", &["--depth=1"]);
    clone.git(&["checkout", "--quiet", "--orphan", "other"]);
    clone.commit();
    let refusal = side(&clone, &["--since", "main"]).refusal();
    assert!(
        refusal.contains("is not in this shallow clone"),
        "{refusal}"
    );
    clone.git(&["fetch", "--quiet", "--unshallow", "origin"]);
    let refusal = side(&clone, &["--since", "main"]).refusal();
    assert!(refusal.contains("have no commit in common"), "{refusal}");
}

#[test]
fn command_in_help_makes_the_base_available() {
    let site = site();
    site.git(&["checkout", "--quiet", "-b", "topic", "HEAD~1"]);
    site.write("site/b.yaml", "topic\n");
    site.commit();
    let clone = site.clone_to("clone", &["--depth=1", "--no-single-branch"]);
    assert_eq!(
        side(&clone, &["--since", "origin/main"]).refusal(),
        "error: the merge base of `origin/main` and `HEAD` is not in this shallow clone  \
         help: this clone is shallow; run `git fetch --unshallow origin` to complete it \
         (with `actions/checkout`: `fetch-depth: 0`)"
    );
    let before = id(&site, "HEAD~1");
    let refusal = side(&clone, &["--from", &before]).refusal();
    let fetch = format!("`git fetch --no-tags --depth=1 origin {before}` to fetch it");
    assert!(refusal.ends_with(&fetch), "{refusal}");
    clone.git(&[
        "fetch",
        "--quiet",
        "--no-tags",
        "--depth=1",
        "origin",
        &before,
    ]);
    assert_eq!(side(&clone, &["--from", &before]).sides()[0], before);
    clone.git(&["fetch", "--quiet", "--unshallow", "origin"]);
    let ran = side(&clone, &["--since", "origin/main"]);
    assert_eq!(ran.sides(), [&before, "the working tree"]);
}

/// Fetching with a depth makes a full clone shallow and hides the merge base from git.
#[test]
fn fetch_with_a_depth_in_a_full_clone() {
    let site = site();
    let fork = id(&site, "HEAD~1");
    site.git(&["branch", "topic", "HEAD~1"]);
    let clone = site.clone_to("clone", &["--branch=topic"]);
    clone.write("site/b.yaml", "topic\n");
    clone.commit();
    assert_eq!(side(&clone, &["--since", "origin/main"]).sides()[0], fork);
    clone.git(&["fetch", "--quiet", "--depth=1", "origin", "main"]);
    assert!(
        clone
            .try_git(&["merge-base", "origin/main", "HEAD"])
            .is_err()
    );
    let refusal = side(&clone, &["--since", "origin/main"]).refusal();
    assert!(
        refusal.contains("run `git fetch --unshallow origin` to complete it"),
        "{refusal}"
    );
    clone.git(&["fetch", "--quiet", "--unshallow", "origin"]);
    assert_eq!(side(&clone, &["--since", "origin/main"]).sides()[0], fork);
}
