//! `layercake cloud-config`: merges parts as cloud-init does.
//!
//! Merges either named files, as the only set of a run without Deckhand documents, or the sets that
//! the repository's configuration declares, for each site.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use globset::GlobSet;

use super::{Project, Selection, Start, cannot_be_found, configuration, globs};
use crate::check::{
    Checked, Configuration, GivenHeader, Options, Plan, RenderedSite as SiteAtHand, RunControl,
    Scope, Work, work_on_sites,
};
use crate::error::Error;
use crate::merge::cloud_init::Dialect;
use crate::near::help_for_unknown;
use crate::report::{RenderedDocument, SiteDocuments};
use crate::source::{
    FileId, ListedFiles, MemoryTree, RepoPath, Span, WorkTree, bytes_at, names_in,
};
use crate::system::cloud_init::SourceKind;
use crate::system::cloud_init::declared::{DeclaredSet, SecretFiles, is_read_in_conf_d};
use crate::system::deckhand::layout::Layout;
use crate::system::deckhand::secrecy::Folder;
use crate::yaml::{Key, Mapping, Node, Value};

/// File name for standard input.
pub(crate) const STANDARD_INPUT: &str = "-";

/// Files to merge.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Files of user-data, in order.
    pub user_data: Vec<PathBuf>,
    /// Merge types of user-data files, by 1-based number: `N=SPEC`.
    pub merge_types: Vec<String>,
    /// File of the second vendor-data.
    pub vendor_data2: Option<PathBuf>,
    /// File of vendor-data.
    pub vendor_data: Option<PathBuf>,
    /// Folder `conf.d`.
    pub conf_d: Option<PathBuf>,
    /// `cloud.cfg`.
    pub base: Option<PathBuf>,
    /// Merge rules.
    pub dialect: Option<Dialect>,
    /// Content of standard input, if one of the files is `STANDARD_INPUT`.
    pub standard_input: Vec<u8>,
}

impl Parts {
    /// Whether no file is named.
    pub fn is_empty(&self) -> bool {
        self.user_data.is_empty() && self.others().next().is_none() && self.conf_d.is_none()
    }

    /// Whether standard input is one of the files.
    pub fn has_standard_input(&self) -> bool {
        let mut files = self
            .user_data
            .iter()
            .chain(self.others().map(|(_, file)| file));
        files.any(|file| file.as_os_str() == STANDARD_INPUT)
    }

    /// The files of a folder of the datasource `NoCloud` that is given as the only user-data.
    fn of_folder(&self, directory: &Path) -> Option<Self> {
        let [folder] = &self.user_data[..] else {
            return None;
        };
        let file = |name| Some(folder.join(name)).filter(|file| directory.join(file).is_file());
        directory.join(folder).is_dir().then(|| Self {
            user_data: vec![folder.join("user-data")],
            vendor_data: self.vendor_data.clone().or_else(|| file("vendor-data")),
            ..self.clone()
        })
    }

    /// Files other than user-data, each at most once.
    fn others(&self) -> impl Iterator<Item = (SourceKind, &PathBuf)> {
        let files = [
            (SourceKind::VendorData2, &self.vendor_data2),
            (SourceKind::VendorData, &self.vendor_data),
            (SourceKind::Base, &self.base),
        ];
        files
            .into_iter()
            .filter_map(|(kind, file)| Some((kind, file.as_ref()?)))
    }
}

/// Merges the named parts. Dropped parts do not prevent the result.
///
/// # Errors
/// If a file cannot be read, or an argument is invalid; faults of parts are findings.
pub fn merge(
    selection: &Selection,
    parts: &Parts,
    control: &RunControl,
) -> Result<Checked<SiteDocuments>, Error> {
    let of_folder = parts.of_folder(&selection.directory);
    let files = of_folder.as_ref().unwrap_or(parts);
    let named = NamedFiles::read(&selection.directory, files)?;
    let around = SurroundingRepository::of(selection)?;
    let set = named.declared(parts.dialect, around.has_secret(&named));
    let options = configuration::settle(&around.found, selection.meaning, &selection.selectors)?;
    let folder = WorkTree::in_folder(selection.directory.clone())?;
    let plan = Plan {
        tree: Arc::new(ListedFiles::new(named.files, folder)),
        scope: Scope::Set(Vec::new()),
        base: None,
        options: Arc::new(Options {
            baseline: None,
            configuration: Configuration {
                sets: vec![set],
                headers: named.headers,
                secrets: options.configuration.secrets,
                secret_files: around.secret_files_below(&selection.directory),
                ..Configuration::default()
            },
            ..options
        }),
        control: control.clone(),
    };
    work_on_sites(&plan, Work::Merge, |site| outputs(site, None))
}

/// Merges the declared sets of the selected sites. `sets` are globs for their names; all if empty.
///
/// # Errors
/// If no such set exists; faults of documents and parts are findings.
pub fn merge_declared(
    selection: &Selection,
    sets: &[String],
    control: &RunControl,
) -> Result<Checked<SiteDocuments>, Error> {
    let start = Start::find(selection)?;
    let has_sites = Layout::discover(&start.tree, &start.from)?.is_some();
    let selection = Selection {
        set: !has_sites,
        ..selection.clone()
    };
    let project = Project::open(&selection)?;
    let wanted = globs(sets)?;
    let mut plan = project.plan(control);
    if !has_sites {
        // No other files are read as documents.
        plan.scope = Scope::Set(Vec::new());
    }
    let declared = &plan.options.configuration.sets;
    if declared.is_empty() {
        return Err(Error::usage("no parts given").with_help(
            "pass the parts, e.g. `layercake cloud-config base.yaml site.yaml`, or declare sets \
                 of them under `cloud-config` in `layercake.yaml`",
        ));
    }
    if !declared
        .iter()
        .any(|set| is_wanted(wanted.as_ref(), &set.name))
    {
        let names: Vec<&str> = declared.iter().map(|set| &*set.name).collect();
        let message = format!("no set of parts matches {}", sets.join(" or "));
        let help = help_for_unknown(&sets.concat(), "sets", &names);
        return Err(Error::usage(message).with_help(help.unwrap_or_default()));
    }
    work_on_sites(&plan, Work::Merge, |site| outputs(site, wanted.as_ref()))
}

fn is_wanted(wanted: Option<&GlobSet>, name: &str) -> bool {
    wanted.is_none_or(|wanted| wanted.is_match(name))
}

/// Merged sets of a site in declaration order, with keys sorted as cloud-init writes them.
fn outputs(site: &SiteAtHand<'_>, wanted: Option<&GlobSet>) -> SiteDocuments {
    let emitted = site
        .graph
        .outputs()
        .filter(|(doc, _)| site.sets.member(*doc).is_some());
    let emitted = emitted.filter(|(_, recipe)| is_wanted(wanted, &recipe.key.name));
    let documents = emitted.filter_map(|(doc, recipe)| {
        Some(RenderedDocument {
            key: recipe.key.clone(),
            metadata: Node::new(Value::Null, recipe.span),
            data: sorted(site.rendered.data(doc)?),
            file: site.sources.get(recipe.span.file).path().clone(),
            line: site.sources.start(recipe.span).line.get(),
        })
    });
    SiteDocuments {
        site: site.site.name.clone(),
        documents: documents.collect(),
    }
}

/// The node with the keys of every mapping sorted.
fn sorted(node: &Node) -> Node {
    let value = match &node.value {
        Value::Mapping(mapping) => {
            let mut entries: Vec<(&Key, &Node)> = mapping.iter().collect();
            entries.sort_by_cached_key(|(key, _)| order_of(key));
            let entries: Mapping = entries
                .into_iter()
                .map(|(key, node)| (key.clone(), sorted(node)))
                .collect();
            Value::Mapping(Arc::new(entries))
        }
        Value::Sequence(items) => Value::Sequence(Arc::new(items.iter().map(sorted).collect())),
        _ => return node.clone(),
    };
    Node {
        value,
        ..node.clone()
    }
}

/// Sort key: numbers before strings, a mix that Python could not sort at all.
fn order_of(key: &Key) -> (i64, String) {
    match &key.value {
        Value::Int(number) => (*number, String::new()),
        value => (i64::MAX, crate::yaml::emit::scalar_text(value)),
    }
}

/// Contents of the named files.
struct NamedFiles {
    files: MemoryTree,
    /// Files of each source.
    sources: Vec<(SourceKind, Vec<Arc<str>>)>,
    headers: Vec<GivenHeader>,
    /// Path of each on disk.
    on_disk: BTreeMap<Arc<str>, PathBuf>,
}

impl NamedFiles {
    fn read(directory: &Path, parts: &Parts) -> Result<Self, Error> {
        let mut named = Self {
            files: MemoryTree::new(),
            sources: Vec::new(),
            headers: Vec::new(),
            on_disk: BTreeMap::new(),
        };
        for file in &parts.user_data {
            named.add(SourceKind::UserData, directory, file, parts)?;
        }
        for (kind, file) in parts.others().filter(|(kind, _)| kind.is_user_data()) {
            named.add(kind, directory, file, parts)?;
        }
        if let Some(folder) = &parts.conf_d {
            let mut names = names_in(&directory.join(folder))?;
            names.retain(|name| is_read_in_conf_d(name));
            for name in names {
                named.add(SourceKind::ConfD, directory, &folder.join(name), parts)?;
            }
        }
        for (kind, file) in parts.others().filter(|(kind, _)| !kind.is_user_data()) {
            named.add(kind, directory, file, parts)?;
        }
        for text in &parts.merge_types {
            named.headers.push(merge_type(text, parts)?);
        }
        if named.sources.is_empty() {
            let message = "the folder given with `--conf-d` has no `.cfg` files";
            return Err(Error::usage(message)
                .with_help("cloud-init reads only files whose names end in `.cfg`"));
        }
        Ok(named)
    }

    fn add(
        &mut self,
        kind: SourceKind,
        directory: &Path,
        file: &Path,
        parts: &Parts,
    ) -> Result<(), Error> {
        let name = name_of(file)?;
        if self
            .on_disk
            .insert(name.clone(), directory.join(file))
            .is_some()
        {
            let message = format!("`{}` is given twice", file.display());
            return Err(Error::usage(message).with_help("copy the file to merge it twice"));
        }
        let bytes = if file.as_os_str() == STANDARD_INPUT {
            parts.standard_input.clone()
        } else {
            let on_disk = directory.join(file);
            // The error names it as the user did.
            on_disk
                .metadata()
                .map_err(|cause| cannot_be_found(file, cause))?;
            bytes_at(&on_disk)?
        };
        self.files = std::mem::take(&mut self.files).with(&name, bytes);
        match self.sources.last_mut() {
            Some((last, names)) if *last == kind => names.push(name),
            Some(_) | None => self.sources.push((kind, vec![name])),
        }
        Ok(())
    }

    /// The files as the only set of a run.
    fn declared(&self, dialect: Option<Dialect>, secret: bool) -> DeclaredSet {
        let glob = |name: &Arc<str>| Arc::from(globset::escape(name));
        let sources = self.sources.iter();
        DeclaredSet {
            name: "cloud-config".into(),
            at: Span::point(FileId::default(), 0),
            dialect: dialect.unwrap_or(Dialect::Current),
            is_undecided: dialect.is_none(),
            sources: sources
                .map(|(kind, names)| (*kind, names.iter().map(glob).collect()))
                .collect(),
            sites: None,
            secret,
        }
    }
}

/// Name of a file in reports, as the user gave it.
fn name_of(file: &Path) -> Result<Arc<str>, Error> {
    if file.as_os_str() == STANDARD_INPUT {
        return Ok("<stdin>".into());
    }
    let name = file.to_str().ok_or_else(|| {
        Error::usage(format!(
            "the file name `{}` is not valid UTF-8",
            file.display()
        ))
    })?;
    Ok(name.strip_prefix("./").unwrap_or(name).into())
}

/// Parses `N=SPEC` into the header of part N.
fn merge_type(text: &str, parts: &Parts) -> Result<GivenHeader, Error> {
    let malformed = || {
        Error::usage(format!("invalid value `{text}` for `--merge-type`")).with_help(
            "write it as N=SPEC, e.g. `2=dict(recurse_list)+list(append)` for the second",
        )
    };
    let (number, value) = text.split_once('=').ok_or_else(malformed)?;
    let number: usize = number.trim().parse().map_err(|_| malformed())?;
    let file = number
        .checked_sub(1)
        .and_then(|index| parts.user_data.get(index));
    let file = file.ok_or_else(|| {
        let count = crate::report::counted(parts.user_data.len(), "part");
        let message = format!("`--merge-type {text}`: no part {number}");
        Error::usage(message).with_help(format!("{count} given; parts are counted from 1"))
    })?;
    Ok(GivenHeader {
        path: RepoPath::new(name_of(file)?),
        given_as: RepoPath::new(format!("--merge-type {number}")),
        name: "Merge-Type".into(),
        value: value.into(),
    })
}

/// The enclosing repository, if there is one.
struct SurroundingRepository {
    found: configuration::FoundConfiguration,
    root: Option<PathBuf>,
}

impl SurroundingRepository {
    fn of(selection: &Selection) -> Result<Self, Error> {
        let start = Start::find(selection)?;
        Ok(Self {
            found: start.configured(selection)?,
            root: start.root,
        })
    }

    /// Whether one of the files is part of a set declared secret, or in a folder of secrets. Its
    /// whole merge result is then secret.
    fn has_secret(&self, named: &NamedFiles) -> bool {
        let secret = SecretFiles::of(&self.sets(), RepoPath::new(""));
        named.on_disk.values().any(|file| match self.inside(file) {
            Some(path) => secret.have(&path) || Folder::of(&path) == Folder::Secrets,
            None => Folder::on_disk(file) == Folder::Secrets,
        })
    }

    /// Files declared secret, for a tree of a folder. `None` if the folder is outside of the
    /// repository.
    fn secret_files_below(&self, folder: &Path) -> SecretFiles {
        let below = |folder| SecretFiles::of(&self.sets(), folder);
        self.inside(folder).map(below).unwrap_or_default()
    }

    fn sets(&self) -> Vec<DeclaredSet> {
        configuration::declared_sets(&self.found.config)
    }

    /// Path in the repository of a place on disk; `None` if it is outside.
    fn inside(&self, place: &Path) -> Option<RepoPath> {
        RepoPath::of_place(self.root.as_deref()?, &place.canonicalize().ok()?)
    }
}
