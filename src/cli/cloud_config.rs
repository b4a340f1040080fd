//! `layercake cloud-config` on the command line.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use layercake::check::Checked;
use layercake::commands::cloud_config::{merge, merge_declared};
use layercake::error::{Error, ErrorKind};
use layercake::report::{
    self, ChosenBy, ChosenSemantics, Detail, DocumentOptions, FindingFilter, ReportedSemantics,
    TerminalOptions, TerminalStyle, model,
};

use super::arguments::{CloudConfigArgs, RenderFormat};
use super::comparison::{Judge, report_of_one};
use super::streams::{VerbFailure, complain, print, standard_input};
use super::terminal::{PAGE, Terminal};
use super::view::{problems, verdict, view};

/// Merges the parts and prints the result.
pub(super) fn cloud_config(
    arguments: CloudConfigArgs,
    directory: PathBuf,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let (mut parts, sets, format) = (arguments.named(), arguments.set.clone(), arguments.format);
    let look = DocumentOptions { show_secrets: false, with_origin: arguments.with_origin };
    let selection = arguments.selection(directory);
    if parts.has_standard_input() {
        parts.standard_input = standard_input()?;
    }
    let are_named = !parts.is_empty();
    if !are_named && parts.dialect.is_some() {
        let message = "`--dialect` needs parts given as arguments";
        let help = "set `dialect` of a declared set in `layercake.yaml`";
        return Err(Error::new(ErrorKind::Usage, message).with_help(help).into());
    }
    let mut checked = terminal.watch(|progress| {
        if are_named {
            merge(&selection, &parts, progress)
        } else {
            merge_declared(&selection, &sets, progress)
        }
    })?;
    let merged: Vec<_> = checked.sites.iter_mut().filter_map(|site| site.taken.take()).collect();
    let view = view(&checked);
    print(|out| match format {
        RenderFormat::Yaml => report::cloud_config::write(&merged, &view, look, out),
        RenderFormat::Json => report::model::rendered(&merged, look, out),
    })?;
    if merged.iter().all(|site| site.documents.is_empty()) {
        complain("no requested set has a file in these sites\n");
    }
    if are_named {
        // No other command can show findings of named parts.
        complain(&findings(&checked)?);
    } else {
        complain(&problems(&checked));
    }
    Ok(verdict(&checked))
}

/// All findings as text.
fn findings<T>(checked: &Checked<T>) -> io::Result<String> {
    let style = TerminalStyle { width: PAGE, color: false, unicode: true, links: false };
    let verdict = Judge::USUAL.verdict(model::RunOutcome::Passed);
    let semantics =
        ChosenSemantics { meaning: ReportedSemantics::Documented, chosen_by: ChosenBy::Default };
    let listing = FindingFilter::default();
    let report = report_of_one(checked, verdict, listing, semantics, Duration::ZERO);
    let look =
        TerminalOptions { listing, limit: TerminalOptions::DEFAULT_LIMIT, detail: Detail::Usual };
    let mut text = Vec::new();
    report::terminal::write_findings(&report, look, &style, &mut text)?;
    if checked.findings.counts().all() > 0 {
        writeln!(text, "{}", report::format_counts(checked.findings.counts()))?;
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}
