//! Source excerpts with highlighted labels.

use std::ops::Range;

use super::HtmlPage;
use super::escape::{text, words};
use crate::report::model::{LabelledPlace, SourceLine};
use crate::report::text::TextLink;

/// Amount of context shown around a label.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ContextLines {
    None,
    OneLine,
}

impl HtmlPage<'_, '_> {
    /// Renders a label: its place, its source lines with secrets hidden, and its message.
    pub(super) fn excerpt(&self, label: &LabelledPlace, surroundings: ContextLines) -> String {
        let report = self.story.report;
        let [(at, _), _] = label.ends();
        let lines: String = report
            .lines_around(label)
            .into_iter()
            .filter(|it| surroundings == ContextLines::OneLine || it.line == at)
            .map(|it| line(it, (it.line == at).then_some(label)))
            .collect();
        let withheld = report.text_of(label).is_some_and(|text| text.withheld);
        let lines = match &*lines {
            _ if withheld => "<p><i>not shown: may hold secrets</i></p>\n".to_owned(),
            "" => String::new(),
            lines => format!("<pre class=\"excerpt\">{lines}</pre>\n"),
        };
        let caption = match &*label.label {
            "" => String::new(),
            caption => format!("<p class=\"label-text\">{}</p>\n", words(caption)),
        };
        format!(
            "<figure><figcaption>{}</figcaption>\n{lines}{caption}</figure>\n",
            self.label_place(label)
        )
    }

    fn label_place(&self, label: &LabelledPlace) -> String {
        let place = format!(
            "<code class=\"place\">{}:{}</code>",
            text(&label.file),
            label.line
        );
        let place = match self.address(&TextLink::Head(label.start())) {
            Some(address) => format!("<a href=\"{}\">{place}</a>", text(&address)),
            None => place,
        };
        match &label.decoded {
            Some(decoded) => format!(
                "{place}, decoded <code>{}:{}</code>",
                text(&decoded.name),
                decoded.line
            ),
            None => place,
        }
    }
}

/// Renders a source line with the label's range highlighted.
fn line(line: &SourceLine, label: Option<&LabelledPlace>) -> String {
    let marked = label.map_or(0..0, |label| marked(line, label));
    let mut characters: Vec<(char, bool, bool)> = line
        .text
        .chars()
        .enumerate()
        .map(|(at, it)| (it, is_hidden(line, at), marked.contains(&at)))
        .collect();
    // A label after the end of a line is marked there.
    characters.extend((marked.end > characters.len()).then_some((' ', false, true)));
    let segments = characters
        .chunk_by(|one, next| (one.1, one.2) == (next.1, next.2))
        .map(|segment| {
            let words: String = segment.iter().map(|(character, ..)| character).collect();
            let words = text(&words);
            match (segment[0].1, segment[0].2) {
                (false, false) => words.to_string(),
                (false, true) => format!("<mark>{words}</mark>"),
                (true, false) => format!("<span class=\"hidden\">{words}</span>"),
                (true, true) => format!("<mark class=\"hidden\">{words}</mark>"),
            }
        });
    let [before, after] =
        [line.column > 1, line.cut].map(|is_cut| if is_cut { "<i>…</i>" } else { "" });
    let number = format!("<span class=\"number\">{}</span>", line.line);
    format!("{number} {before}{}{after}\n", segments.collect::<String>())
}

fn is_hidden(line: &SourceLine, at: usize) -> bool {
    line.hidden
        .iter()
        .any(|[start, end]| (*start..*end).contains(&at))
}

/// Returns the character range that a label marks on its first line; at least one character.
fn marked(line: &SourceLine, label: &LabelledPlace) -> Range<usize> {
    let [start, end] = label.ends();
    let from = position(line, start.1);
    let to = if end.0 > start.0 {
        line.text.chars().count()
    } else {
        position(line, end.1)
    };
    let hidden = line
        .hidden
        .iter()
        .find(|[start, _]| label.covers_hidden && *start == to);
    from..hidden.map_or(to, |[_, end]| *end).max(from + 1)
}

/// Returns the index of a column in the kept part of a line; hidden secrets occupy no columns.
fn position(line: &SourceLine, column: usize) -> usize {
    let length = line.text.chars().count();
    match column.saturating_sub(line.column) {
        0 => 0,
        wanted => {
            let mut counted = (0..length).filter(|at| !is_hidden(line, *at));
            counted.nth(wanted - 1).map_or(length, |at| at + 1)
        }
    }
}
