//! `unwanted-caution`: edit with a caution that must not occur.

use std::collections::BTreeSet;

use super::reach::Undecided;
use super::{Gates, ReachedEdit};
use crate::deployment::{Caution, EffectOfSite};
use crate::diagnostic::{Diagnostic, Severity};
use crate::near;

super::rule!(
    "unwanted-caution",
    Error,
    "edit with a caution that must not occur"
);

/// A caution that is reported as a finding.
#[derive(Clone, Debug)]
pub struct LevelledCaution {
    /// The caution.
    pub caution: Caution,
    /// Severity of the finding.
    pub severity: Severity,
    /// Where it was set, unless for this run only.
    pub(crate) set: Option<String>,
}

impl From<Caution> for LevelledCaution {
    fn from(caution: Caution) -> Self {
        Self {
            caution,
            severity: Severity::Error,
            set: None,
        }
    }
}

pub(super) fn check(reached: &ReachedEdit<'_>, gates: &Gates) -> Vec<Diagnostic> {
    let levelled = gates.cautions.iter();
    levelled.filter_map(|it| check_one(reached, it)).collect()
}

fn check_one(reached: &ReachedEdit<'_>, levelled: &LevelledCaution) -> Option<Diagnostic> {
    let caution = levelled.caution;
    let found = report(reached, caution).or_else(|| report_undecided(reached, caution))?;
    let finding = Diagnostic {
        severity: levelled.severity,
        ..found
    };
    Some(match &levelled.set {
        Some(set) => finding.note(format!("the level is {set}")),
        None => finding,
    })
}

fn report(reached: &ReachedEdit<'_>, caution: Caution) -> Option<Diagnostic> {
    let effects = reached.effects().iter();
    let with_caution: Vec<&EffectOfSite<'_>> = effects
        .filter(|it| it.effect.cautions.contains(&caution))
        .collect();
    let first = with_caution.first()?;
    let outputs = with_caution.iter().map(|it| &*it.effect.output.name);
    let message = format!(
        "this edit of `{}` has the caution `{}` for {}",
        reached.reach.edit.document.name,
        caution.as_str(),
        near::list(outputs.collect::<BTreeSet<&str>>())
    );
    Some(
        reached
            .finding(&RULE, message, &first.row.text, &with_caution)
            .help("prepare the sites, then allow the caution for this run"),
    )
}

/// The finding of an edit for which it is not known whether it has the caution.
fn report_undecided(reached: &ReachedEdit<'_>, caution: Caution) -> Option<Diagnostic> {
    let matters = |reason: &Undecided| match reason {
        Undecided::Reach | Undecided::Content | Undecided::Comparison(_) => true,
        Undecided::Deployment(_) => caution.is_of_releases(),
        // Cautions are those of the table.
        Undecided::Consequence(_) => false,
    };
    let reason = reached.undecided().into_iter().find(matters)?;
    let message = format!(
        "it is not known whether this edit of `{}` has the caution `{}`",
        reached.reach.edit.document.name,
        caution.as_str()
    );
    Some(reached.finding(&RULE, message, reason, &[]))
}
