//! Value changes as a YAML diff.

use super::escape::text;
use super::{fitting, folded};
use crate::report::counted;
use crate::report::cut::common_length;
use crate::report::story::{DiffLine, Sign, ValueDelta};

/// Maximum number of lines of a value shown unfolded.
const MAX_UNFOLDED: usize = 40;

/// Maximum size of the lines of a value in bytes.
const MAX_BYTES: usize = 64 << 10;

/// Maximum length of a line in characters.
const MAX_LINE: usize = 1_000;

/// Maximum length in characters of a path and two scalars on one line.
const MAX_ON_ONE_LINE: usize = 100;

/// Renders a value change under its path; `beside` is HTML that follows the path.
pub(super) fn html(delta: &ValueDelta, path: Option<&str>, beside: &str) -> String {
    let path = path.unwrap_or_default();
    let heading = match path {
        "" => String::new(),
        path => format!("<p><code>{}</code>{beside}</p>", text(path)),
    };
    match delta.scalars() {
        Some([base, head])
            if path.len() + base.len() + head.len() <= MAX_ON_ONE_LINE && !path.is_empty() =>
        {
            let path = text(path);
            let base = text(base);
            let head = text(head);
            format!(
                "<p class=\"scalar\"><code>{path}</code>: <del>{base}</del> → <ins>{head}</ins>{beside}</p>\n"
            )
        }
        Some([base, head]) => format!("{heading}<pre>{}</pre>\n", scalars(base, head)),
        None => format!("{heading}{}", lines(&delta.lines)),
    }
}

fn lines(lines: &[DiffLine]) -> String {
    // A single remaining line takes as much space as the button that unfolds it.
    let unfolded = if lines.len() <= MAX_UNFOLDED + 1 {
        lines.len()
    } else {
        MAX_UNFOLDED
    };
    let (mut first, left_out) = fitting(lines, MAX_BYTES, line);
    let rest = first.split_off(first.len().min(unfolded)).concat();
    let count = counted(lines.len() - first.len(), "more line");
    let left_out = match left_out {
        0 => String::new(),
        left_out => format!("<i>… {}\n</i>", counted(left_out, "more line")),
    };
    let rest = if rest.is_empty() {
        rest
    } else {
        format!("<pre>{rest}{left_out}</pre>\n")
    };
    match first.len() {
        0 => String::new(),
        _ => format!(
            "<pre>{}</pre>\n{}",
            first.concat(),
            folded("rest", &count, &rest)
        ),
    }
}

fn line(line: &DiffLine) -> String {
    let words = text(truncated(&line.text)).to_string();
    let dots = if truncated(&line.text).len() < line.text.len() {
        "…"
    } else {
        ""
    };
    match line.sign {
        Sign::Removed => format!("<del>- {words}{dots}\n</del>"),
        Sign::Added => format!("<ins>+ {words}{dots}\n</ins>"),
        Sign::Same => format!("<span>  {words}{dots}\n</span>"),
        Sign::Skipped => format!("<i>  {words}\n</i>"),
    }
}

/// Renders two scalars, one per line; the difference is highlighted if they are similar.
fn scalars(base: &str, head: &str) -> String {
    let start = common_length(base.chars(), head.chars());
    let base_rest = &base[start..];
    let head_rest = &head[start..];
    let end = common_length(base_rest.chars().rev(), head_rest.chars().rev());
    let is_alike = 2 * (start + end) > base.len().min(head.len());
    let marked = |rest: &str| {
        let (middle, after) = rest.split_at(rest.len() - end);
        let before = ellipsized_start(&base[..start]);
        let middle = text(truncated(middle));
        let middle = if is_alike {
            format!("<b>{middle}</b>")
        } else {
            middle.to_string()
        };
        format!("{before}{middle}{}", text(truncated(after)))
    };
    format!(
        "<del>- {}\n</del><ins>+ {}\n</ins>",
        marked(base_rest),
        marked(head_rest)
    )
}

/// Renders the end of a long string.
fn ellipsized_start(before: &str) -> String {
    match before.char_indices().rev().nth(MAX_LINE) {
        Some((at, _)) => format!("…{}", text(&before[at..])),
        None => text(before).to_string(),
    }
}

/// Returns the beginning of a long string.
fn truncated(words: &str) -> &str {
    words
        .char_indices()
        .nth(MAX_LINE)
        .map_or(words, |(at, _)| &words[..at])
}
