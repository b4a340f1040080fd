//! `expired-certificate`: a certificate is not valid at the time of the check.

use super::SiteFacts;
use super::certificates::{CertificateMark, mark};
use crate::diagnostic::Diagnostic;

super::rule!(
    "expired-certificate", Error, "certificate that has expired, or is not valid yet";
    Site(check)
);

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let certificates = facts.certificates();
    for (at, certificate) in certificates.certificates() {
        let (words, label) = match mark(facts, certificate) {
            CertificateMark::Expired => {
                let [_, end] = certificate.dates();
                let time = certificates.date(at, " at", &end);
                (format!("expired{time}"), "expired")
            }
            CertificateMark::NotYetValid => {
                let [start, _] = certificate.dates();
                let time = certificates.date(at, ", only from", &start);
                (format!("is not valid yet{time}"), "not valid yet")
            }
            CertificateMark::Valid
            | CertificateMark::Expiring
            | CertificateMark::Unreadable
            | CertificateMark::Encrypted
            | CertificateMark::Unverified => continue,
        };
        let name = certificates.name(facts, at, "certificate");
        let message = format!("{name} {words}");
        let finding = certificates.report(facts, &RULE, at, (message, label));
        found.push(finding.help("issue a new certificate, and write it here"));
    }
}
