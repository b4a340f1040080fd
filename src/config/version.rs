//! Version requirements of a configuration.

/// Whether `version` meets `requirement`, such as `>=0.1, <2`: conditions separated by commas, each
/// an operator and a version of one to three numbers. Missing numbers are zero. A version without
/// an operator is a minimum, as with `>=`.
///
/// # Errors
/// The condition that cannot be parsed.
pub(super) fn meets(version: &str, requirement: &str) -> Result<bool, String> {
    let version = numbers(version).ok_or_else(|| version.to_owned())?;
    let mut is_met = true;
    for condition in requirement.split(',').map(str::trim) {
        let (holds, wanted) = operator(condition);
        let wanted = numbers(wanted.trim()).ok_or_else(|| condition.to_owned())?;
        is_met &= holds(&version, &wanted);
    }
    Ok(is_met)
}

type VersionNumbers = [u64; 3];
type VersionComparison = fn(&VersionNumbers, &VersionNumbers) -> bool;

/// Operators, before their own prefixes.
const OPERATORS: [(&str, VersionComparison); 6] = [
    (">=", |one, other| one >= other),
    ("<=", |one, other| one <= other),
    ("==", |one, other| one == other),
    (">", |one, other| one > other),
    ("<", |one, other| one < other),
    ("=", |one, other| one == other),
];

fn operator(condition: &str) -> (VersionComparison, &str) {
    let found = OPERATORS
        .iter()
        .find_map(|(text, holds)| Some((*holds, condition.strip_prefix(text)?)));
    found.unwrap_or((|one, other| one >= other, condition))
}

/// Parses a version of up to three numbers; a suffix after `-` or `+` is ignored.
pub(super) fn numbers(text: &str) -> Option<VersionNumbers> {
    let plain = text.split(['-', '+']).next()?;
    let mut version = [0; 3];
    for (at, part) in plain.split('.').enumerate() {
        let is_plain = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        *version.get_mut(at)? = part.parse().ok().filter(|_| is_plain)?;
    }
    Some(version)
}
