//! Attacks by an untrusted change or an untrusted saved report: replaced files, hidden edits, and
//! reports without end.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value as Json, json};

use super::{Ran, Sandbox, definition, document, formats};

const COMMAND: &str = "site/lab/$(touch PWNED);#.yaml";

/// A repository whose configuration names reports at paths where a developer has other files.
fn with_precious_files(outputs: &str) -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.write(".gitignore", "venv/\n.env\n");
    sandbox.write(
        "layercake.yaml",
        format!("output: {{default: [{outputs}]}}\n"),
    );
    sandbox.commit();
    sandbox.write("venv/bin/activate", "export VIRTUAL_ENV=x\n");
    sandbox.write(".env", "TOKEN=precious\n");
    sandbox.write(COMMAND, document("a", "site", "{a: 1, a: 2}"));
    sandbox.git(&["add", "--all"]);
    sandbox
}

fn assert_precious_files_are_kept(sandbox: &Sandbox, ran: &Ran) {
    let text = |path: &str| fs::read_to_string(sandbox.path(path)).unwrap();
    assert_eq!(text(".env"), "TOKEN=precious\n", "{ran:?}");
    assert_eq!(
        text("venv/bin/activate"),
        "export VIRTUAL_ENV=x\n",
        "{ran:?}"
    );
}

#[test]
fn hook_writes_no_file_that_the_configuration_names() {
    let sandbox = with_precious_files("concise=venv/bin/activate, json=.env, json=new.json");
    for (arguments, variable) in [
        (&["lint", "--staged"][..], None),
        (&["lint"], Some("PRE_COMMIT")),
        (&["lint", "--since", "HEAD"], Some("GIT_INDEX_FILE")),
    ] {
        let mut command = sandbox.command(arguments);
        let value = if variable == Some("PRE_COMMIT") {
            "1"
        } else {
            ".git/index"
        };
        variable.map(|name| command.env(name, value));
        let ran = Ran::of(&command.output().unwrap());
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(
            ran.stdout.contains("duplicate-key"),
            "findings are printed: {ran:?}"
        );
        for left_out in ["concise=venv/bin/activate", "json=.env", "json=new.json"] {
            assert!(ran.stderr.contains(left_out), "{ran:?}");
        }
        assert_precious_files_are_kept(&sandbox, &ran);
        assert!(!sandbox.path("new.json").exists());
    }
    let ran = sandbox.run(&["lint", "--staged", "-o", "json=new.json"]);
    assert!(
        ran.code == 0 && sandbox.path("new.json").exists(),
        "the flag requests it: {ran:?}"
    );
}

#[test]
fn configured_report_replaces_only_a_report() {
    for output in [
        "concise=venv/bin/activate",
        "json=.env",
        "json=venv/bin/activate",
    ] {
        let sandbox = with_precious_files(output);
        let ran = sandbox.run(&["lint"]);
        assert_eq!(ran.code, 2, "{output}: {ran:?}");
        assert!(
            ran.stderr.contains("--output"),
            "the help names the flag: {ran:?}"
        );
        assert_precious_files_are_kept(&sandbox, &ran);
    }
    let named = [
        ("json", "json"),
        ("gitlab", "json"),
        ("sarif", "sarif"),
        ("junit", "xml"),
        ("markdown", "md"),
        ("comment", "md"),
        ("html", "html"),
    ];
    for (format, extension) in named {
        let file = format!("report.{extension}");
        let sandbox = with_precious_files(&format!("{format}={file}"));
        for of in ["nothing", "a report"] {
            let ran = sandbox.run(&["lint"]);
            assert!(ran.code < 2, "{format} in the place of {of}: {ran:?}");
            assert!(
                fs::metadata(sandbox.path(&file)).unwrap().len() > 2,
                "{format}"
            );
        }
        for foreign in [
            "",
            "{}",
            "{\"runs\": []}",
            "[{\"check_name\": \"x\"}]",
            "<html>",
            "#!/bin/sh\n",
        ] {
            sandbox.write(&file, foreign);
            let ran = sandbox.run(&["lint"]);
            assert_eq!(ran.code, 2, "{format} in the place of {foreign}: {ran:?}");
            assert!(
                ran.stderr.contains("layercake did not create it"),
                "{ran:?}"
            );
            assert_eq!(fs::read_to_string(sandbox.path(&file)).unwrap(), foreign);
        }
        fs::remove_file(sandbox.path(&file)).unwrap();
        symlink(".env", sandbox.path(&file)).unwrap();
        let ran = sandbox.run(&["lint"]);
        assert!(
            ran.code == 2 && ran.stderr.contains("is a symbolic link"),
            "{ran:?}"
        );
        assert_precious_files_are_kept(&sandbox, &ran);
    }
}

/// Files that a shell, a build tool or an interpreter would read are not created either.
#[test]
fn configured_report_has_the_extension_of_its_format() {
    for output in [
        "json=.envrc",
        "json=Makefile",
        "html=sitecustomize.py",
        "concise=.envrc",
        "full=a.txt",
        "github=CMakeLists.txt",
        "markdown=setup.sh",
        "sarif=a.md",
        "junit=a.json",
    ] {
        let sandbox = with_precious_files(output);
        let ran = sandbox.run(&["lint"]);
        assert_eq!(ran.code, 2, "{output}: {ran:?}");
        assert!(ran.stderr.contains("`output.default`"), "{ran:?}");
        assert!(
            !sandbox.path(output.split_once('=').unwrap().1).exists(),
            "{output}"
        );
    }
}

#[test]
fn configured_baseline_replaces_only_a_baseline() {
    let sandbox = with_precious_files("full");
    for (file, why) in [
        (".env", "does not end in `.json`"),
        ("a.json", "layercake did not create it"),
    ] {
        sandbox.write("a.json", "{\"mine\": 1}");
        sandbox.write("layercake.yaml", format!("baseline: {file}\n"));
        let ran = sandbox.run(&["baseline", "write"]);
        assert!(ran.code == 2 && ran.stderr.contains(why), "{ran:?}");
        assert_precious_files_are_kept(&sandbox, &ran);
        assert_eq!(
            fs::read_to_string(sandbox.path("a.json")).unwrap(),
            "{\"mine\": 1}"
        );
    }
    fs::remove_file(sandbox.path("a.json")).unwrap();
    for _ in 0..2 {
        let ran = sandbox.run(&["baseline", "write"]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
}

#[test]
fn command_in_a_help_text_quotes_names_for_a_shell() {
    let sandbox = Sandbox::with_sites();
    sandbox.write(COMMAND, document("a", "site", "{a: 0}"));
    sandbox.commit();
    sandbox.git(&["checkout", "--quiet", "-b", "other"]);
    sandbox.write(COMMAND, document("a", "site", "{a: 1}"));
    sandbox.commit();
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.write(COMMAND, document("a", "site", "{a: 2}"));
    sandbox.commit();
    let mut merge = std::process::Command::new("git");
    merge.args([
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "merge",
        "other",
    ]);
    assert!(
        !merge
            .current_dir(&sandbox.root)
            .output()
            .unwrap()
            .status
            .success()
    );
    let ran = sandbox.run(&["lint", "--staged"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.stderr.contains(&format!("`git add '{COMMAND}'`")),
        "{ran:?}"
    );
}

fn pointer_of_lfs(digit: &str) -> String {
    let oid = digit.repeat(64);
    format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 300\n")
}

/// An edit of an unreadable file is reported, and the outputs that it may change do not count as
/// unchanged.
#[test]
fn edit_of_unknown_content_makes_outputs_not_comparable() {
    let broken = |value: &str| format!("{}---\na: [{value}\n", document("big", "site", "{}"));
    let cases: [(&str, [Vec<u8>; 2]); 4] = [
        (
            "site/lab/big.yaml",
            ["a", "b"].map(|it| pointer_of_lfs(it).into_bytes()),
        ),
        (
            "type/small/big.yaml",
            [b"\0GITCRYPT\0abc\xff", b"\0GITCRYPT\0xyz\xff"].map(|it| it.to_vec()),
        ),
        (
            "global/big.yaml",
            [&b"a: \xff1\n"[..], b"a: \xff2\n"].map(<[u8]>::to_vec),
        ),
        (
            "site/lab/big.yaml",
            ["1", "2"].map(|it| broken(it).into_bytes()),
        ),
    ];
    for (path, [before, after]) in cases {
        let sandbox = Sandbox::with_sites();
        sandbox.write(path, &before);
        sandbox.commit();
        let same = sandbox.run(&["diff", "HEAD", "-o", "json"]).json();
        assert_eq!(
            (&same["edits"], &same["outputs"]),
            (&json!([]), &json!([])),
            "{path}"
        );
        sandbox.write(path, &after);
        let report = sandbox.run(&["diff", "HEAD", "-o", "json"]).json();
        assert_eq!(report["edits"][0]["kind"], "file", "{report}");
        let outputs = report["outputs"].as_array().unwrap();
        assert!(!outputs.is_empty(), "{path}");
        assert!(
            outputs.iter().all(|it| it["status"] == "not-comparable"),
            "{path}: {report}"
        );
        let sites = if path.starts_with("site/lab") {
            json!(["lab"])
        } else {
            json!(["lab", "prod"])
        };
        assert_eq!(report["edits"][0]["reach"]["sites"], sites, "{path}");
        assert_eq!(
            report["totals"]["by_status"]["not_comparable"],
            outputs.len()
        );
        for gate in [
            &["--expect-unchanged"][..],
            &["--max-outputs", "0"],
            &["--max-sites", "0"],
            &["--exit-code"],
        ] {
            let ran = sandbox.run(&[&["diff", "HEAD"][..], gate].concat());
            assert_eq!(ran.code, 1, "{path} {gate:?}: {ran:?}");
        }
        let proven = sandbox.run(&["diff", "HEAD", "--verify-attribution"]);
        assert_eq!(proven.code, 0, "{proven:?}");
        for format in ["full", "json", "markdown", "comment", "html"] {
            let ran = sandbox.run(&["lint", "--since", "HEAD", "-o", format]);
            let word = if format == "json" {
                "not-comparable"
            } else {
                "not comparable"
            };
            assert!(ran.stdout.contains(word), "{path}, {format}: {ran:?}");
            assert!(!ran.stdout.contains("safe refactor"), "{format}");
        }
    }
}

/// The content of a file that is read on one side only is unknown on the other, so its documents
/// do not count as added or removed.
#[test]
fn file_read_on_one_side_only_makes_outputs_not_comparable() {
    let both = &["lab", "prod"][..];
    for (path, sites) in [
        ("site/lab/only.yaml", &["lab"][..]),
        ("site/lab/site-definition.yaml", &["lab"]),
        ("type/small/dns.yaml", both),
        ("global/chart.yaml", both),
    ] {
        for opaque in [
            pointer_of_lfs("a").into_bytes(),
            b"\0GITCRYPT\0abc\xff".to_vec(),
            b"a: \xff1\n".to_vec(),
            format!("{}{}", "[".repeat(5_000), "]".repeat(5_000)).into_bytes(),
        ] {
            let sandbox = Sandbox::with_sites();
            sandbox.commit();
            sandbox.write(path, opaque);
            sandbox.commit();
            for sides in [["HEAD~1", "HEAD"], ["HEAD", "HEAD~1"]] {
                assert_not_comparable(&sandbox, &sides, path, sites);
            }
        }
        let sandbox = Sandbox::with_sites();
        sandbox.commit();
        fs::File::create(sandbox.path(path))
            .unwrap()
            .set_len((64 << 20) + 1)
            .unwrap();
        assert_not_comparable(&sandbox, &["HEAD"], path, sites);
        fs::remove_file(sandbox.path(path)).unwrap();
        symlink("/nowhere/else.yaml", sandbox.path(path)).unwrap();
        assert_not_comparable(&sandbox, &["HEAD"], path, sites);
    }
}

/// Asserts that the only edit is of an unreadable file, and that everything it may reach is
/// unknown.
#[track_caller]
fn assert_not_comparable(sandbox: &Sandbox, sides: &[&str], path: &str, sites: &[&str]) {
    let report = sandbox
        .run(&[&["diff", "-o", "json"], sides].concat())
        .json();
    let edits = report["edits"].as_array().unwrap();
    assert_eq!(edits.len(), 1, "{path} {sides:?}: {report}");
    assert_eq!(
        (&edits[0]["kind"], &edits[0]["document"]["name"]),
        (&json!("file"), &json!(path))
    );
    assert_eq!(edits[0]["reach"]["sites"], json!(sites), "{path} {sides:?}");
    assert_eq!(report["shields"], json!([]), "{path} {sides:?}");
    let outputs = report["outputs"].as_array().unwrap();
    let all = if sites.len() == 1 { 5 } else { 10 };
    assert_eq!(outputs.len(), all, "{path} {sides:?}: {report}");
    let is_unknown =
        |it: &Json| it["status"] == "not-comparable" && it["causes"][0]["edit"] == "e1";
    assert!(outputs.iter().all(is_unknown), "{path} {sides:?}: {report}");
    for arguments in [
        &["--expect-unchanged"][..],
        &["--exit-code"],
        &["--max-outputs=0"],
    ] {
        let ran = sandbox.run(&[&["diff"], arguments, sides].concat());
        assert_eq!(ran.code, 1, "{path} {arguments:?}: {ran:?}");
    }
    let proven = sandbox.run(&[&["diff", "--verify-attribution"], sides].concat());
    assert_eq!(proven.code, 0, "{path}: {proven:?}");
}

/// Other edits and their effects stay known.
#[test]
fn edits_beside_an_unread_file_stay_known() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    sandbox.write("global/chart.yaml", pointer_of_lfs("a"));
    sandbox.write(
        "site/lab/only.yaml",
        document("only", "site", "{of: other}"),
    );
    sandbox.write("site/lab/more.yaml", document("more", "site", "{}"));
    fs::remove_file(sandbox.path("site/prod/only.yaml")).unwrap();
    let report = sandbox.run(&["diff", "HEAD", "-o", "json"]).json();
    let known = report["outputs"].as_array().unwrap().iter();
    let known = known.filter(|it| it["status"] != "not-comparable");
    let text = |it: &Json| it.as_str().unwrap().to_owned();
    let mut known: Vec<[String; 3]> = known
        .map(|it| ["site", "name", "status"].map(|key| text(&it[key])))
        .collect();
    known.sort();
    let expected = [
        ["lab", "more", "added"],
        ["lab", "only", "changed"],
        ["prod", "only", "removed"],
    ];
    assert_eq!(known, expected.map(|it| it.map(str::to_owned)), "{report}");
    assert_eq!(
        report["totals"]["by_status"]["not_comparable"], 8,
        "{report}"
    );
}

/// Thousands of such edits do not produce millions of causes.
#[test]
fn causes_of_outputs_that_are_not_comparable_are_limited() {
    let sandbox = Sandbox::with_sites();
    let write = |digit: &str| {
        for file in 0..50 {
            sandbox.write(&format!("global/big{file}.yaml"), pointer_of_lfs(digit));
        }
    };
    write("a");
    sandbox.commit();
    write("b");
    let report = sandbox.run(&["diff", "HEAD", "-o", "json"]).json();
    assert_eq!(report["edits"].as_array().unwrap().len(), 50);
    let outputs = report["outputs"].as_array().unwrap();
    assert_eq!(outputs.len(), 10);
    assert!(
        outputs
            .iter()
            .all(|it| it["causes"].as_array().unwrap().len() == 20),
        "{report}"
    );
    let ran = sandbox.run(&[
        "diff",
        "HEAD",
        "--expect-unchanged",
        "-o",
        "concise",
        "--limit",
        "0",
    ]);
    assert_eq!(
        ran.stdout.matches("unexpected-change").count(),
        50,
        "{ran:?}"
    );
}

/// A link out of the repository that is equal on both sides is not an edit.
#[test]
fn unchanged_unread_file_is_not_an_edit() {
    let sandbox = Sandbox::with_sites();
    symlink("../../../nowhere.yaml", sandbox.path("site/lab/link.yaml")).unwrap();
    sandbox.write("site/lab/big.yaml", pointer_of_lfs("a"));
    sandbox.commit();
    let report = sandbox.run(&["diff", "HEAD", "-o", "json"]).json();
    assert_eq!(
        (&report["edits"], &report["outputs"]),
        (&json!([]), &json!([]))
    );
    fs::remove_file(sandbox.path("site/lab/link.yaml")).unwrap();
    symlink(
        "../../../elsewhere.yaml",
        sandbox.path("site/lab/link.yaml"),
    )
    .unwrap();
    let report = sandbox.run(&["diff", "HEAD", "-o", "json"]).json();
    assert_eq!(report["edits"][0]["kind"], "file", "{report}");
}

/// Every change of a site definition explains the outputs that it adds and removes.
#[test]
fn changed_site_definition_is_explained() {
    let path = "site/lab/site-definition.yaml";
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    let text = fs::read_to_string(sandbox.path(path)).unwrap();
    let other = document("another", "site", "{}");
    let cases = [
        ("a document without content", format!("---\n{text}")),
        ("another document", format!("{other}{text}")),
        ("no document of Deckhand's", format!("---\na: 1\n{text}")),
        ("a text", format!("--- text\n{text}")),
        (
            "a key that is misspelt",
            text.replace("site_type", "site_typ"),
        ),
        ("another type of value", text.replace("small", "[small]")),
        ("no data", text.replace("data:", "dta:")),
        (
            "no metadata",
            text.replace("metadata:", "meta:")
                .replace("small", "[small]"),
        ),
        (
            "another schema",
            text.replace("pegleg/SiteDefinition/v1", "a/B/v1")
                .replace("small", "5"),
        ),
        ("another type", text.replace("small", "large")),
        ("no YAML", "a: [".to_owned()),
        ("nothing", String::new()),
        ("a pointer", pointer_of_lfs("a")),
    ];
    for (name, head) in &cases {
        for (before, after) in [(&text, head), (head, &text)] {
            sandbox.write(path, before);
            sandbox.git(&["add", "--all"]);
            sandbox.git(&["commit", "--quiet", "--allow-empty", "--message=state"]);
            sandbox.write(path, after);
            let ran = sandbox.run(&["diff", "HEAD", "--verify-attribution", "-o", "json"]);
            assert_eq!(ran.code, 0, "{name}: {ran:?}");
            let report = ran.json();
            assert_eq!(report["totals"]["unexplained"], 0, "{name}");
            let changed = report["outputs"].as_array().unwrap();
            assert!(!changed.is_empty(), "{name}: {report}");
        }
    }
    sandbox.write(path, &text);
    sandbox.git(&["commit", "--quiet", "--all", "--message=state"]);
    fs::rename(sandbox.path("site/lab"), sandbox.path("site/lab2")).unwrap();
    sandbox.write("site/lab2/site-definition.yaml", definition("lab2", ""));
    let ran = sandbox.run(&["diff", "HEAD", "--verify-attribution"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

/// The size of a report does not grow with the number of equal findings in a file.
#[test]
fn report_limits_findings_of_one_rule_per_file() {
    let sandbox = Sandbox::with_sites();
    let keys = "a: 1,".repeat(9_999);
    sandbox.write(
        "site/lab/only.yaml",
        document("only", "site", &format!("{{{keys} b: 1}}")),
    );
    sandbox.commit();
    let ran = sandbox.run(&["lint", "-o", "json"]);
    let report = ran.json();
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1_001);
    let count = |finding: &Json| finding["count"].as_u64().unwrap_or(1);
    assert_eq!(
        findings.iter().map(count).sum::<u64>(),
        9_998,
        "the others are counted"
    );
    let row = &report["statistics"][0];
    assert_eq!(
        (&row["rule"], &row["count"]),
        (&json!("duplicate-key"), &json!(9_998))
    );
    for format in ["full", "html", "markdown", "comment"] {
        let text = sandbox.run(&["lint", "-o", format]).stdout;
        assert!(text.contains("9998 warnings"), "{format} counts others");
    }
    let full = sandbox.run(&["lint", "--limit", "0"]).stdout;
    assert!(full.contains("8998 more findings of this rule in this file are not listed"));
    sandbox.write("saved.json", &ran.stdout);
    for format in formats() {
        let text = sandbox.run(&["lint", "-o", format]).stdout;
        assert!(text.len() < 4 << 20, "{format}: {} bytes", text.len());
        let printed = sandbox.run(&["report", "saved.json", "-o", format]).stdout;
        assert!(
            printed.len() < 4 << 20,
            "{format} of a saved report: {} bytes",
            printed.len()
        );
    }
    let fails = sandbox.run(&["lint", "--fail-on", "warning", "-o", "concise"]);
    assert_eq!(fails.code, 1, "omitted findings count too");
}

#[test]
fn text_quoted_in_findings_is_clipped() {
    let sandbox = Sandbox::with_sites();
    let key = "k".repeat(100_000);
    let data = format!("{{\"{key}\": 1, \"{key}\": 2}}");
    sandbox.write("site/lab/only.yaml", document("only", "site", &data));
    for format in formats() {
        let text = sandbox.run(&["lint", "-o", format]).stdout;
        assert!(
            !text.contains(&"k".repeat(5_000)),
            "{format}: {} bytes",
            text.len()
        );
    }
}

/// `report` rejects what its schema does not allow, and names the field.
#[test]
fn forged_report_is_refused_by_its_field() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    sandbox.write(
        "site/lab/only.yaml",
        document("only", "site", "{a: 1, a: 2}"),
    );
    let ran = sandbox.run(&["lint", "--since", "HEAD", "-o", "json"]);
    let report: Json = serde_json::from_str(&ran.stdout).unwrap();
    let far = json!(1e300);
    let forgeries = [
        ("/unknown", json!(1)),
        ("/findings/0/unknown", json!("x")),
        ("/comparison/base/commit", json!("HEAD; rm -rf .")),
        ("/comparison/base/commit", json!("A".repeat(40))),
        ("/comparison/base/name", json!("--upload-pack=x")),
        ("/comparison/chosen_by", json!("a\nb")),
        ("/findings/0/primary/file", json!("../../etc/passwd")),
        ("/findings/0/primary/file", json!("/etc/passwd")),
        ("/findings/0/primary/file", json!("a/../b")),
        ("/findings/0/severity", json!("fatal")),
        ("/findings/0/rule", json!("a\u{1b}[2J")),
        ("/findings/0/fingerprint", json!("$(id)")),
        ("/findings/0/count", json!(0)),
        ("/edits/0/id", json!("e0")),
        ("/links", json!("javascript:alert(1)//")),
        ("/totals/outputs", json!(-1)),
        ("/totals/outputs", far),
        ("/tool/version", json!("1\n::error::x")),
    ];
    for (pointer, forged) in forgeries {
        let mut other = report.clone();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        other.pointer_mut(parent).unwrap()[key] = forged;
        sandbox.write("forged.json", other.to_string());
        let ran = sandbox.run(&["report", "forged.json", "-o", "markdown"]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (2, ""),
            "{pointer}: {ran:?}"
        );
        assert!(
            ran.stderr.contains("cannot read the report") && ran.stderr.len() < 2_000,
            "{ran:?}"
        );
    }
    let mut other = report.clone();
    other["comparison"]["base"]["commit"] = json!("x");
    sandbox.write("forged.json", other.to_string());
    let ran = sandbox.run(&["report", "forged.json"]);
    assert!(ran.stderr.contains("`/comparison/base/commit`"), "{ran:?}");
    sandbox.write(
        "forged.json",
        format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)),
    );
    assert_eq!(sandbox.run(&["report", "forged.json"]).code, 2);
    sandbox.write("forged.json", report.to_string());
    assert_eq!(
        sandbox
            .run(&["report", "forged.json", "-o", "markdown"])
            .code,
        0,
        "this one is real"
    );
}
