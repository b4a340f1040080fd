//! Consequences: findings caused by another finding, which must be fixed first.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{ComparedFindings, Findings, joined};
use crate::diagnostic::{Absent, Diagnostic, NeededBy, Severity, Trait};
use crate::edit::{EditId, Text};
use crate::source::{FileId, RepoPath, SourceMap, Span};

/// Maximum number of consequences quoted in the note of their root.
const MAX_QUOTED: usize = 2;

/// Maximum number of files searched for an apparently absent name.
const MAX_SEARCHED: usize = 20;

/// Note on a finding with a cause that was not reverted on its own.
const UNTRIED: &str = "whether it follows from another finding was not decided: too many edits take \
                       something away";

/// An edit that takes something away, which findings may miss.
pub(crate) struct TakingEdit<'a> {
    /// Files of the edited text on both sides.
    pub(crate) files: Vec<&'a RepoPath>,
    /// Schema of the edited document.
    pub(crate) schema: Arc<str>,
    /// The edited text on the head side.
    pub(crate) head: Option<&'a Text>,
    /// Whether it changes the layers of all documents.
    pub(crate) is_policy: bool,
    /// Whether it changes how documents find each other, and not what a document contains.
    pub(crate) is_relation: bool,
    /// Remedy for this number of places that need what it takes away.
    pub(crate) help: Box<dyn Fn(usize) -> String + 'a>,
}

/// Edits, as far as consequences need them.
pub(crate) struct EditsOfFindings<'e> {
    /// The unread file of an edit.
    pub(crate) unread: &'e dyn Fn(EditId) -> Option<FileId>,
    /// Description of an edit that takes something away.
    pub(crate) taking: &'e dyn Fn(EditId) -> Option<TakingEdit<'e>>,
    /// Edits that take something away, without which the findings of a site are not known.
    pub(crate) untried: &'e BTreeSet<EditId>,
}

impl Findings {
    /// Marks the findings that follow from others.
    #[must_use]
    pub(crate) fn with_consequences(mut self, sources: &SourceMap) -> Self {
        let roots = {
            let unread = UnreadErrors::new(&self.diagnostics, sources);
            let unread: Vec<Option<usize>> = self
                .diagnostics
                .iter()
                .map(|finding| unread.root_of(finding))
                .collect();
            roots(
                &self.diagnostics,
                &[],
                &unread,
                vec![Vec::new(); unread.len()],
                sources,
            )
        };
        mark(&mut self.diagnostics, roots);
        self
    }
}

impl ComparedFindings {
    /// Marks the findings that follow from others: those caused only by edits of unread files, if
    /// an error reports the first of these files; those about absent things that may be defined in
    /// unread documents; and those that do not occur without an edit that takes something away.
    pub(crate) fn mark_consequences(&mut self, edits: &EditsOfFindings<'_>, sources: &SourceMap) {
        for findings in [&mut self.unchanged, &mut self.fixed] {
            *findings = std::mem::take(findings).with_consequences(sources);
        }
        self.forget_unknown();
        let without = std::mem::take(&mut self.without);
        let new = &mut self.new.diagnostics;
        let mut errors: BTreeMap<FileId, usize> = BTreeMap::new();
        for (at, finding) in new
            .iter()
            .enumerate()
            .filter(|(_, finding)| is_unread(finding))
        {
            errors.entry(finding.primary.span.file).or_insert(at);
        }
        let by_causes = |finding: &Diagnostic, causes: &[EditId]| {
            let files: Option<Vec<FileId>> =
                causes.iter().map(|cause| (edits.unread)(*cause)).collect();
            let first = files?.first().copied()?;
            errors.get(&first).copied().filter(|_| !is_unread(finding))
        };
        let own: Vec<Option<usize>> = {
            let unread = UnreadErrors::new(new, sources);
            let findings = new.iter().zip(&self.causes);
            let root = |(finding, causes): (&Diagnostic, &Vec<EditId>)| {
                by_causes(finding, causes).or_else(|| unread.root_of(finding))
            };
            findings.map(root).collect()
        };
        let is_alone = |at: usize| own[at].is_none();
        let mut candidates = vec![Vec::new(); own.len()];
        let taken = RootsOfEdits {
            findings: new,
            causes: &self.causes,
            without: &without,
            sources,
        };
        let taken = taken.roots(edits, &is_alone);
        for (root, followers, _) in &taken {
            for at in followers {
                candidates[*at].push(*root);
            }
        }
        for (root, _, help) in taken.into_iter().filter(|(.., help)| help.is_some()) {
            let Some(absent) = new[root].absent.clone() else {
                continue;
            };
            for finding in new
                .iter_mut()
                .filter(|it| it.absent.as_ref() == Some(&absent))
            {
                (finding.help, finding.fix) = (help.clone(), None);
            }
        }
        let roots = roots(new, &self.causes, &own, candidates, sources);
        mark(new, roots);
        for (finding, causes) in new.iter_mut().zip(&self.causes) {
            if finding.because_of.is_none() && causes.iter().any(|it| edits.untried.contains(it)) {
                finding.notes.push(UNTRIED.to_owned());
            }
        }
    }
}

/// Search for the findings that report edits that take something away.
struct RootsOfEdits<'a> {
    findings: &'a [Diagnostic],
    causes: &'a [Vec<EditId>],
    /// Edits without which each finding does not occur.
    without: &'a [Vec<EditId>],
    sources: &'a SourceMap,
}

/// Root of an edit, the findings that follow from it, and the remedy if it is at the edit.
type EditRoot = (usize, Vec<usize>, Option<String>);

impl RootsOfEdits<'_> {
    fn roots(
        &self,
        edits: &EditsOfFindings<'_>,
        is_alone: &dyn Fn(usize) -> bool,
    ) -> Vec<EditRoot> {
        let mut gone: BTreeMap<EditId, Vec<usize>> = BTreeMap::new();
        for (at, edits) in self
            .without
            .iter()
            .enumerate()
            .filter(|(at, _)| is_alone(*at))
        {
            for edit in edits {
                gone.entry(*edit).or_default().push(at);
            }
        }
        let root_of = |(edit, gone): (EditId, Vec<usize>)| {
            let taking = (edits.taking)(edit)?;
            let mut alike: BTreeMap<&Absent, usize> = BTreeMap::new();
            for absent in gone
                .iter()
                .filter_map(|at| self.findings[*at].absent.as_ref())
            {
                *alike.entry(absent).or_default() += 1;
            }
            let reports = (0..self.findings.len()).filter(|at| self.is_report(*at, edit, edits));
            let root = gone
                .iter()
                .copied()
                .chain(reports)
                .filter_map(|at| {
                    let finding = &self.findings[at];
                    let is_error = finding.severity == Severity::Error;
                    let class = self.class(at, edit, &taking)?;
                    let alike = finding.absent.as_ref().and_then(|absent| alike.get(absent));
                    is_error.then(|| (class, Reverse(alike.copied().unwrap_or_default()), at))
                })
                .min();
            let (_, Reverse(alike), root) = root?;
            // At the edited text, the finding's own remedy is better.
            let help = taking
                .head
                .is_none_or(|head| !head.meets(self.findings[root].primary.span))
                .then(|| (taking.help)(alike));
            Some((root, gone, help))
        };
        gone.into_iter().filter_map(root_of).collect()
    }

    /// Whether a finding is caused by an edit, and by no other that takes something away.
    fn is_report(&self, at: usize, edit: EditId, edits: &EditsOfFindings<'_>) -> bool {
        let mut taking = self.causes[at]
            .iter()
            .filter(|cause| (edits.taking)(**cause).is_some());
        self.findings[at].rule.is(Trait::Cause)
            && taking.next() == Some(&edit)
            && taking.next().is_none()
    }

    /// Rank of a finding as the report of an edit; `None` if it says nothing about an absence.
    fn class(&self, at: usize, edit: EditId, taking: &TakingEdit<'_>) -> Option<usize> {
        let finding = &self.findings[at];
        let is_in_file = || {
            self.causes[at].contains(&edit)
                && taking
                    .files
                    .contains(&self.sources.path_of(finding.primary.span))
        };
        let is_of_all = finding.rule.is(Trait::Absence) || taking.is_policy;
        if finding.rule.is(Trait::Cause) && (is_of_all || is_in_file()) {
            return Some(0);
        }
        match &finding.absent {
            Some(absent) if *absent.kind == *taking.schema => Some(
                if (absent.needed_by == NeededBy::Child) == taking.is_relation {
                    1
                } else {
                    2
                },
            ),
            Some(_) => Some(3),
            None => finding.rule.is(Trait::Absence).then_some(4),
        }
    }
}

/// Root of each finding. `unread` is the unread file or repository from which it follows, and
/// `candidates` are further possible roots, besides the slips that it follows.
fn roots(
    findings: &[Diagnostic],
    causes: &[Vec<EditId>],
    unread: &[Option<usize>],
    mut candidates: Vec<Vec<usize>>,
    sources: &SourceMap,
) -> Vec<Option<usize>> {
    let mut errors: BTreeMap<Span, usize> = BTreeMap::new();
    for (at, finding) in findings.iter().enumerate() {
        if finding.severity == Severity::Error {
            errors.entry(finding.primary.span).or_insert(at);
        }
    }
    let groups = joined::groups(findings, causes, sources);
    let mut group: Vec<usize> = (0..findings.len()).collect();
    for members in groups.iter().flatten() {
        for at in members {
            group[*at] = members[0];
        }
    }
    for (at, finding) in findings.iter().enumerate() {
        let mut in_sites = finding.follows.iter().map(|places| -> BTreeSet<usize> {
            places
                .iter()
                .filter_map(|span| errors.get(span).map(|root| group[*root]))
                .collect()
        });
        let first = in_sites.next().unwrap_or_default();
        candidates[at].extend(in_sites.fold(first, |all, more| &all & &more));
        candidates[at].retain(|root| group[*root] != group[at]);
        candidates[at].splice(0..0, unread[at]);
    }
    // Of two findings that follow from each other, the first is the root.
    let follows = |at: usize, root: usize| {
        candidates[at].contains(&root) && (root < at || !candidates[root].contains(&at))
    };
    let is_root: Vec<bool> = (0..findings.len())
        .map(|at| !candidates[at].iter().any(|root| follows(at, *root)))
        .collect();
    let mut firsts: BTreeMap<usize, usize> = BTreeMap::new();
    for at in (0..findings.len()).filter(|at| is_root[*at]) {
        firsts.entry(group[at]).or_insert(at);
    }
    let root_of = |at: usize| {
        let mut roots = candidates[at]
            .iter()
            .copied()
            .filter(|root| follows(at, *root));
        let direct = roots.clone().find(|root| is_root[*root]);
        // The absent document is in the unread file, which causes the findings about its absence.
        direct
            .or_else(|| {
                roots
                    .find_map(|root| unread[root])
                    .filter(|root| is_root[*root])
            })
            .map(|root| firsts[&group[root]])
    };
    (0..findings.len()).map(root_of).collect()
}

impl ComparedFindings {
    /// Removes findings that only seem fixed, in sites whose documents are no longer all known.
    fn forget_unknown(&mut self) {
        let of_head = self
            .new
            .diagnostics
            .iter()
            .chain(&self.unchanged.diagnostics);
        let unknown: BTreeSet<Arc<str>> = of_head
            .filter(|it| it.rule.is(Trait::UnknownDocuments))
            .flat_map(|it| it.sites.clone())
            .collect();
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
fn is_unread(finding: &Diagnostic) -> bool {
    let rule = finding.rule;
    finding.severity == Severity::Error
        && (rule.is(Trait::Unreadable) || rule.is(Trait::UnreadDocument))
}

/// Text of a partly read file from the first document that could not be read; only this document
/// if findings show that the next one could be read.
fn unread_part<'a>(
    error: &Diagnostic,
    findings: &[Diagnostic],
    sources: &'a SourceMap,
) -> Cow<'a, str> {
    let at = error.primary.span;
    let source = sources.get(at.file);
    let before = source.text().get(..at.start as usize).unwrap_or_default();
    let start = before.rfind("\n---").unwrap_or_default();
    match source.bytes().filter(|_| source.fault().is_some()) {
        Some(bytes) => String::from_utf8_lossy(bytes.get(start..).unwrap_or_default()),
        None => {
            let text = &source.text()[start..];
            let rest = text.get(at.start as usize - start..).unwrap_or_default();
            let end = rest
                .find("\n---")
                .map_or(text.len(), |end| at.start as usize - start + end);
            let is_read = findings.iter().any(|finding| {
                let place = finding.primary.span;
                place.file == at.file && place.start as usize > start + end
            });
            Cow::Borrowed(if is_read { &text[..end] } else { text })
        }
    }
}

/// Errors about unread documents.
struct UnreadErrors<'a> {
    /// Errors about sites whose documents are unknown.
    sites: Vec<(usize, &'a Diagnostic)>,
    /// Errors about partly read files, with the texts of the files.
    files: Vec<(usize, &'a Diagnostic, Cow<'a, str>)>,
}

impl<'a> UnreadErrors<'a> {
    fn new(findings: &'a [Diagnostic], sources: &'a SourceMap) -> Self {
        let all = || findings.iter().enumerate();
        let of_sites = all().filter(|(_, finding)| finding.rule.is(Trait::UnknownDocuments));
        let of_files = all()
            .filter(|(_, finding)| is_unread(finding))
            .take(MAX_SEARCHED);
        Self {
            sites: of_sites.collect(),
            files: of_files
                .map(|(at, finding)| (at, finding, unread_part(finding, findings, sources)))
                .collect(),
        }
    }

    /// Index of the error that may cause a finding: the absent thing can be in a missing
    /// repository, or in the unread part of a file that mentions its schema and name.
    fn root_of(&self, finding: &Diagnostic) -> Option<usize> {
        if !finding.rule.is(Trait::Absence) {
            return None;
        }
        let concerns = |root: &Diagnostic| {
            finding.sites.is_empty() == root.sites.is_empty()
                && finding
                    .sites
                    .iter()
                    .all(|site| root.sites.binary_search(site).is_ok())
        };
        let of_site = self
            .sites
            .iter()
            .find(|(_, root)| concerns(root))
            .map(|(at, _)| *at);
        of_site.or_else(|| {
            let absent = finding.absent.as_ref()?;
            let has_texts = |text: &str| {
                absent
                    .texts
                    .iter()
                    .chain([&absent.kind])
                    .all(|it| text.contains(&**it))
            };
            let mut files = self.files.iter();
            let named = files.find(|(_, root, text)| concerns(root) && has_texts(text));
            named.map(|(at, ..)| *at)
        })
    }
}

/// Marks each finding that has a root, and adds a note to the root.
fn mark(findings: &mut [Diagnostic], roots: Vec<Option<usize>>) {
    let mut consequences: BTreeMap<usize, Consequences> = BTreeMap::new();
    for (at, root) in roots.into_iter().enumerate() {
        if let Some(root) = root {
            let cause = findings[root].cause();
            (findings[at].because_of, findings[at].count) = (Some(cause), 0);
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
        let quoted = self
            .quoted
            .values()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("; ");
        match self.count {
            1 => format!("1 finding follows from this one (`--all-findings`): {quoted}"),
            count => {
                format!("{count} findings follow from this one (`--all-findings`), e.g. {quoted}")
            }
        }
    }
}
