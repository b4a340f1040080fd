//! `unknown-tag`: a YAML tag that Deckhand cannot read.

use super::{FileContents, FileFacts};
use crate::diagnostic::{Diagnostic, Label};
use crate::source::Span;

super::rule!("unknown-tag", Error[Refused], "a YAML tag that Deckhand cannot read");

pub(super) fn word(facts: &FileFacts<'_>, at: Span, tag: &str) -> Diagnostic {
    // A text that begins with `!` is a tag to YAML, a secret one too.
    let tag = if facts.is_secret(at) { "(hidden)" } else { tag };
    let message = format!("unknown YAML tag `{tag}`");
    Diagnostic::new(&RULE, message, Label::new(at, format!("this has the tag `{tag}`")))
        .about(tag)
        .note(match facts.holds {
            FileContents::Documents => {
                "Deckhand refuses the whole site, and Pegleg puts null here in silence; \
                 nothing of this YAML document is read here"
            }
            FileContents::Parts => facts.unread_yaml(),
        })
        .help("remove the tag, or put the whole value in quotes if it is meant as text")
}
