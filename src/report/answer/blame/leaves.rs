//! Changes inside of a mapping or list: one line for each changed leaf, which is a scalar, an empty
//! collection or a secret.

use crate::report::View;
use crate::report::cut::cut_sides;
use crate::report::printable::clean;
use crate::yaml::Node;
use crate::yaml::diff::{Difference, DifferenceKind, ListKeys, differences};
use crate::yaml::emit::to_flow;
use crate::yaml::path::{Location, children};

/// Maximum length in characters of a value on a line.
const MAX_VALUE_CHARS: usize = 60;

/// Changed leaves of a value, in the order of its differences.
#[derive(Default)]
pub(super) struct ChangedLeaves {
    /// The first leaves.
    pub(super) lines: Vec<LeafLine>,
    /// Number of further leaves.
    pub(super) more: usize,
}

/// Line of one changed leaf.
pub(super) struct LeafLine {
    /// Path relative to the value, with list items by name.
    pub(super) path: String,
    pub(super) change: LeafChange,
}

/// Change of a leaf, with its values on one line each.
pub(super) enum LeafChange {
    Changed {
        before: String,
        after: String,
    },
    /// Another value; neither may be shown.
    Hidden,
    Added(String),
    Removed(String),
    /// Order of list items, by their names.
    Reordered {
        before: String,
        after: String,
    },
    /// This number of places, too many to list.
    Unlisted(u64),
}

impl ChangedLeaves {
    /// Compares two mappings or lists, and keeps the first `max_lines` leaves.
    pub(super) fn new(
        [before, after]: [&Node; 2],
        keys: &ListKeys,
        view: &View<'_>,
        max_lines: usize,
    ) -> Self {
        let mut leaves = Self::default();
        for difference in differences(before, after, keys) {
            each_change(&difference, &mut |place, change| {
                if leaves.lines.len() == max_lines {
                    leaves.more += 1;
                    return;
                }
                let path = view.shown_path(place, &difference.items);
                let path = clean(&path).into_owned();
                leaves.lines.push(LeafLine {
                    path,
                    change: change(),
                });
            });
        }
        leaves
    }
}

/// Receives the place of a changed leaf, and a function that formats the change.
type ChangedLeaf<'l> = dyn FnMut(&Location, &dyn Fn() -> LeafChange) + 'l;

/// Calls `look` for each leaf that a difference changes.
fn each_change(difference: &Difference, look: &mut ChangedLeaf<'_>) {
    let place = difference.location();
    let sides = [&difference.base, &difference.head].map(|side| side.as_ref().map(|it| &it.node));
    match (&difference.kind, sides) {
        _ if difference.is_secret() => look(place, &|| LeafChange::Hidden),
        _ if difference.unlisted > 0 => look(place, &|| LeafChange::Unlisted(difference.unlisted)),
        (DifferenceKind::Order { .. }, [Some(before), Some(after)]) => look(place, &|| {
            let [before, after] = on_one_line([before, after]);
            LeafChange::Reordered { before, after }
        }),
        (DifferenceKind::Value, [Some(before), Some(after)])
            if is_leaf(before) && is_leaf(after) =>
        {
            look(place, &|| {
                let [before, after] = on_one_line([before, after]);
                LeafChange::Changed { before, after }
            });
        }
        (_, [before, after]) => {
            let flow = |node: &Node| clean(&to_flow(node, MAX_VALUE_CHARS)).into_owned();
            each_leaf(before, &mut place.clone(), &mut |place, node| {
                look(place, &|| LeafChange::Removed(flow(node)));
            });
            each_leaf(after, &mut place.clone(), &mut |place, node| {
                look(place, &|| LeafChange::Added(flow(node)));
            });
        }
    }
}

/// Calls `look` for each leaf of a value, with its place.
fn each_leaf(node: Option<&Node>, here: &mut Location, look: &mut dyn FnMut(&Location, &Node)) {
    let Some(node) = node else { return };
    if is_leaf(node) {
        return look(here, node);
    }
    for (piece, child) in children(node) {
        here.0.push(piece);
        each_leaf(Some(child), here, look);
        here.0.pop();
    }
}

fn is_leaf(node: &Node) -> bool {
    node.secret || children(node).next().is_none()
}

/// Formats two values. Long ones are cut around the first character that differs.
fn on_one_line(values: [&Node; 2]) -> [String; 2] {
    /// Maximum number of characters that are compared.
    const MAX_COMPARED: usize = 10_000;
    let [before, after] = values.map(|value| to_flow(value, MAX_COMPARED));
    cut_sides([&clean(&before), &clean(&after)], 2 * MAX_VALUE_CHARS, "…")
}
