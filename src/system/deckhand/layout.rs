//! Which files make one site (`pegleg.md` section 1): `global/`, the site's
//! type below `type/`, and its own folder below `site/`, in the repository
//! itself and in those it names.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use unicode_normalization::UnicodeNormalization as _;

use crate::error::Error;
use crate::near::nearest;
use crate::source::{
    ContentId, Entry, EntryKind, FileId, RepoPath, Span, Spanned, Tree, UsedRevision,
};
use crate::yaml::{Key, Node, Value};

/// The files of a site repository, and of the further repositories given.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Where the repository's `global/`, `type/` and `site/` are.
    pub(crate) root: RepoPath,
    /// The YAML files of all layers, sorted by repository and path.
    pub(crate) files: Vec<LayerFile>,
    /// Repositories in the place of files, which are not read: submodules and other clones.
    pub(crate) nested: Vec<LayerFile>,
    /// Files that are in the way, with what is odd about them.
    pub(crate) odd: Vec<(RepoPath, Oddity)>,
    sites: BTreeSet<Arc<str>>,
    /// With the repository that each is in, as in [`LayerFile::repository`].
    types: BTreeSet<(Option<usize>, Arc<str>)>,
}

/// A YAML file and the sites it counts for.
#[derive(Clone, Debug)]
pub(crate) struct LayerFile {
    /// Where it is.
    pub(crate) path: RepoPath,
    /// Which sites it counts for.
    pub(crate) place: Place,
    /// The further repository it is in, by index; none for the first.
    pub(crate) repository: Option<usize>,
    /// What reading it will give, where that is known without reading.
    pub(crate) content: Option<ContentId>,
    /// Whether it is a symbolic link.
    pub(crate) is_link: bool,
}

/// Where below a repository's root a file is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// `global/`: for every site.
    Global,
    /// `type/NAME/`: for the sites of that type.
    Type(Arc<str>),
    /// `site/NAME/`: for that site.
    Site(Arc<str>),
}

/// Why a file below a layer folder is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Oddity {
    /// It ends in `.yml`.
    OtherExtension,
    /// git tracks it, and it is not on disk.
    NotOnDisk,
    /// Its name is not UTF-8.
    NameNotUtf8,
    /// It is a pointer to what git LFS keeps elsewhere.
    LargeFilePointer,
}

/// One site: its name and its files.
#[derive(Clone, Debug)]
pub(crate) struct SiteFiles {
    /// The name of its folder below `site/`.
    pub(crate) name: Arc<str>,
    /// Its `data.site_type`.
    pub(crate) site_type: Arc<str>,
    /// The further repositories it uses, by index.
    pub(crate) repositories: Vec<usize>,
    /// Its files, in path order.
    pub(crate) files: Vec<FileId>,
}

/// The further repositories that the sites of one side are made of, by site.
pub(crate) type Uses = BTreeMap<Arc<str>, Vec<Use>>;

/// A further repository, as one site is made of it.
#[derive(Clone, Debug)]
pub struct Use {
    /// The name by which the definition of the site knows it.
    pub(crate) name: Arc<str>,
    /// The name under which it was given.
    pub(crate) given: Arc<str>,
    /// The revision that was chosen.
    pub(crate) revision: UsedRevision,
    /// Its number among the further repositories that are read, or why its files are not known.
    pub(crate) found: Result<usize, Unreadable>,
}

/// Why the revision that a site definition pins cannot be read, and what cures it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// The reason.
    pub(crate) reason: String,
    /// The cure.
    pub(crate) help: String,
}

/// A further repository, as a site definition names it.
#[derive(Clone, Debug)]
pub(crate) struct NamedRepository {
    /// Its name.
    pub(crate) name: Spanned<Arc<str>>,
    /// The address from which Pegleg clones it.
    pub(crate) url: Option<Arc<str>>,
    /// Its `revision`.
    pub(crate) pin: Option<Spanned<Pin>>,
    /// The first key of what is said of it.
    pub(crate) first_key: Option<Span>,
}

/// The `revision` of a repository in a site definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pin {
    /// A branch, tag, id or other name of a commit.
    Revision(Arc<str>),
    /// A value of this kind, which is not a string.
    NotAString(&'static str),
}

/// Something wrong with how a repository is laid out.
#[derive(Clone, Debug)]
pub(crate) enum LayoutProblem {
    /// A file that is not read.
    Odd {
        /// Its (empty) source.
        file: FileId,
        /// Why.
        oddity: Oddity,
    },
    /// A folder below `site/` without `site-definition.yaml`.
    MissingDefinition {
        /// The (empty) source that stands for the missing file.
        file: FileId,
        /// The site.
        site: Arc<str>,
    },
    /// A site definition without a usable `data.site_type`.
    InvalidDefinition {
        /// The site.
        site: Arc<str>,
        /// The text that lacks it.
        at: Span,
    },
    /// A site definition that cannot be read at all.
    UnreadDefinition {
        /// The site.
        site: Arc<str>,
        /// The file.
        file: FileId,
    },
    /// A `site_type` that has no folder below `type/`.
    MissingType {
        /// The site.
        site: Arc<str>,
        /// The type, as the site definition names it.
        site_type: Spanned<Arc<str>>,
        /// A type that is spelled nearly the same.
        near: Option<Arc<str>>,
    },
    /// A folder below `type/` that no site has as its type.
    UnusedType {
        /// The first file of the folder.
        file: FileId,
        /// Its name.
        name: Arc<str>,
    },
    /// A file or folder whose path is that of another on systems that do not tell
    /// them apart.
    Clash {
        /// The file, or the first one of the folder.
        file: FileId,
        /// Its path, up to the name that clashes.
        path: RepoPath,
        /// The other one, or the first file of it.
        other: FileId,
        /// Its path, up to the name that clashes.
        other_path: RepoPath,
    },
    /// A `revision` by which Pegleg once selected folders, where there are folders of other
    /// revisions.
    IgnoredRevision {
        /// The site.
        site: Arc<str>,
        /// The revision, as the site definition names it.
        revision: Spanned<Arc<str>>,
        /// Folders of other revisions, whose files are part of the site too.
        others: Vec<RepoPath>,
    },
    /// A repository that sites name and that was not given.
    MissingRepository {
        /// Its name.
        name: Arc<str>,
        /// The sites, each with the repository as its definition names it.
        sites: Vec<(Arc<str>, NamedRepository)>,
    },
    /// A repository whose pinned revision cannot be read.
    UnreadableRepository {
        /// The site.
        site: Arc<str>,
        /// The repository, as the site definition names it.
        repository: NamedRepository,
        /// Why, and what cures it.
        why: Unreadable,
    },
}

/// The files and folders of `files` whose paths differ only in case, or in how
/// Unicode composes their letters; a folder counts once, whatever is in it.
pub(crate) fn clashes<'p>(
    files: impl Iterator<Item = (FileId, &'p RepoPath)>,
) -> Vec<LayoutProblem> {
    let mut known: HashMap<String, (&str, FileId), foldhash::fast::RandomState> =
        HashMap::default();
    let mut told = BTreeSet::new();
    let mut clashes = Vec::new();
    let mut last = "";
    for (file, path) in files {
        let path = path.as_str();
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        // Nearly always the folders are those of the last path.
        let shared = path.bytes().zip(last.bytes()).take_while(|(one, other)| one == other).count();
        last = path;
        for name in ends.filter(|end| *end >= shared).map(|end| &path[..end]) {
            let (other_path, other) = *known.entry(folded(name)).or_insert((name, file));
            if other_path == name {
                continue;
            }
            last = "";
            if told.insert(name) {
                let (path, other_path) = (RepoPath::new(name), RepoPath::new(other_path));
                clashes.push(LayoutProblem::Clash { file, path, other, other_path });
            }
            // What is in a folder that clashes does so too.
            break;
        }
    }
    clashes
}

/// What is the same of paths that are one on some systems.
fn folded(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    let lower: String = path.nfd().flat_map(char::to_lowercase).collect();
    lower.nfc().collect()
}

/// The folders of a repository that sites are made of.
pub(crate) const LAYERS: [&str; 3] = ["global", "site", "type"];

impl Layout {
    /// Name of the file that defines a site, in its folder.
    pub(crate) const DEFINITION: &str = "site-definition.yaml";

    /// Finds the site repository that `from` is inside of: the nearest folder
    /// at or above it that holds a `site` folder with a site definition, or
    /// `site` beside `global` or `type`. None where there is none.
    ///
    /// # Errors
    /// Where the tree cannot be listed.
    pub fn discover(tree: &dyn Tree, from: &RepoPath) -> Result<Option<Self>, Error> {
        let mut folder = Some(from.clone());
        while let Some(root) = folder {
            let mut layout = Self::empty(root.clone());
            let sites = tree.entries(&root.join("site"))?;
            let is_there =
                |entries: &[Entry]| entries.iter().any(|entry| entry.kind != EntryKind::Missing);
            if is_there(&sites) {
                let global = tree.entries(&root.join("global"))?;
                let types = tree.entries(&root.join("type"))?;
                let defined = sites.iter().any(|entry| Self::may_be_definition(&entry.path));
                if defined || is_there(&global) || is_there(&types) {
                    let entries = global.iter().chain(&sites).chain(&types);
                    layout.add(tree, entries, &root, None);
                    return Ok(Some(layout));
                }
            }
            folder = parent(&root);
        }
        Ok(None)
    }

    /// As [`Layout::discover`], with these sites alone. None where one of them is not defined, or
    /// another site repository could be nearer: all sites have to be listed then.
    ///
    /// # Errors
    /// Where the tree cannot be listed.
    pub(crate) fn of_sites(
        tree: &dyn Tree,
        from: &RepoPath,
        names: &[String],
    ) -> Result<Option<Self>, Error> {
        let names: BTreeSet<&String> = names.iter().collect();
        let mut folder = Some(from.clone());
        while let Some(root) = folder {
            let mut entries = Vec::new();
            let mut defined = 0;
            let layout = Self::empty(root.clone());
            for name in &names {
                entries.extend(tree.entries(&root.join("site").join(name))?);
                let definition = layout.definition_of(name);
                let mut defines = entries.iter().map(|entry| (&entry.path, entry.kind));
                defined += usize::from(defines.any(|it| it == (&definition, EntryKind::File)));
            }
            if defined == names.len() {
                return layout.with_layers(tree, entries).map(Some);
            }
            if !entries.is_empty() || !tree.entries(&root.join("site"))?.is_empty() {
                return Ok(None);
            }
            folder = parent(&root);
        }
        Ok(None)
    }

    /// The layout with these files of sites, and with those of the other layers.
    fn with_layers(mut self, tree: &dyn Tree, mut entries: Vec<Entry>) -> Result<Self, Error> {
        for layer in ["global", "type"] {
            entries.extend(tree.entries(&self.root.join(layer))?);
        }
        let root = self.root.clone();
        self.add(tree, entries.iter(), &root, None);
        Ok(self)
    }

    /// A side of a comparison on which there is no site repository at `root`. A repository
    /// that is nested there may hold one.
    ///
    /// # Errors
    /// Where the tree cannot be listed.
    pub(crate) fn absent(tree: &dyn Tree, root: &RepoPath) -> Result<Self, Error> {
        let mut layout = Self::empty(root.clone());
        let entries = tree.entries(&RepoPath::new(""))?;
        let nested = entries.iter().filter(|entry| entry.kind == EntryKind::Submodule);
        layout.nested.extend(nested.filter_map(|entry| nested_in(tree, entry, root, None)));
        Ok(layout)
    }

    fn empty(root: RepoPath) -> Self {
        Self {
            root,
            files: Vec::new(),
            nested: Vec::new(),
            odd: Vec::new(),
            sites: BTreeSet::new(),
            types: BTreeSet::new(),
        }
    }

    /// Adds the files of the further repository with this index, whose root is `root` in `tree`;
    /// those of lower indexes have been added.
    ///
    /// # Errors
    /// Where the tree cannot be listed.
    pub(crate) fn add_repository(
        &mut self,
        index: usize,
        tree: &dyn Tree,
        root: &RepoPath,
    ) -> Result<(), Error> {
        let mut entries = Vec::new();
        for layer in LAYERS {
            entries.extend(tree.entries(&root.join(layer))?);
        }
        self.add(tree, entries.iter(), root, Some(index));
        Ok(())
    }

    /// Leaves out the sites that are not wanted, with their files.
    pub(crate) fn keep_sites(&mut self, wanted: &dyn Fn(&str) -> bool) {
        self.sites.retain(|site| wanted(site));
        let is_wanted = |file: &LayerFile| match &file.place {
            Place::Site(site) => wanted(site),
            Place::Global | Place::Type(_) => true,
        };
        self.files.retain(is_wanted);
        self.nested.retain(is_wanted);
    }

    /// Whether the folders of two sites are one on some systems.
    pub(crate) fn has_clashing_sites(&self) -> bool {
        let names: BTreeSet<String> = self.sites.iter().map(|site| folded(site)).collect();
        names.len() < self.sites.len()
    }

    /// Leaves out the files of sites that are not wanted, but for their definitions.
    pub(crate) fn keep_files_of(&mut self, wanted: &dyn Fn(&str) -> bool) {
        let is_wanted = |file: &LayerFile| match &file.place {
            Place::Site(name) => wanted(name) || Self::may_be_definition(&file.path),
            Place::Global | Place::Type(_) => true,
        };
        self.files.retain(is_wanted);
        self.nested.retain(is_wanted);
    }

    /// Leaves out the files of types that are not wanted.
    pub(crate) fn keep_types(&mut self, wanted: &dyn Fn(&str) -> bool) {
        self.files.retain(|file| match &file.place {
            Place::Type(name) => wanted(name),
            Place::Global | Place::Site(_) => true,
        });
    }

    /// All sites and the paths of their definitions, whether these are there or not.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = (&Arc<str>, RepoPath)> {
        self.sites.iter().map(|site| (site, self.definition_of(site)))
    }

    /// The site type in the first document of a site definition.
    pub(crate) fn type_of(definition: &Node) -> Option<&str> {
        definition.get("data")?.get("site_type")?.as_str()
    }

    /// The further repositories in the first document of a site definition; none if it has no
    /// `repositories`.
    pub(crate) fn repositories_of(definition: &Node) -> Option<Vec<NamedRepository>> {
        let named = definition.get("data")?.get("repositories")?.as_mapping()?;
        let named = named.iter().filter_map(|(key, node)| NamedRepository::read(key, node));
        // The repository itself goes by this name (`pegleg.md` 1.1).
        Some(named.filter(|it| &*it.name.value != "site").collect())
    }

    /// Asks a tree whether the files of the repository itself are all there.
    ///
    /// # Errors
    /// Where they are not, and what brings them.
    pub(crate) fn ensure_present(&self, tree: &dyn Tree) -> Result<(), Error> {
        let files = self.files.iter().filter(|file| file.repository.is_none());
        tree.ensure_present(&files.map(|file| file.path.clone()).collect::<Vec<_>>())
    }

    fn add<'a>(
        &mut self,
        tree: &dyn Tree,
        entries: impl Iterator<Item = &'a Entry>,
        root: &RepoPath,
        repository: Option<usize>,
    ) {
        let first = self.files.len();
        for entry in entries {
            let below = entry.path.below(root).expect("the tree lists what is below the root");
            match entry.kind {
                EntryKind::Submodule => {
                    self.nested.extend(nested_in(tree, entry, root, repository));
                    continue;
                }
                EntryKind::Missing if !is_skipped(below) && below.ends_with(".yaml") => {
                    self.odd.push((entry.path.clone(), Oddity::NotOnDisk));
                    continue;
                }
                EntryKind::Missing => continue,
                EntryKind::File | EntryKind::NotUtf8 => {}
            }
            let Some(place) = Place::of(below) else { continue };
            match &place {
                Place::Global => {}
                Place::Type(name) => drop(self.types.insert((repository, name.clone()))),
                // The sites are those of the first repository.
                Place::Site(name) if repository.is_none() => drop(self.sites.insert(name.clone())),
                Place::Site(_) => {}
            }
            if is_skipped(below) {
                continue;
            }
            let oddity = match entry.kind {
                EntryKind::NotUtf8 => Some(Oddity::NameNotUtf8),
                EntryKind::File if below.ends_with(".yml") => Some(Oddity::OtherExtension),
                EntryKind::File | EntryKind::Submodule | EntryKind::Missing => None,
            };
            match oddity {
                Some(oddity) => self.odd.push((entry.path.clone(), oddity)),
                None if below.ends_with(".yaml") => {
                    let (path, content) = (entry.path.clone(), entry.content);
                    let is_link = entry.is_link;
                    self.files.push(LayerFile { path, place, repository, content, is_link });
                }
                None => {}
            }
        }
        // In path order, which decides where Deckhand leaves it to the order
        // of documents.
        self.files[first..].sort_by(|one, other| one.path.cmp(&other.path));
        // Two revisions of one repository may have the same.
        self.odd.sort();
        self.odd.dedup();
    }

    /// The path of a site's definition.
    pub(crate) fn definition_of(&self, site: &str) -> RepoPath {
        self.root.join("site").join(site).join(Self::DEFINITION)
    }

    /// Whether a site's definition can be at this path, in one layout or another.
    pub(crate) fn may_be_definition(path: &RepoPath) -> bool {
        path.as_str().ends_with(Self::DEFINITION)
    }

    /// The site repository whose layout has a site's definition at this path; none for other
    /// files.
    pub(crate) fn root_of_definition(path: &RepoPath) -> Option<RepoPath> {
        let folder = path.as_str().strip_suffix(Self::DEFINITION)?.strip_suffix('/')?;
        Self::site_of_folder(folder).map(|(root, _)| root)
    }

    /// The site repository and the site of which this is the folder; none for other folders.
    pub(crate) fn site_of_folder(folder: &str) -> Option<(RepoPath, &str)> {
        let (sites, name) = folder.rsplit_once('/')?;
        let root = sites.strip_suffix("site")?;
        let is_folder = root.is_empty() || root.ends_with('/');
        is_folder.then(|| (RepoPath::new(root.trim_end_matches('/')), name))
    }

    /// Which sites a file of the repository itself counts for; none for files that are in no
    /// layer.
    pub(crate) fn place_of(&self, path: &RepoPath) -> Option<Place> {
        Place::of(path.below(&self.root)?)
    }

    /// Sites whose definition is not there.
    pub(crate) fn undefined_sites(&self) -> Vec<Arc<str>> {
        let defined: BTreeSet<&RepoPath> = self.files.iter().map(|file| &file.path).collect();
        let lacks = |site: &&Arc<str>| !defined.contains(&self.definition_of(site));
        self.sites.iter().filter(lacks).cloned().collect()
    }

    /// The sites with their files, once the files have been read: `files`
    /// gives, for each of [`Layout::files`], its id and, where it [may be a
    /// definition](Layout::may_be_definition), its first document, if it has
    /// one; `uses` are the further repositories of each site.
    pub(crate) fn sites(
        &self,
        files: &[(FileId, Option<&Node>)],
        uses: &Uses,
        problems: &mut Vec<LayoutProblem>,
    ) -> Vec<SiteFiles> {
        let by_path: BTreeMap<&RepoPath, usize> =
            self.files_of(None).map(|at| (&self.files[at].path, at)).collect();
        let sites: Vec<SiteFiles> = self
            .sites
            .iter()
            .filter_map(|site| {
                let (file, root) = files[*by_path.get(&self.definition_of(site))?];
                let definition = Definition::read(site, file, root, problems)?;
                let given = uses.get(site).map_or(&[][..], Vec::as_slice);
                let repositories = definition.repositories(site, given, problems);
                self.check_type(site, &definition, &repositories, problems);
                self.check_revision(site, &definition, problems);
                let is_of_site = |file: &LayerFile| match &file.place {
                    Place::Global => true,
                    Place::Type(name) => *name == definition.site_type.value,
                    Place::Site(name) => name == site,
                };
                // Further repositories count in the order in which the definition names them.
                let in_order = std::iter::once(None).chain(repositories.iter().copied().map(Some));
                let of_site = in_order.flat_map(|repository| self.files_of(repository));
                let of_site = of_site.filter(|at| is_of_site(&self.files[*at]));
                let of_site = of_site.map(|at| files[at].0).collect();
                Some(SiteFiles {
                    name: site.clone(),
                    site_type: definition.site_type.value.clone(),
                    files: of_site,
                    repositories,
                })
            })
            .collect();
        // The type of a site that does not tell could be any.
        if sites.len() == self.sites.len() {
            self.find_unused_types(files, &sites, problems);
        }
        sites
    }

    /// The indexes of the files of a repository.
    fn files_of(&self, repository: Option<usize>) -> Range<usize> {
        let start = self.files.partition_point(|file| file.repository < repository);
        start..self.files.partition_point(|file| file.repository <= repository)
    }

    /// Types of the repository itself that no site has; those of a further one
    /// may be there for other repositories.
    fn find_unused_types(
        &self,
        files: &[(FileId, Option<&Node>)],
        sites: &[SiteFiles],
        problems: &mut Vec<LayoutProblem>,
    ) {
        let mut seen: BTreeSet<Arc<str>> =
            sites.iter().map(|site| site.site_type.clone()).collect();
        seen.extend(problems.iter().filter_map(|problem| match problem {
            // A site was meant to have it.
            LayoutProblem::MissingType { near, .. } => near.clone(),
            LayoutProblem::Odd { .. }
            | LayoutProblem::MissingDefinition { .. }
            | LayoutProblem::InvalidDefinition { .. }
            | LayoutProblem::UnreadDefinition { .. }
            | LayoutProblem::UnusedType { .. }
            | LayoutProblem::Clash { .. }
            | LayoutProblem::IgnoredRevision { .. }
            | LayoutProblem::MissingRepository { .. }
            | LayoutProblem::UnreadableRepository { .. } => None,
        }));
        for (layer_file, (file, _)) in self.files.iter().zip(files) {
            if let (Place::Type(name), None) = (&layer_file.place, layer_file.repository)
                && seen.insert(name.clone())
            {
                problems.push(LayoutProblem::UnusedType { file: *file, name: name.clone() });
            }
        }
    }

    fn check_type(
        &self,
        site: &Arc<str>,
        definition: &Definition,
        repositories: &[usize],
        problems: &mut Vec<LayoutProblem>,
    ) {
        let site_type = &definition.site_type;
        let is_read = |repository: &Option<usize>| {
            repository.is_none_or(|index| repositories.contains(&index))
        };
        let types = self.types.iter().filter(|(repository, _)| is_read(repository));
        let types: BTreeSet<&str> = types.map(|(_, name)| &**name).collect();
        if types.contains(&*site_type.value) {
            return;
        }
        let near = nearest(&site_type.value, types);
        problems.push(LayoutProblem::MissingType {
            site: site.clone(),
            site_type: site_type.clone(),
            near: near.map(Arc::from),
        });
    }

    /// Until 2018 Pegleg took of a layer's folder only `common` and the revision of the site; it
    /// takes everything now (`pegleg.md` 1.2).
    fn check_revision(
        &self,
        site: &Arc<str>,
        definition: &Definition,
        problems: &mut Vec<LayoutProblem>,
    ) {
        let Some(revision) = &definition.revision else { return };
        let site_type = &definition.site_type.value;
        let layers = ["global".to_owned(), format!("type/{site_type}"), format!("site/{site}")];
        let others = layers.iter().flat_map(|layer| {
            let layer = self.root.join(layer);
            let own = self.files.iter().filter(|file| file.repository.is_none());
            let below = own.filter_map(|file| file.path.below(&layer)?.split_once('/'));
            let folders: BTreeSet<&str> = below.map(|(folder, _)| folder).collect();
            let has_own = folders.contains(&*revision.value);
            let others = folders
                .into_iter()
                .filter(|folder| has_own && **folder != *revision.value && is_revision(folder));
            others.map(|folder| layer.join(folder)).collect::<Vec<_>>()
        });
        let others: Vec<RepoPath> = others.collect();
        if !others.is_empty() {
            let (site, revision) = (site.clone(), revision.clone());
            problems.push(LayoutProblem::IgnoredRevision { site, revision, others });
        }
    }
}

/// Whether a folder is called like a revision, such as `v4.0` or `1.1-dev`.
fn is_revision(folder: &str) -> bool {
    let number = folder.strip_prefix('v').unwrap_or(folder);
    number.starts_with(|first: char| first.is_ascii_digit())
}

/// A repository that is nested in the one whose root is `root`, if it holds documents of
/// sites there, or if what it holds is not known.
fn nested_in(
    tree: &dyn Tree,
    entry: &Entry,
    root: &RepoPath,
    repository: Option<usize>,
) -> Option<LayerFile> {
    let in_layer = |path: &RepoPath| {
        let below = path.below(root)?;
        (!is_skipped(below)).then(|| Place::of(below))?
    };
    let place = match entry.path.below(root) {
        Some(below) if is_skipped(below) => return None,
        Some(below) if !LAYERS.contains(&below.split('/').next()?) => return None,
        Some(below) => Place::of(&format!("{below}/")).unwrap_or(Place::Global),
        None if *root == entry.path || root.below(&entry.path).is_some() => Place::Global,
        None => return None,
    };
    let files = tree.files_of_nested(&entry.path);
    let is_document = |file: &RepoPath| {
        let file = entry.path.join(file.as_str());
        file.as_str().ends_with(".yaml") && in_layer(&file).is_some()
    };
    let has_documents = files.is_none_or(|files| files.iter().any(is_document));
    let Entry { path, content, is_link, .. } = entry.clone();
    has_documents.then_some(LayerFile { path, place, repository, content, is_link })
}

impl Place {
    /// The place of a file, by its path below the root. Plain files directly
    /// in `type/` and `site/` have none.
    fn of(below: &str) -> Option<Self> {
        let (layer, rest) = below.split_once('/')?;
        let named = || rest.split_once('/').map(|(name, _)| Arc::from(name));
        match layer {
            "global" => Some(Place::Global),
            "type" => named().map(Place::Type),
            "site" => named().map(Place::Site),
            _ => None,
        }
    }
}

/// Hidden files, and what is in folders that are hidden or named `tools`.
fn is_skipped(below: &str) -> bool {
    let mut parts = below.split('/').rev();
    let hidden = |part: &str| part.starts_with('.');
    parts.next().is_some_and(hidden) || parts.any(|part| hidden(part) || part == "tools")
}

fn parent(folder: &RepoPath) -> Option<RepoPath> {
    if folder.as_str().is_empty() {
        return None;
    }
    let parent = folder.as_str().rsplit_once('/').map_or("", |(parent, _)| parent);
    Some(RepoPath::new(parent))
}

/// What a site definition says about the site's files.
struct Definition {
    site_type: Spanned<Arc<str>>,
    /// None where it has no `repositories`.
    repositories: Option<Vec<NamedRepository>>,
    /// The key of Pegleg before 2018 that selected folders.
    revision: Option<Spanned<Arc<str>>>,
}

impl Definition {
    /// Reads the first document of a site definition.
    fn read(
        site: &Arc<str>,
        file: FileId,
        root: Option<&Node>,
        problems: &mut Vec<LayoutProblem>,
    ) -> Option<Self> {
        let data = root.and_then(|root| root.as_mapping()?.get_entry("data"));
        let site_type = data.and_then(|(_, data)| data.get("site_type"));
        let Some(Node { value: Value::String(name), span, .. }) = site_type else {
            let at = site_type
                .map(|wrong| wrong.span)
                .or(data.map(|(key, _)| key.span))
                .or(root.and_then(|root| root.as_mapping()?.keys().next()).map(|key| key.span))
                .unwrap_or(Span::point(file, 0));
            problems.push(LayoutProblem::InvalidDefinition { site: site.clone(), at });
            return None;
        };
        let repositories = root.and_then(Layout::repositories_of);
        let revision = data.and_then(|(_, data)| data.get("revision"));
        let revision =
            revision.and_then(|node| Some(Spanned::new(node.as_str()?.into(), node.span)));
        let site_type = Spanned::new(name.clone().into(), *span);
        Some(Self { site_type, repositories, revision })
    }

    /// The further repositories of the site, in their order: those that it names, or all of
    /// `given` where it names none.
    fn repositories(
        &self,
        site: &Arc<str>,
        given: &[Use],
        problems: &mut Vec<LayoutProblem>,
    ) -> Vec<usize> {
        let Some(named) = &self.repositories else {
            return given.iter().filter_map(|it| it.found.clone().ok()).collect();
        };
        let mut used = Vec::new();
        for repository in named {
            let unreadable = |why: &Unreadable| {
                let (site, repository, why) = (site.clone(), repository.clone(), why.clone());
                LayoutProblem::UnreadableRepository { site, repository, why }
            };
            if let Some(Spanned { value: Pin::NotAString(kind), .. }) = &repository.pin {
                let reason = format!("its `revision` is {kind}, and should be a string");
                problems.push(unreadable(&Unreadable { reason, help: "quote it".to_owned() }));
                continue;
            }
            let name = &repository.name;
            match given.iter().find(|it| it.name == name.value).map(|it| &it.found) {
                Some(Ok(index)) if used.contains(index) => {}
                Some(Ok(index)) => used.push(*index),
                Some(Err(why)) => problems.push(unreadable(why)),
                None => add_missing(problems, repository, site),
            }
        }
        used
    }
}

/// Adds to `problems` that `site` names a repository that was not given.
fn add_missing(problems: &mut Vec<LayoutProblem>, repository: &NamedRepository, site: &Arc<str>) {
    let name = &repository.name.value;
    let named = (site.clone(), repository.clone());
    let known = problems.iter_mut().find_map(|problem| match problem {
        LayoutProblem::MissingRepository { name: known, sites } if known == name => Some(sites),
        _ => None,
    });
    match known {
        Some(sites) => sites.push(named),
        None => {
            let (name, sites) = (name.clone(), vec![named]);
            problems.push(LayoutProblem::MissingRepository { name, sites });
        }
    }
}

impl NamedRepository {
    fn read(key: &Key, node: &Node) -> Option<Self> {
        let name = Spanned::new(Arc::from(key.as_str()?), key.span);
        let url = node.get("url").and_then(Node::as_str).map(Arc::from);
        let pin = node.get("revision").filter(|revision| !revision.is_null()).map(|revision| {
            let pin = match revision.as_str() {
                Some(text) => Pin::Revision(text.into()),
                None => Pin::NotAString(revision.value.kind()),
            };
            Spanned::new(pin, revision.span)
        });
        let first_key = node.as_mapping().and_then(|keys| keys.keys().next()).map(|key| key.span);
        Some(Self { name, url, pin, first_key })
    }
}
