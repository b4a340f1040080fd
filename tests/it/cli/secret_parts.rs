//! Canaries in cloud-init input: secret sets, alone and merged with public ones, in every form of
//! a part, valid and broken. No output of any verb holds a secret or depends on one.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::secrets::{CANARY, Secrets};
use super::{Ran, Sandbox, formats, without_time};

const CONFIGURATION: &str = "\
cloud-config:
  - name: open
    parts: ['global/cloud/*', 'site/{site}/hidden/*', 'global/last/*']
  - name: hidden
    secret: true
    parts: ['site/{site}/hidden/*']
  - name: plain
    parts: ['global/cloud/*']
";

/// Base64 encodings of the start of every canary, at each alignment.
const ENCODED: [&str; 3] = ["c2VzYW1l", "Nlc2FtZ", "zZXNhbW"];

const PADDINGS: [&str; 3] = ["q", "a-good-deal-longer-than-the-other-one", "w"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Faults {
    None,
    Some,
}

fn repository(padding: &'static str, faults: Faults) -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.write("layercake.yaml", CONFIGURATION);
    sandbox.write(
        "global/cloud/base.yaml",
        "#cloud-config\npackages: [a]\nmotd: public\nntp: {enabled: true}\n",
    );
    sandbox.write(
        "global/last/last.yaml",
        "#cloud-config\nmerge_how: dict(recurse_list,recurse_str)+list(append)+str(append)\n\
         packages: [z]\nmotd: public\n",
    );
    write(&sandbox, padding, faults);
    sandbox
}

/// Writes the secret files, with secrets of the given length.
fn write(sandbox: &Sandbox, padding: &'static str, faults: Faults) {
    let of = Secrets { padding };
    let mut files = sound(&of);
    if faults == Faults::Some {
        files.extend(faulty(&of));
    }
    for (name, text) in files {
        sandbox.write(&format!("site/lab/hidden/{name}"), text);
    }
    sandbox.write(
        "site/lab/included",
        format!("#cloud-config\nincluded: {}\n", of.named("included")),
    );
}

fn sound(of: &Secrets) -> Vec<(&'static str, String)> {
    let named = |name: &str| of.named(name);
    let users = format!(
        "#cloud-config\nmerge_how: dict(recurse_list,recurse_str,{})+list(append)+str(append)\n\
         packages: [{}, {}]\nmotd: {}\nntp: {{pool: {}}}\n{}: 1 # layercake: ignore[{}] {}\n\
         users: # layercake: ignore[invalid-yaml] {}\n  - name: root\n    passwd: {}\n",
        named("option"),
        named("package"),
        named("other"),
        named("motd"),
        named("pool"),
        named("key"),
        named("rule"),
        named("reason"),
        named("why"),
        named("passwd"),
    );
    let patch = format!(
        "#cloud-config-jsonp\n[{{\"op\": \"add\", \"path\": \"/{}\", \"value\": {{\"{}\": \"{}\"}}}},\n \
         {{\"op\": \"add\", \"path\": \"/public\", \"value\": \"{}\"}}]\n",
        named("pointer"),
        named("inner"),
        named("patched"),
        named("added"),
    );
    let encoded = STANDARD.encode(format!("#cloud-config\nencoded: {}\n", named("encoded")));
    let message = format!(
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: \
         text/cloud-config\nContent-Transfer-Encoding: base64\nMerge-Type: dict()+list()\nX-Name: \
         {}\n\n{encoded}\n--b\nContent-Type: text/x-shellscript\n\necho {}\n--b--\n",
        named("header"),
        named("script"),
    );
    let archive = format!(
        "#cloud-config-archive\n- Merge-Type: dict()+list(append)\n  filename: {}\n  content: |\n    \
         #cloud-config\n    archived: {}\n",
        named("filename"),
        named("archived"),
    );
    vec![
        ("10-users.yaml", users),
        ("20-patch", patch),
        ("30-message", message),
        ("40-archive", archive),
        ("50-include", "#include\n../included\n".to_owned()),
    ]
}

/// Files with a fault in or beside a secret.
fn faulty(of: &Secrets) -> Vec<(&'static str, String)> {
    let named = |name: &str| of.named(name);
    let config = |text: &str| format!("#cloud-config\n{text}\n");
    vec![
        ("60-open", config(&format!("open: [{}", named("open")))),
        ("60-alias", config(&format!("alias: *{}", named("alias")))),
        (
            "60-twice",
            config(&format!("{0}: 1\n{0}: {1}", named("twice"), named("value"))),
        ),
        ("60-list", config(&format!("- {}", named("item")))),
        (
            "60-two",
            config(&format!(
                "a: {}\n---\nb: {}",
                named("first"),
                named("second")
            )),
        ),
        (
            "61-class",
            config(&format!("merge_how: {}(append)\na: 1", named("class"))),
        ),
        (
            "61-option",
            config(&format!("merge_how: dict({})\na: 1", named("option"))),
        ),
        (
            "61-shape",
            config(&format!("merge_how: [{{name: {}}}]\na: 1", named("shape"))),
        ),
        (
            "61-text",
            config(&format!(
                "merge_how: dict(recurse_str)+str(append)\nmotd: {{{}: 1}}",
                named("text")
            )),
        ),
        (
            "62-patch",
            format!(
                "#cloud-config-jsonp\n[{{\"op\": \"{}\", \"path\": \"/a\"}}]\n",
                named("op")
            ),
        ),
        (
            "62-test",
            format!(
                "#cloud-config-jsonp\n[{{\"op\": \"test\", \"path\": \"/motd\", \"value\": \"{}\"}}]\n",
                named("test"),
            ),
        ),
        (
            "62-json",
            format!("#cloud-config-jsonp\n[{}\n", named("json")),
        ),
        (
            "63-boundary",
            format!(
                "MIME-Version: 1.0\nContent-Type: multipart/mixed\n\n--b\n{}\n",
                named("boundary"),
            ),
        ),
        (
            "63-end",
            format!(
                "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: \
             text/{}\nMERGE-TYPE: {}\n\n{}\n",
                named("type"),
                named("merge-type"),
                named("body"),
            ),
        ),
        ("64-unknown", format!("{}\n", named("unknown"))),
        (
            "64-remote",
            format!("#include\nhttp://{}.example.org/\n", named("host")),
        ),
        (
            "64-jinja",
            format!(
                "## template: jinja\n#cloud-config\na: {{{{ {} }}}}\n",
                named("jinja")
            ),
        ),
        (
            "65-comment",
            config(&format!(
                "# layercake: ignore[{}\na: 1 # layercake: {}",
                named("open"),
                named("word")
            )),
        ),
        (
            "66-archive",
            format!(
                "#cloud-config-archive\n- type: {0}\n  content: {0}\n",
                named("odd")
            ),
        ),
        ("67-include", format!("#include\n../{}\n", named("nowhere"))),
    ]
}

fn commands() -> Vec<Vec<&'static str>> {
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["render"],
        vec!["render", "--format", "json", "--with-origin"],
        vec!["sites"],
        vec!["graph"],
        vec!["graph", "--format", "json"],
        vec!["graph", "--format", "mermaid"],
        vec!["graph", "--format", "dot"],
        vec!["lint", "--fix", "--diff"],
        vec!["lint", "--add-ignore=why", "--diff"],
        vec!["lint", "--show-ignored"],
        vec!["lint", "--statistics"],
    ];
    for form in formats() {
        commands.push(vec!["lint", "-o", form]);
        commands.push(vec!["lint", "--select", "all", "-o", form]);
        commands.push(vec![
            "lint",
            "--since",
            "HEAD",
            "--select",
            "all",
            "-o",
            form,
            "--all-findings",
        ]);
        commands.push(vec!["diff", "HEAD", "-o", form]);
    }
    commands.push(vec![
        "lint",
        "--since",
        "HEAD",
        "--all-findings",
        "-o",
        "json=../saved.json",
    ]);
    for form in formats() {
        commands.push(vec![
            "report",
            "../saved.json",
            "--all-findings",
            "-o",
            form,
        ]);
    }
    commands.push(vec!["diff", "HEAD", "-o", "concise"]);
    commands.push(vec!["diff", "HEAD", "--verify-attribution", "--patch"]);
    for name in ["open", "hidden"] {
        for path in [
            ".",
            ".packages",
            ".packages[1]",
            ".motd",
            ".users[0].passwd",
            ".guessed",
            "/public",
        ] {
            commands.push(vec!["explain-value", "lab", "cloud-config", name, path]);
            commands.push(vec![
                "explain-value",
                "--all-sites",
                "cloud-config",
                name,
                path,
            ]);
            commands.push(vec![
                "explain-value",
                "lab",
                "cloud-config",
                name,
                path,
                "--format",
                "json",
            ]);
            commands.push(vec![
                "explain-value",
                "lab",
                "cloud-config",
                name,
                path,
                "--since",
                "HEAD",
            ]);
        }
    }
    for place in [
        "site/lab/hidden/10-users.yaml:3",
        "site/lab/hidden/10-users.yaml:6",
        "site/lab/hidden/20-patch:2",
        "site/lab/hidden/30-message:10",
        "site/lab/hidden/40-archive:5",
        "site/lab/included:2",
        "site/lab/hidden",
        "global/cloud/base.yaml:2",
    ] {
        commands.push(vec!["impact", place]);
        commands.push(vec!["impact", place, "--format", "json"]);
    }
    let why_not = [
        "explain-value",
        "lab",
        "cloud-config",
        "open",
        ".motd",
        "--why-not",
    ];
    for place in [
        "global/cloud/base.yaml:3",
        "site/lab/hidden/10-users.yaml:4",
    ] {
        commands.push([&why_not[..], &[place]].concat());
    }
    commands
}

/// Output of all commands on a working tree in which every secret differs from the commit, without
/// times and without the ids that git derives from content.
fn all_runs(padding: &'static str, before: &'static str, faults: Faults) -> Vec<(String, Ran)> {
    let sandbox = repository(before, faults);
    sandbox.commit();
    let ids = ["HEAD", "HEAD^{tree}"].map(|it| sandbox.git(&["rev-parse", it]).trim().to_owned());
    write(&sandbox, padding, faults);
    let plain = |text: &str| {
        let text = ids
            .iter()
            .flat_map(|id| (7..=id.len()).rev().map(move |length| &id[..length]))
            .fold(text.to_owned(), |text, id| text.replace(id, "ID"));
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
fn outputs_about_parts_neither_contain_nor_depend_on_secrets() {
    for faults in [Faults::None, Faults::Some] {
        let first = all_runs(PADDINGS[0], PADDINGS[1], faults);
        let second = all_runs(PADDINGS[1], PADDINGS[2], faults);
        for ((arguments, ran), (_, other)) in first.iter().zip(&second) {
            for ran in [ran, other] {
                let shown = [&ran.stdout[..], &ran.stderr].concat();
                let leaks = |line: &&str| {
                    line.contains(CANARY) || ENCODED.iter().any(|it| line.contains(it))
                };
                let held = shown.lines().find(leaks);
                assert!(held.is_none(), "{arguments}: {held:?}");
            }
            let lines = ran.stdout.lines().zip(other.stdout.lines());
            let different: Vec<_> = lines.filter(|(one, other)| one != other).take(3).collect();
            assert!(different.is_empty(), "{arguments}: {different:#?}");
            assert_eq!(ran, other, "{arguments}");
        }
    }
}

/// The outputs would prove little if the commands failed, or if nothing was hidden.
#[test]
fn only_secret_parts_are_hidden() {
    let sandbox = repository("q", Faults::None);
    let rendered = |name: &str| {
        sandbox
            .run(&["render", "--site", "lab", "--name", name])
            .stdout
    };
    for name in ["hidden", "open"] {
        assert!(
            rendered(name).contains("data: (hidden)"),
            "{}",
            rendered(name)
        );
    }
    assert!(
        rendered("plain").contains("motd: public"),
        "{}",
        rendered("plain")
    );
    let shown = sandbox
        .run(&[
            "render",
            "--site",
            "lab",
            "--name",
            "open",
            "--show-secrets",
        ])
        .stdout;
    for name in [
        "package", "motd", "passwd", "patched", "added", "encoded", "archived", "included",
    ] {
        assert!(
            shown.contains(&Secrets { padding: "q" }.named(name)),
            "{name}: {shown}"
        );
    }
    for (arguments, ran) in all_runs("q", "w", Faults::None) {
        let is_guess = arguments.contains("guessed")
            || arguments.contains('[')
            || arguments.contains("/public")
            || arguments.contains(".users");
        assert!(ran.code < 2 || is_guess, "{arguments}: {ran:?}");
    }
}

/// A secret file stays secret if another set includes it or a link leads to it.
#[test]
#[cfg(unix)]
fn secret_parts_stay_secret_through_includes_and_links() {
    let sandbox = Sandbox::with_sites();
    sandbox.write("layercake.yaml", CONFIGURATION);
    let secrets = format!("#cloud-config\nusers: [{CANARY}]\nbroken: {CANARY}: 1\n");
    let sound = format!("#cloud-config\nusers: [{CANARY}]\n");
    sandbox.write("site/lab/hidden/1", sound);
    sandbox.write("site/lab/hidden/2", secrets);
    sandbox.write("global/cloud/a", "#include\n/site/lab/hidden/1\n");
    sandbox.write("global/cloud/b", "#include\n../../site/lab/hidden/2\n");
    sandbox.commit();
    let linked = sandbox.path("global/cloud/c");
    std::os::unix::fs::symlink("../../site/lab/hidden/1", linked).unwrap();
    sandbox.write("global/cloud/d", "#include\n./c\n");
    for command in commands() {
        let ran = sandbox.run(&command);
        let printed = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!printed.contains(CANARY), "{command:?}: {printed}");
    }
    let rendered = sandbox
        .run(&["render", "--site", "lab", "--show-secrets"])
        .stdout;
    assert!(rendered.contains(&format!("- {CANARY}")), "{rendered}");
}

/// A link below `global` turns a secret part into a Deckhand document, and a file named by hand
/// may include one.
#[test]
#[cfg(unix)]
fn secret_parts_stay_secret_as_documents_and_as_named_files() {
    let sandbox = repository("q", Faults::Some);
    let of = Secrets { padding: "q" };
    let document = format!(
        "schema: a/B/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: document\n  \
         layeringDefinition: {{abstract: false, layer: global}}\n  storagePolicy: cleartext\n\
         data: {{a: {}, {}: yes}}\n",
        of.named("a"),
        of.named("b"),
    );
    sandbox.write("site/lab/hidden/70-document", document);
    let files = sound(&of)
        .into_iter()
        .chain(faulty(&of))
        .map(|(name, _)| name);
    let names: Vec<&str> = files.chain(["70-document"]).collect();
    for name in &names {
        sandbox.write(&format!("global/linked/{name}.yaml"), "");
        let link = sandbox.path(&format!("global/linked/{name}.yaml"));
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(format!("../../site/lab/hidden/{name}"), link).unwrap();
        sandbox.write(
            &format!("site/lab/asked/{name}"),
            format!("#include\n../hidden/{name}\n../../../global/linked/{name}.yaml\n"),
        );
    }
    sandbox.commit();
    let asked: Vec<String> = names
        .iter()
        .map(|name| format!("site/lab/asked/{name}"))
        .collect();
    let mut commands: Vec<Vec<&str>> = Vec::new();
    for form in formats() {
        commands.push(vec!["lint", "--select", "all", "-o", form]);
        commands.push(vec!["lint", "--select", "all", "--rev", "HEAD", "-o", form]);
    }
    commands.push(vec!["lint", "--set", "global/linked", "--select", "all"]);
    commands.push(vec!["render", "--site", "lab"]);
    commands.extend(asked.iter().map(|file| vec!["cloud-config", &**file]));
    for command in commands {
        let ran = sandbox.run(&command);
        let printed = format!("{}{}", ran.stdout, ran.stderr);
        let leaks =
            |line: &&str| line.contains(CANARY) || ENCODED.iter().any(|it| line.contains(it));
        assert_eq!(printed.lines().find(leaks), None, "{command:?}");
        assert!(ran.code < 2, "{command:?}: {printed}");
    }
    // From a subfolder, in which relative paths differ.
    sandbox.write(
        "site/lab/asked/below",
        "#include\n../hidden/10-users.yaml\n",
    );
    let below = sandbox.run(&["-C", "site/lab", "cloud-config", "asked/below"]);
    assert!(
        !below.stdout.contains(CANARY) && below.stdout.contains("(hidden)"),
        "{below:?}"
    );
    // Where nothing is declared secret, the same command shows it.
    sandbox.write("layercake.yaml", "");
    let shown = sandbox
        .run(&["cloud-config", "site/lab/asked/below"])
        .stdout;
    assert!(shown.contains(CANARY), "{shown}");
}
