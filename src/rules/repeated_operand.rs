//! `repeated-operand`: an operand that is listed twice in a property group.

use super::invalid_property_group::{DefinitionPlace, short, title};
use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;
use crate::system::heat::GroupProblem;

super::rule!("repeated-operand", Warning, "an operand that stands twice in a property group");

pub(super) fn word(
    home: DefinitionPlace<'_>,
    problem: &GroupProblem,
    operand: &str,
    first: Span,
) -> Diagnostic {
    let operand = short(operand);
    let message = format!("{} has the operand `{operand}` twice", title(home, problem));
    Diagnostic::new(&RULE, message, Label::new(problem.span, "the operand again"))
        .related(first, "it stands here first")
        .note("an `xor` that has a property twice can never hold for it")
        .help("remove one of them, or write the property that was meant")
}
