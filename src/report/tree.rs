//! The changes of a report as a tree, for editors: edits, the outputs that they reach, and what shields
//! others.

use super::FindingFilter;
use super::counted;
use super::model::{FilePlace, Report, ReportedEdit};
use super::story::{Arrangement, ChangeEntry, EditEntry, OutputBlock, Story};
use super::text::StyledText;

/// The changes between two sides.
#[derive(Debug)]
pub struct ChangeTree {
    /// Figures of the whole comparison.
    pub(crate) summary: String,
    /// Whether every edit was decided and every output compared.
    pub(crate) is_complete: bool,
    pub(crate) edits: Vec<ChangeNode>,
}

/// An edit, an output or a shield.
#[derive(Debug, Default)]
pub(crate) struct ChangeNode {
    pub(crate) label: String,
    pub(crate) description: String,
    pub(crate) place: Option<FilePlace>,
    pub(crate) children: Vec<ChangeNode>,
}

impl ChangeTree {
    /// The changes of a comparison.
    pub fn of(report: &Report) -> Self {
        let story = Story::new(report, FindingFilter::default(), Arrangement::ByEdit);
        let figures = story.headline.figures.iter().map(StyledText::words);
        let figures: Vec<String> = figures.collect();
        let entries = story.entries.iter().map(|entry| match entry {
            ChangeEntry::Edits(entry) => of_entry(&story, entry),
            ChangeEntry::Outputs(block) => of_block(block),
        });
        let inert = story.inert.iter().chain(&story.unknown);
        let inert = inert.map(|edit| ChangeNode {
            description: "reaches no output".to_owned(),
            ..of_edit(&story, edit)
        });
        let unexplained = story.unexplained.iter().map(|text| ChangeNode {
            label: text.words(),
            description: "changed without an edit that explains it".to_owned(),
            ..ChangeNode::default()
        });
        let undecided = report.edits.iter().any(ReportedEdit::is_undecided);
        Self {
            summary: figures.join(" · "),
            is_complete: !undecided
                && report.totals.by_status.not_comparable == 0
                && story.unknown.is_empty()
                && story.unexplained.is_empty(),
            edits: entries.chain(inert).chain(unexplained).collect(),
        }
    }
}

/// Edits with the same effect.
fn of_entry(story: &Story<'_>, entry: &EditEntry<'_>) -> ChangeNode {
    let texts = [entry.reach.words(), entry.shielded.words()];
    let texts: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    let stops = entry.stops.iter().map(|stop| ChangeNode {
        label: stop.words(),
        description: "shields others".to_owned(),
        ..ChangeNode::default()
    });
    let mut others = entry.edits.iter().map(|edit| of_edit(story, edit));
    let first = others.next().unwrap_or_default();
    ChangeNode {
        description: texts.join("; "),
        children: others
            .chain(entry.blocks.iter().map(of_block))
            .chain(stops)
            .collect(),
        ..first
    }
}

fn of_edit(story: &Story<'_>, edit: &ReportedEdit) -> ChangeNode {
    ChangeNode {
        label: story.names.described(edit).words(),
        place: edit.at.last().cloned(),
        ..ChangeNode::default()
    }
}

/// Outputs that changed in the same way.
fn of_block(block: &OutputBlock<'_>) -> ChangeNode {
    let changes = block.groups.iter().flat_map(|group| &group.changes);
    let mut places = changes.filter_map(|change| change.at.last().cloned());
    ChangeNode {
        label: block.title.words(),
        description: counted(block.outputs, "output"),
        place: places.next(),
        children: Vec::new(),
    }
}
