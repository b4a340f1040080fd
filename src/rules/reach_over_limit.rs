//! `reach-over-limit`: edit that changes more than allowed.

use super::reach::Limit;
use super::{Gates, ReachedEdit};
use crate::diagnostic::Diagnostic;

super::rule!(
    "reach-over-limit",
    Error,
    "edit that changes more sites or outputs than allowed"
);

pub(super) fn check(reached: &ReachedEdit<'_>, gates: &Gates) -> Vec<Diagnostic> {
    let reach = reached.reach;
    let limits = [
        (reach.sites.len(), "sites", &gates.max_sites),
        (reach.outputs, "outputs", &gates.max_outputs),
    ];
    limits
        .into_iter()
        .filter_map(|(count, what, limit)| report(reached, (count, what), limit.as_ref()?))
        .collect()
}

fn report(
    reached: &ReachedEdit<'_>,
    (count, what): (usize, &str),
    limit: &Limit<usize>,
) -> Option<Diagnostic> {
    let reach = reached.reach;
    let most = limit.most;
    if count <= most && !reach.is_undecided() {
        return None;
    }
    let name = &reach.edit.document.name;
    let message = if reach.is_undecided() {
        format!(
            "this edit of `{name}` changes at least {count} {what}, and its reach is not decided; \
             at most {most} allowed"
        )
    } else {
        format!("this edit of `{name}` changes {count} {what}; at most {most} allowed")
    };
    let mut finding = RULE
        .finding(message, reach.edit.at(), reached.label())
        .help("make the change in a layer that fewer sites use, or raise the limit for this run");
    finding.documents = reached.documents();
    finding.sites.clone_from(&reach.sites);
    Some(limit.noted(finding))
}
