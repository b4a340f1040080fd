//! `layercake explain [RULE]`: a rule's page, or the list of all rules.

use crate::diagnostic::Rule;
use crate::error::{Error, ErrorKind};
use crate::near::nearest;
use crate::rules::{self, GROUPS, RULES};

/// Rules with this name: a single rule, or those of a Pegleg code or of a group.
///
/// # Errors
/// If there are none; the help suggests a similar name.
pub fn rules_of(name: &str) -> Result<Vec<&'static Rule>, Error> {
    match rules::find(name) {
        Some(rule) => Ok(vec![rule]),
        None => rules::selected(name).ok_or_else(|| unknown(name)),
    }
}

fn unknown(name: &str) -> Error {
    let groups = GROUPS.iter().map(|(group, _)| *group);
    let near = nearest(name, RULES.iter().map(|rule| rule.name).chain(groups));
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "run `layercake explain` to list all rules".into(),
    };
    Error::new(ErrorKind::Usage, format!("unknown rule `{name}`")).with_help(help)
}
