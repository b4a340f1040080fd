//! `cloud-init/merge.json`, `stacks.json` and `legacy.json`, in every mode, through all of layercake: the recorded
//! parts are files that `layercake.yaml` declares as a set, and the rendered output and the dropped
//! parts are compared.
//!
//! Parts that are recorded separately are put into an archive each, whose entry has their type and
//! headers. A recording of one stage, such as `mergemanydict`, is compared with the document of
//! that stage, since later stages remove `merge_type`.

use std::collections::BTreeMap;
use std::sync::Arc;

use layercake::check::RenderedSite;
use layercake::merge::cloud_init::{self, MergeRules};
use layercake::merge::deckhand::Semantics;
use layercake::merge::{Failure, Strategy};
use layercake::render::{CombineProblem, ProblemKind};
use layercake::source::MemoryTree;
use layercake::system::cloud_init::part::{CloudPart, PartKind};
use layercake::system::cloud_init::{ConfD, SetMember};
use layercake::yaml::emit::{EmitOptions, to_yaml};
use layercake::yaml::{Mapping, Node, Value, parse};
use rayon::prelude::*;
use serde_json::{Value as Json, json};

use super::exceptions::cloud_init_exception;
use super::{CaseOrigin, node_of, some_file};
use crate::support;

pub(super) const MERGE: &str = "cloud-init/merge.json";
pub(super) const STACKS: &str = "cloud-init/stacks.json";
const LEGACY: &str = "cloud-init/legacy.json";

#[test]
fn parts_are_merged_as_cloud_init_merges_them() {
    compare_all(CaseOrigin::Repository, MERGE, Dialect::Current, 3800);
    compare_all(CaseOrigin::Repository, STACKS, Dialect::Current, 655);
}

#[test]
fn parts_are_merged_as_the_first_documentation_says() {
    compare_all(CaseOrigin::Repository, LEGACY, Dialect::Documented, 238);
}

#[test]
#[ignore = "needs the recorded corpus"]
fn parts_of_the_corpus_are_merged_as_recorded() {
    compare_all(CaseOrigin::Corpus, MERGE, Dialect::Current, 0);
    compare_all(CaseOrigin::Corpus, LEGACY, Dialect::Documented, 0);
}

#[derive(Clone, Copy)]
enum Dialect {
    Current,
    Documented,
}

fn compare_all(origin: CaseOrigin, file: &str, dialect: Dialect, least: usize) {
    let cases = origin.cases(file);
    let mut excepted: BTreeMap<&str, usize> = BTreeMap::new();
    let mut compared = Vec::new();
    for case in &cases {
        match cloud_init_exception(case) {
            Some(reason) => *excepted.entry(reason).or_default() += 1,
            None => compared.push(case),
        }
    }
    let wrong: Vec<String> = compared
        .par_iter()
        .filter_map(|case| {
            let difference = difference(&merged(case, dialect), &case["expected"])?;
            Some(format!("{}: {difference}", case["id"]))
        })
        .collect();
    for (reason, count) in &excepted {
        eprintln!("{file}: {count} excepted: {reason}");
    }
    origin.assert_at_least(least, compared.len());
    assert!(
        wrong.is_empty(),
        "{} of {} differ:\n{}",
        wrong.len(),
        compared.len(),
        wrong.join("\n")
    );
}

/// Result of a case.
#[derive(Default)]
struct Merged {
    /// The output; `None` if there is none.
    output: Option<Node>,
    /// By source, the parts that were dropped and why.
    dropped: BTreeMap<String, Vec<(usize, &'static str)>>,
    /// Whether cloud-init fails completely.
    aborted: bool,
}

/// The parts of a case as files, declared as a set in this dialect.
pub(super) fn tree_of(case: &Json, dialect: &str) -> MemoryTree {
    let tree = files(case)
        .into_iter()
        .fold(MemoryTree::new(), |tree, (path, text)| {
            tree.with(&path, text)
        });
    let declared = json!({"cloud-config": [{
        "name": "case",
        "parts": ["user/*"],
        "vendor-data": ["vendor/*"],
        "vendor-data2": ["vendor2/*"],
        "conf-d": ["conf.d/*"],
        "base": ["cloud.cfg"],
        "dialect": dialect,
    }]});
    tree.with("layercake.yaml", declared.to_string())
}

/// Merges the parts of a case as files.
fn merged(case: &Json, dialect: Dialect) -> Merged {
    let dialect = match dialect {
        Dialect::Current => "current",
        Dialect::Documented => "documented",
    };
    let tree = tree_of(case, dialect);
    let options = support::options(Semantics::Documented);
    let mut checked = support::check_files(&tree, options, |site| outcome(site, Stage::of(case)));
    assert!(!checked.internal_error, "{}", case["id"]);
    let site = checked
        .sites
        .pop()
        .expect("files without layout are one set");
    let mut merged = site.taken.expect("nothing failed");
    if let Some(base) = handed_over(case) {
        merged.lay(&base);
    }
    merged
}

/// Part of cloud-init that was recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// All of it.
    Output,
    /// Reading the system's configuration, without the step that completes it.
    System,
}

impl Stage {
    fn of(case: &Json) -> Self {
        match case["mode"].as_str() {
            Some("many" | "confd") => Stage::System,
            None | Some(_) => Stage::Output,
        }
    }
}

fn outcome(site: &RenderedSite<'_>, stage: Stage) -> Merged {
    let mut merged = Merged::default();
    for (doc, member) in site.sets.iter() {
        let is_recorded = match stage {
            Stage::Output => site.graph.recipe(doc).emit,
            Stage::System => member.part.is_none() && member.source.is_some(),
        };
        if is_recorded {
            merged.output = site.rendered.data(doc).cloned();
        }
        if let Some(part) = member.part.filter(|part| part.data.is_null()) {
            let kind = if matches!(part.kind, PartKind::JsonPatch(_)) {
                "jsonpatch"
            } else {
                "empty"
            };
            merged.drop(part, kind);
        }
    }
    for problem in &site.rendered.problems {
        let ProblemKind::Combine(CombineProblem::NotMerged { source, failure }) = &problem.kind
        else {
            continue;
        };
        let Some(SetMember {
            part: Some(part), ..
        }) = site.sets.member(*source)
        else {
            continue;
        };
        merged.drop(part, kind_of(failure));
    }
    let given = site
        .sets
        .sets
        .iter()
        .flat_map(|set| &set.sources)
        .flat_map(|it| &it.files);
    let mut given = given.filter_map(|given| given.read);
    merged.aborted = given.any(|read| read.aborted.is_some())
        || site.sets.sets.iter().any(|set| ends(set.conf_d()));
    merged
}

/// Whether cloud-init fails when it reads this in `cloud.cfg`.
fn ends(conf_d: ConfD) -> bool {
    match conf_d {
        ConfD::Read | ConfD::Off(_) => false,
        ConfD::NoText(..) => true,
    }
}

impl Merged {
    /// Merges a configuration below all others, as cloud-init combines sources.
    fn lay(&mut self, base: &Node) {
        let laying = MergeRules::Current {
            header: None,
            default: cloud_init::Default::Many,
        };
        let empty = || Node::new(Value::Mapping(Arc::new(Mapping::new())), base.span);
        let output = self.output.take().filter(|output| !output.is_null());
        let output = self.output.insert(output.unwrap_or_else(empty));
        if let Err(failure) = Strategy::CloudInit(laying).merge(output, base) {
            self.dropped
                .entry("cloud.cfg".to_owned())
                .or_default()
                .push((0, kind_of(&failure)));
        }
    }

    /// Records a dropped part. Files of a source are numbered from 0, and parts of a file from 1;
    /// only one of the two is ever more than one.
    fn drop(&mut self, part: &CloudPart, kind: &'static str) {
        let (path, in_file) = part
            .key
            .name
            .split_once('#')
            .unwrap_or((&part.key.name, "1"));
        let (source, file) = path.split_once('/').unwrap_or((path, "0"));
        let number = |text: &str| text.parse().unwrap_or(0);
        let number = number(file) + number(in_file) - 1;
        self.dropped
            .entry(source.to_owned())
            .or_default()
            .push((number, kind));
    }
}

/// Recorded kind of a failure (`cloud-init.md` 9).
fn kind_of(failure: &Failure) -> &'static str {
    match failure {
        Failure::JsonPatch(_) => "jsonpatch",
        Failure::CloudInit(failure) => super::cloud_init::kind_of(failure),
    }
}

/// The recorded result; `None` if cloud-init fails.
pub(super) fn recorded_result(expected: &Json) -> Option<Node> {
    match expected.get("result_yaml") {
        Some(text) => {
            let text = text.as_str().expect("a result is a string");
            let parsed = parse(some_file(), text).documents.pop();
            Some(parsed.expect("a result is YAML").root)
        }
        None => Some(node_of(expected.get("result")?).expect("the results are data")),
    }
}

/// Difference between the merged and the recorded result.
fn difference(merged: &Merged, expected: &Json) -> Option<String> {
    if let Some(error) = expected.get("error") {
        let mut failed = merged.dropped.values().flatten();
        let is_met = failed.any(|(_, kind)| error == kind) || error == "other" && merged.aborted;
        return (!is_met).then(|| format!("no {error}, but {:?}", merged.dropped));
    }
    let wanted = recorded_result(expected).expect("a result is recorded");
    let nothing = Value::Null;
    let found = merged.output.as_ref().map_or(&nothing, |node| &node.value);
    if !found.equals_in_python(&wanted.value) {
        let text = |value: &Value| {
            to_yaml(
                &Node::new(value.clone(), wanted.span),
                &EmitOptions::default(),
            )
        };
        return Some(format!("\n{}is not\n{}", text(found), text(&wanted.value)));
    }
    let wanted = dropped(expected);
    let found = merged
        .dropped
        .iter()
        .filter(|(source, _)| is_user_data(source));
    let found: Dropped = found
        .map(|(source, parts)| (source.clone(), sorted(parts)))
        .collect();
    (found != wanted).then(|| format!("dropped {found:?}, not {wanted:?}"))
}

/// Whether dropped parts of a source are recorded: only those of user-data are; in other sources
/// they are errors or ignored.
fn is_user_data(source: &str) -> bool {
    ["user", "vendor", "vendor2"].contains(&source)
}

fn sorted(parts: &[(usize, &'static str)]) -> Vec<(usize, String)> {
    let mut sorted: Vec<_> = parts
        .iter()
        .map(|(number, kind)| (*number, (*kind).to_owned()))
        .collect();
    sorted.sort();
    sorted
}

type Dropped = BTreeMap<String, Vec<(usize, String)>>;

/// Parts that are recorded as dropped, by source.
fn dropped(expected: &Json) -> Dropped {
    let parts = |list: &Json| {
        let parts = list.as_array().expect("a list of parts").iter();
        let part = |part: &Json| {
            let number = part[0].as_u64().expect("a part's number");
            (
                number as usize,
                part[1].as_str().expect("a kind").to_owned(),
            )
        };
        let mut parts: Vec<_> = parts.map(part).collect();
        parts.sort();
        parts
    };
    match expected.get("dropped") {
        None => Dropped::new(),
        Some(Json::Object(sources)) => sources
            .iter()
            .map(|(source, list)| (source.clone(), parts(list)))
            .collect(),
        Some(list) => Dropped::from([("user".to_owned(), parts(list))]),
    }
}

/// A case as files.
fn files(case: &Json) -> Vec<(String, String)> {
    let text = |json: &Json| json.as_str().expect("a text").to_owned();
    let of = |source: &str, list: &Json| -> Vec<(String, String)> {
        let parts = list.as_array().into_iter().flatten().enumerate();
        parts
            .map(|(number, part)| (format!("{source}/{number}"), archive(part)))
            .collect()
    };
    match case["mode"].as_str() {
        None => of("user", &case["parts"]),
        Some("stack") => {
            let sources = [
                ("user", "user"),
                ("vendor", "vendor"),
                ("vendor2", "vendor2"),
            ];
            let sources = sources
                .into_iter()
                .flat_map(|(source, key)| of(source, &case[key]));
            let base = case.get("base").filter(|_| handed_over(case).is_none());
            let base = base.map(|base| ("cloud.cfg".to_owned(), content(base)));
            sources.chain(base).collect()
        }
        Some("many") => {
            let mut parts: Vec<&Json> = case["parts"]
                .as_array()
                .expect("a list of parts")
                .iter()
                .collect();
            if case["reverse"] == true {
                parts.reverse();
            }
            // The greatest name has the highest priority.
            let parts = parts.into_iter().enumerate();
            parts
                .map(|(number, part)| (format!("conf.d/{}.cfg", 999 - number), content(part)))
                .collect()
        }
        Some("confd") => {
            let files = case["files"].as_object().into_iter().flatten();
            let files = files.map(|(name, it)| (format!("conf.d/{name}"), text(it)));
            files
                .chain(
                    case.get("base")
                        .map(|base| ("cloud.cfg".to_owned(), text(base))),
                )
                .collect()
        }
        Some("userdata") => {
            let user_data = text(&case["text"]).replace("@TMP@", "/included");
            let files = case["files"].as_object().into_iter().flatten();
            let files = files.map(|(name, it)| {
                (
                    format!("included/{name}"),
                    text(it).replace("@TMP@", "/included"),
                )
            });
            files.chain([("user/0".to_owned(), user_data)]).collect()
        }
        Some(other) => panic!("unknown mode: {other}"),
    }
}

/// Content of a part.
fn content(part: &Json) -> String {
    match (part.get("text"), part.get("value")) {
        (Some(text), _) => text.as_str().expect("a text").to_owned(),
        (None, value) => value.expect("a part has a text or a value").to_string(),
    }
}

/// System configuration of a case that specifies how it is combined with other sources.
///
/// The recordings pass it directly to that combination. A file cannot do so: cloud-init removes
/// both keys earlier.
fn handed_over(case: &Json) -> Option<Node> {
    let base = case.get("base").filter(|_| case["mode"] == "stack")?;
    let root = parse(some_file(), &content(base))
        .documents
        .pop()
        .expect("cloud.cfg is YAML")
        .root;
    let says = root.get("merge_how").or(root.get("merge_type")).is_some();
    says.then_some(root)
}

/// A part with its type and headers.
fn archive(part: &Json) -> String {
    let mut entry = json!({"content": content(part)});
    entry["type"] = part
        .get("ctype")
        .cloned()
        .unwrap_or(json!("text/cloud-config"));
    for (key, header) in [
        ("merge_type", "Merge-Type"),
        ("x_merge_type", "X-Merge-Type"),
    ] {
        if let Some(value) = part.get(key) {
            entry[header] = value.clone();
        }
    }
    for (header, value) in part["headers"].as_object().into_iter().flatten() {
        entry[header] = value.clone();
    }
    format!("#cloud-config-archive\n{}", json!([entry]))
}
