//! Findings that a comment says are not to be reported.

use std::collections::BTreeMap;

use super::Findable;
use crate::diagnostic::{Diagnostic, Label, Suppression};
use crate::ignore::{Ignore, IgnoreExtent, RuleName, reaching};
use crate::source::{FileId, Source};

/// A comment that suppresses nothing, or not all that it names.
#[derive(Debug)]
pub(crate) struct UnusedIgnore<'a> {
    /// The comment.
    pub(crate) ignore: &'a Ignore,
    /// The names of which nothing was found.
    pub(crate) names: Vec<&'a RuleName>,
}

/// Marks the findings that a comment of theirs suppresses, and gives the
/// comments that do so for nothing.
pub(super) fn by_comments<'a>(
    findings: &mut [Diagnostic],
    side: &Findable<'a>,
) -> Vec<UnusedIgnore<'a>> {
    let mut naming = RuleComments::all(&side.ignores);
    for finding in findings {
        let labels = std::iter::once(&finding.primary).chain(&finding.related);
        let reaching = labels.filter_map(|label| {
            let naming = naming.get_mut(&(label.span.file, finding.rule.name))?;
            naming.first_reaching(label, side.sources.get(label.span.file))
        });
        // Of several comments the first is recorded; all of them are used.
        if let Some(first) = reaching.min() {
            let Ignore { span, reason, .. } = side.ignores[first];
            let suppression = Suppression::Comment { at: *span, reason: reason.clone() };
            finding.suppressed.get_or_insert(suppression);
        }
    }
    let mut used: Vec<Vec<bool>> =
        side.ignores.iter().map(|ignore| vec![false; ignore.names.len()]).collect();
    for naming in naming.values() {
        let is_used = naming.used.iter().scan(0, |reaching, change| {
            *reaching += change;
            Some(*reaching > 0)
        });
        for (named, _) in naming.named.iter().zip(is_used).filter(|(_, used)| *used) {
            used[named.ignore][named.name] = true;
        }
    }
    let all = side.ignores.iter().zip(used);
    all.filter_map(|(ignore, used)| unused(ignore, &used)).collect()
}

/// The comments of one file that name one rule. There can be as many of them as
/// there are findings, so that they are not gone through for each.
#[derive(Default)]
struct RuleComments<'a> {
    /// As [`reaching`] wants them.
    extents: Vec<&'a IgnoreExtent>,
    named: Vec<NameIndex>,
    /// Increase of the number of findings that use each over the one before it, and one more behind
    /// all.
    used: Vec<i64>,
}

/// A name in a comment, by indices.
#[derive(Clone, Copy)]
struct NameIndex {
    ignore: usize,
    name: usize,
}

impl<'a> RuleComments<'a> {
    /// The comments by file and rule.
    fn all(ignores: &[&'a Ignore]) -> BTreeMap<(FileId, &'static str), Self> {
        let mut sorted: Vec<(usize, &'a Ignore)> = ignores.iter().copied().enumerate().collect();
        sorted.sort_by_key(|(_, ignore)| (ignore.extent.kind(), ignore.span));
        let mut all: BTreeMap<_, Self> = BTreeMap::new();
        for (at, ignore) in sorted {
            for (name, rule) in rules(ignore) {
                let naming = all.entry((ignore.span.file, rule)).or_default();
                naming.add(NameIndex { ignore: at, name }, &ignore.extent);
            }
        }
        all
    }

    /// Of several names for one rule in a comment only the first is of use.
    fn add(&mut self, named: NameIndex, extent: &'a IgnoreExtent) {
        if self.named.last().is_none_or(|last| last.ignore != named.ignore) {
            self.extents.push(extent);
            self.named.push(named);
            self.used.resize(self.named.len() + 1, 0);
        }
    }

    /// The first comment that speaks of what `label` points at; all that do are
    /// of use.
    fn first_reaching(&mut self, label: &Label, source: &Source) -> Option<usize> {
        let stretches = reaching(&self.extents, label, source);
        let firsts = stretches.iter().filter_map(|it| self.named[it.clone()].first());
        let first = firsts.map(|named| named.ignore).min();
        for stretch in stretches {
            self.used[stretch.start] += 1;
            self.used[stretch.end] -= 1;
        }
        first
    }
}

/// The rules that a comment names, each with the index of its name.
fn rules(ignore: &Ignore) -> impl Iterator<Item = (usize, &'static str)> {
    let names = ignore.names.iter().enumerate();
    names.flat_map(|(at, name)| name.rules.iter().map(move |rule| (at, rule.name)))
}

fn unused<'a>(ignore: &'a Ignore, used: &[bool]) -> Option<UnusedIgnore<'a>> {
    let names = ignore.names.iter().zip(used).filter(|(_, used)| !**used);
    let names: Vec<&RuleName> = names.map(|(name, _)| name).collect();
    (!names.is_empty()).then_some(UnusedIgnore { ignore, names })
}
