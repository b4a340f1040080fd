//! The limits of docs/limits.md from both sides: input at the limit is accepted, and one more is
//! reported.
//!
//! The limits of texts, paths and patterns are tested in `tests/it/limits.rs` of their crates, those
//! of cloud-init's parts in `cloud_init/reading.rs`, those of reports in `formats/limits.rs`, and
//! tags of tags in `sides/errors.rs`.

use layercake::merge::deckhand::Semantics;
use layercake::merge::pattern::{MAX_BACKTRACKS, MAX_EFFORT};
use layercake::render::{MAX_DEPTH, MAX_WORK, SizeLimit};
use layercake::schema::{Schema, SchemaFault, Wrong};
use layercake::source::{FileId, MemoryTree, SourceMap};
use layercake::system::heat::{Groups, Versions};
use layercake::yaml::{Node, parse};
use layercake_yaml_testing::largest;

use crate::support::{check_files, options};

const POLICY: &str = "---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {schema: \
                      metadata/Control/v1, name: policy}\ndata: {layerOrder: [site]}\n";

/// A document with `more` in its metadata.
fn document(name: &str, more: &str, data: &str) -> String {
    format!(
        "---\nschema: example/Kind/v1\nmetadata: {{schema: metadata/Document/v1, name: {name}, \
         storagePolicy: cleartext, layeringDefinition: {{layer: site, abstract: false}}{more}}}\n\
         data: {{{data}}}\n"
    )
}

/// Number of findings that a limit is exceeded; there must be no others.
fn limit_findings(text: String) -> usize {
    let tree = MemoryTree::new().with("documents.yaml", text);
    let checked = check_files(&tree, options(Semantics::Documented), |_| ());
    let rules: Vec<&str> = checked
        .findings
        .diagnostics
        .iter()
        .map(|finding| finding.rule.name)
        .collect();
    assert!(rules.iter().all(|rule| *rule == "over-limit"), "{rules:?}");
    rules.len()
}

/// Whether a site of two documents exceeds a limit, if the second has `count` destinations for one
/// value of the first.
fn is_over_limit(value: &str, source: &str, destination: &str, count: usize, data: &str) -> bool {
    let substitutions: Vec<String> = (0..count)
        .map(|at| {
            let destination = destination.replace('#', &at.to_string());
            format!(
                "{{src: {{schema: example/Kind/v1, name: source, path: .text{source}}}, \
                 dest: {{{destination}}}}}"
            )
        })
        .collect();
    let substitutions = format!(", substitutions: [{}]", substitutions.join(", "));
    let data: String = (0..count)
        .map(|at| data.replace('#', &at.to_string()))
        .collect();
    let source = document("source", "", &format!("text: {value}"));
    let target = document("target", &substitutions, &data);
    let times = limit_findings([POLICY, &source, &target].concat());
    assert!(times <= 1, "{times}");
    times == 1
}

#[test]
fn bytes_searched_by_the_steps_of_a_document_are_limited() {
    // A value costs as much as its line: its text, and 16 bytes.
    let megabyte = "x".repeat((1 << 20) - 16);
    let is_over = |count: usize| {
        is_over_limit(
            &megabyte,
            ", pattern: '^(x)', match_group: 1",
            "path: .t#",
            count,
            "",
        )
    };
    assert_eq!(largest(60..70, is_over) as u64, MAX_WORK >> 20);
}

#[test]
fn bytes_of_a_rendered_document_are_limited() {
    // Binary data, which takes four letters for three bytes.
    let three_megabytes = format!("!!binary {}", "A".repeat(4 << 20));
    let is_over = |count: usize| is_over_limit(&three_megabytes, "", "path: .t#", count, "");
    assert_eq!(
        largest(80..90, is_over) as u64,
        SizeLimit::BYTES / (3 << 20)
    );
}

#[test]
fn bytes_written_by_the_steps_of_a_document_are_limited() {
    let (kilobytes, places) = ("x".repeat(1 << 14), "y".repeat(64));
    let is_over = |count: usize| {
        is_over_limit(
            &kilobytes,
            "",
            "path: .t#, pattern: y",
            count,
            &format!("t#: {places}, "),
        )
    };
    assert_eq!(largest(60..70, is_over) as u64, MAX_WORK >> 20);
}

/// Documents substituted into each other, each as deep as a path can create.
#[test]
fn depth_of_a_rendered_document_is_limited() {
    let exceeds = |depth: usize| {
        let mut text = format!("{POLICY}{}", document("\"0\"", "", ""));
        // The innermost mapping is one collection, and each name of a path is another.
        let mut left = depth - 1;
        for name in 1.. {
            let step = left.min(300);
            let path = ".a".repeat(step);
            let substitution = format!(
                ", substitutions: [{{src: {{schema: example/Kind/v1, name: \"{}\", path: .}}, \
                 dest: {{path: {path}}}}}]",
                name - 1
            );
            text += &document(&format!("\"{name}\""), &substitution, "");
            left -= step;
            if left == 0 {
                break;
            }
        }
        limit_findings(text) > 0
    };
    let near: Vec<usize> = (MAX_DEPTH - 3..MAX_DEPTH + 4).collect();
    let most = near[near.partition_point(|depth| !exceeds(*depth)) - 1];
    assert!(most.abs_diff(MAX_DEPTH) <= 1, "{most}");
}

fn node(text: &str) -> Node {
    let parsed = parse(FileId::default(), text);
    assert_eq!(parsed.problems, []);
    parsed.documents[0].root.clone()
}

fn is_refused(schema: &str) -> bool {
    let problems = Schema::compile(&node(schema)).1;
    problems
        .iter()
        .any(|problem| problem.fault == SchemaFault::TooLarge)
}

#[test]
fn values_of_a_schema_are_limited() {
    let schema = |count: usize| format!("{{enum: [{}]}}", vec!["x"; count].join(", "));
    // The schema and its list count, too.
    assert!(!is_refused(&schema(Schema::MAX_NODES - 2)));
    assert!(is_refused(&schema(Schema::MAX_NODES - 1)));
}

/// Two hundred literal levels, and those behind a reference in the last one.
#[test]
fn nesting_of_a_schema_is_limited() {
    let nested = |depth: usize, inner: &str| {
        format!("{}{inner}{}", "{not: ".repeat(depth), "}".repeat(depth))
    };
    let schema = |depth: usize| {
        let (first, second) = (
            nested(100, "{$ref: '#/definitions/a'}"),
            nested(depth, "{}"),
        );
        format!("{{definitions: {{a: {second}}}, allOf: [{first}]}}")
    };
    let most = largest(100..250, |depth| is_refused(&schema(depth)));
    // The longest path descends twice: literally, and from the target of the reference.
    let levels = 2 * most + 3;
    assert!(levels.abs_diff(Schema::MAX_DEPTH) < 100, "{most}");
    assert!(is_refused(&schema(most + 1)) && !is_refused(&schema(most)));
}

/// Only the longest path counts, not the number of paths.
#[test]
fn nesting_of_a_schema_with_many_definitions_is_limited() {
    let schema = |count: usize, of: &dyn Fn(usize) -> String| {
        let definitions: String = (0..count)
            .map(|at| format!("d{at}: {}, ", of(at)))
            .collect();
        let all: String = (0..count)
            .map(|at| format!("{{$ref: '#/definitions/d{at}'}}, "))
            .collect();
        format!("{{definitions: {{{definitions}}}, properties: {{a: {{enum: [{all}]}}}}}}")
    };
    let alone = |_| "{type: string}".to_owned();
    assert!(!is_refused(&schema(1_000, &alone)));
    let chain = |at: usize| format!("{{$ref: '#/definitions/d{}'}}", at + 1);
    assert!(is_refused(&schema(10_000, &chain)));
    let circle = |at: usize| format!("{{not: {{$ref: '#/definitions/d{}'}}}}", (at + 1) % 100);
    assert!(!is_refused(&schema(100, &circle)));
}

#[test]
fn schemas_applied_to_one_value_are_limited() {
    // Each level applies the one that it refers to ten times.
    let schema = |last: usize| {
        let mut definitions = String::from("a0: {type: object}");
        for level in 1..=3 {
            let below = vec![format!("{{$ref: '#/definitions/a{}'}}", level - 1); 9].join(", ");
            definitions += &format!(", a{level}: {{allOf: [{below}]}}");
        }
        let all = vec!["{$ref: '#/definitions/a3'}"; last].join(", ");
        format!("{{definitions: {{{definitions}}}, allOf: [{all}]}}")
    };
    let most = largest(1..40, |last| is_refused(&schema(last)));
    let of_each = |level: u64| (0..level).fold(1, |below: u64, _| 1 + 9 * (1 + below));
    let looks = |last: usize| 1 + last as u64 * (1 + of_each(3));
    assert!(looks(most) <= Schema::MAX_LOOKS, "{most}: {}", looks(most));
    assert!(
        looks(most + 1) > Schema::MAX_LOOKS,
        "{most}: {}",
        looks(most + 1)
    );
}

/// A list whose items are each checked by many schemas.
#[test]
fn steps_of_a_validation_are_limited() {
    let all = vec!["{type: string}"; 1000].join(", ");
    let schema = Schema::compile(&node(&format!("{{items: {{allOf: [{all}]}}}}"))).0;
    let is_beyond = |items: usize| {
        let data = node(&format!("[{}]", vec!["x"; items].join(", ")));
        !schema.violations(&data).is_empty()
    };
    let thousands = usize::try_from(Schema::MAX_WORK / 1000).unwrap();
    assert!(!is_beyond(thousands / 3));
    assert!(is_beyond(thousands + 1));
}

/// Detecting a violation can cost far less than finding all of them.
#[test]
fn steps_of_finding_all_violations_are_limited() {
    let all = vec!["{type: string}"; 1000].join(", ");
    let schema = Schema::compile(&node(&format!("{{items: {{allOf: [{all}]}}}}"))).0;
    let wrong = |items: usize| {
        let data = node(&format!("[1{}]", ", x".repeat(items)));
        let violations = schema.violations(&data);
        violations
            .into_iter()
            .map(|it| it.wrong)
            .collect::<Vec<_>>()
    };
    let thousands = usize::try_from(Schema::MAX_WORK / 1000).unwrap();
    let wrongs = wrong(thousands / 3);
    let detailed = &wrongs[..Schema::MAX_DETAILED];
    assert!(detailed.iter().all(|it| matches!(it, Wrong::Type { .. })));
    assert_eq!(wrongs.len(), 1000);
    assert_eq!(wrong(thousands + 1), [Wrong::Unfinished]);
}

#[test]
fn backtracking_steps_of_all_patterns_of_a_schema_are_limited() {
    // More than a tenth of the steps allowed for one search, and less than all: it is tried with a
    // hundredth, with a tenth and with all of them.
    let schema = Schema::compile(&node(r"{items: {not: {pattern: '(x*)(x*)\1y'}}}")).0;
    let each = MAX_BACKTRACKS + MAX_BACKTRACKS / 10 + MAX_BACKTRACKS / 100;
    let is_beyond = |texts: usize| {
        let data = node(&format!("[{}]", vec!["x".repeat(120); texts].join(", ")));
        let violations = schema.violations(&data);
        assert!(
            violations.iter().all(|it| it.wrong == Wrong::Unfinished),
            "{violations:?}"
        );
        !violations.is_empty()
    };
    assert_eq!(largest(1..10, is_beyond), MAX_EFFORT / each);
}

fn groups_of(schema: &str) -> Groups {
    Groups::of_schema(&node(schema), &SourceMap::new())
}

fn is_sound(schema: &str) -> bool {
    groups_of(schema).problems.is_empty()
}

#[test]
fn property_groups_of_a_block_are_limited() {
    let schema = |count: usize| {
        (0..count).fold("property_groups:\n".to_owned(), |text, at| {
            text + &format!("- g{at}: {{properties: [a], operator: or}}\n")
        })
    };
    assert!(is_sound(&schema(Groups::MAX_GROUPS)) && !is_sound(&schema(Groups::MAX_GROUPS + 1)));
}

#[test]
fn operands_of_a_block_are_limited() {
    let schema = |count: usize| {
        let operands: Vec<String> = (0..count).map(|at| format!("p{at}")).collect();
        format!("property_groups: [{{or: [{}]}}]", operands.join(", "))
    };
    assert!(is_sound(&schema(Groups::MAX_OPERANDS)));
    assert!(!is_sound(&schema(Groups::MAX_OPERANDS + 1)));
}

#[test]
fn nesting_of_property_groups_is_limited() {
    let schema = |depth: usize| {
        let chain = (1..depth).fold("property_groups:\n".to_owned(), |text, at| {
            text + &format!("- g{at}: {{properties: [a, g{}], operator: or}}\n", at + 1)
        });
        format!("{chain}- g{depth}: {{properties: [a, b], operator: or}}\n")
    };
    let near = Groups::MAX_DEPTH - 5..Groups::MAX_DEPTH + 5;
    let most = largest(near, |depth| !is_sound(&schema(depth)));
    assert!(most.abs_diff(Groups::MAX_DEPTH) <= 1, "{most}");
}

#[test]
fn steps_of_checking_property_groups_are_limited() {
    let groups: String = (0..100).fold(String::new(), |text, at| {
        text + &format!("  - g{at}: {{properties: [l.a, l.b, c], operator: or}}\n")
    });
    let schema = format!(
        "additionalProperties: true\nproperties: {{l: {{type: array, items: {{type: object}}}}}}\n\
         property_groups:\n{groups}"
    );
    let groups = groups_of(&schema);
    assert_eq!(groups.problems.len(), 0);
    let is_unfinished = |items: usize| {
        let data = node(&format!(
            "c: 1\nl: [{}]\n",
            vec!["{b: 1}"; items].join(", ")
        ));
        !groups.findings(&data, &Versions::default()).is_empty()
    };
    let looks = usize::try_from(Groups::MAX_WORK).unwrap();
    assert!(!is_unfinished(looks / 100 / 10));
    assert!(is_unfinished(looks / 100 + 1));
}
