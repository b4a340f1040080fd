//! Findings: messages, source lines, notes, remedies, and the edits that caused them.

use indexmap::IndexMap;

use super::escape::{text, words};
use super::excerpt::ContextLines;
use super::{HtmlPage, PageSection, filter, list, unfolded};
use crate::report::model::{Finding, LabelledPlace, State};
use crate::report::story::FindingEntry;
use crate::report::text::{StyledText, TextLink};

/// Maximum size of all findings of a section in bytes.
const MAX_BYTES: usize = 2 << 20;

/// Maximum size of the places of one finding in bytes.
const MAX_PLACE_BYTES: usize = 32 << 10;

/// Maximum number of places of one finding shown unfolded.
const MAX_PLACES: usize = 4;

/// Maximum number of documents listed for one finding.
const MAX_DOCUMENTS: usize = 8;

/// Maximum number of findings of a section that are initially unfolded.
const MAX_UNFOLDED: usize = 20;

impl<'r> HtmlPage<'_, 'r> {
    pub(super) fn errors(&self) -> PageSection {
        let errors = &self.story.errors;
        let title = match self.story.report.comparison {
            Some(_) => "New errors",
            None => "Errors",
        };
        let open = open(errors.len());
        let content = list(errors, "finding", MAX_BYTES, |it| self.finding(it, open));
        PageSection {
            id: "errors",
            title,
            count: total(errors),
            content,
        }
    }

    /// Renders all findings other than new errors, by file.
    pub(super) fn others(&self) -> PageSection {
        let mut files: IndexMap<&str, Vec<&FindingEntry<'r>>> = IndexMap::new();
        for entry in &self.story.others {
            files
                .entry(&*entry.finding.primary.file)
                .or_default()
                .push(entry);
        }
        let open = open(self.story.others.len());
        let content = list(&files, "file", MAX_BYTES, |(file, entries)| {
            let findings = list(entries, "finding", MAX_BYTES / 2, |entry| {
                self.finding(entry, open)
            });
            let title = format!("<h3><code>{}</code></h3>\n", text(file));
            format!("<section class=\"file\">{title}{findings}</section>\n")
        });
        let count = total(&self.story.others);
        PageSection {
            id: "findings",
            title: "Other findings",
            count,
            content,
        }
    }

    fn finding(&self, entry: &FindingEntry<'r>, open: &str) -> String {
        let finding = entry.finding;
        let name = format!("f{}", entry.index + 1);
        let id = self.id(&name);
        let attributes = filter::of_finding(entry, self.story);
        let level = finding.severity.as_str();
        let state = state(finding);
        let message = words(&finding.message);
        let rule = self.rule_name(&finding.rule);
        let place = &finding.primary;
        let place = format!(
            "<small class=\"where\">{}:{}</small>",
            text(&place.file),
            place.line
        );
        let primary = self.excerpt(&finding.primary, ContextLines::OneLine);
        let related = self.related(&finding.related);
        let facts = self.facts(entry);
        format!(
            "<article class=\"finding\"{id} tabindex=\"-1\"{attributes}>\n<a class=\"self\" \
             href=\"#{name}\" aria-label=\"link to {name}\"></a>\n<details{open}><summary>\
             <span class=\"badge {level}\">{level}</span> {state}{message} <small \
             class=\"rule\">{rule}</small> {place}</summary>\n{primary}{related}{facts}</details>\n</article>\n"
        )
    }

    /// Renders the name of a rule, linked to its published page if there is one.
    fn rule_name(&self, name: &str) -> String {
        match self.address(&TextLink::Rule(name.to_owned())) {
            Some(address) => format!("<a href=\"{}\">{}</a>", text(&address), text(name)),
            None => text(name).to_string(),
        }
    }

    fn related(&self, labels: &[LabelledPlace]) -> String {
        let places = unfolded(labels, "place", MAX_PLACES, MAX_PLACE_BYTES, |label| {
            self.excerpt(label, ContextLines::None)
        });
        if places.is_empty() {
            places
        } else {
            format!("<div class=\"related\">\n{places}</div>\n")
        }
    }

    /// Renders notes, help, documents, sites and causes as a definition list.
    fn facts(&self, entry: &FindingEntry<'r>) -> String {
        let finding = entry.finding;
        let mut facts: Vec<(&str, String)> = finding
            .notes
            .iter()
            .map(|note| ("note", words(note)))
            .collect();
        facts.extend(finding.help.iter().map(|help| ("help", words(help))));
        facts.extend(
            finding
                .fix
                .iter()
                .map(|fix| (fix.safety.flags(), words(&fix.message))),
        );
        let documents = finding
            .documents
            .iter()
            .take(MAX_DOCUMENTS)
            .map(|it| self.story.names.document(it));
        let documents = StyledText::list(documents, ", ").and(match finding.documents.len() {
            count if count > MAX_DOCUMENTS => format!(" and {} more", count - MAX_DOCUMENTS),
            _ => String::new(),
        });
        let documents = Some(("documents", &documents)).filter(|(_, text)| !text.is_empty());
        let texts = documents.into_iter().chain(entry.circumstances());
        facts.extend(texts.map(|(word, text)| (word, self.text(text))));
        facts.extend(self.options.rule(&finding.rule).map(|rule| {
            (
                "rule",
                format!(
                    "<a href=\"#rule-{0}\">{0}</a>: {1}",
                    rule.name,
                    words(rule.summary)
                ),
            )
        }));
        let facts = facts
            .iter()
            .map(|(word, html)| format!("<dt>{word}</dt><dd>{html}</dd>\n"));
        format!("<dl>\n{}</dl>\n", facts.collect::<String>())
    }
}

/// Returns the number of findings, including those that an entry represents.
fn total(entries: &[FindingEntry<'_>]) -> usize {
    Finding::total(entries.iter().map(|entry| entry.finding))
}

/// Returns the `open` attribute; a long list of findings is initially folded.
fn open(count: usize) -> &'static str {
    if count > MAX_UNFOLDED { "" } else { " open" }
}

/// Renders the badge of an ignored or unchanged finding.
fn state(finding: &Finding) -> &'static str {
    match (&finding.suppressed, finding.state) {
        (Some(_), _) => "<span class=\"badge\">ignored</span> ",
        (None, Some(State::Unchanged)) => "<span class=\"badge\">unchanged</span> ",
        (None, Some(State::New | State::Fixed) | None) => "",
    }
}
