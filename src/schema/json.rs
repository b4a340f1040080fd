//! Validation of plain JSON against layercake's own schemas.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value as Json;

/// A violation in a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonFault {
    /// JSON pointer to the value.
    pub pointer: String,
    /// Description of the violation, without the value.
    pub reason: String,
}

/// Returns the first violation of `schema` in `value`.
///
/// # Panics
/// If `schema` is not a valid JSON Schema; it is one of layercake's own.
pub fn json_fault(schema: &str, value: &Json) -> Option<JsonFault> {
    let schema = serde_json::from_str(schema).expect("a schema of layercake is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema of layercake is valid");
    let error = validator.iter_errors(value).next()?;
    let deepest = deepest(&error);
    let pointer = deepest.instance_path().to_string();
    Some(JsonFault {
        pointer,
        reason: deepest.masked().to_string(),
    })
}

/// Descends into the alternative whose error has the longest path: of `null` or an object, the
/// object.
fn deepest<'e>(error: &'e ValidationError<'e>) -> &'e ValidationError<'e> {
    let inside = match error.kind() {
        ValidationErrorKind::AnyOf { context } => context,
        ValidationErrorKind::OneOfNotValid { context } => context,
        _ => return error,
    };
    let depth = |error: &ValidationError<'_>| error.instance_path().as_str().matches('/').count();
    let inside = inside.iter().flatten().map(deepest);
    inside.fold(error, |best, next| {
        if depth(next) > depth(best) {
            next
        } else {
            best
        }
    })
}
