//! Differences between the two semantics must be reported by a rule, for the document or one that
//! it depends on, in both semantics. Each row of the table in `semantics.md` has a rule.

use std::collections::{BTreeMap, BTreeSet};

use super::engine::{DocumentSeen, Finding, Seen, SiteSeen};
use super::plain::{Name, Output};

/// Rows in which the semantics give different results, and their rules.
pub const DIFFERENT: &[(&str, &str)] = &[
    ("D01 merge at an index", "different-index-merge"),
    ("D03 delete", "different-delete"),
    ("D10 `$` and `.data` of an action", "different-path"),
    ("D13 a pattern with `recurse`", "different-recursion"),
    (
        "D16 a pattern, and the path is missing",
        "missing-pattern-target",
    ),
    ("D23 control documents as parents", "control-parent"),
    (
        "12.4 backslashes through a pattern",
        "backslash-in-pattern-value",
    ),
    (
        "12.4 a non-string through a pattern",
        "different-pattern-text",
    ),
    ("10.5 a list written at an index", "different-list-write"),
];

/// Rows in which both semantics give the same result, which differs from Deckhand's own, and their
/// rules.
pub const SAME: &[(&str, &str)] = &[
    ("D02, D11 delete of a missing path", "missing-action-path"),
    ("D04, D05, D06 refused matches", "refused-parent-match"),
    ("several matches in the nearest layer", "ambiguous-parent"),
    ("D07 no parent", "missing-parent"),
    ("D14 `recurse` without `depth`", "invalid-substitution"),
    ("D15 a pattern that matches nothing", "unmatched-pattern"),
    (
        "D17 a path into data that is not a mapping",
        "ignored-source-path",
    ),
    ("D19 replacement of a replacement", "nested-replacement"),
    ("D20 two outputs of one name", "duplicate-output"),
    ("D21 abstract replacement", "abstract-replacement"),
    ("D26 a second layering policy", "duplicate-layering-policy"),
    ("D29 no data", "missing-data"),
    ("D29 unknown keys", "unknown-document-key"),
    ("D32 a schema that can never apply", "unusable-schema-name"),
    ("12.1 no source", "missing-source"),
    ("14 a shared value", "leaking-substitution"),
    ("14.4 an alias", "leaking-alias"),
];

/// Differences between the two semantics for the same files.
#[derive(Debug, Default)]
pub struct Apart {
    /// Number of differing outputs, by the rule that reports it.
    pub explained: BTreeMap<&'static str, usize>,
    /// Differing outputs that no rule reports.
    pub unexplained: Vec<String>,
}

/// Compares the results of the two semantics for the same files.
pub fn apart(documented: &Seen, deckhand: &Seen) -> Apart {
    let mut apart = Apart::default();
    let names: BTreeSet<&Name> = documented
        .outputs
        .keys()
        .chain(deckhand.outputs.keys())
        .collect();
    for name in names {
        let [one, other] = [documented, deckhand].map(|seen| outputs(seen, name));
        if values(one) == values(other) {
            continue;
        }
        let documents: BTreeSet<usize> = one
            .iter()
            .chain(other)
            .map(|output| output.document)
            .collect();
        let [by_one, by_other] =
            [documented, deckhand].map(|seen| rules_about(seen, &name[0], &documents));
        if by_one.is_empty() || by_other.is_empty() {
            apart.unexplained.push(format!(
                "{} differs: {by_one:?} under `documented`, {by_other:?} under `deckhand`\n  \
                 documented: {}\n  deckhand:   {}",
                name.join(" "),
                shown(one),
                shown(other),
            ));
        }
        for rule in by_one.union(&by_other) {
            *apart.explained.entry(rule).or_default() += 1;
        }
    }
    apart
}

fn outputs<'a>(seen: &'a Seen, name: &Name) -> &'a [Output] {
    seen.outputs
        .get(name)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

fn values(outputs: &[Output]) -> Vec<(&str, Option<&str>)> {
    outputs
        .iter()
        .map(|output| (&*output.layer, output.data.as_deref()))
        .collect()
}

fn shown(outputs: &[Output]) -> String {
    let text = format!("{:?}", values(outputs));
    text.chars().take(600).collect()
}

/// Rules of rows with findings about these documents of a site, or about documents that they depend
/// on.
fn rules_about(seen: &Seen, site: &str, documents: &BTreeSet<usize>) -> BTreeSet<&'static str> {
    let Some(site) = seen.sites.iter().find(|it| it.name == site) else {
        return BTreeSet::new();
    };
    let dependencies = dependencies(site, documents);
    let is_about = |finding: &&Finding| {
        let in_site = finding.site.as_ref().is_none_or(|name| *name == site.name);
        let is_row = DIFFERENT.iter().any(|(_, rule)| *rule == finding.rule);
        in_site && is_row && dependencies.iter().any(|document| holds(document, finding))
    };
    let findings = seen.findings.iter().chain(&seen.suppressed);
    findings
        .filter(is_about)
        .map(|finding| finding.rule)
        .collect()
}

fn holds(document: &DocumentSeen, finding: &Finding) -> bool {
    document.path == finding.path
        && document.range.start <= finding.start
        && finding.end <= document.range.end
}

fn dependencies<'a>(site: &'a SiteSeen, documents: &BTreeSet<usize>) -> Vec<&'a DocumentSeen> {
    let mut visited = BTreeSet::new();
    let mut open: Vec<usize> = documents.iter().copied().collect();
    while let Some(at) = open.pop() {
        if visited.insert(at) {
            open.extend(
                site.documents
                    .get(at)
                    .into_iter()
                    .flat_map(|it| it.needs.iter().copied()),
            );
        }
    }
    visited
        .into_iter()
        .filter_map(|at| site.documents.get(at))
        .collect()
}
