//! Sources of the configuration.

use super::{are, configured, rules};
use crate::cli::{Ran, Sandbox, document};

fn twice() -> String {
    document("twice", "site", "{a: 1, a: 2}")
}

#[test]
fn configuration_is_read_only_at_the_root() {
    let sandbox = configured("rules: {ignore: [duplicate-key]}\n");
    sandbox.write("site/lab/twice.yaml", twice());
    sandbox.write("tools/layercake.yaml", "no: [configuration\n");
    let deep = sandbox.path("site/lab");
    assert_eq!(
        sandbox
            .run_in(&deep, &["lint", "--fail-on", "warning"])
            .code,
        0
    );
    std::fs::rename(
        sandbox.path("layercake.yaml"),
        sandbox.path(".layercake.yaml"),
    )
    .unwrap();
    assert!(are(&rules(&sandbox, &[]), &[]));
    sandbox.write("layercake.yaml", "{}\n");
    let ran = sandbox.run(&["lint"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .contains("`layercake.yaml` and `.layercake.yaml`"),
        "{ran:?}"
    );
}

#[test]
fn outside_git_configuration_is_at_the_root_of_the_site_repository() {
    let sandbox = Sandbox::outside_git();
    sandbox.write_sites();
    sandbox.write("site/lab/twice.yaml", twice());
    sandbox.write("layercake.yaml", "rules: {ignore: [duplicate-key]}\n");
    let ran = sandbox.run_in(&sandbox.path("site/lab"), &["lint", "--fail-on", "warning"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn flag_or_environment_selects_another_file() {
    let sandbox = configured("sematics: x\n");
    sandbox.write("site/lab/twice.yaml", twice());
    std::fs::write(
        sandbox.beside("own.yaml"),
        "rules: {levels: {duplicate-key: error}}\n",
    )
    .unwrap();
    let code = |arguments: &[&str], variable: Option<&str>| {
        let mut command = sandbox.command(&[&["lint"], arguments].concat());
        command.envs(variable.map(|file| ("LAYERCAKE_CONFIG", file)));
        Ran::of(&command.output().unwrap()).code
    };
    assert_eq!(code(&["--config", "../own.yaml"], None), 1);
    assert_eq!(code(&[], Some("../own.yaml")), 1);
    assert_eq!(
        code(&["--config", "../own.yaml"], Some("../nosuch.yaml")),
        1,
        "the flag has precedence"
    );
    assert_eq!(code(&["--isolated"], Some("../own.yaml")), 0);
    assert_eq!(code(&[], Some("")), 2, "an empty variable counts as unset");
    assert_eq!(code(&["--config", "../nosuch.yaml"], None), 2);
    assert_eq!(code(&["--config", "../own.yaml", "--isolated"], None), 2);
}

#[test]
fn configuration_is_read_from_the_checked_side() {
    let sandbox = configured("rules: {levels: {duplicate-key: error}}\n");
    sandbox.write("site/lab/twice.yaml", twice());
    sandbox.commit();
    sandbox.write("layercake.yaml", "rules: {ignore: [duplicate-key]}\n");
    assert_eq!(sandbox.run(&["lint"]).code, 0);
    assert_eq!(sandbox.run(&["lint", "--rev", "HEAD"]).code, 1);
    let all = ["lint", "--staged", "--all-findings"];
    assert_eq!(
        sandbox.run(&all).code,
        1,
        "the index still has the old file"
    );
    sandbox.git(&["add", "--all"]);
    assert_eq!(sandbox.run(&all).code, 0);
}

#[test]
fn config_from_base_ignores_configuration_of_the_change() {
    let sandbox = configured("rules: {levels: {duplicate-key: error}}\n");
    sandbox.commit();
    sandbox.git(&["checkout", "--quiet", "-b", "change"]);
    sandbox.write("site/lab/twice.yaml", twice());
    sandbox.write("layercake.yaml", "rules: {ignore: [duplicate-key]}\n");
    sandbox.commit();
    let lint = |arguments: &[&str]| {
        let ran = sandbox.run(&[&["lint", "-o", "concise"], arguments].concat());
        (ran.code, ran.stdout)
    };
    assert_eq!(
        lint(&["--since", "main"]).0,
        0,
        "the head's own configuration ignores the rule"
    );
    let (code, output) = lint(&["--since", "main", "--config-from-base"]);
    assert_eq!(code, 1);
    assert!(output.contains("error[duplicate-key]"), "{output}");
    assert!(
        output.contains("layercake.yaml:1:1: note[config-changed]"),
        "{output}"
    );
    let (code, _) = lint(&["--config-from-base"]);
    assert_eq!(code, 2, "a base requires a comparison");

    sandbox.write("layercake.yaml", "not: [a configuration\n");
    let (code, output) = lint(&["--since", "main", "--config-from-base"]);
    assert_eq!(code, 1, "the head's configuration is not read: {output}");
    std::fs::remove_file(sandbox.path("layercake.yaml")).unwrap();
    let (code, output) = lint(&["--since", "main", "--config-from-base"]);
    assert_eq!(code, 1);
    assert!(output.contains("note[config-changed]"), "{output}");

    sandbox.write(
        "layercake.yaml",
        "rules: {levels: {duplicate-key: error}}\n",
    );
    let (_, output) = lint(&["--since", "main", "--config-from-base"]);
    assert!(!output.contains("config-changed"), "{output}");
}

#[test]
fn unused_configuration_is_reported_only_in_full_runs() {
    let sandbox = configured("sites: {nosuch: {}}\nrules: {per-path: {'no/such/*': {}}}\n");
    assert_eq!(
        sandbox.rules(&[]),
        ["unused-configuration", "unused-configuration"]
    );
    let none: [&str; 0] = [];
    assert_eq!(sandbox.rules(&["--site", "lab"]), none);
    assert_eq!(sandbox.rules(&["site/lab"]), none);
    sandbox.commit();
    assert_eq!(new(&sandbox), none, "it was unused before");
    sandbox.git(&["rm", "--quiet", "-r", "site/prod"]);
    sandbox.write("layercake.yaml", "sites: {prod: {}}\n");
    assert_eq!(new(&sandbox), ["unused-configuration"], "it became unused");
}

/// Rules with new findings since the last commit.
fn new(sandbox: &Sandbox) -> Vec<String> {
    let findings = sandbox.findings(&["--since", "HEAD"]);
    let new = findings.iter().filter(|finding| finding["state"] == "new");
    new.map(|finding| finding["rule"].as_str().unwrap().to_owned())
        .collect()
}
