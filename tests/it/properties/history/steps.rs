//! Generated git histories of a small site repository, written by `git fast-import`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value as Json, json};

use super::repository::{
    DEFINITION, Files, definition, document, documents, initial, layer_files, place_in, sites,
    substitution,
};

/// A history; the last commit is the newest, and the others are its ancestors.
#[derive(Clone, Debug)]
pub struct History {
    pub commits: Vec<MadeCommit>,
}

#[derive(Clone, Debug)]
pub struct MadeCommit {
    pub parents: Vec<usize>,
    pub files: Files,
    pub what: Option<What>,
}

/// Kind of change in a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    EditValue,
    AddKey,
    RemoveKey,
    InsertItem,
    RemoveItem,
    ReorderItems,
    AddDocument,
    RemoveDocument,
    RenameDocument,
    MoveFile,
    EditOutside,
    RenameSite,
    RenameSiteAndDefinition,
    BreakFile,
    MendFile,
    BreakDefinition,
    MendDefinition,
    AddCycle,
    RemoveCycle,
    Revert,
    Merge,
    Octopus,
    EvilMerge,
}

/// All of them; those that edit values occur more than once.
pub const WHAT: [What; 35] = {
    use What::{
        AddCycle, AddDocument, AddKey, BreakDefinition, BreakFile, EditOutside, EditValue,
        EvilMerge, InsertItem, MendDefinition, MendFile, Merge, MoveFile, Octopus, RemoveCycle,
        RemoveDocument, RemoveItem, RemoveKey, RenameDocument, RenameSite, RenameSiteAndDefinition,
        ReorderItems, Revert,
    };
    [
        EditValue,
        EditValue,
        EditValue,
        EditValue,
        EditValue,
        AddKey,
        AddKey,
        RemoveKey,
        InsertItem,
        InsertItem,
        RemoveItem,
        RemoveItem,
        ReorderItems,
        ReorderItems,
        AddDocument,
        RemoveDocument,
        RenameDocument,
        RenameDocument,
        MoveFile,
        EditOutside,
        RenameSite,
        RenameSiteAndDefinition,
        BreakFile,
        BreakFile,
        MendFile,
        MendFile,
        BreakDefinition,
        MendDefinition,
        AddCycle,
        RemoveCycle,
        Revert,
        Merge,
        Merge,
        Octopus,
        EvilMerge,
    ]
};

/// Instruction to make one commit.
#[derive(Clone, Debug)]
pub struct Step {
    what: What,
    /// The branch to commit to.
    branch: Index,
    /// Whether the commit starts a branch.
    forks: bool,
    /// Selects what in the repository is changed.
    first: Index,
    second: Index,
    value: Json,
}

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 6..13)
}

fn step() -> impl Strategy<Value = Step> {
    let values = select(vec![
        json!(1),
        json!(2),
        json!("t"),
        json!("a"),
        json!("c"),
        Json::Null,
    ]);
    let value = prop_oneof![8 => values, 1 => Just(json!({})), 1 => Just(json!({"k": [1, "t"]}))];
    let indexes = (any::<Index>(), any::<Index>(), any::<Index>());
    (
        select(WHAT.to_vec()),
        prop::bool::weighted(0.35),
        indexes,
        value,
    )
        .prop_map(|(what, forks, (branch, first, second), value)| Step {
            what,
            branch,
            forks,
            first,
            second,
            value,
        })
}

impl History {
    pub fn of(steps: &[Step]) -> Self {
        let first = MadeCommit {
            parents: Vec::new(),
            files: initial(),
            what: None,
        };
        let mut history = Self {
            commits: vec![first],
        };
        let mut tips = vec![0];
        for step in steps {
            history.add(step, &mut tips);
        }
        if tips.len() > 1 {
            let what = if tips.len() > 2 {
                What::Octopus
            } else {
                What::Merge
            };
            let last = Step {
                what,
                ..steps[0].clone()
            };
            history.add(&last, &mut tips);
        }
        history
    }

    /// Adds the commit of a step if it changes something.
    fn add(&mut self, step: &Step, tips: &mut Vec<usize>) {
        let Some(parents) = step.parents(tips) else {
            return;
        };
        let before = self.merged(&parents, step);
        let mut files = before.clone();
        if step.what == What::Revert {
            files = step.first.get(&self.commits).files.clone();
        } else {
            step.apply(&mut files);
        }
        if files != before || step.what.is_merge() {
            let stays = step.forks && tips.len() < MAX_TIPS && !step.what.is_merge();
            tips.retain(|tip| stays || !parents.contains(tip));
            tips.push(self.commits.len());
            self.commits.push(MadeCommit {
                parents,
                files,
                what: Some(step.what),
            });
        }
    }

    /// Files of the first parent, with the changes of the others since their merge base.
    fn merged(&self, parents: &[usize], step: &Step) -> Files {
        let mut merged = self.commits[parents[0]].files.clone();
        for parent in &parents[1..] {
            let base = &self.commits[self.merge_base(parents[0], *parent)].files;
            let theirs = &self.commits[*parent].files;
            let paths: BTreeSet<String> = merged.keys().chain(theirs.keys()).cloned().collect();
            for path in paths {
                let [from, ours, other] = [base, &merged, theirs].map(|files| files.get(&path));
                let is_theirs = ours == from || other != from && step.coin(path.len());
                match other.filter(|_| is_theirs).cloned() {
                    Some(file) => drop(merged.insert(path, file)),
                    None if is_theirs => drop(merged.remove(&path)),
                    None => {}
                }
            }
        }
        merged
    }

    fn merge_base(&self, one: usize, other: usize) -> usize {
        let [one, other] = [one, other].map(|commit| self.ancestors(commit));
        *one.intersection(&other)
            .last()
            .expect("all begin with the first commit")
    }

    /// A commit and its ancestors.
    fn ancestors(&self, commit: usize) -> BTreeSet<usize> {
        let parents = self.commits[commit].parents.iter();
        let all = parents.flat_map(|parent| self.ancestors(*parent));
        all.chain([commit]).collect()
    }

    /// Input of `git fast-import` for the commits up to HEAD, one minute apart.
    pub fn stream(&self, head: usize) -> String {
        let mut stream = String::new();
        for (at, commit) in self.commits[..=head].iter().enumerate() {
            let time = FIRST_TIME + 60 * at;
            let subject = commit
                .what
                .map_or("Begin".to_owned(), |what| format!("{what:?}"));
            let mark = at + 1;
            write!(
                stream,
                "commit refs/heads/main\nmark :{mark}\ncommitter T <t@example.org> {time} +0000\n\
                 data {}\n{subject}\n",
                subject.len()
            )
            .expect("writing to a string succeeds");
            for (nth, parent) in commit.parents.iter().enumerate() {
                let word = if nth == 0 { "from" } else { "merge" };
                writeln!(stream, "{word} :{}", parent + 1).expect("writing to a string succeeds");
            }
            stream.push_str("deleteall\n");
            for (path, file) in &commit.files {
                let text = file.text();
                write!(
                    stream,
                    "M 100644 inline {path}\ndata {}\n{text}\n",
                    text.len()
                )
                .expect("writing to a string succeeds");
            }
        }
        write!(stream, "reset refs/heads/main\nfrom :{}\n", head + 1)
            .expect("writing to a string succeeds");
        stream
    }
}

/// Maximum number of branches at a time.
const MAX_TIPS: usize = 3;

/// Time of the first commit.
const FIRST_TIME: usize = 1_790_000_000;

impl What {
    fn is_merge(self) -> bool {
        matches!(self, Self::Merge | Self::Octopus | Self::EvilMerge)
    }
}

impl Step {
    /// Parents of its commit; `None` if there are too few branches.
    fn parents(&self, tips: &[usize]) -> Option<Vec<usize>> {
        let mut parents = match self.what {
            What::Merge | What::EvilMerge if tips.len() > 1 => tips[tips.len() - 2..].to_vec(),
            What::Octopus if tips.len() > 2 => tips.to_vec(),
            _ if self.what.is_merge() => return None,
            _ => vec![*self.branch.get(tips)],
        };
        let turn = self.branch.index(parents.len());
        parents.rotate_left(turn);
        Some(parents)
    }

    fn coin(&self, salt: usize) -> bool {
        (self.second.index(1 << 16) + salt).is_multiple_of(2)
    }

    /// Changes the files; `None` if the repository has nothing that the step applies to.
    fn apply(&self, files: &mut Files) -> Option<()> {
        match self.what {
            What::EditValue | What::EvilMerge => {
                let is_scalar = |it: &Json| !it.is_object() && !it.is_array();
                *self.place(files, is_scalar)? = self.value.clone();
            }
            What::AddKey => {
                let key = self.first.get(&["a", "m", "new", "l"]);
                self.place(files, Json::is_object)?[*key] = self.value.clone();
            }
            What::RemoveKey => {
                let is_full = |it: &Json| it.as_object().is_some_and(|it| !it.is_empty());
                let entries = self.place(files, is_full)?.as_object_mut()?;
                let key = self.first.index(entries.len());
                entries.shift_remove(&entries.keys().nth(key)?.clone());
            }
            What::InsertItem => {
                self.insert_item(self.place(files, Json::is_array)?.as_array_mut()?);
            }
            What::RemoveItem => {
                let items = self.place(files, has_items(1))?.as_array_mut()?;
                items.remove(self.first.index(items.len()));
            }
            What::ReorderItems => {
                let items = self.place(files, has_items(2))?.as_array_mut()?;
                match self.first.index(2) {
                    0 => items.rotate_left(1),
                    _ => items.reverse(),
                }
            }
            What::AddDocument => self.add_document(files)?,
            What::RemoveDocument => {
                let (path, at) = self.document(files)?;
                files.get_mut(&path)?.documents.remove(at);
            }
            What::RenameDocument => {
                let (path, at) = self.document(files)?;
                let name = &mut files.get_mut(&path)?.documents[at]["metadata"]["name"];
                *name = toggled(name.as_str()?, "-renamed").into();
            }
            What::MoveFile => {
                let path = self.first.get(&layer_files(files)).clone();
                let layer = path
                    .match_indices('/')
                    .nth(usize::from(!path.starts_with("global/")))?;
                let (folder, rest) = path.split_at(layer.0 + 1);
                let moved = rest.strip_prefix("moved/").map(ToOwned::to_owned);
                let moved = moved.unwrap_or_else(|| format!("moved/{rest}"));
                let file = files.remove(&path)?;
                files.insert(format!("{folder}{moved}"), file);
            }
            What::EditOutside => {
                let path = self
                    .first
                    .get(&["README.md", "type/other/a.yaml", "docs/a.yaml"]);
                files.entry((*path).to_owned()).or_default().junk = format!("a: {}\n", self.value);
            }
            What::RenameSite | What::RenameSiteAndDefinition => self.rename_site(files)?,
            What::BreakFile => {
                let path = self.first.get(&layer_files(files)).clone();
                files.get_mut(&path)?.junk = format!("---\na: [{}\n", self.value);
            }
            What::MendFile => {
                let broken = files
                    .values_mut()
                    .filter(|file| file.junk.starts_with("---"));
                broken.for_each(|file| file.junk.clear());
            }
            What::BreakDefinition => {
                let site = self.first.get(&sites(files)).clone();
                let path = format!("site/{site}/{DEFINITION}");
                match self.second.index(2) {
                    0 => drop(files.remove(&path)?),
                    _ => files.get_mut(&path)?.documents[0]["data"] = json!({}),
                }
            }
            What::MendDefinition => repair_definitions(files),
            What::AddCycle => add_cycle(files)?,
            What::RemoveCycle => remove_cycle(files),
            What::Revert | What::Merge | What::Octopus => {}
        }
        Some(())
    }

    /// One of the documents.
    fn document(&self, files: &Files) -> Option<(String, usize)> {
        let documents = documents(files);
        (!documents.is_empty()).then(|| self.first.get(&documents).clone())
    }

    /// One of the values of this kind in the data of a document.
    fn place<'f>(
        &self,
        files: &'f mut Files,
        applies: impl Fn(&Json) -> bool,
    ) -> Option<&'f mut Json> {
        let place = |(path, at): &(String, usize)| {
            place_in(&files[path].documents[*at]["data"], self.second, &applies)
        };
        let all = documents(files).into_iter();
        let with_places: Vec<_> = all.filter_map(|it| Some((place(&it)?, it))).collect();
        let (place, (path, at)) =
            (!with_places.is_empty()).then(|| self.first.get(&with_places))?;
        files.get_mut(path)?.documents[*at]["data"].pointer_mut(place)
    }

    fn insert_item(&self, items: &mut Vec<Json>) {
        let name = *self.second.get(&["p", "q", "r", "s"]);
        let item = match items.first() {
            Some(Json::Object(first)) if first.contains_key("name") => {
                json!({"name": name, "v": self.value})
            }
            Some(Json::Object(first)) if first.contains_key("id") => {
                json!({"id": name, "v": self.value})
            }
            _ => self.value.clone(),
        };
        items.insert(self.first.index(items.len() + 1), item);
    }

    /// Adds a document with a new name to one of the files.
    fn add_document(&self, files: &mut Files) -> Option<()> {
        let path = self.first.get(&layer_files(files)).clone();
        let layer = path.split('/').next()?;
        let name = format!("new-{}", self.second.index(3));
        let is_known = |(path, at): &(String, usize)| {
            let known = &files[path].documents[*at]["metadata"]["name"];
            known.as_str().is_some_and(|known| known.starts_with(&name))
        };
        if documents(files).iter().any(is_known) {
            return None;
        }
        let data = json!({"of": name, "v": self.value, "w": [name, layer]});
        files
            .get_mut(&path)?
            .documents
            .push(document(&name, layer, data));
        Some(())
    }

    fn rename_site(&self, files: &mut Files) -> Option<()> {
        let old = self.first.get(&sites(files)).clone();
        let new = toggled(&old, "-new");
        if sites(files).contains(&new) {
            return None;
        }
        for file in files.keys().cloned().collect::<Vec<_>>() {
            if let Some(rest) = file.strip_prefix(&format!("site/{old}/")) {
                let moved = files.remove(&file)?;
                files.insert(format!("site/{new}/{rest}"), moved);
            }
        }
        if self.what == What::RenameSiteAndDefinition {
            let definition = files.get_mut(&format!("site/{new}/{DEFINITION}"))?;
            definition.documents[0]["metadata"]["name"] = new.into();
        }
        Some(())
    }
}

fn has_items(least: usize) -> impl Fn(&Json) -> bool {
    move |value| value.as_array().is_some_and(|items| items.len() >= least)
}

/// The name with the suffix, or without it if it already has it.
fn toggled(name: &str, suffix: &str) -> String {
    let without = name.strip_suffix(suffix).map(ToOwned::to_owned);
    without.unwrap_or_else(|| format!("{name}{suffix}"))
}

/// Adds usable definitions to the sites that have none.
fn repair_definitions(files: &mut Files) {
    for site in sites(files) {
        let path = format!("site/{site}/{DEFINITION}");
        let known = files
            .get(&path)
            .map(|file| file.documents[0]["data"]["site_type"].clone());
        if known != Some("t".into()) {
            let name = site.strip_suffix("-new").unwrap_or(&site);
            files.insert(path, definition(name));
        }
    }
}

/// Documents whose substitutions form a cycle.
const CYCLE: [&str; 2] = ["images", "plain"];

fn add_cycle(files: &mut Files) -> Option<()> {
    for (name, other) in [(CYCLE[0], CYCLE[1]), (CYCLE[1], CYCLE[0])] {
        let all = files.values_mut().flat_map(|file| &mut file.documents);
        let document = all.into_iter().find(|it| it["metadata"]["name"] == name)?;
        document["metadata"]["substitutions"] = json!([substitution([other, ".of"], ".cycle")]);
    }
    Some(())
}

fn remove_cycle(files: &mut Files) {
    let all = files.values_mut().flat_map(|file| &mut file.documents);
    for document in all.filter(|it| CYCLE.iter().any(|name| it["metadata"]["name"] == *name)) {
        document["metadata"]["substitutions"] = json!([]);
    }
}
