//! Laws of comparisons: both directions show the same differences, and every change has a cause.

use std::collections::BTreeSet;

use layercake::check::Compared;
use layercake::compare::reach::Comparison;
use layercake::compare::{Change, Status};
use layercake::report::canonical;
use layercake::source::Triple;
use layercake::yaml::diff::{DiffPlace, Difference};

fn value(place: &DiffPlace) -> String {
    format!("{} = {}", place.location, canonical(&place.node))
}

/// Values of a difference on both sides, that of the given side first.
fn both(difference: &Difference, is_swapped: bool) -> [Option<String>; 2] {
    let [base, head] = [&difference.base, &difference.head].map(|it| it.as_ref().map(value));
    if is_swapped {
        [head, base]
    } else {
        [base, head]
    }
}

/// Description of a change, seen from one of the sides.
pub fn seen(change: &Change, is_swapped: bool) -> String {
    let status = match (change.status, is_swapped) {
        (Status::Added, true) => Status::Removed,
        (Status::Removed, true) => Status::Added,
        (Status::Broken, true) => Status::Repaired,
        (Status::Repaired, true) => Status::Broken,
        (status, _) => status,
    };
    let describe = |differences: &[Difference]| {
        differences
            .iter()
            .map(|it| both(it, is_swapped))
            .collect::<BTreeSet<_>>()
    };
    let (data, metadata) = (describe(&change.data), describe(&change.metadata));
    let (key, from) = match &change.renamed_from {
        Some(from) if is_swapped => (from, Some(&change.key)),
        from => (&change.key, from.as_ref()),
    };
    let from = from.map(|key| &key.name);
    let site = change.site.as_deref().unwrap_or_default();
    let Triple { schema, name, .. } = &**key;
    format!(
        "{site} {schema} {name} {} {from:?}: {data:?} {metadata:?}",
        status.as_str()
    )
}

pub fn describe_changes(comparison: &Comparison, is_swapped: bool) -> Vec<String> {
    let outputs = comparison.outputs.iter();
    let mut all: Vec<String> = outputs.map(|change| seen(change, is_swapped)).collect();
    all.sort();
    all
}

/// Changes that no edit explains.
pub fn unexplained(compared: &Compared) -> Vec<String> {
    let outputs = compared
        .comparison
        .outputs
        .iter()
        .filter(|change| change.is_unexplained());
    outputs
        .map(|change| format!("{} {}", change.unexplained, seen(change, false)))
        .collect()
}
