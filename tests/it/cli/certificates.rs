//! Certificates: the time of their check, what reports say of them, and what they do not show.

use serde_json::{Value as Json, json};

use super::{Ran, Sandbox, definition, document};

const AUTHORITY: &str = include_str!("../../certificates/authority.pem");
const VALID: &str = include_str!("../../certificates/valid.pem");
const VALID_KEY: &str = include_str!("../../certificates/valid.key");
const ENCRYPTED_KEY: &str = include_str!("../../certificates/encrypted.key");
const EXPIRED: &str = include_str!("../../certificates/expired.pem");
const EXPIRED_KEY: &str = include_str!("../../certificates/expired.key");
const EXPIRING: &str = include_str!("../../certificates/expiring.pem");
const P521: &str = include_str!("../../certificates/p521.pem");
const SIGNED_WITH_P521: &str = include_str!("../../certificates/signed-with-p521.pem");

const HIDDEN: &str = include_str!("../../certificates/hidden.pem");
const HIDDEN_KEY: &str = include_str!("../../certificates/hidden.key");
const OTHER_KEY: &str = include_str!("../../certificates/other.key");

const NOW: [&str; 4] = ["--now", "2026-11-30", "--select", "certificates"];

/// A document of a certificate or key in a site layer.
fn secret(kind: &str, name: &str, (policy, layer): (&str, &str), text: &str) -> String {
    let text: String = text.lines().map(|line| format!("  {line}\n")).collect();
    document(name, layer, "")
        .replace("example/Any/v1", &format!("deckhand/{kind}/v1"))
        .replace("cleartext", policy)
        .trim_end()
        .to_owned()
        + &format!(" |\n{text}")
}

fn certificate(name: &str, text: &str) -> String {
    secret("Certificate", name, ("cleartext", "global"), text)
}

/// A chart with these documents in `.tls`: schema, name and key of each.
fn user(name: &str, layer: &str, sources: &[[&str; 3]]) -> String {
    let substitutions: String = sources
        .iter()
        .map(|[schema, source, key]| {
            format!(
                "    - src: {{schema: deckhand/{schema}/v1, name: {source}, path: .}}\n      \
                 dest: {{path: .tls.{key}}}\n"
            )
        })
        .collect();
    let substitutions = format!("\n  substitutions:\n{substitutions}data:");
    document(name, layer, "{}")
        .replace("cleartext", "encrypted")
        .replace("\ndata:", &substitutions)
}

fn lint(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    sandbox.run(&[&["lint"], arguments].concat())
}

fn certificates(sandbox: &Sandbox, arguments: &[&str]) -> Json {
    let ran = lint(sandbox, &[&["-o", "json"], arguments].concat());
    assert!(ran.code < 2, "{ran:?}");
    ran.json()["certificates"].clone()
}

#[test]
fn now_is_a_day_or_an_instant() {
    let sandbox = Sandbox::with_sites();
    sandbox.write("global/tls.yaml", certificate("tls", EXPIRED));
    for (time, is_valid, shown) in [
        ("2026-05-31", true, "2026-05-31"),
        // It is valid in the first second of the day.
        ("2026-06-01", true, "2026-06-01"),
        ("2026-06-02", false, "2026-06-02"),
        ("2026-06-01T00:00:00Z", true, "2026-06-01T00:00:00Z"),
        ("2026-06-01T00:00:01Z", false, "2026-06-01T00:00:01Z"),
        ("2026-06-01T01:00:00+02:00", true, "2026-05-31T23:00:00Z"),
        ("2026-05-31T23:00:01-01:00", false, "2026-06-01T00:00:01Z"),
        ("2019-12-31", false, "2019-12-31"),
        ("2020-01-01", true, "2020-01-01"),
    ] {
        let rules = sandbox.rules(&["--now", time, "--ignore", "expiring-certificate"]);
        assert_eq!(rules.is_empty(), is_valid, "{time}: {rules:?}");
        let checked = certificates(&sandbox, &["--now", time]);
        assert_eq!(checked["time"], shown);
    }
    for wrong in [
        "today",
        "2026-13-01",
        "30.11.2026",
        "2026-11-30T12:00",
        "2026-11-30T12:00:00+1",
        "",
    ] {
        let ran = lint(&sandbox, &["--now", wrong]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(
            ran.stderr.contains("expected a date, such as 2026-11-30"),
            "{ran:?}"
        );
    }
}

#[test]
fn one_finding_names_the_users_and_the_sites() {
    let sandbox = Sandbox::with_sites();
    sandbox.write("global/tls.yaml", certificate("tls", EXPIRED));
    for site in ["lab", "prod"] {
        let chart = user(
            &format!("chart-{site}"),
            "site",
            &[["Certificate", "tls", "crt"]],
        );
        sandbox.write(&format!("site/{site}/chart.yaml"), chart);
    }
    let findings = sandbox.findings(&NOW);
    let [finding] = &findings[..] else {
        panic!("{findings:?}")
    };
    assert_eq!(finding["rule"], "expired-certificate");
    assert_eq!(finding["sites"], json!(["lab", "prod"]));
    assert_eq!(finding["primary"]["file"], "global/tls.yaml");
    let documents = finding["documents"].as_array().unwrap();
    let names: Vec<&Json> = documents.iter().map(|document| &document["name"]).collect();
    assert_eq!(names, ["tls", "chart-lab", "chart-prod"]);
    let expected = json!({
        "time": "2026-11-30", "checked": 1, "expired": 1, "not_yet_valid": 0, "expiring": 0,
        "unreadable": 0, "encrypted": 0, "unverified": 0,
    });
    assert_eq!(certificates(&sandbox, &NOW), expected);
    let text = lint(&sandbox, &NOW).stdout;
    assert!(
        text.contains("1 certificate checked on 2026-11-30, 1 expired"),
        "{text}"
    );
    let sarif = lint(&sandbox, &["--now", "2026-11-30", "-o", "sarif"]).json();
    assert_eq!(sarif["runs"][0]["properties"]["certificates"], expected);
    for format in ["markdown", "html"] {
        let text = lint(&sandbox, &["--now", "2026-11-30", "-o", format]).stdout;
        assert!(text.contains("checked on 2026-11-30"), "{format}: {text}");
    }
}

/// Lines of a string in JSON end in an escaped character. The line of a string with a private key is not
/// shown, even if the document is public.
#[test]
fn certificates_in_json_are_read_and_keys_beside_them_are_hidden() {
    let sandbox = Sandbox::with_sites();
    let write = |files: Json| {
        let text = document("files", "global", "").trim_end().to_owned();
        let text = text.replace("\ndata:", &format!("\ndata:\n  files: |\n    {files}\n"));
        sandbox.write("global/files.yaml", text);
    };
    let found = || -> Vec<Json> {
        let findings = sandbox.findings(&NOW);
        let found = findings.iter().map(|finding| {
            json!([
                finding["rule"],
                finding["primary"]["line"],
                finding["message"]
            ])
        });
        found.collect()
    };
    let place = "`.files` of `files`";
    let expired = |line: usize| {
        let message =
            format!("the certificate in block 2 of {place} expired at 2026-06-01T00:00:00Z");
        json!(["expired-certificate", line, message])
    };
    let chain = VALID.to_owned() + EXPIRED;
    write(json!({"tls.crt": chain}));
    assert_eq!(found(), [expired(10)]);
    write(json!({"tls.crt": chain, "tls.key": OTHER_KEY}));
    let message = format!(
        "the private key in {place} does not belong to the certificate in block 1 of {place}"
    );
    assert_eq!(
        found(),
        [json!(["certificate-key-mismatch", 5, message]), expired(5)]
    );
    assert_eq!(certificates(&sandbox, &NOW)["checked"], 2);
    write(json!({"tls.key": OTHER_KEY.replace("MIIE", "MIIX")}));
    assert_eq!(sandbox.rules(&NOW), ["unreadable-certificate"]);
    let ran = lint(&sandbox, &NOW);
    assert!(!ran.stdout.contains("MIIX"), "{ran:?}");
}

#[test]
fn number_of_days_is_a_setting() {
    let sandbox = Sandbox::with_sites();
    sandbox.write("global/tls.yaml", certificate("tls", EXPIRING));
    assert_eq!(sandbox.rules(&NOW), ["expiring-certificate"]);
    sandbox.write("layercake.yaml", "certificates: {expiring-days: 10}\n");
    assert_eq!(sandbox.rules(&NOW), [""; 0]);
    assert_eq!(
        sandbox.rules(&["--now", "2026-12-11"]),
        ["expiring-certificate"]
    );
    sandbox.write("layercake.yaml", "certificates: {expiring-days: -1}\n");
    assert_eq!(lint(&sandbox, &[]).code, 2);
}

#[test]
fn a_comparison_reports_only_certificates_of_the_change() {
    let sandbox = Sandbox::with_sites();
    sandbox.write("global/tls.yaml", certificate("tls", EXPIRED));
    sandbox.commit();
    sandbox.write("global/other.yaml", document("other", "global", "{}"));
    let since = ["--now", "2026-11-30", "--since", "HEAD"];
    let ran = lint(&sandbox, &since);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stdout.contains("checked on 2026-11-30, 1 expired"),
        "{ran:?}"
    );
    sandbox.write("global/other.yaml", certificate("other", EXPIRED));
    assert_eq!(lint(&sandbox, &since).code, 1);
}

#[test]
fn no_certificate_is_said_and_can_fail() {
    let sandbox = Sandbox::with_sites();
    let plain = lint(&sandbox, &[]);
    assert!(!plain.stdout.contains("certificate"), "{plain:?}");
    let detailed = lint(&sandbox, &["-v"]);
    assert!(
        detailed.stdout.contains("no certificate was checked"),
        "{detailed:?}"
    );
    let expected = json!({
        "checked": 0, "expired": 0, "not_yet_valid": 0, "expiring": 0, "unreadable": 0,
        "encrypted": 0, "unverified": 0,
    });
    assert_eq!(certificates(&sandbox, &[]), expected);
    for format in ["full", "concise", "github", "junit"] {
        let ran = lint(&sandbox, &["--require-certificates", "-o", format]);
        assert_eq!(ran.code, 1, "{format}: {ran:?}");
        assert!(
            ran.stderr.contains("no certificate was checked"),
            "{format}: {ran:?}"
        );
    }
    let full = lint(&sandbox, &["--require-certificates"]);
    assert!(
        full.stdout.contains("FAIL  no certificate was checked"),
        "{full:?}"
    );
    let ran = lint(&sandbox, &["--require-certificates", "--since", "HEAD"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    sandbox.write("global/tls.yaml", certificate("tls", VALID));
    let ran = lint(&sandbox, &["--require-certificates", "--now", "2026-11-30"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn encrypted_and_unsupported_ones_are_counted() {
    let sandbox = Sandbox::with_sites();
    let wrapped = "---
schema: pegleg/PeglegManagedDocument/v1
metadata:
  schema: metadata/Document/v1
  name: hidden
  storagePolicy: cleartext
  layeringDefinition: {abstract: false, layer: global}
data:
  encrypted: {at: 2026-01-01, by: someone}
  managedDocument:
    schema: deckhand/Certificate/v1
    metadata:
      schema: metadata/Document/v1
      name: hidden
      storagePolicy: encrypted
      layeringDefinition: {abstract: false, layer: global}
    data: gAAAAABhanything
";
    sandbox.write("global/hidden.yaml", wrapped);
    let select = ["--select", "certificates", "--now", "2026-11-30"];
    let ran = lint(&sandbox, &select);
    let said = "no certificate was checked: 1 encrypted and not checked";
    let text = |ran: &Ran| ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text(&ran).contains(said), "{ran:?}");
    let ran = lint(
        &sandbox,
        &[&select[..], &["--require-certificates"]].concat(),
    );
    assert_eq!(ran.code, 1, "{ran:?}");
    sandbox.write("global/valid.yaml", certificate("valid", VALID));
    let key = secret(
        "CertificateKey",
        "valid",
        ("encrypted", "global"),
        ENCRYPTED_KEY,
    );
    sandbox.write("global/key.yaml", key);
    sandbox.write("global/small.yaml", certificate("small", SIGNED_WITH_P521));
    let authority = secret("CertificateAuthority", "big", ("cleartext", "global"), P521);
    sandbox.write("global/big.yaml", authority);
    let ran = lint(&sandbox, &select);
    assert_eq!(ran.code, 0, "{ran:?}");
    let said = "3 certificates checked on 2026-11-30, 2 encrypted and not checked, 2 not verified";
    assert!(text(&ran).contains(said), "{ran:?}");
}

#[test]
fn secrets_of_certificates_and_keys_are_not_shown() {
    let sandbox = Sandbox::with_sites();
    let encrypted = |kind, text| secret(kind, "tls", ("encrypted", "global"), text);
    sandbox.write("global/tls.yaml", encrypted("Certificate", HIDDEN));
    sandbox.write(
        "global/tls-key.yaml",
        encrypted("CertificateKey", OTHER_KEY),
    );
    let mut damaged: Vec<&str> = HIDDEN_KEY.lines().collect();
    damaged.remove(2);
    let damaged = secret(
        "CertificateKey",
        "other",
        ("encrypted", "global"),
        &damaged.join("\n"),
    );
    sandbox.write("global/other-key.yaml", damaged);
    let rules: Vec<String> = sandbox.rules(&NOW);
    let expected = [
        "unreadable-certificate",
        "certificate-key-mismatch",
        "expired-certificate",
    ];
    assert_eq!(rules, expected);
    for format in [
        "full", "concise", "json", "github", "markdown", "comment", "sarif", "junit", "gitlab",
        "html",
    ] {
        let ran = lint(&sandbox, &["--now", "2026-11-30", "-o", format, "-v"]);
        let shown = ran.stdout + &ran.stderr;
        for hidden in [HIDDEN, HIDDEN_KEY, OTHER_KEY] {
            let lines = hidden.lines().filter(|line| !line.starts_with("---"));
            for line in lines {
                assert!(!shown.contains(line), "{format}: {line}");
            }
        }
        // The end of the validity, computed from a secret.
        assert!(!shown.contains("2026-03-07"), "{format}: {shown}");
    }
}

#[test]
fn a_pair_in_one_mapping_is_compared() {
    let sandbox = Sandbox::with_sites();
    sandbox.write("global/tls.yaml", certificate("tls", VALID));
    let of = |name, text| secret("CertificateKey", name, ("encrypted", "global"), text);
    sandbox.write("global/key.yaml", of("tls", VALID_KEY));
    sandbox.write("global/other.yaml", of("other", EXPIRED_KEY));
    let authority = secret(
        "CertificateAuthority",
        "ca",
        ("cleartext", "global"),
        AUTHORITY,
    );
    sandbox.write("global/ca.yaml", authority);
    let with = |key| {
        let sources = [
            ["CertificateAuthority", "ca", "ca"],
            ["Certificate", "tls", "crt"],
            ["CertificateKey", key, "key"],
        ];
        user("server", "global", &sources)
    };
    sandbox.write("global/server.yaml", with("tls"));
    assert_eq!(sandbox.rules(&NOW), [""; 0]);
    sandbox.write("global/server.yaml", with("other"));
    let findings = sandbox.findings(&NOW);
    let [finding] = &findings[..] else {
        panic!("{findings:?}")
    };
    assert_eq!(finding["rule"], "certificate-key-mismatch");
    assert_eq!(finding["primary"]["file"], "global/server.yaml");
    assert_eq!(
        finding["message"],
        "the private key in `server` does not belong to the certificate in `tls`"
    );
    // The pair of documents is reported where it is written, and not again where it is used.
    sandbox.write("global/other.yaml", of("other", VALID_KEY));
    sandbox.write("global/key.yaml", of("tls", EXPIRED_KEY));
    sandbox.write("global/server.yaml", with("tls"));
    let findings = sandbox.findings(&NOW);
    let [finding] = &findings[..] else {
        panic!("{findings:?}")
    };
    assert_eq!(finding["primary"]["file"], "global/tls.yaml");
}

#[test]
fn an_authority_of_the_catalog_is_expected() {
    let sandbox = Sandbox::new();
    sandbox.write_sites();
    let catalog = "---
schema: promenade/PKICatalog/v1
metadata:
  schema: metadata/Document/v1
  name: pki
  storagePolicy: cleartext
  layeringDefinition: {abstract: false, layer: site}
data:
  certificate_authorities:
    big:
      certificates:
        - {document_name: tls, common_name: tls}
";
    sandbox.write("site/lab/pki.yaml", catalog);
    sandbox.write("site/lab/site-definition.yaml", definition("lab", ""));
    let at_site = |kind, name, text| secret(kind, name, ("cleartext", "site"), text);
    sandbox.write("site/lab/tls.yaml", at_site("Certificate", "tls", VALID));
    sandbox.write(
        "site/lab/big.yaml",
        at_site("CertificateAuthority", "big", AUTHORITY),
    );
    let rules = ["--select", "certificates", "--now", "2026-11-30"];
    assert_eq!(sandbox.rules(&rules), [""; 0]);
    // Another authority, although the site has the one that signed it.
    sandbox.write(
        "site/lab/big.yaml",
        at_site("CertificateAuthority", "big", EXPIRED),
    );
    sandbox.write(
        "site/lab/ca.yaml",
        at_site("CertificateAuthority", "ca", AUTHORITY),
    );
    let found = sandbox.rules(&rules);
    assert!(
        found.contains(&"certificate-not-of-authority".to_owned()),
        "{found:?}"
    );
    assert!(
        found.contains(&"authority-without-path".to_owned()),
        "{found:?}"
    );
}
