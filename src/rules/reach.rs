//! Input of the comparison rules: an edit, its reach, and the limits on it.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::iter;
use std::sync::Arc;

use globset::GlobSet;

use super::unwanted_caution::LevelledCaution;
use super::{
    action_over_limit, internal_error, reach_over_limit, unexpected_change, unwanted_caution,
};
use crate::compare::reach::{Comparison, EditReach};
use crate::compare::{Change, Deployed, Fault, Status};
use crate::deployment::{Action, ByEdit, Consequences, EffectOfSite};
use crate::diagnostic::{Diagnostic, Label, Rule};
use crate::edit::EditId;
use crate::near;
use crate::source::DocKey;

/// Limits of what an edit may do.
#[derive(Clone, Debug, Default)]
pub struct Gates {
    /// Maximum number of sites in which an edit may change outputs.
    pub max_sites: Option<Limit<usize>>,
    /// Maximum number of outputs an edit may change.
    pub max_outputs: Option<Limit<usize>>,
    /// Largest action that an edit may ask for.
    pub max_action: Option<Limit<Action>>,
    /// Cautions that are findings.
    pub cautions: Vec<LevelledCaution>,
    /// Outputs that must not change.
    pub unchanged: Option<ExpectedUnchanged>,
}

/// A limit, which a setting or this run only has.
#[derive(Clone, Debug)]
pub struct Limit<T> {
    /// The most that is allowed.
    pub most: T,
    /// Where it was set, unless for this run only.
    pub(crate) set: Option<String>,
}

impl<T> From<T> for Limit<T> {
    fn from(most: T) -> Self {
        Self { most, set: None }
    }
}

impl<T> Limit<T> {
    /// The finding, with where the limit was set.
    pub(super) fn noted(&self, finding: Diagnostic) -> Diagnostic {
        match &self.set {
            Some(set) => finding.note(format!("the limit is {set}")),
            None => finding,
        }
    }
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
    /// The consequences of its changes.
    pub(crate) consequences: &'a ByEdit<'a>,
}

/// Reason why it is not known what an edit asks for.
pub(super) enum Undecided {
    /// Its reach was not decided.
    Reach,
    /// Its content could not be read.
    Content,
    /// These outputs were not rendered on both sides.
    Comparison(String),
    /// It is not known whether these outputs are deployed.
    Deployment(String),
    /// The table has no rows for these schemas.
    Consequence(String),
}

impl Display for Undecided {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reach => f.write_str("its reach is not decided"),
            Self::Content => f.write_str("its content cannot be read"),
            Self::Comparison(names) => write!(f, "not rendered on both sides: {names}"),
            Self::Deployment(names) => {
                write!(f, "not known whether an action deploys: {names}")
            }
            Self::Consequence(schemas) => {
                write!(f, "no known consequence of a change of: {schemas}")
            }
        }
    }
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

    /// The consequences of the edit.
    pub(super) fn effects(&self) -> &'a [EffectOfSite<'a>] {
        self.consequences.of(self.id)
    }

    /// A finding at the edited line, about these effects.
    pub(super) fn finding(
        &self,
        rule: &'static Rule,
        message: String,
        label: impl Display,
        effects: &[&EffectOfSite<'_>],
    ) -> Diagnostic {
        let edit = &self.reach.edit;
        let label = Label::new(edit.at(), label.to_string());
        let outputs: BTreeSet<&DocKey> = effects.iter().map(|it| &it.effect.output).collect();
        let others = outputs.into_iter().filter(|key| **key != edit.document);
        let sites: BTreeSet<&Arc<str>> = effects.iter().filter_map(|it| it.site).collect();
        Diagnostic {
            documents: iter::once(&edit.document).chain(others).cloned().collect(),
            sites: if effects.is_empty() {
                self.reach.sites.clone()
            } else {
                sites.into_iter().cloned().collect()
            },
            ..Diagnostic::new(rule, message, label)
        }
    }

    /// Why it is not known what the edit asks for; empty if it is known.
    pub(super) fn undecided(&self) -> Vec<Undecided> {
        let mut not_compared = BTreeSet::new();
        let mut not_known = BTreeSet::new();
        let mut schemas = BTreeSet::new();
        for change in self.outputs() {
            let key = &change.key;
            match change.status {
                Status::Broken | Status::Repaired | Status::NotComparable => {
                    not_compared.insert(&*key.name);
                }
                Status::Changed | Status::Added | Status::Removed | Status::Metadata => {}
            }
            if change.deployed == Deployed::NotKnown {
                not_known.insert(&*key.name);
            }
            if self.consequences.is_unknown(change) {
                schemas.insert(&*key.schema);
            }
        }
        let named = |names: BTreeSet<&str>| (!names.is_empty()).then(|| near::list(names));
        let reasons = [
            self.reach.is_undecided().then_some(Undecided::Reach),
            (self.reach.edit.kind.is_unknown()).then_some(Undecided::Content),
            named(not_compared).map(Undecided::Comparison),
            named(not_known).map(Undecided::Deployment),
            named(schemas).map(Undecided::Consequence),
        ];
        reasons.into_iter().flatten().collect()
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
pub fn report_reach(
    comparison: &Comparison,
    consequences: &Consequences,
    gates: &Gates,
) -> Vec<(Option<EditId>, Diagnostic)> {
    let unexplained = comparison
        .outputs
        .iter()
        .filter(|change| change.is_unexplained())
        .filter_map(|change| unexpected_change::check_unexplained(change, gates));
    let by_edit = consequences.by_edit();
    let edits = comparison.edits.iter().enumerate();
    edits
        .flat_map(|(index, reach)| {
            let reached = ReachedEdit {
                id: EditId::at(index),
                reach,
                comparison,
                consequences: &by_edit,
            };
            let findings = reach_over_limit::check(&reached, gates)
                .into_iter()
                .chain(action_over_limit::check(&reached, gates))
                .chain(unwanted_caution::check(&reached, gates))
                .chain(unexpected_change::check(&reached, gates));
            findings
                .map(move |finding| (Some(EditId::at(index)), finding))
                .collect::<Vec<_>>()
        })
        .chain(unexplained.map(|finding| (None, finding)))
        .collect()
}
