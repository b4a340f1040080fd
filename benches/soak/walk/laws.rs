//! Consistency checks: a comparison must agree with the results of each side alone.

use std::collections::{BTreeMap, BTreeSet};

use layercake::compare::Status;
use layercake::edit::EditKind;

use super::edits::Edit;
use super::engine::{BothSeen, Finding, Seen, unfolded};
use super::plain::{Change, Name, Outputs, changes};

/// Describes the inconsistencies of a comparison.
pub fn broken(base: &Seen, head: &Seen, both: &BothSeen) -> Vec<String> {
    let mut wrong = Vec::new();
    if base.has_failed || head.has_failed || both.compared.checked.internal_error {
        wrong.push("layercake itself failed".to_owned());
    }
    wrong.extend(differing_outputs("base", &base.outputs, &both.base));
    wrong.extend(differing_outputs("head", &head.outputs, &both.head));
    let found = changes(&base.outputs, &head.outputs);
    wrong.extend(changed_outputs(&found, &reported(both), both));
    wrong.extend(unexplained(both));
    wrong.extend(findings(base, head, both));
    wrong.extend(counts(base, head, both));
    wrong
}

/// Describes the changes reported for an edit that only changes the text.
pub fn text_only_violations(edit: &Edit, both: &BothSeen) -> Vec<String> {
    let comparison = &both.compared.comparison;
    let mut wrong = Vec::new();
    if !comparison.edits.is_empty() || !comparison.outputs.is_empty() {
        let (edits, outputs) = (comparison.edits.len(), comparison.outputs.len());
        wrong.push(format!(
            "a text-only edit was reported as {edits} edits, {outputs} outputs"
        ));
    }
    let findings = &both.compared.findings;
    if edit.is_comment() {
        // A separate rule reports text before the first `---`.
        let is_relevant =
            |it: &&layercake::diagnostic::Diagnostic| it.rule.name != "missing-document-start";
        let of = [&findings.new, &findings.fixed]
            .map(|it| it.diagnostics.iter().filter(is_relevant).count());
        if of != [0, 0] {
            wrong.push(format!("a comment edit added and fixed findings: {of:?}"));
        }
    }
    wrong
}

fn differing_outputs(side: &str, alone: &Outputs, compared: &Outputs) -> Vec<String> {
    let names: BTreeSet<&Name> = alone.keys().chain(compared.keys()).collect();
    let differ = names
        .into_iter()
        .filter(|name| alone.get(*name) != compared.get(*name));
    differ
        .map(|name| {
            let name_text = name.join(" ");
            let [one, other] = [alone, compared].map(|it| format!("{:?}", it.get(name)));
            let at = one
                .bytes()
                .zip(other.bytes())
                .take_while(|(one, other)| one == other)
                .count();
            let [one, other] = [one, other].map(|it| {
                it.bytes()
                    .skip(at.saturating_sub(80))
                    .take(300)
                    .map(char::from)
                    .collect::<String>()
            });
            format!("{side} {name_text}:\n  alone:    {one}\n  compared: {other}")
        })
        .collect()
}

/// Compares changed outputs. If a file is truncated on one side, all outputs of its sites are
/// reported: as not comparable, unless another edit is known to change them.
fn changed_outputs(found: &[Change], reported: &[Change], both: &BothSeen) -> Vec<String> {
    let is_unknown = |(.., status): &&Change| *status == Status::NotComparable.as_str();
    let unread: BTreeSet<&str> = reported
        .iter()
        .filter(is_unknown)
        .map(|(name, ..)| &*name[0])
        .collect();
    let mut edits = both.compared.comparison.edits.iter();
    let mut wrong = Vec::new();
    if !unread.is_empty() && edits.all(|reach| reach.edit.kind != EditKind::File) {
        wrong.push(format!(
            "outputs of {unread:?} are not comparable although all files were read"
        ));
    }
    let of = |changes: &[Change], is_unread: bool| -> Vec<Change> {
        let wanted = changes
            .iter()
            .filter(|(name, ..)| unread.contains(&*name[0]) == is_unread);
        wanted.cloned().collect()
    };
    wrong.extend(differing(
        "changed outputs",
        &of(found, false),
        &of(reported, false),
    ));
    let names: BTreeSet<Name> = of(reported, true)
        .into_iter()
        .map(|(name, ..)| name)
        .collect();
    let all = both.base.keys().chain(both.head.keys());
    let left_out = all.filter(|name| unread.contains(&*name[0]) && !names.contains(*name));
    wrong.extend(left_out.map(|name| format!("not reported as not comparable: {name:?}")));
    wrong
}

fn reported(both: &BothSeen) -> Vec<Change> {
    let changes = both.compared.comparison.outputs.iter().map(|change| {
        let site = change.site.as_deref().unwrap_or_default().to_owned();
        let name = [
            site,
            change.key.schema.to_string(),
            change.key.name.to_string(),
        ];
        (
            name,
            change.key.layer.to_string(),
            Status::as_str(change.status),
        )
    });
    let mut changes: Vec<Change> = changes.collect();
    changes.sort();
    changes
}

fn unexplained(both: &BothSeen) -> Vec<String> {
    let outputs = both.compared.comparison.outputs.iter();
    let unexplained = outputs.filter(|change| change.is_unexplained());
    unexplained
        .map(|change| {
            let site = change.site.as_deref().unwrap_or_default();
            let (of, status) = (change.data.len(), change.status.as_str());
            let metadata = change.metadata.len();
            let count = change.unexplained;
            format!(
                "unexplained in {site} {}: {status}, {count} of {of} and {metadata}",
                change.key
            )
        })
        .collect()
}

/// Describes elements that are in only one of two lists.
fn differing<T: Ord + std::fmt::Debug>(what: &str, found: &[T], reported: &[T]) -> Vec<String> {
    let mut counts: BTreeMap<&T, i64> = BTreeMap::new();
    for it in found {
        *counts.entry(it).or_default() += 1;
    }
    for it in reported {
        *counts.entry(it).or_default() -= 1;
    }
    let unequal = counts.into_iter().filter(|(_, count)| *count != 0);
    unequal
        .map(|(it, count)| {
            let who = if count > 0 {
                "found, not reported"
            } else {
                "reported, not found"
            };
            format!("{what}: {who}: {it:?}")
        })
        .collect()
}

/// New and unchanged findings must be those of the head; the others must be those of the base.
fn findings(base: &Seen, head: &Seen, both: &BothSeen) -> Vec<String> {
    let (findings, sources) = (&both.compared.findings, &both.compared.checked.sources);
    let of = |of: &[layercake::diagnostic::Diagnostic]| unfolded(of, sources);
    let (new, unchanged) = (
        of(&findings.new.diagnostics),
        of(&findings.unchanged.diagnostics),
    );
    let fixed = of(&findings.fixed.diagnostics);
    let all: Vec<&Finding> = new.union(&unchanged).collect();
    let found: Vec<&Finding> = head.findings.iter().collect();
    let mut wrong = differing("findings", &found, &all);
    let suppressed: Vec<Finding> = of(&findings.suppressed).into_iter().collect();
    let found: Vec<Finding> = head.suppressed.iter().cloned().collect();
    wrong.extend(differing("suppressed findings", &found, &suppressed));
    wrong.extend(balance([base, head], [&new, &fixed]));
    wrong
}

/// Key of findings in a site with the same message, regardless of the document, since reports
/// combine the documents of all sites.
type Alike<'a> = (Option<&'a str>, &'static str, &'a str);

fn alike(findings: &BTreeSet<Finding>) -> BTreeMap<Alike<'_>, i64> {
    let mut counts = BTreeMap::new();
    for it in findings {
        *counts
            .entry((it.site.as_deref(), it.rule, &*it.message))
            .or_default() += 1;
    }
    counts
}

/// The difference between the findings of head and base must equal new minus fixed findings.
/// Excluded are suppressed findings, which are not fixed, and findings about several documents,
/// where a document can be new although the message is not. For an added or removed site, other
/// sites may report findings of the same files.
fn balance([base, head]: [&Seen; 2], [new, fixed]: [&BTreeSet<Finding>; 2]) -> Vec<String> {
    let of = [&base.findings, &head.findings, new, fixed].map(alike);
    let hidden = alike(&head.suppressed);
    let counts_alone = |it: &&Alike<'_>| {
        let (_, rule, message) = **it;
        let key = (rule, message.to_owned());
        let is_of_several = base.of_several.contains(&key) || head.of_several.contains(&key);
        !is_of_several && !hidden.contains_key(*it)
    };
    let is_on_both = |site: Option<&str>| {
        let is_there = |found: &Seen| found.sites.iter().any(|it| Some(&*it.name) == site);
        is_there(base) == is_there(head)
    };
    let all: BTreeSet<&Alike<'_>> = of.iter().flat_map(BTreeMap::keys).collect();
    let wrong = all.into_iter().filter(counts_alone).filter_map(|it| {
        let [base, head, new, fixed] = of.each_ref().map(|counts| counts.get(it).unwrap_or(&0));
        let is_even = head - base == new - fixed || !is_on_both(it.0);
        let is_balanced = is_even && *new <= *head && *fixed <= *base;
        let counts = format!("{base} before, {head} after, {new} new, {fixed} fixed");
        (!is_balanced).then(|| format!("findings {it:?}: {counts}"))
    });
    wrong.collect()
}

/// Every site must have the reported number of outputs on each side.
fn counts(base: &Seen, head: &Seen, both: &BothSeen) -> Vec<String> {
    let count = |found: &Seen, site: &str| -> usize {
        let of_site = found.outputs.iter().filter(|(name, _)| name[0] == site);
        of_site.map(|(_, outputs)| outputs.len()).sum()
    };
    let is_there = |found: &Seen, site: &str| found.sites.iter().any(|it| it.name == site);
    let sites = both.compared.comparison.sites.iter();
    sites
        .filter_map(|reach| {
            let site = reach.site.as_deref().unwrap_or_default();
            let of = |found: &Seen| is_there(found, site).then(|| count(found, site));
            let (found, reported) = ([of(base), of(head)], [reach.base, reach.head]);
            (found != reported)
                .then(|| format!("outputs of {site}: {found:?} found, {reported:?} reported"))
        })
        .collect()
}
