//! Readers of formats, as strict as the programs that the formats are for.

use std::collections::{BTreeMap, BTreeSet};

use roxmltree::{Document, Node};
use serde_json::Value as Json;

/// Workflow command as parsed by the GitHub runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub name: String,
    pub properties: BTreeMap<String, String>,
    pub data: String,
}

/// Commands of a log, each line of which must be an annotation.
#[track_caller]
pub fn annotations(log: &str) -> Vec<Command> {
    let commands: Vec<Command> = log
        .lines()
        .map(|line| command(line).unwrap_or_else(|| panic!("no command: {line:?}")))
        .collect();
    let known: BTreeSet<&str> = ["file", "line", "endLine", "col", "endColumn", "title"]
        .into_iter()
        .collect();
    for Command {
        name, properties, ..
    } in &commands
    {
        assert!(
            ["error", "warning", "notice"].contains(&name.as_str()),
            "{name}"
        );
        assert!(
            properties.keys().all(|key| known.contains(key.as_str())),
            "{properties:?}"
        );
        let number = |key: &str| properties.get(key).map(|it| it.parse::<usize>().unwrap());
        // Commands that the runner would discard: `ValidateLinesAndColumns`.
        assert_eq!(
            properties.contains_key("file"),
            properties.contains_key("line")
        );
        assert!(number("endLine").is_none_or(|end| Some(end) == number("line")));
        assert!(number("endColumn").is_none_or(|end| Some(end) >= number("col")));
    }
    for name in ["error", "warning", "notice"] {
        assert!(
            commands.iter().filter(|it| it.name == name).count() <= 10,
            "{log}"
        );
    }
    commands
}

/// Parses a line like `ActionCommand.TryParseV2` of the runner; `None` if the runner would print
/// the line unchanged.
pub fn command(line: &str) -> Option<Command> {
    let rest = line.trim_start().strip_prefix("::")?;
    let (head, data) = rest.split_once("::")?;
    let (name, properties) = head.split_once(' ').unwrap_or((head, ""));
    let pairs = properties
        .trim()
        .split(',')
        .filter_map(|pair| pair.split_once('='));
    Some(Command {
        name: name.to_owned(),
        properties: pairs
            .map(|(key, value)| {
                let value = value.replace("%3A", ":").replace("%2C", ",");
                (key.to_owned(), unescaped(&value))
            })
            .collect(),
        data: unescaped(data),
    })
}

fn unescaped(text: &str) -> String {
    text.replace("%0D", "\r")
        .replace("%0A", "\n")
        .replace("%25", "%")
}

/// Issues of a code quality report, in the format that GitLab requires.
#[track_caller]
pub fn issues(text: &str) -> Vec<Json> {
    let schema = include_str!("../../schemas/gitlab-code-quality.schema.json");
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let report: Json = serde_json::from_str(text).unwrap();
    let faults: Vec<String> = validator
        .iter_errors(&report)
        .map(|it| format!("{}: {it}", it.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
    let issues = report.as_array().unwrap().clone();
    let fingerprints: BTreeSet<&str> = issues
        .iter()
        .map(|it| it["fingerprint"].as_str().unwrap())
        .collect();
    assert_eq!(
        fingerprints.len(),
        issues.len(),
        "GitLab shows only one issue of the same fingerprint"
    );
    issues
}

/// Test case of a JUnit report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCase {
    pub class: String,
    pub name: String,
    /// `failure` or `skipped` with its type, message and text; `None` if the test passed.
    pub outcome: Option<[String; 4]>,
}

/// Test cases of a report, after validating its schema and counts.
#[track_caller]
pub fn test_cases(text: &str) -> Vec<TestCase> {
    let document = Document::parse(text).unwrap_or_else(|fault| panic!("{fault}: {text}"));
    let schema = include_str!("../../schemas/junit-10.xsd");
    let schema = Document::parse(schema).unwrap();
    assert_as_declared(document.root_element(), &declared(&schema));
    let mut names = BTreeSet::new();
    let mut cases = Vec::new();
    for suite in document.root_element().children().filter(Node::is_element) {
        let of_suite: Vec<TestCase> = suite
            .children()
            .filter(Node::is_element)
            .map(test_case)
            .collect();
        assert_counted(suite, &of_suite);
        cases.extend(of_suite);
    }
    assert_counted(document.root_element(), &cases);
    for case in &cases {
        assert!(
            names.insert((&case.class, &case.name)),
            "GitLab only uses the first of {case:?}"
        );
    }
    assert!(
        cases.iter().any(|case| case.outcome.is_none()),
        "one test passed"
    );
    cases
}

fn test_case(node: Node<'_, '_>) -> TestCase {
    let attribute = |node: Node<'_, '_>, name: &str| node.attribute(name).unwrap().to_owned();
    let outcomes: Vec<Node<'_, '_>> = node.children().filter(Node::is_element).collect();
    assert!(outcomes.len() <= 1);
    TestCase {
        class: attribute(node, "classname"),
        name: attribute(node, "name"),
        outcome: outcomes.first().map(|outcome| {
            [
                outcome.tag_name().name().to_owned(),
                attribute(*outcome, "type"),
                attribute(*outcome, "message"),
                outcome.text().unwrap().to_owned(),
            ]
        }),
    }
}

#[track_caller]
fn assert_counted(node: Node<'_, '_>, cases: &[TestCase]) {
    let of = |word: &str| {
        let is_it = |case: &&TestCase| case.outcome.as_ref().is_some_and(|it| it[0] == word);
        cases.iter().filter(is_it).count().to_string()
    };
    assert_eq!(node.attribute("tests").unwrap(), cases.len().to_string());
    assert_eq!(node.attribute("failures").unwrap(), of("failure"));
    assert_eq!(node.attribute("errors").unwrap(), "0");
    assert!(
        node.attribute("skipped")
            .is_none_or(|count| count == of("skipped"))
    );
}

/// Declaration of an element in a schema: attributes, required attributes, children, and whether
/// text is allowed.
#[derive(Debug, Default)]
struct Declared {
    attributes: BTreeSet<String>,
    required: BTreeSet<String>,
    children: BTreeSet<String>,
    takes_text: bool,
}

/// Elements declared in a schema. Supports the subset of XML Schema in `junit-10.xsd`, where
/// children may be in any order and number.
fn declared(schema: &Document<'_>) -> BTreeMap<String, Declared> {
    let elements = schema
        .root_element()
        .children()
        .filter(|it| it.has_tag_name((XS, "element")));
    let declared = elements.map(|element| {
        let mut of = Declared {
            takes_text: element.attribute("type") == Some("xs:string"),
            ..Declared::default()
        };
        for node in element.descendants().filter(Node::is_element) {
            let name = node.attribute("name").map(str::to_owned);
            match node.tag_name().name() {
                "attribute" => {
                    let name = name.unwrap();
                    if node.attribute("use") == Some("required") {
                        of.required.insert(name.clone());
                    }
                    of.attributes.insert(name);
                }
                "element" => of.children.extend(node.attribute("ref").map(str::to_owned)),
                "complexType" => of.takes_text |= node.attribute("mixed") == Some("true"),
                _ => {}
            }
        }
        (element.attribute("name").unwrap().to_owned(), of)
    });
    declared.collect()
}

const XS: &str = "http://www.w3.org/2001/XMLSchema";

#[track_caller]
fn assert_as_declared(node: Node<'_, '_>, declared: &BTreeMap<String, Declared>) {
    let name = node.tag_name().name();
    let of = declared
        .get(name)
        .unwrap_or_else(|| panic!("no element `{name}`"));
    let attributes: BTreeSet<String> = node.attributes().map(|it| it.name().to_owned()).collect();
    assert!(
        attributes.is_subset(&of.attributes),
        "`{name}` has {attributes:?}"
    );
    assert!(
        of.required.is_subset(&attributes),
        "`{name}` has {attributes:?}"
    );
    for child in node.children() {
        if child.is_element() {
            assert!(
                of.children.contains(child.tag_name().name()),
                "`{name}` has {child:?}"
            );
            assert_as_declared(child, declared);
        } else {
            let text = child.text().unwrap_or_default();
            assert!(
                child.is_text() && (of.takes_text || text.trim().is_empty()),
                "{child:?}"
            );
        }
    }
}

/// Text with its control characters escaped, as in all printed output.
pub fn visible(text: &str) -> String {
    let mut visible = String::new();
    for character in text.chars() {
        let is_hidden = matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
                | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}'
                | '\u{e0000}'..='\u{e007f}'
        );
        match (character, u32::from(character)) {
            ('\n', _) => visible.push_str("\\n"),
            ('\r', _) => visible.push_str("\\r"),
            ('\t', _) => visible.push_str("\\t"),
            (_, code) if character.is_control() => visible.push_str(&format!("\\x{code:02x}")),
            (_, code) if is_hidden && code < 0x100 => visible.push_str(&format!("\\x{code:02x}")),
            (_, code) if is_hidden => visible.push_str(&format!("\\u{{{code:x}}}")),
            _ => visible.push(character),
        }
    }
    visible
}
