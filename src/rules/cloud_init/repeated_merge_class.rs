//! `repeated-merge-class`: duplicate merge class.

use super::SetFacts;
use crate::diagnostic::Diagnostic;

super::super::rule!(
    "repeated-merge-class",
    Warning,
    "duplicate merge class; the second is ignored";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    for specified in facts.specified() {
        for (dead, first) in specified.specification.dead() {
            let class = first.class.as_str();
            let message = format!("duplicate merge class `{class}`");
            let finding = RULE.finding(message, dead.at, "ignored")
            .related(first.at, "this one is used")
            .note(
                "only the first of each class is used, with its own options; the specification in \
                     a part comes before its header",
            )
            .help("list the class once, with all its options")
            .about(class);
            found.push(finding);
        }
    }
}
