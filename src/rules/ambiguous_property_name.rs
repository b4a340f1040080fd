//! `ambiguous-property-name`: a name in a property group refers to both a property and a group.

use super::invalid_property_group::{DefinitionPlace, short, title};
use crate::diagnostic::Diagnostic;
use crate::system::heat::GroupProblem;

super::rule!(
    "ambiguous-property-name",
    Warning,
    "name in a property group that refers to both a property and a group"
);

pub(super) fn report(home: DefinitionPlace<'_>, problem: &GroupProblem, name: &str) -> Diagnostic {
    let name = short(name);
    let message = format!(
        "{} refers to `{name}`, which is both a property and a group",
        title(home, problem)
    );
    RULE.finding(message, problem.span, "the property is used")
        .help(format!(
            "write `property_groups.{name}` for the group, or `[{name}]` for the property"
        ))
}
