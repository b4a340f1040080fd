//! The verdict, figures of the run, the compared sides, and the site table.

use super::escape::text;
use super::filter;
use super::{HtmlPage, PageSection, class, fitting, folded, more};
use crate::report::counted;
use crate::report::links::encoded;
use crate::report::story::{Advice, SiteColumn, SiteTable, SiteTableRow, repository};
use crate::report::text::StyledText;

/// Maximum size of the rows of the site table in bytes.
const MAX_BYTES: usize = 256 << 10;

impl HtmlPage<'_, '_> {
    /// Returns the verdict as plain text.
    pub(super) fn title(&self) -> String {
        let badge = self
            .story
            .headline
            .badge
            .map(|(badge, _)| format!("{badge} "));
        badge.unwrap_or_default() + &self.reason().words().replace('`', "")
    }

    /// Returns the reason of the verdict or, if there is none, the first figures.
    fn reason(&self) -> StyledText {
        let headline = &self.story.headline;
        let first = headline
            .figures
            .first()
            .filter(|_| headline.reason.is_empty());
        first.unwrap_or(&headline.reason).clone()
    }

    pub(super) fn header(&self) -> String {
        let headline = &self.story.headline;
        let badge = headline
            .badge
            .map(|(badge, role)| format!("<span class=\"verdict {}\">{badge}</span> ", class(role)))
            .unwrap_or_default();
        let reason = self.text(&self.reason());
        let figures = headline
            .figures
            .iter()
            .skip(headline.reason.is_empty().into());
        let figures: String = headline
            .switches
            .iter()
            .chain(figures)
            .chain(&headline.findings)
            .map(|text| format!("<li>{}</li>\n", self.text(text)))
            .collect();
        let figures = match &*figures {
            "" => String::new(),
            figures => format!("<ul class=\"figures\">\n{figures}</ul>\n"),
        };
        let sides = self.sides();
        format!(
            "<header>\n<p class=\"brand\">layercake</p>\n<h1>{badge}{reason}</h1>\n\
             {figures}<dl class=\"sides\">\n{sides}</dl>\n</header>\n"
        )
    }

    /// Renders the sides: the header of the story with commit times.
    fn sides(&self) -> String {
        let report = self.story.report;
        let comparison = report.comparison.as_ref();
        let alone = repository(report).filter(|_| comparison.is_none());
        alone
            .iter()
            .map(|text| ("repository", text))
            .chain(self.story.header.iter().map(|(word, text)| (*word, text)))
            .map(|(word, text)| {
                let side = match word {
                    "base" => comparison.map(|it| &it.base),
                    "head" => comparison.map(|it| &it.head),
                    _ => None,
                };
                let date = match (word, side) {
                    ("repository", _) => {
                        report.repository.as_ref().and_then(|it| it.date.as_deref())
                    }
                    (_, side) => side.and_then(|side| side.date.as_deref()),
                };
                let date = date.map(time).unwrap_or_default();
                format!(
                    "<div><dt>{word}</dt><dd>{}{date}</dd></div>\n",
                    self.text(text)
                )
            })
            .collect()
    }

    pub(super) fn sites(&self) -> PageSection {
        let table = self.story.sites.as_ref();
        let rows = table.iter().flat_map(|table| &table.rows);
        PageSection {
            id: "sites",
            title: "Sites",
            count: rows.map(|row| row.count).sum(),
            content: table.map(|table| self.table(table)).unwrap_or_default(),
        }
    }

    /// Renders what the changes ask of the operators of sites.
    pub(super) fn advice(&self) -> PageSection {
        let advice = &self.story.advice;
        let entry = |advice: &Advice| {
            let lines = advice.cautions.iter().map(|line| self.text(line));
            let lines: String = lines.map(|line| format!("<br>{line}")).collect();
            let attributes = filter::of_sites(&advice.sites);
            let title = self.text(&advice.title);
            format!("<p class=\"entry\" tabindex=\"-1\"{attributes}>{title}{lines}</p>\n")
        };
        PageSection {
            id: "actions",
            title: "Actions",
            count: advice.len(),
            content: advice.iter().map(entry).collect(),
        }
    }

    fn table(&self, table: &SiteTable) -> String {
        let columns = table.columns.iter();
        let heads: String = columns
            .map(|it| format!("<th scope=\"col\"{}>{}</th>", alignment(it), it.head))
            .collect();
        let (rows, left_out) = fitting(&table.rows, MAX_BYTES, |row| self.row(row, &table.columns));
        let unchanged = match table.unchanged {
            0 => String::new(),
            count => format!(
                "<p class=\"more\">{} unchanged</p>\n",
                counted(count, "site")
            ),
        };
        let rows = rows.concat();
        let more = more(left_out, "row");
        format!(
            "<table class=\"sites\"><thead><tr><th scope=\"col\">sites</th>{heads}</tr></thead>\n\
             <tbody>\n{rows}</tbody></table>\n{more}{unchanged}"
        )
    }

    fn row(&self, row: &SiteTableRow, columns: &[&SiteColumn]) -> String {
        let sites = match &row.names[..] {
            [only] => self.site(only),
            names => {
                let sites: String = names
                    .iter()
                    .map(|name| format!("<li>{}</li>\n", self.site(name)))
                    .collect();
                folded(
                    "names",
                    &self.text(&row.sites),
                    &format!("<ul>\n{sites}</ul>\n"),
                )
            }
        };
        let cells: String = columns
            .iter()
            .zip(&row.cells)
            .map(|(column, cell)| self::cell(column, cell))
            .collect();
        let traits = filter::of_sites(&row.indices);
        format!("<tr{traits}><th scope=\"row\">{sites}</th>{cells}</tr>\n")
    }

    /// Renders a site name as a link to itself.
    fn site(&self, name: &str) -> String {
        let anchor = format!("site-{}", encoded(name));
        let id = self.id(&anchor);
        format!(
            "<a{id} class=\"self\" href=\"#{anchor}\">{}</a>",
            text(name)
        )
    }

    pub(super) fn footer(&self) -> String {
        let report = self.story.report;
        let name = text(&report.tool.name);
        let version = text(&report.tool.version);
        let values = match report.truncated.values {
            0 => String::new(),
            count => format!(" {} too long to show.", counted(count, "value")),
        };
        format!(
            "<footer><p>{name} {version}. Secrets are hidden: neither their values nor their \
             lengths are in this file. It fetches nothing.{values}</p></footer>\n"
        )
    }
}

fn cell(column: &SiteColumn, cell: &str) -> String {
    let class = class(column.role);
    let words = text(cell);
    match cell {
        "" => "<td></td>".to_owned(),
        _ => format!(
            "<td data-head=\"{}\"{}><span class=\"{class}\">{words}</span></td>",
            column.head,
            alignment(column)
        ),
    }
}

/// Returns the class attribute that aligns a column of words.
fn alignment(column: &SiteColumn) -> &'static str {
    if column.is_figures {
        ""
    } else {
        " class=\"words\""
    }
}

/// Renders the time of a commit.
fn time(date: &str) -> String {
    let words = date.replacen('T', " ", 1);
    format!(" <time datetime=\"{}\">{}</time>", text(date), text(&words))
}
