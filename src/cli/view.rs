//! The view of a run, and its exit codes.

use std::process::ExitCode;

use layercake::check::Checked;
use layercake::commands::names::file_and_line;
pub(super) use layercake::commands::reports::view;
use layercake::report;
use layercake::source::Span;

/// Line that says that the run has findings which are not printed; empty if it has none.
pub(super) fn problems<T>(checked: &Checked<T>) -> String {
    let counts = checked.findings.counts();
    if counts.errors + counts.warnings == 0 {
        return String::new();
    }
    format!(
        "{}; `layercake lint` shows them\n",
        report::format_counts(counts)
    )
}

/// Lines that name the files that cannot be read completely; empty if there are none.
pub(super) fn unread<T>(checked: &Checked<T>) -> String {
    let line = |at: &Span| {
        let place = file_and_line(checked, *at);
        format!("{place} cannot be read: documents of this file may be missing\n")
    };
    checked.unread.iter().map(line).collect()
}

/// Exit code of a query: 0 if it was answered, 2 if layercake itself failed.
pub(super) fn exit_code_of_answer<T>(checked: &Checked<T>) -> ExitCode {
    ExitCode::from(if checked.internal_error { 2 } else { 0 })
}
