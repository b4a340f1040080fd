//! `layercake cloud-config` on the command line.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use layercake::commands::cloud_config::{merge, merge_declared};
use layercake::error::{Error, ErrorKind};
use layercake::report::{self, DocumentsLook, Style, View};
use layercake::triage::Findings;

use super::arguments::{CloudConfigArgs, RenderFormat};
use super::terminal::{PAGE, Terminal};
use super::{Failure, complain, print, problems, standard_input, verdict, view};

/// Merges, and prints what comes of it.
pub(super) fn cloud_config(
    arguments: CloudConfigArgs,
    directory: PathBuf,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let (mut parts, sets, format) = (arguments.named(), arguments.set.clone(), arguments.format);
    let look = DocumentsLook { show_secrets: false, with_origin: arguments.with_origin };
    let selection = arguments.selection(directory);
    if parts.has_standard_input() {
        parts.standard_input = standard_input()?;
    }
    let are_named = !parts.is_empty();
    if !are_named && parts.dialect.is_some() {
        let message = "`--dialect` is for parts that are named";
        let help = "a set that is declared says its `dialect` in `layercake.yaml`";
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
        RenderFormat::Json => report::json::rendered(&merged, look, out),
    })?;
    if merged.iter().all(|site| site.documents.is_empty()) {
        complain("no set that is asked for has a file in these sites\n");
    }
    if are_named {
        // No other command could show them.
        complain(&findings(&checked.findings, &view)?);
    } else {
        complain(&problems(&checked)?);
    }
    Ok(verdict(&checked))
}

/// What was found, in full.
fn findings(findings: &Findings, view: &View<'_>) -> io::Result<String> {
    let style = Style { width: PAGE, color: false, unicode: true, links: false };
    let mut text = Vec::new();
    report::terminal::write(findings, view, &style, &mut text)?;
    let counts = findings.counts();
    if counts.errors + counts.warnings + counts.notes > 0 {
        report::terminal::write_counts(&counts, &mut text)?;
        writeln!(text)?;
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}
