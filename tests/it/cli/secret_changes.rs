//! Canaries in comparisons: secrets that changed, were added or were removed. The change is
//! reported, but no output of any verb depends on the values: with other secrets of other lengths
//! on both sides it is the same, byte for byte.

use std::collections::BTreeSet;

use super::secrets::{CANARY, Secrets, faulty, passphrase, questions, sound};
use super::{POLICY, Ran, Sandbox, definition, document, formats, without_time};

/// Secrets of the base and of the head.
type Padding = [&'static str; 2];

const LONG: &str = "a-good-deal-longer-than-the-other-one";

/// Changes to a longer, to a shorter, and to equally long secrets.
const PADDINGS: [Padding; 4] = [["q", LONG], [LONG, "q"], ["qwert", "asdfg"], ["x", "y"]];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Faults {
    None,
    Some,
}

/// A repository with one commit, and a working tree in which every secret differs, some are
/// removed and some are added.
fn repository([before, after]: Padding, faults: Faults) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("global/policy.yaml", POLICY);
    sandbox.write("type/small/any.yaml", document("any", "type", "{}"));
    sandbox.write("site/lab/site-definition.yaml", definition("lab", ""));
    sandbox.write("site/lab/reader.yaml", reader());
    write(&sandbox, before, faults, "went");
    sandbox.commit();
    std::fs::remove_file(sandbox.path("site/lab/secrets/went.yaml")).unwrap();
    write(&sandbox, after, faults, "came");
    sandbox
}

fn write(sandbox: &Sandbox, padding: &'static str, faults: Faults, only: &'static str) {
    let of = Secrets { padding };
    let mut files = sound(&of);
    files.push(("listed.yaml", listed(&of, only)));
    files.push((
        if only == "went" {
            "went.yaml"
        } else {
            "came.yaml"
        },
        { passphrase(only, &of.named(only)) },
    ));
    if faults == Faults::Some {
        files.extend(faulty(&of));
    }
    for (path, text) in files {
        sandbox.write(&format!("site/lab/secrets/{path}"), text);
    }
}

/// A secret list, and public items around a secret one.
fn listed(of: &Secrets, only: &str) -> String {
    let list = format!("[{}, {}, {only}]", of.named("one"), of.named("two"));
    passphrase("listed", &list)
}

/// Substitutes secrets into a list, into the middle of a string, and below a key.
fn reader() -> String {
    let text = document(
        "reader",
        "site",
        "\n  list: [{name: a, value: public}, {name: b, value: X}]\n  text: before X after\n",
    );
    let from = |name: &str, dest: &str| {
        format!(
            "    - src: {{schema: deckhand/Passphrase/v1, name: {name}, path: .}}\n      dest: \
             {{{dest}}}\n"
        )
    };
    let substitutions = [
        from("encrypted", "path: '.list[1].value'"),
        from("kind", "path: .text, pattern: X"),
        from("listed", "path: .whole"),
    ];
    text.replace(
        "\ndata:",
        &format!("\n  substitutions:\n{}data:", substitutions.concat()),
    )
}

fn commands() -> Vec<Vec<&'static str>> {
    let mut commands: Vec<Vec<&str>> = Vec::new();
    for form in formats() {
        commands.push(vec!["lint", "--since", "HEAD", "-o", form]);
        commands.push(vec![
            "lint",
            "--since",
            "HEAD",
            "-o",
            form,
            "--all-findings",
        ]);
        commands.push(vec!["lint", "--staged", "-o", form]);
    }
    for (run, saved) in [
        (
            &["lint", "--since", "HEAD", "--all-findings"][..],
            "json=../linted.json",
        ),
        (&["diff", "HEAD"], "json=../compared.json"),
    ] {
        commands.push([run, &["-o", saved]].concat());
        let file = saved.trim_start_matches("json=");
        for form in formats() {
            commands.push(vec!["report", file, "--all-findings", "-o", form]);
            commands.push([run, &["-o", form]].concat());
        }
    }
    for form in [
        &["-o", "full"][..],
        &["-o", "concise"],
        &["-o", "json"],
        &["--patch"],
    ] {
        commands.push([&["diff", "HEAD"][..], form].concat());
        commands.push([&["diff", "HEAD", "--verify-attribution"][..], form].concat());
        commands.push([&["diff", "HEAD", "--semantics", "deckhand"][..], form].concat());
    }
    for gate in ["--max-sites=0", "--max-outputs=0", "--expect-unchanged"] {
        commands.push(vec!["lint", "--since", "HEAD", gate]);
        commands.push(vec!["lint", "--since", "HEAD", gate, "-o", "json"]);
        commands.push(vec!["diff", "HEAD", gate]);
    }
    commands.push(vec!["debug", "parse"]);
    commands.push(vec!["lint", "--since", "HEAD", "site/lab/secrets"]);
    commands.push(vec!["diff", "HEAD", "--site", "lab", "--exit-code"]);
    commands.push(vec!["diff", "HEAD", "--color", "always"]);
    for question in questions() {
        let is_way = question[0] == "explain-value" && !question.contains(&"--all-sites");
        if is_way && !question.contains(&"--why-not") {
            commands.push([&question[..], &["--since", "HEAD"]].concat());
        }
    }
    for (name, path) in [
        ("came", "."),
        ("went", "."),
        ("listed", "."),
        ("listed", "/0"),
    ] {
        let schema = "deckhand/Passphrase/v1";
        commands.push(vec![
            "explain-value",
            "lab",
            schema,
            name,
            path,
            "--since",
            "HEAD",
        ]);
    }
    for path in [".", ".list", "/list/1/value", ".text", ".whole", "/whole/0"] {
        let schema = "example/Any/v1";
        commands.push(vec![
            "explain-value",
            "lab",
            schema,
            "reader",
            path,
            "--since",
            "HEAD",
        ]);
    }
    commands
}

/// Output of all commands, without times and without the ids that git derives from content.
fn all_runs(sandbox: &Sandbox) -> Vec<(String, Ran)> {
    let ids: Vec<String> = ["HEAD", "HEAD^{tree}"]
        .map(|revision| sandbox.git(&["rev-parse", revision]).trim().to_owned())
        .into();
    let plain = |text: &str| {
        let mut text = text.to_owned();
        for id in &ids {
            for length in (7..=id.len()).rev() {
                text = text.replace(&id[..length], "ID");
            }
        }
        without_time(&text)
    };
    let runs = commands().into_iter().map(|arguments| {
        let ran = sandbox.run(&arguments);
        let (stdout, stderr) = (plain(&ran.stdout), plain(&ran.stderr));
        (
            arguments.join(" "),
            Ran {
                stdout,
                stderr,
                ..ran
            },
        )
    });
    runs.collect()
}

#[test]
fn comparisons_neither_contain_nor_depend_on_secrets() {
    for faults in [Faults::None, Faults::Some] {
        let all = PADDINGS.map(|padding| all_runs(&repository(padding, faults)));
        for (padding, runs) in PADDINGS.iter().zip(&all) {
            for ((arguments, ran), (_, first)) in runs.iter().zip(&all[0]) {
                let shown = [&ran.stdout[..], &ran.stderr].concat();
                let held = shown.lines().find(|line| line.contains(CANARY));
                assert!(held.is_none(), "{arguments}: {held:?}");
                let lines = ran.stdout.lines().zip(first.stdout.lines());
                let different: Vec<_> = lines.filter(|(one, other)| one != other).take(3).collect();
                assert!(
                    different.is_empty(),
                    "{arguments} {padding:?}: {different:#?}"
                );
                assert_eq!(ran, first, "{arguments} {padding:?}");
            }
        }
    }
}

#[test]
fn changed_secret_is_reported_as_changed() {
    let sandbox = repository(PADDINGS[0], Faults::None);
    let report = sandbox.run(&["diff", "HEAD", "-o", "json"]).json();
    let statuses: BTreeSet<(&str, &str)> = report["outputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|output| {
            (
                output["name"].as_str().unwrap(),
                output["status"].as_str().unwrap(),
            )
        })
        .collect();
    let changed = [
        "encrypted",
        "kind",
        "key",
        "mapping",
        "parent",
        "child",
        "taker",
        "shapes",
        "shaped",
        "replaced",
        "second",
        "listed",
        "reader",
    ];
    for name in changed {
        assert!(
            statuses.contains(&(name, "changed")),
            "{name}: {statuses:?}"
        );
    }
    assert!(statuses.contains(&("went", "removed")), "{statuses:?}");
    assert!(statuses.contains(&("came", "added")), "{statuses:?}");
    assert_eq!(report["totals"]["unexplained"], 0);
    for change in report["groups"].as_array().unwrap() {
        for change in change["changes"].as_array().unwrap() {
            // Values of a document that was added or removed as a whole are not listed.
            let is_listed = !(change["before"].is_null() && change["after"].is_null());
            assert!(!is_listed || change["after"]["hidden"] == true, "{change}");
        }
    }
    let path = [
        "explain-value",
        "lab",
        "example/Any/v1",
        "taker",
        ".url",
        "--since",
        "HEAD",
    ];
    let printed = sandbox.run(&path).stdout;
    assert_eq!(
        printed
            .matches("(hidden: derived from deckhand/Passphrase/v1 kind)")
            .count(),
        2
    );
    assert!(
        printed.contains("changed by site/lab/secrets/kind.yaml:"),
        "{printed}"
    );
}

/// The commands would prove little if they failed.
#[test]
fn commands_succeed() {
    let sandbox = repository(PADDINGS[0], Faults::None);
    for (arguments, ran) in all_runs(&sandbox) {
        let is_guess = arguments.contains("guessed") || arguments.contains("/0");
        assert!(ran.code < 2 || is_guess, "{arguments}: {ran:?}");
    }
}

/// A change by which a literal of the base becomes secret in the head.
struct Hidden {
    name: &'static str,
    base: Vec<(&'static str, String)>,
    head: Vec<(&'static str, String)>,
}

const LITERAL: &str = "sesame-open";

fn secret(name: &str, value: &str) -> String {
    document(name, "site", value)
        .replace("example/Any/v1", "deckhand/Passphrase/v1")
        .replace("cleartext", "encrypted")
}

/// A document with one substitution.
fn substituting(name: &str, source: &str, dest: &str, data: &str) -> String {
    document(name, "site", data).replace(
        "\ndata:",
        &format!("\n  substitutions:\n    - src: {source}\n      dest: {{{dest}}}\ndata:"),
    )
}

fn labelled_parent(text: &str) -> String {
    text.replace("layer: site", "layer: global")
        .replace(
            "  layeringDefinition",
            "  labels: {is: parent}\n  layeringDefinition",
        )
        .replace("abstract: false", "abstract: true")
}

const FROM_SECRET: &str = "{schema: deckhand/Passphrase/v1, name: pw, path: .}";

/// Data with a fault beside a password.
fn block(password: &str) -> String {
    format!("\n  user: admin\n  user: admin\n  password: {password}\n  port: 1\n")
}

/// A string with a password in it.
fn url(password: &str) -> String {
    format!("{{url: 'mysql://u:{password}@db', port: 1}}")
}

/// A string of several lines with a password in it.
fn conf(password: &str) -> String {
    format!("\n  user: a\n  user: a\n  conf: |\n    [db]\n    password = {password}\n    [log]\n")
}

fn public(data: &str) -> String {
    document("chart", "site", data)
}

fn substituted(dest: &str, data: &str) -> String {
    substituting("chart", FROM_SECRET, dest, data)
}

fn child(data: &str) -> String {
    public(data).replace(
        "layer: site",
        "layer: site, parentSelector: {is: parent}, actions: [{method: merge, path: .}]",
    )
}

fn chart(text: String) -> (&'static str, String) {
    ("site/lab/chart.yaml", text)
}

fn pw(value: &str) -> (&'static str, String) {
    ("site/lab/secrets/pw.yaml", secret("pw", value))
}

fn parent(text: &str) -> (&'static str, String) {
    ("global/parent.yaml", labelled_parent(text))
}

fn documents_that_become_secret() -> Vec<Hidden> {
    let literal = public(&block(LITERAL));
    let case = |name, base, head| Hidden {
        name,
        base: vec![chart(base)],
        head,
    };
    vec![
        case(
            "the document becomes secret",
            literal.clone(),
            vec![chart(literal.replace("cleartext", "encrypted"))],
        ),
        case(
            "the document becomes secret, with another value",
            literal.clone(),
            vec![chart(public(&block("q")).replace("cleartext", "encrypted"))],
        ),
        case(
            "the document becomes secret, and has a mistake",
            literal.clone(),
            vec![chart(
                secret("chart", "q").replace("  name: chart", "  name: chart\n  name: chart"),
            )],
        ),
        case(
            "the kind becomes a secret one",
            public(LITERAL),
            vec![chart(secret("chart", LITERAL))],
        ),
        case(
            "the kind becomes a secret one, with another value",
            public(LITERAL),
            vec![chart(secret("chart", "q"))],
        ),
        case(
            "the literal moves into a secret document",
            literal,
            vec![chart(public("\n  user: admin\n  port: 1\n")), pw(LITERAL)],
        ),
        case(
            "a part of the literal moves into a secret document",
            public(&url(LITERAL)),
            vec![chart(public("{port: 1}")), pw(LITERAL)],
        ),
    ]
}

/// Another secret replaces the literal.
fn literals_that_are_replaced() -> Vec<Hidden> {
    const FROM_ACCOUNTS: &str = "{schema: example/Any/v1, name: accounts, path: .db.password}";
    let case = |name, base, head, more: Vec<(&'static str, String)>| {
        let with_more = |text| [vec![chart(text), pw("sesame-other")], more.clone()].concat();
        Hidden {
            name,
            base: with_more(base),
            head: with_more(head),
        }
    };
    let literal = public(&block(LITERAL));
    let password = "path: .password";
    let accounts = substituting("accounts", FROM_SECRET, "path: .db.password", "{db: {}}");
    let encrypted = document("parent", "site", "{password: sesame-old}");
    vec![
        case(
            "a substitution replaces the literal",
            literal.clone(),
            substituted(password, "{user: admin, port: 1}"),
            Vec::new(),
        ),
        case(
            "a substitution replaces the literal, and a placeholder is in its place",
            literal.clone(),
            substituted(password, &block("PASSWORD")),
            Vec::new(),
        ),
        case(
            "a pattern replaces a part of the literal",
            public(&url(LITERAL)),
            substituted("path: .url, pattern: PASSWORD", &url("PASSWORD")),
            Vec::new(),
        ),
        case(
            "a pattern replaces a part of a long text",
            public(&conf(LITERAL)),
            substituted("path: .conf, pattern: PASSWORD", &conf("PASSWORD")),
            Vec::new(),
        ),
        case(
            "a mapping with the literal goes, and a substitution replaces it",
            public(&format!("{{db: {{a: b, password: {LITERAL}}}}}")),
            substituted("path: .db.password", "{port: 1}"),
            Vec::new(),
        ),
        case(
            "the secret of the parent is inherited instead",
            child(&block(LITERAL)),
            child("{port: 1}"),
            vec![parent(&substituting("parent", FROM_SECRET, password, "{}"))],
        ),
        case(
            "a value of an encrypted parent is inherited instead",
            child(&block(LITERAL)),
            child("{port: 1}"),
            vec![parent(&encrypted.replace("cleartext", "encrypted"))],
        ),
        case(
            "a substitution from a document that takes a secret replaces the literal",
            literal,
            substituting("chart", FROM_ACCOUNTS, password, "{port: 1}"),
            vec![("site/lab/accounts.yaml", accounts)],
        ),
        case(
            "a substitution from a document that is not there replaces the literal",
            public(&block(LITERAL)),
            substituting(
                "chart",
                "{schema: example/Any/v1, name: generated, path: .}",
                password,
                "{port: 1}",
            ),
            Vec::new(),
        ),
    ]
}

#[test]
fn literal_that_becomes_secret_is_hidden_on_the_base_side() {
    let all = documents_that_become_secret()
        .into_iter()
        .chain(literals_that_are_replaced());
    for Hidden { name, base, head } in all {
        let sandbox = Sandbox::with_sites();
        for (path, text) in &base {
            sandbox.write(path, text);
        }
        if !name.contains("encrypted parent") {
            let public = sandbox.run(&["render", "--site", "lab"]).stdout;
            assert!(
                public.contains(LITERAL),
                "{name}: the base is public: {public}"
            );
        }
        sandbox.commit();
        for (path, text) in &head {
            sandbox.write(path, text);
        }
        sandbox.git(&["add", "--all"]);
        let schema = if name.contains("kind") {
            "deckhand/Passphrase/v1"
        } else {
            "example/Any/v1"
        };
        let mut commands = commands();
        for path in [".", ".password", ".url"] {
            let question = [
                "explain-value",
                "lab",
                schema,
                "chart",
                path,
                "--since",
                "HEAD",
            ];
            commands.push(question.to_vec());
            commands.push([&question[..], &["--format", "json"]].concat());
        }
        commands.push(vec![
            "lint", "--since", "HEAD", "--select", "all", "-o", "json",
        ]);
        for arguments in commands {
            let ran = sandbox.run(&arguments);
            let shown = [&ran.stdout[..], &ran.stderr].concat();
            let held = shown.lines().find(|line| line.contains("sesame"));
            assert!(held.is_none(), "{name}: {arguments:?}: {held:?}");
        }
        let changed = sandbox.run(&["diff", "HEAD", "-o", "json"]).json();
        assert_eq!(changed["totals"]["unexplained"], 0, "{name}");
        assert!(!changed["edits"].as_array().unwrap().is_empty(), "{name}");
    }
}

/// A certificate and its key have one name and are in one file.
#[test]
fn public_document_beside_a_secret_one_of_its_name_is_shown() {
    let sandbox = Sandbox::with_sites();
    let of_kind = |kind: &str, policy: &str, data: &str| {
        let text = document("tls", "site", data).replace("cleartext", policy);
        text.replace("example/Any/v1", &format!("deckhand/{kind}/v1"))
    };
    let both = |certificate: &str, key: &str| {
        of_kind("Certificate", "cleartext", certificate)
            + &of_kind("CertificateKey", "encrypted", key)
    };
    sandbox.write("site/lab/secrets/tls.yaml", both("first", "sesame"));
    sandbox.commit();
    sandbox.write("site/lab/secrets/tls.yaml", both("second", "sesame-2"));
    let shown = sandbox.run(&["diff", "HEAD"]).stdout;
    for wanted in ["- first", "+ second"] {
        assert!(shown.contains(wanted), "{wanted}: {shown}");
    }
    assert!(!shown.contains("sesame"), "{shown}");
}

/// Values that stay public in the head are not secret, nor are other values of an edited file.
#[test]
fn values_that_stay_public_are_shown_for_the_base() {
    let sandbox = Sandbox::with_sites();
    sandbox.write("site/lab/secrets/pw.yaml", secret("pw", "sesame"));
    sandbox.write(
        "site/lab/chart.yaml",
        document("chart", "site", "{a: before, b: kept, c: x}"),
    );
    sandbox.commit();
    let source = "{schema: deckhand/Passphrase/v1, name: pw, path: .}";
    let text = substituting("chart", source, "path: .c", "{a: after, b: kept}");
    sandbox.write("site/lab/chart.yaml", text);
    let shown = sandbox.run(&["diff", "HEAD"]).stdout;
    assert!(shown.contains(".a: before → after"), "{shown}");
    let report = sandbox.run(&["diff", "HEAD", "-o", "json"]).json();
    let edits = report["edits"].as_array().unwrap();
    let hidden: Vec<&str> = edits
        .iter()
        .filter(|edit| edit["before"]["hidden"] == true)
        .map(|edit| edit["path"].as_str().unwrap())
        .collect();
    assert_eq!(hidden, [".c"]);
}

/// A secret that becomes public in a cleartext output is a new finding, even though its base value
/// is hidden as well.
#[test]
fn secret_in_cleartext_output_is_new_if_its_source_becomes_secret() {
    let sandbox = Sandbox::with_sites();
    let source = document("source", "site", "{password: sesame}");
    sandbox.write("site/lab/source.yaml", &source);
    let from = "{schema: example/Any/v1, name: source, path: .password}";
    let chart = substituting("chart", from, "path: .password", "{}");
    sandbox.write("site/lab/chart.yaml", chart);
    sandbox.commit();
    sandbox.write(
        "site/lab/source.yaml",
        source.replace("cleartext", "encrypted"),
    );
    let selected = ["--since", "HEAD", "--select", "secret-in-cleartext-output"];
    let found = sandbox.findings(&selected);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0]["state"], "new");
}
