//! Order and wording of answers to people.

use super::{Sandbox, document};

/// A document that inherits from `shared` in the global layer.
fn child(site: &str, data: &str) -> String {
    let text = document("shared", "site", data)
        .replace("  name: shared", "  name: shared\n  replacement: true");
    text.replace(
        "layer: site}",
        "layer: site, parentSelector: {name: shared}, actions: [{method: merge, path: .}]}",
    )
    .replace("---\n", &format!("---\n# {site}\n"))
}

/// Seven sites that share a document, of which some override the value.
fn seven_sites(overriding: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_sites();
    let shared = document("shared", "global", "{value: 1}");
    let shared = shared.replace("  name: shared", "  name: shared\n  labels: {name: shared}");
    sandbox.write("global/shared.yaml", &shared);
    std::fs::remove_dir_all(sandbox.path("site")).unwrap();
    for site in [
        "one-a", "one-b", "one-c", "one-d", "two-e", "two-f", "two-g",
    ] {
        let path = format!("site/{site}/site-definition.yaml");
        sandbox.write(&path, super::definition(site, ""));
        if overriding.contains(&site) {
            sandbox.write(
                &format!("site/{site}/shared.yaml"),
                child(site, "{value: 2}"),
            );
        }
    }
    sandbox.commit();
    sandbox.write("global/shared.yaml", shared.replace("value: 1", "value: 3"));
    sandbox
}

#[test]
fn sites_are_named_in_the_shorter_way() {
    let text = |overriding: &[&str]| {
        seven_sites(overriding)
            .run(&["lint", "--since", "HEAD"])
            .stdout
    };
    let of_four = text(&["two-e", "two-f", "two-g"]);
    assert!(
        of_four.contains("in one-a, one-b, one-c, one-d"),
        "{of_four}"
    );
    assert!(!of_four.contains("all 7 sites but"), "{of_four}");
    let of_six = text(&["two-g"]);
    assert!(of_six.contains("in all 7 sites but two-g"), "{of_six}");
}

#[test]
fn run_that_judges_nothing_does_not_pass() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    sandbox.break_site("lab");
    for flags in [&["--exit-zero"][..], &["--fail-on", "never"]] {
        for format in ["full", "concise", "markdown", "html"] {
            let arguments = [&["lint", "--since", "HEAD", "-o", format], flags].concat();
            let ran = sandbox.run(&arguments);
            assert_eq!(ran.code, 0, "{ran:?}");
            assert!(
                ran.stdout.contains("1 new error"),
                "{format}: {}",
                ran.stdout
            );
            assert!(!ran.stdout.contains("PASS"), "{format}: {}", ran.stdout);
        }
    }
    let failed = sandbox.run(&["lint", "--since", "HEAD"]);
    assert!(
        failed.code == 1 && failed.stdout.starts_with("FAIL"),
        "{failed:?}"
    );
}

#[test]
fn errors_are_last_and_notes_are_counted() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    sandbox.write(
        "site/lab/twice.yaml",
        document("twice", "site", "{b: 1, b: 2}"),
    );
    sandbox.write("layercake.yaml", "rules: {levels: {duplicate-key: note}}\n");
    let flags = ["lint"];
    let text = sandbox.run(&flags).stdout;
    let at = |text: &str, part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
    let whole = sandbox.run(&[&flags[..], &["-v"]].concat()).stdout;
    let note = at(&whole, "note[");
    assert!(note < at(&whole, "error["), "{whole}");
    assert!(!text.contains("note["), "{text}");
    assert!(
        at(&text, "1 more note (-v)") < at(&text, "error["),
        "{text}"
    );
    let by_notes = sandbox
        .run(&[&flags[..], &["--fail-on", "note"]].concat())
        .stdout;
    assert!(by_notes.contains("note["), "{by_notes}");
}

#[test]
fn missing_path_is_reported_once() {
    let ran = Sandbox::with_sites().run(&["lint", "--set", "nowhere.yaml"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("nowhere.yaml") && !ran.stderr.contains("No such file"),
        "{ran:?}"
    );
    let ran = Sandbox::with_sites().run(&["cloud-config", "nowhere.yaml"]);
    assert_eq!(ran.stderr, "error: `nowhere.yaml` not found\n");
}

/// Variables that pre-commit sets in a first push to an empty remote.
#[test]
fn failed_first_push_says_how_to_accept_existing_findings() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    sandbox.commit();
    let push = || {
        let mut command = sandbox.command(&["lint", "--auto", "--quiet"]);
        command
            .env("PRE_COMMIT", "1")
            .env("PRE_COMMIT_REMOTE_NAME", "origin");
        command.env("PRE_COMMIT_LOCAL_BRANCH", "refs/heads/main");
        super::Ran::of(&command.output().unwrap())
    };
    let failed = push();
    let first = failed.stdout.lines().next().unwrap_or_default();
    let paragraph = failed.stdout.split("\n6 ").next().unwrap_or(first);
    assert_eq!(failed.code, 1);
    assert!(
        paragraph.starts_with("FAIL") && paragraph.contains("layercake baseline write"),
        "{failed:?}"
    );
    assert_eq!(sandbox.run(&["baseline", "write"]).code, 0);
    sandbox.commit();
    let passed = push();
    assert_eq!((passed.code, passed.stdout.as_str()), (0, ""), "{passed:?}");
}

#[test]
fn completions_without_a_shell_lists_the_shells() {
    let ran = Sandbox::outside_git().run(&["completions"]);
    assert_eq!(
        (ran.code, &*ran.stdout),
        (0, "bash\nelvish\nfish\npowershell\nzsh\n"),
        "{ran:?}"
    );
}

#[test]
fn every_text_for_people_has_colors() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    sandbox.run(&["baseline", "write"]);
    sandbox.commit();
    let verbs: [&[&str]; 12] = [
        &["lint", "--no-baseline"],
        &["diff"],
        &["sites"],
        &["explain-value", "lab", "chart", ".values.replicas"],
        &["explain-value", "--all-sites", "chart", ".values.replicas"],
        &["blame", "lab", "chart"],
        &["log"],
        &["impact", "global/chart.yaml"],
        &["graph"],
        &["config", "show"],
        &["rules"],
        &["baseline", "show"],
    ];
    for verb in verbs {
        let text = |color| sandbox.run(&[verb, &["--color", color]].concat()).stdout;
        let colored = text("always");
        assert!(colored.contains("\x1b["), "{verb:?}: {colored}");
        let plain = text("never");
        assert!(!plain.contains('\x1b'), "{verb:?}: {plain}");
    }
}
