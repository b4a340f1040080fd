//! `blame` and `log`: which commits changed rendered values, in histories made with the real `git`.

use serde_json::Value as Json;

use super::{Ran, Sandbox, definition, document};

impl Sandbox {
    /// Commits all files.
    pub(super) fn committed(&self, subject: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&[
            "commit",
            "--quiet",
            "--allow-empty",
            &format!("--message={subject}"),
        ]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// Report of `blame` as JSON.
    fn blamed(&self, arguments: &[&str]) -> Json {
        let ran = self.run(&[&["blame", "-o", "json"], arguments].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
        ran.json()
    }

    /// Output of a verb on a terminal of 80 columns, with ids replaced by `COMMIT`.
    pub(super) fn screen(&self, arguments: &[&str]) -> String {
        let ran = Ran::of(
            &self
                .command(arguments)
                .env("COLUMNS", "80")
                .output()
                .unwrap(),
        );
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
        let is_id =
            |word: &str| word.len() == 10 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let lines = ran.stdout.lines().map(|line| {
            let words = line
                .split(' ')
                .map(|word| if is_id(word) { "COMMIT" } else { word });
            words.collect::<Vec<_>>().join(" ")
        });
        lines.map(|line| format!("{line}\n")).collect()
    }

    /// A repository in which a chart of `lab` substitutes its image from a global document.
    pub(super) fn with_image() -> Self {
        let sandbox = Self::with_sites();
        sandbox.write("global/versions.yaml", versions("1.0"));
        sandbox.write("global/chart.yaml", chart("{replicas: 1}"));
        sandbox.committed("first");
        sandbox
    }
}

pub(super) fn versions(tag: &str) -> String {
    document(
        "versions",
        "global",
        &format!("{{image: \"registry/keystone:{tag}\"}}"),
    )
}

/// A document that substitutes the image.
pub(super) fn chart(data: &str) -> String {
    let substitution = "  substitutions:\n    - src: {schema: example/Any/v1, name: versions, path: \
                        .image}\n      dest: {path: .image}\n";
    document("chart", "global", data).replace("\ndata:", &format!("\n{substitution}data:"))
}

/// Commit subject of each value of the only output, by path.
fn subjects(blame: &Json) -> Vec<(String, String)> {
    let output = &blame["outputs"][0];
    let values = output["values"].as_array().unwrap().iter();
    let of = |value: &Json| {
        let change = &output["changes"][usize_of(&value["change"])];
        let subject = &blame["commits"][usize_of(&change["commit"])]["subject"];
        let subject = subject.as_str().unwrap_or("not committed");
        (
            value["path"].as_str().unwrap().to_owned(),
            subject.to_owned(),
        )
    };
    values.map(of).collect()
}

fn subject_of(blame: &Json, path: &str) -> String {
    let all = subjects(blame);
    let found = all.iter().find(|(known, _)| known == path);
    found
        .unwrap_or_else(|| panic!("{path} is in {all:?}"))
        .1
        .clone()
}

/// Subjects in the history of a value, newest first, each with the new value.
fn history(blame: &Json) -> Vec<(String, Json)> {
    let steps = blame["value"]["history"].as_array().unwrap().iter();
    let of = |step: &Json| {
        let subject = &blame["commits"][usize_of(&step["commit"])]["subject"];
        (
            subject.as_str().unwrap_or("not committed").to_owned(),
            step["after"].clone(),
        )
    };
    steps.map(of).collect()
}

fn usize_of(number: &Json) -> usize {
    usize::try_from(
        number
            .as_u64()
            .unwrap_or_else(|| panic!("{number} is a number")),
    )
    .unwrap()
}

#[test]
fn blame_names_the_commit_that_last_changed_each_value() {
    let sandbox = Sandbox::with_image();
    sandbox.write("global/versions.yaml", versions("2.0"));
    sandbox.committed("bump keystone");
    sandbox.write("global/chart.yaml", chart("{replicas: 3}"));
    sandbox.committed("more replicas");
    sandbox.write("README.md", "nothing that is rendered\n");
    sandbox.committed("docs");

    let screen = sandbox.screen(&["blame", "lab", "chart"]);
    let expected = "\
lab example/Any/v1 chart (global) · global/chart.yaml:1

COMMIT · replicas: 3
COMMIT ↓ image: registry/keystone:2.0

COMMIT  2026-01-31  Tester  more replicas
    · global/chart.yaml:11 .replicas
COMMIT  2026-01-31  Tester  bump keystone
    ↓ global/versions.yaml:8 .image → substituted into chart (global)
";
    assert_eq!(screen, expected);
}

#[test]
fn log_lists_every_earlier_value() {
    let sandbox = Sandbox::with_image();
    for (tag, subject) in [("2.0", "bump"), ("1.0", "revert"), ("2.0", "bump again")] {
        sandbox.write("global/versions.yaml", versions(tag));
        sandbox.committed(subject);
    }
    let screen = sandbox.screen(&["blame", "lab", "chart", ".image"]);
    let step = |subject: &str, before: &str, after: &str| {
        format!(
            "COMMIT  2026-01-31  Tester  {subject}\n    - registry/keystone:{before}\n    + \
             registry/keystone:{after}\n    ↓ global/versions.yaml:8 .image → substituted into \
             chart (global)\n"
        )
    };
    let first = "COMMIT  2026-01-31  Tester  first\n    + registry/keystone:1.0\n    in the first \
                 commit\n";
    let steps = [
        "lab example/Any/v1 chart (global) .image\n".to_owned(),
        step("bump again", "1.0", "2.0"),
        step("revert", "2.0", "1.0"),
        step("bump", "1.0", "2.0"),
        first.to_owned(),
    ];
    assert_eq!(screen, steps.join("\n"));
    let same = sandbox.screen(&["explain-value", "lab", "chart", ".image", "--history"]);
    assert_eq!(same, screen);

    let when = sandbox.blamed(&["lab", "chart", ".image", "--when", "registry/keystone:1.0"]);
    let subjects: Vec<String> = history(&when)
        .into_iter()
        .map(|(subject, _)| subject)
        .collect();
    assert_eq!(subjects, ["bump again", "revert", "bump", "first"]);
    let never = sandbox.run(&[
        "blame",
        "lab",
        "chart",
        ".image",
        "--when",
        "registry/keystone:9",
    ]);
    let error = "error: the value was never `registry/keystone:9`\n  help: it was \
                 `registry/keystone:2.0`, `registry/keystone:1.0`, `registry/keystone:2.0`, \
                 `registry/keystone:1.0`\n";
    assert_eq!((never.code, never.stderr.as_str()), (2, error));
}

#[test]
fn log_covers_added_and_removed_values() {
    let sandbox = Sandbox::with_image();
    sandbox.write("global/chart.yaml", chart("{replicas: 1, debug: true}"));
    sandbox.committed("debug");
    sandbox.write("global/chart.yaml", chart("{replicas: 1}"));
    sandbox.committed("no debug");
    let blame = sandbox.blamed(&["lab", "chart", ".debug"]);
    let expected = [
        ("no debug", Json::Null),
        ("debug", Json::Bool(true)),
        ("first", Json::Null),
    ];
    let expected = expected.map(|(subject, after)| (subject.to_owned(), after));
    assert_eq!(history(&blame), expected);
    let never = sandbox.run(&["blame", "lab", "chart", ".replcas"]);
    let error = "error: no value at `.replcas` of example/Any/v1 chart, now or earlier\n  \
                 help: did you mean `.replicas`?\n";
    assert_eq!((never.code, never.stderr.as_str()), (2, error));
}

#[test]
fn history_of_a_mapping_lists_the_leaves_that_changed() {
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "layercake.yaml",
        "diff: {list-keys: {'example/*': {'$.values.hosts': ip}}}\n",
    );
    let write = |data: &str| {
        let data = format!("{{before: 1, values: {data}}}");
        sandbox.write("site/lab/only.yaml", document("only", "site", &data));
    };
    let long = |end: &str| format!("{}{end}", "registry.example.org/".repeat(5));
    write(&format!(
        "{{tag: '1', kind: a, image: '{}', old: {{a: 1}}, empty: {{}}, hosts: [{{ip: 1, name: a}}, \
         {{ip: 2, name: b}}], env: [{{name: A}}, {{name: B}}], list: [1, 2]}}",
        long("a:1")
    ));
    sandbox.committed("first");
    sandbox.git(&["tag", "v1"]);
    write(&format!(
        "{{tag: 1, kind: {{of: b}}, image: '{}', same: x, empty: {{c: \"two\\nlines\"}}, hosts: \
         [{{ip: 1, name: c}}, {{ip: 2, name: b}}], env: [{{name: B}}, {{name: A}}], list: [1, 3, 2]}}",
        long("b:2")
    ));
    sandbox.committed("second");
    let screen = sandbox.screen(&["blame", "lab", "only", ".values", "--since", "v1"]);
    let (_, steps) = screen.split_once("second\n").unwrap();
    let (step, _) = steps.split_once("    · site").unwrap();
    let expected = r#"    ~ .tag: "1" → 1
    - .kind: a
    + .kind.of: b
    ~ .image: …y.example.org/registry.example.org/registry.example.org/a:1 → …y.example.org/registry.example.org/registry.example.org/b:2
    - .old.a: 1
    + .empty.c: "two\nlines"
    ~ .hosts[ip=1].name: a → c
    ~ .env (order changed): [A, B] → [B, A]
    + .list[1]: 3
    + .same: x
"#;
    assert_eq!(step, expected);
    let screen = sandbox.screen(&["blame", "lab", "only", ".values.list", "--since", "v1"]);
    assert!(screen.contains("second\n    + .[1]: 3\n"), "{screen}");
}

#[test]
fn long_history_of_a_mapping_counts_the_leaves_that_are_left_out() {
    let sandbox = Sandbox::with_sites();
    for value in 1..=2 {
        let entries: String = (0..13).map(|at| format!("key-{at}: {value}, ")).collect();
        let data = format!("{{values: {{{entries}}}}}");
        sandbox.write("site/lab/only.yaml", document("only", "site", &data));
        sandbox.committed(&format!("value {value}"));
    }
    let screen = sandbox.screen(&["blame", "lab", "only", ".values", "--limit", "1"]);
    let lines: Vec<&str> = screen.lines().skip(3).take(11).collect();
    let expected = (0..10).map(|at| format!("    ~ .key-{at}: 1 → 2"));
    let expected: Vec<String> = expected.chain(["    … 3 more values".to_owned()]).collect();
    assert_eq!(lines, expected, "{screen}");
}

#[test]
fn uncommitted_changes_are_reported() {
    let sandbox = Sandbox::with_image();
    sandbox.write("global/chart.yaml", chart("{replicas: 5}"));
    let blame = sandbox.blamed(&["lab", "chart"]);
    assert_eq!(subject_of(&blame, ".replicas"), "not committed");
    assert_eq!(subject_of(&blame, ".image"), "first");
    let of_head = sandbox.blamed(&["lab", "chart", "--rev", "HEAD"]);
    assert_eq!(subject_of(&of_head, ".replicas"), "first");
    let empty = Sandbox::with_sites();
    let blame = empty.blamed(&["lab", "only"]);
    assert_eq!(subject_of(&blame, ".of"), "not committed");
    let log = empty.run(&["log"]);
    assert_eq!(
        (log.code, log.stderr.as_str()),
        (2, "error: the repository has no commits yet\n")
    );
}

#[test]
fn items_of_lists_keep_their_commits() {
    let sandbox = Sandbox::with_sites();
    let list = |items: &str| document("only", "site", &format!("{{items: [{items}]}}"));
    sandbox.write(
        "site/lab/only.yaml",
        list("{name: a, v: 1}, {name: b, v: 1}"),
    );
    sandbox.committed("first");
    sandbox.write(
        "site/lab/only.yaml",
        list("{name: c, v: 1}, {name: b, v: 2}, {name: a, v: 1}"),
    );
    sandbox.committed("second");
    let blame = sandbox.blamed(&["lab", "only"]);
    let expected = [
        (".items[0].name", "second"),
        (".items[0].v", "second"),
        (".items[1].name", "first"),
        (".items[1].v", "second"),
        (".items[2].name", "first"),
        (".items[2].v", "first"),
    ];
    let expected = expected.map(|(path, subject)| (path.to_owned(), subject.to_owned()));
    assert_eq!(subjects(&blame), expected);
}

#[test]
fn merge_is_blamed_only_for_values_in_none_of_its_parents() {
    let sandbox = Sandbox::with_sites();
    let only =
        |a: u8, b: u8, c: u8| document("only", "site", &format!("{{a: {a}, b: {b}, c: {c}}}"));
    sandbox.write("site/lab/only.yaml", only(1, 1, 1));
    sandbox.committed("first");
    for (branch, text) in [
        ("one", only(2, 1, 1)),
        ("two", only(1, 2, 1)),
        ("three", only(1, 1, 1)),
    ] {
        sandbox.git(&["checkout", "--quiet", "-b", branch, "main"]);
        sandbox.write("site/lab/only.yaml", text);
        sandbox.committed(branch);
    }
    sandbox.git(&["checkout", "--quiet", "--detach", "one"]);
    sandbox.git(&[
        "merge",
        "--quiet",
        "--no-commit",
        "-s",
        "ours",
        "two",
        "three",
    ]);
    sandbox.write("site/lab/only.yaml", only(2, 2, 3));
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message=octopus"]);
    let blame = sandbox.blamed(&["lab", "only"]);
    let expected = [(".a", "one"), (".b", "two"), (".c", "octopus")];
    let expected = expected.map(|(path, subject)| (path.to_owned(), subject.to_owned()));
    assert_eq!(subjects(&blame), expected);
    let blame = sandbox.blamed(&["lab", "only", "--first-parent"]);
    assert_eq!(subject_of(&blame, ".b"), "octopus");
    let reach = |arguments: &[&str]| {
        let log = sandbox
            .run(&[&["log", "-o", "json", "--limit", "1"], arguments].concat())
            .json();
        (
            log["commits"][0]["subject"].clone(),
            log["commits"][0]["reach"]["outputs"].clone(),
        )
    };
    assert_eq!(reach(&[]), ("octopus".into(), 1.into()));
}

#[test]
fn clean_merge_changes_no_output() {
    let sandbox = Sandbox::with_sites();
    sandbox.committed("first");
    sandbox.git(&["checkout", "--quiet", "-b", "topic"]);
    sandbox.write(
        "site/lab/only.yaml",
        document("only", "site", "{of: topic}"),
    );
    sandbox.committed("topic");
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.write(
        "site/prod/only.yaml",
        document("only", "site", "{of: main}"),
    );
    sandbox.committed("main");
    sandbox.git(&["merge", "--quiet", "--no-ff", "--message=merge", "topic"]);
    let screen = sandbox.screen(&["log"]);
    let expected = "\
COMMIT  2026-01-31  Tester  merge
    no output changed
COMMIT  2026-01-31  Tester  main
    1 output in 1 site
    only
    .of: prod → main
COMMIT  2026-01-31  Tester  topic
    1 output in 1 site
    only
    .of: lab → topic
COMMIT  2026-01-31  Tester  first
    10 outputs in 2 sites
    layering-policy, chart, dns, … 3 more
    all outputs of lab were added
    all outputs of prod were added
";
    assert_eq!(screen, expected);
    let log = sandbox
        .run(&["log", "--first-parent", "--effective", "-o", "json"])
        .json();
    let commits = log["commits"].as_array().unwrap().iter();
    let subjects: Vec<&str> = commits.map(|it| it["subject"].as_str().unwrap()).collect();
    assert_eq!(subjects, ["merge", "main", "first"]);
}

#[test]
fn renamed_documents_and_sites_are_followed() {
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "site/lab/more.yaml",
        document("old", "site", "{a: 1, b: 2}"),
    );
    sandbox.committed("first");
    sandbox.write(
        "site/lab/more.yaml",
        document("new", "site", "{a: 1, b: 2}"),
    );
    sandbox.committed("rename the document");
    sandbox.git(&["mv", "site/lab", "site/north"]);
    let text = definition("north", "");
    sandbox.write("site/north/site-definition.yaml", text);
    sandbox.committed("rename the site");
    sandbox.write(
        "site/north/more.yaml",
        document("new", "site", "{a: 1, b: 3}"),
    );
    sandbox.committed("last");
    let blame = sandbox.blamed(&["north", "new"]);
    assert_eq!(subject_of(&blame, ".a"), "first");
    assert_eq!(subject_of(&blame, ".b"), "last");
    let first = blame["commits"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["subject"] == "first");
    assert_eq!(first.unwrap()["site"], "lab");
    let screen = sandbox.screen(&["log", "--site", "north", "--limit", "2"]);
    assert!(
        screen.contains("    site `lab` was renamed to `north`\n"),
        "{screen}"
    );
}

#[test]
fn site_is_renamed_if_half_of_its_files_are_the_same() {
    let blamed = |notes: [&[&str]; 2]| {
        let sandbox = Sandbox::with_sites();
        let write = |site: &str, notes: &[&str]| {
            let write = |file: &str, text| sandbox.write(&format!("site/{site}/{file}"), text);
            write("site-definition.yaml", definition(site, ""));
            write("only.yaml", document("only", "site", "{a: 1}"));
            for (number, note) in notes.iter().enumerate() {
                write(&format!("{number}.txt"), (*note).to_owned());
            }
        };
        write("lab", notes[0]);
        sandbox.committed("first");
        sandbox.git(&["rm", "--quiet", "-r", "site/lab"]);
        write("north", notes[1]);
        sandbox.committed("second");
        subject_of(&sandbox.blamed(&["north", "only"]), ".a")
    };
    // The definitions differ, and the documents are the same.
    let table: [([&[&str]; 2], &str); 6] = [
        ([&[], &[]], "first"),
        ([&["a"], &["b"]], "second"),
        ([&["a", "a"], &["a", "b"]], "first"),
        ([&["a", "b", "b"], &["a", "c", "c"]], "second"),
        ([&["a"], &["a", "a", "a"]], "second"),
        ([&["a", "a", "a"], &["a"]], "second"),
    ];
    for (notes, expected) in table {
        assert_eq!(blamed(notes), expected, "{notes:?}");
    }
}

#[test]
fn site_renamed_in_the_working_tree_is_followed() {
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "site/lab/more.yaml",
        document("more", "site", "{a: 1, b: 2}"),
    );
    sandbox.committed("first");
    sandbox.git(&["mv", "site/lab", "site/north"]);
    let blame = sandbox.blamed(&["north", "more"]);
    assert_eq!(subject_of(&blame, ".a"), "first");
}

#[test]
fn unreadable_file_of_a_renamed_site_is_the_same_in_earlier_commits() {
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "site/lab/more.yaml",
        document("more", "site", "{a: 1, b: 2}"),
    );
    sandbox.write("site/lab/broken.yaml", "a: [\n");
    sandbox.committed("first");
    sandbox.write(
        "site/lab/more.yaml",
        document("more", "site", "{a: 1, b: 3}"),
    );
    sandbox.committed("edit");
    sandbox.git(&["mv", "site/lab", "site/north"]);
    sandbox.committed("rename");
    let blame = sandbox.blamed(&["north", "more"]);
    assert_eq!(subject_of(&blame, ".a"), "first");
    assert_eq!(subject_of(&blame, ".b"), "edit");
}

#[test]
fn log_contains_removed_sites() {
    let sandbox = Sandbox::with_sites();
    sandbox.committed("first");
    sandbox.git(&["rm", "--quiet", "-r", "site/lab"]);
    sandbox.committed("no lab");
    let screen = sandbox.screen(&["log", "--limit", "1"]);
    assert!(
        screen.contains("    all outputs of lab were removed\n"),
        "{screen}"
    );
}

#[test]
fn unrenderable_commit_is_skipped() {
    let sandbox = Sandbox::with_image();
    let good = chart("{replicas: 1}");
    sandbox.write("global/chart.yaml", "a: [\n");
    let broken = sandbox.committed("broken");
    sandbox.write(
        "global/chart.yaml",
        good.replace("replicas: 1", "replicas: 2"),
    );
    sandbox.committed("fixed");
    let blame = sandbox.blamed(&["lab", "chart"]);
    assert_eq!(subject_of(&blame, ".image"), "first");
    assert_eq!(subject_of(&blame, ".replicas"), "fixed");
    let unusable = blame["commits"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["unusable"] == true);
    let unusable = unusable.expect("the commit is named");
    assert_eq!(
        (&unusable["id"], &unusable["at"]["file"]),
        (&broken.as_str().into(), &"global/chart.yaml".into())
    );
    let screen = sandbox.screen(&["blame", "lab", "chart"]);
    assert!(
        screen.contains(
            ", which cannot be rendered
"
        ),
        "{screen}"
    );
    assert!(
        screen.contains("1 commit cannot be rendered and was skipped:\n"),
        "{screen}"
    );
    let screen = sandbox.screen(&["log"]);
    assert!(
        screen.contains("    lab cannot be rendered here\n"),
        "{screen}"
    );
}

#[test]
fn shallow_clone_reports_where_its_history_ends() {
    let sandbox = Sandbox::with_image();
    sandbox.write("global/chart.yaml", chart("{replicas: 2}"));
    sandbox.committed("second");
    let folder = sandbox.beside("clone");
    let (from, to) = (
        format!("file://{}", sandbox.root.display()),
        folder.display().to_string(),
    );
    sandbox.git(&["clone", "--quiet", "--depth=2", &from, &to]);
    sandbox.write("global/chart.yaml", chart("{replicas: 3}"));
    sandbox.committed("third");
    sandbox.git(&["-C", &to, "fetch", "--quiet", "--depth=2"]);
    sandbox.git(&["-C", &to, "reset", "--quiet", "--hard", "origin/main"]);
    let mut command = sandbox.command(&["blame", "lab", "chart"]);
    let ran = Ran::of(
        &command
            .current_dir(&folder)
            .env("COLUMNS", "80")
            .output()
            .unwrap(),
    );
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with('^') && line.contains("· image:")),
        "{ran:?}"
    );
    let help = "this clone is shallow; run `git fetch --unshallow origin` to complete it";
    assert!(ran.stdout.replace('\n', " ").contains(help), "{ran:?}");
    assert!(
        ran.stdout
            .contains("    or earlier: this clone is shallow\n"),
        "{ran:?}"
    );
    let log = Ran::of(
        &sandbox
            .command(&["log"])
            .current_dir(&folder)
            .output()
            .unwrap(),
    );
    let end = "second\n    not compared: its parent is missing from this shallow clone\n";
    assert!(log.stdout.ends_with(end), "{log:?}");
}

#[test]
fn since_ends_the_history_at_a_revision_or_a_date() {
    let sandbox = Sandbox::with_image();
    sandbox.git(&["tag", "v1"]);
    sandbox.write("global/chart.yaml", chart("{replicas: 2}"));
    sandbox.committed("second");
    let blame = sandbox.blamed(&["lab", "chart", "--since", "v1"]);
    assert_eq!(subject_of(&blame, ".replicas"), "second");
    let ends = blame["outputs"][0]["changes"].as_array().unwrap().iter();
    let ends: Vec<&str> = ends.map(|change| change["end"].as_str().unwrap()).collect();
    assert!(
        ends.contains(&"since") && ends.contains(&"changed"),
        "{ends:?}"
    );
    let later = sandbox.blamed(&["lab", "chart", "--since", "2027-01-01"]);
    assert_eq!(later["outputs"][0]["changes"][0]["end"], "since");
    let neither = sandbox.run(&["blame", "lab", "chart", "--since", "nosuch"]);
    assert_eq!(neither.code, 2, "{neither:?}");
    let log = sandbox.run(&["log", "--since", "v1", "-o", "json"]).json();
    assert_eq!(log["commits"].as_array().unwrap().len(), 1);
}

#[test]
fn replacements_are_followed_and_grafts_refused() {
    let sandbox = Sandbox::with_image();
    sandbox.write("global/chart.yaml", chart("{replicas: 2}"));
    sandbox.committed("second");
    sandbox.write("global/chart.yaml", chart("{replicas: 3}"));
    let third = sandbox.committed("third");
    // Grafts the third commit onto the first, as if the second did not exist.
    sandbox.git(&["replace", "--graft", "HEAD", "HEAD~2"]);
    let blame = sandbox.blamed(&["lab", "chart", ".replicas"]);
    let expected = [("third", 3), ("first", 1)];
    let expected = expected.map(|(subject, after)| (subject.to_owned(), after.into()));
    assert_eq!(history(&blame), expected);
    assert_eq!(blame["commits"][0]["id"], third);
    sandbox.git(&["replace", "--delete", "HEAD"]);
    let first = sandbox.git(&["rev-parse", "HEAD~2"]);
    sandbox.write(".git/info/grafts", format!("{third} {first}"));
    let ran = sandbox.run(&["blame", "lab", "chart"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.stderr.contains("git replace --convert-graft-file"),
        "{ran:?}"
    );
}

#[test]
fn blame_shows_no_secret_value() {
    let sandbox = Sandbox::with_sites();
    let secret = |text: &str| {
        let secret = document("pass", "site", text).replace("cleartext", "encrypted");
        secret.replace("example/Any/v1", "deckhand/Passphrase/v1")
    };
    sandbox.write("site/lab/secrets/pass.yaml", secret("one-cnry"));
    sandbox.write(
        "site/lab/only.yaml",
        document("only", "site", "{of: literal-cnry}"),
    );
    sandbox.committed("first");
    sandbox.write("site/lab/secrets/pass.yaml", secret("two-cnry"));
    sandbox.committed("second");
    // The literal is now substituted from the secret.
    let substitution = "  substitutions:\n    - src: {schema: deckhand/Passphrase/v1, name: pass, path: .}\n      dest: {path: .of}\n";
    let only = document("only", "site", "{}").replace("\ndata:", &format!("\n{substitution}data:"));
    sandbox.write("site/lab/only.yaml", only);
    sandbox.committed("third");
    for format in ["text", "json", "porcelain"] {
        for arguments in [
            &["lab"][..],
            &["lab", "pass"],
            &["lab", "only"],
            &["lab", "pass", "."],
            &["lab", "only", ".of"],
            &["lab", "only", "."],
        ] {
            let ran = sandbox.run(&[&["blame", "-o", format], arguments].concat());
            assert_eq!(ran.code, 0, "{ran:?}");
            assert!(
                !ran.stdout.contains("cnry"),
                "{format} {arguments:?}: {}",
                ran.stdout
            );
        }
    }
    let blame = sandbox.blamed(&["lab", "only", ".of"]);
    let step = &blame["value"]["history"][0];
    assert_eq!(
        (&step["hidden"], &step["before"]),
        (&true.into(), &Json::Null)
    );
    for format in ["text", "json", "markdown"] {
        let ran = sandbox.run(&["log", "--site", "lab", "-o", format]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(!ran.stdout.contains("cnry"), "{format}: {}", ran.stdout);
    }
    let screen = sandbox.screen(&["blame", "lab", "only", "."]);
    assert!(screen.contains("third\n    ~ .of: (hidden)\n"), "{screen}");
    let when = sandbox.run(&["blame", "lab", "only", ".of", "--when", "two-cnry"]);
    let error = "error: the value is or was secret, and `--when` would reveal it\n";
    assert_eq!((when.code, when.stderr.as_str()), (2, error));
}

#[test]
fn blame_names_the_commit_that_introduced_a_finding() {
    let sandbox = Sandbox::with_image();
    sandbox.break_site("lab");
    sandbox.committed("a substitution without its source");
    sandbox.write("global/chart.yaml", chart("{replicas: 2}"));
    sandbox.committed("later");
    let blame = sandbox.blamed(&["lab", "--finding", "missing-source"]);
    let finding = &blame["findings"][0];
    let commit = usize_of(&finding["change"]["commit"]);
    assert_eq!(
        blame["commits"][commit]["subject"],
        "a substitution without its source"
    );
    let file = &finding["change"]["edits"][0]["head"]["file"];
    assert_eq!(file, "site/lab/broken.yaml");
    let none = sandbox.run(&["blame", "prod", "--finding", "missing-source"]);
    assert_eq!(
        (none.code, none.stderr.lines().next()),
        (2, Some("error: no such finding"))
    );
    let unknown = sandbox.run(&["blame", "lab", "--finding", "mising-source"]);
    assert_eq!(unknown.code, 2, "{unknown:?}");
}

#[test]
fn why_not_names_the_commit_that_stopped_a_value() {
    let sandbox = Sandbox::with_image();
    sandbox.write(
        "global/chart.yaml",
        document("chart", "global", "{image: own, replicas: 1}"),
    );
    sandbox.committed("no substitution");
    let screen = sandbox.screen(&[
        "blame",
        "lab",
        "chart",
        ".image",
        "--why-not",
        "global/versions.yaml:8",
    ]);
    let expected = "\
global/versions.yaml:8 versions (global) .image does not reach it: ends unused
COMMIT  2026-01-31  Tester  no substitution
    - reaches the value
    + does not reach it: ends unused
";
    assert!(screen.starts_with(expected), "{screen}");
}

#[test]
fn bump_names_the_commit_of_the_other_repository() {
    let sandbox = Sandbox::new();
    let made = sandbox.run(&["demo", "--repositories", "demo"]);
    assert_eq!(made.code, 0, "{made:?}");
    let sites = sandbox.path("demo/sites");
    let definition = sites.join("site/north/site-definition.yaml");
    let text = std::fs::read_to_string(&definition).unwrap();
    std::fs::write(&definition, text.replace("v1.7", "v1.8")).unwrap();
    sandbox.git(&[
        "-C",
        "demo/sites",
        "commit",
        "--quiet",
        "--all",
        "--message=bump",
    ]);
    let path = ".values.images.tags.api";
    let ran = sandbox.run_in(&sites, &["blame", "north", "keystone", path, "-o", "json"]);
    let blame = ran.json();
    let subjects: Vec<String> = history(&blame)
        .into_iter()
        .map(|(subject, _)| subject)
        .collect();
    assert_eq!(subjects, ["bump", "Sites on shared documents"], "{ran:?}");
    let further = &blame["value"]["history"][0]["further"];
    let named: Vec<&Json> = further.as_array().unwrap().iter().collect();
    assert_eq!(named.len(), 1, "{further}");
    assert_eq!(
        (&named[0]["repository"], &named[0]["subject"]),
        (&"global".into(), &"keystone 2025.2".into())
    );
    let other = sandbox.run_in(
        &sites,
        &["blame", "north", "keystone", ".release", "-o", "json"],
    );
    assert_eq!(
        other.json()["value"]["history"][0]["further"],
        Json::Array(Vec::new())
    );
}

#[test]
fn porcelain_prints_a_line_for_each_value() {
    let sandbox = Sandbox::with_image();
    sandbox.write("global/versions.yaml", versions("2.0"));
    let id = sandbox.committed("bump keystone");
    let ran = sandbox.run(&["blame", "lab", "chart", "-o", "porcelain"]);
    let expected = format!(
        "{id} /image\nauthor Tester\nauthor-date 2026-01-31\nsummary bump keystone\ndocument \
         example/Any/v1 chart\nown-file no\nend changed\nedit global/versions.yaml:8\n\t\
         registry/keystone:2.0\n"
    );
    assert!(ran.stdout.ends_with(&expected), "{}", ran.stdout);
}

#[test]
fn missing_and_invalid_arguments_are_reported() {
    let sandbox = Sandbox::with_image();
    let error = |arguments: &[&str]| {
        let ran = sandbox.run(&[&["blame"], arguments].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        ran.stderr
    };
    assert!(error(&["lb", "chart"]).contains("did you mean `lab`?"));
    assert!(error(&["lab", "chrt"]).contains("did you mean `chart`?"));
    assert!(error(&["lab", ".replicas"]).contains("missing argument NAME"));
    assert!(error(&["lab", "chart", "--when", "1"]).contains("missing argument PATH"));
    let outside = Sandbox::outside_git();
    outside.write_sites();
    let ran = outside.run(&["blame", "lab", "chart"]);
    assert!(
        ran.stderr.contains("is not inside a git repository"),
        "{ran:?}"
    );
}
