//! `report`: converts a saved report to other formats.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use layercake::commands::configuration::{self, FoundConfiguration};
use layercake::error::Error;
use layercake::report::model::{self, Report};
use layercake::report::{FindingFilter, Format, ReportFormat, counted};
use layercake::rules::RULES;
use layercake::schema::{JsonFault, json_fault};
use layercake::source::bytes_at;
use layercake::system::deckhand::secrecy::{Folder, NOT_SHOWN, SecretKinds};

use super::arguments::{OutputArgs, OutputArgument};
use super::comparison::LookArgs;
use super::outputs::{self, Delivery};
use super::streams::{VerbFailure, complain, standard_input};
use super::terminal::Terminal;

/// Arguments of `report`.
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// Report written by `--output json`; `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    outputs: OutputArgs,

    /// With a comparison, report findings of both sides
    #[arg(long, help_heading = "Output")]
    all_findings: bool,

    /// Also show findings suppressed by comments or the baseline
    #[arg(long, help_heading = "Output")]
    show_ignored: bool,

    #[command(flatten)]
    look: LookArgs,
}

/// Writes a saved report in other formats. Its run was judged when it was saved, so the exit code
/// is 0.
pub(super) fn report(
    arguments: ReportArgs,
    directory: PathBuf,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let ReportArgs {
        file,
        outputs,
        all_findings,
        show_ignored,
        look,
    } = arguments;
    let look = look.look(FindingFilter {
        all: all_findings,
        ignored: show_ignored,
    });
    outputs::allow(&outputs.output, &directory, &[])?;
    outputs.allow_open(&outputs.output)?;
    let is_piped = file.as_os_str() == "-";
    let bytes = if is_piped {
        standard_input()?
    } else {
        bytes_at(&directory.join(&file))?
    };
    let name = file.display().to_string();
    let text = String::from_utf8_lossy(&bytes);
    let folder = Folder::on_disk(&directory.join(&file));
    let report = saved(&bytes, &name).map_err(|error| {
        let is_secret = folder.hides(&SecretKinds::default(), &text);
        if is_secret {
            unreadable(&name, NOT_SHOWN)
        } else {
            error
        }
    });
    // No configuration is read: rule names link to the pages of this build, if any.
    let pages = configuration::rule_pages(&FoundConfiguration::default());
    let report = report?
        .with_links(outputs.links.clone())
        .with_rule_pages(pages);
    report_omitted(&report, &name, all_findings, &outputs.output)?;
    let OutputArgs { output, open, .. } = outputs;
    let delivery = Delivery {
        outputs: outputs::or_full(output),
        open,
        directory: &directory,
    };
    delivery.deliver(terminal, |format, style, out| {
        format.write(&report, (look, style), RULES, out)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Reports that unchanged findings are missing from a saved report, if the run needs them.
///
/// # Errors
/// If they are requested with `--all-findings`. A SARIF file lists its other findings.
fn report_omitted(
    report: &Report,
    name: &str,
    all_findings: bool,
    outputs: &[OutputArgument],
) -> Result<(), Error> {
    if report.omitted_unchanged == 0 {
        return Ok(());
    }
    let count = counted(report.omitted_unchanged, "unchanged finding");
    let message = format!("the report `{name}` was saved without its {count}");
    let help = "save it with `layercake lint --all-findings --output json=FILE`";
    if all_findings {
        return Err(Error::usage(message).with_help(help));
    }
    if outputs
        .iter()
        .any(|output| output.format == Format::Of(ReportFormat::Sarif))
    {
        complain(&format!(
            "warning: {message}, which `sarif` lists\n  help: {help}\n"
        ));
    }
    Ok(())
}

/// Reads a saved report. It is untrusted: a report that does not match the schema is rejected.
fn saved(bytes: &[u8], name: &str) -> Result<Report, Error> {
    let read = match std::str::from_utf8(bytes) {
        Ok(text) => model::read(text).map_err(|fault| fault.to_string()),
        Err(fault) => Err(fault.to_string()),
    };
    let report = read.map_err(|fault| unreadable(name, &fault))?;
    let value = serde_json::from_slice(bytes).expect("already parsed as JSON");
    match json_fault(model::SCHEMA_TEXT, &value) {
        None => Ok(report),
        Some(JsonFault { pointer, reason }) => {
            let shown: String = reason.chars().take(MAX_REASON).collect();
            let at: String = pointer.chars().take(MAX_REASON).collect();
            let place = if at.is_empty() {
                "the root".to_owned()
            } else {
                format!("`{at}`")
            };
            Err(unreadable(
                name,
                &format!("{place} does not match the schema: {shown}"),
            ))
        }
    }
}

/// Maximum number of characters quoted in an error.
const MAX_REASON: usize = 200;

fn unreadable(name: &str, fault: &str) -> Error {
    Error::io(format!("cannot read the report `{name}`: {fault}"))
        .with_help("create one with `layercake lint --output json=report.json`")
}
