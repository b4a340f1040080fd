//! Input of the comparison rules: an edit, its reach, and the limits on it.

use std::sync::Arc;

use globset::GlobSet;

use super::{internal_error, reach_over_limit, unexpected_change};
use crate::compare::reach::{Comparison, EditReach};
use crate::compare::{Change, Fault};
use crate::diagnostic::Diagnostic;
use crate::edit::EditId;
use crate::source::DocKey;

/// Limits of the reach of an edit.
#[derive(Clone, Debug, Default)]
pub struct Gates {
    /// Maximum number of sites in which an edit may change outputs.
    pub max_sites: Option<usize>,
    /// Where that limit was set, unless for this run only.
    pub(crate) sites_set: Option<String>,
    /// Maximum number of outputs an edit may change.
    pub max_outputs: Option<usize>,
    /// Where that limit was set, unless for this run only.
    pub(crate) outputs_set: Option<String>,
    /// Outputs that must not change.
    pub unchanged: Option<ExpectedUnchanged>,
}

/// Outputs that are expected to stay unchanged: those whose site or `SITE:SCHEMA:NAME` matches; `-`
/// matches a set without sites.
#[derive(Clone, Debug)]
pub struct ExpectedUnchanged(pub GlobSet);

impl ExpectedUnchanged {
    pub(super) fn has(&self, site: Option<&str>, key: &DocKey) -> bool {
        let site = site.unwrap_or("-");
        let name = format!("{site}:{}:{}", key.schema, key.name);
        self.0.is_match(site) || self.0.is_match(name)
    }
}

/// An edit and what it reached.
pub(crate) struct ReachedEdit<'a> {
    /// Id of the edit.
    pub(crate) id: EditId,
    /// Reach of the edit.
    pub(crate) reach: &'a EditReach,
    /// Comparison that contains the edit.
    pub(crate) comparison: &'a Comparison,
}

impl<'a> ReachedEdit<'a> {
    pub(super) fn outputs(&self) -> impl Iterator<Item = &'a Change> {
        self.comparison.outputs_of(self.id)
    }

    /// The edited document and the documents it changed.
    pub(super) fn documents(&self) -> Vec<DocKey> {
        let mut documents = vec![self.reach.edit.document.clone()];
        for change in self.outputs() {
            if !documents.contains(&change.key) {
                documents.push(change.key.clone());
            }
        }
        documents
    }

    /// Label of the edited line.
    pub(super) fn label(&self) -> String {
        let outputs = self.reach.outputs;
        let sites = self
            .reach
            .sites
            .iter()
            .map(|site| &**site)
            .collect::<Vec<_>>()
            .join(", ");
        let outputs = if outputs == 1 {
            "1 output".into()
        } else {
            format!("{outputs} outputs")
        };
        if sites.is_empty() {
            format!("reaches {outputs}")
        } else {
            format!("reaches {outputs} in {sites}")
        }
    }
}

/// Findings for statements of the comparison that rendering contradicts.
pub fn report_faults(comparison: &Comparison) -> Vec<Diagnostic> {
    let finding = |(site, fault): &(Option<Arc<str>>, Fault)| {
        let (output, edit, says) = match fault {
            Fault::Incomplete { output } => (
                output,
                None,
                "with the named edits alone, it is not as on the head",
            ),
            Fault::Unnamed { edit, output } => (
                output,
                Some(edit),
                "without this edit it would differ, and the edit is not named",
            ),
            Fault::Shield { edit, output } => (
                output,
                Some(edit),
                "without the texts that stop this edit, it has no effect",
            ),
            Fault::Effective { output } => (
                output,
                None,
                "without all edits that are said to have no effect, it would differ",
            ),
        };
        let change = comparison
            .outputs
            .iter()
            .find(|change| change.site == *site && change.key == *output)
            .map(|change| change.at);
        let edit = edit.map(|edit| comparison.edits[edit.index()].edit.at());
        let first = comparison.edits.first().map(|reach| reach.edit.at());
        let at = edit.or(change).or(first)?;
        let mut finding = internal_error::report_fault(at, output, says);
        finding.sites.extend(site.clone());
        Some(finding)
    };
    comparison.faults.iter().filter_map(finding).collect()
}

/// Findings of the gates, for each edit and for unexplained changes.
pub fn report_reach(comparison: &Comparison, gates: &Gates) -> Vec<(Option<EditId>, Diagnostic)> {
    let unexplained = comparison
        .outputs
        .iter()
        .filter(|change| change.is_unexplained())
        .filter_map(|change| unexpected_change::check_unexplained(change, gates));
    let edits = comparison.edits.iter().enumerate();
    edits
        .flat_map(|(index, reach)| {
            let reached = ReachedEdit {
                id: EditId::at(index),
                reach,
                comparison,
            };
            let findings = reach_over_limit::check(&reached, gates)
                .into_iter()
                .chain(unexpected_change::check(&reached, gates));
            findings
                .map(move |finding| (Some(EditId::at(index)), finding))
                .collect::<Vec<_>>()
        })
        .chain(unexplained.map(|finding| (None, finding)))
        .collect()
}
