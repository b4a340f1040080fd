//! Reproducibility: the same input gives the same bytes in every format, in any folder and with any
//! number of threads; an empty report is well-formed.

use std::fs;
use std::path::Path;

use super::readers::{annotations, issues, test_cases};
use super::{timeless, written, written_with};
use crate::cli::{Sandbox, document};
use crate::stories;

const RUNS: [&[&str]; 3] = [
    &["lint"],
    &["lint", "--since", "HEAD", "--all-findings"],
    &["diff", "HEAD"],
];

/// Repository with findings and edits.
fn repository() -> Sandbox {
    let sandbox = stories::of_example("sites");
    sandbox.write(
        "global/another.yaml",
        document("another", "global", "{a: 1}"),
    );
    sandbox.commit();
    sandbox.write(
        "global/another.yaml",
        document("another", "global", "{a: 2, b: [3]}"),
    );
    sandbox.write("site/lab/more.yaml", crate::cli::broken());
    sandbox
}

#[test]
fn output_is_independent_of_threads_and_folders() {
    let sandbox = repository();
    let copy = Sandbox::outside_git();
    copy_all(&sandbox.root, &copy.root);
    for arguments in RUNS {
        let (first, formats) = written(&sandbox, arguments);
        let threads = |count: &'static str| {
            written_with(&sandbox, arguments, move |it| {
                it.env("RAYON_NUM_THREADS", count)
            })
        };
        let from_below = written_with(&sandbox, &[arguments, &["-C", ".."]].concat(), |it| {
            it.current_dir(sandbox.path("global"))
        });
        for (what, (ran, others)) in [
            ("again", written(&sandbox, arguments)),
            ("one thread", threads("1")),
            ("four threads", threads("4")),
            ("a folder below", from_below),
            ("another folder", written(&copy, arguments)),
        ] {
            assert_eq!(ran, first, "{what}");
            for (format, text) in &others {
                let text = timeless(format, text);
                assert_eq!(
                    text,
                    timeless(format, &formats[format]),
                    "{what} -o {format}"
                );
            }
        }
        let folder = sandbox.root.parent().unwrap().to_str().unwrap();
        for (format, text) in &formats {
            assert!(
                !text.contains(folder),
                "-o {format} contains a path of this machine"
            );
        }
    }
}

fn copy_all(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir_all(&to).unwrap();
            copy_all(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).unwrap();
        }
    }
}

#[test]
fn empty_report_is_well_formed() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    for arguments in RUNS {
        let (ran, formats) = written(&sandbox, arguments);
        assert_eq!((ran.code, &*ran.stderr), (0, ""), "{arguments:?}");
        assert_eq!(formats["github"], "");
        assert!(annotations(&formats["github"]).is_empty());
        assert_eq!(issues(&formats["gitlab"]).len(), 0);
        let cases = test_cases(&formats["junit"]);
        assert_eq!(
            (cases.len(), &*cases[0].name),
            (1, "ran"),
            "a report without tests is an error"
        );
        let report: serde_json::Value = serde_json::from_str(&formats["json"]).unwrap();
        assert_eq!(report["findings"], serde_json::json!([]));
        let sarif: serde_json::Value = serde_json::from_str(&formats["sarif"]).unwrap();
        assert_eq!(sarif["runs"][0]["results"], serde_json::json!([]));
        for format in ["markdown", "comment", "html"] {
            assert!(
                formats[format].contains("layercake"),
                "{arguments:?} -o {format}"
            );
        }
    }
}
