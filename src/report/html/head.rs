//! What the browser is told before it shows anything: what the page may do,
//! how it looks, and at the end what helps to find the way.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::escape::text;

/// Writes the head of a page with this title.
pub(super) fn write(title: &str, out: &mut dyn Write) -> io::Result<()> {
    let (style, script) = (style(), script());
    // Nothing is fetched, and nothing runs that does not have these hashes:
    // if a text ever got past its escaping, it could still do nothing.
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        hash(&script),
        hash(&style)
    );
    writeln!(out, "<head>\n<meta charset=\"utf-8\">")?;
    writeln!(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">")?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(out, "<meta name=\"color-scheme\" content=\"light dark\">")?;
    writeln!(out, "<meta name=\"referrer\" content=\"no-referrer\">")?;
    writeln!(out, "<title>layercake: {}</title>", text(title))?;
    writeln!(out, "<style>{style}</style>\n</head>")
}

/// Writes the script, which is the same in every page.
pub(super) fn write_script(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<script>{}</script>", script())
}

fn style() -> String {
    with_plain_line_ends(include_str!("page.css"))
}

fn script() -> String {
    with_plain_line_ends(include_str!("page.js"))
}

/// A browser hashes what its parser read, and that knows no other line ends;
/// git may have checked the file out with others.
fn with_plain_line_ends(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// The source expression of CSP that allows exactly this text.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}
