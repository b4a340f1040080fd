//! Probable intention of a text that cloud-init cannot use.

use super::{decoding, is_gzip, mime, sniff};
use crate::system::cloud_init::part::PartResemblance;

/// Classifies a text that has no known marker.
pub(super) fn likeness(text: &str, content_type: &str) -> PartResemblance {
    // Only content of a message has this type without being recognised.
    let in_message = content_type == sniff::PLAIN;
    let text = sniff::trim_start(text);
    // Python escapes the mark when it reads a message as ASCII.
    let marked = text
        .strip_prefix('\u{feff}')
        .or_else(|| text.strip_prefix(r"\ufeff"));
    if marked.is_some_and(|rest| rest.starts_with('#') || mime::begins_with_headers(rest)) {
        return PartResemblance::ByteOrderMark;
    }
    if mime::begins_with_headers(text) {
        return PartResemblance::Headers { in_message };
    }
    if let Some(boundary) = mime::boundary_before_headers(text) {
        return PartResemblance::Boundary {
            name: boundary.into(),
            in_message,
        };
    }
    if is_base64_of_user_data(text) {
        PartResemblance::Base64
    } else {
        PartResemblance::Nothing
    }
}

/// Whether a text is base64 of content that cloud-init would use if decoded.
pub(super) fn is_base64_of_user_data(text: &str) -> bool {
    let digits: Vec<u8> = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    let read = decoding::from_base64(&digits);
    if !read.is_sound || digits.is_empty() {
        return false;
    }
    let is_known = str::from_utf8(&read.bytes).is_ok_and(|it| sniff::content_type(it).is_some());
    is_known || is_gzip(&read.bytes) || mime::is_message(&read.bytes)
}
