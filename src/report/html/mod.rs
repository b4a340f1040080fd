//! Interactive report: one self-contained HTML file.
//!
//! The whole report is in the HTML, folded with `<details>`, so that it can be read without
//! JavaScript and printed. `page.js` searches, filters, and opens the target of a link. Nothing is
//! fetched; the content security policy allows only the page's own script and style sheet, by hash.
//!
//! Every string is treated as hostile, since a saved report can come from anywhere: strings reach
//! the page only through [`escape`], addresses only through [`HtmlPage::address`], and no string of
//! a report is in the script. Every list has a maximum size in bytes, so that no report creates a
//! page that a browser cannot open.
//!
//! | file | content |
//! |---|---|
//! | `head` | content security policy, style sheet, script |
//! | `overview` | verdict, figures, both sides, site table |
//! | `filter` | filter controls and their data attributes |
//! | `edits` | edits and their effects |
//! | `diff` | value changes |
//! | `findings` | findings with their source lines |
//! | `excerpt` | source lines with their labels |
//! | `pages` | rule pages |
//! | `escape` | HTML escaping |

mod diff;
mod edits;
mod escape;
mod excerpt;
mod filter;
mod findings;
mod head;
mod overview;
mod pages;

use std::cell::RefCell;
use std::collections::HashSet;
use std::io::{self, Write};

use self::filter::EditTraits;
use super::model::Report;
use super::story::{Arrangement, Story};
use super::text::{StyledText, TextLink, TextPiece, TextRole};
use super::{FormatOptions, counted};

/// Writes a report.
///
/// # Errors
/// Fails if writing to `out` fails.
pub(super) fn write(
    report: &Report,
    options: &FormatOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let story = Story::new(report, options.listing, Arrangement::Whole);
    let page = HtmlPage {
        filter: EditTraits::new(&story),
        ids: RefCell::default(),
        edits: None,
        story: &story,
        options,
    };
    out.write_all(page.html().as_bytes())
}

/// Context for rendering the parts of a page.
struct HtmlPage<'a, 'r> {
    story: &'a Story<'r>,
    options: &'a FormatOptions<'a>,
    filter: EditTraits<'r>,
    /// Element ids used so far.
    ids: RefCell<HashSet<String>>,
    /// Ids of the edits and groups on the page; `None` while these are rendered.
    edits: Option<HashSet<String>>,
}

impl HtmlPage<'_, '_> {
    fn html(mut self) -> String {
        let sites = self.sites();
        let advice = self.advice();
        let edits = self.edits();
        let unexplained = self.unexplained();
        self.edits = Some(names_in(&edits.content));
        let all = [
            sites,
            advice,
            self.errors(),
            edits,
            unexplained,
            self.others(),
            self.rules(),
        ];
        let sections = || all.iter().filter(|section| !section.content.is_empty());
        let main: String = sections().map(PageSection::html).collect();
        let links: String = sections().map(PageSection::link).collect();
        let head = head::html(&self.title());
        let script = head::script();
        let header = self.header();
        let tools = self.tools();
        let footer = self.footer();
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n{head}<body>\n{header}<nav aria-label=\"parts of \
             the report\">\n{links}</nav>\n{tools}<main>\n{main}</main>\n{footer}<script>{script}\
             </script>\n</body>\n</html>\n"
        )
    }

    fn text(&self, text: &StyledText) -> String {
        text.pieces
            .chunk_by(|one, next| one.link == next.link)
            .map(|pieces| {
                let html: String = pieces.iter().map(piece).collect();
                match pieces[0].link.as_ref().and_then(|link| self.address(link)) {
                    Some(address) => format!("<a href=\"{}\">{html}</a>", escape::text(&address)),
                    None => html,
                }
            })
            .collect()
    }

    /// Returns the target of a link: an existing element of the page, or an `http(s)` address.
    /// Other targets are dropped, since a report is untrusted.
    fn address(&self, link: &TextLink) -> Option<String> {
        if let TextLink::Anchor(name) = link {
            let is_there = self.edits.as_ref().is_none_or(|names| names.contains(name));
            return is_there.then(|| format!("#{name}"));
        }
        let address = self.story.report.address(link);
        address.filter(|it| it.starts_with("https://") || it.starts_with("http://"))
    }

    /// Returns the `id` attribute of an element; empty if the id is already used.
    fn id(&self, name: &str) -> String {
        let is_new = self.ids.borrow_mut().insert(name.to_owned());
        if is_new {
            format!(" id=\"{}\"", escape::text(name))
        } else {
            String::new()
        }
    }
}

/// Returns the ids in HTML; quotes in text are escaped and cannot match.
fn names_in(html: &str) -> HashSet<String> {
    let names = html
        .split(" id=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next());
    names.map(str::to_owned).collect()
}

fn piece(piece: &TextPiece) -> String {
    let words = escape::text(&piece.text);
    match piece.role {
        TextRole::Plain => escape::words(&piece.text),
        TextRole::Strong => format!("<b>{words}</b>"),
        TextRole::Name => format!("<code>{words}</code>"),
        TextRole::Place => format!("<code class=\"place\">{words}</code>"),
        TextRole::Good | TextRole::Error | TextRole::Warning | TextRole::Note => {
            format!("<span class=\"{}\">{words}</span>", class(piece.role))
        }
        TextRole::Dim => format!("<small>{words}</small>"),
        TextRole::Flag => String::new(),
    }
}

/// Returns the CSS class of a role.
fn class(role: TextRole) -> &'static str {
    match role {
        TextRole::Good => "good",
        TextRole::Error => "error",
        TextRole::Warning => "warning",
        TextRole::Note => "note",
        TextRole::Dim => "dim",
        TextRole::Plain | TextRole::Strong | TextRole::Name | TextRole::Place | TextRole::Flag => {
            ""
        }
    }
}

/// A section of the page; omitted if it has no content.
struct PageSection {
    id: &'static str,
    title: &'static str,
    count: usize,
    content: String,
}

impl PageSection {
    fn html(&self) -> String {
        let Self {
            id,
            title,
            count,
            content,
        } = self;
        format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title} \
             <span class=\"count\">{count}</span></h2>\n{content}</section>\n"
        )
    }

    fn link(&self) -> String {
        let Self {
            id, title, count, ..
        } = self;
        format!("<a href=\"#{id}\">{title} <span class=\"count\">{count}</span></a>\n")
    }
}

/// Renders a `<details>` element; nothing for empty content.
fn folded(class: &str, summary: &str, content: &str) -> String {
    if content.is_empty() {
        return String::new();
    }
    format!("<details class=\"{class}\"><summary>{summary}</summary>\n{content}</details>\n")
}

/// Renders the first items that fit into `max_bytes`; returns the HTML and the number of omitted
/// items.
fn fitting<T>(
    items: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
    max_bytes: usize,
    html: impl Fn(T) -> String,
) -> (Vec<String>, usize) {
    let mut all = Vec::new();
    let mut bytes = 0;
    let mut items = items.into_iter();
    while let Some(item) = items.next() {
        let next = html(item);
        bytes += next.len();
        if bytes > max_bytes {
            return (all, items.len() + 1);
        }
        all.push(next);
    }
    (all, 0)
}

/// Renders the items that fit into `max_bytes`, followed by the number of omitted ones.
fn list<T>(
    items: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
    what: &str,
    max_bytes: usize,
    html: impl Fn(T) -> String,
) -> String {
    let (items, left_out) = fitting(items, max_bytes, html);
    items.concat() + &more(left_out, what)
}

/// Renders a list; the items after the first `max` are folded.
fn unfolded<'l, T>(
    items: &'l [T],
    what: &str,
    max: usize,
    max_bytes: usize,
    html: impl Fn(&'l T) -> String,
) -> String {
    let unfolded = if items.len() <= max {
        items.len()
    } else {
        max - 1
    };
    let (mut first, left_out) = fitting(items, max_bytes, html);
    let rest = first.split_off(first.len().min(unfolded)).concat() + &more(left_out, what);
    let rest_count = counted(items.len() - first.len(), &format!("more {what}"));
    first.concat() + &folded("rest", &rest_count, &rest)
}

/// Renders a note on omitted items; nothing if there are none.
fn more(count: usize, what: &str) -> String {
    if count == 0 {
        return String::new();
    }
    let what = counted(count, &format!("more {what}"));
    format!("<p class=\"more\">… {what}: see the JSON report</p>\n")
}
