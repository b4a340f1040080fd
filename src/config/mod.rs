//! `layercake.yaml`: what a repository wants of layercake.
//!
//! [`read`] takes the text of such a file and gives a [`Config`], or all that
//! is wrong with it, each at its line. Which keys there are, and of what type,
//! is said in one place, the JSON Schema [`SCHEMA`]; what a value has to be
//! beyond that (a glob, a path, the name of a rule) is asked while it is read.
//! What the values do is not known here.

mod read;
mod shape;
mod show;
mod version;

use std::sync::Arc;

use globset::Glob;

pub use self::read::{Vocabulary, read};
pub(crate) use self::show::SettingOrigin;
pub use self::show::settings;
use crate::diagnostic::Level;
use crate::error::{Error, ErrorKind};
use crate::source::{RepoPath, Source, SourceMap, Span, Spanned, Tree};
use crate::yaml::{Node, PlaceQuery, Query, Value};

/// The JSON Schema (Draft 4) of a configuration file.
pub const SCHEMA: &str = include_str!("../../docs/layercake.schema.json");

/// The names of a configuration file, at the root of a tree.
pub const NAMES: [&str; 2] = ["layercake.yaml", ".layercake.yaml"];

/// Contents of a configuration file; a setting that it leaves out is absent.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The file; none where there is none.
    pub file: Option<File>,
    /// The meaning to render, where the two differ.
    pub semantics: Option<SemanticsSetting>,
    /// Selection of files and sites.
    pub discover: Discover,
    /// `compare.base`.
    pub base: Option<Spanned<Arc<str>>>,
    /// Treatment of substitutions without a source, in all sites.
    pub missing: Missing,
    /// Levels of the rules.
    pub rules: Rules,
    /// Limits of the reach of an edit.
    pub reach: ReachLimits,
    /// Keys that identify items of lists.
    pub list_keys: Vec<ListKey>,
    /// Documents that are secret by their schema.
    pub secrets: Secrets,
    /// Settings for some sites.
    pub sites: Vec<SiteSettings>,
    /// Values of documents that name other documents.
    pub references: Vec<ReferenceSettings>,
    /// Sets of parts given to cloud-init.
    pub cloud_config: Vec<CloudConfig>,
    /// The version of the program that reads rendered documents, where it needs
    /// no name.
    pub client_version: Option<Arc<str>>,
    /// Programs and their versions, in the order of the file.
    pub client_versions: Vec<(Arc<str>, Arc<str>)>,
    /// Blocks of property groups, and the schemas of the documents that they
    /// are for, in the order of the file.
    pub property_groups: Vec<(Spanned<Arc<str>>, Node)>,
    /// The file with accepted findings, from the folder of the configuration.
    pub baseline: Option<Spanned<Arc<str>>>,
    /// The reports to write where nothing else is asked for: `FORMAT` or
    /// `FORMAT=FILE`.
    pub outputs: Vec<Arc<str>>,
    /// Clones of further repositories.
    pub repositories: Vec<RepositorySettings>,
    /// Template of links to lines of the repository.
    pub links: Option<Arc<str>>,
}

/// A configuration file.
#[derive(Clone, Debug)]
pub struct File {
    /// Where it is, as it is shown.
    pub path: RepoPath,
    /// Its text, as the only file of its own map.
    sources: Arc<SourceMap>,
    /// Its content.
    root: Node,
}

/// A meaning of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SemanticsSetting {
    /// The meaning that the documentation promises.
    Documented,
    /// The meaning that the code has.
    Deckhand,
}

/// Treatment of a substitution without its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingSourceSetting {
    /// An error.
    Error,
    /// A warning.
    Warning,
}

/// A glob, and its place.
#[derive(Clone, Debug)]
pub struct GlobPattern {
    /// The glob.
    pub glob: Glob,
    /// Its place in the configuration file.
    pub span: Span,
}

/// `discover`.
#[derive(Clone, Debug, Default)]
pub struct Discover {
    /// The sites that are wanted; all where there is none.
    pub sites: Vec<GlobPattern>,
    /// The paths that are not read.
    pub exclude: Vec<GlobPattern>,
}

/// A clone of a further repository.
#[derive(Clone, Debug)]
pub struct RepositorySettings {
    /// Its name, by which site definitions know it if it has no `url`.
    pub name: Spanned<Arc<str>>,
    /// Where it is, from the folder of the configuration file.
    pub path: Arc<str>,
    /// The address by which site definitions know it.
    pub url: Option<Arc<str>>,
    /// The revision to read in place of those that are pinned.
    pub revision: Option<Arc<str>>,
    /// Template of links to its lines.
    pub links: Option<Arc<str>>,
}

/// Treatment of substitutions without a source.
#[derive(Clone, Debug, Default)]
pub struct Missing {
    /// Severity of one.
    pub source: Option<MissingSourceSetting>,
    /// Sources, as `SCHEMA/NAME`, that are known to be missing.
    pub known: Vec<GlobPattern>,
}

/// `rules`.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Only these; none given where it is not said.
    pub select: Vec<Arc<str>>,
    /// These too.
    pub extend_select: Vec<Arc<str>>,
    /// Levels that hold everywhere.
    pub(crate) general: RuleSettings,
    /// Whether suppressions have to say why.
    pub require_reason: bool,
    /// Levels for some files.
    pub(crate) per_path: Vec<(GlobPattern, RuleSettings)>,
}

/// Levels of rules; each rule is named by any word that selects rules.
#[derive(Clone, Debug, Default)]
pub struct RuleSettings {
    /// Not these.
    pub ignore: Vec<Arc<str>>,
    /// These at a level, in the order of the file.
    pub levels: Vec<(Arc<str>, Level)>,
}

/// `reach`.
#[derive(Clone, Debug, Default)]
pub struct ReachLimits {
    /// Maximum number of sites in which an edit may change outputs.
    pub max_sites: Option<Spanned<usize>>,
    /// Maximum number of outputs that it may change.
    pub max_outputs: Option<Spanned<usize>>,
}

/// The key that identifies the items of some lists.
#[derive(Clone, Debug)]
pub struct ListKey {
    /// The schemas of the documents.
    pub schema: Glob,
    /// The lists in their data.
    pub path: PlaceQuery,
    /// The key.
    pub key: Arc<str>,
}

/// `secrets`.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    /// Replaces the schemas that are secret by themselves; none where it is not set.
    pub schemas: Option<Vec<Arc<str>>>,
    /// Further ones.
    pub extra: Vec<Arc<str>>,
}

/// Settings for some sites.
#[derive(Clone, Debug)]
pub struct SiteSettings {
    /// Their names.
    pub sites: GlobPattern,
    /// Treatment of substitutions without a source in them.
    pub missing: Missing,
    /// Levels of rules in them.
    pub rules: RuleSettings,
}

/// A set of parts that cloud-init is given.
#[derive(Clone, Debug)]
pub struct CloudConfig {
    /// Name of the output.
    pub name: Spanned<Arc<str>>,
    /// The globs of the files of each source, in order.
    pub sources: Vec<(CloudSource, Vec<Spanned<Arc<str>>>)>,
    /// The sites that have it.
    pub sites: Option<GlobPattern>,
    /// Whether it is merged as the documentation of 2013 says.
    pub dialect: Option<DialectSetting>,
    /// Whether everything in it is secret.
    pub secret: bool,
}

/// A source of what cloud-init is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloudSource {
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

/// Rules by which parts are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialectSetting {
    /// The rules of present cloud-init.
    Current,
    /// The rules of its documentation of 2013.
    Documented,
}

/// Values in documents of one schema that name documents of another.
#[derive(Clone, Debug)]
pub struct ReferenceSettings {
    /// The schema of the documents that name.
    pub schema: Spanned<Arc<str>>,
    /// Where in their data the names are.
    pub path: Query,
    /// The schema of the documents that are named.
    pub target: Spanned<Arc<str>>,
    /// The property that names them.
    pub by: ReferenceKey,
}

/// Property by which a document is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReferenceKey {
    /// Its name.
    #[default]
    Name,
}

impl File {
    /// A file that no reader has to understand.
    pub fn unread(path: RepoPath, bytes: Vec<u8>) -> Self {
        let mut sources = SourceMap::new();
        let file = sources.add(Source::new(path.clone(), Ok(bytes)));
        let root = Node::new(Value::Null, Span::point(file, 0));
        Self { path, sources: Arc::new(sources), root }
    }

    /// Its text.
    pub fn text(&self) -> Arc<str> {
        let (_, source) = self.sources.iter().next().expect("a file is in its own map");
        source.text().clone()
    }

    /// `FILE:LINE` of a place in it.
    pub fn line(&self, span: Span) -> String {
        format!("{}:{}", self.path, self.sources.start(span).line)
    }
}

impl Config {
    /// `KEY in FILE:LINE`, to say where something was set.
    pub(crate) fn describe_setting(&self, key: &str, span: Span) -> String {
        match &self.file {
            Some(file) => format!("{key} in {}", file.line(span)),
            None => key.to_owned(),
        }
    }
}

/// The configuration file at the root of `tree`, and what it holds; none where
/// there is none.
///
/// # Errors
/// Where there are two, or the one cannot be read.
pub fn find(tree: &dyn Tree) -> Result<Option<(RepoPath, Vec<u8>)>, Error> {
    let mut found = Vec::new();
    for name in NAMES {
        let path = RepoPath::new(name);
        match tree.read(&path) {
            Ok(bytes) => found.push((path, bytes)),
            Err(error) if error.is_missing() => {}
            Err(error) => {
                return Err(error.fatal(&path).unwrap_or_else(|| {
                    let message = format!("the configuration file `{path}` cannot be read");
                    Error::new(ErrorKind::Io, message)
                }));
            }
        }
    }
    if found.len() > 1 {
        let [one, other] = NAMES;
        let message = format!("there is `{one}` and `{other}`; which of them counts?");
        return Err(Error::new(ErrorKind::Usage, message).with_help("remove one of them"));
    }
    Ok(found.pop())
}

/// Something wrong with a configuration file.
struct ConfigProblem {
    at: Span,
    /// One line, lower case, no full stop.
    message: String,
}
