//! The head of a page: its policy, its title and its style sheet; and the script at its end.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::escape::text;

/// The head of a page with this title.
pub(super) fn html(title: &str) -> String {
    let (style, title) = (style(), text(title));
    // Nothing is fetched, and nothing runs that does not have these hashes: if a text ever got
    // past its escaping, it could still do nothing.
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        hash(&script()),
        hash(&style)
    );
    format!(
        "<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>layercake: {title}</title>\n<style>{style}</style>\n</head>\n"
    )
}

fn style() -> String {
    with_plain_line_ends(include_str!("page.css"))
}

/// The script, which is the same in every page.
pub(super) fn script() -> String {
    with_plain_line_ends(include_str!("page.js"))
}

/// A browser hashes the text that its parser read, which has no other line ends; git may have
/// checked the file out with others.
fn with_plain_line_ends(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// The source expression of CSP that allows exactly this text.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}
