//! `layercake.yaml`: the configuration of a repository.
//!
//! [`read()`] parses the text of such a file into a [`Config`], or reports all problems with their
//! lines. The JSON Schema [`SCHEMA`] defines the keys and their types; further constraints on
//! values (globs, paths, names of rules) are checked while reading. This module does not interpret
//! the values.

pub mod read;
mod shape;
mod show;
mod version;

use std::sync::Arc;

use globset::Glob;

pub(crate) use self::read::built_in_queries;
pub use self::read::{Vocabulary, read};
pub(crate) use self::show::SettingOrigin;
pub use self::show::settings;
use crate::diagnostic::Level;
use crate::error::{Error, shell_word};
use crate::source::{RepoPath, Source, SourceMap, Span, Spanned, Tree};
use crate::yaml::{Node, PlaceQuery, Query, Value};

/// JSON Schema (Draft 4) of a configuration file.
pub const SCHEMA: &str = include_str!("../../docs/layercake.schema.json");

/// Names of a configuration file, at the root of a tree.
pub(crate) const NAMES: [&str; 2] = ["layercake.yaml", ".layercake.yaml"];

/// Contents of a configuration file; settings missing from the file are absent.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The file, if there is one.
    pub file: Option<File>,
    /// Semantics to render with, where Deckhand's documentation and code differ.
    pub(crate) semantics: Option<SemanticsSetting>,
    /// Program that applies manifests: `helm` or `operator`.
    pub(crate) armada: Option<Arc<str>>,
    /// Selection of files and sites.
    pub(crate) discover: Discover,
    /// `compare.base`.
    pub(crate) base: Option<Spanned<Arc<str>>>,
    /// Treatment of substitutions without a source, in all sites.
    pub(crate) missing: Missing,
    /// Levels of the rules.
    pub rules: Rules,
    /// Limits of the reach of an edit.
    pub(crate) reach: ReachLimits,
    /// Rows for the table of consequences.
    pub(crate) consequences: Vec<Node>,
    /// Keys that identify items of lists.
    pub(crate) list_keys: Vec<ListKey>,
    /// Documents that are secret by their schema.
    pub(crate) secrets: Secrets,
    /// Settings for some sites.
    pub(crate) sites: Vec<SiteSettings>,
    /// Values that name other documents.
    pub references: Vec<ReferenceSettings>,
    /// Queries that `query` and reports know by name, instead of the program's of the same name.
    pub(crate) queries: Vec<NamedQuery>,
    /// Sets of parts given to cloud-init.
    pub cloud_config: Vec<CloudConfig>,
    /// Version of the program that reads rendered documents, for property groups that name no
    /// program.
    pub client_version: Option<Arc<str>>,
    /// Names and versions of programs, in the order of the file.
    pub client_versions: Vec<(Arc<str>, Arc<str>)>,
    /// Property groups and the document schemas they apply to, in the order of the file.
    pub property_groups: Vec<(Spanned<Arc<str>>, Node)>,
    /// Number of days before its end in which a certificate is reported.
    pub(crate) expiring_days: Option<usize>,
    /// File of accepted findings, relative to the folder of the configuration.
    pub baseline: Option<Spanned<Arc<str>>>,
    /// Reports to write if no `--output` is given: `FORMAT` or `FORMAT=FILE`.
    pub outputs: Vec<Arc<str>>,
    /// Clones of further repositories.
    pub(crate) repositories: Vec<RepositorySettings>,
    /// Link template for lines of the repository.
    pub(crate) links: Option<Arc<str>>,
    /// Base URL of the rule pages; empty for no links.
    pub(crate) docs_url: Option<Arc<str>>,
}

/// A configuration file.
#[derive(Clone, Debug)]
pub struct File {
    /// Displayed path.
    pub path: RepoPath,
    /// Source text, as the only file of its own map.
    sources: Arc<SourceMap>,
    /// Root of the parsed YAML.
    root: Node,
}

/// Semantics of documents, where Deckhand's documentation and code differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SemanticsSetting {
    /// As documented.
    Documented,
    /// As implemented.
    Deckhand,
}

/// Severity of a substitution whose source is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingSourceSetting {
    Error,
    Warning,
}

/// A glob and its location.
#[derive(Clone, Debug)]
pub(crate) struct GlobPattern {
    pub(crate) glob: Glob,
    /// Location in the configuration file.
    pub(crate) span: Span,
}

/// `discover`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Discover {
    /// Globs of the sites to include; all sites if empty.
    pub(crate) sites: Vec<GlobPattern>,
    /// Globs of paths to skip.
    pub(crate) exclude: Vec<GlobPattern>,
}

/// A clone of a further repository.
#[derive(Clone, Debug)]
pub(crate) struct RepositorySettings {
    /// Name; site definitions use it if there is no `url`.
    pub(crate) name: Spanned<Arc<str>>,
    /// Path of the clone, relative to the folder of the configuration file.
    pub(crate) path: Arc<str>,
    /// URL of the repository in site definitions.
    pub(crate) url: Option<Arc<str>>,
    /// Revision to read instead of the pinned revisions.
    pub(crate) revision: Option<Arc<str>>,
    /// Link template for lines of the repository.
    pub(crate) links: Option<Arc<str>>,
}

/// Treatment of substitutions without a source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Missing {
    /// Severity of a missing source.
    pub(crate) source: Option<MissingSourceSetting>,
    /// Globs of sources, as `SCHEMA/NAME`, that are known to be missing.
    pub(crate) known: Vec<GlobPattern>,
}

/// `rules`.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Selected rules; empty if not set.
    pub(crate) select: Vec<Arc<str>>,
    /// Additionally selected rules.
    pub(crate) extend_select: Vec<Arc<str>>,
    /// Levels that apply everywhere.
    pub(crate) general: RuleSettings,
    /// Whether every suppression must give a reason.
    pub require_reason: bool,
    /// Levels for files that match a glob.
    pub(crate) per_path: Vec<(GlobPattern, RuleSettings)>,
}

/// Levels of rules; each key is a rule selector: a name, a code or a group.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleSettings {
    /// Rules to turn off.
    pub(crate) ignore: Vec<Arc<str>>,
    /// Rules and their levels, in the order of the file.
    pub(crate) levels: Vec<(Arc<str>, Level)>,
}

/// `reach`.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReachLimits {
    /// Maximum number of sites in which an edit may change outputs.
    pub(crate) max_sites: Option<Spanned<usize>>,
    /// Maximum number of outputs that an edit may change.
    pub(crate) max_outputs: Option<Spanned<usize>>,
    /// Largest action that an edit may ask for.
    pub(crate) max_action: Option<Spanned<Arc<str>>>,
    /// Levels of cautions, in the order of the file.
    pub(crate) cautions: Vec<(Spanned<Arc<str>>, Level)>,
    /// Whether documents that only Armada reads, and that no action deploys, are left out.
    pub(crate) deployed: bool,
}

/// Key that identifies the items of some lists.
#[derive(Clone, Debug)]
pub(crate) struct ListKey {
    /// Schemas of the documents.
    pub(crate) schema: Glob,
    /// Lists in the document data.
    pub(crate) path: PlaceQuery,
    pub(crate) key: Arc<str>,
}

/// `secrets`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secrets {
    /// Replacement for the default secret schemas, if set.
    pub(crate) schemas: Option<Vec<Arc<str>>>,
    /// Additional secret schemas.
    pub(crate) extra: Vec<Arc<str>>,
}

/// Settings for some sites.
#[derive(Clone, Debug)]
pub(crate) struct SiteSettings {
    /// Glob of site names.
    pub(crate) sites: GlobPattern,
    /// Treatment of substitutions without a source in these sites.
    pub(crate) missing: Missing,
    /// Program that applies the manifests of these sites.
    pub(crate) armada: Option<Arc<str>>,
    /// Levels of rules in these sites.
    pub(crate) rules: RuleSettings,
}

/// A set of parts for cloud-init.
#[derive(Clone, Debug)]
pub struct CloudConfig {
    /// Name of the output.
    pub(crate) name: Spanned<Arc<str>>,
    /// Globs of the files of each source, in order.
    pub(crate) sources: Vec<(CloudSource, Vec<Spanned<Arc<str>>>)>,
    /// Sites that have this set.
    pub(crate) sites: Option<GlobPattern>,
    /// Dialect of the merge rules.
    pub(crate) dialect: Option<DialectSetting>,
    /// Whether all its contents are secret.
    pub(crate) secret: bool,
}

/// A kind of cloud-init source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CloudSource {
    /// `parts`.
    Parts,
    /// `vendor-data2`.
    VendorData2,
    /// `vendor-data`.
    VendorData,
    /// `conf-d`.
    ConfD,
    /// `base`.
    Base,
}

/// Rules for merging parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DialectSetting {
    /// Rules of current cloud-init.
    Current,
    /// Rules of cloud-init's documentation of 2013.
    Documented,
}

/// Values in documents of one schema that name documents of another.
#[derive(Clone, Debug)]
pub struct ReferenceSettings {
    /// Schema of the referring documents.
    pub schema: Spanned<Arc<str>>,
    /// Paths of the names in their data.
    pub path: Query,
    /// Schema of the referenced documents.
    pub target: Spanned<Arc<str>>,
}

/// A query that is asked by its name.
#[derive(Clone, Debug)]
pub(crate) struct NamedQuery {
    pub(crate) name: Arc<str>,
    pub(crate) description: Arc<str>,
    pub(crate) from: Vec<QuerySource>,
    pub(crate) kind: QueryKind,
    /// Further values of the document, by the title of their column.
    pub(crate) columns: Vec<(Arc<str>, Query)>,
}

/// Values that a query selects in documents of some schemas.
#[derive(Clone, Debug)]
pub(crate) struct QuerySource {
    /// Matches the schema; all schemas if `None`.
    pub(crate) schema: Option<Glob>,
    pub(crate) path: Query,
}

/// Form of the values that a query selects. Values of another form are omitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueryKind {
    Any,
    /// References to container images.
    Image,
    /// Certificates in PEM.
    Certificate,
}

impl File {
    /// Creates a file without parsing its contents.
    pub(crate) fn unread(path: RepoPath, bytes: Vec<u8>) -> Self {
        let mut sources = SourceMap::new();
        let file = sources.add(Source::new(path.clone(), Ok(bytes)));
        let root = Node::new(Value::Null, Span::point(file, 0));
        Self {
            path,
            sources: Arc::new(sources),
            root,
        }
    }

    /// Text of the file.
    pub(crate) fn text(&self) -> Arc<str> {
        let (_, source) = self
            .sources
            .iter()
            .next()
            .expect("a file is in its own map");
        source.text().clone()
    }

    /// Formats the location of `span` as `FILE:LINE`.
    pub(crate) fn line(&self, span: Span) -> String {
        format!("{}:{}", self.path, self.sources.start(span).line)
    }
}

impl Config {
    /// Describes where `key` was set, as `KEY in FILE:LINE`.
    pub(crate) fn describe_setting(&self, key: &str, span: Span) -> String {
        match &self.file {
            Some(file) => format!("{key} in {}", file.line(span)),
            None => key.to_owned(),
        }
    }
}

/// Finds the configuration file at the root of `tree` and reads it.
///
/// # Errors
/// If there are two files, or the file cannot be read.
pub(crate) fn find(tree: &dyn Tree) -> Result<Option<(RepoPath, Vec<u8>)>, Error> {
    let mut found = Vec::new();
    for name in NAMES {
        let path = RepoPath::new(name);
        match tree.read(&path) {
            Ok(bytes) => found.push((path, bytes)),
            Err(error) if error.is_missing() => {}
            Err(error) => {
                return Err(error.fatal(&path).unwrap_or_else(|| {
                    let message = format!("cannot read the configuration file `{path}`");
                    Error::io(message)
                }));
            }
        }
    }
    if found.len() > 1 {
        let [one, other] = NAMES;
        let message = format!("found two configuration files, `{one}` and `{other}`");
        return Err(Error::usage(message).with_help("remove one of them"));
    }
    Ok(found.pop())
}

/// Names that users give to a configuration file, which is not read under them.
const OTHER_NAMES: [&str; 6] = [
    "layercake.yml",
    ".layercake.yml",
    "layercake.toml",
    ".layercake.toml",
    "layercake.json",
    ".layercake.json",
];

/// Refuses a configuration file that is not read: one with another name at the root of `tree`, or
/// in one of these folders.
///
/// # Errors
/// If there is one.
pub(crate) fn refuse_unread(tree: &dyn Tree, folders: &[RepoPath]) -> Result<(), Error> {
    let below = folders
        .iter()
        .filter(|folder| !folder.is_root())
        .flat_map(|folder| NAMES.iter().chain(&OTHER_NAMES).map(|it| folder.join(it)));
    let at_root = OTHER_NAMES.iter().map(|name| RepoPath::new(*name));
    at_root
        .chain(below)
        .find(|path| !tree.read(path).is_err_and(|error| error.is_missing()))
        .map_or(Ok(()), |path| Err(unread(&path)))
}

/// Refuses a configuration file among these files of layers, where it is not read.
///
/// # Errors
/// If there is one.
pub(crate) fn refuse_in_layers<'p>(
    files: impl IntoIterator<Item = &'p RepoPath>,
) -> Result<(), Error> {
    files
        .into_iter()
        .find(|path| {
            path.as_str()
                .rsplit_once('/')
                .is_some_and(|(_, name)| NAMES.contains(&name))
        })
        .map_or(Ok(()), |path| Err(unread(path)))
}

fn unread(path: &RepoPath) -> Error {
    let [name, _] = NAMES;
    let is_at_root = !path.as_str().contains('/');
    let message = format!("the configuration file `{path}` is not read");
    let help = match (is_at_root, path.as_str().ends_with(".yaml")) {
        (true, _) if path.as_str().ends_with(".yml") => format!("rename it to `{name}`"),
        (true, _) => format!("write its settings in YAML, to `{name}`"),
        (false, _) => {
            let path = shell_word(path.as_str());
            format!("move it to `{name}` at the root of the repository, or pass `--config {path}`")
        }
    };
    Error::usage(message).with_help(help)
}

/// Problem of a configuration file.
struct ConfigProblem {
    at: Span,
    /// One line, lower case, no full stop.
    message: String,
}
