//! The view of a run, and its exit codes.

use std::process::ExitCode;

use layercake::check::Checked;
use layercake::report::{self, View};

pub(super) fn view<T>(checked: &Checked<T>) -> View<'_> {
    View::new(&checked.sources, &checked.secrets, &checked.opaque)
}

/// 0 without errors, 1 with errors, 2 where layercake itself failed.
pub(super) fn verdict<T>(checked: &Checked<T>) -> ExitCode {
    if checked.internal_error {
        return ExitCode::from(2);
    }
    ExitCode::from(u8::from(checked.findings.counts().errors > 0))
}

/// A line that says that what was printed is not the whole story; nothing
/// where it is.
pub(super) fn problems<T>(checked: &Checked<T>) -> String {
    let counts = checked.findings.counts();
    if counts.errors + counts.warnings == 0 {
        return String::new();
    }
    format!("{}; `layercake lint` shows them\n", report::counts_words(counts))
}

/// 0 if a question was answered, 2 if layercake itself failed.
pub(super) fn exit_code_of_answer<T>(checked: &Checked<T>) -> ExitCode {
    ExitCode::from(if checked.internal_error { 2 } else { 0 })
}
