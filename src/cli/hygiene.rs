//! Fixes and ignore comments that `lint` writes on request, and the baseline.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgGroup, Args, Subcommand};
use layercake::commands::baseline::WrittenBaseline;
use layercake::commands::fix::{FixAction, FixMode, FixOutcome};
use layercake::commands::{self, BaselineChoice, Selection};
use layercake::diagnostic::Safety;
use layercake::report::{self, counted};

use super::arguments::{CloneArgs, ConfigArgs, MeaningArgs};
use super::streams::{VerbFailure, complain, print};
use super::terminal::Terminal;

/// Findings accepted before.
#[derive(Debug, Args)]
pub(super) struct BaselineArgs {
    /// Read accepted findings from FILE instead of `.layercake-baseline.json`
    #[arg(long, value_name = "FILE", help_heading = "Baseline")]
    baseline: Option<PathBuf>,

    /// Also report findings that the baseline accepts
    #[arg(long, conflicts_with = "baseline", help_heading = "Baseline")]
    no_baseline: bool,
}

impl BaselineArgs {
    pub(super) fn choice(self) -> BaselineChoice {
        match (self.baseline, self.no_baseline) {
            (Some(file), _) => BaselineChoice::Named(file),
            (None, true) => BaselineChoice::Nothing,
            (None, false) => BaselineChoice::Usual,
        }
    }
}

/// Findings to fix or to ignore.
#[derive(Debug, Args)]
#[command(next_help_heading = "Fixes")]
#[command(group(ArgGroup::new("fixing").args(["fix", "diff"]).multiple(true)))]
pub(super) struct FixArgs {
    /// Apply safe fixes, and report the remaining findings
    ///
    /// Changes files of the working tree; keeps all other bytes unchanged.
    #[arg(long, conflicts_with = "rev")]
    fix: bool,

    /// Also apply unsafe fixes: guesses, and what depends on the Deckhand version
    ///
    /// A guess writes the word of a `did you mean` help. Review the changes, for example with
    /// `--diff`.
    #[arg(long, requires = "fixing", conflicts_with = "add_ignore")]
    unsafe_fixes: bool,

    /// Print the changes of `--fix` or `--add-ignore` without applying them
    #[arg(long, conflicts_with_all = ["rev", "open"])]
    diff: bool,

    /// Add an ignore comment for every finding, with an optional REASON
    ///
    /// Writes `# layercake: ignore[RULE] REASON` at the end of the finding's line or above it; if
    /// neither is possible, `ignore-document` after the `---` of its document.
    #[arg(long, value_name = "REASON", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", conflicts_with_all = ["fix", "rev"])]
    add_ignore: Option<String>,
}

impl FixArgs {
    pub(super) fn action(&self) -> Option<FixAction> {
        match (&self.add_ignore, self.fix || self.diff) {
            (Some(reason), _) => Some(FixAction::Ignore(reason.clone())),
            (None, true) => Some(FixAction::Fix(self.safety())),
            (None, false) => None,
        }
    }

    fn safety(&self) -> Safety {
        if self.unsafe_fixes {
            Safety::Unsafe
        } else {
            Safety::Safe
        }
    }

    pub(super) fn mode(&self) -> FixMode {
        if self.diff {
            FixMode::Nothing
        } else {
            FixMode::Files
        }
    }
}

const WRITE_EXAMPLES: &str = "\
Examples:
  layercake baseline write                       accept all current findings
  layercake baseline write --baseline old.json   use another file

Exit codes: 0 the baseline is written, 2 usage or internal error.

Next: commit the file; `layercake lint` then reports only other findings.";

const PRUNE_EXAMPLES: &str = "\
Examples:
  layercake baseline prune    remove entries that are fixed

Exit codes: 0 stale entries are removed, 2 usage or internal error.

Next: commit the file; run `layercake baseline show` to list the rest.";

const SHOW_EXAMPLES: &str = "\
Examples:
  layercake baseline show    list accepted findings, one per line

Exit codes: 0 the baseline is printed, 2 usage or internal error.

Next: run `layercake lint --no-baseline` to report all of them again.";

/// Subcommands of `baseline`.
#[derive(Debug, Subcommand)]
pub(super) enum BaselineVerb {
    /// Accept all findings that `lint` reports now
    #[command(after_help = WRITE_EXAMPLES)]
    Write(BaselinePlace),
    /// Remove entries that no longer match a finding
    #[command(after_help = PRUNE_EXAMPLES)]
    Prune(BaselinePlace),
    /// List the accepted findings
    #[command(after_help = SHOW_EXAMPLES)]
    Show(BaselinePlace),
}

#[derive(Debug, Args)]
pub(super) struct BaselinePlace {
    /// Baseline file; by default `.layercake-baseline.json` at the root
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    #[command(flatten)]
    clones: CloneArgs,

    #[command(flatten)]
    meaning: MeaningArgs,

    #[command(flatten)]
    config: ConfigArgs,
}

impl BaselinePlace {
    fn selection(self, directory: PathBuf) -> Selection {
        let baseline = self
            .baseline
            .map_or(BaselineChoice::Usual, BaselineChoice::Named);
        let (meaning, configuration) = (self.meaning.meaning(), self.config.place());
        let selection = self.clones.selection(directory);
        Selection {
            meaning,
            configuration,
            baseline,
            ..selection
        }
    }
}

pub(super) fn baseline(
    verb: BaselineVerb,
    directory: PathBuf,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let written = match verb {
        BaselineVerb::Show(place) => {
            let rows = commands::baseline::show(&place.selection(directory))?;
            print(|out| {
                report::write_for_people(out, |out| {
                    report::baseline::write(&rows, &terminal.style, out)
                })
            })?;
            return Ok(ExitCode::SUCCESS);
        }
        BaselineVerb::Write(place) => {
            let selection = place.selection(directory);
            terminal.watch(|control| commands::baseline::write(&selection, control))?
        }
        BaselineVerb::Prune(place) => {
            let selection = place.selection(directory);
            terminal.watch(|control| commands::baseline::prune(&selection, control))?
        }
    };
    let WrittenBaseline {
        path,
        accepted,
        listed,
        gone,
    } = written;
    let listed = listed.filter(|listed| *listed != accepted);
    let listed = listed
        .map(|listed| format!(", listed as {listed}"))
        .unwrap_or_default();
    let gone = gone
        .map(|gone| format!(", {gone} fewer than before"))
        .unwrap_or_default();
    print(|out| {
        writeln!(
            out,
            "{path} accepts {}{listed}{gone}",
            counted(accepted, "finding")
        )
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Reports on standard error the changes to files.
pub(super) fn report_fixes(outcome: &FixOutcome, action: &FixAction, mode: FixMode) {
    for refused in &outcome.refused {
        complain(&format!("{refused}\n"));
    }
    for path in &outcome.withheld {
        complain(&format!(
            "warning: an unsafe fix of `{path}` would cause new errors and was not applied\n  \
             help: make the change by hand, and check the file again\n"
        ));
    }
    for path in &outcome.faulty {
        complain(&format!(
            "error: a fix of `{path}` would have caused new findings and was not applied\n  \
             help: this is a bug in layercake; please report it\n"
        ));
    }
    let done = match (action, mode) {
        (FixAction::Fix(_), FixMode::Files) => "fixed",
        (FixAction::Fix(_), FixMode::Nothing) => "would fix",
        (FixAction::Ignore(_), FixMode::Files) => "ignored",
        (FixAction::Ignore(_), FixMode::Nothing) => "would ignore",
    };
    let (findings, files) = (
        counted(outcome.count, "finding"),
        counted(outcome.files.len(), "file"),
    );
    complain(&format!("{done} {findings} in {files}\n"));
    let is_safe = matches!(action, FixAction::Fix(Safety::Safe));
    if is_safe && outcome.unsafe_fixes > 0 {
        let left = counted(outcome.unsafe_fixes, "finding");
        complain(&format!(
            "{left} left with an unsafe fix; pass `--unsafe-fixes` to apply it\n"
        ));
    }
}
