//! `layercake explain [RULE]`: a rule's page, or the list of all rules.

use super::policy::unknown;
use crate::diagnostic::Rule;
use crate::error::Error;
use crate::rules;

/// Rules with this name: a single rule, or those of a Pegleg code or of a group.
///
/// # Errors
/// If there are none; the help suggests a similar name.
pub fn rules_of(name: &str) -> Result<Vec<&'static Rule>, Error> {
    match rules::find(name) {
        Some(rule) => Ok(vec![rule]),
        None => rules::selected(name).ok_or_else(|| unknown(name)),
    }
}
