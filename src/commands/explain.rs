//! `layercake explain [RULE]`: a rule's page, the list of all rules, or a class of consequences.

use super::policy::unknown;
use crate::diagnostic::Rule;
use crate::error::Error;
use crate::near::help_for_unknown;
use crate::report::consequences::ConsequenceWord;
use crate::rules;

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

/// Class or caution of the table of consequences with this name.
///
/// # Errors
/// If there is none; the help suggests a similar name.
pub fn consequence_of(name: &str) -> Result<ConsequenceWord, Error> {
    let known = || ConsequenceWord::all().find(|word| word.as_str() == name);
    known().ok_or_else(|| {
        let names: Vec<&str> = ConsequenceWord::all()
            .map(ConsequenceWord::as_str)
            .collect();
        let message = format!("no class or caution of consequences is called `{name}`");
        let error = Error::usage(message);
        match help_for_unknown(name, "classes and cautions", &names) {
            Some(help) => error.with_help(help),
            None => error,
        }
    })
}

/// Refuses a second argument that follows a rule.
///
/// # Errors
/// If there is one.
pub fn refuse_class(class: Option<&str>) -> Result<(), Error> {
    let Some(class) = class else { return Ok(()) };
    let message = format!("unexpected argument `{class}`");
    let help = "only `explain consequence` takes a class or a caution";
    Err(Error::usage(message).with_help(help))
}
