//! `exposed-secret`: a document that was secret in the base and is not secret in the head.

use super::title;
use crate::diagnostic::Diagnostic;
use crate::system::deckhand::secrecy::exposed::{Exposed, Exposure};

super::rule!("exposed-secret", Error, "change that exposes a secret");

/// Finding for an exposed document, without its sites.
pub(crate) fn report_exposed(exposed: &Exposed<'_>) -> Diagnostic {
    let title = title(&exposed.head.key);
    let (message, label, note) = match exposed.how {
        Exposure::Decrypted => (
            format!("the secret `{title}` lost its encryption by Pegleg"),
            "its data is in cleartext",
            "all who can read the repository can read the secret",
        ),
        Exposure::Policy => (
            format!("the secret `{title}` was stored encrypted, and now is not"),
            "this was `encrypted`",
            "Deckhand stores it unencrypted and shows it to all who may read documents",
        ),
        Exposure::Schema => (
            format!("the secret `{title}` no longer has the schema of a secret"),
            "documents of this schema are public",
            "Deckhand stores it unencrypted and shows it to all who may read documents",
        ),
        Exposure::Folder => (
            format!("the secret `{title}` left its folder `secrets`"),
            "this file is in another folder",
            "Pegleg encrypts and decrypts only files below `secrets`",
        ),
    };
    RULE.finding(message, exposed.at, label)
        .note(note)
        .help("undo this change, or replace the secret everywhere it is used")
        .document(&exposed.head.key)
}
