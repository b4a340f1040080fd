//! Errors that keep the program from running, and their messages.

use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};

use super::{Ran, Sandbox, document, formats};

#[test]
fn error_outside_a_site_repository_explains_what_one_is() {
    for sandbox in [Sandbox::new(), Sandbox::outside_git()] {
        for verb in ["lint", "render", "sites"] {
            let ran = sandbox.run(&[verb]);
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
            assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
            assert!(
                ran.stderr.contains("\n  help: a site repository has"),
                "{}",
                ran.stderr
            );
        }
    }
}

#[test]
fn error_names_a_site_repository_in_a_subfolder() {
    for (folder, word) in [("deployment files", "'deployment files'"), ("a/b", "a/b")] {
        let sandbox = Sandbox::new();
        sandbox.write(&format!("{folder}/global/policy.yaml"), "");
        sandbox.write(&format!("{folder}/site/lab/site-definition.yaml"), "");
        let ran = sandbox.run(&["sites"]);
        assert_eq!(ran.code, 2);
        let help = format!("\n  help: did you mean `-C {word}`?\n");
        assert!(ran.stderr.ends_with(&help), "{}", ran.stderr);
        sandbox.write("other/site/lab/site-definition.yaml", "");
        let ran = sandbox.run(&["lint"]);
        let more = "There is one more site repository in this folder";
        assert!(ran.stderr.contains(more), "{}", ran.stderr);
    }
}

/// The readable part of the definition does not give the type of the site.
#[test]
fn site_definition_with_a_conflict_is_one_finding() {
    let sandbox = Sandbox::with_sites();
    let conflict = "<<<<<<< HEAD\n  site_type: small\n=======\n  site_type: large\n>>>>>>> other\n";
    let definition = format!("---\nschema: pegleg/SiteDefinition/v1\ndata:\n{conflict}");
    sandbox.write("site/lab/site-definition.yaml", definition);
    for arguments in [
        &["lint", "-o", "concise"][..],
        &["lint", "--site", "lab", "-o", "concise"],
    ] {
        let ran = sandbox.run(arguments);
        let finding = "site/lab/site-definition.yaml:4:1: error[invalid-yaml] invalid YAML: merge \
                       conflict (in lab)\n";
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (1, finding),
            "{arguments:?}: {ran:?}"
        );
    }
}

/// Repositories of another tool contain hundreds of such files.
#[test]
fn files_in_another_format_are_one_finding() {
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    let template = "---\nschema: a/B/v1\nmetadata: {name: {{ name }}}\n";
    for (name, text, form) in [
        (
            "object",
            object,
            "12 files contain Kubernetes objects (`apiVersion` and `kind`)",
        ),
        (
            "template",
            template,
            "12 files contain templates (`{{ … }}` or `{% … %}`)",
        ),
    ] {
        let sandbox = Sandbox::with_sites();
        for at in 0..12 {
            sandbox.write(&format!("global/{name}{at:02}.yaml"), text);
        }
        let ran = sandbox.run(&["lint", "-o", "concise"]);
        let found: Vec<&str> = ran
            .stdout
            .lines()
            .filter(|line| line.contains(name))
            .collect();
        assert_eq!(found.len(), 1, "{ran:?}");
        assert!(
            found[0].contains(form) && found[0].contains("in all 2 sites"),
            "{}",
            found[0]
        );
        let ran = sandbox.run(&["lint", "-o", "json"]);
        assert!(ran.stdout.contains("\"count\": 12"), "{}", ran.stdout);
    }
}

#[test]
fn unknown_revisions_are_named() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    for revision in ["nosuch", "HEAD~9", "0123456789", "HEAD:site"] {
        let ran = sandbox.run(&["lint", "--rev", revision]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (2, ""),
            "{revision}: {ran:?}"
        );
        assert!(ran.stderr.contains(revision), "{}", ran.stderr);
    }
    let outside = Sandbox::outside_git();
    outside.write_sites();
    let ran = outside.run(&["lint", "--rev", "HEAD"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("not inside a git repository"),
        "{}",
        ran.stderr
    );
}

#[test]
fn rev_flag_conflicts_with_a_comparison() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    for comparison in [
        &["--since", "HEAD"][..],
        &["--staged"],
        &["--from", "HEAD"],
        &["--auto"],
    ] {
        let ran = sandbox.run(&[&["lint", "--rev", "HEAD"], comparison].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(
            ran.stderr.contains("help: use `--from REV --to REV`"),
            "{}",
            ran.stderr
        );
    }
}

/// Text quoted from the configuration and the baseline must not control a terminal.
#[test]
fn errors_have_no_control_characters() {
    let evil = r"\u001b]0;title\u0007\u202e\r";
    let configuration = Sandbox::with_sites();
    configuration.write("layercake.yaml", format!("\"{evil}\": 1\n"));
    let named = Sandbox::with_sites();
    named.write("layercake.yaml", format!("baseline: \"{evil}\"\n"));
    let damaged = Sandbox::with_sites();
    damaged.write(
        ".layercake-baseline.json",
        format!("{{\"version\": \"{evil}\"}}"),
    );
    for sandbox in [configuration, named, damaged] {
        let ran = sandbox.run(&["baseline", "show"]);
        assert_eq!(ran.code, 2, "{ran:?}");
        let is_harmful = |it: char| (it.is_control() && it != '\n') || it == '\u{202e}';
        assert!(!ran.stderr.contains(is_harmful), "{:?}", ran.stderr);
    }
}

/// CI systems treat some text in a log as commands.
#[test]
fn human_readable_output_contains_no_ci_commands() {
    let sandbox = Sandbox::with_sites();
    let definition = std::fs::read_to_string(sandbox.path("site/lab/site-definition.yaml"));
    let definition = definition
        .unwrap()
        .replace("name: lab", "name: '##[error]x'");
    sandbox.write("site/##[error]x/site-definition.yaml", definition);
    let text = document("##[group]x", "site", "{a: 1}");
    sandbox.write(
        "site/##[error]x/a.yaml",
        text.replace("##[group]x", "'##[group]x'"),
    );
    for arguments in [
        &["sites"][..],
        &["graph"],
        &["impact", "site/##[error]x/a.yaml:1"],
        &[
            "explain-value",
            "##[error]x",
            "example/Kind/v1",
            "##[group]x",
            ".a",
        ],
    ] {
        let ran = sandbox.run(arguments);
        let printed = format!("{}{}", ran.stdout, ran.stderr);
        assert!(printed.contains(r"##\x5b"), "{arguments:?}: {printed}");
        assert!(!printed.contains("##["), "{arguments:?}: {printed}");
    }
}

#[test]
fn unknown_sites_and_rules_get_a_hint() {
    let sandbox = Sandbox::with_sites();
    let ran = sandbox.run(&["lint", "--site", "laab"]);
    assert!(ran.stderr.contains("did you mean `lab`?"), "{}", ran.stderr);
    let ran = sandbox.run(&["explain", "mising-parent"]);
    assert!(
        ran.stderr.contains("did you mean `missing-parent`?"),
        "{}",
        ran.stderr
    );
    let ran = sandbox.run(&["explain", "quite-another"]);
    assert!(
        ran.stderr
            .contains("run `layercake explain` to list all rules"),
        "{}",
        ran.stderr
    );
}

#[test]
fn pipe_closed_by_its_reader_is_not_an_error() {
    let sandbox = Sandbox::with_sites();
    for number in 0..2000 {
        let name = format!("many-{number}");
        sandbox.write(
            &format!("site/lab/{name}.yaml"),
            document(&name, "site", "{a: [1, 2]}"),
        );
    }
    for arguments in [
        &["render"][..],
        &["render", "--format", "json"],
        &["lint"],
        &["sites"],
        &["explain"],
    ] {
        let mut command = sandbox.command(arguments);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 4];
        if arguments[0] == "render" {
            child
                .stdout
                .as_mut()
                .unwrap()
                .read_exact(&mut first)
                .unwrap();
        }
        drop(child.stdout.take());
        let ran = Ran::of(&child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
    }
}

/// The exit code of a gate must not depend on when the reader of a pipe exits.
#[test]
fn closed_pipe_does_not_change_the_exit_code() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    sandbox.break_site("lab");
    for number in 0..300 {
        let name = format!("many-{number}");
        let orphan = document(&name, "nowhere", "{a: [1, 2]}");
        sandbox.write(&format!("site/lab/{name}.yaml"), orphan);
    }
    let saved = sandbox.run(&["lint", "-o", "json"]).stdout;
    sandbox.write("saved.json", saved);
    let mut commands: Vec<Vec<&str>> = formats()
        .flat_map(|format| {
            [
                vec!["lint", "-o", format],
                vec!["lint", "--since", "HEAD", "-o", format],
                vec!["diff", "HEAD", "--exit-code", "-o", format],
                vec!["report", "saved.json", "-o", format],
            ]
        })
        .collect();
    commands.extend([
        vec!["lint", "--exit-zero"],
        vec!["lint", "--statistics"],
        vec!["lint", "--diff"],
        vec!["diff", "HEAD", "--max-outputs", "0"],
        vec!["render"],
        vec!["render", "--format", "json"],
        vec!["sites"],
        vec!["graph"],
        vec!["impact", "site/lab/only.yaml:1"],
        vec!["explain"],
        vec!["explain", "no-such-rule"],
        vec!["--help"],
    ]);
    for arguments in commands {
        let expected = sandbox.run(&arguments).code;
        let [stdout, stderr] = [closed_pipe(), closed_pipe()];
        let mut command = sandbox.command(&arguments);
        let code = |command: &mut Command| command.output().unwrap().status.code().unwrap();
        assert_eq!(
            code(command.stdout(stdout)),
            expected,
            "standard output, {arguments:?}"
        );
        assert_eq!(
            code(command.stderr(stderr)),
            expected,
            "both, {arguments:?}"
        );
    }
    assert_eq!(sandbox.run(&["lint"]).code, 1, "there are errors");
}

/// Write end of a pipe without a reader.
fn closed_pipe() -> std::io::PipeWriter {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_an_error() {
    let sandbox = Sandbox::with_sites();
    for arguments in [
        &["lint"][..],
        &["lint", "-o", "json"],
        &["render"],
        &["render", "--format", "json"],
        &["sites"],
        &["explain"],
        &["explain", "missing-parent"],
        &["lint", "--help"],
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let ran = Ran::of(&sandbox.command(arguments).stdout(full).output().unwrap());
        assert_eq!(ran.code, 2, "{arguments:?}");
        assert!(ran.stderr.contains("cannot write output"), "{}", ran.stderr);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn closed_standard_error_does_not_stop_a_run() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let render = ["render", "--fail-on", "error"];
    let ran = Ran::of(&sandbox.command(&render).stderr(full()).output().unwrap());
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("name: broken"));
    assert_eq!(
        sandbox
            .command(&["nosuch"])
            .stderr(full())
            .output()
            .unwrap()
            .status
            .code(),
        Some(2)
    );
}
