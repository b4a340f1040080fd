//! `lint` and `diff`: their requests, their verdict and the delivery of their reports.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use clap::builder::PossibleValuesParser;
use layercake::certificate::CheckTime;
use layercake::commands::compare::{ComparisonRequest, SitesToRead, Verify};
use layercake::commands::configuration::{self, ConfigurationSource, FoundConfiguration};
use layercake::commands::documents::DocumentGlobs;
use layercake::commands::fix::FixMode;
use layercake::commands::lint::Linted;
use layercake::commands::names::revisions_and_files;
use layercake::commands::places::entered;
use layercake::commands::reports::{Judge, report_of_changes, report_of_linted};
use layercake::commands::sides::SideSelection;
use layercake::commands::{self, CheckClock, Selection};
use layercake::deployment::{Action, Caution};
use layercake::error::Error;
use layercake::report::model::{FailureCriterion, RunOutcome, RunVerdict};
use layercake::report::{self, Detail, FindingFilter, Format, Links, TerminalOptions};
use layercake::rules::RULES;

use super::arguments::{
    ComparisonArgs, DocumentArgs, FailOn, FailOnItem, FilesArgs, OutputArgs, OutputArgument,
    ReadingArgs, RuleArgs, SelectionArgs,
};
use super::candidates;
use super::environment::environment;
use super::hygiene::{self, BaselineArgs, FixArgs};
use super::outputs::{self, Delivery};
use super::streams::{VerbFailure, complain, print};
use super::terminal::Terminal;
use super::watching::watch;

/// Options of a comparison that do not depend on its two sides.
#[derive(Debug, Args)]
pub(super) struct ReachArgs {
    /// Fail if an edit changes outputs in more than N sites
    #[arg(long, value_name = "N", help_heading = "Comparison")]
    max_sites: Option<usize>,

    /// Fail if an edit changes more than N outputs
    #[arg(long, value_name = "N", help_heading = "Comparison")]
    max_outputs: Option<usize>,

    /// Fail if an edit asks for a larger action of Shipyard
    ///
    /// It also fails if it is not known which action an edit asks for.
    #[arg(long, value_name = "ACTION", help_heading = "Comparison")]
    #[arg(value_parser = PossibleValuesParser::new(Action::ALL.iter().map(|it| it.as_str())))]
    max_action: Option<String>,

    /// Fail if rendered data changes, to prove a refactoring
    ///
    /// With `=GLOB`, only in matching sites, or in matching outputs `SITE:SCHEMA:NAME`.
    #[arg(long, value_name = "GLOB", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "*", help_heading = "Comparison")]
    expect_unchanged: Option<Vec<String>>,

    /// Leave out charts, chart groups and manifests that no action of Shipyard deploys
    #[arg(long, help_heading = "Comparison")]
    deployed: bool,

    /// Match list items by KEY, in addition to `name` and `id`
    #[arg(long, value_name = "KEY", help_heading = "Comparison")]
    list_key: Vec<String>,

    /// Check all causes and edits without effect by rendering
    #[arg(long, help_heading = "Comparison")]
    verify_attribution: bool,
}

impl ReachArgs {
    /// Request for a comparison that also fails on some cautions.
    pub(super) fn request(
        &self,
        wanted: SideSelection,
        fail_on_cautions: Vec<Caution>,
    ) -> Result<ComparisonRequest, Error> {
        let is_given = self.is_given() || !fail_on_cautions.is_empty();
        if is_given && wanted == SideSelection::default() {
            let message = "these flags need a comparison, but none is requested";
            let help = "pass `--since REV`, `--staged`, `--from REV`, `--bump NAME=REV` \
                 or `--auto`";
            return Err(Error::usage(message).with_help(help));
        }
        Ok(ComparisonRequest {
            environment: environment(&wanted)?,
            wanted,
            verify: if self.verify_attribution {
                Verify::All
            } else {
                Verify::Nothing
            },
            max_sites: self.max_sites,
            max_outputs: self.max_outputs,
            max_action: self.max_action.as_deref().and_then(Action::of),
            fail_on_cautions,
            expect_unchanged: self.expect_unchanged.clone(),
            list_keys: self.list_key.clone(),
            deployed: self.deployed,
            documents: DocumentGlobs::default(),
        })
    }

    fn is_given(&self) -> bool {
        self.max_sites.is_some()
            || self.max_outputs.is_some()
            || self.max_action.is_some()
            || self.expect_unchanged.is_some()
            || self.deployed
            || self.verify_attribution
            || !self.list_key.is_empty()
    }
}

/// Level of detail of a report for people.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct LookArgs {
    /// Print complete lists and values
    #[arg(short, long, conflicts_with = "limit")]
    verbose: bool,

    /// Print at most N entries of each list; 0 for all [default: 8]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Print nothing if the run passes without new warnings
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
}

impl LookArgs {
    pub(super) fn look(self, listing: FindingFilter) -> TerminalOptions {
        let detail = match (self.verbose, self.quiet) {
            (true, _) => Detail::Whole,
            (false, true) => Detail::OnlyFaults,
            (false, false) => Detail::Usual,
        };
        let limit = if self.verbose {
            0
        } else {
            self.limit.unwrap_or(TerminalOptions::DEFAULT_LIMIT)
        };
        TerminalOptions {
            listing,
            limit,
            detail,
        }
    }
}

/// Arguments of `diff`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(super) struct DiffArgs {
    /// Earlier revision, as `--from` [default: HEAD, without another comparison], and later one, as
    /// `--to` [default: the working tree]
    ///
    /// `A..B` names both; `A...B` compares B with the merge base of A and B.
    #[arg(value_name = "A", add = candidates::sides())]
    words: Vec<String>,

    /// Only edits of these files or folders, and the outputs that they changed
    #[arg(value_name = "PATH", last = true)]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    comparison: ComparisonArgs,

    #[command(flatten)]
    reach: ReachArgs,

    /// Exit with 1 if rendered documents changed
    #[arg(long, help_heading = "Comparison")]
    exit_code: bool,

    /// Exit with 0 regardless of changes and gates
    #[arg(long, conflicts_with = "exit_code", help_heading = "Comparison")]
    exit_zero: bool,

    /// Print all differences of rendered documents
    #[arg(short, long, conflicts_with = "stat", help_heading = "Output")]
    patch: bool,

    /// Print only the statistics and the table of sites
    #[arg(long, help_heading = "Output")]
    stat: bool,

    #[command(flatten)]
    look: LookArgs,

    #[command(flatten)]
    outputs: OutputArgs,

    /// Only sites whose name matches this glob
    #[arg(long, value_name = "GLOB", help_heading = "Document selection")]
    #[arg(add = candidates::sites())]
    site: Vec<String>,

    #[command(flatten)]
    documents: DocumentArgs,

    #[command(flatten)]
    reading: ReadingArgs,
}

impl DiffArgs {
    fn judge(&self) -> Judge {
        match (self.exit_code, self.exit_zero) {
            (true, _) => Judge {
                judges: FailureCriterion::Changes,
                ..Judge::GATES
            },
            (false, true) => Judge {
                fail_on: FailOn::Never.severity(),
                ..Judge::GATES
            },
            (false, false) => Judge::GATES,
        }
    }

    fn look(&self) -> TerminalOptions {
        // `diff` reports only the findings without which its result would be misleading.
        let look = self.look.look(FindingFilter {
            all: true,
            ignored: false,
        });
        match (self.patch, self.stat) {
            (true, _) => TerminalOptions {
                limit: 0,
                detail: Detail::Whole,
                ..look
            },
            (_, true) => TerminalOptions {
                detail: Detail::Figures,
                ..look
            },
            (false, false) => look,
        }
    }
}

/// Arguments of `lint`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(super) struct LintArgs {
    // first, because the comparison flags are the most used ones
    #[command(flatten)]
    comparison: ComparisonArgs,

    #[command(flatten)]
    reach: ReachArgs,

    #[command(flatten)]
    rules: RuleArgs,

    /// Read configuration and baseline from the earlier side of the comparison
    ///
    /// A change then cannot weaken the gate that checks it.
    #[arg(long, conflicts_with_all = ["config", "isolated"])]
    #[arg(help_heading = "Configuration")]
    config_from_base: bool,

    /// Exit with 1 if there are findings of this level or above: `error`, `warning`, `note` or `never`
    ///
    /// With `caution:NAME`, also if an edit has the caution, or if that is not known.
    #[arg(long, value_name = "LEVEL|caution:NAME", value_delimiter = ',')]
    #[arg(default_value = "error", help_heading = "Output")]
    #[arg(add = candidates::failures())]
    fail_on: Vec<FailOnItem>,

    /// Exit with 0 regardless of findings, as `--fail-on never`
    #[arg(long, conflicts_with = "fail_on", help_heading = "Output")]
    exit_zero: bool,

    #[command(flatten)]
    baseline: BaselineArgs,

    #[command(flatten)]
    fix: FixArgs,

    /// List every finding, including consequences of one missing document and, with a
    /// comparison, findings of both sides
    #[arg(long, help_heading = "Output")]
    all_findings: bool,

    /// Judge certificates at TIME instead of today: a date, or a date and time, as in RFC 3339
    ///
    /// On a date, a certificate has to be valid at some time of the day, in UTC.
    #[arg(long, value_name = "TIME", help_heading = "Certificates")]
    now: Option<CheckTime>,

    /// Fail if no certificate is checked, so that a job cannot pass without checking any
    #[arg(long, help_heading = "Certificates")]
    #[arg(conflicts_with_all = ["since", "staged", "from", "auto", "bump", "watch", "fix", "exit_zero"])]
    require_certificates: bool,

    /// Keep running, and report new and fixed findings after each change of files
    ///
    /// With `--since`, compares again after each change. Prints findings only, and ends on Ctrl-C.
    #[arg(long, help_heading = "Output")]
    #[arg(conflicts_with_all = ["staged", "from", "auto", "bump", "rev", "fix", "diff", "add_ignore"])]
    #[arg(conflicts_with_all = ["statistics", "output", "open", "exit_zero", "fail_on"])]
    watch: bool,

    /// Also show findings suppressed by comments or the baseline
    #[arg(long, help_heading = "Output")]
    show_ignored: bool,

    /// Print the number of findings per rule instead of the findings
    #[arg(long, help_heading = "Output")]
    statistics: bool,

    #[command(flatten)]
    look: LookArgs,

    #[command(flatten)]
    outputs: OutputArgs,

    #[command(flatten)]
    files: FilesArgs,

    #[command(flatten)]
    selection: SelectionArgs,
}

impl LintArgs {
    /// The selection to read and the request.
    fn request(self, directory: PathBuf) -> Result<(Selection, LintRequest), Error> {
        let cautions: Vec<Caution> = self.fail_on.iter().filter_map(|it| it.caution()).collect();
        let request = self.reach.request(self.comparison.wanted(), cautions)?;
        refuse_revision(&self.selection, &request.wanted)?;
        let fail_on = FailOnItem::level(&self.fail_on)?;
        let listing = FindingFilter {
            all: self.all_findings,
            ignored: self.show_ignored,
        };
        let selection = self.selection.selection(directory);
        let configuration = if self.config_from_base {
            ConfigurationSource::Base
        } else {
            selection.configuration
        };
        let selection = self.files.entered(Selection {
            selectors: self.rules.selectors(),
            baseline: self.baseline.choice(),
            configuration,
            clock: self.now.map_or(selection.clock, CheckClock::At),
            ..selection
        })?;
        let request = LintRequest {
            request,
            look: self.look.look(listing),
            statistics: self.statistics,
            watch: self.watch,
            fix: self.fix,
            fail_on: if self.exit_zero {
                FailOn::Never
            } else {
                fail_on
            },
            requires_certificates: self.require_certificates,
            outputs: self.outputs,
        };
        Ok((selection, request))
    }
}

/// A `lint` request apart from the files to read.
struct LintRequest {
    request: ComparisonRequest,
    look: TerminalOptions,
    /// Whether to print only the number of findings per rule.
    statistics: bool,
    /// Whether to keep running.
    watch: bool,
    fix: FixArgs,
    fail_on: FailOn,
    requires_certificates: bool,
    /// Reports to write; if empty, those of the configuration.
    outputs: OutputArgs,
}

impl LintRequest {
    /// Sites that a comparison reads: all, if findings that both sides have are listed.
    fn reading(&self) -> SitesToRead {
        let lists_unchanged = self
            .outputs
            .output
            .iter()
            .any(OutputArgument::lists_unchanged);
        if self.look.listing.all || self.statistics || lists_unchanged {
            SitesToRead::All
        } else {
            SitesToRead::Reached
        }
    }

    /// Reports to write: those of the flags, or else of the configuration.
    fn reports(
        &self,
        linted: &Linted,
        selection: &Selection,
    ) -> Result<Vec<OutputArgument>, Error> {
        let configured = match linted {
            Linted::One(_, configured, _) => configured,
            Linted::Two(outcome) => &outcome.configured,
        };
        outputs::wanted(&self.outputs, configured, selection, &self.request.wanted)
    }

    fn judge(&self) -> Judge {
        let all = self.look.listing.all;
        let judges = if all {
            FailureCriterion::AllFindings
        } else {
            FailureCriterion::NewFindings
        };
        Judge {
            fail_on: self.fail_on.severity(),
            judges,
            requires_certificates: self.requires_certificates,
        }
    }
}

pub(super) fn exit_code(verdict: RunVerdict) -> ExitCode {
    ExitCode::from(match verdict.outcome {
        RunOutcome::Passed => 0,
        RunOutcome::Failed => 1,
        RunOutcome::InternalError => 2,
    })
}

impl OutputArgs {
    /// Link template: the flag, or else the configuration.
    fn links(&self, configured: &FoundConfiguration) -> Option<Links> {
        self.links
            .clone()
            .or_else(|| configuration::links(configured))
    }
}

/// Rejects `--rev` together with a comparison, which selects its own revisions.
///
/// # Errors
/// If both are given.
fn refuse_revision(selection: &SelectionArgs, wanted: &SideSelection) -> Result<(), Error> {
    if selection.repository.rev.is_none() || *wanted == SideSelection::default() {
        return Ok(());
    }
    let message = "`--rev` cannot be used with a comparison";
    let help = "use `--from REV --to REV` to compare two revisions";
    Err(Error::usage(message).with_help(help))
}

pub(super) fn lint(
    arguments: LintArgs,
    directory: PathBuf,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let (selection, asked) = &arguments.request(directory)?;
    let LintRequest {
        request,
        fix,
        outputs,
        ..
    } = asked;
    if asked.watch {
        return watch(selection, request, asked.look, terminal);
    }
    let baseline = outputs::named_baseline(selection);
    outputs::allow(&outputs.output, &selection.directory, baseline.as_slice())?;
    outputs.allow_open(&outputs.output)?;
    let start = Instant::now();
    let Some(action) = fix.action() else {
        let run = |reading| {
            terminal.watch(|control| commands::lint::run(selection, request, reading, control))
        };
        let linted = run(asked.reading())?;
        let reports = asked.reports(&linted, selection)?;
        let lists_unchanged = reports.iter().any(OutputArgument::lists_unchanged);
        let linted = if lists_unchanged && leaves_sites_out(&linted) {
            run(SitesToRead::All)?
        } else {
            linted
        };
        warn_damaged_baseline(&linted);
        return write_reports(
            &linted,
            reports,
            asked,
            selection,
            start.elapsed(),
            terminal,
        );
    };
    let run = |control: &_| commands::fix::run(selection, request, &action, fix.mode(), control);
    let fixed = terminal.watch(run)?;
    warn_damaged_baseline(&fixed.linted);
    let verdict = match fix.mode() {
        FixMode::Files => {
            let reports = asked.reports(&fixed.linted, selection)?;
            let elapsed = start.elapsed();
            write_reports(&fixed.linted, reports, asked, selection, elapsed, terminal)?
        }
        FixMode::Nothing => {
            print(|out| report::difference::write(&fixed.files, &terminal.style, out))?;
            exit_code(asked.judge().of_linted(&fixed.linted, request))
        }
    };
    hygiene::report_fixes(&fixed, &action, fix.mode());
    Ok(if fixed.faulty.is_empty() {
        verdict
    } else {
        ExitCode::from(2)
    })
}

/// Warns that the baseline of the earlier side is unusable.
fn warn_damaged_baseline(linted: &Linted) {
    match linted {
        Linted::Two(outcome) => {
            if let Some(damage) = &outcome.compared.damaged_baseline {
                complain(&format!(
                    "warning: ignoring the baseline of the earlier side: {damage}\n"
                ));
            }
        }
        Linted::One(..) => {}
    }
}

/// Whether sites were not read, since no edit can reach them.
fn leaves_sites_out(linted: &Linted) -> bool {
    match linted {
        Linted::One(..) => false,
        Linted::Two(outcome) => {
            let mut sites = outcome.compared.comparison.sites.iter();
            sites.any(|site| !site.is_read)
        }
    }
}

/// Writes the reports and returns the exit code.
fn write_reports(
    linted: &Linted,
    reports: Vec<OutputArgument>,
    asked: &LintRequest,
    selection: &Selection,
    elapsed: Duration,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let configured = match linted {
        Linted::One(_, configured, _) => configured,
        Linted::Two(outcome) => &outcome.configured,
    };
    if asked.request.wanted.auto && matches!(linted, Linted::One(..)) {
        complain("found nothing to compare with; checking only the current state\n");
    }
    let verdict = asked.judge().of_linted(linted, &asked.request);
    let report = report_of_linted(linted, verdict, asked.look.listing, selection, elapsed);
    if asked.requires_certificates && report.has_no_certificate() {
        complain("error: no certificate was checked, and `--require-certificates` needs one\n");
    }
    let report = report.with_links(asked.outputs.links(configured));
    let delivery = Delivery {
        outputs: reports,
        open: asked.outputs.open,
        directory: &selection.directory,
    };
    delivery.deliver(terminal, |format, style, out| match format {
        Format::Full | Format::Concise if asked.statistics => {
            report::statistics::write(&report, style, out)
        }
        Format::Full | Format::Concise | Format::Of(_) => {
            format.write(&report, (asked.look, style), RULES, out)
        }
    })?;
    Ok(exit_code(verdict))
}

pub(super) fn diff(
    arguments: DiffArgs,
    directory: PathBuf,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let (look, judge) = (arguments.look(), arguments.judge());
    let DiffArgs {
        words,
        paths,
        comparison,
        reach,
        outputs,
        ..
    } = arguments;
    let selection = Selection {
        sites: arguments.site,
        ..arguments.reading.selection(directory)
    };
    let (revisions, mut files) = revisions_and_files(&selection, words)?;
    files.extend(paths);
    let wanted = sides_named(comparison.wanted(), revisions)?;
    let documents = arguments.documents.globs();
    let request = ComparisonRequest {
        documents,
        ..reach.request(wanted.or_from_head(), Vec::new())?
    };
    let selection = entered(Selection { files, ..selection })?;
    outputs::allow(&outputs.output, &selection.directory, &[])?;
    outputs.allow_open(&outputs.output)?;
    let start = Instant::now();
    let outcome = terminal.watch(|control| {
        commands::compare::run(&selection, &request, SitesToRead::Reached, control)
    })?;
    let Some(outcome) = outcome else {
        return Err(nothing_detected().into());
    };
    let (report, verdict) =
        report_of_changes(&outcome, (judge, &request), &selection, start.elapsed());
    let report = report.with_links(outputs.links(&outcome.configured));
    let OutputArgs { output, open, .. } = outputs;
    let outputs = outputs::or_full(output);
    let delivery = Delivery {
        outputs,
        open,
        directory: &selection.directory,
    };
    delivery.deliver(terminal, |format, style, out| {
        format.write(&report, (look, style), RULES, out)
    })?;
    Ok(exit_code(verdict))
}

/// The sides that revisions name, or those of the flags if there are none.
///
/// # Errors
/// If both are given.
fn sides_named(flags: SideSelection, revisions: Vec<String>) -> Result<SideSelection, Error> {
    let is_flagged = flags != SideSelection::default();
    let mut revisions = revisions.into_iter();
    let Some(from) = revisions.next() else {
        return Ok(flags);
    };
    if is_flagged {
        let message =
            format!("`{from}` cannot be used with another flag that selects what to compare");
        let help = "name revisions either as A and B, or by flags";
        return Err(Error::usage(message).with_help(help));
    }
    Ok(SideSelection {
        from: Some(from),
        to: revisions.next(),
        ..flags
    })
}

fn nothing_detected() -> Error {
    let help = "for example `layercake diff main`; see `layercake diff --help`";
    Error::usage("`--auto` found nothing to compare with").with_help(help)
}
