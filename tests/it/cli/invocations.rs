//! Invocations that a user of git, ruff or a shell may try: each is answered, or refused with the
//! reason in one line and a remedy. None gives another answer than the usual spelling.

use super::{POLICY, Ran, Sandbox, definition, document};

/// Rows of a table: arguments, exit code, and text that the output must contain. In the arguments,
/// `%` is a space within one of them.
type Rows<'r> = [(&'r str, i32, &'r str)];

/// A git repository with the site repository `airship` in a folder, and three commits.
fn repository() -> Sandbox {
    let sandbox = Sandbox::new();
    let write = |path: &str, text: &str| sandbox.write(&format!("airship/{path}"), text);
    let chart = document("keystone", "global", "{values: {image: none, replicas: 1}}")
        .replace("example/Any/v1", "example/Chart/v1")
        .replace(
            "  storagePolicy",
            "  substitutions:\n  - src: {schema: example/Any/v1, name: versions, path: .keystone}\n    \
             dest: {path: .values.image}\n  storagePolicy",
        );
    write("global/policy.yaml", POLICY);
    write("global/charts/keystone.yaml", &chart);
    write(
        "global/versions.yaml",
        &document("versions", "global", "{keystone: 'k:1'}"),
    );
    write(
        "global/twin-a.yaml",
        &document("twin", "global", "{one: 1}"),
    );
    let other = document("twin", "global", "{two: 2}").replace("example/Any", "example/Other");
    write("global/twin-b.yaml", &other);
    write(
        "type/small/small.yaml",
        &document("small", "type", "{x: 1}"),
    );
    for site in ["lab", "prod", "west"] {
        write(
            &format!("site/{site}/site-definition.yaml"),
            &definition(site, ""),
        );
        let data = format!("{{of: {site}}}");
        write(
            &format!("site/{site}/only.yaml"),
            &document("only", "site", &data),
        );
    }
    sandbox.write("tools/notes.yaml", "a: 1\n");
    sandbox.commit();
    sandbox.git(&["tag", "v1.0"]);
    write(
        "global/versions.yaml",
        &document("versions", "global", "{keystone: 'k:2'}"),
    );
    sandbox.commit();
    sandbox.git(&["tag", "v1.1"]);
    sandbox.git(&["checkout", "--quiet", "-b", "topic"]);
    write(
        "site/lab/only.yaml",
        &document("only", "site", "{of: labor}"),
    );
    sandbox.commit();
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox
}

impl Sandbox {
    fn runs(&self, folder: &str, arguments: &str) -> Ran {
        let words: Vec<String> = arguments
            .split(' ')
            .map(|it| it.replace('%', " "))
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.run_in(&self.path(folder), &words)
    }

    /// Runs the rows in a folder. An error has one line, and a remedy.
    fn check_rows(&self, folder: &str, rows: &Rows<'_>) {
        for (arguments, code, text) in rows {
            let ran = self.runs(folder, arguments);
            assert_eq!(ran.code, *code, "{arguments}: {ran:?}");
            let printed = format!("{} {}", ran.stdout, ran.stderr);
            let printed: Vec<&str> = printed.split_whitespace().collect();
            assert!(
                printed.join(" ").contains(text),
                "{arguments}: expected {text:?} in {ran:?}"
            );
            if *code == 2 {
                assert_eq!(
                    ran.stderr.matches("error: ").count(),
                    1,
                    "{arguments}: {ran:?}"
                );
                let has_remedy = ["  help: ", "Usage: "]
                    .iter()
                    .any(|it| ran.stderr.contains(it));
                assert!(has_remedy && ran.stdout.is_empty(), "{arguments}: {ran:?}");
            }
        }
    }
}

const PATHS: &Rows<'_> = &[
    ("lint tools", 2, "`--set tools`"),
    (
        "lint tools/notes.yaml",
        2,
        "tools/notes.yaml is not in a site repository",
    ),
    (
        "lint tools airship/site/lab",
        0,
        "only tools (read by no site),",
    ),
    ("lint airship/nosuch", 2, "`airship/nosuch` not found"),
    ("lint", 2, "did you mean `-C airship`?"),
    ("render", 2, "did you mean `-C airship`?"),
    ("diff", 2, "did you mean `-C airship`?"),
    ("log", 2, "did you mean `-C airship`?"),
    ("lint airship/site/lab", 0, "only airship/site/lab"),
    (
        "lint airship/site/lab airship/global",
        0,
        "only airship/site/lab, airship/global",
    ),
    (
        "lint airship/site/lab/only.yaml --since v1.0",
        0,
        "only airship/site/lab/only.yaml",
    ),
    (
        "lint airship --since v1.0 --max-sites 1",
        1,
        "changes 3 sites; at most 1 allowed",
    ),
    (
        "lint . --since v1.0 --max-sites 1",
        1,
        "changes 3 sites; at most 1 allowed",
    ),
    (
        "lint airship/global --since v1.0 --max-sites 1",
        1,
        "changes 3 sites; at most 1 allowed",
    ),
    (
        "lint airship/site/lab --since v1.0 --max-sites 1",
        0,
        "no output changed",
    ),
    ("lint arship", 2, "did you mean `airship`?"),
    (
        "lint airship/global/version.yaml",
        2,
        "did you mean `airship/global/versions.yaml`?",
    ),
    (
        "lint Airship/global/Versions.yaml",
        2,
        "did you mean `airship/global/versions.yaml`?",
    ),
    (
        "lint keystone.yaml",
        2,
        "did you mean `airship/global/charts/keystone.yaml`?",
    ),
    ("lint --set airship/global", 0, "5 documents"),
    ("-C airship lint ..", 0, "3 sites"),
    ("-C airship lint .", 0, "3 sites"),
    ("-C airship lint ../tools", 0, "only tools"),
    (
        "-C airship/site/lab lint ../../global",
        0,
        "only airship/global",
    ),
    (
        "-C airship/site/lab lint only.yaml",
        0,
        "only airship/site/lab/only.yaml",
    ),
    (
        "-C airship/global/versions.yaml lint",
        2,
        "did you mean `-C airship/global`?",
    ),
    ("-C nosuch lint", 2, "`nosuch` is not a folder"),
    (
        "airship",
        2,
        "`airship` is a site repository; did you mean `-C airship`?",
    ),
    ("config show airship", 2, "did you mean `-C airship`?"),
    ("config path airship", 2, "did you mean `-C airship`?"),
    ("rules airship", 2, "did you mean `-C airship`?"),
    ("init airship", 2, "did you mean `-C airship`?"),
    ("baseline show airship", 2, "did you mean `-C airship`?"),
    ("blame airship", 2, "did you mean `-C airship`?"),
    ("explain-value airship", 2, "did you mean `-C airship`?"),
    ("explain airship", 2, "did you mean `-C airship`?"),
    (
        "log airship/global/versions.yaml",
        2,
        "git log -- airship/global/versions.yaml",
    ),
    ("diff v1.0 v1.1 -- airship/global", 0, "3 sites"),
    ("diff v1.0 v1.1 -- airship/site", 0, "no output changed"),
    ("diff v1.0 airship/site", 0, "only airship/site"),
    (
        "diff v1.0 v1.1 -- airship/nosuch",
        2,
        "is not part of either side",
    ),
    ("diff v1.0 -- tools", 2, "`--set tools`"),
    ("impact airship/global/versions.yaml:8:3", 0, "reaches"),
    ("impact airship/global/versions.yaml:8:", 0, "reaches"),
    (
        "impact --set airship/global/versions.yaml:8",
        0,
        ".keystone of example/Any/v1 versions",
    ),
    (
        "impact airship/global/versions.yaml:99",
        2,
        "pass the file without a line",
    ),
    (
        "impact airship/global/versions.yaml:0",
        2,
        "lines are counted from 1",
    ),
    (
        "impact airship/site/LAB",
        2,
        "did you mean `airship/site/lab`?",
    ),
    ("impact tools/notes.yaml", 2, "not in a site repository"),
    ("graph tools", 2, "not in a site repository"),
    ("render tools", 2, "not in a site repository"),
    (
        "sites airship/site/lab",
        2,
        "neither a site nor the folder of a site repository",
    ),
];

const NAMES: &Rows<'_> = &[
    ("render lab keystone", 0, "image: k:2"),
    ("render lab keystone values.image", 0, "image: k:2"),
    ("render lab keystone /values/image", 0, "image: k:2"),
    ("render lab keystone values/image", 0, "image: k:2"),
    ("render lab example/Chart/v1", 0, "image: k:2"),
    ("render example/Chart/v1 keystone", 0, "image: k:2"),
    ("render --site lab keystone .values.image", 0, "image: k:2"),
    (
        "render keystone",
        2,
        "did you mean `layercake render --name keystone`?",
    ),
    ("render LAB", 2, "did you mean `lab`?"),
    ("render nowhere", 2, "the sites are: lab, prod, west"),
    ("render lab kystone", 2, "did you mean `keystone`?"),
    ("render lab KEYSTONE", 2, "did you mean `keystone`?"),
    (
        "render lab example/Chrt/v1",
        2,
        "did you mean `example/Chart/v1`?",
    ),
    (
        "render lab keystone .values.imge",
        2,
        "did you mean `.values.image`?",
    ),
    (
        "render lab keystone .data.values.image",
        2,
        "did you mean `.values.image`?",
    ),
    (
        "render lab keystone .values extra more",
        2,
        "expected at most SITE SCHEMA NAME PATH",
    ),
    ("render --site lba", 2, "did you mean `lab`?"),
    ("render --site lab --site wset", 2, "did you mean `west`?"),
    ("render --site z*", 2, "no site matches `z*`"),
    ("render --name keystne", 2, "did you mean `keystone`?"),
    (
        "render --name keystone --name nosuch",
        2,
        "has the name `nosuch`",
    ),
    (
        "render --schema example/Chart/v1 --name versions",
        2,
        "both the schema and the name",
    ),
    (
        "render v1.0",
        2,
        "did you mean `layercake render --rev v1.0`?",
    ),
    (
        "render missing-parent",
        2,
        "did you mean `layercake explain missing-parent`?",
    ),
    (
        "render global/version.yaml",
        2,
        "did you mean `global/versions.yaml`?",
    ),
    ("graph lab keystone", 0, "keystone (global)"),
    (
        "graph lab example/Chart/v1 keystone",
        0,
        "keystone (global)",
    ),
    ("graph --name keystone", 0, "keystone (global)"),
    ("graph --schema example/Chart/*", 0, "keystone (global)"),
    (
        "graph keystone",
        2,
        "did you mean `layercake graph --name keystone`?",
    ),
    ("graph lab keystne", 2, "did you mean `keystone`?"),
    (
        "graph lab keystone .values",
        2,
        "layercake explain-value SITE SCHEMA NAME PATH",
    ),
    ("graph --site nroth", 2, "site `nroth` not found"),
    (
        "graph topic",
        2,
        "did you mean `layercake graph --rev topic`?",
    ),
    ("graph global/versions.yaml", 0, "versions (global)"),
    ("log lab", 0, "2 outputs in 1 site"),
    ("log lab keystone", 0, "1 output in 1 site"),
    ("log --name keystone", 0, "3 outputs in 3 sites"),
    (
        "log keystone",
        2,
        "did you mean `layercake log --name keystone`?",
    ),
    (
        "log lab keystone .values",
        2,
        "layercake blame SITE SCHEMA NAME PATH",
    ),
    ("log v1.0", 2, "did you mean `layercake log --rev v1.0`?"),
    ("log --site nroth", 2, "site `nroth` not found"),
    ("log --site Lab", 2, "did you mean `lab`?"),
    (
        "log --name software",
        2,
        "no rendered document has the name `software`",
    ),
    ("log --name Keystone", 2, "did you mean `keystone`?"),
    (
        "log --schema example/Chat/v1",
        2,
        "did you mean `example/Chart/v1`?",
    ),
    ("log --site nroth -o json", 2, "site `nroth` not found"),
    (
        "log --name software -o markdown",
        2,
        "no rendered document has the name",
    ),
    (
        "log --name software --all",
        2,
        "no rendered document has the name",
    ),
    (
        "blame lab keystone values.image",
        0,
        "keystone (global) .values.image",
    ),
    ("blame --site lab --name keystone", 0, "keystone (global)"),
    (
        "blame --site lab keystone .values",
        0,
        "keystone (global) .values",
    ),
    (
        "blame lab twin .two",
        0,
        "example/Other/v1 twin (global) .two",
    ),
    ("blame lab twin", 2, "`example/Any/v1`, `example/Other/v1`"),
    (
        "blame keystone",
        2,
        "did you mean `layercake blame lab keystone`?",
    ),
    (
        "blame lab keystone .metadata.name",
        2,
        "paths begin inside `data`",
    ),
    ("blame", 2, "missing argument SITE"),
    ("blame lab .values", 2, "missing argument NAME"),
    (
        "blame lab keystone --since Topic",
        2,
        "did you mean `topic`?",
    ),
    (
        "blame lab keystone --finding missing-prent",
        2,
        "did you mean `missing-parent`?",
    ),
    (
        "explain-value lab keystone values.image",
        0,
        "set at airship/global/versions.yaml:8",
    ),
    (
        "explain-value lab keystone values/image",
        0,
        "set at airship/global/versions.yaml:8",
    ),
    (
        "explain-value --site lab --name keystone .values.image",
        0,
        "k:2",
    ),
    (
        "explain-value --site lab keystone --schema example/Chart/v1 .values.image",
        0,
        "k:2",
    ),
    (
        "explain-value --site l* keystone .values.image",
        0,
        "k:2 lab airship/global/versions.yaml:8",
    ),
    (
        "explain-value lab twin .two",
        0,
        "set at airship/global/twin-b.yaml:8",
    ),
    ("explain-value lab twin .three", 2, "their schemas are"),
    (
        "explain-value lab Keystone .values.image",
        2,
        "did you mean `keystone`?",
    ),
    (
        "explain-value LAB keystone .values.image",
        2,
        "did you mean `lab`?",
    ),
    (
        "explain-value lab keystone .metadata.name",
        2,
        "paths begin inside `data`",
    ),
    (
        "explain-value lab keystone .data.values.image",
        2,
        "did you mean `.values.image`?",
    ),
    (
        "explain-value lab keystone .nosuch",
        2,
        "prints the whole document",
    ),
    (
        "explain-value keystone .values",
        2,
        "layercake explain-value lab keystone PATH",
    ),
    (
        "explain-value --all-sites lab keystone .values.image",
        2,
        "`lab` is a site",
    ),
    (
        "explain-value global/versions.yaml:8",
        2,
        "layercake impact global/versions.yaml:8",
    ),
    (
        "explain-value missing-parent",
        2,
        "did you mean `layercake explain missing-parent`?",
    ),
    (
        "explain-value lab keystone .values.image --since Topic",
        2,
        "did you mean `topic`?",
    ),
    ("explain-value", 2, "missing arguments SITE, NAME, PATH"),
    (
        "impact lab keystone .values.image",
        0,
        "airship/global/versions.yaml:8",
    ),
    (
        "impact lab keystone",
        0,
        "airship/global/charts/keystone.yaml:1",
    ),
    (
        "impact --site lab --name keystone values.image",
        0,
        "airship/global/versions.yaml:8",
    ),
    (
        "impact keystone",
        2,
        "did you mean `layercake impact lab keystone`?",
    ),
    ("impact lab", 2, "missing argument NAME"),
    ("impact lab kystone", 2, "did you mean `keystone`?"),
    (
        "impact nowhere keystone",
        2,
        "the sites are: lab, prod, west",
    ),
    (
        "impact global/versions.yml",
        2,
        "did you mean `global/versions.yaml`?",
    ),
    ("sites lab", 0, "lab small"),
    ("sites lab west", 0, "west small"),
    ("sites lbb", 2, "did you mean `lab`?"),
    (
        "sites keystone",
        2,
        "did you mean `layercake render lab keystone`?",
    ),
    ("lint lab", 2, "did you mean `layercake lint --site lab`?"),
    (
        "lint keystone",
        2,
        "did you mean `layercake lint global/charts/keystone.yaml`?",
    ),
    (
        "lint missing-parent",
        2,
        "did you mean `layercake lint --select missing-parent`?",
    ),
    (
        "lint P005",
        2,
        "did you mean `layercake lint --select P005`?",
    ),
    (
        "lint v1.0",
        2,
        "did you mean `layercake lint --since v1.0`?",
    ),
    (
        "lint v1.0..main",
        2,
        "did you mean `layercake lint --from v1.0 --to main`?",
    ),
    (
        "lint example/Chart/v1",
        2,
        "did you mean `layercake render --schema example/Chart/v1`?",
    ),
    ("lint --site LAB", 2, "did you mean `lab`?"),
    ("lint --site lab --since v1.0", 0, "only --site lab"),
    (
        "lint --select missing-prent",
        2,
        "did you mean `missing-parent`?",
    ),
    (
        "lint --select Missing-Parent",
        2,
        "did you mean `missing-parent`?",
    ),
    (
        "lint --select lab",
        2,
        "did you mean `layercake lint --site lab`?",
    ),
    (
        "lint --since lab",
        2,
        "did you mean `layercake lint --site lab`?",
    ),
    ("lint --since Topic", 2, "did you mean `topic`?"),
    (
        "explain lab",
        2,
        "did you mean `layercake lint --site lab`?",
    ),
    (
        "explain keystone",
        2,
        "did you mean `layercake render lab keystone`?",
    ),
    ("explain v1.0", 2, "did you mean `layercake diff v1.0`?"),
    (
        "explain global/versions.yaml",
        2,
        "did you mean `layercake impact global/versions.yaml`?",
    ),
    (
        "explain MISSING-PARENT",
        2,
        "did you mean `missing-parent`?",
    ),
    (
        "rules missing-parent",
        2,
        "did you mean `layercake rules --select missing-parent`?",
    ),
    ("lab", 2, "did you mean `layercake lint --site lab`?"),
    (
        "missing-parent",
        2,
        "did you mean `layercake lint --select missing-parent`?",
    ),
    (
        "cloud-config lab",
        2,
        "did you mean `layercake cloud-config --site lab`?",
    ),
    (
        "config check lab",
        2,
        "did you mean `layercake lint --site lab`?",
    ),
];

const REVISIONS: &Rows<'_> = &[
    ("diff v1.0..v1.1", 0, "6 of"),
    ("diff v1.0...topic", 0, "merge-base of v1.0 and topic"),
    ("diff topic...main", 0, "no output changed"),
    ("diff v1.0..", 0, "6 of"),
    ("diff v1.0..v1.1 -- site/lab", 0, "no output changed"),
    ("diff v1.0..v1.1 main", 2, "name at most two revisions"),
    ("diff v1.0 v1.1 topic", 2, "name at most two revisions"),
    ("diff v1.0..nosuch", 2, "unknown revision `nosuch`"),
    ("diff lab", 2, "did you mean `layercake diff --site lab`?"),
    (
        "diff keystone",
        2,
        "did you mean `layercake diff -- global/charts/keystone.yaml`?",
    ),
    (
        "diff missing-parent",
        2,
        "did you mean `layercake explain missing-parent`?",
    ),
    ("diff Topic", 2, "did you mean `topic`?"),
    ("diff nosuch", 2, "unknown revision `nosuch`"),
    (
        "diff --since v1.0 v1.1",
        2,
        "cannot be used with another flag",
    ),
    ("diff --since v1.0 site/lab", 0, "only airship/site/lab"),
    ("diff --staged site/lab", 0, "no output changed"),
    ("diff --site nroth", 2, "site `nroth` not found"),
    ("diff HEAD index", 0, "no output changed"),
    ("lint --since v1.0..v1.1", 0, "head"),
    ("lint --from v1.0..topic", 0, "7 of"),
    (
        "lint --rev v1.0..v1.1",
        2,
        "did you mean `layercake lint --from v1.0 --to v1.1`?",
    ),
    (
        "render --rev v1.0..v1.1",
        2,
        "did you mean `layercake diff v1.0..v1.1`?",
    ),
    ("log v1.0..topic", 0, "1 output in 1 site"),
    ("log --rev v1.0..topic", 0, "1 output in 1 site"),
    ("log --since v1.0..v1.1", 0, "6 outputs in 3 sites"),
    (
        "log v1.0..v1.1 --name keystone",
        0,
        "state 3 outputs in 3 sites",
    ),
    ("log v1.0..v1.1 lab keystone", 0, "state 1 output in 1 site"),
    ("log v1.0..nosuch", 2, "unknown revision `nosuch`"),
    (
        "blame lab keystone .values.image --since v1.0..v1.1",
        0,
        "k:2",
    ),
];

#[test]
fn paths_enter_the_site_repository() {
    repository().check_rows(".", PATHS);
}

#[test]
fn names_are_understood_or_corrected() {
    repository().check_rows("airship", NAMES);
}

#[test]
fn ranges_and_paths_of_revisions_are_understood() {
    repository().check_rows("airship", REVISIONS);
}

#[test]
fn table_has_the_required_size() {
    assert!(PATHS.len() + NAMES.len() + REVISIONS.len() >= 150);
}

/// Each pair has the same answer.
#[test]
fn unusual_spelling_has_the_usual_answer() {
    let sandbox = repository();
    sandbox.write("airship/site/prod/broken.yaml", super::broken());
    for (unusual, usual) in [
        ("lint airship -o concise", "lint -C airship -o concise"),
        ("lint . -o concise", "lint -C airship -o concise"),
        (
            "lint airship/site -o concise",
            "lint -C airship site -o concise",
        ),
        (
            "lint airship --since v1.0 -o concise",
            "lint -C airship --since v1.0 -o concise",
        ),
        (
            "lint airship/global --from v1.0 -o concise",
            "lint -C airship --from v1.0 global -o concise",
        ),
        (
            "diff v1.0 airship -o concise",
            "diff -C airship v1.0 -o concise",
        ),
        ("render airship", "render -C airship"),
        ("render airship/site/lab", "render -C airship site/lab"),
        ("graph airship", "graph -C airship"),
        (
            "graph airship/global/versions.yaml",
            "graph -C airship global/versions.yaml",
        ),
        ("sites airship", "sites -C airship"),
        ("sites .", "sites -C airship"),
        ("log airship", "log -C airship"),
        ("debug parse airship", "debug parse -C airship"),
        (
            "-C airship render lab keystone",
            "-C airship render --site lab --name keystone",
        ),
        ("-C airship render lab", "-C airship render --site lab"),
        ("-C airship graph lab", "-C airship graph --site lab"),
        (
            "-C airship log lab keystone",
            "-C airship log --site lab --name keystone",
        ),
        (
            "-C airship log v1.0..v1.1",
            "-C airship log --rev v1.1 --since v1.0",
        ),
        ("-C airship sites lab", "-C airship sites --site lab"),
        (
            "-C airship diff v1.0..v1.1 -o concise",
            "-C airship diff v1.0 v1.1 -o concise",
        ),
        (
            "-C airship explain-value lab twin .two",
            "-C airship explain-value lab example/Other/v1 twin .two",
        ),
        (
            "-C airship explain-value lab keystone values",
            "-C airship explain-value lab keystone .values",
        ),
        (
            "-C airship blame --site lab --name keystone",
            "-C airship blame lab keystone",
        ),
    ] {
        let [unusual_run, usual_run] = [unusual, usual].map(|it| sandbox.runs(".", it));
        assert_eq!(unusual_run, usual_run, "{unusual}");
    }
}

/// A filter lists only the commits that changed something.
#[test]
fn log_with_a_filter_omits_other_commits() {
    let sandbox = repository();
    let of = |more: &str| {
        sandbox
            .runs("airship", &format!("log --name small{more}"))
            .stdout
    };
    assert_eq!(of("").matches("Tester").count(), 1);
    assert_eq!(of(" --all").matches("Tester").count(), 2);
    assert_eq!(
        sandbox
            .runs("airship", "log")
            .stdout
            .matches("Tester")
            .count(),
        2
    );
}

/// An incomplete file is not one without documents.
#[test]
fn file_that_cannot_be_read_is_reported() {
    let sandbox = repository();
    let half = document("half", "global", "{a: 1}").replace("{a: 1}", "\n  a:\n  - [1");
    sandbox.write("airship/global/half.yaml", half);
    let rows: &Rows<'_> = &[
        ("impact global/half.yaml", 2, "airship/global/half.yaml:"),
        ("impact global/half.yaml:9", 2, "airship/global/half.yaml:"),
        ("graph global/half.yaml", 2, "airship/global/half.yaml:"),
        ("explain-value lab half .a", 2, "airship/global/half.yaml:"),
        (
            "explain-value --all-sites half .a",
            2,
            "airship/global/half.yaml:",
        ),
        ("render lab half", 2, "airship/global/half.yaml:"),
        ("blame lab half .a", 2, "airship/global/half.yaml:"),
        ("impact global", 2, "airship/global/half.yaml:"),
        (
            "explain-value lab keystone .values.image",
            0,
            "documents of this file may be missing",
        ),
        (
            "impact global/versions.yaml",
            0,
            "documents of this file may be missing",
        ),
        ("graph lab", 0, "documents of this file may be missing"),
    ];
    sandbox.check_rows("airship", rows);
}

/// A configuration that is not read is not ignored without a word.
#[test]
fn configuration_with_another_name_or_place_is_reported() {
    for (path, help) in [
        ("layercake.yml", "rename it to `layercake.yaml`"),
        (".layercake.yml", "rename it to `layercake.yaml`"),
        ("layercake.toml", "write its settings in YAML"),
        ("layercake.json", "write its settings in YAML"),
        (
            "airship/layercake.yaml",
            "move it to `layercake.yaml` at the root",
        ),
        (
            "airship/.layercake.yaml",
            "move it to `layercake.yaml` at the root",
        ),
        (
            "airship/layercake.yml",
            "move it to `layercake.yaml` at the root",
        ),
        (
            "airship/site/lab/layercake.yaml",
            "move it to `layercake.yaml` at the root",
        ),
    ] {
        let sandbox = repository();
        sandbox.write(path, "semantics: deckhand\n");
        let message = format!("the configuration file `{path}` is not read");
        for verb in [
            "lint",
            "render",
            "diff",
            "sites",
            "config show",
            "config path",
            "config check",
        ] {
            let ran = sandbox.runs("airship", verb);
            let is_reported = ran.stderr.contains(&message) && ran.stderr.contains(help);
            assert!(ran.code == 2 && is_reported, "{path}, {verb}: {ran:?}");
        }
        assert_eq!(
            sandbox.runs("airship", "sites --isolated").code,
            0,
            "{path}"
        );
        let named = format!("sites --config {}", sandbox.path(path).display());
        assert_eq!(sandbox.runs("airship", &named).code, 0, "{path}");
    }
}

/// Lists of names are short.
#[test]
fn at_most_ten_names_are_listed() {
    let sandbox = Sandbox::with_sites();
    for number in 10..40 {
        let name = format!("site{number}");
        sandbox.write(
            &format!("site/{name}/site-definition.yaml"),
            definition(&name, ""),
        );
    }
    for arguments in [
        "lint --site nowhere",
        "render nowhere",
        "explain-value nowhere only .of",
    ] {
        let ran = sandbox.runs(".", arguments);
        assert!(
            ran.stderr.contains("site17 and 22 more"),
            "{arguments}: {ran:?}"
        );
    }
}
