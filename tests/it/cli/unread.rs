//! What a site takes in is read, or an edit of it is of unknown content: never "no edits".

use std::collections::BTreeSet;

use super::{Sandbox, document};

/// Whether a comparison with the last commit passes as unchanged, and what it prints.
fn compared(sandbox: &Sandbox) -> (bool, String) {
    let ran = sandbox.run(&["lint", "--since", "HEAD", "--expect-unchanged"]);
    assert!(matches!(ran.code, 0 | 1), "{ran:?}");
    (ran.code == 0, ran.stdout)
}

/// Pegleg skips the files of a hidden folder, and not those of its subfolders (`pegleg.md` 1.2).
#[test]
fn files_are_read_wherever_pegleg_reads_them() {
    let cases = [
        ("site/lab/.d/sub/x.yaml", true),
        ("type/small/.d/sub/x.yaml", true),
        ("global/.d/.e/sub/x.yaml", true),
        ("site/lab/.d/x.yaml", false),
        ("site/lab/.x.yaml", false),
        ("site/lab/tools/sub/x.yaml", false),
        ("site/lab/.d/tools/sub/x.yaml", false),
    ];
    for (path, is_read) in cases {
        let sandbox = Sandbox::with_sites();
        sandbox.commit();
        let layer = path.split('/').next().unwrap();
        sandbox.write(path, document("added", layer, "{a: 1}"));
        let (is_unchanged, shown) = compared(&sandbox);
        assert_eq!(is_unchanged, !is_read, "{path}: {shown}");
        assert_eq!(shown.contains("added"), is_read, "{path}: {shown}");
    }
}

#[cfg(unix)]
#[test]
fn files_whose_names_are_not_utf8_are_read() {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;

    let names: [&[u8]; 5] = [
        b"site/lab/x\xff.yaml",
        b"site/lab/\xff/x.yaml",
        b"type/small/\xff/x.yaml",
        b"global/\xe9.yaml",
        "global/\u{f7ff}.yaml".as_bytes(),
    ];
    for name in names {
        let sandbox = Sandbox::with_sites();
        let file = sandbox.root.join(OsStr::from_bytes(name));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let layer = str::from_utf8(name.split(|byte| *byte == b'/').next().unwrap()).unwrap();
        sandbox.commit();
        if fs::write(&file, document("added", layer, "{a: 1}")).is_err() {
            return; // file systems of macOS have no such names
        }
        let (is_unchanged, shown) = compared(&sandbox);
        assert!(!is_unchanged && shown.contains("added"), "{shown}");
        sandbox.commit();
        let (is_unchanged, shown) = compared(&sandbox);
        assert!(is_unchanged, "the commit has the same file: {shown}");
        fs::write(&file, document("added", layer, "{a: 2}")).unwrap();
        let (is_unchanged, shown) = compared(&sandbox);
        assert!(
            !is_unchanged && shown.contains("this edit of `added`"),
            "{shown}"
        );
        sandbox.commit();
        let log = sandbox.run(&["log", "--limit", "1"]).stdout;
        assert!(log.contains("added"), "{log}");
    }
}

/// Texts that cloud-init uses, with `ADDRESS` in a place that is not followed.
const UNFOLLOWED: [&str; 11] = [
    "#include\nhttps://ADDRESS.example.org/base.yaml\n",
    "#include-once\nhttps://ADDRESS.example.org/base.yaml\n",
    "## template: jinja\n#cloud-config\nruncmd: [[echo, ADDRESS]]\n",
    "#!/bin/sh\necho ADDRESS\n",
    "#cloud-boothook\n#!/bin/sh\necho ADDRESS\n",
    "#part-handler\ndef list_types():\n    return ['text/ADDRESS']\ndef handle_part(*_):\n    pass\n",
    "Content-Type: multipart/mixed; boundary=B\nMIME-Version: 1.0\n\n--B\nContent-Type: \
     text/x-shellscript\n\n#!/bin/sh\necho ADDRESS\n--B\nContent-Type: text/cloud-config\n\n\
     #cloud-config\nruncmd: [[echo, KNOWN]]\n--B--\n",
    "#cloud-config-archive\n- {type: text/cloud-config, content: \"runcmd: [[echo, KNOWN]]\"}\n- {type: \
     text/x-shellscript, content: \"#!/bin/sh\\necho ADDRESS\"}\n",
    "#cloud-config-archive\n- {type: text/x-shellscript, filename: ADDRESS, content: echo}\n",
    "Content-Type: text/x-shellscript\nMIME-Version: 1.0\nContent-Disposition: attachment; \
     filename=\"ADDRESS\"\n\n#!/bin/sh\necho\n",
    "Content-Type: text/cloud-config\nMIME-Version: 1.0\nLaunch-Index: ADDRESS\n\n#cloud-config\n\
     runcmd: [[echo, one]]\n",
];

/// A part of unknown effect makes the output of its set not comparable, and no other.
#[test]
fn edit_of_a_part_that_is_not_followed_is_of_unknown_content() {
    let sets = "cloud-config:\n  - {name: g, parts: ['site/{site}/cloud/*']}\n  \
                - {name: other, parts: ['site/{site}/other/*']}\n";
    for text in UNFOLLOWED {
        let sandbox = Sandbox::with_sites();
        let write = |address: &str, known: &str| {
            let text = text.replace("ADDRESS", address).replace("KNOWN", known);
            sandbox.write("site/lab/cloud/1", text);
        };
        sandbox.write("layercake.yaml", sets);
        sandbox.write("site/lab/cloud/2", "#cloud-config\npackages: [a]\n");
        sandbox.write("site/lab/other/1", "#cloud-config\npackages: [a]\n");
        write("one", "a");
        sandbox.commit();
        assert!(compared(&sandbox).0, "{text}");
        write("evil", "a");
        let (is_unchanged, shown) = compared(&sandbox);
        assert!(!is_unchanged, "{text}: {shown}");
        let report = sandbox
            .run(&["lint", "--since", "HEAD", "-o", "json"])
            .json();
        let statuses = &report["totals"]["by_status"];
        assert_eq!(statuses["not_comparable"], 1, "{text}: {statuses}");
        if text.contains("KNOWN") {
            write("one", "b");
            let report = sandbox
                .run(&["lint", "--since", "HEAD", "-o", "json"])
                .json();
            let statuses = &report["totals"]["by_status"];
            assert_eq!(
                (&statuses["changed"], &statuses["not_comparable"]),
                (&1.into(), &0.into())
            );
        }
        std::fs::remove_file(sandbox.path("site/lab/cloud/1")).unwrap();
        assert!(!compared(&sandbox).0, "{text} removed");
    }
}

/// Moves a folder of a site repository to `shared/`, and links it there.
#[cfg(unix)]
fn link_to_shared(sandbox: &Sandbox, folder: &str) {
    let moved = sandbox.path(&format!("shared/{folder}"));
    std::fs::create_dir_all(moved.parent().unwrap()).unwrap();
    std::fs::rename(sandbox.path(folder), moved).unwrap();
    let up = "../".repeat(folder.matches('/').count());
    std::os::unix::fs::symlink(format!("{up}shared/{folder}"), sandbox.path(folder)).unwrap();
}

/// Pegleg searches the folders of the layers by name, and follows links there, but no links below
/// them (`pegleg.md` 1.2).
#[cfg(unix)]
#[test]
fn links_in_place_of_layer_folders_are_followed() {
    for folder in ["site/lab", "type/small", "global", "site", "type"] {
        let sandbox = Sandbox::with_sites();
        let unlinked = sandbox.run(&["render", "--site", "lab"]).stdout;
        sandbox.commit();
        link_to_shared(&sandbox, folder);
        assert_eq!(
            sandbox.run(&["render", "--site", "lab"]).stdout,
            unlinked,
            "{folder}"
        );
        let (is_unchanged, shown) = compared(&sandbox);
        assert!(
            is_unchanged,
            "the same files, moved behind a link: {folder}: {shown}"
        );
        sandbox.commit();
        assert!(
            compared(&sandbox).0,
            "{folder}: the commit and the files are equal"
        );

        let layer = folder.split('/').next().unwrap();
        let below = if folder == layer { "site/lab" } else { folder };
        let below = if layer == folder && layer != "site" {
            folder
        } else {
            below
        };
        let below = if folder == "type" {
            "type/small"
        } else {
            below
        };
        sandbox.write(
            &format!("shared/{below}/x.yaml"),
            document("added", layer, "{a: 1}"),
        );
        let shown_path = format!("{below}/x.yaml:");
        let (is_unchanged, shown) = compared(&sandbox);
        assert!(
            !is_unchanged && shown.contains(&shown_path),
            "{folder}: {shown}"
        );
        sandbox.git(&["add", "--all"]);
        let staged = sandbox.run(&["lint", "--staged", "--expect-unchanged"]);
        assert!(
            staged.code == 1 && staged.stdout.contains(&shown_path),
            "{folder}: {staged:?}"
        );
        sandbox.commit();
        let sides = ["diff", "HEAD~1", "HEAD", "--expect-unchanged"];
        let committed = sandbox.run(&sides);
        assert!(
            committed.stdout.contains(&shown_path),
            "{folder}: {committed:?}"
        );
        let log = sandbox
            .run(&["log", "--site", "lab", "--limit", "1"])
            .stdout;
        assert!(log.contains("added"), "{folder}: {log}");
        let impact = sandbox.run(&["impact", &format!("{below}/x.yaml")]);
        assert!(
            impact.code == 0 && impact.stdout.contains("added"),
            "{folder}: {impact:?}"
        );

        // No link below these folders is followed.
        sandbox.write("outside/y.yaml", document("other", layer, "{a: 1}"));
        let deeper = sandbox.path(&format!("shared/{below}/deeper"));
        std::os::unix::fs::symlink(sandbox.path("outside"), deeper).unwrap();
        assert!(compared(&sandbox).0, "{folder}");
    }
}

/// An edited link that leads to no folder of the repository is an edit of unknown content of the
/// sites that search it.
#[cfg(unix)]
#[test]
fn links_that_cannot_be_followed_are_of_unknown_content() {
    let targets = [
        (
            "../../outside",
            "a symbolic link that leads out of the repository",
        ),
        ("/usr", "a symbolic link that leads out of the repository"),
        (
            "../.git",
            "a symbolic link that leads out of the repository",
        ),
        ("lab", "a symbolic link that cannot be followed"),
        ("nowhere", "a broken symbolic link"),
        ("../nested", "a symbolic link into a nested repository"),
    ];
    let folders = [
        ("site/lab", &["lab"][..]),
        ("type/small", &["lab", "prod"]),
        ("global", &["lab", "prod"]),
    ];
    for (folder, sites) in folders {
        for (target, reason) in targets {
            let target = match target {
                "lab" => folder.rsplit('/').next().unwrap(),
                "../nested" if folder == "global" => "nested",
                "../.git" if folder == "global" => ".git",
                "../../outside" if folder == "global" => "../outside",
                target => target,
            };
            let sandbox = Sandbox::with_sites();
            sandbox.git(&["init", "--quiet", "nested"]);
            sandbox.write(".gitignore", "nested\n");
            std::fs::create_dir_all(sandbox.beside("outside")).unwrap();
            sandbox.commit();
            std::fs::remove_dir_all(sandbox.path(folder)).unwrap();
            std::os::unix::fs::symlink(target, sandbox.path(folder)).unwrap();
            let (is_unchanged, shown) = compared(&sandbox);
            assert!(!is_unchanged, "{folder} -> {target}: {shown}");
            let report = sandbox.run(&["diff", "-o", "json"]).json();
            let outputs = report["outputs"].as_array().unwrap();
            let statuses: BTreeSet<(&str, &str)> = outputs
                .iter()
                .map(|it| (it["site"].as_str().unwrap(), it["status"].as_str().unwrap()))
                .collect();
            let expected = sites.iter().map(|site| (*site, "not-comparable")).collect();
            assert_eq!(statuses, expected, "{folder} -> {target}");
            let findings = sandbox.findings(&[]);
            let unread = findings.iter().find(|it| it["rule"] == "unreadable-file");
            let unread = unread.unwrap_or_else(|| panic!("{folder} -> {target}: {findings:?}"));
            let message = unread["message"].as_str().unwrap();
            assert!(message.contains(reason), "{folder} -> {target}: {message}");
            assert_eq!(unread["primary"]["file"], folder);
            sandbox.commit();
            assert!(
                compared(&sandbox).0,
                "{folder} -> {target}: the commit has the same link"
            );
            if !target.starts_with('/') && target != "nowhere" && !target.contains("nested") {
                let staged = sandbox.findings(&["--rev", "HEAD"]);
                let is_unread = |it: &serde_json::Value| it["rule"] == "unreadable-file";
                assert!(
                    staged.iter().any(is_unread),
                    "{folder} -> {target}: {staged:?}"
                );
            }
        }
    }
}

/// Links beyond the limit are reported, and their content is unknown.
#[cfg(unix)]
#[test]
fn links_beyond_the_limit_are_of_unknown_content() {
    let sandbox = Sandbox::with_sites();
    for number in 0..=100 {
        let link = sandbox.path(&format!("site/lab-{number:03}"));
        std::os::unix::fs::symlink("lab", link).unwrap();
    }
    let findings = sandbox.findings(&[]);
    let unread = findings.iter().filter(|it| it["rule"] == "unreadable-file");
    let unread: Vec<&str> = unread.map(|it| it["message"].as_str().unwrap()).collect();
    assert_eq!(
        unread,
        ["cannot read file: a symbolic link to a folder after 100 others"]
    );
}

/// An edit of something that is taken in and not read: how it is before and after.
struct Unread {
    /// Row of the table in `docs/limits.md`.
    row: &'static str,
    before: fn(&Sandbox),
    after: fn(&Sandbox),
}

const POINTER: &str = "version https://git-lfs.github.com/spec/v1\noid sha256:";

fn pointer(digit: &str) -> String {
    format!("{POINTER}{}\nsize 12\n", digit.repeat(64))
}

fn set_parts(sandbox: &Sandbox, text: &str) {
    sandbox.write(
        "layercake.yaml",
        "cloud-config:\n  - {name: g, parts: ['site/{site}/cloud/*']}\n",
    );
    sandbox.write("site/lab/cloud/1", text);
}

/// A part for the instance with this index.
fn indexed(index: &str) -> String {
    let part = "content: \"#cloud-config\\nruncmd: [one]\"";
    format!("#cloud-config-archive\n- {{type: text/cloud-config, launch-index: {index}, {part}}}\n")
}

/// An archive with a part handler, and a part for it.
fn handled(sandbox: &Sandbox, content: &str) {
    let handler = "def list_types(): return ['text/own']\\ndef handle_part(*_): pass\\n";
    let archive = format!(
        "#cloud-config-archive\n- {{type: text/part-handler, content: \"{handler}\"}}\n\
         - {{type: text/own, content: {content}}}\n"
    );
    set_parts(sandbox, &archive);
}

fn includes(sandbox: &Sandbox, last: &str) {
    set_parts(sandbox, "#include\n../inc/0\n");
    for number in 0..80 {
        let next = format!("#include\n{}\n", number + 1);
        sandbox.write(&format!("site/lab/inc/{number}"), next);
    }
    sandbox.write(
        "site/lab/inc/80",
        format!("#cloud-config\nruncmd: [{last}]\n"),
    );
}

fn named_revision(sandbox: &Sandbox, revision: &str) {
    let url = "https://example.org/base";
    let more = format!("  repositories: {{base: {{url: {url}, revision: {revision}}}}}\n");
    sandbox.write(
        "site/lab/site-definition.yaml",
        super::definition("lab", &more),
    );
}

#[cfg(unix)]
const UNREAD: [Unread; 16] = [
    Unread {
        row: "a git LFS pointer",
        before: |it| it.write("site/lab/x.yaml", pointer("a")),
        after: |it| it.write("site/lab/x.yaml", pointer("b")),
    },
    Unread {
        row: "a file encrypted by git-crypt, or not UTF-8",
        before: |it| it.write("site/lab/x.yaml", b"\0GITCRYPT\0\xfe one"),
        after: |it| it.write("site/lab/x.yaml", b"\0GITCRYPT\0\xfe two"),
    },
    Unread {
        row: "a file that is larger than a [limit](#what-is-too-large), or too deeply nested",
        before: |it| it.write("site/lab/x.yaml", document("x", "site", "{a: 1}")),
        after: |it| {
            let data = format!("{}{}", "[".repeat(300), "]".repeat(300));
            it.write("site/lab/x.yaml", document("x", "site", &data));
        },
    },
    Unread {
        row: "a file that cannot be opened: without permission, a pipe, or a link that is broken or \
              leads out of the repository",
        before: |it| link(it, "nowhere", "site/lab/x.yaml"),
        after: |it| link(it, "/etc/hostname", "site/lab/x.yaml"),
    },
    Unread {
        row: "text after a YAML syntax error",
        before: |it| it.write("site/lab/x.yaml", document("x", "site", "{a: 1}")),
        after: |it| it.write("site/lab/x.yaml", document("x", "site", "{a: 1")),
    },
    Unread {
        row: "the files of a nested repository",
        before: |it| nested(it, "one"),
        after: |it| nested(it, "two"),
    },
    Unread {
        row: "the files of a repository or revision that was not given",
        before: |it| named_revision(it, "v1"),
        after: |it| named_revision(it, "v2"),
    },
    Unread {
        row: "a folder behind a link that is broken or a loop, leads out of the repository, or \
              follows 100 others",
        before: |it| link(it, "/usr/lib", "type/other"),
        after: |it| {
            std::fs::remove_dir_all(it.path("type/small")).unwrap();
            link(it, "/usr/lib", "type/small");
        },
    },
    Unread {
        row: "a Jinja template (`## template: jinja`)",
        before: |it| set_parts(it, "## template: jinja\n#cloud-config\nruncmd: [one]\n"),
        after: |it| set_parts(it, "## template: jinja\n#cloud-config\nruncmd: [two]\n"),
    },
    Unread {
        row: "a remote `#include` or `#include-once`",
        before: |it| set_parts(it, "#include\nhttps://one.example.org/base.yaml\n"),
        after: |it| set_parts(it, "#include\nhttps://two.example.org/base.yaml\n"),
    },
    Unread {
        row: "a script, a boothook or a part handler",
        before: |it| set_parts(it, "#cloud-boothook\n#!/bin/sh\necho one\n"),
        after: |it| set_parts(it, "#cloud-boothook\n#!/bin/sh\necho two\n"),
    },
    Unread {
        row: "the file name of a script, and the launch index of a part",
        before: |it| set_parts(it, &indexed("0")),
        after: |it| set_parts(it, &indexed("1")),
    },
    Unread {
        row: "user-data in base64, which some platforms decode",
        before: |it| set_parts(it, "I2Nsb3VkLWNvbmZpZwphOiAxCg==\n"),
        after: |it| set_parts(it, "I2Nsb3VkLWNvbmZpZwphOiAyCg==\n"),
    },
    Unread {
        row: "a part of a type that only a part handler accepts",
        before: |it| handled(it, "one"),
        after: |it| handled(it, "two"),
    },
    Unread {
        row: "a file of parts, or one that these include, that cannot be opened",
        before: |it| {
            set_parts(it, "#include\n../inc\n");
            link(it, "nowhere", "site/lab/inc");
        },
        after: |it| link(it, "/etc/hostname", "site/lab/inc"),
    },
    Unread {
        row: "what exceeds a limit of parts, includes or decoded bytes",
        before: |it| includes(it, "one"),
        after: |it| includes(it, "two"),
    },
];

#[cfg(unix)]
fn link(sandbox: &Sandbox, target: &str, path: &str) {
    let path = sandbox.path(path);
    let _ = std::fs::remove_file(&path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(target, path).unwrap();
}

/// A clone below a site, with a document.
fn nested(sandbox: &Sandbox, text: &str) {
    let folder = "site/lab/nested";
    if !sandbox.path(folder).exists() {
        sandbox.git(&["init", "--quiet", folder]);
        sandbox.write(
            ".gitmodules",
            format!("[submodule \"n\"]\n  path = {folder}\n  url = ./n\n"),
        );
    }
    sandbox.write(
        &format!("{folder}/x.yaml"),
        document(text, "site", "{a: 1}"),
    );
    sandbox.git(&["-C", folder, "add", "--all"]);
    sandbox.git(&["-C", folder, "commit", "--quiet", "--message=state"]);
}

/// `docs/limits.md` lists what is taken in and not read. In each row, an edit fails the gates, and
/// the JSON report counts outputs that are not comparable.
#[cfg(unix)]
#[test]
fn every_row_of_the_table_fails_the_gates() {
    let page = include_str!("../../../docs/limits.md");
    let (_, section) = page
        .split_once("\n## What is taken in and not read\n")
        .unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows: Vec<&str> = rows
        .skip(1)
        .map(|row| row.split_once(" | ").unwrap().1)
        .collect();
    let cases: Vec<&str> = UNREAD.iter().map(|case| case.row).collect();
    assert_eq!(rows, cases, "each row of the table has a case");
    for Unread { row, before, after } in UNREAD {
        let sandbox = Sandbox::with_sites();
        before(&sandbox);
        sandbox.commit();
        // What exceeds a limit is never known to be the same.
        assert!(
            compared(&sandbox).0 || row.starts_with("what exceeds"),
            "{row}"
        );
        after(&sandbox);
        let (is_unchanged, shown) = compared(&sandbox);
        assert!(!is_unchanged, "{row}: {shown}");
        let report = sandbox
            .run(&["lint", "--since", "HEAD", "-o", "json"])
            .json();
        let statuses = &report["totals"]["by_status"];
        assert_ne!(statuses["not_comparable"], 0, "{row}: {statuses}");
        let outputs = report["outputs"].as_array().unwrap();
        let sites: BTreeSet<&str> = outputs
            .iter()
            .map(|it| it["site"].as_str().unwrap())
            .collect();
        let is_of_type = row.starts_with("a folder behind a link");
        let expected: &[&str] = if is_of_type {
            &["lab", "prod"]
        } else {
            &["lab"]
        };
        assert_eq!(sites, expected.iter().copied().collect(), "{row}");
    }
}

/// Parts behind links to folders are read, as shells expand globs; `**` follows none.
#[cfg(unix)]
#[test]
fn parts_behind_links_are_read() {
    let links = ["site/lab/cloud", "site/lab"];
    for folder in links {
        let sandbox = Sandbox::with_sites();
        set_parts(&sandbox, "#cloud-config\nruncmd: [one]\n");
        sandbox.commit();
        link_to_shared(&sandbox, folder);
        assert!(
            compared(&sandbox).0,
            "{folder}: the same files, moved behind a link"
        );
        sandbox.commit();
        set_parts(&sandbox, "#cloud-config\nruncmd: [two]\n");
        let (is_unchanged, shown) = compared(&sandbox);
        assert!(
            !is_unchanged && shown.contains("site/lab/cloud/1"),
            "{folder}: {shown}"
        );

        sandbox.commit();
        std::fs::remove_file(sandbox.path(folder)).unwrap();
        link(&sandbox, "/usr/lib", folder);
        let (is_unchanged, shown) = compared(&sandbox);
        assert!(
            !is_unchanged && shown.contains("leads out of the repository"),
            "{folder}: {shown}"
        );
    }
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "layercake.yaml",
        "cloud-config:\n  - {name: g, parts: ['site/lab/**/1']}\n",
    );
    sandbox.write("site/lab/cloud/1", "#cloud-config\nruncmd: [one]\n");
    link(&sandbox, ".", "site/lab/cloud/loop");
    link(&sandbox, "/usr/lib", "site/lab/cloud/out");
    assert_eq!(sandbox.rules(&[]), Vec::<String>::new());
}
