//! `ambiguous-property-name`: a word in a property group that names a property
//! and a group.

use super::invalid_property_group::{DefinitionPlace, short, title};
use crate::diagnostic::{Diagnostic, Label};
use crate::system::heat::GroupProblem;

super::rule!(
    "ambiguous-property-name",
    Warning,
    "a word in a property group that names a property and a group"
);

pub(super) fn word(home: DefinitionPlace<'_>, problem: &GroupProblem, name: &str) -> Diagnostic {
    let name = short(name);
    let message =
        format!("{} names `{name}`, which is a property and a group", title(home, problem));
    Diagnostic::new(&RULE, message, Label::new(problem.span, "the property is taken")).help(
        format!("write `property_groups.{name}` for the group, or `[{name}]` for the property"),
    )
}
