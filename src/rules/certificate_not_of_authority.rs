//! `certificate-not-of-authority`: a certificate is not signed by its authority.

use super::SiteFacts;
use crate::diagnostic::Diagnostic;

super::rule!(
    "certificate-not-of-authority", Error, "certificate that its authority did not sign";
    Site(check)
);

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let certificates = facts.certificates();
    for issued in certificates.misissued() {
        let name = certificates.name(facts, issued.at, "certificate");
        let owner = certificates.owner(facts, issued.authority);
        let of = facts.name(owner);
        let message = format!("{name} is not signed by the authority `{of}`");
        let words = (message, "signed with another key");
        let finding = certificates
            .report(facts, &RULE, issued.at, words)
            .related(certificates.line(facts, issued.authority), "its authority")
            .document(&facts.document(owner).key);
        found.push(finding.help("issue the certificate again with this authority"));
    }
}
