//! `layercake cloud-config`, with parts from every kind of source.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::json;

use super::Sandbox;

const BASE: &str = "#cloud-config\nz: 1\nruncmd: [bash1, bash2]\n";
const APPENDING: &str =
    "#cloud-config\nmerge_how: dict(recurse_list)+list(append)\nruncmd: [bash3]\n";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::outside_git();
    sandbox.write("base.yaml", BASE);
    sandbox.write("appending.yaml", APPENDING);
    sandbox.write("plain.yaml", "#cloud-config\nruncmd: [bash3]\n");
    sandbox
}

#[test]
fn parts_are_merged_in_their_order_and_keys_are_sorted() {
    let ran = sandbox().run(&["cloud-config", "base.yaml", "appending.yaml"]);
    let merged = "#cloud-config\nruncmd:\n- bash1\n- bash2\n- bash3\nz: 1\n";
    assert_eq!((ran.code, &*ran.stdout, &*ran.stderr), (0, merged, ""));
}

#[test]
fn each_value_names_its_line() {
    let ran = sandbox().run(&[
        "cloud-config",
        "base.yaml",
        "appending.yaml",
        "--with-origin",
    ]);
    let expected = "#cloud-config
runcmd:
- bash1  # base.yaml:3
- bash2  # base.yaml:3
- bash3  # appending.yaml:3
z: 1  # base.yaml:2
";
    assert_eq!(ran.stdout, expected);
}

#[test]
fn header_sets_the_merge_type_of_a_part() {
    let sandbox = sandbox();
    let header = "2=list(append)+dict(recurse_list)";
    let ran = sandbox.run(&[
        "cloud-config",
        "base.yaml",
        "plain.yaml",
        "--merge-type",
        header,
    ]);
    assert_eq!(
        ran.stdout,
        "#cloud-config\nruncmd:\n- bash1\n- bash2\n- bash3\nz: 1\n"
    );
    let ran = sandbox.run(&[
        "cloud-config",
        "base.yaml",
        "plain.yaml",
        "--merge-type",
        "3=list()",
    ]);
    assert_eq!((ran.code, &*ran.stdout), (2, ""));
    assert!(ran.stderr.contains("no part 3"), "{}", ran.stderr);
}

#[test]
fn sources_are_merged_in_order_of_precedence() {
    let sandbox = sandbox();
    sandbox.write(
        "cloud.cfg",
        "a: base\nb: base\nc: base\nd: base\nlist: [base]\n",
    );
    sandbox.write("cloud.cfg.d/10-a.cfg", "a: ten\nb: ten\nc: ten\n");
    sandbox.write("cloud.cfg.d/9-b.cfg", "a: nine\nb: nine\n");
    sandbox.write("cloud.cfg.d/README", "a: readme\n");
    sandbox.write("cloud.cfg.d/deeper/99.cfg", "a: deeper\n");
    sandbox.write(
        "vendor.yaml",
        "#cloud-config\na: vendor\nv: {one: vendor}\n",
    );
    sandbox.write(
        "vendor2.yaml",
        "#cloud-config\na: vendor2\nv: {one: vendor2, two: 2}\n",
    );
    sandbox.write("user", "#cloud-config\na: user\n");
    let system = [
        "cloud-config",
        "--base",
        "cloud.cfg",
        "--conf-d",
        "cloud.cfg.d",
    ];
    let ran = sandbox.run(&system);
    let expected = "#cloud-config\na: nine\nb: nine\nc: ten\nd: base\nlist:\n- base\n";
    assert_eq!((ran.code, &*ran.stdout), (0, expected), "{}", ran.stderr);
    let all = [
        "--vendor-data",
        "vendor.yaml",
        "--vendor-data2",
        "vendor2.yaml",
    ];
    let ran = sandbox.run(&[&system[..], &all, &["--user-data", "user"]].concat());
    let expected = "#cloud-config\na: user\nb: nine\nc: ten\nd: base\nlist:\n- base\nv:\n  one: vendor2\n  two: 2\n";
    assert_eq!((ran.code, &*ran.stdout), (0, expected), "{}", ran.stderr);
}

#[test]
fn cloud_cfg_works_without_conf_d() {
    let sandbox = sandbox();
    sandbox.write("cloud.cfg", "conf_d: ''\na: base\n");
    sandbox.write("cloud.cfg.d/10-a.cfg", "a: ten\n");
    let ran = sandbox.run(&[
        "cloud-config",
        "--base",
        "cloud.cfg",
        "--conf-d",
        "cloud.cfg.d",
    ]);
    assert_eq!(ran.stdout, "#cloud-config\na: base\nconf_d: \"\"\n");
}

#[test]
fn message_is_one_file_of_user_data() {
    let sandbox = sandbox();
    sandbox.write(
        "message",
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n--B\n\
         Content-Type: text/cloud-config\n\nl: [1]\n--B\nContent-Type: text/cloud-config\n\
         Merge-Type: dict(recurse_list)+list(append)\n\nl: [2]\n--B--\n",
    );
    let ran = sandbox.run(&["cloud-config", "--user-data", "message"]);
    assert_eq!(
        (ran.code, &*ran.stdout),
        (0, "#cloud-config\nl:\n- 1\n- 2\n"),
        "{}",
        ran.stderr
    );
}

#[test]
fn included_files_are_found_beside_the_including_file() {
    let sandbox = sandbox();
    sandbox.write("inside/user", "#include\nplain.yaml\n");
    sandbox.write("inside/plain.yaml", "#cloud-config\nhere: true\n");
    let ran = sandbox.run(&["cloud-config", "--user-data", "inside/user"]);
    assert_eq!(
        (ran.code, &*ran.stdout),
        (0, "#cloud-config\nhere: true\n"),
        "{}",
        ran.stderr
    );
}

#[test]
fn standard_input_is_a_part() {
    let sandbox = sandbox();
    let mut child = Command::new(env!("CARGO_BIN_EXE_layercake"))
        .args(["cloud-config", "base.yaml", "-", "-o", "json"])
        .current_dir(&sandbox.root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(APPENDING.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let document = &printed["sites"][0]["documents"][0];
    assert_eq!(
        document["data"],
        json!({"runcmd": ["bash1", "bash2", "bash3"], "z": 1})
    );
}

#[test]
fn dropped_part_is_an_error_and_the_rest_is_printed() {
    let sandbox = sandbox();
    sandbox.write(
        "broken.yaml",
        "#cloud-config\nmerge_how: dict(recurse_list\nruncmd: [bash3]\n",
    );
    let ran = sandbox.run(&["cloud-config", "base.yaml", "broken.yaml"]);
    let merged = "#cloud-config\nruncmd:\n- bash1\n- bash2\nz: 1\n";
    assert_eq!((ran.code, &*ran.stdout), (1, merged), "{}", ran.stderr);
    assert!(ran.stderr.contains("broken.yaml:2:"), "{}", ran.stderr);
    assert!(ran.stderr.contains("1 error"), "{}", ran.stderr);
}

#[test]
fn dialect_of_2013_can_be_selected() {
    let arguments = [
        "cloud-config",
        "base.yaml",
        "plain.yaml",
        "--dialect",
        "documented",
    ];
    let ran = sandbox().run(&arguments);
    assert_eq!(
        ran.stdout,
        "#cloud-config\nruncmd:\n- bash1\n- bash2\n- bash3\nz: 1\n"
    );
}

#[test]
fn unmergeable_input_is_a_usage_error() {
    let sandbox = sandbox();
    let refused: [(&[&str], &str); 7] = [
        (&[], "no parts given"),
        (&["missing.yaml"], "`missing.yaml` not found"),
        (&["base.yaml", "./base.yaml"], "given twice"),
        (
            &["base.yaml", "--user-data", "plain.yaml"],
            "cannot be used with",
        ),
        (
            &["base.yaml", "--merge-type", "list()"],
            "invalid value `list()`",
        ),
        (
            &["--dialect", "documented"],
            "`--dialect` needs parts given as arguments",
        ),
        (&["base.yaml", "--set", "genesis"], "cannot be used with"),
    ];
    for (arguments, message) in refused {
        let ran = sandbox.run(&[&["cloud-config"], arguments].concat());
        assert_eq!((ran.code, &*ran.stdout), (2, ""), "{arguments:?}");
        assert!(
            ran.stderr.contains(message),
            "{arguments:?}: {}",
            ran.stderr
        );
    }
}

/// A repository with two sites and two sets.
fn repository() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.write("global/user-data/10.yaml", "#cloud-config\nl: [global]\n");
    sandbox.write("site/lab/user-data/20.yaml", "#cloud-config\nl: [lab]\n");
    sandbox.write("site/lab/secret/user-data", "#cloud-config\nkey: hunter2\n");
    sandbox.write(
        "layercake.yaml",
        "cloud-config:\n\
         - name: genesis\n  parts: [global/user-data/*, 'site/{site}/user-data/*']\n\
         - name: keys\n  parts: ['site/{site}/secret/*']\n  secret: true\n",
    );
    sandbox
}

#[test]
fn sets_of_a_repository_are_merged_for_each_site() {
    let sandbox = repository();
    let ran = sandbox.run(&["cloud-config"]);
    let expected = "---
# lab · genesis
#cloud-config
l:
- lab
---
# lab · keys
#cloud-config
(hidden)
---
# prod · genesis
#cloud-config
l:
- global
";
    assert_eq!((ran.code, &*ran.stdout), (0, expected), "{}", ran.stderr);
    let ran = sandbox.run(&[
        "cloud-config",
        "--site",
        "lab",
        "--set",
        "gen*",
        "--with-origin",
    ]);
    assert_eq!(
        ran.stdout,
        "#cloud-config\nl:\n- lab  # site/lab/user-data/20.yaml:2\n"
    );
    let ran = sandbox.run(&["cloud-config", "--set", "other"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("the sets are: genesis, keys"),
        "{}",
        ran.stderr
    );
}

#[test]
fn part_of_a_secret_set_is_hidden_when_named_as_a_file() {
    let sandbox = repository();
    for format in ["yaml", "json"] {
        let file = "site/lab/secret/user-data";
        let ran = sandbox.run(&["cloud-config", file, "-o", format]);
        assert!(
            !(ran.stdout.clone() + &ran.stderr).contains("hunter2"),
            "{}",
            ran.stdout
        );
        assert!(ran.stdout.contains("(hidden)"));
    }
}

#[test]
fn sets_need_no_sites() {
    let sandbox = sandbox();
    sandbox.git(&["init", "--quiet"]);
    sandbox.write(
        "layercake.yaml",
        "cloud-config: [{name: both, parts: [base.yaml, plain.yaml], dialect: current}]\n",
    );
    let ran = sandbox.run(&["cloud-config"]);
    let expected = "#cloud-config\nruncmd:\n- bash3\nz: 1\n";
    assert_eq!((ran.code, &*ran.stdout), (0, expected), "{}", ran.stderr);
}

/// Only merged documents are checked; faults elsewhere are left to `lint`.
#[test]
fn errors_outside_merged_documents_are_ignored() {
    let sandbox = repository();
    sandbox.break_site("prod");
    let lint = sandbox.run(&["lint"]);
    assert_eq!(lint.code, 1, "{}", lint.stdout);
    let ran = sandbox.run(&["cloud-config", "--set", "genesis"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    sandbox.write(
        "site/prod/user-data/20.yaml",
        "#cloud-config\n- no mapping\n",
    );
    let ran = sandbox.run(&["cloud-config", "--set", "genesis"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("1 error"), "{}", ran.stderr);
}

#[test]
fn folder_of_nocloud_is_read() {
    let sandbox = Sandbox::outside_git();
    let run = |arguments: &[&str]| sandbox.run(&[&["cloud-config"], arguments].concat());
    sandbox.write("seed/user-data", "#cloud-config\nusers: [user]\n");
    sandbox.write("seed/meta-data", "instance-id: one\n");
    sandbox.write("seed/network-config", "version: 2\n");
    let expected = "#cloud-config\nusers:\n- user\n";
    for arguments in [&["seed"][..], &["--user-data", "seed/"]] {
        let ran = run(arguments);
        assert_eq!((ran.code, &*ran.stdout, &*ran.stderr), (0, expected, ""));
    }
    sandbox.write("seed/vendor-data", "#cloud-config\nusers: [vendor]\n");
    let ran = run(&["seed", "-o", "concise"]);
    let finding =
        "seed/user-data:2:1: error[lost-keys] `.users` of vendor-data is lost: user-data has it\n";
    assert_eq!((ran.code, &*ran.stdout), (1, finding));
    sandbox.write("other", "#cloud-config\nother: 1\n");
    let ran = run(&["seed", "--vendor-data", "other"]);
    assert_eq!((ran.code, ran.stdout.contains("other: 1")), (0, true));
    assert_eq!(run(&["seed", "other"]).code, 2);
    sandbox.write("empty/vendor-data", "#cloud-config\n");
    let ran = run(&["empty"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("empty/user-data"),
        "{ran:?}"
    );
}

#[test]
fn findings_are_a_gate() {
    let sandbox = sandbox();
    sandbox.write("list.yaml", "#cloud-config\nown_commands: [bash3]\n");
    sandbox.write("lost.yaml", "#cloud-config\nown_commands: [bash4]\n");
    let parts = ["cloud-config", "list.yaml", "lost.yaml"];
    let run = |flags: &[&str]| sandbox.run(&[&parts[..], flags].concat());
    let usual = run(&[]);
    assert_eq!(usual.code, 0, "{usual:?}");
    assert!(usual.stderr.contains("[lost-keys]"), "{usual:?}");
    assert_eq!(run(&["--fail-on", "warning"]).code, 1);
    assert_eq!(
        run(&["--fail-on", "warning", "--ignore", "lost-keys"]).code,
        0
    );
    assert_eq!(
        run(&["--fail-on", "warning", "--select", "dropped-part"]).code,
        0
    );
    let broken = [
        "cloud-config",
        "base.yaml",
        "broken.yaml",
        "--fail-on",
        "never",
    ];
    sandbox.write(
        "broken.yaml",
        "#cloud-config\nmerge_how: dict(recurse_list\n",
    );
    assert_eq!(sandbox.run(&broken).code, 0);
}

#[test]
fn reports_of_findings_replace_the_merged_parts() {
    let sandbox = sandbox();
    sandbox.write("lost.yaml", "#cloud-config\nruncmd: [bash4]\n");
    let run = |format: &str| sandbox.run(&["cloud-config", "base.yaml", "lost.yaml", "-o", format]);
    let parsed = |format: &str| {
        let ran = run(format);
        let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        (json, ran.stderr)
    };
    let (sarif, errors) = parsed("sarif");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(
        (&result["ruleId"], errors.as_str()),
        (&json!("lost-keys"), "")
    );
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "lost.yaml");
    let (merged, errors) = parsed("json");
    assert_eq!(merged["report"]["findings"][0]["rule"], "lost-keys");
    assert_eq!(
        merged["sites"][0]["documents"][0]["data"]["runcmd"],
        json!(["bash4"])
    );
    assert!(errors.contains("[lost-keys]"), "{errors}");
    let github = run("github").stdout;
    assert!(
        github.starts_with("::") && github.contains("file=lost.yaml"),
        "{github}"
    );
    assert_eq!(run("xml").code, 2);
}

#[test]
fn findings_of_declared_sets_are_shown() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "layercake.yaml",
        "cloud-config:\n  - {name: all, parts: ['parts/*.yaml']}\n",
    );
    sandbox.write("parts/1.yaml", BASE);
    sandbox.write(
        "parts/2.yaml",
        "#cloud-config\nmerge_how: list(append)\nruncmd: [bash3]\n",
    );
    let ran = sandbox.run(&["cloud-config"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.stderr.contains("error[missing-merge-class]"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("parts/2.yaml:2:"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("layercake lint"), "{}", ran.stderr);
}

#[test]
fn origin_in_an_encoded_part_names_the_part_and_its_line() {
    let sandbox = sandbox();
    sandbox.write(
        "message",
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n--B\n\
         Content-Type: text/cloud-config\n\nl: [1]\n--B\nContent-Type: text/cloud-config\n\
         Content-Transfer-Encoding: base64\nContent-Disposition: attachment; filename=\"two\"\n\n\
         IyBjb21tZW50CmE6CiAgYjogMgo=\n--B--\n",
    );
    let ran = sandbox.run(&["cloud-config", "--user-data", "message", "--with-origin"]);
    let lines: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.contains("b: 2"))
        .collect();
    assert_eq!(
        lines,
        ["  b: 2  # message:13 (decoded, #2:3)"],
        "{}",
        ran.stdout
    );
}
