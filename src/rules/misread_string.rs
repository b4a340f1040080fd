//! `misread-string`: unquoted string that Deckhand's YAML parser reads as a number.

use super::plain_scalars::PlainScalar;
use crate::diagnostic::Diagnostic;
use crate::yaml::Value;
use crate::yaml::emit::scalar_text;

super::rule!(
    "misread-string",
    Warning,
    "unquoted string that Deckhand's YAML parser reads as a number"
);

pub(super) fn report(scalar: &PlainScalar<'_>) -> Option<Diagnostic> {
    if !matches!(
        scalar.value,
        Value::Int(_) | Value::BigInt(_) | Value::Float(_)
    ) {
        return None;
    }
    let why = match scalar.text {
        text if text.contains(':') => "digits with colons are a base-60 number",
        text if text.contains('_') => "digits with underscores are a number",
        _ => return None,
    };
    let message = format!(
        "`{}` is read as the number {}",
        scalar.text,
        scalar_text(scalar.value)
    );
    Some(
        scalar
            .finding(&RULE, message, why)
            .note("YAML 1.1, which Deckhand reads, has such numbers; YAML 1.2 does not")
            .help("quote it"),
    )
}
