//! Consequences: findings caused by another finding, which must be fixed first.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{ComparedFindings, Findings};
use crate::diagnostic::{Diagnostic, Severity, Trait};
use crate::edit::EditId;
use crate::source::{FileId, SourceMap};

/// Maximum number of consequences quoted in the note of their root.
const MAX_QUOTED: usize = 2;

/// Maximum number of files searched for an apparently absent name.
const MAX_SEARCHED: usize = 20;

impl Findings {
    /// Marks the findings about absent things that may be defined in unread documents.
    #[must_use]
    pub(crate) fn with_consequences(mut self, sources: &SourceMap) -> Self {
        let roots = {
            let unread = UnreadErrors::new(&self.diagnostics, sources);
            self.diagnostics.iter().map(|finding| unread.root_of(finding)).collect()
        };
        mark(&mut self.diagnostics, roots);
        self
    }
}

impl ComparedFindings {
    /// Marks two kinds of findings: those caused only by edits of unread files, if an error reports
    /// the first of these files; and those about absent things that may be defined in unread
    /// documents. `unread` gives the unread file of an edit.
    pub(crate) fn mark_consequences(
        &mut self,
        unread: &dyn Fn(EditId) -> Option<FileId>,
        sources: &SourceMap,
    ) {
        for findings in [&mut self.unchanged, &mut self.fixed] {
            *findings = std::mem::take(findings).with_consequences(sources);
        }
        self.forget_unknown();
        let new = &mut self.new.diagnostics;
        let mut errors: BTreeMap<FileId, usize> = BTreeMap::new();
        for (at, finding) in new.iter().enumerate().filter(|(_, finding)| is_unread_file(finding)) {
            errors.entry(finding.primary.span.file).or_insert(at);
        }
        let by_causes = |finding: &Diagnostic, causes: &[EditId]| {
            let files: Option<Vec<FileId>> = causes.iter().map(|cause| unread(*cause)).collect();
            let first = files?.first().copied()?;
            errors.get(&first).copied().filter(|_| !is_unread_file(finding))
        };
        let roots = {
            let unread = UnreadErrors::new(new, sources);
            let findings = new.iter().zip(&self.causes);
            let roots = findings.map(|(finding, causes)| {
                by_causes(finding, causes).or_else(|| unread.root_of(finding))
            });
            roots.collect()
        };
        mark(new, roots);
    }
}

impl ComparedFindings {
    /// Removes findings that only seem fixed, in sites whose documents are no longer all known.
    fn forget_unknown(&mut self) {
        let of_head = self.new.diagnostics.iter().chain(&self.unchanged.diagnostics);
        let unknown = of_head.filter(|it| it.rule.is(Trait::UnknownDocuments));
        let unknown: BTreeSet<Arc<str>> = unknown.flat_map(|it| it.sites.clone()).collect();
        if unknown.is_empty() {
            return;
        }
        self.fixed.diagnostics.retain_mut(|finding| {
            let is_of_files = finding.sites.is_empty();
            finding.sites.retain(|site| !unknown.contains(site));
            is_of_files || !finding.sites.is_empty()
        });
    }
}

/// Whether the finding reports a partly read file.
fn is_unread_file(finding: &Diagnostic) -> bool {
    finding.rule.is(Trait::Unreadable) && finding.severity == Severity::Error
}

/// Errors about unread documents.
struct UnreadErrors<'a> {
    /// Errors about sites whose documents are unknown.
    sites: Vec<(usize, &'a Diagnostic)>,
    /// Errors about partly read files, with the texts of the files.
    files: Vec<(usize, &'a Diagnostic, &'a str)>,
}

impl<'a> UnreadErrors<'a> {
    fn new(findings: &'a [Diagnostic], sources: &'a SourceMap) -> Self {
        let all = || findings.iter().enumerate();
        let of_sites = all().filter(|(_, it)| it.rule.is(Trait::UnknownDocuments));
        let of_files = all().filter(|(_, it)| is_unread_file(it)).take(MAX_SEARCHED);
        let text = |it: &Diagnostic| &**sources.get(it.primary.span.file).text();
        Self {
            sites: of_sites.collect(),
            files: of_files.map(|(at, it)| (at, it, text(it))).collect(),
        }
    }

    /// Index of the error that may cause a finding: the absent thing can be in a missing
    /// repository, or in a partly read file that mentions its schema.
    fn root_of(&self, finding: &Diagnostic) -> Option<usize> {
        if !finding.rule.is(Trait::Absence) {
            return None;
        }
        let concerns = |root: &Diagnostic| {
            finding.sites.is_empty() == root.sites.is_empty()
                && finding.sites.iter().all(|site| root.sites.binary_search(site).is_ok())
        };
        let of_site = self.sites.iter().find(|(_, root)| concerns(root)).map(|(at, _)| *at);
        of_site.or_else(|| {
            let kind = &finding.absent.as_ref()?.kind;
            let mut files = self.files.iter();
            let named = files.find(|(_, root, text)| concerns(root) && text.contains(&**kind));
            named.map(|(at, ..)| *at)
        })
    }
}

/// Marks each finding that has a root, and adds a note to the root.
fn mark(findings: &mut [Diagnostic], roots: Vec<Option<usize>>) {
    let mut consequences: BTreeMap<usize, Consequences> = BTreeMap::new();
    for (at, root) in roots.into_iter().enumerate() {
        if let Some(root) = root {
            let span = findings[root].primary.span;
            (findings[at].because_of, findings[at].count) = (Some(span), 0);
            consequences.entry(root).or_default().add(&findings[at]);
        }
    }
    for (root, consequences) in consequences {
        findings[root].notes.push(consequences.describe());
    }
}

/// Consequences of one finding.
#[derive(Default)]
struct Consequences {
    count: usize,
    /// First message of each rule, for some rules.
    quoted: BTreeMap<&'static str, String>,
}

impl Consequences {
    fn add(&mut self, finding: &Diagnostic) {
        self.count += 1;
        if self.quoted.len() < MAX_QUOTED {
            let message = || finding.message.clone();
            self.quoted.entry(finding.rule.name).or_insert_with(message);
        }
    }

    /// Note for the root finding.
    fn describe(&self) -> String {
        let quoted = self.quoted.values().map(String::as_str).collect::<Vec<_>>().join("; ");
        match self.count {
            1 => format!("1 finding follows from this one (`--all-findings`): {quoted}"),
            count => {
                format!("{count} findings follow from this one (`--all-findings`), e.g. {quoted}")
            }
        }
    }
}
