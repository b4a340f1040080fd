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
pub use self::show::{Setting, SettingOrigin, settings};
use crate::diagnostic::Level;
use crate::error::{Error, ErrorKind};
use crate::source::{RepoPath, Source, SourceMap, Span, Spanned, Tree};
use crate::yaml::{Node, PlaceQuery, Query, Value};

/// The JSON Schema (Draft 4) of a configuration file.
pub const SCHEMA: &str = include_str!("../../docs/layercake.schema.json");

/// The names of a configuration file, at the root of a tree.
pub const NAMES: [&str; 2] = ["layercake.yaml", ".layercake.yaml"];

/// What a configuration file says; where it says nothing, nothing.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The file; none where there is none.
    pub file: Option<File>,
    /// What to render where two meanings differ.
    pub semantics: Option<SemanticsSetting>,
    /// Which files and sites there are.
    pub discover: Discover,
    /// `compare.base`.
    pub base: Option<Spanned<Arc<str>>>,
    /// What substitutions without a source are, in all sites.
    pub missing: Missing,
    /// Which rules count, and how much.
    pub rules: Rules,
    /// How far an edit may reach.
    pub reach: ReachLimits,
    /// By which keys items of lists are known.
    pub list_keys: Vec<ListKey>,
    /// Which documents are secret by their schema.
    pub secrets: Secrets,
    /// What else holds for some sites.
    pub sites: Vec<SiteSettings>,
    /// What in a document names another one.
    pub references: Vec<ReferenceSettings>,
    /// What cloud-init is given.
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
    /// What links to lines of the repository are made of.
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
    /// What the documentation promises.
    Documented,
    /// What the code does.
    Deckhand,
}

/// What a substitution without its source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingSourceSetting {
    /// An error.
    Error,
    /// A warning.
    Warning,
}

/// A glob, and where it stands.
#[derive(Clone, Debug)]
pub struct GlobPattern {
    /// The glob.
    pub glob: Glob,
    /// Where it stands in the configuration file.
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
    /// What links to its lines are made of.
    pub links: Option<Arc<str>>,
}

/// What substitutions without a source are.
#[derive(Clone, Debug, Default)]
pub struct Missing {
    /// How bad one is.
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
    /// What holds everywhere.
    pub general: RuleSettings,
    /// Whether suppressions have to say why.
    pub require_reason: bool,
    /// What holds for some files.
    pub per_path: Vec<(GlobPattern, RuleSettings)>,
}

/// How much rules count; each is named by any word that selects rules.
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
    /// In so many sites an edit may change outputs.
    pub max_sites: Option<Spanned<usize>>,
    /// So many outputs it may change.
    pub max_outputs: Option<Spanned<usize>>,
}

/// By which key the items of some lists are known.
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
    /// In place of the schemas that are secret by themselves; none where
    /// nothing is said.
    pub schemas: Option<Vec<Arc<str>>>,
    /// Further ones.
    pub extra: Vec<Arc<str>>,
}

/// What holds for some sites.
#[derive(Clone, Debug)]
pub struct SiteSettings {
    /// Their names.
    pub sites: GlobPattern,
    /// What substitutions without a source are in them.
    pub missing: Missing,
    /// How much rules count in them.
    pub rules: RuleSettings,
}

/// A set of parts that cloud-init is given.
#[derive(Clone, Debug)]
pub struct CloudConfig {
    /// What the output is called.
    pub name: Spanned<Arc<str>>,
    /// For each source the globs of its files, in order.
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

/// By which rules parts are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialectSetting {
    /// As cloud-init does.
    Current,
    /// As its documentation of 2013 says.
    Documented,
}

/// What in documents of one schema names those of another.
#[derive(Clone, Debug)]
pub struct ReferenceSettings {
    /// The schema of the documents that name.
    pub schema: Spanned<Arc<str>>,
    /// Where in their data the names are.
    pub path: Query,
    /// The schema of the documents that are named.
    pub target: Spanned<Arc<str>>,
    /// By what they are named.
    pub by: ReferenceKey,
}

/// What of a document it is named by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReferenceKey {
    /// Its name.
    #[default]
    Name,
}

impl File {
    /// A file that nobody has to understand.
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
    pub fn told(&self, key: &str, span: Span) -> String {
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
    /// In one line, lower case, no full stop.
    message: String,
}
