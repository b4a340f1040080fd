//! Results to text: one file per format, all to a given writer.
//!
//! What may be shown is decided here and nowhere else: a [`View`] knows which stretches of which
//! texts are secret, and every place and every line comes through it. Standard output, the
//! environment and the terminal's width are the caller's; how findings come about is not known
//! here.
//!
//! A run of `lint` or `diff` is reported in three steps: [`model`] is the report as a value, which
//! is saved as JSON and read again; `story` says it in words, folded and in order; a format lays
//! that out.
//!
//! | file | content |
//! |---|---|
//! | `model` | the report: what a run has to say, as JSON too |
//! | `story` | the same in words: verdict, sites, edits and what came of them, findings |
//! | `text` | words and what they are, which each format shows in its own way |
//! | `terminal` | for people at a terminal: in full, or a line for each finding |
//! | `markdown` | a job summary, or a comment on a pull request |
//! | `html` | a page to look around in |
//! | `github` | findings and edits as workflow commands |
//! | `sarif` | findings for code scanning |
//! | `junit` | findings as test cases |
//! | `gitlab` | findings as a code quality report |
//! | `formats` | which formats there are, and what is written in each |
//! | `recognize` | whether a file is a report of an earlier run |
//! | `statistics` | number of findings of each rule |
//! | `links` | addresses of lines of a repository |
//! | `semantics` | the meaning in which documents were rendered |
//! | `view` | what may be shown, and where it is |
//! | `printable` | text that cannot drive a terminal |
//! | `baseline`, `cloud_config`, `difference`, `documents`, `graph`, `impact`, `page`, `provenance`, `rules`, `settings`, `since`, `sites`, `timing` | what one verb prints |

pub mod baseline;
pub mod blame;
pub mod cloud_config;

pub mod difference;
pub mod documents;
mod form;
mod formats;
mod github;
mod gitlab;
pub mod graph;
mod html;
pub mod impact;
mod junit;
mod links;
pub mod log;
mod markdown;
pub mod model;
pub mod page;
mod printable;
pub mod provenance;
mod recognize;
pub mod rules;
mod sarif;
mod semantics;
pub mod settings;
mod signs;
pub mod since;
pub mod sites;
pub mod statistics;
mod story;
pub mod terminal;
mod text;
pub mod timing;
mod view;

pub(crate) use baseline::BaselineRow;
pub use form::canonical;
pub use formats::{Format, FormatOptions, ReportFormat};
pub use links::Links;
pub use semantics::{ChosenBy, ChosenSemantics, ReportedSemantics};
pub use story::FindingFilter;
pub use terminal::{Detail, TerminalOptions};
pub use view::View;

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;

use self::signs::Signs;
use crate::source::{DocKey, RepoPath};
use crate::triage::Counts;
use crate::yaml::Node;

/// Capabilities of a terminal, or of what replaces one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Columns; texts are wrapped and source lines cut to them. Fewer than
    /// `TerminalStyle::NARROWEST` count as that many.
    pub width: usize,
    /// Whether colours are used.
    pub color: bool,
    /// Whether lines are drawn with Unicode characters, or with ASCII.
    pub unicode: bool,
    /// Whether text can be a link.
    pub links: bool,
}

impl TerminalStyle {
    /// Below this many columns nothing readable fits.
    pub(crate) const NARROWEST: usize = 40;

    /// The columns to use.
    fn columns(&self) -> usize {
        self.width.max(Self::NARROWEST)
    }
}

/// Rendered documents of a site, or of a set of files without layout.
#[derive(Clone, Debug)]
pub struct SiteDocuments {
    /// Its name; none for a set without layout.
    pub site: Option<Arc<str>>,
    /// Its rendered documents, in the order to print them in.
    pub documents: Vec<RenderedDocument>,
}

/// One rendered document.
#[derive(Clone, Debug)]
pub struct RenderedDocument {
    /// Its name for users.
    pub key: DocKey,
    /// Its `metadata`.
    pub metadata: Node,
    /// Its `data`, rendered.
    pub data: Node,
    /// The file it is written in.
    pub file: RepoPath,
    /// The line of that file on which it begins, from one.
    pub line: u32,
}

/// Details of rendered documents that are printed beside their public values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocumentOptions {
    /// Secret values too, where the user asked for them; otherwise `(hidden)` replaces them.
    pub show_secrets: bool,
    /// The line that wrote each value, as a comment (YAML only).
    pub with_origin: bool,
}

/// One site, as `sites` lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteRow {
    /// Its name; none for a set without layout.
    pub site: Option<Arc<str>>,
    /// Its type; none for a set without layout.
    pub site_type: Option<Arc<str>>,
    /// Number of its files.
    pub files: usize,
    /// Number of documents in these.
    pub documents: usize,
    /// Number of rendered documents.
    pub outputs: usize,
}

/// `text` for a terminal, in its lines: nothing in them can drive it.
pub fn printable_lines(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| match line.strip_suffix('\n') {
            Some(line) => format!("{}\n", printable::clean(line)),
            None => printable::clean(line).into_owned(),
        })
        .collect()
}

/// Writes text for people, which holds no commands for the CI job in whose log it may be.
///
/// # Errors
/// Those of `write` and `out`.
pub fn write_for_people(
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut text = Vec::new();
    write(&mut text)?;
    out.write_all(without_commands(&String::from_utf8_lossy(&text)).as_bytes())
}

/// `text` for the log of a CI job, without what that takes for a command.
pub fn without_commands(text: &str) -> Cow<'_, str> {
    printable::without_commands(text)
}

/// Counts of findings, in words.
pub fn counts_words(counts: Counts) -> String {
    story::counts(counts, "").map_or_else(|| "no findings".to_owned(), |text| text.words())
}

/// A count as text: `1 site`, `2 sites`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The names of the first of `items`, or of all if they are few, and how many more there are.
fn first_few<T>(items: &[T], name: impl Fn(&T) -> String) -> (String, usize) {
    const MAX_NAMES: usize = 3;
    let shown = if items.len() > MAX_NAMES { MAX_NAMES - 1 } else { items.len() };
    let names: Vec<String> = items[..shown].iter().map(name).collect();
    (names.join(", "), items.len() - shown)
}

/// `text` in lines of at most `width` columns, `first` before the first and
/// `rest` before the others.
fn wrap(text: &str, width: usize, first: &str, rest: &str) -> String {
    /// Narrower columns are no longer read as text.
    const MIN_COLUMNS: usize = 8;
    let options = textwrap::Options::new(width.max(MIN_COLUMNS))
        .initial_indent(first)
        .subsequent_indent(rest)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::fill(text, options)
}
