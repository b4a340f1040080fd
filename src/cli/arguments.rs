//! Flags and arguments shared by several verbs, with their help, and the requests made from them.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use layercake::commands::cloud_config::Parts;
use layercake::commands::configuration::{ConfigurationSource, SemanticsFlags};
use layercake::commands::documents::DocumentGlobs;
use layercake::commands::names::{NamedValue, Target, is_file, is_glob};
use layercake::commands::places::entered;
use layercake::commands::policy::Selectors;
use layercake::commands::repositories::Bump;
use layercake::commands::sides::{MergeBase, Range, SideSelection};
use layercake::commands::{CheckClock, Selection};
use layercake::deployment::Caution;
use layercake::diagnostic::Severity;
use layercake::error::Error;
use layercake::graph::MissingSource;
use layercake::merge::cloud_init::Dialect;
use layercake::merge::deckhand::Semantics;
use layercake::near;
use layercake::report::{Format, Links, ReportFormat};

use super::candidates;
use super::environment::{named_configuration, repositories_of_environment, today};

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum When {
    Auto,
    Always,
    Never,
}

/// Report options.
#[derive(Debug, Args)]
pub(super) struct OutputArgs {
    /// Report format: `full`, `concise` or a machine-readable one [default: full]
    ///
    /// Other formats: `json`, `github` (annotations), `markdown` (a job summary), `comment` (for a
    /// pull request), `sarif`, `junit`, `gitlab` and `html`. With `=FILE`, write the report to FILE
    /// instead of standard output. Repeat the flag to write several reports in one run.
    #[arg(short, long, value_name = "FORMAT[=FILE]", aliases = ["output-format", "format"])]
    #[arg(add = candidates::formats())]
    #[arg(help_heading = "Output")]
    pub(super) output: Vec<OutputArgument>,

    /// Open the HTML report in a browser after writing it
    ///
    /// Opens FILE of `--output html=FILE`. Without one, also writes an HTML report to a new
    /// temporary file.
    #[arg(long, help_heading = "Output")]
    pub(super) open: bool,

    /// Link lines to this URL template with `{sha}`, `{path}` and `{line}`
    ///
    /// For example `https://git.example.org/sites/blob/{sha}/{path}#L{line}`.
    #[arg(long, value_name = "URL", value_parser = Links::new, help_heading = "Output")]
    pub(super) links: Option<Links>,
}

/// One report of a run and its destination.
#[derive(Clone, Debug)]
pub(super) struct OutputArgument {
    pub(super) format: Format,
    /// `None` for standard output.
    pub(super) file: Option<PathBuf>,
    pub(super) named_by: NamedBy,
}

impl OutputArgument {
    /// Whether the report lists findings of both sides: programs take a missing result for a fixed one.
    pub(super) fn lists_unchanged(&self) -> bool {
        matches!(self.format, Format::Of(ReportFormat::Sarif))
    }
}

/// Origin of a report file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedBy {
    /// Command line: the user may overwrite any file.
    Flag,
    /// `output.default`, which anyone with write access to the repository controls.
    Configuration,
}

impl FromStr for OutputArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (format, file) = match text.split_once('=') {
            Some((_, "")) => return Err("missing file name after `=`".to_owned()),
            Some((format, file)) => (format, Some(PathBuf::from(file))),
            None => (text, None),
        };
        let names = || Format::ALL.map(Format::name).join(", ");
        let format = Format::named(format)
            .ok_or_else(|| format!("unknown format; expected one of {}", names()))?;
        Ok(Self {
            format,
            file,
            named_by: NamedBy::Flag,
        })
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum RenderFormat {
    Yaml,
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum SitesFormat {
    Table,
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum TextFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum GraphFormat {
    Text,
    Dot,
    Mermaid,
    Json,
}

#[derive(Debug, Args)]
pub(super) struct CloudConfigArgs {
    /// Parts of user-data, in order; `-` for standard input; or one folder of `NoCloud`
    ///
    /// The folder has `user-data`, and `vendor-data` if there is any.
    #[arg(value_name = "PART")]
    pub(super) parts: Vec<PathBuf>,

    /// Merge type of part N (counted from 1), as its header `Merge-Type`
    #[arg(
        long,
        value_name = "N=SPEC",
        requires = "parts",
        help_heading = "Inputs"
    )]
    pub(super) merge_type: Vec<String>,

    /// All user-data in one file: plain, MIME, archive, include or compressed
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "parts",
        help_heading = "Inputs"
    )]
    pub(super) user_data: Option<PathBuf>,

    /// Vendor-data, in any form
    #[arg(long, value_name = "FILE", help_heading = "Inputs")]
    pub(super) vendor_data: Option<PathBuf>,

    /// Second vendor-data, merged between the first and user-data
    #[arg(long, value_name = "FILE", help_heading = "Inputs")]
    pub(super) vendor_data2: Option<PathBuf>,

    /// Use DIR as conf.d and merge its `*.cfg` files
    #[arg(long, value_name = "DIR", help_heading = "Inputs")]
    pub(super) conf_d: Option<PathBuf>,

    /// Use FILE as cloud.cfg, with the lowest precedence
    ///
    /// If its key `conf_d` is empty, `--conf-d` has no effect. Only folders given by flags are
    /// read.
    #[arg(long, value_name = "FILE", help_heading = "Inputs")]
    pub(super) base: Option<PathBuf>,

    /// Merge rules to use [default: current]
    #[arg(long, value_name = "DIALECT", help_heading = "Inputs")]
    pub(super) dialect: Option<DialectArg>,

    /// Only declared sets whose name matches this glob
    #[arg(long, value_name = "GLOB", help_heading = "Set selection")]
    #[arg(conflicts_with_all = NAMED)]
    pub(super) set: Vec<String>,

    /// Only sites whose name matches this glob
    #[arg(long, value_name = "GLOB", help_heading = "Set selection", conflicts_with_all = NAMED)]
    #[arg(add = candidates::sites())]
    pub(super) site: Vec<String>,

    /// Read REV instead of the working tree
    #[arg(long, value_name = "REV", help_heading = "Set selection", conflicts_with_all = NAMED)]
    #[arg(add = candidates::revisions())]
    pub(super) rev: Option<String>,

    #[command(flatten)]
    pub(super) config: ConfigArgs,

    #[command(flatten)]
    pub(super) rules: RuleArgs,

    /// Output format: `yaml`, `json`, or that of a report
    ///
    /// `yaml` and `json` print the merged result. Other formats print only the findings: `full`,
    /// `concise`, `github`, `sarif`, `junit`, `gitlab`, `markdown`, `comment` and `html`.
    #[arg(short = 'o', long, value_name = "FORMAT", default_value = "yaml")]
    #[arg(alias = "output-format", help_heading = "Output", add = candidates::merged_formats())]
    pub(super) format: CloudConfigFormat,

    /// Add `# FILE:LINE` to each value: where it was written
    ///
    /// If the file has the part encoded, its name and line in the decoded part follow.
    #[arg(long, help_heading = "Output")]
    pub(super) with_origin: bool,

    /// Exit with 1 if there are findings of this level or above
    #[arg(
        long,
        value_name = "LEVEL",
        default_value = "error",
        help_heading = "Output"
    )]
    pub(super) fail_on: FailOn,
}

/// Output of `cloud-config`.
#[derive(Clone, Copy, Debug)]
pub(super) enum CloudConfigFormat {
    Merged(RenderFormat),
    Report(Format),
}

impl FromStr for CloudConfigFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(format) = RenderFormat::from_str(text, false) {
            return Ok(Self::Merged(format));
        }
        let names = || Format::ALL.map(Format::name).join(", ");
        let format = Format::named(text)
            .ok_or_else(|| format!("unknown format; expected yaml or one of {}", names()))?;
        Ok(Self::Report(format))
    }
}

/// Arguments that name parts. They conflict with the selection of declared sets.
const NAMED: [&str; 6] = [
    "parts",
    "user_data",
    "vendor_data",
    "vendor_data2",
    "conf_d",
    "base",
];

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum DialectArg {
    /// cloud-init's code
    Current,
    /// cloud-init's documentation of 2013
    Documented,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(super) struct ExplainValueArgs {
    /// Site, or `-` for files without sites
    ///
    /// SITE is omitted with `--all-sites` and `--site`. SCHEMA is optional if one document of this
    /// name in the site has the value. PATH is written as `.values.pod` or `/values/pod`.
    #[arg(value_name = "SITE", add = candidates::sites())]
    first: Option<String>,

    /// Schema, name and path of the value
    #[arg(value_name = "SCHEMA NAME PATH")]
    rest: Vec<String>,

    /// Show the value in every site, or in those that a glob of `--site` matches, instead of
    /// tracing it in one
    #[arg(long, conflicts_with = "why_not")]
    pub(super) all_sites: bool,

    /// Follow the value on this line, and report where it stops
    #[arg(long, value_name = "FILE:LINE")]
    pub(super) why_not: Option<String>,

    /// Compare with the merge base of REV and HEAD, and report which edit changed the value
    #[arg(long, value_name = "REV", conflicts_with_all = ["all_sites", "why_not", "rev"])]
    #[arg(add = candidates::revisions())]
    pub(super) since: Option<String>,

    /// Compare with REV itself instead of its merge base with HEAD
    #[arg(long, requires = "since")]
    pub(super) no_merge_base: bool,

    /// Show the history of the value with the commits that changed it, as `layercake blame` does
    #[arg(long, conflicts_with_all = ["all_sites", "why_not", "since", "set"])]
    pub(super) history: bool,

    #[command(flatten)]
    pub(super) named: NameArgs,

    /// Read REV instead of the working tree
    #[arg(long, value_name = "REV", help_heading = "Document selection")]
    #[arg(add = candidates::revisions())]
    pub(super) rev: Option<String>,

    #[command(flatten)]
    pub(super) reading: ReadingArgs,

    /// Treat the files of the folder as one set without sites
    #[arg(
        long,
        conflicts_with = "repository",
        help_heading = "Document selection"
    )]
    pub(super) set: bool,

    /// Output format
    #[arg(short = 'o', long, value_name = "FORMAT", default_value = "text")]
    #[arg(alias = "output-format", help_heading = "Output")]
    pub(super) format: TextFormat,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Document selection")]
pub(super) struct RepositoryArgs {
    /// Read REV instead of the working tree
    #[arg(long, value_name = "REV")]
    #[arg(add = candidates::revisions())]
    pub(super) rev: Option<String>,

    /// Only sites whose name matches this glob
    #[arg(long, value_name = "GLOB")]
    #[arg(add = candidates::sites())]
    pub(super) site: Vec<String>,

    #[command(flatten)]
    pub(super) clones: CloneArgs,
}

#[derive(Debug, Args)]
pub(super) struct CloneArgs {
    /// Clone of a repository named in site definitions; read at the pinned revision unless @REV or
    /// @worktree is given
    #[arg(long, value_name = "NAME=PATH[@REV]")]
    repository: Vec<String>,
}

/// Clones to read, semantics and configuration of a verb that selects its documents otherwise.
#[derive(Debug, Args)]
pub(super) struct ReadingArgs {
    #[command(flatten, next_help_heading = "Document selection")]
    clones: CloneArgs,

    #[command(flatten)]
    meaning: MeaningArgs,

    #[command(flatten)]
    config: ConfigArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Document selection")]
pub(super) struct SelectionArgs {
    #[command(flatten)]
    pub(super) repository: RepositoryArgs,

    /// Treat the files as one set without sites
    #[arg(long, conflicts_with_all = ["site", "repository"])]
    pub(super) set: bool,

    #[command(flatten)]
    pub(super) meaning: MeaningArgs,

    #[command(flatten)]
    pub(super) config: ConfigArgs,
}

/// Arguments that name files.
#[derive(Debug, Args)]
pub(super) struct FilesArgs {
    /// Files or folders to report on; their sites are rendered completely
    ///
    /// The site repository that contains them is used, or the only one in a folder. With `--set`:
    /// the files to render together.
    #[arg(value_name = "FILE", help_heading = None)]
    files: Vec<PathBuf>,
}

/// Arguments that name files, or a site and documents in it.
#[derive(Debug, Args)]
pub(super) struct TargetArgs {
    /// Site of the documents; or a file or folder
    ///
    /// The site repository that contains the file is used, or the only one in a folder.
    #[arg(value_name = "SITE|FILE", help_heading = None, add = candidates::sites())]
    first: Option<String>,

    /// Schema and name of the documents; or further files and folders
    #[arg(value_name = "SCHEMA NAME|FILE", help_heading = None)]
    rest: Vec<String>,

    #[command(flatten)]
    documents: DocumentArgs,
}

/// Globs that select documents.
#[derive(Debug, Args)]
#[command(next_help_heading = "Document selection")]
pub(super) struct DocumentArgs {
    /// Only documents whose schema matches this glob, e.g. `armada/Chart/*`
    #[arg(long, value_name = "GLOB")]
    schema: Vec<String>,

    /// Only documents whose name matches this glob
    #[arg(long, value_name = "GLOB")]
    name: Vec<String>,
}

impl DocumentArgs {
    pub(super) fn globs(self) -> DocumentGlobs {
        DocumentGlobs {
            schemas: self.schema,
            names: self.name,
        }
    }
}

impl FilesArgs {
    /// The selection in the site repository of the files.
    pub(super) fn entered(self, selection: Selection) -> Result<Selection, Error> {
        entered(Selection {
            files: self.files,
            ..selection
        })
    }
}

impl TargetArgs {
    pub(super) fn target(self, selection: Selection) -> Result<Target, Error> {
        let words: Vec<String> = self.first.into_iter().chain(self.rest).collect();
        Target::parse(selection, &words, self.documents.globs())
    }

    /// Removes the first argument if it is a range of revisions.
    pub(super) fn take_range(&mut self, selection: &Selection) -> Option<Range> {
        let first = self.first.as_ref().filter(|word| !is_file(selection, word));
        let range = first.and_then(|word| Range::parse(word))?;
        self.first = (!self.rest.is_empty()).then(|| self.rest.remove(0));
        Some(range)
    }
}

/// Site, schema and name of a document, given by flags.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Document selection")]
pub(super) struct NameArgs {
    /// Name of the site, as the argument SITE
    #[arg(long, value_name = "SITE", add = candidates::sites())]
    pub(super) site: Option<String>,

    /// Schema of the document, as the argument SCHEMA
    #[arg(long, value_name = "SCHEMA")]
    schema: Option<String>,

    /// Name of the document, as the argument NAME
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

impl NameArgs {
    /// The value that the flags and these arguments name.
    pub(super) fn named(self, words: &[String], has_site: bool) -> Result<NamedValue, Error> {
        let flags = NamedValue {
            site: self.site,
            schema: self.schema,
            name: self.name,
            path: None,
        };
        NamedValue::parse(words, flags, has_site)
    }
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Configuration")]
pub(super) struct ConfigArgs {
    /// Read this configuration file instead of the one at the repository root
    ///
    /// `LAYERCAKE_CONFIG` in the environment has the same effect.
    #[arg(long, value_name = "FILE", conflicts_with = "isolated")]
    pub(super) config: Option<PathBuf>,

    /// Ignore all configuration files
    #[arg(long)]
    pub(super) isolated: bool,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Rule selection")]
pub(super) struct RuleArgs {
    /// Run only these rules: names, Pegleg codes such as `P005`, or the groups `default`, `strict`,
    /// `pegleg`, `deckhand`, `certificates` and `all`
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    #[arg(add = candidates::rules())]
    pub(super) select: Vec<String>,

    /// Run these rules in addition to the selected ones
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    #[arg(add = candidates::rules())]
    pub(super) extend_select: Vec<String>,

    /// Do not run these rules
    #[arg(short = 'x', long, value_name = "RULE", value_delimiter = ',')]
    #[arg(add = candidates::rules())]
    pub(super) ignore: Vec<String>,

    /// Report findings of these rules as warnings
    #[arg(short = 'w', long, value_name = "RULE", value_delimiter = ',')]
    #[arg(add = candidates::rules())]
    pub(super) warn: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FailOn {
    Error,
    Warning,
    Note,
    Never,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Comparison")]
pub(super) struct ComparisonArgs {
    /// Compare the working tree with the merge base of REV and HEAD
    #[arg(long, value_name = "REV", conflicts_with_all = ["staged", "from", "auto"])]
    #[arg(add = candidates::revisions())]
    pub(super) since: Option<String>,

    /// Compare the index with HEAD: the changes of the next commit
    #[arg(long, conflicts_with_all = ["from", "auto"])]
    pub(super) staged: bool,

    /// Compare REV itself with the side given by `--to`
    #[arg(long, value_name = "REV", conflicts_with = "auto")]
    #[arg(add = candidates::revisions())]
    pub(super) from: Option<String>,

    /// Later side: a revision, `worktree` or `index` [default: worktree]
    #[arg(long, value_name = "REV|worktree|index", requires = "from")]
    #[arg(add = candidates::sides())]
    pub(super) to: Option<String>,

    /// Compare with REV itself instead of its merge base with HEAD
    #[arg(long, requires = "since")]
    pub(super) no_merge_base: bool,

    /// Detect what to compare: from a hook, a CI job or the default branch
    ///
    /// Supports pre-commit, GitHub Actions, GitLab, Azure Pipelines, Bitbucket and Gerrit, tried in
    /// this order. Elsewhere, compares the working tree with the merge base of HEAD and the default
    /// branch.
    #[arg(long)]
    pub(super) auto: bool,

    /// Compare with a state in which the further repository NAME is pinned to REV
    ///
    /// Compares the working tree with itself after the definitions of the sites (those of `--site`)
    /// pin REV as the revision of the repository NAME. No file is edited. With two revisions,
    /// `A..B`, the first is pinned on the earlier side.
    #[arg(long, value_name = "NAME=REV", value_parser = Bump::parsed)]
    #[arg(conflicts_with_all = ["since", "staged", "from", "auto"])]
    pub(super) bump: Vec<Bump>,
}

/// Comparison with a revision, or with its merge base with HEAD.
pub(super) fn since_revision(revision: Option<String>, no_merge_base: bool) -> SideSelection {
    SideSelection {
        since: revision,
        merge_base: if no_merge_base {
            MergeBase::Skip
        } else {
            MergeBase::Use
        },
        ..SideSelection::default()
    }
}

impl ComparisonArgs {
    pub(super) fn wanted(self) -> SideSelection {
        let ComparisonArgs {
            since: revision,
            no_merge_base,
            staged,
            from,
            to,
            auto,
            bump: bumps,
        } = self;
        SideSelection {
            staged,
            from,
            to,
            auto,
            bumps,
            ..since_revision(revision, no_merge_base)
        }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Semantics")]
pub(super) struct MeaningArgs {
    /// Semantics to use where Deckhand's documentation and code differ
    ///
    /// [default: documented]
    #[arg(long, value_name = "MEANING")]
    pub(super) semantics: Option<SemanticsArg>,

    /// Level of a substitution whose source is missing
    ///
    /// [default: error]
    #[arg(long, value_name = "LEVEL")]
    pub(super) missing_substitution_source: Option<MissingSourceArg>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum SemanticsArg {
    /// As the documentation specifies
    Documented,
    /// As the code behaves
    Deckhand,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum MissingSourceArg {
    /// As in Deckhand's service and `pegleg site lint`
    Error,
    /// As in `pegleg site render`
    Warning,
}

impl ExplainValueArgs {
    pub(super) fn words(&self) -> Vec<String> {
        self.first.iter().chain(&self.rest).cloned().collect()
    }

    /// Whether the value is shown in all sites, or in those of a glob.
    pub(super) fn is_of_several_sites(&self) -> bool {
        let asks_of_one = self.history || self.since.is_some() || self.why_not.is_some();
        let is_by_glob = self.named.site.as_deref().is_some_and(is_glob);
        self.all_sites || (is_by_glob && !asks_of_one)
    }
}

impl CloneArgs {
    pub(super) fn selection(self, directory: PathBuf) -> Selection {
        let more_repositories = repositories_of_environment();
        let selection = Selection::of(directory);
        Selection {
            repositories: self.repository,
            more_repositories,
            clock: CheckClock::Reading(today),
            ..selection
        }
    }
}

impl ReadingArgs {
    pub(super) fn selection(self, directory: PathBuf) -> Selection {
        let (meaning, configuration) = (self.meaning.meaning(), self.config.place());
        Selection {
            meaning,
            configuration,
            ..self.clones.selection(directory)
        }
    }
}

impl RepositoryArgs {
    pub(super) fn selection(self, directory: PathBuf) -> Selection {
        let (revision, sites) = (self.rev, self.site);
        Selection {
            revision,
            sites,
            ..self.clones.selection(directory)
        }
    }
}

impl SelectionArgs {
    pub(super) fn selection(self, directory: PathBuf) -> Selection {
        Selection {
            set: self.set,
            meaning: self.meaning.meaning(),
            configuration: self.config.place(),
            ..self.repository.selection(directory)
        }
    }
}

impl CloudConfigArgs {
    /// The named parts, without the content of standard input.
    pub(super) fn named(&self) -> Parts {
        let user_data = self.parts.iter().chain(&self.user_data);
        Parts {
            user_data: user_data.cloned().collect(),
            merge_types: self.merge_type.clone(),
            vendor_data2: self.vendor_data2.clone(),
            vendor_data: self.vendor_data.clone(),
            conf_d: self.conf_d.clone(),
            base: self.base.clone(),
            dialect: self.dialect.map(|dialect| match dialect {
                DialectArg::Current => Dialect::Current,
                DialectArg::Documented => Dialect::Documented,
            }),
            standard_input: Vec::new(),
        }
    }

    pub(super) fn selection(self, directory: PathBuf) -> Selection {
        let (revision, sites, configuration) = (self.rev, self.site, self.config.place());
        let selectors = self.rules.selectors();
        Selection {
            revision,
            sites,
            configuration,
            selectors,
            ..Selection::of(directory)
        }
    }
}

impl MeaningArgs {
    pub(super) fn meaning(&self) -> SemanticsFlags {
        SemanticsFlags {
            semantics: self.semantics.map(|semantics| match semantics {
                SemanticsArg::Documented => Semantics::Documented,
                SemanticsArg::Deckhand => Semantics::Deckhand,
            }),
            missing_source: self.missing_substitution_source.map(|level| match level {
                MissingSourceArg::Error => MissingSource::Error,
                MissingSourceArg::Warning => MissingSource::Warning,
            }),
        }
    }
}

impl ConfigArgs {
    /// Source of the configuration: the flags, then the environment.
    pub(super) fn place(&self) -> ConfigurationSource {
        match (&self.config, self.isolated) {
            (_, true) => ConfigurationSource::Nowhere,
            (Some(file), false) => ConfigurationSource::File(file.clone()),
            (None, false) => {
                named_configuration().map_or(ConfigurationSource::Root, ConfigurationSource::File)
            }
        }
    }
}

impl RuleArgs {
    pub(super) fn selectors(self) -> Selectors {
        let RuleArgs {
            select,
            extend_select,
            ignore,
            warn,
        } = self;
        Selectors {
            select,
            extend_select,
            ignore,
            warn,
        }
    }
}

/// A level of findings, or a caution of edits, that fails a run.
#[derive(Clone, Copy, Debug)]
pub(super) enum FailOnItem {
    Level(FailOn),
    Caution(Caution),
}

impl FromStr for FailOnItem {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(name) = text.strip_prefix("caution:") {
            let names = || near::list(Caution::ALL.iter().map(|it| it.as_str()));
            return Caution::of(name)
                .map(Self::Caution)
                .ok_or_else(|| format!("unknown caution; expected one of {}", names()));
        }
        FailOn::from_str(text, false)
            .map(Self::Level)
            .map_err(|_| "expected error, warning, note, never or caution:NAME".to_owned())
    }
}

impl FailOnItem {
    pub(super) fn caution(self) -> Option<Caution> {
        match self {
            Self::Level(_) => None,
            Self::Caution(caution) => Some(caution),
        }
    }

    /// The level of some items: errors, unless they have one.
    pub(super) fn level(items: &[Self]) -> Result<FailOn, Error> {
        let levels = items.iter().filter_map(|item| match item {
            Self::Level(level) => Some(*level),
            Self::Caution(_) => None,
        });
        let levels: Vec<FailOn> = levels.collect();
        let has_caution = levels.len() < items.len();
        match levels[..] {
            [] => Ok(FailOn::Error),
            [FailOn::Never] if has_caution => {
                let message = "`--fail-on never` excludes `--fail-on caution:NAME`";
                Err(Error::usage(message))
            }
            [level] => Ok(level),
            _ => {
                let message = "`--fail-on` has several levels";
                let help = "name one level: it includes those above";
                Err(Error::usage(message).with_help(help))
            }
        }
    }
}

impl FailOn {
    /// Minimum severity of findings that fail the run.
    pub(super) fn severity(self) -> Option<Severity> {
        match self {
            FailOn::Error => Some(Severity::Error),
            FailOn::Warning => Some(Severity::Warning),
            FailOn::Note => Some(Severity::Note),
            FailOn::Never => None,
        }
    }
}
