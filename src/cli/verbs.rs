//! The verbs with their help, and the global flags.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use super::arguments::{
    CloudConfigArgs, ComparisonArgs, ConfigArgs, ExplainValueArgs, FilesArgs, MeaningArgs,
    ReadingArgs, RuleArgs, SelectionArgs, TextFormat, When,
};
use super::candidates;
use super::comparison::{DiffArgs, LintArgs};
use super::demo::DemoArgs;
use super::history::{BlameArgs, LogArgs};
use super::hygiene::BaselineVerb;
use super::queries::{GraphArgs, ImpactArgs, RenderArgs, SitesArgs};
use super::query::QueryArgs;
use super::saved::ReportArgs;

const EXAMPLES: &str = "\
Examples:
  layercake demo                    a small example to try it on
  layercake lint                    all sites of this repository
  layercake lint --since main       what your branch changed and broke
  layercake render --name keystone  one rendered document, in each site
  layercake explain missing-parent  what a finding means, how to fix it

Exit codes: 0 no errors found, 1 errors found, 2 usage or internal error.

Next: run `layercake demo`, then `layercake lint` in your own repository; `layercake VERB --help` shows \
examples of each verb.";

const LINT_EXAMPLES: &str = "\
Examples:
  layercake lint                       everything, with source lines
  layercake lint -o concise            one line for each finding
  layercake lint -o json | jq .        for programs
  layercake lint -o full -o json=report.json
  layercake lint --since main          changes since main and new findings
  layercake lint --staged              the same for the index
  layercake lint --auto                the same, detected from hook or CI
  layercake lint --select pegleg       only the checks of Pegleg's linter
  layercake lint --fail-on warning     fail on warnings too
  layercake lint site/lab type/small   only findings in these folders
  layercake lint --diff                changes that --fix would make
  layercake lint --watch               again after each change of files
  layercake lint --add-ignore='old sites, until they are gone'
  layercake lint --set a.yaml b.yaml   two files without a site

Exit codes: 0 no errors found (with a comparison: no new ones), 1 errors found or a gate failed, \
2 usage or internal error.

Next: run `layercake explain RULE` to see what a finding means and how to fix it. Too many at first? \
`layercake baseline write` accepts the existing findings.";

const DIFF_EXAMPLES: &str = "\
Examples:
  layercake diff                     uncommitted changes
  layercake diff main                differences from main itself
  layercake diff --since main        changes of this branch and its edits
  layercake diff v1.8 v1.9           between two revisions
  layercake diff main...topic        what topic changed since it left main
  layercake diff main -- site/lab    only edits in this folder
  layercake diff --staged --stat     statistics of the index, by site
  layercake diff main --expect-unchanged    check a refactoring

Exit codes: 0 compared, 1 a gate failed, or outputs changed with `--exit-code`, \
2 usage or internal error.

Next: run `layercake explain-value SITE SCHEMA NAME PATH --since REV` to see why a value changed.";

const RENDER_EXAMPLES: &str = "\
Examples:
  layercake render --site lab --schema 'armada/Chart/*'
  layercake render lab keystone --with-origin
  layercake render lab keystone .values.pod    only this value
  layercake render --format json | jq '.sites[].documents[].name'
  diff <(layercake render --rev HEAD~1) <(layercake render)

Exit codes: 0 all requested documents are rendered, 1 some are not, or `--fail-on` found
something, 2 usage or internal error.

Next: run `layercake explain-value SITE SCHEMA NAME PATH` to trace a value to its source.";

const QUERY_EXAMPLES: &str = "\
Examples:
  layercake query images                      each image, its users and sites
  layercake query images --value '*/heat:*'   who uses which tag of it
  layercake query images --since main         images that your branch changes
  layercake query releases --site lab -o csv
  layercake query certificates
  layercake query '$.values.pod.replicas.*' --schema 'armada/Chart/*'
  layercake query '$..[?@.port == 8080]' --name keystone

Exit codes: 0 values found, or compared, 1 no value found, or a document is not rendered, \
2 usage or internal error.

Next: run `layercake explain-value SITE SCHEMA NAME PATH` to see every step of a value.";

const CLOUD_CONFIG_EXAMPLES: &str = "\
Examples:
  layercake cloud-config base.yaml site.yaml    merge the second into the first
  layercake cloud-config a.yaml b.yaml --merge-type '2=list(append)+dict()'
  layercake cloud-config --user-data user-data.mime --vendor-data vendor.yaml
  layercake cloud-config --base cloud.cfg --conf-d cloud.cfg.d
  ./make-user-data | layercake cloud-config -   a part from a program's output
  layercake cloud-config --site lab --set genesis --with-origin
  layercake cloud-config user-data -o sarif --fail-on warning    a gate

Exit codes: 0 no errors found, 1 errors found, such as a part that cloud-init drops, \
2 usage or internal error.

Next: declare the sets under `cloud-config` in `layercake.yaml`; `lint` and `diff` then include them.";

const SITES_NOTE: &str = "\
Examples:
  layercake sites                    the sites of this repository
  layercake sites --rev v1.8         the sites of a revision
  layercake sites --format json | jq -r '.sites[].site'

Exit codes: 0 all sites are listed, 1 the definition of a site is missing or broken, \
2 usage or internal error.

Next: check a site with `layercake lint --site NAME`, or list its documents with `layercake graph`.";

const DIFF_USAGE: &str = "layercake diff [OPTIONS] [A [B]] [-- PATH...]
       layercake diff [OPTIONS] A..B [-- PATH...]";

const RENDER_USAGE: &str = "layercake render [OPTIONS] [SITE] [SCHEMA] [NAME] [PATH]
       layercake render [OPTIONS] FILE...";

const GRAPH_USAGE: &str = "layercake graph [OPTIONS] [SITE] [SCHEMA] [NAME]
       layercake graph [OPTIONS] FILE...";

const LOG_USAGE: &str = "layercake log [OPTIONS] [SITE] [SCHEMA] [NAME]
       layercake log [OPTIONS] A..B";

const IMPACT_USAGE: &str = "layercake impact [OPTIONS] FILE[:LINE]
       layercake impact [OPTIONS] SITE [SCHEMA] NAME [PATH]";

const EXPLAIN_VALUE_USAGE: &str = "layercake explain-value [OPTIONS] <SITE> [SCHEMA] <NAME> <PATH>
       layercake explain-value [OPTIONS] --all-sites [SCHEMA] <NAME> <PATH>";

const REPORT_EXAMPLES: &str = "\
Examples:
  layercake lint --since main -o full -o json=report.json
  layercake report report.json                     as it was printed
  layercake report report.json -o html=report.html -o sarif=report.sarif
  layercake report report.json -o concise --all-findings

Exit codes: 0 the report is written, 2 usage or internal error.

Next: see `layercake lint --help` for the formats.";

const EXPLAIN_VALUE_EXAMPLES: &str = "\
Examples:
  layercake explain-value lab armada/Chart/v1 keystone .values.pod.replicas
  layercake explain-value lab keystone /values/pod/replicas
  layercake explain-value - armada/Chart/v1 keystone .release    without sites
  layercake explain-value --all-sites armada/Chart/v1 keystone .release
  layercake explain-value lab armada/Chart/v1 keystone .release \\
      --why-not global/charts/keystone.yaml:49
  layercake explain-value lab armada/Chart/v1 keystone .release --since main

Exit codes: 0 the value is explained, 2 no such value, usage or internal error.

Next: run `layercake impact FILE:LINE` to see what else the line reaches.";

const BLAME_USAGE: &str = "layercake blame [OPTIONS] <SITE> [SCHEMA] [NAME] [PATH]";

const BLAME_EXAMPLES: &str = "\
Examples:
  layercake blame lab armada/Chart/v1 keystone    each value with its commit
  layercake blame lab keystone .values.images     the history of one value
  layercake blame lab                             the last commit of each output
  layercake blame lab keystone --since v1.8
  layercake blame lab keystone .release -o json | jq '.value.history[0]'

Exit codes: 0 the commits are printed, 2 no such value, usage or internal error.

Next: run `layercake diff COMMIT^ COMMIT` to see all changes of a commit.";

const LOG_EXAMPLES: &str = "\
Examples:
  layercake log --effective --limit 10   the last commits that changed outputs
  layercake log --site lab --since v1.8
  layercake log lab keystone             changes of this document, by commit
  layercake log v1.8..v1.9               the commits between two revisions
  layercake log --first-parent -o markdown

Exit codes: 0 the commits are listed, 2 usage or internal error.

Next: run `layercake diff COMMIT^ COMMIT` to see what a commit changed, and why.";

const IMPACT_EXAMPLES: &str = "\
Examples:
  layercake impact global/config/software-versions.yaml:22   one line
  layercake impact global/config/software-versions.yaml      the whole file
  layercake impact lab keystone .values.images               what sets a value
  layercake impact --rev HEAD~1 site/lab/secrets.yaml -o json

Exit codes: 0 the impact is printed, 2 no document there, usage or internal error.

Next: edit the line, and run `layercake diff HEAD` to see the effect.";

const GRAPH_EXAMPLES: &str = "\
Examples:
  layercake graph --site lab
  layercake graph lab keystone            what it needs, and what needs it
  layercake graph --site lab --format dot | dot -Tsvg > lab.svg
  layercake graph global/versions.yaml    dependencies and dependents of a file
  layercake graph --format mermaid

Exit codes: 0 the graph is printed, 2 usage or internal error.

Next: run `layercake render --site NAME` to print the rendered documents.";

const RULES_EXAMPLES: &str = "\
Examples:
  layercake rules                    all rules with their levels here
  layercake rules --select pegleg    the rules that replace Pegleg's codes
  layercake rules --format json | jq '.rules[] | select(.fixable)'

Exit codes: 0 the rules are listed, 2 usage or internal error.

Next: run `layercake explain RULE` to read a rule's page; set levels under `rules` in `layercake.yaml`.";

const CONFIG_EXAMPLES: &str = "\
Examples:
  layercake config show          effective settings and their sources
  layercake config check         check that the file is valid
  layercake config schema        JSON Schema for editors

Exit codes: 0 done, 2 invalid configuration, usage or internal error.

Next: run `layercake init` to create a commented `layercake.yaml`.";

const INIT_NOTE: &str = "\
Examples:
  layercake init              at the root of this repository
  layercake -C ../site init   of another repository

Exit codes: 0 written, 2 a configuration exists already, usage or internal error.

Next: run the printed commands, and `layercake config show` to see the settings.";

const BASELINE_EXAMPLES: &str = "\
Examples:
  layercake baseline write    accept all current findings
  layercake baseline prune    remove entries that are fixed
  layercake baseline show     list the accepted findings

Exit codes: 0 done, 2 usage or internal error.

Next: commit the file; `layercake lint` then reports only other findings.";

const SERVER_EXAMPLES: &str = "\
Examples:
  layercake server         as an editor starts it

Exit codes: 0 shut down by the client, 1 ended without a shutdown, 2 usage or internal error.

Next: set it up in your editor, as `docs/editors.md` describes.";

const MCP_EXAMPLES: &str = "\
Examples:
  layercake mcp                as an agent starts it
  layercake mcp -C ../sites    for another repository

Exit codes: 0 the client closed the stream, 2 usage or internal error.

Next: set it up in your agent, as `docs/mcp.md` describes.";

const DEMO_NOTE: &str = "\
Examples:
  layercake demo           in a new temporary folder
  layercake demo here      in the new folder `here`
  layercake demo --repositories      sites made of two repositories
  layercake demo --cloud-init        parts for cloud-init

Exit codes: 0 created and compared, 2 usage or internal error.

Next: run the printed commands in the new folder.";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  layercake explain missing-parent    the page of a rule
  layercake explain P005              the rules for a Pegleg code
  layercake explain strict            the rules of a group
  layercake explain                   all rules

Exit codes: 0 the page is printed, 2 no such rule, usage or internal error.

Next: run `layercake lint --select RULE` to run only this rule.";

const CONFIG_SHOW_EXAMPLES: &str = "\
Examples:
  layercake config show                    effective settings and their sources
  layercake config show --select strict    settings with this flag
  layercake config show --format json

Exit codes: 0 the settings are printed, 2 invalid configuration, usage or internal error.

Next: run `layercake rules` to list the rules with their levels.";

const CONFIG_PATH_EXAMPLES: &str = "\
Examples:
  layercake config path    the file in effect here, if any

Exit codes: 0 the path is printed, 2 invalid configuration, usage or internal error.

Next: run `layercake config show` to see the settings.";

const CONFIG_CHECK_EXAMPLES: &str = "\
Examples:
  layercake config check                     all problems with their lines
  layercake config check --config new.yaml   check another file

Exit codes: 0 the configuration is valid, or there is none, 2 invalid configuration, \
usage or internal error.

Next: run `layercake config show` to see the settings.";

const CONFIG_SCHEMA_EXAMPLES: &str = "\
Examples:
  layercake config schema > layercake.schema.json    for an editor

Exit codes: 0 the schema is printed, 2 usage or internal error.

Next: put `# yaml-language-server: $schema=FILE` on top of `layercake.yaml` for your editor.";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  source <(layercake completions bash)               in ~/.bashrc
  layercake completions zsh > ~/.zfunc/_layercake    if $fpath has ~/.zfunc
  layercake completions fish > ~/.config/fish/completions/layercake.fish
  layercake completions powershell >> $PROFILE
  layercake completions elvish >> ~/.config/elvish/rc.elv

Exit codes: 0 the script is printed, 2 usage or internal error.

Next: open a new shell, and type `layercake l` and the tab key.";

const MAN_EXAMPLES: &str = "\
Examples:
  layercake man lint             the page of a verb, as text on a terminal
  layercake man | man -l -       the page of the program, in a pager
  layercake man baseline write | man -l -
  layercake man --dir ~/.local/share/man/man1

Exit codes: 0 printed or written, 2 usage or internal error.

Next: run `man layercake-lint`, if the folder is in `man`'s search path.";

/// A linter for Airship Deckhand site repositories.
///
/// layercake renders every document of every site as Deckhand would, and reports every problem at
/// the source line that caused it. It finds the enclosing repository by itself and only reads it.
/// It writes only on request: reports, fixes, ignore comments, a baseline, a configuration, and the
/// example of `demo`.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = EXAMPLES)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,

    #[command(subcommand)]
    pub(super) verb: Verb,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Global {
    /// Run in this folder instead of the current one
    #[arg(short = 'C', value_name = "DIR", global = true)]
    #[arg(default_value = ".", hide_default_value = true)]
    pub(super) directory: PathBuf,

    /// When to use color
    ///
    /// `auto` uses color on a terminal unless `NO_COLOR` is set and not empty.
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto")]
    pub(super) color: When,

    /// Hide the progress line, which long runs show on a terminal
    #[arg(long, global = true)]
    no_progress: bool,

    /// Milliseconds before the progress line appears
    #[arg(
        long,
        value_name = "MS",
        global = true,
        hide = true,
        default_value_t = 1000
    )]
    progress_after: u64,

    /// Print the time spent in each stage on standard error
    #[arg(long, global = true)]
    pub(super) timing: bool,
}

impl Global {
    /// Time before the progress line appears; `None` if it is hidden.
    pub(super) fn progress_after(&self) -> Option<Duration> {
        (!self.no_progress).then(|| Duration::from_millis(self.progress_after))
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Report all problems
    ///
    /// Renders all sites and reports problems in their documents at the source lines that caused
    /// them. With a comparison, such as `--since main`, also reports which rendered documents
    /// changed and which edits changed them, and lists only new problems.
    #[command(after_help = LINT_EXAMPLES)]
    Lint(LintArgs),

    /// Report which rendered documents changed, and which edits changed them
    ///
    /// Renders all sites on two sides. Reports for each edit which outputs it reached, by which
    /// route, and what stopped it elsewhere.
    #[command(override_usage = DIFF_USAGE, after_help = DIFF_EXAMPLES)]
    Diff(DiffArgs),

    /// Print rendered documents
    ///
    /// Prints the concrete documents of all sites, sorted by site, schema and name. Problems in
    /// other documents do not stop it: standard error lists what could not be rendered. Rules run
    /// only with `--fail-on`.
    #[command(override_usage = RENDER_USAGE, after_help = RENDER_EXAMPLES)]
    Render(RenderArgs),

    /// Print values of rendered documents, and the lines that wrote them
    ///
    /// Evaluates a JSONPath (RFC 9535) on the data of each rendered document of all sites, as `render
    /// --format json` prints it: secrets are hidden, also from filters. Equal values of several sites
    /// are one row.
    #[command(after_help = QUERY_EXAMPLES)]
    Query(QueryArgs),

    /// Merge cloud-config parts as cloud-init does, and print the result
    ///
    /// Merges the named parts from any folder; without arguments, the sets declared in
    /// `layercake.yaml`, for each site. If a part is dropped, the rest is printed. Findings go to
    /// standard error, or with the format of a report to standard output.
    #[command(name = "cloud-config", after_help = CLOUD_CONFIG_EXAMPLES)]
    CloudConfig(CloudConfigArgs),

    /// List the sites and their size
    ///
    /// For each site: its type and its number of files, documents and rendered documents.
    #[command(after_help = SITES_NOTE)]
    Sites(SitesArgs),

    /// Convert a saved report to other formats
    ///
    /// Reads the `--output json` of `lint` or `diff` and prints it in any other format, as that run
    /// would have done. Needs neither the repository nor git, so a job with permission to write
    /// comments does not need the code that another job checked.
    #[command(after_help = REPORT_EXAMPLES)]
    Report(ReportArgs),

    /// Show where a value comes from and where to change it
    ///
    /// Traces a rendered value back to the source line that wrote it, and lists the values it
    /// overrides on the way.
    #[command(name = "explain-value", override_usage = EXPLAIN_VALUE_USAGE)]
    #[command(after_help = EXPLAIN_VALUE_EXAMPLES)]
    ExplainValue(ExplainValueArgs),

    /// Show the commit that last changed each value of a rendered document
    ///
    /// Renders the site in each commit that touched one of its files. Finds for each value the
    /// commit that gave it to the output: a commit to the output's own file, or an edit elsewhere
    /// that reached it. With PATH, shows the history of one value.
    #[command(override_usage = BLAME_USAGE, after_help = BLAME_EXAMPLES)]
    Blame(BlameArgs),

    /// List the commits that changed rendered documents, with their reach and danger
    ///
    /// Renders the sites in each commit that touched one of their files, counts the outputs that
    /// changed, and shows one changed value: the most dangerous, or else the first. For a merge,
    /// counts the outputs with a value that differs from all parents; with `--first-parent`, all
    /// changes that it brought.
    #[command(override_usage = LOG_USAGE, after_help = LOG_EXAMPLES)]
    Log(LogArgs),

    /// Show what a file or a line can affect
    ///
    /// Follows the values on a line to every output that they reach, in all sites, and to the lines
    /// that stop them. Of a value or a document, follows the line that sets it.
    #[command(override_usage = IMPACT_USAGE, after_help = IMPACT_EXAMPLES)]
    Impact(ImpactArgs),

    /// Print the dependencies between documents
    ///
    /// Prints the documents of each site with their parents, the documents they replace, and their
    /// substitution sources.
    #[command(override_usage = GRAPH_USAGE, after_help = GRAPH_EXAMPLES)]
    Graph(GraphArgs),

    /// Create a small example repository with an edit, and show its reach
    ///
    /// Writes an example site repository with one commit and one edited line to a new temporary
    /// folder, and prints what `layercake lint --since HEAD` reports there. Changes no other
    /// folder.
    #[command(after_help = DEMO_NOTE)]
    Demo(DemoArgs),

    /// Serve an editor: findings while files are edited
    ///
    /// Speaks the Language Server Protocol on standard input and output, and reads the repository around
    /// each folder that the editor opened.
    #[command(after_help = SERVER_EXAMPLES)]
    Server {
        /// Accepted, since some clients pass it
        #[arg(long, hide = true)]
        stdio: bool,
    },

    /// Serve a coding agent: changes, impact, values, findings, documents and blame
    ///
    /// Speaks the Model Context Protocol (MCP) on standard input and output. Answers are about the
    /// repository around the current folder in its present state.
    #[command(after_help = MCP_EXAMPLES)]
    Mcp {
        #[command(flatten)]
        reading: ReadingArgs,
    },

    /// Accept the existing findings, and report only new ones
    ///
    /// Writes the findings to `.layercake-baseline.json` at the root of the repository, one per
    /// line; commit this file. `lint` then no longer reports them, even if their lines move.
    #[command(subcommand, after_help = BASELINE_EXAMPLES, disable_help_subcommand = true)]
    Baseline(BaselineVerb),

    /// Print the page of a rule, the list of all rules, or rows of the table of consequences
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain {
        /// Rule, e.g. `missing-parent`, or a Pegleg code or a group to list its rules [default:
        /// list all]
        #[arg(add = candidates::rules())]
        rule: Option<String>,

        /// After `consequence`: a class or a caution, e.g. `upgrade` [default: list all]
        #[arg(requires = "rule")]
        class: Option<String>,
    },

    /// List the rules with their configured levels
    #[command(after_help = RULES_EXAMPLES)]
    Rules {
        #[command(flatten)]
        rules: RuleArgs,

        #[command(flatten)]
        config: ConfigArgs,

        /// Output format
        #[arg(short = 'o', long, value_name = "FORMAT", default_value = "text")]
        #[arg(alias = "output-format", help_heading = "Output")]
        format: TextFormat,
    },

    /// Show, check or describe the configuration
    #[command(subcommand, after_help = CONFIG_EXAMPLES, disable_help_subcommand = true)]
    Config(ConfigVerb),

    /// Create a commented configuration and a pre-commit hook entry
    ///
    /// Writes `layercake.yaml` to the root of the enclosing repository, and adds a hook to
    /// `.pre-commit-config.yaml` beside it, which is created if missing. An existing configuration
    /// of layercake is not changed.
    #[command(after_help = INIT_NOTE)]
    Init,

    /// Print a shell completion script
    ///
    /// Save the script where your shell looks for completions. It also completes rules, report
    /// formats, and the sites and revisions of the repository.
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// Shell [default: list all]
        shell: Option<Shell>,
    },

    /// Print the manual page of a verb, or write all pages
    ///
    /// The pages have the same content as `--help`. Prints text on a terminal, and otherwise the
    /// format of `man`.
    #[command(after_help = MAN_EXAMPLES)]
    Man {
        /// Verb, e.g. `lint` or `baseline write` [default: the program]
        verb: Vec<String>,

        /// Write all pages to this folder, created if missing
        #[arg(
            long,
            value_name = "DIR",
            conflicts_with = "verb",
            help_heading = "Output"
        )]
        dir: Option<PathBuf>,
    },

    /// Commands for developing layercake
    #[command(hide = true, subcommand, disable_help_subcommand = true)]
    Debug(Debug),
}

#[derive(Debug, Subcommand)]
pub(super) enum ConfigVerb {
    /// Print every setting with its value and source
    #[command(after_help = CONFIG_SHOW_EXAMPLES)]
    Show {
        #[command(flatten)]
        meaning: MeaningArgs,

        #[command(flatten)]
        rules: RuleArgs,

        #[command(flatten)]
        config: ConfigArgs,

        /// Output format
        #[arg(short = 'o', long, value_name = "FORMAT", default_value = "text")]
        #[arg(alias = "output-format", help_heading = "Output")]
        format: TextFormat,
    },

    /// Print the path of the configuration file
    #[command(after_help = CONFIG_PATH_EXAMPLES)]
    Path {
        #[command(flatten)]
        config: ConfigArgs,
    },

    /// Check the configuration file
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
    /// Read and parse the files that `lint` would, and do nothing else
    Parse {
        #[command(flatten)]
        files: FilesArgs,

        #[command(flatten)]
        selection: SelectionArgs,
    },

    /// Print the sides that would be compared, and list the files of the later side
    Side {
        #[command(flatten)]
        comparison: ComparisonArgs,
    },

    /// Run a command line with injected internal failures
    Fail {
        /// Place of a failure: `document:NAME`, `rule:NAME` and others, see `guard.rs`
        #[arg(long = "at", value_name = "PLACE", required = true)]
        places: Vec<String>,

        /// Command line without the program name
        #[arg(value_name = "ARGUMENT", last = true, required = true)]
        arguments: Vec<OsString>,
    },
}
