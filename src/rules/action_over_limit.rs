//! `action-over-limit`: edit that asks for a larger action than allowed.

use std::collections::BTreeSet;

use super::reach::Undecided;
use super::{Gates, ReachedEdit};
use crate::deployment::{Action, EffectOfSite};
use crate::diagnostic::Diagnostic;
use crate::near;

super::rule!(
    "action-over-limit",
    Error,
    "edit that asks for a larger action of Shipyard than allowed"
);

pub(super) fn check(reached: &ReachedEdit<'_>, gates: &Gates) -> Option<Diagnostic> {
    let limit = gates.max_action.as_ref()?;
    let most = limit.most;
    if Action::ALL.last() == Some(&most) {
        return None;
    }
    let effects = reached.effects().iter();
    let largest = effects.flat_map(|it| it.effect.actions()).max();
    let found = match largest.filter(|action| *action > most) {
        Some(largest) => report(reached, most, largest),
        None => report_undecided(reached, most)?,
    };
    Some(limit.noted(found))
}

fn report(reached: &ReachedEdit<'_>, most: Action, largest: Action) -> Diagnostic {
    let effects = reached.effects().iter();
    let asked: Vec<&EffectOfSite<'_>> = effects
        .filter(|it| it.effect.actions().any(|action| action == largest))
        .collect();
    let nodes: BTreeSet<&str> = asked
        .iter()
        .filter(|_| largest.names_nodes())
        .flat_map(|it| it.effect.nodes.iter().map(|node| &**node))
        .collect();
    let for_nodes = if nodes.is_empty() {
        String::new()
    } else {
        format!(" for {}", near::list(nodes))
    };
    let message = format!(
        "this edit of `{}` asks for `{}`{for_nodes}; at most `{}` allowed",
        reached.reach.edit.document.name,
        largest.as_str(),
        most.as_str()
    );
    reached
        .finding(&RULE, message, &asked[0].row.text, &asked)
        .help("leave the change to a maintenance window, or raise the limit for this run")
}

/// The finding of an edit that asks for an unknown action.
fn report_undecided(reached: &ReachedEdit<'_>, most: Action) -> Option<Diagnostic> {
    let reasons = reached.undecided();
    let (first, others) = reasons.split_first()?;
    let message = format!(
        "it is not known which action this edit of `{}` asks for; at most `{}` allowed",
        reached.reach.edit.document.name,
        most.as_str()
    );
    let finding = reached.finding(&RULE, message, first, &[]);
    let add = |finding: Diagnostic, reason: &Undecided| finding.note(reason.to_string());
    Some(others.iter().fold(finding, add))
}
