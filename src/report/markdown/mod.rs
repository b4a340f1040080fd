//! A page in Markdown: the summary of a job, or a comment on a pull request.
//!
//! One page, two budgets. It begins with what a reader has to know: how far the
//! change goes, what nothing explains, new findings. Then every edit with its
//! value, the outputs it reached and where it stopped. What does not fit is left
//! out by levels, each of which is a whole page, and said to be. No text of a
//! report is read as Markdown, tells anybody, or becomes a link: see `text`.
//!
//! | file | what |
//! |---|---|
//! | `page` | what stands where |
//! | `edits` | edits, what they reached and where they stopped |
//! | `findings` | findings |
//! | `closing` | figures, and what the report is of |
//! | `digest` | a report as a page tells it |
//! | `detail` | how much is told |
//! | `words` | what things are called |
//! | `value` | values in lines |
//! | `paper` | blocks of Markdown |
//! | `text` | texts of others in Markdown |

mod closing;
mod detail;
mod digest;
mod edits;
mod findings;
mod page;
mod paper;
mod text;
mod value;
mod words;

use std::io::{self, Write};

use self::detail::LEVELS;
use self::digest::Digest;
use super::Manner;
use super::json::Report;

/// How long a page may be.
///
/// A host counts characters, and not all count them alike. A text never has
/// fewer bytes than it has UTF-16 units, nor fewer of these than it has characters, so
/// that bytes are what is counted here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    bytes: usize,
}

impl Budget {
    /// The summary of a job: GitHub takes 1 MiB for a step.
    pub(super) const SUMMARY: Self = Self { bytes: 900_000 };
    /// A comment on a pull request: GitHub takes 65,536 characters. What is left
    /// is for what whoever posts it puts before and behind.
    pub(super) const COMMENT: Self = Self { bytes: 60_000 };
}

/// Writes a report: all of it that the budget has room for.
///
/// # Errors
/// Those of `out`.
pub(super) fn write(
    report: &Report,
    manner: &Manner<'_>,
    budget: Budget,
    out: &mut dyn Write,
) -> io::Result<()> {
    let digest = Digest::new(report, manner);
    let pages = LEVELS.iter().map(|level| page::write(&digest, *level, budget.bytes));
    let page =
        pages.into_iter().find_map(Result::ok).expect("the last level fits, whatever it tells");
    out.write_all(page.as_bytes())
}
