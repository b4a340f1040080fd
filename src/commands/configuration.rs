//! Finds and reads the configuration, and applies the flags on top of it.

use std::path::{Component, Path, PathBuf};

use std::sync::Arc;

use globset::{GlobSet, GlobSetBuilder};

use super::policy::{Selectors, configured_policy};
use crate::check::{self, ChosenArmada, KnownMissing, Options};
use crate::config::{self, Config, File, GlobPattern, Vocabulary};
use crate::deployment::{ArmadaKind, Caution, ConsequenceTable};
use crate::error::Error;
use crate::graph::MissingSource;
use crate::merge::cloud_init::Dialect;
use crate::merge::deckhand::Semantics;
use crate::report::{self, ChosenBy, ChosenSemantics, Format, Links, RulePages};
use crate::rules::{self, GROUPS, RULES, UnusedKind};
use crate::source::{RepoPath, Tree, stays_inside, text_at};
use crate::system::cloud_init::SourceKind;
use crate::system::cloud_init::declared::{DeclaredSet, SecretFiles};
use crate::system::deckhand::DeckhandOptions;
use crate::system::deckhand::secrecy::{Folder, NOT_SHOWN, SecretKinds};
use crate::triage::baseline::FILE;
use crate::yaml::diff::{ListKeys, SpecialKey};

/// Source of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ConfigurationSource {
    /// Root of the tree that is read.
    #[default]
    Root,
    /// Root of the base side.
    Base,
    /// This file.
    File(PathBuf),
    /// No configuration.
    Nowhere,
}

/// Semantics given by flags, which override the configuration.
#[derive(Clone, Copy, Debug, Default)]
pub struct SemanticsFlags {
    /// Deckhand semantics.
    pub semantics: Option<Semantics>,
    /// Level of a missing substitution source.
    pub missing_source: Option<MissingSource>,
}

/// A configuration, and where it was found.
#[derive(Clone, Debug, Default)]
pub struct FoundConfiguration {
    /// Parsed configuration.
    pub config: Config,
    /// The head's file, if that of the base is in effect and differs from it.
    pub(super) changed: Option<File>,
    /// Folder that its paths are relative to.
    pub(super) folder: Option<PathBuf>,
}

impl FoundConfiguration {
    /// Whether another configuration was read from the same files with the same texts.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let text = |file: &Option<File>| file.as_ref().map(|file| (file.path.clone(), file.text()));
        let files = |found: &Self| [text(&found.config.file), text(&found.changed)];
        files(self) == files(other) && self.folder == other.folder
    }
}

/// Trees in which the configuration is looked up.
pub struct ConfigurationTrees<'a> {
    /// Tree that is read.
    pub tree: &'a dyn Tree,
    /// Base side.
    pub base: Option<&'a dyn Tree>,
    /// Their root on disk.
    pub root: Option<&'a Path>,
}

/// Finds and reads the configuration. A file given by the user is relative to `directory`.
///
/// # Errors
/// If the file does not exist or is invalid, or without a base.
pub fn find(
    directory: &Path,
    place: &ConfigurationSource,
    around: &ConfigurationTrees<'_>,
) -> Result<FoundConfiguration, Error> {
    let folder = around.root.map(Path::to_owned);
    match place {
        ConfigurationSource::Nowhere => Ok(FoundConfiguration::default()),
        ConfigurationSource::File(file) => at_file(directory, file),
        ConfigurationSource::Root => {
            let config = in_tree(around.tree)?;
            Ok(FoundConfiguration {
                config,
                changed: None,
                folder,
            })
        }
        ConfigurationSource::Base => {
            let base = around.base.ok_or_else(no_base)?;
            let (config, head) = (in_tree(base)?, config::find(around.tree)?);
            let counts = config.file.as_ref().map(File::text);
            let changed = match head {
                Some((path, bytes)) if counts.as_ref().map(|it| it.as_bytes()) != Some(&bytes) => {
                    Some(File::unread(path, bytes))
                }
                Some(_) => None,
                // Deleted: point at the old content.
                None => config.file.clone(),
            };
            Ok(FoundConfiguration {
                config,
                changed,
                folder,
            })
        }
    }
}

fn no_base() -> Error {
    let message = "`--config-from-base` needs a comparison, but none is requested";
    let help = "pass `--since REV`, `--staged`, `--from REV` or `--auto`";
    Error::usage(message).with_help(help)
}

/// Configuration at the root of a tree.
pub(super) fn in_tree(tree: &dyn Tree) -> Result<Config, Error> {
    match config::find(tree)? {
        Some((path, bytes)) => {
            let folder = Folder::in_tree(tree, &path);
            read(path, bytes, folder)
        }
        None => Ok(Config::default()),
    }
}

/// Configuration file given by the user.
pub(super) fn at_file(directory: &Path, file: &Path) -> Result<FoundConfiguration, Error> {
    let path = directory.join(file);
    let text = text_at(&path)?;
    let shown = RepoPath::new(shown_name(file));
    let folder = path.parent().map(Path::to_owned);
    let config = read(shown, text.into_bytes(), Folder::on_disk(&path))?;
    Ok(FoundConfiguration {
        config,
        changed: None,
        folder,
    })
}

/// Name in reports of a file given by the user. Omits the folders around it if it may be outside of
/// the repository, because reports must not reveal paths of the machine.
fn shown_name(file: &Path) -> String {
    let is_below = file
        .components()
        .all(|it| matches!(it, Component::Normal(_) | Component::CurDir));
    let name = file.file_name().filter(|_| !is_below).map(Path::new);
    name.unwrap_or(file).display().to_string()
}

fn read(path: RepoPath, bytes: Vec<u8>, folder: Folder) -> Result<Config, Error> {
    let is_secret = folder.hides(&SecretKinds::default(), &String::from_utf8_lossy(&bytes));
    let groups = GROUPS.iter().map(|(name, _)| *name);
    let names = RULES.iter().map(|rule| rule.name).chain(groups);
    let words: Vec<&str> = names
        .chain(RULES.iter().flat_map(|rule| rule.aliases).copied())
        .collect();
    let cautions: Vec<&str> = Caution::ALL.iter().map(|it| it.as_str()).collect();
    let vocabulary = Vocabulary {
        rules: &words,
        cautions: &cautions,
        consequence: ConsequenceTable::check,
        formats: &Format::ALL.map(Format::name),
        version: env!("CARGO_PKG_VERSION"),
        links: |template| Links::new(template).map(drop),
        docs_url: |base| RulePages::new(base, RULES).map(drop),
        not_shown: is_secret.then_some(NOT_SHOWN),
    };
    config::read(path, bytes, &vocabulary)
}

/// Applies the flags on top of the configuration.
///
/// # Errors
/// If a flag names an unknown rule.
pub fn settle(
    found: &FoundConfiguration,
    meaning: SemanticsFlags,
    selectors: &Selectors,
) -> Result<Options, Error> {
    let config = &found.config;
    let (rules, policy) = configured_policy(selectors, config)?;
    let (semantics, chosen_by) = semantics(found, meaning);
    let rules = rules::RuleOptions {
        is_undecided: chosen_by == ChosenBy::Default,
        ..rules
    };
    let missing_source = meaning
        .missing_source
        .or(config.missing.source.map(missing_source_of));
    let deckhand = DeckhandOptions {
        semantics,
        missing_source: missing_source.unwrap_or(MissingSource::Error),
        encryption_sources: std::collections::BTreeMap::new(),
    };
    let configuration = configuration(found, meaning)?;
    let baseline = Some(RepoPath::new(FILE));
    Ok(Options {
        rules,
        policy,
        baseline,
        configuration,
        ..Options::of(deckhand)
    })
}

fn semantics(found: &FoundConfiguration, meaning: SemanticsFlags) -> (Semantics, ChosenBy) {
    match (meaning.semantics, found.config.semantics) {
        (Some(flag), _) => (flag, ChosenBy::Flag),
        (None, Some(configured)) => (semantics_of(configured), ChosenBy::Configuration),
        (None, None) => (Semantics::Documented, ChosenBy::Default),
    }
}

/// Semantics in effect, for reports.
pub fn chosen_semantics(found: &FoundConfiguration, meaning: SemanticsFlags) -> ChosenSemantics {
    let (semantics, chosen_by) = semantics(found, meaning);
    let meaning = match semantics {
        Semantics::Documented => report::ReportedSemantics::Documented,
        Semantics::Deckhand => report::ReportedSemantics::Deckhand,
    };
    ChosenSemantics { meaning, chosen_by }
}

fn configuration(
    found: &FoundConfiguration,
    meaning: SemanticsFlags,
) -> Result<check::Configuration, Error> {
    let config = &found.config;
    let of_sites = config.sites.iter().filter_map(|site| {
        let missing_source = site.missing.source.map(missing_source_of)?;
        Some((site.sites.glob.compile_matcher(), missing_source))
    });
    // The flag overrides settings of sites.
    let missing_source = match meaning.missing_source {
        Some(_) => Vec::new(),
        None => of_sites.collect(),
    };
    let kind = |word: &Option<Arc<str>>| word.as_deref().and_then(ArmadaKind::of);
    let armada_of_sites = config
        .sites
        .iter()
        .filter_map(|site| Some((site.sites.glob.compile_matcher(), kind(&site.armada)?)))
        .collect();
    let path_and_text = |file: &File| (file.path.clone(), file.text());
    Ok(check::Configuration {
        file: config.file.as_ref().map(path_and_text),
        changed: found.changed.as_ref().map(path_and_text),
        sites: glob_set(&config.discover.sites)?,
        secrets: secret_kinds(config),
        missing_source,
        armada: ChosenArmada {
            of_all: kind(&config.armada),
            of_sites: armada_of_sites,
        },
        consequences: ConsequenceTable::with(&config.consequences),
        known_missing: known_missing(config),
        sets: declared_sets(config),
        secret_files: SecretFiles::default(),
        headers: Vec::new(),
        entries: entries(config),
        property_groups: config.property_groups.clone(),
    })
}

fn known_missing(config: &Config) -> Vec<KnownMissing> {
    let known = |pattern: &GlobPattern, sites: Option<&GlobPattern>| KnownMissing {
        sites: sites.map(|sites| sites.glob.compile_matcher()),
        sources: pattern.glob.compile_matcher(),
        at: pattern.span,
    };
    let everywhere = config
        .missing
        .known
        .iter()
        .map(|pattern| known(pattern, None));
    let in_sites = config.sites.iter().flat_map(|site| {
        site.missing
            .known
            .iter()
            .map(|pattern| known(pattern, Some(&site.sites)))
    });
    everywhere.chain(in_sites).collect()
}

fn entries(config: &Config) -> Vec<check::Entry> {
    let entry = |of: UnusedKind, pattern: &GlobPattern| check::Entry {
        of,
        glob: pattern.glob.compile_matcher(),
        written: pattern.glob.glob().into(),
        at: pattern.span,
    };
    let paths = config
        .rules
        .per_path
        .iter()
        .map(|(paths, _)| entry(UnusedKind::Path, paths));
    let of_sites = config
        .sites
        .iter()
        .map(|site| &site.sites)
        .chain(&config.discover.sites);
    let sets = config.cloud_config.iter();
    let of_sites = of_sites.chain(sets.clone().filter_map(|set| set.sites.as_ref()));
    let globs = sets
        .flat_map(|set| &set.sources)
        .flat_map(|(_, globs)| globs);
    let parts = globs.filter_map(|glob| {
        let glob_of_all = DeclaredSet::in_any_site(&glob.value)?;
        let written = glob.value.clone();
        Some(check::Entry {
            of: UnusedKind::Path,
            glob: glob_of_all,
            written,
            at: glob.span,
        })
    });
    let entries = paths.chain(of_sites.map(|sites| entry(UnusedKind::Site, sites)));
    entries.chain(parts).collect()
}

/// Sets given to cloud-init, as declared in the configuration.
pub(super) fn declared_sets(config: &Config) -> Vec<DeclaredSet> {
    config.cloud_config.iter().map(declared_set).collect()
}

fn declared_set(set: &config::CloudConfig) -> DeclaredSet {
    let sources = set.sources.iter().map(|(source, globs)| {
        let globs = globs.iter().map(|glob| glob.value.clone());
        (source_kind(*source), globs.collect())
    });
    DeclaredSet {
        name: set.name.value.clone(),
        at: set.name.span,
        dialect: match set.dialect {
            Some(config::DialectSetting::Documented) => Dialect::Documented,
            Some(config::DialectSetting::Current) | None => Dialect::Current,
        },
        is_undecided: set.dialect.is_none(),
        sources: sources.collect(),
        sites: set.sites.as_ref().map(|sites| sites.glob.compile_matcher()),
        secret: set.secret,
    }
}

fn source_kind(source: config::CloudSource) -> SourceKind {
    match source {
        config::CloudSource::Parts => SourceKind::UserData,
        config::CloudSource::VendorData2 => SourceKind::VendorData2,
        config::CloudSource::VendorData => SourceKind::VendorData,
        config::CloudSource::ConfD => SourceKind::ConfD,
        config::CloudSource::Base => SourceKind::Base,
    }
}

fn secret_kinds(config: &Config) -> SecretKinds {
    let secrets = &config.secrets;
    let own: Vec<&str> = match &secrets.schemas {
        Some(schemas) => schemas.iter().map(|schema| &**schema).collect(),
        None => SecretKinds::SCHEMAS.to_vec(),
    };
    SecretKinds::new(
        own.into_iter()
            .chain(secrets.extra.iter().map(|schema| &**schema)),
    )
}

/// Keys that match list items: those of the flags, then the default ones.
pub(super) fn list_keys(config: &Config, flags: &[String]) -> ListKeys {
    let special = config.list_keys.iter().map(|key| SpecialKey {
        schema: key.schema.compile_matcher(),
        path: key.path.clone(),
        key: key.key.to_string(),
    });
    ListKeys::with(flags.iter().map(String::as_str)).with_special(special.collect())
}

/// One set of all globs; `None` if there are none.
pub(super) fn glob_set(patterns: &[GlobPattern]) -> Result<Option<GlobSet>, Error> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(pattern.glob.clone());
    }
    set.build().map(Some).map_err(|error| {
        Error::usage("the globs of the configuration are too large in total").caused_by(error)
    })
}

fn semantics_of(semantics: config::SemanticsSetting) -> Semantics {
    match semantics {
        config::SemanticsSetting::Documented => Semantics::Documented,
        config::SemanticsSetting::Deckhand => Semantics::Deckhand,
    }
}

fn missing_source_of(missing: config::MissingSourceSetting) -> MissingSource {
    match missing {
        config::MissingSourceSetting::Error => MissingSource::Error,
        config::MissingSourceSetting::Warning => MissingSource::Warning,
    }
}

impl FoundConfiguration {
    /// Path of the baseline: as configured, relative to the folder of the configuration, or else at
    /// the `root`.
    pub(super) fn baseline(&self, root: Option<&Path>) -> RepoPath {
        let Some(named) = &self.config.baseline else {
            return RepoPath::new(FILE);
        };
        let inside = baseline_file(self)
            .zip(root)
            .and_then(|(file, root)| RepoPath::of_place(root, &file));
        inside.unwrap_or_else(|| RepoPath::new(named.value.clone()))
    }
}

/// Reports that the configuration requests, with their files if any.
///
/// # Errors
/// If a file is outside of the folder of the configuration through a symbolic link: the author of
/// the configuration must not choose other places to write to.
pub fn outputs(found: &FoundConfiguration) -> Result<Vec<(Format, Option<PathBuf>)>, Error> {
    let folder = found.folder.as_deref().unwrap_or(Path::new("."));
    let mut outputs = Vec::new();
    for text in &found.config.outputs {
        let (format, file) = match text.split_once('=') {
            Some((format, file)) => (format, Some(file)),
            None => (&**text, None),
        };
        if let Some(file) = file.filter(|file| !stays_inside(folder, Path::new(file))) {
            let message =
                format!("the report `{file}` is outside of the repository through a symbolic link");
            let help =
                "use a folder of the repository in `output.default`, or pass any with `--output`";
            return Err(Error::usage(message).with_help(help));
        }
        // Other formats were rejected when the configuration was read.
        outputs.extend(Format::named(format).map(|it| (it, file.map(|file| folder.join(file)))));
    }
    Ok(outputs)
}

/// Baseline file that the configuration names, if it is on disk.
pub fn baseline_file(found: &FoundConfiguration) -> Option<PathBuf> {
    Some(
        found
            .folder
            .as_deref()?
            .join(&*found.config.baseline.as_ref()?.value),
    )
}

/// Configured template for links to lines of the repository.
pub fn links(found: &FoundConfiguration) -> Option<Links> {
    found
        .config
        .links
        .as_deref()
        .and_then(|template| Links::new(template).ok())
}

/// Base URL of the rule pages without a configuration. Only release builds set it, since only their
/// pages are published.
const DOCS_URL: Option<&str> = option_env!("LAYERCAKE_DOCS_URL");

/// Rule pages to link to: those of the configuration, or else of the build; none if the base URL is
/// empty.
pub fn rule_pages(found: &FoundConfiguration) -> Option<RulePages> {
    let base = found.config.docs_url.as_deref().or(DOCS_URL)?;
    RulePages::new(base, RULES).ok()
}
