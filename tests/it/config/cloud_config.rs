//! `cloud-config`: effect of each key, errors for invalid ones, and which files of which side and
//! repository belong to a set.

use super::{are, configured, rules};
use crate::cli::{Sandbox, definition, document};

/// Repository with two sites, these files and this configuration.
fn repository(configuration: &str, files: &[(&str, &str)]) -> Sandbox {
    let sandbox = configured(configuration);
    for (path, text) in files {
        sandbox.write(path, text);
    }
    sandbox
}

const FILES: &[(&str, &str)] = &[
    ("global/cloud/one", "#cloud-config\na: [one]\n"),
    (
        "global/cloud/two",
        "#cloud-config\nmerge_how: dict(recurse_list)+list(append)\na: [two]\n",
    ),
    ("type/small/cloud/one", "#cloud-config\ntype: small\n"),
    ("site/lab/cloud/one", "#cloud-config\nsite: lab\n"),
];

/// Merged outputs of each site, one `name: data` line each, with values as JSON.
fn outputs(sandbox: &Sandbox, arguments: &[&str]) -> Vec<String> {
    let verb = ["render", "--format", "json"];
    let report = sandbox.run(&[&verb, arguments].concat()).json();
    let mut lines = Vec::new();
    for site in report["sites"].as_array().unwrap() {
        let documents = site["documents"].as_array().unwrap().iter();
        for document in documents.filter(|document| document["schema"] == "cloud-config") {
            let name = document["name"].as_str().unwrap();
            let site = site["site"].as_str().unwrap_or("-");
            lines.push(format!("{site} {name} {}", document["data"]));
        }
    }
    lines
}

fn outputs_of(configuration: &str) -> Vec<String> {
    outputs(&repository(configuration, FILES), &[])
}

#[test]
fn parts_are_globs_with_a_site_placeholder() {
    let merged = outputs_of(
        "cloud-config: [{name: all, parts: ['global/cloud/*', 'type/{type}/cloud/*', \
         'site/{site}/cloud/*']}]\n",
    );
    assert_eq!(
        merged,
        [
            r#"lab all {"a":["one","two"],"type":"small","site":"lab"}"#,
            r#"prod all {"a":["one","two"],"type":"small"}"#,
        ]
    );
    // Files are in the order of the globs; a file belongs to the first glob that matches it.
    let merged =
        outputs_of("cloud-config: [{name: all, parts: ['global/cloud/two', 'global/cloud/*']}]\n");
    assert_eq!(merged[0], r#"lab all {"a":["one"]}"#);
    // A site without any file of a set does not have the set.
    let merged = outputs_of("cloud-config: [{name: own, parts: ['site/{site}/cloud/*']}]\n");
    assert_eq!(merged, [r#"lab own {"site":"lab"}"#]);
}

#[test]
fn sources_have_the_priority_that_cloud_init_gives_them() {
    let merged = outputs_of(
        "cloud-config: [{name: x, parts: [global/cloud/one], vendor-data: [global/cloud/two]}]\n",
    );
    assert_eq!(
        merged[0], r#"lab x {"a":["one"]}"#,
        "user-data has the higher priority"
    );
    for key in ["vendor-data2", "vendor-data", "conf-d", "base"] {
        let text = format!(
            "cloud-config: [{{name: x, parts: [global/cloud/one], {key}: [site/lab/own.cfg]}}]\n"
        );
        let files = &[FILES[0], ("site/lab/own.cfg", "#cloud-config\nsite: lab\n")];
        assert_eq!(
            outputs(&repository(&text, files), &[])[0],
            r#"lab x {"a":["one"],"site":"lab"}"#,
            "{key}"
        );
    }
    let files = &[
        ("global/conf/a/20.cfg", "v: late\n"),
        ("global/conf/b/10.cfg", "v: early\n"),
        ("global/cloud.cfg", "v: base\nw: base\n"),
    ];
    let text = "cloud-config: [{name: x, conf-d: ['global/conf/*/*'], base: [global/cloud.cfg]}]\n";
    let merged = outputs(&repository(text, files), &[]);
    assert_eq!(
        merged[0], r#"lab x {"v":"late","w":"base"}"#,
        "the last name has the highest priority"
    );
}

#[test]
fn other_files_of_conf_d_are_not_read() {
    let files = &[
        ("global/conf/10.cfg", "v: 1\n"),
        ("global/conf/README", "# All *.cfg files\nare read.\n"),
        ("global/conf/old.yaml", "v: [\n"),
    ];
    let sandbox = repository(
        "cloud-config: [{name: x, conf-d: ['global/conf/*']}]\n",
        files,
    );
    assert_eq!(outputs(&sandbox, &[])[0], r#"lab x {"v":1}"#);
    let found = rules(&sandbox, &[]);
    assert!(are(&found, &[]), "{found:?}");
}

#[test]
fn set_can_be_limited_to_sites() {
    let text = "cloud-config: [{name: x, parts: ['global/cloud/one'], sites: 'pr*'}]\n";
    assert_eq!(outputs_of(text), [r#"prod x {"a":["one"]}"#]);
    let none = text.replace("pr*", "none");
    let sandbox = repository(&none, FILES);
    assert!(are(&rules(&sandbox, &[]), &["unused-configuration"]));
}

#[test]
fn dialect_selects_the_merge_behavior() {
    let files = &[
        ("global/cloud/one", "#cloud-config\na: [one]\n"),
        ("global/cloud/two", "#cloud-config\na: [two]\n"),
    ];
    let text = "cloud-config: [{name: x, parts: ['global/cloud/*'], dialect: current}]\n";
    let of = |text: &str| outputs(&repository(text, files), &[])[0].clone();
    assert_eq!(of(text), r#"lab x {"a":["two"]}"#);
    assert_eq!(
        of(&text.replace(", dialect: current", "")),
        of(text),
        "`current` is the default"
    );
    let documented = of(&text.replace("current", "documented"));
    assert_eq!(documented, r#"lab x {"a":["one","two"]}"#);
}

#[test]
fn secret_set_is_hidden() {
    let text = "cloud-config: [{name: x, parts: ['global/cloud/one'], secret: true}]\n";
    assert_eq!(outputs_of(text)[0], r#"lab x "(hidden)""#);
    assert_eq!(
        outputs_of(&text.replace("true", "false"))[0],
        r#"lab x {"a":["one"]}"#
    );
}

#[test]
fn errors_point_to_their_line() {
    let mut wrong = Vec::new();
    for (text, expected) in [
        (
            "cloud-config: {name: x}\n",
            "1:1: expected a list for `cloud-config`, found a mapping",
        ),
        (
            "cloud-config:\n  - nam: x\n    parts: [a]\n",
            "2:5: unknown key `nam` in `cloud-config[0]`; did you mean `name`?",
        ),
        (
            "cloud-config:\n  - {name: x, part: [a]}\n",
            "2:15: unknown key `part` in `cloud-config[0]`; did you mean `parts`?",
        ),
        (
            "cloud-config:\n  - name: x\n    parts: a\n",
            "3:12: expected a list for `cloud-config[0].parts`, found a string",
        ),
        (
            "cloud-config:\n  - name: ''\n    parts: [a]\n",
            "2:11: the name of a set of parts is empty",
        ),
        (
            "cloud-config:\n  - {name: x, parts: [a]}\n  - {name: x, parts: [b]}\n",
            "3:12: duplicate set of parts `x`",
        ),
        (
            "cloud-config:\n  - name: x\n",
            "2:11: no files given; add globs, e.g. `parts: [\"global/user-data/*\"]`",
        ),
        (
            "cloud-config:\n  - {name: x, parts: []}\n",
            "2:12: no files given; add globs, e.g. `parts: [\"global/user-data/*\"]`",
        ),
        (
            "cloud-config:\n  - {name: x, parts: ['a[']}\n",
            "2:23: `a[` is not a valid glob: unclosed character class; missing ']'",
        ),
        (
            "cloud-config:\n  - {name: x, parts: [a], sites: '['}\n",
            "2:34: `[` is not a valid glob: unclosed character class; missing ']'",
        ),
        (
            "cloud-config:\n  - {name: x, parts: [a], secret: 1}\n",
            "2:35: expected `true` or `false` for `cloud-config[0].secret`, found an integer",
        ),
        (
            "cloud-config:\n  - {name: x, parts: [a], dialect: old}\n",
            "2:36: expected one of current, documented for `cloud-config[0].dialect`, found old",
        ),
    ] {
        let ran = configured(text).run(&["lint"]);
        let error = ran
            .stderr
            .lines()
            .find_map(|line| line.strip_prefix("error: layercake.yaml:"));
        assert_eq!(ran.code, 2);
        if error != Some(expected) {
            wrong.push(format!("{text}{error:?}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
    let unnamed = configured("cloud-config:\n  - parts: [a]\n").run(&["lint"]);
    assert_eq!(unnamed.code, 2, "{unnamed:?}");
    assert!(
        unnamed.stderr.contains("layercake.yaml:2:5: "),
        "{unnamed:?}"
    );
}

#[test]
fn unmatched_glob_is_reported_as_written() {
    let text = "cloud-config:\n  - name: x\n    parts: ['global/cloud/*', 'site/{site}/none/*']\n";
    let sandbox = repository(text, FILES);
    let output = sandbox.run(&["lint", "-o", "concise"]).stdout;
    assert!(
        output.starts_with(
            "layercake.yaml:3:31: warning[unused-configuration] `site/{site}/none/*` in the \
             configuration matches no file"
        ),
        "{output}"
    );
    sandbox.commit();
    sandbox.write("site/prod/none/one", "#cloud-config\na: 1\n");
    let report = sandbox
        .run(&["lint", "--since", "HEAD", "-o", "json"])
        .json();
    let states: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["rule"] == "unused-configuration")
        .map(|it| it["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["fixed"]);
}

#[test]
fn part_is_not_a_document_and_can_be_excluded() {
    let part = ("global/cloud/part.yaml", "#cloud-config\na: 1\n");
    let text = "cloud-config: [{name: x, parts: ['global/cloud/*']}]\n";
    let sandbox = repository(text, &[part]);
    assert!(are(&rules(&sandbox, &[]), &[]));
    sandbox.write("layercake.yaml", "semantics: documented\n");
    assert!(rules(&sandbox, &[]).contains("not-a-document"));
    sandbox.write(
        "layercake.yaml",
        format!("{text}discover: {{exclude: ['global/cloud/*']}}\n"),
    );
    assert!(are(&rules(&sandbox, &[]), &["unused-configuration"]));
    assert_eq!(outputs(&sandbox, &[]), [""; 0]);
}

#[test]
fn command_line_files_may_be_parts() {
    let broken = "#cloud-config\n# layercake: ignore[no-such-rule]\na: 1\n";
    let text = "cloud-config: [{name: x, parts: ['global/cloud/*']}]\n";
    let sandbox = repository(text, &[("global/cloud/one", broken), FILES[1]]);
    for (path, is_meant) in [
        ("global/cloud/one", true),
        ("global/cloud", true),
        ("global/cloud/two", false),
        ("site", false),
    ] {
        assert_eq!(
            rules(&sandbox, &[path]).contains("invalid-ignore"),
            is_meant,
            "{path}"
        );
    }
}

#[test]
fn each_side_has_its_own_files() {
    let text = "cloud-config: [{name: x, parts: ['global/cloud/*']}]\n";
    let sandbox = repository(text, &[FILES[0]]);
    sandbox.commit();
    sandbox.write("global/cloud/one", "#cloud-config\na: [staged]\n");
    sandbox.git(&["add", "--all"]);
    sandbox.write("global/cloud/one", "#cloud-config\na: [tree]\n");
    let of = |arguments: &[&str]| outputs(&sandbox, arguments)[0].clone();
    assert_eq!(of(&[]), r#"lab x {"a":["tree"]}"#);
    assert_eq!(of(&["--rev", "HEAD"]), r#"lab x {"a":["one"]}"#);
    let report = sandbox.run(&["diff", "--staged", "-o", "json"]).json();
    assert_eq!(report["edits"][0]["after"]["value"], "staged");
}

#[test]
fn config_from_base_uses_the_sets_of_the_base() {
    let sandbox = repository("{}\n", &[("global/cloud/one", FILES[0].1)]);
    sandbox.commit();
    sandbox.write(
        "layercake.yaml",
        "cloud-config: [{name: x, parts: ['global/cloud/*']}]\n",
    );
    let compared = |arguments: &[&str]| {
        let verb = ["lint", "--since", "HEAD", "-o", "json"];
        sandbox.run(&[&verb, arguments].concat()).json()
    };
    let report = compared(&[]);
    assert_eq!(
        report["outputs"],
        serde_json::json!([]),
        "both sides have the set"
    );
    assert_eq!(report["totals"]["outputs"], 12);
    let report = compared(&["--config-from-base"]);
    assert_eq!(report["outputs"], serde_json::json!([]));
    assert_eq!(
        report["totals"]["outputs"], 10,
        "the set is not in the base configuration"
    );
    let rules: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["rule"].as_str().unwrap())
        .collect();
    assert_eq!(rules, ["config-changed"]);
}

#[test]
fn globs_are_relative_to_the_root_of_the_repository() {
    let sandbox = Sandbox::new();
    for site in ["lab", "prod"] {
        sandbox.write(
            &format!("sites/site/{site}/site-definition.yaml"),
            definition(site, ""),
        );
    }
    sandbox.write("sites/type/small/any.yaml", document("any", "type", "{}"));
    sandbox.write("sites/global/policy.yaml", crate::cli::POLICY);
    sandbox.write("sites/global/cloud/one", FILES[0].1);
    let text = "cloud-config: [{name: x, parts: ['sites/global/cloud/*']}]\n";
    sandbox.write("layercake.yaml", text);
    assert_eq!(outputs(&sandbox, &["-C", "sites"]).len(), 2);
    sandbox.write("layercake.yaml", text.replace("sites/global", "global"));
    assert_eq!(outputs(&sandbox, &["-C", "sites"]), [""; 0]);
}

#[test]
fn sets_exclude_files_of_further_repositories() {
    let more = "  repositories: {shared: {revision: main, url_path: x}}\n";
    let text = "cloud-config: [{name: x, parts: ['**/cloud/*']}]\n";
    let sandbox = repository(text, &[FILES[0]]);
    sandbox.write("site/lab/site-definition.yaml", definition("lab", more));
    sandbox.write("../shared/global/cloud/two", FILES[1].1);
    sandbox.write(
        "../shared/global/any.yaml",
        document("shared", "global", "{}"),
    );
    let merged = outputs(&sandbox, &["--repository", "shared=../shared"]);
    assert_eq!(merged[0], r#"lab x {"a":["one"]}"#);
}

#[test]
fn config_show_prints_the_sets() {
    let sandbox = configured("cloud-config: [{name: x, parts: ['global/cloud/*']}]\n");
    let shown = sandbox.run(&["config", "show"]).stdout;
    let line = r#"cloud-config: [{"name":"x","parts":["global/cloud/*"]}]  # layercake.yaml:1"#;
    assert!(shown.lines().any(|it| it == line), "{shown}");
}
