//! Lines of files with what a label marks in them.

use std::io::{self, Write};
use std::ops::Range;

use super::escape::text;
use super::findings::label_place;
use crate::report::json::{LabelForm, Line, Report};

/// How much is shown around the line of a label.
#[derive(Clone, Copy)]
pub(super) enum Surroundings {
    None,
    OneLine,
}

/// Writes where a label is, its line as far as the report has it, and what it
/// says.
pub(super) fn write(
    report: &Report,
    label: &LabelForm,
    surroundings: Surroundings,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "<figure><figcaption>{}</figcaption>", label_place(report, label))?;
    let at = label.decoded.as_ref().map_or(label.line, |it| it.line);
    let is_wanted = |line: &&Line| match surroundings {
        Surroundings::None => line.line == at,
        Surroundings::OneLine => true,
    };
    let lines: Vec<&Line> = report.lines_around(label).into_iter().filter(is_wanted).collect();
    if !lines.is_empty() {
        write!(out, "<pre class=\"excerpt\">")?;
        for line in &lines {
            write_line(line, (line.line == at).then_some(label), out)?;
        }
        writeln!(out, "</pre>")?;
    }
    if report.text_of(label).is_some_and(|text| text.withheld) {
        writeln!(out, "<p><i>not shown: may hold secrets</i></p>")?;
    }
    if !label.label.is_empty() {
        writeln!(out, "<p class=\"said\">{}</p>", text(&label.label))?;
    }
    writeln!(out, "</figure>")
}

/// Writes a line, and marks what the label on it is about.
fn write_line(line: &Line, label: Option<&LabelForm>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<span class=\"number\">{}</span> ", line.line)?;
    if line.column > 1 {
        write!(out, "<i>…</i>")?;
    }
    let letters: Vec<char> = line.text.chars().collect();
    let marked = label.map(|label| marked(line, &letters, label));
    let window = window(line, letters.len(), marked.as_ref());
    let mut at = window.start;
    if window.start > 0 {
        write!(out, "<i>…</i>")?;
    }
    for end in edges(line, &window, marked.as_ref()) {
        let stretch: String = letters[at..end].iter().collect();
        let is_hidden = line.hidden.iter().any(|[start, end]| (*start..*end).contains(&at));
        let is_marked = marked.as_ref().is_some_and(|it| it.contains(&at));
        let stretch = if is_hidden {
            format!("<span class=\"hidden\">{}</span>", text(&stretch))
        } else {
            text(&stretch).to_string()
        };
        if is_marked {
            write!(out, "<mark>{stretch}</mark>")?;
        } else {
            write!(out, "{stretch}")?;
        }
        at = end;
    }
    if marked.is_some_and(|it| it.start >= letters.len()) {
        write!(out, "<mark> </mark>")?;
    }
    let is_cut = line.cut || window.end < letters.len();
    let cut = if is_cut { "<i>…</i>" } else { "" };
    writeln!(out, "{cut}")
}

/// The characters of a line that are shown: all of it, or what is around the mark, so that
/// many findings on one long line do not show all of it each.
fn window(line: &Line, length: usize, marked: Option<&Range<usize>>) -> Range<usize> {
    const MAX_WHOLE: usize = 800;
    const AROUND: usize = 200;
    if length <= MAX_WHOLE {
        return 0..length;
    }
    let focus = marked.map_or(0, |it| it.start);
    let (start, end) = (focus.saturating_sub(AROUND), (focus + AROUND).min(length));
    // A part of what stands for a secret would look like text.
    let met = |at: usize| line.hidden.iter().find(|[start, end]| *start < at && at < *end);
    met(start).map_or(start, |it| it[0])..met(end).map_or(end, |it| it[1])
}

/// Where stretches of a line end that are shown alike.
fn edges(line: &Line, window: &Range<usize>, marked: Option<&Range<usize>>) -> Vec<usize> {
    let hidden = line.hidden.iter().flatten().copied();
    let marked = marked.into_iter().flat_map(|it| [it.start, it.end]);
    let mut edges: Vec<usize> = hidden.chain(marked).chain([window.end]).collect();
    edges.retain(|edge| *edge > window.start && *edge <= window.end);
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// What a label is about on the line it begins on, in characters.
fn marked(line: &Line, letters: &[char], label: &LabelForm) -> Range<usize> {
    let (start, end) = match &label.decoded {
        Some(it) => ((it.line, it.column), (it.end_line, it.end_column)),
        None => ((label.line, label.column), (label.end_line, label.end_column)),
    };
    let from = position(line, letters, start.1);
    let to = if end.0 > start.0 { letters.len() } else { position(line, letters, end.1) };
    let hidden = line.hidden.iter().find(|[start, _]| label.covers_hidden && *start == to);
    let to = hidden.map_or(to, |[_, end]| *end).min(letters.len());
    from..if to > from { to } else { from + 1 }
}

/// Where a column begins in the text that is kept of a line: columns of hidden
/// texts count for nothing.
fn position(line: &Line, letters: &[char], column: usize) -> usize {
    let is_hidden = |at: &usize| line.hidden.iter().any(|[start, end]| (*start..*end).contains(at));
    match column.saturating_sub(line.column) {
        0 => 0,
        wanted => {
            let mut counted = (0..letters.len()).filter(|at| !is_hidden(at));
            counted.nth(wanted - 1).map_or(letters.len(), |at| at + 1)
        }
    }
}
