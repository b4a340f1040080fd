//! The declared cloud-init sets, and the files each takes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use globset::{Glob, GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};

use super::{GivenFile, PartSource, Set, SourceKind};
use crate::merge::cloud_init::Dialect;
use crate::source::{RepoPath, Span, Tree};

/// A declared set: one output per site.
#[derive(Clone, Debug)]
pub struct DeclaredSet {
    /// Name of the output.
    pub name: Arc<str>,
    /// Location of the declaration in the configuration file.
    pub at: Span,
    /// Dialect of the merge rules.
    pub dialect: Dialect,
    /// Whether the dialect is a default that neither the configuration nor a flag chose.
    pub is_undecided: bool,
    /// Globs of the files of each source, in order; `{site}` and `{type}` are replaced by the
    /// site's name and type.
    pub sources: Vec<(SourceKind, Vec<Arc<str>>)>,
    /// Sites that have the set; `None` for all sites.
    pub sites: Option<GlobMatcher>,
    /// Whether all of its content is secret.
    pub secret: bool,
}

impl DeclaredSet {
    /// Matcher for a glob, with any site and any type in place of the placeholders.
    pub(crate) fn in_any_site(glob: &str) -> Option<GlobMatcher> {
        matcher(&fill_placeholders(glob, "*", "*"))
    }
}

/// Globs of all files that are parts of a set in any site.
#[derive(Debug, Default)]
pub(crate) struct PartGlobs {
    user_data: GlobSet,
    conf_d: GlobSet,
    base: GlobSet,
    /// Literal prefixes of the globs; every matching path begins with one of them.
    prefixes: Vec<String>,
    /// Globs for the folders on the way to parts, without those that `**` matches.
    folders: GlobSet,
}

impl PartGlobs {
    pub(crate) fn of(sets: &[DeclaredSet]) -> Self {
        let of = |wanted: &dyn Fn(SourceKind) -> bool| {
            let sources = sets.iter().flat_map(|set| &set.sources);
            let globs = sources
                .filter(|(kind, _)| wanted(*kind))
                .flat_map(|(_, globs)| globs);
            glob_set(globs.map(|glob| fill_placeholders(glob, "*", "*")))
        };
        let globs = sets
            .iter()
            .flat_map(|set| &set.sources)
            .flat_map(|(_, globs)| globs);
        let prefixes = globs
            .clone()
            .map(|glob| glob[..glob.find(META).unwrap_or(glob.len())].to_owned());
        Self {
            user_data: of(&SourceKind::is_user_data),
            conf_d: of(&|kind| kind == SourceKind::ConfD),
            base: of(&|kind| kind == SourceKind::Base),
            prefixes: prefixes.collect(),
            folders: glob_set(
                globs.flat_map(|glob| folders_of(&fill_placeholders(glob, "*", "*"))),
            ),
        }
    }

    /// Whether a folder can contain parts.
    pub(crate) fn can_be_in(&self, folder: &RepoPath) -> bool {
        let folder = format!("{folder}/");
        self.prefixes
            .iter()
            .any(|prefix| prefix.starts_with(&folder) || folder.starts_with(prefix.as_str()))
    }

    /// Whether a link to a folder is on the way to parts. Like shells, `**` follows no links.
    pub(crate) fn follow(&self, link: &RepoPath) -> bool {
        self.folders.is_match(link.as_str())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.user_data.is_empty() && self.conf_d.is_empty() && self.base.is_empty()
    }

    /// Whether a file belongs to cloud-init rather than Deckhand.
    pub(crate) fn has(&self, path: &RepoPath) -> bool {
        self.is_part(path) || self.conf_d.is_match(path.as_str())
    }

    /// Whether cloud-init reads a file.
    pub(crate) fn is_part(&self, path: &RepoPath) -> bool {
        self.is_user_data(path)
            || self.base.is_match(path.as_str())
            || self.conf_d.is_match(path.as_str()) && is_read_in_conf_d(path.as_str())
    }

    /// Whether the file is read as user-data rather than as a configuration.
    pub(crate) fn is_user_data(&self, path: &RepoPath) -> bool {
        self.user_data.is_match(path.as_str())
    }
}

/// The files that are parts of sets declared secret. A file is secret under every path that leads
/// to it, including links.
#[derive(Clone, Debug, Default)]
pub struct SecretFiles {
    /// Globs, each with the folder that paths of the tree are joined to before matching.
    declared: Vec<(RepoPath, GlobSet)>,
}

impl SecretFiles {
    /// The parts of the secret ones among `sets`, for a tree whose root is `folder` of the
    /// repository that declares them.
    pub(crate) fn of(sets: &[DeclaredSet], folder: RepoPath) -> Self {
        let secret = sets
            .iter()
            .filter(|set| set.secret)
            .flat_map(|set| &set.sources);
        let globs = secret
            .flat_map(|(_, globs)| globs)
            .map(|glob| fill_placeholders(glob, "*", "*"));
        let globs = glob_set(globs);
        let declared = (!globs.is_empty()).then_some((folder, globs));
        Self {
            declared: declared.into_iter().collect(),
        }
    }

    /// Merges two collections of secret files.
    #[must_use]
    pub(crate) fn and(mut self, others: &Self) -> Self {
        self.declared.extend(others.declared.iter().cloned());
        self
    }

    /// Whether a file is secret under exactly this path.
    pub(crate) fn have(&self, path: &RepoPath) -> bool {
        self.declared.iter().any(|(folder, globs)| {
            let path = if folder.is_root() {
                path.clone()
            } else {
                folder.join(path.as_str())
            };
            globs.is_match(path.as_str())
        })
    }

    /// Whether `path` of `tree`, or the file it links to, is secret.
    pub(crate) fn have_in(&self, tree: &dyn Tree, path: &RepoPath) -> bool {
        let leads_to_one = || tree.real_path(path).is_some_and(|path| self.have(&path));
        !self.declared.is_empty() && (self.have(path) || leads_to_one())
    }
}

/// Returns the sets of a site, made of the parts of the existing files in path order.
pub(crate) fn sets_of_site<'a>(
    declared: &[DeclaredSet],
    site: (Option<&str>, Option<&str>),
    at: impl Fn(Span) -> Option<Span>,
    given: &BTreeMap<&'a RepoPath, GivenFile<'a>>,
) -> Vec<Set<'a>> {
    let (name, site_type) = site;
    let of_site = declared.iter().filter(|declared| match &declared.sites {
        None => true,
        Some(sites) => name.is_some_and(|name| sites.is_match(name)),
    });
    of_site
        .filter_map(|declared| {
            let sources: Vec<PartSource<'a>> = declared
                .sources
                .iter()
                .map(|(kind, globs)| PartSource {
                    kind: *kind,
                    files: files(*kind, globs, name, site_type, given)
                        .into_iter()
                        .map(|path| given[path].clone())
                        .collect(),
                })
                .collect();
            // A set without any file in a site is not an output of it.
            let file = sources.iter().flat_map(|source| &source.files).next()?;
            let first = sources.iter().flat_map(PartSource::parts).next();
            let at = at(declared.at).unwrap_or(first.map_or(file.at, |part| part.at));
            Some(Set {
                name: declared.name.clone(),
                at,
                dialect: declared.dialect,
                is_undecided: declared.is_undecided,
                sources,
            })
        })
        .collect()
}

/// The files of a source, in merge order.
fn files<'a>(
    kind: SourceKind,
    globs: &[Arc<str>],
    site: Option<&str>,
    site_type: Option<&str>,
    given: &BTreeMap<&'a RepoPath, GivenFile<'a>>,
) -> Vec<&'a RepoPath> {
    let mut files = Vec::new();
    let mut known = BTreeSet::new();
    let globs = globs.iter().filter_map(|glob| {
        let is_of_site = site.is_some() || !glob.contains(SITE) && !glob.contains(TYPE);
        let name = globset::escape(site.unwrap_or_default());
        let site_type = globset::escape(site_type.unwrap_or_default());
        is_of_site.then(|| fill_placeholders(glob, &name, &site_type))
    });
    for glob in globs {
        files.extend(
            matching(glob, given)
                .into_iter()
                .filter(|path| known.insert(*path)),
        );
    }
    if kind == SourceKind::ConfD {
        // The last name has the highest priority (section 7).
        files.retain(|path| is_read_in_conf_d(path.as_str()));
        files.sort_by(|one: &&RepoPath, other: &&RepoPath| {
            let name = |path: &RepoPath| path.parts().last().map(str::to_owned);
            (name(other), other).cmp(&(name(one), one))
        });
    }
    files
}

/// Whether cloud-init reads a file of `conf.d` with this name or path (`util.read_conf_d`).
pub(crate) fn is_read_in_conf_d(path: &str) -> bool {
    path.ends_with(".cfg")
}

/// Paths that match a glob. Globs without metacharacters are looked up directly, so that thousands
/// of files listed by name stay cheap.
fn matching<'a>(glob: String, given: &BTreeMap<&'a RepoPath, GivenFile<'a>>) -> Vec<&'a RepoPath> {
    if !glob.contains(META) {
        let found = given.get_key_value(&RepoPath::new(glob));
        return found.map(|(path, _)| *path).into_iter().collect();
    }
    let Some(glob) = matcher(&glob) else {
        return Vec::new();
    };
    given
        .keys()
        .copied()
        .filter(|path| glob.is_match(path.as_str()))
        .collect()
}

/// Metacharacters of globs.
const META: [char; 8] = ['*', '?', '[', ']', '{', '}', '!', '\\'];
const SITE: &str = "{site}";
const TYPE: &str = "{type}";

/// Replaces the placeholders of a glob.
fn fill_placeholders(glob: &str, site: &str, site_type: &str) -> String {
    glob.replace(SITE, site).replace(TYPE, site_type)
}

fn matcher(glob: &str) -> Option<GlobMatcher> {
    Some(parsed(glob)?.compile_matcher())
}

/// Parses a path glob; `None` if it is malformed, which is reported when the configuration is read.
fn parsed(glob: &str) -> Option<Glob> {
    GlobBuilder::new(glob).literal_separator(true).build().ok()
}

/// Globs for the folders of a glob, up to `**`.
fn folders_of(glob: &str) -> Vec<String> {
    let ends = glob.match_indices('/').map(|(end, _)| &glob[..end]);
    ends.take_while(|folder| !folder.contains("**"))
        .map(str::to_owned)
        .collect()
}

fn glob_set(globs: impl Iterator<Item = String>) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for glob in globs.filter_map(|glob| parsed(&glob)) {
        set.add(glob);
    }
    set.build().unwrap_or_default()
}
