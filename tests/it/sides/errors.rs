//! Errors that keep a side from being read, each one line with a remedy.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use layercake::source::Repository;

use super::{NOWHERE, Site, id, side, side_in, site};

/// Writes garbage over a loose object.
fn damage(site: &Site, id: &str) -> PathBuf {
    let object = object(site, id);
    let bytes = fs::read(&object).unwrap();
    fs::remove_file(&object).unwrap();
    fs::write(
        &object,
        &b"garbage, and nothing else"[..bytes.len().min(25)],
    )
    .unwrap();
    object
}

fn object(site: &Site, id: &str) -> PathBuf {
    site.path(&format!(".git/objects/{}/{}", &id[..2], &id[2..]))
}

#[test]
fn no_repository() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["--staged"][..], &["--since", "main"], &["--auto"]] {
        let refusal = side_in(folder.path(), arguments, NOWHERE).refusal();
        assert_eq!(refusal, "error: `.` is not inside a git repository");
    }
}

#[test]
fn unknown_revisions() {
    let site = site();
    for arguments in [["--since", "nosuch"], ["--from", "nosuch"]] {
        assert_eq!(
            side(&site, &arguments).refusal(),
            "error: unknown revision `nosuch`  help: name a commit, branch or tag of this \
             repository"
        );
    }
    let absent = "0123456789012345678901234567890123456789";
    let refusal = side(&site, &["--from", "HEAD", "--to", absent]).refusal();
    assert!(
        refusal.contains(&format!("`{absent}`: this clone has no such commit")),
        "{refusal}"
    );
    let clone = site.clone_to("clone", &[]);
    let refusal = side(&clone, &["--from", absent]).refusal();
    assert!(
        refusal.ends_with(&format!(
            "run `git fetch --no-tags origin {absent}` to fetch it"
        )),
        "{refusal}"
    );
}

#[test]
fn unborn_branch() {
    let site = Site::new(&[]);
    site.write("a.yaml", "a\n");
    site.git(&["add", "--all"]);
    for arguments in [&["--since", "HEAD"][..], &["--from", "main"]] {
        let refusal = side(&site, arguments).refusal();
        assert!(
            refusal.contains("branch `main` has no commits yet  help: create the first commit")
        );
    }
}

/// Written by hand, since only git 2.45 and later creates such repositories.
fn keep_references_in_reftable(site: &Site) {
    site.git(&["config", "core.repositoryFormatVersion", "1"]);
    site.git(&["config", "extensions.refStorage", "reftable"]);
    site.write(".git/HEAD", "ref: refs/heads/.invalid\n");
    fs::remove_dir_all(site.path(".git/refs")).unwrap();
    site.write(
        ".git/refs/heads",
        "this repository uses the reftable format\n",
    );
    site.write(".git/reftable/tables.list", "");
}

#[test]
fn references_in_reftable() {
    let site = site();
    let ids = ["HEAD~1", "HEAD"].map(|revision| id(&site, revision));
    keep_references_in_reftable(&site);
    for arguments in [
        &["--since", "main"][..],
        &["--staged"],
        &["--from", "HEAD"],
        &["--since", "main~1"],
        &["--auto"],
    ] {
        assert_eq!(
            side(&site, arguments).refusal(),
            "error: unsupported reference storage `reftable` in this repository  help: run \
             `git refs migrate --ref-format=files`, or clone with \
             `git clone --ref-format=files`",
            "{arguments:?}"
        );
    }
    assert_eq!(side(&site, &["--from", &ids[0], "--to", &ids[1]]).code, 0);
}

#[test]
fn unrelated_histories() {
    let site = site();
    site.git(&["checkout", "--quiet", "--orphan", "other"]);
    site.commit();
    assert_eq!(
        side(&site, &["--since", "main"]).refusal(),
        "error: `main` and `HEAD` have no commit in common  \
         help: pass `--since main --no-merge-base` to compare with `main` itself"
    );
    assert_eq!(side(&site, &["--since", "main", "--no-merge-base"]).code, 0);
}

#[test]
fn damaged_objects() {
    let help = "help: run `git fsck` to list the missing objects";
    for (revision, flags) in [
        ("HEAD", &["--staged"][..]),
        ("HEAD~1", &["--from", "HEAD~1"]),
        ("HEAD^{tree}", &["--staged"]),
        ("HEAD:site", &["--staged"]),
        ("HEAD~1", &["--since", "HEAD~2"]),
        ("HEAD~1:site", &["--from", "HEAD~1"]),
    ] {
        let site = site();
        site.write("site/a.yaml", "three\n");
        site.commit();
        let damaged = damage(&site, &id(&site, revision));
        let refusal = side(&site, flags).refusal();
        assert!(refusal.ends_with(help), "{revision} {flags:?}: {refusal}");
        // the same with the object missing
        fs::remove_file(damaged).unwrap();
        let refusal = side(&site, flags).refusal();
        assert!(
            refusal.contains("  help: "),
            "{revision} {flags:?}: {refusal}"
        );
    }
}

/// Writes an object under the id `id`, which is not the hash of its content.
fn forge(site: &Site, id: &str, kind: &str, content: &str) {
    let path = object(site, id);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    write!(encoder, "{kind} {}\0{content}", content.len()).unwrap();
    fs::write(path, encoder.finish().unwrap()).unwrap();
}

/// Writes an object with a wrong length in its header.
fn forge_length(site: &Site, id: &str, kind: &str, length: u64) {
    let path = object(site, id);
    drop(fs::remove_file(&path));
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    write!(encoder, "{kind} {length}\0").unwrap();
    fs::write(path, encoder.finish().unwrap()).unwrap();
}

#[test]
fn object_with_a_huge_declared_length() {
    let site = site();
    for (revision, kind) in [
        ("HEAD^{tree}", "tree"),
        ("HEAD:site", "tree"),
        ("HEAD", "commit"),
    ] {
        let id = id(&site, revision);
        let whole = fs::read(object(&site, &id)).unwrap();
        for length in [Repository::MAX_OBJECT_BYTES as u64 + 1, 1 << 40] {
            forge_length(&site, &id, kind, length);
            let ran = side(&site, &["--staged"]);
            let help = "help: run `git fsck` to list the missing objects";
            assert!(
                ran.refusal().ends_with(help),
                "{revision} {length}: {ran:?}"
            );
            assert!(
                ran.stderr
                    .contains("exceeds the configured allocation limit"),
                "{ran:?}"
            );
        }
        fs::remove_file(object(&site, &id)).unwrap();
        fs::write(object(&site, &id), whole).unwrap();
    }
    assert_eq!(side(&site, &["--staged"]).code, 0);
}

fn forge_tag(site: &Site, id: &str, (kind, of): (&str, &str)) {
    let content = format!("object {of}\ntype {kind}\ntag x\ntagger x <x> 0 +0000\n\nx\n");
    forge(site, id, "tag", &content);
}

#[test]
fn tag_that_points_to_itself() {
    let site = site();
    let own = "1".repeat(40);
    forge_tag(&site, &own, ("tag", &own));
    site.write(".git/refs/tags/loop", &format!("{own}\n"));
    let help = "help: run `git fsck` to list the missing objects";
    for revision in ["loop", "loop~1", "loop^{commit}", ":/x", &own] {
        let refusal = side(&site, &["--from", revision]).refusal();
        assert!(
            refusal.contains("is nested more than 100 levels deep"),
            "{refusal}"
        );
        assert!(refusal.ends_with(help), "{refusal}");
    }
    assert_eq!(side(&site, &["--from", "HEAD"]).code, 0);
}

#[test]
fn nested_tags_are_resolved_up_to_a_limit() {
    let site = site();
    let name = |count: usize| format!("{count:040}");
    let commit = id(&site, "HEAD");
    forge_tag(&site, &name(1), ("commit", &commit));
    for count in 2..=101 {
        forge_tag(&site, &name(count), ("tag", &name(count - 1)));
    }
    assert_eq!(side(&site, &["--from", &name(100)]).sides()[0], commit);
    let refusal = side(&site, &["--from", &name(101)]).refusal();
    assert!(refusal.contains("is nested more than"), "{refusal}");
}

#[test]
fn commit_that_is_its_own_parent() {
    let site = site();
    let (own, tree) = ("2".repeat(40), id(&site, "HEAD^{tree}"));
    let person = "x <x> 0 +0000";
    let content = format!("tree {tree}\nparent {own}\nauthor {person}\ncommitter {person}\n\nx\n");
    forge(&site, &own, "commit", &content);
    site.write(".git/refs/heads/loop", &format!("{own}\n"));
    assert_eq!(side(&site, &["--from", "loop"]).sides()[0], own);
    let refusal = side(&site, &["--from", "loop^{/nothing}"]).refusal();
    assert!(refusal.contains("it is its own ancestor"), "{refusal}");
    assert!(
        side(&site, &["--since", "loop"])
            .refusal()
            .contains("help: ")
    );
}

#[test]
fn damaged_commit_is_not_treated_as_end_of_history() {
    let site = site();
    site.git(&["checkout", "--quiet", "-b", "topic"]);
    site.write("site/b.yaml", "topic\n");
    site.commit();
    site.git(&["checkout", "--quiet", "main"]);
    for text in ["three\n", "four\n"] {
        site.write("site/a.yaml", text);
        site.commit();
    }
    site.git(&["checkout", "--quiet", "topic"]);
    let help = "help: run `git fsck` to list the missing objects";
    for (revision, flags) in [("main~1", &["--since", "main"][..]), ("main", &["--auto"])] {
        assert_eq!(side(&site, flags).sides()[0], id(&site, "topic~1"));
        let object = object(&site, &id(&site, revision));
        let whole = fs::read(&object).unwrap();
        let damaged = damage(&site, &id(&site, revision));
        let refusal = side(&site, flags).refusal();
        assert!(refusal.ends_with(help), "{revision}: {refusal}");
        fs::remove_file(damaged).unwrap();
        let refusal = side(&site, flags).refusal();
        assert!(refusal.ends_with(help), "{revision}: {refusal}");
        fs::write(object, whole).unwrap();
    }
}

#[test]
fn damaged_file_ends_the_run_with_an_error() {
    let site = crate::cli::Sandbox::with_sites();
    site.commit();
    assert_eq!(site.run(&["lint", "--rev", "HEAD"]).code, 0);
    let id = site.git(&["rev-parse", "HEAD:type/small/dns.yaml"]);
    let object = site.path(&format!(".git/objects/{}/{}", &id[..2], id[2..].trim()));
    let permissions = fs::metadata(&object).unwrap().permissions();
    fs::remove_file(&object).unwrap();
    for (what, said) in [
        (Some("garbage"), "is damaged"),
        (None, "is missing in this clone"),
    ] {
        if let Some(text) = what {
            fs::write(&object, text).unwrap();
            fs::set_permissions(&object, permissions.clone()).unwrap();
        }
        for verb in ["lint", "render", "sites"] {
            let ran = site.run(&[verb, "--rev", "HEAD"]);
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
            let expected = format!(
                "error: `type/small/dns.yaml` cannot be read: git object {} {said}\n  \
                 help: run `git fsck` to list the missing objects\n",
                id.trim()
            );
            assert_eq!(ran.stderr, expected);
        }
        assert_eq!(site.run(&["lint"]).code, 0, "the file on disk is intact");
        fs::remove_file(&object).unwrap_or_default();
    }
}

#[test]
fn damaged_index() {
    for (from, length) in [(40, 4), (0, 4), (0, 0)] {
        let site = site();
        let index = site.path(".git/index");
        let mut bytes = fs::read(&index).unwrap();
        if length == 0 {
            bytes.truncate(60);
        }
        bytes[from..from + length].fill(0xff);
        fs::write(&index, bytes).unwrap();
        let refusal = side(&site, &["--staged"]).refusal();
        assert!(
            refusal.starts_with("error: cannot read the index `"),
            "{refusal}"
        );
        assert!(refusal.contains("`  help: move `"), "{refusal}");
        fs::rename(&index, site.beside().join("moved")).unwrap();
        site.git(&["reset", "--quiet"]);
        assert_eq!(
            side(&site, &["--staged"]).code,
            0,
            "the command in the help works"
        );
    }
}

#[test]
fn locked_index() {
    let site = site();
    let lock = site.path(".git/index.lock");
    fs::write(&lock, "").unwrap();
    let refusal = side(&site, &["--staged"]).refusal();
    assert_eq!(
        refusal,
        format!(
            "error: the index is locked by another git process  \
             help: wait until the process ends; if no git process is running, remove `{}`",
            lock.display()
        )
    );
    // during a commit, git uses a temporary index and locks this one
    let next = site.path(".git/next-index-1.lock");
    fs::copy(site.path(".git/index"), &next).unwrap();
    let ran = side_in(&site.root, &["--staged"], [("GIT_INDEX_FILE", next)]);
    assert_eq!(ran.files().len(), 2);
    assert_eq!(
        side(&site, &["--since", "HEAD"]).code,
        0,
        "the working tree does not use the index"
    );
    fs::remove_file(lock).unwrap();
    assert_eq!(side(&site, &["--staged"]).code, 0);
}

#[test]
fn unmerged_index_without_a_merge_in_progress() {
    let site = site();
    site.git(&["checkout", "--quiet", "-b", "topic", "HEAD~1"]);
    site.write("site/a.yaml", "topic\n");
    site.commit();
    let works: [(&[&str], &str); 4] = [
        (
            &["cherry-pick", "main"],
            ", or run `git cherry-pick --abort`",
        ),
        (
            &["revert", "--no-edit", "main"],
            ", or run `git revert --abort`",
        ),
        (
            &["rebase", "--quiet", "main"],
            ", or run `git rebase --abort`",
        ),
        (&["checkout", "--quiet", "--merge", "main"], ""),
    ];
    for (command, abort) in works {
        if abort.is_empty() {
            site.write("site/a.yaml", "neither\n");
        }
        site.try_git(command).unwrap_or_default();
        assert_eq!(
            side(&site, &["--staged"]).refusal(),
            format!(
                "error: `site/a.yaml` in the index is unmerged  \
                 help: resolve the conflict, then run `git add site/a.yaml`{abort}"
            )
        );
        if !abort.is_empty() {
            site.git(&[command[0], "--abort"]);
        }
    }
}

#[test]
fn unmerged_index() {
    let site = site();
    site.git(&["checkout", "--quiet", "-b", "topic", "HEAD~1"]);
    for file in ["site/a.yaml", "site/b.yaml"] {
        site.write(file, "topic\n");
    }
    site.commit();
    site.git(&["checkout", "--quiet", "main"]);
    site.write("site/b.yaml", "main\n");
    site.commit();
    assert!(site.try_git(&["merge", "--quiet", "topic"]).is_err());
    assert_eq!(
        side(&site, &["--staged"]).refusal(),
        "error: `site/a.yaml` and 1 more in the index is unmerged  \
         help: resolve the conflict, then run `git add site/a.yaml`, or run `git merge --abort`"
    );
    site.git(&["add", "site/a.yaml"]);
    let refusal = side(&site, &["--staged"]).refusal();
    assert!(
        refusal.starts_with("error: `site/b.yaml` in the index is unmerged"),
        "{refusal}"
    );
    site.git(&["merge", "--abort"]);
    assert_eq!(side(&site, &["--staged"]).code, 0);
}

#[test]
fn partial_clones() {
    let site = site();
    site.git(&["config", "uploadpack.allowFilter", "true"]);
    let clone = site.clone_to("partial", &["--filter=blob:none", "--no-checkout"]);
    clone.git(&["reset", "--quiet", "--soft"]);
    clone.git(&["read-tree", "HEAD"]);
    let index = clone.repository().index().unwrap();
    let files = [layercake::source::RepoPath::new("site/a.yaml")];
    let error = layercake::source::Tree::ensure_present(&index, &files).unwrap_err();
    assert_eq!(
        crate::git::describe_error(&error),
        "1 of 1 files of the index are missing in this partial clone; \
         help: run `git fetch --refetch --no-filter` to fetch what a partial clone left out"
    );
}
