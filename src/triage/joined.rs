//! Findings that reports list once: those caused by one absent thing, and those of copies of a file
//! in many sites.
//!
//! Sixteen substitutions from a missing document are one defect to fix, and so is a line copied
//! into two hundred sites. Exit codes, comments, the baseline and fixes use each finding.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::fold;
use crate::diagnostic::{Absent, Diagnostic, Severity};
use crate::source::{DocKey, FileId, SourceMap, Span};

/// Maximum number of sites whose identical findings are listed separately.
const MAX_SITES: usize = 3;

/// Grouping key of findings that are listed once.
type JoinKey<'a> = (&'static str, Severity, Option<Span>, CommonCause<'a>);

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum CommonCause<'a> {
    /// Absent thing.
    Absent(&'a Absent),
    /// Message, and path without the site name.
    AlikeFiles(&'a str, String),
}

/// Groups of indices in `diagnostics`, in the order of their first findings; `None` if no findings
/// are joined.
pub(super) fn groups(diagnostics: &[Diagnostic], sources: &SourceMap) -> Option<Vec<Vec<usize>>> {
    let mut alike: BTreeMap<JoinKey<'_>, Vec<usize>> = BTreeMap::new();
    for (at, diagnostic) in diagnostics.iter().enumerate() {
        if let Some(kind) = kind(diagnostic, sources) {
            alike.entry(kind).or_default().push(at);
        }
    }
    alike.retain(|(.., shared), group| match shared {
        CommonCause::Absent(_) => group.len() > 1,
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

fn kind<'a>(diagnostic: &'a Diagnostic, sources: &SourceMap) -> Option<JoinKey<'a>> {
    let shared = match (&diagnostic.absent, &diagnostic.sites[..]) {
        (Some(absent), _) => CommonCause::Absent(absent),
        (None, [site]) => {
            let path = sources.path_of(diagnostic.primary.span).as_str();
            let mut parts: Vec<&str> = path.split('/').collect();
            let of_site = parts.iter_mut().find(|part| ***part == **site)?;
            *of_site = "";
            CommonCause::AlikeFiles(&diagnostic.message, parts.join("/"))
        }
        (None, _) => return None,
    };
    Some((diagnostic.rule.name, diagnostic.severity, diagnostic.because_of, shared))
}

/// Finding to list for `group`, which is not empty.
pub(super) fn joined(group: &[usize], diagnostics: &[Diagnostic]) -> Diagnostic {
    let first = &diagnostics[group[0]];
    let [_, others @ ..] = group else { return first.clone() };
    if others.is_empty() {
        return first.clone();
    }
    let all = || group.iter().map(|at| &diagnostics[*at]);
    let mut joined = Diagnostic {
        help: first.help.clone().filter(|_| all().all(|it| it.help == first.help)),
        ..first.clone()
    };
    if let Some(absent) = &first.absent {
        // Sites can have documents of the same name.
        let users: BTreeSet<(FileId, Option<&DocKey>)> =
            all().map(|it| (it.primary.span.file, it.documents.first())).collect();
        joined.message = absent.describe(group.len(), users.len());
        joined.fix = None;
    } else {
        joined.count = Diagnostic::total(all());
    }
    for other in others.iter().map(|at| &diagnostics[*at]) {
        let mut other = other.clone();
        if first.absent.is_none() {
            other.related.clear();
        }
        if other.primary != joined.primary {
            other.related.insert(0, other.primary.clone());
        }
        fold(&mut joined, other);
    }
    joined
}
