//! The command line: flags, and the one place with standard output, standard
//! error and the environment.

mod comparison;
mod demo;
mod hygiene;

use std::collections::BTreeMap;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use clap::error::{ContextKind, ContextValue};
use clap::{Args, Parser, Subcommand, ValueEnum};
use layercake::check::{Checked, Progress};
use layercake::commands::provenance::Question;
use layercake::commands::sides::{Environment, MergeBase, Side, Sides, Wanted};
use layercake::commands::{self, BaselineChoice, Selection};
use layercake::error::{Error, ErrorKind};
use layercake::graph::MissingSource;
use layercake::merge::deckhand::Semantics;
use layercake::report::comparison::Unchanged;
use layercake::report::provenance::SiteValue;
use layercake::report::terminal::Totals;
use layercake::report::{self, Style, View};
use layercake::source::{text_at, write_file};
use layercake::system::deckhand::Options;
use layercake::triage::Suppressed;

use self::comparison::{DiffArgs, LintLook, ReachArgs, Suppressions, Told};
use self::hygiene::{BaselineArgs, BaselineVerb, MendArgs};

const EXAMPLES: &str = "\
Examples:
  layercake demo                    an example to try it on, made for you
  layercake lint                    all sites of the repository around you
  layercake lint --since main       what changed since main, why, and what is wrong since
  layercake render --name keystone  what becomes of one document, in each site
  layercake explain missing-parent  what a finding means, and what to do

Exit codes: 0 no errors found, 1 errors found, 2 layercake could not do its work.";

const LINT_EXAMPLES: &str = "\
Examples:
  layercake lint                       everything, with the lines that matter
  layercake lint -o concise            one line for each finding
  layercake lint -o json | jq .        for programs
  layercake lint -o full -o json=report.json
  layercake lint --since main          what changed since main, and what is wrong since
  layercake lint --staged              the same for the next commit
  layercake lint site/lab type/small   only what is wrong in these folders
  layercake lint --diff                what --fix would change
  layercake lint --add-ignore='old sites, until they are gone'
  layercake lint --set a.yaml b.yaml   two files by themselves, without any site

Exit codes: 0 no errors found, 1 errors found, 2 layercake could not do its work.";

const DIFF_EXAMPLES: &str = "\
Examples:
  layercake diff main                what is different from main itself
  layercake diff --since main        what this branch changed, and its working tree
  layercake diff v1.8 v1.9           between two revisions
  layercake diff --staged --brief    what the next commit will change, one line an edit
  layercake diff main --expect-unchanged    prove that a refactoring is one

Exit codes: 0 compared, 1 a gate is violated, or with `--exit-code` something changed, \
2 layercake could not do its work.";

const RENDER_EXAMPLES: &str = "\
Examples:
  layercake render --site lab --schema 'armada/Chart/*'
  layercake render --site lab --name keystone --with-origin
  layercake render --format json | jq '.sites[].documents[].name'
  diff <(layercake render --rev HEAD~1) <(layercake render)

Exit codes: 0 no errors found, 1 errors found, 2 layercake could not do its work.";

const SITES_NOTE: &str = "\
Exit codes: 0 all sites are listed, 1 one is not, for its definition is missing or broken, \
2 layercake could not do its work.";

const EXPLAIN_VALUE_EXAMPLES: &str = "\
Examples:
  layercake explain-value lab armada/Chart/v1 keystone .values.pod.replicas
  layercake explain-value lab armada/Chart/v1 keystone /values/pod/replicas
  layercake explain-value - armada/Chart/v1 keystone .release   files without sites
  layercake explain-value --all-sites armada/Chart/v1 keystone .release
  layercake explain-value lab armada/Chart/v1 keystone .release \\
      --why-not global/charts/keystone.yaml:49
  layercake explain-value lab armada/Chart/v1 keystone .release --since main

Exit codes: 0 the value is explained, 2 there is none, or layercake could not do its work.";

const IMPACT_EXAMPLES: &str = "\
Examples:
  layercake impact global/config/software-versions.yaml:22   one line
  layercake impact global/config/software-versions.yaml      the whole file
  layercake impact --rev HEAD~1 site/lab/secrets.yaml -o json

Exit codes: 0 it is told, 2 nothing stands there, or layercake could not do its work.";

const GRAPH_EXAMPLES: &str = "\
Examples:
  layercake graph --site lab
  layercake graph --site lab --format dot | dot -Tsvg > lab.svg
  layercake graph --format mermaid

Exit codes: 0 it is printed, 2 layercake could not do its work.";

const BASELINE_EXAMPLES: &str = "\
Examples:
  layercake baseline write    accept all that lint reports now
  layercake baseline prune    take out what is mended since
  layercake baseline show     what is accepted

Exit codes: 0 it is done, 2 layercake could not do its work.";

const DEMO_NOTE: &str = "\
Exit codes: 0 it was made and compared, 2 layercake could not do its work.";

/// A linter for Airship Deckhand site repositories.
///
/// layercake renders every document of every site as Deckhand would, and shows
/// every problem at the line that wrote it. It finds the repository around the
/// current folder by itself and reads it; it writes nothing but what it is
/// told to: reports, fixes, comments, a baseline, and the example that `demo` makes.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = EXAMPLES, disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    global: Global,

    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
struct Global {
    /// Work in this folder instead of the current one
    #[arg(short = 'C', value_name = "DIR", global = true)]
    #[arg(default_value = ".", hide_default_value = true)]
    directory: PathBuf,

    /// When to use colour
    ///
    /// `auto` uses it on a terminal, and heeds `NO_COLOR`.
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto")]
    color: When,

    /// Show no progress, which long runs show on a terminal
    #[arg(long, global = true)]
    no_progress: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Report everything that is wrong
    ///
    /// Renders all sites, and reports what is wrong with their documents at the
    /// lines that wrote it.
    #[command(after_help = LINT_EXAMPLES)]
    Lint {
        #[command(flatten)]
        selection: SelectionArgs,

        #[command(flatten)]
        comparison: ComparisonArgs,

        #[command(flatten)]
        reach: ReachArgs,

        #[command(flatten)]
        baseline: BaselineArgs,

        #[command(flatten)]
        mend: MendArgs,

        /// With a comparison, report findings of both sides too
        #[arg(long, help_heading = "Output")]
        all_findings: bool,

        /// Show also what comments or the baseline suppress
        #[arg(long, help_heading = "Output")]
        show_ignored: bool,

        /// Print how many findings there are of each rule, instead of the findings
        #[arg(long, help_heading = "Output")]
        statistics: bool,

        /// How to print what was found: `full`, `concise` or `json`
        ///
        /// With `=FILE` it goes to that file instead of standard output; given
        /// several times, there are several reports of one run.
        #[arg(short, long, value_name = "FORMAT[=FILE]", default_value = "full")]
        #[arg(help_heading = "Output")]
        output: Vec<Output>,
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
    /// documents have problems; how many there are is said on standard error.
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
    },

    /// List the sites and what they are made of
    #[command(after_help = SITES_NOTE)]
    Sites {
        #[command(flatten)]
        repository: RepositoryArgs,

        /// How to print them
        #[arg(short = 'o', long, value_name = "FORMAT", default_value = "table")]
        #[arg(help_heading = "Output")]
        format: SitesFormat,
    },

    /// Tell where a value comes from, and where it could be changed
    ///
    /// Follows a rendered value back to the text that wrote it, with what lost
    /// against it on the way.
    #[command(name = "explain-value", after_help = EXPLAIN_VALUE_EXAMPLES)]
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
    },

    /// Accept the findings that there are, and report only others
    ///
    /// Writes them to `.layercake-baseline.json` at the root of the repository,
    /// one on a line, to be committed; `lint` does not report them then. Lines
    /// may move.
    #[command(subcommand, after_help = BASELINE_EXAMPLES)]
    Baseline(BaselineVerb),

    /// Print the page of a rule, or the list of all rules
    Explain {
        /// The rule's name, e.g. `missing-parent`; without one, all are listed
        rule: Option<String>,
    },

    /// For work on layercake itself
    #[command(hide = true, subcommand)]
    Debug(Debug),
}

#[derive(Debug, Subcommand)]
enum Debug {
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
}

/// One report of a run, and where it goes.
#[derive(Clone, Debug)]
struct Output {
    format: LintFormat,
    /// None for standard output.
    file: Option<PathBuf>,
}

impl FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (format, file) = match text.split_once('=') {
            Some((_, "")) => return Err("there is no file behind `=`".to_owned()),
            Some((format, file)) => (format, Some(PathBuf::from(file))),
            None => (text, None),
        };
        let known = || LintFormat::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let names = || known().map(|it| it.get_name().to_owned()).collect::<Vec<_>>().join(", ");
        let format = LintFormat::from_str(format, false)
            .map_err(|_| format!("there is no such format; there are {}", names()))?;
        Ok(Self { format, file })
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LintFormat {
    /// Every finding with its lines
    Full,
    /// One line a finding
    Concise,
    /// For programs
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum RenderFormat {
    Yaml,
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SitesFormat {
    Table,
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TextFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum GraphFormat {
    Text,
    Dot,
    Mermaid,
    Json,
}

#[derive(Debug, Args)]
struct ExplainValueArgs {
    /// The site (`-` for files without sites; none with `--all-sites`), and the
    /// value: schema, name, and path as `.values.pod` or `/values/pod`
    #[arg(value_name = "SITE> <SCHEMA> <NAME> <PATH", num_args = 3..=4, required = true)]
    value: Vec<String>,

    /// The value of each site, instead of the way of one
    #[arg(long, conflicts_with = "why_not")]
    all_sites: bool,

    /// Follow this line instead, and tell where it stops
    #[arg(long, value_name = "FILE:LINE")]
    why_not: Option<String>,

    /// Tell also how it was where HEAD parted from this revision, and which edit
    /// made the difference
    #[arg(long, value_name = "REV", conflicts_with_all = ["all_sites", "why_not", "rev"])]
    since: Option<String>,

    /// Let `--since` compare with its revision itself
    #[arg(long, requires = "since")]
    no_merge_base: bool,

    /// Read this revision instead of the working tree
    #[arg(long, value_name = "REV", help_heading = "Which documents")]
    rev: Option<String>,

    /// Where a further repository is that site definitions name
    #[arg(long, value_name = "NAME=PATH[@REV]", help_heading = "Which documents")]
    repository: Vec<String>,

    /// Take the files of the folder as one set without sites
    #[arg(long, conflicts_with = "repository", help_heading = "Which documents")]
    set: bool,

    #[command(flatten)]
    meaning: MeaningArgs,

    /// How to print it
    #[arg(short = 'o', long, value_name = "FORMAT", default_value = "text")]
    #[arg(help_heading = "Output")]
    format: TextFormat,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Which documents")]
struct RepositoryArgs {
    /// Read this revision instead of the working tree
    #[arg(long, value_name = "REV")]
    rev: Option<String>,

    /// Only sites whose name matches this glob
    #[arg(long, value_name = "GLOB")]
    site: Vec<String>,

    /// Where a further repository is that site definitions name
    #[arg(long, value_name = "NAME=PATH[@REV]")]
    repository: Vec<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Which documents")]
struct SelectionArgs {
    /// Files or folders to report on; the sites are rendered whole
    ///
    /// Outside a site repository, and with `--set`, the files to render
    /// together.
    #[arg(value_name = "FILE", help_heading = None)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    repository: RepositoryArgs,

    /// Take the files as one set without sites, in a site repository too
    #[arg(long, conflicts_with_all = ["site", "repository"])]
    set: bool,

    #[command(flatten)]
    meaning: MeaningArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Comparison")]
struct ComparisonArgs {
    /// Compare where HEAD parted from this revision with the working tree
    #[arg(long, value_name = "REV", conflicts_with_all = ["staged", "from", "auto"])]
    since: Option<String>,

    /// Compare HEAD with the index: what the next commit will change
    #[arg(long, conflicts_with_all = ["from", "auto"])]
    staged: bool,

    /// Compare this revision itself with what `--to` names
    #[arg(long, value_name = "REV", conflicts_with = "auto")]
    from: Option<String>,

    /// A revision, `worktree` or `index`; the working tree if not given
    #[arg(long, value_name = "REV|worktree|index", requires = "from")]
    to: Option<String>,

    /// Let `--since` compare with its revision itself
    #[arg(long, requires = "since")]
    no_merge_base: bool,

    /// Find out what to compare: from a hook, a CI job, or the default branch
    ///
    /// Heeds pre-commit, GitHub Actions, GitLab, Azure Pipelines, Bitbucket and
    /// Gerrit, in this order; elsewhere, compares where HEAD parted from the
    /// default branch with the working tree.
    #[arg(long)]
    auto: bool,
}

impl ComparisonArgs {
    fn wanted(self) -> Wanted {
        let merge_base = if self.no_merge_base { MergeBase::Skip } else { MergeBase::Use };
        let ComparisonArgs { since, staged, from, to, auto, .. } = self;
        Wanted { since, staged, from, to, merge_base, auto }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Meaning")]
struct MeaningArgs {
    /// What to render where Deckhand's documentation and its code differ
    #[arg(long, value_name = "MEANING", default_value = "documented")]
    semantics: SemanticsArg,

    /// What a substitution without its source is
    #[arg(long, value_name = "LEVEL", default_value = "error")]
    missing_substitution_source: MissingSourceArg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SemanticsArg {
    /// What the documentation promises
    Documented,
    /// What the code does
    Deckhand,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MissingSourceArg {
    /// As Deckhand's service and `pegleg site lint` have it
    Error,
    /// As `pegleg site render` has it
    Warning,
}

impl RepositoryArgs {
    fn selection(self, directory: PathBuf) -> Selection {
        Selection {
            directory,
            revision: self.rev,
            sites: self.site,
            files: Vec::new(),
            set: false,
            repositories: self.repository,
            options: Options {
                semantics: Semantics::Documented,
                missing_source: MissingSource::Error,
                encryption_sources: BTreeMap::new(),
            },
            baseline: BaselineChoice::Usual,
            texts: BTreeMap::new(),
        }
    }
}

impl SelectionArgs {
    fn selection(self, directory: PathBuf) -> Selection {
        let selection = self.repository.selection(directory);
        let options = self.meaning.options(selection.options);
        Selection { files: self.files, set: self.set, options, ..selection }
    }
}

impl MeaningArgs {
    fn options(self, options: Options) -> Options {
        Options {
            semantics: match self.semantics {
                SemanticsArg::Documented => Semantics::Documented,
                SemanticsArg::Deckhand => Semantics::Deckhand,
            },
            missing_source: match self.missing_substitution_source {
                MissingSourceArg::Error => MissingSource::Error,
                MissingSourceArg::Warning => MissingSource::Warning,
            },
            ..options
        }
    }
}

/// Runs the command line.
pub(crate) fn run() -> ExitCode {
    let done = match Cli::try_parse() {
        Ok(cli) => verb(cli),
        Err(refusal) => refuse(&refusal),
    };
    match done {
        Ok(code) => code,
        Err(Failure::Work(error)) => {
            explain_failure(&error);
            ExitCode::from(2)
        }
        // Whoever reads the output has seen enough.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(Failure::Output(error)) => {
            complain(&format!("error: the output cannot be written: {error}\n"));
            ExitCode::from(2)
        }
    }
}

/// Why a verb did not come to its end.
enum Failure {
    Work(Error),
    Output(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Work(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

/// What comes of arguments that ask for help, or mean nothing.
fn refuse(refusal: &clap::Error) -> Result<ExitCode, Failure> {
    let unknown = refusal.get(ContextKind::InvalidArg);
    if matches!(unknown, Some(ContextValue::String(flag)) if flag == "--show-secrets") {
        complain(
            "error: `--show-secrets` belongs to `layercake render` alone\n  \
             help: no other command shows a secret\n",
        );
        return Ok(ExitCode::from(2));
    }
    if refusal.use_stderr() {
        complain(&refusal.render().to_string());
        return Ok(ExitCode::from(2));
    }
    refusal.print()?;
    Ok(ExitCode::SUCCESS)
}

fn verb(cli: Cli) -> Result<ExitCode, Failure> {
    let terminal = Terminal::new(cli.global.color, cli.global.no_progress);
    let directory = cli.global.directory;
    match cli.verb {
        Verb::Lint {
            selection,
            comparison,
            reach,
            baseline,
            mend,
            all_findings,
            show_ignored,
            statistics,
            output,
        } => {
            let request = reach.request(comparison)?;
            let unchanged = if all_findings { Unchanged::Shown } else { Unchanged::Counted };
            let look = LintLook {
                comparison: reach.look(unchanged, &terminal),
                suppressed: if show_ignored { Suppressions::Shown } else { Suppressions::Counted },
                told: if statistics { Told::Statistics } else { Told::Findings },
            };
            let selection = selection.selection(directory);
            let selection = Selection { baseline: baseline.choice(), ..selection };
            comparison::lint(&selection, &request, look, &mend, &output, &terminal)
        }
        Verb::Baseline(verb) => hygiene::baseline(verb, directory, &terminal),
        Verb::Diff(arguments) => comparison::diff(arguments, directory, &terminal),
        Verb::Render { selection, schema, name, format, with_origin, show_secrets } => {
            let wanted = commands::render::Wanted { schemas: schema, names: name };
            let selection = selection.selection(directory);
            let look = report::DocumentsLook { show_secrets, with_origin };
            render(&selection, &wanted, format, look, &terminal)
        }
        Verb::Sites { repository, format } => {
            sites(&repository.selection(directory), format, &terminal)
        }
        Verb::ExplainValue(arguments) => explain_value(arguments, directory, &terminal),
        Verb::Impact { place, repository, meaning, format } => {
            let selection = repository.selection(directory);
            let options = meaning.options(selection.options);
            impact(&Selection { options, ..selection }, &place, format, &terminal)
        }
        Verb::Graph { selection, format } => {
            graph(&selection.selection(directory), format, &terminal)
        }
        Verb::Demo { folder } => {
            let is_here = directory == Path::new(".");
            let inside = |folder| if is_here { folder } else { directory.join(folder) };
            demo::demo(folder.map(inside), &terminal)
        }
        Verb::Explain { rule } => {
            let text = match rule {
                Some(rule) => commands::explain::page(&rule)?,
                None => commands::explain::list(),
            };
            print(|out| out.write_all(text.as_bytes()))?;
            Ok(ExitCode::SUCCESS)
        }
        Verb::Debug(Debug::Parse { selection }) => {
            let selection = selection.selection(directory);
            let totals = commands::parse::run(&selection, &Progress::default())?;
            let (files, documents, bytes) = (totals.files, totals.documents, totals.bytes);
            print(|out| writeln!(out, "{files} files, {documents} documents, {bytes} bytes"))?;
            Ok(ExitCode::SUCCESS)
        }
        Verb::Debug(Debug::Side { comparison }) => side(&directory, &comparison.wanted()),
    }
}

/// Refuses outputs that would run into each other, before any work is done.
fn allow(outputs: &[Output]) -> Result<(), Error> {
    let printed = outputs.iter().filter(|output| output.file.is_none()).count();
    if printed > 1 {
        let message = "only one report can go to standard output";
        let help = "give the others a file, e.g. `--output json=report.json`";
        return Err(Error::new(ErrorKind::Usage, message).with_help(help));
    }
    let mut files: Vec<&Path> = outputs.iter().filter_map(|it| it.file.as_deref()).collect();
    files.sort();
    match files.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => {
            let message = format!("two reports cannot both go to `{}`", pair[0].display());
            Err(Error::new(ErrorKind::Usage, message))
        }
        None => Ok(()),
    }
}

/// Writes each report to where it goes, files first: what is printed last is
/// then all that there is to say. Files have no colours and the width of a
/// page, whatever the terminal has.
fn deliver(
    outputs: &[Output],
    directory: &Path,
    terminal: &Terminal,
    write: impl Fn(LintFormat, &Style, &mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let page = Style { width: PAGE, color: false, unicode: true, links: false };
    for output in outputs {
        let Some(file) = &output.file else { continue };
        let mut bytes = Vec::new();
        write(output.format, &page, &mut bytes)?;
        write_file(&directory.join(file), &bytes)?;
    }
    for output in outputs.iter().filter(|output| output.file.is_none()) {
        print(|out| write(output.format, &terminal.style, out))?;
    }
    Ok(())
}

fn render(
    selection: &Selection,
    wanted: &commands::render::Wanted,
    format: RenderFormat,
    look: report::DocumentsLook,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let mut checked =
        terminal.watch(|progress| commands::render::run(selection, wanted, progress))?;
    let rendered: Vec<_> = checked.sites.iter_mut().filter_map(|site| site.taken.take()).collect();
    print(|out| match format {
        RenderFormat::Yaml => report::documents::write(&rendered, &view(&checked), look, out),
        RenderFormat::Json => report::json::rendered(&rendered, look, out),
    })?;
    if rendered.iter().all(|site| site.documents.is_empty()) {
        complain("no document is rendered that is asked for\n");
    }
    complain(&problems(&checked)?);
    Ok(verdict(&checked))
}

fn sites(
    selection: &Selection,
    format: SitesFormat,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let listed = terminal.watch(|progress| commands::sites::run(selection, progress))?;
    print(|out| match format {
        SitesFormat::Table => report::sites::write(&listed.rows, out),
        SitesFormat::Json => report::json::sites(&listed.rows, out),
    })?;
    for site in &listed.undefined {
        complain(&format!(
            "site `{site}` is not listed: its definition is missing or broken; \
             `layercake lint` shows how\n"
        ));
    }
    if listed.internal_error {
        return Ok(ExitCode::from(2));
    }
    Ok(ExitCode::from(u8::from(!listed.undefined.is_empty())))
}

fn side(directory: &Path, wanted: &Wanted) -> Result<ExitCode, Failure> {
    let Some(listing) = commands::listing::run(directory, wanted, &environment(wanted)?)? else {
        print(|out| writeln!(out, "no comparison"))?;
        return Ok(ExitCode::SUCCESS);
    };
    let Sides { from, to, chosen } = &listing.sides;
    print(|out| {
        writeln!(out, "chosen: {}: {}", chosen.code, chosen.sentence)?;
        for (word, side) in [("from", from), ("to", to)] {
            match side {
                Side::Commit { id, .. } => writeln!(out, "{word}: commit {id}")?,
                Side::Index | Side::WorkTree => writeln!(out, "{word}: {side}")?,
            }
        }
        for (path, content) in &listing.files {
            match content {
                Some(content) => writeln!(out, "{content} {path}")?,
                None => writeln!(out, "- {path}")?,
            }
        }
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// What of this process's environment counts for a comparison: nothing,
/// unless it is asked.
#[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
fn environment(wanted: &Wanted) -> Result<Environment, Error> {
    let value = |name: &str| Some(std::env::var_os(name)?.to_string_lossy().into_owned());
    if !wanted.auto {
        return Ok(Environment::default());
    }
    let set = |name: &&str| Some(((*name).to_owned(), value(name)?));
    let on_github = value("GITHUB_ACTIONS").is_some_and(|value| value == "true");
    let event = std::env::var_os("GITHUB_EVENT_PATH").filter(|path| on_github && !path.is_empty());
    Ok(Environment {
        variables: Environment::VARIABLES.iter().filter_map(set).collect(),
        event: event.map(|path| text_at(Path::new(&path))).transpose()?,
    })
}

fn explain_value(
    arguments: ExplainValueArgs,
    directory: PathBuf,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let (site, question) = asked(arguments.value, arguments.all_sites)?;
    let (rev, site_globs) = (arguments.rev, Vec::new());
    let repository = RepositoryArgs { rev, site: site_globs, repository: arguments.repository };
    let selection = repository.selection(directory);
    let options = arguments.meaning.options(selection.options);
    let selection = Selection { set: arguments.set, options, ..selection };
    if arguments.since.is_some() {
        let merge_base = if arguments.no_merge_base { MergeBase::Skip } else { MergeBase::Use };
        let wanted = Wanted { since: arguments.since, merge_base, ..Wanted::default() };
        return explain_since(&selection, &wanted, (&site, &question), arguments.format, terminal);
    }
    match (&arguments.why_not, arguments.all_sites) {
        (Some(place), _) => {
            explain_why_not(&selection, &site, &question, place, arguments.format, terminal)
        }
        (None, true) => explain_in_all(&selection, &question, arguments.format, terminal),
        (None, false) => explain_in(&selection, &site, &question, arguments.format, terminal),
    }
}

fn explain_in(
    selection: &Selection,
    site: &str,
    question: &Question,
    format: TextFormat,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let (checked, way) = terminal
        .watch(|progress| commands::explain_value::one(selection, site, question, progress))?;
    let view = view(&checked);
    print(|out| match format {
        TextFormat::Text => report::provenance::write_way(&way, &view, &terminal.style, out),
        TextFormat::Json => {
            let value = SiteValue { site: way.site.clone(), way: Some(way) };
            report::provenance::write_ways_json(&[value], &view, out)
        }
    })?;
    Ok(told(&checked))
}

fn explain_since(
    selection: &Selection,
    wanted: &Wanted,
    (site, question): (&str, &Question),
    format: TextFormat,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let (checked, since) = terminal.watch(|progress| {
        commands::explain_since::run(selection, wanted, site, question, progress)
    })?;
    let (view, style) = (view(&checked), &terminal.style);
    print(|out| match format {
        TextFormat::Text => report::since::write_way_since(&since, &view, style, out),
        TextFormat::Json => report::since::write_way_since_json(&since, &view, out),
    })?;
    Ok(told(&checked))
}

fn explain_in_all(
    selection: &Selection,
    question: &Question,
    format: TextFormat,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let (checked, values) =
        terminal.watch(|progress| commands::explain_value::all(selection, question, progress))?;
    let view = view(&checked);
    print(|out| match format {
        TextFormat::Text => report::provenance::write_values(&values, &view, out),
        TextFormat::Json => report::provenance::write_ways_json(&values, &view, out),
    })?;
    Ok(told(&checked))
}

fn explain_why_not(
    selection: &Selection,
    site: &str,
    question: &Question,
    place: &str,
    format: TextFormat,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let (checked, texts) = terminal.watch(|progress| {
        commands::explain_value::why_not(selection, site, question, place, progress)
    })?;
    let (view, style) = (view(&checked), &terminal.style);
    print(|out| match format {
        TextFormat::Text => report::provenance::write_why_not(&texts, &view, style, out),
        TextFormat::Json => report::provenance::write_why_not_json(&texts, &view, out),
    })?;
    Ok(told(&checked))
}

/// The site and the value that the arguments name.
fn asked(value: Vec<String>, all_sites: bool) -> Result<(String, Question), Error> {
    let mut value = value.into_iter().rev();
    let mut next = || value.next().unwrap_or_default();
    let (path, name, schema) = (next(), next(), next());
    let question = Question { schema, name, path };
    match (value.next(), all_sites) {
        (Some(site), false) => Ok((site, question)),
        (None, true) => Ok((String::new(), question)),
        (Some(_), true) => Err(Error::new(ErrorKind::Usage, "`--all-sites` goes without a site")
            .with_help("layercake explain-value --all-sites SCHEMA NAME PATH")),
        (None, false) => Err(Error::new(ErrorKind::Usage, "it is not said which site")
            .with_help("name a site, `-` for files without sites, or `--all-sites`")),
    }
}

/// 0 where a question was answered, 2 where layercake itself failed.
fn told<T>(checked: &Checked<T>) -> ExitCode {
    ExitCode::from(if checked.internal_error { 2 } else { 0 })
}

fn impact(
    selection: &Selection,
    place: &str,
    format: TextFormat,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let (checked, impact) =
        terminal.watch(|progress| commands::impact::run(selection, place, progress))?;
    let (view, style) = (view(&checked), &terminal.style);
    print(|out| match format {
        TextFormat::Text => report::impact::write(&impact, &view, style, out),
        TextFormat::Json => report::impact::write_impact_json(&impact, &view, out),
    })?;
    Ok(told(&checked))
}

fn graph(
    selection: &Selection,
    format: GraphFormat,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let checked = terminal.watch(|progress| commands::graph::run(selection, progress))?;
    let (checked, graphs) = checked.without_taken();
    let view = view(&checked);
    print(|out| match format {
        GraphFormat::Text => report::graph::write(&graphs, &view, out),
        GraphFormat::Dot => report::graph::write_dot(&graphs, &view, out),
        GraphFormat::Mermaid => report::graph::write_mermaid(&graphs, &view, out),
        GraphFormat::Json => report::graph::write_graph_json(&graphs, &view, out),
    })?;
    complain(&problems(&checked)?);
    Ok(told(&checked))
}

fn view<T>(checked: &Checked<T>) -> View<'_> {
    View::new(&checked.sources, &checked.secrets, &checked.opaque)
}

fn totals<T>(checked: &Checked<T>, elapsed: Duration) -> Totals {
    Totals {
        sites: checked.sites.iter().filter(|site| site.name.is_some()).count(),
        documents: checked.documents,
        outputs: checked.sites.iter().map(|site| site.outputs).sum(),
        counts: checked.findings.counts(),
        suppressed: Suppressed::of(&checked.findings.suppressed),
        elapsed,
    }
}

/// 0 without errors, 1 with errors, 2 where layercake itself failed.
fn verdict<T>(checked: &Checked<T>) -> ExitCode {
    if checked.internal_error {
        return ExitCode::from(2);
    }
    ExitCode::from(u8::from(checked.findings.counts().errors > 0))
}

/// A line that says that what was printed is not the whole story; nothing
/// where it is.
fn problems<T>(checked: &Checked<T>) -> io::Result<String> {
    let counts = checked.findings.counts();
    if counts.errors + counts.warnings == 0 {
        return Ok(String::new());
    }
    let mut line = Vec::new();
    report::terminal::write_counts(&counts, &mut line)?;
    Ok(format!("{}; `layercake lint` shows them\n", String::from_utf8_lossy(&line)))
}

/// Writes to standard output, to its end.
#[expect(clippy::disallowed_methods, reason = "this is where standard output is written")]
fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out)?;
    out.flush()
}

/// Writes to standard error; where that is closed there is nobody to tell.
#[expect(clippy::disallowed_methods, reason = "this is where standard error is written")]
fn complain(text: &str) {
    let mut errors = io::stderr().lock();
    drop(errors.write_all(text.as_bytes()).and_then(|()| errors.flush()));
}

/// The error, what caused it, and what cures it.
fn explain_failure(error: &Error) {
    let mut text = format!("error: {error}\n");
    let mut cause = std::error::Error::source(error);
    while let Some(source) = cause {
        text += &format!("  caused by: {source}\n");
        cause = source.source();
    }
    if let Some(help) = error.help() {
        text += &format!("  help: {help}\n");
    }
    complain(&text);
}

/// What is known of the terminal.
struct Terminal {
    style: Style,
    /// Whether standard output is one.
    is_shown: bool,
    progress: bool,
}

impl Terminal {
    #[expect(clippy::disallowed_methods, reason = "this is where the terminal is asked")]
    fn new(color: When, no_progress: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        let color = match color {
            When::Always => true,
            When::Never => false,
            When::Auto => supports_color::on(supports_color::Stream::Stdout).is_some(),
        };
        let style = Style {
            width: width(terminal),
            color,
            unicode: !terminal || supports_unicode::on(supports_unicode::Stream::Stdout),
            links: terminal && supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout),
        };
        let progress = !no_progress && io::stderr().is_terminal();
        Self { style, is_shown: terminal, progress }
    }

    /// Does `work`, and shows on standard error how far it is where it takes
    /// longer than a second.
    fn watch<T>(&self, work: impl FnOnce(&Progress) -> T) -> T {
        if !self.progress {
            return work(&Progress::default());
        }
        let (progress, done) = (Progress::default(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let watcher = scope.spawn(|| show_progress(&progress, &done));
            let result = work(&progress);
            done.store(true, Relaxed);
            watcher.thread().unpark();
            result
        })
    }
}

/// The width at which kept output is read.
const PAGE: usize = 100;

/// The columns to fill: those that `COLUMNS` asks for, or that the terminal
/// has; output that is kept is read at the width of a page.
#[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
fn width(terminal: bool) -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let present = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    asked.or_else(|| present().filter(|_| terminal)).unwrap_or(PAGE)
}

/// One line on standard error, rewritten until the work is done.
fn show_progress(progress: &Progress, done: &AtomicBool) {
    const PATIENCE: Duration = Duration::from_secs(1);
    const BEAT: Duration = Duration::from_millis(100);
    let start = Instant::now();
    while !done.load(Relaxed) && start.elapsed() < PATIENCE {
        std::thread::park_timeout(PATIENCE.saturating_sub(start.elapsed()));
    }
    let mut shown = false;
    while !done.load(Relaxed) {
        let (read, files) = progress.files();
        let (rendered, sites) = progress.sites();
        let line = if sites > 0 {
            format!("rendering: {rendered} of {sites} sites")
        } else {
            format!("reading: {read} of {files} files")
        };
        complain(&format!("\r\x1b[2K{line}"));
        shown = true;
        std::thread::park_timeout(BEAT);
    }
    if shown {
        complain("\r\x1b[2K");
    }
}
