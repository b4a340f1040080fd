//! `layercake config`: shows, locates and describes the configuration.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::configuration::{ConfigurationSource, FoundConfiguration, SemanticsFlags};
use super::policy::{Selectors, configured_policy};
use super::{Selection, Start};
use crate::config::{self, SettingOrigin};
use crate::error::Error;
use crate::graph::MissingSource;
use crate::merge::deckhand::Semantics;
use crate::report::settings::SettingRow;

/// Configuration around `directory`.
///
/// # Errors
/// If the configuration cannot be found or is invalid.
pub fn find(directory: &Path, place: &ConfigurationSource) -> Result<FoundConfiguration, Error> {
    if let ConfigurationSource::File(file) = place {
        return super::configuration::at_file(directory, file);
    }
    let selection = Selection {
        configuration: place.clone(),
        ..Selection::of(directory.to_owned())
    };
    let start = Start::find(&selection)?;
    let (layout, _) = start.layouts(&[])?;
    let files = layout
        .iter()
        .flat_map(|layout| &layout.files)
        .map(|file| &file.path);
    config::refuse_in_layers(files.filter(|_| start.finds_configuration(&selection)))?;
    start.configured(&selection)
}

/// Path of the configuration file, if there is one.
pub fn path(found: &FoundConfiguration) -> Option<PathBuf> {
    let file = found.config.file.as_ref()?;
    let name = Path::new(file.path.as_str());
    let inside = || Some(found.folder.as_ref()?.join(name.file_name()?));
    Some(inside().unwrap_or_else(|| name.to_owned()))
}

/// Every setting with its value and source; flags override the file.
///
/// # Errors
/// If a flag names an unknown rule.
pub fn show(
    found: &FoundConfiguration,
    meaning: SemanticsFlags,
    selectors: &Selectors,
) -> Result<Vec<SettingRow>, Error> {
    configured_policy(selectors, &found.config)?;
    let mut rows: Vec<SettingRow> = config::settings(&found.config)
        .into_iter()
        .map(|setting| {
            let origin = match setting.origin {
                SettingOrigin::Default => "default".to_owned(),
                SettingOrigin::File(place) => place,
            };
            SettingRow {
                key: setting.key,
                value: setting.value,
                origin,
            }
        })
        .collect();
    for (key, flag, value) in flags(meaning, selectors) {
        if let Some(row) = rows.iter_mut().find(|row| row.key == key) {
            (row.value, row.origin) = (value, flag.to_owned());
        }
    }
    Ok(rows)
}

/// Settings given by flags.
fn flags(
    meaning: SemanticsFlags,
    selectors: &Selectors,
) -> Vec<(&'static str, &'static str, Json)> {
    let semantics = meaning.semantics.map(|semantics| match semantics {
        Semantics::Documented => "documented",
        Semantics::Deckhand => "deckhand",
    });
    let missing_source = meaning.missing_source.map(|level| match level {
        MissingSource::Error => "error",
        MissingSource::Warning => "warning",
    });
    let words = |words: &[String]| (!words.is_empty()).then(|| Json::from(words));
    let flags = [
        ("semantics", "--semantics", semantics.map(Json::from)),
        (
            "render.missing-substitution-source",
            "--missing-substitution-source",
            missing_source.map(Json::from),
        ),
        ("rules.select", "--select", words(&selectors.select)),
        (
            "rules.extend-select",
            "--extend-select",
            words(&selectors.extend_select),
        ),
        ("rules.ignore", "--ignore", words(&selectors.ignore)),
    ];
    flags
        .into_iter()
        .filter_map(|(key, flag, value)| Some((key, flag, value?)))
        .collect()
}
