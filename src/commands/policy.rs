//! From what a user selects to what the rules are told and what becomes of
//! their findings.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Level, Rule};
use crate::error::{Error, ErrorKind};
use crate::near::nearest;
use crate::rules::{self, GROUPS, RULES};
use crate::triage::{Levels, Policy};

/// The rules that a user wants, by names, Pegleg's codes and groups.
#[derive(Clone, Debug, Default)]
pub struct Selectors {
    /// Only these; those that are on by default where none is given.
    pub select: Vec<String>,
    /// These too.
    pub extend_select: Vec<String>,
    /// Not these, whatever else is said.
    pub ignore: Vec<String>,
}

/// What the rules are told, and what becomes of their findings.
///
/// # Errors
/// Where a word selects nothing.
pub fn policy(selectors: &Selectors) -> Result<(rules::Settings, Policy), Error> {
    let levels = Levels { general: general(selectors)?, ..Levels::default() };
    let wanted = RULES.iter().filter(|rule| levels.can_count(rule)).map(|rule| rule.name);
    let settings = rules::Settings { wanted: wanted.collect(), ..rules::Settings::default() };
    Ok((settings, Policy { levels }))
}

/// The level of every rule.
fn general(selectors: &Selectors) -> Result<BTreeMap<&'static str, Level>, Error> {
    let mut selected: BTreeSet<&str> = match &selectors.select[..] {
        [] => named(["default"])?,
        words => named(words)?,
    };
    selected.extend(named(&selectors.extend_select)?);
    for ignored in named(&selectors.ignore)? {
        selected.remove(ignored);
    }
    let level = |rule: &Rule| {
        if selected.contains(rule.name) { rule.severity.into() } else { Level::Off }
    };
    Ok(RULES.iter().map(|rule| (rule.name, level(rule))).collect())
}

fn named<W: AsRef<str>>(
    words: impl IntoIterator<Item = W>,
) -> Result<BTreeSet<&'static str>, Error> {
    let mut names = BTreeSet::new();
    for word in words {
        let rules = rules::selected(word.as_ref()).ok_or_else(|| unknown(word.as_ref()))?;
        names.extend(rules.iter().map(|rule| rule.name));
    }
    Ok(names)
}

fn unknown(word: &str) -> Error {
    let error = Error::new(ErrorKind::Usage, format!("there is no rule `{word}`"));
    let names = RULES.iter().map(|rule| rule.name).chain(GROUPS.iter().map(|(name, _)| *name));
    match nearest(word, names) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None => error.with_help("`layercake explain` lists the rules"),
    }
}
