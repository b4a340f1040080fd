//! Files of further repositories, written as `NAME:path` in settings, comments and the baseline.

use std::fs;

use serde_json::json;

use super::{POLICY, Sandbox, definition, document};

const TWICE: &str = "{a: 1, a: 2}";

/// A site whose layers are in the repository `base` beside it, with a fault in a file that both
/// repositories have.
fn two_repositories() -> Sandbox {
    let sandbox = Sandbox::new();
    let named = "  repositories: {base: {url: https://example.org/base, revision: main}}\n";
    sandbox.write("site/lab/site-definition.yaml", definition("lab", named));
    sandbox.write(
        "type/small/dns.yaml",
        document("dns", "type", "{server: 10.0.0.1}"),
    );
    sandbox.write("global/twice.yaml", document("own", "global", TWICE));
    let base = sandbox.beside("base");
    fs::create_dir_all(base.join("global")).unwrap();
    fs::write(base.join("global/policy.yaml"), POLICY).unwrap();
    fs::write(
        base.join("global/twice.yaml"),
        document("twice", "global", TWICE),
    )
    .unwrap();
    git_in(&sandbox, &["init", "--quiet", "--initial-branch=main"]);
    commit_base(&sandbox);
    sandbox.commit();
    sandbox
}

fn git_in(sandbox: &Sandbox, arguments: &[&str]) {
    let base = sandbox.beside("base");
    sandbox.git(&[&["-C", base.to_str().unwrap()], arguments].concat());
}

fn commit_base(sandbox: &Sandbox) {
    git_in(sandbox, &["add", "--all"]);
    git_in(
        sandbox,
        &["commit", "--quiet", "--allow-empty", "--message=state"],
    );
}

fn with_base<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &["--repository", "base=../base"]].concat()
}

/// `FILE RULE LEVEL` of the findings that are not suppressed.
fn found(sandbox: &Sandbox) -> Vec<String> {
    let findings = sandbox.findings(&with_base(&[]));
    let open = findings.iter().filter(|it| it["suppressed"].is_null());
    let words = open.map(|it| {
        let word = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let [file, rule] = [&it["primary"]["file"], &it["rule"]].map(word);
        format!("{file} {rule} {}", word(&it["severity"]))
    });
    words.collect()
}

#[test]
fn path_settings_begin_with_the_name_of_the_repository() {
    let sandbox = two_repositories();
    let own = "global/twice.yaml duplicate-key warning";
    let further = "base:global/twice.yaml duplicate-key warning";
    assert_eq!(found(&sandbox), [further, own]);
    for (glob, expected) in [
        ("base:global/**", vec![own]),
        ("base:*/**", vec![own]),
        ("global/**", vec![further]),
        ("**/twice.yaml", vec![]),
    ] {
        let settings = format!("rules: {{per-path: {{'{glob}': {{ignore: [duplicate-key]}}}}}}\n");
        sandbox.write("layercake.yaml", settings);
        assert_eq!(found(&sandbox), expected, "{glob}");
    }
    let settings = "rules: {per-path: {'base:*/**': {levels: {duplicate-key: error}}}}\n";
    sandbox.write("layercake.yaml", settings);
    assert_eq!(
        found(&sandbox),
        ["base:global/twice.yaml duplicate-key error", own]
    );
}

#[test]
fn comment_in_a_further_repository_suppresses_findings() {
    let sandbox = two_repositories();
    let comment = "  # layercake: ignore[duplicate-key] as in the manual\n";
    let text = document("twice", "global", TWICE).replace("data: {a", "data:\n  {a");
    let ignored = text.replace("  {a", &format!("{comment}  {{a"));
    fs::write(sandbox.beside("base/global/twice.yaml"), ignored).unwrap();
    commit_base(&sandbox);
    assert_eq!(found(&sandbox), ["global/twice.yaml duplicate-key warning"]);
    let findings = sandbox.findings(&with_base(&["--show-ignored"]));
    let expected = json!({"kind": "comment", "file": "base:global/twice.yaml", "line": 9,
                          "reason": "as in the manual"});
    assert_eq!(findings[0]["suppressed"], expected, "{findings:#?}");
}

#[test]
fn baseline_covers_files_of_further_repositories() {
    let sandbox = two_repositories();
    assert_eq!(sandbox.run(&with_base(&["baseline", "write"])).code, 0);
    let accepted = fs::read_to_string(sandbox.path(".layercake-baseline.json")).unwrap();
    assert!(
        accepted.contains("{\"file\":\"base:global/twice.yaml\","),
        "{accepted}"
    );
    assert_eq!(found(&sandbox), [""; 0]);
    // A new file in that repository is not accepted.
    let other = document("other", "global", TWICE);
    fs::write(sandbox.beside("base/global/other.yaml"), other).unwrap();
    commit_base(&sandbox);
    assert_eq!(
        found(&sandbox),
        ["base:global/other.yaml duplicate-key warning"]
    );
}

/// Fixes and comments for files there are skipped, and reported as skipped.
#[test]
fn nothing_is_written_to_a_further_repository() {
    let sandbox = two_repositories();
    let file = sandbox.beside("base/global/twice.yaml");
    let text = format!(
        "{}# layercake: ignore-file[missing-source] x\n",
        document("t", "global", "{}")
    );
    fs::write(&file, &text).unwrap();
    commit_base(&sandbox);
    sandbox.run(&with_base(&["lint", "--fix", "--select", "all"]));
    let ran = sandbox.run(&with_base(&["lint", "--add-ignore=why", "--select", "all"]));
    assert_eq!(fs::read_to_string(&file).unwrap(), text, "{ran:?}");
    assert!(
        ran.stderr
            .contains("base:global/twice.yaml:9: cannot ignore `unused-ignore`"),
        "{ran:?}"
    );
}
