//! `cloud-init/merge.json`, mode `userdata`: user-data in every form, taken
//! apart as cloud-init does, and merged.

use std::collections::BTreeMap;
use std::sync::Arc;

use layercake::merge::Strategy;
use layercake::merge::cloud_init::{Default, Laying};
use layercake::source::{FileId, RepoPath, Source, SourceMap, Span};
use layercake::system::cloud_init::part::{Kind, Part};
use layercake::system::cloud_init::read::{Included, UserData, read};
use layercake::yaml::{Mapping, Node, Value};
use serde_json::Value as Json;

use super::{node_of, recorded};

/// Where the recorded files lay.
const FOLDER: &str = "@TMP@/";

#[test]
fn user_data_gives_what_was_recorded() {
    let Some(cases) = recorded("cloud-init/merge.json") else { return };
    let (mut passed, mut excepted, mut wrong) = (0, 0, Vec::new());
    for case in cases.iter().filter(|case| case["mode"] == "userdata") {
        let mut sources = SourceMap::new();
        let text = case["text"].as_str().expect("user-data is text");
        let user_data = take_apart(text, &case["files"], &mut sources);
        // A template is rendered with what only the instance knows.
        if user_data.parts.iter().any(|part| matches!(part.kind, Kind::Template)) {
            assert!(case.get("instance_data").is_some(), "{}: no template", case["id"]);
            excepted += 1;
            continue;
        }
        match compare(&user_data, &case["expected"]) {
            Ok(()) => passed += 1,
            Err(difference) => wrong.push(format!("{}: {difference}", case["id"])),
        }
    }
    eprintln!("user-data: {passed} as recorded, {excepted} templates excepted");
    assert!(passed > 100, "only {passed} cases");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

fn compare(user_data: &UserData, expected: &Json) -> Result<(), String> {
    if let Some(fault) = &user_data.aborted {
        return match expected.get("error") {
            Some(_) => Ok(()),
            None => Err(format!("given up: {:?}", fault.kind)),
        };
    }
    let found = merged(user_data);
    let expected = node_of(&expected["result"]).expect("the results are data");
    if found.value.equals_in_python(&expected.value) {
        return Ok(());
    }
    Err(format!("{:?}\nis not {:?}", found.value, expected.value))
}

fn take_apart(text: &str, files: &Json, sources: &mut SourceMap) -> UserData {
    let add = |sources: &mut SourceMap, name: &str, text: &str| {
        sources.add(Source::new(RepoPath::new(name), Ok(text.as_bytes().to_vec())))
    };
    let mut known: BTreeMap<String, FileId> = BTreeMap::new();
    for (name, text) in files.as_object().into_iter().flatten() {
        let id = add(sources, name, text.as_str().expect("a file is text"));
        known.insert(name.clone(), id);
    }
    let file = add(sources, "user-data", text);
    read(file, sources, &mut |_, _, path| {
        let name = path.strip_prefix(FOLDER).expect("all lie in one folder");
        known.get(name).map_or(Included::Missing, |file| Included::File(*file))
    })
}

/// All parts merged; null where there was none to merge.
fn merged(user_data: &UserData) -> Node {
    let mut node: Option<Node> = None;
    for part in &user_data.parts {
        let Some(strategy) = strategy(part) else { continue };
        let base = node
            .get_or_insert_with(|| Node::new(Value::Mapping(Arc::new(Mapping::new())), part.at));
        // A part that fails is dropped, which leaves what there is.
        if !part.data.is_null() {
            let _ = strategy.lay(base, &part.data);
        }
    }
    node.unwrap_or_else(|| Node::new(Value::Null, Span::point(super::some_file(), 0)))
}

fn strategy(part: &Part) -> Option<Strategy> {
    match &part.kind {
        Kind::CloudConfig => Some(Strategy::CloudInit(Laying::Current {
            header: part.header.clone(),
            default: Default::UserData,
        })),
        Kind::JsonPatch(patch) => patch.clone().map(Strategy::JsonPatch),
        Kind::Template | Kind::Other(_) => None,
    }
}
