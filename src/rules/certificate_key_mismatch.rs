//! `certificate-key-mismatch`: a certificate and its private key do not belong together.

use super::{SiteFacts, leftover_placeholder};
use crate::diagnostic::{Diagnostic, Label};

super::rule!(
    "certificate-key-mismatch", Error, "certificate and private key that do not belong together";
    Site(check)
);

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let certificates = facts.certificates();
    for pair in certificates.mismatches() {
        let name = certificates.name(facts, pair.certificate, "certificate");
        let key = facts.document(certificates.owner(facts, pair.key));
        let finding = match &pair.beside {
            None => {
                let message = format!("{name} does not belong to the private key of this name");
                certificates.report(facts, &RULE, pair.certificate, (message, "certificate"))
            }
            Some((doc, place)) => {
                let shown = facts
                    .rendered
                    .data(*doc)
                    .and_then(|data| facts.shown_place(data, place));
                let shown = shown
                    .map(|place| format!(" in `{place}`"))
                    .unwrap_or_default();
                let of = facts.name(*doc);
                let message = format!("the private key{shown} of `{of}` does not belong to {name}");
                let written = leftover_placeholder::brought(facts, *doc, place);
                let written = written.unwrap_or(facts.document(*doc).name_span);
                let line = certificates.line(facts, pair.certificate);
                Diagnostic::new(&RULE, message, Label::new(written, "the private key"))
                    .related(line, "the certificate beside it")
                    .about(shown)
                    .document(facts.document(*doc).key.clone())
            }
        };
        let finding = finding
            .related(key.name_span, "the document with the private key")
            .note("the public key of the certificate is not that of the private key");
        found.push(
            finding.help("write the certificate and the private key that were made together"),
        );
    }
}
