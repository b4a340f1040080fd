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
        let name = certificates.name(facts, at, "certificate");
        let [start, end] = certificate.dates();
        let words = match mark(facts, certificate) {
            CertificateMark::Expired => {
                let time = certificates.date(at, " at", &end);
                (format!("{name} expired{time}"), "expired")
            }
            CertificateMark::NotYetValid => {
                let time = certificates.date(at, ", only from", &start);
                (format!("{name} is not valid yet{time}"), "not valid yet")
            }
            _ => continue,
        };
        let finding = certificates.report(facts, &RULE, at, words);
        found.push(finding.help("issue a new certificate, and write it here"));
    }
}
