//! `reach-over-limit`: an edit that changes more than it may.

use super::{Gates, Reached};
use crate::diagnostic::{Diagnostic, Label};

super::rule!("reach-over-limit", Error, "an edit that changes more sites or outputs than it may");

pub(super) fn check(reached: &Reached<'_>, gates: &Gates) -> Vec<Diagnostic> {
    let (sites, outputs) = (reached.reach.sites.len(), reached.reach.outputs.len());
    let over = [(sites, gates.max_sites, "sites"), (outputs, gates.max_outputs, "outputs")];
    over.into_iter()
        .filter_map(|(count, most, what)| Some((count, most.filter(|most| count > *most)?, what)))
        .map(|(count, most, what)| word(reached, count, most, what))
        .collect()
}

fn word(reached: &Reached<'_>, count: usize, most: usize, what: &str) -> Diagnostic {
    let reach = reached.reach;
    let message = format!(
        "this edit of `{}` changes {count} {what}, and may {most}",
        reach.edit.document.name
    );
    let label = Label::new(reach.edit.at(), reached.label());
    let mut finding = Diagnostic::new(&RULE, message, label)
        .help("make the change where fewer see it, or raise the limit for this run");
    finding.documents = reached.documents();
    finding.sites.clone_from(&reach.sites);
    finding
}
