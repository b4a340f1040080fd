//! `lint` and `diff` over two sides: what they ask for, and what of the answer
//! goes where.

use std::cell::LazyCell;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use layercake::commands::compare::{Outcome, Request, Verify};
use layercake::commands::configuration::{self, Found};
use layercake::commands::lint::Linted;
use layercake::commands::mend::Writing;
use layercake::commands::sides::Wanted;
use layercake::commands::{self, Selection};
use layercake::diagnostic::Trait;
use layercake::error::{Error, ErrorKind};
use layercake::report::comparison::{Grouping, Look, Unchanged};
use layercake::report::json::Report;
use layercake::report::{self, Compared, Format, Ignored, Links, Listing, Manner, Timing, View};
use layercake::rules::RULES;
use layercake::stopwatch::times;
use layercake::triage::Findings;

use super::arguments::{
    ComparisonArgs, ConfigArgs, FailOn, MeaningArgs, OutputArgs, RepositoryArgs, SelectionArgs,
};
use super::hygiene::{self, MendArgs};
use super::terminal::Terminal;
use super::{Failure, complain, deliver, environment, outputs, print, totals, view};

/// What is asked of a comparison, whichever two sides it has.
#[derive(Debug, Args)]
pub(super) struct ReachArgs {
    /// Fail where an edit changes outputs in more than so many sites
    #[arg(long, value_name = "N", help_heading = "Comparison")]
    max_sites: Option<usize>,

    /// Fail where an edit changes more than so many outputs
    #[arg(long, value_name = "N", help_heading = "Comparison")]
    max_outputs: Option<usize>,

    /// Fail where rendered data changes: the proof of a refactoring
    ///
    /// With `=GLOB` only in sites, or in outputs `SITE:SCHEMA:NAME`, that
    /// match.
    #[arg(long, value_name = "GLOB", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "*", help_heading = "Comparison")]
    expect_unchanged: Option<Vec<String>>,

    /// Know items of lists by this key, beside `name` and `id`
    #[arg(long, value_name = "KEY", help_heading = "Comparison")]
    list_key: Vec<String>,

    /// Prove every cause by rendering with and without its edits
    #[arg(long, help_heading = "Comparison")]
    verify_attribution: bool,

    /// Show every output by itself, also those that changed alike
    #[arg(long, help_heading = "Output")]
    no_group: bool,

    /// Show so many entries of each list
    #[arg(long, value_name = "N", help_heading = "Output")]
    limit: Option<usize>,
}

impl ReachArgs {
    pub(super) fn request(&self, comparison: ComparisonArgs) -> Result<Request, Error> {
        let wanted = comparison.wanted();
        if self.is_given() && wanted == Wanted::default() {
            let message = "these flags speak of a comparison, and none is asked for";
            let help =
                "say with what to compare: `--since REV`, `--staged`, `--from REV` or `--auto`";
            return Err(Error::new(ErrorKind::Usage, message).with_help(help));
        }
        Ok(Request {
            environment: environment(&wanted)?,
            wanted,
            verify: if self.verify_attribution { Verify::All } else { Verify::Doubtful },
            max_sites: self.max_sites,
            max_outputs: self.max_outputs,
            expect_unchanged: self.expect_unchanged.clone(),
            list_keys: self.list_key.clone(),
        })
    }

    fn is_given(&self) -> bool {
        self.max_sites.is_some()
            || self.max_outputs.is_some()
            || self.expect_unchanged.is_some()
            || self.verify_attribution
            || !self.list_key.is_empty()
    }

    pub(super) fn look(&self, unchanged: Unchanged, terminal: &Terminal) -> Look {
        let usual = if terminal.is_shown { Look::ON_TERMINAL } else { Look::KEPT };
        Look {
            grouping: if self.no_group { Grouping::Apart } else { Grouping::Alike },
            limit: self.limit.unwrap_or(usual),
            unchanged,
        }
    }
}

/// What `diff` is told.
#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    /// The earlier revision, as `--from`
    #[arg(value_name = "A", conflicts_with_all = ["since", "staged", "from", "auto"])]
    a: Option<String>,

    /// The later revision, as `--to`; the working tree if not given
    #[arg(value_name = "B", conflicts_with_all = ["since", "staged", "from", "to", "auto"])]
    b: Option<String>,

    #[command(flatten)]
    comparison: ComparisonArgs,

    #[command(flatten)]
    reach: ReachArgs,

    /// Exit with 1 where rendered documents changed
    #[arg(long, help_heading = "Comparison")]
    exit_code: bool,

    /// Exit with 0 whatever changed, where a gate fails too
    #[arg(long, conflicts_with = "exit_code", help_heading = "Comparison")]
    exit_zero: bool,

    /// One line for each edit
    #[arg(long, help_heading = "Output")]
    brief: bool,

    #[command(flatten)]
    outputs: OutputArgs,

    /// Only sites whose name matches this glob
    #[arg(long, value_name = "GLOB", help_heading = "Which documents")]
    site: Vec<String>,

    /// Where a further repository is that site definitions name
    #[arg(long, value_name = "NAME=PATH[@REV]", help_heading = "Which documents")]
    repository: Vec<String>,

    #[command(flatten)]
    meaning: MeaningArgs,

    #[command(flatten)]
    config: ConfigArgs,
}

impl DiffArgs {
    fn verdict(&self) -> Verdict {
        match (self.exit_code, self.exit_zero) {
            (true, _) => Verdict::Changes,
            (false, true) => Verdict::Nothing,
            (false, false) => Verdict::Gates,
        }
    }
}

/// What fails a run of `diff`.
#[derive(Clone, Copy)]
enum Verdict {
    /// Gates that are violated.
    Gates,
    /// These, and changes.
    Changes,
    /// None of that.
    Nothing,
}

/// What is asked of `lint`, beside what to read.
pub(super) struct Asked {
    pub(super) request: Request,
    pub(super) look: LintLook,
    pub(super) mend: MendArgs,
    pub(super) fail_on: FailOn,
    /// The reports; those of the configuration where none is given.
    pub(super) outputs: OutputArgs,
}

/// How findings are told.
#[derive(Clone, Copy)]
pub(super) struct LintLook {
    pub(super) comparison: Look,
    pub(super) ignored: Ignored,
    pub(super) told: Told,
}

/// What is told of findings in a report for people.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    Findings,
    Statistics,
}

impl LintLook {
    /// Whether findings are listed that others stand for.
    fn lists_each(self) -> bool {
        self.comparison.unchanged == Unchanged::Shown
    }

    /// How `diff` tells what it compared: it looks for no findings.
    fn of_diff(comparison: Look) -> Self {
        Self { comparison, ignored: Ignored::Counted, told: Told::Findings }
    }

    fn manner(self) -> Manner<'static> {
        let listing = Listing { unchanged: self.comparison.unchanged, ignored: self.ignored };
        Manner { listing, rules: RULES }
    }
}

impl OutputArgs {
    /// What links are made of: what the flag says, or else the configuration.
    fn links(&self, configured: &Found) -> Option<Links> {
        self.links.clone().or_else(|| configuration::links(configured))
    }
}

/// A comparison says itself which revisions it reads.
///
/// # Errors
/// Where one is asked for, and a revision to read as well.
pub(super) fn refuse_revision(selection: &SelectionArgs, wanted: &Wanted) -> Result<(), Error> {
    if selection.repository.rev.is_none() || *wanted == Wanted::default() {
        return Ok(());
    }
    let message = "`--rev` reads one revision, and a comparison is asked for";
    let help = "`--from REV --to REV` compares two revisions";
    Err(Error::new(ErrorKind::Usage, message).with_help(help))
}

pub(super) fn lint(
    selection: &Selection,
    asked: &Asked,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let Asked { request, mend, outputs, .. } = asked;
    let baseline = outputs::named_baseline(selection);
    outputs::allow(&outputs.output, &selection.directory, baseline.as_slice())?;
    let start = Instant::now();
    let Some(mending) = mend.mending() else {
        let run = |progress: &_| commands::lint::run(selection, request, progress);
        let linted = terminal.watch(run)?;
        tell_damage(&linted);
        return tell(&linted, asked, selection, start.elapsed(), terminal);
    };
    let run =
        |progress: &_| commands::mend::run(selection, request, &mending, mend.writing(), progress);
    let mended = terminal.watch(run)?;
    tell_damage(&mended.linted);
    let verdict = match mend.writing() {
        Writing::Files => tell(&mended.linted, asked, selection, start.elapsed(), terminal)?,
        Writing::Nothing => {
            print(|out| report::difference::write(&mended.files, &terminal.style, out))?;
            code(&mended.linted, asked)
        }
    };
    hygiene::tell_mended(&mended, &mending, mend.writing());
    Ok(if mended.faulty.is_empty() { verdict } else { ExitCode::from(2) })
}

/// Says on standard error that what the base had accepted is not known.
fn tell_damage(linted: &Linted) {
    match linted {
        Linted::Two(outcome) => {
            if let Some(damage) = &outcome.compared.damaged_baseline {
                complain(&format!(
                    "warning: the earlier side is taken as without a baseline: {damage}\n"
                ));
            }
        }
        Linted::One(..) => {}
    }
}

fn code(linted: &Linted, asked: &Asked) -> ExitCode {
    match linted {
        Linted::One(checked, _) if checked.internal_error => ExitCode::from(2),
        Linted::One(checked, _) => {
            ExitCode::from(u8::from(asked.fail_on.is_reached(checked.findings.counts())))
        }
        Linted::Two(outcome) => lint_verdict(outcome, asked),
    }
}

/// Writes the reports, and gives the exit code.
fn tell(
    linted: &Linted,
    asked: &Asked,
    selection: &Selection,
    elapsed: Duration,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let look = asked.look;
    let (checked, configured) = match linted {
        Linted::One(checked, configured) => (checked, configured),
        Linted::Two(outcome) => {
            write_lint(outcome, asked, selection, elapsed, terminal)?;
            return Ok(code(linted, asked));
        }
    };
    let outputs =
        outputs::wanted(&asked.outputs.output, configured, selection, &asked.request.wanted)?;
    let links = asked.outputs.links(configured);
    if asked.request.wanted.auto {
        complain("nothing says with what to compare: only the present state is checked\n");
    }
    let findings = &*checked.findings.reported(look.lists_each(), &checked.sources);
    let semantics = configuration::chosen_semantics(configured, selection.meaning);
    let totals = totals(checked, findings.counts(), semantics, elapsed);
    let view = view(checked);
    let shown = match look.ignored {
        Ignored::Counted => findings.clone(),
        Ignored::Shown => findings.with_suppressed(&checked.sources),
    };
    let statistics = report::statistics::of_findings(findings);
    let report = LazyCell::new(|| {
        Report::of_findings(findings, &totals, &view).with_links(links).with_times(times())
    });
    let manner = look.manner();
    deliver(&outputs, &selection.directory, terminal, |format, style, out| {
        match (format, look.told) {
            (Format::Full, told) => {
                match told {
                    Told::Findings => report::terminal::write(&shown, &view, style, out)?,
                    Told::Statistics => report::statistics::write(&statistics, style, out)?,
                }
                report::terminal::write_totals(&totals, style, out)
            }
            (Format::Concise, Told::Findings) => {
                report::terminal::write_concise(&shown, &view, style, out)
            }
            (Format::Concise, Told::Statistics) => {
                report::statistics::write(&statistics, style, out)
            }
            (Format::Of(form), _) => form.write(&report, &manner, out),
        }
    })?;
    Ok(code(linted, asked))
}

fn write_lint(
    outcome: &Outcome,
    asked: &Asked,
    selection: &Selection,
    elapsed: Duration,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let look = asked.look;
    let outputs = outputs::wanted(
        &asked.outputs.output,
        &outcome.configured,
        selection,
        &asked.request.wanted,
    )?;
    let links = asked.outputs.links(&outcome.configured);
    let sources = &outcome.compared.checked.sources;
    let findings = &outcome.compared.findings.reported(look.lists_each(), sources);
    let compared = Compared { findings: Some(findings), ..told(outcome, selection, elapsed) };
    let view = view(&outcome.compared.checked);
    let suppressed = match look.ignored {
        Ignored::Counted => Findings::default(),
        Ignored::Shown => {
            Findings { diagnostics: findings.suppressed.clone(), ..Findings::default() }
        }
    };
    let statistics = report::statistics::of_comparison(findings);
    let report = LazyCell::new(|| {
        Report::of_comparison(&compared, &view).with_links(links).with_times(times())
    });
    let manner = look.manner();
    deliver(&outputs, &selection.directory, terminal, |format, style, out| {
        match (format, look.told) {
            (Format::Full, Told::Findings) => {
                report::comparison::write(&compared, look.comparison, &view, style, out)?;
                report::terminal::write(&suppressed, &view, style, out)
            }
            (Format::Full | Format::Concise, Told::Statistics) => {
                report::statistics::write(&statistics, style, out)
            }
            (Format::Concise, Told::Findings) => {
                let new = findings.new.listed(look.lists_each());
                report::terminal::write_concise(&new, &view, style, out)?;
                match look.comparison.unchanged {
                    Unchanged::Counted => {}
                    Unchanged::Shown => {
                        report::terminal::write_concise(&findings.unchanged, &view, style, out)?;
                    }
                }
                report::terminal::write_concise(&suppressed, &view, style, out)
            }
            (Format::Of(form), _) => form.write(&report, &manner, out),
        }
    })
}

pub(super) fn diff(
    arguments: DiffArgs,
    directory: PathBuf,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let look = arguments.reach.look(Unchanged::Counted, terminal);
    let verdict = arguments.verdict();
    let DiffArgs { a, b, comparison, reach, brief, outputs, .. } = arguments;
    let comparison =
        ComparisonArgs { from: a.or(comparison.from), to: b.or(comparison.to), ..comparison };
    let request = reach.request(comparison)?;
    let selection =
        RepositoryArgs { rev: None, site: arguments.site, repository: arguments.repository };
    let selection = Selection {
        meaning: arguments.meaning.meaning(),
        configuration: arguments.config.place(),
        ..selection.selection(directory)
    };
    outputs::allow(&outputs.output, &selection.directory, &[])?;
    let start = Instant::now();
    let outcome =
        terminal.watch(|progress| commands::compare::run(&selection, &request, progress))?;
    let Some(outcome) = outcome else { return Err(nothing_to_compare(&request).into()) };
    let compared = told(&outcome, &selection, start.elapsed());
    let view = view(&outcome.compared.checked);
    let links = outputs.links(&outcome.configured);
    let report = LazyCell::new(|| {
        Report::of_comparison(&compared, &view).with_links(links).with_times(times())
    });
    let manner = LintLook::of_diff(look).manner();
    let outputs = outputs::or_full(outputs.output);
    deliver(&outputs, &selection.directory, terminal, |format, style, out| match format {
        Format::Full if brief => {
            report::comparison::write_brief(&compared, look, &view, style, out)
        }
        Format::Full => report::comparison::write(&compared, look, &view, style, out),
        Format::Concise => report::comparison::write_brief(&compared, look, &view, style, out),
        Format::Of(form) => form.write(&report, &manner, out),
    })?;
    complain(&unreadable(&outcome, &view, terminal)?);
    Ok(diff_verdict(&outcome, &request, verdict, &view, terminal)?)
}

/// What of the head could not be read, for `diff`, which looks for no other findings:
/// nothing that it tells of these files is certain.
fn unreadable(outcome: &Outcome, view: &View<'_>, terminal: &Terminal) -> std::io::Result<String> {
    let findings = &outcome.compared.findings;
    let head = findings.new.diagnostics.iter().chain(&findings.unchanged.diagnostics);
    let diagnostics: Vec<_> = head.filter(|it| it.rule.is(Trait::Unreadable)).cloned().collect();
    let mut text = Vec::new();
    if !diagnostics.is_empty() {
        let unreadable = Findings { diagnostics, ..Findings::default() };
        report::terminal::write_concise(&unreadable, view, &terminal.style, &mut text)?;
        if !outcome.sides.is_first() {
            writeln!(
                text,
                "note: what cannot be read is not compared; its documents count as removed"
            )?;
        }
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn nothing_to_compare(request: &Request) -> Error {
    let message = if request.wanted.auto {
        "nothing around here says with what to compare"
    } else {
        "it is not said what to compare"
    };
    let help = "name a revision: `layercake diff main`, or see `layercake diff --help`";
    Error::new(ErrorKind::Usage, message).with_help(help)
}

/// A comparison as reports are told of it.
pub(super) fn told<'a>(
    outcome: &'a Outcome,
    selection: &Selection,
    elapsed: Duration,
) -> Compared<'a> {
    let semantics = configuration::chosen_semantics(&outcome.configured, selection.meaning);
    Compared {
        comparison: &outcome.compared.comparison,
        sides: &outcome.sides,
        findings: None,
        outputs: outcome.outputs,
        semantics: Some(semantics),
        timing: Timing { total: Some(elapsed), ..Timing::default() },
    }
}

/// 2 where layercake itself failed, or was asked to prove what it could not
/// explain; 1 with findings since the base that fail the run, or any such where
/// all are wanted.
fn lint_verdict(outcome: &Outcome, asked: &Asked) -> ExitCode {
    if has_failed(outcome, &asked.request) {
        return ExitCode::from(2);
    }
    let findings = &outcome.compared.findings;
    let is_old_reached = match asked.look.comparison.unchanged {
        Unchanged::Counted => false,
        Unchanged::Shown => asked.fail_on.is_reached(findings.unchanged.counts()),
    };
    let is_reached = asked.fail_on.is_reached(findings.new.counts());
    ExitCode::from(u8::from(is_reached || is_old_reached))
}

/// As [`lint_verdict`], but only what the gates say counts as an error, a
/// change where that is wanted, and neither where nothing is to fail the run.
fn diff_verdict(
    outcome: &Outcome,
    request: &Request,
    verdict: Verdict,
    view: &View<'_>,
    terminal: &Terminal,
) -> std::io::Result<ExitCode> {
    let gated = &outcome.compared.gated;
    let mut text = Vec::new();
    report::terminal::write_concise(gated, view, &terminal.style, &mut text)?;
    complain(&String::from_utf8_lossy(&text));
    if has_failed(outcome, request) {
        return Ok(ExitCode::from(2));
    }
    let is_gated = gated.counts().errors > 0;
    let has_changes = !outcome.compared.comparison.outputs.is_empty();
    let fails = match verdict {
        Verdict::Gates => is_gated,
        Verdict::Changes => is_gated || has_changes,
        Verdict::Nothing => false,
    };
    Ok(ExitCode::from(u8::from(fails)))
}

fn has_failed(outcome: &Outcome, request: &Request) -> bool {
    let unproven = request.verify == Verify::All && outcome.compared.comparison.unexplained() > 0;
    unproven || outcome.compared.checked.internal_error
}
