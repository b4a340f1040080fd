//! `layercake explain [RULE]`: a rule's page, or the list of all rules.

use crate::diagnostic::Rule;
use crate::error::{Error, ErrorKind};
use crate::near::nearest;
use crate::rules::{self, GROUPS, RULES};

/// The rules that a name stands for: one, of which the page is asked for, or those of one of
/// Pegleg's codes or of a group.
///
/// # Errors
/// Where there is none; the help says which name is nearly the same.
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
        None => "`layercake explain` lists all rules".into(),
    };
    Error::new(ErrorKind::Usage, format!("there is no rule `{name}`")).with_help(help)
}
