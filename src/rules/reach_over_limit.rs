//! `reach-over-limit`: edit that changes more than allowed.

use super::{Gates, ReachedEdit};
use crate::diagnostic::{Diagnostic, Label};

super::rule!(
    "reach-over-limit",
    Error,
    "edit that changes more sites or outputs than allowed"
);

pub(super) fn check(reached: &ReachedEdit<'_>, gates: &Gates) -> Vec<Diagnostic> {
    let sites = reached.reach.sites.len();
    let outputs = reached.reach.outputs;
    let limits = [
        ReachLimit {
            count: sites,
            most: gates.max_sites,
            what: "sites",
            set: gates.sites_set.as_deref(),
        },
        ReachLimit {
            count: outputs,
            most: gates.max_outputs,
            what: "outputs",
            set: gates.outputs_set.as_deref(),
        },
    ];
    limits
        .iter()
        .filter_map(|limit| report(reached, limit))
        .collect()
}

struct ReachLimit<'a> {
    count: usize,
    most: Option<usize>,
    what: &'a str,
    /// Where it was set.
    set: Option<&'a str>,
}

fn report(reached: &ReachedEdit<'_>, limit: &ReachLimit<'_>) -> Option<Diagnostic> {
    let ReachLimit { count, what, .. } = limit;
    let reach = reached.reach;
    let most = limit
        .most
        .filter(|most| count > most || reach.is_undecided())?;
    let name = &reach.edit.document.name;
    let message = if reach.is_undecided() {
        format!(
            "this edit of `{name}` changes at least {count} {what}, and its reach is not decided; \
             at most {most} allowed"
        )
    } else {
        format!("this edit of `{name}` changes {count} {what}; at most {most} allowed")
    };
    let label = Label::new(reach.edit.at(), reached.label());
    let mut finding = Diagnostic::new(&RULE, message, label)
        .help("make the change in a layer that fewer sites use, or raise the limit for this run");
    finding.documents = reached.documents();
    finding.sites.clone_from(&reach.sites);
    Some(match limit.set {
        Some(set) => finding.note(format!("the limit is {set}")),
        None => finding,
    })
}
