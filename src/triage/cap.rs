//! The findings that reports list: those that are alike as one (`joined`), and of too
//! many each kind as one, so that a report does not grow with how often a file says the same.
//!
//! Exit codes, the baseline and fixes look at all findings.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{ComparedFindings, Findings, joined};
use crate::diagnostic::{Diagnostic, Label, Severity, Suppression};
use crate::edit::EditId;
use crate::source::{RepoPath, SourceMap, Span};

/// Maximum number of findings of one rule in one file that are listed.
pub(crate) const MAX_OF_RULE_IN_FILE: usize = 1_000;

/// Maximum number of findings that are listed in all, of each state.
pub(crate) const MAX_LISTED: usize = 10_000;

/// Maximum number of characters of a text of a finding.
pub(crate) const MAX_TEXT: usize = 1_000;

impl Findings {
    /// The findings that reports list: those that are alike as one, unless `each` is listed, and one for each kind of those that are too many.
    pub fn reported(&self, each: bool, sources: &SourceMap) -> Cow<'_, Self> {
        if !is_to_be_shortened(&self.diagnostics, each, sources) && !needs_cap(&self.suppressed) {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self {
            diagnostics: shortened(&self.diagnostics, each, sources).0,
            suppressed: capped(&self.suppressed, sources).0,
        })
    }
}

impl ComparedFindings {
    /// Findings as [`Findings::reported`] gives them, for both sides.
    pub fn reported(&self, each: bool, sources: &SourceMap) -> Cow<'_, Self> {
        let lists = [&self.new, &self.unchanged, &self.fixed].map(|it| &it.diagnostics);
        if !lists.into_iter().any(|it| is_to_be_shortened(it, each, sources))
            && !needs_cap(&self.suppressed)
        {
            return Cow::Borrowed(self);
        }
        let (new, listed) = shortened(&self.new.diagnostics, each, sources);
        let causes_of = |group: Vec<usize>| {
            let causes = group.into_iter().filter_map(|at| self.causes.get(at)).flatten();
            causes.copied().collect::<BTreeSet<EditId>>().into_iter().collect()
        };
        Cow::Owned(Self {
            new: Findings { diagnostics: new, suppressed: Vec::new() },
            causes: listed.into_iter().map(causes_of).collect(),
            unchanged: self.unchanged.reported(each, sources).into_owned(),
            fixed: self.fixed.reported(each, sources).into_owned(),
            suppressed: capped(&self.suppressed, sources).0,
            added_ignores: self.added_ignores,
        })
    }
}

/// Whether reports list fewer findings than these, or shorter texts.
fn is_to_be_shortened(diagnostics: &[Diagnostic], each: bool, sources: &SourceMap) -> bool {
    needs_cap(diagnostics) || (!each && joined::groups(diagnostics, sources).is_some())
}

/// The list that reports have, and for each entry the indices in `diagnostics` of the findings
/// that are listed as one, or of the first that it represents.
fn shortened(
    diagnostics: &[Diagnostic],
    each: bool,
    sources: &SourceMap,
) -> (Vec<Diagnostic>, Vec<Vec<usize>>) {
    let alone = || (0..diagnostics.len()).map(|at| vec![at]).collect();
    let groups = joined::groups(diagnostics, sources).filter(|_| !each);
    let mut groups = groups.unwrap_or_else(alone);
    let joined: Vec<Diagnostic> =
        groups.iter().map(|group| joined::joined(group, diagnostics)).collect();
    let (capped, listed) = capped(&joined, sources);
    (capped, listed.into_iter().map(|at| std::mem::take(&mut groups[at])).collect())
}

/// Whether a list may have to be capped: whether it is long, or a text of it is.
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
    // A character has a byte at least.
    texts.any(|text| text.len() > MAX_TEXT)
}

/// Common properties of the findings that one finding represents.
type CapKey<'a> =
    (Option<&'a RepoPath>, &'static str, Severity, (Option<&'static str>, Option<Span>));

/// The capped list, and for each entry the index in `diagnostics` of the finding, or of the
/// first that it represents.
fn capped(diagnostics: &[Diagnostic], sources: &SourceMap) -> (Vec<Diagnostic>, Vec<usize>) {
    let kind = |diagnostic: &'_ Diagnostic| {
        let suppressed = diagnostic.suppressed.as_ref().map(Suppression::as_str);
        (diagnostic.rule.name, diagnostic.severity, (suppressed, diagnostic.because_of))
    };
    let mut left_out: BTreeMap<CapKey<'_>, Vec<usize>> = BTreeMap::new();
    let mut alike: BTreeMap<CapKey<'_>, usize> = BTreeMap::new();
    let mut listed: Vec<usize> = Vec::new();
    for (at, diagnostic) in diagnostics.iter().enumerate() {
        let (rule, severity, suppressed) = kind(diagnostic);
        let file = sources.path_of(diagnostic.primary.span);
        let kind = (Some(file), rule, severity, suppressed);
        let count = alike.entry(kind).or_default();
        *count += 1;
        if *count > MAX_OF_RULE_IN_FILE {
            left_out.entry(kind).or_default().push(at);
        } else {
            listed.push(at);
        }
    }
    if listed.len() > MAX_LISTED {
        // The worst are kept.
        listed.sort_by_key(|at| (Reverse(diagnostics[*at].severity), *at));
        for at in listed.split_off(MAX_LISTED) {
            let (rule, severity, suppressed) = kind(&diagnostics[at]);
            left_out.entry((None, rule, severity, suppressed)).or_default().push(at);
        }
    }
    let listed = listed.into_iter().map(|at| (at, clipped(&diagnostics[at])));
    let others =
        left_out.iter().map(|((file, ..), ats)| (ats[0], stand_in(*file, ats, diagnostics)));
    let mut all: Vec<(usize, Diagnostic)> = listed.chain(others).collect();
    all.sort_by_key(|(at, _)| *at);
    let (indices, capped) = all.into_iter().unzip();
    (capped, indices)
}

/// One finding in the place of those at `ats`, which are of one rule, of one file where that is
/// given.
fn stand_in(file: Option<&RepoPath>, ats: &[usize], diagnostics: &[Diagnostic]) -> Diagnostic {
    let first = &diagnostics[ats[0]];
    let count = Diagnostic::total(ats.iter().map(|at| &diagnostics[*at]));
    // What follows from another finding is not counted.
    let left_out = if first.because_of.is_some() { ats.len() } else { count };
    let place = if file.is_some() { "in this file" } else { "in this and other files" };
    let message = format!("{left_out} more findings of this rule {place} are left out");
    let mut sites: Vec<_> = ats.iter().flat_map(|at| &diagnostics[*at].sites).cloned().collect();
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
        ..Diagnostic::new(first.rule, "", Label::new(span, "the first of them"))
    }
    .help("fix those that are listed, and run layercake again")
}

/// The finding with no text that is longer than [`MAX_TEXT`].
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
