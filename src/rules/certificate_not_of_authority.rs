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
        let Some(authority) = issued.authority else {
            continue;
        };
        let owner = certificates.owner(facts, authority);
        let of = facts.name(owner);
        let message = format!("{name} is not signed by the authority `{of}`");
        let finding = certificates
            .report(
                facts,
                &RULE,
                issued.at,
                (message, "signed with another key"),
            )
            .related(certificates.line(facts, authority), "its authority")
            .document(facts.document(owner).key.clone());
        found.push(finding.help("issue the certificate again with this authority"));
    }
}
