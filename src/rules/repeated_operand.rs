//! `repeated-operand`: duplicate operand in a property group.

use super::invalid_property_group::{DefinitionPlace, short, title};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::system::heat::GroupProblem;

super::rule!(
    "repeated-operand",
    Warning,
    "duplicate operand in a property group"
);

pub(super) fn report(
    home: DefinitionPlace<'_>,
    problem: &GroupProblem,
    operand: &str,
    first: Span,
) -> Diagnostic {
    let operand = short(operand);
    let message = format!(
        "{} has the duplicate operand `{operand}`",
        title(home, problem)
    );
    RULE.finding(message, problem.span, "listed again here")
        .related(first, "first listed here")
        .note("an `xor` with a duplicate property fails whenever the property is present")
        .help("remove one of them, or replace it with the intended property")
}
