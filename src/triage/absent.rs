//! Findings that follow from one absent thing: a report lists them as one.
//!
//! Sixteen substitutions that need a document which is not there are one fault to mend. Exit
//! codes, comments, the baseline and fixes look at each of the findings.

use std::collections::{BTreeMap, BTreeSet};

use super::fold;
use crate::diagnostic::Diagnostic;
use crate::source::{DocKey, FileId};

/// The indices in `diagnostics` of the findings that are listed as one, in the order of the
/// first of each; none where each is listed alone.
pub(super) fn groups(diagnostics: &[Diagnostic]) -> Option<Vec<Vec<usize>>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: BTreeMap<_, usize> = BTreeMap::new();
    for (at, diagnostic) in diagnostics.iter().enumerate() {
        let key = diagnostic.absent.as_ref().map(|absent| {
            (diagnostic.rule.name, diagnostic.severity, diagnostic.because_of, absent)
        });
        let group = key.map_or(groups.len(), |key| *known.entry(key).or_insert(groups.len()));
        match groups.get_mut(group) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    (groups.len() < diagnostics.len()).then_some(groups)
}

/// The finding that is listed for those at `group`, one at least.
pub(super) fn joined(group: &[usize], diagnostics: &[Diagnostic]) -> Diagnostic {
    let first = &diagnostics[group[0]];
    let (Some(absent), [_, others @ ..]) = (&first.absent, group) else { return first.clone() };
    if others.is_empty() {
        return first.clone();
    }
    let all = || group.iter().map(|at| &diagnostics[*at]);
    // Sites can have documents of one name.
    let users: BTreeSet<(FileId, Option<&DocKey>)> =
        all().map(|it| (it.primary.span.file, it.documents.first())).collect();
    let mut joined = Diagnostic {
        message: absent.describe(group.len(), users.len()),
        help: first.help.clone().filter(|_| all().all(|it| it.help == first.help)),
        fix: None,
        ..first.clone()
    };
    for other in others {
        let mut other = diagnostics[*other].clone();
        if other.primary != joined.primary {
            other.related.insert(0, other.primary.clone());
        }
        fold(&mut joined, other);
    }
    joined
}
