//! Encoded text in a file: findings and values have places in the file, and nothing is written to
//! a file that does not exist.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Sandbox;

const PATH: &str = "global/cloud/message";

/// Two parts, the second of which is encoded and has comments that ignore findings, one of them
/// with an unknown rule.
fn repository(text: &str) -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "layercake.yaml",
        "cloud-config: [{name: genesis, parts: ['global/cloud/*']}]\n",
    );
    sandbox.write(PATH, message(text));
    sandbox
}

fn message(text: &str) -> String {
    format!(
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: \
         text/cloud-config\n\n#cloud-config\na: 1\n--b\nContent-Type: \
         text/cloud-config\nContent-Transfer-Encoding: base64\n\n{}\n--b--\n",
        STANDARD.encode(text),
    )
}

const FAULTY: &str = "#cloud-config\nb:\n  c: 2 # layercake: ignore[no-such-rule]\n";

#[test]
fn finding_is_reported_at_its_file() {
    let sandbox = repository(FAULTY);
    let full = sandbox.run(&["lint", "-o", "full"]).stdout;
    assert!(
        full.contains("[global/cloud/message:13, decoded:3:"),
        "{full}"
    );
    assert!(
        full.contains(" 3 │   c: 2 # layercake: ignore[no-such-rule]\n"),
        "{full}"
    );
    let concise = sandbox.run(&["lint", "-o", "concise"]).stdout;
    let line = concise.lines().next().unwrap();
    assert!(line.starts_with("global/cloud/message:13:1: "), "{concise}");
    assert!(line.ends_with(" (decoded, 3:28)"), "{concise}");
    let report = sandbox.run(&["lint", "-o", "json"]).json();
    let primary = &report["findings"][0]["primary"];
    assert_eq!(
        (&primary["file"], &primary["line"]),
        (&PATH.into(), &13.into())
    );
    let decoded = &primary["decoded"];
    assert_eq!(
        (&decoded["name"], &decoded["line"]),
        (&format!("{PATH}#2").into(), &3.into())
    );
}

#[test]
fn value_is_located_in_its_file() {
    let sandbox = repository("#cloud-config\nmerge_how: dict()\nb: 2\n");
    let printed = sandbox
        .run(&["explain-value", "lab", "cloud-config", "genesis", ".b"])
        .stdout;
    assert!(
        printed.contains("set at global/cloud/message:13\n"),
        "{printed}"
    );
    let rendered = sandbox
        .run(&["render", "--schema", "cloud-config", "--with-origin"])
        .stdout;
    assert!(
        rendered.contains("  a: 1  # global/cloud/message:8\n"),
        "{rendered}"
    );
    assert!(
        rendered.contains("  b: 2  # global/cloud/message:13 (decoded, #2:3)\n"),
        "{rendered}"
    );
    for verb in [
        &["impact", "global/cloud/message:13"][..],
        &["impact", PATH],
    ] {
        let printed = sandbox.run(verb).stdout;
        assert!(
            printed.contains("of cloud-config/part global/cloud/message#2"),
            "{printed}"
        );
        assert!(
            printed.contains("reaches 2 outputs in all 2 sites"),
            "{printed}"
        );
    }
    let graph = sandbox.run(&["graph"]).stdout;
    assert!(
        graph.contains("← cloud-config/part global/cloud/message#2  :13\n"),
        "{graph}"
    );
    sandbox.commit();
    sandbox.write(PATH, message("#cloud-config\nmerge_how: dict()\nb: 3\n"));
    let report = sandbox.run(&["diff", "HEAD", "-o", "json"]).json();
    assert_eq!(report["edits"][0]["at"]["head"]["file"], PATH);
    assert_eq!(report["edits"][0]["at"]["head"]["line"], 13);
    // The decoded place is shown beside that of the file, never instead of it.
    assert_eq!(
        report["edits"][0]["at"]["head"]["decoded"]["name"],
        format!("{PATH}#2")
    );
    assert!(
        !report
            .to_string()
            .contains("\"file\":\"global/cloud/message#2\""),
        "{report}"
    );
}

#[test]
fn decoded_text_is_never_written() {
    let sandbox = repository(FAULTY);
    // A file named like the decoded text is a different file.
    sandbox.write(&format!("{PATH}#2"), FAULTY);
    sandbox.write(
        "layercake.yaml",
        "cloud-config: [{name: genesis, parts: ['global/cloud/message']}]\n",
    );
    let before = fs::read_to_string(sandbox.path(PATH)).unwrap();
    let ran = sandbox.run(&["lint", "--add-ignore=why"]);
    let printed = [&ran.stdout[..], &ran.stderr].concat();
    assert!(
        printed.contains("global/cloud/message:13: cannot ignore `invalid-ignore`: "),
        "{printed}"
    );
    sandbox.run(&["lint", "--fix", "--select", "all"]);
    assert_eq!(fs::read_to_string(sandbox.path(PATH)).unwrap(), before);
    assert_eq!(
        fs::read_to_string(sandbox.path(&format!("{PATH}#2"))).unwrap(),
        FAULTY
    );
}

#[test]
fn baseline_names_the_file() {
    let sandbox = repository(FAULTY);
    assert_eq!(sandbox.run(&["baseline", "write"]).code, 0);
    let baseline = fs::read_to_string(sandbox.path(".layercake-baseline.json")).unwrap();
    assert!(
        baseline.contains("\"file\":\"global/cloud/message\""),
        "{baseline}"
    );
    let ran = sandbox.run(&["lint"]);
    assert!(
        ran.stdout.contains("no findings") || ran.code == 0,
        "{ran:?}"
    );
    assert!(!ran.stdout.contains("invalid-ignore"), "{ran:?}");
}

#[test]
fn file_arguments_and_path_settings_match_the_file() {
    let sandbox = repository(FAULTY);
    assert!(
        sandbox
            .rules(&[PATH])
            .contains(&"invalid-ignore".to_owned())
    );
    assert_eq!(sandbox.rules(&["site/lab"]), [""; 0]);
    sandbox.write(
        "layercake.yaml",
        "cloud-config: [{name: genesis, parts: ['global/cloud/*']}]\nrules: {per-path: \
         {'global/cloud/message': {ignore: [invalid-ignore]}}}\n",
    );
    assert_eq!(sandbox.rules(&[]), [""; 0]);
}

#[test]
fn comment_in_a_decoded_text_is_read() {
    let text = "#cloud-config\n# layercake: ignore[invalid-yaml] known\nb: 2\n";
    let sandbox = repository(text);
    assert_eq!(
        sandbox.rules(&[]),
        ["unused-ignore"],
        "the comment suppresses nothing"
    );
    let printed = sandbox.run(&["lint", "-o", "concise"]).stdout;
    assert!(
        printed.starts_with("global/cloud/message:13:1: "),
        "{printed}"
    );
}
