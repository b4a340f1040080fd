//! A site in the commits of a history: its names, its parents and its rendered outputs.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex};

use layercake::check::RunControl;
use layercake::commands::Selection;
use layercake::commands::render::{RenderRequest, run};
use layercake::report::canonical;
use layercake::yaml::{Node, parse};
use rayon::prelude::*;

use super::log::{Commit, Content, Folder, Log, any_file};
use super::output::Output;
use super::value::secrets;

/// A site in one commit.
pub struct Version {
    pub commit: usize,
    pub name: String,
    /// Indexes of the site in the parents of the commit.
    pub parents: Vec<usize>,
    pub state: State,
    /// Files of the site; equal files are shared.
    pub inputs: Arc<Inputs>,
}

#[derive(Clone, PartialEq, Eq)]
pub enum State {
    Absent,
    Unusable,
    /// Index of the rendered outputs; versions with the same files share it.
    Rendered(usize),
}

/// Rendered outputs of a site.
pub struct Rendered {
    pub inputs: Arc<Inputs>,
    pub outputs: Vec<Output>,
}

/// Versions of the site in all commits in which it can be traced; the first one is the start.
pub fn versions(log: &Log, site: &str) -> (Vec<Version>, Vec<Rendered>) {
    let mut versions = named(log, site);
    let excused = versions[0].inputs.broken(log);
    let mut by_inputs: HashMap<Arc<Inputs>, usize> = HashMap::new();
    let mut to_render = Vec::new();
    for version in &mut versions {
        let commit = &log.commits[version.commit];
        let inputs = &version.inputs;
        version.state = if inputs.site.is_none() {
            State::Absent
        } else if !inputs.is_defined || !inputs.broken(log).is_subset(&excused) {
            State::Unusable
        } else {
            State::Rendered(*by_inputs.entry(inputs.clone()).or_insert_with(|| {
                to_render.push((commit, version.name.clone(), inputs.clone()));
                to_render.len() - 1
            }))
        };
    }
    let known = Mutex::default();
    let rendered = to_render
        .into_par_iter()
        .map(|(commit, name, inputs)| Rendered {
            outputs: render(log, commit, &name, &known),
            inputs,
        });
    let rendered = rendered.collect();
    (versions, rendered)
}

/// Versions that are not yet rendered.
fn named(log: &Log, site: &str) -> Vec<Version> {
    let mut all_inputs: HashSet<Arc<Inputs>> = HashSet::new();
    let mut new = |commit: usize, name: String, later: Option<&Inputs>| {
        let inputs = Arc::new(Inputs::of(log, &log.commits[commit], &name, later));
        let inputs = all_inputs.get(&inputs).cloned().unwrap_or(inputs);
        all_inputs.insert(Arc::clone(&inputs));
        Version {
            commit,
            name,
            parents: Vec::new(),
            state: State::Absent,
            inputs,
        }
    };
    let mut versions = vec![new(log.commits.len() - 1, site.to_owned(), None)];
    let mut known = HashMap::from([((versions[0].commit, site.to_owned()), 0)]);
    let mut next = 0;
    while next < versions.len() {
        let child = &log.commits[versions[next].commit];
        for parent in &child.parents {
            let name = name_before(&versions[next].name, child, &log.commits[*parent]);
            let index = *known.entry((*parent, name.clone())).or_insert_with(|| {
                versions.push(new(*parent, name, Some(&versions[next].inputs)));
                versions.len() - 1
            });
            versions[next].parents.push(index);
        }
        next += 1;
    }
    versions
}

/// Name of a site in a parent commit, where its folder may have had another name.
fn name_before(name: &str, child: &Commit, parent: &Commit) -> String {
    let Some(folder) = child.site(name).filter(|_| parent.site(name).is_none()) else {
        return name.to_owned();
    };
    let common = |old: &Folder| {
        let mut unpaired: Vec<Content> = folder.values().map(|file| file.1).collect();
        let mut pair = |content| {
            let at = unpaired.iter().position(|other| *other == content);
            at.map(|at| unpaired.swap_remove(at)).is_some()
        };
        old.values().filter(|file| pair(file.1)).count()
    };
    let gone = parent.folders.iter().filter_map(|(path, old)| {
        let old_name = path
            .strip_prefix("site/")
            .filter(|old| child.site(old).is_none())?;
        Some((common(old), old.len().max(folder.len()), old_name))
    });
    let alike = gone.filter(|(common, all, _)| 2 * common >= *all);
    alike
        .max_by_key(|(common, ..)| *common)
        .map_or(name, |(.., old)| old)
        .to_owned()
}

impl Commit {
    fn site(&self, name: &str) -> Option<&Arc<Folder>> {
        self.folders.get(&format!("site/{name}"))
    }
}

/// Files of a site.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Inputs {
    /// Type of the site, or its later type if its definition is invalid here.
    site_type: Option<String>,
    is_defined: bool,
    global: Option<Arc<Folder>>,
    of_type: Option<Arc<Folder>>,
    site: Option<Arc<Folder>>,
}

impl Inputs {
    fn of(log: &Log, commit: &Commit, name: &str, later: Option<&Self>) -> Self {
        let folder = |path: String| commit.folders.get(&path).cloned();
        let site = folder(format!("site/{name}"));
        let defined = site.as_ref().and_then(|site| site_type(log, site));
        let is_defined = defined.is_some();
        let site_type = defined.or_else(|| later?.site_type.clone());
        let of_type = site_type
            .as_ref()
            .and_then(|site_type| folder(format!("type/{site_type}")));
        Self {
            site_type,
            is_defined,
            global: folder("global".to_owned()),
            of_type,
            site,
        }
    }

    /// Folders of its layers, each with the name of the layer.
    pub fn folders(&self) -> impl Iterator<Item = (&'static str, &Arc<Folder>)> {
        let folders = [
            ("global", &self.global),
            ("type", &self.of_type),
            ("site", &self.site),
        ];
        folders
            .into_iter()
            .filter_map(|(layer, folder)| Some((layer, folder.as_ref()?)))
    }

    fn broken(&self, log: &Log) -> BTreeSet<Content> {
        self.folders()
            .flat_map(|(_, folder)| log.broken_in(folder))
            .collect()
    }
}

fn site_type(log: &Log, site: &Folder) -> Option<String> {
    let (_, content) = site.get("site-definition.yaml")?;
    let parsed = parse(any_file(), log.text(*content));
    let definition = parsed.documents.iter().find(|document| {
        let schema = document
            .root
            .get("schema")
            .and_then(|schema| schema.as_str());
        schema == Some("pegleg/SiteDefinition/v1")
    });
    let site_type = definition?.root.get("data")?.get("site_type")?;
    site_type.as_str().map(ToOwned::to_owned)
}

/// Data by its text and its secret locations.
type KnownData = HashMap<(String, Vec<String>), Arc<Node>>;

/// Outputs of a site. Equal data is shared through `known`.
fn render(log: &Log, commit: &Commit, name: &str, known: &Mutex<KnownData>) -> Vec<Output> {
    let selection = Selection {
        revision: commit.id.clone(),
        sites: vec![name.to_owned()],
        ..Selection::of(log.repository.clone())
    };
    let rendering = run(
        &selection,
        &RenderRequest::default(),
        &RunControl::default(),
    );
    let rendering = rendering.unwrap_or_else(|error| panic!("{:?} {name}: {error}", commit.id));
    let of_site = rendering
        .sites
        .iter()
        .flat_map(|site| &site.documents)
        .map(|document| {
            let text = (canonical(&document.data), secrets(&document.data));
            let mut known = known.lock().expect("no thread panics");
            let data = known
                .entry(text)
                .or_insert_with(|| Arc::new(document.data.clone()));
            Output {
                data: Some(Arc::clone(data)),
                ..Output::missing(&document.key)
            }
        });
    let missing = rendering
        .missing
        .iter()
        .map(|(_, key)| Output::missing(key));
    of_site.chain(missing).collect()
}
