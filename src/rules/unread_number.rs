//! `unread-number`: unquoted number that Deckhand's YAML parser reads as a string.

use super::plain_scalars::PlainScalar;
use crate::diagnostic::Diagnostic;
use crate::yaml::Value;

super::rule!(
    "unread-number",
    Warning,
    "unquoted number that Deckhand's YAML parser reads as a string"
);

pub(super) fn report(scalar: &PlainScalar<'_>) -> Option<Diagnostic> {
    let is_text = matches!(scalar.value, Value::String(_));
    if !is_text || !is_number(scalar.text) || scalar.names_version() {
        return None;
    }
    let message = format!("`{}` is read as a string, not as a number", scalar.text);
    let finding = scalar.finding(&RULE, message, "a number in YAML 1.2, but not in YAML 1.1");
    Some(
        finding
            .note("Deckhand reads YAML 1.1; YAML 1.2 parsers read a number in its output")
            .help("quote it if it is a string, or write the number out"),
    )
}

/// Whether the core schema of YAML 1.2 resolves the text to a number (10.3.2).
fn is_number(text: &str) -> bool {
    if let Some(octal) = text.strip_prefix("0o") {
        return !octal.is_empty() && octal.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_decimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    let is_exponent = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !digits.is_empty() && is_decimal(digits)
    });
    has_digits && is_decimal(whole) && is_decimal(fraction) && is_exponent
}
