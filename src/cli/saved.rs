//! `report`: a saved report in other formats.

use std::cell::LazyCell;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use layercake::error::{Error, ErrorKind};
use layercake::report::comparison::{Grouping, Look, Unchanged};
use layercake::report::json::{self, Report};
use layercake::report::{Format, Ignored, Listing, Manner, Restored};
use layercake::rules::RULES;
use layercake::schema::{JsonFault, json_fault};
use layercake::source::bytes_at;
use layercake::system::deckhand::secrecy::{Folder, NOT_SHOWN, SecretKinds};

use super::arguments::OutputArgs;
use super::terminal::Terminal;
use super::{Failure, deliver, outputs, standard_input};

/// What `report` is told.
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// What `--output json` wrote; `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    outputs: OutputArgs,

    /// With a comparison, report findings of both sides too
    #[arg(long, help_heading = "Output")]
    all_findings: bool,

    /// Show also what comments or the baseline suppress
    #[arg(long, help_heading = "Output")]
    show_ignored: bool,

    /// Show every output by itself, also those that changed alike
    #[arg(long, help_heading = "Output")]
    no_group: bool,

    /// Show so many entries of each list
    #[arg(long, value_name = "N", help_heading = "Output")]
    limit: Option<usize>,
}

impl ReportArgs {
    fn look(&self, terminal: &Terminal) -> Look {
        let usual = if terminal.is_shown { Look::ON_TERMINAL } else { Look::KEPT };
        Look {
            grouping: if self.no_group { Grouping::Apart } else { Grouping::Alike },
            limit: self.limit.unwrap_or(usual),
            unchanged: if self.all_findings { Unchanged::Shown } else { Unchanged::Counted },
        }
    }

    fn ignored(&self) -> Ignored {
        if self.show_ignored { Ignored::Shown } else { Ignored::Counted }
    }
}

/// Writes a saved report in other formats. What it says was judged when it was
/// made: the exit code is 0.
pub(super) fn report(
    arguments: ReportArgs,
    directory: PathBuf,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let (look, ignored) = (arguments.look(terminal), arguments.ignored());
    let ReportArgs { file, outputs, .. } = arguments;
    outputs::allow(&outputs.output, &directory, &[])?;
    let is_piped = file.as_os_str() == "-";
    let bytes = if is_piped { standard_input()? } else { bytes_at(&directory.join(&file))? };
    let name = file.display().to_string();
    let text = String::from_utf8_lossy(&bytes);
    let folder = Folder::on_disk(&directory.join(&file));
    let report = saved(&bytes, &name).map_err(|error| {
        let is_secret = folder.hides(&SecretKinds::default(), &text);
        if is_secret { unreadable(&name, NOT_SHOWN) } else { error }
    });
    let report = report?.with_links(outputs.links);
    let manner = Manner { listing: Listing { unchanged: look.unchanged, ignored }, rules: RULES };
    let outputs = outputs::or_full(outputs.output);
    let restored = LazyCell::new(|| Restored::of(&report));
    if outputs.iter().any(|it| matches!(it.format, Format::Full | Format::Concise))
        && let Err(fault) = &*restored
    {
        return Err(unreadable(&name, &fault.to_string()).into());
    }
    let people = || restored.as_ref().map_err(|fault| io::Error::other(fault.to_string()));
    deliver(&outputs, &directory, terminal, |format, style, out| match format {
        Format::Full => people()?.write(look, ignored, style, out),
        Format::Concise => people()?.write_concise(look, ignored, style, out),
        Format::Of(form) => form.write(&report, &manner, out),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a saved report, which may come from anyone: nothing of it is used that is not as the
/// schema says.
fn saved(bytes: &[u8], name: &str) -> Result<Report, Error> {
    let read = match std::str::from_utf8(bytes) {
        Ok(text) => json::read(text).map_err(|fault| fault.to_string()),
        Err(fault) => Err(fault.to_string()),
    };
    let report = read.map_err(|fault| unreadable(name, &fault))?;
    let value = serde_json::from_slice(bytes).expect("it was read as JSON before");
    match json_fault(json::SCHEMA_TEXT, &value) {
        None => Ok(report),
        Some(JsonFault { pointer, reason }) => {
            let shown: String = reason.chars().take(MAX_REASON).collect();
            let at: String = pointer.chars().take(MAX_REASON).collect();
            let place = if at.is_empty() { "its root".to_owned() } else { format!("`{at}`") };
            Err(unreadable(name, &format!("{place} is not as its schema says: {shown}")))
        }
    }
}

/// Maximum number of characters of what an error quotes.
const MAX_REASON: usize = 200;

fn unreadable(name: &str, fault: &str) -> Error {
    Error::new(ErrorKind::Io, format!("the report `{name}` cannot be read: {fault}"))
        .with_help("save one with `layercake lint --output json=report.json`")
}
