//! `secret-not-encrypted`: document of a secret kind whose storage policy is not `encrypted`.

use super::{FileFacts, title};
use crate::diagnostic::{Diagnostic, Label, TextEdit};
use crate::system::deckhand::document::Document;
use crate::yaml::Node;

super::rule!(
    "secret-not-encrypted",
    Warning [Strict, Fixable],
    "secret whose storage policy is not `encrypted`",
    was "P001", "P009";
    File(check)
);

fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    // A document that Pegleg wrapped and encrypted counts as encrypted, regardless of its inner document
    // says.
    let secrets = facts.documents.iter().filter(|document| {
        document.secret_kinds.has(&document.key.schema)
            && !document.encrypted
            && !document.wrapped_encrypted
    });
    found.extend(secrets.map(|document| report(facts, document)));
}

fn report(facts: &FileFacts<'_>, document: &Document) -> Diagnostic {
    let title = title(&document.key);
    let message = format!("the secret `{title}` is not stored encrypted");
    let metadata = document.metadata();
    let policy = metadata.get("storagePolicy");
    let label = match policy {
        Some(policy) => Label::new(policy.span, "not `encrypted`"),
        None => Label::new(document.name_span, "without a storage policy"),
    };
    let diagnostic = Diagnostic::new(&RULE, message, label)
        .note("Deckhand stores it unencrypted and shows it to all who may read documents")
        .help("write `storagePolicy: encrypted`")
        .document(&document.key);
    match policy.filter(|policy| is_written_cleartext(facts, policy)) {
        Some(policy) => {
            let edit = TextEdit {
                span: policy.span,
                text: "encrypted".to_owned(),
            };
            diagnostic.fix("set the storage policy to `encrypted`", vec![edit])
        }
        None => diagnostic,
    }
}

/// Whether the policy is written as `cleartext`, for this document only.
fn is_written_cleartext(facts: &FileFacts<'_>, policy: &Node) -> bool {
    let text = facts.sources.slice(policy.span);
    let before = &facts.sources.get(policy.span.file).text()[..policy.span.start as usize];
    let line = before.rsplit('\n').next().unwrap_or_default();
    text.trim_matches(['"', '\'']) == "cleartext" && !line.contains(['&', '*'])
}
