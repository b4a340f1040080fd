//! `lint --watch`: prints what each change of files does, until a signal or a closed pipe ends it.

use std::io::{self, ErrorKind};
use std::process::ExitCode;

use layercake::commands::Selection;
use layercake::commands::compare::ComparisonRequest;
use layercake::commands::watch::Watch;
use layercake::report::terminal::{write_concise, write_findings};
use layercake::report::{TerminalOptions, format_counts};

use super::streams::{VerbFailure, explain_failure, print_to_reader};
use super::terminal::Terminal;

pub(super) fn watch(
    selection: &Selection,
    request: &ComparisonRequest,
    options: TerminalOptions,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let style = &terminal.style;
    let (mut watch, report) = Watch::start(selection.clone(), request.clone())?;
    let mut printed = print_to_reader(|out| {
        write_findings(&report, options, style, out)?;
        let counts = format_counts(report.totals.findings);
        writeln!(out, "{counts}; waiting for changes")
    });
    while is_read(printed)? {
        printed = match watch.next_step() {
            Ok(Some(step)) => print_to_reader(|out| {
                write_findings(&step.new, options, style, out)?;
                let mut fixed = Vec::new();
                write_concise(&step.fixed, options, style, &mut fixed)?;
                for line in String::from_utf8_lossy(&fixed).lines() {
                    writeln!(out, "fixed: {line}")?;
                }
                writeln!(
                    out,
                    "{}, {} new, {} fixed",
                    format_counts(step.counts),
                    step.new_count(),
                    step.fixed_count()
                )
            }),
            Ok(None) => Ok(()),
            Err(error) => {
                explain_failure(&error);
                Ok(())
            }
        };
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether standard output still has a reader.
fn is_read(printed: io::Result<()>) -> io::Result<bool> {
    match printed {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error),
    }
}
