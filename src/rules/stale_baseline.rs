//! `stale-baseline`: the baseline accepts a finding that no longer exists.

use crate::diagnostic::Diagnostic;
use crate::source::Span;

super::rule!(
    "stale-baseline",
    Warning,
    "the baseline accepts a finding that no longer exists"
);

pub(super) fn report(at: Span, rule: &str, file: &str, gone: usize) -> Diagnostic {
    let message = match gone {
        1 => format!("the baseline accepts a `{rule}` finding in `{file}` that no longer exists"),
        _ => format!(
            "the baseline accepts {gone} `{rule}` findings in `{file}` that no longer exist"
        ),
    };
    RULE.finding(message, at, "no longer found")
        .note("it would accept a new finding of this kind without review")
        .help("run `layercake baseline prune` to remove stale entries")
        .about(format!("{rule} {file}"))
}
