//! Cases in which layercake once differed from Deckhand, cloud-init, PyYAML or jsonschema.
//!
//! Expected results were recorded with Deckhand 08728d3, cloud-init 04eacd06e, PyYAML 6.0.3 with
//! libyaml and jsonschema 4.26.0.

use serde_json::{Value as Json, json};

use crate::cli::Sandbox;

const POLICY: &str = "---\nschema: deckhand/LayeringPolicy/v1\n\
    metadata: {schema: metadata/Control/v1, name: policy}\n\
    data: {layerOrder: [global, site]}\n";

/// A document in the layer `site`, with more metadata.
fn document(name: &str, more: &str, data: &str) -> String {
    in_layer("site", name, "", more, data)
}

fn in_layer(layer: &str, name: &str, layering: &str, more: &str, data: &str) -> String {
    format!(
        "---\nschema: example/Kind/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: {name}\n  \
         storagePolicy: cleartext\n  layeringDefinition: {{layer: {layer}{layering}}}\n{more}\
         data: {data}\n"
    )
}

/// A document `target` into which the value of `source` is substituted.
fn substituted(value: &str, destination: &str, data: &str) -> String {
    let source = document("source", "", value);
    let more = format!(
        "  substitutions:\n  - src: {{schema: example/Kind/v1, name: source, path: .}}\n    \
         dest: {destination}\n"
    );
    source + &document("target", &more, data)
}

/// A document `target` that is merged into a parent by one action.
fn layered(method: &str, path: &str, parent: &str, child: &str) -> String {
    let labels = "  labels: {is: parent}\n";
    let layering =
        format!(", parentSelector: {{is: parent}}, actions: [{{method: {method}, path: {path}}}]");
    in_layer("global", "parent", "", labels, parent)
        + &in_layer("site", "target", &layering, "", child)
}

/// Findings in documents, and the data of the output `target` as Deckhand renders it.
struct Outcome {
    /// Rule and level of each finding.
    findings: Vec<(String, String)>,
    text: String,
    target: Json,
}

impl Outcome {
    fn of(documents: &str, semantics: &str) -> Self {
        let sandbox = Sandbox::outside_git();
        sandbox.write("in.yaml", format!("{POLICY}{documents}"));
        let options = ["--set", "in.yaml", "--isolated", "--semantics", semantics];
        let linted = sandbox.run(&[&["lint", "-o", "json"], &options[..]].concat());
        assert!(linted.code < 2, "{linted:?}");
        let findings = linted.json()["findings"].as_array().unwrap().clone();
        let text = |finding: &Json, key: &str| finding[key].as_str().unwrap().to_owned();
        let findings = findings
            .iter()
            .map(|it| (text(it, "rule"), text(it, "severity")))
            .collect();
        let verb = ["render", "--show-secrets", "--format", "json"];
        let rendered = sandbox.run(&[&verb[..], &options[..]].concat()).json();
        let documents = rendered["sites"][0]["documents"].as_array().unwrap();
        let target = documents
            .iter()
            .find(|document| document["name"] == "target");
        let target = target.map_or(Json::Null, |target| target["data"].clone());
        Self {
            findings,
            text: sandbox.run(&[&["lint"], &options[..]].concat()).stdout,
            target,
        }
    }

    fn rules(&self) -> Vec<&str> {
        self.findings
            .iter()
            .map(|(rule, _)| rule.as_str())
            .collect()
    }

    fn has_error(&self, rule: &str) -> bool {
        self.findings
            .iter()
            .any(|(name, level)| name == rule && level == "error")
    }
}

#[test]
fn destination_without_a_leading_dot_is_refused() {
    for destination in [
        "{path: url}",
        "{path: url, pattern: WORD}",
        "{path: url, pattern: WORD, recurse: {depth: -1}}",
        "[{path: .other}, {path: \"['url']\", pattern: WORD}]",
    ] {
        let documents = substituted("x", destination, "{url: aWORD}");
        for semantics in ["documented", "deckhand"] {
            let outcome = Outcome::of(&documents, semantics);
            assert!(
                outcome.has_error("invalid-substitution"),
                "{destination} {}",
                outcome.text
            );
            assert_eq!(outcome.target["url"], "aWORD", "{destination}");
        }
    }
}

#[test]
fn action_at_the_root_sign_writes_only_merged_mappings() {
    for (method, parent, child, target) in [
        ("merge", "{a: 1}", "5", json!({"a": 1})),
        ("merge", "[1]", "{a: 1}", json!([1])),
        ("merge", "{a: 1}", "[2]", json!({"a": 1})),
        ("merge", "text", "other", json!("text")),
        (
            "merge",
            "{a: 1, b: {c: 2}}",
            "{b: {d: 3}}",
            json!({"a": 1, "b": {"c": 2, "d": 3}}),
        ),
        ("replace", "{a: 1}", "[2]", json!({"a": 1})),
        ("delete", "[1]", "{}", json!([1])),
    ] {
        let documents = layered(method, "$", parent, child);
        let outcome = Outcome::of(&documents, "deckhand");
        assert_eq!(outcome.target, target, "{method} {parent} {child}");
        let is_mapping = |text: &str| text.starts_with('{');
        let is_same = method == "merge" && is_mapping(parent) && is_mapping(child);
        assert_eq!(
            outcome.rules().contains(&"different-path"),
            !is_same,
            "{}",
            outcome.text
        );
    }
}

#[test]
fn action_at_the_root_sign_needs_a_value() {
    for (method, parent, child) in [
        ("merge", "{a: 1}", "null"),
        ("replace", "{a: 1}", "null"),
        ("delete", "null", "{a: 1}"),
    ] {
        let documents = layered(method, "$", parent, child);
        for semantics in ["documented", "deckhand"] {
            let outcome = Outcome::of(&documents, semantics);
            assert!(
                outcome.has_error("missing-action-path"),
                "{method} {}",
                outcome.text
            );
        }
    }
}

#[test]
fn labels_are_scalars() {
    for label in ["[b]", "{b: c}", "[]", "!!set {b}"] {
        let documents = document("target", &format!("  labels: {{a: {label}}}\n"), "{a: 1}");
        assert!(
            Outcome::of(&documents, "documented").has_error("invalid-document"),
            "{label}"
        );
    }
    let documents =
        layered("merge", ".", "{a: 1}", "{b: 1}").replace("{is: parent}, a", "{is: [a]}, a");
    assert!(Outcome::of(&documents, "documented").has_error("invalid-document"));
    let documents = document(
        "target",
        "  labels: {a: 1, b: true, c: 2001-01-01}\n",
        "{a: 1}",
    );
    assert_eq!(Outcome::of(&documents, "documented").rules(), [""; 0]);
}

#[test]
fn pattern_writes_the_text_of_the_first_place_to_all_places() {
    for (path, pattern, data, target) in [
        (".a[*]", "X", "{a: [1X, 2X]}", json!({"a": ["1v", "1v"]})),
        (".a[*]", "Z", "{a: [1X, 2X]}", json!({"a": ["1X", "1X"]})),
        (
            ".a[*].b",
            "X",
            "{a: [{b: X}, {c: 1}, {b: 2}]}",
            json!({"a": [{"b": "v"}, {"c": 1}, {"b": "v"}]}),
        ),
        (".a[0:1]", "X", "{a: [X, X]}", json!({"a": ["v", "X"]})),
        (".a", "Z", "{a: 1X}", json!({"a": "1X"})),
    ] {
        let destination = format!("{{path: '{path}', pattern: {pattern}}}");
        let outcome = Outcome::of(&substituted("v", &destination, data), "deckhand");
        assert_eq!(outcome.target, target, "{path} {pattern} {data}");
        assert_eq!(
            outcome.has_error("unmatched-pattern"),
            pattern == "Z",
            "{}",
            outcome.text
        );
    }
}

#[test]
fn pattern_at_a_character_of_a_string_is_refused() {
    for (path, pattern) in [
        (".a[0]", "X"),
        (".a[0]", "Z"),
        (".a[*]", "X"),
        (".a[-1]", "Y"),
    ] {
        let destination = format!("{{path: '{path}', pattern: {pattern}}}");
        let outcome = Outcome::of(&substituted("v", &destination, "{a: XY}"), "deckhand");
        assert!(
            outcome.has_error("invalid-substitution"),
            "{path} {}",
            outcome.text
        );
        assert_eq!(outcome.target, json!({"a": "XY"}));
    }
}

#[test]
fn unusable_pattern_fails_in_deckhand_only_if_its_text_is_found() {
    let destination = "{path: .a, pattern: '(', recurse: {depth: -1}}";
    let outcome = Outcome::of(&substituted("v", destination, "{b: 1}"), "deckhand");
    assert_eq!(outcome.target, json!({"b": 1, "a": {}}));
    assert!(outcome.has_error("invalid-pattern"));
    assert!(
        !outcome.text.contains("refuses the whole site\n"),
        "{}",
        outcome.text
    );
    let outcome = Outcome::of(&substituted("v", destination, "{a: {b: c}}"), "deckhand");
    assert_eq!(outcome.target, json!({"a": {"b": "c"}}));
    let always = "{path: .a, pattern: '('}";
    let outcome = Outcome::of(&substituted("v", always, "{a: x}"), "deckhand");
    assert!(
        outcome.text.contains("Deckhand refuses the whole site\n"),
        "{}",
        outcome.text
    );
}

#[test]
fn character_names_are_those_of_unicode() {
    for (pattern, target) in [
        ("\\\\N{LATIN SMALL LETTER U WITH DIAERESIS}", "x-x"),
        ("[\\\\N{latin small letter u with diaeresis}-]+", "x"),
        ("\\\\N{HYPHEN-MINUS}", "üxü"),
    ] {
        let destination = format!(r#"{{path: .a, pattern: "{pattern}"}}"#);
        let outcome = Outcome::of(&substituted("x", &destination, "{a: ü-ü}"), "deckhand");
        assert_eq!(outcome.target, json!({"a": target}), "{pattern}");
    }
    let alias = r#"{path: .a, pattern: "\\N{LINE FEED}"}"#;
    let outcome = Outcome::of(&substituted("v", alias, "{a: x}"), "deckhand");
    assert!(outcome.has_error("invalid-pattern"));
    assert!(
        outcome.text.contains("Deckhand's code applies it"),
        "{}",
        outcome.text
    );
}

#[test]
fn four_letters_match_i_if_case_is_ignored() {
    for (pattern, target) in [
        ("(?i)i", "x x x x k"),
        ("(?i)İ", "x x x x k"),
        ("(?i)[h-j]", "x x x x k"),
        ("(?i)[^i ]", "İ i I ı x"),
        ("(?ia)i", "İ x x ı k"),
        ("i", "İ x I ı k"),
        ("(?i)\\x69", "x x x x k"),
    ] {
        let destination = format!("{{path: .a, pattern: '{pattern}'}}");
        let documents = substituted("x", &destination, "{a: İ i I ı k}");
        assert_eq!(
            Outcome::of(&documents, "deckhand").target,
            json!({"a": target}),
            "{pattern}"
        );
    }
}

#[test]
fn finding_names_the_value_left_by_a_missing_pattern_target() {
    for (path, recursion, left, words) in [
        (
            ".b.c",
            "",
            json!({"b": {"c": {}}}),
            "`{}` is left there; Deckhand refuses the whole site",
        ),
        (
            ".c",
            "",
            json!({"b": {}}),
            "nothing is written; Deckhand refuses the whole site",
        ),
        (
            ".c",
            ", recurse: {depth: 1}",
            json!({"b": {}, "c": {}}),
            "`{}` is left there, as Deckhand",
        ),
    ] {
        let destination = format!("{{path: {path}, pattern: P{recursion}}}");
        let outcome = Outcome::of(&substituted("v", &destination, "{b: {}}"), "deckhand");
        assert_eq!(outcome.target, left);
        let text = outcome
            .text
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn keys_of_several_types_matter_only_if_a_label_is_found() {
    let documents = layered("merge", ".", "{a: 1}", "{1: a, b: c}");
    assert!(Outcome::of(&documents, "documented").has_error("mixed-keys"));
    let alone = documents.replace("labels: {is: parent}", "labels: {is: other}");
    assert_eq!(
        Outcome::of(&alone, "documented").rules(),
        ["missing-parent"]
    );
}

/// A DataSchema for the documents of these tests.
fn schema(schema: &str) -> String {
    format!(
        "---\nschema: deckhand/DataSchema/v1\n\
         metadata: {{schema: metadata/Control/v1, name: example/Kind/v1}}\ndata: {schema}\n"
    )
}

#[test]
fn circular_reference_is_an_error() {
    for text in [
        "{$ref: '#'}",
        "{allOf: [{$ref: '#'}]}",
        "{properties: {a: {$ref: '#/definitions/b'}}, \
         definitions: {b: {anyOf: [{$ref: '#/definitions/b'}]}}}",
    ] {
        let outcome = Outcome::of(
            &(schema(text) + &document("target", "", "{a: 1}")),
            "deckhand",
        );
        assert!(
            outcome.has_error("invalid-schema"),
            "{text} {}",
            outcome.text
        );
    }
    let recursive = schema("{properties: {a: {$ref: '#'}}, type: object}");
    let outcome = Outcome::of(
        &(recursive + &document("target", "", "{a: {}}")),
        "deckhand",
    );
    assert_eq!(outcome.rules(), [""; 0]);
}

#[test]
fn dead_reference_is_an_error_if_a_value_meets_it() {
    let dead = schema("{properties: {a: {$ref: '#/definitions/nope'}}}");
    let outcome = Outcome::of(
        &(dead.clone() + &document("target", "", "{a: 1}")),
        "deckhand",
    );
    assert!(outcome.has_error("schema-violation"), "{}", outcome.text);
    let outcome = Outcome::of(&(dead + &document("target", "", "{b: 1}")), "deckhand");
    assert_eq!(outcome.rules(), ["unresolved-schema-reference"]);
}

#[test]
fn equal_numbers_are_one_value_of_an_enumeration() {
    for (values, is_unusable) in [
        ("[1, 1.0]", true),
        ("[[1], [1.0]]", true),
        ("[1, true]", false),
        ("[1, '1']", false),
    ] {
        let schema = schema(&format!("{{properties: {{b: {{enum: {values}}}}}}}"));
        let outcome = Outcome::of(&(schema + &document("target", "", "{a: 1}")), "deckhand");
        assert_eq!(
            outcome.has_error("invalid-schema"),
            is_unusable,
            "{values} {}",
            outcome.text
        );
    }
}

#[test]
fn equally_near_alternatives_are_all_named() {
    let tied = "{oneOf: [{required: [a]}, {required: [b]}, {type: string}]}";
    let outcome = Outcome::of(
        &(schema(tied) + &document("target", "", "{c: 1}")),
        "deckhand",
    );
    let text = outcome
        .text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        text.contains("alternatives 1 and 2 of 3 are equally close"),
        "{text}"
    );
    assert!(
        text.contains("for alternative 1, the data lacks `a`"),
        "{text}"
    );
    assert!(
        text.contains("for alternative 2, the data lacks `b`"),
        "{text}"
    );
    assert!(
        text.contains("keys that distinguish them: `.a`, `.b`"),
        "{text}"
    );
    let outcome = Outcome::of(
        &(schema(tied) + &document("target", "", "{a: 1, b: 1}")),
        "deckhand",
    );
    let text = outcome
        .text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(text.contains("alternatives 1 and 2 match"), "{text}");
    assert!(
        text.contains("keys that distinguish them: `a`, `b`"),
        "{text}"
    );
}

#[test]
fn schema_that_applies_to_no_document_is_not_checked() {
    let named = schema("text").replace("name: example/Kind/v1", "name: template");
    let outcome = Outcome::of(&(named + &document("target", "", "{a: 1}")), "deckhand");
    assert_eq!(outcome.rules(), ["unusable-schema-name"]);
}

#[test]
fn at_most_one_of_a_group_may_be_given() {
    let schema = schema(
        "{type: object, properties: {a: {}, b: {}, c: {}}, \
         property_groups: [{not-both: {properties: [a, b], operator: at_most_one}}]}",
    );
    for (data, is_refused) in [("{c: 1}", false), ("{a: 1}", false), ("{a: 1, b: 1}", true)] {
        let outcome = Outcome::of(
            &(schema.clone() + &document("target", "", data)),
            "deckhand",
        );
        assert_eq!(
            outcome.has_error("property-group-violation"),
            is_refused,
            "{}",
            outcome.text
        );
        assert_eq!(outcome.rules().len(), usize::from(is_refused));
    }
}

#[test]
fn group_may_depend_on_a_value() {
    let of = |operand: &str, data: &str| {
        let groups = format!("[{{g: {{properties: [{operand}, address], operator: depends_on}}}}]");
        let schema = schema(&format!(
            "{{type: object, properties: {{mode: {{}}, address: {{}}, nets: {{type: array, items: \
             {{properties: {{mode: {{}}, address: {{}}}}}}}}}}, property_groups: {groups}}}"
        ));
        Outcome::of(&(schema + &document("target", "", data)), "deckhand")
    };
    let one = "{property: mode, is: static}";
    let several = "{property: [mode], is: [static, 4, true]}";
    for (operand, data, is_refused) in [
        (one, "{mode: static}", true),
        (one, "{mode: static, address: a}", false),
        (one, "{mode: dhcp}", false),
        (one, "{address: a}", false),
        (one, "{mode: null}", false),
        (several, "{mode: 4}", true),
        (several, "{mode: '4'}", false),
        (several, "{mode: true}", true),
        (several, "{mode: static, address: a}", false),
    ] {
        let outcome = of(operand, data);
        let refused = outcome.has_error("property-group-violation");
        assert_eq!(refused, is_refused, "{operand} {data} {}", outcome.text);
        assert_eq!(
            outcome.rules().len(),
            usize::from(is_refused),
            "{}",
            outcome.text
        );
    }
    let text = of(one, "{mode: static}").text;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("has `mode = static` without `address`"),
        "{text}"
    );
    for wrong in [
        "{property: mode}",
        "{property: mode, is: []}",
        "{property: mode, is: {a: 1}}",
        "{property: mode, is: null}",
        "{property: mode, is: a, more: b}",
        "{property: property_groups.g, is: a}",
        "{property: 1, is: a}",
    ] {
        assert!(
            of(wrong, "{}").has_error("invalid-property-group"),
            "{wrong}"
        );
    }
    assert!(of("{property: modes, is: a}", "{}").has_error("invalid-property-group"));
}

/// Each item of a list is checked by itself, and a secret is not named.
#[test]
fn condition_applies_to_each_item_and_hides_secrets() {
    let groups = "property_groups: [{g: {properties: [{property: nets.mode, is: static}, \
                  nets.address], operator: depends_on}}]";
    let schema = schema(&format!(
        "{{type: object, properties: {{nets: {{type: array, items: {{type: object, properties: \
         {{mode: {{}}, address: {{}}}}}}}}}}, {groups}}}"
    ));
    let nets = "{nets: [{mode: static, address: a}, {mode: static}, {mode: dhcp}]}";
    let outcome = Outcome::of(
        &(schema.clone() + &document("target", "", nets)),
        "deckhand",
    );
    assert_eq!(
        outcome.rules(),
        ["property-group-violation"],
        "{}",
        outcome.text
    );
    let secret = document("source", "", "static")
        .replace("storagePolicy: cleartext", "storagePolicy: encrypted")
        .replace("example/Kind/v1", "deckhand/Passphrase/v1");
    let more = "  substitutions:\n  - src: {schema: deckhand/Passphrase/v1, name: source, path: .}\n    \
                dest: {path: '.nets[0].mode'}\n";
    let target = document("target", more, "{nets: [{mode: x}]}");
    let outcome = Outcome::of(&(schema + &secret + &target), "deckhand");
    assert_eq!(
        outcome.rules(),
        ["property-group-violation"],
        "{}",
        outcome.text
    );
    assert!(!outcome.text.contains("mode = static"), "{}", outcome.text);
}

#[test]
fn version_beyond_a_list_is_refused_with_the_key_that_allows_it() {
    let documents = schema(
        "{type: object, properties: {a: {}, b: {}}, property_groups: \
         [{g: {properties: [a, b], operator: or, client_plugin_supported: [1.1, 1.2]}}]}",
    ) + &document("target", "", "{a: 1}");
    for (version, has_key) in [("1.3", true), ("1.0", false)] {
        let sandbox = Sandbox::outside_git();
        sandbox.write("in.yaml", format!("{POLICY}{documents}"));
        sandbox.write("layercake.yaml", format!("client-version: \"{version}\"\n"));
        let ran = sandbox.run(&["lint", "--set", "in.yaml", "--config", "layercake.yaml"]);
        assert!(ran.stdout.contains("unsupported-property"), "{ran:?}");
        let key = ran.stdout.contains("client_plugin_supported_since: 1.2");
        assert_eq!(key, has_key, "{ran:?}");
    }
}

/// Result of merging files, each given with its option, and the findings.
pub fn merged(files: &[(&str, &str)], more: &[&str]) -> (String, String) {
    let sandbox = Sandbox::outside_git();
    let mut arguments = vec!["cloud-config", "--isolated"];
    for (option, text) in files {
        let name = option.trim_start_matches('-');
        sandbox.write(name, text);
        arguments.extend(option.starts_with("--").then_some(*option));
        arguments.push(name);
    }
    arguments.extend(more);
    let ran = sandbox.run(&arguments);
    (ran.stdout, ran.stderr)
}

#[test]
fn message_in_a_message_is_merged() {
    let part = "Content-Type: text/cloud-config\n\n#cloud-config\na: 1\n";
    let appended = "Content-Type: text/cloud-config\n\n\
                    merge_how: dict(recurse_list)+list(append)\nl: [1]\n";
    let outer = |inner: &str| {
        format!(
            "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\
             Content-Type: message/rfc822\n\n{inner}\n--b--\n"
        )
    };
    let nested = format!("Content-Type: message/rfc822\n\n{part}");
    for inner in [part, &nested] {
        let (output, found) = merged(&[("--user-data", &outer(inner))], &[]);
        assert_eq!((&*output, &*found), ("#cloud-config\na: 1\n", ""));
    }
    let nested = format!("Content-Type: message/rfc822\n\n{appended}");
    for (inner, times) in [(appended, 2), (&nested, 3)] {
        let (output, found) = merged(&[("--user-data", &outer(inner))], &[]);
        assert_eq!(
            output,
            format!("#cloud-config\nl:\n{}", "- 1\n".repeat(times)),
            "{found}"
        );
    }
}

#[test]
fn last_part_skips_nothing_in_the_documented_dialect() {
    let last = "#cloud-config\na: 2\nmerge_how: str(append)\n";
    let parts = [("p1", "#cloud-config\nb: 1\n"), ("p2", last)];
    let (_, found) = merged(&parts, &["--dialect", "documented"]);
    assert!(!found.contains("missing-merge-class"), "{found}");
    let parts = [("p1", last), ("p2", "#cloud-config\nb: 1\n")];
    let (_, found) = merged(&parts, &["--dialect", "documented"]);
    assert!(found.contains("missing-merge-class"), "{found}");
}

#[test]
fn surrogate_escapes_are_reported_and_the_other_keys_are_merged() {
    let text = "#cloud-config\na: \"\\ud83d\\ude00\"\nb: 1\n";
    let (output, found) = merged(&[("--user-data", text)], &[]);
    assert_eq!(output, "#cloud-config\na: 😀\nb: 1\n");
    assert!(found.contains("warning[invalid-scalar]"), "{found}");
    let single = text.replace("\\ud83d", "");
    let (output, found) = merged(&[("--user-data", &single)], &[]);
    assert_eq!(output, "#cloud-config\na: \u{fffd}\nb: 1\n");
    assert!(found.contains("warning[invalid-scalar]"), "{found}");
}

#[test]
fn other_files_of_conf_d_are_not_read() {
    let sandbox = Sandbox::outside_git();
    sandbox.write("conf.d/10.cfg", "a: 1\n");
    sandbox.write("conf.d/README", "# Only *.cfg\nis read.\n");
    let ran = sandbox.run(&["cloud-config", "--isolated", "--conf-d", "conf.d"]);
    assert_eq!(
        (ran.code, &*ran.stdout, &*ran.stderr),
        (0, "#cloud-config\na: 1\n", "")
    );
}

#[test]
fn disabled_handlers_of_vendor_data_are_honoured() {
    let vendor = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\
                  Content-Type: text/cloud-config\n\nb: 2\n--b\n\
                  Content-Type: text/cloud-config-jsonp\n\n\
                  [{\"op\": \"add\", \"path\": \"/c\", \"value\": 3}]\n--b--\n";
    let used = |user: &str, base: &str, option: &'static str| {
        let user = format!("#cloud-config\n{user}\n");
        let files = [("--user-data", &*user), ("--base", base), (option, vendor)];
        let (output, found) = merged(&files, &[]);
        (output.contains("b: 2"), output.contains("c: 3"), found)
    };
    for (setting, is_config, is_patch) in [
        ("[text/cloud-config]", false, true),
        ("[text/cloud-config, text/cloud-config-jsonp]", false, false),
        ("[TEXT/cloud-config, cloud-config]", true, true),
        ("text/cloud-config-jsonp", false, false),
        ("{text/cloud-config-jsonp: 1}", true, false),
        ("!!set {text/cloud-config}", false, true),
        ("null", true, true),
        ("[[text/cloud-config]]", true, true),
        ("false", false, false),
        ("5", false, false),
    ] {
        for (key, option) in [
            ("vendor_data", "--vendor-data"),
            ("vendor_data2", "--vendor-data2"),
        ] {
            let base = format!("{key}: {{disabled_handlers: {setting}}}\n");
            let (config, patch, found) = used("a: 1", &base, option);
            assert_eq!((config, patch), (is_config, is_patch), "{setting}: {found}");
            assert_eq!(
                found.contains("unused-vendor-data"),
                !config || !patch,
                "{found}"
            );
            // The setting of user-data has the higher priority.
            let (config, patch, _) =
                used(&base, &format!("{key}: {{disabled_handlers: []}}"), option);
            assert_eq!((config, patch), (is_config, is_patch), "{setting}");
        }
    }
}

#[test]
fn part_handlers_are_reported() {
    let user_data = |handler: &str, encoding: &str| {
        format!(
            "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\
             Content-Type: text/cloud-config\n\na: 1\n--b\n\
             Content-Type: text/part-handler\n{encoding}\n{handler}\n--b\n\
             Content-Type: text/x-own\n\nx\n--b\nContent-Type: text/cloud-config\n\nb: 1\n--b--\n"
        )
    };
    let sound = "def list_types():\n    return ['text/x-own']\n\ndef handle_part(*part):\n    pass";
    let (output, found) = merged(&[("--user-data", &user_data(sound, ""))], &[]);
    assert_eq!(output, "#cloud-config\na: 1\nb: 1\n");
    assert!(found.contains("note[unexecuted-part-handler]"), "{found}");
    assert!(!found.contains("unrecognized-part"), "{found}");
    // cloud-init does not register it, and continues.
    let (output, found) = merged(&[("--user-data", &user_data("import os", ""))], &[]);
    assert_eq!(output, "#cloud-config\na: 1\nb: 1\n");
    assert!(found.contains("error[unexecuted-part-handler]"), "{found}");
    assert!(found.contains("unknown content type"), "{found}");
    // `# é` in Latin-1: `write_file` raises, after the first part has been merged.
    let latin = user_data("IyDpCg==", "Content-Transfer-Encoding: base64\n");
    let (output, found) = merged(&[("--user-data", &latin)], &[]);
    assert_eq!(output, "#cloud-config\na: 1\n");
    assert!(found.contains("error[unexecuted-part-handler]"), "{found}");
}

#[test]
fn folded_text_drops_a_space_after_a_line_separator() {
    let text = "#cloud-config\na: '\u{2028} x'\nb: 1\n";
    let (output, found) = merged(&[("--user-data", text)], &["--format", "json"]);
    let data: Json = serde_json::from_str(&output).unwrap();
    let data = &data["sites"][0]["documents"][0]["data"];
    assert_eq!(*data, json!({"a": "\u{2028}x", "b": 1}), "{found}");
}

/// A part with this transfer encoding.
fn encoded(encoding: &str, body: &str) -> String {
    format!(
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=BB\n\n--BB\n\
         Content-Type: text/cloud-config\nContent-Transfer-Encoding: {encoding}\n\n{body}\n--BB--\n"
    )
}

const UUENCODED: &str = "3(V-L;W5D+6-O;F9I9PIA.B Q\"@  ";

#[test]
fn part_in_uuencode_is_decoded() {
    for encoding in ["x-uuencode", "uuencode", "uue", "X-UUE"] {
        let body = format!("begin 644 x\n{UUENCODED}\n`\nend\n");
        let (output, found) = merged(&[("--user-data", &encoded(encoding, &body))], &[]);
        assert_eq!(
            (&*output, &*found),
            ("#cloud-config\na: 1\n", ""),
            "{encoding}"
        );
    }
    for body in [
        format!("begin 644 x\n{UUENCODED}"),
        format!("hello\nbegin 99 y\nbegin 0o6_44 x\n{UUENCODED}\nend"),
        format!("begin 644 x\n{UUENCODED}XX\nend\nbehind"),
        format!("begin 644 x\n{}\n \tend", UUENCODED.trim_end()),
        format!("begin 644 x\r\n{UUENCODED}\r\n`\r\nend\r\n"),
    ] {
        let (output, found) = merged(&[("--user-data", &encoded("uue", &body))], &[]);
        assert_eq!((&*output, &*found), ("#cloud-config\na: 1\n", ""), "{body}");
    }
}

#[test]
fn part_with_invalid_uuencode_is_read_unchanged() {
    let illegal = UUENCODED.replace(';', "~");
    for body in [
        format!("begin 644 x\n\n{UUENCODED}\nend"),
        format!("begin 999 x\n{UUENCODED}\nend"),
        format!("begin 644 x\n{illegal}\nend"),
    ] {
        let (output, found) = merged(&[("--user-data", &encoded("uue", &body))], &[]);
        assert_eq!(output, "#cloud-config\n{}\n", "{found}");
        assert!(
            found.contains("broken-mime") && found.contains("not valid uuencode"),
            "{found}"
        );
    }
    let (output, found) = merged(&[("--user-data", &encoded("uue", "a: 1"))], &[]);
    assert_eq!(output, "#cloud-config\na: 1\n");
    assert!(found.contains("broken-mime"), "{found}");
}

#[test]
fn both_keys_of_the_base_are_removed() {
    let joining = "dict(recurse_list)+list(append)";
    let base = format!("a: [1]\nmerge_how: dict()\nmerge_type: {joining}\n");
    let user_data = ("--user-data", "#cloud-config\na: [2]\n");
    let (output, found) = merged(&[("--base", &base), user_data], &[]);
    assert_eq!(output, "#cloud-config\na:\n- 2\n", "{found}");
    let (output, found) = merged(&[("--base", &base)], &[]);
    assert_eq!(output, "#cloud-config\na:\n- 1\n", "{found}");
    assert!(found.contains("leaked-merge-type"), "{found}");
    let (output, _) = merged(
        &[("--base", &format!("merge_type: {joining}\na: [1]\n"))],
        &[],
    );
    assert_eq!(output, "#cloud-config\na:\n- 1\n");
}

#[test]
fn both_keys_of_conf_d_are_removed() {
    let sandbox = Sandbox::outside_git();
    let joining = "dict(recurse_list)+list(append)";
    let both = format!("a: [1]\nmerge_how: dict()\nmerge_type: {joining}\n");
    sandbox.write("conf.d/10-a.cfg", &both);
    sandbox.write("cloud.cfg", "a: [3]\n");
    sandbox.write("user", "#cloud-config\na: [2]\n");
    let all = [
        "cloud-config",
        "--isolated",
        "--conf-d",
        "conf.d",
        "--user-data",
        "user",
    ];
    for base in [&[][..], &["--base", "cloud.cfg"]] {
        let ran = sandbox.run(&[&all[..], base].concat());
        assert_eq!(ran.stdout, "#cloud-config\na:\n- 2\n", "{}", ran.stderr);
    }
    sandbox.write("cloud.cfg", &both);
    let ran = sandbox.run(&[&all[..], &["--base", "cloud.cfg"]].concat());
    assert_eq!(ran.stdout, "#cloud-config\na:\n- 2\n", "{}", ran.stderr);
}

#[test]
fn second_key_without_dict_loses_the_base() {
    let base = "a: [1]\nmerge_how: dict()\nmerge_type: list(append)\n";
    let (output, found) = merged(&[("--base", base)], &[]);
    assert_eq!(output, "#cloud-config\n{}\n");
    assert!(found.contains("all of cloud.cfg is lost"), "{found}");
}
