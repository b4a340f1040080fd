//! Places in files and documents, as the page names them.

use crate::report::json::{DocumentName, PlaceForm, Report};

use super::escape::text;

/// Which side of a comparison a place is on.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Base,
    Head,
}

/// A place as HTML: a link where the repository has an address.
pub(super) fn place(report: &Report, side: Side, file: &str, line: usize) -> String {
    let words = format!("<code class=\"place\">{}:{line}</code>", text(file));
    linked(report, side, file, line, &words)
}

/// A place as the report has it: also where in a text that stands there encoded.
pub(super) fn at(report: &Report, side: Side, at: &PlaceForm) -> String {
    let decoded = at.decoded.as_ref().map(|it| (&*it.name, it.line));
    format!("{}{}", place(report, side, &at.file, at.line), decoded_words(decoded))
}

/// Where a place is in the text that stands encoded in the file.
pub(super) fn decoded_words(decoded: Option<(&str, usize)>) -> String {
    match decoded {
        Some((name, line)) => format!(", decoded <code>{}:{line}</code>", text(name)),
        None => String::new(),
    }
}

/// A further place in the same file: its line alone.
fn line_alone(report: &Report, file: &str, line: usize) -> String {
    let words = format!("<code class=\"place\">:{line}</code>");
    linked(report, Side::Head, file, line, &words)
}

/// Places of a step, one after the other: the same file is not named again,
/// and the same line not told again.
pub(super) fn places(report: &Report, places: &[PlaceForm]) -> String {
    let mut told: Vec<String> = Vec::new();
    let mut before: Option<&PlaceForm> = None;
    for here in places {
        let is_same = |last: &PlaceForm| {
            last.file == here.file && last.line == here.line && last.decoded == here.decoded
        };
        let is_plain = |last: &PlaceForm| last.decoded.is_none() && here.decoded.is_none();
        match before {
            Some(last) if is_same(last) => continue,
            Some(last) if last.file == here.file && is_plain(last) => {
                told.push(line_alone(report, &here.file, here.line));
            }
            Some(_) | None => told.push(at(report, Side::Head, here)),
        }
        before = Some(here);
    }
    told.join(" → ")
}

/// A document as HTML: its name, and what else it takes to know it.
pub(super) fn document(document: &DocumentName) -> String {
    let DocumentName { schema, layer, name } = document;
    let layer = if layer.is_empty() { String::new() } else { format!(", {}", text(layer)) };
    format!("<b>{}</b> <small>{}{layer}</small>", text(name), text(schema))
}

fn linked(report: &Report, side: Side, file: &str, line: usize, words: &str) -> String {
    match address(report, side, file, line) {
        Some(address) => {
            format!("<a href=\"{}\" rel=\"noreferrer noopener\">{words}</a>", text(&address))
        }
        None => words.to_owned(),
    }
}

/// Where the repository shows a line. Nothing but the web is ever linked to,
/// whatever a report says.
fn address(report: &Report, side: Side, file: &str, line: usize) -> Option<String> {
    let address = match side {
        Side::Base => report.base_link(file, line),
        Side::Head => report.link(file, line),
    };
    address.filter(|it| it.starts_with("https://") || it.starts_with("http://"))
}
