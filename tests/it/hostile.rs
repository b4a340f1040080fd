//! Repositories made to break the engine: each run ends soon, without a panic, and reports
//! exceeded limits as findings.
//!
//! Texts that break only the reader are in `yaml/hostile.rs`.

mod cloud_init;
#[cfg(target_os = "linux")]
mod cost;
mod many;
mod mutated;
mod user_data;
mod verbs;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use layercake::check::Checked;
use layercake::merge::deckhand::Semantics;
use layercake::render::replay::{Replay, Via};
use layercake::report::canonical;
use layercake::source::{MemoryTree, Source};
use layercake::yaml::emit;

use crate::git::{self, Site};
use crate::support::{check_files, finding_text, options};

/// Far longer than any of these tests takes in a debug build on a busy machine.
const MAX_DURATION: Duration = Duration::from_secs(30);

/// Maximum length of the text of a finding: one that lists everything is useless.
const MAX_FINDING_BYTES: usize = 20_000;

/// Renders documents with both semantics, in bounded time; returns the findings with the
/// documented ones.
fn timed(text: &str) -> Checked<()> {
    let tree = MemoryTree::new().with("documents.yaml", text);
    run(&tree, Semantics::Deckhand);
    run(&tree, Semantics::Documented)
}

fn run(tree: &MemoryTree, semantics: Semantics) -> Checked<()> {
    let start = Instant::now();
    let checked = check_files(tree, options(semantics), |_| ());
    let elapsed = start.elapsed();
    assert!(elapsed < MAX_DURATION, "{elapsed:?}");
    assert!(!checked.internal_error);
    for finding in checked.findings.diagnostics.iter().take(100) {
        let text = finding_text(finding, &checked.sources);
        assert!(
            text.len() < MAX_FINDING_BYTES,
            "{} bytes: {}",
            text.len(),
            finding.message
        );
    }
    checked
}

/// Number of findings of a rule.
fn count(checked: &Checked<()>, rule: &str) -> usize {
    checked
        .findings
        .diagnostics
        .iter()
        .filter(|finding| finding.rule.name == rule)
        .count()
}

fn assert_only(checked: &Checked<()>, expected: &[(&str, usize)]) {
    let rules = expected.iter().map(|(rule, _)| *rule);
    let found: Vec<(&str, usize)> = rules.map(|rule| (rule, count(checked, rule))).collect();
    assert_eq!(found, expected);
    let others = checked.findings.diagnostics.iter();
    let mut others = others.filter(|it| expected.iter().all(|(rule, _)| it.rule.name != *rule));
    let other = others
        .next()
        .map(|other| finding_text(other, &checked.sources));
    assert_eq!(other, None);
}

fn policy(layers: &[String]) -> String {
    format!(
        "---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {{schema: metadata/Control/v1, name: \
         layering-policy}}\ndata: {{layerOrder: [{}]}}\n",
        layers.join(", ")
    )
}

fn three_layers() -> String {
    policy(&["global".into(), "type".into(), "site".into()])
}

fn document(name: &str, layering: &str, more: &str, data: &str) -> String {
    format!(
        "---\nschema: example/Kind/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: {name}\n  \
         storagePolicy: cleartext\n  layeringDefinition: {{{layering}}}\n{more}data: {data}\n"
    )
}

/// Definition that makes a folder below `site/` a site.
fn definition(name: &str) -> String {
    let definition = document(name, "abstract: false, layer: site", "", "{site_type: lab}");
    definition.replace("example/Kind/v1", "pegleg/SiteDefinition/v1")
}

/// A document of the site with substitutions: source, path there, destination.
fn substituting(name: &str, substitutions: &[(&str, &str, &str)], data: &str) -> String {
    let mut more = String::from("  substitutions:\n");
    for (source, from, dest) in substitutions {
        writeln!(
            more,
            "    - {{src: {{schema: example/Kind/v1, name: {source}, path: {from}}}, dest: {dest}}}"
        )
        .expect("text can grow");
    }
    document(name, "layer: site", &more, data)
}

/// A chain of documents, each made by `link` from its name and the previous name.
fn chain(first: &str, length: usize, link: impl Fn(&str, &str) -> String) -> String {
    let mut text = three_layers() + &document("d0", "layer: site", "", first);
    for at in 1..=length {
        text += &link(&format!("d{at}"), &format!("d{}", at - 1));
    }
    text
}

#[test]
fn doubling_substitutions_are_bounded() {
    let text = chain("{a: {x: 1}, b: {y: 2}}", 60, |name, before| {
        substituting(name, &[(before, ".", "[{path: .a}, {path: .b}]")], "{}")
    });
    let checked = timed(&text);
    assert!(count(&checked, "over-limit") >= 1);
}

#[test]
fn nesting_substitutions_are_bounded() {
    let path = vec!["a"; 200].join(".");
    for (length, path) in [(2000, "a".to_owned()), (40, path)] {
        let text = chain("{x: 1}", length, |name, before| {
            substituting(name, &[(before, ".", &format!("{{path: .{path}}}"))], "{}")
        });
        assert!(count(&timed(&text), "over-limit") >= 1);
    }
}

/// The deepest allowed nesting is walked by every step and rule.
#[test]
fn deepest_allowed_nesting_is_rendered() {
    let link = |name: &str, before: &str| {
        substituting(
            name,
            &[(before, ".", "{path: .a}"), ("d0", ".", "{path: .b}")],
            "{c: c, a: {}}",
        )
    };
    let text = chain("{x: x}", 1010, link)
        + &document("text", "layer: site", "", "x")
        + &substituting(
            "last",
            &[
                ("d1000", ".", "{path: .a}"),
                ("text", ".", "{path: ., pattern: x, recurse: {depth: -1}}"),
                ("d1000", ".", "{path: .c, pattern: c}"),
                ("text", ".", "{path: '$..x'}"),
            ],
            "{c: c}",
        );
    timed(&text);
    // Writing runs on the worker thread that rendered the site.
    let tree = MemoryTree::new().with("documents.yaml", &*text);
    let written = check_files(&tree, options(Semantics::Documented), |site| {
        let last = site
            .graph
            .iter()
            .filter(|(_, recipe)| recipe.key.name.starts_with("d10"));
        let data = last.filter_map(|(doc, _)| site.rendered.data(doc));
        let options = emit::EmitOptions {
            show_secrets: true,
            origin: None,
        };
        data.map(|data| {
            canonical(data)
                .len()
                .min(emit::to_yaml(data, &options).len())
        })
        .max()
    });
    assert!(written.sites[0].taken.flatten() > Some(1000));
    let secret = "  storagePolicy: encrypted\n";
    timed(&text.replace("  storagePolicy: cleartext\n", secret));
    let layered = (1..=300).map(|at| {
        let path = vec!["a"; at].join(".");
        format!("{{method: merge, path: .{path}}}")
    });
    let layered: Vec<String> = layered.collect();
    let deep = format!("{}1{}", "{a: ".repeat(240), "}".repeat(240));
    let text = three_layers()
        + &document("parent", "layer: global", "  labels: {a: b}\n", &deep)
        + &document(
            "child",
            &format!(
                "layer: site, parentSelector: {{a: b}}, actions: [{}]",
                layered.join(", ")
            ),
            "",
            &deep,
        );
    timed(&text);
}

#[test]
fn growth_of_one_document_is_bounded() {
    let big = format!("[{}]", vec!["x"; 50_000].join(", "));
    let names: Vec<String> = (0..1000).map(|at| format!("{{path: .k{at}}}")).collect();
    let text = three_layers()
        + &document("d0", "layer: site", "", &big)
        + &substituting(
            "d1",
            &[("d0", ".", &format!("[{}]", names.join(", ")))],
            "{}",
        );
    assert_eq!(count(&timed(&text), "over-limit"), 1);
}

/// Texts below a value with shared parts count as if the parts were written out.
#[test]
fn recursion_into_grown_values_is_bounded() {
    let text = chain("{a: {x: t}, b: {y: t}}", 18, |name, before| {
        substituting(name, &[(before, ".", "[{path: .a}, {path: .b}]")], "{}")
    });
    let recursions: Vec<(&str, &str, &str)> =
        vec![("d0", ".a.x", "{path: .a, pattern: z, recurse: {depth: -1}}"); 300];
    let mut all = vec![(
        "d18",
        ".",
        "[{path: .a}, {path: .b}, {path: .c}, {path: .d}]",
    )];
    all.extend(recursions);
    timed(&(text + &substituting("last", &all, "{}")));
}

#[test]
fn growth_by_patterns_is_bounded() {
    // Every `a` becomes the whole previous text.
    let text = chain("{v: aaaaaaaaaa}", 12, |name, before| {
        substituting(
            name,
            &[(before, ".v", "{path: .v, pattern: a}")],
            "{v: aaaaaaaaaa}",
        )
    });
    assert!(count(&timed(&text), "over-limit") >= 1);
    // Every document doubles the previous text.
    let text = chain("{v: a}", 60, |name, before| {
        let half = "{path: .v, pattern: ";
        substituting(
            name,
            &[
                (before, ".v", &format!("{half}x}}")),
                (before, ".v", &format!("{half}y}}")),
            ],
            "{v: x_y}",
        )
    });
    assert!(count(&timed(&text), "over-limit") >= 1);
    // Empty matches.
    let text = chain("{v: aaaaaaaaaa}", 12, |name, before| {
        substituting(
            name,
            &[(before, ".v", "{path: .v, pattern: 'b*'}")],
            "{v: aaaaaaaaaa}",
        )
    });
    assert!(count(&timed(&text), "over-limit") >= 1);
}

/// Each of many documents may make a large text, but not all of them together.
#[test]
fn growth_of_many_documents_is_bounded() {
    let long = "a".repeat(4000);
    let text = three_layers() + &document("d0", "layer: site", "", &format!("{{v: {long}}}"));
    let many = (0..400).map(|at| {
        substituting(
            &format!("e{at}"),
            &[("d0", ".v", "{path: .v, pattern: a}")],
            &format!("{{v: {long}}}"),
        )
    });
    timed(&(text + &many.collect::<String>()));
}

/// A value with shared parts is not written out to be substituted into a text.
#[test]
fn substitution_of_large_values_into_texts_is_bounded() {
    let text = chain("{a: {x: t}, b: {y: t}}", 19, |name, before| {
        substituting(name, &[(before, ".", "[{path: .a}, {path: .b}]")], "{}")
    });
    let into: Vec<(&str, &str, &str)> = vec![("d19", ".", "{path: .v, pattern: x}"); 200];
    let checked = timed(&(text + &substituting("last", &into, "{v: x}")));
    assert!(count(&checked, "over-limit") >= 1);
}

#[test]
fn endless_regular_expressions_are_stopped() {
    let subject = "a".repeat(60);
    for pattern in [
        r"(a+)+\b$c",
        r"(?:(a+)\1?)+c",
        r"(a|a?)+(?=b)c\1",
        r"(?:a*)*(?<=b)",
        r"(x+x+)+y",
        r"(?!b)(.*)*\1z",
    ] {
        let text = three_layers()
            + &document("d0", "layer: site", "", &format!("{{v: {subject}}}"))
            + &substituting(
                "d1",
                &[
                    ("d0", &format!(".v, pattern: '{pattern}'"), "{path: .w}"),
                    ("d0", ".v", &format!("{{path: .v, pattern: '{pattern}'}}")),
                    (
                        "d0",
                        ".v",
                        &format!("{{path: ., pattern: '{pattern}', recurse: {{depth: -1}}}}"),
                    ),
                ],
                &format!("{{v: {subject}}}"),
            );
        timed(&text);
    }
    let long = "((((a{1,50}){1,50}){1,50}){1,50}){1,50}";
    timed(
        &(three_layers()
            + &substituting(
                "d1",
                &[("d1", ".", &format!("{{path: ., pattern: '{long}'}}"))],
                "a",
            )),
    );
}

#[test]
fn huge_indexes_are_refused() {
    for index in [
        "100001",
        "4294967296",
        "9223372036854775807",
        "99999999999999999999999",
        "-9223372036854775808",
        "-1",
    ] {
        let text = three_layers()
            + &document("parent", "layer: global", "  labels: {a: b}\n", "{a: [1]}")
            + &document(
                "child",
                &format!(
                    "layer: site, parentSelector: {{a: b}}, actions: [{{method: merge, path: '.a[{index}]'}}, \
                          {{method: replace, path: '.a[{index}]'}}, {{method: delete, path: '.a[{index}]'}}]"
                ),
                "",
                "{a: [1]}",
            )
            + &document("d0", "layer: site", "", "{v: [1]}")
            + &substituting(
                "d1",
                &[
                    ("d0", &format!("'.v[{index}]'"), "{path: .x}"),
                    ("d0", ".v", &format!("{{path: '.x[{index}].y[{index}]'}}")),
                ],
                "{x: 1}",
            )
            + &substituting(
                "d2",
                &[("d0", ".v", &format!("{{path: '.x[{index}]'}}"))],
                "{}",
            );
        assert!(
            count(&timed(&text), "invalid-substitution") + count(&timed(&text), "invalid-path")
                >= 1,
            "{index}"
        );
    }
    // Each fills a list of its own.
    let destinations: Vec<String> = (0..200)
        .map(|at| format!("{{path: '.k{at}[99999]'}}"))
        .collect();
    let text = three_layers()
        + &document("d0", "layer: site", "", "1")
        + &substituting(
            "d1",
            &[("d0", ".", &format!("[{}]", destinations.join(", ")))],
            "{}",
        );
    timed(&text);
}

#[test]
fn one_parent_may_have_many_children() {
    let mut text =
        three_layers() + &document("parent", "layer: global", "  labels: {a: b}\n", "{x: 1}");
    for at in 0..10_000 {
        text += &document(
            &format!("c{at}"),
            "layer: site, parentSelector: {a: b}, actions: [{method: merge, path: .}]",
            "",
            "{y: 1}",
        );
    }
    assert_only(&timed(&text), &[]);
}

#[test]
fn many_ambiguous_parents_are_reported() {
    let mut text = three_layers();
    for at in 0..3000 {
        text += &document(
            &format!("p{at}"),
            "layer: global",
            "  labels: {a: b}\n",
            "{x: 1}",
        );
        text += &document(
            &format!("c{at}"),
            "layer: site, parentSelector: {a: b}, actions: [{method: merge, path: .}]",
            "",
            "{y: 1}",
        );
    }
    assert_only(&timed(&text), &[("ambiguous-parent", 3000)]);
}

#[test]
fn label_that_all_documents_select_is_refused() {
    let mut text =
        three_layers() + &document("parent", "layer: global", "  labels: {a: b}\n", "{x: 1}");
    for at in 0..5000 {
        text += &document(
            &format!("c{at}"),
            "layer: site, parentSelector: {a: b}, actions: [{method: merge, path: .}]",
            "  labels: {a: b}\n",
            "{y: 1}",
        );
    }
    let checked = timed(&text);
    assert_only(&checked, &[("refused-parent-match", 5000)]);
    let finding = &checked.findings.diagnostics[0];
    assert_eq!(
        finding.message,
        "the parentSelector of `c0` matches 4999 documents, which are not above it"
    );
    assert!(finding.related.len() < 10);
}

#[test]
fn many_control_parents_are_bounded() {
    let mut text = three_layers();
    for at in 0..2000 {
        let control = document(
            &format!("p{at}"),
            "layer: global",
            "  labels: {a: b}\n",
            "{x: 1}",
        );
        text += &control.replace("metadata/Document", "metadata/Control");
        text += &document(
            &format!("c{at}"),
            "layer: site, parentSelector: {a: b}, actions: [{method: merge, path: .}]",
            "",
            "{y: 1}",
        );
    }
    timed(&text);
}

#[test]
fn two_thousand_layers_are_bounded() {
    let layers: Vec<String> = (0..2000).map(|at| format!("l{at}")).collect();
    let mut text = policy(&layers) + &document("d0", "layer: l0", "  labels: {n: n0}\n", "{k: 0}");
    for at in 1..2000 {
        text += &document(
            &format!("d{at}"),
            &format!(
                "layer: l{at}, parentSelector: {{n: n{}}}, actions: [{{method: merge, path: .}}]",
                at - 1
            ),
            &format!("  labels: {{n: n{at}}}\n"),
            &format!("{{k{at}: 1}}"),
        );
    }
    // Each copies everything that the previous ones have, up to the limit.
    assert_only(&timed(&text), &[("over-limit", 2)]);
    // All have one name: each replaces the one above it.
    let mut text = policy(&layers) + &document("d", "layer: l0", "  labels: {n: n0}\n", "{k: 0}");
    for at in 1..2000 {
        text += &document(
            "d",
            &format!(
                "layer: l{at}, parentSelector: {{n: n{}}}, actions: [{{method: merge, path: .}}]",
                at - 1
            ),
            &format!("  labels: {{n: n{at}}}\n  replacement: true\n"),
            "{k: 1}",
        );
    }
    timed(&text);
    // No layer is known, and all documents are equal.
    let text: String = (0..2000)
        .map(|at| document(&format!("d{at}"), &format!("layer: m{at}"), "", "1"))
        .collect();
    assert_eq!(
        count(&timed(&(policy(&layers) + &text)), "unknown-layer"),
        2000
    );
    timed(&policy(&vec!["same".into(); 50_000]));
}

#[test]
fn cycle_of_ten_thousand_documents_is_found() {
    let mut text = three_layers();
    for at in 0..10_000 {
        let next = format!("d{}", (at + 1) % 10_000);
        text += &substituting(&format!("d{at}"), &[(&next, ".", "{path: .a}")], "{}");
    }
    assert_only(&timed(&text), &[("dependency-cycle", 1)]);
    // A long path into a small cycle.
    let mut text = three_layers();
    for at in 0..10_000 {
        let next = format!("d{}", if at == 9999 { 9998 } else { at + 1 });
        text += &substituting(&format!("d{at}"), &[(&next, ".", "{path: .a}")], "{}");
    }
    assert_only(&timed(&text), &[("dependency-cycle", 1)]);
}

#[test]
fn ten_thousand_substitutions_of_one_document_are_bounded() {
    let source = three_layers() + &document("d0", "layer: site", "", "{v: {w: 1}}");
    let destinations: Vec<String> = (0..10_000)
        .map(|at| format!("{{path: .a.k{at}}}"))
        .collect();
    let substitutions: Vec<(&str, &str, &str)> = destinations
        .iter()
        .map(|dest| ("d0", ".v", &**dest))
        .collect();
    assert_only(
        &timed(&(source.clone() + &substituting("d1", &substitutions, "{}"))),
        &[],
    );
    // All with one destination.
    let same: Vec<(&str, &str, &str)> = vec![("d0", ".v", "{path: .a.b.c}"); 10_000];
    let checked = timed(&(source.clone() + &substituting("d1", &same, "{}")));
    assert_eq!(count(&checked, "repeated-substitution"), 9999);
    // All of them invalid.
    let wrong: Vec<(&str, &str, &str)> = vec![("d0", ".u", "{path: .a.b.c, pattern: x}"); 10_000];
    assert_eq!(
        count(
            &timed(&(source + &substituting("d1", &wrong, "{}"))),
            "missing-source"
        ),
        10_000
    );
}

/// Sources `s0`, `s1`, … with a number each; that of `s0` is `first`.
fn numbers(first: usize) -> String {
    let number = |at: usize| format!("{{a: {}}}", if at == 0 { first } else { at });
    (0..1000)
        .map(|at| document(&format!("s{at}"), "layer: global", "", &number(at)))
        .collect()
}

/// A document with mappings of these names, each with a key for every number.
fn collecting(name: &str, mappings: &[&str]) -> String {
    let source = |(mapping, at)| (format!("s{at}"), format!("{{path: .{mapping}.k{at}}}"));
    let all = mappings
        .iter()
        .flat_map(|mapping| (0..1000).map(move |at| (mapping, at)));
    let sources: Vec<(String, String)> = all.map(source).collect();
    let substitutions: Vec<(&str, &str, &str)> = sources
        .iter()
        .map(|(name, dest)| (&**name, ".a", &**dest))
        .collect();
    substituting(name, &substitutions, "{}")
}

#[test]
fn all_of_two_thousand_substitutions_are_followed() {
    let text = three_layers() + &numbers(7) + &collecting("d", &["y", "z"]);
    let tree = MemoryTree::new().with("documents.yaml", text);
    let checked = check_files(&tree, options(Semantics::Documented), |site| {
        let mut outputs = site.graph.outputs();
        let (doc, recipe) = outputs
            .find(|(_, it)| &*it.key.name == "d")
            .expect("it is there");
        let data = site.rendered.data(doc).expect("it is made");
        let (replay, places) = (
            Replay::new(site.graph, site.rendered),
            Replay::leaves(data, 5000),
        );
        let ways = places
            .locations
            .iter()
            .map(|place| replay.trace_with_losers(doc, place));
        let sources = ways.map(|way| {
            assert_eq!(
                (way.via, way.from.len()),
                (Via::Substituted, 1),
                "{}",
                way.location
            );
            assert_eq!(way.from[0].via, Via::Literal, "{}", way.location);
            site.graph.recipe(way.from[0].doc).key.name.to_string()
        });
        (recipe.steps.iter().count(), sources.collect::<Vec<_>>())
    });
    let (_, mut taken) = checked.without_taken();
    let (steps, sources) = taken.pop().expect("there is one set of files");
    let expected = (0..2000).map(|at| format!("s{}", at % 1000));
    assert_eq!((steps, sources), (2000, expected.collect()));
}

/// The steps of each changed document are kept so that its values can be traced.
#[test]
#[cfg(target_os = "linux")]
fn twenty_documents_of_a_thousand_substitutions_fit_into_memory() {
    let site = Site::new(&[]);
    site.write("site/lab/site-definition.yaml", &definition("lab"));
    site.write("global/policy.yaml", &three_layers());
    let collections: String = (0..20)
        .map(|at| collecting(&format!("d{at}"), &["z"]))
        .collect();
    site.write("site/lab/collections.yaml", &collections);
    site.write("global/numbers.yaml", &numbers(1));
    site.commit();
    site.write("global/numbers.yaml", &numbers(2));
    // The allocator reserves a gigabyte of address space.
    let program = env!("CARGO_BIN_EXE_layercake");
    let script = format!("ulimit -v 2000000; exec {program} lint --since HEAD");
    let start = Instant::now();
    let mut command = Command::new("sh");
    git::scrub(&mut command);
    let output = command
        .args(["-c", &script])
        .current_dir(&site.root)
        .output();
    let output = output.expect("there is a shell");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (printed, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(
        printed.contains("21 of 1022 outputs changed"),
        "{printed}{errors}"
    );
    assert!(start.elapsed() < MAX_DURATION, "{:?}", start.elapsed());
}

/// The cause of an edit that is further away than values are traced is found by rendering; its
/// route names the edit and has no hops.
#[test]
fn edit_beyond_the_maximum_trace_length_is_found() {
    const LENGTH: usize = Replay::MAX_LENGTH + 50;
    let site = Site::new(&[]);
    let ends = |first: &str, other: &str| {
        document("d0", "layer: site", "", first) + &document("other", "layer: site", "", other)
    };
    let links = (1..=LENGTH).map(|at| {
        substituting(
            &format!("d{at}"),
            &[(&format!("d{}", at - 1), ".a", "{path: .a}")],
            "{}",
        )
    });
    site.write("site/lab/site-definition.yaml", &definition("lab"));
    site.write(
        "site/lab/links.yaml",
        &(three_layers() + &links.collect::<String>()),
    );
    site.write("site/lab/ends.yaml", &ends("{a: 1}", "{a: 1}"));
    site.commit();
    site.write("site/lab/ends.yaml", &ends("{a: 2}", "{a: 2}"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_layercake"));
    git::scrub(&mut command);
    let arguments = ["lint", "--since", "HEAD", "-o", "json", "--exit-zero"];
    let output = command
        .args(arguments)
        .current_dir(&site.root)
        .output()
        .expect("it runs");
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let causes = report["outputs"]
        .as_array()
        .expect("a list of outputs")
        .iter()
        .map(|output| {
            let causes = output["causes"].as_array().expect("a list of causes");
            let [cause] = &causes[..] else {
                panic!("{output}")
            };
            let [name, edit] =
                [&output["document"]["name"], &cause["edit"]].map(|it| it.as_str().unwrap());
            (
                name.to_owned(),
                (edit.to_owned(), cause["hops"].as_u64().unwrap()),
            )
        });
    let causes: BTreeMap<_, _> = causes.collect();
    assert_eq!(causes.len(), LENGTH + 2);
    for at in 0..=LENGTH {
        let hops = if at < Replay::MAX_LENGTH { at } else { 0 };
        assert_eq!(
            causes[&format!("d{at}")],
            ("e1".to_owned(), hops as u64),
            "{at}"
        );
    }
    assert_eq!(causes["other"], ("e2".to_owned(), 0));
}

/// The budget of a document depends on how many documents of its site have patterns. An error from
/// a site in which the document exceeds it must not be reused in another.
#[test]
fn site_has_the_same_findings_alone_and_beside_others() {
    let site = Site::new(&[]);
    let put = |count: usize| vec![("source", ".", "{path: .m, pattern: PAT}"); count];
    let source = document("source", "layer: global", "", "PAT");
    let long = format!("{{m: PAT{}}}", "x".repeat(1 << 20));
    let dear = substituting("dear", &put(6), &long).replace("layer: site", "layer: global");
    site.write("global/all.yaml", &[three_layers(), source, dear].concat());
    site.write("site/few/site-definition.yaml", &definition("few"));
    site.write("site/many/site-definition.yaml", &definition("many"));
    let others = (0..600).map(|at| substituting(&format!("d{at}"), &put(1), "{m: PAT}"));
    site.write("site/many/others.yaml", &others.collect::<String>());
    let expensive_in = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_layercake"));
        git::scrub(&mut command);
        command
            .args(["lint", "--output", "concise"])
            .args(arguments)
            .current_dir(&site.root);
        let output = command.output().expect("the program runs");
        String::from_utf8_lossy(&output.stdout)
            .matches("error[over-limit]")
            .count()
    };
    assert_eq!(expensive_in(&["--site", "few"]), 0);
    let alone = expensive_in(&["--site", "many"]);
    assert!(alone > 0);
    assert_eq!(expensive_in(&[]), alone);
}

/// Places below a key that is not a number are found again.
#[test]
fn text_below_a_key_that_is_not_a_number_is_replaced() {
    let text = three_layers()
        + &document("source", "layer: site", "", "put in")
        + &substituting(
            "d",
            &[(
                "source",
                ".",
                "{path: ., pattern: PAT, recurse: {depth: -1}}",
            )],
            "{.nan: PAT, .inf: PAT}",
        );
    let tree = MemoryTree::new().with("documents.yaml", text);
    let checked = check_files(&tree, options(Semantics::Documented), |site| {
        let data = site
            .graph
            .outputs()
            .filter_map(|(doc, _)| site.rendered.data(doc));
        data.map(canonical).collect::<String>()
    });
    assert!(!checked.internal_error);
    let all: String = checked
        .sites
        .into_iter()
        .filter_map(|site| site.taken)
        .collect();
    assert_eq!(all.matches("put in").count(), 3, "{all}");
}

#[test]
fn missing_sources_with_similar_names_are_reported() {
    let mut text = three_layers();
    for at in 0..3000 {
        let missing = format!("source-number-{at}-missing");
        text += &document(&format!("source-number-{at}"), "layer: site", "", "1");
        text += &substituting(&format!("d{at}"), &[(&missing, ".", "{path: .a}")], "{}");
    }
    assert_eq!(count(&timed(&text), "missing-source"), 3000);
}

#[test]
fn oversized_file_is_reported() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = std::fs::File::create(folder.path().join("large.yaml")).expect("a file can be made");
    file.set_len(Source::MAX_BYTES + 1)
        .expect("a file can be long");
    let tree = layercake::source::WorkTree::in_folder(folder.path().to_owned());
    let tree = tree.expect("a folder is a tree");
    let options = layercake::check::Options::of(options(Semantics::Documented));
    let plan = options.plan(std::sync::Arc::new(tree), None, None);
    let checked = layercake::check::check(&plan, |_| ()).expect("a folder can be checked");
    assert_only(&checked, &[("over-limit", 1)]);
    let file = MemoryTree::new().with("large.yaml", vec![b' '; (Source::MAX_BYTES + 1) as usize]);
    assert_only(&run(&file, Semantics::Documented), &[("over-limit", 1)]);
}

/// An internal error, here in a caller's callback for a rendered site, loses only that site and is
/// reported. Its exit code is 2.
#[test]
fn panic_is_reported_and_the_rest_continues() {
    let policy = "---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {schema: metadata/Control/v1, \
                  name: layering-policy}\ndata: {layerOrder: [global, type, site]}\n";
    let definition = |name: &str| {
        format!(
            "---\nschema: pegleg/SiteDefinition/v1\nmetadata: {{schema: metadata/Document/v1, \
             name: {name}, storagePolicy: cleartext, layeringDefinition: {{layer: site}}}}\n\
             data: {{site_type: foundry}}\n"
        )
    };
    let tree = MemoryTree::new()
        .with("global/policy.yaml", policy)
        .with("type/foundry/empty.yaml", "")
        .with("site/bad/site-definition.yaml", definition("bad"))
        .with("site/good/site-definition.yaml", definition("good"));
    let checked = check_files(&tree, options(Semantics::Documented), |site| {
        assert_ne!(
            site.site.name.as_deref(),
            Some("bad"),
            "this is the planted fault"
        );
    });
    assert!(checked.internal_error);
    let findings = &checked.findings.diagnostics;
    let found: Vec<_> = findings
        .iter()
        .map(|it| (it.rule.name, it.sites.join(" ")))
        .collect();
    assert_eq!(found, [("internal-error", "bad".to_owned())]);
    assert_eq!(
        checked
            .sites
            .iter()
            .filter(|site| site.taken.is_some())
            .count(),
        1
    );
}

/// A pair of `!!pairs` reads as a list of two, into which nothing can be substituted.
#[test]
fn pattern_below_a_pair_is_reported() {
    let policy = "---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {schema: metadata/Control/v1, \
                  name: layering-policy}\ndata: {layerOrder: [site]}\n";
    let metadata = "schema: metadata/Document/v1, storagePolicy: cleartext, \
                    layeringDefinition: {layer: site}";
    let source = format!("---\nschema: o/S/v1\nmetadata: {{{metadata}, name: s}}\ndata: new\n");
    let substitutions = "substitutions: [{src: {schema: o/S/v1, name: s, path: .}, \
                         dest: {path: '.l[0]', pattern: old, recurse: {depth: -1}}}]";
    let destination = format!(
        "---\nschema: o/D/v1\nmetadata: {{{metadata}, name: d, {substitutions}}}\n\
         data: {{l: !!pairs [a: old]}}\n"
    );
    let tree = MemoryTree::new()
        .with("d.yaml", destination)
        .with("policy.yaml", policy)
        .with("s.yaml", source);
    for semantics in [Semantics::Documented, Semantics::Deckhand] {
        let checked = check_files(&tree, options(semantics), |_| ());
        assert!(!checked.internal_error);
        let found = checked
            .findings
            .diagnostics
            .iter()
            .map(|finding| finding.rule.name);
        assert_eq!(found.collect::<Vec<_>>(), ["invalid-substitution"]);
    }
}
