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
        let [start, end] = certificate.dates().map(|date| certificates.date(at, date));
        let words = match mark(facts, certificate) {
            CertificateMark::Expired => (format!("{name} expired at {end}"), "expired"),
            CertificateMark::NotYetValid => (
                format!("{name} is not valid until {start}"),
                "not valid yet",
            ),
            _ => continue,
        };
        let finding = certificates.report(facts, &RULE, at, words);
        found.push(finding.help("issue a new certificate, and write it here"));
    }
}
