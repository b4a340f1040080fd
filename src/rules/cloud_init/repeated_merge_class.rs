//! `repeated-merge-class`: a merge class that is asked for twice.

use super::SetFacts;
use crate::diagnostic::{Diagnostic, Label};

super::super::rule!(
    "repeated-merge-class",
    Warning,
    "a merge class is asked for twice; the second counts for nothing";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    for specified in facts.specified() {
        for (dead, first) in specified.specification.dead() {
            let class = first.class.as_str();
            let message = format!("the merge class `{class}` is asked for twice");
            let finding = Diagnostic::new(
                &RULE,
                message,
                Label::new(dead.at, "counts for nothing"),
            )
            .related(first.at, "this one counts")
            .note(
                "of each class the first counts, with its options alone; what a part says in \
                     itself comes before its header",
            )
            .help("name the class once, with all its options")
            .about(class);
            found.push(finding);
        }
    }
}
