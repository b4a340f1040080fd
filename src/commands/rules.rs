//! `layercake rules`: the rules and their levels here.

use super::configuration::FoundConfiguration;
use super::policy::{Selectors, configured_policy};
use crate::diagnostic::Level;
use crate::error::Error;
use crate::report::rules::RuleRow;
use crate::rules::{self, GROUPS, RULES};

/// Every rule with its configured level; only the selected ones if selectors are given.
///
/// # Errors
/// If a selector is unknown.
pub fn run(selectors: &Selectors, configured: &FoundConfiguration) -> Result<Vec<RuleRow>, Error> {
    let (_, policy) = configured_policy(selectors, &configured.config)?;
    let rows = RULES.iter().map(|rule| RuleRow {
        rule,
        level: policy.levels.of(rule, "", None),
        groups: groups_of(rule.name),
    });
    let only = !selectors.select.is_empty();
    Ok(rows
        .filter(|row| !only || row.level != Level::Off)
        .collect())
}

fn groups_of(rule: &str) -> Vec<&'static str> {
    let has = |group: &str| {
        let rules = rules::selected(group).unwrap_or_default();
        rules.iter().any(|other| other.name == rule)
    };
    GROUPS
        .iter()
        .map(|(group, _)| *group)
        .filter(|group| has(group))
        .collect()
}
