//! Errors of an invalid configuration: all of them are reported, each at its line, and the run
//! ends.

use super::configured;

/// Errors that a run ends with, without the `error:` prefix.
fn errors(text: &str) -> Vec<String> {
    let ran = configured(text).run(&["lint"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    ran.stderr
        .lines()
        .filter_map(|line| line.strip_prefix("error: "))
        .map(str::to_owned)
        .collect()
}

fn error(text: &str) -> String {
    let errors = errors(text);
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors[0]
        .strip_prefix("layercake.yaml:")
        .unwrap()
        .to_owned()
}

#[test]
fn unknown_keys_are_errors_at_every_level() {
    for (text, expected) in [
        (
            "sematics: x\n",
            "1:1: unknown key `sematics`; did you mean `semantics`?",
        ),
        ("nothing-like-it: x\n", "1:1: unknown key `nothing-like-it`"),
        (
            "rules:\n  levles: {}\n",
            "2:3: unknown key `levles` in `rules`; did you mean `levels`?",
        ),
        (
            "discover:\n  site: []\n",
            "2:3: unknown key `site` in `discover`; did you mean `sites`?",
        ),
        (
            "repositories:\n  global: {path: x, revison: y}\n",
            "2:21: unknown key `revison` in `repositories.global`; did you mean `revision`?",
        ),
        (
            "rules:\n  per-path:\n    a:\n      ignroe: []\n",
            "4:7: unknown key `ignroe` in `rules.per-path.a`; did you mean `ignore`?",
        ),
        (
            "sites:\n  lab: {rule: {}}\n",
            "2:9: unknown key `rule` in `sites.lab`; did you mean `rules`?",
        ),
        (
            "references:\n  - from: {schema: a/B/v1, path: $.a, pth: x}\n    to: {schema: a/B/v1}\n",
            "2:39: unknown key `pth` in `references[0].from`",
        ),
        (
            "compare: {bse: x}\n",
            "1:11: unknown key `bse` in `compare`; did you mean `base`?",
        ),
        (
            "reach: {max-site: 1}\n",
            "1:9: unknown key `max-site` in `reach`; did you mean `max-sites`?",
        ),
        (
            "output: {defualt: [full]}\n",
            "1:10: unknown key `defualt` in `output`; did you mean `default`?",
        ),
        (
            "secrets: {schema: []}\n",
            "1:11: unknown key `schema` in `secrets`; did you mean `schemas`?",
        ),
        (
            "render: {known-missing-source: []}\n",
            "1:10: unknown key `known-missing-source` in `render`; did you mean \
             `known-missing-sources`?",
        ),
        (
            "diff: {list-key: {}}\n",
            "1:8: unknown key `list-key` in `diff`; did you mean `list-keys`?",
        ),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
}

#[test]
fn values_of_a_wrong_type_are_errors() {
    for (text, expected) in [
        ("[]\n", "1:1: expected a mapping for the file, found a list"),
        (
            "rules: []\n",
            "1:1: expected a mapping for `rules`, found a list",
        ),
        (
            "rules: {ignore: P005}\n",
            "1:17: expected a list for `rules.ignore`, found a string",
        ),
        (
            "rules: {require-reason: 1}\n",
            "1:25: expected `true` or `false` for `rules.require-reason`, found an integer",
        ),
        (
            "required-version: 0.1\n",
            "1:19: expected a string for `required-version`, found a float; put it in quotes",
        ),
        (
            "reach: {max-sites: '4'}\n",
            "1:20: expected an integer for `reach.max-sites`, found a string",
        ),
        (
            "reach: {max-sites: -4}\n",
            "1:20: `reach.max-sites` must be at least 0",
        ),
        (
            "discover: {sites: []}\n",
            "1:12: `discover.sites` is empty; remove it instead",
        ),
        (
            "semantics: dekhand\n",
            "1:12: unknown value `dekhand` for `semantics`; did you mean `deckhand`?",
        ),
        (
            "references: [{from: {schema: a/B/v1, path: $.a}}]\n",
            "1:14: missing key `to` in `references[0]`",
        ),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
}

#[test]
fn meaningless_values_are_errors() {
    for (text, expected) in [
        (
            "rules: {select: [mising-parent]}\n",
            "1:18: unknown rule `mising-parent`; did you mean `missing-parent`?",
        ),
        (
            "rules: {levels: {P999: error}}\n",
            "1:18: unknown rule `P999`",
        ),
        (
            "rules: {per-path: {a: {ignore: [strcit]}}}\n",
            "1:33: unknown rule `strcit`; did you mean `strict`?",
        ),
        (
            "sites: {a: {rules: {ignore: [x]}}}\n",
            "1:30: unknown rule `x`",
        ),
        ("reach: {max-sites: 1\n", "1:8: invalid YAML: "),
        ("a: &a b\nb: *c\n", "2:4: undefined anchor `&c`"),
        (
            "semantics: deckhand\n---\n{}\n",
            "2:1: a configuration file must contain only one YAML document",
        ),
        (
            "client-version: latest\n",
            "1:17: `latest` is not a valid version; write it as `1.2`",
        ),
        (
            "property-groups: {Port: []}\n",
            "1:19: `Port` is not a valid schema name; write it as `example/Kind/v1`",
        ),
        (
            "client-versions: {docker: latest}\n",
            "1:27: `latest` is not a valid version; write it as `1.2`",
        ),
        (
            "required-version: '>=new'\n",
            "1:19: `>=new` is not a valid version requirement; write it as `>=0.1` or `>=0.1, <2`",
        ),
        (
            "secrets: {extra-schemas: [Token]}\n",
            "1:27: `Token` is not a valid schema name; write it as `example/Kind/v1`",
        ),
        (
            "output: {default: [consise]}\n",
            "1:20: unknown format `consise`; did you mean `concise`?",
        ),
        (
            "output: {default: [json=]}\n",
            "1:20: missing file name after `=`",
        ),
        (
            "output: {default: [json=../a]}\n",
            "1:20: `../a` is outside the folder of this file",
        ),
        (
            "output: {default: [json=/a]}\n",
            "1:20: `/a` is outside the folder of this file",
        ),
        (
            "output: {default: [json=a/../../b]}\n",
            "1:20: `a/../../b` is outside the folder of this file",
        ),
        (
            "baseline: ../a\n",
            "1:11: `../a` is outside the folder of this file",
        ),
        ("baseline: .git/a\n", "1:11: `.git/a` is inside `.git`"),
        (
            "output: {default: [json=.git/a]}\n",
            "1:20: `.git/a` is inside `.git`",
        ),
        (
            "output: {default: [json=a/.GIT/b]}\n",
            "1:20: `a/.GIT/b` is inside `.git`",
        ),
        (
            "output: {default: [full, concise]}\n",
            "1:26: only one report can be written to standard output",
        ),
        (
            "references: [{from: {schema: a/B/v1, path: a}, to: {schema: a/B/v1}}]\n",
            "1:44: invalid path `a`: syntax error at column 1 (JSONPath, RFC 9535)",
        ),
        (
            "diff: {list-keys: {'*': {'$[?@.a]': b}}}\n",
            "1:26: invalid path `$[?@.a]`: it has a filter, which is not supported",
        ),
        (
            "diff: {list-keys: {'*': {'$[-1]': b}}}\n",
            "1:26: invalid path `$[-1]`: it counts from the end of a list",
        ),
        (
            "repositories: {'a/b': {path: x}}\n",
            "1:16: `a/b` is not a valid repository name",
        ),
        (
            "repositories: {a: {path: x, links: 'git@x'}}\n",
            "1:36: expected a URL that begins with `https://` or `http://`",
        ),
        (
            "output: {links: 'https://x/{ref}'}\n",
            "1:17: the only valid placeholders are `{sha}`, `{path}` and `{line}`",
        ),
        (
            "output:\n  docs-url: javascript:alert(1)\n",
            "2:13: expected a URL that begins with `https://` or `http://`",
        ),
        (
            "output: {docs-url: \"https://x/\\e]8;;\"}\n",
            "1:20: a URL cannot contain spaces, `<`, `>` or `\"`",
        ),
        (
            "output: {docs-url: 'https://x/?page='}\n",
            "1:20: expected the URL of a folder in ASCII, without `?` and `#`",
        ),
        (
            "output: {docs-url: 'https://'}\n",
            "1:20: expected the URL of a folder in ASCII",
        ),
        (
            "output: {docs-url: 1}\n",
            "1:20: expected a string for `output.docs-url`, found an integer",
        ),
    ] {
        let found: Vec<String> = errors(text);
        let is_it = |line: &String| line.starts_with(&format!("layercake.yaml:{expected}"));
        assert!(found.iter().any(is_it), "{text}: {found:?}");
    }
    for (key, glob) in [
        ("sites", "{'[z-a': {}}"),
        ("discover", "{exclude: ['[z-a']}"),
    ] {
        let found = error(&format!("{key}: {glob}\n"));
        assert!(found.contains("`[z-a` is not a valid glob: "), "{found}");
    }
}

#[test]
fn all_errors_are_reported_at_once_in_order() {
    let found = errors("rules:\n  ignore: [P999]\n  levles: {}\nsemantics: 1\nreach: 3\n");
    let lines: Vec<&str> = found
        .iter()
        .map(|line| line.split(':').nth(1).unwrap())
        .collect();
    assert_eq!(lines, ["2", "3", "4", "5"], "{found:?}");
}

#[test]
fn duplicate_key_is_an_error() {
    let found = errors("rules: {}\nrules: {}\n");
    assert_eq!(found, ["layercake.yaml:2:1: duplicate key"]);
}

#[test]
fn every_verb_that_reads_documents_refuses_an_invalid_configuration() {
    let sandbox = configured("sematics: x\n");
    for verb in [
        &["lint"][..],
        &["render"],
        &["sites"],
        &["graph"],
        &["impact", "global/chart.yaml"],
        &["explain-value", "lab", "example/Any/v1", "only", ".of"],
        &["rules"],
        &["config", "show"],
        &["config", "check"],
    ] {
        let ran = sandbox.run(verb);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{verb:?}");
        assert!(
            ran.stderr
                .starts_with("error: layercake.yaml:1:1: unknown key"),
            "{ran:?}"
        );
    }
}

#[test]
fn required_version_mismatch_ends_the_run() {
    let found = errors("required-version: '>=0.1, <0.1'\n");
    let present = env!("CARGO_PKG_VERSION");
    let expected =
        format!("layercake.yaml:1:19: layercake >=0.1, <0.1 is required, but this is {present}");
    assert_eq!(found, [expected]);
    for met in [present, ">=0.1", "0", "<99, >0.0.1"] {
        let ran = configured(&format!("required-version: '{met}'\n")).run(&["lint"]);
        assert_eq!(ran.code, 0, "{met}: {ran:?}");
    }
}

/// The author of a pull request controls its configuration, which must not make layercake write to
/// paths that are not on the command line.
#[cfg(unix)]
#[test]
fn configured_outputs_stay_in_the_repository() {
    let sandbox = configured("output: {default: ['full', 'json=out/report.json']}\n");
    let outside = sandbox.beside("outside");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, sandbox.path("out")).unwrap();
    let ran = sandbox.run(&["lint"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(
        ran.stderr
            .contains("is outside of the repository through a symbolic link"),
        "{}",
        ran.stderr
    );
    assert!(!outside.join("report.json").exists());
    // The command line, in contrast, may name any folder.
    let ran = sandbox.run(&["lint", "-o", "json=out/report.json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(outside.join("report.json").exists());
    sandbox.write("layercake.yaml", "baseline: out/accepted.json\n");
    let ran = sandbox.run(&["baseline", "write"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(!outside.join("accepted.json").exists());
    sandbox.write(
        "layercake.yaml",
        "output: {default: ['full', 'json=out/report.json']}\n",
    );
    std::fs::remove_file(sandbox.path("out")).unwrap();
    std::fs::create_dir(sandbox.path("out")).unwrap();
    assert_eq!(sandbox.run(&["lint"]).code, 0);
    assert!(sandbox.path("out/report.json").exists());
}
