//! Limits on listed findings: reports list similar findings once (see `joined`), and summarize
//! findings beyond the maximum, so that repetitive files do not flood a report.
//!
//! Exit codes, the baseline and fixes use all findings.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{ComparedFindings, Findings, joined};
use crate::diagnostic::{CauseKey, Diagnostic, Severity, Suppression};
use crate::edit::EditId;
use crate::source::{RepoPath, SourceMap, Span};

/// Maximum number of findings of one rule in one file that are listed.
pub(crate) const MAX_OF_RULE_IN_FILE: usize = 1_000;

/// Maximum number of listed findings in total, for each state.
pub(crate) const MAX_LISTED: usize = 10_000;

/// Maximum number of characters in a text of a finding.
pub(crate) const MAX_TEXT: usize = 1_000;

impl Findings {
    /// Findings to list in reports: similar findings are joined, unless `each` is set, and findings
    /// beyond the maximum are summarized by kind.
    pub fn reported(&self, each: bool, sources: &SourceMap) -> Cow<'_, Self> {
        let lists = [&self.diagnostics, &self.suppressed];
        if !lists
            .into_iter()
            .any(|list| is_to_be_shortened(list, &[], each, sources))
        {
            return Cow::Borrowed(self);
        }
        let [diagnostics, suppressed] = lists.map(|list| shortened(list, &[], each, sources).0);
        Cow::Owned(Self {
            diagnostics,
            suppressed,
        })
    }
}

impl ComparedFindings {
    /// Findings to list for both sides; see [`Findings::reported`].
    pub fn reported(&self, each: bool, sources: &SourceMap) -> Cow<'_, Self> {
        let lists = [
            (&self.new.diagnostics, &self.causes[..]),
            (&self.unchanged.diagnostics, &[]),
            (&self.fixed.diagnostics, &[]),
            (&self.suppressed, &[]),
        ];
        let is_to_be_shortened = |(findings, causes): (&Vec<Diagnostic>, &[Vec<EditId>])| {
            is_to_be_shortened(findings, causes, each, sources)
        };
        if !lists.into_iter().any(is_to_be_shortened) {
            return Cow::Borrowed(self);
        }
        let (new, listed) = shortened(&self.new.diagnostics, &self.causes, each, sources);
        let causes_of = |group: Vec<usize>| {
            let causes = group
                .into_iter()
                .filter_map(|at| self.causes.get(at))
                .flatten();
            causes
                .copied()
                .collect::<BTreeSet<EditId>>()
                .into_iter()
                .collect()
        };
        Cow::Owned(Self {
            new: Findings {
                diagnostics: new,
                suppressed: Vec::new(),
            },
            causes: listed.into_iter().map(causes_of).collect(),
            unchanged: self.unchanged.reported(each, sources).into_owned(),
            fixed: self.fixed.reported(each, sources).into_owned(),
            suppressed: shortened(&self.suppressed, &[], each, sources).0,
            added_ignores: self.added_ignores,
            without: Vec::new(),
        })
    }
}

/// Whether reports omit some of these findings or shorten their texts.
fn is_to_be_shortened(
    diagnostics: &[Diagnostic],
    causes: &[Vec<EditId>],
    each: bool,
    sources: &SourceMap,
) -> bool {
    needs_cap(diagnostics) || (!each && joined::groups(diagnostics, causes, sources).is_some())
}

/// Findings to list, and for each the indices in `diagnostics` of the findings that it joins, or of
/// the first one that it summarizes.
fn shortened(
    diagnostics: &[Diagnostic],
    causes: &[Vec<EditId>],
    each: bool,
    sources: &SourceMap,
) -> (Vec<Diagnostic>, Vec<Vec<usize>>) {
    let mut groups = joined::groups(diagnostics, causes, sources)
        .filter(|_| !each)
        .unwrap_or_else(|| (0..diagnostics.len()).map(|at| vec![at]).collect());
    let joined: Vec<Diagnostic> = groups
        .iter()
        .map(|group| joined::joined(group, diagnostics, sources))
        .collect();
    let (capped, listed) = capped(&joined, sources);
    (
        capped,
        listed
            .into_iter()
            .map(|at| std::mem::take(&mut groups[at]))
            .collect(),
    )
}

/// Whether the number of findings or the length of a text may exceed a limit.
fn needs_cap(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.len() > MAX_OF_RULE_IN_FILE || diagnostics.iter().any(has_long_text)
}

fn has_long_text(diagnostic: &Diagnostic) -> bool {
    let labels = std::iter::once(&diagnostic.primary).chain(&diagnostic.related);
    let mut texts = labels
        .map(|label| &label.message)
        .chain(&diagnostic.notes)
        .chain(&diagnostic.help)
        .chain([&diagnostic.message]);
    // Every character has at least one byte.
    texts.any(|text| text.len() > MAX_TEXT)
}

/// Grouping key of summarized findings.
type CapKey<'a> = (
    Option<&'a RepoPath>,
    &'static str,
    Severity,
    (Option<&'static str>, Option<CauseKey>),
);

/// Findings to list, and for each the index in `diagnostics` of the finding, or of the first one
/// that it summarizes.
fn capped(diagnostics: &[Diagnostic], sources: &SourceMap) -> (Vec<Diagnostic>, Vec<usize>) {
    let kind = |diagnostic: &'_ Diagnostic| {
        let suppressed = diagnostic.suppressed.as_ref().map(Suppression::as_str);
        (
            diagnostic.rule.name,
            diagnostic.severity,
            (suppressed, diagnostic.because_of),
        )
    };
    let mut left_out: BTreeMap<CapKey<'_>, Vec<usize>> = BTreeMap::new();
    let mut alike: BTreeMap<CapKey<'_>, usize> = BTreeMap::new();
    let mut listed: Vec<usize> = Vec::new();
    for (at, diagnostic) in diagnostics.iter().enumerate() {
        let (rule, severity, suppressed) = kind(diagnostic);
        let file = sources.path_of(diagnostic.primary.span);
        let key = (Some(file), rule, severity, suppressed);
        let count = alike.entry(key).or_default();
        *count += 1;
        if *count > MAX_OF_RULE_IN_FILE {
            left_out.entry(key).or_default().push(at);
        } else {
            listed.push(at);
        }
    }
    if listed.len() > MAX_LISTED {
        // The most severe findings are kept.
        listed.sort_by_key(|at| (Reverse(diagnostics[*at].severity), *at));
        for at in listed.split_off(MAX_LISTED) {
            let (rule, severity, suppressed) = kind(&diagnostics[at]);
            left_out
                .entry((None, rule, severity, suppressed))
                .or_default()
                .push(at);
        }
    }
    let listed = listed.into_iter().map(|at| (at, clipped(&diagnostics[at])));
    let others = left_out
        .iter()
        .map(|((file, ..), ats)| (ats[0], stand_in(*file, ats, diagnostics)));
    let mut all: Vec<(usize, Diagnostic)> = listed.chain(others).collect();
    all.sort_by_key(|(at, _)| *at);
    let (indices, capped) = all.into_iter().unzip();
    (capped, indices)
}

/// Summary of the findings at `ats`, which all belong to one rule and, if given, to one file.
fn stand_in(file: Option<&RepoPath>, ats: &[usize], diagnostics: &[Diagnostic]) -> Diagnostic {
    let first = &diagnostics[ats[0]];
    let count = Diagnostic::total(ats.iter().map(|at| &diagnostics[*at]));
    // Consequences of other findings are not counted.
    let left_out = if first.because_of.is_some() {
        ats.len()
    } else {
        count
    };
    let place = if file.is_some() {
        "in this file"
    } else {
        "in this and other files"
    };
    let message = format!("{left_out} more findings of this rule {place} are not listed");
    let mut sites: Vec<_> = ats
        .iter()
        .flat_map(|at| &diagnostics[*at].sites)
        .cloned()
        .collect();
    sites.sort_unstable();
    sites.dedup();
    let span = Span::point(first.primary.span.file, first.primary.span.start);
    Diagnostic {
        message,
        severity: first.severity,
        subject: "left out".to_owned(),
        suppressed: first.suppressed.clone(),
        because_of: first.because_of,
        sites,
        count,
        ..first.rule.finding("", span, "first of these findings")
    }
    .help("fix the listed findings, then run layercake again")
}

/// Truncates texts longer than [`MAX_TEXT`].
fn clipped(diagnostic: &Diagnostic) -> Diagnostic {
    let mut diagnostic = diagnostic.clone();
    let labels = std::iter::once(&mut diagnostic.primary).chain(&mut diagnostic.related);
    let texts = labels
        .map(|label| &mut label.message)
        .chain(&mut diagnostic.notes)
        .chain(&mut diagnostic.help)
        .chain([&mut diagnostic.message]);
    for text in texts {
        if let Some((end, _)) = text.char_indices().nth(MAX_TEXT) {
            let left = text[end..].chars().count();
            text.truncate(end);
            *text += &format!("… ({left} more characters)");
        }
    }
    diagnostic
}
