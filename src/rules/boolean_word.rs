//! `boolean-word`: an unquoted value such as `yes` is read as a boolean.

use super::plain_scalars::{PlainScalar, ScalarRole};
use crate::diagnostic::Diagnostic;
use crate::yaml::emit::scalar_text;

super::rule!(
    "boolean-word",
    Warning[Strict],
    "unquoted value such as `yes` that is read as a boolean"
);

pub(super) fn report(scalar: &PlainScalar<'_>) -> Option<Diagnostic> {
    if scalar.role != ScalarRole::Value || !scalar.is_boolean_word() {
        return None;
    }
    let text = scalar.text;
    let value = scalar_text(scalar.value);
    let message = format!("`{text}` is read as `{value}`");
    let finding = scalar.finding(
        &RULE,
        message,
        "a boolean in YAML 1.1, a string in YAML 1.2",
    );
    Some(finding.help(format!("write `{value}`, or quote it if it is a string")))
}
