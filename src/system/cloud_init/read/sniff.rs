//! Content types by the start of a text (`handlers/__init__.py`, `type_from_starts_with`), and
//! cloud-init's use of each.

use crate::system::cloud_init::part::{Carrier, PART_HANDLER};

pub(super) const CLOUD_CONFIG: &str = "text/cloud-config";
pub(super) const JSON_PATCH: &str = "text/cloud-config-jsonp";
pub(super) const JINJA: &str = "text/jinja2";
pub(super) const PLAIN: &str = "text/plain";
pub(super) const NOT_MULTIPART: &str = "text/x-not-multipart";
pub(super) const OCTET_STREAM: &str = "application/octet-stream";

/// Use of a content type by cloud-init.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentUse {
    /// Merged.
    CloudConfig,
    /// Applied.
    JsonPatch,
    /// Rendered first.
    Template,
    /// Expanded, unless it came from an archive.
    Carrier(Carrier),
    /// Run, or stored to be run.
    Script,
    /// Skipped, since it is only a container.
    Multipart,
    /// Unused: no marker gives its type.
    Unrecognized,
    /// Unused: the type is unknown.
    Unknown,
}

/// Markers and their content types: `INCLUSION_TYPES_MAP` in lower case, longest first, since the
/// longest match wins. Its upper-case entries never match.
const MARKERS: &[(&str, &str)] = &[
    (
        "text/x-shellscript-per-instance",
        "text/x-shellscript-per-instance",
    ),
    ("text/x-shellscript-per-boot", "text/x-shellscript-per-boot"),
    ("text/x-shellscript-per-once", "text/x-shellscript-per-once"),
    ("#cloud-config-archive", "text/cloud-config-archive"),
    ("#cloud-config-jsonp", JSON_PATCH),
    ("## template: jinja", JINJA),
    ("#cloud-boothook", "text/cloud-boothook"),
    ("#cloud-config", CLOUD_CONFIG),
    ("#include-once", "text/x-include-once-url"),
    ("#part-handler", PART_HANDLER),
    ("#include", "text/x-include-url"),
    ("#!", "text/x-shellscript"),
];

/// Content types of compressed texts (`DECOMP_TYPES`).
const COMPRESSED: &[&str] = &[
    "application/gzip",
    "application/gzip-compressed",
    "application/gzipped",
    "application/x-compress",
    "application/x-compressed",
    "application/x-gunzip",
    "application/x-gzip",
    "application/x-gzip-compressed",
];

/// Content type by the start of `text`.
pub(super) fn content_type(text: &str) -> Option<&'static str> {
    const MAX_CHARACTERS: usize = 40;
    let beginning: String = trim_start(text).chars().take(MAX_CHARACTERS).collect();
    let beginning = beginning.to_lowercase();
    let mut known = MARKERS.iter();
    known
        .find(|(line, _)| beginning.starts_with(line))
        .map(|(_, content_type)| *content_type)
}

/// Whether a text of this type is sniffed: not everything sent as a script is one.
pub(super) fn is_sniffed(content_type: &str) -> bool {
    [PLAIN, NOT_MULTIPART, "text/x-shellscript"].contains(&content_type)
}

/// Whether the type is one of compressed content.
pub(super) fn is_compressed(content_type: &str) -> bool {
    COMPRESSED.contains(&content_type)
}

/// Use of a content type, given in lower case.
pub(super) fn used_as(content_type: &str) -> ContentUse {
    match content_type {
        CLOUD_CONFIG => ContentUse::CloudConfig,
        JSON_PATCH => ContentUse::JsonPatch,
        JINJA => ContentUse::Template,
        "text/cloud-config-archive" => ContentUse::Carrier(Carrier::Archive),
        "text/x-include-url" | "text/x-include-once-url" => ContentUse::Carrier(Carrier::Include),
        "text/x-shellscript"
        | "text/x-shellscript-per-boot"
        | "text/x-shellscript-per-instance"
        | "text/x-shellscript-per-once"
        | "text/cloud-boothook"
        | PART_HANDLER => ContentUse::Script,
        PLAIN | NOT_MULTIPART => ContentUse::Unrecognized,
        container if container.starts_with("multipart/") => ContentUse::Multipart,
        _ => ContentUse::Unknown,
    }
}

/// Trims leading white space as Python defines it.
pub(super) fn trim_start(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

/// Trims white space as Python defines it.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `str.isspace`, which includes the ASCII separators.
pub(super) fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}
