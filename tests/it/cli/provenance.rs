//! Output of `explain-value`, `impact` and `graph`, line by line.

use super::{POLICY, Sandbox, definition, document};

/// A value of the global layer in three sites: `lab` inherits it through a replacement of its
/// type, `prod` inherits it from the global layer, `own` overrides it.
fn repository() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("global/policy.yaml", POLICY);
    let versions = document(
        "versions",
        "global",
        "\n  image:\n    api: one\n  list: [1]\n",
    );
    sandbox.write(
        "global/versions.yaml",
        versions.replace(
            "  storagePolicy",
            "  labels: {is: versions}\n  storagePolicy",
        ),
    );
    let chart = document("chart", "global", "{values: {tag: none}}")
        .replace("  storagePolicy", "  labels: {is: chart}\n  storagePolicy")
        .replace(
            "\ndata:",
            "\n  substitutions:\n    - src: {schema: example/Any/v1, name: versions, path: .image}\n      \
             dest:\n        path: .values.image\ndata:",
        );
    sandbox.write("global/chart.yaml", chart);
    let replacing = |name: &str, layer: &str, parent: &str, data: &str| {
        document(name, layer, data)
            .replace("  storagePolicy", "  replacement: true\n  storagePolicy")
            .replace(
                &format!("{{abstract: false, layer: {layer}}}"),
                &format!(
                    "\n    abstract: false\n    layer: {layer}\n    parentSelector: {{is: {parent}}}\n    \
                     actions: [{{method: merge, path: .}}]"
                ),
            )
    };
    sandbox.write(
        "type/small/chart.yaml",
        replacing("chart", "type", "chart", "{}"),
    );
    sandbox.write("type/large/any.yaml", document("any", "type", "{}"));
    for (site, site_type) in [("lab", "small"), ("own", "large"), ("prod", "large")] {
        let definition = definition(site, "").replace("small", site_type);
        sandbox.write(&format!("site/{site}/site-definition.yaml"), definition);
    }
    sandbox.write(
        "site/own/versions.yaml",
        replacing("versions", "site", "versions", "{image: {api: two}}"),
    );
    sandbox
}

const TAG: [&str; 4] = [
    "explain-value",
    "example/Any/v1",
    "chart",
    ".values.image.api",
];

fn tag_of(site: &str) -> Vec<&str> {
    vec![TAG[0], site, TAG[1], TAG[2], TAG[3]]
}

#[test]
fn value_is_explained_from_its_source_text() {
    let ran = repository().run(&tag_of("lab"));
    assert_eq!((ran.code, &*ran.stderr), (0, ""), "{ran:?}");
    assert_eq!(
        ran.stdout,
        "one
set at global/versions.yaml:11

 #  layer   document  step and location
 1  global  versions  literal
            global/versions.yaml:11
 2  global  chart     substitution .image into .values.image
            global/chart.yaml:10, :12
 3  type    chart     replaces #2, parent chart, action merge .
            type/small/chart.yaml:6, :11, :12
            own data has no such key

to change it for lab only  set it in #3
to change it everywhere    set it in #1 (reaches 4 outputs in 2 sites; own is shielded)
"
    );
}

#[test]
fn overridden_values_are_listed_before_the_winner() {
    let arguments = [
        "explain-value",
        "own",
        "example/Any/v1",
        "versions",
        "/image/api",
    ];
    let ran = repository().run(&arguments);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        ran.stdout,
        "two
set at site/own/versions.yaml:13

 #  layer   document  step and location
 1  global  versions  literal, LOST
            global/versions.yaml:11
 2  site    versions  replaces #1, parent versions, action merge ., own value, WINS
            site/own/versions.yaml:6, :11, :12, :13

to change it for own only  set it in #2 (reaches 2 outputs in 1 site)
"
    );
}

#[test]
fn all_sites_are_grouped_by_value() {
    let ran = repository().run(&[TAG[0], "--all-sites", TAG[1], TAG[2], TAG[3]]);
    assert_eq!(
        (ran.code, &*ran.stdout),
        (
            0,
            "one
  lab   global/versions.yaml:11
  prod  global/versions.yaml:11

two
  own  site/own/versions.yaml:13
"
        )
    );
}

#[test]
fn why_not_names_the_place_where_a_line_stops() {
    let sandbox = repository();
    let why_not = |site: &str| {
        let mut arguments = tag_of(site);
        arguments.extend(["--why-not", "global/versions.yaml:11"]);
        sandbox.run(&arguments).stdout
    };
    assert_eq!(
        why_not("own"),
        "\
.image.api of example/Any/v1 versions
set at global/versions.yaml:11

 #  layer   document  step and location
 1  global  versions  own data .image.api
            global/versions.yaml:11

does not reach the value
  set again in versions (site)
      site/own/versions.yaml:13
"
    );
    assert!(why_not("lab").ends_with("\nreaches the value\n"));
}

#[test]
fn container_names_the_writers_of_its_leaves() {
    let ran = repository().run(&["explain-value", "lab", TAG[1], TAG[2], ".values"]);
    let expected = "the value is a mapping or list; its parts are set at
  .values.tag
      global/chart.yaml:13  (chart)
  .values.image.api
      global/versions.yaml:11  (versions)
";
    assert!(ran.stdout.contains(expected), "{}", ran.stdout);
}

#[test]
fn near_misses_are_named() {
    let sandbox = repository();
    let help = |arguments: [&str; 4]| {
        let ran = sandbox.run(&[&["explain-value"], &arguments[..]].concat());
        assert_eq!((ran.code, &*ran.stdout), (2, ""), "{ran:?}");
        ran.stderr
    };
    for (arguments, near) in [
        (["lba", TAG[1], TAG[2], TAG[3]], "lab"),
        (["lab", "example/Ayn/v1", TAG[2], TAG[3]], "example/Any/v1"),
        (["lab", TAG[1], "chrat", TAG[3]], "chart"),
        (
            ["lab", TAG[1], TAG[2], ".values.imgae.api"],
            ".values.image.api",
        ),
        (
            ["lab", TAG[1], TAG[2], "/values/imgae/api"],
            ".values.image.api",
        ),
    ] {
        let printed = help(arguments);
        assert!(
            printed.contains(&format!("did you mean `{near}`?")),
            "{arguments:?}: {printed}"
        );
    }
    assert!(help(["nowhere", TAG[1], TAG[2], TAG[3]]).contains("the sites are: lab, own, prod"));
    assert!(help(["lab", TAG[1], TAG[2], ".values["]).contains("is not a valid path"));
}

#[test]
fn site_argument_excludes_all_sites() {
    let sandbox = repository();
    let both = sandbox.run(&[TAG[0], "--all-sites", "lab", TAG[1], TAG[2], TAG[3]]);
    assert!(
        both.code == 2 && both.stderr.contains("`lab` is a site"),
        "{both:?}"
    );
    let neither = sandbox.run(&TAG);
    assert!(
        neither.code == 2 && neither.stderr.contains("pass a site name"),
        "{neither:?}"
    );
}

#[test]
fn revision_and_set_are_explained() {
    let sandbox = repository();
    sandbox.commit();
    sandbox.write("global/versions.yaml", document("versions", "global", "{}"));
    let mut at_head = tag_of("lab");
    at_head.extend(["--rev", "HEAD"]);
    assert!(sandbox.run(&at_head).stdout.starts_with("one\n"));
    let set = sandbox.run(&[TAG[0], "-", TAG[1], "chart", ".values.tag", "--set"]);
    assert!(
        set.stdout
            .starts_with("none\nset at global/chart.yaml:13\n"),
        "{set:?}"
    );
    assert!(set.stdout.contains("to change it here"), "{set:?}");
}

#[test]
fn provenance_is_available_as_json() {
    let mut arguments = tag_of("own");
    arguments.extend(["--format", "json"]);
    let json = repository().run(&arguments).json();
    assert_eq!(json["version"], 1);
    let way = &json["sites"][0]["way"];
    assert_eq!(way["value"], "two");
    assert_eq!(way["set_at"]["file"], "site/own/versions.yaml");
    assert_eq!(way["set_at"]["line"], 13);
    let steps: Vec<&str> = way["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["standing"].as_str().unwrap_or("-"))
        .collect();
    assert_eq!(steps, ["lost", "wins", "-"]);
    assert_eq!(way["changes"][0]["reach"]["outputs"], 2);
}

#[test]
fn impact_lists_reached_outputs_and_shields() {
    let ran = repository().run(&["impact", "global/versions.yaml:11"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        ran.stdout,
        "global/versions.yaml:11
  .image.api of example/Any/v1 versions (global)

reaches 4 outputs in lab, prod
  example/Any/v1 chart
      .values.image.api
    substituted into chart (global)
    in prod
  example/Any/v1 versions
      .image.api
    in lab, prod
  example/Any/v1 chart
      .values.image.api
    substituted into chart (global), replaced by chart (type)
    in lab

shielded
  set again in versions (site)
    site/own/versions.yaml:13
    in own
"
    );
}

/// A document between the source text and the substitution can set the value too.
#[test]
fn documents_in_the_chain_of_a_source_can_set_the_value() {
    let sandbox = repository();
    let own = std::fs::read_to_string(sandbox.path("site/own/versions.yaml")).unwrap();
    sandbox.write(
        "site/lab/versions.yaml",
        own.replace("{image: {api: two}}", "{}"),
    );
    sandbox.write(
        "type/large/versions.yaml",
        own.replace("layer: site", "layer: type")
            .replace("{image: {api: two}}", "{}"),
    );
    std::fs::remove_file(sandbox.path("site/own/versions.yaml")).unwrap();
    let changes = |site: &str| -> Vec<String> {
        let ran = sandbox.run(&tag_of(site));
        assert_eq!(ran.code, 0, "{ran:?}");
        let lines = ran
            .stdout
            .lines()
            .filter_map(|line| line.strip_prefix("to change it "));
        lines
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect()
    };
    assert_eq!(
        changes("lab"),
        [
            "for lab only set it in #4",
            "for lab only set it in #2",
            "everywhere set it in #1 (reaches 6 outputs in 3 sites)",
        ]
    );
    assert_eq!(
        changes("prod"),
        [
            "for type large set it in #2 (own, prod)",
            "everywhere set it in #1 (reaches 6 outputs in 3 sites)",
        ]
    );
    // Setting it in each of them has an effect.
    for (file, value) in [
        ("type/small/chart.yaml", "{values: {image: {api: new}}}"),
        ("site/lab/versions.yaml", "{image: {api: new}}"),
    ] {
        let before = std::fs::read_to_string(sandbox.path(file)).unwrap();
        sandbox.write(file, before.replace("data: {}", &format!("data: {value}")));
        assert!(
            sandbox.run(&tag_of("lab")).stdout.starts_with("new\n"),
            "{file}"
        );
        assert!(
            sandbox.run(&tag_of("prod")).stdout.starts_with("one\n"),
            "{file}"
        );
        sandbox.write(file, before);
    }
}

#[test]
fn missing_arguments_are_named() {
    let sandbox = repository();
    for (arguments, missing) in [
        (&[][..], "arguments SITE, NAME, PATH"),
        (&["lab"], "arguments NAME, PATH"),
        (&["lab", TAG[1]], "arguments NAME, PATH"),
        (&["lab", "chart"], "argument PATH"),
        (&["lab", TAG[1], "chart"], "argument PATH"),
        (&["lab", ".values"], "argument NAME"),
        (&["lab", TAG[1], ".values"], "argument NAME"),
        (&[TAG[1], "chart", ".values"], "argument SITE"),
        (&[TAG[1], ".values"], "arguments SITE, NAME"),
        (&["/values"], "arguments SITE, NAME"),
        (&["--all-sites"], "arguments NAME, PATH"),
        (&["--all-sites", "chart"], "argument PATH"),
        (&["--all-sites", TAG[1], ".values"], "argument NAME"),
    ] {
        let ran = sandbox.run(&[&["explain-value"], arguments].concat());
        assert_eq!((ran.code, &*ran.stdout), (2, ""), "{arguments:?}: {ran:?}");
        let error = format!("error: missing {missing}\n");
        assert!(ran.stderr.starts_with(&error), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn schema_may_be_omitted_if_the_name_is_unique() {
    let sandbox = repository();
    let short = |arguments: &[&str]| sandbox.run(&[&["explain-value"], arguments].concat());
    assert_eq!(
        short(&["lab", "chart", TAG[3]]),
        sandbox.run(&tag_of("lab"))
    );
    let all = sandbox.run(&[TAG[0], "--all-sites", TAG[1], TAG[2], TAG[3]]);
    assert_eq!(short(&["--all-sites", "chart", TAG[3]]), all);
    let with = |mut arguments: Vec<&'static str>| {
        arguments.extend(["--why-not", "global/versions.yaml:11"]);
        sandbox.run(&arguments)
    };
    assert_eq!(
        with(vec![TAG[0], "own", "chart", TAG[3]]),
        with(tag_of("own"))
    );
    let unknown = short(&["lab", "chrat", TAG[3]]);
    assert!(
        unknown.stderr.contains("has no document named `chrat`"),
        "{unknown:?}"
    );
    assert!(
        unknown.stderr.contains("did you mean `chart`?"),
        "{unknown:?}"
    );

    let other =
        |data: &str| document("chart", "site", data).replace("example/Any/v1", "example/Other/v1");
    sandbox.write("site/lab/other.yaml", other("{}"));
    assert_eq!(
        short(&["lab", "chart", TAG[3]]).code,
        0,
        "only one has the value"
    );
    sandbox.write("site/lab/other.yaml", other("{values: {image: {api: x}}}"));
    let several = short(&["lab", "chart", TAG[3]]);
    assert_eq!(
        (several.code, &*several.stderr),
        (
            2,
            "error: missing argument SCHEMA: 2 documents are named `chart`\n  \
             help: their schemas are `example/Any/v1`, `example/Other/v1`\n"
        )
    );
    assert_eq!(short(&["prod", "chart", TAG[3]]).code, 0);
}

/// Other verbs print only the first lines of documents; `lint` prints any line.
#[test]
fn every_line_of_a_document_has_an_impact() {
    let sandbox = repository();
    let text = document(
        "noted",
        "site",
        "\n  # a note\n\n  a: |\n    # text\n  b: [1]\n",
    );
    sandbox.write(
        "site/lab/noted.yaml",
        format!(
            "# first\n{text}# last\n...\n{}",
            document("second", "site", "{}")
        ),
    );
    for file in [
        "global/policy.yaml",
        "global/versions.yaml",
        "global/chart.yaml",
        "type/small/chart.yaml",
        "site/lab/site-definition.yaml",
        "site/lab/noted.yaml",
    ] {
        let text = std::fs::read_to_string(sandbox.path(file)).unwrap();
        for line in 1..=text.lines().count() {
            let ran = sandbox.run(&["impact", &format!("{file}:{line}")]);
            assert_eq!((ran.code, &*ran.stderr), (0, ""), "{file}:{line}: {ran:?}");
        }
    }
    let impact = |line: usize| {
        sandbox
            .run(&["impact", &format!("site/lab/noted.yaml:{line}")])
            .stdout
    };
    for (line, what, reached) in [
        (1, "a comment of", 0),
        (2, "the whole document of", 1),
        (3, "its schema of", 1),
        (4, "the whole document of", 1),
        (5, "its metadata of", 1),
        (9, "its data of", 1),
        (10, "a comment of", 0),
        (11, "an empty line of", 0),
        (13, ".a of", 1),
        (15, "an empty line of", 0),
        (16, "a comment of", 0),
        (17, "a mark between documents of", 0),
    ] {
        let output = if reached == 1 { "output" } else { "outputs" };
        let printed = impact(line);
        let expected = format!(
            "reaches {reached} {output}{}\n",
            if reached == 1 { " in lab" } else { "" }
        );
        assert!(
            printed.contains(what) && printed.contains(&expected),
            "{line}: {printed}"
        );
    }
}

/// A comparison after the edit finds everything that `impact` predicted, except where a reader
/// takes a value that stays the same.
#[test]
fn changed_labels_and_parents_reach_documents_that_are_no_longer_replaced() {
    let sandbox = repository();
    sandbox.commit();
    for (file, line, before, after, foretold, found) in [
        ("global/chart.yaml", 6, "is: chart", "is: another", 4, 4),
        (
            "global/versions.yaml",
            6,
            "is: versions",
            "is: another",
            5,
            4,
        ),
        (
            "type/small/chart.yaml",
            11,
            "is: chart",
            "is: another",
            2,
            2,
        ),
        (
            "type/small/chart.yaml",
            6,
            "replacement: true",
            "replacement: false",
            2,
            2,
        ),
    ] {
        let json = sandbox
            .run(&["impact", &format!("{file}:{line}"), "-o", "json"])
            .json();
        assert_eq!(json["outputs_reached"], foretold, "{file}:{line}: {json}");
        let text = std::fs::read_to_string(sandbox.path(file)).unwrap();
        sandbox.write(file, text.replacen(before, after, 1));
        let ran = sandbox.run(&["lint", "--since", "HEAD"]);
        let expected = format!("  reaches {found} outputs in ");
        assert!(
            ran.stdout.contains(&expected),
            "{file}:{line}: {expected}: {}",
            ran.stdout
        );
        sandbox.git(&["checkout", "--quiet", "."]);
    }
    let printed = sandbox.run(&["impact", "global/chart.yaml:6"]).stdout;
    let returning = "  example/Any/v1 chart\n    no longer replaced by chart (type)\n    in lab\n";
    assert!(printed.contains(returning), "{printed}");
}

#[test]
fn lines_of_actions_and_substitutions_name_the_paths_that_they_write() {
    let sandbox = repository();
    let impact = |place: &str| sandbox.run(&["impact", place]).stdout;
    let substitution = impact("global/chart.yaml:10");
    let head = "  a substitution of example/Any/v1 chart (global), writes .values.image\n";
    assert!(substitution.contains(head), "{substitution}");
    assert!(
        substitution.contains("  example/Any/v1 chart\n      .values.image.api\n"),
        "{substitution}"
    );
    assert!(
        substitution.contains("reaches 3 outputs in all 3 sites"),
        "{substitution}"
    );
    let action = impact("type/small/chart.yaml:12");
    assert!(
        action.contains("  an action of example/Any/v1 chart (type), writes .\n"),
        "{action}"
    );
    let json = sandbox
        .run(&["impact", "global/chart.yaml:10", "-o", "json"])
        .json();
    assert_eq!(
        json["texts"][0]["writes"],
        serde_json::json!([".values.image"])
    );
}

#[test]
fn impact_names_a_line_that_steers() {
    let sandbox = repository();
    let steered = |place: &str| sandbox.run(&["impact", place]).stdout;
    for (place, what) in [
        ("type/small/chart.yaml:6", "its replacement of"),
        ("type/small/chart.yaml:11", "its parentSelector of"),
        ("type/small/chart.yaml:12", "an action of"),
        ("global/chart.yaml:10", "a substitution of"),
        ("global/chart.yaml:6", "a label of"),
        ("global/chart.yaml:5", "its name of"),
    ] {
        let printed = steered(place);
        assert!(
            printed.contains(what) && printed.contains("this line controls rendering"),
            "{place}: {printed}"
        );
    }
    let whole = steered("global/versions.yaml");
    assert!(
        whole.contains("the whole document of") && whole.contains("reaches 6 outputs"),
        "{whole}"
    );
}

#[test]
fn impact_of_a_place_without_text_is_refused() {
    let sandbox = repository();
    sandbox.write("README.md", "# nothing\n");
    for (place, words) in [
        ("global/versions.yaml:0", "invalid line in"),
        ("global/versions.yaml:99", "no document at"),
        ("README.md", "no site reads"),
        ("gone.yaml:1", "`gone.yaml` not found"),
    ] {
        let ran = sandbox.run(&["impact", place]);
        assert!(
            ran.code == 2 && ran.stderr.contains(words),
            "{place}: {ran:?}"
        );
    }
}

#[test]
fn graph_is_printed_as_a_tree() {
    let ran = repository().run(&["graph", "--site", "lab"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let tree = "lab
  deckhand/LayeringPolicy/v1
    layering-policy
        global/policy.yaml:1
  example/Any/v1
    chart (global, no output)
        global/chart.yaml:1
      ← example/Any/v1 versions  :10
      chart (type, replaces)
          type/small/chart.yaml:1, :11
    versions (global)
        global/versions.yaml:1
";
    assert_eq!(ran.stdout.split("  pegleg/").next().unwrap(), tree);
}

/// Documents of a file, with their sources and dependents.
#[test]
fn graph_of_a_file_shows_its_sources_and_dependents() {
    let sandbox = repository();
    sandbox.write("site/lab/beside.yaml", document("beside", "site", "{}"));
    let names = |file: &str| -> Vec<String> {
        let ran = sandbox.run(&["graph", "--site", "lab", "--format", "json", file]);
        let report = ran.json();
        let site = report["sites"][0]["documents"].as_array().unwrap();
        site.iter()
            .map(|it| it["document"]["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        names("type/small/chart.yaml"),
        ["chart", "versions", "chart"]
    );
    assert_eq!(
        names("global/versions.yaml"),
        ["chart", "versions", "chart"]
    );
    assert_eq!(names("site/lab/beside.yaml"), ["beside"]);
}

#[test]
fn untrusted_names_are_quoted_in_graphs() {
    let sandbox = Sandbox::outside_git();
    let name = r#"'a"]; end\n<b>"#;
    sandbox.write(
        "a.yaml",
        document(&format!("{name}\u{202e}'"), "site", "{}"),
    );
    let dot = sandbox.run(&["graph", "--set", "--format", "dot"]).stdout;
    let label =
        r#"[label="example/Any/v1\na\"]; end\\n<b>\\u{202e} (site)\na.yaml:1", style=solid];"#;
    assert!(dot.contains(label), "{dot}");
    let mermaid = sandbox
        .run(&["graph", "--set", "--format", "mermaid"])
        .stdout;
    let label = r#"["example/Any/v1<br/>a#34;#93;#59; end#92;n#60;b#62;? (site)<br/>a.yaml:1"]"#;
    assert!(mermaid.contains(label), "{mermaid}");
    let json = sandbox.run(&["graph", "--set", "--format", "json"]).json();
    assert_eq!(json["version"], 1);
    let found = json["sites"][0]["documents"][0]["document"]["name"]
        .as_str()
        .unwrap();
    assert!(found.starts_with("a\"]; end"), "{found}");
}

#[test]
fn graph_edges_name_their_lines() {
    let json = repository()
        .run(&["graph", "--site", "lab", "--format", "json"])
        .json();
    let site = &json["sites"][0];
    let edges: Vec<(String, String, String, i64)> = site["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| {
            let layer = |end: &str| {
                let document = &site["documents"][edge[end].as_u64().unwrap() as usize]["document"];
                let (layer, name) = (&document["layer"], &document["name"]);
                format!("{} {}", layer.as_str().unwrap(), name.as_str().unwrap())
            };
            let kind = edge["kind"].as_str().unwrap().to_owned();
            (
                layer("from"),
                layer("to"),
                kind,
                edge["at"]["line"].as_i64().unwrap(),
            )
        })
        .collect();
    let edge = |from: &str, to: &str, kind: &str, line| (from.into(), to.into(), kind.into(), line);
    assert_eq!(
        edges,
        [
            edge("global versions", "global chart", "substituted", 10),
            edge("global chart", "type chart", "replaced", 11),
        ]
    );
}
