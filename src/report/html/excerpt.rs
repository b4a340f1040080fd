//! Lines of files with what a label marks in them.

use std::ops::Range;

use super::HtmlPage;
use super::escape::{text, words};
use crate::report::model::{LabelledPlace, SourceLine};
use crate::report::text::TextLink;

/// Number of lines shown around the line of a label.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ContextLines {
    None,
    OneLine,
}

impl HtmlPage<'_, '_> {
    /// Where a label is, its line as far as the report has it, and what it says.
    pub(super) fn excerpt(&self, label: &LabelledPlace, surroundings: ContextLines) -> String {
        let report = self.story.report;
        let [(at, _), _] = label.ends();
        let lines = report.lines_around(label).into_iter();
        let lines = lines.filter(|it| surroundings == ContextLines::OneLine || it.line == at);
        let lines: String = lines.map(|it| line(it, (it.line == at).then_some(label))).collect();
        let withheld = report.text_of(label).is_some_and(|text| text.withheld);
        let lines = match &*lines {
            _ if withheld => "<p><i>not shown: may hold secrets</i></p>\n".to_owned(),
            "" => String::new(),
            lines => format!("<pre class=\"excerpt\">{lines}</pre>\n"),
        };
        let caption = match &*label.label {
            "" => String::new(),
            caption => format!("<p class=\"said\">{}</p>\n", words(caption)),
        };
        format!(
            "<figure><figcaption>{}</figcaption>\n{lines}{caption}</figure>\n",
            self.label_place(label)
        )
    }

    fn label_place(&self, label: &LabelledPlace) -> String {
        let place = format!("<code class=\"place\">{}:{}</code>", text(&label.file), label.line);
        let place = match self.address(&TextLink::Head(label.start())) {
            Some(address) => format!("<a href=\"{}\">{place}</a>", text(&address)),
            None => place,
        };
        match &label.decoded {
            Some(it) => format!("{place}, decoded <code>{}:{}</code>", text(&it.name), it.line),
            None => place,
        }
    }
}

/// A line, and in it what the label on it is about.
fn line(line: &SourceLine, label: Option<&LabelledPlace>) -> String {
    let marked = label.map_or(0..0, |label| marked(line, label));
    let letters = line.text.chars().enumerate();
    let letters = letters.map(|(at, it)| (it, is_hidden(line, at), marked.contains(&at)));
    let mut letters: Vec<(char, bool, bool)> = letters.collect();
    // What is missing at the end of a line is marked there.
    letters.extend((marked.end > letters.len()).then_some((' ', false, true)));
    let stretches = letters.chunk_by(|one, next| (one.1, one.2) == (next.1, next.2));
    let stretches = stretches.map(|stretch| {
        let words: String = stretch.iter().map(|(letter, ..)| letter).collect();
        let words = text(&words);
        match (stretch[0].1, stretch[0].2) {
            (false, false) => words.to_string(),
            (false, true) => format!("<mark>{words}</mark>"),
            (true, false) => format!("<span class=\"hidden\">{words}</span>"),
            (true, true) => format!("<mark class=\"hidden\">{words}</mark>"),
        }
    });
    let [before, after] =
        [line.column > 1, line.cut].map(|is_cut| if is_cut { "<i>…</i>" } else { "" });
    let number = format!("<span class=\"number\">{}</span>", line.line);
    format!("{number} {before}{}{after}\n", stretches.collect::<String>())
}

fn is_hidden(line: &SourceLine, at: usize) -> bool {
    line.hidden.iter().any(|[start, end]| (*start..*end).contains(&at))
}

/// The characters that a label marks on the line on which it begins; at least one.
fn marked(line: &SourceLine, label: &LabelledPlace) -> Range<usize> {
    let [start, end] = label.ends();
    let from = position(line, start.1);
    let to = if end.0 > start.0 { line.text.chars().count() } else { position(line, end.1) };
    let hidden = line.hidden.iter().find(|[start, _]| label.covers_hidden && *start == to);
    from..hidden.map_or(to, |[_, end]| *end).max(from + 1)
}

/// Where a column begins in the text that is kept of a line: columns of hidden texts count for
/// nothing.
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
