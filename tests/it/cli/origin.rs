//! `--with-origin` names the line that wrote each value. The values here are words, each on one
//! line of its source file.

use super::{POLICY, Sandbox};

const PARENT: &str = "---
schema: example/Any/v1
metadata:
  schema: metadata/Document/v1
  name: parent
  storagePolicy: cleartext
  labels: {name: parent}
  layeringDefinition: {abstract: true, layer: global}
data:
  kept: word-inherited
  lost: word-overridden
  list:
    - word-first
    - {deep: word-second}
  text: |
    word-block and more
    lines
  url: http://word-pattern/PLACE
";

const CHILD: &str = "---
schema: example/Any/v1
metadata:
  schema: metadata/Document/v1
  name: word-name
  storagePolicy: cleartext
  layeringDefinition:
    abstract: false
    layer: site
    parentSelector: {name: parent}
    actions:
      - {method: merge, path: .}
  substitutions:
    - src: {schema: example/Any/v1, name: word-source, path: .value}
      dest: {path: .copied.here}
    - src: {schema: example/Any/v1, name: word-source, path: .place}
      dest: {path: .url, pattern: PLACE}
data:

  lost: word-own
  # a comment
  'quoted key': \"word-quoted\"
";

const SOURCE: &str = "---
schema: example/Any/v1
metadata:
  schema: metadata/Document/v1
  name: word-source
  storagePolicy: cleartext
  layeringDefinition: {abstract: false, layer: global}
data:
  value: word-substituted
  place: put-in
";

#[test]
fn each_value_names_the_line_that_wrote_it() {
    let sandbox = Sandbox::new();
    let files = [
        ("parent.yaml", PARENT),
        ("sub/child.yaml", CHILD),
        ("source.yaml", SOURCE),
    ];
    sandbox.write("policy.yaml", POLICY);
    for (path, text) in files {
        sandbox.write(path, text);
    }
    let ran = sandbox.run(&[
        "render",
        "--set",
        ".",
        "--with-origin",
        "--name",
        "word-name",
    ]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let mut seen = Vec::new();
    for (at, line) in ran.stdout.lines().enumerate() {
        let Some((value, origin)) = line.split_once("  # ") else {
            continue;
        };
        // A block scalar's words are on the lines below.
        let below = ran.stdout.lines().nth(at + 1).unwrap_or_default();
        let value = if value.ends_with('|') { below } else { value };
        let Some(start) = value.find("word-") else {
            continue;
        };
        let word: String = value[start..]
            .chars()
            .take_while(|it| it.is_ascii_lowercase() || *it == '-')
            .collect();
        let (file, number) = origin.rsplit_once(':').unwrap();
        let (_, text) = files.iter().find(|(path, _)| *path == file).unwrap();
        let number: usize = number.parse().unwrap();
        let of_block = text.lines().nth(number).unwrap_or_default();
        let named = text.lines().nth(number - 1).unwrap();
        assert!(
            named.contains(&word) || named.ends_with('|') && of_block.contains(&word),
            "{line}: {named}"
        );
        seen.push(word);
    }
    let expected = [
        "word-name",
        "word-inherited",
        "word-own",
        "word-first",
        "word-second",
        "word-block",
        "word-pattern",
        "word-quoted",
        "word-source",
        "word-source",
        "word-substituted",
    ];
    seen.sort_unstable();
    let mut expected = expected.map(str::to_owned).to_vec();
    expected.sort_unstable();
    assert_eq!(seen, expected, "{}", ran.stdout);
}

#[test]
fn comments_change_no_value() {
    let sandbox = Sandbox::with_sites();
    let without: Vec<String> = sandbox
        .run(&["render"])
        .stdout
        .lines()
        .map(str::to_owned)
        .collect();
    let with = sandbox.run(&["render", "--with-origin"]).stdout;
    let with: Vec<&str> = with
        .lines()
        .map(|line| line.split("  # ").next().unwrap())
        .collect();
    assert_eq!(with, without);
}
