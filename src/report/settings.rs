//! The configuration, setting by setting, and the origin of each value.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value as Json;

use super::model::write_json;
use super::printable::clean;

/// One setting.
#[derive(Clone, Debug, Serialize)]
pub struct SettingRow {
    /// Its key, with dots between the levels.
    pub(crate) key: String,
    /// Its value; null where nothing is set.
    pub(crate) value: Json,
    /// Where the value comes from: `default`, `FILE:LINE`, or a flag.
    pub(crate) origin: String,
}

/// Writes one line for each setting: its key, its value as JSON, and where that
/// comes from.
///
/// # Errors
/// Those of `out`.
pub fn write(rows: &[SettingRow], out: &mut dyn Write) -> io::Result<()> {
    for SettingRow { key, value, origin } in rows {
        let value = match value {
            Json::Null => "-".to_owned(),
            value => value.to_string(),
        };
        writeln!(out, "{key}: {}  # {}", clean(&value), clean(origin))?;
    }
    Ok(())
}

/// Writes the settings for programs.
///
/// # Errors
/// Those of `out`.
pub fn write_settings_json(rows: &[SettingRow], out: &mut dyn Write) -> io::Result<()> {
    write_json(&SettingsReport { settings: rows }, out)
}

#[derive(Serialize)]
struct SettingsReport<'a> {
    settings: &'a [SettingRow],
}
