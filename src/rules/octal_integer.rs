//! `octal-integer`: unquoted number with a leading zero that is read as octal.

use super::plain_scalars::{PlainScalar, has_word};
use crate::diagnostic::Diagnostic;
use crate::yaml::Value;
use crate::yaml::emit::scalar_text;

super::rule!(
    "octal-integer",
    Warning,
    "unquoted number with a leading zero that is read as octal"
);

/// Words in keys whose values are meant as octal.
const IN_BASE_EIGHT: [&str; 4] = ["mode", "perm", "permission", "umask"];

pub(super) fn report(scalar: &PlainScalar<'_>) -> Option<Diagnostic> {
    if !matches!(scalar.value, Value::Int(_) | Value::BigInt(_)) {
        return None;
    }
    let digits = scalar.text.trim_start_matches(['+', '-']);
    let is_octal = digits.len() > 1
        && digits.starts_with('0')
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    // Up to seven, octal and decimal agree.
    let is_another = digits.trim_start_matches('0').len() > 1;
    if !is_octal || !is_another || scalar.keys().next().is_some_and(is_in_base_eight) {
        return None;
    }
    let text = scalar.text;
    let value = scalar_text(scalar.value);
    let message = format!("`{text}` is read as the integer {value}");
    let finding = scalar.finding(&RULE, message, "a leading zero means octal");
    let plain = digits.trim_start_matches('0');
    Some(finding.help(format!(
        "quote it if it is a string; otherwise write `{plain}` or `{value}`"
    )))
}

fn is_in_base_eight(key: &str) -> bool {
    has_word(key, &IN_BASE_EIGHT)
}
