//! Dangerous changes of outputs as SARIF notes, at the edits that caused them.

use std::collections::{BTreeMap, BTreeSet};

use super::base::UriBases;
use super::log::{
    MultiformatMessage, ReportingConfiguration, ReportingDescriptor, ResultProperties,
    RuleProperties, SarifLocation, SarifMessage, SarifResult,
};
use super::result::at_line;
use crate::report::FormatOptions;
use crate::report::counted;
use crate::report::model::{EditRef, ReportedEdit};
use crate::report::story::{Arrangement, Danger, Story};
use crate::triage::fingerprint_of;

/// Id of these results; it is not a rule that can be configured.
const ID: &str = "dangerous-change";

/// Maximum number of outputs and paths that a result names.
const MAX_PLACES: usize = 10;

/// Returns a result for each edit that changed outputs dangerously, the most dangerous first.
pub(super) fn results(
    rule_index: usize,
    bases: &UriBases<'_>,
    options: &FormatOptions<'_>,
) -> Vec<SarifResult> {
    let story = Story::new(bases.report, options.listing, Arrangement::ByEdit);
    let mut dangerous: BTreeMap<EditRef, DangerousEdit> = BTreeMap::new();
    for block in story.edit_entries().flat_map(|entry| &entry.blocks) {
        let title = block.title.words();
        if block.danger == Danger::RemovedOutput {
            for edit in &block.edits {
                dangerous
                    .entry(*edit)
                    .or_default()
                    .add(block.danger, title.clone());
            }
        }
        for value in &block.values {
            let place = format!("{title}: {}", value.delta.path);
            for edit in &value.edits {
                dangerous
                    .entry(edit.id)
                    .or_default()
                    .add(value.danger, place.clone());
            }
        }
    }
    let mut dangerous: Vec<(EditRef, DangerousEdit)> = dangerous.into_iter().collect();
    dangerous.sort_by_key(|(edit, of_edit)| (of_edit.danger, *edit));
    dangerous
        .iter()
        .filter_map(|(edit, of_edit)| result(bases.report.edit(*edit), of_edit, rule_index, bases))
        .collect()
}

/// Dangerous changes of an edit.
struct DangerousEdit {
    danger: Danger,
    /// Outputs and paths.
    places: BTreeSet<String>,
}

impl Default for DangerousEdit {
    fn default() -> Self {
        Self {
            danger: Danger::None,
            places: BTreeSet::new(),
        }
    }
}

impl DangerousEdit {
    fn add(&mut self, danger: Danger, place: String) {
        self.danger = self.danger.min(danger);
        if danger != Danger::None {
            self.places.insert(place);
        }
    }
}

pub(super) fn descriptor() -> ReportingDescriptor {
    const HELP: &str = "An edit removes a rendered document, removes a mapping or list from one, \
                        replaces a commit, digest or fixed tag by something that moves, or makes \
                        an encrypted document cleartext. Such an edit can be intended: this is a \
                        note for its review.";
    let message = |text: &str| {
        Some(MultiformatMessage {
            text: text.to_owned(),
            markdown: None,
        })
    };
    ReportingDescriptor {
        id: ID.to_owned(),
        name: ID.to_owned(),
        short_description: message("an edit removes or weakens part of rendered documents"),
        full_description: message(
            "an edit removes outputs or values, a pinned revision or image, or encryption",
        ),
        help_uri: None,
        help: Some(MultiformatMessage {
            text: HELP.to_owned(),
            markdown: Some(HELP.to_owned()),
        }),
        default_configuration: Some(ReportingConfiguration {
            level: "note",
            enabled: true,
        }),
        properties: RuleProperties {
            tags: vec!["layercake"],
        },
    }
}

fn result(
    edit: &ReportedEdit,
    dangerous: &DangerousEdit,
    rule_index: usize,
    bases: &UriBases<'_>,
) -> Option<SarifResult> {
    let mut lines = vec![words(dangerous.danger)?.to_owned()];
    lines.extend(dangerous.places.iter().take(MAX_PLACES).cloned());
    let more = dangerous.places.len().saturating_sub(MAX_PLACES);
    lines.extend((more > 0).then(|| format!("and {}", counted(more, "more place"))));
    let place = edit.at.last()?;
    let document = &edit.document;
    let parts = [
        ID,
        &document.schema,
        &document.layer,
        &document.name,
        &edit.path,
    ];
    Some(SarifResult {
        rule_id: ID.to_owned(),
        rule_index,
        level: "note",
        message: SarifMessage::of_lines(&lines),
        locations: [SarifLocation {
            physical_location: Some(at_line(&place.file, place.line, bases)),
            ..SarifLocation::default()
        }],
        related_locations: Vec::new(),
        code_flows: Vec::new(),
        partial_fingerprints: BTreeMap::from([("layercake/v1", fingerprint_of(parts))]),
        baseline_state: Some("new"),
        suppressions: Vec::new(),
        fixes: Vec::new(),
        properties: ResultProperties::of(&[edit.id], bases.report),
    })
}

/// Describes a danger; `None` for those that are findings themselves.
fn words(danger: Danger) -> Option<&'static str> {
    match danger {
        Danger::RemovedOutput => Some("this edit removes a rendered document"),
        Danger::RemovedValues => Some("this edit removes values from a rendered document"),
        Danger::Unpinned => Some("this edit removes the pin of a revision or image"),
        Danger::Exposed => Some("this edit removes the encryption of a document"),
        Danger::Refused | Danger::Error | Danger::None => None,
    }
}
