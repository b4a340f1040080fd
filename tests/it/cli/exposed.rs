//! Secrets that a change exposes: the rule `exposed-secret`, what stays hidden, and metadata that
//! changes how Deckhand treats an output.

use super::{Sandbox, document, formats};

const CANARY: &str = "hunter2canary";

/// A document of the site `lab`.
fn secret(schema: &str, policy: &str, data: &str) -> String {
    let text = document("pw", "site", data).replace("example/Any/v1", schema);
    text.replace(
        "storagePolicy: cleartext",
        &format!("storagePolicy: {policy}"),
    )
}

/// The document inside of Pegleg's wrapper.
fn wrapped(is_encrypted: bool, data: &str) -> String {
    let inner = secret("deckhand/Passphrase/v1", "encrypted", data);
    let inner = inner.trim_start_matches("---\n").replace('\n', "\n    ");
    let encrypted = if is_encrypted {
        "  encrypted: {at: now, by: me}\n"
    } else {
        ""
    };
    let outer = document("deckhand/Passphrase/v1/pw", "site", "");
    let outer = outer.replace("example/Any/v1", "pegleg/PeglegManagedDocument/v1");
    format!(
        "{}\n{encrypted}  managedDocument:\n    {}\n",
        outer.trim_end(),
        inner.trim_end()
    )
}

/// A document that substitutes the secret into a public one.
fn consumer() -> String {
    let substitution = "  substitutions:\n    - src: {schema: SCHEMA, name: pw, path: .}\n      \
                        dest: {path: .password}\n";
    document("chart-of-pw", "site", "{}").replace("\ndata:", &format!("\n{substitution}data:"))
}

/// A repository with the secret, and a commit of it.
fn with_secret(path: &str, text: &str) -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.write(path, text);
    sandbox.commit();
    sandbox
}

/// Rules of the new errors, each with its line.
fn new_errors(sandbox: &Sandbox, arguments: &[&str]) -> Vec<String> {
    let report = sandbox.run(&[&["lint", "--since", "HEAD", "-o", "json"], arguments].concat());
    assert!(report.code < 2, "{report:?}");
    let report = report.json();
    let findings = report["findings"].as_array().unwrap().iter();
    let new = findings.filter(|it| it["state"] == "new" && it["severity"] == "error");
    let shown = new.map(|it| {
        let (rule, at) = (it["rule"].as_str().unwrap(), &it["primary"]);
        format!("{rule} {}:{}", at["file"].as_str().unwrap(), at["line"])
    });
    shown.collect()
}

#[test]
fn exposed_secrets_are_errors_and_stay_hidden() {
    let kind = "deckhand/Passphrase/v1";
    let cases: [(&str, String, &str, String, &str); 5] = [
        (
            "site/lab/pw.yaml",
            secret("example/Any/v1", "encrypted", CANARY),
            "site/lab/pw.yaml",
            secret("example/Any/v1", "cleartext", CANARY),
            "exposed-secret site/lab/pw.yaml:6",
        ),
        (
            "site/lab/secrets/pw.yaml",
            secret(kind, "encrypted", CANARY),
            "site/lab/secrets/pw.yaml",
            secret(kind, "cleartext", CANARY),
            "exposed-secret site/lab/secrets/pw.yaml:6",
        ),
        (
            "site/lab/pw.yaml",
            secret(kind, "cleartext", CANARY),
            "site/lab/pw.yaml",
            secret("example/Any/v1", "cleartext", CANARY),
            "exposed-secret site/lab/pw.yaml:2",
        ),
        (
            "site/lab/secrets/pw.yaml",
            secret(kind, "encrypted", CANARY),
            "site/lab/pw.yaml",
            secret(kind, "encrypted", CANARY),
            "exposed-secret site/lab/pw.yaml:5",
        ),
        (
            "site/lab/pw.yaml",
            wrapped(true, "!!binary Z0FBQUFBQmY="),
            "site/lab/pw.yaml",
            wrapped(false, CANARY),
            "exposed-secret site/lab/pw.yaml:16",
        ),
    ];
    for (old_path, old, path, new, expected) in cases {
        let sandbox = with_secret(old_path, &old);
        let schema = if new.contains(kind) {
            kind
        } else {
            "example/Any/v1"
        };
        sandbox.write(
            "site/lab/consumer.yaml",
            consumer().replace("SCHEMA", schema),
        );
        std::fs::remove_file(sandbox.path(old_path)).unwrap();
        sandbox.write(path, &new);
        let errors = new_errors(&sandbox, &[]);
        assert!(
            errors.contains(&expected.to_owned()),
            "{expected}: {errors:?}"
        );
        for verb in [
            &["lint", "--since", "HEAD"][..],
            &["diff"],
            &["diff", "--patch"],
        ] {
            for format in formats() {
                let ran = sandbox.run(&[verb, &["-o", format]].concat());
                if ran.code < 2 {
                    assert!(
                        !ran.stdout.contains(CANARY),
                        "{expected} {verb:?} {format}: {ran:?}"
                    );
                }
            }
        }

        // A comment in the change does not suppress it.
        let comment = "# layercake: ignore-file[exposed-secret] reason\n";
        sandbox.write(path, new.replacen("---\n", &format!("---\n{comment}"), 1));
        let errors = new_errors(&sandbox, &[]);
        assert!(
            errors.iter().any(|it| it.starts_with("exposed-secret")),
            "{errors:?}"
        );
        // Only in comparisons.
        sandbox.write(path, &new);
        sandbox.commit();
        assert!(
            !sandbox.rules(&[]).contains(&"exposed-secret".to_owned()),
            "{expected}"
        );
        assert!(
            !new_errors(&sandbox, &[])
                .iter()
                .any(|it| it.starts_with("exposed-secret"))
        );
    }
}

#[test]
fn secrets_that_stay_secret_are_not_exposed() {
    let kind = "deckhand/Passphrase/v1";
    let cases = [
        (
            secret(kind, "encrypted", "one"),
            secret(kind, "encrypted", "two"),
        ),
        (
            secret(kind, "cleartext", "one"),
            secret(kind, "cleartext", "two"),
        ),
        (
            secret("example/Any/v1", "cleartext", "one"),
            secret(kind, "encrypted", "one"),
        ),
        (
            secret(kind, "encrypted", "one"),
            secret("example/Any/v1", "encrypted", "one"),
        ),
        (
            wrapped(false, "one"),
            wrapped(true, "!!binary Z0FBQUFBQmY="),
        ),
        (
            secret(kind, "encrypted", "one"),
            wrapped(true, "!!binary Z0FBQUFBQmY="),
        ),
    ];
    for (old, new) in cases {
        let sandbox = with_secret("site/lab/pw.yaml", &old);
        sandbox.write("site/lab/pw.yaml", &new);
        let errors = new_errors(&sandbox, &[]);
        assert!(
            !errors.iter().any(|it| it.starts_with("exposed-secret")),
            "{old}{new}: {errors:?}"
        );
    }
}

/// Metadata that decides how Deckhand stores and identifies an output fails the gate; what acts
/// only through rendering does not, if the result is the same.
#[test]
fn other_treatment_by_deckhand_is_not_unchanged() {
    let plain = document("d", "global", "{a: 1}");
    let flow = "layeringDefinition: {abstract: false, layer: global}";
    let labelled = format!("labels: {{a: b}}\n  {flow}");
    let cases: [(&str, &str, bool); 7] = [
        ("storagePolicy: cleartext", "storagePolicy: encrypted", true),
        ("layer: global", "layer: type", true),
        (
            "schema: metadata/Document/v1",
            "schema: metadata/Control/v1",
            true,
        ),
        (flow, &labelled, false),
        (flow, "layeringDefinition: {layer: global}", false),
        (
            flow,
            "replacement: false\n  layeringDefinition: {abstract: false, layer: global}",
            false,
        ),
        (
            flow,
            "layeringDefinition: {abstract: false, layer: global, parentSelector: {no: one}}",
            false,
        ),
    ];
    for (from, to, is_changed) in cases {
        let sandbox = with_secret("global/d.yaml", &plain);
        sandbox.write("global/d.yaml", plain.replace(from, to));
        let ran = sandbox.run(&["diff", "--expect-unchanged"]);
        assert_eq!(ran.code == 1, is_changed, "{from} -> {to}: {ran:?}");
        let report = sandbox.run(&["diff", "-o", "json"]).json();
        let totals = &report["totals"];
        assert_eq!(
            totals["by_status"]["metadata"], 2,
            "{from} -> {to}: {totals}"
        );
        let treated = totals["other_treatment"].as_u64().unwrap_or_default();
        assert_eq!(
            treated,
            if is_changed { 2 } else { 0 },
            "{from} -> {to}: {totals}"
        );
        let in_outputs = report["outputs"].as_array().unwrap();
        assert!(
            in_outputs
                .iter()
                .all(|it| it["other_treatment"].as_bool().unwrap_or_default() == is_changed)
        );
        let proven = sandbox.run(&["diff", "--verify-attribution"]);
        assert_eq!(proven.code, 0, "{from} -> {to}: {proven:?}");
    }
}
