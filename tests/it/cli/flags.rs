//! Help, and the flags that every verb has.

use super::super::docs::{assert_valid_command, commands_in, verbs};
use super::{Ran, Sandbox};

/// Every help text has examples, the meaning of the exit codes and a next step, and fits into 80
/// columns.
#[test]
fn help_has_examples_and_fits_the_terminal() {
    let sandbox = Sandbox::new();
    for verb in verbs().into_iter().chain([Vec::new()]) {
        for flag in ["-h", "--help"] {
            let arguments: Vec<&str> = verb.iter().map(String::as_str).chain([flag]).collect();
            let help = |columns: &str| {
                let mut command = sandbox.command(&arguments);
                let ran = Ran::of(&command.env("COLUMNS", columns).output().unwrap());
                assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
                ran.stdout
            };
            let (narrow, wide) = (help("80"), help("100"));
            let widest = narrow
                .lines()
                .max_by_key(|line| line.chars().count())
                .unwrap();
            assert!(widest.chars().count() <= 80, "{arguments:?}: {widest}");
            assert!(
                !narrow.contains("Commands for developing"),
                "hidden verbs are not listed"
            );
            for part in ["\n\nExamples:\n  ", "\n\nExit codes: 0 ", "\n\nNext: "] {
                assert!(
                    narrow.contains(part),
                    "{arguments:?} has {part:?}: {narrow}"
                );
            }
            // a folded command cannot be copied
            assert_eq!(examples(&narrow), examples(&wide), "{arguments:?}");
        }
    }
}

fn examples(help: &str) -> &str {
    let (_, rest) = help.split_once("\n\nExamples:\n").unwrap();
    rest.split_once("\n\nExit codes:").unwrap().0
}

/// The files and sites that they name need not exist; the commands must parse.
#[test]
fn examples_in_help_are_valid_commands() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    sandbox.commit_again();
    for verb in verbs().into_iter().chain([Vec::new()]) {
        let arguments: Vec<&str> = verb.iter().map(String::as_str).chain(["--help"]).collect();
        let help = sandbox.run(&arguments).stdout;
        let commands = commands_in(examples(&help).replace("\\\n", " ").as_str());
        assert!(!commands.is_empty(), "{help}");
        for command in commands {
            assert_valid_command(&command);
        }
    }
}

#[test]
fn meaningless_arguments_are_usage_errors() {
    let sandbox = Sandbox::with_sites();
    for arguments in [
        &[][..],
        &["nosuch"],
        &["lint", "--nosuch"],
        &["lint", "-o", "nosuch"],
        &["render", "--format", "nosuch"],
        &["sites", "--format", "nosuch"],
        &["lint", "--semantics", "nosuch"],
        &["lint", "--missing-substitution-source", "note"],
        &["lint", "--set", "--site", "lab"],
        &["lint", "--site", "[z-a]"],
        &["lint", "--site", "nosuch"],
        &["render", "--schema", "[z-a]"],
        &["lint", "--repository", "nosuch"],
        &["lint", "--repository", "=there"],
        &["lint", "-C", "nosuch"],
        &["lint", "nosuch.yaml"],
        &["sites", "site/lab"],
        &["explain", "nosuch"],
    ] {
        let ran = sandbox.run(arguments);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (2, ""),
            "{arguments:?}: {ran:?}"
        );
        assert!(!ran.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn only_render_can_show_secrets() {
    let sandbox = Sandbox::with_sites();
    for verb in ["lint", "sites", "explain"] {
        let ran = sandbox.run(&[verb, "--show-secrets"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{verb}");
        assert!(
            ran.stderr.contains("only valid for `layercake render`"),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(sandbox.run(&["render", "--show-secrets"]).code, 0);
}

#[test]
fn colour_needs_a_terminal_or_a_request() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    let is_painted = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = sandbox.command(&[&["lint"], arguments].concat());
        let ran = Ran::of(&command.envs(variables.iter().copied()).output().unwrap());
        assert_eq!(ran.code, 1);
        ran.stdout.contains('\x1b')
    };
    assert!(!is_painted(&[], &[]), "output to a pipe is not coloured");
    assert!(!is_painted(
        &["--color", "auto"],
        &[("TERM", "xterm-256color")]
    ));
    assert!(!is_painted(
        &["--color", "never"],
        &[("CLICOLOR_FORCE", "1")]
    ));
    assert!(is_painted(&["--color", "always"], &[]));
    assert!(
        is_painted(&["--color", "always"], &[("NO_COLOR", "1")]),
        "the flag has precedence over the variable"
    );
    assert!(is_painted(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(is_painted(&["-o", "concise", "--color", "always"], &[]));
    assert!(!is_painted(&["-o", "json", "--color", "always"], &[]));
}

#[test]
fn findings_wrap_at_the_requested_width() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    sandbox.break_site("prod");
    let widest = |columns: Option<&str>| {
        let mut command = sandbox.command(&["lint"]);
        let ran = Ran::of(
            &command
                .envs(columns.map(|it| ("COLUMNS", it)))
                .output()
                .unwrap(),
        );
        ran.stdout
            .lines()
            .map(|line| line.chars().count())
            .max()
            .unwrap()
    };
    for columns in [50, 60, 80] {
        assert!(widest(Some(&columns.to_string())) <= columns, "{columns}");
    }
    assert!(widest(None) <= 100);
    assert_eq!(widest(Some("many")), widest(None));
    assert!(widest(Some("1")) <= 40);
}

#[test]
fn no_progress_without_a_terminal() {
    let sandbox = Sandbox::with_sites();
    for arguments in [
        &["lint"][..],
        &["lint", "--no-progress"],
        &["sites"],
        &["render"],
    ] {
        assert_eq!(sandbox.run(arguments).stderr, "", "{arguments:?}");
    }
}

#[test]
fn both_semantics_can_be_selected() {
    let sandbox = Sandbox::with_sites();
    let parent = super::document("base", "global", "{list: [{a: 1}, {b: 1}]}")
        .replace("storagePolicy", "labels: {name: base}\n  storagePolicy");
    sandbox.write("global/base.yaml", parent);
    let child = super::document("child", "site", "{list: [{c: 1}]}").replace(
        "{abstract: false, layer: site}",
        "\n    abstract: false\n    layer: site\n    parentSelector: {name: base}\n    actions: \
         [{method: merge, path: '.list[0]'}]",
    );
    sandbox.write("site/lab/child.yaml", child);
    let render = |semantics: &str| {
        sandbox
            .run(&["render", "--name", "child", "--semantics", semantics])
            .stdout
    };
    assert_ne!(render("documented"), render("deckhand"));
    assert_eq!(
        render("documented"),
        sandbox.run(&["render", "--name", "child"]).stdout
    );
}

#[test]
fn missing_source_has_the_requested_level() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    let lint = |level: &str| sandbox.run(&["lint", "--missing-substitution-source", level]);
    assert_eq!((lint("error").code, lint("warning").code), (1, 0));
    assert!(lint("warning").stdout.contains("warning[missing-source]"));
}

impl Sandbox {
    fn commit_again(&self) {
        self.write("site/prod/more.yaml", super::document("more", "site", "{}"));
        self.commit();
    }
}
