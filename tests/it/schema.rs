//! JSON Schema, Draft 4, over our own nodes: violations of values, faults of schemas, and their
//! places.

use layercake::commands::configuration::ConfigurationSource;
use layercake::commands::policy::Selectors;
use layercake::merge::deckhand::Semantics;
use layercake::rules::Gates;
use layercake::schema::{Schema, SchemaFault, SchemaProblem, Violation, Wrong};
use layercake::source::{MemoryTree, Span};
use layercake::yaml::{Node, parse};

use crate::conformance::some_file;
use crate::support::{check_files, compare_files, options};

fn node(text: &str) -> Node {
    let mut parsed = parse(some_file(), text);
    assert!(parsed.problems.is_empty(), "{text}: {:?}", parsed.problems);
    parsed.documents.remove(0).root
}

fn at(text: &str, span: Span) -> &str {
    &text[span.start as usize..span.end as usize]
}

fn violations(schema: &str, value: &str) -> Vec<Violation> {
    let (compiled, problems) = Schema::compile(&node(schema));
    assert!(problems.is_empty(), "{schema}: {problems:?}");
    compiled.violations(&node(value))
}

/// Violations in short: place, kind and keyword.
fn violations_of(schema: &str, value: &str) -> Vec<String> {
    let violations = violations(schema, value);
    let places = violations.iter().map(|violation| {
        let wrong = format!("{:?}", violation.wrong);
        let kind = wrong.split([' ', '{']).next().expect("a name").to_owned();
        format!(
            "{} {kind} {}",
            violation.location,
            at(schema, violation.keyword)
        )
    });
    places.collect()
}

#[test]
fn every_keyword_of_draft_4_is_checked() {
    for (schema, good, bad, expected) in [
        ("type: object", "{}", "1", ". Type type"),
        ("type: [string, 'null']", "null", "1", ". Type type"),
        ("type: [string, integer]", "1", "2001-01-01", ". Type type"),
        ("type: integer", "1", "1.0", ". Type type"),
        ("type: integer", "1", "true", ". Type type"),
        (
            "type: integer",
            "123456789012345678901234567890",
            "2001-01-01",
            ". Type type",
        ),
        ("type: number", "1.5", "'1'", ". Type type"),
        ("type: string", "'2001-01-01'", "2001-01-01", ". Type type"),
        ("type: string", "''", "!!binary YQ==", ". Type type"),
        ("type: 'null'", "null", "2001-01-01", ". Type type"),
        ("enum: [a, 1]", "1.0", "true", ". NotOneOf enum"),
        (
            "required: [a, b]",
            "{a: 1, b: 1}",
            "{a: 1}",
            ". MissingKey b",
        ),
        (
            "properties: {a: {type: string}}",
            "{a: x}",
            "{a: 1}",
            ".a Type type",
        ),
        (
            "additionalProperties: false\nproperties: {a: {}}",
            "{a: 1}",
            "{1: 1}",
            ". UnknownKey additionalProperties",
        ),
        (
            "additionalProperties: {type: string}",
            "{1: x}",
            "{1: 1}",
            ".1 Type type",
        ),
        (
            "patternProperties: {^x: {type: string}}",
            "{y: 1}",
            "{x1: 1}",
            ".x1 Type type",
        ),
        (
            "patternProperties: {^x: {}}",
            "{x: 1}",
            "{1: 1}",
            ". KeyNoText patternProperties",
        ),
        ("minProperties: 1", "{a: 1}", "{}", ". Beyond minProperties"),
        (
            "maxProperties: 1",
            "{a: 1}",
            "{a: 1, b: 1}",
            ". Beyond maxProperties",
        ),
        (
            "dependencies: {a: [b]}",
            "{b: 1}",
            "{a: 1}",
            ". MissingKey dependencies",
        ),
        (
            "dependencies: {a: {required: [b]}}",
            "{b: 1}",
            "{a: 1}",
            ". MissingKey b",
        ),
        ("items: {type: string}", "[a]", "[a, 1]", ".[1] Type type"),
        (
            "items: [{type: string}]\nadditionalItems: false",
            "[a]",
            "[a, 1]",
            ". MoreItems additionalItems",
        ),
        ("minItems: 1", "[1]", "[]", ". Beyond minItems"),
        ("maxItems: 1", "[1]", "[1, 2]", ". Beyond maxItems"),
        (
            "uniqueItems: true",
            "[1, true]",
            "[1, 1.0]",
            ". RepeatedItem uniqueItems",
        ),
        ("pattern: ^a", "a", "ba", ". Unmatched pattern"),
        (
            "pattern: '(?P<x>a)(?=b)\\Z|c'",
            "c",
            "ab",
            ". Unmatched pattern",
        ),
        ("minLength: 2", "ää", "ä", ". Beyond minLength"),
        ("maxLength: 1", "ä", "ää", ". Beyond maxLength"),
        ("minimum: 2", "2", "1", ". Beyond minimum"),
        (
            "minimum: 2\nexclusiveMinimum: true",
            "3",
            "2",
            ". Beyond exclusiveMinimum",
        ),
        ("maximum: 2", "2", "3", ". Beyond maximum"),
        (
            "maximum: 2\nexclusiveMaximum: true",
            "1",
            "2",
            ". Beyond exclusiveMaximum",
        ),
        ("multipleOf: 2", "4", "3", ". NoMultiple multipleOf"),
        (
            "allOf: [{minimum: 2}, {maximum: 3}]",
            "2",
            "4",
            ". Beyond maximum",
        ),
        (
            "anyOf: [{minimum: 2}, {type: string}]",
            "2",
            "1",
            ". NoAlternative anyOf",
        ),
        (
            "oneOf: [{minimum: 2}, {type: string}]",
            "2",
            "1",
            ". NoAlternative oneOf",
        ),
        (
            "oneOf: [{minimum: 2}, {maximum: 3}]",
            "1",
            "2",
            ". SeveralAlternatives oneOf",
        ),
        ("not: {type: string}", "1", "a", ". Excluded not"),
        (
            "definitions: {a: {type: string}}\n$ref: '#/definitions/a'",
            "a",
            "1",
            ". Type type",
        ),
        (
            "properties: {a: {$ref: '#'}}\ntype: object",
            "{a: {}}",
            "{a: {a: 1}}",
            ".a.a Type type",
        ),
        (
            "properties: {'a/b~%': {type: string}, c: {$ref: '#/properties/a~1b~0%25'}}",
            "{c: x}",
            "{c: 1}",
            ".c Type type",
        ),
    ] {
        assert_eq!(violations_of(schema, good), [""; 0], "{schema}: {good}");
        assert_eq!(violations_of(schema, bad), [expected], "{schema}: {bad}");
    }
}

#[test]
fn each_forbidden_key_is_reported_at_its_place() {
    let schema = "properties: {replicas: {}, name: {}}\nadditionalProperties: false";
    let value = "name: x\nreplica: 1\nother: {a: 1}\n";
    let node = node(value);
    let violations = violations(schema, value);
    let places: Vec<&str> = violations
        .iter()
        .map(|violation| at(value, violation.span(&node)))
        .collect();
    assert_eq!(places, ["replica", "other"]);
    let Wrong::UnknownKey { key, near, .. } = &violations[0].wrong else {
        panic!("it is unknown")
    };
    assert_eq!(
        (key.as_deref(), near.as_deref()),
        (Some("replica"), Some("replicas"))
    );
}

#[test]
fn missing_key_is_reported_at_the_key_of_its_mapping() {
    let value = "a:\n  - nmae: x\n  - {}\nb:\n  c: {}\n";
    let root = node(value);
    let schema = "properties:\n  a: {items: {required: [name], properties: {name: {}}}}\n  \
                  b: {properties: {c: {required: [d]}}}\n";
    let violations = violations(schema, value);
    let places: Vec<&str> = violations
        .iter()
        .map(|violation| at(value, violation.span(&root)))
        .collect();
    assert_eq!(places, ["nmae: x", "{}", "c"]);
    let Wrong::MissingKey { near, .. } = &violations[0].wrong else {
        panic!("it is missing")
    };
    assert_eq!(near.as_deref(), Some("nmae"));
}

#[test]
fn nearest_alternative_is_reported() {
    let schema = "anyOf: [{type: string}, {properties: {a: {type: integer}}}, {required: [b, c]}]";
    let violations = violations(schema, "a: x");
    let Wrong::NoAlternative {
        alternatives: 3,
        nearest,
        ..
    } = &violations[0].wrong
    else {
        panic!("{violations:?}")
    };
    let [nearest] = nearest.as_slice() else {
        panic!("{nearest:?}")
    };
    assert_eq!(nearest.number, 2);
    let [nearest] = nearest.violations.as_slice() else {
        panic!("{nearest:?}")
    };
    assert_eq!(nearest.location.to_string(), ".a");
    assert_eq!(nearest.found.as_deref(), Some("x"));
}

#[test]
fn text_of_a_secret_is_not_shown() {
    let schema = "additionalProperties: false\n\
                  properties: {a: {type: integer}, b: {enum: [hunter3]}, c: {required: [hunter3]}}";
    let value = "{a: hunter2, b: hunter2, c: {hunter2: 1}, hunter2: 1}";
    let (schema, _) = Schema::compile(&node(schema));
    let violations = schema.violations(&node(value).into_secret());
    assert_eq!(violations.len(), 4);
    for violation in &violations {
        let Violation { wrong, found, .. } = violation;
        let wrong = match wrong {
            Wrong::UnknownKey {
                key,
                near,
                place: _,
            } => format!("{key:?} {near:?}"),
            wrong => format!("{wrong:?}"),
        };
        assert!(
            !format!("{wrong} {found:?}").contains("hunter2"),
            "{violation:?}"
        );
    }
}

/// Faults of a schema in short: text and kind.
fn faults(schema: &str) -> Vec<String> {
    let (_, problems) = Schema::compile(&node(schema));
    let found = problems.iter().map(|problem| {
        let fault = format!("{:?}", problem.fault);
        let kind = fault.split([' ', '{']).next().expect("a name").to_owned();
        format!("{kind} {}", at(schema, problem.span))
    });
    found.collect()
}

#[test]
fn faults_of_a_schema_are_reported_at_their_place() {
    for (schema, expected) in [
        ("requried: [a]", "UnknownKeyword requried"),
        ("propertes: {}", "UnknownKeyword propertes"),
        (
            "type: object\nname: {type: string}",
            "MisplacedProperty name",
        ),
        ("properties: {a: {required: true}}", "WrongValue required"),
        ("properties: {a: [x]}", "WrongValue a"),
        ("properties: [x]", "WrongValue properties"),
        ("required: []", "WrongValue required"),
        ("required: [a, a]", "WrongValue a"),
        ("type: strnig", "WrongValue strnig"),
        ("enum: []", "WrongValue enum"),
        ("minLength: -1", "WrongValue minLength"),
        ("multipleOf: 0", "WrongValue multipleOf"),
        ("minimum: a", "WrongValue minimum"),
        (
            "minimum: 1\nexclusiveMinimum: 1",
            "WrongValue exclusiveMinimum",
        ),
        ("exclusiveMinimum: true", "Unpaired exclusiveMinimum"),
        ("anyOf: []", "WrongValue anyOf"),
        ("title: 1", "WrongValue title"),
        ("type: string\nproperties: {}", "NeverApplies properties"),
        ("const: 1", "ForeignKeyword const"),
        ("$defs: {a: {type: string}}", "ForeignKeyword $defs"),
        (
            "$ref: '#/definitions/a'",
            "UnresolvedReference '#/definitions/a'",
        ),
        ("$ref: '#name'", "UnresolvedReference '#name'"),
        (
            "$ref: http://example.com/x",
            "RemoteReference http://example.com/x",
        ),
        (
            "properties: {a: {$ref: '#', type: string}}",
            "BesideReference type",
        ),
        ("pattern: '['", "InvalidPattern '['"),
        ("patternProperties: {'[': {}}", "InvalidPattern '['"),
        ("[]", "WrongValue []"),
    ] {
        assert_eq!(faults(schema), [expected], "{schema}");
    }
}

#[test]
fn valid_schema_has_no_faults() {
    for schema in [
        "{}",
        "$schema: http://json-schema.org/schema#\ntitle: a\ndescription: b\ndefault: {type: 1}\n\
         id: c\nformat: email\ndefinitions: {}",
        "x-comment: {type: string}\nexamples: [1]",
        "definitions: {a: {}}\nproperties: {a: {$ref: '#/definitions/a', description: x}}",
        "types: {a: {type: string}}\nproperties: {a: {$ref: '#/types/a'}}",
        "$defs: {a: {type: string}}\nproperties: {a: {$ref: '#/$defs/a'}}",
        "id: http://example.com/x\ndefinitions: {a: {}}\n\
         items: {$ref: 'http://example.com/x#/definitions/a'}",
    ] {
        assert_eq!(faults(schema), [""; 0], "{schema}");
    }
}

#[test]
fn rest_of_a_faulty_schema_is_used() {
    for faulty in [
        "a: {$ref: '#/definitions/a'}",
        "a: {$ref: http://127.0.0.1:9/x}",
        "a: {$ref: 'http://json-schema.org/draft-04/schema#'}",
        "a: {pattern: '['}",
        "a: {type: strnig}",
        "a: {required: true}",
        "a: {patternProperties: {'(?P<n>a)(?P=n)': {}}}",
        "a: 1",
    ] {
        let (schema, problems) = Schema::compile(&node(&format!(
            "properties: {{{faulty}, b: {{type: string}}}}"
        )));
        assert!(!problems.is_empty() || faulty.contains("?P"), "{faulty}");
        let violations = schema.violations(&node("{a: 1, b: 1}"));
        let places: Vec<String> = violations
            .iter()
            .map(|violation| violation.location.to_string())
            .collect();
        // A value that meets a dead reference is refused; other faults accept every value.
        let is_dead = faulty.contains("definitions") || faulty.contains("127.0.0.1");
        let expected: &[&str] = if is_dead { &[".a", ".b"] } else { &[".b"] };
        assert_eq!(places, expected, "{faulty}");
    }
}

#[test]
fn target_of_a_reference_may_be_anywhere() {
    let schema = "types: {a: {type: string}, b: {requried: [a]}}\nproperties: {a: {$ref: '#/types/a'}, b: {$ref: '#/types/b'}}";
    assert_eq!(faults(schema), ["UnknownKeyword requried"]);
    let (schema, _) = Schema::compile(&node(schema));
    assert_eq!(schema.violations(&node("a: 1")).len(), 1);
}

#[test]
fn validation_always_terminates() {
    let loops = "definitions: {a: {$ref: '#/definitions/b'}, b: {$ref: '#/definitions/a'}}\n\
                 $ref: '#/definitions/a'";
    let (schema, _) = Schema::compile(&node(loops));
    assert_eq!(schema.violations(&node("1")), []);
    let slow = format!("{}b", "a".repeat(5000));
    let (schema, problems) = Schema::compile(&node("pattern: '^(?=(a+)+$)(a|a)+$'"));
    assert_eq!(problems, []);
    let violations = schema.violations(&node(&slow));
    assert!(
        matches!(
            violations[0].wrong,
            Wrong::TooManySteps { .. } | Wrong::Unmatched { .. }
        ),
        "{violations:?}"
    );
    let deep = format!("{}{}", "[".repeat(250), "]".repeat(250));
    let (schema, _) = Schema::compile(&node("type: array\nitems: {$ref: '#'}"));
    assert_eq!(schema.violations(&node(&deep)), []);
    let deep = format!(
        "{}{{type: string}}{}",
        "{not: ".repeat(250),
        "}".repeat(250)
    );
    let (schema, problems) = Schema::compile(&node(&deep));
    assert_eq!((problems, schema.violations(&node("a"))), (vec![], vec![]));
    assert_eq!(schema.violations(&node("1")).len(), 1);
}

/// Deckhand would not terminate on them either.
#[test]
fn schema_that_multiplies_itself_terminates() {
    let chain = |length: usize, times: usize| {
        let mut text = "$ref: '#/definitions/a0'\ndefinitions:\n".to_owned();
        for level in 0..length {
            let next = format!("{{$ref: '#/definitions/a{}'}}", level + 1);
            text += &format!(
                "  a{level}: {{allOf: [{}]}}\n",
                vec![next; times].join(", ")
            );
        }
        text + &format!("  a{length}: {{type: string}}\n")
    };
    for (length, times) in [(60, 2), (5000, 1)] {
        let (schema, problems) = Schema::compile(&node(&chain(length, times)));
        assert!(
            matches!(
                problems[..],
                [SchemaProblem {
                    fault: SchemaFault::TooLarge,
                    ..
                }]
            ),
            "{problems:?}"
        );
        assert_eq!(schema.violations(&node("1")), []);
    }
    let (schema, problems) = Schema::compile(&node(&chain(60, 1)));
    assert_eq!((problems, schema.violations(&node("a"))), (vec![], vec![]));
    assert_eq!(schema.violations(&node("1")).len(), 1);
}

#[test]
fn validation_stops_if_a_schema_multiplies_itself() {
    let twice = "{properties: {a: {$ref: '#'}}}";
    let tree = format!("type: object\nallOf: [{twice}, {twice}]");
    let (schema, problems) = Schema::compile(&node(&tree));
    assert_eq!(problems, []);
    let value = |depth: usize| node(&format!("{}1{}", "{a: ".repeat(depth), "}".repeat(depth)));
    assert!(matches!(
        schema.violations(&value(3))[..],
        [Violation { .. }, ..]
    ));
    let violations = schema.violations(&value(60));
    assert!(
        matches!(
            violations[..],
            [Violation {
                wrong: Wrong::Unfinished,
                ..
            }]
        ),
        "it ends"
    );
}

#[test]
fn violations_of_one_document_are_limited() {
    let items = format!("[{}]", vec!["x"; 300].join(", "));
    let text = format!(
        "{POLICY}{}{}",
        schema_of_racks("{items: {type: integer}}"),
        rack(
            "many",
            "abstract: false, layer: site",
            &format!("{{units: {items}}}")
        )
    );
    let tree = MemoryTree::new().with("all.yaml", text);
    let checked = check_files(&tree, options(Semantics::Documented), |_| ());
    let found = checked.findings.diagnostics.iter();
    let found: Vec<_> = found
        .filter(|finding| finding.rule.name == "schema-violation")
        .collect();
    assert_eq!(found.len(), 200);
    let more = "the document has 100 more violations";
    assert_eq!(
        found
            .iter()
            .filter(|finding| finding.notes.iter().any(|it| it == more))
            .count(),
        1
    );
}

#[test]
fn oversized_schema_is_not_used() {
    let mut text = "a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n".to_owned();
    for (of, name) in ["a", "b", "c", "d", "e"]
        .into_iter()
        .zip(["b", "c", "d", "e", "f"])
    {
        text += &format!(
            "{name}: &{name} [{}]\n",
            vec![format!("*{of}"); 10].join(", ")
        );
    }
    let (schema, problems) = Schema::compile(&node(&format!("type: object\n{text}")));
    assert!(
        matches!(
            problems[..],
            [SchemaProblem {
                fault: SchemaFault::TooLarge,
                ..
            }]
        ),
        "{problems:?}"
    );
    assert_eq!(schema.violations(&node("1")), []);
}

const POLICY: &str = "---\nschema: deckhand/LayeringPolicy/v1\n\
    metadata: {schema: metadata/Control/v1, name: policy}\ndata: {layerOrder: [global, site]}\n";

fn rack(name: &str, layering: &str, data: &str) -> String {
    format!(
        "---\nschema: example/Rack/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: {name}\n  \
         storagePolicy: cleartext\n  labels: {{name: {name}}}\n  \
         layeringDefinition: {{{layering}}}\ndata: {data}\n"
    )
}

fn schema_of_racks(units: &str) -> String {
    format!(
        "---\nschema: deckhand/DataSchema/v1\n\
         metadata: {{schema: metadata/Control/v1, name: example/Rack/v1}}\n\
         data: {{properties: {{units: {units}, other: {{}}}}}}\n"
    )
}

/// A repository in which a site document is merged into one of `global/`.
fn repository(units: &str, parent: &str) -> MemoryTree {
    let child = "abstract: false, layer: site, parentSelector: {name: parent}, \
                 actions: [{method: merge, path: .}]";
    let definition = "---\nschema: pegleg/SiteDefinition/v1\nmetadata:\n  \
                      schema: metadata/Document/v1\n  name: one\n  storagePolicy: cleartext\n  \
                      layeringDefinition: {abstract: false, layer: site}\n\
                      data: {site_type: foundry}\n";
    MemoryTree::new()
        .with("global/policy.yaml", POLICY)
        .with("global/schema.yaml", schema_of_racks(units))
        .with(
            "global/parent.yaml",
            rack("parent", "abstract: true, layer: global", parent),
        )
        .with(
            "type/foundry/other.yaml",
            rack("other", "abstract: false, layer: site", "{}"),
        )
        .with("site/one/site-definition.yaml", definition)
        .with("site/one/child.yaml", rack("child", child, "{}"))
}

/// New violations, each with the places of the edits that caused it.
fn new_violations(base: &MemoryTree, head: &MemoryTree) -> Vec<(String, Vec<String>)> {
    let options = options(Semantics::Documented);
    let (selectors, gates) = (Selectors::default(), Gates::default());
    let compared = compare_files(
        base,
        head,
        options,
        &selectors,
        &ConfigurationSource::Root,
        &gates,
    );
    let findings = &compared.findings;
    let found = findings.new.diagnostics.iter().zip(&findings.causes);
    let found = found.filter(|(finding, _)| finding.rule.name == "schema-violation");
    let rows = found.map(|(finding, causes)| {
        let edits = causes
            .iter()
            .map(|id| &compared.comparison.edits[id.index()].edit);
        let places = edits.map(|edit| format!("{} {}", edit.document.schema, edit.location));
        // The first place wrote the value, and the last document has it.
        let document = finding
            .documents
            .last()
            .expect("a violation is of a document");
        (document.name.to_string(), places.collect())
    });
    rows.collect()
}

/// Other edits beside the causes, so that the right one has to be found among several.
#[test]
fn violation_in_an_unedited_document_names_the_edit_that_caused_it() {
    let base = repository("{type: integer}", "{units: 64, other: 1}");
    let by_schema = repository("{type: integer, maximum: 48}", "{units: 64, other: 2}");
    assert_eq!(
        new_violations(&base, &by_schema),
        [(
            "child".to_owned(),
            vec!["deckhand/DataSchema/v1 .properties.units.maximum".to_owned()]
        )]
    );
    let by_parent = repository("{type: integer, minimum: 1}", "{units: many, other: 1}");
    assert_eq!(
        new_violations(&base, &by_parent),
        [(
            "child".to_owned(),
            vec!["example/Rack/v1 .units".to_owned()]
        )]
    );
    assert_eq!(new_violations(&by_schema, &by_schema), []);
}

#[test]
fn misspelled_keyword_is_reported_with_a_suggestion() {
    let (_, problems) = Schema::compile(&node("requried: [a]"));
    let SchemaFault::UnknownKeyword { near, .. } = &problems[0].fault else {
        panic!("{problems:?}")
    };
    assert_eq!(*near, Some("required"));
}
