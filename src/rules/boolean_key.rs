//! `boolean-key`: an unquoted key such as `on` is read as a boolean.

use super::plain_scalars::{PlainScalar, ScalarRole};
use crate::diagnostic::Diagnostic;
use crate::yaml::emit::scalar_text;

super::rule!(
    "boolean-key", Warning, "unquoted key such as `on` that is read as a boolean";
    File(super::plain_scalars::check, super::plain_scalars::RULES)
);

pub(super) fn report(scalar: &PlainScalar<'_>) -> Option<Diagnostic> {
    if scalar.role != ScalarRole::Key || !scalar.is_boolean_word() {
        return None;
    }
    let text = scalar.text;
    let value = scalar_text(scalar.value);
    let message = format!("the key `{text}` is read as `{value}`");
    let finding = scalar.finding(
        &RULE,
        message,
        "a boolean in YAML 1.1, a string in YAML 1.2",
    );
    Some(
        finding
            .note("paths and schemas cannot refer to it as a string")
            .help(format!("quote it: `\"{text}\"`")),
    )
}
