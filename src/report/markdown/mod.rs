//! Markdown report: a job summary, or a comment on a pull request.
//!
//! The report begins with the verdict, root causes, and the edits with their effects. The rest is
//! folded with `<details>`. Details that exceed the budget are removed level by level, and a note
//! reports what was removed. No string of a report is interpreted as Markdown, notifies a user, or
//! becomes a link: see `text`.

mod bounded_page;
mod text;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};

use self::bounded_page::{BoundedPage, PageFull, TableColumn};
use self::text::{code, link, message, short};
pub(super) use self::text::{in_cell, prose};
use super::model::{Report, ReportedEdit};
use super::story::{
    Arrangement, ChangeEntry, ChangedValue, Danger, EditEntry, FindingEntry, OutputBlock,
    RouteEntry, ShortDelta, SiteTable, Story, UNEXPLAINED, ValueDelta, edit_numbers, labelled,
    place_of,
};
use super::text::{StyledText, TextLink, TextPiece, TextRole};
use super::{FormatOptions, counted};

/// Maximum size of a page.
///
/// Hosts count characters in different units. A string never has fewer bytes than UTF-16 code units
/// or characters, so bytes are a safe upper bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    bytes: usize,
    levels: &'static [DetailLevel],
}

impl Budget {
    /// Job summary: GitHub accepts 1 MiB per step.
    pub(super) const SUMMARY: Self = Self {
        bytes: 900_000,
        levels: &LEVELS,
    };
    /// Pull request comment, which should be short.
    pub(super) const COMMENT: Self = Self {
        bytes: 8_000,
        levels: LEVELS.split_at(2).1,
    };
}

/// Maximum number of items of each kind at one level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DetailLevel {
    sites: usize,
    errors: usize,
    /// Minimum number of entries: if fewer fit, the level has too many details.
    entries: usize,
    /// Per entry, like the following fields.
    changes: usize,
    groups: usize,
    lines: usize,
    shields: usize,
    findings: usize,
    has_routes: bool,
    /// Maximum length of a quoted string in characters.
    text: usize,
}

const LEVELS: [DetailLevel; 9] = [
    DetailLevel::new(1_000, 200, 500, [50, 200, 40, 100], 500, true, 1_000),
    DetailLevel::new(200, 50, 100, [10, 50, 20, 20], 200, true, 500),
    DetailLevel::new(20, 5, 8, [3, 8, 8, 4], 10, true, 300),
    DetailLevel::new(12, 4, 5, [2, 6, 8, 3], 5, true, 240),
    DetailLevel::new(8, 3, 3, [2, 5, 6, 2], 3, false, 200),
    DetailLevel::new(5, 2, 2, [1, 3, 4, 1], 1, false, 120),
    DetailLevel::new(1, 1, 1, [1, 1, 2, 1], 1, false, 60),
    DetailLevel::new(1, 1, 1, [1, 0, 1, 0], 0, false, 24),
    DetailLevel::new(0, 1, 0, [0, 0, 0, 0], 0, false, 8),
];

impl DetailLevel {
    const fn new(
        sites: usize,
        errors: usize,
        entries: usize,
        [changes, groups, lines, shields]: [usize; 4],
        findings: usize,
        has_routes: bool,
        text: usize,
    ) -> Self {
        Self {
            sites,
            errors,
            entries,
            changes,
            groups,
            lines,
            shields,
            findings,
            has_routes,
            text,
        }
    }
}

/// Writes a report at the highest level of detail that fits into the budget.
///
/// # Errors
/// Fails if writing to `out` fails.
pub(super) fn write(
    report: &Report,
    options: &FormatOptions<'_>,
    budget: Budget,
    out: &mut dyn Write,
) -> io::Result<()> {
    let story = Story::new(report, options.listing, Arrangement::Short);
    let mut pages = budget
        .levels
        .iter()
        .map(|level| fullest_page(&story, *level, budget.bytes));
    let page = pages
        .find_map(Result::ok)
        .expect("the last level fits any report");
    out.write_all(page.as_bytes())
}

/// Returns a page with as many entries as fit, if all dangerous ones and as many as the level needs
/// do.
fn fullest_page(story: &Story<'_>, level: DetailLevel, bytes: usize) -> Result<String, PageFull> {
    let all = story.entries.len();
    let dangerous = story
        .entries
        .iter()
        .filter(|entry| entry.danger() != Danger::None)
        .count();
    let with = |entries: usize| page(story, DetailLevel { entries, ..level }, bytes);
    let needed = level
        .entries
        .max(dangerous.min(level.entries * MAX_DANGEROUS))
        .min(all);
    let mut fullest = with(needed)?;
    let mut fitting = needed;
    let mut too_many = all + 1;
    while too_many - fitting > 1 {
        let middle = fitting.midpoint(too_many);
        match with(middle) {
            Ok(page) => (fitting, fullest) = (middle, page),
            Err(PageFull) => too_many = middle,
        }
    }
    Ok(fullest)
}

/// Maximum number of dangerous entries for each entry that a level needs: the rest gives way to the
/// details of the first ones.
const MAX_DANGEROUS: usize = 4;

fn page(story: &Story<'_>, level: DetailLevel, bytes: usize) -> Result<String, PageFull> {
    let mut page = MarkdownPage {
        story,
        level,
        page: BoundedPage::new(bytes),
    };
    page.write()?;
    Ok(page.page.into_text())
}

/// A page under construction.
struct MarkdownPage<'s, 'r> {
    story: &'s Story<'r>,
    level: DetailLevel,
    page: BoundedPage,
}

impl<'r> MarkdownPage<'_, 'r> {
    fn write(&mut self) -> Result<(), PageFull> {
        self.write_headline()?;
        self.write_unexplained()?;
        self.write_errors()?;
        self.write_entries()?;
        self.write_advice()?;
        self.write_sites()?;
        self.write_edits("content unknown", &self.story.unknown)?;
        self.write_edits("no effect", &self.story.inert)?;
        self.write_commits()?;
        self.write_findings()?;
        self.write_footer()
    }

    fn write_headline(&mut self) -> Result<(), PageFull> {
        let headline = &self.story.headline;
        let figures = headline
            .switches
            .iter()
            .chain(&headline.figures)
            .chain(&headline.findings);
        let (title, figures): (String, Vec<&StyledText>) = match headline.badge {
            Some((badge, _)) => {
                let reason = self.text(&plain(&headline.reason));
                (
                    format!("{badge} {reason}").trim_end().to_owned(),
                    figures.collect(),
                )
            }
            None if !headline.reason.is_empty() => {
                (self.text(&plain(&headline.reason)), figures.collect())
            }
            None => {
                let mut figures = figures;
                let first = figures
                    .next()
                    .map(|text| self.text(&plain(text)))
                    .unwrap_or_default();
                (first, figures.collect())
            }
        };
        self.page.heading(3, &format!("layercake: {title}"))?;
        if figures.is_empty() {
            return Ok(());
        }
        let figures: Vec<String> = figures.into_iter().map(|text| self.text(text)).collect();
        self.page.list(figures)
    }

    fn write_unexplained(&mut self) -> Result<(), PageFull> {
        if self.story.unexplained.is_empty() {
            return Ok(());
        }
        let shown = self.story.unexplained.iter().take(self.level.errors);
        let outputs: Vec<String> = shown.map(|text| self.text(text)).collect();
        let more = self.story.unexplained.len() - outputs.len();
        let outputs = format!("{}{}", outputs.join("; "), and_more(more));
        self.page
            .alert(&[format!("**Unexplained.** {UNEXPLAINED}"), outputs])
    }

    /// Writes new errors, root causes first.
    fn write_errors(&mut self) -> Result<(), PageFull> {
        let (shown, more) = limited(&self.story.errors, self.level.errors);
        if shown.is_empty() {
            return Ok(());
        }
        let items: Vec<String> = shown.iter().map(|entry| self.finding(entry)).collect();
        self.write_list(items, more, "more error")
    }

    /// Writes the first entries unfolded and the others folded.
    fn write_entries(&mut self) -> Result<(), PageFull> {
        const MAX_OPEN_ENTRIES: usize = 2;
        let entries = &self.story.entries;
        let (shown, more) = limited(entries, self.level.entries);
        let open = shown.len().min(MAX_OPEN_ENTRIES);
        shown[..open]
            .iter()
            .try_for_each(|entry| self.write_change(entry))?;
        let folded = &shown[open..];
        if !folded.is_empty() {
            let summary = counted(folded.len(), "more group");
            self.page.open_details(&summary)?;
            folded
                .iter()
                .try_for_each(|entry| self.write_change(entry))?;
            self.page.close_details()?;
        }
        self.write_more(more, "group")
    }

    fn write_change(&mut self, entry: &ChangeEntry<'r>) -> Result<(), PageFull> {
        match entry {
            ChangeEntry::Edits(entry) => self.write_entry(entry),
            ChangeEntry::Outputs(block) => {
                let values: Vec<&ChangedValue<'r>> = block.values.iter().collect();
                self.write_block(block, &values, |value| value.edits.clone())?;
                self.write_route(block.route.as_ref())
            }
        }
    }

    fn write_entry(&mut self, entry: &EditEntry<'r>) -> Result<(), PageFull> {
        let title = self.entry_title(entry);
        self.page.paragraph(&title)?;
        let (changes, more) = limited(&entry.changes, self.level.changes);
        let mut lines = Vec::new();
        for change in changes {
            let (edits, more) = limited(&change.edits, self.level.changes);
            for edit in edits {
                lines.push(format!(
                    "@@ {} @@",
                    self.edited(edit, entry.edits.len() > 1)
                ));
            }
            lines.extend(counted_more(more, "more place").map(|more| format!("@@ {more} @@")));
            lines.extend(self.delta_lines(&change.delta));
        }
        lines.extend(counted_more(more, "more change").map(|more| format!("@@ {more} @@")));
        if !lines.is_empty() {
            self.page.fenced("diff", &lines)?;
        }
        let reach = self.text(&entry.reach);
        self.page.paragraph(&reach)?;
        self.write_reached(entry)
    }

    fn entry_title(&self, entry: &EditEntry<'r>) -> String {
        let numbers = format!("**{}**", edit_numbers(&entry.edits));
        let place = match self.text(&place_of(entry.edits[0])) {
            place if place.is_empty() => place,
            place => format!(" at {place}"),
        };
        let places: BTreeSet<String> = entry
            .edits
            .iter()
            .map(|edit| place_of(edit).words())
            .collect();
        format!("{numbers}{place}{}", and_more(places.len() - 1))
    }

    /// Returns the place and path of an edit for a hunk header.
    fn edited(&self, edit: &ReportedEdit, is_one_of_many: bool) -> String {
        let subject = self.story.names.subject(edit).words();
        let place = edit
            .at
            .last()
            .filter(|_| is_one_of_many)
            .map(|it| format!("{}:{} ", it.file, it.line))
            .unwrap_or_default();
        self.quoted(&format!("{place}{subject}")).into_owned()
    }

    /// Writes the outputs, the route and the shields of an entry, folded.
    fn write_reached(&mut self, entry: &EditEntry<'r>) -> Result<(), PageFull> {
        let has_route = self.level.has_routes && entry.route.is_some();
        if entry.blocks.is_empty() && entry.stops.is_empty() && !has_route {
            return Ok(());
        }
        let parts = [
            (
                entry.blocks.len(),
                counted(entry.blocks.len(), "group") + " of outputs",
            ),
            (usize::from(has_route), "the route".to_owned()),
            (entry.stops.len(), counted(entry.stops.len(), "shield")),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(_, words)| words);
        if self.level.groups == 0 {
            return Ok(());
        }
        self.page
            .open_details(&parts.collect::<Vec<_>>().join(", "))?;
        let (blocks, more) = limited(&entry.blocks, self.level.groups);
        for block in blocks {
            let (_, others) = entry.split(block);
            self.write_block(block, &others, |value| entry.others_behind(value))?;
        }
        self.write_more(more, "group")?;
        self.write_route(entry.route.as_ref())?;
        let (stops, more) = limited(&entry.stops, self.level.shields);
        let mut items: Vec<String> = stops.iter().map(|stop| self.text(stop)).collect();
        items.extend(counted_more(more, "more shield"));
        if !items.is_empty() {
            self.page.list(items)?;
        }
        self.page.close_details()
    }

    fn write_route(&mut self, route: Option<&RouteEntry>) -> Result<(), PageFull> {
        let Some(route) = route.filter(|_| self.level.has_routes) else {
            return Ok(());
        };
        let title = self.text(&route.title);
        self.page.paragraph(&title)?;
        let steps: Vec<String> = route
            .steps
            .iter()
            .map(|step| format!("{}: {}", self.text(&step.places), self.text(&step.words)))
            .collect();
        self.page.steps(steps)
    }

    /// Writes outputs with these values, and the places of the edits behind each.
    fn write_block(
        &mut self,
        block: &OutputBlock<'r>,
        values: &[&ChangedValue<'r>],
        behind: impl Fn(&ChangedValue<'r>) -> Vec<&'r ReportedEdit>,
    ) -> Result<(), PageFull> {
        let mut title = self.text(&block.title);
        let (documents, more) = limited(&block.documents, self.level.groups);
        if !documents.is_empty() {
            let documents: Vec<String> = documents.iter().map(|it| self.text(it)).collect();
            title += &format!(": {}{}", documents.join(", "), and_more(more));
        }
        self.page.paragraph(&title)?;
        if !block.caused.is_empty() {
            let edits: Vec<String> = block.caused.iter().map(|edit| self.text(edit)).collect();
            self.page.list(edits)?;
        }
        let (values, more) = limited(values, self.level.changes);
        if values.is_empty() {
            return Ok(());
        }
        let mut lines = Vec::new();
        for value in values {
            let places = self.story.names.places(&behind(value)).words();
            let places = if places.is_empty() {
                places
            } else {
                format!(" {}", self.quoted(&places))
            };
            lines.push(format!("@@ {} @@{places}", self.quoted(&value.delta.path)));
            lines.extend(self.delta_lines(&value.delta));
        }
        lines.extend(counted_more(more, "more place").map(|more| format!("@@ {more} @@")));
        self.page.fenced("diff", &lines)
    }

    fn delta_lines(&self, delta: &ValueDelta) -> Vec<String> {
        if let Some(ShortDelta::Only(sign, text)) = delta.short(self.level.lines) {
            return vec![format!("{}{}", sign.mark(), self.quoted(&text))];
        }
        let (shown, more) = delta.shortened(self.level.lines);
        let mut lines: Vec<String> = shown
            .iter()
            .map(|line| format!("{}{}", line.sign.mark(), self.quoted(&line.text)))
            .collect();
        lines.extend(counted_more(more, "more line").map(|more| format!("  … {more}")));
        lines
    }

    /// Writes what the changes ask of the operators of sites.
    fn write_advice(&mut self) -> Result<(), PageFull> {
        let (shown, more) = limited(&self.story.advice, self.level.sites);
        let mut items: Vec<String> = shown
            .iter()
            .map(|advice| {
                let lines = std::iter::once(&advice.title).chain(&advice.cautions);
                let lines: Vec<String> = lines.map(|line| self.text(line)).collect();
                lines.join("<br>")
            })
            .collect();
        items.extend(counted_more(more, "more answer"));
        if items.is_empty() {
            return Ok(());
        }
        self.page.list(items)
    }

    fn write_sites(&mut self) -> Result<(), PageFull> {
        let Some(table) = self.story.sites.as_ref().filter(|_| self.level.sites > 0) else {
            return Ok(());
        };
        let count: usize = table.rows.iter().map(|row| row.count).sum();
        self.page.open_details(&counted(count, "site"))?;
        self.write_table(table)?;
        self.page.close_details()
    }

    fn write_table(&mut self, table: &SiteTable) -> Result<(), PageFull> {
        let (rows, _) = limited(&table.rows, self.level.sites);
        let columns: Vec<TableColumn> = std::iter::once(TableColumn::Text("sites"))
            .chain(table.columns.iter().map(|column| {
                if column.is_figures {
                    TableColumn::Number(column.head)
                } else {
                    TableColumn::Text(column.head)
                }
            }))
            .collect();
        let cells: Vec<Vec<String>> = rows
            .iter()
            .map(|row| {
                let cells = row.cells.iter().map(|cell| prose(cell));
                std::iter::once(self.text(&row.sites))
                    .chain(cells)
                    .collect::<Vec<_>>()
            })
            .collect();
        self.page.table(&columns, cells)?;
        let left_out = table.rows[rows.len()..].iter().map(|row| row.count).sum();
        self.write_more(left_out, "site")?;
        match table.unchanged {
            0 => Ok(()),
            count => self
                .page
                .paragraph(&format!("{} unchanged", counted(count, "site"))),
        }
    }

    fn write_edits(&mut self, title: &str, edits: &[&ReportedEdit]) -> Result<(), PageFull> {
        if edits.is_empty() {
            return Ok(());
        }
        if self.level.findings == 0 {
            return self.write_more(edits.len(), "edit");
        }
        self.page
            .open_details(&format!("{title}: {}", counted(edits.len(), "edit")))?;
        let (shown, more) = limited(edits, self.level.findings);
        let items: Vec<String> = shown
            .iter()
            .map(|edit| {
                let text = place_of(edit)
                    .and(" ")
                    .join(self.story.without_effect(edit));
                self.text(&text)
            })
            .collect();
        self.write_list(items, more, "more edit")?;
        self.page.close_details()
    }

    fn write_commits(&mut self) -> Result<(), PageFull> {
        for commits in &self.story.commits {
            let title = self.text(&plain(&commits.title));
            let (listed, more) = limited(&commits.listed, self.level.findings);
            if listed.is_empty() {
                continue;
            }
            self.page.open_details(&title)?;
            let items: Vec<String> = listed.iter().map(|it| self.text(it)).collect();
            let more = more + commits.more;
            self.write_list(items, more, "more commit")?;
            self.page.close_details()?;
        }
        Ok(())
    }

    fn write_findings(&mut self) -> Result<(), PageFull> {
        let others = &self.story.others;
        if others.is_empty() {
            return Ok(());
        }
        if self.level.findings == 0 {
            return self.write_more(others.len(), "finding");
        }
        self.page
            .open_details(&counted(others.len(), "other finding"))?;
        let (shown, more) = limited(others, self.level.findings);
        let items: Vec<String> = shown.iter().map(|entry| self.finding(entry)).collect();
        self.write_list(items, more, "more finding")?;
        self.page.close_details()
    }

    /// Formats a finding as one list item: message, place and remedy.
    fn finding(&self, entry: &FindingEntry<'r>) -> String {
        let finding = entry.finding;
        let words = self.quoted(&finding.message);
        let mut item = format!("**{}** {}", finding.severity.as_str(), message(&words));
        let rule = code(&self.quoted(&finding.rule));
        let page = TextLink::Rule(finding.rule.clone());
        item += &format!(" ({})", self.linked(rule, Some(&page)));
        let place = StyledText::place(&finding.primary.start(), true);
        item += &format!(" at {}", self.text(&place));
        if finding.primary.decoded.is_some() {
            item += &format!(" {}", prose(&self.quoted(&labelled(&finding.primary))));
        }
        let notes = finding.notes.iter().chain(&finding.help);
        for note in notes {
            item += &format!("<br>{}", message(&self.quoted(note)));
        }
        for (at, (word, text)) in entry.circumstances().enumerate() {
            let before = if at == 0 { "<br>" } else { ", " };
            item += &format!("{before}{word} {}", self.text(text));
        }
        item
    }

    fn write_list(
        &mut self,
        mut items: Vec<String>,
        more: usize,
        what: &str,
    ) -> Result<(), PageFull> {
        items.extend(counted_more(more, what));
        self.page.list(items)
    }

    fn write_more(&mut self, more: usize, what: &str) -> Result<(), PageFull> {
        match more {
            0 => Ok(()),
            more => {
                let what = counted(more, &format!("more {what}"));
                self.page
                    .paragraph(&format!("… {what} (see the other reports of this run)"))
            }
        }
    }

    /// Writes the compared sides and the version of layercake.
    fn write_footer(&mut self) -> Result<(), PageFull> {
        let header = self.story.header.iter();
        let parts = header.map(|(word, text)| format!("{word} {}", self.text(text)));
        let tool = &self.story.report.tool.version;
        let version = format!("layercake {}", prose(&self.quoted(tool)));
        let parts: Vec<String> = std::iter::once(version).chain(parts).collect();
        self.page
            .paragraph(&format!("<sub>{}</sub>", parts.join(" · ")))
    }

    /// Renders styled text as Markdown.
    fn text(&self, text: &StyledText) -> String {
        text.pieces.iter().map(|piece| self.piece(piece)).collect()
    }

    /// Renders a piece of styled text as Markdown, with the space between it and its neighbours.
    fn piece(&self, piece: &TextPiece) -> String {
        // Spaces at the ends of a name belong to the name.
        let is_name = matches!(piece.role, TextRole::Name | TextRole::Place);
        let words = if is_name {
            &*piece.text
        } else {
            piece.text.trim_matches(' ')
        };
        let text = self.quoted(words);
        let space = |is_there: bool| if is_there && !is_name { " " } else { "" };
        let before = piece.text.starts_with(' ');
        let behind = piece.text.ends_with(' ');
        if text.is_empty() {
            return space(before).to_owned();
        }
        let inside = match piece.role {
            TextRole::Name | TextRole::Place => code(&text),
            TextRole::Strong | TextRole::Error | TextRole::Warning => strong(&prose(&text)),
            TextRole::Plain | TextRole::Good | TextRole::Note | TextRole::Dim | TextRole::Flag => {
                prose(&text)
            }
        };
        let inside = self.linked(inside, piece.link.as_ref());
        format!("{}{inside}{}", space(before), space(behind))
    }

    /// Links Markdown to the target of `to`, unless it has no URL or a very long one.
    fn linked(&self, inside: String, to: Option<&TextLink>) -> String {
        let address = to.and_then(|to| self.story.report.address(to));
        let linked = address.map(|address| link(&inside, &address));
        linked
            .filter(|it| it.len() <= MAX_LINK_BYTES)
            .unwrap_or(inside)
    }

    /// Returns a string on one line, truncated to the length of the level of detail.
    fn quoted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        short(text, self.level.text)
    }
}

/// Maximum length of a URL in bytes; browsers and hosts reject much longer ones.
const MAX_LINK_BYTES: usize = 1_000;

/// Removes bold from a text for a heading, which is bold as a whole.
fn plain(text: &StyledText) -> StyledText {
    let pieces = text.pieces.iter().cloned().map(|piece| match piece.role {
        TextRole::Name | TextRole::Place => piece,
        _ => TextPiece {
            role: TextRole::Plain,
            ..piece
        },
    });
    StyledText {
        pieces: pieces.collect(),
    }
}

/// Formats a string as bold.
fn strong(words: &str) -> String {
    format!("**{words}**")
}

fn and_more(more: usize) -> String {
    if more == 0 {
        String::new()
    } else {
        format!(" and {more} more")
    }
}

/// Formats the number of omitted items, if there are any.
fn counted_more(more: usize, what: &str) -> Option<String> {
    (more > 0).then(|| counted(more, what))
}

/// Returns the first items of a list and the number of omitted ones.
fn limited<T>(list: &[T], limit: usize) -> (&[T], usize) {
    let shown = list.len().min(limit);
    (&list[..shown], list.len() - shown)
}
