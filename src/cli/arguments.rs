//! The flags and arguments of every verb, what their help says, and what is
//! asked by them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use layercake::commands::Selection;
use layercake::commands::cloud_config::Parts;
use layercake::commands::configuration::{Meaning, Place};
use layercake::commands::policy::Selectors;
use layercake::commands::repositories::Bump;
use layercake::commands::sides::{MergeBase, Wanted};
use layercake::graph::MissingSource;
use layercake::merge::cloud_init::Dialect;
use layercake::merge::deckhand::Semantics;
use layercake::report::{Format, Links};
use layercake::triage::Counts;

use super::comparison::{DiffArgs, LookArgs, ReachArgs};
use super::hygiene::{BaselineArgs, BaselineVerb, MendArgs};
use super::named_configuration;
use super::saved::ReportArgs;

const EXAMPLES: &str = "\
Examples:
  layercake demo                    an example to try it on, made for you
  layercake lint                    all sites of the repository around you
  layercake lint --since main       what your branch changed, and what it broke
  layercake render --name keystone  what becomes of one document, in each site
  layercake explain missing-parent  what a finding means, and what to do

Exit codes: 0 no errors found, 1 errors found, 2 layercake could not do its work.

Next: `layercake demo`, then `layercake lint` in your own repository; `layercake VERB --help` has \
examples of each verb.";

const LINT_EXAMPLES: &str = "\
Examples:
  layercake lint                       everything, with the lines that matter
  layercake lint -o concise            one line for each finding
  layercake lint -o json | jq .        for programs
  layercake lint -o full -o json=report.json
  layercake lint --since main          what changed since main, what it broke
  layercake lint --staged              the same for the next commit
  layercake lint --auto                the same as the hook or the CI job says
  layercake lint --select pegleg       only what Pegleg's linter looks for
  layercake lint --fail-on warning     warnings fail the run too
  layercake lint site/lab type/small   only what is wrong in these folders
  layercake lint --diff                what --fix would change
  layercake lint --add-ignore='old sites, until they are gone'
  layercake lint --set a.yaml b.yaml   two files by themselves, without any site

Exit codes: 0 no errors found, with a comparison no new ones, 1 errors found, or a gate failed, \
2 layercake could not do its work.

Next: `layercake explain RULE` tells what a finding means and what to do. Too many at first? \
`layercake baseline write` accepts those that there are.";

const DIFF_EXAMPLES: &str = "\
Examples:
  layercake diff main                what is different from main itself
  layercake diff --since main        what this branch and its edits changed
  layercake diff v1.8 v1.9           between two revisions
  layercake diff --staged --stat     the next commit in figures, by site
  layercake diff main --expect-unchanged    prove that a refactoring is one

Exit codes: 0 compared, 1 a gate failed, or with `--exit-code` something changed, \
2 layercake could not do its work.

Next: `layercake explain-value SITE SCHEMA NAME PATH --since REV` tells why one value changed.";

const RENDER_EXAMPLES: &str = "\
Examples:
  layercake render --site lab --schema 'armada/Chart/*'
  layercake render --site lab --name keystone --with-origin
  layercake render --format json | jq '.sites[].documents[].name'
  diff <(layercake render --rev HEAD~1) <(layercake render)

Exit codes: 0 all that was asked for is rendered, 1 part of it is not, or `--fail-on` found
something, 2 layercake could not do its work.

Next: `layercake explain-value SITE SCHEMA NAME PATH` tells why a value is what it is.";

const CLOUD_CONFIG_EXAMPLES: &str = "\
Examples:
  layercake cloud-config base.yaml site.yaml    the second laid over the first
  layercake cloud-config a.yaml b.yaml --merge-type '2=list(append)+dict()'
  layercake cloud-config --user-data user-data.mime --vendor-data vendor.yaml
  layercake cloud-config --base cloud.cfg --conf-d cloud.cfg.d
  ./make-user-data | layercake cloud-config -   a part that a program prints
  layercake cloud-config --site lab --set genesis --with-origin

Exit codes: 0 no errors found, 1 errors found, such as a part that cloud-init drops, \
2 layercake could not do its work.

Next: declare the sets under `cloud-config` in `layercake.yaml`; `lint` and `diff` then know them too.";

const SITES_NOTE: &str = "\
Examples:
  layercake sites                    the sites around you
  layercake sites --rev v1.8         those of a revision
  layercake sites --format json | jq -r '.sites[].site'

Exit codes: 0 all sites are listed, 1 one is not, for its definition is missing or broken, \
2 layercake could not do its work.

Next: `layercake lint --site NAME` checks one, `layercake graph --site NAME` shows its documents.";

const EXPLAIN_VALUE_USAGE: &str = "layercake explain-value [OPTIONS] <SITE> [SCHEMA] <NAME> <PATH>
       layercake explain-value [OPTIONS] --all-sites [SCHEMA] <NAME> <PATH>";

const REPORT_EXAMPLES: &str = "\
Examples:
  layercake lint --since main -o full -o json=report.json
  layercake report report.json                     as it was told
  layercake report report.json -o html=report.html -o sarif=report.sarif
  layercake report report.json -o concise --all-findings

Exit codes: 0 it is written, 2 layercake could not do its work.

Next: `layercake lint --help` tells of each format.";

const EXPLAIN_VALUE_EXAMPLES: &str = "\
Examples:
  layercake explain-value lab armada/Chart/v1 keystone .values.pod.replicas
  layercake explain-value lab keystone /values/pod/replicas
  layercake explain-value - armada/Chart/v1 keystone .release    without sites
  layercake explain-value --all-sites armada/Chart/v1 keystone .release
  layercake explain-value lab armada/Chart/v1 keystone .release \\
      --why-not global/charts/keystone.yaml:49
  layercake explain-value lab armada/Chart/v1 keystone .release --since main

Exit codes: 0 the value is explained, 2 there is none, or layercake could not do its work.

Next: `layercake impact FILE:LINE` tells what else the line that wrote it reaches.";

const IMPACT_EXAMPLES: &str = "\
Examples:
  layercake impact global/config/software-versions.yaml:22   one line
  layercake impact global/config/software-versions.yaml      the whole file
  layercake impact --rev HEAD~1 site/lab/secrets.yaml -o json

Exit codes: 0 it is told, 2 no document is there, or layercake could not do its work.

Next: edit the line, and `layercake diff HEAD` tells what became of it.";

const GRAPH_EXAMPLES: &str = "\
Examples:
  layercake graph --site lab
  layercake graph --site lab --format dot | dot -Tsvg > lab.svg
  layercake graph global/versions.yaml    what it is made of, and what of it
  layercake graph --format mermaid

Exit codes: 0 it is printed, 2 layercake could not do its work.

Next: `layercake render --site NAME` prints what the documents become.";

const RULES_EXAMPLES: &str = "\
Examples:
  layercake rules                    all of them, with their levels here
  layercake rules --select pegleg    what takes the place of Pegleg's codes
  layercake rules --format json | jq '.rules[] | select(.fixable)'

Exit codes: 0 they are listed, 2 layercake could not do its work.

Next: `layercake explain RULE` prints the page of a rule; `rules` in `layercake.yaml` sets levels.";

const CONFIG_EXAMPLES: &str = "\
Examples:
  layercake config show          what counts here, and which line says so
  layercake config check         whether the file can be used
  layercake config schema        for editors that complete and check YAML

Exit codes: 0 done, 2 the configuration cannot be used, or layercake could not do its work.

Next: `layercake init` writes a commented `layercake.yaml` where there is none.";

const INIT_NOTE: &str = "\
Examples:
  layercake init              at the root of the repository around you
  layercake -C ../site init   of another one

Exit codes: 0 written, 2 a configuration is there already, or layercake could not do its work.

Next: `pre-commit install` lets git run the hook; `layercake config show` tells what counts.";

const BASELINE_EXAMPLES: &str = "\
Examples:
  layercake baseline write    accept all that lint reports now
  layercake baseline prune    take out what is mended since
  layercake baseline show     what is accepted

Exit codes: 0 it is done, 2 layercake could not do its work.

Next: commit the file; `layercake lint` then reports what else it finds.";

const DEMO_NOTE: &str = "\
Examples:
  layercake demo           in a new temporary folder
  layercake demo here      in the new folder `here`
  layercake demo --repositories      sites that are made of two repositories

Exit codes: 0 it was made and compared, 2 layercake could not do its work.

Next: the commands that it prints, in the folder that it makes.";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  layercake explain missing-parent    the page of a rule: what, why, bad, good
  layercake explain P005              the rules behind one of Pegleg's codes
  layercake explain strict            the rules of a group
  layercake explain                   all rules

Exit codes: 0 it is printed, 2 there is no such rule, or layercake could not do its work.

Next: `layercake lint --select RULE` reports only what this rule finds.";

const CONFIG_SHOW_EXAMPLES: &str = "\
Examples:
  layercake config show                    what counts, and which line says so
  layercake config show --select strict    what it would be with this flag
  layercake config show --format json

Exit codes: 0 it is printed, 2 the configuration cannot be used, or layercake could not do its work.

Next: `layercake rules` lists the rules with their levels here.";

const CONFIG_PATH_EXAMPLES: &str = "\
Examples:
  layercake config path    the file that counts here, if there is one

Exit codes: 0 it is printed, 2 the configuration cannot be used, or layercake could not do its work.

Next: `layercake config show` tells what the file says.";

const CONFIG_CHECK_EXAMPLES: &str = "\
Examples:
  layercake config check                     all that is wrong, each at its line
  layercake config check --config new.yaml   of a file that does not count yet

Exit codes: 0 it can be used, or there is none, 2 the configuration cannot be used, \
or layercake could not do its work.

Next: `layercake config show` tells what counts.";

const CONFIG_SCHEMA_EXAMPLES: &str = "\
Examples:
  layercake config schema > layercake.schema.json    for an editor

Exit codes: 0 it is printed, 2 layercake could not do its work.

Next: `# yaml-language-server: $schema=FILE` on top of `layercake.yaml` lets an editor use it.";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  source <(layercake completions bash)               in ~/.bashrc
  layercake completions zsh > ~/.zfunc/_layercake    where $fpath has ~/.zfunc
  layercake completions fish > ~/.config/fish/completions/layercake.fish
  layercake completions powershell >> $PROFILE
  layercake completions elvish >> ~/.config/elvish/rc.elv

Exit codes: 0 it is printed, 2 layercake could not do its work.

Next: open a new shell, and type `layercake l` and the tab key.";

const MAN_EXAMPLES: &str = "\
Examples:
  layercake man | man -l -                   the page of the program
  layercake man lint | man -l -              the page of a verb
  layercake man baseline write | man -l -
  layercake man --dir ~/.local/share/man/man1    all pages

Exit codes: 0 printed, or written, 2 layercake could not do its work.

Next: `man layercake-lint`, where the folder is one that `man` looks at.";

/// A linter for Airship Deckhand site repositories.
///
/// layercake renders every document of every site as Deckhand would, and shows
/// every problem at the line that wrote it. It finds the repository around the
/// current folder by itself and reads it; it writes nothing but what it is
/// told to: reports, fixes, comments, a baseline, a configuration, and the
/// example that `demo` makes.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = EXAMPLES, disable_help_subcommand = true)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,

    #[command(subcommand)]
    pub(super) verb: Verb,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Global {
    /// Work in this folder instead of the current one
    #[arg(short = 'C', value_name = "DIR", global = true)]
    #[arg(default_value = ".", hide_default_value = true)]
    pub(super) directory: PathBuf,

    /// When to use colour
    ///
    /// `auto` uses it on a terminal, and heeds `NO_COLOR`.
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto")]
    pub(super) color: When,

    /// Show no progress, which long runs show on a terminal
    #[arg(long, global = true)]
    pub(super) no_progress: bool,

    /// Tell on standard error where the time of the run went
    #[arg(long, global = true)]
    pub(super) timing: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum When {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Report everything that is wrong
    ///
    /// Renders all sites, and reports what is wrong with their documents at the
    /// lines that wrote it. With a comparison, such as `--since main`, tells which
    /// rendered documents changed and because of which edits, and reports what is
    /// wrong since.
    #[command(after_help = LINT_EXAMPLES)]
    Lint {
        // what is asked for most stands first in the help
        #[command(flatten)]
        comparison: ComparisonArgs,

        #[command(flatten)]
        reach: ReachArgs,

        #[command(flatten)]
        rules: RuleArgs,

        /// Take configuration and baseline from the earlier side of the comparison
        ///
        /// A change then cannot weaken the gate that it has to pass.
        #[arg(long, conflicts_with_all = ["config", "isolated"])]
        #[arg(help_heading = "Configuration")]
        config_from_base: bool,

        /// Exit with 1 where there are findings of this level or above
        #[arg(long, value_name = "LEVEL", default_value = "error", help_heading = "Output")]
        fail_on: FailOn,

        /// Exit with 0 whatever is found, as `--fail-on never`
        #[arg(long, conflicts_with = "fail_on", help_heading = "Output")]
        exit_zero: bool,

        #[command(flatten)]
        baseline: BaselineArgs,

        #[command(flatten)]
        mend: MendArgs,

        /// List each finding, also those that follow from one absent document, and with a
        /// comparison those of both sides
        #[arg(long, help_heading = "Output")]
        all_findings: bool,

        /// Show also what comments or the baseline suppress
        #[arg(long, help_heading = "Output")]
        show_ignored: bool,

        /// Print how many findings there are of each rule, instead of the findings
        #[arg(long, help_heading = "Output")]
        statistics: bool,

        #[command(flatten)]
        look: LookArgs,

        #[command(flatten)]
        outputs: OutputArgs,

        #[command(flatten)]
        selection: SelectionArgs,
    },

    /// Report which rendered documents changed, and which edits changed them
    ///
    /// Renders all sites on two sides, and tells for each edit what it reached,
    /// by which way, and what stopped it elsewhere.
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(DiffArgs),

    /// Print rendered documents
    ///
    /// Prints the concrete documents of all sites as they are rendered, sorted
    /// by site, schema and name. What can be rendered is printed although other
    /// documents have problems; standard error says what is not, and why the run
    /// fails then. Rules are not run, unless `--fail-on` asks for them.
    #[command(after_help = RENDER_EXAMPLES)]
    Render {
        #[command(flatten)]
        selection: SelectionArgs,

        /// Only documents whose schema matches this glob, e.g. `armada/Chart/*`
        #[arg(long, value_name = "GLOB", help_heading = "Which documents")]
        schema: Vec<String>,

        /// Only documents whose name matches this glob
        #[arg(long, value_name = "GLOB", help_heading = "Which documents")]
        name: Vec<String>,

        /// How to print them
        #[arg(short = 'o', long, value_name = "FORMAT", default_value = "yaml")]
        #[arg(help_heading = "Output")]
        format: RenderFormat,

        /// Add `# FILE:LINE` to each value: where it was written
        #[arg(long, help_heading = "Output")]
        with_origin: bool,

        /// Print secrets instead of `(hidden)`
        #[arg(long, help_heading = "Output")]
        show_secrets: bool,

        /// Run the rules too, and exit with 1 where there are findings of this level or above
        ///
        /// With `never`, exit with 0 even where not all is rendered.
        #[arg(long, value_name = "LEVEL", help_heading = "Output")]
        fail_on: Option<FailOn>,
    },

    /// Merge parts of cloud-config as cloud-init does, and print the result
    ///
    /// Merges the parts that are named, wherever they lie; without any, the sets
    /// of parts that `layercake.yaml` declares, for each site. Where a part is
    /// dropped, the rest is printed and standard error says why.
    #[command(name = "cloud-config", after_help = CLOUD_CONFIG_EXAMPLES)]
    CloudConfig(CloudConfigArgs),

    /// List the sites and what they are made of
    ///
    /// For each site its type, and how many files, documents and rendered
    /// documents it has.
    #[command(after_help = SITES_NOTE)]
    Sites {
        #[command(flatten)]
        repository: RepositoryArgs,

        #[command(flatten)]
        config: ConfigArgs,

        /// How to print them
        #[arg(short = 'o', long, value_name = "FORMAT", default_value = "table")]
        #[arg(help_heading = "Output")]
        format: SitesFormat,
    },

    /// Turn a saved report into other formats
    ///
    /// Reads what `--output json` of `lint` or `diff` wrote, and tells it in any
    /// other format as that run would have done. Neither a repository nor git is
    /// needed, so that a job which may write comments need not touch the code that
    /// another job checked.
    #[command(after_help = REPORT_EXAMPLES)]
    Report(ReportArgs),

    /// Tell where a value comes from, and where it could be changed
    ///
    /// Follows a rendered value back to the text that wrote it, with what lost
    /// against it on the way.
    #[command(name = "explain-value", override_usage = EXPLAIN_VALUE_USAGE)]
    #[command(after_help = EXPLAIN_VALUE_EXAMPLES)]
    ExplainValue(ExplainValueArgs),

    /// Tell what could change if a file or a line did
    ///
    /// Follows the values on a line to every output that they reach, in all
    /// sites, and to the lines that stop them.
    #[command(after_help = IMPACT_EXAMPLES)]
    Impact {
        /// A file or folder, or one line of a file
        #[arg(value_name = "FILE[:LINE]")]
        place: String,

        #[command(flatten)]
        repository: RepositoryArgs,

        #[command(flatten)]
        meaning: MeaningArgs,

        #[command(flatten)]
        config: ConfigArgs,

        /// How to print it
        #[arg(short = 'o', long, value_name = "FORMAT", default_value = "text")]
        #[arg(help_heading = "Output")]
        format: TextFormat,
    },

    /// Print which document is made of which
    ///
    /// The documents of each site, with their parents, what they replace, and
    /// what they substitute.
    #[command(after_help = GRAPH_EXAMPLES)]
    Graph {
        #[command(flatten)]
        selection: SelectionArgs,

        /// How to print it
        #[arg(short = 'o', long, value_name = "FORMAT", default_value = "text")]
        #[arg(help_heading = "Output")]
        format: GraphFormat,
    },

    /// Make a small repository with an edit in it, and tell what that reaches
    ///
    /// Writes an example of a site repository to a new temporary folder, with
    /// one commit and one line edited since, and prints what `layercake lint
    /// --since HEAD` says there. Needs nothing, and leaves all other folders as
    /// they are.
    #[command(after_help = DEMO_NOTE)]
    Demo {
        /// Write to this folder, which is to be empty or not there yet
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,

        /// Make two repositories, of which one pins a revision of the other, and tell what the
        /// next revision changes
        #[arg(long)]
        repositories: bool,
    },

    /// Accept the findings that there are, and report only others
    ///
    /// Writes them to `.layercake-baseline.json` at the root of the repository,
    /// one on a line, to be committed; `lint` does not report them then. Lines
    /// may move.
    #[command(subcommand, after_help = BASELINE_EXAMPLES)]
    Baseline(BaselineVerb),

    /// Print the page of a rule, or the list of all rules
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain {
        /// The rule's name, e.g. `missing-parent`; a code of Pegleg's or a group
        /// lists its rules; without one, all are listed
        rule: Option<String>,
    },

    /// List the rules, with their levels as they are configured here
    #[command(after_help = RULES_EXAMPLES)]
    Rules {
        #[command(flatten)]
        rules: RuleArgs,

        #[command(flatten)]
        config: ConfigArgs,

        /// How to print them
        #[arg(short = 'o', long, value_name = "FORMAT", default_value = "text")]
        #[arg(help_heading = "Output")]
        format: TextFormat,
    },

    /// Show, check or describe the configuration
    #[command(subcommand, after_help = CONFIG_EXAMPLES)]
    Config(ConfigVerb),

    /// Write a commented configuration, and the hook's entry for pre-commit
    ///
    /// Writes `layercake.yaml` to the root of the repository around the current
    /// folder, and `.pre-commit-config.yaml` beside it. What is there already is
    /// left as it is.
    #[command(after_help = INIT_NOTE)]
    Init,

    /// Print what lets a shell complete verbs and flags
    ///
    /// Prints a script in the language of the shell, to be kept where the shell
    /// looks for such scripts.
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        shell: Shell,
    },

    /// Print the manual page of a verb, or write all of them
    ///
    /// A page says what `--help` says, in the form that `man` reads.
    #[command(after_help = MAN_EXAMPLES)]
    Man {
        /// The verb, e.g. `lint` or `baseline write`; the program if not given
        verb: Vec<String>,

        /// Write all pages to this folder, which is made if it is not there
        #[arg(long, value_name = "DIR", conflicts_with = "verb", help_heading = "Output")]
        dir: Option<PathBuf>,
    },

    /// For work on layercake itself
    #[command(hide = true, subcommand)]
    Debug(Debug),
}

#[derive(Debug, Subcommand)]
pub(super) enum ConfigVerb {
    /// Print every setting, its value, and where that comes from
    #[command(after_help = CONFIG_SHOW_EXAMPLES)]
    Show {
        #[command(flatten)]
        meaning: MeaningArgs,

        #[command(flatten)]
        rules: RuleArgs,

        #[command(flatten)]
        config: ConfigArgs,

        /// How to print them
        #[arg(short = 'o', long, value_name = "FORMAT", default_value = "text")]
        #[arg(help_heading = "Output")]
        format: TextFormat,
    },

    /// Print the path of the configuration file
    #[command(after_help = CONFIG_PATH_EXAMPLES)]
    Path {
        #[command(flatten)]
        config: ConfigArgs,
    },

    /// Say what is wrong with the configuration file
    #[command(after_help = CONFIG_CHECK_EXAMPLES)]
    Check {
        #[command(flatten)]
        config: ConfigArgs,
    },

    /// Print the JSON Schema of the configuration file
    #[command(after_help = CONFIG_SCHEMA_EXAMPLES)]
    Schema,
}

#[derive(Debug, Subcommand)]
pub(super) enum Debug {
    /// Read and parse what `lint` would, and nothing else
    Parse {
        #[command(flatten)]
        selection: SelectionArgs,
    },

    /// Say what would be compared, and list the files of the later side
    Side {
        #[command(flatten)]
        comparison: ComparisonArgs,
    },

    /// Run a command line while layercake itself fails at some places
    Fail {
        /// What fails: `document:NAME`, `rule:NAME`, and what else `guard.rs` lists
        #[arg(long = "at", value_name = "PLACE", required = true)]
        places: Vec<String>,

        /// The command line, without the name of the program
        #[arg(value_name = "ARGUMENT", last = true, required = true)]
        arguments: Vec<OsString>,
    },
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
    pub(super) output: Vec<Output>,

    /// Link lines to this address, with `{sha}`, `{path}` and `{line}`
    ///
    /// Such as `https://git.example.org/sites/blob/{sha}/{path}#L{line}`.
    #[arg(long, value_name = "URL", value_parser = Links::new, help_heading = "Output")]
    pub(super) links: Option<Links>,
}

/// One report of a run, and where it goes.
#[derive(Clone, Debug)]
pub(super) struct Output {
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

impl FromStr for Output {
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
    pub(super) fn wanted(self) -> Wanted {
        let merge_base = if self.no_merge_base { MergeBase::Skip } else { MergeBase::Use };
        let ComparisonArgs { since, staged, from, to, auto, bump: bumps, .. } = self;
        Wanted { since, staged, from, to, merge_base, auto, bumps }
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
        let more_repositories = super::repositories_of_environment();
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
    pub(super) fn meaning(&self) -> Meaning {
        Meaning {
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
    pub(super) fn place(&self) -> Place {
        match (&self.config, self.isolated) {
            (_, true) => Place::Nowhere,
            (Some(file), false) => Place::File(file.clone()),
            (None, false) => named_configuration().map_or(Place::Root, Place::File),
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
