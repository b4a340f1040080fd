//! Results to text: one file per format, all to a given writer.
//!
//! What may be shown is decided here and nowhere else: a [`View`] knows which
//! stretches of which texts are secret, and every place and every excerpt
//! comes through it. Standard output, the environment and the terminal's
//! width are the caller's; how findings come about is not known here.
//!
//! | file | what |
//! |---|---|
//! | `terminal` | findings for people: in full, concise, and the closing line |
//! | `excerpt` | lines of files with their labels, for `terminal` |
//! | `baseline` | what a baseline accepts |
//! | `comparison` | what changed between two sides, for people |
//! | `github` | findings and edits as workflow commands |
//! | `markdown` | a job summary, or a comment on a pull request |
//! | `sarif` | findings for code scanning |
//! | `junit` | findings as test cases |
//! | `gitlab` | findings as a code quality report |
//! | `html` | a page to look around in |
//! | `links` | addresses of lines of a repository |
//! | `formats` | which formats there are, and what is written in each |
//! | `recognize` | whether a file is a report of an earlier run |
//! | `json` | findings, comparisons, rendered documents and sites for programs |
//! | `difference` | what was, or would be, changed in files |
//! | `documents` | rendered documents as YAML |
//! | `cloud_config` | what cloud-init makes of its parts, as YAML |
//! | `rules` | the rules, with their levels |
//! | `settings` | what is configured, and where |
//! | `semantics` | the meaning in which documents were rendered |
//! | `sites` | the table of sites |
//! | `statistics` | how many findings there are of each rule |
//! | `timing` | where the time of a run went |
//! | `compared` | what a verb says of a comparison |
//! | `restored` | a saved report, for the reports for people |
//! | `provenance` | where values come from, and where they could be changed |
//! | `since` | one value's ways on both sides of a comparison |
//! | `impact` | what a line could change |
//! | `graph` | which document is made of which |
//! | `form` | values as JSON says them |
//! | `prose` | findings and edits in lines of plain text |
//! | `printable` | text that cannot drive a terminal |
//! | `view` | what may be shown, and where it is |

pub mod baseline;
pub mod cloud_config;
mod compared;
pub mod comparison;

pub mod difference;
pub mod documents;
mod excerpt;
mod form;
mod formats;
mod github;
mod gitlab;
pub mod graph;
mod html;
pub mod impact;
pub mod json;
mod junit;
mod links;
mod markdown;
mod printable;
mod prose;
pub mod provenance;
mod recognize;
mod restored;
pub mod rules;
mod sarif;
mod semantics;
pub mod settings;
mod signs;
pub mod since;
pub mod sites;
pub mod statistics;
pub mod terminal;
pub mod timing;
mod view;

pub use baseline::BaselineRow;
pub use compared::{Compared, Extent, SideKind, SideText, Sides, Timing};
pub use formats::{Form, Format, Ignored, Listing, Manner};
pub use links::Links;
pub use restored::Restored;
pub use semantics::{ChosenBy, ChosenSemantics, Meaning};
pub use view::View;

use std::borrow::Cow;
use std::sync::Arc;

use crate::compare::reach::Unlisted;
use crate::source::{DocKey, RepoPath};
use crate::yaml::Node;

/// What a terminal, or whatever stands for one, can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns; texts are wrapped and source lines cut to them. Fewer than
    /// [`Style::NARROWEST`] count as that many.
    pub width: usize,
    /// Whether colours are used.
    pub color: bool,
    /// Whether lines are drawn with Unicode characters, or with ASCII.
    pub unicode: bool,
    /// Whether text can be a link. Nothing has an address to link to yet.
    pub links: bool,
}

impl Style {
    /// Below this many columns nothing readable fits.
    pub const NARROWEST: usize = 40;

    /// The columns to use.
    fn columns(&self) -> usize {
        self.width.max(Self::NARROWEST)
    }
}

/// What a site, or a set of files without layout, renders to.
#[derive(Clone, Debug)]
pub struct RenderedSite {
    /// Its name; none for a set without layout.
    pub site: Option<Arc<str>>,
    /// Its rendered documents, in the order to print them in.
    pub documents: Vec<RenderedDocument>,
}

/// One rendered document.
#[derive(Clone, Debug)]
pub struct RenderedDocument {
    /// What a user calls it.
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

/// What of rendered documents is printed beside their public values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocumentsLook {
    /// Secret values too, as somebody asked for; otherwise `(hidden)` stands
    /// in their place.
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
    /// How many files it is made of.
    pub files: usize,
    /// How many documents these hold.
    pub documents: usize,
    /// How many documents it renders to.
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

/// `text` for the log of a CI job, without what that takes for a command.
pub fn without_commands(text: &str) -> Cow<'_, str> {
    printable::without_commands(text)
}

/// So many of something, as text: `1 site`, `2 sites`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// How much of what changed a report does not list, as it is too much, if any.
fn unlisted_words(unlisted: Unlisted) -> Option<String> {
    let Unlisted { outputs, causes, shields } = unlisted;
    let kinds: Vec<String> = [(outputs, "output"), (causes, "cause"), (shields, "shield")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(count, what))
        .collect();
    (!kinds.is_empty()).then(|| format!("{} too many to be listed", kinds.join(", ")))
}

/// The first few of `sites` and how many more there are, and before them a word
/// for what they are: with how many in all, where not all are named.
fn some_sites(sites: &[Arc<str>]) -> (String, String) {
    let (names, more) = first_few(sites, |site| printable::clean(site).into_owned());
    match more {
        0 => ("sites".to_owned(), names),
        more => (format!("in {} sites", sites.len()), format!("{names} and {more} more")),
    }
}

/// The names of the first of `items`, or of all if they are few, and how many more there are.
fn first_few<T>(items: &[T], name: impl Fn(&T) -> String) -> (String, usize) {
    const FEW: usize = 3;
    let shown = if items.len() > FEW { FEW - 1 } else { items.len() };
    let names: Vec<String> = items[..shown].iter().map(name).collect();
    (names.join(", "), items.len() - shown)
}

/// `text` in lines of at most `width` columns, `first` before the first and
/// `rest` before the others.
fn wrap(text: &str, width: usize, first: &str, rest: &str) -> String {
    /// Narrower columns are no longer read as text.
    const NARROWEST: usize = 8;
    let options = textwrap::Options::new(width.max(NARROWEST))
        .initial_indent(first)
        .subsequent_indent(rest)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::fill(text, options)
}
