//! Changes of an output: its most dangerous or else first changed value, and what it lost.

use std::cmp::Reverse;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::OutputEffect;
use crate::compare::{Change, Status};
use crate::report::View;
use crate::report::cut::{cut, cut_sides};
use crate::report::model::OutputChange;
use crate::report::story::{Danger, Losses, ShortDelta, Sign, ValueDelta};
use crate::source::DocKey;

/// A changed value of an output.
#[derive(Clone, Debug, Serialize)]
pub(in crate::report) struct ShownChange {
    /// Path in the document; that of metadata begins with `metadata`.
    pub(super) path: String,
    /// Values, each of at most `MAX_COLUMNS`.
    #[serde(flatten, serialize_with = "sides")]
    pub(super) values: ShortDelta,
    #[serde(skip)]
    pub(super) rank: ChangeRank,
}

/// Order in which the shown value is chosen: danger, number of removed values, and whether the value
/// is in the metadata.
pub(super) type ChangeRank = (Danger, Reverse<usize>, bool);

/// Maximum number of columns of a value, because a log of many commits is in memory.
const MAX_COLUMNS: usize = 1_000;

/// Maximum size in bytes of a value that is formatted.
const MAX_BYTES: usize = 64 << 10;

impl OutputEffect {
    /// Creates the effect on an added output.
    pub(crate) fn added(document: DocKey) -> Self {
        Self {
            document,
            renamed_from: None,
            status: Status::Added,
            touched: true,
            danger: Danger::None,
            losses: Losses::default(),
            change: None,
        }
    }

    /// Creates the effect of a change.
    pub(crate) fn new(change: Change, view: &View<'_>) -> Self {
        let deltas = OutputChange::all_of(&change, MAX_BYTES, view);
        let deltas = deltas.map(|change| ValueDelta::of_change(&change));
        let has_other_name = change.renamed_from.is_some();
        let is_rename = |delta: &ValueDelta| has_other_name && delta.path == "metadata.name";
        let mut losses = Losses::default();
        let shown = deltas
            .filter(|delta| !delta.lines.is_empty() && !is_rename(delta))
            .inspect(|delta| losses.add_value(delta))
            .min_by_key(rank);
        let danger = shown.as_ref().map(ValueDelta::danger);
        let danger = Danger::of_output(change.status, danger);
        let shown = shown.map(ShownChange::new);
        let Change {
            key: document,
            renamed_from,
            status,
            touched,
            ..
        } = change;
        Self {
            document,
            renamed_from,
            status,
            touched,
            danger,
            losses,
            change: shown,
        }
    }
}

impl ShownChange {
    fn new(delta: ValueDelta) -> Self {
        let rank = rank(&delta);
        Self {
            values: shortened(&delta),
            path: delta.path,
            rank,
        }
    }
}

/// Serializes both sides, or a description of a change without values on one line.
fn sides<S: Serializer>(values: &ShortDelta, serializer: S) -> Result<S::Ok, S::Error> {
    let [before, after, summary] = match values {
        ShortDelta::Sides([before, after]) => [Some(before), Some(after), None],
        ShortDelta::Only(Sign::Removed, text) => [Some(text), None, None],
        ShortDelta::Only(Sign::Added, text) => [None, Some(text), None],
        ShortDelta::Only(Sign::Same | Sign::Skipped, text) => [None, None, Some(text)],
    };
    let mut sides = serializer.serialize_struct("Sides", 3)?;
    sides.serialize_field("before", &before)?;
    sides.serialize_field("after", &after)?;
    sides.serialize_field("summary", &summary)?;
    sides.end()
}

fn rank(delta: &ValueDelta) -> ChangeRank {
    let danger = delta.danger();
    let removed = if danger == Danger::RemovedValues {
        delta.removed
    } else {
        0
    };
    (danger, Reverse(removed), delta.is_in_metadata())
}

/// Returns the change as one line of a limited length.
fn shortened(delta: &ValueDelta) -> ShortDelta {
    const DOTS: &str = "…";
    match delta.short(1) {
        Some(ShortDelta::Sides([base, head])) => {
            ShortDelta::Sides(cut_sides([&base, &head], 2 * MAX_COLUMNS, DOTS))
        }
        Some(ShortDelta::Only(sign, text)) => {
            ShortDelta::Only(sign, cut(&text, 0, MAX_COLUMNS, DOTS))
        }
        // The first line has the number of places that are not listed.
        None => ShortDelta::Only(delta.lines[0].sign, delta.lines[0].text.clone()),
    }
}
