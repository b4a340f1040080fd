//! Flags and arguments that several verbs have, what their help says, and what
//! is asked by them.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use layercake::commands::Selection;
use layercake::commands::cloud_config::Parts;
use layercake::commands::configuration::{ConfigurationSource, SemanticsFlags};
use layercake::commands::policy::Selectors;
use layercake::commands::repositories::Bump;
use layercake::commands::sides::{MergeBase, SideSelection};
use layercake::graph::MissingSource;
use layercake::merge::cloud_init::Dialect;
use layercake::merge::deckhand::Semantics;
use layercake::report::{Format, Links};
use layercake::triage::Counts;

use super::environment::{named_configuration, repositories_of_environment};

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum When {
    Auto,
    Always,
    Never,
}

/// The reports of a run.
#[derive(Debug, Args)]
pub(super) struct OutputArgs {
    /// How to tell what was found: `full`, `concise`, or one for programs
    ///
    /// For programs and pages there are `json`, `github` (annotations), `markdown`
    /// (a job summary), `comment` (on a pull request), `sarif`, `junit`, `gitlab`
    /// and `html`. With `=FILE` it goes to that file instead of standard output;
    /// given several times, there are several reports of one run. [default: full]
    #[arg(short, long, value_name = "FORMAT[=FILE]")]
    #[arg(help_heading = "Output")]
    pub(super) output: Vec<OutputArgument>,

    /// Link lines to this address, with `{sha}`, `{path}` and `{line}`
    ///
    /// Such as `https://git.example.org/sites/blob/{sha}/{path}#L{line}`.
    #[arg(long, value_name = "URL", value_parser = Links::new, help_heading = "Output")]
    pub(super) links: Option<Links>,
}

/// One report of a run, and where it goes.
#[derive(Clone, Debug)]
pub(super) struct OutputArgument {
    pub(super) format: Format,
    /// None for standard output.
    pub(super) file: Option<PathBuf>,
    pub(super) named_by: NamedBy,
}

/// Source of the name of a report file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedBy {
    /// The user, who may replace any file.
    Flag,
    /// `output.default`, which anyone who changes the repository may write.
    Configuration,
}

impl FromStr for OutputArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (format, file) = match text.split_once('=') {
            Some((_, "")) => return Err("there is no file behind `=`".to_owned()),
            Some((format, file)) => (format, Some(PathBuf::from(file))),
            None => (text, None),
        };
        let names = || Format::ALL.map(Format::name).join(", ");
        let format = Format::named(format)
            .ok_or_else(|| format!("there is no such format; there are {}", names()))?;
        Ok(Self { format, file, named_by: NamedBy::Flag })
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
    /// Parts of user-data, in order; `-` is standard input
    #[arg(value_name = "PART")]
    pub(super) parts: Vec<PathBuf>,

    /// How part N is merged, the first being 1: its header `Merge-Type`
    #[arg(long, value_name = "N=SPEC", requires = "parts", help_heading = "What is merged")]
    pub(super) merge_type: Vec<String>,

    /// All user-data in one file: plain, MIME, archive, include, or compressed
    #[arg(long, value_name = "FILE", conflicts_with = "parts", help_heading = "What is merged")]
    pub(super) user_data: Option<PathBuf>,

    /// Vendor-data, in any form
    #[arg(long, value_name = "FILE", help_heading = "What is merged")]
    pub(super) vendor_data: Option<PathBuf>,

    /// The second vendor-data, between the first and user-data
    #[arg(long, value_name = "FILE", help_heading = "What is merged")]
    pub(super) vendor_data2: Option<PathBuf>,

    /// What stands for the folder conf.d: its files `*.cfg` count
    #[arg(long, value_name = "DIR", help_heading = "What is merged")]
    pub(super) conf_d: Option<PathBuf>,

    /// What stands for cloud.cfg, below all others
    ///
    /// Where its key `conf_d` is empty, `--conf-d` counts for nothing; no folder
    /// is read that is not named.
    #[arg(long, value_name = "FILE", help_heading = "What is merged")]
    pub(super) base: Option<PathBuf>,

    /// By which rules what is named is merged
    ///
    /// [default: current]
    #[arg(long, value_name = "DIALECT", help_heading = "What is merged")]
    pub(super) dialect: Option<DialectArg>,

    /// Only sets whose name matches this glob, of those that are declared
    #[arg(long, value_name = "GLOB", help_heading = "Which sets")]
    #[arg(conflicts_with_all = NAMED)]
    pub(super) set: Vec<String>,

    /// Only sites whose name matches this glob
    #[arg(long, value_name = "GLOB", help_heading = "Which sets", conflicts_with_all = NAMED)]
    pub(super) site: Vec<String>,

    /// Read this revision instead of the working tree
    #[arg(long, value_name = "REV", help_heading = "Which sets", conflicts_with_all = NAMED)]
    pub(super) rev: Option<String>,

    #[command(flatten)]
    pub(super) config: ConfigArgs,

    /// How to print it
    #[arg(short = 'o', long, value_name = "FORMAT", default_value = "yaml")]
    #[arg(help_heading = "Output")]
    pub(super) format: RenderFormat,

    /// Add `# FILE:LINE` to each value: where it was written
    #[arg(long, help_heading = "Output")]
    pub(super) with_origin: bool,
}

/// What names parts, which the sets that are declared go without.
const NAMED: [&str; 6] = ["parts", "user_data", "vendor_data", "vendor_data2", "conf_d", "base"];

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum DialectArg {
    /// What cloud-init does
    Current,
    /// What its documentation of 2013 says
    Documented,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(super) struct ExplainValueArgs {
    /// The site (`-` for files without sites; none with `--all-sites`), and the
    /// value: schema, name, and path as `.values.pod` or `/values/pod`. The schema
    /// may be left out where only one document of the site has the name
    #[arg(value_names = ["SITE", "SCHEMA", "NAME", "PATH"], num_args = 0..=4)]
    pub(super) value: Vec<String>,

    /// The value of each site, instead of the way of one
    #[arg(long, conflicts_with = "why_not")]
    pub(super) all_sites: bool,

    /// Follow this line instead, and tell where it stops
    #[arg(long, value_name = "FILE:LINE")]
    pub(super) why_not: Option<String>,

    /// Tell also how it was where HEAD parted from this revision, and which edit
    /// made the difference
    #[arg(long, value_name = "REV", conflicts_with_all = ["all_sites", "why_not", "rev"])]
    pub(super) since: Option<String>,

    /// Let `--since` compare with its revision itself
    #[arg(long, requires = "since")]
    pub(super) no_merge_base: bool,

    /// Show all that the value was, with the commits that changed it, as `layercake blame` does
    #[arg(long, conflicts_with_all = ["all_sites", "why_not", "since", "set"])]
    pub(super) history: bool,

    /// Read this revision instead of the working tree
    #[arg(long, value_name = "REV", help_heading = "Which documents")]
    pub(super) rev: Option<String>,

    #[command(flatten, next_help_heading = "Which documents")]
    pub(super) clones: CloneArgs,

    /// Take the files of the folder as one set without sites
    #[arg(long, conflicts_with = "repository", help_heading = "Which documents")]
    pub(super) set: bool,

    #[command(flatten)]
    pub(super) meaning: MeaningArgs,

    #[command(flatten)]
    pub(super) config: ConfigArgs,

    /// How to print it
    #[arg(short = 'o', long, value_name = "FORMAT", default_value = "text")]
    #[arg(help_heading = "Output")]
    pub(super) format: TextFormat,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Which documents")]
pub(super) struct RepositoryArgs {
    /// Read this revision instead of the working tree
    #[arg(long, value_name = "REV")]
    pub(super) rev: Option<String>,

    /// Only sites whose name matches this glob
    #[arg(long, value_name = "GLOB")]
    pub(super) site: Vec<String>,

    #[command(flatten)]
    pub(super) clones: CloneArgs,
}

#[derive(Debug, Args)]
pub(super) struct CloneArgs {
    /// A clone of a repository that site definitions name; they pin its revision, unless @REV or
    /// @worktree says another
    #[arg(long, value_name = "NAME=PATH[@REV]")]
    repository: Vec<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Which documents")]
pub(super) struct SelectionArgs {
    /// Files or folders to report on; the sites are rendered whole
    ///
    /// Outside a site repository, and with `--set`, the files to render
    /// together.
    #[arg(value_name = "FILE", help_heading = None)]
    pub(super) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) repository: RepositoryArgs,

    /// Take the files as one set without sites, in a site repository too
    #[arg(long, conflicts_with_all = ["site", "repository"])]
    pub(super) set: bool,

    #[command(flatten)]
    pub(super) meaning: MeaningArgs,

    #[command(flatten)]
    pub(super) config: ConfigArgs,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Configuration")]
pub(super) struct ConfigArgs {
    /// Read this configuration, and none at the root of the repository
    ///
    /// The variable `LAYERCAKE_CONFIG` can name it too.
    #[arg(long, value_name = "FILE", conflicts_with = "isolated")]
    pub(super) config: Option<PathBuf>,

    /// Read no configuration at all
    #[arg(long)]
    pub(super) isolated: bool,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Which rules")]
pub(super) struct RuleArgs {
    /// Only these rules: names, codes of Pegleg's such as `P005`, or the groups
    /// `default`, `strict`, `pegleg`, `deckhand` and `all`
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(super) select: Vec<String>,

    /// These rules too
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(super) extend_select: Vec<String>,

    /// Not these rules
    #[arg(short = 'x', long, value_name = "RULE", value_delimiter = ',')]
    pub(super) ignore: Vec<String>,

    /// Make findings of these rules warnings
    #[arg(short = 'w', long, value_name = "RULE", value_delimiter = ',')]
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
    /// Compare where HEAD parted from this revision with the working tree
    #[arg(long, value_name = "REV", conflicts_with_all = ["staged", "from", "auto"])]
    pub(super) since: Option<String>,

    /// Compare HEAD with the index: what the next commit will change
    #[arg(long, conflicts_with_all = ["from", "auto"])]
    pub(super) staged: bool,

    /// Compare this revision itself with what `--to` names
    #[arg(long, value_name = "REV", conflicts_with = "auto")]
    pub(super) from: Option<String>,

    /// A revision, `worktree` or `index`; the working tree if not given
    #[arg(long, value_name = "REV|worktree|index", requires = "from")]
    pub(super) to: Option<String>,

    /// Let `--since` compare with its revision itself
    #[arg(long, requires = "since")]
    pub(super) no_merge_base: bool,

    /// Find out what to compare: from a hook, a CI job, or the default branch
    ///
    /// Heeds pre-commit, GitHub Actions, GitLab, Azure Pipelines, Bitbucket and
    /// Gerrit, in this order; elsewhere, compares where HEAD parted from the
    /// default branch with the working tree.
    #[arg(long)]
    pub(super) auto: bool,

    /// Compare with what is there if this revision of a further repository were pinned
    ///
    /// Compares the working tree with itself, where the definitions of the sites (those of
    /// `--site`) pin REV as the revision of the repository NAME. No file is edited. With two
    /// revisions, `A..B`, the first is pinned on the earlier side.
    #[arg(long, value_name = "NAME=REV", value_parser = Bump::parsed)]
    #[arg(conflicts_with_all = ["since", "staged", "from", "auto"])]
    pub(super) bump: Vec<Bump>,
}

impl ComparisonArgs {
    pub(super) fn wanted(self) -> SideSelection {
        let merge_base = if self.no_merge_base { MergeBase::Skip } else { MergeBase::Use };
        let ComparisonArgs { since, staged, from, to, auto, bump: bumps, .. } = self;
        SideSelection { since, staged, from, to, merge_base, auto, bumps }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Meaning")]
pub(super) struct MeaningArgs {
    /// What to render where Deckhand's documentation and its code differ
    ///
    /// [default: documented]
    #[arg(long, value_name = "MEANING")]
    pub(super) semantics: Option<SemanticsArg>,

    /// What a substitution without its source is
    ///
    /// [default: error]
    #[arg(long, value_name = "LEVEL")]
    pub(super) missing_substitution_source: Option<MissingSourceArg>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum SemanticsArg {
    /// What the documentation promises
    Documented,
    /// What the code does
    Deckhand,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum MissingSourceArg {
    /// As Deckhand's service and `pegleg site lint` have it
    Error,
    /// As `pegleg site render` has it
    Warning,
}

impl CloneArgs {
    pub(super) fn selection(self, directory: PathBuf) -> Selection {
        let more_repositories = repositories_of_environment();
        let selection = Selection::of(directory);
        Selection { repositories: self.repository, more_repositories, ..selection }
    }
}

impl RepositoryArgs {
    pub(super) fn selection(self, directory: PathBuf) -> Selection {
        let (revision, sites) = (self.rev, self.site);
        Selection { revision, sites, ..self.clones.selection(directory) }
    }
}

impl SelectionArgs {
    pub(super) fn selection(self, directory: PathBuf) -> Selection {
        Selection {
            files: self.files,
            set: self.set,
            meaning: self.meaning.meaning(),
            configuration: self.config.place(),
            ..self.repository.selection(directory)
        }
    }
}

impl CloudConfigArgs {
    /// The parts that are named; without what standard input has.
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
        Selection { revision, sites, configuration, ..Selection::of(directory) }
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
    /// Where the configuration is taken from: the flags, then the environment.
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
        let RuleArgs { select, extend_select, ignore, warn } = self;
        Selectors { select, extend_select, ignore, warn }
    }
}

impl FailOn {
    /// Whether findings so counted fail the run.
    pub(super) fn is_reached(self, counts: Counts) -> bool {
        let Counts { errors, warnings, notes } = counts;
        match self {
            FailOn::Error => errors > 0,
            FailOn::Warning => errors + warnings > 0,
            FailOn::Note => errors + warnings + notes > 0,
            FailOn::Never => false,
        }
    }
}
