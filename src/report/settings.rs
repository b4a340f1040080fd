//! Effective configuration with the origin of each value.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value as Json;

use super::TerminalStyle;
use super::model::write_json;
use super::printable::clean;
use super::terminal::painted;
use super::text::TextRole;

/// One setting.
#[derive(Clone, Debug, Serialize)]
pub struct SettingRow {
    /// Key, with dots between levels.
    pub(crate) key: String,
    /// Value; null if not set.
    pub(crate) value: Json,
    /// Origin of the value: `default`, `FILE:LINE`, or a flag.
    pub(crate) origin: String,
}

/// Writes one line for each setting: key, value as JSON, and origin.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write(rows: &[SettingRow], style: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    for SettingRow { key, value, origin } in rows {
        let value = match value {
            Json::Null => "-".to_owned(),
            value => value.to_string(),
        };
        let key = painted(key, TextRole::Name, style);
        let origin = painted(&format!("# {}", clean(origin)), TextRole::Dim, style);
        writeln!(out, "{key}: {}  {origin}", clean(&value))?;
    }
    Ok(())
}

/// Writes the settings as JSON.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_settings_json(rows: &[SettingRow], out: &mut dyn Write) -> io::Result<()> {
    write_json(&SettingsReport { settings: rows }, out)
}

#[derive(Serialize)]
struct SettingsReport<'a> {
    settings: &'a [SettingRow],
}
