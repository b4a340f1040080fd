//! Edits and their effects: groups of outputs with the same change, the longest route, and shields.

use super::escape::{text, words};
use super::{HtmlPage, PageSection, diff, filter, fitting, folded, list, more, unfolded};
use crate::report::counted;
use crate::report::model::{OutputChange, OutputGroup, ReportedEdit, ReportedOutput};
use crate::report::story::{
    ChangeEntry, ChangedValue, Commits, EditEntry, EditedValue, OutputBlock, RouteEntry,
    UNEXPLAINED, ValueDelta, edit_numbers, files_of, place_of,
};
use crate::report::text::StyledText;

/// Maximum size of all edits in bytes.
const MAX_BYTES: usize = 2 << 20;

/// Maximum size of a list of one entry in bytes.
const MAX_LIST_BYTES: usize = 256 << 10;

/// Maximum size of a list of one group in bytes.
const MAX_GROUP_BYTES: usize = 96 << 10;

/// Maximum number of list items shown unfolded.
const MAX_UNFOLDED: usize = 5;

impl<'r> HtmlPage<'_, 'r> {
    /// Renders the section of edits.
    pub(super) fn edits(&self) -> PageSection {
        let story = self.story;
        let (entries, left_out) = fitting(&story.entries, MAX_BYTES, |entry| match entry {
            ChangeEntry::Edits(entry) => self.entry(entry),
            ChangeEntry::Outputs(block) => self.outputs(block),
        });
        let left_out = more(left_out, "group");
        let unknown = self.listed("Content unknown", &story.unknown);
        let inert = self.listed("No effect", &story.inert);
        let commits = story
            .commits
            .iter()
            .map(|commits| self.commits(commits))
            .collect();
        let content = [entries.concat(), left_out, unknown, inert, commits].concat();
        PageSection {
            id: "edits",
            title: "Edits",
            count: story.report.edits.len(),
            content,
        }
    }

    /// Renders the commits between two revisions of a further repository.
    fn commits(&self, commits: &Commits) -> String {
        let listed: String = commits
            .listed
            .iter()
            .map(|it| format!("<li>{}</li>\n", self.text(it)))
            .collect();
        let list = format!("<ul class=\"commits\">\n{listed}</ul>\n");
        folded(
            "rest",
            &self.text(&commits.title),
            &(list + &more(commits.more, "commit")),
        )
    }

    fn entry(&self, entry: &EditEntry<'r>) -> String {
        let first = entry.edits[0];
        let id = self.id(&first.id.to_string());
        let name = first.id;
        let place = match &entry.edits[..] {
            [only] => self.place(only),
            edits => format!("<span class=\"dim\">{}</span>", places(edits)),
        };
        let numbers = edit_numbers(&entry.edits);
        let attributes = self.filter.of_edits(&entry.edits);
        let reach = self.text(&entry.reach);
        let changes = self.changes(entry);
        let groups = unfolded(
            &entry.blocks,
            "group",
            MAX_UNFOLDED,
            MAX_LIST_BYTES,
            |block| self.block(block, "h4", |value| entry.behind(value)),
        );
        let route = self.route(entry.route.as_ref());
        let stops = self.stops(&entry.stops);
        format!(
            "<article class=\"entry\"{id} tabindex=\"-1\"{attributes}>\n<div class=\"bar\"><h3>\
             <a class=\"self\" href=\"#{name}\">{numbers}</a></h3> {place}</div>\n{changes}\
             <p class=\"reach\">{reach}</p>\n{groups}{route}{stops}</article>\n"
        )
    }

    /// Renders outputs with the edits behind each of their values.
    fn outputs(&self, block: &OutputBlock<'r>) -> String {
        let attributes = filter::of_block(block);
        let content = self.block(block, "h3", |value| value.edits.clone());
        format!("<article class=\"entry\" tabindex=\"-1\"{attributes}>\n{content}</article>\n")
    }

    fn place(&self, edit: &ReportedEdit) -> String {
        self.text(&place_of(edit))
    }

    /// Renders the edits of an entry: each place, and each value change once.
    fn changes(&self, entry: &EditEntry<'r>) -> String {
        let change = |change: &EditedValue<'r>| {
            let edits = unfolded(
                &change.edits,
                "place",
                MAX_UNFOLDED,
                MAX_GROUP_BYTES,
                |edit| self.edited(entry, edit),
            );
            format!(
                "<div class=\"change\">{edits}{}</div>\n",
                diff::html(&change.delta, None, "")
            )
        };
        unfolded(
            &entry.changes,
            "change",
            MAX_UNFOLDED,
            MAX_LIST_BYTES,
            change,
        )
    }

    fn edited(&self, entry: &EditEntry<'r>, edit: &ReportedEdit) -> String {
        let subject = self.text(&self.story.names.subject(edit));
        match &entry.edits[..] {
            [_] => format!("<p>{subject}</p>\n"),
            _ => {
                format!(
                    "<p{}>{} {subject}</p>\n",
                    self.id(&edit.id.to_string()),
                    self.place(edit)
                )
            }
        }
    }

    fn block(
        &self,
        block: &OutputBlock<'r>,
        heading: &str,
        behind: impl Fn(&ChangedValue<'r>) -> Vec<&'r ReportedEdit>,
    ) -> String {
        let title = self.text(&block.title);
        let attributes = filter::of_block(block);
        let [first, others @ ..] = &block.groups[..] else {
            return String::new();
        };
        let (id, content) = match others {
            [] => (self.id(&first.id.to_string()), String::new()),
            _ => {
                let count = counted(block.groups.len(), "document");
                let outputs = list(&block.groups, "document", MAX_GROUP_BYTES, |group| {
                    self.output(group)
                });
                let outputs = format!("<div class=\"outputs\">\n{outputs}</div>\n");
                (String::new(), folded("rest", &count, &outputs))
            }
        };
        let values = unfolded(
            &block.values,
            "place",
            MAX_UNFOLDED,
            MAX_GROUP_BYTES,
            |value| {
                let edits = behind(value);
                let links = edits.iter().map(|edit| {
                    format!(
                        " <small{}>{}</small>",
                        self.id(&edit.id.to_string()),
                        self.place(edit)
                    )
                });
                let together = if value.are_joint {
                    " <small>only together</small>"
                } else {
                    ""
                };
                let places = links.collect::<String>() + together;
                diff::html(&value.delta, Some(&value.delta.path), &places)
            },
        );
        let caused: String = block
            .caused
            .iter()
            .map(|edit| format!("<p>{}</p>\n", self.text(edit)))
            .collect();
        let route = self.route(block.route.as_ref());
        format!(
            "<section class=\"group\"{id} tabindex=\"-1\"{attributes}>\n\
             <{heading}>{title}</{heading}>\n{caused}{content}\
             <div class=\"diff\">\n{values}</div>\n{route}</section>\n"
        )
    }

    /// Renders an added or removed output.
    fn output(&self, group: &OutputGroup) -> String {
        let name = text(&group.name);
        let schema = text(&group.schema);
        let id = self.id(&group.id.to_string());
        let link = format!("<a class=\"self\" href=\"#{}\">{name}</a>", group.id);
        format!("<p{id}>{link} <small>{schema}</small></p>\n")
    }

    fn deltas(&self, group: &OutputGroup) -> String {
        let changes = unfolded(
            &group.changes,
            "place",
            MAX_UNFOLDED,
            MAX_GROUP_BYTES,
            |change| self.changed(change),
        );
        format!("<div class=\"diff\">\n{changes}</div>\n")
    }

    /// Renders a change of an output and its source location.
    fn changed(&self, change: &OutputChange) -> String {
        let delta = ValueDelta::of_change(change);
        let place = change
            .at
            .last()
            .map(|place| StyledText::place(place, change.at.head.is_some()))
            .map(|place| format!(" <small>{}</small>", self.text(&place)));
        diff::html(&delta, Some(&delta.path), &place.unwrap_or_default())
    }

    fn route(&self, route: Option<&RouteEntry>) -> String {
        let Some(route) = route else {
            return String::new();
        };
        let steps: String = route
            .steps
            .iter()
            .map(|step| {
                format!(
                    "<li>{}<br>{}</li>\n",
                    self.text(&step.words),
                    self.text(&step.places)
                )
            })
            .collect();
        folded(
            "route",
            &self.text(&route.title),
            &format!("<ol>\n{steps}</ol>\n"),
        )
    }

    fn stops(&self, stops: &[StyledText]) -> String {
        let stops = unfolded(stops, "shield", MAX_UNFOLDED, MAX_GROUP_BYTES, |stop| {
            format!("<p class=\"stop\">{}</p>\n", self.text(stop))
        });
        if stops.is_empty() {
            stops
        } else {
            format!("<div class=\"stops\">\n{stops}</div>\n")
        }
    }

    fn listed(&self, title: &str, edits: &[&'r ReportedEdit]) -> String {
        let title = format!("<b>{title}</b>: {}", counted(edits.len(), "edit"));
        folded(
            "listed",
            &title,
            &list(edits, "edit", MAX_LIST_BYTES, |edit| {
                let id = self.id(&edit.id.to_string());
                let attributes = self.filter.of_edits(&[edit]);
                let place = self.place(edit);
                let words = self.text(&self.story.without_effect(edit));
                format!("<p class=\"entry\"{id} tabindex=\"-1\"{attributes}>{place} {words}</p>\n")
            }),
        )
    }

    pub(super) fn unexplained(&self) -> PageSection {
        let report = self.story.report;
        let outputs = report.outputs.iter().filter(|output| output.unexplained);
        let outputs: Vec<(&StyledText, &ReportedOutput)> =
            self.story.unexplained.iter().zip(outputs).collect();
        let listed = list(&outputs, "output", MAX_LIST_BYTES, |(text, output)| {
            let group = report.group_of(output);
            let id = self.id(&group.id.to_string());
            format!(
                "<div{id}><p>{}</p>\n{}</div>\n",
                self.text(text),
                self.deltas(group)
            )
        });
        let content = match outputs.len() {
            0 => String::new(),
            _ => format!(
                "<div class=\"alarm\">\n<p>{}</p>\n{listed}</div>\n",
                words(UNEXPLAINED)
            ),
        };
        PageSection {
            id: "unexplained",
            title: "Unexplained",
            count: outputs.len(),
            content,
        }
    }
}

/// Returns the number of files that contain edits, as text.
fn places(edits: &[&ReportedEdit]) -> String {
    format!(
        "in {}",
        counted(files_of(edits.iter().copied()).len(), "file")
    )
}
