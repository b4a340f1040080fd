//! `rules`, `config` and `init`, and the flags that select rules.

use std::fs;

use layercake::config::SCHEMA;
use layercake::report::Format;

use super::{are, configured, rules};
use crate::cli::{Sandbox, document};

fn faulty() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    sandbox.write(
        "site/lab/twice.yaml",
        document("twice", "site", "{a: 1, a: 2}"),
    );
    sandbox.write(
        "type/unused/of-no-site.yaml",
        document("of-no-site", "type", "{}"),
    );
    sandbox
}

#[test]
fn rules_are_selected_by_flags() {
    let sandbox = faulty();
    for (arguments, expected) in [
        (
            &[][..],
            &["duplicate-key", "missing-source", "unused-type"][..],
        ),
        (&["--select", "duplicate-key"], &["duplicate-key"]),
        (
            &["--select", "duplicate-key,P005"],
            &["duplicate-key", "missing-source"],
        ),
        (
            &["--select", "P005", "--select", "unused-type"],
            &["missing-source", "unused-type"],
        ),
        (
            &["--select", "P005", "--extend-select", "duplicate-key"],
            &["duplicate-key", "missing-source"],
        ),
        (&["--ignore", "P005,unused-type"], &["duplicate-key"]),
        (&["-x", "P005", "-x", "duplicate-key"], &["unused-type"]),
        (&["--select", "all", "--ignore", "all"], &[]),
    ] {
        assert!(are(&rules(&sandbox, arguments), expected), "{arguments:?}");
    }
    for arguments in [
        ["--select", "nosuch"],
        ["-x", "nosuch"],
        ["-w", "mising-parent"],
    ] {
        let ran = sandbox.run(&[&["lint"], &arguments[..]].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains("unknown rule"), "{ran:?}");
    }
}

#[test]
fn select_flag_overrides_ignored_rules_of_the_file() {
    let sandbox = faulty();
    sandbox.write("layercake.yaml", "rules: {ignore: [duplicate-key, P005]}\n");
    assert!(are(&rules(&sandbox, &[]), &["unused-type"]));
    assert!(are(
        &rules(&sandbox, &["--select", "duplicate-key"]),
        &["duplicate-key"]
    ));
    let extended = rules(&sandbox, &["--extend-select", "duplicate-key"]);
    assert!(are(&extended, &["duplicate-key", "unused-type"]));
}

#[test]
fn fail_level_is_configurable() {
    let sandbox = faulty();
    let code = |arguments: &[&str]| sandbox.run(&[&["lint"], arguments].concat()).code;
    assert_eq!(code(&[]), 1);
    for (level, fails) in [
        ("error", [1, 0, 0, 0]),
        ("warning", [1, 1, 0, 0]),
        ("note", [1, 1, 1, 0]),
        ("never", [0; 4]),
    ] {
        for (ignored, expected) in ["unused-type", "P005", "P005,duplicate-key", "all"]
            .iter()
            .zip(fails)
        {
            assert_eq!(
                code(&["--fail-on", level, "-x", ignored]),
                expected,
                "{level} without {ignored}"
            );
        }
    }
    assert_eq!(code(&["--exit-zero"]), 0);
    assert_eq!(code(&["--exit-zero", "--fail-on", "note"]), 2);
    assert_eq!(code(&["--fail-on", "nosuch"]), 2);
    sandbox.commit();
    let since = ["--since", "HEAD", "--fail-on", "note"];
    assert_eq!(
        code(&since),
        0,
        "with a comparison, only new findings count"
    );
    assert_eq!(code(&[&since[..], &["--all-findings"]].concat()), 1);
    sandbox.write(
        "type/new/of-no-site.yaml",
        document("of-no-site", "type", "{}"),
    );
    assert_eq!(code(&since), 1);
    assert_eq!(code(&["--since", "HEAD"]), 0);
}

#[test]
fn rules_lists_configured_levels() {
    let sandbox = configured("rules: {ignore: [missing-parent], levels: {P005: note}}\n");
    let listed = sandbox.run(&["rules", "--format", "json"]).json();
    let of = |name: &str| {
        let rows = listed["rules"].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap().clone()
    };
    assert_eq!(
        (
            &of("missing-parent")["level"],
            &of("missing-parent")["default_level"]
        ),
        (&"off".into(), &"error".into())
    );
    assert_eq!(
        (
            &of("missing-source")["level"],
            &of("missing-source")["aliases"][0]
        ),
        (&"note".into(), &"P005".into())
    );
    assert_eq!(
        of("missing-source")["groups"],
        serde_json::json!(["default", "strict", "deckhand", "pegleg", "all"])
    );
    assert_eq!(
        listed["rules"].as_array().unwrap().len(),
        layercake::rules::RULES.len()
    );
    let text = sandbox.run(&["rules", "--select", "P005"]).stdout;
    // Further lines of a rule are indented.
    let names = text.lines().filter_map(|line| line.split(' ').next());
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    let mut expected: Vec<&str> = layercake::rules::selected("P005")
        .unwrap()
        .iter()
        .map(|rule| rule.name)
        .collect();
    // The rule for bugs in layercake is always listed.
    expected.push("internal-error");
    expected.sort_unstable();
    assert_eq!(names, expected);
    let of_group = sandbox.run(&["explain", "pegleg"]).stdout;
    assert!(
        of_group
            .lines()
            .any(|line| line.starts_with("missing-source ")),
        "{of_group}"
    );
}

#[test]
fn show_prints_the_origin_of_each_value() {
    let sandbox = configured("# first\nreach:\n  max-sites: 4\nrules: {ignore: [P005]}\n");
    let arguments = [
        "config",
        "show",
        "--ignore",
        "missing-parent",
        "--semantics",
        "deckhand",
    ];
    let text = sandbox.run(&arguments).stdout;
    for line in [
        "reach.max-sites: 4  # layercake.yaml:3",
        "reach.max-outputs: -  # default",
        "rules.ignore: [\"missing-parent\"]  # --ignore",
        "rules.select: [\"default\"]  # default",
        "semantics: \"deckhand\"  # --semantics",
    ] {
        assert!(text.lines().any(|it| it == line), "{line} is in\n{text}");
    }
    let json = sandbox.run(&["config", "show", "--format", "json"]).json();
    let keys: Vec<&str> = json["settings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["key"].as_str().unwrap())
        .collect();
    assert_eq!(keys, super::schema_keys());
    let of_none = sandbox.run(&["config", "show", "--isolated"]).stdout;
    assert!(
        of_none.lines().all(|line| line.ends_with("# default")),
        "{of_none}"
    );
}

#[test]
fn path_check_and_schema_describe_the_configuration() {
    let sandbox = configured("semantics: deckhand\n");
    let path = sandbox
        .run_in(&sandbox.path("site"), &["config", "path"])
        .stdout;
    assert_eq!(
        path,
        format!("{}\n", sandbox.path("layercake.yaml").display())
    );
    assert_eq!(sandbox.run(&["config", "check"]).code, 0);
    assert_eq!(sandbox.run(&["config", "schema"]).stdout, SCHEMA);
    sandbox.write("layercake.yaml", "sematics: x\n");
    let ran = sandbox.run(&["config", "check"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    let none = Sandbox::with_sites();
    assert_eq!(none.run(&["config", "path"]).stdout, "no configuration\n");
}

const AFTER_INIT: &str = "\
semantics: deckhand, what Deckhand's code deploys. This repository renders equally with both.

next:
  layercake lint              report all problems
  layercake baseline write    accept them, and report only new ones from now on
  pre-commit install          check staged changes before each commit
";

#[test]
fn init_writes_valid_files_and_overwrites_none() {
    let sandbox = Sandbox::with_sites();
    let ran = sandbox.run_in(&sandbox.path("site/lab"), &["init"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let (file, hooks) = (
        sandbox.path("layercake.yaml"),
        sandbox.path(".pre-commit-config.yaml"),
    );
    let wrote = format!("wrote {}\nwrote {}\n", file.display(), hooks.display());
    let rest = ran
        .stdout
        .strip_prefix(&wrote)
        .unwrap_or_else(|| panic!("{ran:?}"));
    assert_eq!(rest, AFTER_INIT);
    let hooks_text = fs::read_to_string(&hooks).unwrap();
    assert!(
        hooks_text.starts_with("repos:\n  - repo: local\n"),
        "{hooks_text}"
    );
    assert_eq!(sandbox.run(&["config", "check"]).code, 0);
    assert_eq!(
        sandbox.rules(&[]),
        Vec::<String>::new(),
        "it selects a meaning, and there are no findings"
    );
    let again = sandbox.run(&["init"]);
    assert_eq!((again.code, again.stdout.as_str()), (2, ""));
    fs::remove_file(&file).unwrap();
    fs::write(&hooks, "repos: []\n").unwrap();
    let ran = sandbox.run(&["init"]);
    assert!(
        ran.code == 0 && ran.stdout.contains("add this to its `repos`"),
        "{ran:?}"
    );
    assert_eq!(fs::read_to_string(&hooks).unwrap(), "repos: []\n");
    assert_eq!(Sandbox::outside_git().run(&["init"]).code, 2);
}

#[test]
fn init_adds_the_hook_to_an_existing_file() {
    for (before, kept_after) in [
        ("repos:\n- repo: meta\n  hooks: [{id: a}]\n", ""),
        ("repos:\n    - repo: meta # last", ""),
        ("repos:\n  - repo: meta\n", "\n# end\nci: {}\n"),
        ("repos:\r\n- repo: meta\r\n", "ci: {}\r\n"),
    ] {
        let sandbox = Sandbox::with_sites();
        let text = format!("{before}{kept_after}");
        sandbox.write(".pre-commit-config.yaml", &text);
        let ran = sandbox.run(&["init"]);
        assert!(
            ran.code == 0 && ran.stdout.contains("added the hook to "),
            "{ran:?}"
        );
        let added = fs::read_to_string(sandbox.path(".pre-commit-config.yaml")).unwrap();
        assert!(
            added.starts_with(before) && added.ends_with(kept_after),
            "{added}"
        );
        let is_crlf = text.contains('\r');
        assert!(!is_crlf || added.matches('\n').count() == added.matches("\r\n").count());
        let parsed: serde_yaml::Value = serde_yaml::from_str(&added).unwrap();
        let entries = parsed["repos"].as_sequence().unwrap();
        assert_eq!(
            entries.last().unwrap()["hooks"][0]["id"],
            "layercake",
            "{added}"
        );
        fs::remove_file(sandbox.path("layercake.yaml")).unwrap();
        let again = sandbox.run(&["init"]);
        assert!(
            again.stdout.contains("has a hook of layercake already"),
            "{again:?}"
        );
        let unchanged = fs::read_to_string(sandbox.path(".pre-commit-config.yaml")).unwrap();
        assert_eq!(unchanged, added);
    }
}

#[test]
fn init_leaves_a_file_it_cannot_extend() {
    for text in [
        "",
        "repos: [{repo: meta}]\n",
        "a: b\n",
        "repos: {\n",
        "--- 1\n--- 2\n",
    ] {
        let sandbox = Sandbox::with_sites();
        sandbox.write(".pre-commit-config.yaml", text);
        let ran = sandbox.run(&["init"]);
        assert!(
            ran.code == 0 && ran.stdout.contains("add this to its `repos`"),
            "{ran:?}"
        );
        let after = fs::read_to_string(sandbox.path(".pre-commit-config.yaml")).unwrap();
        assert_eq!(after, text);
    }
}

#[test]
fn examples_in_the_written_file_are_valid() {
    let text = layercake::commands::init::CONFIGURATION;
    let examples: String = text
        .lines()
        // A sentence has one space after its `#`, a nested line more.
        .filter(|line| !line.starts_with("# ") || line.starts_with("#  "))
        .map(|line| line.strip_prefix('#').unwrap_or(line).to_owned() + "\n")
        .collect();
    assert!(
        examples.lines().filter(|line| !line.is_empty()).count() > 30,
        "{examples}"
    );
    let sandbox = configured(&examples);
    let ran = sandbox.run(&["config", "check"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{examples}");
}

#[test]
fn formats_of_configuration_and_flag_are_the_same() {
    let sandbox = Sandbox::with_sites();
    let ran = sandbox.run(&["lint", "-o", "nosuch"]);
    assert!(
        ran.stderr.contains(&format!(
            "expected one of {}",
            Format::ALL.map(Format::name).join(", ")
        )),
        "{ran:?}"
    );
}
