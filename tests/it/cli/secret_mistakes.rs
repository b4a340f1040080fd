//! Secrets in documents with a mistake: content that was not read exactly as expected is hidden,
//! and no output depends on it.

use super::{Ran, Sandbox, definition, document, formats, without_time};
use crate::support::sample::is_thorough;

/// Text that only secrets contain.
const CANARY: &str = "sesame";

/// A document of this schema and storage policy, below `site/lab`.
fn secret(schema: &str, policy: &str, data: &str) -> String {
    format!(
        "---\nschema: {schema}\nmetadata:\n  schema: metadata/Document/v1\n  name: p\n  \
         storagePolicy: {policy}\n  layeringDefinition:\n    abstract: false\n    layer: \
         site\ndata: {data}\n"
    )
}

fn passphrase(data: &str) -> String {
    secret("deckhand/Passphrase/v1", "encrypted", data)
}

/// A document in Pegleg's wrapper.
fn wrapped(policy: &str, more: &str, data: &str) -> String {
    format!(
        "---\nschema: pegleg/PeglegManagedDocument/v1\nmetadata:\n  schema: \
         metadata/Document/v1\n  name: w\n  storagePolicy: cleartext\n  layeringDefinition: \
         {{abstract: false, layer: site}}\ndata:\n{more}  managedDocument:\n    schema: \
         example/Db/v1\n    metadata:\n      schema: metadata/Document/v1\n      name: p\n      \
         storagePolicy: {policy}\n      layeringDefinition: {{abstract: false, layer: site}}\n    \
         data: {data}\n"
    )
}

/// All outputs for a repository with these files, alone and compared with one in which the same
/// paths hold `before`.
fn all_outputs(before: &[(String, String)], after: &[(String, String)]) -> Vec<(String, Ran)> {
    let sandbox = Sandbox::with_sites();
    sandbox.write("site/lab/reader.yaml", reader());
    let write = |files: &[(String, String)]| {
        for (path, text) in files {
            sandbox.write(path, text);
        }
    };
    write(before);
    sandbox.commit();
    write(after);
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["render"],
        vec!["render", "--with-origin", "--format", "json"],
        vec!["lint", "--select", "all", "--diff"],
        vec!["diff", "HEAD"],
        vec!["diff", "HEAD", "--patch"],
        vec!["lint", "--verbose", "--rev", "HEAD"],
        vec!["sites"],
        vec!["graph", "--format", "json"],
        vec!["explain-value", "lab", "example/Any/v1", "reader", "."],
        vec![
            "explain-value",
            "lab",
            "example/Db/v1",
            "p",
            ".",
            "--since",
            "HEAD",
        ],
    ];
    for format in formats() {
        commands.push(vec!["lint", "--select", "all", "-o", format]);
        commands.push(vec![
            "lint",
            "--since",
            "HEAD",
            "--all-findings",
            "-o",
            format,
        ]);
    }
    commands.extend(
        after
            .iter()
            .take(3)
            .map(|(path, _)| vec!["impact", &**path]),
    );
    commands.extend(
        after
            .iter()
            .take(3)
            .map(|(path, _)| vec!["cloud-config", &**path]),
    );
    commands.push(vec!["baseline", "write"]);
    let ids: Vec<String> = ["HEAD", "HEAD^{tree}"]
        .map(|revision| sandbox.git(&["rev-parse", revision]).trim().to_owned())
        .into();
    let mut outputs: Vec<(String, Ran)> = commands
        .iter()
        .map(|arguments| {
            let ran = sandbox.run(arguments);
            assert!(ran.code <= 2, "{arguments:?}: {ran:?}");
            let (stdout, stderr) = (stable(&ran.stdout, &ids), stable(&ran.stderr, &ids));
            (
                arguments.join(" "),
                Ran {
                    stdout,
                    stderr,
                    ..ran
                },
            )
        })
        .collect();
    let baseline = std::fs::read_to_string(sandbox.path(".layercake-baseline.json"));
    let stdout = baseline.unwrap_or_default();
    outputs.push((
        "baseline".into(),
        Ran {
            code: 0,
            stdout,
            stderr: String::new(),
        },
    ));
    outputs
}

/// An output without times, and without the ids that git derives from content.
fn stable(text: &str, ids: &[String]) -> String {
    let mut text = text.to_owned();
    for id in ids {
        for length in (7..=id.len()).rev() {
            text = text.replace(&id[..length], "ID");
        }
    }
    without_time(&text)
}

/// A document that substitutes secrets.
fn reader() -> String {
    let substitutions = "  substitutions:\n  - src: {schema: deckhand/Passphrase/v1, name: p, \
                         path: .}\n    dest: {path: .url, pattern: PASS}\n  - src: {schema: \
                         example/Db/v1, name: p, path: .password}\n    dest: {path: '.list[0]'}\n";
    let text = document(
        "reader",
        "site",
        "{url: 'mysql://u:PASS@h', list: [admin, b]}",
    );
    text.replace("\ndata:", &format!("\n{substitutions}data:"))
}

/// Asserts that no output holds a secret, and that outputs are the same with either one.
#[track_caller]
fn assert_hidden(files: impl Fn(usize, &str) -> Vec<(String, String)>) {
    let outputs = [0, 1].map(|which| all_outputs(&files(which, "before"), &files(which, "now")));
    for ((arguments, one), (_, other)) in outputs[0].iter().zip(&outputs[1]) {
        for ran in [one, other] {
            let shown = [&ran.stdout[..], &ran.stderr].concat();
            let held = shown.lines().find(|line| line.contains(CANARY));
            assert!(held.is_none(), "{arguments}: {held:?}");
        }
        let mut lines = one.stdout.lines().zip(other.stdout.lines());
        let different = lines.find(|(one, other)| one != other);
        assert!(different.is_none(), "{arguments}: {different:#?}");
        assert_eq!(one, other, "{arguments}");
    }
}

/// Asserts that no text with a secret in place of `S` is shown, each in a file of its own.
#[track_caller]
fn assert_texts_hidden(texts: impl IntoIterator<Item = (&'static str, String)>) {
    /// Files per repository: few enough that a leak is easy to find.
    const BATCH: usize = 10;
    let texts: Vec<(&str, String)> = texts.into_iter().collect();
    for batch in texts.chunks(BATCH) {
        assert_hidden(|which, when| {
            let files = batch.iter().enumerate();
            files
                .map(|(number, (path, text))| numbered(number, path, text, which, when))
                .collect()
        });
    }
}

/// One of several files; the first keeps the name from which others substitute.
fn numbered(number: usize, path: &str, text: &str, which: usize, when: &str) -> (String, String) {
    let padding = ["q", "a-good-deal-longer"][which];
    let text = text.replace('S', &format!("{CANARY}{padding}{when}"));
    if number == 0 {
        return (path.to_owned(), text);
    }
    let text = text.replace("name: p\n", &format!("name: p{number}\n"));
    (path.replace(".yaml", &format!("{number}.yaml")), text)
}

const SECRETS: &str = "site/lab/secrets/p.yaml";
const ELSEWHERE: &str = "site/lab/db.yaml";

#[test]
fn value_that_yaml_reads_as_something_else_is_hidden() {
    let values = [
        "&S",
        "#S",
        "!S",
        "%S",
        "*S",
        "@S",
        "`S",
        "? S",
        "- S",
        "a: S",
        "S: a",
        "[S",
        "{S",
        "\"S",
        "'S",
        ">S",
        "|S",
        "\"a\" S",
        "a # S",
        "\n%S",
        "\n#S",
        "\n  |S",
        "|\n  a\n S",
        "a\n# S",
        "\tS",
        "!!int S",
        "a\n...\n# S",
        "a\n...\nS",
        "\nS",
        "a\n---\n#S",
    ];
    assert_texts_hidden(values.map(|value| (SECRETS, passphrase(value))));
}

#[test]
fn data_is_hidden_unless_the_storage_policy_is_exactly_cleartext() {
    let mut texts = Vec::new();
    for policy in [
        "Encrypted",
        "ENCRYPTED",
        "\"encrypted \"",
        "[encrypted]",
        "null",
        "1",
        "{}",
        "clear text",
    ] {
        texts.push((ELSEWHERE, secret("example/Db/v1", policy, "S")));
    }
    let sound = secret("example/Db/v1", "cleartext", "{password: S}");
    for (right, wrong) in [
        ("  storagePolicy: cleartext\n", ""),
        ("storagePolicy:", "storagepolicy:"),
        ("storagePolicy:", "storage_policy:"),
        ("cleartext\n", "cleartext\n  storagePolicy: Encrypted\n"),
        ("  storagePolicy: cleartext\n", "  <<: *l\n"),
        ("storagePolicy: cleartext", "storagePolicy: *c"),
    ] {
        let text = sound.replace(right, wrong);
        let labels = "  labels: &l {storagePolicy: &c cleartext}\n";
        let text = text.replace("  name: p\n", &format!("  name: p\n{labels}"));
        texts.push((ELSEWHERE, text));
    }
    let control = sound.replace("metadata/Document/v1", "metadata/Control/v1");
    for wrong in [
        "storagepolicy: encrypted",
        "storage_policy: encrypted",
        "storagePolicy: secret",
    ] {
        texts.push((
            ELSEWHERE,
            control.replace("storagePolicy: cleartext", wrong),
        ));
    }
    assert_texts_hidden(texts);
}

#[test]
fn secret_under_a_mistyped_key_or_schema_is_hidden() {
    let mut texts = Vec::new();
    for key in ["dat", "Data", "data ", "date", "\"data:\"", "  data"] {
        let text = passphrase("S").replace("\ndata:", &format!("\n{key}:"));
        texts.extend([(SECRETS, text.clone()), (ELSEWHERE, text)]);
    }
    for schema in [
        "deckhand/Passphrse/v1",
        "deckhand/passphrase/v1",
        "Deckhand/Passphrase/v1",
        "dekhand/Passphrase/v1",
        "deckhand/Passphrase",
        "deckhand/Pass phrase/v1",
        "deckhand/Password/v1",
        "[deckhand/Passphrase/v1]",
    ] {
        texts.push((ELSEWHERE, secret(schema, "cleartext", "S")));
    }
    for key in [
        "schema: a/B/v1",
        "data: S",
        "metadata: {}",
        "schema: deckhand/Passphrase/v1",
    ] {
        let text = passphrase("S").replace("\nmetadata:", &format!("\n{key}\nmetadata:"));
        texts.push((SECRETS, text));
        let text = secret("example/Db/v1", "cleartext", "S");
        let doubled = text.replace("\ndata:", "\nschema: deckhand/Passphrase/v1\ndata:");
        texts.push((ELSEWHERE, doubled));
    }
    assert_texts_hidden(texts);
}

#[test]
fn text_beside_the_documents_of_a_file_of_secrets_is_hidden() {
    let mut texts = Vec::new();
    for text in [
        passphrase("S").replace("\ndata:", "\n---\ndata:"),
        passphrase("S").replace("\ndata:", "\n...\ndata:"),
        passphrase("a") + "---\n- S\n",
        passphrase("a") + "---\nS\n",
        passphrase("a") + "---\npassword: S\n",
        "-----BEGIN RSA PRIVATE KEY-----\nS\n-----END RSA PRIVATE KEY-----\n".to_owned(),
        "{\"password\": \"S\"}\n".to_owned(),
        "PASSWORD=S\nUSER=a\n".to_owned(),
        "S\n".to_owned(),
        "- S\n- [\n".to_owned(),
        passphrase("S").replace('\n', "\r"),
    ] {
        texts.push((SECRETS, text));
    }
    assert_texts_hidden(texts);
}

#[test]
fn wrapped_document_is_hidden_unless_all_of_it_says_cleartext() {
    let mut texts = Vec::new();
    let encrypted = "  encrypted: {at: '2020', by: pegleg}\n";
    let text = wrapped("cleartext", encrypted, "S");
    texts.push((ELSEWHERE, text.clone()));
    for (right, wrong) in [
        ("managedDocument", "manageddocument"),
        ("managedDocument", "managedDocumnt"),
        ("PeglegManagedDocument/v1", "PeglegManagedDocument/v2"),
        ("PeglegManagedDocument/v1", "PeglegManagdDocument/v1"),
        ("pegleg/Pegleg", "Pegleg/Pegleg"),
        (
            "storagePolicy: cleartext\n  layer",
            "storagePolicy: encrypted\n  layer",
        ),
        ("storagePolicy: cleartext\n  layer", "layer"),
        ("  encrypted:", "  encrypt:"),
        (
            "  encrypted: {at: '2020', by: pegleg}\n",
            "  generated: {at: '2020'}\n  managed: S\n",
        ),
        ("    data: S", "    data: !!binary c2VzYW1l # S"),
    ] {
        texts.push((ELSEWHERE, text.replace(right, wrong)));
    }
    assert_texts_hidden(texts);
}

#[test]
fn secret_file_that_another_verb_reads_is_hidden() {
    let sandbox = Sandbox::with_sites();
    let files = [
        (SECRETS, passphrase(CANARY)),
        (ELSEWHERE, passphrase(CANARY)),
        (
            "site/lab/secrets/user-data.yaml",
            format!("#cloud-config\npassword: {CANARY}\n"),
        ),
        ("site/lab/secrets/token.json", format!("\"{CANARY}\"")),
        (
            "site/lab/secrets/list.json",
            format!("{{\"schema\": \"{CANARY}\", \"version\": 1}}"),
        ),
        (
            "site/lab/secrets/odd.json",
            format!("{{\"{CANARY}\": {{\"{CANARY}\": [\"{CANARY}\"]}}}}"),
        ),
        (
            "site/lab/secrets/key.pem",
            format!("-----BEGIN KEY-----\n{CANARY}\n"),
        ),
    ];
    for (path, text) in &files {
        sandbox.write(path, text);
    }
    sandbox.commit();
    let folder = sandbox.path("site/lab/secrets");
    for (path, _) in &files {
        for arguments in [
            vec!["cloud-config", path],
            vec!["cloud-config", path, "-o", "json=-"],
            vec!["report", path],
            vec!["lint", "--baseline", path],
            vec!["lint", "--config", path],
            vec!["config", "check", "--config", path],
            vec!["lint", path],
            vec!["lint", "--set", path],
        ] {
            let ran = sandbox.run(&arguments);
            let shown = [&ran.stdout[..], &ran.stderr].concat();
            assert!(!shown.contains(CANARY), "{arguments:?}: {shown}");
        }
        let name = path.rsplit('/').next().unwrap();
        for arguments in [vec!["cloud-config", name], vec!["lint", "--set", "."]] {
            let ran = sandbox.run_in(&folder, &arguments);
            let shown = [&ran.stdout[..], &ran.stderr].concat();
            assert!(!shown.contains(CANARY), "{arguments:?}: {shown}");
        }
    }
    let hidden = sandbox
        .run(&["cloud-config", "site/lab/secrets/user-data.yaml"])
        .stdout;
    assert_eq!(hidden, "#cloud-config\n(hidden)\n");
}

#[test]
#[cfg(unix)]
fn link_to_a_file_of_secrets_is_hidden() {
    let sandbox = Sandbox::with_sites();
    sandbox.write("site/lab/secrets/token", format!("{CANARY}: {CANARY}\n"));
    for link in [
        "site/lab/link.yaml",
        "layercake.yaml",
        ".layercake-baseline.json",
    ] {
        let target = sandbox.path("site/lab/secrets/token");
        std::os::unix::fs::symlink(target, sandbox.path(link)).unwrap();
        let ran = sandbox.run(&["lint"]);
        let shown = [&ran.stdout[..], &ran.stderr].concat();
        assert!(
            !shown.contains(CANARY) && shown.contains("hold"),
            "{link}: {shown}"
        );
        std::fs::remove_file(sandbox.path(link)).unwrap();
    }
}

/// A finding about hidden text has its file and line.
#[test]
fn finding_about_hidden_text_says_where_it_is_and_what_to_do() {
    let sandbox = Sandbox::with_sites();
    sandbox.write(SECRETS, passphrase("a").replace("\ndata:", "\ndat:"));
    let findings = sandbox.findings(&[]);
    let finding = findings
        .iter()
        .find(|it| it["rule"] == "unknown-document-key")
        .unwrap();
    let place = &finding["primary"];
    assert_eq!(
        (&place["file"], &place["line"]),
        (&SECRETS.into(), &10.into()),
        "{finding:#}"
    );
    assert!(finding["help"].is_string(), "{finding:#}");
    assert!(
        findings.iter().any(|it| it["rule"] == "missing-data"),
        "{findings:#?}"
    );
}

/// Documents that say `cleartext` and were read as they should be are shown, wherever
/// they are; so are mistakes in those that say so.
#[test]
fn public_document_is_shown() {
    let sandbox = Sandbox::with_sites();
    let text = |schema: &str| secret(schema, "cleartext", "{plain: visible}");
    sandbox.write(SECRETS, text("deckhand/Certificate/v1"));
    sandbox.write("site/lab/one.yaml", text("example/Passphrases/v1"));
    sandbox.write("site/lab/two.yaml", text("deckhand/PublicKey/v1"));
    let anchored = text("example/Two/v1").replace("cleartext", "&c 'cleartext'");
    sandbox.write("site/lab/three.yaml", anchored);
    sandbox.write(
        "site/lab/four.yaml",
        wrapped("cleartext", "", "{plain: visible}"),
    );
    assert_eq!(
        sandbox
            .run(&["render"])
            .stdout
            .matches("plain: visible")
            .count(),
        5
    );
    sandbox.write(
        ELSEWHERE,
        text("example/Db/v1").replace("  name", "  nam: visible\n  name"),
    );
    let shown = sandbox.run(&["lint"]).stdout;
    assert!(shown.contains("nam: visible"), "{shown}");
}

/// Files of a batch, each with one mistake.
const BATCH: u64 = 12;

/// With one mistake anywhere in a document, no output depends on its secret.
#[test]
fn no_mistake_in_a_document_shows_its_secret() {
    let batches = if is_thorough() { 40 } else { 2 };
    for batch in 0..batches {
        assert_hidden(|which, when| {
            let seeds = batch * BATCH..(batch + 1) * BATCH;
            seeds
                .map(|seed| Mistake(seed).file(seed, which, when))
                .collect()
        });
    }
}

/// Deterministic random numbers (`SplitMix64`) for a document with a mistake.
struct Mistake(u64);

/// Ways to write a secret that YAML reads the same for any word in place of `{}`.
const VALUES: [&str; 16] = [
    "{}",
    "{}",
    "{}",
    "&{}",
    "#{}",
    "!{}",
    "%{}",
    "*{}",
    "? {}",
    "- {}",
    "a: {}",
    "[{}",
    "\"{}",
    "\"{}\" {}",
    "{} # {}",
    "|{}",
];

/// Text that is inserted into a document by mistake.
const INSERTED: [&str; 40] = [
    "&", "#", " #", "!", "%", "*", "@", "`", "? ", "- ", ": ", "[", "{", "\"", "'", ">", "|", "\t",
    "\n", "\n---\n", "\n...\n", "---\n", " ", ",", "]", "}", "\\", "<<: ", "\u{7}", "é", "$", ".",
    "|2\n", "\n#", "!!int ", "&a ", "\n- ", "\n  ", "data: ", "schema: ",
];

impl Mistake {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % (end as u64)).unwrap()
    }

    /// Path and text of a document with one mistake. The secret differs between two repositories
    /// (`which`), and between now and before (`when`).
    fn file(mut self, seed: u64, which: usize, when: &str) -> (String, String) {
        const MARK: &str = "@S@";
        let value = VALUES[self.below(VALUES.len())];
        let folder = ["site/lab/secrets", "site/lab/other"][self.below(2)];
        let text = match self.below(7) {
            0 => passphrase(MARK),
            1 => secret("deckhand/PrivateKey/v1", "cleartext", MARK),
            2 => secret(
                "example/Db/v1",
                "encrypted",
                &format!("\n  user: a\n  password: {MARK}"),
            ),
            3 => secret(
                "example/Db/v1",
                "encrypted",
                &format!("\n- a\n- {MARK}\n- b"),
            ),
            4 => wrapped("encrypted", "", MARK),
            5 => wrapped("cleartext", "  encrypted: {at: '2020', by: pegleg}\n", MARK),
            _ => passphrase(MARK) + &document("q", "site", "public"),
        };
        // One repository holds the documents of all seeds, so their names must differ.
        let text = text.replace("name: p\n", &format!("name: p{seed}\n"));
        let mistaken = self.mutated(&text);
        // A mistake that splits the mark leaves no secret to hide.
        let mistaken = if mistaken.contains(MARK) {
            mistaken
        } else {
            text
        };
        let padding = ["q", "a-good-deal-longer"][which];
        let word = format!("{CANARY}{padding}{when}{seed}");
        let text = mistaken.replace(MARK, &value.replace("{}", &word));
        (format!("{folder}/p{seed}.yaml"), text)
    }

    fn mutated(&mut self, text: &str) -> String {
        let at = self.below(text.len());
        let mut lines: Vec<&str> = text.lines().collect();
        let (one, other) = (self.below(lines.len()), self.below(lines.len()));
        let (before, after) = text.split_at(at);
        match self.below(8) {
            0..=2 => [before, INSERTED[self.below(INSERTED.len())], after].concat(),
            3 => [before, &after[1..]].concat(),
            4 => [before, &after[self.below(40).min(after.len())..]].concat(),
            5 => {
                lines.swap(one, other);
                lines.join("\n") + "\n"
            }
            6 => {
                lines.insert(one, lines[other]);
                lines.join("\n") + "\n"
            }
            _ => {
                lines[one] = lines[one].trim_start();
                lines.join("\n") + "\n"
            }
        }
    }
}

/// Documents are public only if the definition of their site is read.
#[test]
fn site_is_found_although_its_definition_may_be_secret() {
    let sandbox = Sandbox::with_sites();
    let text = definition("lab", "").replace("cleartext", "clear");
    sandbox.write("site/lab/site-definition.yaml", text);
    assert!(sandbox.run(&["sites"]).stdout.contains("lab"));
    assert!(sandbox.rules(&[]).contains(&"invalid-document".to_owned()));
}

#[test]
fn comments_beside_secret_documents_are_hidden() {
    let passphrase = document("p", "site", "new")
        .replace("example/Any/v1", "deckhand/Passphrase/v1")
        .replace("cleartext", "encrypted");
    let commented: String = passphrase
        .lines()
        .map(|line| format!("# {line} S\n"))
        .collect();
    let public = document("public", "site", "{a: 1}");
    let unknown_layer = passphrase.replace("layer: site", "layer: sitee");
    let before_data = |text: &str| text.replace("\ndata:", "\n# data: S\ndata:");
    let texts = [
        format!("# old: S\n{passphrase}"),
        format!("{commented}{passphrase}"),
        format!("{passphrase}{commented}{public}"),
        format!("{public}# S\n{passphrase}"),
        format!(
            "{public}...\n# S\n---\n# S\n{}",
            passphrase.trim_start_matches("---\n")
        ),
        before_data(&passphrase),
        before_data(&unknown_layer),
        unknown_layer.replace("metadata:\n", "metadata: # S\n"),
        format!("# S\n{unknown_layer}"),
    ];
    let in_folder = texts.iter().map(|text| (SECRETS, text.clone()));
    let elsewhere = texts.iter().map(|text| (ELSEWHERE, text.clone()));
    let alone = [
        "# S\n".to_owned(),
        format!("# S\n{public}"),
        format!("{public}# S\n"),
    ];
    let alone = alone.into_iter().map(|text| (SECRETS, text));
    assert_texts_hidden(in_folder.chain(elsewhere).chain(alone));
}
