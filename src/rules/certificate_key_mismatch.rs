//! `certificate-key-mismatch`: a certificate and its private key do not belong together.

use super::SiteFacts;
use super::certificates::used;
use crate::diagnostic::Diagnostic;

super::rule!(
    "certificate-key-mismatch", Error, "certificate and private key that do not belong together";
    Site(check)
);

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let certificates = facts.certificates();
    for ([certificate, key], beside) in certificates.mismatches() {
        let name = certificates.name(facts, *certificate, "certificate");
        let finding = match beside {
            None => {
                let message = format!("{name} does not belong to the private key of this name");
                certificates.report(facts, &RULE, *certificate, (message, "certificate"))
            }
            Some(of) => {
                let (line, place) = used(facts, of);
                let message = format!("the private key in {place} does not belong to {name}");
                let line_beside = certificates.line(facts, *certificate);
                RULE.finding(message, line, "the private key")
                    .related(line_beside, "the certificate beside it")
                    .about(place)
                    .document(&facts.document(of.0).key)
            }
        };
        let owner = facts.document(certificates.owner(facts, *key));
        found.push(
            finding
                .related(owner.name_span, "the document with the private key")
                .note("the public key of the certificate is not that of the private key")
                .help("write the certificate and the private key that were made together"),
        );
    }
}
