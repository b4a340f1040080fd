//! Findings that follow from another one, which is to be repaired first: it decides about them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{ComparedFindings, Findings};
use crate::diagnostic::{Diagnostic, Severity, Trait};
use crate::edit::EditId;
use crate::source::{FileId, SourceMap};

/// Maximum number of consequences that the note of their finding quotes.
const MAX_QUOTED: usize = 2;

/// Maximum number of files whose texts are searched for what seems absent.
const MAX_SEARCHED: usize = 20;

impl Findings {
    /// Marks the findings of what may be among documents that were not read.
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
    /// Marks the findings that nothing but edits of files that are not read caused, where an
    /// error says so of the first of these, and those of what may be among documents that were
    /// not read. `unread` gives the file of such an edit.
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
    /// Leaves out what seems fixed in sites of which not all documents are known any more.
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

/// Whether it says that a file was not read to its end.
fn is_unread_file(finding: &Diagnostic) -> bool {
    finding.rule.is(Trait::Unreadable) && finding.severity == Severity::Error
}

/// The errors that say what was not read.
struct UnreadErrors<'a> {
    /// Where documents of sites are not known at all.
    sites: Vec<(usize, &'a Diagnostic)>,
    /// With the texts of their files.
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

    /// The index of the error from which a finding may follow: what it misses can be in a
    /// repository that was not given, or in a file that speaks of its schema.
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

/// Marks each finding that has a root, and says so at the root.
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

/// The findings that follow from one.
#[derive(Default)]
struct Consequences {
    count: usize,
    /// Messages of the first of some rules.
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

    /// The note of the finding from which they follow.
    fn describe(&self) -> String {
        let quoted = self.quoted.values().map(String::as_str).collect::<Vec<_>>().join("; ");
        match self.count {
            1 => format!("1 finding follows from it (`--all-findings`): {quoted}"),
            count => {
                format!("{count} findings follow from it (`--all-findings`), such as: {quoted}")
            }
        }
    }
}
