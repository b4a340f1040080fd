//! Derives the options of the rules and the policy for their findings from flags and configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use globset::GlobSet;

use crate::config::{Config, GlobPattern, RuleSettings, Rules};
use crate::diagnostic::{Level, Rule};
use crate::error::Error;
use crate::near::nearest_in_any_case;
use crate::rules::{self, GROUPS, RULES};
use crate::system::heat::{ComponentVersion, Versions};
use crate::triage::{Levels, TriagePolicy};

/// Rules selected by flags, by names, Pegleg codes and groups.
#[derive(Clone, Debug, Default)]
pub struct Selectors {
    /// Only these; the default ones if empty.
    pub select: Vec<String>,
    /// Additional rules.
    pub extend_select: Vec<String>,
    /// Excluded rules, regardless of other settings.
    pub ignore: Vec<String>,
    /// Rules whose findings are warnings.
    pub warn: Vec<String>,
}

/// Options of the rules, and the policy for their findings. Selectors override the configuration.
///
/// # Errors
/// If a selector is unknown.
pub(crate) fn configured_policy(
    selectors: &Selectors,
    config: &Config,
) -> Result<(rules::RuleOptions, TriagePolicy), Error> {
    let flags = RuleFlags::of(selectors)?;
    let of_glob = |pattern: &GlobPattern, settings: &RuleSettings| {
        let glob = GlobSet::builder().add(pattern.glob.clone()).build();
        let glob = glob.map_err(|error| {
            Error::usage("a glob of the configuration is too large").caused_by(error)
        })?;
        Ok((glob, flags.above(special(settings)?)))
    };
    let per_path = config
        .rules
        .per_path
        .iter()
        .map(|(paths, settings)| of_glob(paths, settings));
    let per_site = config
        .sites
        .iter()
        .map(|site| of_glob(&site.sites, &site.rules));
    let levels = Levels {
        general: general(&flags, &config.rules)?,
        per_path: per_path.collect::<Result<_, Error>>()?,
        per_site: per_site.collect::<Result<_, Error>>()?,
    };
    let wanted = RULES
        .iter()
        .filter(|rule| levels.can_count(rule))
        .map(|rule| rule.name);
    let mut settings = rules::RuleOptions {
        wanted: wanted.collect(),
        ..rules::RuleOptions::default()
    };
    let references = config.references.iter();
    settings
        .references
        .extend(references.map(|reference| rules::Reference {
            schema: reference.schema.value.clone(),
            path: reference.path.clone(),
            target: reference.target.value.clone(),
        }));
    settings.versions = versions(config);
    settings.expiring_days = config.expiring_days.unwrap_or(settings.expiring_days);
    Ok((settings, TriagePolicy { levels }))
}

/// Versions of the programs that read rendered documents.
fn versions(config: &Config) -> Versions {
    let named = config.client_versions.iter();
    Versions {
        unnamed: config.client_version.as_deref().map(ComponentVersion::new),
        named: named
            .map(|(name, version)| (name.clone(), ComponentVersion::new(version)))
            .collect(),
    }
}

/// Rules given by flags.
struct RuleFlags {
    /// `None` if no flag selects rules.
    select: Option<BTreeSet<&'static str>>,
    extend_select: BTreeSet<&'static str>,
    ignore: BTreeSet<&'static str>,
    warn: BTreeSet<&'static str>,
}

impl RuleFlags {
    fn of(selectors: &Selectors) -> Result<Self, Error> {
        let select = match &selectors.select[..] {
            [] => None,
            words => Some(named(words)?),
        };
        Ok(Self {
            select,
            extend_select: named(&selectors.extend_select)?,
            ignore: named(&selectors.ignore)?,
            warn: named(&selectors.warn)?,
        })
    }

    /// Levels for some files or sites, without the rules that a flag turns off or makes warnings.
    fn above(&self, levels: BTreeMap<&'static str, Level>) -> BTreeMap<&'static str, Level> {
        let mut levels = levels;
        levels.retain(|rule, level| {
            let is_off = self.ignore.contains(rule)
                || self.select.as_ref().is_some_and(|select| {
                    !select.contains(rule) && !self.extend_select.contains(rule)
                });
            *level == Level::Off || !(is_off || self.warn.contains(rule))
        });
        levels
    }
}

/// General level of every rule, without settings of files or sites.
fn general(flags: &RuleFlags, rules: &Rules) -> Result<BTreeMap<&'static str, Level>, Error> {
    let named_levels = levels(&rules.general.levels)?;
    let mut selected = match &flags.select {
        Some(select) => select.clone(),
        None => configured(rules, &named_levels)?,
    };
    selected.extend(flags.extend_select.iter().chain(&flags.warn));
    selected.retain(|rule| !flags.ignore.contains(rule));
    let level = |rule: &Rule| {
        if !selected.contains(rule.name) {
            return Level::Off;
        }
        let named = named_levels
            .get(rule.name)
            .filter(|level| **level != Level::Off);
        if flags.warn.contains(rule.name) {
            return Level::Warning;
        }
        named.copied().unwrap_or(rule.severity.into())
    };
    Ok(RULES.iter().map(|rule| (rule.name, level(rule))).collect())
}

/// Rules that the configuration selects. A rule with a configured level is selected, too.
fn configured(
    rules: &Rules,
    levels: &BTreeMap<&'static str, Level>,
) -> Result<BTreeSet<&'static str>, Error> {
    let mut selected = match &rules.select[..] {
        [] => named(["default"])?,
        words => named(words)?,
    };
    selected.extend(named(&rules.extend_select)?);
    if rules.require_reason {
        selected.extend(named(["missing-ignore-reason"])?);
    }
    for (rule, level) in levels {
        match level {
            Level::Off => drop(selected.remove(rule)),
            Level::Note | Level::Warning | Level::Error => drop(selected.insert(rule)),
        }
    }
    for rule in named(&rules.general.ignore)? {
        selected.remove(rule);
    }
    Ok(selected)
}

/// Levels for some files or sites.
fn special(settings: &RuleSettings) -> Result<BTreeMap<&'static str, Level>, Error> {
    let mut levels = levels(&settings.levels)?;
    levels.extend(
        named(&settings.ignore)?
            .into_iter()
            .map(|rule| (rule, Level::Off)),
    );
    Ok(levels)
}

/// Levels by rule: a rule's name takes precedence over a code or group that contains it.
fn levels(words: &[(Arc<str>, Level)]) -> Result<BTreeMap<&'static str, Level>, Error> {
    let mut levels = BTreeMap::new();
    let (names, groups): (Vec<_>, Vec<_>) = words
        .iter()
        .partition(|(word, _)| rules::find(word).is_some());
    for (word, level) in groups.into_iter().chain(names) {
        levels.extend(named([word])?.into_iter().map(|rule| (rule, *level)));
    }
    Ok(levels)
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

/// Error for a word that names no rules; the help suggests a similar name.
pub(super) fn unknown(word: &str) -> Error {
    let names = RULES
        .iter()
        .map(|rule| rule.name)
        .chain(GROUPS.iter().map(|(name, _)| *name));
    let near = nearest_in_any_case(word, names);
    let help = near.map(|near| format!("did you mean `{near}`?"));
    let help = help.unwrap_or_else(|| "run `layercake explain` to list all rules".to_owned());
    Error::usage(format!("unknown rule `{word}`"))
        .with_help(help)
        .about("rule", word)
}
