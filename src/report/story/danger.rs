//! Dangers of changes, which decide on the order of a report.

use std::collections::{BTreeMap, BTreeSet};

use super::blocks::OutputBlock;
use super::delta::{Sign, ValueDelta};
use crate::compare::Status;
use crate::diagnostic::Severity;
use crate::report::model::{EditRef, Report, ReportedEdit};
use crate::report::text::{StyledText, TextRole};
use crate::report::{counted, present};

/// What a change may break, most dangerous first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Danger {
    /// Deckhand refuses a site because of it.
    Refused,
    /// It causes a new error.
    Error,
    /// An output is removed, or can no longer be rendered.
    RemovedOutput,
    /// A mapping or list is removed from an output.
    RemovedValues,
    /// A revision or image loses its pin.
    Unpinned,
    /// An encrypted document becomes cleartext.
    Exposed,
    /// None of these.
    #[serde(untagged)]
    None,
}

/// Edits that caused new errors.
pub(super) struct Faulty {
    dangers: BTreeMap<EditRef, Danger>,
    /// Edits with an error from which others follow.
    with_consequences: BTreeSet<EditRef>,
}

impl Faulty {
    pub(super) fn of(report: &Report) -> Self {
        let new = || report.findings.iter().filter(|finding| finding.is_new());
        let mut dangers: BTreeMap<EditRef, Danger> = BTreeMap::new();
        for finding in new() {
            let danger = match finding.severity {
                _ if finding.refused => Danger::Refused,
                Severity::Error => Danger::Error,
                Severity::Warning | Severity::Note => continue,
            };
            for edit in &finding.caused_by {
                let known = dangers.entry(*edit).or_insert(danger);
                *known = danger.min(*known);
            }
        }
        let roots: BTreeSet<&str> = new().filter_map(|it| it.because_of.as_deref()).collect();
        let with_consequences = new()
            .filter(|it| roots.contains(&*it.fingerprint))
            .flat_map(|it| &it.caused_by)
            .copied()
            .collect();
        Self {
            dangers,
            with_consequences,
        }
    }

    /// Whether an edit caused an error from which others follow.
    pub(super) fn has_consequences(&self, edit: &ReportedEdit) -> bool {
        self.with_consequences.contains(&edit.id)
    }

    /// Returns the danger of edits, without their effects on outputs.
    pub(super) fn danger_of<'r>(
        &self,
        edits: impl IntoIterator<Item = &'r ReportedEdit>,
    ) -> Danger {
        let dangers = edits
            .into_iter()
            .filter_map(|edit| self.dangers.get(&edit.id));
        dangers.min().copied().unwrap_or(Danger::None)
    }
}

/// Describes the dangerous changes of values in figures, the most dangerous first. They do not
/// depend on how changes are arranged or shortened. `deltas` are the changes of each group.
pub(super) fn dangers(report: &Report, deltas: &[Vec<ValueDelta>]) -> StyledText {
    let mut losses = Losses::default();
    for (group, deltas) in report.groups.iter().zip(deltas) {
        let mut of_output = Losses::default();
        for delta in deltas {
            of_output.add_value(delta);
        }
        losses.add(of_output, group.outputs);
    }
    let texts = losses.describe().into_iter();
    StyledText::list(
        texts.map(|text| StyledText::of(TextRole::Warning, text)),
        " · ",
    )
}

/// Dangerous losses of outputs.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub(crate) struct Losses {
    /// Number of values that are removed with their mappings or lists.
    removed_values: usize,
    /// Number of outputs from which values are removed.
    outputs_losing_values: usize,
    unpinned_outputs: usize,
    exposed_outputs: usize,
}

impl Losses {
    /// Adds the change of a value to the losses of a single output.
    pub(crate) fn add_value(&mut self, delta: &ValueDelta) {
        match delta.danger() {
            Danger::RemovedValues => {
                self.removed_values = self.removed_values.saturating_add(delta.removed);
                self.outputs_losing_values = 1;
            }
            Danger::Unpinned => self.unpinned_outputs = 1,
            Danger::Exposed => self.exposed_outputs = 1,
            Danger::Refused | Danger::Error | Danger::RemovedOutput | Danger::None => {}
        }
    }

    /// Adds a number of outputs with the same losses.
    pub(crate) fn add(&mut self, of_output: Self, outputs: usize) {
        let removed = of_output.removed_values.saturating_mul(outputs);
        self.removed_values = self.removed_values.saturating_add(removed);
        self.outputs_losing_values += of_output.outputs_losing_values * outputs;
        self.unpinned_outputs += of_output.unpinned_outputs * outputs;
        self.exposed_outputs += of_output.exposed_outputs * outputs;
    }

    /// Describes each kind of loss, the most dangerous first.
    pub(crate) fn describe(&self) -> Vec<String> {
        let values = counted(self.removed_values, "value");
        let losing = counted(self.outputs_losing_values, "output");
        present([
            (self.removed_values, format!("removes {values} in {losing}")),
            with_verb(
                self.unpinned_outputs,
                "leaves",
                "leave",
                "a pinned revision or image",
            ),
            with_verb(self.exposed_outputs, "is", "are", "no longer encrypted"),
        ])
    }
}

/// Formats a number of outputs with a verb.
fn with_verb(count: usize, one: &str, several: &str, rest: &str) -> (usize, String) {
    let verb = if count == 1 { one } else { several };
    (count, format!("{} {verb} {rest}", counted(count, "output")))
}

impl Danger {
    /// Returns the danger of an output with these changes of values.
    pub(crate) fn of_output(status: Status, of_values: impl IntoIterator<Item = Self>) -> Self {
        match status {
            Status::Removed | Status::Broken => Self::RemovedOutput,
            Status::Changed
            | Status::Metadata
            | Status::Added
            | Status::Repaired
            | Status::NotComparable => of_values.into_iter().min().unwrap_or(Self::None),
        }
    }
}

impl ValueDelta {
    /// Returns what the change of the value may break.
    pub(crate) fn danger(&self) -> Danger {
        if self.is_in_metadata() {
            let is_policy = self.path == "metadata.storagePolicy";
            return match self.scalars() {
                Some(["encrypted", after]) if is_policy && after != "encrypted" => Danger::Exposed,
                _ => Danger::None,
            };
        }
        if self.removed > 1 {
            return Danger::RemovedValues;
        }
        let is_unpinned = match (self.scalars(), &self.lines[..]) {
            (Some([before, after]), _) => unpins(before, Some(after)),
            (None, [only]) if only.sign == Sign::Removed => unpins(&only.text, None),
            (None, _) => false,
        };
        if is_unpinned {
            Danger::Unpinned
        } else {
            Danger::None
        }
    }
}

/// Returns whether the first value is a fixed revision or image, and the second one is not.
fn unpins(before: &str, after: Option<&str>) -> bool {
    if is_content(before) {
        return after.is_none_or(|after| !is_content(after));
    }
    has_fixed_tag(before)
        && after.is_some_and(|after| is_image(after) && !is_content(after) && !has_fixed_tag(after))
}

/// Returns whether a text is a commit or a digest, or the name of an image with a digest.
fn is_content(text: &str) -> bool {
    let id = if is_image(text) { tag_of(text) } else { text };
    matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns whether a text is the name of an image with a tag that usually does not move.
fn has_fixed_tag(text: &str) -> bool {
    /// Tags that usually move.
    const MOVING: [&str; 8] = [
        "latest", "master", "main", "stable", "nightly", "edge", "dev", "devel",
    ];
    let tag = tag_of(text);
    let starts_with = |word: &&str| {
        let rest = tag.strip_prefix(word);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_', '.']))
    };
    is_image(text) && tag != text && !MOVING.iter().any(starts_with)
}

fn tag_of(image: &str) -> &str {
    image.rsplit([':', '@']).next().unwrap_or_default()
}

/// Returns whether a text looks like the name of an image, such as `quay.io/a/b:c`.
fn is_image(text: &str) -> bool {
    let has_only = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-/:@".contains(&byte))
    };
    text.contains('/') && !text.contains("//") && !text.starts_with('/') && has_only(text)
}

impl OutputBlock<'_> {
    /// Returns the number of values that are removed from each output with their mappings or lists.
    pub(crate) fn removed(&self) -> usize {
        let values = self
            .values
            .iter()
            .filter(|it| it.danger == Danger::RemovedValues);
        values.map(|value| value.delta.removed).sum()
    }
}
