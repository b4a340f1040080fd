//! Reference implementation of `layercake blame` that shares no code with it: every commit is
//! rendered completely, and values are compared commit by commit.

mod log;
mod output;
mod state;
mod value;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;

use layercake::report::canonical;
use layercake::yaml::Node;
use serde_json::Value as Json;

pub use self::log::Log;
use crate::git::scrub;

use self::output::{Output, matched};
use self::state::{Rendered, State, Version};
use self::value::{at, counterparts, shown, values};

/// Id of a commit; `None` for the working tree.
pub type CommitId = Option<String>;

/// Origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub commit: CommitId,
    pub end: String,
    pub passed_over: BTreeSet<CommitId>,
}

/// Blame of one output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlamedOutput {
    pub last: CommitId,
    pub values: BTreeMap<String, Origin>,
}

/// Blame of a site: its outputs by schema, name and layer.
pub type Blame = BTreeMap<[String; 3], BlamedOutput>;

/// One entry of the history of a value, with null for no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    pub origin: Origin,
    pub before: Json,
    pub after: Json,
    /// Whether one of the values is secret.
    pub hidden: bool,
}

/// A site in all its commits.
pub struct Oracle<'a> {
    log: &'a Log,
    versions: Vec<Version>,
    /// Rendered outputs of the versions.
    rendered: Vec<Rendered>,
    matches: RefCell<HashMap<[usize; 2], Matches>>,
    counterparts: RefCell<HashMap<[*const Node; 2], HashMap<String, String>>>,
}

/// For each output of a version, the matching one of an earlier version.
type Matches = Vec<Option<usize>>;

/// Place of a value in a version of the site.
#[derive(Clone)]
struct Place {
    version: usize,
    /// Schema, name and layer.
    key: Rc<[String; 3]>,
    /// Index of the output, if there is one.
    output: Option<usize>,
    pointer: Rc<str>,
    /// Whether what is at the pointer belongs to another place of the child.
    is_taken: bool,
}

impl<'a> Oracle<'a> {
    pub fn new(log: &'a Log, site: &str) -> Self {
        let (versions, rendered) = state::versions(log, site);
        let (matches, counterparts) = (RefCell::default(), RefCell::default());
        Self {
            log,
            versions,
            rendered,
            matches,
            counterparts,
        }
    }

    /// Blame of the site; `None` if it cannot start here.
    pub fn blame(&self) -> Option<Blame> {
        let outputs = self.outputs(0)?;
        let blamed = outputs.iter().enumerate().filter_map(|(index, output)| {
            let data = output.data.as_ref()?;
            let origin = |pointer: String| self.walk(self.start(index, pointer)).1;
            let values = values(data)
                .into_iter()
                .map(|at| (at.clone(), origin(at)))
                .collect();
            let last = origin(String::new()).commit;
            Some((output.key(), BlamedOutput { last, values }))
        });
        Some(blamed.collect())
    }

    /// The history of one value, newest first.
    pub fn history(&self, key: &[String; 3], pointer: &str) -> Vec<HistoryEntry> {
        let outputs = self.outputs(0).expect("the start is usable");
        let output = outputs
            .iter()
            .position(|output| output.key() == *key)
            .expect("an output");
        let mut place = Some(self.start(output, pointer.to_owned()));
        let mut entries = Vec::new();
        while let Some(from) = place {
            let (end, origin) = self.walk(from);
            let before = self
                .remaining(&end)
                .0
                .first()
                .map(|parent| self.before(&end, *parent));
            let values = [before.as_ref(), Some(&end)].map(|place| self.value(place?));
            let hidden = values.iter().flatten().any(|value| value.secret);
            let is_last = origin.end != "changed";
            let [earlier, after] = values.map(|value| {
                let value = value.filter(|_| !hidden);
                value.map_or(Json::Null, shown)
            });
            entries.push(HistoryEntry {
                origin,
                before: earlier,
                after,
                hidden,
            });
            place = before.filter(|_| !is_last);
        }
        entries
    }

    fn start(&self, output: usize, pointer: String) -> Place {
        let key = self.key(0, output);
        Place {
            version: 0,
            key,
            output: Some(output),
            pointer: pointer.into(),
            is_taken: false,
        }
    }

    /// Follows a value to the commit that it comes from.
    fn walk(&self, mut place: Place) -> (Place, Origin) {
        loop {
            let (parents, passed_over) = self.remaining(&place);
            match self.matching_parent(&place, &parents) {
                Some(before) => place = before,
                None => {
                    let origin = Origin {
                        commit: self.commit_id(place.version),
                        end: self.end(&parents).to_owned(),
                        passed_over: passed_over
                            .into_iter()
                            .map(|it| self.commit_id(it))
                            .collect(),
                    };
                    return (place, origin);
                }
            }
        }
    }

    fn end(&self, parents: &[usize]) -> &'static str {
        match parents.first().map(|parent| &self.versions[*parent].state) {
            None => "first-commit",
            Some(State::Absent) => "site-added",
            Some(_) => "changed",
        }
    }

    /// Place in a parent that has the same value: in one with the same files, or else the first
    /// with an equal value.
    fn matching_parent(&self, place: &Place, parents: &[usize]) -> Option<Place> {
        if let Some(version) = self.same_inputs(place.version, parents) {
            return Some(Place {
                version,
                ..place.clone()
            });
        }
        let with_site = parents
            .iter()
            .filter(|parent| self.outputs(**parent).is_some());
        let mut places = with_site.map(|parent| self.before(place, *parent));
        places.find(|before| self.is_equal(place, before))
    }

    fn is_equal(&self, place: &Place, before: &Place) -> bool {
        if let (Some(data), Some(earlier)) = (self.data(place), self.data(before)) {
            let is_same = Arc::ptr_eq(data, earlier) && place.pointer == before.pointer;
            if is_same && place.is_taken == before.is_taken {
                return true;
            }
        }
        match (self.value(place), self.value(before)) {
            (Some(value), Some(before)) => canonical(value) == canonical(before),
            (value, before) => value.is_none() && before.is_none(),
        }
    }

    /// The first parent with the same files of the site.
    fn same_inputs(&self, version: usize, parents: &[usize]) -> Option<usize> {
        let Version { name, inputs, .. } = &self.versions[version];
        let is_same =
            |parent: &Version| parent.name == *name && Arc::ptr_eq(&parent.inputs, inputs);
        parents
            .iter()
            .copied()
            .find(|parent| is_same(&self.versions[*parent]))
    }

    /// Parents of a place, with each parent in which it is unknown replaced by its own parents,
    /// and the replaced ones.
    fn remaining(&self, place: &Place) -> (Vec<usize>, Vec<usize>) {
        let (mut kept, mut passed_over) = (Vec::new(), Vec::new());
        let parents = |version: usize| self.versions[version].parents.iter().rev().copied();
        let mut stack: Vec<usize> = parents(place.version).collect();
        while let Some(version) = stack.pop() {
            if kept.contains(&version) || passed_over.contains(&version) {
                continue;
            }
            let same = self.same_inputs(version, &self.versions[version].parents);
            if !self.is_unknown(place, version) {
                kept.push(version);
            } else if let Some(same) = same {
                stack.push(same);
            } else {
                passed_over.push(version);
                stack.extend(parents(version));
            }
        }
        (kept, passed_over)
    }

    fn is_unknown(&self, place: &Place, version: usize) -> bool {
        let Some(outputs) = self.outputs(version) else {
            return self.versions[version].state == State::Unusable;
        };
        let output = self.output_before(place, version);
        output.is_some_and(|output| outputs[output].data.is_none())
    }

    /// The place in an earlier version that belongs to this one.
    fn before(&self, place: &Place, version: usize) -> Place {
        let output = self.output_before(place, version);
        let key = output.map_or_else(|| Rc::clone(&place.key), |output| self.key(version, output));
        let pointer = Rc::clone(&place.pointer);
        let mut before = Place {
            version,
            key,
            output,
            pointer,
            is_taken: false,
        };
        if let Some((head, base)) = self.data(place).zip(self.data(&before))
            && !Arc::ptr_eq(head, base)
        {
            let pointer = self.pointer_before(&place.pointer, head, base);
            before.is_taken = at(head, &place.pointer).is_some() && pointer.1;
            before.pointer = pointer.0;
        }
        before
    }

    /// Pointer in `base`: that of the nearest enclosing value that exists there, followed by the
    /// same steps. The flag says whether these steps exist.
    fn pointer_before(&self, pointer: &str, head: &Arc<Node>, base: &Arc<Node>) -> (Rc<str>, bool) {
        let pair = [Arc::as_ptr(head), Arc::as_ptr(base)];
        let mut known = self.counterparts.borrow_mut();
        let known = known
            .entry(pair)
            .or_insert_with(|| counterparts(head, base));
        let mut around = pointer;
        loop {
            if let Some(found) = known.get(around) {
                let steps = &pointer[around.len()..];
                return (format!("{found}{steps}").into(), !steps.is_empty());
            }
            around = &around[..around.rfind('/').expect("the root has a counterpart")];
        }
    }

    fn output_before(&self, place: &Place, version: usize) -> Option<usize> {
        let (State::Rendered(head), State::Rendered(base)) = (
            &self.versions[place.version].state,
            &self.versions[version].state,
        ) else {
            return None;
        };
        let Some(output) = place.output else {
            return self.rendered[*base]
                .outputs
                .iter()
                .position(|output| output.key() == *place.key);
        };
        let mut matches = self.matches.borrow_mut();
        let matches = matches
            .entry([*head, *base])
            .or_insert_with(|| matched(self.log, &self.rendered[*head], &self.rendered[*base]));
        matches[output]
    }

    fn key(&self, version: usize, output: usize) -> Rc<[String; 3]> {
        Rc::new(self.outputs(version).expect("it is rendered")[output].key())
    }

    fn value(&self, place: &Place) -> Option<&Node> {
        at(self.data(place)?, &place.pointer).filter(|_| !place.is_taken)
    }

    fn data(&self, place: &Place) -> Option<&Arc<Node>> {
        self.outputs(place.version)?[place.output?].data.as_ref()
    }

    fn outputs(&self, version: usize) -> Option<&[Output]> {
        match self.versions[version].state {
            State::Rendered(rendered) => Some(&self.rendered[rendered].outputs),
            State::Absent | State::Unusable => None,
        }
    }

    fn commit_id(&self, version: usize) -> CommitId {
        self.log.commits[self.versions[version].commit].id.clone()
    }
}

impl BlamedOutput {
    /// Reads an output of a report.
    fn read(output: &Json, commits: &Json) -> Self {
        let changes = items(&output["changes"]).map(|it| Origin::read(it, commits));
        let changes: Vec<Origin> = changes.collect();
        let value = |value: &Json| {
            (
                text(&value["pointer"]),
                changes[index(&value["change"])].clone(),
            )
        };
        let last = commit_id(&output["last"], commits);
        Self {
            last,
            values: items(&output["values"]).map(value).collect(),
        }
    }
}

impl Origin {
    /// Reads a change of a report.
    fn read(change: &Json, commits: &Json) -> Self {
        let passed_over = items(&change["passed_over"])
            .map(|it| commit_id(it, commits))
            .collect();
        let commit = commit_id(&change["commit"], commits);
        Self {
            commit,
            end: text(&change["end"]),
            passed_over,
        }
    }
}

/// Report of `layercake blame`; `None` if it cannot be made.
pub fn report(repository: &Path, arguments: &[&str]) -> Option<Json> {
    let mut layercake = Command::new(env!("CARGO_BIN_EXE_layercake"));
    scrub(&mut layercake);
    layercake
        .arg("-C")
        .arg(repository)
        .arg("blame")
        .args(arguments)
        .args(["-o", "json"]);
    let output = layercake.output().expect("it runs");
    match output.status.code() {
        Some(0) => Some(serde_json::from_slice(&output.stdout).expect("a report is JSON")),
        Some(2) => None,
        _ => panic!("{}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// Reads the report of a site.
pub fn read_blame(report: &Json) -> Blame {
    let outputs = items(&report["outputs"]).map(|output| {
        let key = ["schema", "name", "layer"].map(|part| text(&output["document"][part]));
        (key, BlamedOutput::read(output, &report["commits"]))
    });
    outputs.collect()
}

/// Reads the report of one value.
pub fn read_history(report: &Json) -> Vec<HistoryEntry> {
    let entries = items(&report["value"]["history"]).map(|entry| HistoryEntry {
        origin: Origin::read(entry, &report["commits"]),
        before: entry["before"].clone(),
        after: entry["after"].clone(),
        hidden: entry["hidden"] == true,
    });
    entries.collect()
}

fn items(list: &Json) -> impl Iterator<Item = &Json> {
    list.as_array().expect("a list").iter()
}

fn text(value: &Json) -> String {
    value.as_str().expect("a string").to_owned()
}

fn index(value: &Json) -> usize {
    value
        .as_u64()
        .expect("an index")
        .try_into()
        .expect("it is small")
}

fn commit_id(value: &Json, commits: &Json) -> CommitId {
    commits[index(value)]["id"].as_str().map(ToOwned::to_owned)
}

/// Differences between two blames, one per line.
pub fn differences(expected: &Blame, found: &Blame) -> Vec<String> {
    let mut lines = Vec::new();
    let keys: BTreeSet<_> = expected.keys().chain(found.keys()).collect();
    for key in keys {
        let (Some(expected), Some(found)) = (expected.get(key), found.get(key)) else {
            lines.push(format!("{}: an output of one side", key.join(" ")));
            continue;
        };
        if expected.last != found.last {
            lines.push(format!(
                "{}: last {:?}, found {:?}",
                key.join(" "),
                expected.last,
                found.last
            ));
        }
        let pointers: BTreeSet<_> = expected.values.keys().chain(found.values.keys()).collect();
        for pointer in pointers {
            let (expected, found) = (expected.values.get(pointer), found.values.get(pointer));
            if expected != found {
                let key = key.join(" ");
                lines.push(format!(
                    "{key} `{pointer}`: expected {expected:?}, found {found:?}"
                ));
            }
        }
    }
    lines
}
