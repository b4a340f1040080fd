//! Addresses of files, as clients write them.

use std::path::{Path, PathBuf};

use gen_lsp_types::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Characters of a path that are encoded: all but `/` and those that RFC 3986 does not reserve.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// Path of a file; `None` for other addresses, such as texts that have no file.
pub(super) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let path = uri.0.strip_prefix("file://")?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let decoded = percent_decode_str(path).decode_utf8().ok()?;
    let is_drive =
        matches!(decoded.as_bytes(), [b'/', drive, b':', ..] if drive.is_ascii_alphabetic());
    let path = if cfg!(windows) && is_drive {
        &decoded[1..]
    } else {
        &decoded
    };
    let path = PathBuf::from(path);
    path.is_absolute().then_some(path)
}

/// A part of an address, with `/` encoded.
pub(super) fn encoded(part: &str) -> String {
    utf8_percent_encode(part, NON_ALPHANUMERIC).to_string()
}

/// Address of a file.
pub(super) fn uri_of(path: &Path) -> Uri {
    let text = path.to_string_lossy().replace('\\', "/");
    let root = if text.starts_with('/') { "" } else { "/" };
    Uri(format!(
        "file://{root}{}",
        utf8_percent_encode(&text, ENCODED)
    ))
}
