//! Canaries: a repository full of secrets, in every place where a secret can be and where
//! something can be wrong with it. No output of any verb holds a secret or depends on one: with
//! other secrets of another length it is the same, byte for byte.

use super::{POLICY, Ran, Sandbox, definition, document, formats};

/// Prefix of every secret, and of nothing else.
pub const CANARY: &str = "sesame";

/// Secrets of one length, each recognisable.
pub struct Secrets {
    pub padding: &'static str,
}

impl Secrets {
    pub(super) fn named(&self, name: &str) -> String {
        format!("{CANARY}-{name}-{}", self.padding)
    }
}

fn secret(schema: &str, name: &str, policy: &str, data: &str) -> String {
    document(name, "site", data)
        .replace("example/Any/v1", schema)
        .replace(
            "storagePolicy: cleartext",
            &format!("storagePolicy: {policy}"),
        )
}

pub(super) fn passphrase(name: &str, data: &str) -> String {
    secret("deckhand/Passphrase/v1", name, "encrypted", data)
}

/// A document whose substitutions are `(source schema, source, path, rest)`.
fn substituting(name: &str, sources: &[(&str, &str, &str, &str)], data: &str) -> String {
    let substitutions: String = sources
        .iter()
        .map(|(schema, source, path, dest)| {
            format!(
                "    - src: {{schema: {schema}, name: {source}, path: {path}}}\n      dest: \
                 {{{dest}}}\n"
            )
        })
        .collect();
    let text = document(name, "site", data);
    text.replace(
        "\ndata:",
        &format!("\n  substitutions:\n{substitutions}data:"),
    )
}

fn child(name: &str, parent: &str, data: &str) -> String {
    document(name, "site", data).replace(
        "{abstract: false, layer: site}",
        &format!(
            "\n    abstract: false\n    layer: site\n    parentSelector: {{name: {parent}}}\n    \
             actions: [{{method: merge, path: .}}, {{method: delete, path: .nowhere}}]"
        ),
    )
}

pub(super) const PASSPHRASE: &str = "deckhand/Passphrase/v1";

/// Files of site `lab` whose documents are valid.
pub fn sound(of: &Secrets) -> Vec<(&'static str, String)> {
    let parent = secret("example/Any/v1", "parent", "encrypted", "{}")
        .replace("storagePolicy", "labels: {name: parent}\n  storagePolicy")
        .replace("layer: site", "layer: global");
    let mapping = format!(
        "\n  {}: {}\n  {}: [{}]\n",
        of.named("key"),
        of.named("below"),
        of.named("list"),
        of.named("item"),
    );
    let wrapped = format!(
        "---\nschema: pegleg/PeglegManagedDocument/v1\nmetadata:\n  schema: \
         metadata/Document/v1\n  name: wrapped\n  storagePolicy: cleartext\n  layeringDefinition: \
         {{abstract: false, layer: site}}\ndata:\n  encrypted: {{at: '2020', by: pegleg}}\n  \
         managedDocument:\n    schema: deckhand/CertificateKey/v1\n    metadata:\n      schema: \
         metadata/Document/v1\n      name: wrapped\n      storagePolicy: encrypted\n      \
         layeringDefinition: {{abstract: false, layer: site}}\n    data: {}\n",
        of.named("wrapped"),
    );
    let block = format!(
        "|\n  -----BEGIN PRIVATE KEY-----\n  {}\n  {}\n",
        of.named("first-line"),
        of.named("second-line")
    );
    vec![
        (
            "encrypted.yaml",
            passphrase("encrypted", &of.named("encrypted")),
        ),
        (
            "kind.yaml",
            secret(PASSPHRASE, "kind", "cleartext", &of.named("kind")),
        ),
        (
            "key.yaml",
            secret("deckhand/PrivateKey/v1", "key", "cleartext", &block),
        ),
        (
            "mapping.yaml",
            secret("example/Secret/v1", "mapping", "encrypted", &mapping),
        ),
        (
            "parent.yaml",
            parent.replace("data: {}", &format!("data: {mapping}")),
        ),
        ("child.yaml", child("child", "parent", "{own: 1}")),
        ("wrapped.yaml", wrapped),
        (
            "taker.yaml",
            substituting(
                "taker",
                &[
                    (PASSPHRASE, "encrypted", ".", "path: .password"),
                    (PASSPHRASE, "kind", ".", "path: .url, pattern: PASS"),
                    (
                        "deckhand/CertificateKey/v1",
                        "wrapped",
                        ".",
                        "path: .wrapped",
                    ),
                    ("example/Secret/v1", "mapping", ".", "path: .tree"),
                    ("deckhand/PrivateKey/v1", "key", ".", "path: .pem"),
                ],
                "{url: 'mysql://user:PASS@host'}",
            ),
        ),
        (
            "shapes.yaml",
            secret(
                "example/Secret/v1",
                "shapes",
                "encrypted",
                &format!("\n  inner: {{leaf: {}}}\n", of.named("leaf")),
            ),
        ),
        (
            "shaped.yaml",
            substituting(
                "shaped",
                &[
                    ("example/Secret/v1", "shapes", ".inner.leaf", "path: .leaf"),
                    ("example/Secret/v1", "shapes", ".inner", "path: .inner"),
                    (
                        "example/Secret/v1",
                        "shapes",
                        ".inner.leaf, pattern: '(.+)', match_group: 1",
                        "path: .part",
                    ),
                ],
                "{inner: {leaf: lost}}",
            ),
        ),
        ("replaced.yaml", replaced(of)),
        (
            "second.yaml",
            substituting(
                "second",
                &[("example/Any/v1", "taker", ".url", "path: .travelled")],
                "{}",
            ),
        ),
    ]
}

/// A secret document, and one that replaces it.
fn replaced(of: &Secrets) -> String {
    let data = format!("{{old: {}, kept: {}}}", of.named("old"), of.named("kept"));
    let parent = secret("example/Any/v1", "replaced", "encrypted", &data)
        .replace(
            "  storagePolicy",
            "  labels: {name: replaced}\n  storagePolicy",
        )
        .replace("layer: site", "layer: global");
    let replacement = child("replaced", "replaced", "{old: public}")
        .replace("  storagePolicy", "  replacement: true\n  storagePolicy");
    format!("{parent}{replacement}")
}

/// Commands about values, and about the lines that wrote them.
pub(super) fn questions() -> Vec<Vec<&'static str>> {
    let mut questions = Vec::new();
    for (schema, name, path) in [
        (PASSPHRASE, "encrypted", "."),
        ("deckhand/PrivateKey/v1", "key", "."),
        ("example/Secret/v1", "mapping", "."),
        ("example/Secret/v1", "mapping", ".guessed"),
        ("example/Secret/v1", "shapes", "/inner/leaf"),
        ("example/Any/v1", "taker", "."),
        ("example/Any/v1", "taker", ".password"),
        ("example/Any/v1", "taker", ".url"),
        ("example/Any/v1", "taker", ".tree"),
        ("example/Any/v1", "taker", ".tree.guessed"),
        ("example/Any/v1", "second", ".travelled"),
        ("example/Any/v1", "shaped", "."),
        ("example/Any/v1", "shaped", ".leaf"),
        ("example/Any/v1", "shaped", ".inner.leaf"),
        ("example/Any/v1", "shaped", ".part"),
        ("example/Any/v1", "child", "."),
        ("example/Any/v1", "child", ".own"),
        ("example/Any/v1", "replaced", "."),
        ("example/Any/v1", "replaced", ".old"),
        ("example/Any/v1", "replaced", ".kept"),
    ] {
        questions.push(vec!["explain-value", "lab", schema, name, path]);
        questions.push(vec!["explain-value", "--all-sites", schema, name, path]);
        questions.push(vec![
            "explain-value",
            "lab",
            schema,
            name,
            path,
            "--format",
            "json",
        ]);
    }
    let why_not = [
        "explain-value",
        "lab",
        "example/Any/v1",
        "taker",
        ".tree",
        "--why-not",
    ];
    for place in [
        "site/lab/secrets/encrypted.yaml:8",
        "site/lab/secrets/mapping.yaml:9",
        "site/lab/secrets/mapping.yaml:10",
        "site/lab/secrets/shapes.yaml:9",
        "site/lab/secrets/parent.yaml:10",
        "site/lab/secrets/replaced.yaml:9",
        "site/lab/secrets/key.yaml:9",
    ] {
        for format in ["text", "json"] {
            questions.push([&why_not[..], &[place, "--format", format]].concat());
            questions.push(vec!["impact", place, "--format", format]);
        }
    }
    questions.push(vec!["impact", "site/lab/secrets/mapping.yaml"]);
    for format in ["text", "dot", "mermaid", "json"] {
        questions.push(vec!["graph", "--format", format]);
    }
    questions
}

/// Files with a fault in or beside a secret.
pub fn faulty(of: &Secrets) -> Vec<(&'static str, String)> {
    let broken = |name: &str, data: &str| passphrase(name, data);
    let nested = |data: &str| secret("example/Secret/v1", "nested", "encrypted", data);
    let from = |name: &'static str, dest: &'static str| (PASSPHRASE, name, ".", dest);
    vec![
        (
            "open.yaml",
            broken("open", &format!("{{a: {}", of.named("open"))),
        ),
        (
            "quote.yaml",
            broken("quote", &format!("\"{}", of.named("quote"))),
        ),
        (
            "tab.yaml",
            broken(
                "tab",
                &format!("\n\t{}: {}", of.named("tab"), of.named("tab-value")),
            ),
        ),
        (
            "alias.yaml",
            broken("alias", &format!("*{}", of.named("alias"))),
        ),
        (
            "anchor.yaml",
            broken("anchor", &format!("[&{0} x, &{0} y]", of.named("anchor"))),
        ),
        (
            "tag.yaml",
            broken("tag", &format!("!{} x", of.named("tag"))),
        ),
        (
            "int.yaml",
            broken("int", &format!("!!int {}", of.named("int"))),
        ),
        (
            "twice.yaml",
            nested(&format!(
                "\n  {0}: {1}\n  {0}: {1}\n",
                of.named("twice"),
                of.named("value")
            ))
            .replace("nested", "twice"),
        ),
        ("again.yaml", passphrase("encrypted", &of.named("again"))),
        (
            "layer.yaml",
            passphrase("layered", "x")
                .replace("layer: site", &format!("layer: {}", of.named("layer"))),
        ),
        (
            "listed.yaml",
            format!(
                "---\n- {{schema: {PASSPHRASE}, data: {}}}\n",
                of.named("listed")
            ),
        ),
        (
            "no-schema.yaml",
            secret(
                "example/Secret/v1",
                "no-schema",
                "encrypted",
                &of.named("no-schema"),
            )
            .replace("schema: example/Secret/v1\n", ""),
        ),
        (
            "unmatched.yaml",
            substituting(
                "unmatched",
                &[from("kind", "path: .url, pattern: NOWHERE")],
                "{}",
            )
            .replace("cleartext", "encrypted")
            .replace(
                "data: {}",
                &format!("data: {{url: {}}}", of.named("searched")),
            ),
        ),
        (
            "source-pattern.yaml",
            substituting("source-pattern", &[from("kind", "path: .here")], "{}")
                .replace("path: .}", "path: ., pattern: '(nowhere)'}"),
        ),
        (
            "through.yaml",
            substituting(
                "through",
                &[from("encrypted", "path: .a"), from("kind", "path: .a.b.c")],
                "{}",
            ),
        ),
        (
            "below.yaml",
            substituting(
                "below",
                &[("example/Secret/v1", "mapping", ".nowhere", "path: .a")],
                "{}",
            ),
        ),
        (
            "over.yaml",
            substituting(
                "over",
                &[
                    from("encrypted", "path: .a, pattern: X"),
                    from("kind", "path: .a"),
                ],
                "{a: {b: X}}",
            ),
        ),
        (
            "backslash.yaml",
            passphrase("backslash", &format!("'{}\\1'", of.named("backslash"))),
        ),
        (
            "escapes.yaml",
            substituting(
                "escapes",
                &[from("backslash", "path: .a, pattern: X")],
                "{a: aXb}",
            ),
        ),
        (
            "newline.yaml",
            passphrase("newline", &format!("'{}\\n'", of.named("newline"))),
        ),
        (
            "breaks.yaml",
            substituting(
                "breaks",
                &[from("newline", "path: .a, pattern: X")],
                "{a: aXb}",
            ),
        ),
        (
            "recursion.yaml",
            substituting(
                "recursion",
                &[from("kind", "'path': '.', pattern: X")],
                "{a: [X]}",
            ),
        ),
        (
            "bare.yaml",
            format!(
                "---\nschema: {PASSPHRASE}\ndata: {}\nodd: {{a: 1, a: 2}}\n",
                of.named("bare")
            ),
        ),
        (
            "no-schema.yaml",
            passphrase("no-schema", &of.named("no-schema")).replace("  name: no-schema\n", ""),
        ),
        (
            "odd.yaml",
            passphrase("odd", &of.named("odd")).replace("storagePolicy:", "storagePolicies:"),
        ),
        (
            "indent.yaml",
            passphrase(
                "indent",
                &format!("\n  a: {}\n b: {}", of.named("indent"), of.named("dedent")),
            ),
        ),
    ]
}

fn repository(of: &Secrets, with_faults: bool) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("global/policy.yaml", POLICY);
    sandbox.write("type/small/any.yaml", document("any", "type", "{}"));
    sandbox.write("site/lab/site-definition.yaml", definition("lab", ""));
    let mut files = sound(of);
    if with_faults {
        files.extend(faulty(of));
        let mut latin = passphrase("latin", &of.named("latin")).into_bytes();
        latin.extend(b"\xff\n");
        sandbox.write("site/lab/secrets/latin.yaml", latin);
    }
    for (path, text) in files {
        sandbox.write(&format!("site/lab/secrets/{path}"), text);
    }
    sandbox.commit();
    sandbox
}

fn all_runs(sandbox: &Sandbox) -> Vec<(String, Ran)> {
    let verbs = [
        &["lint"][..],
        &["lint", "-o", "concise"],
        &["lint", "-o", "json"],
        &["lint", "--color", "always"],
        &["render"],
        &["render", "--with-origin"],
        &["render", "--format", "json"],
        &["query", "$..*"],
        &["query", "$..*", "--format", "json"],
        &["query", "$..*", "--format", "csv"],
        &["query", "$..[?search(@, 'sesame')]"],
        &["sites"],
        &["sites", "--format", "json"],
    ];
    let with = [
        &[][..],
        &["--rev", "HEAD"],
        &["--semantics", "deckhand"],
        &["--set", "."],
        &["--missing-substitution-source", "warning"],
        &["site/lab/secrets"],
    ];
    let mut runs = Vec::new();
    for verb in verbs {
        for with in with {
            if verb[0] == "sites" && !with.is_empty() {
                continue;
            }
            let arguments = [verb, with].concat();
            let ran = sandbox.run(&arguments);
            assert!(ran.code < 2, "{arguments:?}: {ran:?}");
            runs.push((arguments.join(" "), without_time(verb, ran)));
        }
    }
    runs.extend(runs_of_all_rules(sandbox));
    for arguments in questions() {
        runs.push((arguments.join(" "), sandbox.run(&arguments)));
    }
    runs
}

/// The closing line ends with the time.
fn without_time(verb: &[&str], mut ran: Ran) -> Ran {
    let is_full = verb[0] == "lint" && !verb.contains(&"-o") && !verb.contains(&"--diff");
    if is_full || verb.contains(&"full") {
        let time = ran.stdout.rfind(" · ").expect("there is a closing line");
        ran.stdout.truncate(time);
    }
    // The id of a commit depends on all contents.
    let has_commit = |line: &&str| {
        ["\"commit\": ", "<dt>repository</dt>"]
            .iter()
            .any(|it| line.contains(it))
    };
    let lines = ran
        .stdout
        .split_inclusive('\n')
        .filter(|line| !has_commit(line));
    ran.stdout = lines.collect();
    ran
}

/// Runs with every rule selected, and previews of fixes; the baseline is written, and its text is
/// the last output.
fn runs_of_all_rules(sandbox: &Sandbox) -> Vec<(String, Ran)> {
    sandbox.write("layercake.yaml", "rules: {select: [all]}\n");
    let verbs = [
        &["lint"][..],
        &["lint", "-o", "concise"],
        &["lint", "-o", "json"],
        &["lint", "--statistics"],
        &["lint", "--fix", "--diff"],
        &["lint", "--add-ignore=why", "--diff"],
        &["rules"],
        &["config", "show"],
        &["baseline", "write"],
        &["baseline", "show"],
        &["lint", "--show-ignored"],
        &["lint", "--show-ignored", "-o", "json=../saved.json"],
    ];
    let forms = formats().flat_map(|form| {
        let of_run = vec!["lint", "--show-ignored", "-o", form];
        [
            of_run,
            vec!["report", "../saved.json", "--show-ignored", "-o", form],
        ]
    });
    let verbs: Vec<Vec<&str>> = verbs
        .iter()
        .map(|verb| verb.to_vec())
        .chain(forms)
        .collect();
    let ran = verbs.iter().map(|verb| {
        let ran = sandbox.run(verb);
        (
            format!("all rules: {}", verb.join(" ")),
            without_time(verb, ran),
        )
    });
    let mut runs: Vec<(String, Ran)> = ran.collect();
    let baseline = std::fs::read_to_string(sandbox.path(".layercake-baseline.json"));
    let stdout = baseline.expect("the baseline was written");
    runs.push((
        ".layercake-baseline.json".into(),
        Ran {
            code: 0,
            stdout,
            stderr: String::new(),
        },
    ));
    runs
}

/// The commands would prove little if they failed.
#[test]
fn commands_about_values_succeed() {
    let sandbox = repository(&Secrets { padding: "q" }, false);
    for arguments in questions() {
        let ran = sandbox.run(&arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        let is_secret = arguments[0] == "explain-value"
            && !arguments.contains(&"--why-not")
            && ![".", ".own", ".old"].contains(&arguments[4]);
        assert!(
            !is_secret || ran.stdout.contains("hidden"),
            "{arguments:?}: {ran:?}"
        );
    }
}

#[test]
fn outputs_neither_contain_nor_depend_on_secrets() {
    for with_faults in [false, true] {
        let short = repository(&Secrets { padding: "q" }, with_faults);
        let long = repository(
            &Secrets {
                padding: "a-good-deal-longer-than-the-other-one",
            },
            with_faults,
        );
        let (short, long) = (all_runs(&short), all_runs(&long));
        for ((arguments, of_short), (_, of_long)) in short.iter().zip(&long) {
            for ran in [of_short, of_long] {
                let shown = [&ran.stdout[..], &ran.stderr].concat();
                let held = shown.lines().find(|line| line.contains(CANARY));
                assert!(held.is_none(), "{arguments}: {held:?}");
            }
            let lines = of_short.stdout.lines().zip(of_long.stdout.lines());
            let different: Vec<_> = lines
                .filter(|(short, long)| short != long)
                .take(3)
                .collect();
            assert!(different.is_empty(), "{arguments}: {different:#?}");
            assert_eq!(of_short, of_long, "{arguments}");
        }
    }
}

/// The repository would prove little if its faults were not found.
#[test]
fn planted_faults_are_found() {
    let sandbox = repository(&Secrets { padding: "q" }, true);
    let met = sandbox.rules(&[]);
    for rule in [
        "backslash-in-pattern-value",
        "duplicate-document",
        "duplicate-key",
        "invalid-document",
        "invalid-encoding",
        "invalid-scalar",
        "invalid-substitution",
        "invalid-yaml",
        "missing-action-path",
        "missing-source",
        "unknown-tag",
        "unmatched-pattern",
        "unmatched-source-pattern",
    ] {
        assert!(
            met.iter().any(|it| it == rule),
            "{rule} is not found: {met:?}"
        );
    }
}

#[test]
fn render_shows_secrets_on_request() {
    let of = Secrets { padding: "q" };
    let sandbox = repository(&of, false);
    for format in ["yaml", "json"] {
        let ran = sandbox.run(&["render", "--format", format, "--show-secrets"]);
        for name in [
            "encrypted",
            "kind",
            "key",
            "below",
            "item",
            "wrapped",
            "second-line",
        ] {
            assert!(ran.stdout.contains(&of.named(name)), "{format}: {name}");
        }
        let url = format!("mysql://user:{}@host", of.named("kind"));
        assert_eq!(
            ran.stdout.matches(&url).count(),
            2,
            "{format}: it is shown twice"
        );
        let hidden = sandbox.run(&["render", "--format", format]).stdout;
        assert!(
            hidden.contains("(hidden)") || hidden.contains("hidden\":"),
            "{hidden}"
        );
        assert!(
            !hidden.contains("mysql://"),
            "a string built from a secret is secret"
        );
    }
}

/// Columns after a secret are reported as if it was empty, so no fix may be applied there.
#[test]
fn reports_have_no_fix_after_a_secret() {
    let sandbox = Sandbox::with_sites();
    let text = document(
        "key",
        "site",
        "\n  pass: sesame # layercake: ignore[octal-integer] old\n",
    )
    .replace("storagePolicy: cleartext", "storagePolicy: encrypted")
    .replace(
        "  name: key",
        "  name: key # layercake: ignore[boolean-word] old",
    );
    sandbox.write("site/lab/key.yaml", text);
    let rules = "octal-integer,boolean-word,unused-ignore";
    let json = sandbox
        .run(&["lint", "--select", rules, "-o", "json"])
        .json();
    let has_fix = |finding: &serde_json::Value| finding["fix"].is_object();
    let findings = json["findings"].as_array().unwrap();
    assert_eq!(
        findings.iter().map(has_fix).collect::<Vec<_>>(),
        [true, false],
        "{findings:#?}"
    );
    let sarif = sandbox
        .run(&["lint", "--select", rules, "-o", "sarif"])
        .json();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(
        results
            .iter()
            .filter(|it| it.get("fixes").is_some())
            .count(),
        1
    );
}

/// Otherwise its items were hidden one by one, and showed how many there are.
#[test]
fn list_that_a_merge_extends_is_secret_if_either_list_is() {
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "site/lab/key.yaml",
        passphrase("key", "{all: [sesame, open]}"),
    );
    let source = [("deckhand/Passphrase/v1", "key", ".all", "path: .list")];
    let parent = substituting("parent", &source, "{list: []}")
        .replace("layer: site", "layer: global")
        .replace("\nmetadata:", "\nmetadata:\n  labels: {name: parent}");
    sandbox.write("global/parent.yaml", parent);
    let extending = child("child", "parent", "{list: [own]}")
        .replace("path: .}", "path: '.list[0]'}")
        .replace(", {method: delete, path: .nowhere}", "");
    sandbox.write("site/lab/child.yaml", extending);
    let documented = [
        "--site",
        "lab",
        "--name",
        "child",
        "--semantics",
        "documented",
    ];
    let ran = sandbox.run(&[&["render"], &documented[..]].concat());
    assert!(ran.stdout.contains("data:\n  list: (hidden)\n"), "{ran:?}");
}
