//! Findings that a comment says are not to be reported.

use super::Findable;
use crate::diagnostic::{Diagnostic, Label, Suppression};
use crate::ignore::{Ignore, Name};

/// A comment that suppresses nothing, or not all that it names.
#[derive(Debug)]
pub struct Unused<'a> {
    /// The comment.
    pub ignore: &'a Ignore,
    /// The names of which nothing was found.
    pub names: Vec<&'a Name>,
}

/// Marks the findings that a comment of theirs suppresses, and gives the
/// comments that do so for nothing.
pub(super) fn by_comments<'a>(findings: &mut [Diagnostic], side: &Findable<'a>) -> Vec<Unused<'a>> {
    let mut used: Vec<Vec<bool>> =
        side.ignores.iter().map(|ignore| vec![false; ignore.names.len()]).collect();
    for finding in findings {
        for (ignore, used) in side.ignores.iter().zip(&mut used) {
            let Some(name) = names(ignore, finding).filter(|_| reaches(ignore, finding, side))
            else {
                continue;
            };
            used[name] = true;
            // Of several comments the first is told; all of them are of use.
            finding.suppressed.get_or_insert_with(|| Suppression::Comment {
                at: ignore.span,
                reason: ignore.reason.clone(),
            });
        }
    }
    let all = side.ignores.iter().zip(used);
    all.filter_map(|(ignore, used)| unused(ignore, &used)).collect()
}

/// Which of the names is that of the finding's rule.
fn names(ignore: &Ignore, finding: &Diagnostic) -> Option<usize> {
    let is_meant = |name: &Name| name.rules.iter().any(|rule| rule.name == finding.rule.name);
    ignore.names.iter().position(is_meant)
}

fn reaches(ignore: &Ignore, finding: &Diagnostic, side: &Findable<'_>) -> bool {
    let mut labels = std::iter::once(&finding.primary).chain(&finding.related);
    labels.any(|label: &Label| ignore.reaches(label, side.sources.get(ignore.span.file)))
}

fn unused<'a>(ignore: &'a Ignore, used: &[bool]) -> Option<Unused<'a>> {
    let names = ignore.names.iter().zip(used).filter(|(_, used)| !**used);
    let names: Vec<&Name> = names.map(|(name, _)| name).collect();
    (!names.is_empty()).then_some(Unused { ignore, names })
}
