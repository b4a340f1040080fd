//! Findings that reports list once: those caused by one absent thing, equal ones of several documents
//! that one edit caused, and those of copies of a file in many sites.
//!
//! Sixteen substitutions from a missing document are one defect to fix, and so is a line copied
//! into two hundred sites. Exit codes, comments, the baseline and fixes use each finding.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::fold;
use crate::diagnostic::{Absent, CauseKey, Diagnostic, Severity, Suppression};
use crate::edit::EditId;
use crate::source::{DocKey, FileId, SourceMap};

/// Maximum number of sites whose identical findings are listed separately.
const MAX_SITES: usize = 3;

/// Label of each place of a finding in several documents.
const SAME_LABEL: &str = "one of these documents";

/// Grouping key of findings that are listed once.
type JoinKey<'a> = (
    &'static str,
    Severity,
    (Option<&'static str>, Option<CauseKey>),
    CommonCause<'a>,
);

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum CommonCause<'a> {
    /// Absent thing.
    Absent(&'a Absent),
    /// Message, and path without the site name.
    AlikeFiles(&'a str, String),
    /// Edits, and message without the document.
    Edits(&'a [EditId], &'a str),
}

/// Groups of indices in `diagnostics`, in the order of their first findings; `None` if no findings
/// are joined. `causes` are the edits that caused each, if known.
pub(super) fn groups(
    diagnostics: &[Diagnostic],
    causes: &[Vec<EditId>],
    sources: &SourceMap,
) -> Option<Vec<Vec<usize>>> {
    let mut alike: BTreeMap<JoinKey<'_>, Vec<usize>> = BTreeMap::new();
    for (at, diagnostic) in diagnostics.iter().enumerate() {
        let causes = causes.get(at).map_or(&[][..], Vec::as_slice);
        if let Some(kind) = kind(diagnostic, causes, sources) {
            alike.entry(kind).or_default().push(at);
        }
    }
    alike.retain(|(.., shared), group| match shared {
        CommonCause::Absent(_) | CommonCause::Edits(..) => group.len() > 1,
        CommonCause::AlikeFiles(..) => {
            let sites = group.iter().flat_map(|at| &diagnostics[*at].sites);
            sites.collect::<BTreeSet<&Arc<str>>>().len() > MAX_SITES
        }
    });
    if alike.is_empty() {
        return None;
    }
    let mut groups: Vec<Vec<usize>> = alike.into_values().collect();
    let joined: BTreeSet<usize> = groups.iter().flatten().copied().collect();
    let alone = (0..diagnostics.len()).filter(|at| !joined.contains(at));
    groups.extend(alone.map(|at| vec![at]));
    groups.sort_unstable();
    Some(groups)
}

fn kind<'a>(
    diagnostic: &'a Diagnostic,
    causes: &'a [EditId],
    sources: &SourceMap,
) -> Option<JoinKey<'a>> {
    let absent = diagnostic.absent.as_ref().map(CommonCause::Absent);
    let shared = absent
        .or_else(|| {
            let path = path_without_site(diagnostic, sources)?;
            Some(CommonCause::AlikeFiles(&diagnostic.message, path))
        })
        .or_else(|| {
            let message = about_document(diagnostic).filter(|_| !causes.is_empty())?;
            Some(CommonCause::Edits(causes, message))
        })?;
    let suppressed = diagnostic.suppressed.as_ref().map(Suppression::as_str);
    let state = (suppressed, diagnostic.because_of);
    Some((diagnostic.rule.name, diagnostic.severity, state, shared))
}

/// Path of a file of the finding's only site, without the name of the site.
fn path_without_site(diagnostic: &Diagnostic, sources: &SourceMap) -> Option<String> {
    let [site] = &diagnostic.sites[..] else {
        return None;
    };
    let path = sources.path_of(diagnostic.primary.span).as_str();
    let mut parts: Vec<&str> = path.split('/').collect();
    *parts.iter_mut().find(|part| ***part == **site)? = "";
    Some(parts.join("/"))
}

/// Message of a finding about one document, without its name.
fn about_document(diagnostic: &Diagnostic) -> Option<&str> {
    let name = &*diagnostic.documents.first()?.name;
    let message = diagnostic.message.strip_prefix('`')?.strip_prefix(name)?;
    message.strip_prefix("`: ").filter(|_| !name.is_empty())
}

/// Finding to list for `group`, which is not empty.
pub(super) fn joined(
    group: &[usize],
    diagnostics: &[Diagnostic],
    sources: &SourceMap,
) -> Diagnostic {
    let first = &diagnostics[group[0]];
    let [_, others @ ..] = group else {
        return first.clone();
    };
    if others.is_empty() {
        return first.clone();
    }
    let all = || group.iter().map(|at| &diagnostics[*at]);
    let is_by_edits = path_without_site(first, sources).is_none();
    let mut joined = Diagnostic {
        help: first
            .help
            .clone()
            .filter(|_| all().all(|it| it.help == first.help)),
        ..first.clone()
    };
    if let Some(absent) = &first.absent {
        // Sites can have documents of the same name.
        let users: BTreeSet<(FileId, Option<&DocKey>)> = all()
            .map(|it| (it.primary.span.file, it.documents.first()))
            .collect();
        joined.message = absent.describe(group.len(), users.len());
        joined.fix = None;
    } else if let Some(message) = about_document(first).filter(|_| is_by_edits) {
        let documents: BTreeSet<Option<&DocKey>> = all().map(|it| it.documents.first()).collect();
        if documents.len() > 1 {
            joined.message = format!("{} documents: {message}", documents.len());
            SAME_LABEL.clone_into(&mut joined.primary.message);
        }
        joined.fix = None;
    } else {
        joined.count = Diagnostic::total(all());
    }
    for other in others.iter().map(|at| &diagnostics[*at]) {
        let mut other = other.clone();
        if first.absent.is_none() {
            other.related.clear();
        }
        if joined.primary.message == SAME_LABEL {
            SAME_LABEL.clone_into(&mut other.primary.message);
        }
        if other.primary != joined.primary {
            other.related.insert(0, other.primary.clone());
        }
        fold(&mut joined, other);
    }
    joined
}
