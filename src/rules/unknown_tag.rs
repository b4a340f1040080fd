//! `unknown-tag`: unknown YAML tag.

use super::{FileContents, FileFacts};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

super::rule!("unknown-tag", Error[Refused], "unknown YAML tag");

pub(super) fn report(facts: &FileFacts<'_>, at: Span, tag: &str) -> Diagnostic {
    // YAML reads any unquoted string that begins with `!` as a tag, even a secret.
    let tag = if facts.is_secret(at) { "(hidden)" } else { tag };
    let message = format!("unknown YAML tag `{tag}`");
    RULE.finding(message, at, format!("this has the tag `{tag}`"))
        .about(tag)
        .note(match facts.holds {
            FileContents::Documents => {
                "Deckhand refuses the whole site, and Pegleg silently reads null; layercake does \
                 not read this YAML document"
            }
            FileContents::Parts => facts.unread_yaml(),
        })
        .help("remove the tag, or quote the whole value if it is a string")
}
