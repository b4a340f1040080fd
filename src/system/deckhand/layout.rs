//! Layout of sites (`pegleg.md` section 1): a site consists of `global/`, its type below `type/`,
//! and its own folder below `site/`, in the main repository and in the further ones it names.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use unicode_normalization::UnicodeNormalization as _;

use crate::error::Error;
use crate::near::nearest;
use crate::source::{
    ContentId, Entry, EntryKind, FileId, ReadError, RepoPath, Span, Spanned, Tree, UsedRevision,
};
use crate::yaml::{Key, Node, Value};

/// Files of a site repository and of the further repositories.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Folder that contains `global/`, `type/` and `site/`.
    pub(crate) root: RepoPath,
    /// YAML files of all layers, sorted by repository and path.
    pub(crate) files: Vec<LayerFile>,
    /// Folders that are not read.
    pub(crate) unread: Vec<UnreadFolder>,
    /// Number of links to folders.
    links: usize,
    /// Files that are not read, with the reason.
    pub(crate) odd: Vec<(RepoPath, Oddity)>,
    sites: BTreeSet<Arc<str>>,
    /// Types, each with the repository that it is in, as in [`LayerFile::repository`].
    types: BTreeSet<(Option<usize>, Arc<str>)>,
}

/// A YAML file and its place.
#[derive(Clone, Debug)]
pub(crate) struct LayerFile {
    /// Path of the file.
    pub(crate) path: RepoPath,
    /// Place that decides which sites have the file.
    pub(crate) place: Place,
    /// Index of the further repository; `None` for the main repository.
    pub(crate) repository: Option<usize>,
    /// Identity of the content, if it is known without reading the file.
    pub(crate) content: Option<ContentId>,
    /// Whether it is a symbolic link.
    pub(crate) is_link: bool,
}

impl LayerFile {
    fn of(entry: &Entry, place: Place, repository: Option<usize>) -> Self {
        Self {
            path: entry.path.clone(),
            place,
            repository,
            content: entry.content,
            is_link: entry.is_link,
        }
    }
}

/// A folder whose files are not read.
#[derive(Clone, Debug)]
pub(crate) struct UnreadFolder {
    /// Its path, and its place.
    pub(crate) folder: LayerFile,
    /// Reason why it is not read.
    pub(crate) why: NotFollowed,
}

/// Reason why a folder is not read.
#[derive(Clone, Debug)]
pub(crate) enum NotFollowed {
    /// It is a nested repository: a submodule or another clone.
    Nested,
    /// It is a symbolic link that cannot be followed.
    Link(ReadError),
}

impl NotFollowed {
    /// A link after [`Layout::MAX_LINKS`] others.
    fn beyond_limit() -> Self {
        let most = Layout::MAX_LINKS;
        Self::Link(ReadError::Refused(format!(
            "a symbolic link to a folder after {most} others"
        )))
    }
}

/// Folders behind links.
#[derive(Default)]
pub(crate) struct LinkedFolders {
    /// Entries with their paths below the links. Each is at another path, too.
    pub(crate) entries: Vec<Entry>,
    /// Links that lead to files.
    pub(crate) files: Vec<Entry>,
    /// Links that cannot be followed, with the reason.
    pub(crate) unread: Vec<(Entry, NotFollowed)>,
}

impl LinkedFolders {
    /// Follows these links, and those behind them that are to be followed. `links` counts them: at most
    /// [`Layout::MAX_LINKS`] are followed.
    ///
    /// # Errors
    /// If the tree cannot be listed.
    pub(crate) fn of(
        tree: &dyn Tree,
        mut open: Vec<Entry>,
        is_followed: &dyn Fn(&Entry) -> bool,
        links: &mut usize,
    ) -> Result<Self, Error> {
        let mut found = Self::default();
        while let Some(link) = open.pop() {
            *links += 1;
            match tree.linked_folder(&link.path) {
                Ok(None) => found.files.push(link),
                Ok(Some(_)) if *links > Layout::MAX_LINKS => {
                    found.unread.push((link, NotFollowed::beyond_limit()));
                }
                Ok(Some(folder)) => {
                    for entry in tree.linked_entries(&link.path, &folder)? {
                        let is_open = is_followed(&entry);
                        let list = if is_open {
                            &mut open
                        } else {
                            &mut found.entries
                        };
                        list.push(Entry {
                            is_link: true,
                            ..entry
                        });
                    }
                }
                Err(why) => found.unread.push((link, NotFollowed::Link(why))),
            }
        }
        Ok(found)
    }
}

/// Place of a file below a repository's root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// `global/`: used by every site.
    Global,
    /// `type/NAME/`: used by the sites of that type.
    Type(Arc<str>),
    /// `site/NAME/`: used by that site.
    Site(Arc<str>),
}

/// Files of the layers that make a site: all of `global/`, those of its type, and its own
/// (`pegleg.md` 1.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteScope {
    /// Name of the site; `None` for a set without layout, which has every file.
    pub site: Option<Arc<str>>,
    /// Type of the site, if it is known.
    pub site_type: Option<Arc<str>>,
}

impl SiteScope {
    /// Whether the site reads the files at a place.
    pub(crate) fn concerns(&self, place: &Place) -> bool {
        match place {
            Place::Global => true,
            Place::Type(name) => Some(name) == self.site_type.as_ref(),
            Place::Site(name) => Some(name) == self.site.as_ref(),
        }
    }

    /// Places of the site's files.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place> + use<> {
        let of_type = self.site_type.clone().map(Place::Type);
        let own = self.site.clone().map(Place::Site);
        [Some(Place::Global), of_type, own].into_iter().flatten()
    }

    /// Folders below `root` in which the files are: of an unknown type or site, those of all.
    pub(crate) fn folders(&self, root: &RepoPath) -> [RepoPath; 3] {
        let named = |layer: &str, name: &Option<Arc<str>>| match name {
            Some(name) => root.join(layer).join(name),
            None => root.join(layer),
        };
        [
            root.join("global"),
            named("type", &self.site_type),
            named("site", &self.site),
        ]
    }
}

/// Reason why a file below a layer folder is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Oddity {
    /// The name ends in `.yml`.
    OtherExtension,
    /// git tracks the file, but it is not on disk.
    NotOnDisk,
    /// The file is a git LFS pointer.
    LargeFilePointer,
}

/// A site with its name and files.
#[derive(Clone, Debug)]
pub(crate) struct SiteFiles {
    /// Name of its folder below `site/`.
    pub(crate) name: Arc<str>,
    /// Value of `data.site_type`.
    pub(crate) site_type: Arc<str>,
    /// Indexes of the further repositories it uses.
    pub(crate) repositories: Vec<usize>,
    /// Files in path order.
    pub(crate) files: Vec<FileId>,
}

/// Further repositories used on one side, by site.
pub(crate) type Uses = BTreeMap<Arc<str>, Vec<Use>>;

/// A further repository, as used by one site.
#[derive(Clone, Debug)]
pub struct Use {
    /// Name in the site definition.
    pub(crate) name: Arc<str>,
    /// Name under which the repository was given.
    pub(crate) given: Arc<str>,
    /// The selected revision.
    pub(crate) revision: UsedRevision,
    /// Index among the further repositories that are read, or the reason why its files are unknown.
    pub(crate) found: Result<usize, Unreadable>,
}

/// Reason why the revision pinned by a site definition cannot be read, and its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// The reason.
    pub(crate) reason: String,
    /// The remedy.
    pub(crate) help: String,
}

/// A further repository, as named by a site definition.
#[derive(Clone, Debug)]
pub(crate) struct NamedRepository {
    /// Name of the repository.
    pub(crate) name: Spanned<Arc<str>>,
    /// URL from which Pegleg clones it.
    pub(crate) url: Option<Arc<str>>,
    /// Value of `revision`.
    pub(crate) pin: Option<Spanned<Pin>>,
    /// First key of its mapping.
    pub(crate) first_key: Option<Span>,
}

/// The `revision` of a repository in a site definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pin {
    /// A branch, tag, ID or other name of a commit.
    Revision(Arc<str>),
    /// A value that is not a string. Has its kind.
    NotAString(&'static str),
}

/// A problem of the layout of a repository.
#[derive(Clone, Debug)]
pub(crate) enum LayoutProblem {
    /// A file that is not read.
    Odd {
        /// Empty source of the file.
        file: FileId,
        /// The reason.
        oddity: Oddity,
    },
    /// A folder below `site/` without `site-definition.yaml`.
    MissingDefinition {
        /// Empty source in place of the missing file.
        file: FileId,
        /// The site.
        site: Arc<str>,
    },
    /// A site definition without a usable `data.site_type`.
    InvalidDefinition {
        /// The site.
        site: Arc<str>,
        /// Span of the text without it.
        at: Span,
    },
    /// A site definition that cannot be read.
    UnreadDefinition {
        /// The site.
        site: Arc<str>,
        /// The file.
        file: FileId,
    },
    /// A `site_type` without a folder below `type/`.
    MissingType {
        /// The site.
        site: Arc<str>,
        /// The type in the site definition.
        site_type: Spanned<Arc<str>>,
        /// A type with a similar name.
        near: Option<Arc<str>>,
    },
    /// A folder below `type/` that is not the type of any site.
    UnusedType {
        /// First file of the folder.
        file: FileId,
        /// Name of the folder.
        name: Arc<str>,
    },
    /// A file or folder whose path collides with another one on some file systems.
    Clash {
        /// The file, or the first file of the folder.
        file: FileId,
        /// Its path, up to the colliding name.
        path: RepoPath,
        /// The other file, or the first file of the other folder.
        other: FileId,
        /// Its path, up to the colliding name.
        other_path: RepoPath,
    },
    /// A `revision` that once selected folders in Pegleg, although there are folders of other
    /// revisions.
    IgnoredRevision {
        /// The site.
        site: Arc<str>,
        /// The revision in the site definition.
        revision: Spanned<Arc<str>>,
        /// Folders of other revisions, whose files are also part of the site.
        others: Vec<RepoPath>,
    },
    /// A repository that sites name but that was not given.
    MissingRepository {
        /// Name of the repository.
        name: Arc<str>,
        /// The sites, each with the repository as named in its definition.
        sites: Vec<(Arc<str>, NamedRepository)>,
    },
    /// A repository whose pinned revision cannot be read.
    UnreadableRepository {
        /// The site.
        site: Arc<str>,
        /// The repository as named in the site definition.
        repository: NamedRepository,
        /// The reason and its remedy.
        why: Unreadable,
    },
}

impl LayoutProblem {
    /// Replaces the contents of files of documents, which are no site definitions.
    pub(crate) fn replace_files(&mut self, new: &dyn Fn(FileId) -> FileId) {
        match self {
            Self::UnusedType { file, .. } => *file = new(*file),
            Self::Clash { file, other, .. } => {
                *file = new(*file);
                *other = new(*other);
            }
            Self::Odd { .. }
            | Self::MissingDefinition { .. }
            | Self::InvalidDefinition { .. }
            | Self::UnreadDefinition { .. }
            | Self::MissingType { .. }
            | Self::IgnoredRevision { .. }
            | Self::MissingRepository { .. }
            | Self::UnreadableRepository { .. } => {}
        }
    }
}

/// Finds files and folders whose paths differ only in case or Unicode normalization; a folder is
/// reported once, regardless of its content.
pub(crate) fn clashes<'p>(
    files: impl Iterator<Item = (FileId, &'p RepoPath)>,
) -> Vec<LayoutProblem> {
    let mut known: HashMap<String, (&str, FileId), foldhash::fast::RandomState> =
        HashMap::default();
    let mut reported = BTreeSet::new();
    let mut clashes = Vec::new();
    let mut last = "";
    for (file, path) in files {
        let path = path.as_str();
        let ends = path
            .match_indices('/')
            .map(|(end, _)| end)
            .chain([path.len()]);
        // Fast path: the folders are usually those of the last path.
        let shared = path
            .bytes()
            .zip(last.bytes())
            .take_while(|(one, other)| one == other)
            .count();
        last = path;
        for name in ends.filter(|end| *end >= shared).map(|end| &path[..end]) {
            let (other_path, other) = *known.entry(folded(name)).or_insert((name, file));
            if other_path == name {
                continue;
            }
            last = "";
            if reported.insert(name) {
                let path = RepoPath::new(name);
                let other_path = RepoPath::new(other_path);
                clashes.push(LayoutProblem::Clash {
                    file,
                    path,
                    other,
                    other_path,
                });
            }
            // The content of a colliding folder collides too.
            break;
        }
    }
    clashes
}

/// Case-folded and normalized path, which is equal for colliding paths.
fn folded(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    let lower: String = path.nfd().flat_map(char::to_lowercase).collect();
    lower.nfc().collect()
}

/// Folders of a repository that contain layers of sites.
pub(crate) const LAYERS: [&str; 3] = ["global", "site", "type"];

impl Layout {
    /// Maximum number of links to folders that are followed: each adds all files of a folder.
    pub const MAX_LINKS: usize = 100;

    /// Name of the file that defines a site, in its folder.
    pub(crate) const DEFINITION: &str = "site-definition.yaml";

    /// Finds the site repository that contains `from`: the nearest folder at or above it with a
    /// `site` folder that has a site definition, or with `site` next to `global` or `type`. Returns
    /// `None` if there is none.
    ///
    /// # Errors
    /// If the tree cannot be listed.
    pub fn discover(tree: &dyn Tree, from: &RepoPath) -> Result<Option<Self>, Error> {
        let mut folder = Some(from.clone());
        while let Some(root) = folder {
            let mut layout = Self::empty(root.clone());
            let sites = layout.list(tree, &root.join("site"), &root, None)?;
            let is_there =
                |entries: &[Entry]| entries.iter().any(|entry| entry.kind != EntryKind::Missing);
            if is_there(&sites) || !layout.unread.is_empty() {
                let global = layout.list(tree, &root.join("global"), &root, None)?;
                let types = layout.list(tree, &root.join("type"), &root, None)?;
                let defined = sites
                    .iter()
                    .any(|entry| Self::may_be_definition(&entry.path));
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

    /// Like [`Layout::discover`], limited to these sites. Returns `None` if one of them is not
    /// defined, or if another site repository could be nearer, so that all sites must be listed.
    ///
    /// # Errors
    /// If the tree cannot be listed.
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
            let mut layout = Self::empty(root.clone());
            for name in &names {
                let folder = root.join("site").join(name);
                entries.extend(layout.list(tree, &folder, &root, None)?);
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

    /// Adds these files of sites and the files of the other layers.
    fn with_layers(mut self, tree: &dyn Tree, mut entries: Vec<Entry>) -> Result<Self, Error> {
        let root = self.root.clone();
        for layer in ["global", "type"] {
            entries.extend(self.list(tree, &root.join(layer), &root, None)?);
        }
        self.add(tree, entries.iter(), &root, None);
        Ok(self)
    }

    /// Layout of a side of a comparison without a site repository at `root`. A repository nested
    /// there may contain one.
    ///
    /// # Errors
    /// If the tree cannot be listed.
    pub(crate) fn absent(tree: &dyn Tree, root: &RepoPath) -> Result<Self, Error> {
        let mut layout = Self::empty(root.clone());
        let entries = tree.entries(&RepoPath::new(""))?;
        let nested = entries
            .iter()
            .filter(|entry| entry.kind == EntryKind::Submodule);
        layout
            .unread
            .extend(nested.filter_map(|entry| nested_in(tree, entry, root, None)));
        for layer in LAYERS {
            layout.list(tree, &root.join(layer), root, None)?;
        }
        Ok(layout)
    }

    fn empty(root: RepoPath) -> Self {
        Self {
            root,
            files: Vec::new(),
            unread: Vec::new(),
            links: 0,
            odd: Vec::new(),
            sites: BTreeSet::new(),
            types: BTreeSet::new(),
        }
    }

    /// Adds the files of the further repository with this index, whose root is `root` in `tree`;
    /// repositories must be added in index order.
    ///
    /// # Errors
    /// If the tree cannot be listed.
    pub(crate) fn add_repository(
        &mut self,
        index: usize,
        tree: &dyn Tree,
        root: &RepoPath,
    ) -> Result<(), Error> {
        let mut entries = Vec::new();
        for layer in LAYERS {
            entries.extend(self.list(tree, &root.join(layer), root, Some(index))?);
        }
        self.add(tree, entries.iter(), root, Some(index));
        Ok(())
    }

    /// Lists the entries below a folder of a layer. Like Pegleg, follows links in place of such
    /// folders, and no others (`pegleg.md` 1.2).
    fn list(
        &mut self,
        tree: &dyn Tree,
        folder: &RepoPath,
        root: &RepoPath,
        repository: Option<usize>,
    ) -> Result<Vec<Entry>, Error> {
        let entries = tree.entries(folder)?;
        let is_searched =
            |entry: &Entry| entry.is_link && entry.path.below(root).is_some_and(is_folder_of_layer);
        if !entries.iter().any(is_searched) {
            return Ok(entries);
        }
        let (open, mut listed): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_searched);
        // Pegleg ignores files in place of these folders.
        let linked = LinkedFolders::of(tree, open, &is_searched, &mut self.links)?;
        listed.extend(linked.entries);
        let unread = linked.unread.into_iter();
        self.unread
            .extend(unread.filter_map(|(link, why)| unread_link(&link, why, root, repository)));
        listed.sort_by(|one, other| one.path.cmp(&other.path));
        // A tracked file may be missing in a folder that became a link.
        let read: BTreeSet<RepoPath> = listed
            .iter()
            .filter(|entry| entry.kind == EntryKind::File)
            .map(|entry| entry.path.clone())
            .collect();
        listed.retain(|entry| entry.kind != EntryKind::Missing || !read.contains(&entry.path));
        Ok(listed)
    }

    /// Whether a folder of a layer is a symbolic link, so that files outside of it are part of it.
    pub(crate) fn has_links(&self) -> bool {
        self.links > 0
    }

    /// Whether these are files of documents in this repository that each have one path, so that nothing
    /// about the layout follows from their texts.
    pub(crate) fn has_documents_in(&self, files: &BTreeSet<RepoPath>) -> bool {
        let is_one = |file: &&LayerFile| {
            file.repository.is_none() && !file.is_link && files.contains(&file.path)
        };
        let mut definitions = self.definitions();
        !self.has_links()
            && !definitions.any(|(_, definition)| files.contains(&definition))
            && self.files.iter().filter(is_one).count() == files.len()
    }

    /// Drops unwanted sites with their files.
    pub(crate) fn keep_sites(&mut self, wanted: &dyn Fn(&str) -> bool) {
        self.sites.retain(|site| wanted(site));
        let is_wanted = |file: &LayerFile| match &file.place {
            Place::Site(site) => wanted(site),
            Place::Global | Place::Type(_) => true,
        };
        self.keep(is_wanted);
    }

    fn keep(&mut self, is_wanted: impl Fn(&LayerFile) -> bool) {
        self.files.retain(&is_wanted);
        self.unread.retain(|unread| is_wanted(&unread.folder));
    }

    /// Whether the folders of two sites collide on some file systems.
    pub(crate) fn has_clashing_sites(&self) -> bool {
        let names: BTreeSet<String> = self.sites.iter().map(|site| folded(site)).collect();
        names.len() < self.sites.len()
    }

    /// Drops the files of unwanted sites except their definitions.
    pub(crate) fn keep_files_of(&mut self, wanted: &dyn Fn(&str) -> bool) {
        let is_wanted = |file: &LayerFile| match &file.place {
            Place::Site(name) => wanted(name) || Self::may_be_definition(&file.path),
            Place::Global | Place::Type(_) => true,
        };
        self.keep(is_wanted);
    }

    /// Drops the files of unwanted types.
    pub(crate) fn keep_types(&mut self, wanted: &dyn Fn(&str) -> bool) {
        self.files.retain(|file| match &file.place {
            Place::Type(name) => wanted(name),
            Place::Global | Place::Site(_) => true,
        });
    }

    /// All sites with the paths of their definitions, which may not exist.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = (&Arc<str>, RepoPath)> {
        self.sites
            .iter()
            .map(|site| (site, self.definition_of(site)))
    }

    /// Site type in the first document of a site definition.
    pub(crate) fn type_of(definition: &Node) -> Option<&str> {
        Self::type_node(definition)?.as_str()
    }

    /// The value that names the type in a site definition.
    pub(crate) fn type_node(definition: &Node) -> Option<&Node> {
        definition.get("data")?.get("site_type")
    }

    /// Further repositories in the first document of a site definition; `None` if it has no
    /// `repositories`.
    pub(crate) fn repositories_of(definition: &Node) -> Option<Vec<NamedRepository>> {
        let named = definition
            .get("data")?
            .get("repositories")?
            .as_mapping()?
            .iter()
            .filter_map(|(key, node)| NamedRepository::read(key, node));
        // `site` is the name of the main repository itself (`pegleg.md` 1.1).
        Some(named.filter(|it| &*it.name.value != "site").collect())
    }

    /// Checks that all files of the main repository are present in a tree.
    ///
    /// # Errors
    /// If files are missing, with the remedy.
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
            let below = entry
                .path
                .below(root)
                .expect("the tree lists only paths below the root");
            match entry.kind {
                EntryKind::Submodule => {
                    self.unread.extend(nested_in(tree, entry, root, repository));
                    continue;
                }
                EntryKind::Missing if !is_skipped(below) && below.ends_with(".yaml") => {
                    self.odd.push((entry.path.clone(), Oddity::NotOnDisk));
                    continue;
                }
                EntryKind::Missing | EntryKind::FolderLink => continue,
                EntryKind::File => {}
            }
            let Some(place) = Place::of(below) else {
                continue;
            };
            match &place {
                Place::Global => {}
                Place::Type(name) => drop(self.types.insert((repository, name.clone()))),
                // Only the main repository defines sites.
                Place::Site(name) if repository.is_none() => drop(self.sites.insert(name.clone())),
                Place::Site(_) => {}
            }
            if is_skipped(below) {
                continue;
            }
            if below.ends_with(".yml") {
                self.odd.push((entry.path.clone(), Oddity::OtherExtension));
            } else if below.ends_with(".yaml") {
                self.files.push(LayerFile::of(entry, place, repository));
            }
        }
        // Deckhand leaves some choices to the order of documents, which path order makes
        // deterministic.
        self.files[first..].sort_by(|one, other| one.path.cmp(&other.path));
        // Two revisions of one repository may have the same entries.
        self.odd.sort();
        self.odd.dedup();
    }

    /// Path of a site's definition.
    pub(crate) fn definition_of(&self, site: &str) -> RepoPath {
        self.root.join("site").join(site).join(Self::DEFINITION)
    }

    /// Whether the path can be that of a site definition, in any layout.
    pub(crate) fn may_be_definition(path: &RepoPath) -> bool {
        path.as_str().ends_with(Self::DEFINITION)
    }

    /// Root of the site repository that has a site definition at this path; `None` for other files.
    pub(crate) fn root_of_definition(path: &RepoPath) -> Option<RepoPath> {
        let folder = path
            .as_str()
            .strip_suffix(Self::DEFINITION)?
            .strip_suffix('/')?;
        Self::site_of_folder(folder).map(|(root, _)| root)
    }

    /// Root of the site repository and name of the site with this folder; `None` for other folders.
    pub(crate) fn site_of_folder(folder: &str) -> Option<(RepoPath, &str)> {
        let (sites, name) = folder.rsplit_once('/')?;
        let root = sites.strip_suffix("site")?;
        let is_folder = root.is_empty() || root.ends_with('/');
        is_folder.then(|| (RepoPath::new(root.trim_end_matches('/')), name))
    }

    /// Place of a file of the main repository; `None` for files outside the layers.
    pub(crate) fn place_of(&self, path: &RepoPath) -> Option<Place> {
        Place::of(path.below(&self.root)?)
    }

    /// Sites without a definition.
    pub(crate) fn undefined_sites(&self) -> Vec<Arc<str>> {
        let defined: BTreeSet<&RepoPath> = self.files.iter().map(|file| &file.path).collect();
        self.sites
            .iter()
            .filter(|site| !defined.contains(&self.definition_of(site)))
            .cloned()
            .collect()
    }

    /// Returns the sites with their files, once the files have been read. For each of
    /// [`Layout::files`], `files` has its ID and, if it [may be a
    /// definition](Layout::may_be_definition), its first document, if there is one; `uses` has the
    /// further repositories of each site.
    pub(crate) fn sites(
        &self,
        files: &[(FileId, Option<&Node>)],
        uses: &Uses,
        problems: &mut Vec<LayoutProblem>,
    ) -> Vec<SiteFiles> {
        let by_path: BTreeMap<&RepoPath, usize> = self
            .files_of(None)
            .map(|at| (&self.files[at].path, at))
            .collect();
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
                let scope = SiteScope {
                    site: Some(site.clone()),
                    site_type: Some(definition.site_type.value.clone()),
                };
                // Further repositories count in the order of the definition.
                let in_order = std::iter::once(None).chain(repositories.iter().copied().map(Some));
                let of_site = in_order
                    .flat_map(|repository| self.files_of(repository))
                    .filter(|at| scope.concerns(&self.files[*at].place))
                    .map(|at| files[at].0)
                    .collect();
                Some(SiteFiles {
                    name: site.clone(),
                    site_type: definition.site_type.value.clone(),
                    files: of_site,
                    repositories,
                })
            })
            .collect();
        // A site without a known type could have any type.
        if sites.len() == self.sites.len() {
            self.find_unused_types(files, &sites, problems);
        }
        sites
    }

    /// Index range of the files of a repository.
    fn files_of(&self, repository: Option<usize>) -> Range<usize> {
        let start = self
            .files
            .partition_point(|file| file.repository < repository);
        start
            ..self
                .files
                .partition_point(|file| file.repository <= repository)
    }

    /// Reports types of the main repository that no site has; those of a further repository may
    /// serve other site repositories.
    fn find_unused_types(
        &self,
        files: &[(FileId, Option<&Node>)],
        sites: &[SiteFiles],
        problems: &mut Vec<LayoutProblem>,
    ) {
        let mut seen: BTreeSet<Arc<str>> =
            sites.iter().map(|site| site.site_type.clone()).collect();
        seen.extend(problems.iter().filter_map(|problem| match problem {
            // A site was likely meant to have this type.
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
                problems.push(LayoutProblem::UnusedType {
                    file: *file,
                    name: name.clone(),
                });
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
        let types: BTreeSet<&str> = self
            .types
            .iter()
            .filter(|(repository, _)| repository.is_none_or(|index| repositories.contains(&index)))
            .map(|(_, name)| &**name)
            .collect();
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

    /// Until 2018, Pegleg read only `common` and the revision of the site from a layer's folder;
    /// now it reads everything (`pegleg.md` 1.2).
    fn check_revision(
        &self,
        site: &Arc<str>,
        definition: &Definition,
        problems: &mut Vec<LayoutProblem>,
    ) {
        let Some(revision) = &definition.revision else {
            return;
        };
        let site_type = &definition.site_type.value;
        let layers = [
            "global".to_owned(),
            format!("type/{site_type}"),
            format!("site/{site}"),
        ];
        let others: Vec<RepoPath> = layers
            .iter()
            .flat_map(|layer| {
                let layer = self.root.join(layer);
                let own = self.files.iter().filter(|file| file.repository.is_none());
                let below = own.filter_map(|file| file.path.below(&layer)?.split_once('/'));
                let folders: BTreeSet<&str> = below.map(|(folder, _)| folder).collect();
                let has_own = folders.contains(&*revision.value);
                let others = folders
                    .into_iter()
                    .filter(|folder| has_own && **folder != *revision.value && is_revision(folder));
                others.map(|folder| layer.join(folder)).collect::<Vec<_>>()
            })
            .collect();
        if !others.is_empty() {
            let site = site.clone();
            let revision = revision.clone();
            problems.push(LayoutProblem::IgnoredRevision {
                site,
                revision,
                others,
            });
        }
    }
}

/// Whether a folder has the name of a revision, such as `v4.0` or `1.1-dev`.
fn is_revision(folder: &str) -> bool {
    let number = folder.strip_prefix('v').unwrap_or(folder);
    number.starts_with(|first: char| first.is_ascii_digit())
}

/// Entry of a nested repository, if it contains or may contain documents of the sites below `root`.
fn nested_in(
    tree: &dyn Tree,
    entry: &Entry,
    root: &RepoPath,
    repository: Option<usize>,
) -> Option<UnreadFolder> {
    let in_layer = |path: &RepoPath| {
        let below = path.below(root)?;
        (!is_skipped(below)).then(|| Place::of(below))?
    };
    let place = match entry.path.below(root) {
        Some(below) => place_of_folder(below)?,
        None if *root == entry.path || root.below(&entry.path).is_some() => Place::Global,
        None => return None,
    };
    let files = tree.files_of_nested(&entry.path);
    let has_documents = files.is_none_or(|files| {
        files.iter().any(|file| {
            let file = entry.path.join(file.as_str());
            file.as_str().ends_with(".yaml") && in_layer(&file).is_some()
        })
    });
    let folder = LayerFile::of(entry, place, repository);
    has_documents.then_some(UnreadFolder {
        folder,
        why: NotFollowed::Nested,
    })
}

/// A link in place of a folder of a layer, which cannot be followed.
fn unread_link(
    entry: &Entry,
    why: NotFollowed,
    root: &RepoPath,
    repository: Option<usize>,
) -> Option<UnreadFolder> {
    let place = place_of_folder(entry.path.below(root)?)?;
    let folder = LayerFile::of(entry, place, repository);
    Some(UnreadFolder { folder, why })
}

/// Place of the files of a folder in a layer; `None` if Pegleg skips them, or in no layer.
fn place_of_folder(below: &str) -> Option<Place> {
    let mut parts = below.split('/');
    let is_read = parts.clone().all(|part| part != TOOLS) && LAYERS.contains(&parts.next()?);
    is_read.then(|| Place::of(&format!("{below}/")).unwrap_or(Place::Global))
}

/// Whether Pegleg searches this folder by its path: `global`, and the folder of a type or a site.
/// Those of `site` and `type` are then found in it.
fn is_folder_of_layer(below: &str) -> bool {
    match below.split_once('/') {
        None => LAYERS.contains(&below),
        Some((layer, name)) => matches!(layer, "site" | "type") && !name.contains('/'),
    }
}

impl Place {
    /// Place of a file by its path below the root. Plain files directly in `type/` and `site/` have
    /// none.
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

/// Folder whose files Pegleg skips, with those of its subfolders.
const TOOLS: &str = "tools";

/// Whether Pegleg skips a file: a hidden one, one directly in a hidden folder, and all below a
/// folder [`TOOLS`] (`pegleg.md` 1.2).
fn is_skipped(below: &str) -> bool {
    let parts = || below.rsplit('/');
    parts().take(2).any(|part| part.starts_with('.')) || parts().skip(1).any(|part| part == TOOLS)
}

fn parent(folder: &RepoPath) -> Option<RepoPath> {
    if folder.as_str().is_empty() {
        return None;
    }
    let parent = folder
        .as_str()
        .rsplit_once('/')
        .map_or("", |(parent, _)| parent);
    Some(RepoPath::new(parent))
}

/// Settings of a site definition.
struct Definition {
    site_type: Spanned<Arc<str>>,
    /// `None` if it has no `repositories`.
    repositories: Option<Vec<NamedRepository>>,
    /// Key that selected folders in Pegleg before 2018.
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
        let Some(Node {
            value: Value::String(name),
            span,
            ..
        }) = site_type
        else {
            let at = site_type
                .map(|wrong| wrong.span)
                .or(data.map(|(key, _)| key.span))
                .or(root
                    .and_then(|root| root.as_mapping()?.keys().next())
                    .map(|key| key.span))
                .unwrap_or(Span::point(file, 0));
            problems.push(LayoutProblem::InvalidDefinition {
                site: site.clone(),
                at,
            });
            return None;
        };
        let repositories = root.and_then(Layout::repositories_of);
        let revision = data
            .and_then(|(_, data)| data.get("revision"))
            .and_then(|node| Some(Spanned::new(node.as_str()?.into(), node.span)));
        let site_type = Spanned::new(name.clone().into(), *span);
        Some(Self {
            site_type,
            repositories,
            revision,
        })
    }

    /// Further repositories of the site in order: those that it names, or all of `given` if it has
    /// no `repositories`.
    fn repositories(
        &self,
        site: &Arc<str>,
        given: &[Use],
        problems: &mut Vec<LayoutProblem>,
    ) -> Vec<usize> {
        let Some(named) = &self.repositories else {
            return given
                .iter()
                .filter_map(|it| it.found.clone().ok())
                .collect();
        };
        let mut used = Vec::new();
        for repository in named {
            let unreadable = |why: &Unreadable| {
                let site = site.clone();
                let repository = repository.clone();
                let why = why.clone();
                LayoutProblem::UnreadableRepository {
                    site,
                    repository,
                    why,
                }
            };
            if let Some(Spanned {
                value: Pin::NotAString(kind),
                ..
            }) = &repository.pin
            {
                let reason = format!("expected a string for `revision`, found {kind}");
                problems.push(unreadable(&Unreadable {
                    reason,
                    help: "quote it".to_owned(),
                }));
                continue;
            }
            let name = &repository.name;
            match given
                .iter()
                .find(|it| it.name == name.value)
                .map(|it| &it.found)
            {
                Some(Ok(index)) if used.contains(index) => {}
                Some(Ok(index)) => used.push(*index),
                Some(Err(why)) => problems.push(unreadable(why)),
                None => add_missing(problems, repository, site),
            }
        }
        used
    }
}

/// Records that `site` names a repository that was not given.
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
            let name = name.clone();
            let sites = vec![named];
            problems.push(LayoutProblem::MissingRepository { name, sites });
        }
    }
}

impl NamedRepository {
    fn read(key: &Key, node: &Node) -> Option<Self> {
        let name = Spanned::new(Arc::from(key.as_str()?), key.span);
        let url = node.get("url").and_then(Node::as_str).map(Arc::from);
        let pin = node
            .get("revision")
            .filter(|revision| !revision.is_null())
            .map(|revision| {
                let pin = match revision.as_str() {
                    Some(text) => Pin::Revision(text.into()),
                    None => Pin::NotAString(revision.value.kind()),
                };
                Spanned::new(pin, revision.span)
            });
        let first_key = node
            .as_mapping()
            .and_then(|keys| keys.keys().next())
            .map(|key| key.span);
        Some(Self {
            name,
            url,
            pin,
            first_key,
        })
    }
}
