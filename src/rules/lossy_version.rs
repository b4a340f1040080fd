//! `lossy-version`: unquoted version that loses digits as a number.

use super::plain_scalars::PlainScalar;
use crate::diagnostic::Diagnostic;
use crate::system::heat::GroupProblem;
use crate::yaml::Value;
use crate::yaml::emit::scalar_text;

super::rule!(
    "lossy-version",
    Warning,
    "unquoted version that loses digits as a number"
);

pub(super) fn report(scalar: &PlainScalar<'_>) -> Option<Diagnostic> {
    let Value::Float(_) = scalar.value else {
        return None;
    };
    let read = scalar_text(scalar.value);
    let is_decimal = scalar
        .text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    if !is_decimal || read == scalar.text || !scalar.names_version() {
        return None;
    }
    let message = format!("the version `{}` is read as the number {read}", scalar.text);
    let finding = scalar.finding(&RULE, message, LABEL);
    Some(finding.help(format!("quote it: `\"{}\"`", scalar.text)))
}

const LABEL: &str = "not the text as written";

/// Finding for a version in a configured property group. layercake uses the text as written there.
pub(super) fn report_configured(problem: &GroupProblem, text: &str, read: &str) -> Diagnostic {
    let message = format!("the version `{text}` is read as the number {read}");
    RULE.finding(message, problem.span, LABEL)
        .help(format!("quote it: `\"{text}\"`"))
}
