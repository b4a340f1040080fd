//! What a site takes in is read, or an edit of it is of unknown content: never "no edits".

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
        assert!(!is_unchanged && shown.contains("this edit of `added`"), "{shown}");
        sandbox.commit();
        let log = sandbox.run(&["log", "--limit", "1"]).stdout;
        assert!(log.contains("added"), "{log}");
    }
}

/// Texts that cloud-init uses, with `ADDRESS` in a place that is not followed.
const UNFOLLOWED: [&str; 8] = [
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
        let report = sandbox.run(&["lint", "--since", "HEAD", "-o", "json"]).json();
        let statuses = &report["totals"]["by_status"];
        assert_eq!(statuses["not_comparable"], 1, "{text}: {statuses}");
        if text.contains("KNOWN") {
            write("one", "b");
            let report = sandbox.run(&["lint", "--since", "HEAD", "-o", "json"]).json();
            let statuses = &report["totals"]["by_status"];
            assert_eq!((&statuses["changed"], &statuses["not_comparable"]), (&1.into(), &0.into()));
        }
        std::fs::remove_file(sandbox.path("site/lab/cloud/1")).unwrap();
        assert!(!compared(&sandbox).0, "{text} removed");
    }
}
