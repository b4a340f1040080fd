//! `secret-outside-secrets-folder`: secret outside of a folder named `secrets`.

use super::{FileFacts, title};
use crate::diagnostic::Diagnostic;

super::rule!(
    "secret-outside-secrets-folder",
    Warning,
    "secret outside of a folder named `secrets`",
    was "P009";
    File(check)
);

fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    let path = facts.sources.get(facts.file).path();
    let folders = path
        .as_str()
        .rsplit_once('/')
        .map_or("", |(folders, _)| folders);
    // A set of files has no layout.
    if facts.place.is_none() || folders.split('/').any(|folder| folder == "secrets") {
        return;
    }
    let secrets = facts
        .documents
        .iter()
        .filter(|document| document.secret_kinds.has(&document.key.schema));
    found.extend(secrets.map(|document| {
        let message = format!(
            "the secret `{}` is not in a `secrets` folder",
            title(&document.key)
        );
        RULE.finding(message, document.schema_span, "a secret schema")
            .note("Pegleg encrypts and decrypts only files in folders named `secrets`")
            .help("move it to a file in a folder named `secrets`")
            .document(&document.key)
    }));
}
