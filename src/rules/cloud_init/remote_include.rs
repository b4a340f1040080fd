//! `remote-include`: a part that is fetched from elsewhere.

use super::UserDataFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::super::rule!("remote-include", Note, "a part that is fetched from elsewhere");

pub(super) fn word(facts: &UserDataFacts<'_>, at: Span) -> Diagnostic {
    let label = Label::new(facts.first_line(at), "not in the repository");
    Diagnostic::new(&RULE, "an included text is fetched at boot, and is not known here", label)
        .note(
            "what it holds is missing from what layercake merges; if it cannot be fetched, \
             cloud-init gives up all user-data",
        )
        .help("keep the text in the repository, if what is merged is to be known before")
}
