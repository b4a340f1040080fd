//! Help, and the flags that every verb has.

use super::{Ran, Sandbox};

#[test]
fn help_teaches_and_fits_the_terminal() {
    let sandbox = Sandbox::new();
    for verb in ["", "lint", "render", "sites", "explain"] {
        for flag in ["-h", "--help"] {
            let arguments: Vec<&str> =
                [verb, flag].into_iter().filter(|it| !it.is_empty()).collect();
            let ran = Ran::of(&sandbox.command(&arguments).env("COLUMNS", "80").output().unwrap());
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
            let widest = ran.stdout.lines().max_by_key(|line| line.chars().count()).unwrap();
            assert!(widest.chars().count() <= 80, "{arguments:?}: {widest}");
            assert!(!ran.stdout.contains("debug"), "what is hidden is not shown");
            if verb != "explain" {
                assert!(ran.stdout.contains("Exit codes: 0"), "{arguments:?}");
            }
            if !matches!(verb, "explain" | "sites") {
                assert!(ran.stdout.contains("Examples:\n"), "{arguments:?}");
            }
        }
    }
}

#[test]
fn the_examples_of_the_help_are_commands() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    sandbox.commit_again();
    for verb in [&["--help"][..], &["lint", "--help"], &["render", "--help"]] {
        let help = sandbox.run(verb).stdout;
        let examples = help.lines().filter_map(|line| line.strip_prefix("  layercake "));
        let commands: Vec<&str> = examples
            .map(|line| line.split("  ").next().unwrap().split(" |").next().unwrap())
            .filter(|command| !command.contains("--set"))
            .collect();
        assert!(commands.len() > 2, "{help}");
        for command in commands {
            let arguments: Vec<&str> =
                command.split(' ').map(|argument| argument.trim_matches('\'')).collect();
            let ran = sandbox.run(&arguments);
            let is_usage = ran.stderr.contains("Usage:");
            assert!(!is_usage, "{command}: {ran:?}");
        }
    }
}

#[test]
fn arguments_that_mean_nothing_are_usage_errors() {
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
        &["lint", ".."],
        &["sites", "site/lab"],
        &["explain", "nosuch"],
    ] {
        let ran = sandbox.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}: {ran:?}");
        assert!(!ran.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn secrets_are_shown_by_render_alone() {
    let sandbox = Sandbox::with_sites();
    for verb in ["lint", "sites", "explain"] {
        let ran = sandbox.run(&[verb, "--show-secrets"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{verb}");
        assert!(ran.stderr.contains("`layercake render` alone"), "{}", ran.stderr);
    }
    assert_eq!(sandbox.run(&["render", "--show-secrets"]).code, 0);
}

#[test]
fn colour_is_for_terminals_and_for_who_asks() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    let is_painted = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = sandbox.command(&[&["lint"], arguments].concat());
        let ran = Ran::of(&command.envs(variables.iter().copied()).output().unwrap());
        assert_eq!(ran.code, 1);
        ran.stdout.contains('\x1b')
    };
    assert!(!is_painted(&[], &[]), "no terminal, no colour");
    assert!(!is_painted(&["--color", "auto"], &[("TERM", "xterm-256color")]));
    assert!(!is_painted(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(is_painted(&["--color", "always"], &[]));
    assert!(is_painted(&["--color", "always"], &[("NO_COLOR", "1")]), "the flag is nearer");
    assert!(is_painted(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(is_painted(&["-o", "concise", "--color", "always"], &[]));
    assert!(!is_painted(&["-o", "json", "--color", "always"], &[]));
}

#[test]
fn findings_are_as_wide_as_asked() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    sandbox.break_site("prod");
    let widest = |columns: Option<&str>| {
        let mut command = sandbox.command(&["lint"]);
        let ran = Ran::of(&command.envs(columns.map(|it| ("COLUMNS", it))).output().unwrap());
        ran.stdout.lines().map(|line| line.chars().count()).max().unwrap()
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
    for arguments in [&["lint"][..], &["lint", "--no-progress"], &["sites"], &["render"]] {
        assert_eq!(sandbox.run(arguments).stderr, "", "{arguments:?}");
    }
}

#[test]
fn both_meanings_can_be_asked_for() {
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
        sandbox.run(&["render", "--name", "child", "--semantics", semantics]).stdout
    };
    assert_ne!(render("documented"), render("deckhand"));
    assert_eq!(render("documented"), sandbox.run(&["render", "--name", "child"]).stdout);
}

#[test]
fn a_missing_source_is_what_it_is_said_to_be() {
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
