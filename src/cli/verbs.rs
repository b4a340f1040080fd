//! The verbs with the help of each, and the flags that count for all of them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use super::arguments::{
    CloudConfigArgs, ComparisonArgs, ConfigArgs, ExplainValueArgs, FailOn, GraphFormat,
    MeaningArgs, OutputArgs, RenderFormat, RepositoryArgs, RuleArgs, SelectionArgs, SitesFormat,
    TextFormat, When,
};
use super::comparison::{DiffArgs, LookArgs, ReachArgs};
use super::history::{BlameArgs, LogArgs};
use super::hygiene::{BaselineArgs, BaselineVerb, MendArgs};
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

const BLAME_USAGE: &str = "layercake blame [OPTIONS] <SITE> [SCHEMA] [NAME] [PATH]";

const BLAME_EXAMPLES: &str = "\
Examples:
  layercake blame lab armada/Chart/v1 keystone    each value with its commit
  layercake blame lab keystone .values.images     all that one value was
  layercake blame lab                             the last commit of each output
  layercake blame lab keystone --since v1.8
  layercake blame lab keystone .release -o json | jq '.value.history[0]'

Exit codes: 0 the commits are printed, 2 there is no such value, or layercake could not do its work.

Next: `layercake diff COMMIT^ COMMIT` shows all that one of them changed.";

const LOG_EXAMPLES: &str = "\
Examples:
  layercake log --effective --limit 10   the last commits that changed outputs
  layercake log --site lab --since v1.8
  layercake log --name keystone          what each commit did to this document
  layercake log --first-parent -o markdown

Exit codes: 0 the commits are listed, 2 layercake could not do its work.

Next: `layercake diff COMMIT^ COMMIT` shows what one of them changed, and why.";

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

    /// Show which commit made each value of a rendered document what it is
    ///
    /// Renders the site in each commit that touched one of its files, and finds for each value the
    /// commit since which the output has it, be that a commit to the output's own file or an edit
    /// elsewhere that reached it. With PATH, all that the value ever was.
    #[command(override_usage = BLAME_USAGE, after_help = BLAME_EXAMPLES)]
    Blame(BlameArgs),

    /// List the commits that changed rendered documents, with their reach
    ///
    /// Renders the sites in each commit that touched one of their files, and counts the outputs
    /// that are others than before. For a merge those count in which a value is another than in each of
    /// its parents; with `--first-parent` all that it brought.
    #[command(after_help = LOG_EXAMPLES)]
    Log(LogArgs),

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
