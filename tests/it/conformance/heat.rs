//! `heat/`: property groups, in schemas with data and as Heat's own definitions. There are no
//! exceptions.

use std::collections::BTreeMap;
use std::sync::Arc;

use layercake::source::{RepoPath, Source, SourceMap};
use layercake::system::heat::{ComponentVersion, Groups, Versions};
use layercake::yaml::path::{Location, Piece};
use layercake::yaml::{self, Node};
use serde_json::{Value as Json, json};

use self::form::form_fault;
use super::CaseOrigin;

mod form;

#[test]
fn groups_are_as_recorded() {
    compare(CaseOrigin::Repository, "heat/spec.json", 67);
    compare(CaseOrigin::Repository, "heat/generated.json", 356);
}

#[test]
#[ignore = "needs the recorded corpus"]
fn groups_of_the_corpus_are_as_recorded() {
    compare(CaseOrigin::Corpus, "heat/spec.json", 0);
    compare(CaseOrigin::Corpus, "heat/generated.json", 0);
}

#[test]
fn heat_definitions_are_as_recorded() {
    compare_definitions(CaseOrigin::Repository, &["heat/definition-generated.json"]);
}

#[test]
#[ignore = "needs the recorded corpus"]
fn heat_definitions_of_the_corpus_are_as_recorded() {
    let files = [
        "heat/definition-generated.json",
        "heat/definition-upstream.json",
    ];
    compare_definitions(CaseOrigin::Corpus, &files);
}

fn compare_definitions(origin: CaseOrigin, files: &[&str]) {
    for file in files {
        let cases = origin.cases(file);
        let mut wrong = Vec::new();
        for case in &cases {
            let mut sources = SourceMap::new();
            let found = match form_fault(&read(&case["schema"], &mut sources)) {
                None => json!({ "ok": true }),
                Some(fault) if fault.message() == "StopIteration" => {
                    json!({ "ok": false, "error": "StopIteration", "message": "" })
                }
                Some(fault) => {
                    let message = fault.message();
                    json!({ "ok": false, "error": "InvalidSchemaError", "message": message })
                }
            };
            if found != case["expected"] {
                wrong.push(format!("{}: {found}, not {}", case["id"], case["expected"]));
            }
        }
        origin.assert_at_least(300, cases.len());
        assert!(
            wrong.is_empty(),
            "{} differ:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
    }
}

fn compare(origin: CaseOrigin, file: &str, least: usize) {
    let cases = origin.cases(file);
    let wrong: Vec<String> = cases.iter().filter_map(difference).collect();
    eprintln!("{file}: {} compared", cases.len());
    origin.assert_at_least(least, cases.len());
    assert!(
        wrong.is_empty(),
        "{} of {} differ:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

/// Difference between our result and the recorded one.
fn difference(case: &Json) -> Option<String> {
    let mut sources = SourceMap::new();
    let (schema, data) = (
        read(&case["schema"], &mut sources),
        read(&case["data"], &mut sources),
    );
    let groups = Groups::of_schema(&schema, &sources);
    let expected = &case["expected"];
    let with_block = case["id"]
        .as_str()
        .is_some_and(|id| id.starts_with("prop/"));
    let problems = |is_warning: bool| -> Json {
        let of_kind = groups
            .problems
            .iter()
            .filter(|it| it.fault.is_warning() == is_warning);
        let codes = of_kind.map(|problem| {
            let (code, group) = (problem.fault.code(), problem.group.as_deref());
            if with_block {
                json!([code, pointer(&problem.block), group])
            } else {
                json!([code, group])
            }
        });
        codes.collect()
    };
    let findings = groups.findings(&data, &versions(&case["context"]));
    let errors: Json = findings
        .iter()
        .map(|finding| {
            let operands: Vec<&str> = finding.operands.iter().map(|it| &*it.text).collect();
            json!([
                finding.breach.code(),
                &*finding.group,
                pointer(&finding.at),
                operands
            ])
        })
        .collect();
    let nothing = json!([]);
    let or_nothing = |key: &str| {
        expected
            .get(key)
            .cloned()
            .unwrap_or_else(|| nothing.clone())
    };
    let (definition, warnings) = (problems(false), problems(true));
    // Other properties of a refused definition were not recorded.
    let asked = expected.get("errors").is_some() || expected.get("definition").is_none();
    let is_same = definition == or_nothing("definition")
        && warnings == or_nothing("warnings")
        && (!asked || errors == or_nothing("errors"));
    (!is_same).then(|| {
        let found = json!({ "definition": definition, "errors": errors, "warnings": warnings });
        format!(
            "{}: {found}\n  not {expected}\n  of {}",
            case["id"], case["schema"]
        )
    })
}

fn versions(context: &Json) -> Versions {
    let version = |text: &Json| ComponentVersion::new(text.as_str().expect("versions are strings"));
    let named = context["client_versions"].as_object().into_iter().flatten();
    let named: BTreeMap<Arc<str>, ComponentVersion> = named
        .map(|(plugin, text)| (plugin.as_str().into(), version(text)))
        .collect();
    Versions {
        unnamed: context.get("client_version").map(version),
        named,
    }
}

/// A recorded value as it would be in a file: JSON is YAML.
fn read(json: &Json, sources: &mut SourceMap) -> Node {
    let text = serde_json::to_string(json).expect("JSON can be written");
    let source = Source::new(RepoPath::new("case.json"), Ok(text.clone().into_bytes()));
    let file = sources.add(source);
    let parsed = yaml::parse(file, &text);
    assert!(parsed.problems.is_empty(), "{text}: {:?}", parsed.problems);
    parsed
        .documents
        .into_iter()
        .next()
        .expect("a case is one document")
        .root
}

fn pointer(place: &Location) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Index(index) => format!("/{index}"),
        Piece::Key(key) => {
            let name = key.as_str().expect("cases have text keys");
            format!("/{}", name.replace('~', "~0").replace('/', "~1"))
        }
    };
    place.0.iter().map(piece).collect()
}
