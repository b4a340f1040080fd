//! Plain JSON against a schema of layercake's own.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value as Json;

/// Where a JSON text is not as a schema says, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonFault {
    /// A JSON pointer to the value.
    pub pointer: String,
    /// The fault, without the value.
    pub reason: String,
}

/// The first fault of `value` by `schema`.
///
/// # Panics
/// Where `schema` is not a JSON Schema: it is one of layercake's own.
pub fn json_fault(schema: &str, value: &Json) -> Option<JsonFault> {
    let schema = serde_json::from_str(schema).expect("a schema of layercake is JSON");
    let validator = jsonschema::validator_for(&schema).expect("and can be used");
    let error = validator.iter_errors(value).next()?;
    let deepest = deepest(&error);
    let pointer = deepest.instance_path().to_string();
    Some(JsonFault { pointer, reason: deepest.masked().to_string() })
}

/// The error behind one of several alternatives that is furthest inside: of `null` or an object
/// it is that of the object.
fn deepest<'e>(error: &'e ValidationError<'e>) -> &'e ValidationError<'e> {
    let inside = match error.kind() {
        ValidationErrorKind::AnyOf { context } => context,
        ValidationErrorKind::OneOfNotValid { context } => context,
        _ => return error,
    };
    let depth = |error: &ValidationError<'_>| error.instance_path().as_str().matches('/').count();
    let inside = inside.iter().flatten().map(deepest);
    inside.fold(error, |best, next| if depth(next) > depth(best) { next } else { best })
}
