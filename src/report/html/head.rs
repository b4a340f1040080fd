//! HTML head (content security policy, title, style sheet) and the script at the end of the page.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::escape::text;

/// Renders the head of a page.
pub(super) fn html(title: &str) -> String {
    let style = style();
    let title = text(title);
    // Nothing is fetched, and only a script and style with these hashes are used, so that a failure
    // of escaping has no effect.
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
    normalize_line_endings(include_str!("page.css"))
}

/// Returns the script, which is the same on every page.
pub(super) fn script() -> String {
    normalize_line_endings(include_str!("page.js"))
}

/// Normalizes line endings like an HTML parser, since a browser hashes the parsed text and git may
/// have checked out the file with CRLF.
fn normalize_line_endings(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Returns the CSP source expression that allows exactly this script or style.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}
