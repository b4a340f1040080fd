//! What `lint` changes in files on request, and the baseline.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgGroup, Args, Subcommand};
use layercake::commands::baseline::WrittenBaseline;
use layercake::commands::mend::{FixMode, Mended, Mending};
use layercake::commands::{self, BaselineChoice, Selection};
use layercake::diagnostic::Safety;
use layercake::report::{self, counted};

use super::arguments::{CloneArgs, ConfigArgs, MeaningArgs};
use super::streams::{VerbFailure, complain, print};
use super::terminal::Terminal;

/// Which findings were accepted before.
#[derive(Debug, Args)]
pub(super) struct BaselineArgs {
    /// Read what was accepted from this file, not from `.layercake-baseline.json`
    #[arg(long, value_name = "FILE", help_heading = "What is reported")]
    baseline: Option<PathBuf>,

    /// Report also what the baseline accepts
    #[arg(long, conflicts_with = "baseline", help_heading = "What is reported")]
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

/// What of the findings is to be mended.
#[derive(Debug, Args)]
#[command(next_help_heading = "Changing files")]
#[command(group(ArgGroup::new("fixing").args(["fix", "diff"]).multiple(true)))]
pub(super) struct MendArgs {
    /// Mend what can be mended for certain, and report the rest
    ///
    /// Changes files of the working tree; everything but the faults stays as it
    /// is, byte for byte.
    #[arg(long, conflicts_with = "rev")]
    fix: bool,

    /// Apply unsafe fixes too: they need more than the files show, such as a version of Deckhand
    #[arg(long, requires = "fixing", conflicts_with = "add_ignore")]
    unsafe_fixes: bool,

    /// Print what `--fix` or `--add-ignore` would change, and change nothing
    #[arg(long, conflicts_with = "rev")]
    diff: bool,

    /// Write a comment beside every finding, so that it is not reported any more
    ///
    /// `# layercake: ignore[RULE] REASON`, at the end of its line or above it;
    /// `ignore-document` behind the `---` of its document where neither can be.
    #[arg(long, value_name = "REASON", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", conflicts_with_all = ["fix", "rev"])]
    add_ignore: Option<String>,
}

impl MendArgs {
    pub(super) fn mending(&self) -> Option<Mending> {
        match (&self.add_ignore, self.fix || self.diff) {
            (Some(reason), _) => Some(Mending::Ignore(reason.clone())),
            (None, true) => Some(Mending::Fix(self.safety())),
            (None, false) => None,
        }
    }

    fn safety(&self) -> Safety {
        if self.unsafe_fixes { Safety::Unsafe } else { Safety::Safe }
    }

    pub(super) fn writing(&self) -> FixMode {
        if self.diff { FixMode::Nothing } else { FixMode::Files }
    }
}

const WRITE_EXAMPLES: &str = "\
Examples:
  layercake baseline write                       accept all that lint reports
  layercake baseline write --baseline old.json   in a file of another name

Exit codes: 0 it is written, 2 layercake could not do its work.

Next: commit the file; `layercake lint` then reports what else it finds.";

const PRUNE_EXAMPLES: &str = "\
Examples:
  layercake baseline prune    take out what is mended since

Exit codes: 0 what is stale is taken out, 2 layercake could not do its work.

Next: commit the file; `layercake baseline show` prints what is left.";

const SHOW_EXAMPLES: &str = "\
Examples:
  layercake baseline show    what is accepted, one line for each finding

Exit codes: 0 it is printed, 2 layercake could not do its work.

Next: `layercake lint --no-baseline` reports all of it again, with its lines.";

/// What is to become of the baseline.
#[derive(Debug, Subcommand)]
pub(super) enum BaselineVerb {
    /// Accept all that `lint` reports now
    #[command(after_help = WRITE_EXAMPLES)]
    Write(BaselinePlace),
    /// Take out what nobody finds any more
    #[command(after_help = PRUNE_EXAMPLES)]
    Prune(BaselinePlace),
    /// Print what is accepted
    #[command(after_help = SHOW_EXAMPLES)]
    Show(BaselinePlace),
}

#[derive(Debug, Args)]
pub(super) struct BaselinePlace {
    /// The file, if it is not `.layercake-baseline.json` at the root
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
        let baseline = self.baseline.map_or(BaselineChoice::Usual, BaselineChoice::Named);
        let (meaning, configuration) = (self.meaning.meaning(), self.config.place());
        let selection = self.clones.selection(directory);
        Selection { meaning, configuration, baseline, ..selection }
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
            print(|out| report::write_for_people(out, |out| report::baseline::write(&rows, out)))?;
            return Ok(ExitCode::SUCCESS);
        }
        BaselineVerb::Write(place) => {
            let selection = place.selection(directory);
            terminal.watch(|progress| commands::baseline::write(&selection, progress))?
        }
        BaselineVerb::Prune(place) => {
            let selection = place.selection(directory);
            terminal.watch(|progress| commands::baseline::prune(&selection, progress))?
        }
    };
    let WrittenBaseline { path, accepted, gone } = written;
    let gone = gone.map(|gone| format!(", {gone} fewer than before")).unwrap_or_default();
    print(|out| writeln!(out, "{path} accepts {}{gone}", counted(accepted, "finding")))?;
    Ok(ExitCode::SUCCESS)
}

/// Says on standard error what became of the files.
pub(super) fn tell_mended(mended: &Mended, mending: &Mending, writing: FixMode) {
    for refused in &mended.refused {
        complain(&format!("{refused}\n"));
    }
    for path in &mended.faulty {
        complain(&format!(
            "error: a change of `{path}` would have made something worse, and was not made\n  \
             help: this is a fault of layercake, please report it\n"
        ));
    }
    let done = match (mending, writing) {
        (Mending::Fix(_), FixMode::Files) => "fixed",
        (Mending::Fix(_), FixMode::Nothing) => "would fix",
        (Mending::Ignore(_), FixMode::Files) => "ignored",
        (Mending::Ignore(_), FixMode::Nothing) => "would ignore",
    };
    let (findings, files) = (counted(mended.count, "finding"), counted(mended.files.len(), "file"));
    complain(&format!("{done} {findings} in {files}\n"));
    let is_safe = matches!(mending, Mending::Fix(Safety::Safe));
    if is_safe && mended.unsafe_fixes > 0 {
        let left = counted(mended.unsafe_fixes, "finding");
        complain(&format!("{left} left with an unsafe fix: `--unsafe-fixes` applies it\n"));
    }
}
