//! Dangers of changes, which decide on the order of a report.

use std::collections::{BTreeMap, BTreeSet};

use super::blocks::{ChangedValue, OutputBlock};
use super::delta::Sign;
use super::entries::ChangeEntry;
use crate::compare::Status;
use crate::diagnostic::Severity;
use crate::report::counted;
use crate::report::model::{EditRef, GroupRef, OutputGroup, Report, ReportedEdit};
use crate::report::text::{StyledText, TextRole};

/// What a change may break, most dangerous first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::report) enum Danger {
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
    None,
}

/// Edits that caused new errors.
pub(super) struct Faulty {
    refused: BTreeSet<EditRef>,
    with_errors: BTreeSet<EditRef>,
}

impl Faulty {
    pub(super) fn of(report: &Report) -> Self {
        let new = || report.findings.iter().filter(|finding| finding.is_new());
        let errors = new().filter(|finding| finding.severity == Severity::Error);
        let refused = new().filter(|finding| finding.refused);
        Self {
            refused: refused.flat_map(|finding| &finding.caused_by).copied().collect(),
            with_errors: errors.flat_map(|finding| &finding.caused_by).copied().collect(),
        }
    }

    /// Returns the danger of edits, without their effects on outputs.
    pub(super) fn danger_of<'r>(
        &self,
        edits: impl IntoIterator<Item = &'r ReportedEdit>,
    ) -> Danger {
        let danger = |edit: &ReportedEdit| match edit.id {
            id if self.refused.contains(&id) => Danger::Refused,
            id if self.with_errors.contains(&id) => Danger::Error,
            _ => Danger::None,
        };
        edits.into_iter().map(danger).min().unwrap_or(Danger::None)
    }
}

/// Describes the dangerous changes of values in figures, the most dangerous first.
pub(super) fn dangers(entries: &[ChangeEntry<'_>]) -> StyledText {
    let mut losses: BTreeMap<GroupRef, Losses<'_>> = BTreeMap::new();
    let blocks = entries.iter().flat_map(ChangeEntry::blocks);
    for block in blocks.filter(|block| block.listed_elsewhere == 0) {
        let has = |danger| block.values.iter().any(|value| value.danger() == danger);
        for group in &block.groups {
            let of_group = losses.entry(group.id).or_insert_with(|| Losses::none_of(group));
            of_group.values += block.removed();
            of_group.unpinned |= has(Danger::Unpinned);
            of_group.exposed |= has(Danger::Exposed);
        }
    }
    let outputs = |is_it: fn(&&Losses<'_>) -> bool| -> usize {
        losses.values().filter(is_it).map(|of_group| of_group.group.outputs).sum()
    };
    let values: usize = losses.values().map(|it| it.values * it.group.outputs).sum();
    let losing = counted(outputs(|it| it.values > 0), "output");
    let texts = [
        (values, format!("removes {} in {losing}", counted(values, "value"))),
        with_verb(outputs(|it| it.unpinned), "leaves", "leave", "a pinned revision or image"),
        with_verb(outputs(|it| it.exposed), "is", "are", "no longer encrypted"),
    ];
    let texts = texts.into_iter().filter(|(count, _)| *count > 0);
    StyledText::list(texts.map(|(_, text)| StyledText::of(TextRole::Warning, text)), " · ")
}

/// What the outputs of a group lose.
struct Losses<'r> {
    group: &'r OutputGroup,
    /// Number of values in each output.
    values: usize,
    unpinned: bool,
    exposed: bool,
}

impl<'r> Losses<'r> {
    fn none_of(group: &'r OutputGroup) -> Self {
        Self { group, values: 0, unpinned: false, exposed: false }
    }
}

/// Formats a number of outputs with a verb.
fn with_verb(count: usize, one: &str, several: &str, rest: &str) -> (usize, String) {
    let verb = if count == 1 { one } else { several };
    (count, format!("{} {verb} {rest}", counted(count, "output")))
}

impl Danger {
    /// Returns the danger of outputs with these values.
    pub(super) fn of_outputs(status: Status, values: &[ChangedValue<'_>]) -> Self {
        match status {
            Status::Removed | Status::Broken => Self::RemovedOutput,
            Status::Changed
            | Status::Metadata
            | Status::Added
            | Status::Repaired
            | Status::NotComparable => {
                values.iter().map(ChangedValue::danger).min().unwrap_or(Self::None)
            }
        }
    }
}

impl ChangedValue<'_> {
    pub(in crate::report) fn danger(&self) -> Danger {
        if self.is_in_metadata() {
            return match &self.delta.scalars {
                Some([before, after])
                    if self.delta.path == "metadata.storagePolicy"
                        && before == "encrypted"
                        && after != before =>
                {
                    Danger::Exposed
                }
                _ => Danger::None,
            };
        }
        if self.delta.removed > 1 {
            return Danger::RemovedValues;
        }
        let is_unpinned = match (&self.delta.scalars, &self.delta.lines[..]) {
            (Some([before, after]), _) => unpins(before, Some(after)),
            (None, [only]) if only.sign == Sign::Removed => unpins(&only.text, None),
            (None, _) => false,
        };
        if is_unpinned { Danger::Unpinned } else { Danger::None }
    }
}

/// Returns whether the first value is a fixed revision or image, and the second one is not.
fn unpins(before: &str, after: Option<&str>) -> bool {
    match Pin::of(before) {
        Pin::None => false,
        Pin::Content => after.is_none_or(|after| Pin::of(after) != Pin::Content),
        Pin::Tag => after.is_some_and(|after| is_image(after) && Pin::of(after) == Pin::None),
    }
}

/// How a text fixes what it refers to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pin {
    None,
    /// An image with a tag that usually does not move.
    Tag,
    /// A commit or a digest.
    Content,
}

impl Pin {
    fn of(text: &str) -> Self {
        /// Tags that usually move.
        const MOVING: [&str; 8] =
            ["latest", "master", "main", "stable", "nightly", "edge", "dev", "devel"];
        let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_content = |text: &str| matches!(text.len(), 40 | 64) && is_hex(text);
        let end = text.rsplit([':', '@']).next().unwrap_or_default();
        let starts_as_moving = |word: &str| {
            let rest = end.strip_prefix(word);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_', '.']))
        };
        if is_content(text) || (is_image(text) && is_content(end)) {
            Self::Content
        } else if is_image(text) && end != text && !MOVING.iter().any(|word| starts_as_moving(word))
        {
            Self::Tag
        } else {
            Self::None
        }
    }
}

/// Returns whether a text looks like the name of an image, such as `quay.io/a/b:c`.
fn is_image(text: &str) -> bool {
    let has_only = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/:@".contains(&byte))
    };
    text.contains('/') && !text.contains("//") && !text.starts_with('/') && has_only(text)
}

impl OutputBlock<'_> {
    /// Returns the number of values that are removed from each output with their mappings or lists.
    pub(in crate::report) fn removed(&self) -> usize {
        let values = self.values.iter().filter(|it| it.danger() == Danger::RemovedValues);
        values.map(|value| value.delta.removed).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::unpins;

    #[test]
    fn only_fixed_revisions_and_images_can_be_unpinned() {
        const COMMIT: &str = "536eaed62d55eca694eaae0c50df910dbb55fff7";
        let cases = [
            (COMMIT, None, true),
            (COMMIT, Some("master"), true),
            (COMMIT, Some("97ce6d7d8e9a090c748800d69a57bbd9af698b60"), false),
            ("master", None, false),
            ("quay.io/a/b:1.0", Some("quay.io/a/b:latest"), true),
            ("quay.io/a/b:1.0", Some("quay.io/a/b:latest-ubuntu"), true),
            ("quay.io/a/b:1.0", Some("quay.io/a/b"), true),
            ("quay.io/a/b:1.0", Some("quay.io/a/b:2.0"), false),
            ("quay.io/a/b:1.0", None, false),
            ("quay.io/a/b@sha256:1", Some("quay.io/a/b:2"), false),
            ("http://a/b:1", Some("http://a/b"), false),
            ("10.0.0.0/24", Some("10.0.0.0/16"), false),
        ];
        for (before, after, expected) in cases {
            assert_eq!(unpins(before, after), expected, "{before} {after:?}");
        }
    }
}
