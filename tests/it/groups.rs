//! Property groups beyond the recorded cases: limits, versions as written, places in schemas,
//! secrets, comparisons, and laws.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use layercake::commands::configuration::ConfigurationSource;
use layercake::commands::policy::Selectors;
use layercake::merge::deckhand::Semantics;
use layercake::rules::Gates;
use layercake::source::{MemoryTree, RepoPath, Source, SourceMap};
use layercake::system::heat::{ComponentVersion, Groups, Versions};
use layercake::yaml::{self, Node};
use proptest::prelude::*;

use crate::support::{check_files, compare_files, finding_text, options};

/// Far longer than any of these tests takes in a debug build on a busy machine.
const MAX_DURATION: Duration = Duration::from_secs(30);

fn read(text: &str, sources: &mut SourceMap) -> Node {
    let source = Source::new(RepoPath::new("text.yaml"), Ok(text.as_bytes().to_vec()));
    let file = sources.add(source);
    let parsed = yaml::parse(file, text);
    assert!(parsed.problems.is_empty(), "{text}: {:?}", parsed.problems);
    parsed
        .documents
        .into_iter()
        .next()
        .expect("it is one document")
        .root
}

/// Codes of the faults in the groups of a schema, and of their violations in data, each with its
/// group.
fn evaluated(schema: &str, data: &str, present: Option<&str>) -> (Vec<String>, Vec<String>) {
    let mut sources = SourceMap::new();
    let (schema, data) = (read(schema, &mut sources), read(data, &mut sources));
    let groups = Groups::of_schema(&schema, &sources);
    let versions = Versions {
        unnamed: present.map(ComponentVersion::new),
        ..Versions::default()
    };
    let problems = groups.problems.iter();
    let problems = problems.map(|it| format!("{} {:?}", it.fault.code(), it.group.as_deref()));
    let findings = groups.findings(&data, &versions).into_iter();
    let findings = findings.map(|it| format!("{} {} {}", it.breach.code(), it.group, it.at));
    (problems.collect(), findings.collect())
}

fn findings(schema: &str, data: &str) -> Vec<String> {
    let (problems, findings) = evaluated(schema, data, None);
    assert_eq!(problems, Vec::<String>::new(), "{schema}");
    findings
}

#[test]
fn versions_are_compared_as_written() {
    let schema = |version: &str| {
        format!("property_groups: [g: {{properties: [a], client_plugin_supported: [{version}]}}]")
    };
    let refuses = |version: &str, present: &str| {
        !evaluated(&schema(version), "a: 1", Some(present))
            .1
            .is_empty()
    };
    assert!(!refuses("1.10", "1.10"), "the text is 1.10");
    assert!(refuses("1.10", "1.1"), "not the number that YAML reads");
    assert!(
        !refuses("v2", "2.0.0"),
        "trailing zeros and a `v` have no effect"
    );
    assert!(!refuses("010", "10"), "YAML reads it as 8");
    assert!(!refuses("2015-10-21", "2015-10-21") && refuses("2015-10-21", "2015-10-22"));
    assert!(
        !refuses("!!float '1.5'", "1.5"),
        "after a tag the value counts"
    );
    assert!(!refuses(
        "99999999999999999999999",
        "99999999999999999999999.0"
    ));
    assert!(!refuses("kilo", "kilo") && refuses("kilo", "liberty") && refuses("kilo", "1"));
    let lossy = evaluated(&schema("1.10"), "a: 1", None).0;
    assert_eq!(lossy, ["lossy-version Some(\"g\")"]);
}

/// As in JSON Schema.
#[test]
fn conditions_compare_numbers_by_value() {
    let holds = |wanted: &str, given: &str| {
        let schema = format!("property_groups: [{{or: [{{property: a, is: {wanted}}}]}}]");
        findings(&schema, &format!("a: {given}")).is_empty()
    };
    for (one, other) in [
        ("1", "1.0"),
        ("0", "-0.0"),
        ("1.0e+2", "100"),
        ("[2, 1]", "1.0"),
    ] {
        assert!(holds(one, other), "{one}, {other}");
    }
    assert!(holds("1.0", "1") && holds("'1'", "'1'") && holds("true", "yes"));
    for (one, other) in [
        ("1", "true"),
        ("true", "1"),
        ("0.0", "false"),
        ("1", "'1'"),
        ("1", "1.5"),
    ] {
        assert!(!holds(one, other), "{one}, {other}");
    }
}

#[test]
fn blocks_are_allowed_wherever_a_schema_always_applies() {
    let group = "property_groups: [{or: [a, b]}]";
    let of = |schema: String| findings(&schema, "{x: {c: 1}, y: [{c: 1}]}");
    assert_eq!(
        of(format!("patternProperties: {{'^x': {{{group}}}}}")),
        ["or #1 .x"]
    );
    assert_eq!(
        of(format!("allOf: [{{properties: {{x: {{{group}}}}}}}]")),
        ["or #1 .x"]
    );
    assert_eq!(
        of(format!("properties: {{y: {{items: {{{group}}}}}}}")),
        ["or #1 .y[0]"]
    );
    let declared = "properties: {y: {}}, additionalProperties:";
    assert_eq!(of(format!("{{{declared} {{{group}}}}}")), ["or #1 .x"]);
    // An unreferenced definition is checked, but applies to no data.
    assert_eq!(
        of(format!("definitions: {{d: {{{group}}}}}")),
        Vec::<String>::new()
    );
    let twice = format!(
        "{{definitions: {{d: {{{group}}}}}, anyOf: [{{$ref: '#/definitions/d'}}], properties: \
         {{x: {{$ref: '#/definitions/d'}}}}}}"
    );
    assert_eq!(
        of(twice),
        ["or #1 .x"],
        "the use that always applies to data counts"
    );
    for case in ["anyOf", "oneOf"] {
        let (problems, found) = evaluated(
            &format!("{case}: [{{properties: {{x: {{{group}}}}}}}]"),
            "{x: {}}",
            None,
        );
        assert_eq!(
            (problems, found),
            (vec!["unreached-block None".to_owned()], Vec::new())
        );
    }
}

#[test]
fn schema_may_refer_to_itself() {
    let schema = "
properties:
  name: {type: string}
  left: {$ref: '#'}
  right: {$ref: '#'}
property_groups:
  - both: {properties: [left, right], operator: depends_on}
  - deep: {properties: [left.left.left.name, name], operator: depends_on}";
    let data = "{name: r, left: {left: {left: {name: x}}, right: {name: y}}, right: {left: {}}}";
    let expected = ["depends_on both .left.left", "depends_on both .right"];
    assert_eq!(findings(schema, data), expected);
    for circle in [
        "{$ref: '#'}",
        "{allOf: [{$ref: '#'}], property_groups: [{or: [a]}]}",
    ] {
        let (_, found) = evaluated(circle, "{b: 1}", None);
        assert!(found.len() < 2, "{circle}: {found:?}");
    }
}

/// Groups that depend on groups that depend on others: each is checked once.
#[test]
fn diamonds_do_not_multiply() {
    let mut schema = String::from("property_groups:\n- g0: {properties: [a, b], operator: xor}\n");
    for level in 1..90 {
        let below = level - 1;
        writeln!(
            schema,
            "- g{level}: {{properties: [g{below}, {{and: [g{below}]}}, {{or: [g{below}]}}], \
             operator: and}}"
        )
        .unwrap();
    }
    let start = Instant::now();
    assert_eq!(findings(&schema, "{a: 1}"), Vec::<String>::new());
    assert_eq!(findings(&schema, "{a: 1, b: 1}"), ["and g89 ."]);
    assert!(start.elapsed() < MAX_DURATION, "{:?}", start.elapsed());
}

#[test]
fn oversized_groups_are_reported() {
    let many: String = (0..=Groups::MAX_GROUPS).fold("property_groups:\n".into(), |text, at| {
        text + &format!("- g{at}: {{properties: [a], operator: or}}\n")
    });
    let (problems, found) = evaluated(&many, "{}", None);
    assert_eq!(problems, ["too-large None"]);
    assert_eq!(found.len(), Groups::MAX_GROUPS);

    let chain: String = (0..Groups::MAX_GROUPS).fold("property_groups:\n".into(), |text, at| {
        text + &format!(
            "- g{at}: {{properties: [a, property_groups.g{}], operator: or}}\n",
            at + 1
        )
    });
    let (problems, _) = evaluated(&chain, "{}", None);
    assert_eq!(
        problems,
        [format!(
            "unknown-group Some(\"g{}\")",
            Groups::MAX_GROUPS - 1
        )]
    );
    let ended = chain.replace(&format!("property_groups.g{}", Groups::MAX_GROUPS), "b");
    let (problems, found) = evaluated(&ended, "{}", None);
    assert_eq!(
        problems.len(),
        1,
        "only the one that is too deep, not its dependents"
    );
    assert!(problems[0].starts_with("too-large"), "{problems:?}");
    assert_eq!(found, Vec::<String>::new(), "all others are referred to");
    let ring = chain.replace(&format!("g{}]", Groups::MAX_GROUPS), "g0]");
    assert_eq!(evaluated(&ring, "{}", None).0, ["cycle Some(\"g0\")"]);

    let wide = format!(
        "property_groups: [{{or: [{}]}}]",
        (0..20_000)
            .map(|at| format!("p{at}"))
            .collect::<Vec<_>>()
            .join(", ")
    );
    let (problems, found) = evaluated(&wide, "{}", None);
    assert_eq!((problems.len(), found.len()), (1, 0), "{problems:?}");
}

/// Many groups over long lists end in a finding instead of hours of work.
#[test]
fn work_is_bounded() {
    let groups: String = (0..1000).fold(String::new(), |text, at| {
        text + &format!("  - g{at}: {{properties: [l.a, l.b, c], operator: and}}\n")
    });
    let schema = format!(
        "properties: {{l: {{type: array, items: {{type: object}}}}}}\nproperty_groups:\n{groups}"
    );
    let schema = schema.replace(
        "properties: {l:",
        "additionalProperties: true\nproperties: {l:",
    );
    let data = format!("l: [{}]\n", "{b: 1}, ".repeat(20_000));
    let start = Instant::now();
    let found = findings(&schema, &data);
    assert!(start.elapsed() < MAX_DURATION, "{:?}", start.elapsed());
    assert!(
        found
            .last()
            .is_some_and(|last| last.starts_with("unfinished")),
        "{found:?}"
    );
}

const POLICY: &str = "---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {schema: \
    metadata/Control/v1, name: layering-policy}\ndata: {layerOrder: [global, type, site]}\n";

fn document(schema: &str, name: &str, more: &str, data: &str) -> String {
    format!(
        "---\nschema: {schema}\nmetadata:\n  schema: metadata/Document/v1\n  name: {name}\n  \
         storagePolicy: cleartext\n{more}data: {data}\n"
    )
}

/// A site repository: a document of `global/`, and a site document that is merged into it.
fn repository(groups: &str, global: &str, site: &str) -> MemoryTree {
    let schema = format!(
        "---\nschema: deckhand/DataSchema/v1\nmetadata: {{schema: metadata/Control/v1, name: \
         example/Port/v1}}\ndata:\n  type: object\n  additionalProperties: true\n{groups}"
    );
    let parent = "  labels: {name: port}\n  layeringDefinition: {abstract: true, layer: global}\n";
    let child = "  layeringDefinition:\n    abstract: false\n    layer: site\n    parentSelector: \
         {name: port}\n    actions: [{method: merge, path: .}]\n";
    let plain = "  layeringDefinition: {abstract: false, layer: site}\n";
    MemoryTree::new()
        .with("global/policy.yaml", POLICY)
        .with("global/schema.yaml", schema)
        .with(
            "global/port.yaml",
            document("example/Port/v1", "port", parent, global),
        )
        .with("type/small/README.md", "none")
        .with(
            "site/lab/port.yaml",
            document("example/Port/v1", "lab", child, site),
        )
        .with(
            "site/lab/site-definition.yaml",
            document(
                "pegleg/SiteDefinition/v1",
                "lab",
                plain,
                "{site_type: small}",
            ),
        )
}

/// Two edits in `global/`, one of which breaks a group in an unedited document by removing a value
/// on which another depends.
#[test]
fn finding_names_the_edit_elsewhere_that_causes_it() {
    let groups = "  property_groups:\n    - g: {properties: [trunk, vlan], operator: depends_on}\n";
    let site = "{trunk: true}";
    let base = repository(groups, "{vlan: 12, mtu: 1500, name: a}", site);
    let head = repository(groups, "{mtu: 9000, name: a}", site);
    let options = options(Semantics::Documented);
    let compared = compare_files(
        &base,
        &head,
        options,
        &Selectors::default(),
        &ConfigurationSource::Root,
        &Gates::default(),
    );
    let new = &compared.findings.new.diagnostics;
    let [finding] = &new[..] else {
        panic!("one finding: {new:?}")
    };
    assert_eq!(finding.rule.name, "property-group-violation");
    let at = compared
        .checked
        .sources
        .get(finding.primary.span.file)
        .path()
        .to_string();
    assert_eq!(at, "site/lab/port.yaml");
    let [causes] = &compared.findings.causes[..] else {
        panic!("causes of one finding")
    };
    let edited: Vec<String> = causes
        .iter()
        .map(|edit| {
            let edit = &compared.comparison.edits[edit.index()].edit;
            format!("{} {}", edit.document.name, edit.location)
        })
        .collect();
    assert_eq!(edited, ["port .vlan"]);
}

/// The same groups in the schema and in `layercake.yaml` are broken by the same values, with the
/// same messages.
#[test]
fn groups_of_configuration_and_schema_are_checked_equally() {
    let block = "- {xor: [ip, host]}\n- g: {properties: [l.a, l.b], operator: and}\n";
    let indented = |by: &str| {
        block
            .lines()
            .fold(String::new(), |text, line| text + by + line + "\n")
    };
    let (global, site) = ("{ip: 1, l: [{a: 1}, {a: 1, b: 2}, {}]}", "{host: 2}");
    let found_in = |tree: &MemoryTree| -> Vec<(String, u32, String)> {
        let checked = check_files(tree, options(Semantics::Documented), |_| ());
        let own = checked.findings.diagnostics.iter();
        let own = own.filter(|it| it.rule.name == "property-group-violation");
        own.map(|it| {
            let at = it.primary.span;
            let path = checked.sources.get(at.file).path().to_string();
            (
                path,
                checked.sources.start(at).line.get(),
                it.message.clone(),
            )
        })
        .collect()
    };
    let shape = "  properties: {l: {type: array}}\n";
    let inside = repository(
        &format!("{shape}  property_groups:\n{}", indented("    ")),
        global,
        site,
    );
    let configuration = format!("property-groups:\n  example/Port/v1:\n{}", indented("    "));
    let outside = repository(shape, global, site).with("layercake.yaml", configuration);
    let found = found_in(&inside);
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(found, found_in(&outside));
}

/// The keys of a secret mapping are not shown, whatever a group says.
#[test]
fn secret_mapping_is_not_revealed() {
    let groups = "  properties:\n    login: {type: object, properties: {k1: {}, k2: {}, k3: {}}}\n  \
         property_groups:\n    - g: {properties: [login.k1, login.k2], operator: xor}\n    - h: \
         {properties: [login.k1, other], operator: depends_on}\n    - i: {properties: [login.k1], \
         client_plugin_supported: ['2']}\n";
    let found_in = |login: &str| -> Vec<String> {
        let secret = document(
            "example/Login/v1",
            "login",
            "  layeringDefinition: {abstract: false, layer: site}\n",
            login,
        )
        .replace("cleartext", "encrypted");
        let taking = "  substitutions:\n    - src: {schema: example/Login/v1, name: login, path: .}\n\
             \x20     dest: {path: .login}\n  layeringDefinition: {abstract: false, layer: site}\n";
        let tree = repository(groups, "{mtu: 1}", "{mtu: 2}")
            .with("layercake.yaml", "client-version: '1'\n")
            .with("site/lab/login.yaml", secret)
            .with(
                "site/lab/taker.yaml",
                document("example/Port/v1", "taker", taking, "{a: 1}"),
            );
        let checked = check_files(&tree, options(Semantics::Documented), |_| ());
        let own = checked.findings.diagnostics.iter().filter(|it| {
            it.documents.iter().any(|key| &*key.name == "taker")
                && ["property-group-violation", "unsupported-property"].contains(&it.rule.name)
        });
        own.map(|it| finding_text(it, &checked.sources)).collect()
    };
    let (one, other) = (
        found_in("{k1: aa, k2: bbbb}"),
        found_in("{k1: cccccc, k2: d}"),
    );
    assert_eq!(one.len(), 3, "{one:?}");
    assert_eq!(one, other);
    // Violations of one group have the same text, whichever key is there.
    let alike = |found: &[String]| found.iter().find(|it| it.contains("`g`")).cloned();
    assert_eq!(alike(&one), alike(&found_in("{k3: e}")));
    for word in ["k1", "k2", "k3", "aa", "bbbb"] {
        assert!(!one.concat().contains(word), "{one:?}");
    }
}

/// A secret list that is refused for each of its items is reported once.
#[test]
fn length_of_a_secret_is_not_revealed() {
    let groups = "  properties:\n    logins: {type: array, items: {type: object}}\n  \
         property_groups:\n    - g: {properties: [logins.k1, logins.k2], operator: or}\n";
    let found_in = |logins: &str| -> Vec<String> {
        let secret = document(
            "example/Login/v1",
            "logins",
            "  layeringDefinition: {abstract: false, layer: site}\n",
            logins,
        )
        .replace("cleartext", "encrypted");
        let taking = "  substitutions:\n    - src: {schema: example/Login/v1, name: logins, path: .l}\n\
             \x20     dest: {path: .logins}\n  layeringDefinition: {abstract: false, layer: site}\n";
        let tree = repository(groups, "{mtu: 1}", "{mtu: 2}")
            .with("site/lab/logins.yaml", secret)
            .with(
                "site/lab/taker.yaml",
                document("example/Port/v1", "taker", taking, "{a: 1}"),
            );
        let checked = check_files(&tree, options(Semantics::Documented), |_| ());
        let own = checked.findings.diagnostics.iter();
        let own = own.filter(|it| it.rule.name == "property-group-violation");
        own.map(|it| finding_text(it, &checked.sources)).collect()
    };
    let one = found_in("{l: [{a: 1}]}");
    assert_eq!(one.len(), 1, "{one:?}");
    assert_eq!(one, found_in("{l: [{a: 1}, {b: 1}, {k1: 1}, {c: 1}]}"));
}

/// A schema that is secret itself is not shown.
#[test]
fn secret_schema_is_not_revealed() {
    let groups =
        "  property_groups:\n    - hidden-group: {properties: [hid, den], operator: xor}\n";
    let plain = repository(groups, "{mtu: 1}", "{hid: 1, den: 2}");
    let schema = format!(
        "---\nschema: deckhand/DataSchema/v1\nmetadata: {{schema: metadata/Control/v1, name: \
         example/Port/v1, storagePolicy: encrypted}}\ndata:\n{groups}    - {{nonsense: 1}}\n"
    );
    let checked = check_files(
        &plain.with("global/schema.yaml", schema),
        options(Semantics::Documented),
        |_| (),
    );
    let all: Vec<String> = checked
        .findings
        .diagnostics
        .iter()
        .map(|it| finding_text(it, &checked.sources))
        .collect();
    let of_groups: Vec<&String> = all
        .iter()
        .filter(|it| it.contains("property-group"))
        .collect();
    assert_eq!(of_groups.len(), 1, "{all:?}");
    assert!(
        of_groups[0].contains("a property group of a secret schema"),
        "{of_groups:?}"
    );
    assert!(!of_groups[0].contains("hid"), "{of_groups:?}");
}

/// JSON Schema validation still runs beside the keyword, which is valid where it has an effect,
/// and an error elsewhere.
#[test]
fn schemas_are_still_validated_beside_groups() {
    let schema = "
  properties:
    mtu: {type: integer}
    list: {type: array, property_groups: [{or: [a]}]}
    other: {$ref: '#/properties/mtu', property_groups: [{or: [a]}]}
    slip: {type: object, property_group: [{or: [a]}]}
  property_groups: [{or: [[mtu], [list]]}]
";
    let tree = repository(schema.trim_start_matches('\n'), "{mtu: 1}", "{mtu: text}");
    let checked = check_files(&tree, options(Semantics::Documented), |_| ());
    let found: Vec<(&str, u32)> = checked
        .findings
        .diagnostics
        .iter()
        .filter(|it| it.rule.name.contains("schema"))
        .map(|it| {
            (
                it.rule.name,
                checked.sources.start(it.primary.span).line.get(),
            )
        })
        .collect();
    let expected = [
        ("ignored-schema-keyword", 9),
        ("ignored-schema-keyword", 10),
        ("unknown-schema-keyword", 11),
        ("schema-violation", 12),
    ];
    assert_eq!(found, expected);
    let slip = checked
        .findings
        .diagnostics
        .iter()
        .find(|it| it.rule.name.starts_with("unknown-s"));
    assert_eq!(
        slip.and_then(|it| it.help.as_deref()),
        Some("did you mean `property_groups`?")
    );
}

/// A group, its operands among a few properties and lists.
fn group() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("a".to_owned()),
        Just("b".to_owned()),
        Just("m.x".to_owned()),
        Just("l.a".to_owned()),
        Just("l.b".to_owned()),
        Just("[l]".to_owned()),
    ];
    let operand = leaf.prop_recursive(2, 8, 3, |inner| {
        let operands = prop::collection::vec(inner, 1..4);
        (operator(), operands).prop_map(|(operator, operands)| {
            let operands = if operator == "depends_on" && operands.len() == 1 {
                format!("{}, a", operands[0])
            } else {
                operands.join(", ")
            };
            format!("{{{operator}: [{operands}]}}")
        })
    });
    prop::collection::vec(operand, 2..4)
        .prop_flat_map(|operands| (operator(), Just(operands)))
        .prop_map(|(operator, operands)| format!("{{{operator}: [{}]}}", operands.join(", ")))
}

fn operator() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("and"), Just("or"), Just("xor"), Just("depends_on")]
}

/// Entries of the mapping that groups are about.
fn entries() -> impl Strategy<Value = Vec<String>> {
    let value = prop_oneof![Just("1"), Just("''"), Just("null"), Just("{}"), Just("[]")];
    let item = prop_oneof![
        Just("{}"),
        Just("{a: 1}"),
        Just("{b: 0}"),
        Just("{a: 1, b: 2}"),
        Just("null"),
        Just("text"),
    ];
    let list = prop::collection::vec(item, 0..4);
    (
        prop::option::of(value.clone()),
        prop::option::of(value.clone()),
        prop::option::of(value),
        prop::option::of(list),
    )
        .prop_map(|(a, b, x, l)| {
            let entry = |key: &str, value: Option<&str>| value.map(|it| format!("{key}: {it}"));
            let m = x.map(|x| format!("m: {{x: {x}}}"));
            let l = l.map(|items| format!("l: [{}]", items.join(", ")));
            [entry("a", a), entry("b", b), m, l]
                .into_iter()
                .flatten()
                .collect()
        })
}

const SHAPE: &str = "properties:
  a: {}
  b: {}
  m: {type: object, properties: {x: {}}}
  l: {type: array, items: {type: object, properties: {a: {}, b: {}}}}\n";

fn block(groups: &[String]) -> String {
    let entries: Vec<String> = groups.iter().map(|group| format!("- {group}\n")).collect();
    entries.concat()
}

/// Findings of groups, with all their fields.
fn all_of(groups: &Groups, data: &Node) -> Vec<String> {
    let findings = groups.findings(data, &Versions::default()).into_iter();
    findings
        .map(|it| {
            let operands: Vec<String> = it.operands.into_iter().map(|shown| shown.text).collect();
            format!("{} {} {} {operands:?}", it.breach.code(), it.group, it.at)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(5), ..ProptestConfig::default() })]

    /// The order of keys, in data and in schemas, has no effect.
    #[test]
    fn order_of_keys_has_no_effect(
        groups in prop::collection::vec(group(), 1..4),
        entries in entries(),
    ) {
        let mut sources = SourceMap::new();
        let mut turned = entries.clone();
        turned.reverse();
        let data = read(&format!("{{{}}}", entries.join(", ")), &mut sources);
        let reversed = read(&format!("{{{}}}", turned.join(", ")), &mut sources);
        let text = format!("{SHAPE}property_groups:\n{}", block(&groups));
        let schema = read(&text, &mut sources);
        let moved = format!("property_groups:\n{}{SHAPE}", block(&groups));
        let other = read(&moved, &mut sources);
        let (one, other) =
            (Groups::of_schema(&schema, &sources), Groups::of_schema(&other, &sources));
        let found = all_of(&one, &data);
        prop_assert_eq!(&found, &all_of(&one, &reversed));
        prop_assert_eq!(&found, &all_of(&other, &data));
    }

    /// A group in the schema and the same group beside it have the same findings.
    #[test]
    fn groups_find_the_same_in_the_schema_and_beside_it(
        groups in prop::collection::vec(group(), 1..4),
        entries in entries(),
    ) {
        let mut sources = SourceMap::new();
        let data = read(&format!("{{{}}}", entries.join(", ")), &mut sources);
        let inside = format!("{SHAPE}property_groups:\n{}", block(&groups));
        let (inside, schema) = (read(&inside, &mut sources), read(SHAPE, &mut sources));
        let beside = read(&block(&groups), &mut sources);
        let inside = Groups::of_schema(&inside, &sources);
        let beside = Groups::beside_schema(&beside, Some(&schema), &sources);
        prop_assert_eq!(inside.problems.len(), beside.problems.len());
        prop_assert_eq!(all_of(&inside, &data), all_of(&beside, &data));
    }

    /// Exactly one, all, and at least one of a single operand are the same.
    #[test]
    fn one_operand_is_mandatory_by_any_operator(inner in group(), entries in entries()) {
        let mut sources = SourceMap::new();
        let data = read(&format!("{{{}}}", entries.join(", ")), &mut sources);
        let mut holds = |operator: &str| {
            let text = format!("{SHAPE}property_groups:\n- {{{operator}: [{inner}]}}\n");
            let schema = read(&text, &mut sources);
            let found = Groups::of_schema(&schema, &sources).findings(&data, &Versions::default());
            found.iter().map(|it| it.at.to_string()).collect::<Vec<_>>()
        };
        let xor = holds("xor");
        prop_assert_eq!(&xor, &holds("and"));
        prop_assert_eq!(&xor, &holds("or"));
    }
}
