//! Report formats: one module per format, each writing to a given writer.
//!
//! Secrets are hidden here and nowhere else: every place and line passes through a [`View`], which
//! knows the secret ranges of all sources. Standard output, the environment and the terminal's
//! width are up to the caller.
//!
//! A run of `lint` or `diff` is reported in three steps: [`model`] is the report as data, which is
//! saved as JSON and can be read again; `story` turns it into ordered and grouped sentences; a
//! format lays these out.
//!
//! | file | content |
//! |---|---|
//! | `model` | the report as data, and as JSON |
//! | `story` | the report in sentences: verdict, sites, edits and their effects, findings |
//! | `tree` | the changes as a tree, for editors |
//! | `text` | styled text, which each format renders in its own way |
//! | `terminal` | human-readable output: full, or one line per finding |
//! | `markdown` | a job summary, or a comment on a pull request |
//! | `html` | an interactive page |
//! | `github` | findings and edits as workflow commands |
//! | `sarif` | findings for code scanning |
//! | `junit` | findings as test cases |
//! | `gitlab` | findings as a code quality report |
//! | `formats` | the list of formats, and their writers |
//! | `recognize` | detection of reports of earlier runs |
//! | `statistics` | number of findings of each rule |
//! | `links` | URLs of lines of a repository and of rule pages |
//! | `semantics` | the semantics used to render documents |
//! | `view` | hiding of secrets, and visible places |
//! | `printable` | escaping of control characters |
//! | `cut` | truncation of text to a number of columns |
//! | `answer` | answers to questions, each a type with its text and JSON |
//! | `baseline`, `cloud_config`, `consequences`, `difference`, `documents`, `page`, `rules`, `settings`, `sites`, `timing` | output of one subcommand each |

pub mod answer;
pub mod baseline;
pub mod cloud_config;
pub mod consequences;
mod cut;
pub mod difference;
pub mod documents;
mod formats;
mod github;
mod gitlab;
mod html;
mod junit;
mod links;
mod markdown;
pub mod model;
pub mod page;
mod printable;
mod recognize;
pub mod rules;
mod sarif;
mod semantics;
pub mod settings;
mod signs;
pub mod sites;
pub mod statistics;
mod story;
pub mod terminal;
mod text;
pub mod timing;
pub mod tree;
mod view;

pub use crate::yaml::json::canonical;
pub(crate) use baseline::BaselineRow;
pub use formats::{Format, FormatOptions, ReportFormat};
pub use links::{Links, RulePages};
pub use semantics::{ChosenBy, ChosenSemantics, ReportedSemantics};
pub use story::FindingFilter;
pub use terminal::{Detail, TerminalOptions};
pub use view::View;

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;

use self::signs::Signs;
use crate::source::{DocKey, RepoPath};
use crate::triage::Counts;
use crate::yaml::Node;

/// Capabilities of a terminal or of another output for humans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Width in columns, to which text is wrapped and source lines are truncated; at least
    /// `TerminalStyle::NARROWEST` is used.
    pub width: usize,
    /// Whether colours are used.
    pub color: bool,
    /// Whether Unicode characters are used, or ASCII only.
    pub unicode: bool,
    /// Whether hyperlinks are supported.
    pub links: bool,
}

impl TerminalStyle {
    /// Minimum usable width in columns.
    pub(crate) const NARROWEST: usize = 40;

    /// Returns the width to use in columns.
    fn columns(&self) -> usize {
        self.width.max(Self::NARROWEST)
    }
}

/// Rendered documents of a site, or of files without a site layout.
#[derive(Clone, Debug)]
pub struct SiteDocuments {
    /// Name of the site; `None` for files without a site layout.
    pub site: Option<Arc<str>>,
    /// Rendered documents, in output order.
    pub documents: Vec<RenderedDocument>,
}

/// One rendered document.
#[derive(Clone, Debug)]
pub struct RenderedDocument {
    /// Name of the document.
    pub key: DocKey,
    /// Metadata of the document.
    pub metadata: Node,
    /// Rendered data.
    pub data: Node,
    /// Source file of the document.
    pub file: RepoPath,
    /// First line of the document in `file`, from 1.
    pub line: u32,
}

/// Options for printing rendered documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocumentOptions {
    /// Whether secret values are printed; otherwise `(hidden)` replaces them.
    pub show_secrets: bool,
    /// Whether each value has a comment with its source location (YAML only).
    pub with_origin: bool,
}

/// A row of `sites`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SiteRow {
    /// Name of the site; `None` for files without a site layout.
    pub site: Option<Arc<str>>,
    /// Type of the site; `None` for files without a site layout.
    #[serde(rename = "type")]
    pub site_type: Option<Arc<str>>,
    /// Number of files.
    pub files: usize,
    /// Number of documents in these files.
    pub documents: usize,
    /// Number of rendered documents.
    pub outputs: usize,
    /// Number of those that Armada reads and that an action of Shipyard applies; `None` if it is not
    /// known.
    pub deployed: Option<usize>,
}

/// Escapes control characters in `text`, except line breaks.
pub fn printable_lines(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| match line.strip_suffix('\n') {
            Some(line) => format!("{}\n", printable::clean(line)),
            None => printable::clean(line).into_owned(),
        })
        .collect()
}

/// Writes human-readable text without CI workflow commands, since it may be part of a CI log.
///
/// # Errors
/// Returns the errors of `write` and of writing to `out`.
pub fn write_for_people(
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut text = Vec::new();
    write(&mut text)?;
    out.write_all(without_commands(&String::from_utf8_lossy(&text)).as_bytes())
}

/// Escapes workflow commands in `text` for the log of a CI job.
pub fn without_commands(text: &str) -> Cow<'_, str> {
    printable::without_commands(text)
}

/// Formats counts of findings.
pub fn format_counts(counts: Counts) -> String {
    story::counts(counts, "").map_or_else(|| "no findings".to_owned(), |text| text.words())
}

/// Formats a count with its noun: `1 site`, `2 sites`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Formats the number of further items as a suffix: ` and 3 more places`; empty for none.
fn and_more_of(count: usize, what: &str) -> String {
    if count == 0 {
        String::new()
    } else {
        format!(" and {}", counted(count, &format!("more {what}")))
    }
}

/// Returns the items whose count is not zero.
fn present<T>(counted: impl IntoIterator<Item = (usize, T)>) -> Vec<T> {
    counted
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(_, item)| item)
        .collect()
}

/// Returns the names of the first items, or of all if they are few, and the number of omitted ones.
fn first_few<T>(items: &[T], name: impl Fn(&T) -> String) -> (String, usize) {
    const MAX_NAMES: usize = 3;
    let shown = if items.len() > MAX_NAMES {
        MAX_NAMES - 1
    } else {
        items.len()
    };
    let names: Vec<String> = items[..shown].iter().map(name).collect();
    (names.join(", "), items.len() - shown)
}

/// Wraps `text` to `width` columns, with the prefix `first` on the first line and `rest` on the
/// others.
fn wrap(text: &str, width: usize, first: &str, rest: &str) -> String {
    /// Minimum readable width in columns.
    const MIN_COLUMNS: usize = 8;
    let options = textwrap::Options::new(width.max(MIN_COLUMNS))
        .initial_indent(first)
        .subsequent_indent(rest)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::fill(text, options)
}
