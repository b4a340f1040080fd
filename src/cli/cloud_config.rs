//! `layercake cloud-config` on the command line.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use layercake::commands::cloud_config::{merge, merge_declared};
use layercake::commands::reports::{Judge, report_of_one};
use layercake::error::Error;
use layercake::report::model::{self, Report};
use layercake::report::{
    self, ChosenBy, ChosenSemantics, Detail, DocumentOptions, FindingFilter, ReportedSemantics,
    TerminalOptions, TerminalStyle,
};
use layercake::rules::RULES;

use super::arguments::{CloudConfigArgs, CloudConfigFormat, RenderFormat};
use super::comparison::exit_code;
use super::streams::{VerbFailure, complain, print, standard_input};
use super::terminal::Terminal;
use super::view::view;

/// Findings to list, also notes, and their number.
const LOOK: TerminalOptions = TerminalOptions {
    listing: FindingFilter {
        all: false,
        ignored: false,
    },
    limit: TerminalOptions::DEFAULT_LIMIT,
    detail: Detail::Whole,
};

/// Semantics of Deckhand, which merging does not depend on.
const SEMANTICS: ChosenSemantics = ChosenSemantics {
    meaning: ReportedSemantics::Documented,
    chosen_by: ChosenBy::Default,
};

/// Merges the parts and prints the result, with the findings on standard error; or prints only the
/// findings.
pub(super) fn cloud_config(
    arguments: CloudConfigArgs,
    directory: PathBuf,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let (mut parts, sets, format) = (arguments.named(), arguments.set.clone(), arguments.format);
    let look = DocumentOptions {
        show_secrets: false,
        with_origin: arguments.with_origin,
    };
    let judge = Judge {
        fail_on: arguments.fail_on.severity(),
        ..Judge::USUAL
    };
    let selection = arguments.selection(directory);
    if parts.has_standard_input() {
        parts.standard_input = standard_input()?;
    }
    let start = Instant::now();
    let mut checked = terminal.watch(|control| match parts.is_empty() {
        true if parts.dialect.is_some() => Err(dialect_without_parts()),
        true => merge_declared(&selection, &sets, control),
        false => merge(&selection, &parts, control),
    })?;
    let merged: Vec<_> = checked
        .sites
        .iter_mut()
        .filter_map(|site| site.taken.take())
        .collect();
    let verdict = judge.of_checked(&checked);
    let report = report_of_one(&checked, verdict, LOOK.listing, SEMANTICS, start.elapsed());
    match format {
        CloudConfigFormat::Report(format) => {
            print(|out| format.write(&report, (LOOK, &terminal.style), RULES, out))?;
        }
        CloudConfigFormat::Merged(RenderFormat::Yaml) => {
            print(|out| report::cloud_config::write(&merged, &view(&checked), look, out))?;
            complain(&findings(&report, terminal)?);
        }
        CloudConfigFormat::Merged(RenderFormat::Json) => {
            print(|out| model::rendered(&merged, look, Some(&report), out))?;
            complain(&findings(&report, terminal)?);
        }
    }
    if merged.iter().all(|site| site.documents.is_empty()) {
        complain("no requested set has a file in these sites\n");
    }
    Ok(exit_code(verdict))
}

fn dialect_without_parts() -> Error {
    let message = "`--dialect` needs parts given as arguments";
    let help = "set `dialect` of a declared set in `layercake.yaml`";
    Error::usage(message).with_help(help)
}

/// All findings as text for standard error; empty if there are none.
fn findings(report: &Report, terminal: &Terminal) -> io::Result<String> {
    let style = TerminalStyle {
        color: false,
        links: false,
        ..terminal.style
    };
    let mut text = Vec::new();
    report::terminal::write_findings(report, LOOK, &style, &mut text)?;
    let counts = report.totals.findings;
    let counts = (counts.all() > 0).then(|| report::format_counts(counts) + "\n");
    Ok(String::from_utf8_lossy(&text).into_owned() + &counts.unwrap_or_default())
}
