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
