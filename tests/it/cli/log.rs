//! `log`: one changed value of each commit, and what the commit may break.

use serde_json::{Value as Json, json};

use super::blame::{chart, versions};
use super::{Ran, Sandbox, document};

impl Sandbox {
    /// Commits in the log as JSON, newest first.
    fn logged(&self, arguments: &[&str]) -> Vec<Json> {
        let ran = self.run(&[&["log", "-o", "json"], arguments].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
        ran.json()["commits"].as_array().expect("commits").clone()
    }
}

#[test]
fn commit_has_the_change_of_the_document_in_most_sites() {
    let sandbox = Sandbox::with_image();
    sandbox.write("global/versions.yaml", versions("1.1"));
    sandbox.write(
        "site/lab/only.yaml",
        document("only", "site", "{of: other}"),
    );
    sandbox.committed("second");
    let screen = sandbox.screen(&["log", "--limit", "1"]);
    let expected = "\
COMMIT  2026-01-31  Tester  second
    5 outputs in 2 sites, 2 of them in untouched files
    chart, versions, only
    chart .image: registry/keystone:1.0 → registry/keystone:1.1

earlier commits are left out (--limit)
";
    assert_eq!(screen, expected);
    let commit = &sandbox.logged(&["--limit", "1"])[0];
    assert_eq!(commit["danger"], Json::Null);
    let expected = json!({
        "site": "lab",
        "document": {"schema": "example/Any/v1", "layer": "global", "name": "chart"},
        "path": ".image",
        "before": "registry/keystone:1.0",
        "after": "registry/keystone:1.1",
        "summary": null,
    });
    assert_eq!(commit["change"], expected);
}

#[test]
fn change_is_cut_to_the_width_around_the_difference() {
    let sandbox = Sandbox::with_image();
    sandbox.write("global/versions.yaml", versions("1.1"));
    sandbox.committed("second");
    let mut command = sandbox.command(&["log", "--limit", "1"]);
    let ran = Ran::of(&command.env("COLUMNS", "48").output().unwrap());
    let line = "    chart .image: …keystone:1.0 → …keystone:1.1\n";
    assert!(ran.stdout.contains(line), "{ran:?}");
}

#[test]
fn most_dangerous_change_precedes_others() {
    let sandbox = Sandbox::with_sites();
    let only = |data: &str| document("only", "site", data);
    let image = |tag: &str| format!("registry/keystone:{tag}");
    let data = |tag: &str, rest: &str| format!("{{a: {tag}, image: \"{}\"{rest}}}", image(tag));
    sandbox.write(
        "site/lab/only.yaml",
        only(&data("1.0", ", pair: {b: 1, c: 2}, d: {e: 1}")),
    );
    sandbox.committed("first");
    sandbox.write(
        "site/lab/only.yaml",
        only(&data("latest", ", d: {f: 1, g: 2, h: 3}")),
    );
    sandbox.committed("second");
    let screen = sandbox.screen(&["log", "--limit", "1"]);
    let expected = "    \
    removes 2 values in 1 output · 1 output leaves a pinned revision or image
    only
    - .pair: 2 values (b, c)
";
    assert!(screen.contains(expected), "{screen}");
    let commit = &sandbox.logged(&["--limit", "1"])[0];
    assert_eq!(commit["danger"], "removed-values");
    let losses = json!({
        "removed_outputs": 0,
        "broken_outputs": 0,
        "removed_values": 2,
        "outputs_losing_values": 1,
        "unpinned_outputs": 1,
        "exposed_outputs": 0,
    });
    assert_eq!(commit["losses"], losses);
    let change = json!({
        "path": ".pair", "before": "2 values (b, c)", "after": null, "summary": null,
    });
    assert_eq!(commit["sites"][0]["outputs"][0]["change"], change);
}

#[test]
fn danger_is_described_as_in_a_comparison() {
    let sandbox = Sandbox::with_image();
    sandbox.write("global/versions.yaml", versions("latest"));
    sandbox.committed("second");
    let words = "4 outputs leave a pinned revision or image";
    let log = sandbox.screen(&["log", "--limit", "1"]);
    assert!(log.contains(&format!("    {words}\n")), "{log}");
    let lint = sandbox.run(&["lint", "--from", "HEAD~1", "--to", "HEAD"]);
    assert!(lint.stdout.contains(words), "{lint:?}");
}

#[test]
fn lost_encryption_is_a_danger() {
    let sandbox = Sandbox::with_sites();
    let secret = document("pass", "site", "sesame").replace("cleartext", "encrypted");
    sandbox.write("site/lab/pass.yaml", &secret);
    sandbox.committed("first");
    sandbox.write(
        "site/lab/pass.yaml",
        secret.replace("encrypted", "cleartext"),
    );
    sandbox.committed("second");
    let screen = sandbox.screen(&["log", "--limit", "1"]);
    let expected = "    \
    1 output is no longer encrypted
    pass
    metadata.storagePolicy: encrypted → cleartext
";
    assert!(screen.contains(expected), "{screen}");
    assert_eq!(sandbox.logged(&["--limit", "1"])[0]["danger"], "exposed");
}

#[test]
fn removed_outputs_have_no_value() {
    let sandbox = Sandbox::with_image();
    std::fs::remove_file(sandbox.path("site/lab/only.yaml")).unwrap();
    sandbox.committed("second");
    let screen = sandbox.screen(&["log", "--limit", "1"]);
    let expected = "\
COMMIT  2026-01-31  Tester  second
    1 output in 1 site
    1 output removed
    only

";
    assert!(screen.starts_with(expected), "{screen}");
    let commit = &sandbox.logged(&["--limit", "1"])[0];
    assert_eq!(
        (&commit["danger"], &commit["change"]),
        (&"removed-output".into(), &Json::Null)
    );
}

#[test]
fn secret_values_are_hidden() {
    let sandbox = Sandbox::with_sites();
    let secret = |text: &str| {
        document("pass", "site", text)
            .replace("cleartext", "encrypted")
            .replace("example/Any/v1", "deckhand/Passphrase/v1")
    };
    sandbox.write("site/lab/secrets/pass.yaml", secret("sesame-one"));
    sandbox.committed("first");
    sandbox.write("site/lab/secrets/pass.yaml", secret("sesame-two"));
    sandbox.committed("second");
    let screen = sandbox.screen(&["log", "--limit", "1"]);
    assert!(screen.contains("    .: replaced (hidden)\n"), "{screen}");
    for format in ["text", "json", "markdown"] {
        let ran = sandbox.run(&["log", "-o", format]);
        assert!(!ran.stdout.contains("sesame"), "{ran:?}");
    }
}

#[test]
fn merge_has_only_values_that_differ_from_all_parents() {
    let sandbox = Sandbox::with_sites();
    let only =
        |a: &str, b: u8, c: u8| document("only", "site", &format!("{{a: {a}, b: {b}, c: {c}}}"));
    sandbox.write("site/lab/only.yaml", only("{d: 1, e: 2}", 1, 1));
    sandbox.committed("first");
    sandbox.git(&["checkout", "--quiet", "-b", "topic"]);
    sandbox.write("site/lab/only.yaml", only("null", 1, 1));
    sandbox.committed("topic");
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.write("site/lab/only.yaml", only("{d: 1, e: 2}", 2, 1));
    sandbox.committed("main");
    sandbox.git(&["merge", "--quiet", "--no-commit", "-s", "ours", "topic"]);
    sandbox.write("site/lab/only.yaml", only("null", 2, 3));
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message=merge"]);
    let screen = sandbox.screen(&["log", "--limit", "1"]);
    assert!(screen.contains("    only\n    .c: 1 → 3\n"), "{screen}");
    let screen = sandbox.screen(&["log", "--limit", "1", "--first-parent"]);
    assert!(!screen.contains(".c: 1 → 3"), "{screen}");
}

#[test]
fn table_has_the_change_and_the_danger() {
    let sandbox = Sandbox::with_image();
    sandbox.write("global/versions.yaml", versions("latest"));
    sandbox.write("global/chart.yaml", chart("{replicas: 1, pipe: \"a|b\"}"));
    sandbox.committed("second");
    let ran = sandbox.run(&["log", "--limit", "1", "-o", "markdown"]);
    let row = ran.stdout.lines().nth(2).unwrap_or_default();
    let expected = " | 4 outputs in 2 sites | chart .image: `registry/keystone:1.0` → \
                    `registry/keystone:latest` | 4 outputs leave a pinned revision or image |";
    assert!(row.ends_with(expected), "{row}");
}
