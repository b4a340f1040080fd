//! `layercake.yaml`: what a repository wants of layercake.
//!
//! [`read()`] takes the text of such a file and gives a [`Config`], or all that
//! is wrong with it, each at its line. Which keys there are, and of what type,
//! is said in one place, the JSON Schema [`SCHEMA`]; what a value has to be
//! beyond that (a glob, a path, the name of a rule) is asked while it is read.
//! What the values do is not known here.

pub mod read;
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
pub(crate) const NAMES: [&str; 2] = ["layercake.yaml", ".layercake.yaml"];

/// Contents of a configuration file; a setting that it leaves out is absent.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The file; none where there is none.
    pub file: Option<File>,
    /// The meaning to render, where the two differ.
    pub(crate) semantics: Option<SemanticsSetting>,
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
    /// Keys that identify items of lists.
    pub(crate) list_keys: Vec<ListKey>,
    /// Documents that are secret by their schema.
    pub(crate) secrets: Secrets,
    /// Settings for some sites.
    pub(crate) sites: Vec<SiteSettings>,
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
    pub(crate) repositories: Vec<RepositorySettings>,
    /// Template of links to lines of the repository.
    pub(crate) links: Option<Arc<str>>,
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
pub(crate) enum SemanticsSetting {
    /// The meaning that the documentation promises.
    Documented,
    /// The meaning that the code has.
    Deckhand,
}

/// Treatment of a substitution without its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingSourceSetting {
    /// An error.
    Error,
    /// A warning.
    Warning,
}

/// A glob, and its place.
#[derive(Clone, Debug)]
pub(crate) struct GlobPattern {
    /// The glob.
    pub(crate) glob: Glob,
    /// Its place in the configuration file.
    pub(crate) span: Span,
}

/// `discover`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Discover {
    /// The sites that are wanted; all where there is none.
    pub(crate) sites: Vec<GlobPattern>,
    /// The paths that are not read.
    pub(crate) exclude: Vec<GlobPattern>,
}

/// A clone of a further repository.
#[derive(Clone, Debug)]
pub(crate) struct RepositorySettings {
    /// Its name, by which site definitions know it if it has no `url`.
    pub(crate) name: Spanned<Arc<str>>,
    /// Where it is, from the folder of the configuration file.
    pub(crate) path: Arc<str>,
    /// The address by which site definitions know it.
    pub(crate) url: Option<Arc<str>>,
    /// The revision to read in place of those that are pinned.
    pub(crate) revision: Option<Arc<str>>,
    /// Template of links to its lines.
    pub(crate) links: Option<Arc<str>>,
}

/// Treatment of substitutions without a source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Missing {
    /// Severity of one.
    pub(crate) source: Option<MissingSourceSetting>,
    /// Sources, as `SCHEMA/NAME`, that are known to be missing.
    pub(crate) known: Vec<GlobPattern>,
}

/// `rules`.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Only these; none given where it is not said.
    pub(crate) select: Vec<Arc<str>>,
    /// These too.
    pub(crate) extend_select: Vec<Arc<str>>,
    /// Levels that hold everywhere.
    pub(crate) general: RuleSettings,
    /// Whether suppressions have to say why.
    pub require_reason: bool,
    /// Levels for some files.
    pub(crate) per_path: Vec<(GlobPattern, RuleSettings)>,
}

/// Levels of rules; each rule is named by any word that selects rules.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleSettings {
    /// Not these.
    pub(crate) ignore: Vec<Arc<str>>,
    /// These at a level, in the order of the file.
    pub(crate) levels: Vec<(Arc<str>, Level)>,
}

/// `reach`.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReachLimits {
    /// Maximum number of sites in which an edit may change outputs.
    pub(crate) max_sites: Option<Spanned<usize>>,
    /// Maximum number of outputs that it may change.
    pub(crate) max_outputs: Option<Spanned<usize>>,
}

/// The key that identifies the items of some lists.
#[derive(Clone, Debug)]
pub(crate) struct ListKey {
    /// The schemas of the documents.
    pub(crate) schema: Glob,
    /// The lists in their data.
    pub(crate) path: PlaceQuery,
    /// The key.
    pub(crate) key: Arc<str>,
}

/// `secrets`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secrets {
    /// Replaces the schemas that are secret by themselves; none where it is not set.
    pub(crate) schemas: Option<Vec<Arc<str>>>,
    /// Further ones.
    pub(crate) extra: Vec<Arc<str>>,
}

/// Settings for some sites.
#[derive(Clone, Debug)]
pub(crate) struct SiteSettings {
    /// Their names.
    pub(crate) sites: GlobPattern,
    /// Treatment of substitutions without a source in them.
    pub(crate) missing: Missing,
    /// Levels of rules in them.
    pub(crate) rules: RuleSettings,
}

/// A set of parts that cloud-init is given.
#[derive(Clone, Debug)]
pub struct CloudConfig {
    /// Name of the output.
    pub(crate) name: Spanned<Arc<str>>,
    /// The globs of the files of each source, in order.
    pub(crate) sources: Vec<(CloudSource, Vec<Spanned<Arc<str>>>)>,
    /// The sites that have it.
    pub(crate) sites: Option<GlobPattern>,
    /// Whether it is merged as the documentation of 2013 says.
    pub(crate) dialect: Option<DialectSetting>,
    /// Whether everything in it is secret.
    pub(crate) secret: bool,
}

/// A source of what cloud-init is given.
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

/// Rules by which parts are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DialectSetting {
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
    pub(crate) by: ReferenceKey,
}

/// Property by which a document is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ReferenceKey {
    /// Its name.
    #[default]
    Name,
}

impl File {
    /// A file that no reader has to understand.
    pub(crate) fn unread(path: RepoPath, bytes: Vec<u8>) -> Self {
        let mut sources = SourceMap::new();
        let file = sources.add(Source::new(path.clone(), Ok(bytes)));
        let root = Node::new(Value::Null, Span::point(file, 0));
        Self { path, sources: Arc::new(sources), root }
    }

    /// Its text.
    pub(crate) fn text(&self) -> Arc<str> {
        let (_, source) = self.sources.iter().next().expect("a file is in its own map");
        source.text().clone()
    }

    /// `FILE:LINE` of a place in it.
    pub(crate) fn line(&self, span: Span) -> String {
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
pub(crate) fn find(tree: &dyn Tree) -> Result<Option<(RepoPath, Vec<u8>)>, Error> {
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
