//! `boolean-word`: an unquoted value such as `yes` is read as true or false.

use super::plain_scalars::{PlainScalar, ScalarRole};
use crate::diagnostic::Diagnostic;
use crate::yaml::emit::scalar_text;

super::rule!(
    "boolean-word",
    Warning[Strict],
    "an unquoted value such as `yes` is read as true or false"
);

pub(super) fn word(scalar: &PlainScalar<'_>) -> Option<Diagnostic> {
    if scalar.role != ScalarRole::Value || !scalar.is_boolean_word() {
        return None;
    }
    let (text, value) = (scalar.text, scalar_text(scalar.value));
    let message = format!("`{text}` is read as `{value}`");
    let finding = scalar.finding(&RULE, message, "a boolean in YAML 1.1, a text in YAML 1.2");
    Some(finding.help(format!("write `{value}`, or quote it if a text is meant")))
}
