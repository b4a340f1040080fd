//! Suppression of findings by ignore comments.

use std::collections::BTreeMap;

use super::Findable;
use crate::diagnostic::{Diagnostic, Label, Suppression};
use crate::ignore::{Ignore, IgnoreExtent, RuleName, reaching};
use crate::source::{FileId, Source};

/// A comment with at least one name that suppresses nothing.
#[derive(Debug)]
pub(crate) struct UnusedIgnore<'a> {
    /// The comment.
    pub(crate) ignore: &'a Ignore,
    /// Names without a matching finding.
    pub(crate) names: Vec<&'a RuleName>,
}

/// Marks the findings that comments suppress, and returns the comments with unused names.
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
        // The first of several comments is recorded; all of them count as used.
        if let Some(first) = reaching.min() {
            let Ignore { span, reason, .. } = side.ignores[first];
            let suppression = Suppression::Comment {
                at: *span,
                reason: reason.clone(),
            };
            finding.suppressed.get_or_insert(suppression);
        }
    }
    let mut used: Vec<Vec<bool>> = side
        .ignores
        .iter()
        .map(|ignore| vec![false; ignore.names.len()])
        .collect();
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
    all.filter_map(|(ignore, used)| unused(ignore, &used))
        .collect()
}

/// Comments of one file that name one rule. There can be as many as findings, so they are not
/// iterated for each finding.
#[derive(Default)]
struct RuleComments<'a> {
    /// Extents, sorted as [`reaching`] requires.
    extents: Vec<&'a IgnoreExtent>,
    named: Vec<NameIndex>,
    /// Difference array of the number of findings for each comment, with one extra element at the
    /// end.
    used: Vec<i64>,
}

/// Index of a name in a comment.
#[derive(Clone, Copy)]
struct NameIndex {
    ignore: usize,
    name: usize,
}

impl<'a> RuleComments<'a> {
    /// Comments by file and rule.
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

    /// If a comment names a rule several times, only the first name is used.
    fn add(&mut self, named: NameIndex, extent: &'a IgnoreExtent) {
        if self
            .named
            .last()
            .is_none_or(|last| last.ignore != named.ignore)
        {
            self.extents.push(extent);
            self.named.push(named);
            self.used.resize(self.named.len() + 1, 0);
        }
    }

    /// First comment that covers the location of `label`; all covering comments count as used.
    fn first_reaching(&mut self, label: &Label, source: &Source) -> Option<usize> {
        let stretches = reaching(&self.extents, label, source);
        let firsts = stretches
            .iter()
            .filter_map(|it| self.named[it.clone()].first());
        let first = firsts.map(|named| named.ignore).min();
        for stretch in stretches {
            self.used[stretch.start] += 1;
            self.used[stretch.end] -= 1;
        }
        first
    }
}

/// Rules that a comment names, each with the index of its name.
fn rules(ignore: &Ignore) -> impl Iterator<Item = (usize, &'static str)> {
    let names = ignore.names.iter().enumerate();
    names.flat_map(|(at, name)| name.rules.iter().map(move |rule| (at, rule.name)))
}

fn unused<'a>(ignore: &'a Ignore, used: &[bool]) -> Option<UnusedIgnore<'a>> {
    let names: Vec<&RuleName> = ignore
        .names
        .iter()
        .zip(used)
        .filter(|(_, used)| !**used)
        .map(|(name, _)| name)
        .collect();
    (!names.is_empty()).then_some(UnusedIgnore { ignore, names })
}
