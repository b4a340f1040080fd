//! `stale-baseline`: the baseline accepts a finding that is gone.

use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::rule!("stale-baseline", Warning, "the baseline accepts what nobody finds any more");

pub(super) fn word(at: Span, rule: &str, file: &str, gone: usize) -> Diagnostic {
    let message = match gone {
        1 => format!("the baseline accepts a `{rule}` of `{file}` that is gone"),
        _ => format!("the baseline accepts {gone} `{rule}` of `{file}` that are gone"),
    };
    Diagnostic::new(&RULE, message, Label::new(at, "not found any more"))
        .note("it would accept the next such finding, which nobody has looked at")
        .help("`layercake baseline prune` removes what is gone")
        .about(format!("{rule} {file}"))
}
